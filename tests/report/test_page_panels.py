"""The panels of the page: advice, roofline, units, GM by block, search, launch; and the numbers behind them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main
from ptosim.report.access_map import access_map
from ptosim.report.profile import Profile
from ptosim.report.roofline import roofline
from report.browser import CHROMIUM, Browser, browser

EXAMPLES = Path(__file__).parents[2] / "examples"

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this computer")


@pytest.fixture(scope="module")
def profile() -> Profile:
    kernel = ptosim.load(EXAMPLES / "singlebuffer.pto").kernel()
    x = np.ones(12 * 1024, np.float32)
    return ptosim.profile(kernel, x, np.zeros_like(x), 4, 1024, grid=3)


@pytest.fixture(scope="module")
def chromium(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = tmp_path_factory.mktemp("page") / "single.html"
    profile.save_html(path)
    with browser() as running:
        running.size(1280, 900)
        running.open(path)
        yield running


def test_the_kernel_lies_under_the_roof(profile: Profile) -> None:
    found = roofline(profile)
    kernel, scope = found.points[:2]
    assert (kernel.line, kernel.pipe) == (None, "V") and scope.line is not None
    moved = sum(transfer.bytes for transfer in profile.transfers)
    assert moved == 2 * 12 * 4096  # each byte in and out once
    issued = kernel.intensity * moved
    assert kernel.share == pytest.approx(issued / (3 * profile.cycles))
    assert all(point.share <= min(1.0, point.intensity * found.bandwidth) for point in found.points)


def test_every_block_touches_its_own_bytes(profile: Profile) -> None:
    stretches = access_map(profile)
    for name, writes in (("x", False), ("y", True)):
        mine = [each for each in stretches if each.argument == name]
        assert all(each.writes is writes for each in mine) and {each.block for each in mine} == {0, 1, 2}
        covered = sorted((each.low, each.high) for each in mine)
        assert covered[0][0] == 0 and covered[-1][1] == 12 * 4096
        assert all(before[1] <= after[0] for before, after in pairwise(covered))


@needs_browser
def test_the_panels_are_there(chromium: Browser, profile: Profile) -> None:
    assert chromium.complaints == []
    titles = chromium.run("[...document.querySelectorAll('#tables h2')].map((each) => each.textContent)")
    assert {"Advice", "Roofline", "Units of the vector core", "GM by block"} <= set(titles)
    advice = chromium.run("document.querySelector('.advice').textContent")
    assert f"{profile.advice[0].cycles:,}" in advice and "one more buffer" in advice
    assert chromium.run("document.querySelectorAll('svg.access rect.wrote').length") == 3
    assert chromium.run("document.querySelectorAll('svg.roofline .point.whole').length") == 1
    launch = chromium.run("document.getElementById('launch').textContent")
    assert "x: float32 12288" in launch and "= 1024" in launch and "ptosim" in launch


@needs_browser
def test_bars_and_memory_have_the_names_of_buffers(chromium: Browser) -> None:
    chromium.run("document.getElementById('timeline').focus()")
    chromium.key("n")
    said = chromium.run("document.getElementById('announce').textContent")
    assert "mte_gm_ub %x → %in" in said
    assert "UB 8 KiB of 256 KiB" in chromium.run("document.getElementById('memory-used').textContent")


@needs_browser
def test_regions_of_the_source_fold(chromium: Browser) -> None:
    shown = "[...document.querySelectorAll('#listing tbody tr')].filter((row) => !row.hidden).length"
    everything = chromium.run(shown)
    chromium.run("document.getElementById('fold').click()")
    assert chromium.run(shown) < everything / 2
    assert (
        chromium.run("document.querySelector('#listing tr.folded .fold button').getAttribute('aria-expanded')")
        == "false"
    )
    chromium.run("document.getElementById('fold').click()")
    assert chromium.run(shown) == everything


@needs_browser
def test_search_goes_through_lines_and_events(chromium: Browser) -> None:
    chromium.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: '/'}))")
    assert chromium.run("document.activeElement.id") == "search"
    chromium.run("document.activeElement.value = 'mte_gm_ub'; document.activeElement.dispatchEvent(new Event('input'))")
    assert chromium.run("document.getElementById('hits').textContent") == "1 line, 12 events"
    assert chromium.run("document.querySelectorAll('#listing tr.match').length") == 1
    chromium.run("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))")
    assert "mte_gm_ub" in chromium.run("document.getElementById('announce').textContent")


@needs_browser
def test_on_paper_nothing_scrolls(chromium: Browser) -> None:
    rules = chromium.run(
        "[...document.styleSheets[0].cssRules].filter((r) => r.media && r.media.mediaText === 'print').length"
    )
    assert rules == 1


@needs_browser
def test_the_memories_of_a_mixed_kernel(chromium: Browser, profile: Profile, tmp_path: Path) -> None:
    kernel = ptosim.load(EXAMPLES / "producer_consumer_a5.pto").kernel()
    ptosim.profile(kernel, *kernel.example_arguments()).save_html(tmp_path / "mixed.html")
    chromium.open(tmp_path / "mixed.html")
    choice = "[...document.getElementById('memory-of').options].map((each) => each.textContent).join()"
    assert chromium.run(choice) == "b0.aic,b0.aiv0,b0.aiv1"
    assert chromium.run("document.getElementById('memory-used').textContent") == "L1 2 KiB of 512 KiB"
    assert chromium.complaints == []


def test_the_command_is_told(tmp_path: Path) -> None:
    page, kernel = tmp_path / "page.html", EXAMPLES / "tiles" / "softmax.pto"
    said = CliRunner().invoke(main, ["profile", str(kernel), "--set", "rows=40", "--html", str(page)])
    assert said.exit_code == 0
    assert f'"command":"ptosim profile {kernel} rand:40x128 zeros:40x128 40 --html {page}"' in page.read_text()
