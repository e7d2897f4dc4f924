"""Places of the pieces of an access, for copies that touch many, and these pieces as arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Starts = range | Places
"""The starts of pieces. Equally spaced ones are a range, which is three numbers however many they are."""
Steps = tuple[tuple[int, int], ...]
"""Count and stride of each index, from the outermost to the innermost."""

INDEXED = 1 << 20
"""Bytes that are moved by an index for each of them; more are moved piece by piece, because indices take memory too."""

_ADDRESS = (1 << 64) - 1
_BYTE = np.dtype(np.uint8)


def places(base: int, *steps: tuple[int, int]) -> Places:
    """Every base + i * stride + j * stride ..., by (count, stride) from the outermost index to the innermost.

    An address beyond 64 bits wraps, as it does in a register."""
    starts = np.array([base & _ADDRESS], np.uint64).view(np.int64)
    for count, stride in steps:
        starts = (starts[:, np.newaxis] + np.arange(count, dtype=np.int64) * stride).reshape(-1)
    return starts


def joined_steps(steps: Iterable[tuple[int, int]]) -> Steps:
    """The fewest steps that say the same, outermost first; those given are (count, stride), innermost first."""
    joined: list[tuple[int, int]] = []
    for count, stride in steps:
        if joined and stride == joined[-1][0] * joined[-1][1]:
            joined[-1] = joined[-1][0] * count, joined[-1][1]
        elif count != 1:
            joined.append((count, stride))
    return tuple(reversed(joined))


def spaced(base: int, steps: Steps) -> Starts:
    """The same as `places`, as a range where there is a single step."""
    if not steps:
        return range(base, base + 1)
    count, stride = steps[0]
    return range(base, base + count * stride, stride) if len(steps) == 1 and stride else places(base, *steps)


def lowest_and_highest(starts: Starts) -> tuple[int, int]:
    """The lowest and highest byte of the starts of at least one piece."""
    if isinstance(starts, range):
        return min(starts[0], starts[-1]), max(starts[0], starts[-1])
    return int(starts.min()), int(starts.max())


def outermost_places(starts: Starts) -> tuple[int, int]:
    """The lowest and the highest of at least one piece."""
    if isinstance(starts, range):
        return 0, len(starts) - 1
    return int(starts.argmin()), int(starts.argmax())


def at_places(starts: Starts, numbers: Places) -> Places:
    """The starts of the pieces with these numbers."""
    return starts.start + starts.step * numbers if isinstance(starts, range) else starts[numbers]


def touching(starts: Starts, width: int, size: int) -> Places:
    """The numbers of the pieces of `width` bytes that have a byte in a memory of `size` bytes."""
    if isinstance(starts, range) and starts.step > 0:
        first = max(0, (-width - starts.start) // starts.step + 1)
        behind = min(len(starts), -((starts.start - size) // starts.step))
        return np.arange(first, behind, dtype=np.int64)
    places = np.asarray(starts)
    return np.flatnonzero((places + width > 0) & (places < size))


def lasting(starts: Starts) -> Places:
    """The numbers of the pieces that stay when all are written in order: those whose start does not come again."""
    if isinstance(starts, range):
        return np.arange(len(starts), dtype=np.int64)
    _, last = np.unique(starts[::-1], return_index=True)
    return np.sort(len(starts) - 1 - last)


def hull(active: NDArray[np.bool_]) -> tuple[int, int]:
    """The first active byte, and one past the last; none where nothing is active."""
    places = np.flatnonzero(active)
    return (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)


def shifted(starts: Starts, distance: int) -> Starts:
    """The same pieces, that much farther up."""
    if isinstance(starts, range):
        return range(starts.start + distance, starts.stop + distance, starts.step)
    return starts + distance


def first_misaligned(starts: Starts, alignment: int) -> int | None:
    """The first start that is no multiple of the alignment."""
    if isinstance(starts, range):
        return next((start for start in starts[:2] if start % alignment), None)
    odd = starts % alignment
    return int(starts[odd != 0][0]) if odd.any() else None


def _as_range(starts: Starts) -> range | None:
    """Equally spaced starts, if they are that."""
    if isinstance(starts, range):
        return starts
    if len(starts) < 2:
        return range(int(starts[0]), int(starts[0]) + 1) if len(starts) else range(0)
    stride = int(starts[1] - starts[0])
    if stride and (np.diff(starts) == stride).all():
        return range(int(starts[0]), int(starts[-1]) + stride, stride)
    return None


def pieces(memory: Bytes, offsets: Starts, width: int) -> Bytes:
    """The pieces as one array: a view where they are equally spaced, a copy otherwise."""
    equal = _as_range(offsets)
    if equal is not None:
        return _view(memory, equal, width) if equal else memory[:0].reshape(0, width)
    if len(offsets) * width > INDEXED:
        return np.concatenate([memory[offset : offset + width] for offset in offsets]).reshape(-1, width)
    return memory[np.asarray(offsets)[:, np.newaxis] + np.arange(width)]


def view_to_write(memory: Bytes, offsets: Starts, width: int) -> Bytes | None:
    """The pieces as a view that may be written at once; None where they are unequally spaced or overlap."""
    equal = _as_range(offsets)
    if equal is None or (len(equal) > 1 and abs(equal.step) < width):
        return None
    return _view(memory, equal, width) if equal else memory[:0].reshape(0, width)


def _view(memory: Bytes, starts: range, width: int) -> Bytes:
    return np.ndarray((len(starts), width), _BYTE, memory, starts[0], (starts.step, 1))
