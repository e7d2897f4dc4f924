"""The memories of a core: bytes, and the bounds and alignment of every access.

The value of a GM pointer is an integer that names an argument and an offset (machine/memory.py); on-chip addresses are
plain bytes. An access that breaks a rule is a complaint to the port of the core. If the run goes on, bytes outside read
as zero and are not written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ptosim.diagnostics import Severity
from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.effects.names import GM, UB, Space
from ptosim.machine.memory import Regions, decode, misaligned, outside
from ptosim.machine.observer import Footprint
from ptosim.reference.fault import Fault
from ptosim.reference.memory import access_places
from ptosim.reference.memory.port import AccessPlace, Active, Atomic, Complaint, Port
from ptosim.reference.numeric.float_lanes import LANE_TYPES, Lanes
from ptosim.reference.numeric.integers import signed64

if TYPE_CHECKING:
    from ptosim.reference.core import Core

NOTHING: access_places.Bytes = np.zeros(0, np.uint8)


@dataclass(frozen=True)
class GlobalMemory:
    """Buffers that the pointers of a launch may name, as bytes, by number."""

    regions: Regions
    buffers: Mapping[int, access_places.Bytes]
    drop: bool = False
    """Reads outside give zero and writes outside are dropped, instead of being errors."""


class Memories(Port):
    """The memories that one core reaches."""

    def __init__(
        self, core: Core, cluster: Mapping[str, Mapping[Space, access_places.Bytes]], global_memory: GlobalMemory
    ) -> None:
        self.core = core
        self.cluster = cluster
        self.own = cluster[core.machine.role]
        self.global_memory = global_memory
        ub = self.own.get(UB, NOTHING)
        self.register_starts = range(0, len(ub) - VECTOR_BYTES + 1, GRANULE)
        """The places in UB at which the contiguous bytes of a register may start."""
        self.lanes_of_ub = {dtype.char: (ub.view(dtype), dtype.itemsize.bit_length() - 1) for dtype in LANE_TYPES}
        """UB as lanes of each type, and the power of two that is their width."""

    def __getitem__(self, space: Space) -> access_places.Bytes:
        """An on-chip memory of its own."""
        return self.own[space]

    # --- accesses -----------------------------------------------------------------------------------------------------

    def reached(self, verb: str, number: int, offsets: np.ndarray[Any, np.dtype[np.int64]], width: int) -> None:
        """Workitems access an argument at these offsets; a run that looks how far arguments are reached notes it."""

    def read(self, place: AccessPlace, by_use: bool = False) -> access_places.Bytes:
        space, start, width, alignment, at, _ = place
        if place.in_pieces:
            return self._read_pieces(place)
        if at is None and (own := self.own.get(space)) is not None:  # most accesses are these, and fit
            end = start + width
            if start >= 0 and end <= len(own) and not start % alignment:
                return own[start:end]
        memory, offset, inside = self.window("reads", place)
        if inside:
            return memory[offset : offset + width]
        data = np.zeros(width, np.uint8)
        low, high = clip(memory, offset, width)
        data[low:high] = memory[offset + low : offset + high]
        return data

    def _read_pieces(self, place: AccessPlace) -> access_places.Bytes:
        width = place.width
        memory, offsets, inside = self._windows("reads", place)
        if inside:
            return access_places.pieces(memory, offsets, width).copy()
        rows = np.zeros(place.shape, np.uint8)
        numbers = access_places.touching(offsets, width, len(memory))
        offsets = access_places.at_places(offsets, numbers)
        whole = (offsets >= 0) & (offsets <= len(memory) - width)
        rows[numbers[whole]] = access_places.pieces(memory, offsets[whole], width)
        for number, offset in zip(numbers[~whole], offsets[~whole], strict=True):
            low, high = clip(memory, int(offset), width)
            rows[number, low:high] = memory[offset + low : offset + high]
        return rows

    def write(
        self, place: AccessPlace, data: access_places.Bytes, active: Active | None = None, atomic: Atomic | None = None
    ) -> None:
        space, start, width, alignment, at, _ = place
        if place.in_pieces:
            self._write_pieces(place, data, atomic)
            return
        if active is None and at is None and (own := self.own.get(space)) is not None:
            end = start + width
            if start >= 0 and end <= len(own) and not start % alignment:
                own[start:end] = data
                return
        memory, offset, inside = self.window("writes", place)
        if not inside:
            low, high = clip(memory, offset, width)
            data, offset = data[low:high], offset + low
            active = None if active is None else active[low:high]
        window = memory[offset : offset + len(data)]
        if active is None:
            window[:] = data
        else:
            np.copyto(window, data, where=active)

    def _write_pieces(self, place: AccessPlace, data: access_places.Bytes, atomic: Atomic | None) -> None:
        width = place.width
        memory, offsets, inside = self._windows("writes", place)
        if not inside:
            numbers = access_places.touching(offsets, width, len(memory))
            offsets, data = access_places.at_places(offsets, numbers), data[numbers]
            inside = bool(((offsets >= 0) & (offsets <= len(memory) - width)).all())
        if inside and (view := access_places.view_to_write(memory, offsets, width)) is not None:
            view[...] = data if atomic is None else atomic.combine(view, data)
            return
        if atomic is None and inside and data.size <= access_places.INDEXED:  # where pieces overlap the last one stays
            memory[np.asarray(offsets)[:, np.newaxis] + np.arange(width)] = data
            return
        if atomic is None:
            numbers = access_places.lasting(offsets)
            offsets, data = access_places.at_places(offsets, numbers), data[numbers]
        for offset, row in zip(offsets, data, strict=True):
            low, high = clip(memory, int(offset), width)
            stored = row
            if atomic is not None:
                old = np.zeros(width, np.uint8)  # an element may lie half outside
                old[low:high] = memory[offset + low : offset + high]
                stored = atomic.combine(old, row)
            memory[offset + low : offset + high] = stored[low:high]

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        if start in self.register_starts:
            ub, power = self.lanes_of_ub[dtype.char]
            return ub[start >> power : (start + VECTOR_BYTES) >> power].copy()
        return super().load(start, dtype)

    def store(self, start: int, value: Lanes) -> None:
        if start in self.register_starts:
            ub, power = self.lanes_of_ub[value.dtype.char]
            ub[start >> power : (start + VECTOR_BYTES) >> power] = value
        else:
            super().store(start, value)

    def say(self, complaint: Complaint) -> None:
        if complaint.is_fatal:
            raise Fault(complaint.kind, complaint.message, bytes=complaint.bytes)

    # --- bounds and alignment -----------------------------------------------------------------------------------------

    def window(self, verb: str, place: AccessPlace) -> tuple[access_places.Bytes, int, bool]:
        """The memory of bytes in a row, the offset in it, and whether all of them lie inside."""
        space, start, width, alignment, at, _ = place
        if not self._exists(verb, space, at):
            return NOTHING, 0, False
        start = signed64(int(start))  # what pto.addptr gives for pointer and offset
        if start % alignment:
            self.aligned(verb, space, start, alignment)
        if space is not GM:
            memory = self.other(at)[space] if at else self.own[space]
            if start >= 0 and start + width <= len(memory):
                return memory, start, True
            message = outside(verb, space.value, len(memory), start, width)
            self.core.port.say(Complaint("out-of-bounds", message, bytes=(start, start + width)))
            return memory, start, False
        number, offset = decode(start)
        memory = self.global_memory.buffers.get(number)
        if memory is not None and offset >= 0 and offset + width <= len(memory):
            return memory, offset, True
        dropped = memory is not None and self.global_memory.drop
        message, extent = self.global_memory.regions.stray(verb, start, width)
        severity: Severity = "note" if dropped else "error"
        self.core.port.say(Complaint("out-of-bounds", message, severity, extent, is_fatal=not dropped, is_stray=True))
        return (NOTHING, 0, False) if memory is None else (memory, offset, False)

    def _exists(self, verb: str, space: Space, at: str | None) -> bool:
        """Code of the cube core that no section and no kind of kernel keeps from UB has none to go to."""
        if space is GM or at is not None or space in self.own:
            return True
        self.core.port.say(Complaint("invalid", f"{verb} {space}, which {self.core.machine.role} does not have"))
        return False

    def other(self, role: str) -> Mapping[Space, access_places.Bytes]:
        """The memories of another core of the cluster."""
        return self.cluster[role]

    def _windows(self, verb: str, place: AccessPlace) -> tuple[access_places.Bytes, access_places.Starts, bool]:
        """The memory of pieces and the offsets in it, checked as a whole."""
        space, starts, width, alignment, at, _ = place
        if not len(starts):
            return NOTHING, starts, True
        if not self._exists(verb, space, at):
            return NOTHING, starts, False
        low, high = access_places.lowest_and_highest(starts)
        if alignment > 1 and (odd := access_places.first_misaligned(starts, alignment)) is not None:
            self.aligned(verb, space, odd, alignment)
        memory, first, inside = self.window(verb, AccessPlace(space, low, high - low + width, at=at))
        return memory, access_places.shifted(starts, first - low), inside

    def aligned(self, verb: str, space: Space, start: int, alignment: int) -> None:
        """A pointer must be aligned even where no lane of the access is active."""
        if start % alignment:
            start = signed64(start)
            offset = decode(start)[1] if space is GM else start
            self.core.port.say(Complaint("misaligned", misaligned(verb, space, offset, alignment)))

    # --- what lies where ----------------------------------------------------------------------------------------------

    def present(self, place: AccessPlace) -> access_places.Bytes:
        """The content of pieces; zeros where some of it lies outside, which is complained of elsewhere."""
        memory, offsets = self._memory(place)
        if len(offsets):
            low, high = access_places.lowest_and_highest(offsets)
            if low >= 0 and high + place.width <= len(memory):
                return access_places.pieces(memory, offsets, place.width).reshape(-1)
        return np.zeros(len(offsets) * place.width, np.uint8)

    def landing(self, place: AccessPlace) -> access_places.Places | None:
        """The numbers of those pieces of which some byte exists; None: all."""
        memory, offsets = self._memory(place)
        low, high = access_places.lowest_and_highest(offsets)
        if low >= 0 and high + place.width <= len(memory):
            return None
        return access_places.touching(offsets, place.width, len(memory))

    def _memory(self, place: AccessPlace) -> tuple[access_places.Bytes, access_places.Starts]:
        """The memory of pieces, of which nothing may exist, and their starts as offsets in it."""
        space, starts, _, _, at, _ = place
        if space is not GM or not len(starts):
            return (self.other(at) if at else self.own).get(space, NOTHING), starts
        number, first = decode(int(starts[0]))
        memory = self.global_memory.buffers.get(number, NOTHING)
        return memory, access_places.shifted(starts, first - int(starts[0]))

    def footprint(self, place: AccessPlace) -> Footprint:
        """An access in the words of the machine's observers."""
        space, starts, width, _, at, _ = place
        machine = self.core.machine
        owner = machine if at is None else machine.cluster.member(at)
        return Footprint(space, None if space is GM else owner, starts, width)


def clip(memory: access_places.Bytes, offset: int, width: int) -> tuple[int, int]:
    """The part of an access that lies inside the memory."""
    low = min(max(0, -offset), width)
    return low, max(low, min(width, len(memory) - offset))
