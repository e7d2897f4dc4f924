"""Vector loads and stores: every dist, stride and form, with expected bytes worked out by slicing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ptosim.effects.vector_memory import DUAL_LOAD_MODES, DUAL_STORE_MODES, LOAD_MODES, STORE_MODES
from small_kernels import Bytes, loaded, scope_failure, some_bytes, ub_after
from tables import table

MEMORY = some_bytes(2048)

u2, u4, u8 = np.uint16, np.uint32, np.uint64


def as_bytes(values: Any) -> Bytes:
    return np.ascontiguousarray(values).view(np.uint8)


# --- loads ------------------------------------------------------------------------------------------------------------

LOADS: dict[str, Callable[[Bytes], Any]] = {
    "NORM": lambda m: m[:256],
    "BRC_B8": lambda m: np.tile(m[:1], 256),
    "BRC_B16": lambda m: np.tile(m[:2], 128),
    "BRC_B32": lambda m: np.tile(m[:4], 64),
    "US_B8": lambda m: np.repeat(m[:128], 2),
    "US_B16": lambda m: np.repeat(m[:128].view(u2), 2),
    "DS_B8": lambda m: m[:512:2],
    "DS_B16": lambda m: m[:512].view(u2)[::2],
    "UNPK_B8": lambda m: m[:128].astype(u2),
    "UNPK_B16": lambda m: m[:128].view(u2).astype(u4),
    "UNPK_B32": lambda m: m[:128].view(u4).astype(u8),
    "BRC_BLK": lambda m: np.tile(m[:32], 8),
    "E2B_B16": lambda m: np.repeat(m[:16].view(u2), 16),
    "E2B_B32": lambda m: np.repeat(m[:32].view(u4), 8),
    "UNPK4": lambda m: m[:64].astype(u4),
    "SPLT4CHN": lambda m: m[:1024:4],
    "SPLT2CHN_B8": lambda m: m[:512:2],
    "SPLT2CHN_B16": lambda m: m[:512].view(u2)[::2],
    "DINTLV_B32": lambda m: m[:512].view(u4)[::2],
}


def test_every_load_mode_has_an_expected_result() -> None:
    assert set(LOADS) == set(LOAD_MODES)


@pytest.mark.parametrize("element", ["ui8", "f32"])
@pytest.mark.parametrize("dist", LOADS)
def test_vlds_distributes_bytes_whatever_the_element(dist: str, element: str) -> None:
    load = f'%v = pto.vlds %ub64_{element}[%c0] {{dist = "{dist}"}} : P<{element}> -> V<{element}>'
    assert (loaded(load, MEMORY, element) == as_bytes(LOADS[dist](MEMORY[64:]))).all()


@pytest.mark.parametrize("older, current", [("BLK", "BRC_BLK"), ("UNPK4_B8", "UNPK4"), ("SPLT4CHN_B8", "SPLT4CHN")])
def test_older_names_of_dists_mean_the_current_ones(older: str, current: str) -> None:
    load = f'%v = pto.vlds %ub_ui8[%c0] {{dist = "{older}"}} : P<ui8> -> V<ui8>'
    assert (loaded(load, MEMORY) == as_bytes(LOADS[current](MEMORY))).all()


def test_vlds_of_64_bit_elements() -> None:
    assert (loaded("%v = pto.vlds %ub_i64[%c4] : P<i64> -> V<i64>", MEMORY, "i64") == MEMORY[32:288]).all()


def test_the_offset_counts_elements_of_the_pointer() -> None:
    """Of the pointer, not of the register; and it has a sign."""
    assert (loaded("%v = pto.vlds %ub_f32[%c16] : P<f32> -> V<ui8>", MEMORY) == MEMORY[64:320]).all()
    assert (loaded("%v = pto.vlds %ub128_f32[%cm16] : P<f32> -> V<ui8>", MEMORY) == MEMORY[64:320]).all()


def test_vlds_with_an_updated_pointer_loads_at_the_old_one() -> None:
    """A loop that carries the pointer copies an array unshifted."""
    after = ub_after(
        """%e = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %ub_f32) -> (!pto.ptr<f32, ub>) {
          %v, %next = pto.vlds %p[%c64] : P<f32> -> V<f32>, P<f32>
          %o = arith.muli %i, %c64 : index
          pto.vsts %v, %ub4096_f32[%o], %all_b32 : V<f32>, P<f32>, M<b32>
          scf.yield %next : P<f32>
        }""",
        MEMORY,
    )
    assert (after[4096 : 4096 + 1024] == MEMORY[:1024]).all()


DUAL_LOADS: dict[str, tuple[Any, int]] = {
    "BDINTLV": ("S32", 32),
    "DINTLV_B8": (np.uint8, 1),
    "DINTLV_B16": (u2, 2),
    "DINTLV_B32": (u4, 4),
}


def halves(memory: Bytes, size: int) -> tuple[Bytes, Bytes]:
    """Even and odd units of so many bytes."""
    units = memory[:512].reshape(-1, size)
    return units[::2].reshape(-1), units[1::2].reshape(-1)


@pytest.mark.parametrize("dist", DUAL_LOADS)
def test_vldsx2_takes_units_alternately(dist: str) -> None:
    assert set(DUAL_LOADS) == set(DUAL_LOAD_MODES)
    after = ub_after(
        f"""%x, %y = pto.vldsx2 %ub_f32[%c8], "{dist}" : P<f32>, index -> V<f32>, V<f32>
        pto.vsts %x, %ub4096_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>
        pto.vsts %y, %ub4096_f32[%c64], %all_b32 : V<f32>, P<f32>, M<b32>""",
        MEMORY,
    )
    low, high = halves(MEMORY[32:], DUAL_LOADS[dist][1])
    assert (after[4096:4352] == low).all()
    assert (after[4352:4608] == high).all()


def test_vldsx2_with_an_updated_pointer() -> None:
    after = ub_after(
        """%x, %y, %next = pto.vldsx2 %ub_f32[%c128], "DINTLV_B32" : P<f32>, index -> V<f32>, V<f32>, P<f32>
        %z = pto.vlds %next[%c0] : P<f32> -> V<f32>
        pto.vsts %x, %ub4096_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>
        pto.vsts %z, %ub4096_f32[%c64], %all_b32 : V<f32>, P<f32>, M<b32>""",
        MEMORY,
    )
    assert (after[4096:4352] == halves(MEMORY, 4)[0]).all()
    assert (after[4352:4608] == MEMORY[512:768]).all()


# --- stores -----------------------------------------------------------------------------------------------------------

VALUE = some_bytes(256, seed=2)
BACKGROUND = some_bytes(2048, seed=3)


def stored(
    value: str, mask: str, dist: str = "", element: str = "f32", dest: str = "1024", offset: str = "%c0"
) -> Bytes:
    """The 512 bytes at ub 1024 after storing VALUE over BACKGROUND."""
    before = BACKGROUND.copy()
    before[:256] = VALUE
    words = f' {{dist = "{dist}"}}' if dist else ""
    granularity = mask.rpartition("_")[2]
    body = f"""{value}
      %v = pto.vlds %ub_{element}[%c0] : P<{element}> -> V<{element}>
      pto.vsts %v, %ub{dest}_{element}[{offset}], {mask}{words} : V<{element}>, P<{element}>, M<{granularity}>"""
    return ub_after(body, before)[1024:1536]


def over(written: dict[int, int]) -> Bytes:
    """BACKGROUND with some bytes replaced: memory byte -> byte of VALUE."""
    expected = BACKGROUND[1024:1536].copy()
    for memory, register in written.items():
        expected[memory] = VALUE[register]
    return expected


def first(count: int, granularity: str) -> str:
    return f"%m_{granularity}, %n = pto.plt_{granularity} %c{count}_i32 : i32 -> M<{granularity}>, i32"


@pytest.mark.parametrize("element, granularity, size", [("f32", "b32", 4), ("i16", "b16", 2), ("ui8", "b8", 1)])
@pytest.mark.parametrize("count", [0, 1, 13, 1000])
def test_a_plain_store_leaves_inactive_lanes_alone(element: str, granularity: str, size: int, count: int) -> None:
    expected = over({byte: byte for byte in range(min(256, count * size))})
    for dist in ("", f"NORM_B{8 * size}"):
        assert (stored(first(count, granularity), f"%m_{granularity}", dist, element) == expected).all()


def test_64_bit_elements_are_gated_by_every_eighth_bit() -> None:
    """A b32 prefix of 2n lanes enables n elements."""
    expected = over({byte: byte for byte in range(24)})
    assert (stored(first(6, "b32"), "%m_b32", element="i64") == expected).all()
    assert (stored(first(5, "b32"), "%m_b32", element="i64") == expected).all()


def test_a_narrow_dist_takes_the_bits_of_a_wide_mask_literally() -> None:
    """Of every four bits of a b32 mask one is set: NORM_B16 writes every second unit of 16 bits."""
    expected = over({byte: byte for byte in range(256) if byte % 4 < 2})
    assert (stored("", "%all_b32", "NORM_B16") == expected).all()


@pytest.mark.parametrize("size, element, granularity", [(1, "ui8", "b8"), (2, "f16", "b16"), (4, "f32", "b32")])
def test_1pt_stores_the_first_unit_whatever_the_mask_says(size: int, element: str, granularity: str) -> None:
    none = f'%m_{granularity} = pto.pset_{granularity} "PAT_ALLF" : M<{granularity}>'
    result = stored(none, f"%m_{granularity}", f"1PT_B{8 * size}", element, "1024", "%c1")
    assert (result == over({size + byte: byte for byte in range(size)})).all()


PACKED = {"PK_B16": (2, 1, "b16"), "PK_B32": (4, 2, "b32"), "PK_B64": (8, 4, "b32"), "PK4_B32": (4, 1, "b32")}
"""By dist: bytes of a unit, bytes kept of it, granularity of the mask."""


@pytest.mark.parametrize("dist", PACKED)
def test_packing_keeps_the_low_part_of_each_unit(dist: str) -> None:
    unit, kept, granularity = PACKED[dist]
    expected = over({slot * kept + byte: slot * unit + byte for slot in range(256 // unit) for byte in range(kept)})
    assert (stored("", f"%all_{granularity}", dist, "f32" if granularity == "b32" else "i16") == expected).all()


@pytest.mark.parametrize("dist", PACKED)
def test_packing_is_positional(dist: str) -> None:
    """Inactive units leave a hole. Lanes 1, 3, 5 ... are inactive; PK_B64 looks at every second lane only."""
    unit, kept, granularity = PACKED[dist]
    mask = f"""%x_{granularity} = pto.pset_{granularity} "PAT_M4" : M<{granularity}>"""
    stride = {"b16": 2, "b32": 4}[granularity]
    active = [slot for slot in range(256 // unit) if slot * unit // stride % 4 == 0]
    expected = over({slot * kept + byte: slot * unit + byte for slot in active for byte in range(kept)})
    assert (stored(mask, f"%x_{granularity}", dist, "f32" if granularity == "b32" else "i16") == expected).all()


def test_pk4_of_bytes_takes_every_fourth() -> None:
    expected = over({slot: 4 * slot for slot in range(64)})
    assert (stored("", "%all_b32", "PK4_B32", "ui8") == expected).all()


MERGED = {"MRG4CHN_B8": (1, 4, "b32"), "MRG2CHN_B8": (1, 2, "b16"), "MRG2CHN_B16": (2, 2, "b32")}
"""By dist: bytes of a unit, planes, granularity of the mask."""


def merged_source(memory: int, size: int, planes: int) -> int:
    """The register byte of a memory byte: planes lie one after the other inside each granule."""
    block, rest = divmod(memory, 32)
    unit, byte = divmod(rest, size)
    within, plane = divmod(unit, planes)
    return 32 * block + (plane * (32 // size // planes) + within) * size + byte


@pytest.mark.parametrize("dist", MERGED)
@pytest.mark.parametrize("count", [3, 1000])
def test_merging_brings_the_planes_of_a_granule_together(dist: str, count: int) -> None:
    """The mask applies after the merge: a lane enables one group."""
    size, planes, granularity = MERGED[dist]
    active = min(256, count * size * planes)
    expected = over({byte: merged_source(byte, size, planes) for byte in range(active)})
    assert (stored(first(count, granularity), f"%m_{granularity}", dist, "ui8") == expected).all()


def test_every_store_mode_is_tested() -> None:
    plain = {f"{name}_B{bits}" for name in ("NORM", "1PT") for bits in (8, 16, 32)}
    assert set(STORE_MODES) == plain | set(PACKED) | set(MERGED)


def test_vsts_without_a_mask_stores_all_lanes() -> None:
    after = ub_after(
        "%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>\npto.vsts %v, %ub1024_f32[%c0] : V<f32>, P<f32>", MEMORY
    )
    assert (after[1024:1280] == MEMORY[:256]).all()


def test_vsts_with_an_updated_pointer_stores_at_the_old_one() -> None:
    after = ub_after(
        """%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
        %next = pto.vsts %v, %ub4096_f32[%c64], %all_b32 : V<f32>, P<f32>, M<b32> -> P<f32>
        %w = pto.vlds %ub_f32[%c64] : P<f32> -> V<f32>
        pto.vsts %w, %next[%c0], %all_b32 : V<f32>, P<f32>, M<b32>""",
        MEMORY,
    )
    assert (after[4096:4608] == MEMORY[:512]).all()


def test_stores_that_overlap_happen_in_program_order() -> None:
    """Packed stores every 64 bytes: each but the last loses its upper half to the next."""
    after = ub_after(
        """scf.for %i = %c0 to %c3 step %c1 {
          %o = arith.muli %i, %c64 : index
          %v = pto.vlds %ub_f32[%o] : P<f32> -> V<f32>
          %d = arith.muli %i, %c16 : index
          pto.vsts %v, %ub4096_f32[%d], %all_b32 {dist = "PK_B64"} : V<f32>, P<f32>, M<b32>
        }""",
        MEMORY,
    )
    even = [MEMORY[start : start + 256].view(u4)[::2] for start in (0, 256, 512)]
    expected = np.concatenate((even[0][:16], even[1][:16], even[2]))
    assert (after[4096 : 4096 + 256].view(u4) == expected).all()


@pytest.mark.parametrize("size", [1, 2, 4])
def test_vstsx2_interleaves_two_registers_and_ignores_its_mask(size: int) -> None:
    assert set(DUAL_STORE_MODES) == {"INTLV_B8", "INTLV_B16", "INTLV_B32"}
    for mask in ("PAT_ALL", "PAT_ALLF"):
        after = ub_after(
            f"""%m = pto.pset_b32 "{mask}" : M<b32>
            %x = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
            %y = pto.vlds %ub_f32[%c64] : P<f32> -> V<f32>
            pto.vstsx2 %x, %y, %ub4096_f32[%c8], "INTLV_B{8 * size}", %m : V<f32>, V<f32>, P<f32>, index, M<b32>""",
            MEMORY,
        )
        pairs = np.stack((MEMORY[:256].reshape(-1, size), MEMORY[256:512].reshape(-1, size)), axis=1)
        assert (after[4128 : 4128 + 512] == pairs.reshape(-1)).all()


# --- fixed strides ----------------------------------------------------------------------------------------------------

STRIDES = {"STRIDE_S3_B16": (3, 2), "STRIDE_S4_B64": (4, 8), "STRIDE_S8_B32": (8, 4), "STRIDE_S2_B64": (2, 8)}


@pytest.mark.parametrize("stride", STRIDES)
def test_vsld_takes_every_nth_unit(stride: str) -> None:
    step, size = STRIDES[stride]
    load = f'%v = pto.vsld %ub_ui8[%c64], "{stride}" : P<ui8> -> V<ui8>'
    memory = some_bytes(4096)
    expected = memory[64:].reshape(-1, size)[::step].reshape(-1)[:256]
    assert (loaded(load, memory) == expected).all()


@pytest.mark.parametrize("stride", STRIDES)
def test_vsst_leaves_what_lies_between(stride: str) -> None:
    step, size = STRIDES[stride]
    before = some_bytes(8192)
    after = ub_after(
        f'%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>\npto.vsst %v, %ub4096_f32[%c2], "{stride}" : V<f32>, P<f32>',
        before,
    )
    expected = before.copy()
    for unit in range(256 // size):
        start = 4096 + 8 + unit * step * size
        expected[start : start + size] = before[unit * size : (unit + 1) * size]
    assert (after == expected).all()


# --- blocks -----------------------------------------------------------------------------------------------------------

BLOCKS = some_bytes(4096, seed=4)


def block(number: int) -> Bytes:
    return BLOCKS[32 * number : 32 * number + 32]


def test_vsldb_begins_one_repeat_stride_behind_the_pointer() -> None:
    load = "%v = pto.vsldb %ub_f32, %c2_i16, %c4_i16, %all_b32 : P<f32>, i16, i16, M<b32> -> V<f32>"
    expected = np.concatenate([block(number) for number in range(4, 20, 2)])
    assert (loaded(load, BLOCKS, "f32") == expected).all()


def test_vsldb_with_a_control_word_has_the_block_stride_in_the_upper_half() -> None:
    load = f"%v = pto.vsldb %ub_f32, %c{2 << 16 | 4}_i32, %all_b32 : P<f32>, i32, M<b32> -> V<f32>"
    expected = np.concatenate([block(number) for number in range(4, 20, 2)])
    assert (loaded(load, BLOCKS, "f32") == expected).all()


def test_vsldb_with_an_updated_pointer_begins_at_the_pointer() -> None:
    after = ub_after(
        """%v, %next = pto.vsldb %ub_f32, %c1_i16, %c8_i16, %all_b32 : P<f32>, i16, i16, M<b32> -> V<f32>, P<f32>
        pto.vsts %v, %ub4096_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>
        %w = pto.vlds %next[%c0] : P<f32> -> V<f32>
        pto.vsts %w, %ub4096_f32[%c64], %all_b32 : V<f32>, P<f32>, M<b32>""",
        BLOCKS,
    )
    assert (after[4096:4608] == BLOCKS[:512]).all()


def test_vsldb_loads_a_block_of_which_any_bit_is_set() -> None:
    """9 lanes of f32: all of block 0 and one lane of block 1; the others become zero and are not read."""
    load = f"""{first(9, "b32")}
      %v = pto.vsldb %ub_f32, %c65535_i16, %c0_i16, %none : P<f32>, i16, i16, M<b32> -> V<f32>"""
    one_lane = load.replace("%none", "%m_b32").replace("65535", "3")
    assert (loaded(one_lane, BLOCKS, "f32") == np.concatenate((block(0), block(3), np.zeros(192, np.uint8)))).all()
    single = load.replace("%none", "%m_b32").replace("%c9_i32", "%c1_i32")
    assert (loaded(single, BLOCKS, "f32") == np.concatenate((block(0), np.zeros(224, np.uint8)))).all()


def test_vsstb_stores_each_element_by_its_own_lane() -> None:
    before = BLOCKS.copy()
    after = ub_after(
        f"""{first(9, "b32")}
        %v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
        pto.vsstb %v, %ub2048_f32, %c2_i16, %c1_i16, %m_b32 : V<f32>, P<f32>, i16, i16, M<b32>""",
        before,
    )
    expected = before.copy()
    expected[2080:2112] = before[:32]
    expected[2144:2148] = before[32:36]
    assert (after[:4096] == expected).all()


def test_vsstb_with_a_control_word_and_vsldb_make_a_round_trip() -> None:
    control = f"%c{3 << 16 | 2}_i32"
    after = ub_after(
        f"""%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
        pto.vsstb %v, %ub2048_f32, {control}, %all_b32 : V<f32>, P<f32>, i32, M<b32>
        pto.mem_bar "VST_VLD"
        %w = pto.vsldb %ub2048_f32, {control}, %all_b32 : P<f32>, i32, M<b32> -> V<f32>
        pto.vsts %w, %ub4096_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>""",
        BLOCKS,
    )
    for number in range(8):
        start = 2048 + 64 + 96 * number
        assert (after[start : start + 32] == block(number)).all()
    assert (after[4096:4352] == BLOCKS[:256]).all()


def test_vsstb_with_an_updated_pointer() -> None:
    after = ub_after(
        """%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
        %next = pto.vsstb %v, %ub4096_f32, %c1_i16, %c8_i16, %all_b32 : V<f32>, P<f32>, i16, i16, M<b32> -> P<f32>
        pto.vsts %v, %next[%c0], %all_b32 : V<f32>, P<f32>, M<b32>""",
        BLOCKS,
    )
    assert (after[4096:4608] == np.tile(BLOCKS[:256], 2)).all()


# --- what is refused --------------------------------------------------------------------------------------------------

LIMIT = 256 * 1024


@table(
    "instruction, multiple",
    ("%v = pto.vlds %ub16_f32[%c0] : P<f32> -> V<f32>", 32),
    ("%v = pto.vlds %ub_f32[%c4] : P<f32> -> V<f32>", 32),
    ('%v = pto.vlds %ub2_f32[%c0] {dist = "BRC_B32"} : P<f32> -> V<f32>', 4),
    ('%v = pto.vlds %ub8_f32[%c0] {dist = "E2B_B16"} : P<f32> -> V<f32>', 16),
    ('%x, %y = pto.vldsx2 %ub16_f32[%c0], "BDINTLV" : P<f32>, index -> V<f32>, V<f32>', 32),
    ("%v = pto.vsldb %ub16_f32, %c1_i16, %c0_i16, %none : P<f32>, i16, i16, M<b32> -> V<f32>", 32),
    ("pto.vsstb %r, %ub16_f32, %c1_i16, %c0_i16, %none : V<f32>, P<f32>, i16, i16, M<b32>", 32),
    ("pto.vsts %r, %ub16_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>", 32),
    ('pto.vsts %r, %ub2_f32[%c0], %all_b32 {dist = "1PT_B32"} : V<f32>, P<f32>, M<b32>', 4),
)
def test_misaligned_accesses_are_errors(instruction: str, multiple: int) -> None:
    """Even where no lane is active."""
    given = """%none = pto.pset_b32 "PAT_ALLF" : M<b32>
      %r = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>"""
    found = scope_failure(f"{given}\n{instruction}")
    assert found.kind == "misaligned"
    assert found.message.endswith(f"which is not a multiple of {multiple}")


@table(
    "instruction, first_outside",
    (f"%v = pto.vlds %ub{LIMIT - 224}_f32[%c0] : P<f32> -> V<f32>", LIMIT),
    ("%v = pto.vlds %ub_f32[%cm8] : P<f32> -> V<f32>", -32),
    (f'%v = pto.vlds %ub{LIMIT - 480}_f32[%c0] {{dist = "DS_B16"}} : P<f32> -> V<f32>', LIMIT),
    (f"pto.vsts %r, %ub{LIMIT}_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>", LIMIT),
    (f"%v = pto.vsldb %ub{LIMIT - 64}_f32, %c1_i16, %c0_i16, %all_b32 : P<f32>, i16, i16, M<b32> -> V<f32>", LIMIT),
)
def test_accesses_outside_ub_are_errors(instruction: str, first_outside: int) -> None:
    found = scope_failure(f"%r = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>\n{instruction}")
    assert found.kind == "out-of-bounds"
    assert f"ub, which has {LIMIT} bytes: the first byte outside is {first_outside}" in found.message


def test_blocks_that_are_masked_off_cannot_be_out_of_bounds() -> None:
    load = f"""{first(8, "b32")}
      %v = pto.vsldb %ub{LIMIT - 32}_f32, %c1_i16, %c0_i16, %m_b32 : P<f32>, i16, i16, M<b32> -> V<f32>"""
    assert (loaded(load, b"", "f32") == 0).all()
    ub_after(f"""{first(8, "b32")}
      %r = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
      pto.vsstb %r, %ub{LIMIT - 32}_f32, %c1_i16, %c0_i16, %m_b32 : V<f32>, P<f32>, i16, i16, M<b32>""")


def test_lanes_that_are_masked_off_cannot_be_out_of_bounds() -> None:
    store = """%r = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
      pto.vsts %r, %ub262112_f32[%c0], %m_b32 : V<f32>, P<f32>, M<b32>"""
    ub_after(f"{first(8, 'b32')}\n{store}")
    ub_after(f"{first(0, 'b32')}\n{store}")
    found = scope_failure(f"{first(9, 'b32')}\n{store}")
    assert "writes bytes 262112 to 262147 of ub" in found.message


def test_a2a3_has_a_smaller_ub() -> None:
    found = scope_failure(f"%v = pto.vlds %ub{192 * 1024}_f32[%c0] : P<f32> -> V<f32>", "a2a3")
    assert f"which has {192 * 1024} bytes" in found.message
