"""What holds for each instruction on registers and each instruction of the cube, tried on the example of its page."""

import re

import pytest
from xdsl.ir import BlockArgument

from language.scalar_kernel import example_module
from language.vector_kernel import example, example_kernel, printed, read, rejects_module, scopes
from ptosim.language.catalogue import operations, room_of
from ptosim.language.operation import PTOOperation

VECTOR_ROOMS = ("arithmetic", "arithmetic_integer", "conversion", "reduction", "compare", "rearrange", "sfu")
CUBE_ROOMS = ("cube_load", "cube_load_raw", "mad", "fixpipe", "fixpipe_raw")
SORTING = ("pto.vbitsort", "pto.vmrgsort4")

ON_REGISTERS = [op for op in operations() if room_of(op) in VECTOR_ROOMS and op.name not in SORTING]
CUBE_COPIES = {
    *("pto.mte_gm_l1", "pto.mte_gm_l1_frac", "pto.mte_l1_ub", "pto.raw_fill_l1", "pto.create_cbuf_matrix"),
    *("pto.copy_gm_to_cbuf", "pto.copy_gm_to_cbuf_multi_nd2nz", "pto.copy_gm_to_cbuf_multi_dn2nz"),
    "pto.copy_cbuf_to_ubuf",
}
ON_THE_CUBE = [op for op in operations() if room_of(op) in CUBE_ROOMS or op.name in CUBE_COPIES]
OUTSIDE = [*(op for op in operations() if op.name in SORTING), *ON_THE_CUBE]


def name_of(operation: type[PTOOperation]) -> str:
    return operation.name


def vector_module(operation: type[PTOOperation], scope: bool = True) -> str:
    unlisted = {"part": "index"} if operation.name.endswith("unpack") else {}
    text = example_kernel(operation, scope=scope, **unlisted)
    if "%bin: i32" in text:  # a histogram wants a constant
        text = text.replace(", %bin: i32", "").replace(
            "pto.vecscope {", "%bin = arith.constant 0 : i32\npto.vecscope {"
        )
    return text


def module(operation: type[PTOOperation]) -> str:
    return vector_module(operation) if operation in ON_REGISTERS else example_module(operation)


def marked(text: str, operation: type[PTOOperation]) -> str:
    return text.replace(f"{operation.name} ", f"^{operation.name} ", 1)


NOT_ON_A5 = ("pto.vselrv2", "pto.vintlvv2", "pto.vdintlvv2")


@pytest.mark.parametrize("operation", [*ON_REGISTERS, *OUTSIDE], ids=name_of)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]):
    loaded = read(module(operation), "a2a3" if operation.name in NOT_ON_A5 else "a5")
    assert loaded.warnings == []
    once = printed(loaded)
    assert operation.name in once
    assert printed(read(once)) == once


# --- where it may stand -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ON_REGISTERS, ids=name_of)
def test_registers_live_inside_a_vector_scope(operation: type[PTOOperation]):
    """What is written outside of one gets one, with the branch around it."""
    assert scopes(vector_module(operation)) == [[operation.name]]
    outside = vector_module(operation).replace("pto.vecscope {", "scf.if %yes {")
    outside = re.sub(r"@kernel\((.*)\) \{", r"@kernel(\1, %yes: i1) {", outside)
    (scope,) = scopes(outside)
    assert scope[-4:] == ["scf.if", operation.name, "scf.yield", "scf.yield"]


@pytest.mark.parametrize("operation", OUTSIDE, ids=name_of)
def test_what_is_queued_stands_outside(operation: type[PTOOperation]):
    inside = example_module(operation).replace(example(operation), f"pto.vecscope {{\n{example(operation)}\n}}")
    rejects_module(marked(inside, operation), f"{operation.name} must be outside 'pto.vecscope'")


@pytest.mark.parametrize("operation", OUTSIDE, ids=name_of)
def test_each_kind_of_core_has_its_own(operation: type[PTOOperation]):
    own, other = ("vector", "cube") if operation.name in SORTING else ("cube", "vector")
    text = example_module(operation)
    read(text.replace(example(operation), f"pto.section.{own} {{\n{example(operation)}\n}}"))
    elsewhere = text.replace(example(operation), f"pto.section.{other} {{\n{example(operation)}\n}}")
    message = f"{operation.name} is for the {own} core, but this is code of the {other} core"
    rejects_module(marked(elsewhere, operation), message)


# --- operands ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", [*ON_REGISTERS, *OUTSIDE], ids=name_of)
def test_operands_have_the_order_of_the_text(operation: type[PTOOperation]):
    """The generic form, which names no roles, is read in the same order."""
    written = re.sub(r"^[%\w, ]+ = |\s:\s.*", "", example(operation), flags=re.DOTALL)
    text = module(operation)
    names = re.findall(r"(%\w+): ", text.splitlines()[1])
    (found,) = (op for op in read(text).parsed.module.walk() if isinstance(op, operation))
    assert [names[value.index] for value in found.operands if isinstance(value, BlockArgument)] == [
        name for name in re.findall(r"%\w+", written) if name in names
    ]


def operands(operation: type[PTOOperation]) -> list[tuple[str, str, str]]:
    """Role, name and type of every operand of an example; they are parameters of its function."""
    text = module(operation)
    names = re.findall(r"(%\w+): ", text.splitlines()[1])
    (found,) = (op for op in read(text).parsed.module.walk() if isinstance(op, operation))
    values = [(role, value) for role, value in found.roles() if isinstance(value, BlockArgument)]
    return [(role, names[value.index], str(value.type)) for role, value in values]


@pytest.mark.parametrize("operation", ON_REGISTERS, ids=name_of)
def test_a_granularity_that_is_left_open_follows_from_the_registers(operation: type[PTOOperation]):
    text = vector_module(operation)
    left_open = re.sub(r"!pto\.mask<b\d+>", "!pto.mask<G>", text)
    assert printed(read(left_open)) == printed(read(text))


@pytest.mark.parametrize("operation", [*ON_REGISTERS, *OUTSIDE], ids=name_of)
def test_attributes_of_other_tools_are_kept(operation: type[PTOOperation]):
    text, written = module(operation), example(operation)
    attributes = 'note = "x", count = 3 : i32'
    with_some = re.sub(r"\}(?=\s+:\s)", f", {attributes}}}", written)
    if with_some == written:
        with_some = re.sub(r"(?=\s+:\s(?!.*\s:\s))", f" {{{attributes}}}", written, count=1)
    once = printed(read(text.replace(written, with_some)))
    assert 'note = "x", count = 3 : i32}' in once
    assert printed(read(once)) == once
