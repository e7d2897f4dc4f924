"""Workitems beside NumPy on one thread: arithmetic in UB, barriers, atomics, loops that lanes leave one by one."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import ptosim
from benchmarks.measure import in_turns

COUNT = 2048
ROUNDS = 1000


def section(body: str, parameters: str, count: int = COUNT) -> Any:
    """A kernel that is one section; `%t` and `%i` are the number of the workitem."""
    return ptosim.load(f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel({parameters}) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %counts = pto.castptr %zero : i64 -> !pto.ptr<i32, ub>
    pto.section.simt<<<{count}, 1, 1>>> {{
      %t = pto.get_tid_x : i32
      %i = arith.index_cast %t : i32 to index
      %first = arith.constant 0 : index
      %one = arith.constant 1 : index
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      {body}
    }}
    return
  }}
}}
""").kernel()


def rounds(barrier: str) -> str:
    return f"""
      %n = arith.constant {ROUNDS} : index
      %a = arith.constant 0.999 : f32
      %b = arith.constant 0.5 : f32
      %start = arith.sitofp %t : i32 to f32
      pto.store %start, %ub[%i] : !pto.ptr<f32, ub>, f32
      scf.for %j = %first to %n step %one {{
        %v = pto.load %ub[%i] : !pto.ptr<f32, ub> -> f32
        %m = arith.mulf %v, %a : f32
        %s = arith.addf %m, %b : f32
        pto.store %s, %ub[%i] : !pto.ptr<f32, ub>, f32
        {barrier}
      }}"""


TREE_ROUNDS = 100
TREE = f"""
      %half = arith.constant 512 : i32
      %ten = arith.constant 10 : index
      %rounds = arith.constant {TREE_ROUNDS} : index
      scf.for %round = %first to %rounds step %one {{
        %r = scf.for %j = %first to %ten step %one iter_args(%h = %half) -> (i32) {{
          %inside = arith.cmpi ult, %t, %h : i32
          scf.if %inside {{
            %o = arith.addi %t, %h : i32
            %oi = arith.index_cast %o : i32 to index
            %a = pto.load %ub[%i] : !pto.ptr<f32, ub> -> f32
            %b = pto.load %ub[%oi] : !pto.ptr<f32, ub> -> f32
            %s = arith.addf %a, %b : f32
            pto.store %s, %ub[%i] : !pto.ptr<f32, ub>, f32
          }}
          pto.syncthreads
          %n = arith.shrui %h, %c1 : i32
          scf.yield %n : i32
        }}
      }}"""
HISTOGRAM = f"""
      %far = arith.constant {COUNT} : index
      %n = arith.index_cast %count : i32 to index
      scf.for %j = %i to %n step %far {{
        %v = pto.ldg %x[%j] : !pto.ptr<i32, gm> -> i32
        %k = arith.index_cast %v : i32 to index
        %p = pto.addptr %counts, %k : !pto.ptr<i32, ub> -> !pto.ptr<i32, ub>
        %o = pto.atomic_add %p, %c1 : !pto.ptr<i32, ub>, i32 -> i32
      }}"""
SAXPY = f"""
      %far = arith.constant {COUNT} : index
      %a = arith.constant 2.0 : f32
      %n = arith.index_cast %count : i32 to index
      scf.for %j = %i to %n step %far {{
        %v = pto.ldg %x[%j] : !pto.ptr<f32, gm> -> f32
        %w = pto.ldg %y[%j] : !pto.ptr<f32, gm> -> f32
        %m = arith.mulf %a, %v : f32
        %s = arith.addf %m, %w : f32
        pto.stg %s, %y[%j] : !pto.ptr<f32, gm>, f32
      }}"""
COLLATZ = """
      %c2 = arith.constant 2 : i32
      %c3 = arith.constant 3 : i32
      %start = arith.addi %t, %c1 : i32
      %r:2 = scf.while (%n = %start, %k = %c0) : (i32, i32) -> (i32, i32) {
        %go = arith.cmpi sgt, %n, %c1 : i32
        scf.condition(%go) %n, %k : i32, i32
      } do {
      ^bb0(%n: i32, %k: i32):
        %odd = arith.andi %n, %c1 : i32
        %is = arith.cmpi eq, %odd, %c1 : i32
        %t3 = arith.muli %n, %c3 : i32
        %u = arith.addi %t3, %c1 : i32
        %h = arith.shrui %n, %c1 : i32
        %m = arith.select %is, %u, %h : i32
        %k1 = arith.addi %k, %c1 : i32
        scf.yield %m, %k1 : i32, i32
      }
      pto.stg %r#1, %y[%i] : !pto.ptr<i32, gm>, i32"""


MOST, MEAN, RMS_NORM = 8.0, 5.0, 3.0
"""A check takes at most so many times a run: of a row, in the geometric mean of all, of the RMS norm."""
RMS_ROWS = 512
ROUNDS_MEASURED = 15


def table(quick: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(name: str, kernel: Any, arguments: tuple[Any, ...], numpy: Callable[[], object]) -> None:
        run, expected = in_turns(lambda: kernel(*arguments), numpy, rounds=ROUNDS_MEASURED)
        rows.append({"name": name, "microseconds": 1e6 * run, "of_numpy": expected / run})
        print(f"workitems: {name:44} {1e6 * run:11.1f} us  {expected / run:7.2f} x NumPy")
        check(f"check of {name}", kernel, arguments, MOST)

    def check(name: str, kernel: Any, arguments: tuple[Any, ...], limit: float) -> None:
        run, checked = in_turns(
            lambda: kernel(*arguments), lambda: ptosim.check(kernel, *arguments), rounds=ROUNDS_MEASURED
        )
        told(name, checked / run, limit)

    def told(name: str, ratio: float, limit: float) -> None:
        rows.append({"name": name, "ratio": ratio, "limit": limit})
        verdict = "ok" if ratio <= limit else "MISSED"
        print(f"workitems: {name:53} {ratio:6.2f} x a run  limit {limit:.1f} {verdict}", flush=True)

    print()
    for barrier in ("", "pto.syncthreads"):
        kernel, x = section(rounds(barrier), "%x: !pto.ptr<f32, gm>"), np.zeros(1, "f4")
        add(f"a*x + b in UB, {ROUNDS:,} rounds{', a barrier in each' if barrier else ''}", kernel, (x,), _rounds)
    add(f"tree sum of 1,024, {TREE_ROUNDS} times", section(TREE, "%x: !pto.ptr<f32, gm>", 512), (x,), _tree)
    count = 1 << (16 if quick else 20)
    values = np.random.default_rng(1).integers(0, 256, count).astype("i4")
    kernel = section(HISTOGRAM, "%x: !pto.ptr<i32, gm>, %count: i32")
    add(f"histogram of {count:,} in UB", kernel, (values, count), lambda: np.bincount(values))
    x, y = (np.random.default_rng(2).random(count).astype("f4") for _ in range(2))
    kernel = section(SAXPY, "%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %count: i32")
    add(f"saxpy of {count:,} in GM", kernel, (x, y, count), lambda: np.add(y, np.float32(2) * x, out=y))
    add("Collatz steps of 2,048 numbers", section(COLLATZ, "%y: !pto.ptr<i32, gm>"), (np.zeros(COUNT, "i4"),), _collatz)
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    told("check in the geometric mean", prod(ratios) ** (1 / len(ratios)), MEAN)
    kernel, arguments = _rms_norm()
    check(f"check of {RMS_ROWS} rows of an RMS norm", kernel, arguments, RMS_NORM)
    return rows


def _rms_norm() -> tuple[Any, tuple[Any, ...]]:
    kernel = ptosim.load(Path(__file__).parents[1] / "examples" / "simt" / "rms_norm.pto").kernel()
    random = np.random.default_rng(3)
    x, w = random.normal(size=(RMS_ROWS, 256)).astype("f4"), random.normal(size=256).astype("f4")
    return kernel, (x, w, np.zeros_like(x), RMS_ROWS)


def _rounds() -> None:
    x = np.zeros(COUNT, "f4")
    for _ in range(ROUNDS):
        np.multiply(x, np.float32(0.999), out=x)
        np.add(x, np.float32(0.5), out=x)


def _tree() -> None:
    for _ in range(TREE_ROUNDS):
        sums, half = np.zeros(1024, "f4"), 512
        while half:
            sums = sums[:half] + sums[half : 2 * half]
            half >>= 1


def _collatz() -> None:
    n, k = np.arange(1, COUNT + 1), np.zeros(COUNT, "i4")
    while (going := n > 1).any():
        n = np.where(going, np.where(n & 1, 3 * n + 1, n >> 1), n)
        k += going
