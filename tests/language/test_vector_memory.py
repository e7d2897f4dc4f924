"""Contiguous and strided vector loads and stores: spellings, dist and stride words, masks, pointers, updated bases."""

import re

import pytest

from language.vector_kernel import accepts, gets_a_scope, kernel, printed, read, rejects
from tables import table

LOAD_DISTS = (
    "NORM BRC_B8 BRC_B16 BRC_B32 US_B8 US_B16 DS_B8 DS_B16 UNPK_B8 UNPK_B16 UNPK_B32 BRC_BLK E2B_B16 E2B_B32 UNPK4 "
    "SPLT4CHN SPLT2CHN_B8 SPLT2CHN_B16 DINTLV_B32"
).split()
STORE_DISTS = (
    "NORM_B8 NORM_B16 NORM_B32 1PT_B8 1PT_B16 1PT_B32 PK_B16 PK_B32 PK_B64 PK4_B32 MRG4CHN_B8 MRG2CHN_B8 MRG2CHN_B16"
).split()
PTR = "!pto.ptr<f32, ub>"


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
