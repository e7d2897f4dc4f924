"""Rows and elements of a table in GM by index: spellings and rules."""

import pytest

from language.vector_kernel import example, printed, read, rejects_module
from ptosim.language import sim_table
from ptosim.language.catalogue import operations
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


def test_the_elements_are_as_wide_as_those_of_the_table() -> None:
    text = f"""pto.sim.gather %table[%cap, %pitch] by %idx[%c1, %c0] {AT.replace("%ub", "^%ub")} {{beyond = "zero"}}
      : !pto.ptr<f32, gm>, !pto.ptr<i32, ub>, !pto.ptr<i8, ub>"""
    rejects_module(module(text, ub="!pto.ptr<i8, ub>"), "base must have elements of 4 bytes, not 1")


def test_indices_have_four_bytes() -> None:
    text = f"""pto.sim.gather_mte2 %table[%cap, %pitch] by ^%idx[%c1, %c0] {AT} {{beyond = "zero"}}
      : !pto.ptr<f32, gm>, !pto.ptr<i16, ub>, !pto.ptr<f32, ub>"""
    rejects_module(module(text, idx="!pto.ptr<i16, ub>"), "indices must have elements of 4 bytes, not 2")


@pytest.mark.parametrize("name", ["pto.sim.scatter", "pto.sim.scatter_mte3"])
def test_only_some_elements_are_combined(name: str) -> None:
    text = f"""{name} %table[%cap, %pitch] by %idx[%c1, %c0] {AT}
      {{beyond = "skip", combine = ^"add"}} : !pto.ptr<i8, gm>, !pto.ptr<i32, ub>, !pto.ptr<i8, ub>"""
    changed = {"table": "!pto.ptr<i8, gm>", "ub": "!pto.ptr<i8, ub>"}
    rejects_module(module(text, **changed), "elements of i8 are not combined")
