"""Cube kernels that write UB have the vector cores of their block beside them, with memory and without code.

On the copy that runs, the body of such a kernel becomes a section, which vector cores pass over.
"""

from __future__ import annotations

from xdsl.ir import Block, Region

from ptosim.effects.names import Space
from ptosim.language.analysis.kernel_entries import kernels
from ptosim.language.micro.scope import SectionCube
from ptosim.language.operation import KERNEL_KIND, PTOOperation
from ptosim.language.structure.function import Function, every_function, reached
from ptosim.language.text.parser import ParsedModule
from ptosim.language.tile.tile_types import tile_of
from ptosim.language.types import PtrType


def add_idle_vector_cores(parsed: ParsedModule) -> None:
    """Let kernels of the cube core that reach UB run on the vector cores too, where nothing is left of them."""
    for kernel in list(kernels(parsed)):
        if kernel.kind == "cube":
            for function in kernel.entries.values():
                if any(isinstance(op, PTOOperation) and _reaches_ub(op) for op in reached(function)):
                    _open(parsed, function)


def _reaches_ub(op: PTOOperation) -> bool:
    return not op.is_pure and any(
        (isinstance(type_, PtrType) and type_.space is Space.UB) or ((tile := tile_of(type_)) and tile.loc == "vec")
        for type_ in op.operand_types
    )


def _open(parsed: ParsedModule, function: Function) -> None:
    """Leave it to a section, not to the function or its module, that a body is for the cube core."""
    around = function.parent_op()
    if around is not None and KERNEL_KIND not in function.attributes and KERNEL_KIND in around.attributes:
        kind = around.attributes.pop(KERNEL_KIND)
        for other in every_function(parsed.module):
            if other.parent_op() is around:
                other.attributes.setdefault(KERNEL_KIND, kind)
    function.attributes.pop(KERNEL_KIND, None)
    *statements, end = function.body.block.ops
    section = SectionCube.make(regions=[Region(Block())])
    parsed.serve(section, function)
    function.body.block.insert_op_before(section, end)
    for statement in statements:
        statement.detach()
        section.body.block.add_op(statement)
