"""Tiles as the author holds them: allocated, indexed, sliced, with a valid shape that may be set."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.ir import SSAValue

from ptosim.author.coerce import counts, index, integer64, literal, scalar_value
from ptosim.author.dtypes import DType, TileDescription
from ptosim.author.extents import plus, times
from ptosim.author.failures import WrongType, failure
from ptosim.author.tile_types import described
from ptosim.author.trace import current, not_in_tileop
from ptosim.author.values import PointerValue, ScalarValue, Traced, wrap
from ptosim.effects.names import Space
from ptosim.language.catalogue import operation
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_types import TileBufType
from ptosim.language.tile.tile_view import AllocTile
from ptosim.language.types import SPACE_SPELLINGS, PtrType, element_name


class TileValue(Traced):
    """A tile: a rectangle of elements in a memory of the core."""

    rank = 2

    def like(self, ssa: SSAValue) -> TileValue:
        made = TileValue(ssa)
        made.rank = self.rank
        return made

    @property
    def tile(self) -> TileBuf:
        assert isinstance(self.ssa.type, TileBufType)
        return self.ssa.type.data

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tile.shape[-self.rank :]

    @property
    def dtype(self) -> DType:
        return DType(element_name(self.tile.element) or "")

    @property
    def memory_space(self) -> str:
        return "ub" if self.tile.loc == "vec" else self.tile.loc

    @property
    def valid_shape(self) -> ValidShape:
        return ValidShape(self)

    @valid_shape.setter
    def valid_shape(self, extents: Any) -> None:
        if not isinstance(extents, tuple | list) or len(extents) != self.rank:
            raise failure(WrongType, f"valid_shape has {self.rank} entries, not {extents!r}")
        if None not in self.tile.valid or self.tile.valid.count(None) != 2:
            hint = "give alloc_tile a valid_shape of values that only the run knows, such as pto.const(n)"
            raise failure(WrongType, "the valid shape of this tile is fixed by its type", hint=hint)
        rows, cols = (1, *extents)[-2:]
        found = operation("pto.set_validshape")
        assert found is not None
        sides = {"valid_row": index(rows, "valid rows"), "valid_col": index(cols, "valid columns")}
        current().make(found, {"source": self.ssa, **sides})

    def as_ptr(self) -> PointerValue:
        """The address of its first element."""
        trace = current()
        found = operation("pto.tile_buf_addr")
        assert found is not None
        space = SPACE_SPELLINGS[self.tile.loc]

        def make() -> SSAValue:
            type_ = PtrType.of(self.tile.element, Space(space))
            return trace.make(found, {"source": self.ssa}, [type_], name="address").results[0]

        return wrap(trace.once(("address", self.ssa), make))

    def fill(self, value: Any) -> None:
        """Set every element."""
        found = operation("pto.texpands")
        assert found is not None
        given = scalar_value(value, self.tile.element, "the value")
        not_in_tileop("tile.fill").make(found, {"scalar": given, "dst": self.ssa})

    def print(self, *arguments: Any, **options: Any) -> None:
        """Show it when the kernel runs."""
        from ptosim.author.surface import tile_call

        tile_call("print")(self, *arguments, **options)

    def __getitem__(self, key: Any) -> TileElement | TileSlice:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != self.rank:
            shown = "tile[r, c] or tile[r, c:]" if self.rank == 2 else "tile[i] or tile[i:]"
            raise failure(WrongType, f"this tile has {self.rank} dimensions: write {shown}")
        *rows, last = keys
        if rows and isinstance(rows[0], slice):
            raise failure(WrongType, "a slice of a tile is a part of one row: tile[r, c:]")
        row = counts(rows[0], "the row of a tile") if rows else 0
        if isinstance(last, slice):
            if last.stop is not None or last.step is not None:
                raise failure(WrongType, "a slice of a tile is open: tile[r, c:], which loads as many lanes as fit")
            start = 0 if last.start is None else last.start
            return TileSlice(self, row, counts(start, "the column of a tile"))
        return TileElement(self, row, counts(last, "the column of a tile"))

    def __setitem__(self, key: Any, value: Any) -> None:
        raise failure(WrongType, "an element of a tile is set by scalar.store(value, tile[r, c])")

    def __len__(self) -> int:
        return self.shape[0]


class ValidShape:
    """The valid rows and columns of a tile: numbers where the type says them."""

    def __init__(self, tile: TileValue) -> None:
        self._tile = tile

    def __getitem__(self, number: int) -> Any:
        rank = self._tile.rank
        if not -rank <= number < rank:
            raise IndexError(number)
        side = number % rank + 2 - rank
        known = self._tile.tile.valid[side]
        if known is not None:
            return known
        found = operation("pto.tile_valid_rows" if side == 0 else "pto.tile_valid_cols")
        assert found is not None
        from ptosim.author.coerce import INDEX

        return wrap(current().make(found, {"source": self._tile.ssa}, [INDEX]).results[0])

    def __len__(self) -> int:
        return self._tile.rank

    def __iter__(self) -> Iterator[Any]:
        return iter([self[number] for number in range(len(self))])


class TileElement:
    """`tile[r, c]`: an element, to load or store; in arithmetic it is loaded."""

    def __init__(self, tile: TileValue, row: Any, column: Any) -> None:
        self._tile = tile
        self._row = row
        self._column = column

    def element_place(self) -> tuple[SSAValue, Any]:
        """The pointer and the offset in elements."""
        return self._tile.as_ptr().ssa, plus(times(self._row, self._tile.tile.cols), self._column)

    def as_ptr(self) -> Any:
        from ptosim.author.memory import addptr

        base, offset = self.element_place()
        return addptr(wrap(base), offset)

    def loaded(self) -> ScalarValue:
        from ptosim.author.memory import load

        return load(self)


class TileSlice(TileElement):
    """`tile[r, c:]`: where a vector is loaded or stored."""


def alloc_tile(
    type: Any = None,
    *,
    shape: Any = None,
    dtype: Any = None,
    memory_space: Any = "ub",
    valid_shape: Any = None,
    blayout: Any = "RowMajor",
    slayout: Any = "NoneBox",
    fractal_size: int = 512,
    pad: Any = "Null",
    addr: Any = None,
    valid_row: Any = None,
    valid_col: Any = None,
) -> TileValue:
    """A tile in a memory of the core: of a static shape; what is valid of it may depend on the run."""
    trace = not_in_tileop("pto.alloc_tile")
    if type is not None:
        return _of_type(type, addr, valid_row, valid_col)
    if shape is None or dtype is None:
        raise failure(WrongType, "pto.alloc_tile takes shape=[rows, cols] and dtype=T")
    extents: list[Any] = [shape] if isinstance(shape, int) else list(shape)
    valid: list[Any] | None = None
    if valid_shape is not None:
        valid = [valid_shape] if isinstance(valid_shape, int | Traced) else list(valid_shape)
    known = None if valid is None else [literal(each) for each in valid]
    if valid is not None and len(extents) == 1 and known == [None]:
        made = described(shape, dtype, memory_space, (None,), blayout, slayout, fractal_size, pad)
        sides: list[Any] = [1, valid[0]]
    else:
        made = described(shape, dtype, memory_space, known, blayout, slayout, fractal_size, pad)
        sides = [None, None, *(known or ())][-2:] if valid is None else [1, *valid][-2:]
    both_open = len(extents) == 1 and known == [None]
    type_ = made.type
    assert isinstance(type_, TileBufType)
    operands: dict[str, Any] = {"addr": None if addr is None else integer64(addr, "addr")}
    for role, side, extent in zip(("valid_row", "valid_col"), sides, type_.data.valid, strict=True):
        operands[role] = index(side, role) if extent is None or both_open else None
    tile = TileValue(trace.make(AllocTile, operands, [type_], name="tile").results[0])
    tile.rank = len(extents)
    return tile


def _of_type(type_: Any, addr: Any, valid_row: Any, valid_col: Any) -> TileValue:
    from ptosim.author.dtypes import type_of

    wanted = type_of(type_, "the type of a tile")
    if not isinstance(wanted, TileBufType):
        raise failure(WrongType, f"pto.alloc_tile makes tiles, not {wanted}")
    operands = {
        "addr": None if addr is None else integer64(addr, "addr"),
        "valid_row": None if valid_row is None else index(valid_row, "valid_row"),
        "valid_col": None if valid_col is None else index(valid_col, "valid_col"),
    }
    made = TileValue(current().make(AllocTile, operands, [wanted], name="tile").results[0])
    made.rank = len(type_.shape) if isinstance(type_, TileDescription) else 2
    return made
