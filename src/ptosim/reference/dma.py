"""Copies between GM and UB: rows at equally spaced places, hardware loops around them, padding, atomic stores.

Every copy is a generator function: it reads, yields, and writes. Copies that stay on the chip and those into L1 are in
dma_granules.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptosim.effects.ctrl import ATOMIC_OPERATIONS, ATOMIC_TYPES
from ptosim.effects.dma import OLDER
from ptosim.effects.element import Element
from ptosim.effects.names import GM, UB
from ptosim.effects.record import Static
from ptosim.language.micro import dma_grouped as grouped
from ptosim.reference.core import Config, Core
from ptosim.reference.memory.atomic import atomic_store, check_length
from ptosim.reference.memory.burst import Padding, Side, byte_rows, look_at_registers, moved
from ptosim.reference.semantics import Operands, define, semantics

# --- GM to UB ---------------------------------------------------------------------------------------------------------


def _pad_facts(static: Static) -> dict[str, Any]:
    pad_kind, pad_width = static.elements.get("pad_value"), min(4, static.elements["dest"].bytes)
    return {"is_older": OLDER in static.present, "pad_width": pad_width, "pad_kind": pad_kind}


@semantics(grouped.MteGmUb, bind=_pad_facts)
def mte_gm_ub(
    core: Core,
    operands: Operands,
    data_select: int | None,
    config: Config,
    is_older: bool,
    pad_width: int,
    pad_kind: Element | None,
) -> Iterator[None]:
    """`data_select` is the condition of an older copy for its padding."""
    burst, pad = byte_rows(operands), None
    if operands.pad_value is not None and data_select != 0 and pad_kind is not None:
        pattern = (operands.pad_value & ((1 << pad_kind.bits) - 1)).to_bytes(8, "little")[:pad_width]
        pad = Padding(pattern, operands.left_padding or 0, operands.right_padding or 0)
    look_at_registers(core, "outtoub", config, is_older, len(burst.loops) - 1, pad is not None)
    yield from moved(core, burst, Side(GM, operands.source), Side(UB, operands.dest), pad)


# --- UB to GM ---------------------------------------------------------------------------------------------------------


@semantics(grouped.MteUbGm, bind=lambda static: {"is_older": OLDER in static.present})
def mte_ub_gm(core: Core, operands: Operands, config: Config, is_older: bool, ctrl: int) -> Iterator[None]:
    """Plain, or combined with GM as CTRL says."""
    burst = byte_rows(operands)
    look_at_registers(core, "ubtoout", config, is_older, len(burst.loops) - 1)
    atomic = atomic_store(ctrl)
    check_length(atomic, burst.length)
    yield from moved(core, burst, Side(UB, operands.source), Side(GM, operands.dest), atomic=atomic)


# --- atomic stores ----------------------------------------------------------------------------------------------------


def _set_ctrl(low: int, width: int, value: int) -> Any:
    def set_field(core: Core) -> None:
        core.ctrl = core.ctrl & ~(((1 << width) - 1) << low) | value << low

    return set_field


define("pto.set_atomic_none", _set_ctrl(6, 5, 0))
for _code, _name in ATOMIC_OPERATIONS.items():
    define(f"pto.set_atomic_{_name}", _set_ctrl(9, 2, _code))
for _code, _name in ATOMIC_TYPES.items():
    define(f"pto.set_atomic_{_name.replace('si', 's')}", _set_ctrl(6, 3, _code))
