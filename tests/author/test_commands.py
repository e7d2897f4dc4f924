"""Commands take `script.py:kernel`: findings, hints and constants of the Python file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptosim.cli.commands import main

SCRIPT = """\
from ptosim import pto


@pto.jit(mode="explicit", kernel_kind="vector")
def once(x: pto.ptr(pto.f32, "gm"), z: pto.ptr(pto.f32, "gm"), *, N: pto.const_expr = 1):
    ub = pto.castptr(0, pto.ptr(pto.f32, "ub"))
    m = pto.pset_b32("PAT_ALL")
    pto.mte_gm_ub(x, ub, 0, 256, nburst=(1, 256, 256))
    pto.set_flag("MTE2", "V")
    pto.wait_flag("MTE2", "V")
    for i in range(N):
        pto.vsts(pto.vexp(pto.vlds(ub, 0), m), ub, 0, m)
    pto.mte_ub_gm(ub, z, 256,
                  nburst=(1, 256, 256))
    pto.pipe_barrier("ALL")


@pto.jit()
def other(x: pto.ptr(pto.f32, "gm")):
    t = pto.alloc_tile(shape=[16, 64], dtype=pto.f32)
    v = pto.make_tensor_view(x, shape=[16, 64], strides=[64, 1])
    pto.tile.load(v, t)
    pto.tile.store(t, v)
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(SCRIPT)
    return "kernels.py"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def test_every_command_takes_a_kernel_of_a_script(script: str):
    once = f"{script}:once"
    for words in (
        ("run", once, "rand:64", "zeros:64"),
        ("profile", once, "rand:64", "zeros:64"),
        ("verify", once),
        ("print", once),
        ("lower", once),
        ("plan", f"{script}:other"),
        ("sync", once),
        ("check", f"{script}:other"),
        ("prove", f"{script}:other"),
    ):
        found = run(*words)
        assert found.exit_code == (1 if words[0] == "run" else 0), (words, found.output)
    assert "pto.vecscope" in run("lower", once).output


def test_a_repair_at_the_end_of_a_file_without_a_last_newline(tmp_path: Path):
    script = tmp_path / "kernels.py"
    script.write_text(
        """\
from ptosim import pto

@pto.jit(mode="explicit", kernel_kind="vector")
def last(x: pto.ptr(pto.f32, "gm")):
    u = pto.castptr(0, pto.ptr(pto.f32))
    pto.mte_gm_ub(x, u, 0, 256, nburst=(1, 256, 256))
    pto.set_flag("MTE2", "MTE3")
    pto.wait_flag("MTE2", "MTE3")
    pto.mte_ub_gm(u, x, 256, nburst=(1, 256, 256))"""
    )
    found = run("check", f"{script}:last", "rand:64", "--fix", "--write")
    assert 'hint: at the end of last add pto.pipe_barrier("ALL")' in found.output
    assert script.read_text().endswith('nburst=(1, 256, 256))\n    pto.pipe_barrier("ALL")\n')
    assert run("check", f"{script}:last", "rand:64").exit_code == 0


def test_a_finding_and_its_hint_are_in_python_words(script: str):
    found = run("check", f"{script}:once", "rand:64", "zeros:64")
    assert found.exit_code == 1
    assert "kernels.py:13:5: error: race" in found.output
    assert 'before line 13 add pto.wait_flag("MTE2", "MTE3", event_id=0)' in found.output
    assert "kernels.pto" not in found.output and "in the text" not in found.output


def test_constants_come_by_name(script: str):
    assert "%c3 = arith.constant 3 : index" in run("print", f"{script}:once", "-D", "N=3").output
    found = run("verify", f"{script}:once", "-D", "M=3")
    assert found.exit_code == 2 and "once has no constant 'M'; it has: N" in found.output
    found = run("verify", f"{script}:once", "-D", "N=x")
    assert found.exit_code == 2 and "'x' is no int" in found.output


def test_the_name_of_a_kernel_is_asked_for(script: str):
    found = run("verify", script)
    assert found.exit_code == 2 and "choose one of: once, other" in found.output
    found = run("verify", f"{script}:nothing")
    assert found.exit_code == 2 and "there is no kernel 'nothing' in kernels.py; it has: once, other" in found.output


def test_a_script_that_fails_shows_its_own_lines(tmp_path: Path):
    path = tmp_path / "wrong.py"
    path.write_text("x = 1\ny = x / 0\n")
    found = run("verify", f"{path}:kernel")
    assert found.exit_code == 2 and "line 2" in found.output and "ZeroDivisionError" in found.output
    assert "ptodsl/script.py" not in found.output


def test_a_script_of_the_official_package_runs_unchanged(tmp_path: Path):
    path = tmp_path / "unchanged.py"
    path.write_text(SCRIPT.replace("from ptosim import pto", "from ptodsl import pto, scalar") + "print(once.name)\n")
    words = [sys.executable, "-m", "ptosim.ptodsl", str(path)]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.stdout == "once\n", found.stderr


def test_a_repair_is_written_into_the_python_file(script: str):
    found = run("check", f"{script}:once", "rand:64", "zeros:64", "--fix")
    assert '+    pto.wait_flag("V", "MTE3", event_id=0)' in found.stdout and "PIPE_" not in found.stdout
    assert '-    pto.set_flag("MTE2", "V")' not in found.stdout
    run("check", f"{script}:once", "rand:64", "zeros:64", "--fix", "--write")
    assert run("check", f"{script}:once", "rand:64", "zeros:64").exit_code == 0
    assert "PIPE_" not in Path(script).read_text()


UNROLLED = SCRIPT.replace("for i in range(N):", "for i in pto.static_range(2):").replace(
    "        pto.vsts", "        pto.mte_ub_gm(ub, z, 256, nburst=(1, 256, 256))\n        pto.vsts"
)


def test_a_line_that_serves_several_turns_is_told_and_not_edited(tmp_path: Path):
    path = tmp_path / "unrolled.py"
    path.write_text(UNROLLED)
    found = run("check", f"{path}:once", "rand:64", "zeros:64", "--fix", "--write")
    assert "serves several turns or calls" in found.output or "the hints say what is missing" in found.output
    assert path.read_text() == UNROLLED
