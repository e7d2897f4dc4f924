"""Explanations of findings as text for a terminal and as a section of a page."""

from __future__ import annotations

from textwrap import fill, indent

from ptosim.sanitize.explain import Explanation, explanation, kinds

WIDTH = 100


def terminal(explanation: Explanation) -> str:
    """What `ptosim explain` prints."""
    parts = [
        f"{explanation.kind} ({explanation.severity})",
        _paragraphs(explanation.says),
        f"A kernel that has it ({_command(explanation, explanation.arguments)}):",
        indent(explanation.kernel.rstrip(), "    "),
        _paragraphs(explanation.repair),
        indent(_repair(explanation), "    "),
    ]
    return "\n\n".join(parts)


def listing() -> str:
    """All kinds, with the first sentence about each."""
    rows = [(kind, explanation(kind)) for kind in kinds()]
    return "\n".join(f"{kind:<20} {each.severity:<8} {each.says.split('. ')[0].rstrip('.')}" for kind, each in rows)


def section(explanation: Explanation, said: str) -> str:
    """A section of a Markdown page; `said` is what the check says about the kernel."""
    return "\n\n".join(
        (
            f"## {explanation.kind}",
            explanation.says,
            f"```mlir\n{explanation.kernel.rstrip()}\n```",
            f"```\n$ {_command(explanation, explanation.arguments)}\n{said}\n```",
            explanation.repair,
            f"```{'diff' if explanation.changes else ''}\n{_repair(explanation)}\n```",
        )
    )


def _command(explanation: Explanation, arguments: tuple[str, ...]) -> str:
    ranks = () if explanation.ranks is None else ("--ranks", str(explanation.ranks))
    return " ".join(("ptosim check", explanation.file, *arguments, *ranks))


def _repair(explanation: Explanation) -> str:
    """The changed lines, or the command with other arguments."""
    return explanation.changes or f"$ {_command(explanation, explanation.repaired_arguments)}"


def _paragraphs(text: str) -> str:
    return "\n\n".join(fill(paragraph, WIDTH) for paragraph in text.split("\n\n"))
