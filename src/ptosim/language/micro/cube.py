"""Shared parts of the instructions of the cube core; those with clauses are in the rooms cube_load, mad and fixpipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from xdsl.ir import Attribute

from ptosim.effects.names import CoreKind
from ptosim.language.operation import PTOOperation
from ptosim.language.text.assembly_format import given_twice
from ptosim.language.text.clauses import Written, by_role, parse_clause_types
from ptosim.language.text.located_parser import LocatedParser


class CubeOperation(PTOOperation):
    """An instruction that only the cube core has; there are no vector scopes there."""

    placement = "outside"
    cores = (CoreKind.AIC,)

    @classmethod
    def parse_end(cls, parser: LocatedParser, written: Written, clauses: Mapping[str, Attribute]) -> Self:
        """The attribute dictionary and the type list, behind the operands and clauses."""
        attributes, properties = cls.parse_dictionary(parser)
        for name in properties:
            if name in clauses:
                given_twice(parser, name, parser.place_of(name))
        parse_clause_types(parser, written)
        return cls.make(by_role(written), (), {**properties, **clauses}, attributes)
