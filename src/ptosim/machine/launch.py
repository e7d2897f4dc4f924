"""Launch geometry: the cores of a block, their names, and their answers to block queries; and which launch comes after
which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ptosim.effects.names import CoreKind


class KernelKind(StrEnum):
    """The cores that a kernel runs on. A block of a mixed kernel is a whole cluster."""

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
class CorePlace:
    """A core of a launch, with the answers of get_block_idx, get_block_num, get_subblock_idx and get_subblock_num."""

    kind: CoreKind
    block: int
    block_num: int
    subblock: int
    subblock_num: int
    rank: int | None = None
    """None where there is one rank only."""

    @property
    def role(self) -> str:
        """Its name inside the cluster."""
        return "aic" if self.kind is CoreKind.AIC else f"aiv{self.subblock}"

    @property
    def name(self) -> str:
        name = f"b{self.block}.{self.role}"
        return name if self.rank is None else f"r{self.rank}.{name}"


@dataclass(frozen=True, slots=True)
class LaunchGeometry:
    """A kernel kind spread over so many blocks of one rank. Launches of one stream of a rank follow each other; before
    a round begins, all launches of the one before have ended."""

    kind: KernelKind
    blocks: int
    rank: int | None = None
    stream: int = 0
    round: int = 0

    def places(self, block: int) -> tuple[CorePlace, ...]:
        """The cores of a block, in the order in which they take turns."""
        shape = SHAPES[self.kind]
        return tuple(CorePlace(kind, block, self.blocks, index, count, self.rank) for kind, index, count in shape)


@dataclass(eq=False, slots=True)
class Progress:
    """The progress of one launch of a run: its cores start when all cores of those before it have ended."""

    number: int
    """The number of the launch in the list of the run."""
    before: tuple[Progress, ...]
    left: int
    """Cores that have not ended."""
    round: int
    ended: dict[int, int] = field(default_factory=dict[int, int])
    """In runs with clocks: everything that its cores, and those before them, have ended."""

    @property
    def may_start(self) -> bool:
        return not any(earlier.left for earlier in self.before)


def progress_of(launches: Sequence[LaunchGeometry], cores: Mapping[int, int]) -> dict[int, Progress]:
    """The progress of each launch that takes part, by its number, and so many cores."""
    made: dict[int, Progress] = {}
    for number, count in cores.items():
        launch = launches[number]
        earlier = [(launches[other], progress) for other, progress in made.items()]
        same = [each for other, each in earlier if _stream(other) == _stream(launch)]
        rounds = [each for other, each in earlier if other.round == launch.round - 1]
        made[number] = Progress(number, tuple(same[-1:] or rounds), count, launch.round)
    return made


def _stream(launch: LaunchGeometry) -> tuple[int | None, int, int]:
    return launch.rank, launch.stream, launch.round
