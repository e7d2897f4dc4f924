"""Values of words in GM under other schedules: a wait without end in another schedule, and answers or counts of looks
that differ there and decide something.

It is judged at the end, when all writes of a word are known. Of a wait, all count that do not come after it: should the
word be otherwise once they have been made, the wait stands for ever where it comes too late. A test might have been
asked with any of them there.
"""

from __future__ import annotations

from collections import Counter

from ptosim.diagnostics import Severity
from ptosim.effects.sim_signal import OPPOSITES
from ptosim.language.analysis.word_answers import WordUses
from ptosim.language.micro.sim_signal import SimTestWords
from ptosim.machine.entry import Entry, Site
from ptosim.machine.signal import Passed, SignalWords
from ptosim.machine.tracking import diagnostic_at
from ptosim.machine.word_history import WordWrite
from ptosim.sanitize.conflict import Findings
from ptosim.sanitize.program import WrittenProgram

KEPT = 16
"""Answers of one test that are remembered."""


class WordValues:
    """Collects tests while a run goes on, and says at its end what is wrong."""

    def __init__(self, findings: Findings, program: WrittenProgram) -> None:
        self.findings = findings
        self.program = program
        self._asked: Counter[Site] = Counter()

    def asked(self, entry: Entry) -> None:
        """A test has answered no."""
        op = self.program.executed(entry.site)
        if not isinstance(op, SimTestWords) or entry.watched is None or self._asked[entry.site] >= KEPT:
            return
        uses = self.program.uses(entry.site)
        if uses.branch or uses.data:
            self._asked[entry.site] += 1
            entry.core.signals.learn(entry, entry.watched, entry.clock or {})

    def conclude(self, signals: SignalWords) -> None:
        answers: dict[int, list[Passed]] = {}
        for passed in (passed for waits in signals.passed.values() for passed in waits):
            answers.setdefault(id(passed.entry), []).append(passed)
        for words in answers.values():
            entry = words[0].entry
            op = self.program.executed(entry.site)
            is_test = isinstance(op, SimTestWords)
            if is_test or self.program.gives_up(entry.site):
                self._answered(entry, words, self.program.uses(entry.site), is_test)
            else:
                self._waited(entry, words)
            self._counted(entry, words)

    def _waited(self, entry: Entry, words: list[Passed]) -> None:
        """A wait, which must be satisfied also where it comes last."""
        for passed in words:
            watched, outlook = passed.watched, passed.outlook
            if not outlook.may_end_as(OPPOSITES[watched.comparison], watched.value):
                continue
            other = self._turning(passed)
            if watched.comparison == "eq" and other is not None and other.adds:
                continue  # a signal-overrun
            message = (
                f"{_named(entry, passed.address)} {watched} holds now and may no longer hold when the wait comes: in "
                "another order it stands for ever"
            )
            self._say(entry, "unmatched-wait", message, "error", other, "this may come first")

    def _answered(self, entry: Entry, words: list[Passed], uses: WordUses, is_test: bool) -> None:
        """A test, or the last look of a loop that gives up, by which the program goes."""
        used = uses.branch or (uses.data if is_test else None)
        if used is None or not self._may_be_otherwise(words):
            return
        severity: Severity = "error" if is_test and uses.data else "warning"
        what = "the answer" if is_test else "whether the loop gives up"
        does = "decides a branch" if severity == "warning" else "is used"
        message = f"{what} depends on the schedule and {does}: {_named(entry, words[0].address)} is written in no order"
        other = next(filter(None, map(self._turning, words)), None)
        self._say(entry, "race", message, severity, other, "this may come before or after")

    def _counted(self, entry: Entry, words: list[Passed]) -> None:
        """The number of looks of a loop, where that is used."""
        uses = self.program.uses(entry.site)
        if uses.count is None or not words[0].holds or not self._may_be_otherwise(words):
            return
        message = (
            f"how often the loop looks at {_named(entry, words[0].address)} depends on the schedule, and it is used: "
            "the word is written in no order"
        )
        self._say(entry, "race", message, "error", self._turning(words[0]), "this may come before or after")

    def _may_be_otherwise(self, words: list[Passed]) -> bool:
        def may_be(passed: Passed, comparison: str) -> bool:
            return passed.outlook.may_be(comparison, passed.watched.value)

        if all(passed.holds for passed in words):
            return any(may_be(passed, OPPOSITES[passed.watched.comparison]) for passed in words)
        return all(may_be(passed, passed.watched.comparison) for passed in words if not passed.holds)

    def _turning(self, passed: Passed) -> WordWrite | None:
        """A write in no order with a wait, to name it."""
        return next(iter(passed.outlook.unknown), None)

    def _say(
        self, entry: Entry, kind: str, message: str, severity: Severity, other: WordWrite | None, role: str
    ) -> None:
        related = [(other.entry, role)] if other is not None else []
        self.findings.diagnostic(diagnostic_at(entry, kind, message, tuple(related), severity))


def _named(entry: Entry, address: int) -> str:
    return entry.core.regions.word(address)
