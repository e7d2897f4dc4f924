"""`python -m tools.size [REV]`: code lines of src and tests by folder, and how many more they are than at a revision.

A code line holds code: blank lines, comments and the docstrings of modules, classes and functions do not count.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
TOPS = ("src/ptosim", "tests")
_LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(text: str) -> int:
    """The lines that hold code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for token in tokens if token.type not in _LAYOUT for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def by_folder(files: Iterable[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """Code lines of Python files, by top and the folder below it."""
    found: Counter[tuple[str, str]] = Counter()
    for name, text in files:
        for top in TOPS:
            if name.startswith(f"{top}/") and name.endswith(".py"):
                below = PurePosixPath(name).relative_to(top).parts
                found[top, below[0] if len(below) > 1 else "."] += code_lines(text)
    return found


def working_tree() -> Iterator[tuple[str, str]]:
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*.py")):
            yield str(path.relative_to(ROOT)), path.read_text()


def revision(name: str) -> Iterator[tuple[str, str]]:
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", name, *TOPS], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    for file in listed:
        if file.endswith(".py"):
            shown = subprocess.run(["git", "show", f"{name}:{file}"], cwd=ROOT, check=True, capture_output=True)
            yield file, shown.stdout.decode()


def table(now: Counter[tuple[str, str]], before: Counter[tuple[str, str]] | None = None) -> Iterator[str]:
    """A line for each folder, largest first, below the sum of its top."""
    for top in TOPS:
        rows = {below: lines for (there, below), lines in now.items() if there == top}
        was = {below: lines for (there, below), lines in (before or now).items() if there == top}
        for below in ["", *sorted({*rows, *was}, key=lambda name: -rows.get(name, 0))]:
            here, there = (sum(part.values()) if not below else part.get(below, 0) for part in (rows, was))
            change = f"  {here - there:+,}" if before is not None else ""
            yield f"{f'  {below}' if below else top:<20}{here:>8,}{change}"


def main() -> None:
    before = by_folder(revision(sys.argv[1])) if len(sys.argv) > 1 else None
    print("\n".join(table(by_folder(working_tree()), before)))


if __name__ == "__main__":
    main()
