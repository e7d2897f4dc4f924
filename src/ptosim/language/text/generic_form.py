"""Operations read in the generic form, `"pto.x"(...) : (...) -> (...)`, brought to what their class declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, StringAttr
from xdsl.ir import Block, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from ptosim.language.text.assembly_format import check_word, word_in
from ptosim.language.text.located_parser import LocatedParser

if TYPE_CHECKING:
    from ptosim.language.operation import PTOOperation

SEGMENTS = "operandSegmentSizes"


@irdl_attr_definition
class Segments(Data[tuple[int, ...]]):
    """The number of operands of each role, for classes where that varies."""

    name = "pto.segments"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, ...]:
        with parser.in_angle_brackets():
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_integer))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.data, lambda size: printer.print_string(str(size)))


def settle_properties(op: PTOOperation, parser: LocatedParser) -> None:
    """Words are among those of the class, and those that it needs are there."""
    for role in (*op.property_roles, SEGMENTS):
        if role in op.attributes:
            op.properties[role] = op.attributes.pop(role)
    for role, vocabulary in op.words.items():
        if role in op.properties:
            word = word_in(op.properties[role])
            op.properties[role] = StringAttr(check_word(parser, role, word, vocabulary, parser.place_of(role)))
    for role in op.required_properties:
        if role not in op.properties:
            parser.raise_error(f"{op.name} needs the attribute '{role}'", parser.place_of(role))


def settle_operands(op: PTOOperation, parser: LocatedParser) -> None:
    """Each operand gets its role."""
    least = [0 if role in op.optional_roles | op.variadic_roles else 1 for role in op.operand_roles]
    spare = len(op.operands) - sum(least)
    given = op.properties.pop(SEGMENTS, None)
    elastic = [index for index, size in enumerate(least) if size == 0]
    sizes = list(least)
    if isinstance(given, DenseArrayBase):
        sizes = [int(size) for size in cast("DenseArrayBase[IntegerType]", given).get_values()]
        sizes += [0] * (len(least) - len(sizes))  # roles at the end that other tools do not know
    elif spare:
        in_form = [index for index in elastic if f"${op.operand_roles[index]}" in op.form]
        if len(choice := in_form or elastic) == 1:  # what the form does not have is written by lowering alone
            sizes[choice[0]] = spare
    if len(sizes) != len(least) or sum(sizes) != len(op.operands) or not _fit(op, sizes, least):
        roles = ", ".join(op.operand_roles) or "none"
        parser.raise_error(f"the operands of {op.name} are: {roles}", parser.place_of(""))
    if elastic:
        op.properties[SEGMENTS] = Segments(tuple(sizes))


def _fit(op: PTOOperation, sizes: Sequence[int], least: Sequence[int]) -> bool:
    return all(
        size >= low and (size <= 1 or role in op.variadic_roles)
        for role, size, low in zip(op.operand_roles, sizes, least, strict=True)
    )


def close_regions(op: PTOOperation, parser: LocatedParser) -> None:
    """See that every region is one block and ends as it must; the text may leave out the end."""
    for region in op.regions:
        if region.first_block is None:
            region.add_block(Block())
        last = region.last_block.last_op if region.last_block is not None else None
        if region.first_block is not region.last_block or (last is not None and last.successors):
            parser.raise_error(f"a region of {op.name} has exactly one block", parser.place_of(""))
        if op.implicit_end is not None and (last is None or not last.has_trait(IsTerminator)):
            end = op.implicit_end.make()
            region.block.add_op(end)
            parser.place_implicit(end)
