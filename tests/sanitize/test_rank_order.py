"""Order between ranks by other means than notices and waits: loops that poll, words that are stored, events of
transfers; and remarks about places."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from rank_programs import Writer
from tables import table

CONTEXT = {"ctx": "!pto.ptr<i64>", "rank": "i32", "ranks": "i32"}
FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>"


def writer(target: str = "a5") -> Writer:
    return Writer({"window": "!pto.ptr<f32>", "words": "!pto.ptr<i32>", **CONTEXT}, target=target)


def checked(w: Writer, repeat: int = 1) -> list[tuple[str, str]]:
    return [(each.kind, each.severity) for each in found(w, repeat)]


def found(w: Writer, repeat: int = 1) -> tuple[ptosim.Finding, ...]:
    world = ptosim.World(2)
    window, flags = world.symmetric(1024, "f4"), world.symmetric(64, "i4")
    world.launch(w.kernel(), window, flags, world.context(window), ptosim.RANK, ptosim.RANKS)
    return world.check(repeat=repeat).findings


# --- loops that poll, words that are stored ---------------------------------------------------------------------------


def handed(look: str, tell: str = "notify", fence: bool = True, refresh: bool = True, bounded: bool = False) -> Writer:
    """Rank 0 puts data into the window of rank 1 and tells so; rank 1 looks for that and reads the data."""
    w = writer()
    tile, one, c0 = w.tile("1x256xf32"), w.constant(1, "i32"), w.constant(0)
    mine = w.view("%window", (1, 256), "f32")
    theirs = w.view(w.remote("%window", "f32", w.neighbour(1)), (1, 256), "f32", at=w.constant(256))
    got = w.view("%window", (1, 256), "f32", at=w.constant(256))
    word = w.remote("%words", "i32", w.neighbour(1))
    told, heard = w.view(word, (1,), "i32"), w.view("%words", (1,), "i32")
    first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    w.do(f"scf.if {first} {{")
    w.call("pto.comm.tput", theirs, mine, ("buf", [tile]))
    if fence:
        w.fence()
    if tell == "notify":
        w.notify(told, 1, "set")
    else:
        w.do(f"pto.st_dev {one}, {word}[{c0}] : !pto.ptr<i32>, i32")
    w.do("} else {")
    if look == "twait":
        w.wait(heard, 1)
    else:
        w.do("%many = arith.constant 1000000 : i32")
        w.do("%none = arith.constant 0 : i32")
        w.do("%rounds = scf.while (%n = %none) : (i32) -> i32 {")
        w.do(f"%seen = pto.{look} %words[{c0}] : !pto.ptr<i32> -> i32")
        w.do(f"%open = arith.cmpi slt, %seen, {one} : i32")
        w.do("%few = arith.cmpi slt, %n, %many : i32")
        w.do("%go = arith.andi %few, %open : i1")
        w.do(f"scf.condition({'%go' if bounded else '%open'}) %n : i32")
        w.do("} do {")
        w.do("^bb0(%m: i32):")
        if refresh:
            w.do("pto.cmo.cacheinvalid %words single_cache_line : !pto.ptr<i32>")
        w.do(f"%next = arith.addi %m, {one} : i32")
        w.do("scf.yield %next : i32")
        w.do("}")
    w.do(f"pto.tload ins({got[0]} : {got[1]}) outs({tile[0]} : {tile[1]})")
    w.do("pto.barrier #pto.pipe<PIPE_ALL>")
    w.notify(heard, 0, "set")
    w.do("}")
    return w


@pytest.mark.parametrize("tell", ["notify", "store"])
@pytest.mark.parametrize("look", ["twait", "ld_dev", "load_scalar"])
@pytest.mark.parametrize("bounded", [False, True])
def test_a_loop_that_polls_is_a_wait(look: str, tell: str, bounded: bool) -> None:
    assert checked(handed(look, tell, bounded=bounded)) == []
    assert ("race", "error") in checked(handed(look, tell, fence=False, bounded=bounded))


def test_a_loop_that_looks_into_the_cache_may_never_end() -> None:
    assert checked(handed("load_scalar", refresh=False)) == [("stale-cache", "error")]
    assert checked(handed("ld_dev", refresh=False)) == []


def test_what_was_written_before_a_launch_is_in_no_cache() -> None:
    """In the second round the first one's data is read behind a wait that has nothing to do with it."""
    w = writer()
    word, told = w.view("%words", (1,), "i32"), w.view(w.remote("%words", "i32", w.neighbour(1)), (1,), "i32")
    there = w.new(f"pto.addptr {w.remote('%words', 'i32', w.neighbour(1))}, {w.constant(32)} : <i32> -> <i32>", "p")
    w.notify(told, 1, "set")
    w.wait(word, 1)
    w.new(f"pto.load_scalar %words[{w.constant(32)}] : !pto.ptr<i32> -> i32")
    w.do("pto.barrier #pto.pipe<PIPE_ALL>")
    w.notify(word, 0, "set")
    w.notify(w.view(w.remote("%words", "i32", w.neighbour(1)), (1,), "i32", at=w.constant(16)), 1, "set")
    second = w.view("%words", (1,), "i32", at=w.constant(16))
    w.wait(second, 1)
    w.notify(second, 0, "set")
    w.do(f"pto.st_dev {w.constant(7, 'i32')}, {there}[{w.constant(0)}] : !pto.ptr<i32>, i32")
    assert checked(w) == []
    assert checked(w, repeat=2) == []


# --- transfers --------------------------------------------------------------------------------------------------------


def transfers(waits: list[tuple[int, int]], sessions: int = 1) -> Writer:
    """Two transfers from the next rank, each in its session, the waits for (event, session), and reads of both."""
    w = writer("a3")
    workspace = w.new("pto.castptr %words : !pto.ptr<i32> -> !pto.ptr<i8>")
    control, type_ = w.tile("1x32xi8")
    made = [
        w.new(f"pto.comm.build_async_session({control}, {workspace} : {type_}, !pto.ptr<i8>) -> !pto.async_session")
        for _ in range(sessions)
    ]
    mine = [w.view("%window", (1, 128), "f32", at=w.constant(at)) for at in (512, 768)]
    theirs = w.view(w.remote("%window", "f32", w.neighbour(1)), (1, 128), "f32")
    events = [
        w.new(
            f"pto.comm.tget_async({view[0]}, {theirs[0]}, {made[number % sessions]} : {view[1]}, {theirs[1]}, "
            "!pto.async_session) -> !pto.async_event"
        )
        for number, view in enumerate(mine)
    ]
    for event, session in waits:
        types = "!pto.async_event, !pto.async_session"
        w.new(f"pto.comm.wait_async_event({events[event]}, {made[session]} : {types}) -> i1")
    for view, tile in zip(mine, (w.tile("1x128xf32"), w.tile("1x128xf32")), strict=True):
        w.do(f"pto.tload ins({view[0]} : {view[1]}) outs({tile[0]} : {tile[1]})")
    return w


def test_the_event_of_the_later_transfer_tells_of_both() -> None:
    assert checked(transfers([(1, 0)])) == []


def test_the_event_of_the_earlier_one_tells_of_it_alone() -> None:
    (race, left) = found(transfers([(0, 0)]))
    message = "MTE2 may read %window of rank 0[3072:3584] before the transfer has written it"
    assert (race.kind, race.message) == ("race", message)
    assert left.kind == "undrained"


def test_sessions_are_apart() -> None:
    assert checked(transfers([(0, 0), (1, 1)], sessions=2)) == []
    assert checked(transfers([(1, 1)], sessions=2)) == [("race", "error"), ("undrained", "warning")]


# --- places -----------------------------------------------------------------------------------------------------------


@table(
    "at, tile, expected",
    (1024, "1x64xf32", []),
    (64, "1x64xf32", [("overlap", "warning")]),
    (252, "1x64xf32", [("overlap", "warning")]),
    (256, "1x64xf32", []),
    (0, "1x64xf32", []),  # onto itself
    (64, "1x256xf32", []),  # at once
)
def test_a_copy_in_parts_onto_itself(at: int, tile: str, expected: list[tuple[str, str]]) -> None:
    w = writer()
    src, dst = (w.view("%window", (1, 256), "f32", at=w.constant(place)) for place in (0, at % 1024))
    if at == 1024:
        dst = w.view(w.remote("%window", "f32", w.neighbour(1)), (1, 256), "f32", at=w.constant(512))
    w.call("pto.comm.tput", dst, src, ("buf", [w.tile(tile)]))
    assert [each for each in checked(w) if each[0] == "overlap"] == expected


def test_columns_side_by_side_do_not_overlap() -> None:
    """Left and right half of one matrix; a column further to the left they do."""
    for at, expected in ((16, []), (15, [("overlap", "warning")])):
        w = writer()
        src, dst = (w.view("%window", (8, 16), "f32", (32, 1), at=w.constant(place)) for place in (0, at))
        w.call("pto.comm.tput", dst, src, ("buf", [w.tile("1x16xf32")]))
        assert checked(w) == expected


@pytest.mark.parametrize(("at", "expected"), [(8, [("lint", "warning")]), (16, [])])
def test_a_signal_beside_data(at: int, expected: list[tuple[str, str]]) -> None:
    """Data that is written and read 32 bytes behind a word, or 64."""
    w = writer()
    view = w.view("%words", (1, 8), "i32", at=w.constant(at))
    source = w.view("%words", (1, 8), "i32", at=w.constant(32))
    tile = w.tile("1x8xi32")
    w.call("pto.comm.tput", view, source, ("buf", [tile]))
    w.fence()
    w.do(f"pto.tload ins({view[0]} : {view[1]}) outs({tile[0]} : {tile[1]})")
    w.do("pto.barrier #pto.pipe<PIPE_ALL>")
    w.notify(w.view("%words", (1,), "i32"), 1, "set")
    assert checked(w) == expected


def test_an_inserted_barrier_of_a_pipe_is_not_taken_for_a_drain() -> None:
    w = writer()
    tile = w.tile("1x256xf32")
    views = [w.view("%window", (1, 256), "f32", at=w.constant(at)) for at in (0, 256)]
    for view, type_ in views:  # into one tile: MTE2 has to wait for itself
        w.do(f"pto.tload ins({view} : {type_}) outs({tile[0]} : {tile[1]})")
    assert "pto.barrier #pto.pipe<PIPE_MTE2>" in ptosim.load(w.text()).lowered().source
    w.notify(w.view("%words", (1,), "i32"), 1, "set")
    assert checked(w) == []


def test_launches_on_ranks_are_not_repaired() -> None:
    world = ptosim.World(2)
    window, flags = world.symmetric(1024, "f4"), world.symmetric(64, "i4")
    given = window, flags, world.context(window), ptosim.RANK, ptosim.RANKS
    world.launch(handed("twait", fence=False).kernel(), *given)
    report = world.check()
    fix = report.fix()
    assert not report.ok and not fix.verified and fix.diff == "" and fix.left == report.findings
    assert "not repaired: the findings say what to add" in str(fix)
    assert np.all(window[0] == 0)
