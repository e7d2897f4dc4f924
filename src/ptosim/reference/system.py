"""Queries of the launch, CTRL, the special registers of the vector unit, trap and print."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects.element import element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.effects.system import WORD
from ptosim.language.micro import system as op
from ptosim.language.text.print_format import printed
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.numeric.integers import signed64, wrap
from ptosim.reference.semantics import Bind, semantics

_CTRL_MASK = (1 << 64) - 1
_I16 = element("i16")


@semantics(op.GetBlockIdx)
def get_block_idx(core: Core) -> int:
    return core.machine.block


@semantics(op.GetBlockNum)
def get_block_num(core: Core) -> int:
    return core.machine.block_num


@semantics(op.GetSubblockIdx)
def get_subblock_idx(core: Core) -> int:
    return core.machine.subblock


@semantics(op.GetSubblockNum)
def get_subblock_num(core: Core) -> int:
    return core.machine.subblock_num


@semantics(op.GetCtrl)
def get_ctrl(core: Core) -> int:
    return signed64(core.ctrl)


@semantics(op.SetCtrl)
def set_ctrl(core: Core, value: int) -> None:
    core.ctrl = value & _CTRL_MASK


@semantics(op.SBitSet0)
def sbitset0(value: int, bit: int) -> int:
    return signed64(value & ~(1 << bit))


@semantics(op.SBitSet1)
def sbitset1(value: int, bit: int) -> int:
    return signed64(value | (1 << bit))


@semantics(op.GetVms4Sr)
def get_vms4_sr(core: Core) -> tuple[int, ...]:
    counts = core.special["VMS4_SR"]
    return tuple(wrap(counts >> (16 * number), _I16) for number in range(4))


@semantics(op.SprClr)
def sprclr(core: Core, register: str) -> None:
    core.special[register] = 0


def _store_facts(unit: int) -> Bind:
    return lambda static: {"unit": unit, "post": "next" in static.present}


@semantics(op.SprSti, bind=_store_facts(WORD))
@semantics(op.SprSts, bind=_store_facts(1))
def sprst(core: Core, register: str, dest: int, offset: int, unit: int, post: bool) -> int | None:
    """The register as 32 bits; with a result the store is at the pointer, and the result is the pointer moved on."""
    data = np.array([core.special[register]], np.uint32).view(np.uint8)
    core.write(Space.UB, dest if post else dest + offset * unit, data, WORD)
    return dest + offset * unit if post else None


@semantics(op.Trap)
def trap() -> None:
    raise Fault("trap", "the kernel executed pto.trap")


def _printed(static: Static) -> dict[str, Any]:
    """The type of each value, None for a pointer."""
    roles = [role for role in static.elements if role.startswith("values[")]
    return {"kinds": tuple(None if role in static.spaces else static.elements[role].name for role in roles)}


@semantics(op.Print, bind=_printed)
def print_(core: Core, format: str | None, values: tuple[int, ...], kinds: tuple[str | None, ...]) -> None:
    """A line on standard output, headed by the core."""
    core.tell(f"{core.machine.name}: {printed(format, values, kinds)}")
