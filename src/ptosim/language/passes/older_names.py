"""Rewrites older names of instructions to the current ones, after verification: diagnostics say what was written.

Only pure respellings: a class says with `replaced_by` which instruction it is an older name of, or with `replaced_on`
what it means on a machine, with the same roles and properties. Older spellings of words are aliases in the
vocabularies; older instructions with a state of their own stay.
"""

from __future__ import annotations

from xdsl.rewriter import Rewriter

from ptosim.language.catalogue import operation
from ptosim.language.operation import PTOOperation
from ptosim.language.text.parser import ParsedModule


def modernise(parsed: ParsedModule, machine: str) -> None:
    """Replace every operation that has a current name; the new one stands in the place of the old."""
    for op in list(parsed.module.walk()):
        if isinstance(op, PTOOperation) and (current := _current(type(op), machine)) is not type(op):
            new = _respelled(op, current)
            Rewriter.replace_op(op, new)
            parsed.replaced(op, new)


def _current(class_: type[PTOOperation], machine: str) -> type[PTOOperation]:
    """The class that stands for another one on a machine."""
    while (name := class_.replaced_on.get(machine, class_.replaced_by)) is not None:
        found = operation(name)
        assert found is not None, name
        class_ = found
    return class_


def _respelled(op: PTOOperation, current: type[PTOOperation]) -> PTOOperation:
    properties = {role: op.attribute(role) for role in op.property_roles}
    attributes = {name: value for name, value in op.attributes.items() if name not in op.property_roles}
    operands = {role: op.segment(role) for role in op.operand_roles}
    return current.make(operands, [result.type for result in op.results], properties, attributes)
