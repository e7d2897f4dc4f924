"""Copies on the chip, in blocks of 32 bytes with gaps between rows, and plain copies from GM to L1."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptosim.effects.element import GRANULE
from ptosim.effects.names import Space
from ptosim.language import dma as op
from ptosim.language import dma_grouped as grouped
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import lowering
from ptosim.native.burst import Burst, Loop, Side, copy_rows, either
from ptosim.native.ir.flow import Function
from ptosim.native.ir.values import Value


def _blocks(n_burst: Value, len_burst: Value, source_gap: Value, dest_gap: Value) -> Burst:
    """Rows of blocks: a gap lies between the end of a row and the start of the next."""
    rows = Loop(n_burst, (len_burst + source_gap) * GRANULE, (len_burst + dest_gap) * GRANULE)
    return Burst(len_burst * GRANULE, [rows])


# --- rows of blocks ---------------------------------------------------------------------------------------------------


@lowering(grouped.MteUbUb, bind=lambda static: {"dest_space": Space.UB})
@lowering(grouped.MteUbL1, bind=lambda static: {"dest_space": Space.L1})
def mte_ub(
    core: Core,
    source: Value,
    dest: Value,
    n_burst: Value,
    len_burst: Value,
    source_gap: Value,
    dest_gap: Value,
    dest_space: Space,
) -> None:
    burst = _blocks(n_burst, len_burst, source_gap, dest_gap)
    copy_rows(core, burst, Side(Space.UB, source), Side(dest_space, dest))


_FIRST = {"sid": None}
_WITHOUT_LOOPS: dict[str, tuple[()]] = {"loop_counts": (), "loop_source_strides": (), "loop_dest_strides": ()}


@lowering(grouped.MteL1Ub, bind=lambda static: _FIRST)
@lowering(op.CopyCbufToUbuf, bind=lambda static: _WITHOUT_LOOPS)
def mte_l1_ub(
    f: Function,
    core: Core,
    source: Value,
    dest: Value,
    sid: Value | None,
    n_burst: Value,
    len_burst: Value,
    source_gap: Value,
    dest_gap: Value,
    loop_counts: Sequence[Value],
    loop_source_strides: Sequence[Value],
    loop_dest_strides: Sequence[Value],
) -> None:
    """`sid` is the vector core; the clauses name none, which is the first. Their loops count bytes, unlike the rows."""
    loops = map(Loop, loop_counts, loop_source_strides, loop_dest_strides)
    rows = _blocks(n_burst, len_burst, source_gap, dest_gap)
    burst = Burst(rows.length, [*rows.loops, *loops])

    def into(at: str) -> Callable[[], None]:
        return lambda: copy_rows(core, burst, Side(Space.L1, source), Side(Space.UB, dest, at))

    if sid is None:
        into("aiv0")()
    else:
        f.settle()
        either(f, sid == 0, into("aiv0"), into("aiv1"))


# --- between GM and L1 ------------------------------------------------------------------------------------------------


@lowering(grouped.MteGmL1, bind=lambda static: {"spaces": (Space.GM, Space.L1)})
@lowering(grouped.SimL1Gm, bind=lambda static: {"spaces": (Space.L1, Space.GM)})
def mte_l1(
    core: Core,
    source: Value,
    dest: Value,
    len_burst: Value,
    n_burst: Value,
    source_stride: Value,
    dest_stride: Value,
    loop_counts: Sequence[Value],
    loop_source_strides: Sequence[Value],
    loop_dest_strides: Sequence[Value],
    spaces: tuple[Space, Space],
) -> None:
    loops = map(Loop, loop_counts, loop_source_strides, loop_dest_strides)
    burst = Burst(len_burst, [Loop(n_burst, source_stride, dest_stride), *loops])
    copy_rows(core, burst, Side(spaces[0], source), Side(spaces[1], dest))
