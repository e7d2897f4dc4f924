"""Contrast of the page of a profile, and what axe-core finds on pages, in light and dark and at three widths.

`make editor` installs axe-core; without it the colours are still compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ptosim
from report.browser import CHROMIUM, Browser, browser

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
STYLE = ROOT / "src" / "ptosim" / "report" / "page" / "report.css"
AXE = ROOT / "editors" / "vscode" / "node_modules" / "axe-core" / "axe.min.js"
LEAST = 4.5
BARS = ("S", "MTE2", "MTE1", "V", "M", "FIX", "MTE3", "SDMA", "SFU", "reduction", "moves")
RUN = """axe.run(document).then(found => JSON.stringify(found.violations.map(each =>
  [each.id, each.nodes.slice(0, 3).map(node => node.target.join(' '))])))"""

needs_axe = pytest.mark.skipif(
    CHROMIUM is None or not AXE.exists(), reason="there is no Chromium, or no axe-core (make editor)"
)


def luminance(colour: str) -> float:
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    dark, light = sorted(map(luminance, (first, second)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_differ_from_what_is_written_on_them_and_from_the_ground(theme: int) -> None:
    """Names stand on bars, numbers and marks beside them."""
    palette = dict(re.findall(r"--(\w+): (#\w{6})", STYLE.read_text().split("}")[theme]))
    pairs = [(palette[bar], palette[other]) for bar in BARS for other in ("onbar", "panel")]
    pairs += [
        (palette[ink], palette[ground])
        for ink in ("ink", "soft", "faint", "focus", "critical", "error", "warning")
        for ground in ("panel",)
    ]
    pairs += [(palette[ink], palette["mark"]) for ink in ("ink", "soft")]
    assert {pair: round(contrast(*pair), 2) for pair in pairs if contrast(*pair) < LEAST} == {}
    assert round(contrast("#000000", "#ffffff"), 1) == 21.0 and round(contrast("#777777", "#ffffff"), 2) == 4.48


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A comparison with advice, a mixed kernel with findings and FIFOs."""
    folder, x = tmp_path_factory.mktemp("pages"), np.ones(12 * 1024, np.float32)
    first, second = (
        ptosim.profile(ptosim.load(EXAMPLES / f"{name}.pto").kernel(), x, np.zeros_like(x), 12, 1024)
        for name in ("singlebuffer", "pingpong")
    )
    first.save_html(folder / "compared.html", None, first.compare(second))
    broken = (EXAMPLES / "abs.pto").read_text().replace('pto.wait_flag["PIPE_V"', '// pto.wait_flag["PIPE_V"')
    kernels = [ptosim.load(EXAMPLES / "tiles" / "flash_attention.pto").kernel(), ptosim.load(broken).kernel()]
    for number, kernel in enumerate(kernels):
        arguments = kernel.example_arguments()
        found = ptosim.check(kernel, *arguments).findings
        ptosim.profile(kernel, *arguments).save_html(folder / f"{number}.html", found)
    return sorted(folder.glob("*.html"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 820, 390])
def test_axe_finds_nothing(pages: list[Path], chromium: Browser, width: int, theme: str) -> None:
    chromium.size(width, 900)
    for page in pages:
        chromium.open(page, f"#theme={theme}")
        chromium.run(AXE.read_text() + "; 0")
        found = chromium.send("Runtime.evaluate", expression=RUN, awaitPromise=True, returnByValue=True)
        assert json.loads(found["result"]["value"]) == [], page
