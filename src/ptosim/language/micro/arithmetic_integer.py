"""Element-wise arithmetic that only integers have: shifts and the carry chain of 32-bit lanes."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.language.micro.vector import INTEGERS, VectorBinary, VectorOperation, VectorScalar, element_among, integers
from ptosim.language.operation import Problem
from ptosim.language.types import VregType, element_of

# --- shifts -----------------------------------------------------------------------------------------------------------


class VectorShift(VectorBinary):
    """The count is a register of integers of the same width, of any sign."""

    form = "$lhs:V, $rhs:vreg, $mask:M -> $result:V"
    accepted = INTEGERS
    documented = integers(8, 16, 32)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from element_among(self, "rhs", INTEGERS)
        data, count = self.lhs.type, self.rhs.type
        if (
            isinstance(data, VregType)
            and isinstance(count, VregType)
            and element_of(count).is_integer
            and element_of(count).bits != element_of(data).bits
        ):
            yield Problem(f"rhs counts in {count.element}, but the lanes of lhs are {data.element}", at="rhs")


class VShl(VectorShift, name="pto.vshl"):
    """Shift left by a count per lane.

    (a << c) modulo 2^W. The count is read as unsigned; from W on the result is 0.

        %d = pto.vshl %a, %b, %mask : !pto.vreg<128xui16>, !pto.vreg<128xui16>, !pto.mask<b16> -> !pto.vreg<128xui16>
    """


class VShr(VectorShift, name="pto.vshr"):
    """Shift right by a count per lane.

    Arithmetic for iN and siN, logical for uiN. The count is read as unsigned; from W on the sign (or 0) fills the lane.

        %d = pto.vshr %a, %b, %mask : !pto.vreg<64xsi32>, !pto.vreg<64xsi32>, !pto.mask<b32> -> !pto.vreg<64xsi32>
    """


class ScalarShift(VectorScalar):
    """The count is an i16, whatever the width of the lanes."""

    form = "$input:V, $scalar:i16, $mask:M -> $result:V"
    accepted = INTEGERS
    documented = integers(8, 16, 32)


class VShls(ScalarShift, name="pto.vshls"):
    """Shift left by a scalar count.

    As pto.vshl with one count for all lanes; the count is an i16 whatever the element width.

        %d = pto.vshls %a, %s, %mask : !pto.vreg<64xi32>, i16, !pto.mask<b32> -> !pto.vreg<64xi32>
    """


class VShrs(ScalarShift, name="pto.vshrs"):
    """Shift right by a scalar count.

    As pto.vshr with one count for all lanes; the count is an i16 whatever the element width.

        %d = pto.vshrs %a, %s, %mask : !pto.vreg<64xui32>, i16, !pto.mask<b32> -> !pto.vreg<64xui32>
    """


# --- carry chain ------------------------------------------------------------------------------------------------------


class CarryChain(VectorOperation):
    """Lanes of 32 bits, taken as unsigned; every mask has their granularity."""

    accepted = integers(32)


class WithCarry(CarryChain):
    """`%d, %c = pto.OP %a, %b, %mask : V, V, M -> V, M`."""

    form = "$lhs:V, $rhs:V, $mask:M -> $result:V, $carry:M"


class WithCarryIn(CarryChain):
    """`%d, %c = pto.OP %a, %b, %carry_in, %mask : V, V, M, M -> V, M`."""

    form = "$lhs:V, $rhs:V, $carry_in:M, $mask:M -> $result:V, $carry:M"


class VAddC(WithCarry, name="pto.vaddc"):
    """Sum of 32-bit lanes, with the carry as a mask.

    d = (a + b) mod 2^32 and c = 1 where the unsigned sum does not fit. Inactive lanes give 0 in both.

        %d, %c = pto.vaddc %a, %b, %mask
            : !pto.vreg<64xui32>, !pto.vreg<64xui32>, !pto.mask<b32> -> !pto.vreg<64xui32>, !pto.mask<b32>
    """


class VSubC(WithCarry, name="pto.vsubc"):
    """Difference of 32-bit lanes, with the carry as a mask.

    d = (a - b) mod 2^32 and c = 1 where there is no borrow, that is a >= b unsigned. Inactive lanes give 0 in both.

        %d, %c = pto.vsubc %a, %b, %mask
            : !pto.vreg<64xui32>, !pto.vreg<64xui32>, !pto.mask<b32> -> !pto.vreg<64xui32>, !pto.mask<b32>
    """


class VAddCs(WithCarryIn, name="pto.vaddcs"):
    """Sum of 32-bit lanes and a carry, with the new carry as a mask.

    d = (a + b + carry_in) mod 2^32 and c = 1 where the unsigned sum does not fit. Inactive lanes give 0 in both.

        %d, %c = pto.vaddcs %a, %b, %cin, %mask
            : !pto.vreg<64xui32>, !pto.vreg<64xui32>, !pto.mask<b32>, !pto.mask<b32>
            -> !pto.vreg<64xui32>, !pto.mask<b32>
    """


class VSubCs(WithCarryIn, name="pto.vsubcs"):
    """Difference of 32-bit lanes less a borrow, with the new carry as a mask.

    d = (a - b - (1 - carry_in)) mod 2^32 and c = 1 where there is no borrow. A carry-in of 1 means that nothing was
    borrowed, so an all-true carry_in makes this pto.vsubc. Inactive lanes give 0 in both.

        %d, %c = pto.vsubcs %a, %b, %cin, %mask
            : !pto.vreg<64xui32>, !pto.vreg<64xui32>, !pto.mask<b32>, !pto.mask<b32>
            -> !pto.vreg<64xui32>, !pto.mask<b32>
    """
