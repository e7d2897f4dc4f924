"""The A2A3 vector unit: a head while the pipe is empty, a slope for each instruction, a tail before the next sync.

A vector function pays the head of the first instruction that it executes, the slope of every one and the largest tail.
The order of the others does not matter, so that counting them is enough.
"""

from collections import Counter
from collections.abc import Iterator
from math import ceil

from ptosim.target.tables import RepeatUnit
from ptosim.timing.function_time import VectorFunctionTiming
from ptosim.timing.program import Body, LoopTurns, ModelBranch, ModelInstruction, ModelLoop, ModelWhile, Way

_NOT_OF_THE_VECTOR_UNIT = frozenset({"scalar", "rename", "fence"})

Counts = Counter[tuple[str, int]]  # executions by timing class and line


def time(body: Body, way: Way, unit: RepeatUnit) -> VectorFunctionTiming:
    """The cycles of one execution; KeyError for a timing class that the target does not have."""
    executed = list(_executed(body, way, 1))
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
    causes = sorted({"launch": head + tail, "issue": slope}.items(), key=lambda item: -item[1])
    return VectorFunctionTiming(
        cycles=ceil(head + slope + tail),
        startup=head,
        drain=tail,
        lines={line: cycles for line, cycles in sorted(lines.items()) if cycles},
        causes=dict(causes),
        busy={"issue": slope},
        figures=frozenset(_figures(counts, first)),
        limit=causes[0][0],
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
        if not isinstance(node, ModelInstruction):
            for inner, inner_way, repeats in _passes(node, next(choices)):
                yield from _executed(inner, inner_way, times * repeats)
        elif node.timing_class not in _NOT_OF_THE_VECTOR_UNIT:
            yield node, times


def _passes(
    node: ModelLoop | ModelWhile | ModelBranch, choice: LoopTurns | tuple[int, Way]
) -> list[tuple[Body, Way, int]]:
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
