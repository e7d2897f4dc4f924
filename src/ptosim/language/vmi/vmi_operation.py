"""The common form of operations on logical vectors, and the rules about lanes, elements and masks.

A type list names exactly the operands that a class lists. Signless integers are unsigned at this level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, SSAValue

from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType
from ptosim.language.micro.vector import integers, listing
from ptosim.language.operation import OptionalProperty, Problem, PTOOperation, lint
from ptosim.language.rules.operand_rules import wrong_types
from ptosim.language.text.assembly_format import Vocabulary, parse_types
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import PtrType, element_name, element_of

PREFIX = "pto.vmi."
PMODES = Vocabulary(("zero", "merge"), {"zeroing": "zero"}, also=("zeroing",))

F16_F32 = frozenset({"f16", "f32"})
FLOATS = F16_F32 | {"bf16"}
INTEGERS = integers(8, 16, 32)
NUMBERS = INTEGERS | FLOATS
SIGNED = frozenset({"si8", "si16", "si32"})
WITHOUT_BF16 = INTEGERS | F16_F32


class VmiOperation(PTOOperation):
    """An operation on logical vectors. It becomes micro-instructions before anything runs."""

    targets = ("a5",)
    words = {"pmode": PMODES}
    merges: ClassVar[bool] = False
    """Whether pmode = "merge" means something: it names nothing that inactive lanes could keep."""
    by_lanes: ClassVar[bool] = False
    """Whether lane i of each result comes of lane i of the operands, all of one width."""
    chooses: ClassVar[bool] = False
    """Whether it makes masks that are meant to leave lanes out."""
    pmode = OptionalProperty()

    def heading(self, name_of: Callable[[SSAValue], str]) -> str:
        """The name and the first vector that it gives, or else the first that it takes."""
        named = [value for value in (*self.results, *self.operands) if isinstance(value.type, LogicalVectorType)]
        return f"{self.name} {name_of(named[0])}" if named else self.name

    @classmethod
    def parse_signature(cls, parser: LocatedParser, operands: list[tuple[str, SSAValue]]) -> list[Attribute]:
        listed = operands if cls.listed is None else [(role, value) for role, value in operands if role in cls.listed]
        if parser.parse_optional_punctuation(":") is None:
            parser.raise_error(f"expected ':' and the types of {cls.name}")
        types = parse_types(parser)
        if not listed and cls.result_roles:
            return cls._results(parser, types)
        if len(types) != len(listed):
            roles = ", ".join(role for role, _ in listed)
            span = types[min(len(types), len(listed) + 1) - 1][1] if types else parser.place_of("")
            message = f"the type list of {cls.name} has {len(listed)} types here ({roles}), not {len(types)}"
            parser.raise_error(message, span)
        for (type_, span), (role, value) in zip(types, listed, strict=True):
            if not parser.same_type(type_, value):
                parser.report(f"{role} has type {value.type}, but the type list says {type_}", span)
        if not cls.result_roles:
            return []
        if parser.parse_optional_punctuation("->") is None:
            if not cls.required_results:
                return []
            parser.raise_error(f"expected '->' and the result types of {cls.name}")
        return cls._results(parser, parse_types(parser))

    def rules(self, target: str) -> Iterator[Problem]:
        if self.word("pmode") == "merge" and not self.merges:
            message = f"{self.name} cannot merge: there is no earlier value that inactive lanes could keep"
            yield Problem(message, "pmode", "unsupported", hint="select with pto.vmi.vsel")
        if not any(wrong_types(self)):  # which are said before
            yield from list(self.shapes()) or [*self.limits(), *self.remarks()]

    def shapes(self) -> Iterator[Problem]:
        """Lanes, elements and attributes."""
        return iter(())

    def limits(self) -> Iterator[Problem]:
        """Shapes that no recipe is known for."""
        return iter(())

    def remarks(self) -> Iterator[Problem]:
        """Warnings about what loads and is hardly meant."""
        return iter(())

    def lanes(self, role: str) -> int:
        """The lanes of a vector or mask."""
        type_ = self.type_of(role)
        assert isinstance(type_, LogicalVectorType | LogicalMaskType)
        return type_.lanes

    def type_of(self, role: str) -> Attribute | None:
        """The type of the operand or result that plays a role; None where there is none."""
        return next((value.type for value in self.played(role)), None)

    def vector(self, role: str) -> LogicalVectorType | None:
        type_ = self.type_of(role)
        return type_ if isinstance(type_, LogicalVectorType) else None

    def element(self, role: str) -> str | None:
        """The name of the elements of a vector."""
        type_ = self.vector(role)
        return None if type_ is None else element_name(type_.element)

    def played_any(self, *roles: str) -> bool:
        """Whether an operand plays one of some roles."""
        return any(role in self.operand_roles and self.segment(role) for role in roles)

    def word_of(self, role: str) -> str | None:
        """A word, None where the class has none."""
        return self.word(role) if role in self.property_roles else None

    def registers(self, role: str) -> int:
        """The number of registers that the lanes of a vector fill."""
        type_ = self.vector(role)
        return 1 if type_ is None else registers_of(type_)


def registers_of(type_: LogicalVectorType) -> int:
    return -(-type_.lanes * element_of(type_.element).bytes // 256)


# --- rules ------------------------------------------------------------------------------------------------------------


def is_vmi(op: object) -> bool:
    return isinstance(op, VmiOperation)


def alike(op: VmiOperation, first: str, *others: str) -> Iterator[Problem]:
    """Vectors of one type."""
    expected = op.type_of(first)
    for role in others:
        type_ = op.type_of(role)
        if type_ is not None and type_ != expected:
            yield Problem(f"{role} of {op.name} has type {type_}, but {first} has type {expected}", at=role)


def same_lanes(op: VmiOperation, first: str, *others: str) -> Iterator[Problem]:
    """Vectors or masks of as many lanes."""
    for role in others:
        if op.type_of(role) is not None and op.type_of(first) is not None and op.lanes(role) != op.lanes(first):
            yield Problem(f"{role} of {op.name} has {op.lanes(role)} lanes, but {first} has {op.lanes(first)}", at=role)


def elements_among(op: VmiOperation, role: str, names: frozenset[str]) -> Iterator[Problem]:
    name = op.element(role)
    if name is not None and name not in names:
        yield Problem(f"{op.name} does not take elements of type {name}; it takes {listing(names)}", at=role)


def governed(op: VmiOperation, mask: str, data: str) -> Iterator[Problem]:
    """A mask has the lanes of the data, and their width where it fixes one."""
    type_, vector = op.type_of(mask), op.vector(data)
    if not isinstance(type_, LogicalMaskType) or vector is None:
        return
    if type_.lanes != vector.lanes:
        yield Problem(f"{mask} of {op.name} has {type_.lanes} lanes, but {data} has {vector.lanes}", at=mask)
    bits = element_of(vector.element).bits
    if type_.width not in (None, bits):
        yield Problem(f"{mask} of {op.name} is of {type_.width}-bit lanes, but {data} has {bits}-bit ones", at=mask)


def exactly(op: VmiOperation, role: str, vector: str) -> Iterator[Problem]:
    """A scalar has the type of the elements."""
    type_, element = op.type_of(role), op.vector(vector)
    if element is not None and type_ != element.element:
        message = f"{role} of {op.name} has type {type_}, but {vector} has elements of type {element.element}"
        yield Problem(message, at=role)


def points_to(op: VmiOperation, pointer: str, vector: str) -> Iterator[Problem]:
    """A pointer leads to elements of the type of a vector."""
    type_, element = op.type_of(pointer), op.vector(vector)
    if isinstance(type_, PtrType) and not type_.is_open and element is not None and type_.element != element.element:
        message = f"{pointer} of {op.name} leads to {type_.element}, but {vector} has elements of {element.element}"
        yield Problem(message, at=pointer)


def divides(op: VmiOperation, role: str, count: str = "group") -> Iterator[Problem]:
    """A number of groups is positive and divides the lanes of a vector."""
    if op.attribute(count) is None:
        return
    groups, lanes = op.integer(count), op.lanes(role)
    if groups is None or groups < 1:
        yield Problem(f"{count} of {op.name} is a positive integer", at=count)
    elif lanes % groups:
        yield Problem(f"{count} = {groups} of {op.name} does not divide the {lanes} lanes of {role}", at=count)


def flag(op: VmiOperation, name: str) -> bool:
    """Whether an attribute without value is there; `= false` says that it is not."""
    found = op.attribute(name)
    return found is not None and not (isinstance(found, IntegerAttr) and op.integer(name) == 0)


def idle_pmode(op: VmiOperation) -> Iterator[Problem]:
    """A pmode where there is no mask."""
    if op.pmode is not None:
        yield lint(f"pmode has no effect on {op.name}, which has no mask", at="pmode")
