"""Copies between memories, in the spelling with positional operands.

The registers that they read are in dma_registers.py, the spelling with clauses is in dma_grouped.py; what L0, bias
table and fixpipe buffer receive is in the cube rooms. Alignment, bounds and overlap depend on addresses and are
judged when run; here are types, field widths and constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from ptosim.effects.dma import PADDING_LIMIT
from ptosim.effects.element import GRANULE
from ptosim.effects.names import CoreKind, Space
from ptosim.language.micro.burst import burst_sizes
from ptosim.language.micro.cube import CubeOperation
from ptosim.language.operation import Operand, Problem, PTOOperation, lint
from ptosim.language.rules.operand_rules import constants, same_width
from ptosim.language.text.clauses import parse_operand_list
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import PtrType, element_of

# --- rules ------------------------------------------------------------------------------------------------------------


def paddings(op: PTOOperation) -> Iterator[Problem]:
    """Hardware adds at most a granule at each end of a row; the operands count elements."""
    dest = op.operands[1].type
    most = GRANULE // element_of(dest.element).bytes if isinstance(dest, PtrType) else PADDING_LIMIT
    for role in ("left_padding", "right_padding"):
        for place, known in constants(op, role):
            if most < known <= PADDING_LIMIT:
                message = f"{role} is {known}; hardware pads at most 32 bytes at each end of a row, {most} elements"
                yield lint(message, at=place)


# --- copies -----------------------------------------------------------------------------------------------------------


class _RowCopy(PTOOperation):
    """Two pointers and a fixed number of scalars; older kernels have two more, which mean nothing."""

    placement = "outside"
    cores = (CoreKind.AIV,)

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        found = parse_operand_list(parser)
        short = [role for role in cls.operand_roles if role not in cls.optional_roles]
        roles = short if len(found) == len(short) else cls.operand_roles
        if len(found) != len(roles):
            message = f"{cls.name} takes {len(short)} operands: {', '.join(short)}; found {len(found)}"
            parser.raise_error(message, found[-1][1])
        for role, (_, span) in zip(roles, found, strict=True):
            parser.place(role, span)
        return cls.parse_rest(parser, {role: value for role, (value, _) in zip(roles, found, strict=True)}, {})

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_width(self)
        yield from burst_sizes(self)


class CopyGmToUbuf(_RowCopy, name="pto.copy_gm_to_ubuf"):
    """Copy rows from GM to UB (pipe MTE2), inside the two hardware loops of the outtoub registers.

    `n_burst` rows of `len_burst` bytes; strides are in bytes from row start to row start, the UB one a multiple of
    32. With `data_select` true each UB row is padded with the value of pto.set_mov_pad_val up to the UB stride,
    `left_padding` and `right_padding` counting elements. `sid` and `l2_cache_ctl` have no effect on the result.

        pto.copy_gm_to_ubuf %gm, %ub, %sid, %n_burst, %len_burst, %left_padding, %right_padding, %data_select,
            %l2_cache_ctl, %source_stride, %dest_stride
            : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64
    """

    form = (
        "$source:gm, $dest:ub{, $valid_rows:i64, $valid_cols:i64}, $sid:i64, $n_burst:i64, $len_burst:i64, "
        "$left_padding:i64, $right_padding:i64, $data_select:i1, $l2_cache_ctl:i64, "
        "$source_stride:i64, $dest_stride:i64"
    )
    dest = Operand()
    data_select = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if not any(known == 0 for _, known in constants(self, "data_select")):
            yield from paddings(self)


class CopyUbufToGm(_RowCopy, name="pto.copy_ubuf_to_gm"):
    """Copy rows from UB to GM (pipe MTE3), inside the two hardware loops of the ubtoout registers.

    The destination stride comes before the source stride. Exactly `len_burst` bytes of each row are read and written,
    so that padding stays behind. `reserved` is 0. With an atomic type set the bytes are combined with GM instead of
    overwriting it.

        pto.copy_ubuf_to_gm %ub, %gm, %sid, %n_burst, %len_burst, %reserved, %dest_stride, %source_stride
            : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64
    """

    form = (
        "$source:ub, $dest:gm{, $valid_rows:i64, $valid_cols:i64}, "
        "$sid:i64, $n_burst:i64, $len_burst:i64, $reserved:i64, $dest_stride:i64, $source_stride:i64"
    )


class _GranuleCopy(PTOOperation):
    """Rows of 32-byte granules with gaps between them."""

    placement = "outside"
    form = "$source, $dest, $sid:i64, $n_burst:i64, $len_burst:i64, $source_gap:i64, $dest_gap:i64"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_width(self)
        yield from burst_sizes(self)


class CopyUbufToUbuf(_GranuleCopy, name="pto.copy_ubuf_to_ubuf"):
    """Copy rows within UB (pipe V).

    Length and gaps count 32-byte granules; a gap lies between the end of a row and the start of the next. Overlapping
    source and destination have no defined order.

        pto.copy_ubuf_to_ubuf %source, %dest, %sid, %n_burst, %len_burst, %source_gap, %dest_gap
            : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    """

    cores = (CoreKind.AIV,)
    spaces = {"source": (Space.UB,), "dest": (Space.UB,)}

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from self._strides()

    def _strides(self) -> Iterator[Problem]:
        """Some manuals have strides in the place of the gaps; those are never shorter than a row."""
        roles = ("n_burst", "len_burst", "source_gap", "dest_gap")
        known = [value for role in roles for _, value in constants(self, role)]
        if len(known) < len(roles):
            return
        rows, length, source_gap, dest_gap = known
        if rows > 1 and 0 < length <= min(source_gap, dest_gap):
            starts = f"rows start {length + source_gap} and {length + dest_gap} granules apart"
            message = f"source_gap and dest_gap are gaps between rows, in granules of 32 bytes, not strides: {starts}"
            hint = "for a stride from row start to row start write the stride less len_burst"
            yield lint(message, at="source_gap", hint=hint)


class CopyUbufToCbuf(_GranuleCopy, name="pto.copy_ubuf_to_cbuf"):
    """Copy rows from a vector core's UB to the cluster's L1 (pipe MTE3, a5).

    Length and gaps count 32-byte granules. Both vector cores write the same L1, so their destinations must differ. In a
    section of the cube core, which has no UB, it loads with a warning and cannot run.

        pto.copy_ubuf_to_cbuf %ub, %l1, %sid, %n_burst, %len_burst, %source_gap, %dest_gap
            : !pto.ptr<f16, ub>, !pto.ptr<f16, l1>, i64, i64, i64, i64, i64
    """

    cores = (CoreKind.AIV,)
    loads_on_any_core = True
    targets = ("a5",)
    spaces = {"source": (Space.UB,), "dest": (Space.L1,)}


class CopyCbufToUbuf(_GranuleCopy, name="pto.copy_cbuf_to_ubuf"):
    """Copy rows from L1 to the UB of one vector core (issued by the cube core, pipe MTE1, a5).

    `sid` selects the vector core: 0 is AIV0, 1 is AIV1. Length and gaps count 32-byte granules.

        pto.copy_cbuf_to_ubuf %l1, %ub, %sid, %n_burst, %len_burst, %source_gap, %dest_gap
            : !pto.ptr<f16, l1>, !pto.ptr<f16, ub>, i64, i64, i64, i64, i64
    """

    cores = (CoreKind.AIC,)
    targets = ("a5",)
    spaces = {"source": (Space.L1,), "dest": (Space.UB,)}


class CopyGmToCbuf(CubeOperation, name="pto.copy_gm_to_cbuf"):
    """Copy rows from GM to L1 (pipe MTE2), inside the two hardware loops of the outtol1 registers.

    Length and strides are in bytes, strides from row start to row start.

        pto.copy_gm_to_cbuf %gm, %l1, %n_burst, %len_burst, %source_stride, %dest_stride
            : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, i64, i64, i64, i64
    """

    form = "$source:gm, $dest:l1, $n_burst:i64, $len_burst:i64, $source_stride:i64, $dest_stride:i64"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_width(self)
        yield from burst_sizes(self)


class _LayoutCopy(CubeOperation):
    """A layout-converting copy whose destination strides are in the register of pto.set_mte2_nz_para."""

    form = (
        "$source:gm, $dest:l1, $sid:i64, $inner_stride:i64, $l2_cache_ctl:i64, $n:i64, $d:i64, "
        "$outer_stride:i64, $small_c0:i1"
    )

    def rules(self, target: str) -> Iterator[Problem]:
        return same_width(self)


class CopyGmToCbufMultiNd2Nz(_LayoutCopy, name="pto.copy_gm_to_cbuf_multi_nd2nz"):
    """Copy a row-major matrix from GM into NZ order in L1 (pipe MTE2).

    The older spelling of pto.mte_gm_l1_frac nd2nz. Groups and destination strides come from pto.set_mte2_nz_para.
    Source strides are in bytes.

        pto.copy_gm_to_cbuf_multi_nd2nz %gm, %l1, %sid, %inner, %l2, %n, %d, %outer, %small_c0
            : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, i64, i64, i64, i64, i64, i64, i1
    """


class CopyGmToCbufMultiDn2Nz(_LayoutCopy, name="pto.copy_gm_to_cbuf_multi_dn2nz"):
    """Copy a column-major matrix from GM into NZ order in L1 (pipe MTE2).

    The older spelling of pto.mte_gm_l1_frac dn2nz. Groups and destination strides come from pto.set_mte2_nz_para.

        pto.copy_gm_to_cbuf_multi_dn2nz %gm, %l1, %sid, %inner, %l2, %n, %d, %outer, %small_c0
            : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, i64, i64, i64, i64, i64, i64, i1
    """
