"""Counts of the vector instructions of a run: how often each executes, and how many of its lanes are active."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation

from ptosim.effects.element import Element
from ptosim.language.operation import PTOOperation
from ptosim.language.types import MaskType, VregType, element_of
from ptosim.machine.entry import Site
from ptosim.reference.numeric.mask import Mask

REGISTER_BYTES = 256


@dataclass
class ExecutedLanes:
    """An instruction of a vector scope, and what it did in all."""

    site: Site
    lanes: int
    """The lanes of a register of its elements."""
    stride: int
    """Bits of a mask for each lane."""
    is_masked: bool
    """A load without a mask fills all lanes, whatever is done with them."""
    times: int = 0
    active: int = 0

    def executed(self, mask: Mask | None) -> None:
        self.times += 1
        self.active += self.lanes if mask is None or mask.is_full(self.stride) else int(mask.lanes(self.stride).sum())


@dataclass
class LaneCount:
    """The lanes of all instructions that compute, load or store registers."""

    instructions: list[ExecutedLanes] = field(default_factory=list[ExecutedLanes])

    def instruction(self, op: Operation, site: Site) -> ExecutedLanes | None:
        """The count of an operation; None for one without registers."""
        element = _element(op)
        if element is None:
            return None
        self.instructions.append(
            ExecutedLanes(site, REGISTER_BYTES // element.bytes, element.bytes, governing(op) is not None)
        )
        return self.instructions[-1]


def governing(op: Operation) -> Any:
    """The mask that says which lanes take part; None where all do."""
    if not isinstance(op, PTOOperation) or "mask" not in op.operand_roles:
        return None
    return next((value for value in op.segment("mask") if isinstance(value.type, MaskType)), None)


def _element(op: Operation) -> Element | None:
    """The widest element of its registers: lanes of narrower ones are counted by it."""
    kinds = [value.type for value in (*op.operands, *op.results) if isinstance(value.type, VregType)]
    return max(map(element_of, kinds), key=lambda element: element.bytes, default=None)
