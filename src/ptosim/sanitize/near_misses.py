"""Flags that come near to what is missing: with another id, the other way round, or held by another pipe.

They are told in notes of the finding. What to do about it is for `repair/` to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from xdsl.ir import Operation

from ptosim.diagnostics import Diagnostic
from ptosim.effects.sync import signalling
from ptosim.language.operation import PTOOperation
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.observation import Imbalance
from ptosim.sanitize.program import WrittenProgram

SETS, WAITS = signalling("flag", half="set"), signalling("flag", half="wait")


@dataclass(frozen=True)
class _Flag:
    line: int
    is_set: bool
    ends: tuple[str, str]
    """The pipe that sets and the pipe that waits."""
    id: str
    """Empty where it is computed."""


class NearMisses:
    """The flags of one program."""

    def __init__(self, program: WrittenProgram, imbalances: Iterable[Imbalance]) -> None:
        self.program = program
        self.waiting = {each.site.location: each.key for each in imbalances if each.key.mechanism == "flag"}

    def told(self, found: Conflict | Diagnostic, words: Diagnostic) -> Diagnostic:
        """A finding with what comes near."""
        notes: list[str] = []
        if isinstance(found, Conflict):
            notes += self._held_elsewhere(found)
        elif found.kind == "unmatched-wait":
            notes += self._set_elsewhere(found)
        return replace(words, notes=(*words.notes, *notes)) if notes else words

    def _held_elsewhere(self, conflict: Conflict) -> Iterator[str]:
        """A wait between the two accesses that holds another pipe than the later one."""
        first, second = conflict.first, conflict.second
        if (
            conflict.kind != "race"
            or first is None
            or conflict.relation != "inside a core"
            or first.pipe is second.pipe
        ):
            return
        low, high = (site.location.line if site.location else 0 for site in (first.site, second.site))
        between = [flag for flag in self._flags() if not flag.is_set and low < flag.line < high]
        if any(flag.ends == (first.pipe, second.pipe) for flag in between):
            return
        for flag in between:
            source, destination = flag.ends
            if source == first.pipe:
                yield f"the wait in line {self._shown(flag)} holds {destination}, the access is on {second.pipe}"

    def _set_elsewhere(self, finding: Diagnostic) -> Iterator[str]:
        """Sets without a wait that differ from a wait by their id or direction."""
        key = self.waiting.get(finding.location)
        if key is None:
            return
        flags = list(self._flags())
        waited = {(flag.ends, flag.id) for flag in flags if not flag.is_set}
        for flag in flags:
            if not flag.is_set or not flag.id or (flag.ends, flag.id) in waited:
                continue
            if flag.ends == (key.source, key.destination):
                ends = f"{key.source} -> {key.destination}"
                yield f"line {self._shown(flag)} sets {ends} id {flag.id}, which nothing waits for"
            elif flag.ends == (key.destination, key.source):
                yield f"line {self._shown(flag)} sets a flag the other way round, {key.destination} -> {key.source}"

    def _shown(self, flag: _Flag) -> int:
        return self.program.source.shown(flag.line).line

    def _flags(self) -> Iterator[_Flag]:
        for op in self.program.operations():
            if isinstance(op, PTOOperation) and op.name in SETS | WAITS:
                id_ = (op.word("event") or "").removeprefix("EVENT_ID")
                yield _Flag(self.program.first_line(op), op.name in SETS, flag_ends(op), id_)


def flag_ends(op: Operation) -> tuple[str, str]:
    """The two pipes of a flag."""
    assert isinstance(op, PTOOperation)
    source, destination = ((op.word(role) or "").removeprefix("PIPE_") for role in ("source", "destination"))
    return source, destination
