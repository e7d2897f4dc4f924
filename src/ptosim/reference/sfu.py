"""Fused activations, multiply-adds with one rounding, the wide product, and sorting from UB to UB."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.names import UB
from ptosim.effects.record import Static
from ptosim.effects.sfu import (
    LISTS,
    RECORD_BYTES,
    SORT_ALIGNMENT,
    SORT_WIDTH,
    list_count,
    list_valid,
    repeats,
    suspends,
)
from ptosim.language.micro import sfu as op
from ptosim.reference.core import Bytes, Core
from ptosim.reference.fault import Fault
from ptosim.reference.numeric import elementary, float_lanes
from ptosim.reference.numeric.lanes import Lane, Lanes, broadcast, scalar_lane, unsigned
from ptosim.reference.numeric.mask import Mask
from ptosim.reference.semantics import Operands, semantics

# --- activations ------------------------------------------------------------------------------------------------------


def _leaky(input: Lanes, alpha: Lanes, element: Element) -> Lanes:
    """x where x >= 0 (so -0 stays), else alpha * x; a NaN takes the second way."""
    if not element.is_float:
        return np.where(input >= 0, input, input * alpha)
    x = float_lanes.widen(element, input)
    return np.where(x >= 0, input, float_lanes.narrow(element, x * float_lanes.widen(element, alpha)))


@semantics(op.VLrelu, bind=lambda static: {"lane": scalar_lane(static.elements["input"])})
def vlrelu(input: Lanes, scalar: int, element: Element, lane: Lane) -> Lanes:
    return _leaky(input, lane(scalar), element)


@semantics(op.VPrelu)
def vprelu(input: Lanes, alpha: Lanes, element: Element) -> Lanes:
    return _leaky(input, alpha, element)


@semantics(op.VExpdif)
def vexpdif(input: Lanes, max: Lanes, mask: Mask, part: str) -> Lanes:
    """exp(x - m) in f32; of f16 lanes the even or the odd ones, f32 lanes all, whatever the part says."""
    if input.dtype != np.float16:
        return mask.zero_inactive(elementary.exp(input - max))
    chosen = slice(int(part == "ODD"), None, 2)
    power = elementary.exp(input[chosen].astype(np.float32) - max[chosen].astype(np.float32))
    return np.where(mask.lanes(2)[chosen], power, np.float32(0))


# --- multiply and add -------------------------------------------------------------------------------------------------


@semantics(op.VAxpy, bind=lambda static: {"register": broadcast(static.elements["input"])})
def vaxpy(input: Lanes, addend: Lanes, scalar: int, active: Lanes, element: Element, register: Lane) -> Lanes:
    """scalar * x + y with one rounding; inactive lanes keep y."""
    return np.where(active, float_lanes.fused_multiply_add(element, input, register(scalar), addend), addend)


@semantics(op.VMula)
def vmula(acc: Lanes, lhs: Lanes, rhs: Lanes, active: Lanes, element: Element) -> Lanes:
    """acc + a * b, floats with one rounding; inactive lanes keep the accumulator."""
    total = float_lanes.fused_multiply_add(element, lhs, rhs, acc) if element.is_float else acc + lhs * rhs
    return np.where(active, total, acc)


@semantics(op.VMull)
def vmull(lhs: Lanes, rhs: Lanes) -> tuple[Lanes, Lanes]:
    """The whole 64-bit product of 32-bit lanes."""
    wide = np.uint64 if lhs.dtype.kind == "u" else np.int64
    halves = (lhs.astype(wide) * rhs).view(lhs.dtype)
    return halves[0::2].copy(), halves[1::2].copy()


# --- sorting ----------------------------------------------------------------------------------------------------------


@semantics(op.VBitsort, bind=lambda static: {"dtype": float_lanes.dtype_of(static.elements["source"])})
def vbitsort(core: Core, dest: int, source: int, indices: int, repeat: int, dtype: Any) -> None:
    """Groups of 32 scores into records of score and index, largest first, equal ones in the order they came."""
    if repeat and any(pointer % SORT_ALIGNMENT for pointer in (dest, source, indices)):
        core.lint(f"hardware sorts between addresses that are multiples of {SORT_ALIGNMENT}")
    width = SORT_WIDTH * dtype.itemsize
    _look_for_overlap(
        core, (dest, repeat * SORT_WIDTH * RECORD_BYTES), ((source, repeat * width), (indices, repeat * SORT_WIDTH * 4))
    )
    for group in range(repeat):
        scores = core.read(UB, source + group * width, width).copy().view(dtype)
        index = core.read(UB, indices + group * SORT_WIDTH * 4, SORT_WIDTH * 4).copy().view(np.uint32)
        order = np.argsort(~float_lanes.sort_key(scores), kind="stable")
        records = np.stack((unsigned(scores)[order], index[order]), axis=1, dtype=np.uint32)
        core.write(UB, dest + group * SORT_WIDTH * RECORD_BYTES, records.reshape(-1).view(np.uint8))


def _look_for_overlap(core: Core, dest: tuple[int, int], sources: Iterable[tuple[int, int]]) -> None:
    """A sort begins to write before it has read everything. Stretches are a start and a length."""
    start, length = dest
    if core.wants_lint and any(max(start, low) < min(start + length, low + size) for low, size in sources):
        core.lint("source and destination overlap; a sort writes before it has read everything", "overlap")


def _scores(static: Static) -> dict[str, Any]:
    return {"dtype": float_lanes.dtype_of(static.elements["dest"])}


@semantics(op.VMrgsort4, bind=_scores)
def vmrgsort4(core: Core, operands: Operands, dtype: Any) -> None:
    """Merge up to four sorted lists of records, largest first, equal ones by list number."""
    dest, config = operands.dest, operands.config
    sources = tuple(getattr(operands, f"source{number}") for number in range(LISTS))
    lengths = [list_count(operands.count, n) * list_valid(config, n) for n in range(LISTS)]
    if repeats(config) > 1:
        _check_repeat(sources, lengths, config)
    records = sum(lengths) * repeats(config)
    lists = [(source, length * RECORD_BYTES) for source, length in zip(sources, lengths, strict=True)]
    read = [(sources[0], records * RECORD_BYTES)] if repeats(config) > 1 else lists
    _look_for_overlap(core, (dest, records * RECORD_BYTES), read)
    taken = [0] * LISTS
    for turn in range(repeats(config)):
        step = turn * sum(lengths) * RECORD_BYTES
        taken = _merge(core, dest + step, [source + step for source in sources], lengths, suspends(config), dtype)
    core.special["VMS4_SR"] = sum(number << (16 * n) for n, number in enumerate(taken))


def _check_repeat(sources: tuple[int, ...], lengths: list[int], config: int) -> None:
    contiguous = all(sources[n] == sources[0] + n * lengths[0] * RECORD_BYTES for n in range(LISTS))
    if len(set(lengths)) > 1 or not contiguous or suspends(config):
        raise Fault("invalid", "a repeated pto.vmrgsort4 needs four contiguous lists of equal length, none suspended")


def _merge(core: Core, dest: int, sources: list[int], lengths: list[int], suspends: int, dtype: Any) -> list[int]:
    """Merge once; gives how many records of each list were taken. A record is read when it comes to the head of its
    list, and a suspending merge stops when one list has run out."""
    taken = [0] * LISTS
    heads = {n: _record(core, sources[n], dtype) for n in range(LISTS) if lengths[n]}
    while heads:
        n = max(heads, key=lambda number: (heads[number][0], -number))
        core.write(UB, dest + sum(taken) * RECORD_BYTES, heads[n][1], RECORD_BYTES)
        taken[n] += 1
        if taken[n] < lengths[n]:
            before = heads[n][0]
            heads[n] = _record(core, sources[n] + taken[n] * RECORD_BYTES, dtype)
            if heads[n][0] > before:
                core.lint(f"list {n} is not sorted, largest score first; the result will not be, either")
        elif suspends:
            break
        else:
            del heads[n]
    return taken


def _record(core: Core, address: int, dtype: Any) -> tuple[int, Bytes]:
    """The key of a record, and its bytes."""
    record = core.read(UB, address, RECORD_BYTES, RECORD_BYTES).copy()
    return int(float_lanes.sort_key(record[: dtype.itemsize].view(dtype))[0]), record
