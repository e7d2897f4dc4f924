"""Explanations of findings as text for a terminal and as a section of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import fill, indent

from ptosim.sanitize.explain import Explanation, explanation, kinds

WIDTH = 100


def terminal(explanation: Explanation) -> str:
    """The text of `ptosim explain`."""
    return "\n\n".join((f"{explanation.kind} ({explanation.severity})", *_told(explanation)))


def _told(explanation: Explanation) -> Iterator[str]:
    yield _paragraphs(explanation.says)
    yield f"A kernel that has it ({_command(explanation, explanation.arguments)}):"
    yield indent(explanation.kernel.rstrip(), "    ")
    yield _paragraphs(explanation.repair)
    yield indent(_repair(explanation), "    ")
    if explanation.between_ranks is not None:
        yield from _told(explanation.between_ranks)


def listing() -> str:
    """All kinds, with the first sentence about each."""
    rows = [(kind, explanation(kind)) for kind in kinds()]
    return "\n".join(f"{kind:<20} {each.severity:<8} {each.says.split('. ')[0].rstrip('.')}" for kind, each in rows)


def section(explanation: Explanation, said: Callable[[Explanation], str]) -> str:
    """A section of a Markdown page; `said` gives what the check says about a kernel."""
    return "\n\n".join((f"## {explanation.kind}", *_shown(explanation, said)))


def _shown(explanation: Explanation, said: Callable[[Explanation], str]) -> Iterator[str]:
    yield explanation.says
    yield f"```mlir\n{explanation.kernel.rstrip()}\n```"
    yield f"```\n$ {_command(explanation, explanation.arguments)}\n{said(explanation)}\n```"
    yield explanation.repair
    yield f"```{'diff' if explanation.changes else ''}\n{_repair(explanation)}\n```"
    if explanation.between_ranks is not None:
        yield from _shown(explanation.between_ranks, said)


def _command(explanation: Explanation, arguments: tuple[str, ...]) -> str:
    ranks = () if explanation.ranks is None else ("--ranks", str(explanation.ranks))
    return " ".join(("ptosim check", explanation.file, *arguments, *ranks))


def _repair(explanation: Explanation) -> str:
    """The changed lines, or the command with other arguments."""
    return explanation.changes or f"$ {_command(explanation, explanation.repaired_arguments)}"


def _paragraphs(text: str) -> str:
    return "\n\n".join(fill(paragraph, WIDTH) for paragraph in text.split("\n\n"))
