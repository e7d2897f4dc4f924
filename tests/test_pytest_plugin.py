"""The pytest plugin, run in sessions of its own; and what `ptosim.testing` says where a kernel is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ptosim
from cpp.kernels import NEEDS_COMPILER
from ptosim import testing

EXAMPLES = Path(__file__).parents[1] / "examples"
ABS = (EXAMPLES / "abs.pto").read_text()
LOST = 'pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'
MARKED = """
import pytest

@pytest.mark.ptosim("kernels/abs.pto", args="rand:32x32 zeros:32x32")
def test_marked():
    assert True

@pytest.mark.ptosim("kernels/racy.pto")
def test_racy():
    raise RuntimeError("the body is not run")

@pytest.mark.ptosim("kernels/abs.pto", args="rand:32x32 zeros:32x32", cycles_at_most=1)
def test_slow():
    pass

@pytest.mark.ptosim("kernels/racy.pto", clean=False)
def test_findings_do_not_matter():
    pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "abs.pto").write_text("// CHECK-WITH: rand:32x32 zeros:32x32\n// CHECK-WITH: auto auto --grid 1\n" + ABS)
    (kernels / "racy.pto").write_text("// CHECK-WITH:\n" + ABS.replace(LOST, ""))
    (kernels / "plain.pto").write_text(ABS.replace(LOST, ""))
    (tmp_path / "test_kernels.py").write_text(MARKED)
    return tmp_path


def session(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    own = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-p", "ptosim.pytest_plugin", "-p", "no:cacheprovider", "-rA", *words]
    return subprocess.run(command, cwd=project, env=os.environ | own, capture_output=True, text=True, check=False)


def test_marks_and_lines(project: Path) -> None:
    said = session(project).stdout
    assert "4 passed, 3 failed" in said or "3 failed, 4 passed" in said, said
    for passed in ("test_marked", "test_findings_do_not_matter", "line 1: rand:32x32 zeros:32x32", "line 2: auto auto"):
        assert f"PASSED test_kernels.py::{passed}" in said or f"::{passed}" in said.partition("PASSED")[2]
    assert "MTE3 reads here" in said and "pto.mte_ub_gm" in said  # the excerpt of the source
    assert "the body is not run" not in said.partition("short test summary")[2]
    assert "cycles" in said and "% more than 1" in said
    assert "plain.pto" not in said  # it has no line that says how to check it


def test_stored_cycles(project: Path) -> None:
    session(project, "--ptosim-update", "kernels/abs.pto")
    store = project / "kernels" / "ptosim-cycles.toml"
    kept = store.read_text()
    assert '["abs.pto"]' in kept and '"rand:32x32 zeros:32x32" = ' in kept
    assert session(project, "kernels/abs.pto").returncode == 0
    number = kept.partition('"rand:32x32 zeros:32x32" = ')[2].partition("\n")[0]
    store.write_text(kept.replace(f'zeros:32x32" = {number}', f'zeros:32x32" = {int(number) - 1}'))
    said = session(project, "kernels/abs.pto")
    assert said.returncode == 1
    assert f"abs.pto takes {number} cycles, and {int(number) - 1} are stored" in said.stdout
    store.unlink()
    session(project, "--ptosim-update", "-p", "xdist", "-n", "2", "kernels/abs.pto")
    assert store.read_text() == kept, "workers of xdist store something else"


def test_options_that_a_line_does_not_have(project: Path) -> None:
    (project / "kernels" / "abs.pto").write_text("// CHECK-WITH: auto --gird 3\n" + ABS)
    assert "abs.pto:1: --gird is none of --grid" in session(project, "kernels/abs.pto").stdout


def test_the_plugin_is_quick_to_import() -> None:
    """Besides pytest, which is there: no NumPy, nothing of ptosim but its door."""
    program = "import sys, pytest, ptosim.pytest_plugin; print([n for n in sys.modules if n.split('.')[0] in {0}])"
    names = "('numpy', 'click', 'xdsl', 'llvmlite', 'rich')"
    said = subprocess.run(
        [sys.executable, "-c", program.replace("{0}", names)], capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"
    timed = "import pytest, time; t = time.perf_counter(); import ptosim.pytest_plugin; print(time.perf_counter() - t)"
    seconds = [
        float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    assert min(seconds) < 0.005


# --- ptosim.testing ---------------------------------------------------------------------------------------------------


def test_a_kernel_that_is_right() -> None:
    kernel = ptosim.load(EXAMPLES / "abs.pto").kernel()
    x = np.linspace(-1, 1, 1024, dtype=np.float32)
    y = np.zeros_like(x)
    testing.check(kernel, x, y, expect=np.abs(x))
    testing.check(kernel, x, y, expect={1: np.abs(x)})
    testing.check(kernel, x, y, expect=lambda x, y: (None, np.abs(x)), rtol=1e-6)
    testing.check(kernel, x, y, expect=lambda x, y: np.copyto(y, np.abs(x)))
    assert not y.any()


def test_what_is_wrong_with_a_kernel() -> None:
    x, y = np.ones(1024, np.float32), np.zeros(1024, np.float32)
    with pytest.raises(AssertionError, match=r"argument 1 \(out\)|argument 1 \("):
        testing.check(ptosim.load(EXAMPLES / "abs.pto").kernel(), x, y, expect=2 * x)
    with pytest.raises(AssertionError, match="race"):
        testing.check(ptosim.load(ABS.replace(LOST, "")).kernel(), x, y)


def test_a_file_with_words() -> None:
    path = EXAMPLES / "abs.pto"
    assert testing.check_file(path) is None
    assert testing.check_file(path, "rand:32x32 zeros:32x32", count_cycles=True, cycles_at_most=10**6)
    with pytest.raises(ptosim.PTOError, match="takes 2 arguments, but 1 were given"):
        testing.check_file(path, "rand:32x32")


@pytest.mark.parametrize(
    "file",
    ["ranks/all_reduce.pto", "python/softmax.py:softmax", pytest.param("cpp/add.cpp:add", marks=NEEDS_COMPILER)],
)
def test_kernels_of_every_door_with_arguments_made_up(file: str) -> None:
    assert testing.check_file(EXAMPLES / file, count_cycles=True)


def test_launches_on_ranks_are_said_by_words(project: Path) -> None:
    text = (EXAMPLES / "ranks" / "all_reduce.pto").read_text()
    broken = (EXAMPLES / "ranks" / "all_reduce.broken.pto").read_text()
    words = "sym:rand:2x4096 sym:zeros:2x4096 sym:zeros:17 each:zeros:2x4096 ctx:0 rank ranks 1 --ranks 2"
    (project / "kernels" / "all_reduce.pto").write_text(f"// CHECK-WITH: {words}\n// CHECK-WITH: auto\n{text}")
    (project / "kernels" / "broken.pto").write_text(f"// CHECK-WITH: auto\n{broken}")
    said = session(project, "kernels/all_reduce.pto", "kernels/broken.pto").stdout
    assert "2 passed" in said and "1 failed" in said, said
