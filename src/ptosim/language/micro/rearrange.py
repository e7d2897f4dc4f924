"""Moving lanes about: interleaving, squeezing, packing and unpacking."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerType, Signedness

from ptosim.effects.element import ELEMENTS
from ptosim.language.micro.vector import UP_TO_32_BITS, VectorOperation, VectorUnary, gives, integers, not_on_a5
from ptosim.language.operation import Operand, Problem, Result
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import VregType, element_of

_ANY = frozenset(ELEMENTS)
LOWER_HIGHER = Vocabulary(("LOWER", "HIGHER"))

# --- interleaving -----------------------------------------------------------------------------------------------------


class Interleaving(VectorOperation):
    """`%low, %high = pto.OP %a, %b : V, V -> V, V`: bits move, so every element type will do."""

    form = "$lhs:V, $rhs:V -> $low:V, $high:V"
    accepted = documented = _ANY


class VIntlv(Interleaving, name="pto.vintlv"):
    """Interleave two registers.

    The stream a0 b0 a1 b1 ... fills low, then high. There is no mask. pto.vdintlv undoes it.

        %low, %high = pto.vintlv %a, %b
            : !pto.vreg<64xf32>, !pto.vreg<64xf32> -> !pto.vreg<64xf32>, !pto.vreg<64xf32>
    """


class VDintlv(Interleaving, name="pto.vdintlv"):
    """Separate the even and the odd lanes of two registers.

    Of the stream a0 a1 ... b0 b1 ... low gets the even and high the odd elements. There is no mask. pto.vintlv undoes
    it.

        %low, %high = pto.vdintlv %a, %b
            : !pto.vreg<64xf32>, !pto.vreg<64xf32> -> !pto.vreg<64xf32>, !pto.vreg<64xf32>
    """


class HalfInterleaving(VectorOperation):
    """`%d = pto.OP %a, %b, "LOWER"|"HIGHER" : V, V -> V`: one of the two results."""

    form = "$lhs:V, $rhs:V, @part -> $result:V"
    words = {"part": LOWER_HIGHER}
    accepted = documented = _ANY

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from not_on_a5(self, target, self.name.removesuffix("v2"))


class VIntlvV2(HalfInterleaving, name="pto.vintlvv2"):
    """One half of an interleaving.

    LOWER is the first result of pto.vintlv, HIGHER the second. Documented as not available on a5, where it is warned
    of.

        %d = pto.vintlvv2 %a, %b, "LOWER" : !pto.vreg<64xf32>, !pto.vreg<64xf32> -> !pto.vreg<64xf32>
    """


class VDintlvV2(HalfInterleaving, name="pto.vdintlvv2"):
    """The even or the odd lanes of two registers.

    LOWER is the first result of pto.vdintlv, HIGHER the second. Documented as not available on a5, where it is warned
    of.

        %d = pto.vdintlvv2 %a, %b, "HIGHER" : !pto.vreg<64xf32>, !pto.vreg<64xf32> -> !pto.vreg<64xf32>
    """


# --- squeezing --------------------------------------------------------------------------------------------------------


class VSqz(VectorUnary, name="pto.vsqz"):
    """Move the active lanes to the front, in order.

    The lanes behind them are zero. The special register SQZN receives the number of bytes kept, which pto.vstur stores.

        %d = pto.vsqz %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    accepted = UP_TO_32_BITS


class VUsqz(VectorUnary, name="pto.vusqz"):
    """The number of active lanes before each lane.

    d[0] = 0, d[i] = d[i-1] + 1 where lane i-1 is active. Inactive lanes get their count too, and the values of the
    source are ignored: it lends its type only. SQZN is set as by pto.vsqz.

        %d = pto.vusqz %a, %mask : !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>
    """

    accepted = frozenset({"i8", "si8", "i16", "si16", "i32", "si32"})


# --- packing ----------------------------------------------------------------------------------------------------------


class VPack(VectorOperation, name="pto.vpack"):
    """Truncate the lanes to half their width, into one half of the result.

    LOWER fills the first half of the lanes, HIGHER the second; the other half is zero. The upper bits are dropped,
    nothing saturates, and the result is unsigned. There is no mask.

        %d = pto.vpack %a, "LOWER" : !pto.vreg<64xi32> -> !pto.vreg<128xui16>
    """

    form = "$input:V, @part -> $result:vreg"
    words = {"part": LOWER_HIGHER}
    accepted = integers(16, 32)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from gives(self, _halved)


def _halved(source: VregType) -> VregType:
    return VregType.of(IntegerType(element_of(source).bits // 2, Signedness.UNSIGNED))


class Unpack(VectorOperation):
    """`%d = pto.OP %a, %part : V -> V'`: part is an index, 0 or 1, and not in the type list."""

    form = "$input:V, $part:index -> $result:vreg"
    listed = ("input",)
    accepted = integers(8, 16)
    input = Operand()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        source, result = self.input.type, self.result.type
        if not isinstance(source, VregType) or not isinstance(result, VregType):
            return
        element, wider = element_of(source), element_of(result)
        if element.name in self.accepted and not (wider.is_integer and wider.bits == 2 * element.bits):
            message = f"{self.name} of {source} gives {2 * element.bits}-bit integers, not {result.element}"
            yield Problem(message, at="result")


class VSunpack(Unpack, name="pto.vsunpack"):
    """Sign-extend one half of the lanes to twice the width.

    d[i] = a[part * N/2 + i], with part 0 for the lower and 1 for the upper half. There is no mask.

        %d = pto.vsunpack %a, %part : !pto.vreg<128xi16> -> !pto.vreg<64xi32>
    """


class VZunpack(Unpack, name="pto.vzunpack"):
    """Zero-extend one half of the lanes to twice the width.

    d[i] = a[part * N/2 + i], with part 0 for the lower and 1 for the upper half. There is no mask.

        %d = pto.vzunpack %a, %part : !pto.vreg<128xui16> -> !pto.vreg<64xui32>
    """
