"""What a check says of launches on several ranks: order by notices and waits, deadlocks, and rules about signals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ptosim
from rank_programs import Writer
from tables import table

CONTEXT = {"ctx": "!pto.ptr<i64>", "rank": "i32", "ranks": "i32"}
Finding = ptosim.Finding
GM_FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>"


def checked(
    w: Writer, ranks: int = 2, grid: int = 1, repeat: int = 1, words: int = 64, elements: int = 512
) -> tuple[Finding, ...]:
    """The findings of a kernel(window of f32, words, context, rank, ranks)."""
    world = ptosim.World(ranks)
    window, flags = world.symmetric(elements, "f4"), world.symmetric(words, "i4")
    world.launch(w.kernel(), window, flags, world.context(window), ptosim.RANK, ptosim.RANKS, grid=grid)
    return world.check(repeat=repeat).findings


def kinds(found: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(each.kind, each.severity) for each in found]


def writer() -> Writer:
    return Writer({"window": "!pto.ptr<f32>", "words": "!pto.ptr<i32>", **CONTEXT})


def ring(
    before: str = GM_FENCE, notify: bool = True, wait: bool = True, at: int = 0, cmp: str = "ge", clear: bool = True
) -> Writer:
    """Every rank puts its first half into the second half of the next one's window, notifies it, waits and reads."""
    w = writer()
    peer = w.neighbour(1)
    tile = w.tile("1x256xf32")
    theirs = w.view(w.remote("%window", "f32", peer), (1, 256), "f32", at=w.constant(256))
    w.call("pto.comm.tput", theirs, w.view("%window", (1, 256), "f32"), ("buf", [tile]))
    if before:
        w.do(before)
    if notify:
        w.notify(w.view(w.remote("%words", "i32", peer), (1,), "i32"), 1, "set")
    word = w.view("%words", (1,), "i32", at=w.constant(at))
    if wait:
        w.wait(word, 1, cmp)
    part, type_ = w.view("%window", (1, 256), "f32", at=w.constant(256))
    w.do(f"pto.tload ins({part} : {type_}) outs({tile[0]} : {tile[1]})")
    if clear:
        w.do("pto.barrier #pto.pipe<PIPE_ALL>")
        w.notify(word, 0, "set")
    return w


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_ring_is_clean(ranks: int) -> None:
    assert checked(ring(), ranks) == ()


def test_a_notice_without_a_fence_may_overtake_the_data() -> None:
    (found,) = [each for each in checked(ring(before="")) if each.severity == "error"]
    assert (found.severity, found.rank) == ("error", 1)
    assert found.message == "rank 1 reads %window of rank 1[1024:2048], which rank 0 writes, in no order"
    assert "that does not cover this" in found.notes[-1]


def test_a_reader_that_does_not_wait() -> None:
    found = checked(ring(wait=False, clear=False))
    assert [(each.kind, each.severity) for each in found] == [("race", "error")]
    assert "does not wait for a notice of rank 0" in found[0].notes[-1]


def test_a_drain_without_a_dsb_is_a_warning() -> None:
    (found,) = checked(ring(before="pto.barrier #pto.pipe<PIPE_ALL>"))
    assert (found.kind, found.severity) == ("race", "warning")
    assert "no dsb or fence says that the bytes it has copied are in GM" in found.message
    assert checked(ring(before='pto.barrier #pto.pipe<PIPE_ALL>\n    pto.dsb "DDR"')) == ()


def test_a_barrier_of_one_pipe_does_not_hold_the_scalar_unit() -> None:
    found = checked(ring(before="pto.barrier #pto.pipe<PIPE_MTE3>"))
    assert kinds(found) == [("race", "warning")]
    assert found[0].message.startswith("a barrier of MTE3 holds MTE3 and not the scalar unit: %words[0] of rank 1 may")
    hint = "pto.fence.barrier_all #pto.fence_scope<gm>"  # barrier PIPE_ALL alone would leave another warning
    assert found[0].hint == f"before the notice add  {hint}"
    assert checked(ring(before=f"pto.barrier #pto.pipe<PIPE_MTE3>\n    {hint}")) == ()


def test_a_wait_on_another_word_is_unmatched_and_says_who_was_notified() -> None:
    found = checked(ring(at=16, clear=False))
    assert kinds(found) == [("unmatched-wait", "error")]
    assert found[0].message == (
        "S waits until %words[16] of rank 0 >= 1; it is 0, and nothing is left that would notify it"
    )
    assert "%words[16] of rank 0 was notified 0 times" in found[0].notes


def test_the_word_of_another_rank_that_got_the_notice_is_named() -> None:
    """Rank 0 notifies its own copy of the word that rank 1 waits for."""
    w = writer()
    mine = w.view("%words", (1,), "i32")
    first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    w.do(f"scf.if {first} {{")
    w.notify(mine, 1)
    w.do("} else {")
    w.wait(mine, 1)
    w.do("}")
    (found,) = checked(w)
    assert (found.kind, found.rank) == ("unmatched-wait", 1)
    assert "%words[0] of rank 1 was notified 0 times" in found.notes
    assert "%words[0] of rank 0 was notified once" in found.notes


def test_ranks_that_wait_before_they_notify_are_a_circle() -> None:
    w = writer()
    w.wait(w.view("%words", (1,), "i32"), 1)
    w.notify(w.view(w.remote("%words", "i32", w.neighbour(1)), (1,), "i32"), 1)
    (found,) = checked(w)
    assert (found.kind, found.severity) == ("deadlock", "error")
    assert found.message == "r0.b0.aiv0 S, r1.b0.aiv0 S wait for each other"


def test_a_run_that_is_stuck_raises_the_same() -> None:
    w = writer()
    w.wait(w.view("%words", (1,), "i32"), 1)
    w.notify(w.view(w.remote("%words", "i32", w.neighbour(1)), (1,), "i32"), 1)
    for engine in ("reference", "native"):
        world = ptosim.World(2)
        window, flags = world.symmetric(4, "f4"), world.symmetric(64, "i4")
        world.launch(w.kernel(), window, flags, world.context(window), ptosim.RANK, ptosim.RANKS)
        with pytest.raises(ptosim.PTOError) as caught:
            world.run(engine=engine)
        assert caught.value.diagnostics[0].message == "r0.b0.aiv0 S, r1.b0.aiv0 S wait for each other"


# --- sums -------------------------------------------------------------------------------------------------------------


def adders(wait: int, halves: tuple[int, ...], cmp: str = "ge") -> Writer:
    """Ranks 0 and 2 each write half of the window of rank 1 and add 1 to its word; rank 1 waits and reads halves."""
    w = writer()
    tile = w.tile("1x128xf32")
    reader = w.new(f"arith.cmpi eq, %rank, {w.constant(1, 'i32')} : i32")
    one = w.constant(1)
    target, flag = w.remote("%window", "f32", one), w.remote("%words", "i32", one)
    half = w.new(f"arith.muli {w.index('%rank')}, {w.constant(64)} : index")
    w.do(f"scf.if {reader} {{")
    w.wait(w.view("%words", (1,), "i32"), wait, cmp)
    for each in halves:
        part, type_ = w.view("%window", (1, 128), "f32", at=w.constant(128 * each))
        w.do(f"pto.tload ins({part} : {type_}) outs({tile[0]} : {tile[1]})")
        w.do("pto.barrier #pto.pipe<PIPE_ALL>")
    w.do("} else {")
    w.call(
        "pto.comm.tput", w.view(target, (1, 128), "f32", at=half), w.view("%window", (1, 128), "f32"), ("buf", [tile])
    )
    w.fence()
    w.notify(w.view(flag, (1,), "i32"), 1)
    w.do("}")
    return w


def races(found: tuple[Finding, ...]) -> set[str]:
    return {each.message for each in found if each.kind == "race"}


def test_a_wait_for_all_adders_orders_all() -> None:
    assert races(checked(adders(2, (0, 1)), 3)) == set()


@pytest.mark.parametrize("halves", [(0, 1), (0,), (1,)])
def test_a_wait_for_one_of_two_adders_orders_neither(halves: tuple[int, ...]) -> None:
    """Whichever happens to have come first in this run."""
    found = races(checked(adders(1, halves), 3))
    expected = {
        0: "rank 1 reads %window of rank 1[0:512], which rank 0 writes, in no order",
        1: "rank 2 writes %window of rank 1[512:1024], which rank 1 reads, in no order",
    }
    assert found == {expected[half] for half in halves}


def test_an_exact_number_may_be_stepped_over() -> None:
    found = checked(adders(1, (), "eq"), 3)
    assert kinds(found) == [("signal-overrun", "warning")]


def test_an_exact_number_that_was_stepped_over_is_waited_for_for_ever() -> None:
    w = writer()
    first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    mine, theirs = (w.view(place, (1,), "i32") for place in ("%words", w.remote("%words", "i32", w.constant(0))))
    w.do(f"scf.if {first} {{")
    w.wait(mine, 1, "eq")
    w.do("} else {")
    w.notify(theirs, 1)
    w.notify(theirs, 1)
    w.do("}")
    found = checked(w)
    assert kinds(found) == [("unmatched-wait", "error"), ("signal-overrun", "warning")]
    assert found[1].message == "%words[0] of rank 0 == 1 held until another notice came, before anybody looked"


# --- memory that is used again ----------------------------------------------------------------------------------------


def twice(answer: bool) -> Writer:
    """Rank 0 writes the window of rank 1 twice; with an answer it waits until the first has been read."""
    w = writer()
    tile = w.tile("1x128xf32")
    writes = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    target = w.view(w.remote("%window", "f32", w.constant(1)), (1, 128), "f32")
    data = w.remote("%words", "i32", w.constant(1))
    back = w.remote("%words", "i32", w.constant(0))
    mine = w.view("%window", (1, 128), "f32")
    w.do(f"scf.if {writes} {{")
    for step in (1, 2):
        w.call("pto.comm.tput", target, mine, ("buf", [tile]))
        w.fence()
        w.notify(w.view(data, (1,), "i32"), step, "set")
        if answer and step == 1:
            w.wait(w.view("%words", (1,), "i32", at=w.constant(16)), 1)
    w.do("} else {")
    for step in (1, 2):
        w.wait(w.view("%words", (1,), "i32"), step)
        w.do(f"pto.tload ins({mine[0]} : {mine[1]}) outs({tile[0]} : {tile[1]})")
        w.do("pto.barrier #pto.pipe<PIPE_ALL>")
        if answer and step == 1:
            w.notify(w.view(back, (1,), "i32", at=w.constant(16)), 1, "set")
    w.do("}")
    return w


def test_a_buffer_that_is_written_again_before_it_was_read() -> None:
    assert races(checked(twice(answer=True))) == set()
    found = races(checked(twice(answer=False)))
    assert len(found) == 1 and all("%window of rank 1[0:512]" in message for message in found)


# --- words ------------------------------------------------------------------------------------------------------------


def test_words_that_a_run_leaves_set_pass_at_once_in_the_next() -> None:
    (found,) = checked(ring(clear=False))
    assert (found.kind, found.severity) == ("stale-signal", "warning")
    again = checked(ring(clear=False), repeat=2)
    assert ("stale-signal", "warning") in kinds(again)
    assert any("holds before anybody has notified it in this run" in each.message for each in again)
    assert any(each.kind == "race" for each in again), "what is read then is not there yet"


def test_setting_a_word_from_two_ranks_is_a_race() -> None:
    w = writer()
    value = w.new(f"arith.addi %rank, {w.constant(1, 'i32')} : i32")
    w.notify(w.view(w.remote("%words", "i32", w.constant(0)), (1,), "i32"), value, "set")
    found = checked(w)
    assert kinds(found) == [("race", "error")]
    assert found[0].message == "two notices of %words[0] of rank 0 are in no order, and one of them sets it"


def test_a_wait_on_a_word_of_another_rank() -> None:
    w = writer()
    theirs = w.view(w.remote("%words", "i32", w.neighbour(1)), (1,), "i32")
    w.notify(theirs, 1)
    w.wait(theirs, 1)
    found = checked(w)
    assert ("wrong-rank", "warning") in kinds(found)


def test_words_of_one_line_that_different_ranks_notify() -> None:
    w = writer()
    first = w.remote("%words", "i32", w.constant(0))
    w.notify(w.view(first, (1,), "i32", at=w.index("%rank")), 1)
    found = checked(w)
    assert kinds(found) == [("lint", "warning")] and "share 64 bytes" in found[0].message


# --- collectives ------------------------------------------------------------------------------------------------------


def broadcast(root_runs: Callable[[Writer], str], members: tuple[int, ...] = (0, 1)) -> Writer:
    w = writer()
    tile = w.tile("1x128xf32")
    group = [
        w.view(w.remote("%window", "f32", w.constant(peer)), (1, 128), "f32", at=w.constant(128)) for peer in members
    ]
    w.do(f"scf.if {root_runs(w)} {{")
    w.call(
        "pto.comm.tbroadcast",
        w.view("%window", (1, 128), "f32"),
        ("recv", [tile]),
        ("group", group),
        rest=" {root = 0 : i32}",
    )
    w.do("}")
    w.do("pto.barrier #pto.pipe<PIPE_ALL>")
    return w


def on_rank(rank: int) -> Callable[[Writer], str]:
    return lambda w: w.new(f"arith.cmpi eq, %rank, {w.constant(rank, 'i32')} : i32")


def test_a_collective_of_the_root() -> None:
    assert checked(broadcast(on_rank(0))) == ()


def test_a_collective_that_another_rank_executes() -> None:
    found = checked(broadcast(on_rank(1)))
    assert kinds(found) == [("wrong-rank", "error")]
    assert found[0].message == "rank 1 executes it, but the root, member 0, lies on rank 0"


def test_members_in_another_order() -> None:
    found = checked(broadcast(on_rank(1), (1, 0)))
    assert kinds(found) == [("wrong-rank", "warning")]
    assert found[0].message == "member 0 lies on rank 1"


# --- scalar accesses --------------------------------------------------------------------------------------------------


def scalars(clean: bool, invalidate: bool, read_before: bool = False) -> Writer:
    w = writer()
    theirs = w.remote("%words", "i32", w.neighbour(1))
    c0, c16 = w.constant(0), w.constant(16)
    mine = w.new(f"pto.addptr %words, {c16} : <i32> -> <i32>", "p")
    there = w.new(f"pto.addptr {theirs}, {c16} : <i32> -> <i32>", "p")
    if read_before:
        w.new(f"pto.load_scalar {mine}[{c0}] : !pto.ptr<i32> -> i32")
        w.do("pto.barrier #pto.pipe<PIPE_ALL>")
    w.do(f"pto.store_scalar {w.constant(7, 'i32')}, {there}[{c0}] : !pto.ptr<i32>, i32")
    if clean:
        w.do(f"pto.cmo.cacheinvalid {there} single_cache_line : !pto.ptr<i32>")
    w.fence()
    w.notify(w.view(theirs, (1,), "i32"), 1, "set")
    word = w.view("%words", (1,), "i32")
    w.wait(word, 1)
    if invalidate:
        w.do("pto.cmo.cacheinvalid all #pto.address_space<gm>")
    w.new(f"pto.load_scalar {mine}[{c0}] : !pto.ptr<i32> -> i32")
    w.notify(word, 0, "set")
    return w


@table(
    "clean, invalidate, expected",
    (True, True, []),
    (True, False, [("stale-cache", "warning")]),
    (False, True, [("stale-cache", "error")]),
)
def test_scalar_accesses_go_through_a_cache(clean: bool, invalidate: bool, expected: list[tuple[str, str]]) -> None:
    assert kinds(checked(scalars(clean, invalidate))) == expected


def test_a_line_that_was_read_before_is_stale_for_certain() -> None:
    found = checked(scalars(True, False, read_before=True))
    assert ("stale-cache", "error") in kinds(found)


def test_a_line_that_was_invalidated_behind_the_wait_may_be_read_until_the_next_wait() -> None:
    w = scalars(True, True)
    again = w.new("pto.addptr %words, " + w.constant(16) + " : <i32> -> <i32>", "p")
    w.new(f"pto.load_scalar {again}[{w.constant(0)}] : !pto.ptr<i32> -> i32")
    assert not checked(w)
    word = w.view("%words", (1,), "i32")
    w.wait(word, 0)
    w.new(f"pto.load_scalar {again}[{w.constant(0)}] : !pto.ptr<i32> -> i32")
    assert ("stale-cache", "error") in kinds(checked(w))


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_private_memory_of_a_peer_is_out_of_bounds(engine: str) -> None:
    w = Writer({"x": "!pto.ptr<f32>", "y": "!pto.ptr<f32>", "window": "!pto.ptr<f32>", **CONTEXT})
    theirs = w.view(w.remote("%x", "f32", w.neighbour(1)), (1, 64), "f32")
    w.call("pto.comm.tput", theirs, w.view("%window", (1, 64), "f32"), ("buf", [w.tile("1x64xf32")]))
    world = ptosim.World(2)
    window = world.symmetric(64, "f4")
    arrays = [ptosim.each(*(window[0].copy() for _ in range(2))) for _ in range(2)]
    world.launch(w.kernel(), *arrays, window, world.context(window), ptosim.RANK, ptosim.RANKS)
    with pytest.raises(ptosim.PTOError) as caught:
        world.run(engine=engine)
    (found,) = caught.value.diagnostics
    assert (found.kind, found.rank, found.bytes) == ("out-of-bounds", 0, (0, 256))
    assert found.message.startswith("writes bytes 0 to 255 of argument 0 (%x) of rank 1, which is private to that rank")


def test_what_is_not_reached_is_in_no_race() -> None:
    """Both ranks read their array and put it where that of rank 1 lies: nothing is written there."""
    w = Writer({"x": "!pto.ptr<f32>", "window": "!pto.ptr<f32>", **CONTEXT})
    theirs = w.view(w.remote("%x", "f32", w.constant(1)), (1, 64), "f32")
    w.call("pto.comm.tput", theirs, w.view("%x", (1, 64), "f32"), ("buf", [w.tile("1x64xf32")]))
    world = ptosim.World(2)
    window = world.symmetric(64, "f4")
    arrays = ptosim.each(*(window[0].copy() for _ in range(2)))
    world.launch(w.kernel(), arrays, window, world.context(window), ptosim.RANK, ptosim.RANKS)
    (found,) = world.check().findings
    assert (found.kind, found.rank) == ("out-of-bounds", 0)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_past_the_end_of_a_window(engine: str) -> None:
    w = writer()
    theirs = w.view(w.remote("%window", "f32", w.neighbour(1)), (1, 64), "f32", at=w.constant(40))
    w.call("pto.comm.tput", theirs, w.view("%window", (1, 64), "f32"), ("buf", [w.tile("1x64xf32")]))
    world = ptosim.World(2)
    window, words = world.symmetric(64, "f4"), world.symmetric(16, "i4")
    world.launch(w.kernel(), window, words, world.context(window), ptosim.RANK, ptosim.RANKS)
    with pytest.raises(ptosim.PTOError) as caught:
        world.run(engine=engine)
    (found,) = caught.value.diagnostics
    assert found.message == (
        "writes bytes 160 to 415 of window 0 (%window) of rank 1, which has 256 bytes: the first byte outside is 256"
    )


# --- transfers --------------------------------------------------------------------------------------------------------


def fetched(wait: bool) -> Writer:
    """Every rank gets the first quarter of the next one's window into its last quarter, and reads it."""
    w = Writer({"window": "!pto.ptr<f32>", "words": "!pto.ptr<i32>", **CONTEXT})
    control, type_ = w.tile("1x32xi8")
    workspace = w.new("pto.castptr %words : !pto.ptr<i32> -> !pto.ptr<i8>")
    session = w.new(
        f"pto.comm.build_async_session({control}, {workspace} : {type_}, !pto.ptr<i8>) -> !pto.async_session"
    )
    theirs = w.view(w.remote("%window", "f32", w.neighbour(1)), (1, 128), "f32")
    mine = w.view("%window", (1, 128), "f32", at=w.constant(384))
    event = w.new(
        f"pto.comm.tget_async({mine[0]}, {theirs[0]}, {session} : {mine[1]}, {theirs[1]}, !pto.async_session)"
        " -> !pto.async_event"
    )
    if wait:
        w.new(f"pto.comm.wait_async_event({event}, {session} : !pto.async_event, !pto.async_session) -> i1")
    tile = w.tile("1x128xf32")
    w.do(f"pto.tload ins({mine[0]} : {mine[1]}) outs({tile[0]} : {tile[1]})")
    return w


def test_a_transfer_that_is_waited_for() -> None:
    assert checked(fetched(wait=True)) == ()


def test_a_transfer_that_is_not_waited_for() -> None:
    found = checked(fetched(wait=False))
    assert kinds(found) == [("race", "error"), ("undrained", "warning")]
    assert found[0].message == "MTE2 may read %window of rank 0[1536:2048] before the transfer has written it"
    assert "no pto.comm.wait_async_event lies between the two" in found[0].notes[-1]


# --- polling ----------------------------------------------------------------------------------------------------------


def polling(load: bool, notify: bool, rounds: int = 0) -> Writer:
    """Rank 0 polls its word, by pto.comm.ttest or by loads, for ever or so many times; rank 1 perhaps notifies it."""
    w = writer()
    c0, limit = w.constant(0), w.constant(rounds or 10**6)
    first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    mine, type_ = w.view("%words", (1,), "i32")
    theirs = w.view(w.remote("%words", "i32", c0), (1,), "i32")
    one, step = w.constant(1, "i32"), w.constant(1)
    w.do(f"scf.if {first} {{")
    w.do(f"%rounds = scf.while (%n = {c0}) : (index) -> index {{")
    if load:
        w.do(f"%seen = pto.load_scalar %words[{c0}] : !pto.ptr<i32> -> i32")
        w.do(f"%open = arith.cmpi ne, %seen, {one} : i32")
    else:
        w.do(f"%ok = pto.comm.ttest({mine}, {one} : {type_}, i32) {{cmp = #pto<wait_cmp ge>}} -> i1")
        w.do("%true = arith.constant true")
        w.do("%open = arith.xori %ok, %true : i1")
    w.do(f"%few = arith.cmpi slt, %n, {limit} : index")
    w.do("%go = arith.andi %open, %few : i1")
    w.do("scf.condition(%go) %n : index")
    w.do("} do {")
    w.do("^bb0(%m: index):")
    w.do(f"%next = arith.addi %m, {step} : index")
    w.do("scf.yield %next : index")
    w.do("}")
    w.do("%count = arith.index_cast %rounds : index to i32")
    w.do(f"pto.store_scalar %count, %words[{w.constant(16)}] : !pto.ptr<i32>, i32")
    w.do("} else {")
    if notify:
        w.notify(theirs, 1)
    w.do("}")
    return w


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("load", [True, False])
def test_polling_ends_when_the_word_comes(engine: str, load: bool) -> None:
    w = polling(load, notify=True)
    if not load:
        w.wait(w.view("%words", (1,), "i32", at=w.constant(32)), 0)
    world = ptosim.World(2)
    window, words = world.symmetric(4, "f4"), world.symmetric(64, "i4")
    world.launch(w.kernel(), window, words, world.context(window), ptosim.RANK, ptosim.RANKS)
    world.run(engine=engine)
    assert words[0][0] == 1 and words[0][16] < 3


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_polling_that_is_bounded_ends_without(engine: str) -> None:
    w = polling(False, notify=False, rounds=50)
    world = ptosim.World(2)
    window, words = world.symmetric(4, "f4"), world.symmetric(64, "i4")
    world.launch(w.kernel(), window, words, world.context(window), ptosim.RANK, ptosim.RANKS)
    world.run(engine=engine)
    assert words[0][16] == 50


def test_polling_for_ever_is_found() -> None:
    (found,) = checked(polling(False, notify=False))
    assert (found.kind, found.rank) == ("deadlock", 0)
    assert found.message == "S waits until %words[0] of rank 0 >= 1; it is 0, and nothing is left that would notify it"


def test_a_missing_wait_leads_and_the_other_direction_follows() -> None:
    """Each rank puts a row into all windows, notifies, and reads its own window at two lines without a wait: that would
    order both directions."""
    path = Path(__file__).with_name("missing_wait.pto")
    world = ptosim.World(2)
    x, y = np.ones((2, 256), "f4"), np.zeros((2, 256), "f4")
    window, words = world.symmetric((2, 256), "f4"), world.symmetric((2, 16), "i4")
    given = ptosim.each(*x), window, words, ptosim.each(*y), world.context(window), ptosim.RANK, ptosim.RANKS, 1
    world.launch(ptosim.load(path).kernel(), *given)
    (race,) = world.check().findings
    assert race.message == "rank 1 reads %win of rank 1[0:1024], which rank 0 writes, in no order"
    assert any("does not wait for a notice" in note for note in race.notes)
    assert [each.message.partition(" of ")[0] for each in race.consequences] == ["rank 1 writes %win"]
