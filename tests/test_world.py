"""Worlds: what is refused before anything runs. Where runs leave their windows: sanitize/test_ranks.py."""

from collections.abc import Callable

import numpy as np
import pytest

import ptosim
from ptosim import PTOError
from ptosim.participants import Symmetric

X = ptosim.each(np.ones(8, "f4"), np.ones(8, "f4"))


def kernel() -> ptosim.Kernel:
    text = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f32>, %window: !pto.ptr<f32>, %ctx: !pto.ptr<i64>) {
    return
  }
}
"""
    return ptosim.load(text).kernel()


def another_context(world: ptosim.World, window: Symmetric) -> None:
    other = ptosim.World(1)
    world.launch(kernel(), X, window, other.context(other.symmetric(8, "f4")))


Launch = Callable[[ptosim.World, Symmetric], None]

REFUSED: list[tuple[Launch, str]] = [
    (another_context, "argument 2 (ctx: !pto.ptr<i64, gm>): the window belongs to another world"),
    (
        lambda world, window: world.launch(kernel(), X, ptosim.World(2).symmetric(8, "f4"), world.context(window)),
        "argument 1 (window: !pto.ptr<f32, gm>): the window belongs to another world",
    ),
    (
        lambda world, window: world.launch(kernel(), X, window.at(2), world.context(window)),
        "argument 1 (window: !pto.ptr<f32, gm>): there is no rank 2: ranks are 0 to 1",
    ),
    (
        lambda world, window: world.launch(kernel(), ptosim.each(np.ones(8, "f4")), window, world.context(window)),
        "argument 0 (x: !pto.ptr<f32, gm>): 1 values for 2 ranks",
    ),
    (lambda world, window: world.run(), "nothing has been launched in this world"),
]


@pytest.mark.parametrize(("launch", "message"), REFUSED)
def test_what_does_not_fit_is_refused(launch: Launch, message: str) -> None:
    world = ptosim.World(2)
    with pytest.raises(PTOError) as refused:
        launch(world, world.symmetric(8, "f4"))
    (found,) = refused.value.diagnostics
    assert (found.kind, found.message) == ("argument", message)


@pytest.mark.parametrize("ranks", [0, 65, True, 2.0, "2"])
def test_a_world_has_one_to_64_ranks(ranks: object) -> None:
    with pytest.raises(PTOError, match="argument: ranks is a number from 1 to 64, not"):
        ptosim.World(ranks)  # pyright: ignore[reportArgumentType]


def test_a_world_is_for_a_machine_that_is_known() -> None:
    with pytest.raises(PTOError, match=r"argument: .*a9"):
        ptosim.World(2, target="a9")
