"""Steps of a store stream by stores of several kinds. Complete granules reach UB; the rest stays in the align value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ptosim.effects import vector_stream
from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.names import Space
from ptosim.effects.vector_stream import StoreStream, continues
from ptosim.native.build.core import Core
from ptosim.native.build.state import ALIGN_BYTES, Align
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I8, I64, Value


def empty(f: FunctionBuilder) -> Align:
    """A stream that holds nothing."""
    zero = f.constant(I64, 0)
    return Align(zero, zero, f.constant(I8.vector(ALIGN_BYTES), 0))


def append(core: Core, align: Align, address: Value, data: Value, length: Value) -> Align:
    """Store the first `length` bytes of a vector as the next step of a stream."""
    f = core.f
    gap = continues(StoreStream(align.start, align.pending), address) ^ 1
    core.suspect(lambda: gap)
    with f.when(gap):
        flush(core, align, lambda: [align.start + align.pending])
    pending = gap.select(align.pending.like(0), align.pending)
    low, high, after = vector_stream.append(StoreStream(align.start, pending), address, length)
    room = f.scratch(ALIGN_BYTES + VECTOR_BYTES + ALIGN_BYTES)
    room.store(align.data)
    room.at(pending).store(data)
    count = high - low
    core.stretch("writes", Space.UB, low, count).copy_from(room, count)
    following = Align(after.start, after.pending, room.at(count).load(align.data.kind))
    core.observer.streamed(core, low, high, length)
    core.observer.held_back(core, align, following)
    return following


def flush(core: Core, align: Align, expected: Callable[[], Sequence[Value]]) -> None:
    """Write what a stream still holds. It should have got to one of the expected addresses, which concerns checks
    only."""
    f = core.f
    room = f.scratch(ALIGN_BYTES)
    room.store(align.data)
    core.stretch("writes", Space.UB, align.start, align.pending).copy_from(room, align.pending)
    if core.is_observed:
        stream = StoreStream(align.start, align.pending)
        astray = reduce(lambda one, other: one & other, (continues(stream, place) ^ 1 for place in expected()))
        core.observer.suspect(f, astray)
        core.observer.streamed(core, stream.start, stream.end, f.constant(I64, 0))
        core.observer.held_back(core, align, None)
