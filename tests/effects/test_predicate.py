"""Bit tables of predicates against published images and against slices of bit lists."""

from types import SimpleNamespace

import numpy as np
import pytest

from ptosim.effects.element import Granularity
from ptosim.effects.predicate import (
    DEINTERLEAVE,
    EFFECTS,
    INTERLEAVE,
    LOAD_MODES,
    PACK,
    PATTERNS,
    STORE_MODES,
    STREAM_BITS,
    STRIDES,
    UNPACK,
    pattern_lanes,
    stream_bytes,
)
from ptosim.effects.record import Static
from tables import table

RANDOM = np.random.default_rng(5)
ONE, OTHER = RANDOM.integers(0, 2, (2, 256))
BOTH = np.concatenate([ONE, OTHER])


def image(pattern: str, granularity: Granularity) -> list[int]:
    """The predicate as eight little-endian 32-bit words; only the lowest bit of a lane is set."""
    bits = np.zeros(256, np.uint8)
    bits[:: STRIDES[granularity]] = pattern_lanes(pattern, granularity)
    return np.packbits(bits, bitorder="little").view("<u4").tolist()


def words(*values: int) -> list[int]:
    return [*values, *[0] * (8 - len(values))]


def moved(table: tuple[int, ...], bits: np.ndarray) -> list[int]:
    return [0 if source < 0 else int(bits[source]) for source in table]


# --- patterns ---------------------------------------------------------------------------------------------------------

IMAGES = [
    ("PAT_ALL", [0xFFFFFFFF] * 8, [0x55555555] * 8, [0x11111111] * 8),
    ("PAT_VL1", words(1), words(1), words(1)),
    ("PAT_VL2", words(3), words(5), words(0x11)),
    ("PAT_VL3", words(7), words(0x15), words(0x111)),
    ("PAT_VL4", words(0xF), words(0x55), words(0x1111)),
    ("PAT_VL8", words(0xFF), words(0x5555), words(0x11111111)),
    ("PAT_VL16", words(0xFFFF), words(0x55555555), words(*[0x11111111] * 2)),
    ("PAT_VL32", words(0xFFFFFFFF), words(*[0x55555555] * 2), words(*[0x11111111] * 4)),
    ("PAT_VL64", words(*[0xFFFFFFFF] * 2), words(*[0x55555555] * 4), [0x11111111] * 8),
    ("PAT_VL128", words(*[0xFFFFFFFF] * 4), [0x55555555] * 8, [0x11111111] * 8),
    ("PAT_M4", [0x11111111] * 8, [0x01010101] * 8, [0x00010001] * 8),
    ("PAT_H", words(*[0xFFFFFFFF] * 4), words(*[0x55555555] * 4), words(*[0x11111111] * 4)),
    ("PAT_Q", words(*[0xFFFFFFFF] * 2), words(*[0x55555555] * 2), words(*[0x11111111] * 2)),
    ("PAT_ALLF", words(), words(), words()),
]


@pytest.mark.parametrize("pattern, b8, b16, b32", IMAGES, ids=[row[0] for row in IMAGES])
def test_patterns(pattern: str, b8: list[int], b16: list[int], b32: list[int]):
    assert image(pattern, "b8") == b8
    assert image(pattern, "b16") == b16
    assert image(pattern, "b32") == b32


def test_every_third_lane():
    assert image("PAT_M3", "b8") == [
        *(0x49249249, 0x92492492, 0x24924924, 0x49249249, 0x92492492, 0x24924924, 0x49249249, 0x92492492)
    ]
    for granularity, lanes in (("b16", 128), ("b32", 64)):
        active = pattern_lanes("PAT_M3", granularity)
        assert [lane for lane, is_active in enumerate(active) if is_active] == list(range(0, lanes, 3))
    assert set(PATTERNS) == {"PAT_M3", *(row[0] for row in IMAGES)}


# --- movements --------------------------------------------------------------------------------------------------------


def test_packing_keeps_every_second_bit():
    zeros = [0] * 128
    assert moved(PACK["LOWER"], ONE) == [*ONE[::2], *zeros]
    assert moved(PACK["HIGHER"], ONE) == [*zeros, *ONE[::2]]


def test_unpacking_puts_zeros_between():
    for part, half in (("LOWER", ONE[:128]), ("HIGHER", ONE[128:])):
        expected = np.zeros(256, int)
        expected[::2] = half
        assert moved(UNPACK[part], ONE) == expected.tolist()


@pytest.mark.parametrize("granularity, stride", STRIDES.items())
def test_interleaving_moves_whole_lanes(granularity: Granularity, stride: int):
    pairs = np.stack([ONE.reshape(-1, stride), OTHER.reshape(-1, stride)], axis=1).ravel()
    low, high = INTERLEAVE[granularity]
    assert moved(low, BOTH) == pairs[:256].tolist()
    assert moved(high, BOTH) == pairs[256:].tolist()
    lanes = BOTH.reshape(-1, stride)
    low, high = DEINTERLEAVE[granularity]
    assert moved(low, BOTH) == lanes[::2].ravel().tolist()
    assert moved(high, BOTH) == lanes[1::2].ravel().tolist()


def bits_of(pattern: str, granularity: Granularity) -> np.ndarray:
    return np.unpackbits(np.array(image(pattern, granularity), "<u4").view(np.uint8), bitorder="little")


PUBLISHED = [
    (DEINTERLEAVE, "b8", words(0x0F, 0, 0, 0, *[0x55555555] * 4), words(0x0F)),
    (DEINTERLEAVE, "b16", words(0x55, 0, 0, 0, *[0x11111111] * 4), words(0x55)),
    (DEINTERLEAVE, "b32", words(0x1111, 0, 0, 0, *[0x01010101] * 4), words(0x1111)),
    (INTERLEAVE, "b8", [0x02025757, *[0x02020202] * 7], [0x02020202] * 8),
    (INTERLEAVE, "b16", [0x11151115, *[0x00040004] * 7], [0x00040004] * 8),
    (INTERLEAVE, "b32", [0x01010111] * 2 + [0x00000010] * 6, [0x00000010] * 8),
]


@pytest.mark.parametrize("tables, granularity, low, high", PUBLISHED)
def test_published_results_of_interleaving_vl8_and_m4(
    tables: dict[Granularity, tuple[tuple[int, ...], tuple[int, ...]]],
    granularity: Granularity,
    low: list[int],
    high: list[int],
):
    both = np.concatenate([bits_of("PAT_VL8", granularity), bits_of("PAT_M4", granularity)])
    for each, expected in zip(tables[granularity], (low, high), strict=True):
        packed = np.packbits(np.array(moved(each, both), np.uint8), bitorder="little")
        assert packed.view("<u4").tolist() == expected


# --- memory -----------------------------------------------------------------------------------------------------------


def test_predicate_loads():
    memory = RANDOM.integers(0, 2, 512)
    expected = {"NORM": memory[:256], "US": np.repeat(memory[:128], 2), "DS": memory[::2]}
    sizes = {"NORM": (32, 32), "US": (16, 16), "DS": (64, 32)}
    assert set(LOAD_MODES) == set(expected)
    for name, mode in LOAD_MODES.items():
        assert moved(mode.bits, memory) == expected[name].tolist()
        assert (mode.footprint, mode.unit) == sizes[name]


def test_predicate_stores():
    assert set(STORE_MODES) == {"NORM", "PK"}
    assert moved(STORE_MODES["NORM"].bits, ONE) == ONE.tolist()
    assert moved(STORE_MODES["PK"].bits, ONE) == ONE[::2].tolist()
    assert (STORE_MODES["NORM"].footprint, STORE_MODES["NORM"].unit) == (32, 32)
    assert (STORE_MODES["PK"].footprint, STORE_MODES["PK"].unit) == (16, 16)


def test_a_stream_of_masks_has_one_bit_per_lane():
    assert moved(STREAM_BITS["b16"], ONE) == ONE[::2].tolist()
    assert moved(STREAM_BITS["b32"], ONE) == ONE[::4].tolist()
    assert (stream_bytes("b16"), stream_bytes("b32")) == (16, 8)
    assert "b8" not in STREAM_BITS


@table(
    "name, dist, offset, expected, alignment",
    ("plds", "NORM", 32, (32, 64), 32),
    ("plds", "DS", 32, (32, 96), 32),
    ("plds", "US", 16, (16, 32), 16),
    ("pldi", "NORM", 8, (256, 288), 32),
    ("pldi", "US", 8, (128, 144), 16),
    ("pldi", "DS", 1, (32, 96), 32),
    ("psts", "NORM", 32, (32, 64), 32),
    ("psts", "PK", 48, (48, 64), 16),
    ("psti", "PK", 8, (128, 144), 16),
    ("psti", "NORM", -1, (-32, 0), 32),
)
def test_offsets_count_bytes_or_units(name: str, dist: str, offset: int, expected: tuple[int, int], alignment: int):
    effects = EFFECTS[f"pto.{name}"]
    operands = SimpleNamespace(offset=offset)
    (plain,) = effects.accesses(Static({"dist": dist}))
    assert plain.extent(operands) == expected
    assert plain.alignment == alignment
    (updated,) = effects.accesses(Static({"dist": dist}, present=frozenset({"next"})))
    assert updated.extent(operands) == (0, expected[1] - expected[0])
    is_load = name.startswith("pld")
    assert (plain.direction, plain.base) == (("read", "source") if is_load else ("write", "dest"))


@pytest.mark.parametrize("stride, size", [(2, 16), (4, 8)])
def test_a_mask_stream_grows_by_its_lanes(stride: int, size: int):
    (store,) = EFFECTS["pto.pstu"].accesses(Static(mask_strides={"value": stride}))
    assert (store.base, store.extent(SimpleNamespace())) == ("dest", (0, size))
