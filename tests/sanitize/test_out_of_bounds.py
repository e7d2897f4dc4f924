"""Accesses that leave their memory: a finding each, after which the check goes on, at no great expense."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import ptosim
from cost import costs_at_most
from examples.test_examples import EXAMPLES, script
from sanitize.kernels import ALL, MASK, check, kinds, load, order, scope, store, text, vlds, vsts
from tables import table

REGISTERS = 1024
"""So many registers of 256 bytes fill UB."""


def walk(first: int, last: int, body: str) -> str:
    """A scope whose loop counts registers of UB from `first` up to `last`."""
    return (
        f"    %first = arith.constant {first} : index\n    %last = arith.constant {last} : index\n"
        + load()
        + order("MTE2", "V")
        + scope(
            MASK
            + "      scf.for %i = %first to %last step %c1 {\n      %o = arith.muli %i, %c64 : index\n"
            + body
            + "      }\n"
        )
        + ALL
    )


@table(
    "first, last, outside, index",
    (0, REGISTERS + 6, 262144, REGISTERS),
    (-5, 3, -1280, -5),
    (REGISTERS + 9, REGISTERS + 12, 264448, 1033),
    ids=["past the end", "from before the start", "beyond"],
)
def test_loads_that_walk_out_of_ub(first: int, last: int, outside: int, index: int) -> None:
    (found,) = check(walk(first, last, vlds(offset="%o"))).findings
    assert (found.kind, found.severity) == ("out-of-bounds", "error")
    assert f"the first byte outside is {outside}" in found.message
    assert found.loops == (index,)
    assert found.count == (last - max(first, REGISTERS) if first >= 0 else -first)


def test_a_load_that_lies_half_outside() -> None:
    """32 floats in front of the end of UB, which is a multiple of 32 bytes."""
    step = "      %p = pto.addptr %in, %i : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>\n"
    report = check(walk(65536 - 32, 65536 - 31, step + vlds(source="%p")))
    assert kinds(report) == ["out-of-bounds!"]
    assert report.findings[0].bytes == (262016, 262272)


def test_what_is_stored_and_loaded_inside_stays_ordinary() -> None:
    """Behind a load that has left UB the quick way through the shadow is as it was."""
    body = walk(0, REGISTERS + 2, vlds(offset="%o")).replace(
        ALL, scope(MASK + vlds("%w") + vsts("%w")) + order("V", "MTE3") + store() + ALL
    )
    assert kinds(check(body)) == ["out-of-bounds!"]


# --- addresses that wrap ----------------------------------------------------------------------------------------------

TURN = "    %turn = arith.constant 4611686018427387904 : index\n"
"""2^62 floats, which is once around the 64 bits of an address."""
SCALAR = "    %s = pto.load_scalar %x[%turn] : !pto.ptr<f32, gm> -> f32\n"
PUT = "    %f = arith.constant 1.0 : f32\n    pto.store_scalar %f, %y[%turn] : !pto.ptr<f32, gm>, f32\n"


def moved(name: str, space: str) -> str:
    return f"    %p = pto.addptr %{name}, %turn : !pto.ptr<f32, {space}> -> !pto.ptr<f32, {space}>\n"


READY = load() + order("MTE2", "V")
DONE = order("V", "MTE3") + store() + ALL


@table(
    "at, body",
    ("pto.vlds", READY + scope(MASK + vlds(offset="%turn") + vsts()) + DONE),
    ("pto.vsts", READY + scope(MASK + vlds() + vsts(offset="%turn")) + DONE),
    ("pto.addptr", moved("in", "ub") + load(dest="%p") + order("MTE2", "V") + scope(MASK + vlds() + vsts()) + DONE),
    ("pto.addptr", moved("x", "gm") + load("%p") + order("MTE2", "V") + scope(MASK + vlds() + vsts()) + DONE),
    ("pto.load_scalar", SCALAR),
    ("pto.store_scalar", PUT + ALL),
    ids=["vlds", "vsts", "addptr in UB", "addptr in GM", "load_scalar", "store_scalar"],
)
def test_an_address_that_wraps_past_2_to_the_63(at: str, body: str) -> None:
    """Every access lands where it would without the turn: nothing else is wrong."""
    (found,) = check(TURN + body).findings
    assert (found.kind, found.severity) == ("lint", "warning")
    assert found.message.startswith("the address wraps past 2^63")
    assert at in text(TURN + body).split("\n")[(found.line or 0) - 1]
    assert check(TURN.replace("4611686018427387904", "0") + body).findings == ()


# --- what a check costs after it --------------------------------------------------------------------------------------

LOAD = "pto.mte_gm_ub %x, %in, %zero, %length nburst(%rows, %length, %stride)"
LOAD += " : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64\n"
STORE = "pto.mte_ub_gm %in, %y, %length nburst(%rows, %stride, %length)"
STORE += " : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64\n"
UB, GM = 256 << 10, 256 << 10


def rows(count: int, length: int, stride: int) -> ptosim.Kernel:
    """Rows from GM to UB and back."""
    numbers = {"rows": count, "length": length, "stride": stride}
    named = "".join(f"    %{name} = arith.constant {value} : i64\n" for name, value in numbers.items())
    return ptosim.load(text(named + LOAD + order("MTE2", "MTE3") + STORE + ALL)).kernel()


def floats(*sizes: int) -> list[Any]:
    """Arrays of so many bytes."""
    return [np.ones(size // 4, np.float32) for size in sizes]


def examine(kernel: ptosim.Kernel) -> list[str]:
    return kinds(ptosim.check(kernel, *floats(GM, GM)))


def peak(kernel: ptosim.Kernel) -> int:
    examine(kernel)
    tracemalloc.start()
    examine(kernel)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@table("length, stride", (4096, 4096), (1024, 2048), (4064, 4064), ids=["beside each other", "apart", "uneven"])
def test_a_copy_of_too_many_rows_costs_no_more_than_one_that_fits(length: int, stride: int) -> None:
    clean, wild = rows(UB // stride, length, stride), rows(65_535, length, stride)
    assert examine(clean) == []
    assert examine(wild) == ["out-of-bounds!"] * 4  # each side of both copies
    assert peak(wild) < 2 * peak(clean)
    assert costs_at_most(4, lambda: examine(clean), lambda: examine(wild))  # a millisecond: findings count in it


def test_rows_that_are_read_outside_and_written_inside_are_zeros() -> None:
    """GM ends after 256 of 1000 rows, all of which fit into UB: reading goes on, and finds zeros there."""
    report = ptosim.check(rows(1000, 256, 256), *floats(256 * 256, 256_000))
    assert [found.bytes for found in report.findings] == [(0, 256_000)]


REPEATED = """
    %length = arith.constant 4032 : i64
    %stride = arith.constant 96 : i64
    %shift = arith.constant 32 : i64
    %many = arith.constant 64 : i64
    pto.mte_gm_ub %x, %in, %zero, %length nburst(%many, %stride, %stride) loop(%many, %shift, %shift)
        : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i64, i64, i64
"""


def test_rows_that_are_copied_over_each_other_cost_what_they_move() -> None:
    """4096 rows, 16 MB, into 12 KB of UB: a copy holds what it moves, and what is known of each byte is kept once."""
    kernel = ptosim.load(text(REPEATED + ALL)).kernel()
    assert set(examine(kernel)) == {"overlap"}
    assert peak(kernel) < 8 * 64 * 64 * 4032


def test_a_race_behind_a_fault_is_still_found() -> None:
    """Row 200 of both copies lies in UB and in GM; only the rows beyond are left out."""
    kernel = str(rows(4000, 1024, 1024).module).replace("pto.wait_flag", "// pto.wait_flag")
    report = ptosim.check(ptosim.load(kernel).kernel(), *floats(GM, GM))
    assert set(kinds(report)) == {"out-of-bounds!", "race!"}
    (race,) = (finding for finding in report.findings if finding.kind == "race")
    assert [finding.kind for finding in race.consequences] == ["undrained"]


def test_a_row_count_of_128_for_1_in_a_loop() -> None:
    """Every tile overwrites UB to its end and beyond; against 60 rows, which do the same up to the end."""
    source = (EXAMPLES / "buffers.pto").read_text()
    launch = script("buffers").launch(tiles=4, grid=1)
    wild, inside = (
        ptosim.load(source.replace("nburst(%c1_i64", f"nburst(%many_{count}", 1).replace(
            "%c1_i64 =", f"%many_{count} = arith.constant {count} : i64\n    %c1_i64 ="
        )).kernel()
        for count in (128, 60)
    )  # fmt: skip
    assert "out-of-bounds!" in kinds(ptosim.check(wild, *launch.arguments, grid=launch.grid))
    assert costs_at_most(
        2,
        lambda: ptosim.check(inside, *launch.arguments, grid=launch.grid),
        lambda: ptosim.check(wild, *launch.arguments, grid=launch.grid),
    )


LONG = "    %long = arith.constant 1024 : i64\n"
BEYOND = {
    "a copy in": LONG + load(length="%long") + ALL,
    "a copy out": load() + ALL + LONG + store("%in", length="%long") + ALL,
    "a scalar load": "    %s = pto.load_scalar %x[%c64] : !pto.ptr<f32, gm> -> f32\n",
}


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("body", BEYOND.values(), ids=BEYOND.keys())
def test_what_hardware_tolerates_is_a_note_if_that_is_asked_for(body: str, engine: str) -> None:
    assert kinds(check(body, engine=engine)) == ["out-of-bounds!"] + ["uninitialized"] * ("%in, %y" in body)
    report = check(body, engine=engine, oob="drop", unwritten="off")
    assert report.ok and "out-of-bounds" not in kinds(report)
    (note,) = report.notes
    assert (note.kind, note.severity) == ("out-of-bounds", "note") and " of argument " in note.message
    assert note.line is not None and "out-of-bounds" in str(report)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_on_the_chip_and_without_an_argument_it_stays_an_error(engine: str) -> None:
    nowhere = (
        "    %far = arith.constant 4503599627370496 : i64\n    %p = pto.inttoptr %far : i64 -> !pto.ptr<f32, gm>\n"
    )
    nowhere += "    %s = pto.load_scalar %p[%c0] : !pto.ptr<f32, gm> -> f32\n"
    for body in (walk(0, REGISTERS + 2, vlds(offset="%o")), nowhere):
        assert "out-of-bounds!" in kinds(check(body, engine=engine, oob="drop"))


def test_other_options_are_refused() -> None:
    with pytest.raises(ptosim.PTOError, match="oob is 'error' or 'drop', not 'ignore'"):
        check(load() + ALL, oob="ignore")
