"""Facts about an instruction stand with the instruction: nothing outside the rooms knows one by its name.

Rooms are the modules that declare operations, their records, meanings and lowerings; the lowerings of tiles write
instructions by name. Everybody else asks a class (`CastPtr.name`, isinstance) or the record (`signalling("flag")`).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import ptosim
from ptosim.effects.catalogue import ROOMS
from ptosim.language.catalogue import operations, structural_operations

SOURCE = Path(ptosim.__file__).parent
OPERATIONS = (*operations(), *structural_operations())
NAMES = frozenset(operation.name for operation in OPERATIONS if operation.name.startswith("pto."))
DECLARING = {Path(inspect.getfile(operation)) for operation in OPERATIONS}
FLOORS_OF_ROOMS = ("effects", "tiles")
CATALOGUES = tuple(SOURCE / "native/observe" / name for name in ("coverage.py", "rules.py", "timing.py"))
"""What compiled observers know of single instructions: rules beside those of the record, and what they leave out."""


def is_room(path: Path) -> bool:
    floor = path.relative_to(SOURCE).parts[0]
    return (
        floor in FLOORS_OF_ROOMS
        or path in CATALOGUES
        or path in DECLARING
        or (floor in ("reference", "native") and path.stem in ROOMS)
    )


def named_in(text: str) -> Iterator[tuple[int, str]]:
    """The lines of strings that are the name of an instruction."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and node.value in NAMES:
            yield node.lineno, node.value


def test_instructions_are_named_in_their_rooms_only():
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not is_room(path)
        for line, name in named_in(path.read_text())
    ]
    assert found == []


def test_a_name_would_be_found():
    assert list(named_in('x = {"pto.vadd": 1}\ny = op.name in ("pto.castptr", "other")')) == [
        (1, "pto.vadd"),
        (2, "pto.castptr"),
    ]
