"""Registers of tiles as logical vectors: vmi/ chooses parts, dists and how lanes of other widths come together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.language.builder import Builder, Number
from ptosim.language.catalogue import operation
from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType
from ptosim.language.types import element_of
from ptosim.tiles.element_layout import element_offset
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, RegisterAccess
from ptosim.tiles.vector.registers import with_sign


class LogicalLanes(Lanes):
    """A run of elements in logical vectors; a mask of all lanes is none."""

    @property
    def _units(self) -> Number:
        return self.count

    def _everything(self) -> None:
        return None

    def _tail(self, count: Number) -> tuple[SSAValue, SSAValue]:
        count, mask = self.build.cast(count, i32), LogicalMaskType.of(self.per_register)
        return self.build.op("pto.vmi.plt", count=count, result=mask, rest=i32)


@dataclass(frozen=True)
class TileVectors:
    """Vectors of so many lanes, with the operations on them."""

    build: Builder
    lanes: int

    @staticmethod
    def of(build: Builder, width: int) -> TileVectors:
        """Vectors that fill a register with lanes of so many bytes."""
        return TileVectors(build, VECTOR_BYTES // width)

    def load(self, here: RegisterAccess, tile: Tile) -> SSAValue:
        return self._load(tile, here.offset(tile))

    def load_everywhere(self, tile: Tile, row: Number) -> SSAValue:
        """The first element of a row in every lane."""
        return self._load(tile, self.build.index(element_offset(self.build, tile, row, 0)), "brc")

    def _load(self, tile: Tile, offset: SSAValue, mode: str | None = None) -> SSAValue:
        type_, pointer = LogicalVectorType.of(self.lanes, tile.element), tile.pointer(self.build)
        return self.build.op("pto.vmi.vload", pointer=pointer, offset=offset, dist_mode=mode, result=type_)

    def store(self, here: RegisterAccess, tile: Tile, value: SSAValue) -> None:
        """Store to the active lanes."""
        pointer, offset = tile.pointer(self.build), here.offset(tile)
        self.build.op("pto.vmi.vstore", value=value, pointer=pointer, offset=offset, mask=here.mask)

    def op(self, name: str, *operands: SSAValue) -> SSAValue:
        """An operation on lanes of one type."""
        kind = operation(f"pto.vmi.{name}")
        assert kind is not None
        given = dict(zip(kind.operand_roles, operands, strict=False))
        return self.build.op(kind.name, **given, result=operands[0].type)

    def everything(self) -> SSAValue:
        return self.build.op("pto.vmi.pset", pattern="PAT_ALL", result=LogicalMaskType.of(self.lanes))

    def convert(self, value: SSAValue, element: Attribute, rnd: str | None = None, sat: str | None = None) -> SSAValue:
        type_ = LogicalVectorType.of(self.lanes, element)
        return self.build.op("pto.vmi.vcvt", input=value, rounding=rnd, saturate=sat, result=type_)

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The same bits as other elements."""
        type_ = LogicalVectorType.of(self.lanes, element)
        return value if value.type == type_ else self.build.op("pto.vmi.vinterpret_cast", input=value, result=type_)


def of_element(tile: Tile, element: Attribute) -> Tile:
    """The same bytes as a tile of other elements of that width."""
    return replace(tile, buf=replace(tile.buf, element=element))


def with_known_sign(element: Attribute) -> Attribute:
    """Integers that are signless to a tile are signed; to a logical vector they would be unsigned."""
    return with_sign(element, "signed") if element_of(element).name.startswith("i") else element
