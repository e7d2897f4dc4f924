"""Loops, choices, calls, and every way in which compiled code fails or stops."""

import ctypes
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from native.compiled import Bench
from ptosim.native.ir.context import LOOPS_RECORDED, ContextWord, Status
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I8, I32, I64, PTR, Value

HIGH = (1 << 63) - 1


def sum_of_indices(
    function: FunctionBuilder, lower: Value, upper: Value, step: Value | int, site: int | None = None
) -> Value:
    zero = function.constant(I64, 0)
    body = lambda index, carried: [carried[0] + index.signed(I64), carried[1] + 1]  # noqa: E731
    return function.for_loop(lower, upper, step, [zero, zero], body, site)


LOOP = Bench(lambda f, _m, low, high, step: sum_of_indices(f, low, high, step), 3)


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 40))
def test_a_for_loop_is_a_range(low: int, high: int, step: int):
    outcome = LOOP.run(low, high, step)
    assert [outcome.number(0), outcome.number(1)] == [sum(range(low, high, step)), len(range(low, high, step))]


@pytest.mark.parametrize("low, high, step", [(HIGH - 3, HIGH, 2), (HIGH - 3, HIGH, HIGH), (-HIGH - 1, HIGH, HIGH)])
def test_a_loop_near_the_largest_integer_ends(low: int, high: int, step: int):
    assert LOOP.run(low, high, step).number(1) == len(range(low, high, step))


def test_a_loop_of_32_bit_integers():
    def build(function: FunctionBuilder, _memory: Value, low: Value, high: Value) -> Sequence[Value]:
        return sum_of_indices(function, low.trunc(I32), high.trunc(I32), 3)

    outcome = Bench(build, 2).run((1 << 31) - 5, (1 << 31) - 1)
    assert outcome.number(1) == 2
    assert outcome.number(0) == (1 << 32) - 10 + 3


def test_carried_values_change_all_at_once():
    def build(function: FunctionBuilder, _memory: Value, count: Value) -> Sequence[Value]:
        start = [function.constant(I64, number) for number in (0, 1)]
        return function.for_loop(count.like(0), count, 1, start, lambda _i, pair: [pair[1], pair[0] + pair[1]])

    assert Bench(build, 1).run(10).number() == 55


def test_a_while_loop():
    def build(function: FunctionBuilder, _memory: Value, start: Value) -> Sequence[Value]:
        def before(carried: list[Value]) -> tuple[Value, Sequence[Value]]:
            number, count = carried
            return number != 1, [count, number]

        def after(handed: list[Value]) -> Sequence[Value]:
            count, number = handed
            return [((number & 1) == 0).select(number >> 1, number * 3 + 1), count + 1]

        return function.while_loop([start, start.like(0)], before, after)

    assert Bench(build, 1).run(27).number() == 111  # the length of Collatz' sequence from 27


def test_a_choice_gives_the_values_of_its_side():
    def build(function: FunctionBuilder, memory: Value, number: Value) -> Sequence[Value]:
        def negative() -> Sequence[Value]:
            memory.store(function.constant(I8, 1))
            return [-number, number.like(1)]

        return function.choose(number < 0, negative, lambda: [number, number.like(2)])

    bench = Bench(build, 1)
    for number in (5, -5):
        outcome = bench.run(number, memory=b"\0")
        assert [outcome.number(0), outcome.number(1)] == [5, 1 if number < 0 else 2]
        assert outcome.memory == (b"\1" if number < 0 else b"\0")


def test_what_was_made_in_an_arm_is_not_used_after_it():
    def build(function: FunctionBuilder, _memory: Value, number: Value) -> Sequence[Value]:
        def shared() -> Value:
            return function.once("triple", lambda: number * 3)

        function.choose(number < 0, lambda: [shared()], lambda: [number])
        first = shared()
        assert shared() is first
        return [function.choose(number < 0, lambda: [shared()], lambda: [first + 1])[0]]

    assert Bench(build, 1).run(5).number() == 16


# --- failing ----------------------------------------------------------------------------------------------------------


def test_the_first_failing_check_is_reported():
    module = ObjectModule()
    sites = [module.site(f"check {number}") for number in range(40)]

    def build(function: FunctionBuilder, _memory: Value, first: Value) -> Sequence[Value]:
        for site in sites:
            function.check(first <= site, site, first * 1000 + site)
        return [first]

    bench = Bench(build, 1, module)
    for first in range(40):
        outcome = bench.run(first)
        assert outcome.status is Status.FAILED
        assert outcome.fault == (first, first * 1001, [])
    assert bench.run(40).status is Status.DONE
    assert bench.run(40).number() == 40


def test_the_first_iteration_that_fails_is_reported_with_its_indices():
    """In iteration (i, j) the second site fails when i·10 + j == n, the first when i·10 + j == n + 1."""
    module = ObjectModule()
    sites = [module.site("one"), module.site("two")]

    def build(function: FunctionBuilder, _memory: Value, at: Value) -> Sequence[Value]:
        def inner(i: Value, j: Value) -> Sequence[Value]:
            place = i * 10 + j
            function.check(place == at + 1, sites[0], place)
            function.check(place == at, sites[1], place)
            return []

        zero = at.like(0)
        function.for_loop(zero, 8, 1, [], lambda i, _c: function.for_loop(zero, 10, 1, [], lambda j, _d: inner(i, j)))
        return []

    bench = Bench(build, 1, module)
    assert bench.run(37).fault == (1, 37, [3, 7])
    assert bench.run(-1).fault == (0, 0, [0, 0])
    assert bench.run(100).status is Status.DONE


def test_a_check_before_a_choice_comes_before_those_in_its_arms():
    module = ObjectModule()
    sites = [module.site(number) for number in range(4)]

    def build(function: FunctionBuilder, _memory: Value, bits: Value) -> Sequence[Value]:
        fails = lambda bit: function.check((bits & (1 << bit)) != 0, sites[bit], bit)  # noqa: E731
        fails(0)
        function.choose((bits & 16) != 0, lambda: [fails(1)][:0], lambda: [fails(2)][:0])
        fails(3)
        return []

    bench = Bench(build, 1, module)
    for bits in range(32):
        taken = [0, 1 if bits & 16 else 2, 3]
        failing = [bit for bit in taken if bits >> bit & 1]
        outcome = bench.run(bits)
        if failing:
            assert (outcome.status, outcome.fault[0]) == (Status.FAILED, failing[0]), bits
        else:
            assert outcome.status is Status.DONE, bits


def test_a_failure_keeps_a_later_loop_from_running_for_ever():
    module = ObjectModule()
    site = module.site("wrong")

    def build(function: FunctionBuilder, _memory: Value, wrong: Value) -> Sequence[Value]:
        function.check(wrong != 0, site)
        function.while_loop([], lambda _c: (wrong != 0, []), lambda _c: [])
        return []

    assert Bench(build, 1, module).run(1).status is Status.FAILED


def test_indices_of_very_deep_loops_are_cut_off():
    module = ObjectModule()
    site = module.site("deep")

    def nest(function: FunctionBuilder, depth: int, fail: Value) -> Sequence[Value]:
        if depth == 0:
            function.check(fail != 0, site)
            return []
        lower = fail.like(depth)
        function.for_loop(lower, depth + 1, 1, [], lambda _i, _c: nest(function, depth - 1, fail))
        return []

    outcome = Bench(lambda f, _m, fail: nest(f, LOOPS_RECORDED + 3, fail), 1, module).run(1)
    assert outcome.fault[2] == [LOOPS_RECORDED + 3 - depth for depth in range(LOOPS_RECORDED)]


# --- limits -----------------------------------------------------------------------------------------------------------


def counting(function: FunctionBuilder, _memory: Value, outer: Value, inner: Value) -> Sequence[Value]:
    zero = outer.like(0)
    loop = lambda _i, carried: function.for_loop(zero, inner, 1, carried, lambda _j, c: [c[0] + 1], 8)  # noqa: E731
    return function.for_loop(zero, outer, 1, [zero], loop, 7)


def test_as_many_iterations_as_allowed_and_not_one_more():
    bench = Bench(counting, 2)
    needed = 3 + 3 * 5
    assert bench.run(3, 5, steps=needed).number() == 15
    assert bench.run(3, 5, steps=needed).words[ContextWord.STEPS] == 0
    outcome = bench.run(3, 5, steps=needed - 1)  # a loop counts as a whole when it begins
    assert (outcome.status, outcome.fault) == (Status.FAILED, (8, 0, [2]))
    assert bench.run(3, 5, steps=7).fault == (8, 0, [0])
    assert bench.run(3, 5, steps=2).fault == (7, 0, [])
    assert bench.run(0, 5, steps=0).status is Status.DONE
    assert bench.run(3, 0, steps=3).status is Status.DONE


@pytest.mark.parametrize("step", [1, 2, 3, 7, HIGH])
def test_the_iterations_of_any_range_are_counted(step: int):
    bench = Bench(lambda f, _m, low, high, by: [f.for_loop(low, high, by, [], lambda _i, _c: [], 3)][:0], 3)
    for low, high in [(0, 1), (0, 20), (-7, 14), (5, 5), (6, 5), (HIGH - 20, HIGH)]:
        iterations = len(range(low, high, step))
        assert bench.run(low, high, step, steps=50).words[ContextWord.STEPS] == 50 - iterations
        if iterations:
            assert bench.run(low, high, step, steps=iterations - 1).fault[0] == 3
    assert bench.run(-HIGH - 1, HIGH, step, steps=1).fault[0] == 3


def test_an_endless_loop_meets_the_limit():
    def build(function: FunctionBuilder, _memory: Value, number: Value) -> Sequence[Value]:
        return function.while_loop([number], lambda c: (c[0] > 0, c), lambda c: c, site=4)

    bench = Bench(build, 1)
    outcome = bench.run(1, steps=1000)
    assert (outcome.status, outcome.fault[0]) == (Status.FAILED, 4)
    assert bench.run(0, steps=0).status is Status.DONE


def test_the_stop_word_ends_a_loop_that_is_not_counted():
    outcome = Bench(lambda f, _m, n: sum_of_indices(f, n.like(0), n, 1), 1).run(HIGH, stop=1)
    assert outcome.status is Status.STOPPED


# --- calls ------------------------------------------------------------------------------------------------------------


def test_a_call_hands_over_values_steps_and_failures():
    module = ObjectModule()
    site = module.site("in the callee")
    callee = module.function("callee", [I64], [I64, I32], "internal")
    count = callee.parameters[0]
    total = sum_of_indices(callee, count.like(0), count, 1, 9)[0]
    callee.check(count == 13, site, total)
    callee.finish(total, total.trunc(I32) + 1)

    def build(function: FunctionBuilder, _memory: Value, number: Value) -> Sequence[Value]:
        first = function.call(callee, number)
        second = function.call(callee, number + 1)
        return [first[0] + second[0], second[1].sext(I64)]

    bench = Bench(build, 1, module)
    outcome = bench.run(10, steps=100)
    assert [outcome.number(0), outcome.number(1)] == [45 + 55, 56]
    assert outcome.words[ContextWord.STEPS] == 100 - 21
    assert bench.run(12).fault == (site, 78, [])
    assert bench.run(10, steps=20).fault[0] == 9


def test_the_run_time_can_be_called_and_can_end_the_run():
    seen: list[int] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64)
    def callback(number: int) -> int:
        seen.append(number)
        return Status.STOPPED if number == 3 else Status.DONE

    def build(function: FunctionBuilder, _memory: Value, address: Value) -> Sequence[Value]:
        pointer = function.emit(PTR, f"inttoptr {address} to ptr")

        def body(index: Value, _carried: list[Value]) -> Sequence[Value]:
            function.settle()
            function.leave_with(function.status_of(pointer.text, index))
            return []

        return function.for_loop(address.like(0), 10, 1, [], body)

    outcome = Bench(build, 1).run(ctypes.cast(callback, ctypes.c_void_p).value)
    assert outcome.status is Status.STOPPED
    assert seen == [0, 1, 2, 3]


# --- accesses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("align", [1, 2, 32])
@pytest.mark.parametrize("size", [1024, 768])
def test_an_access_is_checked_and_stays_inside(align: int, size: int):
    extent = 64
    module = ObjectModule()
    site = module.site("access")

    def build(function: FunctionBuilder, _memory: Value, address: Value) -> Sequence[Value]:
        confined = function.access(address, extent, size, align, site)
        function.word(100).store(confined, 8)
        return []

    bench = Bench(build, 1, module)
    far = [-1, -32, -64, -(1 << 63), HIGH, 1 << 40, (1 << 32) + 64, -(1 << 33)]
    for address in [*range(0, size + 65, 1 if align < 32 else 16), *far]:
        legal = 0 <= address <= size - extent and address % align == 0
        outcome = bench.run(address)
        confined = outcome.words[100]
        assert 0 <= confined < 1024
        if legal:
            assert (outcome.status, confined) == (Status.DONE, address)
        else:
            assert (outcome.status, outcome.fault) == (Status.FAILED, (site, address, []))


def test_code_grows_with_its_length_and_not_faster():
    def size_with(count: int) -> int:
        module = ObjectModule()

        def build(function: FunctionBuilder, memory: Value, address: Value) -> Sequence[Value]:
            for number in range(count):
                place = function.access(address + number * 8, 8, 1 << 14, 8, module.site(number))
                memory.at(place).store(memory.at(place).load(I64) + number)
            return []

        return len(Bench(build, 1, module).image)

    short, long = size_with(100), size_with(1000)
    assert long < 12 * short
