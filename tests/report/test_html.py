"""The HTML report in a real browser: it loads without a network, draws, zooms, tells what is under the pointer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import Diagnostic, Location
from ptosim.report.profile import Profile
from report.browser import CHROMIUM, Browser, browser, colours
from report.long_runs import long_run

EXAMPLES = Path(__file__).parents[2] / "examples"
SKELETON = Path(__file__).parents[1] / "skeleton"

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this computer")


@pytest.fixture(scope="module")
def pingpong() -> Profile:
    kernel = ptosim.load(EXAMPLES / "pingpong.pto").kernel()
    return ptosim.profile(kernel, np.ones(12 * 1024, np.float32), np.zeros(12 * 1024, np.float32), 12, 1024)


@pytest.fixture(scope="module")
def page(pingpong: Profile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "pingpong.html"
    pingpong.save_html(path)
    return path


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        running.size(1280, 800)
        yield running


def test_it_is_one_file_without_references(page: Path):
    text = page.read_text()
    assert all(link.startswith("#") for link in re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)""", text))
    assert not re.search(r"@import|url\(|https?://", text)
    assert "default-src 'none'" in text


def test_text_of_a_kernel_cannot_leave_its_place(tmp_path: Path):
    kernel = ptosim.load(
        "// </script><script>document.title = 'taken'</script> /*scripts*/ <!--title-->\n"
        "func.func @k(%x: !pto.ptr<f32, gm>) attributes {pto.kernel} { return }\n"
    ).kernel()
    text = ptosim.profile(kernel, np.zeros(1, np.float32))
    text.save_html(tmp_path / "page.html")
    written = (tmp_path / "page.html").read_text()
    assert "</script><script>document" not in written
    assert written.count("</script>") == 2


@needs_browser
def test_a_kernel_that_does_nothing(chromium: Browser, tmp_path: Path):
    kernel = ptosim.load("func.func @k(%x: !pto.ptr<f32, gm>) attributes {pto.kernel} { return }\n").kernel()
    ptosim.profile(kernel, np.zeros(1, np.float32)).save_html(tmp_path / "empty.html")
    chromium.open(tmp_path / "empty.html")
    assert chromium.complaints == []
    assert chromium.run("document.getElementById('memory-part').hidden")


def test_ten_thousand_events_stay_small(tmp_path: Path):
    profile = long_run(10_000)
    assert len(profile.timeline) == 9_999
    profile.save_html(tmp_path / "long.html")
    assert (tmp_path / "long.html").stat().st_size < 3_000_000


def test_a_longer_run_is_cut_and_says_so(tmp_path: Path):
    profile = long_run(60_000)
    profile.save_html(tmp_path / "longer.html")
    assert (tmp_path / "longer.html").stat().st_size < 8_000_000


def test_notebooks_get_a_frame(pingpong: Profile):
    shown = pingpong._repr_html_()
    assert shown.startswith("<iframe ") and 'srcdoc="&lt;!doctype html&gt;' in shown


@needs_browser
def test_the_frame_works_inside_another_page(chromium: Browser, pingpong: Profile, tmp_path: Path):
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><body data-ready=1><p>a cell</p>{pingpong._repr_html_()}</body>")
    chromium.open(cell)
    inside = "document.querySelector('iframe').contentDocument"
    chromium.wait(f"{inside}.body && {inside}.body.dataset.to")
    chromium.run(f"{inside}.getElementById('zoom-in').click()")
    chromium.wait(f"{inside}.body.dataset.to - {inside}.body.dataset.from < {pingpong.cycles}")
    assert chromium.run("location.hash") == "" and chromium.complaints == []


@needs_browser
def test_load(page: Path, chromium: Browser, pingpong: Profile):
    chromium.open(page)
    assert chromium.complaints == []
    assert [url for url in chromium.requests if not url.startswith("file:")] == []
    heading = chromium.run("document.getElementById('facts').innerText")
    assert f"{pingpong.cycles:,}" in heading and pingpong.bound in heading
    shown = chromium.run("[...document.querySelectorAll('#listing tbody tr')].map(row => row.dataset.line).join()")
    assert shown == ",".join(str(n + 1) for n in range(len(pingpong.source.text.split("\n"))))
    heads = chromium.run("[...document.querySelectorAll('#listing th')].map(head => head.textContent).join()")
    assert heads == "line,region,share,critical,busy,waiting,source"
    assert "they do not predict wall time" in chromium.run("document.getElementById('footer').innerText")
    # The hottest line of the listing has the cycles of the profile.
    hottest = pingpong.lines[0]
    row = f"document.querySelector('#listing tr[data-line=\"{hottest.line}\"]').innerText"
    assert f"{hottest.critical:,}" in chromium.run(row)


@needs_browser
def test_the_picture_is_not_blank(page: Path, chromium: Browser):
    chromium.open(page, "#theme=light")
    light = colours(chromium.picture())
    blue, green, orange, crimson = (0x34, 0x73, 0xC4), (0x1B, 0x82, 0x63), (0xA9, 0x61, 0x1A), (0xC0, 0x19, 0x5A)
    assert {blue, green, orange, crimson} <= light  # MTE2, V, MTE3 and the critical path
    chromium.open(page, "#theme=dark")
    dark = colours(chromium.picture())
    assert (0x12, 0x15, 0x18) in dark and (0xFF, 0xFF, 0xFF) not in dark


def where(chromium: Browser, cycle: float, track: int) -> tuple[float, float]:
    """The place on the screen of a cycle on a track of a page that shows one core."""
    box = chromium.run("(b => [b.left, b.top, b.width])(document.getElementById('timeline').getBoundingClientRect())")
    begin, end = (float(chromium.run(f"document.body.dataset.{name}")) for name in ("from", "to"))
    gutter = 74 if chromium.run("innerWidth") >= 560 else 46
    x = gutter + (cycle - begin) / (end - begin) * (box[2] - gutter - 6)
    return box[0] + x, box[1] + 20 + 21 * track + 8


@needs_browser
def test_hover_and_choose(page: Path, chromium: Browser, pingpong: Profile):
    chromium.open(page)
    chromium.wait("document.body.dataset.to")
    event = next(event for event in pingpong.timeline if event.pipe == "V")
    x, y = where(chromium, (event.start + event.end) / 2, 2)
    chromium.mouse("mouseMoved", x, y)
    tip = chromium.wait("!document.getElementById('tip').hidden && document.getElementById('tip').innerText")
    assert f"vecscope %in → %out, line {event.line}" in tip.replace("[0]", "").replace("[1]", "")
    assert f"{event.cycles}" in tip and f"{event.start} to {event.end}" in tip
    chromium.mouse("mousePressed", x, y, button="left", clickCount=1)
    chromium.mouse("mouseReleased", x, y, button="left", clickCount=1)
    chromium.wait("document.body.dataset.selected >= 0")
    assert "vecscope" in chromium.run("document.getElementById('announce').textContent")
    chromium.mouse("mouseMoved", 5, 5)
    chromium.wait("document.getElementById('tip').hidden")


@needs_browser
def test_zoom_by_wheel_buttons_and_keys(page: Path, chromium: Browser, pingpong: Profile):
    def span() -> float:
        return chromium.run("document.body.dataset.to - document.body.dataset.from")

    chromium.open(page)
    chromium.wait("document.body.dataset.to")
    assert span() == pingpong.cycles
    x, y = where(chromium, pingpong.cycles / 2, 1)
    chromium.mouse("mouseWheel", x, y, deltaX=0, deltaY=-60, modifiers=2)
    chromium.wait(f"document.body.dataset.to - document.body.dataset.from < {0.7 * pingpong.cycles}")
    assert chromium.run("location.hash").startswith("#from=")
    before = span()
    chromium.run("document.getElementById('zoom-in').click()")
    chromium.wait(f"document.body.dataset.to - document.body.dataset.from < {0.61 * before}")
    chromium.run("document.getElementById('timeline').focus()")
    chromium.key("0")
    chromium.wait(f"document.body.dataset.to - document.body.dataset.from == {pingpong.cycles}")
    chromium.key("n")
    chromium.key("n")
    chromium.wait("document.body.dataset.selected == 1")
    chromium.key("Enter")
    chromium.wait(f"document.body.dataset.to - document.body.dataset.from < {pingpong.cycles / 2}")
    chromium.key("Escape")
    chromium.wait("document.body.dataset.selected == -1")


@needs_browser
def test_the_address_leads_to_an_event(page: Path, chromium: Browser, pingpong: Profile):
    # Events, waits among them, are numbered by their start.
    events = sorted([*pingpong.timeline, *pingpong.waits], key=lambda event: event.start)
    number = next(number for number, event in enumerate(events) if event.name == "pto.vecscope")
    chromium.open(page, f"#from=100&to=400&event={number}")
    chromium.wait("document.body.dataset.to == 400")
    assert chromium.run("document.getElementById('tip').innerText").startswith("vecscope")


@needs_browser
def test_choosing_a_line_marks_it(page: Path, chromium: Browser, pingpong: Profile):
    chromium.open(page)
    line = next(entry.line for entry in pingpong.lines if "mte_gm_ub" in pingpong.source.line(entry.line))
    row = f"document.querySelector('#listing tr[data-line=\"{line}\"]')"
    chromium.run(f"{row}.click()")
    assert chromium.run(f"{row}.classList.contains('chosen') && {row}.querySelector('.choice').ariaPressed == 'true'")
    chromium.run(f"{row}.click()")
    assert not chromium.run(f"{row}.classList.contains('chosen')")


@needs_browser
@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844)])
def test_nothing_is_wider_than_the_screen(page: Path, chromium: Browser, width: int, height: int):
    chromium.size(width, height)
    chromium.open(page)
    assert chromium.run("document.documentElement.scrollWidth") <= width
    assert len(colours(chromium.picture())) > 20
    chromium.size(1280, 800)


@needs_browser
def test_ten_thousand_events_are_there_within_a_second(chromium: Browser, tmp_path: Path):
    path = tmp_path / "long.html"
    long_run(10_000).save_html(path)
    loads: list[float] = []
    frames: list[float] = []
    for _ in range(3):  # the least of several: other programs may want the processor too
        chromium.open(path)
        loads.append(float(chromium.run("document.body.dataset.ready")))
        frames.append(chromium.run(FRAME))
    assert min(loads) < 1000 and min(frames) < 300
    assert chromium.complaints == []


FRAME = """(() => {
    const begin = performance.now();
    const next = () => new Promise(requestAnimationFrame);
    document.getElementById('zoom-in').click();
    return next().then(next).then(() => performance.now() - begin);
})()"""


@needs_browser
def test_cores_and_findings(chromium: Browser, tmp_path: Path):
    kernel = ptosim.load(SKELETON / "mixed_signal.pto").kernel()
    x, half, y = (np.zeros(128, np.float32) for _ in range(3))
    profile = ptosim.profile(kernel, x, half, y)
    finding = Diagnostic(
        "race", "error", "MTE3 may read <b>early</b>", Location("mixed_signal.pto", 46, 7, 3), hint="wait"
    )
    profile.save_html(tmp_path / "mixed.html", [finding])
    chromium.open(tmp_path / "mixed.html")
    assert (
        chromium.run("[...document.getElementById('core').options].map(o => o.text).join()")
        == "all,b0.aic,b0.aiv0,b0.aiv1"
    )
    assert "MTE3 may read <b>early</b>" in chromium.run("document.querySelector('.finding.error').innerText")
    tall = chromium.run("document.getElementById('spacer').clientHeight")
    chromium.run("(s => { s.value = '1'; s.dispatchEvent(new Event('change')); })(document.getElementById('core'))")
    chromium.wait(f"document.getElementById('spacer').clientHeight < {tall}")
    assert chromium.complaints == []


@needs_browser
def test_signals_between_cores_are_drawn_where_all_would_be_too_many(chromium: Browser, tmp_path: Path):
    kernel = ptosim.load(EXAMPLES / "producer_consumer_a2a3.pto").kernel()
    profile = ptosim.profile(kernel, *(np.ones(2560, np.float32) for _ in range(3)), 10)
    profile.save_html(tmp_path / "cores.html")
    chromium.open(tmp_path / "cores.html")
    # In each of ten turns both vector cores signal the cube core, which signals both.
    said = f"40 of {len(profile.recording.signals)}"
    assert chromium.wait("document.getElementById('signals-shown').textContent") == said
    # The pipe that signals has a track although it does nothing else.
    assert "FIX" in chromium.run("document.getElementById('legend').innerText")
    chromium.run("(box => box.click())(document.getElementById('show-arrows'))")
    chromium.wait("document.getElementById('signals-shown').textContent === ''")
    chromium.open(tmp_path / "cores.html", "#from=0&to=60")
    chromium.wait("document.getElementById('signals-shown').textContent === ''")
    assert chromium.complaints == []
