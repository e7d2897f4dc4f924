"""Vector loads and stores between UB and registers, contiguous and strided: every mode is a table of bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import BLOCKS, GRANULE, VECTOR_BYTES
from ptosim.effects.names import UB
from ptosim.effects.record import Static
from ptosim.effects.vector_memory import (
    ALWAYS,
    DUAL_LOAD_MODES,
    DUAL_STORE_MODES,
    NOTHING,
    STRIDED_LOAD_MODES,
    STRIDED_STORE_MODES,
    LoadMode,
    StoreMode,
    block_offsets,
    block_strides,
    load_mode,
    store_mode_of,
)
from ptosim.language import vector_memory as op
from ptosim.reference.core import Bytes, Core
from ptosim.reference.distribution import Distribution, distribution
from ptosim.reference.logical import read_logical
from ptosim.reference.mask import Bits, Mask
from ptosim.reference.numbers import dtype_of
from ptosim.reference.semantics import Operands, semantics

Lanes = NDArray[Any]

# --- loads ------------------------------------------------------------------------------------------------------------


def _load_facts(static: Static, mode: LoadMode, result: str) -> dict[str, Any]:
    return {
        "footprint": mode.footprint,
        "alignment": mode.alignment,
        "spread": distribution(mode.tables[0]),
        "second": distribution(mode.tables[-1]),
        "unit": static.elements["source"].bytes,
        "dtype": dtype_of(static.elements[result]),
        "post": "next" in static.present,
        "mode": mode,
    }


def _vlds_facts(static: Static) -> dict[str, Any]:
    return _load_facts(static, load_mode(static.words.get("dist")), "result")


@semantics(op.VLds, bind=_vlds_facts)
def vlds(
    core: Core,
    source: int,
    offset: int,
    mask: Mask | None,
    footprint: int,
    alignment: int,
    spread: Distribution | None,
    unit: int,
    dtype: Any,
    post: bool,
    mode: LoadMode,
) -> Any:
    """With an updated pointer the access is at the old one."""
    address = source if post else source + offset * unit
    if mask is not None:
        window = read_logical(core, address, mode, alignment, mask, dtype.itemsize)
        value = window.copy().view(dtype) if spread is None else mask.zero_inactive(spread(window).view(dtype))
    elif spread is None:
        value = core.load(address, dtype)
    else:
        value = spread(core.read(UB, address, footprint, alignment, True)).view(dtype)
    return (value, source + offset * unit) if post else value


@semantics(op.VLdsX2, bind=lambda static: _load_facts(static, DUAL_LOAD_MODES[static.words["dist"]], "low"))
def vldsx2(
    core: Core,
    source: int,
    offset: int,
    mask: Mask | None,
    footprint: int,
    alignment: int,
    spread: Distribution,
    second: Distribution,
    unit: int,
    dtype: Any,
    post: bool,
    mode: LoadMode,
) -> tuple[Any, ...]:
    address = source if post else source + offset * unit
    if mask is None:
        window = core.read(UB, address, footprint, alignment, True)
    else:
        window = read_logical(core, address, mode, alignment, mask, dtype.itemsize)
    pair = spread(window).view(dtype), second(window).view(dtype)
    if mask is not None:
        pair = mask.zero_inactive(pair[0]), mask.zero_inactive(pair[1])
    return (*pair, source + offset * unit) if post else pair


@semantics(op.VSld, bind=lambda static: _load_facts(static, STRIDED_LOAD_MODES[static.words["stride"]], "result"))
def vsld(
    core: Core, source: int, offset: int, footprint: int, alignment: int, spread: Distribution, unit: int, dtype: Any
) -> Lanes:
    return spread(core.read(UB, source + offset * unit, footprint, alignment, True)).view(dtype)


# --- stores -----------------------------------------------------------------------------------------------------------


@cache
def _gate(mode: StoreMode) -> NDArray[np.intp] | None:
    """The predicate bit of each byte of the footprint; None where the mask has no say."""
    return None if ALWAYS in mode.gate else np.array(mode.gate, np.intp)


def _store_facts(static: Static, mode: StoreMode, value: str) -> dict[str, Any]:
    written = np.array([place != NOTHING for place in mode.source])
    return {
        "gather": distribution(mode.source),
        "alignment": mode.alignment,
        "gate": _gate(mode),
        "written": None if written.all() else written,
        "unit": static.elements["dest"].bytes,
        "width": static.elements[value].bytes,
        "post": "next" in static.present,
    }


def _vsts_facts(static: Static) -> dict[str, Any]:
    mode = store_mode_of(static)
    facts = _store_facts(static, mode, "value")
    if mode.footprint < GRANULE:  # 1PT: the unit in its place, and nothing else
        facts["gather"] = itemgetter(slice(mode.footprint))
    return {**facts, "stride": VECTOR_BYTES // len(set(mode.gate))}


@semantics(op.VSts, bind=_vsts_facts)
def vsts(
    core: Core,
    value: Lanes,
    dest: int,
    offset: int,
    mask: Mask | None,
    gather: Callable[[Bytes], Bytes] | None,
    gate: NDArray[np.intp] | None,
    alignment: int,
    stride: int,
    unit: int,
    post: bool,
) -> int | None:
    """`stride` is how far the predicate bits lie apart that the dist looks at, whatever the width of the elements."""
    address = dest if post else dest + offset * unit
    if mask is not None and gate is not None and not mask.is_full(stride):
        core.aligned("writes", UB, address, alignment)
        data = value.view(np.uint8)
        _store_active(core, address, data if gather is None else gather(data), mask.bits[gate])
    elif gather is None:
        core.store(address, value)
    else:
        core.write(UB, address, gather(value.view(np.uint8)), alignment)
    return dest + offset * unit if post else None


def _store_active(core: Core, address: int, data: Bytes, active: Bits) -> None:
    """From the first active byte to the last: inactive ones at the ends may lie outside of UB."""
    places = np.flatnonzero(active)
    if len(places):
        low, high = int(places[0]), int(places[-1]) + 1
        core.write(UB, address + low, data[low:high], 1, active[low:high])


@semantics(op.VStsX2, bind=lambda static: _store_facts(static, DUAL_STORE_MODES[static.words["dist"]], "low"))
def vstsx2(
    core: Core,
    low: Lanes,
    high: Lanes,
    dest: int,
    offset: int,
    mask: Mask,
    gather: Distribution,
    alignment: int,
    unit: int,
    width: int,
) -> None:
    if not mask.is_full(width):
        core.lint("an interleaving store ignores its mask: the inactive lanes are stored as well")
    core.write(UB, dest + offset * unit, gather(np.concatenate((low, high)).view(np.uint8)), alignment)


@semantics(op.VSst, bind=lambda static: _store_facts(static, STRIDED_STORE_MODES[static.words["stride"]], "value"))
def vsst(
    core: Core,
    value: Lanes,
    dest: int,
    offset: int,
    gather: Distribution,
    written: Bits,
    alignment: int,
    unit: int,
) -> None:
    core.write(UB, dest + offset * unit, gather(value.view(np.uint8)), alignment, written)


# --- blocks at equal distances ----------------------------------------------------------------------------------------


def _block_facts(static: Static) -> dict[str, Any]:
    return {"static": static, "post": "next" in static.present}


def _block_starts(base: int, operands: Operands, static: Static) -> tuple[NDArray[np.int64], int]:
    """Where the 8 blocks lie, and the pointer advanced by the repeat stride."""
    advance = block_strides(operands, static)[1] * GRANULE
    return np.array(block_offsets(operands, static), np.int64) + base, base + advance


@semantics(op.VSldb, bind=lambda static: {**_block_facts(static), "dtype": dtype_of(static.elements["result"])})
def vsldb(core: Core, operands: Operands, source: int, mask: Mask, static: Static, dtype: Any, post: bool) -> Any:
    """A block of which any predicate bit is set is loaded; the others are zero."""
    core.aligned("reads", UB, source, GRANULE)
    starts, advanced = _block_starts(source, operands, static)
    active = mask.bits.reshape(BLOCKS, -1).any(axis=1)
    blocks = np.zeros((BLOCKS, GRANULE), np.uint8)
    blocks[active] = core.read_pieces(UB, starts[active], GRANULE)
    value = blocks.reshape(-1).view(dtype)
    return (value, advanced) if post else value


@semantics(op.VSstb, bind=lambda static: {**_block_facts(static), "width": static.elements["value"].bytes})
def vsstb(
    core: Core, operands: Operands, value: Lanes, dest: int, mask: Mask, static: Static, width: int, post: bool
) -> int | None:
    """Each element by its own lane of the mask."""
    core.aligned("writes", UB, dest, GRANULE)
    starts, advanced = _block_starts(dest, operands, static)
    blocks = value.view(np.uint8).reshape(BLOCKS, GRANULE)
    if mask.is_full(width):
        core.write_pieces(UB, starts, blocks)
    else:
        active = np.repeat(mask.lanes(width), width).reshape(blocks.shape)
        for start, block, bytes_active in zip(starts, blocks, active, strict=True):
            _store_active(core, int(start), block, bytes_active)
    return advanced if post else None
