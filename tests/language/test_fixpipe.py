"""Fixpipe stores: every clause, the rejections and their accepted twins, and where they point.

Rejections are numbered as in the rules of the instruction set; 5 to 10 are in test_fixpipe_modes.
"""

import re

import pytest

from language.scalar_kernel import accepts, rejects, same, text_of
from language.store_kernel import CLAUSES, FOUR, STORES, X, store
from ptosim.language.catalogue import operations
from ptosim.language.micro import fixpipe, fixpipe_raw
from tables import table

ROOM = (fixpipe.__name__, fixpipe_raw.__name__)
OPERATIONS = [operation for operation in operations() if operation.__module__ in ROOM]


def test_the_room_is_complete() -> None:
    names = """mte_l0c_l1 mte_l0c_gm mte_l0c_ub copy_matrix_cc_to_gm copy_matrix_cc_to_cbuf copy_matrix_cc_to_ub
        set_loop3_para set_channel_para set_quant_pre set_relu_alpha set_fix_clip_relu set_fpc"""
    assert {operation.name for operation in OPERATIONS} == {f"pto.{name}" for name in names.split()}


# --- clauses ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORES)
@table(
    "clauses",
    "unit_flag(check_only)",
    "unit_flag(check_and_clear)",
    "pre_quant(%s_f32, mode = qf322f32_pre_scalar)",
    "pre_quant(%p_f16_fb, mode = qf322f32_pre_vec)",
    "pre_relu(mode = no_relu)",
    "pre_relu(mode = normal_relu)",
    "pre_relu(%s_bf16, mode = scalar_relu)",
    "pre_relu(%p_f32_fb, mode = vector_relu)",
    "nz2nd",
    f"nz2dn({X})",
    "nz2nz",
    f"nz2nz({X})",
    f"nz2nd, loop3({X}, {X}, {X})",
    f"nz2dn({X}), loop3({X}, {X}, {X})",
    "sat",
    "sat(preserve_nan)",
    "nosat",
    f"unit_flag(check_only), pre_quant(%s_f32, mode = no_convert), pre_relu(mode = normal_relu), nz2nd, "
    f"loop3({X}, {X}, {X}), sat",
)
def test_each_clause(name: str, clauses: str) -> None:
    accepts(store(name, clauses))
    assert f", {nameless(clauses)} : " in nameless(text_of(store(name, clauses)))


def nameless(text: str) -> str:
    """The text with every value called %."""
    return re.sub(r"%\w+", "%", text)


def test_the_type_list_follows_the_operands() -> None:
    clauses = "pre_quant(%s_f32, mode = qf322f16_pre_scalar), pre_relu(%p_bf16_fb, mode = vector_relu, clip = %s_f16)"
    body = store("gm", f"{clauses}, nz2dn({X}), loop3({X}, {X}, {X}), atomic(type = f16, op = max)", dest="f16")
    tail = "f32, !pto.ptr<bf16, fb>, f16, i64, i64, i64, i64"
    types = f"!pto.ptr<f32, l0c>, !pto.ptr<f16, gm>, i64, i64, i64, i64, i64, i64, {tail}"
    assert f" : {types}\n" in text_of(body)
    same(body, f"{body} : {types}")
    rejects(f"{body} : {types.replace('f32, !pto.ptr<bf16, fb>', '^f16, !pto.ptr<bf16, fb>')}", "quant_payload has...")
    split = store("ub", "nz2nd", mode="split_m")
    assert " : !pto.ptr<f32, l0c>, !pto.ptr<f32, ub>, i64, i64, i64, i64\n" in text_of(split)
    single = store("ub", "nz2nd")
    assert " : !pto.ptr<f32, l0c>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64\n" in text_of(single)


@pytest.mark.parametrize("name", STORES)
def test_commas(name: str) -> None:
    bare = store(name)
    same(f"{bare}, nz2nd, sat", f"{bare} nz2nd, sat")
    rejects(f"{bare}, nz2nd ^sat", "expected ',' after the clause 'nz2nd'", kind="syntax")
    rejects(f"{bare}, ^: <f32, l0c>", "expected a clause after ','", kind="syntax")
    rejects(f"{bare}, nz2nd, ^: <f32, l0c>", "expected a clause after ','", kind="syntax")


def test_clauses_as_attributes() -> None:
    as_attributes = store("gm") + ' {layout = "nz2nd", sat = "sat_preserve_nan"}'
    same(store("gm", "nz2nd, sat(preserve_nan)"), as_attributes)
    rejects(store("l1", "nz2nd") + ' {layout = ^"nz2nd"}', "layout is given twice", kind="syntax")
    accepts(store("gm") + ' {atomic_type = "f32", atomic_op = "add"}')
    rejects("^" + store("gm") + ' {atomic_type = "f32"}', "atomic needs a type and an operation")
    rejects("^" + store("gm") + ' {atomic_op = "add"}', "atomic needs a type and an operation")
    message = "pto.mte_l0c_ub needs one dst_mode: a sub-block, split_m or split_n"
    rejects("^" + store("ub") + ' {dst_mode = "split_m"}', message)
    rejects(store("l1") + ' {layout = ^"nd"}', "unknown layout 'nd'; known: nz2nd, nz2dn, nz2nz", kind="syntax")


@pytest.mark.parametrize("type_", ["f32", "f16", "bf16", "s32", "s16", "s8"])
@pytest.mark.parametrize("operation", ["add", "max", "min"])
def test_atomic_stores(type_: str, operation: str) -> None:
    clause = f"atomic(type = {type_}, op = {operation})"
    accepts(store("gm", f"nz2nd, sat, {clause}"))
    assert clause in text_of(store("gm", clause))


# --- 1: spaces --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORES)
def test_spaces(name: str) -> None:
    accepts(store(name))
    wrong = "gm" if name != "gm" else "ub"
    rejects(store(name).replace("%p_f32_l0c", "^%p_f32_l0a"), "source must point to l0c, not l0a")
    body = store(name).replace(f"%p_f32_{name}", f"^%p_f32_{wrong}")
    rejects(body, f"dest must point to {name}, not {wrong}")


@pytest.mark.parametrize("name", STORES)
def test_scalar_operands(name: str) -> None:
    rejects(store(name, sizes=f"{X}, ^%s_i32, {X}, {X}"), "n must be i64, not i32")


def test_the_unified_buffer_is_reached_on_a5_only() -> None:
    message = "pto.mte_l0c_ub does not exist on a2a3"
    rejects(f"^{store('ub')}", message, kind="wrong-target", target="a2a3")
    raw = f"pto.copy_matrix_cc_to_ub %p_f32_l0c, %p_f32_ub, {X}, {X}"
    rejects(f"^{raw}", "pto.copy_matrix_cc_to_ub does not exist on a2a3", kind="wrong-target", target="a2a3")
    accepts(raw)
    accepts(store("gm"), target="a2a3")


# --- 2 to 4: destination mode -----------------------------------------------------------------------------------------


def test_the_destination_mode_is_needed() -> None:
    body = f"pto.mte_l0c_ub %p_f32_l0c, %p_f32_ub, {FOUR}"
    message = "expected dst_mode(%sub_block), dst_mode(split_m) or dst_mode(split_n)"
    rejects(f"{body} ^: <f32, l0c>", message, kind="syntax")
    rejects(f"{body}, ^nz2nd", message, kind="syntax")
    rejects(store("ub", mode="^split_k"), "unknown dst_mode 'split_k'; known: split_m, split_n", kind="syntax")
    accepts(store("ub", mode="%0"))
    accepts(store("ub", mode="%1"))
    rejects(store("ub", mode="^%2"), "sub_block is 2; it must be 0..1")
    rejects(store("ub", mode="^%n1"), "sub_block is -1; it must be 0..1")
    rejects(store("ub", mode="^%s_i32"), "sub_block must be i64, not i32")


def test_splits_need_even_halves() -> None:
    accepts(store("ub", mode="split_m", sizes=f"%40, {X}, {X}, {X}"))
    rejects(store("ub", mode="split_m", sizes=f"^%41, {X}, {X}, {X}"), "m is 41; split_m needs a multiple of 2")
    accepts(store("ub", mode="split_n", sizes=f"{X}, %64, {X}, {X}"))
    rejects(store("ub", mode="split_n", sizes=f"{X}, ^%48, {X}, {X}"), "n is 48; split_n needs a multiple of 32")
    accepts(store("ub", mode="split_m", sizes=f"{X}, %48, {X}, {X}"))


@pytest.mark.parametrize("mode", ["split_m", "split_n"])
def test_splits_exclude_other_clauses(mode: str) -> None:
    accepts(store("ub", mode=mode))
    accepts(store("ub", "unit_flag(check_only), nz2nd, sat", mode=mode))
    for clause in (
        "^pre_quant(%s_f32, mode = qf322f32_pre_scalar)",
        "^pre_relu(mode = normal_relu)",
        f"nz2nd, ^loop3({X}, {X}, {X})",
        f"^nz2dn({X})",
        "^nz2nz",
    ):
        word = clause.partition("^")[2].partition("(")[0]
        rejects(store("ub", clause, mode=mode), f"{mode} excludes {word}")


# --- 11 to 13: layout -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORES)
class TestLayout:
    def test_columns_need_a_stride(self, name: str) -> None:
        message = "nz2dn needs the source stride of its loop0: nz2dn(%stride)"
        rejects(store(name, "nz2dn^, sat"), message, kind="syntax")
        accepts(store(name, f"nz2dn({X}), sat"))

    def test_columns_with_a_unit_flag_need_stride_1(self, name: str) -> None:
        accepts(store(name, "unit_flag(check_only), nz2dn(%1)"))
        message = "unit_flag with nz2dn needs a loop0 stride that is the constant 1"
        rejects(store(name, "unit_flag(check_only), nz2dn(^%2)"), message)
        rejects(store(name, f"unit_flag(check_and_clear), nz2dn(^{X})"), message)

    def test_fractals_need_f32(self, name: str) -> None:
        accepts(store(name, f"nz2nz({X})"))
        body = store(name, "pre_quant(%s_f32, mode = f32_f16), ^nz2nz", dest="f16")
        rejects(body, "nz2nz needs a destination of f32, not of f16")
        rejects(store(name, "^nz2nz", "i32", "i32"), "nz2nz needs a destination of f32, not of i32")

    def test_operands_of_other_layouts(self, name: str) -> None:
        rejects(store(name, f"nz2nd^({X})"), "expected ':' and the types of the operands", kind="syntax")

    def test_loop3_needs_a_written_layout(self, name: str) -> None:
        message = "loop3 needs nz2nd or nz2dn, written out"
        rejects(store(name, f"^loop3({X}, {X}, {X})"), message)
        rejects(store(name, f"nz2nz, ^loop3({X}, {X}, {X})"), message)
        accepts(store(name, f"nz2nd, loop3({X}, {X}, {X})"))

    def test_loop3_needs_three_operands(self, name: str) -> None:
        takes = "this clause takes 3 operands (loop3_count, loop3_source_stride, loop3_dest_stride)"
        message = f"Expected ',' before loop3_dest_stride: {takes}, not 2"
        rejects(store(name, f"nz2nd, loop3({X}, {X}^)"), message, kind="syntax")
        rejects(
            store(name, f"nz2nd, loop3({X}^)"),
            f"Expected ',' before loop3_source_stride: {takes}, not 1",
            kind="syntax",
        )


# --- 14: order of clauses ---------------------------------------------------------------------------------------------


ORDER = (
    ("unit_flag(check_only)",),
    ("pre_quant(%s_f32, mode = no_convert)",),
    ("pre_relu(mode = no_relu)",),
    ("nz2nd", "nz2dn(%1)", "nz2nz"),
    (f"loop3({X}, {X}, {X})",),
    ("sat", "sat(preserve_nan)", "nosat"),
    ("atomic(type = f32, op = add)",),
)
PLACES = [(clause, place) for place, slot in enumerate(ORDER) for clause in slot]


@pytest.mark.parametrize(("first", "before"), PLACES)
def test_the_order_of_clauses(first: str, before: int) -> None:
    """Any two clauses: in their order, the other way round, twice, or one instead of the other."""
    for second, place in PLACES:
        one, other = first.partition("(")[0], second.partition("(")[0]
        for name in STORES if "atomic" not in (one, other) else ("gm",):
            body = store(name, f"{first}, ^{second}")
            if before == place:
                message = f"clause '{other}' after '{one}': only one of them may be given"
                rejects(body, message, kind="syntax")
            elif before > place:
                rejects(body, f"clause '{other}' must come before '{one}'", kind="syntax")
            elif "loop3" in (one, other) and one not in ("nz2nd", "nz2dn"):
                marked = body if other == "loop3" else store(name, f"^{first}, {second}")
                rejects(marked, "loop3 needs nz2nd or nz2dn, written out")
            else:
                accepts(body.replace("^", ""))


@pytest.mark.parametrize("name", STORES)
@table(
    "clauses, message",
    ("unit_flag(^check_and_set)", "unknown unit_flag 'check_and_set'; known: check_only, check_and_clear"),
    ("sat(^keep_nan)", "Expected 'preserve_nan' in sat(...)"),
    ("^disable_gemv", "unknown clause 'disable_gemv'; known, in this order..."),
)
def test_unknown_words(name: str, clauses: str, message: str) -> None:
    rejects(store(name, clauses), message, kind="syntax")


# --- 15 and 16: GM ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["l1", "ub"])
def test_only_stores_to_gm_are_atomic(name: str) -> None:
    message = f"unknown clause 'atomic'; known, in this order: {CLAUSES}"
    rejects(store(name, "^atomic(type = f32, op = add)"), message, kind="syntax")


def test_stream_and_cache_hint() -> None:
    accepts(f"pto.mte_l0c_gm %p_f32_l0c, %p_f32_gm, {FOUR}, %3, %15")
    accepts(f"pto.mte_l0c_gm %p_f32_l0c, %p_f32_gm, {FOUR}, %0, %0")
    rejects(f"pto.mte_l0c_gm %p_f32_l0c, %p_f32_gm, {FOUR}, ^%n1, %0", "sid is -1; it must be 0..3")
    rejects(f"pto.mte_l0c_gm %p_f32_l0c, %p_f32_gm, {FOUR}, %0, ^%n1", "l2_cache_ctl is -1; it must be 0..15")
    rejects(f"pto.mte_l0c_gm %p_f32_l0c, %p_f32_gm, {FOUR}, ^%4, %0", "sid is 4; it must be 0..3")
    rejects(f"pto.mte_l0c_gm %p_f32_l0c, %p_f32_gm, {FOUR}, %0, ^%16", "l2_cache_ctl is 16; it must be 0..15")


# --- raw forms --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "space"), [("gm", "gm"), ("cbuf", "l1"), ("ub", "ub")])
def test_raw_stores(name: str, space: str) -> None:
    accepts(f"pto.copy_matrix_cc_to_{name} %p_f32_l0c, %p_f16_{space}, {X}, {X}")
    body = f"pto.copy_matrix_cc_to_{name} %p_f32_l0c, %p_f16_{space}, {X}, ^%s_i32"
    rejects(body, "config1 must be i64, not i32")
    body = f"pto.copy_matrix_cc_to_{name} %p_f32_l0c, ^%p_f16_fb, {X}, {X}"
    rejects(body, f"dest must point to {space}, not fb")


@pytest.mark.parametrize("name", ["set_quant_pre", "set_relu_alpha", "set_fix_clip_relu", "set_fpc"])
def test_registers(name: str) -> None:
    accepts(f"pto.{name} {X} : i64")
    rejects(f"pto.{name} ^%s_f32 : f32", "packed must be i64, not f32")


@pytest.mark.parametrize("name", ["set_loop3_para", "set_channel_para"])
def test_registers_in_two_halves(name: str) -> None:
    accepts(f"pto.{name} {X}, {X} : i64, i64")
    rejects(f"pto.{name} {X}, ^%s_i32 : i64, i32", "high must be i64, not i32")


# --- the generic form -------------------------------------------------------------------------------------------------


def test_the_generic_form_keeps_the_rules() -> None:
    # Roles in order: six leading ones, quant_payload, relu_payload, clip, split, loop0_stride, loop3 x 3.
    def generic(sizes: str, extra: str, words: str) -> str:
        operands = f"%p_f32_l0c, %p_f32_l1, {FOUR}, {extra}"
        attributes = f"operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, {sizes}>{words}"
        types = "!pto.ptr<f32, l0c>, !pto.ptr<f32, l1>, i64, i64, i64, i64, i64"
        return f'"pto.mte_l0c_l1"({operands}) {{{attributes}}} : ({types}) -> ()'

    def whole(sizes: str, words: str = "") -> str:
        return "^" + generic(sizes, X, words)

    rejects(generic("0, 0, 0, 1, 0, 0, 0, 0", f"^{X}", ""), "only nz2nz has a split")
    rejects(whole("0, 0, 0, 0, 1, 0, 0, 0"), "nz2dn, and only nz2dn, has the source stride of loop0")
    rejects(whole("1, 0, 0, 0, 0, 0, 0, 0"), "pre_quant needs a payload and a mode")
    rejects(whole("0, 1, 0, 0, 0, 0, 0, 0"), "a relu payload and a clip value belong to pre_relu")
    message = "loop3 needs a count, a source stride and a destination stride"
    rejects(whole("0, 0, 0, 0, 0, 1, 0, 0", ', layout = "nz2nd"'), message)
    message = "unknown layout 'nz'; known: nz2nd, nz2dn, nz2nz"
    rejects(generic("0, 0, 0, 0, 0, 1, 0, 0", X, ', layout = ^"nz"'), message, kind="syntax")
