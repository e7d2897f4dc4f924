"""Every operation of the language has a page, an effects record, a meaning, a lowering and tests.

A failure says which step of docs/howto/add-an-instruction.md is missing and in which file.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

from ptosim.effects.catalogue import effects
from ptosim.language.catalogue import operations, room_of, structural_operations
from ptosim.language.operation import PTOOperation
from ptosim.language.passes.register_operands import respelled
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.native.build.catalogue import lowered
from ptosim.reference.catalogue import defined
from ptosim.reference.control import STRUCTURED
from ptosim.report.instruction import page
from ptosim.target.classes import COPY_CLASSES, OPERATION_CLASSES, SYNC_CLASS, TIMING_CLASSES, WORKITEM_CLASSES
from ptosim.tiles.catalogue import lowered as lowered_to_instructions
from ptosim.tiles.pending import pending
from ptosim.vmi.recipes import recipes
from test_isa_coverage import coverage

PENDING = pending()
STRUCTURE = {
    *("pto.vecscope", "pto.strict_vecscope", "pto.section.vector", "pto.section.cube"),
    *("arith.constant", "llvm.mlir.constant", "scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition"),
    *("func.func", "func.call", "func.return"),
}
"""Regions, terminators, calls and literals: the engines walk them instead of executing them."""

REWRITTEN = {
    *("scf.execute_region", "scf.index_switch", "pto.section.simt", "pto.set_validshape"),
    *(*lowered_to_instructions(), *recipes(), *respelled()),
}
"""What a pass takes apart before an engine sees it."""

CLASSES = {*TIMING_CLASSES, *OPERATION_CLASSES, *COPY_CLASSES, *WORKITEM_CLASSES, SYNC_CLASS}

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
    return f"step {step} of docs/howto/add-an-instruction.md: {operation.name} needs {part}"


def test_every_operation_has_a_page() -> None:
    """Its first line is a sentence."""
    without = [op.name for op in ALL if not _begins_well(op)]
    assert without == []


def _begins_well(operation: type[PTOOperation]) -> bool:
    found = page(operation.name)
    heading = f"{operation.name}  ({found.group})\n\n{found.summary}\n"
    return str(found).startswith(heading) and found.summary.endswith(".")


def test_every_instruction_has_an_example() -> None:
    part = "an example in its docstring: one line, indented below a paragraph that says what it does"
    assert [missing(1, op, part) for op in operations() if not _has_example(op)] == []


def _has_example(operation: type[PTOOperation]) -> bool:
    page = inspect.getdoc(operation) or ""
    return any(operation.name in line for line in page.splitlines() if line.startswith("    "))


def test_every_operation_has_an_effects_record() -> None:
    """Of an older spelling as well: the verifier judges what was written."""
    records = effects()
    recorded = [op for op in ALL if op in EXECUTED or op.name in respelled()]
    without = [op for op in recorded if op.name not in records or records[op.name].name != op.name]
    assert [missing(2, op, f"a record in {file_of(op, 'src/ptosim/effects')}") for op in without] == []
    unpriced = [op for op in EXECUTED if records[op.name].timing not in CLASSES]
    assert [missing(2, op, "a timing class of src/ptosim/target/classes.py") for op in unpriced] == []


def test_every_operation_has_a_meaning() -> None:
    without = [op for op in EXECUTED if op.name not in defined()]
    assert [missing(3, op, f"a meaning in {file_of(op, 'src/ptosim/reference')}") for op in without] == []


def test_every_operation_has_a_lowering() -> None:
    without = [op for op in EXECUTED if op.name not in lowered()]
    assert [missing(4, op, f"a lowering in {file_of(op, 'src/ptosim/native')}") for op in without] == []


def test_every_operation_is_named_by_tests() -> None:
    """Of the language, and of something that runs it."""
    groups = {op: {*coverage.groups_of(op.name)} for op in ALL}
    unwritten = [op for op in ALL if "language" not in groups[op]]
    part = "a test of how it is written in"
    assert [missing(5, op, f"{part} {file_of(op, 'tests/language', 'test_')}") for op in unwritten] == []
    running = [op for op in ALL if not {op.name, op.replaced_by} & PENDING]
    untried = [op for op in running if not {"reference", "tiles", "examples"} & groups[op]]
    part = "a test of its values in"
    assert [missing(5, op, f"{part} {file_of(op, 'tests/reference', 'test_')}") for op in untried] == []


def test_every_tile_operation_says_where_it_runs_and_what_it_touches() -> None:
    assert [problem for op in ON_TILES for problem in _unsaid(op)] == []


def _unsaid(operation: type[TileOperation]) -> Iterator[str]:
    if not operation.pipes:
        yield missing(1, operation, "the pipes that it may run on")
    operands = set(operation.operand_roles)
    touched = {*operation.reads, *operation.writes, *operation.scratch}
    if not touched <= operands or not (touched or operands <= {*operation.scalars, "tmp"}):
        yield missing(1, operation, "what it reads and writes, by role")
    if not set(operation.overwrites) <= set(operation.writes):
        yield missing(1, operation, "to write what it overwrites")
    if len(operation.pipes) != 1 and operation.pipe is TileOperation.pipe:
        yield missing(1, operation, "its pipe")


def test_every_operation_can_run() -> None:
    assert set() == PENDING


def test_structure_is_walked() -> None:
    scopes = {"pto.vecscope", "pto.strict_vecscope"}  # launched, not walked in place
    assert STRUCTURE - scopes - {"func.func"} == set(STRUCTURED)


def test_no_table_names_what_does_not_exist() -> None:
    known = {op.name for op in ALL}
    assert known >= STRUCTURE | REWRITTEN
    assert set(effects()) <= known
    assert defined() <= known
    assert lowered() <= known
