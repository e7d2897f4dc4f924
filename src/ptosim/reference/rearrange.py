"""Rearrangement of lanes: interleave, squeeze, pack, unpack. Bits are moved, never computed with."""

from __future__ import annotations

import numpy as np

from ptosim.effects.element import Element
from ptosim.language.micro import rearrange as op
from ptosim.reference.core import Core
from ptosim.reference.numeric.float_lanes import dtype_of
from ptosim.reference.numeric.lanes import Lanes, signed, unsigned
from ptosim.reference.numeric.mask import Mask
from ptosim.reference.semantics import semantics


@semantics(op.VIntlv)
def vintlv(lhs: Lanes, rhs: Lanes) -> tuple[Lanes, Lanes]:
    lanes = len(lhs)
    both = np.empty(2 * lanes, lhs.dtype)
    both[0::2] = lhs
    both[1::2] = rhs
    return both[:lanes], both[lanes:]


@semantics(op.VDintlv)
def vdintlv(lhs: Lanes, rhs: Lanes) -> tuple[Lanes, Lanes]:
    both = np.concatenate((lhs, rhs))
    return both[0::2].copy(), both[1::2].copy()


@semantics(op.VIntlvV2)
def vintlvv2(lhs: Lanes, rhs: Lanes, part: str) -> Lanes:
    return vintlv(lhs, rhs)[part == "HIGHER"]


@semantics(op.VDintlvV2)
def vdintlvv2(lhs: Lanes, rhs: Lanes, part: str) -> Lanes:
    return vdintlv(lhs, rhs)[part == "HIGHER"]


@semantics(op.VSqz)
def vsqz(core: Core, input: Lanes, mask: Mask) -> Lanes:
    """The active lanes moved together, in order; SQZN becomes the bytes they take."""
    kept = input[mask.lanes(input.itemsize)]
    core.special["SQZN"] = kept.nbytes
    squeezed = np.zeros(len(input), input.dtype)
    squeezed[: len(kept)] = kept
    return squeezed


@semantics(op.VUsqz)
def vusqz(core: Core, input: Lanes, mask: Mask) -> Lanes:
    """The number of active lanes before this one; the input only gives the type."""
    active = mask.lanes(input.itemsize)
    core.special["SQZN"] = int(np.count_nonzero(active)) * input.itemsize
    counts = np.zeros(len(input), input.dtype)
    np.cumsum(active[:-1], dtype=input.dtype, out=counts[1:])
    return counts


@semantics(op.VPack)
def vpack(input: Lanes, part: str, result_element: Element) -> Lanes:
    """The low half of every lane, into one half of the result; the other half is zero."""
    lanes = len(input)
    packed = np.zeros(2 * lanes, dtype_of(result_element))
    packed[lanes * (part == "HIGHER") :][:lanes] = unsigned(input)  # assignment keeps the low bits
    return packed


def _half(input: Lanes, part: int) -> Lanes:
    half = len(input) // 2
    return input[part * half : (part + 1) * half]


@semantics(op.VSunpack)
def vsunpack(input: Lanes, part: int, result_element: Element) -> Lanes:
    return signed(_half(input, part)).astype(dtype_of(result_element))


@semantics(op.VZunpack)
def vzunpack(input: Lanes, part: int, result_element: Element) -> Lanes:
    return unsigned(_half(input, part)).astype(dtype_of(result_element))
