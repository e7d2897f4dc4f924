"""Loads and stores of the active lanes of a warp, checked: an error names the lowest workitem outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptosim.effects.element import Element
from ptosim.effects.names import GM, Space
from ptosim.effects.simt import WARP
from ptosim.machine.memory import FAR
from ptosim.native.build.global_memory import locate
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Type, Value
from ptosim.native.vector.registers import first_lane
from ptosim.native.workitems.memory import load_routine, store_routine
from ptosim.native.workitems.values import (
    EvenLanes,
    PackedLanes,
    WarpValue,
    as_bits,
    from_bits,
    part_type,
    spread,
)
from ptosim.native.workitems.warp_core import WarpCore

LONGEST = 8
"""Bytes that are moved at once."""


@dataclass(frozen=True, eq=False)
class LanePlaces:
    """The addresses of the lanes of a warp: one for each, made where it is wanted, and how they lie."""

    lanes: Callable[[], Value]
    row: EvenLanes | None


def places(core: WarpCore, pointer: Value, offset: Value | None, width: int) -> LanePlaces:
    """The places of so many elements behind a pointer."""
    f, warp = core.f, core.warp
    assert warp is not None

    def lanes() -> Value:
        return spread(f, pointer if offset is None else further(f, pointer, offset, width))

    start, far = warp.row_of(pointer), EvenLanes(f.constant(I64, 0), 0) if offset is None else warp.row_of(offset)
    if start is None or far is None:
        return LanePlaces(lanes, None)
    return LanePlaces(lanes, further_row(start, far, width))


def further(f: FunctionBuilder, pointer: Value, offset: Value, width: int) -> Value:
    """A pointer to so many elements behind; where the product does not fit, to a place outside of all memories."""
    most = FAR // width
    if not offset.range.within(-most, most):
        offset = (offset > most).select(most, (offset < -most).select(-most, offset))
    far = offset * width
    return pointer + far if pointer.kind.lanes == far.kind.lanes else spread(f, pointer) + spread(f, far)


def further_row(start: EvenLanes, far: EvenLanes, width: int) -> EvenLanes:
    """Likewise of pointers and numbers that lie equally far apart, where all products fit."""
    row = EvenLanes(start.first + far.first * width, start.step + far.step * width, start.sure)
    row = row if far.sure is None else row.also(far.sure)
    most = max(0, FAR // width - WARP * abs(far.step))
    return row if far.first.range.within(-most, most) else row.also((far.first + most).compare("ule", 2 * most))


def pieces(kind: Element) -> list[tuple[int, Type]]:
    """The places of the pieces of a value that are moved at once, and their types."""
    if kind.bytes <= LONGEST and kind.bytes & (kind.bytes - 1) == 0:
        return [(0, Type(f"i{8 * kind.bytes}"))]
    assert kind.part is not None
    width = kind.part.bytes
    return [(number * width, Type(f"i{8 * width}")) for number in range(kind.count)]


def wrong_lanes(core: WarpCore, verb: str, space: Space, addresses: Value, outside: Value, width: int) -> None:
    """End the run where lanes are outside, unless that is tolerated."""
    site = _site(core, verb, space, width, width)
    if space is not GM or not core.unit.drop:
        core.fail_in(from_bits(outside), *site, addresses, width)


def aligned(core: WarpCore, verb: str, space: Space, addresses: Value, width: int, alignment: int) -> None:
    if alignment > 1:
        wrong = (addresses & (alignment - 1)) != 0
        core.fail_in(wrong, *_site(core, verb, space, width, alignment), addresses, width)


def _site(core: WarpCore, verb: str, space: Space, width: int, alignment: int) -> tuple[str, list[object]]:
    if space is GM:
        return "gm", [verb, alignment]
    return "access", [verb, space.value, core.target.memory[space.value], width, alignment]


def _in_a_row(core: WarpCore, verb: str, space: Space, row: EvenLanes, extent: int, width: int) -> tuple[Value, Value]:
    """Whether bytes in a row lie in their memory, elements of so many from an aligned address on, and the host address
    then."""
    f, first = core.f, row.first
    fits = (first & (width - 1)) == 0
    if row.sure is not None:
        fits = fits & row.sure
    if space is not GM:
        return fits & first.compare("ule", core.target.memory[space.value] - extent), core.base(space).at(first)
    place = locate(f, first)
    inside = place.known & (place.offset >= 0) & (place.offset <= place.size - extent)
    return fits & inside & core.is_allowed(verb, first), place.address


def load(core: WarpCore, space: Space, where: LanePlaces, kind: Element) -> WarpValue:
    """Bytes in a row at once, and those at one address once; what is not known to be one goes through a routine."""
    (piece, *more) = (type_ for _, type_ in pieces(kind))
    row, f, warp = where.row, core.f, core.warp
    assert warp is not None
    if more or row is None or row.step not in (0, kind.bytes):
        found, told = _load_anywhere(core, space, where.lanes(), kind)
        warp.watch.loaded(told)
        return found
    is_single = row.step == 0
    extent = kind.bytes if is_single else WARP * kind.bytes
    fits, source = _in_a_row(core, "reads", space, row, extent, kind.bytes)

    def parts(found: WarpValue) -> list[Value]:
        return list(found.parts) if isinstance(found, PackedLanes) else [found]

    def elsewhere() -> list[Value]:
        value, told = _load_anywhere(core, space, where.lanes(), kind)
        found = parts(value)
        return [*([first_lane(f, part, warp.mask) for part in found] if is_single else found), *told]

    def here() -> list[Value]:
        told = warp.watch.row(core, "reads", space, row.first, kind.bytes, is_single)
        return [*parts(joined([source.load(piece if is_single else piece.vector(WARP))], kind)), *told]

    count = kind.count if kind.kind == "packed" else 1
    found = f.choose(fits, here, elsewhere)
    warp.watch.loaded(found[count:])
    return PackedLanes(tuple(found[:count])) if kind.kind == "packed" else found[0]


def _load_anywhere(core: WarpCore, space: Space, addresses: Value, kind: Element) -> tuple[WarpValue, list[Value]]:
    """The value, and what an observer has to say."""
    warp, f = core.warp, core.f
    assert warp is not None
    aligned(core, "reads", space, addresses, kind.bytes, kind.bytes)
    found: list[Value] = []
    outside = None
    for far, piece in pieces(kind):
        routine = load_routine(core.unit, space, piece)
        bad, data = f.call(routine, addresses + far, as_bits(warp.mask))
        outside = bad if outside is None else outside | bad
        found.append(data)
    assert outside is not None
    wrong_lanes(core, "reads", space, addresses, outside, kind.bytes)
    return joined(found, kind), warp.watch.lanes(core, "reads", space, addresses, kind.bytes)


def joined(found: list[Value], kind: Element) -> WarpValue:
    part = part_type(kind)
    if kind.kind != "packed":
        return found[0].trunc(part)
    if len(found) > 1:
        return PackedLanes(tuple(each.trunc(part) for each in found))
    width = 8 * kind.bytes // kind.count
    return PackedLanes(tuple(found[0].lshr(number * width).trunc(part) for number in range(kind.count)))


def store(core: WarpCore, space: Space, where: LanePlaces, value: WarpValue, kind: Element) -> None:
    f, warp, row = core.f, core.warp, where.row
    assert warp is not None
    warp.changes()
    if len(pieces(kind)) > 1 or row is None or row.step != kind.bytes:
        _store_anywhere(core, space, where.lanes(), value, kind)
        return
    if space is not GM:
        core.unit.spaces[space] = core.target.memory[space.value]
    fits, dest = _in_a_row(core, "writes", space, row, WARP * kind.bytes, kind.bytes)
    (data,) = apart(core, value, kind)

    def partly() -> None:
        given = f"{data}, {dest}, i32 1, {warp.mask}"
        f.do(f"call void @llvm.masked.store.{data.kind.mangled}.p0({given})")

    def here() -> None:
        warp.watch.row(core, "writes", space, row.first, kind.bytes, False)
        f.either(warp.is_full, lambda: dest.store(data), partly)

    f.either(fits, here, lambda: _store_anywhere(core, space, where.lanes(), value, kind))
    if space is GM:
        core.moves()


def _store_anywhere(core: WarpCore, space: Space, addresses: Value, value: WarpValue, kind: Element) -> None:
    warp, f = core.warp, core.f
    assert warp is not None
    aligned(core, "writes", space, addresses, kind.bytes, kind.bytes)
    outside = None
    for (far, piece), data in zip(pieces(kind), apart(core, value, kind), strict=True):
        routine = store_routine(core.unit, space, piece)
        (bad,) = f.call(routine, addresses + far, as_bits(warp.mask), data)
        outside = bad if outside is None else outside | bad
    assert outside is not None
    wrong_lanes(core, "writes", space, addresses, outside, kind.bytes)
    warp.watch.lanes(core, "writes", space, addresses, kind.bytes)
    if space is GM:
        core.moves()


def apart(core: WarpCore, value: WarpValue, kind: Element) -> list[Value]:
    """The pieces of a value."""
    places = pieces(kind)
    whole = places[0][1]
    if isinstance(value, Value):
        return [spread(core.f, value).zext(whole)]
    parts = [spread(core.f, part) for part in value.parts]
    if len(places) > 1:
        return [part.zext(whole) for part in parts]
    width = 8 * kind.bytes // kind.count
    total = parts[0].zext(whole)
    for number, part in enumerate(parts[1:], 1):
        total = total | part.zext(whole) << number * width
    return [total]
