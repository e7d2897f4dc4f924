"""Signals of FIFOs, as the lowering of tiles writes them: which conditions and loops give slots back some at a time.

An attribute says how many slots a FIFO has and how many come back together. It is believed only where the condition
around the signal, or the count of the loop, is the one that goes with these numbers (tiles/fifo/fifo_direction.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from ptosim.effects.sync import SIGNALS
from ptosim.language.micro.sync_semaphore import fifo_of
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For, If, Yield
from ptosim.language.structure.scalar_cast import CmpI
from ptosim.language.tile.tile_local import LocalArrayGet


def slot_signals(op: If | For) -> list[Operation]:
    """The signals of FIFOs that an operation consists of; nothing if there is anything else in it, or if it does not
    give back what they say."""
    inside = [each for region in op.regions for each in region.walk() if not isinstance(each, Yield)]
    if not inside or not all(each.name in SIGNALS and fifo_of(each) is not None for each in inside):
        return []
    follows = _counts_drained if isinstance(op, For) else _is_in_turn
    return inside if all(follows(op, each) for each in inside) else []


def _is_in_turn(op: If | For, signal: Operation) -> bool:
    """Whether a branch is taken for the first slot of each turn; where slots are waited for, from the second time on
    that they are filled."""
    assert isinstance(op, If)
    slots, period = fifo_of(signal) or (0, 1)
    conditions = list(_conjuncts(op.cond))
    turns = [_remainder_of(_number_of(each, "eq", 0), period) for each in conditions]
    counts = [count for count in turns if count is not None]
    if SIGNALS[signal.name].half == "wait":
        later = [_number_of(each, "uge", slots) for each in conditions]
        counts += [count for count in later if count is not None]
        if all(count is None for count in later):
            return False
    return len(conditions) == len(counts) and len(set(counts)) == 1 and _counts(counts[0])


def _counts_drained(op: If | For, signal: Operation) -> bool:
    """Whether a loop goes round for each turn that was given back and not waited for: of a count c of entries, in turns
    of P, c / P - max(ceil(c / P) - slots / P, 0)."""
    assert isinstance(op, For)
    slots, period = fifo_of(signal) or (0, 1)
    left = _operands(_uncast(op.ub), "arith.subi")
    if constant_of(op.lb) != 0 or constant_of(op.step) != 1 or left is None:
        return False
    given, used = left
    most = _operands(used, "arith.maxsi")
    rest = _operands(most[0], "arith.subi") if most is not None and constant_of(most[1]) == 0 else None
    if rest is None or constant_of(rest[1]) != slots // period:
        return False
    counts = [_divided(given, "arith.divui", period), _divided(rest[0], "arith.ceildivui", period)]
    return counts[0] is not None and counts[0] is counts[1] and _counts(counts[0])


def _conjuncts(condition: SSAValue) -> Iterator[SSAValue]:
    both = _operands(condition, "arith.andi")
    if both is None:
        yield condition
    else:
        for each in both:
            yield from _conjuncts(each)


def _operands(value: SSAValue, name: str) -> tuple[SSAValue, SSAValue] | None:
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != name:
        return None
    first, second = owner.operands
    return first, second


def _number_of(condition: SSAValue, predicate: str, number: int) -> SSAValue | None:
    """The value that is compared so with a number."""
    owner = condition.owner
    is_meant = isinstance(owner, CmpI) and owner.word("predicate") == predicate and constant_of(owner.rhs) == number
    return owner.lhs if isinstance(owner, CmpI) and is_meant else None


def _remainder_of(value: SSAValue | None, divisor: int) -> SSAValue | None:
    parts = None if value is None else _operands(value, "arith.remui")
    return parts[0] if parts is not None and constant_of(parts[1]) == divisor else None


def _divided(value: SSAValue, name: str, divisor: int) -> SSAValue | None:
    """The dividend of a division by a number; by one it is the value itself."""
    parts = _operands(value, name)
    if parts is None:
        return value if divisor == 1 else None
    return parts[0] if constant_of(parts[1]) == divisor else None


def _uncast(value: SSAValue) -> SSAValue:
    owner = value.owner
    return owner.operands[0] if isinstance(owner, Operation) and owner.name == "arith.index_cast" else value


def _counts(value: SSAValue) -> bool:
    """Whether a value is a count of entries, which a cell of an array has, or such a count and a number."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return False
    return isinstance(owner, LocalArrayGet) or (owner.name == "arith.addi" and _counts(owner.operands[0]))
