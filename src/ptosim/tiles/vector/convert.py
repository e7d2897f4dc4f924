"""Conversions: a table of pairs of element types, each a chain of conversions of logical vectors.

A vector has as many lanes as fit into a register in the widest type on the way. Where values do not fit, a pair clamps
or wraps as the table says, whatever `satmode` is, but ON clamps always.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from xdsl.dialects.builtin import f32, i16, i32
from xdsl.ir import Attribute

from ptosim.effects.conversion import conversion
from ptosim.effects.element import VECTOR_BYTES
from ptosim.language.builder import Builder
from ptosim.language.tile.tile_buf import is_fp4
from ptosim.language.tile.tile_vector_select import TCvt
from ptosim.language.types import BF16x2Type, element_of
from ptosim.tiles.lowering import lowering
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.elementwise_scope import computed
from ptosim.tiles.vector.formula import instruction
from ptosim.tiles.vector.lane_walk import RegisterAccess, each_register
from ptosim.tiles.vector.logical_rows import LogicalLanes, TileVectors, of_element, with_known_sign
from ptosim.tiles.vector.registers import with_sign
from ptosim.tiles.vector.row_view import in_rows

_ROUNDINGS = {
    **dict.fromkeys(("NONE", "RINT", "CAST_RINT"), "R"),
    "ROUND": "A",
    "FLOOR": "F",
    "CEIL": "C",
    "TRUNC": "Z",
    "ODD": "O",
}


@dataclass(frozen=True)
class _Pair:
    """The conversion of one element type into another; without steps in between by one conversion."""

    wraps: bool = False
    """Whether values that do not fit keep their low bits."""
    through: Attribute | None = None
    """The type in between, where one conversion does not do it."""
    rounding: str | None = None
    """The only rounding, whatever `rmode` says."""
    clamps: bool = True
    """Whether infinities and values that do not fit become the largest number."""
    positive: bool = False
    """Whether negative values are made zero first: the conversion would keep their bits."""


_WORD = with_sign(i32, "signed")
_PLAIN = _Pair()
_WRAPS = _Pair(wraps=True)

_PAIRS: dict[str, dict[str, _Pair]] = {
    "f32": {
        "si16": _Pair(wraps=True, through=_WORD),
        **dict.fromkeys(("si32", "si64", "f16", "bf16", "f8E4M3FN", "f8E5M2"), _PLAIN),
        "hif8": _Pair(rounding="A", clamps=False),
    },
    "f16": {
        **dict.fromkeys(("f32", "si32"), _PLAIN),
        "si16": _Pair(wraps=True, through=_WORD),
        **dict.fromkeys(("si8", "ui8"), _WRAPS),
        "hif8": _Pair(rounding="A", clamps=False),
    },
    "bf16": dict.fromkeys(("f32", "si32", "f16", "f4E1M2x2", "f4E2M1x2"), _PLAIN),
    "si64": {"si32": _WRAPS, "f32": _PLAIN},
    "si32": {
        "si16": _WRAPS,
        **dict.fromkeys(("f32", "ui16", "ui8", "si64"), _PLAIN),
        "f16": _Pair(through=f32, rounding="R"),
    },
    "ui32": dict.fromkeys(("si16", "ui16", "ui8"), _PLAIN),
    "si16": {**dict.fromkeys(("f16", "f32", "si32", "ui8"), _PLAIN), "ui32": _Pair(positive=True)},
    "ui16": dict.fromkeys(("ui32", "ui8"), _PLAIN),
    "si8": dict.fromkeys(("f16", "si16", "si32"), _PLAIN),
    "ui8": dict.fromkeys(("f16", "ui16", "ui32"), _PLAIN),
    **{low: {"f32": _PLAIN} for low in ("f8E4M3FN", "f8E5M2", "hif8")},
    **{low: {"bf16": _PLAIN} for low in ("f4E1M2x2", "f4E2M1x2")},
}
"""By source and result; integers without a sign are signed."""


@lowering(TCvt)
def tcvt(build: Builder, src: Tile, dst: Tile, rmode: str, satmode: str) -> None:
    rnd = _ROUNDINGS[rmode]
    if src.kind.name == dst.kind.name == "f32":
        _whole_numbers(build, src, dst, rnd)
        return
    pair = _pair(src, dst)
    src, dst = (of_element(tile, with_known_sign(tile.element)) for tile in (src, dst))
    steps = list(_steps(src, dst, pair, pair.rounding or rnd, satmode == "ON"))
    if is_fp4(src.element) or is_fp4(dst.element):  # a byte of them is a pair of bf16
        src, dst = _pairs_as_words(build, src), _pairs_as_words(build, dst)
    source, result = in_rows(src, dst)
    width = max(tile.kind.bytes for tile in (source, result))
    v = TileVectors.of(build, max(width, *(element_of(step.result).bytes for step in steps)))

    def step(here: RegisterAccess) -> None:
        found = v.load(here, source)
        if pair.positive:
            found = v.op("vmaxs", found, build.constant(0, i16), v.everything())
        for one in steps[:-1]:
            found = v.convert(found, one.result, one.rnd, one.sat)
        v.store(here, result, v.convert(found, result.element, steps[-1].rnd, steps[-1].sat))

    build.scope(lambda: each_register(build, (result, source), step, VECTOR_BYTES // v.lanes, LogicalLanes))


def _whole_numbers(build: Builder, src: Tile, dst: Tile, rnd: str) -> None:
    """f32 to f32 rounds to whole numbers."""
    if rnd == "O":
        raise Refused("f32 is not rounded to odd whole numbers: pto.vtrc knows no such rounding", "rmode", "invalid")
    computed(build, instruction("vtrc", rnd=rnd), dst, src)


# --- what a pair becomes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Step:
    """One conversion, with the words that it takes."""

    result: Attribute
    rnd: str | None
    sat: str | None


def _pair(src: Tile, dst: Tile) -> _Pair:
    known = _PAIRS.get(_signed(src), {})
    if _signed(dst) not in known:
        targets = f"from {src.kind.name} it converts to {', '.join(known)}" if known else "it converts nothing from it"
        raise Refused(f"pto.tcvt does not convert {src.kind.name} to {dst.kind.name}; {targets}", "dst_type")
    return known[_signed(dst)]


def _signed(tile: Tile) -> str:
    name = tile.kind.name
    return f"s{name}" if tile.kind.is_integer and name.startswith("i") else name


def _steps(src: Tile, dst: Tile, pair: _Pair, rnd: str, clamped: bool) -> Iterator[_Step]:
    """The conversions of a pair; one that would wrap and has to clamp is a single one."""
    wraps = pair.wraps and not clamped
    through = [pair.through] if pair.through is not None and not (pair.wraps and clamped) else []
    elements = [src.element, *through, dst.element]
    for source, result in pairwise(elements):
        known = conversion(element_of(source), element_of(result))
        assert known is not None, f"{source} to {result}"
        if known.roundings and rnd not in known.roundings:
            message = (
                f"a conversion from {known.source} to {known.dest} rounds as {', '.join(known.roundings)}, not {rnd}"
            )
            raise Refused(message, "rmode", "invalid")
        sat = "NOSAT" if wraps or not pair.clamps else "SAT"
        yield _Step(
            result,
            rnd if known.roundings else None,
            sat if known.saturations else None,
        )


# --- elements ---------------------------------------------------------------------------------------------------------


def _pairs_as_words(build: Builder, tile: Tile) -> Tile:
    """A tile of bf16 as one of pairs."""
    if is_fp4(tile.element):
        return tile
    buf = replace(tile.buf, element=BF16x2Type(), cols=tile.buf.cols // 2)
    valid, storage = (tile.rows, build.quotient(tile.cols, 2)), (tile.storage[0], tile.storage[1] // 2)
    return replace(tile, buf=buf, valid=valid, storage=storage)
