"""Pointers are integers: a byte address on chip, argument and offset in GM."""

from __future__ import annotations

from ptosim.language import pointer as op
from ptosim.reference.semantics import semantics


@semantics(op.CastPtr)
def castptr(input: int) -> int:
    return input
