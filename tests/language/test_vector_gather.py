"""Gathers and scatters: both generations, and the combinations of element, offset, result and mask types."""

import pytest

from language.room_example import example_loads_and_prints_stably
from language.vector_kernel import accepts, rejects
from ptosim.language.catalogue import operations
from ptosim.language.micro import vector_gather
from ptosim.language.operation import PTOOperation
from tables import table

OPERATIONS = [operation for operation in operations() if operation.__module__ == vector_gather.__name__]


def test_every_instruction_of_the_room_is_there():
    names = {operation.name.removeprefix("pto.") for operation in OPERATIONS}
    assert names == {"vgather2", "vgather2_bc", "vgatherb", "vscatter"}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]):
    example_loads_and_prints_stably(operation)


def gather(name: str, source: str, offsets: str, mask: str, result: str, mark: str = "") -> str:
    """`mark` names the operand that is expected to be reported; `name` is the instruction."""
    marks = {role: "^" if role == mark else "" for role in ("name", "source", "offsets", "mask", "result")}
    pointer = f"!pto.ptr<{'!pto.' if source == 'hif8' else ''}{source}, ub>"
    return (
        f"%r = {marks['name']}pto.{name} {marks['source']}%p_{source}_ub, {marks['offsets']}%v_{offsets}, "
        f"{marks['mask']}%{mask} : {pointer}, V<{offsets}>, M<{mask}> -> {marks['result']}V<{result}>"
    )


def scatter(value: str, dest: str, offsets: str, mask: str, mark: str = "") -> str:
    marks = {role: "^" if role == mark else "" for role in ("value", "dest", "offsets", "mask")}
    return (
        f"pto.vscatter {marks['value']}%w_{value}, {marks['dest']}%p_{dest}_ub, {marks['offsets']}%v_{offsets}, "
        f"{marks['mask']}%{mask} : V<{value}>, !pto.ptr<{dest}, ub>, V<{offsets}>, M<{mask}>"
    )


def no_match(mask: str) -> str:
    return f"mask type !pto.mask<{mask}> does not match value vector type ..."


# --- activity ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vgather2", "vgatherb"])
def test_a_gather_takes_a_mask_or_a_number_of_lanes(name: str):
    types = "!pto.ptr<f32, ub>, V<i32>"
    accepts(f"%r = pto.{name} %p_f32_ub, %v_i32, %b32 : {types}, M<b32> -> V<f32>")
    accepts(f"%r = pto.{name} %p_f32_ub, %v_i32, %s_index : {types}, index -> V<f32>")
    rejects(f"%r = pto.{name} %p_f32_ub, %v_i32, ^%s_i32 : {types}, i32 -> V<f32>", "mask must be a mask, not i32")
    rejects(
        f"%r = pto.{name} %p_f32_ub, ^%v_i32 : {types} -> V<f32>",
        f"pto.{name} takes 3 operands (source, offsets, mask), not 2",
        kind="syntax",
    )


def test_vgather2_bc_takes_a_mask_only():
    types = "!pto.ptr<f32, ub>, V<i32>"
    accepts(f"%r = pto.vgather2_bc %p_f32_ub, %v_i32, %b32 : {types}, M<b32> -> V<f32>")
    rejects(
        f"%r = pto.vgather2_bc %p_f32_ub, %v_i32, ^%s_index : {types}, index -> V<f32>",
        "mask must be a mask, not index",
    )


def test_a_scatter_takes_a_mask_or_a_number_of_lanes():
    types = "V<f32>, !pto.ptr<f32, ub>, V<i32>"
    accepts(f"pto.vscatter %w_f32, %p_f32_ub, %v_i32, %b32 : {types}, M<b32>")
    accepts(f"pto.vscatter %w_f32, %p_f32_ub, %v_i32, %s_index : {types}, index")
    rejects(f"pto.vscatter %w_f32, %p_f32_ub, %v_i32, ^%s_i32 : {types}, i32", "mask must be a mask, not i32")


# --- vgather2 ---------------------------------------------------------------------------------------------------------

GATHERS = [
    ("i8", "i16", "i16"),
    ("ui8", "i16", "ui16"),
    ("i8", "ui16", "i16"),
    *((element, "i16", element) for element in ("i16", "si16", "ui16", "f16", "bf16")),
    *((element, "ui32", element) for element in ("i32", "si32", "ui32", "f32")),
]


@pytest.mark.parametrize("source, offsets, result", GATHERS)
def test_vgather2_takes_these_types(source: str, offsets: str, result: str):
    mask = "b16" if offsets.endswith("16") else "b32"
    accepts(gather("vgather2", source, offsets, mask, result))
    for other in {"b8", "b16", "b32"} - {mask}:
        rejects(gather("vgather2", source, offsets, other, result, "mask"), no_match(other))


@pytest.mark.parametrize("source", ["i64", "hif8"])
def test_vgather2_rejects_other_elements(source: str):
    rejects(
        gather("vgather2", source, "i32", "b32", "f32", "source"),
        f"pto.vgather2 does not gather elements of type {source}; it gathers ...",
    )


@table(
    "source, offsets, result, allowed",
    ("ui8", "i32", "ui16", "i16, ui16"),
    ("f16", "i32", "f16", "i16, ui16"),
    ("f16", "si16", "f16", "i16, ui16"),
    ("f32", "i16", "f32", "i32, ui32"),
    ("f32", "si32", "f32", "i32, ui32"),
    ("f32", "f32", "f32", "i32, ui32"),
)
def test_vgather2_offsets_have_the_width_of_the_lanes_and_no_sign(source: str, offsets: str, result: str, allowed: str):
    mask = "b16" if offsets.endswith("16") else "b32"
    rejects(
        gather("vgather2", source, offsets, mask, result, "offsets"),
        f"offsets for elements of type {source} must be {allowed}, not {offsets}",
    )


@table(
    "source, offsets, result, lanes",
    ("i8", "i16", "ui16", "i16 or si16"),
    ("ui8", "i16", "i16", "ui16"),
    ("ui8", "i16", "ui8", "ui16"),
    ("f16", "i16", "bf16", "f16"),
    ("ui16", "i16", "i16", "ui16"),
    ("i32", "i32", "ui32", "i32 or si32"),
    ("f32", "i32", "i32", "f32"),
)
def test_vgather2_gives_the_elements_it_reads(source: str, offsets: str, result: str, lanes: str):
    mask = "b16" if offsets.endswith("16") else "b32"
    rejects(
        gather("vgather2", source, offsets, mask, result, "name"),
        f"result must have lanes of {lanes} for elements of type {source}, not {result}",
    )


# --- vgather2_bc and vgatherb -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("offsets", ["i32", "si32", "ui32"])
def test_vgather2_bc_takes_32_bit_offsets_of_any_sign(offsets: str):
    accepts(gather("vgather2_bc", "f32", offsets, "b32", "f32"))


@pytest.mark.parametrize("element", ["i8", "f16", "f32", "i64"])
def test_vgatherb_gathers_blocks_of_any_elements(element: str):
    accepts(gather("vgatherb", element, "ui32", "b32", element))
    rejects(gather("vgatherb", element, "ui32", "b16", element, "mask"), no_match("b16"))
    rejects(
        gather("vgatherb", element, "i16", "b32", element, "offsets"),
        "pto.vgatherb does not take elements of type i16; it takes i32, si32, ui32",
    )


# --- vscatter ---------------------------------------------------------------------------------------------------------


@table(
    "element, offsets, mask",
    ("i8", "i16", "b16"),
    ("ui8", "ui16", "b16"),
    ("f16", "i16", "b16"),
    ("bf16", "ui16", "b16"),
    ("f32", "i32", "b32"),
    ("ui32", "ui32", "b32"),
)
def test_vscatter_takes_these_types(element: str, offsets: str, mask: str):
    accepts(scatter(element, element, offsets, mask))
    for other in {"b8", "b16", "b32"} - {mask}:
        rejects(scatter(element, element, offsets, other, "mask"), no_match(other))


# --- operands ---------------------------------------------------------------------------------------------------------


def test_offsets_and_values_are_registers():
    for name in ("vgather2", "vgather2_bc", "vgatherb"):
        rejects(
            f"%r = pto.{name} %p_f32_ub, ^%s_i32, %b32 : !pto.ptr<f32, ub>, i32, M<b32> -> V<f32>",
            "offsets must be a vector register, not i32",
        )


def test_gathers_and_scatters_work_on_ub():
    for name in ("vgather2", "vgather2_bc", "vgatherb"):
        rejects(
            f"%r = pto.{name} ^%p_f32_gm, %v_i32, %b32 : !pto.ptr<f32, gm>, V<i32>, M<b32> -> V<f32>",
            "source must point to ub, not gm",
        )
