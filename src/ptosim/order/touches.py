"""Bytes of an operation, from its effects record, in closed form.

A vector scope is one entry: what is inside it counts with all the iterations of its loops. What no closed form says is
the whole memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from xdsl.ir import Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.effects.configuration import FIXPIPE
from ptosim.effects.names import Space
from ptosim.effects.record import Access, no_accesses
from ptosim.effects.vector_memory import ALWAYS, LoadMode, StoreMode, demand
from ptosim.language.analysis.static_values import static_of
from ptosim.language.micro.configuration import SimRegister
from ptosim.language.micro.sync_token import SimTSync
from ptosim.language.operation import PTOOperation
from ptosim.language.simt.private_memory import PrivateLoad, PrivateStore
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.structure.control import For
from ptosim.language.structure.function import reached
from ptosim.language.types import MaskType, PtrType
from ptosim.order.facts import Pointer, number_of
from ptosim.order.model import ByteRange, EntryTouch, Span
from ptosim.order.number import Linear, Number, Periodic, Plain, between, bounds, extreme, key_of, linear
from ptosim.order.values import ANYWHERE, PREDICATE_BITS, TAILS, Values
from ptosim.order.workitem_ranges import WorkitemRanges

ENDLESS = between(None, None)
"""An unknown end."""


class ClosedOperands:
    """The operands of an operation by role, for the closed forms of its record: each when it is asked for."""

    def __init__(self, op: PTOOperation, values: Values) -> None:
        self._op = op
        self._values = values

    def __getattr__(self, name: str) -> Any:
        """Special registers hold something unknown."""
        op = self._op
        if name in op.operand_roles and (given := op.segment(name)):
            numbers = tuple(map(self._values.number, given))
            found = self.__dict__[name] = numbers if name in op.variadic_roles else numbers[0]
            return found
        if name in op.variadic_roles:
            return ()
        if name.isupper():
            return between(None, None)
        raise AttributeError(name)


def touches_of(op: Operation, values: Values, target: str) -> tuple[EntryTouch, ...]:
    """Bytes of an operation outside of scopes."""
    return tuple(_touches(op, values, target, ()))


def awaited(op: SimTSync, values: Values) -> tuple[ByteRange, ...]:
    """The bytes that a scoped wait asks for."""
    found: list[ByteRange] = []
    for address, size in zip(op.addresses, op.sizes, strict=True):
        base = values.of(address)
        if isinstance(base, Pointer):
            whole = ByteRange(base.space, base.origin, None, (), (None,))
            found.append(_spread(whole, base.offset, [base.offset + values.number(size)], ()))
    return tuple(found)


def touches_of_scope(
    op: Operation, values: Values, target: str, path: tuple[int, ...], names: Iterator[int]
) -> tuple[EntryTouch, ...]:
    """Bytes of a scope; its loops get names here."""
    inner: list[int] = []
    found: list[EntryTouch] = []

    def visit(inside: Operation, around: tuple[int, ...]) -> None:
        if isinstance(inside, For):
            around = (*around, next(names))
            inner.append(around[-1])
            values.enter(inside, around)
        found.extend(_touches(inside, values, target, tuple(inner)))
        for region in inside.regions:
            for block in region.blocks:
                for each in block.ops:
                    visit(each, around)

    visit(op, path)
    return _distinct(found)


def touches_of_launch(op: SimtLaunch, values: Values, target: str) -> tuple[EntryTouch, ...]:
    """The touches of workitems: behind the pointers that they are given as far as intervals say, else UB as a whole or
    all of these arguments.
    """
    found: list[EntryTouch] = []
    given = [value for value in op.arguments if isinstance(value.type, PtrType) and value.type.space is Space.GM]
    origins = {base.origin if isinstance(base := values.of(value), Pointer) else ANYWHERE for value in given}
    ranges = WorkitemRanges(op) if op.function is not None else None
    for inside in () if op.function is None else reached(op.function):
        record = effects().get(inside.name)
        if record is None or not isinstance(inside, PTOOperation) or ranges is None:
            continue
        accesses = [(access.direction, access.space) for access in record.accesses(static_of(inside, target))]
        near = ranges.of_access(inside, target) if accesses else None
        if isinstance(inside, PrivateLoad | PrivateStore) and (space := inside.facts()["space"]) is not None:
            accesses.append(("write" if isinstance(inside, PrivateStore) else "read", space))
        for direction, space in accesses:
            for range_ in _of_workitems(near, space, origins, values):
                found.append(EntryTouch(direction == "write", range_))
    return _distinct(found)


def _of_workitems(
    near: tuple[SSAValue, int, int] | None, space: Space, origins: set[str], values: Values
) -> Iterator[ByteRange]:
    base = None if near is None else values.of(near[0])
    if near is not None and isinstance(base, Pointer):
        whole = ByteRange(space, base.origin, None, (), (None,))
        yield _spread(whole, base.offset + near[1], [base.offset + near[2]], ())
        return
    for origin in (origins or {ANYWHERE}) if space is Space.GM else {""}:
        yield ByteRange(space, origin, None, (), (None,))


def _distinct(found: list[EntryTouch]) -> tuple[EntryTouch, ...]:
    """Accesses of the same bytes are one; whole memories hide their parts."""
    known: dict[tuple[object, ...], EntryTouch] = {}
    for touch in found:
        known.setdefault((touch.writes, range_key(touch.range)), touch)
    whole = {
        (touch.writes, touch.range.space, touch.range.origin)
        for touch in known.values()
        if touch.range.spans == (None,)
    }
    return tuple(
        touch
        for touch in known.values()
        if touch.range.spans == (None,) or (touch.writes, touch.range.space, touch.range.origin) not in whole
    )


def range_key(range_: ByteRange) -> tuple[object, ...]:
    """The key of a range."""
    ends = tuple(None if span is None else (key_of(span[0]), key_of(span[1])) for span in range_.spans)
    return (range_.space, range_.origin, range_.loop, range_.start, ends)


def _touches(op: Operation, values: Values, target: str, inner: tuple[int, ...]) -> Iterator[EntryTouch]:
    record = effects().get(op.name)
    if record is not None and record.accesses is not no_accesses and isinstance(op, PTOOperation):
        for access in record.accesses(static_of(op, target)):
            yield EntryTouch(access.direction == "write", _range(op, access, values, inner))


def _range(op: PTOOperation, access: Access, values: Values, inner: tuple[int, ...]) -> ByteRange:
    base = values.of(op.segment(access.base)[0])
    origin = base.origin if isinstance(base, Pointer) else ANYWHERE if access.space is Space.GM else ""
    offset = number_of(base)
    if access.reach == "unknown" or any(_is_read(value) for value in op.operands):
        return ByteRange(access.space, origin, None, (), (None,))
    operands = ClosedOperands(op, values)
    whole = ByteRange(access.space, origin, None, (), (None,), _has_gaps(op, operands, access.base))
    low, high = access.extent(operands)
    ends: list[Number] = [offset + high]
    if (reach := _active_bytes(op, access, values)) is not None:
        ends.append(offset + low + reach)
    return _spread(whole, offset + low, ends, inner)


def _has_gaps(op: PTOOperation, operands: ClosedOperands, side: str) -> bool:
    """Whether the rows of a copy may lie apart. Of those that no stride tells apart, several do."""
    if "n_burst" not in op.operand_roles or not op.segment("n_burst"):
        return False
    counts = (operands.n_burst, *getattr(operands, "loop_counts", ()))
    strides = (getattr(operands, f"{side}_stride", None), *getattr(operands, f"loop_{side}_strides", ()))
    width: object = getattr(operands, "len_burst", None)
    for count, stride in zip_longest(counts, strides):
        if isinstance(count, int) and count == 1:
            continue
        if not (isinstance(count, int) and isinstance(width, int) and isinstance(stride, int)) or stride != width:
            return True
        width *= count
    return False


def _is_read(value: SSAValue) -> bool:
    """Whether a copy takes it from a register that only the run knows; stores of the cube need theirs for some layouts
    only."""
    return isinstance(value.owner, SimRegister) and value.owner.word("field") not in FIXPIPE


def _spread(whole: ByteRange, low: Number, ends: list[Number], inner: tuple[int, ...]) -> ByteRange:
    """The bytes of all iterations of the inner loops; of several ends the nearest that is known."""
    numbers = [low, *ends]
    turns = next((n for n in numbers if isinstance(n, Periodic) and n.loop not in inner and n.loop >= 0), None)
    if turns is None:
        return replace(whole, spans=(_span(low, ends, inner, None, 0),))
    length = max(len(n.values) for n in numbers if isinstance(n, Periodic) and n.loop == turns.loop)
    spans = tuple(_span(low, ends, inner, turns, turn) for turn in range(length))
    return replace(whole, loop=turns.loop, start=turns.start, spans=spans)


def _span(low: Number, ends: list[Number], inner: tuple[int, ...], turns: Periodic | None, turn: int) -> Span:
    first = _extreme(low, inner, turns, turn, -1)
    lasts = [last for end in ends if (last := _extreme(end, inner, turns, turn, 1)) is not None]
    if first is None:
        return None
    known = [last for last in lasts if isinstance(last, int)]
    return first, min(known) if known else lasts[-1] if lasts else ENDLESS


def _extreme(number: Number, inner: tuple[int, ...], turns: Periodic | None, turn: int, sign: int) -> Plain | None:
    """The least (sign -1) or the greatest value over the inner loops, in one turn of the loop outside."""
    if isinstance(number, Periodic):
        if turns is not None and (number.loop, number.start) == (turns.loop, turns.start):
            number = number.values[turn % len(number.values)]
        else:
            low, high = bounds(number)
            return high if sign > 0 else low
    if isinstance(number, int):
        return number
    moving = [each for each in number.terms if not each.is_single or (inner and not set(inner).isdisjoint(each.loops))]
    constant = extreme(number.constant, {each: number.terms[each] for each in moving}, sign)
    rest = {each: factor for each, factor in number.terms.items() if each not in moving}
    return None if constant is None else linear(constant, rest)


# --- masks ------------------------------------------------------------------------------------------------------------


def _active_bytes(op: PTOOperation, access: Access, values: Values) -> Number | None:
    """The reach of an access behind its first byte, by the lanes of its mask; None where it is unknown."""
    if access.mask is None or not isinstance(access.map, LoadMode | StoreMode):
        return None
    mask = op.segment(access.mask)[0]
    assert isinstance(mask.type, MaskType)
    lanes, width = _active_lanes(mask, values), mask.type.stride
    if lanes is None:
        return None
    if access.map.name.startswith("NORM"):
        return lanes * width
    most = bounds(lanes)[1]
    return None if most is None else _reach(access.map, most, width)


def _reach(mode: LoadMode | StoreMode, lanes: int, width: int) -> int:
    """One past the last byte that the first lanes need or write."""
    if isinstance(mode, StoreMode):
        return max((byte + 1 for byte, bit in enumerate(mode.gate) if bit == ALWAYS or bit < lanes * width), default=0)
    needed = demand(mode, width)
    units = [unit for unit, filled in enumerate(needed.lanes) if any(lane < lanes for lane in filled)]
    return (units[-1] + 1) * needed.unit if units else 0


def _active_lanes(mask: SSAValue, values: Values) -> Number | None:
    """The first lanes that can be active in a mask."""
    owner = mask.owner
    if not isinstance(owner, PTOOperation):
        return None
    if owner.name in TAILS:
        count = values.number(owner.operands[0])
        # A count that is negative from the start makes every lane active, one that ran out none.
        ran_out = isinstance(count, Linear) and any(each.is_iteration and f < 0 for each, f in count.terms.items())
        return count if ran_out or (bounds(count)[0] or -1) >= 0 or bounds(count)[0] == 0 else None
    pattern = owner.word("pattern") or ""
    assert isinstance(mask.type, MaskType)
    most = PREDICATE_BITS // mask.type.stride
    return min(int(pattern[6:]), most) if pattern.startswith("PAT_VL") else 0 if pattern == "PAT_ALLF" else None
