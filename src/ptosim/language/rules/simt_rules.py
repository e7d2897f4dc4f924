"""Rules of workitems: what may stand in their code, and what their functions may be.

The code of workitems is that of pto.simt_entry functions and sections, and of the helpers that they call.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ptosim.effects.names import Space
from ptosim.language.analysis.fast_walk import around
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.rules.call_rules import Found
from ptosim.language.rules.operand_rules import nth
from ptosim.language.rules.persistent_rules import persistent_problems
from ptosim.language.simt import simt
from ptosim.language.structure.control import Terminator
from ptosim.language.structure.function import SIMT_ENTRY, Call, Function, every_function
from ptosim.language.structure.scalar import Constant
from ptosim.language.structure.scalar_form import SCALARS
from ptosim.language.types import PtrType, element_name, is_packed

_MOST = {simt.MAX_THREADS: simt.MOST_WORKITEMS, simt.MAX_REGISTERS: 128}
"""The attributes of a function of workitems and the greatest value of each."""


def simt_problems(module: ModuleOp) -> Iterator[Found]:
    functions = every_function(module)
    for function in functions:
        yield from _attribute_problems(function)
    if not any(_concerns(op) for function in functions for op in function.walk()):
        return
    inside = functions_of_workitems(module)
    for function in functions:
        if function.is_simt_entry:
            yield from _signature_problems(function)
        elif not function.is_declaration:
            yield from persistent_problems(function)
        outside = not function.is_simt_entry and (function not in inside or _called_outside(module, function))
        for op in function.walk():
            if isinstance(op, simt.SectionSimt):
                yield from _escapes(op)
            if isinstance(op, PTOOperation) and op is not function:
                yield from _place_problems(op, function in inside, outside)


def _concerns(op: Operation) -> bool:
    """Whether an operation has to do with workitems, or with what only they have."""
    if isinstance(op, Function):
        return op.is_simt_entry
    return (
        (isinstance(op, PTOOperation) and op.simt == "inside")
        or isinstance(op, simt.SectionSimt | simt.SimtLaunch)
        or (any(is_packed(value.type) for value in op.results))
    )


def functions_of_workitems(module: ModuleOp) -> set[Function]:
    """The functions that workitems run: entries, and what they and sections call."""
    found: set[Function] = set()
    waiting = [function for function in every_function(module) if function.is_simt_entry]
    waiting += [
        call.function for call in _calls(module) if call.function is not None and simt.section_of(call) is not None
    ]
    while waiting:
        function = waiting.pop()
        if function not in found:
            found.add(function)
            waiting += [call.function for call in _calls(function) if call.function is not None]
    return found


def _calls(op: Operation) -> Iterator[Call]:
    return (inner for inner in op.walk() if isinstance(inner, Call) and not isinstance(inner, simt.SimtLaunch))


def _called_outside(module: ModuleOp, function: Function) -> bool:
    """Whether the scalar unit calls a function as well, by itself or in turn."""
    inside = functions_of_workitems(module)
    scalar = [each for each in every_function(module) if each not in inside]
    known: set[Function] = set()
    while scalar:
        caller = scalar.pop()
        for call in _calls(caller):
            callee = call.function
            if callee is None or callee in known or callee.is_simt_entry or simt.section_of(call) is not None:
                continue
            known.add(callee)
            scalar.append(callee)
    return function in known


# --- where things stand -----------------------------------------------------------------------------------------------


def _place_problems(op: PTOOperation, in_body: bool, outside: bool) -> Iterator[Found]:
    in_body = in_body or simt.section_of(op) is not None
    outside = outside and simt.section_of(op) is None
    if in_body:
        if op.simt == "outside" and not isinstance(op, simt.SectionSimt):
            yield op, Problem(f"{op.name} cannot stand in the code of workitems")
        elif isinstance(op, Call) and op.function is not None and op.function.is_simt_entry:
            yield op, Problem(f"workitems cannot launch @{op.symbol}, a pto.simt_entry function", at="callee")
        elif getattr(op, "is_persistent", False):
            yield op, Problem("a pto.persistent buffer is allocated in the kernel, before its sections")
    if outside:
        if op.simt == "inside":
            where = "a pto.simt_entry function or pto.section.simt"
            yield op, Problem(f"{op.name} must be inside {where}")
        elif getattr(op, "is_persistent", True) is False:
            hint = "mark a buffer that survives from section to section with {pto.persistent}"
            yield op, Problem(f"{op.name} must be inside the code of workitems", hint=hint)
        elif op.simt == "any" and not isinstance(op, Constant) and (packed := _packed(op)) is not None:
            yield op, Problem(f"{op.name} on {packed}: packed values exist in the code of workitems only")


def _packed(op: PTOOperation) -> Attribute | None:
    """The packed type of a value that an operation takes or gives."""
    return next((value.type for value in (*op.operands, *op.results) if is_packed(value.type)), None)


def _escapes(section: simt.SectionSimt) -> Iterator[Found]:
    """Checks that values of a section are not used behind it: the text cannot say so, other forms can."""
    for op in section.body.walk():
        if isinstance(op, Terminator) and op.parent_op() is section:
            yield op, Problem(f"{op.name} does not belong in {section.name}")
        for result in op.results:
            for use in result.uses:
                if section not in around(use.operation):
                    yield use.operation, Problem(f"a value of {section.name} is used outside of it", at=use.index)


# --- functions --------------------------------------------------------------------------------------------------------


def _attribute_problems(function: Function) -> Iterator[Found]:
    for name, most in _MOST.items():
        value = function.attributes.get(name)
        if value is None:
            continue
        if not function.is_simt_entry:
            yield (
                function,
                Problem(f"{name} belongs to a {SIMT_ENTRY} function, which @{function.symbol} is not", at=name),
            )
        elif not isinstance(value, IntegerAttr) or value.type != i32:  # pyright: ignore[reportUnknownMemberType]
            yield function, Problem(f"{name} is a signless i32, such as {name} = 128 : i32", at=name)
        elif not 1 <= value.value.data <= most:  # pyright: ignore[reportUnknownMemberType]
            yield function, Problem(f"{name} is {value.value.data}; it must be 1 to {most}", at=name)  # pyright: ignore[reportUnknownMemberType]


def _signature_problems(function: Function) -> Iterator[Found]:
    if function.return_types:
        yield function, Problem(f"@{function.symbol} is a {SIMT_ENTRY} function, which returns nothing", at="sym_name")
    for index, type_ in enumerate(function.argument_types):
        if not _may_be_passed(type_):
            message = f"workitems take scalars and pointers to gm and ub, not {type_}"
            yield function, Problem(message, at=nth("argument", index))


def _may_be_passed(type_: Attribute) -> bool:
    if isinstance(type_, PtrType):
        return type_.is_open or type_.space in (Space.GM, Space.UB)
    return element_name(type_) in SCALARS or is_packed(type_)


def captured(section: simt.SectionSimt) -> list[SSAValue]:
    """The values from around a section that its body uses, each once."""
    inner = {value for op in section.body.walk() for value in (*op.results, *_arguments(op))}
    used = (operand for op in section.body.walk() for operand in op.operands)
    return list(dict.fromkeys(operand for operand in used if operand not in inner))


def _arguments(op: Operation) -> Iterator[SSAValue]:
    for region in op.regions:
        for block in region.blocks:
            yield from block.args
