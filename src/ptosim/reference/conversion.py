"""Conversions between element types: pick source lanes, convert their values, place them among zeros."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptosim.effects import conversion as matrix
from ptosim.effects.element import Element, element
from ptosim.effects.record import Static
from ptosim.language.micro import conversion as op
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.numeric import float_lanes
from ptosim.reference.numeric.lanes import Lane, Lanes, scalar_lane
from ptosim.reference.numeric.mask import Mask
from ptosim.reference.numeric.value_conversion import Conversion, conversion, truncation
from ptosim.reference.semantics import semantics

# --- vcvt -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pair:
    """The static facts of a conversion."""

    take: slice
    place: slice
    gates: Lanes
    conversions: dict[str, Conversion]
    sat: str
    decided_by_ctrl: bool
    widens: bool


def _pair(static: Static) -> dict[str, Any]:
    source, dest = static.elements["input"], static.elements["result"]
    pair = matrix.conversion(source, dest)
    assert pair is not None, "the verifier lets no other pair pass"
    placed = matrix.placement(pair, static.words.get("part"))
    taken = [(origin, place) for place, origin in enumerate(placed.sources) if origin is not None]
    rnd, sat = static.words.get("rnd", "R"), static.words.get("sat", "SAT")
    known = _Pair(
        _stepping([origin // matrix.values_per_lane(source) for origin, _ in taken]),
        _stepping([place // matrix.values_per_lane(dest) for _, place in taken]),
        np.array([gate for gate in placed.gates if gate is not None], np.intp),
        {mode: _per_lane(source, dest, rnd, mode) for mode in matrix.SATURATIONS},
        sat,
        bool(pair.saturations),
        dest.bits > source.bits,
    )
    return {"pair": known}


def _stepping(numbers: Sequence[int]) -> slice:
    """Equally spaced lane numbers, each perhaps several times, as a slice."""
    lanes = sorted(set(numbers))
    return slice(lanes[0], lanes[-1] + 1, lanes[1] - lanes[0])


def _per_lane(source: Element, dest: Element, rnd: str, sat: str) -> Conversion:
    """The conversion of the chosen lanes to values; a packed lane is two of them, the low nibble first."""
    convert = conversion(source, dest, rnd, sat)
    if matrix.values_per_lane(source) == 1:
        return convert
    return lambda lanes: convert(np.stack((lanes & 15, lanes >> 4), axis=1).reshape(-1))


@semantics(op.VCvt, bind=_pair)
def vcvt(
    core: Core, site: Site, input: Lanes, mask: Mask, ctrl: int, element: Element, result_element: Element, pair: _Pair
) -> Lanes:
    if pair.widens and core.wants_lint:
        _doubt_mask(core, site, mask, pair.gates, result_element)
    convert = pair.conversions[_saturation(ctrl, pair.sat) if pair.decided_by_ctrl else pair.sat]
    values = convert(input[pair.take])
    if not mask.is_full(element.bytes):
        values = np.where(mask.bits[pair.gates], values, values.dtype.type(0))
    if matrix.values_per_lane(result_element) == 2:
        values = values[0::2] | values[1::2] << 4
    if pair.place.step == 1:
        return values
    placed = np.zeros(result_element.lanes, values.dtype)
    placed[pair.place] = values
    return placed


def _doubt_mask(core: Core, site: Site, mask: Mask, gates: Lanes, result: Element) -> None:
    """No text says whether the mask of a widening conversion selects source lanes or result lanes."""
    if not np.array_equal(mask.bits[gates], mask.lanes(result.bytes)):
        message = "the mask is read as selecting lanes of the source; as lanes of the result it would select others"
        width = 8 * result.bytes
        hint = (
            "convert under a mask of all lanes and cut the tail where the result is used: "
            f"pto.plt_b{min(width, 32)} for the mask of its store"
        )
        core.lint(message, site=site, hint=hint)


def _saturation(ctrl: int, sat: str) -> str:
    """CTRL bit 60 takes the decision from the instruction and gives it to bit 59."""
    if not ctrl >> 60 & 1:
        return sat
    return "NOSAT" if ctrl >> 59 & 1 else "SAT"


# --- the others -------------------------------------------------------------------------------------------------------


@semantics(op.VTrc, bind=lambda static: {"round": truncation(static.elements["result"], static.words["rnd"])})
def vtrc(input: Lanes, round: Conversion) -> Lanes:
    return round(input)


def _vci_facts(static: Static) -> dict[str, Any]:
    kind = static.elements["result"]
    ramp = np.arange(kind.lanes).astype(float_lanes.dtype_of(kind))
    return {"ramp": -ramp if static.words.get("order") == "DESC" else ramp, "lane": scalar_lane(kind)}


@semantics(op.VCi, bind=_vci_facts)
def vci(base: int, result_element: Element, ramp: Lanes, lane: Lane) -> Lanes:
    """base + i or base - i; integers wrap, floats are added in their own type."""
    lanes: Lanes = lane(base) + ramp
    return float_lanes.canonical(lanes) if result_element.is_float else lanes


@semantics(op.VBitcast)
def vbitcast(input: Lanes, result_element: Element) -> Lanes:
    return input.view(float_lanes.dtype_of(result_element))


_F32 = scalar_lane(element("f32"))
_F16_AWAY = conversion(element("f32"), element("f16"), "A", "SAT")


@semantics(op.VMulsCvt)
def vmulscvt(input: Lanes, scalar: int, mask: Mask, part: str) -> Lanes:
    """A product in f32, rounded to f16 with ties away from zero, in every second lane."""
    product = mask.zero_inactive(input * _F32(scalar))
    lanes = np.zeros(128, np.float16)
    lanes[part == "ODD" :: 2] = _F16_AWAY(product)
    return lanes
