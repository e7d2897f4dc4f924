"""Conversions of logical vectors: which pairs of elements there are, and what each has to be told.

The table serves the rules here and the lowering (vmi/conversion.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptosim.effects.conversion import Conversion, conversion
from ptosim.effects.element import element
from ptosim.language.logical_types import LogicalVectorType
from ptosim.language.operation import OptionalProperty, Problem
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import element_of
from ptosim.language.vmi.vmi_operation import PMODES, VmiOperation, idle_pmode, same_lanes

ROUNDINGS = Vocabulary(("R", "A", "F", "C", "Z", "H"))
SATURATIONS = Vocabulary(("SAT", "NOSAT"))
_F8 = ("f8E4M3FN", "f8E5M2")
_F4 = ("f4E1M2x2", "f4E2M1x2")


@dataclass(frozen=True)
class VmiPair:
    """A conversion from one element to another: its roundings, the default one, and whether it takes a saturation."""

    roundings: str = ""
    default: str = "R"
    saturations: tuple[str, ...] = ()


_WIDEN = VmiPair()
_BOTH = ("SAT", "NOSAT")
_NARROW = VmiPair("RAHZ", saturations=_BOTH)
_TO_HIF8 = VmiPair("RAHZ", "A", _BOTH)
_TO_INTEGER = VmiPair("RAFCZ", saturations=_BOTH)
_CLAMPED = frozenset(
    {"ui32 ui16", "ui32 ui8", "si32 si16", "si32 ui16", "si32 ui8", "ui16 ui8", "si16 ui8", "ui32 si16"}
)
"""Integers that are narrowed with saturation; without it any are."""


def _pairs() -> Iterator[tuple[tuple[str, str], VmiPair]]:
    for source in ("f16", "bf16", *_F8, "hif8"):
        yield (source, "f32"), _WIDEN
    for dest in ("f16", "bf16", *_F8):
        yield ("f32", dest), _NARROW
    for source in ("f16", "bf16"):
        for dest in _F8:
            yield (source, dest), _NARROW
    for source in ("f32", "f16"):
        yield (source, "hif8"), _TO_HIF8
    yield ("bf16", "f16"), _NARROW
    for low in _F4:
        yield (low, "bf16x2"), _WIDEN
        yield ("bf16x2", low), VmiPair("RAFCZ")
    for pair in ("f32 si32", "f32 si16", "f16 si16", "f16 si8", "bf16 si32", "f16 ui8"):
        source, dest = pair.split()
        yield (source, dest), _TO_INTEGER
    yield ("f16", "si32"), VmiPair("RAFCZ")
    yield ("si32", "f32"), _WIDEN
    for sign in "su":
        for narrow, wide in ((8, 16), (8, 32), (16, 32)):
            yield (f"{sign}i{narrow}", f"{sign}i{wide}"), _WIDEN
    for source in ("ui32", "si32", "ui16", "si16"):
        for dest in ("ui16", "si16", "ui8", "si8"):
            if int(dest[2:]) < int(source[2:]):
                clamps = f"{source} {dest}" in _CLAMPED
                yield (source, dest), VmiPair(saturations=_BOTH if clamps else ("NOSAT",))


VMI_PAIRS = dict(_pairs())
"""By source and result. Signless integers are unsigned."""


def unsigned(name: str) -> str:
    """The name of an element type, signless integers as unsigned ones."""
    return f"u{name}" if name in ("i8", "i16", "i32") else name


def pair_of(source: LogicalVectorType, dest: LogicalVectorType) -> VmiPair | None:
    """The operands of a conversion; None where there is none."""
    one, other = (unsigned(element_of(type_.element).name) for type_ in (source, dest))
    return VMI_PAIRS.get((one, other))


class VmiConvert(VmiOperation, name="pto.vmi.vcvt"):
    """Convert the lanes of a logical vector to another element type.

    rounding and saturate are written exactly where the pair of types has them: rounding where bits can be lost (R
    nearest even, A nearest with ties away from zero, H, F down, C up, Z toward zero), saturate where a value may not
    fit. Signless integers are unsigned.

        %r = pto.vmi.vcvt %a {rounding = "R", saturate = "SAT"} : !pto.vmi.vreg<100xf32> -> !pto.vmi.vreg<100xf16>
        %w = pto.vmi.vcvt %r : !pto.vmi.vreg<100xf16> -> !pto.vmi.vreg<100xf32>
    """

    form = "$input:logical -> $result:logical"
    words = {"rounding": ROUNDINGS, "saturate": SATURATIONS, "pmode": PMODES}
    merges = True
    rounding = OptionalProperty()
    saturate = OptionalProperty()

    def shapes(self) -> Iterator[Problem]:
        yield from same_lanes(self, "input", "result")
        yield from idle_pmode(self)
        source, dest = self.vector("input"), self.vector("result")
        if source is None or dest is None:
            return
        pair = pair_of(source, dest)
        if pair is None:
            yield Problem(_no_pair(source, dest), at="input")
        else:
            yield from self._attributes(pair, f"{self.name} from {self.element('input')} to {self.element('result')}")

    def limits(self) -> Iterator[Problem]:
        rounding, known = self.word("rounding"), _instruction(self.element("input"), self.element("result"))
        if known is not None and rounding is not None and known.roundings and rounding not in known.roundings:
            message = f"no instruction rounds {rounding} from {known.source} to {known.dest}"
            yield Problem(f"{message}; known: {', '.join(known.roundings)}", "rounding", "unsupported")

    def _attributes(self, pair: VmiPair, name: str) -> Iterator[Problem]:
        rounding, saturate = self.word("rounding"), self.word("saturate")
        if rounding is not None and not pair.roundings:
            yield Problem(f"{name} rounds nothing: it takes no rounding", at="rounding")
        elif rounding is not None and rounding not in pair.roundings:
            yield Problem(f"{name} has no rounding {rounding}; known: {', '.join(pair.roundings)}", at="rounding")
        if saturate is None and pair.saturations:
            yield Problem(f"{name} needs saturate: {' or '.join(pair.saturations)}")
        elif saturate is not None and not pair.saturations:
            yield Problem(f"{name} fits every value: it takes no saturate", at="saturate")
        elif saturate is not None and saturate not in pair.saturations:
            yield Problem(f"{name} cannot saturate: write NOSAT, which keeps the low bits", at="saturate")


def _instruction(source: str | None, dest: str | None) -> Conversion | None:
    """The conversion of registers behind a pair."""
    if source is None or dest is None:
        return None
    names = ("bf16" if name == "bf16x2" else unsigned(name) for name in (source, dest))
    one, other = (element(name) for name in names)
    return conversion(one, other)


def _no_pair(source: LogicalVectorType, dest: LogicalVectorType) -> str:
    one, other = (element_of(type_.element).name for type_ in (source, dest))
    targets = [to for start, to in VMI_PAIRS if start == unsigned(one)]
    known = f"from {one} it converts to {', '.join(targets)}" if targets else f"it converts nothing from {one}"
    return f"pto.vmi.vcvt does not convert {one} to {other}; {known}"


class VmiReinterpret(VmiOperation, name="pto.vmi.vinterpret_cast"):
    """The bits of a logical vector as lanes of another element type.

    No bit changes; where the widths differ, the low end of a wide lane comes first.

        %r = pto.vmi.vinterpret_cast %a : !pto.vmi.vreg<100xf32> -> !pto.vmi.vreg<200xi16>
    """

    form = "$input:logical -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        source, dest = self.vector("input"), self.vector("result")
        if source is None or dest is None:
            return
        bits = [type_.lanes * element_of(type_.element).bits for type_ in (source, dest)]
        if bits[0] != bits[1]:
            yield Problem(f"{self.name}: input has {bits[0]} bits, but result {bits[1]}", at="result")
