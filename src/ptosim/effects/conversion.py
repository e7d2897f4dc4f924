"""Conversions of `pto.vcvt`: the pairs of element types, the words that each pair needs, and the lanes of the result.

How a single value is converted is the business of the engines; how the attributes are written, of the language. A
signless integer converts as a signed one, so the matrix names only `siW` and `uiW`.

Both registers have 256 bytes: a conversion that narrows fills every second (or fourth) lane of its result and leaves
zeros between, one that widens takes every second (or fourth) lane of its source. `part` says which.
"""

from dataclasses import dataclass
from functools import cache

from ptosim.effects.element import Element, element
from ptosim.effects.float_format import FOUR_BITS
from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

ROUNDINGS = ("R", "A", "F", "C", "Z", "O", "H")
"""Nearest even, nearest with ties away from zero, down, up, toward zero, to odd, nearest with ties up."""
SATURATIONS = ("SAT", "NOSAT")
HALVES = ("EVEN", "ODD")
QUARTERS = ("P0", "P1", "P2", "P3")

# H is meant for 8-bit float targets; what it does elsewhere is not published.
_ORDINARY = "RAFCZO"


@dataclass(frozen=True, slots=True)
class Conversion:
    """One pair of the matrix. An attribute with an empty tuple of words must be absent."""

    source: str
    dest: str
    roundings: tuple[str, ...]
    saturations: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes that must be there; no other may."""
        words = {"rnd": self.roundings, "sat": self.saturations, "part": self.parts}
        return tuple(name for name, allowed in words.items() if allowed)


@dataclass(frozen=True, slots=True)
class LanePlacement:
    """The sources of the values of a result.

    A value is a lane, except in the 4-bit formats, where a lane holds two of them (the low nibble first).
    """

    sources: tuple[int | None, ...]
    """Per value of the result: the number of the source value it is converted from, or None for a zero."""
    gates: tuple[int | None, ...]
    """Per value of the result: the bit of the 256-bit predicate that decides it, namely that of its source lane."""


_PAIRS: dict[str, str] = {
    "f32 f16": "rnd sat part",
    "f32 bf16": "rnd sat part",
    "f32 si16": "rnd sat part",
    "f32 si32": "rnd sat",
    "f32 si64": "rnd sat part",
    "f16 f32": "part",
    "f16 si32": "rnd part",
    "f16 si16": "rnd sat",
    "f16 si8": "rnd sat part",
    "f16 ui8": "rnd sat part",
    "bf16 f16": "rnd sat",
    "bf16 f32": "part",
    "bf16 si32": "rnd sat part",
    "ui8 f16": "part",
    "ui8 ui16": "part",
    "ui8 ui32": "part",
    "si8 f16": "part",
    "si8 si16": "part",
    "si8 si32": "part",
    "ui16 ui8": "sat part",
    "ui16 ui32": "part",
    "si16 f16": "rnd",
    "si16 f32": "part",
    "si16 ui8": "sat part",
    "si16 ui32": "part",
    "si16 si32": "part",
    "ui32 ui8": "sat part",
    "ui32 ui16": "sat part",
    "ui32 si16": "sat part",
    "si32 f32": "rnd",
    "si32 ui8": "sat part",
    "si32 ui16": "sat part",
    "si32 si16": "sat part",
    "si32 si64": "part",
    "si64 f32": "rnd part",
    "si64 si32": "sat part",
    "f32 f8E4M3FN": "rnd:RAHZ sat part",
    "f32 f8E5M2": "rnd:RAHZ sat part",
    "f32 hif8": "rnd:AH sat part",
    "f16 f8E4M3FN": "rnd:RAFZC sat part",
    "f16 f8E5M2": "rnd:RAFZC sat part",
    "f16 hif8": "rnd:AH sat part",
    "bf16 f8E4M3FN": "rnd:RAFZC sat part",
    "bf16 f8E5M2": "rnd:RAFZC sat part",
    "bf16 f4E1M2x2": "rnd:RAFZC part",
    "bf16 f4E2M1x2": "rnd:RAFZC part",
    "f8E4M3FN f32": "part",
    "f8E5M2 f32": "part",
    "hif8 f32": "part",
    "f4E1M2x2 bf16": "part",
    "f4E2M1x2 bf16": "part",
}
"""The attributes of each pair, and the rounding modes where they are not the ordinary ones."""


def _conversion(pair: str, attributes: str) -> Conversion:
    source, dest = pair.split()
    words = {name: modes for name, _, modes in (word.partition(":") for word in attributes.split())}
    roundings = tuple(words["rnd"] or _ORDINARY) if "rnd" in words else ()
    fewer, more = sorted((_units(source, dest), _units(dest, source)))
    parts = (HALVES if more // fewer == 2 else QUARTERS) if "part" in words else ()
    return Conversion(source, dest, roundings, SATURATIONS if "sat" in words else (), parts)


def values_per_lane(kind: Element) -> int:
    """Two in the packed 4-bit formats, the low nibble first."""
    return 2 if kind.name in FOUR_BITS else 1


def _values_per_unit(source: str, dest: str) -> int:
    """Values that move together: two when one side packs two of them into a lane."""
    return max(values_per_lane(element(source)), values_per_lane(element(dest)))


def _units(name: str, other: str) -> int:
    """The units of a register that is converted from or to another type."""
    return element(name).lanes * values_per_lane(element(name)) // _values_per_unit(name, other)


CONVERSIONS: dict[tuple[str, str], Conversion] = {
    (conversion.source, conversion.dest): conversion
    for conversion in (_conversion(pair, attributes) for pair, attributes in _PAIRS.items())
}


def conversion(source: Element, dest: Element) -> Conversion | None:
    """The entry of the matrix for two element types, or None where there is no such conversion."""
    return CONVERSIONS.get((_signed(source.name), _signed(dest.name)))


def _signed(name: str) -> str:
    return f"s{name}" if name in ("i8", "i16", "i32", "i64") else name


@cache
def placement(pair: Conversion, part: str | None) -> LanePlacement:
    """The lane map of a conversion; `part` is None for one that keeps the width."""
    units = _unit_sources(_units(pair.source, pair.dest), _units(pair.dest, pair.source), part)
    group = range(_values_per_unit(pair.source, pair.dest))
    sources = tuple(None if unit is None else unit * len(group) + within for unit in units for within in group)
    return LanePlacement(sources, tuple(_gate(pair.source, value) for value in sources))


def _unit_sources(count: int, dest_count: int, part: str | None) -> list[int | None]:
    """Per unit of the result, the unit of the source that it comes from."""
    first = 0 if part is None else (HALVES if part in HALVES else QUARTERS).index(part)
    if dest_count <= count:
        step = count // dest_count
        return [step * unit + first for unit in range(dest_count)]
    step = dest_count // count
    return [unit // step if unit % step == first else None for unit in range(dest_count)]


def _gate(source: str, value: int | None) -> int | None:
    """A lane is decided by the lowest of as many bits as it has bytes."""
    return None if value is None else value // values_per_lane(element(source)) * element(source).bytes


EFFECTS: dict[str, Effects] = (
    table(Pipe.V, Taint.ELEMENTWISE, {"convert_float": "vcvt", "round": "vtrc", "multiply_convert": "vmulscvt"})
    | table(Pipe.V, Taint.MOVEMENT, {"rename": "vbitcast"})
    | table(Pipe.V, Taint.NONE, {"index": "vci"})
)
