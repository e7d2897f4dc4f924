"""Addresses, what is said of bad ones; launch geometry; the layout of the words."""

import pytest

from machine.stage import A2A3, A5, run
from ptosim.effects.names import CoreKind, Space
from ptosim.machine.core import Core
from ptosim.machine.launch import CorePlace, KernelKind, LaunchGeometry
from ptosim.machine.memory import (
    Region,
    Regions,
    argument_number,
    decode,
    misaligned,
    pointer,
    window_number,
)
from ptosim.machine.sync import (
    BUFFER_IDS,
    CORE_WORDS,
    DONE,
    EVENT_IDS,
    ISSUED,
    OPEN,
    SLOT,
    SLOW,
    buffer_word,
    flag_word,
    zero_words,
)
from tables import table

KIB = 1024


@table(
    "space, a5, a2a3",
    (Space.UB, 256 * KIB, 192 * KIB),
    (Space.L1, 512 * KIB, 512 * KIB),
    (Space.L0A, 64 * KIB, 64 * KIB),
    (Space.L0B, 64 * KIB, 64 * KIB),
    (Space.L0C, 256 * KIB, 128 * KIB),
    (Space.BT, 4 * KIB, 1 * KIB),
)
def test_sizes(space: Space, a5: int, a2a3: int) -> None:
    assert A5.memory[space] == a5
    assert A2A3.memory[space] == a2a3


@pytest.mark.parametrize(("argument", "offset"), [(0, 0), (0, 4095), (3, 1 << 40), (2, -4), (0, -1)])
def test_pointers(argument: int, offset: int) -> None:
    assert decode(pointer(argument, offset)) == (argument, offset)


def test_pointer_bits() -> None:
    assert pointer(0) == 1 << 48
    assert pointer(1, 20) == (2 << 48) | 20
    assert decode(0) == (-1, 0)


@pytest.fixture(name="core")
def a_core() -> Core:
    cores: list[Core] = []

    def program(core: Core) -> None:
        core.loops[:] = [3, 1]
        cores.append(core)

    run(program, blocks=2)
    return cores[1]


ARGUMENTS = Regions({0: Region(0, "x", 4096), 1: Region(1, "out", 100)})


@table(
    "argument, start, stop, message",
    (
        0,
        4064,
        4128,
        "reads bytes 4064 to 4127 of argument 0 (%x), which has 4096 bytes: the first byte outside is 4096",
    ),
    (
        0,
        5000,
        5032,
        "reads bytes 5000 to 5031 of argument 0 (%x), which has 4096 bytes: the first byte outside is 5000",
    ),
    (1, -4, 28, "reads bytes -4 to 27 of argument 1 (%out), which has 100 bytes: the first byte outside is -4"),
    (5, 0, 32, "reads 32 bytes of GM through a pointer that comes from no argument"),
)
def test_gm_bounds(argument: int, start: int, stop: int, message: str) -> None:
    said, extent = ARGUMENTS.stray("reads", pointer(argument, start), stop - start)
    assert said == message
    assert extent == (None if argument == 5 else (start, stop))


RANKS = {
    **{argument_number(0, rank): Region(0, "x", 64, rank) for rank in (0, 1)},
    **{argument_number(1, rank): Region(1, "y", 64, rank) for rank in (0, 1)},
    **{window_number(0, rank): Region(0, "recv", 128, rank, is_window=True) for rank in (0, 1)},
}


def test_a_peers_window_is_one_number_further_and_an_argument_of_a_peer_is_private() -> None:
    distance = pointer(window_number(0, 1)) - pointer(window_number(0, 0))
    assert distance == 1 << 48
    mine = Regions(RANKS, 0)
    assert mine.find(decode(pointer(window_number(0, 0), 8) + distance)[0]) is RANKS[window_number(0, 1)]
    assert mine.find(decode(pointer(argument_number(0, 0)) + distance)[0]) is None
    said, extent = mine.stray("writes", pointer(argument_number(0, 0), 8) + distance, 4)
    assert said == (
        "writes bytes 8 to 11 of argument 0 (%x) of rank 1, which is private to that rank: "
        "rank 0 reaches its own arguments and the windows of all ranks"
    )
    assert extent == (8, 12)


def test_a_window_has_no_more_ranks_than_there_are() -> None:
    said, extent = Regions(RANKS, 0).stray("reads", pointer(window_number(0, 5), 4), 4)
    assert said == ("reads bytes 4 to 7 of window 0 (%recv) of rank 5, and there is no such rank: ranks are 0 to 1")
    assert extent == (4, 8)
    said, _ = Regions(RANKS, 0).stray("reads", pointer(window_number(0, 1), 126), 4)
    assert said == (
        "reads bytes 126 to 129 of window 0 (%recv) of rank 1, which has 128 bytes: the first byte outside is 128"
    )


def test_misalignment() -> None:
    assert misaligned("writes", Space.UB, 48, 32) == "writes ub at 48, which is not a multiple of 32"
    assert misaligned("reads", Space.GM, 6, 4) == "reads gm at 6, which is not a multiple of 4"


@table(
    "kind, expected",  # name, kind, block idx, block num, subblock idx, subblock num
    (KernelKind.VECTOR, [("b1.aiv0", CoreKind.AIV, 1, 4, 0, 1)]),
    (KernelKind.CUBE, [("b1.aic", CoreKind.AIC, 1, 4, 0, 1)]),
    (
        KernelKind.MIXED,
        [
            ("b1.aic", CoreKind.AIC, 1, 4, 0, 1),
            ("b1.aiv0", CoreKind.AIV, 1, 4, 0, 2),
            ("b1.aiv1", CoreKind.AIV, 1, 4, 1, 2),
        ],
    ),
)
def test_launch_geometry(kind: KernelKind, expected: list[tuple[object, ...]]) -> None:
    def answers(place: CorePlace | Core) -> tuple[object, ...]:
        return place.name, place.kind, place.block, place.block_num, place.subblock, place.subblock_num

    assert [answers(place) for place in LaunchGeometry(kind, 4).places(1)] == expected
    seen: list[tuple[object, ...]] = []
    run(lambda core: seen.append(answers(core)) if core.block == 1 else None, kind=kind, blocks=4)
    assert seen == expected


def test_words_do_not_overlap() -> None:
    flags = [flag_word(src, dst, event) for src in SLOT for dst in SLOT for event in range(EVENT_IDS)]
    buffers = [
        buffer_word(table, pipe, buffer)
        for table in (ISSUED, DONE, OPEN)
        for pipe in SLOT
        for buffer in range(BUFFER_IDS)
    ]
    used = [SLOW, *flags, *buffers]
    assert len(set(used)) == len(used) and min(used) >= 0 and max(used) < CORE_WORDS
    assert len(zero_words(CORE_WORDS)) == CORE_WORDS


def test_the_words_of_a_core_stay_where_they_are() -> None:
    addresses: set[int] = set()
    run(lambda core: addresses.add(core.words.buffer_info()[0]), blocks=5)
    assert len(addresses) == 1
