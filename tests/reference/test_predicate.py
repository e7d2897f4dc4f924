"""Predicates: images of every pattern and instruction as 32-bit words, the way psts stores them."""

import numpy as np
import pytest

from ptosim.effects.predicate import PATTERNS
from small_kernels import SIZE, lints, misuses, module, scope, scope_failure, some_bytes, ub_after
from tables import table

Words = list[int]
"""The image of a mask: 8 little-endian words, lane 0 in the lowest bit."""

STRIDES = {"b8": 1, "b16": 2, "b32": 4}
ALL = {"b8": 0xFFFFFFFF, "b16": 0x55555555, "b32": 0x11111111}


def words(*parts: int | tuple[int, int]) -> Words:
    """Words, given as they are or as (word, times), filled up with zeros."""
    listed = [word for part in parts for word in ([part] if isinstance(part, int) else [part[0]] * part[1])]
    return listed + [0] * (8 - len(listed))


def of_lanes(active: list[bool], granularity: str) -> Words:
    bits = np.zeros(256, np.uint8)
    bits[:: STRIDES[granularity]] = active
    return np.packbits(bits, bitorder="little").view(np.uint32).tolist()


def prefix(count: int, granularity: str) -> Words:
    lanes = 256 // STRIDES[granularity]
    return of_lanes([lane < count for lane in range(lanes)], granularity)


def image(body: str, granularity: str, mask: str = "%m", before: object = b"") -> Words:
    """The image of a mask that the body defines."""
    store = f'pto.psts {mask}, %ub4096_ui8[%c0], "NORM" : M<{granularity}>, P<ui8>, index'
    return ub_after(f"{body}\n{store}", before)[4096:4128].view(np.uint32).tolist()


def images(body: str, granularity: str) -> tuple[Words, Words]:
    """The images of two masks, %lo and %hi."""
    store = f"""pto.psts %lo, %ub4096_ui8[%c0], "NORM" : M<{granularity}>, P<ui8>, index
      pto.psts %hi, %ub4096_ui8[%c32], "NORM" : M<{granularity}>, P<ui8>, index"""
    stored = ub_after(f"{body}\n{store}")[4096:4160].view(np.uint32).tolist()
    return stored[:8], stored[8:]


# --- generation -------------------------------------------------------------------------------------------------------

# Written down from the table of patterns: b8, b16, b32.
PATTERN_IMAGES: dict[str, tuple[Words, Words, Words]] = {
    "PAT_ALL": (words((ALL["b8"], 8)), words((ALL["b16"], 8)), words((ALL["b32"], 8))),
    "PAT_VL1": (words(1), words(1), words(1)),
    "PAT_VL2": (words(0x3), words(0x5), words(0x11)),
    "PAT_VL3": (words(0x7), words(0x15), words(0x111)),
    "PAT_VL4": (words(0xF), words(0x55), words(0x1111)),
    "PAT_VL8": (words(0xFF), words(0x5555), words(0x11111111)),
    "PAT_VL16": (words(0xFFFF), words(0x55555555), words((0x11111111, 2))),
    "PAT_VL32": (words(0xFFFFFFFF), words((0x55555555, 2)), words((0x11111111, 4))),
    "PAT_VL64": (words((0xFFFFFFFF, 2)), words((0x55555555, 4)), words((0x11111111, 8))),
    "PAT_VL128": (words((0xFFFFFFFF, 4)), words((0x55555555, 8)), words((0x11111111, 8))),
    "PAT_M3": (
        words(*(0x49249249, 0x92492492, 0x24924924) * 2, 0x49249249, 0x92492492),
        of_lanes([lane % 3 == 0 for lane in range(128)], "b16"),
        of_lanes([lane % 3 == 0 for lane in range(64)], "b32"),
    ),
    "PAT_M4": (words((0x11111111, 8)), words((0x01010101, 8)), words((0x00010001, 8))),
    "PAT_H": (words((0xFFFFFFFF, 4)), words((0x55555555, 4)), words((0x11111111, 4))),
    "PAT_Q": (words((0xFFFFFFFF, 2)), words((0x55555555, 2)), words((0x11111111, 2))),
    "PAT_ALLF": (words(), words(), words()),
}


def test_every_pattern_has_an_expected_image() -> None:
    assert set(PATTERN_IMAGES) == set(PATTERNS)


@pytest.mark.parametrize("granularity", STRIDES)
@pytest.mark.parametrize("pattern", PATTERN_IMAGES)
def test_pset_and_pge(pattern: str, granularity: str) -> None:
    expected = PATTERN_IMAGES[pattern][list(STRIDES).index(granularity)]
    for instruction in ("pset", "pge"):
        assert image(f'%m = pto.{instruction}_{granularity} "{pattern}" : M<{granularity}>', granularity) == expected


@pytest.mark.parametrize("granularity", STRIDES)
@pytest.mark.parametrize("count", [0, 1, 3, 7, 13, 63, 64, 65, 143, 145, 175, 256, 1000])
def test_plt_gives_a_prefix_and_what_remains(granularity: str, count: int) -> None:
    lanes = 256 // STRIDES[granularity]
    after = ub_after(
        f"""%m, %n = pto.plt_{granularity} %c{count}_i32 : i32 -> M<{granularity}>, i32
        pto.psts %m, %ub4096_ui8[%c0], "NORM" : M<{granularity}>, P<ui8>, index
        pto.store_scalar %n, %ub5120_i32[%c0] : P<i32>, i32"""
    )
    assert after[4096:4128].view(np.uint32).tolist() == prefix(count, granularity)
    assert after[5120:5124].view(np.int32).tolist() == [max(0, count - lanes)]


def test_plt_reads_its_count_without_sign() -> None:
    body = """%m, %n = pto.plt_b32 %cm1_i32 : i32 -> M<b32>, i32
      pto.psts %m, %ub4096_ui8[%c0], "NORM" : M<b32>, P<ui8>, index
      pto.store_scalar %n, %ub5120_i32[%c0] : P<i32>, i32"""
    after = ub_after(body)
    assert after[4096:4128].view(np.uint32).tolist() == words((ALL["b32"], 8))
    assert after[5120:5124].view(np.int32).tolist() == [-65]
    assert lints(module("", scope(body))) == ["the count -1 is read without sign, so every lane is active"]


@pytest.mark.parametrize("granularity", STRIDES)
@pytest.mark.parametrize("loop, bound, active", [(0, 13, 13), (1, 13, 0), (1, 300, None), (2, 100000, 1000)])
def test_pltm_compares_with_the_place_in_the_whole_loop(
    granularity: str, loop: int, bound: int, active: int | None
) -> None:
    lanes = 256 // STRIDES[granularity]
    count = max(0, bound - loop * lanes) if active is None else active
    body = f"%m = pto.pltm_{granularity} %c{loop}_i16, %c{bound}_i32 : i16, i32 -> M<{granularity}>"
    assert image(body, granularity) == prefix(count, granularity)


# --- algebra ----------------------------------------------------------------------------------------------------------

X_AND_Y = """%x, %nx = pto.plt_b32 %c13_i32 : i32 -> M<b32>, i32
  %y, %ny = pto.plt_b32 %c7_i32 : i32 -> M<b32>, i32"""
TYPES = "M<b32>, M<b32>, M<b32> -> M<b32>"

ALGEBRA = [
    (f"%m = pto.pand %x, %y, %all_b32 : {TYPES}", words(0x01111111)),
    (f"%m = pto.por %x, %y, %all_b32 : {TYPES}", words(0x11111111, 0x00011111)),
    (f"%m = pto.pxor %x, %y, %all_b32 : {TYPES}", words(0x10000000, 0x00011111)),
    ("%m = pto.pnot %x, %all_b32 : M<b32>, M<b32> -> M<b32>", words(0, 0x11100000, (0x11111111, 6))),
    (f"%m = pto.psel %all_b32, %x, %x : {TYPES}", words(0x11111111, 0x00011111)),
    (f"%m = pto.psel %x, %all_b32, %x : {TYPES}", words((0x11111111, 8))),
    # the governing mask clears
    (f"%m = pto.pand %all_b32, %x, %y : {TYPES}", words(0x01111111)),
    (f"%m = pto.por %all_b32, %x, %y : {TYPES}", words(0x01111111)),
    (f"%m = pto.pxor %all_b32, %y, %x : {TYPES}", words(0x10000000, 0x00011111)),
    ("%m = pto.pnot %y, %x : M<b32>, M<b32> -> M<b32>", words(0x10000000, 0x00011111)),
]


@pytest.mark.parametrize("instruction, expected", ALGEBRA, ids=[text for text, _ in ALGEBRA])
def test_algebra(instruction: str, expected: Words) -> None:
    assert image(f"{X_AND_Y}\n{instruction}", "b32") == expected


def test_algebra_works_on_all_bits() -> None:
    """Bits between those that decide come from a load, and take part like the others."""
    raw = some_bytes(96)
    given = """%x = pto.plds %ub_ui8[%c0], "NORM" : P<ui8>, index -> M<b32>
      %y = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<b32>
      %g = pto.plds %ub_ui8[%c64], "NORM" : P<ui8>, index -> M<b32>"""
    x, y, g = (raw[start : start + 32].view(np.uint32) for start in (0, 32, 64))
    for instruction, expected in (
        (f"%m = pto.pand %x, %y, %g : {TYPES}", x & y & g),
        (f"%m = pto.por %x, %y, %g : {TYPES}", (x | y) & g),
        (f"%m = pto.pxor %x, %y, %g : {TYPES}", (x ^ y) & g),
        ("%m = pto.pnot %x, %g : M<b32>, M<b32> -> M<b32>", ~x & g),
        (f"%m = pto.psel %x, %y, %g : {TYPES}", (x & g) | (y & ~g)),
    ):
        assert image(f"{given}\n{instruction}", "b32", before=raw) == expected.tolist()


# --- rearrangement ----------------------------------------------------------------------------------------------------


def test_ppack_and_punpack() -> None:
    packed = '%m = pto.ppack %all_b32, "LOWER" : M<b32> -> M<b16>'
    assert image(packed, "b16") == words((0x55555555, 4))
    assert image('%m = pto.ppack %all_b32, "HIGHER" : M<b32> -> M<b16>', "b16") == [0] * 4 + [0x55555555] * 4
    back = f'{packed.replace("%m", "%h")}\n%m = pto.punpack %h, "LOWER" : M<b16> -> M<b32>'
    assert image(back, "b32") == words((0x11111111, 8))
    assert image(back.replace('%h, "LOWER"', '%h, "HIGHER"'), "b32") == words()


def test_ppack_and_punpack_of_every_fourth_lane() -> None:
    fourth = '%f = pto.pset_b32 "PAT_M4" : M<b32>\n%h = pto.ppack %f, "LOWER" : M<b32> -> M<b16>'
    assert image(fourth, "b16", "%h") == words((0x01010101, 4))
    assert image(f'{fourth}\n%m = pto.punpack %h, "LOWER" : M<b16> -> M<b32>', "b32") == words((0x00010001, 8))


@pytest.mark.parametrize("part", ["LOWER", "HIGHER"])
def test_packing_takes_every_second_bit_of_any_image(part: str) -> None:
    raw = some_bytes(32)
    bits = np.unpackbits(raw, bitorder="little")
    given = '%x = pto.plds %ub_ui8[%c0], "NORM" : P<ui8>, index -> M<b8>'
    start = 0 if part == "LOWER" else 128
    packed, unpacked = np.zeros(256, np.uint8), np.zeros(256, np.uint8)
    packed[start : start + 128] = bits[::2]
    unpacked[::2] = bits[start : start + 128]
    for instruction, expected in (("ppack", packed), ("punpack", unpacked)):
        found = image(f'{given}\n%m = pto.{instruction} %x, "{part}" : M<b8> -> M<b8>', "b8", before=raw)
        assert found == np.packbits(expected, bitorder="little").view(np.uint32).tolist()


INTERLEAVED = [
    ("pdintlv_b8", "ALL", words((0xFFFFFFFF, 4)), words((0xFFFFFFFF, 4))),
    ("pdintlv_b16", "ALL", words((0x55555555, 4)), words((0x55555555, 4))),
    ("pdintlv_b32", "ALL", words((0x11111111, 4)), words((0x11111111, 4))),
    ("pdintlv_b8", "VL8", words(0xF, 0, 0, 0, (0x55555555, 4)), words(0xF)),
    ("pdintlv_b16", "VL8", words(0x55, 0, 0, 0, (0x11111111, 4)), words(0x55)),
    ("pdintlv_b32", "VL8", words(0x1111, 0, 0, 0, (0x01010101, 4)), words(0x1111)),
    ("pintlv_b8", "ALL", words((0x55555555, 8)), words((0x55555555, 8))),
    ("pintlv_b16", "ALL", words((0x11111111, 8)), words((0x11111111, 8))),
    ("pintlv_b32", "ALL", words((0x01010101, 8)), words((0x01010101, 8))),
    ("pintlv_b8", "VL8", words(0x02025757, (0x02020202, 7)), words((0x02020202, 8))),
    ("pintlv_b16", "VL8", words(0x11151115, (0x00040004, 7)), words((0x00040004, 8))),
    ("pintlv_b32", "VL8", words((0x01010111, 2), (0x00000010, 6)), words((0x00000010, 8))),
]


@pytest.mark.parametrize("instruction, first, low, high", INTERLEAVED)
def test_interleaving_two_masks(instruction: str, first: str, low: Words, high: Words) -> None:
    """ALL with none, and the first eight lanes with every fourth."""
    granularity = instruction.rpartition("_")[2]
    mask = f"M<{granularity}>"
    second = "PAT_ALLF" if first == "ALL" else "PAT_M4"
    body = f"""%a = pto.pset_{granularity} "PAT_{first}" : {mask}
      %b = pto.pset_{granularity} "{second}" : {mask}
      %lo, %hi = pto.{instruction} %a, %b : {mask}, {mask} -> {mask}, {mask}"""
    assert images(body, granularity) == (low, high)


def test_interleaving_moves_whole_groups_of_bits() -> None:
    raw = some_bytes(64)
    nibbles = np.stack((raw & 15, raw >> 4), axis=1).reshape(-1)  # one b32 lane each
    body = """%a = pto.plds %ub_ui8[%c0], "NORM" : P<ui8>, index -> M<b32>
      %b = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<b32>
      %lo, %hi = pto.pintlv_b32 %a, %b : M<b32>, M<b32> -> M<b32>, M<b32>
      pto.psts %lo, %ub4096_ui8[%c0], "NORM" : M<b32>, P<ui8>, index
      pto.psts %hi, %ub4096_ui8[%c32], "NORM" : M<b32>, P<ui8>, index"""
    stored = ub_after(body, raw)[4096:4160]
    found = np.stack((stored & 15, stored >> 4), axis=1).reshape(-1)
    assert (found == np.stack((nibbles[:64], nibbles[64:]), axis=1).reshape(-1)).all()


def test_pbitcast_keeps_the_image() -> None:
    body = """%x, %n = pto.plt_b16 %c7_i32 : i32 -> M<b16>, i32
      %m = pto.pbitcast %x : M<b16> -> M<b32>"""
    assert image(body, "b32") == words(0x1555)


def test_a_b16_mask_seen_as_b32_has_its_even_lanes() -> None:
    after = ub_after(
        """%x, %n = pto.plt_b16 %c7_i32 : i32 -> M<b16>, i32
        %m = pto.pbitcast %x : M<b16> -> M<b32>
        %v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
        pto.vsts %v, %ub4096_f32[%c0], %m : V<f32>, P<f32>, M<b32>""",
        np.arange(1, 65, dtype=np.float32),
    )
    assert after[4096:4352].view(np.float32).tolist() == [1, 2, 3, 4] + [0] * 60


def test_a_packed_bitmap_becomes_two_select_masks() -> None:
    """128 bits in memory: US, bitcast, interleave with all ones, bitcast. b32 lane i is bit i, then bit 64 + i."""
    raw = some_bytes(16)
    bits = np.unpackbits(raw, bitorder="little")
    after = ub_after(
        """%m8 = pto.plds %ub_ui8[%c0], "US" : P<ui8>, index -> M<b8>
        %m16 = pto.pbitcast %m8 : M<b8> -> M<b16>
        %lo16, %hi16 = pto.pintlv_b16 %m16, %all_b16 : M<b16>, M<b16> -> M<b16>, M<b16>
        %lo = pto.pbitcast %lo16 : M<b16> -> M<b32>
        %hi = pto.pbitcast %hi16 : M<b16> -> M<b32>
        %v = pto.vlds %ub512_f32[%c0] : P<f32> -> V<f32>
        pto.vsts %v, %ub4096_f32[%c0], %lo : V<f32>, P<f32>, M<b32>
        pto.vsts %v, %ub4352_f32[%c0], %hi : V<f32>, P<f32>, M<b32>""",
        np.concatenate((raw, np.zeros(496, np.uint8), np.ones(64, np.float32).view(np.uint8))),
    )
    assert (after[4096:4608].view(np.float32) == bits).all()


def test_two_compare_results_become_packed_bits() -> None:
    """Two b32 masks, deinterleaved as b8 and packed: 128 bits, one for each lane."""
    body = """%m0, %n0 = pto.plt_b32 %c13_i32 : i32 -> M<b32>, i32
      %m1, %n1 = pto.plt_b32 %c7_i32 : i32 -> M<b32>, i32
      %b0 = pto.pbitcast %m0 : M<b32> -> M<b8>
      %b1 = pto.pbitcast %m1 : M<b32> -> M<b8>
      %lo, %hi = pto.pdintlv_b8 %b0, %b1 : M<b8>, M<b8> -> M<b8>, M<b8>
      pto.psts %lo, %ub4096_ui8[%c0], "PK" : M<b8>, P<ui8>, index"""
    assert ub_after(body)[4096:4112].view(np.uint32).tolist() == [0x1FFF, 0, 0x7F, 0]


# --- load and store ---------------------------------------------------------------------------------------------------

RAW = some_bytes(256, seed=11)


def test_norm_loads_and_stores_an_image_as_it_is() -> None:
    assert image('%m = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<b16>', "b16", before=RAW) == (
        RAW[32:64].view(np.uint32).tolist()
    )


def test_us_doubles_every_bit_and_pk_takes_every_second() -> None:
    body = """%m = pto.plds %ub_ui8[%c16], "US" : P<ui8>, index -> M<b8>
      pto.psts %m, %ub4096_ui8[%c0], "NORM" : M<b8>, P<ui8>, index
      pto.psts %m, %ub4096_ui8[%c48], "PK" : M<b8>, P<ui8>, index"""
    after = ub_after(body, RAW)
    doubled = np.repeat(np.unpackbits(RAW[16:32], bitorder="little"), 2)
    assert (after[4096:4128] == np.packbits(doubled, bitorder="little")).all()
    assert (after[4144:4160] == RAW[16:32]).all()
    assert (after[4160:4176] == 0).all()


def test_ds_drops_every_second_bit() -> None:
    bits = np.unpackbits(RAW[32:96], bitorder="little")[::2]
    assert image('%m = pto.plds %ub_ui8[%c32], "DS" : P<ui8>, index -> M<b8>', "b8", before=RAW) == (
        np.packbits(bits, bitorder="little").view(np.uint32).tolist()
    )


def test_prefixes_through_memory() -> None:
    """PK of 145 bits has 73 ones; US of that 146; DS of 143 ones has 72."""
    body = """%m, %n = pto.plt_b8 %c145_i32 : i32 -> M<b8>, i32
      pto.psts %m, %ub_ui8[%c0], "PK" : M<b8>, P<ui8>, index
      %u = pto.plds %ub_ui8[%c0], "US" : P<ui8>, index -> M<b8>
      pto.psts %u, %ub4096_ui8[%c0], "NORM" : M<b8>, P<ui8>, index
      %k, %o = pto.plt_b8 %c143_i32 : i32 -> M<b8>, i32
      pto.psts %k, %ub_ui8[%c64], "NORM" : M<b8>, P<ui8>, index
      %d = pto.plds %ub_ui8[%c64], "DS" : P<ui8>, index -> M<b8>
      pto.psts %d, %ub4096_ui8[%c32], "NORM" : M<b8>, P<ui8>, index"""
    after = ub_after(body)
    assert after[:16].tolist() == [255] * 9 + [1] + [0] * 6
    assert after[4096:4128].view(np.uint32).tolist() == prefix(146, "b8")
    assert after[4128:4160].view(np.uint32).tolist() == prefix(72, "b8")


@pytest.mark.parametrize("store, load, unit", [("PK", "US", 16), ("NORM", "DS", 32), ("NORM", "NORM", 32)])
def test_immediate_forms_count_units_of_the_dist(store: str, load: str, unit: int) -> None:
    body = f"""%m = pto.pset_b8 "PAT_M3" : M<b8>
      pto.psti %m, %ub_f32[%c8], "{store}" : M<b8>, P<f32>, index
      %x = pto.pldi %ub_f32[%c8], "{load}" : P<f32>, index -> M<b8>
      pto.psts %x, %ub4096_ui8[%c0], "NORM" : M<b8>, P<ui8>, index"""
    after = ub_after(body)
    stored = np.arange(256) % 3 == 0
    written = stored[::2] if store == "PK" else stored
    assert (np.unpackbits(after[8 * unit :][: len(written) // 8], bitorder="little") == written).all()
    expected = {"US": np.repeat(written, 2), "NORM": written, "DS": np.append(written[::2], np.zeros(128, bool))}[load]
    assert (np.unpackbits(after[4096:4128], bitorder="little") == expected).all()


def test_updated_pointers_access_at_the_old_one() -> None:
    body = """%m, %p = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<b8>, P<ui8>
      %q = pto.psts %m, %ub4096_ui8[%c64], "NORM" : M<b8>, P<ui8>, index -> P<ui8>
      %k, %p2 = pto.pldi %p[%c1], "US" : P<ui8>, index -> M<b8>, P<ui8>
      %q2 = pto.psti %k, %q[%c2], "PK" : M<b8>, P<ui8>, index -> P<ui8>
      %j = pto.plds %p2[%c0], "US" : P<ui8>, index -> M<b8>
      pto.psts %j, %q2[%c0], "PK" : M<b8>, P<ui8>, index"""
    after = ub_after(body, RAW)
    assert (after[4096:4128] == RAW[:32]).all()
    assert (after[4160:4176] == RAW[32:48]).all()  # at q; then 2 units of 16 bytes further
    assert (after[4192:4208] == RAW[48:64]).all()


@table(
    "instruction, multiple",
    ('%m = pto.plds %ub_ui8[%c16], "NORM" : P<ui8>, index -> M<b8>', 32),
    ('%m = pto.plds %ub_ui8[%c8], "US" : P<ui8>, index -> M<b8>', 16),
    ('%m = pto.plds %ub_ui8[%c16], "DS" : P<ui8>, index -> M<b8>', 32),
    ('pto.psts %all_b8, %ub_ui8[%c8], "PK" : M<b8>, P<ui8>, index', 16),
    ('pto.psts %all_b8, %ub_ui8[%c16], "NORM" : M<b8>, P<ui8>, index', 32),
)
def test_masks_lie_at_multiples_of_their_unit(instruction: str, multiple: int) -> None:
    found = scope_failure(instruction)
    assert found.kind == "misaligned"
    assert found.message.endswith(f"not a multiple of {multiple}")


# --- streams ----------------------------------------------------------------------------------------------------------


def streamed(granularity: str, counts: tuple[int, int], width: int, rounds: int = 1) -> bytes:
    mask, pointer = f"M<{granularity}>", f"P<ui{width}>"
    steps = "".join(
        f"""%m{step}, %n{step} = pto.plt_{granularity} %c{count}_i32 : i32 -> {mask}, i32
        %a{step}, %p{step} = pto.pstu %{"al" if step == 0 else "a0"}, %m{step}, %{"p" if step == 0 else "p0"}
          : A, {mask}, {pointer} -> A, {pointer}
        """
        for step, count in enumerate(counts)
    )
    body = f"""%a = pto.init_align : !pto.align
      %e:2 = scf.for %i = %c0 to %c{rounds} step %c1 iter_args(%al = %a, %p = %ub4096_ui{width})
          -> (!pto.align, {pointer}) {{
        {steps}
        scf.yield %a1, %p1 : !pto.align, {pointer}
      }}
      pto.vstas %e#0, %e#1, %c0_i32 : A, {pointer}, i32"""
    assert lints(module("", scope(body))) == []
    return ub_after(body, np.full(SIZE, 0xEE, np.uint8))[4096:4136].tobytes()


def test_pstu_stores_one_bit_for_each_lane() -> None:
    once = np.array([0x1FFF, 0, 0x7F, 0], np.uint32).tobytes()
    assert streamed("b32", (13, 7), 32) == once + b"\xee" * 24
    assert streamed("b32", (13, 7), 32, rounds=2) == once * 2 + b"\xee" * 8
    assert streamed("b16", (1, 127), 16) == b"\x01" + bytes(15) + b"\xff" * 15 + b"\x7f" + b"\xee" * 8


def test_pstu_holds_incomplete_granules_back() -> None:
    body = """%a = pto.init_align : !pto.align
      %a1, %p1 = pto.pstu %a, %all_b32, %ub4096_ui32 : A, M<b32>, P<ui32> -> A, P<ui32>
      %a2, %p2 = pto.pstu %a1, %all_b32, %p1 : A, M<b32>, P<ui32> -> A, P<ui32>"""
    assert (ub_after(body)[4096:4160] == 0).all()
    (message,) = misuses(module("", scope(body)))
    assert message.startswith("a lost tail: 16 bytes")
