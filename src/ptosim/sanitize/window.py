"""The bytes of one access as a way to index shadow arrays: a slice, equally spaced rows, or a list of places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import GRANULE

Array = NDArray[Any]
Places = NDArray[np.int64]
Starts = int | range | Places
"""The starts of the pieces of an access: a single one, equally spaced ones, or any."""

GRANULE_BITS = GRANULE.bit_length() - 1

PORTION = 1 << 21
"""Bytes of pieces that are looked at together: each takes a few words. More than any memory on the chip has."""
_PIECE = 64
"""The cost of a piece besides its bytes, in bytes."""


class ShadowWindow:
    """The elements of a shadow array that an access covers, in the order of its bytes."""

    __slots__ = ("_granules", "count", "places", "start", "stride", "width")

    def __init__(self, start: int, width: int, count: int = 1, stride: int = 0, places: Places | None = None) -> None:
        self.start = start
        self.width = width
        self.count = count
        self.stride = stride
        self.places = places  # irregular: one per byte, and the other fields do not matter
        self._granules: ShadowWindow | None = None

    @property
    def starts(self) -> int | range:
        """The starts of its rows, unless they are irregular."""
        return self.start if self.count == 1 else range(self.start, self.start + self.count * self.stride, self.stride)

    def of(self, array: Array) -> Array:
        """The covered elements; a view unless they are irregular."""
        if self.places is not None:
            return array[self.places]
        if self.count == 1:
            return array[self.start : self.start + self.width]
        size = array.itemsize
        return np.ndarray((self.count, self.width), array.dtype, array, self.start * size, (self.stride * size, size))

    def put(self, array: Array, value: Any) -> None:
        """Set the covered elements to one value, or to an array of one value per byte."""
        if self.places is not None:
            array[self.places] = value
            return
        view = self.of(array)
        view[...] = value.reshape(view.shape) if isinstance(value, np.ndarray) else value

    def addresses(self) -> Places:
        """The address of every byte."""
        if self.places is not None:
            return self.places
        if self.count == 1:
            return np.arange(self.start, self.start + self.width, dtype=np.int64)
        rows = self.start + np.arange(self.count, dtype=np.int64) * self.stride
        return (rows[:, np.newaxis] + np.arange(self.width, dtype=np.int64)).reshape(-1)

    def granules(self) -> ShadowWindow:
        """The granules that the access touches, as a window on an array with one element per granule."""
        if self._granules is None:
            self._granules = self._touched()
        return self._granules

    def _touched(self) -> ShadowWindow:
        if self.places is None and (self.count == 1 or self.stride % GRANULE == 0):
            first = self.start >> GRANULE_BITS
            last = (self.start + self.width + GRANULE - 1) >> GRANULE_BITS
            return ShadowWindow(first, last - first, self.count, self.stride >> GRANULE_BITS)
        return ShadowWindow(0, 0, places=np.unique(self.addresses() >> GRANULE_BITS))

    @property
    def is_stretch(self) -> bool:
        """Whether its bytes lie in a row."""
        return self.places is None and self.count == 1

    @property
    def is_aligned(self) -> bool:
        """Whether it covers whole granules."""
        return self.places is None and not (self.start | self.width | self.stride) % GRANULE

    def reach(self) -> tuple[int, int]:
        """The lowest element, and one past the highest."""
        if self.places is not None:
            return int(self.places.min()), int(self.places.max()) + 1
        return self.start, self.start + (self.count - 1) * self.stride + self.width

    @property
    def size(self) -> int:
        return len(self.places) if self.places is not None else self.width * self.count


def joined(starts: Any, width: int) -> tuple[Any, int]:
    """The pieces of a footprint; those that lie one behind the other as a single one, whose start is an integer."""
    if isinstance(starts, int):
        return starts, width
    count = len(starts)
    if count == 1:
        return int(starts[0]), width
    if isinstance(starts, range):
        return (starts.start, width * count) if starts.step == width else (starts, width)
    if count and int(starts[1] - starts[0]) == width and bool((starts[1:] - starts[:-1] == width).all()):
        return int(starts[0]), width * count
    return starts, width


class WindowPart(NamedTuple):
    """The pieces of an access that lie in a memory, or the part of a single one that does."""

    starts: Starts
    width: int
    numbers: Places | None = None
    """The numbers of these among all pieces; None: all."""
    first: int = 0
    """The byte of a piece that comes first."""

    def window(self) -> ShadowWindow:
        """On the memory that they lie in."""
        if isinstance(self.starts, int):
            return ShadowWindow(self.starts, self.width)
        if isinstance(self.starts, range) and self.starts.step > 0:
            return ShadowWindow(self.starts.start, self.width, len(self.starts), self.starts.step)
        return _regular(as_places(self.starts), self.width)

    def of(self, image: Array, width: int) -> Array:
        """Their bytes of an image of the whole access, whose pieces have `width` bytes."""
        if self.numbers is None:
            return image
        return image.reshape(-1, width)[self.numbers, self.first : self.first + self.width].reshape(-1)

    def put(self, image: Array, width: int, values: Array) -> None:
        """Set them in an image of the whole access."""
        rows, last = image.reshape(-1, width), self.first + self.width
        rows[slice(None) if self.numbers is None else self.numbers, self.first : last] = values.reshape(-1, self.width)


def inside(starts: Starts, width: int, size: int) -> Iterable[WindowPart]:
    """The pieces that lie in a memory of `size` bytes; of those that leave it each by itself, as far as it does not.

    A copy that reads or writes the same bytes over and over may have so many pieces that they come in portions.
    """
    if type(starts) is int and width > 0 and 0 <= starts <= size - width:
        return (WindowPart(starts, width),)
    return _portions(starts, width, size)


def _portions(starts: Starts, width: int, size: int) -> Iterator[WindowPart]:
    if not width or not (isinstance(starts, int) or len(starts)):
        return
    rows = PORTION // (width + _PIECE) or 1
    if isinstance(starts, int) or len(starts) <= rows:
        yield from _inside(starts, width, size)
        return
    for first in range(0, len(starts), rows):
        pieces = starts[first : first + rows]
        for part in _inside(pieces, width, size):
            numbers = np.arange(len(pieces)) if part.numbers is None else part.numbers
            yield part._replace(numbers=first + numbers)


def _inside(starts: Starts, width: int, size: int) -> Iterator[WindowPart]:
    if isinstance(starts, range) and starts.step > 0 and starts.start >= 0 and starts[-1] + width <= size:
        yield WindowPart(starts, width)  # it shows at once that they do
        return
    pieces = as_places(starts)
    whole = (pieces >= 0) & (pieces <= size - width)
    if whole.all():
        yield WindowPart(pieces, width)
        return
    if whole.any():
        yield WindowPart(pieces[whole], width, np.flatnonzero(whole))
    for number in np.flatnonzero(~whole & (pieces > -width) & (pieces < size)):
        start = int(pieces[number])
        low, high = max(start, 0), min(start + width, size)
        yield WindowPart(low, high - low, np.array([number]), low - start)


def byte_count(starts: Starts, width: int) -> int:
    """The bytes of an access."""
    return width if isinstance(starts, int) else width * len(starts)


def shifted(starts: Any, distance: int) -> Any:
    """The starts of a footprint, that much farther up."""
    if isinstance(starts, range):
        return range(starts.start + distance, starts.stop + distance, starts.step)
    return starts + distance


def as_places(starts: Any) -> Places:
    """The starts of a footprint, of which there may be only one, as an array. What 64 bits cannot hold is far outside
    of any memory, and so is the place that stands for it."""
    try:
        return np.atleast_1d(np.asarray(starts, np.int64))
    except OverflowError:
        return np.clip(np.atleast_1d(np.asarray(starts, object)), -_FAR, _FAR).astype(np.int64)


_FAR = 1 << 62


def _regular(starts: Places, width: int) -> ShadowWindow:
    if len(starts) == 1:
        return ShadowWindow(int(starts[0]), width)
    stride = int(starts[1] - starts[0])
    if stride > 0 and (len(starts) == 2 or bool((np.diff(starts) == stride).all())):
        if stride == width:
            return ShadowWindow(int(starts[0]), width * len(starts))
        return ShadowWindow(int(starts[0]), width, len(starts), stride)
    return ShadowWindow(0, 0, places=(starts[:, np.newaxis] + np.arange(width, dtype=np.int64)).reshape(-1))
