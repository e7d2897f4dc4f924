"""Shared code of lowerings of matrix tiles: extents that are not zero, and conditions on starts of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_types import TileBufType
from ptosim.tiles.refusal import Refused
from ptosim.tiles.run_conditions import require

ROWS = 16
"""Rows of a fractal, and columns of a group of accumulators."""


def where_some(build: Builder, extents: Sequence[Number], body: Callable[[], None]) -> None:
    """Build what moves or multiplies so many rows and columns: nothing where one of them is zero."""
    if any(known(extent) == 0 for extent in extents):
        return
    conditions = [build.compare("sgt", extent, 0) for extent in extents if known(extent) is None]
    if not conditions:
        body()
        return
    some = conditions[0]
    for condition in conditions[1:]:
        some = build.op("arith.andi", lhs=some, rhs=condition, result=some.type)
    build.choose(some, body)


def up(build: Builder, extent: Number, unit: int) -> Number:
    """An extent rounded up to a multiple."""
    return build.times(build.ceiling(extent, unit), unit)


def common(build: Builder, valid: Number, size: Number, side: str, packed: int = 1) -> Number:
    """The common part of a valid region and a view; a view that is too small for it is remarked. An element of the
    view may be `packed` values, which the valid region counts one by one."""
    room = build.times(size, packed)
    fits = holds(build, "sle", valid, room)
    if fits is not True:
        held = build.pattern(0, i1) if fits is False else fits
        require(build, held, "lint", _too_small(build, size, side), shown=(valid, room))
    return build.most(build.least(valid, size), 0)


def _too_small(build: Builder, size: Number, side: str) -> str:
    """The remark on a view with fewer rows or columns than are valid in the tile."""
    op = build.serves
    names = [build.parsed.named(value) for value in op.operands if isinstance(value.type, TileBufType)]
    tile = (names and names[0]) or "the tile"
    stores = op.name.startswith("pto.tstore")
    verb, place = ("stores", "to") if stores else ("loads", "from")
    message = f"{verb} {{}} {side} of {tile} {place} a view of {{}} {side}"
    extent = {"rows": "valid_row", "columns": "valid_col"}.get(side)
    if extent is None:
        return message
    return f"{message}: make its {extent} {_named(build, size)}"


def _named(build: Builder, size: Number) -> str:
    """A number as the author calls it."""
    if (value := known(size)) is not None:
        return str(value)
    assert isinstance(size, SSAValue)
    return build.parsed.named(size) or "the same"


def held(build: Builder, extent: Number, room: int, message: str) -> Number:
    """An extent as far as there is room for it; that there is too little is remarked."""
    fits = holds(build, "sle", extent, room)
    remark(build, fits, message)
    return extent if fits is True else build.least(extent, room)


def must(build: Builder, predicate: str, a: Number, b: Number, kind: str, message: str, at: str | None = None) -> None:
    """Refuse what is known to be wrong; let the run stop where only it knows."""
    held = holds(build, predicate, a, b)
    if held is False:
        raise Refused(message, at, kind=kind)
    if held is not True:
        require(build, held, kind, message, fatal=True)


def is_multiple(build: Builder, value: Number, unit: int, what: str, at: str | None = None) -> None:
    """A start that the hardware counts in whole units."""
    number = known(value)
    message = f"{what} must be a multiple of {unit}" + (f", not {number}" if number is not None else "")
    must(build, "eq", build.remainder(value, unit), 0, "misaligned", message, at)


def remark(build: Builder, condition: SSAValue | bool, message: str, kind: str = "lint") -> None:
    """The finding where a condition does not hold; a run goes on."""
    if condition is not True:
        held = build.pattern(0, i1) if condition is False else condition
        require(build, held, kind, message)


def agrees(build: Builder, a: Number, b: Number) -> SSAValue | bool:
    """Whether two numbers are equal, as far as it is known."""
    return True if a is b else holds(build, "eq", a, b)


_FOLDED: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "sle": lambda a, b: a <= b,
    "sge": lambda a, b: a >= b,
    "ule": lambda a, b: a <= b,
    "ult": lambda a, b: a < b,
}


def holds(build: Builder, predicate: str, a: Number, b: Number) -> SSAValue | bool:
    """Whether two numbers compare so, as far as it is known."""
    x, y = known(a), known(b)
    if x is not None and y is not None:
        return _FOLDED[predicate](x, y)
    return build.compare(predicate, a, b)
