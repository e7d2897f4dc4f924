"""Repairing what a check has found: the findings with hints, and the text as it would be without them."""

from __future__ import annotations

from ptosim.diagnostics import Diagnostic
from ptosim.repair.consequences import mended, unmended
from ptosim.repair.proposals import Proposals
from ptosim.repair.rehearsal import Rehearsal, Trials
from ptosim.repair.search import Effort, repair
from ptosim.sanitize.observation import Observation

LONGEST = 1 << 18
"""Characters of a text that is edited and read again, many times over; a longer one gets no such hints."""


HINTED = Effort(lines=20, steps=16)
"""For a hint."""
ASKED = Effort(lines=60, steps=40)
"""For a repair that somebody has asked for, where a hint was not found."""


def repaired(observation: Observation, trials: Trials) -> list[Diagnostic]:
    """The findings with hints that were tried, what follows from a finding inside it."""
    rehearsal = Rehearsal(trials)
    proposals = Proposals(observation)
    is_short = len(observation.program.source.text) <= LONGEST
    found = repair(observation, rehearsal, HINTED) if is_short else None
    if not found:
        return unmended(observation, proposals)
    return mended(observation, found.steps, proposals, bool(trials.larger) and not rehearsal.is_larger)
