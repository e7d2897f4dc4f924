"""Blocks of a grid in GM, told apart by closed forms: the number of the block counts the iterations of a loop around
the whole program, and nothing that one iteration writes is touched by another.
"""

from __future__ import annotations

from dataclasses import replace

from ptosim.effects.names import CoreKind, Space
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.system import GetBlockIdx
from ptosim.language.structure.function import Function, reached
from ptosim.order.conflict import distance
from ptosim.order.model import ByteRange, Opaque
from ptosim.order.read_program import Reader, serial_of
from ptosim.order.touches import range_key
from ptosim.order.values import Common

GRID = 0
"""The loop of the blocks: the first that is named."""
MOST_RANGES = 64
"""The most ranges of bytes that are compared, each with every one that is written."""


def are_apart(module: VerifiedModule, entries: dict[CoreKind, Function]) -> bool:
    """Whether no block of any grid touches bytes of GM that another one writes."""
    if not any(isinstance(op, GetBlockIdx) for op in reached(*entries.values())):
        return False
    blocks, touched = Common(), dict[tuple[object, ...], tuple[bool, ByteRange]]()
    for core, function in entries.items():
        block = blocks.iterations.get((GRID,))  # other loops of two programs may have one name
        blocks = replace(blocks, iterations={} if block is None else {(GRID,): block})
        program = Reader(module, function, core, serial_of(module, function), (), blocks).read()
        if any(isinstance(node, Opaque) for node in program.body.walk()):
            return False
        for touch in (touch for entry in program.entries for touch in entry.touches):
            if touch.range.space is Space.GM:
                touched[touch.writes, *range_key(touch.range)] = touch.writes, touch.range
    ranges = list(touched.values())
    return len(ranges) <= MOST_RANGES and not any(
        distance(one, other, GRID) is not None or distance(other, one, GRID) is not None
        for writes, one in ranges
        for _, other in ranges
        if writes
    )
