"""How commands end that are interrupted, or whose output has nowhere to go: a line at most, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ptosim

ROOT = Path(__file__).parents[1]
ABS = str(ROOT / "examples" / "abs.pto")
PRINTING = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%n: i32) attributes {pto.kernel} {
    pto.print "n = %d", %n : i32
    return
  }
}
"""

LAUNCH = (ABS, "rand:32x32", "zeros:32x32")
COMMANDS = [("--help",), ("isa", "vexp"), ("check", *LAUNCH), ("check", *LAUNCH, "--json"), ("profile", *LAUNCH)]


def started(*words: str, **streams: object) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "ptosim", *words]
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=120, check=False, **streams)  # type: ignore[call-overload]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_full_disk_is_one_line(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = started(*words, stdout=full)
    said = b"error: cannot write to standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_what_a_kernel_prints_on_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    path.write_text(PRINTING)
    with open("/dev/full", "w") as full:
        done = started("run", str(path), "7", stdout=full)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_reader_that_has_seen_enough_is_no_error(words: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = started(*words, stdout=write)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


INTERRUPTED = """
import signal, sys
from ptosim import cli

DISPOSITION, MODULE, *sys.argv[1:] = sys.argv[1:]
signal.signal(signal.SIGINT, getattr(signal, DISPOSITION))

class Interrupting:
    def find_spec(name, path=None, target=None):
        if name == MODULE:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting)
cli.main()
"""


def interrupted(disposition: str, module: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
    """A command that SIGINT meets while it imports a module."""
    command = [sys.executable, "-c", INTERRUPTED, disposition, module, *words]
    return subprocess.run(command, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("module", ["click", "numpy.linalg", "numpy._core.umath", "xdsl.ir"])
def test_an_interrupt_among_imports_ends_without_a_word(module: str) -> None:
    done = interrupted("default_int_handler", module, "check", *LAUNCH, "--engine", "reference")
    assert (done.returncode, done.stderr) == (130, b"")


def test_interrupts_that_are_ignored_stay_so() -> None:
    assert interrupted("SIG_IGN", "click", "isa", "vexp").returncode == 0


def test_the_public_names_are_listed() -> None:
    assert set(dir(ptosim)) == {*ptosim.__all__, "__version__"}
    assert all(getattr(ptosim, name) is not None for name in dir(ptosim))
