"""Conditions that only the run can know: `check` reports them where they do not hold."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from ptosim.diagnostics import Severity
from ptosim.language.builder import Builder, Number


def require(
    build: Builder,
    condition: SSAValue,
    kind: str,
    message: str,
    fatal: bool = False,
    severity: Severity | None = None,
    shown: Sequence[Number] = (),
) -> None:
    """Say that a condition should hold. A fatal one ends a run as well: going on could touch bytes of others. The
    numbers that are shown fill the `{}` of the message."""
    values, mark = [build.index(number) for number in shown], UnitAttr() if fatal else None
    build.sim_require(condition=condition, values=values, kind=kind, message=message, severity=severity, fatal=mark)
