"""The tables of rules say what the verifier says, and every operation stands in one."""

import re
from pathlib import Path

import pytest

from language.substitutions import TABLES, written
from ptosim.language.catalogue import operations, room_of

ROOMS = sorted(TABLES.glob("*.txt"))


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: path.stem)
def test_rules(path: Path) -> None:
    table = path.read_text()
    assert written(table) == table, "after a change that is meant: python -m language.substitutions in tests/"


def test_every_operation_has_an_entry() -> None:
    named = {
        name for path in ROOMS for name in re.findall(r'^[%\w, ]*(?:= )?"([\w.]+)"', path.read_text(), re.MULTILINE)
    }
    rooms = {path.stem for path in ROOMS}
    written_by_authors = [op for op in operations() if not op.name.startswith("pto.sim.") and not op.replaced_by]
    expected = {op.name for op in written_by_authors if room_of(op) in rooms and not op.region_roles}
    assert expected - named == set()
