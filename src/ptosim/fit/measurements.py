"""Measured launches: a table with the columns kernel, arguments, grid and cycles, or microseconds.

kernel,arguments,grid,cycles
softmax.pto:softmax,"rand:24x128 zeros:24x128 24",3,2210
"""

from __future__ import annotations

import csv
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ptosim.diagnostics import Diagnostic, Location, PTOError, Source

COLUMNS = ("kernel", "arguments", "grid")
TIMES = ("cycles", "microseconds")


@dataclass(frozen=True)
class Measurement:
    """A launch and how long it took: the median, where it was measured several times."""

    file: str
    kernel: str | None
    words: tuple[str, ...]
    grid: int
    cycles: float
    location: Location
    """The place of its first row."""

    def __str__(self) -> str:
        name = f"{self.file}:{self.kernel}" if self.kernel else self.file
        return " ".join([name, *self.words, *(["--grid", str(self.grid)] if self.grid != 1 else [])])


def read_measurements(source: Source, files: Sequence[str], clock_ghz: float) -> list[Measurement]:
    """The launches of a table; PTOError with every row that is wrong. A kernel is one of these files."""
    reader = csv.reader(source.text.splitlines(keepends=True))
    names = [name.strip() for name in next(reader, list[str]())]
    if problem := _header_problem(names):
        raise PTOError(_diagnostic(source, 1, problem))
    found: dict[tuple[str, tuple[str, ...], int], list[Measurement]] = {}
    wrong: list[Diagnostic] = []
    line = reader.line_num + 1
    for fields in reader:
        if any(field.strip() for field in fields):
            try:
                made = _measurement(source, line, names, fields, files, clock_ghz)
                found.setdefault((f"{made.file}:{made.kernel}", made.words, made.grid), []).append(made)
            except ValueError as problem:
                wrong.append(_diagnostic(source, line, str(problem)))
        line = reader.line_num + 1
    if not found and not wrong:
        wrong.append(_diagnostic(source, 1, "there is no measurement below the header"))
    if wrong:
        raise PTOError(*wrong)
    return [_joined(rows) for rows in found.values()]


def _header_problem(names: Sequence[str]) -> str:
    header = ",".join((*COLUMNS, "cycles"))
    if missing := [name for name in COLUMNS if name not in names]:
        return f"the column '{missing[0]}' is missing: the first line is {header} (or microseconds)"
    times = [name for name in TIMES if name in names]
    if len(times) != 1:
        what = "both are there" if times else "neither is there"
        return f"one column is 'cycles' or 'microseconds', but {what}"
    if unknown := [name for name in names if name not in (*COLUMNS, *TIMES)]:
        return f"there is no column '{unknown[0]}': the first line is {header} (or microseconds)"
    if len(set(names)) < len(names):
        return "a column is there twice"
    return ""


def _measurement(
    source: Source, line: int, names: Sequence[str], fields: Sequence[str], files: Sequence[str], clock_ghz: float
) -> Measurement:
    if len(fields) != len(names):
        hint = ": the arguments are one field, in quotes" if len(fields) > len(names) else ""
        raise ValueError(f"the row has {len(fields)} fields, the header {len(names)}{hint}")
    row = dict(zip(names, (field.strip() for field in fields), strict=True))
    file, kernel = _file(row["kernel"], files)
    grid = _number(row, "grid")
    if grid < 1 or grid != int(grid):
        raise ValueError(f"grid is a whole number above 0, not {row['grid']}")
    time = next(name for name in TIMES if name in row)
    spent = _number(row, time)
    if spent <= 0:
        raise ValueError(f"{time} must be above 0, not {row[time]}")
    cycles = spent if time == "cycles" else spent * 1000 * clock_ghz
    return Measurement(file, kernel, tuple(shlex.split(row["arguments"])), int(grid), cycles, _place(source, line))


def _file(word: str, files: Sequence[str]) -> tuple[str, str | None]:
    """The file, which is named as on the command line or by its last part alone, and the kernel in it."""
    for name, kernel in _readings(word):
        ends = [file for file in files if file == name or file.endswith(f"/{name}")]
        if name in files or len(ends) == 1:
            return name if name in files else ends[0], kernel
    raise ValueError(f"'{word}' is none of the kernels given: {', '.join(files)}")


def _readings(word: str) -> Iterator[tuple[str, str | None]]:
    yield word, None
    name, colon, kernel = word.rpartition(":")
    if colon:
        yield name, kernel


def _number(row: Mapping[str, str], name: str) -> float:
    try:
        number = float(row[name])
    except ValueError:
        raise ValueError(f"{name} must be a number, not '{row[name]}'") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a number, not '{row[name]}'")
    return number


def _joined(rows: Sequence[Measurement]) -> Measurement:
    first = rows[0]
    middle = median(row.cycles for row in rows)
    return Measurement(first.file, first.kernel, first.words, first.grid, middle, first.location)


def _place(source: Source, line: int) -> Location:
    return Location(source.name, line, 1, max(1, len(source.line(line))), source)


def _diagnostic(source: Source, line: int, message: str) -> Diagnostic:
    return Diagnostic("argument", "error", message, _place(source, line))
