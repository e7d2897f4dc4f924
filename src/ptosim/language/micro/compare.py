"""Comparisons of registers into masks, and selections by a mask or by lane numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.language.micro.vector import INTEGERS, UP_TO_32_BITS, VectorOperation, element_among, not_on_a5
from ptosim.language.operation import Operand, Problem
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import VregType, element_of

COMPARISONS = Vocabulary(("eq", "ne", "lt", "le", "gt", "ge"))


class VCmp(VectorOperation, name="pto.vcmp"):
    """Compare two registers, lane by lane, into a mask.

    m[i] = seed[i] and a[i] CMP b[i], with CMP one of eq ne lt le gt ge. Integers compare by the sign of the
    register's type (iN is signed). A comparison with NaN is false, but ne is true; -0 equals +0. Only the lowest bit
    of each lane's group is ever set.

        %m = pto.vcmp %a, %b, %seed, "lt" : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.mask<b32>
    """

    form = "$lhs:V, $rhs:V, $seed:M, @comparison -> $result:M"
    words = {"comparison": COMPARISONS}
    accepted = UP_TO_32_BITS


class VCmps(VectorOperation, name="pto.vcmps"):
    """Compare a register with a scalar, lane by lane, into a mask.

    m[i] = seed[i] and a[i] CMP s, as pto.vcmp. The register decides about the sign: against ui8 the constant -127 : i8
    means 129.

        %m = pto.vcmps %a, %s, %seed, "gt" : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.mask<b32>
    """

    form = "$input:V, $scalar:T, $seed:M, @comparison -> $result:M"
    words = {"comparison": COMPARISONS}
    accepted = UP_TO_32_BITS


class VSel(VectorOperation, name="pto.vsel"):
    """Choose per lane between two registers.

    d[i] = a[i] where the mask is set, else b[i]. Every lane gets one of the two: nothing is zeroed. Bits are copied.

        %d = pto.vsel %a, %b, %mask : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    form = "$on_true:V, $on_false:V, $mask:M -> $result:V"
    on_true = Operand()
    on_false = Operand()


class ByLaneNumber(VectorOperation):
    """`%d = pto.OP %a, %index : V, V' -> V`, the lane numbers being integers as wide as the elements."""

    form = "$input:V, $index:vreg -> $result:V"
    accepted = UP_TO_32_BITS
    input = Operand()
    index = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from element_among(self, "index", INTEGERS)
        data, index = self.input.type, self.index.type
        if not isinstance(data, VregType) or not isinstance(index, VregType) or not element_of(index).is_integer:
            return
        if index.lanes != data.lanes:
            yield Problem(f"index has {index.lanes} lanes, but input has {data.lanes}", at="index")


class VSelR(ByLaneNumber, name="pto.vselr"):
    """Pick lanes by number.

    d[i] = a[index[i]]. There is no mask. A number is read as unsigned and taken modulo the number of lanes.

        %d = pto.vselr %a, %index : !pto.vreg<64xf32>, !pto.vreg<64xi32> -> !pto.vreg<64xf32>
    """


class VSelRV2(ByLaneNumber, name="pto.vselrv2"):
    """Pick lanes by number, like pto.vselr.

    Documented as not available on a5, where it is warned of.

        %d = pto.vselrv2 %a, %index : !pto.vreg<64xf32>, !pto.vreg<64xi32> -> !pto.vreg<64xf32>
    """

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from not_on_a5(self, target, "pto.vselr")
