"""Sorting into records and merging them, against stable sorts of NumPy."""

from itertools import product

import numpy as np
import pytest

import ptosim
from tables import table
from tile_cases import Array, numbers, sampled
from tile_programs import Given, dtype_of, run

FLOATS = ["f16", "f32"]
PER_RECORD = {"f32": 2, "f16": 4}
BLOCK = {"f32": 8, "f16": 16}


def scores(element: str, shape: tuple[int, int], seed: int) -> Array:
    """Few different ones, so that many are equal."""
    return np.random.default_rng(seed).integers(-6, 6, shape).astype(dtype_of(element))


def packed(x: Array, index: Array) -> Array:
    """Records of scores and indices: bytes, eight for each."""
    records = np.zeros((len(x), 8), np.uint8)
    records[:, : x.dtype.itemsize] = np.ascontiguousarray(x)[:, None].view(np.uint8)
    records[:, 4:] = np.ascontiguousarray(index, "u4")[:, None].view(np.uint8)
    return records


def descending(x: Array, index: Array) -> Array:
    """The records of scores, largest first, equal ones as they came."""
    order = np.argsort(-x.astype("f8"), kind="stable")
    return packed(x[order], index[order])


# --- groups of 32 -----------------------------------------------------------------------------------------------------

GROUPS = [
    *product(FLOATS, [(3, 64), (1, 96), (2, 70), (2, 13), (2, 48)], ["tight", "roomy"], ["shared", "own"], [True]),
    *product(FLOATS, [(2, 70), (1, 64), (0, 64), (2, 0)], ["tight"], ["shared", "own"], [False]),
]


def sorted_groups(case):
    element, (rows, cols), space, indices, known = case
    width = max(-(-cols // BLOCK[element]) * BLOCK[element], BLOCK[element])
    room = width if space == "tight" else -(-width // 32) * 32
    x = scores(element, (rows, cols), seed=cols)
    index = numbers("ui32", (rows if indices == "own" else 1, cols), seed=rows)
    of_idx = Given(f"{max(len(index), 1)}x{width}xui32, valid={len(index)}x{cols}", index)
    a = Given(f"{max(rows, 1)}x{width}x{element}, valid={rows}x{cols}", x)
    if not known:
        a = Given(f"{max(rows, 1)}x{width}x{element}", x, (rows, cols))
        of_idx = Given(f"{max(len(index), 1)}x{width}xui32", index, (len(index), cols))
    out = f"{max(rows, 1)}x{room * PER_RECORD[element]}x{element}"
    d = Given(out) if known else Given(out, valid=(rows, room * PER_RECORD[element]))
    return x, np.broadcast_to(index, x.shape), room, {"a": a, "i": of_idx, "d": d}


@pytest.mark.parametrize("case", sampled(GROUPS, 10))
def test_groups_of_32(case):
    x, index, room, tiles = sorted_groups(case)
    got = run("pto.tsort32 ins(%a, %i : A, I) outs(%d : D)", **tiles)
    for name in ("a", "i"):
        assert np.array_equal(got[name].image, tiles[name].image())
    if 0 in x.shape:
        assert np.array_equal(got["d"].image, tiles["d"].image())
    records = got["d"].image[: len(x) * room * 8].reshape(len(x), room, 8)
    for row, start in product(range(len(x)), range(0, x.shape[1], 32)):
        expected = descending(x[row, start : start + 32], index[row, start : start + 32])
        assert np.array_equal(records[row, start : start + len(expected)], expected)


def test_working_memory_may_be_given():
    x = scores("f32", (1, 40), seed=1)
    tiles = {
        "a": Given("1x40xf32", x),
        "i": Given("1x40xui32", np.arange(40)[None]),
        "t": Given("1x128xf32"),
        "d": Given("1x80xf32"),
    }
    got = run("pto.tsort32 ins(%a, %i, %t : A, I, T) outs(%d : D)", **tiles)
    expected = np.concatenate([descending(x[0, :32], np.arange(32)), descending(x[0, 32:], np.arange(32, 40))])
    assert np.array_equal(got["d"].image.reshape(-1, 8), expected)


# --- blocks -----------------------------------------------------------------------------------------------------------


def lists(element: str, lengths: list[int], seed: int) -> list[Array]:
    """Sorted lists of records; indices tell where they come from."""
    made, start = [], 0
    for number, length in enumerate(lengths):
        made.append(descending(scores(element, (1, length), seed + number)[0], np.arange(start, start + length)))
        start += length
    return made


def merged(parts: list[Array], element: str) -> Array:
    """All records, largest first, of equal ones those of the earlier list first."""
    records = np.concatenate(parts)
    keys = records[:, : dtype_of(element).itemsize].copy().view(dtype_of(element))[:, 0].astype("f8")
    return records[np.argsort(-keys, kind="stable")]


def holding(records: Array, element: str) -> Array:
    return np.ascontiguousarray(records).reshape(1, -1).view(dtype_of(element))


@table(
    "element, times, more, known",
    ("f32", 1, 0, True),
    ("f32", 3, 0, False),
    ("f16", 2, 96, True),
    ("f16", 0, 64, True),
    ("f32", 2, 128, False),
)
def test_four_blocks_become_one(element, times, more, known):
    records = 64 // PER_RECORD[element]
    parts = lists(element, [records] * 4 * times + [more // PER_RECORD[element]] * (more > 0), seed=3)
    a = Given(f"1x{256 * times + more}x{element}", holding(np.concatenate(parts), element))
    d = Given(f"1x{256 * times + more}x{element}")
    length = "%n = arith.constant 64 : i32" if known else ""
    text = f"{length}\npto.tmrgsort ins(%a, %n : A, i32) outs(%d : D)"
    got = run(text, *([] if known else [64]), scalars="" if known else "%n: i32", a=a, d=d)
    image = d.image()
    for turn in range(times):
        image[turn * 256 * d.dtype.itemsize :][: 256 * d.dtype.itemsize] = merged(
            parts[4 * turn : 4 * turn + 4], element
        ).ravel()
    assert np.array_equal(got["d"].image, image)


def test_blocks_are_multiples_of_64():
    tiles = {"a": Given("1x512xf32"), "d": Given("1x512xf32")}
    with pytest.raises(AssertionError, match="blockLen must be a positive multiple of 64"):
        run("pto.tmrgsort ins(%a, %n : A, i32) outs(%d : D)", 96, scalars="%n: i32", **tiles)


def test_records_that_a_row_has_no_room_for_end_the_run():
    """Other tiles lie behind it."""
    small = "a row of %d has 64 columns, too few"
    a, i = Given("2x64xf32"), Given("1x64xui32")
    with pytest.raises(ptosim.PTOError, match=small):
        run("pto.tsort32 ins(%a, %i : A, I) outs(%d : D)", a=a, i=i, d=Given("2x64xf32"))
    with pytest.raises(ptosim.PTOError, match=small):
        run(
            "pto.tmrgsort ins(%a, %n : A, i32) outs(%d : D)",
            64,
            scalars="%n: i32",
            a=Given("1x256xf32"),
            d=Given("1x64xf32"),
        )
    few = Given("1x64xf32", valid=(1, 32))
    run(
        "pto.tsort32 ins(%a, %i : A, I) outs(%d : D)",
        a=few,
        i=Given("1x64xui32", np.arange(64)[None]),
        d=Given("1x64xf32"),
    )


# --- several lists ----------------------------------------------------------------------------------------------------

LISTS = [*product(FLOATS, [[32, 32], [64, 32, 16], [16, 48, 32, 16]], [True, False], [True, False])]


@pytest.mark.parametrize("case", sampled(LISTS, 8))
def test_lists_are_merged(case):
    """Into working memory of the caller or not, whole or as much as is asked for."""
    element, lengths, tmp, whole = case
    per, parts = PER_RECORD[element], lists(element, lengths, seed=5)
    names = "abce"[: len(parts)]
    tiles = {
        name: Given(f"1x{per * n}x{element}", holding(part, element))
        for name, n, part in zip(names, lengths, parts, strict=True)
    }
    total = per * sum(lengths)
    kept = total if whole else total // 2 - 4
    tiles |= {"t": Given(f"1x{total}x{element}")} if tmp else {}
    tiles["d"] = Given(f"1x{total}x{element}, valid=1x{kept}")
    values = ", ".join(f"%{name}" for name in names) + (", %t" if tmp else " no_tmp")
    types = ", ".join(names.upper()) + (", T" if tmp else "")
    got = run(
        f"pto.tmrgsort ins({values} {{exhausted = false}} : {types}) outs(%d, %x : D, vector<4xi16>)",
        before="%x = arith.constant dense<0> : vector<4xi16>",
        **tiles,
    )
    assert got["d"].unchanged_outside()
    assert np.array_equal(got["d"].valid, holding(merged(parts, element), element)[:, :kept])


@pytest.mark.parametrize("element", ["f32", "f16"])
def test_working_memory_of_a_merge_holds_what_is_valid(element):
    """Lists that fill half of their tiles: tmp has room for these records, and is not written behind them."""
    per, parts = PER_RECORD[element], lists(element, [64, 32], seed=11)
    sizes = [2 * per * 64, 2 * per * 32]
    tiles = {
        name: Given(f"1x{size}x{element}, valid=1x{size // 2}", holding(part, element))
        for name, size, part in zip("ab", sizes, parts, strict=True)
    }
    total = sum(sizes) // 2
    got = run(
        "pto.tmrgsort ins(%a, %b, %t {exhausted = false} : A, B, T) outs(%d, %x : D, vector<4xi16>)",
        before="%x = arith.constant dense<0> : vector<4xi16>",
        **tiles,
        t=Given(f"1x{total}x{element}"),
        d=Given(f"1x{2 * total}x{element}, valid=1x{total}"),
    )
    assert np.array_equal(got["d"].valid, holding(merged(parts, element), element))
    assert got["d"].unchanged_outside()


def test_a_merge_may_end_with_the_first_list():
    """The larger scores are in the shorter list: nothing of the other is taken, and the rest is what tmp held."""
    high = packed(np.arange(16, 0, -1, dtype="f4") + 100, np.arange(16))
    low = packed(np.arange(16, 0, -1, dtype="f4"), np.arange(16))
    before = np.zeros((1, 64), "f4")
    got = run(
        "pto.tmrgsort ins(%a, %b, %t {exhausted = true} : A, B, T) outs(%d, %x : D, vector<4xi16>)",
        before="%x = arith.constant dense<0> : vector<4xi16>",
        a=Given("1x32xf32", holding(high, "f32")),
        b=Given("1x32xf32", holding(low, "f32")),
        t=Given("1x64xf32", before),
        d=Given("1x64xf32"),
    )
    assert np.array_equal(got["d"].all[:, :32], holding(high, "f32"))
    assert not got["d"].all[:, 32:].any()


def test_lists_of_a_length_that_only_the_run_knows():
    parts = lists("f32", [16, 24], seed=7)
    got = run(
        "pto.tmrgsort ins(%a, %b, %t {exhausted = false} : A, B, T) outs(%d, %x : D, vector<4xi16>)",
        before="%x = arith.constant dense<0> : vector<4xi16>",
        a=Given("1x64xf32", holding(parts[0], "f32"), valid=(1, 32)),
        b=Given("1x64xf32", holding(parts[1], "f32"), valid=(1, 48)),
        t=Given("1x128xf32"),
        d=Given("1x128xf32", valid=(1, 80)),
    )
    assert np.array_equal(got["d"].valid, holding(merged(parts, "f32"), "f32"))
