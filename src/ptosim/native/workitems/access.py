"""Loads and stores of the active lanes of a warp, checked: an error names the lowest workitem outside."""

from __future__ import annotations

from ptosim.effects.element import Element
from ptosim.effects.names import GM, Space
from ptosim.native.ir.values import Type, Value
from ptosim.native.workitems.memory import load_routine, store_routine
from ptosim.native.workitems.values import PackedLanes, WarpValue, as_bits, from_bits, part_type, spread
from ptosim.native.workitems.warp_body import WarpCore

LONGEST = 8
"""Bytes that are moved at once."""


def address(core: WarpCore, pointer: Value, offset: Value | None, width: int) -> Value:
    """Of each lane."""
    if offset is None:
        return spread(core.f, pointer)
    if pointer.kind.lanes == offset.kind.lanes:
        return spread(core.f, pointer + offset * width)
    return spread(core.f, pointer) + spread(core.f, offset * width)


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


def load(core: WarpCore, space: Space, addresses: Value, kind: Element) -> WarpValue:
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
