"""Element-wise vector arithmetic: lane to lane, no memory. Only vdup moves a lane to others."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

EFFECTS: dict[str, Effects] = table(
    Pipe.V,
    Taint.ELEMENTWISE,
    {
        "broadcast": "vbr",
        "abs": "vabs",
        "relu": "vrelu",
        "exp": "vexp",
        "log": "vln",
        "sqrt": "vsqrt",
        "add": "vadd vsub",
        "add_scalar": "vadds",
        "multiply": "vmul",
        "multiply_scalar": "vmuls vneg",
        "divide": "vdiv",
        "minmax": "vmax vmin",
        "max_scalar": "vmaxs",
        "min_scalar": "vmins",
        "logic": "vand vor vxor vnot",
        "shift": "vshl vshr vshls vshrs",
        "other": "vaddc vsubc vaddcs vsubcs",
    },
) | {
    "pto.vmadd": Effects("pto.vmadd", Pipe.V, "multiply_add", Taint.elementwise(keeps="acc")),
    "pto.vdup": Effects("pto.vdup", Pipe.V, "broadcast_lane", Taint.CROSSING),
}
