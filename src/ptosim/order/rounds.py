"""Iterations of loops as a walk follows entries through them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptosim.order.model import EntryNode, LoopNode, Node, NodeBlock
from ptosim.order.state import Known


@dataclass
class Round:
    """The iteration of a loop that a walk is in."""

    loop: LoopNode | None
    """None for the function itself."""
    distance: int = 0
    """The number of iterations since the followed entries were issued; 0 where they are issued on the way."""
    arm: NodeBlock | None = None
    """The branch around both the followed entries and those they meet; every iteration between takes it."""
    behind: dict[Node, Known] = field(default_factory=dict[Node, Known])
    """The knowledge behind each node."""


@dataclass(frozen=True)
class EarlyStart:
    """An entry that may start too early, and the iterations of a loop between it and what it depends on."""

    later: EntryNode
    rounds: tuple[Round, ...]
    """The rounds of the loop, from the one that issued the earlier entry to the present one."""

    @property
    def distance(self) -> int:
        return self.rounds[-1].distance
