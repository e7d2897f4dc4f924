"""The value of `ptosim.check`: the findings of one run, and their forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from ptosim.diagnostics import Finding, authored, once_a_line
from ptosim.report.envelope import ReportSubject, envelope
from ptosim.report.fix import Fix
from ptosim.report.sarif import sarif


@dataclass(frozen=True)
class CheckReport:
    """The findings of a check: errors, then warnings."""

    findings: tuple[Finding, ...]
    kernel: str = ""
    omitted: int = 0
    """Findings beyond max_findings."""
    mend: Callable[[], Fix] | None = field(default=None, compare=False, repr=False)
    """Looks for a repair."""
    look: Callable[[], Sequence[Finding]] | None = field(default=None, compare=False, repr=False)
    """Finds the notes."""
    subject: ReportSubject = field(default=ReportSubject(), compare=False, repr=False)
    """The checked file."""

    @cached_property
    def notes(self) -> tuple[Finding, ...]:
        """Findings that are wrong only if not meant: printed last, and never counted. Looked for when first asked
        for."""
        return tuple(self.look()) if self.look is not None else ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "findings", once_a_line(map(authored, self.findings)))

    @property
    def ok(self) -> bool:
        """No finding is an error."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    def _repr_html_(self) -> str:
        """For a notebook: the text, readable without a script."""
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        return "\n".join([*map(str, (*self.findings, *self.notes)), self.summary])

    def __repr__(self) -> str:
        return str(self)  # what a notebook shows, and pytest for `assert report.ok, report`

    def __dir__(self) -> list[str]:
        """The public names."""
        counted = ["errors", "findings", "notes", "ok", "omitted", "summary", "warnings"]
        return [*counted, "fix", "kernel", "to_json", "to_sarif"]

    @property
    def summary(self) -> str:
        """The last line of the text."""
        counts = [_counted(len(self.errors), "error"), _counted(len(self.warnings), "warning")]
        said = ", ".join(filter(None, counts)) or "no findings"
        more = f" ({self.omitted} more not shown)" if self.omitted else ""
        return f"{self.kernel}: {said}{more}" if self.kernel else f"{said}{more}"

    def to_json(self) -> dict[str, Any]:
        """Plain data: the object that `ptosim check --json` prints."""
        return envelope("check", self.subject, self.ok, self.findings, self.notes, self.result)

    @property
    def result(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "clean": not self.findings,
            "errors": len(self.errors),
            "warnings": len(self.warnings),
            "notes": len(self.notes),
            "omitted": self.omitted,
        }

    def fix(self) -> Fix:
        """The kernel with the least edits that remove the findings: `.diff`, `.text`, `.verified`. Where the findings
        have no hints it is looked for once more, for longer, with the arguments as they are now."""
        return self.mend() if self.mend is not None else Fix("", "", "", verified=not self.findings)

    def to_sarif(self) -> dict[str, Any]:
        """Plain data in the SARIF 2.1.0 format, which editors and code hosts read."""
        return sarif((*self.findings, *self.notes))


def report(
    kernel: str,
    findings: Sequence[Finding],
    most: int | None = None,
    mend: Callable[[], Fix] | None = None,
    look: Callable[[], Sequence[Finding]] | None = None,
) -> CheckReport:
    """The report of findings, the gravest first: what a limit leaves out cannot make a kernel look clean."""
    kept = tuple(findings[:most])
    return CheckReport(kept, kernel, len(findings) - len(kept), mend, look)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}" if count else ""
