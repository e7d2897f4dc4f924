"""Kernels compile for the systems that are not at hand, and run on the reference engine where nothing compiles."""

import subprocess
import sys
from pathlib import Path

import pytest

import ptosim
from ptosim.native.build.compilation import compile_kernel
from ptosim.native.host.toolchain import Host

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = sorted(path for path in EXAMPLES.rglob("*.pto") if ".broken" not in path.name)
SYSTEMS = {
    "ARM Linux": (Host("aarch64-unknown-linux-gnu", "generic"), b"\x7fELF"),
    "ARM macOS": (Host("aarch64-apple-darwin", "apple-m1"), b"\xcf\xfa\xed\xfe"),
    "Windows": (Host("x86_64-pc-windows-msvc", "x86-64-v2"), b"\x64\x86"),
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_an_object_is_made_for_another_system(path: Path, system: str):
    host, magic = SYSTEMS[system]
    for kernel in ptosim.load(path).kernels.values():
        compiled = compile_kernel(kernel.module.executable, kernel.program, False, host)
        assert compiled.image.startswith(magic)
        assert all(symbol.encode() in compiled.image for symbol in compiled.data["programs"].values())


WITHOUT = "import sys; sys.modules['llvmlite'] = None; from ptosim.cli import main; main()"
LAUNCH = ["examples/softmax.pto", "rand:24x128", "zeros:24x128", "24", "--grid", "3"]


def without_llvmlite(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, *words]
    return subprocess.run(command, cwd=EXAMPLES.parent, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["run", "check", "profile"])
def test_without_llvmlite_the_reference_engine_runs_and_one_sentence_says_so(command: str):
    done = without_llvmlite(command, *LAUNCH)
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        "warning: llvmlite is not installed: kernels are not compiled, and run on the reference engine, "
        "which is slower\n"
    )


def test_without_llvmlite_arguments_are_made_up():
    done = without_llvmlite("check", LAUNCH[0])
    words = "rand:70x128 zeros:70x128 70"
    assert (done.returncode, done.stdout) == (0, f"softmax: no findings\nrepeat: ptosim check {LAUNCH[0]} {words}\n")


@pytest.mark.parametrize("command", ["verify", "print", "prove", "lower"])
def test_what_compiles_nothing_says_nothing(command: str):
    done = without_llvmlite(command, LAUNCH[0])
    assert (done.returncode, done.stderr) == (0, "")


def test_both_ways_tell_the_same_of_a_broken_kernel(tmp_path: Path):
    kernel = (EXAMPLES / "softmax.pto").read_text()
    broken = tmp_path / "softmax.pto"
    broken.write_text(
        "".join(row for row in kernel.splitlines(True) if 'wait_flag_dyn["PIPE_V", "PIPE_MTE3"' not in row)
    )
    words = ["check", str(broken), *LAUNCH[1:]]
    compiled = subprocess.run([sys.executable, "-m", "ptosim", *words], capture_output=True, text=True, check=False)
    done = without_llvmlite(*words)
    assert (done.returncode, done.stdout) == (compiled.returncode, compiled.stdout)
    assert "error: race" in done.stdout
