"""Unaligned streams against a byte-by-byte model of a buffer that is written when a granule is full."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ptosim.effects.element import element
from ptosim.effects.record import Static
from ptosim.effects.vector_stream import EFFECTS, EMPTY, StoreStream, append, continues, primed_granule


class Granules:
    """Bytes are held until they fill the granule they are in."""

    def __init__(self) -> None:
        self.memory: set[int] = set()
        self.held: list[int] = []

    def store(self, address: int) -> None:
        self.held.append(address)
        if (address + 1) % 32 == 0:
            self.memory |= set(self.held)
            self.held = []


@given(st.integers(0, 4096), st.lists(st.integers(0, 256), max_size=8))
def test_a_stream_writes_full_granules_and_holds_the_rest(start: int, lengths: list[int]):
    granules, stream, address = Granules(), EMPTY, start
    memory: set[int] = set()
    for length in lengths:
        assert continues(stream, address)
        low, high, stream = append(stream, address, length)
        memory |= set(range(low, high))
        for byte in range(address, address + length):
            granules.store(byte)
        address += length
        assert memory == granules.memory
        assert set(range(stream.start, stream.end)) == set(granules.held)
        assert stream.end == address or stream.pending == 0
        assert 0 <= stream.pending < 32
    assert memory | set(range(stream.start, stream.end)) == set(range(start, address))


def test_three_elements_stay_pending():
    low, high, stream = append(EMPTY, 64, 12)
    assert low == high
    assert stream == StoreStream(64, 12)


def test_a_store_completes_the_granule_before_it():
    low, high, stream = append(StoreStream(100, 20), 120, 16)
    assert (low, high) == (100, 128)
    assert stream == StoreStream(128, 8)


def test_a_gap_is_noticed():
    assert not continues(StoreStream(64, 12), 80)
    assert continues(StoreStream(64, 12), 76)
    assert continues(StoreStream(64, 0), 80)


def test_arrays_of_streams_are_streams():
    starts, pending, lengths = np.array([64, 100, 0]), np.array([0, 20, 0]), np.array([12, 16, 256])
    addresses = starts + pending
    low, high, stream = append(StoreStream(starts, pending), addresses, lengths)
    for index in range(3):
        one = append(StoreStream(int(starts[index]), int(pending[index])), int(addresses[index]), int(lengths[index]))
        assert (low[index], high[index], stream.start[index], stream.pending[index]) == (*one[:2], *one.stream)


def test_a_load_stream_remembers_a_granule():
    assert [primed_granule(address) for address in (0, 4, 31, 32, 100)] == [0, 0, 0, 32, 96]


# --- records ----------------------------------------------------------------------------------------------------------


def extent(name: str, *present: str, operands: dict[str, object], **elements: str) -> tuple[str, int, tuple[int, int]]:
    static = Static(elements={role: element(type_) for role, type_ in elements.items()}, present=frozenset(present))
    (only,) = EFFECTS[f"pto.{name}"].accesses(static)
    return only.base, only.alignment, only.extent(SimpleNamespace(**operands))


def test_unaligned_loads_are_aligned_to_elements():
    assert extent("vldus", "source", "align", operands={}, source="f32") == ("source", 4, (0, 256))
    assert extent("uvld", "source", "offset", operands={"offset": 3}, source="f16") == ("source", 2, (6, 262))


def test_priming_touches_nothing_by_itself():
    assert EFFECTS["pto.vldas"].accesses(Static()) == ()
    assert EFFECTS["pto.init_align"].accesses(Static()) == ()


def test_the_offset_of_vstus_is_its_length():
    assert extent("vstus", "dest", operands={"offset": 3}, dest="f32") == ("dest", 1, (0, 12))


def test_vstu_stores_a_register_at_its_base_or_behind_its_pointer():
    assert extent("vstu", "base", "dest", operands={}, base="f32", dest="f32") == ("base", 1, (0, 256))
    assert extent("vstu", "dest", "offset", operands={"offset": 3}, dest="f32") == ("dest", 1, (12, 268))


def test_vstur_stores_what_was_squeezed_behind_ar():
    assert extent("vstur", "dest", operands={"AR": 40, "SQZN": 32}, dest="f32") == ("dest", 1, (40, 72))
    assert EFFECTS["pto.vstur"].reads == ("AR", "SQZN")
    assert EFFECTS["pto.vstur"].writes == ("AR",)


def test_a_flush_writes_what_is_pending():
    operands = {"align": StoreStream(128, 8), "dest": 100, "offset": 9}
    for name in ("vstas", "vsta", "vstar"):
        assert extent(name, "align", "dest", operands=operands, dest="f32") == ("dest", 1, (28, 36))
