"""Trying edits out: the edited text is checked, at this size and at a larger one, before anybody is told to write it.

Proposals and engines are of no concern here: the trials are handed in. Findings of two
texts are compared by kind, severity and the lines they had before the edits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ptosim.diagnostics import Diagnostic, Location
from ptosim.language.text.edited_text import EditedText
from ptosim.order.replay.comparison import ReplayStanding
from ptosim.repair.from_order import Completed
from ptosim.sanitize.conflict import Enough
from ptosim.sanitize.observation import Observation

UNREAD = 4
"""The texts that are read, in multiples of those that are checked, for some do not load."""
GROWTH = 3
"""A launch is larger when a block issues so many times the instructions."""

ORDER = frozenset(
    "race scope-alias deadlock unmatched-wait undrained double-set semaphore-overflow buffer-misuse wrong-pipe "
    "id-range".split()
)
"""Kinds that synchronisation can cure or cause; all others do not depend on it. Warnings of other kinds are remarks,
which a text may keep."""

STOPPING = frozenset(("deadlock", "unmatched-wait"))
"""Kinds of findings that cut a run short: others may follow from that, and some do not show."""

Identity = tuple[object, ...]


class Trial(Protocol):
    def __call__(self, text: str, enough: frozenset[str] = frozenset()) -> Observation | None:
        """Check a text; None where it does not load. A conflict of a kind that is enough is raised as `Enough`."""
        ...


@dataclass(frozen=True)
class Trials:
    """The trial of texts."""

    part: Trial
    """On the blocks that findings are about."""
    whole: Trial | None = None
    """On all blocks that were asked for, where these are more."""
    larger: Sequence[Sequence[Trial]] = ()
    """At larger ones: ways to enlarge the launch, the most promising first, each with growing sizes."""
    proof: Callable[[str], bool | None] | None = None
    """Whether a text is in order for every size and branch; None where that is undecided."""
    standing: Callable[[str], ReplayStanding] | None = None
    """The results of replays of a text at few iterations and on every branch, beside those of the text before."""
    completed: Completed | None = None
    """The text that order makes of it."""


def identity(finding: Diagnostic, text: EditedText | None = None) -> Identity:
    """The part of a finding that stays when lines are added: its kind and severity, and where it was."""

    def place(location: Location | None) -> tuple[int, int] | None:
        if location is None:
            return None
        return (text.origin(location.line) if text else location.line), location.column

    others = tuple(place(other.location) for other in finding.related[:1])
    return finding.kind, finding.severity, place(finding.location) or finding.message, others


class Rehearsal:
    """The trials of one report. It remembers what it has tried, and stops after as many as it was granted."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.runs = 0
        self.reads = 0
        self.is_larger = False
        """Whether a larger launch was found that the kernel admits."""
        self._tried: dict[str, Observation | None] = {}
        self._disordered: set[str] = set()
        """Texts whose check ended when they were known to be out of order."""
        self._proofs: dict[str, bool | None] = {}
        self._standings: dict[str, ReplayStanding] = {}
        self._larger: Trial | None = None
        self._searched = False
        self._runs = self._reads = 0

    def grant(self, runs: int) -> None:
        """From here on so many more texts may be checked."""
        self._runs, self._reads = self.runs + runs, self.reads + UNREAD * runs

    @property
    def is_spent(self) -> bool:
        return self.runs >= self._runs or self.reads >= self._reads

    def here(self, text: str, in_order: bool = False) -> Observation | None:
        """Findings of a text in the blocks that findings are about; None where it does not load, and when
        enough were tried. `in_order`: None as well where a conflict shows that it is not."""
        is_new = text not in self._disordered
        if text in self._tried or (self.is_spent if is_new else in_order):
            return self._tried.get(text)
        try:
            self._tried[text] = self.trials.part(text, ORDER if in_order else frozenset())
        except Enough:
            self._disordered.add(text)
        if is_new:
            self.reads += 1
            self.runs += self._tried.get(text) is not None or text in self._disordered
        return self._tried.get(text)

    def proof(self, text: str) -> bool | None:
        """Whether a text that holds at two sizes does so at every other."""
        if text not in self._proofs:
            self._proofs[text] = self.trials.proof(text) if self.trials.proof else None
        return self._proofs[text]

    def standing(self, text: str) -> ReplayStanding:
        """Whether a text is in order elsewhere, too: proven, or replayed where that is undecided."""
        if self.proof(text) is True:
            return ReplayStanding.CLEAN
        if text not in self._standings:
            found = self.trials.standing(text) if self.trials.standing else ReplayStanding.UNKNOWN
            is_wrong = found is ReplayStanding.CLEAN and self.proof(text) is False
            self._standings[text] = ReplayStanding.BETTER if is_wrong else found
        return self._standings[text]

    def left(self, text: str) -> tuple[Diagnostic, ...]:
        """Findings of a text that are more than remarks."""
        seen = self._tried.get(text)
        return tuple(finding for finding in seen.findings if not is_remark(finding)) if seen else ()

    def holds(self, text: str) -> bool:
        """Whether a text that is clean where there were findings, but for remarks, is so in all blocks, and at a larger
        size as well, and in no launch that was replayed worse than it was."""
        try:
            here = self.trials.whole(text, ORDER) if self.trials.whole else self._tried[text]
            if here is None or _is_disordered(here) or self.standing(text) is ReplayStanding.WORSE:
                return False
            if not self._searched:
                self._searched = True
                self._larger, seen = self._search(text, here)
                self.is_larger = self._larger is not None
            else:
                seen = self._larger(text, ORDER) if self._larger else here
        except Enough:
            return False
        return seen is not None and not _is_disordered(seen)

    def _search(self, text: str, here: Observation) -> tuple[Trial | None, Observation]:
        """A larger launch that the kernel admits, by growing sizes: one that shows what no synchronisation can cause is
        too large, or enlarged what is not a size."""
        kept: tuple[Trial | None, Observation] = None, here
        known = ORDER | {finding.kind for finding in here.findings}
        for way in self.trials.larger:
            for trial in way:
                seen = trial(text)
                if seen is None or {finding.kind for finding in seen.findings} - known:
                    break
                if _is_disordered(seen) or seen.issued >= GROWTH * here.issued:
                    return trial, seen
                if seen.issued > kept[1].issued:
                    kept = trial, seen
            if kept[0] is not None:
                break
        return kept


def gravity(finding: Diagnostic) -> tuple[bool, bool]:
    """Smaller for what may be behind others: what is out of order reads what nothing has written yet."""
    return finding.severity != "error", finding.kind not in ORDER


def is_remark(finding: Diagnostic) -> bool:
    """Whether a text may keep it: a warning that has nothing to do with order."""
    return finding.severity == "warning" and finding.kind not in ORDER


def _is_disordered(observation: Observation) -> bool:
    return any(finding.kind in ORDER for finding in observation.findings)
