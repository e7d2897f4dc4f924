"""Contiguous and strided vector loads and stores: spellings, dist and stride words, masks, pointers, updated bases."""

import re

import pytest

from language.room_example import example_loads_and_prints_stably
from language.vector_kernel import accepts, gets_a_scope, kernel, printed, read, rejects, warns
from ptosim.language.catalogue import operations
from ptosim.language.micro import vector_memory
from ptosim.language.operation import PTOOperation
from tables import table

OPERATIONS = [operation for operation in operations() if operation.__module__ == vector_memory.__name__]

LOAD_DISTS = (
    "NORM BRC_B8 BRC_B16 BRC_B32 US_B8 US_B16 DS_B8 DS_B16 UNPK_B8 UNPK_B16 UNPK_B32 BRC_BLK E2B_B16 E2B_B32 UNPK4 "
    "SPLT4CHN SPLT2CHN_B8 SPLT2CHN_B16 DINTLV_B32"
).split()
STORE_DISTS = (
    "NORM_B8 NORM_B16 NORM_B32 1PT_B8 1PT_B16 1PT_B32 PK_B16 PK_B32 PK_B64 PK4_B32 MRG4CHN_B8 MRG2CHN_B8 MRG2CHN_B16"
).split()
STRIDES = "STRIDE_S3_B16 STRIDE_S4_B64 STRIDE_S8_B32 STRIDE_S2_B64".split()
ON_HARDWARE = "dist {} is unsupported on current hardware; it is simulated as the instruction set words it"
UNSPECIFIED = "pto.{} is an unspecified operation: no public text says which elements its stride selects"
PTR = "!pto.ptr<f32, ub>"


def test_every_instruction_of_the_room_is_there():
    names = {operation.name.removeprefix("pto.") for operation in OPERATIONS}
    assert names == set("vlds vldsx2 vsld vsldb vsts vstsx2 vsst vsstb".split())


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]):
    example_loads_and_prints_stably(operation)


# --- vlds -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dist", LOAD_DISTS)
def test_vlds_takes_its_dists_in_the_dictionary_and_among_the_operands(dist: str):
    for body in (
        f'%v = pto.vlds %p_f32_ub[%s_index] {{dist = "{dist}"}} : {PTR} -> V<f32>',
        f'%v = pto.vlds %p_f32_ub[%s_index], "{dist}" : {PTR} -> V<f32>',
    ):
        text = printed(read(kernel(body)))
        assert f'{{dist = "{dist}"}}' in text
        assert printed(read(text)) == text


@pytest.mark.parametrize("older, current", [("BLK", "BRC_BLK"), ("SPLT4CHN_B8", "SPLT4CHN"), ("UNPK4_B8", "UNPK4")])
def test_older_names_of_dists_are_printed_as_current_ones(older: str, current: str):
    body = f'%v = pto.vlds %p_f32_ub[%s_index] {{dist = "{older}"}} : {PTR} -> V<f32>'
    assert f'{{dist = "{current}"}}' in printed(read(kernel(body)))


def test_vlds_without_a_dist_is_printed_without_one():
    text = printed(read(kernel(f"%v = pto.vlds %p_f32_ub[%s_index] : {PTR} -> V<f32>")))
    assert "pto.vlds" in text and "dist" not in text


def test_the_type_list_of_vlds_may_name_the_offset():
    accepts(f"%v = pto.vlds %p_f32_ub[%s_index] : {PTR}, index -> V<f32>")


@pytest.mark.parametrize("dist", ["DINTLV_B8", "BDINTLV", "NORM_B32", "NORMAL"])
def test_vlds_rejects_other_dists(dist: str):
    known = ", ".join(LOAD_DISTS)
    message = f"unknown dist '{dist}'; known: {known}"
    rejects(f'%v = pto.vlds %p_f32_ub[%s_index] {{dist = ^"{dist}"}} : {PTR} -> V<f32>', message, kind="syntax")
    rejects(f'%v = pto.vlds %p_f32_ub[%s_index], ^"{dist}" : {PTR} -> V<f32>', message, kind="syntax")


@pytest.mark.parametrize("dist", ["SPLT4CHN", "SPLT2CHN_B8", "SPLT2CHN_B16"])
def test_splitting_channels_is_warned_of(dist: str):
    warns(f'%v = pto.vlds %p_f32_ub[%s_index], ^"{dist}" : {PTR} -> V<f32>', ON_HARDWARE.format(dist))


@pytest.mark.parametrize("dist", ["BRC_B32", "UNPK_B32", "DINTLV_B32"])
def test_64_bit_registers_are_loaded_as_they_are(dist: str):
    accepts("%v = pto.vlds %p_i64_ub[%s_index] : !pto.ptr<i64, ub> -> V<i64>")
    accepts('%v = pto.vlds %p_i64_ub[%s_index] {dist = "NORM"} : !pto.ptr<i64, ub> -> V<i64>')
    rejects(
        f'%v = pto.vlds %p_i64_ub[%s_index], ^"{dist}" : !pto.ptr<i64, ub> -> V<i64>',
        f"registers of 64-bit elements are loaded with dist NORM only, not {dist}",
    )


def test_the_register_may_have_other_elements_than_the_pointer():
    accepts("%v = pto.vlds %p_ui8_ub[%s_index] : !pto.ptr<ui8, ub> -> V<f32>")


# --- pointers ---------------------------------------------------------------------------------------------------------

GM = "!pto.ptr<f32, gm>"


@table(
    "role, body",
    ("source", f"%v = pto.vlds ^%p_f32_gm[%s_index] : {GM} -> V<f32>"),
    ("source", f'%v, %w = pto.vldsx2 ^%p_f32_gm[%s_index], "BDINTLV" : {GM}, index -> V<f32>, V<f32>'),
    ("source", f"%v = pto.vsldb ^%p_f32_gm, %s_i16, %s_i16, %b32 : {GM}, i16, i16, M<b32> -> V<f32>"),
    ("dest", f"pto.vsts %v_f32, ^%p_f32_gm[%s_index], %b32 : V<f32>, {GM}, M<b32>"),
    (
        "dest",
        f'pto.vstsx2 %v_f32, %v_f32, ^%p_f32_gm[%s_index], "INTLV_B8", %b32 : V<f32>, V<f32>, {GM}, index, M<b32>',
    ),
    ("dest", f"pto.vsstb %v_f32, ^%p_f32_gm, %s_i32, %b32 : V<f32>, {GM}, i32, M<b32>"),
)
def test_vector_memory_is_ub(role: str, body: str):
    rejects(body, f"{role} must point to ub, not gm")
    accepts(body.replace("^", "").replace("gm", "ub"))


def test_an_updated_base_has_the_type_of_the_base():
    message = f"pto.{{}} requires updated base result to match base type {PTR}, not !pto.ptr<i32, ub>"
    for body in (
        "%v, %n = pto.vlds %p_f32_ub[%s_index] : {P} -> V<f32>, ^{N}",
        '%v, %w, %n = pto.vldsx2 %p_f32_ub[%s_index], "BDINTLV" : {P}, index -> V<f32>, V<f32>, ^{N}',
        "%v, %n = pto.vsldb %p_f32_ub, %s_i16, %s_i16, %b32 : {P}, i16, i16, M<b32> -> V<f32>, ^{N}",
        "%n = pto.vsts %v_f32, %p_f32_ub[%s_index], %b32 : V<f32>, {P}, M<b32> -> ^{N}",
        "%n = pto.vsstb %v_f32, %p_f32_ub, %s_i16, %s_i16, %b32 : V<f32>, {P}, i16, i16, M<b32> -> ^{N}",
    ):
        name = body.partition("pto.")[2].partition(" ")[0]
        rejects(body.replace("{P}", PTR).replace("{N}", "!pto.ptr<i32, ub>"), message.format(name))
        accepts(body.replace("^", "").replace("{P}", PTR).replace("{N}", PTR))


# --- vsts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dist", STORE_DISTS)
def test_vsts_takes_its_dists_in_the_dictionary_and_among_the_operands(dist: str):
    mask = "b16" if dist in ("PK_B16", "MRG2CHN_B8") else "b32"
    for written in (f'%{mask} {{dist = "{dist}"}}', f'%{mask}, "{dist}"', f'"{dist}", %{mask}'):
        body = f"pto.vsts %v_f32, %p_f32_ub[%s_index], {written} : V<f32>, {PTR}, M<{mask}>"
        text = printed(read(kernel(body)))
        assert re.search(rf'\], %\w+ {{dist = "{dist}"}} : ', text)
        assert printed(read(text)) == text


def test_vsts_takes_no_mask():
    accepts(f"pto.vsts %v_f32, %p_f32_ub[%s_index] : V<f32>, {PTR}")
    accepts(f'pto.vsts %v_f32, %p_f32_ub[%s_index] {{dist = "1PT_B32"}} : V<f32>, {PTR}')
    accepts(f'pto.vsts %v_f32, %p_f32_ub[%s_index], "PK_B32" : V<f32>, {PTR}')


@pytest.mark.parametrize("dist", ["INTLV_B32", "NORM", "PK_B8"])
def test_vsts_rejects_other_dists(dist: str):
    message = f"unknown dist '{dist}'; known: {', '.join(STORE_DISTS)}"
    rejects(f'pto.vsts %v_f32, %p_f32_ub[%s_index], %b32, ^"{dist}" : V<f32>, {PTR}, M<b32>', message, kind="syntax")


@table(
    "element, dist, mask",
    ("i8", None, "b8"),
    ("f16", None, "b16"),
    ("f32", None, "b32"),
    ("hif8", None, "b8"),
    ("hif8x2", None, "b16"),
    ("bf16x2", None, "b32"),
    ("f16", "1PT_B16", "b16"),
    ("f32", "1PT_B16", "b32"),
    ("f32", "NORM_B32", "b32"),
    ("i8", "PK_B16", "b16"),
    ("f16", "PK_B16", "b16"),
    ("f32", "PK_B16", "b16"),
    ("f16", "PK_B32", "b32"),
    ("f32", "PK_B32", "b32"),
    ("f32", "PK_B64", "b32"),
    ("i64", "PK_B64", "b32"),
    ("ui8", "PK4_B32", "b32"),
)
def test_the_mask_of_a_store_follows_the_elements_or_the_packing(element: str, dist: str | None, mask: str):
    def store(mask: str, mark: str = "") -> str:
        words = f' {{dist = "{dist}"}}' if dist else ""
        pointer = f"%p_{element}_ub"
        type_ = f"!pto.ptr<{prefix}{element}, ub>"
        return f"pto.vsts %v_{element}, {pointer}[%s_index], {mark}%{mask}{words} : V<{element}>, {type_}, M<{mask}>"

    prefix = "!pto." if element in ("hif8", "hif8x2", "bf16x2") else ""
    accepts(store(mask))
    for other in {"b8", "b16", "b32"} - {mask}:
        rejects(store(other, "^"), f"mask type !pto.mask<{other}> does not match value vector type ...")


def test_the_mask_of_64_bit_lanes_is_only_advised():
    store = "pto.vsts %v_i64, %p_i64_ub[%s_index], {} : V<i64>, !pto.ptr<i64, ub>, M<{}>"
    accepts(store.format("%b32", "b32"))
    warns(store.format("^%b16", "b16"), "mask type !pto.mask<b16> does not match value vector type ...")


@pytest.mark.parametrize("mask", ["b8", "b16", "b32"])
def test_low_precision_elements_are_packed_under_any_mask(mask: str):
    accepts(
        f'pto.vsts %v_hif8, %p_hif8_ub[%s_index], %{mask} {{dist = "PK4_B32"}} '
        f": V<hif8>, !pto.ptr<!pto.hif8, ub>, M<{mask}>"
    )


@pytest.mark.parametrize("dist, mask", [("MRG4CHN_B8", "b32"), ("MRG2CHN_B8", "b16"), ("MRG2CHN_B16", "b32")])
def test_merging_channels_is_warned_of(dist: str, mask: str):
    body = f'pto.vsts %v_ui8, %p_ui8_ub[%s_index], ^"{dist}", %{mask} : V<ui8>, !pto.ptr<ui8, ub>, M<{mask}>'
    warns(body, ON_HARDWARE.format(dist))


def test_units_narrower_than_the_lanes_of_the_mask_are_warned_of():
    store = f'pto.vsts %v_f32, %p_f32_ub[%s_index], {{}}"{{}}", %b32 : V<f32>, {PTR}, M<b32>'
    message = "dist {} looks at mask bits between those of f32 lanes, which are not set"
    warns(store.format("^", "NORM_B8"), message.format("NORM_B8"))
    accepts(store.format("", "NORM_B32"))
    accepts(f'pto.vsts %v_f32, %p_f32_ub[%s_index] {{dist = "NORM_B8"}} : V<f32>, {PTR}')


# --- vldsx2 and vstsx2 ------------------------------------------------------------------------------------------------


def test_the_dist_of_two_registers_may_stand_in_the_dictionary():
    load = f"%v, %w = pto.vldsx2 %p_f32_ub[%s_index]{{}} : {PTR}, index -> V<f32>, V<f32>"
    accepts(load.format(', "DINTLV_B32"'))
    accepts(load.format(' {dist = "DINTLV_B32"}'))
    missing = load.format("").replace(" : ", " ^: ", 1)
    rejects(missing, "expected dist: one of BDINTLV, DINTLV_B8, DINTLV_B16, DINTLV_B32", kind="syntax")
    store = f"pto.vstsx2 %v_f32, %v_f32, %p_f32_ub[%s_index], {{}} : V<f32>, V<f32>, {PTR}, index, M<b32>"
    accepts(store.format('"INTLV_B32", %b32'))
    accepts(store.format('%b32 {dist = "INTLV_B32"}'))
    missing = store.format("%b32").replace(" : ", " ^: ", 1)
    rejects(missing, "expected dist: one of INTLV_B8, INTLV_B16, INTLV_B32", kind="syntax")
    rejects(store.format('"INTLV_B32", %b32 {dist = ^"INTLV_B32"}'), "dist is given twice", kind="syntax")


@pytest.mark.parametrize("dist", ["BDINTLV", "DINTLV_B8", "DINTLV_B16", "DINTLV_B32"])
def test_vldsx2_takes_its_dists(dist: str):
    accepts(f'%v, %w = pto.vldsx2 %p_f32_ub[%s_index], "{dist}" : {PTR}, index -> V<f32>, V<f32>')
    accepts(f'%v, %w, %n = pto.vldsx2 %p_f32_ub[%s_index], "{dist}" : {PTR}, index -> V<f32>, V<f32>, {PTR}')
    rejects(
        f'%v, %w = pto.vldsx2 %p_i64_ub[%s_index], ^"{dist}" : !pto.ptr<i64, ub>, index -> V<i64>, V<i64>',
        f"registers of 64-bit elements are loaded with dist NORM only, not {dist}",
    )


@pytest.mark.parametrize("dist", ["NORM", "INTLV_B32", "DS_B16"])
def test_vldsx2_rejects_other_dists(dist: str):
    rejects(
        f'%v, %w = pto.vldsx2 %p_f32_ub[%s_index], ^"{dist}" : {PTR}, index -> V<f32>, V<f32>',
        f"unknown dist '{dist}'; known: BDINTLV, DINTLV_B8, DINTLV_B16, DINTLV_B32",
        kind="syntax",
    )


def dual_store(
    dist: str = '"INTLV_B32"', low: str = "f32", high: str = "f32", mask: str = "b32", mark: str = ""
) -> str:
    return (
        f"pto.vstsx2 %v_{low}, {mark if low != high else ''}%w_{high}, %p_f32_ub[%s_index], {dist}, "
        f"{mark if low == high else ''}%{mask} : V<{low}>, V<{high}>, {PTR}, index, M<{mask}>"
    )


@pytest.mark.parametrize("dist", ["INTLV_B8", "INTLV_B16", "INTLV_B32"])
def test_vstsx2_takes_its_dists(dist: str):
    accepts(dual_store(f'"{dist}"'))


# --- fixed strides ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stride", STRIDES)
def test_fixed_strides_are_warned_of(stride: str):
    load = f'%v = ^pto.vsld %p_f32_ub[%s_index], "{stride}" : {PTR} -> V<f32>'
    store = f'^pto.vsst %v_f32, %p_f32_ub[%s_index], "{stride}" : V<f32>, {PTR}'
    for name, body in (("vsld", load), ("vsst", store)):
        warns(body, UNSPECIFIED.format(name))
        text = printed(read(kernel(body.replace("^", ""))))
        assert f'"{stride}"' in text
        assert printed(read(text)) == text


# --- block strides ----------------------------------------------------------------------------------------------------


def test_both_generations_of_block_strides_are_read():
    accepts(f"%v = pto.vsldb %p_f32_ub, %s_i16, %s_i16, %b32 : {PTR}, i16, i16, M<b32> -> V<f32>")
    accepts(f"%v = pto.vsldb %p_f32_ub, %s_i32, %b32 : {PTR}, i32, M<b32> -> V<f32>")
    accepts(f"pto.vsstb %v_f32, %p_f32_ub, %s_i16, %s_i16, %b32 : V<f32>, {PTR}, i16, i16, M<b32>")
    accepts(f"pto.vsstb %v_f32, %p_f32_ub, %s_i32, %b32 : V<f32>, {PTR}, i32, M<b32>")


# --- place ------------------------------------------------------------------------------------------------------------


def test_vector_memory_belongs_inside_a_vector_scope():
    body = f"pto.vsts %v_f32, %p_f32_ub[%s_index] : V<f32>, {PTR}"
    gets_a_scope(body)
    accepts(body)


# --- the generic form -------------------------------------------------------------------------------------------------


@table(
    "generic, custom",
    (
        f'%r = "pto.vsldb"(%p_f32_ub, %s_i32, %b32) : ({PTR}, i32, M<b32>) -> V<f32>',
        f"%r = pto.vsldb %p_f32_ub, %s_i32, %b32 : {PTR}, i32, M<b32> -> V<f32>",
    ),
    (
        f'%r = "pto.vsldb"(%p_f32_ub, %s_i16, %s_i16, %b32) : ({PTR}, i16, i16, M<b32>) -> V<f32>',
        f"%r = pto.vsldb %p_f32_ub, %s_i16, %s_i16, %b32 : {PTR}, i16, i16, M<b32> -> V<f32>",
    ),
    (
        f'"pto.vscatter"(%v_f32, %p_f32_ub, %v_i32, %s_index) : (V<f32>, {PTR}, V<i32>, index) -> ()',
        f"pto.vscatter %v_f32, %p_f32_ub, %v_i32, %s_index : V<f32>, {PTR}, V<i32>, index",
    ),
    (
        "%a = pto.init_align : !pto.align\n"
        '%r, %n = "pto.vstus"(%a, %p_f32_ub, %v_f32, %p_f32_ub, %s_i32) {mode = "POST_UPDATE"} '
        f": (!pto.align, {PTR}, V<f32>, {PTR}, i32) -> (!pto.align, {PTR})",
        "%a = pto.init_align : !pto.align\n"
        "%r, %n = pto.vstus %a, %p_f32_ub, %v_f32, %p_f32_ub, %s_i32 "
        f": !pto.align, {PTR}, V<f32>, {PTR}, i32 -> !pto.align, {PTR}",
    ),
    (
        f'%r = "pto.vlds"(%p_f32_ub, %s_index) {{dist = "BLK"}} : ({PTR}, index) -> V<f32>',
        f'%r = pto.vlds %p_f32_ub[%s_index], "BRC_BLK" : {PTR} -> V<f32>',
    ),
)
def test_the_generic_form_is_read_alike(generic: str, custom: str):
    """In both generations; arguments are in the order of their first use, which is the same in both texts."""
    assert printed(read(kernel(generic))) == printed(read(kernel(custom)))
