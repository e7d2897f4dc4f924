"""Bad runs end in one clear error: what, where, in which iteration, on which core."""

import threading

import numpy as np
import pytest

from ptosim.api import check, load, profile
from ptosim.diagnostics import Diagnostic, PTOError
from small_kernels import SCHEDULES, expand, failure, line_of, module, run, scalars
from tables import table

# --- where ------------------------------------------------------------------------------------------------------------


def test_a_fault_of_scalar_code_names_its_line_and_loop_indices() -> None:
    text = module(
        "%n: i32",
        """scf.for %i = %c0 to %c10 step %c2 {
          scf.for %j = %c5 to %c9 step %c1 {
            %a = arith.index_cast %i : index to i32
            %b = arith.index_cast %j : index to i32
            %s = arith.addi %a, %b : i32
            %d = arith.subi %s, %n : i32
            %q = arith.divsi %n, %d : i32
          }
        }""",
    )
    found = failure(text, 11)  # 4 + 7
    assert (found.kind, found.message) == ("arithmetic", "division by zero")
    assert (found.line, found.loops) == (line_of(text, "divsi"), (4, 7))
    assert (found.core, found.block) == ("b0.aiv0", 0)


OUTSIDE = """scf.for %i = %c0 to %c3 step %c1 {
  pto.vecscope {
    scf.for %j = %c0 to %c4 step %c1 {
      %ij = arith.muli %i, %j : index
      %o = arith.muli %ij, %far : index
      %v = pto.vlds %ub_f32[%o] : P<f32> -> V<f32>
    }
  }
}"""


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_fault_in_a_scope_has_the_indices_of_its_launch(schedule: str) -> None:
    """However late the scope runs: the first one outside is i = 2, j = 2."""
    text = module("", f"%far = arith.constant 16384 : index\n{OUTSIDE}")
    found = failure(text, schedule=schedule)
    assert found.kind == "out-of-bounds"
    assert (found.line, found.loops, found.pipe) == (line_of(text, "pto.vlds"), (2, 2), "V")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_fault_of_a_copy_is_placed_where_it_was_issued(schedule: str) -> None:
    """Not where the scalar unit stands when the copy runs at last."""
    text = module(
        "%x: G<f32>",
        """scf.for %i = %c0 to %c4 step %c1 {
          %o = arith.muli %i, %c64 : index
          %p = pto.addptr %x, %o : G<f32> -> G<f32>
          pto.mte_gm_ub %p, %ub_f32, %c0_i64, %c256_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
            : G<f32>, P<f32>, i64, i64, i64, i64, i64
          pto.barrier #pto.pipe<PIPE_MTE2>
        }
        pto.barrier #pto.pipe<PIPE_ALL>""",
    )
    found = failure(text, np.zeros(3 * 64, np.float32), schedule=schedule)
    assert found.kind == "out-of-bounds"
    assert (found.line, found.loops, found.pipe) == (line_of(text, "mte_gm_ub"), (3,), "MTE2")


def test_a_fault_behind_a_stalled_pipe() -> None:
    """The copy stands behind a wait and runs when the flag is set, in the last line."""
    text = module(
        "%x: G<f32>",
        """pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
        scf.for %i = %c0 to %c2 step %c1 {
          pto.mte_gm_ub %x, %ub_f32, %c0_i64, %c256_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
            : G<f32>, P<f32>, i64, i64, i64, i64, i64
        }
        pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]""",
    )
    found = failure(text, np.zeros(8, np.float32))
    assert (found.line, found.loops) == (line_of(text, "mte_gm_ub"), (0,))


def test_a_fault_in_a_helper() -> None:
    """The line is that of the helper, the indices are those of all loops around."""
    text = module(
        "%n: i32",
        """scf.for %i = %c0 to %c3 step %c1 {
          %r = func.call @divide(%n, %i) : (i32, index) -> i32
        }""",
        rest="""func.func private @divide(%n: i32, %i: index) -> i32 {
          %one = arith.constant 1 : index
          %two = arith.constant 2 : index
          %zero = arith.constant 0 : i32
          %r = scf.for %j = %one to %two step %one iter_args(%a = %zero) -> (i32) {
            %k = arith.index_cast %i : index to i32
            %d = arith.subi %n, %k : i32
            %q = arith.divsi %n, %d : i32
            scf.yield %q : i32
          }
          return %r : i32
        }""",
    )
    found = failure(text, 2)
    assert (found.line, found.loops) == (line_of(text, "divsi"), (2, 1))


def test_indices_of_deeply_nested_loops() -> None:
    """Also those that had to be moved into Python functions of their own."""
    depth = 30
    opening = "\n".join(f"scf.for %i{level} = %c{level} to %c{level + 1} step %c1 {{" for level in range(depth))
    text = module("%n: i32", f"{opening}\n%q = arith.divsi %n, %n : i32\n{'}' * depth}")
    assert failure(text, 0).loops == tuple(range(depth))


def test_the_error_of_the_lowest_block_is_raised() -> None:
    text = module(
        "%n: i32",
        """%b = pto.get_block_idx
        %k = arith.trunci %b : i64 to i32
        %d = arith.cmpi sge, %k, %n : i32
        scf.if %d {
          pto.trap
        }""",
    )
    found = failure(text, 3, grid=8)
    assert (found.kind, found.message) == ("trap", "the kernel executed pto.trap")
    assert (found.line, found.block, found.core) == (line_of(text, "pto.trap"), 3, "b3.aiv0")


MIXED = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%n: i64) attributes {pto.kernel} {
    pto.section.cube { CUBE }
    pto.section.vector { VECTOR }
    return
  }
}
"""


def mixed(cube: str, vector: str) -> str:
    text = MIXED.replace("CUBE", cube).replace("VECTOR", vector)
    return expand(text.replace("{pto.kernel} {\n", f"{{pto.kernel}} {{\n{scalars(text)}\n"))


@pytest.mark.parametrize("schedule", ["program", "random:1", "random:2"])
def test_an_error_of_one_core_ends_the_others(schedule: str) -> None:
    """The cube core waits for a signal that AIV1 does not live to give."""
    text = mixed(
        "pto.sync.wait <PIPE_MTE1>, 16",
        """%me = pto.get_subblock_idx
        %q = arith.divsi %n, %me : i64""",
    )
    before = threading.active_count()
    found = failure(text, 1, schedule=schedule)
    assert (found.kind, found.core) == ("arithmetic", "b0.aiv0")
    assert threading.active_count() == before


# --- what never ends --------------------------------------------------------------------------------------------------


def test_an_endless_loop_is_cut_off() -> None:
    text = module(
        "",
        """scf.while () : () -> () {
          %t = arith.constant true
          scf.condition(%t)
        } do {
          scf.yield
        }""",
    )
    found = failure(text, max_steps=1000)
    assert (found.kind, found.message) == ("limit", "more than 1000 loop iterations and calls in one block (max_steps)")
    assert found.line == line_of(text, "scf.while")


ENDLESS = ("limit", "more than 1000000000 loop iterations and calls in one block (max_steps)")
NOT_NOTIFIED = ("deadlock", "S waits until %a[0] != 0; it is 0, and nothing is left that would notify it")


@table(
    "before, after, expected",
    ("%t = arith.constant true", "%w = arith.addi %y, %c0 : index", ENDLESS),
    (
        "%v = pto.load_scalar %a[%c0] : !pto.ptr<i32, gm> -> i32\n%t = arith.cmpi eq, %v, %c0_i32 : i32",
        "%w = arith.remui %y, %c7 : index",
        NOT_NOTIFIED,
    ),
    (
        "%t = arith.cmpi slt, %x, %c1000 : index",
        "%z = arith.addi %y, %c7 : index\n%w = arith.remui %z, %c1000 : index",
        ENDLESS,
    ),
    ids=["nothing changes", "a flag without a set", "a thousand states in turn"],
)
@pytest.mark.parametrize("scope", ["", "pto.vecscope"])
def test_a_loop_that_comes_back_is_known_to_be_endless(
    before: str, after: str, expected: tuple[str, str], scope: str
) -> None:
    """Without 10^9 rounds of a slow engine: what a round does follows from what the loop carries."""
    loop = f"""%r = scf.while (%x = %c3) : (index) -> index {{
          {before}
          scf.condition(%t) %x : index
        }} do {{
        ^bb0(%y: index):
          {after}
          scf.yield %w : index
        }}"""
    text = module("%a: !pto.ptr<i32, gm>", f"{scope} {{\n{loop}\n}}" if scope else loop)
    found = failure(text, np.zeros(1, np.int32), engine="reference")  # compiled code counts to 10^9
    assert (found.kind, found.message) == expected
    looks = "pto.load_scalar" if expected is NOT_NOTIFIED else "scf.while"
    assert found.line == line_of(text, looks)
    kernel = load(text).kernel()
    assert [one.kind for one in check(kernel, np.zeros(1, np.int32)).findings] == [expected[0]]
    with pytest.raises(PTOError, match=expected[0]):
        profile(kernel, np.zeros(1, np.int32))


def test_a_loop_that_stores_may_come_back_and_end() -> None:
    """It carries the same value every round; what ends it is the cell that it counts in."""
    text = module(
        "%a: !pto.ptr<i32, gm>",
        """%r = scf.while (%x = %c3) : (index) -> index {
          %v = pto.load_scalar %a[%c0] : !pto.ptr<i32, gm> -> i32
          %more = arith.addi %v, %c1_i32 : i32
          pto.store_scalar %more, %a[%c0] : !pto.ptr<i32, gm>, i32
          %t = arith.cmpi slt, %more, %c100_i32 : i32
          scf.condition(%t) %x : index
        } do {
        ^bb0(%y: index):
          scf.yield %y : index
        }""",
    )
    cell = np.zeros(1, np.int32)
    run(text, cell)
    assert cell[0] == 100


def test_max_steps_counts_all_loops_of_a_block() -> None:
    text = module(
        "",
        """scf.for %i = %c0 to %c10 step %c1 {
          scf.for %j = %c0 to %c10 step %c1 {
          }
        }""",
    )
    run(text, max_steps=110, grid=3)
    assert failure(text, max_steps=109).kind == "limit"


def test_a_loop_longer_than_any_counter() -> None:
    text = module(
        "%lo: i64, %hi: i64",
        """scf.for %i = %lo to %hi step %c1_i64 : i64 {
        }""",
    )
    found = failure(text, -(1 << 63), (1 << 63) - 1)
    assert found.kind == "limit"


def test_loops_in_scopes_count_as_well() -> None:
    text = module("", "pto.vecscope {\nscf.for %i = %c0 to %c1000 step %c1 {\n}\n}")
    assert failure(text, max_steps=999).kind == "limit"


# --- waits that nothing satisfies -------------------------------------------------------------------------------------


def stuck(body: str, **options: object) -> tuple[str, Diagnostic]:
    text = module("", body)
    return text, failure(text, **options)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_wait_without_a_set(schedule: str) -> None:
    text, found = stuck('pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID3"]', schedule=schedule)
    assert (found.kind, found.line) == ("unmatched-wait", line_of(text, "wait_flag"))
    assert found.message == "V waits for flag MTE2 -> V id 3, and nothing is left that would set it"


def test_two_waits_need_two_sets() -> None:
    flag = '["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]'
    text, found = stuck(f"pto.set_flag{flag}\nscf.for %i = %c0 to %c2 step %c1 {{\npto.wait_flag{flag}\n}}")
    assert (found.kind, found.line) == ("unmatched-wait", line_of(text, "wait_flag"))


def test_a_set_of_another_id_or_pair_does_not_help() -> None:
    body = """pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID1"]
      pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]"""
    assert stuck(body)[1].kind == "unmatched-wait"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_pipes_that_wait_for_each_other(schedule: str) -> None:
    body = """pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
      pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]"""
    text, found = stuck(body, schedule=schedule)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "wait_flag" in line]
    assert found.kind == "deadlock"
    assert {found.line, *(other.location.line for other in found.related)} == set(lines)
    assert len(found.notes) == 2


@pytest.mark.parametrize("behind", ["after", "in a loop", "in a branch", "in a helper", "after a helper", "by any id"])
def test_a_set_that_the_scalar_unit_would_still_reach_makes_a_deadlock(behind: str) -> None:
    wait, set_ = 'pto.wait_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]', 'pto.set_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]'
    helper = "func.func private @h() {\nBODY\nreturn\n}"
    loop = "scf.for %i = %c0 to %c2 step %c1 {\nBODY\n}"
    body, rest = {
        "after": (f"{wait}\n{set_}", ""),
        "in a loop": (loop.replace("BODY", f"{wait}\n{set_}"), ""),
        "in a branch": (f"{wait}\n%n = pto.get_block_idx\n%m = arith.index_cast %n : i64 to index\n"
                        f"%t = arith.cmpi eq, %m, %c2 : index\nscf.if %t {{\n{set_}\n}}", ""),
        "in a helper": (f"{wait}\nfunc.call @h() : () -> ()", helper.replace("BODY", set_)),
        "after a helper": (f"func.call @h() : () -> ()\n{set_}", helper.replace("BODY", wait)),
        "by any id": (f'{wait}\n%n = pto.get_block_idx\n%i = arith.index_cast %n : i64 to index\n'
                      'pto.set_flag_dyn["PIPE_V", "PIPE_S", %i]', ""),
    }[behind]  # fmt: skip
    text = module("", body, rest=rest)
    found = failure(text)
    assert (found.kind, found.line) == ("deadlock", line_of(text, "pto.wait_flag"))
    assert found.message == "S waits for something that comes only after it"


@table(
    "behind",
    'pto.set_flag["PIPE_V", "PIPE_S", "EVENT_ID1"]',
    'pto.set_flag["PIPE_MTE2", "PIPE_S", "EVENT_ID0"]',
    'pto.set_flag_dyn["PIPE_V", "PIPE_S", %c3]',
    '%t = arith.constant false\nscf.if %t {\npto.set_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]\n}',
    "",
)
def test_a_set_that_cannot_be_meant_leaves_the_wait_unmatched(behind: str) -> None:
    before = 'pto.set_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]\npto.wait_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]'
    found = failure(module("", f'{before}\npto.wait_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]\n{behind}'))
    assert found.kind == "unmatched-wait"


def test_cores_that_wait_for_each_other() -> None:
    text = mixed(
        """pto.sync.wait <PIPE_MTE1>, 0
      pto.barrier #pto.pipe<PIPE_ALL>
      pto.sync.set <PIPE_FIX>, 1""",
        """pto.sync.wait <PIPE_V>, 1
      pto.barrier #pto.pipe<PIPE_ALL>
      pto.sync.set <PIPE_V>, 0""",
    )
    with pytest.raises(PTOError) as raised:
        run(text, 0)
    kinds = {found.kind: found for found in raised.value.diagnostics}
    assert "deadlock" in kinds
    message = str(raised.value)
    for line in (line_of(text, "sync.wait <PIPE_MTE1>"), line_of(text, "sync.wait <PIPE_V>")):
        assert f"(line {line})" in message


def test_the_off_by_one_of_the_second_vector_core() -> None:
    """15 is not the offset: AIV1 waits for ever, and the message says how the cube core spells what it waits for."""
    text = mixed(
        "pto.sync.set <PIPE_FIX>, 0\npto.sync.set <PIPE_FIX>, 15",
        "pto.sync.wait <PIPE_V>, 0",
    )
    found = failure(text, 0)
    assert (found.kind, found.core) == ("unmatched-wait", "b0.aiv1")
    assert "semaphore aic -> aiv1 id 0 (16 on aic)" in found.message


# --- illegal synchronisation ------------------------------------------------------------------------------------------


def test_an_event_id_that_does_not_exist() -> None:
    text = module("", 'scf.for %i = %c6 to %c10 step %c1 {\npto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %i]\n}')
    found = failure(text)
    assert (found.kind, found.line, found.loops) == ("id-range", line_of(text, "set_flag_dyn"), (8,))


def test_a_pipe_that_the_core_does_not_have() -> None:
    text = module("", "pto.sync.set <PIPE_FIX>, 0")
    found = failure(text)
    assert (found.kind, found.line) == ("wrong-pipe", line_of(text, "sync.set"))
    assert found.message.startswith("aiv0 has no pipe FIX")


def test_a_semaphore_that_overflows() -> None:
    text = mixed("scf.for %i = %c0 to %c16 step %c1 {\npto.sync.set <PIPE_FIX>, 0\n}", "")
    found = failure(text, 0)
    assert (found.kind, found.line) == ("semaphore-overflow", line_of(text, "sync.set"))


# --- a run that was stopped leaves nothing behind ---------------------------------------------------------------------


def test_a_kernel_runs_again_after_an_error() -> None:
    text = module(
        "%x: G<i32>, %n: i32",
        """%q = arith.divsi %c6_i32, %n : i32
        pto.store_scalar %q, %x[%c0] : G<i32>, i32""",
    )
    kernel = load(text).kernel()
    x = np.zeros(1, np.int32)
    for _ in range(2):
        with pytest.raises(PTOError):
            kernel(x, 0, engine="reference")
        kernel(x, 3, engine="reference")
        assert x[0] == 2
