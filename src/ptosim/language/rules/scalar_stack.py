"""The stack of the scalar unit: arrays and structs of scalars stay in the function that declares them, and fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue

from ptosim.language.operation import Problem
from ptosim.language.structure.function import Call, Function
from ptosim.language.tile import tile_local
from ptosim.language.tile.tile_types import LocalArrayType

STACK_BYTES = 32 << 10
"""The most bytes of all arrays and structs of a module. Nothing is published; kernels that were seen use a few words.
"""

Found = tuple[Operation, Problem]


def stack_problems(module: ModuleOp) -> Iterator[Found]:
    """An array could outlive its function only by being returned, yielded or chosen."""
    taken = 0
    for op in module.walk():
        for value in (*op.results, *(argument for region in op.regions for argument in _arguments(region))):
            if isinstance(value.type, LocalArrayType):
                yield from _strays(op, value)
        if isinstance(op, tile_local.DeclareLocalArray | tile_local.DeclareStruct):
            taken += tile_local.size_of(op.result.type)
            if taken > STACK_BYTES:
                message = f"arrays and structs take {taken} bytes; the stack of the scalar unit has {STACK_BYTES}"
                yield op, Problem(message, kind="limit")
                return


def _arguments(region: Region) -> Sequence[SSAValue]:
    return region.block.args if region.blocks else ()


def _strays(op: Operation, value: SSAValue) -> Iterator[Found]:
    """An array that is neither declared nor a parameter, and what takes one without reading or writing it. What arrays
    and structs must not be to their own operations is said there."""
    if not isinstance(op, tile_local.DeclareLocalArray | tile_local.DeclareStruct | Function):
        yield op, Problem(f"{op.name} cannot give {value.type}: {_STAYS}")
        return
    for use in value.uses:
        if not isinstance(
            use.operation,
            tile_local.LocalArrayGet | tile_local.LocalArraySet | tile_local.StructGet | tile_local.StructSet | Call,
        ):
            yield use.operation, Problem(f"{use.operation.name} cannot take {value.type}: {_STAYS}")


_STAYS = "an array stays in the function that declares it, and in those that are called with it"
