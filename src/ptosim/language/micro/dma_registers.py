"""The registers that copies read when they are issued: hardware loops, pad value, and how stores to GM combine.

They keep their values until written again. The copies with clauses (dma_grouped.py) carry their own and leave these
alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.language.operation import Problem, PTOOperation, lint, made
from ptosim.language.types import element_name

PAD_TYPES = ("i8", "i16", "i32", "f16", "bf16", "f32")


def is_pad_type(op: PTOOperation, role: str) -> Iterator[Problem]:
    """A pad value has one of the types of which a pattern can be made."""
    type_ = getattr(op, role).type
    if element_name(type_) not in PAD_TYPES:
        yield Problem(f"a pad value must be one of {', '.join(PAD_TYPES)}, not {type_}", at=role)


class _Register(PTOOperation):
    placement = "outside"


class _LoopSize(_Register):
    form = "$loop1:i64, $loop2:i64"


class _LoopStride(_Register):
    form = "$source_stride:i64, $dest_stride:i64"


class _PackedRegister(_Register):
    form = "$packed:i64"


class SetLoopSizeOutToUB(_LoopSize, name="pto.set_loop_size_outtoub"):
    """Set how often the two hardware loops around a GM to UB copy run: inner loop1, outer loop2.

    The register keeps its value and affects every later pto.copy_gm_to_ubuf; without loops both must be 1, as at the
    start. 21 bits each. The copy captures the registers when it is issued.

        pto.set_loop_size_outtoub %loop1, %loop2 : i64, i64
    """


class SetLoop1StrideOutToUB(_LoopStride, name="pto.set_loop1_stride_outtoub"):
    """Set how far GM source and UB destination advance per step of the inner loop of pto.copy_gm_to_ubuf, in bytes.

    40 bits for GM, 21 for UB. Kept until written again; 0 at the start.

        pto.set_loop1_stride_outtoub %source_stride, %dest_stride : i64, i64
    """


class SetLoop2StrideOutToUB(_LoopStride, name="pto.set_loop2_stride_outtoub"):
    """Set how far source and destination advance per step of the outer loop of pto.copy_gm_to_ubuf.

    Bytes: 40 bits for the GM source, 21 for the UB destination. Kept until written again; 0 at the start.

        pto.set_loop2_stride_outtoub %source_stride, %dest_stride : i64, i64
    """


class SetLoopSizeUBToOut(_LoopSize, name="pto.set_loop_size_ubtoout"):
    """Set how often the two hardware loops around a UB to GM copy run: inner loop1, outer loop2.

    A register set of its own, read by pto.copy_ubuf_to_gm.

        pto.set_loop_size_ubtoout %loop1, %loop2 : i64, i64
    """


class SetLoop1StrideUBToOut(_LoopStride, name="pto.set_loop1_stride_ubtoout"):
    """Set how far source and destination advance per step of the inner loop of pto.copy_ubuf_to_gm.

    Bytes: 21 bits for the UB source, 40 for the GM destination. Kept until written again; 0 at the start.

        pto.set_loop1_stride_ubtoout %source_stride, %dest_stride : i64, i64
    """


class SetLoop2StrideUBToOut(_LoopStride, name="pto.set_loop2_stride_ubtoout"):
    """Set how far source and destination advance per step of the outer loop of pto.copy_ubuf_to_gm.

    Bytes: 21 bits for the UB source, 40 for the GM destination. Kept until written again; 0 at the start.

        pto.set_loop2_stride_ubtoout %source_stride, %dest_stride : i64, i64
    """


class SetLoopSizeOutToL1(_PackedRegister, name="pto.set_loop_size_outtol1"):
    """Set how often the two hardware loops around a GM to L1 copy run.

    Bits 20:0 are the inner loop1, bits 41:21 the outer loop2; both are 1 at the start.

        pto.set_loop_size_outtol1 %packed : i64
    """


LOOP_SIZES: dict[str, type[PTOOperation]] = {
    "outtoub": SetLoopSizeOutToUB,
    "ubtoout": SetLoopSizeUBToOut,
    "outtol1": SetLoopSizeOutToL1,
}
"""The instructions that set the sizes of the loops of the older copies, by direction."""


class SetLoop1StrideOutToL1(_PackedRegister, name="pto.set_loop1_stride_outtol1"):
    """Set how far source and destination advance per step of the inner loop of GM to L1 copies.

    Bytes: bits 39:0 the GM source, bits 63:40 the L1 destination.

        pto.set_loop1_stride_outtol1 %packed : i64
    """


class SetLoop2StrideOutToL1(_PackedRegister, name="pto.set_loop2_stride_outtol1"):
    """Set how far source and destination advance per step of the outer loop of GM to L1 copies.

    Bytes: bits 39:0 the GM source, bits 63:40 the L1 destination.

        pto.set_loop2_stride_outtol1 %packed : i64
    """


class SetMte2NzPara(_PackedRegister, name="pto.set_mte2_nz_para"):
    """Set the destination layout of pto.copy_gm_to_cbuf_multi_nd2nz and _dn2nz.

    Bits 15:0 groups, 31:16 loop2 stride, 47:32 loop3 stride, 63:48 loop4 stride, the strides in 32-byte units.

        pto.set_mte2_nz_para %packed : i64
    """


class SetStoreAtomicCfg(_PackedRegister, name="pto.set_store_atomic_cfg"):
    """Write a raw atomic configuration word.

    It has no effect here; use pto.set_atomic_add and its companions.

        pto.set_store_atomic_cfg %packed : i64
    """

    def rules(self, target: str) -> Iterator[Problem]:
        hint = "use pto.set_atomic_add, pto.set_atomic_f32 and their companions"
        yield lint("the word is ignored: how it is laid out is not published", hint=hint)


class SetMovPadVal(_Register, name="pto.set_mov_pad_val"):
    """Set the bit pattern with which GM to UB copies pad their rows.

    The value is i8, i16, i32, f16, bf16 or f32; its pattern is repeated in the width of the destination's elements. 0
    at the start.

        pto.set_mov_pad_val %value : f32
    """

    form = "$value"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from is_pad_type(self, "value")


class SetPadValOutToL1(SetMovPadVal, name="pto.set_pad_val_outtol1"):
    """Set the pad pattern of GM to L1 copies.

    The value is i8, i16, i32, f16, bf16 or f32.

        pto.set_pad_val_outtol1 %value : f16
    """


class _Atomic(_Register):
    """A field of CTRL that turns stores to GM into atomic updates."""


class SetAtomicNone(_Atomic, name="pto.set_atomic_none"):
    """Stores to GM overwrite again.

    Atomic operation and type are both cleared.

        pto.set_atomic_none
    """


class SetAtomicAdd(_Atomic, name="pto.set_atomic_add"):
    """Later UB to GM and L0C to GM stores add to GM, once a type is set, until pto.set_atomic_none.

    The mode is captured when the store is issued; operation and type are set independently.

        pto.set_atomic_add
    """


class SetAtomicMax(_Atomic, name="pto.set_atomic_max"):
    """Later stores to GM keep the maximum of GM and the stored value.

    Only once a type is set; until pto.set_atomic_none.

        pto.set_atomic_max
    """


class SetAtomicMin(_Atomic, name="pto.set_atomic_min"):
    """Later stores to GM keep the minimum of GM and the stored value.

    Only once a type is set; until pto.set_atomic_none.

        pto.set_atomic_min
    """


class _AtomicType(_Atomic):
    """Later stores to GM are atomic in {type}.

    Sums {sums}. The operation is add unless set otherwise.

        pto.set_atomic_{type}
    """


def _atomic_type(type_: str) -> type[PTOOperation]:
    sums = "wrap" if type_.startswith("s") else "round to nearest even"
    text = (_AtomicType.__doc__ or "").format(type=type_, sums=sums)
    return made(__name__, _AtomicType, f"pto.set_atomic_{type_}", __doc__=text)


OPERATIONS = tuple(_atomic_type(type_) for type_ in ("f32", "f16", "bf16", "s32", "s16", "s8"))
