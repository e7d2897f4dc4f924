"""Words that workitems keep from launch to launch: by slot, a word for each."""

from __future__ import annotations

from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.effects.simt import WARP
from ptosim.language.simt.simt import MOST_WORKITEMS
from ptosim.language.simt.simt_state import Keep, Resume
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import lowering
from ptosim.native.ir.context import ContextWord, Register
from ptosim.native.ir.values import I1, I32, I64, Type, Value
from ptosim.native.workitems.values import spread
from ptosim.native.workitems.warp_body import WarpBody
from ptosim.native.workitems.warp_core import WarpCore

WORDS = {0: Register.SIMT_KEPT, 1: Register.SIMT_KEPT_BEHIND}


def _room(warp: WarpBody, slot: int) -> Value:
    """The words of a warp."""
    far = warp.number * (4 * WARP) + slot * (4 * MOST_WORKITEMS)
    return warp.f.base(ContextWord.WORKITEMS).at(far)


@lowering(Keep, bind=lambda static: {"kind": static.elements["value"]})
def keep(warp: WarpBody, value: Value, slot: int, kind: Element) -> None:
    """Keeps a register; the slots that are kept are noted when the launch has ended (simt.py)."""
    wide = spread(warp.f, value).zext(I64)
    for number in range(2 if kind.bits > 32 else 1):
        _room(warp, slot + number).store(wide.lshr(32 * number).trunc(I32))


def _result(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["result"]}


@lowering(Resume, bind=_result)
def resume(core: WarpCore, warp: WarpBody, slot: int, kind: Element) -> Value:
    total, lost = warp.f.constant(I64.vector(WARP), 0), warp.f.constant(I1, 0)
    for number in range(2 if kind.bits > 32 else 1):
        words = _room(warp, slot + number).load(I32.vector(WARP))
        known = is_kept(core, slot + number)
        lost = lost | ~known
        total = total | spread(warp.f, known).select(words, words.like(0)).zext(I64) << 32 * number
    warp.watch.loaded([lost.sext(I32)] if warp.watch.follows else ())
    return total.trunc(Type(f"i{kind.bits}"))


def is_kept(core: Core, slot: int) -> Value:
    """Whether the last launch has kept a slot."""
    return (core.register(WORDS[slot // 64]).lshr(slot % 64) & 1) != 0
