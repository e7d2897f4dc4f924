"""Conversions between element types: pick source lanes, convert their values, place them among zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects import conversion as matrix
from ptosim.effects.element import Element, element
from ptosim.effects.record import Static
from ptosim.language import conversion as op
from ptosim.reference import numbers
from ptosim.reference.core import Core
from ptosim.reference.lanes import Lanes, scalar_lane
from ptosim.reference.mask import Mask
from ptosim.reference.semantics import semantics
from ptosim.reference.value_conversion import Conversion, conversion, truncation

NIBBLES = frozenset({"f4E1M2x2", "f4E2M1x2"})


def _values(lanes: Lanes, kind: Element) -> Lanes:
    """One value per entry: the two nibbles of a packed lane are two, the low one first."""
    if kind.name not in NIBBLES:
        return lanes
    return np.stack([lanes & 15, lanes >> 4], axis=1).reshape(-1)


def _packed(values: Lanes, kind: Element) -> Lanes:
    if kind.name not in NIBBLES:
        return values
    pairs = values.reshape(-1, 2)
    return (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8)


def _vcvt_facts(static: Static) -> dict[str, Any]:
    source, dest = static.elements["input"], static.elements["result"]
    pair = matrix.conversion(source, dest)
    assert pair is not None, "the verifier lets no other pair pass"
    rnd, sat = static.words.get("rnd", "R"), static.words.get("sat", "SAT")
    placed = matrix.placement(pair, static.words.get("part"))
    places = np.array([position for position, origin in enumerate(placed.sources) if origin is not None], np.intp)
    return {
        "places": places,
        "origins": np.array([origin for origin in placed.sources if origin is not None], np.intp),
        "gates": np.array([gate for gate in placed.gates if gate is not None], np.intp),
        "by_mode": {mode: conversion(source, dest, rnd, mode) for mode in ("SAT", "NOSAT")},
        "sat": sat,
        "count": len(placed.sources),
        "dest": dest,
        "decided_by_ctrl": bool(pair.saturations),
    }


@semantics(op.VCvt, bind=_vcvt_facts)
def vcvt(
    core: Core,
    input: Lanes,
    mask: Mask,
    element: Element,
    places: Lanes,
    origins: Lanes,
    gates: Lanes,
    by_mode: dict[str, Conversion],
    sat: str,
    count: int,
    dest: Element,
    decided_by_ctrl: bool,
) -> Lanes:
    convert = by_mode[_saturation(core.ctrl, sat) if decided_by_ctrl else sat]
    values = convert(_values(input, element)[origins])
    values = np.where(mask.bits[gates], values, values.dtype.type(0))
    placed = np.zeros(count, values.dtype)
    placed[places] = values
    return _packed(placed, dest).view(numbers.dtype_of(dest))


def _saturation(ctrl: int, sat: str) -> str:
    """CTRL bit 60 takes the decision from the instruction and gives it to bit 59."""
    if not ctrl >> 60 & 1:
        return sat
    return "NOSAT" if ctrl >> 59 & 1 else "SAT"


def _vtrc_facts(static: Static) -> dict[str, Any]:
    return {"round": truncation(static.elements["result"], static.words["rnd"])}


@semantics(op.VTrc, bind=_vtrc_facts)
def vtrc(input: Lanes, round: Conversion) -> Lanes:
    return round(input)


@semantics(op.VCi)
def vci(base: int, order: str | None, result_element: Element) -> Lanes:
    """base + i or base - i; integers wrap, floats are added in their own type."""
    dtype = numbers.dtype_of(result_element)
    ramp = np.arange(result_element.lanes).astype(dtype)
    first = scalar_lane(base, result_element)
    lanes = first - ramp if order == "DESC" else first + ramp
    return numbers.canonical(lanes) if result_element.is_float else lanes


@semantics(op.VBitcast)
def vbitcast(input: Lanes, result_element: Element) -> Lanes:
    return input.view(numbers.dtype_of(result_element))


_F16_AWAY = conversion(element("f32"), element("f16"), "A", "SAT")


@semantics(op.VMulsCvt)
def vmulscvt(input: Lanes, scalar: int, active: Lanes, part: str) -> Lanes:
    """A product in f32, rounded to f16 with ties away from zero, in every second lane."""
    product = np.where(active, _F16_AWAY(input * scalar_lane(scalar, element("f32"))), np.float16(0))
    lanes = np.zeros(128, np.float16)
    lanes[part == "ODD" :: 2] = product
    return lanes
