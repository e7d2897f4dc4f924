"""Launch geometry: which cores a block has, what they are called, and what the block queries answer on them."""

from dataclasses import dataclass
from enum import StrEnum

from ptosim.effects.names import CoreKind


class KernelKind(StrEnum):
    """Which cores a kernel runs on. A block of a mixed kernel is a whole cluster."""

    VECTOR = "vector"
    CUBE = "cube"
    MIXED = "mixed"


# (kind of core, subblock index, subblock count), in the order in which cores take turns. A vector kernel sees one
# subblock although the cluster has two vector cores.
SHAPES: dict[KernelKind, tuple[tuple[CoreKind, int, int], ...]] = {
    KernelKind.VECTOR: ((CoreKind.AIV, 0, 1),),
    KernelKind.CUBE: ((CoreKind.AIC, 0, 1),),
    KernelKind.MIXED: ((CoreKind.AIC, 0, 1), (CoreKind.AIV, 0, 2), (CoreKind.AIV, 1, 2)),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A core of a launch, with the answers of get_block_idx, get_block_num, get_subblock_idx and get_subblock_num."""

    kind: CoreKind
    block: int
    block_num: int
    subblock: int
    subblock_num: int

    @property
    def role(self) -> str:
        """Its name inside the cluster."""
        return "aic" if self.kind is CoreKind.AIC else f"aiv{self.subblock}"

    @property
    def name(self) -> str:
        return f"b{self.block}.{self.role}"


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel kind spread over so many blocks."""

    kind: KernelKind
    blocks: int

    def places(self, block: int) -> tuple[Place, ...]:
        """The cores of a block, in the order in which they take turns."""
        return tuple(Place(kind, block, self.blocks, index, count) for kind, index, count in SHAPES[self.kind])
