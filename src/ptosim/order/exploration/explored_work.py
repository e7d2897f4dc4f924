"""The entries of a program at the bytes that they touch, as members of sets, and which of them conflict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from xdsl.ir import Operation

from ptosim.effects.names import Pipe, Space
from ptosim.order.conflict import distance
from ptosim.order.model import EntryNode, OrderProgram
from ptosim.order.replay.touched_bytes import Pieces


@dataclass(frozen=True, slots=True)
class ExploredTouch:
    """One access: stretches of bytes; None where these are not known."""

    space: Space
    writes: bool
    pieces: Pieces | None
    every: int = 0
    """The distance in bytes between the places that it may be: 0 where the bytes are known exactly."""


@dataclass(frozen=True)
class _Work:
    """An entry that was started, and the outermost loop that has gone on since."""

    entry: EntryNode
    touched: tuple[ExploredTouch, ...]
    age: int | None = None


class Members:
    """Each entry at certain bytes is one bit; so is each wait for a flag."""

    def __init__(self, program: OrderProgram) -> None:
        self.entries: Mapping[Operation, EntryNode] = {entry.op: entry for entry in program.entries}
        self.loops: Mapping[Operation, int] = {loop.op: name for name, loop in program.loops.items()}
        self.own: dict[Pipe, int] = {}
        self._bits: dict[object, int] = {}
        self._works: dict[int, _Work] = {}
        self._conflicts: dict[int, int] = {}
        """By what starts, what must not run."""
        self._meet: dict[tuple[int, int, int | None, Space], bool] = {}
        self._ageing: dict[int, bool] = {}

    def of(self, key: object, pipe: Pipe) -> int:
        """The member of this name, which runs on a pipe."""
        bit = self._bits.get(key)
        if bit is None:
            bit = self._bits[key] = 1 << len(self._bits)
            self.own[pipe] = self.own.get(pipe, 0) | bit
        return bit

    def work(self, entry: EntryNode, touched: tuple[ExploredTouch, ...]) -> int:
        """The member for an entry that touches these bytes."""
        return self._work(_Work(entry, touched))

    def conflicts(self, member: int) -> int:
        return self._conflicts[member]

    def aged(self, loop: Operation, members: int) -> dict[int, int]:
        """The names of entries after a loop has gone on, as far as the iteration that started them matters."""
        name = self.loops.get(loop)
        found: dict[int, int] = {}
        for bit, work in list(self._works.items()) if name is not None else ():
            loops = work.entry.loops
            if bit & members and name in loops and self._is_ageing(work.entry):
                assert name is not None
                if work.age is None or loops.index(name) < loops.index(work.age):
                    found[bit] = self._work(_Work(work.entry, work.touched, name))
        return found

    def _work(self, work: _Work) -> int:
        bit = self._bits.get(work)
        if bit is not None:
            return bit
        bit = self.of(work, work.entry.pipe)
        self._works[bit] = work
        for fresh, others in list(self._conflicts.items()):
            if self._is_conflict(work, self._works[fresh]):
                self._conflicts[fresh] = others | bit
        if work.age is None:
            self._conflicts[bit] = sum(each for each, other in self._works.items() if self._is_conflict(other, work))
        return bit

    def _is_ageing(self, entry: EntryNode) -> bool:
        """Whether it touches bytes that closed forms have to tell apart."""
        if entry.number not in self._ageing:
            spaces = {touch.range.space for touch in entry.touches}
            self._ageing[entry.number] = any(
                self._meets(*pair, loop, space)
                for other in self.entries.values()
                for pair in ((entry, other), (other, entry))
                for loop in entry.loops
                for space in spaces
                if loop in other.loops
            )
        return self._ageing[entry.number]

    def _is_conflict(self, earlier: _Work, later: _Work) -> bool:
        loop = earlier.age if earlier.age in later.entry.loops else None
        return any(
            one.space is two.space
            and (one.writes or two.writes)
            and _is_met(one, two)
            and (_is_exact(one, two) or self._meets(earlier.entry, later.entry, loop, one.space))
            for one in earlier.touched
            for two in later.touched
        )

    def _meets(self, earlier: EntryNode, later: EntryNode, loop: int | None, space: Space) -> bool:
        """Whether two entries meet in a memory some iterations of a loop apart, or in one iteration of all, by the
        closed forms of their bytes."""
        key = (earlier.number, later.number, loop, space)
        if key not in self._meet:
            self._meet[key] = (loop is not None or earlier is not later) and any(
                distance(one.range, two.range, loop) is not None
                for one in earlier.touches
                for two in later.touches
                if one.range.space is two.range.space is space and (one.writes or two.writes)
            )
        return self._meet[key]


def _is_exact(one: ExploredTouch, two: ExploredTouch) -> bool:
    known = one.pieces is not None and two.pieces is not None and not one.every + two.every
    return known and one.space is not Space.GM


def _is_met(one: ExploredTouch, two: ExploredTouch) -> bool:
    """Whether two accesses may have a byte in common."""
    if one.pieces is None or two.pieces is None:
        return True
    every = gcd(one.every, two.every)
    for low, high in one.pieces:
        for start, end in two.pieces:
            if every == 0 and low < end and start < high:
                return True
            if every and ((start - low) % every < high - low or (low - start) % every < end - start):
                return True
    return False
