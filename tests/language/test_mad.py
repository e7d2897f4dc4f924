"""Matrix products: clauses, element types, what is rejected and where the diagnostic points."""

import pytest

from language.scalar_kernel import accepts, rejects, text_of
from tables import table

X = "%s_i64"
FP8 = ("f8E4M3FN", "f8E5M2")
FP4 = ("f4E2M1x2", "f4E1M2x2")
PLAIN = [("i8", "i8", "i32"), ("si8", "i8", "i32"), ("i8", "si8", "si32"), ("f16", "f16", "f32")]
PLAIN += [("bf16", "bf16", "f32"), ("f32", "f32", "f32"), ("hif8", "hif8", "f32")]
PLAIN += [(a, b, "f32") for a in FP8 for b in FP8]
SCALED = [(a, b, "f32") for a in (*FP8, *FP4) for b in (*FP8, *FP4)]
STRUCTURED = ("mad", "mad_acc", "mad_bias", "mad_mx", "mad_mx_acc", "mad_mx_bias")


def written(name: str, a: str, b: str, c: str = "f32", sizes: str = f"{X}, {X}, {X}") -> str:
    bias = f", %p_{c}_bt" if "bias" in name else ""
    return f"pto.{name} %p_{a}_l0a, %p_{b}_l0b, %p_{c}_l0c{bias}, {X if name.endswith('raw') else sizes}"


def product(
    name: str, a: str = "f16", b: str = "f16", c: str = "f32", clauses: str = "", sizes: str = f"{X}, {X}, {X}"
) -> str:
    if "_mx" in name and a == "f16":
        a, b = "f8E4M3FN", "f8E4M3FN"
    return f"{written(name, a, b, c, sizes)} {clauses}"


# --- clauses ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STRUCTURED)
@table(
    "clauses",
    "",
    "unit_flag(check_only)",
    "unit_flag(check_and_set)",
    "disable_gemv",
    "sat",
    "nosat",
    "n_dir",
    "unit_flag(check_and_set) disable_gemv sat n_dir",
    "disable_gemv nosat n_dir {note = 1 : i32}",
)
def test_clauses(name: str, clauses: str) -> None:
    accepts(product(name, clauses=clauses))
    assert f" {clauses} : ".replace("  ", " ") in text_of(product(name, clauses=clauses))


@pytest.mark.parametrize("mode", ["round_even", "round_away"])
def test_tf32(mode: str) -> None:
    for name in ("mad", "mad_acc", "mad_bias"):
        body = product(name, "f32", "f32", "f32", f"sat tf32_mode({mode}) n_dir")
        accepts(body)
        assert f" sat tf32_mode({mode}) n_dir : " in text_of(body)


KNOWN = "unit_flag, disable_gemv, sat, nosat, tf32_mode, n_dir"


ORDER = (
    ("unit_flag(check_only)",),
    ("disable_gemv",),
    ("sat", "nosat"),
    ("tf32_mode(round_even)",),
    ("n_dir",),
)
PLACES = [(clause, place) for place, slot in enumerate(ORDER) for clause in slot]


@pytest.mark.parametrize(("first", "before"), PLACES)
def test_the_order_of_clauses(first: str, before: int) -> None:
    """Any two clauses: in their order, the other way round, twice, or one instead of the other."""
    for second, place in PLACES:
        body = product("mad", "f32", "f32", "f32", f"{first} ^{second}")
        one, other = first.partition("(")[0], second.partition("(")[0]
        if before < place:
            accepts(body.replace("^", ""))
        elif before == place:
            message = f"clause '{other}' after '{one}': only one of them may be given"
            rejects(body, message, kind="syntax")
        else:
            rejects(body, f"clause '{other}' must come before '{one}'", kind="syntax")


def test_clauses_as_attributes() -> None:
    body = product("mad", clauses='{sat = "nosat", unit_flag = "check_only", n_dir}')
    assert " unit_flag(check_only) nosat n_dir : " in text_of(body)
    rejects(product("mad", clauses='{sat = ^"always"}'), "unknown sat 'always'; known: sat, nosat", kind="syntax")
    rejects(product("mad", clauses='sat {sat = ^"sat"}'), "sat is given twice", kind="syntax")
    message = "disable_gemv has no value, but false is given"
    rejects(product("mad", clauses="{disable_gemv = ^false}"), message)


@pytest.mark.parametrize("name", ["mad_mx", "mad_mx_acc", "mad_mx_bias"])
def test_scaled_products_have_no_tf32(name: str) -> None:
    known = KNOWN.replace("tf32_mode, ", "")
    message = f"unknown clause 'tf32_mode'; known, in this order: {known}"
    rejects(product(name, clauses="^tf32_mode(round_even)"), message, kind="syntax")


@pytest.mark.parametrize("clause", ["sat", "nosat"])
def test_saturation_is_for_floats(clause: str) -> None:
    for a, b, c in PLAIN:
        for name in ("mad", "mad_acc", "mad_bias"):
            if a.endswith("i8"):
                rejects(product(name, a, b, c, f"^{clause}"), f"{clause} needs floats, not {a} x {b}")
            else:
                accepts(product(name, a, b, c, clause))
    for a, b, c in SCALED:
        accepts(product("mad_mx", a, b, c, clause))


@pytest.mark.parametrize(("a", "b", "c"), [types for types in PLAIN if types[0] != "f32"])
def test_tf32_is_for_f32(a: str, b: str, c: str) -> None:
    body = product("mad", a, b, c, "tf32_mode(^round_even)")
    rejects(body, f"tf32_mode needs f32 x f32, not {a} x {b}")


# --- types ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mad", "mad_acc", "mad_bias", "mad_raw", "mad_bias_raw"])
def test_products(name: str) -> None:
    for a, b, c in PLAIN:
        accepts(product(name, a, b, c))


@pytest.mark.parametrize("name", ["mad_mx", "mad_mx_acc", "mad_mx_bias", "mad_mx_raw", "mad_mx_bias_raw"])
def test_scaled_products(name: str) -> None:
    for a, b, c in SCALED:
        accepts(product(name, a, b, c))
