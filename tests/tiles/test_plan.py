"""Memory that is planned: addresses that do not meet, the message where they do not fit, the table and the picture."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main
from ptosim.diagnostics import PTOError


def kernel(*lines: str) -> str:
    body = "\n    ".join(lines)
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%n: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    {body}
    return
  }}
}}
"""


def tile(rows: int) -> str:
    return f"!pto.tile_buf<vec, {rows}x256xf32>"


def alloc(name: str, rows: int) -> str:
    return f"%{name} = pto.alloc_tile : {tile(rows)}"


def fill(name: str, rows: int) -> str:
    return f"pto.texpands ins(%one : f32) outs(%{name} : {tile(rows)})"


def addresses(text: str) -> dict[str, int | None]:
    (plan,) = ptosim.load(text).plan().functions
    return {tile.name: tile.address for tile in plan.tiles}


def test_tiles_lie_one_behind_the_other():
    text = kernel(alloc("a", 4), alloc("b", 1), alloc("c", 2), fill("a", 4), fill("b", 1), fill("c", 2))
    assert addresses(text) == {"%a": 0, "%b": 4096, "%c": 5120}


def test_tiles_share_when_they_must():
    text = kernel(alloc("a", 150), fill("a", 150), alloc("b", 150), fill("b", 150))
    assert addresses(text) == {"%a": 0, "%b": 0}


def test_a_tile_of_a_loop_is_in_use_all_the_time():
    inside = (f"scf.for %i = %c0 to %n step %c1 {{ {fill('a', 150)}", fill("b", 150), "}")
    with pytest.raises(PTOError) as raised:
        ptosim.load(kernel(alloc("a", 150), alloc("b", 150), *inside))
    (said,) = raised.value.diagnostics
    assert said.kind == "limit"
    assert said.message == (
        "ub overflow: the tiles need 307200 bytes, 253952 are available; in use here: %a 153600, %b 153600"
    )


def test_an_untouched_tile_needs_no_memory():
    text = kernel(alloc("a", 150), alloc("b", 150), fill("a", 150))
    (plan,) = ptosim.load(text).plan().functions
    assert [(tile.name, tile.size) for tile in plan.tiles] == [("%a", 153600), ("%b", 0)]


def test_opposite_branches_share():
    branch = (
        "%some = arith.cmpi eq, %n, %c1 : index",
        f"scf.if %some {{ {fill('a', 150)}",
        "} else {",
        fill("b", 150),
        "}",
    )
    assert addresses(kernel(alloc("a", 150), alloc("b", 150), *branch)) == {"%a": 0, "%b": 0}


def test_the_command_shows_table_json_and_picture(tmp_path: Path):
    path, page = tmp_path / "k.pto", tmp_path / "plan.html"
    path.write_text(kernel(alloc("a", 4), fill("a", 4)))
    shown = CliRunner().invoke(main, ["plan", str(path), "--html", str(page)])
    assert shown.exit_code == 0
    assert [line.split() for line in shown.stdout.splitlines() if line.startswith("%a")] == [
        ["%a", "ub", "0", "4,096", "6", "7", "to", "7", "vec,", "4x256xf32"]
    ]
    assert "<title>%a: 4,096 bytes at 0, lines 7 to 7</title>" in page.read_text()
    found = json.loads(CliRunner().invoke(main, ["plan", str(path), "--json"]).stdout)
    assert found["result"]["functions"][0]["peaks"] == {"ub": {"bytes": 4096, "of": 262144}}
