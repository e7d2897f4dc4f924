"""Barriers on machines that let dependent operations of one pipe overlap: V and M of a2a3.

No run of micro-instructions shows that such a barrier is missing, so no trial can tell; the analysis names the
operation that may start too early.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptosim.diagnostics import Diagnostic
from ptosim.language.edits import Edit, insert, whole_line
from ptosim.language.text.edited_text import edited

MOST = 8
"""The most times that barriers are added and the text is looked at again."""


def barrier(found: Diagnostic) -> Edit | None:
    """The line that holds an operation back until its pipe has ended what is before."""
    place = found.location
    if place is None or place.source is None:
        return None
    return insert("before", whole_line(place.source, place.line), f"pto.barrier #pto.pipe<PIPE_{found.pipe}>")


def held_back(text: str, early: Callable[[str], Sequence[Diagnostic]]) -> str:
    """A text with a barrier before every operation that may start too early: those that `early` names."""
    for _ in range(MOST):
        edits = dict.fromkeys(filter(None, map(barrier, early(text))))
        if not edits:
            break
        text = edited(text, edits).text
    return text
