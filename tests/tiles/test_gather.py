"""Gathers and scatters within vec against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError
from tile_moves import holds, loads_again, numbers, of, same, sampled
from tile_programs import Given, dtype_of, run, text

ELEMENTS = ["i8", "ui8", "i16", "f16", "i32", "f32"]
BY_INDEX = "pto.tgather ins(%a, %i : A, I) outs(%d : D)"
RNG = np.random.default_rng(5)


def indices(type_: str, limit: int, shape: tuple[int, int]) -> Given:
    limit = min(limit, 1 << 15) if dtype_of(type_).itemsize == 2 else limit
    return Given(f"{shape[0]}x{shape[1]}x{type_}", RNG.integers(0, limit, shape).astype(dtype_of(type_)))


# --- by index ---------------------------------------------------------------------------------------------------------


@sampled(10, ("element", ELEMENTS), ("index", ["i16", "ui16", "i32", "ui32"]))
def test_elements_by_their_number(element: str, index: str) -> None:
    a = Given(f"8x96x{element}", numbers(element, 8, 96))
    i = indices(index, 8 * 96, (5, 160))
    d = Given(f"5x160x{element}")
    assert a.holds is not None and i.holds is not None
    got = run(BY_INDEX, a=a, i=i, d=d)
    assert holds(got["d"], a.holds.ravel()[i.holds.astype(int)])


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_elements_of_eight_bit_floats(element: str) -> None:
    a = Given(f"1x64x{element}", np.arange(64, dtype="u1").reshape(1, 64).view(Given(f"1x64x{element}").dtype))
    i, d = indices("i32", 64, (1, 32)), Given(f"1x32x{element}")
    assert a.holds is not None and i.holds is not None
    got = run(BY_INDEX, a=a, i=i, d=d)
    assert np.array_equal(got["d"].all.view("u1"), a.holds.view("u1").ravel()[i.holds.astype(int)])


@pytest.mark.parametrize("element", ["i8", "f16"])
def test_elements_beyond_sixteen_bits_of_offset(element: str) -> None:
    a = Given(f"80x1024x{element}", numbers(element, 80, 1024))
    i = indices("i32", 80 * 1024, (2, 192))
    d = Given(f"2x192x{element}")
    assert a.holds is not None and i.holds is not None
    got = run(BY_INDEX, a=a, i=i, d=d, check=False)
    assert same(got["d"].all, a.holds.ravel()[i.holds.astype(int)])


@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
def test_a_region_that_only_the_run_knows(element: str) -> None:
    a, i = Given(f"8x96x{element}", numbers(element, 8, 96)), indices("i32", 8 * 96, (5, 160))
    i.valid = 3, 150
    d = Given(f"5x160x{element}", valid=(3, 150))
    assert a.holds is not None and i.holds is not None
    got = run(BY_INDEX, a=a, i=i, d=d)
    assert holds(got["d"], a.holds.ravel()[i.holds[:3, :150].astype(int)])
    loads_again(BY_INDEX, a=a, i=i, d=d)


@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
def test_an_index_outside_of_memory_is_an_error(element: str) -> None:
    tiles = {"a": Given(f"8x96x{element}"), "i": Given("1x64xi32", np.full((1, 64), -1)), "d": Given(f"1x64x{element}")}
    kernel = ptosim.load(text(BY_INDEX, tiles), sync="written").kernel()
    for engine in ("native", "reference"):
        with pytest.raises(PTOError, match="out-of-bounds"):
            kernel(*(tile.image() for tile in tiles.values()), engine=engine)


@pytest.mark.parametrize("instruction", [BY_INDEX, "pto.tscatter ins(%d, %i : D, I) outs(%a : A)"])
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_an_index_outside_of_the_tile_is_an_error_of_a_check(element: str, instruction: str) -> None:
    def found(last: int) -> list[tuple[str, str, str]]:
        i = Given("1x64xi32", np.array([[*range(63), last]]))
        tiles = {"a": Given(f"8x96x{element}"), "i": i, "d": Given(f"1x64x{element}")}
        kernel = ptosim.load(text(instruction, tiles)).kernel()
        images = [tile.image() for tile in tiles.values()]
        for engine in ("native", "reference"):
            kernel(*(image.copy() for image in images), engine=engine)
        first, second = (ptosim.check(kernel, *images, engine=engine) for engine in ("native", "reference"))
        assert first.to_json() == second.to_json()
        return [(each.kind, each.severity, each.message) for each in first.findings]

    assert found(767) == []
    first, *others = found(768)
    assert first == ("out-of-bounds", "error", "index 768 is beyond the tile, which has elements 0 to 767")
    assert {kind for kind, _, _ in others} <= {"uninitialized"}  # what is gathered from there nobody has written


def test_on_a2a3_it_takes_working_memory() -> None:
    a, i = Given("8x96xf16", numbers("f16", 8, 96)), indices("i32", 8 * 96, (5, 160))
    d, t = Given("5x160xf16"), Given("5x160xi32")
    assert a.holds is not None and i.holds is not None
    got = run("pto.tgather ins(%a, %i, %t : A, I, T) outs(%d : D)", a=a, i=i, d=d, t=t, target="a2a3")
    assert holds(got["d"], a.holds.ravel()[i.holds.astype(int)])


# --- by a pattern -----------------------------------------------------------------------------------------------------

PATTERNS = {
    "P1111": (0, 1),
    "P0101": (0, 2),
    "P1010": (1, 2),
    "P0001": (0, 4),
    "P0010": (1, 4),
    "P0100": (2, 4),
    "P1000": (3, 4),
}


def masked(name: str, pattern: str, axis: str) -> str:
    return f'pto.{name} ins(%a, {{maskPattern = #pto.mask_pattern<{pattern}>}} : A, "{axis}") outs(%d : D)'


def shapes(pattern: str, axis: str, rows: int, cols: int) -> tuple[str, str]:
    """A wide and a narrow tile, with valid regions that fill neither."""
    factor = PATTERNS[pattern][1]
    wide_rows, wide_cols = (rows, cols * factor) if axis == "row" else (rows * factor, cols)
    return (
        f"{wide_rows + 1}x{-(-wide_cols // 32) * 32}xE, valid={wide_rows}x{wide_cols}",
        f"{rows + 1}x{-(-cols // 32) * 32}xE, valid={rows}x{cols}",
    )


def taken(values: Any, pattern: str, axis: str) -> Any:
    first, factor = PATTERNS[pattern]
    return values[:, first::factor] if axis == "row" else values[first::factor]


@sampled(14, ("pattern", PATTERNS), ("axis", ["row", "col"]), ("element", ["i8", "bf16", "i32"]))
def test_what_a_pattern_marks(pattern: str, axis: str, element: str) -> None:
    wide, narrow = shapes(pattern, axis, 3, 45)
    a, d = Given(of(wide, element)), Given(of(narrow, element))
    a.holds = numbers(element, a.rows, a.cols)
    rows, cols = a.region
    got = run(masked("tgather", pattern, axis), a=a, d=d)
    assert holds(got["d"], taken(a.holds[:rows, :cols], pattern, axis))


@pytest.mark.parametrize("pattern", ["P1010", "P0100"])
def test_a_pattern_over_several_registers(pattern: str) -> None:
    wide, narrow = shapes(pattern, "row", 2, 300)
    a, d = Given(of(wide, "f16")), Given(of(narrow, "f16"))
    a.holds, a.valid, d.valid = numbers("f16", a.rows, a.cols), a.region, d.region
    got = run(masked("tgather", pattern, "row"), a=a, d=d)
    assert holds(got["d"], taken(a.holds[: a.region[0], : a.region[1]], pattern, "row"))
    loads_again(masked("tgather", pattern, "row"), a=a, d=d)


@sampled(14, ("pattern", PATTERNS), ("axis", ["row", "col"]), ("element", ["i8", "bf16", "i32"]))
def test_what_a_pattern_writes(pattern: str, axis: str, element: str) -> None:
    """The rest of the destination is zero, outside of its valid region as well."""
    wide, narrow = shapes(pattern, axis, 3, 45)
    a, d = Given(of(narrow, element)), Given(of(wide, element))
    a.holds = numbers(element, a.rows, a.cols)
    expected = np.zeros((d.rows, d.cols), d.dtype)
    rows, cols = d.region
    taken(expected[:rows, :cols], pattern, axis)[:] = a.holds[:3, :45]
    got = run(masked("tscatter", pattern, axis), a=a, d=d)
    assert same(got["d"].all, expected)


# --- by comparison ----------------------------------------------------------------------------------------------------

COMPARING = "pto.tgather ins(%a, %x, %t : A, {}, T) outs(%d, %c : D, C) {{cmpMode = #pto<cmp {}>, offset = 7 : i32}}"


@sampled(8, ("element", ["i16", "ui16", "f16", "i32", "ui32", "f32"]), ("mode", ["eq", "gt"]))
def test_the_numbers_of_elements_that_match(element: str, mode: str) -> None:
    low = 0 if element.startswith("u") else -4
    values = RNG.integers(low, 5, (4, 160)).astype(dtype_of(element))
    a = Given(f"4x160x{element}, valid=3x150", values)
    d, c, t = Given("4x160xi32, valid=3x150"), Given("4x8xi32, valid=3x1"), Given("4x160xi32")
    scalar = f"i{element[2:]}" if element.startswith("ui") else element
    literal = "2.0" if "f" in element else "2"
    operation = COMPARING.format(scalar, mode)
    before = f"%x = arith.constant {literal} : {scalar}"
    got = run(operation, a=a, d=d, c=c, t=t, before=before)
    expected, counts = d.read(d.image()), c.read(c.image())
    matches = values[:3, :150] == 2 if mode == "eq" else values[:3, :150] > 2
    for row in range(3):
        found = np.flatnonzero(matches[row]) + row * 160 + 7
        expected[row, : len(found)] = found
        counts[row, 0] = len(found)
    assert same(got["d"].all, expected)
    assert same(got["c"].all, counts)


def test_matches_that_have_no_room_are_only_counted() -> None:
    a = Given("2x64xf32", np.ones((2, 64)))
    d, c, t = Given("2x8xi32"), Given(f"8x1xi32, valid=2x1, {'blayout=col_major'}"), Given("2x64xi32")
    before = "%x = arith.constant 0.5 : f32"
    got = run(COMPARING.format("f32", "gt"), a=a, d=d, c=c, t=t, before=before)
    assert np.array_equal(got["d"].all, 7 + np.array([np.arange(8), 64 + np.arange(8)]))
    assert list(got["c"].valid.ravel()) == [64, 64]


def test_comparisons_load_again() -> None:
    tiles = {"a": Given("4x64xui16"), "d": Given("4x64xi32"), "c": Given("4x8xi32"), "t": Given("4x64xi32")}
    operation = COMPARING.format("i16", "gt")
    source = text(operation, tiles, before="%x = arith.constant 3 : i16")
    ptosim.load(source, sync="written").lowered()


# --- by blocks --------------------------------------------------------------------------------------------------------


@sampled(5, ("element", ["i8", "f16", "f32"]), ("valid", [(3, 96), (3, 77), (2, 5), (0, 3)]))
def test_blocks_by_their_place(element: str, valid: tuple[int, int]) -> None:
    size = dtype_of(element).itemsize
    a = Given(f"8x96x{element}", numbers(element, 8, 96))
    o = Given("3x16xui32", RNG.integers(0, 8 * 96 * size // 32, (3, 16)) * 32)
    d = Given(f"3x96x{element}", valid=valid)
    assert a.holds is not None and o.holds is not None
    got = run("pto.tgatherb ins(%a, %o : A, O) outs(%d : D)", a=a, o=o, d=d)
    flat, rows, cols = a.holds.ravel(), *valid
    places = o.holds[:rows, np.arange(cols) * size // 32].astype(int) // size + np.arange(cols) % (32 // size)
    assert holds(got["d"], flat[places])
    loads_again("pto.tgatherb ins(%a, %o : A, O) outs(%d : D)", a=a, o=o, d=d)


# --- scatters by index ------------------------------------------------------------------------------------------------

SCATTER = "pto.tscatter ins(%a, %i : A, I) outs(%d : D)"


@sampled(10, ("element", ELEMENTS), ("index", ["i16", "i32"]), ("target", ["a5", "a2a3"]))
def test_elements_go_to_their_number(element: str, index: str, target: str) -> None:
    a = Given(f"4x96x{element}, valid=3x90", numbers(element, 4, 96))
    i = Given(f"4x96x{index}, valid=3x90", RNG.permutation(4 * 96).reshape(4, 96).astype(dtype_of(index)))
    d = Given(f"4x96x{element}, valid=3x90")
    assert a.holds is not None and i.holds is not None
    expected = np.zeros(4 * 96, d.dtype)
    expected[i.holds[:3, :90].ravel()] = a.holds[:3, :90].ravel()
    got = run(SCATTER, a=a, i=i, d=d, target=target)
    assert same(got["d"].all, expected.reshape(4, 96))


def test_a_scatter_into_another_shape() -> None:
    a = Given("2x64xf16", numbers("f16", 2, 64))
    i = Given("2x64xi32", RNG.permutation(256)[:128].reshape(2, 64))
    d = Given("1x256xf16")
    assert a.holds is not None and i.holds is not None
    expected = np.zeros((1, 256), d.dtype)
    expected[0, i.holds.ravel()] = a.holds.ravel()
    assert same(run(SCATTER, a=a, i=i, d=d)["d"].all, expected)
    loads_again(SCATTER, a=a, i=i, d=d)
