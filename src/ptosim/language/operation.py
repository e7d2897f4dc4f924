"""The declaration of an instruction class: operands by role, results, words, one form string, and its verifier rules.

    class VAbs(Unary, name="pto.vabs"):
        \"\"\"Absolute value per lane. ...\"\"\"          # what `ptosim isa vabs` prints

    class VLds(PTOOperation, name="pto.vlds"):
        form = "$source:ub[$offset:index] -> $result:vreg{, $next}"  # language/text/assembly_format.py; it declares
        what it places listed = ("source",)                           # operands whose types are written; all by
        default words = {"dist": LOAD_DISTS}                   # properties that are words, in the form or in {...}
        dist = OptionalProperty()

        def rules(self, target: str) -> Iterator[Problem]:
            if ...:
                yield Problem("...", at="source")

Effects, semantics and lowerings refer to operands by these roles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import new_class
from typing import Any, ClassVar, Literal, Self, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, OpTraits, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.lexer import Span

from ptosim.diagnostics import Severity
from ptosim.effects.names import CoreKind, Space
from ptosim.language.analysis.fast_walk import around
from ptosim.language.roles import (
    Body,
    Field,
    Operand,
    OptionalOperand,
    OptionalProperty,
    OptionalResult,
    Property,
    Result,
    VariadicOperand,
    VariadicResult,
    all_fields,
    as_written,
    asked_types,
    declared,
)
from ptosim.language.text.assembly_format import (
    Element,
    Vocabulary,
    check_word,
    compare_types,
    compile_form,
    expected_word,
    given_twice,
    parse_form,
    parse_types,
    placed,
    print_form,
    types_of,
    word_in,
    write,
)
from ptosim.language.text.assembly_format import OperandToken as PlacedOperand
from ptosim.language.text.generic_form import SEGMENTS, Segments, close_regions, settle_operands, settle_properties
from ptosim.language.text.located_parser import LocatedParser, Readable
from ptosim.language.type_kinds import KINDS
from ptosim.language.types import SPACE_SPELLINGS, MaskType, VregType, is_vector_state, mask_for

KERNEL_KIND = "pto.kernel_kind"
KERNEL_KINDS = {"vector": CoreKind.AIV, "cube": CoreKind.AIC}
"""The values of that attribute of a module, and the core that its functions run on."""

Placement = Literal["inside", "outside", "any"]
"""Whether an instruction belongs inside a vector scope, which also follows from registers, masks and aligns; likewise
of the code of workitems."""


@dataclass(frozen=True)
class Problem:
    """One broken rule: a message, its operand (or the operation), and perhaps a hint."""

    message: str
    at: str | int | None = None
    """The role of an operand, word or attribute, or the number of an operand in the text."""
    kind: str = "invalid"
    severity: Severity = "error"
    hint: str | None = None
    on: Operation | None = None
    """Another operation that the problem shows at."""
    by_assembler: bool = False
    """Whether only the assembler demands it: the machine, and the library of kernels in C++, take it."""


def lint(message: str, at: str | int | None = None, hint: str | None = None) -> Problem:
    """A warning about what loads and runs, and is hardly meant."""
    return Problem(message, at, "lint", "warning", hint)


# --- the base class ---------------------------------------------------------------------------------------------------


class PTOOperation(Readable):
    """An operation that a `.pto` file may contain: an instruction, or one of the scalar and structural operations."""

    traits: ClassVar[OpTraits] = OpTraits(lambda: ())

    form: ClassVar[str] = ""
    tail: ClassVar[str] = ""
    """A second part of the form, behind the attribute dictionary."""
    operand_order: ClassVar[tuple[str, ...]] = ()
    """The operands that are written first, where neither the form nor the order of declaration says so."""
    words: ClassVar[Mapping[str, Vocabulary]] = {}
    listed: ClassVar[tuple[str, ...] | None] = None
    typed: ClassVar[bool] = True
    granularity: ClassVar[str | None] = None
    """The mask granularity that the mnemonic names (`plt_b32`)."""
    placement: ClassVar[Placement] = "any"
    simt: ClassVar[Placement] = "outside"
    """Whether the code of workitems may have the operation, or it alone (language/rules/simt_rules.py)."""
    scope_is_written: ClassVar[bool] = False
    """Whether the vector scope around it has to be written: none is made for it."""
    spaces: ClassVar[Mapping[str, tuple[Space, ...]]] = {}
    """The memory spaces that a pointer role may be in."""
    types: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The types of other operands and results: by name, or kinds of types (language/types.py)."""
    cores: ClassVar[tuple[CoreKind, ...]] = (CoreKind.AIC, CoreKind.AIV)
    """The kinds of core that have the instruction; one that belongs inside a vector scope needs no mention."""
    loads_on_any_core: ClassVar[bool] = False
    """Whether code of a core that has not got the instruction is only warned of."""
    core: ClassVar[CoreKind | None] = None
    """The kind of core that the region of the operation is for."""
    targets: ClassVar[tuple[str, ...]] = ("a5", "a2a3")
    warned_targets: ClassVar[tuple[str, ...]] = ()
    """Targets where it loads with a warning, since the machine does not have it."""
    is_pure: ClassVar[bool] = False
    """Whether a scalar operation does nothing but compute its results, wherever it stands."""
    only_in_entries: ClassVar[bool] = False
    """Whether helpers cannot have the instruction."""
    replaced_on: ClassVar[Mapping[str, str]] = {}
    """The name that stands for this one on a machine, with the same roles and properties."""
    replaced_by: ClassVar[str | None] = None
    """The current name of an instruction that this is an older name of; roles and properties are the same."""
    absorbed: ClassVar[str] = ""
    """The operation that absorbs this one when tiles are lowered, if it becomes no instruction of its own."""

    declared: ClassVar[Mapping[str, Field[Any]]] = {}
    """The fields that this very class adds to those above."""
    fields: ClassVar[Mapping[str, Field[Any]]] = {}
    """All fields by their role, in order."""
    operand_roles: ClassVar[tuple[str, ...]] = ()
    optional_roles: ClassVar[frozenset[str]] = frozenset()
    variadic_roles: ClassVar[frozenset[str]] = frozenset()
    result_roles: ClassVar[tuple[str, ...]] = ()
    required_results: ClassVar[int] = 0
    property_roles: ClassVar[tuple[str, ...]] = ()
    required_properties: ClassVar[tuple[str, ...]] = ()
    region_roles: ClassVar[tuple[str, ...]] = ()
    implicit_end: ClassVar[type[PTOOperation] | None] = None
    """The terminator that the text may leave out at the end of a region."""

    def __init_subclass__(cls, name: str = "") -> None:
        """A class with a name is an operation; one without is what several of them share."""
        super().__init_subclass__()
        if name:
            cls.name = name
        cls.declared = declared(cls)
        cls.fields = all_fields(cls)
        cls.operand_roles = as_written(cls, cls._roles(Operand, OptionalOperand, VariadicOperand))
        cls.optional_roles = frozenset(cls._roles(OptionalOperand))
        cls.variadic_roles = frozenset(cls._roles(VariadicOperand))
        cls.result_roles = cls._roles(Result, OptionalResult, VariadicResult)
        cls.required_results = len(cls._roles(Result))
        cls.property_roles = cls._roles(Property, OptionalProperty)
        cls.required_properties = cls._roles(Property)
        cls.region_roles = cls._roles(Body)
        asked = asked_types(cls)
        cls.types = {role: types for role, types in asked.items() if types[0] not in SPACE_SPELLINGS}
        if pointers := {role: tuple(map(Space, asked[role])) for role in asked if role not in cls.types}:
            cls.spaces = {**cls.spaces, **pointers}
        if cls.placement == "any" and any(types[0] in KINDS for types in cls.types.values()):
            cls.placement = "inside"

    @classmethod
    def _roles(cls, *kinds: type[Field[Any]]) -> tuple[str, ...]:
        return tuple(role for role, field in cls.fields.items() if isinstance(field, kinds))

    # --- access -------------------------------------------------------------------------------------------------------

    def segment(self, role: str) -> Sequence[SSAValue]:
        """The operands that play a role: one, none, or several."""
        index = self.operand_roles.index(role)
        if (sizes := self.properties.get(SEGMENTS)) is None:
            return self._operands[index : index + 1]
        counts = cast(Segments, sizes).data
        start = sum(counts[:index])
        return self._operands[start : start + counts[index]]

    def played(self, role: str) -> Sequence[SSAValue]:
        """The operands or results that play a role."""
        if role in self.operand_roles:
            return self.segment(role)
        index = self.result_roles.index(role)
        return self.results[index : index + 1]

    def attribute(self, role: str) -> Attribute | None:
        found = self.properties.get(role)
        return self.attributes.get(role) if found is None else found  # an integer attribute of zero counts as false

    def word(self, role: str) -> str | None:
        """The word of a property, or None where it is missing."""
        attribute = self.attribute(role)
        return attribute.data if isinstance(attribute, StringAttr) else None

    def integer(self, role: str) -> int | None:
        """The integer of a property, or None where it is missing."""
        attribute = cast("IntegerAttr[Any] | None", self.attribute(role))
        return attribute.value.data if isinstance(attribute, IntegerAttr) else None

    def roles(self) -> Iterator[tuple[str, SSAValue]]:
        """Every operand with its role, in order."""
        roles: Iterable[str] = self.operand_roles
        if (segments := self.properties.get(SEGMENTS)) is not None:
            sizes = zip(roles, cast(Segments, segments).data, strict=True)
            roles = (role for role, size in sizes for _ in range(size))
        return zip(roles, self.operands, strict=False)

    def role_at(self, index: int) -> str:
        """The role of an operand by its number, as diagnostics name it: `value`, or `arguments[2]`."""
        for role in self.operand_roles:
            size = len(self.segment(role))
            if index < size:
                return f"{role}[{index}]" if role in self.variadic_roles else role
            index -= size
        return ""

    def facts(self) -> Mapping[str, Any]:
        """Facts for engines beyond operands, words and integers, as plain values (effects.record.Static)."""
        return {}

    def heading(self, name_of: Callable[[SSAValue], str]) -> str:
        """The name in reports of all that is made for it, given the names of values; nothing: each piece by its own
        name."""
        return ""

    @property
    def is_scope(self) -> bool:
        """Whether this is one vector interval: a launch on pipe V."""
        return False

    def mask_type(self) -> MaskType | None:
        """The type of the masks of this instruction: by its name, else by the first register that it takes or gives."""
        if self.granularity is not None:
            return MaskType(StringAttr(self.granularity))
        types = (value.type for value in (*self.operands, *self.results))
        return next((mask_for(type_) for type_ in types if isinstance(type_, VregType)), None)

    def core_kinds(self) -> tuple[CoreKind, ...]:
        """The kinds of core that have this operation with these operands."""
        return self.cores

    # --- construction -------------------------------------------------------------------------------------------------

    @classmethod
    def make(
        cls,
        operands: Mapping[str, SSAValue | Sequence[SSAValue] | None] | None = None,
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Self:
        """Build an operation from operands by role."""
        values: list[SSAValue] = []
        counts: list[int] = []
        given = operands or {}
        for role in cls.operand_roles:
            segment = given.get(role)
            before = len(values)
            values += () if segment is None else (segment,) if isinstance(segment, SSAValue) else segment
            counts.append(len(values) - before)
        kept = {name: value for name, value in properties.items() if value is not None} if properties else {}
        if cls.optional_roles or cls.variadic_roles:
            kept[SEGMENTS] = Segments(tuple(counts))
        return cls.create(
            operands=values,
            result_types=result_types,
            properties=kept,
            attributes=attributes or {},
            regions=regions,
        )

    # --- text ---------------------------------------------------------------------------------------------------------

    @classmethod
    def elements(cls) -> tuple[Element, ...]:
        return compile_form(cls.form)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        assert isinstance(parser, LocatedParser)
        op = cls.read(parser)
        if op.regions:
            op.close_regions(parser)
        return op

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        """The operation that the text goes on with, behind its name."""
        parsed = parse_form(parser, cls.elements(), cls.words)
        return cls.parse_rest(parser, parsed.operands, parsed.properties())

    @classmethod
    def parse_rest(
        cls,
        parser: LocatedParser,
        operands: Mapping[str, SSAValue | Sequence[SSAValue]],
        properties: Mapping[str, Attribute],
    ) -> Self:
        """The attribute dictionary and the type list, after the form."""
        attributes, in_dictionary = cls.parse_dictionary(parser)
        operands = {**operands, **parse_form(parser, compile_form(cls.tail), cls.words).operands}
        for name in in_dictionary:
            if name in properties:
                given_twice(parser, name, parser.place_of(name))
        for name in cls.required_properties:
            if name in cls.words and name not in in_dictionary and name not in properties:
                expected_word(parser, name, cls.words[name])
        written = list(cls._written(operands))
        return cls.make(operands, cls.parse_signature(parser, written), {**in_dictionary, **properties}, attributes)

    @classmethod
    def parse_dictionary(cls, parser: LocatedParser) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """The attribute dictionary, split into free attributes and the properties of this class."""
        attributes = parser.parse_optional_attr_dict()
        properties = {name: attributes.pop(name) for name in cls.property_roles if name in attributes}
        for name, vocabulary in cls.words.items():
            if (word := properties.get(name)) is not None:
                known = check_word(parser, name, word_in(word), vocabulary, parser.place_of(name))
                properties[name] = StringAttr(known)
        return attributes, properties

    @classmethod
    def parse_signature(cls, parser: LocatedParser, operands: list[tuple[str, SSAValue]]) -> list[Attribute]:
        """`: operand types -> result types`, or `: result types` for an instruction without listed operands."""
        if parser.parse_optional_punctuation(":") is None:
            return cls.default_results(parser, operands)
        types = parse_types(parser)
        listed = operands if cls.listed is None else [(role, value) for role, value in operands if role in cls.listed]
        if parser.parse_optional_punctuation("->") is not None:
            compare_types(parser, types, operands)
            return cls._results(parser, parse_types(parser))
        if cls.result_roles and not listed:
            return cls._results(parser, types)
        compare_types(parser, types, operands)
        return cls.default_results(parser, operands)

    @classmethod
    def _results(cls, parser: LocatedParser, types: list[tuple[Attribute, Span]]) -> list[Attribute]:
        """The listed types of results; a rule about one of them points at its type."""
        cls._count_results(parser, len(types))
        for role, (_, span) in zip(cls.result_roles, types, strict=False):
            parser.place(role, span)
        return [type_ for type_, _ in types]

    @classmethod
    def _count_results(cls, parser: LocatedParser, count: int) -> None:
        most, least = len(cls.result_roles), cls.required_results
        if not least <= count <= most:
            expected = str(most) if least == most else f"{least} to {most}"
            parser.raise_error(f"{cls.name} has {expected} results, but the type list names {count}")

    @classmethod
    def default_results(cls, parser: LocatedParser, operands: list[tuple[str, SSAValue]]) -> list[Attribute]:
        """The result types of an instruction written without them."""
        if cls.required_results:
            parser.raise_error(
                f"expected ': ... -> ...' with the result type{'s' * (cls.required_results > 1)} of {cls.name}"
            )
        return []

    @classmethod
    def _written(cls, operands: Mapping[str, SSAValue | Sequence[SSAValue]]) -> Iterator[tuple[str, SSAValue]]:
        """Operands in the order of the text (the order of the form)."""
        for role, values in operands.items():
            for value in (values,) if isinstance(values, SSAValue) else values:
                yield role, value

    def print(self, printer: Printer) -> None:
        print_form(printer, self, self.elements(), self.words)
        self.print_rest(printer)

    def print_rest(self, printer: Printer) -> None:
        """The attribute dictionary and the type list."""
        in_form = {item.role for item in placed(self.elements())}
        shown = {name: value for name, value in self.properties.items() if name != SEGMENTS and name not in in_form}
        printer.print_op_attributes({**shown, **self.attributes})
        tail = compile_form(self.tail)
        print_form(printer, self, tail, self.words)
        if not self.typed:
            return
        operands = [
            self.segment(item.role)
            for item in placed(self.elements() + tail)
            if isinstance(item, PlacedOperand) and self._lists(item.role)
        ]
        types = [value.type for segment in operands for value in segment]
        results = types_of(self.results)
        if not types and not results:
            return
        write(printer, " : ", types or results)
        if types and results:
            write(printer, " -> ", results)

    def _lists(self, role: str) -> bool:
        return self.listed is None or role in self.listed

    # --- the generic form ---------------------------------------------------------------------------------------------

    def settle(self, parser: LocatedParser) -> None:
        """Bring an operation read in the generic form, `"pto.x"(...) : (...) -> (...)`, to what the class declares."""
        settle_properties(self, parser)
        self.settle_operands(parser)
        if VariadicResult not in map(type, self.fields.values()):
            self._count_results(parser, len(self.results))
        if len(self.regions) != len(self.region_roles):
            parser.raise_error(
                f"{self.name} has {len(self.region_roles)} regions, not {len(self.regions)}", parser.place_of("")
            )
        self.close_regions(parser)

    def settle_operands(self, parser: LocatedParser) -> None:
        """Each operand gets its role."""
        settle_operands(self, parser)

    def close_regions(self, parser: LocatedParser) -> None:
        """See that every region is one block and ends as it must; the text may leave out the end."""
        close_regions(self, parser)

    # --- rules --------------------------------------------------------------------------------------------------------

    def rules(self, target: str) -> Iterator[Problem]:
        """Problems of this operation beyond what it checks for every class alike."""
        return iter(())


def made(module: str, family: type[PTOOperation], name: str, **facts: Any) -> type[Any]:
    """An operation that is a row of a table: a class of a family, with a name and class attributes of its own."""
    class_name = name.rpartition(".")[2].title().replace("_", "")
    return new_class(class_name, (family,), {"name": name}, lambda body: body.update(facts, __module__=module))


def is_scope(op: Operation) -> bool:
    """Whether an operation is one vector interval: a scope, or a loop marked as one."""
    return isinstance(op, PTOOperation) and op.is_scope


def enclosing_scope(op: Operation) -> Operation | None:
    """The vector scope around an operation."""
    return next(filter(is_scope, around(op)), None)


def outside_scopes(op: Operation) -> Iterator[Operation]:
    """The operations inside another one but for those in vector scopes; scopes themselves are among them."""
    for region in op.regions:
        for block in region.blocks:
            for each in block.ops:
                yield each
                if each.regions and not is_scope(each):
                    yield from outside_scopes(each)


def needs_scope(op: Operation) -> bool:
    """Whether an operation belongs inside a vector scope; loops, branches, calls and selections only pass values on."""
    if not isinstance(op, PTOOperation) or not op.name.startswith("pto.") or op.is_scope:
        return False
    return op.placement == "inside" or any(is_vector_state(value.type) for value in (*op.operands, *op.results))


def cores_of(op: PTOOperation) -> tuple[CoreKind, ...]:
    """The kinds of core that have an instruction."""
    return (CoreKind.AIV,) if op.is_scope or needs_scope(op) else op.core_kinds()


def core_of(op: Operation) -> CoreKind | None:
    """The kind of core that code is for: by its section, else by the kind of its function or module; None for both."""
    for here in chain((op,), around(op)):
        if isinstance(here, PTOOperation) and here.core is not None:
            return here.core
        if (kind := here.attributes.get(KERNEL_KIND)) is not None:
            return KERNEL_KINDS.get(word_in(kind))
    return None
