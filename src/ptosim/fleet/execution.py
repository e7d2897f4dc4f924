"""A worker takes a case and makes a row of it, whatever happens."""

from __future__ import annotations

import ctypes
import hashlib
import io
import os
import pickle
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ptosim.argument_words import value_of
from ptosim.diagnostics import Diagnostic, PTOError, Source, error
from ptosim.fleet.case import Case, ranks_of, words_of
from ptosim.ranks.rank_words import arrays_of, values_of
from ptosim.ranks.world import world_of

if TYPE_CHECKING:
    from ptosim.module import Kernel, Module

Row = dict[str, Any]

COPIES = 3
"""The copies of each array: as given, as the run leaves it, and its record for a check."""
GRACE = 2.0
"""Seconds between the stop of a case and the end of its process."""


class OverTime(Exception):
    """Is raised in the thread of a case that has used up its seconds."""


def run_case(case: Case, version: str, gone: Callable[[str, Row], None] | None = None) -> Row:
    """The row of a case. `gone`: told of a case that does not stop, just before its process ends."""
    began = time.perf_counter()
    row: Row = {
        "case": case.key(version),
        "kernel": case.kernel,
        "what": case.what,
        **case.varied,
        "ok": False,
        "status": "error",
        "kinds": [],
        "lines": [],
        "cycles": None,
        "seconds": 0.0,
        "worker": f"{os.uname().nodename if hasattr(os, 'uname') else ''}:{os.getpid()}",
        "digest": None,
        "message": "",
        "repeat": case.repeat(),
    }
    before = _peak()
    try:
        with _watched(case.limits.seconds, row, gone):
            _execute(case, row)
    except OverTime:
        row |= {"ok": False, "status": "limit", "message": f"more than {case.limits.seconds:g} seconds"}
    except PTOError as problem:
        _tell(row, problem.diagnostics, "error")
    except MemoryError:
        row |= {"status": "limit", "message": "the computer has no more memory"}
    except Exception as reason:
        row |= {"status": "error", "message": f"{type(reason).__name__}: {reason}"[:2000]}
    peak = _peak()
    if row["status"] != "limit" and peak > max(before, case.limits.memory):
        row |= {"ok": False, "status": "limit", "message": f"the process has taken {peak >> 20} MB"}
    row["seconds"] = time.perf_counter() - began
    return row


def _execute(case: Case, row: Row) -> None:
    kernel = _module(case.kernel, case.text, case.target).kernel(case.name)
    if case.what == "prove":
        return _proved(kernel, row)
    ranks = ranks_of(kernel, case)
    words = words_of(kernel, case, ranks)
    row["repeat"] = replace(case, ranks=ranks).repeat(tuple(words))
    if ranks is not None:
        return _execute_on_ranks(kernel, case, words, ranks, row)
    given = enumerate(zip(words, kernel.signature, strict=True))
    values = [value_of(word, parameter, case.seed + index) for index, (word, parameter) in given]
    _limited(case, [value for value in values if isinstance(value, np.ndarray)])
    row |= {"ok": True, "status": "ok"}
    if case.what == "run" or case.expect:
        _ran(kernel, case, values, row)
    if case.what == "check":
        from ptosim.api import check

        report = check(kernel, *values, grid=case.grid)
        if report.findings:
            _tell(row, report.findings, "findings")
            row["ok"] = row["ok"] and report.ok
    if case.what == "profile" or case.timed:
        from ptosim.api import profile

        found = profile(kernel, *values, grid=case.grid)
        row["cycles"] = found.cycles
        if row["status"] == "ok":
            row["message"] = f"bound by {found.bound}"


def _execute_on_ranks(kernel: Kernel, case: Case, words: Sequence[str], ranks: int, row: Row) -> None:
    if case.expect or case.schedule != "program":
        raise error("argument", f"{'expect' if case.expect else 'schedule'} is not for launches on several ranks")
    values = values_of(words, kernel.signature, ranks)
    arrays = [array for value in values for array in arrays_of(value, ranks)]
    _limited(case, arrays)
    world = world_of(kernel, values, ranks, case.grid)
    row |= {"ok": True, "status": "ok"}
    if case.what == "run":
        world.run()
        row["digest"] = _digest(arrays)
    if case.what == "check":
        report = world.check()
        if report.findings:
            _tell(row, report.findings, "findings")
    if case.what == "profile" or case.timed:
        found = world.profile()
        row["cycles"] = found.cycles
        if row["status"] == "ok":
            row["message"] = f"bound by {found.bound}"


def _limited(case: Case, arrays: Sequence[Any]) -> None:
    declared = COPIES * sum(array.nbytes for array in arrays)
    if declared > case.limits.memory:
        raise error("limit", f"its arrays need {declared >> 20} MB, and {case.limits.memory >> 20} MB are allowed")


def _digest(arrays: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def _ran(kernel: Kernel, case: Case, values: Sequence[Any], row: Row) -> None:
    """Run it, compare, and take the digest of its arrays."""
    given = _copies(values)
    engine = "native" if case.schedule == "program" else "reference"
    kernel(*given, grid=case.grid, engine=engine, schedule=case.schedule)
    row["digest"] = _digest([value for value in given if hasattr(value, "dtype")])
    for index, wanted in case.expect.items():
        difference = _difference(given[index], _wanted(wanted.kind, wanted.content, values, index), case)
        if difference is not None:
            row |= {"ok": False, "status": "findings", "message": f"argument {index}: {difference}"}


def _copies(values: Sequence[Any]) -> list[Any]:
    return [np.array(value) if hasattr(value, "dtype") and np.ndim(value) else value for value in values]


def _wanted(kind: str, content: bytes, values: Sequence[Any], index: int) -> Any:
    if kind == "array":
        return np.load(io.BytesIO(content), allow_pickle=False)
    copies = _copies(values)
    found = pickle.loads(content)(*copies)
    return copies[index] if found is None else found


def _difference(found: Any, wanted: Any, case: Case) -> str | None:
    flat, other = np.asarray(found).reshape(-1), np.asarray(wanted).reshape(-1)
    if flat.size != other.size:
        return f"{flat.size} elements, and {other.size} are expected"
    if case.rtol or case.atol:
        same = np.isclose(flat.astype(np.float64), other.astype(np.float64), case.rtol, case.atol, equal_nan=True)
    else:
        same = (flat == other) | ((flat != flat) & (other != other))
    if same.all():
        return None
    first = int(np.argmin(same))
    return f"{int((~same).sum())} of {flat.size} differ, first [{first}]: {flat[first]} instead of {other[first]}"


def _proved(kernel: Kernel, row: Row) -> None:
    from ptosim.api import prove

    proof = prove(kernel)
    row |= {"ok": proof.proven, "status": "ok"}
    if not proof.proven:
        _tell(row, (*proof.findings, *proof.undecided), "findings")
        row["ok"] = False


def _tell(row: Row, found: Sequence[Diagnostic], status: str) -> None:
    first = found[0]
    place = f"line {first.line}: " if first.line is not None else ""
    row |= {
        "ok": False if status == "error" else all(each.severity != "error" for each in found),
        "status": "limit" if first.kind == "limit" and status == "error" else status,
        "kinds": [each.kind for each in found],
        "lines": [each.line or 0 for each in found],
        "message": f"{place}{first.kind}: {first.message}"[:2000],
    }


@lru_cache(maxsize=64)
def _module(name: str, text: str, target: str | None) -> Module:
    from ptosim.api import load

    return load(Source(name, text), target)


# --- limits -----------------------------------------------------------------------------------------------------------


def _peak() -> int:
    """The most bytes that this process has had."""
    try:
        import resource
    except ImportError:  # there is none on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if os.uname().sysname == "Darwin" else peak << 10


@contextmanager
def _watched(seconds: float, row: Row, gone: Callable[[str, Row], None] | None) -> Generator[None]:
    """At the end of its time a case is stopped, and its process two seconds later if it goes on."""
    thread, done = threading.get_ident(), threading.Event()

    def watch() -> None:
        if done.wait(seconds):
            return
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OverTime))
        if gone is None or done.wait(GRACE):
            return
        late = {"status": "limit", "message": f"more than {seconds:g} seconds; its process was replaced"}
        gone(row["case"], {**row, **late, "ok": False, "seconds": seconds + GRACE})
        os._exit(1)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()


def rows_of(cases: Sequence[Case], version: str, gone: Callable[[str, Row], None] | None = None) -> Iterator[Row]:
    """One after the other."""
    for case in cases:
        yield run_case(case, version, gone)
