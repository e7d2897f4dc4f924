"""Parameters that the launcher fills for each core: which block it is, of how many, and which sub-block.

They are known by their names and are no part of a kernel's signature. On the copy that runs, the queries of system.py
take their place, so that engines know nothing of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import BlockArgument, Operation, SSAValue

from ptosim.language.micro.system import GetBlockIdx, GetBlockNum, GetSubblockIdx, Query
from ptosim.language.structure.function import Call, Function, entry_functions
from ptosim.language.structure.scalar_cast import IndexCast, TruncI
from ptosim.language.text.parser import ParsedModule

HIDDEN: Mapping[str, type[Query]] = {
    "__pypto_spmd_block_idx": GetBlockIdx,
    "__pypto_spmd_block_num": GetBlockNum,
    "__pypto_spmd_subblock_idx": GetSubblockIdx,
}
"""By name: the query that gives the value of the parameter."""

_TYPES = (i32, i64, IndexType())


def visible(parsed: ParsedModule, function: Function) -> list[BlockArgument]:
    """The parameters of an entry that a launch gives values to."""
    hidden = _hidden(parsed, function)
    return [value for value in function.args if value not in hidden]


def name_of(parsed: ParsedModule, argument: BlockArgument) -> str:
    """The name of a parameter, as written; one without has its number."""
    span = parsed.definitions.get(argument)
    return span.text[1:] if span is not None else str(argument.index)


def feed_launch_parameters(parsed: ParsedModule) -> None:
    """Replace the hidden parameters of every entry by queries of the launch; the rest of its parameters stay."""
    for function in entry_functions(parsed.module):
        for value in _hidden(parsed, function):
            made = _query(HIDDEN[name_of(parsed, value)], value)
            first = function.body.block.first_op
            assert first is not None  # at least a return
            for op in made:
                parsed.serve(op, function)
            function.body.block.insert_ops_before(made, first)
            value.replace_all_uses_with(made[-1].results[0])
            function.drop_argument(value)


def _hidden(parsed: ParsedModule, function: Function) -> list[BlockArgument]:
    """The parameters that the launcher fills; a function that others call gets them from its callers."""
    found = [value for value in function.args if name_of(parsed, value) in HIDDEN and value.type in _TYPES]
    if not found or any(op.function is function for op in parsed.module.walk() if isinstance(op, Call)):
        return []
    return found


def _query(query: type[Query], wanted: SSAValue) -> list[Operation]:
    """The operations that give the value of a parameter in its type."""
    made: list[Operation] = [query.make({}, [i64])]
    if wanted.type == i64:
        return made
    cast = TruncI if wanted.type == i32 else IndexCast
    return [*made, cast.make({"operand": made[0].results[0]}, [wanted.type])]
