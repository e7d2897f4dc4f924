"""The derived call: an operation class is a function of its operands by role, its words and its other properties.

Positional arguments are the operands that are always there, in the order of the class, then its words; keywords are the
roles and properties by name. What the class says of types decides how an argument is converted and what comes back.
"""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import BoolAttr, StringAttr, f32, i32, i64
from xdsl.ir import Attribute, SSAValue

from ptosim.author.coerce import (
    INDEX,
    NAMED,
    address,
    as_value,
    condition,
    integer_attribute,
    literal,
    refuse_unset,
    scalar_value,
    traced_value,
)
from ptosim.author.failures import WrongType, failure
from ptosim.author.trace import current, not_in_tileop
from ptosim.author.values import (
    AlignValue,
    MaskValue,
    PointerOffset,
    PointerValue,
    RegisterValue,
    ScalarValue,
    Traced,
    wrapped,
)
from ptosim.author.words import word
from ptosim.language.micro.sync import PIPES
from ptosim.language.operation import PTOOperation
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.types import MaskType, PtrType, VregType, mask_for

INDEX_ROLES = ("row", "col", "offset", "slot")
"""Roles of tile operations that count, whatever the elements are."""
I32_ROLES = ("key0", "key1", "counter0", "counter1", "counter2", "counter3", "blockLen", "bin")


@dataclass(frozen=True)
class Spelling:
    """The differences of a call from its class."""

    keywords: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of keywords that are not those of roles and properties."""
    order: tuple[str, ...] = ()
    """The roles of positional arguments, where their order is another."""
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])


PLAIN = Spelling()


def perform(
    kind: type[PTOOperation], name: str, spelling: Spelling, args: Sequence[Any], given: Mapping[str, Any]
) -> Any:
    """A call of the surface: builds the operation and returns what it gives."""
    bound = bind(kind, name, spelling, args, given)
    guard(kind, name)
    return build(kind, name, bound)


def guard(kind: type[PTOOperation], name: str) -> None:
    """A tileop and a vector scope only compute on registers."""
    if issubclass(kind, TileOperation) or kind.name.startswith("pto.comm."):
        not_in_tileop(name)


def bind(
    kind: type[PTOOperation], name: str, spelling: Spelling, args: Sequence[Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments by role and property."""
    roles = positional(kind, spelling, len(args))
    if len(args) > len(roles):
        raise failure(WrongType, f"{name} takes {takes(roles)}; {len(args)} arguments are given")
    bound = dict(zip(roles, args, strict=False))
    for keyword, value in given.items():
        if value is None:
            continue
        role = role_of(kind, spelling, keyword)
        if role is None:
            known = ", ".join(dict.fromkeys((*spelling.keywords, *kind.operand_roles, *_own_properties(kind))))
            raise failure(WrongType, f"{name} has no argument '{keyword}'; known: {known}")
        if role in bound:
            raise failure(WrongType, f"{name} is given '{keyword}' twice")
        bound[role] = value
    for role, value in spelling.defaults.items():
        bound.setdefault(role, value)
    missing = [role for role in required(kind) if bound.get(role) is None]
    if missing:
        raise failure(
            WrongType,
            f"{name} takes {takes(roles)}; {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
        )
    return {role: value for role, value in bound.items() if value is not None}


def takes(roles: Sequence[str]) -> str:
    return f"({', '.join(roles)})" if roles else "no arguments"


def _own_properties(kind: type[PTOOperation]) -> tuple[str, ...]:
    return tuple(role for role in kind.property_roles if role != "older")


def required(kind: type[PTOOperation]) -> list[str]:
    """Roles and properties that every call gives."""
    free = kind.optional_roles | kind.variadic_roles
    return [role for role in kind.operand_roles if role not in free] + list(kind.required_properties)


def positional(kind: type[PTOOperation], spelling: Spelling, count: int) -> list[str]:
    """The roles of so many positional arguments."""
    if spelling.order:
        return list(spelling.order)
    free = kind.optional_roles
    spare = count - sum(role not in free for role in kind.operand_roles)
    roles: list[str] = []
    for role in kind.operand_roles:
        if role not in free:
            roles.append(role)
        elif issubclass(kind, TileOperation) and spare > 0:
            roles.append(role)
            spare -= 1
    return [*roles, *_own_properties(kind)]


def bound_roles(kind: type[PTOOperation], spelling: Spelling) -> list[str]:
    """The roles of positional arguments, when only those are given that every call has."""
    return positional(kind, spelling, 0)


def role_of(kind: type[PTOOperation], spelling: Spelling, keyword: str) -> str | None:
    """The role or property that a keyword means; underscores and capitals do not count."""
    known = (*kind.operand_roles, *_own_properties(kind))
    if keyword in spelling.keywords:
        return spelling.keywords[keyword]
    if keyword in known:
        return keyword
    plain = keyword.replace("_", "").lower()
    if plain.endswith("precision") and "precisionType" in known:
        return "precisionType"
    return next((role for role in known if role.replace("_", "").lower() == plain), None)


# --- building ---------------------------------------------------------------------------------------------------------


def build(
    kind: type[PTOOperation], name: str, bound: Mapping[str, Any], results: Sequence[Attribute] | None = None
) -> Any:
    """The operation of arguments by role."""
    for value in bound.values():
        refuse_unset(value)
    operands: dict[str, SSAValue | Sequence[SSAValue] | None] = {}
    for role in kind.operand_roles:
        if role not in bound:
            continue
        value = bound[role]
        if role in kind.variadic_roles:
            several: list[Any] = list(value) if isinstance(value, tuple | list) else [value]
            operands[role] = [operand(kind, name, role, each, bound) for each in several]
        else:
            operands[role] = operand(kind, name, role, value, bound)
    properties = {role: property_of(kind, name, role, bound[role]) for role in _own_properties(kind) if role in bound}
    given = bound.get("result_type")
    types = results if results is not None else result_types(kind, name, operands, given)
    return wrapped(current(name).make(kind, operands, types, properties).results)


def operand(kind: type[PTOOperation], name: str, role: str, value: Any, bound: Mapping[str, Any]) -> SSAValue:
    """An argument as the operand that plays a role."""
    what = f"{role} of {name}"
    if role in kind.spaces:
        return address(value, what)
    types = kind.types.get(role, ())
    if types:
        return _typed(kind, role, types, value, what, bound)
    if issubclass(kind, TileOperation):
        return _of_tiles(kind, role, value, what, bound)
    if isinstance(value, PointerOffset):
        return address(value, what)
    if isinstance(value, Traced):
        return value.ssa
    model = next(
        (each for each in bound.values() if isinstance(each, ScalarValue | RegisterValue | PointerValue)), None
    )
    if hasattr(value, "loaded"):
        return value.loaded().ssa
    return as_value(value, element_of_value(model) if model is not None else default_type(value)).ssa


def _typed(
    kind: type[PTOOperation], role: str, types: tuple[str, ...], value: Any, what: str, bound: Mapping[str, Any]
) -> SSAValue:
    first = types[0]
    if first in ("V", "vreg"):
        return traced_value(value, what, "a vector register", RegisterValue)
    if first in ("M", "mask"):
        return traced_value(value, what, "a mask", MaskValue)
    if first == "align":
        return traced_value(value, what, "the state of a stream (pto.init_align, pto.vldas)", AlignValue)
    if first == "T":
        model = next((each for each in bound.values() if isinstance(each, RegisterValue)), None)
        if model is None:
            return value.ssa if isinstance(value, ScalarValue) else as_value(value, default_type(value)).ssa
        return scalar_value(value, element_of_value(model), what)
    from ptosim.language.types import element_name

    if isinstance(value, ScalarValue) and element_name(value.ssa.type) in types:
        return value.ssa
    if first == "i1":
        return condition(value)
    return scalar_value(value, f32 if first == "f32" else NAMED[first], what)


def default_type(value: Any) -> Attribute:
    """The type of a literal that nothing decides: f32, or i32."""
    from xdsl.dialects.builtin import i1

    number = literal(value)
    return i1 if isinstance(number, bool) else f32 if isinstance(number, float) or isinstance(value, str) else i32


def element_of_value(value: Any) -> Attribute:
    """The type of the elements of a value."""
    type_ = value.ssa.type
    return type_.element if isinstance(type_, VregType | PtrType) else type_


def _of_tiles(kind: type[TileOperation], role: str, value: Any, what: str, bound: Mapping[str, Any]) -> SSAValue:
    from ptosim.author.tiles import TileValue

    if isinstance(value, Traced) and not isinstance(value, ScalarValue):
        return value.ssa
    if role in INDEX_ROLES:
        return scalar_value(value, INDEX, what)
    if role in I32_ROLES:
        return scalar_value(value, i32, what)
    if role in kind.scalars or literal(value) is not None or isinstance(value, ScalarValue) or hasattr(value, "loaded"):
        roles = sorted(kind.operand_roles, key=lambda each: (each in ("mask", "idx"), each == "dst"))
        tile = next((bound[each] for each in roles if isinstance(bound.get(each), TileValue)), None)
        if role == "pre_quant":
            return scalar_value(value, i64, what)
        if role == "value" or tile is None:
            return as_value(value, i32).ssa
        return scalar_value(value, tile.tile.element, what)
    raise failure(WrongType, f"{what} is a tile or a view, not {value!r}")


def property_of(kind: type[PTOOperation], name: str, role: str, value: Any) -> Attribute:
    """An argument as a property."""
    vocabulary = kind.words.get(role) or (PIPES if role == "pipe" else None)
    if isinstance(value, Attribute):
        return value
    if vocabulary is not None:
        return StringAttr(word(value, vocabulary, f"{role} of {name}"))
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, str):
        return StringAttr(value)
    return integer_attribute(value, i32, f"{role} of {name}")


# --- results ----------------------------------------------------------------------------------------------------------


def result_types(
    kind: type[PTOOperation], name: str, operands: Mapping[str, Any], given: Any = None
) -> Sequence[Attribute]:
    """The types of the results that every call gives."""
    if kind.required_results == 0:
        return ()
    if given is not None:
        from ptosim.author.dtypes import type_of

        listed: list[Any] = list(given) if isinstance(given, tuple | list) else [given]
        return [type_of(each, f"the result of {name}") for each in listed]
    roles = kind.result_roles[: kind.required_results]
    return [_result_type(kind, name, role, operands) for role in roles]


def _result_type(kind: type[PTOOperation], name: str, role: str, operands: Mapping[str, Any]) -> Attribute:
    values = [each for each in operands.values() if isinstance(each, SSAValue)]
    registers = [each.type for each in values if isinstance(each.type, VregType)]
    pointers = [each.type for each in values if isinstance(each.type, PtrType)]
    types = kind.types.get(role, ())
    first = types[0] if types else ""
    if first in ("V", "vreg"):
        if registers:
            return registers[0]
        if pointers:
            return VregType.of(pointers[0].element)
        scalars = [each.type for each in values]
        return VregType.of(scalars[0])
    if first in ("M", "mask") or (kind.granularity and role in ("result", "low", "high")):
        return _mask_type(kind, registers, values)
    if first == "align":
        from ptosim.language.types import AlignType

        return AlignType()
    if first in NAMED:
        return NAMED[first]
    if not first and role == "next" and values and not pointers:
        return values[0].type
    if not first and pointers:
        return pointers[0] if role == "next" else pointers[0].element
    if not first and values:
        return values[0].type
    if not operands:
        return i64
    raise failure(WrongType, f"{name} needs result_type, the type of its result")


def _mask_type(kind: type[PTOOperation], registers: Sequence[VregType], values: Sequence[SSAValue]) -> Attribute:
    if kind.granularity:
        return MaskType(StringAttr(kind.granularity))
    if registers:
        return mask_for(registers[0])
    masks = [each.type for each in values if isinstance(each.type, MaskType)]
    return masks[0]
