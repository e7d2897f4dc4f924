"""Argument words and options for several ranks, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main
from ptosim.ranks.rank_words import arrays_of, values_of

RING = str(Path(__file__).parents[1] / "examples" / "ranks" / "ring_put.pto")
WORDS = ["each:arange:256", "sym:zeros:256", "sym:zeros:16", "each:zeros:256", "ctx:1", "rank", "ranks", "1"]


def command(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_a_run_saves_and_compares_the_arrays_of_ranks(tmp_path: Path) -> None:
    for rank in range(3):
        np.save(tmp_path / f"x.{rank}.npy", np.full(256, rank, "f4"))
        np.save(tmp_path / f"want.{rank}.npy", np.full(256, (rank - 1) % 3, "f4"))
    words = [str(tmp_path / "x.{rank}.npy"), *WORDS[1:], "--ranks", "3"]
    files = f"3@*={tmp_path}/want.{{rank}}.npy", f"3@2={tmp_path}/out.npy"
    code, said = command("run", RING, *words, "--expect", files[0], "--save", files[1])
    assert code == 0, said
    assert np.load(tmp_path / "out.npy").tolist() == [1.0] * 256
    assert "y  rank 2  float32 256  [1.0, 1.0" in said


def test_a_result_that_differs_names_the_rank(tmp_path: Path) -> None:
    np.save(tmp_path / "want.npy", np.arange(256, dtype="f4") + 1)
    code, said = command("run", RING, *WORDS, "--ranks", "2", "--expect", f"3@1={tmp_path}/want.npy")
    assert code == 1
    assert "argument 3 (%y) of rank 1 differs from" in said and "in 256 of 256 elements" in said


def test_seeds_differ_by_rank(tmp_path: Path) -> None:
    words = ["each:rand:256:7", *WORDS[1:]]
    saves = [word for rank in (0, 1) for word in ("--save", f"0@{rank}={tmp_path}/{rank}.npy")]
    code, said = command("run", RING, *words, "--ranks", "2", *saves)
    assert code == 0, said
    for rank in (0, 1):
        expected = np.random.default_rng(7 + rank).uniform(-1, 1, 256).astype("f4")
        assert np.array_equal(np.load(tmp_path / f"{rank}.npy"), expected)


def test_random_arrays_without_a_seed_differ_by_argument_and_by_rank() -> None:
    signature = ptosim.load(RING).kernel().signature
    values = values_of(["each:rand:256", "sym:rand:256", *WORDS[2:]], signature, 3)
    arrays = [array for value in values[:2] for array in arrays_of(value, 3)]
    assert len({array.tobytes() for array in arrays}) == 6


def test_a_check_and_a_profile(tmp_path: Path) -> None:
    code, said = command("check", RING, *WORDS, "--ranks", "4", "--repeat", "1")
    assert (code, said.strip()) == (0, "ring_put: no findings")
    code, said = command("check", RING.replace(".pto", ".broken.pto"), *WORDS, "--ranks", "2", "--json")
    assert code == 1
    assert {found["rank"] for found in json.loads(said)["findings"] if found["kind"] == "race"} == {1}
    code, said = command("profile", RING, *WORDS, "--ranks", "2", "--trace", str(tmp_path / "t.json"))
    assert code == 0 and "ring_put on a5" in said
    assert json.loads((tmp_path / "t.json").read_text())


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (["arange:256", *WORDS[1:]], [], "an array belongs to one rank, and there are 2"),
        ([*WORDS[:4], "ctx:0", *WORDS[5:]], [], "argument 0, whose context is asked for, is no window"),
        ([*WORDS[:4], "ctx:x", *WORDS[5:]], [], "a context is written as ctx:N"),
        ([*WORDS[:3], "peer:2:+1", *WORDS[4:]], [], "elements of int32 are not f32"),
        (["peer:9:+1", *WORDS[1:]], [], "argument 9 is no window"),
        (["peer:1:5", *WORDS[1:]], [], "there is no rank 5: ranks are 0 to 1"),
        (WORDS, ["--save", "3=out.npy"], "say whose array"),
        (WORDS, ["--save", "3@*=out.npy"], "a file for every rank has {rank} in its name"),
        (WORDS, ["--save", "3@7=out.npy"], "there is no rank 7"),
        (WORDS, ["--save", "5@0=out.npy"], "argument 5 is no array"),
        (WORDS, ["--oob", "drop"], "--oob is not for launches on several ranks"),
        (WORDS[1:], [], "ring_put takes 8 arguments"),
    ],
)
def test_bad_words(words: list[str], options: list[str], message: str) -> None:
    code, said = command("run", RING, *words, "--ranks", "2", *options)
    assert code == 2
    assert message in said


def test_too_many_ranks() -> None:
    code, said = command("run", RING, *WORDS, "--ranks", "65")
    assert code == 2 and "ranks is a number from 1 to 64, not 65" in said
