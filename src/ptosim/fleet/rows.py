"""The rows of a sweep: their schema, the parts in which they collect, and the file that they become."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ptosim.diagnostics import error
from ptosim.fleet.execution import Row

SCHEMA = "1"
MOST_IN_PART = 2000
_FIRST = ("case", "kernel", "what")
_LAST = ("ok", "status", "kinds", "lines", "cycles", "seconds", "worker", "digest", "message", "repeat")
STATUSES = ("ok", "findings", "error", "limit", "killed")


def schema_of(varied: Mapping[str, Any]) -> Any:
    """`varied`: a value of each name, of which integers are int64 and all others strings."""
    pa = import_module("pyarrow")

    types = {
        "ok": pa.bool_(),
        "kinds": pa.list_(pa.string()),
        "lines": pa.list_(pa.int64()),
        "cycles": pa.int64(),
        "seconds": pa.float64(),
    }
    fields = [pa.field(name, pa.string()) for name in _FIRST]
    fields += [pa.field(name, pa.int64() if _is_whole(value) else pa.string()) for name, value in varied.items()]
    fields += [pa.field(name, types.get(name, pa.string())) for name in _LAST]
    return pa.schema(fields, metadata={b"ptosim.schema": SCHEMA.encode()})


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class Rows:
    """The store of the rows of a sweep."""

    def __init__(self, out: Path, varied: Mapping[str, Any]) -> None:
        self.out, self.parts = out, out.with_name(f"{out.name}.parts")
        self.varied, self.schema = varied, schema_of(varied)
        self._waiting: list[Row] = []
        self.done = self._known()
        """The cases that have a row."""

    def _known(self) -> set[str]:
        pq = import_module("pyarrow.parquet")

        known: set[str] = set()
        for path in (*self._kept(), *([self.out] if self.out.exists() else [])):
            try:
                found = pq.read_schema(path)
                if not found.equals(self.schema):
                    message = f"{path} is not of this sweep: its columns are {', '.join(found.names)}"
                    raise error("argument", message, hint="give another file to --out, or remove that one")
                known.update(pq.read_table(path, columns=["case"]).column("case").to_pylist())
            except OSError as reason:
                raise error("argument", f"cannot read {path}: {reason}") from None
        return known

    def _kept(self) -> list[Path]:
        return sorted(self.parts.glob("part-*.parquet"))

    def add(self, rows: Iterable[Row]) -> None:
        """Each case once, also where two workers have computed it."""
        for row in rows:
            if row["case"] not in self.done:
                self.done.add(row["case"])
                self._waiting.append(row)
        if len(self._waiting) >= MOST_IN_PART:
            self.flush()

    def flush(self) -> None:
        """Write what waits, as a part of its own."""
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")

        if not self._waiting:
            return
        self.parts.mkdir(parents=True, exist_ok=True)
        for row in self._waiting:
            for name, value in self.varied.items():
                if not _is_whole(value):
                    row[name] = str(row[name])
        number = 1 + max((int(path.stem.removeprefix("part-")) for path in self._kept()), default=0)
        path = self.parts / f"part-{number:06d}.parquet"
        beside = path.with_suffix(".writing")
        pq.write_table(pa.Table.from_pylist(self._waiting, schema=self.schema), beside)
        beside.rename(path)
        self._waiting.clear()

    def finish(self) -> None:
        """All parts become one file."""
        pq = import_module("pyarrow.parquet")

        self.flush()
        beside = self.out.with_name(f"{self.out.name}.writing")
        with pq.ParquetWriter(beside, self.schema) as writer:
            for path in (*([self.out] if self.out.exists() else []), *self._kept()):
                writer.write_table(pq.read_table(path, schema=self.schema))
        beside.replace(self.out)
        shutil.rmtree(self.parts, ignore_errors=True)

    def table(self) -> Any:
        pq = import_module("pyarrow.parquet")

        return pq.read_table(self.out)


def columns(table: Any) -> Sequence[str]:
    """The names that were varied."""
    return [name for name in table.column_names if name not in (*_FIRST, *_LAST)]
