"""Arrays of the scalar unit that ids come from: counters that go round, and tables that are filled once.

A counter has one element: a constant to begin with, then what it was plus one, modulo a number. A table has a constant
for each place. Whatever else is done with an array, what it holds is only known when the kernel runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For
from ptosim.language.structure.function import Function
from ptosim.language.tile.tile_local import DeclareLocalArray, LocalArrayGet, LocalArraySet

_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")
_REMAINDERS = ("arith.remui", "arith.remsi")


@dataclass(frozen=True)
class RoundCounter:
    """An array that counts: `name` is below 0, in place of a loop."""

    name: int
    modulus: int


@dataclass(frozen=True)
class Tally:
    """An array that begins at 0 and grows by one in each iteration of a loop, and nowhere else."""

    step: LocalArraySet
    loop: For


@dataclass(frozen=True)
class FilledArray:
    """An array that is filled once."""

    values: Mapping[int, int]


Array = RoundCounter | Tally | FilledArray


def arrays_of(function: Function) -> dict[SSAValue, Array]:
    """The arrays of a function whose contents are known."""
    found: dict[SSAValue, Array] = {}
    for op in function.walk():
        if not isinstance(op, DeclareLocalArray):
            continue
        array = op.results[0]
        users = [use.operation for use in array.uses]
        sets = [user for user in users if isinstance(user, LocalArraySet)]
        gets = [user for user in users if isinstance(user, LocalArrayGet)]
        if len(sets) + len(gets) < len(users):
            continue
        modulus = _modulus(sets)
        if modulus is not None and all(_is_fresh(get, each) for get in gets for each in sets):
            found[array] = RoundCounter(-1 - len(found), modulus)
        elif (tally := _tally(sets)) is not None:
            found[array] = tally
        elif (table := _table(op, sets, gets)) is not None:
            found[array] = table
    return found


def goes_on(op: LocalArraySet) -> bool:
    """Whether a set lets a counter go on, rather than begin."""
    return constant_of(op.value) is None


# --- counters ---------------------------------------------------------------------------------------------------------


def _modulus(sets: list[LocalArraySet]) -> int | None:
    """The modulus of a counter; None for an array that does not count."""
    if any([constant_of(index) for index in each.indices] != [0] for each in sets):
        return None
    moduli = {_turned(each) for each in sets if goes_on(each)}
    starts = [constant_of(each.value) for each in sets if not goes_on(each)]
    modulus = moduli.pop() if len(moduli) == 1 else None
    return modulus if modulus is not None and all(s is not None and 0 <= s < modulus for s in starts) else None


def _turned(op: LocalArraySet) -> int | None:
    """The modulus of a set to (what was there + 1) modulo a number."""
    rest = _behind_casts(op.value)
    if not isinstance(rest, Operation) or rest.name not in _REMAINDERS:
        return None
    modulus = constant_of(rest.operands[1])
    return modulus if _is_one_more(op, rest.operands[0]) and modulus is not None and modulus > 1 else None


def _is_one_more(op: LocalArraySet, value: SSAValue) -> bool:
    """Whether a value is what was in the array, plus one."""
    total = _behind_casts(value)
    if not isinstance(total, Operation) or total.name != "arith.addi":
        return False
    before = [_behind_casts(value) for value in total.operands if constant_of(value) != 1]
    return len(before) == 1 and isinstance(before[0], LocalArrayGet) and before[0].array is op.array


def _tally(sets: list[LocalArraySet]) -> Tally | None:
    match sets:
        case [step] if isinstance(loop := step.parent_op(), For) and _is_one_more(step, step.value):
            return Tally(step, loop) if [constant_of(index) for index in step.indices] == [0] else None
        case _:
            return None


def passed(tally: Tally, get: Operation) -> int | None:
    """The growths of a tally in this iteration of its loop before it is read; None outside of the loop."""
    at = tally.loop.body.block.find_ancestor_op_in_block(get)
    return None if at is None else int(tally.step.is_before_in_block(at))


def _behind_casts(value: SSAValue) -> object:
    owner = value.owner
    while isinstance(owner, Operation) and owner.name in _CASTS:
        owner = owner.operands[0].owner
    return owner


def _is_fresh(get: LocalArrayGet, set_: LocalArraySet) -> bool:
    """Whether nothing uses what was read after the array has changed: the set comes first, or ends the block."""
    block = get.parent_block()
    assert block is not None
    inside = block.find_ancestor_op_in_block(set_)
    if inside is None:
        return True  # not in the block of the get: a value of there is not used here
    if inside.is_before_in_block(get):
        return True
    following = inside.next_op
    while following is not None and _is_scalar(following):
        following = following.next_op
    return inside is set_ and following is None


def _is_scalar(op: Operation) -> bool:
    """Whether an operation has nothing to do with pipes."""
    is_array = isinstance(op, LocalArrayGet | LocalArraySet)
    return is_array or not (op.regions or op.name.startswith("pto."))


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(op: Operation, sets: list[LocalArraySet], gets: list[LocalArrayGet]) -> FilledArray | None:
    """The constants of an array that is filled in the block of its declaration before anything is read."""
    values: dict[int, int] = {}
    block = op.parent_block()
    for each in sets:
        index, value = constant_of(each.indices[0]) if len(each.indices) == 1 else None, constant_of(each.value)
        if index is None or value is None or index in values or each.parent_block() is not block:
            return None
        values[index] = value
    assert block is not None
    readers = [block.find_ancestor_op_in_block(get) for get in gets]
    is_filled = all(reader and each.is_before_in_block(reader) for reader in readers for each in sets)
    return FilledArray(values) if values and is_filled else None
