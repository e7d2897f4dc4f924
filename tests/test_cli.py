"""The command line: exit codes, --json, --save, --expect, --show, progress, interruption, bad input."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ptosim.cli.commands import main
from ptosim.language.catalogue import operations
from ptosim.language.tile.tile_operation import TileOperation

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
ABS = str(EXAMPLES / "abs.pto")
SOFTMAX = str(EXAMPLES / "softmax.pto")
KERNEL_COMMANDS = [name for name in ("run", "check", "profile") if name in main.commands]
FILE_COMMANDS = [name for name in ("verify", "print", *KERNEL_COMMANDS) if name in main.commands]


def ptosim(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def diagnostics(result: Result) -> list[dict[str, Any]]:
    found = json.loads(result.stdout)
    assert found["ok"] == (result.exit_code == 0)
    return found["findings"]


def uncaught(result: Result) -> bool:
    return "Traceback" in result.output or not isinstance(result.exception, SystemExit | None)


# --- exit codes -------------------------------------------------------------------------------------------------------


def test_ok() -> None:
    result = ptosim("run", ABS, "rand:32x32", "zeros:32x32")
    assert result.exit_code == 0
    assert "y  float32 32x32" in result.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["run"],
        ["run", ABS, "--nonsense"],
        ["run", ABS, "rand:32x32"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "7"],
        ["run", ABS, "rand:32x32", "nothing:32x32"],
        ["run", ABS, "rand:32x32", "zeros:32y32"],
        ["run", ABS, "rand:32x32", "missing.npy"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--grid", "0"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--grid", "x"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--engine", "fast"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--schedule", "later"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--save", "out.npy"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--save", "2=out.npy"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--save", f"{'9' * 5000}=out.npy"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--expect", "1="],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--expect", "1=missing.npy"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--atol", "-1"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--atol", "nan"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--show", "x"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--show", "25:"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--show", "1"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--show", "25", "--engine", "native"],
        ["run", ABS, "rand:32x32", "zeros:32x32", "--kernel", "other"],
        ["run", "missing.pto", "rand:32x32"],
        ["run", ".", "rand:32x32"],
        ["verify", "missing.pto"],
        ["print", "."],
        ["isa", "vnothing"],
        ["explain", "nothing"],
        ["check", ABS, "rand:32x32", "zeros:32x32", "--blocks", "9" * 5000],
        ["check", ABS, "rand:32x32", "zeros:32x32", "--blocks", "first"],
        ["profile", ABS, "rand:32x32", "zeros:32x32", "--what-if", "nothing=1"],
        ["profile", ABS, "rand:32x32", "zeros:32x32", "--what-if", f"vexp.latency={'[' * 100_000}"],
        ["profile", ABS, "rand:32x32", "zeros:32x32", "--target", "a9"],
        ["profile", ABS, "rand:32x32", "zeros:32x32", "--target", f"{'a' * 5000}.toml"],
        ["prove", ABS, "rand:32x32", "zeros:32x32", "7"],
        ["prove", ABS, "rand:32x32:5000", "zeros:32x32", "--grid", "99999999999"],
        ["plan", str(EXAMPLES / "tiles/softmax.pto"), "--html", "missing/plan.html"],
    ],
    ids=lambda words: " ".join(words[2:] or words)[:50],
)
def test_wrong_usage(words: list[str]) -> None:
    result = ptosim(*words)
    assert result.exit_code == 2
    assert not uncaught(result)
    assert result.stdout == ""
    assert result.stderr


def test_a_kernel_that_fails(tmp_path: Path) -> None:
    result = ptosim("run", ABS, "rand:31x32", "zeros:32x32")
    assert result.exit_code == 1
    assert f"{ABS}:16:5: error: out-of-bounds: " in result.stderr
    assert result.stdout == ""


def test_out_of_bounds_can_be_dropped() -> None:
    assert ptosim("run", ABS, "rand:31x32", "zeros:32x32", "--oob", "drop").exit_code == 0


GARBAGE = {
    "empty": b"",
    "binary": bytes(range(256)) * 9,
    "text": b"this is no kernel\n",
    "half": (EXAMPLES / "abs.pto").read_bytes()[:700],
    "deep": b"module {\n" * 5000,
    "brackets": b"(" * 100_000,
    "large": b"// " + b"x" * 3_000_000,
    "nul": b"module {\n\0}\n",
}


@pytest.mark.parametrize("command", FILE_COMMANDS)
@pytest.mark.parametrize("content", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_a_diagnostic(tmp_path: Path, command: str, content: bytes) -> None:
    path = tmp_path / "garbage.pto"
    path.write_bytes(content)
    result = ptosim(command, str(path))
    assert not uncaught(result)
    if content:
        assert result.exit_code == 1
        assert "error: " in result.stderr


@pytest.mark.parametrize("command", KERNEL_COMMANDS)
@pytest.mark.parametrize("word", ["zeros:99999999x99999999", "nan", "-5", "zeros:32x32:3", "a.npy", "", "\ud800"])
def test_bad_words_are_diagnostics(command: str, word: str) -> None:
    result = ptosim(command, ABS, "rand:32x32", word)
    assert result.exit_code in (1, 2)
    assert not uncaught(result)


# --- json -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", FILE_COMMANDS)
def test_every_command_has_json(command: str) -> None:
    words = ["rand:32x32", "zeros:32x32"] if command in KERNEL_COMMANDS else []
    result = ptosim(command, ABS, *words, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) is not None
    failed = ptosim(command, "missing.pto", *words, "--json")
    assert failed.exit_code == 2
    (diagnostic,) = diagnostics(failed)
    assert diagnostic["kind"] == "argument"


@pytest.mark.parametrize(
    "command",
    sorted(
        main.commands.keys()
        - {"cache", "completion", "cpp", "explain", "fit", "isa", "lsp", "new", "plan"}
        - {"sweep", "tune", "watch"}
    ),
)
def test_json_has_what_the_verifier_warned_of(tmp_path: Path, command: str) -> None:
    path = tmp_path / "warned.pto"
    body = '  pto.get_buf "PIPE_V", 0, 0\n  pto.rls_buf "PIPE_V", 0, 0\n'
    path.write_text(f"func.func @k(%x: !pto.ptr<f32, gm>) {{\n{body}  return\n}}\n")
    words = ["zeros:64"] if command in KERNEL_COMMANDS else []
    found = diagnostics(ptosim(command, str(path), *words, "--target", "a3", "--json"))
    assert ("wrong-target", "warning") in {(each["kind"], each.get("severity")) for each in found}


def test_json_of_isa() -> None:
    (page,) = json.loads(ptosim("isa", "vexp", "--json").stdout)["result"]["instructions"]
    assert (page["name"], page["pipe"], page["targets"]) == ("pto.vexp", "V", ["a5", "a2a3"])
    assert page["operands"].keys() == {"input", "mask"} and page["results"] == ["result"]
    assert page["cycles"]["a5"]["latency"] == {"value": [16, 21], "origin": "CA"}
    names = [page["name"] for page in json.loads(ptosim("isa", "--json").stdout)["result"]["instructions"]]
    assert {"pto.vexp", "pto.mad", "arith.addi"} <= set(names)
    (diagnostic,) = diagnostics(ptosim("isa", "vabz", "--json"))
    assert "near: vabs" in diagnostic["message"]


def test_json_of_explain() -> None:
    (page,) = json.loads(ptosim("explain", "race", "--json").stdout)["result"]["kinds"]
    assert (page["kind"], page["severity"]) == ("race", "error")
    assert "+" in page["changes"] and "pto.wait_flag" in page["repaired"]
    assert len(json.loads(ptosim("explain", "--json").stdout)["result"]["kinds"]) > 15


def test_json_of_a_failure_has_what_ended_it() -> None:
    (diagnostic,) = diagnostics(ptosim("run", ABS, "rand:31x32", "zeros:32x32", "--json"))
    assert diagnostic["kind"] == "out-of-bounds"
    assert diagnostic["location"]["line"] == 16
    assert diagnostic["block"] == 0


PRINTING = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%n: i32) attributes {pto.kernel} {
    pto.print "n = %d", %n : i32
    return
  }
}
"""


@pytest.mark.parametrize("command", KERNEL_COMMANDS)
def test_what_a_kernel_prints_does_not_disturb_json(tmp_path: Path, command: str) -> None:
    path = tmp_path / "k.pto"
    path.write_text(PRINTING)
    result = ptosim(command, str(path), "7", "--json")
    assert json.loads(result.stdout) is not None
    assert "n = 7" in result.stderr
    assert "n = 7" in ptosim(command, str(path), "7").stdout


# --- verify, print, isa -----------------------------------------------------------------------------------------------


def test_verify_takes_several_files(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pto"
    broken.write_text("module { pto.vabz }")
    result = ptosim("verify", ABS, str(broken), "missing.pto", SOFTMAX)
    assert result.exit_code == 1
    assert result.stdout == f"{ABS}: ok for a5; kernels: abs\n{SOFTMAX}: ok for a5; kernels: softmax\n"
    assert "unknown operation 'pto.vabz'" in result.stderr and "cannot read missing.pto" in result.stderr
    found = diagnostics(ptosim("verify", ABS, str(broken), "missing.pto", "--json"))
    assert [diagnostic["kind"] for diagnostic in found] == ["syntax", "argument"]
    assert ptosim("verify", ABS, "missing.pto").exit_code == 2


def test_verify() -> None:
    result = ptosim("verify", ABS)
    assert result.stdout == f"{ABS}: ok for a5; kernels: abs\n"
    assert ptosim("verify", ABS, "--target", "a2a3").stdout == f"{ABS}: ok for a2a3; kernels: abs\n"


def test_strict_counts_warnings(tmp_path: Path) -> None:
    path = tmp_path / "warned.pto"
    path.write_text(
        "module {\n  func.func @k(%i: i64) attributes {pto.kernel} {\n"
        "    pto.set_intra_block %i, %i : i64, i64\n    return\n  }\n}\n"
    )
    result = ptosim("verify", str(path))
    assert result.exit_code == 0
    assert ":3:" in result.stderr and "warning: lint: " in result.stderr
    assert ptosim("verify", str(path), "--strict").exit_code == 1


def test_what_is_printed_can_be_run(tmp_path: Path) -> None:
    printed = tmp_path / "printed.pto"
    printed.write_text(ptosim("print", ABS).stdout)
    assert ptosim("print", str(printed)).stdout == printed.read_text()
    before, after = tmp_path / "before.npy", tmp_path / "after.npy"
    for file, out in ((ABS, before), (str(printed), after)):
        assert ptosim("run", file, "rand:32x32", "zeros:32x32", "--save", f"1={out}").exit_code == 0
    assert before.read_bytes() == after.read_bytes()


def test_isa() -> None:
    assert "pipe: V" in ptosim("isa", "vcgadd").stdout
    listing = ptosim("isa").stdout
    assert "reduction" in listing and "  vcgadd " in listing
    words = ptosim("isa", "mte_l0c_gm").stdout
    assert "source (pointer to l0c), dest (pointer to gm), m, n" in words and "layout: nz2nd, nz2dn, nz2nz" in words
    assert "optional operands: quant_payload, " in words
    assert "elements: f16, f32; with a warning also bf16" in ptosim("isa", "vexp").stdout
    copied = ptosim("isa", "mte_gm_ub").stdout
    assert "cycles on a2a3: bytes_per_cycle 128 [DOC]" in copied and "  DOC: instruction-set pages" in copied
    assert "startup 20 [R], each 2 (elements below 4 bytes: 1) [R]" in ptosim("isa", "mad").stdout
    assert "cycles on a5: inter_core 20 [R]" in ptosim("isa", "set_intra_block").stdout
    assert "cycles on a5: barrier 0 [R]" in ptosim("isa", "barrier").stdout


def test_the_page_of_a_tile_operation() -> None:
    page = ptosim("isa", "tdiv").stdout.splitlines()
    for line in (
        "pto.tdiv ins(%src0, %src1 : TILE, TILE) outs(%dst : TILE) {precisionType}",
        "precisionType: default, high_precision; default unless said",
        "elements: i16, i32, f16, f32 on a5; f16, f32 on a2a3",
        "pipe: V",
        "reads: src0, src1",
        "overwrites: dst",
    ):
        assert line in page
    syntax = "pto.tcvt ins(%src[, %tmp] {rmode, satmode} : TILE[, TILE]) outs(%dst : TILE)"
    assert syntax in ptosim("isa", "tcvt").stdout.splitlines()


def test_every_page_says_what_it_costs() -> None:
    """Operations on tiles cost what they are lowered to."""
    tiled = {operation.name for operation in operations() if issubclass(operation, TileOperation)}
    for page in json.loads(ptosim("isa", "--json").stdout)["result"]["instructions"]:
        assert page["summary"], page["name"]
        if page["name"].startswith("pto.") and page["pipe"] and page["name"] not in tiled:
            assert page["example"] and page["cycles"].keys() == set(page["targets"]), page["name"]


# --- save and expect --------------------------------------------------------------------------------------------------


def saved(tmp_path: Path, name: str) -> tuple[np.ndarray, Path]:
    path = tmp_path / name
    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(size=(32, 32)).astype(np.float32))
    assert ptosim("run", ABS, str(tmp_path / "x.npy"), "zeros:32x32", "--save", f"1={path}").exit_code == 0
    return np.load(tmp_path / "x.npy"), path


def test_save(tmp_path: Path) -> None:
    x, path = saved(tmp_path, "y.npy")
    np.testing.assert_array_equal(np.load(path), np.abs(x))
    x, path = saved(tmp_path, "y.bin")
    assert path.read_bytes() == np.abs(x).tobytes()


def expect(tmp_path: Path, change: Any, *options: str) -> Result:
    """A run whose result is compared with a changed copy of the right one."""
    x, path = saved(tmp_path, "y.npy")
    wanted = np.abs(x)
    change(wanted)
    np.save(path, wanted)
    return ptosim("run", ABS, str(tmp_path / "x.npy"), "zeros:32x32", "--expect", f"1={path}", *options)


def damage(wanted: np.ndarray) -> None:
    wanted[3, 4] += 1
    wanted[9, 9] -= 1


def test_expect(tmp_path: Path) -> None:
    assert expect(tmp_path, lambda wanted: None).exit_code == 0
    assert expect(tmp_path, damage, "--atol", "1.01").exit_code == 0
    assert expect(tmp_path, damage, "--rtol", "1e9").exit_code == 0
    result = expect(tmp_path, damage, "--atol", "0.5")
    assert result.exit_code == 1
    assert "argument 1 (%y) differs from" in result.stderr
    assert "in 2 of 1024 elements; the first is [3, 4]: " in result.stderr


def test_a_mismatch_names_who_wrote_it(tmp_path: Path) -> None:
    result = expect(tmp_path, damage, "--json")
    (diagnostic,) = diagnostics(result)
    assert diagnostic["location"]["line"] == 33  # the copy to GM
    assert diagnostic["pipe"] == "MTE3"
    (related,) = diagnostic["related"]
    assert related["location"]["line"] == 26  # the vector store of element 100, in the second round of the loop
    assert related["role"] == "its bytes were stored here, by b0.aiv0 at loop indices 64"


def test_a_mismatch_in_a_grid_names_the_block(tmp_path: Path) -> None:
    x = np.random.default_rng(2).normal(size=(24, 128)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", np.full_like(x, -1))
    words = ["run", str(EXAMPLES / "softmax.pto"), str(tmp_path / "x.npy"), "zeros:24x128", "24", "--grid", "3"]
    (diagnostic,) = diagnostics(ptosim(*words, "--expect", f"1={tmp_path / 'y.npy'}", "--json"))
    assert (diagnostic["block"], diagnostic["core"], diagnostic["loops"]) == (0, "b0.aiv0", [0])
    assert diagnostic["related"][0]["role"].endswith("at loop indices 0, 0, 0")


def test_a_wrong_element_that_nobody_wrote(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((32, 32), np.float32))
    result = ptosim("run", ABS, "zeros:32x32", "zeros:32x32", "--expect", f"0={tmp_path / 'x.npy'}")
    assert result.exit_code == 1
    assert "note: no instruction wrote that element" in result.stderr


def test_expect_of_another_size(tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", np.zeros(7, np.float32))
    result = ptosim("run", ABS, "rand:32x32", "zeros:32x32", "--expect", f"1={tmp_path / 'y.npy'}")
    assert result.exit_code == 2
    assert "has 7 elements, argument 1 has 1024" in result.stderr


# --- show -------------------------------------------------------------------------------------------------------------


def shown(*options: str) -> list[str]:
    result = ptosim("run", ABS, "arange:32x32", "zeros:32x32", *options)
    assert result.exit_code == 0
    return result.stdout.splitlines()


def test_show_a_vector_instruction() -> None:
    lines = shown("--show", "25:1")
    assert lines[:3] == [
        f"{ABS}:25:16: pto.vabs on b0.aiv0, loop indices 0",
        "    input %v    vreg<64xf32>",
        "        0:  " + "  ".join(f"{lane}.0" for lane in range(19)),
    ]
    assert "    mask %mask  mask<b32>  lanes 0-63 of 64" in lines
    assert "    -> %abs     vreg<64xf32>" in lines


def test_show_counts() -> None:
    heads = [line for line in shown("--show", "25", "--show", "23:3") if line.startswith(ABS)]
    assert len([head for head in heads if "pto.vabs" in head]) == 16  # 1024 elements in registers of 64
    assert [head.rpartition(" ")[2] for head in heads if "pto.plt_b32" in head] == ["0", "64", "128"]


def test_show_a_copy() -> None:
    lines = shown("--show", "16")
    assert lines[0] == f"{ABS}:16:5: pto.mte_gm_ub on b0.aiv0"
    assert "    source %x                ptr<f32, gm>  x + 0 bytes" in lines
    assert "    n_burst %c32_i64         i64  32" in lines
    assert "    reads x[0:4096]" in lines
    assert "    writes ub[0:4096]" in lines


def test_show_a_masked_store(tmp_path: Path) -> None:
    words = [str(EXAMPLES / "pingpong.pto"), "arange:70", "zeros:70", "1", "70"]
    result = ptosim("run", *words, "--show", "63", "--schedule", "delay:V")
    assert result.exit_code == 0
    second = result.stdout.split("pto.vsts")[2]
    assert "mask %mask    mask<b32>  lanes 0-5 of 64" in second
    assert second.startswith(" on b0.aiv0, loop indices 0, 64\n")
    assert "writes ub[8448:8472]\n        0:  64.0  65.0  66.0  67.0  68.0  69.0" in second


def test_show_goes_to_stderr_beside_json() -> None:
    result = ptosim("run", ABS, "arange:32x32", "zeros:32x32", "--show", "25:1", "--json")
    assert diagnostics(result) == []
    assert "pto.vabs" in result.stderr


def test_show_names_the_nearest_instruction() -> None:
    result = ptosim("run", ABS, "rand:32x32", "zeros:32x32", "--show", "22")
    assert "line 22 has no instruction to show; the nearest that has is line 23" in result.stderr


# --- a process of its own ---------------------------------------------------------------------------------------------

SPIN = """module attributes {pto.target_arch = "a5"} {
  func.func @spin(%n: index) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    pto.print "spinning"
BODY
    return
  }
}
"""
LOOP = """    scf.for %i = %c0 to %n step %c1 {
      %x = arith.addi %i, %c1 : index
    }"""
MIXED = """    pto.section.cube {
      pto.sync.set <PIPE_FIX>, 0
    }
    pto.section.vector {
    scf.for %i = %c0 to %n step %c1 {
      %x = arith.addi %i, %c1 : index
    }
    }"""


@contextmanager
def started(path: Path, body: str, steps: int, *options: str, **streams: Any) -> "Generator[subprocess.Popen[bytes]]":
    """A run that ends with the test, whatever happens."""
    path.write_text(SPIN.replace("BODY", body))
    command = [sys.executable, "-u", "-m", "ptosim", "run", str(path), str(steps), *options]
    # Tests that run in the background pass on that interrupts are ignored; a run in a terminal does not ignore them.
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, preexec_fn=listening, **streams) as process:  # noqa: PLW1509
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("body", [LOOP, MIXED], ids=["alone", "cluster"])
def test_an_interrupt_ends_a_run_at_once(tmp_path: Path, body: str, engine: str) -> None:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = ["--engine", engine, "--max-steps", str(10**15)]
    with started(tmp_path / "spin.pto", body, 10**15 - 1, *options, **streams) as process:
        assert process.stdout is not None
        assert b"spinning" in process.stdout.readline()
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        out, err = process.communicate(timeout=30)
        assert time.monotonic() - sent < 3  # some tenths, and room for a machine that does other things
    assert (process.returncode, err) == (130, b"")
    assert b"spinning" in out or not out  # the other cores of a cluster may have said so too


def test_a_long_run_on_a_terminal_shows_a_bar(tmp_path: Path) -> None:
    terminal, side = pty.openpty()
    seen = b""
    with started(tmp_path / "spin.pto", LOOP, 10**7, "--grid", "3", "--engine", "reference", stderr=side):
        os.close(side)
        while b"0/3" not in seen and b"1/3" not in seen:
            seen += os.read(terminal, 4096)
    os.close(terminal)
    assert b"running" in seen and b"blocks" in seen


def test_without_a_terminal_there_is_no_bar(tmp_path: Path) -> None:
    with started(tmp_path / "spin.pto", LOOP, 10, stderr=subprocess.PIPE) as process:
        assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 0


def test_show_of_one_workitem() -> None:
    saxpy = str(EXAMPLES / "simt" / "saxpy.pto")
    words = ["run", saxpy, "ones:8", "ones:8", "3.0", "8", "--show", "14@5", "--no-check"]
    lines = ptosim(*words).output.splitlines()
    assert "arith.addf on b0.aiv0 warp 0" in lines[0] and "workitem 5 (tx 5, ty 0, tz 0)" in lines[0]
    assert any(line.split() == ["0:", "4.0"] for line in lines)
    assert ptosim(*words[:-3], "--show", "14@x").exit_code == 2
