"""Demanded lanes: the first lanes of a load that some use needs, as far as masks of counts say so before the load.

A kernel may load more lanes than it uses, past its data or into bytes that others store: the rest of a load is then no
access. A demand is a number of first lanes, as a closed form of counts that are known or are values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.ir import Block, Operation, SSAValue

from ptosim.language.analysis.fast_walk import around
from ptosim.language.builder import Number, known
from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType
from ptosim.language.structure.function import Function
from ptosim.language.vmi.vmi_mask import VmiAll, VmiFirst, VmiFirstByName, VmiTail
from ptosim.language.vmi.vmi_older_memory import VmiChannelMerge, VmiChannelSplit
from ptosim.language.vmi.vmi_operation import VmiOperation
from ptosim.language.vmi.vmi_rearrange import VmiDeinterleave, VmiInterleave
from ptosim.vmi.writer import Writer

Form = Callable[[Writer], Number]


@dataclass(frozen=True)
class LaneDemand:
    """The first lanes of a vector: how many, and the values that say so."""

    form: Form
    values: frozenset[SSAValue] = frozenset()
    all: bool = False
    """Whether it is every lane."""
    none: bool = False
    """Whether it is known to be no lane."""
    mask: SSAValue | None = None
    """A mask of just these lanes."""


def demands(function: Function) -> dict[SSAValue, LaneDemand]:
    """The needed lanes of each loaded vector, if these are not all."""
    reading = _Reading({})
    found: dict[SSAValue, LaneDemand] = {}
    for op in function.walk():
        if isinstance(op, VmiOperation) and _is_plain_load(op):
            demand = reading.of(op.results[0])
            if op.results[0].uses and not demand.all and all(_is_before(value, op) for value in demand.values):
                is_made = demand.mask is not None and _is_before(demand.mask, op)
                found[op.results[0]] = demand if is_made else replace(demand, mask=None)
    return found


def _is_plain_load(op: VmiOperation) -> bool:
    name = op.name.rpartition(".")[2]
    plain = name == "vload" and not op.segment("stride") and op.word("dist_mode") in (None, "continuous")
    return name == "load" or (plain and not op.segment("block_stride"))


def _is_before(value: SSAValue, op: Operation) -> bool:
    """Whether a value is there when an operation runs."""
    owner = value.owner
    blocks = [each.parent_block() for each in (op, *around(op))]
    if isinstance(owner, Block):
        return owner in blocks
    block = owner.parent_block()
    if block not in blocks:
        return False
    at: Operation | None = (op, *around(op))[blocks.index(block)]
    while at is not None and at is not owner:
        at = at.prev_op
    return at is owner


@dataclass
class _Reading:
    """The demands that have been worked out, by vector."""

    known: dict[SSAValue, LaneDemand]

    def of(self, value: SSAValue) -> LaneDemand:
        if value not in self.known:
            assert isinstance(value.type, LogicalVectorType)
            lanes = value.type.lanes
            self.known[value] = _whole(lanes)  # for what comes round to itself
            uses = [self._by(use.operation, use.index, lanes) for use in value.uses]
            self.known[value] = _most(uses, lanes)
        return self.known[value]

    def _by(self, op: Operation, index: int, lanes: int) -> LaneDemand:
        """The lanes of an operand that one operation needs."""
        if not isinstance(op, VmiOperation):
            return _whole(lanes)
        name, role = op.name.rpartition(".")[2], op.role_at(index)
        if name in ("store", "masked_store") or (name == "vstore" and _is_plain_store(op)):
            return _masked(op, "mask", lanes)
        if name.startswith(("vcadd", "vcmax", "vcmin", "reduce_")):
            return _masked(op, "mask", lanes) if _is_whole(op) else _whole(lanes)
        if name in ("vcmp", "vcmps"):
            return _masked(op, "seed", lanes)
        if name in ("vsel", "select"):
            result = self.of(op.results[0])
            return _least(result, _masked(op, "mask", lanes)) if role == "on_true" else result
        if name in _CONVERSIONS:
            return self.of(op.results[0])
        if op.by_lanes and len(op.results) == 1 and isinstance(op.results[0].type, LogicalVectorType):
            return _least(self.of(op.results[0]), _masked(op, "mask", lanes))
        if isinstance(op, VmiInterleave | VmiDeinterleave):
            return self._of_pairs(op, role, lanes)
        if isinstance(op, VmiChannelSplit | VmiChannelMerge):
            return self._of_channels(op, index, lanes)
        return _whole(lanes)

    def _of_channels(self, op: VmiChannelSplit | VmiChannelMerge, index: int, lanes: int) -> LaneDemand:
        """Every n-th lane, of one vector or of several."""
        demands = [self.of(result) for result in op.results]
        values = frozenset[SSAValue]().union(*(demand.values for demand in demands))
        if any(demand.all for demand in demands):
            return _whole(lanes)
        count = len(op.results) if isinstance(op, VmiChannelSplit) else len(op.operands)

        def split(write: Writer) -> Number:
            most: Number = 0
            for demand in demands:
                most = write.build.most(most, demand.form(write))
            return write.build.least(write.build.times(most, count), lanes)

        def merged(write: Writer) -> Number:
            return write.build.quotient(write.build.plus(demands[0].form(write), count - 1 - index), count)

        form = split if isinstance(op, VmiChannelSplit) else merged
        return LaneDemand(form, values, none=all(demand.none for demand in demands))

    def _of_pairs(self, op: VmiInterleave | VmiDeinterleave, role: str, lanes: int) -> LaneDemand:
        """A split in two, or two in turn."""
        low, high = self.of(op.results[0]), self.of(op.results[1])
        values, first = low.values | high.values, role == "lhs"
        if isinstance(op, VmiDeinterleave):

            def apart(write: Writer) -> Number:
                most = write.build.most(low.form(write), high.form(write))
                both = write.build.times(most, 2)
                return write.build.least(both, lanes) if first else write.clamp(write.build.minus(both, lanes), lanes)

            return LaneDemand(apart, values, low.all and high.all, low.none and high.none)
        if not high.none:
            return _whole(lanes)

        def in_turn(write: Writer) -> Number:
            return write.build.quotient(write.build.plus(low.form(write), int(first)), 2)

        return LaneDemand(in_turn, low.values, none=low.none)


_CONVERSIONS = frozenset("vcvt extf truncf fptosi fptoui sitofp extsi extui trunci".split())


def _is_plain_store(op: VmiOperation) -> bool:
    return not (op.segment("stride") or op.segment("block_stride") or op.segment("high"))


def _is_whole(op: VmiOperation) -> bool:
    return op.attribute("group") is None or op.integer("group") == 1


def _whole(lanes: int) -> LaneDemand:
    return LaneDemand(lambda write: lanes, all=True)


def _masked(op: VmiOperation, role: str, lanes: int) -> LaneDemand:
    """The lanes of a mask of first lanes; all where there is none, or another one."""
    masks = op.segment(role) if role in op.operand_roles else ()
    return _of_mask(masks[0], lanes) if masks else _whole(lanes)


def _of_mask(mask: SSAValue, lanes: int) -> LaneDemand:
    op = mask.owner
    assert isinstance(mask.type, LogicalMaskType)
    match op:
        case VmiAll():
            return _whole(lanes)
        case VmiFirstByName() if op.attribute("group") is None:
            return _counted(op.count or 0, lanes)
        case VmiFirst() | VmiTail():
            count = op.operands[0]
            number = known(count)
            if number is not None:
                return _counted(max(0, min(number, lanes)), lanes)

            def form(write: Writer) -> Number:
                return write.clamp(write.build.index(count), lanes)

            return LaneDemand(form, frozenset({count}), mask=mask)
        case _:
            return _whole(lanes)


def _counted(count: int, lanes: int) -> LaneDemand:
    return LaneDemand(lambda write: count, all=count >= lanes, none=count == 0)


def _most(demands: list[LaneDemand], lanes: int) -> LaneDemand:
    """The widest of several."""
    if any(each.all for each in demands):
        return _whole(lanes)
    first, *others = [each for each in demands if not each.none] or [_counted(0, lanes)]
    for other in others:
        first = _joined(first, other, widest=True)
    return first


def _least(one: LaneDemand, other: LaneDemand) -> LaneDemand:
    if one.all or one is other:
        return other
    return one if other.all else _joined(one, other, widest=False)


def _joined(one: LaneDemand, other: LaneDemand, widest: bool) -> LaneDemand:
    def form(write: Writer) -> Number:
        return (write.build.most if widest else write.build.least)(one.form(write), other.form(write))

    return LaneDemand(form, one.values | other.values)
