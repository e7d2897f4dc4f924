"""Functions, calls and returns: the `func` operations of the surface."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    VectorType,
    i16,
)
from xdsl.ir import Attribute, BlockArgument, Operation, OpTraits, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language import operation
from ptosim.language.analysis.fast_walk import around
from ptosim.language.logical_types import LOGICAL_TYPES, is_logical
from ptosim.language.rules.operand_rules import nth
from ptosim.language.structure.control import Terminator
from ptosim.language.structure.scalar_form import SCALARS, SIGNED_OR_UNSIGNED
from ptosim.language.text.assembly_format import agreed_types, parse_listed_type, parse_types, write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.location_forms import LocationForm
from ptosim.language.text.structured_blocks import join_blocks
from ptosim.language.tile.tile_types import PASSED_TYPES
from ptosim.language.types import AlignType, LLVMPointerType, MaskType, PtrType, VregType, is_element, scalar_name

ENTRY_MARKS = ("pto.aicore", "pto.kernel", "pto.entry", "hacc.entry")
"""Attributes that make a function an entry."""

SIMT_ENTRY = "pto.simt_entry"
"""The attribute of a function that workitems run."""

_OLDER_MARKS = {"pto.aicore": "pto.kernel"}
"""Today's spelling of those of older files."""


class Return(Terminator, name="func.return"):
    """End of a function.

    The results of the function, if it has any.

        return %a : i32
    """

    def expected(self) -> Sequence[Attribute] | None:
        function = self.parent_op()
        return function.return_types if isinstance(function, Function) else None


class Function(operation.PTOOperation, name="func.func"):
    """Function.

    A kernel, a helper, or (without a body) a declaration.

        func.func @kernel(%x: !pto.ptr<f32, gm>, %n: i32) attributes {pto.kernel} { ... return }
    """

    traits = OpTraits(lambda: (IsolatedFromAbove(),))
    sym_name = operation.Property()
    function_type = operation.Property()
    sym_visibility = operation.OptionalProperty()
    arg_attrs = operation.OptionalProperty()
    body = operation.Body()

    @property
    def symbol(self) -> str:
        return cast(StringAttr, self.sym_name).data

    @property
    def is_declaration(self) -> bool:
        return self.body.first_block is None

    @property
    def is_private(self) -> bool:
        return self.sym_visibility == StringAttr("private")

    @property
    def is_marked(self) -> bool:
        """Whether an attribute makes it an entry."""
        return not self.is_simt_entry and any(mark in self.attributes for mark in ENTRY_MARKS)

    @property
    def is_simt_entry(self) -> bool:
        """Whether launches run it, once per workitem."""
        return SIMT_ENTRY in self.attributes

    @property
    def is_on_logical_vectors(self) -> bool:
        """Whether it takes or gives logical vectors or masks: it is a part of its callers, and no entry."""
        return any(map(is_logical, (*self.argument_types, *self.return_types)))

    @property
    def args(self) -> tuple[BlockArgument, ...]:
        return self.body.block.args

    @property
    def argument_types(self) -> Sequence[Attribute]:
        return self._type().inputs.data if self.is_declaration else [value.type for value in self.args]

    @property
    def return_types(self) -> Sequence[Attribute]:
        return self._type().outputs.data

    def _type(self) -> FunctionType:
        return cast(FunctionType, self.function_type)

    def retype(self) -> None:
        """Bring the signature up to date with the arguments of the body."""
        self.properties["function_type"] = FunctionType.from_lists(self.argument_types, self.return_types)

    def drop_argument(self, argument: BlockArgument) -> None:
        """Take an argument out of the signature; nothing may use it any more."""
        if self.arg_attrs is not None:
            kept = list(cast("ArrayAttr[DictionaryAttr]", self.arg_attrs).data)
            del kept[argument.index]
            self.properties["arg_attrs"] = ArrayAttr(kept)
        self.body.block.erase_arg(argument)
        self.retype()

    # --- text ---------------------------------------------------------------------------------------------------------

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        visibility = parser.parse_optional_visibility_keyword()
        parser.place("sym_name", parser.span_here())
        symbol = parser.parse_symbol_name()
        numbers = count()
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_argument(parser, nth("argument", next(numbers)))
        )
        outputs = _parse_results(parser)
        attributes = parser.parse_keyword_attributes()
        body = Region()
        if parser.at(MLIRTokenKind.L_BRACE):
            body = parser.parse_body([_named(parser, argument) for argument in arguments])
            for value, (*_, form) in zip(body.blocks[0].args, arguments, strict=False):
                parser.named += [(form, value)] if form is not None else []
        properties: dict[str, Attribute | None] = {
            "sym_name": symbol,
            "function_type": FunctionType.from_lists([type_ for _, type_, *_ in arguments], outputs),
            "sym_visibility": visibility,
        }
        if any(attrs for _, _, attrs, _ in arguments):
            properties["arg_attrs"] = ArrayAttr([DictionaryAttr(attrs) for _, _, attrs, _ in arguments])
        return cls.make({}, (), properties, attributes, [body])

    def close_regions(self, parser: LocatedParser) -> None:
        if self.is_declaration:
            return
        join_blocks(parser, self.body)
        super().close_regions(parser)

    def print(self, printer: Printer) -> None:
        if isinstance(self.sym_visibility, StringAttr):
            printer.print_string(f" {self.sym_visibility.data}")
        write(printer, " ")
        printer.print_symbol_name(self.symbol)
        with printer.in_parens():
            printer.print_list(range(len(self.argument_types)), lambda index: self._print_argument(printer, index))
        if self.return_types:
            write(printer, " -> (", self.return_types, ")")
        attributes = {_OLDER_MARKS.get(name, name): value for name, value in self.attributes.items()}
        printer.print_op_attributes(attributes, print_keyword=True)
        if not self.is_declaration:
            printer.print_string(" ")
            printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def _print_argument(self, printer: Printer, index: int) -> None:
        if not self.is_declaration:
            write(printer, self.args[index], ": ")
        write(printer, self.argument_types[index])
        if self.arg_attrs is not None:
            attributes = cast("ArrayAttr[DictionaryAttr]", self.arg_attrs).data[index].data
            printer.print_op_attributes(attributes)

    # --- rules --------------------------------------------------------------------------------------------------------

    def rules(self, target: str) -> Iterator[operation.Problem]:
        if not isinstance(self.parent_op(), ModuleOp):
            yield operation.Problem("a function belongs in a module")
        for role, types in (("argument", self.argument_types), ("result", self.return_types)):
            for index, type_ in enumerate(types):
                if not _is_value_type(type_):
                    yield operation.Problem(f"a function cannot take or give {type_}; {_ADVICE}", at=nth(role, index))
        if self.is_on_logical_vectors and (self.is_marked or self.is_declaration):
            what = "is a kernel entry" if self.is_marked else "has no body"
            yield operation.Problem(f"@{self.symbol} {what}: it cannot take or give logical vectors", at="sym_name")
        if self.is_declaration:
            if self.is_marked:
                yield operation.Problem(f"@{self.symbol} is a kernel entry, which has a body", at="sym_name")
            return
        if not isinstance(self.body.block.last_op, Return):
            yield operation.Problem(f"@{self.symbol} must end with return", at="sym_name")
        if self.is_marked and self.return_types:
            yield operation.Problem(f"@{self.symbol} is a kernel entry, which returns nothing", at="sym_name")


_ADVICE = "write a pointer as !pto.ptr<T, space>"


def _is_value_type(type_: Attribute) -> bool:
    if isinstance(type_, (PtrType, VregType, MaskType, AlignType, LLVMPointerType, *LOGICAL_TYPES, *PASSED_TYPES)):
        return True
    return _is_single(type_) or type_ == _COUNTS or scalar_name(type_) in SCALARS | SIGNED_OR_UNSIGNED


def _is_single(type_: Attribute) -> bool:
    """Whether a type is that of elements, those of low precision included."""
    return is_element(type_) and not isinstance(type_, VectorType)


_COUNTS = VectorType(i16, [4])
"""The properties of a merge about its lists."""


Argument = tuple[Parser.UnresolvedArgument | None, Attribute, dict[str, Attribute], LocationForm | None]


def _parse_argument(parser: LocatedParser, role: str) -> Argument:
    """`%name: T {attributes}`; a declaration may leave out the name."""
    name = parser.parse_optional_argument(expect_type=False)
    if name is not None:
        parser.parse_punctuation(":", " and the type of the argument")
    type_ = _parse_type(parser, role)
    attributes = parser.parse_optional_attr_dict()
    return name, type_, attributes, parser.parse_optional_loc()


def _named(parser: LocatedParser, argument: Argument) -> Parser.Argument:
    name, type_, *_ = argument
    if name is None:
        parser.raise_error("the arguments of a function with a body have names: %name: T", parser.place_of("sym_name"))
    return name.resolve(type_)


def _parse_results(parser: LocatedParser) -> list[Attribute]:
    """`-> T` or `-> (T, U)`, if present; attributes of results are forgotten."""
    if parser.parse_optional_punctuation("->") is None:
        return []

    numbers = count()

    def result() -> Attribute:
        type_ = _parse_type(parser, nth("result", next(numbers)))
        parser.parse_optional_attr_dict()
        return type_

    if parser.at(MLIRTokenKind.L_PAREN):
        return parser.parse_comma_separated_list(parser.Delimiter.PAREN, result)
    return [_parse_type(parser, nth("result", 0))]


def _parse_type(parser: LocatedParser, role: str) -> Attribute:
    start = parser.pos
    type_ = parse_listed_type(parser)
    parser.place(role, parser.span_since(start))
    return type_


class Call(operation.PTOOperation, name="func.call"):
    """Call.

    The function may stand anywhere in the module; there is no recursion.

        %r = func.call @helper(%a) : (i32) -> i32
    """

    simt = "any"
    callee = operation.Property()
    arguments = operation.VariadicOperand()
    res = operation.VariadicResult()
    function: Function | None = None
    """The function that is meant; `link` finds it."""

    @property
    def symbol(self) -> str:
        return cast(SymbolRefAttr, self.callee).string_value()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        parser.place("callee", parser.span_here())
        callee = SymbolRefAttr(parser.parse_symbol_name())
        parser.parse_punctuation("(")
        arguments = [] if parser.at(MLIRTokenKind.R_PAREN) else parser.parse_values("arguments")
        parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":", " and the type of the function")
        agreed_types(parser, parse_types(parser), arguments, "arguments")
        parser.parse_punctuation("->")
        results = [type_ for type_, _ in parse_types(parser)]
        return cls.make({"arguments": arguments}, results, {"callee": callee}, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.symbol)
        printer.print_operands(self.arguments)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    def rules(self, target: str) -> Iterator[operation.Problem]:
        function = self.function
        if function is None:
            yield operation.Problem(f"there is no function @{self.symbol} in this module", at="callee")
            return
        wanted, given = function.argument_types, [value.type for value in self.arguments]
        if len(wanted) != len(given):
            yield operation.Problem(f"@{self.symbol} takes {len(wanted)} arguments, not {len(given)}", at="callee")
        else:
            for index, (type_, found) in enumerate(zip(wanted, given, strict=True)):
                if type_ != found:
                    yield operation.Problem(
                        f"argument {index} of @{self.symbol} has type {type_}, not {found}", at=nth("arguments", index)
                    )
                elif isinstance(found, AlignType):
                    yield operation.Problem("a stream begins and ends in one function", at=nth("arguments", index))
        if list(function.return_types) != [result.type for result in self.results]:
            results = ", ".join(map(str, function.return_types))
            yield operation.Problem(f"@{self.symbol} gives ({results})", at="callee")


def modules_of(module: ModuleOp) -> Iterator[ModuleOp]:
    """A module and the modules in it."""
    yield module
    for op in module.body.ops:
        if isinstance(op, ModuleOp):
            yield from modules_of(op)


def every_function(module: ModuleOp) -> list[Function]:
    """The functions of a module and of the modules in it, declarations included, in the order of the text."""
    found: list[Function] = []
    for op in module.body.ops:
        if isinstance(op, ModuleOp):
            found += every_function(op)
        elif isinstance(op, Function):
            found.append(op)
    return found


def functions(module: ModuleOp) -> dict[str, Function]:
    """The functions of a module by their symbol; those of nested modules are not among them."""
    return {op.symbol: op for op in module.body.ops if isinstance(op, Function)}


def function_of(op: Operation) -> Function | None:
    """The function that an operation stands in."""
    return next((each for each in around(op) if isinstance(each, Function)), None)


def entry_functions(module: ModuleOp) -> list[Function]:
    """The marked functions; when there are none, every public function with a body that gives nothing and that no other
    calls."""
    bodies = [function for function in every_function(module) if not function.is_declaration]
    marked = [function for function in bodies if function.is_marked]
    if marked:
        return marked
    called = {op.function for op in module.walk() if isinstance(op, Call)}
    return [
        function
        for function in bodies
        if not (function.is_private or function.is_simt_entry or function.return_types or function in called)
        and not function.is_on_logical_vectors
    ]


def callees(*functions: Function) -> Iterator[Function]:
    """Functions and those that they call, each once."""
    known: set[Function] = set()
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if function not in known:
            known.add(function)
            yield function
            waiting += [op.function for op in function.walk() if isinstance(op, Call) and op.function is not None]


def reached(*functions: Function) -> Iterator[Operation]:
    """Everything that functions execute, calls included."""
    for function in callees(*functions):
        yield from function.walk()


def link(module: ModuleOp) -> None:
    """Tell every call of a file which function it means: of its own module, else of one around it; a declaration stands
    for the function of that name in another module of the file."""
    bodies: dict[str, list[Function]] = {}
    for function in every_function(module):
        if not function.is_declaration:
            bodies.setdefault(function.symbol, []).append(function)
    _link(module, ChainMap(), bodies)


def _link(module: ModuleOp, around: ChainMap[str, Function], bodies: Mapping[str, Sequence[Function]]) -> None:
    known = around.new_child(functions(module))
    for op in module.body.ops:
        if isinstance(op, ModuleOp):
            _link(op, known, bodies)
            continue
        for call in op.walk():
            if isinstance(call, Call):
                found = known.get(call.symbol)
                call.function = _definition(found, bodies) if found is not None else None


def _definition(found: Function, bodies: Mapping[str, Sequence[Function]]) -> Function:
    """The function that a declaration stands for: of the same kind of core, if it says; itself, if there is none."""
    if not found.is_declaration:
        return found
    same = (
        body for body in bodies.get(found.symbol, ()) if operation.core_of(found) in (None, operation.core_of(body))
    )
    return next(same, found)
