"""Unaligned streams: both generations of spellings, and the chains of align values."""

import re

from language.vector_kernel import accepts, kernel, printed, read, rejects
from tables import table

PTR = "!pto.ptr<f32, ub>"
INIT = "%a0 = pto.init_align : !pto.align\n"
PRIME = f"%a0 = pto.vldas %p_f32_ub : {PTR} -> !pto.align\n"


def lines(body: str) -> list[str]:
    """The instructions of the scope as the printer writes them, values as %."""
    text = printed(read(kernel(body)))
    inside = text.partition("pto.vecscope {")[2].splitlines()
    return [re.sub(r"%\w+", "%", line.strip()) for line in inside if "pto." in line]


# --- loads ------------------------------------------------------------------------------------------------------------


def vldus(align: str = "%a0", operands: str = "", types: str = "", results: str = "", names: str = "") -> str:
    return (
        f"%v, %a1{names} = pto.vldus %p_f32_ub, {align}{operands} : {PTR}, !pto.align{types} "
        f"-> V<f32>, !pto.align{results}"
    )


def test_vldus_has_three_forms():
    accepts(PRIME + vldus())
    accepts(PRIME + vldus(results=f", {PTR}", names=", %n"))
    accepts(PRIME + vldus(operands=", %s_index", types=", index", results=f", {PTR}", names=", %n"))


# --- stores -----------------------------------------------------------------------------------------------------------

FLUSH = f"\npto.vstas %a1, %p_f32_ub, %s_i32 : !pto.align, {PTR}, i32"
VSTUS = f"%a1, %n = pto.vstus %a0, %s_i32, %v_f32, %p_f32_ub : !pto.align, i32, V<f32>, {PTR} -> !pto.align, {PTR}"
VSTUS_A = (
    "%a1, %n = pto.vstus %a0, %p_f32_ub, %v_f32, %p_f32_ub, %s_i32 "
    f": !pto.align, {PTR}, V<f32>, {PTR}, i32 -> !pto.align, {PTR}"
)
VSTUS_B = (
    f'%a1, %n = pto.vstus %a0, %s_i32, %v_f32, %p_f32_ub, "{{}}" : !pto.align, i32, V<f32>, {PTR} -> !pto.align, {PTR}'
)
VSTU_A = (
    "%a1, %n = pto.vstu %a0, %p_f32_ub, %v_f32, %p_f32_ub, %s_index "
    f": !pto.align, {PTR}, V<f32>, {PTR}, index -> !pto.align, {PTR}"
)
VSTU_B = (
    '%a1, %n = pto.vstu %a0, %s_index, %v_f32, %p_f32_ub, "POST_UPDATE" '
    f": !pto.align, index, V<f32>, {PTR} -> !pto.align, index"
)
VSTUR = f'%a1 = pto.vstur %a0, %v_f32, %p_f32_ub, "POST_UPDATE" : !pto.align, V<f32>, {PTR} -> !pto.align'


@table("body", VSTUS, VSTUS_A, VSTUS_B.format("POST_UPDATE"), VSTUS_B.format("NO_POST_UPDATE"), VSTU_A, VSTU_B, VSTUR)
def test_every_form_of_a_stream_store_loads_and_prints_stably(body: str):
    accepts(INIT + body + FLUSH)


def test_vstus_without_a_second_result():
    accepts(
        INIT + f"%a1 = pto.vstus %a0, %s_i32, %v_f32, %p_f32_ub : !pto.align, i32, V<f32>, {PTR} -> !pto.align" + FLUSH
    )


def test_older_forms_of_vstus_are_printed_as_the_current_one():
    current = lines(INIT + VSTUS + FLUSH)[1]
    assert lines(INIT + VSTUS_A + FLUSH)[1] == current
    assert lines(INIT + VSTUS_B.format("POST_UPDATE") + FLUSH)[1] == current
    kept = current.replace("% :", '%, "NO_POST_UPDATE" :')
    assert lines(INIT + VSTUS_B.format("NO_POST_UPDATE") + FLUSH)[1] == kept


def test_the_stream_position_of_the_older_vstus_is_its_second_operand():
    older = (
        "%a1, %n = pto.vstus %a0, %p_f32_ub, %v_f32, %p_i8_ub, %s_i32 "
        f": !pto.align, {PTR}, V<f32>, !pto.ptr<i8, ub>, i32 -> !pto.align, {PTR}"
    )
    assert lines(INIT + older + FLUSH)[1] == lines(INIT + VSTUS + FLUSH)[1]


def test_vstur_without_a_mode_does_not_update():
    older = f"%a1 = pto.vstur %a0, %v_f32, %p_f32_ub : !pto.align, V<f32>, {PTR} -> !pto.align"
    assert lines(INIT + older + FLUSH)[1] == lines(INIT + VSTUR.replace("POST", "NO_POST") + FLUSH)[1]


# --- chains -----------------------------------------------------------------------------------------------------------

LOAD_ROOT = "align must be produced by pto.vldas or a prior load-state operation"
STORE_ROOT = "align must be produced by pto.init_align or a prior store-state operation"
ONCE = "align is consumed more than once; each align value has one consumer"
THREADED = "align is defined outside a loop and must be threaded through scf.for iter_args"


def step(number: int, mark: str = "", before: int | str | None = None) -> str:
    """One store of a stream, from align value `before` to `number`."""
    before = number - 1 if before is None else before
    return (
        f"%a{number} = pto.vstus {mark}%a{before}, %s_i32, %v_f32, %p_f32_ub "
        f": !pto.align, i32, V<f32>, {PTR} -> !pto.align\n"
    )


def flush(number: int | str, mark: str = "") -> str:
    return f"pto.vstas {mark}%a{number}, %p_f32_ub, %s_i32 : !pto.align, {PTR}, i32\n"


def test_streams_go_on_from_instruction_to_instruction():
    accepts(INIT + step(1) + step(2) + flush(2))
    load = f"%v{{0}}, %a{{0}} = pto.vldus %p_f32_ub, %a{{1}} : {PTR}, !pto.align -> V<f32>, !pto.align\n"
    accepts(PRIME + load.format(1, 0) + load.format(2, 1))


def test_a_stream_is_one_line():
    rejects(INIT + step(1) + step(2, "^", before=0), ONCE)
    rejects(INIT + step(1) + flush(0, "^"), ONCE)
    accepts(INIT + step(1) + flush(1))


LOOP = """%r = scf.for %i = %s_index to %s_index step %s_index iter_args(%ain = %a0) -> (!pto.align) {{
{}scf.yield %a{} : !pto.align
}}
"""
FLUSH_LOOP = f"pto.vstas %r, %p_f32_ub, %s_i32 : !pto.align, {PTR}, i32\n"


def test_a_loop_carries_a_stream_in_its_arguments():
    accepts(INIT + LOOP.format(step(1, before="in"), 1) + FLUSH_LOOP)
    rejects(INIT + LOOP.format(step(1, "^", before=0), 1) + FLUSH_LOOP, THREADED)
    inside = "scf.for %i = %s_index to %s_index step %s_index {\n" + INIT + step(1) + flush(1) + "}\n"
    accepts(inside)


def test_a_loop_may_not_change_the_kind_of_a_stream():
    load = f"%v, %a1 = pto.vldus %p_f32_ub, ^%ain : {PTR}, !pto.align -> V<f32>, !pto.align\n"
    accepts(PRIME + LOOP.format(load.replace("^", ""), 1))
    rejects(INIT + LOOP.format(load, 1), LOAD_ROOT)


def branch(first: str, second: str, one: int, other: int) -> str:
    return (
        f"%r = scf.if %s_i1 -> (!pto.align) {{\n{first}scf.yield %a{one} : !pto.align\n}} "
        f"else {{\n{second}scf.yield %a{other} : !pto.align\n}}\n"
    )


def test_both_branches_may_go_on_with_a_stream():
    accepts(INIT + branch(step(1), step(2, before=0), 1, 2) + FLUSH_LOOP)
    accepts(INIT + branch(step(1), "", 1, 0) + FLUSH_LOOP)


def test_a_stream_that_one_branch_took_is_gone():
    body = INIT + f"scf.if %s_i1 {{\n{step(1)}{flush(1)}}}\n"
    accepts(body)
    rejects(body + flush(0, "^"), ONCE)


def test_branches_do_not_join_two_streams():
    two = INIT + "%a7 = pto.init_align : !pto.align\n"
    accepts(two + branch(step(1), step(2, before=0), 1, 2) + FLUSH_LOOP + flush(7))


def test_a_mask_store_goes_on_in_the_stream_of_vector_stores():
    mask = (
        "%a1, %n = pto.pstu %a0, %b32, %p_ui32_ub "
        ": !pto.align, M<b32>, !pto.ptr<ui32, ub> -> !pto.align, !pto.ptr<ui32, ub>\n"
    )
    accepts(INIT + mask + flush(1))
    rejects(PRIME + mask.replace("%a0,", "^%a0,"), STORE_ROOT)


def test_a_long_stream_is_read_like_a_short_one():
    steps = "".join(step(number) for number in range(1, 1501))
    accepts(INIT + steps + flush(1500))


def test_the_generic_form_of_a_load_that_advances():
    """It has one optional operand in its form, so nobody counts its operands."""
    start = f"%a0 = pto.vldas %p_f32_ub : {PTR} -> !pto.align\n"
    types = f"({PTR}, !pto.align, index) -> (V<f32>, !pto.align, {PTR})"
    accepts(start + f'%v, %a1, %n = "pto.vldus"(%p_f32_ub, %a0, %s_index) : {types}')
