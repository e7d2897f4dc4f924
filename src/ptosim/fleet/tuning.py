"""Tuning: the values that give the fewest cycles among those that check clean.

Candidates are timed at small sizes first, and the best share of them goes on to the sizes that are meant.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from ptosim.diagnostics import error
from ptosim.fleet.case import Case
from ptosim.fleet.cluster import Fleet, connected, own_version
from ptosim.fleet.execution import Row
from ptosim.fleet.spec import Spec, read_spec

Values = tuple[tuple[str, Any], ...]
"""A candidate: the values of the names that are tuned."""

UNTUNED = ("seed",)
"""Constants that are never tuned."""


@dataclass(frozen=True)
class Candidate:
    """Values and what they cost."""

    values: Values
    cycles: int | None
    """The cycles of all sizes together; None if it does not check clean."""
    says: str
    repeat: str
    full: bool
    """Whether it was timed at the sizes that are meant."""


@dataclass(frozen=True)
class Tuned:
    """The candidates, the best first."""

    candidates: tuple[Candidate, ...]
    full_runs: int
    """Cases at the sizes that are meant."""

    @property
    def best(self) -> Candidate | None:
        return next((each for each in self.candidates if each.full and each.cycles is not None), None)

    def to_json(self) -> dict[str, Any]:
        return {
            "candidates": [
                {"values": dict(each.values), "cycles": each.cycles, "says": each.says, "full": each.full}
                for each in self.candidates
            ],
            "full_runs": self.full_runs,
            "command": None if self.best is None else self.best.repeat,
        }

    def __str__(self) -> str:
        names = [name for name, _ in self.candidates[0].values] if self.candidates else []
        rows = [[*names, "cycles", ""]]
        for each in [one for one in self.candidates if one.full][:20]:
            cycles = "" if each.cycles is None else f"{each.cycles:,}"
            rows.append([*(str(value) for _, value in each.values), cycles, each.says])
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
        best = self.best
        last = "no values check clean" if best is None else f"best: {best.repeat}"
        return "\n".join([*lines, f"{self.full_runs} cases at full size", last])


def tune(
    spec: str | Path | Spec, client: Any = None, scheduler: str | None = None, workers: int | None = None
) -> Tuned:
    """Look for the best values of the names in [vary]; those in `small` of [tune] are sizes and not tuned."""
    spec = spec if isinstance(spec, Spec) else read_spec(spec)
    spec = replace(spec, what="check", timed=True)
    small = spec.tuning.small
    tuned = [name for name in spec.vary if name not in small and name not in UNTUNED]
    if not any(len(spec.vary[name]) > 1 for name in tuned):
        raise error("argument", f"{spec.path}: [vary] has nothing to choose between: sizes go into small of [tune]")
    candidates: list[Values] = [
        tuple(zip(tuned, values, strict=True)) for values in product(*(spec.vary[name] for name in tuned))
    ]
    found: dict[Values, Candidate] = {}
    with connected(scheduler, client, workers) as connection:
        fleet = Fleet(connection, own_version())
        for level in _levels(small):
            measured = _measured(fleet, spec, candidates, level, full=False)
            found |= {each.values: each for each in measured}
            clean = sorted((each for each in measured if each.cycles is not None), key=_cost)
            share = spec.tuning.keep ** (1 / len(_levels(small)))
            candidates = [each.values for each in clean[: max(1, math.floor(share * len(candidates)))]]
        measured = _measured(fleet, spec, candidates, {}, full=True) if candidates else []
        found |= {each.values: each for each in measured}
    sizes = math.prod(len(spec.vary[name]) for name in spec.vary if name not in tuned)
    ordered = sorted(found.values(), key=lambda each: (not each.full, each.cycles is None, *_cost(each)))
    return Tuned(tuple(ordered), len(candidates) * sizes)


def _cost(candidate: Candidate) -> tuple[int, str]:
    return candidate.cycles or 0, str(candidate.values)


def _levels(small: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The small sizes, one after the other where there are several."""
    if not small:
        return []
    several: dict[str, Sequence[Any]] = {
        name: value if isinstance(value, list) else [value] for name, value in small.items()
    }
    longest = max(map(len, several.values()))
    return [{name: values[min(level, len(values) - 1)] for name, values in several.items()} for level in range(longest)]


def _measured(
    fleet: Fleet, spec: Spec, candidates: Sequence[Values], sizes: Mapping[str, Any], full: bool
) -> list[Candidate]:
    wanted, cases = {*candidates}, dict[str, tuple[Values, Case]]()
    for case in spec.cases({name: [value] for name, value in sizes.items()}):
        values: Values = tuple((name, case.varied[name]) for name, _ in candidates[0])
        if values in wanted:
            cases[case.key(fleet.version)] = values, case
    rows: dict[Values, list[Row]] = defaultdict(list)
    for some in fleet.rows([case for _, case in cases.values()]):
        for row in some:
            rows[cases[row["case"]][0]].append(row)
    return [_candidate(values, rows[values], full) for values in candidates]


def _candidate(values: Values, rows: Sequence[Row], full: bool) -> Candidate:
    wrong = next((row for row in rows if not row["ok"] or row["status"] != "ok"), None)
    if wrong is not None or not rows:
        says = "" if wrong is None else str(wrong["message"])
        return Candidate(values, None, says, "" if wrong is None else wrong["repeat"], full)
    slowest = max(rows, key=lambda row: row["cycles"])
    return Candidate(values, sum(row["cycles"] for row in rows), slowest["message"], slowest["repeat"], full)
