"""The data cache of workitems: it takes the top of UB in kernels whose workitems access GM."""

from __future__ import annotations

from collections.abc import Iterable

from ptosim.effects.catalogue import effects
from ptosim.effects.names import Space
from ptosim.language.analysis.static_values import static_of
from ptosim.language.operation import PTOOperation
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.structure.function import Function, reached

USER_ROOM = 221_184
"""Bytes of UB that are left where workitems access GM: the rest is a reserve and the cache."""


def shares_ub(entries: Iterable[Function]) -> bool:
    """Whether the workitems of a kernel access GM, so that their data cache takes a part of UB."""
    bodies = [op.function for op in reached(*entries) if isinstance(op, SimtLaunch) and op.function is not None]
    return any(
        access.space is Space.GM
        for op in reached(*bodies)
        if isinstance(op, PTOOperation) and (record := effects().get(op.name)) is not None
        for access in record.accesses(static_of(op, "a5"))
    )
