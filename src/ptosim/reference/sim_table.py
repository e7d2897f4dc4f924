"""Rows and elements of a table in GM by index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.ctrl import atomic_fields
from ptosim.effects.names import GM, UB
from ptosim.effects.record import Static
from ptosim.effects.sim_table import INDEX_BYTES
from ptosim.language import sim_table as op
from ptosim.reference.atomic import atomic_combine
from ptosim.reference.core import Core
from ptosim.reference.semantics import semantics

Places = NDArray[np.int64]


def _facts(static: Static) -> Mapping[str, Any]:
    return {**static.facts, "width": static.elements["table"].bytes}


def _grid(rows: int, columns: int, row_stride: int, column_stride: int) -> Places:
    """Numbers of elements, row by row."""
    return (np.arange(rows)[:, np.newaxis] * row_stride + np.arange(columns) * column_stride).ravel()


def _indices(core: Core, indices: int, places: Places) -> Places:
    data = core.read_numbers(UB, indices + places * INDEX_BYTES, INDEX_BYTES, INDEX_BYTES)
    return np.ascontiguousarray(data).view(np.uint32).ravel().astype(np.int64)


def _resolved(core: Core, found: Places, capacity: int, beyond: str) -> tuple[Places, NDArray[np.bool_]]:
    """The rows of the table that indices mean, and which of them there are."""
    if beyond == "clamp":
        return np.minimum(found, max(capacity - 1, 0)), np.ones(len(found), bool)
    if beyond == "wrap":
        return found % max(capacity, 1), np.ones(len(found), bool)
    there = found < capacity
    if beyond == "undefined" and not there.all():
        first = int(found[~there][0])
        core.violation("out-of-bounds", f"index {first} is beyond the {capacity} of the table")
    return found, there


def _elements(starts: Places, length: int, stride: int) -> Places:
    """The numbers of the elements of runs, one after the other."""
    return (starts[:, np.newaxis] + np.arange(length) * stride).ravel()


def _runs(places: Places) -> Iterator[tuple[int, int]]:
    """Where elements that follow each other begin and end, in places that ascend."""
    if not len(places):
        return
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    yield from zip([0, *breaks.tolist()], [*breaks.tolist(), len(places)], strict=True)


@semantics(op.SimGather, op.SimGatherMte2, bind=_facts)
def gather(
    core: Core,
    table: int,
    capacity: int,
    pitch: int,
    indices: int,
    index_row: int,
    index_column: int,
    base: int,
    row_stride: int,
    column_stride: int,
    element_stride: int,
    rows: int,
    columns: int,
    length: int,
    beyond: str,
    width: int,
) -> Iterator[None]:
    if rows * columns * length == 0:
        yield
        return
    found = _indices(core, indices, _grid(rows, columns, index_row, index_column))
    numbers, there = _resolved(core, found, capacity, beyond)
    data = np.zeros((len(found), length * width), np.uint8)
    data[:] = core.pattern(data)
    data[there] = core.read_pieces(GM, table + numbers[there] * (pitch * width), length * width)
    yield
    written = there if beyond == "undefined" else np.ones(len(found), bool)
    starts = _grid(rows, columns, row_stride, column_stride)[written]
    places, elements = _elements(starts, length, element_stride), data[written].reshape(-1, width)
    order = np.argsort(places, kind="stable")
    for first, last in _runs(places[order]):
        run = elements[order[first:last]].reshape(1, -1)
        core.write_pieces(UB, np.array([base + places[order[first]] * width]), run, width)


def _look_for_conflicts(core: Core, numbers: Places, data: NDArray[np.uint8]) -> None:
    """Several that go to one place race with each other; where they are equal it does not matter which stays."""
    _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    if len(first) == len(numbers):
        return
    message = "scatter conflict: several go to one place, and the machine does not say which of them stays"
    if np.array_equal(data, data[first][which]):
        core.lint(f"{message} (the bytes are equal)", "race")
    else:
        core.violation("race", message)


@semantics(op.SimScatter, op.SimScatterMte3, bind=_facts)
def scatter(
    core: Core,
    table: int,
    capacity: int,
    pitch: int,
    indices: int,
    index_row: int,
    index_column: int,
    base: int,
    row_stride: int,
    column_stride: int,
    element_stride: int,
    rows: int,
    columns: int,
    length: int,
    beyond: str,
    combine: str,
    ordered: bool,
    kind: str | None,
    width: int,
) -> Iterator[None]:
    if rows * columns * length == 0:
        yield
        return
    found = _indices(core, indices, _grid(rows, columns, index_row, index_column))
    numbers, there = _resolved(core, found, capacity, beyond)
    numbers, starts = numbers[there], _grid(rows, columns, row_stride, column_stride)[there]
    places = _elements(starts, length, element_stride)
    data = core.read_pieces(UB, base + places * width, width, width).reshape(-1, length * width)
    if core.wants_lint and combine == "none" and not ordered:
        _look_for_conflicts(core, numbers, data)
    yield
    dests = table + numbers * (pitch * width)
    atomic = None if combine == "none" or kind is None else atomic_combine(atomic_fields(kind, combine))
    if atomic is None:
        core.write_pieces(GM, dests, data)
    else:
        core.accumulate(GM, dests, data, atomic[2], atomic[0])
