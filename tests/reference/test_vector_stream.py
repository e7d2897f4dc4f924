"""Unaligned streams: what reaches UB and when, what stays pending, and what a check hears of it."""

import numpy as np
import pytest

import small_kernels
from small_kernels import SIZE, loaded, module, scope, scope_failure, some_bytes, ub_after

MEMORY = some_bytes(4096)


def lints(body: str) -> list[str]:
    return small_kernels.lints(module("", scope(body)))


def misuses(body: str) -> list[str]:
    return small_kernels.misuses(module("", scope(body)))


# --- loads ------------------------------------------------------------------------------------------------------------


def test_vldus_loads_at_any_element() -> None:
    load_one = """%a = pto.vldas %ub4_f32 : P<f32> -> A
      %v, %a2 = pto.vldus %ub4_f32, %a : P<f32>, A -> V<f32>, A"""
    assert (loaded(load_one, MEMORY, "f32") == MEMORY[4:260]).all()


@pytest.mark.parametrize("older", [False, True])
def test_a_stream_of_vectors(older: bool) -> None:
    """With an increment, and in the older form by a whole register."""
    increment, type_ = ("", "") if older else (", %c64", ", index")
    after = ub_after(
        f"""%a = pto.vldas %ub4_f32 : P<f32> -> A
        %e:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %ub4_f32, %al = %a) -> (P<f32>, !pto.align) {{
          %v, %al2, %q = pto.vldus %p, %al{increment} : P<f32>, A{type_} -> V<f32>, A, P<f32>
          %o = arith.muli %i, %c64 : index
          pto.vsts %v, %ub4096_f32[%o], %all_b32 : V<f32>, P<f32>, M<b32>
          scf.yield %q, %al2 : P<f32>, !pto.align
        }}""",
        MEMORY,
    )
    assert (after[4096 : 4096 + 768] == MEMORY[4:772]).all()


def test_a_stream_is_carried_by_a_while_loop() -> None:
    after = ub_after(
        """%a = pto.vldas %ub4_f32 : P<f32> -> A
        %e:3 = scf.while (%p = %ub4_f32, %al = %a, %i = %c0) : (P<f32>, A, index) -> (P<f32>, A, index) {
          %go = arith.cmpi slt, %i, %c3 : index
          scf.condition(%go) %p, %al, %i : P<f32>, A, index
        } do {
        ^bb0(%p1: P<f32>, %al1: A, %i1: index):
          %v, %al2, %q = pto.vldus %p1, %al1, %c64 : P<f32>, A, index -> V<f32>, A, P<f32>
          %o = arith.muli %i1, %c64 : index
          pto.vsts %v, %ub4096_f32[%o], %all_b32 : V<f32>, P<f32>, M<b32>
          %i2 = arith.addi %i1, %c1 : index
          scf.yield %q, %al2, %i2 : P<f32>, A, index
        }""",
        MEMORY,
    )
    assert (after[4096 : 4096 + 768] == MEMORY[4:772]).all()


def test_an_increment_of_some_elements() -> None:
    after = ub_after(
        """%a = pto.vldas %ub2_f16 : P<f16> -> A
        %v, %a2, %q = pto.vldus %ub2_f16, %a, %c3 : P<f16>, A, index -> V<f16>, A, P<f16>
        %w, %a3 = pto.vldus %q, %a2 : P<f16>, A -> V<f16>, A
        pto.vsts %w, %ub4096_f16[%c0], %all_b16 : V<f16>, P<f16>, M<b16>""",
        MEMORY,
    )
    assert (after[4096:4352] == MEMORY[8:264]).all()


def test_uvld_is_a_stream_of_one() -> None:
    assert (loaded("%v = pto.uvld %ub_f32[%c3] : P<f32> -> V<f32>", MEMORY, "f32") == MEMORY[12:268]).all()


def test_an_unaligned_load_is_aligned_to_its_elements() -> None:
    body = """%a = pto.vldas %ub2_f32 : P<f32> -> A
      %v, %a2 = pto.vldus %ub2_f32, %a : P<f32>, A -> V<f32>, A"""
    found = scope_failure(body)
    assert (found.kind, found.message) == ("misaligned", "reads ub at 2, which is not a multiple of 4")


def test_a_stale_align_is_reported() -> None:
    body = """%a = pto.vldas %ub_f32 : P<f32> -> A
      %v, %a2 = pto.vldus %ub{}_f32, %a : P<f32>, A -> V<f32>, A"""
    assert misuses(body.format(28)) == []
    (message,) = misuses(body.format(32))
    assert message.startswith("a stale align: the stream has read ahead the granule at ub 0, but this load is at 32")


# --- stores -----------------------------------------------------------------------------------------------------------

VALUE = "%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>"


def changed(body: str, **options: str) -> dict[int, int]:
    """Which bytes from ub 2048 on have become which of the first 256."""
    before = np.arange(SIZE) % 251
    image = before.astype(np.uint8)
    image[:256] = np.arange(256)
    image[2048:] = 255
    image[0] = 254  # so that no value is the background, 255
    after = ub_after(f"{VALUE}\n{body}", image, **options)
    places = np.flatnonzero(after[2048:4096] != 255)
    return {int(place): int(after[2048 + place]) for place in places}


def expected(first: int, count: int, of: int = 0) -> dict[int, int]:
    """`count` bytes from `first` on, taken from byte `of` of the register."""
    values = [254, *range(1, 255), 255]
    return {first + byte: values[of + byte] for byte in range(count)}


def test_vstus_stores_so_many_elements_at_the_pointer() -> None:
    """Three elements; the offset is how far the stream advances."""
    body = """%a = pto.init_align : !pto.align
      %a1 = pto.vstus %a, %c3_i32, %v, %ub2052_f32 : A, i32, V<f32>, P<f32> -> A
      pto.vstas %a1, %ub2052_f32, %c3_i32 : A, P<f32>, i32"""
    assert changed(body) == expected(4, 12)


def test_pending_bytes_are_not_in_ub_before_the_flush() -> None:
    """Nine elements from byte 4 on: the granule is complete at byte 32, one element and a bit stay behind."""
    body = """%a = pto.init_align : !pto.align
      %a1 = pto.vstus %a, %c9_i32, %v, %ub2052_f32 : A, i32, V<f32>, P<f32> -> A"""
    assert changed(body) == expected(4, 28)
    assert changed(f"{body}\npto.vstas %a1, %ub2052_f32, %c9_i32 : A, P<f32>, i32") == expected(4, 36)


def test_three_steps_and_a_flush_at_the_returned_pointer() -> None:
    body = """%a = pto.init_align : !pto.align
      %a1, %p1 = pto.vstus %a, %c3_i32, %v, %ub2048_f32 : A, i32, V<f32>, P<f32> -> A, P<f32>
      %a2, %p2 = pto.vstus %a1, %c3_i32, %v, %p1 : A, i32, V<f32>, P<f32> -> A, P<f32>
      %a3, %p3 = pto.vstus %a2, %c3_i32, %v, %p2 : A, i32, V<f32>, P<f32> -> A, P<f32>
      pto.vstas %a3, %p3, %c0_i32 : A, P<f32>, i32"""
    assert changed(body) == expected(0, 12) | expected(12, 12) | expected(24, 12)


def test_a_whole_register_crosses_nine_granules() -> None:
    body = """%a = pto.init_align : !pto.align
      %a1 = pto.vstus %a, %c64_i32, %v, %ub2060_f32 : A, i32, V<f32>, P<f32> -> A
      pto.vstas %a1, %ub2060_f32, %c64_i32 : A, P<f32>, i32"""
    result = expected(12, 256)
    del result[12 + 255]  # stored, but it is the background
    assert changed(body) == result


def test_storing_nothing_is_legal() -> None:
    body = """%a = pto.init_align : !pto.align
      %a1, %p1 = pto.vstus %a, %c0_i32, %v, %ub2048_f32 : A, i32, V<f32>, P<f32> -> A, P<f32>
      pto.vstas %a1, %p1, %c0_i32 : A, P<f32>, i32"""
    assert changed(body) == {}


def test_storing_more_than_a_register_is_an_error() -> None:
    body = """%a = pto.init_align : !pto.align
      %count = arith.subi {} : i32
      %a1 = pto.vstus %a, %count, %v, %ub2048_f32 : A, i32, V<f32>, P<f32> -> A
      pto.vstas %a1, %ub2048_f32, %c0_i32 : A, P<f32>, i32"""
    for difference, shown in (("%c66_i32, %c1_i32", 65), ("%c0_i32, %c1_i32", -1)):
        found = scope_failure(f"{VALUE}\n{body.format(difference)}")
        assert (found.kind, found.message) == (
            "invalid",
            f"a register has 64 elements; {shown} of them cannot be stored",
        )


def test_flushing_an_empty_stream_only_advances_the_pointer() -> None:
    body = """%a = pto.init_align : !pto.align
      %p = pto.vstas %a, %ub2048_f32, %c8_i32 : A, P<f32>, i32 -> P<f32>
      pto.vsts %v, %p[%c0], %one {dist = "1PT_B32"} : V<f32>, P<f32>, M<b32>"""
    assert changed(f'%one = pto.pset_b32 "PAT_VL1" : M<b32>\n{body}') == expected(32, 4)


def test_a_flush_with_a_result_is_at_the_pointer() -> None:
    body = """%a = pto.init_align : !pto.align
      %a1, %p1 = pto.vstus %a, %c3_i32, %v, %ub2048_f32 : A, i32, V<f32>, P<f32> -> A, P<f32>
      %p2 = pto.vstas %a1, %p1, %c5_i32 : A, P<f32>, i32 -> P<f32>
      pto.vsts %v, %p2[%c0], %one {dist = "1PT_B32"} : V<f32>, P<f32>, M<b32>"""
    assert changed(f'%one = pto.pset_b32 "PAT_VL1" : M<b32>\n{body}') == expected(0, 12) | expected(32, 4)


# --- streams of squeezed registers ------------------------------------------------------------------------------------

SQUEEZED = """pto.sprclr "AR"
  %m = pto.pset_b32 "PAT_VL8" : M<b32>
  %s = pto.vsqz %v, %m : V<f32>, M<b32> -> V<f32>"""


def test_vstur_stores_what_the_squeeze_kept() -> None:
    body = f"""{SQUEEZED}
      %a = pto.init_align : !pto.align
      %a1 = pto.vstur %a, %s, %ub2052_f32, "POST_UPDATE" : A, V<f32>, P<f32> -> A
      pto.vstar %a1, %ub2052_f32 : A, P<f32>"""
    assert changed(body) == expected(4, 32)


def test_ar_advances_by_what_was_stored() -> None:
    """Twice with POST_UPDATE, the align value carried through a loop; AR is then 64 bytes."""
    body = f"""{SQUEEZED}
      %a = pto.init_align : !pto.align
      %e = scf.for %i = %c0 to %c2 step %c1 iter_args(%al = %a) -> (!pto.align) {{
        %al1 = pto.vstur %al, %s, %ub2052_f32, "POST_UPDATE" : A, V<f32>, P<f32> -> A
        scf.yield %al1 : !pto.align
      }}
      pto.vstar %e, %ub2052_f32 : A, P<f32>
      pto.sprsti "AR", %ub2560_ui32[%c1_i32] : P<ui32>, i32"""
    result = changed(body)
    assert {place: value for place, value in result.items() if place < 512} == expected(4, 32) | expected(36, 32)
    assert [result[512 + 4 + byte] for byte in range(4)] == [64, 0, 0, 0]


def test_without_an_update_ar_stays() -> None:
    body = f"""{SQUEEZED}
      %a = pto.init_align : !pto.align
      %a1 = pto.vstur %a, %s, %ub2048_f32, "NO_POST_UPDATE" : A, V<f32>, P<f32> -> A
      pto.vstar %a1, %ub2048_f32 : A, P<f32>
      pto.sprsts "AR", %ub2560_ui32[%c32_i32] : P<ui32>, i32"""
    result = changed(body)
    assert {place: value for place, value in result.items() if place < 512} == expected(0, 32)
    assert [result[512 + 32 + byte] for byte in range(4)] == [0, 0, 0, 0]


# --- older spellings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("update, advanced", [(1, 256), (0, 0)])
def test_vstu_with_a_base(update: int, advanced: int) -> None:
    body = f"""%a = pto.init_align : !pto.align
      %a1, %b1 = pto.vstu %a, %ub2052_f32, %v, %ub2048_f32, %c{update} : A, P<f32>, V<f32>, P<f32>, index -> A, P<f32>
      %d = pto.castptr %b1 : P<f32> -> i64
      %base = pto.castptr %ub2052_f32 : P<f32> -> i64
      %diff = arith.subi %d, %base : i64
      %diff32 = arith.trunci %diff : i64 to i32
      pto.vsta %a1, %ub2052_f32[%c64] : A, P<f32>, index
      pto.store_scalar %diff32, %ub3072_i32[%c0] : P<i32>, i32"""
    result = changed(body)
    assert {place: value for place, value in result.items() if place < 1024} == {
        place: value for place, value in expected(4, 256).items() if place != 259
    }
    assert result[1024] + 256 * result[1025] == advanced


@pytest.mark.parametrize("mode, following", [("POST_UPDATE", 65), ("NO_POST_UPDATE", 1)])
def test_vstu_with_an_offset(mode: str, following: int) -> None:
    body = f"""%a = pto.init_align : !pto.align
      %a1, %o1 = pto.vstu %a, %c1, %v, %ub2048_f32, "{mode}" : A, index, V<f32>, P<f32> -> A, index
      pto.vsta %a1, %ub2048_f32[%c65] : A, P<f32>, index
      %o = arith.index_cast %o1 : index to i32
      pto.store_scalar %o, %ub3072_i32[%c0] : P<i32>, i32"""
    result = changed(body)
    assert [result[place] for place in (4, 5, 258)] == [254, 1, 254]
    assert result[1024] == following


def test_the_older_forms_of_vstus() -> None:
    with_base = """%a = pto.init_align : !pto.align
      %a1, %b1 = pto.vstus %a, %ub2052_f32, %v, %ub2048_f32, %c3_i32 : A, P<f32>, V<f32>, P<f32>, i32 -> A, P<f32>
      pto.vstas %a1, %b1, %c0_i32 : A, P<f32>, i32"""
    assert changed(with_base) == expected(4, 12)
    with_mode = """%a = pto.init_align : !pto.align
      %a1, %b1 = pto.vstus %a, %c3_i32, %v, %ub2052_f32, "{}" : A, i32, V<f32>, P<f32> -> A, P<f32>
      pto.vstas %a1, %b1, {} : A, P<f32>, i32"""
    assert changed(with_mode.format("POST_UPDATE", "%c0_i32")) == expected(4, 12)
    assert changed(with_mode.format("NO_POST_UPDATE", "%c3_i32")) == expected(4, 12)
    assert lints(f"{VALUE}\n{with_mode.format('NO_POST_UPDATE', '%c3_i32')}") == []
    without_mode = f"""{SQUEEZED}
      %a = pto.init_align : !pto.align
      %a1 = pto.vstur %a, %s, %ub2052_f32 : A, V<f32>, P<f32> -> A
      pto.vstar %a1, %ub2052_f32 : A, P<f32>"""
    assert changed(without_mode) == expected(4, 32)


# --- what a check hears -----------------------------------------------------------------------------------------------

ONE_STEP = f"""{VALUE}
  %a = pto.init_align : !pto.align
  %a1, %p1 = pto.vstus %a, %c3_i32, %v, %ub2048_f32 : A, i32, V<f32>, P<f32> -> A, P<f32>"""


def test_a_lost_tail_is_reported_at_its_last_store() -> None:
    (message,) = misuses(ONE_STEP)
    assert message == "a lost tail: 12 bytes of the store stream are never flushed and do not reach ub"


def test_a_load_of_pending_bytes_is_reported() -> None:
    body = f"""{ONE_STEP}
      %w = pto.vlds %ub{{}}_f32[%c0] : P<f32> -> V<f32>
      pto.vstas %a1, %p1, %c0_i32 : A, P<f32>, i32"""
    assert lints(body.format(2080)) == []
    (message,) = lints(body.format(1824))
    assert message.endswith("holds ub[2048:2060] back: before it is flushed this load gets older bytes")


def test_nothing_is_lost_when_the_granule_is_complete() -> None:
    body = f"""{VALUE}
      %a = pto.init_align : !pto.align
      %a1 = pto.vstus %a, %c8_i32, %v, %ub2048_f32 : A, i32, V<f32>, P<f32> -> A"""
    assert lints(body) == []


def test_a_gap_is_reported_and_what_was_pending_is_written() -> None:
    body = f"""{ONE_STEP}
      %a2 = pto.vstus %a1, %c3_i32, %v, %ub2064_f32 : A, i32, V<f32>, P<f32> -> A
      pto.vstas %a2, %ub2064_f32, %c3_i32 : A, P<f32>, i32"""
    (message,) = lints(body)
    assert message.startswith("the store stream has a gap: it ended at ub 2060 and goes on at 2064")
    assert changed(body.removeprefix(VALUE)) == expected(0, 12) | expected(16, 12)


@pytest.mark.parametrize("offset, fits", [("%c0_i32", True), ("%c1_i32", False), ("%cm3_i32", False)])
def test_a_flush_elsewhere_is_reported_and_flushes(offset: str, fits: bool) -> None:
    body = f"{ONE_STEP}\npto.vstas %a1, %p1, {offset} : A, P<f32>, i32"
    found = misuses(body)
    assert [message.partition(",")[0] for message in found] == (
        [] if fits else [f"the flush expects the stream to end at ub {2060 + 4 * int(offset[2:-4].replace('m', '-'))}"]
    )
    assert changed(body.removeprefix(VALUE)) == expected(0, 12)


def test_a_flush_whose_offset_counts_bytes_is_accepted() -> None:
    assert lints(f"{ONE_STEP}\npto.vstas %a1, %ub2048_f32, %c12_i32 : A, P<f32>, i32") == []


def test_a_stream_through_a_branch() -> None:
    """Both arms go on with the same stream."""
    body = f"""{ONE_STEP}
      %t = arith.cmpi eq, %c1, %c1 : index
      %a2, %p2 = scf.if %t -> (!pto.align, P<f32>) {{
        %x, %q = pto.vstus %a1, %c5_i32, %v, %p1 : A, i32, V<f32>, P<f32> -> A, P<f32>
        scf.yield %x, %q : !pto.align, P<f32>
      }} else {{
        scf.yield %a1, %p1 : !pto.align, P<f32>
      }}
      pto.vstas %a2, %p2, %c0_i32 : A, P<f32>, i32"""
    assert changed(body.removeprefix(VALUE)) == expected(0, 12) | expected(12, 20)
    assert lints(body) == []


def test_a_stream_that_leaves_ub_is_an_error() -> None:
    body = f"""{VALUE}
      %a = pto.init_align : !pto.align
      %a1 = pto.vstus %a, %c64_i32, %v, %ub262128_f32 : A, i32, V<f32>, P<f32> -> A"""
    assert scope_failure(body).kind == "out-of-bounds"
