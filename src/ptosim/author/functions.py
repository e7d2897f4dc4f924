"""Functions of a kernel's module: made while something calls them, once for each kind of arguments."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from ptosim.author.coerce import refuse_unset, scalar_value
from ptosim.author.definition import AuthoredFunction, AuthoredParameter
from ptosim.author.dtypes import PARTITION_VIEW, TENSOR_VIEW, TILE, Described, DType
from ptosim.author.failures import WrongPlace, WrongType, failure
from ptosim.author.trace import Trace, TracedFunction, current
from ptosim.author.values import Traced, ViewValue, wrap, wrapped
from ptosim.diagnostics import Related
from ptosim.language.structure.function import Call, Function, Return
from ptosim.places import Location


def digest(*parts: object) -> str:
    """Ten hexadecimal digits that tell functions apart."""
    return hashlib.sha1("|".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()[:10]


def add_function(
    trace: Trace,
    symbol: str,
    arguments: Sequence[Attribute],
    *,
    visibility: str | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    body: Block | None = None,
    results: Sequence[Attribute] = (),
    place: Location | None = None,
) -> Function:
    """Put a function into the module that is being filled; without a body it is a declaration."""
    region = Region(body) if body is not None else Region()
    properties = {
        "sym_name": StringAttr(symbol),
        "function_type": FunctionType.from_lists(list(arguments), list(results)),
        "sym_visibility": StringAttr(visibility) if visibility is not None else None,
    }
    made = Function.make({}, (), properties, attributes, [region])
    assert trace.module is not None
    trace.module.body.block.add_op(made)
    if place is not None:
        trace.places[made] = place
    return made


def named_block(types: Sequence[Attribute], names: Sequence[str]) -> Block:
    """The block of a function, its arguments called as the author calls them."""
    block = Block(arg_types=types)
    for argument, name in zip(block.args, names, strict=False):
        argument.name_hint = name if SSAValue.is_valid_name(name) else None
    return block


def returned(trace: Trace, values: Sequence[SSAValue] = (), place: Location | None = None) -> None:
    """The end of a function."""
    trace.add(Return.make({"arguments": list(values)}), place or trace.definition)


def call(trace: Trace, symbol: str, arguments: Sequence[SSAValue], results: Sequence[Attribute] = ()) -> Any:
    """A call of a function of this module."""
    made = trace.make(Call, {"arguments": list(arguments)}, results, {"callee": SymbolRefAttr(symbol)}, name="result")
    return wrapped(made.results)


# --- arguments --------------------------------------------------------------------------------------------------------

_KINDS: Mapping[Any, str] = {TILE: "a tile", TENSOR_VIEW: "a tensor view", PARTITION_VIEW: "a part of a view"}


def argument(owner: str, parameter: AuthoredParameter, value: Any) -> Any:
    """A value that is passed for a parameter, as the traced value of its type."""
    from ptosim.author.tiles import TileValue

    refuse_unset(value)
    note, what = parameter.annotation, f"{parameter.name} of {owner}"
    if note in _KINDS:
        wanted = TileValue if note is TILE else ViewValue
        if not isinstance(value, wanted):
            raise failure(WrongType, f"{what} is {_KINDS[note]}, not {_shown(value)}")
        return value
    if isinstance(note, DType):
        return wrap(scalar_value(value, note.type, what))
    if isinstance(note, Described):
        if getattr(value, "as_ptr", None) is not None and not isinstance(value, Traced):
            value = value.as_ptr()
        if not isinstance(value, Traced) or value.ssa.type != note.type:
            raise failure(WrongType, f"{what} is {note.type}, not {_shown(value)}")
        return value
    if isinstance(value, Traced):
        return value
    raise failure(WrongType, f"{what} is a value of a kernel, not {value!r}")


def _shown(value: Any) -> str:
    return f"a value of type {value.ssa.type}" if isinstance(value, Traced) else repr(value)


def matched(
    name: str, parameters: Sequence[AuthoredParameter], args: Sequence[Any], given: Mapping[str, Any], place: Location
) -> dict[str, Any]:
    """The arguments of a call by the names of the parameters."""
    plain = [each for each in parameters if not each.is_constant]
    if len(args) > len(plain) and len(args) > len(parameters):
        raise _count(name, plain, len(args), place)
    bound = {each.name: value for each, value in zip(parameters, args, strict=False)}
    for keyword, value in given.items():
        if keyword not in {each.name for each in parameters}:
            known = ", ".join(each.name for each in parameters) or "none"
            raise failure(WrongType, f"{name} has no parameter '{keyword}'; it has {known}", related=_defined(place))
        if keyword in bound:
            raise failure(WrongType, f"{name} is given '{keyword}' twice")
        bound[keyword] = value
    for each in parameters:
        if each.name not in bound and each.is_constant:
            bound[each.name] = each.default
    if any(each.name not in bound for each in parameters):
        raise _count(name, plain, len(args) + len(given), place)
    return bound


def _count(name: str, parameters: Sequence[AuthoredParameter], given: int, place: Location) -> Exception:
    listed = ", ".join(each.name for each in parameters)
    message = f"{name} takes {len(parameters)} arguments ({listed}), but {given} are given"
    return failure(WrongType, message, related=_defined(place))


def _defined(place: Location) -> tuple[Related, ...]:
    return (Related(place, "defined here"),)


# --- helpers ----------------------------------------------------------------------------------------------------------


class HelperFunction:
    """`@pto.func`: a function of the kernel's module with results."""

    def __init__(self, definition: AuthoredFunction, name: str | None, returns: Any) -> None:
        self.definition = definition
        self.name = name or definition.name
        self.__name__ = self.name
        self.__doc__ = definition.function.__doc__
        self.parameters = definition.parameters()
        self.returns = _declared(definition, returns)
        for each in self.parameters:
            if not each.is_constant and not isinstance(each.annotation, Described):
                definition.refuse(f"{each.name} needs a type: {each.name}: pto.i32, pto.ptr(…), pto.Tile")

    def __call__(self, *args: Any, **given: Any) -> Any:
        trace = current(self.name)
        if trace.body.kind == "tileop":
            raise failure(WrongPlace, f"a tileop cannot call {self.name}: it calls no other function")
        bound = matched(self.name, self.parameters, args, given, self.definition.place)
        plain = [each for each in self.parameters if not each.is_constant]
        values = [argument(self.name, each, bound[each.name]) for each in plain]
        constants = {each.name: bound[each.name] for each in self.parameters if each.is_constant}
        types = tuple(value.ssa.type for value in values)
        key = (id(trace.module), self, types, tuple(constants.items()))
        if key in trace.open_helpers:
            related = _defined(self.definition.place)
            raise failure(WrongPlace, f"{self.name} calls itself: kernels have no recursion", related=related)
        if key not in trace.helpers:
            trace.helpers[key] = self._make(trace, values, constants, key)
        return call(trace, trace.helpers[key], [value.ssa for value in values], [each.type for each in self.returns])

    def _make(self, trace: Trace, values: Sequence[Any], constants: Mapping[str, Any], key: Any) -> str:
        number = trace.numbered(self.name)
        symbol = f"{self.name}_{number}" if number else self.name
        names = [each.name for each in self.parameters if not each.is_constant]
        block = named_block([value.ssa.type for value in values], names)
        body = TracedFunction("func", self.name, trace.body.explicit, [block])
        add_function(
            trace,
            symbol,
            [value.ssa.type for value in values],
            visibility="private",
            body=block,
            results=[each.type for each in self.returns],
            place=self.definition.place,
        )
        outer = trace.definition
        trace.definition = self.definition.place
        trace.open_helpers.append(key)
        try:
            with trace.function(body):
                inside = [each.like(arg) for each, arg in zip(values, block.args, strict=True)]
                result = self.definition.trace(*inside, **constants)
                returned(trace, self._results(result))
        finally:
            trace.open_helpers.pop()
            trace.definition = outer
        return symbol

    def _results(self, result: Any) -> list[SSAValue]:
        given: list[Any] = [] if result is None else list(result) if isinstance(result, tuple) else [result]
        if len(given) != len(self.returns):
            message = f"{self.name} declares {len(self.returns)} results, but returns {len(given)}"
            raise failure(WrongType, message, self.definition.place)
        parameters = [AuthoredParameter(f"result {number}", each) for number, each in enumerate(self.returns)]
        return [argument(self.name, each, value).ssa for each, value in zip(parameters, given, strict=True)]


def _declared(definition: AuthoredFunction, returns: Any) -> tuple[Any, ...]:
    """The types of the results."""
    note = returns
    if note is _UNSAID:
        note = definition.function.__annotations__.get("return", _UNSAID)
        if isinstance(note, str):
            from ptosim.author.definition import resolved_annotations

            note = resolved_annotations(definition.function).get("return", note)
    if note is _UNSAID:
        definition.refuse("a @pto.func says what it returns", "write returns=pto.i32 (or a tuple, or None)")
    listed: tuple[Any, ...] = () if note is None else tuple(note) if isinstance(note, tuple | list) else (note,)
    for each in listed:
        if not isinstance(each, Described):
            definition.refuse(f"{each!r} is no type that a function can return")
    return listed


_UNSAID: Any = object()


def func(function: Any = None, *, name: str | None = None, returns: Any = _UNSAID, ast_rewrite: bool = True) -> Any:
    """A helper with results: a function of the module."""

    def decorate(given: Any) -> HelperFunction:
        return HelperFunction(AuthoredFunction(given, ast_rewrite is not False), name, returns)

    return decorate if function is None else decorate(function)


Decorator = Callable[[Any], Any]
UNIT = UnitAttr()
