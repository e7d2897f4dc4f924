"""Element-wise vector arithmetic: unary, binary, vector-scalar, shifts and the carry chain."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.language.operation import Operand, Problem, PTOOperation, Result
from ptosim.language.vector import mask_matches, same_types


class Unary(PTOOperation):
    """`%d = pto.OP %a, %mask : V, M -> V`."""

    form = "$input, $mask"
    placement = "inside"
    input = Operand()
    mask = Operand()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_types(self, "input", "result")
        yield from mask_matches(self, "mask", self.input.type)


class VAbs(Unary):
    """Absolute value per lane; inactive lanes become zero.

    Integers wrap (the least value stays itself), unsigned lanes are unchanged; floats lose their sign bit, NaN keeps its payload.

        %d = pto.vabs %a, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    name = "pto.vabs"
