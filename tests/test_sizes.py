"""Files and functions that a reader can take in: at most 500 lines of a file, and a screen for a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import ptosim

SOURCE = Path(ptosim.__file__).parent
LONGEST_FILE, LONGEST_FUNCTION = 500, 60


def too_long(path: str, text: str) -> Iterator[str]:
    if (lines := len(text.splitlines())) > LONGEST_FILE:
        yield f"{path}: {lines} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {lines} lines"


def test_no_file_and_no_function_is_too_long():
    paths = sorted(SOURCE.rglob("*.py"))
    assert [found for path in paths for found in too_long(str(path.relative_to(SOURCE)), path.read_text())] == []


def test_rulers_are_alike():
    """`# --- words ---`, to the end of a line of 120."""
    rulers = [
        (path.relative_to(SOURCE), line)
        for path in SOURCE.rglob("*.py")
        for line in path.read_text().splitlines()
        if line.lstrip().startswith("# --")
    ]
    assert [found for found in rulers if not re.fullmatch(r" *# --- \S.* -+", found[1]) or len(found[1]) != 120] == []


def test_long_ones_would_be_found():
    lines = "    x = 1\n"
    assert list(too_long("a.py", "def f():\n" + 60 * lines)) == ["a.py:1: f has 61 lines"]
    assert list(too_long("a.py", "def f():\n" + 59 * lines + 440 * "\n")) == []
    assert list(too_long("a.py", 501 * "\n")) == ["a.py: 501 lines"]
