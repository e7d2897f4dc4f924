"""Races between cores of a cluster and between blocks that wait for each other; registers that two pipes share."""

import numpy as np
import pytest

import ptosim
from sanitize.kernels import ALL, COPY, PARAMETERS, check, kinds, load, order, put, store, take

OWN = """    %block_i64 = pto.get_block_idx
    %count = pto.get_block_num
    %block = arith.index_cast %block_i64 : i64 to index
    %next_i64 = arith.addi %block_i64, %one : i64
    %neighbour_i64 = arith.remui %next_i64, %count : i64
    %neighbour = arith.index_cast %neighbour_i64 : i64 to index
    %mine = arith.muli %block, %c64 : index
    %yours = arith.muli %neighbour, %c64 : index
    %x_mine = pto.addptr %x, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %w_mine = pto.addptr %w, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %w_yours = pto.addptr %w, %yours : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %y_mine = pto.addptr %y, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
"""
FIRST = load("%x_mine") + order("MTE2", "MTE3") + store("%in", "%w_mine")
SECOND = load("%w_yours", "%out") + order("MTE2", "MTE3", 1) + store("%out", "%y_mine") + ALL
SYNCALL = "    pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv>\n"
CROSS = "    pto.set_cross_block <PIPE_MTE3>, 0\n    pto.wait_cross_block <PIPE_MTE2>, 0\n"
THREE = PARAMETERS + ", %w: !pto.ptr<f32, gm>"


def exchange(between: str, blocks: int = 3) -> list[str]:
    """Each block writes its part of w, and then reads its neighbour's."""
    arrays = [np.arange(64 * blocks, dtype=np.float32) for _ in range(3)]
    return kinds(check(OWN + FIRST + between + SECOND, *arrays, parameters=THREE, grid=blocks))


@pytest.mark.parametrize("between", [ALL + SYNCALL, CROSS], ids=["syncall", "semaphore"])
def test_blocks_that_wait_for_each_other_are_in_order(between: str) -> None:
    assert exchange(between) == []


def test_blocks_that_do_not_are_not() -> None:
    assert "race!" in exchange("")
    assert "race!" in exchange(ALL)


def test_a_meeting_drains_no_pipe() -> None:
    assert exchange(SYNCALL) == ["race!"]


def test_a_signal_from_another_pipe_orders_nothing() -> None:
    """MTE2 signals, but MTE3 writes."""
    wrong = CROSS.replace("set_cross_block <PIPE_MTE3>", "set_cross_block <PIPE_MTE2>")
    assert "race!" in exchange(wrong)


def test_all_blocks_must_run_if_they_wait_for_each_other() -> None:
    arrays = [np.zeros(128, np.float32) for _ in range(3)]
    with pytest.raises(ptosim.PTOError, match="wait for each other"):
        check(OWN + FIRST + SYNCALL + SECOND, *arrays, parameters=THREE, grid=2, blocks=[0])


def test_a_block_that_does_not_come_is_a_finding() -> None:
    some = "    %is_first = arith.cmpi eq, %block_i64, %zero : i64\n    scf.if %is_first {\n" + SYNCALL + "    }\n"
    assert "unmatched-wait!" in exchange(some)
    arrays = [np.zeros(128, np.float32) for _ in range(3)]
    (found,) = check(OWN + some + ALL, *arrays, parameters=THREE, grid=3).findings
    assert found.message == "S waits for syncall of all aiv, and b1.aiv0, b2.aiv0 will not come"


# --- the cluster ------------------------------------------------------------------------------------------------------

SECTIONS = """    pto.section.cube {{
{cube}    }}
    pto.section.vector {{
      %me_i64 = pto.get_subblock_idx
      %me = arith.index_cast %me_i64 : i64 to index
      %you = arith.subi %c1, %me : index
      %mine = arith.muli %me, %c64 : index
      %yours = arith.muli %you, %c64 : index
      %x_mine = pto.addptr %x, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %w_mine = pto.addptr %w, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %w_yours = pto.addptr %w, %yours : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %y_mine = pto.addptr %y, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
{vector}    }}
"""
RELAY = "".join(
    f"      pto.sync.{step}\n"
    for step in ("wait <PIPE_FIX>, 0", "wait <PIPE_FIX>, 16", "set <PIPE_FIX>, 1", "set <PIPE_FIX>, 17")
)
SIGNAL, WAIT = "      pto.sync.set <PIPE_MTE3>, 0\n", "      pto.sync.wait <PIPE_MTE2>, 1\n"


def cluster(cube: str, between: str) -> ptosim.Finding:
    arrays = [np.arange(128, dtype=np.float32) for _ in range(3)]
    return check(SECTIONS.format(cube=cube, vector=FIRST + between + SECOND), *arrays, parameters=THREE)


def test_vector_cores_exchange_through_the_cube_core() -> None:
    assert kinds(cluster(RELAY, SIGNAL + WAIT)) == []


def test_vector_cores_that_do_not_wait_race() -> None:
    """Each reads what the other writes: one pair of lines, met twice; that AIV0 comes first is an accident."""
    (race,) = [finding for finding in cluster("", "").findings if finding.kind == "race"]
    assert race.message == "aiv0 MTE2 may read %w[256:512] before aiv1 MTE3 has written it"
    assert race.notes == ("no semaphore orders aiv1 MTE3 before aiv0 MTE2 between the two",)
    assert (race.core, race.pipe, race.count) == ("b0.aiv0", "MTE2", 2)


def test_a_relay_that_waits_for_one_core_only() -> None:
    half = RELAY.replace("      pto.sync.wait <PIPE_FIX>, 16\n", "")
    assert "race!" in kinds(cluster(half, SIGNAL + WAIT))


def test_cores_share_l1() -> None:
    """Both vector cores copy the same bytes of UB to the same bytes of L1: a race, if a harmless one."""
    to_l1 = (
        "      %l1 = pto.castptr %zero : i64 -> !pto.ptr<f32, l1>\n      %eight = arith.constant 8 : i64\n"
        "      pto.mte_ub_l1 %in, %l1, %eight nburst(%one, %zero, %zero)"
        " : !pto.ptr<f32, ub>, !pto.ptr<f32, l1>, i64, i64, i64, i64\n"
    )
    body = SECTIONS.format(cube="", vector=load("%x") + order("MTE2", "MTE3") + to_l1 + ALL)
    report = check(body, *(np.arange(128, dtype=np.float32) for _ in range(3)), parameters=THREE)
    assert kinds(report) == ["race"]
    assert "l1[0:256]" in report.findings[0].message


def test_the_wrong_offset_to_the_second_vector_core_is_remarked_on() -> None:
    """Ids 1 and 16, where 1 and 17 were meant; not where 0 and 16 are a pair, and 1 is for the first core alone."""

    def remarks(*ids: int) -> list[str]:
        cube = "".join(f"      pto.sync.set <PIPE_FIX>, {number}\n" for number in ids)
        arrays = (np.zeros(128, np.float32) for _ in range(3))
        report = check(SECTIONS.format(cube=cube, vector=""), *arrays, parameters=THREE)
        return [finding.message for finding in report.findings if finding.kind == "lint"]

    assert remarks(0, 16, 1) == []
    assert remarks(1, 16) == [
        "the cube core uses semaphores 1 and 16, but not 17: AIV1 is reached with an offset of 16"
    ]


def both_ways(to_aic: str, vector: str, arch: str = "a5") -> list[str]:
    """What is remarked on where the cube core signals 1 to each vector core and waits for `to_aic` of both."""
    sets, waits = ("1", to_aic) if arch == "a3" else (f"1 {1 + 16}", f"{to_aic} {int(to_aic) + 16}")
    cube = "".join(f"      pto.sync.set <PIPE_FIX>, {number}\n" for number in sets.split())
    cube += "".join(f"      pto.sync.wait <PIPE_FIX>, {number}\n" for number in waits.split())
    body = SECTIONS.format(cube=cube, vector=vector)
    report = check(body, *(np.zeros(128, np.float32) for _ in range(3)), parameters=THREE, arch=arch)
    assert report.ok
    return [finding.message for finding in report.findings]


AHEAD = "      pto.sync.set <PIPE_V>, {0}\n      pto.sync.wait <PIPE_V>, 1\n"
IN_TURN = "      pto.sync.wait <PIPE_V>, 1\n{between}      pto.sync.set <PIPE_{pipe}>, 1\n"


def test_one_id_for_both_directions_must_alternate() -> None:
    """Otherwise the kernel hangs on a machine that has one counter where there are two here (A5)."""
    meets = "sets semaphore aiv{0} -> aic id 1{1} while semaphore aic -> aiv{0} id 1{2} may be set"
    expected = [meets.format(0, "", ""), meets.format(1, " (17 on aic)", " (17 on aic)")]
    for vector in (AHEAD.format(1), IN_TURN.format(pipe="MTE3", between="")):
        found = both_ways("1", vector)
        assert [message.partition(":")[0] for message in found] == expected
    assert both_ways("2", AHEAD.format(2)) == []
    assert both_ways("1", IN_TURN.format(pipe="V", between="")) == []
    assert both_ways("1", IN_TURN.format(pipe="MTE3", between=order("V", "MTE3"))) == []
    assert both_ways("1", AHEAD.format(1), "a3") == []


# --- the status of a sort ---------------------------------------------------------------------------------------------

MERGE = """    %lists = arith.constant 769 : i64
    %count = arith.constant 2097184 : i64
    pto.vmrgsort4 %out, %in, %in, %in, %in, %count, %lists
      : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64
"""
STATUS = "    %a, %b, %c, %d = pto.get_vms4_sr : i16, i16, i16, i16\n"


def test_reading_the_sort_status_needs_the_sort_to_have_ended() -> None:
    ready = load() + order("MTE2", "V") + MERGE
    report = check(ready + STATUS + ALL)
    (race,) = [finding for finding in report.findings if finding.kind == "race"]
    assert race.message == "S may read VMS4_SR[0:8] before V has written it"
    assert "race!" not in kinds(check(ready + order("V", "S") + STATUS + ALL))
    assert "race!" not in kinds(check(ready + ALL + STATUS + ALL))


def test_the_next_sort_may_not_overwrite_the_status_unread() -> None:
    """What S has done is known to everything that it issues later."""
    ready = load() + order("MTE2", "V") + MERGE + order("V", "S") + STATUS
    again = MERGE.replace("%lists", "%l").replace("%count", "%k")
    assert "race!" not in kinds(check(ready + again + ALL))


# --- buffers ----------------------------------------------------------------------------------------------------------


def bracket(pipe: str, body: str, number: int = 0) -> str:
    return f'    pto.get_buf "PIPE_{pipe}", {number}, 0\n{body}    pto.rls_buf "PIPE_{pipe}", {number}, 0\n'


def test_buffer_brackets_order_their_pipes() -> None:
    """Buffer 0 is the input, buffer 1 the output; in a loop the reverse edges come by themselves."""
    once = bracket("MTE2", load()) + bracket("V", bracket("V", COPY, 1)) + bracket("MTE3", store(), 1)
    loop = f"    scf.for %i = %c0 to %c4 step %c1 {{\n{once}    }}\n"
    barrier = "    pto.barrier #pto.pipe<PIPE_MTE3>\n"  # the stores go to the same place
    assert kinds(check(once + ALL)) == []
    assert kinds(check(loop.replace(store(), store() + barrier) + ALL)) == []
    assert kinds(check(once.replace(bracket("MTE3", store(), 1), store()) + ALL)) == ["race!"]


def test_two_waits_for_one_set_need_two_sets() -> None:
    body = load() + put("MTE2", "V") + take("MTE2", "V") + take("MTE2", "V") + COPY + ALL
    assert kinds(check(body)) == ["unmatched-wait!"]
