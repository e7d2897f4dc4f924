"""Pointers and scalar memory accesses."""

from __future__ import annotations

from ptosim.language.operation import Operand, PTOOperation, Result


class CastPtr(PTOOperation):
    """Integer to pointer.

    %p = pto.castptr %x : i64 -> !pto.ptr<f32, ub>
    """

    name = "pto.castptr"
    form = "$input"
    input = Operand()
    result = Result()
