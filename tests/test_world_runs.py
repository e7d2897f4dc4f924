"""Worlds at work: as many windows as there may be, orders of ranks, lists of launches over modules and streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim import PTOError
from ptosim.ranks.rank_arguments import Symmetric
from rank_programs import ENGINES, Writer

PARAMETERS = {
    "x": "!pto.ptr<i32>",
    "window": "!pto.ptr<i32>",
    "words": "!pto.ptr<i32>",
    "y": "!pto.ptr<i32>",
    "ctx": "!pto.ptr<i64>",
    "rank": "i32",
    "ranks": "i32",
}
LINE = (1, 8)


def send(w: Writer) -> None:
    """x to the window of the next rank, and word 0 of it becomes 1."""
    there = w.view(w.remote("%window", "i32", w.neighbour(1)), LINE, "i32")
    w.call("pto.comm.tput", there, w.view("%x", LINE, "i32"), ("buf", [w.tile("1x8xi32")]))
    w.fence()
    w.notify(w.view(w.remote("%words", "i32", w.neighbour(1)), (1,), "i32"), 1, "set")


def receive(w: Writer, waits: bool = True) -> None:
    """The window to y, when word 0 is 1."""
    if waits:
        w.wait(w.view("%words", (1,), "i32"), 1)
    w.call("pto.comm.tget", w.view("%y", LINE, "i32"), w.view("%window", LINE, "i32"), ("buf", [w.tile("1x8xi32")]))


def clear(w: Writer) -> None:
    w.notify(w.view("%words", (1,), "i32"), 0, "set")


def glance(w: Writer) -> None:
    """Rank 1 sends, rank 0 receives without waiting."""
    one = w.constant(1, "i32")
    sends = w.new(f"arith.cmpi eq, %rank, {one} : i32")
    w.do(f"scf.if {sends} {{")
    send(w)
    w.do("} else {")
    receive(w, waits=False)
    w.do("}")


def kernel(body: Any) -> ptosim.Kernel:
    """Each kernel is a module of its own."""
    writer = Writer(PARAMETERS)
    body(writer)
    return writer.kernel()


class Line:
    """Ranks with a line each."""

    def __init__(self, before: int = 0, ranks: int = 2) -> None:
        self.world = ptosim.World(ranks)
        self.others: list[Symmetric] = [self.world.symmetric(4, "i4") for _ in range(before)]
        self.window, self.words = self.world.symmetric(8, "i4"), self.world.symmetric(16, "i4")
        self.x = [np.arange(8, dtype="i4") + 100 * rank for rank in range(1, ranks + 1)]
        self.y = [np.zeros(8, "i4") for _ in range(ranks)]

    def launch(self, subject: ptosim.Kernel, stream: int = 0) -> None:
        given = ptosim.each(*self.x), self.window, self.words, ptosim.each(*self.y), self.world.context(self.window)
        self.world.launch(subject, *given, ptosim.RANK, ptosim.RANKS, stream=stream)

    @property
    def is_exchanged(self) -> bool:
        return all(np.array_equal(self.y[rank], self.x[1 - rank]) for rank in range(2))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_last_of_255_windows_is_one_like_any_other(engine: str) -> None:
    line = Line(before=253)
    line.launch(kernel(send))
    line.launch(kernel(receive))
    line.world.run(engine=engine)
    assert line.is_exchanged
    assert not any(other[rank].any() for other in line.others for rank in range(2))
    with pytest.raises(PTOError, match="limit: a world has at most 255 windows"):
        line.world.symmetric(4, "i4")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("streams", [(0, 0, 0), (0, 1, 1), (1, 0, 0)])
def test_kernels_of_several_modules_on_streams(streams: tuple[int, int, int], engine: str) -> None:
    """What waits may be launched first where another stream sends."""
    of_sender, of_receiver, of_clearing = streams
    bodies = [(send, of_sender), (receive, of_receiver), (clear, of_clearing)]
    if of_sender != of_receiver:
        bodies[:2] = bodies[1::-1]
    line = Line()
    for body, stream in bodies:
        line.launch(kernel(body), stream)
    assert not line.world.check().errors
    line.world.run(engine=engine)
    assert line.is_exchanged


def test_what_waits_before_the_sender_of_its_stream_waits_for_ever() -> None:
    line = Line()
    for body in (receive, send):
        line.launch(kernel(body))
    (found,) = line.world.check().findings
    assert found.kind == "deadlock"
    assert "r0.b0.aiv0, r1.b0.aiv0 may write it after pto.comm.twait" in found.notes[0]


def test_of_a_large_circle_the_first_are_named_and_the_others_counted() -> None:
    line = Line(ranks=24)
    for body in (receive, send):
        line.launch(kernel(body))
    (found,) = line.world.check().findings
    assert found.message.endswith("r18.b0.aiv0 S, r19.b0.aiv0 S and 4 more wait for each other")


def test_orders_of_ranks_show_a_race_that_a_check_always_tells_of() -> None:
    """A seed is an order."""
    subject = kernel(glance)

    def seen(seed: int) -> int:
        line = Line()
        line.launch(subject)
        line.world.run(engine="reference", schedule=f"random:{seed}")
        return int(line.y[0][0])

    found = [seen(seed) for seed in range(12)]
    assert set(found) == {0, 200}
    assert found[:4] == [seen(seed) for seed in range(4)]
    line = Line()
    line.launch(subject)
    assert "race" in {finding.kind for finding in line.world.check().findings}


def strayed(w: Writer) -> None:
    """Rank 0 waits for its word; rank 1 tells itself, further on in the text."""
    for rank in range(2):
        number = w.constant(rank, "i32")
        mine = w.new(f"arith.cmpi eq, %rank, {number} : i32")
        w.do(f"scf.if {mine} {{")
        word = w.view("%words", (1,), "i32")
        w.notify(word, 1, "set") if rank else w.wait(word, 1)
        w.do("}")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_notice_in_a_branch_of_another_rank_is_none_that_is_left(engine: str) -> None:
    line = Line()
    line.launch(kernel(strayed))
    (found,) = line.world.check().errors
    message = "S waits until %words[0] of rank 0 >= 1; it is 0, and nothing is left that would notify it"
    assert (found.kind, found.rank, found.message) == ("unmatched-wait", 0, message)
    assert "%words[0] of rank 1 was notified once" in found.notes
    with pytest.raises(PTOError) as stuck:
        line.world.run(engine=engine)
    assert [one.message for one in stuck.value.diagnostics] == [message]


def cut(w: Writer) -> None:
    """Each rank waits, and tells the other behind it where the low byte of 256 ranks is 0, as it is."""
    word = w.view("%words", (1,), "i32")
    w.wait(word, 1)
    many = w.new(f"arith.muli %ranks, {w.constant(128, 'i32')} : i32")
    low = w.new(f"arith.trunci {many} : i32 to i8")
    told = w.new(f"arith.cmpi eq, {low}, {w.constant(0, 'i8')} : i8")
    w.do(f"scf.if {told} {{")
    w.notify(word, 1, "set")
    w.do("}")


def test_a_branch_by_a_number_that_is_cut_may_be_taken() -> None:
    line = Line()
    line.launch(kernel(cut))
    assert {found.kind for found in line.world.check().errors} == {"deadlock"}
