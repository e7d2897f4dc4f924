"""Operations that lowerings use besides the instruction set."""

from __future__ import annotations

from ptosim.effects.burst import FB_UNIT
from ptosim.effects.element import GRANULE
from ptosim.effects.fixpipe import QUANT_WORD
from ptosim.effects.fractal import ACCUMULATOR, ACCUMULATOR_FRACTAL, BIAS_ALIGNMENT
from ptosim.effects.mad import EXTENTS, accumulator_extent
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Static, Taint, named, required, table

SIGNED_RESULT = 1 << 46
"""The bit of a parameter word that says that 8-bit results have a sign."""


def scale_accesses(static: Static) -> tuple[Access, ...]:
    """Scales in L1, a word for each in the fixpipe buffer."""
    width = static.elements["source"].bytes
    return (
        Access("read", Space.L1, "source", lambda o: (0, o.count * width), GRANULE),
        Access("write", Space.FB, "dest", lambda o: (0, o.count * QUANT_WORD), FB_UNIT),
    )


def start_accesses(static: Static) -> tuple[Access, ...]:
    """Accumulators, and the bias where they start from one."""
    written = Access("write", Space.L0C, "c", lambda o: accumulator_extent(o.m, o.n), ACCUMULATOR_FRACTAL)
    if "bias" not in static.present:
        return (written,)
    return Access("read", Space.BT, "bias", lambda o: (0, o.n * ACCUMULATOR), BIAS_ALIGNMENT), written


EFFECTS: dict[str, Effects] = {
    **table(Pipe.S, Taint.NONE, {"rename": "sim.require sim.print_tile sim.lookup"}),
    **table(Pipe.V, Taint.NONE, {"rename": "sim.instructions"}),
    **named(
        Effects("pto.sim.start_acc", Pipe.M, "mad", Taint.USE, start_accesses, required(*EXTENTS)),
        Effects("pto.sim.scale_words", Pipe.FIX, "l1_fb", Taint.MOVEMENT, scale_accesses),
    ),
}
