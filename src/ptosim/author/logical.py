"""Logical vectors while they are traced: their types, and an operation on them from its operands by role."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Attribute, SSAValue

from ptosim.author.call import property_of
from ptosim.author.coerce import integer_attribute, refuse_unset
from ptosim.author.dtypes import Described
from ptosim.author.failures import RemovedName, WrongType, failure
from ptosim.author.trace import current
from ptosim.author.values import Traced, wrapped
from ptosim.author.words import word
from ptosim.language.catalogue import operation
from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType
from ptosim.language.operation import PTOOperation

VMI = "pto.vmi."


@dataclass(frozen=True)
class LogicalVectorDescription(Described):
    """`pto.vmi.vreg(L, T)`."""

    lanes: int
    element: Any

    @property
    def type(self) -> Attribute:
        return vector_type(self.lanes, self.element.type)


@dataclass(frozen=True)
class LogicalMaskDescription(Described):
    """`pto.vmi.mask(L)`."""

    lanes: int

    @property
    def type(self) -> Attribute:
        return mask_type(self.lanes)


def vector_type(lanes: int, element: Attribute) -> Attribute:
    from ptosim.author.dtypes import parsed_type

    return parsed_type(f"!pto.vmi.vreg<{lanes}x{element}>")


def mask_type(lanes: int) -> Attribute:
    from ptosim.author.dtypes import parsed_type

    return parsed_type(f"!pto.vmi.mask<{lanes}xpred>")


def logical_operation(name: str) -> type[PTOOperation]:
    found = operation(VMI + name)
    if found is None:
        raise failure(RemovedName, f"pto.vmi has no '{name}'")
    return found


def logical(value: Any, what: str) -> SSAValue:
    refuse_unset(value)
    if isinstance(value, Traced) and isinstance(value.ssa.type, LogicalVectorType):
        return value.ssa
    shown = f"of type {value.ssa.type}" if isinstance(value, Traced) else repr(value)
    raise failure(WrongType, f"{what} is a logical vector, not {shown}")


def truths(value: Any, what: str) -> SSAValue | None:
    if value is None:
        return None
    refuse_unset(value)
    if isinstance(value, Traced) and isinstance(value.ssa.type, LogicalMaskType):
        return value.ssa
    shown = f"of type {value.ssa.type}" if isinstance(value, Traced) else repr(value)
    raise failure(WrongType, f"{what} is a mask of logical lanes, not {shown}")


def is_truths(value: Any) -> bool:
    return isinstance(value, Traced) and isinstance(value.ssa.type, LogicalMaskType)


def emitted(
    name: str,
    operands: Mapping[str, SSAValue | None],
    results: Sequence[Attribute] = (),
    properties: Mapping[str, Any] | None = None,
    pmode: Any = None,
) -> Any:
    kind = logical_operation(name)
    given: dict[str, Attribute | None] = {}
    for role, value in (properties or {}).items():
        if value is None or isinstance(value, Attribute):
            given[role] = value
        elif isinstance(value, int) and not isinstance(value, bool):
            given[role] = integer_attribute(value, i32, role)
        else:
            given[role] = property_of(kind, VMI + name, role, value)
    if pmode is not None:
        given["pmode"] = StringAttr(word(pmode, kind.words["pmode"], f"pmode of {VMI}{name}"))
    return wrapped(current(VMI + name).make(kind, operands, results, given).results)
