"""One state of an exploration: what the scalar unit holds, and what is not known to have ended.

As in the walk, each pipe has the set of entries that may still run when its next one starts, and each token and release
the set of those that its pipe did not know. A set is a number, with a bit for each entry at the bytes that it touches;
what starts is in all sets from then on until somebody knows that it has ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from ptosim.effects.names import Pipe

FlagKey = tuple[Pipe, Pipe, int | str]
BufferKey = tuple[Pipe, int]


@dataclass(slots=True)
class ExploredState:
    values: dict[Any, Any] = field(default_factory=dict[Any, Any])
    arrays: dict[Any, dict[Any, Any]] = field(default_factory=dict[Any, "dict[Any, Any]"])
    decided: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """The ways that branches went on conditions that are still the same."""
    open: dict[Pipe, int] = field(default_factory=dict[Pipe, int])
    tokens: dict[FlagKey, int] = field(default_factory=dict[FlagKey, int])
    releases: dict[BufferKey, int] = field(default_factory=dict[BufferKey, int])
    held: frozenset[BufferKey] = frozenset()

    def copy(self) -> ExploredState:
        return ExploredState(
            dict(self.values),
            {array: dict(held) for array, held in self.arrays.items()},
            dict(self.decided),
            dict(self.open),
            dict(self.tokens),
            dict(self.releases),
            self.held,
        )

    @property
    def place(self) -> object:
        """All but the sets of members."""
        return (
            frozenset(self.values.items()),
            frozenset((array, frozenset(held.items())) for array, held in self.arrays.items()),
            frozenset(self.decided.items()),
            frozenset(self.tokens),
            self.held,
        )

    @property
    def sets(self) -> object:
        return frozenset(self.open.items()), frozenset(self.tokens.items()), frozenset(self.releases.items())

    def united(self, other: ExploredState) -> ExploredState:
        """The union of two states that differ only in the entries that may still run. If a buffer was not released yet,
        a get learns nothing: as if the release had known of nothing that may run.
        """
        found = self.copy()
        found.open = {pipe: members | other.open[pipe] for pipe, members in self.open.items()}
        found.tokens = {key: members | other.tokens[key] for key, members in self.tokens.items()}
        found.releases = {
            key: self.releases.get(key, self.running) | other.releases.get(key, other.running)
            for key in {**self.releases, **other.releases}
        }
        return found

    @property
    def running(self) -> int:
        """All that may still run as far as any pipe knows."""
        return reduce(int.__or__, self.open.values(), 0)

    def known_to(self, pipe: Pipe) -> int:
        """The entries that may still run as far as a pipe knows, with the knowledge of the scalar unit that hands work
        to it.
        """
        return self.open.get(pipe, 0) & self.open.get(Pipe.S, 0) if pipe is not Pipe.S else self.open.get(pipe, 0)

    def start(self, member: int, pipes: Iterable[Pipe]) -> None:
        """Something starts: none of these pipes, no token and no release knows that it has ended."""
        for pipe in pipes:
            self.open[pipe] = self.open.get(pipe, 0) | member
        for key in self.tokens:
            self.tokens[key] |= member
        for key in self.releases:
            self.releases[key] |= member

    def rename(self, names: dict[int, int]) -> None:
        """Members get other names."""
        for known in (self.open, self.tokens, self.releases) if names else ():
            known.update({key: _renamed(members, names) for key, members in known.items()})  # pyright: ignore

    def end(self, members: int) -> None:
        """All of these have ended."""
        for pipe in self.open:
            self.open[pipe] &= ~members
        for key in self.tokens:
            self.tokens[key] &= ~members
        for key in self.releases:
            self.releases[key] &= ~members


def _renamed(members: int, names: dict[int, int]) -> int:
    for old, new in names.items():
        members = (members & ~old) | new if members & old else members
    return members


class SeenStates:
    """States that were come to. With `unites`, those that differ in what may run alone become one."""

    def __init__(self, unites: bool, states: Iterable[tuple[object, ExploredState]] = ()) -> None:
        self.unites = unites
        self.states: dict[object, ExploredState] = {}
        for at, state in states:
            self.add(at, state)

    def add(self, at: object, state: ExploredState) -> ExploredState | None:
        """The state to go on from, None where it was seen."""
        key = (at, state.place) if self.unites else (at, state.place, state.sets)
        known = self.states.get(key)
        if known is None:
            self.states[key] = state
            return state
        if not self.unites:
            return None
        united = known.united(state)
        if united.sets == known.sets:
            return None
        self.states[key] = united
        return united
