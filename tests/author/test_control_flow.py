"""Control flow of kernels in Python: the same function, traced and run, and run by Python, stores the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ptosim import pto, scalar
from ptosim.testing import check

CASES: list[Callable[..., None]] = []
PYTHON = {
    "pto": SimpleNamespace(static_range=range, i32=int),
    "scalar": SimpleNamespace(store=lambda value, array, at=0: array.__setitem__(at, value)),
}


def case(function: Any) -> Any:
    CASES.append(function)
    return function


@case
def items_at_turns_of_unrolled_loops(out: Any, n: Any):
    held = [pto.i32(0), n, pto.i32(5)]
    for _ in range(n):
        for u in pto.static_range(3):
            held[u] = held[u] + u
            held[(u + 1) % 3] += n
    for u in pto.static_range(3):
        scalar.store(held[u], out, u)


@case
def items_of_items(out: Any, n: Any):
    held = [[n, n + 1], {"a": n, "b": [n, 7]}]
    for _ in range(n):
        held[0][1] = held[0][1] + 1
        held[1]["b"][0] += held[0][1]
        if n > 2:
            held[1]["a"] = held[1]["a"] * 2
    scalar.store(held[0][1], out, 0)
    scalar.store(held[1]["b"][0], out, 1)
    scalar.store(held[1]["a"], out, 2)


@case
def items_under_pairs_of_indices(out: Any, n: Any):
    held = {}
    for u in pto.static_range(2):
        for v in pto.static_range(2):
            held[u, v] = n + u
    for i in range(7):
        if i == 2:
            continue
        if i == 5:
            break
        for u in pto.static_range(2):
            for v in pto.static_range(2):
                held[u, v] = held[u, v] + n * v
    for u in pto.static_range(2):
        for v in pto.static_range(2):
            scalar.store(held[u, v], out, 2 * u + v)


@case
def items_in_the_condition_of_a_loop(out: Any, n: Any):
    held = [n, 0]
    while held[0] < 20:
        held[0] = held[0] + 3
        held[1] = held[1] + 1
    scalar.store(held[0], out, 0)
    scalar.store(held[1], out, 1)


@case
def items_of_a_list_that_each_turn_makes(out: Any, n: Any):
    total = n
    for _ in range(4):
        held = [total, total + 1]
        held[0] = held[0] + 5
        for u in pto.static_range(2):
            held[u] = held[u] * 2
        total = held[0] + held[1]
    scalar.store(total, out)


@case
def items_in_a_branch(out: Any, n: Any):
    held = [n, pto.i32(4)]
    if n > 2:
        for u in pto.static_range(2):
            held[u] = held[u] + u + 1
    scalar.store(held[0], out, 0)
    scalar.store(held[1], out, 1)


@case
def a_name_set_in_the_condition_of_a_loop(out: Any, n: Any):
    k = n
    while (k := k - 1) > 0:
        if k == 2:
            continue
        scalar.store(k, out, k)


@case
def membership(out: Any, n: Any):
    if n in (1, n * 2, 3) and n not in [5, 6]:
        scalar.store(1, out, 0)
    if n not in (3, 4):
        scalar.store(1, out, 1)
    if 4 in (1, 4):
        scalar.store(1, out, 2)


@pytest.mark.parametrize("function", CASES, ids=[each.__name__ for each in CASES])
def test_a_kernel_stores_what_python_stores(function: Any):
    annotations = {"out": pto.ptr(pto.i32, "gm"), "n": pto.i32}
    function.__annotations__ = annotations
    kernel = pto.jit(mode="explicit", kernel_kind="vector")(function)
    in_python = FunctionType(function.__code__, {**globals(), **PYTHON})
    for n in range(6):
        wanted = np.zeros(16, "i4")
        in_python(wanted, n)
        check(kernel, np.zeros(16, "i4"), n, expect={0: wanted})
