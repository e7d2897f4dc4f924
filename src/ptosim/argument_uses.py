"""Uses of the parameters of a kernel in its text: sizes, bounds, divisors, strides, and contexts of windows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ptosim.language.analysis.scalar_rules import evaluated, rule_of
from ptosim.language.micro.pointer import AddPtr, CastPtr, LdDev, LoadScalar
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For
from ptosim.language.structure.function import Call, Function, Return
from ptosim.language.tile.comm import TNotify, TTest, TWait
from ptosim.language.tile.tensor_view import MakeTensorView, PartitionView
from ptosim.language.tile.tile_view import Allocation

DIMENSIONS = re.compile(r"[<\s](\d+)x(?:(\d+)x)?(?=[a-z!])")
_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")
_FIRST_WINDOW_WORD = 4
"""In a context: where the windows of the ranks begin."""


@dataclass
class ParameterUses:
    """Things that the values of a parameter meet."""

    constants: dict[int, None] = field(default_factory=dict[int, None])
    """Integers that it is compared with, divided by, counted by."""
    pitches: dict[int, None] = field(default_factory=dict[int, None])
    """Sides of the tiles and views that it measures."""
    extents: dict[int, None] = field(default_factory=dict[int, None])
    """Sides of the tiles of which it is the valid part."""
    rows: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    """The lengths of the rows of views of it."""
    bounds: bool = False
    """It bounds a loop."""
    begins: bool = False
    """A loop begins with it."""
    scales: bool = False
    """It is a factor beside indices, and nothing else: a pitch."""
    signals: bool = False
    """A word in GM is set to it, or waited for until it holds it."""
    measures: bool = False
    """It is a size, or it decides something."""


def uses_of(starts: Sequence[SSAValue]) -> ParameterUses:
    """Everything that is computed from these values, followed into loops and functions."""
    found = ParameterUses()
    for value, op in _followed(starts):
        _note(op, value, found)
        found.begins |= isinstance(op, For) and value is op.lb and _is_same(value, starts)
    direct = [op for value, op in _followed(starts) if _is_same(value, starts) and op.name not in _CASTS]
    found.scales = bool(direct) and all(map(_is_product, direct))
    return found


def _is_product(op: Operation) -> bool:
    return op.name == "arith.muli" and all(constant_of(operand) is None for operand in op.operands)


def _is_same(value: SSAValue, starts: Sequence[SSAValue]) -> bool:
    """Whether a value is one of these in another width."""
    while value not in starts and isinstance(value.owner, Operation) and value.owner.name in _CASTS:
        value = value.owner.operands[0]
    return value in starts


def _followed(starts: Sequence[SSAValue]) -> Iterator[tuple[SSAValue, Operation]]:
    """Each value that comes of these, with each operation that takes it."""
    seen: set[SSAValue] = set()
    pending = list(starts)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in tuple(value.uses):
            yield value, use.operation
            pending += _results(use.operation, value)


def _results(op: Operation, value: SSAValue) -> Iterator[SSAValue]:
    """The values that come of one in an operation."""
    if isinstance(op, For):
        if value is op.lb:
            yield op.body.block.args[0]
    elif isinstance(op, Call):
        callee = op.function
        if isinstance(callee, Function) and not callee.is_declaration:
            for operand, argument in zip(op.operands, callee.body.block.args, strict=False):
                if operand is value:
                    yield argument
    elif isinstance(op, AddPtr | LoadScalar | LdDev):
        yield from op.results if value is op.pointer else ()
    elif op.name.startswith("arith.") or isinstance(op, CastPtr):
        yield from op.results


def _note(op: Operation, value: SSAValue, found: ParameterUses) -> None:
    """Keep what an operation does with a value."""
    match op:
        case For():
            if value in (op.ub, op.lb):
                found.bounds = found.measures = True
                for constant in (*_constants_behind(op.step), *_inside(op)):
                    found.constants.setdefault(constant)
        case PartitionView():
            if value in op.sizes or value is op.source:
                found.measures = True
                _note_sides(op, found)
        case MakeTensorView():
            if value is op.pointer:
                found.rows.setdefault(op.shape[-1])
            found.measures |= value in op.shape
            _note_sides(op, found)
        case Allocation():
            found.measures = True
            for role, extent in zip(("valid_row", "valid_col"), op.tile.shape, strict=True):
                if value in op.segment(role):
                    found.extents.setdefault(extent)
            _note_sides(op, found)
        case AddPtr() | CastPtr() | LoadScalar() | LdDev() | Call():
            pass
        case _ if op.name.startswith("arith."):
            for constant in map(constant_of, op.operands):
                if constant is not None and op.name not in ("arith.addi", "arith.subi", "arith.muli"):
                    found.constants.setdefault(constant)
        case _ if op.name.startswith("pto."):
            found.signals |= isinstance(op, TNotify | TWait | TTest)
            found.measures = True
            _note_sides(op, found)
        case _:
            found.measures = True


def _note_sides(op: Operation, found: ParameterUses) -> None:
    for type_ in (*(result.type for result in op.results), *(operand.type for operand in op.operands)):
        for side in (int(side) for match in DIMENSIONS.findall(str(type_)) for side in match if side):
            found.pitches.setdefault(side)


def _constants_behind(value: SSAValue, depth: int = 4) -> Iterator[int]:
    """The constants that a value is computed from."""
    if (constant := constant_of(value)) is not None:
        yield constant
    elif depth and isinstance(value.owner, Operation):
        for operand in value.owner.operands:
            yield from _constants_behind(operand, depth - 1)


def _inside(loop: For) -> Iterator[int]:
    """Sizes by which a loop cuts what it goes over."""
    for op in loop.body.block.ops:
        if op.name in ("arith.minsi", "arith.minui"):
            for operand in op.operands:
                yield from _constants_behind(operand, 0)


# --- strides ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stride:
    """A parameter as the stride of a dimension of a view."""

    view: MakeTensorView
    dimension: int

    def dense(self, known: Mapping[SSAValue, int]) -> int | None:
        """The stride with which the dimensions behind it leave no hole; `known`: the values of parameters."""
        count = 1
        for size in self.view.shape[self.dimension + 1 :]:
            extent = value_under(size, known)
            if extent is None:
                return None
            count *= max(1, extent)
        return count


def strides_of(starts: Sequence[SSAValue]) -> list[Stride]:
    """The views of which values are strides, if they are nothing else."""
    found: list[Stride] = []
    for value, op in _followed(starts):
        if isinstance(op, MakeTensorView) and value in op.strides and value not in op.shape:
            found.append(Stride(op, list(op.strides).index(value)))
        elif op.name not in _CASTS:
            return []
    return found


def value_under(value: SSAValue, known: Mapping[SSAValue, int], depth: int = 16) -> int | None:
    """A number where it follows from the values of parameters."""
    if (number := constant_of(value)) is not None:
        return number
    if value in known:
        return known[value]
    owner = value.owner
    if not depth or not isinstance(owner, Operation) or (rule := rule_of(owner)) is None:
        return None
    return evaluated(rule, [value_under(operand, known, depth - 1) for operand in owner.operands])


# --- contexts of ranks ------------------------------------------------------------------------------------------------


def is_context(starts: Sequence[SSAValue]) -> bool:
    """Whether a pointer is the context of a window: the difference of two of its words, found behind the fourth,
    moves a pointer."""
    words = {value for value, _ in _followed(starts) if _is_window_word(value)}
    differences = dict.fromkeys(
        op for _, op in _followed(starts) if op.name == "arith.subi" and words.issuperset(op.operands)
    )
    return any(_moves_pointer(op.results[0]) for op in differences)


def _is_window_word(value: SSAValue) -> bool:
    load = value.owner
    if not isinstance(load, LoadScalar | LdDev):
        return False
    return any(constant >= _FIRST_WINDOW_WORD for constant in _constants_behind(load.offset, 2))


def _moves_pointer(difference: SSAValue) -> bool:
    """Whether a pointer is moved by it, perhaps where the function that computes it is called."""
    pending, seen = [difference], set[SSAValue]()
    while pending:
        start = pending.pop()
        if start in seen:
            continue
        seen.add(start)
        for value, op in _followed([start]):
            if isinstance(op, AddPtr) and value is not op.pointer:
                return True
            if isinstance(op, Return) and isinstance(function := op.parent_op(), Function):
                pending += _returned(function, list(op.operands).index(value))
    return False


def _returned(function: Function, position: int) -> Iterator[SSAValue]:
    module = function.parent_op()
    for op in module.walk() if module is not None else ():
        if isinstance(op, Call) and op.function is function:
            yield op.results[position]
