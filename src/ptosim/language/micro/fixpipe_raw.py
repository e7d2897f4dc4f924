"""The way out of the accumulator in the raw spelling: two packed words, and the registers that hold the rest.

The stores with clauses (fixpipe.py) carry all of it themselves and leave these registers alone.
"""

from __future__ import annotations

from ptosim.effects.configuration import FIXPIPE
from ptosim.effects.names import Space
from ptosim.language.micro.cube import CubeOperation
from ptosim.language.operation import OptionalOperand

# --- stores -----------------------------------------------------------------------------------------------------------


class RawStore(CubeOperation):
    """Two pointers and two words; a pass adds what the registers hold (language/passes/register_operands.py)."""

    form = "$source, $dest, $config0:i64, $config1:i64{, " + ", ".join(f"${register}:i64" for register in FIXPIPE) + "}"
    fpc = OptionalOperand()


class CopyMatrixCcToGm(RawStore, name="pto.copy_matrix_cc_to_gm"):
    """Store a tile from L0C to GM (pipe FIX); the raw form of pto.mte_l0c_gm.

    config0: bits 3:0 sid, 15:4 n, 31:16 m, 63:32 destination stride. config1: bits 15:0 source stride, 19:16 L2 hint,
    29 and 38:34 quantisation code, 31:30 clip, 33:32 unit flag, 41:39 relu mode, 42 split, 43 nz2nd, 62 nz2dn; with
    neither layout bit the store is nz2nz. Everything else comes from set_loop3_para, set_channel_para, set_quant_pre,
    set_relu_alpha, set_fix_clip_relu, set_fpc and CTRL.

        pto.copy_matrix_cc_to_gm %c, %gm, %config0, %config1 : !pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64
    """

    spaces = {"source": (Space.L0C,), "dest": (Space.GM,)}


class CopyMatrixCcToCbuf(RawStore, name="pto.copy_matrix_cc_to_cbuf"):
    """Move a tile from L0C to L1 (pipe FIX); the raw form of pto.mte_l0c_l1.

    The words are those of pto.copy_matrix_cc_to_gm, without the L2 hint.

        pto.copy_matrix_cc_to_cbuf %c, %l1, %config0, %config1 : !pto.ptr<f32, l0c>, !pto.ptr<f32, l1>, i64, i64
    """

    spaces = {"source": (Space.L0C,), "dest": (Space.L1,)}


class CopyMatrixCcToUb(RawStore, name="pto.copy_matrix_cc_to_ub"):
    """Move a tile from L0C to UB (pipe FIX, a5); the raw form of pto.mte_l0c_ub.

    As pto.copy_matrix_cc_to_gm, but bits 17:16 of config1 are the mode (0 one core, 1 split_m, 2 split_n) and bit 18 is
    the vector core.

        pto.copy_matrix_cc_to_ub %c, %ub, %config0, %config1 : !pto.ptr<f32, l0c>, !pto.ptr<f32, ub>, i64, i64
    """

    targets = ("a5",)
    spaces = {"source": (Space.L0C,), "dest": (Space.UB,)}


# --- registers --------------------------------------------------------------------------------------------------------


class _Register(CubeOperation):
    form = "$packed:i64"


class _WideRegister(CubeOperation):
    """A word in two operands: its low 40 bits and its high 24."""

    form = "$low:i64, $high:i64"


class SetLoop3Para(_WideRegister, name="pto.set_loop3_para"):
    """Set the repetition of raw fixpipe stores: bits 15:0 count, 31:16 source stride, 63:32 destination stride.

    The operands are the low 40 and the high 24 bits of that word.

        pto.set_loop3_para %low, %high : i64, i64
    """


class SetChannelPara(_WideRegister, name="pto.set_channel_para"):
    """Set the loop0 source stride of raw nz2dn stores: bits 63:48.

    The operands are the low 40 and the high 24 bits of that word.

        pto.set_channel_para %low, %high : i64, i64
    """


class SetQuantPre(_Register, name="pto.set_quant_pre"):
    """Set the scalar quantisation word of raw fixpipe stores.

    Bits 31:13 are the scale as a truncated f32, 36:32 a shift, 45:37 an offset, 46 the sign of 8-bit results.

        pto.set_quant_pre %packed : i64
    """


class SetReluAlpha(_Register, name="pto.set_relu_alpha"):
    """Set the slope of scalar relu of raw fixpipe stores.

    The low word holds the bits of an f32.

        pto.set_relu_alpha %packed : i64
    """


class SetFixClipRelu(_Register, name="pto.set_fix_clip_relu"):
    """Set the clip value of raw fixpipe stores.

    The low 16 bits hold a value of the destination type.

        pto.set_fix_clip_relu %packed : i64
    """


class SetFpc(_Register, name="pto.set_fpc"):
    """Set the rows of the fixpipe buffer that raw stores read.

    Bits 15:8 are the quantisation row, in 128-byte units, bits 7:0 the relu row, in 64-byte units.

        pto.set_fpc %packed : i64
    """
