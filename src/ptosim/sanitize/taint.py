"""Origins of taint: what is behind the numbers that tainted bytes carry.

A number has seven bits, so there is room for some 120 origins; an origin is a pair of source lines, and should a kernel
have more of them, the surplus shares the last number.
"""

from __future__ import annotations

from collections.abc import Callable

from ptosim.machine.observer import DECIDED
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.shadow import UNDEFINED

FIRST = UNDEFINED + 1
LAST = DECIDED - 1


class Origins:
    """The suspicions behind taint numbers."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._conflicts: list[Conflict] = []

    def number(self, key: object, conflict: Callable[[], Conflict]) -> int:
        """The taint of values that a conflict makes doubtful. The first conflict of a key stands for all of them."""
        found = self._numbers.get(key)
        if found is None:
            found = min(FIRST + len(self._conflicts), LAST)
            self._numbers[key] = found
            if found == FIRST + len(self._conflicts):
                self._conflicts.append(conflict())
        return found

    def __getitem__(self, number: int) -> Conflict:
        return self._conflicts[number - FIRST]
