"""A kernel before and after an edit: whether it is in order, or worse than it was, in launches that are replayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cached_property
from itertools import islice

from ptosim.effects.names import CoreKind
from ptosim.language.load import VerifiedModule
from ptosim.language.structure.function import Function
from ptosim.order.replay.byte_shadow import Shown
from ptosim.order.replay.launches import launches
from ptosim.order.replay.replay import Replayer
from ptosim.order.replay.scalar_run import ReplayLaunch

MOST_LAUNCHES = 128
MOST_EFFORT = 1 << 15
"""Entries of all launches of a text."""
_STUCK = frozenset(("deadlock", "unmatched-wait"))


class ReplayStanding(Enum):
    """The results of replays of an edited text, at few iterations and on every branch."""

    CLEAN = "in order"
    BETTER = "out of order where it was before, and nowhere else"
    WORSE = "out of order where it was not before"
    UNKNOWN = "not to be replayed"


class Baseline:
    """A kernel as it was, and what it shows in each launch."""

    def __init__(self, module: VerifiedModule, entries: Mapping[CoreKind, Function]) -> None:
        self._replayer = Replayer(module, entries)
        self._functions = list(entries.values())

    @cached_property
    def _gravities(self) -> dict[ReplayLaunch, int | None]:
        return _gravities(self._replayer, islice(launches(self._functions, MOST_LAUNCHES), MOST_LAUNCHES))

    def standing(self, module: VerifiedModule, entries: Mapping[CoreKind, Function]) -> ReplayStanding:
        """The standing of the same kernel, edited."""
        edited = _gravities(Replayer(module, entries), self._gravities)
        known = [(before, edited[launch]) for launch, before in self._gravities.items() if launch in edited]
        pairs = [(before, now) for before, now in known if now is not None]
        if not pairs:
            return ReplayStanding.UNKNOWN
        if not any(now for _, now in pairs):
            return ReplayStanding.CLEAN
        return (
            ReplayStanding.WORSE
            if any(before is not None and now > before for before, now in pairs)
            else ReplayStanding.BETTER
        )


def _gravities(replayer: Replayer, chosen: Iterable[ReplayLaunch]) -> dict[ReplayLaunch, int | None]:
    """The grade of each launch; None where it cannot be replayed."""
    found: dict[ReplayLaunch, int | None] = {}
    left = MOST_EFFORT
    for launch in chosen:
        replayed = replayer.replay(launch, left)
        left -= replayed.effort
        if left <= 0:
            break
        worst = max(map(_gravity, replayed.shown), default=0)
        found[launch] = worst if worst or not replayed.incomplete else None
    return found


def _gravity(shown: Shown) -> int:
    """0 for nothing, then a flag left over, other bytes, no end."""
    if not shown.certain:
        return 0
    if shown.kind in _STUCK:
        return 3
    return 2 if shown.diagnostic.severity == "error" else 1
