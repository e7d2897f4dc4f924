"""Addresses, what is said of bad ones; launch geometry; the layout of the words."""

import pytest

from machine.stage import A2A3, A5, MTE2, MTE3, V, at, run
from ptosim.effects.names import CoreKind, Space
from ptosim.machine.core import Core
from ptosim.machine.launch import KernelKind, Launch, Place
from ptosim.machine.memory import (
    Argument,
    decode,
    gm_out_of_bounds,
    misaligned,
    on_chip_out_of_bounds,
    pointer,
    space_size,
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

KIB = 1024


@pytest.mark.parametrize(
    ("space", "a5", "a2a3"),
    [
        (Space.UB, 256 * KIB, 192 * KIB),
        (Space.L1, 512 * KIB, 512 * KIB),
        (Space.L0A, 64 * KIB, 64 * KIB),
        (Space.L0B, 64 * KIB, 64 * KIB),
        (Space.L0C, 256 * KIB, 128 * KIB),
        (Space.BT, 4 * KIB, 1 * KIB),
    ],
)
def test_sizes(space: Space, a5: int, a2a3: int) -> None:
    assert space_size(A5, space) == a5
    assert space_size(A2A3, space) == a2a3


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


ARGUMENTS = (Argument(0, "x", 4096), Argument(1, "out", 100))


@pytest.mark.parametrize(
    ("argument", "start", "stop", "message"),
    [
        (0, 4064, 4128, "argument 0 (%x), which has 4096 bytes: the first byte outside is 4096"),
        (0, 5000, 5032, "argument 0 (%x), which has 4096 bytes: the first byte outside is 5000"),
        (1, -4, 28, "argument 1 (%out), which has 100 bytes: the first byte outside is -4"),
        (5, 0, 32, "which lies in no argument"),
    ],
)
def test_gm_bounds(core: Core, argument: int, start: int, stop: int, message: str) -> None:
    problem = gm_out_of_bounds(
        core, at(7, "pto.mte_gm_ub", MTE2), ARGUMENTS, "reads", pointer(argument, start), pointer(argument, stop)
    )
    (diagnostic,) = problem.diagnostics
    assert diagnostic.kind == "out-of-bounds" and message in diagnostic.message
    assert (diagnostic.line, diagnostic.core, diagnostic.pipe, diagnostic.block) == (7, "b1.aiv0", "MTE2", 1)
    assert diagnostic.loops == (3, 1)


def test_gm_bounds_say_which_bytes(core: Core) -> None:
    (diagnostic,) = gm_out_of_bounds(
        core, at(7, pipe=MTE3), ARGUMENTS, "writes", pointer(1, 96), pointer(1, 128)
    ).diagnostics
    assert diagnostic.message == (
        "writes bytes 96 to 127 of argument 1 (%out), which has 100 bytes: the first byte outside is 100"
    )
    assert diagnostic.bytes == (96, 128)


def test_on_chip_bounds(core: Core) -> None:
    (diagnostic,) = on_chip_out_of_bounds(core, at(8, pipe=V), Space.UB, "reads", 262016, 262272).diagnostics
    assert diagnostic.message == (
        "reads bytes 262016 to 262271 of ub, which has 262144 bytes: the first byte outside is 262144"
    )
    assert (diagnostic.kind, diagnostic.bytes) == ("out-of-bounds", (262016, 262272))


def test_misalignment(core: Core) -> None:
    (diagnostic,) = misaligned(core, at(9), Space.UB, "writes", 48, 32).diagnostics
    assert (diagnostic.kind, diagnostic.message) == ("misaligned", "writes ub at 48, which is not a multiple of 32")
    (diagnostic,) = misaligned(core, at(9), Space.GM, "reads", pointer(1, 6), 4).diagnostics
    assert diagnostic.message == "reads gm at 6, which is not a multiple of 4"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [  # name, kind, block idx, block num, subblock idx, subblock num
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
    ],
)
def test_launch_geometry(kind: KernelKind, expected: list[tuple[object, ...]]) -> None:
    def answers(place: Place | Core) -> tuple[object, ...]:
        return place.name, place.kind, place.block, place.block_num, place.subblock, place.subblock_num

    assert [answers(place) for place in Launch(kind, 4).places(1)] == expected
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
