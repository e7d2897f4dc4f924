"""Finding a repair: proposals are tried one after the other until nothing is left to repair.

A repair is complete or there is none: with all its edits the text has no finding but remarks, at this size and at a
larger one. Each of its steps takes the gravest finding that is left; what goes away with it follows from it. If the
edits for the findings of a text are not enough, because they bring up others, the edited text is repaired in turn: then
only the first step can be told in the lines of the text as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

from ptosim.diagnostics import Diagnostic
from ptosim.sanitize.edit import Edit, Proposal, edited
from ptosim.sanitize.observation import Observation
from ptosim.sanitize.rehearsal import MOST, ORDER, Identity, Rehearsal, identity
from ptosim.sanitize.used import Taken

Propose = Callable[[int, Taken], Iterable[Proposal]]
"""What may repair a finding, by its number, without the ids that other edits have taken; the least edits first."""
Proposer = Callable[[Observation], Propose]

DEEPEST = 8
"""So many steps in turn."""
UNBALANCED = frozenset("deadlock unmatched-wait undrained semaphore-overflow buffer-misuse".split())
"""Kinds of findings that something is left over or missing that is written: no chain of further edges cures that."""


@dataclass(frozen=True)
class Step:
    """One proposal of a repair, and which findings go away with it."""

    proposal: Proposal
    removed: frozenset[Identity]


def repair(observation: Observation, proposer: Proposer, rehearsal: Rehearsal) -> tuple[Step, ...]:
    """The steps that can be told in the lines of this text; none where no repair was found."""
    found = _Search(observation, proposer(observation), rehearsal).at_once()
    is_unbalanced = any(finding.kind in UNBALANCED for finding in observation.findings)
    return found if found or is_unbalanced else _in_turn(observation, proposer, rehearsal, DEEPEST)


class _Search:
    """Looks for a repair of one text by edits that its own findings propose."""

    def __init__(self, observation: Observation, propose: Propose, rehearsal: Rehearsal) -> None:
        self.text = observation.program.source.text
        serious = [identity(observation.findings[number]) for number in _serious(observation, propose)]
        self.numbers: dict[Identity, int] = {}
        for number, each in enumerate(observation.findings):
            if each.location is not None or identity(each) in serious:  # others are about all blocks
                self.numbers.setdefault(identity(each), number)
        self.remarks = frozenset(self.numbers) - frozenset(serious)
        self.propose = propose
        self.rehearsal = rehearsal

    def at_once(self) -> tuple[Step, ...]:
        everything = frozenset(self.numbers)
        if len(everything - self.remarks) > MOST:
            return self._together(everything)
        return self._beyond((), everything) or ()

    def _beyond(self, steps: tuple[Step, ...], left: frozenset[Identity]) -> tuple[Step, ...] | None:
        """These steps, and those that are still missing; None where they lead nowhere."""
        edits = _edits(steps)
        serious = self._in_order(left)
        if not serious:
            return steps if steps and self.rehearsal.holds(edited(self.text, edits).text) else None
        for proposal in self.propose(self.numbers[serious[0]], _taken(steps)):
            now = self._left((*edits, *proposal.edits))
            if now is not None and now < left and serious[0] not in now:
                found = self._beyond((*steps, Step(proposal, left - now)), now)
                if found is not None:
                    return found
        return None

    def _together(self, everything: frozenset[Identity]) -> tuple[Step, ...]:
        """More findings than trials: the first proposals of all, tried at once."""
        steps: list[Step] = []
        for each in self._in_order(everything):
            proposal = next(iter(self.propose(self.numbers[each], _taken(steps))), None)
            if proposal is None:
                return ()
            steps.append(Step(proposal, frozenset({each})))
        now = self._left(_edits(steps))
        is_clean = now is not None and now <= self.remarks
        return tuple(steps) if is_clean and self.rehearsal.holds(edited(self.text, _edits(steps)).text) else ()

    def _in_order(self, left: frozenset[Identity]) -> list[Identity]:
        """What has to be repaired, the gravest first."""
        return sorted(left - self.remarks, key=self.numbers.__getitem__)

    def _left(self, edits: tuple[Edit, ...]) -> frozenset[Identity] | None:
        text = edited(self.text, edits)
        seen = self.rehearsal.here(text.text)
        return None if seen is None else frozenset(identity(finding, text) for finding in seen.findings)


def _in_turn(observation: Observation, proposer: Proposer, rehearsal: Rehearsal, depth: int) -> tuple[Step, ...]:
    """The first step of a repair whose others are those of the texts that come out of it."""
    propose, text = proposer(observation), observation.program.source.text
    serious = _serious(observation, propose)
    if not depth or not serious:
        return ()
    leading = identity(observation.findings[serious[0]])
    for proposal in propose(serious[0], frozenset()):
        after = edited(text, proposal.edits)
        seen = rehearsal.here(after.text)
        if seen is None or leading in {identity(finding, after) for finding in seen.findings}:
            continue
        is_done = not _serious(seen, proposer(seen))
        if rehearsal.holds(after.text) if is_done else _in_turn(seen, proposer, rehearsal, depth - 1):
            return (Step(proposal, frozenset({leading})),)
    return ()


def _serious(observation: Observation, propose: Propose) -> list[int]:
    """What has to go: all but warnings that no edit is known for and that are not about order."""
    return [
        number
        for number, finding in enumerate(observation.findings)
        if not _is_remark(finding) or next(iter(propose(number, frozenset())), None) is not None
    ]


def _is_remark(finding: Diagnostic) -> bool:
    return finding.severity == "warning" and finding.kind not in ORDER


def _edits(steps: Iterable[Step]) -> tuple[Edit, ...]:
    """All edits, each once: two findings may ask for the same."""
    return tuple(dict.fromkeys(chain.from_iterable(step.proposal.edits for step in steps)))


def _taken(steps: Iterable[Step]) -> Taken:
    return frozenset(chain.from_iterable(step.proposal.takes for step in steps))
