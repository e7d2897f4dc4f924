"""Functions on tiles: their calls become what they do."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from ptosim.language.passes import inline_calls

TILE = "!pto.tile_buf<vec, 16x64xf32>"
VIEW = "!pto.partition_tensor_view<16x64xf32>"
HELPERS = f"""
func.func private @twice(%t: {TILE}, %d: {TILE}) {{
  pto.tadd ins(%t, %t : {TILE}, {TILE}) outs(%d : {TILE})
  return
}}
func.func private @loaded(%p: !pto.ptr<f32>, %d: {TILE}) -> {VIEW} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
  %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<16x64xf32> -> {VIEW}
  pto.tload ins(%w : {VIEW}) outs(%d : {TILE})
  func.call @twice(%d, %d) : ({TILE}, {TILE}) -> ()
  return %w : {VIEW}
}}
"""


def module(body: str, helpers: str = HELPERS) -> str:
    return f"""module attributes {{pto.target_arch = "a5"}} {{{helpers}
func.func @k(%x: !pto.ptr<f32>, %n: index) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.alloc_tile : {TILE}
{body}
  return
}}
}}
"""


def outcome(text: str, *rest: int) -> np.ndarray:
    """What both engines make of an array of ones, which is checked, too."""
    kernel = ptosim.load(text).kernel()
    native, reference = np.ones((16, 64), np.float32), np.ones((16, 64), np.float32)
    assert not ptosim.check(kernel, native, *rest).findings
    kernel(native, *rest)
    kernel(reference, *rest, engine="reference")
    assert np.array_equal(native, reference)
    return native


def test_tiles_and_views_are_passed_and_given() -> None:
    body = f"""%w = func.call @loaded(%x, %a) : (!pto.ptr<f32>, {TILE}) -> {VIEW}
scf.for %i = %c0 to %n step %c1 {{
  func.call @twice(%a, %a) : ({TILE}, {TILE}) -> ()
}}
pto.tstore ins(%a : {TILE}) outs(%w : {VIEW})"""
    assert (outcome(module(body), 3) == 16).all()


def test_a_caller_without_tile_operations_of_its_own_is_ordered() -> None:
    stored = HELPERS.replace("  return %w", f"  pto.tstore ins(%d : {TILE}) outs(%w : {VIEW})\n  return %w")
    body = f"%w = func.call @loaded(%x, %a) : (!pto.ptr<f32>, {TILE}) -> {VIEW}\n"
    assert (outcome(module(body, stored), 0) == 2).all()


def test_arguments_and_tiles_keep_the_names_that_the_caller_gives_them() -> None:
    body = f"%w = func.call @loaded(%x, %a) : (!pto.ptr<f32>, {TILE}) -> {VIEW}"
    loaded = ptosim.load(module(body))
    assert [parameter.name for parameter in loaded.kernel().signature] == ["x", "n"]
    assert "%a " in str(loaded.plan()) and "%d " not in str(loaded.plan())


def test_only_kernels_are_left() -> None:
    body = f"%w = func.call @loaded(%x, %a) : (!pto.ptr<f32>, {TILE}) -> {VIEW}\n"
    public = HELPERS.replace("private ", "")
    assert set(ptosim.load(module(body, public)).kernels) == {"k"}


def test_tiles_of_a_helper_do_not_lie_on_those_of_its_caller() -> None:
    helper = f"""
func.func private @other(%p: !pto.ptr<f32>) {{
  %two = arith.constant 2.0 : f32
  %b = pto.alloc_tile : {TILE}
  pto.texpands ins(%two : f32) outs(%b : {TILE})
  return
}}
"""
    body = f"""%w = func.call @loaded(%x, %a) : (!pto.ptr<f32>, {TILE}) -> {VIEW}
func.call @other(%x) : (!pto.ptr<f32>) -> ()
pto.tstore ins(%a : {TILE}) outs(%w : {VIEW})"""
    assert (outcome(module(body, HELPERS + helper), 0) == 2).all()


def test_a_finding_names_the_line_of_the_helper() -> None:
    text = module(f"%w = func.call @loaded(%x, %a) : (!pto.ptr<f32>, {TILE}) -> {VIEW}\n")
    report = ptosim.check(ptosim.load(text).kernel(), np.zeros(5, np.float32), 0)
    assert {finding.line for finding in report.findings if finding.kind == "out-of-bounds"} == {
        1 + text[: text.index("pto.tload")].count("\n")
    }


def test_nested_modules_are_lowered() -> None:
    inner = module("pto.tadd ins(%a, %a : A, A) outs(%a : A)".replace("A)", f"{TILE})").replace("A,", f"{TILE},"), "")
    inner = inner.replace(
        'module attributes {pto.target_arch = "a5"}', "module attributes {pto.kernel_kind = #pto.kernel_kind<vector>}"
    )
    text = f'module attributes {{pto.target_arch = "a5"}} {{\n{inner}\n}}\n'
    kernel = ptosim.load(text).kernel()
    kernel(np.zeros(4, np.float32), 0)
    with pytest.raises(ptosim.PTOError):
        kernel(np.zeros(4, np.float32))


def test_calls_that_would_become_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function calls the next one twice."""
    monkeypatch.setattr(inline_calls, "MOST_COPIES", 1000)

    def chain(length: int) -> str:
        call = f"func.call @f{{}}(%t) : ({TILE}) -> ()\n"
        last = f"pto.tadd ins(%t, %t : {TILE}, {TILE}) outs(%t : {TILE})\n"
        bodies = [*(call.format(i + 1) * 2 for i in range(length)), last]
        return "".join(f"func.func private @f{i}(%t: {TILE}) {{\n{body}return\n}}\n" for i, body in enumerate(bodies))

    body = f"func.call @f0(%a) : ({TILE}) -> ()\n"
    assert ptosim.load(module(body, chain(4))).kernels
    with pytest.raises(ptosim.PTOError) as caught:
        ptosim.load(module(body, chain(60)))
    (found,) = caught.value.diagnostics
    assert (found.kind, found.message) == ("limit", "calls of functions on tiles become more than 1000 operations")
    assert found.line is not None
