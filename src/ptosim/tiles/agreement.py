"""Valid regions that should agree and of which only the run knows whether they do: `check` says where they do not.

A run goes on with the region that the operation covers, as the hardware would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import i1

from ptosim.language.build import Builder, Number, known
from ptosim.language.operation import PTOOperation
from ptosim.language.tile_family import VectorTile
from ptosim.language.tile_rules import SameValid
from ptosim.tiles.require import require
from ptosim.tiles.values import Tile

_SIDES = ("rows", "columns")


def remark_disagreement(build: Builder, op: PTOOperation, tiles: Mapping[str, Tile]) -> None:
    """Remark where regions differ that the rules of an operation want to be the same."""
    for one, other, side in _pairs(op, tiles):
        sizes = tiles[one].valid[side], tiles[other].valid[side]
        if _are_one(*sizes):
            continue
        differ = known(sizes[0]) is not None and known(sizes[1]) is not None
        same = build.pattern(0, i1) if differ else build.compare("eq", *sizes)
        message = f"{one} has {{}} valid {_SIDES[side]}, but {other} {{}}"
        require(build, same, "invalid", message, severity="warning", shown=sizes)


def _pairs(op: PTOOperation, tiles: Mapping[str, Tile]) -> Iterator[tuple[str, str, int]]:
    rules = (*op.checks, *op.more_checks) if isinstance(op, VectorTile) else ()
    for rule in rules:
        if isinstance(rule, SameValid):
            first, *others = (role for role in rule.roles if role in tiles)
            yield from ((first, other, side) for other in others for side in rule.sides)


def _are_one(one: Number, other: Number) -> bool:
    value = known(one)
    return one is other or (value is not None and value == known(other))
