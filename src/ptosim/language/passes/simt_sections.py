"""Sections of workitems become functions of workitems that are launched: engines see one form.

What a section uses from around it is captured by value. Constants are said again in the function, and a persistent
buffer is allocated there by its number, so that each workitem finds in every section what it has left in the last.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import FunctionType, IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ptosim.language.builder import Builder, InsertionPoint, head_of
from ptosim.language.rules.simt_rules import captured
from ptosim.language.simt.private_memory import BUFFER, Alloca
from ptosim.language.simt.simt import DIMENSIONS, MAX_THREADS, MOST_WORKITEMS, SectionSimt, SimtLaunch
from ptosim.language.structure.function import SIMT_ENTRY, Call, Function, Return, function_of
from ptosim.language.structure.scalar import Constant
from ptosim.language.text.parser import ParsedModule

WIDEST = 8
"""Bytes that persistent buffers are aligned to."""


def launch_sections(parsed: ParsedModule) -> None:
    """Every launch is one of a function."""
    sections = [op for op in parsed.module.walk() if isinstance(op, SectionSimt)]
    if not sections:
        return
    taken = {op.symbol for op in parsed.module.walk() if isinstance(op, Function)}
    taken_bytes = 0
    for buffer in _persistent(parsed):
        buffer.attributes[BUFFER] = IntegerAttr(taken_bytes, i32)
        taken_bytes += -(-buffer.size // WIDEST) * WIDEST
    for number, section in enumerate(sections):
        _launch(parsed, section, number, taken)
    for buffer in list(_persistent(parsed)):
        if not buffer.result.uses:
            buffer.detach()
            buffer.erase()


def _persistent(parsed: ParsedModule) -> Iterator[Alloca]:
    return (op for op in parsed.module.walk() if isinstance(op, Alloca) and op.is_persistent)


def _launch(parsed: ParsedModule, section: SectionSimt, number: int, taken: set[str]) -> None:
    parent, place = function_of(section), section.parent_block()
    assert parent is not None and place is not None
    values = captured(section)
    repeated = [value for value in values if isinstance(value.owner, Constant | Alloca)]
    passed = [value for value in values if value not in repeated]
    function = _function(_free(f"{parent.symbol}_simt_{number}", taken), section, passed)
    parsed.serve(function, section)
    _move(parsed, section, function, dict(zip(passed, function.args, strict=True)), repeated)
    home = parent.parent_block()
    assert home is not None
    home.insert_op_after(function, parent)
    build = Builder(parsed, InsertionPoint.at(section), head_of(parent.body.block), section)
    sizes = {role: build.constant(size, i32) for role, size in zip(DIMENSIONS, section.sizes, strict=True)}
    launch = SimtLaunch.make(
        {**sizes, "arguments": passed}, (), {"callee": SymbolRefAttr(function.symbol)}, section.attributes
    )
    launch.function = function
    build.add(launch)
    section.detach()
    section.erase()


def _free(symbol: str, taken: set[str]) -> str:
    while symbol in taken:
        symbol += "_"
    taken.add(symbol)
    return symbol


def _function(symbol: str, section: SectionSimt, passed: list[SSAValue]) -> Function:
    x, y, z = section.sizes
    types = [value.type for value in passed]
    properties = {
        "sym_name": StringAttr(symbol),
        "function_type": FunctionType.from_lists(types, []),
        "sym_visibility": StringAttr("private"),
    }
    most = IntegerAttr(min(x * y * z, MOST_WORKITEMS), i32)
    return Function.make(
        {}, (), properties, {SIMT_ENTRY: UnitAttr(), MAX_THREADS: most}, [Region(Block(arg_types=types))]
    )


def _move(
    parsed: ParsedModule,
    section: SectionSimt,
    function: Function,
    values: dict[SSAValue, SSAValue],
    repeated: list[SSAValue],
) -> None:
    """The body of the section into that of the function."""
    block = function.body.block
    for old, new in values.items():
        new.name_hint = old.name_hint
        if (name := parsed.named(old)) is not None:
            parsed.names[new] = name
    for value in repeated:
        _repeat(parsed, value, block, values)
    for op in list(section.body.block.ops):
        op.detach()
        block.add_op(op)
        for inner in op.walk():
            for index, operand in enumerate(inner.operands):
                if operand in values:
                    inner.operands[index] = values[operand]
    end = Return.make()
    parsed.serve(end, section)
    block.add_op(end)


def _repeat(parsed: ParsedModule, value: SSAValue, block: Block, values: dict[SSAValue, SSAValue]) -> None:
    """A constant or a persistent buffer, made again in the function."""
    owner = value.owner
    assert isinstance(owner, Operation)
    if value in values:
        return
    for operand in owner.operands:
        if isinstance(operand.owner, Constant):
            _repeat(parsed, operand, block, values)
    block.add_op(parsed.copied(owner, values))


def is_launched(op: Operation) -> bool:
    """Whether a call launches workitems, with the dimensions that were stored last."""
    return type(op) is Call and op.function is not None and op.function.is_simt_entry
