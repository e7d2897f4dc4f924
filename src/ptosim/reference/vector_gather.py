"""Gathers and scatters: one address per lane or block. Inactive lanes are not touched and, gathered, become zero."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import BLOCKS, GRANULE
from ptosim.effects.names import UB
from ptosim.effects.record import Static
from ptosim.effects.vector_gather import SCATTER_SOURCE, block_offsets, lane_offsets
from ptosim.language import vector_gather as op
from ptosim.reference.core import Core
from ptosim.reference.lanes import Lanes, unsigned
from ptosim.reference.mask import Bits, Mask
from ptosim.reference.numbers import dtype_of
from ptosim.reference.semantics import semantics
from ptosim.target.profile import load_target

Places = NDArray[np.int64]


def _active(lanes: int, stride: int, mask: Mask | None, active_lanes: int | None) -> Bits:
    """Which of so many requests are made: those of active lanes, or the first so many."""
    if mask is not None:
        return mask.lanes(stride)[:lanes]
    return np.arange(lanes) < (active_lanes or 0)


def _lane_starts(pointer: int, offsets: Lanes, static: Static) -> Places:
    return lane_offsets(SimpleNamespace(offsets=unsigned(offsets).astype(np.int64)), static) + pointer


def _gather_facts(static: Static) -> dict[str, Any]:
    return {
        "static": static,
        "size": static.elements["source"].bytes,
        "stride": static.elements["offsets"].bytes,
        "dtype": dtype_of(static.elements["result"]),
    }


@semantics(op.VGather2, bind=_gather_facts)
@semantics(op.VGather2Bc, bind=lambda static: {**_gather_facts(static), "active_lanes": None})
def vgather2(
    core: Core,
    source: int,
    offsets: Lanes,
    mask: Mask | None,
    active_lanes: int | None,
    static: Static,
    size: int,
    stride: int,
    dtype: Any,
) -> Lanes:
    """Elements that are narrower than their lanes are zero-extended."""
    active = _active(len(offsets), stride, mask, active_lanes)
    lanes = np.zeros((len(offsets), stride), np.uint8)
    starts = _lane_starts(source, offsets, static)[active]
    lanes[active, :size] = core.read_pieces(UB, starts, size, size)
    return lanes.reshape(-1).view(dtype)


@semantics(op.VGatherB, bind=lambda static: {"static": static, "dtype": dtype_of(static.elements["result"])})
def vgatherb(
    core: Core,
    source: int,
    offsets: Lanes,
    mask: Mask | None,
    active_lanes: int | None,
    static: Static,
    dtype: Any,
) -> Lanes:
    """Lane b of the b32 mask, of the offsets and of the count stands for block b."""
    core.aligned("reads", UB, source, GRANULE)
    active = _active(BLOCKS, offsets.itemsize, mask, active_lanes)
    used = unsigned(offsets)[:BLOCKS].astype(np.int64)
    starts = block_offsets(SimpleNamespace(offsets=used), static) + source
    blocks = np.zeros((BLOCKS, GRANULE), np.uint8)
    blocks[active] = core.read_pieces(UB, starts[active], GRANULE, GRANULE)
    return blocks.reshape(-1).view(dtype)


def _scatter_facts(static: Static) -> dict[str, Any]:
    size = static.elements["value"].bytes
    slots = np.array(SCATTER_SOURCE[size], np.intp)
    return {
        "static": static,
        "size": size,
        "stride": static.elements["offsets"].bytes,
        "slots": slots[:, np.newaxis] + np.arange(size),
        "exclusive": load_target(static.target).rules.scatter_duplicates == "illegal",
    }


@semantics(op.VScatter, bind=_scatter_facts)
def vscatter(
    core: Core,
    value: Lanes,
    dest: int,
    offsets: Lanes,
    mask: Mask | None,
    active_lanes: int | None,
    static: Static,
    size: int,
    stride: int,
    slots: NDArray[np.intp],
    exclusive: bool,
) -> None:
    """Lanes are stored from the last to the first, so that the lowest one stays where several meet."""
    active = _active(len(offsets), stride, mask, active_lanes)
    starts = _lane_starts(dest, offsets, static)
    _meetings(core, starts, active, exclusive)
    elements = value.view(np.uint8)[slots]
    core.write_pieces(UB, starts[active][::-1], elements[active][::-1], size)


def _meetings(core: Core, starts: Places, active: Bits, exclusive: bool) -> None:
    """Two lanes that store to one element: illegal on a2a3."""
    lanes = np.flatnonzero(active)
    used = starts[lanes]
    order = np.argsort(used, kind="stable")
    same = np.flatnonzero(np.diff(used[order]) == 0)
    if not len(same):
        return
    first, second = (int(lanes[order[same[0] + number]]) for number in (0, 1))
    message = f"lanes {first} and {second} store to the same element, at ub {int(starts[first])}"
    if exclusive:
        core.violation("invalid", f"{message}; on a2a3 it is undefined which one stays")
    else:
        core.lint(f"{message}; the lower lane stays")
