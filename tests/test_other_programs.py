"""What commands write for other programs: JUnit, GitHub, shells."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from ptosim.cli.commands import main
from ptosim.diagnostics import Diagnostic, Location
from ptosim.report.junit import github, junit

SOFTMAX = Path(__file__).parents[1] / "examples" / "softmax.pto"


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Without a wait."""
    line = 'pto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %parity]'
    path = tmp_path / "broken.pto"
    path.write_text("".join(row for row in SOFTMAX.read_text().splitlines(True) if line not in row))
    return path


def test_junit_has_a_case_for_each_kind(broken: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.xml"
    assert CliRunner().invoke(main, ["check", str(broken), "--junit", str(out)]).exit_code == 1
    suite = ElementTree.parse(out).getroot().find("testsuite")
    assert suite is not None and suite.attrib["name"] == "softmax" and suite.attrib["failures"] == "1"
    assert [case.attrib["name"] for case in suite] == ["race"]
    failure = suite[0].find("failure")
    assert failure is not None and failure.text is not None
    assert "MTE3 reads here" in failure.text and failure.attrib["message"].startswith(f"{broken}:")


def test_junit_of_a_clean_kernel_and_of_one_that_does_not_load(tmp_path: Path) -> None:
    out = tmp_path / "found.xml"
    CliRunner().invoke(main, ["check", str(SOFTMAX), "--junit", str(out)])
    (case,) = ElementTree.parse(out).getroot().iter("testcase")
    assert case.attrib["name"] == "clean" and len(case) == 0
    bad = tmp_path / "bad.pto"
    bad.write_text("func.func @k( {\n")
    assert CliRunner().invoke(main, ["verify", str(bad), "--junit", str(out)]).exit_code == 1
    (case,) = ElementTree.parse(out).getroot().iter("testcase")
    assert case.attrib["name"] == "syntax" and case[0].tag == "failure"


def test_what_xml_cannot_say() -> None:
    found = Diagnostic("lint", "warning", 'a "quote" & <tag> \x00 end')
    (case,) = ElementTree.fromstring(junit("k", "a&b.pto", [found])).iter("testcase")
    assert case.attrib["classname"] == "a&b.pto" and "<tag>" in (case[0].text or "") and case[0].tag == "system-out"
    (case,) = ElementTree.fromstring(junit("k", "a.pto", [found], strict=True)).iter("testcase")
    assert case[0].tag == "failure"


def test_commands_of_github_are_escaped_and_few(broken: Path) -> None:
    place = Location("a,b:c.pto", 3, 7)
    many = [Diagnostic("race", "error", "100% of\nit", place) for _ in range(12)]
    lines = github([*many, Diagnostic("lint", "warning", "odd")])
    assert len(lines) == 11
    assert lines[0] == "::error file=a%2Cb%3Ac.pto,line=3,col=7,title=ptosim race::100%25 of%0Ait"
    assert lines[-1] == "::warning title=ptosim lint::odd"
    said = CliRunner().invoke(main, ["check", str(broken), "--github"])
    assert f"::error file={broken},line=132,col=7,title=ptosim race::MTE3 may read" in said.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    said = CliRunner().invoke(main, ["completion", shell])
    assert said.exit_code == 0 and "_PTOSIM_COMPLETE" in said.output


def test_words_are_completed() -> None:
    asked = {"COMP_WORDS": "ptosim prof", "COMP_CWORD": "1", "_PTOSIM_COMPLETE": "bash_complete"}
    program = [str(Path(sys.executable).with_name("ptosim"))]
    said = subprocess.run(program, env={**os.environ, **asked}, capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.split() == ["plain,profile"]
