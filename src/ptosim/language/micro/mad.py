"""Matrix products of the cube (pipe M): C = A x B from L0A and L0B into L0C, plain, accumulating, biased or scaled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.printer import Printer

from ptosim.effects.element import element
from ptosim.effects.fractal import SCALED_STEP
from ptosim.effects.names import Space
from ptosim.language.micro.cube import CubeOperation
from ptosim.language.operation import Operand, OptionalProperty, Problem, lint
from ptosim.language.rules.operand_rules import constants, pointed
from ptosim.language.text.assembly_format import Vocabulary, parse_word, types_of, write
from ptosim.language.text.clauses import ClauseOrder, Written, parse_leading
from ptosim.language.text.located_parser import LocatedParser

CLAUSE_WORDS = {
    "unit_flag": Vocabulary(("check_only", "check_and_set")),
    "sat": Vocabulary(("sat", "nosat")),
    "tf32_mode": Vocabulary(("round_even", "round_away")),
}

FLAGS = ("disable_gemv", "n_dir")
"""Clauses that are there or not."""

FP8 = ("f8E4M3FN", "f8E5M2")
FP4 = ("f4E2M1x2", "f4E1M2x2")
_INTEGERS = ("i8", "si8")
_PRODUCTS: dict[tuple[str, str], tuple[str, ...]] = {
    **{(a, b): ("i32", "si32") for a in _INTEGERS for b in _INTEGERS},
    **{(a, b): ("f32",) for a in FP8 for b in FP8},
    **{(name, name): ("f32",) for name in ("f16", "bf16", "f32", "hif8")},
}
_MX_PRODUCTS: dict[tuple[str, str], tuple[str, ...]] = {(a, b): ("f32",) for a in (*FP8, *FP4) for b in (*FP8, *FP4)}

_SPACES = {"a": (Space.L0A,), "b": (Space.L0B,), "c": (Space.L0C,)}
_WITH_BIAS = {**_SPACES, "bias": (Space.BT,)}

# --- products ---------------------------------------------------------------------------------------------------------


class _Product(CubeOperation):
    """The operands of a product, and which element types go together."""

    products: ClassVar[Mapping[tuple[str, str], tuple[str, ...]]] = _PRODUCTS
    start: ClassVar[str] = "zero"
    """The start of C: zero, the accumulators, the bias, or as the word of a raw form says."""
    spaces = _SPACES
    a = Operand()
    b = Operand()
    c = Operand()

    def facts(self) -> Mapping[str, Any]:
        return {"scaled": self.products is _MX_PRODUCTS, "start": self.start}

    def rules(self, target: str) -> Iterator[Problem]:
        a, b, c = (pointed(self, role) for role in "abc")
        if a is None or b is None or c is None:
            return
        accumulators = self.products.get((a, b))
        if accumulators is None:
            known = ", ".join(f"{left} x {right}" for left, right in self.products)
            yield Problem(f"{self.name} does not multiply {a} by {b}; known: {known}", at="b")
        elif c not in accumulators:
            yield Problem(f"{a} x {b} accumulates in {accumulators[0]}, not in {c}", at="c")
        if "bias" in self.operand_roles and (bias := pointed(self, "bias")) not in (c, None):
            yield Problem(f"the bias is {bias}, but the accumulator is {c}", at="bias")


class _Clauses(_Product):
    """`unit_flag(..) disable_gemv sat|nosat tf32_mode(..) n_dir`, each optional, in this order, without commas."""

    words = CLAUSE_WORDS
    leading: ClassVar[tuple[str, ...]] = ("a", "b", "c", "m", "n", "k")
    slots: ClassVar[Sequence[Sequence[str]]] = (
        *(("unit_flag",), ("disable_gemv",), ("sat", "nosat")),
        *(("tf32_mode",), ("n_dir",)),
    )
    m = Operand("i64")
    n = Operand("i64")
    k = Operand("i64")
    unit_flag = OptionalProperty()
    disable_gemv = OptionalProperty()
    sat = OptionalProperty()
    tf32_mode = OptionalProperty()
    n_dir = OptionalProperty()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        written: Written = []
        parse_leading(parser, written, *cls.leading)
        order = ClauseOrder(parser, cls.slots)
        clauses: dict[str, Attribute] = {}
        while (word := order.next()) is not None:
            if word in ("sat", "nosat"):
                clauses["sat"] = StringAttr(word)
            elif word in FLAGS:
                clauses[word] = UnitAttr()
            else:
                clauses[word] = StringAttr(cls._parse_argument(parser, word))
        return cls.parse_end(parser, written, clauses)

    @classmethod
    def _parse_argument(cls, parser: LocatedParser, word: str) -> str:
        parser.parse_punctuation("(")
        argument = parse_word(parser, word, CLAUSE_WORDS[word])
        parser.parse_punctuation(")")
        return argument

    def print(self, printer: Printer) -> None:
        operands = [value for role in self.leading for value in self.segment(role)]
        write(printer, " ", operands, *(f" {clause}" for clause in self._printed()))
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", types_of(operands))

    def _printed(self) -> Iterator[str]:
        for role in ("unit_flag", "disable_gemv", "sat", "tf32_mode", "n_dir"):
            word = self.word(role)
            if word is not None:
                yield word if role == "sat" else f"{role}({word})"
            elif self.attribute(role) is not None:
                yield role

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        names = [name for role in "abc" if (name := pointed(self, role)) is not None]
        if self.sat is not None and any(element(name).is_integer for name in names):
            word = self.word("sat")
            yield Problem(f"{word} needs floats, not {' x '.join(names[:2])}", at=word)
        for flag in FLAGS:
            if not isinstance(given := self.attribute(flag), UnitAttr | None):
                yield Problem(f"{flag} has no value, but {given} is given", at=flag)
        if self.tf32_mode is not None and any(name != "f32" for name in names):
            yield Problem(f"tf32_mode needs f32 x f32, not {' x '.join(names[:2])}", at="tf32_mode")


class Mad(_Clauses, name="pto.mad"):
    """C = A x B for an m x k tile in L0A and a k x n tile in L0B.

    i8 accumulates in i32 and wraps; f16, bf16, f32, fp8 and hif8 accumulate in f32. Only k columns contribute and only
    m x n results are written, so that padding never matters. m = 1 reads A as a plain vector of k elements, unless
    disable_gemv. `sat` clamps infinities and turns NaN into 0, `nosat` keeps them, without either CTRL bit 48 decides.
    `tf32_mode` rounds f32 operands to 10 mantissa bits. With `unit_flag` it starts when its tile is free, and
    check_and_set leaves it full. `n_dir` does not change the result.

        pto.mad %a, %b, %c, %m, %n, %k
            : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    """


class MadAcc(_Clauses, name="pto.mad_acc"):
    """C = C + A x B.

    Everything else is as in pto.mad.

        pto.mad_acc %a, %b, %c, %m, %n, %k
            : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    """

    start = "accumulators"


class MadBias(_Clauses, name="pto.mad_bias"):
    """C = A x B + bias.

    The bias is a row of n values in the bias table, of the type of C. Everything else is as in pto.mad.

        pto.mad_bias %a, %b, %c, %bias, %m, %n, %k
            : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, !pto.ptr<f32, bt>, i64, i64, i64
    """

    start = "bias"
    leading = operand_order = ("a", "b", "c", "bias", "m", "n", "k")
    spaces = _WITH_BIAS
    bias = Operand()


# --- MX ---------------------------------------------------------------------------------------------------------------


def leaves_a_rest(k: int) -> str | None:
    """Remarks about the depth of a scaled product."""
    return f"k is {k}; the hardware multiplies scaled operands in steps of {SCALED_STEP}" if k % SCALED_STEP else None


class _Scaled(_Clauses):
    products = _MX_PRODUCTS
    slots = (("unit_flag",), ("disable_gemv",), ("sat", "nosat"), ("n_dir",))

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        for place, known in constants(self, "k"):
            if known > 0 and (message := leaves_a_rest(known)) is not None:
                yield lint(message, at=place)


class MadMx(_Scaled, name="pto.mad_mx"):
    """C = A x B with a scale 2^(e - 127) for each row or column and 32 values of k.

    Operands are fp8 or packed fp4, the accumulator f32. The scales lie in the scale buffers at the addresses of A and
    B divided by 16, where pto.mte_l1_l0a_mx and pto.mte_l1_l0b_mx put them. The scales of a plain row, m = 1
    without disable_gemv, lie one after the other.

        pto.mad_mx %a, %b, %c, %m, %n, %k
            : !pto.ptr<f8E4M3FN, l0a>, !pto.ptr<f8E4M3FN, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    """


class MadMxAcc(_Scaled, name="pto.mad_mx_acc"):
    """C = C + A x B with MX scales.

    Operands and scales are as in pto.mad_mx.

        pto.mad_mx_acc %a, %b, %c, %m, %n, %k
            : !pto.ptr<f8E4M3FN, l0a>, !pto.ptr<f8E4M3FN, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    """

    start = "accumulators"


class MadMxBias(_Scaled, name="pto.mad_mx_bias"):
    """C = A x B + bias with MX scales.

    Operands and scales are as in pto.mad_mx.

        pto.mad_mx_bias %a, %b, %c, %bias, %m, %n, %k
            : !pto.ptr<f8E4M3FN, l0a>, !pto.ptr<f8E4M3FN, l0b>, !pto.ptr<f32, l0c>, !pto.ptr<f32, bt>, i64, i64, i64
    """

    start = "bias"
    leading = operand_order = ("a", "b", "c", "bias", "m", "n", "k")
    spaces = _WITH_BIAS
    bias = Operand()


# --- raw forms --------------------------------------------------------------------------------------------------------


class _Raw(_Product):
    start = "word"
    form = "$a, $b, $c, $packed:i64"


class _RawBias(_Raw):
    form = "$a, $b, $c, $bias, $packed:i64"
    spaces = _WITH_BIAS


class MadRaw(_Raw, name="pto.mad_raw"):
    """A product with its fields in one word.

    Bits 11:0 m, 23:12 k, 35:24 n, 56:55 unit flag (0 off, 2 check, 3 check and set), 61 disable gemv, 62 C starts from
    the bias table, 63 C starts from zero; with neither C accumulates. Saturation, tf32, hif8 and n_dir come from CTRL.

        pto.mad_raw %a, %b, %c, %packed : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64
    """


class MadBiasRaw(_RawBias, name="pto.mad_bias_raw"):
    """A product with a bias and its fields in one word.

    The word is that of pto.mad_raw.

        pto.mad_bias_raw %a, %b, %c, %bias, %packed
            : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, !pto.ptr<f32, bt>, i64
    """


class MadMxRaw(_Raw, name="pto.mad_mx_raw"):
    """A product with MX scales and its fields in one word.

    The word is that of pto.mad_raw.

        pto.mad_mx_raw %a, %b, %c, %packed
            : !pto.ptr<f8E4M3FN, l0a>, !pto.ptr<f8E4M3FN, l0b>, !pto.ptr<f32, l0c>, i64
    """

    products = _MX_PRODUCTS


class MadMxBiasRaw(_RawBias, name="pto.mad_mx_bias_raw"):
    """A product with MX scales and a bias and its fields in one word.

    The word is that of pto.mad_raw.

        pto.mad_mx_bias_raw %a, %b, %c, %bias, %packed
            : !pto.ptr<f8E4M3FN, l0a>, !pto.ptr<f8E4M3FN, l0b>, !pto.ptr<f32, l0c>, !pto.ptr<f32, bt>, i64
    """

    products = _MX_PRODUCTS
