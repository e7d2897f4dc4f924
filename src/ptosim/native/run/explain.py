"""Errors at failing sites of compiled code, told as the reference engine tells them.

The table of sites is plain data, made while the kernel was compiled: kind, message, place and pipe of each. Some kinds
stand for a family of messages: "access", of on-chip memory, "gm", and "meeting", of two lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptosim.diagnostics import Details, Location, PTOError, Source, error
from ptosim.machine.memory import decode, misaligned, outside
from ptosim.native.run.cores import CompiledFault

Told = tuple[str, str, tuple[int, int] | None]
"""Kind, message, and the bytes that it is about."""


def explainer(sites: Sequence[Any], source: Source) -> Callable[[CompiledFault], PTOError]:
    """The function that makes an error of a fault."""

    def explain(fault: CompiledFault) -> PTOError:
        kind, message, place, pipe = sites[fault.site]
        location = Location(source.name, *place, source=source) if place else None
        kind, message, extent = _FAMILIES.get(kind, _plain)(kind, message, fault)
        details = Details(core=fault.core, block=fault.block, loops=fault.loops, bytes=extent, pipe=pipe)
        return error(kind, message, location, **details)

    return explain


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
}
