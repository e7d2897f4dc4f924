"""Unaligned streams: the state that an `!pto.align` carries, how an access moves it on, and what each one touches.

A store stream holds back the bytes of an incomplete granule until a later store completes the granule or a flush
writes them; a load stream only remembers which granule it has read ahead. Addresses are bytes. The formulas hold for
Python ints, NumPy arrays of int64 and IR values. Doing an access is left to the engines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.effects.geometry import floor_to, maximum, select
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, Touch, named

LOAD_STREAM = ("pto.vldas", "pto.vldus")
STORE_STREAM = ("pto.init_align", "pto.vstus", "pto.vstur", "pto.vstu", "pto.pstu")
"""The instructions that give the state of a stream, its root first."""


class StoreStream(NamedTuple):
    """The bytes [start, start + pending) have been stored but are not in memory yet. They never leave one granule."""

    start: Any = 0
    pending: Any = 0

    @property
    def end(self) -> Any:
        return self.start + self.pending


EMPTY = StoreStream()
"""The result of `init_align`."""


class Append(NamedTuple):
    """The effect of one store of a stream: the bytes [low, high) reach memory, and what the stream holds afterwards."""

    low: Any
    high: Any
    stream: StoreStream


def append(stream: StoreStream, address: Any, length: Any) -> Append:
    """Store `length` bytes at `address`, where the stream ended (otherwise it is flushed before: see `continues`)."""
    low = select(stream.pending >= 1, stream.start, address)
    end = address + length
    high = maximum(low, floor_to(end, GRANULE))
    return Append(low, high, StoreStream(high, end - high))


def continues(stream: StoreStream, address: Any) -> Any:
    """Whether a store or flush at `address` goes on where the stream ended; an empty one goes on anywhere."""
    return (stream.pending == 0) | (stream.end == address)


def primed_granule(address: Any) -> Any:
    """The granule that `vldas` reads ahead for a load at `address`, and the one that `vldus` expects to be read."""
    return floor_to(address, GRANULE)


# --- records ----------------------------------------------------------------------------------------------------------

_Form = Callable[[Any], Extent]


def _at_offset(unit: int) -> _Form:
    """One register at an offset that counts elements."""
    return lambda operands: (operands.offset * unit, operands.offset * unit + VECTOR_BYTES)


def _at_pointer(operands: Any) -> Extent:
    """One register at the pointer itself."""
    return 0, VECTOR_BYTES


def _load(static: Static, extent: _Form) -> tuple[Access, ...]:
    touch: Touch = "active" if "mask" in static.present else "used"
    gate = "mask" if "mask" in static.present else None
    return (Access("read", Space.UB, "source", extent, static.elements["source"].bytes, touch, gate),)


def _vldus(static: Static) -> tuple[Access, ...]:
    return _load(static, _at_pointer)


def _uvld(static: Static) -> tuple[Access, ...]:
    return _load(static, _at_offset(static.elements["source"].bytes))


def _store(base: str, extent: _Form) -> tuple[Access, ...]:
    """The bytes that a store adds to its stream. `append` says when they reach memory, and with which earlier bytes."""
    return (Access("write", Space.UB, base, extent, reach="unknown"),)


def _vstus(static: Static) -> tuple[Access, ...]:
    unit = static.elements["dest"].bytes
    return _store("dest", lambda operands: (0, operands.offset * unit))


def _vstu(static: Static) -> tuple[Access, ...]:
    if "base" in static.present:
        return _store("base", _at_pointer)
    return _store("dest", _at_offset(static.elements["dest"].bytes))


def _vstur(static: Static) -> tuple[Access, ...]:
    """AR and SQZN are the values of the special registers, which stand beside the operands here."""
    return _store("dest", lambda operands: (operands.AR, operands.AR + operands.SQZN))


def _flush(static: Static) -> tuple[Access, ...]:
    """Whatever the stream still holds: `align` is a StoreStream and `dest` a byte address here."""

    def extent(operands: Any) -> Extent:
        return operands.align.start - operands.dest, operands.align.end - operands.dest

    return _store("dest", extent)


def _nothing(static: Static) -> tuple[Access, ...]:
    return ()


def _record(
    name: str, timing: str, accesses: Callable[[Static], tuple[Access, ...]], reads: str = "", writes: str = ""
) -> Effects:
    name = f"pto.{name}"
    read, written = tuple(reads.split()), tuple(writes.split())
    return Effects(name, Pipe.V, timing, Taint.MOVEMENT, accesses, reads=read, writes=written)


EFFECTS = named(
    # It reads a granule ahead, but what it reads counts only where vldus uses it.
    _record("vldas", "load", _nothing),
    _record("vldus", "load", _vldus),
    _record("uvld", "load", _uvld),
    _record("init_align", "rename", _nothing),
    _record("vstus", "store", _vstus),
    _record("vstu", "store", _vstu),
    _record("vstur", "store", _vstur, reads="AR SQZN", writes="AR"),
    _record("vsta", "store", _flush),
    _record("vstas", "store", _flush),
    _record("vstar", "store", _flush, reads="AR"),
)
