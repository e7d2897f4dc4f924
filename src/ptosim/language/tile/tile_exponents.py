"""The form of pto.tmov that brings the scale exponents of an MX operand to the order of the cube unit (X to ZZ).

Exponents lie in rows, one for 32 values; the cube unit wants boxes of 16 rows and 2 columns. `grpAxis` says along which
axis the values were grouped: axis1 along columns, axis0 along rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ptosim.language.operation import Problem
from ptosim.language.rules.tile_place_rules import count, holds, is_laid_out, lies_in
from ptosim.language.rules.tile_rules import at_type, distinct, same_element
from ptosim.language.tile.tile_operation import TileOperation

EXPONENTS = ("i8", "hif8", "f8E8M0")
BOX_BYTES = 32


def exponent_rules(op: TileOperation, target: str) -> Iterator[Problem]:
    """The rules of a move with working memory; `grpAxis` is for such a move only."""
    if not op.has("tmp"):
        if op.attribute("grpAxis") is not None:
            yield Problem("grpAxis is for the move of scale exponents, which has a second tile in vec", at="grpAxis")
        return
    if target != "a5":
        yield Problem(f"a move of scale exponents does not exist on {target}", at="tmp", kind="wrong-target")
    for role in ("src", "tmp", "dst"):
        yield from lies_in(op, role, "vec", on=" in a move of scale exponents")
    yield from _alone(op)
    for one, other in combinations(("src", "tmp", "dst"), 2):
        yield from distinct(one, other)(op, target)
    yield from holds(op, "src", EXPONENTS)
    yield from same_element("src", "dst")(op, target)
    if op.tile("src").rows != 1:  # one row is linear, whatever its type says of boxes
        yield from is_laid_out(op, "src", "ND", "DN")
    yield from _boxes(op)
    yield from _room(op)


def _alone(op: TileOperation) -> Iterator[Problem]:
    for role in ("fp", "pre_quant"):
        if op.has(role):
            yield Problem("a move of scale exponents is not quantised", at=role)


def _boxes(op: TileOperation) -> Iterator[Problem]:
    dst = op.tile("dst")
    misplaced = list(is_laid_out(op, "dst", *(("ZZ", "NN") if op.setting("grpAxis") == "axis0" else ("ZZ",))))
    yield from misplaced
    if dst.fractal != BOX_BYTES:
        yield at_type(op, "dst", f"with fractal={BOX_BYTES}", dst.fractal)
    elif not misplaced:
        for extent, unit, side in zip(dst.shape, dst.box, ("rows", "columns"), strict=True):
            if extent != 1 and extent % unit:
                yield at_type(op, "dst", f"to consist of boxes of {unit} {side}", f"{extent} {side}")


def _room(op: TileOperation) -> Iterator[Problem]:
    """Every exponent of src has a place in dst."""
    given, places = count(op.tile("src").valid), count(op.tile("dst").shape)
    if given is not None and places is not None and given > places:
        yield at_type(op, "src", f"to have at most the {places} exponents of dst", given)
