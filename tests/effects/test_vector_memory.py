"""Alignments of the modes, which lanes call for which bytes, and offsets: values are in tests/reference."""

from types import SimpleNamespace

import numpy as np
import pytest

from ptosim.effects.element import element
from ptosim.effects.names import Space
from ptosim.effects.record import Access, Static
from ptosim.effects.vector_memory import (
    DUAL_LOAD_MODES,
    DUAL_STORE_MODES,
    EFFECTS,
    LOAD_MODES,
    STORE_MODES,
    STRIDED_LOAD_MODES,
    block_offsets,
    demand,
)
from tables import table

# --- loads ------------------------------------------------------------------------------------------------------------

# name, bytes read, alignment, expected register


# --- stores -----------------------------------------------------------------------------------------------------------


# name, bytes, alignment, what is written, the predicate bit of each stored unit (None: always), mask, stored unit bytes


# --- records ----------------------------------------------------------------------------------------------------------


def test_alignments_and_what_hardware_lacks():
    modes = [*LOAD_MODES.items(), *STORE_MODES.items()]
    loose = {name: mode.alignment for name, mode in modes if mode.alignment != 32}
    units = {"B8": 1, "B16": 2, "B32": 4}
    assert loose == {f"{word}_{unit}": size for word in ("BRC", "1PT") for unit, size in units.items()} | {
        "E2B_B16": 16
    }
    lacking = {name for name, mode in modes if not mode.on_hardware}
    assert lacking == {"SPLT4CHN", "SPLT2CHN_B8", "SPLT2CHN_B16", "MRG4CHN_B8", "MRG2CHN_B8", "MRG2CHN_B16"}
    assert {mode.alignment for mode in (*DUAL_LOAD_MODES.values(), *DUAL_STORE_MODES.values())} == {32}
    assert {name: mode.alignment for name, mode in STRIDED_LOAD_MODES.items()} == {
        "STRIDE_S3_B16": 2, "STRIDE_S4_B64": 8, "STRIDE_S8_B32": 4, "STRIDE_S2_B64": 8
    }  # fmt: skip


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
