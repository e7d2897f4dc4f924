"""What the sanitizer has found about two accesses (or about one and the lack of another), until it is put into words.

Each pair of source lines is kept once, with the first occurrence and a count. A conflict of a by-use load is a mere
suspicion until the loaded value is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from ptosim.diagnostics import Diagnostic, Severity
from ptosim.effects.names import Pipe
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, Site

Verb = Literal["reads", "writes", "updates"]
Use = Literal["global", "scalar", "mask", "address", "condition", "operand"]


@dataclass(frozen=True, eq=False)
class Party:
    """One side of a conflict."""

    site: Site
    pipe: Pipe
    verb: Verb
    role: str
    """The core inside its cluster: aic, aiv0, aiv1."""
    block: int


def party(entry: Entry, site: Site, verb: Verb) -> Party:
    return Party(site, entry.pipe, verb, entry.core.role, entry.core.block)


@dataclass(frozen=True)
class Place:
    """Bytes of a memory, as they are called in messages."""

    memory: str
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.memory}[{self.low}:{self.high}]"


@dataclass(eq=False)
class Conflict:
    """A race, an alias inside a scope, or an undefined value; `second` is where it shows."""

    kind: str
    severity: Severity
    second: Party
    place: Place
    core: Core
    loops: tuple[int, ...]
    first: Party | None = None
    equal: bool = False
    """The writes in no order store equal bytes."""
    use: tuple[Use, Site] | None = None
    """What made the loaded value count."""
    count: int = 0
    also: list[Conflict] = field(default_factory=list["Conflict"])
    """The first occurrence of each other relation in which the same two lines race."""

    def used(self, use: Use, site: Site, severity: Severity) -> Conflict:
        """The suspicion, confirmed by a use of the value."""
        return replace(self, use=(use, site), severity=severity, also=[])

    @property
    def key(self) -> tuple[object, ...]:
        """The two source lines, the earlier access first."""
        return (self.kind, self.first and self.first.site.location, self.second.site.location)

    @property
    def relation(self) -> str:
        """Where the missing edge is."""
        first, second = self.first, self.second
        if first is None or (first.role, first.block) == (second.role, second.block):
            return "inside a core"
        return "between cores" if first.block == second.block else "between blocks"

    def joined(self, other: Conflict) -> Conflict:
        """This conflict and a later one of the same lines as one: the graver leads, and tells of other relations."""
        leading, following = (other, self) if other.severity == "error" and self.severity != "error" else (self, other)
        leading.count = self.count + other.count
        for each in (following, *following.also):
            if each.relation not in {known.relation for known in (leading, *leading.also)}:
                leading.also.append(each)
        return leading


@dataclass
class Findings:
    """Everything found so far, in the order of first occurrence."""

    found: dict[tuple[object, ...], Conflict | Diagnostic] = field(
        default_factory=dict[tuple[object, ...], "Conflict | Diagnostic"]
    )

    def conflict(self, conflict: Conflict) -> None:
        """One more occurrence."""
        conflict.count = conflict.count or 1
        known = self.found.get(conflict.key)
        self.found[conflict.key] = known.joined(conflict) if isinstance(known, Conflict) else conflict

    def add(self, others: Findings) -> None:
        """The conflicts of another run."""
        for conflict in others:
            if isinstance(conflict, Conflict):
                self.conflict(conflict)

    def diagnostic(self, diagnostic: Diagnostic) -> None:
        """One more occurrence of something that is already in words."""
        others = tuple(other.location for other in diagnostic.related)
        key = (diagnostic.kind, diagnostic.location, others, diagnostic.message if not diagnostic.location else "")
        known = self.found.get(key)
        if isinstance(known, Diagnostic):
            self.found[key] = replace(known, count=known.count + diagnostic.count)
        else:
            self.found[key] = diagnostic

    def __iter__(self) -> Iterator[Conflict | Diagnostic]:
        return iter(self.found.values())
