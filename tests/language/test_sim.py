"""The operations that lowerings use besides the instruction set: spellings and rules."""

import pytest

import ptosim
from language.vector_kernel import accepts, example, printed, read, rejects
from ptosim.diagnostics import PTOError
from ptosim.language import sim, sim_signal, sim_transfer
from ptosim.language.catalogue import operations
from ptosim.language.operation import PTOOperation
from refusals.sim import PRINT

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
    **dict.fromkeys(("rows", "c1", "c8", "c64", "c512"), "index"),
}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]) -> None:
    text = example(operation)
    given = ", ".join(f"%{name}: {type_}" for name, type_ in GIVEN.items() if f"%{name}" in text)
    once = printed(read(f"module {{\nfunc.func @kernel({given}) {{\n{text}\nreturn\n}}\n}}\n"))
    assert operation.name in once
    assert printed(read(once)) == once


# --- require ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rest",
    [
        '%s_i1 {kind = "invalid", message = "a {{brace}}"}',
        '%s_i1 {kind = "lint", message = "", severity = "error"}',
        '%s_i1, %s_i32 {kind = "limit", message = "{} rows", fatal}',
        '%s_i1, %s_i32, %s_index {kind = "overlap", message = "{} and {}"} : i1, i32, index',
    ],
)
def test_require(rest: str) -> None:
    accepts(f"pto.sim.require {rest}", scope=False)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ('^%s_i32 {kind = "invalid", message = ""}', "condition must be i1, not i32"),
        ('%s_i1 {kind = "invalid", message = ^5 : i32}', "message must be a text"),
        ('%s_i1, ^%s_f32 {kind = "invalid", message = "{}"}', "a message shows integers, not f32"),
        (
            '%s_i1, %s_i32, %s_i32, ^%s_i32 {kind = "invalid", message = "{}{}{}"}',
            "a message shows at most 2 values",
        ),
        *(
            (
                f'%s_i1, %s_i32 {{kind = "invalid", message = ^"{text}"}}',
                "the message must have one {} for each value: 1 of them",
            )
            for text in ("", "{} {}", "{0}", "{x}", "{", "{:d}", "{!r}")
        ),
    ],
)
def test_require_is_rejected(rest: str, message: str) -> None:
    rejects(f"pto.sim.require {rest}", message, scope=False)


def test_a_kind_must_exist() -> None:
    body = 'pto.sim.require %s_i1 {kind = ^"strange", message = ""}'
    rejects(body, "unknown kind 'strange'; known: race, ...", scope=False, kind="syntax")


# --- print_tile -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rest",
    [
        "(%s_index, %s_index) : !pto.ptr<f32, gm>",
        '(%s_index, %s_index) {format = "width10_precision6", title = "%sum"} : !pto.ptr<f32, gm>',
        "(%s_index, %s_index, %s_index, %s_index) {box = array<i64: 16, 16>} : !pto.ptr<f32, gm>",
    ],
)
def test_print_tile(rest: str) -> None:
    accepts(f"{PRINT} {rest}", scope=False)


# --- the cube core ----------------------------------------------------------------------------------------------------


def on_cube(line: str) -> str:
    given = {**GIVEN, "words": "!pto.ptr<i64, l1>", "row": "!pto.ptr<i32, bt>"}
    parameters = ", ".join(f"%{name}: {type_}" for name, type_ in given.items())
    kind = "pto.kernel_kind = #pto.kernel_kind<cube>"
    return f"module attributes {{{kind}}} {{\nfunc.func @kernel({parameters}) {{\n{line}\nreturn\n}}\n}}\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "pto.sim.scale_words %words, %fb, %count : !pto.ptr<i64, l1>, !pto.ptr<f32, fb>, i64",
            "scales are f16, bf16 or f32, not i64",
        ),
        (
            "pto.sim.start_acc %c, %m, %n, %row : !pto.ptr<f32, l0c>, i64, i64, !pto.ptr<i32, bt>",
            "the bias is i32, but the accumulator is f32",
        ),
    ],
)
def test_operations_of_the_cube_core_are_rejected(line: str, message: str) -> None:
    with pytest.raises(ptosim.PTOError, match=message):
        ptosim.load(on_cube(line))


# --- parameters and accumulators of the cube core ---------------------------------------------------------------------


def cube(line: str) -> str:
    pointers = "%l1: !pto.ptr<f16, l1>, %bytes: !pto.ptr<i8, l1>, %fb: !pto.ptr<f32, fb>, %c: !pto.ptr<f32, l0c>"
    rest = "%bias: !pto.ptr<f32, bt>, %wrong: !pto.ptr<i32, bt>, %n: i64"
    return f"module {{\nfunc.func private @kernel({pointers}, {rest}) {{\n{line}\nreturn\n}}\n}}\n"


@pytest.mark.parametrize(
    "line",
    [
        "pto.sim.scale_words %l1, %fb, %n : !pto.ptr<f16, l1>, !pto.ptr<f32, fb>, i64",
        "pto.sim.start_acc %c, %n, %n : !pto.ptr<f32, l0c>, i64, i64",
        "pto.sim.start_acc %c, %n, %n, %bias : !pto.ptr<f32, l0c>, i64, i64, !pto.ptr<f32, bt>",
    ],
)
def test_parameters_and_accumulators(line: str) -> None:
    once = printed(read(cube(line)))
    assert line.split()[0] in once
    assert printed(read(once)) == once


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "pto.sim.scale_words %bytes, %fb, %n : !pto.ptr<i8, l1>, !pto.ptr<f32, fb>, i64",
            "scales are f16, bf16 or f32",
        ),
        (
            "pto.sim.start_acc %c, %n, %n, %wrong : !pto.ptr<f32, l0c>, i64, i64, !pto.ptr<i32, bt>",
            "the bias is i32, but the accumulator is f32",
        ),
    ],
)
def test_their_elements_are_told_apart(line: str, message: str) -> None:
    with pytest.raises(PTOError, match=message):
        read(cube(line))


# --- signals ----------------------------------------------------------------------------------------------------------

SIGNAL = "module {\nfunc.func @kernel(%p: !pto.ptr<i32, gm>, %q: !pto.ptr<f32, gm>, %v: i32, %w: i64, %s: index) {\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('pto.sim.notify %q, %v {op = "set"} : !pto.ptr<f32, gm>, i32', "a signal is a word of i32, not f32"),
        ('pto.sim.notify %p, %w {op = "set"} : !pto.ptr<i32, gm>, i64', "value must be i32, not i64"),
        (
            'pto.sim.wait_words %p, %v {cmp = "ge", shape = array<i64: 2>} : !pto.ptr<i32, gm>, i32',
            "1 sizes, but 0 strides",
        ),
        (
            'pto.sim.wait_words %p, %v, %s {cmp = "ge", shape = array<i64: 0>} : !pto.ptr<i32, gm>, i32',
            "sizes are positive",
        ),
        (
            'pto.sim.wait_words %p, %v, %w {cmp = "ge", shape = array<i64: 2>} : !pto.ptr<i32, gm>, i32',
            "strides are of type index, not i64",
        ),
        (
            '%a = pto.sim.test_words %p, %v {cmp = "ge"} : !pto.ptr<i32, gm>, i32 -> i32',
            "pto.sim.test_words gives i1, not i32",
        ),
    ],
)
def test_signals_reject(line: str, message: str) -> None:
    with pytest.raises(PTOError) as caught:
        ptosim.load(f"{SIGNAL}{line}\nreturn\n}}\n}}\n")
    assert [found.message for found in caught.value.diagnostics] == [message]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pto.sim.group %p, %p, %v {root = 0 : i32, bytes = 4 : i64}", "members are pointers to gm, not i32"),
        ("pto.sim.group %p, %p {root = 1 : i32, bytes = 4 : i64}", "root must be one of the 1 members"),
        (
            "%e = pto.sim.transfer %p, %q, %w {session = 0 : i64} : !pto.ptr<i32>, !pto.ptr<f32>, i64 -> i64",
            "dst points to i32, but src to f32",
        ),
        (
            "%e = pto.sim.transfer %p, %p, %v {session = 0 : i64} : !pto.ptr<i32>, !pto.ptr<i32>, i32 -> i64",
            "bytes must be i64, not i32",
        ),
        (
            "%e = pto.sim.transfer %p, %p, %w {session = -1 : i64} : !pto.ptr<i32>, !pto.ptr<i32>, i64 -> i64",
            "sessions are numbered from 0",
        ),
        ("pto.sim.apart %p, %p, %s, %s {bytes = 4 : i64}", "sizes, strides of dst and strides of src are equally many"),
        ("pto.sim.apart %p, %p, %v, %s, %s {bytes = 4 : i64}", "sizes and strides are of type index, not i32"),
        ("pto.sim.apart %p, %p, %s, %s, %s {bytes = 0 : i64}", "an element has at least one byte"),
        ("pto.sim.wait_transfers %v {session = 0 : i64}", "event must be i64, not i32"),
    ],
)
def test_groups_and_transfers_reject(line: str, message: str) -> None:
    with pytest.raises(PTOError) as caught:
        ptosim.load(f"{SIGNAL}{line}\nreturn\n}}\n}}\n")
    assert message in caught.value.diagnostics[0].message
