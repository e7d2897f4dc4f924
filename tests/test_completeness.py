"""Every operation of the language has a page, an effects record, a meaning, a lowering and tests."""

import inspect

import pytest

from ptosim.effects.catalogue import effects
from ptosim.language.catalogue import operations, structural_operations
from ptosim.language.operation import PTOOperation
from ptosim.native.catalogue import lowered
from ptosim.reference.catalogue import defined
from ptosim.reference.control import STRUCTURED
from ptosim.report.instruction import describe
from ptosim.target.classes import COPY_CLASSES, OPERATION_CLASSES, SYNC_CLASS, TIMING_CLASSES
from test_isa_coverage import coverage

STRUCTURE = {
    *("pto.vecscope", "pto.strict_vecscope", "pto.section.vector", "pto.section.cube"),
    *("arith.constant", "scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition"),
    *("func.func", "func.call", "func.return"),
}
"""Regions, terminators, calls and literals: the engines walk them instead of executing them."""

CLASSES = {*TIMING_CLASSES, *OPERATION_CLASSES, *COPY_CLASSES, SYNC_CLASS}

ALL: list[type[PTOOperation]] = [*operations(), *structural_operations()]
EXECUTED = [op for op in ALL if op.replaced_by is None and op.name not in STRUCTURE]
"""What an engine executes: current names only."""


@pytest.mark.parametrize("operation", ALL, ids=lambda op: op.name)
def test_every_operation_has_a_page(operation: type[PTOOperation]) -> None:
    page = describe(operation.name)
    assert page.startswith(f"{operation.name}\n\n")
    assert page.split("\n")[2].endswith("."), "the first line of the docstring is a sentence"


@pytest.mark.parametrize("operation", operations(), ids=lambda op: op.name)
def test_every_instruction_has_an_example(operation: type[PTOOperation]) -> None:
    page = inspect.getdoc(operation) or ""
    assert any(line.startswith("    ") and operation.name in line for line in page.splitlines())


@pytest.mark.parametrize("operation", EXECUTED, ids=lambda op: op.name)
def test_every_operation_has_an_effects_record(operation: type[PTOOperation]) -> None:
    record = effects()[operation.name]
    assert record.name == operation.name
    assert record.timing in CLASSES


@pytest.mark.parametrize("operation", EXECUTED, ids=lambda op: op.name)
def test_every_operation_has_a_meaning(operation: type[PTOOperation]) -> None:
    assert operation.name in defined()


@pytest.mark.parametrize("operation", EXECUTED, ids=lambda op: op.name)
def test_every_operation_has_a_lowering(operation: type[PTOOperation]) -> None:
    assert operation.name in lowered()


@pytest.mark.parametrize("operation", ALL, ids=lambda op: op.name)
def test_every_operation_is_named_by_tests(operation: type[PTOOperation]) -> None:
    """Of the language, and of something that runs it."""
    groups = coverage.groups_of(operation.name)
    assert "language" in groups
    assert "reference" in groups or "examples" in groups


def test_structure_is_walked() -> None:
    scopes = {"pto.vecscope", "pto.strict_vecscope"}  # launched, not walked in place
    assert STRUCTURE - scopes - {"func.func"} == set(STRUCTURED)


def test_no_table_names_what_does_not_exist() -> None:
    known = {op.name for op in ALL}
    assert known >= STRUCTURE
    assert set(effects()) <= known
    assert defined() <= known
    assert lowered() <= known
