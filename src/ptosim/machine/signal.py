"""Words of i32 in global memory that cores signal and wait for: what is written, what is asked, and who has told what.

An engine makes `Words`: the addresses, and how to read and write them. A wait holds as long as some word does not
satisfy its condition; nothing is consumed. Any kind of write may satisfy it, so conditions are asked anew whenever a
core that can go on is looked for.

In observed runs `Signals` remembers the notices of each word, with what their scalar units knew to have ended. A wait
that is satisfied learns from those without which it would not be, whatever the schedule: it may have looked as soon as
the word first satisfied it, so from the set that the word had then, and of a sum from every term that the condition
needs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptosim.machine.clock import ended_by
from ptosim.machine.memory import FIRST_WINDOW, MOST_RANKS, decode, pointer

if TYPE_CHECKING:
    from ptosim.machine.entry import Clock, Entry

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
KEPT = 64
"""Waits of one word that are remembered."""
LONGEST = 4096
"""Notices of one word that are remembered."""
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
    """What a notify does to its word."""

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
    """What a wait or test asks of its words: that each satisfies `word comparison value`, signed."""

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


@dataclass(frozen=True, eq=False)
class NoticeRecord:
    """One notice: who it was, what its scalar unit knew, and the word afterwards."""

    entry: Entry
    value: int
    adds: bool
    clock: Clock
    after: int


@dataclass(eq=False)
class WordHistory:
    """The notices of a word since it was last written otherwise, and what it was before them."""

    before: int
    told: list[NoticeRecord] = field(default_factory=list[NoticeRecord])

    @property
    def now(self) -> int:
        return self.told[-1].after if self.told else self.before


Step = tuple[int, int]
"""A step of a scalar unit: the index of its core, and its number."""


@dataclass(frozen=True, eq=False)
class Passed:
    """A wait that a word has satisfied, what the word was, and the notices that it seemed to need."""

    entry: Entry
    watched: WatchedWords
    word: int
    terms: Sequence[NoticeRecord]


class SignalWords:
    """The words of a run, by address: how many notices each received, and in observed runs their histories.

    Which additions a wait must have seen can only be told when no more of them come: one that comes later, in no order
    with the wait, might have been there instead of another. `doubtful` has, for each wait, the additions of which this
    was found in a run; another run, which goes the same way, does not learn from them.
    """

    def __init__(self) -> None:
        self.received: dict[int, int] = {}
        self.roots: dict[tuple[int, ...], int] = {}
        """Of each group that a collective has joined, the root."""
        self.histories: dict[int, WordHistory] = {}
        self.doubtful: Mapping[Step, set[Step]] = {}
        self.doubted: dict[Step, set[Step]] = {}
        self._passed: dict[int, list[Passed]] = {}
        self.before = 0
        """What the word was that has been notified last."""
        self.fruitless = 0
        """Looks in vain since anybody has done anything else."""

    def deliver(self, notice: Notice) -> None:
        self.before = notice.words.read(0)
        notice.deliver()
        self.received[notice.address] = self.received.get(notice.address, 0) + 1

    def copies(self, address: int) -> list[tuple[int, int]]:
        """Of a word in a window: the same word of other ranks, and how many notices each received."""
        number, offset = decode(address)
        if number < FIRST_WINDOW:
            return []
        first = number - (number - FIRST_WINDOW) % MOST_RANKS
        others = [pointer(other, offset) for other in range(first, first + MOST_RANKS) if other != number]
        return [(other, self.received[other]) for other in others if other in self.received]

    def tell(self, entry: Entry, clock: Clock) -> None:
        """A notice has been delivered."""
        notice = entry.notice
        assert notice is not None
        history = self.histories.get(notice.address)
        if history is None or history.now != self.before:  # something else has written the word
            history = self.histories[notice.address] = WordHistory(self.before)
        if notice.adds:
            self._doubt(notice, clock)
        told = NoticeRecord(entry, notice.value, notice.adds, clock, notice.words.read(0))
        history.told.append(told)
        if len(history.told) > LONGEST:
            history.before = history.told.pop(0).after

    def _doubt(self, notice: Notice, clock: Clock) -> None:
        """An addition that a wait which has passed does not come before might have satisfied it, too."""
        for passed in self._passed.get(notice.address, ()):
            if not ended_by(passed.entry, clock):
                instead = [told for told in passed.terms if _replaces(notice.value, clock, told, passed)]
                if instead:
                    self.doubted.setdefault(_step(passed.entry), set()).update(_step(told.entry) for told in instead)

    def knows(self, address: int, word: int) -> bool:
        """Whether notices have made a word what it is."""
        history = self.histories.get(address)
        return history is not None and history.now == word

    def needed(self, entry: Entry, watched: WatchedWords, clock: Clock) -> list[NoticeRecord]:
        """The notices that a satisfied wait must have seen in any schedule; `clock`: what its scalar unit knew."""
        found: list[NoticeRecord] = []
        doubtful = self.doubtful.get(_step(entry), ())
        for position, address in enumerate(watched.words.addresses):
            history = self.histories.get(address)
            if history is None or history.now != watched.words.read(position):
                continue
            passed = _earliest(history, entry, watched, clock)
            found += [told for told in passed.terms if _step(told.entry) not in doubtful]
            waits = self._passed.setdefault(address, [])
            waits.append(passed)
            del waits[:-KEPT]
        return found


def _earliest(history: WordHistory, entry: Entry, watched: WatchedWords, clock: Clock) -> Passed:
    """A wait as it first could have passed: with the earliest state of the word that satisfies it, of those that its
    scalar unit does not know to be over."""
    told = history.told
    first = next((n for n in reversed(range(len(told))) if ended_by(told[n].entry, clock)), -1)
    if first < 0 and watched.allows(history.before):
        return Passed(entry, watched, history.before, ())
    last = next((n for n in range(max(first, 0), len(told)) if watched.allows(told[n].after)), len(told) - 1)
    base = next((n for n in reversed(range(last + 1)) if not told[n].adds), 0)
    passed = Passed(entry, watched, told[last].after, ())
    terms = [each for each in told[base : last + 1] if _must_be_in(each, passed)]
    later = [each for each in told[last + 1 :] if each.adds]
    terms = [each for each in terms if not any(_replaces(other.value, other.clock, each, passed) for other in later)]
    return Passed(entry, watched, passed.word, terms)


def _must_be_in(told: NoticeRecord, passed: Passed) -> bool:
    """Whether the condition fails for a word that lacks this notice; a set is what all else is added to."""
    return not told.adds or not passed.watched.allows(wrapped(passed.word - told.value))


def _replaces(value: int, clock: Clock, told: NoticeRecord, passed: Passed) -> bool:
    """Whether an addition might have been there instead of another, which it does not come after."""
    without = wrapped(passed.word - told.value + value)
    return told.adds and passed.watched.allows(without) and not ended_by(told.entry, clock)


def _step(entry: Entry) -> Step:
    return entry.core.index, entry.n
