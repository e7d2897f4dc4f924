"""Facts about an instruction stand with the instruction: nothing outside the rooms knows one by its name.

Rooms are the modules that declare operations, their records, meanings and lowerings; the lowerings of tiles and the
doors of C++ and Python write instructions by name. Everybody else asks a class (`CastPtr.name`, isinstance) or the
record (`signalling("flag")`).
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
BEGINNINGS = {name[:end] for name in NAMES for end in range(len("pto.x"), len(name))}
DECLARING = {Path(inspect.getfile(operation)) for operation in OPERATIONS}
FLOORS_OF_ROOMS = ("effects", "tiles", "author", "ptodsl", "cpp")
CATALOGUE = SOURCE / "native/observe/coverage.py"
"""The accesses that a compiled check follows, by name: to be followed is no fact about an instruction."""


def is_room(path: Path) -> bool:
    floor = path.relative_to(SOURCE).parts[0]
    return (
        floor in FLOORS_OF_ROOMS
        or path == CATALOGUE
        or path in DECLARING
        or (floor in ("reference", "native") and path.stem in ROOMS)
    )


def named_in(text: str) -> Iterator[tuple[int, str]]:
    """The lines of strings that are the name of an instruction, what such names begin with, or a list of them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr) and isinstance(start := node.values[0], ast.Constant):
            if start.value in BEGINNINGS:
                yield node.lineno, start.value
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_named(node.value):
            yield node.lineno, node.value


def _is_named(value: str) -> bool:
    words = value.split()
    return value in NAMES or (len(words) > 1 and all({word, f"pto.{word}"} & NAMES for word in words))


def test_instructions_are_named_in_their_rooms_only():
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not is_room(path)
        for line, name in named_in(path.read_text())
    ]
    assert found == []


def test_a_name_would_be_found():
    text = 'x = {"pto.vadd": 1}\ny = op.name in ("pto.castptr", "other")\nz = "vadd vsub"\nf"pto.set_loop{n}_stride"'
    assert sorted(named_in(text)) == [(1, "pto.vadd"), (2, "pto.castptr"), (3, "vadd vsub"), (4, "pto.set_loop")]
