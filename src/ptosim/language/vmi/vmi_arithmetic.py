"""Lane by lane on logical vectors: arithmetic, bits, comparisons, selection, fused forms. Each row is an operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptosim.language.logical_types import LogicalMaskType
from ptosim.language.operation import OptionalOperand, Problem, Property, Result, made
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.vmi.inactive_lanes import inactive_lanes_used
from ptosim.language.vmi.vmi_operation import (
    F16_F32,
    FLOATS,
    INTEGERS,
    NUMBERS,
    PMODES,
    PREFIX,
    SIGNED,
    WITHOUT_BF16,
    VmiOperation,
    alike,
    elements_among,
    exactly,
    governed,
    integers,
)

_MUL = integers(16, 32) | FLOATS
_MULS = integers(16, 32) | F16_F32
_WORDS = integers(32)

_MASKED = "Inactive lanes become zero; without a mask all lanes are active."

# --- families ---------------------------------------------------------------------------------------------------------


class Lanewise(VmiOperation):
    """Vectors of one type, of which the first decides about elements, and perhaps a mask of their lanes."""

    by_lanes = True
    accepted: ClassVar[frozenset[str]] = NUMBERS
    data: ClassVar[tuple[str, ...]] = ("lhs", "rhs", "result")
    mask = OptionalOperand()

    def shapes(self) -> Iterator[Problem]:
        first, *others = self.data
        yield from alike(self, first, *others)
        yield from elements_among(self, first, self.accepted)
        yield from governed(self, "mask", first)

    def remarks(self) -> Iterator[Problem]:
        return inactive_lanes_used(self)


class VmiBinary(Lanewise):
    form = "$lhs:logical, $rhs:logical{, $mask:truths} -> $result:logical"


class VmiUnary(Lanewise):
    form = "$input:logical{, $mask:truths} -> $result:logical"
    data = ("input", "result")


class _Logic(Lanewise):
    """Bits of vectors, or masks; those have no mask of their own."""

    accepted = INTEGERS

    def shapes(self) -> Iterator[Problem]:
        first, *others = self.data
        if not isinstance(self.type_of(first), LogicalMaskType):
            yield from super().shapes()
            return
        for role in others:
            type_, one = self.type_of(role), self.type_of(first)
            if type_ != one:
                yield Problem(f"{role} of {self.name} has type {type_}, but {first} has type {one}", at=role)
        if self.segment("mask"):
            yield Problem(f"{self.name} on masks has no mask of its own", at="mask")
        if self.pmode is not None:
            yield Problem(f"{self.name} on masks has no pmode", at="pmode")


class VmiLogic(_Logic):
    form = "$lhs:logical|truths, $rhs:logical|truths{, $mask:truths} -> $result:logical|truths"


class VmiNot(_Logic, name="pto.vmi.vnot"):
    """Bitwise complement of a logical vector, or of a mask.

    Inactive lanes become zero; without a mask all lanes are active. A mask has no mask of its own.

        %r = pto.vmi.vnot %a, %mask : !pto.vmi.vreg<100xi32>, !pto.vmi.mask<100xpred> -> !pto.vmi.vreg<100xi32>
    """

    chooses = True
    form = "$input:logical|truths{, $mask:truths} -> $result:logical|truths"
    data = ("input", "result")


class VmiScalar(VmiOperation):
    """A vector and a scalar of its elements, under a mask."""

    by_lanes = True
    form = "$input:logical, $scalar, $mask:truths -> $result:logical"
    accepted: ClassVar[frozenset[str]] = NUMBERS

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "input", "result")
        yield from elements_among(self, "input", self.accepted)
        yield from self.scalar_rules()
        yield from governed(self, "mask", "input")

    def scalar_rules(self) -> Iterator[Problem]:
        yield from exactly(self, "scalar", "input")


class VmiOneSlope(VmiScalar):
    """A vector and one slope for all lanes."""

    def remarks(self) -> Iterator[Problem]:
        return inactive_lanes_used(self)


class VmiShiftScalar(VmiScalar):
    """A vector and one count for all lanes."""

    form = "$input:logical, $scalar:i16, $mask:truths -> $result:logical"
    accepted = INTEGERS

    def scalar_rules(self) -> Iterator[Problem]:
        return iter(())


class VmiSlopes(Lanewise):
    """A vector and one slope for each lane, under a mask."""

    form = "$input:logical, $alpha:logical, $mask:truths -> $result:logical"
    data = ("input", "alpha", "result")
    accepted = F16_F32


_V = "!pto.vmi.vreg<100xf32>"
_I = "!pto.vmi.vreg<100xi32>"
_M = "!pto.vmi.mask<100xpred>"


def _page(name: str, text: str, written: str, note: str = _MASKED) -> str:
    return f"{text}\n\n{note}\n\n    %r = pto.vmi.{name} {written}\n"


def _binary(name: str, accepted: frozenset[str], text: str, type_: str = _V) -> type[VmiBinary]:
    page = _page(name, text, f"%a, %b, %mask : {type_}, {type_}, {_M} -> {type_}")
    return made(__name__, VmiBinary, PREFIX + name, __doc__=page, accepted=accepted)


def _unary(name: str, accepted: frozenset[str], text: str) -> type[VmiUnary]:
    page = _page(name, text, f"%a, %mask : {_V}, {_M} -> {_V}")
    return made(__name__, VmiUnary, PREFIX + name, __doc__=page, accepted=accepted)


def _logic(name: str, text: str) -> type[VmiLogic]:
    page = _page(name, text, f"%a, %b, %mask : {_I}, {_I}, {_M} -> {_I}", _MASKED + " Masks have no mask of their own.")
    return made(__name__, VmiLogic, PREFIX + name, __doc__=page)


def _scalar(name: str, accepted: frozenset[str], text: str, base: type[VmiScalar] = VmiScalar) -> type[VmiScalar]:
    page = _page(name, text, f"%a, %s, %mask : {_V}, f32, {_M} -> {_V}", "Inactive lanes become zero.")
    return made(__name__, base, PREFIX + name, __doc__=page, accepted=accepted)


def _shift(name: str, text: str) -> type[VmiShiftScalar]:
    page = _page(name, text, f"%a, %count, %mask : {_I}, i16, {_M} -> {_I}", "Inactive lanes become zero.")
    return made(__name__, VmiShiftScalar, PREFIX + name, __doc__=page)


_RIGHT = "Arithmetic for signed elements, logical for unsigned and signless ones."

OPERATIONS = (
    _binary("vadd", NUMBERS, "Sum of logical vectors."),
    _binary("vsub", NUMBERS, "Difference of logical vectors."),
    _binary("vmul", _MUL, "Product of logical vectors; integers keep the low bits."),
    _binary("vdiv", F16_F32, "Quotient of logical vectors, correctly rounded."),
    _binary("vmin", NUMBERS, "The smaller lane of two; signless integers are unsigned."),
    _binary("vmax", NUMBERS, "The larger lane of two; signless integers are unsigned."),
    _binary("vshl", INTEGERS, "Shift each lane left by a count of its own.", _I),
    _binary("vshr", INTEGERS, f"Shift each lane right by a count of its own.\n\n{_RIGHT}", _I),
    _logic("vand", "Bitwise and of logical vectors, or of masks."),
    _logic("vor", "Bitwise or of logical vectors, or of masks."),
    _logic("vxor", "Bitwise exclusive or of logical vectors, or of masks."),
    _unary("vabs", SIGNED | FLOATS, "Absolute value of each lane; the least integer stays itself."),
    _unary("vneg", WITHOUT_BF16, "Negation of each lane."),
    _unary("vrelu", frozenset({"si32"}) | F16_F32, "The larger of each lane and zero."),
    _unary("vexp", F16_F32, "The exponential of each lane."),
    _unary("vln", F16_F32, "The natural logarithm of each lane."),
    _unary("vsqrt", F16_F32, "The square root of each lane, correctly rounded."),
    _scalar("vadds", NUMBERS, "Sum of each lane and a scalar."),
    _scalar("vmuls", _MULS, "Product of each lane and a scalar."),
    _scalar("vmaxs", NUMBERS, "The larger of each lane and a scalar."),
    _scalar("vmins", NUMBERS, "The smaller of each lane and a scalar."),
    _scalar("vlrelu", F16_F32, "Each lane, negative ones times a slope.", VmiOneSlope),
    _shift("vshls", "Shift all lanes left by one count."),
    _shift("vshrs", f"Shift all lanes right by one count.\n\n{_RIGHT}"),
)


# --- carries and wide products ----------------------------------------------------------------------------------------


class VmiAddCarry(VmiOperation, name="pto.vmi.vaddc"):
    """Sum of logical vectors of 32-bit integers, and the lanes whose unsigned sum carries.

    Both are zero in inactive lanes.

        %r, %c = pto.vmi.vaddc %a, %b, %mask : !pto.vmi.vreg<100xi32>, !pto.vmi.vreg<100xi32>, !pto.vmi.mask<100xpred>
            -> !pto.vmi.vreg<100xi32>, !pto.vmi.mask<100xpred>
    """

    by_lanes = True
    form = "$lhs:logical, $rhs:logical, $mask:truths -> $result:logical, $carry:truths"
    result = Result()
    carry = Result()

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "lhs", "rhs", "result")
        yield from elements_among(self, "lhs", _WORDS)
        yield from governed(self, "mask", "lhs")
        yield from governed(self, "carry", "lhs")


class VmiAddCarryIn(VmiAddCarry, name="pto.vmi.vaddcs"):
    """Sum of logical vectors of 32-bit integers and a carry, and the lanes that carry.

    Both are zero in inactive lanes.

        %r, %c = pto.vmi.vaddcs %a, %b, %carry, %mask
            : !pto.vmi.vreg<100xi32>, !pto.vmi.vreg<100xi32>, !pto.vmi.mask<100xpred>, !pto.vmi.mask<100xpred>
            -> !pto.vmi.vreg<100xi32>, !pto.vmi.mask<100xpred>
    """

    form = "$lhs:logical, $rhs:logical, $carry_in:truths, $mask:truths -> $result:logical, $carry:truths"

    def shapes(self) -> Iterator[Problem]:
        yield from super().shapes()
        yield from governed(self, "carry_in", "lhs")


class VmiMulWide(VmiOperation, name="pto.vmi.vmull"):
    """Low and high half of the 64-bit products of two logical vectors.

    i32 multiplies signed, ui32 unsigned. Inactive lanes become zero in both. 64, 128 or 256 lanes.

        %low, %high = pto.vmi.vmull %a, %b, %mask
            : !pto.vmi.vreg<64xi32>, !pto.vmi.vreg<64xi32>, !pto.vmi.mask<64xpred>
            -> !pto.vmi.vreg<64xi32>, !pto.vmi.vreg<64xi32>
    """

    by_lanes = True
    form = "$lhs:logical, $rhs:logical, $mask:truths -> $low:logical, $high:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "lhs", "rhs", "low", "high")
        yield from elements_among(self, "lhs", frozenset({"i32", "ui32"}))
        yield from governed(self, "mask", "lhs")
        if self.lanes("lhs") not in (64, 128, 256):
            yield Problem(f"{self.name} takes 64, 128 or 256 lanes, not {self.lanes('lhs')}", at="lhs")


# --- fused forms ------------------------------------------------------------------------------------------------------


class VmiMulAdd(Lanewise, name="pto.vmi.vmula"):
    """A sum and the product of two logical vectors, acc + a * b, rounded once.

    Inactive lanes become zero; without a mask all lanes are active.

        %r = pto.vmi.vmula %acc, %a, %b : !pto.vmi.vreg<100xf32>, !pto.vmi.vreg<100xf32>, !pto.vmi.vreg<100xf32>
            -> !pto.vmi.vreg<100xf32>
    """

    form = "$acc:logical, $lhs:logical, $rhs:logical{, $mask:truths} -> $result:logical"
    data = ("acc", "lhs", "rhs", "result")


class VmiAxpy(VmiOperation, name="pto.vmi.vaxpy"):
    """A logical vector times a scalar plus another vector, x * alpha + acc, rounded once.

    Inactive lanes become zero. The assembler reads the generic form only.

        %r = "pto.vmi.vaxpy"(%x, %acc, %alpha, %mask)
            : (!pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>, f32, !pto.vmi.mask<64xpred>) -> !pto.vmi.vreg<64xf32>
    """

    by_lanes = True
    form = "$input:logical, $acc:logical, $scalar, $mask:truths -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "input", "acc", "result")
        yield from elements_among(self, "input", F16_F32)
        yield from exactly(self, "scalar", "input")
        yield from governed(self, "mask", "input")

    def remarks(self) -> Iterator[Problem]:
        return inactive_lanes_used(self)


class VmiParametricRelu(VmiSlopes, name="pto.vmi.vprelu"):
    """Each lane, negative ones times a slope of their own.

    Inactive lanes become zero.

        %r = pto.vmi.vprelu %x, %alpha, %mask : !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>, !pto.vmi.mask<64xpred>
            -> !pto.vmi.vreg<64xf32>
    """


class VmiExpDiff(VmiOperation, name="pto.vmi.vexpdif"):
    """The exponential of the difference of two logical vectors, in f32.

    Inactive lanes become zero.

        %r = pto.vmi.vexpdif %x, %max, %mask : !pto.vmi.vreg<128xf16>, !pto.vmi.vreg<128xf16>, !pto.vmi.mask<128xpred>
            -> !pto.vmi.vreg<128xf32>
    """

    form = "$input:logical, $max:logical, $mask:truths -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "input", "max")
        yield from elements_among(self, "input", F16_F32)
        yield from elements_among(self, "result", frozenset({"f32"}))
        if self.vector("result") is not None and self.lanes("result") != self.lanes("input"):
            yield Problem(
                f"result of {self.name} has {self.lanes('result')} lanes, not {self.lanes('input')}", "result"
            )
        yield from governed(self, "mask", "input")


# --- comparison and selection -----------------------------------------------------------------------------------------

ORDERED = ("oeq", "one", "olt", "ole", "ogt", "oge")
COMPARED = Vocabulary(("eq", "ne", "lt", "le", "gt", "ge", *ORDERED))


class VmiComparison(VmiOperation):
    """The common part of comparisons: the first vector decides about elements."""

    by_lanes = True
    chooses = True
    words = {"cmp": COMPARED, "pmode": PMODES}
    first: ClassVar[str] = "lhs"
    cmp = Property()

    def shapes(self) -> Iterator[Problem]:
        yield from elements_among(self, self.first, NUMBERS)
        yield from governed(self, "seed", self.first)
        yield from governed(self, "result", self.first)
        name = self.element(self.first)
        if name in INTEGERS and self.word("cmp") in ORDERED:
            yield Problem(f"cmp '{self.word('cmp')}' of {self.name} is for floats, not {name}", at="cmp")


class VmiCompare(VmiComparison, name="pto.vmi.vcmp"):
    """Compare logical vectors into a mask: seed and (a cmp b).

    Signless integers are unsigned. With a NaN only ne (and one) holds; oeq, one, olt, ole, ogt, oge are for floats.

        %m = pto.vmi.vcmp %a, %b, %seed {cmp = "lt"}
            : !pto.vmi.vreg<100xf32>, !pto.vmi.vreg<100xf32>, !pto.vmi.mask<100xpred> -> !pto.vmi.mask<100xpred>
    """

    form = "$lhs:logical, $rhs:logical, $seed:truths -> $result:truths"

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "lhs", "rhs")
        yield from super().shapes()


class VmiCompareScalar(VmiComparison, name="pto.vmi.vcmps"):
    """Compare a logical vector with a scalar into a mask: seed and (a cmp s).

    As pto.vmi.vcmp.

        %m = pto.vmi.vcmps %a, %s, %seed {cmp = "gt"}
            : !pto.vmi.vreg<100xf32>, f32, !pto.vmi.mask<100xpred> -> !pto.vmi.mask<100xpred>
    """

    form = "$input:logical, $scalar, $seed:truths -> $result:truths"
    first = "input"

    def shapes(self) -> Iterator[Problem]:
        yield from exactly(self, "scalar", "input")
        yield from super().shapes()


class VmiSelect(VmiOperation, name="pto.vmi.vsel"):
    """Choose per lane between two logical vectors: mask ? t : f.

    Every lane gets one of the two; bits are copied.

        %r = pto.vmi.vsel %mask, %t, %f : !pto.vmi.mask<100xpred>, !pto.vmi.vreg<100xf32>, !pto.vmi.vreg<100xf32>
            -> !pto.vmi.vreg<100xf32>
    """

    by_lanes = True
    form = "$mask:truths, $on_true:logical, $on_false:logical -> $result:logical"
    merges = True

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "on_true", "on_false", "result")
        yield from governed(self, "mask", "on_true")
