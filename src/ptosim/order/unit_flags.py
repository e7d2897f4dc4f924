"""Unit flags in a proof: they are not followed, so a race between two operations that both check one is undecided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ptosim.diagnostics import Diagnostic
from ptosim.effects.names import CoreKind
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.function import Function, reached

if TYPE_CHECKING:
    from ptosim.order.prove import Verdict

UNFOLLOWED = "unit flags are not followed: they may order the two"


def without_unit_flags(module: VerifiedModule, entries: Mapping[CoreKind, Function], verdict: Verdict) -> Verdict:
    """The verdict, in which nothing is said to go wrong that unit flags may prevent."""
    if not verdict.broken:
        return verdict
    lines = {
        place.line
        for op in reached(*entries.values())
        if isinstance(op, PTOOperation) and "unit_flag" in op.property_roles and op.attribute("unit_flag") is not None
        if (place := module.parsed.location(op)) is not None
    }
    open_ = [each for each in verdict.broken if _is_between(each, lines)]
    if not open_:
        return verdict
    told = (replace(each, severity="warning", notes=(*each.notes, UNFOLLOWED)) for each in open_)
    broken = tuple(each for each in verdict.broken if each not in open_)
    return replace(verdict, broken=broken, undecided=(*verdict.undecided, *told), is_unfollowed=True)


def _is_between(found: Diagnostic, lines: set[int]) -> bool:
    """Whether both sides of a race are in these lines."""
    sides = {place.line for place in (found.location, *(each.location for each in found.related)) if place is not None}
    return found.kind == "race" and bool(sides) and sides <= lines
