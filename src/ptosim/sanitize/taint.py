"""Origins of taint: what is behind the numbers that tainted bytes carry.

A number has seven bits, so there is room for some 120 origins; an origin is a pair of source lines. Races and undefined
values have ranges of their own: should a kernel have more of a kind, the surplus shares the last number of that kind,
so that an error never hides behind a warning.
"""

from __future__ import annotations

from collections.abc import Callable

from ptosim.machine.observer import DECIDED
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.shadow import UNDEFINED

FIRST = {"race": UNDEFINED + 1, "uninitialized": 90}
LAST = {"race": FIRST["uninitialized"] - 1, "uninitialized": DECIDED - 1}


class Origins:
    """The suspicions behind taint numbers."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, *tuple[object, ...]], int] = {}
        self._conflicts: dict[int, Conflict] = {}
        self._next = dict(FIRST)

    def number(self, key: tuple[str, *tuple[object, ...]], conflict: Callable[[], Conflict]) -> int:
        """The taint of values that a conflict makes doubtful. The first conflict of a key, which begins with its kind,
        stands for all of them."""
        found = self._numbers.get(key)
        if found is None:
            kind = key[0]
            found = self._numbers[key] = min(self._next[kind], LAST[kind])
            self._next[kind] += 1
            if found not in self._conflicts:
                self._conflicts[found] = conflict()
        return found

    def __getitem__(self, number: int) -> Conflict:
        return self._conflicts[number]
