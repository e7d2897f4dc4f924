"""Origins of taint: what is behind the numbers that tainted bytes carry, and how grave a use of such bytes is.

A number has six bits, so there is room for some 60 origins; an origin is a pair of source lines. Races and undefined
values have ranges of their own: should a kernel have more of a kind, the surplus shares the last number of that kind,
so that an error never hides behind a warning. Where both meet in a byte the higher number stays: the race.
"""

from __future__ import annotations

from collections.abc import Callable

from ptosim.diagnostics import Severity
from ptosim.effects.names import Pipe
from ptosim.machine.observer import CROSSED, DECIDED, ORIGIN
from ptosim.machine.observer import Use as MachineUse
from ptosim.sanitize.conflict import Conflict, Use
from ptosim.sanitize.shadow import UNDEFINED

FIRST = {"uninitialized": UNDEFINED + 1, "race": 22, "clobbered": UNDEFINED + 1}
LAST = {"uninitialized": FIRST["race"] - 1, "race": ORIGIN, "clobbered": ORIGIN}
"""The last number of each kind; clobbered memory is looked for in a run of its own."""


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


_GRAVE: frozenset[Use] = frozenset(("scalar", "mask", "address", "condition", "product", "crossed"))
"""Uses that undefined values must not have; lane by lane, moved or stored by FIXPIPE such a value may be an unused
tail.
"""


def judged(kind: str, use: Use | MachineUse, pipe: Pipe, number: int) -> tuple[Use, Severity]:
    """The kind and gravity of a use of a tainted value; a racy one must not be used at all."""
    meant: Use = ("product" if pipe is Pipe.M else "fixpipe") if use == "operand" else use
    if number & DECIDED and meant in ("global", "product", "fixpipe"):
        meant = "mask"
    elif number & CROSSED and meant in ("global", "fixpipe") and kind == "uninitialized":
        meant = "crossed"
    return meant, "error" if kind == "race" or (kind == "uninitialized" and meant in _GRAVE) else "warning"
