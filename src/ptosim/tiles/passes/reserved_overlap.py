"""Reserved buffers of FIFOs whose written places overlap: the entries of one overwrite those of the other."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import combinations

from ptosim.diagnostics import Diagnostic, Related
from ptosim.language.load import VerifiedModule
from ptosim.language.structure.function import every_function
from ptosim.language.tile.tile_reserve import ReserveBuffer


def overlapping_buffers(module: VerifiedModule, entries: Container[str]) -> Iterator[Diagnostic]:
    """Each pair of buffers of one function and memory that are in use and have bytes in common."""
    for function in every_function(module.parsed.module):
        if function.symbol not in entries or function.is_declaration:
            continue
        used = [op for op in function.walk() if isinstance(op, ReserveBuffer) and op.result.uses]
        placed = [(op, place) for op in used if (place := _place(op)) is not None]
        for (one, first), (other, second) in combinations(placed, 2):
            low, high = max(first[0], second[0]), min(first[1], second[1])
            if one.space is other.space and low < high:
                yield _said(module, one, other, low, high)


def _place(op: ReserveBuffer) -> tuple[int, int] | None:
    base, size = op.integer("base"), op.integer("size")
    return None if op.automatic or base is None or size is None else (base, base + size)


def _said(module: VerifiedModule, one: ReserveBuffer, other: ReserveBuffer, low: int, high: int) -> Diagnostic:
    place, first = module.parsed.location(other), module.parsed.location(one)
    base = one.integer("base") or 0
    return Diagnostic(
        "overlap",
        "warning",
        f"the reserved buffers '{one.label}' and '{other.label}' share {one.space}[{low}:{high}]: entries of one "
        "overwrite those of the other",
        place,
        f"'{other.label}' begins at {other.integer('base')}",
        () if first is None else (Related(first, f"'{one.label}' begins at {base}"),),
        hint=f"let '{other.label}' begin at {base + (one.integer('size') or 0)} or behind, or plan both (auto = true)",
    )
