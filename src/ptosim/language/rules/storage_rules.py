"""Tiles of one operation that may not share bytes, as far as their addresses are written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from xdsl.ir import SSAValue

from ptosim.language.operation import Problem
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.rules.tile_rules import Check, tiles
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_view import Allocation, BitCast, TReshape


def apart(*roles: str) -> Check:
    """No two of these tiles are one, other forms of one, or placed over each other."""

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        placed = [(role, _root(op.segment(role)[0]), tile.size) for role, tile in tiles(op, *roles)]
        for (one, root, size), (other, beside, length) in combinations(placed, 2):
            start, begin = _address(root), _address(beside)
            placed_over = start is not None and begin is not None and start < begin + length and begin < start + size
            if root is beside or placed_over:
                yield Problem(f"{op.name} expects {one} and {other} to use different storage", other)

    return check


def _root(value: SSAValue) -> SSAValue:
    """The tile whose bytes another form of it has, all of them."""
    while isinstance(owner := value.owner, TReshape | BitCast):
        value = owner.source
    return value


def _address(value: SSAValue) -> int | None:
    owner = value.owner
    return constant_of(owner.addr) if isinstance(owner, Allocation) else None
