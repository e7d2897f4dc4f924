"""Tile operations of the vector pipe as rows of tables: a family says how they are written, a row what is its own.

    OPERATIONS = table(__name__, Row(Binary, "tadd", ADDED, '''Sum. ...'''), ...)

A row makes a class with the name, the docstring (the text of the row and an example of the family) and the element
types by target. Rules between the operands belong to the family, rules of one operation to its row.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ptosim.language.micro.vector import INTEGERS, integers
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, made
from ptosim.language.rules import tile_rules as rule
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_operation import TileOperation

A5, A2A3 = "a5", "a2a3"


def elements(a5: str, a2a3: str | None = None) -> rule.Elements:
    """Sets of element types by target; `i8` stands for every integer of that width. One set serves both targets."""
    return {A5: _names(a5), A2A3: _names(a5 if a2a3 is None else a2a3)}


def _names(words: str) -> frozenset[str]:
    found: set[str] = set()
    for word in words.split():
        found |= integers(int(word[1:])) if word.startswith("i") else {word}
    return frozenset(found)


FLOATS = elements("f16 f32")
NUMBERS = elements("i16 i32 f16 f32")
WIDE = elements("i8 i16 i32 f16 bf16 f32", "i16 i32 f16 f32")
WITHOUT_BF16 = elements("i8 i16 i32 f16 f32", "i16 i32 f16 f32")
BITS = elements("i8 i16 i32")
INDICES = elements("i32")
POWERS = elements("i8 i16 i32 f16 bf16 f32", "i8 i16 i32 f32")
UP_TO_32_BITS = elements("i8 i16 i32 f16 bf16 f32")


class VectorTile(TileOperation):
    """A tile operation on tiles in UB: its rules are checks, and one of its tiles decides the element types."""

    accepted: ClassVar[rule.Elements] = {}
    """Element types that an operation takes; none: whatever its own rules say."""
    typed_by: ClassVar[str] = "src"
    """The role whose element type has to be among them."""
    checks: ClassVar[tuple[rule.Check, ...]] = ()
    more_checks: ClassVar[tuple[rule.Check, ...]] = ()
    """Rules of one operation of a family, after those of the family."""

    note: ClassVar[str] = ""
    """The last sentence in the docstring of every operation of the family."""
    example: ClassVar[str] = ""
    """An operation of the family; `NAME` and `ELEMENT` stand for what is different."""

    def tile_rules(self, target: str) -> Iterator[Problem]:
        if self.accepted:
            yield from rule.element_in(self.typed_by, self.accepted)(self, target)
        for check in (*self.checks, *self.more_checks):
            yield from check(self, target)


@dataclass(frozen=True)
class Row:
    """One operation of a family."""

    family: type[VectorTile]
    name: str
    accepted: rule.Elements
    text: str
    """The first line is a sentence; then comes the meaning with every edge."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Class attributes that differ from those of the family."""


def table(module: str, *rows: Row) -> tuple[type[VectorTile], ...]:
    """The classes of rows."""
    return tuple(_operation(module, row) for row in rows)


def _operation(module: str, row: Row) -> type[VectorTile]:
    example = row.facts.get("example", row.family.example)
    shown = example.replace("NAME", f"pto.{row.name}").replace("ELEMENT", _shown(row.accepted))
    body = "\n".join(f"    {line}" for line in shown.splitlines())
    text = "\n".join(part for part in (inspect.cleandoc(row.text), row.facts.get("note", row.family.note)) if part)
    facts = {"__doc__": f"{text}\n\n{body}\n", "accepted": row.accepted, **row.facts}
    return made(module, row.family, f"pto.{row.name}", **facts)


def _shown(accepted: rule.Elements) -> str:
    """The element type of an example: f32 where there is one."""
    return next(name for name in ("f32", "i32", "i16") if name in accepted[A5] & accepted[A2A3])


def tile(shape: str = "16x64", element: str = "ELEMENT", more: str = "") -> str:
    """A tile type of an example."""
    return f"!pto.tile_buf<vec, {shape}x{element}{more}>"


# --- families ---------------------------------------------------------------------------------------------------------

OVER_DST = "It covers the valid region of dst; bytes outside of it keep what they have."


class TileUnary(VectorTile):
    """One tile in, one out: `ins(%src : TB) outs(%dst : TB)`."""

    src = Operand()
    dst = Operand()

    note = OVER_DST
    example = f"NAME ins(%a : {tile()}) outs(%d : {tile()})"
    checks = (
        rule.in_vec("src", "dst"),
        rule.row_major("src", "dst"),
        rule.same_element("src", "dst"),
        rule.same_valid("dst", "src"),
    )


class UnaryTmp(TileUnary):
    """Unary, with a working tile that may be left out: `ins(%src, %tmp : TB, TB)`."""

    tmp = OptionalOperand()
    dst = Operand()

    example = f"NAME ins(%a, %tmp : {tile()}, {tile()}) outs(%d : {tile()})"


class TileBinary(VectorTile):
    """Two tiles in, one out: `ins(%src0, %src1 : TB, TB) outs(%dst : TB)`."""

    src0 = Operand()
    src1 = Operand()
    dst = Operand()

    typed_by = "src0"
    note = OVER_DST
    example = f"NAME ins(%a, %b : {tile()}, {tile()}) outs(%d : {tile()})"
    checks = (
        rule.in_vec("src0", "src1", "dst"),
        rule.row_major("src0", "src1", "dst"),
        rule.same_element("src0", "src1", "dst"),
        rule.same_valid("dst", "src0", "src1"),
    )


class BinaryTmp(TileBinary):
    """Binary, with a working tile that may be left out: `ins(%src0, %src1, %tmp : TB, TB, TB)`."""

    tmp = OptionalOperand()
    dst = Operand()


class TileScalar(VectorTile):
    """A tile and a scalar in, a tile out: `ins(%src, %scalar : TB, T) outs(%dst : TB)`."""

    src = Operand()
    scalar = Operand()
    dst = Operand()

    note = OVER_DST
    example = f"NAME ins(%a, %x : {tile()}, ELEMENT) outs(%d : {tile()})"
    checks = (
        rule.in_vec("src", "dst"),
        rule.same_element("src", "dst"),
        rule.same_valid("dst", "src"),
        rule.number("scalar"),
    )


class TileScalarTmp(TileScalar):
    """Tile and scalar, with a working tile that may be left out: `ins(%src, %scalar, %tmp : TB, T, TB)`."""

    tmp = OptionalOperand()
    dst = Operand()


# --- attributes -------------------------------------------------------------------------------------------------------


def precise(function: str) -> dict[str, Any]:
    """The class attributes of an operation that has a variant of high precision."""
    kind = replace(
        KINDS[f"{function}_precision"],
        aliases={"HIGH_PRECISION": "high_precision", "DEFAULT": "default"},
        older=("precision_mode",),
    )
    return {
        "precisionType": OptionalProperty(),
        "words": {"precisionType": kind},
        "defaults": {"precisionType": "default"},
        "older": {"precision_mode": "precisionType"},
    }


def is_precise(op: TileOperation) -> bool:
    return op.setting("precisionType") == "high_precision"


def precise_needs_tmp(op: TileOperation, target: str) -> Iterator[Problem]:
    if is_precise(op) and not op.has("tmp"):
        yield Problem(f"{op.name} with precisionType high_precision requires tmp", at=op.operand_roles[0])


# --- rules of operations that exist for two tiles and for a tile and a scalar -----------------------------------------


def power_rules(op: TileOperation, target: str) -> Iterator[Problem]:
    """Checks the elements of a power against its working tile and high precision."""
    role = op.operand_roles[0]
    name = rule.name_of(op.tile(role).element)
    if name in INTEGERS and op.has("tmp"):
        yield Problem(f"{op.name} takes no tmp for integers", at="tmp", by_assembler=True)
    if not is_precise(op):
        if name == "bf16":
            yield Problem(f"{op.name} takes bf16 only with precisionType high_precision", at=f"{role}_type")
    elif target != A5:
        yield Problem(f"{op.name} has precisionType high_precision only on {A5}", at="precisionType")
    elif name in INTEGERS:
        yield rule.at_type(op, role, "to have elements of f16, bf16, f32 for precisionType high_precision", name)


def like_dst(source: str) -> rule.Check:
    """On a2a3 the working tile is like the result, and a tile of its own; a5 does not look at it."""
    tmp_rules = (
        rule.same_element("dst", "tmp"),
        rule.same_valid("dst", "tmp"),
        rule.distinct(source, "tmp"),
        rule.distinct("dst", "tmp"),
    )
    return rule.assembler(rule.on(A2A3, *tmp_rules))
