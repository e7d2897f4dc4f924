"""Every operation of the language has a page, an effects record, a meaning, a lowering and tests.

A failure says which step of docs/architecture.md, "Adding an instruction", is missing and in which file.
"""

import inspect
import re
from pathlib import Path

import pytest

from ptosim.effects.catalogue import effects
from ptosim.language.catalogue import operations, room_of, structural_operations
from ptosim.language.operation import PTOOperation
from ptosim.language.tile_operation import TileOperation
from ptosim.native.catalogue import lowered
from ptosim.reference.catalogue import defined
from ptosim.reference.control import STRUCTURED
from ptosim.report.instruction import page
from ptosim.target.classes import COPY_CLASSES, OPERATION_CLASSES, SYNC_CLASS, TIMING_CLASSES
from ptosim.tiles.catalogue import lowered as lowered_to_instructions
from ptosim.tiles.pending import pending
from test_isa_coverage import coverage

PENDING = pending()
STRUCTURE = {
    *("pto.vecscope", "pto.strict_vecscope", "pto.section.vector", "pto.section.cube"),
    *("arith.constant", "scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition"),
    *("func.func", "func.call", "func.return"),
}
"""Regions, terminators, calls and literals: the engines walk them instead of executing them."""

REWRITTEN = {"scf.execute_region", "pto.set_validshape", *lowered_to_instructions()}
"""What a pass takes apart before an engine sees it."""

CLASSES = {*TIMING_CLASSES, *OPERATION_CLASSES, *COPY_CLASSES, SYNC_CLASS}

ALL: list[type[PTOOperation]] = [*operations(), *structural_operations()]
EXECUTED = [op for op in ALL if op.replaced_by is None and op.name not in STRUCTURE | REWRITTEN | PENDING]
"""What an engine executes: current names only."""

ON_TILES = [op for op in operations() if issubclass(op, TileOperation)]

ROOT = Path(__file__).parents[1]


def file_of(operation: type[PTOOperation], folder: str, prefix: str = "") -> str:
    """Where a part of an operation belongs: the room of its class, or the larger room that it is a part of."""
    room = room_of(operation)
    rooms = (room, room.partition("_")[0])
    paths = [f"{folder}/{prefix}{name}.py" for name in rooms]
    return next((path for path in paths if (ROOT / path).exists()), paths[0])


def missing(step: int, operation: type[PTOOperation], part: str) -> str:
    return f"step {step} of docs/architecture.md: {operation.name} needs {part}"


@pytest.mark.parametrize("operation", ALL, ids=lambda op: op.name)
def test_every_operation_has_a_page(operation: type[PTOOperation]) -> None:
    found = page(operation.name)
    assert str(found).startswith(f"{operation.name}  ({found.group})\n\n{found.summary}\n")
    assert found.summary.endswith("."), "the first line of the docstring is a sentence"


@pytest.mark.parametrize("operation", operations(), ids=lambda op: op.name)
def test_every_instruction_has_an_example(operation: type[PTOOperation]) -> None:
    page = inspect.getdoc(operation) or ""
    examples = [line for line in page.splitlines() if line.startswith("    ")]
    assert any(operation.name in line for line in examples), missing(
        1, operation, "an example in its docstring: one line, indented below a paragraph that says what it does"
    )


@pytest.mark.parametrize("operation", EXECUTED, ids=lambda op: op.name)
def test_every_operation_has_an_effects_record(operation: type[PTOOperation]) -> None:
    record = effects().get(operation.name)
    assert record is not None, missing(2, operation, f"a record in {file_of(operation, 'src/ptosim/effects')}")
    assert record.name == operation.name
    assert record.timing in CLASSES, missing(2, operation, "a timing class of src/ptosim/target/classes.py")


@pytest.mark.parametrize("operation", EXECUTED, ids=lambda op: op.name)
def test_every_operation_has_a_meaning(operation: type[PTOOperation]) -> None:
    file = file_of(operation, "src/ptosim/reference")
    assert operation.name in defined(), missing(3, operation, f"a meaning in {file}")


@pytest.mark.parametrize("operation", EXECUTED, ids=lambda op: op.name)
def test_every_operation_has_a_lowering(operation: type[PTOOperation]) -> None:
    file = file_of(operation, "src/ptosim/native")
    assert operation.name in lowered(), missing(4, operation, f"a lowering in {file}")


@pytest.mark.parametrize("operation", ALL, ids=lambda op: op.name)
def test_every_operation_is_named_by_tests(operation: type[PTOOperation]) -> None:
    """Of the language, and of something that runs it."""
    groups = coverage.groups_of(operation.name)
    file = file_of(operation, "tests/language", "test_")
    assert "language" in groups, missing(5, operation, f"a test of how it is written in {file}")
    if {operation.name, operation.replaced_by} & PENDING:
        return
    file = file_of(operation, "tests/reference", "test_")
    assert {"reference", "tiles", "examples"} & {*groups}, missing(5, operation, f"a test of its values in {file}")


@pytest.mark.parametrize("operation", ON_TILES, ids=lambda op: op.name)
def test_every_tile_operation_says_where_it_runs_and_what_it_touches(operation: type[TileOperation]) -> None:
    assert operation.pipes, missing(1, operation, "the pipes that it may run on")
    operands = set(operation.operand_roles)
    touched = {*operation.reads, *operation.writes, *operation.scratch}
    assert touched <= operands
    assert touched or operands <= {*operation.scalars, "tmp"}, missing(1, operation, "what it reads and writes")
    assert set(operation.overwrites) <= set(operation.writes)
    assert len(operation.pipes) == 1 or operation.pipe is not TileOperation.pipe, missing(1, operation, "its pipe")


WAITING = ""
"""Names that are verified and cannot run. The list may only shrink."""


def test_only_these_operations_cannot_run() -> None:
    assert sorted(PENDING) == sorted(f"pto.{name}" for name in WAITING.split())


def test_structure_is_walked() -> None:
    scopes = {"pto.vecscope", "pto.strict_vecscope"}  # launched, not walked in place
    assert STRUCTURE - scopes - {"func.func"} == set(STRUCTURED)


def test_no_table_names_what_does_not_exist() -> None:
    known = {op.name for op in ALL}
    assert known >= STRUCTURE | REWRITTEN
    assert set(effects()) <= known
    assert defined() <= known
    assert lowered() <= known


LISTED = {
    timing: set(description.split(", "))
    for timing, description in (TIMING_CLASSES | OPERATION_CLASSES | COPY_CLASSES).items()
    if re.fullmatch(r"\w+(, \w+)*", description)
}
"""The timing classes whose description is a list of names and nothing else."""


@pytest.mark.parametrize("timing", LISTED)
def test_a_timing_class_lists_its_instructions(timing: str) -> None:
    priced = {name.removeprefix("pto.") for name, record in effects().items() if record.timing == timing}
    assert LISTED[timing] == priced, f'step 2 of docs/architecture.md: "{timing}" in src/ptosim/target/classes.py'
