"""Preconditions in this engine: before an instruction, compiled code tests what the record demands of its operands.

What depends on operands that the lowering does not take (streams, cache hints) has no effect and is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptosim.effects.requirement import Requirements
from ptosim.native.build.core import Core


def demand(core: Core, requirements: Requirements, operands: Mapping[str, Any]) -> None:
    """Values by role are what they must be, otherwise the run ends before they are used."""
    for requirement in requirements:
        for place, value, broken in requirement.judged(operands):
            core.fail(broken, requirement.kind, requirement.message(place), value)
    if not core.origin.scope:
        core.f.settle()
