"""The file that describes a sweep: the cases it stands for, and what is said of one that is wrong, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptosim
from ptosim.fleet.case import Case, seeded
from ptosim.fleet.spec import read_spec

EXAMPLES = Path(__file__).parents[2] / "examples"
GOOD = """kernels = ["tiles/softmax.pto"]
what    = "run"
args    = ["rand:{n}x128", "zeros:{n}x128", "{n}"]
rtol    = 1e-5
expect  = { 1 = "reference.py:softmax" }
[vary]
n = [8, 24]
grid = [1, 4]
schedule = ["program", "random:{seed}"]
seed = { from = 3, count = 2 }
[limits]
seconds = 30
memory = "2GB"
"""
REFERENCE = """import numpy as np

def softmax(x, y, rows):
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiles").symlink_to(EXAMPLES / "tiles")
    (tmp_path / "reference.py").write_text(REFERENCE)
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def test_the_cases_of_a_file(folder: Path) -> None:
    spec = read_spec(written(folder, GOOD))
    cases = list(spec.cases())
    assert len(cases) == spec.size == 16 == len({case.key("1") for case in cases})
    first, second = cases[0], cases[3]
    assert first.words == ("rand:8x128", "zeros:8x128", "8") and (first.grid, first.seed) == (1, 3)
    assert second.schedule == "random:4" and "--schedule random:4" in second.repeat()
    assert spec.limits.seconds == 30 and spec.limits.memory == 2 << 30
    assert first.expect[1].kind == "function"
    assert first.key("1") != first.key("2")  # another version is another case


def test_a_directory_means_all_its_kernels(folder: Path) -> None:
    cases = list(read_spec(folder / "tiles").cases())
    assert {Path(case.kernel).name for case in cases} == {path.name for path in (EXAMPLES / "tiles").glob("*.pto")}
    assert all(case.words == ("auto",) and case.timed and case.what == "check" for case in cases)


@pytest.mark.parametrize(
    ("before", "after", "line", "message"),
    [
        ("what ", "waht ", 2, "'waht' is no key of a sweep"),
        ('"run"', '"walk"', 2, "what is one of run, check, profile, prove, not 'walk'"),
        ('"run"', '"check"', 9, 'schedule is for what = "run"'),
        ('"{n}"]', '"{m}"]', 3, "'{m}' names {m}, which [vary] does not have"),
        ("n = [8, 24]", "n = [8, 24]\nm = [1]", 8, "nothing uses 'm'"),
        ("n = [8, 24]", "n = []", 7, "n is a list of values"),
        ("n = [8, 24]", "n = [8, 8]", 7, "n has a value twice"),
        ("count = 2", "cuont = 2", 10, "seed is a list, or { from = 0, count = 20 }"),
        ("seconds = 30", "seconds = 0", 12, "seconds is more than 0"),
        ('"2GB"', '"lots"', 13, "memory is written as 2GB, not 'lots'"),
        ("memory", "momery", 13, "'momery' is no key of [limits]"),
        ("[8, 24]", "[8, 24", 8, "syntax"),
        ("1 = ", "one = ", 5, "expect has numbers of arguments"),
        ("rtol    = 1e-5", 'rtol    = "a"', 4, "rtol is a number from 0 on"),
        ("[limits]", "[tune]\nkeep = 2\n[limits]", 12, "keep is a share between 0 and 1"),
        ("[limits]", "[tune]\nsmall = { k = 2 }\n[limits]", 12, "small has 'k', which [vary] does not have"),
    ],
)
def test_what_is_wrong_and_where(folder: Path, before: str, after: str, line: int, message: str) -> None:
    text = GOOD.replace(before, after, 1)
    assert text != GOOD
    with pytest.raises(ptosim.PTOError) as caught:
        list(read_spec(written(folder, text)).cases())
    (found,) = caught.value.diagnostics
    assert message in f"{found.kind}: {found.message}" and found.line == line


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("tiles/softmax.pto", "tiles/missing.pto", "cannot read tiles/missing.pto"),
        ("tiles/softmax.pto", "nowhere/*.pto", "there is no file nowhere/*.pto"),
        ("reference.py:softmax", "reference.py:other", "cannot take reference.py:other: AttributeError"),
        ("reference.py:softmax", "missing.npy", "cannot take missing.npy: FileNotFoundError"),
        ("n = [8, 24]", 'n = ["a"]\ngrid = [0]', "grid"),
    ],
)
def test_what_only_the_files_show(folder: Path, before: str, after: str, message: str) -> None:
    text = GOOD.replace(before, after, 1)
    if "grid = [0]" in after:
        text = text.replace("grid = [1, 4]\n", "")
    with pytest.raises(ptosim.PTOError, match="(?s)" + message.replace("*", r"\*")):
        list(read_spec(written(folder, text)).cases())


def test_without_words_the_command_has_none() -> None:
    assert Case("a.pto", "").repeat() == "ptosim check a.pto"
    assert Case("a.pto", "", words=("auto", "8")).repeat(("rand:8", "8")) == "ptosim check a.pto rand:8 8"


def test_words_get_a_seed_where_they_have_none() -> None:
    said = {
        "rand:8x128": "rand:8x128:5",
        "rand:8x128:7": "rand:8x128:7",
        "rand:8:f16": "rand:8:f16:5",
        "rand:8:-1..2": "rand:8:5:-1..2",
        "index:8:4": "index:8:4:5",
        "index:8:4:2": "index:8:4:2",
        "zeros:8": "zeros:8",
        "24": "24",
    }
    assert {word: seeded(word, 5) for word in said} == said


def test_kernels_in_python_are_traced_with_their_constants(folder: Path) -> None:
    (folder / "add.py").symlink_to(EXAMPLES / "python" / "add.py")
    text = 'kernels = ["add.py:add"]\nargs = "auto"\ndefine = { ROWS = "{rows}" }\n[vary]\nrows = [16, 32]\n'
    cases = list(read_spec(written(folder, text)).cases())
    assert ["16x256" in case.text for case in cases] == [True, False]
    assert [case.repeat().split()[-2:] for case in cases] == [["-D", "ROWS=16"], ["-D", "ROWS=32"]]
    assert len({case.key("1") for case in cases}) == 2
    with pytest.raises(ptosim.PTOError) as caught:
        list(read_spec(written(folder, text.replace("ROWS =", "COLS ="))).cases())
    assert caught.value.diagnostics[0].line == 3
    with pytest.raises(ptosim.PTOError, match="define is for kernels in Python"):
        list(read_spec(written(folder, text.replace("add.py:add", "tiles/softmax.pto"))).cases())
