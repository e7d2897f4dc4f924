"""Moves out of L1 in the raw spelling: the fields of the hardware by position."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.language.micro.burst import burst_sizes
from ptosim.language.micro.cube import CubeOperation
from ptosim.language.micro.cube_load import FP4, FULL, MX_FULL, TO_L0A, TO_L0B, boolean_transpose, control_fields
from ptosim.language.operation import Operand, OptionalProperty, Problem
from ptosim.language.rules.operand_rules import constant_of, in_range, pointed, same_width

# --- L0 ---------------------------------------------------------------------------------------------------------------


_TILE = ", ".join(("$source, $dest", *(f"${field}:i64" for field in FULL)))


class _RawLoad(CubeOperation):
    form = _TILE
    transpose = OptionalProperty()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_width(self)
        yield from control_fields(self)
        yield from boolean_transpose(self)
        if FP4 & {pointed(self, "source"), pointed(self, "dest")}:
            yield Problem(f"{self.name} does not take packed 4-bit elements; use {self.name}_s4", at="source")


class LoadCbufToCa(_RawLoad, name="pto.load_cbuf_to_ca"):
    """Load fractals from L1 into L0A (pipe MTE1); the raw form of pto.mte_l1_l0a.

    m_start counts 16 rows, k_start 32 bytes; strides are in fractals of 512 bytes.

        pto.load_cbuf_to_ca %l1, %l0a, %m_start, %k_start, %m_step, %k_step, %source_stride, %dest_stride
            : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64, i64, i64, i64, i64
    """

    spaces = TO_L0A


class LoadCbufToCb(_RawLoad, name="pto.load_cbuf_to_cb"):
    """Load fractals from L1 into L0B (pipe MTE1); the raw form of pto.mte_l1_l0b.

    As pto.load_cbuf_to_ca.

        pto.load_cbuf_to_cb %l1, %l0b, %m_start, %k_start, %m_step, %k_step, %source_stride, %dest_stride
            {transpose = true} : !pto.ptr<f16, l1>, !pto.ptr<f16, l0b>, i64, i64, i64, i64, i64, i64
    """

    spaces = TO_L0B


class _RawPackedLoad(CubeOperation):
    form = f"{_TILE}, $transpose:i64"
    transpose = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from in_range(self, 0, None, *FULL)
        source, dest = pointed(self, "source"), pointed(self, "dest")
        if None not in (source, dest) and not (source in FP4 and source == dest):
            message = f"{self.name} needs one packed 4-bit element type on both sides, not {source} and {dest}"
            yield Problem(message, at="source")
        if constant_of(self.transpose) not in (0, 1):
            yield Problem("transpose must be the constant 0 or 1", at="transpose")


class LoadCbufToCaS4(_RawPackedLoad, name="pto.load_cbuf_to_ca_s4"):
    """Load fractals of packed 4-bit elements from L1 into L0A (pipe MTE1).

    The last operand, transpose, is the constant 0 or 1.

        pto.load_cbuf_to_ca_s4 %l1, %l0a, %m_start, %k_start, %m_step, %k_step, %source_stride, %dest_stride, %c0
            : !pto.ptr<!pto.f4E2M1x2, l1>, !pto.ptr<!pto.f4E2M1x2, l0a>, i64, i64, i64, i64, i64, i64, i64
    """

    spaces = TO_L0A


class LoadCbufToCbS4(_RawPackedLoad, name="pto.load_cbuf_to_cb_s4"):
    """Load fractals of packed 4-bit elements from L1 into L0B (pipe MTE1).

    The last operand, transpose, is the constant 0 or 1.

        pto.load_cbuf_to_cb_s4 %l1, %l0b, %m_start, %k_start, %m_step, %k_step, %source_stride, %dest_stride, %c1
            : !pto.ptr<!pto.f4E2M1x2, l1>, !pto.ptr<!pto.f4E2M1x2, l0b>, i64, i64, i64, i64, i64, i64, i64
    """

    spaces = TO_L0B


class _RawScales(CubeOperation):
    form = ", ".join(("$source, $dest", *(f"${field}:i64" for field in MX_FULL)))

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_width(self)
        yield from in_range(self, 0, None, *MX_FULL)


class LoadCbufToCaMx(_RawScales, name="pto.load_cbuf_to_ca_mx"):
    """Load MX scales for L0A from L1 (pipe MTE1).

    The destination is the address in the scale buffer itself.

        pto.load_cbuf_to_ca_mx %l1, %l0a, %x_start, %y_start, %x_step, %y_step, %source_stride, %dest_stride
            : !pto.ptr<f8E4M3FN, l1>, !pto.ptr<f8E4M3FN, l0a>, i64, i64, i64, i64, i64, i64
    """

    spaces = TO_L0A


class LoadCbufToCbMx(_RawScales, name="pto.load_cbuf_to_cb_mx"):
    """Load MX scales for L0B from L1 (pipe MTE1).

    The destination is the address in the scale buffer itself.

        pto.load_cbuf_to_cb_mx %l1, %l0b, %x_start, %y_start, %x_step, %y_step, %source_stride, %dest_stride
            : !pto.ptr<f8E4M3FN, l1>, !pto.ptr<f8E4M3FN, l0b>, i64, i64, i64, i64, i64, i64
    """

    spaces = TO_L0B


# --- bias table and fixpipe buffer ------------------------------------------------------------------------------------


class _RawBlocks(CubeOperation):
    def rules(self, target: str) -> Iterator[Problem]:
        return burst_sizes(self)


class CopyCbufToBt(_RawBlocks, name="pto.copy_cbuf_to_bt"):
    """Load bias values from L1 into the bias table (pipe MTE1); the raw form of pto.mte_l1_bt.

    `convert` true widens 16-bit floats to f32.

        pto.copy_cbuf_to_bt %l1, %bt, %convert, %n_burst, %len_burst, %source_gap, %dest_gap
            : !pto.ptr<f16, l1>, !pto.ptr<f32, bt>, i1, i64, i64, i64, i64
    """

    form = "$source:l1, $dest:bt, $convert:i1, $n_burst:i64, $len_burst:i64, $source_gap:i64, $dest_gap:i64"


class CopyCbufToFbuf(_RawBlocks, name="pto.copy_cbuf_to_fbuf"):
    """Load parameter rows from L1 into the fixpipe buffer (pipe FIX).

    The raw form of pto.mte_l1_fb; lengths and gaps count 64-byte units.

        pto.copy_cbuf_to_fbuf %l1, %fb, %n_burst, %len_burst, %source_gap, %dest_gap
            : !pto.ptr<ui64, l1>, !pto.ptr<f32, fb>, i64, i64, i64, i64
    """

    form = "$source:l1, $dest:fb, $n_burst:i64, $len_burst:i64, $source_gap:i64, $dest_gap:i64"
