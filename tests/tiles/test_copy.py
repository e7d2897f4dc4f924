"""Copies between global memory and vector tiles: which elements of a view meet which of a tile, and nothing else."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError
from tables import table
from tile_programs import Given, dtype_of

Array = np.ndarray[Any, Any]


def constants(*numbers: int) -> str:
    return "\n".join(f"%n{number} = arith.constant {number} : index" for number in sorted(set(numbers)))


def names(numbers: tuple[int, ...], dynamic: bool, word: str) -> str:
    return ", ".join(f"%{word}{place}" if dynamic else f"%n{number}" for place, number in enumerate(numbers))


def text(
    tile: Given, sizes: tuple[int, ...], strides: tuple[int, ...], dynamic: bool, target: str, attributes: str = ""
) -> str:
    """A kernel that loads the tile from %x, and one that stores it to %x; %t is the tile as bytes, before and after."""
    element, room = tile.element, tile.room
    fields = {**tile.fields, **({"valid": "?x?"} if tile.valid is not None else {})}
    shape = f"{tile.rows}x{tile.cols}x{element}"
    type_ = f"!pto.tile_buf<{', '.join(['vec', shape, *(f'{name}={value}' for name, value in fields.items())])}>"
    given = (
        f", {', '.join(f'%{w}{i}: index' for w in ('size', 'stride') for i in range(len(sizes)))}" if dynamic else ""
    )
    valid = " valid_row = %vr valid_col = %vc" if tile.valid is not None else ""
    view = f"!pto.tensor_view<{'x'.join('?' for _ in sizes)}x{element}>"
    part = f"!pto.partition_tensor_view<{'x'.join('?' if dynamic else str(size) for size in sizes)}x{element}>"
    raw = f"!pto.tile_buf<vec, 1x{room}xui8>"
    row = f"!pto.partition_tensor_view<1x{room}xui8>"
    rows, cols = tile.region

    def body(name: str, copy: str) -> str:
        return f"""func.func @{name}(%x: !pto.ptr<{element}, gm>, %t: !pto.ptr<ui8, gm>{given})
    attributes {{pto.kernel}} {{
    %n0 = arith.constant 0 : index
    {constants(*({1, room} | set(sizes) | set(strides)) - {0})}
    %vr = arith.constant {rows} : index
    %vc = arith.constant {cols} : index
    %at = arith.constant 0 : i64
    %raw = pto.alloc_tile addr = %at : {raw}
    %bytes = pto.make_tensor_view %t, shape = [%n1, %n{room}], strides = [%n{room}, %n1] : !pto.tensor_view<?x?xui8>
    %all = pto.partition_view %bytes, offsets = [%n0, %n0], sizes = [%n1, %n{room}] : !pto.tensor_view<?x?xui8> -> {row}
    pto.tload ins(%all : {row}) outs(%raw : {raw})
    pto.barrier <PIPE_ALL>
    %tile = pto.alloc_tile addr = %at{valid} : {type_}
    %view = pto.make_tensor_view %x, shape = [{names(sizes, dynamic, "size")}],
        strides = [{names(strides, dynamic, "stride")}] : {view}
    %part = pto.partition_view %view, offsets = [{", ".join(["%n0"] * len(sizes))}],
        sizes = [{names(sizes, dynamic, "size")}] : {view} -> {part}
    {copy}
    pto.barrier <PIPE_ALL>
    pto.tstore ins(%raw : {raw}) outs(%all : {row})
    return
  }}"""

    load = f"pto.tload ins(%part : {part}) outs(%tile : {type_})"
    store = f"pto.tstore ins(%tile : {type_}) outs(%part : {part}){attributes}"
    return f'module attributes {{pto.target_arch = "{target}"}} {{\n{body("load", load)}\n{body("store", store)}\n}}\n'


def folded(sizes: tuple[int, ...], strides: tuple[int, ...], layout: str) -> Array:
    """The number in GM of the element at each row and column, by the folding table of the instruction set."""
    sizes, strides = (1,) * (5 - len(sizes)) + sizes, (0,) * (5 - len(strides)) + strides
    g0, g1, g2, g3, g4 = sizes
    shape = {"ND": (g0 * g1 * g2 * g3, g4), "DN": (g3, g0 * g1 * g2 * g4), "NZ": (g2 * g3, g0 * g1 * g4)}[layout]
    places = np.zeros(shape, int)
    for x0, x1, x2, x3, x4 in product(*map(range, sizes)):
        row, col = {
            "ND": (((x0 * g1 + x1) * g2 + x2) * g3 + x3, x4),
            "DN": (x3, ((x0 * g1 + x1) * g2 + x2) * g4 + x4),
            "NZ": (x2 * g3 + x3, (x0 * g1 + x1) * g4 + x4),
        }[layout]
        places[row, col] = sum(x * s for x, s in zip((x0, x1, x2, x3, x4), strides, strict=True))
    return places


def random_bytes(count: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


def moves(
    tile: Given,
    layout: str,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    dynamic: bool = False,
    target: str = "a5",
    warned: bool = False,
) -> None:
    """Both directions, on both engines, against the table; bytes that are not meant stay as they were."""
    module = ptosim.load(text(tile, sizes, strides, dynamic, target), sync="written")
    numbers = (*sizes, *strides) if dynamic else ()
    places, offsets = folded(sizes, strides, layout), tile.offsets()
    rows, cols = (min(valid, size) for valid, size in zip(tile.region, places.shape, strict=True))
    size = tile.dtype.itemsize
    gm = random_bytes((int(places.max()) + 1 if places.size else 1) * size, 3)
    image = random_bytes(tile.room, 4)
    unit = np.dtype(f"V{size}")
    for name in ("load", "store"):
        expected = {"x": gm.copy(), "t": image.copy()}
        there, here = places[:rows, :cols], offsets[:rows, :cols]
        if name == "load":
            expected["t"].view(unit)[here] = gm.view(unit)[there]
        else:
            expected["x"].view(unit)[there] = image.view(unit)[here]
        for engine in ("native", "reference"):
            x, t = gm.copy(), image.copy()
            module.kernel(name)(x.view(tile.dtype), t, *numbers, engine=engine)
            assert np.array_equal(x, expected["x"]), (name, engine)
            assert np.array_equal(t, expected["t"]), (name, engine)
        report = ptosim.check(module.kernel(name), gm.copy().view(tile.dtype), image.copy(), *numbers)
        assert report.ok, report
        assert warned == any("a view of" in finding.message for finding in report.findings), report


NZ = "blayout=col_major, slayout=row_major"
DN = "blayout=col_major"


def shaped(type_: str, dynamic: bool) -> Given:
    """A tile whose valid region is written, or given when it is made."""
    tile = Given(type_)
    if dynamic:
        tile.valid = tile.region
    return tile


CASES = {
    "full": ("16x64xf32", "ND", (16, 64), (64, 1)),
    "tail": ("16x64xf32, valid=15x60", "ND", (15, 60), (100, 1)),
    "one row": ("1x64xf16", "ND", (1, 64), (64, 1)),
    "one row of boxes": ("1x128xui8, valid=1x100, slayout=row_major", "ND", (1, 100), (100, 1)),
    "one column": ("16x16xf16, valid=16x1", "ND", (16, 1), (1, 1)),
    "planes": ("24x32xi8", "ND", (2, 3, 1, 4, 32), (1000, 300, 300, 40, 1)),
    "all planes": ("16x32xui8", "ND", (2, 2, 2, 2, 32), (1000, 400, 200, 40, 1)),
    "columns": (f"64x16xf32, {DN}", "DN", (64, 16), (1, 64)),
    "column tail": (f"64x16xbf16, valid=60x15, {DN}", "DN", (60, 15), (1, 70)),
    "a column": (f"64x1xf32, {DN}", "DN", (64, 1), (1, 1)),
    "planes of columns": (f"32x24xi8, {DN}", "DN", (2, 3, 1, 32, 4), (1000, 300, 300, 1, 40)),
    "blocks": (f"32x64xf16, {NZ}", "NZ", (1, 4, 2, 16, 16), (3000, 600, 256, 16, 1)),
    "blocks of blocks": (f"16x64xf16, {NZ}", "NZ", (2, 2, 1, 16, 16), (3000, 600, 256, 16, 1)),
    "blocks apart": (f"32x32xf16, {NZ}, compact=2", "NZ", (1, 2, 2, 16, 16), (3000, 600, 256, 16, 1)),
}
CUT = {
    "within a row": ("16x64xf32, valid=9x30", "ND", (12, 40), (64, 1)),
    "within a plane": ("24x32xi8, valid=18x20", "ND", (2, 3, 1, 4, 32), (1000, 300, 300, 40, 1)),
    "after a plane": ("24x32xi8, valid=12x32", "ND", (2, 3, 1, 4, 32), (1000, 300, 300, 40, 1)),
    "within columns": (f"32x24xi8, valid=30x17, {DN}", "DN", (2, 3, 1, 32, 4), (1000, 300, 300, 1, 40)),
    "short blocks": (f"32x64xf16, valid=20x40, {NZ}", "NZ", (1, 4, 2, 16, 16), (3000, 600, 256, 16, 1)),
    "wide elements": ("8x16xi64, valid=5x3", "ND", (7, 4), (9, 1)),
    "no rows": ("8x16xi64, valid=0x3", "ND", (7, 4), (9, 1)),
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["known", "open"])
@pytest.mark.parametrize("case", CASES)
def test_a_view_and_a_tile_meet(case: str, dynamic: bool) -> None:
    type_, layout, sizes, strides = CASES[case]
    moves(shaped(type_, dynamic), layout, sizes, strides, dynamic)


@pytest.mark.parametrize("case", CUT)
def test_a_larger_view_is_cut_to_the_valid_region(case: str) -> None:
    type_, layout, sizes, strides = CUT[case]
    moves(shaped(type_, dynamic=True), layout, sizes, strides, dynamic=True)


@pytest.mark.parametrize("dynamic", [False, True], ids=["known", "open"])
def test_a_smaller_view_is_copied_and_remarked(dynamic: bool) -> None:
    moves(shaped("8x64xf32, valid=8x33", dynamic=True), "ND", (8, 32), (32, 1), dynamic, warned=True)


@pytest.mark.parametrize("case", ["tail", "column tail", "blocks"])
def test_rows_of_any_length_on_a2a3(case: str) -> None:
    type_, layout, sizes, strides = CASES[case]
    moves(shaped(type_, dynamic=False), layout, sizes, strides, target="a2a3")


@pytest.mark.parametrize("tile, sizes", [("1x64xf16", (2, 32)), ("32x32xf32", (1, 1024)), (f"32x1xi32, {DN}", (1, 32))])
def test_equally_many_elements_are_stored_in_another_shape(tile: str, sizes: tuple[int, int]) -> None:
    given = Given(tile)
    strides = (sizes[1], 1)
    kernel = ptosim.load(text(given, sizes, strides, False, "a5"), sync="written").kernel("store")
    image = random_bytes(given.room, 1)
    for engine in ("native", "reference"):
        x = np.zeros(prod(sizes), given.dtype)
        kernel(x, image.copy(), engine=engine)
        assert np.array_equal(x.view(np.uint8), image[: x.nbytes])


@table(
    "tile, valid, sizes, strides",
    (f"16x1xf32, valid=?x?, {DN}", "valid_row = %n valid_col = %n1", "%n1, %n", "%n, %n1"),
    (f"16x1xf32, valid=?x1, {DN}", "valid_row = %n", "%n", "%n1"),
    ("1x16xf32, valid=1x?", "valid_col = %n", "%n, %n1", "%n1, %n"),
    ("1x16xf32, valid=1x?", "valid_col = %n", "%n, %n1", "%n1, %n1"),
)
def test_a_single_row_meets_a_single_column_of_a_length_that_only_the_run_knows(
    tile: str, valid: str, sizes: str, strides: str
) -> None:
    offsets, dims = ", ".join("%n0" for _ in sizes.split(", ")), "?x" * len(sizes.split(", "))
    view, part = f"!pto.tensor_view<{dims}f32>", f"!pto.partition_tensor_view<{dims}f32>"
    views = "".join(
        f"""%v{name} = pto.make_tensor_view %{name}, shape = [{sizes}], strides = [{strides}] : {view}
    %p{name} = pto.partition_view %v{name}, offsets = [{offsets}], sizes = [{sizes}] : {view} -> {part}
    """
        for name in "xy"
    )
    source = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: index) attributes {{pto.kernel}} {{
    {constants(0, 1)}
    {views}%t = pto.alloc_tile {valid} : !pto.tile_buf<vec, {tile}>
    pto.tload ins(%px : {part}) outs(%t : !pto.tile_buf<vec, {tile}>)
    pto.tstore ins(%t : !pto.tile_buf<vec, {tile}>) outs(%py : {part})
    return
    }}
    }}
    """
    kernel = ptosim.load(source).kernel()
    x = np.arange(1, 17).astype("f4")
    for engine in ("native", "reference"):
        y = np.zeros(16, "f4")
        kernel(x, y, 13, engine=engine)
        assert np.array_equal(y, np.where(x <= 13, x, 0)), engine
    assert not ptosim.check(kernel, x, np.zeros(16, "f4"), 13).findings


def test_another_shape_with_gaps_is_refused() -> None:
    kernel = ptosim.load(text(Given("32x32xf32"), (16, 64), (100, 1), False, "a5"), sync="written").kernel("store")
    with pytest.raises(PTOError, match="only if neither has gaps") as raised:
        _ = kernel.program
    arrays = np.zeros(16 * 100, "f4"), np.zeros(1 << 16, "u1")
    for engine in ("native", "reference"):  # what a kernel does is a finding, also where it cannot begin
        report = ptosim.check(kernel, *arrays, engine=engine)
        assert report.findings == tuple(raised.value.diagnostics) and not report.ok
        assert report.fix().left == report.findings and not report.fix().diff
    with pytest.raises(PTOError, match="takes 2 arguments"):
        ptosim.check(kernel)


def test_columns_apart_are_refused() -> None:
    """What only the run knows ends it."""
    type_, sizes, strides = Given("8x16xf32"), (8, 16), (40, 2)
    kernel = ptosim.load(text(type_, sizes, strides, True, "a5"), sync="written").kernel("load")
    for engine in ("native", "reference"):
        with pytest.raises(PTOError, match="are not neighbours in GM"):
            kernel(np.zeros(400, "f4"), np.zeros(512, np.uint8), *sizes, *strides, engine=engine)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "i32", "i16", "i8"])
def test_atomic_sums(element: str) -> None:
    """Of both signs: a sum of wider elements would carry from one to the next."""
    tile = Given(f"4x32x{element}, valid=3x30")
    attributes = " {atomicType = #pto<atomic_type atomic_add>}"
    kernel = ptosim.load(text(tile, (3, 30), (30, 1), False, "a5", attributes), sync="written").kernel("store")
    numbers = np.arange(4 * 32).reshape(4, 32) % 50 - 25
    before = np.arange(90) % 60 - 30
    held = Given(f"4x32x{element}", numbers.astype(dtype_of(element)))
    for engine in ("native", "reference"):
        x = before.astype(dtype_of(element))
        expected = (before + numbers[:3, :30].ravel()).astype(dtype_of(element))
        kernel(x, held.image(), engine=engine)
        assert np.array_equal(x, expected)


PADS = {
    "i8": ("i1", 0x7F, -0x80),
    "ui8": ("u1", 0xFF, 0),
    "i16": ("i2", 0x7FFF, -0x8000),
    "i32": ("i4", 0x7FFFFFFF, -0x80000000),
    "ui32": ("u4", 0xFFFFFFFF, 0),
    "f16": ("u2", 0x7BFF, 0xFBFF),
    "bf16": ("u2", 0x7F7F, 0xFF7F),
    "f32": ("u4", 0x7F7FFFFF, 0xFF7FFFFF),
    "f8E4M3FN": ("u1", 0, 0),
    "!pto.hif8": ("u1", 0, 0),
}


@pytest.mark.parametrize("pad", [1, 2, 3])
@pytest.mark.parametrize("element", PADS)
def test_rows_are_padded(element: str, pad: int) -> None:
    bits, *values = PADS[element]
    tile = Given(f"4x64x{element}, valid=3x20, pad={pad}")
    kernel = ptosim.load(text(tile, (3, 20), (20, 1), False, "a5"), sync="written").kernel("load")
    x = random_bytes(60 * tile.dtype.itemsize, 2)
    for engine in ("native", "reference"):
        image = np.zeros(tile.room, np.uint8)
        kernel(x.view(tile.dtype), image, engine=engine)
        found = tile.read(image).view(bits)
        assert np.array_equal(found[:3, :20], x.view(bits).reshape(3, 20))
        assert np.all(found[:3, 20:32] == (0, *values)[pad - 1])
        assert not found[3:].any()


@pytest.mark.parametrize("dynamic", [False, True])
@table(
    "type_, sizes, strides",
    ("2x64xf32, valid=1x20, pad=2", (1, 20), (20, 1)),
    (f"64x2xf32, valid=20x1, {DN}, pad=2", (20, 1), (1, 20)),
)
def test_a_single_row_is_padded_as_far_as_several(
    type_: str, sizes: tuple[int, int], strides: tuple[int, int], dynamic: bool
) -> None:
    tile = Given(type_)
    kernel = ptosim.load(text(tile, sizes, strides, dynamic, "a5"), sync="written").kernel("load")
    x = np.arange(1, 21, dtype="f4")
    for engine in ("native", "reference"):
        image = np.zeros(tile.room, np.uint8)
        kernel(x, image, *((*sizes, *strides) if dynamic else ()), engine=engine)
        assert np.array_equal(image.view("f4"), [*x, *[np.finfo("f4").max] * 44, *[0] * 64])


@pytest.mark.parametrize("sizes", [(3, 20), (2, 3, 20), (2, 2, 2, 2, 20)])
def test_part_of_a_tile_is_padded_to_its_own_end(sizes: tuple[int, ...]) -> None:
    rows, strides = prod(sizes[:-1]), tuple(prod(sizes[place + 1 :]) for place in range(len(sizes)))
    whole = f"!pto.tile_buf<vec, {rows + 1}x64xf32, pad=1>"
    part = f"!pto.tile_buf<vec, {rows}x32xf32, valid={rows}x20, pad=1>"
    source, _ = text(Given(f"{rows + 1}x64xf32, pad=1"), sizes, strides, False, "a5").split("func.func @store")
    source = source.replace(
        "    %view =",
        f"""    %n16 = arith.constant 16 : index
    %sub = pto.subview %tile[%n0, %n16] sizes [{rows}, 32] valid [%rows, %n20] : {whole} -> {part}
    %view =""",
    ).replace("    %raw =", f"    %rows = arith.constant {rows} : index\n    %raw =")
    source = source.replace(f"outs(%tile : {whole})", f"outs(%sub : {part})") + "}\n"
    kernel = ptosim.load(source, sync="written").kernel("load")
    x = np.arange(1, rows * 20 + 1, dtype="f4")
    expected = np.full((rows + 1, 64), 7, "f4")
    expected[:rows, 16:48] = 0
    expected[:rows, 16:36] = x.reshape(rows, 20)
    for engine in ("native", "reference"):
        image = np.full((rows + 1, 64), 7, "f4")
        kernel(x, image.view("u1"), engine=engine)
        assert np.array_equal(image, expected)


def test_padding_of_eight_bytes_is_zero() -> None:
    tile = Given("2x8xi64, valid=2x5, pad=1")
    kernel = ptosim.load(text(tile, (2, 5), (5, 1), False, "a5"), sync="written").kernel("load")
    x = np.arange(1, 11, dtype="i8")
    for engine in ("native", "reference"):
        image = np.full(tile.room, 0x55, np.uint8)
        kernel(x, image, engine=engine)
        assert np.array_equal(tile.read(image)[:, :5], x.reshape(2, 5))
        assert not tile.read(image)[:, 5:].any()


def test_a_prefetch_reads_its_view() -> None:
    """What it leaves in its tile is open; GM stays, and a view beyond the buffer is an error."""
    tile = Given("4x64xf32")
    source = text(tile, (4, 64), (64, 1), False, "a5").replace("pto.tload ins(%part", "pto.tprefetch ins(%part")
    kernel = ptosim.load(source, sync="written").kernel("load")
    for engine in ("native", "reference"):
        x = np.arange(256, dtype="f4")
        kernel(x, np.zeros(tile.room, np.uint8), engine=engine)
        assert np.array_equal(x, np.arange(256))
        with pytest.raises(PTOError, match="out-of-bounds"):
            kernel(x[:200].copy(), np.zeros(tile.room, np.uint8), engine=engine)


@pytest.mark.parametrize("valid", [(0, 3), (7, 0)])
def test_an_empty_region_is_no_remark(valid: tuple[int, int]) -> None:
    """A copy that was written so would be one."""
    tile = Given("8x16xi64", valid=valid)
    module = ptosim.load(text(tile, (7, 4), (9, 1), True, "a5"), sync="written")
    for name in ("load", "store"):
        report = ptosim.check(module.kernel(name), np.zeros(60, "i8"), tile.image(), 7, 4, 9, 1)
        assert not any("does nothing" in finding.message for finding in report.findings), report


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize(("valid", "view"), [("0x0", "16x16"), ("0x16", "16x16"), ("16x0", "8x2"), ("16x16", "0x16")])
def test_nothing_is_stored_of_or_to_nothing(target: str, valid: str, view: str) -> None:
    """The counts are not compared where one of the extents is zero."""
    rows, cols = view.split("x")
    type_, part = f"!pto.tile_buf<vec, 16x16xf32, valid={valid}>", f"!pto.partition_tensor_view<{view}xf32>"
    kernel = ptosim.load(f"""module attributes {{pto.target_arch = "{target}"}} {{
func.func @k(%x: !pto.ptr<f32>, %n: index) attributes {{pto.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant {rows} : index
  %cols = arith.constant {cols} : index
  %t = pto.alloc_tile : {type_}
  %v = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
  %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%{"n" if rows == "0" else "rows"}, %cols]
    : !pto.tensor_view<16x16xf32> -> {part}
  pto.tstore ins(%t : {type_}) outs(%w : {part})
  return
}}
}}
""").kernel()
    for engine in ("native", "reference"):
        x = np.ones((16, 16), "f4")
        kernel(x, 0, engine=engine)
        assert (x == 1).all()
    found = ptosim.check(kernel, np.ones((16, 16), "f4"), 0).findings
    assert [finding.kind for finding in found] == (["lint"] if rows == "0" else [])  # only the run knows of that zero


@pytest.mark.parametrize(("rows", "cols"), [(16, 16), (256, 16), (5, 16)])
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_short_rows_move_together(rows: int, cols: int, target: str) -> None:
    """Rows of 16 bytes do not begin at granules: all of them are one copy, there and back."""
    text = SHORT.format(target=target, rows=rows, cols=cols, wide=cols)
    x = np.arange(rows * cols, dtype="u1").reshape(rows, cols)
    kernel = ptosim.load(text).kernel()
    for engine in ("native", "reference"):
        y = np.zeros_like(x)
        kernel(x, y, engine=engine)
        assert np.array_equal(x, y)
    assert not ptosim.check(kernel, x, np.zeros_like(x)).findings


def test_parts_of_short_rows_are_misaligned() -> None:
    with pytest.raises(PTOError) as raised:
        ptosim.load(SHORT.format(target="a5", rows=16, cols=16, wide=32)).kernel().program  # noqa: B018
    assert {found.kind for found in raised.value.diagnostics} == {"misaligned"}


SHORT = """module attributes {{pto.target_arch = "{target}"}} {{
func.func @k(%x: !pto.ptr<ui8>, %y: !pto.ptr<ui8>) attributes {{pto.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant {rows} : index
  %cols = arith.constant {cols} : index
  %wide = arith.constant {wide} : index
  %t = pto.alloc_tile : !pto.tile_buf<vec, {rows}x{cols}xui8>
  %v = pto.make_tensor_view %x, shape = [%rows, %cols], strides = [%wide, %c1] : !pto.tensor_view<?x?xui8>
  %w = pto.make_tensor_view %y, shape = [%rows, %cols], strides = [%wide, %c1] : !pto.tensor_view<?x?xui8>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%rows, %cols]
    : !pto.tensor_view<?x?xui8> -> !pto.partition_tensor_view<{rows}x{cols}xui8>
  %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%rows, %cols]
    : !pto.tensor_view<?x?xui8> -> !pto.partition_tensor_view<{rows}x{cols}xui8>
  pto.tload ins(%p : !pto.partition_tensor_view<{rows}x{cols}xui8>) outs(%t : !pto.tile_buf<vec, {rows}x{cols}xui8>)
  pto.tstore ins(%t : !pto.tile_buf<vec, {rows}x{cols}xui8>) outs(%q : !pto.partition_tensor_view<{rows}x{cols}xui8>)
  return
}}
}}
"""
