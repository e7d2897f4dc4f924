"""Walking through operations: as xDSL does, also where whoever walks changes what it is given."""

from pathlib import Path

import pytest
from xdsl.ir import Operation

import ptosim
from ptosim.language.structure.function import functions

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.pto"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_operations_come_in_the_order_of_xdsl(path: Path) -> None:
    for function in functions(ptosim.load(path).verified.parsed.module).values():
        for how in ({}, {"reverse": True}, {"region_first": True}):
            assert [*function.walk(**how)] == [*Operation.walk(function, **how)]


def test_the_one_that_is_given_may_be_erased() -> None:
    module = ptosim.load(EXAMPLES[0]).verified.parsed.module.clone()
    (function,) = functions(module).values()
    names = [op.name for op in function.walk()]
    erased = [op.name for op in function.walk() if op is not function and _erase(op)]
    assert 0 < len(erased) < len(names)
    assert [op.name for op in function.walk()] == [name for name in names if name not in set(erased)]


def _erase(op: Operation) -> bool:
    if op.name != "pto.barrier":
        return False
    op.detach()
    op.erase()
    return True
