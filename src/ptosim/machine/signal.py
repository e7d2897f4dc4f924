"""Words of i32 in global memory that cores signal and wait for: what is written, what is asked, and who has told what.

An engine makes `Words`: the addresses, and how to read and write them. A wait holds as long as some word does not
satisfy its condition; nothing is consumed. Any kind of write may satisfy it, so conditions are asked anew whenever a
core that can go on is looked for.

In observed runs `SignalWords` remembers the writes of each word, with what was known to have ended. What a wait that is
satisfied learns from them is said in word_history.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptosim.effects.sim_signal import COMPARISONS
from ptosim.machine.clock import ended_by, entry_index
from ptosim.machine.memory import FIRST_WINDOW, MOST_RANKS, decode, pointer
from ptosim.machine.word_history import Outlook, WordHistory, WordWrite

if TYPE_CHECKING:
    from ptosim.machine.entry import Clock, Entry

KEPT = 256
"""Waits and tests of one word that are remembered."""
SIGNS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def wrapped(value: int) -> int:
    """The i32 with the same 32 bits."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


@dataclass(frozen=True)
class SignalledWords:
    """Words of one instruction: where they lie, and the engine's way to them."""

    addresses: Sequence[int]
    """GM pointers."""
    read: Callable[[int], int]
    """The word of that position."""
    write: Callable[[int, int], None]


@dataclass(frozen=True)
class Notice:
    """The effect of a notify on its word."""

    words: SignalledWords
    value: int
    adds: bool

    @property
    def address(self) -> int:
        return self.words.addresses[0]

    def deliver(self) -> None:
        self.words.write(0, wrapped(self.words.read(0) + self.value) if self.adds else self.value)


@dataclass(frozen=True)
class WatchedWords:
    """The condition of a wait or test on its words: each satisfies `word comparison value`, signed."""

    words: SignalledWords
    comparison: str
    value: int

    def holds(self) -> bool:
        return self.failing is None

    @property
    def failing(self) -> int | None:
        """The position of the first word that does not satisfy the condition."""
        compare, value, read = COMPARISONS[self.comparison], self.value, self.words.read
        return next((n for n in range(len(self.words.addresses)) if not compare(read(n), value)), None)

    def allows(self, word: int) -> bool:
        return COMPARISONS[self.comparison](word, self.value)

    def __str__(self) -> str:
        return f"{SIGNS[self.comparison]} {self.value}"


Asker = tuple[int, int, int]
"""A wait for a word: the index of its core, the number of its step, and the address."""


@dataclass(frozen=True, eq=False)
class Foreseen:
    """Knowledge of an earlier run about words; one that goes the same way goes by it."""

    followed: frozenset[int] = frozenset()
    """Words that wait or test have looked at, and that are written otherwise than by notices."""
    limits: Mapping[Asker, Clock] = field(default_factory=dict[Asker, "Clock"])
    """The most that waits learn which a later write might have satisfied as well."""


@dataclass(eq=False)
class Passed:
    """A wait that a word has satisfied, or a test: what might have been found, and what was learnt."""

    entry: Entry
    watched: WatchedWords
    address: int
    outlook: Outlook
    holds: bool
    learnt: Clock


class SignalWords:
    """The words of a run, by address: how many notices each received, and in observed runs their histories.

    Which writes a wait may have seen can only be told when no more of them come: one that comes later, in no order with
    the wait, might have been there instead of another. `foreseen` has what was found of this in a run before.
    """

    def __init__(self) -> None:
        self.received: dict[int, int] = {}
        self.roots: dict[tuple[int, ...], int] = {}
        """The root of each group that a collective has joined."""
        self.histories: dict[int, WordHistory] = {}
        self.foreseen = Foreseen()
        self.limits: dict[Asker, Clock] = {}
        """The limits that `foreseen` lacks."""
        self.passed: dict[int, list[Passed]] = {}
        """By word: waits that it has satisfied, and tests."""
        self._marks: dict[tuple[int, int], tuple[int, int, WordWrite]] = {}
        """By word and pipe: the index and number of its latest write."""
        self.before = 0
        """The value before the last notice."""
        self.fruitless = 0
        """Looks in vain since anybody has done anything else."""

    def deliver(self, notice: Notice) -> None:
        self.before = notice.words.read(0)
        notice.deliver()
        self.received[notice.address] = self.received.get(notice.address, 0) + 1

    def copies(self, address: int) -> list[tuple[int, int]]:
        """The copies of a word in a window: the same word of other ranks, and how many notices each received."""
        number, offset = decode(address)
        if number < FIRST_WINDOW:
            return []
        first = number - (number - FIRST_WINDOW) % MOST_RANKS
        others = [pointer(other, offset) for other in range(first, first + MOST_RANKS) if other != number]
        return [(other, self.received[other]) for other in others if other in self.received]

    # --- what is written ----------------------------------------------------------------------------------------------

    def tell(self, entry: Entry, clock: Clock) -> None:
        """A notice has been delivered."""
        notice = entry.notice
        assert notice is not None
        history = self._history(notice.address, self.before)
        self._add(notice.address, history, entry, notice.value, notice.adds, clock, notice.words.read(0))

    def write(self, entry: Entry, address: int, value: int | None, adds: bool, before: int, clock: Clock) -> None:
        """A followed word is written otherwise. Who sees it knows of the write, and of earlier ones of its pipe as far
        as these are known to have ended."""
        index = entry_index(entry)
        mark, number, last = self._marks.get((address, index), (-1 - len(self._marks), 0, None))
        number += 1
        if last is None or last.known_to(entry.clock or {}):
            clock = {**clock, mark: number}
        after = wrapped(before + (value or 0)) if adds else value or 0
        history = self._history(address, before)
        written = self._add(address, history, entry, value, adds, clock, after, (mark, number))
        self._marks[address, index] = mark, number, written

    def _history(self, address: int, before: int) -> WordHistory:
        history = self.histories.get(address)
        if history is None or history.now != before:  # something else has written the word
            history = self.histories[address] = WordHistory(before)
        return history

    def _add(
        self,
        address: int,
        history: WordHistory,
        entry: Entry,
        value: int | None,
        adds: bool,
        clock: Clock,
        after: int,
        mark: tuple[int, int] | None = None,
    ) -> WordWrite:
        written = WordWrite(entry, value, adds, clock, after, mark)
        history.add(written)
        for passed in self.passed.get(address, ()):
            if not ended_by(passed.entry, clock):
                passed.outlook.unknown.append(written)
                self._limit(passed)
        return written

    def _limit(self, passed: Passed) -> None:
        """A write that a wait which has passed does not come before might have satisfied it, too."""
        if not passed.learnt:
            return
        learnt = _at_most(passed.learnt, passed.outlook.learnt(passed.watched.comparison, passed.watched.value))
        if learnt != passed.learnt:
            passed.learnt = self.limits[_asker(passed.entry, passed.address)] = learnt

    def has_seen(self, clock: Clock, address: int, index: int, number: int) -> bool:
        """Whether a clock knows by the word itself of the entry with this number, the last of a pipe to write it."""
        mark = self._marks.get((address, index))
        return mark is not None and mark[2].entry.n == number and clock.get(mark[0], 0) >= mark[1]

    # --- what is asked ------------------------------------------------------------------------------------------------

    def learn(self, entry: Entry, watched: WatchedWords, clock: Clock) -> tuple[Clock, ...]:
        """The clock that a satisfied wait, or a test, learns from the writes; `clock`: what its scalar unit knew."""
        found: list[Clock] = []
        for position, address in enumerate(watched.words.addresses):
            history = self._history(address, watched.words.read(position))
            outlook = history.seen_from(clock)
            holds = watched.allows(history.now)
            learnt = outlook.learnt(watched.comparison, watched.value) if holds else {}
            limit = self.foreseen.limits.get(_asker(entry, address))
            if limit is not None:
                learnt = _at_most(learnt, limit)
            found.append(learnt)
            kept = self.passed.setdefault(address, [])
            kept.append(Passed(entry, watched, address, outlook, holds, learnt))
            del kept[:-KEPT]
        return tuple(found)


def _at_most(clock: Clock, limit: Clock) -> Clock:
    return {index: min(number, limit[index]) for index, number in clock.items() if index in limit}


def _asker(entry: Entry, address: int) -> Asker:
    return entry.core.index, entry.n, address
