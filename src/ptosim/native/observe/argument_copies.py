"""Arrays of a check in place of those of the caller: the same where only read, else copies in memory that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.machine.memory import decode
from ptosim.native.ir.context import BUFFER_BITS

Bytes = NDArray[np.uint8]
KEPT = 256 << 20
"""The most bytes kept from check to check: to get memory anew takes longer than to run many a kernel."""


@dataclass(frozen=True)
class StandIns:
    """The buffers of one run, and which of them may be read and written, as bits by their number, from 1 on."""

    buffers: Sequence[Bytes]
    readable: int = -1
    writable: int = -1


@dataclass
class Stock:
    """Memory of one kernel, for one run at a time."""

    usage: tuple[Sequence[int], Sequence[int]] | None
    """The parameters that are read and those that are written, if known."""
    _idle: list[Bytes] = field(default_factory=list[Bytes])

    def stand_ins(self, values: Sequence[Any], buffers: Sequence[Bytes]) -> StandIns:
        if self.usage is None or len(buffers) >= BUFFER_BITS - 1:
            return StandIns([self._copied(buffer) for buffer in buffers])
        read, written = ({decode(values[number])[0] for number in side} for side in self.usage)
        found: list[Bytes] = []
        for number, buffer in enumerate(buffers):
            if number not in written:
                found.append(buffer)
            else:
                found.append(self._copied(buffer) if number in read else self._some(len(buffer)))
        return StandIns(found, *(sum(1 << (number + 1) for number in side) for side in (read, written)))

    def take_back(self, stand_ins: StandIns, buffers: Sequence[Bytes]) -> None:
        """These are not needed any more."""
        self._idle = [each for each, given in zip(stand_ins.buffers, buffers, strict=True) if each is not given]
        if sum(map(len, self._idle)) > KEPT:
            self._idle = []

    def _some(self, size: int) -> Bytes:
        for number, each in enumerate(self._idle):
            if len(each) == size:
                return self._idle.pop(number)
        return np.empty(size, np.uint8)

    def _copied(self, buffer: Bytes) -> Bytes:
        copy = self._some(len(buffer))
        copy[:] = buffer
        return copy
