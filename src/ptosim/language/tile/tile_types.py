"""The types of the tile language: tiles in both spellings, views of global memory, small arrays and opaque handles.

What follows from a tile type for its bytes is in tile_buf.py. A type that a file repeats is read once: the parser keeps
types by their text. The boxes of `left` tiles are read as those of one machine, whatever is written, so that types can
be compared before the machine is known; left_tile_layouts.py then gives them the order of the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.text.dimension_list import parse_extents
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.tile import tile_buf
from ptosim.language.types import element_of, is_element, is_scalar, parse_element

READ_AS = "a5"
"""The machine whose `left` tiles the parser reads."""


# --- tiles ------------------------------------------------------------------------------------------------------------


@irdl_attr_definition
class TileBufType(Data[tile_buf.TileBuf], TypeAttribute):
    """`!pto.tile_buf<vec, 16x64xf32, valid=?x?>`, or the long form with every field by name."""

    name = "pto.tile_buf"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tile_buf.TileBuf:
        assert isinstance(parser, LocatedParser)
        parser.parse_punctuation("<")
        tile = _parse_long(parser) if parser.at_word("loc") else _parse_short(parser, _FIELDS)[0]
        parser.parse_punctuation(">", " after a tile type")
        return tile

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_tile(printer, self.data)


def print_tile(printer: Printer, tile: tile_buf.TileBuf) -> None:
    """The text between the brackets of the short form: fields that have their default are left out."""
    printer.print_string(f"{tile.loc}, {tile.rows}x{tile.cols}x")
    printer.print_attribute(tile.element)
    if tile.valid != tile.shape:
        printer.print_string(f", valid={'x'.join(_dimension(extent) for extent in tile.valid)}")
    plain = tile_buf.TileBuf(tile.loc, tile.element, tile.rows, tile.cols, tile.shape)
    for field in ("blayout", "slayout", "fractal", "pad", "compact"):
        if (value := getattr(tile, field)) != getattr(plain, field):
            custom = field == "pad" and value >= tile_buf.CUSTOM_PAD
            printer.print_string(f", pad=0x{value - tile_buf.CUSTOM_PAD:08X}" if custom else f", {field}={value}")


def _dimension(extent: int | None) -> str:
    return "?" if extent is None else str(extent)


# --- reading tiles ----------------------------------------------------------------------------------------------------


def _parse_short(parser: LocatedParser, fields: Mapping[str, Reader]) -> tuple[tile_buf.TileBuf, dict[str, Any]]:
    """Location, shape with element, then fields by name in any order; and the fields that are not of the tile."""
    loc = _parse_word(parser, "loc", tile_buf.LOCATIONS)
    parser.parse_punctuation(",", " after the location of a tile")
    (dimensions, element), place = _placed(parser, _parse_dimensions)
    _check_element(parser, place, element)
    if len(dimensions) != 2:
        parser.raise_error(f"a tile has exactly two dimensions, rows and columns, not {len(dimensions)}", place)
    rows, cols = dimensions
    if rows is None or cols is None:
        parser.raise_error("rows and cols of a tile must be static; the valid region may vary", place)
    if rows <= 0 or cols <= 0:
        parser.raise_error(f"rows/cols must be positive, not {rows}x{cols}", place)
    given, places = _parse_fields(parser, fields)
    tile = tile_buf.TileBuf(loc, element, rows, cols, given.pop("valid", (rows, cols)))
    if "valid" in places:
        _check_valid(parser, places["valid"], tile)
    own = {name: given.pop(name) for name in _FIELDS if name in given}
    return replace(tile, **own).on(READ_AS), given


def _parse_fields(parser: LocatedParser, fields: Mapping[str, Reader]) -> tuple[dict[str, Any], dict[str, Span]]:
    """The values of the fields that are given, each at most once, and where they stand."""
    given: dict[str, Any] = {}
    places: dict[str, Span] = {}
    while parser.parse_optional_punctuation(",") is not None:
        start = parser.pos
        name = parser.parse_identifier(" of a tile: one of " + ", ".join(fields))
        if name in given:
            _fail(parser, start, f"duplicate key '{name}' in tile_buf compact syntax")
        if name not in fields:
            _fail(parser, start, f"unknown key '{name}' in tile_buf compact syntax; known: {', '.join(fields)}")
        parser.parse_punctuation("=")
        given[name], places[name] = _placed(parser, fields[name])
    return given, places


def _parse_long(parser: LocatedParser) -> tile_buf.TileBuf:
    """Every field by name in a fixed order; only `compact` may be left out."""
    places: dict[str, Span] = {}
    given: dict[str, Any] = {}
    for name, read in _LONG_FIELDS.items():
        if given and (name != "compact" or parser.at(MLIRTokenKind.COMMA)):
            parser.parse_punctuation(",", f" before '{name}'")
        elif given:
            break
        if not parser.at_word(name):
            order = ", ".join(_LONG_FIELDS)
            parser.raise_error(f"expected '{name}': the long form of a tile type has, in this order, {order}")
        parser.skip_token()
        parser.parse_punctuation("=")
        given[name], places[name] = _placed(parser, read)
    _check_element(parser, places["dtype"], given["dtype"])
    for name in ("rows", "cols"):
        if given[name] <= 0:
            parser.raise_error(f"rows/cols must be positive, but {name} is {given[name]}", places[name])
    valid = (given.pop("v_row"), given.pop("v_col"))
    tile = tile_buf.TileBuf(given.pop("loc"), given.pop("dtype"), given.pop("rows"), given.pop("cols"), valid)
    for name, part in (("v_row", (valid[0], None)), ("v_col", (None, valid[1]))):
        _check_valid(parser, places[name], replace(tile, valid=part))
    return replace(tile, **given).on(READ_AS)


def _placed(parser: LocatedParser, read: Reader) -> tuple[Any, Span]:
    """A value and where it stands."""
    start = parser.pos
    value = read(parser)
    return value, parser.span_since(start)


def _check_element(parser: LocatedParser, place: Span, element: Attribute) -> None:
    if not is_element(element) or element_of(element).bits < 8:
        parser.raise_error(f"a tile or view cannot have element type {element}", place)


def _check_valid(parser: LocatedParser, place: Span, tile: tile_buf.TileBuf) -> None:
    for side, valid, extent in zip(("row", "col"), tile.valid, tile.shape, strict=True):
        if valid is not None and valid > extent:
            parser.raise_error(f"valid_{side} ({valid}) exceeds {side} ({extent})", place)


def _fail(parser: LocatedParser, start: int, message: str) -> NoReturn:
    """An error about what was read since a place."""
    parser.raise_error(message, Span(start, max(start + 1, parser.span_since(start).end), parser.lexer.input))


def _parse_word(parser: LocatedParser, name: str, known: Sequence[str]) -> str:
    """One of the words of a field, bare or as a string."""
    start = parser.pos
    word = parser.parse_optional_identifier_or_str_literal()
    if word is None:
        parser.raise_error(f"expected {name}: one of {', '.join(known)}")
    if word not in known:
        _fail(parser, start, f"unknown {name}: {word}; known: {', '.join(known)}")
    return word


def _parse_number(parser: LocatedParser, name: str, known: Sequence[str]) -> int:
    """The number of one of the words of a field."""
    start = parser.pos
    number = parser.parse_integer(allow_boolean=False)
    if not 0 <= number < len(known):
        meanings = ", ".join(f"{index} {word}" for index, word in enumerate(known))
        _fail(parser, start, f"unknown {name}: {number}; known: {meanings}")
    return number


def _parse_pad(parser: LocatedParser) -> int:
    """A word by its number, or in hexadecimal the bits of the value itself."""
    start, is_custom = parser.pos, parser.span_here().text.lower().startswith("0x")
    if not is_custom:
        return _parse_number(parser, "pad", tile_buf.PADS)
    bits = parser.parse_integer(allow_boolean=False)
    if bits >> 32:
        _fail(parser, start, f"a pad has 32 bits at most, and 0x{bits:X} has more")
    return tile_buf.CUSTOM_PAD | bits


def _parse_fractal(parser: LocatedParser) -> int:
    start = parser.pos
    fractal = parser.parse_integer(allow_boolean=False)
    if fractal not in tile_buf.FRACTALS:
        known = ", ".join(map(str, tile_buf.FRACTALS))
        _fail(parser, start, f"unsupported s_fractal_size: {fractal}, must be one of {{{known}}}")
    return fractal


def _parse_valid(parser: LocatedParser) -> tuple[int | None, int | None]:
    start = parser.pos
    extents = parse_extents(parser)
    if len(extents) != 2:
        _fail(parser, start, f"valid must have exactly two dims, not {len(extents)}")
    return extents[0], extents[1]


def _parse_valid_extent(parser: LocatedParser, name: str) -> int | None:
    """A number, or `?` or -1 for one that only the run knows."""
    start = parser.pos
    if parser.parse_optional_punctuation("?") is not None:
        return None
    extent = parser.parse_integer(allow_boolean=False)
    if extent < -1:
        _fail(parser, start, f"{name} must be '?', -1, or non-negative, not {extent}")
    return None if extent == -1 else extent


def _parse_count(parser: LocatedParser) -> int:
    start = parser.pos
    count = parser.parse_integer(allow_boolean=False)
    if not SLOTS.start <= count < SLOTS.stop:
        _fail(parser, start, f"count of a multi_tile_buf must be {SLOTS.start}..{SLOTS.stop - 1}, not {count}")
    return count


def _parse_dimensions(parser: LocatedParser) -> tuple[list[int | None], Attribute]:
    """`16x?xf32`: extents, None for those that only the run knows, and the element type."""
    dimensions = parse_extents(parser)
    if dimensions:
        parser.parse_shape_delimiter()
    return dimensions, parse_element(parser)


Reader = Callable[[LocatedParser], Any]

_FIELDS: dict[str, Reader] = {
    "valid": _parse_valid,
    "blayout": lambda parser: _parse_word(parser, "blayout", tile_buf.BLOCK_LAYOUTS),
    "slayout": lambda parser: _parse_word(parser, "slayout", tile_buf.BOX_LAYOUTS),
    "fractal": _parse_fractal,
    "pad": _parse_pad,
    "compact": lambda parser: _parse_number(parser, "compact", tile_buf.COMPACTS),
}

_LONG_FIELDS: dict[str, Reader] = {
    "loc": lambda parser: _parse_word(parser, "loc", tile_buf.LOCATIONS),
    "dtype": parse_element,
    "rows": lambda parser: parser.parse_integer(allow_boolean=False),
    "cols": lambda parser: parser.parse_integer(allow_boolean=False),
    "v_row": lambda parser: _parse_valid_extent(parser, "v_row"),
    "v_col": lambda parser: _parse_valid_extent(parser, "v_col"),
    **{name: _FIELDS[name] for name in ("blayout", "slayout", "fractal", "pad", "compact")},
}


# --- several tiles ----------------------------------------------------------------------------------------------------

SLOTS = range(2, 17)
"""The most tiles of a multi-buffer."""


def unfit_for_slots(tile: tile_buf.TileBuf) -> str | None:
    """Why there cannot be several of a tile."""
    if tile.kind.kind == "lowprecision":
        return f"a multi-buffer does not support element type {tile.element}"
    return "a multi-buffer does not support compact=2 (row_plus_one)" if tile.compact == tile_buf.ROW_PLUS_ONE else None


@dataclass(frozen=True)
class MultiTileBuf:
    """Several tiles of one type, one of which is used at a time."""

    tile: tile_buf.TileBuf
    count: int


@irdl_attr_definition
class MultiTileBufType(Data[MultiTileBuf], TypeAttribute):
    """`!pto.multi_tile_buf<!pto.tile_buf<...>, count=2>`, or the fields of the tile in place of its type."""

    name = "pto.multi_tile_buf"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MultiTileBuf:
        assert isinstance(parser, LocatedParser)
        parser.parse_punctuation("<")
        start = parser.pos
        if parser.at(MLIRTokenKind.EXCLAMATION_IDENT):
            type_ = parser.parse_type()
            if not isinstance(type_, TileBufType):
                _fail(parser, start, f"a multi_tile_buf consists of tiles, not of {type_}")
            tile, (given, _) = type_.data, _parse_fields(parser, {"count": _parse_count})
        else:
            tile, given = _parse_short(parser, {**_FIELDS, "count": _parse_count})
        if "count" not in given:
            parser.raise_error("expected ', count=N' in a multi_tile_buf")
        parser.parse_punctuation(">", " after a multi_tile_buf")
        if (why := unfit_for_slots(tile)) is not None:
            _fail(parser, start, why)
        return MultiTileBuf(tile, given["count"])

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(TileBufType(self.data.tile))
            printer.print_string(f", count={self.data.count}")


# --- views of global memory -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ViewExtents:
    """Extents, None where only the run knows them, and the element type."""

    shape: tuple[int | None, ...]
    element: Attribute

    @property
    def rank(self) -> int:
        return len(self.shape)


class _ViewType(Data[ViewExtents], TypeAttribute):
    """A type that is written as `<16x?xf32>`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ViewExtents:
        assert isinstance(parser, LocatedParser)
        parser.parse_punctuation("<")
        (dimensions, element), place = _placed(parser, _parse_dimensions)
        if not dimensions:
            parser.raise_error(f"!{cls.name} needs at least one dimension", place)
        _check_element(parser, place, element)
        parser.parse_punctuation(">", f" after !{cls.name}")
        return ViewExtents(tuple(dimensions), element)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{_dimension(extent)}x" for extent in self.data.shape))
            printer.print_attribute(self.data.element)


@irdl_attr_definition
class TensorViewType(_ViewType):
    """`!pto.tensor_view<?x64xf32>`: base, sizes and strides of a tensor in GM."""

    name = "pto.tensor_view"


@irdl_attr_definition
class PartitionViewType(_ViewType):
    """`!pto.partition_tensor_view<16x64xf32>`: a part of a tensor view."""

    name = "pto.partition_tensor_view"


@irdl_attr_definition
class TileType(_ViewType):
    """`!pto.tile<16x64xf32>`: a tile without a place, of the level above; no instruction takes one."""

    name = "pto.tile"


# --- arrays and structures of scalars ---------------------------------------------------------------------------------


@irdl_attr_definition
class LocalArrayType(_ViewType):
    """`!pto.local_array<2x4xi32>`: scalars on the stack of the scalar unit."""

    name = "pto.local_array"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ViewExtents:
        assert isinstance(parser, LocatedParser)
        start = parser.pos
        view = super().parse_parameter(parser)
        if any(extent is None or extent <= 0 for extent in view.shape):
            _fail(parser, start, "the dimensions of a local_array are static and positive")
        if element_of(view.element).kind == "lowprecision":
            _fail(parser, start, f"a local_array holds integers or floats, not {view.element}")
        return view


@irdl_attr_definition
class StructType(Data[tuple[Attribute, ...]], TypeAttribute):
    """`!pto.struct<i32, !pto.struct<f32, index>>`: scalars on the stack of the scalar unit, by position."""

    name = "pto.struct"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Attribute, ...]:
        assert isinstance(parser, LocatedParser)
        start = parser.pos
        fields = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _parse_struct_field(parser))
        if not fields:
            _fail(parser, start, "a struct has at least one field")
        return tuple(fields)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.data, printer.print_attribute)


def _parse_struct_field(parser: LocatedParser) -> Attribute:
    start = parser.pos
    type_ = parser.parse_type()
    if not isinstance(type_, StructType) and not is_scalar(type_):
        _fail(parser, start, f"a field of a struct is a scalar or a struct, not {type_}")
    return type_


@irdl_attr_definition
class EventIdArrayType(Data[int], TypeAttribute):
    """`!pto.eventid_array<4>`: event ids, chosen by number."""

    name = "pto.eventid_array"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        assert isinstance(parser, LocatedParser)
        parser.parse_punctuation("<")
        start = parser.pos
        count = parser.parse_integer(allow_boolean=False)
        if count <= 0:
            _fail(parser, start, f"an eventid_array has at least one id, not {count}")
        parser.parse_punctuation(">")
        return count

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


# --- handles ----------------------------------------------------------------------------------------------------------


@irdl_attr_definition
class PipeHandleType(ParametrizedAttribute, TypeAttribute):
    """`!pto.pipe`: a FIFO between the cube and the vector cores."""

    name = "pto.pipe"


@irdl_attr_definition
class AsyncSessionType(ParametrizedAttribute, TypeAttribute):
    name = "pto.async_session"


@irdl_attr_definition
class AsyncEventType(ParametrizedAttribute, TypeAttribute):
    name = "pto.async_event"


@irdl_attr_definition
class PrefetchAsyncContextType(ParametrizedAttribute, TypeAttribute):
    name = "pto.prefetch_async_context"


TILE_TYPES: tuple[type[Attribute], ...] = (
    TileBufType,
    MultiTileBufType,
    TensorViewType,
    PartitionViewType,
    TileType,
    LocalArrayType,
    StructType,
    EventIdArrayType,
    PipeHandleType,
    AsyncSessionType,
    AsyncEventType,
    PrefetchAsyncContextType,
)

PASSED_TYPES: tuple[type[Attribute], ...] = tuple(type_ for type_ in TILE_TYPES if type_ is not StructType)
"""The types that functions may take and give; a struct stays where it is declared."""


# --- what a type says -------------------------------------------------------------------------------------------------


def tile_of(type_: Attribute) -> tile_buf.TileBuf | None:
    """The tile that a type describes, or None for a type that is no tile."""
    return type_.data if isinstance(type_, TileBufType) else None


def view_of(type_: Attribute) -> ViewExtents | None:
    """The extents of a tensor view or partition view, or None for another type."""
    return type_.data if isinstance(type_, TensorViewType | PartitionViewType) else None
