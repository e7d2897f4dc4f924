"""What a run under observation has shown, as plain data: findings, and what edits are proposed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ptosim.diagnostics import Diagnostic, Location
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.edit import Edit
from ptosim.sanitize.global_shadow import GlobalShadow
from ptosim.sanitize.halves import Imbalance
from ptosim.sanitize.program import Program
from ptosim.sanitize.used import Flag


@dataclass(frozen=True)
class Observation:
    """One run of one text."""

    program: Program
    found: Sequence[Conflict | Diagnostic]
    findings: Sequence[Diagnostic]
    """The same in words, the gravest first, without hints."""
    imbalances: Sequence[Imbalance]
    flags: set[Flag]
    """The flags that the run has used."""
    semaphores: set[int]
    endings: Mapping[Location | None, Edit]
    """For copies that nothing waits for, the barrier that would."""
    global_memory: GlobalShadow
    """What the run has read and written of the arguments."""
    issued: float
    """How many instructions a block has issued."""

    @property
    def blocks(self) -> frozenset[int]:
        """The blocks that the findings are about."""
        conflicts = [each for found in self.found if isinstance(found, Conflict) for each in (found, *found.also)]
        parties = [side.block for each in conflicts for side in (each.first, each.second) if side]
        return frozenset((*parties, *(finding.block for finding in self.findings if finding.block is not None)))
