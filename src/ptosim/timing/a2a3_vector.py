"""The A2A3 vector unit: a head while the pipe is empty, a slope for each repeat, a tail before the next sync.

A tile operation pays one head, and for each instruction that it consists of on that machine the slope of its repeats
and its tail. Micro-instructions, which that machine does not have, pay the head of the first, the slope of every one
and the largest tail. The order does not matter in either, so that counting is enough.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import starmap
from math import ceil

from ptosim.target.classes import REPEATED_INSTRUCTIONS, UB_COPY
from ptosim.target.profile import Target
from ptosim.target.tables import RepeatUnit, column
from ptosim.timing.function_time import PricedInstruction, VectorFunctionTiming
from ptosim.timing.program import (
    Body,
    Choice,
    LoopTurns,
    ModelBranch,
    ModelInstruction,
    ModelLoop,
    ModelSequence,
    ModelWhile,
    SequenceSize,
    Way,
)

_NOT_OF_THE_VECTOR_UNIT = frozenset({"scalar", "rename", "fence"})

REPEAT_BYTES = 256
MOST_REPEATS = 255
"""The most repeats of one instruction: more are several instructions."""

Counts = Counter[tuple[str, int]]  # executions by timing class and line
Sized = tuple[ModelSequence, SequenceSize]


def time(body: Body, way: Way, target: Target) -> VectorFunctionTiming:
    """The cycles of one execution; KeyError for a timing class that the target does not have."""
    assert isinstance(target.vector, RepeatUnit)
    with_choice = [node for node in body if not isinstance(node, ModelInstruction)]
    sized = [
        (node, size)
        for node, size in zip(with_choice, way, strict=True)
        if isinstance(node, ModelSequence) and isinstance(size, SequenceSize)
    ]
    if sized:
        return _tile_operation(
            [(node, size) for node, size in sized if min(size.times, size.repeats) > 0], target, target.vector
        )
    return _micro_instructions(body, way, target.vector)


# --- tile operations --------------------------------------------------------------------------------------------------


def _tile_operation(sized: list[Sized], target: Target, unit: RepeatUnit) -> VectorFunctionTiming:
    """The instructions of the machine, one after the other."""
    head = unit.tile.head if sized else 0
    count_mode = unit.tile.count_mode if any(node.is_counted for node, _ in sized) else 0
    instructions = tuple(_priced(node, size, target, unit) for node, size in sized)
    spent = sum(each.cycles for each in instructions)
    lines: dict[int, float] = {}
    for each in instructions:
        lines[each.line] = lines.get(each.line, 0) + each.cycles
    return VectorFunctionTiming(
        cycles=ceil(head + count_mode + spent),
        startup=head + count_mode,
        drain=0,
        lines={line: cycles for line, cycles in sorted(lines.items()) if cycles},
        causes=_largest_first({"launch": head + count_mode, "issue": spent}),
        busy={"issue": spent},
        figures=frozenset(_tile_figures(sized, count_mode)),
        limit="issue" if spent > head + count_mode else "launch",
        heads=tuple(part for part in (head, count_mode) if part),
        instructions=instructions,
    )


def _priced(node: ModelSequence, size: SequenceSize, target: Target, unit: RepeatUnit) -> PricedInstruction:
    if node.name == UB_COPY:
        cycles = target.dma["ub_ub"].cycles(size.bytes)
        return PricedInstruction(node.name, size.times, 1, cycles, 0, 1.0, node.line, 0, size.bytes)
    price = unit.instructions[node.name]
    pieces = -(-size.repeats // MOST_REPEATS)
    whole = size.repeats * REPEAT_BYTES
    times, repeats = (size.times, size.repeats) if pieces == 1 else (size.times * pieces, size.repeats / pieces)
    return PricedInstruction(
        node.name,
        times,
        repeats,
        price.slope[column(node.width)],
        price.tail,
        size.bytes / whole if whole else 1.0,
        node.line,
        column(node.width),
        size.bytes,
    )


def _tile_figures(sized: list[Sized], count_mode: float) -> Iterator[str]:
    if sized:
        yield "tile.head"
    if count_mode:
        yield "tile.count_mode"
    for node, _ in sized:
        if node.name == UB_COPY:
            yield from ("dma.ub_ub.bytes_per_cycle", "dma.ub_ub.startup")
        else:
            yield from starmap("instruction.{}.{}".format, ((REPEATED_INSTRUCTIONS[node.name], of) for of in _OF_EACH))


_OF_EACH = ("slope", "tail")


def _largest_first(causes: dict[str, float]) -> dict[str, float]:
    return dict(sorted(causes.items(), key=lambda item: -item[1]))


# --- micro-instructions -----------------------------------------------------------------------------------------------


def _micro_instructions(body: Body, way: Way, unit: RepeatUnit) -> VectorFunctionTiming:
    executed = [(node, times) for node, times in _executed(body, way, 1) if any(unit.classes[node.timing_class])]
    first = executed[0][0] if executed else None
    counts: Counts = Counter()
    for instruction, times in executed:
        counts[instruction.timing_class, instruction.line] += times
    head = unit.classes[first.timing_class].head if first else 0
    tail = max((unit.classes[timing_class].tail for timing_class, _ in counts), default=0)
    lines: dict[int, float] = {}
    for (timing_class, line), times in counts.items():
        lines[line] = lines.get(line, 0) + times * unit.classes[timing_class].slope
    slope = sum(lines.values())
    causes = _largest_first({"launch": head + tail, "issue": slope})
    return VectorFunctionTiming(
        cycles=ceil(head + slope + tail),
        startup=head,
        drain=tail,
        lines={line: cycles for line, cycles in sorted(lines.items()) if cycles},
        causes=causes,
        busy={"issue": slope},
        figures=frozenset(_figures(counts, first)),
        limit=next(iter(causes)),
    )


def _figures(counts: Counts, first: ModelInstruction | None) -> Iterator[str]:
    if first:
        yield f"class.{first.timing_class}.head"
    for timing_class, _ in counts:
        yield f"class.{timing_class}.slope"
        yield f"class.{timing_class}.tail"


def _executed(body: Body, way: Way, times: int) -> Iterator[tuple[ModelInstruction, int]]:
    """The instructions of the vector unit, in the order in which they come first, and how often they are executed."""
    choices = iter(way)
    for node in body:
        if isinstance(node, ModelInstruction):
            if node.timing_class not in _NOT_OF_THE_VECTOR_UNIT:
                yield node, times
            continue
        choice = next(choices)
        if not isinstance(node, ModelSequence):
            for inner, inner_way, repeats in _passes(node, choice):
                yield from _executed(inner, inner_way, times * repeats)


def _passes(node: ModelLoop | ModelWhile | ModelBranch, choice: Choice) -> list[tuple[Body, Way, int]]:
    """The bodies that a control node runs, each with its way and how often."""
    if isinstance(node, ModelBranch):
        assert isinstance(choice, tuple)
        taken, way = choice
        return [(node.then if taken else node.otherwise, way, 1)]
    assert isinstance(choice, LoopTurns)
    body = node.body if isinstance(node, ModelLoop) else (*node.before, *node.after)
    ways = Counter(choice.ways[: choice.count]) if choice.ways else {(): choice.count}
    passes = [(body, way, repeats) for way, repeats in ways.items() if repeats]
    if isinstance(node, ModelWhile):
        passes.append((node.before, choice.way(choice.count), 1))
    return passes
