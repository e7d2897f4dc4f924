"""The list of everything a `.pto` file may say: the rooms of this floor, put together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from xdsl.dialects.func import Func
from xdsl.dialects.scf import Scf
from xdsl.ir import Attribute, Dialect

from ptosim.language.operation import PTOOperation
from ptosim.language.types import TYPES

ROOMS = (
    "pointer",
    "scope",
    "sync",
    "sync_semaphore",
    "dma",
    "dma_registers",
    "dma_grouped",
    "vector_memory",
    "predicate",
    "arithmetic",
    "conversion",
    "reduction",
    "compare",
    "rearrange",
    "sfu",
    "system",
    "cube_load",
    "mad",
    "fixpipe",
)


def room_of(operation: type[PTOOperation]) -> str:
    """The instruction group that an operation class belongs to."""
    return operation.__module__.rpartition(".")[2]


@cache
def operations() -> tuple[type[PTOOperation], ...]:
    """Every operation of the dialect, room by room."""
    return tuple(operation for room in ROOMS for operation in _operations_of(room))


def _operations_of(room: str) -> Iterator[type[PTOOperation]]:
    module = import_module(f"ptosim.language.{room}")
    for value in vars(module).values():
        if (
            isinstance(value, type)
            and issubclass(value, PTOOperation)
            and value.__module__ == module.__name__
            and "name" in vars(value)
        ):
            yield value


@cache
def operation(name: str) -> type[PTOOperation] | None:
    """The operation class of a name such as `pto.vabs`."""
    return {op.name: op for op in operations()}.get(name)


def attributes() -> tuple[type[Attribute], ...]:
    """The types and attributes of the dialect."""
    return TYPES


from xdsl.dialects.arith import Arith  # noqa: E402

OTHER_DIALECTS: tuple[Dialect, ...] = (Arith, Scf, Func)
