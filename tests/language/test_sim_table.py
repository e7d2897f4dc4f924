"""Rows and elements of a table in GM by index: spellings and rules."""

import pytest

from language.vector_kernel import example, printed, read, rejects_module
from ptosim.language.catalogue import operations
from ptosim.language.micro import sim_table
from ptosim.language.operation import PTOOperation

OPERATIONS = [operation for operation in operations() if operation.__module__ == sim_table.__name__]
GIVEN = {
    "table": "!pto.ptr<f32, gm>",
    "idx": "!pto.ptr<i32, ub>",
    "ub": "!pto.ptr<f32, ub>",
    **dict.fromkeys(("cap", "pitch", "rows", "c0", "c1", "c64"), "index"),
}


def module(text: str, **other: str) -> str:
    given = ", ".join(f"%{name}: {type_}" for name, type_ in {**GIVEN, **other}.items())
    return f"module {{\nfunc.func @kernel({given}) {{\n{text}\nreturn\n}}\n}}\n"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]) -> None:
    once = printed(read(module(example(operation))))
    assert operation.name in once
    assert printed(read(once)) == once


AT = "at %ub[%c64, %c0, %c1] shape (%rows, %c1, %c64)"


@pytest.mark.parametrize("name", ["pto.sim.scatter", "pto.sim.scatter_mte3"])
def test_only_some_elements_are_combined(name: str) -> None:
    text = f"""{name} %table[%cap, %pitch] by %idx[%c1, %c0] {AT}
      {{beyond = "skip", combine = ^"add"}} : !pto.ptr<i8, gm>, !pto.ptr<i32, ub>, !pto.ptr<i8, ub>"""
    changed = {"table": "!pto.ptr<i8, gm>", "ub": "!pto.ptr<i8, ub>"}
    rejects_module(module(text, **changed), "elements of i8 are not combined")
