"""Copies on the chip, in granules of 32 bytes with gaps between rows, and plain copies from GM to L1.

Every copy is a generator function: it reads, yields, and writes. Copies that change the layout are in dma_layout.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.dma import OLDER
from ptosim.effects.names import Space
from ptosim.language.micro import dma as op
from ptosim.language.micro import dma_grouped as grouped
from ptosim.reference.core import Config, Core
from ptosim.reference.memory.burst import Burst, Side, byte_rows, granule_rows, is_overlapping, look_at_registers, moved
from ptosim.reference.semantics import Operands, semantics

# --- rows of granules -------------------------------------------------------------------------------------------------


@semantics(grouped.MteUbUb, bind=lambda static: {"dest_space": Space.UB})
@semantics(grouped.MteUbL1, bind=lambda static: {"dest_space": Space.L1})
def mte_ub(core: Core, operands: Operands, dest_space: Space) -> Iterator[None]:
    burst = granule_rows(operands)
    if dest_space is Space.UB:
        _look_for_overlap(core, burst, operands.source, operands.dest)
    yield from moved(core, burst, Side(Space.UB, operands.source), Side(dest_space, operands.dest))


def _look_for_overlap(core: Core, burst: Burst, source: int, dest: int) -> None:
    if not core.wants_lint or burst.is_empty:
        return
    if is_overlapping(*burst.places(source, dest), burst.length):
        core.lint("source and destination overlap; in which order the bytes are copied is not defined", "overlap")


@semantics(grouped.MteL1Ub, bind=lambda static: {"sid": 0})
@semantics(op.CopyCbufToUbuf)
def mte_l1_ub(core: Core, operands: Operands, sid: int) -> Iterator[None]:
    """`sid` is the vector core; the clauses name none, which is the first."""
    there = Side(Space.UB, operands.dest, f"aiv{sid}")
    yield from moved(core, granule_rows(operands), Side(Space.L1, operands.source), there)


# --- between GM and L1 ------------------------------------------------------------------------------------------------


@semantics(grouped.MteGmL1, bind=lambda static: {"spaces": (Space.GM, Space.L1), "is_older": OLDER in static.present})
@semantics(grouped.SimL1Gm, bind=lambda static: {"spaces": (Space.L1, Space.GM), "is_older": False})
def mte_l1(
    core: Core, operands: Operands, config: Config, spaces: tuple[Space, Space], is_older: bool
) -> Iterator[None]:
    burst = byte_rows(operands)
    if spaces[0] is Space.GM:
        look_at_registers(core, "outtol1", config, is_older, len(burst.loops) - 1)
    yield from moved(core, burst, Side(spaces[0], operands.source), Side(spaces[1], operands.dest))
