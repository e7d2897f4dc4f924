"""Geometry gives the same numbers on Python ints, on NumPy arrays and on values of the native engine's IR."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from native.compiled import Bench, evaluate
from ptosim.effects.geometry import (
    ceil_div,
    ceil_to,
    floor_div,
    floor_to,
    is_multiple,
    maximum,
    minimum,
    negate,
    reach,
    select,
)
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Value

# Values as they reach a field of 40 bits, with the borders of the powers of two used below, and their negatives.
INTERESTING = [0, 1, -1, 2, 31, 32, 33, -31, -32, -33, 255, 256, 257, (1 << 21) - 1, 1 << 21, (1 << 40) - 1, -(1 << 40)]

# expression, and what it must be, said in another way
EXPRESSIONS: dict[str, tuple[Callable[..., Any], Callable[[int, int], int]]] = {
    "minimum": (minimum, min),
    "maximum": (maximum, max),
    "select": (lambda a, b: select(a <= b, a + 5, b * 3), lambda a, b: a + 5 if a <= b else b * 3),
    "select of constants": (lambda a, b: select(a < b, 7, 11), lambda a, b: 7 if a < b else 11),
    "and": (lambda a, b: select((a < 0) & (b < 0), a, b), lambda a, b: a if a < 0 and b < 0 else b),
    "or": (lambda a, b: select((a < 0) | (b < 0), a, b), lambda a, b: a if a < 0 or b < 0 else b),
    "negate": (lambda a, b: select(negate(a == b), a - b, 99), lambda a, b: a - b if a != b else 99),
    "count conditions": (
        lambda a, b: (a < b) * 1 + (a < 0) * 1 + (b < 0) * 1,
        lambda a, b: int(a < b) + int(a < 0) + int(b < 0),
    ),
    "floor_to 32": (lambda a, b: floor_to(a, 32) + b, lambda a, b: a // 32 * 32 + b),
    "ceil_to 32": (lambda a, b: ceil_to(a, 32) + b, lambda a, b: -(-a // 32) * 32 + b),
    "floor_div 32": (lambda a, b: floor_div(a, 32) + b, lambda a, b: a // 32 + b),
    "ceil_div 32": (lambda a, b: ceil_div(a, 32) + b, lambda a, b: -(-a // 32) + b),
    "ceil_div 1": (lambda a, b: ceil_div(a, 1) + b, lambda a, b: a + b),
    "is_multiple": (lambda a, b: select(is_multiple(a, 32), b, a), lambda a, b: b if a % 32 == 0 else a),
    "constant first": (lambda a, b: 5 - a * 2 + (3 & b) + maximum(0, b), lambda a, b: 5 - 2 * a + (b & 3) + max(0, b)),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_three_carriers_agree(name: str):
    expression, expected = EXPRESSIONS[name]
    pairs = [(a, b) for a in INTERESTING for b in INTERESTING]
    wanted = [expected(a, b) for a, b in pairs]

    assert [int(expression(a, b)) for a, b in pairs] == wanted

    columns = np.array(pairs, np.int64).T
    assert np.asarray(expression(*columns)).tolist() == wanted

    compiled = Bench(lambda _function, _memory, a, b: [expression(a, b).zext(I64)], parameters=2)
    assert [compiled.run(a, b).number() for a, b in pairs] == wanted


@given(st.integers(0, 1 << 21), st.integers(0, 1 << 26))
def test_reach_is_the_start_of_the_last_row(count: int, stride: int):
    rows = range(0, max(count, 1) * stride, stride) if stride else [0]
    assert reach(count, stride) == rows[-1]
    assert reach(np.array([count]), np.array([stride])).tolist() == [rows[-1]]


@pytest.mark.parametrize("count, stride, last", [(0, 64, 0), (1, 64, 0), (2, 64, 64), (5, 0, 0), (1 << 21, 1 << 26, 0)])
def test_reach_of_ir_values(count: int, stride: int, last: int):
    wanted = last if count < 100 else ((1 << 21) - 1) << 26
    assert evaluate(reach, count, stride) == wanted


def test_expressions_of_constants_leave_no_code():
    kept: list[FunctionBuilder] = []

    def build(function: FunctionBuilder, _memory: Value) -> list[Value]:
        kept.append(function)
        length = len(function.definition().splitlines())
        five, nine = function.constant(I64, 5), function.constant(I64, 9)
        result = minimum(five, nine) + select(five == 5, 100, nine) * 2 + (nine & 8) - (five << 0)
        assert len(function.definition().splitlines()) == length
        return [result]

    assert Bench(build).run().number() == 5 + 200 + 8 - 5


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(-(1 << 47), 1 << 47), st.integers(-(1 << 47), 1 << 47)), min_size=1))
def test_numpy_agrees_on_the_whole_range(pairs: list[tuple[int, int]]):
    columns = np.array(pairs, np.int64).T
    assert minimum(*columns).tolist() == [min(a, b) for a, b in pairs]
    assert ceil_to(columns[0], 512).tolist() == [-(-a // 512) * 512 for a, _ in pairs]
