"""Loads that say which of their lanes count: `pto.vlds %ub[%offset] for %mask`.

A load has no mask on hardware: the tail of a row brings whatever lies behind it along. A lowering names the lanes that
it means, so that the others need not be defined, in order or inside of UB.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr

from ptosim.language.micro.vector import mask_matches
from ptosim.language.operation import OptionalOperand, Problem, PTOOperation
from ptosim.language.types import MaskType, VregType, element_of

_WIDENED = {"UNPK_B8": 2, "UNPK_B16": 4, "UNPK_B32": 8, "UNPK4": 4}
"""Bytes of the lanes that a zero-extending dist fills, whatever elements the register is said to hold."""


class Logical(PTOOperation):
    """A load of registers to which `for %mask` may be added: which lanes count.

    The lanes of the mask are loaded as without it, the others are zero. Their bytes are not read: they may be
    undefined, written at the same time, or lie outside of UB. The address is aligned as ever, and time does not change.
    """

    tail = "{for $mask:mask}"
    loaded: ClassVar[str] = "result"
    """The role of the register that has the lanes of the mask."""
    mask = OptionalOperand()

    def logical_rules(self) -> Iterator[Problem]:
        """The mask has the granularity of the elements, or of the lanes that a dist zero-extends to."""
        type_ = getattr(self, self.loaded).type
        if self.mask is None or not isinstance(type_, VregType):
            return
        widened = _WIDENED.get(self.word("dist") or "", 0)
        wider = MaskType(StringAttr(f"b{8 * min(widened, 4)}"))
        if widened > element_of(type_).bytes and self.mask.type == wider:
            return
        yield from mask_matches(self, "mask", type_)
