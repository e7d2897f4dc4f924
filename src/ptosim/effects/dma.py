"""Copies between memories: which rows they touch. The closed forms hold for Python ints, arrays and IR values alike.

The hardware loops of the older spelling are registers; their values stand beside the operands here, under the roles
that the loop clauses of the current spelling have (loop_counts, loop_source_strides, loop_dest_strides), inner first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects.burst import BLOCK, blocks, row_extent
from ptosim.effects.geometry import ceil_to, maximum, select
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, table


def padded_width(length: Any, left: Any, right: Any, element_bytes: int, stride: Any) -> Any:
    """The bytes of a padded UB row: pad, data, pad; then up to the row stride, or to 32 bytes where that is short."""
    end = left * element_bytes + length
    least = end + right * element_bytes
    return select(stride < end, maximum(least, ceil_to(end, BLOCK)), maximum(least, stride))


def _rows(operands: Any, side: str, width: Any) -> Extent:
    counts = (operands.n_burst, *operands.loop_counts)
    strides = (getattr(operands, f"{side}_stride"), *getattr(operands, f"loop_{side}_strides"))
    return row_extent(counts, strides, width)


def source_rows(operands: Any) -> Extent:
    """The source of a copy with byte strides."""
    return _rows(operands, "source", operands.len_burst)


def dest_rows(operands: Any) -> Extent:
    """The destination of a copy with byte strides."""
    return _rows(operands, "dest", operands.len_burst)


def _padded_rows(static: Static) -> Callable[[Any], Extent]:
    """The destination of a copy into UB, with padding where the operands turn it on."""
    element_bytes = min(4, static.elements["dest"].bytes)
    has_sides, is_optional = "left_padding" in static.present, "data_select" in static.present

    def extent(operands: Any) -> Extent:
        left, right = (operands.left_padding, operands.right_padding) if has_sides else (0, 0)
        width = padded_width(operands.len_burst, left, right, element_bytes, operands.dest_stride)
        if is_optional:
            width = select((operands.data_select & 1) > 0, width, operands.len_burst)
        return _rows(operands, "dest", width)

    return extent


_ALIGNMENT = {Space.GM: 1, Space.UB: BLOCK, Space.L1: BLOCK}


def _copy(
    name: str,
    pipe: Pipe,
    timing: str,
    source: Space,
    dest: Space,
    read: Callable[[Any], Extent] = source_rows,
    write: Callable[[Any], Extent] = dest_rows,
    registers: tuple[str, ...] = (),
) -> Effects:
    accesses = (
        Access("read", source, "source", read, _ALIGNMENT[source]),
        Access("write", dest, "dest", write, _ALIGNMENT[dest]),
    )
    return Effects(f"pto.{name}", pipe, timing, Taint.MOVEMENT, lambda static: accesses, reads=registers)


def _gm_to_ub(static: Static) -> tuple[Access, ...]:
    padded = bool({"pad_value", "data_select"} & static.present)
    write = _padded_rows(static) if padded else dest_rows
    return (
        Access("read", Space.GM, "source", source_rows),
        Access("write", Space.UB, "dest", write, BLOCK),
    )


def _block_copy(name: str, pipe: Pipe, timing: str, source: Space, dest: Space) -> Effects:
    return _copy(name, pipe, timing, source, dest, blocks("source"), blocks("dest"))


_COPIES = (
    Effects("pto.mte_gm_ub", Pipe.MTE2, "gm_ub", Taint.MOVEMENT, _gm_to_ub),
    Effects("pto.copy_gm_to_ubuf", Pipe.MTE2, "gm_ub", Taint.MOVEMENT, _gm_to_ub, reads=("LOOP_OUTTOUB", "PAD")),
    _copy("mte_ub_gm", Pipe.MTE3, "ub_gm", Space.UB, Space.GM, registers=("CTRL",)),
    _copy("copy_ubuf_to_gm", Pipe.MTE3, "ub_gm", Space.UB, Space.GM, registers=("CTRL", "LOOP_UBTOOUT")),
    _block_copy("mte_ub_ub", Pipe.V, "ub_ub", Space.UB, Space.UB),
    _block_copy("copy_ubuf_to_ubuf", Pipe.V, "ub_ub", Space.UB, Space.UB),
    _block_copy("mte_ub_l1", Pipe.MTE3, "ub_l1", Space.UB, Space.L1),
    _block_copy("copy_ubuf_to_cbuf", Pipe.MTE3, "ub_l1", Space.UB, Space.L1),
    _block_copy("mte_l1_ub", Pipe.MTE1, "l1_ub", Space.L1, Space.UB),
    _block_copy("copy_cbuf_to_ubuf", Pipe.MTE1, "l1_ub", Space.L1, Space.UB),
    _copy("mte_gm_l1", Pipe.MTE2, "gm_l1", Space.GM, Space.L1),
    _copy("sim.l1_gm", Pipe.FIX, "l0c_gm", Space.L1, Space.GM),
    _copy("copy_gm_to_cbuf", Pipe.MTE2, "gm_l1", Space.GM, Space.L1, registers=("LOOP_OUTTOL1",)),
)

_REGISTERS = table(
    Pipe.S,
    Taint.NONE,
    {
        "scalar": "set_loop_size_outtoub set_loop1_stride_outtoub set_loop2_stride_outtoub set_loop_size_ubtoout "
        "set_loop1_stride_ubtoout set_loop2_stride_ubtoout set_loop_size_outtol1 set_loop1_stride_outtol1 "
        "set_loop2_stride_outtol1 set_mov_pad_val set_pad_val_outtol1 set_mte2_nz_para set_store_atomic_cfg "
        "set_atomic_none set_atomic_add set_atomic_max set_atomic_min set_atomic_f32 set_atomic_f16 set_atomic_bf16 "
        "set_atomic_s32 set_atomic_s16 set_atomic_s8",
    },
)

EFFECTS: dict[str, Effects] = {record.name: record for record in _COPIES} | _REGISTERS
