"""What a profile does where a kernel leaves GM, or turns once around the addresses: it goes on, and says so."""

import json
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main
from ptosim.report.profile import Profile
from sanitize.kernels import ALL, COPY, MASK, load, order, scope, store, text, vlds, vsts
from tables import table

TURN = "    %turn = arith.constant 4611686018427387904 : index\n"
"""2^62 floats: once around the 64 bits of an address."""
READY, DONE = load() + order("MTE2", "V"), order("V", "MTE3") + store() + ALL
COPIED = READY + COPY + DONE


def moved(name: str, elements: int, space: str = "gm") -> str:
    pointer = f"!pto.ptr<f32, {space}>"
    return f"    %far = arith.constant {elements} : index\n    %p = pto.addptr %{name}, %far : {pointer} -> {pointer}\n"


def profile(body: str) -> Profile:
    return ptosim.profile(ptosim.load(text(body)).kernel(), np.zeros(64, np.float32), np.zeros(64, np.float32))


@table(
    "body",
    READY + scope(MASK + vlds(offset="%turn") + vsts()) + DONE,
    READY + scope(MASK + vlds() + vsts(offset="%turn")) + DONE,
    READY + scope(MASK + vlds(offset="%turn").replace("%turn]", '%turn] {dist = "BRC_B32"}') + vsts()) + DONE,
    ids=["vlds", "vsts", "vlds with a dist"],
)
def test_an_address_that_wraps(body: str) -> None:
    assert profile(TURN + body).cycles == profile(TURN.replace("4611686018427387904", "0") + body).cycles


@table(
    "body, at, says",
    (moved("x", 32) + COPIED.replace("%x", "%p"), "mte_gm_ub", "reads bytes 128 to 383 of argument 0 (%x)"),
    (moved("y", -8) + COPIED.replace("%y", "%p"), "mte_ub_gm", "the first byte outside is -32"),
    (
        "    %p = pto.castptr %bytes : i64 -> !pto.ptr<f32, gm>\n" + COPIED.replace("%x", "%p"),
        "mte_gm_ub",
        "through a pointer that comes from no argument",
    ),
    (
        "    %s = pto.load_scalar %x[%c64] : !pto.ptr<f32, gm> -> f32\n" + COPIED,
        "load_scalar",
        "reads bytes 256 to 259 of argument 0 (%x)",
    ),
    ids=["behind", "before", "nowhere", "scalar"],
)
def test_an_access_outside_of_gm_is_a_warning(body: str, at: str, says: str) -> None:
    found = profile(body)
    (warning,) = found.warnings
    assert (warning.kind, warning.severity, warning.count) == ("out-of-bounds", "warning", 1)
    assert at in text(body).split("\n")[(warning.line or 0) - 1]
    assert says in warning.message
    assert found.cycles >= profile(COPIED).cycles
    assert says in str(found)
    assert found.to_json()["findings"][0]["location"]["line"] == warning.line


def test_a_line_is_told_once_with_its_loop_indices() -> None:
    """Four rounds, of which the first one stays inside."""
    body = "    scf.for %i = %c0 to %c4 step %c1 {\n      %o = arith.muli %i, %c8 : index\n"
    body += "      %p = pto.addptr %x, %o : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>\n" + load("%p")
    body += "    pto.barrier #pto.pipe<PIPE_MTE2>\n    }\n"
    (warning,) = profile(body + ALL).warnings
    assert (warning.count, warning.loops) == (3, (1,))


def test_a_clean_kernel_has_no_warnings() -> None:
    found = profile(COPIED)
    assert found.warnings == ()
    assert found.to_json()["findings"] == []


def test_the_command_line_shows_them(tmp_path: Path) -> None:
    file, page = tmp_path / "far.pto", tmp_path / "far.html"
    file.write_text(text(moved("x", 32) + COPIED.replace("%x", "%p")))
    words = ["profile", str(file), "zeros:64", "zeros:64", "--html", str(page)]
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0
    assert "warning: out-of-bounds: reads bytes 128 to 383" in shown.output
    assert "reads bytes 128 to 383" in page.read_text()
    data = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert [entry["kind"] for entry in data["findings"]] == ["out-of-bounds"] and data["ok"]
