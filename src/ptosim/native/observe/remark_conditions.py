"""Conditions of remarks on single instructions, without words: where one holds, the block is judged.

Each is what the reference engine tells an observer of (`core.lint`, `core.complain` in its rooms), or more. Copies have
theirs where they are checked (native/routines/burst.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ptosim.effects.configuration import DIRECTIONS
from ptosim.effects.dma import OLDER
from ptosim.effects.names import Pipe
from ptosim.effects.record import Static
from ptosim.effects.sfu import LISTS, RECORD_BYTES, SORT_ALIGNMENT, SORT_WIDTH, list_count, list_valid, repeats
from ptosim.language.micro.arithmetic import VDiv
from ptosim.language.micro.conversion import VCvt
from ptosim.language.micro.dma_grouped import MteGmL1, MteGmUb, MteUbGm
from ptosim.language.micro.dma_registers import LOOP_SIZES
from ptosim.language.micro.pointer import AddPtr
from ptosim.language.micro.predicate import TAILS
from ptosim.language.micro.sfu import VBitsort, VMrgsort4
from ptosim.language.micro.sim import SimRequire
from ptosim.language.micro.sync_semaphore import WaitIntraBlock
from ptosim.language.micro.system import GetVms4Sr
from ptosim.language.micro.vector_memory import VStsX2
from ptosim.language.operation import PTOOperation
from ptosim.machine.sync import SLOT
from ptosim.native.build.issue import core_word
from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, I64, Value
from ptosim.native.observe import clocks, layout
from ptosim.native.vector.registers import Mask, any_lane

if TYPE_CHECKING:
    from ptosim.native.build.program import FunctionBody

FARTHEST = 1 << 47
"""Offsets beyond this, in elements, may wrap."""

Suspect = Callable[[Value], None]
Rule = Callable[["FunctionBody", PTOOperation, Static], Value]


def remark(body: FunctionBody, op: Operation, static: Static, clauses: Collection[str], suspect: Suspect) -> None:
    """Suspect an instruction where its rule says so, or where its address may wrap. `clauses` are the names of copies
    that the kernel has with clauses."""
    if not isinstance(op, PTOOperation):
        return
    if op.name in RULES:
        suspect(RULES[op.name](body, op, static))
    if op.name in COPIES:
        fresh = _fresh(body, COPIES[op.name])
        if OLDER in static.present:
            suspect(_loops(body, op) & (fresh.load(I32, 4) == 0))  # rounds that an earlier copy has used already
            if op.name in clauses:
                suspect(_overwritten(body, op))
        fresh.store(body.f.constant(I32, 0), 4)
    if "offset" in op.operand_roles:
        for value in op.segment("offset"):
            suspect(_far(body.scalar(value)))


def _far(offset: Value) -> Value:
    """Whether an offset may make an address wrap past 2^63."""
    wide = offset.signed(I64)
    if wide.range.within(-FARTHEST, FARTHEST):
        return wide.like(0) != 0
    return (wide + FARTHEST).compare("ugt", 2 * FARTHEST)


def _operand(body: FunctionBody, op: PTOOperation, role: str) -> Value:
    (value,) = op.segment(role)
    return body.scalar(value)


def _mask(body: FunctionBody, op: PTOOperation) -> Mask:
    (value,) = op.segment("mask")
    mask = body[value]
    assert isinstance(mask, Mask)
    return mask


def _not_full(mask: Mask, width: int) -> Value:
    """Whether some lane of a mask is off."""
    return any_lane(~mask.lanes(width))


def _addptr(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    return _operand(body, op, "pointer").compare("ugt", 1 << 62)


def _count(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    """A count is read without sign."""
    return _operand(body, op, "count") < 0


def _interleaved(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    """An interleaving store ignores its mask."""
    return _not_full(_mask(body, op), static.elements["low"].bytes)


def _shift(number: Value, amount: Value) -> Value:
    """A shift by the width has no defined result."""
    return amount.compare("uge", amount.kind.bits)


def _division(dividend: Value, divisor: Value) -> Value:
    """By zero, or of the lowest number by -1."""
    lowest = dividend == -(1 << (dividend.kind.bits - 1))
    return (divisor == 0) | ((divisor == -1) & lowest)


ARITHMETIC: Mapping[str, Callable[[Value, Value], Value]] = {
    **{f"arith.{name}": _shift for name in ("shli", "shrsi", "shrui")},
    **{
        f"arith.{name}": _division
        for name in ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi")
    },
}
"""Conditions on both operands, which may be lanes."""


def _of_operands(rule: Callable[[Value, Value], Value]) -> Rule:
    return lambda body, op, static: rule(_operand(body, op, "lhs"), _operand(body, op, "rhs"))


def _requirement(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    return _operand(body, op, "condition") ^ True


def _vector_division(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    """Active lanes of integers that divide by zero."""
    element = static.elements["rhs"]
    divisor = _operand(body, op, "rhs")
    if not element.is_integer:
        return body.f.constant(I1, 0)
    return any_lane((divisor == 0) & _mask(body, op).lanes(element.bytes))


def _widening(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    """No text says whether the mask of a widening conversion selects lanes of the source or of the result."""
    result, source = static.elements["result"], static.elements["input"]
    if result.bytes <= source.bytes:
        return body.f.constant(I1, 0)
    return _not_full(_mask(body, op), source.bytes)


def _whole_core(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    """A wait that names no pipe stops the scalar unit."""
    return body.f.constant(I1, int("pipe" not in static.words))


def _meet(one: tuple[Value, Value], other: tuple[Value, Value]) -> Value:
    """Whether two stretches, start and bytes, share one."""
    (first, size), (second, extent) = one, other
    return (size > 0) & (extent > 0) & (first < second + extent) & (second < first + size)


def _sort(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    """Addresses are those of granules, and what is written is not read."""
    dest, source, indices, repeat = (
        _operand(body, op, role).signed(I64) for role in ("dest", "source", "indices", "repeat")
    )
    count = repeat * SORT_WIDTH
    written = dest, count * RECORD_BYTES
    overlap = _meet(written, (source, count * static.elements["source"].bytes)) | _meet(written, (indices, count * 4))
    return overlap | ((repeat != 0) & (((dest | source | indices) & (SORT_ALIGNMENT - 1)) != 0))


def _merge(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    """A merge does not read the lists it writes; the scalar unit has to wait for its counts."""
    count, config = (_operand(body, op, role).signed(I64) for role in ("count", "config"))
    lengths = [list_count(count, number) * list_valid(config, number) for number in range(LISTS)]
    records = reduce(lambda one, other: one + other, lengths) * repeats(config)
    sources = [_operand(body, op, f"source{number}") for number in range(LISTS)]
    written = _operand(body, op, "dest"), records * RECORD_BYTES
    apart = [_meet(written, (source, length * RECORD_BYTES)) for source, length in zip(sources, lengths, strict=True)]
    again = (repeats(config) > 1) & _meet(written, (sources[0], records * RECORD_BYTES))
    stamp = clocks.count(body.f, SLOT[Pipe.V])
    clocks.at(body.f, layout.SORTED).store(stamp, 4)
    return reduce(lambda one, other: one | other, apart) | again


def _sort_status(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
    """The scalar unit reads counts that a sort may not have written yet."""
    sorted_ = clocks.at(body.f, layout.SORTED).load(I32, 4)
    return sorted_.compare("ugt", clocks.at(body.f, layout.KNOWN + 4 * SLOT[Pipe.V]).load(I32, 4))


# --- loop registers of copies, which should be written for each copy that relies on them ------------------------------


def _fresh(body: FunctionBody, direction: str) -> Value:
    """The address of the word that says whether the loop sizes were written since the last copy."""
    return clocks.at(body.f, layout.FRESH + 4 * DIRECTIONS.index(direction))


def _resizing(direction: str) -> Rule:
    def rule(body: FunctionBody, op: PTOOperation, static: Static) -> Value:
        _fresh(body, direction).store(body.f.constant(I32, 1), 4)
        return body.f.constant(I1, 0)

    return rule


def _overwritten(body: FunctionBody, op: PTOOperation) -> Value:
    """Whether a copy looks at strides or a pad value, which on hardware a copy with clauses may have overwritten."""
    pads = "pad_value" in op.operand_roles and bool(op.segment("pad_value"))
    return _loops(body, op) | body.f.constant(I1, pads)


def _loops(body: FunctionBody, op: PTOOperation) -> Value:
    """Whether a copy has loops of several rounds."""
    rounds = [body.scalar(count) != 1 for count in op.segment("loop_counts")]
    return reduce(lambda one, other: one | other, rounds, body.f.constant(I1, 0))


COPIES = {MteGmUb.name: "outtoub", MteUbGm.name: "ubtoout", MteGmL1.name: "outtol1"}
"""Copies that look at registers where they are older ones, and have hardware write them otherwise, by direction."""


def clause_copies(operations: Iterable[Operation]) -> frozenset[str]:
    """The names of copies that are written with clauses."""
    return frozenset(
        op.name
        for op in operations
        if op.name in COPIES and isinstance(op, PTOOperation) and op.attribute(OLDER) is None
    )


WORDS_AT_ONCE = 8


def left_over(f: FunctionBuilder, stretches: Mapping[int, int]) -> Value:
    """Whether one of these sync words is not 0, of which each stretch has a first and a number."""
    left = sorted({word for first, count in stretches.items() for word in range(first, first + count)})
    single, together = f.constant(I64, 0), f.constant(I64.vector(WORDS_AT_ONCE), 0)
    while left:
        first = core_word(f, left[0])
        if left[:WORDS_AT_ONCE] == list(range(left[0], left[0] + WORDS_AT_ONCE)):
            together = together | first.load(together.kind, WORD_BYTES)
            del left[:WORDS_AT_ONCE]
        else:
            single = single | first.load(I64, WORD_BYTES)
            del left[0]
    return (single != 0) | any_lane(together != 0)


RULES: Mapping[str, Rule] = {
    AddPtr.name: _addptr,
    **{tail.name: _count for tail in TAILS},
    VStsX2.name: _interleaved,
    VDiv.name: _vector_division,
    VCvt.name: _widening,
    SimRequire.name: _requirement,
    WaitIntraBlock.name: _whole_core,
    VBitsort.name: _sort,
    VMrgsort4.name: _merge,
    GetVms4Sr.name: _sort_status,
    **{setter.name: _resizing(direction) for direction, setter in LOOP_SIZES.items()},
    **{name: _of_operands(rule) for name, rule in ARITHMETIC.items()},
}
