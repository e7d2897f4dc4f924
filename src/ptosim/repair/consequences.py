"""Consequences of a finding: listed inside it, with one repair for all.

A repair shows it: whatever goes away with the edits for a finding followed from it. Where none is known, flags between
two pipes that are set and not waited for go with the race between these pipes: it is the same wait that is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ptosim.diagnostics import Diagnostic
from ptosim.language.edits import EditWriter
from ptosim.repair.proposal import Proposal
from ptosim.repair.proposals import Proposals
from ptosim.repair.search import RepairStep
from ptosim.repair.trials import Identity, gravity, identity
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.observation import Observation

HERE_ONLY = "the hint was tried at this size only: no larger one was found that the kernel admits"
LOST = frozenset(("undrained", "double-set"))
MEANT = "or, if they are meant to share these bytes:"


def mended(
    observation: Observation, steps: Sequence[RepairStep], proposals: Proposals, is_here_only: bool
) -> list[Diagnostic]:
    """The findings with the hints of a repair, each edit told once. That buffers overlap is said before any edit."""
    named: dict[Identity, list[int]] = {}
    writer = observation.program.module.parsed.writer
    for number, finding in enumerate(observation.findings):
        named.setdefault(identity(finding), []).append(number)
    removed_by = {name: step for step in steps for name in step.removed}
    result: list[Diagnostic] = []
    told: dict[Proposal, Diagnostic] = {}
    for name, numbers in named.items():
        step = removed_by.get(name)
        if step is None:
            result += (observation.findings[number] for number in numbers)
            continue
        removed = [number for other in named if other in step.removed for number in named[other]]
        removed.sort(key=lambda number: gravity(observation.findings[number]))
        beside = [number for number in removed[1:] if _stands_alone(observation.findings[number])]
        if numbers[0] == removed[0]:
            consequences = tuple(observation.findings[number] for number in removed[1:] if number not in beside)
            leading = observation.findings[numbers[0]]
            notes = (*leading.notes, *((HERE_ONLY,) if is_here_only else ()))
            first = told.setdefault(step.proposal, leading)
            hint, edits = f"the edits for the {first.kind} at line {first.line} repair this as well", ()
            if first is leading:
                hint = _hint(observation.found[numbers[0]], step, proposals, writer)
                edits = writer.replacements(step.proposal.edits)
            result.append(replace(leading, hint=hint, notes=notes, consequences=consequences, edits=edits))
        result += (
            replace(observation.findings[each], hint=step.proposal.told(writer)) for each in numbers if each in beside
        )
    return result


def _hint(found: Conflict | Diagnostic, step: RepairStep, proposals: Proposals, writer: EditWriter) -> str:
    overlap = proposals.overlap(found) if isinstance(found, Conflict) else None
    hint = step.proposal.told(writer)
    return f"{overlap},\n{MEANT}\n{hint}" if overlap else hint


def _stands_alone(finding: Diagnostic) -> bool:
    """Two accesses without a fence do not follow from two others, even where one fence would do for all."""
    return finding.kind == "scope-alias"


def unmended(observation: Observation, proposals: Proposals) -> list[Diagnostic]:
    """The findings where no repair is known, with advice in words."""
    found, findings = observation.found, observation.findings
    lost = {(each.site.location, (each.key.source, each.key.destination)) for each in observation.imbalances}
    following: set[int] = set()
    races: dict[int, Diagnostic] = {}
    for number, each in enumerate(found):
        if not isinstance(each, Conflict) or each.kind != "race":
            continue
        follows = [
            other
            for other, finding in enumerate(findings)
            if finding.kind in LOST and (finding.location, _ends(each)) in lost and other not in following
        ]
        following.update(follows)
        consequences = tuple(findings[other] for other in follows)
        races[number] = replace(findings[number], hint=_advice(each, proposals), consequences=consequences)
    return [races.get(number, each) for number, each in enumerate(findings) if number not in following]


def _ends(conflict: Conflict) -> tuple[str, str] | None:
    """Between which pipes, or cores, an edge is missing."""
    first, second = conflict.first, conflict.second
    if first is None:
        return None
    return (first.role, second.role) if first.role != second.role else (first.pipe, second.pipe)


def _advice(conflict: Conflict, proposals: Proposals) -> str | None:
    said = [proposals.overlap(conflict), *map(proposals.advice, (conflict, *conflict.also))]
    return "\n".join(filter(None, said)) or None
