"""Tiles without addresses: a recording has a negative number in their place, and above it where a part begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ptosim.cpp.columns import Column, ColumnSum
from ptosim.cpp.forms import KIND_SIZES, OperationForm

if TYPE_CHECKING:
    from ptosim.cpp.recording import RecordedBlock

_BITS = 24
"""The bits of the number, as part_of in the headers has them."""
_NUMBER = (1 << _BITS) - 1

OperandColumn = tuple[tuple[str, ...], Column, Column]
"""An operand of a form: its kind, the operations that have it, and the first of its values in each."""


def operand_columns(
    block: RecordedBlock, offsets: Column, forms: Sequence[OperationForm]
) -> Iterator[list[OperandColumn]]:
    """The operands of each form that a block has. `offsets`: where the values of each operation begin."""
    numbers = block.tokens >> 32
    for number, form in enumerate(forms):
        mine, at, found = np.flatnonzero(numbers == number), 0, list[OperandColumn]()
        for kind in form.kinds if len(mine) else ():
            found.append((kind, mine, block.values[offsets[mine] + at]))
            at += KIND_SIZES.get(kind[0], 1)
        yield found


def tile_numbers(addresses: Column) -> Column:
    """The numbers of tiles; 0 for those that have addresses."""
    return np.where(addresses < 0, -addresses & _NUMBER, 0)


def tile_number(found: ColumnSum) -> int | None:
    """The number of the one tile that a column of addresses is about; None for one with an address."""
    tables = [number for term in found.terms for number in term.table]
    address = found.base if found.base else min(tables, default=0)
    return -address & _NUMBER if address < 0 else None


def part_offsets(found: ColumnSum) -> ColumnSum:
    """The beginnings of parts in their tile: bytes."""

    def offset(number: int) -> int:
        return -number >> _BITS

    terms = (replace(term, factor=offset(term.factor), table=tuple(map(offset, term.table))) for term in found.terms)
    return ColumnSum(offset(found.base), tuple(terms))


def sizes_in_parts(columns: Sequence[tuple[Column, int]]) -> dict[int, int]:
    """The bytes of each tile that is used in parts by its number. `columns`: addresses, and how many bytes are used."""
    found, apart = dict[int, int](), set[int]()
    for addresses, size in columns:
        for address in np.unique(addresses[addresses < 0]).tolist():
            number, start = -address & _NUMBER, -address >> _BITS
            found[number] = max(found.get(number, 0), start + size)
            if start:
                apart.add(number)
    return {number: found[number] for number in apart}
