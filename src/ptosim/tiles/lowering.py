"""Lowerings of tile operations to micro-instructions: functions whose parameter names say what they want.

    @lowering(TAdd)
    def tadd(build: Builder, src0: Tile, src1: Tile, dst: Tile) -> None:
        ...

It is called once for each such operation and builds what the operation becomes in its place. A parameter is the role
of an operand (values.Tile, Slots or View for tiles and views, the value itself for scalars; None when absent, a tuple
for a variadic one), the name of an attribute (its word, number or truth, None when it has none), or

    build    the builder, at the place of the operation (language/builder.py)
    target   the machine: "a5" or "a2a3"
    op       the operation itself
    name     the name of its result in the text
    scratch  a Tile of bytes that `scratch(op)` asked for, None where it asked for none
    meaning  what another tile of the function is: a function of its value, which gives None before it is made

A function whose operation has results returns what they are: tiles, views or values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ptosim.language.operation import PTOOperation

Function = TypeVar("Function", bound=Callable[..., Any])
Scratch = Callable[[Any, str], int]
"""The bytes of working memory that an operation needs on a machine, 0 for none."""


@dataclass(frozen=True)
class Lowering:
    """The function of a tile operation, what it asks for, and the working memory it needs."""

    function: Callable[..., Any]
    parameters: tuple[str, ...]
    scratch: Scratch | None = None


LOWERINGS: dict[str, Lowering] = {}
"""By operation name. Filled when the rooms are imported (tiles/catalogue.py), never changed afterwards."""


def define(name: str, function: Callable[..., Any], scratch: Scratch | None = None) -> None:
    """Enter a function, for rooms that are tables."""
    assert name not in LOWERINGS, f"{name} is lowered twice"
    LOWERINGS[name] = Lowering(function, tuple(inspect.signature(function).parameters), scratch)


def lowering(*operations: type[PTOOperation], scratch: Scratch | None = None) -> Callable[[Function], Function]:
    """Say that a function lowers these operation classes."""

    def enter(function: Function) -> Function:
        for operation in operations:
            define(operation.name, function, scratch)
        return function

    return enter
