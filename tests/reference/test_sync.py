"""Synchronisation instructions in kernels: spellings reach the machine, which has tests of its own."""

import numpy as np
import pytest

from ptosim.api import load
from small_kernels import SCHEDULES, failure, module, run
from tables import table

COPY_IN = """pto.mte_gm_ub %x, %ub_i32, %c0_i64, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
  : G<i32>, P<i32>, i64, i64, i64, i64, i64"""
DOUBLE = """pto.vecscope {
  %all = pto.pset_b32 "PAT_ALL" : M<b32>
  %v = pto.vlds %ub_i32[%c0] : P<i32> -> V<i32>
  %d = pto.vadd %v, %v, %all : V<i32>, V<i32>, M<b32> -> V<i32>
  pto.vsts %d, %ub256_i32[%c0], %all : V<i32>, P<i32>, M<b32>
}"""
COPY_OUT = """pto.mte_ub_gm %ub256_i32, %y, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
  : P<i32>, G<i32>, i64, i64, i64, i64"""

SPELLINGS = {
    "flags": (
        'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\npto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]',
        'pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID7"]\npto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID7"]',
    ),
    "computed flags": (
        'pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", %c3]\npto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %c3]',
        'pto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %c3]\npto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %c3]',
    ),
    "older flags": (
        "pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID0>]\n"
        "pto.wait_event[<TLOAD>, <TVEC>, <EVENT_ID0>]",
        "pto.record_event[<TVEC>, <TSTORE_VEC>, <EVENT_ID1>]\npto.wait_event[<TVEC>, <TSTORE_VEC>, <EVENT_ID1>]",
    ),
    "buffers": (
        'pto.rls_buf "PIPE_MTE2", %c4_i64, %c0_i64 : i64, i64\npto.get_buf "PIPE_V", %c4_i64, %c0_i64 : i64, i64',
        'pto.rls_buf "PIPE_V", %c4_i64, %c0_i64 : i64, i64\npto.get_buf "PIPE_MTE3", %c4_i64, %c0_i64 : i64, i64',
    ),
    "older buffers": (
        'pto.rls_buf_dyn "PIPE_MTE2", %c4, 0 : index\npto.get_buf_dyn "PIPE_V", %c4, 0 : index',
        'pto.rls_buf_dyn "PIPE_V", %c4, 0 : index\npto.get_buf_dyn "PIPE_MTE3", %c4, 0 : index',
    ),
    "buffers with literals": (
        'pto.rls_buf "PIPE_MTE2", 4, 0\npto.get_buf [#pto.pipe<PIPE_V>, 4, 0]',
        'pto.rls_buf "PIPE_V", 4\npto.get_buf %c4_i64, "PIPE_MTE3"',
    ),
    "barriers": ("pto.barrier #pto.pipe<PIPE_ALL>", 'pto.barrier "PIPE_ALL"'),
    "older barriers": ("pto.pipe_barrier #pto.pipe<PIPE_ALL>", "pto.pipe_barrier #pto.pipe<PIPE_ALL>"),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_orders_three_pipes(spelling: str, schedule: str) -> None:
    first, second = SPELLINGS[spelling]
    before = 'pto.get_buf "PIPE_MTE2", %c4_i64, %c0_i64 : i64, i64' if "buffers" in spelling else ""
    after = 'pto.rls_buf "PIPE_MTE3", %c4_i64, %c0_i64 : i64, i64' if "buffers" in spelling else ""
    body = "\n".join([before, COPY_IN, first, DOUBLE, second, COPY_OUT, after])
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run(module("%x: G<i32>, %y: G<i32>", body), x, y, schedule=schedule)
    assert y.tolist() == list(range(0, 128, 2))


@pytest.mark.parametrize("barrier", ["pto.barrier #pto.pipe<PIPE_MTE2>", "pto.barrier_sync[<TLOAD>]"])
def test_a_barrier_of_one_pipe_orders_its_copies(barrier: str) -> None:
    """Both copies write the same bytes; without the barrier a schedule may let the first one end last."""
    later = COPY_IN.replace("%x", "%z")
    body = "\n".join([COPY_IN, barrier, later, SPELLINGS["flags"][0], DOUBLE])
    body = "\n".join([body, SPELLINGS["flags"][1], COPY_OUT])
    text = module("%x: G<i32>, %z: G<i32>, %y: G<i32>", body)
    for schedule in SCHEDULES:
        x, z, y = np.ones(64, np.int32), np.full(64, 5, np.int32), np.zeros(64, np.int32)
        run(text, x, z, y, schedule=schedule)
        assert y.tolist() == [10] * 64


# --- between cores ----------------------------------------------------------------------------------------------------

STORE_ONE = "pto.store_scalar %c1_i32, %p[%c0] : G<i32>, i32"
LOAD = "%v = pto.load_scalar %p[%c0] : G<i32> -> i32\npto.store_scalar %v, %p[%at] : G<i32>, i32"
AT = """%s_i64 = pto.get_subblock_idx
%s = arith.index_cast %s_i64 : i64 to index
%at = arith.addi %s, %c1 : index"""


@table(
    "target, set_, wait",
    ("a5", "pto.sync.set <PIPE_FIX>, 3\npto.sync.set <PIPE_FIX>, 19", "pto.sync.wait <PIPE_V>, 3"),
    (
        "a5",
        "pto.set_intra_block <PIPE_FIX>, 3\npto.set_intra_block <PIPE_FIX>, 19",
        "pto.wait_intra_block <PIPE_V>, 3",
    ),
    (
        "a5",
        "pto.set_intra_core <PIPE_FIX>, 3\npto.set_intra_core <PIPE_FIX>, 19",
        "pto.wait_intra_core <PIPE_V>, 3",
    ),
    ("a2a3", "pto.sync.set <PIPE_FIX>, 3", "pto.sync.wait <PIPE_V>, 3"),
    ("a2a3", "pto.set_cross_core <PIPE_FIX>, 3", "pto.wait_flag_dev <PIPE_V>, 3"),
    ("a2a3", "pto.set_cross_core %c0_i64, %c3_i64 : i64, i64", "pto.wait_flag_dev %c3_i64 : i64"),
    ("a2a3", "pto.set_cross_core <PIPE_FIX>, 3", "pto.wait_cross_core %c3_i64 : i64"),
)
def test_the_cube_core_signals_both_vector_cores(target: str, set_: str, wait: str) -> None:
    """On a5 the wait holds a pipe only, so the scalar unit waits for that pipe in turn."""
    vector = f"{wait}\npto.barrier #pto.pipe<PIPE_ALL>\n{AT}\n{LOAD}"
    body = f"pto.section.cube {{\n{STORE_ONE}\n{set_}\n}}\npto.section.vector {{\n{vector}\n}}"
    for schedule in ("program", "random:1", "random:2"):
        p = np.zeros(3, np.int32)
        run(module("%p: G<i32>", body, target), p, schedule=schedule)
        assert p.tolist() == [1, 1, 1]


@table(
    "target, set_, wait",
    ("a5", "pto.sync.set <PIPE_V>, 5", "pto.sync.wait <PIPE_FIX>, 5\npto.sync.wait <PIPE_FIX>, 21"),
    ("a2a3", "pto.set_cross_core <PIPE_V>, 5", "pto.wait_flag_dev <PIPE_FIX>, 5"),
)
def test_the_cube_core_waits_for_both_vector_cores(target: str, set_: str, wait: str) -> None:
    store = "pto.store_scalar %c7_i32, %p[%at] : G<i32>, i32"
    read = """pto.barrier #pto.pipe<PIPE_ALL>
    %a = pto.load_scalar %p[%c1] : G<i32> -> i32
    %b = pto.load_scalar %p[%c2] : G<i32> -> i32
    %sum = arith.addi %a, %b : i32
    pto.store_scalar %sum, %p[%c0] : G<i32>, i32"""
    body = f"pto.section.vector {{\n{AT}\n{store}\n{set_}\n}}\npto.section.cube {{\n{wait}\n{read}\n}}"
    for schedule in ("program", "random:1", "random:2"):
        p = np.zeros(3, np.int32)
        run(module("%p: G<i32>", body, target), p, schedule=schedule)
        assert p.tolist() == [14, 7, 7]


def test_the_offset_of_the_second_vector_core_is_16() -> None:
    """The published page once says 15: then nobody ever signals AIV1."""
    body = """pto.section.cube {
    pto.sync.set <PIPE_FIX>, 3
    pto.sync.set <PIPE_FIX>, 18
    }
    pto.section.vector {
    pto.sync.wait <PIPE_V>, 3
    pto.barrier #pto.pipe<PIPE_ALL>
    }"""
    found = failure(module("", body))
    assert found.kind in ("unmatched-wait", "deadlock")
    assert found.core == "b0.aiv1"


CROSS = """%b_i64 = pto.get_block_idx
%b = arith.index_cast %b_i64 : i64 to index
%n_i64 = pto.get_block_num
%n = arith.index_cast %n_i64 : i64 to index
%b_i32 = arith.trunci %b_i64 : i64 to i32
pto.store_scalar %b_i32, %p[%b] : G<i32>, i32
MEET
%sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0_i32) -> (i32) {
  %v = pto.load_scalar %p[%i] : G<i32> -> i32
  %next = arith.addi %s, %v : i32
  scf.yield %next : i32
}
%place = arith.addi %b, %n : index
pto.store_scalar %sum, %p[%place] : G<i32>, i32"""


@table(
    "meet",
    "pto.set_cross_block <PIPE_MTE3>, 2\npto.wait_cross_block <PIPE_MTE2>, 2\npto.barrier #pto.pipe<PIPE_ALL>",
    "pto.barrier #pto.pipe<PIPE_ALL>\npto.syncall() mode = #pto.sync_all_mode<hard>, "
    "core_type = #pto.sync_core_type<aiv>",
    ids=["semaphore", "syncall"],
)
@pytest.mark.parametrize("schedule", ["program", "random:4"])
def test_blocks_meet(meet: str, schedule: str) -> None:
    """Every block adds up what all blocks stored before the meeting."""
    text = module("%p: G<i32>", CROSS.replace("MEET", meet))
    assert load(text).kernel().program.cross_block
    p = np.full(8, -1, np.int32)
    run(text, p, grid=4, schedule=schedule)
    assert p.tolist() == [0, 1, 2, 3, 6, 6, 6, 6]
