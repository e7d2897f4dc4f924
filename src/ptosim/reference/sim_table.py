"""Rows and elements of a table in GM by index."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.ctrl import atomic_fields
from ptosim.effects.names import GM, UB
from ptosim.effects.record import Static
from ptosim.effects.sim_table import INDEX_BYTES
from ptosim.language.micro import sim_table as op
from ptosim.reference.core import Core
from ptosim.reference.memory.access_places import Places
from ptosim.reference.memory.atomic import atomic_store
from ptosim.reference.semantics import Operands, semantics


def _width(static: Static) -> dict[str, int]:
    return {"width": static.elements["table"].bytes}


def _is_empty(operands: Operands) -> bool:
    return operands.rows * operands.columns * operands.length == 0


def _grid(operands: Operands, row_stride: int, column_stride: int) -> Places:
    """Numbers of elements, row by row."""
    rows, columns = int(operands.rows), int(operands.columns)
    return (np.arange(rows)[:, np.newaxis] * row_stride + np.arange(columns) * column_stride).ravel()


def _indices(core: Core, operands: Operands) -> Places:
    places = _grid(operands, operands.index_row, operands.index_column)
    data = core.read_numbers(UB, operands.indices + places * INDEX_BYTES, INDEX_BYTES, INDEX_BYTES)
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


def _elements(operands: Operands, chosen: NDArray[np.bool_]) -> Places:
    """The numbers of the elements of the chosen runs, one after the other."""
    starts = _grid(operands, operands.row_stride, operands.column_stride)[chosen]
    length, stride = int(operands.length), int(operands.element_stride)
    return (starts[:, np.newaxis] + np.arange(length) * stride).ravel()


def _runs(places: Places) -> Iterator[tuple[int, int]]:
    """The ends of stretches of elements that follow each other, in places that ascend."""
    if not len(places):
        return
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    yield from zip([0, *breaks.tolist()], [*breaks.tolist(), len(places)], strict=True)


@semantics(op.SimGather, op.SimGatherMte2, bind=_width)
def gather(core: Core, operands: Operands, beyond: str, width: int) -> Iterator[None]:
    length = operands.length
    if _is_empty(operands):
        yield
        return
    found = _indices(core, operands)
    numbers, there = _resolved(core, found, operands.capacity, beyond)
    data = np.zeros((len(found), length * width), np.uint8)
    data[:] = core.pattern(data)
    data[there] = core.read_pieces(GM, operands.table + numbers[there] * (operands.pitch * width), length * width)
    yield
    written = there if beyond == "undefined" else np.ones(len(found), bool)
    places, elements = _elements(operands, written), data[written].reshape(-1, width)
    order = np.argsort(places, kind="stable")
    for first, last in _runs(places[order]):
        run = elements[order[first:last]].reshape(1, -1)
        core.write_pieces(UB, np.array([operands.base + places[order[first]] * width]), run, width)


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


@semantics(op.SimScatter, op.SimScatterMte3, bind=_width)
def scatter(
    core: Core, operands: Operands, beyond: str, combine: str, ordered: bool, kind: str | None, width: int
) -> Iterator[None]:
    if _is_empty(operands):
        yield
        return
    found = _indices(core, operands)
    numbers, there = _resolved(core, found, operands.capacity, beyond)
    numbers, places = numbers[there], _elements(operands, there)
    data = core.read_pieces(UB, operands.base + places * width, width, width).reshape(-1, operands.length * width)
    if core.wants_lint and combine == "none" and not ordered:
        _look_for_conflicts(core, numbers, data)
    yield
    dests = operands.table + numbers * (operands.pitch * width)
    atomic = None if combine == "none" or kind is None else atomic_store(atomic_fields(kind, combine))
    core.write_pieces(GM, dests, data, atomic=atomic)
