"""Moves out of L1 in the raw spelling: the fields of the hardware, the accesses of the current spelling."""

from __future__ import annotations

from ptosim.effects.burst import gapped
from ptosim.effects.cube_load import bias_accesses, scale_accesses
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Effects, Taint, named, required, table

_OLDER = {
    "l1_l0a": "load_cbuf_to_ca load_cbuf_to_ca_s4",
    "l1_l0b": "load_cbuf_to_cb load_cbuf_to_cb_s4",
}
"""Older forms that become a current load before they run."""

EFFECTS: dict[str, Effects] = {
    **table(Pipe.MTE1, Taint.MOVEMENT, _OLDER),
    **table(Pipe.FIX, Taint.MOVEMENT, {"l1_fb": "copy_cbuf_to_fbuf"}, *gapped()),
    **named(
        Effects(
            *("pto.load_cbuf_to_ca_mx", Pipe.MTE1, "l1_l0a", Taint.MOVEMENT),
            scale_accesses("m", Space.SCALE_A, 0),
        ),
        Effects(
            *("pto.load_cbuf_to_cb_mx", Pipe.MTE1, "l1_l0b", Taint.MOVEMENT),
            scale_accesses("n", Space.SCALE_B, 0),
        ),
        Effects("pto.copy_cbuf_to_bt", Pipe.MTE1, "l1_bt", Taint.MOVEMENT, bias_accesses, required(*gapped())),
    ),
}
