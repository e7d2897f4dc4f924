"""Bytes of an entry in a replay: those that it may touch, and those that it certainly touches.

The extents of the effects records are asked on plain integers. Rows of a copy are told from the extents of fewer rows;
between the first and the last byte of another access no byte is certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from ptosim.effects.names import Space
from ptosim.effects.record import Access
from ptosim.language.analysis.scalar_rules import Scalar
from ptosim.language.operation import PTOOperation

_MOST_ROWS = 1 << 12
_FARTHEST = 1 << 62

Pieces = tuple[tuple[int, int], ...]
"""Stretches of bytes, each from its first to one past its last."""


@dataclass(frozen=True, slots=True)
class Touched:
    """One access, its addresses as integers."""

    space: Space
    writes: bool
    may: Pieces
    sure: Pieces
    atomic: str = ""
    """The kind of an atomic update; two of one kind need no order."""
    core: str = ""
    """The owner of the memory, if that is another core."""
    by_use: bool = False
    """Whether it counts only where what was loaded is used in the end."""
    into: Pieces = ()
    """Bytes of the same memory that are sure to hold what was loaded when its entry has ended."""

    @property
    def low(self) -> int:
        return self.may[0][0]

    @property
    def high(self) -> int:
        return self.may[-1][1]


class PlainOperands:
    """Operands by role, as integers."""

    def __init__(self, op: PTOOperation, values: Mapping[Any, Scalar]) -> None:
        for role in op.operand_roles:
            given = [values.get(value) for value in op.segment(role)]
            if role in op.variadic_roles:
                setattr(self, role, tuple(given))
            elif given:
                setattr(self, role, given[0])

    def __getattr__(self, name: str) -> Any:
        """Special registers hold something that no replay knows."""
        if name.isupper():
            return None
        raise AttributeError(name)


def everything(space: Space, writes: bool) -> Touched:
    """An access that may be anywhere."""
    return Touched(space, writes, ((-_FARTHEST, _FARTHEST),), ())


def touched_by(op: PTOOperation, access: Access, operands: PlainOperands) -> Touched | None:
    """Bytes of an operation outside of vector scopes; None where there is nothing to touch."""
    base: Scalar = getattr(operands, access.base, None)
    writes = access.direction == "write"
    if access.reach == "unknown" or base is None:
        return everything(access.space, writes)
    try:
        low, high = access.extent(operands)
        rows = _rows(access, operands)
    except TypeError:  # an operand is not known
        return everything(access.space, writes)
    if high <= low:
        return None
    low, high = base + int(low), base + int(high)
    if rows is not None:
        pieces = tuple((base + start, base + start + width) for start, width in rows)
        return Touched(access.space, writes, pieces, pieces)
    ends = ((low, low + 1), (high - 1, high)) if access.reach == "exact" and access.mask is None else ()
    return Touched(access.space, writes, ((low, high),), ends)


def _rows(access: Access, operands: PlainOperands) -> list[tuple[int, int]] | None:
    """Start and width of each row of a copy, joined where they lie side by side; None where it has no rows."""
    given = vars(operands)
    if "n_burst" not in given or access.mask is not None:
        return None
    loops: tuple[int, ...] = given.get("loop_counts", ())
    ones: dict[str, Any] = {"n_burst": 1, "loop_counts": (1,) * len(loops)}
    start, end = _extent(access, operands, ones)
    strides = [_extent(access, operands, {**ones, "n_burst": 2})[1] - end]
    for index in range(len(loops)):
        twice = tuple(2 if at == index else 1 for at in range(len(loops)))
        strides.append(_extent(access, operands, {**ones, "loop_counts": twice})[1] - end)
    width, counts = end - start, [given["n_burst"], *loops]
    starts = [start]
    for count, stride in zip(counts, strides, strict=True):
        if stride == width and len(starts) == 1:
            width *= count
        elif count != 1:
            if count * len(starts) > _MOST_ROWS:
                return None
            starts = [at + turn * stride for turn, at in product(range(count), starts)]
    return _united(sorted(starts), width) if width > 0 else None


def _united(starts: list[int], width: int) -> list[tuple[int, int]]:
    """Rows from the lowest to the highest, each with its width; those that meet as one."""
    found: list[tuple[int, int]] = []
    for start in starts:
        if found and start <= sum(found[-1]):
            first = found[-1][0]
            found[-1] = (first, max(sum(found[-1]), start + width) - first)
        else:
            found.append((start, width))
    return found


def _extent(access: Access, operands: PlainOperands, instead: Mapping[str, Any]) -> tuple[int, int]:
    changed = object.__new__(PlainOperands)
    vars(changed).update(vars(operands) | {name: value for name, value in instead.items() if name in vars(operands)})
    low, high = access.extent(changed)
    return int(low), int(high)


# --- meetings ---------------------------------------------------------------------------------------------------------


def meeting(a: Pieces, b: Pieces) -> bool:
    """Whether two sets of stretches have a byte in common; each is sorted."""
    if len(a) == len(b) == 1:
        return a[0][0] < b[0][1] and b[0][0] < a[0][1]
    return next(_common(a, b), None) is not None


def _common(a: Pieces, b: Pieces) -> Iterator[tuple[int, int]]:
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low < high:
            yield low, high
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1


def covers(outer: Pieces, inner: Pieces) -> bool:
    """Whether one stretch is sure to hold all of another set."""
    return len(outer) == 1 and outer[0][0] <= inner[0][0] and inner[-1][1] <= outer[0][1]
