"""Copies between memories in the current spelling, with clauses such as `nburst(...) loop(...)`, and the filling of L1.

They carry their own counts and strides and leave the registers of dma.py alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import SSAValue
from xdsl.printer import Printer

from ptosim.effects.names import CoreKind, Space
from ptosim.language.micro.burst import LOOPS, GranuleCopy, GroupedCopy, burst_sizes
from ptosim.language.micro.cube import CubeOperation
from ptosim.language.micro.dma import paddings
from ptosim.language.micro.dma_registers import is_pad_type
from ptosim.language.operation import Operand, OptionalOperand, Problem, Property, VariadicOperand
from ptosim.language.rules.operand_rules import in_range, same_width
from ptosim.language.text.assembly_format import Vocabulary, parse_word, types_of, write
from ptosim.language.text.clauses import (
    Written,
    by_role,
    parse_clause_types,
    parse_group,
    parse_leading,
    print_group,
    transposed,
)
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import PtrType, element_of


class _Looped(GroupedCopy):
    """Loops around the rows, which advance by bytes."""

    slots = (("nburst",), LOOPS)
    loop_counts = VariadicOperand("i64")
    loop_source_strides = VariadicOperand("i64")
    loop_dest_strides = VariadicOperand("i64")

    def groups(self) -> Iterator[tuple[str, Sequence[SSAValue]]]:
        yield from super().groups()
        for group in transposed(self.loop_counts, self.loop_source_strides, self.loop_dest_strides):
            yield "loop", group


class _Strided(_Looped):
    """Byte lengths and start-to-start strides, with loops around the rows."""

    operand_order = ("source", "dest", "len_burst", "n_burst", "source_stride", "dest_stride")
    source_stride = Operand("i64")
    dest_stride = Operand("i64")

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_width(self)
        yield from burst_sizes(self)


class MteGmUb(_Strided, name="pto.mte_gm_ub"):
    """Copy rows from GM to UB (pipe MTE2).

    `nburst(count, source stride, destination stride)` rows of `len_burst` bytes; strides are in bytes from row start
    to row start, those of UB multiples of 32. Each `loop(count, source stride, destination stride)` repeats all
    before it. `pad(value, left, right)` fills each row with a value up to the destination stride; left and right
    count elements. `l2_cache_ctl` has no effect on the result. `older` marks the
    internal form of pto.copy_gm_to_ubuf: it keeps its limits, and its pad clause may have a condition, `data_select`.

        pto.mte_gm_ub %gm, %ub, %l2, %len nburst(%n, %gm_stride, %ub_stride) loop(%c, %gm_step, %ub_step)
            pad(%v, %left, %right)
            : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, loop i64, i64, i64, pad f32, i64, i64
    """

    cores = (CoreKind.AIV,)
    leading = ("source", "dest", "l2_cache_ctl", "len_burst")
    operand_order = (*leading, "n_burst", "source_stride", "dest_stride")
    slots = (("nburst",), LOOPS, ("pad",))
    spaces = {"source": (Space.GM,), "dest": (Space.UB,)}
    l2_cache_ctl = Operand("i64")
    pad_value = OptionalOperand()
    left_padding = OptionalOperand("i64")
    right_padding = OptionalOperand("i64")
    data_select = OptionalOperand()

    @classmethod
    def parse_clause(cls, parser: LocatedParser, word: str, written: Written) -> None:
        if word != "pad":
            super().parse_clause(parser, word, written)
            return
        parser.parse_punctuation("(")
        parse_leading(parser, written, "pad_value")
        if parser.parse_optional_punctuation(",") is not None:
            written.append(("left_padding", parser.parse_value("left_padding")))
            parser.parse_punctuation(",", ": left and right padding are given together")
            written.append(("right_padding", parser.parse_value("right_padding")))
            if parser.parse_optional_punctuation(",") is not None:
                parse_leading(parser, written, "data_select")
        parser.parse_punctuation(")")

    def groups(self) -> Iterator[tuple[str, Sequence[SSAValue]]]:
        yield from super().groups()
        roles = ("pad_value", "left_padding", "right_padding", "data_select")
        yield "pad", [value for role in roles for value in self.segment(role)]

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from paddings(self)
        if self.pad_value is None:
            return
        if self.older is None and self.data_select is not None:
            yield Problem("pad takes a value, or a value, left and right", at="data_select")
        elif self.older is None:
            yield from list(is_pad_type(self, "pad_value")) or same_width(self, "dest", "pad_value")
        elif self.data_select is not None and self.data_select.type != i1:
            yield Problem(f"data_select must be i1, not {self.data_select.type}", at="data_select")


class MteUbGm(_Strided, name="pto.mte_ub_gm"):
    """Copy rows from UB to GM (pipe MTE3).

    As pto.mte_gm_ub with the source in UB; inside every group the source comes before the destination. Exactly
    `len_burst` bytes of each row are read and written. With an atomic type set the bytes are combined with GM instead
    of overwriting it.

        pto.mte_ub_gm %ub, %gm, %len nburst(%n, %ub_stride, %gm_stride)
            : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    """

    cores = (CoreKind.AIV,)
    slots = (("nburst",), ("l2_cache_ctl",), LOOPS)
    operand_order = (*_Strided.operand_order, "l2_cache_ctl")
    spaces = {"source": (Space.UB,), "dest": (Space.GM,)}
    l2_cache_ctl = OptionalOperand("i64")

    def groups(self) -> Iterator[tuple[str, Sequence[SSAValue]]]:
        nburst, *loops = super().groups()
        yield from (nburst, ("l2_cache_ctl", self.segment("l2_cache_ctl")), *loops)


class MteGmL1(_Strided, name="pto.mte_gm_l1"):
    """Copy rows from GM to L1 (pipe MTE2), bytes as they are.

    Length and strides are in bytes, strides from row start to row start.

        pto.mte_gm_l1 %gm, %l1, %len nburst(%n, %gm_stride, %l1_stride)
            : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, i64, i64, i64, i64
    """

    cores = (CoreKind.AIC,)
    spaces = {"source": (Space.GM,), "dest": (Space.L1,)}


class SimL1Gm(_Strided, name="pto.sim.l1_gm"):
    """Copy rows from L1 to GM (pipe FIX), bytes as they are.

    What pto.tstore of a tile in mat becomes on a2a3: there is no instruction for it. As pto.mte_ub_gm with the source
    in L1, and never combined with GM.

        pto.sim.l1_gm %l1, %gm, %len nburst(%n, %l1_stride, %gm_stride)
            : !pto.ptr<f16, l1>, !pto.ptr<f16, gm>, i64, i64, i64, i64
    """

    cores = (CoreKind.AIC,)
    spaces = {"source": (Space.L1,), "dest": (Space.GM,)}


class _UnifiedBufferGranules(GranuleCopy):
    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from same_width(self)


class MteUbUb(_UnifiedBufferGranules, name="pto.mte_ub_ub"):
    """Copy rows within UB (pipe V).

    Length and gaps count 32-byte granules; a gap lies between the end of a row and the start of the next.

        pto.mte_ub_ub %source, %dest, %len nburst(%n, %source_gap, %dest_gap)
            : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64
    """

    cores = (CoreKind.AIV,)
    spaces = {"source": (Space.UB,), "dest": (Space.UB,)}


class MteUbL1(_UnifiedBufferGranules, name="pto.mte_ub_l1"):
    """Copy rows from a vector core's UB to the cluster's L1 (pipe MTE3, a5).

    Length and gaps count 32-byte granules. Both vector cores write the same L1, so their destinations must differ.

        pto.mte_ub_l1 %ub, %l1, %len nburst(%n, %source_gap, %dest_gap)
            : !pto.ptr<f16, ub>, !pto.ptr<f16, l1>, i64, i64, i64, i64
    """

    cores = (CoreKind.AIV,)
    targets = ("a5",)
    spaces = {"source": (Space.UB,), "dest": (Space.L1,)}


class MteL1Ub(_Looped, _UnifiedBufferGranules, name="pto.mte_l1_ub"):
    """Copy rows from L1 to the UB of AIV0 (issued by the cube core, pipe MTE1, a5).

    Length and gaps count 32-byte granules, not bytes; the strides of `loop` are bytes, the last loop outermost.
    pto.copy_cbuf_to_ubuf reaches AIV1.

        pto.mte_l1_ub %l1, %ub, %len nburst(%n, %source_gap, %dest_gap)
            : !pto.ptr<f16, l1>, !pto.ptr<f16, ub>, i64, i64, i64, i64
    """

    cores = (CoreKind.AIC,)
    targets = ("a5",)
    spaces = {"source": (Space.L1,), "dest": (Space.UB,)}


# --- layout conversion and filling ------------------------------------------------------------------------------------

LAYOUTS = Vocabulary(("nd2nz", "dn2nz"), printed="{}")


class MteGmL1Frac(CubeOperation, name="pto.mte_gm_l1_frac"):
    """Copy a matrix from GM into NZ order in L1 (pipe MTE2).

    Columns come in groups of 32 bytes, each group holding all rows. `shape(n, d)`: n rows of d elements. nd2nz reads
    them row-major, `src_layout(inner, outer)` being the byte strides of a row and of a group; dn2nz column-major,
    inner being the byte stride of a column. `dst_group(groups, l2, l3, l4)`: row, column-group and group strides in
    32-byte units; usually 1, 1, rows rounded up to 16, 0. Lanes behind the last column become 0; rows behind the last
    are not written. `ctrl(l2_cache_ctl, small_c0)`.

        pto.mte_gm_l1_frac %gm, %l1, nd2nz, shape(%n, %d), src_layout(%inner), dst_group(%groups, %l2, %l3, %l4),
            ctrl(%cache, %small) : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, nd2nz, shape i64, i64, src_layout(i64),
            dst_group i64, i64, i64, i64, ctrl i64, i1
    """

    words = {"layout": LAYOUTS}
    spaces = {"source": (Space.GM,), "dest": (Space.L1,)}
    source = Operand()
    dest = Operand()
    layout = Property()
    n = Operand("i64")
    d = Operand("i64")
    inner_stride = Operand("i64")
    outer_stride = OptionalOperand("i64")
    groups = Operand("i64")
    loop2_stride = Operand("i64")
    loop3_stride = Operand("i64")
    loop4_stride = Operand("i64")
    l2_cache_ctl = Operand("i64")
    small_c0 = Operand("i1")

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        written: Written = []
        parse_leading(parser, written, "source", "dest")
        parser.parse_punctuation(",")
        layout = parse_word(parser, "layout", LAYOUTS)
        cls._parse_clause(parser, "shape")
        parse_group(parser, written, "n", "d")
        cls._parse_clause(parser, "src_layout")
        cls._parse_source_layout(parser, written)
        cls._parse_clause(parser, "dst_group")
        parse_group(parser, written, "groups", "loop2_stride", "loop3_stride", "loop4_stride")
        cls._parse_clause(parser, "ctrl")
        parse_group(parser, written, "l2_cache_ctl", "small_c0")
        attributes, properties = cls.parse_dictionary(parser)
        cls._parse_types(parser, written, layout)
        return cls.make(by_role(written), (), {**properties, "layout": StringAttr(layout)}, attributes)

    @classmethod
    def _parse_clause(cls, parser: LocatedParser, word: str) -> None:
        parser.parse_optional_punctuation(",")
        parser.parse_keyword(word, " in pto.mte_gm_l1_frac: shape, src_layout, dst_group and ctrl follow in this order")

    @classmethod
    def _parse_source_layout(cls, parser: LocatedParser, written: Written) -> None:
        parser.parse_punctuation("(")
        parse_leading(parser, written, "inner_stride")
        if parser.parse_optional_punctuation(",") is not None:
            parse_leading(parser, written, "outer_stride")
        parser.parse_punctuation(")")

    @classmethod
    def _parse_types(cls, parser: LocatedParser, written: Written, layout: str) -> None:
        words = (*LAYOUTS.words, "shape", "src_layout", "dst_group", "ctrl")
        for word, span in parse_clause_types(parser, written, words):
            if word in LAYOUTS.words and word != layout:
                parser.report(f"the layout is {layout}, but the type list says {word}", span)

    def print(self, printer: Printer) -> None:
        write(printer, " ", [self.source, self.dest, f"{self.word('layout')}"])
        clauses = [(word, [v for role in roles for v in self.segment(role)]) for word, roles in _FRAC_CLAUSES.items()]
        for word, values in clauses:
            write(printer, ",")
            print_group(printer, word, values)
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", [self.source.type, self.dest.type, f"{self.word('layout')}"])
        for word, values in clauses:
            opening, closing = ("(", ")") if word == "src_layout" else (" ", "")
            write(printer, f", {word}{opening}", types_of(values), closing)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_width(self)
        yield from in_range(self, 1, None, "groups")


_FRAC_CLAUSES = {
    "shape": ("n", "d"),
    "src_layout": ("inner_stride", "outer_stride"),
    "dst_group": ("groups", "loop2_stride", "loop3_stride", "loop4_stride"),
    "ctrl": ("l2_cache_ctl", "small_c0"),
}


class _Fill(CubeOperation):
    dest = Operand()
    fill_word_bits = Property()

    def rules(self, target: str) -> Iterator[Problem]:
        bits = self.attribute("fill_word_bits")
        if bits is None:
            yield Problem(f"{self.name} needs {{fill_word_bits = 16}} or {{fill_word_bits = 32}}")
        elif self.integer("fill_word_bits") not in (16, 32):
            yield Problem(f"fill_word_bits must be 16 or 32, not {bits}", at="fill_word_bits")


class RawFillL1(_Fill, name="pto.raw_fill_l1"):
    """Fill L1 with a 16- or 32-bit word (pipe MTE2): `repeat` runs of `blocks` x 32 bytes.

    `gap` x 32 bytes between the runs are left alone. `byte_offset` is a multiple of 32; repeat, blocks and gap are at
    most 32767.

        pto.raw_fill_l1 %l1, %byte_offset, %value, %repeat, %blocks, %gap {fill_word_bits = 32 : i64}
            : !pto.ptr<f32, l1>, i64, i32, i64, i64, i64
    """

    form = "$dest:l1, $byte_offset:i64, $value:i32, $repeat:i64, $blocks:i64, $gap:i64"


class CreateCbufMatrix(_Fill, name="pto.create_cbuf_matrix"):
    """Fill L1 with a 16- or 32-bit word (pipe MTE2), from the pointer on.

    The elements of the pointer are ui16 or ui32, of the width of the word.

        pto.create_cbuf_matrix %l1, %value, %repeat, %blocks, %gap {fill_word_bits = 16 : i64}
            : !pto.ptr<ui16, l1>, i32, i64, i64, i64
    """

    form = "$dest:l1, $value:i32, $repeat:i64, $blocks:i64, $gap:i64"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        type_, bits = self.dest.type, self.integer("fill_word_bits")
        if not isinstance(type_, PtrType) or type_.is_open:
            return
        element = element_of(type_)
        if element.name not in ("ui16", "ui32"):
            yield Problem(f"dest must have elements of type ui16 or ui32, not {type_.element}", at="dest")
        elif bits in (16, 32) and element.bits != bits:
            yield Problem(f"dest has elements of {element.bits} bits, but fill_word_bits is {bits}", at="dest")
