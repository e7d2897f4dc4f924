"""Atomic operations of workitems and of the scalar unit."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from workitem_programs import both, section

RANDOM = np.random.default_rng(5)


def atomic(
    word: str, start: np.ndarray, values: np.ndarray, type_: str = "i32", sign: str = ""
) -> tuple[list, np.ndarray]:
    """All workitems update element 0; the old values and what is left."""
    text = f"""
      %v = pto.load %values[%i] : !pto.ptr<{type_}, gm> -> {type_}
      %old = pto.atomic_{word} %cell, %v {sign} : !pto.ptr<{type_}, gm>, {type_} -> {type_}
      pto.store %old, %out[%i] : !pto.ptr<{type_}, gm>, {type_}
    """
    parameters = [f"%{name}: !pto.ptr<{type_}, gm>" for name in ("cell", "values", "out")]
    out, cell = np.zeros(32, values.dtype), start.copy()
    kernel = ptosim.load(section(text, parameters)).kernel()
    kernel(cell, values, out, engine="reference")
    again, other = start.copy(), np.zeros(32, values.dtype)
    kernel(again, values, other)
    assert again.tobytes() == cell.tobytes() and other.tobytes() == out.tobytes()
    return out.tolist(), cell


FORMULAS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "exch": lambda a, b: b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": min,
    "max": max,
}
NAMES = ("atomic_exch", "atomic_add", "atomic_sub", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor")


@pytest.mark.parametrize("name", NAMES)
def test_integers_lane_by_lane(name: str) -> None:
    word = name.removeprefix("atomic_")
    values = RANDOM.integers(-1000, 1000, 32).astype("i4")
    old, cell = atomic(word, np.array([77], "i4"), values)
    state, expected = 77, []
    for value in values.tolist():
        expected.append(state)
        state = FORMULAS[word](state, value)
    assert old == expected and cell[0] == state


def test_unsigned_extremes_and_wide_integers() -> None:
    values = np.resize(np.array([-1, 5, 3, -2], "i4"), 32)
    assert atomic("max", np.array([1], "i4"), values, sign="unsigned")[1][0] == -1
    assert atomic("min", np.array([-1], "i4"), values, sign="unsigned")[1][0] == 3
    wide = np.full(32, 1 << 40, "i8")
    assert atomic("add", np.array([1], "i8"), wide, "i64")[1][0] == 1 + 32 * (1 << 40)


def test_floats() -> None:
    values = RANDOM.normal(size=32).astype("f4")
    total = np.float32(1)
    for value in values:
        total += value
    assert atomic("add", np.array([1], "f4"), values, "f32")[1][0] == total
    assert atomic("max", np.array([-5], "f4"), values, "f32")[1][0] == values.max()
    halves = np.full(32, 1, "f2")
    assert atomic("sub", np.array([40], "f2"), halves, "f16")[1][0] == 8


def test_packed_sums() -> None:
    text = """
      %v = arith.constant dense<1.0> : vector<2xf16>
      %old = pto.atomic_add %cell, %v : !pto.ptr<vector<2xf16>, gm>, vector<2xf16> -> vector<2xf16>
    """
    cell = np.array([1, 2], "f2")
    both([], cell, section(text, ["%cell: !pto.ptr<vector<2xf16>, gm>"]))
    assert cell.tolist() == [33, 34]


def test_atomic_cas_stores_where_bits_are_equal() -> None:
    text = """
      %c1 = arith.constant 1 : i32
      %next = arith.addi %t, %c1 : i32
      %old = pto.atomic_cas %cell, %t, %next : !pto.ptr<i32, gm>, i32, i32 -> i32
    """
    cell = np.zeros(1, "i4")
    both([], cell, section(text, ["%cell: !pto.ptr<i32, gm>"]))
    assert cell[0] == 32


def test_the_scalar_unit_updates_in_one_step() -> None:
    kernel = ptosim.load("""module attributes {pto.target_arch = "a5"} {
      func.func @k(%x: !pto.ptr<i32, gm>, %y: !pto.ptr<i32, gm>) attributes {pto.kernel} {
        %c0 = arith.constant 0 : index
        %v = arith.constant 5 : i32
        %old = pto.atomic_add %x, %v : !pto.ptr<i32, gm>, i32 -> i32
        pto.store %old, %y[%c0] : !pto.ptr<i32, gm>, i32
        return
      }
    }
    """).kernel()
    for engine in ("reference", "native"):
        x, y = np.array([3], "i4"), np.zeros(1, "i4")
        kernel(x, y, engine=engine)
        assert (x[0], y[0]) == (8, 3)


def test_an_atomic_outside_names_the_lowest_workitem() -> None:
    text = """
      %p = pto.addptr %cell, %i : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>
      %old = pto.atomic_add %p, %t : !pto.ptr<i32, gm>, i32 -> i32
    """
    kernel = ptosim.load(section(text, ["%cell: !pto.ptr<i32, gm>"])).kernel()
    for engine in ("reference", "native"):
        with pytest.raises(ptosim.PTOError) as raised:
            kernel(np.zeros(20, "i4"), engine=engine)
        (found,) = raised.value.diagnostics
        assert (found.kind, found.workitem and found.workitem.number) == ("out-of-bounds", 20)
        assert "workitem 20 (tx 20, ty 0, tz 0), the lowest of 12 in its warp" in found.message
