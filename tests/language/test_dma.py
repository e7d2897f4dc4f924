"""Copies between memories: every spelling, what is rejected and where the diagnostic points."""

import pytest

from language.scalar_kernel import accepts, rejects, same, text_of
from language.vector_kernel import read
from ptosim.language.load import text
from tables import table

GM, UB, L1 = "%p_f32_gm", "%p_f32_ub", "%p_f32_l1"
X = "%s_i64"
GROUP = f"({X}, {X}, {X})"


def load(gm: str = GM, ub: str = UB, rest: str = f"{X}, {X}, {X}, {X}, {X}, %s_i1, {X}, {X}, {X}") -> str:
    return f"pto.copy_gm_to_ubuf {gm}, {ub}, {rest}"


# --- positional copies ------------------------------------------------------------------------------------------------


def test_loads_with_11_and_13_operands() -> None:
    accepts(load())
    types = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64"
    assert load_types() in text_of(load() + f" {{has_pad}} : {types}").replace(" {has_pad}", "")
    accepts(load(rest=f"{X}, {X}, {X}, {X}, {X}, {X}, {X}, %s_i1, {X}, {X}, {X}"))
    roles = "source, dest, sid, n_burst, len_burst, left_padding, right_padding, data_select, l2_cache_ctl, "
    message = f"pto.copy_gm_to_ubuf takes 11 operands: {roles}source_stride, dest_stride; found 3"
    rejects(f"pto.copy_gm_to_ubuf {GM}, {UB}, ^{X}", message, kind="syntax")


def load_types() -> str:
    return " : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64"


def test_stores_with_8_and_10_operands() -> None:
    accepts(f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, {X}, {X}, {X}, {X}, {X}")
    accepts(f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, {X}, {X}, {X}, {X}, {X}, {X}, {X}")
    roles = "source, dest, sid, n_burst, len_burst, reserved, dest_stride, source_stride"
    message = f"pto.copy_ubuf_to_gm takes 8 operands: {roles}; found 9"
    rejects(f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, {X}, {X}, {X}, {X}, {X}, ^{X}", message, kind="syntax")


def test_without_padding_older_copies_of_a2a3_are_whole_granules() -> None:
    def body(length: str, padding: str) -> str:
        rest = f"{X}, {X}, {length}, {X}, {X}, %pad, {X}, {X}, {X}"
        return f"%pad = arith.constant {padding}\n{load(rest=rest)}"

    accepts(body("%100", "true"), target="a2a3")
    accepts(body("%100", "false"))
    store = f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, %2, %32, {X}, ^%100, %64"
    stride = "dest_stride is 100; without padding it must be a multiple of 32 on a2a3"
    rejects(store, stride, kind="misaligned", target="a2a3")
    accepts(store.replace("^", "").replace("%2,", "%1,"), target="a2a3")
    accepts(store.replace("^", ""))
    grouped = f"pto.mte_ub_gm {UB}, {GM}, %100 nburst{GROUP}"
    accepts(grouped, target="a2a3")
    accepts(grouped)


# --- grouped copies ---------------------------------------------------------------------------------------------------


def test_loops_are_synonyms_and_commas_are_optional() -> None:
    plain = f"pto.mte_gm_ub {GM}, {UB}, {X}, {X} nburst{GROUP} loop{GROUP} loop(%1, %2, %3) pad(%s_f32)"
    same(plain, plain.replace("loop(%1", "loop2(%1").replace("loop(%s", "loop1(%s"))
    same(plain, f"pto.mte_gm_ub {GM}, {UB}, {X}, {X}, nburst{GROUP}, loop{GROUP}, loop(%1, %2, %3), pad(%s_f32)")
    loops = "loop i64, i64, i64, loop2 i64, i64, i64"
    types = f"!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, {loops}, pad f32"
    same(plain, f"{plain} : {types}")
    assert ", loop i64, i64, i64, loop i64, i64, i64, pad f32\n" in text_of(plain)


def test_type_lists_may_be_short() -> None:
    body = f"pto.mte_gm_ub {GM}, {UB}, {X}, {X} nburst{GROUP}"
    same(body, f"{body} : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64")
    same(body, f"{body} : <f32, gm>, <f32, ub>, i64 x5")
    rejects(
        f"{body} : <f32, gm>, ^<f16, ub>", "dest has type !pto.ptr<f32, ub>, but the type list says !pto.ptr<f16, ub>"
    )


def test_the_store_has_its_own_cache_clause() -> None:
    accepts(f"pto.mte_ub_gm {UB}, {GM}, {X} nburst{GROUP} l2_cache_ctl(%15) loop{GROUP}")
    message = "l2_cache_ctl is 16; it must be 0..15"
    rejects(f"pto.mte_ub_gm {UB}, {GM}, {X} nburst{GROUP} l2_cache_ctl(^%16)", message)
    accepts(f"pto.mte_gm_ub {GM}, {UB}, %15, {X} nburst{GROUP}")


def test_padding_of_grouped_loads() -> None:
    start = f"pto.mte_gm_ub {GM}, {UB}, {X}, {X} nburst{GROUP}"
    accepts(f"{start} pad(%s_f32)")
    accepts(f"{start} pad(%s_i32, %0, %8)")


def test_loops_of_grouped_copies() -> None:
    start = f"pto.mte_gm_ub {GM}, {UB}, {X}, {X} nburst{GROUP}"
    accepts(f"{start} loop(%2097151, %1099511627775, %2097151)")
    rejects(f"{start} loop{GROUP} loop(^%n1, {X}, {X})", "loop_counts[1] is -1; it must be 0..2097151")
    message = "loop_dest_strides[0] is 2097152; it must be 0..2097151"
    rejects(f"{start} loop({X}, {X}, ^%2097152) loop{GROUP}", message)
    accepts(f"pto.mte_l1_ub {L1}, {UB}, {X} nburst{GROUP} loop{GROUP} loop{GROUP}")
    accepts(f"pto.mte_gm_l1 {GM}, {L1}, {X} nburst{GROUP} loop1{GROUP} loop2{GROUP}")
    accepts(f"pto.sim.l1_gm {L1}, {GM}, {X} nburst{GROUP} loop{GROUP} loop{GROUP}")


# --- layout conversion ------------------------------------------------------------------------------------------------


def frac(
    mode: str = "nd2nz",
    shape: str = f"{X}, {X}",
    layout: str = X,
    group: str = f"{X}, {X}, {X}, {X}",
    control: str = f"{X}, %s_i1",
) -> str:
    clauses = f"shape({shape}), src_layout({layout}), dst_group({group}), ctrl({control})"
    return f"pto.mte_gm_l1_frac {GM}, {L1}, {mode}, {clauses}"


def frac_types(mode: str, layout: str = "i64") -> str:
    groups = f"shape i64, i64, src_layout({layout}), dst_group i64, i64, i64, i64, ctrl i64, i1"
    return f"!pto.ptr<f32, gm>, !pto.ptr<f32, l1>, {mode}, {groups}"


@pytest.mark.parametrize("mode", ["nd2nz", "dn2nz"])
def test_layout_converting_copies(mode: str) -> None:
    accepts(frac(mode))
    accepts(frac(mode, layout=f"{X}, {X}"))
    assert f" : {frac_types(mode)}\n" in text_of(frac(mode))
    same(frac(mode), f"{frac(mode)} : {frac_types(mode)}")
    same(frac(mode, layout=f"{X}, {X}"), f"{frac(mode, layout=f'{X}, {X}')} : {frac_types(mode, 'i64, i64')}")


def test_small_c0_needs_at_most_four_columns() -> None:
    true = "%small = arith.constant true\n"
    accepts(true + frac(shape=f"{X}, %4", control=f"{X}, %small"))
    accepts(true + frac(control=f"{X}, %small"))
    accepts(frac(shape=f"{X}, %5"))
    message = "d is 5; with small_c0 it must be at most 4"
    rejects(true + frac(shape=f"{X}, ^%5", control=f"{X}, %small"), message)


# --- filling ----------------------------------------------------------------------------------------------------------


def fill(offset: str = X, repeat: str = X, blocks: str = X, gap: str = X, bits: str = "32") -> str:
    return f"pto.raw_fill_l1 {L1}, {offset}, %s_i32, {repeat}, {blocks}, {gap} {{fill_word_bits = {bits}}}"


def test_filling_of_l1() -> None:
    accepts(fill("%64", "%32767", "%32767", "%32767", "16"))
    accepts(fill(bits="32 : i32"))


def test_filling_by_elements() -> None:
    def body(element: str, bits: int) -> str:
        return f"pto.create_cbuf_matrix %p_{element}_l1, %s_i32, {X}, {X}, {X} {{fill_word_bits = {bits}}}"

    accepts(body("ui16", 16))
    accepts(body("ui32", 32))


# --- the DMA page -----------------------------------------------------------------------------------------------------


def test_an_operand_list_over_many_lines_with_comments() -> None:
    accepts("""pto.set_loop_size_outtoub %4, %1 : i64, i64
        pto.set_loop1_stride_outtoub %2048, %2048 : i64, i64
        pto.set_loop2_stride_outtoub %0, %0 : i64, i64
        pto.copy_gm_to_ubuf %p_f16_gm, %p_f16_ub,
            %0,     // sid
            %8,     // n_burst: rows of a batch
            %256,   // len_burst
            %0,     // left_padding
            %0,     // right_padding
            %s_i1,  // data_select
            %0,     // l2_cache_ctl
            %256,   // source stride
            %256    // destination stride
            : !pto.ptr<f16, gm>, !pto.ptr<f16, ub>, i64, i64, i64,
              i64, i64, i1, i64, i64, i64""")


def test_a_store_over_many_lines_with_comments() -> None:
    accepts("""pto.set_loop_size_ubtoout %1, %1 : i64, i64
        pto.copy_ubuf_to_gm %p_f16_ub, %p_f16_gm,
            %0,     // sid
            %64,    // n_burst
            %256,   // len_burst
            %0,     // reserved
            %1024,  // destination stride
            %256    // source stride
            : !pto.ptr<f16, ub>, !pto.ptr<f16, gm>, i64, i64, i64, i64, i64, i64""")


GENERIC_COPY = """module {
func.func @kernel(%gm: !pto.ptr<f32, gm>, %ub: !pto.ptr<f32, ub>,
                  %l2: i64, %len: i64, %n: i64, %s: i64, %d: i64, %c: i64) {
OPERATION
return
}
}
"""


@table(
    "generic, written",
    (
        '"pto.mte_gm_ub"(%gm, %ub, %l2, %len, %n, %s, %d)'
        " : (!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64) -> ()",
        "pto.mte_gm_ub %gm, %ub, %l2, %len nburst(%n, %s, %d) :",
    ),
    (
        '"pto.mte_gm_ub"(%gm, %ub, %l2, %len, %n, %s, %d, %c, %s, %d)'
        " <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0>}>"
        " : (!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i64, i64, i64) -> ()",
        "pto.mte_gm_ub %gm, %ub, %l2, %len nburst(%n, %s, %d) loop(%c, %s, %d) :",
    ),
    (
        '"pto.mte_ub_gm"(%ub, %gm, %len, %n, %s, %d)'
        " : (!pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64) -> ()",
        "pto.mte_ub_gm %ub, %gm, %len nburst(%n, %s, %d) :",
    ),
)
def test_the_generic_form_has_the_order_of_the_text(generic: str, written: str):
    assert written in text(read(GENERIC_COPY.replace("OPERATION", generic)))
