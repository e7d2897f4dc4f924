"""What is paid before a kernel runs: loading, compiling, a cached object, a whole process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from typing import Any
from unittest.mock import patch

import ptosim
from benchmarks.examples import EXAMPLES, launch, paths
from benchmarks.kernels import chain
from benchmarks.measure import best, in_turns, once
from ptosim.diagnostics import Source

SOFTMAX = [str(EXAMPLES / "softmax.pto"), "rand:24x128", "zeros:24x128", "24"]


def table() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(name: str, seconds: float, limit: float | None = None) -> None:
        rows.append({"name": name, "milliseconds": 1e3 * seconds, "limit": limit and 1e3 * limit})
        verdict = "" if limit is None else f"  limit {1e3 * limit:.0f} {'ok' if seconds <= limit else 'MISSED'}"
        print(f"{name:54} {1e3 * seconds:9.1f} ms{verdict}")

    print()
    _load(add)
    _compile(add)
    _cached(add)
    _processes(add)
    return rows


def _load(add: Any) -> None:
    from ptosim.language.load import load

    softmax = Source("softmax.pto", (EXAMPLES / "softmax.pto").read_text())
    long = Source("long.pto", chain(2000))
    add("load a kernel of 120 operations", best(lambda: load(softmax)), 0.030)
    add("load 2,000 operations", best(lambda: load(long), 3), 0.6)


def _compile(add: Any) -> None:
    from ptosim.language.load import load
    from ptosim.native.build.compilation import compile_kernel

    compile_kernel(*_program(load(Source("warm", chain(2)))), drop=False)
    for path in paths():
        module = load(Source(path.name, path.read_text()))
        limit = 0.060 if path.stem == "softmax" else None
        add(f"compile {path.stem}", best(lambda m=module: compile_kernel(*_program(m), drop=False)), limit)
    module = load(Source("long.pto", chain(2000)))
    add(
        "compile 2,000 straight-line vector instructions",
        once(lambda: compile_kernel(*_program(module), drop=False)),
        1.0,
    )


def _cached(add: Any) -> None:
    """What the cache leaves of loading and compiling: the first run of each example without a second one."""
    with tempfile.TemporaryDirectory() as directory, patch.dict(os.environ, XDG_CACHE_HOME=directory):
        for path in paths():
            launched, kernel = launch(path.stem), ptosim.load(path).kernel()
            run = partial(_run, launched)
            first, second = in_turns(lambda p=path, r=run: r(ptosim.load(p).kernel()), partial(run, kernel))
            add(f"from cache: {path.stem}", first - second, 0.005 if path.stem == "softmax" else None)


def _run(launched: Any, kernel: ptosim.Kernel) -> None:
    kernel(*launched.arguments, grid=launched.grid, threads=1)


def _program(module: Any) -> tuple[Any, Any]:
    return module, module.kernels[0]


def _processes(add: Any) -> None:
    """Whole processes of the command line, with a cache of their own; their byte code is kept, as where ptosim is
    installed."""
    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, "XDG_CACHE_HOME": directory, "PYTHONPYCACHEPREFIX": directory}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def run(*words: str) -> None:
            subprocess.run([sys.executable, "-m", "ptosim", *words], env=environment, check=True, capture_output=True)

        add("process: ptosim verify softmax.pto", best(lambda: run("verify", SOFTMAX[0])), 0.6)
        add("process: ptosim run softmax.pto, cold", once(lambda: run("run", *SOFTMAX)))
        add("process: ptosim run softmax.pto, cached", best(lambda: run("run", *SOFTMAX)), 0.35)
