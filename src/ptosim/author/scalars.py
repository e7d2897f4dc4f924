"""`scalar.*`: functions of scalars, and elements in memory."""

from __future__ import annotations

from typing import Any

from ptosim.author.coerce import INDEX, condition, converted, literal, literal_type, scalar_value, unified
from ptosim.author.dtypes import Described, type_of
from ptosim.author.failures import WrongType, failure
from ptosim.author.memory import load, store
from ptosim.author.operators import apply, binary, largest
from ptosim.author.operators import select as selected
from ptosim.author.trace import current
from ptosim.author.values import ScalarValue, Traced, wrap
from ptosim.language.catalogue import operation
from ptosim.language.types import element_of


def max(a: Any, b: Any) -> Any:
    """The larger of two scalars."""
    return largest(a, b)


def min(a: Any, b: Any) -> Any:
    """The smaller of two scalars."""
    return largest(a, b, least=True)


def _value(value: Any, what: str) -> Any:
    if isinstance(value, ScalarValue):
        return value.ssa
    if literal(value) is None and not hasattr(value, "loaded"):
        raise failure(WrongType, f"{what} takes a scalar, not {value!r}")
    if hasattr(value, "loaded"):
        return value.loaded().ssa
    return scalar_value(value, literal_type(literal(value)))


def _function(name: str, value: Any) -> Any:
    given = _value(value, f"scalar.{name}")
    if not element_of(given.type).is_float:
        raise failure(WrongType, f"scalar.{name} takes a float, not {given.type}")
    kind = operation(f"math.{name}")
    assert kind is not None
    return wrap(current(f"scalar.{name}").make(kind, {kind.operand_roles[0]: given}, [given.type]).results[0])


def exp(x: Any) -> Any:
    """The exponential of a float."""
    return _function("exp", x)


def log(x: Any) -> Any:
    """The natural logarithm of a float."""
    return _function("log", x)


def sqrt(x: Any) -> Any:
    """The square root of a float."""
    return _function("sqrt", x)


def abs(x: Any) -> Any:
    """The absolute value of a scalar."""
    given = _value(x, "scalar.abs")
    if element_of(given.type).is_float:
        return _function("absf", x)
    if given.type == INDEX:
        return largest(wrap(given), binary("-", 0, wrap(given)))
    kind = operation("math.absi")
    assert kind is not None
    return wrap(current().make(kind, {kind.operand_roles[0]: given}, [given.type]).results[0])


def select(cond: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b."""
    if isinstance(a, ScalarValue) or isinstance(b, ScalarValue):
        x, y = unified(a, b, "scalar.select")
        return selected(condition(cond), x, y)
    if isinstance(a, Traced) and isinstance(b, Traced):
        if a.ssa.type != b.ssa.type:
            raise failure(WrongType, f"scalar.select takes values of one type, not {a.ssa.type} and {b.ssa.type}")
        return selected(condition(cond), a.ssa, b.ssa)
    if not isinstance(cond, Traced):
        return a if cond else b
    raise failure(WrongType, "scalar.select of two literals has no type: give one of them a type, such as pto.i32(1)")


def index_cast(*arguments: Any) -> Any:
    """An integer as index, or as another integer type: (value) or (type, value)."""
    if len(arguments) == 2:
        a, b = arguments
        type_, value = (b, a) if isinstance(b, Described) else (a, b)
        return cast(value, type_)
    if len(arguments) != 1:
        raise failure(WrongType, "scalar.index_cast takes (value) or (type, value)")
    (value,) = arguments
    if literal(value) is not None:
        return wrap(scalar_value(value, INDEX))
    return wrap(converted(_value(value, "scalar.index_cast"), INDEX, "the value"))


def cast(value: Any, type: Any) -> Any:
    """A scalar as another type, where only its width changes."""
    if isinstance(value, Described):
        value, type = type, value
    wanted = type_of(type)
    return wrap(scalar_value(value, wanted, "the value of scalar.cast"))


def addi(a: Any, b: Any) -> Any:
    """a + b, of integers."""
    return _integers("addi", "+", a, b)


def subi(a: Any, b: Any) -> Any:
    """a - b, of integers."""
    return _integers("subi", "-", a, b)


def muli(a: Any, b: Any) -> Any:
    """a * b, of integers."""
    return _integers("muli", "*", a, b)


def _integers(name: str, sign: str, a: Any, b: Any) -> Any:
    if not isinstance(a, ScalarValue) and not isinstance(b, ScalarValue):
        a = wrap(_value(a, f"scalar.{name}"))
    x, y = unified(a, b, sign)
    if element_of(x.type).is_float:
        raise failure(WrongType, f"scalar.{name} takes integers, not {x.type}")
    return wrap(apply(name, x, y))


NAMES = "max min exp log sqrt abs select index_cast cast addi subi muli load store"

__all__ = ["load", "store"]
