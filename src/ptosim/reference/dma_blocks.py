"""Copies on the chip, in blocks of 32 bytes with gaps between rows, and plain copies from GM to L1.

Every copy is a generator function: it reads, yields, and writes. Copies that change the layout are in dma_layout.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptosim.effects.burst import alignment_of
from ptosim.effects.dma import OLDER
from ptosim.effects.element import GRANULE
from ptosim.effects.names import Space
from ptosim.language import dma as op
from ptosim.language import dma_grouped as grouped
from ptosim.reference.burst import Burst, Loop, Side, is_overlapping, look_at_registers
from ptosim.reference.core import Config, Core
from ptosim.reference.semantics import semantics


def _moved(core: Core, burst: Burst, source: Side, dest: Side) -> Iterator[None]:
    """Read all rows, then write them in order."""
    burst.check(core, source.space, dest.space)
    if burst.is_empty:
        yield
        return
    sources, dests = burst.rows(core, source, dest)
    read, written = (alignment_of(side.space, core.target) for side in (source, dest))
    rows = core.read_pieces(source.space, sources, burst.length, read, source.at)
    yield
    core.write_pieces(dest.space, dests, rows, written, dest.at)


def _blocks(n_burst: int, len_burst: int, source_gap: int, dest_gap: int) -> Burst:
    """Rows of blocks: a gap lies between the end of a row and the start of the next."""
    strides = (len_burst + source_gap) * GRANULE, (len_burst + dest_gap) * GRANULE
    return Burst(len_burst * GRANULE, ((n_burst, *strides),))


# --- rows of blocks ---------------------------------------------------------------------------------------------------


@semantics(grouped.MteUbUb, bind=lambda static: {"dest_space": Space.UB})
@semantics(grouped.MteUbL1, bind=lambda static: {"dest_space": Space.L1})
def mte_ub(
    core: Core,
    source: int,
    dest: int,
    n_burst: int,
    len_burst: int,
    source_gap: int,
    dest_gap: int,
    dest_space: Space,
) -> Iterator[None]:
    burst = _blocks(n_burst, len_burst, source_gap, dest_gap)
    if dest_space is Space.UB:
        _look_for_overlap(core, burst, source, dest)
    yield from _moved(core, burst, Side(Space.UB, source), Side(dest_space, dest))


def _look_for_overlap(core: Core, burst: Burst, source: int, dest: int) -> None:
    if not core.wants_lint or burst.is_empty:
        return
    if is_overlapping(burst.sources(source), burst.dests(dest), burst.length):
        core.lint("source and destination overlap; in which order the bytes are copied is not defined", "overlap")


_FIRST = {"sid": 0}
_WITHOUT_LOOPS: dict[str, tuple[()]] = {"loop_counts": (), "loop_source_strides": (), "loop_dest_strides": ()}


@semantics(grouped.MteL1Ub, bind=lambda static: _FIRST)
@semantics(op.CopyCbufToUbuf, bind=lambda static: _WITHOUT_LOOPS)
def mte_l1_ub(
    core: Core,
    source: int,
    dest: int,
    sid: int,
    n_burst: int,
    len_burst: int,
    source_gap: int,
    dest_gap: int,
    loop_counts: Sequence[int],
    loop_source_strides: Sequence[int],
    loop_dest_strides: Sequence[int],
) -> Iterator[None]:
    """`sid` is the vector core; the clauses name none, which is the first. Their loops count bytes, unlike the rows."""
    loops: list[Loop] = list(zip(loop_counts, loop_source_strides, loop_dest_strides, strict=True))
    rows = _blocks(n_burst, len_burst, source_gap, dest_gap)
    burst = Burst(rows.length, (*rows.loops, *loops))
    yield from _moved(core, burst, Side(Space.L1, source), Side(Space.UB, dest, f"aiv{sid}"))


# --- between GM and L1 ------------------------------------------------------------------------------------------------


@semantics(grouped.MteGmL1, bind=lambda static: {"spaces": (Space.GM, Space.L1), "is_older": OLDER in static.present})
@semantics(grouped.SimL1Gm, bind=lambda static: {"spaces": (Space.L1, Space.GM), "is_older": False})
def mte_l1(
    core: Core,
    source: int,
    dest: int,
    len_burst: int,
    n_burst: int,
    source_stride: int,
    dest_stride: int,
    loop_counts: Sequence[int],
    loop_source_strides: Sequence[int],
    loop_dest_strides: Sequence[int],
    config: Config,
    spaces: tuple[Space, Space],
    is_older: bool,
) -> Iterator[None]:
    if spaces[0] is Space.GM:
        look_at_registers(core, "outtol1", config, is_older, len(loop_counts))
    loops: list[Loop] = list(zip(loop_counts, loop_source_strides, loop_dest_strides, strict=True))
    burst = Burst(len_burst, ((n_burst, source_stride, dest_stride), *loops))
    yield from _moved(core, burst, Side(spaces[0], source), Side(spaces[1], dest))
