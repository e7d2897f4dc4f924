"""Flags whose ids go round with a counter: a family of them, each named by its distance from the counter.

As long as the value of the counter is known, an id is a number. In a loop that lets it go on it is not, but then the id
two places ahead of the counter is one place ahead when it has gone on: tokens keep their order whatever the value is.
Where a number meets a counter of unknown value, every flag of the family must have as many tokens as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ptosim.effects.names import Pipe
from ptosim.order.model import Counter, Flag
from ptosim.order.number import Periodic
from ptosim.order.state import State


@dataclass(frozen=True)
class Family:
    """The ids from `base` on that two pipes use in turn."""

    source: Pipe
    destination: Pipe
    counter: Counter
    base: int
    lanes: int

    def absolute(self, id_: int) -> tuple[Pipe, Pipe, int, int]:
        return self.source, self.destination, id_, self.core

    @property
    def core(self) -> int:
        return self.counter[2]

    def at(self, value: int, ahead: int) -> tuple[Pipe, Pipe, int, int]:
        """The key of a flag so many places ahead of the counter, whose value is known."""
        return self.absolute(self.base + (value + ahead) % self.lanes)

    def relative(self, ahead: int) -> tuple[Pipe, Pipe, Family, int]:
        """The key of a flag so many places ahead of the counter."""
        return self.source, self.destination, self, ahead % self.lanes

    @property
    def ids(self) -> range:
        return range(self.base, self.base + self.lanes)


def family_of(node: Flag) -> tuple[Family, int] | None:
    """The family of a flag and its place ahead of the counter; None where its id does not go round."""
    id_ = node.id
    if not isinstance(id_, Periodic) or id_.is_by_turns:
        return None
    values = [value for value in id_.values if isinstance(value, int)]
    if len(values) < len(id_.values):
        return None
    base, lanes = min(values), len(values)
    ahead = values[0] - base
    if any(value != base + (turn + ahead) % lanes for turn, value in enumerate(values)):
        return None
    return Family(node.source, node.destination, (id_.loop, id_.start, node.core), base, lanes), ahead


def go_on(state: State, families: Iterable[Family], counter: Counter) -> None:
    """A counter goes on: what was one place ahead of it is where it is now."""
    for family in families:
        if counter in state.counters:
            continue
        before = [state.tokens.get(family.relative(ahead), ()) for ahead in range(family.lanes)]
        for ahead in range(family.lanes):
            state.tokens[family.relative(ahead - 1)] = before[ahead]
    if counter in state.counters:
        modulus = next((family.lanes for family in families), 1)
        state.counters[counter] = (state.counters[counter] + 1) % modulus


def begin(state: State, families: Iterable[Family], counter: Counter, value: int) -> None:
    """A counter gets a value that is known. What is named by an id stays as it is: a pair may stand around this place
    that has nothing to do with the counter."""
    for family in families if counter not in state.counters else ():
        if any(state.tokens.get(family.relative(ahead)) for ahead in range(family.lanes)):
            settle(state, family)
    state.counters[counter] = value


def leave(state: State, families: Iterable[Family], counter: Counter) -> None:
    """From here on the value of a counter is not known: tokens are named by their places."""
    value = state.counters.pop(counter, None)
    for family in families:
        if value is None:
            _evened(state, family)
            continue
        united(state, family)
        for ahead in range(family.lanes):
            state.tokens[family.relative(ahead)] = state.tokens.pop(family.at(value, ahead), ())


def _evened(state: State, family: Family) -> None:
    """The value is another one than before, or was never known: whichever flag is meant, it has any of the tokens."""
    settle(state, family)
    united(state, family)
    for ahead, id_ in enumerate(family.ids):
        state.tokens[family.relative(ahead)] = state.tokens.pop(family.absolute(id_), ())


def settle(state: State, family: Family) -> None:
    """Name tokens by their ids again, if any assignment gives the same."""
    keys = [family.relative(ahead) for ahead in range(family.lanes)] + [family.absolute(id_) for id_ in family.ids]
    under_way = [state.tokens.get(key, ()) for key in keys]
    relative, absolute = under_way[: family.lanes], under_way[family.lanes :]
    for tokens, others in ((relative, absolute), (absolute, relative)):
        if len(set(map(len, tokens))) == 1 and not any(others):
            ranked = [_ranked(at) for at in zip(*tokens, strict=True)]
            for key in keys:
                state.tokens.pop(key, None)
            for rank, id_ in enumerate(family.ids):
                state.tokens[family.absolute(id_)] = tuple(at[rank] for at in ranked)
            state.mixed |= {family}
            return


def draw(state: State, family: Family, id_: int) -> None:
    """The flag of an id is about to be waited for. The id of each token is unknown: the n-th wait learns what all but n
    - 1 tokens guarantee."""
    if family in state.mixed:
        left = [family.absolute(each) for each in family.ids if state.tokens.get(family.absolute(each))]
        left.sort(key=lambda key: key != family.absolute(id_))
        for key, first in zip(left, _ranked([state.tokens[key][0] for key in left]), strict=True):
            state.tokens[key] = (first, *state.tokens[key][1:])


def united(state: State, family: Family) -> None:
    """From here on each flag is looked at for itself: it has any of the tokens."""
    if family in state.mixed:
        state.mixed -= {family}
        keys = [key for id_ in family.ids if state.tokens.get(key := family.absolute(id_))]
        whole = 0
        for key in keys:
            for token in state.tokens[key]:
                whole |= token
        for key in keys:
            state.tokens[key] = (whole,) * len(state.tokens[key])


def _ranked(contents: Sequence[int]) -> list[int]:
    """The members of at least one of the sets, of two, and so on."""
    found = [0] * len(contents)
    for content in contents:
        for rank in reversed(range(1, len(contents))):
            found[rank] |= found[rank - 1] & content
        found[0] |= content
    return found
