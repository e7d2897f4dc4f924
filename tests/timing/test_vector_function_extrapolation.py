"""Leaving out the repetitions of a periodic schedule changes nothing but the time it takes to find the result."""

from collections.abc import Iterator
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptosim.target import load_target
from ptosim.timing import vector_function as model
from ptosim.timing.critical_path import Clock, Repetition
from ptosim.timing.program import Body, ModelBranch, ModelInstruction, ModelLoop, Path
from ptosim.timing.vector_function import vector_function
from timing.calibration_points import loop_program

A5 = load_target("a5")
CLASSES = ["load", "store", "add", "multiply", "exp", "reduce_add", "load_pair", "gather", "mask", "scalar", "rename"]


def in_full(program: Body, path: Path) -> object:
    """The same without any extrapolation."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_ENDING", 10**9)
        result = vector_function(program, path, A5)
    return result.cycles, result.busy


def extrapolated(program: Body, path: Path) -> object:
    """With extrapolation wherever it is possible, even where it does not pay."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_PATIENCE", 0)
        result = vector_function(program, path, A5)
    assert result.startup + result.drain + sum(result.lines.values()) == result.cycles == sum(result.causes.values())
    assert min(result.lines.values(), default=0) >= 0 <= min(result.causes.values())
    assert max(result.busy.values()) <= result.cycles
    return result.cycles, result.busy


@st.composite
def bodies(draw: st.DrawFn, depth: int, known: tuple[int, ...]) -> Body:
    """Random instructions and loops; values are numbered by drawing, so that some are defined more than once."""
    nodes: list[object] = []
    for _ in range(draw(st.integers(1, 5))):
        if depth and draw(st.integers(0, 3)) == 0:
            nodes.append(draw(loops(depth - 1, known)))
            continue
        if depth and draw(st.integers(0, 7)) == 0:
            sides = draw(bodies(depth - 1, known)), draw(bodies(depth - 1, known))
            nodes.append(ModelBranch(tuple(known[:1]), *sides))
            continue
        timing_class = draw(st.sampled_from(CLASSES))
        sources = tuple(draw(st.lists(st.sampled_from((-1, *known)), max_size=3)))
        value = draw(st.integers(0, 30))
        kind = {"mask": "masks", "scalar": "updates", "store": None}.get(timing_class, "results")
        results = {kind: (value,)} if kind else {}
        nodes.append(ModelInstruction(timing_class, timing_class, draw(st.sampled_from((2, 4))), sources, **results))
        if kind:
            known = (*known, value)
    return tuple(nodes)  # pyright: ignore


@st.composite
def loops(draw: st.DrawFn, depth: int, known: tuple[int, ...]) -> ModelLoop:
    argument, result = draw(st.integers(31, 40)), draw(st.integers(41, 50))
    body = draw(bodies(depth, (*known, argument)))
    yielded = draw(st.sampled_from([argument, *range(31)]))
    return ModelLoop(body, (-1,), (argument,), (yielded,), (result,))


def path_through(body: Body, trips: Iterator[int]) -> Iterator[int]:
    for node in body:
        if isinstance(node, ModelLoop):
            count = next(trips)
            yield count
            for _ in range(count):
                yield from path_through(node.body, trips)
        elif isinstance(node, ModelBranch):
            taken = next(trips) % 2
            yield taken
            yield from path_through(node.then if taken else node.otherwise, trips)


@given(st.data())
def test_random_programs(data: st.DataObject):
    body = data.draw(bodies(2, (0, 1)))
    pattern = data.draw(st.lists(st.integers(0, 40), min_size=1, max_size=3))

    def endless() -> Iterator[int]:
        while True:
            yield from pattern

    path: list[int] = []
    for step in path_through(body, endless()):
        path.append(step)
        if len(path) > 300:
            return  # too long to simulate in full
    assert extrapolated(body, tuple(path)) == in_full(body, tuple(path))


@pytest.mark.parametrize("timing_class, loads", [("add", 2), ("exp", 1), ("min_scalar", 1), ("divide", 2)])
@pytest.mark.parametrize("path", [(1, 700), (25, *[31] * 25), (40, *[3, 5] * 20), (12, *range(12))])
def test_loops_over_rows(timing_class: str, loads: int, path: Path):
    program = loop_program("op", timing_class, loads, post_update=False)
    assert extrapolated(program, path) == in_full(program, path)


@pytest.mark.parametrize("sides", [[1] * 300 + [0] * 300, [1, 0, 0] * 200, [1] * 200 + [0, 1] * 200 + [1] * 150])
def test_branches_that_change_their_mind(sides: list[int]):
    then = (ModelInstruction("exp", "exp", 4, (1,), (2,)),)
    otherwise = (ModelInstruction("add", "add", 4, (1,), (3,)),)
    branch = ModelBranch((), then, otherwise, (2,), (3,), (4,))
    body = (ModelInstruction("load", "load", 4, (), (1,)), branch, ModelInstruction("store", "store", 4, (4,)))
    program, path = (ModelLoop(body),), (len(sides), *sides)
    assert extrapolated(program, path) == in_full(program, path)


def test_repetitions_inside_repetitions():
    # 0..10 stands for itself and 2 more; within it 3..5 for itself and 9 more; 20..21 for itself and 1 more.
    clock = Clock([Repetition(3, 5, 9), Repetition(0, 10, 2), Repetition(20, 21, 1)])
    assert [clock.weight(cycle) for cycle in (0, 3, 4, 5, 9, 10, 20, 21)] == [3, 30, 30, 3, 3, 1, 2, 1]
    assert clock.time(10) == 3 * (8 + 2 * 10)
    assert clock.time(25) == 84 + 10 + 2 + 4
    assert Clock([]).time(7) == 7


def test_long_loops_are_quick():
    program = loop_program("vadd", "add", 2, post_update=True)
    begin = perf_counter()
    cycles = vector_function(program, (10**9,), A5).cycles
    rows = vector_function(loop_program("vexp", "exp", 1, post_update=False), (10**4, *[10**4] * 10**4), A5).cycles
    assert perf_counter() - begin < 10  # simulated in full it would be hours
    assert cycles == pytest.approx(2 * 10**9, rel=1e-6)
    assert rows == pytest.approx(2 * 10**8, rel=1e-3)


@pytest.mark.parametrize("body", [(), (ModelInstruction("mem_bar", "fence", 4),)], ids=["nothing", "a fence"])
def test_long_loops_that_issue_nothing_are_quick(body: Body):
    # An iteration takes a cycle, whatever is in it; a load before the loop lets its entry count.
    begin = perf_counter()
    load = ModelInstruction("vlds", "load", 4, (-1,), (1,))
    cycles = vector_function((load, ModelLoop(body), load), (10**9,), A5).cycles
    assert perf_counter() - begin < 10 and cycles == pytest.approx(10**9, rel=1e-6)
