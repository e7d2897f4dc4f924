"""Gathers and scatters: one address per lane or block. Inactive lanes are not touched and, gathered, become zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import BLOCKS, GRANULE, Element
from ptosim.effects.names import UB
from ptosim.effects.record import Static
from ptosim.effects.vector_gather import SCATTER_SOURCE, block_offsets, lane_offsets
from ptosim.language.micro import vector_gather as op
from ptosim.reference.core import Core
from ptosim.reference.memory.access_places import Places
from ptosim.reference.numeric.float_lanes import dtype_of
from ptosim.reference.numeric.lanes import Lanes, unsigned
from ptosim.reference.numeric.mask import Bits
from ptosim.reference.semantics import Operands, semantics
from ptosim.target.profile import load_target


def _active(lanes: int, operands: Operands) -> Bits:
    """The requests that are made: those of active lanes, or the first so many."""
    if operands.mask is not None:
        return operands.mask.lanes(operands.offsets.itemsize)[:lanes]
    return np.arange(lanes) < (operands.active_lanes or 0)


def _lane_starts(pointer: int, offsets: Lanes, static: Static) -> Places:
    return lane_offsets(Operands(offsets=unsigned(offsets).astype(np.int64)), static) + pointer


def _stay_within(core: Core, offsets: Lanes, starts: Places, active: Bits, static: Static) -> None:
    """Indices beyond the elements that the instruction says there are. Where they leave UB the access itself tells it;
    otherwise a run goes on with the bytes of others."""
    limit = static.integers.get("within")
    if limit is None or not core.wants_lint:
        return
    indices = unsigned(offsets)
    beyond = np.flatnonzero(active & (indices >= limit))
    if len(beyond) and starts[beyond].max() < load_target(static.target).memory[UB]:
        core.stray(f"index {int(indices[beyond[0]])} is beyond the tile, which has elements 0 to {limit - 1}")


@semantics(op.VGather2, op.VGather2Bc)
def vgather2(core: Core, operands: Operands, static: Static, result_element: Element) -> Lanes:
    """Elements that are narrower than their lanes are zero-extended."""
    offsets, size = operands.offsets, static.elements["source"].bytes
    active = _active(len(offsets), operands)
    lanes = np.zeros((len(offsets), offsets.itemsize), np.uint8)
    starts = _lane_starts(operands.source, offsets, static)
    _stay_within(core, offsets, starts, active, static)
    lanes[active, :size] = core.read_pieces(UB, starts[active], size, size)
    return lanes.reshape(-1).view(dtype_of(result_element))


@semantics(op.VGatherB)
def vgatherb(core: Core, operands: Operands, static: Static, result_element: Element) -> Lanes:
    """Lane b of the b32 mask, of the offsets and of the count stands for block b."""
    core.aligned("reads", UB, operands.source, GRANULE)
    active = _active(BLOCKS, operands)
    used = unsigned(operands.offsets)[:BLOCKS].astype(np.int64)
    starts = block_offsets(Operands(offsets=used), static) + operands.source
    blocks = np.zeros((BLOCKS, GRANULE), np.uint8)
    blocks[active] = core.read_pieces(UB, starts[active], GRANULE, GRANULE)
    return blocks.reshape(-1).view(dtype_of(result_element))


def _places(static: Static) -> dict[str, Any]:
    """The bytes of the register that each lane stores, and whether no two may store to one element."""
    size = static.elements["value"].bytes
    slots = np.array(SCATTER_SOURCE[size], np.intp)[:, np.newaxis] + np.arange(size)
    return {"slots": slots, "exclusive": load_target(static.target).rules.scatter_duplicates == "illegal"}


@semantics(op.VScatter, bind=_places)
def vscatter(core: Core, operands: Operands, static: Static, slots: NDArray[np.intp], exclusive: bool) -> None:
    """Lanes are stored from the last to the first, so that the lowest one stays where several meet."""
    active = _active(len(operands.offsets), operands)
    starts = _lane_starts(operands.dest, operands.offsets, static)
    _stay_within(core, operands.offsets, starts, active, static)
    _meetings(core, starts, active, exclusive)
    elements = operands.value.view(np.uint8)[slots]
    core.write_pieces(UB, starts[active][::-1], elements[active][::-1], slots.shape[1])


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
