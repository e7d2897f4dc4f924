"""Findings on a terminal, in colour where it has any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ptosim.diagnostics import Finding

if TYPE_CHECKING:
    from ptosim.report.check_report import CheckReport

_COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def print_report(report: CheckReport, warnings: Sequence[Finding] = (), to_stderr: bool = False) -> None:
    """The findings behind what the verifier warned of, and a line that sums up both."""
    console = Console(stderr=to_stderr, soft_wrap=True, highlight=False)
    both = replace(report, findings=(*warnings, *report.findings))
    for finding in (*both.findings, *both.notes):
        console.print(painted(finding))
    console.print(Text(both.summary, style="bold red" if not both.ok else "bold green"))


def print_diagnostics(diagnostics: Sequence[Finding]) -> None:
    """On stderr: what keeps a command from doing its work."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for diagnostic in diagnostics:
        console.print(painted(diagnostic))


def painted(finding: Finding) -> Text:
    """A finding as it prints, with its parts told apart by colour."""
    colour = _COLOURS[finding.severity]
    first, *rest = str(finding).split("\n")
    text = Text(first)
    text.highlight_words([f"{finding.severity}:"], colour)
    for line in rest:
        text.append("\n")
        text.append_text(_painted_line(line, colour))
    return text


def _painted_line(line: str, colour: str) -> Text:
    number, bar, content = line.partition(" | ")
    if not bar:
        return Text(line, style="green" if line.lstrip().startswith("hint:") else "")
    marks = content.lstrip()
    text = Text(number + bar, style="blue")
    if not number.strip() and marks[:1] in ("^", "-"):
        return text.append(content, style=colour if marks[0] == "^" else "cyan")
    return text.append(content)
