"""The stubs of editors are those that the operation classes make, and know every call."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ptosim.ptodsl
from ptosim import pto, scalar
from ptosim.ptodsl.stubs import STUBS

FOLDER = Path(ptosim.ptodsl.__file__).parent


@pytest.mark.parametrize("name", STUBS)
def test_a_stub_is_up_to_date(name: str):
    assert (FOLDER / name).read_text() == STUBS[name](), "make stubs"


def test_the_stub_of_pto_knows_every_name():
    tree = ast.parse((FOLDER / "pto.pyi").read_text())
    known = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    known |= {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    known |= {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {name for name in dir(pto) if name not in known and name not in ("PAT", "simd")} <= {"tile"} | known
    assert {"vadd", "set_flag", "jit", "f32", "CmpMode", "tile", "vmi", "comm"} <= known


def test_the_stub_of_scalar_knows_every_name():
    tree = ast.parse((FOLDER / "scalar.pyi").read_text())
    assert {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} == {*dir(scalar)}


def test_calls_have_types_in_the_stub():
    stub = (FOLDER / "pto.pyi").read_text()
    for line in (
        "def vexp(input: RegisterValue, mask: MaskValue) -> RegisterValue:",
        "    def add(self, src0: Tile, src1: Tile, dst: Tile) -> None:",
        "class i32(_Scalar): ...",
        "def vcadd(v: RegisterValue, mask: MaskValue) -> RegisterValue:",
        "def make_mask(element_type: Any, pattern: Any) -> MaskValue:",
        "@overload\ndef vlds(at: Any, *rest: Any, dist: Any = ..., post_update: _Word, type: Any = ...)"
        " -> tuple[RegisterValue, PointerValue]:",
    ):
        assert f"\n{line}\n" in stub


def test_a_pointer_type_has_a_spelling_that_type_checkers_read():
    assert pto.gm_ptr[pto.f32] == pto.gm_ptr(pto.f32) == pto.ptr(pto.f32, "gm")
    assert pto.ptr[pto.f16] == pto.ptr(pto.f16)
