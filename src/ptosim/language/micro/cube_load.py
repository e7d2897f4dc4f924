"""Moves out of L1 into the operand buffers of the cube: L0A, L0B, their MX scales, the bias table, the fixpipe buffer.

An extent is written as the shape of the tile, or as the numbers of fractals that the hardware takes; by position or by
name. The raw spellings are in cube_load_raw.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.printer import Printer

from ptosim.effects.burst import SHORT_LIMIT, alignment_of
from ptosim.effects.cube_load import STEP_LIMIT
from ptosim.effects.element import Element, element
from ptosim.effects.fractal import SCALE_SHIFT
from ptosim.effects.names import CoreKind, Space
from ptosim.language.micro.burst import GranuleCopy
from ptosim.language.micro.cube import CubeOperation
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, PTOOperation, lint
from ptosim.language.rules.operand_rules import constant_address, constants, in_range, pointed, same_width
from ptosim.language.text.assembly_format import types_of, write
from ptosim.language.text.clauses import Written, parse_leading, parse_operand_list
from ptosim.language.text.located_parser import LocatedParser

FP4 = frozenset({"f4E1M2x2", "f4E2M1x2"})
FULL = ("m_start", "k_start", "m_step", "k_step", "source_stride", "dest_stride")
MX_FULL = ("x_start", "y_start", "x_step", "y_step", "source_stride", "dest_stride")
TO_L0A = {"source": (Space.L1,), "dest": (Space.L0A,)}
TO_L0B = {"source": (Space.L1,), "dest": (Space.L0B,)}
STARTS = ("start_row", "start_col")
_FIELDS = {"src_stride": "source_stride", "dst_stride": "dest_stride"}
"""The names of fields that differ from the roles."""


# --- fields -----------------------------------------------------------------------------------------------------------


class _Load(CubeOperation):
    """Pointers, then 2 or 4 integers (shape, starts) or 6 (full control); all 4 or 6 may be named instead."""

    shape: ClassVar[tuple[str, str]]
    full: ClassVar[tuple[str, ...]] = FULL
    source = Operand()
    dest = Operand()
    start_row = OptionalOperand("i64")
    start_col = OptionalOperand("i64")

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        written: Written = []
        parse_leading(parser, written, "source", "dest")
        parser.parse_punctuation(",", f" before {cls.shape[0]}")
        if parser.at_name():
            cls._parse_named(parser, written)
        else:
            cls._parse_positional(parser, written)
        return cls.parse_end(parser, written, {})

    @classmethod
    def _parse_positional(cls, parser: LocatedParser, written: Written) -> None:
        start = parser.span_here()
        found = parse_operand_list(parser)
        forms = {2: cls.shape, 4: (*cls.shape, *STARTS), 6: cls.full}
        if len(found) not in forms:
            choices = "; ".join(f"{count} ({', '.join(roles)})" for count, roles in forms.items())
            parser.raise_error(f"{cls.name} takes {choices} integers after the pointers, not {len(found)}", start)
        for role, (value, span) in zip(forms[len(found)], found, strict=True):
            parser.place(role, span)
            written.append((role, value))

    @classmethod
    def _parse_named(cls, parser: LocatedParser, written: Written) -> None:
        groups = ((*cls.shape, *STARTS), cls.full)
        start = parser.span_here()
        given: set[str] = set()
        while True:
            span = parser.span_here()
            name = parser.parse_identifier(f" of a field of {cls.name}")
            role = _FIELDS.get(name, name)
            if role not in (*groups[0], *groups[1]):
                known = "; ".join(", ".join(map(_field, group)) for group in groups)
                parser.raise_error(f"unknown field '{name}'; known: {known}", span)
            if role in given:
                parser.raise_error(f"field '{name}' is given twice", span)
            given.add(role)
            parser.parse_punctuation("(")
            parse_leading(parser, written, role)
            parser.parse_punctuation(")")
            if parser.parse_optional_punctuation(",") is None:
                break
        if not any(given == set(group) for group in groups):
            choices = ", or ".join(" ".join(map(_field, group)) for group in groups)
            parser.raise_error(f"named fields must be exactly {choices}", start)

    def print(self, printer: Printer) -> None:
        fields = (*self.shape, *STARTS) if self.segment(self.shape[0]) else self.full
        operands = [value for role in ("source", "dest", *fields) for value in self.segment(role)]
        write(printer, " ", operands)
        transpose = self.properties.get("transpose")
        shown = {"transpose": transpose} if transpose is not None else {}
        printer.print_op_attributes({**shown, **self.attributes})
        write(printer, " : ", types_of(operands))

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_width(self)
        yield from self._complete()
        yield from in_range(self, 1, None, *self.shape)
        yield from in_range(self, 0, None, *STARTS)
        for role in STARTS:
            for place, known in constants(self, role):
                if known > 0:
                    yield lint(counts_fractals(role), at=place)

    def _complete(self) -> Iterator[Problem]:
        """One of the groups of fields is there, whole."""
        given = {role for role in (*self.shape, *STARTS, *self.full) if self.segment(role)}
        if given not in (set(self.shape), {*self.shape, *STARTS}, set(self.full)):
            yield Problem(f"{self.name} needs {', '.join(self.shape)} or {', '.join(self.full)}")


def counts_fractals(role: str) -> str:
    """Remarks where a start is not 0."""
    return f"{role} counts fractals, not rows or columns"


def misses_its_place(side: str, columns: int, depth: int) -> str | None:
    """Remarks about a transposed tile of bytes: with an odd number of fractals side by side the product
    looks for all but the first 32 values of k elsewhere."""
    if (columns + 15) // 16 % 2 == 0 or depth <= 32:
        return None
    return f"a transposed 8-bit tile with {side} = {columns} and k = {depth} is not what pto.mad reads"


def holds_bytes(kind: Element) -> bool:
    return kind.name not in FP4 and kind.bytes == 1


def _field(role: str) -> str:
    return next((name for name, other in _FIELDS.items() if other == role), role)


def control_fields(op: PTOOperation) -> Iterator[Problem]:
    """The fields of full control fit the hardware's."""
    yield from in_range(op, 0, SHORT_LIMIT, "m_start", "k_start")
    yield from in_range(op, 1, STEP_LIMIT, "m_step", "k_step")
    yield from in_range(op, 1, SHORT_LIMIT, "source_stride", "dest_stride")


def boolean_transpose(op: PTOOperation) -> Iterator[Problem]:
    transpose = op.attribute("transpose")
    if transpose is not None and not (isinstance(transpose, IntegerAttr) and transpose.type == i1):  # pyright: ignore[reportUnknownMemberType]
        yield Problem(f"transpose must be true or false, not {transpose}", at="transpose")


class _Left(PTOOperation):
    """A load of the left operand of a product."""

    shape: ClassVar[tuple[str, str]] = ("m", "k")
    operand_order = ("source", "dest", *shape)
    spaces = TO_L0A
    m = OptionalOperand("i64")
    k = OptionalOperand("i64")


class _Right(PTOOperation):
    """A load of the right operand of a product."""

    shape: ClassVar[tuple[str, str]] = ("k", "n")
    operand_order = ("source", "dest", *shape)
    spaces = TO_L0B
    k = OptionalOperand("i64")
    n = OptionalOperand("i64")


# --- data tiles -------------------------------------------------------------------------------------------------------


class _Tile(_Load):
    m_start = OptionalOperand("i64")
    k_start = OptionalOperand("i64")
    m_step = OptionalOperand("i64")
    k_step = OptionalOperand("i64")
    source_stride = OptionalOperand("i64")
    dest_stride = OptionalOperand("i64")
    transpose = OptionalProperty()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from control_fields(self)
        yield from boolean_transpose(self)
        yield from self._odd_fractals()

    def _odd_fractals(self) -> Iterator[Problem]:
        """A transposed load of bytes widens its columns to 32, which the product does not expect."""
        side = next(role for role in self.shape if role != "k")
        columns, depth = (next((known for _, known in constants(self, role)), None) for role in (side, "k"))
        if not self.integer("transpose") or columns is None or depth is None or not self._holds_bytes():
            return
        if (message := misses_its_place(side, columns, depth)) is not None:
            yield lint(message, at=side, hint=f"make {side} a multiple of 32")

    def _holds_bytes(self) -> bool:
        name = pointed(self, "source")
        return name is not None and holds_bytes(element(name))


class MteL1L0a(_Left, _Tile, name="pto.mte_l1_l0a"):
    """Load the left operand of a product from L1 into L0A (pipe MTE1), by whole fractals of 16 rows x 32 bytes.

    `m, k` give the tile in L1, in NZ order with rows padded to 16. Without transpose L1 holds the matrix row-major
    through nd2nz; with {transpose = true} it holds [k, m]. Six integers give the fractals themselves: start, step and
    stride. start_row and start_col count fractals.

        pto.mte_l1_l0a %l1, %l0a, %m, %k : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64
    """


class MteL1L0b(_Right, _Tile, name="pto.mte_l1_l0b"):
    """Load the right operand of a product from L1 into L0B (pipe MTE1), by whole fractals.

    A row-major [k, n] matrix loaded with nd2nz needs {transpose = true}; without it L1 must hold [n, k]. Trap: a
    transposed 8-bit load widens n to a multiple of 32, so that pto.mad finds its columns only if ceil(n / 16) is even
    or k is at most 32.

        pto.mte_l1_l0b %l1, %l0b, %k, %n {transpose = true} : !pto.ptr<f16, l1>, !pto.ptr<f16, l0b>, i64, i64
    """


# --- MX scales --------------------------------------------------------------------------------------------------------


class _Scales(_Load):
    full = MX_FULL
    x_start = OptionalOperand("i64")
    y_start = OptionalOperand("i64")
    x_step = OptionalOperand("i64")
    y_step = OptionalOperand("i64")
    source_stride = OptionalOperand("i64")
    dest_stride = OptionalOperand("i64")

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from in_range(self, 0, None, *MX_FULL)
        alignments = alignment_of(Space.L1, target), 1 << SCALE_SHIFT
        for role, what, alignment in zip(("source", "dest"), ("reads l1", "scales for data"), alignments, strict=True):
            address = constant_address(getattr(self, role))
            if address is not None and address % alignment:
                message = f"{what} at {address}, which is not a multiple of {alignment}"
                yield Problem(message, at=role, kind="misaligned")


class MteL1L0aMx(_Left, _Scales, name="pto.mte_l1_l0a_mx"):
    """Load the MX scales of a left operand from L1 (pipe MTE1).

    The destination is the pointer of the data tile; the scales go to the scale buffer at that address / 16. One
    32-byte fragment holds 16 rows x 2 groups of 32 along k.

        pto.mte_l1_l0a_mx %l1, %l0a, %m, %k : !pto.ptr<f8E4M3FN, l1>, !pto.ptr<f8E4M3FN, l0a>, i64, i64
    """


class MteL1L0bMx(_Right, _Scales, name="pto.mte_l1_l0b_mx"):
    """Load the MX scales of a right operand from L1 (pipe MTE1).

    As pto.mte_l1_l0a_mx, with columns n in place of rows m.

        pto.mte_l1_l0b_mx %l1, %l0b, %k, %n : !pto.ptr<f8E4M3FN, l1>, !pto.ptr<f8E4M3FN, l0b>, i64, i64
    """


# --- bias table and fixpipe buffer ------------------------------------------------------------------------------------

BIAS_PAIRS = {
    "f32": ("f32",),
    "f16": ("f32",),
    "bf16": ("f32",),
    "i32": ("i32", "si32", "ui32"),
    "si32": ("i32", "si32", "ui32"),
    "ui32": ("i32", "si32", "ui32"),
}
"""The element types of the bias table that each source may fill; 16-bit floats are widened."""


def bias_pair(op: PTOOperation) -> Iterator[Problem]:
    source, table = pointed(op, "source"), pointed(op, "dest")
    if None not in (source, table) and table not in BIAS_PAIRS.get(source or "", ()):
        message = f"{op.name} does not fill {table} from {source}; known: f32 from f32, f16, bf16, i32 from i32"
        yield Problem(message, at="source")


class MteL1Bt(GranuleCopy, name="pto.mte_l1_bt"):
    """Load bias values from L1 into the bias table (pipe MTE1); f16 and bf16 are widened to f32.

    Lengths and gaps count 32-byte granules of the source; the table advances by as many elements.

        pto.mte_l1_bt %l1, %bt, %len nburst(%n, %source_gap, %dest_gap)
            : !pto.ptr<f16, l1>, !pto.ptr<f32, bt>, i64, i64, i64, i64
    """

    cores = (CoreKind.AIC,)
    spaces = {"source": (Space.L1,), "dest": (Space.BT,)}

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from bias_pair(self)


class MteL1Fb(GranuleCopy, name="pto.mte_l1_fb"):
    """Load parameter rows from L1 into the fixpipe buffer (pipe FIX), bytes as they are.

    Lengths and gaps count 64-byte units. Element types are free. Address bits from 16 on select the segment of the
    buffer: 0 for quantisation words (8 bytes a channel), 1 for relu words (4 bytes a channel).

        pto.mte_l1_fb %l1, %fb, %len nburst(%n, %source_gap, %dest_gap)
            : !pto.ptr<ui64, l1>, !pto.ptr<f32, fb>, i64, i64, i64, i64
    """

    cores = (CoreKind.AIC,)
    spaces = {"source": (Space.L1,), "dest": (Space.FB,)}
