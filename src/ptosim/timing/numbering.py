"""One order for what a recording names by number, whoever wrote it: sites as they stand in the program,
causes and functions as rows come to them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ptosim.timing.recording import NOTHING, Cause, Kind, Recording

Ints = NDArray[np.int64]


def put_in_order(recording: Recording) -> None:
    """Number everything anew, in place."""
    _sites(recording)
    _causes(recording)
    _functions(recording)


def _sites(recording: Recording) -> None:
    numbers = _numbers(recording)
    columns = recording.rows.site, recording.signals.set_site, recording.signals.wait_site, recording.watches.site
    named = {cause.site for cause in recording.causes}.union(*(np.unique(column).tolist() for column in columns))
    kept = sorted({numbers[place] for place in named})
    first = [numbers.index(number) for number in kept]
    where = {number: place for place, number in enumerate(kept)}
    new = np.array([where.get(number, NOTHING) for number in numbers], np.int64)
    for column in columns:
        _replace(column, new)
    recording.causes[:] = [Cause(cause.text, int(new[cause.site]), cause.hop) for cause in recording.causes]
    told = {number: place for place, number in enumerate(numbers) if recording.classes[place]}
    chosen = [told.get(number, place) for number, place in zip(kept, first, strict=True)]
    recording.sites[:] = [recording.sites[place] for place in chosen]
    recording.classes[:] = [recording.classes[place] for place in chosen]
    recording.names[:] = [recording.names[place] for place in chosen]
    recording.pointers[:] = [recording.pointers[place] for place in chosen]


def _numbers(recording: Recording) -> list[int]:
    """Of each site: by module, as modules are met, then as it stands there. One without a number is like no other."""
    modules: dict[int, int] = {}
    found: list[int] = []
    for place, site in enumerate(recording.sites):
        source = site.location.source if site.location else None
        module = 0 if source is None else modules.setdefault(id(source), len(modules))
        found.append((module << 40) + site.number if site.number >= 0 else (1 << 62) + place)
    return found


def _causes(recording: Recording) -> None:
    """Equal ones become one."""
    unique = {cause: number for number, cause in enumerate(dict.fromkeys(recording.causes))}
    _renumber(recording, Kind.WAIT, np.array([unique[cause] for cause in recording.causes], np.int64))
    recording.causes[:] = unique
    order = _first_uses(recording, Kind.WAIT)
    _renumber(recording, Kind.WAIT, _places(order, len(recording.causes)))
    recording.causes[:] = [recording.causes[number] for number in order]


def _functions(recording: Recording) -> None:
    order = _first_uses(recording, Kind.WORK)
    _renumber(recording, Kind.WORK, _places(order, len(recording.functions)))
    recording.functions[:] = [recording.functions[number] for number in order]
    recording.paths[:] = [recording.paths[number] for number in order]


def _first_uses(recording: Recording, kind: Kind) -> list[int]:
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


def _renumber(recording: Recording, kind: Kind, new: Ints) -> None:
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
