"""A hint is tried before it is given: what is proposed, how it is tried, at which sizes, and what follows from what."""

import json
from pathlib import Path

import numpy as np
import pytest

import ptosim
from examples.test_examples import script
from ptosim.arguments import bind
from ptosim.repair.larger_launches import enlargements
from ptosim.repair.possible_values import possible
from ptosim.repair.trials import ORDER, Rehearsal, Trial, Trials
from ptosim.report.check_report import CheckReport
from ptosim.report.sarif import sarif
from ptosim.sanitize.conflict import Enough
from ptosim.sanitize.global_shadow import GlobalShadow
from ptosim.sanitize.observation import Observation
from ptosim.sanitize.program import WrittenProgram
from sanitize.kernels import ALL, COPY, PARAMETERS, check, load, order, put, store, take, text
from sanitize.repair import EDIT, repaired
from sanitize.sarif_schema import violations
from tables import table

EXAMPLES = Path(__file__).parents[2] / "examples"
SOFTMAX = (EXAMPLES / "softmax.pto").read_text()
LOST = '      pto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %parity]\n'


def softmax(source: str, rows: int) -> CheckReport:
    x = np.random.default_rng(0).normal(size=(rows, 128)).astype(np.float32)
    return ptosim.check(ptosim.load(source).kernel(), x, np.zeros_like(x), rows, grid=3)


# --- the README -------------------------------------------------------------------------------------------------------


def test_the_hint_of_the_readme_is_the_lost_wait_and_holds_at_every_size() -> None:
    assert SOFTMAX.count(LOST) == 1
    broken = SOFTMAX.replace(LOST, "")
    (race,) = softmax(broken, 24).findings
    assert race.hint == 'before line 132 add pto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %parity]'
    mended = repaired(broken, race.hint)
    assert softmax(mended, 24).findings == ()
    assert softmax(mended, 288).findings == ()


@pytest.mark.parametrize("half, place", [("set", "// prime"), ("wait", "// drain")])
@pytest.mark.parametrize("pair", ['"PIPE_V", "PIPE_MTE2"', '"PIPE_MTE3", "PIPE_V"'])
def test_what_primes_or_drains_an_id_that_so_few_rows_do_not_get_to(half: str, place: str, pair: str) -> None:
    """With eight rows a block has one tile, and id 1 is only set before the loop and waited for behind it."""
    lost = f'    pto.{half}_flag[{pair}, "EVENT_ID1"]\n'
    assert SOFTMAX.count(lost) == 1
    broken = SOFTMAX.replace(lost, "")
    (found,) = softmax(broken, 24).findings
    assert found.hint is not None and found.hint.endswith(f"{lost.strip()}  {place}") and "\n" not in found.hint
    mended = repaired(broken, found.hint)
    assert softmax(mended, 24).findings == () and softmax(mended, 288).findings == ()


def test_one_lost_wait_is_one_finding_with_the_others_inside() -> None:
    report = softmax(SOFTMAX.replace(LOST, ""), 24)
    (race,) = report.findings
    assert sorted(each.kind for each in race.consequences) == ["double-set", "undrained"]
    assert report.summary == "softmax: 1 error"
    shown = str(race).split("   follows: ")[1]
    assert shown.split("\n")[0].startswith("<text>:134:7: warning: double-set: may set flag MTE3 -> V id 0 again")
    assert "undrained: flag V -> MTE3 id 0" in shown
    data = json.loads(json.dumps(report.to_json()))["findings"]
    assert [each["kind"] for each in data[0]["consequences"]] == ["double-set", "undrained"]
    assert data[0]["consequences"][0]["consequences"] == []
    log = json.loads(json.dumps(sarif(report.findings)))
    assert violations(log) == []
    (result,) = log["runs"][0]["results"]
    assert "follows: <text>:130:7: warning: undrained" in result["message"]["text"]
    assert {"follows: undrained: flag V -> MTE3 id 0 is still set at the end: nothing waits for it"} <= {
        other["message"]["text"] for other in result["relatedLocations"]
    }
    assert [each["kind"] for each in result["properties"]["consequences"]] == ["double-set", "undrained"]


# --- ids --------------------------------------------------------------------------------------------------------------

READY = load() + order("MTE2", "V") + COPY


@table(
    "computed, hinted",
    ("%id = arith.remui %k, %c2 : index", "EVENT_ID2"),  # 0 or 1
    ("%id = arith.andi %k, %c1 : index", "EVENT_ID2"),
    ("%id = arith.addi %k, %c1 : index", None),  # anything
)
def test_an_id_that_is_computed_is_used_as_far_as_it_may_reach(computed: str, hinted: str | None) -> None:
    """This launch takes id 0 alone, so the run says nothing about the others."""
    source = text(
        "    %c2 = arith.constant 2 : index\n    %k = arith.index_cast %rounds : i32 to index\n"
        f"    {computed}\n"
        '    pto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %id]\n    pto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %id]\n'
        + READY
        + store()
        + ALL,
        PARAMETERS + ", %rounds: i32",
    )
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    rounds = -1 if "addi %k" in computed else 2
    (race,) = ptosim.check(ptosim.load(source).kernel(), x, y, rounds).findings
    if hinted is None:
        assert race.hint.startswith("events from V to MTE3 are computed, so none is known to be free; take a buffer:")
        assert "EVENT_ID" not in race.hint
    else:
        assert hinted in race.hint
    assert ptosim.check(ptosim.load(repaired(source, race.hint)).kernel(), x, y, rounds).findings == ()


def values_of(lines: str) -> frozenset[int] | None:
    source = text("    %c2 = arith.constant 2 : index\n" + lines, PARAMETERS + ", %n: index")
    operations = ptosim.load(source).verified.parsed.module.walk()
    (flag,) = [op for op in operations if op.name == "pto.set_flag_dyn"]
    return possible(flag.operands[0])


SET = '      pto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %id]\n'


@table(
    "lines, values",
    (f"    scf.for %id = %c0 to %c4 step %c2 {{\n{SET}    }}\n", {0, 2}),
    (f"    scf.for %id = %c0 to %n step %c2 {{\n{SET}    }}\n", None),
    (
        "    %_ = scf.for %i = %c0 to %n step %c1 iter_args(%id = %c0) -> (index) {\n"
        f"{SET}      %next = arith.subi %c1, %id : index\n      scf.yield %next : index\n    }}\n",
        {0, 1},
    ),
    (
        "    %_ = scf.for %i = %c0 to %n step %c1 iter_args(%id = %c0) -> (index) {\n"
        f"{SET}      %next = arith.addi %c1, %id : index\n      scf.yield %next : index\n    }}\n",
        None,
    ),
    (
        "    %_:2 = scf.for %i = %c0 to %n step %c1 iter_args(%id = %c0, %other = %c4) -> (index, index) {\n"
        f"{SET}      scf.yield %other, %id : index, index\n    }}\n",
        {0, 4},
    ),
    (
        "    %yes = arith.cmpi eq, %n, %c0 : index\n    %one = arith.select %yes, %c1, %c4 : index\n"
        f"    %id = arith.addi %one, %c2 : index\n{SET}",
        {3, 6},
    ),
)
def test_which_integers_a_value_can_be(lines: str, values: set[int] | None) -> None:
    assert values_of(lines.replace("%one =", "%chosen =").replace("addi %one", "addi %chosen")) == values


# --- what is hinted ---------------------------------------------------------------------------------------------------


def test_a_lost_wait_behind_a_constant_set_is_one_line() -> None:
    report = check(load() + order("MTE2", "V") + COPY + put("V", "MTE3") + store() + ALL)
    (race,) = report.findings
    assert race.hint == 'before line 22 add pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'
    assert [each.kind for each in race.consequences] == ["undrained"]


def test_a_lost_set_is_one_line() -> None:
    report = check(load() + order("MTE2", "V") + COPY + take("V", "MTE3") + store() + ALL)
    (wait,) = report.findings
    assert wait.kind in ("unmatched-wait", "deadlock")
    assert wait.hint == 'after line 20 add  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'


def test_half_a_bracket_is_one_line() -> None:
    buffers = (EXAMPLES / "buffers.pto").read_text()
    line = '      pto.get_buf "PIPE_V", %id_in, %c0_i64 : i64, i64\n'
    launch = script("buffers").launch(tiles=4)
    assert buffers.count(line) == 1
    report = ptosim.check(ptosim.load(buffers.replace(line, "")).kernel(), *launch.arguments, grid=launch.grid)
    (finding,) = report.findings
    assert finding.hint == f"before line 41 add {line.strip()}"


def test_buffers_that_overlap_are_named_before_any_flag() -> None:
    """256 bytes are loaded from byte 128 on, while those from byte 256 on are being stored."""
    moved = "    %half = arith.constant 128 : i64\n    %shifted = pto.castptr %half : i64 -> !pto.ptr<f32, ub>\n"
    both = load() + order("MTE2", "V") + COPY + order("V", "MTE3") + store() + load("%x", "%shifted")
    report = check(moved + both + ALL)
    race = report.findings[0]
    said, meant, *edits = race.hint.split("\n")
    buffers = "%shifted (line 14, from byte 128 on) and %out (line 12, from byte 256 on)"
    assert said == f"{buffers} overlap in ub[256:384]: move one of them,"
    assert meant == "or, if they are meant to share these bytes:"
    assert edits and all(EDIT.fullmatch(edit) for edit in edits)


def test_an_edit_that_leaves_an_error_is_not_hinted() -> None:
    """The copy reads beyond its argument, whatever waits for it."""
    beyond = load().replace("%zero, %bytes nburst(%one", "%zero, %bytes nburst(%two")
    report = check("    %two = arith.constant 2 : i64\n" + beyond + COPY + order("V", "MTE3") + store() + ALL)
    assert {"race", "out-of-bounds"} <= {finding.kind for finding in report.findings}
    assert all(finding.hint is None or not EDIT.search(finding.hint) for finding in report.findings)


# --- trying -----------------------------------------------------------------------------------------------------------


def observation(source: str, *found: ptosim.Finding, issued: float = 10) -> Observation:
    program = WrittenProgram(ptosim.load(source).verified)
    memory = GlobalShadow({}, False)
    return Observation(program, found, found, (), {}, {}, frozenset(), memory, issued)


CLEAN = text(load() + order("MTE2", "V") + COPY + order("V", "MTE3") + store() + ALL)
RACE = ptosim.Finding("race", "error", "race")
OUTSIDE = ptosim.Finding("out-of-bounds", "error", "outside")


def shows(*found: ptosim.Finding, issued: float = 10) -> Trial:
    return lambda text, enough=frozenset[str](): observation(text, *found, issued=issued)


@table(
    "larger, holds, is_larger",
    ([], True, False),
    ([[shows(issued=30)]], True, True),
    ([[shows(RACE, issued=30)]], False, True),
    ([[shows(issued=10), shows(RACE, issued=40)]], False, True),  # the first is no larger
    ([[shows(issued=20), shows(RACE, issued=40)]], False, True),  # not by much
    ([[shows(OUTSIDE, issued=30)]], True, False),  # the kernel does not admit it
    ([[shows(OUTSIDE, RACE, issued=30)], [shows(RACE, issued=30)]], False, True),
    ([[shows(RACE, issued=1)]], False, True),  # it stands
)
def test_a_text_must_hold_at_a_larger_size(larger: list[list[Trial]], holds: bool, is_larger: bool) -> None:
    rehearsal = Rehearsal(Trials(shows(), None, larger))
    rehearsal.grant(1)
    assert rehearsal.here(CLEAN) is not None
    assert (rehearsal.holds(CLEAN), rehearsal.is_larger) == (holds, is_larger)


def test_a_text_must_hold_in_all_blocks() -> None:
    rehearsal = Rehearsal(Trials(shows(), shows(RACE)))
    rehearsal.grant(1)
    assert rehearsal.here(CLEAN) is not None
    assert not rehearsal.holds(CLEAN)


def test_trials_are_bounded_and_not_repeated() -> None:
    rehearsal = Rehearsal(Trials(shows(RACE)))
    rehearsal.grant(5)
    for _ in range(3):
        assert rehearsal.here(CLEAN) is not None
    assert rehearsal.runs == 1
    tried = [rehearsal.here(CLEAN + "\n" * number) is not None for number in range(1, 10)]
    assert tried == [True] * 4 + [False] * 5
    assert rehearsal.is_spent
    rehearsal.grant(2)
    tried = [rehearsal.here(CLEAN + "\n" * number) is not None for number in range(1, 10)]
    assert tried == [True] * 6 + [False] * 3


def test_a_trial_ends_with_the_first_conflict_where_order_is_all_that_counts() -> None:
    asked: list[frozenset[str]] = []

    def trial(text: str, enough: frozenset[str] = frozenset()) -> Observation:
        asked.append(enough)
        if "race" in enough:
            raise Enough
        return observation(text, RACE)

    rehearsal = Rehearsal(Trials(trial))
    rehearsal.grant(1)
    assert [rehearsal.here(CLEAN, in_order=True) for _ in range(2)] == [None, None]
    assert (rehearsal.runs, rehearsal.is_spent, len(asked)) == (1, True, 1)
    seen = [rehearsal.here(CLEAN, in_order=in_order) for in_order in (False, True)]  # more is asked about a known text
    assert [each and [finding.kind for finding in each.findings] for each in seen] == [["race"]] * 2
    assert (rehearsal.runs, asked) == (1, [ORDER, frozenset()])


def test_a_clean_kernel_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rehearsal, "__init__", None)
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    assert ptosim.check(ptosim.load(CLEAN).kernel(), x, y).findings == ()


# --- larger launches --------------------------------------------------------------------------------------------------


def enlarged(name: str, **sizes: int) -> list[list[tuple[tuple[int, ...], int]]]:
    """For each way and size the scalars, and the factor by which the arrays have grown."""
    kernel, launch = ptosim.load(EXAMPLES / f"{name}.pto").kernel(), script(name).launch(**sizes)
    arguments = bind(kernel.signature, launch.arguments)
    ways = enlargements(kernel.signature, arguments, list(kernel.program.entries.values()))
    scalars = [index for index, each in enumerate(kernel.signature) if not each.is_pointer]
    return [
        [
            (
                tuple(larger.values[index] for index in scalars),
                len(larger.buffers[0]) // len(arguments.buffers[0]),
            )
            for size in way
            for larger in [size()]
        ]
        for way in ways
    ]


def test_what_decides_a_loop_is_enlarged() -> None:
    assert enlarged("softmax", rows=24) == [[((96,), 4), ((384,), 16), ((1536,), 64)]]


def test_what_decides_no_loop_of_the_scalar_unit_stays() -> None:
    """The tail is the length of the last tile; only the number of tiles says how often the loop runs."""
    assert [way[0] for way in enlarged("pingpong", tiles=2, tail=100)] == [((8, 100), 4)]


def test_a_kernel_without_such_arguments_has_one_size() -> None:
    assert enlarged("abs") == []


def test_arrays_inside_others_are_not_enlarged() -> None:
    kernel = ptosim.load(SOFTMAX).kernel()
    memory = np.zeros((48, 128), np.float32)
    arguments = bind(kernel.signature, (memory, memory[24:], 24))
    assert enlargements(kernel.signature, arguments, list(kernel.program.entries.values())) == []


def test_where_no_larger_size_is_admitted_a_note_says_so() -> None:
    """The kernel reads as many rows as it is told, of an array that cannot grow: it lies inside another."""
    body = (
        "    %n = arith.index_cast %rounds : i32 to index\n    scf.for %i = %c0 to %n step %c1 {\n"
        "      %at = arith.muli %i, %c64 : index\n"
        "      %to = pto.addptr %in, %at : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>\n"
        + load("%x", "%to")
        + "    }\n"
        + store("%in")
        + ALL
    )
    source = text(body, PARAMETERS + ", %rounds: i32")
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    (race,) = ptosim.check(ptosim.load(source).kernel(), x, y, 900).findings
    assert race.hint is not None
    assert race.notes[-1] == "the hint was tried at this size only: no larger one was found that the kernel admits"
    (race,) = ptosim.check(ptosim.load(source).kernel(), x, y, 2).findings
    assert "at this size only" not in race.notes[-1]
