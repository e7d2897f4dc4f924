"""Mathematics and conversions of scalars beside `arith`; the scalar unit has them, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptosim.language.operation import Operand, OptionalProperty, Problem, Property, PTOOperation, Result, made
from ptosim.language.simt.simt_lane import SIGNEDNESS
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import element_name


class ScalarMath(PTOOperation):
    """A pure function of scalars, which all have one of these types."""

    is_pure = True
    simt = "any"
    placement = "outside"
    targets = ("a5",)
    takes: ClassVar[tuple[str, ...]] = ()
    gives: ClassVar[str | None] = None
    """The type of the result, where it is not that of the operands."""
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        roles = list(self.roles())
        first = roles[0][1].type
        for role, value in roles:
            if element_name(value.type) not in self.takes:
                yield Problem(f"{self.name} takes {', '.join(self.takes)}, not {value.type}", at=role)
                return
            if value.type != first:
                yield Problem(f"{role} has type {value.type}, but {roles[0][0]} has type {first}", at=role)
                return
        if element_name(self.result.type) != (self.gives or element_name(first)):
            wanted = self.gives or first
            yield Problem(f"{self.name} of {first} gives {wanted}, not {self.result.type}", at="result")


class MathUnary(ScalarMath):
    form = "$operand"
    operand = Operand()
    result = Result()


class MathBinary(ScalarMath):
    form = "$lhs, $rhs"
    lhs = Operand()
    rhs = Operand()
    result = Result()


class WideProduct(MathBinary):
    """A product that says how its operands are read."""

    form = "$lhs, $rhs {@signedness}"
    words = {"signedness": SIGNEDNESS}
    signedness = OptionalProperty()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if self.signedness is None:
            yield Problem(f"{self.name} says signed or unsigned behind its operands")


class MulHi(WideProduct, name="pto.mulhi"):
    """High half of a product of integers.

    The upper bits of the product of double width.

        %r = pto.mulhi %a, %b signed : i32, i32 -> i32
    """

    takes = ("i32", "i64")


class MulI32ToI64(WideProduct, name="pto.mul_i32toi64"):
    """Full product of two i32.

    All 64 bits of the product.

        %r = pto.mul_i32toi64 %a, %b unsigned : i32, i32 -> i64
    """

    takes = ("i32",)
    gives = "i64"


class Prmt(ScalarMath, name="pto.prmt"):
    """Choose four bytes of eight.

    Byte k of the result is byte n of b (0 to 3) and a (4 to 7), n being bits 4k to 4k + 2 of the selector.

        %r = pto.prmt %a, %b, %s : i32, i32, i32 -> i32
    """

    form = "$lhs, $rhs, $selector"
    takes = ("i32",)
    lhs = Operand()
    rhs = Operand()
    selector = Operand()
    result = Result()


class Fma(ScalarMath, name="pto.fma"):
    """Product and sum, rounded once.

    a * b + c in the type of the operands.

        %r = pto.fma %a, %b, %c : f32, f32, f32 -> f32
    """

    form = "$lhs, $rhs, $addend"
    takes = ("f16", "bf16", "f32", "vector<2xf16>", "vector<2xbf16>")
    lhs = Operand()
    rhs = Operand()
    addend = Operand()
    result = Result()


_ROUNDED = ("f16", "bf16", "f32")
_COMPUTED = ("f16", "f32", "vector<2xf16>")
_COMPARED = ("f16", "f32", "bf16", "vector<2xf16>", "vector<2xbf16>")

_UNARY = {
    "absf": ("f16 f32 vector<2xf16> vector<2xbf16>", "Absolute value: the sign bit cleared."),
    "sqrt": (" ".join(_COMPUTED), "Square root, correctly rounded; subnormal f32 count as zero."),
    "exp": (" ".join(_COMPUTED), "e^x, rounded once; subnormal f32 count as zero."),
    "log": (" ".join(_COMPUTED), "Natural logarithm, rounded once."),
    "sin": ("f32", "Sine, rounded once."),
    "cos": ("f32", "Cosine, rounded once."),
    "ceil": (" ".join(_ROUNDED), "Rounded to an integer, towards plus infinity."),
    "floor": (" ".join(_ROUNDED), "Rounded to an integer, towards minus infinity."),
    "rint": (" ".join(_ROUNDED), "Rounded to the nearest integer, ties to even."),
    "round": (" ".join(_ROUNDED), "Rounded to the nearest integer, ties away from zero."),
}
_BINARY = {
    "pow": (" ".join(_COMPUTED), "Power, with the special cases of C; subnormal f32 count as zero."),
    "fmin": (" ".join(_COMPARED), "The lesser; of a number and NaN the number, and -0 is less than +0."),
    "fmax": (" ".join(_COMPARED), "The greater; of a number and NaN the number, and -0 is less than +0."),
}


def _unary(name: str, types: str, text: str) -> type[MathUnary]:
    example = f"    %r = pto.{name} %x : f32 -> f32"
    return made(
        __name__, MathUnary, f"pto.{name}", __doc__=f"{text}\n\nOf scalars.\n\n{example}\n", takes=tuple(types.split())
    )


def _binary(name: str, types: str, text: str) -> type[MathBinary]:
    example = f"    %r = pto.{name} %a, %b : f32, f32 -> f32"
    return made(
        __name__, MathBinary, f"pto.{name}", __doc__=f"{text}\n\nOf scalars.\n\n{example}\n", takes=tuple(types.split())
    )


OPERATIONS = (
    *(_unary(name, *row) for name, row in _UNARY.items()),
    *(_binary(name, *row) for name, row in _BINARY.items()),
)


# --- conversions ------------------------------------------------------------------------------------------------------


class ConversionRow:
    """One row of the table of conversions: the roundings, whether saturation must be asked for, whether signed or
    unsigned must be said."""

    def __init__(self, roundings: str = "rafcz", saturates: bool = False, signed: bool = False) -> None:
        self.roundings = roundings
        self.saturates = saturates
        self.signed = signed


def _pairs(sources: str, targets: str, row: ConversionRow) -> dict[tuple[str, str], ConversionRow]:
    return {(source, target): row for source in sources.split() for target in targets.split()}


def _packed(names: str, count: int = 2) -> str:
    return " ".join(f"vector<{count}x{name}>" for name in names.split())


CONVERSIONS: dict[tuple[str, str], ConversionRow] = {
    **_pairs("i32", "f32 f16 bf16", ConversionRow(signed=True)),
    **_pairs("i64", "f32", ConversionRow(signed=True)),
    **_pairs("f32 f16 bf16", "i32", ConversionRow(saturates=True, signed=True)),
    **_pairs("f32", "i64", ConversionRow(saturates=True, signed=True)),
    **_pairs("f32", "f16", ConversionRow("rafczo")),
    **_pairs("f32", "bf16 f32", ConversionRow()),
    **_pairs("f16 bf16", "f32 f16 bf16", ConversionRow()),
    **_pairs(_packed("f32"), _packed("f16"), ConversionRow("rafczo")),
    **_pairs(_packed("f32"), _packed("bf16"), ConversionRow()),
    **_pairs(_packed("f16 bf16"), _packed("f32"), ConversionRow()),
    **_pairs(_packed("f32"), _packed("f8E4M3FN f8E5M2"), ConversionRow("r")),
    **_pairs(_packed("f32 f16"), "hif8x2", ConversionRow("ah")),
    **_pairs(f"{_packed('f8E4M3FN f8E5M2')} hif8x2", _packed("f32 f16"), ConversionRow()),
    **_pairs(_packed("bf16"), "f4E1M2x2 f4E2M1x2", ConversionRow()),
    **_pairs("f4E1M2x2 f4E2M1x2", _packed("bf16"), ConversionRow()),
}
"""By source and result."""


class Convert(PTOOperation, name="pto.convert"):
    """Convert between scalar types, or packed ones of two elements.

    Roundings: r to nearest even, a to nearest with ties away from zero, f down, c up, z towards zero, o to odd, h as
    for hif8. sat: the nearest value that the type has, and 0 for NaN; nosat: infinity, and NaN stays.

        %d = pto.convert %s round(r) sat signed : f32 -> i32
    """

    is_pure = True
    simt = "any"
    placement = "outside"
    targets = ("a5",)
    form = "$source round (@rounding) @saturation {@signedness}"
    words = {
        "rounding": Vocabulary(tuple("rafczoh"), printed="{}"),
        "saturation": Vocabulary(("sat", "nosat"), printed="{}"),
        "signedness": SIGNEDNESS,
    }
    source = Operand()
    rounding = Property()
    saturation = Property()
    signedness = OptionalProperty()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        source, result = self.source.type, self.result.type
        row = CONVERSIONS.get((element_name(source) or "", element_name(result) or ""))
        pair = f"{source} to {result}"
        if row is None:
            yield Problem(f"{self.name} does not convert {pair}", at="result")
            return
        if (word := self.word("rounding") or "") not in row.roundings:
            yield Problem(f"{self.name} from {pair} rounds by {', '.join(row.roundings)}, not {word}", at="rounding")
        if row.saturates and self.word("saturation") != "sat":
            yield Problem(f"{self.name} from {pair} saturates: write sat", at="saturation")
        if row.signed and self.signedness is None:
            yield Problem(f"{self.name} from {pair} says signed or unsigned")
        if not row.signed and self.signedness is not None:
            yield Problem(f"{self.name} from {pair} is neither signed nor unsigned", at="signedness")
