"""Profiles of several ranks: links, waits for words, what is hidden, and the forms that show it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from example_scripts import script
from ptosim.report.profile import Profile
from ptosim.target.profile import load_target
from rank_programs import Writer
from report.browser import CHROMIUM, browser
from tables import table

EXAMPLES = Path(__file__).parents[2] / "examples" / "ranks"
CLOCK = 1.85
CONTEXT = {"ctx": "!pto.ptr<i64>", "rank": "i32", "ranks": "i32"}
PARAMETERS = {"window": "!pto.ptr<f32>", "words": "!pto.ptr<i32>", **CONTEXT}


def timed(w: Writer, ranks: int = 2, grid: int = 1) -> Profile:
    world = ptosim.World(ranks)
    window, words = world.symmetric(65536, "f4"), world.symmetric(64, "i4")
    world.launch(w.kernel(), window, words, world.context(window), ptosim.RANK, ptosim.RANKS, grid=grid)
    return world.profile()


def example(name: str) -> Any:
    return script(f"ranks/{name}")


@pytest.fixture(scope="module")
def gemm() -> Profile:
    module = example("gemm_all_reduce")
    return module.launched(next(iter(ptosim.load(EXAMPLES / "gemm_all_reduce.pto").kernels.values()))).world.profile()


def sending(count: int = 1) -> Writer:
    """16 KB to the next rank, so many times one after the other."""
    w = Writer(PARAMETERS)
    theirs = w.view(w.remote("%window", "f32", w.neighbour(1)), (1, 4096), "f32")
    mine, tile = w.view("%window", (1, 4096), "f32"), w.tile("1x4096xf32")
    for _ in range(count):
        w.call("pto.comm.tput", theirs, mine, ("buf", [tile]))
    return w


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 5, 6, 8])
def test_blocks_share_a_link(blocks: int) -> None:
    """Five cores of 5.5 GB/s fit into the 30 of a link, more do not."""
    profile = timed(sending(), grid=blocks)
    alone = -(-16384 // 3)
    expected = max(alone, -int(-(blocks * 16384 * CLOCK / 30) // 1))
    assert {event.cycles for event in profile.timeline if event.pipe == "MTE3"} == {expected}
    assert [(link.source, link.dest) for link in profile.links] == [(0, 1), (1, 0)]
    (link, _) = profile.links
    assert (link.bytes, link.copies, link.busy) == (blocks * 16384, blocks, expected)
    assert link.delayed == blocks * (expected - alone)
    assert link.rate == pytest.approx(blocks * 16384 * CLOCK / expected)
    assert (link.limit, profile.bound) == (30, "communication")


def test_copies_that_follow_each_other_share_all_the_way() -> None:
    """What begins later because of the others is found in another round."""
    once, thrice = (timed(sending(count), grid=8) for count in (1, 3))
    (store,) = {event.cycles for event in thrice.timeline if event.pipe == "MTE3"}
    assert store == -int(-(8 * 16384 * CLOCK / 30) // 1)
    assert thrice.links[0].delayed == 3 * once.links[0].delayed


def test_figures_of_the_link_are_told_with_their_origin() -> None:
    profile = timed(sending())
    assert {"dma.link", "link.peer_gb_s", "link.rank_gb_s"} <= set(profile.result["rests_on"]["R"])
    assert load_target("a3").origin("dma.link.bytes_per_cycle") == "DEV"


@pytest.mark.parametrize(("target", "name"), [("a3", "tput_async"), ("a3", "tget_async"), ("a5", "tget_async")])
def test_transfers_of_a_session_follow_each_other(target: str, name: str) -> None:
    """2.5 us, then 21 GB/s; the wait for the first event ends with the first transfer."""
    w = Writer({**PARAMETERS, "scratch": "!pto.ptr<i8>"}, target=target)
    theirs = w.view(w.remote("%window", "f32", w.neighbour(1)), (1, 4096), "f32")
    mine, (tile, type_) = w.view("%window", (1, 4096), "f32"), w.tile("1x32xi8")
    session = w.new(f"pto.comm.build_async_session({tile}, %scratch : {type_}, !pto.ptr<i8>) -> !pto.async_session")
    events = [
        w.new(
            f"pto.comm.{name}({theirs[0]}, {mine[0]}, {session} : {theirs[1]}, {mine[1]}, !pto.async_session) "
            "-> !pto.async_event"
        )
        for _ in range(2)
    ]
    for event in events:
        w.new(f"pto.comm.wait_async_event({event}, {session} : !pto.async_event, !pto.async_session) -> i1")
    world = ptosim.World(2)
    window, words = world.symmetric(65536, "f4"), world.symmetric(64, "i4")
    scratch = ptosim.each(*(np.zeros(64, "i1") for _ in range(2)))
    world.launch(w.kernel(), window, words, world.context(window), ptosim.RANK, ptosim.RANKS, scratch)
    profile = world.profile()
    first, second = (event for event in profile.timeline if (event.core, event.pipe) == ("r0.b0.aiv0", "SDMA"))
    assert first.cycles == second.cycles == 4625 + -int(-16384 // 11.35)
    assert second.start == first.end
    assert [wait.end for wait in profile.waits if wait.core == "r0.b0.aiv0"] == [first.end, second.end]
    assert [transfer.bytes for transfer in profile.transfers if transfer.path == "transfer"] == [4 * 16384]


# --- words ------------------------------------------------------------------------------------------------------------


def test_a_word_that_is_cleared_is_waited_for_again() -> None:
    w = Writer(PARAMETERS)
    first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    theirs, mine = w.remote("%words", "i32", w.neighbour(1)), "%words"
    told, heard = (w.view(place, (1,), "i32") for place in (theirs, mine))
    w.do(f"scf.if {first} {{")
    for _ in range(2):
        w.notify(told, 1, "set")
        w.wait(heard, 1, "eq")
        w.notify(heard, 0, "set")
    w.do("} else {")
    for _ in range(2):
        w.wait(heard, 1, "eq")
        w.notify(heard, 0, "set")
        w.notify(told, 1, "set")
    w.do("}")
    profile = timed(w)
    waits = [wait for wait in profile.waits if wait.core == "r1.b0.aiv0"]
    told_at = sorted(
        time
        for time, core in zip(profile.recording.signals.set_time, profile.recording.signals.set_core, strict=True)
        if profile.recording.cores[core].rank == 0
    )
    assert [wait.end - 1850 for wait in waits] == told_at
    assert len(waits) == 2


@pytest.mark.parametrize("late", [1, 3])
def test_skew_is_how_far_apart_ranks_come_to_a_wait(late: int) -> None:
    """Rank 1 moves 16 KB so many times by itself before: in, one cycle to tell, out, one to tell."""
    figures = load_target("a5").figures
    ways = [
        [figures[f"dma.{way}.{each}"].value for each in ("startup", "bytes_per_cycle")] for way in ("gm_ub", "ub_gm")
    ]
    skews: list[int] = []
    for count in (late, late + 1):
        w = Writer(PARAMETERS)
        tile = w.tile("1x4096xf32")
        mine, other = (w.view("%window", (1, 4096), "f32", at=w.constant(at)) for at in (0, 8192))
        second = w.new(f"arith.cmpi eq, %rank, {w.constant(1, 'i32')} : i32")
        w.do(f"scf.if {second} {{")
        for _ in range(count):
            w.call("pto.comm.tput", other, mine, ("buf", [tile]))
        w.fence()
        w.do("}")
        w.notify(w.view(w.remote("%words", "i32", w.neighbour(1)), (1,), "i32"), 1)
        w.wait(w.view("%words", (1,), "i32"), 1)
        (wait,) = timed(w).skews
        assert wait.count == 2
        skews.append(wait.skew)
    assert skews[1] - skews[0] == sum(startup + 4096 * 4 // width + 1 for startup, width in ways)


# --- ranks ------------------------------------------------------------------------------------------------------------


def test_what_a_rank_hides(gemm: Profile) -> None:
    """Cycle by cycle: who computes, who communicates, who stands."""
    remote = set(gemm.recording.crossings.row)
    rows = gemm.recording.rows
    for rank, time in gemm.ranks.items():
        compute, link, stand = (np.zeros(gemm.cycles, bool) for _ in range(3))
        for row in range(len(rows)):
            if gemm.recording.cores[rows.core[row]].rank != rank:
                continue
            span = slice(rows.start[row], rows.end[row])
            name = gemm.recording.sites[rows.site[row]].title
            if rows.kind[row] == 1:
                stand[span] |= name in ("pto.comm.twait", "pto.comm.ttest")
            elif row in remote:
                link[span] = True
            elif rows.pipe[row] in (2, 3, 4, 5):  # MTE1, V, M, FIX
                compute[span] = True
        both = compute & link
        assert (time.compute, time.communication) == (compute.sum(), link.sum())
        assert time.exposed == ((link | stand) & ~compute).sum()
        assert time.overlap == pytest.approx(both.sum() / min(compute.sum(), link.sum()))
        assert time.sent == time.received == 4 * 64 * 64 * 4
        assert time.bandwidth == pytest.approx(65536 * CLOCK / gemm.cycles)
    assert set(gemm.ranks[1].cores) == {"r1.b0.aic", "r1.b0.aiv0"}


@table("collective, factor", ("all-reduce", 1.5), ("all-gather", 0.75), ("reduce-scatter", 0.75), ("all-to-all", 0.75))
def test_algorithm_and_bus_bandwidth(collective: str, factor: float) -> None:
    profile = timed(sending(), ranks=4)
    found = profile.bandwidth(collective, 1 << 20)
    seconds = profile.cycles / (CLOCK * 1e9)
    assert found.algorithm == pytest.approx((1 << 20) / seconds / 1e9)
    assert found.bus == pytest.approx(factor * found.algorithm)


def test_what_an_all_reduce_sends_is_its_bus_bandwidth() -> None:
    """In two shots each rank sends 2(N - 1)/N of the data, no more."""
    launched = example("all_reduce").launched(ptosim.load(EXAMPLES / "all_reduce.pto").kernel(), 4)
    profile, size = launched.world.profile(), launched.found[0].nbytes
    assert {time.sent for time in profile.ranks.values()} == {size * 3 // 2}
    assert profile.ranks[0].bandwidth == pytest.approx(profile.bandwidth("all-reduce", size).bus)


def test_there_is_no_other_collective() -> None:
    with pytest.raises(
        ptosim.PTOError, match="one of all-reduce, all-gather, reduce-scatter, all-to-all, not 'gather'"
    ):
        timed(sending()).bandwidth("gather", 4)


def test_one_rank_has_neither_ranks_nor_links() -> None:
    profile = timed(Writer(PARAMETERS), ranks=1)
    assert (profile.ranks, list(profile.links)) == ({}, [])
    assert "skew" not in str(profile) and "bus bandwidth" not in str(profile)


# --- forms ------------------------------------------------------------------------------------------------------------


def test_text_and_json(gemm: Profile) -> None:
    text = str(gemm)
    assert "cycles for 1 block on 2 ranks" in text
    assert "bus bandwidth 3." in text and "skew" in text
    data = json.loads(json.dumps(gemm.to_json()))["result"]
    assert set(data["ranks"]) == {"0", "1"}
    assert data["ranks"]["0"]["overlap"] == gemm.ranks[0].overlap
    assert [link["dest"] for link in data["links"]] == [1, 0]
    assert data["skews"][0]["skew"] == gemm.skews[0].skew


def test_a_trace_has_a_process_for_each_rank(gemm: Profile, tmp_path: Path) -> None:
    gemm.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert processes == {0: "rank 0", 1: "rank 1"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert sorted(threads.values()).count("b0.aiv0 MTE2") == 2
    starts = {e["id"]: e for e in events if e["ph"] == "s" and e["name"] == "pto.comm.tnotify"}
    arrows = [
        (threads[starts[e["id"]]["pid"], starts[e["id"]]["tid"]], starts[e["id"]]["pid"], e["pid"])
        for e in events
        if e["ph"] == "f" and e["id"] in starts
    ]
    assert {("b0.aiv0 S", 0, 1), ("b0.aiv0 S", 1, 0)} <= set(arrows)
    levels = [e["args"]["bytes"] for e in events if e["ph"] == "C" and e["pid"] == 0 and "link to rank 1" in e["name"]]
    assert max(levels) == pytest.approx(16384 / 5462, abs=1e-3) and levels[-1] == 0
    for e in events:
        assert e["ph"] != "X" or (e["pid"], e["tid"]) in threads


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this computer")
def test_a_page_groups_by_rank(gemm: Profile, tmp_path: Path) -> None:
    gemm.save_html(tmp_path / "page.html")
    with browser() as page:
        page.size(1280, 800)
        page.open(tmp_path / "page.html")
        heads = page.run("[...document.querySelectorAll('#tables h2')].map((h) => h.textContent).join()").split(",")
        assert {"Ranks", "Links", "Waits for words"} <= set(heads)
        assert "2 ranks × 1 block" in page.run("document.getElementById('where').textContent")
        tracks = 2 * (5 + 4) * 21 + 4 * 19 + 2 * 19  # pipes of the cores, a head for each core and each rank
        assert page.run("document.getElementById('spacer').clientHeight") == 20 + tracks + 4
        assert page.complaints == []


def test_kernels_of_several_sources_are_told_apart() -> None:
    """Lines are those of the first; what stands at the same place of the other is another instruction."""
    first, second = sending(), Writer(PARAMETERS)
    second.notify(second.view("%words", (1,), "i32"), 1)
    world = ptosim.World(2)
    window, words = world.symmetric(65536, "f4"), world.symmetric(64, "i4")
    given = window, words, world.context(window), ptosim.RANK, ptosim.RANKS
    world.launch(first.kernel(), *given)
    alone = world.profile()
    world.launch(second.kernel(), *given, stream=1)
    both = world.profile()
    assert both.lines == alone.lines
    assert set(both.ranks[0].cores) == {"r0.b0.aiv0", "r0.b0.aiv0 #2"}
    assert [link.bytes for link in both.links] == [link.bytes for link in alone.links]
