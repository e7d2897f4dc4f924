"""Predicate registers: which bit goes where, as static tables over the 256 bits of the register.

Patterns, pack and interleave, the layouts of predicate loads and stores. A lane of granularity b8, b16 or b32 has 1, 2
or 4 bits, of which the lowest decides and the others are carried along. Computing with masks is left to the engines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ptosim.effects.element import Granularity
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named, table

PREDICATE_BITS = 256

STRIDES: dict[Granularity, int] = {"b8": 1, "b16": 2, "b32": 4}
"""Bits per lane."""

Table = tuple[int, ...]

NOTHING = -1
"""This bit becomes zero."""

# --- patterns ---------------------------------------------------------------------------------------------------------

_FIRST_LANES = {f"PAT_VL{count}": count for count in (1, 2, 3, 4, 8, 16, 32, 64, 128)}

_PATTERNS: dict[str, Callable[[int, int], bool]] = {
    "PAT_ALL": lambda lane, lanes: True,
    **{name: lambda lane, lanes, count=count: lane < count for name, count in _FIRST_LANES.items()},
    "PAT_M3": lambda lane, lanes: lane % 3 == 0,
    "PAT_M4": lambda lane, lanes: lane % 4 == 0,
    # The low half and quarter, as expected results show; the prose of older pages says the high ones.
    "PAT_H": lambda lane, lanes: lane < lanes // 2,
    "PAT_Q": lambda lane, lanes: lane < lanes // 4,
    "PAT_ALLF": lambda lane, lanes: False,
}

PATTERNS = tuple(_PATTERNS)
"""The patterns of pset and pge."""


def pattern_lanes(pattern: str, granularity: Granularity) -> tuple[bool, ...]:
    """The lanes that a pattern makes active. A pattern that names more lanes than there are means all."""
    lanes = PREDICATE_BITS // STRIDES[granularity]
    return tuple(_PATTERNS[pattern](lane, lanes) for lane in range(lanes))


# --- movements between predicate registers ----------------------------------------------------------------------------

_HALF = PREDICATE_BITS // 2
_EVEN_BITS = tuple(range(0, PREDICATE_BITS, 2))
_NOTHING_HALF = (NOTHING,) * _HALF

PACK: dict[str, Table] = {"LOWER": _EVEN_BITS + _NOTHING_HALF, "HIGHER": _NOTHING_HALF + _EVEN_BITS}
"""ppack by part: for each bit of the result the bit of the source."""

UNPACK: dict[str, Table] = {
    part: tuple(bit for source in range(start, start + _HALF) for bit in (source, NOTHING))
    for part, start in (("LOWER", 0), ("HIGHER", _HALF))
}
"""punpack by part: for each bit of the result the bit of the source."""


def _lane_bits(lanes: list[int], stride: int) -> Table:
    return tuple(lane * stride + bit for lane in lanes for bit in range(stride))


def _halves(lanes: list[int], stride: int) -> tuple[Table, Table]:
    middle = len(lanes) // 2
    return _lane_bits(lanes[:middle], stride), _lane_bits(lanes[middle:], stride)


def _interleave(stride: int) -> tuple[Table, Table]:
    lanes = PREDICATE_BITS // stride
    return _halves([source for lane in range(lanes) for source in (lane, lanes + lane)], stride)


def _deinterleave(stride: int) -> tuple[Table, Table]:
    lanes = PREDICATE_BITS // stride
    return _halves([*range(0, 2 * lanes, 2), *range(1, 2 * lanes, 2)], stride)


INTERLEAVE: dict[Granularity, tuple[Table, Table]] = {name: _interleave(stride) for name, stride in STRIDES.items()}
"""pintlv: for each bit of the low and the high result the bit of the sources, those of the second from 256 on."""

DEINTERLEAVE: dict[Granularity, tuple[Table, Table]] = {name: _deinterleave(stride) for name, stride in STRIDES.items()}
"""pdintlv: for each bit of the low and the high result the bit of the sources, those of the second from 256 on."""

# --- memory -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PredicateMode:
    """The layout of a predicate in memory. Bit n of memory is bit n % 8 of byte n // 8."""

    name: str
    footprint: int
    """Bytes read or written."""
    unit: int
    """Bytes that the address is a multiple of, and that the offset of the immediate forms counts."""
    bits: Table
    """For a load the memory bit of each predicate bit, for a store the predicate bit of each memory bit."""


def _by_name(*modes: PredicateMode) -> dict[str, PredicateMode]:
    return {mode.name: mode for mode in modes}


LOAD_MODES = _by_name(
    PredicateMode("NORM", 32, 32, tuple(range(PREDICATE_BITS))),
    PredicateMode("US", 16, 16, tuple(bit // 2 for bit in range(PREDICATE_BITS))),
    PredicateMode("DS", 64, 32, tuple(2 * bit for bit in range(PREDICATE_BITS))),
)
"""The dist modes of plds and pldi."""

STORE_MODES = _by_name(
    PredicateMode("NORM", 32, 32, tuple(range(PREDICATE_BITS))), PredicateMode("PK", 16, 16, _EVEN_BITS)
)
"""The dist modes of psts and psti."""

STREAM_BITS: dict[Granularity, Table] = {
    name: tuple(range(0, PREDICATE_BITS, stride)) for name, stride in STRIDES.items() if name != "b8"
}
"""pstu: the predicate bit of each bit that it appends to its stream, one for each lane."""


def stream_bytes(granularity: Granularity) -> int:
    """The number of bytes that one pstu appends."""
    return len(STREAM_BITS[granularity]) // 8


# --- records ----------------------------------------------------------------------------------------------------------

_GRANULARITIES: dict[int, Granularity] = {stride: name for name, stride in STRIDES.items()}


def _moving(direction: Literal["read", "write"], immediate: bool) -> Callable[[Static], tuple[Access, ...]]:
    is_load = direction == "read"
    modes, base, touch = (LOAD_MODES, "source", "used") if is_load else (STORE_MODES, "dest", "always")

    def accesses(static: Static) -> tuple[Access, ...]:
        mode = modes[static.words["dist"]]
        scale = mode.unit if immediate else 1

        def extent(operands: Any) -> Extent:
            # With an updated base the offset is what the base advances by, not part of the address.
            low = 0 if "next" in static.present else operands.offset * scale
            return low, low + mode.footprint

        return (Access(direction, Space.UB, base, extent, mode.unit, touch, map=mode),)

    return accesses


def _pstu(static: Static) -> tuple[Access, ...]:
    """The bytes that it adds to its stream; `vector_stream.append` says when they reach memory."""
    size = stream_bytes(_GRANULARITIES[static.mask_strides["value"]])
    return (Access("write", Space.UB, "dest", lambda operands: (0, size), reach="unknown"),)


def _sized(*names: str) -> str:
    return " ".join(f"{name}_{granularity}" for name in names for granularity in STRIDES)


EFFECTS: dict[str, Effects] = {
    # A scalar that decides a mask is a use of it, so nothing flows further.
    **table(Pipe.V, Taint.NONE, {"mask": _sized("pset", "pge", "plt", "pltm")}),
    **table(Pipe.V, Taint.ELEMENTWISE, {"mask": "pand por pxor pnot psel"}),
    **table(Pipe.V, Taint.MOVEMENT, {"mask": f"ppack punpack {_sized('pintlv', 'pdintlv')}", "rename": "pbitcast"}),
    **named(
        Effects("pto.plds", Pipe.V, "mask_load", Taint.MOVEMENT, _moving("read", immediate=False)),
        Effects("pto.pldi", Pipe.V, "mask_load", Taint.MOVEMENT, _moving("read", immediate=True)),
        Effects("pto.psts", Pipe.V, "mask_store", Taint.MOVEMENT, _moving("write", immediate=False)),
        Effects("pto.psti", Pipe.V, "mask_store", Taint.MOVEMENT, _moving("write", immediate=True)),
        Effects("pto.pstu", Pipe.V, "mask_store", Taint.MOVEMENT, _pstu),
    ),
}
