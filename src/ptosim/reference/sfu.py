"""Fused activations, multiply-adds with one rounding, the wide product, and sorting from UB to UB."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.effects.sfu import RECORD_BYTES, SORT_WIDTH, list_count, list_valid
from ptosim.language import sfu as op
from ptosim.reference import elementary, numbers
from ptosim.reference.core import Bytes, Core
from ptosim.reference.fault import Fault
from ptosim.reference.lanes import Lanes, broadcast, scalar_lane, unsigned
from ptosim.reference.semantics import semantics


def _leaky(input: Lanes, alpha: Lanes, element: Element) -> Lanes:
    """x where x >= 0 (so -0 stays), else alpha * x; a NaN takes the second way."""
    product = numbers.narrow(element, numbers.widen(element, input) * numbers.widen(element, alpha))
    return np.where(input >= 0, input, product)


@semantics(op.VLrelu)
def vlrelu(input: Lanes, scalar: int, element: Element) -> Lanes:
    return _leaky(input, scalar_lane(scalar, element), element)


@semantics(op.VPrelu)
def vprelu(input: Lanes, alpha: Lanes, element: Element) -> Lanes:
    return _leaky(input, alpha, element)


@semantics(op.VExpdif)
def vexpdif(input: Lanes, max: Lanes, active: Lanes, part: str) -> Lanes:
    """exp(x - m) in f32; of f16 lanes the even or the odd ones, f32 lanes all, whatever the part says."""
    if input.dtype == np.float16:
        chosen = slice(int(part == "ODD"), None, 2)
        input, max, active = input[chosen].astype(np.float32), max[chosen].astype(np.float32), active[chosen]
    return np.where(active, elementary.exp(input - max), np.float32(0))


@semantics(op.VAxpy)
def vaxpy(input: Lanes, addend: Lanes, scalar: int, active: Lanes, element: Element) -> Lanes:
    """scalar * x + y with one rounding; inactive lanes keep y."""
    fused = numbers.fused_multiply_add(element, input, broadcast(scalar, element), addend)
    return np.where(active, fused, addend)


@semantics(op.VMula)
def vmula(acc: Lanes, lhs: Lanes, rhs: Lanes, active: Lanes, element: Element) -> Lanes:
    """acc + a * b, floats with one rounding; inactive lanes keep the accumulator."""
    total = numbers.fused_multiply_add(element, lhs, rhs, acc) if element.is_float else acc + lhs * rhs
    return np.where(active, total, acc)


@semantics(op.VMull)
def vmull(lhs: Lanes, rhs: Lanes) -> tuple[Lanes, Lanes]:
    """The whole 64-bit product of 32-bit lanes."""
    wide = np.uint64 if lhs.dtype.kind == "u" else np.int64
    product = lhs.astype(wide) * rhs.astype(wide)
    halves = product.view(np.uint32).reshape(-1, 2)
    return halves[:, 0].copy().view(lhs.dtype), halves[:, 1].copy().view(lhs.dtype)


# --- sorting -------------------------------------------------------------------------------------------------------


def _score(static: Static) -> dict[str, Any]:
    source = static.elements.get("source") or static.elements["source0"]
    return {"dtype": numbers.dtype_of(source)}


@semantics(op.VBitsort, bind=_score)
def vbitsort(core: Core, dest: int, source: int, indices: int, repeat: int, dtype: Any) -> None:
    """Groups of 32 scores into records of score and index, largest first, equal ones in the order they came."""
    if not 0 <= repeat <= 255:
        raise Fault("arithmetic", f"pto.vbitsort repeats 0 to 255 times, not {repeat}")
    for group in range(repeat):
        width = SORT_WIDTH * np.dtype(dtype).itemsize
        scores = core.read(Space.UB, source + group * width, width).copy().view(dtype)
        index = core.read(Space.UB, indices + group * SORT_WIDTH * 4, SORT_WIDTH * 4).copy().view(np.uint32)
        order = np.argsort(~numbers.sort_key(scores), kind="stable")
        records = np.zeros((SORT_WIDTH, 2), np.uint32)
        records[:, 0] = unsigned(scores)[order]
        records[:, 1] = index[order]
        core.write(Space.UB, dest + group * SORT_WIDTH * RECORD_BYTES, records.reshape(-1).view(np.uint8))


@semantics(op.VMrgsort4, bind=_score)
def vmrgsort4(
    core: Core,
    dest: int,
    source0: int,
    source1: int,
    source2: int,
    source3: int,
    count: int,
    config: int,
    dtype: Any,
) -> None:
    """Merge up to four sorted lists of records, largest first, equal ones by list number."""
    sources = (source0, source1, source2, source3)
    lengths = [list_count(count, n) if list_valid(config, n) else 0 for n in range(4)]
    repeat, suspends = config & 0xFF, bool(config >> 12 & 1)
    if repeat > 1:
        _check_repeat(sources, lengths, suspends)
    finished = (0, 0, 0, 0)
    for turn in range(repeat):
        step = turn * sum(lengths) * RECORD_BYTES
        lists = [_records(core, source + step, length) for source, length in zip(sources, lengths, strict=True)]
        merged, finished = _merged(lists, dtype, suspends)
        if len(merged):
            core.write(Space.UB, dest + step, merged.reshape(-1), RECORD_BYTES)
    core.special["VMS4_SR"] = sum(number << (16 * n) for n, number in enumerate(finished))


def _check_repeat(sources: tuple[int, ...], lengths: list[int], suspends: bool) -> None:
    contiguous = all(sources[n] == sources[0] + n * lengths[0] * RECORD_BYTES for n in range(4))
    if len(set(lengths)) > 1 or not contiguous or suspends:
        raise Fault(
            "arithmetic", "a repeated pto.vmrgsort4 needs four contiguous lists of equal length, none suspended"
        )


def _records(core: Core, start: int, length: int) -> Bytes:
    if not length:
        return np.zeros((0, RECORD_BYTES), np.uint8)
    return core.read(Space.UB, start, length * RECORD_BYTES, RECORD_BYTES).copy().reshape(-1, RECORD_BYTES)


def _merged(lists: list[Bytes], dtype: Any, suspends: bool) -> tuple[Bytes, tuple[int, ...]]:
    """The merged records, and how many of each list were taken; a suspending merge stops when one list runs out."""
    width = np.dtype(dtype).itemsize
    keys = [numbers.sort_key(part[:, :width].copy().view(dtype).reshape(-1)) for part in lists]
    heads, taken = [0, 0, 0, 0], list[Bytes]()
    while pick := _largest_head(keys, heads):
        number = pick[1]
        taken.append(lists[number][heads[number]])
        heads[number] += 1
        if suspends and heads[number] == len(keys[number]):
            break
    return np.array(taken, np.uint8).reshape(-1, RECORD_BYTES), tuple(heads)


def _largest_head(keys: list[Lanes], heads: list[int]) -> tuple[int, int] | None:
    heading = [(int(keys[n][heads[n]]), -n) for n in range(4) if heads[n] < len(keys[n])]
    if not heading:
        return None
    key, number = max(heading)
    return key, -number
