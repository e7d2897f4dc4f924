"""Worlds: what is refused before anything runs. Where runs leave their windows: sanitize/test_ranks.py."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import ptosim
from ptosim import PTOError
from ptosim.ranks.rank_arguments import Symmetric

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


Launch = Callable[[ptosim.World, Symmetric], object]

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
    (lambda world, window: world.launch("kernel"), "a launch takes a kernel (Module.kernel()), not str"),  # pyright: ignore[reportArgumentType]
    (lambda world, window: window.at("1"), "a rank is a number, not '1'"),  # pyright: ignore[reportArgumentType]
    (lambda world, window: window[0:1], "a rank is a number, not slice(0, 1, None)"),  # pyright: ignore[reportArgumentType]
    (lambda world, window: ptosim.context("1"), "the position of an argument is a number, not '1'"),  # pyright: ignore[reportArgumentType]
    (lambda world, window: world.symmetric(8, object), "a window holds numbers, not Python objects"),
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


Use = Callable[[ptosim.World], object]

BAD_OPTIONS: list[tuple[Use, str]] = [
    (lambda world: world.run(engine="fast"), "engine is one of native, reference, not 'fast'"),
    (lambda world: world.run(schedule="random:1"), "schedule 'random:1' needs engine='reference'"),
    (lambda world: world.run(max_steps=0), "max_steps is a positive integer, not 0"),
    (lambda world: world.check(mem_bar="lax"), "mem_bar is one of relaxed, strict, off, not 'lax'"),  # pyright: ignore[reportArgumentType]
    (lambda world: world.check(repeat=0), "repeat is a number from 1 to 65536, not 0"),
    (lambda world: world.profile(max_steps=-1), "max_steps is a positive integer, not -1"),
]


@pytest.mark.parametrize(("use", "message"), BAD_OPTIONS)
def test_a_bad_option_leaves_the_list(use: Use, message: str) -> None:
    world = ptosim.World(2)
    window = world.symmetric(8, "f4")
    world.launch(kernel(), X, window, world.context(window))
    with pytest.raises(PTOError) as refused:
        use(world)
    assert refused.value.diagnostics[0].message.startswith(message)
    world.run()


def test_a_window_gives_its_arrays_in_turn() -> None:
    world = ptosim.World(3)
    window = world.symmetric((2, 4), "i4")
    assert [array is window[np.int64(rank)] for rank, array in enumerate(window)] == [True] * 3  # pyright: ignore[reportArgumentType]
    assert len(list(zip(window, range(9), strict=False))) == 3


PASSED = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%theirs: !pto.ptr<f32>, %ctx: !pto.ptr<i64>, %value: f32) {
    %c0 = arith.constant 0 : index
    pto.store_scalar %value, %theirs[%c0] : !pto.ptr<f32>, f32
    return
  }
}
"""


def test_a_window_may_be_named_only_by_whose_it_is() -> None:
    """`at(r)` alone, and in `each`, also makes a window of the world of the launch; so does its context."""
    k = ptosim.load(PASSED).kernel()
    window = ptosim.symmetric(8, "f4")
    ptosim.launch(k, window.at(1), ptosim.context(0), 7.0, ranks=2)
    assert [array[0] for array in window] == [0.0, 7.0]
    other = ptosim.symmetric(8, "f4")
    contexts = ptosim.each(np.zeros(132, "i8"), np.zeros(132, "i8"))
    ptosim.launch(k, ptosim.each(other.at(1), other.at(0)), contexts, ptosim.each(3.0, 4.0), ranks=2)
    assert [array[0] for array in other] == [4.0, 3.0]


TILES = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%x: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %apart = arith.constant {apart} : index
    %here = arith.constant 0 : i64
    %there = arith.constant {there} : i64
    %view = pto.make_tensor_view %x, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
    %part = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32>
    %other = pto.make_tensor_view %x, shape = [%c4, %c16], strides = [%apart, %c1] : !pto.tensor_view<4x16xf32>
    %out = pto.partition_view %other, offsets = [%c0, %c0], sizes = [%c4, %c16] : !pto.tensor_view<4x16xf32>
    %a = pto.alloc_tile addr = %here : !pto.tile_buf<vec, 8x8xf32>
    %b = pto.alloc_tile addr = %there : !pto.tile_buf<vec, 8x8xf32>
    pto.tload ins(%part : !pto.partition_tensor_view<8x8xf32>) outs(%a : !pto.tile_buf<vec, 8x8xf32>)
    pto.tadd ins(%a, %a : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>)
      outs(%b : !pto.tile_buf<vec, 8x8xf32>)
    pto.tadd ins(%a, %b : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>)
      outs(%b : !pto.tile_buf<vec, 8x8xf32>)
    pto.tstore ins(%b : !pto.tile_buf<vec, 8x8xf32>) outs(%out : !pto.partition_tensor_view<4x16xf32>)
    return
  }}
}}
"""


@pytest.mark.parametrize(
    ("target", "apart", "there", "sync", "kinds"),
    [
        ("a5", 16, 256, "auto", []),
        ("a5", 20, 256, "auto", ["invalid"]),  # another shape is stored only if nothing lies between its rows
        ("a5", 16, 128, "auto", ["invalid", "invalid", "overlap"]),  # sums that lie partly over what they add
        ("a3", 16, 256, "auto", []),
        ("a3", 16, 256, "written", ["race", "race", "race", "race"]),  # the last: sums that follow each other
    ],
)
def test_a_world_reports_of_a_kernel_what_a_check_of_it_does(
    target: str, apart: int, there: int, sync: str, kinds: list[str]
) -> None:
    k = ptosim.load(TILES.format(target=target, apart=apart, there=there), sync=sync).kernel()
    alone = ptosim.check(k, np.ones(64, "f4"))
    assert [found.kind for found in alone.findings] == kinds
    for ranks, named in ((1, None), (2, None), (2, target)):
        world = ptosim.World(ranks, named)
        for _ in range(2):
            world.launch(k, ptosim.each(*(np.ones(64, "f4") for _ in range(ranks))))
        report = world.check()
        told = [*alone.findings, *(found for race in alone.findings for found in race.consequences)]
        assert Counter((found.kind, found.line) for found in report.findings) == Counter(
            (found.kind, found.line) for found in told
        ), "a world tries no hints, with which something else might go away"
        assert report.ok is alone.ok and report.fix().left == report.findings
