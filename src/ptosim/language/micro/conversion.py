"""Conversions between element types, rounding, index ramps and retyping.

Which pairs of types `pto.vcvt` knows, what it must be told for each, and where the lanes go is in
effects/conversion.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from ptosim.effects.conversion import CONVERSIONS, HALVES, QUARTERS, ROUNDINGS, SATURATIONS, Conversion, conversion
from ptosim.language.micro import vector
from ptosim.language.operation import Operand, OptionalProperty, Problem, PTOOperation, Result
from ptosim.language.text.assembly_format import Vocabulary, check_word, word_in
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import VregType, element_of, mask_for


def _rounding(*modes: str) -> Vocabulary:
    return Vocabulary(modes, {f"ROUND_{mode}": mode for mode in modes})


def _parts(*parts: str) -> Vocabulary:
    return Vocabulary(parts, {f"PART_{part}": part for part in parts})


RND = _rounding(*ROUNDINGS)
SAT = Vocabulary(SATURATIONS, {"RS_ENABLE": "SAT", "RS_DISABLE": "NOSAT"})
PART = _parts(*HALVES, *QUARTERS)


class VCvt(vector.VectorOperation, name="pto.vcvt"):
    """Convert to another element type.

    A pair of types is told by exactly the attributes it needs: rnd where bits can be lost (R nearest even, A nearest
    with ties away from zero, F down, C up, Z toward zero, O to odd, H only for 8-bit floats), sat where a value may
    not fit (SAT, NOSAT), part where the widths differ: EVEN or ODD for a factor of two, P0 .. P3 for four. round_mode
    is an older name of rnd.

    Both registers have 256 bytes. Narrowing puts lane i at 2i+part (or 4i+part) and zeros everywhere else: the
    results of an EVEN and an ODD conversion are interleaved, not appended, when pto.vor merges them. Widening takes
    lanes 2i+part (or 4i+part). The mask has the granularity of the source (b32 for 64 bits), and the bit of a source
    lane decides its result.

    With SAT a float target turns NaN into +0 and an infinity into the largest finite value; with NOSAT both stay. To an
    integer NaN gives 0; SAT clamps after rounding, NOSAT keeps the low bits.

        %d = pto.vcvt %a, %mask {rnd = "R", sat = "SAT", part = "EVEN"}
            : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<128xf16>
    """

    form = "$input:vreg, $mask:mask -> $result:vreg"
    words = {"rnd": RND, "sat": SAT, "part": PART}
    input = Operand()
    rnd = OptionalProperty()
    sat = OptionalProperty()
    part = OptionalProperty()
    result = Result()

    @classmethod
    def parse_dictionary(cls, parser: LocatedParser) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        attributes, properties = super().parse_dictionary(parser)
        _rename_older(parser, attributes, "rnd" in properties)
        if (word := attributes.pop("rnd", None)) is not None:
            rnd = check_word(parser, "rnd", word_in(word), RND, parser.place_of("rnd"))
            properties = {"rnd": StringAttr(rnd), **properties}
        return attributes, properties

    def settle(self, parser: LocatedParser) -> None:
        _rename_older(parser, self.attributes, "rnd" in self.attributes or "rnd" in self.properties)
        super().settle(parser)

    def rules(self, target: str) -> Iterator[Problem]:
        source, dest = self.input.type, self.result.type
        if not isinstance(source, VregType) or not isinstance(dest, VregType):
            return
        yield from vector.mask_matches(self, "mask", source, mask_for(source))
        pair = conversion(element_of(source), element_of(dest))
        if pair is None:
            yield Problem(_no_pair(source, dest), at="input")
        else:
            yield from self._attributes(pair)

    def _attributes(self, pair: Conversion) -> Iterator[Problem]:
        """Exactly the attributes of the pair are there, each with a word that it knows."""
        name = f"{self.name} from {pair.source} to {pair.dest}"
        allowed = {"rnd": pair.roundings, "sat": pair.saturations, "part": pair.parts}
        for role, words in allowed.items():
            word = self.word(role)
            if word is None and words:
                yield Problem(f"{name} needs {role}: one of {', '.join(words)}")
            elif word is not None and not words:
                takes = " and ".join(pair.attributes)
                yield Problem(f"{name} takes {takes}, but no {role}", at=role)
            elif word is not None and word not in words:
                yield Problem(f"{name} has no {role} '{word}'; known: {', '.join(words)}", at=role)


def _rename_older(parser: LocatedParser, attributes: dict[str, Attribute], has_rnd: bool) -> None:
    """`round_mode` is an older name of `rnd`."""
    if "round_mode" in attributes:
        place = parser.place_of("round_mode")
        if has_rnd:
            parser.raise_error("round_mode is an older name of rnd; give one of them", place)
        parser.place("rnd", place)
        attributes["rnd"] = attributes.pop("round_mode")


def _no_pair(source: VregType, dest: VregType) -> str:
    name = element_of(source).name
    targets = [to for start, to in CONVERSIONS if start in (name, f"s{name}")]
    known = f"; from {name} it converts to {', '.join(targets)}" if targets else f"; it converts nothing from {name}"
    return f"pto.vcvt does not convert {name} to {element_of(dest).name}{known}"


class VTrc(vector.VectorUnary, name="pto.vtrc"):
    """Round to an integral value, staying in the same float type.

    R nearest even, A nearest with ties away from zero, F down, C up, Z toward zero. Infinities pass, NaN stays NaN,
    and a result of zero keeps the sign: -0.5 becomes -0.

        %d = pto.vtrc %a, %mask, "Z" : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    form = "$input:V, $mask:M, @rnd -> $result:V"
    words = {"rnd": _rounding("R", "A", "F", "C", "Z")}
    accepted = vector.FLOATS


class VCi(vector.VectorOperation, name="pto.vci"):
    """A ramp of lane numbers.

    d[i] = base + i, or base - i with order = "DESC"; there is no mask. Integers wrap, floats add in their own type.

        %d = pto.vci %base {order = "ASC"} : i32 -> !pto.vreg<64xi32>
    """

    form = "$base:T -> $result:V"
    words = {"order": Vocabulary(("ASC", "DESC"))}
    accepted = vector.integers(8, 16, 32) | vector.F16_F32
    order = OptionalProperty()


class VBitcast(PTOOperation, name="pto.vbitcast"):
    """The same 256 bytes with another element type.

    Little-endian: seen as i16, the low half of f32 lane i is lane 2i. No bit changes, so it costs nothing.

        %d = pto.vbitcast %a : !pto.vreg<64xf32> -> !pto.vreg<128xi16>
    """

    form = "$input:vreg -> $result:vreg"


class VMulsCvt(vector.VectorOperation, name="pto.vmulscvt"):
    """Multiply by a scalar and convert f32 to f16.

    Lane 2i (EVEN) or 2i+1 (ODD) of the result is a[i] * s, multiplied in f32 and then rounded to nearest with ties away
    from zero; too large a value saturates. The other lanes are zero. A is the only rounding.

        %d = pto.vmulscvt %a, %s, %mask, "A", "EVEN" : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<128xf16>
    """

    form = "$input:V, $scalar:f32, $mask:M, @rnd, @part -> $result:vreg"
    words = {"rnd": _rounding("A"), "part": _parts(*HALVES)}
    accepted = frozenset({"f32"})

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from vector.element_among(self, "result", frozenset({"f16"}))
