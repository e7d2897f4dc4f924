"""Gathers and scatters: both generations, and the combinations of element, offset, result and mask types."""

import pytest

from language.vector_kernel import accepts, rejects

# --- activity ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vgather2", "vgatherb"])
def test_a_gather_takes_a_mask_or_a_number_of_lanes(name: str):
    types = "!pto.ptr<f32, ub>, V<i32>"
    accepts(f"%r = pto.{name} %p_f32_ub, %v_i32, %b32 : {types}, M<b32> -> V<f32>")
    accepts(f"%r = pto.{name} %p_f32_ub, %v_i32, %s_index : {types}, index -> V<f32>")
    rejects(
        f"%r = pto.{name} %p_f32_ub, ^%v_i32 : {types} -> V<f32>",
        f"pto.{name} takes 3 operands (source, offsets, mask), not 2",
        kind="syntax",
    )
