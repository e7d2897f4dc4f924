"""The report and its forms: text, plain data, SARIF; and what `ptosim.check` accepts."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import Location, Related
from ptosim.report.sarif import sarif as sarif_log
from ptosim.sanitize.explain import explanation
from ptosim.sanitize.explain import kinds as kinds_of_findings
from sanitize.kernels import ALL, COPY, check, kinds, load, order, store, text
from sanitize.sarif_schema import violations
from sanitize.test_explain import findings
from tables import table

RACY = load() + COPY + store() + ALL
"""Two races: nothing orders anything."""
WARNED = load() + order("MTE2", "V") + COPY + order("V", "MTE3") + store()
"""One warning: nothing waits for the copy."""


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(64, dtype=np.float32), np.zeros(64, np.float32)


def test_ok_means_no_errors() -> None:
    assert not check(RACY).ok
    assert check(WARNED).ok
    assert kinds(check(WARNED)) == ["lint"]


def test_arguments_are_not_changed() -> None:
    x, y = arrays()
    check(RACY, x, y)
    assert (x == np.arange(64)).all()
    assert not y.any()


def test_the_text_ends_with_a_summary() -> None:
    assert str(check(RACY)).endswith("\nkernel: 2 errors")
    assert str(check(WARNED)).endswith("\nkernel: 1 warning")


def test_a_limit_keeps_errors() -> None:
    both = load() + COPY + order("V", "MTE3") + store()
    assert sorted(kinds(check(both))) == ["lint", "race!"]
    report = check(both, max_findings=1)
    assert kinds(report) == ["race!"]
    assert report.omitted == 1
    assert report.summary == "kernel: 1 error (1 more not shown)"


def test_plain_data() -> None:
    (first, second) = json.loads(json.dumps(check(RACY).to_json()))["findings"]
    assert first["kind"] == second["kind"] == "race"
    assert first["location"]["line"] != second["location"]["line"]
    assert {"severity", "message", "related", "hint", "core", "pipe", "bytes", "block", "loops", "count"} <= set(first)


def test_a_report_shows_itself_as_it_prints() -> None:
    report = check(RACY)
    assert repr(report) == str(report)


# --- SARIF ------------------------------------------------------------------------------------------------------------


def sarif(report: Any) -> Any:
    return json.loads(json.dumps(report.to_sarif()))


def test_sarif_of_races() -> None:
    log = sarif(check(RACY))
    assert violations(log) == []
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["race"]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [("race", "error")] * 2
    regions = [result["locations"][0]["physicalLocation"]["region"] for result in run["results"]]
    # line 19: "    pto.mte_ub_gm", line 16: "      %v = pto.vlds"
    assert {"startLine": 19, "startColumn": 5, "endLine": 19, "endColumn": 18} in regions
    assert {"startLine": 16, "startColumn": 12, "endLine": 16, "endColumn": 20} in regions


@pytest.mark.parametrize("kind", kinds_of_findings())
def test_sarif_of_every_kind_is_valid(kind: str) -> None:
    each = explanation(kind)
    log = json.loads(json.dumps(sarif_log(findings(each.kernel, each.arguments, each.ranks))))
    assert violations(log) == []
    assert kind in {result["ruleId"] for result in log["runs"][0]["results"]}


@table(
    "file, uri",
    ("kernel.pto", "kernel.pto"),
    ("my kernels/größe 100%.pto", "my%20kernels/gr%C3%B6%C3%9Fe%20100%25.pto"),
    ("/a b/k#1.pto", "file:///a%20b/k%231.pto"),
    ("<text>", "%3Ctext%3E"),
)
def test_sarif_names_files_by_uri(file: str, uri: str) -> None:
    finding = ptosim.Finding("race", "error", "message", Location(file, 1, 1, 4))
    log = sarif_log([finding])
    assert violations(log) == []
    (place,) = log["runs"][0]["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_sarif_lists_what_follows_alike_in_several_blocks_once() -> None:
    place, other = Location("k.pto", 3, 1, 4), Related(Location("k.pto", 2, 1, 4), "V writes here")
    follows = ptosim.Finding("undrained", "warning", "left over", place, core="r1.b0.aiv0")
    finding = replace(follows, kind="race", severity="error", related=(other, other), consequences=(follows,) * 2)
    log = sarif_log([finding])
    assert violations(log) == []
    (result,) = log["runs"][0]["results"]
    assert len(result["relatedLocations"]) == 2 and result["properties"]["rank"] == 1


@table(
    "change",
    lambda log: log.pop("version"),
    lambda log: log["runs"][0]["tool"].pop("driver"),
    lambda log: log["runs"][0]["results"][0].pop("message"),
    lambda log: log["runs"][0]["results"][0].update(level="fatal"),
    lambda log: log["runs"][0]["results"][0].update(ruleIndex="0"),
    lambda log: log["runs"][0]["results"][0].update(severity="error"),
    lambda log: log["runs"][0]["results"][0].update(locations={}),
    lambda log: log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
    lambda log: log["runs"][0]["results"][0]["locations"][0]["physicalLocation"].pop("artifactLocation"),
)
def test_the_check_of_sarif_finds_what_is_wrong(change: Callable[[Any], Any]) -> None:
    log = sarif(check(RACY))
    change(log)
    assert len(violations(log)) == 1


def test_sarif_carries_the_repair() -> None:
    result = sarif(check(RACY))["runs"][0]["results"][0]
    assert "hint: after line" in result["message"]["text"]


def test_sarif_explains_its_rules() -> None:
    (rule,) = sarif(check(RACY))["runs"][0]["tool"]["driver"]["rules"]
    assert rule["fullDescription"]["text"].startswith("Two pipes touch the same bytes")
    assert rule["help"]["text"] == explanation("race").repair


def test_sarif_of_a_clean_kernel() -> None:
    clean = load() + order("MTE2", "V") + COPY + order("V", "MTE3") + store() + ALL
    assert violations(sarif(check(clean))) == []
    (run,) = sarif(check(clean))["runs"]
    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []


def test_a_finding_without_a_place_is_a_result_without_locations() -> None:
    report = check(load() + order("MTE2", "V") + COPY + order("V", "MTE3") + store() + ALL, *wide())
    (result,) = sarif(report)["runs"][0]["results"]
    assert "locations" not in result


def wide() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(64, np.float32), np.zeros(128, np.float32)


# --- what a call may say ----------------------------------------------------------------------------------------------


@table(
    "options, message",
    ({"mem_bar": "loose"}, "mem_bar is one of relaxed, strict, off"),
    ({"grid": 0}, "grid is a positive integer"),
    ({"blocks": [3]}, "there is no block 3"),
    ({"blocks": ["first"]}, "there is no block 'first'"),
    ({"blocks": "last"}, "blocks is a list of block numbers and 'last', not 'last'"),
    ({"blocks": 0}, "blocks is a list of block numbers and 'last', not 0"),
    ({"max_findings": 0}, "max_findings is a positive integer"),
    ({"max_steps": 0}, "max_steps is a positive integer"),
    ({"grid": 2, "blocks": [0], "unwritten": "error"}, "bytes that no block writes are known only when all blocks run"),
    ({"unwritten": "loud"}, "unwritten is one of off, note, error"),
)
def test_bad_options_raise(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ptosim.PTOError, match=message) as problem:
        check(RACY, **options)
    assert problem.value.diagnostics[0].kind == "argument"


def test_bad_arguments_raise() -> None:
    kernel = ptosim.load(text(RACY)).kernel()
    with pytest.raises(ptosim.PTOError, match="takes 2 arguments"):
        ptosim.check(kernel, np.zeros(64, np.float32))


# --- nothing that a kernel does raises --------------------------------------------------------------------------------


@table(
    "body, found",
    ("    pto.trap\n", ["trap!"]),
    ("    %q = arith.divui %one, %zero : i64\n", ["arithmetic!"]),
    ('    pto.wait_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]\n', ["unmatched-wait!"]),
    ("    scf.for %i = %c0 to %c4 step %none {\n    }\n", ["arithmetic!"]),
    ids=["trap", "division", "hang", "step"],
)
def test_faults_are_findings_with_a_place(body: str, found: list[str]) -> None:
    report = check("    %none = arith.subi %c1, %c1 : index\n" + body)
    assert kinds(report) == found
    assert report.findings[0].line == 14


FOREVER = """    %yes = arith.constant true
    scf.while : () -> () {
      scf.condition(%yes)
    } do {
      scf.yield
    }
"""


@pytest.mark.parametrize("wrapped", [False, True], ids=["while", "inside for"])
def test_a_loop_without_end_is_a_finding(wrapped: bool) -> None:
    body = f"    scf.for %i = %c1 to %c4 step %c1 {{\n{FOREVER}    }}\n" if wrapped else FOREVER
    report = check(body, max_steps=1000)
    assert kinds(report) == ["limit!"]
    (limit,) = report.findings
    assert limit.message == "more than 1000 loop iterations and calls in one block (max_steps)"
    assert (limit.line, limit.loops, limit.core) == (15, (1,), "b0.aiv0") if wrapped else (14, (), "b0.aiv0")


def test_iterations_up_to_the_limit_are_not_a_finding() -> None:
    """Eight rounds of eight, and the eight around them."""
    inner = "      scf.for %j = %c0 to %c8 step %c1 {\n      }\n"
    nest = f"    scf.for %i = %c0 to %c8 step %c1 {{\n{inner}    }}\n"
    assert kinds(check(nest, max_steps=72)) == []
    report = check(nest, max_steps=71)
    assert kinds(report) == ["limit!"]
    assert (report.findings[0].line, report.findings[0].loops) == (14, (7,))
    assert kinds(check(nest, grid=3, max_steps=72)) == []  # it counts per block


def test_after_a_fault_the_other_blocks_still_run() -> None:
    body = """    %block = pto.get_block_idx
    %is_first = arith.cmpi eq, %block, %zero : i64
    scf.if %is_first {
      pto.trap
    }
    pto.wait_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]
"""
    assert kinds(check(body, grid=2)) == ["trap!", "unmatched-wait!"]


def test_after_an_access_outside_the_check_goes_on() -> None:
    long = "    %far = arith.constant 512 : i64\n" + load(length="%far") + load("%y") + ALL
    report = check(long)
    assert kinds(report) == ["out-of-bounds!", "race!"]
    (outside, race) = report.findings
    assert outside.bytes == (0, 512)
    assert "argument 0 (%x), which has 256 bytes: the first byte outside is 256" in outside.message
    assert race.bytes == (0, 256)


def test_both_sides_of_a_copy_are_told_of() -> None:
    """Rows of 64 bytes that start every 32 bytes on both sides; and one that leaves both memories."""
    rows = """    %two = arith.constant 2 : i64
    %row = arith.constant 64 : i64
    %step = arith.constant 32 : i64
    %last = arith.constant 262112 : i64
    %end = pto.castptr %last : i64 -> !pto.ptr<f32, ub>
    %none = pto.addptr %x, %c64 : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
"""
    types = ": !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64\n"
    overlapping = f"    pto.mte_gm_ub %x, %in, %zero, %row nburst(%two, %step, %step) {types}"
    report = check(rows + overlapping + ALL)
    assert [finding.message for finding in report.findings] == [
        "rows of 64 bytes overlap in gm: they start every 32 bytes",
        "rows of 64 bytes overlap in ub: they start every 32 bytes",
    ]
    assert kinds(report) == ["overlap", "overlap"]
    outside = f"    pto.mte_gm_ub %none, %end, %zero, %row nburst(%one, %row, %row) {types}"
    twice = f"    scf.for %i = %c0 to %c2 step %c1 {{\n{outside}    pto.barrier #pto.pipe<PIPE_MTE2>\n    }}\n"
    report = check("    %c2 = arith.constant 2 : index\n" + rows + twice + ALL)
    assert kinds(report) == ["out-of-bounds!", "out-of-bounds!"]
    assert [finding.count for finding in report.findings] == [2, 2]
    assert "%x" in report.findings[0].message and "ub" in report.findings[1].message


def test_an_access_outside_names_the_loop_indices() -> None:
    walk = (
        """    scf.for %i = %c0 to %c4 step %c1 {
      %at = arith.muli %i, %c64 : index
      %from = pto.addptr %x, %at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
"""
        + load("%from")
        + "    pto.barrier #pto.pipe<PIPE_MTE2>\n    }\n"
    )
    report = check(walk + ALL)
    assert kinds(report) == ["out-of-bounds!"]
    assert (report.findings[0].loops, report.findings[0].count) == ((1,), 3)


def test_the_end_of_a_kernel_without_a_barrier_is_remarked_on_with_an_edit() -> None:
    report = check(WARNED)
    (finding,) = report.findings
    assert finding.message == "the kernel ends while MTE3 may still be copying: nothing waits for it"
    assert finding.hint == "before line 24 add pto.barrier #pto.pipe<PIPE_ALL>"
    assert kinds(check(WARNED + order("MTE3", "S"))) == []
    assert kinds(check(WARNED + order("MTE3", "V"))) == ["lint"]


def test_loop_registers_may_be_left_set_at_the_end() -> None:
    """They are reset for every block, and no later copy goes by them."""
    two = "    %two = arith.constant 2 : i64\n"
    assert kinds(check(two + "    pto.set_loop_size_outtoub %two, %one : i64, i64\n")) == []
