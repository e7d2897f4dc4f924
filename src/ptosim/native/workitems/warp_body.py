"""The code of workitems becomes code of a warp: operations on lanes under a mask, control flow by what lanes decide."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Block, Operation, SSAValue

from ptosim.diagnostics import error
from ptosim.effects.element import Element
from ptosim.effects.names import CoreKind
from ptosim.effects.record import Static
from ptosim.effects.simt import WARP
from ptosim.language.operation import PTOOperation
from ptosim.language.simt.simt import MOST_WORKITEMS, SyncThreads
from ptosim.language.simt.spins import may_wait
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.language.structure.function import Call, Return
from ptosim.language.structure.scalar import Constant
from ptosim.language.types import element_name, element_of
from ptosim.native.build.catalogue import lowering_of
from ptosim.native.build.lowering import Bind, Lowering
from ptosim.native.control import LIMIT
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.ranges import IntegerRange
from ptosim.native.ir.values import I1, I8, I32, I64, PTR, Type, Value
from ptosim.native.workitems.coroutine import WarpCoroutine
from ptosim.native.workitems.even_lanes import even
from ptosim.native.workitems.values import (
    ALL_LANES,
    EvenLanes,
    PackedLanes,
    WarpValue,
    as_bits,
    as_vectors,
    from_vectors,
    numbers,
    parts_of,
    some_lane,
    spread,
    vector_types,
)
from ptosim.native.workitems.warp_core import WarpCore

if TYPE_CHECKING:
    from ptosim.native.build.program import ObjectBuilder

FIRST_PRIVATE = 64
"""The lowest address of private memory: nothing lies at 0."""

ON_WARPS: dict[str, Lowering] = {}
"""Lowerings for warps of operations that the scalar unit has as well, by name."""


def enter(name: str, function: Callable[..., Any], parameters: tuple[str, ...], bind: Bind | None = None) -> None:
    ON_WARPS[name] = Lowering(function, parameters, bind)


def on_warps(*operations: Any, bind: Bind | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say that a function lowers these operation classes in the code of workitems."""

    def entered(function: Callable[..., Any]) -> Callable[..., Any]:
        code = function.__code__
        for operation in operations:
            enter(operation.name, function, code.co_varnames[: code.co_argcount], bind)
        return function

    return entered


class WarpBody:
    """Operations of workitems becoming the code of one function."""

    def __init__(
        self, builder: ObjectBuilder, f: FunctionBuilder, number: Value, sizes: Sequence[Value], mask: Value, row: int
    ) -> None:
        self.builder, self.unit, self.f = builder, builder.unit, f
        self.watch = builder.unit.observer.workitems
        self.number, self.sizes = number, tuple(sizes)
        self.mask = self.existing = mask
        self.values: dict[SSAValue, WarpValue] = {}
        self.rows: dict[str, EvenLanes] = {}
        """Vectors whose lanes lie a known step apart, by their text."""
        self._varying: set[SSAValue] = set()
        """Values that loops carry and that differ between lanes."""
        self.left: list[Callable[[], None]] = []
        """Code that runs at the end."""
        self.clocks: Value | None = None
        self.arena = FIRST_PRIVATE
        """Bytes of private memory that are taken."""
        self.row = row
        """And that each workitem has."""
        self.private = f.slot(I8, WARP * row, 64) if row else f.poison(PTR)
        self.defined: Value | None = None
        """The bytes of private memory that have been stored to; None if doubtful values are not followed."""
        self.turns: WarpCoroutine | None = None
        """The turns of a warp that others may have to wait for."""
        self.barrier: Callable[[int], None] | None = None

    def core(self, op: Operation) -> WarpCore:
        return WarpCore(self.f, self.unit, CoreKind.AIV, partial(self.builder.site, op), [], self)

    def scalar_or_lanes(self, value: SSAValue) -> Value:
        found = self.values[value]
        assert isinstance(found, Value)
        return found

    @contextmanager
    def under(self, mask: Value) -> Generator[None]:
        before, self.mask = self.mask, mask
        yield
        self.mask = before

    # --- operations ---------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        match op:
            case Constant():
                self.values[op.result] = self._constant(op)
            case If():
                self._if(op)
            case For():
                self._for(op)
            case While():
                self._while(op)
            case Call():
                self._call(op)
            case SyncThreads():
                assert self.barrier is not None
                self.barrier(self.core(op).site("barrier", op.name))
            case Yield() | Condition() | Return():
                pass
            case _:
                self._instruction(op)

    def _constant(self, op: Constant) -> WarpValue:
        if op.is_dense:
            kind, count = parts_of(op.result.type)
            numbers = [op.patterns[number % len(op.patterns)] for number in range(count)]
            return PackedLanes(tuple(self.f.constant(kind, number) for number in numbers))
        return self.f.constant(Type(f"i{op.element.bits}"), op.pattern)

    def _instruction(self, op: Operation) -> None:
        lowering = ON_WARPS.get(op.name)
        is_whole = lowering is not None or getattr(op, "simt", "any") == "inside"
        lowering = lowering or lowering_of(op.name)
        if lowering is None:
            raise error("unsupported", f"{op.name} is not compiled yet", self.builder.site(op).location)
        static = self.builder.module.static(op)
        self.watch.instruction_begins(self, op)
        results = self._whole(op, lowering, static) if is_whole else self._lifted(op, lowering, static)
        for result, value in zip(op.results, results, strict=True):
            self.values[result] = value
        self.watch.instruction_ends(self, op)

    def _whole(self, op: Operation, lowering: Lowering, static: Static) -> Sequence[WarpValue]:
        facts = {**static.facts, **(lowering.bind(static) if lowering.bind is not None else {})}
        found = lowering.function(*(self._argument(op, name, static, facts) for name in lowering.parameters))
        return _results(found)

    def _argument(self, op: Operation, parameter: str, static: Static, facts: Mapping[str, Any]) -> Any:
        if parameter in facts:
            return facts[parameter]
        assert isinstance(op, PTOOperation)
        if parameter in op.operand_roles:
            return next((self.values[value] for value in op.segment(parameter)), None)
        match parameter:
            case "warp":
                return self
            case "f":
                return self.f
            case "core":
                return self.core(op)
            case "static":
                return static
            case "element" | "result_element":
                values = op.results if parameter == "result_element" else (*op.operands, *op.results)
                return next((element_of(each.type) for each in values if element_name(each.type) is not None), None)
            case _:
                return static.words.get(parameter, static.integers.get(parameter))

    def _lifted(self, op: Operation, lowering: Lowering, static: Static) -> Sequence[WarpValue]:
        """An operation of the scalar unit in every lane; part by part of packed values."""
        packed = [value for each in op.operands if isinstance(value := self.values[each], PackedLanes)]
        count = max((len(value.parts) for value in packed), default=0)
        if not count:
            return self._in_lanes(op, lowering, static, None)
        parts = replace(static, elements={role: _part(each) for role, each in static.elements.items()})
        rows = [self._in_lanes(op, lowering, parts, number) for number in range(count)]
        return [PackedLanes(tuple(cast(Value, row[place]) for row in rows)) for place in range(len(op.results))]

    def _in_lanes(self, op: Operation, lowering: Lowering, static: Static, part: int | None) -> Sequence[WarpValue]:
        facts = {**static.facts, **(lowering.bind(static) if lowering.bind is not None else {})}
        given = {value: self._part_of(value, part) for value in op.operands}
        rows = [self.row_of(given[value]) for value in op.operands]
        if any(value.kind.lanes for value in given.values()):
            given = {each: spread(self.f, value) for each, value in given.items()}
        arguments: list[Any] = []
        for name in lowering.parameters:
            if name not in facts and isinstance(op, PTOOperation) and name in op.operand_roles:
                arguments.append(next((given[value] for value in op.segment(name)), None))
            else:
                arguments.append(self._argument(op, name, static, facts))
        found = _results(lowering.function(*arguments))
        for result in found:
            if not isinstance(result, Value) or not result.kind.lanes:
                continue
            if (row := even(op.name, rows, result.kind.element)) is not None:
                self.rows[result.text] = row
        return found

    def row_of(self, value: Value) -> EvenLanes | None:
        """The distance between the lanes of a value, where that is known; 0 for one that is the same in all."""
        return self.rows.get(value.text) if value.kind.lanes else EvenLanes(value, 0)

    @property
    def is_full(self) -> Value:
        """Whether all lanes are active."""
        if self.mask.text == self.f.constant(I1.vector(WARP), 1).text:
            return self.f.constant(I1, 1)
        return as_bits(self.mask) == ALL_LANES

    def _part_of(self, value: SSAValue, part: int | None) -> Value:
        found = self.values[value]
        if isinstance(found, PackedLanes):
            assert part is not None
            return found.parts[part]
        return found

    def parts(self, value: SSAValue) -> Sequence[Value]:
        """The numbers of a value."""
        found = self.values[value]
        return found.parts if isinstance(found, PackedLanes) else (found,)

    # --- control flow -------------------------------------------------------------------------------------------------

    def _ends(self, block: Block) -> list[Value]:
        end = block.last_op
        given = end.arguments if isinstance(end, Yield) else ()
        return self._vectors(given)

    def _vectors(self, values: Sequence[SSAValue]) -> list[Value]:
        self.watch.crosses(self, values)
        return [part for value in values for part in as_vectors(self.f, self.values[value])]

    def _take(self, names: Sequence[SSAValue], vectors: Sequence[Value]) -> None:
        rest = iter(vectors)
        self.values.update({name: from_vectors(name.type, rest) for name in names})

    def _zeros(self, values: Sequence[SSAValue]) -> list[Value]:
        return [self.f.constant(kind, 0) for kind in vector_types(value.type for value in values)]

    def _if(self, op: If) -> None:
        self.watch.decides(self, op.cond)
        f, condition, outer = self.f, self.scalar_or_lanes(op.cond), self.mask
        blocks = op.true_region.block, op.false_region.block

        def side(block: Block, mask: Value) -> list[Value]:
            with self.under(mask):
                self.block(block)
                return self._ends(block)

        if not condition.kind.lanes:
            found = f.choose(condition, lambda: side(blocks[0], outer), lambda: side(blocks[1], outer))
            self._take(op.results, found)
            return
        results: list[list[Value]] = []
        for block, mask in zip(blocks, (outer & condition, outer & ~condition), strict=True):
            if not op.results and len(list(block.ops)) <= 1:
                results.append([])
                continue
            some = some_lane(f, mask)
            results.append(
                f.choose(some, lambda block=block, mask=mask: side(block, mask), lambda: self._zeros(op.results))
            )
        chosen = [condition.select(one, other) for one, other in zip(*results, strict=True)] if op.results else []
        self._take(op.results, chosen)

    def _round(self, op: Operation) -> None:
        """A loop goes round; one that waits at a barrier in each round has its turn anew."""
        if self.turns is not None and not any(isinstance(inner, SyncThreads) for inner in op.regions[-1].block.ops):
            self.turns.round()

    def changes(self) -> None:
        """Something happens that a later round of a loop may notice."""
        if self.turns is not None and self.turns.may_wait:
            self.turns.change()

    def _for(self, op: For) -> None:
        core = self.core(op)
        for bound in (op.lb, op.ub, op.step):
            self.watch.decides(self, bound)
        lower, upper, step = (self.scalar_or_lanes(value) for value in (op.lb, op.ub, op.step))
        core.fail_in(step <= 0, "arithmetic", "the step of scf.for must be positive, not {}", step, is_single=True)
        if lower.kind.lanes or upper.kind.lanes or step.kind.lanes:
            self._diverging_for(op, lower, upper, step)
            return
        before, values = self.f.mark(), dict(self.values)
        while not self._uniform_for(op, lower, upper, step):
            self.f.go_back(before)
            self.values = dict(values)

    def _uniform_for(self, op: For, lower: Value, upper: Value, step: Value) -> bool:
        """A loop that all lanes take alike; False where it carries another value, too, that varies from lane to
        lane."""
        f, outer = self.f, self.mask
        index, *arguments = op.body.block.args
        start = [lower, lower < upper, *self._carried(arguments, op.iter_args)]
        count = len(self._varying)

        def body(entering: list[Value]) -> Sequence[Value]:
            number, _, *carried = entering
            self._round(op)
            self.values[index] = number
            self._take(arguments, carried)
            self.block(op.body.block)
            end = op.body.block.last_op
            ends = self._carried(arguments, end.arguments if isinstance(end, Yield) else ())
            more = (upper - number).compare("ugt", step)
            return [number + step, more, *(ends if outer is self.existing else _merged(f, outer, ends, carried))]

        last = f.while_loop(start, lambda entering: (entering[1], entering), body, self.core(op).site("limit", LIMIT))
        self._take(op.results, last[2:])
        return len(self._varying) == count

    def _carried(self, names: Sequence[SSAValue], values: Sequence[SSAValue]) -> list[Value]:
        """Values as a loop carries them under these names: those that are the same in all lanes by themselves."""
        parts: list[Value] = []
        self.watch.crosses(self, values)
        for name, value in zip(names, values, strict=True):
            found = self.values[value]
            if name not in self._varying and (isinstance(found, PackedLanes) or found.kind.lanes):
                self._varying.add(name)
            parts += [found] if isinstance(found, Value) and name not in self._varying else as_vectors(self.f, found)
        return parts

    def _diverging_for(self, op: For, lower: Value, upper: Value, step: Value) -> None:
        """A loop of which each lane has its own index."""
        f, core, outer = self.f, self.core(op), self.mask
        row = None if step.kind.lanes else self.row_of(lower)
        lower, upper, step = (spread(f, value) for value in (lower, upper, step))
        index, *arguments = op.body.block.args
        firsts = [] if row is None else [row.first]
        start = [lower, outer & (lower < upper), *firsts, *self._vectors(op.iter_args)]

        def look(entering: list[Value]) -> tuple[Value, Sequence[Value]]:
            return some_lane(f, entering[1]), entering

        def body(entering: list[Value]) -> Sequence[Value]:
            (number, still), carried = entering[:2], entering[2 + len(firsts) :]
            self._round(op)
            following: list[Value] = []
            if row is not None and step.uniform is not None:
                self.rows[number.text] = EvenLanes(entering[2], row.step, row.sure)
                following.append(entering[2] + step.uniform)
            self.values[index] = number
            self._take(arguments, carried)
            with self.under(still):
                self.block(op.body.block)
                ends = self._ends(op.body.block)
            more = (upper - number).compare("ugt", step)
            return [number + step, still & more, *following, *_merged(f, still, ends, carried)]

        last = f.while_loop(start, look, body, core.site("limit", LIMIT))
        self._take(op.results, last[2 + len(firsts) :])

    def _while(self, op: While) -> None:
        f = self.f
        before, after = op.before_region.block, op.after_region.block
        condition = cast(Condition, before.last_op)
        count = len(vector_types(value.type for value in op.arguments))
        start = [self.mask, *self._vectors(op.arguments), *self._zeros(op.results)]
        turns = self.turns if may_wait(op) else None
        found: list[tuple[Value, Value]] = []

        def look(entering: list[Value]) -> tuple[Value, Sequence[Value]]:
            mask = entering[0]
            if turns is not None:
                found[:] = [turns.look()]
            self._take(before.args, entering[1 : 1 + count])
            with self.under(mask):
                self.block(before)
                self.watch.decides(self, condition.condition)
            handed = self._vectors(condition.arguments)
            results = _merged(f, mask, handed, entering[1 + count :])
            going = mask & spread(f, self.scalar_or_lanes(condition.condition))
            return some_lane(f, going), [going, *entering[1 : 1 + count], *results, *handed, mask]

        def body(entering: list[Value]) -> Sequence[Value]:
            going, carried = entering[0], entering[1 : 1 + count]
            results = entering[1 + count : 1 + count + len(self._zeros(op.results))]
            self._round(op)
            self._take(after.args, entering[1 + count + len(results) :])
            with self.under(going):
                self.block(after)
                ends = self._ends(after)
            merged = _merged(f, going, ends, carried)
            if turns is not None:
                differs = entering[-1] ^ going
                for one, other in zip(merged, carried, strict=True):
                    differs = differs | (one != other)
                turns.rest(found[0], as_bits(differs) == 0, self.core(op).site("limit", LIMIT))
            return [going, *merged, *results]

        last = f.while_loop(start, look, body, self.core(op).site("limit", LIMIT))
        self._take(op.results, last[1 + count :])

    def _call(self, op: Call) -> None:
        f, callee = self.f, op.function
        if callee is None or callee.is_declaration:
            message = f"@{op.symbol} is only declared; there is no body to run"
            self.core(op).fail_in(f.constant(I1, 1), "unsupported", message, is_single=True)
            self._take(op.results, self._zeros(op.results))
            return
        f.count_steps(f.constant(I64, 1), self.core(op).site("limit", LIMIT))
        f.settle(poll=True)
        self._round(op)
        self.values.update({name: self.values[value] for name, value in zip(callee.args, op.arguments, strict=True)})
        self.watch.renamed(op.arguments, callee.args)
        self.block(callee.body.block)
        end = callee.body.block.last_op
        given = end.operands if end is not None else ()
        self.values.update({name: self.values[value] for name, value in zip(op.results, given, strict=True)})
        self.watch.renamed(given, op.results)

    @property
    def first_workitem(self) -> Value:
        """The number of the lowest workitem of the warp, i32."""
        first = (self.number * WARP).trunc(I32)
        return first.with_range(IntegerRange(0, MOST_WORKITEMS - WARP, 5)) if first.literal is None else first

    @property
    def lanes(self) -> Value:
        """The number of each workitem, i32."""
        first = self.first_workitem
        found = spread(self.f, first) + numbers(self.f, I32)
        self.rows[found.text] = EvenLanes(first, 1)
        return found


def _merged(f: FunctionBuilder, mask: Value, new: Sequence[Value], old: Sequence[Value]) -> list[Value]:
    """The new values where the mask has a lane. One that comes to vary may have entered as the same in all lanes."""
    pairs = zip(new, old, strict=True)
    return [mask.select(one, spread(f, other)) if one.kind.lanes else one for one, other in pairs]


def _part(element: Element) -> Element:
    return element.part or element


def _results(outcome: Any) -> tuple[WarpValue, ...]:
    if outcome is None:
        return ()
    return cast("tuple[WarpValue, ...]", outcome) if isinstance(outcome, tuple) else (outcome,)
