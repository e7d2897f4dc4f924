"""The list of everything a `.pto` file may say: the rooms of this floor, put together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Attribute, Dialect, Operation

from ptosim.language.logical_types import LOGICAL_TYPES
from ptosim.language.operation import PTOOperation
from ptosim.language.tile.tile_epilogue import AccPushEpilogueAttr
from ptosim.language.tile.tile_types import TILE_TYPES
from ptosim.language.types import TYPES, LLVMPointerType

MICRO = tuple(
    """
    pointer scope sync sync_semaphore sync_fence sync_token
    dma dma_registers dma_grouped configuration
    vector_memory vector_gather vector_stream predicate predicate_memory
    arithmetic arithmetic_integer conversion reduction compare rearrange sfu
    system sim sim_table sim_signal sim_transfer
    cube_load cube_load_raw mad fixpipe fixpipe_raw
    """.split()
)
"""Micro-instructions."""

SIMT = ("simt", "simt_lane", "simt_memory", "simt_atomic", "simt_math", "simt_state", "private_memory")
"""Launches of workitems, and what their code has beside scalar arithmetic and control flow."""

VMI = tuple(
    """
    vmi_memory vmi_mask vmi_arithmetic vmi_conversion vmi_reduction vmi_rearrange vmi_older vmi_older_memory
    """.split()
)
"""Operations on logical vectors."""

TILE = tuple(
    """
    tile_move tile_extract tile_rearrange tile_gather tile_matrix tile_fifo tile_pipe tile_sync tile_scalar
    comm comm_async tensor_view tile_view tile_reserve tile_local
    tile_vector tile_vector_scalar tile_vector_fill tile_vector_reduce tile_vector_expand tile_vector_select
    tile_vector_gather tile_vector_quantise
    """.split()
)
"""Operations on tiles, views and ranks."""

STRUCTURE = ("scalar", "scalar_cast", "control", "execute_region", "index_switch", "function")
"""Operations from outside of PTO: arithmetic on scalars, control flow, functions."""

_FOLDERS = {"micro": MICRO, "simt": SIMT, "vmi": VMI, "tile": TILE, "structure": STRUCTURE}
_FOLDER_OF = {room: folder for folder, rooms in _FOLDERS.items() for room in rooms}

ROOMS = (*MICRO, *SIMT, *VMI, *TILE)


def room_of(operation: type[PTOOperation]) -> str:
    """The instruction group that an operation class belongs to."""
    return operation.__module__.rpartition(".")[2]


@cache
def operations() -> tuple[type[PTOOperation], ...]:
    """Every operation of the dialect, room by room."""
    return tuple(operation for room in ROOMS for operation in _operations_of(room))


@cache
def structural_operations() -> tuple[type[PTOOperation], ...]:
    """The `arith`, `math`, `scf`, `func` and `builtin` operations of the surface."""
    return tuple(operation for room in STRUCTURE for operation in _operations_of(room))


def _operations_of(room: str) -> Iterator[type[PTOOperation]]:
    """The classes of a room, and those that it has made from the rows of tables: its OPERATIONS."""
    module = import_module(f"ptosim.language.{_FOLDER_OF[room]}.{room}")
    for value in (*vars(module).values(), *getattr(module, "OPERATIONS", ())):
        if (
            isinstance(value, type)
            and PTOOperation in value.__mro__  # issubclass would search all classes below it
            and value.__module__ == module.__name__
            and "name" in vars(value)
        ):
            yield value


@cache
def operation(name: str) -> type[PTOOperation] | None:
    """The operation class of a name such as `pto.vabs` or `arith.addi`."""
    return {op.name: op for op in (*operations(), *structural_operations())}.get(name)


def attributes() -> tuple[type[Attribute], ...]:
    """The types and attributes of the dialect."""
    return (*TYPES, *LOGICAL_TYPES, *TILE_TYPES, AccPushEpilogueAttr)


@cache
def dialects() -> tuple[Dialect, ...]:
    """Every dialect that a `.pto` file may use, with what it may use of it."""
    named: dict[str, list[type[Operation]]] = {"builtin": [ModuleOp], "pto": []}
    for op in (*operations(), *structural_operations()):
        named.setdefault(op.name.partition(".")[0], []).append(op)
    known: dict[str, list[type[Attribute]]] = {
        "builtin": list(Builtin.attributes),
        "pto": list(attributes()),
        "llvm": [LLVMPointerType],
    }
    return tuple(Dialect(name, ops, known.get(name, [])) for name, ops in named.items())
