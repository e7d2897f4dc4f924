"""Every kernel that must be refused or warned of, room by room: each row of a table is one, with what is said of it."""

import pytest

from refusals import dma, documents, machine, predicate, scalar, sync, vector_memory
from refusals.rule import Line, Rule

ROOMS = (machine, scalar, sync, dma, predicate, vector_memory, documents)
TABLE: list[Rule | Line] = [row for room in ROOMS for row in room.RULES]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.text.strip()[:60])
def test_refused(row: Rule | Line) -> None:
    row.holds()
