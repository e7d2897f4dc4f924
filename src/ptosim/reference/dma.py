"""Copies between GM and UB: rows at equally spaced places, hardware loops around them, padding, atomic stores.

Every copy is a generator function: it reads, yields, and writes. Copies that stay on the chip and those into L1 are in
dma_granules.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptosim.effects.ctrl import ATOMIC_OPERATIONS, ATOMIC_TYPES
from ptosim.effects.dma import OLDER, padded_width
from ptosim.effects.element import Element
from ptosim.effects.names import GM, UB
from ptosim.effects.record import Static
from ptosim.language import dma_grouped as grouped
from ptosim.reference.atomic import atomic_combine
from ptosim.reference.burst import Burst, Side, byte_rows, look_at_registers
from ptosim.reference.core import Bytes, Config, Core
from ptosim.reference.fault import Fault
from ptosim.reference.semantics import Operands, define, semantics

# --- GM to UB ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Padding:
    """What surrounds the data of a UB row: a pattern, so many elements of its width before and behind."""

    pattern: bytes
    left: int
    right: int

    def width(self, burst: Burst) -> int:
        """The bytes of a padded row."""
        return int(padded_width(burst.length, self.left, self.right, len(self.pattern), burst.loops[0][2]))

    def around(self, core: Core, data: Bytes, total: int) -> Bytes:
        """Rows with their padding; the phase of the pattern counts from the start of each padded stretch."""
        rows, length = data.shape
        before = self.left * len(self.pattern)
        filling = np.frombuffer(self.pattern * (total // len(self.pattern) + 1), np.uint8)
        padded = np.empty((rows, total), np.uint8)
        padded[:, :before] = core.pattern(filling[:before])
        padded[:, before : before + length] = data
        padded[:, before + length :] = core.pattern(filling[: total - before - length])
        return padded


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
    width = burst.length if pad is None else pad.width(burst)
    burst.check(core, GM, UB, width)
    if burst.is_empty:
        yield
        return
    sources, dests = burst.rows(core, Side(GM, operands.source), Side(UB, operands.dest), width)
    data = core.read_pieces(GM, sources, burst.length)
    yield
    if pad is not None:
        data = pad.around(core, data, width)
    core.write_pieces(UB, dests, data, burst.dest_alignment(UB, core.target))


# --- UB to GM ---------------------------------------------------------------------------------------------------------


@semantics(grouped.MteUbGm, bind=lambda static: {"is_older": OLDER in static.present})
def mte_ub_gm(core: Core, operands: Operands, config: Config, is_older: bool, ctrl: int) -> Iterator[None]:
    """Plain, or combined with GM as CTRL says."""
    burst = byte_rows(operands)
    look_at_registers(core, "ubtoout", config, is_older, len(burst.loops) - 1)
    atomic = atomic_combine(ctrl)
    if atomic is not None and burst.length % atomic[1]:
        raise Fault("misaligned", f"an atomic store of {burst.length} bytes is no whole number of {atomic[0]} elements")
    burst.check(core, UB, GM)
    if burst.is_empty:
        yield
        return
    sources, dests = burst.rows(core, Side(UB, operands.source), Side(GM, operands.dest))
    data = core.read_pieces(UB, sources, burst.length, burst.source_alignment(UB, core.target))
    yield
    if atomic is None:
        core.write_pieces(GM, dests, data)
    else:
        name, _, combine = atomic
        core.accumulate(GM, dests, data, combine, name)


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
