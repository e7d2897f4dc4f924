"""The tree as a newcomer meets it: names that occur once, folders and files of a size that one can look through."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

import ptosim

SOURCE = Path(ptosim.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

TWINS = {
    "Burst": "a copy of rows, as each engine makes it",
    "Core": "a core, as the machine and each engine have it",
    "Lowering": "the lowering of a micro-instruction and of a tile operation",
    "Mask": "a predicate register of each engine",
    "Padding": "what surrounds a row, in each engine",
    "Run": "a run of each engine",
    "Side": "one end of a copy, in each engine",
    "Steps": "from accumulator to destination, in each engine",
    "Store": "a store of the fixpipe, in each engine",
}
"""Class names that stand in several files, and why; this table only gets shorter."""

MOST_FILES = 45
MOST_LINES = 500


def test_a_class_name_occurs_once():
    homes: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(SOURCE)))
    assert {name for name, files in homes.items() if len(files) > 1} == {*TWINS}, homes


def test_folders_and_files_keep_a_size_to_look_through():
    folders = Counter(path.parent.relative_to(SOURCE) for path in FILES)
    assert {str(folder): count for folder, count in folders.items() if count > MOST_FILES} == {}
    lines = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in FILES}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


PAGES = [*SOURCE.parents[1].glob("docs/**/*.md"), SOURCE.parents[1] / "README.md", *SOURCE.rglob("*.toml"), *FILES]


def test_sentences_start_with_the_thing():
    """Nobody and whoever hide who it is, and "of what" hides the thing."""
    hidden = re.compile(r"\b(nobody|whoever|of\s+what)\b", re.IGNORECASE)
    found = {str(path): hidden.findall(path.read_text()) for path in PAGES}
    assert {path: words for path, words in found.items() if words} == {}


def test_a_module_says_first_which_thing_it_holds():
    questions = ("What ", "How ", "Where ", "When ", "Whether ", "Who ", "Which ", "Those ")
    said = {str(path.relative_to(SOURCE)): ast.get_docstring(ast.parse(path.read_text())) or "" for path in FILES}
    assert {path: text.partition("\n")[0] for path, text in said.items() if text.startswith(questions)} == {}


def test_a_docstring_starts_with_its_thing():
    """Such as 'the bytes that it holds' in place of 'what it holds', 'the id of a flag' in place of 'of a flag'."""
    hidden = ("What ", "How ", "Where ", "Of ", "Those ", "Who ", "That ", "So ")
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node.value.value, str) and node.value.value.lstrip().startswith(hidden)
    ]
    assert found == []
