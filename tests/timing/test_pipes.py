"""The pipe-level model on kernels of two or three entries; every number is worked out in kernels.py or beside it."""

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError
from timing.kernels import A5, COPY_IN, COPY_OUT, SCOPE, barrier, profile, set_flag, spans, text, wait_flag
from timing.same import same


def test_one_copy():
    found = profile(COPY_IN)
    assert spans(found) == [("mte_gm_ub", "MTE2", 3, 99)]
    assert found.cycles == 99
    assert (found.pipes["MTE2"].busy, found.pipes["MTE2"].waiting, found.pipes["MTE2"].idle) == (96, 0, 3)
    assert (found.pipes["S"].busy, found.pipes["S"].waiting, found.pipes["S"].idle) == (3, 0, 96)


def test_4096_bytes_take_32_cycles_on_a2a3():
    (event,) = profile(COPY_IN, target="a2a3").timeline
    assert event.end - event.start == 4096 // 128 == 32
    assert event.bytes == 4096


@pytest.mark.parametrize("target, cycles", [("a2a3-flat", 70), ("a2a3-board", 243)])
def test_the_other_bandwidths_of_a2a3(target: str, cycles: int):
    # 100.9 GiB/s at 1.85 GHz are 58.56 bytes a cycle; 247.16 GiB/s are 143.45, and K adds 30643 bytes
    (event,) = profile(COPY_IN, target=target).timeline
    assert event.end - event.start == cycles


THERE_AND_BACK = [
    COPY_IN,
    set_flag("MTE2", "V"),
    wait_flag("MTE2", "V"),
    SCOPE,
    set_flag("V", "MTE3"),
    wait_flag("V", "MTE3"),
    COPY_OUT,
]


def test_flags_join_three_pipes():
    found = profile(*THERE_AND_BACK)
    # Issued in cycles 3 to 9. A flag is seen a cycle after it was set.
    assert spans(found) == [("mte_gm_ub", "MTE2", 3, 99), ("vecscope", "V", 100, 153), ("mte_ub_gm", "MTE3", 154, 250)]
    assert found.cycles == 250
    v, mte3 = found.pipes["V"], found.pipes["MTE3"]
    assert (v.busy, v.waiting, v.idle) == (53, 100 - 5, 250 - 53 - 95)
    assert (mte3.busy, mte3.waiting, mte3.idle) == (96, 154 - 8, 8)
    assert found.least == 96


def test_waits_name_cause_and_lines():
    found = profile(*THERE_AND_BACK)
    lines = {line.strip(): number for number, line in enumerate(found.source.text.split("\n"), 1)}
    longest, other = found.waiting
    assert (longest.pipe, longest.cycles, longest.count, longest.cause) == ("MTE3", 146, 1, "flag V -> MTE3 id 0")
    assert longest.line == lines[wait_flag("V", "MTE3")] and longest.set_line == lines[set_flag("V", "MTE3")]
    assert (other.pipe, other.cycles, other.cause) == ("V", 95, "flag MTE2 -> V id 0")
    assert [(event.pipe, event.start, event.end) for event in found.waits] == [("V", 5, 100), ("MTE3", 8, 154)]


def test_the_critical_path_has_no_gaps():
    found = profile(*THERE_AND_BACK)
    path = [(step.pipe, step.activity, step.cycles) for step in found.critical_path]
    work = [("MTE2", "work", 96), ("V", "sync", 1), ("V", "work", 53), ("MTE3", "sync", 1), ("MTE3", "work", 96)]
    assert path == [("S", "scalar", 3), *work]
    assert sum(step.cycles for step in found.critical_path) == found.cycles
    assert dict(found.bounds) == {
        "memory in": 96,
        "memory out": 96,
        "launch": 35,
        "vector issue": 18,
        "scalar": 3,
        "sync": 2,
    }
    assert found.bound == "memory"


def test_lines_of_a_vector_function():
    found = profile(*THERE_AND_BACK)
    words = ("vecscope", "vlds", "vabs", "vsts", "mte_gm_ub", "mte_ub_gm")
    texts = {entry.line: found.source.line(entry.line) for entry in found.lines}
    lines = {word: entry for entry in found.lines for word in words if f"pto.{word} " in texts[entry.line]}
    # Start-up and drain belong to the scope; the store waits 3 cycles for vabs, which waits 6 for the load.
    assert {word: lines[word].busy for word in words} == dict(zip(words, (35, 6, 3, 9, 96, 96), strict=True))
    # On the path the first copy has the three scalar cycles before it as well.
    assert {word: lines[word].critical for word in words} == dict(zip(words, (35, 6, 3, 9, 99, 96), strict=True))
    assert lines["mte_gm_ub"].count == 1


def test_a_set_that_comes_first_costs_nothing():
    found = profile(set_flag("V", "MTE2"), wait_flag("V", "MTE2"), COPY_IN)
    assert spans(found) == [("mte_gm_ub", "MTE2", 5, 101)]
    assert found.pipes["MTE2"].waiting == 0


def test_a_barrier_of_all_pipes_stops_the_scalar_unit():
    found = profile(COPY_IN, barrier("ALL"), SCOPE)
    # The barrier is reached in cycle 4 and left in 99; the scope is issued in 100.
    assert spans(found) == [("mte_gm_ub", "MTE2", 3, 99), ("vecscope", "V", 100, 153)]
    assert found.pipes["S"].waiting == 95 and found.pipes["V"].waiting == 0
    assert [waiting.cause for waiting in found.waiting] == ["all pipes"]
    assert sum(step.cycles for step in found.critical_path) == found.cycles == 153


def test_a_barrier_of_one_pipe():
    target = A5.with_overrides({"latency.barrier": 5})
    found = profile(COPY_IN, barrier("MTE2"), COPY_IN, target=target)
    assert spans(found) == [("mte_gm_ub", "MTE2", 3, 99), ("mte_gm_ub", "MTE2", 104, 200)]
    assert dict(found.bounds)["sync"] == 5


def test_a_flag_to_the_scalar_unit():
    found = profile(COPY_IN, set_flag("MTE2", "S"), wait_flag("MTE2", "S"), COPY_IN)
    # The scalar unit waits from 5 to 100 and issues the second copy in 101.
    assert spans(found)[1] == ("mte_gm_ub", "MTE2", 101, 197)
    assert found.pipes["S"].waiting == 95
    assert found.pipes["MTE2"].idle == 3 + 2


def test_buffers():
    get, release = "pto.get_buf {0}, 0, 0", "pto.rls_buf {0}, 0, 0"
    lines = [get, COPY_IN, release, get, SCOPE, release]
    pipes = ['"PIPE_MTE2"'] * 3 + ['"PIPE_V"'] * 3
    found = profile(*(line.replace("{0}", pipe) for line, pipe in zip(lines, pipes, strict=True)))
    # get 3, copy 4 to 100, release 5, get of V 6 sees the release in 101
    assert spans(found) == [("mte_gm_ub", "MTE2", 4, 100), ("vecscope", "V", 101, 154)]
    assert found.waiting[0].cause == "buffer id 0"


def test_scalar_operations_loops_and_branches_take_time():
    loop = """scf.for %i = %c0 to %c3 step %c1 {
      %a = arith.addi %i, %c1 : index
      %b = arith.muli %a, %c3 : index
      %even = arith.cmpi eq, %b, %c3 : index
      scf.if %even {
        pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
      }
    }"""
    found = profile(loop)
    # castptr 2; each of 3 iterations: 3 operations, the branch, the loop itself; the first sets a flag.
    assert found.cycles == 2 + 3 * (3 + 1 + 1) + 1
    assert found.pipes["S"].busy == found.cycles and found.bound == "scalar"


def test_a_pipe_waits_for_the_scalar_unit():
    adds = [f"%s{i} = arith.addi %{'c1' if i == 0 else f's{i - 1}'}, %c1 : index" for i in range(200)]
    found = profile(COPY_IN, *adds, COPY_IN)
    # First copy 3 to 99, then 200 additions: the second is issued in 204 and its pipe was idle until then.
    assert spans(found) == [("mte_gm_ub", "MTE2", 3, 99), ("mte_gm_ub", "MTE2", 204, 300)]
    assert found.pipes["MTE2"].waiting == 0 and found.pipes["MTE2"].idle == 3 + 105
    assert [(step.activity, step.cycles) for step in found.critical_path] == [("scalar", 204), ("work", 96)]


MERGES = """
      %three = arith.constant 3 : index
      scf.for %i = %c1 to %three step %c1 {
        %first = arith.index_cast %i : index to i64
        %others = arith.constant 327680 : i64
        %counts = arith.ori %first, %others : i64
        %config = arith.extui %n : i32 to i64
        pto.vmrgsort4 %out, %in, %in, %in, %in, %counts, %config : POINTERS, i64, i64
      }""".replace("POINTERS", ", ".join(["!pto.ptr<f32, ub>"] * 5))


def test_a_merge_is_paid_by_the_record_that_comes_out():
    """Two lists: of 1 record and then of 2, and of 5. All scores are 0, so that the first list runs out first."""
    kernel = ptosim.load(text(MERGES)).kernel()
    given = np.zeros(1024, np.float32), np.zeros(1024, np.float32)
    for config, records in ((0x0301, (6, 7)), (0x1301, (1, 2))):
        found = same(kernel, *given, config)
        assert [event.end - event.start for event in found.timeline] == [40 + 2 * number for number in records]


def test_what_if():
    changed = A5.with_overrides({"dma.gm_ub.bytes_per_cycle": 64, "vector.startup": 33})
    before, after = profile(*THERE_AND_BACK), profile(*THERE_AND_BACK, target=changed)
    assert after.cycles - before.cycles == 4096 // 64 - 4096 // 128 + 10
    origins = {figure.path: figure.origin for figure in after.rests_on}
    assert origins["dma.gm_ub.bytes_per_cycle"] == "user" and origins["dma.gm_ub.startup"] == "R"


def test_a_profile_changes_nothing_and_is_the_same_again():
    kernel = ptosim.load(text(*THERE_AND_BACK)).kernel()
    x, y = np.full(1024, -1, np.float32), np.zeros(1024, np.float32)
    first, second = ptosim.profile(kernel, x, y, 0), ptosim.profile(kernel, x, y, 0)
    assert first.to_json() == second.to_json()
    assert (x == -1).all() and (y == 0).all()
    kernel(x, y, 0)
    assert (y[:64] == 1).all()


def test_a_deadlock_is_an_error():
    with pytest.raises(PTOError) as caught:
        profile(wait_flag("MTE2", "V"), SCOPE)
    assert caught.value.diagnostics[0].kind in ("deadlock", "unmatched-wait")


def test_what_a_profile_rests_on():
    named = {figure.path for figure in profile(COPY_IN, target="a2a3").rests_on}
    assert named == {"latency.scalar", "dma.gm_ub.startup"}
    scope = {figure.path for figure in profile(SCOPE).rests_on}  # vabs and the store wait for the mask
    mask = {f"class.mask.{figure}" for figure in ("latency", "interval", "port", "consumer")}
    assert scope == {"latency.scalar", *mask, "forward.mask.special", "forward.mask.store"}
    fenced = {figure.path for figure in profile(COPY_IN, barrier("MTE2"), target="a2a3").rests_on}
    assert fenced == named | {"latency.barrier"}
    assert "they do not predict wall time" in str(profile(COPY_IN))
