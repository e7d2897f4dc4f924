"""Tile operations of the vector pipe as rows of tables: a family says how they are written, a row what is its own.

    OPERATIONS = table(__name__, Row(Binary, "tadd", ADDED, '''Sum. ...'''), ...)

A row makes a class with the name, the docstring (the text of the row and an example of the family) and the element
types by target. Rules between the operands belong to the family, rules of one operation to its row.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import new_class
from typing import Any, ClassVar, cast

from ptosim.language.operation import Problem
from ptosim.language.tile_operation import TileOperation
from ptosim.language.tile_rules import Check, Elements, element_in
from ptosim.language.vector import integers

A5, A2A3 = "a5", "a2a3"


def elements(a5: str, a2a3: str | None = None) -> Elements:
    """Sets of element types by target; `i8` stands for every integer of that width. One set serves both targets."""
    return {A5: _names(a5), A2A3: _names(a5 if a2a3 is None else a2a3)}


def _names(words: str) -> frozenset[str]:
    found: set[str] = set()
    for word in words.split():
        found |= integers(int(word[1:])) if word.startswith("i") else {word}
    return frozenset(found)


class VectorTile(TileOperation):
    """A tile operation on tiles in UB: its rules are checks, and one of its tiles decides the element types."""

    accepted: ClassVar[Elements] = {}
    """Element types that an operation takes; none: whatever its own rules say."""
    typed_by: ClassVar[str] = "src"
    """The role whose element type has to be among them."""
    checks: ClassVar[tuple[Check, ...]] = ()
    more_checks: ClassVar[tuple[Check, ...]] = ()
    """Rules of one operation of a family, after those of the family."""

    example: ClassVar[str] = ""
    """An operation of the family; `NAME` and `ELEMENT` stand for what is different."""

    def tile_rules(self, target: str) -> Iterator[Problem]:
        if self.accepted:
            yield from element_in(self.typed_by, self.accepted)(self, target)
        for check in (*self.checks, *self.more_checks):
            yield from check(self, target)


@dataclass(frozen=True)
class Row:
    """One operation of a family."""

    family: type[VectorTile]
    name: str
    accepted: Elements
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
    facts = {
        "__module__": module,
        "__doc__": f"{inspect.cleandoc(row.text)}\n\n{body}\n",
        "name": f"pto.{row.name}",
        "accepted": row.accepted,
        **row.facts,
    }
    made = new_class(_class_name(row.name), (row.family,), exec_body=lambda namespace: namespace.update(facts))
    return cast("type[VectorTile]", made)


def _class_name(name: str) -> str:
    return f"T{name[1:].capitalize()}".replace(".mx", "Mx")


def _shown(accepted: Elements) -> str:
    """The element type of an example: f32 where there is one."""
    both = accepted.get(A5, frozenset()) or frozenset({"f32"})
    return next(name for name in ("f32", "i32", "i16", "i8") if name in both)


def tile(shape: str = "16x64", element: str = "ELEMENT", more: str = "") -> str:
    """A tile type of an example."""
    return f"!pto.tile_buf<vec, {shape}x{element}{more}>"
