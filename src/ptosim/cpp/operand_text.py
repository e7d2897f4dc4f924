"""Operands of a recording as `.pto` values: constants, sums and tables, tiles, views; each once in a scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ptosim.cpp.columns import ColumnSum, ColumnTerm
from ptosim.cpp.planned_tiles import part_offsets, tile_number

_LAYOUTS = ("row_major", "col_major")
_BOXES = ("none_box", "row_major", "col_major")
_SIGNLESS = {"ui8": "i8", "ui16": "i16", "ui32": "i32", "ui64": "i64"}
_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32}


@dataclass
class TextScope:
    """The body of the function or of a loop: what its operands need, then its operations."""

    depth: int
    needs: list[str] = field(default_factory=list[str])
    steps: list[str] = field(default_factory=list[str])
    known: dict[str, str] = field(default_factory=dict[str, str])


class OperandValues:
    """Writes values into the outermost scope that knows all they depend on."""

    def __init__(self) -> None:
        self.scopes: list[TextScope] = []
        self.turns: list[str] = []
        """Names of the indices that count the blocks, and of those of the loops around."""
        self.planned: dict[int, TileHandle] = {}
        """Tiles without addresses, by their number, as each is first seen."""
        self.parts: dict[int, int] = {}
        """The bytes of such tiles that are used in parts."""
        self.is_ahead = False
        """Whether values stand in front of branches that may have named the same constants before."""
        self._count = 0

    def new(self, prefix: str) -> str:
        self._count += 1
        return f"%{prefix}{self._count}"

    def once(self, depth: int, prefix: str, text: str, place: str = "") -> str:
        """The name of a value, written where it is not known yet in a scope of this depth or around it."""
        for scope in self.scopes[: depth + 1]:
            if text in scope.known:
                return scope.known[text]
        scope, name = self.scopes[depth], self.new(prefix)
        scope.needs.append(f"{name} = {text}{place}")
        scope.known[text] = name
        return name

    def constant(self, number: int, type_: str) -> str:
        text = f"arith.constant {number} : {type_}"
        known = self.scopes[0].known
        if text not in known:
            stem = f"%c{number}" if number >= 0 else f"%cm{-number}"
            plain = stem if type_ == "index" else f"{stem}_{type_}"
            known[text] = self.new("k") if self.is_ahead else plain
            self.scopes[0].needs.append(f"{known[text]} = {text}")
        return known[text]

    def depth_of(self, found: Sequence[ColumnSum]) -> int:
        """The depth of the innermost loop that forms depend on; the blocks are known in the function."""
        return max((axis for form in found for axis in form.axes), default=0)

    def index(self, found: ColumnSum) -> str:
        """A number of type index."""
        if not found.terms:
            return self.constant(found.base, "index")
        total: str | None = None
        depth = 0
        for term in found.terms:
            part = self._term(term)
            depth = max(depth, *term.axes)
            total = part if total is None else self.once(depth, "s", f"arith.addi {total}, {part} : index")
        assert total is not None
        if found.base:
            total = self.once(depth, "s", f"arith.addi {total}, {self.constant(found.base, 'index')} : index")
        return total

    def _term(self, term: ColumnTerm) -> str:
        depth = max(term.axes)
        if not term.table:
            turn = self.turns[term.axes[0]]
            if term.factor == 1:
                return turn
            return self.once(depth, "s", f"arith.muli {turn}, {self.constant(term.factor, 'index')} : index")
        at: str | None = None
        for axis, size in zip(term.axes, term.shape, strict=True):
            turn = self.turns[axis]
            if len(term.axes) == 1 and len(term.table) == size:
                turn = self.once(depth, "s", f"arith.remui {turn}, {self.constant(size, 'index')} : index")
            if at is None:
                at = turn
                continue
            row = self.once(depth, "s", f"arith.muli {at}, {self.constant(size, 'index')} : index")
            at = self.once(depth, "s", f"arith.addi {row}, {turn} : index")
        values = ", ".join(map(str, term.table))
        return self.once(
            depth,
            "t",
            f"pto.sim.lookup {at} {{values = dense<[{values}]> : tensor<{len(term.table)}xi64>}} : index -> index",
        )

    def word(self, found: ColumnSum, type_: str) -> str:
        """A number of another type: bits of a float, or an integer."""
        plain = _SIGNLESS.get(type_, type_)
        bits = _BITS[plain]
        if not found.terms:
            return self._literal(found.base, plain, bits)
        depth, wide = self.depth_of([found]), self.index(found)
        if plain == "i64":
            return self.once(depth, "w", f"arith.index_cast {wide} : index to i64")
        number = self.once(depth, "w", f"arith.index_cast {wide} : index to i{bits}")
        if plain.startswith("i"):
            return number
        return self.once(depth, "w", f"arith.bitcast {number} : i{bits} to {plain}")

    def _literal(self, base: int, plain: str, bits: int) -> str:
        number = base & ((1 << bits) - 1)
        if plain.startswith("i"):
            signed = number - (1 << bits) if number >> (bits - 1) else number
            return self.constant(signed, plain)
        return self.once(0, "x", f"arith.constant 0x{number:0{bits // 4}X} : {plain}")


@dataclass(frozen=True)
class TileHandle:
    """A tile as the C++ type says it: location, element, extents, layout, pad, compact mode."""

    loc: str
    element: str
    shape: tuple[int, int]
    valid: tuple[int, int]
    layout: tuple[int, int]
    fractal: int
    pad: int
    compact: int

    @classmethod
    def of(cls, words: Sequence[str]) -> TileHandle:
        loc, element, *rest = words
        rows, cols, valid_row, valid_col, blayout, slayout, fractal, pad, compact = map(int, rest)
        return cls(loc, element, (rows, cols), (valid_row, valid_col), (blayout, slayout), fractal, pad, compact)

    @property
    def type(self) -> str:
        rows, cols = self.shape
        parts = [self.loc, f"{rows}x{cols}x{self.element}"]
        if self.valid != self.shape:
            parts.append("valid=" + "x".join("?" if extent < 0 else str(extent) for extent in self.valid))
        if self.layout[0]:
            parts.append(f"blayout={_LAYOUTS[self.layout[0]]}")
        if self.layout[1]:
            parts.append(f"slayout={_BOXES[self.layout[1]]}")
        if self.fractal != 512:
            parts.append(f"fractal={self.fractal}")
        if self.pad:
            parts.append(f"pad={self.pad}" if self.pad < 4 else f"pad=0x{self.pad & 0xFFFFFFFF:08X}")
        if self.compact:
            parts.append(f"compact={self.compact}")
        return f"!pto.tile_buf<{', '.join(parts)}>"

    def written(self, values: OperandValues, found: Sequence[ColumnSum], place: str) -> str:
        """The name of the tile at its address, with the valid region that it has now."""
        depth = values.depth_of(found)
        if (number := tile_number(found[0])) is not None:
            return self._planned(values, number, found, place)
        text = "pto.alloc_tile addr = " + values.word(found[0], "i64")
        for word, extent, form in zip(("valid_row", "valid_col"), self.valid, found[1:], strict=True):
            if extent < 0:
                text += f" {word} = {values.index(form)}"
        return values.once(depth, "tile", f"{text} : {self.type}", place)

    def _planned(self, values: OperandValues, number: int, found: Sequence[ColumnSum], place: str) -> str:
        """A tile whose address is left to ptosim: allocated once, seen as this type and with this valid region."""
        whole = replace(self, valid=self.shape)
        first = values.planned.setdefault(number, self._row(values.parts[number]) if number in values.parts else whole)
        name = values.once(0, "tile", f"pto.alloc_tile {{tile = {number} : i32}} : {first.type}", place)
        depth = 0
        if number in values.parts:
            row, own = (self._row(size) for size in (values.parts[number], self.bytes))
            name, depth = row._seen(values, first, name, 0, place), values.depth_of(found[:1])
            start = divided(part_offsets(found[0]), width(self.element))
            window = (
                f"pto.subview {name}[{values.constant(0, 'index')}, {values.index(start)}] sizes [1, {own.shape[1]}]"
            )
            name, first = values.once(depth, "tile", f"{window} : {row.type} -> {own.type}", place), own
        name = whole._seen(values, first, name, depth, place)
        if self.valid == self.shape:
            return name
        extents = [
            values.index(form if extent < 0 else ColumnSum(extent))
            for extent, form in zip(self.valid, found[1:], strict=True)
        ]
        zero = values.constant(0, "index")
        seen = replace(self, valid=(-1, -1)).type if -1 in self.valid else self.type
        window = f"pto.subview {name}[{zero}, {zero}] sizes [{self.shape[0]}, {self.shape[1]}]"
        text = f"{window} valid [{extents[0]}, {extents[1]}] : {whole.type} -> {seen}"
        return values.once(values.depth_of(found), "tile", text, place)

    @property
    def bytes(self) -> int:
        return self.shape[0] * self.shape[1] * width(self.element)

    def _row(self, size: int) -> TileHandle:
        """One row of elements of this tile, as many bytes long, in its memory."""
        shape = 1, size // width(self.element)
        return TileHandle(self.loc, self.element, shape, shape, (0, 0), 512, 0, 0)

    def _seen(self, values: OperandValues, other: TileHandle, name: str, depth: int, place: str) -> str:
        """The bytes of another tile as this type."""
        if self == other:
            return name
        return values.once(depth, "tile", f"pto.treshape {name} : {other.type} -> {self.type}", place)


@dataclass(frozen=True)
class TensorHandle:
    """A tensor in global memory as the C++ type says it."""

    element: str
    layout: str

    def written(
        self, values: OperandValues, parameter: tuple[str, str], found: Sequence[ColumnSum], place: str
    ) -> tuple[str, str]:
        """The name and the type of the view. `parameter`: the argument that it points into, and its element type."""
        depth = values.depth_of(found)
        start = pointer(values, parameter, found[0], self.element, place)
        shape, strides = [*found[1:6]], [*found[6:11]]
        for at in range(3, -1, -1):  # what a dimension of one is apart does not matter
            if not shape[at].terms and shape[at].base == 1 and not (shape[at + 1].terms or strides[at + 1].terms):
                strides[at] = ColumnSum(shape[at + 1].base * strides[at + 1].base)
        extents = [values.index(form) for form in shape]
        steps = [values.index(form) for form in strides]
        dims = "x".join("?" if form.terms else str(form.base) for form in shape)
        zeros = ", ".join([values.constant(0, "index")] * 5)
        tensor, part = (f"!pto.{name}<{dims}x{self.element}>" for name in ("tensor_view", "partition_tensor_view"))
        layout = f" {{layout = #pto.layout<{self.layout}>}}"
        made = f"pto.make_tensor_view {start}, shape = [{', '.join(extents)}], strides = [{', '.join(steps)}]{layout}"
        whole = values.once(depth, "view", f"{made} : {tensor}", place)
        sizes = f"offsets = [{zeros}], sizes = [{', '.join(extents)}]"
        return values.once(depth, "part", f"pto.partition_view {whole}, {sizes} : {tensor} -> {part}", place), part


def pointer(values: OperandValues, parameter: tuple[str, str], offset: ColumnSum, element: str, place: str) -> str:
    """A pointer to elements, so many bytes behind the beginning of an argument."""
    name, own = parameter
    size = width(element)
    numbers = [
        offset.base,
        *(term.factor for term in offset.terms),
        *(number for term in offset.terms for number in term.table),
    ]
    depth = values.depth_of([offset])
    if any(number % size for number in numbers):
        name = _cast(values, name, own, "i8", place)
        moved = f"pto.addptr {name}, {values.index(offset)} : !pto.ptr<i8, gm> -> !pto.ptr<i8, gm>"
        return _cast(values, values.once(depth, "p", moved, place), "i8", element, place, depth)
    name = _cast(values, name, own, element, place)
    if not offset.terms and offset.base == 0:
        return name
    scaled = divided(offset, size)
    type_ = f"!pto.ptr<{element}, gm>"
    return values.once(depth, "p", f"pto.addptr {name}, {values.index(scaled)} : {type_} -> {type_}", place)


def divided(found: ColumnSum, size: int) -> ColumnSum:
    """A number of bytes as one of elements of this size."""
    terms = (
        replace(term, factor=term.factor // size, table=tuple(number // size for number in term.table))
        for term in found.terms
    )
    return ColumnSum(found.base // size, tuple(terms))


def _cast(values: OperandValues, name: str, element: str, wanted: str, place: str, depth: int = 0) -> str:
    if element == wanted:
        return name
    return values.once(depth, "p", f"pto.castptr {name} : !pto.ptr<{element}, gm> -> !pto.ptr<{wanted}, gm>", place)


def width(element: str) -> int:
    """Bytes of an element."""
    for bits, size in (("64", 8), ("32", 4), ("16", 2)):
        if element.endswith(bits):
            return size
    return 1
