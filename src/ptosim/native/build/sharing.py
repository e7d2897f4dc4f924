"""The functions of queue entries. Lowered entries share one if they differ in captured values only.

A kernel of hundreds of tile operations has a few dozen different ones, and compiling is most of the time before its
first run. An entry that is alone says its constants again, so that they fold. Entries that share a function take the
constants that differ between them from a table, by a word that says which of them runs; a constant that is the same in
all of them stays one. Sizes decide what code can leave out (checks, tails, loops), so each of a few sizes has code of
its own, while addresses and scalars are looked up at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation, SSAValue

from ptosim.diagnostics import Location
from ptosim.effects.names import CoreKind
from ptosim.language.types import PtrType, element_of
from ptosim.native.build.core import Unit, at_place
from ptosim.native.build.issue import begin_entry, from_word
from ptosim.native.build.operations import entry_symbol
from ptosim.native.ir.context import Register
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.instance import Instance
from ptosim.native.ir.ranges import IntegerRange
from ptosim.native.ir.values import I64, Value

FEW = 4
"""The most sets of sizes of one structure that are compiled apart; beyond them sets share code that looks the sizes
up, too.
"""
MANY = 24
"""The most functions that are compiled for the sake of sizes; a kernel with more has one for each structure."""

Fill = Callable[[FunctionBuilder, Sequence[Value], Sequence[Value]], None]
"""Builds the code of an entry in a function, of the values that it captures and of the registers."""


@dataclass(frozen=True, eq=False)
class SharedEntry:
    """A queue entry, and the values that it captures."""

    number: int
    """The number of its operation."""
    op: Operation
    place: Location | None
    kind: CoreKind
    loops: int
    """The number of loops around it."""
    captured: Sequence[SSAValue]
    outside: Sequence[Value]
    """The outside value of each captured one."""
    registers: Sequence[Register]
    """Captured after them."""
    fill: Fill

    def begin(self, unit: Unit, more: int = 0) -> tuple[FunctionBuilder, list[Value]]:
        """The function of this entry, and its words: captured values, registers, and whatever is behind them."""
        kinds = [value.kind for value in self.outside if value.literal is None]
        return begin_entry(unit.module, self.number, self.loops, [*kinds, *[I64] * (len(self.registers) + more)])

    def end(self, function: FunctionBuilder, words: Sequence[Value], constants: Sequence[Value | None]) -> None:
        """Fill the function; what is captured and not among the constants is among the words."""
        following = iter(words)
        values = [next(following) if constant is None else constant for constant in constants]
        for value, outside in zip(values, self.outside, strict=True):
            if outside.literal is None:
                value.known = outside.known
        self.fill(function, values, [next(following) for _ in self.registers])
        function.finish()

    def constants(self, function: FunctionBuilder) -> list[Value | None]:
        """The constants that it captures, said again; None for what is only known when it runs."""
        return [
            None if value.literal is None else function.constant(value.kind, value.literal) for value in self.outside
        ]

    # --- what it has in common with others ----------------------------------------------------------------------------

    def structure(self) -> Any:
        """The common structure of entries that may share code."""
        return (
            self.kind,
            self.loops,
            tuple(self.registers),
            tuple(value.literal is None for value in self.outside),
            tuple((value.kind, _known(value)) for value in self.outside),
            _text(self.op, {value: number for number, value in enumerate(self.captured)}),
        )

    def sizes(self) -> tuple[int | None, ...]:
        """The constants that code depends on."""
        pairs = zip(self.captured, self.outside, strict=True)
        return tuple(
            None if outside.literal is None or _is_free(value) else outside.literal for value, outside in pairs
        )


def _known(value: Value) -> IntegerRange | None:
    """The facts about a value that is no constant."""
    return value.range if value.literal is None and value.kind.is_number else None


def _is_free(value: SSAValue) -> bool:
    """Whether code is as good without knowing a constant: an address, or the bits of a float."""
    return isinstance(value.type, PtrType) or element_of(value.type).is_float


def _text(op: Operation, numbers: dict[SSAValue, int]) -> Any:
    """An operation and all inside it, as a value to compare; values are numbered as they come."""
    operands = tuple(numbers[value] for value in op.operands)
    for result in op.results:
        numbers[result] = len(numbers)
    inside: list[Any] = []
    for region in op.regions:
        for argument in region.block.args:
            numbers[argument] = len(numbers)
        inside.append((region.block.arg_types, *(_text(inner, numbers) for inner in region.block.ops)))
    types = tuple(value.type for value in (*op.operands, *op.results))
    return op.name, operands, types, _items(op.properties), _items(op.attributes), *inside


def _items(attributes: Any) -> tuple[Any, ...]:
    return tuple(sorted(attributes.items())) if attributes else ()


# --- groups -----------------------------------------------------------------------------------------------------------


def groups(entries: Sequence[SharedEntry]) -> Iterator[list[SharedEntry]]:
    """The entries that become one function each."""
    alike: dict[Any, dict[Any, list[SharedEntry]]] = {}
    for entry in entries:
        alike.setdefault(entry.structure(), {}).setdefault(entry.sizes(), []).append(entry)
    few = FEW if sum(len(by_size) for by_size in alike.values() if len(by_size) <= FEW) <= MANY else 1
    for by_size in alike.values():
        if len(by_size) > few:
            yield [entry for group in by_size.values() for entry in group]
        else:
            yield from by_size.values()


def _differing(group: Sequence[SharedEntry]) -> list[int]:
    """The places of captured constants that are not the same in all entries."""
    return [
        place for place in range(len(group[0].outside)) if len({entry.outside[place].literal for entry in group}) > 1
    ]


def _range(group: Sequence[SharedEntry], place: int) -> IntegerRange | None:
    """The facts about a captured constant in all entries."""
    values = [entry.outside[place] for entry in group]
    if not values[0].kind.is_number:
        return None
    found = values[0].range
    for value in values[1:]:
        found = found.or_(value.range)
    return found


# --- code -------------------------------------------------------------------------------------------------------------


@dataclass
class Entries:
    """The entries of one object."""

    unit: Unit
    waiting: list[SharedEntry] = field(default_factory=list[SharedEntry])
    """Entries that may share code, which is built when all of them are known. Each gets one more word, the number of
    entries before it.
    """

    def build_alone(self, entry: SharedEntry) -> None:
        function, words = entry.begin(self.unit)
        entry.end(function, words, entry.constants(function))

    def build_waiting(self) -> None:
        rows: dict[SharedEntry, list[int]] = {}
        found = list(groups(self.waiting))
        width = Instance.CONSTANTS + max((len(_differing(group)) for group in found), default=0)
        for group in found:
            rows |= self._build(group, width)
        if rows:
            table = [rows.get(entry, []) for entry in self.waiting]
            self.unit.module.table("constants", [word for row in table for word in (row + [0] * width)[:width]])

    def _build(self, group: Sequence[SharedEntry], width: int) -> dict[SharedEntry, list[int]]:
        """One function for entries that differ in constants; what each finds in its row of the table."""
        first, *others = group
        function, words = first.begin(self.unit, more=1)
        constants = first.constants(function)
        taken = _differing(group)
        if others:
            function.instance = row = Instance(function.table("constants"), words[-1] * width)
            for number, place in enumerate(taken):
                constants[place] = found = from_word(row.constant(number), first.outside[place].kind)
                found.known = _range(group, place)
        sites = self.unit.module.sites
        start = len(sites)
        first.end(function, words, constants)
        made = sites[start:]
        for entry in others:
            self.unit.module.alias(entry_symbol(entry.number), function)
            sites += [at_place(site, entry.place) for site in made]
        return {
            entry: [number, number * len(made), *(entry.outside[place].literal or 0 for place in taken)]
            for number, entry in enumerate(group if others else ())
        }
