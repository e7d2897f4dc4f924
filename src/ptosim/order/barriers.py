"""The plainest order there is: every entry has ended before the next one starts."""

from __future__ import annotations

from ptosim.language.load import VerifiedModule
from ptosim.order.automatic import unordered
from ptosim.order.emit import EmitTarget
from ptosim.order.read_program import SIGNALS, is_entry


def between_entries(module: VerifiedModule) -> VerifiedModule:
    """Put a barrier of all pipes behind every entry, and behind every store of the scalar unit."""
    for function, _ in unordered(module, "insert"):
        target = EmitTarget(module, function)
        for op in [op for op in function.walk() if is_entry(op) and op.name not in SIGNALS]:
            target.beside(op, op, behind=True).barrier(pipe="PIPE_ALL")
    return module
