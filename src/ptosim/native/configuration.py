"""Configuration registers: a word of the context for each field."""

from __future__ import annotations

from collections.abc import Callable

from ptosim.effects.configuration import CONFIGURATION, ConfigurationRegister
from ptosim.effects.element import Element
from ptosim.language.micro import configuration as op
from ptosim.language.micro import dma_registers as register
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import define, lowering
from ptosim.native.build.requirement import demand
from ptosim.native.ir.values import I64, Type, Value


def _setter(written: ConfigurationRegister) -> Callable[..., None]:
    def set_register(core: Core, *operands: Value) -> None:
        values = written.unpack(*operands)
        if written.parts:
            demand(core, written.requires, dict(zip(written.parts, values, strict=True)))
        for field, value in zip(written.fields, values, strict=True):
            core.set_register(field, value)

    return set_register


for _register in CONFIGURATION.values():
    if _register.setter != register.SetMovPadVal.name:
        define(_register.setter, _setter(_register), parameters=("core", *_register.operands))


@lowering(register.SetMovPadVal)
def set_mov_pad_val(core: Core, value: Value) -> None:
    core.set_register("pad", value.zext(I64))


@lowering(register.SetPadValOutToL1, register.SetStoreAtomicCfg)
def nothing() -> None:
    """No copy here pads L1, and how the word of atomic stores is laid out is not published: neither has an effect."""


@lowering(op.SimRegister)
def read_register(core: Core, field: str, result_element: Element) -> Value:
    return core.register(field).trunc(Type(f"i{result_element.bits}"))
