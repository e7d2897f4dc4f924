"""Flags and semaphores that the rest of a program may still set.

The answer errs on the side of yes: branches may go either way unless the arguments of the program decide them, loops
may run again, a helper may return to any of its callers, and an id that is computed may be any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from xdsl.ir import Operation, SSAValue

from ptosim.effects.names import CoreKind
from ptosim.effects.sim_signal import WRITERS
from ptosim.effects.sync import SIGNALS
from ptosim.language.analysis.fast_walk import around
from ptosim.language.analysis.scalar_rules import evaluated, rule_of
from ptosim.language.analysis.unit_flags import unit_flag
from ptosim.language.micro.scope import Section
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import If
from ptosim.language.structure.function import Call, Function

_SETS = frozenset(name for name, signal in SIGNALS.items() if signal.half == "set") | WRITERS


class SignalName(Protocol):
    """The name under which a set and a wait find each other, as the machine has it."""

    @property
    def mechanism(self) -> str: ...
    @property
    def id(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def destination(self) -> str: ...
    @property
    def written(self) -> tuple[int, ...]:
        """The ids by which the setting core may spell it."""
        ...


def sets(op: PTOOperation, signal: SignalName) -> bool:
    """Whether an operation that sets something may set this; any that writes words may write this one."""
    if signal.mechanism == "unit" or unit_flag(op) is not None:
        return signal.mechanism == "unit" and unit_flag(op) == signal.destination
    if signal.mechanism == "signal" or op.name in WRITERS:
        return signal.mechanism == "signal" and op.name in WRITERS
    return signal.mechanism in SIGNALS[op.name].mechanisms and _NAMES.get(signal.mechanism, _has_id)(op, signal)


def following_sets(op: Operation, kind: CoreKind) -> tuple[PTOOperation, ...]:
    """The operations that set something and may come after this one on a core of this kind."""
    found: dict[PTOOperation, None] = {}
    done: set[Operation] = set()
    called: set[Function] = set()
    todo = [op]
    while todo:
        here = todo.pop()
        if here in done:
            continue
        done.add(here)
        if isinstance(here, Function):
            todo += _callers(here)
            continue
        for later in _after(here):
            found.update(dict.fromkeys(_sets_in(later, kind, called)))
        if (parent := here.parent_op()) is not None:
            todo.append(parent)
    return tuple(found)


def sets_of(function: Function, kind: CoreKind) -> tuple[PTOOperation, ...]:
    """The operations of a program that set something on a core of this kind."""
    return tuple(_sets_in(function, kind, set()))


def _after(op: Operation) -> Iterator[Operation]:
    """Operations behind an operation in its block, and before it if that block is repeated."""
    parent, block = op.parent_op(), op.parent_block()
    if parent is not None and parent.name in ("scf.for", "scf.while"):
        yield from (inner for region in parent.regions for block in region.blocks for inner in block.ops)
    elif block is not None:
        later = op.next_op
        while later is not None:
            yield later
            later = later.next_op


def _callers(function: Function) -> list[Operation]:
    *_, top = function, *around(function)
    return [op for op in top.walk() if isinstance(op, Call) and op.function is function]


def _sets_in(op: Operation, kind: CoreKind, called: set[Function]) -> Iterator[PTOOperation]:
    """The sets in an operation and the functions that it calls, unless they are among those `called` already.

    The sections of other cores are passed over.
    """
    if isinstance(op, Section) and op.core is not kind:
        return
    if isinstance(op, PTOOperation) and (op.name in _SETS or unit_flag(op) is not None):
        yield op
    regions = list(op.regions)
    if isinstance(op, Call) and op.function is not None and op.function not in called:
        called.add(op.function)
        regions.append(op.function.body)
    for region in regions:
        for block in region.blocks:
            for inner in block.ops:
                yield from _sets_in(inner, kind, called)


# --- branches that arguments decide -----------------------------------------------------------------------------------


def is_left_out(op: Operation, given: Mapping[SSAValue, int]) -> bool:
    """Whether an operation stands in a branch that the arguments of its program do not take."""
    while (parent := op.parent_op()) is not None and not isinstance(parent, Function):
        if isinstance(parent, If):
            taken = _number(parent.cond, given)
            if taken is not None and op.parent_region() is not parent.regions[0 if taken else 1]:
                return True
        op = parent
    return False


def _number(value: SSAValue, given: Mapping[SSAValue, int]) -> int | None:
    """A value that follows from the arguments by scalar arithmetic."""
    found = given.get(value, constant_of(value))
    op = value.owner
    if found is None and isinstance(op, PTOOperation) and (rule := rule_of(op)) is not None:
        found = evaluated(rule, [_number(operand, given) for operand in op.operands])
    return found


# --- which key an operation sets --------------------------------------------------------------------------------------


def _pipes(op: PTOOperation) -> tuple[str, ...]:
    return tuple((op.word(role) or "").removeprefix("PIPE_") for role in ("source", "destination"))


def _is_flag(op: PTOOperation, signal: SignalName) -> bool:
    word = op.word("event")
    number = constant_of(op.segment("event")[0]) if word is None else int(word.removeprefix("EVENT_ID"))
    return _pipes(op) == (signal.source, signal.destination) and number in (None, signal.id)


def _is_token(op: PTOOperation, signal: SignalName) -> bool:
    return _pipes(op) == (signal.source, signal.destination) and op.facts()["number"] == signal.id


def _has_id(op: PTOOperation, signal: SignalName) -> bool:
    literal = op.integer("id_literal")
    number = literal if literal is not None else constant_of(next(iter(op.segment("id")), None))
    return number is None or number in signal.written


def _always(op: PTOOperation, signal: SignalName) -> bool:
    return True


_NAMES = {"flag": _is_flag, "token": _is_token, "syncall": _always}
"""The attribute that names what an operation sets, by mechanism; the others have ids."""
