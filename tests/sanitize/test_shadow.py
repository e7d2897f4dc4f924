"""The shadow of a memory against one that simply has a stamp for every byte, and hulls against all accesses."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ptosim.effects.names import Pipe
from ptosim.machine.entry import Entry, EntryKind, Site
from ptosim.sanitize.access_hull import Hulls
from ptosim.sanitize.shadow import CLEAN, UNDEFINED, MemoryShadow, OnChipTrack
from ptosim.sanitize.window import WindowPart

SIZE = 1024


def a_track() -> OnChipTrack:
    core: Any = SimpleNamespace(role="aiv0", index=0)
    return OnChipTrack(SIZE, "write", Entry(Site("pto.vsts"), Pipe.V, core, EntryKind.WORK))


@pytest.mark.parametrize("seed", range(40))
def test_granules_and_bytes_hold_the_same_stamps(seed: int) -> None:
    chosen = random.Random(seed)
    track, plain = a_track(), np.zeros(SIZE, np.int64)
    for stamp in range(1, 30):
        unit = chosen.choice((1, 4, 32))
        count, width = chosen.choice((1, 1, 3)), chosen.randrange(1, 128 // unit) * unit
        stride = chosen.randrange(1, 8) * 32
        start = chosen.randrange(0, (SIZE - width - (count - 1) * stride) // unit) * unit
        found = WindowPart(range(start, start + count * stride, stride), width).window()
        addresses = found.addresses()
        if chosen.random() < 0.5:
            assert track.table.of(found).tolist() == plain[addresses].tolist()
        else:
            track.put(found, stamp)
            plain[addresses] = stamp
    every = WindowPart(0, SIZE).window()
    assert track.table.of(every).tolist() == plain.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_taint_by_granules_is_taint_by_bytes(seed: int) -> None:
    chosen = random.Random(seed)
    memory, plain = MemoryShadow("ub", SIZE), np.zeros(SIZE, np.uint8)
    memory.begin(UNDEFINED)
    plain[:] = UNDEFINED
    for number in range(2, 40):
        count, width = chosen.choice((1, 1, 1, 3)), chosen.randrange(1, 100)
        stride = chosen.randrange(4, 8) * 32
        start = chosen.randrange(SIZE - width - (count - 1) * stride)
        found = WindowPart(range(start, start + count * stride, stride), width).window()
        mixed = np.array([chosen.choice((CLEAN, number)) for _ in range(count * width)], np.uint8)
        stored, taint = chosen.choice(((CLEAN, None), (CLEAN, None), (number, number), (mixed, mixed)))
        memory.set_taint(found, taint)
        plain[found.addresses()] = stored
        assert memory.taint.tolist() == plain.tolist()
        assert list(memory.dirty) == plain.reshape(-1, 32).any(axis=1).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_hulls_miss_no_access(seed: int) -> None:
    chosen = random.Random(seed)
    hulls, accesses = Hulls(SIZE), list[tuple[int, int, int]]()
    for stamp in range(1, 12):
        for _ in range(chosen.randrange(3)):
            low = chosen.randrange(SIZE - 64)
            accesses.append((stamp, low, low + chosen.randrange(1, 64)))
            hulls.of(stamp).widen(*accesses[-1][1:])
    for limit in range(1, 13):
        low = chosen.randrange(SIZE - 64)
        high = low + 32
        meeting = [stamp for stamp, first, last in accesses if first < high and low < last]
        assert hulls.meets(limit, low, high) or not any(stamp >= limit for stamp in meeting)
        assert hulls.meets_earlier(limit, low, high) or not any(stamp < limit for stamp in meeting)


def test_hulls_tell_the_latest_entries_apart() -> None:
    hulls = Hulls(SIZE)
    for stamp in (1, 2):
        hulls.of(stamp).widen(64 * stamp, 64 * stamp + 64)
    assert hulls.meets(2, 128, 160) and not hulls.meets(2, 64, 128)
    assert hulls.meets_earlier(2, 100, 101) and not hulls.meets_earlier(2, 128, 192)
