"""Rules about memories and layouts of tiles and views, shared by moves, products, FIFOs and communication.

The memories of the operands decide most demands of these operations, so the rules are asked one by one, unlike the
checks of tile_rules.py, which a family of vector operations lists once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ptosim.effects.fractal import SCALE_GROUP
from ptosim.effects.names import Space
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.rules.tile_rules import at_type, extents, name_of
from ptosim.language.tile.tensor_view import PartitionView
from ptosim.language.tile.tile_buf import Layout, TileBuf
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import ViewExtents, tile_of, view_of
from ptosim.language.types import PtrType, element_of

LAYOUT_FIELDS: dict[Layout, str] = {
    "ND": "row_major, none_box",
    "DN": "col_major, none_box",
    "NZ": "col_major, row_major boxes",
    "ZN": "row_major, col_major boxes",
    "ZZ": "row_major, row_major boxes",
    "NN": "col_major, col_major boxes",
}

FLOAT8 = frozenset({"f8E4M3FN", "f8E5M2"})
FLOAT4 = frozenset({"f4E1M2x2", "f4E2M1x2"})
LOW_PRECISION = FLOAT8 | FLOAT4 | {"hif8", "f8E8M0", "hif8x2", "bf16x2"}


# --- tiles ------------------------------------------------------------------------------------------------------------


def lies_in(op: TileOperation, role: str, *locations: str, on: str = "") -> Iterator[Problem]:
    """A tile is in one of these memories; `on` names the machine or form that wants it."""
    if (found := op.tile(role).loc) not in locations:
        yield at_type(op, role, f"in {' or '.join(locations)}{on}", found)


def is_laid_out(op: TileOperation, role: str, *layouts: Layout, on: str = "") -> Iterator[Problem]:
    """A tile has one of these layouts."""
    if (found := op.tile(role).layout) not in layouts:
        expected = " or ".join(f"{name} ({LAYOUT_FIELDS[name]})" for name in layouts)
        yield at_type(op, role, f"to be laid out as {expected}{on}", found)


def holds(op: TileOperation, role: str, elements: Iterable[str], on: str = "") -> Iterator[Problem]:
    """A tile has elements of one of these types, integers of any sign."""
    known = sorted(elements)
    if element_word(op.tile(role)) not in known:
        yield at_type(op, role, f"to have elements of {', '.join(known)}{on}", name_of(op.tile(role).element))


def scales(op: TileOperation, role: str, operand: str, axis: int) -> Iterator[Problem]:
    """A tile has one scale for 32 values of an operand along an axis; of all of it, or of its valid region."""
    tile, values = op.tile(role), op.tile(operand)
    whole, valid = (
        [_blocks(extent) if index == axis else extent for index, extent in enumerate(shape)]
        for shape in (values.shape, values.valid)
    )
    if any(extent not in known for extent, *known in zip(tile.shape, whole, valid, strict=True)):
        expected = f"to be {extents(whole)}, one scale for {SCALE_GROUP} values of {operand}"
        yield at_type(op, role, expected, extents(tile.shape))


def _blocks(values: int | None) -> int | None:
    return None if values is None else -(-values // SCALE_GROUP)


def element_word(tile: TileBuf) -> str:
    """The name of the elements of a tile, whatever the sign of integers: `i8` for ui8."""
    return unsigned_name(tile.element)


def signed_word(type_: Attribute) -> str:
    """The name of an element type; signed and signless integers share one."""
    return name_of(type_).removeprefix("s")


def unsigned_name(type_: Attribute) -> str:
    return name_of(type_).removeprefix("u").removeprefix("s")


# --- tiles and views --------------------------------------------------------------------------------------------------


_ATOMIC = ("f32", "f16", "bf16", "i32", "i16", "i8")
"""The types that GM adds element by element."""


def may_be_added_to(op: TileOperation, role: str) -> Iterator[Problem]:
    """A view that atomic_add adds to."""
    found = name_of(element_at(op, role))
    if op.setting("atomicType") == "atomic_add" and found.removeprefix("s") not in _ATOMIC:
        yield at_type(op, role, f"of atomic_add to have elements of {', '.join(_ATOMIC)}", found)


def element_at(op: TileOperation, role: str) -> Attribute:
    """The element type of a tile or view."""
    type_ = op.segment(role)[0].type
    described = tile_of(type_) or view_of(type_)
    assert described is not None, "the kinds of operands are checked before the rules"
    return described.element


def same_elements(op: TileOperation, role: str, other: str) -> Iterator[Problem]:
    """A tile or view has the element type of another."""
    expected, found = element_at(op, other), element_at(op, role)
    if found != expected:
        yield at_type(op, role, f"to have elements of {name_of(expected)} like {other}", name_of(found))


def same_width(op: TileOperation, role: str, other: str) -> Iterator[Problem]:
    """A tile or view has elements of as many bytes as another."""
    expected, found = (element_of(element_at(op, each)).bytes for each in (other, role))
    if found != expected:
        yield at_type(op, role, f"to have elements of {expected} bytes like {other}", f"of {found}")


# --- views ------------------------------------------------------------------------------------------------------------


def view_at(op: TileOperation, role: str) -> ViewExtents:
    """The view that plays a role."""
    view = view_of(op.segment(role)[0].type)
    assert view is not None, "the kinds of operands are checked before the rules"
    return view


def has_elements(op: TileOperation, role: str) -> Iterator[Problem]:
    """No extent of a view is known to be zero."""
    if 0 in (shape := view_at(op, role).shape):
        yield at_type(op, role, "to have positive extents", extents(shape))


def static_view(op: TileOperation, place: str, view: ViewExtents) -> Iterator[Problem]:
    """Every extent of a view is known, and positive."""
    if None in view.shape or 0 in view.shape:
        yield at_type(op, place, "to have static positive extents", extents(view.shape))


def count(shape: Iterable[int | None]) -> int | None:
    """The elements of a shape, or None where an extent is not known."""
    known = tuple(shape)
    return None if None in known else prod(extent for extent in known if extent is not None)


def tensor_of(view: SSAValue) -> Operation | Block:
    """The definition of the tensor that a view is a part of."""
    owner = view.owner
    while isinstance(owner, PartitionView):
        owner = owner.operands[0].owner
    return owner


def written_layout(view: SSAValue) -> str | None:
    """The layout that is written for the tensor of a view, or None where none is."""
    owner = tensor_of(view)
    return owner.word("layout") if isinstance(owner, PTOOperation) else None


def in_gm(op: PTOOperation, role: str) -> Iterator[Problem]:
    """An operand, as far as it is there, is a pointer into GM or a view of GM."""
    for value in op.segment(role):
        type_ = value.type
        if isinstance(type_, PtrType) and type_.space is not Space.GM:
            yield Problem(f"{role} must point to gm, not {type_.space}", at=role)
        elif not isinstance(type_, PtrType) and view_of(type_) is None:
            yield Problem(f"{role} must be a pointer to gm or a view of it, not {type_}", at=role)
