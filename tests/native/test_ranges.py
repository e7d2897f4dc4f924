"""What is known of an integer before a kernel runs is true of every integer it may be."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from both_engines import agree
from native.test_ir import wrapped
from ptosim.api import load
from ptosim.native.build.compilation import compile_kernel
from ptosim.native.ir.ranges import IntegerRange, combined, converted, decided, everything, indices, only
from small_kernels import image_kernel, module, scope
from tables import table

BITS = 6


def natural(number: int, bits: int = BITS) -> int:
    return number % (1 << bits)


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "ashr": lambda a, b: a >> b,
    "lshr": lambda a, b: natural(a) >> b,
    "udiv": lambda a, b: natural(a) // natural(b),
    "urem": lambda a, b: natural(a) % natural(b),
    "sdiv": toward_zero,
    "srem": lambda a, b: a - b * toward_zero(a, b),
    "llvm.smin": min,
    "llvm.smax": max,
    "llvm.umin": lambda a, b: min(natural(a), natural(b)),
    "llvm.umax": lambda a, b: max(natural(a), natural(b)),
}
SHIFTS, DIVISIONS = {"shl", "ashr", "lshr"}, {"udiv", "urem", "sdiv", "srem"}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
    "ult": lambda a, b: natural(a) < natural(b),
    "ule": lambda a, b: natural(a) <= natural(b),
    "ugt": lambda a, b: natural(a) > natural(b),
    "uge": lambda a, b: natural(a) >= natural(b),
}


@st.composite
def ranges(draw: st.DrawFn) -> IntegerRange:
    """Some range that is not empty."""
    whole = everything(BITS)
    zeros = draw(st.integers(0, BITS - 1))
    multiples = range(whole.low, whole.high + 1, 1 << zeros)
    some = sorted(draw(st.lists(st.sampled_from(multiples), min_size=2, max_size=2)))
    return only(some[0], BITS) if draw(st.booleans()) else IntegerRange(*some, zeros)


def members(known: IntegerRange) -> list[int]:
    return [number for number in range(known.low, known.high + 1) if number % (1 << known.zeros) == 0]


def holds(known: IntegerRange, number: int) -> bool:
    return known.low <= number <= known.high and number % (1 << known.zeros) == 0


@pytest.mark.parametrize("name", OPERATIONS)
@given(a=ranges(), b=ranges())
def test_a_result_is_in_the_range_of_the_result(name: str, a: IntegerRange, b: IntegerRange) -> None:
    known = combined(name, a, b, BITS)
    for x in members(a):
        for y in members(b):
            if (name in SHIFTS and not 0 <= y < BITS) or (name in DIVISIONS and y == 0):
                continue
            assert holds(known, wrapped(OPERATIONS[name](x, y), BITS)), (x, y)


@pytest.mark.parametrize("predicate", COMPARISONS)
@given(a=ranges(), b=ranges())
def test_a_comparison_that_is_decided_always_comes_out_like_that(
    predicate: str, a: IntegerRange, b: IntegerRange
) -> None:
    outcome = decided(predicate, a, b)
    found = {COMPARISONS[predicate](x, y) for x in members(a) for y in members(b)}
    assert outcome is None or found == {outcome}


@pytest.mark.parametrize("name, bits", [("sext", 9), ("zext", 9), ("trunc", 4)])
@given(given_=ranges())
def test_a_conversion_keeps_what_it_can(name: str, bits: int, given_: IntegerRange) -> None:
    known = converted(name, given_, BITS, bits)
    for x in members(given_):
        assert holds(known, wrapped(natural(x) if name == "zext" else x, bits))


@given(lower=ranges(), upper=ranges(), step=ranges())
def test_the_indices_of_a_loop_are_in_their_range(lower: IntegerRange, upper: IntegerRange, step: IntegerRange) -> None:
    known = indices(lower, upper, step)
    for first in members(lower):
        for by in members(step):
            if by > 0:
                assert all(holds(known, index) for index in range(first, upper.high, by))


def test_what_is_worth_knowing_is_known() -> None:
    row = IntegerRange(0, 31)
    at = combined("mul", row, only(128, 64), 64)
    assert at == IntegerRange(0, 31 * 128, 7)
    assert combined("add", at, only(64, 64), 64) == IntegerRange(64, 31 * 128 + 64, 6)
    assert combined("llvm.smin", everything(64), only(32, 64), 64).high == 32
    assert combined("urem", everything(64), only(2, 64), 64) == IntegerRange(0, 1)
    assert combined("mul", everything(32), only(16, 32), 32) == IntegerRange(-(1 << 31), (1 << 31) - 1, 4)  # may wrap
    assert decided("ugt", IntegerRange(0, 100), only(100, 64)) is False


# --- how much of UB a kernel may write --------------------------------------------------------------------------------


STORE = "pto.vsts %v, %ub8192_f32[{}], %all_b32 : V<f32>, P<f32>, M<b32>"
WHOLE = 248 * 1024


def written(body: str, arguments: str = "") -> int:
    made = load(module(f"%x: G<f32>, %n: index{arguments}", body)).kernel("k")
    return compile_kernel(made.module.executable, made.program, drop=False).data["spaces"]["ub"]


def loop(upper: str, at: str) -> str:
    stored = f"%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>\n{STORE.format('%at')}"
    return scope(f"scf.for %i = %c0 to {upper} step %c64 {{\n%at = {at} : index\n{stored}\n}}")


@table(
    "body, bytes_",
    (loop("%c256", "arith.addi %i, %c0"), 8192 + 1024),
    (loop("%c256", "arith.muli %i, %c3"), 8192 + 3 * 768 + 256),
    (loop("%c256", "arith.addi %i, %n"), None),
    (loop("%n", "arith.addi %i, %c0"), None),
    (loop("%n", "arith.remui %i, %c128"), 8192 + 4 * 127 + 256),
    (f"%m = arith.minsi %n, %c256 : index\n{loop('%m', 'arith.addi %i, %c0')}", 8192 + 1024),
    ("pto.store_scalar %c1_i64, %ub512_i64[%c3] : P<i64>, i64", 512 + 32),
    (
        "pto.mte_gm_ub %x, %ub1024_f32, %c0_i64, %c64_i64 nburst(%c4_i64, %c64_i64, %c128_i64)"
        " : G<f32>, P<f32>, i64, i64, i64, i64, i64",
        1024 + 3 * 128 + 64,
    ),
)
def test_how_far_a_kernel_may_write(body: str, bytes_: int | None) -> None:
    found = written(body)
    assert found > WHOLE if bytes_ is None else found == bytes_


def test_no_block_sees_what_another_left() -> None:
    """Blocks write UB at an address that only the run knows, and copy out what they found there."""
    body = """
    %block = pto.get_block_idx
    %b = arith.index_cast %block : i64 to index
    %far = arith.addi %n, %b : index
    %found = pto.load_scalar %ub_i64[%far] : P<i64> -> i64
    %next = pto.load_scalar %ub8_i64[%far] : P<i64> -> i64
    %both = arith.addi %found, %next : i64
    pto.store_scalar %c7_i64, %ub_i64[%far] : P<i64>, i64
    pto.store_scalar %c7_i64, %ub8_i64[%far] : P<i64>, i64
    pto.store_scalar %both, %x[%b] : G<i64>, i64"""
    made = load(module("%x: G<i64>, %n: index", body)).kernel("k")
    for where in (0, 100, 31_000):
        out = agree(made, np.ones(6, np.int64), where, grid=6)
        assert np.frombuffer(out[0], np.int64).tolist() == [0] * 6


def test_an_access_that_is_known_to_be_right_is_not_checked() -> None:
    """Of a loop with known bounds only its turns are counted."""
    made = image_kernel(loop("%c256", "arith.addi %i, %c0"), arguments=", %n: index")
    sure = compile_kernel(made.module.executable, made.program, drop=False)
    made = image_kernel(loop("%c256", "arith.addi %i, %n"), arguments=", %n: index")
    unsure = compile_kernel(made.module.executable, made.program, drop=False)
    assert len(sure.image) < len(unsure.image)
