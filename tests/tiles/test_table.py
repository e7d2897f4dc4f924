"""Gathers and scatters between vector tiles and a table in GM against NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError
from tables import table
from tile_moves import sampled
from tile_programs import Given, dtype_of, text

RNG = np.random.default_rng(3)
DN = "blayout=col_major"

Array = np.ndarray[Any, Any]


def source(operation: str, tiles: dict[str, Given], element: str, rows: int, cols: int, target: str) -> str:
    """The kernel of tile_programs with a table of so many rows behind its other parameters."""
    view = f"""%n_rows = arith.constant {rows} : index
%n_cols = arith.constant {cols} : index
%tv = pto.make_tensor_view %mem, shape = [%n_rows, %n_cols], strides = [%n_cols, %c1] : !pto.tensor_view<?x?x{element}>
%m = pto.partition_view %tv, offsets = [%c0, %c0], sizes = [%n_rows, %n_cols] : !pto.tensor_view<?x?x{element}>
    -> !pto.partition_tensor_view<{rows}x{cols}x{element}>"""
    typed = operation.replace("MEM", f"!pto.partition_tensor_view<{rows}x{cols}x{element}>")
    return text(typed, tiles, target, f"%mem: !pto.ptr<{element}, gm>", view)


def run(
    operation: str, table: Array, element: str, target: str = "a5", **tiles: Given
) -> tuple[Array, dict[str, Array]]:
    """Both engines agree; the table and the tiles afterwards."""
    rows, cols = table.shape
    kernel = ptosim.load(source(operation, tiles, element, rows, cols, target), sync="written").kernel()
    found: list[tuple[Array, list[Array]]] = []
    extents = [extent for tile in tiles.values() for extent in tile.valid or ()]
    for engine in ("native", "reference"):
        memory, images = table.copy(), [tile.image() for tile in tiles.values()]
        kernel(*images, memory, *extents, engine=engine)
        found.append((memory, images))
    (one, images), (other, others) = found
    assert np.array_equal(one.view(np.uint8), other.view(np.uint8))
    assert all(map(np.array_equal, images, others))
    report = ptosim.check(kernel, *(tile.image() for tile in tiles.values()), table.copy(), *extents)
    assert report.ok, report
    return one, {name: tile.read(image) for (name, tile), image in zip(tiles.items(), images, strict=True)}


def some(element: str, *shape: int) -> Array:
    return RNG.integers(-20, 20, shape).astype(dtype_of(element))


GATHER = (
    "pto.mgather ins(%m, %i : MEM, I) outs(%d : D) {{coalesce = #pto<coalesce {}>, gatherOob = #pto<gather_oob {}>}}"
)


@sampled(6, ("index", ["1x8xi32", f"8x1xi32, {DN}"]), ("element", ["i8", "f16", "f32"]), ("target", ["a5", "a2a3"]))
def test_rows(index: str, element: str, target: str) -> None:
    table, d = some(element, 20, 32), Given(f"8x32x{element}")
    i = Given(index)
    numbers = RNG.integers(0, 20, 8)
    i.holds = numbers.reshape(i.rows, i.cols)
    _, tiles = run(GATHER.format("row", "undefined"), table, element, target, i=i, d=d)
    assert np.array_equal(tiles["d"], table[numbers])


@pytest.mark.parametrize("index", ["8x16xi32, valid=1x8", f"16x8xi32, valid=8x1, {DN}", "1x16xi32, valid=1x8"])
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_indices_in_a_part_of_their_tile(index: str, target: str) -> None:
    """The valid region counts, whatever shape the tile has."""
    table, d, i = some("f32", 20, 32), Given("16x32xf32, valid=8x32"), Given(index)
    numbers = RNG.integers(0, 20, 8)
    i.holds = numbers.reshape(i.region)
    _, tiles = run(GATHER.format("row", "undefined"), table, "f32", target, i=i, d=d)
    assert np.array_equal(tiles["d"][:8], table[numbers])


def test_a_scatter_of_a2a3_takes_its_rows_from_a_column() -> None:
    """Without `coalesce` one valid column of a row-major index is an index for each row."""
    table, s = some("f32", 20, 32), Given("8x32xf32", some("f32", 8, 32))
    numbers = np.array([[3], [19], [0], [5], [7], [11], [1], [4]])
    i = Given("8x8xi32, valid=8x1", numbers)
    memory, _ = run("pto.mscatter ins(%s, %i : S, I) outs(%m : MEM)", table, "f32", "a2a3", s=s, i=i)
    assert s.holds is not None
    expected = table.copy()
    expected[numbers[:, 0]] = s.holds
    assert np.array_equal(memory, expected)


@pytest.mark.parametrize("layout", ["", f", {DN}"])
@pytest.mark.parametrize("oob", ["undefined", "clamp", "wrap", "zero"])
def test_elements(oob: str, layout: str) -> None:
    table = some("f16", 10, 16)
    shape = "5x32" if not layout else "32x5"
    i = Given(f"{shape}xi32{', ' + DN if layout else ''}")
    i.holds = RNG.integers(0, 160 if oob == "undefined" else 400, (i.rows, i.cols))
    rows, cols = (4, 29) if not layout else (29, 4)
    i.valid, d = (rows, cols), Given(f"{shape}xf16{layout}", valid=(rows, cols))
    if oob != "undefined":
        i.holds[0, 0] = -1
    _, tiles = run(GATHER.format("elem", oob), table, "f16", i=i, d=d)
    numbers = i.holds[:rows, :cols].astype("i4").view("u4").astype(int)
    places = {"clamp": np.minimum(numbers, 159), "wrap": numbers % 160}.get(oob, np.minimum(numbers, 159))
    expected = np.where((numbers >= 160) & (oob == "zero"), 0, table.ravel()[places])
    before = d.read(d.image())
    before[:rows, :cols] = expected
    assert np.array_equal(tiles["d"], before)


def test_an_index_beyond_the_table_is_an_error() -> None:
    tiles = {"i": Given("1x8xi32", np.full((1, 8), 20)), "d": Given("8x32xf32")}
    kernel = ptosim.load(source(GATHER.format("row", "undefined"), tiles, "f32", 20, 32, "a5"), sync="written").kernel()
    for engine in ("native", "reference"):
        with pytest.raises(PTOError, match="index 20 is beyond the 20 of the table"):
            kernel(*(tile.image() for tile in tiles.values()), np.zeros((20, 32), "f4"), engine=engine)
        report = ptosim.check(
            kernel, *(tile.image() for tile in tiles.values()), np.zeros((20, 32), "f4"), engine=engine
        )
        assert report.errors[0].message == "index 20 is beyond the 20 of the table"


SCATTER = (
    "pto.mscatter ins(%s, %i : S, I) outs(%m : MEM) {{coalesce = #pto<coalesce {}>, "
    "scatterAtomicOp = #pto<scatter_atomic_op {}>, scatterOob = #pto<scatter_oob {}>, "
    "scatterConflict = #pto<scatter_conflict last>}}"
)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("element", ["i8", "bf16", "f32"])
def test_rows_are_put_back(element: str, target: str) -> None:
    """The last of several that go to one place stays."""
    table, s = some(element, 20, 32), Given(f"8x32x{element}", some(element, 8, 32))
    numbers = np.array([3, 19, 0, 3, 7, 11, 0, 4])
    i = Given("1x8xi32", numbers.reshape(1, 8))
    memory, _ = run(SCATTER.format("row", "none", "undefined"), table, element, target, s=s, i=i)
    assert s.holds is not None
    expected = table.copy()
    for row, number in enumerate(numbers):
        expected[number] = s.holds[row]
    assert np.array_equal(memory.view(np.uint8), expected.view(np.uint8))


@sampled(
    8,
    ("operation, element", [("none", "i16"), ("add", "i32"), ("add", "f16"), ("max", "f32"), ("min", "i32")]),
    ("oob", ["skip", "clamp", "wrap"]),
)
def test_elements_are_put_back(operation: str, element: str, oob: str) -> None:
    table, s = some(element, 4, 16), Given(f"4x32x{element}", some(element, 4, 32), valid=(3, 20))
    i = Given("4x32xi32", RNG.integers(0, 100, (4, 32)), valid=(3, 20))
    memory, _ = run(SCATTER.format("elem", operation, oob), table, element, s=s, i=i)
    assert s.holds is not None and i.holds is not None
    expected = table.ravel().copy()
    combine: Any = {"none": lambda a, b: b, "add": np.add, "max": np.maximum, "min": np.minimum}[operation]
    for value, number in zip(s.holds[:3, :20].ravel(), i.holds[:3, :20].ravel(), strict=True):
        place = {"skip": number, "clamp": min(number, 63), "wrap": number % 64}[oob]
        if place < 64:
            expected[place] = combine(expected[place], value)
    assert np.array_equal(memory.ravel(), expected)


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(("equal", "severity"), [(False, "error"), (True, "warning")])
def test_a_conflict_without_an_order_is_a_race(equal: bool, severity: str, engine: Any) -> None:
    """Unless what goes to one place is equal."""
    values = np.ones((8, 32), "f4") if equal else some("f32", 8, 32)
    tiles = {"s": Given("8x32xf32", values), "i": Given("1x8xi32", np.full((1, 8), 3))}
    plain = SCATTER.format("row", "none", "undefined").replace("last", "default")
    kernel = ptosim.load(source(plain, tiles, "f32", 20, 32, "a5"), sync="written").kernel()
    report = ptosim.check(kernel, *(tile.image() for tile in tiles.values()), np.zeros((20, 32), "f4"), engine=engine)
    (found,) = [finding for finding in report.findings if "scatter conflict" in finding.message]
    assert (found.kind, found.severity) == ("race", severity)


UNDEFINED = """module attributes {{pto.target_arch = "{target}"}} {{
func.func @k(%mem: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c20 = arith.constant 20 : index
%c32 = arith.constant 32 : index
%first = arith.constant 0 : i32
%nine = arith.constant 9 : i32
%one = arith.constant 1.0 : f32
%at_s = arith.constant 0 : i64
%at_i = arith.constant 4096 : i64
%tv = pto.make_tensor_view %mem, shape = [%c20, %c32], strides = [%c32, %c1] : !pto.tensor_view<20x32xf32>
%m = pto.partition_view %tv, offsets = [%c0, %c0], sizes = [%c20, %c32] : !pto.tensor_view<20x32xf32> -> MEM
%s = pto.alloc_tile addr = %at_s : S
%written = pto.alloc_tile addr = %at_s : !pto.tile_buf<vec, 8x32xf32, valid={rows}x32>
%i = pto.alloc_tile addr = %at_i : I
pto.texpands ins(%one : f32) outs(%written : !pto.tile_buf<vec, 8x32xf32, valid={rows}x32>)
{indices}
{operation}
return
}}
}}
"""
"""Rows of a tile are written, and where to go, 0, 9, 18 and so on, of which a table of 20 rows has three."""
INDICES = "pto.tci ins(%first : i32) outs(%i : I)\npto.tmuls ins(%i, %nine : I, i32) outs(%i : I)"


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("engine", ["native", "reference"])
@table(
    "rows, indices, operation, expected",
    (3, INDICES, "put", []),
    (2, INDICES, "put", [("uninitialized", "warning")]),
    (8, "", "put", [("uninitialized", "error")]),
    (8, INDICES, "get", []),
    (8, "", "get", [("uninitialized", "error")]),
)
def test_what_is_undefined(
    rows: int, indices: str, operation: str, expected: list[tuple[str, str]], engine: Any, target: str
) -> None:
    """An index decides where something goes; a row that no index sends anywhere is not used."""
    line = {
        "get": GATHER.format("row", "zero").replace("%d : D", "%s : S"),
        "put": SCATTER.format("row", "none", "skip"),
    }
    source = UNDEFINED.format(rows=rows, indices=indices, operation=line[operation], target=target)
    for word, type_ in {
        "MEM": "!pto.partition_tensor_view<20x32xf32>",
        "S": "!pto.tile_buf<vec, 8x32xf32>",
        "I": "!pto.tile_buf<vec, 1x8xi32>",
    }.items():
        source = re.sub(rf"\b{word}\b", type_, source)
    report = ptosim.check(ptosim.load(source).kernel(), np.zeros((20, 32), "f4"), engine=engine)
    assert [(found.kind, found.severity) for found in report.findings] == expected


def test_what_is_scattered_says_whether_by_rows_or_elements() -> None:
    """An index for each row, or for each element."""
    for rows, cols, word in ((1, 8, "row"), (8, 32, "elem")):
        table, s = some("f32", 20, 32), Given("8x32xf32", some("f32", 8, 32))
        count = 20 if word == "row" else 640
        i = Given(f"{rows}x{cols}xi32", RNG.permutation(count)[: rows * cols].reshape(rows, cols))
        said = SCATTER.format(word, "none", "undefined")
        memory, _ = run(said.replace(f"coalesce = #pto<coalesce {word}>, ", ""), table, "f32", s=s, i=i)
        assert s.holds is not None and i.holds is not None
        expected = table.copy()
        lines = expected if word == "row" else expected.reshape(-1, 1)
        lines[i.holds.ravel()] = s.holds if word == "row" else s.holds.reshape(-1, 1)
        assert np.array_equal(memory, expected)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_rows_of_a_table_with_gaps(target: str) -> None:
    """a5 takes them to be as long as those of the tile: remarked."""
    tiles = {"i": Given("1x8xi32", RNG.permutation(20)[:8].reshape(1, 8)), "d": Given("8x32xf32")}
    written = source(GATHER.format("row", "undefined"), tiles, "f32", 20, 32, target)
    written = written.replace("strides = [%n_cols, %c1]", "strides = [%pitch, %c1]")
    written = written.replace("%n_cols = ", "%pitch = arith.constant 40 : index\n%n_cols = ", 1)
    kernel, table = ptosim.load(written, sync="written").kernel(), some("f32", 20, 40)
    indices = tiles["i"].holds
    assert indices is not None
    for engine in ("native", "reference"):
        images = [tile.image() for tile in tiles.values()]
        kernel(*images, table.copy(), engine=engine)
        assert np.array_equal(tiles["d"].read(images[1]), table[indices[0], :32])
    report = ptosim.check(kernel, *(tile.image() for tile in tiles.values()), table)
    assert any("as long as those of the tile" in found.message for found in report.findings) == (target == "a5")


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_planes_of_a_table(target: str) -> None:
    """a2a3 counts the rows of all planes, a5 those of one."""
    tiles = {"i": Given("1x8xi32", np.arange(8).reshape(1, 8) * 2), "d": Given("8x32xf32")}
    written = source(GATHER.format("row", "undefined"), tiles, "f32", 20, 32, target)
    written = written.replace("shape = [%n_rows, %n_cols]", "shape = [%c2, %c2, %c1, %c5, %n_cols]")
    written = written.replace("sizes = [%n_rows, %n_cols]", "sizes = [%c2, %c2, %c1, %c5, %n_cols]")
    written = written.replace("strides = [%n_cols, %c1]", "strides = [%c320, %c160, %c160, %n_cols, %c1]")
    written = written.replace("offsets = [%c0, %c0], sizes = [%c2", "offsets = [%c0, %c0, %c0, %c0, %c0], sizes = [%c2")
    written = written.replace("<?x?xf32>", "<?x?x?x?x?xf32>").replace("view<20x32xf32>", "view<2x2x1x5x32xf32>")
    numbers = "\n".join(f"%c{number} = arith.constant {number} : index" for number in (2, 5, 160, 320))
    kernel = ptosim.load(written.replace("%n_rows = ", f"{numbers}\n%n_rows = ", 1), sync="written").kernel()
    table, images = some("f32", 20, 32), [tile.image() for tile in tiles.values()]
    if target == "a5":
        with pytest.raises(PTOError, match="index 6 is beyond the 5 of the table"):
            kernel(*images, table)
    else:
        kernel(*images, table)
        assert np.array_equal(tiles["d"].read(images[1]), table[::2][:8])


def test_they_load_again() -> None:
    for target in ("a5", "a2a3"):
        tiles = {"i": Given("1x8xi32"), "d": Given("8x32xf32")}
        ptosim.load(source(GATHER.format("row", "clamp"), tiles, "f32", 20, 32, target), sync="written").lowered()
        tiles = {"s": Given("8x32xf32"), "i": Given("1x8xi32")}
        ptosim.load(
            source(SCATTER.format("row", "add", "skip"), tiles, "f32", 20, 32, target), sync="written"
        ).lowered()
