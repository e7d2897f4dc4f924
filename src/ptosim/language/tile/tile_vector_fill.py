"""Tile operations that make a tile without another: fills, counting, triangles, random words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ptosim.effects.names import Pipe
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem
from ptosim.language.rules import tile_rules as rule
from ptosim.language.tile.tile_family import A2A3, A5, INDICES, UP_TO_32_BITS, VectorTile, elements
from ptosim.language.tile.tile_operation import TileOperation


class Fill(VectorTile):
    """A tile that is made without another: scalars in, a tile out."""

    scalar = Operand()
    dst = Operand()

    typed_by = "dst"


def _vec_is_row_major(op: TileOperation, target: str) -> Iterator[Problem]:
    if op.tile("dst").loc == "vec":
        yield from rule.row_major("dst")(op, target)


class TExpands(Fill, name="pto.texpands"):
    """Fills a tile with a scalar.

    A tile in vec is filled by V, one in mat by MTE2. It covers the valid region of dst; bytes outside of it keep what
    they have.

        pto.texpands ins(%x : f32) outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    accepted = UP_TO_32_BITS
    pipes = (Pipe.V, Pipe.MTE2)
    checks = (
        rule.located("dst", allowed=("vec", "mat")),
        rule.scalar_of("scalar", "dst"),
        rule.on(A2A3, _vec_is_row_major),
    )

    def pipe(self, target: str) -> Pipe:
        return Pipe.V if self.tile("dst").loc == "vec" else Pipe.MTE2


_COUNTED = elements("i16 i32")


def _first_is_an_element(op: TileOperation, target: str) -> Iterator[Problem]:
    type_, element = op.segment("scalar")[0].type, op.tile("dst").element
    if type_ != element:
        problem = rule.at_type(op, "scalar", f"to be exactly the element type of dst, {rule.name_of(element)}", type_)
        yield replace(
            problem, by_assembler=rule.same_width(type_, element)
        )  # the machine counts in bits, whatever their sign


def _several_columns(op: TileOperation, target: str) -> Iterator[Problem]:
    if op.tile("dst").cols == 1:
        yield rule.at_type(op, "dst", "with more than one column", 1)


_COUNTING_BYTES = {2: 1792, 4: 768}
"""The bytes that the library of a2a3 needs, by the bytes of an element."""


def _counting_tmp(op: TileOperation, target: str) -> Iterator[Problem]:
    for role, tmp in rule.tiles(op, "tmp"):
        if tmp.element_bytes != 4:
            yield rule.at_type(op, role, "to have elements of 4 bytes", rule.name_of(tmp.element))
        least = _COUNTING_BYTES.get(op.tile("dst").element_bytes)
        if least is not None:
            yield from rule.tmp_bytes(least)(op, target)


class TCi(Fill, name="pto.tci"):
    """Counts from a scalar: scalar, scalar + 1, ... along the columns of row 0.

    With descending = true it counts down. The scalar unit writes the numbers. On a2a3 tmp has elements of 4 bytes, at
    least 768 bytes of them for 32-bit numbers and 1792 for 16-bit ones; a5 does not touch it.

        pto.tci ins(%x : i32) outs(%d : !pto.tile_buf<vec, 1x64xi32>) {descending = false}
    """

    tmp = OptionalOperand()
    dst = Operand()
    descending = OptionalProperty()

    accepted = _COUNTED
    pipes = (Pipe.S,)
    flags = ("descending",)
    defaults = {"descending": False}
    checks = (rule.in_vec("dst"), _first_is_an_element, _several_columns, rule.on(A2A3, _counting_tmp))


def _either_half(op: TileOperation, target: str) -> Iterator[Problem]:
    if op.setting("upperOrLower") not in (0, 1):
        found = op.setting("upperOrLower")
        yield Problem(f"{op.name} expects upperOrLower 0 or 1, not {found}", at="upperOrLower")


class TTri(Fill, name="pto.ttri"):
    """Ones in a triangle, zeros elsewhere.

    Element (i, j) is 1 where j <= i + scalar (upperOrLower = 0, the lower triangle) or j >= i + scalar (upperOrLower
    = 1, the upper one). It covers the valid region of dst; bytes outside of it keep what they have.

        pto.ttri ins(%x {upperOrLower = 0 : i32} : i32) outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    upperOrLower = OptionalProperty()

    accepted = UP_TO_32_BITS
    inside = ("upperOrLower",)
    numbers = ("upperOrLower",)
    defaults = {"upperOrLower": 0}
    checks = (rule.in_vec("dst"), rule.row_major("dst"), rule.any_integer("scalar"), _either_half)


_KEYS = ("key0", "key1")
_COUNTERS = ("counter0", "counter1", "counter2", "counter3")


def _seven_or_ten(op: TileOperation, target: str) -> Iterator[Problem]:
    if op.setting("rounds") not in (7, 10):
        yield Problem(f"{op.name} expects 7 or 10 rounds, not {op.setting('rounds')}", at="rounds")


class TRandom(VectorTile, name="pto.trandom"):
    """Random words by Philox4x32, from two words of key and four of counter.

    Each lane of a step of 64 has a counter of its own and gives four words; 7 or 10 rounds. a5 only. It covers the
    valid region of dst; bytes outside of it keep what they have.

        pto.trandom ins(%k0, %k1, %c0, %c1, %c2, %c3 {rounds = 10 : i32} : i32, i32, i32, i32, i32, i32)
            outs(%d : !pto.tile_buf<vec, 16x64xi32>)
    """

    key0 = Operand()
    key1 = Operand()
    counter0 = Operand()
    counter1 = Operand()
    counter2 = Operand()
    counter3 = Operand()
    dst = Operand()
    rounds = OptionalProperty()

    scalars = (*_KEYS, *_COUNTERS)
    targets = (A5,)
    typed_by = "dst"
    accepted = INDICES
    inside = ("rounds",)
    numbers = ("rounds",)
    defaults = {"rounds": 10}
    checks = (rule.in_vec("dst"), rule.row_major("dst"), rule.integer_of(32, *_KEYS, *_COUNTERS), _seven_or_ten)
