"""Addresses of gathers and scatters."""

from types import SimpleNamespace

import numpy as np
import pytest

from ptosim.effects.element import element
from ptosim.effects.record import Access, Static
from ptosim.effects.vector_gather import EFFECTS, SCATTER_SOURCE


def access(name: str, offsets: str, *present: str, **pointer: str) -> Access:
    elements = {role: element(type_) for role, type_ in {"offsets": offsets, **pointer}.items()}
    static = Static(elements=elements, present=frozenset({"offsets", *pointer, *present}))
    (only,) = EFFECTS[f"pto.{name}"].accesses(static)
    return only


@pytest.mark.parametrize("name", ["vgather2", "vgather2_bc"])
def test_a_lane_is_so_many_elements_from_the_pointer(name: str):
    gather = access(name, "ui32", "mask", source="f32")
    assert gather.extent(SimpleNamespace(offsets=5)) == (20, 24)
    assert (gather.direction, gather.base, gather.alignment, gather.touch, gather.mask) == (
        *("read", "source", 4, "active"),
        "mask",
    )


def test_bytes_are_gathered_one_by_one():
    gather = access("vgather2", "i16", "mask", source="ui8")
    assert gather.extent(SimpleNamespace(offsets=300)) == (300, 301)
    assert gather.alignment == 1


def test_offsets_have_no_sign():
    assert access("vgather2", "i16", source="f16").extent(SimpleNamespace(offsets=-1)) == (131070, 131072)
    assert access("vgather2", "i32", source="f32").extent(SimpleNamespace(offsets=-1)) == (
        0xFFFFFFFF * 4,
        0xFFFFFFFF * 4 + 4,
    )
    assert access("vgatherb", "i32", source="f32").extent(SimpleNamespace(offsets=-32)) == (0xFFFFFFE0, 0x100000000)


def test_all_lanes_at_once():
    scatter = access("vscatter", "i16", "active_lanes", value="f16", dest="f16")
    low, high = scatter.extent(SimpleNamespace(offsets=np.array([3, -1, 0], np.int64)))
    assert low.tolist() == [6, 131070, 0]
    assert high.tolist() == [8, 131072, 2]
    assert (scatter.direction, scatter.base, scatter.touch, scatter.mask) == ("write", "dest", "active", None)


def test_a_block_is_so_many_bytes_from_the_pointer():
    gather = access("vgatherb", "ui32", "mask", source="f16")
    assert gather.extent(SimpleNamespace(offsets=96)) == (96, 128)
    assert gather.alignment == 32


def test_a_scatter_of_bytes_takes_every_second_one():
    assert SCATTER_SOURCE[1] == tuple(2 * lane for lane in range(128))
    assert SCATTER_SOURCE[2] == tuple(2 * lane for lane in range(128))
    assert SCATTER_SOURCE[4] == tuple(4 * lane for lane in range(64))
