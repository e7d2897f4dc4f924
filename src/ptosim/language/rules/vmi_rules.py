"""Rules about values of logical vectors: who may use them, and that none has been given registers already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, NoneAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue

from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType, is_logical
from ptosim.language.operation import Problem
from ptosim.language.rules.call_rules import Found
from ptosim.language.structure.function import Function
from ptosim.language.vmi.vmi_operation import VmiOperation

PASSING = frozenset(
    {
        *("scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition", "scf.execute_region", "scf.index_switch"),
        *("func.func", "func.call", "func.return", "arith.select"),
    }
)
"""Operations that hand logical vectors on."""


def vmi_problems(module: ModuleOp) -> Iterator[Found]:
    operations = list(module.walk())
    if not any(isinstance(op, VmiOperation) or any(map(_is_value, op.operands)) for op in operations):
        yield from _in_attributes(operations)
        return
    for op in operations:
        values = [*op.results, *(value for region in op.regions for block in region.blocks for value in block.args)]
        for value in values:
            yield from ((op, problem) for problem in _placed_already(op, value))
        passes = isinstance(op, VmiOperation) or op.name in PASSING
        given = None if passes else next((value for value in (*op.operands, *op.results) if _is_value(value)), None)
        if given is not None:
            message = f"{op.name} cannot use {given.type}: only pto.vmi operations, control flow and calls can"
            yield op, Problem(message)
    yield from _in_attributes(operations)


def _is_value(value: SSAValue) -> bool:
    return is_logical(value.type)


def _placed_already(op: Operation, value: SSAValue) -> Iterator[Problem]:
    """A layout says which register holds which lane: that is decided here, and cannot be written."""
    type_ = value.type
    if not isinstance(type_, LogicalVectorType | LogicalMaskType) or isinstance(type_.layout, NoneAttr):
        return
    roles = op.result_roles if isinstance(op, VmiOperation) else ()
    role = next((each for each, result in zip(roles, op.results, strict=False) if result is value), None)
    message = f"{type_} has been given a layout: it is lowered already"
    yield Problem(message, role, "unsupported", hint="leave the layout out; registers are chosen when it is lowered")


def _in_attributes(operations: Sequence[Operation]) -> Iterator[Found]:
    for op in operations:
        attributes = op.attributes if isinstance(op, Function) else {**op.attributes, **op.properties}
        name = next((name for name, attribute in attributes.items() if _mentions(attribute)), None)
        if name is not None:
            yield op, Problem(f"an attribute cannot hold the type of a logical vector: {name}", at=name)


def _mentions(attribute: Attribute) -> bool:
    match attribute:
        case LogicalVectorType() | LogicalMaskType():
            return True
        case ArrayAttr():
            return any(map(_mentions, attribute.data))
        case DictionaryAttr():
            return any(map(_mentions, attribute.data.values()))
        case ParametrizedAttribute():
            return any(map(_mentions, attribute.parameters))
        case _:
            return False
