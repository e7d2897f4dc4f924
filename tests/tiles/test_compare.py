"""Comparisons into packed bits and selections by them, against bits that NumPy packs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import ptosim
from tables import table
from tile_cases import Array, is_float, sampled
from tile_numbers import same, samples, wide
from tile_programs import Given, Outcome, dtype_of, run, run_each

ELEMENTS = ("i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32")
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
REGIONS: dict[str, tuple[int, int, tuple[int, int] | None]] = {
    "full": (3, 128, None),
    "half a block": (3, 64, None),
    "tail": (3, 160, (3, 77)),
    "second register": (2, 160, (2, 150)),
    "several blocks": (2, 512, (2, 300)),
    "whole blocks": (2, 512, None),
    "one column": (3, 64, (3, 1)),
    "nothing": (2, 64, (2, 0)),
    "no rows": (2, 64, (0, 64)),
}
"""Rows and columns, and the valid region where it is another."""


def tile(element: str, region: str, dynamic: bool, holds: Array | None = None) -> Given:
    rows, cols, valid = REGIONS[region]
    if dynamic:
        return Given(f"{rows}x{cols}x{element}", holds, valid=valid or (rows, cols))
    return Given(f"{rows}x{cols}x{element}" + (f", valid={valid[0]}x{valid[1]}" if valid else ""), holds)


def block(element: str) -> tuple[int, int]:
    """Elements and bytes of a block of bits."""
    return (256, 32) if dtype_of(element).itemsize == 1 else (128, 16)


def operands(element: str, shape: tuple[int, int]) -> tuple[Array, Array]:
    a, b = samples(element, shape, 1), samples(element, shape, 2)
    b[:, ::3] = a[:, ::3]
    return a, b


def packed(row: Array, element: str) -> Array:
    """The bits of a row in whole blocks."""
    elements, size = block(element)
    image = np.zeros(-(-len(row) // elements) * size, np.uint8)
    found = np.packbits(row, bitorder="little")
    image[: len(found)] = found
    return image


def written(outcome: Outcome, rows: list[Array], pitch: int, of: str) -> None:
    """The rows of bits stand so many bytes apart, and every other byte is what it was."""
    expected = outcome.given.image()
    for number, row in enumerate(rows):
        expected[number * pitch : number * pitch + len(row)] = row
    assert np.array_equal(outcome.image, expected), of


EXTENTS = ("static", "dynamic")


@pytest.mark.parametrize("case", sampled([*product(ELEMENTS, REGIONS, EXTENTS)], 30))
def test_tiles_compared(case: tuple[str, str, str]) -> None:
    element, region, extents = case
    dynamic = extents == "dynamic"
    rows, cols, _ = REGIONS[region]
    a, b = operands(element, (rows, cols))
    given = tile(element, region, dynamic, a)
    d = Given(f"{rows}x{max(cols, 64)}xui8")
    got = run_each(
        {mode: f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp {mode}>}} : A, B) outs(%d : D)" for mode in COMPARISONS},
        a=given,
        b=tile(element, region, dynamic, b),
        d=d,
        again=True,
    )
    vr, vc = given.region
    for mode, compared in COMPARISONS.items():
        found = compared(wide(a), wide(b))[:vr, :vc]
        written(got[mode]["d"], [packed(row, element) for row in found] if vc else [], d.cols, mode)


def test_bits_go_to_the_rows_of_a_part_of_a_tile() -> None:
    """Its rows are as far apart as those of the whole: 96 bytes, where 64 of each belong to it."""
    a, b = operands("f32", (6, 64))
    whole, part = "!pto.tile_buf<vec, 6x96xui8>", "!pto.tile_buf<vec, 6x64xui8>"
    got = run(
        f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp lt>}} : A, B) outs(%part : {part})",
        before=f"%c32 = arith.constant 32 : index\n%part = pto.subview %d[%c0, %c32] sizes [6, 64] : {whole} -> {part}",
        a=Given("6x64xf32", a),
        b=Given("6x64xf32", b),
        d=Given("6x96xui8"),
    )["d"]
    expected = got.given.image().reshape(6, 96)
    for row, found in zip(expected, a < b, strict=True):
        row[32:48] = packed(found, "f32")
    assert np.array_equal(got.image.reshape(6, 96), expected)


@pytest.mark.parametrize("case", sampled([*product(ELEMENTS, REGIONS, EXTENTS)], 40))
def test_a_tile_compared_with_a_scalar(case: tuple[str, str, str]) -> None:
    """Into a byte for each element (d), or a bit (e)."""
    element, region, extents = case
    dynamic = extents == "dynamic"
    rows, cols, valid = REGIONS[region]
    a = samples(element, (rows, cols), 1)
    given = tile(element, region, dynamic, a)
    vr, vc = given.region
    known = f", valid={vr}x32" if valid and not dynamic else ""
    results = {
        letter: Given(f"{rows}x{width}xui8{known}", None, (vr, 32) if dynamic else None)
        for letter, width in {"d": cols, "e": 64}.items()
    }
    scalar = element.removeprefix("u")
    constant = f"%s = arith.constant {'3.0' if is_float(element) else '7'} : {scalar}"
    got = run_each(
        {
            f"{mode} {d}": f"{constant}\npto.tcmps ins(%a, %s {{cmpMode = #pto<cmp {mode}>}} : A, {scalar})"
            f" outs(%{d} : {d.upper()})"
            for mode, d in product(COMPARISONS, results)
        },
        results="de",
        a=given,
        **results,
        again=True,
    )
    elements, size = block(element)
    for mode, d in product(COMPARISONS, results):
        outcome, of = got[f"{mode} {d}"][d], f"{mode} {d}"
        found = COMPARISONS[mode](wide(a)[:vr, :vc], 3.0 if is_float(element) else 7)
        if vr * vc == 0:
            written(outcome, [], 0, of)
        elif vc == cols and results[d].cols >= cols:
            written(outcome, [packed(found.ravel(), element)], 0, of)
        else:
            written(outcome, [packed(row, element) for row in found], -(-vc // elements) * size, of)


# --- selections -------------------------------------------------------------------------------------------------------


MASKS = ("ui8", "i16", "i32")


@pytest.mark.parametrize("case", sampled([*product(ELEMENTS, REGIONS, EXTENTS)], 15))
def test_selected(case: tuple[str, str, str]) -> None:
    """By masks of all widths, between tiles and, but for bf16, between a tile and a scalar."""
    element, region, extents = case
    dynamic = extents == "dynamic"
    rows, cols, _ = REGIONS[region]
    a, b = operands(element, (rows, cols))
    bits = np.random.default_rng(5).integers(0, 256, (rows, 64), dtype=np.uint8)
    masks = {
        letter: Given(f"{rows}x{64 // dtype_of(mask).itemsize}x{mask}", bits.view(dtype_of(mask)))
        for letter, mask in zip("mno", MASKS, strict=True)
    }
    scalar = element.removeprefix("u")
    constant = f"%s = arith.constant {'3.0' if is_float(element) else '3'} : {scalar}"
    operations = dict[str, str]()
    for m, mask in masks.items():
        operations[f"tsel {mask.element}"] = f"pto.tsel ins(%{m}, %a, %b : {m.upper()}, A, B) outs(%d : D)"
        if element != "bf16":
            selection = f"pto.tsels ins(%{m}, %a, %s : {m.upper()}, A, {scalar}) outs(%d : D)"
            operations[f"tsels {mask.element}"] = f"{constant}\n{selection}"
    tiles = {"a": tile(element, region, dynamic, a), "b": tile(element, region, dynamic, b)}
    got = run_each(operations, again=True, **masks, **tiles, d=tile(element, region, dynamic))
    chosen = np.unpackbits(bits, axis=1, bitorder="little")[:, :cols].astype(bool)
    for name, found in got.items():
        vr, vc = found["d"].given.region
        other = b if name.startswith("tsel ") else np.full_like(b, 3)
        same(found["d"].valid, np.where(chosen, a, other)[:vr, :vc], name)
        assert found["d"].unchanged_outside(), name


def test_bits_behind_the_last_column_need_not_be_there() -> None:
    """A mask of 8 bytes a row, of which nothing else was ever written."""
    source = """
    module attributes {pto.target_arch = "a5"} {
      func.func @k(%m_gm: !pto.ptr<ui8, gm>, %x_gm: !pto.ptr<f32, gm>) attributes {pto.kernel} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %c8 = arith.constant 8 : index
        %c64 = arith.constant 64 : index
        %zero = arith.constant 0.0 : f32
        %mv = pto.make_tensor_view %m_gm, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xui8>
        %mp = pto.partition_view %mv, offsets = [%c0, %c0], sizes = [%c4, %c8]
          : !pto.tensor_view<?x?xui8> -> !pto.partition_tensor_view<4x8xui8>
        %xv = pto.make_tensor_view %x_gm, shape = [%c4, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
        %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c4, %c64]
          : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<4x64xf32>
        %m = pto.alloc_tile : !pto.tile_buf<vec, 4x32xui8, valid=4x8>
        %x = pto.alloc_tile : !pto.tile_buf<vec, 4x64xf32>
        pto.tload ins(%mp : !pto.partition_tensor_view<4x8xui8>) outs(%m : !pto.tile_buf<vec, 4x32xui8, valid=4x8>)
        pto.tload ins(%xp : !pto.partition_tensor_view<4x64xf32>) outs(%x : !pto.tile_buf<vec, 4x64xf32>)
        pto.tsels ins(%m, %x, %zero : !pto.tile_buf<vec, 4x32xui8, valid=4x8>, !pto.tile_buf<vec, 4x64xf32>, f32)
          outs(%x : !pto.tile_buf<vec, 4x64xf32>)
        pto.tstore ins(%x : !pto.tile_buf<vec, 4x64xf32>) outs(%xp : !pto.partition_tensor_view<4x64xf32>)
        return
      }
    }
    """
    bits = np.random.default_rng(1).integers(0, 256, (4, 8), dtype=np.uint8)
    x = np.random.default_rng(2).random((4, 64), "f4")
    kernel = ptosim.load(source).kernel()
    report = ptosim.check(kernel, bits, x.copy())
    assert report.ok and not [found for found in report.findings if found.kind == "uninitialized"], report
    y = x.copy()
    kernel(bits, y)
    assert np.array_equal(y, np.where(np.unpackbits(bits, axis=1, bitorder="little"), x, 0))


def positive(rows: int, cols: int, mask: int) -> str:
    """Elements above zero, others -1, of the first %n rows; rows of the mask have so many bytes."""
    tile = f"!pto.tile_buf<vec, {rows}x{cols}xf32, valid=?x{cols}>"
    view = f"!pto.partition_tensor_view<?x{cols}xf32>"
    bits = f"!pto.tile_buf<vec, {rows}x{mask}xui8>"
    views = "".join(
        f"%{x}v = pto.make_tensor_view %{x}, shape = [%n, %cols], strides = [%cols, %c1] : !pto.tensor_view<?x?xf32>\n"
        f"%{x}p = pto.partition_view %{x}v, offsets = [%c0, %c0], sizes = [%n, %cols] : !pto.tensor_view<?x?xf32> "
        f"-> {view}\n%{x}t = pto.alloc_tile valid_row = %n : {tile}\n"
        for x in "ab"
    )
    return f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %n: index) {{
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%cols = arith.constant {cols} : index
%zero = arith.constant 0.0 : f32
%one = arith.constant -1.0 : f32
{views}%m = pto.alloc_tile : {bits}
pto.tload ins(%ap : {view}) outs(%at : {tile})
pto.tcmps ins(%at, %zero {{cmpMode = #pto<cmp gt>}} : {tile}, f32) outs(%m : {bits})
pto.tsels ins(%m, %at, %one : {bits}, {tile}, f32) outs(%bt : {tile})
pto.tstore ins(%bt : {tile}) outs(%bp : {view})
return
}}
}}
"""


@table(
    "rows, cols, mask, valid, remarked",
    (4, 256, 32, 4, False),
    (2, 512, 64, 2, False),
    (4, 64, 64, 4, True),
    (4, 64, 64, 1, False),
    (4, 256, 64, 4, True),
)
def test_a_selection_looks_for_the_rows_of_its_mask(
    rows: int, cols: int, mask: int, valid: int, remarked: bool
) -> None:
    """Those of tcmps follow each other, whatever the mask says (isa/14 section 12, item 8)."""
    kernel = ptosim.load(positive(rows, cols, mask)).kernel()
    a, b = np.random.default_rng(cols).standard_normal((valid, cols), "f4"), np.zeros((valid, cols), "f4")
    findings = ptosim.check(kernel, a, b, valid).findings
    assert ("tcmps packs its rows" in "".join(each.message for each in findings)) == remarked
    if not remarked:
        kernel(a, b, valid)
        assert np.array_equal(b, np.where(a > 0, a, -1))
