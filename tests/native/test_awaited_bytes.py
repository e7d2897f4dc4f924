"""Waits for what touches some bytes, under the filter of a check: what they order is passed, what they do not is
judged."""

import random

import numpy as np
import pytest

import ptosim
from native.test_sieve import OVER, assert_sound, judged_blocks, launch_of
from native.test_sieve import SIGNALS as SIGNALLED
from tables import table
from tiles.test_sync import NEGATE, PART, STORE, TILE, kernel

A, B, X, Y = f"(%a : {TILE})", f"(%b : {TILE})", f"(%xp : {PART})", f"(%yp : {PART})"


def wait(*what: str) -> str:
    names, types = zip(*(each.strip("()").split(" : ") for each in what), strict=True)
    return f"pto.tsync ins({', '.join(names)} : {', '.join(types)})"


def load(tile: str, view: str = X) -> str:
    return f"pto.tload ins{view} outs{tile}"


SIGNALS = [
    f'pto.{what}_flag["PIPE_{one}", "PIPE_{other}", "EVENT_ID{number}"]'
    for number, (one, other) in enumerate([("MTE2", "V"), ("V", "MTE3"), ("MTE3", "MTE2")])
    for what in ("set", "wait")
]
"""Sets and waits, from pipe to pipe."""


@table(
    "body, clean",
    ([wait(A), NEGATE, wait(B), STORE], True),
    ([wait(B), NEGATE, wait(B), STORE], False),  # of another tile
    ([wait(X), NEGATE, wait(B), STORE], True),  # of where the load has read
    ([wait(Y), NEGATE, wait(B), STORE], False),
    ([wait(A), NEGATE, wait(B), STORE, wait(Y), load(B)], True),  # of where the store has written
    ([wait(A), NEGATE, wait(B), STORE, wait(A), load(B)], False),
    # the latest entry of V knew that the first load had ended; a set behind it is what V came to last
    ([*SIGNALS[:2], NEGATE, wait(B), load(A), STORE], True),
    ([*SIGNALS[:2], NEGATE, SIGNALS[2], wait(B), load(A), SIGNALS[3], STORE], False),
    ([wait(A), NEGATE, wait(B), STORE, wait(Y), load(A, Y), wait(A), NEGATE], True),
    ([wait(A), NEGATE, wait(B), STORE, load(A, Y)], False),
)
def test_what_a_wait_for_bytes_orders(body: list[str], clean: bool) -> None:
    made = ptosim.load(kernel("\n".join(body))).kernel()
    arrays = [np.arange(1024, dtype="f4"), np.zeros(1024, "f4")]
    assert judged_blocks(made, launch_of(made, arrays)) == (set() if clean else {0})
    assert assert_sound(made, arrays) == clean


def test_the_rows_of_a_view_that_were_stored_are_waited_for() -> None:
    """A view is waited for by its bytes, from the first to the last."""
    half = "!pto.partition_tensor_view<8x32xf32>"
    parts = [
        f"%{name} = pto.partition_view %yv, offsets = [{row}, {column}], sizes = [%c8, %c32] "
        f": !pto.tensor_view<?x?xf32> -> {half}"
        for name, row, column in (("low", "%c8", "%c0"), ("up", "%c0", "%c32"))
    ]
    tile = "!pto.tile_buf<vec, 8x32xf32>"
    for waited, clean in (("low", True), ("up", False)):
        lines = [
            "%c8 = arith.constant 8 : index",
            "%c32 = arith.constant 32 : index",
            *parts,
            f"%h = pto.alloc_tile : {tile}",
            f"pto.tload ins(%up : {half}) outs(%h : {tile})",
            f"pto.tsync ins(%h : {tile})",
            f"pto.tstore ins(%h : {tile}) outs(%low : {half})",
            f"pto.tsync ins(%{waited} : {half})",
            f"pto.tload ins(%up : {half}) outs(%h : {tile})",
        ]
        made = ptosim.load(kernel("\n".join(lines))).kernel()
        arrays = [np.arange(1024, dtype="f4"), np.zeros(1024, "f4")]
        assert assert_sound(made, arrays) == clean


FLAGS = """pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
        pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]"""


@table(
    "in_cube, pipe, waited, clean",
    (True, "MTE1", "%ub", True),  # what the scalar unit of the cube core has waited for, any pipe tells
    (False, "MTE1", "%ub", False),
    (False, "MTE2", "%ub", True),
    (False, "MTE2", "%other", False),
)
def test_waits_for_bytes_of_several_cores(in_cube: bool, pipe: str, waited: str, clean: bool) -> None:
    """The cube core and a vector core write the same bytes of L1; the latter takes them from UB."""
    cube = f"pto.set_intra_block <PIPE_{pipe}>, 3"
    if in_cube:
        cube = f"pto.sim.tsync %l1 sizes %bytes : !pto.ptr<f32, l1>, i64\n      {cube}"
    wait = f"""%other = pto.castptr %bytes : i64 -> !pto.ptr<f32, ub>
        pto.sim.tsync {waited} sizes %bytes : !pto.ptr<f32, ub>, i64"""
    vector = OVER.format(wait="pto.wait_intra_block <PIPE_MTE3>, 3").replace(FLAGS, wait)
    made = ptosim.load(SIGNALLED.format(cube=cube, vector=vector)).kernel()
    arrays = [np.ones(64, "f4")]
    assert judged_blocks(made, launch_of(made, arrays)) == (set() if clean else {0})
    assert assert_sound(made, arrays) == clean


MASKED = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<f16, gm>, %y: !pto.ptr<f16, gm>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f16, ub>
    %out = pto.castptr %bytes : i64 -> !pto.ptr<f16, ub>
    pto.mte_gm_ub %x, %ub, %zero, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f16, gm>, !pto.ptr<f16, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.vecscope {{
      %all = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>
      %some = pto.pset_b16 "{lanes}" : !pto.mask<b16>
      %v = pto.vlds %ub[%c0] {{dist = "{dist}"}} for %some : !pto.ptr<f16, ub>, !pto.mask<b16> -> !pto.vreg<128xf16>
      pto.vsts %v, %out[%c0], %all : !pto.vreg<128xf16>, !pto.ptr<f16, ub>, !pto.mask<b16>
    }}
    pto.sim.tsync %ub sizes %bytes : !pto.ptr<f16, ub>, i64
    pto.mte_ub_gm %out, %y, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f16, ub>, !pto.ptr<f16, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


@pytest.mark.parametrize("dist", ["BRC_B16", "E2B_B16", "NORM"])
@pytest.mark.parametrize(("lanes", "clean"), [("PAT_VL1", True), ("PAT_ALLF", False)])
def test_a_load_of_no_lane_touches_nothing(dist: str, lanes: str, clean: bool) -> None:
    made = ptosim.load(MASKED.format(dist=dist, lanes=lanes)).kernel()
    arrays = [np.ones(128, "f2"), np.zeros(128, "f2")]
    assert judged_blocks(made, launch_of(made, arrays)) == (set() if clean else {0})
    assert assert_sound(made, arrays) == clean


PROGRAMS = {False: 3, True: 60}


def test_random_programs_with_waits_for_bytes(full: bool) -> None:
    clean = 0
    for seed in range(PROGRAMS[full]):
        chance = random.Random(seed)
        body: list[str] = []
        for _ in range(chance.randint(2, 6)):
            body.append(chance.choice([load(A), load(B), load(A, Y), NEGATE, NEGATE, STORE, STORE]))
            if chance.random() < 0.15:
                body += chance.choice([SIGNALS[:2], SIGNALS[2:4], SIGNALS[4:]])
            if chance.random() < 0.9:
                body.append(wait(*chance.sample([A, B, X, Y], chance.randint(1, 3))))
        clean += assert_sound(ptosim.load(kernel("\n".join(body))).kernel(), [np.ones(1024, "f4") for _ in range(2)])
    assert clean >= PROGRAMS[full] // 12, "the filter passes next to nothing"
