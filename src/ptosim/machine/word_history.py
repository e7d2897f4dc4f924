"""The history of a word in global memory: a wait learns what every set of writes implies that can satisfy it.

A word has a history of writes: notices, stores of scalar units, copies. Of some a wait knows that they came before it;
of the others any may be there when it looks, in any schedule. It passes with one set of them or with another, and knows
afterwards what all these sets have in common: of two additions in no order, each of which is enough, what both knew;
of two that are needed, what either knew.

A condition is asked of numbers that the word may be: of where it starts (what it was, or a set that is not known to be
over), of additions that are in it for certain, and of others that may be. What is not known of a write is taken to
satisfy everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptosim.effects.sim_signal import COMPARISONS
from ptosim.machine.clock import ended_by, join

if TYPE_CHECKING:
    from ptosim.machine.entry import Clock, Entry

LONGEST = 1024
"""Writes of one word that are remembered, at least."""
MOST_SUMS = 4096
"""Numbers that additions in no order may lead to; where there are more, any between least and greatest may be."""
MOST_STEPS = 1 << 18
"""Writes looked at for one wait; where there are more, it learns less."""
_LIMIT = 1 << 31


@dataclass(frozen=True, eq=False)
class WordWrite:
    """One write of a word: its writer, the clock that its readers get, and the word afterwards in this run."""

    entry: Entry
    value: int | None
    """The value that it sets or adds; None: unknown."""
    adds: bool
    clock: Clock
    after: int
    mark: tuple[int, int] | None = None
    """The index and number by which a clock knows of it. A notice has none: it is a step of its scalar unit."""

    def known_to(self, clock: Clock) -> bool:
        """Whether it is known to have been made."""
        if self.mark is not None and clock.get(self.mark[0], 0) >= self.mark[1]:
            return True
        return ended_by(self.entry, clock)


@dataclass(eq=False)
class WordHistory:
    """The writes of a word, and what it was before them."""

    before: int
    writes: list[WordWrite] = field(default_factory=list[WordWrite])

    @property
    def now(self) -> int:
        return self.writes[-1].after if self.writes else self.before

    def add(self, write: WordWrite) -> None:
        self.writes.append(write)
        if len(self.writes) > 2 * LONGEST:
            self.before = self.writes[LONGEST - 1].after
            del self.writes[:LONGEST]

    def seen_from(self, clock: Clock) -> Outlook:
        """Values that a reader with this clock may find."""
        known: list[WordWrite] = []
        unknown: list[WordWrite] = []
        bases: list[WordWrite] = []
        for write in reversed(self.writes):
            if not write.known_to(clock):
                unknown.append(write)
            elif not write.adds and not any(write.known_to(base.clock) for base in bases):
                bases.append(write)
                known.append(write)
            elif write.adds and not (bases and all(write.known_to(base.clock) for base in bases)):
                known.append(write)
        return Outlook(self.before, known[::-1], unknown[::-1])


@dataclass(eq=False)
class Outlook:
    """Possible values of a word: some writes have been made, others may have been."""

    before: int
    known: list[WordWrite]
    unknown: list[WordWrite]

    def may_be(self, comparison: str, value: int, unknown: Sequence[WordWrite] | None = None) -> bool:
        """Whether the word may satisfy a condition when of the others only `unknown` may have been made."""
        others = self.unknown if unknown is None else unknown
        if any(write.value is None for write in others):
            return True
        return any(_reaches(comparison, value, *state) for state in self._states(others))

    def _states(self, others: Sequence[WordWrite]) -> Iterator[tuple[int, list[int]]]:
        """The possible first values of the word, and what may be added to it."""
        sets = [write for write in self.known if not write.adds]
        if not sets:
            fixed = self.before + sum(write.value or 0 for write in self.known)
            yield fixed, [write.value or 0 for write in others if write.adds]
        for base in (*sets, *(write for write in others if not write.adds)):
            if base.value is None:
                yield 0, [_LIMIT]
                return
            fixed, terms = base.value, list[int]()
            for write in (*self.known, *others):
                if not write.adds or write is base or write.known_to(base.clock):
                    continue
                if base.known_to(write.clock) and write in self.known:
                    fixed += write.value or 0
                else:
                    terms.append(write.value or 0)
            yield fixed, terms

    def learnt(self, comparison: str, value: int) -> Clock:
        """The clock that is certain once the condition has been found to hold."""
        found: Clock = {}
        if self.may_be(comparison, value, ()) or not self.may_be(comparison, value):
            return found
        needed = self._needed(comparison, value)
        for write in needed:
            join(found, write.clock)
        if len(needed) < len(self.unknown):
            self._in_common(comparison, value, found)
        return found

    def _needed(self, comparison: str, value: int) -> list[WordWrite]:
        """The writes without which the condition cannot hold."""
        if len(self.unknown) ** 2 <= MOST_STEPS:
            return [each for each in self.unknown if not self.may_be(comparison, value, _without(self.unknown, each))]
        states = list(self._states(self.unknown))
        sign = {"ge": 1, "gt": 1, "le": -1, "lt": -1}.get(comparison, 0)
        if len(states) > 1 or not sign or any(sign * (write.value or 0) < 0 for write in self.unknown):
            return []
        most = states[0][0] + sum(states[0][1])
        return [each for each in self.unknown if not COMPARISONS[comparison](most - (each.value or 0), value)]

    def _in_common(self, comparison: str, value: int, found: Clock) -> None:
        """Add what all sets of writes have in common, index by index: without the writes that know more than so much
        the condition holds, and without those that know as much it does not."""
        clocks = [write.clock for write in self.unknown]
        left = MOST_STEPS
        for index in {index for clock in clocks for index, n in clock.items() if n > found.get(index, 0)}:
            levels = sorted({clock.get(index, 0) for clock in clocks})
            low, high = 0, len(levels) - 1
            while low < high and left > 0:
                middle = (low + high) // 2
                left -= len(clocks)
                few = [write for write in self.unknown if write.clock.get(index, 0) <= levels[middle]]
                if self.may_be(comparison, value, few):
                    high = middle
                else:
                    low = middle + 1
            if levels[low] > found.get(index, 0):
                found[index] = levels[low]

    def may_end_as(self, comparison: str, value: int) -> bool:
        """Whether the word may satisfy a condition when all writes have been made."""
        writes = [*self.known, *self.unknown]
        if any(write.value is None for write in writes):
            return True
        last = _last(write for write in writes if not write.adds)
        if not last:
            return COMPARISONS[comparison](_wrapped(self.before + sum(write.value or 0 for write in writes)), value)
        for base in last:
            fixed, terms = base.value or 0, list[int]()
            for write in writes:
                if write.adds and not write.known_to(base.clock):
                    if base.known_to(write.clock):
                        fixed += write.value or 0
                    else:
                        terms.append(write.value or 0)
            if _reaches(comparison, value, fixed, terms):
                return True
        return False


def _last(sets: Iterable[WordWrite]) -> list[WordWrite]:
    """The sets that no other one is known to come after."""
    found: list[WordWrite] = []
    for write in reversed(list(sets)):
        if not any(write.known_to(other.clock) for other in found):
            found.append(write)
    return found


def _without(writes: Sequence[WordWrite], one: WordWrite) -> list[WordWrite]:
    return [write for write in writes if write is not one]


def _wrapped(value: int) -> int:
    return (value + _LIMIT) % (2 * _LIMIT) - _LIMIT


def _reaches(comparison: str, value: int, start: int, terms: Sequence[int]) -> bool:
    """Whether the condition may hold of a number plus some of the possible additions."""
    least = start + sum(term for term in terms if term < 0)
    most = start + sum(term for term in terms if term > 0)
    if least < -_LIMIT or most >= _LIMIT:
        return True  # it may wrap
    compare = COMPARISONS[comparison]
    if comparison in ("ge", "gt"):
        return compare(most, value)
    if comparison in ("le", "lt"):
        return compare(least, value)
    if comparison == "ne":
        return least != most or start != value
    if not least <= value <= most:
        return False
    sums = {start}
    for term in terms:
        sums |= {each + term for each in sums}
        if len(sums) > MOST_SUMS:
            return True
    return value in sums
