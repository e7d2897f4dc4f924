"""Rules that moves, products, FIFOs and communication share: where a tile lies, how it is laid out, its elements.

Each is a small check that yields a problem at the type written for a role: what was expected, and what was found. The
rules of vector operations are with those operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from xdsl.ir import Attribute, SSAValue

from ptosim.effects.names import Space
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.tile_buf import Layout, TileBuf
from ptosim.language.tile_operation import TileOperation
from ptosim.language.tile_types import View, tile_of, view_of
from ptosim.language.types import PtrType, element_name, element_of

LAYOUT_FIELDS: dict[str, str] = {
    "ND": "row_major, none_box",
    "DN": "col_major, none_box",
    "NZ": "col_major, row_major boxes",
    "ZN": "row_major, col_major boxes",
    "ZZ": "row_major, row_major boxes",
    "NN": "col_major, col_major boxes",
}

FLOAT8 = frozenset({"f8E4M3FN", "f8E5M2"})
FLOAT4 = frozenset({"f4E1M2x2", "f4E2M1x2"})
MX_BLOCK = 32
"""Values of an MX operand that share one scale."""
LOW_PRECISION = FLOAT8 | FLOAT4 | {"hif8", "f8E8M0", "hif8x2", "bf16x2"}


def element_word(tile: TileBuf) -> str:
    """The name of the elements of a tile, whatever the sign of integers: `i8` for ui8."""
    return unsigned_name(tile.element)


def unsigned_name(type_: Attribute) -> str:
    return (element_name(type_) or str(type_)).removeprefix("u").removeprefix("s")


def lies_in(op: TileOperation, role: str, *locations: str, on: str = "") -> Iterator[Problem]:
    """A tile is in one of these memories; `on` names the machine or form that wants it."""
    if (found := op.tile(role).loc) not in locations:
        yield Problem(f"{role} must be in {' or '.join(locations)}{on}, not {found}", at=f"{role}_type")


def is_laid_out(op: TileOperation, role: str, *layouts: Layout, on: str = "") -> Iterator[Problem]:
    """A tile has one of these layouts."""
    if (found := op.tile(role).layout) not in layouts:
        expected = " or ".join(f"{name} ({LAYOUT_FIELDS[name]})" for name in layouts)
        yield Problem(f"{role} must be laid out as {expected}{on}, not {found}", at=f"{role}_type")


def holds(op: TileOperation, role: str, elements: Iterable[str], on: str = "") -> Iterator[Problem]:
    """A tile has elements of one of these types, integers of any sign."""
    known = sorted(elements)
    if element_word(op.tile(role)) not in known:
        found = element_name(op.tile(role).element)
        yield Problem(f"{role} must have elements of {', '.join(known)}{on}, not {found}", at=f"{role}_type")


def same_element(op: TileOperation, role: str, other: str) -> Iterator[Problem]:
    """Two tiles have one element type, sign included."""
    expected, found = op.tile(other).element, op.tile(role).element
    if found != expected:
        yield Problem(f"{role} must have elements of {expected} like {other}, not {found}", at=f"{role}_type")


def same_width(op: TileOperation, role: str, other: str) -> Iterator[Problem]:
    """Two tiles or views have elements of one size in bytes."""
    expected, found = width(op, other), width(op, role)
    if found != expected:
        message = f"{role} has elements of {found} bytes, but those of {other} have {expected}"
        yield Problem(message, at=f"{role}_type")


def width(op: TileOperation, role: str) -> int:
    return element_of(element_at(op, role)).bytes


def element_at(op: TileOperation, role: str) -> Attribute:
    """The element type of a tile or view."""
    type_ = op.segment(role)[0].type
    described = tile_of(type_) or view_of(type_)
    assert described is not None, "the kinds of operands are checked before the rules"
    return described.element


def view_at(op: TileOperation, role: str) -> View:
    """The view that plays a role."""
    view = view_of(op.segment(role)[0].type)
    assert view is not None, "the kinds of operands are checked before the rules"
    return view


def has_elements(op: TileOperation, role: str) -> Iterator[Problem]:
    """No extent of a view is known to be zero."""
    if 0 in (shape := view_at(op, role).shape):
        yield Problem(f"{role} is {times(shape)}; the extents of a view are positive", at=f"{role}_type")


def static_view(op: TileOperation, place: str, view: View) -> Iterator[Problem]:
    """Every extent of a view is known, and positive."""
    if None in view.shape:
        yield Problem(f"{place} of {op.name} must have a static shape, not {times(view.shape)}", at=f"{place}_type")
    elif 0 in view.shape:
        yield Problem(f"{place} is {times(view.shape)}; the extents of a view are positive", at=f"{place}_type")


def written_layout(view: SSAValue) -> str | None:
    """The layout that is written for the tensor of a view, or None where none is."""
    owner = view.owner
    while isinstance(owner, PTOOperation) and owner.name == "pto.partition_view":
        owner = owner.operands[0].owner
    return owner.word("layout") if isinstance(owner, PTOOperation) else None


def same_shape(op: TileOperation, role: str, other: str) -> Iterator[Problem]:
    """Two tiles have the same rows and columns."""
    expected, found = op.tile(other).shape, op.tile(role).shape
    if found != expected:
        message = f"{role} must be {times(expected)} like {other}, not {times(found)}"
        yield Problem(message, at=f"{role}_type")


def same_valid(op: TileOperation, role: str, other: str) -> Iterator[Problem]:
    """Two tiles have the same valid region, as far as it is known."""
    expected, found = op.tile(other).valid, op.tile(role).valid
    if not agree(found, expected):
        message = f"{role} must have the valid region {times(expected)} of {other}, not {times(found)}"
        yield Problem(message, at=f"{role}_type")


def agree(first: Iterable[int | None], second: Iterable[int | None]) -> bool:
    """Whether two shapes are equal where both are known."""
    return all(one == other or one is None or other is None for one, other in zip(first, second, strict=True))


def times(shape: Iterable[int | None]) -> str:
    """`16x?`."""
    return "x".join("?" if extent is None else str(extent) for extent in shape)


def count(shape: Iterable[int | None]) -> int | None:
    """The elements of a shape, or None where an extent is not known."""
    extents = tuple(shape)
    return None if None in extents else prod(extent for extent in extents if extent is not None)


def global_element(type_: Attribute) -> Attribute | None:
    """The element type of a pointer into GM or a view of GM; None for any other type."""
    if isinstance(type_, PtrType):
        return type_.element if type_.space is Space.GM else None
    view = view_of(type_)
    return None if view is None else view.element
