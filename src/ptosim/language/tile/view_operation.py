"""Shared parts of operations that move no data: allocations, views, and the small stores of the scalar unit.

They run on no pipe. A class says which types its roles have; its other rules may then rely on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Self

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from ptosim.language.operation import SEGMENTS, Problem, PTOOperation
from ptosim.language.text.assembly_format import compare_types, given_twice, parse_types, placed, types_of, write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.tile_syntax import print_dictionary

Operands = Mapping[str, SSAValue | Sequence[SSAValue]]


class ViewOperation(PTOOperation):
    """An operation on tiles, views, arrays or structs that moves nothing."""

    listed: ClassVar[tuple[str, ...] | None] = ()
    absorbed: ClassVar[str] = "whatever takes its tile, view, address or number is lowered with what it says"
    kinds: ClassVar[Mapping[str, tuple[type[Attribute], ...]]] = {}
    """The types that operands and results of these roles may have."""
    shares: ClassVar[str | None] = None
    """The role of the tile whose bytes the result names in another way."""
    arrow: ClassVar[bool] = False
    """Whether an arrow stands before the result type of an operation without listed operands."""
    results_shown: ClassVar[bool] = True
    """Whether the result types are printed."""

    # --- text ---------------------------------------------------------------------------------------------------------

    @classmethod
    def parse_rest(cls, parser: LocatedParser, operands: Operands, properties: Mapping[str, Attribute]) -> Self:
        """The attribute dictionary, before or after the types; result types may follow from the rest."""
        attributes, given = cls.parse_dictionary(parser)
        types = cls._parse_written_types(parser, operands)
        for more, known in zip(cls.parse_dictionary(parser), (attributes, given), strict=True):
            for name in more.keys() & known.keys():
                given_twice(parser, name, parser.place_of(name))
            known.update(more)
        given.update(properties)
        for name in cls.required_properties:
            if name not in given:
                parser.raise_error(f"{cls.name} needs the attribute '{name}'", parser.place_of(""))
        results = cls.inferred(parser, operands, given) if types is None else types
        return cls.make(operands, results, given, attributes)

    @classmethod
    def _parse_written_types(cls, parser: LocatedParser, operands: Operands) -> list[Attribute] | None:
        """The result types, or None where they are not written; the types of operands are compared."""
        if parser.parse_optional_punctuation("->") is not None:
            return cls._results(parser, parse_types(parser))
        if parser.parse_optional_punctuation(":") is None:
            return None
        types = parse_types(parser)
        listed = [(role, value) for role, value in cls._written(operands) if role in (cls.listed or ())]
        if not listed:
            return cls._results(parser, types)
        compare_types(parser, types, listed)
        for (role, _), (_, span) in zip(listed, types, strict=False):
            parser.place(f"{role}_type", span)
        if parser.parse_optional_punctuation("->") is not None:
            return cls._results(parser, parse_types(parser))
        return None

    @classmethod
    def inferred(
        cls, parser: LocatedParser, operands: Operands, properties: Mapping[str, Attribute]
    ) -> list[Attribute]:
        """The result types of an operation that is written without them."""
        if cls.result_roles:
            parser.raise_error(f"expected the result type of {cls.name}")
        return []

    def print_rest(self, printer: Printer) -> None:
        hidden = {SEGMENTS, *(item.role for item in placed(self.elements()))}
        ordered = [name for name in self.property_roles if name in self.properties and name not in hidden]
        print_dictionary(printer, {**self.attributes, **{name: self.properties[name] for name in ordered}}, self.words)
        types = [value.type for role in self.listed or () for value in self.segment(role)]
        if types:
            write(printer, " : ", types)
        if self.results and self.results_shown:
            write(printer, " -> " if types or self.arrow else " : ", types_of(self.results))

    # --- rules --------------------------------------------------------------------------------------------------------

    def rules(self, target: str) -> Iterator[Problem]:
        """First that every role has a type it can have, since the rules of the class rely on it."""
        wrong = list(self._wrong_kinds())
        yield from wrong or self.view_rules(target)

    def _wrong_kinds(self) -> Iterator[Problem]:
        values = [*self.roles(), *zip(self.result_roles, self.results, strict=False)]
        for role, value in values:
            known = self.kinds.get(role)
            if known is not None and not isinstance(value.type, known):
                expected = " or ".join(f"!{type_.name}" for type_ in known)
                yield Problem(f"{role} must be {expected}, not {value.type}", at=role)

    def view_rules(self, target: str) -> Iterator[Problem]:
        """Problems of an operation whose roles have the right types."""
        return iter(())


def root_of(value: SSAValue) -> SSAValue:
    """The tile that a value is a view of, as far as views lead back."""
    owner = value.owner
    while isinstance(owner, ViewOperation) and owner.shares is not None:
        value = owner.segment(owner.shares)[0]
        owner = value.owner
    return value


def argument_of(value: SSAValue) -> Operation | None:
    """The operation that a value is an argument of the body of: a function or a loop."""
    owner = value.owner
    return None if isinstance(owner, Operation) else owner.parent_op()
