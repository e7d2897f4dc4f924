"""Reductions across the lanes of a register: whole, per block of 32 bytes, pairwise; and histograms.

Lanes that the mask leaves out take no part, and every lane of a result that is not named is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import IntegerType

from ptosim.language.micro import vector
from ptosim.language.operation import Operand, Problem
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.types import MaskType, VregType, element_of, mask_for

_I8_TO_F32 = vector.integers(8, 16, 32) | vector.F16_F32

# --- the whole register -----------------------------------------------------------------------------------------------


class VCAdd(vector.VectorUnary, name="pto.vcadd"):
    """Sum of all active lanes, in lane 0.

    8- and 16-bit integers are summed in the next wider type of the same sign, which the result has (256xi8 gives
    128xi16); 32-bit integers wrap. Floats are added as a halving tree, x[i] + x[i+n/2], with +0 for inactive lanes;
    f16 is summed in f32 and rounded once. Without an active lane the sum is 0.

        %d = pto.vcadd %a, %mask : !pto.vreg<128xi16>, !pto.mask<b16> -> !pto.vreg<64xi32>
    """

    form = "$input:V, $mask:M -> $result:vreg"
    accepted = _I8_TO_F32

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from vector.gives(self, sum_type)


def sum_type(source: VregType) -> VregType:
    """Integers narrower than 32 bits are summed in twice their width."""
    element = element_of(source)
    if not element.is_integer or element.bits == 32:
        return source
    return VregType.of(IntegerType(2 * element.bits, cast("IntegerType", source.element).signedness.data))


class ExtremumReduction(vector.VectorUnary):
    """Element types outside the published list are compared like the others."""

    documented = _I8_TO_F32


class VCMax(ExtremumReduction, name="pto.vcmax"):
    """The largest active lane, in lane 0, and its number, in lane 1.

    The number is the physical lane, stored as an unsigned integer of the element width, also for floats: read as f32
    it is a tiny subnormal. Of equal lanes the lowest wins; +0 is above -0; the first NaN wins over everything.
    Without an active lane: -inf or the least value, and lane 0.

        %d = pto.vcmax %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """


class VCMin(ExtremumReduction, name="pto.vcmin"):
    """The smallest active lane, in lane 0, and its number, in lane 1.

    The number is the physical lane, stored as an unsigned integer of the element width, also for floats: read as f32
    it is a tiny subnormal. Of equal lanes the lowest wins; -0 is below +0; the first NaN wins over everything.
    Without an active lane: +inf or the largest value, and lane 0.

        %d = pto.vcmin %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """


class ExtremumWithMatches(vector.VectorOperation):
    """`%d, %p = pto.OP %a, %mask : V, M -> V, M`."""

    form = "$input:V, $mask:M -> $result:V, $matches:M"
    accepted = _I8_TO_F32


class VCBMax(ExtremumWithMatches, name="pto.vcbmax"):
    """The largest active lane, in lane 0, and a mask of all active lanes equal to it.

    +0 and -0 count as equal for the mask. Without an active lane the mask is empty.

        %d, %p = pto.vcbmax %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>, !pto.mask<b32>
    """


class VCBMin(ExtremumWithMatches, name="pto.vcbmin"):
    """The smallest active lane, in lane 0, and a mask of all active lanes equal to it.

    +0 and -0 count as equal for the mask. Without an active lane the mask is empty.

        %d, %p = pto.vcbmin %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>, !pto.mask<b32>
    """


# --- blocks and pairs -------------------------------------------------------------------------------------------------


class PerBlock(vector.VectorUnary):
    """One result per block of 32 bytes (8 lanes of 32 bits, 16 of 16, 32 of 8)."""

    accepted = _I8_TO_F32


class VCGAdd(PerBlock, name="pto.vcgadd"):
    """The sum of each block of 32 bytes, in lanes 0 to 7.

    The eight results lie next to each other, not at the start of their blocks. Integers wrap in their own width;
    floats are added as a halving tree within the block, f16 in f32. A block without an active lane gives 0.

        %d = pto.vcgadd %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """


class VCGMax(PerBlock, name="pto.vcgmax"):
    """The largest lane of each block of 32 bytes, in lanes 0 to 7.

    The eight results lie next to each other, not at the start of their blocks; there are no lane numbers. +0 is above
    -0, NaN wins. A block without an active lane gives -inf or the least value.

        %d = pto.vcgmax %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """


class VCGMin(PerBlock, name="pto.vcgmin"):
    """The smallest lane of each block of 32 bytes, in lanes 0 to 7.

    The eight results lie next to each other, not at the start of their blocks; there are no lane numbers. -0 is below
    +0, NaN wins. A block without an active lane gives +inf or the largest value.

        %d = pto.vcgmin %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """


class VCPAdd(vector.VectorUnary, name="pto.vcpadd"):
    """Sums of neighbouring pairs, packed into the lower half.

    d[i] = a[2i] + a[2i+1] for the first half of the lanes, an inactive lane counting as +0; the upper half is zero.
    It is not a prefix sum, whatever some manuals say.

        %d = pto.vcpadd %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    accepted = vector.F16_F32


# --- histograms -------------------------------------------------------------------------------------------------------


class Histogram(vector.VectorOperation):
    """`%d = pto.OP %acc, %a, %mask, %bin : vreg<128xui16>, vreg<256xui8>, mask<b8>, i32 -> vreg<128xui16>`."""

    form = "$acc:vreg, $input:vreg, $mask:mask, $bin:i32 -> $result:vreg"
    input = Operand()
    bin = Operand()

    def mask_type(self) -> MaskType | None:
        """The mask governs the bytes that are counted."""
        return mask_for(self.input.type) if isinstance(self.input.type, VregType) else None

    def rules(self, target: str) -> Iterator[Problem]:
        yield from vector.same_types(self, "acc", "result")
        yield from vector.element_among(self, "acc", frozenset({"ui16"}))
        yield from vector.element_among(self, "input", frozenset({"ui8"}))
        yield from vector.mask_matches(self, "mask", self.input.type)
        if constant_of(self.bin) is None:
            yield Problem("bin must be a constant, 0 or 1", at="bin")


class DHistV2(Histogram, name="pto.dhistv2"):
    """Count how often each byte value occurs, for half of the values.

    d[j] = acc[j] + the number of active lanes equal to 128 * bin + j, modulo 2^16.

        %d = pto.dhistv2 %acc, %a, %mask, %bin
            : !pto.vreg<128xui16>, !pto.vreg<256xui8>, !pto.mask<b8>, i32 -> !pto.vreg<128xui16>
    """


class CHistV2(Histogram, name="pto.chistv2"):
    """Count how many bytes are at most each value, for half of the values.

    d[j] = acc[j] + the number of active lanes that are at most 128 * bin + j, modulo 2^16.

        %d = pto.chistv2 %acc, %a, %mask, %bin
            : !pto.vreg<128xui16>, !pto.vreg<256xui8>, !pto.mask<b8>, i32 -> !pto.vreg<128xui16>
    """
