"""Lanes that a mask leaves out of a computation and that something uses nevertheless: zero here, as the specification
says; the public assembler leaves the mask out, so that its code has the computed value there."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from ptosim.language.operation import Problem, lint
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.vmi.vmi_conversion import VmiConvert
from ptosim.language.vmi.vmi_mask import VmiFirst, VmiFirstByName, is_all_true
from ptosim.language.vmi.vmi_memory import VmiStore
from ptosim.language.vmi.vmi_operation import VmiOperation
from ptosim.language.vmi.vmi_reduction import VmiReduction


def inactive_lanes_used(op: VmiOperation) -> Iterator[Problem]:
    """A warning on the use of lanes that the mask of an operation is known to leave out."""
    masks = op.segment("mask")
    if not masks or not op.results or not _leaves_out(masks[0]):
        return
    user = next(_users(op.results[0], masks[0]), None)
    if user is not None:
        message = (
            f"{user.name} uses lanes that the mask of {op.name} leaves out: the specification has 0 there, code of the"
            " public assembler the computed value"
        )
        yield lint(message, at="mask", hint="select with pto.vmi.vsel, or give the mask to what uses the lanes")


def _leaves_out(mask: SSAValue) -> bool:
    """Whether a mask is known to leave lanes out, or made to do so."""
    owner = mask.owner
    made = _first(mask) is not None or (isinstance(owner, VmiOperation) and owner.chooses)
    return made and not is_all_true(mask)


def _first(mask: SSAValue) -> int | None:
    """The number of first lanes that a mask has, where it is known."""
    match mask.owner:
        case VmiFirst() as op:
            return constant_of(op.operands[0])
        case VmiFirstByName() as op if op.attribute("group") is None:
            return op.count
        case _:
            return None


def _users(value: SSAValue, mask: SSAValue) -> Iterator[VmiOperation]:
    """Operations that use every lane of a vector, or more of the first ones than the mask has."""
    for use in value.uses:
        user = use.operation
        if not isinstance(user, VmiOperation):
            continue
        masks = user.segment("mask") if "mask" in user.operand_roles else ()
        if isinstance(user, VmiStore | VmiReduction):
            if _goes_beyond(masks[0] if masks else None, mask):
                yield user
        elif isinstance(user, VmiConvert) or (user.by_lanes and not masks):
            for result in user.results:
                yield from _users(result, mask)


def _goes_beyond(used: SSAValue | None, mask: SSAValue) -> bool:
    """Whether lanes of one mask, of all where there is none, are known to be none of another."""
    if used is None or is_all_true(used):
        return True
    one, other = _first(used), _first(mask)
    return one is not None and other is not None and one > max(other, 0)
