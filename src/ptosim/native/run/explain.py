"""Errors at failing sites of compiled code, told as the reference engine tells them.

The table of sites is plain data, made while the kernel was compiled: kind, message, place and pipe of each. Some kinds
stand for a family of messages: "access", of on-chip memory, "gm", and "meeting", of two lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptosim.diagnostics import Details, Location, PTOError, Source, error
from ptosim.effects.simt import WARP
from ptosim.machine.memory import decode, misaligned, outside
from ptosim.native.run.cores import CompiledFault

Told = tuple[str, str, tuple[int, int] | None]
"""Kind, message, and the bytes that it is about."""


def explainer(sites: Sequence[Any], source: Source) -> Callable[[CompiledFault], PTOError]:
    """The function that makes an error of a fault."""

    def explain(fault: CompiledFault) -> PTOError:
        kind, message, place, pipe = sites[fault.site]
        location = Location(source.name, *place, source=source) if place else None
        concerned = Details()
        if kind == BARRIER:
            kind, message, place, extent = _deadlock(sites, fault, concerned)
            location = Location(source.name, *place, source=source) if place else None
        else:
            is_of_workitem, kind, message = kind == WORKITEM, *(message[:2] if kind == WORKITEM else (kind, message))
            kind, message, extent = _FAMILIES.get(kind, _plain)(kind, message, fault)
            if is_of_workitem:
                message = _named(message, fault, sites[fault.site][1][2], concerned)
        details = Details(core=fault.core, block=fault.block, loops=fault.loops, bytes=extent, pipe=pipe)
        details.update(concerned)
        return error(kind, message, location, **details)

    return explain


WORKITEM, BARRIER, LAUNCH, PRIVATE = "workitem", "barrier", "launch", "private"
"""Errors in the code of workitems, workitems that wait for ever, and an impossible launch."""


def _named(message: str, fault: CompiledFault, is_single: bool, concerned: Details) -> str:
    """With the lowest workitem, and how many there are."""
    at = fault.workitems
    lanes = at.numbers
    concerned["workitem"] = who = at.workitem(WARP * at.warp + lanes[0])
    concerned["lanes"] = lanes[:1] if is_single else lanes
    others = "" if is_single or len(lanes) == 1 else f", the lowest of {len(lanes)} in its warp"
    return f"{message}; {who}{others}"


def _deadlock(sites: Sequence[Any], fault: CompiledFault, concerned: Details) -> tuple[str, str, Any, None]:
    _, name, place, _ = sites[fault.value]
    arrived, number = fault.detail & 0xFFFF, fault.detail >> 16 & 0xFFFF
    x, y, z = fault.workitems.sizes
    concerned["workitem"] = who = fault.workitems.workitem(number)
    where = "has ended" if fault.detail >> 32 else "does not execute it: its warp came here without it"
    return (
        "deadlock",
        f"{name} waits for ever: {arrived} of {x * y * z} workitems are there; {who} {where}",
        place,
        None,
    )


def _launch(kind: str, message: int, fault: CompiledFault) -> Told:
    from ptosim.language.simt.simt import unfit

    word = fault.value & (1 << 64) - 1
    x, y, z = (_signed32(part) for part in (word & 0xFFFFFFFF, word >> 32, fault.detail & 0xFFFFFFFF))
    return "invalid", unfit(x, y, z, message) or "", None


def _signed32(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def _private(kind: str, message: Sequence[Any], fault: CompiledFault) -> Told:
    verb, width = message
    start = fault.value
    text = f"{verb} private memory outside of the buffers of the workitem, at {start}"
    return "out-of-bounds", text, (start, start + width)


def _plain(kind: str, message: str, fault: CompiledFault) -> Told:
    return kind, message.format(fault.value, fault.detail, max_steps=fault.invocation.max_steps), None


def _access(kind: str, message: Sequence[Any], fault: CompiledFault) -> Told:
    verb, space, size, width, alignment = message
    start, width = fault.value, fault.detail if width is None else width
    if start % alignment:
        return _misaligned(verb, space, start, alignment)
    return "out-of-bounds", outside(verb, space, size, start, width), (start, start + width)


def _global(kind: str, message: Sequence[Any], fault: CompiledFault) -> Told:
    verb, alignment = message
    start, width = fault.value, fault.detail
    offset = decode(start)[1]
    if start % alignment:
        return _misaligned(verb, "gm", offset, alignment)
    return "out-of-bounds", *fault.invocation.regions.stray(verb, start, width)


def _misaligned(verb: str, space: str, start: int, alignment: int) -> Told:
    return "misaligned", misaligned(verb, space, start, alignment), None


def _meeting(kind: str, message: str, fault: CompiledFault) -> Told:
    """Two lanes, in one word, that store to one address."""
    return "invalid", message.format(fault.detail & 0xFFFF, fault.detail >> 16, fault.value), None


_FAMILIES: dict[str, Callable[[str, Any, CompiledFault], Told]] = {
    "access": _access,
    "gm": _global,
    "meeting": _meeting,
    LAUNCH: _launch,
    PRIVATE: _private,
}
