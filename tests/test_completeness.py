"""Every operation of the language has a page, an effects record, a meaning, a lowering and tests.

What is missing is named here, in tables that may only shrink.
"""

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


def _pto(words: str) -> frozenset[str]:
    return frozenset(f"pto.{word}" for word in words.split())


PENDING_NATIVE = _pto(
    "copy_gm_to_cbuf_multi_nd2nz copy_gm_to_cbuf_multi_dn2nz set_mte2_nz_para mte_gm_l1_frac raw_fill_l1 "
    "create_cbuf_matrix mte_l1_l0a mte_l1_l0b mte_l1_l0a_mx mte_l1_l0b_mx mte_l1_bt mte_l1_fb load_cbuf_to_ca "
    "load_cbuf_to_cb load_cbuf_to_ca_s4 load_cbuf_to_cb_s4 load_cbuf_to_ca_mx load_cbuf_to_cb_mx copy_cbuf_to_bt "
    "copy_cbuf_to_fbuf mad mad_acc mad_bias mad_mx mad_mx_acc mad_mx_bias mad_raw mad_bias_raw mad_mx_raw "
    "mad_mx_bias_raw mte_l0c_l1 mte_l0c_gm mte_l0c_ub copy_matrix_cc_to_gm copy_matrix_cc_to_cbuf "
    "copy_matrix_cc_to_ub set_loop3_para set_channel_para set_quant_pre set_relu_alpha set_fix_clip_relu set_fpc"
)
"""Without a lowering: the native engine gives a diagnostic."""

PENDING_TESTS = _pto("load_cbuf_to_cb load_cbuf_to_ca_s4 mad_mx_bias mad_mx_raw mad_mx_bias_raw")
"""Named by no test that runs them."""

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
    assert (operation.name in lowered()) != (operation.name in PENDING_NATIVE)


@pytest.mark.parametrize("operation", ALL, ids=lambda op: op.name)
def test_every_operation_is_named_by_tests(operation: type[PTOOperation]) -> None:
    """Of the language, and of something that runs it."""
    groups = coverage.groups_of(operation.name)
    assert "language" in groups
    runs = {"reference", "examples"} & {*groups}
    assert bool(runs) != (operation.name in PENDING_TESTS)


def test_structure_is_walked() -> None:
    scopes = {"pto.vecscope", "pto.strict_vecscope"}  # launched, not walked in place
    assert STRUCTURE - scopes - {"func.func"} == set(STRUCTURED)


def test_no_table_names_what_does_not_exist() -> None:
    known = {op.name for op in ALL}
    assert known >= STRUCTURE | PENDING_NATIVE | PENDING_TESTS
    assert set(effects()) <= known
    assert defined() <= known
    assert lowered() <= known
