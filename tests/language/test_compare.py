"""Comparisons and selections."""

import pytest

from language.vector_kernel import LOW_PRECISION, accepts, mask_of, mismatch, rejects, warns
from ptosim.effects.element import ELEMENTS
from ptosim.language.catalogue import operations
from ptosim.language.micro import compare
from tables import table

OPERATIONS = [operation for operation in operations() if operation.__module__ == compare.__name__]
TAKEN = "i8 i16 i32 si8 si16 si32 ui8 ui16 ui32 f16 bf16 f32".split()
REJECTED = ["i64", "si64", "ui64", *LOW_PRECISION]


def test_every_instruction_of_the_room_is_there():
    names = {operation.name for operation in OPERATIONS}
    assert names == {f"pto.{name}" for name in "vcmp vcmps vsel vselr vselrv2".split()}


def vcmp(element: str, word: str = '"lt"', seed: str | None = None, result: str | None = None) -> str:
    seed, v = seed or mask_of(element), f"V<{element}>"
    return f"%m = pto.vcmp %v_{element}, %w_{element}, %{seed}, {word} : {v}, {v}, M<{seed}> -> M<{result or seed}>"


def vcmps(element: str, scalar: str, word: str = '"lt"') -> str:
    mask = mask_of(element)
    return f"%m = pto.vcmps %v_{element}, %s_{scalar}, %{mask}, {word} : V<{element}>, {scalar}, M<{mask}> -> M<{mask}>"


# --- comparisons ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", TAKEN)
def test_comparisons(element: str):
    for word in ("eq", "ne", "lt", "le", "gt", "ge"):
        accepts(vcmp(element, f'"{word}"'))
        accepts(vcmps(element, element, f'"{word}"'))


@pytest.mark.parametrize("element", REJECTED)
def test_what_is_not_compared(element: str):
    message = f"does not take elements of type {element}; it takes {', '.join(TAKEN)}"
    rejects(vcmp(element).replace("%v_", "^%v_"), f"pto.vcmp {message}")
    if element.endswith("64"):
        rejects(vcmps(element, element).replace("%v_", "^%v_"), f"pto.vcmps {message}")


@pytest.mark.parametrize("word", ["LT", "slt", "neq"])
def test_an_unknown_comparison(word: str):
    message = f"unknown comparison '{word}'; known: eq, ne, lt, le, gt, ge"
    rejects(vcmp("f32", f'^"{word}"'), message, kind="syntax")
    rejects(vcmps("f32", "f32", f'^"{word}"'), message, kind="syntax")


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_a_compatible_scalar(bits: int):
    """An integer of the width of the lanes, with their sign or without one."""
    for sign in ("", "s", "u"):
        for scalar in ("", "s", "u"):
            body = vcmps(f"{sign}i{bits}", f"{scalar}i{bits}")
            if scalar in (sign, ""):
                accepts(body)
            else:
                needed = f"{sign}i{bits} or i{bits}" if sign else f"i{bits}"
                message = f"scalar has type {scalar}i{bits}, but the elements of input need {needed}"
                rejects(body.replace("%s_", "^%s_"), message)


@table(
    "element, scalar, needed",
    *(("i32", "f32", "i32"), ("i16", "i32", "i16"), ("ui16", "i8", "ui16 or i16"), ("i16", "f16", "i16")),
    *(("f32", "i32", "f32"), ("f16", "f32", "f16"), ("bf16", "f16", "bf16")),
)
def test_an_incompatible_scalar(element: str, scalar: str, needed: str):
    message = f"scalar has type {scalar}, but the elements of input need {needed}"
    rejects(vcmps(element, scalar).replace("%s_", "^%s_"), message)


# --- vsel -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", [*TAKEN, "i64", "ui64"])
def test_vsel(element: str):
    mask, v = mask_of(element), f"V<{element}>"
    accepts(f"%d = pto.vsel %v_{element}, %w_{element}, %{mask} : {v}, {v}, M<{mask}> -> {v}")


def test_vsel_rejects():
    rejects(
        "%d = pto.vsel %v_f32, ^%w_i32, %b32 : V<f32>, V<i32>, M<b32> -> V<f32>",
        "on_false has type !pto.vreg<64xi32>, but on_true has type !pto.vreg<64xf32>",
    )
    rejects(
        "%d = pto.vsel %v_f32, %w_f32, %b32 : V<f32>, V<f32>, M<b32> -> ^V<i32>",
        "result has type !pto.vreg<64xi32>, but on_true has type !pto.vreg<64xf32>",
    )
    rejects("%d = pto.vsel %v_f32, %w_f32, ^%b16 : V<f32>, V<f32>, M<b16> -> V<f32>", mismatch("b16", "f32"))
    for element in LOW_PRECISION:
        mask, v = mask_of(element), f"V<{element}>"
        rejects(
            f"%d = pto.vsel ^%v_{element}, %w_{element}, %{mask} : {v}, {v}, M<{mask}> -> {v}",
            f"pto.vsel does not take elements of type {element}; it takes i8, i16, i32, i64, ...",
        )


# --- lanes by number --------------------------------------------------------------------------------------------------


def by_number(name: str, element: str, index: str) -> str:
    return f"%d = pto.{name} %v_{element}, %w_{index} : V<{element}>, V<{index}> -> V<{element}>"


NUMBERED = [(element, f"{sign}i{ELEMENTS[element].bits}") for element in TAKEN for sign in ("", "s", "u")]


@pytest.mark.parametrize("element, index", NUMBERED)
def test_vselr(element: str, index: str):
    accepts(by_number("vselr", element, index))
    accepts(by_number("vselrv2", element, index), target="a3")
    warns(
        by_number("vselrv2", element, index).replace("pto.", "^pto."),
        "pto.vselrv2 is documented as not available on a5",
        kind="wrong-target",
    )


@pytest.mark.parametrize("name", ["vselr", "vselrv2"])
def test_there_is_a_lane_number_per_lane(name: str):
    rejects(by_number(name, "f32", "i16").replace("%w_", "^%w_"), "index has 128 lanes, but input has 64")
