"""Kernels from the cache: a second process neither parses nor compiles, and does the same."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptosim import api
from ptosim.native.host import library

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


def test_options_targets_and_texts_are_kept_apart(kernel_file: Path, tmp_path: Path) -> None:
    home = tmp_path / "cache"
    assert run(kernel_file, home)["error"] is None
    assert run(kernel_file, home, 320, "drop")["error"] is None
    assert run(kernel_file, home, 320)["error"] is not None
    assert [run(kernel_file, home, target=target)["target"] for target in (None, "a2a3", "a5")] == ["a5", "a2a3", "a5"]
    kernel_file.write_text(KERNEL.replace("vmuls", "vadds"))
    assert run(kernel_file, home)["y"] == [number + 2.5 for number in range(64)]


def test_the_name_of_the_file_is_not_kept(kernel_file: Path, tmp_path: Path) -> None:
    run(kernel_file, tmp_path / "cache", 320)
    other = kernel_file.rename(tmp_path / "other.pto")
    again = run(other, tmp_path / "cache", 320)
    assert not again["xdsl"]
    assert again["error"]["location"]["file"] == str(other)
    assert again["warnings"][0]["location"]["file"] == str(other)


@pytest.mark.parametrize("damage", [lambda _: b"", lambda old: old[:-1], lambda old: old[:-1] + bytes([old[-1] ^ 1])])
def test_damaged_files_are_made_again(kernel_file: Path, tmp_path: Path, damage: Any) -> None:
    home = tmp_path / "cache"
    run(kernel_file, home)
    for path in (home / "ptosim").glob("*.kernel"):
        path.write_bytes(damage(path.read_bytes()))
    assert run(kernel_file, home)["y"][63] == 2.5 * 63
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


def command(home: Path, *arguments: str, **more: str) -> str:
    environment = {**os.environ, "XDG_CACHE_HOME": str(home), **more}
    if not more:
        environment.pop("PTOSIM_CACHE", None)
    line = [sys.executable, "-m", "ptosim", *arguments]
    return subprocess.run(line, env=environment, check=True, capture_output=True, text=True).stdout


def test_the_command_line_shows_and_clears_the_cache(kernel_file: Path, tmp_path: Path) -> None:
    home = tmp_path / "cache"
    assert "0 files" in command(home, "cache")
    words = ["arange:64", "zeros:64", "2.5", "256", "--engine", "native"]
    shown = command(home, "run", str(kernel_file), *words)
    assert command(home, "run", str(kernel_file), *words) == shown
    # the module, its kernel, and the code that all kernels share
    assert command(home, "cache").startswith(f"{home / 'ptosim'}: 3 files")
    listed = json.loads(command(home, "cache", "--json"))
    assert {Path(file["path"]).parent for file in listed} == {home / "ptosim"}
    assert "removed 3 files" in command(home, "cache", "--clear")
    assert "0 files" in command(home, "cache")
    assert command(home, "cache", PTOSIM_CACHE="off").startswith("nowhere")


def test_the_environment_names_the_place(kernel_file: Path, tmp_path: Path) -> None:
    place, link = tmp_path / "place", tmp_path / "link"
    link.symlink_to(place)
    first, second = (run(kernel_file, tmp_path / "cache", PTOSIM_CACHE=str(place)) for _ in range(2))
    assert first["compiled"] and not second["compiled"]
    assert list(place.glob("*.kernel"))
    assert run(kernel_file, tmp_path / "cache", PTOSIM_CACHE=str(link))["compiled"]
    assert "is not used (it is a link)" in command(tmp_path, "cache", PTOSIM_CACHE=str(link))


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
