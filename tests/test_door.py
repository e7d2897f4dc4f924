"""How commands end that are interrupted, or whose output has nowhere to go: a line at most, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main

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


# --- standard input ---------------------------------------------------------------------------------------------------

READERS = {
    **dict.fromkeys(("verify", "print", "lower", "plan", "prove"), ()),
    **dict.fromkeys(("run", "check", "profile", "sync"), LAUNCH[1:]),
}
NO_STREAM = {"fit", "watch"}
"""Commands that name their kernels in another file, or look at a file again."""


def test_every_command_that_reads_a_file_is_tried() -> None:
    reading = {name for name, command in main.commands.items() if {"file", "files"} & {p.name for p in command.params}}
    assert reading - NO_STREAM == READERS.keys()


@pytest.mark.parametrize("command", READERS)
def test_a_dash_is_standard_input(command: str) -> None:
    words = READERS[command]
    text = Path(ABS).read_text()
    given = CliRunner().invoke(main, [command, "-", *words], input=text)
    named = CliRunner().invoke(main, [command, ABS, *words])
    assert given.exit_code == named.exit_code == 0
    assert given.output == named.output.replace(f"{ABS}: ok", "-: ok")
    wrong = CliRunner().invoke(main, [command, "-", *words], input="\ufeffmodule {\n  pto.vabz\n}\n")
    assert wrong.exit_code == 1
    assert "<stdin>:2:3: error: syntax: unknown operation 'pto.vabz'" in wrong.stderr


def test_standard_input_is_not_watched() -> None:
    result = CliRunner().invoke(main, ["watch", "-"], input=Path(ABS).read_text())
    assert result.exit_code == 2 and "standard input is not saved again: name a file" in result.stderr


def test_standard_input_is_read_once() -> None:
    words = ["profile", "-", *LAUNCH[1:], "--compare", "-"]
    result = CliRunner().invoke(main, words, input=Path(ABS).read_text())
    assert (result.exit_code, "no difference in cycles" in result.stdout) == (0, True)


def test_standard_input_is_not_written() -> None:
    result = CliRunner().invoke(main, ["check", "-", *LAUNCH[1:], "--fix", "--write"], input=Path(ABS).read_text())
    assert result.exit_code == 2
    assert "--write needs a file: standard input cannot be changed" in result.stderr


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"module {"])
def test_standard_input_that_is_no_kernel(content: bytes) -> None:
    result = CliRunner().invoke(main, ["check", "-"], input=content)
    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit) and result.stderr


def test_standard_input_that_is_closed() -> None:
    done = started("verify", "-", stdout=subprocess.PIPE, preexec_fn=lambda: os.close(0))
    assert (done.returncode, done.stderr) == (2, b"error: argument: cannot read <stdin>: it is closed\n")


# --- what is written beside -------------------------------------------------------------------------------------------


def test_a_comparison_writes_the_report_of_both(tmp_path: Path) -> None:
    other = tmp_path / "other.pto"
    other.write_text(Path(ABS).read_text().replace("@abs", "@changed"))
    options = [f"--{kind}={tmp_path / 'report'}.{kind}" for kind in ("html", "trace")]
    result = CliRunner().invoke(main, ["profile", *LAUNCH, "--compare", str(other), *options])
    assert result.exit_code == 0
    for kind in ("html", "trace"):
        beside = tmp_path / f"report-other.{kind}"
        assert f"{beside} is the report of {other}" in result.stderr
        assert beside.stat().st_size
    assert "@changed" in (tmp_path / "report-other.html").read_text()
    assert "@changed" not in (tmp_path / "report.html").read_text()


def test_a_cache_that_cannot_be_used_is_told_of_once(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    done = started("check", *LAUNCH, stdout=subprocess.PIPE, env={**os.environ, "PTOSIM_CACHE": str(link)})
    said = f"warning: compiled kernels are not kept: {link} is not used (it is a link)\n"
    assert (done.returncode, done.stderr.decode()) == (0, said)


def test_the_public_names_are_listed() -> None:
    assert set(dir(ptosim)) == {*ptosim.__all__, "__version__"}
    assert all(getattr(ptosim, name) is not None for name in dir(ptosim))


def test_public_values_list_their_public_names() -> None:
    module = ptosim.load(ABS)
    report = ptosim.check(module.kernel(), bytearray(4096), bytearray(4096))
    for value in (module, module.kernel(), report):
        assert [name for name in dir(value) if not hasattr(value, name)] == []
    assert {"signature", "name"} <= {*dir(module.kernel())} and "native" not in dir(module.kernel())
    assert {"ok", "findings", "notes", "to_json", "to_sarif"} <= {*dir(report)} and "mend" not in dir(report)


def test_no_module_takes_the_place_of_a_public_name() -> None:
    modules = {path.stem for path in (ROOT / "src" / "ptosim").iterdir()}
    assert modules & {*ptosim.__all__} == set()
