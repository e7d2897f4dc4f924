"""Control flow: the `scf` loops and branches of the surface.

A region is always one block with its terminator; the text may leave out an empty `scf.yield`. A loop that carries
`llvm.loop.aivector_scope` is a vector scope. Functions and calls are in function.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Attribute, Block, Operation, OpTraits, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from ptosim.language.operation import Body, Operand, Problem, PTOOperation, VariadicOperand, VariadicResult
from ptosim.language.rules.operand_rules import constants, nth
from ptosim.language.structure.scalar_form import INTEGERS_AND_INDEX
from ptosim.language.text.assembly_format import agreed_types, parse_types, types_of, write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import element_name

CARRIER = "llvm.loop.aivector_scope"
"""The attribute of a loop that is a vector scope."""


# --- terminators ------------------------------------------------------------------------------------------------------

_DEFINITION = r"%[^\s,=:]+(:\d+)?(\s*,\s*%[^\s,=:]+(:\d+)?)*\s*="
"""The names of results: what follows is not an operand of the terminator but another operation."""


class Terminator(PTOOperation):
    """The last operation of a region: `NAME %a, %b : T, U`."""

    traits = OpTraits(lambda: (IsTerminator(),))
    simt = "any"
    form = "{$arguments...}"
    arguments = VariadicOperand()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        if parser.text_follows(_DEFINITION):
            parser.raise_error(f"{cls.name} must be the last operation of its region", parser.place_of(""))
        return super().read(parser)

    def expected(self) -> Sequence[Attribute] | None:
        """The types that the surrounding operation takes; None where this does not belong."""
        return None

    def rules(self, target: str) -> Iterator[Problem]:
        if self.next_op is not None:
            yield Problem(f"{self.name} must be the last operation of its region")
            return
        expected, parent = self.expected(), self.parent_op()
        if expected is None or parent is None:
            yield Problem(f"{self.name} does not belong in {parent.name if parent else 'the module'}")
            return
        if len(expected) != len(self.arguments):
            count, wanted = len(self.arguments), len(expected)
            yield Problem(f"{self.name} gives {_values(count)}, but {parent.name} takes {_values(wanted)}")
            return
        for index, (type_, value) in enumerate(zip(expected, self.arguments, strict=True)):
            if value.type != type_:
                yield Problem(
                    f"value {index} of {self.name} has type {value.type}, but {parent.name} takes {type_}",
                    at=nth("arguments", index),
                )


def _values(count: int) -> str:
    return f"{count} value{'s' * (count != 1)}"


class Yield(Terminator, name="scf.yield"):
    """End of a loop body or branch.

    The values that a loop carries on or a branch gives.

        scf.yield %a, %b : i32, !pto.ptr<f32, ub>
    """

    def expected(self) -> Sequence[Attribute] | None:
        match self.parent_op():
            case For() as loop:
                return [value.type for value in loop.iter_args]
            case While() as loop if self.parent_block() is loop.after_region.first_block:
                return [value.type for value in loop.arguments]
            case PTOOperation(implicit_end=end) as parent if end is Yield:
                return [result.type for result in parent.results]
            case _:
                return None


class Condition(Terminator, name="scf.condition"):
    """End of the deciding region of a while loop.

    Whether `scf.while` goes on, and the values that it passes to its body or gives as results.

        scf.condition(%go_on) %a : i32
    """

    form = "($condition) {$arguments...}"
    condition = Operand()
    arguments = VariadicOperand()

    @classmethod
    def parse_signature(cls, parser: LocatedParser, operands: list[tuple[str, SSAValue]]) -> list[Attribute]:
        return super().parse_signature(parser, [(role, value) for role, value in operands if role != "condition"])

    def print(self, printer: Printer) -> None:
        write(printer, "(", self.condition, ")", *((" ", self.arguments) if self.arguments else ()))
        printer.print_op_attributes(self.attributes)
        if self.arguments:
            write(printer, " : ", types_of(self.arguments))

    def expected(self) -> Sequence[Attribute] | None:
        loop = self.parent_op()
        if isinstance(loop, While) and self.parent_block() is loop.before_region.first_block:
            return [result.type for result in loop.results]
        return None

    def rules(self, target: str) -> Iterator[Problem]:
        yield from is_condition(self, "condition")
        yield from super().rules(target)


def is_condition(op: PTOOperation, role: str) -> Iterator[Problem]:
    if (type_ := op.segment(role)[0].type) != i1:
        yield Problem(f"the condition has type i1, not {type_}", at=role)


# --- loops and branches -----------------------------------------------------------------------------------------------


class For(PTOOperation, name="scf.for"):
    """Count from a lower bound to below an upper one, carrying values from one iteration to the next.

    The bounds are `index`, or integers of the type after the colon; they compare as signed, and the step is positive.

        %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (i32) { ... scf.yield %next : i32 }
    """

    simt = "any"
    implicit_end = Yield
    lb = Operand()
    ub = Operand()
    step = Operand()
    iter_args = VariadicOperand()
    res = VariadicResult()
    body = Body()

    @property
    def is_scope(self) -> bool:
        return CARRIER in self.attributes

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        index = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        bounds = {"lb": parser.parse_value("lb", "index")}
        for word, role in (("to", "ub"), ("step", "step")):
            parser.parse_keyword(word)
            bounds[role] = parser.parse_value(role, "index")
        names, inits, types = _parse_carried(parser)
        counter = parser.parse_type() if parser.parse_optional_punctuation(":") is not None else IndexType()
        for role, value in bounds.items():
            if value.type != counter:
                hint = "" if not isinstance(counter, IndexType) else f"; write ': {value.type}' before the body"
                parser.report(
                    f"{role} has type {value.type}, but the loop counts {counter}{hint}", parser.place_of(role)
                )
        arguments = [name.resolve(type_) for name, type_ in zip((index, *names), (counter, *types), strict=True)]
        body = parser.parse_body(arguments)
        attributes = parser.parse_optional_attr_dict()
        return cls.make({**bounds, "iter_args": inits}, types, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        index, *carried = self.body.block.args
        write(printer, " ", index, " = ", self.lb, " to ", self.ub, " step ", self.step)
        if carried:
            write(printer, " iter_args")
            _print_assignments(printer, carried, self.iter_args)
            write(printer, " -> (", types_of(carried), ")")
        if not isinstance(index.type, IndexType):
            write(printer, " : ", index.type)
        write(printer, " ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_empty_block=False, print_block_terminators=bool(carried)
        )
        printer.print_op_attributes(self.attributes)

    def rules(self, target: str) -> Iterator[Problem]:
        if element_name(self.lb.type) not in INTEGERS_AND_INDEX:
            yield Problem(f"a loop counts index or signless integers, not {self.lb.type}", at="lb")
        for place, step in constants(self, "step"):
            if step <= 0:
                yield Problem(f"the step of scf.for must be positive, not {step}", at=place, kind="arithmetic")
        carried = [value.type for value in self.iter_args]
        counter, *inside = [argument.type for argument in self.body.block.args] or [None]
        if counter is None:
            yield Problem("the body of scf.for receives its index as the first argument", hint="write ^bb0(%i: index):")
            return
        for role in ("lb", "ub", "step"):
            if (found := getattr(self, role).type) != counter:
                yield Problem(f"{role} has type {found}, but the loop counts {counter}", at=role)
        if inside != carried or [result.type for result in self.results] != carried:
            yield Problem("the initial values, the arguments of the body and the results of scf.for differ in type")
        if self.is_scope and any(result.uses for result in self.results):
            yield Problem("a vector scope has no results; store what is needed later to UB")


class If(PTOOperation, name="scf.if"):
    """Branch.

    One of two regions by a condition. With results it needs both, and each ends with `scf.yield`.

        %r = scf.if %c -> (i32) { scf.yield %a : i32 } else { scf.yield %b : i32 }
    """

    simt = "any"
    implicit_end = Yield
    cond = Operand()
    output = VariadicResult()
    true_region = Body()
    false_region = Body()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        cond = parser.parse_value("cond")
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            types = [type_ for type_, _ in parse_types(parser)]
        regions = [parser.parse_body()]
        if parser.parse_optional_keyword("else") is not None:
            regions.append(parser.parse_body())
        elif types:
            parser.raise_error("scf.if with results needs an else", parser.place_of(""))
        else:
            regions.append(Region())
        return cls.make({"cond": cond}, types, attributes=parser.parse_optional_attr_dict(), regions=regions)

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.cond)
        if self.results:
            write(printer, " -> (", types_of(self.results), ")")
        write(printer, " ")
        printer.print_region(self.true_region, print_empty_block=False, print_block_terminators=bool(self.results))
        if self.results or len(self.false_region.block.ops) > 1:
            printer.print_string(" else ")
            printer.print_region(self.false_region, print_empty_block=False, print_block_terminators=bool(self.results))
        printer.print_op_attributes(self.attributes)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from is_condition(self, "cond")
        if self.true_region.block.args or self.false_region.block.args:
            yield Problem("the regions of scf.if have no arguments")


class While(PTOOperation, name="scf.while"):
    """Loop with a condition.

    Repeat while a condition holds: the first region decides, the second is the body.

        %r = scf.while (%a = %init) : (i32) -> i32 { ... scf.condition(%c) %a : i32 }
             do { ^bb0(%x: i32): ... scf.yield %y : i32 }
    """

    simt = "any"
    arguments = VariadicOperand()
    res = VariadicResult()
    before_region = Body()
    after_region = Body()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        names, inits = _parse_assignments(parser, "arguments") if parser.at_word("(") else ([], [])
        parser.parse_punctuation(":")
        types = agreed_types(parser, parse_types(parser), inits, "arguments")
        parser.parse_punctuation("->")
        results = [type_ for type_, _ in parse_types(parser)]
        before = parser.parse_body([name.resolve(type_) for name, type_ in zip(names, types, strict=True)])
        parser.parse_keyword("do")
        after = parser.parse_body()
        attributes = parser.parse_keyword_attributes()
        return cls.make({"arguments": inits}, results, attributes=attributes, regions=[before, after])

    def print(self, printer: Printer) -> None:
        write(printer, " ")
        if self.arguments:
            _print_assignments(printer, self.before_region.block.args, self.arguments)
            write(printer, " ")
        write(printer, ": ")
        printer.print_operation_type(self)
        write(printer, " ")
        printer.print_region(self.before_region, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(self.after_region)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    def rules(self, target: str) -> Iterator[Problem]:
        before, after = self.before_region.block, self.after_region.block
        if [value.type for value in before.args] != [value.type for value in self.arguments]:
            yield Problem("the first region of scf.while does not take what the loop starts with")
        if [value.type for value in after.args] != [result.type for result in self.results]:
            passed = ", ".join(str(result.type) for result in self.results)
            yield Problem(f"the body of scf.while takes what scf.condition passes: ({passed})")
        yield from _ends_with(before, Condition)
        yield from _ends_with(after, Yield)


def _ends_with(block: Block, end: type[Terminator]) -> Iterator[Problem]:
    if not isinstance(block.last_op, end):
        yield Problem(f"this region of scf.while must end with {end.name}")


# --- text they share --------------------------------------------------------------------------------------------------


def _parse_assignments(parser: LocatedParser, role: str) -> tuple[list[Parser.UnresolvedArgument], list[SSAValue]]:
    """`(%x = %init, ...)`."""
    names: list[Parser.UnresolvedArgument] = []
    inits: list[SSAValue] = []

    def assignment() -> None:
        names.append(parser.parse_argument(expect_type=False))
        parser.parse_punctuation("=")
        inits.append(parser.parse_value(nth(role, len(inits))))

    parser.parse_comma_separated_list(parser.Delimiter.PAREN, assignment)
    return names, inits


def _parse_carried(parser: LocatedParser) -> tuple[list[Parser.UnresolvedArgument], list[SSAValue], list[Attribute]]:
    """`iter_args(%x = %init, ...) -> (T, ...)`, if present."""
    if parser.parse_optional_keyword("iter_args") is None:
        return [], [], []
    names, inits = _parse_assignments(parser, "iter_args")
    parser.parse_punctuation("->", " and the types of the carried values")
    return names, inits, agreed_types(parser, parse_types(parser), inits, "iter_args")


def _print_assignments(printer: Printer, names: Sequence[SSAValue], inits: Sequence[SSAValue]) -> None:
    """`(%x = %init, ...)`."""
    with printer.in_parens():
        printer.print_list(zip(names, inits, strict=True), lambda pair: write(printer, pair[0], " = ", pair[1]))


def steps(op: Operation) -> int:
    """The scalar operations of control flow: one for each iteration of a loop, each branch and each call."""
    if op.name == "scf.yield":
        return int(isinstance(op.parent_op(), For))
    return int(op.name in ("scf.if", "scf.condition", "func.call"))
