"""The way out of the accumulator (pipe FIX): L0C to GM, UB or L1, with quantisation, relu, clipping and layout.

Which quantisation modes there are and what they join is a table in fixpipe_modes.py; the raw spelling and its registers
are in fixpipe_raw.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import Space
from ptosim.language.micro.cube import CubeOperation
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem
from ptosim.language.rules import fixpipe_rules
from ptosim.language.text.assembly_format import parse_word, write
from ptosim.language.text.clauses import ClauseOrder, Written, parse_group, parse_leading
from ptosim.language.text.located_parser import LocatedParser

PARAMETERS = ("quant_payload", "relu_payload", "clip", "split", "loop0_stride")
LOOP3 = ("loop3_count", "loop3_source_stride", "loop3_dest_stride")


class _Store(CubeOperation):
    """Leading operands, then the clauses, in a fixed order and separated by commas."""

    words = fixpipe_rules.CLAUSE_WORDS
    leading: ClassVar[tuple[str, ...]] = ("source", "dest", "m", "n", "source_stride", "dest_stride")
    slots: ClassVar[Sequence[Sequence[str]]] = (
        *(("unit_flag",), ("pre_quant",), ("pre_relu",)),
        *(fixpipe_rules.LAYOUTS, ("loop3",), ("sat", "nosat")),
    )
    source = Operand()
    dest = Operand()
    m = Operand("i64")
    n = Operand("i64")
    source_stride = Operand("i64")
    dest_stride = Operand("i64")
    unit_flag = OptionalProperty()
    quant_payload = OptionalOperand()
    quant_mode = OptionalProperty()
    relu_payload = OptionalOperand()
    relu_mode = OptionalProperty()
    clip = OptionalOperand()
    layout = OptionalProperty()
    split = OptionalOperand("i64")
    loop0_stride = OptionalOperand("i64")
    loop3_count = OptionalOperand("i64")
    loop3_source_stride = OptionalOperand("i64")
    loop3_dest_stride = OptionalOperand("i64")
    sat = OptionalProperty()

    # --- text ---------------------------------------------------------------------------------------------------------

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        written: Written = []
        words: dict[str, Attribute] = {}
        parse_leading(parser, written, *cls.leading)
        comma = parser.parse_optional_punctuation(",") is not None
        comma = cls.parse_mode(parser, written, words, comma)
        order = ClauseOrder(parser, cls.slots)
        while (word := order.next()) is not None:
            cls.parse_clause(parser, word, written, words)
            comma = parser.parse_optional_punctuation(",") is not None
            if not comma and parser.at_name():
                parser.raise_error(f"expected ',' after the clause '{word}'")
            if not comma:
                break
        if comma:
            parser.raise_error("expected a clause after ','")
        return cls.parse_end(parser, written, words)

    @classmethod
    def parse_mode(cls, parser: LocatedParser, written: Written, words: dict[str, Attribute], comma: bool) -> bool:
        """The text between the leading operands and the clauses; whether a comma was the last thing read."""
        return comma

    @classmethod
    def parse_clause(cls, parser: LocatedParser, word: str, written: Written, words: dict[str, Attribute]) -> None:
        match word:
            case "unit_flag":
                parser.parse_punctuation("(")
                words["unit_flag"] = cls.parse_property(parser, "unit_flag")
                parser.parse_punctuation(")")
            case "pre_quant":
                cls._parse_quant(parser, written, words)
            case "pre_relu":
                cls._parse_relu(parser, written, words)
            case "loop3":
                parse_group(parser, written, *LOOP3)
            case "sat" | "nosat":
                words["sat"] = StringAttr(word + cls._parse_preserve(parser, word))
            case _:
                words["layout"] = StringAttr(word)
                cls._parse_layout(parser, word, written)

    @classmethod
    def parse_property(cls, parser: LocatedParser, role: str) -> StringAttr:
        """A word of the vocabulary of a property."""
        return StringAttr(parse_word(parser, role, cls.words[role]))

    @classmethod
    def parse_assigned(cls, parser: LocatedParser, keyword: str, role: str) -> StringAttr:
        """`keyword = WORD`."""
        parser.parse_keyword(keyword, f" = {role}")
        parser.parse_punctuation("=", f" after {keyword}")
        return cls.parse_property(parser, role)

    @classmethod
    def _parse_quant(cls, parser: LocatedParser, written: Written, words: dict[str, Attribute]) -> None:
        parser.parse_punctuation("(", " after pre_quant")
        parse_leading(parser, written, "quant_payload")
        parser.parse_punctuation(",", " before the mode of pre_quant")
        words["quant_mode"] = cls.parse_assigned(parser, "mode", "quant_mode")
        parser.parse_punctuation(")")

    @classmethod
    def _parse_relu(cls, parser: LocatedParser, written: Written, words: dict[str, Attribute]) -> None:
        parser.parse_punctuation("(", " after pre_relu")
        if parser.at(MLIRTokenKind.PERCENT_IDENT):
            parse_leading(parser, written, "relu_payload")
            parser.parse_punctuation(",", " before the mode of pre_relu")
        words["relu_mode"] = cls.parse_assigned(parser, "mode", "relu_mode")
        if parser.parse_optional_punctuation(",") is not None:
            parser.parse_keyword("clip", " in pre_relu")
            parser.parse_punctuation("=", " after clip")
            parse_leading(parser, written, "clip")
        parser.parse_punctuation(")")

    @classmethod
    def _parse_layout(cls, parser: LocatedParser, word: str, written: Written) -> None:
        if word == "nz2dn":
            if not parser.at(MLIRTokenKind.L_PAREN):
                parser.raise_error("nz2dn needs the source stride of its loop0: nz2dn(%stride)")
            parse_group(parser, written, "loop0_stride")
        elif word == "nz2nz" and parser.at(MLIRTokenKind.L_PAREN):
            parse_group(parser, written, "split")

    @classmethod
    def _parse_preserve(cls, parser: LocatedParser, word: str) -> str:
        if word != "sat" or parser.parse_optional_punctuation("(") is None:
            return ""
        parser.parse_keyword("preserve_nan", " in sat(...)")
        parser.parse_punctuation(")")
        return "_preserve_nan"

    def print(self, printer: Printer) -> None:
        leading = [value for role in self.leading for value in self.segment(role)]
        write(printer, " ", leading)
        for word, values, rest in self.clauses():
            self._print_clause(printer, word, values, rest)
        printer.print_op_attributes(self.attributes)
        types = [value.type for role in self.typed_roles() for value in self.segment(role)]
        write(printer, " : ", types)

    def _print_clause(self, printer: Printer, word: str, values: Sequence[SSAValue], rest: str) -> None:
        """`, word(%values rest)`; a clause without either has no parentheses."""
        write(printer, f", {word}")
        if not values and not rest:
            return
        write(printer, "(", values, ", " if values and rest else "", rest)
        if word == "pre_relu" and self.clip is not None:
            write(printer, ", clip = ", self.clip)
        write(printer, ")")

    def typed_roles(self) -> tuple[str, ...]:
        """The operands in the order of the type list."""
        return (*self.leading, *PARAMETERS, *LOOP3)

    def clauses(self) -> Iterator[tuple[str, Sequence[SSAValue], str]]:
        """The clauses that are there: name, operands, and what follows the operands."""
        if (flag := self.word("unit_flag")) is not None:
            yield "unit_flag", (), flag
        if (mode := self.word("quant_mode")) is not None:
            yield "pre_quant", self.segment("quant_payload"), f"mode = {mode}"
        if (mode := self.word("relu_mode")) is not None:
            yield "pre_relu", self.segment("relu_payload"), f"mode = {mode}"
        if (layout := self.word("layout")) is not None:
            yield layout, (*self.segment("split"), *self.segment("loop0_stride")), ""
        if self.loop3_count is not None:
            yield "loop3", [value for role in LOOP3 for value in self.segment(role)], ""
        if (saturation := self.word("sat")) is not None:
            word, _, preserve = saturation.partition("_")
            yield word, (), preserve

    # --- rules --------------------------------------------------------------------------------------------------------

    def rules(self, target: str) -> Iterator[Problem]:
        yield from fixpipe_rules.quant_types(self)
        yield from fixpipe_rules.relu_types(self)
        yield from fixpipe_rules.clip_types(self)
        yield from fixpipe_rules.clauses_together(self)


class MteL0cL1(_Store, name="pto.mte_l0c_l1"):
    """Move an m x n tile from L0C to L1 (pipe FIX).

    `source_stride` is the number of accumulator rows of a group of 16 columns (m rounded up to 16); `dest_stride`
    counts destination elements. Clauses, in this order: `unit_flag(check_only|check_and_clear)`,
    `pre_quant(%payload, mode = M)` scales and converts, `pre_relu(%payload, mode = R, clip = %limit)`,
    `nz2nd` (row-major, the default), `nz2dn(%stride)` (column-major) or `nz2nz(%split)` (fractals),
    `loop3(%count, %source_stride, %dest_stride)`, `sat`, `sat(preserve_nan)` or `nosat`. Without pre_quant the elements
    of both sides are the same.

        pto.mte_l0c_l1 %c, %l1, %m, %n, %source_stride, %dest_stride, nz2nd
            : !pto.ptr<f32, l0c>, !pto.ptr<f32, l1>, i64, i64, i64, i64
    """

    spaces = {"source": (Space.L0C,), "dest": (Space.L1,)}


class MteL0cGm(_Store, name="pto.mte_l0c_gm"):
    """Store an m x n tile from L0C to GM (pipe FIX), with the clauses of pto.mte_l0c_l1 and `atomic(type = T, op = O)`.

    atomic combines with what GM holds: type f32, f16, bf16, s32, s16 or s8, operation add, max or min. `sid` (0 to 3)
    and `l2_cache_ctl` (0 to 15) do not change the result.

        pto.mte_l0c_gm %c, %gm, %m, %n, %source_stride, %dest_stride, %sid, %l2,
            pre_quant(%scale, mode = qf322f16_pre_scalar), pre_relu(mode = normal_relu), nz2nd, sat
            : !pto.ptr<f32, l0c>, !pto.ptr<f16, gm>, i64, i64, i64, i64, i64, i64, f32
    """

    leading = operand_order = (*_Store.leading, "sid", "l2_cache_ctl")
    words = {**fixpipe_rules.CLAUSE_WORDS, **fixpipe_rules.ATOMIC_WORDS}
    slots = (*_Store.slots, ("atomic",))
    spaces = {"source": (Space.L0C,), "dest": (Space.GM,)}
    sid = Operand("i64")
    l2_cache_ctl = Operand("i64")
    atomic_type = OptionalProperty()
    atomic_op = OptionalProperty()

    @classmethod
    def parse_clause(cls, parser: LocatedParser, word: str, written: Written, words: dict[str, Attribute]) -> None:
        if word != "atomic":
            super().parse_clause(parser, word, written, words)
            return
        parser.parse_punctuation("(", " after atomic")
        words["atomic_type"] = cls.parse_assigned(parser, "type", "atomic_type")
        parser.parse_punctuation(",", " before the operation of atomic")
        words["atomic_op"] = cls.parse_assigned(parser, "op", "atomic_op")
        parser.parse_punctuation(")")

    def clauses(self) -> Iterator[tuple[str, Sequence[SSAValue], str]]:
        yield from super().clauses()
        if (type_ := self.word("atomic_type")) is not None:
            yield "atomic", (), f"type = {type_}, op = {self.word('atomic_op')}"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if (self.atomic_type is None) != (self.atomic_op is None):
            yield Problem("atomic needs a type and an operation")


class MteL0cUb(_Store, name="pto.mte_l0c_ub"):
    """Move an m x n tile from L0C to the UB of one or both vector cores (pipe FIX, a5).

    The clauses are those of pto.mte_l0c_l1, behind a mode. `dst_mode(%id)` names the vector core, 0 or 1.
    `dst_mode(split_m)` gives the upper half of the rows to AIV0 and the lower half to AIV1, `dst_mode(split_n)` the
    left and right half of the columns (n a multiple of 32); the destination address and stride are the same on both.
    A split takes neither quantisation, relu, loop3 nor a layout but nz2nd.

        pto.mte_l0c_ub %c, %ub, %m, %n, %source_stride, %dest_stride, dst_mode(split_m), nz2nd
            : !pto.ptr<f32, l0c>, !pto.ptr<f32, ub>, i64, i64, i64, i64
    """

    targets = ("a5",)
    spaces = {"source": (Space.L0C,), "dest": (Space.UB,)}
    words = {**fixpipe_rules.CLAUSE_WORDS, **fixpipe_rules.DST_MODES}
    operand_order = (*_Store.leading, "sub_block")
    sub_block = OptionalOperand("i64")
    dst_mode = OptionalProperty()

    @classmethod
    def parse_mode(cls, parser: LocatedParser, written: Written, words: dict[str, Attribute], comma: bool) -> bool:
        if parser.parse_optional_keyword("dst_mode") is None:
            parser.raise_error("expected dst_mode(%sub_block), dst_mode(split_m) or dst_mode(split_n)")
        parser.parse_punctuation("(")
        if parser.at(MLIRTokenKind.PERCENT_IDENT):
            parse_leading(parser, written, "sub_block")
        else:
            words["dst_mode"] = cls.parse_property(parser, "dst_mode")
        parser.parse_punctuation(")")
        return parser.parse_optional_punctuation(",") is not None

    def typed_roles(self) -> tuple[str, ...]:
        return (*self.leading, "sub_block", *PARAMETERS, *LOOP3)

    def clauses(self) -> Iterator[tuple[str, Sequence[SSAValue], str]]:
        yield "dst_mode", self.segment("sub_block"), self.word("dst_mode") or ""
        yield from super().clauses()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if (self.sub_block is None) == (self.dst_mode is None):
            yield Problem(f"{self.name} needs one dst_mode: a sub-block, split_m or split_n")
        if (mode := self.word("dst_mode")) is not None:
            yield from self._split(mode)

    def _split(self, mode: str) -> Iterator[Problem]:
        given = [("quant_mode", "pre_quant"), ("relu_mode", "pre_relu")]
        excluded = [clause for role, clause in given if self.attribute(role) is not None]
        excluded += ["loop3"] if self.loop3_count is not None else []
        excluded += [word for word in [self.word("layout")] if word not in (None, "nz2nd")]
        for clause in excluded:
            yield Problem(f"{mode} excludes {clause}", at=clause)
