"""The plainest order there is: every entry has ended before the next one starts."""

from __future__ import annotations

from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.names import Pipe
from ptosim.language.build import Builder, Place, head_of
from ptosim.language.function import Function
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import enclosing_scope, is_scope
from ptosim.language.pointer import StDev, StoreScalar
from ptosim.order.automatic import unordered


def between_entries(module: VerifiedModule) -> VerifiedModule:
    """Put a barrier of all pipes behind every entry, and behind every store of the scalar unit."""
    for function in unordered(module, "insert"):
        head = head_of(function.body.block)
        for op in _entries(function):
            block = op.parent_block()
            assert block is not None
            Builder(module.parsed, Place(block, op.next_op), head, serves=op).barrier(pipe="PIPE_ALL")
    return module


def _entries(function: Function) -> list[Operation]:
    return [op for op in function.walk() if enclosing_scope(op) is None and _needs_order(op)]


def _needs_order(op: Operation) -> bool:
    if is_scope(op):
        return True
    record = effects().get(op.name)
    return record is not None and (record.pipe is not Pipe.S or _stores(op))


def _stores(op: Operation) -> bool:
    return isinstance(op, StoreScalar | StDev)
