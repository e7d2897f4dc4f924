"""A sweep: cases run on many workers, their rows collect in a file, and what was done before is not done again."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ptosim.diagnostics import error
from ptosim.fleet.case import WHATS, Case
from ptosim.fleet.cluster import Fleet, connected, missing_extra, own_version
from ptosim.fleet.execution import Row
from ptosim.fleet.rows import Rows
from ptosim.fleet.spec import Spec, read_spec, spec_of

FLUSH_SECONDS = 5.0
"""The longest that a row waits before it is in a file."""

Told = Callable[[int, int | None, float], None]
"""Told of a sweep: rows that are there, of how many, and after how many seconds."""


@dataclass(frozen=True)
class Sweep:
    """The results of a sweep."""

    out: Path
    """The file of its rows; it goes with this value, where none was asked for."""

    @property
    def table(self) -> Any:
        """One row for each case."""
        pq = import_module("pyarrow.parquet")

        return pq.read_table(self.out)

    @property
    def failures(self) -> Any:
        """The rows that are not ok."""
        pc = import_module("pyarrow.compute")

        table = self.table
        return table.filter(pc.invert(table.column("ok")))

    @property
    def ok(self) -> bool:
        return self.failures.num_rows == 0

    def html(self, path: str | Path | None = None) -> str:
        """A page: a heat map, failures with their command lines, the slowest cases; written to a file, if one is
        named."""
        from ptosim.fleet.page import page

        text = page(self.table)
        if path is not None:
            Path(path).write_text(text, "utf-8")
        return text

    def __str__(self) -> str:
        from ptosim.fleet.page import summary

        return summary(self.table)


def sweep(
    cases: str | Path | Mapping[str, Any] | Spec | Iterable[Case],
    what: str | None = None,
    client: Any = None,
    out: str | Path | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    told: Told | None = None,
) -> Sweep:
    """Run cases on many workers: those of a file or table that describes a sweep, of a directory of kernels, or given
    ones.

    `what`: run, check, profile or prove, instead of its own. `client`: of Dask; without one, or the
    address of a `scheduler`, a cluster on this computer. `out`: the file of the rows; cases that have a row there are
    not run again.
    """
    if (missing := missing_extra()) is not None:
        raise error("argument", missing)
    given, varied, count = _cases(cases, what)
    kept = None
    if out is None:
        kept = tempfile.mkdtemp(prefix="ptosim-sweep-")
        out = Path(kept) / "results.parquet"
    rows = Rows(Path(out), varied)
    version, began = own_version(), time.monotonic()
    new = (case for case in given if case.key(version) not in rows.done)
    try:
        with connected(scheduler, client, workers) as found:
            _collect(Fleet(found, version).rows(_distinct(new, version)), rows, count, began, told)
    finally:
        rows.finish()
    found = Sweep(Path(out))
    if kept is not None:
        weakref.finalize(found, shutil.rmtree, kept, ignore_errors=True)
    return found


def _collect(arriving: Iterator[list[Row]], rows: Rows, count: int | None, began: float, told: Told | None) -> None:
    flushed = time.monotonic()
    for some in arriving:
        rows.add(some)
        now = time.monotonic()
        if now - flushed > FLUSH_SECONDS:
            rows.flush()
            flushed = now
        if told is not None:
            told(len(rows.done), count, now - began)


def _distinct(cases: Iterable[Case], version: str) -> Iterator[Case]:
    """A case that is given twice is one."""
    seen: set[str] = set()
    for case in cases:
        if (key := case.key(version)) not in seen:
            seen.add(key)
            yield case


def _cases(cases: Any, what: str | None) -> tuple[Iterator[Case], Mapping[str, Any], int | None]:
    """The cases, a value of each name that varies, and how many there are at most."""
    if what is not None and what not in WHATS:
        raise error("argument", f"what is one of {', '.join(WHATS)}, not {what!r}")
    if isinstance(cases, str | Path):
        cases = read_spec(cases)
    elif isinstance(cases, Mapping):
        cases = spec_of(cast("Mapping[str, Any]", cases))
    if isinstance(cases, Spec):
        spec = cases if what is None else replace(cases, what=what)
        given = list(spec.cases())
        varied = {name: _kind(values) for name, values in spec.vary.items()}
        return iter(given), varied, len(given)
    several = [case if what is None else replace(case, what=what) for case in cast("Iterable[Case]", cases)]
    names = {name for case in several for name in case.varied}
    if any({*case.varied} != names for case in several):
        raise error("argument", f"every case of a sweep has the same names; those of some are {', '.join(names)}")
    order = list(several[0].varied) if several else []
    varied = {name: _kind([case.varied[name] for case in several]) for name in order}
    return iter(several), varied, len(several)


def _kind(values: Iterable[Any]) -> Any:
    """A value that says of which type a column is."""
    return 0 if all(isinstance(value, int) and not isinstance(value, bool) for value in values) else ""
