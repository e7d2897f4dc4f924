"""Walking over the elements of vector tiles inside a scope: registers with their masks, rows, columns.

A tile operation visits its valid region in one of two ways. Where every tile is linear, one stream of registers covers
all elements; otherwise each row is a stream of its own, the last register of which may be partly active. A register
that is known to be full needs no mask of its own; a tail loads with its mask, so that bytes behind a row do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Attribute, SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.language.builder import Builder, Number, known
from ptosim.language.types import MaskType, VregType
from ptosim.tiles.tile_values import Tile

Body = Callable[..., Sequence[SSAValue] | None]


@cache
def mask_type(width: int) -> MaskType:
    """The masks of lanes of this many bytes; lanes of eight bytes are pairs of four."""
    return MaskType(StringAttr(f"b{8 * min(width, 4)}"))


def everything(build: Builder, width: int) -> SSAValue:
    """A mask of all lanes."""
    type_ = mask_type(width)
    return build.op(f"pset_{type_.granularity.data}", pattern="PAT_ALL", result=type_)


def first(build: Builder, count: int, width: int) -> SSAValue:
    """A mask of the first lanes; `count` is one that a pattern names."""
    type_ = mask_type(width)
    return build.op(f"pset_{type_.granularity.data}", pattern=f"PAT_VL{count}", result=type_)


def tail(build: Builder, count: Number, width: int) -> tuple[SSAValue, SSAValue]:
    """A mask of the first `count` lanes (all of them if there are fewer), and how many elements remain behind them."""
    type_ = mask_type(width)
    return build.op(f"plt_{type_.granularity.data}", count=build.cast(count, i32), result=type_, next=i32)


@dataclass(frozen=True)
class Lanes:
    """A run of elements, one register after the other: how many, the most there can be, and the bytes of a lane.

    What is the same for every register is built when this is made, so that it can stand before a loop over rows.
    """

    build: Builder
    count: Number
    most: int
    width: int
    multiple: int = 1
    """A known divisor of the count, if the count is not known."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_mask", self._common_mask())

    @property
    def per_register(self) -> int:
        return VECTOR_BYTES // self.width

    @property
    def full(self) -> bool:
        """Whether every register is known to be full."""
        count = known(self.count)
        return (self.multiple if count is None else count) % self.per_register == 0

    @property
    def _units(self) -> Number:
        """The lanes of masks: an element of eight bytes has two."""
        return self.build.times(self.count, max(self.width // 4, 1))

    def _everything(self) -> SSAValue | None:
        return everything(self.build, self.width)

    def _tail(self, count: Number) -> tuple[SSAValue, SSAValue]:
        return tail(self.build, count, self.width)

    def _common_mask(self) -> SSAValue | None:
        if self.full:
            return self._everything()
        return self._tail(self._units)[0] if self.most <= self.per_register else None

    def each(self, body: Body, *carried: SSAValue) -> Sequence[SSAValue]:
        """For every register its first element, its mask and the carried values; the body gives the next ones."""
        build, mask = self.build, self.__dict__["_mask"]
        if known(self.count) == 0:
            return carried
        if self.most <= self.per_register and not self.full:  # nothing happens where no lane is active
            return body(build.index(0), mask, *carried) or carried
        if self.full:

            def full(at: SSAValue, *now: SSAValue) -> Sequence[SSAValue] | None:
                return body(at, mask, *now)

            return build.loop(self.count, self.per_register, full, *carried)

        def step(at: SSAValue, rest: SSAValue, *now: SSAValue) -> Sequence[SSAValue]:
            active, after = self._tail(rest)
            return [after, *(body(at, active, *now) or ())]

        units = build.cast(self._units, i32)
        return build.loop(self.count, self.per_register, step, units, *carried)[1:]


def over(build: Builder, tiles: Sequence[Tile], step: Callable[[RegisterAccess], None]) -> None:
    """A scope that visits the valid region of the first tile; the tiles have elements of one width."""
    build.scope(lambda: each_register(build, tiles, step))


def each_register(
    build: Builder,
    tiles: Sequence[Tile],
    step: Callable[[RegisterAccess], None],
    width: int | None = None,
    of: type[Lanes] = Lanes,
) -> None:
    """Visit the valid region of the first tile, inside a scope. Lanes are as wide as its elements, or as is said."""
    lead, width = tiles[0], width or tiles[0].kind.bytes
    if not all(tile.is_linear for tile in tiles) or len({known(tile.rows) == 1 for tile in tiles}) > 1:
        each_register_of_rows(build, lead, step, width, of)
        return
    count, most = build.times(lead.rows, lead.cols), lead.buf.rows * lead.buf.cols
    lanes = of(build, count, most, width, known(lead.cols) or 1)

    def register(at: SSAValue, mask: SSAValue) -> None:
        step(RegisterAccess(build, mask, lanes.full, None, at))

    lanes.each(register)


def each_register_of_rows(
    build: Builder, lead: Tile, step: Callable[[RegisterAccess], None], width: int, of: type[Lanes] = Lanes
) -> None:
    """Visit the valid region of a tile, each row by itself, in lanes of so many bytes."""
    lanes = of(build, lead.cols, lead.buf.cols, width)

    def row(number: SSAValue) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            step(RegisterAccess(build, mask, lanes.full, number, at))

        lanes.each(register)

    build.loop(lead.rows, 1, row)


@dataclass(frozen=True)
class RegisterAccess:
    """One register of every tile: where it stands and which lanes are active."""

    build: Builder
    mask: SSAValue
    full: bool
    """Whether all lanes are known to be active."""
    row: SSAValue | None
    """None where all rows are one stream."""
    at: SSAValue

    def of(self, mask: SSAValue) -> RegisterAccess:
        """The same place with other active lanes."""
        return replace(self, mask=mask, full=False)

    def offset(self, tile: Tile) -> SSAValue:
        """The element of a tile that the register begins with."""
        return offset(self.build, tile, self.row, self.at)

    def load(self, tile: Tile, dist: str | None = None, element: Attribute | None = None) -> SSAValue:
        return load(self.build, tile, self.offset(tile), None if self.full else self.mask, dist, element)

    def store(self, tile: Tile, value: SSAValue, dist: str | None = None) -> None:
        self.build.vsts(value=value, dest=tile.pointer(self.build), offset=self.offset(tile), mask=self.mask, dist=dist)


def offset(build: Builder, tile: Tile, row: Number | None, at: Number) -> SSAValue:
    """The number of an element from the start of a row-major tile."""
    return build.index(at if row is None else build.plus(build.times(row, tile.pitch), at))


def load(
    build: Builder,
    tile: Tile,
    at: SSAValue,
    mask: SSAValue | None = None,
    dist: str | None = None,
    element: Attribute | None = None,
) -> SSAValue:
    """A register of a tile; with a mask only the active lanes count as read."""
    kind = element or tile.element
    return build.vlds(source=tile.pointer(build), offset=at, dist=dist, result=VregType.of(kind), mask=mask)
