"""Races between the cores of a cluster: the hint is an edit with a free semaphore, and following it ends the race."""

import numpy as np
import pytest

import ptosim
from sanitize.kernels import ALL, PARAMETERS, load, order, store, text
from sanitize.repair import repaired

THREE = PARAMETERS + ", %w: !pto.ptr<f32, gm>"
STUCK = {"deadlock", "unmatched-wait", "undrained", "double-set", "semaphore-overflow"}

SECTIONS = """    %two = arith.constant 2 : i64
    %eight = arith.constant 8 : i64
    %l1 = pto.castptr %zero : i64 -> !pto.ptr<f32, l1>
    pto.section.cube {{
{cube}    }}
    pto.section.vector {{
      %me_i64 = pto.get_subblock_idx
      %me = arith.index_cast %me_i64 : i64 to index
      %you = arith.subi %c1, %me : index
      %is_first = arith.cmpi eq, %me_i64, %zero : i64
      %mine = arith.muli %me, %c64 : index
      %yours = arith.muli %you, %c64 : index
      %x_mine = pto.addptr %x, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %w_mine = pto.addptr %w, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %w_yours = pto.addptr %w, %yours : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %y_mine = pto.addptr %y, %mine : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
{vector}    }}
"""
CUBE_LOADS = """      pto.mte_gm_l1 %w, %l1, %bytes nburst(%two, %bytes, %bytes)
        : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64
"""
TO_L1 = """      pto.mte_ub_l1 %in, %l1, %eight nburst(%one, %zero, %zero)
        : !pto.ptr<f32, ub>, !pto.ptr<f32, l1>, i64, i64, i64, i64
"""
FROM_L1 = """      pto.mte_l1_ub %l1, %out, %eight nburst(%one, %zero, %zero)
        : !pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64
"""


def mixed(cube: str, vector: str, arch: str) -> str:
    return text(SECTIONS.format(cube=cube, vector=vector), THREE, arch)


def first_only(body: str) -> str:
    return f"      scf.if %is_first {{\n{body}      }}\n"


def loop(body: str) -> str:
    return f"      scf.for %i = %c0 to %c4 step %c1 {{\n{body}      }}\n"


def examine(source: str) -> tuple[ptosim.Finding, ...]:
    arrays = [np.arange(128, dtype=np.float32) for _ in range(3)]
    return ptosim.check(ptosim.load(source).kernel(), *arrays).findings


def follow(source: str, rounds: int = 6) -> list[str]:
    """Repair race by race until the kernel has no finding at all; gives the hints."""
    hints: list[str] = []
    for _ in range(rounds):
        races = [finding for finding in examine(source) if finding.kind == "race"]
        if not races:
            left = [finding for finding in examine(source) if finding.kind in STUCK or finding.severity == "error"]
            assert left == []
            return hints
        hints.append(races[0].hint or "")
        source = repaired(source, hints[-1])
    raise AssertionError("\n".join(["still racing", *hints]))


STORED = load("%x_mine") + order("MTE2", "MTE3") + store("%in", "%w_mine")


def test_both_vector_cores_to_the_cube_core_of_a5() -> None:
    """There is no reduction: the cube core waits for each of them."""
    (hint,) = follow(mixed(CUBE_LOADS + ALL, STORED + ALL, "a5"))
    assert [line.partition("add")[2].strip() for line in hint.split("\n")] == [
        "pto.set_intra_block <PIPE_MTE3>, 0",
        "pto.wait_intra_block <PIPE_MTE2>, 0",
        "pto.wait_intra_block <PIPE_MTE2>, 16",
    ]


WAITS = {"a5": "      pto.sync.wait <PIPE_MTE2>, 0\n      pto.sync.wait <PIPE_MTE2>, 16\n"}
WAITS["a2a3"] = WAITS["a5"].partition("\n")[0] + "\n"


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_the_only_signal_of_a_core_is_missing(arch: str) -> None:
    """What it is like, the waits of the other core say."""
    source = mixed(WAITS[arch] + CUBE_LOADS + ALL, STORED + ALL, arch)
    finding = examine(source)[0]
    assert finding.kind == "unmatched-wait" and finding.hint is not None
    assert finding.hint.endswith("pto.sync.set <PIPE_MTE3>, 0")
    assert examine(repaired(source, finding.hint)) == ()


def test_the_only_signal_of_the_cube_core_to_the_second_vector_core_is_missing() -> None:
    second = "      %is_second = arith.cmpi eq, %me_i64, %one : i64\n"
    reads = "      pto.sync.wait <PIPE_MTE3>, 1\n" + store("%out", "%y_mine")
    to_second = "      pto.copy_cbuf_to_ubuf %l1, %out, %one, %one, %eight, %zero, %zero\n"
    to_second += "        : !pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64\n"
    cube = CUBE_LOADS + order("MTE2", "MTE1") + to_second + ALL
    source = mixed(cube, second + first_only(reads).replace("%is_first", "%is_second") + ALL, "a5")
    finding = examine(source)[0]
    assert finding.kind == "unmatched-wait" and finding.hint is not None
    assert finding.hint.endswith("pto.sync.set <PIPE_MTE1>, 17")
    assert examine(repaired(source, finding.hint)) == ()


def test_both_vector_cores_to_the_cube_core_of_a2a3() -> None:
    (hint,) = follow(mixed(CUBE_LOADS + ALL, STORED + ALL, "a2a3"))
    assert [line.partition("add")[2].strip() for line in hint.split("\n")] == [
        "pto.set_cross_core <PIPE_MTE3>, 0",
        "pto.wait_flag_dev <PIPE_MTE2>, 0",
    ]


def test_the_cube_core_to_both_vector_cores() -> None:
    """The cube core stores, the vector cores load; on a2a3 one signal reaches both."""
    cube = """      pto.mte_gm_l1 %x, %l1, %bytes nburst(%one, %bytes, %bytes)
        : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64
"""
    cube += order("MTE2", "MTE1") + FROM_L1 + ALL
    vector = order("MTE2", "MTE3") + store("%out", "%y_mine") + ALL
    report = examine(mixed(cube, vector, "a5"))
    race = next(finding for finding in report if finding.kind == "race")
    assert race.message == "aiv0 MTE3 may read ub[256:512] before aic MTE1 has written it"
    (hint,) = follow(mixed(cube, vector, "a5"))
    assert [line.partition("add")[2].strip() for line in hint.split("\n")] == [
        "pto.set_intra_block <PIPE_MTE1>, 0",
        "pto.set_intra_block <PIPE_MTE1>, 16",
        "pto.wait_intra_block <PIPE_MTE3>, 0",
    ]


PRODUCER = loop(load("%x") + order("MTE2", "MTE3") + TO_L1 + order("MTE3", "MTE2"))
CONSUMER = loop(FROM_L1)


def test_a_producer_and_a_consumer_in_loops_that_run_alike() -> None:
    """Forward in each iteration, and back with a prime and a drain; only AIV0 comes there, so one id is enough."""
    hints = follow(mixed(CONSUMER + ALL, first_only(PRODUCER) + ALL, "a5"))
    assert len(hints) == 2
    forward, back = hints
    assert [line.partition("add")[2].strip() for line in forward.split("\n")] == [
        "pto.set_intra_block <PIPE_MTE3>, 0",
        "pto.wait_intra_block <PIPE_MTE1>, 0",
    ]
    assert [line.partition("add")[2].strip() for line in back.split("\n")] == [
        "pto.set_intra_block <PIPE_MTE1>, 1  // prime",
        "pto.wait_intra_block <PIPE_MTE3>, 1",
        "pto.set_intra_block <PIPE_MTE1>, 1",
        "pto.wait_intra_block <PIPE_MTE3>, 1  // drain",
    ]


def test_loops_that_run_differently_are_signalled_once() -> None:
    fewer = CONSUMER.replace("%c4", "%c1")
    hints = follow(mixed(fewer + ALL, first_only(PRODUCER) + ALL, "a5"))
    assert "prime" not in "\n".join(hints)
    lines = mixed(fewer + ALL, first_only(PRODUCER) + ALL, "a5").split("\n")
    behind = int(hints[0].split()[2])  # the line that closes the producer's loop
    assert lines[behind - 1] == "      }" and "pto.set_flag" not in lines[behind]


EXCHANGE = STORED + load("%w_yours", "%out") + order("MTE2", "MTE3", 1) + store("%out", "%y_mine") + ALL


def test_vector_cores_of_a5_exchange_through_the_cube_core() -> None:
    (hint,) = follow(mixed("", EXCHANGE, "a5"))
    assert [line.partition("add")[2].strip() for line in hint.split("\n")] == [
        "pto.set_intra_block <PIPE_MTE3>, 0",
        "pto.wait_intra_block <PIPE_MTE2>, 1",
        "pto.wait_intra_block <PIPE_FIX>, 0",
        "pto.wait_intra_block <PIPE_FIX>, 16",
        "pto.set_intra_block <PIPE_FIX>, 1",
        "pto.set_intra_block <PIPE_FIX>, 17",
    ]


BARRIER = "    pto.barrier #pto.pipe<PIPE_{}>\n"


def either(first: str, second: str) -> str:
    return f"      scf.if %is_first {{\n{first}      }} else {{\n{second}      }}\n"


def test_where_the_cube_core_has_no_loop_it_passes_a_signal_on_once() -> None:
    """All rounds of one vector core come before all of the other."""
    stored = load("%x") + order("MTE2", "MTE3") + store("%in", "%w") + BARRIER.format("ALL")
    (hint,) = follow(mixed("", either(loop(stored), loop(load("%w") + BARRIER.format("MTE2"))) + ALL, "a5"))
    assert [line.partition("add")[2].strip() for line in hint.split("\n")] == [
        "pto.set_intra_block <PIPE_MTE3>, 0",
        "pto.wait_intra_block <PIPE_MTE2>, 1",
        "pto.wait_intra_block <PIPE_FIX>, 0",
        "pto.set_intra_block <PIPE_FIX>, 17",
    ]


def test_a_relay_that_needs_a_loop_is_asked_for_in_words() -> None:
    stored = load("%x") + order("MTE2", "MTE3") + store("%in", "%w") + BARRIER.format("ALL")
    source = mixed("", loop(either(stored, load("%w") + BARRIER.format("MTE2"))) + ALL, "a5")
    hints = {finding.hint for finding in examine(source) if finding.kind == "race"}
    assert hints == {
        "signal from aiv0 MTE3 to aiv1 MTE2 with a semaphore, which the cube core passes on as often as they run"
    }


def test_vector_cores_of_a2a3_meet() -> None:
    (hint,) = follow(mixed("", EXCHANGE, "a2a3"))
    assert [line.partition("add")[2].strip() for line in hint.split("\n")] == [
        "pto.sync.set <PIPE_MTE3>, 0 {ffts_mode = 1 : i32}",
        "pto.sync.wait <PIPE_MTE2>, 0 {ffts_mode = 1 : i32}",
    ]


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_a_scalar_store_signals_through_a_pipe(arch: str) -> None:
    scalar = "      %f = arith.constant 1.0 : f32\n      pto.store_scalar %f, %w_mine[%c0] : !pto.ptr<f32, gm>, f32\n"
    (hint,) = follow(mixed(CUBE_LOADS + ALL, scalar + ALL, arch))
    put = [line.partition("add")[2].strip() for line in hint.split("\n")][:3]
    assert put[:2] == [
        'pto.set_flag["PIPE_S", "PIPE_MTE3", "EVENT_ID0"]',
        'pto.wait_flag["PIPE_S", "PIPE_MTE3", "EVENT_ID0"]',
    ]
    assert put[2] == ("pto.set_intra_block" if arch == "a5" else "pto.set_cross_core") + " <PIPE_MTE3>, 0"


def test_ids_that_the_text_names_are_not_free() -> None:
    never = "      %no = arith.cmpi ne, %zero, %zero : i64\n      scf.if %no {\n"
    never += "".join(f"      pto.set_intra_block <PIPE_FIX>, {number}\n" for number in (0, 17, 3)) + "      }\n"
    (hint,) = follow(mixed(never + CUBE_LOADS + ALL, STORED + ALL, "a5"))
    assert "<PIPE_MTE3>, 2\n" in hint


def test_when_none_is_free_that_is_said() -> None:
    never = "      %no = arith.cmpi ne, %zero, %zero : i64\n      scf.if %no {\n"
    never += "".join(f"      pto.set_intra_block <PIPE_FIX>, {number}\n" for number in range(16)) + "      }\n"
    report = examine(mixed(never + CUBE_LOADS + ALL, STORED + ALL, "a5"))
    (race,) = [finding for finding in report if finding.kind == "race"]
    assert race.hint == "no semaphore is free: order aiv0 MTE3 before aic MTE2"
