"""Unit flags in a proof. They are not followed: a race between two operations that both use one is undecided, and so is
whether a wait for one ends, unless products and stores take turns where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, SSAValue

from ptosim.diagnostics import Diagnostic
from ptosim.effects.names import CoreKind, Pipe
from ptosim.effects.sync import FREE, FULL, UnitFlagUse
from ptosim.language.analysis.unit_flags import followed_unit_flags, unit_flag
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import constant_address
from ptosim.language.structure.function import Function, reached

if TYPE_CHECKING:
    from ptosim.order.prove import Verdict

UNFOLLOWED = "unit flags are not followed: they may order the two"
_MAY_STAY = "{} may wait for ever for the unit flag of its tile: it is not set and cleared in turn here"


def without_unit_flags(module: VerifiedModule, entries: Mapping[CoreKind, Function], verdict: Verdict) -> Verdict:
    """The verdict without faults that unit flags may prevent, and without ends that they may stop."""
    operations = list(reached(*entries.values()))
    flagged = [op for op in operations if isinstance(op, PTOOperation) and unit_flag(op) is not None]
    if not flagged:
        return verdict
    lines = {place.line for op in flagged if (place := module.parsed.location(op)) is not None}
    open_ = [each for each in verdict.broken if _is_between(each, lines)]
    told = [replace(each, severity="warning", notes=(*each.notes, UNFOLLOWED)) for each in open_]
    broken = tuple(each for each in verdict.broken if each not in open_)
    if (
        not broken
        and (stays := _out_of_turn(flagged, followed_unit_flags(module.parsed, operations), list(entries.values())))
        is not None
    ):
        pipe = _use(stays).pipe
        told.append(Diagnostic("unmatched-wait", "warning", _MAY_STAY.format(pipe), module.parsed.location(stays)))
    if not told:
        return verdict
    return replace(verdict, broken=broken, undecided=(*verdict.undecided, *told), is_unfollowed=True)


def _is_between(found: Diagnostic, lines: set[int]) -> bool:
    """Whether both sides of a race are in these lines."""
    sides = {place.line for place in (found.location, *(each.location for each in found.related)) if place is not None}
    return found.kind == "race" and bool(sides) and sides <= lines


# --- products and stores that take turns ------------------------------------------------------------------------------


def _use(op: PTOOperation) -> UnitFlagUse:
    return UnitFlagUse(unit_flag(op) or "", 0, Pipe.M if "c" in op.operand_roles else Pipe.FIX)


def _tile(op: PTOOperation) -> SSAValue:
    return op.segment("c" if "c" in op.operand_roles else "source")[0]


def _out_of_turn(
    flagged: Sequence[PTOOperation], followed: frozenset[str], entries: Sequence[Function]
) -> PTOOperation | None:
    """An operation that does not find its tile as it needs it, as far as the block it stands in can tell. Each block
    finds all tiles free, and leaves them so, but for the last one of an entry."""
    waiting = [op for op in flagged if unit_flag(op) in followed]
    ends = {entry.body.block for entry in entries}
    blocks = dict.fromkeys(block for op in waiting if (block := op.parent_block()) is not None)
    return next((op for block in blocks if (op := _of_block(block, followed, block in ends)) is not None), None)


def _of_block(block: Block, followed: frozenset[str], ends: bool) -> PTOOperation | None:
    full: SSAValue | None = None
    latest: PTOOperation | None = None
    for op in block.ops:
        if full is not None and latest is not None and _has_inside(op, followed):
            return latest
        if not isinstance(op, PTOOperation) or unit_flag(op) not in followed:
            continue
        use, latest = _use(op), op
        state = FREE if full is None else FULL
        if state != use.wanted or (full is not None and not _is_same(full, _tile(op))):
            return op
        if use.left is not None:
            full = _tile(op) if use.left == FULL else None
    return None if full is None or ends else latest


def _has_inside(op: Operation, followed: frozenset[str]) -> bool:
    inside: Iterable[Operation] = (each for region in op.regions for each in region.walk())
    return any(unit_flag(each) in followed for each in inside) or op.name == "func.call"


def _is_same(tile: SSAValue, other: SSAValue) -> bool:
    address = constant_address(tile)
    return tile is other or (address is not None and address == constant_address(other))
