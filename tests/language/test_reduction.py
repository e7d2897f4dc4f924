"""Reductions: result types, element types, masks, and the constant of the histograms."""

import pytest

from language.vector_kernel import LOW_PRECISION, accepts, mask_of, mismatch, register, rejects, warns
from ptosim.language.catalogue import operations
from ptosim.language.micro import reduction

OPERATIONS = [operation for operation in operations() if operation.__module__ == reduction.__name__]
HISTOGRAMS = ["chistv2", "dhistv2"]


def test_every_instruction_of_the_room_is_there():
    names = {operation.name.removeprefix("pto.") for operation in OPERATIONS}
    assert names == {*"vcadd vcmax vcmin vcgadd vcgmax vcgmin vcpadd vcbmax vcbmin".split(), *HISTOGRAMS}


FIRST = "i8, i16, i32, si8, si16, si32, ui8, ui16, ui32, f16, f32"
TAKEN = FIRST.split(", ")
OTHERS = ["bf16", "i64", "si64", "ui64", *LOW_PRECISION]


def reduce(name: str, element: str, result: str | None = None, mask: str | None = None) -> str:
    mask = mask or mask_of(element)
    return f"%d = pto.{name} %v_{element}, %{mask} : V<{element}>, M<{mask}> -> V<{result or element}>"


# --- vcadd ------------------------------------------------------------------------------------------------------------

SUMS = {
    "i8": "i16",
    "si8": "si16",
    "ui8": "ui16",
    "i16": "i32",
    "si16": "si32",
    "ui16": "ui32",
    **{name: name for name in ("i32", "si32", "ui32", "f16", "f32")},
}


@pytest.mark.parametrize("element", SUMS)
def test_the_sum_of_narrow_integers_is_wider(element: str):
    accepts(reduce("vcadd", element, SUMS[element]))
    for other in ("i8", "i16", "ui16", "i32", "ui32", "f16", "f32"):
        if other != SUMS[element]:
            rejects(
                reduce("vcadd", element, other).replace("-> ", "-> ^"),
                f"pto.vcadd of {register(element)} gives {register(SUMS[element])}, not {register(other)}",
            )


@pytest.mark.parametrize("element", OTHERS)
@pytest.mark.parametrize("name", ["vcadd", "vcgadd", "vcgmax", "vcgmin"])
def test_sums_and_block_reductions_have_a_closed_list_of_types(name: str, element: str):
    rejects(
        reduce(name, element).replace("%v_", "^%v_"),
        f"pto.{name} does not take elements of type {element}; it takes {FIRST}",
    )


@pytest.mark.parametrize("element", TAKEN)
@pytest.mark.parametrize("name", ["vcmax", "vcmin", "vcgadd", "vcgmax", "vcgmin"])
def test_reductions_that_keep_their_type(name: str, element: str):
    accepts(reduce(name, element))
    other = "f32" if element != "f32" else "i32"
    rejects(
        reduce(name, element, other).replace("-> ", "-> ^"),
        f"result has type {register(other)}, but input has type {register(element)}",
    )


@pytest.mark.parametrize("element", ["bf16", "i64", "ui64"])
@pytest.mark.parametrize("name", ["vcmax", "vcmin"])
def test_extrema_of_other_types_are_warned_of(name: str, element: str):
    warns(
        reduce(name, element).replace("%v_", "^%v_"),
        f"{element} is not among the documented element types of pto.{name}: {FIRST}",
    )


@pytest.mark.parametrize("name", ["vcmax", "vcmin"])
def test_extrema_of_low_precision_are_rejected(name: str):
    for element in LOW_PRECISION:
        message = f"pto.{name} does not take elements of type {element}; it takes i8, i16, i32, i64, ..."
        rejects(reduce(name, element).replace("%v_", "^%v_"), message)


def test_pairwise_sums_are_for_f16_and_f32():
    accepts(reduce("vcpadd", "f16"))
    accepts(reduce("vcpadd", "f32"))
    for element in ("i8", "i16", "ui32", "i32", "bf16", "i64", *LOW_PRECISION):
        rejects(
            reduce("vcpadd", element).replace("%v_", "^%v_"),
            f"pto.vcpadd does not take elements of type {element}; it takes f16, f32",
        )
    rejects(
        reduce("vcpadd", "f16", "f32").replace("-> ", "-> ^"),
        "result has type !pto.vreg<64xf32>, but input has type !pto.vreg<128xf16>",
    )


MASKED = [(name, element) for name in "vcadd vcmax vcmin vcgadd vcgmax vcgmin".split() for element in TAKEN]


@pytest.mark.parametrize("name, element", [*MASKED, ("vcpadd", "f16"), ("vcpadd", "f32")])
def test_the_mask_matches_the_width(name: str, element: str):
    right = mask_of(element)
    result = SUMS[element] if name == "vcadd" else element
    for mask in ("b8", "b16", "b32"):
        if mask == right:
            accepts(reduce(name, element, result, mask))
        else:
            body = reduce(name, element, result, mask).replace(f"%{mask}", f"^%{mask}", 1)
            rejects(body, mismatch(mask, element))


# --- extrema with a mask of their places ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vcbmax", "vcbmin"])
def test_extrema_with_a_mask(name: str):
    text = f"%d, %p = pto.{name} %v_{{0}}, %{{1}} : V<{{0}}>, M<{{1}}> -> V<{{0}}>, M<{{2}}>"
    accepts(text.format("f32", "b32", "b32"))
    accepts(text.format("ui8", "b8", "b8"))
    rejects(text.format("f32", "b32", "b16").replace("M<b16>", "^M<b16>"), mismatch("b16", "f32"))
    rejects(text.format("f32", "b8", "b32").replace("%b8", "^%b8"), mismatch("b8", "f32"))
    rejects(
        text.format("bf16", "b16", "b16").replace("%v_", "^%v_"),
        f"pto.{name} does not take elements of type bf16; it takes {FIRST}",
    )


# --- histograms -------------------------------------------------------------------------------------------------------


def histogram(
    name: str, bin_: str, acc: str = "ui16", source: str = "ui8", mask: str = "b8", result: str = "ui16"
) -> str:
    types = f"V<{acc}>, V<{source}>, M<{mask}>, i32 -> V<{result}>"
    return f"%bin = arith.constant {bin_} : i32\n%d = pto.{name} %v_{acc}, %w_{source}, %{mask}, %bin : {types}"


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms(name: str):
    accepts(histogram(name, "0"))
    accepts(histogram(name, "1"))
    rejects(histogram(name, "2").replace(", %bin :", ", ^%bin :"), "bin is 2; it must be 0..1")
    rejects(
        f"%d = pto.{name} %v_ui16, %w_ui8, %b8, ^%s_i32 : V<ui16>, V<ui8>, M<b8>, i32 -> V<ui16>",
        "bin must be a constant, 0 or 1",
    )
    rejects(
        "%bin = arith.constant 0 : i32\n"
        f"%d = pto.{name} %v_ui16, ^%s_i8, %b8, %bin : V<ui16>, i8, M<b8>, i32 -> V<ui16>",
        "input must be a vector register, not i8",
    )
    rejects(histogram(name, "0").replace("i32", "i64").replace(", %bin :", ", ^%bin :"), "bin must be i32, not i64")
    rejects(
        histogram(name, "0", acc="i16", result="i16").replace("%v_", "^%v_"),
        f"pto.{name} does not take elements of type i16; it takes ui16",
    )
    rejects(
        histogram(name, "0", result="ui8").replace("-> ", "-> ^"),
        "result has type !pto.vreg<256xui8>, but acc has type !pto.vreg<128xui16>",
    )
    rejects(
        histogram(name, "0", source="i8").replace("%w_", "^%w_"),
        f"pto.{name} does not take elements of type i8; it takes ui8",
    )
    rejects(
        histogram(name, "0", mask="b16").replace("%b16", "^%b16"),
        mismatch("b16", "ui8"),
    )
