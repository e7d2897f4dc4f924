"""Loops, branches, calls and constants. Masks cross a join with as few lanes as both sides allow (build/state.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation, Region

from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.sim_signal import WORD
from ptosim.language.analysis.polling_loops import poll_of
from ptosim.language.micro.pointer import looks_at_memory
from ptosim.language.simt.private_memory import LLVMConstant
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.language.structure.function import Call, Return
from ptosim.language.structure.function import Function as PTOFunction
from ptosim.language.structure.scalar import Constant
from ptosim.language.types import AlignType, MaskType, PtrType, VregType, element_of
from ptosim.native.build import state
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I8, I32, I64, Type, Value
from ptosim.native.routines.row_transfer import address_of
from ptosim.native.vector.numbers import lane_type
from ptosim.native.vector.registers import full_mask, register_type

if TYPE_CHECKING:
    from ptosim.native.build.program import FunctionBody

LIMIT = "more than {max_steps} loop iterations and calls in one block (max_steps)"


def _for(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, For)
    f, core = body.f, body.core(op)
    lower, upper, step = (body.scalar(value) for value in (op.lb, op.ub, op.step))
    if step.literal is None or step.literal <= 0:
        core.fail(step <= 0, "arithmetic", "the step of scf.for must be positive, not {}", step)
        f.settle()  # the number of iterations is a quotient
        step = step if step.literal is None else step.like(1)
    body.unit.observer.loop(body, op, lower, upper, step)
    site = core.site("limit", LIMIT)
    index, *arguments = op.body.block.args
    body.crosses(op.iter_args)
    initial = [body[value] for value in op.iter_args]

    def attempt(shapes: list[state.CrossingShape]) -> None:
        def iteration(number: Value, carried: list[Value]) -> Sequence[Value]:
            body.values[index] = number
            body.values.update(zip(arguments, state.all_together(f, shapes, carried, initial), strict=True))
            body.block(op.body.block)
            return body.handed_on(op, shapes, _ends(body, op.body))

        last = f.for_loop(lower, upper, step, state.all_apart(initial, shapes), iteration, site)
        body.values.update(zip(op.results, state.all_together(f, shapes, last, initial), strict=True))

    body.joined(op, [state.shape_of(value) for value in initial], attempt)


def _while(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, While)
    f = body.f
    before, after = op.before_region.block, op.after_region.block
    condition = before.last_op
    assert isinstance(condition, Condition)
    site = body.core(op).site("limit", LIMIT)
    polls = body.core(op).unit.together and looks_at_memory(op)
    body.crosses(op.arguments)
    initial = [body[value] for value in op.arguments]
    observer = body.unit.observer
    kept = observer.rounds_begin(body, op)

    def attempt(shapes: list[state.CrossingShape]) -> None:
        def decide(carried: list[Value]) -> tuple[Value, Sequence[Value]]:
            body.values.update(zip(before.args, state.all_together(f, shapes, carried, initial), strict=True))
            body.block(before)
            body.crosses(condition.arguments)
            return body.scalar(condition.condition), ()

        def iterate(_: list[Value]) -> Sequence[Value]:
            observer.round(body, kept)
            body.values.update(zip(after.args, [body[value] for value in condition.arguments], strict=True))
            body.block(after)
            if polls:
                _poll(body, op)
            return body.handed_on(op, shapes, _ends(body, op.after_region))

        f.while_loop(state.all_apart(initial, shapes), decide, iterate, site)
        observer.rounds_end(body, kept)
        body.values.update(zip(op.results, [body[value] for value in condition.arguments], strict=True))

    body.joined(op, [state.shape_of(value) for value in initial], attempt)


def _poll(body: FunctionBody, op: While) -> None:
    """A loop goes round that looks at words in GM: others get a turn."""
    poll = poll_of(op)
    if poll is None:
        body.core(op).issue("poll")
        return
    core = body.core(poll.load)
    address = body.scalar(poll.load.pointer) + body.scalar(poll.load.offset) * WORD
    place, _ = core.global_place("reads", address, WORD, WORD)
    value = body.scalar(poll.value).sext(I64)
    core.issue("poll", [poll.comparison], [address, address_of(place.address), value])


def _if(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, If)
    f, condition = body.f, body.scalar(op.cond)
    body.unit.observer.branch(body, op, condition)
    ends: list[state.Native] = []

    def attempt(shapes: list[state.CrossingShape]) -> None:
        known = list(shapes)

        def arm(region: Region) -> Sequence[Value]:
            body.block(region.block)
            ends[:] = _ends(body, region)
            known[:] = known or [state.shape_of(value) for value in ends]  # the first side decides
            return body.handed_on(op, known, ends)

        parts = f.choose(condition, lambda: arm(op.true_region), lambda: arm(op.false_region))
        body.values.update(zip(op.results, state.all_together(f, known, parts, ends), strict=True))

    body.joined(op, (), attempt)


def _ends(body: FunctionBody, region: Region) -> list[state.Native]:
    """The values that a region passes on at its end."""
    last = region.block.last_op
    assert isinstance(last, Yield)
    body.crosses(last.arguments)
    return [body[value] for value in last.arguments]


# --- calls ------------------------------------------------------------------------------------------------------------


def _call(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, Call)
    f, callee = body.f, op.function
    likes = [_some(f, result.type) for result in op.results]
    if callee is None or callee.is_declaration:
        message = f"@{op.symbol} is only declared; there is no body to run"
        body.core(op).fail(f.constant(I1, 1), "unsupported", message)
        f.settle()
        body.values.update(zip(op.results, likes, strict=True))
        return
    f.count_steps(f.constant(I64, 1), body.core(op).site("limit", LIMIT))
    f.settle(poll=True)
    if body.in_scope and body.unit.observer.is_unfolded(f):
        _inline(body, op, callee)
        return
    body.crosses(op.arguments)
    given = [body[value] for value in op.arguments]
    indices = [index.signed(I64) for index in f.loops]
    results = f.call(_helper(body, callee, given), *indices, *_passed(given, _shapes(given)))
    body.values.update(zip(op.results, _received(f, results, likes), strict=True))


def _inline(body: FunctionBody, op: Call, callee: PTOFunction) -> None:
    """The operations of a callee in place of its call, so that what is known of the scope is known of them."""
    body.renamed(op.arguments, callee.args)
    body.block(callee.body.block)
    end = callee.body.block.last_op
    assert isinstance(end, Return)
    body.renamed(end.arguments, op.results)


def _helper(body: FunctionBody, callee: PTOFunction, given: Sequence[state.Native]) -> FunctionBuilder:
    """The function of a callee: one for each depth of loops that it is called in and each shape of its arguments."""
    builder, depth, observer = body.builder, len(body.f.loops), body.unit.observer
    key = (callee, body.kind, body.in_scope, depth, tuple(_shapes(given)), observer.scope_of(body.f))
    if key not in builder.helpers:
        likes = [_some(body.f, type_) for type_ in callee.return_types]
        kinds = [I64] * depth + _passed_kinds(given)
        function = builder.unit.module.function(
            f"helper{len(builder.helpers)}", kinds, _passed_kinds(likes), "internal"
        )
        builder.helpers[key] = function
        function.loops = function.parameters[:depth]
        inner = body.beside(function)
        inner.values.update(zip(callee.args, _received(function, function.parameters[depth:], given), strict=True))
        observer.helper_begins(body.f, function, callee.args)
        inner.block(callee.body.block)
        end = callee.body.block.last_op
        assert isinstance(end, Return)
        inner.crosses(end.arguments)
        function.finish(*_passed([inner[value] for value in end.arguments], _shapes(likes)))
    return builder.helpers[key]


def _some(function: FunctionBuilder, type_: Attribute) -> state.Native:
    """Some value of a type, in the shape that holds every one: a result of a function or of code never reached."""
    if isinstance(type_, MaskType):
        return full_mask(function, 1)
    if isinstance(type_, AlignType):
        zero = function.constant(I64, 0)
        return state.Align(zero, zero, function.constant(I8.vector(state.ALIGN_BYTES), 0))
    if isinstance(type_, VregType):
        return function.constant(register_type(lane_type(element_of(type_))), 0)
    return function.constant(I64 if isinstance(type_, PtrType) else Type(f"i{element_of(type_).bits}"), 0)


def _shapes(values: Sequence[state.Native]) -> list[state.CrossingShape]:
    return [state.shape_of(value) for value in values]


def _passed_kind(kind: Type) -> Type:
    """The form of a part in a call: conditions as bits of integers, registers as words, which every processor passes.
    (256 bits are four integers: with AVX2 LLVM mixes up the lanes of an i256 that comes out of a call.)"""
    if kind.lanes and kind.element == I1:
        return I64.vector(kind.lanes // 64) if kind.lanes > 64 else Type(f"i{kind.lanes}")
    return I32.vector(VECTOR_BYTES // 4) if kind.lanes * kind.bits == 8 * VECTOR_BYTES else kind


def _passed_kinds(values: Sequence[state.Native]) -> list[Type]:
    return [_passed_kind(kind) for shape in _shapes(values) for kind in state.kinds_of(shape)]


def _passed(values: Sequence[state.Native], shapes: Sequence[state.CrossingShape]) -> list[Value]:
    return [part.bitcast(_passed_kind(part.kind)) for part in state.all_apart(values, shapes)]


def _received(function: FunctionBuilder, parts: Sequence[Value], likes: Sequence[state.Native]) -> list[state.Native]:
    shapes = _shapes(likes)
    kinds = [kind for shape in shapes for kind in state.kinds_of(shape)]
    return state.all_together(
        function, shapes, (part.bitcast(kind) for part, kind in zip(parts, kinds, strict=True)), likes
    )


# --- the rest ---------------------------------------------------------------------------------------------------------


def _constant(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, Constant)
    if op.is_dense:  # for tile operations, which are gone
        return
    body.values[op.result] = body.f.constant(Type(f"i{op.element.bits}"), op.pattern)


def _passed_over(body: FunctionBody, op: Operation) -> None:
    """Terminators of regions: what they end reads them."""


STRUCTURED: dict[str, Callable[[FunctionBody, Operation], None]] = {
    "arith.constant": _constant,
    LLVMConstant.name: _constant,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.yield": _passed_over,
    "scf.condition": _passed_over,
    "func.call": _call,
    "func.return": _passed_over,
}
