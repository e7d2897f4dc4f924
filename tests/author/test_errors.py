"""Kernels that are wrong: one error with the Python line, a kind, and what to write instead."""
# ruff: noqa: F821, F841, RUF043

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim import PTOError, pto, scalar

Floats = pto.ptr(pto.f32, "gm")
Integers = pto.ptr(pto.i32, "gm")
WRONG: list[tuple[Callable[..., Any], dict[str, Any], type[Exception], str]] = []


def wrong(kind: type[Exception], message: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A kernel, the exception that it raises, and its message; the line is the one with the mark `# here`."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        WRONG.append((function, {"mode": "explicit", **options}, kind, message))
        return function

    return keep


@wrong(TypeError, "cannot be an int")
def an_int(x: Floats, n: pto.i32):
    int(n)  # here


@wrong(ValueError, "section(.|\n)*cube, vector", mode="explicit")
def a_section_of_no_kind(x: Integers):
    with pto.section():  # here
        pass


@wrong(ValueError, "the value is '12', which is no integer(.|\n)*write the number itself")
def an_int_as_text(x: Integers):
    scalar.store(pto.i32("12"), x, 0)  # here


@wrong(TypeError, "cannot be an index", ast_rewrite=False)
def a_plain_range(x: Floats, n: pto.i32):
    for _ in range(n):  # here
        pass


@wrong(TypeError, "write for i in range")
def a_static_range(x: Floats, n: pto.i32):
    for _ in pto.static_range(n):  # here
        pass


@wrong(SyntaxError, "a loop of a kernel counts")
def a_sequence(x: Floats, n: pto.i32):
    for _ in [1, 2]:  # here
        pass


@wrong(SyntaxError, "return under a condition that only the run knows")
def a_return(x: Floats, n: pto.i32):
    if n > 3:  # here
        return


@wrong(SyntaxError, "return inside a loop")
def a_return_in_a_loop(x: Floats, n: pto.i32):
    for _ in range(n):
        return  # here


@wrong(SyntaxError, "break under a condition")
def a_break_of_an_unrolled_loop(x: Floats, n: pto.i32):
    for _ in pto.static_range(3):
        if n > 3:  # here
            break


@wrong(SyntaxError, "a is set on one way only")
def a_name_on_one_way(x: Integers, n: pto.i32):
    if n > 3:
        a = n + 1
    scalar.store(a, x)  # here


@wrong(SyntaxError, "a is what the last turn of a loop has set")
def a_name_of_the_last_turn(x: Integers, n: pto.i32):
    for _ in range(n):
        a = n + 1
    scalar.store(a, x)  # here


@wrong(SyntaxError, "one plain name")
def a_tuple_target(x: Integers, n: pto.i32):
    for _i, _j in range(n):  # here
        pass


@wrong(SyntaxError, r"v\[i\] cannot be set")
def an_item_that_moves(x: Integers, n: pto.i32):
    v = [1, 2, 3]
    for i in range(n):
        v[i] = n  # here


@wrong(TypeError, "the offset is 1.5, a float")
def a_float_offset(x: Floats, n: pto.i32):
    pto.addptr(x, 1.5)  # here


@wrong(TypeError, "write // for the quotient")
def a_division(x: Integers, n: pto.i32):
    _ = n / 2  # here


@wrong(TypeError, "operands of one type, not f32 and f16")
def two_widths_of_floats(x: Integers, a: pto.f32, b: pto.f16):
    _ = a + b  # here


@wrong(PTOError, "rhs has type .* but lhs has type")
def two_types_in_a_sum(x: Floats):
    p, q = pto.castptr(0, pto.ptr(pto.f32)), pto.castptr(0, pto.ptr(pto.i32))
    m = pto.make_mask(pto.f32, "ALL")
    pto.vadd(pto.vlds(p, 0), pto.vlds(q, 0), m)  # here


@wrong(TypeError, "mask is missing")
def no_mask(x: Floats):
    p = pto.castptr(0, pto.ptr(pto.f32))
    pto.vadd(pto.vlds(p, 0), pto.vlds(p, 0))  # here


@wrong(ValueError, "there is no dist .* known: NORM, BRC_B8")
def an_unknown_word(x: Floats):
    pto.vlds(pto.castptr(0, pto.ptr(pto.f32)), 0, dist="FOO")  # here


@wrong(ValueError, "event_id .* is 0 to 7, not 8")
def an_event_too_many(x: Floats):
    pto.set_flag("V", "MTE3", event_id=8)  # here


@wrong(RuntimeError, "belongs in a kernel of mode explicit", mode="auto")
def a_copy_in_auto_mode(x: Floats):
    p = pto.castptr(0, pto.ptr(pto.f32))
    pto.mte_gm_ub(x, p, 0, 256, nburst=(1, 256, 256))  # here


@pto.tileop
def with_a_flag(t: pto.Tile):
    pto.set_flag("V", "MTE3")  # in the tileop


@wrong(RuntimeError, "does not belong in a tileop")
def a_flag_in_a_tileop(x: Floats):
    with_a_flag(pto.alloc_tile(shape=[16, 64], dtype=pto.f32))


@wrong(SyntaxError, "a is set inside a section(.|\n)*hint: store it to memory inside, or compute it again behind")
def a_value_of_a_section(x: Floats, n: pto.i32):
    with pto.section("vector"):
        a = n + 1
    _ = a + 1  # here


@wrong(ValueError, "no multiple of 32")
def a_short_row(x: Floats):
    pto.alloc_tile(shape=[16, 3], dtype=pto.f32)  # here


@wrong(TypeError, "castptr missing 1 required positional argument: 'type'")
def an_argument_is_missing(x: Floats):
    pto.castptr(0)  # here


@wrong(NameError, "a has no value here")
def a_name_that_comes_later(x: Floats):
    _ = a + 1  # here
    a = 1


@wrong(TypeError, "two literals have no type")
def two_literals(x: Integers, n: pto.i32):
    a = 1 if n > 1 else 2  # here
    scalar.store(a, x)


@wrong(SyntaxError, "this loop never ends")
def an_endless_loop(x: Integers, n: pto.i32):
    while True:  # here
        pass


@wrong(AttributeError, "pto.MaskPattern has no 'FOO'; known: ALL")
def a_member_that_is_not_there(x: Floats):
    pto.make_mask(pto.f32, pto.MaskPattern.FOO)  # here


@wrong(TypeError, "the offset of a pointer is 1.5; an integer")
def a_float_behind_a_pointer(x: Floats):
    _ = x + 1.5  # here


@wrong(TypeError, "the row of a tile is 1.5; an integer")
def a_float_as_a_row(x: Floats):
    _ = pto.alloc_tile(shape=[16, 64], dtype=pto.f32)[1.5, 0:]  # here


@wrong(RuntimeError, "holds with br.then_ and with br.else_, and nothing else")
def a_statement_beside_the_sides(x: Floats, n: pto.i32):
    with pto.if_(n > 3) as br:
        scalar.store(1.0, x)  # here
        with br.then_:
            scalar.store(2.0, x)


@wrong(TypeError, "a scalar of a kernel is not subscriptable")
def an_item_of_a_scalar(x: Floats, n: pto.i32):
    _ = n[3]  # here


@wrong(TypeError, "loops of pto.mte_gm_ub is a list of")
def loops_that_are_a_number(x: Floats):
    p = pto.castptr(0, pto.ptr(pto.f32))
    pto.mte_gm_ub(x, p, 0, 256, nburst=(1, 256, 256), loops=3)  # here


@wrong(RuntimeError, "pto.mte_gm_ub does not belong in a vector scope(.|\n)*the scope begins here")
def a_copy_in_a_scope(x: Floats):
    p = pto.castptr(0, pto.ptr(pto.f32))
    with pto.vecscope():
        pto.mte_gm_ub(x, p, 0, 256, nburst=(1, 256, 256))  # here


@pto.simt
def many(x: Floats, *, count=1): ...


@wrong(TypeError, "count of many is given by keyword, and only the run knows it", kernel_kind="vector")
def a_keyword_of_the_run(x: Floats, n: pto.i32):
    many[1, 1, 1](x, count=n)  # here


@wrong(ValueError, "size is a number of lanes, at least 1, not 0")
def no_lanes(x: Floats):
    pto.vmi.vload(pto.castptr(0, pto.ptr(pto.f32)), 0, size=0)  # here


@wrong(TypeError, "a logical vector cannot hold i1")
def lanes_of_truth_values(x: Floats):
    pto.vmi.vload(pto.castptr(0, pto.ptr(pto.i1)), 0, size=64)  # here


@wrong(TypeError, "pto.static_range takes 1 to 3 arguments, not 0")
def turns_of_nothing(x: Floats):
    for _ in pto.static_range():  # here
        pass


@wrong(TypeError, "this call takes 0 positional arguments but 1 was given")
def a_lambda(x: Floats):
    _ = (lambda: 1)(2)  # here


@wrong(TypeError, "unsupported format string passed to a scalar of a kernel")
def a_format(x: Floats, n: pto.i32):
    _ = f"{n:d}"  # here


@wrong(SyntaxError, "counts the turns of a loop(.|\n)*hint: keep it under another name")
def a_counter_behind_its_loop(x: Integers, n: pto.i32):
    for i in range(n):
        scalar.store(1, x, i)
    scalar.store(i, x)  # here


@wrong(SyntaxError, r"held\[0\] is what the last turn of a loop has set")
def an_item_of_the_last_turn(x: Integers, n: pto.i32):
    held = {}
    for _ in range(n):
        for u in pto.static_range(2):
            held[u] = n + u
    scalar.store(held[0], x)  # here


@pytest.mark.parametrize("function, options, kind, message", WRONG, ids=[each[0].__name__ for each in WRONG])
def test_the_error_has_the_line_and_says_what_to_write(
    function: Callable[..., Any], options: dict[str, Any], kind: type[Exception], message: str
):
    with pytest.raises(kind, match=message) as found:
        pto.jit(**options)(function).verify()
    assert isinstance(found.value, PTOError)
    (diagnostic, *_) = found.value.diagnostics
    assert diagnostic.location is not None and diagnostic.location.file == __file__
    marked = diagnostic.location.source.line(diagnostic.line)
    assert marked.rstrip().endswith(("# here", "# in the tileop")), marked


DEFINITIONS = {
    "x has no annotation": "def kernel(x): ...",
    "x is a pointer to ub": "def kernel(x: pto.ptr(pto.f32)): ...",
    "x is pto.Tile": "def kernel(x: pto.Tile): ...",
    "N is a const_expr and needs a default": "def kernel(x: Floats, *, N: pto.const_expr): ...",
    "has no *args": "def kernel(*args): ...",
    "N is a const_expr and has to be keyword-only": "def kernel(x: Floats, N: pto.const_expr = 3): ...",
    "x is pto.f8E4M3FN, which lives in memory only": "def kernel(x: pto.f8e4m3): ...",
    "N is keyword-only": "def kernel(x: Floats, *, N: int = 3): ...",
}


@pytest.mark.parametrize("message", DEFINITIONS)
def test_a_wrong_definition_is_an_error_when_it_is_decorated(message: str):
    space = {"pto": pto, "Floats": Floats}
    exec(DEFINITIONS[message], space)
    with pytest.raises(TypeError, match=re.escape(message)):
        pto.jit()(space["kernel"])


def test_a_bare_decorator_is_an_error():
    with pytest.raises(TypeError, match="write @pto.jit()"):
        pto.jit(an_int)


@pto.jit(mode="explicit")
def launched(x: Floats, n: pto.i32):
    scalar.store(1.0, x)


@pytest.mark.parametrize(
    "launch, message",
    [
        (lambda: launched[1](np.zeros(4, "f4")), "takes 2 arguments .* but 1 were given"),
        (lambda: launched[0](np.zeros(4, "f4"), 1), "the grid is a positive integer, not 0"),
        (lambda: launched[1](np.zeros(4, "i2"), 1), "convert the array"),
        (lambda: launched[1](np.zeros((4, 4), "f4").T, 1), "not C-contiguous"),
        (lambda: launched[1](12345, 1), "no array begins that the caller holds"),
        (lambda: launched[1](np.zeros(4, "f4"), "a"), "expected an integer, not str"),
        (lambda: launched(np.zeros(4, "f4"), 1, speed=3), "a launch has no option 'speed'; known: grid, engine"),
    ],
)
def test_a_wrong_launch_says_which_argument_and_where(launch: Callable[[], None], message: str):
    with pytest.raises(ptosim.PTOError, match=message) as found:
        launch()
    location = found.value.diagnostics[0].location
    assert location is not None and location.file == __file__


def test_two_kernels_of_one_name_are_not_merged():
    with pytest.raises(ValueError, match="two kernels of one module are called launched"):
        pto.merge_jit_modules(launched, launched)


def test_what_stands_where_it_does_not_belong_names_both_lines():
    @pto.jit()
    def auto(x: Floats):
        pto.mte_gm_ub(x, pto.castptr(0, pto.ptr(pto.f32)), 0, 256, nburst=(1, 256, 256))

    with pytest.raises(RuntimeError, match="belongs in a kernel of mode explicit") as found:
        auto.compile()
    assert "this kernel has mode auto" in str(found.value) and "def auto" in str(found.value)


def test_what_the_author_raises_stays_his():
    @pto.jit()
    def raising(x: Floats):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="^mine$") as found:
        raising.compile()
    assert not isinstance(found.value, PTOError)


@pytest.mark.parametrize("decorator", [pto.jit(), pto.tileop, pto.func(returns=None), pto.simt])
def test_no_decorator_takes_a_lambda(decorator: Callable[..., Any]):
    with pytest.raises(TypeError, match="a function with def, not a lambda"):
        decorator(lambda: None)


def test_cells_of_a_notebook_are_named_by_their_numbers(monkeypatch: pytest.MonkeyPatch):
    file = "/tmp/ipykernel_7/123.py"
    text = "@pto.jit(mode='explicit')\ndef wrong(x: Floats):\n    pto.vlds(x)\n"
    numbers = {file: 3}
    shell = SimpleNamespace(compile=SimpleNamespace(_filename_map=numbers))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    for number in (3, 4):  # the same cell once more has another number
        numbers[file] = number
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        space = {"pto": pto, "Floats": Floats}
        exec(compile(text, file, "exec"), space)
        with pytest.raises(PTOError, match=f"^cell {number}:3:5: error: "):
            space["wrong"].compile()
