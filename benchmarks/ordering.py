"""How long order takes in long kernels: insertion beyond the load itself, and proofs."""

from __future__ import annotations

from functools import partial
from typing import Any

import ptosim
from benchmarks.entries import entries
from benchmarks.measure import once
from benchmarks.tile_kernels import many
from ptosim.diagnostics import Source
from ptosim.loading import load_module


def table(quick: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(name: str, seconds: float, limit: float) -> None:
        rows.append({"name": name, "milliseconds": 1e3 * seconds, "limit": 1e3 * limit})
        print(f"{name:54} {1e3 * seconds:9.1f} ms  limit {1e3 * limit:.0f} {'ok' if seconds <= limit else 'MISSED'}")

    print()
    _ordered(add, "1,000 entries in five loops", entries(1000, 5), (1.0, 2.0))
    if not quick:
        _ordered(add, "3,000 entries in one loop", entries(3000, 1), (4.0, 4.0))
        text = many(3000)
        without = _passes(text, "written")
        add("3,000 tile operations: passes, to twice those without", _passes(text, "auto"), 2 * without)
        add("3,000 tile operations: proof", _proof(text, "auto"), 4.0)
    return rows


def _ordered(add: Any, name: str, text: str, limits: tuple[float, float]) -> None:
    add(f"{name}: insertion", _passes(text, "insert") - _passes(text, "written"), limits[0])
    add(f"{name}: proof", _proof(text, "insert"), limits[1])


def _passes(text: str, sync: str) -> float:
    """What is done behind a load, before something runs."""
    module = load_module(Source("entries.pto", text), sync=sync)
    return once(lambda: module.executable)


def _proof(text: str, sync: str) -> float:
    kernel = ptosim.load(text, sync=sync).kernel()
    kernel.module.executable  # noqa: B018 - lowered before the clock runs
    return once(partial(ptosim.prove, kernel))
