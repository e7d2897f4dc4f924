"""Words of i32 in global memory that cores signal and wait for: what is written, what is asked, and who has told what.

An engine makes `Words`: the addresses, and how to read and write them. A wait holds as long as some word does not
satisfy its condition; nothing is consumed. Any kind of write may satisfy it, so conditions are asked anew whenever a
core that can go on is looked for.

In observed runs `Signals` remembers of each word the notices since it was last set, each with what its scalar unit knew
to have ended. A wait that is satisfied learns from those notices without which it would not be: from the last set, and
of sums from every term that the condition needs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
SIGNS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def wrapped(value: int) -> int:
    """The i32 with the same 32 bits."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


@dataclass(frozen=True)
class Words:
    """Words of one instruction: where they lie, and the engine's way to them."""

    addresses: Sequence[int]
    """GM pointers."""
    read: Callable[[int], int]
    """The word of that position."""
    write: Callable[[int, int], None]


@dataclass(frozen=True)
class Notice:
    """What a notify does to its word."""

    words: Words
    value: int
    adds: bool

    @property
    def address(self) -> int:
        return self.words.addresses[0]

    def deliver(self) -> None:
        self.words.write(0, wrapped(self.words.read(0) + self.value) if self.adds else self.value)


@dataclass(frozen=True)
class Watched:
    """What a wait or test asks of its words: that each satisfies `word comparison value`, signed."""

    words: Words
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


@dataclass(eq=False)
class Told:
    """One notice that a word holds: its value, what its scalar unit knew, and who it was."""

    entry: Entry
    value: int
    adds: bool
    clock: Clock


@dataclass(eq=False)
class History:
    """What a word has been told since it was last set."""

    told: list[Told] = field(default_factory=list[Told])


class Signals:
    """The words of a run, by address: how many notices each received, and in observed runs their histories."""

    def __init__(self) -> None:
        self.received: dict[int, int] = {}
        self.histories: dict[int, History] = {}

    def deliver(self, notice: Notice) -> None:
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
        history = self.histories.setdefault(notice.address, History())
        if not notice.adds:
            history.told.clear()
        history.told.append(Told(entry, notice.value, notice.adds, clock))

    def needed(self, watched: Watched) -> list[Told]:
        """The notices that a satisfied wait must have seen, whatever the schedule."""
        found: list[Told] = []
        for position, address in enumerate(watched.words.addresses):
            history = self.histories.get(address)
            if history is not None:
                word = watched.words.read(position)
                found += [told for told in history.told if _must_be_in(told, word, watched)]
        return found


def _must_be_in(told: Told, word: int, watched: Watched) -> bool:
    """Whether the condition fails for a word that lacks this notice; a set is what all else is added to."""
    return not told.adds or not watched.allows(wrapped(word - told.value))
