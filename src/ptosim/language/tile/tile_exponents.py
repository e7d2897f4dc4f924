"""The form of pto.tmov that brings the scale exponents of an MX operand to the order of the cube unit (X to ZZ).

Exponents lie in rows, one for 32 values; the cube unit wants boxes of 16 rows and 2 columns, whatever `fractal` the
destination says. `grpAxis` says along which axis the values were grouped: axis1 along columns, axis0 along rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ptosim.language.operation import Problem
from ptosim.language.rules.storage_rules import apart
from ptosim.language.rules.tile_place_rules import count, is_laid_out, lies_in
from ptosim.language.rules.tile_rules import at_type, extents, name_of, same_element
from ptosim.language.tile.tile_operation import TileOperation

_ROLES = ("src", "tmp", "dst")
_EXPONENTS = ("ui8", "hif8", "f8E8M0")
_BOX_ROWS = 16
_LINE = 64
"""Bytes of working memory besides those of the boxes."""


def exponent_rules(op: TileOperation, target: str) -> Iterator[Problem]:
    """The rules of a move with working memory; `grpAxis` is for such a move only."""
    if not op.has("tmp"):
        if op.attribute("grpAxis") is not None:
            yield Problem("grpAxis is for the move of scale exponents, which has a second tile in vec", at="grpAxis")
        return
    if target != "a5":
        yield Problem(f"a move of scale exponents does not exist on {target}", at="tmp", kind="wrong-target")
    found = list(_kinds(op, target))
    yield from found
    if not found:
        yield from _shapes(op)


def _kinds(op: TileOperation, target: str) -> Iterator[Problem]:
    """Three tiles of exponents, from rows to boxes."""
    for role in _ROLES:
        yield from lies_in(op, role, "vec", on=" in a move of scale exponents")
    yield from apart(*_ROLES)(op, target)
    if (name := name_of(op.tile("src").element)) not in _EXPONENTS:
        yield at_type(op, "src", f"to have elements of {', '.join(_EXPONENTS)}", name)
    yield from same_element("src", "tmp", "dst")(op, target)
    if op.tile("src").rows != 1:  # one row is linear, whatever its type says of boxes
        yield from is_laid_out(op, "src", "ND")
    yield from is_laid_out(op, "dst", "ZZ")
    for role in ("src", "dst"):
        if None in op.tile(role).valid:
            yield at_type(op, role, "with a static valid shape", extents(op.tile(role).valid))


def _shapes(op: TileOperation) -> Iterator[Problem]:
    """Every exponent of src has a place in dst, and the boxes have room."""
    src, dst = op.tile("src"), op.tile("dst")
    given, places = count(src.valid), count(dst.valid)
    if given != places:
        yield at_type(op, "dst", f"to have as many exponents as src, {given}", places)
    if src.rows != 1 and src.valid[1] != src.cols:
        yield at_type(op, "src", "packed, with every column valid", f"{src.valid[1]} of {src.cols} columns")
    yield from _below_each_other(op) if op.setting("grpAxis") == "axis0" else _side_by_side(op)


def _below_each_other(op: TileOperation) -> Iterator[Problem]:
    rows, cols = op.tile("src").valid
    if not rows or rows % 2:
        yield at_type(op, "src", "of axis0 with an even number of valid rows", rows)
    if not cols or cols % _BOX_ROWS:
        yield at_type(op, "src", f"of axis0 with a multiple of {_BOX_ROWS} valid columns", cols)


def _side_by_side(op: TileOperation) -> Iterator[Problem]:
    rows, cols = (extent or 0 for extent in op.tile("dst").valid)
    if cols % 2:
        yield at_type(op, "dst", "with an even number of valid columns", cols)
    boxes = -(-rows // _BOX_ROWS)
    needed = cols if op.tile("dst").rows == 1 else boxes * _BOX_ROWS * cols
    for role, least in (("src", needed), ("dst", needed), ("tmp", _LINE + boxes * cols)):
        if (found := prod(op.tile(role).shape)) < least:
            yield at_type(op, role, f"to have room for {least} exponents", found)
