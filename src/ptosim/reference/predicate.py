"""Predicates: patterns and tails, algebra, rearrangement by bit tables, loads and stores of images."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects import predicate
from ptosim.effects.element import Element, Granularity
from ptosim.effects.names import UB
from ptosim.effects.record import Static
from ptosim.language.micro import predicate as op
from ptosim.language.micro.predicate_memory import Pstu
from ptosim.machine.entry import Site
from ptosim.reference.core import Bytes, Core
from ptosim.reference.memory.stream import StoreAlign, append_bytes
from ptosim.reference.numeric.mask import Bits, Mask, of_lanes
from ptosim.reference.semantics import define, semantics

# --- generation -------------------------------------------------------------------------------------------------------


@cache
def _pattern(pattern: str, granularity: Granularity) -> Mask:
    return of_lanes(np.array(predicate.pattern_lanes(pattern, granularity)), predicate.STRIDES[granularity])


@cache
def _first(count: int, granularity: Granularity) -> Mask:
    """The first lanes. There are few such masks, and a mask is never changed, so each exists once."""
    stride = predicate.STRIDES[granularity]
    return of_lanes(np.arange(predicate.PREDICATE_BITS // stride) < count, stride)


def _by_pattern(granularity: Granularity) -> Callable[..., Mask]:
    def pset(pattern: str) -> Mask:
        return _pattern(pattern, granularity)

    return pset


_UNSIGNED = 0xFFFF_FFFF


def _tail(granularity: Granularity) -> Callable[..., tuple[Mask, int]]:
    """The count is read without sign."""
    lanes = predicate.PREDICATE_BITS // predicate.STRIDES[granularity]

    def plt(core: Core, site: Site, count: int, kind: Element) -> tuple[Mask, int]:
        if count < 0:
            core.lint(f"the count {count} is read without sign, so every lane is active", site=site)
        known = count & _UNSIGNED
        if known < lanes:
            return _first(known, granularity), 0
        left = known - lanes
        return _first(lanes, granularity), left - (1 << 32) if kind.kind == "signed" and left >> 31 else left

    return plt


def _loop_tail(granularity: Granularity) -> Callable[..., Mask]:
    lanes = predicate.PREDICATE_BITS // predicate.STRIDES[granularity]

    def pltm(loop: int, bound: int) -> Mask:
        return _first(min(max(bound - loop * lanes, 0), lanes), granularity)

    return pltm


for _granularity in predicate.STRIDES:
    define(f"pto.pset_{_granularity}", _by_pattern(_granularity))
    define(f"pto.pge_{_granularity}", _by_pattern(_granularity))
    define(f"pto.plt_{_granularity}", _tail(_granularity), lambda static: {"kind": static.elements["count"]})
    define(f"pto.pltm_{_granularity}", _loop_tail(_granularity))

# --- algebra, on all 256 bits -----------------------------------------------------------------------------------------


@semantics(op.PAnd)
def pand(lhs: Mask, rhs: Mask, mask: Mask) -> Mask:
    return Mask(lhs.bits & rhs.bits & mask.bits)


@semantics(op.POr)
def por(lhs: Mask, rhs: Mask, mask: Mask) -> Mask:
    return Mask((lhs.bits | rhs.bits) & mask.bits)


@semantics(op.PXor)
def pxor(lhs: Mask, rhs: Mask, mask: Mask) -> Mask:
    return Mask((lhs.bits ^ rhs.bits) & mask.bits)


@semantics(op.PNot)
def pnot(input: Mask, mask: Mask) -> Mask:
    return Mask(~input.bits & mask.bits)


@semantics(op.PSel)
def psel(lhs: Mask, rhs: Mask, select: Mask) -> Mask:
    return Mask(np.where(select.bits, lhs.bits, rhs.bits))


# --- rearrangement ----------------------------------------------------------------------------------------------------

Places = NDArray[np.intp]


@cache
def _places(table: tuple[int, ...], bits: int) -> Places:
    """The table as a gather; bits that come from nowhere come from the one behind the last, which is clear."""
    return np.array([bits if place == predicate.NOTHING else place for place in table], np.intp)


_CLEAR = np.zeros(1, np.bool_)


def _moved(places: Places, *sources: Bits) -> Mask:
    return Mask(np.concatenate((*sources, _CLEAR))[places])


def _part(tables: dict[str, tuple[int, ...]]) -> Callable[[Static], dict[str, Any]]:
    return lambda static: {"places": _places(tables[static.words["part"]], predicate.PREDICATE_BITS)}


def _resized(input: Mask, places: Places) -> Mask:
    return _moved(places, input.bits)


define("pto.ppack", _resized, _part(predicate.PACK))
define("pto.punpack", _resized, _part(predicate.UNPACK))


def _two(tables: tuple[tuple[int, ...], tuple[int, ...]]) -> Callable[..., tuple[Mask, Mask]]:
    low, high = (_places(table, 2 * predicate.PREDICATE_BITS) for table in tables)

    def rearranged(lhs: Mask, rhs: Mask) -> tuple[Mask, Mask]:
        return _moved(low, lhs.bits, rhs.bits), _moved(high, lhs.bits, rhs.bits)

    return rearranged


for _granularity in predicate.STRIDES:
    define(f"pto.pintlv_{_granularity}", _two(predicate.INTERLEAVE[_granularity]))
    define(f"pto.pdintlv_{_granularity}", _two(predicate.DEINTERLEAVE[_granularity]))


@semantics(op.PBitcast)
def pbitcast(input: Mask) -> Mask:
    return input


# --- load and store ---------------------------------------------------------------------------------------------------


def _facts(modes: dict[str, predicate.PredicateMode], immediate: bool) -> Callable[[Static], dict[str, Any]]:
    def facts(static: Static) -> dict[str, Any]:
        mode = modes[static.words["dist"]]
        places = _places(mode.bits, 8 * mode.footprint)
        return {
            "mode": mode,
            "places": places,
            "scale": mode.unit if immediate else 1,
            "post": "next" in static.present,
        }

    return facts


def _load(
    core: Core, source: int, offset: int, mode: predicate.PredicateMode, places: Places, scale: int, post: bool
) -> Any:
    """With an updated pointer the access is at the old one."""
    image = core.read(UB, source if post else source + offset * scale, mode.footprint, mode.unit, True)
    mask = Mask(np.unpackbits(image, bitorder="little")[places].view(np.bool_))
    return (mask, source + offset * scale) if post else mask


def _store(
    core: Core,
    value: Mask,
    dest: int,
    offset: int,
    mode: predicate.PredicateMode,
    places: Places,
    scale: int,
    post: bool,
) -> int | None:
    core.write(UB, dest if post else dest + offset * scale, _packed(value.bits[places]), mode.unit)
    return dest + offset * scale if post else None


def _packed(bits: Bits) -> Bytes:
    return np.packbits(bits, bitorder="little")


define("pto.plds", _load, _facts(predicate.LOAD_MODES, immediate=False))
define("pto.pldi", _load, _facts(predicate.LOAD_MODES, immediate=True))
define("pto.psts", _store, _facts(predicate.STORE_MODES, immediate=False))
define("pto.psti", _store, _facts(predicate.STORE_MODES, immediate=True))

_STREAM_PLACES = {predicate.STRIDES[name]: np.array(bits, np.intp) for name, bits in predicate.STREAM_BITS.items()}


@semantics(Pstu, bind=lambda static: {"places": _STREAM_PLACES[static.mask_strides["value"]]})
def pstu(core: Core, align: StoreAlign, value: Mask, dest: int, places: Places) -> tuple[StoreAlign, int]:
    """One bit for each lane."""
    data = _packed(value.bits[places])
    return append_bytes(core, align, dest, data), dest + len(data)
