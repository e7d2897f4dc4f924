"""Unaligned loads and stores, whose state travels in align values (stream.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.effects.names import UB
from ptosim.effects.record import Static
from ptosim.effects.vector_memory import load_mode
from ptosim.effects.vector_stream import primed_granule
from ptosim.language.micro import vector_stream as op
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.memory.demanded_lanes import read_logical
from ptosim.reference.memory.stream import LoadAlign, StoreAlign, append_bytes, flush
from ptosim.reference.numeric.float_lanes import dtype_of
from ptosim.reference.numeric.lanes import Lanes
from ptosim.reference.numeric.mask import Mask
from ptosim.reference.semantics import Operands, semantics

# --- loads ------------------------------------------------------------------------------------------------------------


@semantics(op.VLdas)
def vldas(core: Core, source: int) -> LoadAlign:
    granule = primed_granule(source)
    return LoadAlign(granule, core.glimpsed(UB, granule, GRANULE) if core.wants_lint else b"")


def _load_facts(static: Static) -> dict[str, Any]:
    return {
        "unit": static.elements["source"].bytes,
        "dtype": dtype_of(static.elements["result"]),
        "post": "next" in static.present,
    }


@semantics(op.VLdus, bind=_load_facts)
def vldus(core: Core, operands: Operands, unit: int, dtype: Any, post: bool) -> tuple[Any, ...]:
    """The older form with an updated pointer and no increment goes on by one register."""
    source, align, increment = operands.source, operands.align, operands.increment
    if align.granule != primed_granule(source):
        message = f"the stream has read ahead the granule at ub {align.granule}, but this load is at {source}"
        core.stray(f"a stale align: {message}", "stream-misuse")
    elif core.wants_lint:
        _compare(core, align, source)
    value = _loaded(core, source, operands.mask, unit, dtype)
    following = source + (VECTOR_BYTES if increment is None else increment * unit)
    after = vldas(core, following)
    return (value, after, following) if post else (value, after)


def _compare(core: Core, align: LoadAlign, source: int) -> None:
    """The bytes that a stream has read ahead must be those that its next load is to see."""
    first = source - align.granule
    if core.glimpsed(UB, source, GRANULE - first) != align.content[first:]:
        core.lint(
            f"the stream has read ub[{source}:{align.granule + GRANULE}] ahead before these bytes were stored: this "
            "load may still give the old ones",
            hint=f"begin the stream behind the store and its mem_bar, by {op.VLdas.name}",
        )


@semantics(op.UVld, bind=_load_facts)
def uvld(core: Core, source: int, offset: int, mask: Mask | None, unit: int, dtype: Any) -> Lanes:
    return _loaded(core, source + offset * unit, mask, unit, dtype)


def _loaded(core: Core, address: int, mask: Mask | None, unit: int, dtype: Any) -> Lanes:
    if mask is None:
        return core.read(UB, address, VECTOR_BYTES, unit, True).copy().view(dtype)
    window = read_logical(core, address, load_mode(None), unit, mask, dtype.itemsize)
    return window.copy().view(dtype)


# --- stores -----------------------------------------------------------------------------------------------------------


@semantics(op.InitAlign)
def init_align() -> StoreAlign:
    return StoreAlign()


def _store_facts(static: Static) -> dict[str, Any]:
    element = static.elements["dest"]
    return {"unit": element.bytes, "lanes": static.elements["value"].lanes, "post": "next" in static.present}


@semantics(op.VStus, bind=_store_facts)
def vstus(
    core: Core, align: StoreAlign, offset: int, value: Lanes, dest: int, mode: str | None, unit: int, post: bool
) -> Any:
    """The offset is how many elements are stored, and how far the pointer advances."""
    length = offset * unit
    if not 0 <= length <= VECTOR_BYTES:
        raise Fault("invalid", f"a register has {VECTOR_BYTES // unit} elements; {offset} of them cannot be stored")
    after = append_bytes(core, align, dest, value.view(np.uint8)[:length])
    advanced = dest if mode == "NO_POST_UPDATE" else dest + length
    return (after, advanced) if post else after


@semantics(op.VStu, bind=_store_facts)
def vstu(core: Core, operands: Operands, mode: str | None, unit: int, lanes: int) -> tuple[StoreAlign, int]:
    """A whole register: at `base`, or `offset` elements behind the pointer."""
    align, base, offset, data = operands.align, operands.base, operands.offset, operands.value.view(np.uint8)
    if base is not None:
        return append_bytes(core, align, base, data), base + lanes * unit if operands.update else base
    after = append_bytes(core, align, operands.dest + offset * unit, data)
    return after, offset + lanes if mode == "POST_UPDATE" else offset


_AR_MASK = 0xFFFF_FFFF


@semantics(op.VStur)
def vstur(core: Core, align: StoreAlign, value: Lanes, dest: int, mode: str) -> StoreAlign:
    """The kept bytes of the last squeeze, behind what earlier ones have: SQZN bytes at AR."""
    kept, reached = core.special["SQZN"], core.special["AR"]
    after = append_bytes(core, align, dest + reached, value.view(np.uint8)[:kept])
    if mode == "POST_UPDATE":
        core.special["AR"] = reached + kept & _AR_MASK
    return after


# --- flushes ----------------------------------------------------------------------------------------------------------


def _flush_facts(static: Static) -> dict[str, Any]:
    return {"unit": static.elements["dest"].bytes, "post": "next" in static.present}


@semantics(op.VStas, op.VSta, bind=_flush_facts)
def vstas(core: Core, align: StoreAlign, dest: int, offset: int, unit: int, post: bool) -> int | None:
    """Older text counts the offset in bytes: a flush that fits either way is not complained of."""
    if post:
        flush(core, align, dest)
        return dest + offset * unit
    flush(core, align, dest + offset * unit, dest + offset)
    return None


@semantics(op.VStar)
def vstar(core: Core, align: StoreAlign, dest: int) -> None:
    flush(core, align, dest + core.special["AR"])
