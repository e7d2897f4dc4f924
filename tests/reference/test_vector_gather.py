"""Gathers and scatters: which lanes are touched, where each goes, and what happens where two meet."""

import numpy as np
import pytest

from small_kernels import SIZE, Bytes, lints, loaded, module, scope, scope_failure, some_bytes, ub_after

LIMIT = 256 * 1024
MEMORY = some_bytes(4096)


def with_offsets(offsets: np.ndarray, memory: Bytes = MEMORY) -> Bytes:
    """UB with data from byte 0 and offsets at byte 4096."""
    image = np.zeros(SIZE, np.uint8)
    image[: len(memory)] = memory
    image[4096 : 4096 + 256] = np.ascontiguousarray(offsets).view(np.uint8)
    return image


OFFSETS_32 = "%o = pto.vlds %ub4096_i32[%c0] : P<i32> -> V<i32>"
OFFSETS_16 = "%o = pto.vlds %ub4096_ui16[%c0] : P<ui16> -> V<ui16>"


def prefix(count: int, granularity: str) -> str:
    return f"%m, %n = pto.plt_{granularity} %c{count}_i32 : i32 -> M<{granularity}>, i32"


# --- vgather2 ---------------------------------------------------------------------------------------------------------


def test_vgather2_of_32_bit_elements() -> None:
    """The offsets count elements; lanes that are not active become zero."""
    offsets = np.random.default_rng(5).integers(0, 900, 64, np.int32)
    gather = f"""{OFFSETS_32}\n{prefix(40, "b32")}
      %v = pto.vgather2 %ub_f32, %o, %m : P<f32>, V<i32>, M<b32> -> V<f32>"""
    result = loaded(gather, with_offsets(offsets), "f32").view(np.uint32)
    expected = np.where(np.arange(64) < 40, MEMORY.view(np.uint32)[offsets], 0)
    assert (result == expected).all()


def test_vgather2_under_a_sparse_mask() -> None:
    offsets = np.arange(64, dtype=np.int32)[::-1].copy()
    gather = f"""{OFFSETS_32}\n%m = pto.pset_b32 "PAT_M4" : M<b32>
      %v = pto.vgather2 %ub_f32, %o, %m : P<f32>, V<i32>, M<b32> -> V<f32>"""
    result = loaded(gather, with_offsets(offsets), "f32").view(np.uint32)
    assert (result == np.where(np.arange(64) % 4 == 0, MEMORY.view(np.uint32)[offsets], 0)).all()


def test_vgather2_of_16_bit_elements() -> None:
    offsets = np.random.default_rng(6).integers(0, 2048, 128, np.uint16)
    gather = f"""{OFFSETS_16}
      %v = pto.vgather2 %ub_f16, %o, %all_b16 : P<f16>, V<ui16>, M<b16> -> V<f16>"""
    assert (loaded(gather, with_offsets(offsets), "f16").view(np.uint16) == MEMORY.view(np.uint16)[offsets]).all()


def test_vgather2_of_bytes_zero_extends() -> None:
    offsets = np.random.default_rng(7).integers(0, 4096, 128, np.uint16)
    gather = f"""{OFFSETS_16}\n{prefix(100, "b16")}
      %v = pto.vgather2 %ub_ui8, %o, %m : P<ui8>, V<ui16>, M<b16> -> V<ui16>"""
    result = loaded(gather, with_offsets(offsets), "ui16").view(np.uint16)
    assert (result == np.where(np.arange(128) < 100, MEMORY[offsets], 0)).all()


@pytest.mark.parametrize("active", [-3, 0, 1, 40, 64, 1000])
def test_the_older_form_counts_active_lanes(active: int) -> None:
    offsets = np.arange(64, dtype=np.int32) * 3
    count = f"%c{'m' if active < 0 else ''}{abs(active)}"
    gather = f"{OFFSETS_32}\n%v = pto.vgather2 %ub_f32, %o, {count} : P<f32>, V<i32>, index -> V<f32>"
    result = loaded(gather, with_offsets(offsets), "f32").view(np.uint32)
    assert (result == np.where(np.arange(64) < active, MEMORY.view(np.uint32)[offsets], 0)).all()


def test_offsets_have_no_sign() -> None:
    """-1 in 16 bits is element 65535, which still lies in UB."""
    offsets = np.full(128, 0xFFFF, np.uint16)
    gather = f"""{OFFSETS_16}\n%v = pto.vgather2 %ub_ui8, %o, %all_b16 : P<ui8>, V<ui16>, M<b16> -> V<ui16>"""
    assert (loaded(gather, with_offsets(offsets), "ui16") == 0).all()


def test_a_lane_outside_of_ub_is_an_error_only_when_it_is_active() -> None:
    gather = """%o = pto.vci %c65535_i32 : i32 -> V<i32>
      %v = pto.vgather2 %ub_f32, %o, %m : P<f32>, V<i32>, M<b32> -> V<f32>"""
    assert (loaded(f"{prefix(1, 'b32')}\n{gather}", b"", "f32") == 0).all()
    found = scope_failure(f"{prefix(2, 'b32')}\n{gather}")
    assert found.kind == "out-of-bounds"
    assert found.message.endswith(f"the first byte outside is {LIMIT}")


def test_vgather2_checks_the_alignment_of_elements() -> None:
    body = f"{OFFSETS_32}\n%v = pto.vgather2 %ub2_f32, %o, %all_b32 : P<f32>, V<i32>, M<b32> -> V<f32>"
    assert scope_failure(body).kind == "misaligned"


def test_vgather2_bc_reads_signed_offsets_as_unsigned() -> None:
    offsets = np.arange(64, dtype=np.int32)[::-1].copy()
    gather = """%o = pto.vlds %ub4096_si32[%c0] : P<si32> -> V<si32>
      %m = pto.pset_b32 "PAT_H" : M<b32>
      %v = pto.vgather2_bc %ub_f32, %o, %m : P<f32>, V<si32>, M<b32> -> V<f32>"""
    result = loaded(gather, with_offsets(offsets), "f32").view(np.uint32)
    assert (result == np.where(np.arange(64) < 32, MEMORY.view(np.uint32)[offsets], 0)).all()


# --- vgatherb ---------------------------------------------------------------------------------------------------------

BLOCK_OFFSETS = np.array([96, 0, 32, 3072, 64, 64, 128, 1024] + [7] * 56, np.int32)
"""Only the first eight count."""


def blocks(numbers: list[int]) -> Bytes:
    return np.concatenate([MEMORY[start : start + 32] for start in numbers])


def test_vgatherb_takes_blocks_at_byte_offsets() -> None:
    gather = f"{OFFSETS_32}\n%v = pto.vgatherb %ub_f32, %o, %all_b32 : P<f32>, V<i32>, M<b32> -> V<f32>"
    assert (loaded(gather, with_offsets(BLOCK_OFFSETS), "f32") == blocks(BLOCK_OFFSETS[:8].tolist())).all()


@pytest.mark.parametrize("activity", [f"{prefix(5, 'b32')}@%m@M<b32>", "@%c5@index"])
def test_lane_b_of_the_mask_gates_block_b_of_vgatherb(activity: str) -> None:
    """Whatever the element type is."""
    given, operand, type_ = activity.split("@")
    gather = f"{OFFSETS_32}\n{given}\n%v = pto.vgatherb %ub_ui8, %o, {operand} : P<ui8>, V<i32>, {type_} -> V<ui8>"
    result = loaded(gather, with_offsets(BLOCK_OFFSETS))
    assert (result == np.concatenate((blocks(BLOCK_OFFSETS[:5].tolist()), np.zeros(96, np.uint8)))).all()


def test_vgatherb_checks_alignment() -> None:
    misplaced = f"{OFFSETS_32}\n%v = pto.vgatherb %ub16_f32, %o, %c0 : P<f32>, V<i32>, index -> V<f32>"
    assert scope_failure(misplaced).kind == "misaligned"
    odd = "%o = pto.vci %c16_i32 : i32 -> V<i32>\n%v = pto.vgatherb %ub_f32, %o, %c1 : P<f32>, V<i32>, index -> V<f32>"
    found = scope_failure(odd)
    assert (found.kind, found.message) == ("misaligned", "reads ub at 16, which is not a multiple of 32")


# --- vscatter ---------------------------------------------------------------------------------------------------------


def scattered(offsets: np.ndarray, element: str, offset_element: str, active: int = 128) -> Bytes:
    """UB from byte 2048 on, after lanes of the first 256 bytes of MEMORY are scattered there."""
    granularity = {"i32": "b32", "ui16": "b16"}[offset_element]
    body = f"""%o = pto.vlds %ub4096_{offset_element}[%c0] : P<{offset_element}> -> V<{offset_element}>
      {prefix(active, granularity)}
      %v = pto.vlds %ub_{element}[%c0] : P<{element}> -> V<{element}>
      pto.vscatter %v, %ub2048_{element}, %o, %m
        : V<{element}>, P<{element}>, V<{offset_element}>, M<{granularity}>"""
    return ub_after(body, with_offsets(offsets))[2048:4096]


@pytest.mark.parametrize("element, size, offset_element", [("f32", 4, "i32"), ("f16", 2, "ui16")])
def test_vscatter_stores_each_lane_to_its_element(element: str, size: int, offset_element: str) -> None:
    lanes = 256 // size
    offsets = np.random.default_rng(8).permutation(2 * lanes)[:lanes].astype(f"u{size}")
    expected = MEMORY[2048:4096].copy().view(f"u{size}")
    expected[offsets] = MEMORY[:256].view(f"u{size}")
    assert (scattered(offsets, element, offset_element) == expected.view(np.uint8)).all()


def test_vscatter_of_bytes_takes_every_second_one() -> None:
    offsets = np.random.default_rng(9).permutation(2048)[:128].astype(np.uint16)
    expected = MEMORY[2048:4096].copy()
    expected[offsets] = MEMORY[:256:2]
    assert (scattered(offsets, "ui8", "ui16") == expected).all()


def test_inactive_lanes_are_not_scattered() -> None:
    offsets = np.arange(64, dtype=np.uint32) * 2
    expected = MEMORY[2048:4096].copy().view(np.uint32)
    expected[offsets[:10]] = MEMORY[:40].view(np.uint32)
    assert (scattered(offsets, "f32", "i32", active=10) == expected.view(np.uint8)).all()


def test_on_a5_the_lowest_lane_stays() -> None:
    offsets = (np.arange(64, dtype=np.uint32) // 3).copy()
    expected = MEMORY[2048:4096].copy().view(np.uint32)
    expected[:22] = MEMORY[:256].view(np.uint32)[::3]
    assert (scattered(offsets, "f32", "i32") == expected.view(np.uint8)).all()


def test_on_a2a3_no_two_lanes_may_meet() -> None:
    body = """%o = pto.vci %c5_i32 : i32 -> V<i32>
      %p = pto.vshrs %o, %c1_i16, %all_b32 : V<i32>, i16, M<b32> -> V<i32>
      pto.vscatter %p, %ub_i32, %p, {} : V<i32>, P<i32>, V<i32>, index"""
    found = scope_failure(body.format("%c4"), "a2a3")
    assert found.kind == "invalid"
    assert found.message.startswith("lanes 1 and 2 store to the same element, at ub 12")
    ub_after(body.format("%c2"), target="a2a3")


def test_a_check_hears_of_lanes_that_meet() -> None:
    body = """%o = pto.vci %c5_i32 : i32 -> V<i32>
      %p = pto.vshrs %o, %c1_i16, %all_b32 : V<i32>, i16, M<b32> -> V<i32>
      pto.vscatter %p, %ub_i32, %p, %c4 : V<i32>, P<i32>, V<i32>, index"""
    (message,) = lints(module("", scope(body)))
    assert message.endswith("the lower lane stays")
