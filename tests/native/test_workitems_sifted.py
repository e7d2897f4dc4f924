"""Launches of workitems in the filter of a check: clean ones are passed, and whatever the reference engine complains of
is judged."""

from __future__ import annotations

import random

import numpy as np
import pytest

import ptosim
from example_scripts import script
from examples.test_simt_examples import EXAMPLES, NAMES, SIZES, mutants
from native.test_sieve import as_text, assert_sound, judged_blocks, launch_of
from ptosim.native.observe import workitem_memory
from sanitize.test_workitems import FLAGS, NEIGHBOUR, OUT
from tables import table
from workitem_fuzz import arguments, random_body
from workitem_programs import section

CHAINED = {"producer_consumer"}
"""Examples that a fence and an atomic order, which the filter does not follow."""


@pytest.mark.parametrize("name", NAMES)
def test_a_clean_example_is_not_judged(name: str) -> None:
    kernel = ptosim.load(EXAMPLES / "simt" / f"{name}.pto").kernel()
    for sizes in ({}, *SIZES.get(name, [])):
        launch = script(f"simt/{name}").launch(**sizes)
        judged = judged_blocks(kernel, launch_of(kernel, launch.arguments, launch.grid))
        assert judged == (set(range(launch.grid)) if name in CHAINED else set())


@pytest.mark.parametrize("name", NAMES)
def test_an_example_without_what_orders_it_is_judged(name: str) -> None:
    for _, text in mutants(name):
        launch = script(f"simt/{name}").launch()
        assert not assert_sound(ptosim.load(text + "\n").kernel(), launch.arguments, launch.grid)


BODIES = {False: 6, True: 1000}


def test_random_bodies_and_such_with_a_line_less(full: bool) -> None:
    clean = 0
    for seed in range(BODIES[full]):
        text, _ = random_body(seed)
        clean += assert_sound(ptosim.load(text).kernel(), arguments(seed))
        less = _without_a_line(text, random.Random(seed))
        if less is not None:
            assert_sound(ptosim.load(less).kernel(), arguments(seed))
    assert clean >= BODIES[full] // 8, "the filter passes next to nothing"


def _without_a_line(text: str, source: random.Random) -> str | None:
    """The text without a barrier or a store, or with a plain access for an atomic."""
    lines = text.splitlines()
    places = [number for number, line in enumerate(lines) if "syncthreads" in line or "pto.st" in line]
    if not places:
        return None
    place = source.choice(places)
    return "\n".join(line for number, line in enumerate(lines) if number != place) + "\n"


def outcome(body: str, count: int = 64, size: int = 256, grid: int = 1, head: str = "") -> bool:
    """Whether the filter passes a section as clean."""
    kernel = ptosim.load(section(body, OUT, f"{count}, 1, 1", head)).kernel()
    return assert_sound(kernel, [np.zeros(size, "i4")], grid)


ZERO = "%c0 = arith.constant 0 : index\n%n0 = arith.constant 0 : i32\n"
STORE = "pto.store %t, %ub[%i] : !pto.ptr<i32, ub>, i32\n"
LOAD = "%v = pto.load %ub[%i] : !pto.ptr<i32, ub> -> i32\n"
KEEP = "pto.stg %v, %x[%i] : !pto.ptr<i32, gm>, i32"
CHOSEN = f"%w = arith.select %no, %v, %t : i32\n{KEEP.replace('%v', '%w')}"
SHUFFLED = f"%b = arith.constant 1 : i32\n%s = pto.shuffle_down %t, %b : i32, i32 -> i32\n{KEEP.replace('%v', '%s')}"
FAR = "%far = arith.constant 55296 : index\n%p = arith.addi %i, %far : index\n"


@table(
    "body, clean",
    (NEIGHBOUR.replace("BARRIER", "pto.syncthreads"), True),
    (NEIGHBOUR.replace("BARRIER", ""), False),
    # one word: read by all, written by one, by all, updated
    (f"{STORE}pto.syncthreads\n{ZERO}{LOAD.replace('%i', '%c0')}{KEEP}", True),
    (f"{STORE}{ZERO}{LOAD.replace('%i', '%c0')}{KEEP}", False),
    (f"{ZERO}{STORE.replace('%i', '%c0')}", False),
    ("%o = pto.atomic_add %ub, %t : !pto.ptr<i32, ub>, i32 -> i32", True),
    (f"{STORE}%o = pto.atomic_add %ub, %t : !pto.ptr<i32, ub>, i32 -> i32", False),
    ("%o = pto.atomic_add %ub, %t : !pto.ptr<i32, ub>, i32 -> i32\npto.stg %o, %x[%i] : !pto.ptr<i32, gm>, i32", False),
    ("%o = pto.atomic_add %ub, %t : !pto.ptr<i32, ub>, i32 -> i32\n", True),
    (
        "%o = pto.atomic_add %ub, %t : !pto.ptr<i32, ub>, i32 -> i32\n"
        "%p = pto.atomic_min %ub, %t : !pto.ptr<i32, ub>, i32 -> i32",
        False,
    ),
    # what is not defined: moved, computed with, chosen away
    (f"{LOAD}{KEEP}", False),
    (f"{LOAD}%w = arith.addi %v, %t : i32\npto.store %w, %ub[%i] : !pto.ptr<i32, ub>, i32", True),
    (f"{ZERO}{LOAD}%no = arith.cmpi slt, %t, %n0 : i32\n{CHOSEN}", True),
    (f"{ZERO}{LOAD}%no = arith.cmpi slt, %v, %n0 : i32\nscf.if %no {{\n{STORE}}}", False),
    (f"{LOAD}%w = arith.index_cast %v : i32 to index\npto.stg %t, %x[%w] : !pto.ptr<i32, gm>, i32", False),
    (SHUFFLED, True),
    # remarks on single instructions
    ("%k = arith.constant 32 : i32\n%v = arith.shli %t, %k : i32", False),
    ("%v = pto.get_grid_dim_x : i32", False),
    (f"{FAR}pto.store %t, %ub[%p] : !pto.ptr<i32, ub>, i32\npto.stg %t, %x[%i] : !pto.ptr<i32, gm>, i32", False),
    (f"{FAR}pto.store %t, %ub[%p] : !pto.ptr<i32, ub>, i32", True),
)  # fmt: skip
def test_what_is_passed(body: str, clean: bool) -> None:
    assert outcome(body) == clean


@table(
    "body, grid, clean",
    ("pto.stg %t, %x[%i] : !pto.ptr<i32, gm>, i32", 1, True),
    ("pto.stg %t, %x[%i] : !pto.ptr<i32, gm>, i32", 2, False),
    ("%o = pto.atomic_add %x, %t : !pto.ptr<i32, gm>, i32 -> i32", 2, True),
    ("%v = pto.get_block_idx_x : i32", 1, True),
    ("%v = pto.get_block_idx_x : i32", 2, False),
    (
        "%b = pto.get_block_idx\n%c = arith.trunci %b : i64 to i32\n%k = arith.constant 64 : i32\n"
        "%d = arith.muli %c, %k : i32\n%e = arith.addi %d, %t : i32\n%f = arith.index_cast %e : i32 to index\n"
        "%v = pto.ldg %x[%f] : !pto.ptr<i32, gm> -> i32\npto.stg %v, %x[%f] : !pto.ptr<i32, gm>, i32",
        4,
        True,
    ),
)
def test_blocks_that_share_gm(body: str, grid: int, clean: bool) -> None:
    assert outcome(body, grid=grid) == clean


@pytest.mark.parametrize("missing", ["", '"PIPE_MTE2", "PIPE_V"', '"PIPE_V", "PIPE_MTE3"'])
def test_a_launch_is_an_entry_of_its_pipe(missing: str) -> None:
    text = "\n".join(line for line in FLAGS.splitlines() if not missing or f"flag[{missing}" not in line) + "\n"
    assert assert_sound(ptosim.load(text).kernel(), [np.ones(64, "f4"), np.zeros(64, "f4")]) == (not missing)


def test_bytes_that_nothing_writes_are_told_as_exactly() -> None:
    """Every other word, by a launch that is not judged."""
    body = "%i2 = arith.addi %i, %i : index\npto.stg %t, %x[%i2] : !pto.ptr<i32, gm>, i32"
    kernel, x = ptosim.load(section(body, OUT, "64, 1, 1")).kernel(), np.zeros(128, "i4")
    assert judged_blocks(kernel, launch_of(kernel, [x])) == set()
    reports = [ptosim.check(kernel, x, engine=engine) for engine in ("native", "reference")]
    ptosim.check(kernel, np.zeros(128, "i4"))  # another run, before the first has been asked
    assert reports[0].notes and as_text(reports[0]) == as_text(reports[1])


def test_without_memory_for_stamps_everything_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, x = ptosim.load(section(f"{STORE}{KEEP.replace('%v', '%t')}", OUT)).kernel(), np.zeros(32, "i4")
    launch = launch_of(kernel, [x], 2)
    monkeypatch.setattr(workitem_memory, "StampMemory", _none)
    assert judged_blocks(kernel, launch) == {0, 1}
    monkeypatch.undo()
    assert judged_blocks(kernel, launch_of(kernel, [x])) == set()


def _none(unit: int, sizes: object) -> None:
    raise OSError
