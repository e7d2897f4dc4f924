"""Signals that a stopped core may still set, told from the operations when a run is stuck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from ptosim.effects.names import CoreKind
from ptosim.language.analysis.reachable_sets import following_sets, is_left_out, sets, sets_of
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.function import Function
from ptosim.language.text.parser import ParsedModule
from ptosim.machine.core import Core
from ptosim.machine.entry import Key, Site


class Reachability:
    """The operations by their places: compiled code knows of an operation no more than where it was written."""

    def __init__(self, parsed: ParsedModule, entries: Mapping[CoreKind, Function]) -> None:
        self._parsed = parsed
        self._entries = entries
        self._following: dict[tuple[Site, CoreKind], tuple[PTOOperation, ...]] = {}

    def may_set(self, core: Core, key: Key, arguments: Sequence[int]) -> bool:
        """From where its scalar unit stands, may a core still issue something that sets this?"""
        entry = self._entries[core.kind]
        if not core.started:
            following = sets_of(entry, core.kind)
        else:
            following = self._later(core.waiting.site, core.kind) if core.waiting is not None else ()
        given = dict[SSAValue, int](zip(entry.body.block.args, arguments, strict=False))
        return any(sets(later, key) and not is_left_out(later, given) for later in following)

    def _later(self, site: Site, kind: CoreKind) -> tuple[PTOOperation, ...]:
        if (site, kind) not in self._following:
            op = self._parsed.operations[site.number] if site.number >= 0 else None
            self._following[site, kind] = following_sets(op, kind) if op is not None else ()
        return self._following[site, kind]
