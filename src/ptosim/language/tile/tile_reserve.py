"""Buffers for FIFOs: reserved by name in the function that consumes, imported by the one that produces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, i32
from xdsl.ir import Attribute, Operation

from ptosim.effects.names import Space
from ptosim.language.operation import OptionalProperty, Problem, Property, Result
from ptosim.language.structure.function import Function, function_of
from ptosim.language.text.assembly_format import Vocabulary, word_in
from ptosim.language.tile.view_operation import ViewOperation
from ptosim.language.types import SPACE_SPELLINGS
from ptosim.target import load_target

_LOCATION = Vocabulary(("vec", "mat"), {"ub": "vec", "l1": "mat"}, printed="#pto.address_space<{}>")

BASE_ALIGNMENT = 256
"""The alignment of the base of a reserved buffer."""


def _text(op: ViewOperation, attribute: str) -> str | None:
    """The name or location of a buffer. (They are no properties, because xDSL has its own meaning for these words.)"""
    text = op.attributes.get(attribute)
    return text.data if isinstance(text, StringAttr) else None


def _common_problems(op: ViewOperation) -> Iterator[Problem]:
    if _text(op, "name") is None:
        yield Problem(f"{op.name} needs the attribute 'name', a string", at="name")
    if op.results[0].type != i32:
        yield Problem(f"the address of a buffer has type i32, not {op.results[0].type}", at="result")


class ReserveBuffer(ViewOperation, name="pto.reserve_buffer"):
    """Room for the entries of a FIFO.

    In the vector memory or in L1, `size` bytes for the whole function. With `auto = true` its place is planned, else
    `base` says it. The result is the address.

        %a = pto.reserve_buffer {name = "s", size = 65536, location = #pto.address_space<vec>, auto = true} -> i32
    """

    absorbed = "its address is planned, a constant"
    words = {"location": _LOCATION}
    arrow = True
    size = Property()
    auto = OptionalProperty()
    base = OptionalProperty()
    result = Result()

    def modernise(self) -> None:
        """The location is a word, however it is written."""
        if (location := self.attributes.get("location")) is not None:
            word = word_in(location)
            self.attributes["location"] = StringAttr(_LOCATION.aliases.get(word, word))

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _common_problems(self)
        if (location := _text(self, "location")) not in _LOCATION.words:
            known, found = " or ".join(_LOCATION.words), f", not {location}" if location else ""
            yield Problem(f"{self.name} needs a location: {known}{found}", at="location")
            return
        wrong = [name for name in ("size", "base") if self.attribute(name) is not None and self.integer(name) is None]
        for name in wrong:
            yield Problem(f"{name} must be an integer, not {self.attribute(name)}", at=name)
        automatic = self.automatic
        if automatic is None:
            yield Problem(f"auto must be true or false, not {self.auto}", at="auto")
        elif automatic and self.base is not None:
            yield Problem("expects no 'base' where auto is true: the place is planned", at="base")
        elif not automatic and self.base is None:
            yield Problem("expects 'base' where auto is not true")
        elif not wrong:
            yield from self._place_problems(target)
        yield from self._name_problems()

    @property
    def automatic(self) -> bool | None:
        """Whether the place is planned; None for a value that is neither true nor false."""
        if self.auto is None:
            return self.base is None
        known: dict[Attribute, bool] = {IntegerAttr(-1, 1): True, IntegerAttr(0, 1): False}
        return known.get(self.auto)

    @property
    def label(self) -> str:
        return _text(self, "name") or ""

    @property
    def located(self) -> bool:
        """Whether its memory is one that there is; a rule of its own says so where not."""
        return _text(self, "location") in _LOCATION.words

    @property
    def space(self) -> Space:
        return SPACE_SPELLINGS[_text(self, "location") or ""]

    @property
    def bytes(self) -> int:
        return self.integer("size") or 0

    def place(self, base: int) -> None:
        """Give a buffer whose place is planned its base."""
        self.properties |= {"auto": IntegerAttr(0, 1), "base": IntegerAttr(base, i32)}

    def _place_problems(self, target: str) -> Iterator[Problem]:
        space = SPACE_SPELLINGS[_text(self, "location") or ""]
        size, base, capacity = self.integer("size") or 0, self.integer("base") or 0, load_target(target).memory[space]
        if size <= 0:
            yield Problem(f"size is {size}; it must be positive", at="size")
        if base < 0 or base % BASE_ALIGNMENT:
            yield Problem(f"base is {base}; it must be a multiple of {BASE_ALIGNMENT}", at="base")
        elif base + size > capacity:
            message = f"the buffer occupies {space}[{base}:{base + size}], but {space} of {target} has {capacity} bytes"
            yield Problem(message, at="base" if self.base is not None else "size", kind="out-of-bounds")

    def _name_problems(self) -> Iterator[Problem]:
        function = function_of(self)
        earlier = _reserved(function, _text(self, "name")) if function is not None else self
        if earlier is not None and earlier is not self:
            yield Problem(f"a buffer '{_text(self, 'name')}' is already reserved in this function", at="name")


class ImportReservedBuffer(ViewOperation, name="pto.import_reserved_buffer"):
    """The address of a buffer that another function reserves.

    The function of the other kind of core that has the buffer of that name.

        %a = pto.import_reserved_buffer {name = "s", peer_func = @consumer} -> i32
    """

    absorbed = ReserveBuffer.absorbed
    arrow = True
    peer_func = Property()
    result = Result()

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _common_problems(self)
        peer: Attribute = self.peer_func
        if not isinstance(peer, SymbolRefAttr):
            yield Problem(f"peer_func must be a function such as @consumer, not {peer}", at="peer_func")
            return
        symbol, name = peer.root_reference.data, _text(self, "name")
        found = [op for op in _outermost(self).walk() if isinstance(op, Function) and op.symbol == symbol]
        if not found:
            yield Problem(f"there is no function @{symbol}", at="peer_func")
        elif name is not None and all(_reserved(function, name) is None for function in found):
            yield Problem(f"@{symbol} reserves no buffer '{name}'", at="name")

    def reserved(self) -> ReserveBuffer | None:
        """The buffer that it is the address of."""
        symbol = cast(SymbolRefAttr, self.peer_func).root_reference.data
        found = [op for op in _outermost(self).walk() if isinstance(op, Function) and op.symbol == symbol]
        buffers = (_reserved(function, _text(self, "name")) for function in found)
        return next((buffer for buffer in buffers if buffer is not None), None)


def _reserved(function: Function, name: str | None) -> ReserveBuffer | None:
    """The first buffer of a name in a function."""
    buffers = (op for op in function.walk() if isinstance(op, ReserveBuffer))
    return next((op for op in buffers if _text(op, "name") == name), None)


def _outermost(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op
