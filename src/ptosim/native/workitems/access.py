"""Loads and stores of the active lanes of a warp, checked: an error names the lowest workitem outside."""

from __future__ import annotations

from ptosim.effects.element import Element
from ptosim.effects.names import GM, Space
from ptosim.effects.simt import WARP
from ptosim.native.build.global_memory import locate
from ptosim.native.ir.values import Type, Value
from ptosim.native.vector.registers import extract
from ptosim.native.workitems.memory import load_routine, store_routine
from ptosim.native.workitems.values import (
    ALL_LANES,
    PackedLanes,
    WarpValue,
    as_bits,
    as_vectors,
    from_bits,
    part_type,
    spread,
)
from ptosim.native.workitems.warp_body import WarpCore

LONGEST = 8
"""Bytes that are moved at once."""


def address(core: WarpCore, pointer: Value, offset: Value | None, width: int) -> Value:
    """Of each lane."""
    if offset is None:
        return spread(core.f, pointer)
    if pointer.kind.lanes == offset.kind.lanes:
        found = spread(core.f, pointer + offset * width)
    else:
        found = spread(core.f, pointer) + spread(core.f, offset * width)
    assert core.warp is not None
    steps = core.warp.step_of(pointer), core.warp.step_of(offset)
    if steps[0] is not None and steps[1] is not None:
        core.warp.steps[found.text] = steps[0] + steps[1] * width
    return found


def pieces(kind: Element) -> list[tuple[int, Type]]:
    """Where the pieces of a value lie that are moved at once, and their types."""
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


def _in_a_row(core: WarpCore, space: Space, addresses: Value, piece: Type) -> tuple[Value, Value]:
    """Whether all lanes are active and access bytes in a row that lie in their memory, and the host address then."""
    f, width = core.f, piece.bits // 8
    assert core.warp is not None
    first, last = extract(addresses, 0), extract(addresses, WARP - 1)
    fits = (last - first == (WARP - 1) * width) & ((first & (width - 1)) == 0)
    fits = fits & (as_bits(core.warp.mask) == ALL_LANES)
    if space is not GM:
        size = core.target.memory[space.value]
        return fits & first.compare("ule", size - WARP * width), core.base(space).at(first)
    place = locate(f, first)
    inside = place.known & (place.offset >= 0) & (place.offset <= place.size - WARP * width)
    return fits & inside, place.address


def load(core: WarpCore, space: Space, addresses: Value, kind: Element) -> WarpValue:
    """Bytes in a row at once; what is not known to be one goes through a routine."""
    (piece, *more) = (type_ for _, type_ in pieces(kind))
    assert core.warp is not None
    if more or core.warp.step_of(addresses) != kind.bytes:
        return _load_anywhere(core, space, addresses, kind)
    fits, source = _in_a_row(core, space, addresses, piece)
    likes: list[WarpValue] = []

    def elsewhere() -> list[Value]:
        likes.append(_load_anywhere(core, space, addresses, kind))
        return as_vectors(core.f, likes[0])

    def here() -> list[Value]:
        return as_vectors(core.f, joined([source.load(piece.vector(WARP))], kind))

    found = core.f.choose(fits, here, elsewhere)
    return PackedLanes(tuple(found)) if isinstance(likes[0], PackedLanes) else found[0]


def _load_anywhere(core: WarpCore, space: Space, addresses: Value, kind: Element) -> WarpValue:
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
    return joined(found, kind)


def joined(found: list[Value], kind: Element) -> WarpValue:
    part = part_type(kind)
    if kind.kind != "packed":
        return found[0].trunc(part)
    if len(found) > 1:
        return PackedLanes(tuple(each.trunc(part) for each in found))
    width = 8 * kind.bytes // kind.count
    return PackedLanes(tuple(found[0].lshr(number * width).trunc(part) for number in range(kind.count)))


def store(core: WarpCore, space: Space, addresses: Value, value: WarpValue, kind: Element) -> None:
    (piece, *more) = (type_ for _, type_ in pieces(kind))
    assert core.warp is not None
    if more or core.warp.step_of(addresses) != kind.bytes:
        _store_anywhere(core, space, addresses, value, kind)
        return
    if space is not GM:
        core.unit.spaces[space] = core.target.memory[space.value]
    fits, dest = _in_a_row(core, space, addresses, piece)
    (data,) = apart(core, value, kind)
    core.f.either(fits, lambda: dest.store(data), lambda: _store_anywhere(core, space, addresses, value, kind))
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
