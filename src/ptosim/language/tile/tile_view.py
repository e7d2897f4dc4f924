"""Tiles: allocated, cut, reshaped, bound to an address. None of it moves data.

Views of global memory are in tensor_view.py, buffers for FIFOs in tile_reserve.py, arrays of scalars in tile_local.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Self, cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue

from ptosim.language.operation import Operand, OptionalOperand, Problem, Result
from ptosim.language.rules.call_rules import Found
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.rules.tile_layout_rules import address_alignment, address_problems, layout_problems
from ptosim.language.structure.function import Function
from ptosim.language.text.assembly_format import integers_in, integers_of
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.parser import ParsedModule
from ptosim.language.tile.scale_words import stands_for_scales
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_types import SLOTS, MultiTileBufType, TileBufType, tile_of, unfit_for_slots
from ptosim.language.tile.view_operation import Operands, ViewOperation, argument_of, root_of
from ptosim.language.types import PtrType

_SIDES = (("row", 0), ("col", 1))
_MOST_LINES = 3


def _tile(value: SSAValue) -> TileBuf:
    """The type of a value that is known to be a tile."""
    return cast(TileBufType, value.type).data


# --- allocation -------------------------------------------------------------------------------------------------------

MULTI_BUFFER = "pto.multi_buffer"
"""An attribute of an allocation: how many slots it stands for."""

_ASSIGNED_SLOTS = "pto.multi_buffer_addrs"
"""The addresses of slots, written by a planner; no author does."""


class Allocation(ViewOperation):
    """The common part of both forms of allocation."""

    form = "{addr = $addr:i64} {valid_row = $valid_row:index} {valid_col = $valid_col:index}"
    addr = OptionalOperand()
    result = Result()

    @classmethod
    def inferred(
        cls, parser: LocatedParser, operands: Operands, properties: Mapping[str, Attribute]
    ) -> list[Attribute]:
        parser.raise_error("expected ':' and the result type, after addr, valid_row and valid_col in this order")

    @property
    def tile(self) -> TileBuf:
        """The tile, or one of several."""
        type_ = self.result.type
        return type_.data.tile if isinstance(type_, MultiTileBufType) else _tile(self.result)

    @property
    def slots(self) -> int:
        """The number of tiles allocated."""
        type_ = self.result.type
        number = cast("IntegerAttr[IntegerType] | None", self.attributes.get(MULTI_BUFFER))
        if isinstance(type_, MultiTileBufType):
            return type_.data.count
        return number.value.data if isinstance(number, IntegerAttr) else 1

    @property
    def pitch(self) -> int:
        """Bytes from one slot to the next, in an allocation with an address."""
        alignment = address_alignment(self.tile)
        return -(-self.tile.size // alignment) * alignment

    def view_rules(self, target: str) -> Iterator[Problem]:
        scales = stands_for_scales(self.result)
        yield from () if scales else layout_problems(self.tile, "result")
        yield from self._slot_problems()
        if self.addr is not None and not scales:
            size = (self.slots - 1) * self.pitch + self.tile.size
            yield from address_problems(self.tile, self.addr, target, "addr", size)
        for side, index in _SIDES:
            yield from self._valid_problems(f"valid_{side}", f"v_{side}", index)

    def _slot_problems(self) -> Iterator[Problem]:
        if _ASSIGNED_SLOTS in self.attributes:
            yield Problem(f"'{_ASSIGNED_SLOTS}' is written by the planner, not by the author", at=_ASSIGNED_SLOTS)
        if MULTI_BUFFER in self.attributes:
            if not isinstance(self.attributes[MULTI_BUFFER], IntegerAttr) or self.slots not in SLOTS:
                known = f"{SLOTS.start}..{SLOTS.stop - 1}"
                yield Problem(f"'{MULTI_BUFFER}' must be an integer in {known}", at=MULTI_BUFFER)
            elif (why := unfit_for_slots(self.tile)) is not None:
                yield Problem(why, at="result")

    def _valid_problems(self, role: str, field: str, index: int) -> Iterator[Problem]:
        """The operand is there exactly when the type leaves the extent open; the run clips what is too large."""
        extent, valid = self.tile.shape[index], self.tile.valid[index]
        operand = next(iter(self.segment(role)), None)
        if operand is None:
            if valid is None:
                yield Problem(f"{role} operand is required because result type {field} is ?", at="result")
            return
        if valid is not None:
            yield Problem(f"{role} operand is given, but result type {field} is {valid}, not ?", at=role)
        known = constant_of(operand)
        if known is not None and known < 0:
            yield Problem(f"{role} is {known}; it must not be negative", at=role)
        elif known is not None and known > extent:
            message = f"{role} is {known}, but the tile has {extent}; a run uses {extent}"
            yield Problem(message, at=role, severity="warning")


class AllocTile(Allocation, name="pto.alloc_tile"):
    """A tile in a local memory.

    The type says which memory, shape and layout. A valid extent that the type leaves open (`?`) is given here, and
    may be changed by set_validshape. Without `addr` the memory is planned; with it the author has placed the tile, and
    tiles at one address are the same bytes. Either all tiles of a file have addresses or none has.

        %t = pto.alloc_tile valid_row = %r valid_col = %c : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
    """

    kinds = {"result": (TileBufType,)}


class AllocMultiTile(Allocation, name="pto.alloc_multi_tile"):
    """Several tiles of one type, for buffering.

    `multi_tile_get` chooses one. With `addr`, slot k lies k times the size of a tile behind it, the size rounded up
    to the alignment of addresses.

        %m = pto.alloc_multi_tile : !pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=2>
    """

    kinds = {"result": (MultiTileBufType,)}


class MultiTileGet(ViewOperation, name="pto.multi_tile_get"):
    """One of several tiles.

    The slot counts from 0.

        %t = pto.multi_tile_get %m[%k]
            : !pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=2> -> !pto.tile_buf<vec, 16x64xf32>
    """

    form = "$source[$slot:index]"
    listed = ("source",)
    kinds = {"source": (MultiTileBufType,), "result": (TileBufType,)}
    shares = "source"
    source = Operand()
    slot = Operand()
    result = Result()

    def view_rules(self, target: str) -> Iterator[Problem]:
        several = cast(MultiTileBufType, self.source.type).data
        if _tile(self.result) != several.tile:
            yield Problem(
                f"expects {TileBufType(several.tile)}, a tile of the source, not {self.result.type}", "result"
            )


def missing_slots(parsed: ParsedModule) -> Iterator[Found]:
    """Slots that a tile does not have."""
    for op in parsed.module.walk():
        if not isinstance(op, MultiTileGet) or not isinstance(op.source.type, MultiTileBufType):
            continue
        known, last = constant_of(op.slot), op.source.type.data.count - 1
        if known is not None and not 0 <= known <= last:
            slots = "slot 0" if last == 0 else f"slots 0 and {last}" if last == 1 else f"slots 0 to {last}"
            yield op, Problem(f"slot {known} of {parsed.name_of(op.source)}, which has {slots}", at="slot")


def mixed_allocations(parsed: ParsedModule) -> Iterator[Found]:
    """Either the author places every tile or none: memory is planned for a whole file."""
    allocations = [op for op in parsed.module.walk() if isinstance(op, Allocation)]
    placed = [op for op in allocations if op.addr is not None]
    others = [op for op in allocations if op.addr is None]
    if not placed or not others:
        return
    few, verb = (placed, "have an address") if len(placed) <= len(others) else (others, "have no address")
    verb = verb if len(few) > 1 else verb.replace("have", "has", 1)
    lines = sorted({place.line for op in few if (place := parsed.location(op)) is not None})
    named = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:_MOST_LINES]))}"
    more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
    said = f"{len(few)} of {len(allocations)} tiles {verb} ({named}{more}): give one to all or to none"
    yield few[0], Problem(said)


class DeclareTile(ViewOperation, name="pto.declare_tile"):
    """A tile without storage.

    A FIFO entry or tassign binds it to an address.

        %t = pto.declare_tile -> !pto.tile_buf<vec, 16x64xf32>
    """

    kinds = {"result": (TileBufType,)}
    arrow = True
    result = Result()


class TAssign(ViewOperation, name="pto.tassign"):
    """The tile at another address.

    The result has the type of the source and lies at the byte address in the memory of the tile. For authors who
    place their tiles themselves.

        %u = pto.tassign %t, %address : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 16x64xf32>
    """

    form = "$source, $addr:i64"
    listed = ("source",)
    kinds = {"source": (TileBufType,), "result": (TileBufType,)}
    source = Operand()
    addr = Operand()
    result = Result()

    def view_rules(self, target: str) -> Iterator[Problem]:
        tile = _tile(self.source)
        if self.result.type != self.source.type:
            yield Problem(f"expects the type of the source, {self.source.type}, not {self.result.type}", at="result")
        yield from address_problems(tile, self.addr, target, "addr", tile.size)


# --- views of tiles ---------------------------------------------------------------------------------------------------


class SubView(ViewOperation, name="pto.subview"):
    """A rectangle of a tile.

    It begins at a row and column of the source and keeps the distances between rows and boxes of the source. The
    valid region is that of the two operands, else the whole rectangle, whatever is valid of the source. In a tile
    with boxes, offsets and sizes are whole boxes.

        %u = pto.subview %t[%i, %j] sizes [8, 32]
            : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 8x32xf32>
    """

    form = "$source[$row:index, $col:index] sizes [#sizes] {valid [$valid_row:index, $valid_col:index]}"
    listed = ("source",)
    kinds = {"source": (TileBufType,), "result": (TileBufType,)}
    shares = "source"
    source = Operand()
    result = Result()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        if parser.text_follows(r"%[\w$.#-]+\s*,\s*offsets\b"):
            parser.raise_error(f"{cls.name} cuts tiles; a part of a tensor view is a pto.partition_view")
        return super().read(parser)

    @classmethod
    def inferred(
        cls, parser: LocatedParser, operands: Operands, properties: Mapping[str, Attribute]
    ) -> list[Attribute]:
        source, sizes = tile_of(cast(SSAValue, operands["source"]).type), integers_in(properties["sizes"])
        if source is None or len(sizes) != 2 or min(sizes) <= 0:
            return super().inferred(parser, operands, properties)
        given = [constant_of(cast(SSAValue, operands[role])) for role in ("valid_row", "valid_col") if role in operands]
        rows, cols = sizes
        valid = (given[0], given[1]) if given else (rows, cols)
        return [TileBufType(replace(source, rows=rows, cols=cols, valid=valid))]

    def view_rules(self, target: str) -> Iterator[Problem]:
        source, result, sizes = _tile(self.source), _tile(self.result), integers_of(self, "sizes")
        function = argument_of(root_of(self.source))
        if isinstance(function, Function):
            message = f"expects a tile that is allocated in the function, not an argument of @{function.symbol}"
            yield Problem(message, at="source")
        if len(sizes) != 2:
            yield Problem(f"expects two sizes, rows and columns, but got {len(sizes)}", at="sizes")
            return
        if result.shape != sizes:
            written, expected = (f"{rows}x{cols}" for rows, cols in (result.shape, sizes))
            yield Problem(f"expects a result of the sizes {expected}, not {written}", at="result")
        elif replace(result, rows=source.rows, cols=source.cols, valid=source.valid) != source:
            message = f"expects the element type, location and layout of {self.source.type}, not of {self.result.type}"
            yield Problem(message, at="result")
        for side, index in _SIDES:
            yield from self._side_problems(source, sizes, side, index)

    def _side_problems(self, source: TileBuf, sizes: tuple[int, ...], side: str, index: int) -> Iterator[Problem]:
        size, extent, box = sizes[index], source.shape[index], source.written_box[index]
        offset = constant_of(self.segment(side)[0])
        if size <= 0 or size % box:
            unit = f"a multiple of the {box} of a box" if box > 1 else "positive"
            yield Problem(f"size of the {side}s is {size}; it must be {unit}", at="sizes")
        if offset is not None and offset < 0:
            yield Problem(f"{side} is {offset}; it must not be negative", at=side)
        elif offset is not None and offset % box:
            yield Problem(f"{side} is {offset}; it must be a multiple of the {box} of a box", at=side)
        elif (offset or 0) + size > extent:
            message = f"{side}s {offset or 0}:{(offset or 0) + size} are not all in the source, which has {extent}"
            yield Problem(message, at="sizes", kind="out-of-bounds")
        yield from self._valid_problems(size, side, index)

    def _valid_problems(self, size: int, side: str, index: int) -> Iterator[Problem]:
        """A valid extent of the result is given if its type leaves it open; one that is given agrees with its type."""
        given, written = next(iter(self.segment(f"valid_{side}")), None), _tile(self.result).valid[index]
        known = constant_of(given)
        if known is not None and not 0 <= known <= size:
            yield Problem(f"valid_{side} is {known}; it must be 0..{size}", at=f"valid_{side}")
        elif known is not None and written is not None and written != known:
            yield Problem(f"valid_{side} is {known}, but the result type says v_{side} is {written}", at="result")
        elif given is None and written is None:
            yield Problem(f"valid_{side} operand is required because result type v_{side} is ?", at="result")


class SubSet(SubView, name="pto.subset"):
    """Older name of pto.subview.

    A rectangle of a tile.

        %u = pto.subset %t[%i, %j] sizes [8, 32]
            : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 8x32xf32>
    """

    replaced_by = "pto.subview"


class _SameBytes(ViewOperation):
    """The bytes of a tile as another one."""

    form = "$source"
    listed = ("source",)
    kinds = {"source": (TileBufType,), "result": (TileBufType,)}
    shares = "source"
    source = Operand()
    result = Result()


class TReshape(_SameBytes, name="pto.treshape"):
    """The bytes of a tile in another shape, layout or element type.

    Nothing moves: the result begins at the address of the source and has as many bytes. Boxes stay boxes. The valid
    region is that of the result type.

        %u = pto.treshape %t : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 32x32xf32>
    """

    def view_rules(self, target: str) -> Iterator[Problem]:
        source, result = _tile(self.source), _tile(self.result)
        if source.loc != result.loc:
            yield Problem(f"expects a result in {source.loc}, where the source is, not in {result.loc}", at="result")
        if _bytes(source) != _bytes(result):
            message = f"expects a result of {_bytes(source)} bytes, as many as the source, not {_bytes(result)}"
            yield Problem(message, at="result")
        if source.boxed != result.boxed:
            kind, other = ("with", "without") if source.boxed else ("without", "with")
            yield Problem(f"expects a result {kind} boxes, like the source, not {other}", at="result")


class BitCast(_SameBytes, name="pto.bitcast"):
    """A tile read as another element type.

    Shape, valid region and layout stay; elements of the result are at most as wide as those of the source.

        %u = pto.bitcast %t : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 16x64xi32>
    """

    def view_rules(self, target: str) -> Iterator[Problem]:
        source, result = _tile(self.source), _tile(self.result)
        if replace(result, element=source.element) != source:
            wanted = f"the location, shape, valid region and layout of {self.source.type}"
            yield Problem(f"expects {wanted}, not of {self.result.type}", at="result")
        elif result.element == source.element:
            yield Problem(f"expects another element type than {source.element}", at="result")
        elif _bytes(result) > _bytes(source):
            message = f"expects a result of at most {_bytes(source)} bytes, those of the source, not {_bytes(result)}"
            yield Problem(message, at="result")


def _bytes(tile: TileBuf) -> int:
    """Bytes of the elements themselves."""
    return tile.rows * tile.cols * tile.element_bits // 8


# --- valid regions and addresses --------------------------------------------------------------------------------------


class SetValidShape(ViewOperation, name="pto.set_validshape"):
    """Changes the valid region of a tile.

    In place: every later use of the tile sees it. The type of the tile leaves both extents open.

        pto.set_validshape %t, %r, %c : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
    """

    form = "$source, $valid_row:index, $valid_col:index"
    listed = ("source",)
    kinds = {"source": (TileBufType,)}
    source = Operand()
    valid_row = Operand()
    valid_col = Operand()

    def view_rules(self, target: str) -> Iterator[Problem]:
        tile = _tile(self.source)
        if tile.valid != (None, None):
            yield Problem(f"expects a tile with valid=?x?, not {self.source.type}", at="source_type")
        if argument_of(self.source) is not None or isinstance(self.source.owner, SubView):
            origin = "a subview" if argument_of(self.source) is None else "an argument"
            yield Problem(f"expects a tile of alloc_tile, declare_tile, bitcast or treshape, not {origin}", at="source")
        for side, index in _SIDES:
            known, extent = constant_of(self.segment(f"valid_{side}")[0]), tile.shape[index]
            if known is not None and not 0 <= known <= extent:
                yield Problem(f"valid_{side} is {known}; it must be 0..{extent}", at=f"valid_{side}")


class GetValidShape(ViewOperation, name="pto.get_validshape"):
    """The valid region of a tile.

    Rows and columns, as they are when it runs.

        %r, %c = pto.get_validshape %t : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
    """

    form = "$source"
    listed = ("source",)
    kinds = {"source": (TileBufType,), "rows": (IndexType,), "cols": (IndexType,)}
    results_shown = False
    source = Operand()
    rows = Result()
    cols = Result()

    @classmethod
    def inferred(
        cls, parser: LocatedParser, operands: Operands, properties: Mapping[str, Attribute]
    ) -> list[Attribute]:
        return [IndexType(), IndexType()]


class _ValidExtent(ViewOperation):
    form = "$source"
    listed = ("source",)
    kinds = {"source": (TileBufType,), "result": (IndexType,)}
    source = Operand()
    result = Result()


class TileValidRows(_ValidExtent, name="pto.tile_valid_rows"):
    """The valid rows of a tile.

    As many as there are when it runs.

        %r = pto.tile_valid_rows %t : !pto.tile_buf<vec, 16x64xf32, valid=?x?> -> index
    """

    is_pure = True


class TileValidCols(_ValidExtent, name="pto.tile_valid_cols"):
    """The valid columns of a tile.

    As many as there are when it runs.

        %c = pto.tile_valid_cols %t : !pto.tile_buf<vec, 16x64xf32, valid=?x?> -> index
    """

    is_pure = True


class TileBufAddr(ViewOperation, name="pto.tile_buf_addr"):
    """The address of a tile.

    As a pointer to its elements, for micro-instructions.

        %p = pto.tile_buf_addr %t : !pto.tile_buf<vec, 16x64xf32> -> !pto.ptr<f32, ub>
    """

    is_pure = True
    form = "$source"
    listed = ("source",)
    kinds = {"source": (TileBufType,), "result": (PtrType,)}
    source = Operand()
    result = Result()

    def view_rules(self, target: str) -> Iterator[Problem]:
        tile, pointer = _tile(self.source), cast(PtrType, self.result.type)
        expected = PtrType.of(tile.element, tile.space)
        if pointer != expected:
            yield Problem(f"expects {expected}, where the tile is, not {pointer}", at="result")
