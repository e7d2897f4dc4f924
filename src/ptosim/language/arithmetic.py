"""Element-wise vector arithmetic: broadcast, unary, binary, vector-scalar, shifts and the carry chain.

Everything here computes lane by lane. A lane that the mask leaves out becomes zero, unless an instruction says
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import i16

from ptosim.language.operands import are_type
from ptosim.language.operation import Operand, OptionalProperty, Problem, Result
from ptosim.language.syntax import Vocabulary
from ptosim.language.types import VregType, element_of
from ptosim.language.vector import (
    COMPUTED,
    F16_F32,
    FLOATS,
    INTEGERS,
    UP_TO_32_BITS,
    Binary,
    MultiplyAdd,
    Unary,
    VectorOperation,
    VectorScalar,
    compatible_scalar,
    element_among,
    integers,
    is_register,
    mask_matches,
    same_types,
)

_I16_I32_FLOATS = integers(16, 32) | FLOATS
_I8_TO_F32 = integers(8, 16, 32) | F16_F32
_BITWISE = COMPUTED | {"f8E4M3FN", "f8E5M2", "f8E8M0", "hif8", "f4E1M2x2", "f4E2M1x2"}

# --- broadcast ------------------------------------------------------------------------------------


class VBr(VectorOperation):
    """Broadcast a scalar to every lane.

    d[i] = x for all lanes; there is no mask. The scalar has the element type; for siN and uiN it may also be iN,
    whose bits are taken as they are: -55 : i8 into a register of ui8 reads 201.

        %d = pto.vbr %x : f32 -> !pto.vreg<64xf32>
    """

    name = "pto.vbr"
    form = "$input"
    alike = ("result",)
    accepted = UP_TO_32_BITS
    input = Operand()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from compatible_scalar(self, "input", "result")


class VDup(VectorOperation):
    """Fill the active lanes with a scalar, or with the first or last lane of a register.

    d[i] = x, or x[0], or x[N-1] with position = "HIGHEST" (the physical last lane, whatever the mask); inactive lanes
    become zero. Only a register has a position; without one it is LOWEST.

        %d = pto.vdup %a, %mask {position = "HIGHEST"} : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vdup"
    form = "$input, $mask"
    words = {"position": Vocabulary(("LOWEST", "HIGHEST"))}
    alike = ("result",)
    accepted = UP_TO_32_BITS
    input = Operand()
    mask = Operand()
    position = OptionalProperty()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if isinstance(self.input.type, VregType):
            yield from same_types(self, "result", "input")
            return
        yield from compatible_scalar(self, "input", "result")
        if self.position is not None:
            yield Problem("position chooses a lane of a register, but the input is a scalar", at="position")


# --- unary ----------------------------------------------------------------------------------------


class VAbs(Unary):
    """Absolute value.

    Integers wrap, so the least value stays itself; unsigned lanes are unchanged. Floats lose their sign bit: -0
    becomes +0, -inf becomes inf, a NaN keeps its payload.

        %d = pto.vabs %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vabs"
    documented = _I8_TO_F32


class VNeg(Unary):
    """Negation.

    Integers modulo 2^W, so the least value stays itself. Floats have their sign bit flipped, NaN included.

        %d = pto.vneg %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vneg"
    documented = _I8_TO_F32
    mask_severity = "warning"


class VExp(Unary):
    """The exponential e^x.

    exp(-inf) = +0, exp(+inf) = +inf, exp(0) = 1, NaN stays NaN; f32 overflows to +inf above 88.72.

        %d = pto.vexp %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vexp"
    accepted = FLOATS
    documented = F16_F32


class VLn(Unary):
    """The natural logarithm.

    ln(0) = -inf for either zero, ln(x < 0) = NaN, ln(+inf) = +inf, NaN stays NaN.

        %d = pto.vln %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vln"
    accepted = FLOATS
    documented = F16_F32


class VSqrt(Unary):
    """The square root, correctly rounded.

    sqrt(-0) = -0, sqrt(x < 0) = NaN, sqrt(+inf) = +inf, NaN stays NaN.

        %d = pto.vsqrt %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vsqrt"
    accepted = FLOATS
    documented = F16_F32


class VRelu(Unary):
    """The larger of x and zero.

    -0 becomes +0 and NaN stays NaN. Only i32, si32, f16 and f32.

        %d = pto.vrelu %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vrelu"
    accepted = frozenset({"i32", "si32", "f16", "f32"})


class VNot(Unary):
    """Bitwise complement.

    Every bit of an active lane is flipped.

        %d = pto.vnot %a, %mask : !pto.vreg<128xi16>, !pto.mask<b16> -> !pto.vreg<128xi16>
    """

    name = "pto.vnot"
    documented = INTEGERS


# --- binary ---------------------------------------------------------------------------------------


class VAdd(Binary):
    """Sum.

    Integers wrap, floats round to nearest even; inf + -inf is NaN, -0 + +0 is +0.

        %d = pto.vadd %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vadd"
    documented = UP_TO_32_BITS


class VSub(Binary):
    """Difference a - b.

    Integers wrap, floats round to nearest even; inf - inf is NaN.

        %d = pto.vsub %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vsub"
    documented = UP_TO_32_BITS


class VMul(Binary):
    """Product.

    Integers keep the low bits (pto.vmull gives all 64 of a 32-bit product), floats round to nearest even; 0 * inf is
    NaN.

        %d = pto.vmul %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vmul"
    documented = _I16_I32_FLOATS


class VDiv(Binary):
    """Quotient a / b.

    Floats are correctly rounded; x/0 is +-inf, 0/0 and inf/inf are NaN. Integers (signed 16 and 32 bits only) round
    toward zero, the least value divided by -1 wraps to itself, and a division by zero gives 0.

        %d = pto.vdiv %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vdiv"
    accepted = FLOATS | {"i16", "si16", "i32", "si32"}
    documented = F16_F32 | {"i16", "si16", "i32", "si32"}


class VMax(Binary):
    """The larger of two.

    Integers compare by their sign (iN is signed). For floats a NaN on either side gives NaN, and -0 is below +0.

        %d = pto.vmax %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vmax"
    documented = UP_TO_32_BITS


class VMin(Binary):
    """The smaller of two.

    Integers compare by their sign (iN is signed). For floats a NaN on either side gives NaN, and -0 is below +0.

        %d = pto.vmin %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vmin"
    documented = UP_TO_32_BITS


class Bitwise(Binary):
    """On the bits of the lanes, whatever they mean: floats and 8-bit low-precision payloads are fine."""

    accepted = _BITWISE
    documented = _BITWISE


class VAnd(Bitwise):
    """Bitwise and.

    Works on the bits of any element type, floats included.

        %d = pto.vand %a, %b, %mask : !pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>
    """

    name = "pto.vand"


class VOr(Bitwise):
    """Bitwise or.

    Works on the bits of any element type. Two narrowing conversions, one EVEN and one ODD, are merged by it.

        %d = pto.vor %a, %b, %mask : !pto.vreg<128xf16>, !pto.vreg<128xf16>, !pto.mask<b16> -> !pto.vreg<128xf16>
    """

    name = "pto.vor"


class VXor(Bitwise):
    """Bitwise exclusive or.

    Works on the bits of any element type, floats included.

        %d = pto.vxor %a, %b, %mask : !pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>
    """

    name = "pto.vxor"


class VMAdd(MultiplyAdd):
    """Fused multiply-add acc * a + b, rounded once.

    The first operand is a factor, not the addend (pto.vmula adds into its first operand). Inactive lanes keep acc.

        %d = pto.vmadd %acc, %a, %b, %mask
            : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vmadd"
    accepted = FLOATS


# --- vector and scalar ----------------------------------------------------------------------------


class VAdds(VectorScalar):
    """Sum with a scalar.

    a + s as in pto.vadd; the scalar is of the element type (an i16 serves si16 and ui16).

        %d = pto.vadds %a, %s, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vadds"
    documented = UP_TO_32_BITS


class VMuls(VectorScalar):
    """Product with a scalar.

    a * s as in pto.vmul; the scalar is of the element type (an i16 serves si16 and ui16).

        %d = pto.vmuls %a, %s, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vmuls"
    documented = _I16_I32_FLOATS


class VMaxs(VectorScalar):
    """The larger of a lane and a scalar.

    As pto.vmax, NaN included: a NaN on either side gives NaN.

        %d = pto.vmaxs %a, %s, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vmaxs"
    documented = UP_TO_32_BITS


class VMins(VectorScalar):
    """The smaller of a lane and a scalar.

    As pto.vmin, NaN included: a NaN on either side gives NaN.

        %d = pto.vmins %a, %s, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vmins"
    documented = UP_TO_32_BITS


# --- shifts ---------------------------------------------------------------------------------------


class VectorShift(Binary):
    """The count is a register of integers of the same width, of any sign."""

    alike = ("lhs", "result")
    accepted = INTEGERS
    documented = integers(8, 16, 32)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from is_register(self, "rhs")
        yield from element_among(self, "rhs", INTEGERS)
        data, count = self.lhs.type, self.rhs.type
        if (
            isinstance(data, VregType)
            and isinstance(count, VregType)
            and element_of(count).is_integer
            and element_of(count).bits != element_of(data).bits
        ):
            yield Problem(f"rhs counts in {count.element}, but the lanes of lhs are {data.element}", at="rhs")


class VShl(VectorShift):
    """Shift left by a count per lane.

    (a << c) modulo 2^W. The count is read as unsigned; from W on the result is 0.

        %d = pto.vshl %a, %b, %mask : !pto.vreg<128xui16>, !pto.vreg<128xui16>, !pto.mask<b16> -> !pto.vreg<128xui16>
    """

    name = "pto.vshl"


class VShr(VectorShift):
    """Shift right by a count per lane.

    Arithmetic for iN and siN, logical for uiN. The count is read as unsigned; from W on the sign (or 0) fills the lane.

        %d = pto.vshr %a, %b, %mask : !pto.vreg<64xsi32>, !pto.vreg<64xsi32>, !pto.mask<b32> -> !pto.vreg<64xsi32>
    """

    name = "pto.vshr"


class ScalarShift(VectorScalar):
    """The count is an i16, whatever the width of the lanes."""

    accepted = INTEGERS
    documented = integers(8, 16, 32)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from VectorOperation.rules(self, target)
        yield from are_type(self, i16, "scalar")


class VShls(ScalarShift):
    """Shift left by a scalar count.

    As pto.vshl with one count for all lanes; the count is an i16 whatever the element width.

        %d = pto.vshls %a, %s, %mask : !pto.vreg<64xi32>, i16, !pto.mask<b32> -> !pto.vreg<64xi32>
    """

    name = "pto.vshls"


class VShrs(ScalarShift):
    """Shift right by a scalar count.

    As pto.vshr with one count for all lanes; the count is an i16 whatever the element width.

        %d = pto.vshrs %a, %s, %mask : !pto.vreg<64xui32>, i16, !pto.mask<b32> -> !pto.vreg<64xui32>
    """

    name = "pto.vshrs"


# --- carry chain ----------------------------------------------------------------------------------


class WithCarry(VectorOperation):
    """`%d, %c = pto.OP %a, %b, %mask : V, V, M -> V, M`: lanes of 32 bits, taken as unsigned."""

    form = "$lhs, $rhs, $mask"
    alike = ("lhs", "rhs", "result")
    accepted = integers(32)
    lhs = Operand()
    rhs = Operand()
    mask = Operand()
    result = Result()
    carry = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from mask_matches(self, "carry", self.lhs.type)


class WithCarryIn(VectorOperation):
    """`%d, %c = pto.OP %a, %b, %carry_in, %mask : V, V, M, M -> V, M`."""

    form = "$lhs, $rhs, $carry_in, $mask"
    alike = ("lhs", "rhs", "result")
    accepted = integers(32)
    lhs = Operand()
    rhs = Operand()
    carry_in = Operand()
    mask = Operand()
    result = Result()
    carry = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from mask_matches(self, "carry_in", self.lhs.type)
        yield from mask_matches(self, "carry", self.lhs.type)


class VAddC(WithCarry):
    """Sum of 32-bit lanes, with the carry as a mask.

    d = (a + b) mod 2^32 and c = 1 where the unsigned sum does not fit. Inactive lanes give 0 in both.

        %d, %c = pto.vaddc %a, %b, %mask
            : !pto.vreg<64xui32>, !pto.vreg<64xui32>, !pto.mask<b32> -> !pto.vreg<64xui32>, !pto.mask<b32>
    """

    name = "pto.vaddc"


class VSubC(WithCarry):
    """Difference of 32-bit lanes, with the carry as a mask.

    d = (a - b) mod 2^32 and c = 1 where there is no borrow, that is a >= b unsigned. Inactive lanes give 0 in both.

        %d, %c = pto.vsubc %a, %b, %mask
            : !pto.vreg<64xui32>, !pto.vreg<64xui32>, !pto.mask<b32> -> !pto.vreg<64xui32>, !pto.mask<b32>
    """

    name = "pto.vsubc"


class VAddCs(WithCarryIn):
    """Sum of 32-bit lanes and a carry, with the new carry as a mask.

    d = (a + b + carry_in) mod 2^32 and c = 1 where the unsigned sum does not fit. Inactive lanes give 0 in both.

        %d, %c = pto.vaddcs %a, %b, %cin, %mask
            : !pto.vreg<64xui32>, !pto.vreg<64xui32>, !pto.mask<b32>, !pto.mask<b32>
            -> !pto.vreg<64xui32>, !pto.mask<b32>
    """

    name = "pto.vaddcs"


class VSubCs(WithCarryIn):
    """Difference of 32-bit lanes less a borrow, with the new carry as a mask.

    d = (a - b - (1 - carry_in)) mod 2^32 and c = 1 where there is no borrow. A carry-in of 1 means that nothing was
    borrowed, so an all-true carry_in makes this pto.vsubc. Inactive lanes give 0 in both.

        %d, %c = pto.vsubcs %a, %b, %cin, %mask
            : !pto.vreg<64xui32>, !pto.vreg<64xui32>, !pto.mask<b32>, !pto.mask<b32>
            -> !pto.vreg<64xui32>, !pto.mask<b32>
    """

    name = "pto.vsubcs"
