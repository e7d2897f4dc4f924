"""Every figure of a target file is read by something: none is there for show."""

from __future__ import annotations

import re
from pathlib import Path

import ptosim
from ptosim.effects.burst import alignment_of
from ptosim.effects.names import Space
from ptosim.target.classes import COPY_CLASSES, OPERATION_CLASSES, REPEATED_INSTRUCTIONS, TIMING_CLASSES
from ptosim.target.figures import built_in_names
from ptosim.target.profile import load_target

SOURCE = Path(ptosim.__file__).parent
TARGET = SOURCE / "target"
READERS = "\n".join(path.read_text() for path in SOURCE.rglob("*.py") if TARGET not in path.parents)
FILES = (TARGET / "figures.py").read_text()
"""What reads the files needs the clock, to turn rates into bytes per cycle."""
BY_ROW = {
    "class": TIMING_CLASSES,
    "forward": TIMING_CLASSES,
    "operation": OPERATION_CLASSES,
    "dma": COPY_CLASSES,
    "instruction": tuple(REPEATED_INSTRUCTIONS.values()),
}
"""Tables with a row for each class of instructions, which the timing model looks up by its name."""
BY_MEMORY = ("memory", "alignment")


def is_read(path: str) -> bool:
    table, _, rest = path.partition(".")
    if table in BY_ROW:
        return rest.split(".")[0] in BY_ROW[table]
    name = table if table in BY_MEMORY else rest
    return re.search(rf"\.{name}\b|\"{name}\"", READERS) is not None or f'.get("{path}")' in FILES


def test_every_figure_is_read():
    assert [
        f"{name}: {path}" for name in built_in_names() for path in load_target(name).figures if not is_read(path)
    ] == []


def test_a_figure_that_nobody_reads_would_be_found():
    assert not is_read("rules.colour_of_the_case")
    assert not is_read("dma.ub_moon.startup")


def test_copies_are_aligned_as_the_target_says():
    for name in ("a5", "a2a3"):
        figures = load_target(name).alignment
        assert {space: alignment_of(Space(space), name) for space in figures} == figures
        assert alignment_of(Space.GM, name) == 1
