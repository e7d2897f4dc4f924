"""Time between ranks: copies over the link, notices on their way, launches one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from native.test_awaited_bytes import A, B, wait
from ptosim.target.profile import load_target
from rank_programs import Writer
from tiles.test_sync import NEGATE, STORE, kernel

CONTEXT = {"ctx": "!pto.ptr<i64>", "rank": "i32", "ranks": "i32"}


def timed(w: Writer, ranks: int = 2, launches: int = 1) -> ptosim.profile:
    world = ptosim.World(ranks)
    window, words = world.symmetric(4096, "f4"), world.symmetric(64, "i4")
    for _ in range(launches):
        world.launch(w.kernel(), window, words, world.context(window), ptosim.RANK, ptosim.RANKS)
    return world.profile()


def sending(step: int) -> Writer:
    """16 KB to the window of a rank so many further on."""
    w = Writer({"window": "!pto.ptr<f32>", "words": "!pto.ptr<i32>", **CONTEXT})
    theirs = w.view(w.remote("%window", "f32", w.neighbour(step)), (1, 4096), "f32")
    w.call("pto.comm.tput", theirs, w.view("%window", (1, 4096), "f32"), ("buf", [w.tile("1x4096xf32")]))
    return w


@pytest.mark.parametrize(("step", "path"), [(0, "ub_gm"), (1, "link")])
def test_a_copy_to_another_rank_goes_over_the_link(step: int, path: str) -> None:
    profile = timed(sending(step))
    (store,) = {event.cycles for event in profile.timeline if event.pipe == "MTE3"}
    copy = load_target("a5").dma[path]
    assert store == copy.startup + -(-16384 // copy.bytes_per_cycle)


def test_a_notice_takes_its_time() -> None:
    """Rank 1 does nothing but wait for the notice of rank 0."""
    w = Writer({"window": "!pto.ptr<f32>", "words": "!pto.ptr<i32>", **CONTEXT})
    first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    word = w.view(w.remote("%words", "i32", w.constant(1)), (1,), "i32")
    w.do(f"scf.if {first} {{")
    w.notify(word, 1)
    w.do("} else {")
    w.wait(w.view("%words", (1,), "i32"), 1)
    w.do("}")
    profile = timed(w)
    (wait,) = profile.waits
    assert (wait.core, wait.pipe) == ("r1.b0.aiv0", "S")
    (told,) = profile.recording.signals.set_time
    assert wait.end - told == load_target("a5").latency.notify
    assert profile.ranks[0].exposed == 0
    assert profile.ranks[1].exposed == wait.cycles
    assert list(profile.ranks[1].cores) == ["r1.b0.aiv0"]


def test_the_critical_path_stays_with_the_rank_that_notifies() -> None:
    """Rank 0 puts, fences and notifies; rank 1 waits and then copies."""
    w = sending(1)
    w.fence()
    first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    word = w.view(w.remote("%words", "i32", w.constant(1)), (1,), "i32")
    tile, mine = w.tile("1x4096xf32"), w.view("%window", (1, 4096), "f32")
    w.do(f"scf.if {first} {{")
    w.notify(word, 1)
    w.do("} else {")
    w.wait(w.view("%words", (1,), "i32"), 1)
    w.do(f"pto.tload ins({mine[0]} : {mine[1]}) outs({tile[0]} : {tile[1]})")
    w.do("}")
    path = timed(w).critical_path
    last = max(number for number, step in enumerate(path) if step.name == "pto.comm.tnotify")
    assert path[last + 1].name == "pto.comm.twait"
    assert {step.core for step in path[: last + 1]} == {"r0.b0.aiv0"}
    assert {step.core for step in path[last + 1 :]} == {"r1.b0.aiv0"}


def test_launches_of_a_stream_follow_each_other() -> None:
    once, twice = timed(sending(1)), timed(sending(1), launches=2)
    assert twice.cycles == 2 * once.cycles


def test_one_rank_has_no_ranks(tmp_path: object) -> None:
    w = Writer({"words": "!pto.ptr<i32>"})
    w.notify(w.view("%words", (1,), "i32"), 1)
    assert ptosim.profile(w.kernel(), np.zeros(4, "i4")).ranks == {}


def test_waits_for_bytes_take_as_long_as_without_ranks() -> None:
    """The load is waited for before its tile is negated, and that before it is stored."""
    text = kernel("\n".join([wait(A), NEGATE, wait(B), STORE]))
    x, y = np.arange(1024, dtype="f4"), np.zeros(1024, "f4")
    made = ptosim.load(text).kernel()
    world = ptosim.World(2)
    world.launch(made, *(world.symmetric(1024, "f4") for _ in range(2)))
    assert world.profile().cycles == ptosim.profile(made, x, y).cycles
