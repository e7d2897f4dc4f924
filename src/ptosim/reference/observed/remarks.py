"""Remarks of a check that no single access shows: loop sizes that a copy finds again, copies that rely on bytes that
another one has overwritten, streams whose last bytes are never stored.

Of registers it gets what `Core.config` holds: each write makes a new object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ptosim.machine.entry import Site
from ptosim.reference.memory.port import Complaint
from ptosim.reference.memory.stream import StoreAlign

Words = Mapping[str, Any]

_ONCE = (1, 1)


class Remarks:
    """The remarks of one core."""

    def __init__(self, say: Callable[[Complaint], None], site: Callable[[], Site]) -> None:
        self._say = say
        self._site = site
        self._relied: dict[str, Any] = {}
        """By direction: the sizes of the loop registers that the last copy found."""
        self._overwritten: dict[str, Any] = {}
        """Registers that a copy with clauses has overwritten on hardware, with what they held."""
        self.held: dict[StoreAlign, Site] = {}
        """Store streams of the scope with pending bytes, and the instruction that stored last."""

    def _lint(self, message: str, site: Site | None = None) -> None:
        self._say(Complaint("lint", message, "warning", site=site, is_fatal=False))

    def idle(self, message: str) -> None:
        if not self._site().served:
            self._lint(message)

    # --- loop registers -----------------------------------------------------------------------------------------------

    def relies_on(self, direction: str, words: Words, others: Sequence[str]) -> None:
        """A copy of the older generation takes its loops from the registers of a direction, and `others` as well."""
        sizes = words.get(f"loop_size_{direction}", _ONCE)
        if sizes != _ONCE and self._relied.get(direction) is sizes:
            self._lint(f"the loop sizes {sizes} were not written since the last copy; restore them to 1, 1 after use")
        self._relied[direction] = sizes
        strides = [f"loop{number}_stride_{direction}" for number, size in enumerate(sizes, 1) if size > 1]
        for register in (*strides, *others):
            if register in self._overwritten and self._overwritten[register] is words.get(register, None):
                written = f"has written the register of pto.set_{register}"
                self._lint(f"on hardware an earlier copy with clauses {written}: set it again")

    def overwrites(self, direction: str, words: Words, loops: int, others: Sequence[str]) -> None:
        """A copy with clauses: hardware carries it out by writing the registers, which stay as they are here."""
        self._relied[direction] = words.get(f"loop_size_{direction}", _ONCE)
        strides = [f"loop{number}_stride_{direction}" for number in (1, 2) if number <= loops]
        self._overwritten |= {register: words.get(register, None) for register in (*strides, *others)}

    # --- store streams ------------------------------------------------------------------------------------------------

    def hold(self, before: Any, after: Any) -> None:
        self.held.pop(before, None)
        if after is not None and after.stream.pending:
            self.held[after] = self._site()

    def loads(self, start: int, width: int) -> None:
        """A load of bytes that are still in an align value gets what was in memory before."""
        for align, site in self.held.items():
            low, high = max(start, align.stream.start), min(start + width, align.stream.end)
            if low < high:
                message = f"the store stream of line {site.line} holds ub[{low}:{high}] back"
                self._lint(f"{message}: before it is flushed this load gets older bytes")

    def lost(self) -> None:
        """At the end of a scope: streams without a flush."""
        for align, site in self.held.items():
            pending = align.stream.pending
            message = f"a lost tail: {pending} bytes of the store stream are never flushed and do not reach ub"
            self._say(Complaint("stream-misuse", message, site=site, is_fatal=False))
        self.held.clear()
