"""The content of an `!pto.align` value, and the steps of a store stream by stores of several kinds.

Values are never changed: a store gives a new one. Bytes of an incomplete granule are in the value, not in memory, until
a later store completes the granule or a flush writes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ptosim.effects.names import UB
from ptosim.effects.vector_stream import EMPTY, StoreStream, append, continues
from ptosim.reference.memory.access_places import Bytes

if TYPE_CHECKING:
    from ptosim.reference.core import Core


@dataclass(frozen=True)
class LoadAlign:
    """A load stream: the granule that has been read ahead, and the bytes in it, where remarks are wanted."""

    granule: int
    content: bytes = b""


@dataclass(frozen=True, eq=False)
class StoreAlign:
    """A store stream: where its pending bytes belong, and the bytes."""

    stream: StoreStream = EMPTY
    pending: Bytes = field(default_factory=lambda: np.zeros(0, np.uint8))


def append_bytes(core: Core, align: StoreAlign, address: int, data: Bytes) -> StoreAlign:
    """Store bytes as the next step of a stream; complete granules reach memory."""
    if not continues(align.stream, address):
        core.lint(
            f"the store stream has a gap: it ended at ub {align.stream.end} and goes on at {address}; "
            f"the {align.stream.pending} bytes that were pending are written first"
        )
        align = _written(core, align)
    low, high, stream = append(align.stream, address, len(data))
    joined = np.concatenate((align.pending, data)) if align.stream.pending else data
    if high > low:
        core.write(UB, low, joined[: high - low])
    after = StoreAlign(stream, joined[high - low :].copy())
    core.hold(align, after)
    return after


def _written(core: Core, align: StoreAlign) -> StoreAlign:
    core.write(UB, align.stream.start, align.pending)
    after = StoreAlign()
    core.hold(align, after)
    return after


def flush(core: Core, align: StoreAlign, *expected: int) -> None:
    """End a stream. It should have got to one of the expected addresses."""
    stream = align.stream
    if not any(continues(stream, address) for address in expected):
        message = f"the flush expects the stream to end at ub {expected[0]}, but it ended at {stream.end}"
        core.stray(message, "stream-misuse")
    if stream.pending:
        core.write(UB, stream.start, align.pending)
    core.hold(align, None)
