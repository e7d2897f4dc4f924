"""The A5 model against the published cycles of whole vector functions."""

import re
from pathlib import Path

import pytest

from ptosim.target import load_target
from ptosim.timing.vector_function import vector_function
from timing.calibration_points import Point, loop_program, points

A5 = load_target("a5")
POINTS = list(points())


def error(point: Point, loop_entry: int | None = None) -> float:
    target = A5 if loop_entry is None else A5.with_overrides({"vector.loop_entry": loop_entry})
    return abs(vector_function(point.program, point.path, target).cycles / point.cycles - 1)


def mean(errors: list[float]) -> float:
    return sum(errors) / len(errors)


def test_all_points():
    errors = [error(point) for point in POINTS]
    assert len(errors) == 34
    assert mean(errors) <= 0.03
    assert max(errors) <= 0.10


@pytest.mark.parametrize("left_out", ["vexp", "20 rows"])
def test_points_that_the_fit_has_not_seen(left_out: str):
    hidden = [point for point in POINTS if (point.name == "vexp" if left_out == "vexp" else point.rows == 20)]
    seen = [point for point in POINTS if point not in hidden]
    fitted = min(range(3, 8), key=lambda cycles: mean([error(point, cycles) for point in seen]))
    assert mean([error(point, fitted) for point in hidden]) <= 0.06
    assert A5.figures["vector.loop_entry"] == (fitted, "FIT")


def test_the_documentation_shows_what_the_model_says():
    text = (Path(__file__).parents[2] / "docs" / "explanation" / "timing.md").read_text()
    for name in ("vmins", "vexp", "vadd"):
        (shown,) = re.findall(rf"^\| {name}, model \|(.*)\|$", text, re.MULTILINE)
        modelled = [vector_function(point.program, point.path, A5).cycles for point in POINTS if point.name == name]
        assert [int(cell) for cell in shown.split("|")] == modelled


def test_only_the_loop_figure_is_fitted():
    assert [path for path, figure in A5.figures.items() if figure.origin == "FIT"] == ["vector.loop_entry"]


@pytest.mark.parametrize("name, timing_class, loads", [("vmins", "min_scalar", 1), ("vadd", "add", 2)])
def test_plain_addressing_in_one_loop_is_a_little_faster(name: str, timing_class: str, loads: int):
    post = vector_function(loop_program(name, timing_class, loads, post_update=True), (10,), A5).cycles
    plain = vector_function(loop_program(name, timing_class, loads, post_update=False), (1, 10), A5).cycles
    assert 1 <= post - plain <= 2  # published


@pytest.mark.parametrize("loads, per_iteration", [(1, 1), (2, 2)])
def test_sustained_iterations(loads: int, per_iteration: int):
    program = loop_program("vmax", "minmax", loads, post_update=False)
    short, long = (vector_function(program, (1, trips), A5).cycles for trips in (1000, 3000))
    assert long - short == 2000 * per_iteration


@pytest.mark.parametrize("registers, cycles", [(2, 7), (3, 8)])
def test_a_short_row_costs_what_entering_its_loop_costs(registers: int, cycles: int):
    program = loop_program("vmins", "min_scalar", 1, post_update=False)
    ten, twenty = (vector_function(program, (rows,) + (registers,) * rows, A5).cycles for rows in (10, 20))
    assert twenty - ten == 10 * cycles  # published


@pytest.mark.parametrize("point", [point for point in POINTS if point.rows * point.registers >= 200], ids=str)
def test_what_bounds_the_large_ones(point: Point):
    expected = {"vexp": "SFU", "vadd": "load/store", "vmins": "issue"}
    assert vector_function(point.program, point.path, A5).limit == expected[point.name]
