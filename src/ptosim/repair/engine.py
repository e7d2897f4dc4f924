"""Repairing what a check has found: the findings with hints, and the text as it would be without them.

A hint is the first edit of a repair, so both come out of one search. It is bounded: for a hint it ends after some
edited texts; a request for the repair itself goes on where there was no hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptosim.diagnostics import Diagnostic
from ptosim.order.replay.comparison import ReplayStanding
from ptosim.repair.consequences import mended, unmended
from ptosim.repair.proposals import Proposals
from ptosim.repair.search import Effort, Repair, repair
from ptosim.repair.trials import ORDER, Rehearsal, Trials
from ptosim.sanitize.observation import Observation

LONGEST = 1 << 18
"""Characters of a text that is edited and read again, many times over; a longer one is not repaired."""
HINTED = Effort(lines=20, steps=16, longest=12)
"""For a hint."""
ASKED = Effort(lines=60, steps=40)
"""For a repair that somebody has asked for, where no hint was found."""

CHECKED = "checked at this size and at a larger one"
CHECKED_HERE = "checked at this size only: no larger one was found that the kernel admits"
CHECKED_ALONE = "checked at this size, the only one that the kernel has"
PROVEN = "proven for every number of iterations, branch and grid"
REPLAYED = "replayed without data at up to three iterations of each loop and on every branch"
REFUTED = "at other sizes or branches the kernel is still out of order, as it was; see ptosim prove"


def is_curable(findings: Sequence[Diagnostic]) -> bool:
    """Whether synchronisation may be all that is wrong: what reads too early may read what nothing has written yet."""
    if {finding.kind for finding in findings} == {"clobbered"}:
        return False
    errors = {finding.kind for finding in findings if finding.severity == "error"}
    others = errors - ORDER
    return not others or (others == {"uninitialized"} and errors != others)


@dataclass(frozen=True)
class RepairOutcome:
    """A repaired text, or the one that was there."""

    text: str
    verified: bool
    notes: tuple[str, ...]
    left: tuple[Diagnostic, ...] = ()


class Engine:
    """Repairs one text, given how edited texts are tried."""

    def __init__(self, observation: Observation, trials: Trials, is_tried: bool = True) -> None:
        self.observation = observation
        self.text = observation.program.source.text
        self.rehearsal = Rehearsal(trials)
        self.is_short = len(self.text) <= LONGEST
        is_worth_it = is_tried and self.is_short and is_curable(observation.findings)
        self.found = repair(observation, self.rehearsal, HINTED) if is_worth_it else None

    def findings(self) -> list[Diagnostic]:
        """With hints that were tried, what follows from a finding inside it."""
        proposals = Proposals(self.observation)
        if self.found is None:
            return unmended(self.observation, proposals)
        is_here_only = bool(self.rehearsal.trials.larger) and not self.rehearsal.is_larger
        return mended(self.observation, self.found.steps, proposals, is_here_only)

    def outcome(self) -> RepairOutcome:
        """The repaired text. Findings that no synchronisation can cure stay, if nothing else is found."""
        if not self.is_short:
            return self._unmended(f"the text is longer than {LONGEST >> 10} KB, and was not tried with edits")
        found = self.found
        is_open = found is None or self.rehearsal.standing(found.text) is ReplayStanding.BETTER
        if is_open and is_curable(self.observation.findings):
            found = repair(self.observation, self.rehearsal, ASKED) or found
        if found is not None:
            return self._mended(found, ())
        found = repair(self.observation, self.rehearsal, ASKED, lenient=True)
        if found is not None:
            return self._mended(found, self.rehearsal.left(found.text))
        return self._unmended(f"no repair was found; {self.rehearsal.runs} edited texts were checked")

    def _mended(self, found: Repair, left: tuple[Diagnostic, ...]) -> RepairOutcome:
        proof, standing = self.rehearsal.proof(found.text), self.rehearsal.standing(found.text)
        larger = bool(self.rehearsal.trials.larger)
        checked = CHECKED_ALONE if not larger else CHECKED if self.rehearsal.is_larger else CHECKED_HERE
        said = {ReplayStanding.CLEAN: (PROVEN if proof else REPLAYED,), ReplayStanding.UNKNOWN: ()}.get(
            standing, (REFUTED,)
        )
        if any(finding.workitem is not None for finding in self.observation.findings):
            said = ()  # neither a proof nor a replay says anything of workitems
        is_right = standing in (ReplayStanding.CLEAN, ReplayStanding.UNKNOWN)
        return RepairOutcome(found.text, is_right and not left, (checked, *said), left)

    def _unmended(self, why: str) -> RepairOutcome:
        return RepairOutcome(self.text, False, (why,), tuple(self.observation.findings))
