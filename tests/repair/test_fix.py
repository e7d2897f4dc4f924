"""What `check --fix` and `report.fix()` give: a diff, a text, how it was verified; and what they leave alone."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import ptosim
from ptosim.cli.commands import main
from ptosim.repair import engine
from ptosim.repair.search import Effort
from ptosim.report.check_report import CheckReport
from ptosim.report.fix import Fix
from sanitize.kernels import ALL, COPY, load, order, put, store, take, text
from sanitize.sarif_schema import violations

GOOD = text(load() + order("MTE2", "V") + COPY + order("V", "MTE3") + store() + ALL)
LOST = text(load() + order("MTE2", "V") + COPY + put("V", "MTE3") + store() + ALL)
TWICE = text(load() + order("MTE2", "V") + COPY + order("V", "MTE3") + take("V", "MTE3") + store() + ALL)
OTHER = text(load() + order("MTE2", "V") + COPY + put("V", "MTE3", 3) + take("V", "MTE3") + store() + ALL)
TURNED = text(load() + order("MTE2", "V") + COPY + put("MTE3", "V") + take("V", "MTE3") + store() + ALL)
EARLY = text(load() + order("MTE2", "V") + order("V", "MTE3") + COPY + store() + ALL)
BRACKET = '    pto.get_buf "PIPE_V", 3, 0\n' + COPY + '    pto.rls_buf "PIPE_V", 3, 1\n'
MODE = text(load() + order("MTE2", "V") + BRACKET + order("V", "MTE3") + store() + ALL)
TO_FAR = store().replace("%bytes nburst", "%far nburst")
BEYOND = text("    %far = arith.constant 8192 : i64\n" + load() + COPY + order("V", "MTE3") + TO_FAR + ALL)


def check(source: str) -> CheckReport:
    given = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    return ptosim.check(ptosim.load(source).kernel(), *given)


def changes(fix: Fix) -> list[str]:
    """The lines that a diff adds and removes, without their indentation."""
    lines = fix.diff.split("\n")[2:]
    return [line[0] + line[1:].strip() for line in lines if line[:1] in ("+", "-")]


def flag(name: str, source: str, destination: str, event: int = 0) -> str:
    return f'pto.{name}["PIPE_{source}", "PIPE_{destination}", "EVENT_ID{event}"]'


@pytest.mark.parametrize(
    ("source", "edits"),
    [
        (LOST, ["+" + flag("wait_flag", "V", "MTE3")]),
        (TWICE, ["-" + flag("wait_flag", "V", "MTE3")]),
        (OTHER, ["-" + flag("set_flag", "V", "MTE3", 3), "+" + flag("set_flag", "V", "MTE3")]),
        (MODE, ['-pto.rls_buf "PIPE_V", 3, 1', '+pto.rls_buf "PIPE_V", 3, 0']),
        (TURNED, ["-" + flag("set_flag", "MTE3", "V"), "+" + flag("set_flag", "V", "MTE3")]),
    ],
)
def test_a_line_that_is_missing_too_much_or_wrong(source: str, edits: list[str]) -> None:
    fix = check(source).fix()
    assert fix.verified
    assert changes(fix) == edits
    assert check(fix.text).findings == ()


LOADED = [flag("set_flag", "MTE2", "V"), flag("wait_flag", "MTE2", "V")]
"""The pair that joins the load with what reads it."""


@pytest.mark.parametrize(("source", "destination"), [("V", "MTE2"), ("MTE2", "MTE3")])
def test_a_pair_of_which_both_halves_are_for_other_pipes(source: str, destination: str) -> None:
    fix = check(text(load() + order(source, destination) + COPY + order("V", "MTE3") + store() + ALL)).fix()
    assert fix.verified
    assert changes(fix) == ["+" + line for line in LOADED]


def test_two_pairs_that_share_an_id() -> None:
    both = put("MTE2", "V") + put("MTE2", "V") + take("MTE2", "V") + take("MTE2", "V")
    fix = check(text(load() + both + COPY + order("V", "MTE3") + store() + ALL)).fix()
    assert fix.verified
    assert check(fix.text).findings == ()


@pytest.mark.parametrize(
    ("source", "edits"),
    [
        (OTHER, ["-" + flag("set_flag", "V", "MTE3", 3), "+" + flag("set_flag", "V", "MTE3")]),
        (TURNED, ["-" + flag("set_flag", "MTE3", "V"), "+" + flag("set_flag", "V", "MTE3")]),
    ],
)
def test_a_remark_that_a_stopped_run_did_not_come_to_is_no_obstacle(source: str, edits: list[str]) -> None:
    """Nothing waits for the last copy. A run that stands before it does not show that, one of the mended text does."""
    fix = check(source.replace(ALL, "")).fix()
    assert fix.verified
    assert changes(fix) == edits
    assert [finding.kind for finding in check(fix.text).findings] == ["lint"]


def test_a_pair_in_the_wrong_place_is_moved_or_written_anew() -> None:
    """The flag is set and waited for before anything is computed: either line alone behind that will not do."""
    fix = check(EARLY).fix()
    assert fix.verified
    assert check(fix.text).findings == ()


def test_the_diff_applies(tmp_path: Path) -> None:
    path = tmp_path / "lost.pto"
    path.write_text(LOST)
    fix = check(LOST).fix()
    subprocess.run(["patch", str(path)], input=fix.diff, text=True, check=True, capture_output=True)
    assert path.read_text() == fix.text


def test_a_clean_kernel_stays_as_it_is() -> None:
    fix = check(GOOD).fix()
    assert (fix.diff, fix.text, fix.verified) == ("", GOOD, True)


def test_it_says_how_it_was_verified() -> None:
    assert check(LOST).fix().notes == (engine.CHECKED_ALONE, engine.PROVEN)


def test_what_no_edit_cures_is_left_and_said() -> None:
    """The copy reads far beyond its buffer; the load that nothing waits for is another matter."""
    report = check(BEYOND)
    assert {"race", "out-of-bounds"} <= {finding.kind for finding in report.findings}
    assert all(finding.edits == () for finding in report.findings)
    fix = report.fix()
    assert changes(fix) == ["+" + flag("set_flag", "MTE2", "V"), "+" + flag("wait_flag", "MTE2", "V")]
    assert not fix.verified
    assert [finding.kind for finding in fix.left] == ["out-of-bounds"]
    assert {finding.kind for finding in check(fix.text).errors} == {"out-of-bounds"}


def test_it_gives_up_after_so_many_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    none = Effort(0, 0)
    monkeypatch.setattr(engine, "HINTED", none)
    monkeypatch.setattr(engine, "ASKED", none)
    report = check(LOST)
    assert report.findings[0].hint is None
    fix = report.fix()
    assert (fix.text, fix.diff, fix.verified) == (LOST, "", False)
    assert fix.notes == ("no repair was found; 0 edited texts were checked",)


def test_it_is_looked_for_once_more_where_there_is_no_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "HINTED", Effort(0, 0))
    report = check(LOST)
    assert report.findings[0].hint is None
    assert changes(report.fix()) == ["+" + flag("wait_flag", "V", "MTE3")]


def test_a_hint_is_its_first_edit() -> None:
    (finding,) = check(OTHER).findings
    assert finding.hint == "replace line 21 by " + flag("set_flag", "V", "MTE3")
    (edit,) = finding.edits
    assert (edit.line, edit.count, edit.text) == (21, 1, f"    {flag('set_flag', 'V', 'MTE3')}\n")


def test_sarif_has_it() -> None:
    log = json.loads(json.dumps(check(OTHER).to_sarif()))
    assert violations(log) == []
    (fix,) = log["runs"][0]["results"][0]["fixes"]
    assert fix["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 21, "startColumn": 1, "endLine": 22, "endColumn": 1},
            "insertedContent": {"text": f"    {flag('set_flag', 'V', 'MTE3')}\n"},
        }
    ]


# --- the command ------------------------------------------------------------------------------------------------------


def command(path: Path, *options: str) -> Result:
    result = CliRunner().invoke(main, ["check", str(path), "arange:64", "zeros:64", *options])
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def lost(tmp_path: Path) -> Path:
    path = tmp_path / "lost.pto"
    path.write_text(LOST)
    return path


def test_the_diff_is_on_stdout_and_the_findings_are_not(lost: Path) -> None:
    result = command(lost, "--fix")
    assert result.exit_code == 1
    assert result.stdout.startswith(f"--- {lost}\n+++ {lost}\n@@ ")
    assert "race" not in result.stdout
    assert "error: race" in result.stderr
    assert lost.read_text() == LOST


def test_write_changes_the_file(lost: Path) -> None:
    result = command(lost, "--fix", "--write")
    assert result.exit_code == 0
    assert f"written to {lost}" in result.stderr
    assert command(lost).exit_code == 0
    assert command(lost).stdout == "kernel: no findings\n"


def test_write_keeps_ends_of_lines_and_the_mark(tmp_path: Path) -> None:
    path = tmp_path / "lost.pto"
    path.write_bytes(b"\xef\xbb\xbf" + LOST.replace("\n", "\r\n").encode())
    assert command(path, "--fix", "--write").exit_code == 0
    written = path.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf")
    assert written.count(b"\n") == written.count(b"\r\n") == LOST.count("\n") + 1


def test_write_alone_is_no_use(lost: Path) -> None:
    assert command(lost, "--write").exit_code == 2


def test_what_is_left_stays_an_error(tmp_path: Path) -> None:
    path = tmp_path / "beyond.pto"
    path.write_text(BEYOND)
    result = command(path, "--fix", "--write")
    assert result.exit_code == 1
    assert "fix: no edit was found for out-of-bounds" in result.stderr
    assert path.read_text() != BEYOND


def test_json_has_the_fix_beside_the_findings(lost: Path) -> None:
    found = json.loads(command(lost, "--fix", "--json").stdout)
    assert [finding["kind"] for finding in found["findings"]] == ["race"]
    fix = found["result"]["fix"]
    assert (fix["verified"], fix["left"]) == (True, [])
    assert fix["diff"].startswith(f"--- {lost}\n")
