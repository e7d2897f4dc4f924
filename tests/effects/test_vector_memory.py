"""Dist and stride modes against the definition of each, written with NumPy reshapes; extents of the accesses."""

from types import SimpleNamespace

import numpy as np
import pytest

from ptosim.effects.element import element
from ptosim.effects.names import Space
from ptosim.effects.record import Access, Static
from ptosim.effects.vector_memory import (
    ALWAYS,
    DUAL_LOAD_MODES,
    DUAL_STORE_MODES,
    EFFECTS,
    LOAD_MODES,
    NOTHING,
    STORE_MODES,
    STRIDED_LOAD_MODES,
    STRIDED_STORE_MODES,
    LoadMode,
    StoreMode,
    block_offsets,
    demand,
    load_mode,
    store_mode,
)
from tables import table

RANDOM = np.random.default_rng(4)
MEMORY = RANDOM.integers(1, 256, 4096, dtype=np.uint8)  # no zero, so that zeros are made by the mode
LOW = RANDOM.integers(1, 256, 256, dtype=np.uint8)
HIGH = RANDOM.integers(1, 256, 256, dtype=np.uint8)


def units(size: int, data: np.ndarray = MEMORY) -> np.ndarray:
    """Rows of `size` bytes."""
    return data.reshape(-1, size)


def loaded(mode: LoadMode, register: int = 0) -> np.ndarray:
    table = np.array(mode.tables[register])
    return np.where(table == NOTHING, 0, MEMORY[table])


# --- loads ------------------------------------------------------------------------------------------------------------

# name, bytes read, alignment, expected register
LOADS = [
    ("NORM", 256, 32, MEMORY[:256]),
    ("BRC_B8", 1, 1, np.tile(MEMORY[:1], 256)),
    ("BRC_B16", 2, 2, np.tile(MEMORY[:2], 128)),
    ("BRC_B32", 4, 4, np.tile(MEMORY[:4], 64)),
    ("US_B8", 128, 32, np.repeat(units(1)[:128], 2, axis=0)),
    ("US_B16", 128, 32, np.repeat(units(2)[:64], 2, axis=0)),
    ("DS_B8", 512, 32, units(1)[:512:2]),
    ("DS_B16", 512, 32, units(2)[:256:2]),
    ("UNPK_B8", 128, 32, MEMORY[:128].astype(np.uint16).view(np.uint8)),
    ("UNPK_B16", 128, 32, MEMORY[:128].view(np.uint16).astype(np.uint32).view(np.uint8)),
    ("UNPK_B32", 128, 32, MEMORY[:128].view(np.uint32).astype(np.uint64).view(np.uint8)),
    ("BRC_BLK", 32, 32, np.tile(MEMORY[:32], 8)),
    ("E2B_B16", 16, 16, np.repeat(MEMORY[:16].view(np.uint16), 16).view(np.uint8)),
    ("E2B_B32", 32, 32, np.repeat(MEMORY[:32].view(np.uint32), 8).view(np.uint8)),
    ("UNPK4", 64, 32, MEMORY[:64].astype(np.uint32).view(np.uint8)),
    ("SPLT4CHN", 1024, 32, MEMORY[:1024].reshape(256, 4)[:, 0]),
    ("SPLT2CHN_B8", 512, 32, MEMORY[:512].reshape(256, 2)[:, 0]),
    ("SPLT2CHN_B16", 512, 32, MEMORY[:512].reshape(128, 2, 2)[:, 0]),
    ("DINTLV_B32", 512, 32, MEMORY[:512].reshape(64, 2, 4)[:, 0]),
]


@pytest.mark.parametrize("name, footprint, alignment, expected", LOADS, ids=[row[0] for row in LOADS])
def test_a_load_distributes(name: str, footprint: int, alignment: int, expected: np.ndarray):
    mode = LOAD_MODES[name]
    assert (mode.name, mode.footprint, mode.alignment) == (name, footprint, alignment)
    assert len(mode.tables) == 1 and len(mode.tables[0]) == 256
    assert loaded(mode).tolist() == expected.ravel().tolist()
    assert max(mode.tables[0]) < footprint


def test_every_load_mode_is_defined_here():
    assert set(LOAD_MODES) == {row[0] for row in LOADS}
    assert load_mode(None) is LOAD_MODES["NORM"]
    unsupported = {name for name, mode in LOAD_MODES.items() if not mode.on_hardware}
    assert unsupported == {"SPLT4CHN", "SPLT2CHN_B8", "SPLT2CHN_B16"}


@pytest.mark.parametrize("name, size", [("BDINTLV", 32), ("DINTLV_B8", 1), ("DINTLV_B16", 2), ("DINTLV_B32", 4)])
def test_a_dual_load_takes_units_in_turn(name: str, size: int):
    mode = DUAL_LOAD_MODES[name]
    pairs = MEMORY[:512].reshape(-1, 2, size)
    assert (mode.footprint, mode.alignment, len(mode.tables)) == (512, 32, 2)
    assert loaded(mode, 0).tolist() == pairs[:, 0].ravel().tolist()
    assert loaded(mode, 1).tolist() == pairs[:, 1].ravel().tolist()
    assert len(DUAL_LOAD_MODES) == 4


# --- stores -----------------------------------------------------------------------------------------------------------


def stored(mode: StoreMode) -> np.ndarray:
    registers = np.concatenate([LOW, HIGH])
    return registers[np.array(mode.source)]


def merged(planes: int, size: int) -> np.ndarray:
    """Inside each granule: planes one after the other become units side by side."""
    return LOW.reshape(8, planes, -1, size).swapaxes(1, 2)


# name, bytes, alignment, what is written, the predicate bit of each stored unit (None: always), mask, stored unit bytes
STORES = [
    ("NORM_B8", 256, 32, LOW, range(256), None, 1),
    ("NORM_B16", 256, 32, LOW, range(0, 256, 2), None, 2),
    ("NORM_B32", 256, 32, LOW, range(0, 256, 4), None, 4),
    ("1PT_B8", 1, 1, LOW[:1], None, None, 1),
    ("1PT_B16", 2, 2, LOW[:2], None, None, 2),
    ("1PT_B32", 4, 4, LOW[:4], None, None, 4),
    ("PK_B16", 128, 32, LOW.view(np.uint16).astype(np.uint8), range(0, 256, 2), "b16", 1),
    ("PK_B32", 128, 32, LOW.view(np.uint32).astype(np.uint16).view(np.uint8), range(0, 256, 4), "b32", 2),
    ("PK_B64", 128, 32, LOW.view(np.uint64).astype(np.uint32).view(np.uint8), range(0, 256, 8), "b32", 4),
    ("PK4_B32", 64, 32, LOW.view(np.uint32).astype(np.uint8), range(0, 256, 4), "b32", 1),
    ("MRG4CHN_B8", 256, 32, merged(4, 1), range(0, 256, 4), "b32", 4),
    ("MRG2CHN_B8", 256, 32, merged(2, 1), range(0, 256, 2), "b16", 2),
    ("MRG2CHN_B16", 256, 32, merged(2, 2), range(0, 256, 4), "b32", 4),
]


@pytest.mark.parametrize(
    "name, footprint, alignment, expected, bits, mask, size", STORES, ids=[row[0] for row in STORES]
)
def test_a_store_collects(
    name: str, footprint: int, alignment: int, expected: np.ndarray, bits: range | None, mask: str | None, size: int
):
    mode = STORE_MODES[name]
    assert (mode.name, mode.footprint, mode.alignment, mode.granularity) == (name, footprint, alignment, mask)
    assert stored(mode).tolist() == expected.ravel().tolist()
    gates = [bit for bit in bits for _ in range(size)] if bits is not None else [ALWAYS] * footprint
    assert list(mode.gate) == gates


def test_every_store_mode_is_defined_here():
    assert set(STORE_MODES) == {row[0] for row in STORES}
    unsupported = {name for name, mode in STORE_MODES.items() if not mode.on_hardware}
    assert unsupported == {"MRG4CHN_B8", "MRG2CHN_B8", "MRG2CHN_B16"}


@pytest.mark.parametrize("name, size", [("INTLV_B8", 1), ("INTLV_B16", 2), ("INTLV_B32", 4)])
def test_a_dual_store_puts_units_in_turn_whatever_the_mask(name: str, size: int):
    mode = DUAL_STORE_MODES[name]
    expected = np.stack([units(size, LOW), units(size, HIGH)], axis=1)
    assert (mode.footprint, mode.alignment, mode.granularity) == (512, 32, None)
    assert stored(mode).tolist() == expected.ravel().tolist()
    assert set(mode.gate) == {ALWAYS}
    assert len(DUAL_STORE_MODES) == 3


@pytest.mark.parametrize("name, stride", [("i8", 1), ("f16", 2), ("f32", 4), ("i64", 8)])
def test_a_plain_store_is_gated_by_the_first_bit_of_each_element(name: str, stride: int):
    mode = store_mode(None, element(name))
    assert list(mode.gate) == [bit for bit in range(0, 256, stride) for _ in range(stride)]
    assert mode.source == tuple(range(256))


def test_interleaving_undoes_deinterleaving():
    for size in ("B8", "B16", "B32"):
        tables = np.concatenate([np.array(table) for table in DUAL_LOAD_MODES[f"DINTLV_{size}"].tables])
        assert tables[np.array(DUAL_STORE_MODES[f"INTLV_{size}"].source)].tolist() == list(range(512))


# --- fixed strides ----------------------------------------------------------------------------------------------------


@table(
    "name, stride, size, footprint",
    ("STRIDE_S3_B16", 3, 2, 764),
    ("STRIDE_S4_B64", 4, 8, 1000),
    ("STRIDE_S8_B32", 8, 4, 2020),
    ("STRIDE_S2_B64", 2, 8, 504),
)
def test_a_fixed_stride_takes_every_nth_unit(name: str, stride: int, size: int, footprint: int):
    load, store = STRIDED_LOAD_MODES[name], STRIDED_STORE_MODES[name]
    count = 256 // size
    assert load.footprint == store.footprint == footprint
    assert load.alignment == store.alignment == size
    assert loaded(load).tolist() == units(size)[::stride][:count].ravel().tolist()
    after = np.zeros((count * stride, size), np.uint8)
    after[::stride] = units(size, LOW)
    source = np.array(store.source)
    assert np.where(source == NOTHING, 0, LOW[source]).tolist() == after.ravel()[:footprint].tolist()
    assert set(store.gate) == {ALWAYS}
    assert set(STRIDED_LOAD_MODES) == set(STRIDED_STORE_MODES) and len(STRIDED_LOAD_MODES) == 4


# --- records ----------------------------------------------------------------------------------------------------------


def access(name: str, *present: str, words: dict[str, str] | None = None, **elements: str) -> Access:
    described = {role: element(type_) for role, type_ in elements.items()}
    static = Static(words=words or {}, elements=described, present=frozenset(present))
    (only,) = EFFECTS[f"pto.{name}"].accesses(static)
    assert only.space is Space.UB
    return only


def test_an_offset_counts_elements_of_the_pointer():
    load = access("vlds", "source", "offset", source="f16", result="f32")
    assert load.extent(SimpleNamespace(offset=64)) == (128, 384)
    assert load.extent(SimpleNamespace(offset=-16)) == (-32, 224)
    assert (load.direction, load.base, load.alignment, load.touch, load.mask) == ("read", "source", 32, "used", None)
    store = access("vsts", "value", "dest", "offset", "mask", value="f32", dest="f32")
    assert store.extent(SimpleNamespace(offset=64)) == (256, 512)
    assert (store.direction, store.base, store.touch, store.mask) == ("write", "dest", "active", "mask")


def test_an_updated_base_is_accessed_where_it_is():
    load = access("vlds", "source", "offset", "next", source="f32", result="f32")
    assert load.extent(SimpleNamespace(offset=64)) == (0, 256)
    pair = access("vldsx2", "source", "offset", "next", words={"dist": "BDINTLV"}, source="f32")
    assert pair.extent(SimpleNamespace(offset=128)) == (0, 512)
    store = access("vsts", "dest", "offset", "mask", "next", value="f32", dest="f32")
    assert store.extent(SimpleNamespace(offset=64)) == (0, 256)


def test_the_mode_is_the_map_of_the_access():
    broadcast = access("vlds", "source", "offset", words={"dist": "BRC_B16"}, source="f32", result="f32")
    assert broadcast.map is LOAD_MODES["BRC_B16"]
    assert broadcast.alignment == 2
    assert broadcast.extent(SimpleNamespace(offset=3)) == (12, 14)
    packed = access("vsts", "dest", "offset", "mask", words={"dist": "PK_B32"}, value="f32", dest="f16")
    assert packed.map is STORE_MODES["PK_B32"]
    assert packed.extent(SimpleNamespace(offset=16)) == (32, 160)
    strided = access("vsld", "source", "offset", words={"stride": "STRIDE_S8_B32"}, source="f32")
    assert strided.extent(SimpleNamespace(offset=2)) == (8, 2028)
    assert access("vsst", "dest", "offset", words={"stride": "STRIDE_S2_B64"}, dest="f32").map.footprint == 504


def test_a_mask_without_a_say_does_not_gate():
    one = access("vsts", "dest", "offset", "mask", words={"dist": "1PT_B32"}, value="f32", dest="f32")
    assert (one.touch, one.mask, one.alignment) == ("always", None, 4)
    assert access("vstsx2", "dest", "offset", "mask", words={"dist": "INTLV_B8"}, dest="f32").touch == "always"
    assert access("vsts", "dest", "offset", value="f32", dest="f32").touch == "always"


def strides(*present: str) -> Static:
    return Static(present=frozenset(present))


def test_block_strides_count_blocks():
    operands = SimpleNamespace(block_stride=2, repeat_stride=4)
    assert block_offsets(operands, strides()) == tuple(32 * block for block in (4, 6, 8, 10, 12, 14, 16, 18))
    after = SimpleNamespace(block_stride=1, repeat_stride=8)
    assert block_offsets(after, strides("next")) == tuple(range(0, 256, 32))
    packed = SimpleNamespace(control=2 << 16 | 4)
    assert block_offsets(packed, strides("control")) == block_offsets(operands, strides())


def test_block_strides_have_no_sign():
    operands = SimpleNamespace(block_stride=-1, repeat_stride=-2)
    assert block_offsets(operands, strides())[:2] == (0xFFFE * 32, 0xFFFE * 32 + 0xFFFF * 32)
    packed = SimpleNamespace(control=-65536 | 5)
    assert block_offsets(packed, strides("control"))[:2] == (5 * 32, 5 * 32 + 0xFFFF * 32)


def test_block_strides_reach_from_the_first_block_to_the_last():
    for name, base in (("vsldb", "source"), ("vsstb", "dest")):
        block = access(name, base, "block_stride", "repeat_stride", "mask", **{base: "f32"})
        assert block.extent(SimpleNamespace(block_stride=2, repeat_stride=4)) == (128, 608)
        assert (block.base, block.alignment, block.touch, block.mask) == (base, 32, "active", "mask")
        largest = block.extent(SimpleNamespace(block_stride=0xFFFF, repeat_stride=0xFFFF))[1]
        assert largest == 0xFFFF * 32 * 8 + 32 < 1 << 48


def test_extents_of_arrays_are_those_of_their_elements():
    load = access("vlds", "source", "offset", source="f32", result="f32")
    offsets = np.array([0, 8, -8, 4096], np.int64)
    low, high = load.extent(SimpleNamespace(offset=offsets))
    assert [*zip(low.tolist(), high.tolist(), strict=True)] == [
        load.extent(SimpleNamespace(offset=offset)) for offset in offsets.tolist()
    ]
    block = access("vsldb", "source", "mask", source="f32")
    stride = np.array([0, 1, 2, 65535, -1], np.int64)
    low, high = block.extent(SimpleNamespace(block_stride=stride, repeat_stride=stride[::-1]))
    assert [*zip(low.tolist(), high.tolist(), strict=True)] == [
        block.extent(SimpleNamespace(block_stride=one, repeat_stride=other))
        for one, other in zip(stride.tolist(), stride[::-1].tolist(), strict=True)
    ]


# --- demand -----------------------------------------------------------------------------------------------------------


@table(
    "mode, width, unit, lanes",
    ("NORM", 4, 4, [(lane,) for lane in range(64)]),
    ("NORM", 8, 8, [(lane,) for lane in range(32)]),
    ("BRC_B32", 4, 4, [tuple(range(64))]),
    ("BRC_B32", 2, 2, [tuple(range(0, 128, 2)), tuple(range(1, 128, 2))]),
    ("US_B16", 2, 2, [(2 * lane, 2 * lane + 1) for lane in range(64)]),
    ("DS_B16", 2, 2, [(unit // 2,) if unit % 2 == 0 else () for unit in range(256)]),
    ("UNPK_B16", 2, 2, [(2 * unit,) for unit in range(64)]),
    ("UNPK_B16", 4, 2, [(unit,) for unit in range(64)]),
    ("E2B_B32", 4, 4, [tuple(range(8 * unit, 8 * unit + 8)) for unit in range(8)]),
)
def test_which_lanes_call_for_each_unit_of_memory(mode: str, width: int, unit: int, lanes: list[tuple[int, ...]]):
    found = demand(LOAD_MODES[mode], width)
    assert (found.unit, list(found.lanes)) == (unit, lanes)
    assert found.is_whole == all(lanes)


def test_both_registers_of_a_pair_call_for_memory():
    assert demand(DUAL_LOAD_MODES["DINTLV_B32"], 4).lanes == tuple((unit // 2,) for unit in range(128))


@pytest.mark.parametrize(("present", "expected"), [((), ("used", None)), (("mask",), ("active", "mask"))])
def test_a_load_that_names_its_lanes_touches_only_those(present: tuple[str, ...], expected: tuple[str, str | None]):
    static = Static(elements={"source": element("f32"), "result": element("f32")}, present=frozenset(present))
    (access,) = EFFECTS["pto.vlds"].accesses(static)
    assert (access.touch, access.mask) == expected
