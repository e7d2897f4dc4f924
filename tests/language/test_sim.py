"""The operations that lowerings use besides the instruction set: spellings and rules."""

import pytest

from language.vector_kernel import accepts, example, printed, read
from ptosim.language.catalogue import operations
from ptosim.language.micro import sim, sim_signal, sim_transfer
from ptosim.language.operation import PTOOperation
from refusals.sim import PRINT
from tables import table

ROOMS = (sim.__name__, sim_signal.__name__, sim_transfer.__name__)
OPERATIONS = [operation for operation in operations() if operation.__module__ in ROOMS and operation.__doc__]
GIVEN = {
    "ok": "i1",
    "ub": "!pto.ptr<f32, ub>",
    "l1": "!pto.ptr<f16, l1>",
    "fb": "!pto.ptr<f32, fb>",
    "c": "!pto.ptr<f32, l0c>",
    "bias": "!pto.ptr<f32, bt>",
    "p": "!pto.ptr<i32, gm>",
    "value": "i32",
    "c16": "index",
    **dict.fromkeys(("dst", "src"), "!pto.ptr<f32, gm>"),
    **dict.fromkeys(("count", "m", "n", "bytes", "number"), "i64"),
    **dict.fromkeys(("rows", "c1", "c8", "c64", "c512", "c16384"), "index"),
}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]) -> None:
    text = example(operation)
    given = ", ".join(f"%{name}: {type_}" for name, type_ in GIVEN.items() if f"%{name}" in text)
    target = operation.targets[0]
    if operation.placement == "inside":
        text = f"pto.vecscope {{\n{text}\n}}"
    once = printed(read(f"module {{\nfunc.func @kernel({given}) {{\n{text}\nreturn\n}}\n}}\n", target))
    assert operation.name in once
    assert printed(read(once, target)) == once


# --- require ----------------------------------------------------------------------------------------------------------


@table(
    "rest",
    '%s_i1 {kind = "invalid", message = "a {{brace}}"}',
    '%s_i1 {kind = "lint", message = "", severity = "error"}',
    '%s_i1, %s_i32 {kind = "limit", message = "{} rows", fatal}',
    '%s_i1, %s_i32, %s_index {kind = "overlap", message = "{} and {}"} : i1, i32, index',
)
def test_require(rest: str) -> None:
    accepts(f"pto.sim.require {rest}", scope=False)


# --- lookup -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", ["dense<[1, -2]> : tensor<2xi64>", "dense<7> : tensor<1xi64>"])
def test_lookup(values: str) -> None:
    accepts(f"%n = pto.sim.lookup %s_index {{values = {values}}} : index -> index", scope=False)


# --- print_tile -------------------------------------------------------------------------------------------------------


@table(
    "rest",
    "(%s_index, %s_index) : !pto.ptr<f32, gm>",
    '(%s_index, %s_index) {format = "width10_precision6", title = "%sum"} : !pto.ptr<f32, gm>',
    "(%s_index, %s_index, %s_index, %s_index) {box = array<i64: 16, 16>} : !pto.ptr<f32, gm>",
)
def test_print_tile(rest: str) -> None:
    accepts(f"{PRINT} {rest}", scope=False)


# --- instructions of A2/A3 --------------------------------------------------------------------------------------------

SIZES = "%s_index of %s_index on %s_index"


@table("rest", '{instruction = "vadd", width = 4}', '{count_mode, instruction = "copy_ubuf_to_ubuf", width = 1}')
def test_instructions(rest: str) -> None:
    accepts(f"pto.sim.instructions {SIZES} {rest}", target="a2a3")


# --- parameters and accumulators of the cube core ---------------------------------------------------------------------


def cube(line: str) -> str:
    given = "%l1: !pto.ptr<f16, l1>, %fb: !pto.ptr<f32, fb>, %c: !pto.ptr<f32, l0c>, %bias: !pto.ptr<f32, bt>, %n: i64"
    return f"module {{\nfunc.func private @kernel({given}) {{\n{line}\nreturn\n}}\n}}\n"


@table(
    "line",
    "pto.sim.scale_words %l1, %fb, %n : !pto.ptr<f16, l1>, !pto.ptr<f32, fb>, i64",
    "pto.sim.scale_words %l1, %fb, %n {unsigned} : !pto.ptr<f16, l1>, !pto.ptr<f32, fb>, i64",
    "pto.sim.start_acc %c, %n, %n : !pto.ptr<f32, l0c>, i64, i64",
    "pto.sim.start_acc %c, %n, %n, %bias : !pto.ptr<f32, l0c>, i64, i64, !pto.ptr<f32, bt>",
)
def test_parameters_and_accumulators(line: str) -> None:
    once = printed(read(cube(line)))
    assert line.split()[0] in once
    assert printed(read(once)) == once
