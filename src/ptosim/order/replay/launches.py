"""The launches that are worth a replay: small numbers for the integers of a kernel, so that each loop runs some times
and each branch goes both ways.

What an integer is divided by, compared with or stepped through says in which units it counts: rows of 16 want 16, 32
and 48 as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from xdsl.ir import SSAValue

from ptosim.language.analysis.scalar_rules import bits_of, is_number
from ptosim.language.micro.pointer import LdDev, LoadScalar
from ptosim.language.operation import enclosing_scope
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For, If, While
from ptosim.language.structure.function import Function, reached
from ptosim.order.replay.scalar_run import ReplayLaunch

MOST_TRIPS = 3
"""The most iterations of loops that an integer alone decides."""
_MOST_VALUES = 12
_LONGEST_ROW = 64
_DIVIDING = frozenset(
    f"arith.{name}" for name in ("divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "minsi", "minui")
)


def launches(functions: Sequence[Function], most: int, trips: int = MOST_TRIPS) -> Iterator[ReplayLaunch]:
    """Launches, the smallest first, at most so many for each answer of data."""
    longest = max(functions, key=lambda function: len(function.body.block.args))
    values = [_values(_of(functions, index), trips) for index in range(len(longest.body.block.args))]
    arms = range(2 if any(_is_open(function) for function in functions) else 1)
    for indices in _smallest_first([len(each) for each in values], most):
        scalars = tuple(each[index] for each, index in zip(values, indices, strict=True))
        for arm in arms:
            yield ReplayLaunch(scalars, data=arm, arm=arm)


def _of(functions: Sequence[Function], index: int) -> list[SSAValue]:
    """An argument, in each of the programs that have it."""
    found = [function.body.block.args for function in functions]
    return [arguments[index] for arguments in found if index < len(arguments)]


def _smallest_first(sizes: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Choices of one of so many each, by growing sum."""
    given = 0
    for total in range(sum(size - 1 for size in sizes) + 1):
        for indices in _with_sum(sizes, total):
            yield indices
            given += 1
            if given >= most:
                return


def _with_sum(sizes: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if total == 0:
            yield ()
        return
    for first in range(min(sizes[0] - 1, total) + 1):
        for rest in _with_sum(sizes[1:], total - first):
            yield (first, *rest)


def _values(arguments: Iterable[SSAValue], trips: int) -> list[int | None]:
    """The possible values of an argument: none that are known if it is no integer."""
    arguments = list(arguments)
    if not all(map(is_number, arguments)) or not arguments:
        return [None]
    if bits_of(arguments[0].type) == 1:
        return [0, 1]
    units, limits, rows = set[int](), set[int](), set[int]()
    for argument in arguments:
        _learn(argument, units, limits, rows)
    found = [*range(trips + 1), *sorted(rows)]
    found += [unit * times for times in range(1, trips + 1) for unit in sorted(units)]
    found += [limit + by for limit in sorted(limits) for by in (0, 1, -1)]
    return list(dict.fromkeys(found))[:_MOST_VALUES]  # pyright: ignore[reportReturnType]


def _learn(argument: SSAValue, units: set[int], limits: set[int], rows: set[int]) -> None:
    """The unit of an argument, the numbers compared with it, and the iterations of a loop that make the next one of a
    loop around it."""
    pending, seen = [argument], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            op = use.operation
            others = [known for each in op.operands if (known := constant_of(each)) is not None]
            if isinstance(op, For):
                step = constant_of(op.step)
                units.update({step} if step is not None and step > 1 and use.index == 1 else ())
                rows.update(_overlong(op) if use.index == 1 else ())
            elif op.name == "arith.cmpi":
                limits.update(others)
            elif op.name.startswith("arith."):
                units.update(other for other in others if op.name in _DIVIDING and other > 1)
                pending += op.results


def _overlong(loop: For) -> Iterator[int]:
    """Iterations after which what a loop counts, times a stride, is as far on as one of a loop around it."""
    own, around = _strides(loop), loop.parent_op()
    while around is not None and not isinstance(around, Function):
        for far, near in product(_strides(around) if isinstance(around, For) else (), own):
            if far % near == 0 and 1 < far // near <= _LONGEST_ROW:
                yield far // near + 1
        around = around.parent_op()


def _strides(loop: For) -> set[int]:
    """The factor of the index of a loop."""
    uses = (use.operation for use in loop.body.block.args[0].uses)
    known = (constant_of(value) for op in uses if op.name == "arith.muli" for value in op.operands)
    return {abs(each) for each in known if each}


def _is_open(function: Function) -> bool:
    """Whether data may decide how a program goes on: something is loaded, and there are loops or branches."""
    operations = list(reached(function))
    loads = any(op.name in (LoadScalar.name, LdDev.name, "arith.cmpf") for op in operations)
    return loads and any(isinstance(op, For | If | While) for op in operations)


def sizes(functions: Sequence[Function]) -> tuple[int, ...]:
    """The integer arguments that decide which bytes are touched and nothing else, as strides and lengths do: some of
    their values are wrong though the kernel is in order."""
    longest = max(functions, key=lambda function: len(function.body.block.args))
    numbers = range(len(longest.body.block.args))
    return tuple(number for number in numbers if _uses(_of(functions, number)) == {"bytes"})


def _uses(arguments: Sequence[SSAValue]) -> set[str]:
    """The uses of an argument: bytes, or branches of the program."""
    pending = [value for value in arguments if is_number(value)]
    seen, found = set[SSAValue](), set[str]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            op = use.operation
            if op.name.startswith("arith."):
                found |= {"way"} if op.name in _CHOOSING else set()
                pending += op.results if op.name not in _CHOOSING else ()
            else:
                is_turn = isinstance(op, For) and use.index == 1 and enclosing_scope(op) is None
                is_way = isinstance(op, If) or is_turn or "flag" in op.name
                found.add("way" if is_way else "bytes")
    return found


def decide_bytes(functions: Sequence[Function]) -> bool:
    """Whether an integer argument decides which bytes are touched."""
    longest = max(functions, key=lambda function: len(function.body.block.args))
    return any("bytes" in _uses(_of(functions, number)) for number in range(len(longest.body.block.args)))


_CHOOSING = frozenset(("arith.cmpi", "arith.remui", "arith.remsi", "arith.andi"))
"""Operations that leave few values of a number: a branch, a slot."""
