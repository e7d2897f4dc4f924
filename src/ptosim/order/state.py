"""Unordered entries: for each pipe the set of those that may not have ended, and one for every token under way.

Sets are integers: bit n is the entry of number n, or the wait of an inserted pair. An entry is in the set of a pipe as
long as the next entry of that pipe might start before it has ended. A token is what its source pipe did not know when
it was set; a pipe that waits for it knows as much from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ptosim.effects.names import Pipe
from ptosim.order.model import Counter

Key = object
"""An inserted pair, or the key of a written flag."""

Released = tuple[int, int | str, Pipe]
"""A core, a buffer id and the pipe that released it."""

PIPES = tuple(pipe for pipe in Pipe if pipe is not Pipe.ALL)


class Known(NamedTuple):
    """Entries that the pipes of a core do not know to have ended at a place, and those issued up to there."""

    open: Mapping[Pipe, int]
    issued: int


@dataclass
class State:
    """The sets at one place of the program."""

    cores: list[dict[Pipe, int]] = field(default_factory=lambda: [dict.fromkeys(PIPES, 0)])
    """For each core what its pipes do not know to have ended."""
    tokens: dict[Key, tuple[int, ...]] = field(default_factory=dict[Key, tuple[int, ...]])
    """In the order they were set."""
    released: dict[Released, int] = field(default_factory=dict["Released", int])
    """The entries that the last release of a buffer id by a pipe did not cover."""
    issued: int = 0
    counters: dict[Counter, int] = field(default_factory=dict[Counter, int])
    """The values of counters, where they are known."""
    covered: dict[tuple[object, Pipe], int] = field(default_factory=dict[tuple[object, Pipe], int])
    """For each scoped wait ahead and each pipe, the entries issued behind the last one there that it waits for."""
    here: int = 0
    """The core whose program is followed."""
    mixed: frozenset[object] = frozenset()
    """Families of flags whose tokens are not told apart (rotating_ids.py)."""

    def __post_init__(self) -> None:
        self.open = self.cores[self.here]

    def at(self, core: int) -> None:
        """From here on it is the program of another core that is followed."""
        self.here, self.open = core, self.cores[core]

    def copy(self) -> State:
        found = object.__new__(State)  # it is copied before each node
        found.cores = [core.copy() for core in self.cores]
        found.tokens = self.tokens.copy()
        found.released = self.released.copy()
        found.issued = self.issued
        found.counters = self.counters.copy()
        found.covered = self.covered.copy()
        found.here, found.mixed = self.here, self.mixed
        found.open = found.cores[self.here]
        return found

    def known(self) -> Known:
        return Known(self.open.copy(), self.issued)

    def end(self, members: int) -> None:
        """Every pipe of this core knows that some entries have ended."""
        for pipe in PIPES:
            self.open[pipe] &= ~members

    def put(self, key: Key, token: int) -> None:
        """A token is set."""
        self.tokens[key] = (*self.tokens.get(key, ()), token)

    def take(self, key: Key, pipe: Pipe) -> bool:
        """A pipe waits for the first token of a key, if there is one, and knows as much from then on."""
        tokens = self.tokens.get(key, ())
        if tokens:
            self.open[pipe] &= tokens[0]
            self.tokens[key] = tokens[1:]
        return bool(tokens)

    def issue(self, member: int, pipes: tuple[Pipe, ...]) -> None:
        """An entry begins; these pipes of its core do not know its end, nor do other cores."""
        for number, core in enumerate(self.cores):
            for pipe in pipes if number == self.here else PIPES:
                core[pipe] |= member
        for key, tokens in self.tokens.items():
            if tokens:
                self.tokens[key] = tuple([token | member for token in tokens])
        for key in self.released:
            self.released[key] |= member
        for key in self.covered:
            self.covered[key] |= member
        self.issued |= member

    def rename(self, names: Mapping[int, int]) -> None:
        """Some members are called otherwise."""
        changed = sum(names)
        if not self.issued & changed:
            return

        def renamed(members: int) -> int:
            found = members & ~changed
            for old, new in names.items():
                found |= new if members & old else 0
            return found

        self._change(renamed)

    def restricted(self, members: int) -> State:
        """The state of some entries alone."""
        found = self.copy()
        found._change(lambda held: held & members)
        return found

    def _change(self, change: Callable[[int], int]) -> None:
        """Let each of the sets be another one."""
        self.cores = [{pipe: change(members) for pipe, members in core.items()} for core in self.cores]
        self.open = self.cores[self.here]
        self.tokens = {key: tuple(map(change, tokens)) for key, tokens in self.tokens.items()}
        self.released = {key: change(members) for key, members in self.released.items()}
        self.covered = {}
        self.issued = change(self.issued)

    def counts(self) -> dict[Key, int]:
        """The number of tokens of each key under way."""
        return {key: len(tokens) for key, tokens in self.tokens.items() if tokens}

    def joined(self, other: State) -> State:
        """The knowledge that holds whichever way was taken. Tokens of unequal number are forgotten."""
        tokens: dict[Key, tuple[int, ...]] = {}
        released = {*self.released, *other.released}
        for key in {*self.tokens, *other.tokens}:
            a, b = self.tokens.get(key, ()), other.tokens.get(key, ())
            tokens[key] = tuple(x | y for x, y in zip(a, b, strict=True)) if len(a) == len(b) else ()
        return State(
            [{pipe: a[pipe] | b[pipe] for pipe in PIPES} for a, b in zip(self.cores, other.cores, strict=True)],
            tokens,
            # where it was not released, what was issued there is not known; what was not needs no release
            {key: self.released.get(key, self.issued) | other.released.get(key, other.issued) for key in released},
            self.issued | other.issued,
            {counter: value for counter, value in self.counters.items() if other.counters.get(counter) == value},
            {key: behind | other.covered[key] for key, behind in self.covered.items() if key in other.covered},
            self.here,
            self.mixed | other.mixed,
        )
