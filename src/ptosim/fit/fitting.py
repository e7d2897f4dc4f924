"""From measured launches to figures: profile, solve for the figures on the critical paths, and again until it stays.

Figures that were measured (CA, PROF, DEV) keep their value unless they are asked for by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.fit.least_squares import Solution, solve
from ptosim.report.profile import Profile
from ptosim.target import Target
from ptosim.target.figures import kind_of
from ptosim.target.tables import FigureKind
from ptosim.timing.path_terms import Term, path_terms

Floats = NDArray[np.float64]
Launch = Callable[[Target], Profile]
Solved = tuple[Sequence[Term], Solution]

MEASURED = frozenset({"CA", "PROF", "DEV"})
_ROUNDS = 12
_STILL = 1e-3
"""Relative changes below this end the search."""
_WORTH = 0.9
"""Latencies are fitted where this is left of the error at most."""


class FittedFigure(NamedTuple):
    path: str
    before: Any
    after: Any
    origin: str
    spread: float
    """The largest standard error of its numbers, relative to them."""
    stands_for: tuple[str, ...]
    """Figures that keep their value because only their sum with this one is determined."""


@dataclass(frozen=True)
class Fit:
    """The result of a fit. Errors are relative and by launch."""

    target: Target
    """With the fitted figures."""
    figures: Sequence[FittedFigure]
    undetermined: Sequence[str]
    """Figures on the critical paths that the measurements leave open."""
    measured: Sequence[str]
    """The figures that were measured, and stay."""
    before: Sequence[float]
    after: Sequence[float]

    @property
    def is_better(self) -> bool:
        return mean(self.after) < mean(self.before)

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target.name,
            "figures": [figure._asdict() for figure in self.figures],
            "undetermined": list(self.undetermined),
            "measured": list(self.measured),
            "error_before": mean(self.before),
            "error_after": mean(self.after),
            "errors": [{"before": one, "after": other} for one, other in zip(self.before, self.after, strict=True)],
        }


def _order(term: Term) -> tuple[bool, str]:
    """Latencies last: what cannot be told from a copy's start-up is likelier that."""
    return _is_latency(term), str(term)


def _is_latency(term: Term) -> bool:
    return term.path.startswith("latency.")


def mean(errors: Sequence[float]) -> float:
    return float(np.mean(np.abs(errors)))


def fit(launches: Sequence[Launch], cycles: Sequence[float], target: Target, refit: Sequence[str] = ()) -> Fit:
    """Fit the figures of a target to measured cycles. `refit`: figures, rows and tables that may change although they
    were measured."""
    search = _Search(launches, np.array(cycles, float), target, refit)
    first = _State(target, [launch(target) for launch in launches])
    found = search.settled(first, with_latencies=False)
    other = search.settled(found, with_latencies=True)  # last: copies that cost too little leave paths to scalar code
    with_latencies = mean(other.errors(search.wanted)) < _WORTH * mean(found.errors(search.wanted))
    best, solution = search.round(other if with_latencies else found, with_latencies, doubts=True)
    wanted = search.wanted
    terms = {term: None for each in (first, best) for term in each.terms}
    return _fit(first, best, solution, list(terms), wanted, refit)


@dataclass(frozen=True)
class _Search:
    launches: Sequence[Launch]
    wanted: Floats
    target: Target
    refit: Sequence[str]

    def settled(self, state: _State, with_latencies: bool) -> _State:
        """Rounds until the error does not fall any more: other figures may put other entries on the critical path."""
        best = state
        for _ in range(_ROUNDS):
            state, _ = self.round(state, with_latencies, doubts=False)
            if mean(state.errors(self.wanted)) >= mean(best.errors(self.wanted)) * (1 - _STILL):
                break
            best = state
        return best

    def round(self, state: _State, with_latencies: bool, doubts: bool) -> tuple[_State, Solved]:
        """Solve for the figures on the critical paths, and profile with them."""
        free = [term for term in state.terms if _may_change(term, self.target, self.refit)]
        free = [term for term in free if with_latencies or not _is_latency(term)]
        before = np.array([_value(self.target, term) for term in free], float)
        found = solve(state.counts(free), self.wanted - state.rest(free), 1 / self.wanted, before, doubts)
        changed = _with(self.target, free, found)
        return _State(changed, [launch(changed) for launch in self.launches]), (free, found)


def _fit(
    first: _State,
    best: _State,
    solution: Solved,
    terms: Sequence[Term],
    wanted: Floats,
    refit: Sequence[str],
) -> Fit:
    spreads: dict[str, float] = {}
    joined: dict[str, dict[str, None]] = {}
    free, (values, all_spreads, together) = solution
    for term, value, spread, others in zip(free, values, all_spreads, together, strict=True):
        if not np.isnan(spread):
            spreads[term.path] = max(spreads.get(term.path, 0), float(spread / value))
            names = [other.path for other, is_joined in zip(free, others.tolist(), strict=True) if is_joined]
            joined.setdefault(term.path, {}).update(dict.fromkeys(names))
    target, changed = first.target.figures, best.target.figures
    figures = [
        FittedFigure(path, target[path].value, changed[path].value, target[path].origin, spread, tuple(joined[path]))
        for path, spread in spreads.items()
        if target[path].value != changed[path].value
    ]
    open_ = [term.path for term in terms if _may_change(term, first.target, refit) and term.path not in spreads]
    kept = [term.path for term in terms if not _may_change(term, first.target, refit)]
    return Fit(
        best.target,
        figures,
        tuple(dict.fromkeys(open_)),
        tuple(dict.fromkeys(kept)),
        first.errors(wanted),
        best.errors(wanted),
    )


class _State:
    """The launches on one set of figures, as sums over these."""

    def __init__(self, target: Target, profiles: Sequence[Profile]) -> None:
        self.target = target
        self.cycles = np.array([max(1, profile.cycles) for profile in profiles], float)
        self.sums: list[Mapping[Term, float]] = [
            path_terms(profile.recording, profile.path, target) for profile in profiles
        ]
        self.terms = sorted({term for sum_ in self.sums for term in sum_}, key=_order)

    def counts(self, terms: Sequence[Term]) -> Floats:
        return np.array([[sum_.get(term, 0) for term in terms] for sum_ in self.sums], float).reshape(-1, len(terms))

    def rest(self, terms: Sequence[Term]) -> Floats:
        """The cycles of each launch that other figures account for."""
        return self.cycles - self.counts(terms) @ np.array([_value(self.target, term) for term in terms], float)

    def errors(self, wanted: Floats) -> list[float]:
        return (self.cycles / wanted - 1).tolist()


def _value(target: Target, term: Term) -> float:
    """The constant as it enters sums: a rate by its inverse."""
    value: Any = target.figures[term.path].value
    number = float(value if term.column is None else value[term.column])
    return 1 / number if term.is_rate else number


def _may_change(term: Term, target: Target, refit: Sequence[str]) -> bool:
    named = any(term.path == name or term.path.startswith(f"{name}.") for name in refit)
    return named or "all" in refit or target.origin(term.path) not in MEASURED


def _with(target: Target, terms: Sequence[Term], found: Solution) -> Target:
    """The target with what was found."""
    changed: dict[str, Any] = {}
    for term, value, is_determined in zip(terms, found.values, found.determined, strict=True):
        if not is_determined:
            continue
        number = float(1 / value if term.is_rate else value)
        before: Any = changed.get(term.path, target.figures[term.path].value)
        if term.column is None:
            changed[term.path] = number
        else:
            changed[term.path] = [number if column == term.column else before[column] for column in (0, 1)]
    settled = {path: _settled(target.architecture, path, value) for path, value in changed.items()}
    return target.with_overrides(settled)


def _settled(architecture: str, path: str, value: Any) -> Any:
    """With five digits, or as a whole number where the figure is one."""
    kind = kind_of(architecture, path)
    assert isinstance(kind, FigureKind)
    digits: Any = [_short(each) for each in value] if isinstance(value, list) else _short(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if kind.kept(digits) is not None:
        return digits
    return [round(each) for each in value] if isinstance(value, list) else round(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _short(value: float) -> float:
    return float(f"{value:.5g}")
