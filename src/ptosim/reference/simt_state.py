"""Words that workitems keep from launch to launch: those of the last one, read before any is written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.language.simt.simt_state import Keep, Resume
from ptosim.reference.semantics import semantics
from ptosim.reference.workitems.values import Active, LaneTaint, Values, bits_of, wrapped
from ptosim.reference.workitems.warp import Warp


def _words(kind: Element) -> int:
    return 2 if kind.bits > 32 else 1


@semantics(Keep, bind=lambda static: {"kind": static.elements["value"]})
def keep(
    warp: Warp, active: Active, taints: dict[str, LaneTaint | None], value: Values, slot: int, kind: Element
) -> None:
    bits, taint = bits_of(value, kind), taints["value"]
    for number in range(_words(kind)):
        warp.launch.kinds[slot + number] = kind.name
        words, marks = warp.launch.kept.setdefault(slot + number, _nothing(warp))
        mine = warp.workitems[active]
        words[mine] = (bits >> 32 * number & 0xFFFFFFFF)[active]
        marks[mine] = 0 if taint is None else taint[active]


def _nothing(warp: Warp) -> tuple[Any, Any]:
    count = warp.launch.count
    return np.zeros(count, np.uint32), np.zeros(count, np.uint8)


def _result(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["result"]}


@semantics(Resume, bind=_result)
def resume(
    warp: Warp, active: Active, taints: dict[str, LaneTaint | None], slot: int, kind: Element
) -> tuple[Values, LaneTaint | None]:
    bits, taint = np.zeros(len(active), np.int64), np.zeros(len(active), np.uint8)
    mine = warp.workitems[active]
    for number in range(_words(kind)):
        kept = warp.launch.resumed.get(slot + number)
        if kept is None:
            if warp.onlooker is not None:
                does = f"resumes slot {slot + number}, which the last launch has not kept"
                taint[active] = warp.onlooker.undefined(warp, does, active)
            continue
        if kept.kind != kind.name:
            warp.lint(f"slot {slot + number} was kept as {kept.kind}; its bits are taken for {kind.name}", active)
        bits[active] |= kept.words[mine].astype(np.int64) << 32 * number
        if kept.taint is not None:
            taint[active] = np.maximum(taint[active], kept.taint[mine])
    return wrapped(bits, kind), taint if taint.any() else None
