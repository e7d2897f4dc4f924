"""From a vector scope of a parsed kernel to the tree that the vector-function model prices.

Calls are written out in place, each time with values of their own, because a path does not show them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.language.analysis.value_flow import handed_on
from ptosim.language.micro.conversion import VCvt
from ptosim.language.micro.demanded_lanes import Logical
from ptosim.language.micro.scope import StrictVecScope
from ptosim.language.micro.sim import SimInstructions
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure import control
from ptosim.language.structure.function import Call
from ptosim.language.types import MaskType, VregType, element_of
from ptosim.target.classes import TIMING_CLASSES
from ptosim.timing.program import (
    Body,
    ModelBranch,
    ModelInstruction,
    ModelLoop,
    ModelSequence,
    ModelWhile,
    Node,
    Values,
)

LineOf = Callable[[Operation], int]

_FREE = frozenset({"arith.constant", "scf.yield", "scf.condition", "func.return"})
_WIDTH = 4  # bytes, where no register and no mask says more


def vector_program(scope: Operation, line_of: LineOf) -> Body:
    """The body of a scope: of `pto.vecscope`, `pto.strict_vecscope` or a loop that is one."""
    frame = _Frame(line_of, iter(range(1 << 62)))
    if isinstance(scope, control.For):
        return (frame.loop(scope),)
    block = scope.regions[0].block
    if isinstance(scope, StrictVecScope):
        frame.name(block.args, frame.values(scope.operands))
    return frame.body(block)


def operations_written_out(op: Operation) -> int:
    """The number of operations inside of one, each call counting for what it calls."""
    return _written_out(op, {})


def _written_out(op: Operation, known: dict[Operation, int]) -> int:
    if op not in known:
        callees = [inner.function for inner in op.walk() if isinstance(inner, Call) and inner.function is not None]
        known[op] = sum(1 for _ in op.walk()) + sum(_written_out(callee, known) for callee in callees)
    return known[op]


class _Frame:
    """The values of one function while its operations become nodes."""

    def __init__(self, line_of: LineOf, fresh: Iterator[int]) -> None:
        self.line_of = line_of
        self.fresh = fresh
        self.numbers: dict[SSAValue, int] = {}

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, value: SSAValue) -> int:
        if value not in self.numbers:
            self.numbers[value] = next(self.fresh)
        return self.numbers[value]

    def values(self, values: Iterable[SSAValue]) -> Values:
        return tuple(map(self.value, values))

    def name(self, values: Sequence[SSAValue], numbers: Values) -> None:
        self.numbers.update(zip(values, numbers, strict=True))

    # --- nodes --------------------------------------------------------------------------------------------------------

    def body(self, block: Block) -> Body:
        return tuple(node for op in block.ops for node in self.nodes(op))

    def nodes(self, op: Operation) -> Iterator[Node]:
        match op:
            case control.For():
                yield self.loop(op)
            case control.If():
                yield self.branch(op)
            case control.While():
                yield self.repeat(op)
            case Call():
                yield from self.call(op)
            case SimInstructions():
                yield self.sequence(op)
            case _ if op.name not in _FREE:
                yield self.instruction(op)
            case _:
                pass

    def loop(self, op: control.For) -> ModelLoop:
        block = op.body.block
        _, *arguments = block.args
        return ModelLoop(
            self.body(block),
            self.values(op.iter_args),
            self.values(arguments),
            self.values(handed_on(block)),
            self.values(op.results),
            self.line_of(op),
            _trips(op),
        )

    def branch(self, op: control.If) -> ModelBranch:
        then, otherwise = op.true_region.block, op.false_region.block
        return ModelBranch(
            self.values([op.cond]),
            self.body(then),
            self.body(otherwise),
            self.values(handed_on(then)),
            self.values(handed_on(otherwise)),
            self.values(op.results),
            self.line_of(op),
        )

    def repeat(self, op: control.While) -> ModelWhile:
        before, after = op.before_region.block, op.after_region.block
        condition, *passed = handed_on(before)
        return ModelWhile(
            self.body(before),
            self.values([condition]),
            self.body(after),
            self.values(op.arguments),
            self.values(before.args),
            self.values(passed),
            self.values(after.args),
            self.values(handed_on(after)),
            self.values(op.results),
            self.line_of(op),
        )

    def call(self, op: Call) -> Iterator[Node]:
        callee = op.function
        if callee is None or callee.is_declaration:
            return
        block = callee.body.block
        inside = _Frame(self.line_of, self.fresh)
        inside.name(block.args, self.values(op.operands))
        yield from inside.body(block)
        self.name(op.results, inside.values(handed_on(block)))

    def sequence(self, op: SimInstructions) -> ModelSequence:
        times, repeats, size = (constant_of(value) for value in op.operands)
        name, width = op.word("instruction") or "", op.integer("width") or _WIDTH
        return ModelSequence(name, width, op.count_mode is not None, (times, repeats, size), self.line_of(op))

    def instruction(self, op: Operation) -> ModelInstruction:
        return ModelInstruction(
            op.name,
            _class(op),
            _width(op),
            self.values(_waited_for(op)),
            self.values(result for result in op.results if isinstance(result.type, VregType)),
            self.values(result for result in op.results if isinstance(result.type, MaskType)),
            self.values(result for result in op.results if not isinstance(result.type, VregType | MaskType)),
            self.line_of(op),
        )


def _waited_for(op: Operation) -> Iterable[SSAValue]:
    """The operands that must be there. Which lanes of a load count is nothing that hardware is told."""
    if isinstance(op, Logical):
        return [value for role, value in op.roles() if role != "mask"]
    return op.operands


def _trips(op: control.For) -> int | None:
    lower, upper, step = (constant_of(value) for value in (op.lb, op.ub, op.step))
    if lower is None or upper is None or step is None:
        return None
    return max(0, -((lower - upper) // step))


def _class(op: Operation) -> str:
    """The timing class. What an operation does with registers decides where its name alone does not."""
    registers = [value.type for value in (*op.operands, *op.results) if isinstance(value.type, VregType)]
    if isinstance(op, VCvt) and len({element_of(type_).is_integer for type_ in registers}) > 1:
        return "convert_int"
    if op.name == "arith.select" and any(isinstance(result.type, VregType) for result in op.results):
        return "select"
    record = effects().get(op.name)
    return record.timing if record and record.timing in TIMING_CLASSES else "other"


def _width(op: Operation) -> int:
    types = [value.type for value in (*op.operands, *op.results)]
    registers = (element_of(type_).bytes for type_ in types if isinstance(type_, VregType))
    masks = (type_.stride for type_ in types if isinstance(type_, MaskType))
    return next(registers, next(masks, _WIDTH))
