"""Element-wise vector arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import Element
from ptosim.language import arithmetic as op
from ptosim.reference.semantics import semantics

Lanes = NDArray[Any]


@semantics(op.VAbs)
def vabs(input: Lanes, element: Element) -> Lanes:
    if element.kind == "unsigned":
        return input
    if element.name == "bf16":
        return input & np.uint16(0x7FFF)
    return np.abs(input)  # the least integer stays itself; a float loses its sign bit, also a NaN
