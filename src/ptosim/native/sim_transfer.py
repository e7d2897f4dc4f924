"""Transfers in global memory: copied at once."""

from __future__ import annotations

from ptosim.effects.geometry import minimum
from ptosim.language.micro import sim_transfer as op
from ptosim.native.build.core import Core
from ptosim.native.build.global_memory import read_inside, write_inside
from ptosim.native.build.lowering import lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Value

PIECE = 4096
"""Bytes that are copied in one go where some of them may be dropped."""


@lowering(op.SimTransfer)
def transfer(f: FunctionBuilder, core: Core, dst: Value, src: Value, bytes: Value) -> Value:
    """It has ended when it is begun: the event says that there is nothing to wait for."""
    core.fail(bytes < 0, "invalid", "a transfer of {} bytes", bytes)
    f.settle()
    source, lacking = core.global_place("reads", src, bytes)
    dest, dropped = core.global_place("writes", dst, bytes)
    done = f.constant(I64, 0)
    if not core.unit.drop:
        dest.address.move_from(source.address, bytes)
        return done
    room = f.scratch(PIECE)

    def pieces() -> None:
        with f.each(bytes, PIECE) as offset:
            width = minimum(bytes - offset, f.constant(I64, PIECE))
            read_inside(source.further(offset), room, width)
            write_inside(dest.further(offset), room, width)

    f.either(lacking | dropped, pieces, lambda: dest.address.move_from(source.address, bytes))
    return done


@lowering(op.SimApart)
def apart() -> None:
    """Only a check has something to say."""


@lowering(op.SimWaitTransfers)
def wait_transfers() -> None:
    """They have ended."""
