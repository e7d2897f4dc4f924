"""The result of an observed run, as plain data: findings, and the facts that edits are proposed from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ptosim.diagnostics import Diagnostic, Location
from ptosim.language.edits import Edit
from ptosim.machine.entry import Key, Site
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.global_shadow import GlobalShadow
from ptosim.sanitize.program import WrittenProgram

Flag = tuple[str, str, int]
"""From which pipe to which, and its id."""
Step = tuple[Site, str, Key | None]
"""An instruction, the role of the core that has issued it, and the key that it names."""


@dataclass(frozen=True)
class Imbalance:
    """A set, wait, get or release that the run has found without its partner."""

    site: Site
    key: Key
    is_left: bool = False
    """A flag or semaphore that is still set at the end."""


@dataclass(frozen=True)
class Observation:
    """One run of one text."""

    program: WrittenProgram
    found: Sequence[Conflict | Diagnostic]
    findings: Sequence[Diagnostic]
    """The same in words, the gravest first, without hints."""
    imbalances: Sequence[Imbalance]
    endings: Mapping[Location | None, Edit]
    """For copies that nothing waits for, the barrier that would."""
    steps: Mapping[Step, int]
    """Executions of each instruction, all blocks together."""
    standing: frozenset[Site]
    """The places at which scalar units stood still before their programs were over."""
    global_memory: GlobalShadow
    """The reads and writes of the arguments."""
    issued: float
    """The number of instructions that a block has issued."""
    last: int | None = None
    """The block after which there were as many findings as were wanted."""
    is_complete: bool = True
    """Each block has run to its end."""
    notes: Sequence[Diagnostic] = ()
    """Errors that hardware tolerates, if they were asked for."""

    @property
    def flags(self) -> set[Flag]:
        """The flags that the run has used."""
        return {(key.source, key.destination, key.id) for key in self._keys("flag")}

    @property
    def semaphores(self) -> set[int]:
        return {key.id for key in self._keys("semaphore")}

    def _keys(self, mechanism: str) -> Iterator[Key]:
        return (key for _, _, key in self.steps if key is not None and key.mechanism == mechanism)

    @property
    def blocks(self) -> frozenset[int]:
        """The blocks that the findings are about."""
        conflicts = [each for found in self.found if isinstance(found, Conflict) for each in (found, *found.also)]
        parties = [side.block for each in conflicts for side in (each.first, each.second) if side]
        return frozenset((*parties, *(finding.block for finding in self.findings if finding.block is not None)))
