"""Operators of scalars: which operation of `arith` each becomes, by the type of its operands."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IndexType, StringAttr, i1
from xdsl.ir import SSAValue

from ptosim.author.coerce import cast_sign, is_signed_word, is_unsigned, literal, signless, unified
from ptosim.author.failures import WrongType, failure
from ptosim.author.trace import current
from ptosim.author.values import ScalarValue, Traced, wrap
from ptosim.language.catalogue import operation
from ptosim.language.types import element_of

_SIGNED = {
    "+": "addi",
    "-": "subi",
    "*": "muli",
    "//": "floordivsi",
    "%": "remsi",
    "&": "andi",
    "|": "ori",
    "^": "xori",
}
_UNSIGNED = {**_SIGNED, "//": "divui", "%": "remui"}
_FLOAT = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_COMPARED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_BIT_SIGNS = ("&", "|", "^")


def binary(sign: str, a: Any, b: Any) -> Any:
    """An operator on two scalars, or a scalar and a literal; numbers of Python's own are left to Python."""
    if not isinstance(a, ScalarValue) and not isinstance(b, ScalarValue):
        return _static(sign, a, b)
    for value in (a, b):
        if isinstance(value, Traced) and not isinstance(value, ScalarValue):
            raise failure(WrongType, f"{sign} takes scalars, not a value of type {value.ssa.type}")
    x, y = unified(a, b, sign)
    return compared(sign, x, y) if sign in _COMPARED else wrap(computed(sign, x, y))


def _static(sign: str, a: Any, b: Any) -> Any:
    if sign == "+" and literal(a) is not None and literal(b) is not None:
        return a + b
    raise failure(WrongType, f"{sign} takes scalars, not {a!r} and {b!r}")


def computed(sign: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """A sum, product, quotient and so on of two operands of one type."""
    type_ = x.type
    kind = element_of(type_).part or element_of(type_)
    table = _FLOAT if kind.is_float else _UNSIGNED if is_unsigned(type_) and type_ != i1 else _SIGNED
    if sign not in table:
        raise failure(WrongType, _no_operator(sign, kind.is_float, str(type_)))
    return apply(table[sign], x, y)


def _no_operator(sign: str, is_float: bool, type_: str) -> str:
    if sign == "/":
        return f"integers ({type_}) have no /: write // for the quotient"
    return f"{'floats' if is_float else 'integers'} ({type_}) have no operator {sign}"


def apply(name: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """An operation of `arith` on two operands of one type; a sign is taken off before and put back behind."""
    type_ = x.type
    found = operation(f"arith.{name}")
    assert found is not None
    if is_signed_word(type_):
        x, y = (cast_sign(each, signless(type_)) for each in (x, y))
    made = current().make(found, {"lhs": x, "rhs": y}, [x.type]).results[0]
    return cast_sign(made, type_)


def compared(sign: str, x: SSAValue, y: SSAValue) -> Any:
    """A comparison of two operands of one type."""
    type_, word = x.type, _COMPARED[sign]
    if element_of(type_).is_float:
        predicate = f"o{word}"
        if sign == "!=":
            predicate = "one"
        name = "arith.cmpf"
    else:
        signed = "u" if is_unsigned(type_) else "s"
        predicate = word if sign in ("==", "!=") else f"{signed}{word}"
        name = "arith.cmpi"
        if is_signed_word(type_):
            x, y = (cast_sign(each, signless(type_)) for each in (x, y))
    found = operation(name)
    assert found is not None
    return wrap(current().make(found, {"lhs": x, "rhs": y}, [i1], {"predicate": StringAttr(predicate)}).results[0])


def select(condition: SSAValue, x: SSAValue, y: SSAValue) -> Any:
    """One of two values of one type."""
    found = operation("arith.select")
    assert found is not None
    operands = dict(zip(found.operand_roles, (condition, x, y), strict=True))
    return wrap(current().make(found, operands, [x.type]).results[0])


def largest(a: Any, b: Any, least: bool = False) -> Any:
    """The larger, or the smaller, of two scalars."""
    word, sign = ("min", "<") if least else ("max", ">")
    if not isinstance(a, ScalarValue) and not isinstance(b, ScalarValue):
        if literal(a) is None or literal(b) is None:
            raise failure(WrongType, f"scalar.{word} takes scalars, not {a!r} and {b!r}")
        return min(a, b) if least else max(a, b)
    x, y = unified(a, b, word)
    type_ = x.type
    if element_of(type_).is_float:
        return wrap(apply(f"{word}imumf", x, y))
    if isinstance(type_, IndexType):
        return select(compared(sign, x, y).ssa, x, y)
    return wrap(apply(f"{word}{'ui' if is_unsigned(type_) else 'si'}", x, y))
