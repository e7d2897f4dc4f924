"""Fused activations and multiply-adds, the wide product, and the sorting helpers that work from UB to UB."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import f32

from ptosim.effects.conversion import HALVES
from ptosim.effects.names import CoreKind
from ptosim.language.micro import vector
from ptosim.language.operation import Operand, Problem, PTOOperation, Result
from ptosim.language.rules.operand_rules import constant_of, pointed
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import VregType

# --- activations ------------------------------------------------------------------------------------------------------


class VLrelu(vector.VectorScalar, name="pto.vlrelu"):
    """Leaky relu with one slope.

    d[i] = a[i] where a[i] >= 0, else a[i] * s. -0 stays -0, -inf becomes s * -inf, NaN stays NaN.

        %d = pto.vlrelu %a, %s, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = vector.F16_F32


class VPrelu(vector.VectorOperation, name="pto.vprelu"):
    """Leaky relu with a slope per lane.

    d[i] = a[i] where a[i] >= 0, else a[i] * alpha[i]. -0 stays -0, NaN stays NaN.

        %d = pto.vprelu %a, %alpha, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    form = "$input:V, $alpha:V, $mask:M -> $result:V"
    accepted = vector.F16_F32


class VExpdif(vector.VectorOperation, name="pto.vexpdif"):
    """The exponential of a difference, exp(a - max), in f32.

    The difference is rounded to f32, then exp as in pto.vexp. From f32 lane i gives lane i, and the part, which must be
    written, does nothing. From f16 the part chooses lanes 2i (EVEN) or 2i+1 (ODD). The mask has the granularity of the
    input, and the result is always 64xf32.

        %d = pto.vexpdif %a, %max, %mask, "ODD"
            : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    form = "$input:V, $max:V, $mask:M, @part -> $result:vreg"
    words = {"part": Vocabulary(HALVES, {f"PART_{part}": part for part in HALVES})}
    accepted = vector.F16_F32
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        result = self.result.type
        if isinstance(result, VregType) and result.element != f32:
            yield Problem(f"pto.vexpdif gives {VregType.of(f32)}, not {result}", at="result")


# --- multiply and add -------------------------------------------------------------------------------------------------


class VAxpy(vector.VectorOperation, name="pto.vaxpy"):
    """Fused s * a + b with a scalar factor, rounded once.

    Inactive lanes keep b.

        %d = pto.vaxpy %a, %b, %s, %mask
            : !pto.vreg<64xf32>, !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    form = "$input:V, $addend:V, $scalar:T, $mask:M -> $result:V"
    accepted = vector.F16_F32


class VMula(vector.MultiplyAdd, name="pto.vmula"):
    """Fused acc + a * b, rounded once.

    The first operand is the addend (pto.vmadd multiplies its first operand). Integers wrap. Inactive lanes keep acc.

        %d = pto.vmula %acc, %a, %b, %mask
            : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = vector.UP_TO_32_BITS


class VMull(vector.VectorOperation, name="pto.vmull"):
    """The whole 64-bit product of 32-bit lanes, in two registers.

    low has the lower, high the upper 32 bits; signed for i32 and si32, unsigned for ui32. Inactive lanes give 0 in
    both.

        %low, %high = pto.vmull %a, %b, %mask
            : !pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>, !pto.vreg<64xi32>
    """

    form = "$lhs:V, $rhs:V, $mask:M -> $low:V, $high:V"
    accepted = vector.integers(32)


# --- sorting ----------------------------------------------------------------------------------------------------------


class Sorting(PTOOperation):
    """An instruction on records of 8 bytes in UB: a score (f32, or f16 and two bytes of zero) and a 32-bit index."""

    placement = "outside"
    cores = (CoreKind.AIV,)


def _points_to(op: PTOOperation, role: str, names: frozenset[str]) -> Iterator[Problem]:
    """A pointer to elements of one of the named types."""
    name = pointed(op, role)
    if name is not None and name not in names:
        yield Problem(f"{role} points to {name}; {op.name} needs {vector.listing(names)}", at=role)


class VBitsort(Sorting, name="pto.vbitsort"):
    """Sort groups of 32 scores in UB, largest first.

    Each of `repeat` groups reads 32 scores of the type that source points to and 32 indices of 4 bytes, and writes 32
    records of 8 bytes (score, index). Equal scores keep their order, -0 equals +0, +NaN is above and -NaN below
    everything. It runs on pipe V like a vector scope, but is written outside of one. The records may not lie over the
    scores and indices, which it still reads while it writes.

        pto.vbitsort %dest, %source, %indices, %repeat
            : !pto.ptr<ui32, ub>, !pto.ptr<f32, ub>, !pto.ptr<ui32, ub>, index
    """

    form = "$dest:ub, $source:ub, $indices:ub, $repeat:index"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _points_to(self, "source", vector.F16_F32)
        yield from _points_to(self, "indices", vector.integers(32) | {"f32"})


_LISTS = ("source0", "source1", "source2", "source3")


class VMrgsort4(Sorting, name="pto.vmrgsort4"):
    """Merge up to four sorted lists of records in UB, largest score first.

    Records are 8 bytes, as pto.vbitsort writes them. count holds the length of each list in 16 bits, list 0 lowest.
    config holds the repeat count (bits 7:0), which lists take part (bits 11:8), and whether to stop as soon as one is
    used up (bit 12). Of equal scores the lower list comes first. pto.get_vms4_sr reads how many records of each list
    were taken. The result may not lie over the lists.

    More than one repeat needs four lists of one length that lie one after the other, and no early stop.

        pto.vmrgsort4 %dest, %list0, %list1, %list2, %list3, %count, %config
            : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64
    """

    form = "$dest:ub, $source0:ub, $source1:ub, $source2:ub, $source3:ub, $count:i64, $config:i64"
    count = Operand()
    config = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _points_to(self, "dest", vector.F16_F32)
        for role in _LISTS:
            one, other = pointed(self, "dest"), pointed(self, role)
            if None not in (one, other) and one != other:
                yield Problem(f"{role} points to {other}, but dest points to {one}", at=role)
        yield from self._repetition()

    def _repetition(self) -> Iterator[Problem]:
        """Demands of more than one repeat, as far as count and config are constants."""
        config, count = constant_of(self.config), constant_of(self.count)
        if config is None or config & 0xFF <= 1:
            return
        if config >> 8 & 0b1111 != 0b1111:
            yield Problem("more than one repeat needs all four lists (bits 11:8 of config)", at="config")
        if config >> 12 & 1:
            yield Problem("more than one repeat cannot stop early (bit 12 of config)", at="config")
        if count is not None and len({count >> shift & 0xFFFF for shift in (0, 16, 32, 48)}) > 1:
            yield Problem("more than one repeat needs four lists of one length", at="count")
