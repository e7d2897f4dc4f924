"""Ids that only the run knows: where both sides of a flag or a buffer name the same value, no number is needed.

Such a value is followed under a name of its own. It may be any number, so all flags of its two pipes, or all buffers of
its core, have to name the same one; and where it is another one in each iteration of a loop, each iteration has to take
what it sets. An id that cannot be followed is named with its reason, by value and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import BlockArgument, Operation, SSAValue

from ptosim.language.micro.pointer import LdDev, LoadScalar
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.function import Function
from ptosim.language.text.parser import ParsedModule
from ptosim.language.tile.tile_local import LocalArrayGet
from ptosim.order.model import Flag, GetBuffer, Id, Node, OrderProgram, ReleaseBuffer
from ptosim.order.number import LONGEST_PERIOD, Linear, Number, Periodic, key_of, periodic

EXISTING = "ids that only the run knows are ids of the machine"
_NAMED = "value "
_DIVISIONS = frozenset(f"arith.{name}" for name in ("divsi", "divui", "floordivsi", "remsi", "remui", "ceildivsi"))


def id_of(number: Number) -> Id:
    """A number, one in turn, or the name of a value that only the run knows. The index of a loop that runs a few times
    takes its values in turn."""
    if isinstance(number, Periodic):  # in a loop around its own it may have others in turn
        return number if all(isinstance(each, int) for each in number.values) else None
    if isinstance(number, int):
        return number
    (index, factor), *others = number.terms.items()
    if not others and index.loop is not None and index.high is not None and index.high < LONGEST_PERIOD:
        found = periodic(index.loop, (), tuple(number.constant + factor * turn for turn in range(index.high + 1)))
        return None if isinstance(found, Linear) else found
    is_one = all(each.is_single for each in number.terms)
    return f"{_NAMED}{' '.join(map(str, key_of(number)))}" if is_one else None


def is_named(id_: Id) -> bool:
    """Whether an id is a value that only the run knows."""
    return isinstance(id_, str) and id_.startswith(_NAMED)


def loops_of(number: Number) -> tuple[int, ...]:
    """The loops in which a value that only the run knows may be another one in each iteration."""
    return max((each.loops for each in number.terms), key=len, default=()) if isinstance(number, Linear) else ()


def settle(program: OrderProgram) -> None:
    """Keep the names of values where nothing else may be the same id; of buffers those that are always the same."""
    groups: dict[tuple[object, ...], list[Flag | GetBuffer | ReleaseBuffer]] = {}
    for node in program.body.walk():
        if isinstance(node, Flag):
            groups.setdefault((node.source, node.destination), []).append(node)
        elif isinstance(node, GetBuffer | ReleaseBuffer):
            groups.setdefault((), []).append(node)
    for nodes in groups.values():
        ids = [node.id for node in nodes if not is_token(node.id)]
        is_alone = all(map(is_named, ids)) and len(set(map(str, ids))) == 1
        for node in nodes:
            if is_named(node.id) and not (is_alone and (isinstance(node, Flag) or not node.varies)):
                node.id = None


def is_token(id_: Id) -> bool:
    """Private tokens of a lowering have ids of their own."""
    return isinstance(id_, str) and not is_named(id_)


# --- what cannot be followed ------------------------------------------------------------------------------------------


def unfollowed(parsed: ParsedModule, nodes: Iterable[Node]) -> Iterator[tuple[Operation, str, str | None]]:
    """For each value that is an id and cannot be followed: the first use, the message, and the text to write
    instead."""
    users: dict[SSAValue | None, list[Operation]] = {}
    for node in nodes:
        users.setdefault(_value(node.op), []).append(node.op)
    for value, operations in users.items():
        if value is None:
            yield from ((op, f"the id of {op.name} is only known when it runs", None) for op in operations)
            continue
        thing = "buffer" if "buf" in operations[0].name else "flag"
        why, hint = _reason(parsed, value)
        lines = [place.shown.line for op in operations if (place := parsed.location(op)) is not None]
        where = f"line {lines[0]}" if min(lines) == max(lines) else f"lines {min(lines)} to {max(lines)}"
        name = f" {name_in(parsed, value)}" if value in parsed.definitions else ""
        message = f"cannot follow the {thing} id{name} ({why}): nothing is decided about {where}"
        yield operations[0], message, hint


def _value(op: Operation) -> SSAValue | None:
    """The operand that says which id is meant."""
    if not isinstance(op, PTOOperation):
        return None
    role = next((role for role in ("event", "id") if role in op.operand_roles and op.segment(role)), None)
    return None if role is None else op.segment(role)[0]


def name_in(parsed: ParsedModule, value: SSAValue) -> str:
    span = parsed.definitions.get(value)
    return "a value" if span is None else span.text


def _reason(parsed: ParsedModule, value: SSAValue) -> tuple[str, str | None]:
    """The obstacle, and the text to write instead."""
    seen: list[SSAValue] = []
    pending = [value]
    while pending:
        latest = pending.pop(0)
        if latest not in seen:
            seen.append(latest)
            owner = latest.owner
            arithmetic = isinstance(owner, Operation) and owner.name.startswith("arith.")
            pending += owner.operands if isinstance(owner, Operation) and arithmetic else ()
    for each in seen:
        op = each.owner
        if isinstance(op, Operation) and op.name in _DIVISIONS and constant_of(op.operands[1]) is None:
            by = name_in(parsed, op.operands[1])
            hint = "count iterations 0, 1, 2 ... and take arith.remui of that"
            return f"{_line(parsed, op)}a division by {by}, which only the run knows", hint
    for each in seen:
        op = each.owner
        if isinstance(op, LoadScalar | LdDev):
            return f"{_line(parsed, op)}a value that is loaded", None
        if isinstance(op, LocalArrayGet):
            return f"{_line(parsed, op)}an array with values that only the run knows", None
    for each in seen:
        if isinstance(each, BlockArgument):
            kind = "an argument" if isinstance(each.owner.parent_op(), Function) else "carried by a loop"
            return f"{name_in(parsed, each)} is {kind}", None
    last = seen[-1].owner
    return (f"{_line(parsed, last)}{last.name}" if isinstance(last, Operation) else "only the run knows it"), None


def _line(parsed: ParsedModule, op: Operation) -> str:
    place = parsed.location(op)
    return "" if place is None else f"line {place.shown.line}: "
