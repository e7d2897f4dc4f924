"""Measures of the project: what a code line is, which faults are drawn, what the picture and a comparison show."""

import ast
from pathlib import Path

import pytest
from benchmarks.against import compared, verdict
from tools.faults import Fault, drawn, faults_of, room_of
from tools.pictures import PICTURE, direct, floors, heights
from tools.size import by_folder, code_lines

SOURCE = '''"""What it is."""

# a remark
def f(x: int) -> int:
    """More."""
    text = """two
    lines"""
    if x < 1 and text:
        return x + 1  # one more

    return (
        2
    )
'''


def test_code_lines_hold_code() -> None:
    assert code_lines(SOURCE) == 8
    files = [("src/ptosim/a.py", SOURCE), ("src/ptosim/b/c/d.py", SOURCE), ("tests/b/x.py", "x = 1\n"), ("a.py", "x\n")]
    assert by_folder(files) == {("src/ptosim", "."): 8, ("src/ptosim", "b"): 8, ("tests", "b"): 1}


def test_faults_change_one_operator_constant_condition_or_result() -> None:
    found = {(fault.was, fault.text) for fault in faults_of(Path("a.py"), SOURCE)}
    assert found >= {
        ("x < 1", "(x <= 1)"),
        ("x < 1 and text", "(x < 1 or text)"),
        ("x + 1", "(x - 1)"),
        ("1", "2"),
        ("return x + 1", "return None"),
    }


@pytest.mark.parametrize("fault", [*faults_of(Path("a.py"), SOURCE)], ids=str)
def test_a_fault_is_one_line_that_parses(fault: Fault) -> None:
    changed = fault.applied(SOURCE)
    ast.parse(changed)
    differing = [pair for pair in zip(SOURCE.splitlines(), changed.splitlines(), strict=True) if pair[0] != pair[1]]
    assert len(differing) == 1


def test_the_same_seed_draws_the_same_faults_on_lines_that_run(tmp_path: Path) -> None:
    file = Path("src/ptosim/room/a.py")
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(SOURCE)
    lines = {str(file): {9}}
    first = drawn([file], tmp_path, 1, 2, lines)
    assert first == drawn([file], tmp_path, 1, 2, lines) and len(first) == 2
    assert {fault.line for fault in first} == {9}
    assert (room_of(file), room_of(Path("src/ptosim/api.py"))) == ("room", "top")


def test_the_picture_has_every_floor() -> None:
    assert [name for name in floors() if f">{name}</text>" not in PICTURE.read_text()] == [], "run: make pictures"


def test_floors_stand_above_what_they_import() -> None:
    below = {"a": {"b", "c"}, "b": {"c"}, "c": set[str]()}
    assert heights(below) == {"a": 2, "b": 1, "c": 0}
    assert direct(below) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_a_row_is_worse_outside_of_its_spread_only() -> None:
    here, there = [{"x": 1.2}, {"x": 1.21}, {"x": 1.19}], [{"x": 1.0}] * 3
    ((name, ratio, spread),) = compared(here, there)
    assert (name, round(ratio, 2), verdict(ratio, spread)) == ("x", 1.2, "worse")
    assert verdict(1.2, 0.3) == "unsteady" and verdict(1.04, 0.01) == "ok" and verdict(0.5, 0.02) == "ok"
