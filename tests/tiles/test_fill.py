"""Tiles that are made of numbers alone, against NumPy and a Philox of its own."""

from itertools import product

import numpy as np
import pytest

from tile_cases import same, sampled, tile
from tile_programs import Given, dtype_of, run, run_each

# --- counting ---------------------------------------------------------------------------------------------------------

COUNTING = [*product(["i16", "ui16", "i32", "ui32"], [True, False], [100, 128, 1], [True, False])]


@pytest.mark.parametrize("case", sampled(COUNTING, 6))
def test_counting(case):
    element, descending, cols, known = case
    start = {"i16": 32700, "ui16": 5, "i32": -3, "ui32": 40}[element]
    text = f"pto.tci ins(%x : {element}) outs(%d : D) {{descending = {str(descending).lower()}}}"
    d = Given(f"1x128x{element}, valid=1x{cols}") if known else Given(f"1x128x{element}", valid=(1, cols))
    bare = element.removeprefix("u")
    before = "" if bare == element else f"%x = builtin.unrealized_conversion_cast %y : {bare} to {element}"
    name = "x" if bare == element else "y"
    got = run(text, start, scalars=f"%{name}: {bare}", before=before, d=d)
    assert got["d"].unchanged_outside()
    numbers = start + np.arange(cols) * (-1 if descending else 1)
    assert np.array_equal(got["d"].valid[0], numbers.astype("i8").astype(dtype_of(element)))


@pytest.mark.parametrize("valid", [(0, 128), (1, 0)])
def test_nothing_is_counted(valid):
    d = Given("1x128xi32", valid=valid)
    got = run("pto.tci ins(%x : i32) outs(%d : D)", 7, scalars="%x: i32", d=d)
    assert np.array_equal(got["d"].image, d.image())


# --- triangles --------------------------------------------------------------------------------------------------------

ELEMENTS = ["i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32"]
DIAGONALS = (-2, 0, 3, 130, 500, -500)
TRIANGLES = [
    *product(ELEMENTS, [DIAGONALS], [(5, 160), (5, 131), (3, 7)], [True, False]),
    *product(["f32", "i8"], [(1,)], [(0, 160), (5, 0)], [False]),
]


def test_a_diagonal_without_a_sign():
    """130 is a diagonal above, of eight bits as of any other."""
    triangle = "pto.ttri ins(%x {upperOrLower = 0 : i32} : ui8) outs(%d : D)"
    got = run(triangle, 130, scalars="%x: ui8", d=Given("5x160xf32"))
    assert np.array_equal(got["d"].all, np.tril(np.ones((5, 160)), 130))


@pytest.mark.parametrize("case", sampled(TRIANGLES, 10))
def test_triangles(case):
    """Lower and upper, about several diagonals: constants, or arguments of the run."""
    element, diagonals, region, known = case
    given = {f"x{number}": diagonal for number, diagonal in enumerate(diagonals)}
    triangles = {
        f"{word} {diagonal}": (number, name, make(np.ones(region), diagonal))
        for number, (word, make) in enumerate([("lower", np.tril), ("upper", np.triu)])
        for name, diagonal in given.items()
    }
    got = run_each(
        {
            case: f"pto.ttri ins(%{name} {{upperOrLower = {number} : i32}} : i32) outs(%d : D)"
            for case, (number, name, _) in triangles.items()
        },
        *(() if known else diagonals),
        scalars="" if known else ", ".join(f"%{name}: i32" for name in given),
        before="\n".join(f"%{name} = arith.constant {one} : i32" for name, one in given.items()) if known else "",
        d=tile(element, region, known=known),
    )
    for case, (_, _, expected) in triangles.items():
        assert got[case]["d"].unchanged_outside(), case
        assert same(got[case]["d"].valid, expected, element), case


# --- random words -----------------------------------------------------------------------------------------------------


def philox(key: tuple[int, int], counter: int, rounds: int) -> list[int]:
    """Four words of a counter of 128 bits."""
    words = [counter >> 32 * n & 0xFFFFFFFF for n in range(4)]
    k0, k1 = key
    for _ in range(rounds):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        low = 0xFFFFFFFF
        words = [second >> 32 ^ words[1] ^ k0, second & low, first >> 32 ^ words[3] ^ k1, first & low]
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    return words


def random_rows(key: tuple[int, int], counter: int, rounds: int, rows: int, cols: int) -> list[list[int]]:
    found = []
    for _ in range(rows):
        row: list[int] = []
        while len(row) < cols:
            last = cols - len(row) <= 256
            for lane in range(64):
                row += philox(key, (counter + lane) % 2**128, rounds)
            counter += (cols - 1) % 64 + 1 if last else 64
        found.append(row[:cols])
    return found


def test_the_generator_is_the_published_one():
    """A vector of the authors of Philox: all bits set, ten rounds."""
    ones = (1 << 128) - 1
    assert philox((0xFFFFFFFF, 0xFFFFFFFF), ones, 10) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


RANDOM = [
    *product([7, 10], ["ui32", "i32"], [(2, 256), (3, 300), (2, 64), (2, 100), (1, 520), (0, 8), (2, 0)], [True, False])
]


@pytest.mark.parametrize("case", sampled([one for one in RANDOM if not (one[3] and 0 in one[2])], 12))
def test_random_words(case):
    rounds, element, (rows, cols), known = case
    key, counter = (0x12345678, 0x9ABCDEF0), 2**128 - 2**96 - 70
    words = [*key, *(counter >> 32 * n & 0xFFFFFFFF for n in range(4))]
    names = [f"%k{n}" for n in range(6)]
    scalars = ", ".join(f"{name}: i32" for name in names)
    text = f"pto.trandom ins({', '.join(names)} {{rounds = {rounds} : i32}} : {', '.join(['i32'] * 6)}) outs(%d : D)"
    shape = f"3x520x{element}"
    d = Given(f"{shape}, valid={rows}x{cols}") if known else Given(shape, valid=(rows, cols))
    signed = [int(np.uint32(word).view(np.int32)) for word in words]
    got = run(text, *signed, scalars=scalars, d=d)
    assert got["d"].unchanged_outside()
    expected = random_rows(key, counter, rounds, rows, cols)
    assert got["d"].valid.astype("u4").tolist() == expected
