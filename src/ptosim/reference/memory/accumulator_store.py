"""Stores of the fixpipe, whichever way they are written: read accumulators, quantise, lay out, write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ptosim.effects import fixpipe
from ptosim.effects.ctrl import KEEP_BIT, PRESERVE_NAN_BIT
from ptosim.effects.element import Element
from ptosim.effects.fractal import ACCUMULATOR, ACCUMULATOR_ROW
from ptosim.effects.names import Space
from ptosim.reference.core import Bytes, Core
from ptosim.reference.fault import Fault
from ptosim.reference.memory.access_places import Places, places
from ptosim.reference.memory.accumulator import read_accumulators
from ptosim.reference.memory.atomic import atomic_store, check_length
from ptosim.reference.memory.burst import MOST_BYTES
from ptosim.reference.numeric.quantisation import Bits, QuantisationWords, Steps, Values, parameters, quantised, slopes


@dataclass(frozen=True)
class Store:
    """The source and the destination of accumulators."""

    source: int
    dest: int
    space: Space
    shape: fixpipe.StoreShape
    layout: str
    split: bool
    """nz2nz writes fractals of 8 columns."""
    cores: str | int
    """The UB to store to: split_m, split_n or the number of a vector core; other memories do not ask."""
    atomic: int
    """The atomic fields of CTRL."""


def saturation(clause: str | None, ctrl: int) -> str:
    """The treatment of infinities and NaN, by a clause or by CTRL."""
    if clause is not None:
        return clause
    if ctrl >> KEEP_BIT & 1:
        return "nosat"
    return "sat_preserve_nan" if ctrl >> PRESERVE_NAN_BIT & 1 else "sat"


# --- parameter words --------------------------------------------------------------------------------------------------


def quant_vector(core: Core, offset: int, n: int) -> QuantisationWords:
    """The quantisation words of n channels."""
    return parameters(_words(core, Space.FB, offset, n * fixpipe.QUANT_WORD).view(np.uint64), vector=True)


def quant_scalar(word: int) -> QuantisationWords:
    return parameters(np.array([word & ((1 << 64) - 1)], np.uint64), vector=False)


def slope_vector(core: Core, offset: int, n: int) -> Values:
    """The relu words of n channels."""
    return slopes(_words(core, Space.FB_RELU, offset, n * fixpipe.RELU_WORD).view(np.uint32))


def _words(core: Core, space: Space, offset: int, size: int) -> Bytes:
    """Parameter words; no channels need none, wherever they would lie."""
    return core.read(space, offset, size).copy() if size else np.zeros(0, np.uint8)


def slope_scalar(word: int) -> Values:
    return slopes(np.array([word & 0xFFFFFFFF], np.uint32))


# --- the store --------------------------------------------------------------------------------------------------------


def check_shape(core: Core, store: Store) -> None:
    """A repeat cannot have more accumulators than there are."""
    shape = store.shape
    held = len(core.memories[Space.L0C]) // ACCUMULATOR
    if shape.m * shape.n > held:
        raise Fault("out-of-bounds", f"reads {shape.m} x {shape.n} accumulators of l0c, which holds {held}")
    values, most = shape.count * shape.m * shape.n, MOST_BYTES // ACCUMULATOR
    if values > most:
        raise Fault("limit", f"a store of {values} values; at most {most} can be stored at once")


def perform(core: Core, store: Store, steps: Steps) -> None:
    """The whole store; so many repeats at once as there are accumulators in L0C."""
    shape = store.shape
    targets = _targets(store)
    if not _holds(core, store, targets, steps.dest) or not shape.m or not shape.n:
        return
    together = max(1, len(core.memories[Space.L0C]) // ACCUMULATOR // (shape.m * shape.n))
    for first in range(0, shape.count, together):
        repeats = np.arange(first, min(first + together, shape.count), dtype=np.int64)
        bases = store.source + repeats * shape.repeat_source * ACCUMULATOR_ROW
        words = read_accumulators(core, bases, shape.m, shape.n, shape.source_stride, shape.row_step)
        bits = quantised(words, steps)
        for at, part in _parts(bits, targets, store.cores):
            for runs, values in _laid_out(part, store, steps.dest, first * shape.repeat_dest):
                _write(core, store, at, *_as_bytes(runs, values, fixpipe.value_bits(steps.dest)))


def _holds(core: Core, store: Store, targets: tuple[str | None, ...], dest: Element) -> bool:
    """Whether there is anything to do: accumulators outside, or on the chip a destination outside, leave nothing."""
    if not core.holds("reads", Space.L0C, store.source, fixpipe.source_extent(store.shape)[1], ACCUMULATOR_ROW):
        return False
    half = fixpipe.halved(store.shape, store.cores if isinstance(store.cores, str) else None)
    _, size = fixpipe.dest_extent(half, store.layout, dest, store.split)
    if store.space is Space.GM:
        core.holds("writes", Space.GM, store.dest, size)  # where the run goes on, values outside are dropped
        return True
    alignment = fixpipe.ALIGNMENT[store.space]
    return all(core.holds("writes", store.space, store.dest, size, alignment, target) for target in targets)


def _targets(store: Store) -> tuple[str | None, ...]:
    """The cores whose memory receives the result; None is the cluster's own."""
    if store.space is not Space.UB:
        return (None,)
    return (f"aiv{store.cores}",) if isinstance(store.cores, int) else ("aiv0", "aiv1")


def _parts(bits: Bits, targets: tuple[str | None, ...], cores: str | int) -> Iterator[tuple[str | None, Bits]]:
    if len(targets) == 1:
        yield targets[0], bits
        return
    yield from zip(targets, np.split(bits, 2, axis=1 if cores == "split_m" else 2), strict=True)


def _laid_out(part: Bits, store: Store, dest: Element, first: int) -> Iterator[tuple[Places, Bits]]:
    """Runs of values that lie one behind the other: their places, counted in elements, and the values."""
    count, m, n = part.shape
    stride, repeats = store.shape.dest_stride, (count, store.shape.repeat_dest)
    if store.layout == "nz2nd":
        yield places(first, repeats, (m, stride)), part.reshape(-1, n)
    elif store.layout == "nz2dn":
        yield places(first, repeats, (n, stride)), part.transpose(0, 2, 1).reshape(-1, m)
    else:
        columns = fixpipe.group_columns(dest, store.split)
        full, rest = divmod(n, columns)
        if full:
            groups = part[..., : full * columns].reshape(count, m, full, columns).transpose(0, 2, 1, 3)
            yield places(first, repeats, (full, stride), (m, columns)), groups.reshape(-1, columns)
        if rest:
            yield places(first + full * stride, repeats, (m, columns)), part[..., full * columns :].reshape(-1, rest)


def _as_bytes(starts: Places, rows: Bits, bits: int) -> tuple[Places, Bytes]:
    """Runs of values as runs of bytes; 4-bit values lie two to a byte, a last odd one beside a zero."""
    if bits != 4:
        return starts * (bits // 8), np.ascontiguousarray(rows).view(np.uint8)
    if (starts % 2).any():
        raise Fault("misaligned", "a run of 4-bit values begins in the middle of a byte")
    pairs = np.zeros((len(rows), (rows.shape[1] + 1) // 2 * 2), np.uint8)
    pairs[:, : rows.shape[1]] = rows
    return starts // 2, pairs[:, ::2] | pairs[:, 1::2] << np.uint8(4)


def _write(core: Core, store: Store, at: str | None, offsets: Places, data: Bytes) -> None:
    """Runs of bytes at offsets from the destination."""
    if store.space is Space.GM:
        touched = core.touched(store.dest, offsets, data.shape[1])
        if not touched.all():
            offsets, data = offsets[touched], data[touched]
    atomic = atomic_store(store.atomic) if store.space is Space.GM else None
    check_length(atomic, data.shape[1])
    core.write_pieces(store.space, store.dest + offsets, data, at=at, atomic=atomic)
