"""Every kernel that must be refused or warned of, room by room: each row of a table is one, with what is said of it.

What no row says stays with the rooms of tests/language: a rule that is tried on each instruction, type or word of a
list; forms whose border is shown from both sides, what is accepted next to what is not; texts with several diagnostics
or a hint; texts that are made to be long, deep or broken at any place.
"""

from importlib import import_module
from pathlib import Path

import pytest

from refusals.rule import Line, Row, Rule

NO_ROOMS = {"kernels", "rule", "test_refusals"}
ROOMS = [name for name in sorted(path.stem for path in Path(__file__).parent.glob("*.py")) if name not in NO_ROOMS]
TABLE: list[Rule | Line | Row] = [row for name in ROOMS for row in import_module(f"refusals.{name}").RULES]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.text.strip()[:60])
def test_refused(row: Rule | Line | Row) -> None:
    row.holds()
