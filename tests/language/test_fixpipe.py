"""Fixpipe stores: every clause, the rejections and their accepted twins, and where they point.

Rejections are numbered as in the rules of the instruction set; 5 to 10 are in test_fixpipe_modes.
"""

import re

import pytest

from language.scalar_kernel import accepts, rejects, same, text_of
from language.store_kernel import CLAUSES, FOUR, STORES, X, store
from tables import table

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


@pytest.mark.parametrize("type_", ["f32", "f16", "bf16", "s32", "s16", "s8"])
@pytest.mark.parametrize("operation", ["add", "max", "min"])
def test_atomic_stores(type_: str, operation: str) -> None:
    clause = f"atomic(type = {type_}, op = {operation})"
    accepts(store("gm", f"nz2nd, sat, {clause}"))
    assert clause in text_of(store("gm", clause))


# --- 2 to 4: destination mode -----------------------------------------------------------------------------------------


def test_the_destination_mode_is_needed() -> None:
    body = f"pto.mte_l0c_ub %p_f32_l0c, %p_f32_ub, {FOUR}"
    message = "expected dst_mode(%sub_block), dst_mode(split_m) or dst_mode(split_n)"
    rejects(f"{body} ^: <f32, l0c>", message, kind="syntax")
    rejects(f"{body}, ^nz2nd", message, kind="syntax")
    accepts(store("ub", mode="%0"))
    accepts(store("ub", mode="%1"))
    rejects(store("ub", mode="^%2"), "sub_block is 2; it must be 0..1")
    rejects(store("ub", mode="^%n1"), "sub_block is -1; it must be 0..1")
    rejects(store("ub", mode="^%s_i32"), "sub_block must be i64, not i32")


def test_splits_need_even_halves() -> None:
    accepts(store("ub", mode="split_m", sizes=f"%40, {X}, {X}, {X}"))
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
    rejects(whole("1, 0, 0, 0, 0, 0, 0, 0"), "pre_quant needs a payload and a mode")
    rejects(whole("0, 1, 0, 0, 0, 0, 0, 0"), "a relu payload and a clip value belong to pre_relu")
    message = "loop3 needs a count, a source stride and a destination stride"
    rejects(whole("0, 0, 0, 0, 0, 1, 0, 0", ', layout = "nz2nd"'), message)
    message = "unknown layout 'nz'; known: nz2nd, nz2dn, nz2nz"
    rejects(generic("0, 0, 0, 0, 0, 1, 0, 0", X, ', layout = ^"nz"'), message, kind="syntax")
