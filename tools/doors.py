"""`python -m tools.doors`: for each way to write kernels, a race as a check tells it, in docs/images/door-*.svg."""

from __future__ import annotations

import os
import runpy
import tempfile
from io import StringIO
from pathlib import Path

import numpy as np
from rich.console import Console

import ptosim
from ptosim.report.terminal import painted

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
WIDTH = 112

PYTHON = """from ptosim import pto

@pto.jit(target="a5", mode="explicit", kernel_kind="vector")
def exponent(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm")):
    ub = pto.castptr(0, pto.ptr(pto.f32, "ub"))
    out = pto.castptr(1024, pto.ptr(pto.f32, "ub"))
    all = pto.pset_b32("PAT_ALL")
    pto.mte_gm_ub(x, ub, 0, 256, nburst=(1, 256, 256))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    pto.vsts(pto.vexp(pto.vlds(ub, 0), all), out, 0, all)
    pto.mte_ub_gm(out, y, 256, nburst=(1, 256, 256))
    pto.pipe_barrier("ALL")
"""
CPP = """#include <pto/pto-inst.hpp>
using namespace pto;

__global__ AICORE void twice(__gm__ float *x, __gm__ float *y)
{
    using Rows = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>>;
    Tile<TileType::Vec, float, 16, 64> a, b;
    Rows from(x), to(y);
    TASSIGN(a, 0x0);
    TASSIGN(b, 0x1000);
    TLOAD(a, from);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(b, a, 2.0f);
    TSTORE(to, b);
}
"""


def findings() -> dict[str, ptosim.Finding]:
    """By door, a race of a kernel in a file of the folder that is the current one."""
    rows, zeros = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
    Path("exponent.py").write_text(PYTHON)
    Path("twice.cpp").write_text(CPP)
    text = (ROOT / "examples" / "softmax.pto").read_text()
    Path("softmax.pto").write_text(without(text, 'wait_flag_dyn["PIPE_V", "PIPE_MTE3", %par'))
    page = (ROOT / "docs" / "tutorial" / "workitems.md").read_text()
    Path("neighbours.pto").write_text(page.partition("```mlir\n")[2].partition("```")[0])
    text, workitems = (ptosim.load(f"{name}.pto").kernel() for name in ("softmax", "neighbours"))
    python = runpy.run_path("exponent.py")["exponent"]
    cpp = ptosim.load_cpp("twice.cpp").kernel("twice")
    x, y = np.ones((24, 128), np.float32), np.zeros((24, 128), np.float32)
    line = np.ones(256, np.float32)
    reports = {
        "text": ptosim.check(text, x, y, 24, grid=3),
        "python": ptosim.check(python, line[:64], np.zeros(64, np.float32)),
        "cpp": ptosim.check(cpp, rows, zeros),
        "workitems": ptosim.check(workitems, line, np.zeros(256, np.float32)),
    }
    races = {door: [each for each in report.findings if each.kind == "race"] for door, report in reports.items()}
    return {door: min(found, key=lambda each: "before V" not in each.message) for door, found in races.items()}


def without(text: str, words: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if words not in line)


def drawn(finding: ptosim.Finding) -> str:
    """What a terminal shows."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    words = painted(finding)
    follows = str(words).find("\n   follows:")
    console.print(words[:follows] if follows >= 0 else words, soft_wrap=True, overflow="ellipsis", no_wrap=True)
    return console.export_svg(title="ptosim check", code_format=FORMAT, unique_id="door")


FORMAT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect width="100%" height="100%" rx="8" fill="#0c0c0c"/>
<g transform="translate({terminal_x}, {terminal_y})">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def main() -> None:
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            shown = {door: drawn(found) for door, found in findings().items()}
        finally:
            os.chdir(here)
    for door, svg in shown.items():
        (IMAGES / f"door-{door}.svg").write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
