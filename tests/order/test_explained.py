"""Proofs in words; and the kernels of `ptosim explain`: what is broken is not proven, and what was repaired is."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

import ptosim
from order.test_unknown_ids import HEAD, pingpong
from ptosim.cli.commands import main

KERNELS = files("ptosim.sanitize.explain")


@pytest.mark.parametrize("kind", ["race", "unmatched-wait", "undrained", "deadlock"])
def test_a_broken_kernel_is_not_proven_and_its_repair_is(kind: str):
    for suffix, expected in (("", False), (".repaired", True)):
        kernel = ptosim.load((KERNELS / f"{kind}{suffix}.pto").read_text()).kernel()
        assert ptosim.prove(kernel).proven is expected, f"{kind}{suffix}\n{ptosim.prove(kernel)}"


LOOPS = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: index, %m: index, %c: i1) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %true = arith.constant true
    %l0 = arith.constant 0 : i64
    %l1 = arith.constant 1 : i64
    %l256 = arith.constant 256 : i64
    %ub = pto.castptr %l0 : i64 -> !pto.ptr<f32, ub>
    scf.for %j = %c0 to %c2 step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        SLOT
        %at = arith.muli %slot, %c64 : index
        %tile = pto.addptr %ub, %at : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
        scf.if %c {
          pto.mte_gm_ub %x, %tile, %l0, %l256 nburst(%l1, %l256, %l256)
            : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
          pto.set_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %slot]
        }
        scf.if %c {
          pto.wait_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %slot]
        }
        pto.mte_ub_gm %tile, %y, %l256 nburst(%l1, %l256, %l256)
          : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
        pto.barrier #pto.pipe<PIPE_ALL>
      }
    }
    return
  }
}
"""


def test_a_proof_says_what_was_followed_and_how():
    text = LOOPS.replace("SLOT", "%slot = arith.remui %i, %c2 : index")
    told = ptosim.prove(ptosim.load(text).kernel(), explain=True).explanation
    assert told[0].startswith("decided by all states that the program can come to, in ")
    assert told[1:] == (
        "line 12: the loop runs 2 times, whatever its index is",
        "line 13: the loop runs any number of times, its index is known modulo 2",
        "line 17: the branch goes either way",
        "line 22: the branch goes either way, the same way as that at line 17",
    )


ROWS = """    %far = arith.muli %{row}, %c64 : index
    %to = pto.addptr %y, %far : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    pto.mte_ub_gm %ub, %to, %l256 nburst(%l1, %l256, %l256)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"""


def test_an_undecided_proof_says_which_barrier_would_decide_it():
    """Which rows the two stores are of, only the run knows."""
    head = LOOPS[: LOOPS.index("    scf.for %j")]
    stores = (ROWS.replace("%{row}", "%n"), ROWS.replace("%{row}", "%m").replace("%far", "%it").replace("%to", "%at"))
    text = "\n".join([f"{head}{stores[0]}", stores[1], "    pto.barrier #pto.pipe<PIPE_ALL>", "    return\n  }\n}\n"])
    found = ptosim.prove(ptosim.load(text).kernel(), explain=True)
    line = 1 + text[: text.rindex("pto.mte_ub_gm")].count("\n")
    told = f"to decide it: before line {line} add pto.barrier #pto.pipe<PIPE_ALL>; then it is proven"
    assert found.undecided and found.explanation[-1] == told
    assert told in str(found) and ptosim.prove(ptosim.load(text).kernel()).explanation == ()


def test_an_undecided_proof_says_how_an_id_would_be_followed(tmp_path: Path):
    path = tmp_path / "kernel.pto"
    lines = [HEAD, *pingpong("%stride = arith.addi %m, %c1 : index"), "return", "}", "}", ""]
    path.write_text("\n".join(lines))
    result = CliRunner().invoke(main, ["prove", str(path), "--explain"])
    assert result.exit_code == 3 and "to decide it: at line " in result.output
    assert "count iterations 0, 1, 2" in result.output.splitlines()[-1]
