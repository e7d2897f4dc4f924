"""The A2A3 vector model: one head, a slope for each instruction, the largest tail."""

import pytest

from ptosim.target import load_target
from ptosim.timing.function_time import VectorFunctionTiming
from ptosim.timing.program import ModelBranch, ModelInstruction, ModelLoop, ModelWhile, Node, Path
from ptosim.timing.vector_function import vector_function
from tables import table

A2A3 = load_target("a2a3")


def op(timing_class: str, line: int = 1) -> ModelInstruction:
    return ModelInstruction(timing_class, timing_class, 4, line=line)


def timing(*body: Node, path: Path = (), target: str = "a2a3") -> VectorFunctionTiming:
    return vector_function(body, path, load_target(target))


def test_one_instruction():
    assert timing(op("add")).cycles == 10 + 2 + 14
    assert timing(op("divide")).cycles == 11 + 4 + 19


def test_nothing_but_scalars():
    assert timing(op("scalar"), op("rename"), op("fence")).cycles == 0


def test_the_head_of_the_first_and_the_largest_tail():
    result = timing(op("scalar"), op("multiply_scalar", 2), op("sqrt", 3), op("add", 4), op("add", 4))
    assert (result.startup, result.drain) == (11, 25)
    assert result.lines == {2: 1, 3: 2, 4: 4}
    assert result.cycles == 11 + 7 + 25
    assert result.figures == {"class.multiply_scalar.head"} | {
        f"class.{name}.{figure}" for name in ("multiply_scalar", "sqrt", "add") for figure in ("slope", "tail")
    }


def test_repeats_in_loops():
    loop = ModelLoop((op("compare"), ModelLoop((op("add"),)), op("index")))
    assert timing(loop, path=(3, 4, 0, 2)).cycles == 14 + 3 * 4 + 6 * 2 + 22
    assert timing(loop, path=(2, 20, 5)).limit == "issue" and timing(op("add")).limit == "launch"


def test_loads_stores_and_masks_cost_nothing():
    assert timing(op("mask"), op("load"), op("add"), op("store")).cycles == 10 + 2 + 14
    assert timing(op("mask"), op("load"), op("store")).cycles == 0


def test_only_what_was_executed_counts():
    branch = ModelBranch((), (op("exp"),), (op("reduce_add"),))
    assert timing(branch, path=(1,)).cycles == 13 + 2 + 18
    assert timing(branch, path=(0,)).cycles == 14 + 7 + 32
    skipped = ModelLoop((op("sqrt"),))
    assert timing(skipped, op("add"), path=(0,)).cycles == 10 + 2 + 14


def test_a_while_decides_once_more_than_it_turns():
    loop = ModelWhile((op("compare"),), (), (op("add"),))
    assert timing(loop, path=(3,)).cycles == 14 + 4 * 2 + 3 * 2 + 22
    nested = ModelWhile((ModelBranch((), (op("compare"),)),), (), (op("add"),))
    assert timing(nested, path=(2, 1, 0, 1)).cycles == 14 + 2 * 2 + 2 * 2 + 22


@table("timing_class, slope, constant", ("add", 2.11, 24), ("divide", 4.03, 31), ("multiply_scalar", 1.0, 26))
def test_board_fits(timing_class: str, slope: float, constant: int):
    result = timing(ModelLoop((op(timing_class),)), path=(100,), target="a2a3-board")
    assert result.cycles == pytest.approx(100 * slope + constant, abs=1)
