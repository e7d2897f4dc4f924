"""Room in a memory that no tile of a function covers, for what an operation keeps to itself between its instructions.

All operations of a function share it: each orders its own instructions by private tokens, from its first to its last.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Operation, SSAValue

from ptosim.effects.names import Space
from ptosim.language.builder import Builder, known
from ptosim.language.structure.function import Function
from ptosim.language.tile.tile_view import Allocation
from ptosim.target import load_target
from ptosim.tiles.refusal import Refused

_ALIGNMENT = 4096


def private(build: Builder, target: str, space: Space, size: int) -> SSAValue:
    """The address of so many bytes behind the last tile of a memory."""
    end, capacity = 0, load_target(target).memory[space]
    for op in _function(build.serves).walk():
        if isinstance(op, Allocation) and op.tile.space is space and op.addr is not None:
            address = known(op.addr)
            end = capacity if address is None else max(end, address + (op.slots - 1) * op.pitch + op.tile.size)
    start = -(-end // _ALIGNMENT) * _ALIGNMENT
    if start + size > capacity:
        raise Refused(f"this needs {size} bytes of {space} that no tile has, but there are none", kind="limit")
    return build.constant(start, i64)


def _function(op: Operation) -> Function:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, Function):
        parent = parent.parent_op()
    assert parent is not None, "operations on tiles stand in functions"
    return parent


def hand_over(build: Builder, source: str, dest: str, number: int = 0) -> None:
    """Lets the next entry of one pipe wait for earlier ones of another."""
    token = {
        "source": f"PIPE_{source}",
        "destination": f"PIPE_{dest}",
        "number": DenseArrayBase.from_list(i64, [number]),
    }
    build.op("pto.sim.set_token", **token)
    build.op("pto.sim.wait_token", **token)
