"""Bytes of a vector scope: one entry, with all the iterations of its loops.

A load without a mask reads a whole register whatever of it is used. Only those bytes of it are sure that reach a store
lane by lane under masks which are known; the others it may touch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Block, Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.record import Access, Spread
from ptosim.effects.vector_memory import LoadMode, StoreMode
from ptosim.language.analysis.scalar_rules import Scalar, evaluated, rule_of
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.pointer import AddPtr, CastPtr
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For, If
from ptosim.language.types import MaskType, VregType, element_of
from ptosim.order.replay.touched_bytes import PlainOperands, Touched, everything, touched_by
from ptosim.order.values import TAILS

MOST_STEPS = 1 << 12
_PREDICATE_BITS = 256
_Key = tuple[Operation, tuple[Any, ...]]


class _Use:
    """One access of a scope, how many of its bytes are sure, and where what it has loaded is stored."""

    __slots__ = ("into", "sure", "touched")

    def __init__(self, touched: Touched, sure: int) -> None:
        self.touched, self.sure = touched, sure
        self.into: dict[tuple[int, int], None] = {}


class ScopeReader:
    """Reads the scopes of a program; one that runs again with the same values touches the same."""

    def __init__(self, module: VerifiedModule) -> None:
        self.module = module
        self._captured: dict[Operation, tuple[SSAValue, ...]] = {}
        self._known: dict[_Key, tuple[Touched, ...]] = {}

    def touched(self, op: Operation, values: Mapping[Any, Any]) -> tuple[Touched, ...]:
        if op not in self._captured:
            self._captured[op] = tuple(_captures(op))
        key = (op, tuple(values.get(value) for value in self._captured[op]))
        if key not in self._known:
            self._known[key] = _Reading(self.module, dict(values)).of(op)
        return self._known[key]


def _captures(op: Operation) -> dict[SSAValue, None]:
    """The values of a scope that come from outside."""
    body = op.regions[0]
    inside: set[SSAValue] = {result for each in body.walk() for result in each.results}
    inside |= {argument for each in body.walk() for region in each.regions for argument in region.block.args}
    used = [*op.operands, *(operand for each in body.walk() for operand in each.operands)]
    return dict.fromkeys(value for value in used if value not in inside)


class _Reading:
    """One pass through a scope. Masks are held as the number of their first lanes that are active, None where they are
    not the first ones; registers as the accesses that they were loaded by, with the bytes that are left of each."""

    def __init__(self, module: VerifiedModule, values: dict[Any, Any]) -> None:
        self.module, self.values = module, values
        self.uses: list[_Use] = []
        self.stored: dict[tuple[int, int], list[_Use]] = {}
        """By place, which loads reached the last store there."""
        self.steps = MOST_STEPS
        self.is_whole = True

    def of(self, op: Operation) -> tuple[Touched, ...]:
        if isinstance(op, For):
            self._loop(op)
        else:
            self._block(op.regions[0].block)
        found: dict[tuple[Any, ...], Touched] = {}
        for use in self.uses:
            touched, low = use.touched, use.touched.low
            sure = ((low, low + use.sure),) if use.sure else touched.sure
            key = (touched.space, touched.writes, touched.may, sure)
            into = (*dict.fromkeys((*(found[key].into if key in found else ()), *use.into)),)
            found[key] = Touched(touched.space, touched.writes, touched.may, sure, by_use=touched.by_use, into=into)
        if not self.is_whole:
            found |= {(each,): each for each in self._anywhere(op)}
        return tuple(found.values())

    def _anywhere(self, op: Operation) -> list[Touched]:
        return [
            everything(access.space, access.direction == "write")
            for each in op.walk()
            if isinstance(each, PTOOperation) and (record := effects().get(each.name)) is not None
            for access in record.accesses(self.module.static(each))
        ]

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self.steps -= 1
            if self.steps < 0:
                self.is_whole = False
                return
            self._operation(op)

    def _operation(self, op: Operation) -> None:
        if isinstance(op, For):
            self._loop(op)
        elif isinstance(op, If):
            self._branch(op)
        elif op.name == "arith.constant":
            self.values[op.results[0]] = constant_of(op.results[0])
        elif (rule := rule_of(op)) is not None:
            self.values[op.results[0]] = evaluated(rule, [self.values.get(value) for value in op.operands])
        elif op.name == "arith.select":
            holds, a, b = (self.values.get(value) for value in op.operands)
            self.values[op.results[0]] = None if holds is None else a if holds else b
        elif isinstance(op, AddPtr):
            at, by = (self.values.get(value) for value in op.operands)
            self.values[op.result] = None if at is None or by is None else at + by * element_of(op.pointer.type).bytes
        elif op.name == CastPtr.name:
            self.values[op.results[0]] = self.values.get(op.operands[0])
        elif isinstance(op, PTOOperation):
            self._instruction(op)

    def _loop(self, op: For) -> None:
        first, end, step = (self.values.get(value) for value in (op.lb, op.ub, op.step))
        index, *carried = op.body.block.args
        given = [self.values.get(value) for value in op.iter_args]
        if first is None or end is None or not step or step < 0:
            self.is_whole = False
            return
        for at in range(first, end, step):
            self.values[index] = at
            self.values.update(zip(carried, given, strict=False))
            self._block(op.body.block)
            if not self.is_whole:
                return
            ends = op.body.block.last_op
            given = [self.values.get(value) for value in ends.operands] if ends is not None else []
        self.values.update(zip(op.results, given, strict=False))

    def _branch(self, op: If) -> None:
        condition = self.values.get(op.cond)
        if condition is None:
            self.is_whole = False
            return
        arm = op.true_region if condition else op.false_region
        self._block(arm.block)
        ends = arm.block.last_op
        given = [self.values.get(value) for value in ends.operands] if ends is not None else []
        self.values.update(zip(op.results, given, strict=False))

    # --- instructions -------------------------------------------------------------------------------------------------

    def _instruction(self, op: PTOOperation) -> None:
        if op.name in TAILS:
            self._tail(op)
            return
        pattern = op.word("pattern") if "pattern" in op.property_roles else None
        if pattern is not None and op.results and isinstance(op.results[0].type, MaskType):
            self.values[op.results[0]] = _first_lanes(pattern, op.results[0].type)
            return
        record = effects().get(op.name)
        if record is None:
            return
        for access in record.accesses(self.module.static(op)):
            self._access(op, access)
        if record.taint.spread is Spread.ELEMENTWISE:
            self._lane_by_lane(op)

    def _tail(self, op: PTOOperation) -> None:
        mask, rest = op.results
        assert isinstance(mask.type, MaskType)
        count, lanes = self.values.get(op.operands[0]), _PREDICATE_BITS // mask.type.stride
        if count is not None:
            count = count if count >= 0 else lanes
            self.values[mask], self.values[rest] = min(count, lanes), max(count - lanes, 0)

    def _access(self, op: PTOOperation, access: Access) -> None:
        operands = PlainOperands(op, self.values)
        touched = touched_by(op, access, operands)
        if touched is None:
            return
        whole = _is_plain(access)
        active = self._active(op, access) if access.mask is not None else None
        if access.mask is not None and active is not None and whole:
            if not active:
                return
            low = touched.low
            touched = Touched(touched.space, touched.writes, ((low, low + active),), ((low, low + active),))
        elif access.touch == "used":
            touched = Touched(touched.space, touched.writes, touched.may, (), by_use=True)
        use = _Use(touched, 0)
        self.uses.append(use)
        if access.direction == "write":
            self._stored(op, touched, active if access.mask is not None else VECTOR_BYTES)
        elif whole and access.touch == "used" and op.results:
            self.values[op.results[0]] = {use: VECTOR_BYTES}

    def _active(self, op: PTOOperation, access: Access) -> Scalar:
        """The bytes of the first lanes that a mask has."""
        mask = op.segment(access.mask or "")[0]
        assert isinstance(mask.type, MaskType)
        lanes: Scalar = self.values.get(mask)
        return None if lanes is None else lanes * mask.type.stride

    def _stored(self, op: PTOOperation, touched: Touched, active: Scalar) -> None:
        """Stored registers count as used, if they are used from there; the last store to a place is what stays."""
        for place in touched.sure:
            for use in self.stored.pop(place, ()):
                use.into.pop(place, None)
        for value in op.operands:
            for use, left in self._sources(value).items():
                sure = min(left, active or 0)
                use.sure = max(use.sure, sure)
                for place in touched.sure if sure else ():
                    use.into[place] = None
                    self.stored.setdefault(place, []).append(use)

    def _lane_by_lane(self, op: PTOOperation) -> None:
        masks = [value for value in op.operands if isinstance(value.type, MaskType)]
        active: Scalar = VECTOR_BYTES
        for mask in masks:
            assert isinstance(mask.type, MaskType)
            lanes: Scalar = self.values.get(mask)
            active = min(active, lanes * mask.type.stride) if lanes is not None else 0
        found: dict[_Use, int] = {}
        for value in op.operands:
            for use, left in self._sources(value).items():
                found[use] = max(found.get(use, 0), min(left, active))
        for result in op.results:
            if isinstance(result.type, VregType):
                self.values[result] = found

    def _sources(self, value: SSAValue) -> dict[_Use, int]:
        return self.values.get(value) or {} if isinstance(value.type, VregType) else {}


def _is_plain(access: Access) -> bool:
    """Whether lane n of a register is the n-th element behind the address."""
    return isinstance(access.map, LoadMode | StoreMode) and access.map.name.startswith("NORM")


def _first_lanes(pattern: str, mask: MaskType) -> Scalar:
    lanes = _PREDICATE_BITS // mask.stride
    if pattern == "PAT_ALL":
        return lanes
    if pattern == "PAT_ALLF":
        return 0
    return min(int(pattern[6:]), lanes) if pattern.startswith("PAT_VL") else None
