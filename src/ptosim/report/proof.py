"""The value of `ptosim.prove`: a proof of order, or the entries that stand in its way, and its forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from ptosim.diagnostics import Finding, authored
from ptosim.report.envelope import ReportSubject, envelope


@dataclass(frozen=True)
class Proof:
    """Whether a kernel is in order for every number of iterations, every branch and every grid."""

    kernel: str
    findings: tuple[Finding, ...]
    """The errors for some number of iterations."""
    undecided: tuple[Finding, ...]
    """The parts that the analysis could not decide."""
    assumptions: tuple[str, ...]
    confirmed: bool | None = None
    """Whether a check with the given arguments shows the counterexample; None where it was not run."""
    subject: ReportSubject = field(default=ReportSubject(), compare=False, repr=False)
    """The judged file."""

    recorded: str | None = None
    """The launch that was recorded; what holds for it holds for no other."""
    explanation: tuple[str, ...] = ()
    """The reasoning: how loops and branches were followed, and what would let an undecided kernel be decided."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "findings", tuple(map(authored, self.findings)))
        object.__setattr__(self, "undecided", tuple(map(authored, self.undecided)))

    @property
    def proven(self) -> bool:
        return not self.findings and not self.undecided and self.recorded is None

    @property
    def counterexample(self) -> Finding | None:
        """Two lines out of order, with the least number of iterations that shows it."""
        return self.findings[0] if self.findings else None

    @property
    def summary(self) -> str:
        """The last lines of the text."""
        assuming = "".join(f"\n  assuming that {assumption}" for assumption in self.assumptions)
        if self.proven:
            return f"{self.kernel}: race-free and balanced for every number of iterations, branch and grid{assuming}"
        if not self.findings and not self.undecided:
            return f"{self.kernel}: in order for the recorded launch ({self.recorded}){assuming}"
        if self.findings:
            words = {None: "replayed", True: "confirmed by check", False: "not shown by these arguments"}
            return f"{self.kernel}: not in order ({words[self.confirmed]})"
        return f"{self.kernel}: undecided{assuming}"

    def _repr_html_(self) -> str:
        """For a notebook: the text, readable without a script."""
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        told = (f"  {sentence}" for sentence in self.explanation)
        return "\n".join([*map(str, (*self.findings, *self.undecided)), self.summary, *told])

    def __repr__(self) -> str:
        return str(self)

    def to_json(self) -> dict[str, Any]:
        """Plain data: the object that `ptosim prove --json` prints; what is undecided stands behind the findings."""
        return envelope("prove", self.subject, self.proven, (*self.findings, *self.undecided), (), self.result)

    @property
    def result(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "verdict": "proven" if self.proven else "not in order" if self.findings else "undecided",
            "confirmed": self.confirmed,
            "assumptions": list(self.assumptions),
            "undecided": len(self.undecided),
            **({"explanation": list(self.explanation)} if self.explanation else {}),
        }
