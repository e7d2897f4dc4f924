"""What only the run can know: a condition that `check` reports where it does not hold."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from ptosim.language.build import Builder


def require(build: Builder, condition: SSAValue, kind: str, message: str, fatal: bool = False) -> None:
    """Say that a condition should hold. A fatal one ends a run as well: going on could touch bytes of others."""
    build.sim_require(condition=condition, kind=kind, message=message, fatal=UnitAttr() if fatal else None)
