"""Weighted least squares: solves for constants that the data determine, and lists the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_APART = 0.03
"""A constant of which less than this is left, when the others are taken out, cannot be told from these: a condition
number of about 1,000."""
_SPREAD = 0.1
"""The standard error of a constant, relative to it, with which it is not determined, if its value before lies within
two of them."""
_PART = 0.1
"""The least share of a constant in another one that is mentioned, where the two cannot be told apart."""


class Solution(NamedTuple):
    values: Floats
    spread: Floats
    """Standard errors; NaN for what is not determined and keeps its value."""
    joined: NDArray[np.bool_]
    """[i, j]: constant i also stands for j, which keeps its value: only their sum is determined."""

    @property
    def determined(self) -> Flags:
        return ~np.isnan(self.spread)


def solve(counts: Floats, wanted: Floats, weights: Floats, before: Floats, doubts: bool = True) -> Solution:
    """Constants whose sums by `counts`, a row for each measurement, come closest to what is wanted. Of those that
    cannot be told apart the first is solved for. Without `doubts` only one below zero is not determined."""
    weighted = counts * weights[:, None]
    free = _apart(weighted)
    while True:
        values, spread = _solved(weighted, wanted * weights, before, free)
        with np.errstate(divide="ignore", invalid="ignore"):
            doubt = np.where(free, np.where(values > 0, spread / values, np.inf), 0)
        doubt[(values > 0) & (np.abs(values - before) > (2 * spread if doubts else -1))] = 0
        if not free.any() or doubt.max() <= _SPREAD:
            return Solution(values, np.where(free, spread, np.nan), _joined(weighted, free))
        free[int(np.argmax(doubt))] = False


def _apart(weighted: Floats) -> Flags:
    """The constants that those before them, in their order, cannot stand for."""
    free = np.zeros(weighted.shape[1], bool)
    basis: list[Floats] = []
    for number, column in enumerate(weighted.T):
        size = float(np.linalg.norm(column))
        left = column.copy()
        for _ in range(2):  # once more takes out what rounding has left
            for direction in basis:
                left -= (left @ direction) * direction
        rest = float(np.linalg.norm(left))
        if size and rest > _APART * size:
            free[number] = True
            basis.append(left / rest)
    return free


def _solved(weighted: Floats, wanted: Floats, before: Floats, free: Flags) -> tuple[Floats, Floats]:
    values, spread = before.copy(), np.zeros(len(before))
    if not free.any():
        return values, spread
    mine = weighted[:, free]
    rest = wanted - weighted[:, ~free] @ before[~free]
    values[free], *_ = np.linalg.lstsq(mine, rest, rcond=None)
    more = len(wanted) - int(free.sum())
    variance = float(((mine @ values[free] - rest) ** 2).sum()) / more if more > 0 else 0.0
    spread[free] = np.sqrt(np.maximum(0, np.diag(np.linalg.pinv(mine.T @ mine))) * variance)
    return values, spread


def _joined(weighted: Floats, free: Flags) -> NDArray[np.bool_]:
    """The kept figures as sums of solved ones."""
    joined = np.zeros((len(free), len(free)), bool)
    if free.any():
        columns: Floats = weighted / np.maximum(np.linalg.norm(weighted, axis=0), np.finfo(float).tiny)
        shares, *_ = np.linalg.lstsq(columns[:, free], columns[:, ~free], rcond=None)
        left = np.linalg.norm(columns[:, ~free] - columns[:, free] @ shares, axis=0)
        joined[np.ix_(free, ~free)] = (np.abs(shares) > _PART) & (left <= _APART)
    return joined
