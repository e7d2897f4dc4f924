"""Copies on the chip, in granules of 32 bytes with gaps between rows, and plain copies from GM to L1."""

from __future__ import annotations

from collections.abc import Callable

from ptosim.effects.names import Space
from ptosim.language.micro import dma as op
from ptosim.language.micro import dma_grouped as grouped
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Operands, given, lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import Value
from ptosim.native.routines.burst import Side, byte_rows, copy_rows, granule_rows

# --- rows of granules -------------------------------------------------------------------------------------------------


@lowering(grouped.MteUbUb, bind=given(dest_space=Space.UB))
@lowering(grouped.MteUbL1, bind=given(dest_space=Space.L1))
def mte_ub(core: Core, operands: Operands, dest_space: Space) -> None:
    copy_rows(core, granule_rows(operands), Side(Space.UB, operands.source), Side(dest_space, operands.dest))


@lowering(grouped.MteL1Ub, bind=given(sid=None))
@lowering(op.CopyCbufToUbuf)
def mte_l1_ub(f: FunctionBuilder, core: Core, operands: Operands, sid: Value | None) -> None:
    """`sid` is the vector core; the clauses name none, which is the first."""
    burst, source = granule_rows(operands), Side(Space.L1, operands.source)

    def into(at: str) -> Callable[[], None]:
        return lambda: copy_rows(core, burst, source, Side(Space.UB, operands.dest, at))

    if sid is None:
        into("aiv0")()
    else:
        f.settle()
        f.either(sid == 0, into("aiv0"), into("aiv1"))


# --- between GM and L1 ------------------------------------------------------------------------------------------------


@lowering(grouped.MteGmL1, bind=given(spaces=(Space.GM, Space.L1)))
@lowering(grouped.SimL1Gm, bind=given(spaces=(Space.L1, Space.GM)))
def mte_l1(core: Core, operands: Operands, spaces: tuple[Space, Space]) -> None:
    copy_rows(core, byte_rows(operands), Side(spaces[0], operands.source), Side(spaces[1], operands.dest))
