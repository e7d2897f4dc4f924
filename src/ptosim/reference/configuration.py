"""Configuration registers: each holds the tuple of its fields, a new one whenever it is written."""

from __future__ import annotations

from collections.abc import Callable

from ptosim.effects.configuration import CONFIGURATION, FIELDS, ConfigurationRegister
from ptosim.effects.element import Element
from ptosim.language.micro import configuration as op
from ptosim.language.micro import dma_registers as register
from ptosim.reference.core import Core
from ptosim.reference.numeric.integers import wrap
from ptosim.reference.requirement import demand
from ptosim.reference.semantics import define, semantics


def _setter(written: ConfigurationRegister) -> Callable[..., None]:
    def set_register(core: Core, *operands: int) -> None:
        fields = written.unpack(*operands)
        if written.parts:
            demand(core, written.requires, dict(zip(written.parts, fields, strict=True)))
        core.config = {**core.config, written.name: fields}

    return set_register


for _register in CONFIGURATION.values():
    if _register.setter != register.SetMovPadVal.name:
        define(_register.setter, _setter(_register), parameters=("core", *_register.operands))


@semantics(register.SetMovPadVal, bind=lambda static: {"kind": static.elements["value"]})
def set_mov_pad_val(core: Core, value: int, kind: Element) -> None:
    """The bit pattern of a scalar, zero-extended; a float is held as one."""
    core.config = {**core.config, "mov_pad_val": (value & ((1 << kind.bits) - 1),)}


@semantics(register.SetPadValOutToL1, register.SetStoreAtomicCfg)
def nothing() -> None:
    """No copy here pads L1, and how the word of atomic stores is laid out is not published: neither has an effect."""


@semantics(op.SimRegister)
def read_register(core: Core, field: str, result_element: Element) -> int:
    held, number = FIELDS[field]
    return wrap(core.config.get(held.name, held.start)[number], result_element)
