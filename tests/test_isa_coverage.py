"""docs/reference/isa-coverage.md is up to date, and no cell of it is empty."""

import ast
import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("isa_coverage", ROOT / "docs" / "isa_coverage.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


coverage = script()
RULES = [(chapter, rule, tests) for chapter, held in coverage.rules().items() for rule, tests in held.items()]


@cache
def functions(file: str) -> frozenset[str]:
    """The tests of a file."""
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_the_page_is_up_to_date() -> None:
    assert coverage.PAGE.read_text() == coverage.page(), "run: python docs/isa_coverage.py"


def test_every_chapter_has_rules() -> None:
    assert len(coverage.rules()) >= 12
    assert all(len(held) >= 5 for held in coverage.rules().values())


def test_every_rule_is_held_by_tests_that_exist() -> None:
    assert [f"{chapter}: {rule}" for chapter, rule, tests in RULES if not tests] == []
    assert [test for _, _, tests in RULES for test in tests if not _exists(test)] == []


def _exists(test: str) -> bool:
    file, _, function = test.partition("::")
    return function.startswith("test_") and (TESTS / file).exists() and function in functions(file)


@pytest.mark.parametrize(
    ("text", "operation", "named"),
    [
        ("%v = pto.vabs %a", "pto.vabs", True),
        ("%v = pto.vabsx %a", "pto.vabs", False),
        ('TABLE = "vmul vabs"', "pto.vabs", True),
        ("x.vabs", "pto.vabs", False),
        ('f"pto.set_atomic_{kind}"', "pto.set_atomic_s8", True),
        ('for name in ("pset", "pge"):', "pto.pge_b16", True),
        ("pto.sync.set <PIPE_V>, 0", "pto.sync.set", True),
        ("pto.sync.set_all", "pto.sync.set", False),
        ('("remsi", 1, 2)', "arith.remsi", True),
    ],
)
def test_what_it_means_to_name_an_operation(text: str, operation: str, named: bool) -> None:
    assert coverage.vocabulary(text).names(operation) is named
