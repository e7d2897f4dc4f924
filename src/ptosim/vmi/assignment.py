"""The choice of layouts. Bits never depend on them, so the least cost decides."""

from __future__ import annotations

from ptosim.language.structure.function import Function
from ptosim.vmi.values import LogicalValues


def assigned(function: Function) -> LogicalValues:
    """The values of a function with their layouts."""
    return LogicalValues({}, {})
