"""Scalar operations on integers, in any domain of effects/scalar.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ptosim.effects.scalar import CASTS, UNSIGNED_CASTS, Arithmetic, integers
from ptosim.language.operation import PTOOperation

Scalar = int | None
"""A constant, or None for what only a run with data knows."""
Rule = Callable[..., Any]
"""Takes what is known of the operands of an operation."""


def bits_of(type_: Attribute) -> int:
    """Index counts as 64 bits, and so does what is no integer."""
    return cast(IntegerType, type_).width.data if isinstance(type_, IntegerType) else 64


def is_number(value: SSAValue) -> bool:
    """Whether a value is an integer."""
    return isinstance(value.type, IntegerType) or str(value.type) == "index"


def rule_of(op: Operation, domain: Callable[[int], Arithmetic] = integers) -> Rule | None:
    """The rule of an operation, in a domain by the width of its operands; None where that is no such arithmetic."""
    if not isinstance(op, PTOOperation) or not op.name.startswith("arith.") or not op.operands:
        return None
    arithmetic = domain(bits_of(op.operands[0].type))
    if op.name == "arith.cmpi":
        return partial(arithmetic.cmpi, op.word("predicate") or "")
    if op.name in CASTS:
        return partial(arithmetic.resized, bits=bits_of(op.results[0].type), signed=op.name not in UNSIGNED_CASTS)
    return arithmetic.rule(op.name)


def evaluated(rule: Rule, given: Sequence[Scalar]) -> Scalar:
    """The result where all operands are known."""
    return None if None in given else rule(*given)
