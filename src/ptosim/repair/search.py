"""Finding a repair: proposals are tried one after the other until nothing is left to repair.

A repair is complete or there is none: with all its edits the text has no finding but remarks, at this size and at a
larger one. First comes whatever single line may be behind all findings, since most mistakes are one line. If it takes
more and only something is missing, each step of a repair takes the gravest finding that is left; what goes away with it
follows from it. Where written flags do not balance, order inserts what they should have been; and otherwise what no
steps lead to. The edits for the findings of a text may bring up others, of signals between cores, say, which order does
not insert: then the edited text is repaired in turn, and only the first step is told in the lines of the text as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain

from ptosim.diagnostics import Diagnostic
from ptosim.language.edits import Edit
from ptosim.language.text.edited_text import edited
from ptosim.order.replay.comparison import ReplayStanding
from ptosim.repair.free_ids import Taken
from ptosim.repair.from_order import drains, edits_between, ends_of, parted
from ptosim.repair.proposal import Proposal
from ptosim.repair.proposals import Proposals
from ptosim.repair.trials import ORDER, STOPPING, Identity, Rehearsal, gravity, identity, is_remark
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.observation import Observation

DEEPEST = 8
"""The most steps in turn."""
MEANT_OTHERWISE = frozenset(("id-range", "wrong-pipe"))
"""Kinds of findings about operands, which another pair would only do without."""
UNBALANCED = frozenset("deadlock unmatched-wait undrained semaphore-overflow buffer-misuse".split())
"""Kinds of findings that written synchronisation does not match: something is wrong with it, not only missing."""


@dataclass(frozen=True)
class RepairStep:
    """One proposal of a repair, and which findings go away with it."""

    proposal: Proposal
    removed: frozenset[Identity]


@dataclass(frozen=True)
class Repair:
    """The steps that can be told in the lines of a text, and the text that comes out of all steps."""

    steps: tuple[RepairStep, ...]
    text: str


@dataclass(frozen=True)
class Effort:
    """The most edited texts that are checked: with one line edited, with several, step by step."""

    lines: int
    steps: int
    longest: int = 10**6
    """The most edits of a repair from order."""


def repair(observation: Observation, rehearsal: Rehearsal, effort: Effort, lenient: bool = False) -> Repair | None:
    """None where no repair was found. `lenient`: what is not about order may stay."""
    search = _Search(observation, rehearsal, lenient)
    rehearsal.grant(effort.lines)
    found = search.by_one_line()
    if found is not None and search.stands(found.text):
        return found
    ways = (partial(search.step_by_step, effort.steps), partial(search.from_order, effort.longest))
    for way in reversed(ways) if search.is_unbalanced else ways:
        rehearsal.grant(effort.steps)
        other = way()
        if other is not None and search.stands(other.text):
            return other
        found = found or other
    if found is None and not search.is_unbalanced:
        rehearsal.grant(effort.steps)
        found = _in_turn(observation, rehearsal, DEEPEST)
    return found


class _Search:
    """Looks for a repair of one text by edits that its own findings propose."""

    def __init__(self, observation: Observation, rehearsal: Rehearsal, lenient: bool) -> None:
        self.text = observation.program.source.text
        self.findings = observation.findings
        self.observation = observation
        self.proposals = Proposals(observation)
        numbers = _serious(observation, self.proposals)
        numbers = [each for each in numbers if not lenient or observation.findings[each].kind in ORDER]
        serious = [identity(observation.findings[number]) for number in numbers]
        self.numbers: dict[Identity, int] = {}
        for number, each in enumerate(observation.findings):
            if each.location is not None or identity(each) in serious:  # others are about all blocks
                self.numbers.setdefault(identity(each), number)
        self.everything = frozenset(self.numbers)
        self.remarks = self.everything - frozenset(serious)
        remarks = frozenset(identity(each) for each in (self.findings[n] for n in numbers) if is_remark(each))
        self.asides = remarks if len(remarks) < len(serious) else frozenset[Identity]()
        """Remarks that an edit is known for, where there is more to repair."""
        self.said = {(each.kind, each.message) for each in self.findings if is_remark(each)}
        self.is_cut_short = any(finding.kind in STOPPING for finding in observation.findings)
        self.is_unbalanced = any(finding.kind in UNBALANCED for finding in observation.findings)
        self.rehearsal = rehearsal

    def by_one_line(self) -> Repair | None:
        """One line that was left out, written twice, wrongly or in the wrong place is behind all findings. One that is
        in order for these arguments alone, as a proof shows, or after which there are other remarks, must do where no
        other is found."""
        serious = self._in_order(self.everything)
        second: Repair | None = None
        for proposal in self.proposals.lines(self.numbers[serious[0]]) if serious else ():
            if self.rehearsal.is_spent:
                break
            now = self._left(proposal.edits, in_order=True)
            if now is None or not now <= self.remarks | self.asides:
                continue
            if not now <= self.remarks:  # what has nothing to do with it has a step of its own
                found = self._beyond((RepairStep(proposal, self.everything - now),), now)
                if found is not None and self.stands(found.text):
                    return found
                second = second or found
                continue
            text = edited(self.text, proposal.edits).text
            if self.rehearsal.holds(text):
                found = Repair((RepairStep(proposal, self.everything - self.remarks),), text)
                if self.stands(text) and not self._brings_remarks(proposal.edits):
                    return found
                second = second or found
        return second

    def stands(self, text: str) -> bool:
        """Whether nothing says that a text is still out of order elsewhere."""
        return self.rehearsal.standing(text) is not ReplayStanding.BETTER

    def from_order(self, longest: int) -> Repair | None:
        """The text with all that it lacks inserted: beside all that is written, or in place of the flags between the
        pipes of the findings, or of all flags and buffers."""
        completed = self.rehearsal.trials.completed
        if any(finding.kind in MEANT_OTHERWISE for finding in self.findings):
            return None
        for ends in dict.fromkeys(((), tuple(ends_of(self.observation)), None)):
            text = completed(ends) if completed is not None and not self.rehearsal.is_spent else None
            if text is None:
                continue
            whole = edits_between(self.observation.program, text)
            drained = [edit for edit in whole if drains(edit)]
            for number in range(len(drained) + 1):  # the last one stands before the return, wanted or not
                edits = tuple(edit for edit in whole if edit not in drained[number:])
                made = edited(self.text, edits).text
                now = self._left(edits, in_order=True)
                is_clean = now is not None and now <= self.remarks and self.rehearsal.holds(made)
                if is_clean and len(edits) <= longest and self.stands(made):
                    return Repair(self._between_pipes(edits), made)
        return None

    def _between_pipes(self, edits: tuple[Edit, ...]) -> tuple[RepairStep, ...]:
        """Edits that repair everything, as a step for each two pipes that race, the one behind the other, with the
        edits of their flags and barriers: a race of others does not follow from theirs. All may follow from written
        flags that do not balance."""
        removed: dict[tuple[str, str] | None, list[Identity]] = {}
        for each in self._in_order(self.everything):
            found, ends = self.observation.found[self.numbers[each]], next(iter(removed), None)
            if isinstance(found, Conflict) and found.first is not None and not self.is_unbalanced:
                ends = str(found.first.pipe), str(found.second.pipe)
            removed.setdefault(ends, []).append(each)
        parts, lacking = parted(edits, dict.fromkeys(ends and frozenset(ends) for ends in removed)), ""
        for each in map(self.observation.found.__getitem__, self.numbers.values()):
            if isinstance(each, Conflict) and any(map(drains, edits)):
                lacking = lacking or self.proposals.used_up(each)
        reason = lacking and f"{lacking}; "
        steps = ((parts[ends and frozenset(ends)], names) for ends, names in removed.items())
        return tuple(RepairStep(Proposal(part, reason), frozenset(names)) for part, names in steps)

    def step_by_step(self, most: int) -> Repair | None:
        """A proposal for the gravest finding that is left, again and again; more findings than trials all at once."""
        if len(self.everything - self.remarks) > most:
            return self._together()
        return self._beyond((), self.everything)

    def _beyond(self, steps: tuple[RepairStep, ...], left: frozenset[Identity]) -> Repair | None:
        """These steps, and those that are still missing; None where they lead nowhere."""
        edits = _edits(steps)
        serious = self._in_order(left)
        if not serious:
            return self._whole(steps)
        for proposal in self.proposals.propose(self.numbers[serious[0]], _taken(steps)):
            if self.rehearsal.is_spent:
                break
            now = self._left((*edits, *proposal.edits))
            if now is not None and now < left and serious[0] not in now:
                found = self._beyond((*steps, RepairStep(proposal, left - now)), now)
                if found is not None:
                    return found
        return None

    def _together(self) -> Repair | None:
        """The first proposals of all findings."""
        steps: list[RepairStep] = []
        for each in self._in_order(self.everything):
            proposal = next(iter(self.proposals.propose(self.numbers[each], _taken(steps))), None)
            if proposal is None:
                return None
            steps.append(RepairStep(proposal, frozenset({each})))
        now = self._left(_edits(steps), in_order=True)
        return self._whole(tuple(steps)) if now is not None and now <= self.remarks else None

    def _whole(self, steps: tuple[RepairStep, ...]) -> Repair | None:
        text = edited(self.text, _edits(steps)).text
        return Repair(steps, text) if steps and self.rehearsal.holds(text) else None

    def _in_order(self, left: frozenset[Identity]) -> list[Identity]:
        """Findings to repair, the gravest first."""
        numbers = sorted(self.numbers[each] for each in left - self.remarks)
        return [
            identity(self.findings[each]) for each in sorted(numbers, key=lambda each: gravity(self.findings[each]))
        ]

    def _left(self, edits: tuple[Edit, ...], in_order: bool = False) -> frozenset[Identity] | None:
        """Findings that are left. A run that was cut short did not come to remarks that were there all along, and a
        line in the words of others is remarked upon as they are."""
        shown = self._shown(edits, in_order)
        if shown is None:
            return None
        return frozenset(
            name
            for name, each in shown.items()
            if not (is_remark(each) and (self._did_not_show(name) or (each.kind, each.message) in self.said))
            or name in self.everything
        )

    def _brings_remarks(self, edits: tuple[Edit, ...]) -> bool:
        """Whether a check shows remarks that did not show. They may have been there all along; or a reader that waits
        for the wrong signal reads, in good order, what nothing has written."""
        return any(self._did_not_show(name) for name in self._shown(edits) or ())

    def _shown(self, edits: tuple[Edit, ...], in_order: bool = False) -> dict[Identity, Diagnostic] | None:
        text = edited(self.text, edits)
        seen = self.rehearsal.here(text.text, in_order)
        return None if seen is None else {identity(finding, text): finding for finding in seen.findings}

    def _did_not_show(self, name: Identity) -> bool:
        return self.is_cut_short and name not in self.everything


def _in_turn(observation: Observation, rehearsal: Rehearsal, depth: int) -> Repair | None:
    """The first step of a repair whose others are those of the texts that come out of it."""
    proposals, text = Proposals(observation), observation.program.source.text
    serious = _serious(observation, proposals)
    if not depth or not serious:
        return None
    leading = identity(observation.findings[serious[0]])
    for proposal in proposals.propose(serious[0], frozenset()):
        if rehearsal.is_spent:
            break
        after = edited(text, proposal.edits)
        seen = rehearsal.here(after.text)
        if seen is None or leading in {identity(finding, after) for finding in seen.findings}:
            continue
        step = (RepairStep(proposal, frozenset({leading})),)
        if _serious(seen, Proposals(seen)):
            rest = _in_turn(seen, rehearsal, depth - 1)
            if rest is not None:
                return Repair(step, rest.text)
        elif rehearsal.holds(after.text):
            return Repair(step, after.text)
    return None


def _serious(observation: Observation, proposals: Proposals) -> list[int]:
    """Findings that have to go: all but warnings that no edit is known for and that are not about order."""
    return [
        number
        for number, finding in enumerate(observation.findings)
        if not is_remark(finding) or next(iter(proposals.propose(number, frozenset())), None) is not None
    ]


def _edits(steps: Iterable[RepairStep]) -> tuple[Edit, ...]:
    """All edits, each once: two findings may ask for the same."""
    return tuple(dict.fromkeys(chain.from_iterable(step.proposal.edits for step in steps)))


def _taken(steps: Iterable[RepairStep]) -> Taken:
    return frozenset(chain.from_iterable(step.proposal.takes for step in steps))
