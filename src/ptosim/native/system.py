"""Queries of the launch, CTRL, the special registers of the vector unit, trap and print."""

from __future__ import annotations

from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.effects.system import WORD
from ptosim.language.micro import system as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import given, lowering
from ptosim.native.ir.context import WORD_BYTES, ContextWord, Register
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I16, I32, I64, Value


@lowering(op.GetBlockIdx, bind=given(word=ContextWord.BLOCK))
@lowering(op.GetBlockNum, bind=given(word=ContextWord.BLOCK_NUM))
@lowering(op.GetSubblockIdx, bind=given(word=ContextWord.SUBBLOCK))
@lowering(op.GetSubblockNum, bind=given(word=ContextWord.SUBBLOCK_NUM))
def query(f: FunctionBuilder, word: ContextWord) -> Value:
    return f.word(word).load(I64, WORD_BYTES)


@lowering(op.GetCtrl)
def get_ctrl(core: Core) -> Value:
    return core.register(Register.CTRL)


@lowering(op.SetCtrl)
def set_ctrl(core: Core, value: Value) -> None:
    core.set_register(Register.CTRL, value)


def _bit(bit: Value) -> Value:
    return bit.like(1) << (bit & 63)


@lowering(op.SBitSet0)
def sbitset0(value: Value, bit: Value) -> Value:
    return value & ~_bit(bit)


@lowering(op.SBitSet1)
def sbitset1(value: Value, bit: Value) -> Value:
    return value | _bit(bit)


@lowering(op.GetVms4Sr)
def get_vms4_sr(core: Core) -> tuple[Value, ...]:
    counts = core.register(Register.VMS4_SR)
    return tuple(counts.lshr(16 * number).trunc(I16) for number in range(4))


@lowering(op.SprClr)
def sprclr(f: FunctionBuilder, core: Core, register: str) -> None:
    core.set_register(Register[register], f.constant(I64, 0))


@lowering(op.SprSti, bind=given(unit=WORD))
@lowering(op.SprSts, bind=given(unit=1))
def spr_store(core: Core, register: str, dest: Value, offset: Value, static: Static, unit: int) -> Value | None:
    """The register as 32 bits; with a result the store is at the pointer, and the result the pointer moved on."""
    post, further = "next" in static.present, dest + offset.signed(I64) * unit
    window = core.window("writes", Space.UB, dest if post else further, WORD, WORD)
    window.store(core.register(Register[register]).trunc(I32))
    return further if post else None


@lowering(op.Trap)
def trap(f: FunctionBuilder, core: Core) -> None:
    core.fail(f.constant(I1, 1), "trap", "the kernel executed pto.trap")
    f.settle()


def _printed(static: Static) -> dict[str, Any]:
    """The type of each value, None for a pointer."""
    roles = [role for role in static.elements if role.startswith("values[")]
    return {"kinds": tuple(None if role in static.spaces else static.elements[role] for role in roles)}


@lowering(op.Print, bind=_printed)
def print_(core: Core, format: str | None, values: tuple[Value, ...], kinds: tuple[Element | None, ...]) -> None:
    """A line of text, by the run time."""
    words = [_printed_word(value, kind) for value, kind in zip(values, kinds, strict=True)]
    core.issue("print", [format, *(kind.name if kind else None for kind in kinds)], words, at_once=True)


def _printed_word(value: Value, kind: Element | None) -> Value:
    signed = kind is None or kind.kind == "signed"
    return value.signed(I64) if signed and value.kind.bits > 1 else value
