"""The memory of kernels without tiles: the bytes that are touched behind each pointer that is cast from an address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.names import GM, Space
from ptosim.language.analysis.pointer_roots import cast_of
from ptosim.language.analysis.static_values import static_of
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.control import For
from ptosim.language.structure.function import Function, every_function
from ptosim.language.types import PtrType
from ptosim.order.number import bounds
from ptosim.order.touches import touches_of
from ptosim.order.values import Values
from ptosim.target import load_target
from ptosim.tiles.passes.memory_plan import MemoryPlan, PlacedTile


@dataclass
class _Buffer:
    """Bytes touched behind a pointer."""

    cast: Operation
    space: Space
    address: int
    end: int | None
    lines: list[int]


def pointer_plans(module: VerifiedModule) -> list[MemoryPlan]:
    """The buffers of each function; one whose end is not known reaches to the next, or to that of its
    memory."""
    capacity = load_target(module.target).memory
    return [
        MemoryPlan(function.symbol, tuple(_placed(module, function)), capacity)
        for function in every_function(module.parsed.module)
        if not function.is_declaration
    ]


def _placed(module: VerifiedModule, function: Function) -> Iterator[PlacedTile]:
    buffers = sorted(_buffers(module, function), key=lambda each: (each.space, each.address))
    memory = load_target(module.target).memory
    for each in buffers:
        starts = [other.address for other in buffers if other.space == each.space and other.address > each.address]
        room = min(starts, default=memory[each.space])
        is_known = each.end is not None and each.end <= memory[each.space]
        end = each.end if each.end is not None and is_known else room
        (result,) = each.cast.results
        open_ = "" if is_known else ", its end is not known"
        yield PlacedTile(
            module.parsed.name_of(result),
            f"{result.type}{open_}",
            each.space,
            each.address,
            max(0, end - each.address),
            min(each.lines),
            max(each.lines),
            _line(module, each.cast) or 0,
        )


def _buffers(module: VerifiedModule, function: Function) -> list[_Buffer]:
    values, names = Values(function), count()
    found: dict[tuple[Space, int], _Buffer] = {}

    def visit(op: Operation, path: tuple[int, ...]) -> None:
        if isinstance(op, For):
            path = (*path, next(names))
            values.enter(op, path)
        for space, cast, address, end in _accesses(op, values, module.target):
            known = found.setdefault((space, address), _Buffer(cast, space, address, address, []))
            known.end = None if end is None or known.end is None else max(known.end, end)
            known.lines += [line for line in (_line(module, op),) if line is not None]
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    visit(inner, path)

    visit(function, ())
    return list(found.values())


def _accesses(op: Operation, values: Values, target: str) -> Iterator[tuple[Space, Operation, int, int | None]]:
    """Memory, pointer, its address, and the end of the bytes that an operation touches behind it."""
    record = effects().get(op.name)
    if record is None or not isinstance(op, PTOOperation):
        return
    accesses = record.accesses(static_of(op, target))
    for access, touch in zip(accesses, touches_of(op, values, target), strict=True):
        pointers = op.segment(access.base)
        root = cast_of(pointers[0]) if pointers and isinstance(pointers[0].type, PtrType) else None
        if access.space is GM or root is None:
            continue
        ends = [None if span is None else bounds(span[1])[1] for span in touch.range.spans]
        end = None if None in ends or not ends else max(each for each in ends if each is not None)
        yield access.space, root[0], root[1], end


def _line(module: VerifiedModule, op: Operation) -> int | None:
    place = module.parsed.location(op)
    return place.line if place is not None else None
