"""Accesses of a vector scope that later ones of the same bytes hide: a track remembers one instruction per byte.

Per byte there is the number of a set of accesses. An instruction is in a set once, as it last was there: of two visits
the later one is fenced less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.machine.entry import Site
from ptosim.machine.observer import distinct
from ptosim.sanitize.window import ShadowWindow

MOST_SETS = 4096
"""Sets that are kept before those that no byte has are given up."""


class ScopeAccess(NamedTuple):
    """An access of an instruction to some bytes."""

    site: Site
    wrote: bool
    fences: int
    """The number of fences of the scope before it."""


_Set = tuple[ScopeAccess, ...]


class HiddenAccesses:
    """The accesses of one scope; `is_over` tells of an access that no later one can alias any more."""

    def __init__(self, size: int, is_over: Callable[[ScopeAccess], bool]) -> None:
        self._numbers: NDArray[np.int32] = np.zeros(size, np.int32)
        self._sets: list[_Set] = [()]
        self._known: dict[_Set, int] = {(): 0}
        self._is_over = is_over

    def hide(self, window: ShadowWindow, where: NDArray[np.bool_], hidden: ScopeAccess, by: Site) -> None:
        """On some bytes of an access it hides an earlier one."""
        numbers = window.of(self._numbers).reshape(-1).copy()
        for number in distinct(numbers[where]):
            numbers[where & (numbers == number)] = self._with(number, hidden, by)
        window.put(self._numbers, numbers)
        if len(self._sets) > MOST_SETS:
            self._collect()

    def _with(self, number: int, hidden: ScopeAccess, by: Site) -> int:
        """A set with one more access, without what is over and without earlier visits of the instruction that comes."""
        kept = (each for each in self._sets[number] if each.site not in (hidden.site, by) and not self._is_over(each))
        return self._number((*kept, hidden))

    def _number(self, accesses: _Set) -> int:
        number = self._known.setdefault(accesses, len(self._sets))
        if number == len(self._sets):
            self._sets.append(accesses)
        return number

    def _collect(self) -> None:
        """Give up the sets that no byte has."""
        used, numbers = np.unique(self._numbers, return_inverse=True)
        sets = [self._sets[int(number)] for number in used]
        self._sets, self._known = [()], {(): 0}
        self._numbers = np.array([self._number(each) for each in sets], np.int32)[numbers].reshape(-1)

    def met(self, window: ShadowWindow) -> Iterator[tuple[ScopeAccess, NDArray[np.bool_]]]:
        """The hidden accesses of some bytes, and where they are."""
        numbers = window.of(self._numbers).reshape(-1)
        met: dict[ScopeAccess, NDArray[np.bool_]] = {}
        for number in distinct(numbers):
            for access in self._sets[number]:
                where = numbers == number
                met[access] = met[access] | where if access in met else where
        yield from met.items()
