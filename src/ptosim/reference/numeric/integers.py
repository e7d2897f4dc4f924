"""Scalar integers: held as signed Python ints, those of an unsigned type as unsigned ones, i1 as 0 or 1."""

from __future__ import annotations

from ptosim.effects.element import Element


def wrap(value: int, kind: Element) -> int:
    """The number of an integer type that a result wraps to."""
    value &= (1 << kind.bits) - 1
    if kind.kind == "unsigned" or kind.bits == 1:
        return value
    return value - (1 << kind.bits) if value >> (kind.bits - 1) else value


def unsigned(value: int, kind: Element) -> int:
    """The bits of a value, read without sign."""
    return value & ((1 << kind.bits) - 1)


def signed(value: int, kind: Element) -> int:
    """A value read with its sign: the one bit of an i1 is a sign."""
    return -value if kind.bits == 1 else value


def signed64(value: int) -> int:
    """An address or register word as scalar code holds it."""
    return (value + _HALF & _ALL) - _HALF


_HALF = 1 << 63
_ALL = (1 << 64) - 1
