"""`for %mask` after a load: how it is written and printed, and which masks it takes."""

import pytest

from language.vector_kernel import accepts, kernel, printed, read, rejects
from tables import table

PTR = "!pto.ptr<f32, ub>"
MASK = "!pto.mask<b32>"
VREG = "!pto.vreg<64xf32>"

LOADS = {
    "vlds": f"%v = pto.vlds %p_f32_ub[%s_index] for %b32 : {PTR}, {MASK} -> {VREG}",
    "vlds with a dist": f'%v = pto.vlds %p_f32_ub[%s_index] {{dist = "BRC_B32"}} for %b32 : {PTR}, {MASK} -> {VREG}',
    "vlds with a pointer": f"%v, %n = pto.vlds %p_f32_ub[%s_index] for %b32 : {PTR}, {MASK} -> {VREG}, {PTR}",
    "vldsx2": (
        f'%v, %w = pto.vldsx2 %p_f32_ub[%s_index], "DINTLV_B32" for %b32 : {PTR}, index, {MASK} -> {VREG}, {VREG}'
    ),
    "uvld": f"%v = pto.uvld %p_f32_ub[%s_index] for %b32 : {PTR}, {MASK} -> {VREG}",
    "vldus": (
        f"%a = pto.vldas %p_f32_ub : {PTR} -> !pto.align\n"
        f"%v, %b = pto.vldus %p_f32_ub, %a for %b32 : {PTR}, !pto.align, {MASK} -> {VREG}, !pto.align"
    ),
}


@pytest.mark.parametrize("name", LOADS)
def test_it_is_printed_as_it_is_written(name: str) -> None:
    text = printed(read(kernel(LOADS[name])))
    written = LOADS[name].splitlines()[-1].partition(" = ")[2]
    shape = written.partition("%")[0], written.partition(" : ")[2]
    assert any(shape[0] in line and " for %" in line and line.endswith(shape[1]) for line in text.splitlines())
    assert printed(read(text)) == text


def test_the_type_of_the_mask_may_be_left_out() -> None:
    accepts(f"%v = pto.vlds %p_f32_ub[%s_index] for %b32 : {PTR} -> {VREG}")


def test_the_generic_form_places_the_mask() -> None:
    text = f'%v = "pto.vlds"(%p_f32_ub, %s_index, %b32) : ({PTR}, index, {MASK}) -> {VREG}'
    assert " for %" in printed(read(kernel(text)))


@table(
    "dist, element, granularity",
    ("UNPK_B16", "f16", "b32"),
    ("UNPK4", "ui8", "b32"),
    ("UNPK_B8", "ui8", "b16"),
    ("UNPK_B16", "f16", "b16"),
)
def test_a_dist_that_extends_takes_masks_of_its_lanes(dist: str, element: str, granularity: str) -> None:
    types = f"!pto.ptr<{element}, ub>, !pto.mask<{granularity}> -> V<{element}>"
    accepts(f'%v = pto.vlds %p_{element}_ub[%s_index] {{dist = "{dist}"}} for %{granularity} : {types}')


@pytest.mark.parametrize(("dist", "granularity"), [("NORM", "b32"), ("UNPK_B8", "b32"), ("UNPK4", "b16")])
def test_other_masks_are_rejected(dist: str, granularity: str) -> None:
    types = f"!pto.ptr<ui8, ub>, !pto.mask<{granularity}> -> V<ui8>"
    body = f'%v = pto.vlds %p_ui8_ub[%s_index] {{dist = "{dist}"}} for ^%{granularity} : {types}'
    expected = "does not match value vector type !pto.vreg<256xui8>; expected !pto.mask<b8>"
    rejects(body, f"mask type !pto.mask<{granularity}> {expected}")
