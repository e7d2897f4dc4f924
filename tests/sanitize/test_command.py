"""The commands check and explain."""

import io
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptosim.cli.commands import main
from ptosim.report import progress
from ptosim.sanitize.explain import explanation, kinds
from sanitize.kernels import text

EXAMPLES = Path(__file__).parents[2] / "examples"
ABS = str(EXAMPLES / "abs.pto")


def ptosim(*words: str) -> Result:
    result = CliRunner().invoke(main, list(words))
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def race(tmp_path: Path) -> str:
    path = tmp_path / "race.pto"
    path.write_text(explanation("race").kernel)
    return str(path)


@pytest.fixture
def lint(tmp_path: Path) -> str:
    path = tmp_path / "lint.pto"
    path.write_text(explanation("lint").kernel)
    return str(path)


def test_a_clean_kernel() -> None:
    result = ptosim("check", ABS, "rand:32x32", "zeros:32x32")
    assert (result.exit_code, result.stdout) == (0, "abs: no findings\n")


def test_errors_make_the_exit_code_1(race: str) -> None:
    result = ptosim("check", race, "rand:64", "zeros:64")
    assert result.exit_code == 1
    assert f"{race}:19:5: error: race: MTE3 may read ub[256:512] before V has written it\n" in result.stdout
    assert result.stdout.endswith("race: 1 error\n")


def test_warnings_do_so_when_strict(lint: str) -> None:
    assert ptosim("check", lint, "rand:64", "zeros:64").exit_code == 0
    assert ptosim("check", lint, "rand:64", "zeros:64", "--strict").exit_code == 1


def test_json(race: str) -> None:
    result = ptosim("check", race, "rand:64", "zeros:64", "--json")
    (finding,) = json.loads(result.stdout)["findings"]
    assert (finding["kind"], finding["location"]["line"], result.exit_code) == ("race", 19, 1)
    assert json.loads(ptosim("check", ABS, "rand:32x32", "zeros:32x32", "--json").stdout)["findings"] == []


def test_sarif(race: str, tmp_path: Path) -> None:
    path = tmp_path / "out.sarif"
    assert ptosim("check", race, "rand:64", "zeros:64", "--sarif", str(path)).exit_code == 1
    log = json.loads(path.read_text())
    assert log["runs"][0]["results"][0]["ruleId"] == "race"
    assert ptosim("check", race, "rand:64", "zeros:64", "--sarif", str(tmp_path / "no" / "way")).exit_code == 2


def test_sarif_of_a_kernel_that_does_not_load(tmp_path: Path) -> None:
    kernel, path = tmp_path / "syntax.pto", tmp_path / "out.sarif"
    kernel.write_text(explanation("syntax").kernel)
    path.write_text("of an earlier check")
    assert ptosim("check", str(kernel), "rand:64", "zeros:64", "--sarif", str(path)).exit_code == 1
    (result,) = json.loads(path.read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("syntax", "error")


def test_what_the_verifier_warns_of_is_counted_too(tmp_path: Path) -> None:
    kernel = tmp_path / "target.pto"
    buffers = '    pto.get_buf "PIPE_V", 0, 0\n    pto.rls_buf "PIPE_V", 0, 0\n'
    kernel.write_text(text(buffers, arch="a2a3"))
    result = ptosim("check", str(kernel), "rand:64", "zeros:64")
    assert result.stdout.count("warning: wrong-target: ") == 2
    assert result.stdout.endswith("kernel: 2 warnings\n")


def test_options_reach_the_check(tmp_path: Path) -> None:
    alias = tmp_path / "alias.pto"
    alias.write_text(explanation("scope-alias").kernel)
    words = ("check", str(alias), "rand:64", "zeros:64")
    assert ptosim(*words).stdout.endswith("scope_alias: 1 error, 1 warning\n")
    assert ptosim(*words, "--mem-bar", "strict").stdout.endswith("scope_alias: 2 errors\n")
    assert ptosim(*words, "--mem-bar", "off").stdout == "scope_alias: no findings\n"
    assert ptosim(*words, "--max-findings", "1").stdout.endswith("scope_alias: 1 error (1 more not shown)\n")


def test_max_steps() -> None:
    words = ("check", str(EXAMPLES / "pingpong.pto"), "rand:4096", "zeros:4096", "4", "1024")
    assert ptosim(*words, "--max-steps", "68").exit_code == 0  # 4 tiles of 16 registers
    result = ptosim(*words, "--max-steps", "67")
    assert result.exit_code == 1
    assert "error: limit: more than 67 loop iterations and calls in one block (max_steps)" in result.stdout
    assert ptosim(*words, "--max-steps", "0").exit_code == 2


def test_blocks() -> None:
    words = ("check", str(EXAMPLES / "pingpong.pto"), "rand:3x4096", "zeros:3x4096", "4", "1024", "--grid", "3")
    assert ptosim(*words, "--blocks", "0,last").exit_code == 0
    assert ptosim(*words, "--blocks", "0,3").exit_code == 2
    assert ptosim(*words, "--blocks", "zero").exit_code == 2


def test_unwritten(tmp_path: Path) -> None:
    words = ("check", str(EXAMPLES / "pingpong.pto"), "rand:4096", "zeros:5000", "4", "1024")
    said = "lint: no block writes 3616 of the 20000 bytes of %y, first %y[16384:20000]"
    noted = ptosim(*words, "--strict")
    assert (noted.exit_code, noted.stdout) == (0, f"note: {said}\npingpong: no findings\n")
    assert said not in ptosim(*words, "--unwritten=off").stdout
    failed = ptosim(*words, "--unwritten=error")
    assert (failed.exit_code, failed.stdout) == (1, f"error: {said}\npingpong: 1 error\n")
    assert ptosim(*words, "--grid", "2", "--blocks", "0", "--unwritten=error").exit_code == 2
    assert "no block writes" not in ptosim(*words, "--grid", "2", "--blocks", "0").stdout


def test_wrong_use(race: str) -> None:
    assert ptosim("check", race, "rand:64").exit_code == 2
    assert ptosim("check").exit_code == 2


def test_a_kernel_that_does_not_load(tmp_path: Path) -> None:
    path = tmp_path / "syntax.pto"
    path.write_text(explanation("syntax").kernel)
    result = ptosim("check", str(path), "rand:64", "zeros:64")
    assert result.exit_code == 1
    assert "error: syntax:" in result.stderr


def test_explain() -> None:
    result = ptosim("explain", "race")
    assert result.exit_code == 0
    assert result.stdout.startswith("race (error)\n")
    assert "unmatched-wait" in ptosim("explain").stdout
    unknown = ptosim("explain", "raze")
    assert unknown.exit_code == 2
    assert "there is no kind 'raze'" in unknown.stderr


@pytest.mark.parametrize("kind", kinds())
def test_explain_every_kind(kind: str) -> None:
    result = ptosim("explain", kind)
    assert result.exit_code == 0
    each = explanation(kind)
    assert result.stdout.startswith(f"{kind} (")
    assert each.kernel.strip().split("\n")[1] in result.stdout
    assert all(line in result.stdout for line in each.changes.split("\n"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("command, runs", [("check", 1), ("profile", 1), ("profile --check", 2)])
@pytest.mark.parametrize("words, shown", [((), True), (("--json",), False)], ids=["text", "json"])
def test_a_bar_shows_how_far_a_long_run_is(
    command: str, runs: int, words: tuple[str, ...], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once here; otherwise after two seconds. Nobody waits for it on a pipe, and --json is for programs."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    given = "rand:40x4096", "zeros:40x4096", "4", "1024"
    with pytest.raises(SystemExit) as ended:
        main.main([*command.split(), str(EXAMPLES / "pingpong.pto"), *given, "--grid", "40", *words])
    assert ended.value.code == 0
    assert (f"/{40 * runs}" in terminal.getvalue() and "blocks" in terminal.getvalue()) is shown
