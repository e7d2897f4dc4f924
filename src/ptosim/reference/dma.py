"""Copies between GM and UB: rows at equally spaced places, hardware loops around them, padding, atomic stores.

Every copy is a generator function: it reads, yields, and writes. What a copy of the older generation takes from loop
registers a grouped one takes from its clauses; from then on they are the same rows. Copies that stay on the chip and
those into L1 are in dma_blocks.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ptosim.effects.burst import alignment_of
from ptosim.effects.ctrl import ATOMIC_OPERATIONS, ATOMIC_TYPES
from ptosim.effects.dma import padded_width
from ptosim.effects.element import Element
from ptosim.effects.names import GM, UB
from ptosim.effects.record import Static
from ptosim.language import dma as op
from ptosim.language import dma_grouped as grouped
from ptosim.language import dma_registers as register
from ptosim.reference.atomic import atomic_combine
from ptosim.reference.burst import Burst, Loop, Side
from ptosim.reference.core import Bytes, Config, Core
from ptosim.reference.fault import Fault
from ptosim.reference.semantics import define, semantics

Numbers = tuple[int, ...]


@lru_cache(1024)
def _grouped(len_burst: int, n_burst: int, source_stride: int, dest_stride: int, *clauses: Numbers) -> Burst:
    """The rows of a grouped copy with its loop clauses: counts, source strides, destination strides."""
    loops: list[Loop] = list(zip(*clauses, strict=True))
    return Burst(len_burst, ((n_burst, source_stride, dest_stride), *loops))


def _hardware_loops(config: Config, direction: str) -> list[Loop]:
    """The two loops that the registers of a direction describe, inner first."""
    sizes = config.get(f"loop_size_{direction}", (1, 1))
    return [
        (sizes[0], *config.get(f"loop1_stride_{direction}", (0, 0))),
        (sizes[1], *config.get(f"loop2_stride_{direction}", (0, 0))),
    ]


# --- GM to UB -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Padding:
    """What surrounds the data of a UB row: a pattern, so many elements of its width before and behind."""

    pattern: bytes
    left: int
    right: int

    def width(self, burst: Burst) -> int:
        """The bytes of a padded row."""
        return int(padded_width(burst.length, self.left, self.right, len(self.pattern), burst.loops[0][2]))

    def around(self, core: Core, data: Bytes, total: int) -> Bytes:
        """Rows with their padding; the phase of the pattern counts from the start of each padded stretch."""
        rows, length = data.shape
        before = self.left * len(self.pattern)
        filling = np.frombuffer(self.pattern * (total // len(self.pattern) + 1), np.uint8)
        padded = np.empty((rows, total), np.uint8)
        padded[:, :before] = core.pattern(filling[:before])
        padded[:, before : before + length] = data
        padded[:, before + length :] = core.pattern(filling[: total - before - length])
        return padded


def _load(core: Core, source: int, dest: int, burst: Burst, pad: Padding | None) -> Iterator[None]:
    width = burst.length if pad is None else pad.width(burst)
    burst.check(core, GM, UB, width)
    if burst.is_empty:
        yield
        return
    sources, dests = burst.rows(core, Side(GM, source), Side(UB, dest), width)
    data = core.read_pieces(GM, sources, burst.length)
    yield
    if pad is not None:
        data = pad.around(core, data, width)
    core.write_pieces(UB, dests, data, alignment_of(UB, core.target))


def _bits(value: int, kind: Element) -> int:
    """The bit pattern of a scalar, zero-extended; a float is held as one."""
    return value & ((1 << kind.bits) - 1)


def _pattern(word: int, width: int) -> bytes:
    """The low bytes of the pad register."""
    return word.to_bytes(8, "little")[:width]


def _pad_facts(static: Static) -> dict[str, Any]:
    return {"pad_width": min(4, static.elements["dest"].bytes), "pad_kind": static.elements.get("pad_value")}


@semantics(grouped.MteGmUb, bind=_pad_facts)
def mte_gm_ub(
    core: Core,
    source: int,
    dest: int,
    len_burst: int,
    n_burst: int,
    source_stride: int,
    dest_stride: int,
    loop_counts: Numbers,
    loop_source_strides: Numbers,
    loop_dest_strides: Numbers,
    pad_value: int | None,
    left_padding: int | None,
    right_padding: int | None,
    config: Config,
    pad_width: int,
    pad_kind: Element | None,
) -> Iterator[None]:
    core.overwrites("outtoub", config, len(loop_counts), *([] if pad_value is None else ["mov_pad_val"]))
    loops = loop_counts, loop_source_strides, loop_dest_strides
    burst = _grouped(len_burst, n_burst, source_stride, dest_stride, *loops)
    if pad_value is None or pad_kind is None:
        pad = None
    else:
        pad = Padding(_pattern(_bits(pad_value, pad_kind), pad_width), left_padding or 0, right_padding or 0)
    yield from _load(core, source, dest, burst, pad)


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
    core.relies_on("outtoub", config, *(["mov_pad_val"] if data_select else []))
    burst = Burst(len_burst, ((n_burst, source_stride, dest_stride), *_hardware_loops(config, "outtoub")))
    if data_select:
        pad = Padding(_pattern(config.get("mov_pad_val", (0,))[0], pad_width), left_padding, right_padding)
    else:
        pad = None
    yield from _load(core, source, dest, burst, pad)


# --- UB to GM -------------------------------------------------------------------------------------------------------


def _store(core: Core, source: int, dest: int, burst: Burst, ctrl: int) -> Iterator[None]:
    """Plain, or combined with GM as CTRL says."""
    atomic = atomic_combine(ctrl)
    if atomic is not None and burst.length % atomic[1]:
        raise Fault("misaligned", f"an atomic store of {burst.length} bytes is no whole number of {atomic[0]} elements")
    burst.check(core, UB, GM)
    if burst.is_empty:
        yield
        return
    sources, dests = burst.rows(core, Side(UB, source), Side(GM, dest))
    data = core.read_pieces(UB, sources, burst.length, alignment_of(UB, core.target))
    yield
    if atomic is None:
        core.write_pieces(GM, dests, data)
    else:
        name, _, combine = atomic
        core.accumulate(GM, dests, data, combine, name)


@semantics(grouped.MteUbGm)
def mte_ub_gm(
    core: Core,
    source: int,
    dest: int,
    len_burst: int,
    n_burst: int,
    source_stride: int,
    dest_stride: int,
    loop_counts: Numbers,
    loop_source_strides: Numbers,
    loop_dest_strides: Numbers,
    config: Config,
    ctrl: int,
) -> Iterator[None]:
    core.overwrites("ubtoout", config, len(loop_counts))
    loops = loop_counts, loop_source_strides, loop_dest_strides
    burst = _grouped(len_burst, n_burst, source_stride, dest_stride, *loops)
    yield from _store(core, source, dest, burst, ctrl)


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
    core.relies_on("ubtoout", config)
    burst = Burst(len_burst, ((n_burst, source_stride, dest_stride), *_hardware_loops(config, "ubtoout")))
    yield from _store(core, source, dest, burst, ctrl)


# --- configuration registers ----------------------------------------------------------------------------------------


def _set_strides(name: str) -> Any:
    def set_strides(core: Core, source_stride: int, dest_stride: int) -> None:
        core.config = core.config.with_word(name, (source_stride, dest_stride))

    return set_strides


def _set_size(name: str) -> Any:
    def set_size(core: Core, loop1: int, loop2: int) -> None:
        core.config = core.config.with_word(name, (loop1, loop2))

    return set_size


for _direction in ("outtoub", "ubtoout"):
    define(f"pto.set_loop_size_{_direction}", _set_size(f"loop_size_{_direction}"))
    define(f"pto.set_loop1_stride_{_direction}", _set_strides(f"loop1_stride_{_direction}"))
    define(f"pto.set_loop2_stride_{_direction}", _set_strides(f"loop2_stride_{_direction}"))


@semantics(register.SetMovPadVal, bind=lambda static: {"kind": static.elements["value"]})
def set_mov_pad_val(core: Core, value: int, kind: Element) -> None:
    core.config = core.config.with_word("mov_pad_val", (_bits(value, kind),))


@semantics(register.SetPadValOutToL1, bind=lambda static: {"kind": static.elements["value"]})
def set_pad_val_outtol1(core: Core, value: int, kind: Element) -> None:
    core.config = core.config.with_word("pad_outtol1", _bits(value, kind))


@semantics(register.SetStoreAtomicCfg)
def set_store_atomic_cfg() -> None:
    """How the word is laid out is not published: it changes nothing, and the verifier says so."""


def _set_ctrl(low: int, width: int, value: int) -> Any:
    def set_field(core: Core) -> None:
        core.ctrl = core.ctrl & ~(((1 << width) - 1) << low) | value << low

    return set_field


define("pto.set_atomic_none", _set_ctrl(6, 5, 0))
for _code, _name in ATOMIC_OPERATIONS.items():
    define(f"pto.set_atomic_{_name}", _set_ctrl(9, 2, _code))
for _code, _name in ATOMIC_TYPES.items():
    define(f"pto.set_atomic_{_name.replace('si', 's')}", _set_ctrl(6, 3, _code))
