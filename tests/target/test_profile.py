"""The figures of the built-in targets, compared with the published tables, and how one asks for them."""

import pytest

from ptosim.diagnostics import PTOError
from ptosim.target import Target, load_target
from ptosim.target.classes import TIMING_CLASSES
from ptosim.target.figures import ORIGINS, built_in_names
from ptosim.target.tables import IssueUnit, RepeatUnit
from tables import table

KIB = 1024
BUILT_IN = ("a5", "a2a3", "a2a3-flat", "a2a3-board")


def issue_unit(target: Target) -> IssueUnit:
    assert isinstance(target.vector, IssueUnit)
    return target.vector


def repeat_unit(target: Target) -> RepeatUnit:
    assert isinstance(target.vector, RepeatUnit)
    return target.vector


def test_memory_sizes():
    a5, a2a3 = load_target("a5").memory, load_target("a2a3").memory
    assert a5 == {
        "ub": 256 * KIB,
        "l1": 512 * KIB,
        "l0a": 64 * KIB,
        "l0b": 64 * KIB,
        "l0c": 256 * KIB,
        "bt": 4 * KIB,
        "fb": 4 * KIB,
        "fb_relu": 4 * KIB,
        "scale_a": 4 * KIB,
        "scale_b": 4 * KIB,
    }
    assert a2a3 == {**a5, "ub": 192 * KIB, "l0c": 128 * KIB, "bt": KIB, "fb": 2 * KIB}


def test_sync_limits():
    a5, a2a3 = load_target("a5").sync, load_target("a2a3").sync
    assert (a5.event_ids, a5.buffer_ids, a5.semaphores, a5.subblock_sem_offset) == (8, 32, 32, 16)
    assert (a2a3.event_ids, a2a3.semaphores) == (8, 16)
    assert (a5.inter_core_wait, a2a3.inter_core_wait) == ("pipe", "core")
    assert (a5.buffers, a2a3.buffers) == (True, False)
    assert a5.semaphore_limit == a2a3.semaphore_limit == 15


def test_rules_and_chip():
    a5, a2a3 = load_target("a5"), load_target("a2a3")
    assert (a5.rules.dma_length_multiple, a2a3.rules.dma_length_multiple) == (1, 32)
    assert (a5.rules.scatter_duplicates, a2a3.rules.scatter_duplicates) == ("lowest-lane", "illegal")
    assert (a5.chip.cube_cores, a5.chip.vector_cores) == (32, 64)
    assert (a2a3.chip.cube_cores, a2a3.chip.vector_cores, a2a3.chip.clock_ghz) == (24, 48, 1.85)


@pytest.mark.parametrize("name", ["a2", "a3", "a2a3"])
def test_members_of_the_family(name: str):
    assert load_target(name).name == load_target(name).architecture == "a2a3"


def test_a5_forwarding_to_named_consumers():
    forward = issue_unit(load_target("a5")).forward
    assert forward["load"]["alu"] == (6, 6) and forward["load"]["broadcast_lane"] == (2, 2)
    assert forward["compare"]["select"] == (2, 2) and forward["compare"]["alu"] == (4, 4)
    assert forward["select"]["select"] == (4, 4)
    assert forward["group_minmax"]["select"][0] == 12
    assert forward["exp"]["alu"] == (13, 18)


@pytest.mark.parametrize("producer", ["exp", "divide", "add", "multiply", "minmax", "convert_float", "reduce_add"])
def test_a_store_may_start_two_cycles_before_the_result_is_complete(producer: str):
    unit = issue_unit(load_target("a5"))
    assert unit.forward[producer]["store"] == tuple(cycles - 2 for cycles in unit.classes[producer].latency)


def test_copies():
    a5, a2a3 = load_target("a5").dma, load_target("a2a3").dma
    assert a2a3["gm_ub"].cycles(4096) == 32  # the worked example of the published constants
    assert a2a3["gm_ub"].cycles(4097) == 33
    assert a2a3["gm_l1"].cycles(4096) == 16
    assert a5["gm_ub"].cycles(4096) == 64 + 32
    assert a5["ub_ub"].cycles(256) == 8 + 2
    assert a5["gm_ub"].transfer(0) == 0


def test_rates_in_gib_per_second():
    flat, board = load_target("a2a3-flat").dma, load_target("a2a3-board").dma
    assert flat["gm_ub"].bytes_per_cycle == pytest.approx(58.6, abs=0.05)
    assert flat["l1_l0a"].bytes_per_cycle == pytest.approx(256, abs=0.1)
    assert flat["l0c_gm"].bytes_per_cycle == pytest.approx(40.6, abs=0.05)
    size = 65536
    rate = 247.16 * 2**30 * size / (30643 + size)  # bytes per second at this size
    assert board["gm_ub"].cycles(size) == pytest.approx(size / rate * 1.85e9, abs=1)
    assert board["ub_ub"].cycles(4096) == 32  # not measured: inherited


def test_operations():
    a5, a2a3 = load_target("a5").operation, load_target("a2a3").operation
    tiles = 4 * 2 * 3
    assert a5["mad"].cycles(tiles, width=2) == 20 + tiles and a5["mad"].cycles(tiles, width=4) == 20 + 2 * tiles
    assert a2a3["mad"].cycles(tiles, width=2) == 6 + tiles
    assert a5["sort"].cycles(3) == 20 + 96 and a5["merge_sort"].cycles(100) == 240


def test_built_in_names():
    assert built_in_names() == sorted(BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_figure_states_a_published_origin(name: str):
    target = load_target(name)
    assert {figure.origin for figure in target.figures.values()} <= set(ORIGINS) - {"user"}
    assert set(target.vector.classes) == set(TIMING_CLASSES)


def test_origins():
    a5 = load_target("a5")
    assert a5.origin("vector.startup") == "CA"
    assert a5.origin("class.log.latency") == "CA" and a5.origin("class.log.interval") == "R"
    assert a5.origin("exp.latency") == "CA"
    assert a5.origin("dma.gm_ub.bytes_per_cycle") == "R"
    assert load_target("a2a3").origin("dma.gm_ub.bytes_per_cycle") == "DOC"
    assert load_target("a2a3-flat").origin("dma.gm_ub.bytes_per_cycle") == "GUESS"
    assert load_target("a2a3-board").origin("dma.ub_ub.bytes_per_cycle") == "DOC"


def test_override_by_path_by_class_and_by_instruction():
    a5 = load_target("a5")
    changed = a5.with_overrides({"vector.startup": 5, "exp.interval": [2, 3]})
    assert issue_unit(changed).startup == 5 and changed.origin("vector.startup") == "user"
    assert issue_unit(changed).classes["exp"].interval == (2, 3)
    assert issue_unit(a5).startup == 23
    named = a5.with_overrides({"vexp.interval": 1}, instructions={"vexp": "exp"})
    assert issue_unit(named).classes["exp"].interval == (1, 1)
    copies = a5.with_overrides({"mte_gm_ub.startup": 7, "ub_gm.startup": 9}, instructions={"mte_gm_ub": "gm_ub"})
    assert (copies.dma["gm_ub"].startup, copies.dma["ub_gm"].startup) == (7, 9)
    assert a5.with_overrides({"mad.startup": 1}).operation["mad"].startup == 1


def test_overriding_a_latency_moves_the_forwarding_distances():
    unit = issue_unit(load_target("a5").with_overrides({"exp.latency": 8}))
    assert unit.classes["exp"].latency == (8, 8)
    assert unit.forward["exp"]["store"] == (6, 6)  # still two cycles before the result is complete
    assert unit.forward["exp"]["alu"] == (5, 5)
    assert unit.forward["divide"]["store"] == (15, 20)


@table(
    "path, value, message",
    ("vexp.latncy", 8, "exp.latency"),
    ("vector.start", 8, "vector.startup"),
    ("vector.startup", -1, "a whole number"),
    ("vector.startup", "many", "a whole number"),
    ("exp.latency", [1, 2, 3], "[wide, narrow]"),
    ("exp.port", "exu7", "exu0"),
    ("vexp", 8, "it has latency, interval, port, consumer"),
    ("dma.gm_ub", 8, "it has bytes_per_cycle, startup, ramp_bytes"),
    ("class", 8, "there is no figure 'class'"),
    ("", 8, "there is no figure ''"),
)
def test_bad_overrides(path: str, value: object, message: str):
    with pytest.raises(PTOError) as caught:
        load_target("a5").with_overrides({path: value}, instructions={"vexp": "exp"})
    assert message in str(caught.value)
