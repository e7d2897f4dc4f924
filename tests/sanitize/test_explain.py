"""Every kind of finding has a text, a kernel that has it and a repair that works; the page shows them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import ptosim
from ptosim.argument_words import value_of
from ptosim.cli.commands import main
from ptosim.diagnostics import SEVERITY
from ptosim.ranks.rank_words import values_of
from ptosim.ranks.world import world_of
from ptosim.report.explanation import listing, terminal
from ptosim.report.python_explanation import explained_in_python
from ptosim.sanitize.explain import Explanation, explanation, kinds
from sanitize.document import PAGE, page

ROOT = Path(__file__).parents[2]


def findings(text: str, arguments: tuple[str, ...], ranks: int | None) -> tuple[ptosim.Finding, ...]:
    try:
        kernel = ptosim.load(text).kernel()
        if ranks is not None:
            return world_of(kernel, values_of(arguments, kernel.signature, ranks), ranks).check().findings
        values = [value_of(word, parameter) for word, parameter in zip(arguments, kernel.signature, strict=False)]
        return ptosim.check(kernel, *values).findings
    except ptosim.PTOError as problem:
        return problem.diagnostics


def explanations() -> list[Explanation]:
    """Of every kind, and those of what it is between ranks."""
    found = [explanation(kind) for kind in kinds()]
    return [*found, *(each.between_ranks for each in found if each.between_ranks is not None)]


EACH = pytest.mark.parametrize("each", explanations(), ids=lambda each: each.file)


def test_every_kind_is_explained() -> None:
    assert set(kinds()) == set(SEVERITY)


@EACH
def test_the_kernel_has_the_finding(each: Explanation) -> None:
    found = findings(each.kernel, each.arguments, each.ranks)
    assert each.kind in {finding.kind for finding in found}
    assert found[0].kind == each.kind, "what is explained comes first"


@EACH
def test_the_repaired_kernel_has_no_finding(each: Explanation) -> None:
    assert findings(each.repaired, each.repaired_arguments, each.ranks) == ()


@EACH
def test_the_repair_is_small(each: Explanation) -> None:
    changed = [line for line in each.changes.split("\n") if line.startswith(("+", "-"))]
    assert len(changed) <= 6
    assert changed or each.arguments != each.repaired_arguments


def test_an_explanation_shows_the_kernel_and_the_repair() -> None:
    text = terminal(explanation("race"))
    assert text.startswith("race (error)\n")
    assert "ptosim check race.pto rand:64 zeros:64" in text
    assert '+    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]' in text


def test_what_is_something_else_between_ranks_is_told_too() -> None:
    text = terminal(explanation("race"))
    assert "ptosim check race.ranks.pto each:rand:64 sym:zeros:64 peer:1:+1" in text and "--ranks 2" in text
    assert "+    pto.fence.barrier_all #pto.fence_scope<gm>" in text
    second = explanation("lint").to_json()["between_ranks"]
    assert (second["kind"], second["ranks"]) == ("lint", 2) and "treduce" in second["changes"]
    assert explanation("trap").to_json()["between_ranks"] is None


def test_the_list_has_a_line_for_each() -> None:
    assert [line.split()[0] for line in listing().split("\n")] == list(kinds())


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(ptosim.PTOError, match="the kinds are race, scope-alias"):
        explanation("raze")


def test_the_pytest_example(tmp_path: Path) -> None:
    """It passes, and with a kernel that is wrong it says all that the check has to say."""
    example = (
        (ROOT / "docs/explanation/sanitizer.md")
        .read_text("utf-8")
        .partition("In a test of your own:")[2]
        .split("```python\n")[1]
        .split("```")[0]
    )
    broken = tmp_path / "broken.pto"
    softmax = (ROOT / "examples" / "softmax.pto").read_text("utf-8")
    wait = '      pto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %parity]\n'
    broken.write_text(softmax.replace(wait, ""))
    (tmp_path / "test_clean.py").write_text(example)
    (tmp_path / "test_broken.py").write_text(example.replace("examples/softmax.pto", str(broken)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "1 failed, 1 passed" in ended.stdout and "FAILED" in ended.stdout and "test_clean.py" not in ended.stdout
    assert "error: race: MTE3 may read ub[" in ended.stdout
    assert 'add pto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %parity]' in ended.stdout


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "run python tests/sanitize/document.py"


def test_changes_are_lines_of_the_two_kernels() -> None:
    each = Explanation("race", "", "", "a\nb\n", "a\nc\n", (), ())
    assert each.changes == "@@ -1,2 +1,2 @@\n a\n-b\n+c"


IN_PYTHON = [kind for kind in kinds() if explained_in_python(kind).file.endswith(f".py:{kind.replace('-', '_')}")]


def test_most_kernels_have_a_form_in_python() -> None:
    assert {*kinds()} - {*IN_PYTHON} == {"stream-misuse", "syntax", "unsupported", "wrong-rank"}
    shown = terminal(explained_in_python("syntax"))
    assert "shown as text" in shown and "ptosim check syntax.pto" in shown


@pytest.mark.parametrize("kind", IN_PYTHON)
def test_the_kernel_in_python_has_the_finding_and_its_repair_none(kind: str, tmp_path: Path) -> None:
    each = explained_in_python(kind)
    file, _, name = each.file.partition(":")
    ranks = () if each.ranks is None else ("--ranks", str(each.ranks))
    for text, words in ((each.kernel, each.arguments), (each.repaired, each.repaired_arguments)):
        (tmp_path / file).write_text(text)
        found = CliRunner().invoke(main, ["check", f"{tmp_path / file}:{name}", *words, *ranks, "--json"])
        report = json.loads(found.output)
        kinds_found = [finding["kind"] for finding in report["findings"]]
        assert kinds_found[:1] == ([kind] if text == each.kernel and words == each.arguments else []), found.output
