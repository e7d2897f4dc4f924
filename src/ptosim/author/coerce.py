"""From what the author writes to a value of the type that is wanted: literals, widths of integers and floats, signs."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import IndexType, IntAttr, IntegerAttr, IntegerType, Signedness, i1, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.trace import current
from ptosim.author.values import PointerOffset, PointerValue, ScalarValue, Traced, wrap
from ptosim.language.structure.scalar import Constant
from ptosim.language.structure.scalar_cast import ExtF, ExtSI, ExtUI, IndexCast, IndexCastUI, SignCast, TruncF, TruncI
from ptosim.language.text.literals import float_bits, integer_bits, integer_of
from ptosim.language.types import element_name, element_of, is_packed

INDEX = IndexType()
NAMED: dict[str, Attribute] = {"index": INDEX, "i1": i1, "i16": i16, "i32": i32, "i64": i64}


def signless(type_: Attribute) -> Attribute:
    """The type without its sign, which is what arithmetic takes."""
    return IntegerType(type_.width.data) if isinstance(type_, IntegerType) else type_


def is_unsigned(type_: Attribute) -> bool:
    return isinstance(type_, IntegerType) and (type_.signedness.data is Signedness.UNSIGNED or type_.width.data == 1)


def is_signed_word(type_: Attribute) -> bool:
    """Whether the type is spelled with a sign: si32, ui8."""
    return isinstance(type_, IntegerType) and type_.signedness.data is not Signedness.SIGNLESS


def literal(value: Any) -> Any:
    """A number of Python's own, of whatever class; None for something else."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, Traced | str | bytes):
        return None
    try:
        return operator.index(value)
    except TypeError:
        pass
    item = getattr(value, "item", None)  # a number of NumPy
    found = item() if callable(item) and getattr(value, "ndim", 0) == 0 else None
    return found if isinstance(found, bool | int | float) else None


def constant(value: Any, type_: Attribute, what: str = "the value") -> SSAValue:
    """A literal as a value of a type. Text is a special number, "-inf", or a pattern of bits, "0xFC00"."""
    if element_name(type_) is None:
        raise failure(WrongType, f"{what} is {value!r}, but {type_} has no literals")
    if is_packed(type_):
        return _packed(value, type_, what)
    kind = element_of(type_)
    if kind.is_float:
        bits = _float_bits(value, type_, what)
    else:
        number = literal(value)
        if isinstance(value, str):
            if not re.fullmatch("0[xX][0-9a-fA-F]+", value):
                hint = "write the number itself; text is for patterns of bits, such as '0x7F'"
                raise failure(WrongValue, f"{what} is {value!r}, which is no integer", hint=hint)
            number = int(value, 16)
        if number is None or isinstance(number, float):
            raise failure(WrongType, f"{what} is {value!r}, but an integer of type {type_} is needed")
        known = integer_bits(int(number), kind)
        if known is None:
            raise failure(WrongValue, f"{what} is {value}, which does not fit {type_}")
        bits = known
    return pattern(bits, type_)


def _packed(value: Any, type_: Attribute, what: str) -> SSAValue:
    """The same number in all parts of a packed value."""
    from ptosim.author.dtypes import attribute_of

    part, number = element_of(type_).part, literal(value)
    if part is None or number is None or isinstance(number, bool):
        raise failure(WrongType, f"{what} is {value!r}, but a number for each part of {type_} is needed")
    text = repr(float(number)) if part.is_float else str(int(number))
    dense = attribute_of(f"dense<{text}> : {type_}")
    return current().make(Constant, {}, [type_], {"dense": dense}, name="splat").results[0]


def _float_bits(value: Any, type_: Attribute, what: str) -> int:
    kind = element_of(type_)
    if kind.name not in ("f16", "bf16", "f32", "f64"):
        raise failure(WrongType, f"{what} is {value!r}, but {type_} has no literals")
    if isinstance(value, str):
        text = value.strip().lower()
        if text.startswith("0x"):
            bits = int(text, 16)
            if bits >> kind.bits:
                raise failure(WrongValue, f"{what} is {value!r}, which has more than {kind.bits} bits")
            return bits
        try:
            return float_bits(float(text), kind)
        except ValueError:
            raise failure(WrongValue, f"{what} is {value!r}, which is no number") from None
    number = literal(value)
    if number is None or isinstance(value, bool):
        raise failure(WrongType, f"{what} is {value!r}, but a number of type {type_} is needed")
    return float_bits(float(number), kind)


def pattern(bits: int, type_: Attribute) -> SSAValue:
    """A constant by its bits; one with a sign is made without and cast."""
    trace = current("a constant")
    plain = signless(type_)

    def make() -> SSAValue:
        kind = element_of(plain)
        number = str(integer_of(bits, kind)).replace("-", "m") if kind.is_integer else ""
        name = f"c{number}" if plain == INDEX else f"c{number}_{kind.name}" if number else f"cst_{kind.name}"
        if plain == i1:
            name = "true" if bits else "false"
        op = trace.make(Constant, {}, [plain], {"bits": IntAttr(bits)}, name=name)
        return op.results[0]

    value = trace.once((bits, plain), make)
    return cast_sign(value, type_) if plain != type_ else value


def cast_sign(value: SSAValue, type_: Attribute) -> SSAValue:
    """The same bits with another sign."""
    if value.type == type_:
        return value
    role = SignCast.operand_roles[0]
    trace = current()
    return trace.make(SignCast, {role: value}, [type_], name="signed").results[0]


def convert(kind: Any, value: SSAValue, type_: Attribute) -> SSAValue:
    """One conversion of a scalar."""
    return current().make(kind, {kind.operand_roles[0]: value}, [type_]).results[0]


def scalar_value(value: Any, type_: Attribute, what: str = "the value") -> SSAValue:
    """A scalar of the type that is wanted: a literal becomes a constant, integers and floats change their width."""
    if isinstance(value, ScalarValue):
        return converted(value.ssa, type_, what)
    refuse_unset(value)
    if isinstance(value, Traced | PointerOffset):
        shown = value.ssa.type if isinstance(value, Traced) else "an address"
        raise failure(WrongType, f"{what} is {shown}, but a scalar of type {type_} is needed")
    if literal(value) is None and not isinstance(value, str):
        loaded: Any = getattr(value, "loaded", None)
        if loaded is not None:  # an element of a tile
            return converted(loaded().ssa, type_, what)
        raise failure(WrongType, f"{what} is {value!r}, but a scalar of type {type_} is needed")
    if isinstance(value, bool) and type_ != i1 and not isinstance(type_, IndexType):
        raise failure(WrongType, f"{what} is {value}, but a number of type {type_} is needed")
    return constant(value, type_, what)


def converted(value: SSAValue, type_: Attribute, what: str) -> SSAValue:
    """A scalar as one of another type, where nothing but its width changes."""
    source = value.type
    if source == type_:
        return value
    if is_signed_word(source) or is_signed_word(type_):
        bare = cast_sign(value, signless(source))
        extended = _integer(bare, signless(type_), is_unsigned(source), what)
        return cast_sign(extended, type_)
    return _integer(value, type_, is_unsigned(source), what)


def _integer(value: SSAValue, type_: Attribute, unsigned: bool, what: str) -> SSAValue:
    source = value.type
    if source == type_:
        return value
    a, b = element_of(source), element_of(type_)
    if a.is_integer and b.is_integer:
        if isinstance(source, IndexType) or isinstance(type_, IndexType):
            return convert(IndexCastUI if unsigned else IndexCast, value, type_)
        if b.bits < a.bits:
            return convert(TruncI, value, type_)
        return convert(ExtUI if unsigned else ExtSI, value, type_)
    if a.is_float and b.is_float and a.bits != b.bits:
        return convert(ExtF if b.bits > a.bits else TruncF, value, type_)
    hint = "convert it first: scalars have no conversion between integers and floats, nor between f16 and bf16"
    raise failure(WrongType, f"{what} has type {source}, but {type_} is needed", hint=hint)


def refuse_unset(value: Any) -> None:
    """A name that was not set on every way complains here."""
    complain = getattr(type(value), "complain", None)
    if complain is not None:
        complain(value)


def index(value: Any, what: str = "the index") -> SSAValue:
    """A value of type index."""
    return _whole(value, INDEX, what)


def integer64(value: Any, what: str = "the count") -> SSAValue:
    """A value of type i64."""
    return _whole(value, i64, what)


def _whole(value: Any, type_: Attribute, what: str) -> SSAValue:
    number = literal(value)
    is_float = isinstance(number, float) or (isinstance(value, ScalarValue) and element_of(value.ssa.type).is_float)
    if is_float:
        shown = value if number is not None else f"of type {value.ssa.type}"
        raise failure(WrongType, f"{what} is {shown}, a float; an integer is needed")
    return scalar_value(value, type_, what)


def counts(value: Any, what: str) -> Any:
    """An offset that is converted later: an integer, or a value of the run that is one."""
    refuse_unset(value)
    number = literal(value)
    if isinstance(value, ScalarValue) and not element_of(value.ssa.type).is_float:
        return value
    if hasattr(value, "loaded") or (isinstance(number, int) and not isinstance(number, bool)):
        return value
    shown = f"of type {value.ssa.type}" if isinstance(value, Traced) else repr(value)
    raise failure(WrongType, f"{what} is {shown}; an integer is needed")


def whole(value: Any, what: str) -> int:
    """An integer that is known while tracing."""
    refuse_unset(value)
    number = literal(value)
    if isinstance(value, Traced):
        raise failure(
            WrongType, f"{what} must be known before the kernel runs; this is a value that only the run knows"
        )
    if number is None or isinstance(number, bool | float):
        raise failure(WrongType, f"{what} is an integer, not {value!r}")
    return number


def integer_attribute(value: Any, type_: IntegerType, what: str) -> IntegerAttr[IntegerType]:
    """An integer that is known while tracing, as an attribute of the operation."""
    number, bits = whole(value, what), type_.width.data
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise failure(WrongValue, f"{what} is {number}, which does not fit i{bits}")
    return IntegerAttr(number, type_)


def unified(a: Any, b: Any, sign: str) -> tuple[SSAValue, SSAValue]:
    """Two operands of one type: a literal takes the other's, the narrower integer is widened."""
    refuse_unset(a)
    refuse_unset(b)
    if not isinstance(a, ScalarValue):
        assert isinstance(b, ScalarValue)
        return _literal_like(a, b, sign), b.ssa
    if not isinstance(b, ScalarValue):
        return a.ssa, _literal_like(b, a, sign)
    x, y = a.ssa, b.ssa
    if x.type == y.type:
        return x, y
    first, second = element_of(x.type), element_of(y.type)
    if first.is_float or second.is_float:
        hint = "convert one of them with scalar.cast, or use a constant of the same type"
        raise failure(WrongType, f"{sign} takes operands of one type, not {x.type} and {y.type}", hint=hint)
    wider = x.type if isinstance(x.type, IndexType) or (first.bits >= second.bits and y.type != INDEX) else y.type
    return converted(x, wider, "the left operand"), converted(y, wider, "the right operand")


def _literal_like(value: Any, other: ScalarValue, sign: str) -> SSAValue:
    type_ = other.ssa.type
    number = literal(value)
    if number is None and not isinstance(value, str):
        loaded: Any = getattr(value, "loaded", None)
        if loaded is not None:
            return converted(loaded().ssa, type_, "the operand")
        raise failure(WrongType, f"{sign} takes a scalar and a number, not {type(value).__name__} ({value!r})")
    if isinstance(value, bool) and type_ != i1:
        raise failure(WrongType, f"{sign}: a bool is no number of type {type_}")
    if isinstance(number, float) and not (element_of(type_).part or element_of(type_)).is_float:
        raise failure(WrongType, f"{sign}: {value} is a float, but the other operand is of type {type_}")
    return constant(value, type_, "the operand")


def condition(value: Any) -> SSAValue:
    """A truth value: an integer is true unless it is 0."""
    if isinstance(value, ScalarValue):
        if value.ssa.type == i1:
            return value.ssa
        if not element_of(value.ssa.type).is_float:
            from ptosim.author.operators import binary

            return binary("!=", value, 0).ssa
        raise failure(WrongType, f"a condition is a truth value or an integer, not {value.ssa.type}")
    if isinstance(value, bool | int):
        return pattern(int(bool(value)), i1)
    refuse_unset(value)
    raise failure(WrongType, f"a condition is a truth value or an integer, not {value!r}")


def address(value: Any, what: str = "the pointer") -> SSAValue:
    """An address: a pointer, a pointer with an offset, or what has an address of its own, such as a tile."""
    refuse_unset(value)
    if isinstance(value, PointerValue):
        return value.ssa
    if isinstance(value, PointerOffset):
        from ptosim.author.memory import addptr

        return addptr(value.pointer, value.offset).ssa
    as_ptr: Any = getattr(value, "as_ptr", None)
    if as_ptr is not None:
        return as_ptr().ssa
    shown = f"of type {value.ssa.type}" if isinstance(value, Traced) else repr(value)
    raise failure(WrongType, f"{what} is a pointer, not {shown}")


def traced_value(value: Any, what: str, noun: str, kinds: type[Traced] | tuple[type[Traced], ...]) -> SSAValue:
    """A value of one of these kinds."""
    refuse_unset(value)
    if isinstance(value, kinds):
        return value.ssa  # type: ignore[union-attr]
    shown = f"of type {value.ssa.type}" if isinstance(value, Traced) else repr(value)
    raise failure(WrongType, f"{what} is {noun}, not {shown}")


def as_value(value: Any, guess: Attribute | None = None) -> Any:
    """A value that loops can carry: a traced value as it is, a literal as a constant of the guessed type."""
    refuse_unset(value)
    if isinstance(value, Traced):
        return value
    number = literal(value)
    if number is None:
        raise failure(WrongType, f"{value!r} is no value of a kernel and cannot change while it runs")
    return wrap(constant(number, guess or literal_type(number)))


def literal_type(number: Any) -> Attribute:
    """The type of a literal that nothing else decides."""
    from xdsl.dialects.builtin import f32

    return i1 if isinstance(number, bool) else f32 if isinstance(number, float) else INDEX


def integers64(values: Sequence[Any], what: str, names: Sequence[str]) -> list[SSAValue]:
    """One count or stride for each name."""
    if not isinstance(values, tuple | list) or len(values) != len(names):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise failure(WrongType, f"{what} is ({', '.join(names)}), not {values!r}")
    return [integer64(value, f"{name} of {what}") for name, value in zip(names, values, strict=True)]


def attribute_of_symbol(name: str) -> Attribute:
    """The name of a function as an attribute."""
    from xdsl.dialects.builtin import SymbolRefAttr

    return SymbolRefAttr(name)
