"""Kernels from the cache: a second process neither parses nor compiles, and does the same."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ptosim import api
from ptosim.cli.commands import main
from ptosim.diagnostics import Diagnostic, PTOError
from ptosim.native.host import library
from ptosim.native.host.cache import UnusableCache

KERNEL = """
func.func @scale(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %s: f32, %bytes: i64) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c0_i64 = arith.constant 0 : i64
  %c1_i64 = arith.constant 1 : i64
  %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
  pto.mte_gm_ub %x, %ub, %c0_i64, %bytes nburst(%c1_i64, %c0_i64, %c0_i64)
    : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  pto.barrier #pto.pipe<PIPE_ALL>
  pto.vecscope {
    %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
    %v = pto.vlds %ub[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    %w = pto.vmuls %v, %s, %m : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    %i = pto.get_block_idx
    pto.vsts %w, %ub[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
  }
  pto.barrier #pto.pipe<PIPE_ALL>
  pto.mte_ub_gm %ub, %y, %bytes nburst(%c1_i64, %c0_i64, %c0_i64)
    : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
  pto.barrier #pto.pipe<PIPE_ALL>
  return
}
"""

RUN = """
import json, sys
import numpy as np
import ptosim
kernel = ptosim.load(sys.argv[1], **json.loads(sys.argv[2])).kernel()
x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
problem = None
try:
    kernel(x, y, 2.5, int(sys.argv[3]), engine="native", oob=sys.argv[4])
except ptosim.PTOError as error:
    problem = error.diagnostics[0].to_json()
print(json.dumps({
    "y": y.tolist(), "error": problem, "warnings": [warning.to_json() for warning in kernel.module.warnings],
    "target": kernel.module.target,
    "signature": [str(parameter) for parameter in kernel.signature],
    "xdsl": any(name.partition(".")[0] == "xdsl" for name in sys.modules),
    "compiled": "ptosim.native.build.program" in sys.modules,
}))
"""


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    path = tmp_path / "scale.pto"
    path.write_text(KERNEL)
    return path


def run(path: Path, home: Path, size: int = 256, oob: str = "error", target: str | None = None, **more: str) -> Any:
    environment = {**os.environ, "XDG_CACHE_HOME": str(home), **more}
    if "PTOSIM_CACHE" not in more:
        environment.pop("PTOSIM_CACHE", None)
    options = json.dumps({} if target is None else {"target": target})
    command = [sys.executable, "-c", RUN, str(path), options, str(size), oob]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


@dataclass(frozen=True)
class Here:
    """A run in this process."""

    y: list[float]
    error: Diagnostic | None
    module: api.Module
    from_cache: bool


def here(path: Path, size: int = 256, oob: str = "error", target: str | None = None) -> Here:
    module = api.load(path, target)
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    problem = None
    try:
        module.kernel()(x, y, 2.5, size, engine="native", oob=oob)
    except PTOError as error:
        problem = error.diagnostics[0]
    return Here(y.tolist(), problem, module, isinstance(module.outline.kernels[0], library.KeptKernel))


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where this process keeps what it compiles."""
    monkeypatch.delenv("PTOSIM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_second_process_imports_no_xdsl_and_does_the_same(kernel_file: Path, tmp_path: Path) -> None:
    first, second = (run(kernel_file, tmp_path / "cache") for _ in range(2))
    assert first["xdsl"] and first["compiled"]
    assert not second["xdsl"] and not second["compiled"]
    for result in (first, second):
        assert result["y"] == [2.5 * number for number in range(64)]
        assert [warning["kind"] for warning in result["warnings"]] == ["lint"]
    assert (first["warnings"], first["signature"]) == (second["warnings"], second["signature"])


def test_an_error_from_the_cache_names_the_same_place(kernel_file: Path, tmp_path: Path) -> None:
    first, second = (run(kernel_file, tmp_path / "cache", 320) for _ in range(2))
    assert not second["xdsl"]
    assert first["error"] == second["error"]
    assert first["error"]["location"]["line"] == 7
    assert "argument 0 (%x), which has 256 bytes" in first["error"]["message"]


@pytest.mark.usefixtures("home")
def test_options_targets_and_texts_are_kept_apart(kernel_file: Path) -> None:
    assert here(kernel_file).error is None
    assert here(kernel_file, 320, "drop").error is None
    assert here(kernel_file, 320).error is not None
    found = [here(kernel_file, target=target) for target in (None, "a2a3", "a5", "a2a3")]
    assert [each.module.target for each in found] == ["a5", "a2a3", "a5", "a2a3"]
    assert [each.from_cache for each in found] == [True, False, False, True]
    kernel_file.write_text(KERNEL.replace("vmuls", "vadds"))
    assert here(kernel_file).y == [number + 2.5 for number in range(64)]


@pytest.mark.usefixtures("home")
def test_the_name_of_the_file_is_not_kept(kernel_file: Path, tmp_path: Path) -> None:
    here(kernel_file, 320)
    other = kernel_file.rename(tmp_path / "other.pto")
    again = here(other, 320)
    assert again.from_cache
    assert again.error is not None and again.error.location is not None
    assert again.error.location.file == str(other)
    (warning,) = again.module.warnings
    assert warning.location is not None and warning.location.file == str(other)


DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda _: b"",
    lambda old: old[:-1],
    lambda old: old[:-1] + bytes([old[-1] ^ 1]),
]


def test_damaged_files_are_made_again(kernel_file: Path, tmp_path: Path) -> None:
    home = tmp_path / "cache"
    run(kernel_file, home)
    for number, damage in enumerate(DAMAGES):
        for path in (home / "ptosim").glob("*.kernel"):
            path.write_bytes(damage(path.read_bytes()))
        again = run(kernel_file, home)
        assert again["xdsl"] and again["y"][63] == 2.5 * 63, number
    assert not run(kernel_file, home)["xdsl"]


def test_without_a_cache_nothing_is_kept(kernel_file: Path, tmp_path: Path) -> None:
    assert run(kernel_file, tmp_path / "cache", PTOSIM_CACHE="off")["xdsl"]
    assert not (tmp_path / "cache").exists()


def test_several_processes_at_once(kernel_file: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("PTOSIM_CACHE", None)
    command = [sys.executable, "-c", RUN, str(kernel_file), "{}", "256", "error"]
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        text, _ = process.communicate()
        assert process.returncode == 0
        assert json.loads(text)["y"][2] == 5.0
    assert not run(kernel_file, tmp_path / "cache")["xdsl"]


def test_a_module_from_the_cache_is_parsed_on_need(
    kernel_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PTOSIM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    api.load(kernel_file).kernel()(x, y, 2.0, 256, engine="native")
    module = api.load(kernel_file)
    assert isinstance(module.outline.kernels[0], library.KeptKernel)
    assert "_loaded" not in vars(module)
    assert module.kernels["scale"].signature[2].type == "f32"
    module.kernel()(x, y, 3.0, 256, engine="native")
    assert "_loaded" not in vars(module)
    module.kernel()(x, y, 3.0, 256, engine="reference")
    assert "_loaded" in vars(module)
    assert str(module) == str(api.load(KERNEL))
    assert api.check(module.kernel(), x, y, 3.0, 256).ok


def command(*arguments: str) -> str:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_line_shows_and_clears_the_cache(
    kernel_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "0 files" in command("cache")
    words = ["run", str(kernel_file), "arange:64", "zeros:64", "2.5", "256", "--engine", "native", "--no-check"]
    line = [sys.executable, "-m", "ptosim", *words]
    shown = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    assert command(*words) == shown
    # the module, its kernel, and the code that all kernels share
    assert command("cache").startswith(f"{home / 'ptosim'}: 3 files")
    listed = json.loads(command("cache", "--json"))
    assert {Path(file["path"]).parent for file in listed["result"]["files"]} == {home / "ptosim"}
    assert "removed 3 files" in command("cache", "--clear")
    assert "0 files" in command("cache")
    monkeypatch.setenv("PTOSIM_CACHE", "off")
    assert command("cache").startswith("nowhere")


def test_the_environment_names_the_place(kernel_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, link = tmp_path / "place", tmp_path / "link"
    link.symlink_to(place)
    monkeypatch.setenv("PTOSIM_CACHE", str(place))
    assert [here(kernel_file).from_cache for _ in range(2)] == [False, True]
    assert list(place.glob("*.kernel"))
    monkeypatch.setenv("PTOSIM_CACHE", str(link))
    with pytest.warns(UnusableCache, match="it is a link"):
        assert not here(kernel_file).from_cache
    assert "is not used (it is a link)" in command("cache")


CHECK = """
import json, sys
import numpy as np
import ptosim
kernel = ptosim.load(sys.argv[1]).kernel()
report = ptosim.check(kernel, np.arange(64, dtype=np.float32), np.zeros(64, np.float32), 2.5, 256)
print(json.dumps({"findings": len(report.findings), "xdsl": any(name.startswith("xdsl") for name in sys.modules)}))
"""


def test_a_check_from_the_cache_that_finds_nothing_imports_no_xdsl(kernel_file: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("PTOSIM_CACHE", None)
    command = [sys.executable, "-c", CHECK, str(kernel_file)]
    first, second = (
        json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
        for _ in range(2)
    )
    assert (first["findings"], first["xdsl"]) == (0, True)
    assert (second["findings"], second["xdsl"]) == (0, False)
