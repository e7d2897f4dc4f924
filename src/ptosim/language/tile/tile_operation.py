"""The declaration of a tile operation: operands by role, its pipe, its reads and writes, its attributes.

    class TAdd(TileOperation):
        \"\"\"Sum. ...\"\"\"                                   # what `ptosim isa tadd` prints
        name = "pto.tadd"
        src0 = Operand()                                 # in the order of the text
        src1 = Operand()
        dst = Operand()

        def tile_rules(self, target: str) -> Iterator[Problem]:
            if self.tile("src0") != self.tile("dst"):
                yield Problem("...", at="src0_type")     # at the type written for src0; at="src0": at the operand

Everything said here is known without running. What an operation means is the business of its lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, NoReturn, Self, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, StringAttr, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.operation import SEGMENTS, Placement, Problem, PTOOperation
from ptosim.language.rules.operand_rules import nth
from ptosim.language.text.assembly_format import given_twice, types_of, write
from ptosim.language.text.clauses import by_role
from ptosim.language.text.located_parser import LocatedParser, Unsupported
from ptosim.language.text.tile_syntax import Clause, parse_clause, print_dictionary, read_word
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_types import PartitionViewType, TensorViewType, TileBufType

_CUBE = frozenset({"left", "right", "acc", "bias", "scaling"})
"""Locations that only the cube core has."""


class TileOperation(PTOOperation):
    """An operation on tiles, `pto.X ins(...) outs(...) {...}`. Roles outside `outs` stand in `ins`, in order."""

    placement: ClassVar[Placement] = "outside"

    outs: ClassVar[tuple[str, ...]] = ("dst",)
    scalars: ClassVar[tuple[str, ...]] = ("scalar",)
    """Roles of scalars; their types are for the rules of the class."""
    views: ClassVar[tuple[str, ...]] = ()
    """Roles of partition or tensor views in global memory."""
    untyped: ClassVar[tuple[str, ...]] = ()
    """Roles whose kind of type is for the rules of the class; every other role is played by a tile."""
    keywords: ClassVar[Mapping[str, str]] = {}
    """Roles of `ins` that have a group of their own after a keyword: `fp %f : TB`."""
    apart: ClassVar[tuple[str, ...]] = ()
    """Roles of `ins` that are printed with a type of their own: `, %q : i64`."""

    inside: ClassVar[tuple[str, ...]] = ()
    """Attributes that are printed inside `ins(...)`, the others after `outs(...)`; they are read in both places."""
    flags: ClassVar[tuple[str, ...]] = ()
    """Attributes that are true or false."""
    numbers: ClassVar[tuple[str, ...]] = ()
    """Attributes that are integers."""
    defaults: ClassVar[Mapping[str, str | int | bool]] = {}
    """The values of attributes that are not written."""
    older: ClassVar[Mapping[str, str]] = {}
    """Older names of attributes."""

    pipes: ClassVar[tuple[Pipe, ...]] = (Pipe.V,)
    """The pipes that it may run on; `pipe` says which one."""
    also_reads: ClassVar[tuple[str, ...]] = ()
    """Roles that are read although they stand in `outs`."""
    partly_writes: ClassVar[tuple[str, ...]] = ()
    """Roles of `outs` that keep some of their contents."""
    scratch: ClassVar[tuple[str, ...]] = ()
    """Roles that serve as working memory: read and written, their contents of no meaning before and after."""

    generic: ClassVar[tuple[str, ...]] = ()
    """The roles in the order of the generic form, where that is another one."""
    scale_roles: ClassVar[tuple[str, ...]] = ()
    """Roles of tiles that stand for MX scales."""

    reads: ClassVar[tuple[str, ...]] = ()
    """Roles that are read: all of `ins` but scalars and working memory, and what is read besides."""
    writes: ClassVar[tuple[str, ...]] = ()
    """Roles that are written: all of `outs`."""
    overwrites: ClassVar[tuple[str, ...]] = ()
    """Written roles whose valid region gets new contents as a whole."""

    def __init_subclass__(cls, name: str = "") -> None:
        super().__init_subclass__(name)
        unread = {*cls.outs, *cls.scalars, *cls.scratch, "tmp"} - {*cls.also_reads}
        cls.reads = tuple(role for role in cls.operand_roles if role not in unread)
        cls.writes = tuple(role for role in cls.operand_roles if role in cls.outs)
        cls.overwrites = tuple(role for role in cls.writes if role not in (*cls.also_reads, *cls.partly_writes))

    # --- facts --------------------------------------------------------------------------------------------------------

    def heading(self, name_of: Callable[[SSAValue], str]) -> str:
        """The name and the first tile that it fills, or else the tile that it takes away."""
        written = [value for role in self.writes for value in self.segment(role) if isinstance(value.type, TileBufType)]
        tiles = written or [value for value in self.operands if isinstance(value.type, TileBufType)]
        return f"{self.name} {name_of(tiles[0])}" if tiles else self.name

    def pipe(self, target: str) -> Pipe:
        """The pipe that it runs on."""
        (pipe,) = self.pipes
        return pipe

    def tile(self, role: str) -> TileBuf:
        """The tile that plays a role, as its type says it."""
        return cast(TileBufType, self.segment(role)[0].type).data

    def has(self, role: str) -> bool:
        """Whether an optional operand is there."""
        return bool(self.segment(role))

    def setting(self, name: str) -> str | int | bool | None:
        """The value of an attribute, written or by default."""
        attribute = cast("IntegerAttr[Any] | StringAttr | None", self.attribute(name))
        match attribute:
            case StringAttr():
                return attribute.data
            case IntegerAttr():
                value = attribute.value.data
                return bool(value) if name in self.flags else value
            case _:
                return self.defaults.get(name)

    def core_kinds(self) -> tuple[CoreKind, ...]:
        """Cube if a tile is in a memory of the cube, else vector if one is in UB, else cube for L1."""
        places = {value.type.data.loc for value in self.operands if isinstance(value.type, TileBufType)}
        if places & _CUBE:
            return (CoreKind.AIC,)
        if "vec" in places:
            return (CoreKind.AIV,)
        return (CoreKind.AIC,) if places else self.cores

    # --- text ---------------------------------------------------------------------------------------------------------

    @classmethod
    def usage(cls) -> str:
        """The form with its roles; nothing where `ins` and `outs` say it."""
        return ""

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        clauses = [parse_clause(parser, "ins", cls.keywords.values())]
        if cls.outs:
            clauses.append(parse_clause(parser, "outs"))
        written = [placed for clause in clauses for placed in cls.placed(parser, clause)]
        attributes: dict[str, Attribute] = {}
        dictionaries = [found for clause in clauses for found in (clause.attributes, cls.worded(parser, clause))]
        for found in (*dictionaries, parser.parse_optional_attr_dict()):
            for name in found:
                if name in attributes:
                    given_twice(parser, name, parser.place_of(name))
            attributes |= found
        if parser.at(MLIRTokenKind.ARROW):
            raise Unsupported(parser.span_here(), f"{cls.name} writes to its outs(...); results are not simulated")
        return cls.build(parser, by_role(written), attributes)

    @classmethod
    def build(
        cls, parser: LocatedParser, operands: Mapping[str, Sequence[SSAValue]], attributes: dict[str, Attribute]
    ) -> Self:
        """The operation that was read, its attributes split into properties of the class and others."""
        properties = cls.settled(parser, attributes)
        return cls.make(operands, (), properties, attributes)

    @classmethod
    def worded(cls, parser: LocatedParser, clause: Clause) -> dict[str, Attribute]:
        """The attributes that the words of a clause stand for; most operations know no such words."""
        for word, span in clause.words.items():
            parser.raise_error(f"{cls.name} has no word '{word}' in {clause.word}(...)", span)
        return {}

    @classmethod
    def placed(cls, parser: LocatedParser, clause: Clause) -> Iterator[tuple[str, SSAValue]]:
        """The values of a clause with their roles; their written types are compared with their own."""
        for role, item in zip(cls.assign(parser, clause), clause.items, strict=True):
            parser.place(role, item.span)
            parser.place(f"{role}_type", item.type_span)
            if not parser.same_type(item.listed, item.value):
                message = f"{role} has type {item.value.type}, but the type list says {item.listed}"
                parser.report(message, item.type_span)
            yield role, item.value

    @classmethod
    def assign(cls, parser: LocatedParser, clause: Clause) -> tuple[str, ...]:
        """The roles of the values of a clause. Optional ones are there from left to right."""
        behind = {keyword: role for role, keyword in cls.keywords.items()}
        free = iter(cls.positions(parser, clause, sum(item.keyword is None for item in clause.items)))
        return tuple(next(free) if item.keyword is None else behind[item.keyword] for item in clause.items)

    @classmethod
    def positions(cls, parser: LocatedParser, clause: Clause, count: int) -> list[str]:
        """The roles of that many values without keyword."""
        known = cls.clause_roles(clause.word)
        least = sum(role not in cls.optional_roles | cls.variadic_roles for role in known)
        spare, chosen = count - least, list[str]()
        for role in known:
            if role in cls.variadic_roles:
                chosen += [nth(role, index) for index in range(spare)]
                spare = 0
            elif role not in cls.optional_roles:
                chosen.append(role)
            elif spare > 0:
                chosen.append(role)
                spare -= 1
        if len(chosen) != count:
            cls.miscounted(parser, clause, known)
        return chosen

    @classmethod
    def clause_roles(cls, word: str) -> list[str]:
        """The roles of `ins` or `outs` that are written without keyword, in order."""
        return [
            role for role in cls.operand_roles if (role in cls.outs) == (word == "outs") and role not in cls.keywords
        ]

    @classmethod
    def miscounted(cls, parser: LocatedParser, clause: Clause, roles: Sequence[str]) -> NoReturn:
        """More or fewer values than roles: at the first that is too many, or at the end."""
        shown = ", ".join(f"[{role}]" if role in cls.optional_roles else role for role in roles)
        message = f"{clause.word}(...) of {cls.name} has {shown}; {len(clause.items)} given"
        extra = clause.items[len(roles)].span if len(clause.items) > len(roles) else clause.end
        parser.raise_error(message, extra)

    @classmethod
    def settled(cls, parser: LocatedParser, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        """Take the properties of the class out of a dictionary, in their current names and kinds."""
        for old, current in cls.older.items():
            if old in attributes:
                if current in attributes:
                    given_twice(parser, current, parser.place_of(old))
                parser.place(current, parser.place_of(old))
                attributes[current] = attributes.pop(old)
        properties = {name: attributes.pop(name) for name in cls.property_roles if name in attributes}
        for name, value in properties.items():
            if name in cls.words:
                properties[name] = StringAttr(read_word(parser, name, value, cls.words[name]))
            elif name in cls.flags:
                _expect(parser, name, value, _is_flag(value), "true or false")
            elif name in cls.numbers:
                _expect(parser, name, value, _is_number(value), "an integer")
        for name in cls.required_properties:
            if name not in properties:
                parser.raise_error(f"{cls.name} needs the attribute '{name}'", parser.place_of(""))
        return properties

    def settle(self, parser: LocatedParser) -> None:
        """The generic form has properties and attributes under the same names, and operands in an order of its own."""
        both = {**self.attributes, **self.properties}
        segments = both.pop(SEGMENTS, None)
        if self.generic and isinstance(segments, DenseArrayBase):
            segments = self._reordered(cast("DenseArrayBase[IntegerType]", segments))
        self.properties = self.settled(parser, both)
        self.attributes = both
        if segments is not None:
            self.properties[SEGMENTS] = segments
        super().settle(parser)

    def _reordered(self, segments: DenseArrayBase[IntegerType]) -> DenseArrayBase[IntegerType]:
        """Bring the operands of the generic form to the order of the class; gives how many play each role."""
        sizes, operands = [int(size) for size in segments.get_values()], iter(tuple(self.operands))
        if len(sizes) != len(self.generic) or min(sizes) < 0 or sum(sizes) != len(self.operands):
            return segments
        played = {role: list(islice(operands, size)) for role, size in zip(self.generic, sizes, strict=True)}
        roles = [self.role_in_generic(role, values) for role, values in played.items()]
        given = dict(zip(roles, played.values(), strict=True))
        self.operands = [value for role in self.operand_roles for value in given.get(role, [])]
        return DenseArrayBase.from_list(i32, [len(given.get(role, [])) for role in self.operand_roles])

    def role_in_generic(self, role: str, values: Sequence[SSAValue]) -> str:
        """The role of operands that stand where the generic form has this role."""
        return role

    def print(self, printer: Printer) -> None:
        shown = {name: value for name, value in self.properties.items() if name != SEGMENTS}
        write(printer, " ins(")
        self.print_ins(printer, {name: value for name, value in shown.items() if name in self.inside})
        write(printer, ")")
        if self.outs:
            values = [value for role in self.operand_roles if role in self.outs for value in self.segment(role)]
            write(printer, " outs(", values, " : ", types_of(values), ")")
        behind = {name: value for name, value in shown.items() if name not in self.inside}
        print_dictionary(printer, {**behind, **self.attributes}, self.words)

    def print_ins(self, printer: Printer, attributes: Mapping[str, Attribute]) -> None:
        """Operands in `ins(...)`: the plain group, then the groups that have a type of their own."""
        together = [role for role in self.clause_roles("ins") if role not in self.apart]
        values = [value for role in together for value in self.segment(role)]
        write(printer, values)
        print_dictionary(printer, attributes, self.words)
        write(printer, " : ", types_of(values))
        for role in (*self.keywords, *self.apart):
            for value in self.segment(role):
                before = f" {self.keywords[role]} " if role in self.keywords else ", "
                write(printer, before, value, " : ", value.type)

    # --- rules --------------------------------------------------------------------------------------------------------

    def rules(self, target: str) -> Iterator[Problem]:
        """First that tiles are tiles and views are views, since the rules of the class rely on it."""
        wrong = list(self._kinds())
        yield from wrong or self.tile_rules(target)

    def _kinds(self) -> Iterator[Problem]:
        for index, (role, value) in enumerate(self.roles()):
            if role in self.scalars or role in self.untyped:
                continue
            known, noun = (VIEWS, "a view") if role in self.views else (TileBufType, "a tile")
            if not isinstance(value.type, known):
                place = self.role_at(index)
                yield Problem(f"{place} must be {noun}, not {value.type}", at=f"{place}_type")

    def tile_rules(self, target: str) -> Iterator[Problem]:
        """Problems of the types, attributes and constants of this operation."""
        return iter(())


VIEWS = (PartitionViewType, TensorViewType)


def _is_flag(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and cast("IntegerAttr[Any]", value).type == i1


def _is_number(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and cast("IntegerAttr[Any]", value).type != i1


def _expect(parser: LocatedParser, name: str, value: Attribute, holds: bool, expected: str) -> None:
    if not holds:
        parser.raise_error(f"{name} must be {expected}, not {value}", parser.place_of(name))
