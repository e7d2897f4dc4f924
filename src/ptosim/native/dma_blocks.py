"""Copies on the chip, in blocks of 32 bytes with gaps between rows, and plain copies from GM to L1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptosim.effects.burst import BLOCK
from ptosim.effects.dma import LOOP_SIZES, packed_sizes, packed_strides
from ptosim.effects.names import Space
from ptosim.language import dma as op
from ptosim.language import dma_grouped as grouped
from ptosim.native.burst import Burst, Loop, Side, copy_rows, either
from ptosim.native.context import Register
from ptosim.native.core import Core
from ptosim.native.flow import Function
from ptosim.native.ir import Value
from ptosim.native.lowering import define, lowering
from ptosim.native.requirement import demand


def _blocks(n_burst: Value, len_burst: Value, source_gap: Value, dest_gap: Value) -> Burst:
    """Rows of blocks: a gap lies between the end of a row and the start of the next."""
    rows = Loop(n_burst, (len_burst + source_gap) * BLOCK, (len_burst + dest_gap) * BLOCK)
    return Burst(len_burst * BLOCK, [rows])


# --- within UB ------------------------------------------------------------------------------------------------------


@lowering(grouped.MteUbUb, op.CopyUbufToUbuf)
def mte_ub_ub(
    core: Core, source: Value, dest: Value, n_burst: Value, len_burst: Value, source_gap: Value, dest_gap: Value
) -> None:
    burst = _blocks(n_burst, len_burst, source_gap, dest_gap)
    copy_rows(core, burst, Side(Space.UB, source), Side(Space.UB, dest))


# --- between UB and L1 ----------------------------------------------------------------------------------------------


@lowering(grouped.MteUbL1, op.CopyUbufToCbuf)
def mte_ub_l1(
    core: Core, source: Value, dest: Value, n_burst: Value, len_burst: Value, source_gap: Value, dest_gap: Value
) -> None:
    burst = _blocks(n_burst, len_burst, source_gap, dest_gap)
    copy_rows(core, burst, Side(Space.UB, source), Side(Space.L1, dest))


@lowering(grouped.MteL1Ub)
def mte_l1_ub(
    core: Core,
    source: Value,
    dest: Value,
    n_burst: Value,
    len_burst: Value,
    source_gap: Value,
    dest_gap: Value,
    loop_counts: Sequence[Value],
    loop_source_strides: Sequence[Value],
    loop_dest_strides: Sequence[Value],
) -> None:
    """The clause names no vector core: it is the first. Its loops count bytes, unlike the rows."""
    loops = map(Loop, loop_counts, loop_source_strides, loop_dest_strides)
    rows = _blocks(n_burst, len_burst, source_gap, dest_gap)
    burst = Burst(rows.length, [*rows.loops, *loops])
    copy_rows(core, burst, Side(Space.L1, source), Side(Space.UB, dest, "aiv0"))


@lowering(op.CopyCbufToUbuf)
def copy_cbuf_to_ubuf(
    f: Function,
    core: Core,
    source: Value,
    dest: Value,
    sid: Value,
    n_burst: Value,
    len_burst: Value,
    source_gap: Value,
    dest_gap: Value,
) -> None:
    """`sid` is the vector core."""
    burst = _blocks(n_burst, len_burst, source_gap, dest_gap)
    f.settle()
    either(
        f,
        sid == 0,
        lambda: copy_rows(core, burst, Side(Space.L1, source), Side(Space.UB, dest, "aiv0")),
        lambda: copy_rows(core, burst, Side(Space.L1, source), Side(Space.UB, dest, "aiv1")),
    )


# --- GM to L1 -------------------------------------------------------------------------------------------------------


@lowering(grouped.MteGmL1)
def mte_gm_l1(
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
) -> None:
    loops = map(Loop, loop_counts, loop_source_strides, loop_dest_strides)
    burst = Burst(len_burst, [Loop(n_burst, source_stride, dest_stride), *loops])
    copy_rows(core, burst, Side(Space.GM, source), Side(Space.L1, dest))


@lowering(grouped.SimL1Gm)
def l1_gm(
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
) -> None:
    loops = map(Loop, loop_counts, loop_source_strides, loop_dest_strides)
    burst = Burst(len_burst, [Loop(n_burst, source_stride, dest_stride), *loops])
    copy_rows(core, burst, Side(Space.L1, source), Side(Space.GM, dest))


@lowering(op.CopyGmToCbuf)
def copy_gm_to_cbuf(
    core: Core,
    source: Value,
    dest: Value,
    n_burst: Value,
    len_burst: Value,
    source_stride: Value,
    dest_stride: Value,
    outtol1_loop1_size: Value,
    outtol1_loop1_source: Value,
    outtol1_loop1_destination: Value,
    outtol1_loop2_size: Value,
    outtol1_loop2_source: Value,
    outtol1_loop2_destination: Value,
) -> None:
    rows = Loop(n_burst, source_stride, dest_stride)
    inner = Loop(outtol1_loop1_size, outtol1_loop1_source, outtol1_loop1_destination)
    outer = Loop(outtol1_loop2_size, outtol1_loop2_source, outtol1_loop2_destination)
    copy_rows(core, Burst(len_burst, [rows, inner, outer]), Side(Space.GM, source), Side(Space.L1, dest))


# --- the loop registers of GM to L1, whose words are packed ----------------------------------------------------------


def _set_strides(loop: int) -> Any:
    source, dest = (Register[f"OUTTOL1_LOOP{loop}_{side}"] for side in ("SOURCE", "DESTINATION"))

    def set_strides(core: Core, packed: Value) -> None:
        for register, stride in zip((source, dest), packed_strides(packed), strict=True):
            core.set_register(register, stride)

    return set_strides


def _set_size(core: Core, packed: Value) -> None:
    loop1, loop2 = packed_sizes(packed)
    demand(core, LOOP_SIZES, {"loop1": loop1, "loop2": loop2})
    core.set_register(Register.OUTTOL1_LOOP1_SIZE, loop1)
    core.set_register(Register.OUTTOL1_LOOP2_SIZE, loop2)


define("pto.set_loop_size_outtol1", _set_size)
define("pto.set_loop1_stride_outtol1", _set_strides(1))
define("pto.set_loop2_stride_outtol1", _set_strides(2))
