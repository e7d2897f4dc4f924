"""Kernels as authors write them who leave the scopes to the assembler: the text of a kernel without its scopes."""

from dataclasses import replace

from xdsl.ir import Operation

import ptosim
from ptosim.language.load import text
from ptosim.language.operation import is_scope
from ptosim.language.structure.control import CARRIER


def without_scopes(written: ptosim.Module) -> str:
    """The same kernel, with the instructions of every vector scope where the scope stood."""
    module = replace(written.verified, parsed=written.verified.parsed.cloned())
    for scope in [op for op in module.parsed.module.walk() if is_scope(op)]:
        if scope.attributes.pop(CARRIER, None) is None:
            _unwrap(scope)
    return text(module)


def _unwrap(scope: Operation) -> None:
    block, body = scope.parent_block(), scope.regions[0].block
    assert block is not None
    for inside, outside in zip(body.args, scope.operands, strict=True):
        inside.replace_all_uses_with(outside)
    for op in list(body.ops):
        op.detach()
        block.insert_op_before(op, scope)
    scope.detach()
    scope.erase()
