"""Explanations of findings with their kernels in Python."""

from __future__ import annotations

from dataclasses import replace

from ptosim.diagnostics import PTOError
from ptosim.sanitize.explain import Explanation, explanation


def explained_in_python(kind: str) -> Explanation:
    """The explanation of a kind, its kernel on the surface of kernels in Python; in text where only a text has it."""
    from ptosim.author.python_form import in_python

    told = explanation(kind)
    try:
        kernel, repaired = in_python(told.kernel), in_python(told.repaired)
    except (PTOError, LookupError):
        return replace(told, says=f"{told.says}\n\nThe kernel is shown as text: Python has no form of this mistake.")
    name = kind.replace("-", "_")
    return replace(told, kernel=kernel, repaired=repaired, file=f"{kind}.py:{name}", between_ranks=None)
