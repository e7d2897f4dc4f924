"""Races by touch and by use, the edges that order accesses, and what a finding says."""

import numpy as np
import pytest

from ptosim.diagnostics import PTOError
from ptosim.sanitize import global_shadow
from sanitize.kernels import (
    ALL,
    COPY,
    MASK,
    PARAMETERS,
    check,
    kinds,
    load,
    order,
    put,
    scope,
    store,
    take,
    text,
    unary,
    vlds,
    vsts,
)
from tables import table

READY = load() + order("MTE2", "V") + COPY
DONE = order("V", "MTE3") + store() + ALL


def test_a_clean_kernel_has_no_finding() -> None:
    report = check(READY + DONE)
    assert report.ok
    assert report.findings == ()
    assert str(report) == "kernel: no findings"


@table(
    "edge",
    order("V", "MTE3"),
    order("V", "MTE3", 7),
    "    pto.barrier #pto.pipe<PIPE_ALL>\n",
    order("V", "S") + order("S", "MTE3"),
    order("V", "MTE2") + order("MTE2", "MTE3"),
    put("V", "MTE3") + order("MTE2", "MTE3") + take("V", "MTE3"),
    ids=["flag", "other id", "barrier all", "through S", "through MTE2", "late wait"],
)
def test_what_orders_a_store_behind_its_vector_function(edge: str) -> None:
    assert kinds(check(READY + edge + store() + ALL)) == []


@table(
    "edge",
    "",
    order("MTE2", "MTE3"),
    "    pto.barrier #pto.pipe<PIPE_V>\n",
    "    pto.barrier #pto.pipe<PIPE_MTE3>\n",
    ids=["nothing", "another pipe", "barrier of the writer", "barrier of the reader"],
)
def test_what_does_not(edge: str) -> None:
    report = check(READY + edge + store() + ALL)
    assert kinds(report) == ["race!"]
    (race,) = report.findings
    assert race.message == "MTE3 may read ub[256:512] before V has written it"
    assert race.bytes == (256, 512)
    assert race.pipe == "MTE3"
    assert race.core == "b0.aiv0"
    assert race.block == 0


def test_a_set_that_comes_before_the_work_orders_nothing() -> None:
    # The set fires when what stands before it has ended: here that is not the vector function.
    report = check(load() + order("MTE2", "V") + put("V", "MTE3") + COPY + take("V", "MTE3") + store() + ALL)
    assert kinds(report) == ["race!"]


def test_the_form_of_a_race() -> None:
    report = check(READY + store() + ALL)
    text = str(report).split("\n")
    assert text[0] == "<text>:21:5: error: race: MTE3 may read ub[256:512] before V has written it"
    assert text[1].startswith("   21 |     pto.mte_ub_gm %out, %y")
    assert text[2] == "      |     ^^^^^^^^^^^^^ MTE3 reads here"
    assert text[3].startswith("   19 |       pto.vsts %v")
    assert text[4] == "      |       -------- V writes here (vector scope at line 16)"
    assert text[5] == "   note: no flag, buffer or barrier orders V before MTE3 between the two"
    assert text[6] == '   hint: after line 20 add  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'
    assert text[7] == '         before line 21 add pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'
    assert text[8] == "kernel: 1 error"


def test_each_pair_of_lines_once_with_its_count_and_first_loop_indices() -> None:
    loop = f"    scf.for %i = %c0 to %c4 step %c1 {{\n{COPY}{store()}    }}\n"
    report = check(load() + order("MTE2", "V") + loop + ALL, np.zeros(64, "f4"), np.zeros(64, "f4"))
    races = [finding for finding in report.findings if finding.kind == "race"]
    by_lines = {(race.line, race.related[0].location.line): race for race in races}
    assert len(by_lines) == len(races)
    written = by_lines[22, 20]  # the copy reads what the scope stores
    assert (written.count, written.loops) == (4, (0,))
    overwritten = by_lines[20, 22]  # the next scope stores while the copy may still read
    assert (overwritten.count, overwritten.loops) == (3, (1,))
    assert overwritten.message == "V may write ub[256:512] before MTE3 has read it"
    # neither follows from the other, and one repair is for both
    assert written.hint is not None
    assert overwritten.hint == "the edits for the race at line 22 repair this as well"


# --- one pipe ---------------------------------------------------------------------------------------------------------


def test_two_copies_of_one_pipe_need_a_barrier_of_it() -> None:
    report = check(load() + load("%y") + ALL)
    assert kinds(report) == ["race!"]
    assert report.findings[0].message == "MTE2 may write ub[0:256] while an earlier copy of MTE2 is still writing it"
    assert report.findings[0].hint == "before line 14 add pto.barrier #pto.pipe<PIPE_MTE2>"
    assert kinds(check(load() + "    pto.barrier #pto.pipe<PIPE_MTE2>\n" + load("%y") + ALL)) == []


def test_a_round_trip_orders_two_copies_of_one_pipe() -> None:
    assert kinds(check(load() + order("MTE2", "V") + order("V", "MTE2") + load("%y") + ALL)) == []
    assert kinds(check(load() + order("MTE2", "V") + load("%y") + ALL)) == ["race!"]


def test_two_stores_of_equal_bytes_are_a_warning() -> None:
    report = check(READY + order("V", "MTE3") + store() + store() + ALL)
    assert kinds(report) == ["race"]
    assert "the bytes are equal" in report.findings[0].message
    assert report.ok


def test_vector_functions_are_in_order() -> None:
    assert kinds(check(READY + scope(MASK + vlds("%v", "%out") + vsts("%v", "%in")) + ALL)) == []


# --- scalar accesses --------------------------------------------------------------------------------------------------

PUT_SCALAR = "    %f = arith.constant 1.0 : f32\n    pto.store_scalar %f, %in[%c0] : !pto.ptr<f32, ub>, f32\n"
GET_SCALAR = "    %s = pto.load_scalar %in[%c0] : !pto.ptr<f32, ub> -> f32\n"
MARK_SCALAR = "    %f = arith.constant 1.0 : f32\n    pto.store_scalar %f, %y[%c0] : !pto.ptr<f32, gm>, f32\n"


def test_a_scalar_load_needs_the_copy_to_have_ended() -> None:
    assert kinds(check(load() + GET_SCALAR + ALL)) == ["race!"]
    assert kinds(check(load() + order("MTE2", "S") + GET_SCALAR + ALL)) == []


def test_a_scalar_store_ends_later() -> None:
    assert kinds(check(load() + order("MTE2", "S") + PUT_SCALAR + order("S", "V") + COPY + DONE)) == []
    assert kinds(check(load() + order("MTE2", "S") + PUT_SCALAR + COPY + DONE)) == ["race!"]


@pytest.mark.parametrize("fence", ['    pto.dsb "ALL"\n', ALL])
def test_a_fence_ends_scalar_stores(fence: str) -> None:
    assert kinds(check(load() + order("MTE2", "S") + PUT_SCALAR + fence + COPY + DONE)) == []


def test_a_scalar_load_is_over_when_something_is_issued_behind_it() -> None:
    # The second copy comes behind the load in program order: S carries its own steps, and what it has waited for, to
    # whatever it issues.
    assert kinds(check(load() + order("MTE2", "S") + GET_SCALAR + load("%y") + ALL)) == []


def test_s_does_not_race_with_itself() -> None:
    assert kinds(check(PUT_SCALAR + GET_SCALAR + ALL)) == []


def test_scalar_stores_to_gm_count_too() -> None:
    report = check(READY + order("V", "MTE3") + store() + MARK_SCALAR + ALL)
    assert kinds(report) == ["race!"]
    assert report.findings[0].message == "S may write %y[0:4] before MTE3 has written it"


# --- by use -----------------------------------------------------------------------------------------------------------

HALF = '      %half = pto.pset_b32 "PAT_VL32" : !pto.mask<b32>\n'


def test_lanes_that_are_loaded_and_never_used_do_not_race() -> None:
    # The copy fills the first half and a second copy, in no order with the scope, the other half.
    fill = "    %half_bytes = arith.constant 128 : i64\n" + load(length="%half_bytes") + order("MTE2", "V")
    behind = "    %rest = arith.constant 128 : i64\n    %next = pto.castptr %rest : i64 -> !pto.ptr<f32, ub>\n"
    other = load("%x", "%next", "%half_bytes")
    kept = scope(HALF + vlds() + vsts(mask="%half"))
    whole = scope(MASK + vlds() + vsts())
    out = order("V", "MTE3") + store(length="%half_bytes") + ALL
    assert kinds(check(fill + behind + other + kept + out)) == []
    report = check(fill + behind + other + whole + order("V", "MTE3") + store() + ALL)
    assert kinds(report) == ["race!"]
    assert report.findings[0].message == "V may read ub[128:256] before MTE2 has written it"
    assert report.findings[0].related[1].role == "here it reaches GM"
    # Stored, but the copy to GM leaves it out: still not used.
    assert kinds(check(fill + behind + other + whole + out)) == []


def test_a_write_that_overtakes_a_load_counts_only_if_the_lanes_are_used() -> None:
    fill = "    %half_bytes = arith.constant 128 : i64\n" + load() + order("MTE2", "V")
    behind = "    %rest = arith.constant 128 : i64\n    %next = pto.castptr %rest : i64 -> !pto.ptr<f32, ub>\n"
    other = load("%x", "%next", "%half_bytes")
    out = order("V", "MTE3") + store() + ALL
    short = order("V", "MTE3") + store(length="%half_bytes") + ALL
    other = "    pto.barrier #pto.pipe<PIPE_MTE2>\n" + other  # or it would race with the first copy
    assert kinds(check(fill + behind + scope(HALF + vlds() + vsts(mask="%half")) + other + short)) == []
    report = check(fill + behind + scope(MASK + vlds() + vsts()) + other + out)
    assert kinds(report) == ["race!"]
    assert report.findings[0].message == "MTE2 may write ub[128:256] before V has read it"
    assert report.findings[0].related[0].role == "V reads here (vector scope at line 19)"


UNUSED = vlds("%w")
EARLIER_LOADS = {
    "one scope": scope(MASK + vlds() + UNUSED + vsts()),
    "two scopes": scope(MASK + vlds() + vsts()) + scope(MASK + UNUSED),
    "many scopes": scope(MASK + vlds() + vsts()) + scope(MASK + UNUSED) * 3,
    "masked before": scope(
        MASK
        + "      %w = pto.vsldb %in, %none, %none, %mask "
        + ": !pto.ptr<f32, ub>, i16, i16, !pto.mask<b32> -> !pto.vreg<64xf32>\n"
        + vlds()
        + vsts("%w")
    ),
}


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("loads", EARLIER_LOADS.values(), ids=EARLIER_LOADS.keys())
def test_a_write_that_overtakes_a_used_load_is_found_behind_an_unused_one(loads: str, engine: str) -> None:
    """A byte remembers its last load, which does not count here; the one before it does."""
    head = "    %none = arith.constant 0 : i16\n" + load() + load(dest="%out") + ALL
    tail = order("V", "MTE3") + store() + ALL
    report = check(head + loads + load() + tail, engine=engine)
    assert kinds(report) == ["race!"]
    used = next(n for n, line in enumerate(text(head + loads).splitlines(), 1) if " pto.vl" in line or "vsldb" in line)
    assert [place.location.line for place in report.findings[0].related[:1]] == [used]
    assert kinds(check(head + loads + order("V", "MTE2") + load() + tail, engine=engine)) == []


@pytest.mark.parametrize("loads", [scope(MASK + vlds() + UNUSED), scope(MASK + UNUSED) * 2], ids=["one", "two"])
def test_loads_that_are_all_unused_do_not_count(loads: str) -> None:
    head = load() + load(dest="%out") + ALL
    assert kinds(check(head + loads + load() + order("V", "MTE3") + store() + ALL)) == []


def test_masked_loads_race_by_touch() -> None:
    gather = """      %zeros = arith.constant 0 : i32
      %index = pto.vci %zeros : i32 -> !pto.vreg<64xi32>
      %g = pto.vgather2 %in, %index, %half : !pto.ptr<f32, ub>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xf32>
"""
    report = check(load() + scope(HALF + gather) + ALL)
    assert kinds(report) == ["race!"]
    assert report.findings[0].bytes == (0, 128)


# --- blocks -----------------------------------------------------------------------------------------------------------

OWN = """    %block_i64 = pto.get_block_idx
    %block = arith.index_cast %block_i64 : i64 to index
    %mine = arith.muli %block, %c64 : index
    %x_mine = pto.addptr %x, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %y_mine = pto.addptr %y, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
"""


def blocks(body: str, count: int = 3, **options: object) -> object:
    x, y = np.arange(64 * count, dtype=np.float32), np.zeros(64 * count, np.float32)
    return check(OWN + body, x, y, grid=count, **options)


def test_blocks_that_keep_to_their_part_are_clean() -> None:
    assert (
        kinds(blocks(load("%x_mine") + order("MTE2", "V") + COPY + order("V", "MTE3") + store("%out", "%y_mine") + ALL))
        == []
    )


def test_blocks_that_write_the_same_bytes_race() -> None:
    report = blocks(load("%x_mine") + order("MTE2", "V") + COPY + order("V", "MTE3") + store("%out", "%y") + ALL)
    assert kinds(report) == ["race!"]
    (race,) = report.findings
    assert race.message == "block 1 writes %y[0:256], which block 0 writes, in no order"
    assert race.count == 2
    assert race.block == 1


def test_lines_that_race_inside_a_block_and_between_blocks_are_one_finding() -> None:
    """Each block stores its part of x twice, to the same place for all of them: equal bytes inside, others between."""
    twice = f"    scf.for %i = %c0 to %c2 step %c1 {{\n{store('%in', '%y')}    }}\n"
    body = "    %c2 = arith.constant 2 : index\n" + load("%x_mine") + order("MTE2", "MTE3") + twice + ALL
    report = blocks(body, 2)
    assert kinds(report) == ["race!"]
    (race,) = report.findings
    assert race.message == "block 1 writes %y[0:256], which block 0 writes, in no order"
    assert race.notes == (
        "blocks run at the same time, in no order",
        "also inside a core: MTE3 may write %y[0:256] while an earlier copy of MTE3 is still writing it "
        "(the bytes are equal)",
    )
    assert race.hint == (
        "let each block work on bytes of its own, or put pto.barrier #pto.pipe<PIPE_ALL> and pto.syncall between the "
        "two"
    )
    assert race.count == 3  # once in each block, and once between them


def test_a_block_that_reads_what_another_writes_races() -> None:
    # Every block reads the first part of y, which block 0 then writes: whoever reads it may see old or new.
    body = load("%y") + order("MTE2", "V") + COPY + order("V", "MTE3") + store("%out", "%y_mine") + ALL
    report = blocks(body)
    assert kinds(report) == ["race!"]
    assert report.findings[0].message == "block 1 reads %y[0:256], which block 0 writes, in no order"


def test_a_read_by_an_earlier_block_is_not_forgotten() -> None:
    # Blocks 0 and 1 read the last part, and block 2 reads it too before it writes it.
    last = "    %c128 = arith.constant 128 : index\n"
    last += "    %part = pto.addptr %y, %c128 : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>\n"
    body = last + load("%part") + order("MTE2", "V") + COPY + order("V", "MTE3") + store("%out", "%y_mine") + ALL
    report = blocks(body)
    assert kinds(report) == ["race!"]
    (race,) = report.findings
    assert race.message == "block 2 writes %y[512:768], which block 0 reads, in no order"


def test_bytes_inside_one_granule_are_told_apart() -> None:
    # Each block stores 4 bytes next to those of the others.
    word = "    %four = arith.constant 4 : i64\n"
    own = "    %spot = pto.addptr %y, %block : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>\n"
    body = word + own + load("%x_mine") + order("MTE2", "MTE3") + store("%in", "%spot", "%four") + ALL
    assert kinds(blocks(body, 7)) == []
    halved = "    %c2 = arith.constant 2 : index\n    %half = arith.divui %block, %c2 : index\n"
    report = blocks(body.replace(own, halved + own.replace("%block", "%half")), 7)
    assert kinds(report) == ["race!"]
    assert report.findings[0].bytes == (0, 4)
    assert report.findings[0].count == 3


def test_a_check_that_lacks_the_memory_to_be_exact_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven blocks store words side by side: seven owners in one granule of %y. Without room to tell them apart, no
    race is made up, and the report does not look clean. What they read of %x lies apart and needs no room."""
    word = "    %four = arith.constant 4 : i64\n"
    own = "    %spot = pto.addptr %y, %block : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>\n"
    body = word + own + load("%x_mine") + order("MTE2", "MTE3") + store("%in", "%spot", "%four") + ALL
    monkeypatch.setattr(global_shadow, "ROOM", 1000 - 2 * (2 * 7 * 256))  # 56 stamps for x and for y fit, no more
    report = blocks(body, 7)
    assert kinds(report) == ["lint"]
    assert "the check of %y is not complete" in report.findings[0].message
    monkeypatch.undo()
    assert kinds(blocks(body, 7)) == []


def test_chosen_blocks_only() -> None:
    body = load("%x_mine") + order("MTE2", "V") + COPY + order("V", "MTE3") + store("%out", "%y") + ALL
    assert kinds(blocks(body, blocks=[0])) == []
    assert kinds(blocks(body, blocks=[0, "last"])) == ["race!"]
    assert kinds(blocks(body, blocks=np.arange(2))) == ["race!"]
    for wrong in ([[0]], [0.0], [True], ["first"], [np.array([0, 1])]):
        with pytest.raises(PTOError, match="there is no block"):
            blocks(body, blocks=wrong)


ATOMIC = "    pto.set_atomic_add\n    pto.set_atomic_{}\n"


def test_atomic_updates_of_one_kind_do_not_race() -> None:
    parameters = PARAMETERS.replace("f32", "i32")
    body = (
        load().replace("f32, gm", "i32, gm")
        + order("MTE2", "MTE3")
        + ATOMIC.format("s32")
        + store("%in").replace("f32, gm", "i32, gm")
    )
    report = check(body + ALL, np.arange(64, dtype="i4"), np.zeros(64, "i4"), parameters=parameters, grid=3)
    assert kinds(report) == []


def test_float_sums_in_no_order_are_remarked_on() -> None:
    body = load() + order("MTE2", "MTE3") + ATOMIC.format("f32") + store("%in") + ALL
    report = check(body, grid=3)
    assert kinds(report) == ["lint"]
    wanted = "add f32 to %y[0:256] and the same by another block are in no order: float sums depend on it"
    assert report.findings[0].message == wanted


def test_an_atomic_update_and_a_plain_store_race() -> None:
    body = load() + order("MTE2", "MTE3") + store("%in") + ATOMIC.format("f32") + store("%in") + ALL
    assert "race!" in kinds(check(body))


def test_output_bytes_that_nobody_writes() -> None:
    report = check(READY + DONE, np.zeros(64, "f4"), np.zeros(80, "f4"))
    assert (report.ok, report.findings) == (True, ())
    assert [(note.kind, note.severity) for note in report.notes] == [("lint", "note")]
    assert report.notes[0].message == "no block writes 64 of the 320 bytes of %y, first %y[256:320]"
    assert kinds(check(READY + DONE, np.zeros(64, "f4"), np.zeros(64, "f4"), unwritten="error")) == []
    assert kinds(check(READY + DONE, np.zeros(64, "f4"), np.zeros(80, "f4"), unwritten="error")) == ["lint!"]
    for earlier, now in ((True, 1), (False, 0)):
        assert len(check(READY + DONE, np.zeros(64, "f4"), np.zeros(80, "f4"), unwritten=earlier).notes) == now


def test_unary_results_of_racy_lanes_race() -> None:
    report = check(load() + scope(MASK + vlds() + unary("vabs", "%a", "%v") + vsts("%a")) + DONE)
    assert kinds(report) == ["race!"]
