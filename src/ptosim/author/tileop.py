"""Tileops: helpers that compute on tiles with vector registers or the cube, called or written in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from ptosim.author.definition import AuthoredFunction
from ptosim.author.dtypes import TILE, DType
from ptosim.author.failures import WrongPlace, WrongType, failure
from ptosim.author.functions import UNIT, add_function, argument, call, digest, matched, named_block, returned
from ptosim.author.trace import Trace, TracedFunction, current
from ptosim.author.values import ScalarValue, wrap
from ptosim.diagnostics import Related
from ptosim.language.micro.cube import CubeOperation
from ptosim.language.operation import needs_scope
from ptosim.language.structure.scalar import Constant
from ptosim.places import Location


def _attributes(name: str) -> dict[str, Any]:
    return {"pto.tileop.helper": UNIT, "pto.ptodsl.logical_name": StringAttr(name)}


class TileHelper:
    """`@pto.tileop`: one function for each kind of arguments."""

    def __init__(self, definition: AuthoredFunction, name: str | None = None) -> None:
        self.definition = definition
        self.name = name or definition.name
        self.__name__ = self.name
        self.__doc__ = definition.function.__doc__
        self.parameters = definition.parameters()
        for each in self.parameters:
            if each.annotation is not TILE and not isinstance(each.annotation, DType):
                message = f"{each.name}: a tileop takes tiles and scalars"
                definition.refuse(message, f"write {each.name}: pto.Tile, or {each.name}: pto.i32")

    def __call__(self, *args: Any, **given: Any) -> None:
        trace = current(self.name)
        if trace.body.kind in ("tileop", "simt"):
            message = f"a {trace.body.kind} cannot call the tileop {self.name}"
            related = (Related(self.definition.place, "defined here"),)
            raise failure(WrongPlace, message, related=related, hint="call both from the kernel")
        bound = matched(self.name, self.parameters, args, given, self.definition.place)
        values = [argument(self.name, each, bound[each.name]) for each in self.parameters]
        types = tuple(value.ssa.type for value in values)
        key = (id(trace.module), self, types, tuple(getattr(value, "rank", 0) for value in values))
        if key not in trace.helpers:
            trace.helpers[key] = self._make(trace, values, types)
        call(trace, trace.helpers[key], [value.ssa for value in values])

    def _make(self, trace: Trace, values: Sequence[Any], types: Sequence[Any]) -> str:
        symbol = f"{self.name}__ptodsl_{digest(self.name, *types, trace.numbered(f'tileop {self.name}'))}"
        block = named_block(types, [each.name for each in self.parameters])
        body = TracedFunction("tileop", self.name, True, [block])
        place = self.definition.place
        add_function(
            trace, symbol, types, visibility="private", attributes=_attributes(self.name), body=block, place=place
        )
        outer = trace.definition
        trace.definition = place
        try:
            with trace.function(body):
                inside = [each.like(arg) for each, arg in zip(values, block.args, strict=True)]
                result = self.definition.trace(*inside)
                if result is not None:
                    raise failure(WrongType, f"{self.name} returns {result!r}, but a tileop returns nothing", place)
                _one_kind(trace, block, self.name)
                returned(trace)
        finally:
            trace.definition = outer
        return symbol


def _one_kind(trace: Trace, block: Block, name: str) -> None:
    """A tileop is for one kind of core."""
    cube = vector = None
    for op in block.walk():
        if isinstance(op, CubeOperation):
            cube = cube or op
        elif needs_scope(op):
            vector = vector or op
    if cube is not None and vector is not None:
        places = [place for op in (cube, vector) if (place := trace.places.get(op)) is not None]
        related = (Related(places[1], "vector code here"),) if len(places) == 2 else ()
        message = f"{name} has code for the cube and for the vector core; a tileop is for one of them"
        raise failure(WrongPlace, message, places[0] if places else None, related=related)


class InlineTileop:
    """`pto.tileop(...)`: a decorator with options, or `with pto.tileop():`, whose block becomes a function."""

    def __init__(self, name: str | None, target: str | None, ast_rewrite: bool | None) -> None:
        self._name = name
        self._target = target
        self._rewrites = ast_rewrite is not False
        self._entered: list[tuple[TracedFunction, Block, Location | None]] = []

    def __call__(self, function: Callable[..., Any]) -> TileHelper:
        return TileHelper(AuthoredFunction(function, self._rewrites), self._name)

    def __enter__(self) -> None:
        trace = current("pto.tileop()")
        if trace.body.kind in ("tileop", "simt"):
            raise failure(WrongPlace, f"with pto.tileop() inside a {trace.body.kind}: tileops do not nest")
        block, outer = Block(), trace.body
        body = TracedFunction("tileop", "inline_tileop", True, [*outer.blocks, block], outer.constants)
        self._entered.append((body, block, trace.place(2)))
        trace.bodies.append(body)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        traced = current()
        body, block, place = self._entered.pop()
        assert traced.bodies.pop() is body
        body.constants.pop(block, None)
        if kind is None:
            self._outline(traced, block, place)

    def _outline(self, trace: Trace, block: Block, place: Location | None) -> None:
        name = self._name or f"inline_tileop_{trace.numbered('inline tileop')}"
        captured = _captured(trace, block)
        types = [value.type for value in captured]
        for value in captured:
            inside = block.insert_arg(value.type, len(block.args))
            inside.name_hint = value.name_hint
            value.replace_uses_with_if(inside, lambda use: _is_inside(use.operation, block))
        _one_kind(trace, block, name)
        symbol = f"{name}__ptodsl_{digest(name, *types)}"
        add_function(trace, symbol, types, visibility="private", attributes=_attributes(name), body=block, place=place)
        body = TracedFunction("tileop", name, True, [block])
        with trace.function(body):
            returned(trace, place=place)
        call(trace, symbol, captured)


def _captured(trace: Trace, block: Block) -> list[SSAValue]:
    """The values from outside that a block uses; constants are made inside again."""
    from ptosim.author.tiles import TileValue

    found: dict[SSAValue, None] = {}
    copies: dict[SSAValue, SSAValue] = {}
    for op in list(block.walk()):
        for value in op.operands:
            owner = value.owner
            if _is_inside(owner, block):
                continue
            if isinstance(owner, Constant):
                if value not in copies:
                    copy = owner.clone()
                    copy.results[0].name_hint = value.name_hint
                    block.insert_ops_before([copy], block.first_op) if block.first_op else block.add_op(copy)
                    if (place := trace.places.get(op)) is not None:
                        trace.places[copy] = place
                    copies[value] = copy.results[0]
            else:
                found[value] = None
    for value, copy in copies.items():
        value.replace_uses_with_if(copy, lambda use: _is_inside(use.operation, block))
    for value in found:
        if not isinstance(wrap(value), TileValue | ScalarValue):
            message = f"with pto.tileop() uses a value of type {value.type} from outside"
            raise failure(WrongType, message, hint="only tiles and scalars come in; take the address inside")
    return list(found)


def _is_inside(owner: Any, block: Block) -> bool:
    here = owner if isinstance(owner, Block) else owner.parent_block() if isinstance(owner, Operation) else None
    while here is not None:
        if here is block:
            return True
        here = here.parent_block()
    return False


def tileop(
    function: Any = None, *, name: str | None = None, target: str | None = None, ast_rewrite: bool | None = None
) -> Any:
    """A helper that computes on tiles: `@pto.tileop`, `@pto.tileop(name=…)`, `with pto.tileop():`."""
    made = InlineTileop(name, target, ast_rewrite)
    return made if function is None else made(function)
