"""One order for everything that a recording names by number, from either engine: sites as they stand in the program,
causes and functions as rows come to them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.timing.recording import NOTHING, Recording, RowKind, place_of

Ints = NDArray[np.int64]


def put_in_order(recording: Recording) -> None:
    """Number everything anew, in place."""
    _sites(recording)
    _by_first_use(recording, RowKind.WAIT, recording.causes)
    _by_first_use(recording, RowKind.WORK, recording.functions, recording.paths)


def _sites(recording: Recording) -> None:
    columns = recording.rows.site, recording.signals.set_site, recording.signals.wait_site, recording.watches.site
    named = {cause.site for cause in recording.causes}.union(*(np.unique(column).tolist() for column in columns))
    order = sorted(named, key=_standing(recording).__getitem__)
    new = _places(order, len(recording.sites))
    for column in columns:
        _replace(column, new)
    recording.causes[:] = [replace(cause, site=int(new[cause.site])) for cause in recording.causes]
    recording.sites[:] = [recording.sites[number] for number in order]
    recording.issued[:] = [recording.issued[number] for number in order]


def _standing(recording: Recording) -> list[tuple[int, int]]:
    """For each site the module, as modules are met, and its place there. Sites without a number come last."""
    modules: dict[int, int] = {}
    found: list[tuple[int, int]] = []
    for number, site in enumerate(recording.sites):
        source, place = place_of(site)
        module = 0 if source is None else modules.setdefault(source, len(modules))
        found.append((module, place) if place >= 0 else (len(recording.sites), number))
    return found


def _by_first_use(recording: Recording, kind: RowKind, *lists: list[Any]) -> None:
    """Numbers in rows of a kind, in the order of the rows."""
    order = _first_uses(recording, kind)
    _renumber(recording, kind, _places(order, len(lists[0])))
    for each in lists:
        each[:] = [each[number] for number in order]


def _first_uses(recording: Recording, kind: RowKind) -> list[int]:
    """The numbers of causes or functions in the order in which rows name them first."""
    rows = recording.rows
    details = np.frombuffer(rows.detail, np.int32)[np.frombuffer(rows.kind, np.int8) == kind]
    found, first = np.unique(details[details != NOTHING], return_index=True)
    return found[np.argsort(first)].tolist()


def _places(order: Sequence[int], count: int) -> Ints:
    """By number, where it is in an order."""
    places = np.full(count, NOTHING, np.int64)
    places[np.array(order, np.int64)] = np.arange(len(order))
    return places


def _renumber(recording: Recording, kind: RowKind, new: Ints) -> None:
    rows = recording.rows
    if not len(rows) or not len(new):
        return
    details = np.frombuffer(rows.detail, np.int32)
    chosen = (np.frombuffer(rows.kind, np.int8) == kind) & (details != NOTHING)
    details[chosen] = new[details[chosen]]


def _replace(column: array[int], new: Ints) -> None:
    if len(column):
        values = np.frombuffer(column, np.dtype(column.typecode))
        values[:] = new[values]
