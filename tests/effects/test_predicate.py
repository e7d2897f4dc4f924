"""Where loads, stores and streams of predicates go: images are in tests/reference."""

from types import SimpleNamespace

import pytest

from ptosim.effects.predicate import (
    EFFECTS,
)
from ptosim.effects.record import Static
from tables import table

# --- movements --------------------------------------------------------------------------------------------------------


# --- memory -----------------------------------------------------------------------------------------------------------


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
