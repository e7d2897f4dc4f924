"""How far sorting and merging reach, by hand."""

from types import SimpleNamespace

import pytest

from ptosim.effects.element import element
from ptosim.effects.record import Static
from ptosim.effects.sfu import EFFECTS


def _extents(name: str, kind: str, **operands: int) -> dict[str, tuple[int, int]]:
    static = Static(elements={"source": element(kind), "dest": element(kind)})
    return {access.base: access.extent(SimpleNamespace(**operands)) for access in EFFECTS[name].accesses(static)}


@pytest.mark.parametrize(("kind", "bytes_of_scores"), [("f16", 64), ("f32", 128)])
def test_a_sort_reads_32_scores_and_indices_and_writes_32_records_each_time(kind, bytes_of_scores):
    got = _extents("pto.vbitsort", kind, repeat=3)
    assert got == {"source": (0, 3 * bytes_of_scores), "indices": (0, 3 * 128), "dest": (0, 3 * 256)}


def _merged(*lengths: int, config: int) -> dict[str, tuple[int, int]]:
    count = sum(length << (16 * number) for number, length in enumerate(lengths))
    return _extents("pto.vmrgsort4", "f32", count=count, config=config)


def test_a_merge_reads_the_lists_that_are_valid():
    got = _merged(5, 6, 7, 65535, config=0x0501)
    assert got == {"source0": (0, 40), "source1": (0, 0), "source2": (0, 56), "source3": (0, 0), "dest": (0, 96)}


def test_a_repeated_merge_goes_on_behind_all_four_lists():
    got = _merged(2, 2, 2, 2, config=0x0F03)
    assert got["source0"] == got["source3"] == (0, 8 * (2 * 8 + 2))
    assert got["dest"] == (0, 8 * 3 * 8)


def test_a_merge_that_is_not_repeated_at_all_touches_nothing():
    assert set(_merged(2, 2, 2, 2, config=0x0F00).values()) == {(0, 0)}
