"""Vector loads and stores between UB and registers, contiguous and strided: every mode is a table of bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects import vector_memory
from ptosim.effects.element import BLOCKS, GRANULE, VECTOR_BYTES, Element
from ptosim.effects.names import UB
from ptosim.effects.record import Static
from ptosim.language.micro import vector_memory as op
from ptosim.reference.core import Bytes, Core
from ptosim.reference.memory.access_places import hull
from ptosim.reference.memory.demanded_lanes import read_logical
from ptosim.reference.numeric.byte_gathers import Distribution, distribution
from ptosim.reference.numeric.float_lanes import Lanes, dtype_of
from ptosim.reference.numeric.mask import Bits, Mask
from ptosim.reference.semantics import Operands, semantics

# --- loads ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Load:
    """The static facts of a load."""

    mode: vector_memory.LoadMode
    spreads: tuple[Distribution | None, ...]
    unit: int
    dtype: Any
    post: bool

    def window(self, core: Core, address: int, mask: Mask | None) -> Bytes:
        """The bytes that are distributed."""
        if mask is None:
            return core.read(UB, address, self.mode.footprint, self.mode.alignment, True)
        return read_logical(core, address, self.mode, self.mode.alignment, mask, self.dtype.itemsize)


def _load(static: Static, mode: vector_memory.LoadMode, result: str) -> dict[str, Any]:
    unit, dtype = static.elements["source"].bytes, dtype_of(static.elements[result])
    return {"how": _Load(mode, tuple(map(distribution, mode.tables)), unit, dtype, "next" in static.present)}


@semantics(op.VLds, bind=lambda static: _load(static, vector_memory.load_mode(static.words.get("dist")), "result"))
def vlds(core: Core, source: int, offset: int, mask: Mask | None, how: _Load) -> Any:
    """With an updated pointer the access is at the old one."""
    further = source + offset * how.unit
    address, spread, dtype = source if how.post else further, how.spreads[0], how.dtype
    if mask is not None:
        window = how.window(core, address, mask)
        value = window.copy().view(dtype) if spread is None else mask.zero_inactive(spread(window).view(dtype))
    elif spread is None:
        value = core.load(address, dtype)
    else:
        value = spread(how.window(core, address, None)).view(dtype)
    return (value, further) if how.post else value


@semantics(op.VLdsX2, bind=lambda static: _load(static, vector_memory.DUAL_LOAD_MODES[static.words["dist"]], "low"))
def vldsx2(core: Core, source: int, offset: int, mask: Mask | None, how: _Load) -> tuple[Any, ...]:
    further = source + offset * how.unit
    window = how.window(core, source if how.post else further, mask)
    pair = tuple(spread(window).view(how.dtype) for spread in how.spreads if spread is not None)
    if mask is not None:
        pair = tuple(map(mask.zero_inactive, pair))
    return (*pair, further) if how.post else pair


@semantics(
    op.VSld, bind=lambda static: _load(static, vector_memory.STRIDED_LOAD_MODES[static.words["stride"]], "result")
)
def vsld(core: Core, source: int, offset: int, how: _Load) -> Lanes:
    (spread,) = how.spreads
    assert spread is not None
    return spread(how.window(core, source + offset * how.unit, None)).view(how.dtype)


# --- stores -----------------------------------------------------------------------------------------------------------


@cache
def _gate(mode: vector_memory.StoreMode) -> NDArray[np.intp] | None:
    """The predicate bit of each byte of the footprint; None where the mask has no say."""
    return None if vector_memory.ALWAYS in mode.gate else np.array(mode.gate, np.intp)


@dataclass(frozen=True, slots=True)
class _Store:
    """The static facts of a store."""

    gather: Callable[[Bytes], Bytes] | None
    alignment: int
    gate: NDArray[np.intp] | None
    written: Bits | None
    unit: int
    post: bool
    stride: int
    """The distance between the predicate bits that the mode looks at, whatever the width of the elements."""

    def gathered(self, data: Lanes) -> Bytes:
        """The bytes of a register in the order in which they are stored."""
        return data.view(np.uint8) if self.gather is None else self.gather(data.view(np.uint8))


def _store(static: Static, mode: vector_memory.StoreMode) -> dict[str, Any]:
    written = np.array([place != vector_memory.NOTHING for place in mode.source])
    # 1PT: the unit in its place, and nothing else
    gather = itemgetter(slice(mode.footprint)) if mode.footprint < GRANULE else distribution(mode.source)
    unit, stride = static.elements["dest"].bytes, VECTOR_BYTES // len(set(mode.gate))
    skips = None if written.all() else written
    return {"how": _Store(gather, mode.alignment, _gate(mode), skips, unit, "next" in static.present, stride)}


@semantics(op.VSts, bind=lambda static: _store(static, vector_memory.store_mode_of(static)))
def vsts(core: Core, value: Lanes, dest: int, offset: int, mask: Mask | None, how: _Store) -> int | None:
    further = dest + offset * how.unit
    address = dest if how.post else further
    if mask is not None and how.gate is not None and not mask.is_full(how.stride):
        core.aligned("writes", UB, address, how.alignment)
        _store_active(core, address, how.gathered(value), mask.bits[how.gate])
    elif how.gather is None:
        core.store(address, value)
    else:
        core.write(UB, address, how.gathered(value), how.alignment)
    return further if how.post else None


def _store_active(core: Core, address: int, data: Bytes, active: Bits) -> None:
    """From the first active byte to the last: inactive ones at the ends may lie outside of UB."""
    low, high = hull(active)
    if high > low:
        core.write(UB, address + low, data[low:high], 1, active[low:high])


@semantics(op.VStsX2, bind=lambda static: _store(static, vector_memory.DUAL_STORE_MODES[static.words["dist"]]))
def vstsx2(core: Core, low: Lanes, high: Lanes, dest: int, offset: int, mask: Mask, how: _Store) -> None:
    if not mask.is_full(low.itemsize):
        core.lint("an interleaving store ignores its mask: the inactive lanes are stored as well")
    core.write(UB, dest + offset * how.unit, how.gathered(np.concatenate((low, high))), how.alignment)


@semantics(op.VSst, bind=lambda static: _store(static, vector_memory.STRIDED_STORE_MODES[static.words["stride"]]))
def vsst(core: Core, value: Lanes, dest: int, offset: int, how: _Store) -> None:
    core.write(UB, dest + offset * how.unit, how.gathered(value), how.alignment, how.written)


# --- blocks at equal distances ----------------------------------------------------------------------------------------


def _block_starts(base: int, operands: Operands, static: Static) -> tuple[NDArray[np.int64], int]:
    """The addresses of the 8 blocks, and the pointer advanced by the repeat stride."""
    advance = vector_memory.block_strides(operands, static)[1] * GRANULE
    return np.array(vector_memory.block_offsets(operands, static), np.int64) + base, base + advance


@semantics(op.VSldb)
def vsldb(core: Core, operands: Operands, static: Static, result_element: Element) -> Any:
    """A block of which any predicate bit is set is loaded; the others are zero."""
    core.aligned("reads", UB, operands.source, GRANULE)
    starts, advanced = _block_starts(operands.source, operands, static)
    active = operands.mask.bits.reshape(BLOCKS, -1).any(axis=1)
    blocks = np.zeros((BLOCKS, GRANULE), np.uint8)
    blocks[active] = core.read_pieces(UB, starts[active], GRANULE)
    value = blocks.reshape(-1).view(dtype_of(result_element))
    return (value, advanced) if "next" in static.present else value


@semantics(op.VSstb)
def vsstb(core: Core, operands: Operands, value: Lanes, dest: int, mask: Mask, static: Static) -> int | None:
    """Each element by its own lane of the mask."""
    width = value.itemsize
    core.aligned("writes", UB, dest, GRANULE)
    starts, advanced = _block_starts(dest, operands, static)
    blocks = value.view(np.uint8).reshape(BLOCKS, GRANULE)
    if mask.is_full(width):
        core.write_pieces(UB, starts, blocks)
    else:
        active = np.repeat(mask.lanes(width), width).reshape(blocks.shape)
        for start, block, bytes_active in zip(starts, blocks, active, strict=True):
            _store_active(core, int(start), block, bytes_active)
    return advanced if "next" in static.present else None
