"""A .toml file of one's own is a machine that modules are verified, run, checked and timed for."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main

COPY = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %at = arith.constant 65536 : i64
    %c256 = arith.constant 256 : i64
    %ub = pto.castptr %at : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %ub, %c0, %c256 nburst(%c1, %c256, %c256)
      : !pto.ptr<f32>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID8"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID8"]
    pto.mte_ub_gm %ub, %y, %c256 nburst(%c1, %c256, %c256)
      : !pto.ptr<f32, ub>, !pto.ptr<f32>, i64, i64, i64, i64
    pto.barrier <PIPE_ALL>
    return
  }
}
"""


def machine(folder: Path, figures: str) -> str:
    path = folder / "own.toml"
    path.write_text(f'name = "own"\ninherits = "a5"\n{figures}')
    return str(path)


def test_a_kernel_uses_ids_that_the_machine_has(tmp_path: Path) -> None:
    with pytest.raises(ptosim.PTOError, match="EVENT_ID8 does not exist"):
        ptosim.load(COPY)
    own = machine(tmp_path, "[sync]\nevent_ids = 16\n")
    module = ptosim.load(COPY, target=own)
    kernel, x = module.kernel(), np.arange(64, dtype="f4")
    for engine in ("native", "reference"):
        y = np.zeros(64, "f4")
        kernel(x, y, engine=engine)
        assert (x == y).all()
        assert ptosim.check(kernel, x, np.zeros(64, "f4"), engine=engine).findings == ()
    assert ptosim.prove(kernel).findings == ()
    assert str(module.target) == "a5"
    assert 'EVENT_ID8"]' in str(module.lowered())


def test_figures_that_change_are_not_those_of_the_cache(tmp_path: Path) -> None:
    x = np.arange(64, dtype="f4")
    own = machine(tmp_path, "[sync]\nevent_ids = 16\n")
    ptosim.load(COPY, target=own).kernel()(x, np.zeros(64, "f4"))
    smaller = machine(tmp_path, "[sync]\nevent_ids = 16\n[memory]\nub = 65536\n")
    for engine in ("native", "reference"):
        with pytest.raises(ptosim.PTOError, match="out-of-bounds"):
            ptosim.load(COPY, target=smaller).kernel()(x, np.zeros(64, "f4"), engine=engine)
    machine(tmp_path, "[sync]\nevent_ids = 8\n")
    with pytest.raises(ptosim.PTOError, match="EVENT_ID8 does not exist"):
        ptosim.load(COPY, target=own)


@pytest.mark.parametrize("command", ["verify", "run", "check", "prove", "sync", "profile", "print", "lower", "plan"])
def test_every_command_takes_it(command: str, tmp_path: Path) -> None:
    kernel = tmp_path / "k.pto"
    kernel.write_text(COPY)
    words = ["rand:64", "zeros:64"] if command in ("run", "check", "profile") else []
    own = machine(tmp_path, "[sync]\nevent_ids = 16\n")
    assert CliRunner().invoke(main, [command, str(kernel), *words]).exit_code == 1
    result = CliRunner().invoke(main, [command, str(kernel), *words, "--target", own])
    assert (result.exit_code, result.exception) == (0, None), result.output
    missing = CliRunner().invoke(main, [command, str(kernel), *words, "--target", "missing.toml"])
    assert missing.exit_code == 2 and "missing.toml" in missing.output
