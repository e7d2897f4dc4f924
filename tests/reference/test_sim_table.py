"""Rows and elements of a table in GM by index, on both engines; what tiles make of them is in tests/tiles."""

import numpy as np
import pytest

import ptosim
from both_engines import agree, fails
from ptosim.api import Kernel
from ptosim.diagnostics import PTOError

TEXT = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%table: !pto.ptr<f32, gm>, %i: !pto.ptr<i32, gm>, %out: !pto.ptr<f32, gm>, %cap: index, %rows: index,
      %columns: index, %length: index, %pitch: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %size = arith.constant 1024 : i64
    %far = arith.constant 4096 : i64
    %idx = pto.castptr %zero : i64 -> !pto.ptr<i32, ub>
    %ub = pto.castptr %far : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %i, %idx, %zero, %size nburst(%one, %zero, %zero)
      : !pto.ptr<i32, gm>, !pto.ptr<i32, ub>, i64, i64, i64, i64, i64
    pto.mte_gm_ub %out, %ub, %zero, %size nburst(%one, %zero, %zero)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    {operation} %table[%cap, %pitch] by %idx[%c16, %c1] at %ub[%c16, %c1, %c1] shape (%rows, %columns, %length)
      {{{words}}} : !pto.ptr<f32, gm>, !pto.ptr<i32, ub>, !pto.ptr<f32, ub>
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_ub_gm %ub, %out, %size nburst(%one, %zero, %zero)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    return
  }}
}}
"""

INDICES = (np.arange(256, dtype="i4") * 7 % 23).reshape(16, 16)
TABLE = np.arange(100, dtype="f4")


def kernel(operation: str, words: str) -> Kernel:
    return ptosim.load(TEXT.format(operation=operation, words=words, target="a5")).kernel()


def held() -> np.ndarray:
    return -np.arange(1, 257, dtype="f4").reshape(16, 16)


@pytest.mark.parametrize("name", ["pto.sim.gather", "pto.sim.gather_mte2"])
def test_runs_are_gathered(name: str) -> None:
    """Three elements for an index, four indices apart; rows that are not there are zero."""
    found = agree(kernel(name, 'beyond = "zero"'), TABLE, INDICES, held(), 20, 5, 1, 3, 4)
    assert isinstance(found, list), found
    expected = held()
    for row in range(5):
        index = INDICES[row, 0]
        expected[row, :3] = TABLE[4 * index :][:3] if index < 20 else 0
    assert np.array_equal(np.frombuffer(found[2], "f4").reshape(16, 16), expected)


@pytest.mark.parametrize("name", ["pto.sim.scatter", "pto.sim.scatter_mte3"])
def test_elements_are_scattered(name: str) -> None:
    found = agree(kernel(name, 'beyond = "skip", combine = "add", ordered'), TABLE, INDICES, held(), 20, 5, 4, 1, 2)
    assert isinstance(found, list), found
    expected = TABLE.copy()
    for row in range(5):
        for column in range(4):
            if INDICES[row, column] < 20:
                expected[2 * INDICES[row, column]] += held()[row, column]
    assert np.array_equal(np.frombuffer(found[0], "f4"), expected)


def test_nothing_to_do_touches_nothing() -> None:
    made = kernel("pto.sim.gather", 'beyond = "undefined"')
    found = agree(made, TABLE, INDICES, held(), 0, 5, 0, 3, 4)
    assert isinstance(found, list), found
    assert np.array_equal(np.frombuffer(found[2], "f4").reshape(16, 16), held())


def test_an_index_beyond_the_table_is_an_error() -> None:
    found = fails(kernel("pto.sim.gather", 'beyond = "undefined"'), TABLE, INDICES, held(), 3, 5, 1, 3, 4)
    assert (found.kind, found.message) == ("out-of-bounds", "index 20 is beyond the 3 of the table")


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_table_that_leaves_its_buffer_is_an_error(engine: str) -> None:
    made = kernel("pto.sim.gather", 'beyond = "clamp"')
    with pytest.raises(PTOError, match=r"out-of-bounds: reads bytes .* which has 400 bytes"):
        made(TABLE.copy(), INDICES.copy(), held(), 23, 5, 1, 3, 40, engine=engine)


@pytest.mark.parametrize("words", ['beyond = "wrap", combine = "none", ordered', 'beyond = "clamp", combine = "max"'])
def test_bytes_outside_are_dropped_where_that_is_asked_for(words: str) -> None:
    agree(kernel("pto.sim.scatter", words), TABLE, INDICES, held(), 22, 16, 2, 3, 5, oob="drop")
    agree(kernel("pto.sim.gather", 'beyond = "wrap"'), TABLE, INDICES, held(), 22, 16, 2, 3, 5, oob="drop")
