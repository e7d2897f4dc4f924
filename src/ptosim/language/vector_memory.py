"""Vector loads and stores between UB and registers."""

from __future__ import annotations

from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, OptionalResult, PTOOperation, Result


class VLds(PTOOperation):
    """Load one register.

    %v = pto.vlds %ub[%offset] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    """

    name = "pto.vlds"
    form = "$source[$offset]"
    listed = ("source",)
    placement = "inside"
    source = Operand()
    offset = Operand()
    dist = OptionalProperty()
    result = Result()
    next = OptionalResult()


class VSts(PTOOperation):
    """Store one register.

    pto.vsts %v, %ub[%offset], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    """

    name = "pto.vsts"
    form = "$value, $dest[$offset]{, $mask}"
    listed = ("value", "dest", "mask")
    placement = "inside"
    value = Operand()
    dest = Operand()
    offset = Operand()
    mask = OptionalOperand()
    dist = OptionalProperty()
    next = OptionalResult()
