"""`for %mask` after a load: the active lanes as without it, zeros elsewhere, and only the memory that they need."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reference.test_vector_memory import LOADS, as_bytes
from small_kernels import Bytes, loaded, scope_failure, some_bytes, ub_after
from tables import table

MEMORY = some_bytes(2048)
UB = 256 << 10

FIRST_10 = {"ui8": (1, "b8"), "f16": (2, "b16"), "f32": (4, "b32"), "i64": (8, "b32")}


def tail(granularity: str, count: int) -> str:
    return f"%t, %rest = pto.plt_{granularity} %c{count}_i32 : i32 -> M<{granularity}>, i32\n"


def kept(register: Bytes, width: int, lanes: Any) -> Bytes:
    """The register with every lane cleared that is not among these."""
    cleared = np.zeros_like(register)
    for lane in lanes:
        cleared[lane * width : (lane + 1) * width] = register[lane * width : (lane + 1) * width]
    return cleared


@pytest.mark.parametrize("element", ["ui8", "f16", "f32"])
@pytest.mark.parametrize("dist", LOADS)
def test_active_lanes_are_loaded_and_others_are_zero(dist: str, element: str) -> None:
    width, granularity = FIRST_10[element]
    types = f"P<{element}>, M<{granularity}> -> V<{element}>"
    load = tail(granularity, 10) + f'%v = pto.vlds %ub64_{element}[%c0] {{dist = "{dist}"}} for %t : {types}'
    whole = as_bytes(LOADS[dist](MEMORY[64:]))
    assert (loaded(load, MEMORY, element) == kept(whole, width, range(10))).all()


def test_lanes_of_64_bits() -> None:
    """A b32 mask of 10 lanes has the lowest bit of five lanes of 64 bits."""
    load = tail("b32", 10) + "%v = pto.vlds %ub_i64[%c4] for %t : P<i64>, M<b32> -> V<i64>"
    assert (loaded(load, MEMORY, "i64") == kept(MEMORY[32:288], 8, range(5))).all()


def test_lanes_in_the_middle_of_a_mask() -> None:
    mask = (
        '%m8 = pto.pset_b32 "PAT_VL8" : M<b32>\n%m4 = pto.pset_b32 "PAT_VL4" : M<b32>\n'
        "%m = pto.pnot %m4, %m8 : M<b32>, M<b32> -> M<b32>\n"
    )
    load = mask + "%v = pto.vlds %ub_f32[%c0] for %m : P<f32>, M<b32> -> V<f32>"
    assert (loaded(load, MEMORY, "f32") == kept(MEMORY[:256], 4, range(4, 8))).all()


def test_extended_elements_under_the_mask_of_what_they_become() -> None:
    load = tail("b32", 3) + '%v = pto.vlds %ub_f16[%c0] {dist = "UNPK_B16"} for %t : P<f16>, M<b32> -> V<f16>'
    expected = np.zeros(64, np.uint32)
    expected[:3] = MEMORY[:6].view(np.uint16)
    assert (loaded(load, MEMORY, "f16") == expected.view(np.uint8)).all()


def test_pairs() -> None:
    body = (
        tail("b32", 5)
        + '%v, %w = pto.vldsx2 %ub_f32[%c0], "DINTLV_B32" for %t : P<f32>, index, M<b32> -> V<f32>, V<f32>\n'
        + "pto.vsts %v, %ub4096_f32[%c0] : V<f32>, P<f32>\npto.vsts %w, %ub4096_f32[%c64] : V<f32>, P<f32>"
    )
    after = ub_after(body, MEMORY)[4096:4608].view(np.uint32)
    words = MEMORY.view(np.uint32)
    assert after[:64].tolist() == [*words[:10:2].tolist(), *[0] * 59]
    assert after[64:].tolist() == [*words[1:10:2].tolist(), *[0] * 59]


@table(
    "load",
    "%v = pto.uvld %ub_f32[%c3] for %t : P<f32>, M<b32> -> V<f32>",
    "%p = pto.addptr %ub_f32, %c3 : P<f32> -> P<f32>\n%a = pto.vldas %p : P<f32> -> A\n"
    "%v, %b = pto.vldus %p, %a for %t : P<f32>, A, M<b32> -> V<f32>, A",
)
def test_streams(load: str) -> None:
    assert (loaded(tail("b32", 7) + load, MEMORY, "f32") == kept(MEMORY[12:268], 4, range(7))).all()


# --- the end of UB ----------------------------------------------------------------------------------------------------


def _at_the_end(load: Callable[[str], str], count: int) -> str:
    """Eight f32 stand before the end of UB; so many lanes load from there."""
    store = f"%ones = pto.vbr %c1.5_f32 : f32 -> V<f32>\npto.vsts %ones, %ub{UB - 256}_f32[%c0] : V<f32>, P<f32>\n"
    return (
        store
        + 'pto.mem_bar "VST_VLD"\n'
        + tail("b32", count)
        + load(f"%ub{UB - 32}_f32")
        + "\npto.vsts %v, %ub4096_f32[%c0] : V<f32>, P<f32>"
    )


ENDS: dict[str, Callable[[str], str]] = {
    "vlds": lambda p: f"%v = pto.vlds {p}[%c0] for %t : P<f32>, M<b32> -> V<f32>",
    "uvld": lambda p: f"%v = pto.uvld {p}[%c0] for %t : P<f32>, M<b32> -> V<f32>",
    "vldus": lambda p: (
        f"%a = pto.vldas {p} : P<f32> -> A\n%v, %b = pto.vldus {p}, %a for %t : P<f32>, A, M<b32> -> V<f32>, A"
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_inactive_tail_may_leave_ub(name: str) -> None:
    after = ub_after(_at_the_end(ENDS[name], 8))[4096:4352].view(np.float32)
    assert after.tolist() == [1.5] * 8 + [0] * 56


@pytest.mark.parametrize("name", ENDS)
def test_an_active_lane_may_not(name: str) -> None:
    found = scope_failure(_at_the_end(ENDS[name], 9))
    assert found.kind == "out-of-bounds"
    expected = f"reads bytes {UB - 32} to {UB + 3} of ub, which has {UB} bytes: the first byte outside is {UB}"
    assert found.message == expected


def test_no_lane_at_all_loads_from_anywhere() -> None:
    load = tail("b32", 0) + f"%v = pto.vlds %ub{UB + 4096}_f32[%c0] for %t : P<f32>, M<b32> -> V<f32>"
    assert (loaded(load, MEMORY, "f32") == 0).all()


def test_the_address_is_aligned_all_the_same() -> None:
    found = scope_failure(tail("b32", 0) + "%v = pto.vlds %ub_f32[%c1] for %t : P<f32>, M<b32> -> V<f32>")
    assert (found.kind, found.message) == ("misaligned", "reads ub at 4, which is not a multiple of 32")
