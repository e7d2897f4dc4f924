"""Waits for what touches some bytes, as compiled code times them: the same in every number as the reference engine."""

import random
import re

import numpy as np
import pytest

import ptosim
from native.test_awaited_bytes import FLAGS, SIGNALS, A, B, X, Y, load, wait
from native.test_filter_rarities import BRACKETS, COMBINED
from native.test_sieve import OVER
from native.test_sieve import SIGNALS as SIGNALLED
from tables import table
from tiles.test_sync import NEGATE, STORE, kernel
from timing.same import is_native, same


def vectors() -> list[np.ndarray]:
    return [np.arange(1024, dtype="f4"), np.zeros(1024, "f4")]


@table(
    "body",
    [wait(A), NEGATE, wait(B), STORE],
    [wait(B), NEGATE, wait(A), STORE],
    [wait(X), NEGATE, wait(Y), STORE, wait(Y), load(A)],
    [*SIGNALS[:2], NEGATE, NEGATE, load(B), wait(A, Y), STORE, STORE, wait(Y), load(A), wait(X, Y)],
    [SIGNALS[1], NEGATE, SIGNALS[0], wait(B), STORE, NEGATE, wait(Y)],  # V has stood for a while
)
def test_what_a_wait_for_bytes_waits_for(body: list[str]) -> None:
    made = ptosim.load(kernel("\n".join(body))).kernel()
    assert is_native(made, *vectors())
    same(made, *vectors())


def test_only_what_touches_the_bytes_is_waited_for() -> None:
    """The load of another tile is still under way when the first one is used, and the cycles show it."""
    far = [load(B), wait(A), NEGATE, wait(B), STORE]
    times = [same(ptosim.load(kernel("\n".join(body))).kernel(), *vectors()).cycles for body in (far, far[1:])]
    whole = [load(B), wait(A, B), NEGATE, wait(B), STORE]
    later = same(ptosim.load(kernel("\n".join(whole))).kernel(), *vectors()).cycles
    assert later > times[0] >= times[1]


@pytest.mark.parametrize("waited", ["%ub", "%other"])
@pytest.mark.parametrize("in_cube", [True, False])
def test_waits_for_bytes_of_several_cores(in_cube: bool, waited: str) -> None:
    cube = "pto.set_intra_block <PIPE_MTE2>, 3"
    if in_cube:
        cube = f"pto.sim.tsync %l1 sizes %bytes : !pto.ptr<f32, l1>, i64\n      {cube}"
    there = f"""%other = pto.castptr %bytes : i64 -> !pto.ptr<f32, ub>
        pto.sim.tsync {waited} sizes %bytes : !pto.ptr<f32, ub>, i64"""
    vector = OVER.format(wait="pto.wait_intra_block <PIPE_MTE3>, 3").replace(FLAGS, there)
    vector += "\n        pto.sim.tsync %l1, %x sizes %bytes, %bytes : !pto.ptr<f32, l1>, !pto.ptr<f32, gm>, i64, i64"
    made = ptosim.load(SIGNALLED.format(cube=cube, vector=vector)).kernel()
    assert is_native(made, np.ones(64, "f4"))
    same(made, np.ones(64, "f4"))


@pytest.mark.parametrize("how", ["", "pto.set_atomic_add\n    pto.set_atomic_f32"])
def test_a_store_is_waited_for_however_it_stores(how: str) -> None:
    """A load behind the wait is late, unless other bytes are waited for."""
    cycles: list[int] = []
    for waited in ("%y", "%far"):
        then = f"""%c64 = arith.constant 64 : index
    %far = pto.addptr %y, %c64 : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    pto.sim.tsync {waited} sizes %bytes : !pto.ptr<f32, gm>, i64
    %out = pto.castptr %bytes : i64 -> !pto.ptr<f32, ub>
    {BRACKETS["MTE2"].replace("%ub", "%out")}"""
        made = ptosim.load(COMBINED.format(type="f32", how=how, then=then)).kernel()
        assert is_native(made, *vectors())
        cycles.append(same(made, *vectors()).cycles)
    assert cycles[0] > cycles[1]


CUBE = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %av = pto.make_tensor_view %a, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf16>
    %bv = pto.make_tensor_view %b, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf16>
    %cv = pto.make_tensor_view %c, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c32, %c32] : !pto.tensor_view<?x?xf16> -> HALF
    %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c32, %c32] : !pto.tensor_view<?x?xf16> -> HALF
    %cp = pto.partition_view %cv, offsets = [%c0, %c0], sizes = [%c32, %c32] : !pto.tensor_view<?x?xf32> -> WORDS
    %a1 = pto.alloc_tile : MAT
    %b1 = pto.alloc_tile : MAT
    %a0 = pto.alloc_tile : LEFT
    %b0 = pto.alloc_tile : RIGHT
    %sum = pto.alloc_tile : ACC
    BODY
    pto.barrier <PIPE_ALL>
    return
  }
}
"""
FRACTALS = "blayout=col_major, slayout=row_major"
KINDS = {
    "HALF": "!pto.partition_tensor_view<32x32xf16>",
    "WORDS": "!pto.partition_tensor_view<32x32xf32>",
    "MAT": f"!pto.tile_buf<mat, 32x32xf16, {FRACTALS}>",
    "LEFT": f"!pto.tile_buf<left, 32x32xf16, {FRACTALS}>",
    "RIGHT": "!pto.tile_buf<right, 32x32xf16, slayout=col_major>",
    "ACC": f"!pto.tile_buf<acc, 32x32xf32, {FRACTALS}, fractal=1024>",
}
TILES = {"ap": "HALF", "bp": "HALF", "cp": "WORDS", "a1": "MAT", "b1": "MAT", "a0": "LEFT", "b0": "RIGHT", "sum": "ACC"}
STEPS = [
    "pto.tload ins(%ap : HALF) outs(%a1 : MAT)",
    "pto.tload ins(%bp : HALF) outs(%b1 : MAT)",
    "pto.tmov ins(%a1 : MAT) outs(%a0 : LEFT)",
    "pto.tmov ins(%b1 : MAT) outs(%b0 : RIGHT)",
    "pto.tmatmul ins(%a0, %b0 : LEFT, RIGHT) outs(%sum : ACC)",
    "pto.tstore ins(%sum : ACC) outs(%cp : WORDS)",
]


@pytest.mark.parametrize("waited", TILES)
def test_waits_for_what_a_product_touches(waited: str) -> None:
    """After every step the scalar unit waits for the same tile or view."""
    wait_for = f"pto.tsync ins(%{waited} : {TILES[waited]})"
    text = CUBE.replace("BODY", "\n    ".join(line for step in STEPS for line in (step, wait_for)))
    for word, kind in KINDS.items():
        text = re.sub(rf"\b{word}\b", kind, text)
    made = ptosim.load(text, sync="written").kernel()
    arrays = [np.ones((32, 32), "f2"), np.ones((32, 32), "f2"), np.zeros((32, 32), "f4")]
    assert is_native(made, *arrays)
    same(made, *arrays)


def test_random_waits_for_bytes(full: bool) -> None:
    for seed in range(60 if full else 2):
        chance = random.Random(seed)
        body: list[str] = []
        for _ in range(chance.randint(2, 12)):
            body.append(chance.choice([load(A), load(B), load(A, Y), NEGATE, NEGATE, STORE, STORE]))
            if chance.random() < 0.2:
                body += chance.choice([SIGNALS[:2], SIGNALS[2:4], SIGNALS[1::-1]])
            if chance.random() < 0.6:
                body.append(wait(*chance.sample([A, B, X, Y], chance.randint(1, 3))))
        made = ptosim.load(kernel("\n".join(body))).kernel()
        assert is_native(made, *vectors())
        same(made, *vectors())


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("scope", ["gm", "local_memory"])
def test_a_fence_of_everything_drains_and_then_fences(count: int, scope: str) -> None:
    fences = f"    pto.fence.barrier_all #pto.fence_scope<{scope}>\n" * count
    head = "func.func @k() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
    made = ptosim.load(
        f'module attributes {{pto.target_arch = "a5"}} {{\n  {head}{fences}    return\n  }}\n}}\n'
    ).kernel()
    assert is_native(made)
    assert same(made).cycles == 2 * count
