"""Moves out of L1 in the raw spelling: the fields of the hardware, the accesses of the current spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects.burst import BLOCK, gapped
from ptosim.effects.cube_load import (
    bias_accesses,
    parameter_accesses,
    scale_accesses,
    tile_accesses,
    tile_control,
    tile_dest,
    tile_source,
)
from ptosim.effects.fractal import FRACTAL, fractal_columns
from ptosim.effects.geometry import select
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, required


def _packed_accesses(side: str, dest: Space) -> Callable[[Static], tuple[Access, ...]]:
    """4-bit elements, whose transpose is an operand."""

    def accesses(static: Static) -> tuple[Access, ...]:
        columns = fractal_columns(static.elements["source"])

        def written(operands: Any) -> Extent:
            control = tile_control(operands, static, side, False)
            _, plain = tile_dest(control, columns, False)
            _, turned = tile_dest(control, columns, True)
            return 0, select(operands.transpose != 0, turned, plain)

        return (
            Access("read", Space.L1, "source", lambda o: tile_source(tile_control(o, static, side, False)), BLOCK),
            Access("write", dest, "dest", written, FRACTAL),
        )

    return accesses


_ROWS = required(*gapped())

EFFECTS: dict[str, Effects] = {
    record.name: record
    for record in (
        Effects("pto.load_cbuf_to_ca", Pipe.MTE1, "l1_l0a", Taint.MOVEMENT, tile_accesses("m", Space.L0A)),
        Effects("pto.load_cbuf_to_cb", Pipe.MTE1, "l1_l0b", Taint.MOVEMENT, tile_accesses("n", Space.L0B)),
        Effects("pto.load_cbuf_to_ca_s4", Pipe.MTE1, "l1_l0a", Taint.MOVEMENT, _packed_accesses("m", Space.L0A)),
        Effects("pto.load_cbuf_to_cb_s4", Pipe.MTE1, "l1_l0b", Taint.MOVEMENT, _packed_accesses("n", Space.L0B)),
        Effects("pto.load_cbuf_to_ca_mx", Pipe.MTE1, "l1_l0a", Taint.MOVEMENT, scale_accesses("m", Space.SCALE_A, 0)),
        Effects("pto.load_cbuf_to_cb_mx", Pipe.MTE1, "l1_l0b", Taint.MOVEMENT, scale_accesses("n", Space.SCALE_B, 0)),
        Effects("pto.copy_cbuf_to_bt", Pipe.MTE1, "l1_bt", Taint.MOVEMENT, bias_accesses, _ROWS),
        Effects("pto.copy_cbuf_to_fbuf", Pipe.FIX, "l1_fb", Taint.MOVEMENT, parameter_accesses, _ROWS),
    )
}
