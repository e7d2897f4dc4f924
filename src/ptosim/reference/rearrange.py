"""Rearrangement of lanes: interleave, squeeze, pack, unpack. Bits are moved, never computed with."""

from __future__ import annotations

import numpy as np

from ptosim.effects.element import Element
from ptosim.language import rearrange as op
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.lanes import Lanes, unsigned
from ptosim.reference.numbers import dtype_of
from ptosim.reference.semantics import semantics


@semantics(op.VIntlv)
def vintlv(lhs: Lanes, rhs: Lanes) -> tuple[Lanes, Lanes]:
    both = np.stack([lhs, rhs], axis=1).reshape(2, -1)
    return both[0], both[1]


@semantics(op.VDintlv)
def vdintlv(lhs: Lanes, rhs: Lanes) -> tuple[Lanes, Lanes]:
    both = np.concatenate([lhs, rhs])
    return both[0::2].copy(), both[1::2].copy()


@semantics(op.VIntlvV2)
def vintlvv2(lhs: Lanes, rhs: Lanes, part: str) -> Lanes:
    return vintlv(lhs, rhs)[part == "HIGHER"]


@semantics(op.VDintlvV2)
def vdintlvv2(lhs: Lanes, rhs: Lanes, part: str) -> Lanes:
    return vdintlv(lhs, rhs)[part == "HIGHER"]


@semantics(op.VSqz)
def vsqz(core: Core, input: Lanes, active: Lanes) -> Lanes:
    """The active lanes moved together, in order; SQZN becomes the bytes they take."""
    kept = input[active]
    core.special["SQZN"] = kept.nbytes
    squeezed = np.zeros_like(input)
    squeezed[: len(kept)] = kept
    return squeezed


@semantics(op.VUsqz)
def vusqz(core: Core, input: Lanes, active: Lanes) -> Lanes:
    """How many lanes before this one are active; the input only gives the type."""
    counts = np.cumsum(active)
    core.special["SQZN"] = int(counts[-1]) * input.itemsize
    return np.concatenate([[0], counts[:-1]]).astype(input.dtype)


@semantics(op.VPack)
def vpack(input: Lanes, part: str, result_element: Element) -> Lanes:
    """The low half of every lane, into one half of the result; the other half is zero."""
    halves = unsigned(input).astype(dtype_of(result_element))
    packed = np.zeros(2 * len(halves), halves.dtype)
    start = len(halves) if part == "HIGHER" else 0
    packed[start : start + len(halves)] = halves
    return packed


def _half(input: Lanes, part: int) -> Lanes:
    if part not in (0, 1):
        raise Fault("arithmetic", f"the part of an unpack is 0 or 1, not {part}")
    half = len(input) // 2
    return input[part * half : (part + 1) * half]


@semantics(op.VSunpack)
def vsunpack(input: Lanes, part: int, result_element: Element) -> Lanes:
    signed = _half(input, part).view(f"i{input.itemsize}")
    return signed.astype(f"i{2 * input.itemsize}").view(dtype_of(result_element))


@semantics(op.VZunpack)
def vzunpack(input: Lanes, part: int, result_element: Element) -> Lanes:
    return unsigned(_half(input, part)).astype(f"u{2 * input.itemsize}").view(dtype_of(result_element))
