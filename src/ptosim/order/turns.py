"""The analysis turn by turn, for synchronisation that was written: ids and branches that depend on i modulo something.

A loop whose flags, buffers or branches come in turns is walked from each of its turns on, so that every id is known.
Inserted pairs count tokens instead and need no turns.
"""

from __future__ import annotations

from math import lcm

from ptosim.order.conflict import Conflicts
from ptosim.order.model import Block, Branch, Entry, Flag, GetBuffer, Loop, Program, ReleaseBuffer
from ptosim.order.number import LONGEST_PERIOD, Number, Periodic
from ptosim.order.pairs import Inserted
from ptosim.order.state import State
from ptosim.order.walk import Missing, Round, Walker


class TurnWalker(Walker):
    """Walks a program as it was written."""

    def __init__(self, program: Program, conflicts: Conflicts, missing: Missing) -> None:
        super().__init__(program, conflicts, Inserted(), missing)
        self.periods = _periods(program)
        self.first: dict[Loop, int] = {}
        """The turn in which the entries were issued that are followed."""
        for loop, period in self.periods.items():
            if period > 1 and self.farthest[loop]:
                self.farthest[loop] += period

    def _met(self, entry: Entry, here: Round) -> int:
        """Where entries are left out in some turns, they meet later than the least distance says."""
        if here.loop is None or here.distance == 0 or self.periods[here.loop.name] == 1:
            return super()._met(entry, here)
        met = self.apart.get((entry.number, here.loop.name), {})
        mask = 0
        for distance, members in met.items():
            mask |= members if distance <= here.distance else 0
        return mask & self.places.inside[here.loop.name]

    def _loop(self, loop: Loop, state: State, here: Round) -> State:
        period = self.periods[loop.name]
        if here.distance:
            passing = state.copy()
            for turn in range(period):
                self.turns[loop.name] = turn
                passing = self._nodes(loop.body, passing, here)
            del self.turns[loop.name]
            return state
        outside, arriving, joined = state.copy(), state, state.copy()
        inside = self.places.inside[loop.name]
        for turn in range(period):
            self.turns[loop.name] = self.first[loop] = turn
            first = Round(loop)
            through = self._nodes(loop.body, arriving.copy(), first)
            self._iterations.pop(loop, None)
            behind = self._iterated(loop, first, through.restricted(inside))
            joined = self._joined(loop, joined, self._behind(loop, outside, behind))
            arriving = through.restricted(through.issued & ~inside)
        del self.turns[loop.name]
        return joined

    def _round(self, loop: Loop, distance: int) -> Round:
        self.turns[loop.name] = self.first[loop] + distance
        return super()._round(loop, distance)

    def _branch(self, node: Branch, state: State, here: Round) -> State:
        taken = self._value(node.condition)
        if taken is None:
            return super()._branch(node, state, here)
        return self._nodes(node.arms[0 if taken else 1], state, here)

    def _value(self, number: Number) -> int | None:
        if isinstance(number, Periodic):
            found = self._number(number)
            return found if isinstance(found, int) else None
        return number if isinstance(number, int) else None


def _periods(program: Program) -> dict[int, int]:
    """The number of turns of each loop."""
    periods = dict.fromkeys(program.loops, 1)
    for number in _in_turn(program.body):
        if number.loop in periods:
            period = lcm(periods[number.loop], len(number.values))
            periods[number.loop] = period if period <= LONGEST_PERIOD else 1
    return periods


def _in_turn(block: Block) -> list[Periodic]:
    found: list[Periodic] = []
    for node in block.walk():
        number = node.condition if isinstance(node, Branch) else None
        if isinstance(node, Flag | GetBuffer | ReleaseBuffer):
            number = node.id if isinstance(node.id, Periodic) else None
        if isinstance(number, Periodic):
            found.append(number)
    return found
