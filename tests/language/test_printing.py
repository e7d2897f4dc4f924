"""Canonical text: for every kernel of the repository it loads again and prints the same."""

from pathlib import Path

import pytest

from ptosim.diagnostics import Source
from ptosim.language.load import load, text

ROOT = Path(__file__).parents[2]
# Kernels that show what does not load.
WRONG = {"invalid.pto", "syntax.pto", "unsupported.pto", "wrong-target.pto"}
FILES = [path for folder in ("src", "examples", "tests") for path in sorted((ROOT / folder).rglob("*.pto"))]
KERNELS = [path for path in FILES if path.name not in WRONG]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(ROOT)))
def test_canonical_text_is_stable(path: Path):
    once = text(load(Source(path.name, path.read_text())))
    assert text(load(Source(path.name, once))) == once


def test_comments_are_gone_and_names_stay():
    add = "%_ = arith.addi %first_0, %first_1 : i32"
    source = f"// a note\nfunc.func @f(%first_0: i32, %first_1: i32) {{ {add} return }}\n"
    assert text(load(Source("kernel.pto", source))) == (
        f"module {{\n  func.func @f(%first_0: i32, %first_1: i32) {{\n    {add}\n    func.return\n  }}\n}}\n"
    )
