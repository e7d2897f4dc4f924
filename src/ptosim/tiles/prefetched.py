"""Tiles that are read though nothing but a prefetch has written them since: what a prefetch leaves there is open.

Only what stands in one block is followed, so whatever is reported happens whenever that block is executed; a run shows
nothing of it, since a prefetch is a load there.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from ptosim.diagnostics import Diagnostic, Related
from ptosim.language.function import Function, every_function
from ptosim.language.load import VerifiedModule
from ptosim.language.tile_move import TPrefetch
from ptosim.language.tile_operation import TileOperation
from ptosim.tiles.liveness import Liveness, touched


def read_prefetches(module: VerifiedModule) -> Iterator[Diagnostic]:
    """Each prefetch whose tile is read, at the first operation that reads it."""
    for function in every_function(module.parsed.module):
        for prefetch, read in _read(function):
            place = module.parsed.location
            related = tuple(Related(where, "prefetched here") for where in [place(prefetch)] if where is not None)
            message = "this reads a tile that only a prefetch has written, which leaves anything there"
            yield Diagnostic("uninitialized", "warning", message, place(read), related=related)


def _read(function: Function) -> Iterator[tuple[Operation, Operation]]:
    blocks = {op.parent_block() for op in function.walk() if isinstance(op, TPrefetch)}
    liveness = Liveness(function) if blocks else None
    for block in blocks:
        if block is not None and liveness is not None:
            yield from _read_in(block, liveness)


def _read_in(block: Block, liveness: Liveness) -> Iterator[tuple[Operation, Operation]]:
    """Prefetches with what reads their tile behind them."""
    fetched: dict[SSAValue, Operation] = {}
    for op in block.ops:
        if not isinstance(op, TileOperation):
            for value in (value for inside in op.walk() for value in touched(inside)):
                fetched.pop(liveness.root(value), None)  # what is inside may do anything to it
            continue
        for value in (value for role in op.reads for value in op.segment(role)):
            if (prefetch := fetched.pop(liveness.root(value), None)) is not None:
                yield prefetch, op
        for value in (value for role in op.writes for value in op.segment(role)):
            fetched.pop(liveness.root(value), None)
            if isinstance(op, TPrefetch):
                fetched[liveness.root(value)] = op
