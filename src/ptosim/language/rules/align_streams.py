"""Rules about `!pto.align`: every stream begins at its root, goes on in one line, and is carried through loops by hand.

An align value stands for hardware state that exists once. Each value therefore has one consumer on every path, and it
enters and leaves regions only as an iteration argument or a yielded value.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ptosim.effects.vector_stream import LOAD_STREAM, STORE_STREAM
from ptosim.language.analysis.fast_walk import around
from ptosim.language.analysis.value_flow import sources
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.types import AlignType


def continues_load(op: PTOOperation) -> Iterator[Problem]:
    """The align operand is the state of a load stream, in line."""
    return _continues(op, LOAD_STREAM, "load")


def continues_store(op: PTOOperation) -> Iterator[Problem]:
    """The align operand is the state of a store stream, in line."""
    return _continues(op, STORE_STREAM, "store")


def _continues(op: PTOOperation, stream: tuple[str, ...], direction: str) -> Iterator[Problem]:
    role = "align"
    value = op.segment(role)[0]
    if not isinstance(value.type, AlignType):
        return
    values = _closure(value)
    if not all(_is_state(known, stream) for known in values):
        yield Problem(
            f"{role} must be produced by {stream[0]} or a prior {direction}-state operation",
            at=role,
            hint=f"begin the {direction} stream with {stream[0]} and hand every result on to its next instruction",
        )
    elif any(map(_joins_streams, values)):
        yield Problem(f"{role} belongs to different streams in the two branches of an scf.if", at=role)
    if _crosses_loop(value, op):
        yield Problem(f"{role} is defined outside a loop and must be threaded through scf.for iter_args", at=role)
    elif _is_consumed_elsewhere(value, op):
        yield Problem(f"{role} is consumed more than once; each align value has one consumer", at=role)


# --- where a value comes from -----------------------------------------------------------------------------------------


def _closure(value: SSAValue) -> list[SSAValue]:
    """A value and every value that loops and branches may hand on as it."""
    found = [value]
    for known in found:  # grows on the way
        found += [source for source in sources(known) if source not in found]
    return found


def _is_state(value: SSAValue, stream: tuple[str, ...]) -> bool:
    """Whether a value is handed on or given by an instruction of the stream."""
    return bool(sources(value)) or (isinstance(value, OpResult) and value.op.name in stream)


def _joins_streams(value: SSAValue) -> bool:
    """Whether a value is the result of an scf.if that yields one stream or another."""
    is_branch = isinstance(value, OpResult) and value.op.name == "scf.if"
    return is_branch and len({_root(source) for source in sources(value)}) > 1


def _states(value: SSAValue) -> list[SSAValue]:
    """The align operands of the instruction that gives a value."""
    operands = value.op.operands if isinstance(value, OpResult) else ()
    return [operand for operand in operands if isinstance(operand.type, AlignType)]


def _root(value: SSAValue) -> SSAValue:
    """The value at which the stream of a value begins; that of a loop is the one that it begins with."""
    while begun := sources(value) or _states(value):
        value = begun[0]
    return value


# --- where a value goes -----------------------------------------------------------------------------------------------


def _crosses_loop(value: SSAValue, user: Operation) -> bool:
    home = value.owner if isinstance(value.owner, Block) else value.owner.parent_block()
    return any(parent.name in ("scf.for", "scf.while") for parent in _ancestors_until(home, user))


def _ancestors_until(home: Block | None, op: Operation) -> Iterator[Operation]:
    """The operations around `op` that lie in a block, the last of them directly in `home`."""
    while op.parent_block() is not home and (parent := op.parent_op()) is not None:
        yield parent
        op = parent


def _is_consumed_elsewhere(value: SSAValue, user: Operation) -> bool:
    """Whether another consumer comes before this one on some path. Loops and yields are left to this one to report."""
    return any(
        not _are_alternatives(other, user) and (not other.name.startswith("pto.") or _precedes(other, user))
        for other in (use.operation for use in value.uses)
        if other is not user
    )


def goes_on_twice(value: SSAValue) -> bool:
    """Whether control may come to several uses of a value, or to one of them several times: to loops and yields, since
    those are not looked at above where no instruction of the stream takes the value beside them."""
    users = [use.operation for use in value.uses]
    return any(_crosses_loop(value, user) for user in users) or any(
        not _are_alternatives(one, other) for one, other in combinations(users, 2)
    )


def _lineage(op: Operation) -> list[Operation]:
    """The operation and everything around it, outermost first."""
    return [op, *around(op)][::-1]


def _are_alternatives(one: Operation, other: Operation) -> bool:
    """Whether they stand in the two branches of one scf.if, so that only one of them executes."""
    for first, second in zip(_lineage(one), _lineage(other), strict=False):
        if first is not second:
            parent = first.parent_op()
            return (
                parent is not None and parent.name == "scf.if" and first.parent_region() is not second.parent_region()
            )
    return False


def _precedes(one: Operation, other: Operation) -> bool:
    for first, second in zip(_lineage(one), _lineage(other), strict=False):
        if first is not second:
            return first.parent_block() is second.parent_block() and first.is_before_in_block(second)
    return False
