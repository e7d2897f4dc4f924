"""Rows and elements of a table in GM by index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptosim.effects.ctrl import atomic_fields
from ptosim.effects.element import GRANULE
from ptosim.effects.geometry import maximum, minimum
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.effects.sim_table import INDEX_BYTES, base_extent, index_extent
from ptosim.language.micro import sim_table as op
from ptosim.native.build.core import Core
from ptosim.native.build.global_memory import GmPlace, read_inside, write_inside
from ptosim.native.build.lowering import Operands, lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I32, I64, Value
from ptosim.native.observe.hooks import CopyRows, OnChipAccess
from ptosim.native.routines.atomic import accumulate_inside


def _width(static: Static) -> dict[str, int]:
    return {"width": static.elements["table"].bytes}


@dataclass(frozen=True, eq=False)
class Walk:
    """The common walk of gathers and scatters: every run of elements in UB and the row of the table that it meets."""

    f: FunctionBuilder
    core: Core
    operands: Operands
    beyond: str
    width: int
    apart: bool = False
    """Whether no two should go to one place."""

    def each(self, verb: str, run: Callable[[Value, Value], None], missing: Callable[[Value], None]) -> None:
        """`run(pointer to the table, place in UB)`, or `missing(place)` where an index names no row that counts."""
        given, empty = self.operands, self.operands.rows * self.operands.columns * self.operands.length == 0
        self.f.settle()
        self.f.either(empty, lambda: None, lambda: self._each(given, verb, run, missing))

    def _each(
        self, given: Operands, verb: str, run: Callable[[Value, Value], None], missing: Callable[[Value], None]
    ) -> None:
        f, core = self.f, self.core
        indices = core.stretch("reads", Space.UB, given.indices, index_extent(given)[1], INDEX_BYTES, told=False)
        base = core.stretch(verb, Space.UB, given.base, base_extent(given, self.width)[1], self.width, told=False)

        def at(number: Value) -> None:
            row = number.udiv(given.columns)
            column = number - row * given.columns
            index = (row * given.index_row + column * given.index_column) * INDEX_BYTES
            first = (row * given.row_stride + column * given.column_stride) * self.width
            if core.is_observed:
                address = given.indices + index
                core.observer.accessed(core, OnChipAccess("reads", Space.UB, address, INDEX_BYTES, INDEX_BYTES))
            chosen, there = self._resolved(indices.at(index).load(I32, INDEX_BYTES).zext(I64))
            ub = base.at(first)
            there_row = given.table + chosen * given.pitch * self.width
            if verb == "writes":
                self._observe(verb, given.base + first)

            def found() -> None:
                if verb == "reads":
                    self._observe(verb, given.base + first)
                core.observer.chosen(core, chosen, self.apart)
                run(there_row, ub)

            f.either(there, found, lambda: missing(ub))

        f.repeat(given.rows * given.columns, at)

    def _observe(self, verb: str, first: Value) -> None:
        """Tell an observer of a run in UB: from the beginning of a granule on, or one element after the other."""
        core, observer, width = self.core, self.core.observer, self.width
        if not core.is_observed:
            return
        in_granules = (self.operands.element_stride == 1) & ((first & (GRANULE - 1)) == 0)
        row = self.operands.length * width

        def element(_: Value, here: Value) -> None:
            observer.accessed(core, OnChipAccess(verb, Space.UB, first + here, width, width))

        def elements() -> None:
            self.each_element(element)

        def granules() -> None:
            observer.stretched(core, verb, Space.UB, first, row)
            observer.copied(core, verb, CopyRows(Space.UB, first, (), row))

        self.f.either(in_granules, granules, elements)

    def _resolved(self, index: Value) -> tuple[Value, Value]:
        """The row of the table that an index means, and whether there is one."""
        capacity = self.operands.capacity
        always = index >= 0
        if self.beyond == "clamp":
            return minimum(index, maximum(capacity - 1, 0)), always
        if self.beyond == "wrap":
            return index.urem(maximum(capacity, 1)), always
        if self.beyond == "undefined":
            message = "index {} is beyond the {} of the table"
            self.core.fail(index >= capacity, "out-of-bounds", message, index, capacity)
            self.f.settle()
            return index, always
        return index, index < capacity

    def each_element(self, act: Callable[[Value, Value], None]) -> None:
        """`act(bytes in the table, bytes in UB)` for every element of a run."""
        given = self.operands
        with self.f.each(given.length) as number:
            act(number * self.width, number * given.element_stride * self.width)

    def place(self, verb: str, pointer: Value, ctrl: Value | None = None) -> GmPlace:
        length = self.operands.length * self.width
        found, _ = self.core.global_place(verb, pointer, length)
        self.core.observer.copied(self.core, verb, CopyRows(Space.GM, pointer, (), length), ctrl)
        return found


@lowering(op.SimGather, op.SimGatherMte2, bind=_width)
def gather(f: FunctionBuilder, core: Core, operands: Operands, beyond: str, width: int) -> None:
    walk = Walk(f, core, operands, beyond, width)
    size = f.constant(I64, width)

    def run(pointer: Value, ub: Value) -> None:
        place = walk.place("reads", pointer)

        def one(there: Value, here: Value) -> None:
            if core.unit.drop:
                read_inside(place.further(there), ub.at(here), size)
            else:
                ub.at(here).copy_from(place.address.at(there), size)

        walk.each_element(one)

    walk.each("writes", run, lambda ub: walk.each_element(lambda _, here: ub.at(here).fill(0, size)))


@lowering(op.SimScatter, op.SimScatterMte3, bind=_width)
def scatter(
    f: FunctionBuilder,
    core: Core,
    operands: Operands,
    beyond: str,
    combine: str,
    ordered: bool,
    kind: str | None,
    width: int,
) -> None:
    walk = Walk(f, core, operands, beyond, width, combine == "none" and not ordered)
    size = f.constant(I64, width)
    ctrl = None if combine == "none" or kind is None else f.constant(I64, atomic_fields(kind, combine))

    def run(pointer: Value, ub: Value) -> None:
        place = walk.place("writes", pointer, ctrl)

        def one(there: Value, here: Value) -> None:
            target, data = place.further(there), ub.at(here)
            if ctrl is None and core.unit.drop:
                write_inside(target, data, size)
            elif ctrl is None:
                target.address.copy_from(data, size)
            else:
                accumulate_inside(f, core.unit, target, data, size, ctrl)

        walk.each_element(one)

    walk.each("reads", run, lambda _: None)
