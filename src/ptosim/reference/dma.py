"""Copies between memories: rows at equally spaced places, hardware loops around them, padding, atomic stores.

Every copy is a generator function: it reads, yields, and writes. What a copy of the older generation takes from loop
registers a grouped one takes from its clauses; from then on they are the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptosim.effects.dma import BLOCK, padded_width
from ptosim.effects.element import element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import dma as op
from ptosim.language import dma_grouped as grouped
from ptosim.language import dma_registers as register
from ptosim.reference.atomic import ATOMIC_OPERATIONS, ATOMIC_TYPES, atomic_combine
from ptosim.reference.core import Bytes, Config, Core, Starts
from ptosim.reference.fault import Fault
from ptosim.reference.semantics import define, semantics

Loop = tuple[int, int, int]
"""Count, source stride, destination stride; the innermost comes first."""


@dataclass(frozen=True)
class Rows:
    """The rows of one side of a copy."""

    base: int
    counts: tuple[int, ...]
    strides: tuple[int, ...]
    """From the burst outwards."""
    width: int

    def starts(self) -> Starts:
        """Where each row begins, in the order of execution."""
        starts = np.array([self.base], np.int64)
        for count, stride in zip(reversed(self.counts), reversed(self.strides), strict=True):
            starts = (starts[:, np.newaxis] + np.arange(count, dtype=np.int64) * stride).reshape(-1)
        return starts


def _check(core: Core, length: int, loops: Sequence[Loop], aligned: Sequence[bool], padded: bool = False) -> None:
    """Counts, lengths and strides must be representable; on-chip strides that are used must be whole blocks."""
    if length < 0 or any(value < 0 for loop in loops for value in loop):
        raise Fault("arithmetic", "the length, counts and strides of a copy cannot be negative")
    for count, *strides in loops:
        for stride, needs in zip(strides, aligned, strict=True):
            if needs and count > 1 and stride % BLOCK:
                core.violation("misaligned", f"an on-chip stride of {stride} bytes is not a multiple of {BLOCK}")
    if core.target == "a2a3" and not padded and length % BLOCK:
        core.violation(
            "misaligned", f"on a2a3 a copy moves whole blocks: its length {length} is not a multiple of {BLOCK}"
        )


def _sides(source: int, dest: int, loops: Sequence[Loop], length: int, width: int) -> tuple[Rows, Rows]:
    counts = tuple(count for count, _, _ in loops)
    return (
        Rows(source, counts, tuple(stride for _, stride, _ in loops), length),
        Rows(dest, counts, tuple(stride for _, _, stride in loops), width),
    )


def _zip_loops(counts: Sequence[int], sources: Sequence[int], dests: Sequence[int]) -> list[Loop]:
    return list(zip(counts, sources, dests, strict=True))


# --- GM to UB -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Padding:
    """What surrounds the data of a UB row."""

    pattern: bytes
    left: int
    right: int


def _load(
    core: Core, dest_space: Space, source: int, dest: int, length: int, loops: list[Loop], pad: Padding | None
) -> Iterator[None]:
    """GM to UB or L1, with or without padding."""
    _check(core, length, loops, (False, True), pad is not None)
    if pad is not None and (pad.left < 0 or pad.right < 0):
        raise Fault("arithmetic", "padding cannot be negative")
    if length == 0:
        yield
        return
    read, write = _sides(source, dest, loops, length, length)
    data = core.read_pieces(Space.GM, read.starts(), length)
    yield
    starts = write.starts()
    if pad is None:
        core.write_pieces(dest_space, starts, data, BLOCK)
    else:
        core.write_pieces(dest_space, starts, _padded(core, data, pad, loops[0][2]), BLOCK)


def _padded(core: Core, data: Bytes, pad: Padding, stride: int) -> Bytes:
    """Rows with their padding; the phase of the pattern counts from the start of each padded stretch."""
    rows, length = data.shape
    width = len(pad.pattern)
    total = int(padded_width(length, pad.left, pad.right, width, stride))
    before = pad.left * width
    filling = np.frombuffer(pad.pattern * (total // width + 1), np.uint8)
    padded = np.empty((rows, total), np.uint8)
    padded[:, :before] = core.pattern(filling[:before])
    padded[:, before : before + length] = data
    padded[:, before + length :] = core.pattern(filling[: total - before - length])
    return padded


def _pattern(value: Any, kind: str, width: int) -> bytes:
    """The low `width` bytes of a pad value."""
    return _bits(value, kind).to_bytes(8, "little")[:width]


def _bits(value: int, kind: str) -> int:
    """The bit pattern of a scalar, zero-extended; a float is held as one."""
    return value & ((1 << element(kind).bits) - 1)


def _pad_facts(static: Static) -> dict[str, Any]:
    width = min(4, static.elements["dest"].bytes)
    kind = static.elements.get("pad_value")
    return {"pad_width": width, "pad_kind": kind.name if kind else ""}


@semantics(grouped.MteGmUb, bind=_pad_facts)
def mte_gm_ub(
    core: Core,
    source: int,
    dest: int,
    len_burst: int,
    n_burst: int,
    source_stride: int,
    dest_stride: int,
    loop_counts: Sequence[int],
    loop_source_strides: Sequence[int],
    loop_dest_strides: Sequence[int],
    pad_value: Any,
    left_padding: int | None,
    right_padding: int | None,
    pad_width: int,
    pad_kind: str,
) -> Iterator[None]:
    loops = [(n_burst, source_stride, dest_stride), *_zip_loops(loop_counts, loop_source_strides, loop_dest_strides)]
    pad = None
    if pad_value is not None:
        pad = Padding(_pattern(pad_value, pad_kind, pad_width), left_padding or 0, right_padding or 0)
    yield from _load(core, Space.UB, source, dest, len_burst, loops, pad)


@semantics(op.CopyGmToUbuf, bind=_pad_facts)
def copy_gm_to_ubuf(
    core: Core,
    source: int,
    dest: int,
    n_burst: int,
    len_burst: int,
    left_padding: int,
    right_padding: int,
    data_select: int,
    source_stride: int,
    dest_stride: int,
    config: Config,
    pad_width: int,
) -> Iterator[None]:
    loops = [(n_burst, source_stride, dest_stride), *_hardware_loops(config, "outtoub")]
    pattern = config.get("pad", 0).to_bytes(8, "little")[:pad_width]
    pad = Padding(pattern, left_padding, right_padding) if data_select else None
    yield from _load(core, Space.UB, source, dest, len_burst, loops, pad)


def _hardware_loops(config: Config, direction: str) -> list[Loop]:
    """The two loops that the registers of a direction describe, inner first."""
    inner, outer = config.get(f"loop_size_{direction}", (1, 1))
    return [
        (inner, *config.get(f"loop1_stride_{direction}", (0, 0))),
        (outer, *config.get(f"loop2_stride_{direction}", (0, 0))),
    ]


# --- UB to GM -------------------------------------------------------------------------------------------------------


def _store(core: Core, source: int, dest: int, length: int, loops: list[Loop], ctrl: int) -> Iterator[None]:
    """UB to GM, plain or atomic."""
    _check(core, length, loops, (True, False))
    if length == 0:
        yield
        return
    read, write = _sides(source, dest, loops, length, length)
    data = core.read_pieces(Space.UB, read.starts(), length, BLOCK)
    yield
    atomic = atomic_combine(ctrl)
    if atomic is None:
        core.write_pieces(Space.GM, write.starts(), data)
        return
    name, width, combine = atomic
    if length % width:
        raise Fault("misaligned", f"an atomic store of {length} bytes is not a whole number of {width}-byte elements")
    core.accumulate(Space.GM, write.starts(), data, combine, name)


@semantics(grouped.MteUbGm)
def mte_ub_gm(
    core: Core,
    source: int,
    dest: int,
    len_burst: int,
    n_burst: int,
    source_stride: int,
    dest_stride: int,
    loop_counts: Sequence[int],
    loop_source_strides: Sequence[int],
    loop_dest_strides: Sequence[int],
    ctrl: int,
) -> Iterator[None]:
    loops = [(n_burst, source_stride, dest_stride), *_zip_loops(loop_counts, loop_source_strides, loop_dest_strides)]
    yield from _store(core, source, dest, len_burst, loops, ctrl)


@semantics(op.CopyUbufToGm)
def copy_ubuf_to_gm(
    core: Core,
    source: int,
    dest: int,
    n_burst: int,
    len_burst: int,
    dest_stride: int,
    source_stride: int,
    config: Config,
    ctrl: int,
) -> Iterator[None]:
    loops = [(n_burst, source_stride, dest_stride), *_hardware_loops(config, "ubtoout")]
    yield from _store(core, source, dest, len_burst, loops, ctrl)


# --- configuration registers ----------------------------------------------------------------------------------------


def _set(name: str) -> Any:
    def set_pair(core: Core, source_stride: int, dest_stride: int) -> None:
        core.config = core.config.with_word(name, (source_stride, dest_stride))

    return set_pair


def _set_size(name: str) -> Any:
    def set_size(core: Core, loop1: int, loop2: int) -> None:
        if loop1 <= 0 or loop2 <= 0:
            raise Fault("arithmetic", f"a hardware loop must run at least once, not {min(loop1, loop2)} times")
        core.config = core.config.with_word(name, (loop1, loop2))

    return set_size


for _direction in ("outtoub", "ubtoout"):
    define(f"pto.set_loop_size_{_direction}", _set_size(f"loop_size_{_direction}"))
    define(f"pto.set_loop1_stride_{_direction}", _set(f"loop1_stride_{_direction}"))
    define(f"pto.set_loop2_stride_{_direction}", _set(f"loop2_stride_{_direction}"))


@semantics(register.SetMovPadVal, bind=lambda static: {"kind": static.elements["value"].name})
def set_mov_pad_val(core: Core, value: Any, kind: str) -> None:
    core.config = core.config.with_word("pad", _bits(value, kind))


def _set_ctrl(low: int, width: int, value: int) -> Any:
    def set_field(core: Core) -> None:
        core.ctrl = core.ctrl & ~(((1 << width) - 1) << low) | value << low

    return set_field


define("pto.set_atomic_none", _set_ctrl(6, 5, 0))
for _code, _name in ATOMIC_OPERATIONS.items():
    define(f"pto.set_atomic_{_name}", _set_ctrl(9, 2, _code))
for _code, _name in ATOMIC_TYPES.items():
    define(f"pto.set_atomic_{_name.replace('si', 's')}", _set_ctrl(6, 3, _code))
