"""Canonical text: for every kernel of the repository it loads again and prints the same."""

import re
from itertools import count
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


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(ROOT)))
def test_values_may_have_numbers_for_names(path: Path):
    """As other tools print them; names of hidden parameters say what these are."""
    numbers, names = count(), dict[str, str]()

    def numbered(found: re.Match[str]) -> str:
        name = found[0]
        return name if name.startswith("%__") else names.setdefault(name, f"%{next(numbers)}")

    once = text(load(Source(path.name, re.sub(r"%[\w$.-]+", numbered, path.read_text()))))
    assert text(load(Source(path.name, once))) == once


def test_comments_are_gone_and_names_stay():
    add = "%_ = arith.addi %first_0, %first_1 : i32"
    source = f"// a note\nfunc.func @f(%first_0: i32, %first_1: i32) {{ {add} return }}\n"
    assert text(load(Source("kernel.pto", source))) == (
        f"module {{\n  func.func @f(%first_0: i32, %first_1: i32) {{\n    {add}\n    func.return\n  }}\n}}\n"
    )


def test_results_that_share_a_number_get_names():
    """`%0_1` is no value: behind digits nothing goes on."""
    loop = (
        "%0:2 = scf.for %i = %a to %b step %b iter_args(%x = %a, %y = %b) -> (index, index) {\n"
        "scf.yield %y, %x : index, index\n}\n%1 = arith.addi %0#0, %0#1 : index"
    )
    once = text(load(Source("kernel.pto", f"func.func @f(%a: index, %b: index) {{\n{loop}\nreturn\n}}\n")))
    assert "%0, %_0_1 = scf.for" in once and "%1 = arith.addi %0, %_0_1" in once
    assert text(load(Source("kernel.pto", once))) == once


@pytest.mark.parametrize("name", ["pto\ufeff.note", "größe", "two words"])
def test_names_of_attributes_load_again(name: str):
    """Letters beyond ASCII are printed as the bytes that they are."""
    source = f'module attributes {{"{name}" = 1 : i32, note = "{name}"}} {{\n}}\n'
    once = text(load(Source("kernel.pto", source)))
    again = load(Source("kernel.pto", once))
    assert text(again) == once
    assert again.parsed.module.attributes.keys() >= {name}
