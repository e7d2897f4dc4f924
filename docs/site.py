"""The documentation site, `make docs`: the pages of this folder, and reference pages that the code itself gives.

build/docs/html/index.html is the result. Every warning of Sphinx is an error: a link that leads nowhere is one.
"""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby, takewhile
from pathlib import Path

import click

import ptosim
from ptosim.cli.commands import main
from ptosim.report.instruction import pages

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "docs"
SOURCE = SITE / "source"
LINKED = ("examples", "src", "tests", "benchmarks")
"""Folders whose files pages lead to."""

ORDER = {
    "tutorial": ("Tutorials", "A way to walk, step by step."),
    "howto": ("How to", "One task each."),
    "explanation": ("Explanation", "Why it is so."),
    "reference": ("Reference", "Everything, to look up."),
}

GUIDE = "## Where to read on"
"""The heading of the README behind which all pages stand in the order in which to read them."""

TO_FOLDER = re.compile(r"\]\((?:\.\./)*examples(?:/\w+)?/?\)")


def write(name: str, *parts: str) -> None:
    path = SOURCE / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(parts) + "\n", "utf-8")


def listed(title: str, about: str, names: list[str]) -> str:
    """A table of contents."""
    entries = "\n".join(f"/{name}" for name in names)
    return f"## {title}\n\n{about}\n\n```{{toctree}}\n:maxdepth: 1\n:caption: {title}\n\n{entries}\n```"


# --- what the code gives ----------------------------------------------------------------------------------------------


def instructions() -> list[str]:
    """A page for each group of instructions."""
    names: list[str] = []
    for group, members in groupby(pages(), key=lambda page: page.group):
        names.append(f"reference/instructions/{group}")
        write(names[-1], f"# {group.replace('_', ' ')}", *(f"## {page.name}\n\n{page.markdown()}" for page in members))
    return names


def commands() -> None:
    """What `--help` says, for every command."""
    parts = ["# Commands"]
    for name in main.list_commands(click.Context(main)):
        command = main.commands[name]
        with click.Context(command, info_name=f"ptosim {name}", max_content_width=100) as context:
            parts.append(f"## {name}\n\n{fenced(command.get_help(context))}")
    write("reference/commands", *parts)


def api() -> None:
    """Signatures and docstrings of the public names."""
    write("reference/api", "# Python", *(part for name in ptosim.__all__ for part in described(name)))


def described(name: str) -> Iterator[str]:
    value = getattr(ptosim, name)
    yield f"## ptosim.{name}"
    if not inspect.isclass(value):
        text = f"{name}{inspect.signature(value)}\n\n" if callable(value) else ""
        yield fenced(text + (inspect.getdoc(value) or repr(value)))
        return
    yield fenced(inspect.getdoc(value) or "")
    for member, found in vars(value).items():
        public = not member.startswith("_") or member == "__call__"
        if public and (inspect.isfunction(found) or isinstance(found, property)):
            function = found.fget if isinstance(found, property) else found
            shown = f"{member}{inspect.signature(found)}" if inspect.isfunction(found) else f"{member}: property"
            said = "\n\n".join([shown, inspect.getdoc(function) or ""])
            yield f"### {name}.{member.strip('_')}\n\n{fenced(said)}"


def examples() -> None:
    """Every kernel of examples/ with its first lines of comment."""
    parts = ["# Examples"]
    for folder, paths in groupby(sorted((ROOT / "examples").rglob("*.*")), key=lambda path: path.parent):
        kernels = [path for path in paths if path.suffix in KERNELS and described_by(path)]
        if kernels:
            rows = [f"* [{path.name}](/{path.relative_to(ROOT)}): {described_by(path)}" for path in kernels]
            parts.append("\n".join([f"## {folder.relative_to(ROOT)}", "", *rows]))
    write("reference/examples", *parts)


KERNELS = (".pto", ".py", ".cpp")


def described_by(path: Path) -> str:
    """The first sentence of the comment that a file begins with."""
    lines = takewhile(lambda line: line.startswith(("//", '"""')), path.read_text("utf-8").splitlines())
    words = " ".join(line.strip('/" ') for line in lines if "CHECK-WITH" not in line)
    return words.partition(". ")[0].rstrip(".")


def fenced(text: str) -> str:
    return f"````text\n{text.strip()}\n````"


# --- the site ---------------------------------------------------------------------------------------------------------


def assemble() -> None:
    """Copies of the pages, the generated ones, and a page that leads to all."""
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for folder in LINKED:
        (SOURCE / folder).symlink_to(ROOT / folder)
    shutil.copy(ROOT / "CHANGELOG.md", SOURCE / "CHANGELOG.md")
    for page in (SOURCE / "docs").rglob("*.md"):  # a folder is no page
        page.write_text(TO_FOLDER.sub("](/reference/examples.md)", page.read_text("utf-8")), "utf-8")
    commands()
    api()
    examples()
    generated = ["reference/commands", "reference/api", "reference/examples"]
    groups = instructions()
    write("reference/instructions", "# Instructions", listed("Groups", "By what they do.", groups))
    parts = [WELCOME]
    for folder, (title, about) in ORDER.items():
        names = in_order(folder)
        more = [*generated, "reference/instructions", "CHANGELOG"] if folder == "reference" else []
        parts.append(listed(title, about, names + more))
    write("index", *parts)
    shutil.copy(ROOT / "docs" / "conf.py", SOURCE / "conf.py")


def in_order(folder: str) -> list[str]:
    """The pages of a folder as the README lists them."""
    guide = (ROOT / "README.md").read_text("utf-8").partition(GUIDE)[2]
    names = list(dict.fromkeys(re.findall(rf"\]\((docs/{folder}/[\w-]+)\.md\)", guide)))
    pages = {f"docs/{folder}/{page.stem}" for page in (SOURCE / "docs" / folder).glob("*.md")}
    if other := pages.symmetric_difference(names):
        sys.exit(f"docs/{folder} and the README's list of pages differ in {', '.join(sorted(other))}")
    return names


WELCOME = """# ptosim

ptosim runs, checks, times, proves and repairs Ascend PTO kernels on any computer: no NPU, no vendor toolchain.

```text
pip install ptosim
ptosim check softmax.pto
```

![profile of the double-buffered softmax](docs/images/profile.png)"""


def render() -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2", "-b", "html"]
    subprocess.run([*command, str(SOURCE), str(SITE / "html")], check=True)


if __name__ == "__main__":
    assemble()
    render()
    sys.stdout.write(f"wrote {(SITE / 'html' / 'index.html').relative_to(ROOT)}\n")
