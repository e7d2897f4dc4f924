"""Memory that is planned: addresses that do not meet, the message where they do not fit, the table and the picture."""

import json
import re
from itertools import pairwise
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


def test_a_page_has_tables_lines_and_the_source(tmp_path: Path):
    page = tmp_path / "plan.html"
    ptosim.load(kernel(alloc("a", 4), alloc("b", 1), fill("a", 4), fill("b", 1))).plan().save_html(page)
    text = page.read_text()
    assert '<line class="peak"' in text and '<span id="L7">' in text
    assert (
        text.count('<rect class="tile"') == 2 and '<td><i style="background:#4e79a7"></i><a href="#L6">%a</a>' in text
    )


def test_small_tiles_are_seen_and_named(tmp_path: Path):
    page = tmp_path / "plan.html"
    tiles = [alloc("big", 100), *(alloc(f"s{each}", 1) for each in range(5))]
    fills = [fill("big", 100), *(fill(f"s{each}", 1) for each in range(5))]
    ptosim.load(kernel(*tiles, *fills)).plan().save_html(page)
    text = page.read_text()
    heights = [float(found) for found in re.findall(r'<rect class="tile"[^>]* height="([\d.]+)"', text)]
    assert min(heights) >= 3
    labels = [float(found) for found in re.findall(r'<text x="558" y="([\d.]+)">%', text)]
    assert len(labels) == 6 and min(b - a for a, b in pairwise(sorted(labels))) >= 12


MICRO = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f32, gm>, %n: index) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 1024 : i64
    %at = arith.constant 2048 : i64
    %far = arith.constant 8192 : i64
    %in = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %out = pto.castptr %at : i64 -> !pto.ptr<f32, ub>
    %open = pto.castptr %far : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %in, %zero, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.vecscope {
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      scf.for %i = %c0 to %c256 step %c64 {
        %v = pto.vlds %in[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
        pto.vsts %v, %out[%i], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
        pto.vsts %v, %open[%n], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      }
    }
    return
  }
}
"""


def test_pointers_stand_for_tiles_where_there_are_none():
    plan = ptosim.load(MICRO).plan()
    (function,) = plan.functions
    rows = [(each.name, each.space, each.address, each.size, each.first, each.last) for each in function.tiles]
    assert rows == [
        ("%in", "ub", 0, 1024, 14, 20),
        ("%out", "ub", 2048, 1024, 21, 21),
        ("%open", "ub", 8192, 262144 - 8192, 22, 22),
    ]
    assert "its end is not known" in str(plan)
