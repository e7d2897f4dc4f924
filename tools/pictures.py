"""`python -m tools.pictures`: the pictures of docs/images. house.svg has the floors of the house, drawn from their
imports; profile.png is the page of a profile as Chromium shows it, where there is one.

A floor stands above everything that it imports. An arrow is left out where a way over other floors says the same.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ptosim"
PICTURE = ROOT / "docs" / "images" / "house.svg"
PHOTOGRAPH = ROOT / "docs" / "images" / "profile.png"
ROW, BOX, GAP = 62, (122, 34), 10
SAYS = {
    "cli": "the command line",
    "home": "editor, pytest, pages",
    "fleet": "many launches",
    "ranks": "several NPUs",
    "fit": "figures from a board",
    "author": "Python to operations",
    "ptodsl": "kernels in Python",
    "cpp": "recordings of C++",
    "cpp_module": "kernels in C++",
    "api": "check, profile, prove",
    "checking": "runs of a check",
    "module": "Module, Kernel",
    "loading": "the list of passes",
    "ordered_text": "flags in the text",
    "options": "values of options",
    "kernel_launch": "one call of a kernel",
    "example_arguments": "arguments made up",
    "argument_words": "rand:24x128, auto",
    "testing": "kernels in tests",
    "pytest_plugin": "ptosim in pytest",
    "timed_run": "a run with times",
    "report": "text, JSON, HTML",
    "repair": "findings to edits",
    "sanitize": "races, taint, shadow",
    "timing": "the cost model",
    "native": "the fast engine",
    "reference": "what it means",
    "arguments": "arrays and scalars",
    "tiles": "tiles to instructions",
    "vmi": "lanes to registers",
    "order": "insert, prove flags",
    "language": "parse, verify, print",
    "machine": "pipes, flags, clocks",
    "effects": "what is touched",
    "target": "machines as data",
    "diagnostics": "findings, errors",
    "places": "lines of sources",
}


def floors() -> dict[str, set[str]]:
    """The floors, each with those that it imports."""
    names = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    names -= {"__init__", "__main__"}
    found: dict[str, set[str]] = {name: set() for name in names}
    for path in SOURCE.rglob("*.py"):
        floor = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if floor in names:
            found[floor] |= _imported(path) & names - {floor}
    return found


def _imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for parts in (module.split(".") for module in modules):
            if parts[0] == "ptosim":
                found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in getattr(node, "names", ())}
    return found


def heights(below: dict[str, set[str]]) -> dict[str, int]:
    """The length of the longest way down."""
    found: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in found:
            found[name] = 1 + max((height(other) for other in below[name]), default=-1)
        return found[name]

    for name in below:
        height(name)
    return found


def direct(below: dict[str, set[str]]) -> dict[str, set[str]]:
    """The imports that no way over other floors says."""
    reached: dict[str, set[str]] = defaultdict(set)
    for name in sorted(below, key=heights(below).__getitem__):
        reached[name] = below[name].union(*(reached[other] for other in below[name]))
    return {name: others - {far for near in others for far in reached[near]} for name, others in below.items()}


def picture(below: dict[str, set[str]]) -> str:
    """The floors as SVG: rows of boxes, arrows down."""
    rows: dict[int, list[str]] = defaultdict(list)
    for name, height in heights(below).items():
        rows[height].append(name)
    top, width = max(rows), max(map(len, rows.values())) * (BOX[0] + GAP)
    middle = {
        name: (width * (2 * column + 1) / (2 * len(row)), ROW * (top - height) + BOX[1] / 2 + 4)
        for height, row in rows.items()
        for column, name in enumerate(sorted(row))
    }
    arrows = [_arrow(middle[name], middle[other]) for name, others in direct(below).items() for other in sorted(others)]
    boxes = [_box(name, *middle[name]) for name in sorted(middle)]
    style = "text{font:12px sans-serif;text-anchor:middle}.s{font-size:9px;fill:#555}rect{fill:#eef4fb;stroke:#4a78a8}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {ROW * (top + 1)}" width="{width}">',
            f"<style>{style}path{{stroke:#9aa;fill:none}}</style>",
            '<rect x="0" y="0" width="100%" height="100%" style="fill:#fff;stroke:none"/>',
            *sorted(arrows),
            *boxes,
            "</svg>\n",
        ]
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (u, v) = (start[0], start[1] + BOX[1] / 2), (end[0], end[1] - BOX[1] / 2)
    bend = (y + v) / 2
    tip = f"M{u - 3:.0f},{v - 5:.0f} L{u:.0f},{v:.0f} L{u + 3:.0f},{v - 5:.0f}"
    return f'<path d="M{x:.0f},{y:.0f} C{x:.0f},{bend:.0f} {u:.0f},{bend:.0f} {u:.0f},{v:.0f} {tip}"/>'


def _box(name: str, x: float, y: float) -> str:
    left, high = x - BOX[0] / 2, y - BOX[1] / 2
    said = f'<text class="s" x="{x:.0f}" y="{y + 11:.0f}">{SAYS[name]}</text>' if name in SAYS else ""
    return (
        f'<rect x="{left:.0f}" y="{high:.0f}" width="{BOX[0]}" height="{BOX[1]}" rx="4"/>'
        f'<text x="{x:.0f}" y="{y - 1 if said else y + 4:.0f}">{name}</text>{said}'
    )


def photograph(chromium: str) -> None:
    """The page of the double-buffered softmax."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = folder / "report.html"
        (folder / "examples").symlink_to(ROOT / "examples")  # the page shows the command, which is the same everywhere
        words = ["rand:96x128", "zeros:96x128", "96", "--html", page.name]
        program = [sys.executable, "-m", "ptosim", "profile", "examples/softmax.pto", *words]
        subprocess.run(program, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,800"]
        shown = [f"--screenshot={PHOTOGRAPH}", "--virtual-time-budget=3000", page.as_uri()]
        subprocess.run([chromium, *options, *shown], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    PICTURE.write_text(picture(floors()))
    browsers = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    if (chromium := next(filter(None, browsers), None)) is not None:
        photograph(chromium)
