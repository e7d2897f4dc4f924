"""Shadow cells of the special registers that two pipes share: the sort status that V leaves for S to read.

AR and SQZN stay inside the vector pipe, which is serial, and CTRL and the configuration registers inside the scalar
unit. Doubt about what they hold travels with the values of the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ptosim.effects.catalogue import effects
from ptosim.effects.record import Effects
from ptosim.machine.clock import entry_index
from ptosim.machine.entry import Entry
from ptosim.sanitize.conflict import Party, Verb, party

SHARED = frozenset({"VMS4_SR"})


@cache
def _sharing() -> dict[str, Effects]:
    """The instructions that touch such a register."""
    return {name: record for name, record in effects().items() if SHARED & {*record.reads, *record.writes}}


class Cells:
    """The last access of each pipe to each register, as far as another pipe may be in no order with it."""

    def __init__(self) -> None:
        self._last: dict[tuple[int, str, Verb], dict[int, tuple[int, Party]]] = {}
        """By core, register and verb, then by pipe: the number of the entry, and who it is."""

    def access(self, entry: Entry) -> Iterator[tuple[str, Verb, Party]]:
        """Note what an entry does to these registers; gives each access that it is in no order with."""
        record = _sharing().get(entry.site.name)
        if record is None:
            return
        own, clock = entry_index(entry), entry.clock or {}
        sides: tuple[tuple[tuple[str, ...], Verb], ...] = ((record.reads, "reads"), (record.writes, "writes"))
        for names, verb in sides:
            for name in SHARED.intersection(names):
                opposing: tuple[Verb, ...] = ("writes",) if verb == "reads" else ("reads", "writes")
                for other in opposing:
                    for index, (n, earlier) in self._last.get((entry.core.index, name, other), {}).items():
                        if n >= clock.get(index, 0) and index != own:
                            yield name, verb, earlier
                self._last.setdefault((entry.core.index, name, verb), {})[own] = entry.n, party(entry, entry.site, verb)
