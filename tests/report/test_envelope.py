"""The object of --json: the same keys for every command, as docs/schema says, and the same from reports."""

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import ptosim
from ptosim.cli.commands import main
from ptosim.report.envelope import described
from tables import table

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ABS, SOFTMAX = str(EXAMPLES / "abs.pto"), str(EXAMPLES / "softmax.pto")
RING = str(next(EXAMPLES.rglob("ring_put.pto")))
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "ptosim.schema.json").read_text()))
KEYS = "ptosim schema command ok file kernel target grid arguments findings notes result".split()
LAUNCH = ("rand:32x32", "zeros:32x32")
LOST = 'pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'


def said(*words: str) -> dict[str, Any]:
    """The object that a command prints, which is as the schema says."""
    result = CliRunner().invoke(main, [*words, "--json"])
    found = json.loads(result.stdout, parse_constant=pytest.fail)
    SCHEMA.validate(found)
    assert list(found) == KEYS + ["repeat"] * ("repeat" in found)
    assert (found["command"], found["ok"]) == (words[0], result.exit_code == 0)
    return found


@pytest.fixture
def racy(tmp_path: Path) -> str:
    path = tmp_path / "racy.pto"
    path.write_text(Path(ABS).read_text().replace(LOST, ""))
    return str(path)


@table(
    "words",
    ("run", ABS, *LAUNCH),
    ("run", ABS, *LAUNCH, "--no-check"),
    ("check", ABS, *LAUNCH),
    ("check", ABS, *LAUNCH, "--fix"),
    ("profile", ABS, *LAUNCH, "--check"),
    ("profile", ABS, *LAUNCH, "--compare", ABS),
    ("prove", ABS),
    ("prove", ABS, *LAUNCH),
    ("sync", ABS, *LAUNCH),
    ("verify", ABS),
    ("verify", ABS, SOFTMAX),
    ("print", ABS),
    ("lower", ABS),
    ("plan", ABS),
    ("isa",),
    ("isa", "vexp"),
    ("explain",),
    ("explain", "race"),
    ("cache",),
    ("check", ABS),
    ("sync", ABS),
    ("run", ABS, "--until", "24"),
    ("completion", "bash"),
    ids=" ".join,
)
def test_every_command_prints_the_object_of_the_schema(words: tuple[str, ...]) -> None:
    found = said(*words)
    assert found["ok"] and found["findings"] == [] and found["result"] is not None
    assert found["ptosim"] == ptosim.__version__ and found["schema"] == 1
    if words[1:] and words[1:2] == (ABS,) and SOFTMAX not in words:
        assert (found["file"], found["kernel"], found["target"]) == (ABS, "abs", "a5")


@table(
    "words, kind",
    (("run", ABS, "rand:31x32", "zeros:32x32"), "out-of-bounds"),
    (("run", ABS, "rand:32x32"), "argument"),
    (("run", ABS, *LAUNCH, "--save", "x"), "argument"),
    (("check", "missing.pto"), "argument"),
    (("verify", ABS, "missing.pto"), "argument"),
    (("isa", "vabz"), "argument"),
    (("explain", "rice"), "argument"),
    ids=" ".join,
)
def test_what_ends_a_command_is_among_the_findings(words: tuple[str, ...], kind: str) -> None:
    found = said(*words)
    assert [each["kind"] for each in found["findings"]] == [kind]


def test_new_and_a_command_of_a_group_are_in_the_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert said("new", "made")["ok"]
    result = CliRunner().invoke(main, ["cpp", "host", str(tmp_path / "missing.cpp"), "--json"])
    found = json.loads(result.stdout)
    SCHEMA.validate(found)
    assert (found["command"], found["ok"], result.exit_code) == ("cpp host", False, 2)


def test_findings_of_a_check_and_of_a_run(racy: str) -> None:
    for command in ("check", "run", "profile"):
        found = said(command, racy, *LAUNCH, *(["--check"] if command == "profile" else []))
        assert not found["ok"] and [each["kind"] for each in found["findings"]] == ["race"]
    assert said("check", racy, *LAUNCH)["result"]["errors"] == 1
    assert said("prove", racy)["result"]["verdict"] == "not in order"


def test_a_run_tells_the_arrays_before_and_behind() -> None:
    found = said("run", ABS, *LAUNCH)
    x, y = found["arguments"]
    assert (x["name"], x["dtype"], x["shape"], y["min"], y["max"]) == ("x", "float32", [32, 32], 0, 0)
    (first, second) = found["result"]["arrays"]
    assert first == x and second["sha256"] != y["sha256"] and 0 <= second["min"] <= second["max"] <= 1


def test_what_is_said_of_values() -> None:
    array = np.array([[1, np.nan], [-2, np.inf]], ml_dtypes.bfloat16)
    told = described(0, "x", "!pto.ptr<bf16, gm>", array)
    assert (told["dtype"], told["shape"], told["min"], told["max"], told["not_finite"]) == (
        "bfloat16",
        [2, 2],
        -2,
        1,
        2,
    )
    assert described(1, "n", "i32", 7)["value"] == 7
    assert described(1, "n", "f32", float("-inf"))["value"] == "-inf"
    assert described(2, "e", "!pto.ptr<i8, gm>", np.zeros(0, np.int8))["min"] is None


def test_reports_give_the_object_of_their_command() -> None:
    kernel = ptosim.load(ABS).kernel()
    x = np.random.default_rng(0).uniform(-1, 1, (32, 32)).astype("f4")
    y = np.zeros((32, 32), "f4")
    assert ptosim.check(kernel, x, y).to_json() == said("check", ABS, *LAUNCH)
    assert json.loads(json.dumps(ptosim.profile(kernel, x, y).to_json())) == said("profile", ABS, *LAUNCH)
    assert ptosim.prove(kernel).to_json() == said("prove", ABS)


def test_ranks() -> None:
    words = ["each:rand:256:1", "sym:zeros:256", "sym:zeros:16", "each:zeros:256", "ctx:1", "rank", "ranks", "1"]
    for command in ("check", "run", "profile"):
        found = said(command, RING, *words, "--ranks", "2")
        assert len(found["arguments"][0]["ranks"]) == 2 and found["arguments"][5]["value"] == "rank"


def test_two_runs_say_the_same() -> None:
    assert said("profile", SOFTMAX, "rand:24x128", "zeros:24x128", "24") == said(
        "profile", SOFTMAX, "rand:24x128", "zeros:24x128", "24"
    )
