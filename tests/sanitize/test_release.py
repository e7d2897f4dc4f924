"""What has to stand between data and the notice that tells of it, and what a reader may then rely on.

Rank 0 writes into the window of rank 1 and notifies it, in every way; rank 1 waits, reads, and clears its word. The
order of both in the text is that of the table of releases in the instruction set.
"""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from rank_programs import Writer
from tables import table

FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>"
LOCAL_FENCE = "pto.fence.barrier_all #pto.fence_scope<local_memory>"
DRAIN = "pto.barrier <PIPE_ALL>"
DSB, LOCAL_DSB = 'pto.dsb "DDR"', 'pto.dsb "UB"'
CLEAN = "pto.cmo.cacheinvalid %there single_cache_line : !pto.ptr<f32>"
NOTIFY, OTHER = "notify", "notify another word"

Kinds = list[tuple[str, str]]
RACE: Kinds = [("race", "error")]
WEAK: Kinds = [("race", "warning")]
STALE: Kinds = [("stale-cache", "error")]

PARAMETERS = {"x": "!pto.ptr<f32>", "window": "!pto.ptr<f32>", "words": "!pto.ptr<i32>", "y": "!pto.ptr<f32>"}
CONTEXT = {"ctx": "!pto.ptr<i64>", "rank": "i32", "ranks": "i32", "workspace": "!pto.ptr<i8>"}


def put(w: Writer, target: str) -> None:
    w.call("pto.comm.tput", w.view("%there", (8, 64), "f32"), w.view("%x", (8, 64), "f32"), ("buf", [tile(w)]))


def store(w: Writer, target: str) -> None:
    w.do(f"pto.store_scalar {w.new('arith.constant 1.5 : f32')}, %there[{w.constant(0)}] : !pto.ptr<f32>, f32")


def put_async(w: Writer, target: str) -> None:
    dst, src, (scratch, type_) = w.view("%there", (512,), "f32"), w.view("%x", (512,), "f32"), tile(w)
    w.do(
        f"%session = pto.comm.build_async_session({scratch}, %workspace : {type_}, !pto.ptr<i8>) -> !pto.async_session"
    )
    types = f"{dst[1]}, {src[1]}, !pto.async_session"
    w.do(f"%event = pto.comm.tput_async({dst[0]}, {src[0]}, %session : {types}) -> !pto.async_event")


def tile(w: Writer) -> tuple[str, str]:
    return w.tile("8x64xf32")


def told(payload: object, release: list[str], producer: int = 0, target: str = "a5", copies: bool = True) -> Kinds:
    """The findings of a launch on two ranks, without lints."""
    w = Writer({**PARAMETERS, **CONTEXT}, target)
    consumer = w.constant(1 - producer)
    w.do(f"%there = pto.addptr {w.remote('%window', 'f32', consumer)}, {w.constant(0)} : <f32> -> <f32>")
    words = w.remote("%words", "i32", consumer)
    is_producer = w.new(f"arith.cmpi eq, %rank, {w.constant(producer, 'i32')} : i32")
    w.do(f"scf.if {is_producer} {{")
    assert callable(payload)
    payload(w, target)
    for line in release:
        if line in (NOTIFY, OTHER):
            w.notify(w.view(words, (1,), "i32", at=w.constant(0 if line == NOTIFY else 16)), 1, "set")
        else:
            w.do(line)
    w.do("} else {")
    own = w.view("%words", (1,), "i32")
    w.wait(own, 1, "eq")
    if copies:
        mine = w.view("%y", (8, 64), "f32"), w.view("%window", (8, 64), "f32")
        w.call("pto.comm.tget", *mine, ("buf", [tile(w)]))
    else:
        w.new(f"pto.ld_dev %words[{w.constant(32)}] : !pto.ptr<i32> -> i32")
    w.notify(own, 0, "set")
    w.do("}")
    world = ptosim.World(2)
    window, flags = world.symmetric(512, "f4"), world.symmetric(64, "i4")
    x, y, space = (ptosim.each(*(np.ones(n, t) for _ in range(2))) for n, t in ((512, "f4"), (512, "f4"), (4096, "i1")))
    world.launch(w.kernel(), x, window, flags, y, world.context(window), ptosim.RANK, ptosim.RANKS, space)
    return [(found.kind, found.severity) for found in world.check().findings if found.kind != "lint"]


RELEASES: list[tuple[object, list[str], Kinds]] = [
    (put, [FENCE, NOTIFY], []),
    (put, ["pto.fence.barrier_all #pto.fence_scope<all>", NOTIFY], []),
    (put, [DRAIN, DSB, NOTIFY], []),
    (put, [DRAIN, 'pto.dsb "ALL"', NOTIFY], []),
    (put, [NOTIFY], RACE),
    (put, [DSB, NOTIFY], RACE),
    (put, [NOTIFY, FENCE], RACE),
    (put, [DRAIN, NOTIFY], WEAK),
    (put, [DSB, DRAIN, NOTIFY], WEAK),
    (put, [DRAIN, LOCAL_DSB, NOTIFY], WEAK),
    (put, [LOCAL_FENCE, NOTIFY], WEAK),
    (put, [OTHER, NOTIFY], WEAK),  # the first notice has its dsb before it drains the pipes
    (put, [FENCE, OTHER, NOTIFY], []),
    (store, [CLEAN, FENCE, NOTIFY], []),
    (store, [CLEAN, DSB, NOTIFY], []),
    (store, [CLEAN, OTHER, NOTIFY], []),  # behind the word of the first notice stands a dsb
    (store, [FENCE, OTHER, CLEAN, FENCE, NOTIFY], []),
    (store, [CLEAN, NOTIFY], RACE),
    (store, [FENCE, NOTIFY], STALE),
    (store, [FENCE, NOTIFY, CLEAN, FENCE], STALE),
    (store, [FENCE, CLEAN, NOTIFY], RACE),  # what is cleaned behind the fence is on its way when the word arrives
    (store, [FENCE, CLEAN, NOTIFY, FENCE], RACE),
    (store, [CLEAN, DRAIN, NOTIFY], WEAK),
]


@pytest.mark.parametrize("producer", [0, 1])
@pytest.mark.parametrize(("payload", "release", "expected"), RELEASES)
def test_a_notice_tells_of_what_was_released(
    payload: object, release: list[str], expected: Kinds, producer: int
) -> None:
    """Whichever of the two is first, and whether the other has ended when its data are read."""
    assert told(payload, release, producer) == expected


WAIT = "%done = pto.comm.wait_async_event(%event, %session : !pto.async_event, !pto.async_session) -> i1"
A3_LEFT: Kinds = [("race", "error"), ("undrained", "warning")]


@table(
    "target, release, expected",
    ("a5", [WAIT, NOTIFY], []),
    ("a5", [NOTIFY, WAIT], []),  # it is complete when the call ends
    ("a3", [WAIT, NOTIFY], []),
    ("a3", [NOTIFY, WAIT], RACE),
    ("a3", [FENCE, NOTIFY], A3_LEFT),
)
def test_a_transfer_is_released_by_the_wait_for_its_event(target: str, release: list[str], expected: Kinds) -> None:
    assert sorted(told(put_async, release, target=target)) == expected


def reused(release: list[str], ranks: int = 2) -> Kinds:
    """Rank 0 overwrites what rank 1 has copied into an array of its own, once that says so."""
    w = Writer({**PARAMETERS, "ctx": "!pto.ptr<i64>", "rank": "i32", "ranks": "i32"})
    is_first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    there, words = (w.remote(name, element, w.constant(1)) for name, element in (("%window", "f32"), ("%words", "i32")))
    answer = w.view(w.remote("%words", "i32", w.constant(0)), (1,), "i32", at=w.constant(16))
    w.do(f"scf.if {is_first} {{")
    for step in (1, 2):
        if step == 2:
            w.wait(w.view("%words", (1,), "i32", at=w.constant(16)), 1)
        w.call("pto.comm.tput", w.view(there, (8, 64), "f32"), w.view("%x", (8, 64), "f32"), ("buf", [tile(w)]))
        w.fence()
        w.notify(w.view(words, (1,), "i32"), step, "set")
    w.do("} else {")
    for step in (1, 2):
        w.wait(w.view("%words", (1,), "i32"), step)
        mine = w.view("%y", (8, 64), "f32"), w.view("%window", (8, 64), "f32")
        w.call("pto.comm.tget", *mine, ("buf", [tile(w)]))
        if step == 1:
            for line in release:
                w.do(line)
            w.notify(answer, 1, "set")
    w.do("}")
    world = ptosim.World(ranks)
    window, flags = world.symmetric(512, "f4"), world.symmetric(64, "i4")
    x, y = (ptosim.each(*(np.ones(512, "f4") for _ in range(ranks))) for _ in range(2))
    world.launch(w.kernel(), x, window, flags, y, world.context(window), ptosim.RANK, ptosim.RANKS)
    silent = ("lint", "stale-signal")
    return [(found.kind, found.severity) for found in world.check().findings if found.kind not in silent]


HEARD = [f'pto.{name}_flag["PIPE_MTE2", "PIPE_S", "EVENT_ID3"]' for name in ("set", "wait")]


@table("release, expected", (HEARD, []), ([DRAIN], []), ([FENCE], []), (["pto.barrier <PIPE_MTE2>"], WEAK), ([], RACE))
def test_who_has_read_needs_no_dsb(release: list[str], expected: Kinds) -> None:
    """What it has copied is in its private memory, of which it tells nobody."""
    assert reused(release) == expected


@pytest.mark.parametrize(("grid", "expected"), [(2, WEAK), (1, [])])
def test_what_is_private_is_told_to_the_blocks_of_the_rank(grid: int, expected: Kinds) -> None:
    """One block drains and notifies; where there is another, it waits for the word. Rank 0 alone has a word for it."""
    w = Writer({"x": "!pto.ptr<f32>", "y": "!pto.ptr<f32>", "words": "!pto.ptr<i32>", "block": "i32"})
    is_first = w.new(f"arith.cmpi eq, %block, {w.constant(0, 'i32')} : i32")
    w.do(f"scf.if {is_first} {{")
    w.call("pto.comm.tput", w.view("%y", (8, 64), "f32"), w.view("%x", (8, 64), "f32"), ("buf", [tile(w)]))
    w.do(DRAIN)
    w.notify(w.view("%words", (1,), "i32"), 1, "set")
    w.do("} else {")
    w.wait(w.view("%words", (1,), "i32"), 1)
    w.call("pto.comm.tget", w.view("%x", (8, 64), "f32"), w.view("%y", (8, 64), "f32"), ("buf", [tile(w)]))
    w.do("}")
    world = ptosim.World(2)
    x, y, words = (ptosim.each(*(np.zeros(n, t) for _ in range(2))) for n, t in ((512, "f4"), (512, "f4"), (16, "i4")))
    world.launch(w.kernel(), x, y, words, ptosim.BLOCK, grid=grid)
    silent = ("lint", "stale-signal")
    assert [(found.kind, found.severity) for found in world.check().findings if found.kind not in silent] == expected


@pytest.mark.parametrize("is_look", [False, True])
def test_a_copy_of_a_word_that_is_notified_is_a_race_and_a_look_at_it_is_none(is_look: bool) -> None:
    w = Writer({"words": "!pto.ptr<i32>", "ctx": "!pto.ptr<i64>", "rank": "i32", "ranks": "i32"})
    is_first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    word = w.view(w.remote("%words", "i32", w.constant(1)), (1,), "i32", at=w.constant(3))
    w.do(f"scf.if {is_first} {{")
    w.notify(word, 1)
    w.do("} else {")
    if is_look:
        w.new(f"pto.ld_dev %words[{w.constant(3)}] : !pto.ptr<i32> -> i32")
    else:
        views = w.view("%words", (1, 8), "i32", at=w.constant(32)), w.view("%words", (1, 8), "i32")
        w.call("pto.comm.tget", *views, ("buf", [w.tile("1x8xi32")]))
    w.do("}")
    world = ptosim.World(2)
    words = world.symmetric(64, "i4")
    world.launch(w.kernel(), words, world.context(words), ptosim.RANK, ptosim.RANKS)
    found = [(found.kind, found.severity) for found in world.check().findings if found.kind != "lint"]
    assert found == ([] if is_look else RACE)


def test_the_end_of_a_kernel_writes_back_what_the_next_of_its_stream_reads() -> None:
    text = """module attributes {pto.target_arch = "a5"} {
  func.func @store(%x: !pto.ptr<f32>, %value: f32) attributes {pto.kernel, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    pto.store_scalar %value, %x[%c0] : !pto.ptr<f32>, f32
    return
  }
  func.func @load(%x: !pto.ptr<f32>) attributes {pto.kernel, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %value = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    return
  }
}
"""
    module = ptosim.load(text)
    for stream, expected in ((0, []), (1, [("race", "error"), ("stale-cache", "error")])):
        world = ptosim.World(2)
        window = world.symmetric(8, "f4")
        world.launch(module.kernel("store"), window, 1.5)
        world.launch(module.kernel("load"), window, stream=stream)
        assert sorted({(found.kind, found.severity) for found in world.check(repeat=2).findings}) == expected
