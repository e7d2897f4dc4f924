"""Every published figure, by the instructions that the tables name: value and origin, on all built-in targets."""

from __future__ import annotations

import pytest

from ptosim.effects.catalogue import effects
from ptosim.target import Target, load_target
from ptosim.target.classes import REPEATED_INSTRUCTIONS
from ptosim.target.tables import IssueUnit, RepeatUnit

TARGETS = {name: load_target(name) for name in ("a5", "a2a3", "a2a3-flat", "a2a3-board")}
A5, A2A3, _, BOARD = TARGETS.values()
GIB_PER_CYCLE = (1 << 30) / 1.85e9
"""Bytes per cycle of 1.85 GHz that make a GiB per second."""

# instructions: latency f32 / f16, interval f32 / f16, port, origin of the latency, origin of the interval
EXECUTION = {
    "vabs vrelu": (5, 5, 1, 1, "any", "CA", "CA"),
    "vadd vsub vadds": (7, 7, 1, 1, "any", "CA", "CA"),
    "vmul vmuls vneg": (8, 8, 1, 1, "any", "CA", "CA"),
    "vmax vmin vmaxs vmins": (6, 6, 1, 1, "any", "CA", "CA"),
    "vand vor vxor vnot vshl vshls vshr vshrs": (6, 6, 1, 1, "any", "CA", "CA"),
    "vcmp vcmps vsel": (6, 6, 1, 1, "any", "CA", "CA"),
    "vexp": (16, 21, 4, 8, "any", "CA", "CA"),
    "vln": (18, 23, 4, 8, "any", "CA", "R"),
    "vsqrt": (17, 22, 4, 8, "any", "CA", "R"),
    "vdiv": (17, 22, 4, 8, "any", "CA", "CA"),
    "class.convert_float": (7, 7, 1, 1, "any", "CA", "CA"),
    "class.convert_int": (8, 8, 2, 2, "any", "CA", "CA"),
    "vcmax vcmin": (16, 17, 1, 2, "exu0", "CA", "CA"),
    "vcadd": (22, 24, 1, 1, "exu0", "CA", "CA"),
    "vcgmax vcgmin": (13, 14, 1, 2, "any", "CA", "CA"),
    "vcgadd": (13, 14, 1, 2, "any", "R", "R"),
    "vdup": (6, 6, 1, 1, "exu0", "CA", "CA"),
    "vbr": (6, 6, 1, 1, "any", "CA", "CA"),
    "vlds vldas vldus vsldb": (9, 9, 1, 1, "load", "CA", "CA"),
    "vsts vsstb vstus vstur vstas vstar": (9, 9, 1, 1, "store", "CA", "CA"),
    "vstsx2": (12, 12, 1, 1, "store", "CA", "CA"),
    # About 0.1 a cycle: an interval of 10 in which no other load starts.
    "vgather2 vgather2_bc": (28, 28, 10, 10, "both-loads", "CA", "R"),
    "vgatherb": (21, 21, 4, 4, "both-loads", "CA", "R"),
    "vscatter": (17, 17, 4, 4, "store", "CA", "R"),
    "vexpdif": (20, 25, 4, 8, "any", "R", "R"),
    "vaxpy vmula vmadd": (9, 9, 1, 1, "any", "R", "R"),
    "vlrelu vprelu vselr vsqz vusqz vtrc": (8, 8, 1, 1, "any", "R", "R"),
    "vmull vmulscvt": (10, 10, 1, 1, "any", "R", "R"),
    "vcpadd": (19, 21, 1, 1, "any", "R", "R"),
    "vci": (6, 6, 1, 1, "any", "R", "R"),
    "class.other vintlv vdintlv vpack": (7, 7, 1, 1, "any", "R", "R"),
}

# producers: to an ALU consumer, to the special function unit (and vabs, vdup), to a store, to named ones; what is R
FORWARDING = {
    "vadd vadds vsub": (3, 4, 5, {}, ""),
    "vmul vmuls": (4, 5, 6, {}, ""),
    "vmax vmin vmaxs vmins": (2, 3, 4, {}, ""),
    "vabs": (2, 2, 3, {}, ""),
    "vand vshls vshrs vsel": (2, 3, 4, {"select": 4}, "special"),
    "vcmp": (4, 4, None, {"select": 2}, "special"),
    "vexp": (13, 13, 14, {}, ""),
    "vdiv": (14, 14, 15, {}, ""),
    "vcmax vcmin": (13, 13, 14, {}, ""),
    "vcadd": (19, 19, 20, {}, "alu special"),
    "vcgmax": (10, 10, 11, {"select": 12}, "special"),
    "vdup": (8, 8, 4, {}, ""),
    "vlds": (6, 6, None, {"broadcast_lane": 2}, ""),
    "class.convert_float": (3, 4, 5, {}, ""),
    "class.convert_int": (4, 5, 6, {}, ""),
}

# head, slope, tail, origin
REPEATS = {
    "vadd vsub vmax vmin": (10, 2, 14, "PROF"),
    "vmul": (10, 2, 15, "PROF"),
    "vdiv": (11, 4, 19, "PROF"),
    "vand vor": (8, 2, 12, "PROF"),
    "vexp": (13, 2, 18, "PROF"),
    "vln": (13, 2, 20, "PROF"),
    "vsqrt": (14, 2, 25, "PROF"),
    "vmuls vlrelu": (11, 1, 15, "PROF"),
    "vmaxs vrelu": (10, 1, 13, "PROF"),
    "vadds": (13, 1, 18, "PROF"),
    "vmins": (14, 1, 16, "PROF"),
    "vabs": (13, 1, 16, "PROF"),
    "vdup": (11, 1, 13, "PROF"),
    "vcadd": (14, 7, 32, "PROF"),
    "vcgadd": (14, 1, 24, "PROF"),
    "vcgmax vcgmin": (14, 1, 17, "PROF"),
    "vsel": (13, 2, 14, "PROF"),
    "vcmp": (14, 2, 22, "PROF"),
    "vgather2": (24, 2, 0, "PROF"),
    "class.convert_float class.convert_int": (14, 2, 18, "GUESS"),
    "class.other vshl vcmax vci": (6, 2, 0, "GUESS"),
    "vlds vsts class.mask class.load_pair": (0, 0, 0, "R"),
}

# slope of 4-byte and of 2-byte elements, tail
INSTRUCTIONS = {
    "vadd": (2, 2, 18),
    "vmul": (2, 2, 19),
    "vmax": (2, 2, 16),
    "vdiv": (4, 8, 25),
    "vadds": (1, 1, 18),
    "vmuls": (1, 1, 19),
    "vmaxs": (1, 1, 16),
    "vexp": (2, 4, 24),
    "vln": (2, 4, 26),
    "vsqrt": (2, 4, 25),
    "vrsqrt": (2, 4, 25),
    "vdup": (1, 1, 13),
    "vcadd": (7, 7, 32),
    "vcmax": (7, 7, 21),
    "vcgadd": (1, 1, 24),
    "vcgmax": (1, 1, 17),
    "vabs": (1, 1, 16),
    "vsel": (2, 2, 14),
    "vcmp": (2, 2, 22),
    "vconv": (2, 2, 18),
    "vreducev2": (14, 14, 20),
    "vbrcb": (1, 1, 18),
    "vand": (2, 2, 13),
    "vlrelu": (1, 1, 19),
    "vgather": (2, 2, 18),
    "vnchwconv": (2, 2, 18),
}

# slope, constant
BOARD_FITS = {"vadd": (2.11, 24), "vmul": (2.3, 25), "vdiv": (4.03, 31), "vexp": (2.0, 31), "vln": (2.0, 33)} | {
    "vmax": (2.01, 23),
    "vmuls": (1, 26),
}

UNIT = {"startup": 23, "drain": 12, "decode": 6, "issue": 5, "shared_queue": 58, "execute_queue": 26} | {
    "registers": 68,
    "register_release": 4,
}

# target, path between memories: bytes per cycle, start-up, ramp, origin of the rate
COPIES = {
    ("a5", "gm_ub"): (128, 64, 0, "R"),
    ("a5", "ub_gm"): (128, 64, 0, "R"),
    ("a5", "ub_ub"): (128, 8, 0, "R"),
    ("a2a3", "gm_ub"): (128, 0, 0, "DOC"),
    ("a2a3", "gm_l1"): (256, 0, 0, "DOC"),
    ("a2a3", "ub_ub"): (128, 0, 0, "DOC"),
    ("a2a3-flat", "gm_ub"): (100.9 * GIB_PER_CYCLE, 0, 0, "GUESS"),
    ("a2a3-flat", "gm_l1"): (135 * GIB_PER_CYCLE, 0, 0, "GUESS"),
    ("a2a3-flat", "ub_ub"): (1024 * GIB_PER_CYCLE, 0, 0, "GUESS"),
    ("a2a3-flat", "ub_gm"): (188.5 * GIB_PER_CYCLE, 0, 0, "GUESS"),
    ("a2a3-flat", "l0c_gm"): (70 * GIB_PER_CYCLE, 0, 0, "GUESS"),
    ("a2a3-flat", "l1_l0a"): (441 * GIB_PER_CYCLE, 0, 0, "GUESS"),
    ("a2a3-flat", "l1_l0b"): (220.5 * GIB_PER_CYCLE, 0, 0, "GUESS"),
    ("a2a3-board", "gm_ub"): (247.16 * GIB_PER_CYCLE, 0, 30643, "DEV"),
    ("a2a3-board", "gm_l1"): (28.61 * GIB_PER_CYCLE, 0, 1107, "DEV"),
    ("a2a3-board", "ub_gm"): (28.19 * GIB_PER_CYCLE, 0, 1755, "DEV"),
    ("a2a3-board", "l0c_gm"): (41.25 * GIB_PER_CYCLE, 0, 29104, "DEV"),
}

SINGLE = {
    ("a5", "chip.cube_cores"): (32, "R"),
    ("a5", "chip.vector_cores"): (64, "R"),
    ("a2a3", "chip.cube_cores"): (24, "DOC"),
    ("a2a3", "chip.vector_cores"): (48, "DOC"),
    ("a2a3", "chip.clock_ghz"): (1.85, "DOC"),
    ("a5", "latency.scalar"): (1, "R"),
    ("a5", "latency.flag"): (1, "R"),
    ("a5", "latency.inter_core"): (20, "R"),
    ("a5", "vector.load_slots"): (2, "DOC"),
    ("a5", "vector.load_slots_beside_store"): (1, "DOC"),
    ("a5", "vector.store_slots"): (1, "DOC"),
    ("a2a3", "operation.mad.startup"): (6, "PROF"),
    ("a2a3", "operation.mad.each"): ((2, 1), "PROF"),
}


def classes(names: str) -> list[str]:
    """The timing classes of instructions, or classes named as such."""
    return [
        name.removeprefix("class.") if name.startswith("class.") else effects()[f"pto.{name}"].timing
        for name in names.split()
    ]


def figure(target: Target, path: str) -> tuple[object, str]:
    return target.figures[path].value, target.figures[path].origin


@pytest.mark.parametrize("names", EXECUTION)
def test_execution(names: str):
    wide, narrow, interval, narrow_interval, port, of_latency, of_interval = EXECUTION[names]
    for name in classes(names):
        assert figure(A5, f"class.{name}.latency") == ((wide, narrow), of_latency)
        assert figure(A5, f"class.{name}.interval") == ((interval, narrow_interval), of_interval)
        assert A5.figures[f"class.{name}.port"].value == port


@pytest.mark.parametrize("names", FORWARDING)
def test_forwarding_of_f32(names: str):
    alu, special, store, named, recommended = FORWARDING[names]
    columns = {"alu": alu, "special": special, "store": store, **named}
    for name in classes(names):
        for column, distance in columns.items():
            if distance is not None:
                value, origin = figure(A5, f"forward.{name}.{column}")
                assert isinstance(value, tuple) and value[0] == distance
                assert origin == ("R" if column in recommended.split() else "CA")


def test_which_instructions_take_the_column_of_the_special_function_unit():
    assert isinstance(A5.vector, IssueUnit)
    for name in classes("vexp vln vsqrt vdiv vabs vdup"):
        assert A5.vector.classes[name].consumer == "special"
    for name in classes("vadd vadds vmul vmuls vmax vmins vand vshls vcmp vsel class.convert_float class.convert_int"):
        assert A5.vector.classes[name].consumer == "alu"


@pytest.mark.parametrize("name", UNIT)
def test_vector_unit(name: str):
    assert figure(A5, f"vector.{name}") == (UNIT[name], "CA")


@pytest.mark.parametrize("names", REPEATS)
def test_repeats(names: str):
    *figures, origin = REPEATS[names]
    for name in classes(names):
        for column, value in zip(("head", "slope", "tail"), figures, strict=True):
            assert figure(A2A3, f"class.{name}.{column}") == (value, origin)


def test_instructions_on_ub():
    assert isinstance(A2A3.vector, RepeatUnit)
    assert set(INSTRUCTIONS) == set(REPEATED_INSTRUCTIONS.values())
    for name, (wide, narrow, tail) in INSTRUCTIONS.items():
        assert A2A3.vector.instructions[name] == ((wide, narrow), tail)
    assert A2A3.vector.tile == (7, 4)


@pytest.mark.parametrize("name", BOARD_FITS)
def test_repeats_on_a_board(name: str):
    (timing_class,) = classes(name)
    head, slope, tail = (figure(BOARD, f"class.{timing_class}.{column}") for column in ("head", "slope", "tail"))
    assert slope == (BOARD_FITS[name][0], "DEV") and head[1] == tail[1] == "DEV"
    assert isinstance(head[0], int) and isinstance(tail[0], int) and head[0] + tail[0] == BOARD_FITS[name][1]


@pytest.mark.parametrize("name, path", COPIES)
def test_copies(name: str, path: str):
    rate, startup, ramp, origin = COPIES[name, path]
    target = TARGETS[name]
    value, stated = figure(target, f"dma.{path}.bytes_per_cycle")
    assert value == pytest.approx(rate) and stated == origin
    assert (target.dma[path].startup, target.dma[path].ramp_bytes) == (startup, ramp)


@pytest.mark.parametrize("name, path", SINGLE)
def test_single_figures(name: str, path: str):
    assert figure(TARGETS[name], path) == SINGLE[name, path]
