"""Synchronisation: the scalar unit enters an entry into the queue of the pipe that the operands name."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

EFFECTS: dict[str, Effects] = table(
    Pipe.S,
    Taint.NONE,
    {
        "sync": "set_flag wait_flag set_flag_dyn wait_flag_dyn barrier get_buf rls_buf get_buf_dyn rls_buf_dyn "
        "sync.set sync.wait set_intra_block wait_intra_block set_cross_core wait_flag_dev set_cross_block "
        "wait_cross_block syncall set_ffts dsb dcci cmo.cacheinvalid fence.barrier_all sim.set_token sim.wait_token "
        "sim.tsync",
        "fence": "mem_bar",
    },
)
