"""The examples of the seed pages order everything that they must: every schedule gives the bytes of program order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim

HERE = Path(__file__).parent
CHANCE = np.random.default_rng(11)
SCHEDULES = [
    *(f"delay:{pipe}" for pipe in ("S", "V", "MTE1", "MTE2", "MTE3", "FIX")),
    *(f"random:{seed}" for seed in range(4)),
]


def numbers(*shape: int, dtype: str = "f4") -> np.ndarray:
    return CHANCE.integers(-1000, 1000, shape).astype(dtype)


def zeros(*shape: int, dtype: str = "f4") -> np.ndarray:
    return np.zeros(shape, dtype)


ARGUMENTS: dict[str, Callable[[], list[Any]]] = {
    "load_store_kernel_2d": lambda: [numbers(32, 32), zeros(32, 32)],
    "load_store_forms_loads": lambda: [numbers(512), zeros(11, 64)],
    "load_store_forms_stores": lambda: [numbers(64 + 1024), zeros(10, 1024)],
    "sync_example_1_flags": lambda: [numbers(32, 32), zeros(32, 32)],
    "sync_example_2_buffers": lambda: [numbers(32, 32), zeros(32, 32)],
    "sync_example_3a_ping_pong_flags": lambda: [numbers(5 * 1024), zeros(5 * 1024), 5],
    "sync_example_3b_ping_pong_buffers": lambda: [numbers(5 * 1024), zeros(5 * 1024), 5],
    "sync_pipe_barrier": lambda: [numbers(2, 64), zeros(64)],
    "sync_mem_bar": lambda: [numbers(64), zeros(64)],
    "sync_cluster_a5": lambda: [zeros(3, dtype="i4")],
    "sync_cluster_a2a3": lambda: [zeros(3, dtype="i4")],
    "scope_vecscope": lambda: [numbers(32, 32), zeros(32, 32)],
    "scope_strict_vecscope": lambda: [numbers(1000), zeros(1000), 1000],
    "dma_copy_within_ub": lambda: [numbers(64), zeros(64)],
    "dma_example_1_and_4_tile": lambda: [numbers(32, 32), zeros(32, 32)],
    "dma_example_2_tile_of_a_matrix": lambda: [numbers(1024, 512, dtype="f2"), zeros(64, 128, dtype="f2")],
    "dma_example_3_padding": lambda: [numbers(64, 100, dtype="f2"), zeros(64, 128, dtype="f2")],
    "dma_example_5_tile_into_a_matrix": lambda: [numbers(64, 128, dtype="f2"), zeros(1024, 512, dtype="f2")],
    "dma_example_6_batch": lambda: [numbers(4, 8, 128, dtype="f2"), zeros(4, 8, 128, dtype="f2")],
}


def test_every_kernel_has_arguments() -> None:
    assert set(ARGUMENTS) == {path.stem for path in HERE.glob("*.pto")}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_schedule_gives_the_same_bytes(name: str) -> None:
    kernel = ptosim.load(HERE / f"{name}.pto").kernel()
    given = ARGUMENTS[name]()

    def result(schedule: str) -> list[bytes]:
        arguments = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
        kernel(*arguments, engine="reference", schedule=schedule)
        return [one.tobytes() for one in arguments if isinstance(one, np.ndarray)]

    expected = result("program")
    for schedule in SCHEDULES:
        assert result(schedule) == expected, schedule
