"""Element-wise vector arithmetic: broadcast, unary, binary, vector-scalar. Shifts and carries: arithmetic_integer.py.

Everything here computes lane by lane. A lane that the mask leaves out becomes zero, unless an instruction says
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.language.micro import vector
from ptosim.language.operation import Operand, OptionalProperty, Problem
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import VregType

_I16_I32_FLOATS = vector.integers(16, 32) | vector.FLOATS
_I8_TO_F32 = vector.integers(8, 16, 32) | vector.F16_F32
_BITWISE = vector.COMPUTED | {"f8E4M3FN", "f8E5M2", "f8E8M0", "hif8", "f4E1M2x2", "f4E2M1x2"}

# --- broadcast --------------------------------------------------------------------------------------------------------


class VBr(vector.VectorOperation, name="pto.vbr"):
    """Broadcast a scalar to every lane.

    d[i] = x for all lanes; there is no mask. The scalar has the element type; for siN and uiN it may also be iN,
    whose bits are taken as they are: -55 : i8 into a register of ui8 reads 201.

        %d = pto.vbr %x : f32 -> !pto.vreg<64xf32>
    """

    form = "$input:T -> $result:V"
    accepted = vector.UP_TO_32_BITS


class VDup(vector.VectorOperation, name="pto.vdup"):
    """Fill the active lanes with a scalar, or with the first or last lane of a register.

    d[i] = x, or x[0], or x[N-1] with position = "HIGHEST" (the physical last lane, whatever the mask); inactive lanes
    become zero. Only a register has a position; without one it is LOWEST.

        %d = pto.vdup %a, %mask {position = "HIGHEST"} : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    form = "$input, $mask:M -> $result:V"
    words = {"position": Vocabulary(("LOWEST", "HIGHEST"))}
    accepted = vector.UP_TO_32_BITS
    input = Operand()
    position = OptionalProperty()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if isinstance(self.input.type, VregType):
            yield from vector.same_types(self, "result", "input")
            return
        yield from vector.compatible_scalar(self, "input", "result")
        if self.position is not None:
            yield Problem("position chooses a lane of a register, but the input is a scalar", at="position")


# --- unary ------------------------------------------------------------------------------------------------------------


class VAbs(vector.VectorUnary, name="pto.vabs"):
    """Absolute value.

    Integers wrap, so the least value stays itself; unsigned lanes are unchanged. Floats lose their sign bit: -0
    becomes +0, -inf becomes inf, a NaN keeps its payload.

        %d = pto.vabs %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = _I8_TO_F32


class VNeg(vector.VectorUnary, name="pto.vneg"):
    """Negation.

    Integers modulo 2^W, so the least value stays itself. Floats have their sign bit flipped, NaN included.

        %d = pto.vneg %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = _I8_TO_F32
    mask_severity = "warning"


class VExp(vector.VectorUnary, name="pto.vexp"):
    """The exponential e^x.

    exp(-inf) = +0, exp(+inf) = +inf, exp(0) = 1, NaN stays NaN; f32 overflows to +inf above 88.72.

        %d = pto.vexp %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    accepted = vector.FLOATS
    documented = vector.F16_F32


class VLn(vector.VectorUnary, name="pto.vln"):
    """The natural logarithm.

    ln(0) = -inf for either zero, ln(x < 0) = NaN, ln(+inf) = +inf, NaN stays NaN.

        %d = pto.vln %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    accepted = vector.FLOATS
    documented = vector.F16_F32


class VSqrt(vector.VectorUnary, name="pto.vsqrt"):
    """The square root, correctly rounded.

    sqrt(-0) = -0, sqrt(x < 0) = NaN, sqrt(+inf) = +inf, NaN stays NaN.

        %d = pto.vsqrt %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    accepted = vector.FLOATS
    documented = vector.F16_F32


class VRelu(vector.VectorUnary, name="pto.vrelu"):
    """The larger of x and zero.

    -0 becomes +0 and NaN stays NaN. Only i32, si32, f16 and f32.

        %d = pto.vrelu %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    accepted = frozenset({"i32", "si32", "f16", "f32"})


class VNot(vector.VectorUnary, name="pto.vnot"):
    """Bitwise complement.

    Every bit of an active lane is flipped.

        %d = pto.vnot %a, %mask : !pto.vreg<128xi16>, !pto.mask<b16> -> !pto.vreg<128xi16>
    """

    documented = vector.INTEGERS


# --- binary -----------------------------------------------------------------------------------------------------------


class VAdd(vector.VectorBinary, name="pto.vadd"):
    """Sum.

    Integers wrap, floats round to nearest even; inf + -inf is NaN, -0 + +0 is +0.

        %d = pto.vadd %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = vector.UP_TO_32_BITS


class VSub(vector.VectorBinary, name="pto.vsub"):
    """Difference a - b.

    Integers wrap, floats round to nearest even; inf - inf is NaN.

        %d = pto.vsub %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = vector.UP_TO_32_BITS


class VMul(vector.VectorBinary, name="pto.vmul"):
    """Product.

    Integers keep the low bits (pto.vmull gives all 64 of a 32-bit product), floats round to nearest even; 0 * inf is
    NaN.

        %d = pto.vmul %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = _I16_I32_FLOATS


class VDiv(vector.VectorBinary, name="pto.vdiv"):
    """Quotient a / b.

    Floats are correctly rounded; x/0 is +-inf, 0/0 and inf/inf are NaN. Integers (signed 16 and 32 bits only) round
    toward zero, the least value divided by -1 wraps to itself, and a division by zero gives 0.

        %d = pto.vdiv %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    accepted = vector.FLOATS | {"i16", "si16", "i32", "si32"}
    documented = vector.F16_F32 | {"i16", "si16", "i32", "si32"}


class VMax(vector.VectorBinary, name="pto.vmax"):
    """The larger of two.

    Integers compare by their sign (iN is signed). For floats a NaN on either side gives NaN, and -0 is below +0.

        %d = pto.vmax %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = vector.UP_TO_32_BITS


class VMin(vector.VectorBinary, name="pto.vmin"):
    """The smaller of two.

    Integers compare by their sign (iN is signed). For floats a NaN on either side gives NaN, and -0 is below +0.

        %d = pto.vmin %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = vector.UP_TO_32_BITS


class Bitwise(vector.VectorBinary):
    """On the bits of the lanes, whatever they mean: floats and 8-bit low-precision payloads are fine."""

    accepted = documented = _BITWISE


class VAnd(Bitwise, name="pto.vand"):
    """Bitwise and.

    Works on the bits of any element type, floats included.

        %d = pto.vand %a, %b, %mask : !pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>
    """


class VOr(Bitwise, name="pto.vor"):
    """Bitwise or.

    Works on the bits of any element type. Two narrowing conversions, one EVEN and one ODD, are merged by it.

        %d = pto.vor %a, %b, %mask : !pto.vreg<128xf16>, !pto.vreg<128xf16>, !pto.mask<b16> -> !pto.vreg<128xf16>
    """


class VXor(Bitwise, name="pto.vxor"):
    """Bitwise exclusive or.

    Works on the bits of any element type, floats included.

        %d = pto.vxor %a, %b, %mask : !pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>
    """


class VMAdd(vector.MultiplyAdd, name="pto.vmadd"):
    """Fused multiply-add acc * a + b, rounded once.

    The first operand is a factor, not the addend (pto.vmula adds into its first operand). Inactive lanes keep acc.

        %d = pto.vmadd %acc, %a, %b, %mask
            : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    accepted = vector.FLOATS


# --- vector and scalar ------------------------------------------------------------------------------------------------


class VAdds(vector.VectorScalar, name="pto.vadds"):
    """Sum with a scalar.

    a + s as in pto.vadd; the scalar is of the element type (an i16 serves si16 and ui16).

        %d = pto.vadds %a, %s, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = vector.UP_TO_32_BITS


class VMuls(vector.VectorScalar, name="pto.vmuls"):
    """Product with a scalar.

    a * s as in pto.vmul; the scalar is of the element type (an i16 serves si16 and ui16).

        %d = pto.vmuls %a, %s, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = _I16_I32_FLOATS


class VMaxs(vector.VectorScalar, name="pto.vmaxs"):
    """The larger of a lane and a scalar.

    As pto.vmax, NaN included: a NaN on either side gives NaN.

        %d = pto.vmaxs %a, %s, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = vector.UP_TO_32_BITS


class VMins(vector.VectorScalar, name="pto.vmins"):
    """The smaller of a lane and a scalar.

    As pto.vmin, NaN included: a NaN on either side gives NaN.

        %d = pto.vmins %a, %s, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    documented = vector.UP_TO_32_BITS
