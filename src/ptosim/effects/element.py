"""Element types by their MLIR name: width, kind, and what follows from the width for a 256-byte vector register.

Names carry no dialect prefix (`hif8`, not `!pto.hif8`). Which instruction accepts which type is the business of the
operation classes; how a value of a type is computed, that of the engines.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

VECTOR_BYTES = 256
GRANULE = 32
"""Bytes of the unit in which memories on the chip are addressed and copied."""
BLOCKS = VECTOR_BYTES // GRANULE
"""The blocks of a register, by which block reductions, block strides and gathers of blocks go."""

Kind = Literal["signed", "unsigned", "float", "lowprecision", "packed"]
Granularity = Literal["b8", "b16", "b32"]


@dataclass(frozen=True, slots=True)
class Element:
    """One element type. A signless `iN` is signed wherever signedness matters."""

    name: str
    bits: int
    kind: Kind
    count: int = 1
    """The number of elements in a packed one; element 0 lies in the low bytes."""
    part: "Element | None" = None
    """The type of each of them."""

    @property
    def bytes(self) -> int:
        """Bytes in memory; `i1` and the 4-bit integers take a whole one."""
        return (self.bits + 7) // 8

    @property
    def is_float(self) -> bool:
        """A float to compute with; low-precision payloads are only moved and converted."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("signed", "unsigned")

    @property
    def lanes(self) -> int:
        """Elements in one vector register."""
        return VECTOR_BYTES // self.bytes

    @property
    def mask_granularity(self) -> Granularity:
        """The mask type that governs vectors of this element; 64-bit lanes are governed by a b32 mask."""
        return _GRANULARITIES[self.bytes]


_GRANULARITIES: dict[int, Granularity] = {1: "b8", 2: "b16", 4: "b32", 8: "b32"}

_BITS: tuple[tuple[Kind, dict[str, int]], ...] = (
    ("signed", {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}),
    ("signed", {"si4": 4, "si8": 8, "si16": 16, "si32": 32, "si64": 64}),
    ("unsigned", {"ui8": 8, "ui16": 16, "ui32": 32, "ui64": 64}),
    ("float", {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}),
    ("lowprecision", {"f8E4M3FN": 8, "f8E5M2": 8, "f8E8M0": 8, "hif8": 8}),
    # Packed pairs: one element is two values, the even one in the low half.
    ("lowprecision", {"f4E1M2x2": 8, "f4E2M1x2": 8, "hif8x2": 16, "bf16x2": 32}),
)

ELEMENTS: dict[str, Element] = {name: Element(name, bits, kind) for kind, row in _BITS for name, bits in row.items()}


MOST_PACKED = 16
"""Elements of a packed value."""
_PACKED = re.compile(r"vector<(\d+)x(\w+)>")


def element(name: str) -> Element:
    """The element type of that name; `KeyError` for a name that is none."""
    found = ELEMENTS.get(name) or _packed(name)
    if found is None:
        raise KeyError(name)
    return found


@cache
def _packed(name: str) -> Element | None:
    """`vector<2xf16>`: several scalars that are loaded, stored and computed with as one value of a workitem."""
    found = _PACKED.fullmatch(name)
    part = ELEMENTS.get(found[2]) if found is not None else None
    if found is None or part is None or not 1 <= int(found[1]) <= MOST_PACKED:
        return None
    return Element(name, int(found[1]) * 8 * part.bytes, "packed", int(found[1]), part)
