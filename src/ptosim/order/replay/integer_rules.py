"""Scalar arithmetic of a replay: integers as the machine holds them, None for what only a run with data knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import cast

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ptosim.language.operation import PTOOperation

Scalar = int | None
Rule = Callable[[int, int], int]
Evaluation = Callable[[Sequence[int]], int]
"""Of the operands of an operation, all of them known."""


def bits_of(type_: Attribute) -> int:
    """Index counts as 64 bits, and so does what is no integer."""
    return cast(IntegerType, type_).width.data if isinstance(type_, IntegerType) else 64


def wrapped(value: int, bits: int) -> int:
    """A signed number of so many bits; a truth value stays 0 or 1."""
    if bits == 1:
        return value & 1
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def _truncated(a: int, b: int) -> int:
    return -(-a // b) if (a < 0) != (b < 0) else a // b


_SIGNED: dict[str, Rule] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "maxsi": max,
    "minsi": min,
    "divsi": lambda a, b: _truncated(a, b) if b else 0,
    "remsi": lambda a, b: a - b * _truncated(a, b) if b else 0,
    "floordivsi": lambda a, b: a // b if b else 0,
    "ceildivsi": lambda a, b: -(-a // b) if b else 0,
    "shli": lambda a, b: a << min(b, 64) if b >= 0 else 0,
    "shrsi": lambda a, b: a >> min(b, 64) if b >= 0 else 0,
}
_UNSIGNED: dict[str, Rule] = {
    "maxui": max,
    "minui": min,
    "divui": lambda a, b: a // b if b else 0,
    "remui": lambda a, b: a % b if b else 0,
    "ceildivui": lambda a, b: -(-a // b) if b else 0,
    "shrui": lambda a, b: a >> min(b, 64),
}
_ORDERS: dict[str, Callable[[int, int], bool]] = {"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}
_CASTS = frozenset(("index_cast", "index_castui", "extsi", "extui", "trunci"))


def rule_of(op: Operation) -> Evaluation | None:
    """The arithmetic of an operation; None where it has none."""
    name = op.name.removeprefix("arith.")
    if not op.name.startswith("arith.") or not op.operands:
        return None
    bits, result = bits_of(op.operands[0].type), bits_of(op.results[0].type)
    if name in _SIGNED:
        return lambda given: wrapped(_SIGNED[name](given[0], given[1]), result)
    if name in _UNSIGNED:
        return lambda given: wrapped(_UNSIGNED[name](_unsigned(given[0], bits), _unsigned(given[1], bits)), result)
    if name == "cmpi" and isinstance(op, PTOOperation):
        return _comparison(op.word("predicate") or "", bits)
    if name in _CASTS:
        return _cast(name, bits, result)
    return None


def _comparison(predicate: str, bits: int) -> Evaluation | None:
    compare = _ORDERS.get(predicate[-2:])
    if compare is None:
        return None
    if predicate.startswith("u"):
        return lambda given: int(compare(_unsigned(given[0], bits), _unsigned(given[1], bits)))
    return lambda given: int(compare(given[0], given[1]))


def _cast(name: str, bits: int, result: int) -> Evaluation:
    if name in ("extui", "index_castui"):
        return lambda given: wrapped(_unsigned(given[0], bits), result)
    if bits == 1 and name in ("extsi", "index_cast"):
        return lambda given: -given[0]
    return lambda given: wrapped(given[0], result)


def is_number(value: SSAValue) -> bool:
    """Whether a replay holds a value as an integer."""
    return isinstance(value.type, IntegerType) or str(value.type) == "index"


def evaluated(evaluate: Evaluation, given: Sequence[Scalar]) -> Scalar:
    """What comes out where all operands are known."""
    known = [each for each in given if each is not None]
    return evaluate(known) if len(known) == len(given) else None
