"""Reductions, comparisons, selections and rearrangements by formulas over full registers, tails and empty masks."""

import numpy as np
import pytest

from golden.formulas import lanes_of, rows_of
from golden.numbers import FLOATS, canonical, close, data, dtype, equal, pairs, word
from golden.program import bits, lanes
from tables import table
from vector_programs import mask_type, unary

N, LOGICAL = 1024, 1000
INTEGERS = [f"{sign}i{width}" for width in (8, 16, 32) for sign in ("", "s", "u")]


def reduced(op: str, source: str, target: str, a: np.ndarray, logical: int) -> np.ndarray:
    """The results of one reduction per register, as rows of lanes of the target type."""
    (result,) = rows_of(f"%d = pto.{op} %a, %m : V<{source}>, {mask_type(source)} -> V<{target}>", logical, a=a)
    return result.view(dtype(target))


def tree(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float32)
    with np.errstate(all="ignore"):
        while x.shape[-1] > 1:
            half = x.shape[-1] // 2
            x = x[..., :half] + x[..., half:]
    return x[..., 0]


def chunks(a: np.ndarray, element: str, logical: int) -> tuple[np.ndarray, np.ndarray]:
    n = lanes(element)
    on = (np.arange(a.size) < logical).reshape(-1, n)
    return a.reshape(-1, n), on


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("logical", [N, LOGICAL, 40])
def test_float_sums(element: str, logical: int) -> None:
    a = data(element, N)
    a[:3] = [0.1, 100, -100]
    out = reduced("vcadd", element, element, a, logical)
    x, on = chunks(a, element, logical)
    exact = np.where(on, x, 0).astype(np.float64).sum(1)
    close(out[:, 0], exact.astype(dtype(element)), 1e-4 if element == "f32" else 5e-3)
    equal(out[:, 0], tree(np.where(on, x, 0)).astype(dtype(element)))
    assert not out[:, 1:].view(word(element)).any()


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("logical", [N, LOGICAL, 3])
def test_integer_sums_widen(element: str, logical: int) -> None:
    a, _ = pairs(element, N)
    target = element if bits(element) == 32 else element.replace(str(bits(element)), str(2 * bits(element)))
    out = reduced("vcadd", element, target, a, logical)
    x, on = chunks(a, element, logical)
    sums = np.where(on, x, 0).astype(np.int64).sum(1) % 2 ** bits(target)
    expected = np.zeros_like(out).view(word(target))
    expected[:, 0] = sums
    equal(out, expected)


def extreme(x: np.ndarray, on: np.ndarray, largest: bool, element: str) -> tuple[np.ndarray, np.ndarray]:
    """Value and lane of the extremum, NaN first, -0 below +0, the first of equals; neutral where nothing is on."""
    values, places = [], []
    for row, active in zip(x, on, strict=True):
        lanes_on = np.nonzero(active)[0]
        if not lanes_on.size:
            if element in FLOATS:
                values.append(np.array([-np.inf if largest else np.inf], dtype(element))[0])
            else:
                info = np.iinfo(dtype(element))
                values.append(info.min if largest else info.max)
            places.append(0)
            continue
        best = lanes_on[0]
        for i in lanes_on:
            if element in FLOATS:
                if np.isnan(row[best]):
                    break
                key = lambda v: (float(v), not np.signbit(v))  # noqa: E731
                better = np.isnan(row[i]) or (key(row[i]) > key(row[best]) if largest else key(row[i]) < key(row[best]))
            else:
                better = row[i] > row[best] if largest else row[i] < row[best]
            if better:
                best = i
        values.append(row[best])
        places.append(best)
    out = np.array(values, dtype(element))
    return (canonical(out, element) if element in FLOATS else out), np.array(places)


@pytest.mark.parametrize("element", ["f32", "f16", "i32", "ui32", "si16", "ui16", "si8", "ui8"])
@pytest.mark.parametrize("op", ["vcmax", "vcmin"])
@pytest.mark.parametrize("logical", [N, LOGICAL, 5])
def test_extremum_with_its_lane(op: str, element: str, logical: int) -> None:
    a = data(element, N)
    n = lanes(element)
    if element in FLOATS:
        a[n : n + 3] = [np.nan, 1, 2]
        a[2 * n : 3 * n] = 0
        a[2 * n + 5] = -0.0
        a[3 * n : 4 * n] = -0.0
        a[3 * n + 7] = 0.0
    a[4 * n if 4 * n < N else 0 :][:n] = 7
    out = reduced(op, element, element, a, logical)
    x, on = chunks(a, element, logical)
    values, places = extreme(x, on, op == "vcmax", element)
    expected = np.zeros_like(out).view(word(element))
    expected[:, 0] = values.view(word(element))
    expected[:, 1] = places
    equal(out, expected)


@pytest.mark.parametrize("element", ["f32", "f16", *INTEGERS])
@pytest.mark.parametrize("op", ["vcgadd", "vcgmax", "vcgmin"])
@pytest.mark.parametrize("logical", [N, LOGICAL])
def test_block_reductions(op: str, element: str, logical: int) -> None:
    a = data(element, N)
    if element in FLOATS:
        a[:8] = 7
        a[8:16] = -7
        a[16:18] = [0.0, -0.0]
        a[24] = np.nan
    n = lanes(element)
    out = reduced(op, element, element, a, logical)
    x, on = chunks(a, element, logical)
    blocks, live = x.reshape(-1, n // 8), on.reshape(-1, n // 8)
    if op == "vcgadd":
        if element in FLOATS:
            values = canonical(tree(np.where(live, blocks, 0)).astype(dtype(element)), element)
        else:
            values = (np.where(live, blocks, 0).astype(np.int64).sum(1) % 2 ** bits(element)).astype(word(element))
    else:
        values = extreme(blocks, live, op == "vcgmax", element)[0]
    expected = np.zeros_like(out).view(word(element))
    expected[:, :8] = values.view(word(element)).reshape(-1, 8)
    equal(out, expected)


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("logical", [N, LOGICAL, 999])
def test_pair_sums(element: str, logical: int) -> None:
    a = data(element, N)
    out = reduced("vcpadd", element, element, a, logical)
    x, on = chunks(a, element, logical)
    kept = np.where(on, x, 0).astype(np.float32)
    expected = np.zeros_like(out)
    expected[:, : lanes(element) // 2] = (kept[:, ::2] + kept[:, 1::2]).astype(dtype(element))
    equal(out, expected)


@pytest.mark.parametrize("op", ["vcbmax", "vcbmin"])
@pytest.mark.parametrize("element", ["f32", "i16", "ui8"])
def test_extremum_with_a_mask_of_its_lanes(op: str, element: str) -> None:
    n, g = lanes(element), mask_type(element)
    a = np.resize(np.array([3, 1, 9, 9, 1], dtype(element)), n)
    values, matches = rows_of(f"%d, %p = pto.{op} %a, %m : V<{element}>, {g} -> V<{element}>, {g}", n // 2, a=a)
    best = 9 if op == "vcbmax" else 1
    assert values[0][0] == best and not values[0][1:].any()
    equal(matches[0], spread((a == best) & (np.arange(n) < n // 2), element))


@pytest.mark.parametrize("op", ["dhistv2", "chistv2"])
@pytest.mark.parametrize("half", [0, 1])
def test_histograms(op: str, half: int) -> None:
    acc, a = data("ui16", 128), data("ui8", 256)
    text = f"%b = arith.constant {half} : i32\n%d = pto.{op} %c, %a, %m, %b : V<ui16>, V<ui8>, M<b8>, i32 -> V<ui16>"
    counts = np.bincount(a[:200], minlength=256)
    counts = np.cumsum(counts) if op == "chistv2" else counts
    equal(lanes_of(text, 200, c=acc, a=a), acc + counts[128 * half : 128 * half + 128].astype("u2"))


# --- compare and select -----------------------------------------------------------------------------------------------

COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def spread(on: np.ndarray, element: str) -> np.ndarray:
    """The mask bits of lanes, one for each byte."""
    out = np.zeros(on.size * bits(element) // 8, "u1")
    out[:: bits(element) // 8] = on
    return out


@pytest.mark.parametrize("name", COMPARE)
@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS])
def test_compare_of_two_vectors(element: str, name: str) -> None:
    a, b = pairs(element, N)
    b[500:600] = a[500:600]
    g = mask_type(element)
    text = f'%p = pto.vcmp %a, %b, %m, "{name}" : V<{element}>, V<{element}>, {g} -> {g}'
    wide_a, wide_b = (a.astype(np.float32), b.astype(np.float32)) if element in FLOATS else (a, b)
    with np.errstate(invalid="ignore"):
        expected = COMPARE[name](wide_a, wide_b) & (np.arange(N) < LOGICAL)
    equal(lanes_of(text, LOGICAL, a=a, b=b), spread(expected, element))


@table(
    "element, kind, value",
    *(("f32", "f32", 0.0), ("f32", "f32", np.nan), ("f16", "f16", 1.5), ("i32", "i32", 100), ("i16", "i16", -5)),
    *(("ui16", "i16", 65531), ("ui8", "i8", 129), ("si8", "i8", -127)),
)
@pytest.mark.parametrize("name", COMPARE)
def test_compare_with_a_scalar(element: str, kind: str, value: float, name: str) -> None:
    n, g = lanes(element), mask_type(element)
    a = pairs(element, N)[0][:n]
    a[-8:] = value
    some = np.arange(n) % 3 == 0
    text = f'%p = pto.vcmps %a, %s, %m, "{name}" : V<{element}>, {kind}, {g} -> {g}'
    with np.errstate(invalid="ignore"):
        expected = COMPARE[name](a, np.array(value).astype(dtype(element))) & some
    equal(lanes_of(text, some, a=a, s=value), spread(expected, element))


@pytest.mark.parametrize("element", ["f32", "i16", "ui8", "bf16"])
def test_select_takes_every_lane(element: str) -> None:
    a, b = pairs(element, N)
    text = f"%d = pto.vsel %a, %b, %m : V<{element}>, V<{element}>, {mask_type(element)} -> V<{element}>"
    raw = np.where(np.arange(N) < N - 30, a.view(word(element)), b.view(word(element)))
    equal(lanes_of(text, N - 30, a=a, b=b), raw.astype(word(element)))


@pytest.mark.parametrize("element, index", [("f32", "i32"), ("f16", "ui16"), ("ui8", "ui8"), ("si32", "ui32")])
def test_lane_gather(element: str, index: str) -> None:
    n = lanes(element)
    a, i = data(element, n), data(index, n, 4)
    i[: n // 2] = np.random.default_rng(0).integers(0, n, n // 2)
    out = lanes_of(f"%d = pto.vselr %a, %i : V<{element}>, V<{index}> -> V<{element}>", n, a=a, i=i)
    equal(out, a[i.view(word(index)).astype(np.int64) % n])


# --- rearrangement ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["f32", "i16", "ui8", "f16"])
def test_interleave_and_back(element: str) -> None:
    n, v = lanes(element), f"V<{element}>"
    a = data(f"ui{bits(element)}", 2 * n)
    for name, low, high in (
        ("vintlv", *np.stack([a[:n], a[n:]], 1).reshape(2, n)),
        ("vdintlv", a[::2], a[1::2]),
    ):
        results = rows_of(f"%l, %h = pto.{name} %a, %b : {v}, {v} -> {v}, {v}", n, a=a[:n], b=a[n:])
        for found, expected in zip(results, (low, high), strict=True):
            equal(found[0], expected)


@pytest.mark.parametrize("source", ["i32", "si32", "ui32", "i16", "ui16"])
@pytest.mark.parametrize("part", ["LOWER", "HIGHER"])
def test_pack_fills_the_other_half_with_zeros(source: str, part: str) -> None:
    target, n = f"ui{bits(source) // 2}", lanes(source)
    a = data(source, n)
    expected = np.zeros(2 * n, word(target))
    start = 0 if part == "LOWER" else n
    expected[start : start + n] = a.view(word(source)).astype(word(target))
    equal(lanes_of(f'%d = pto.vpack %a, "{part}" : V<{source}> -> V<{target}>', n, a=a), expected)


@table(
    "op, source, target",
    ("vsunpack", "i16", "i32"),
    ("vzunpack", "ui16", "ui32"),
    ("vsunpack", "si8", "si16"),
    ("vzunpack", "i8", "i16"),
)
@pytest.mark.parametrize("part", [0, 1])
def test_unpack(op: str, source: str, target: str, part: int) -> None:
    n = lanes(target)
    a = data(source, 2 * n)
    half = a[part * n : part * n + n]
    expected = half.astype(dtype(target)) if op == "vsunpack" else half.view(word(source)).astype(word(target))
    text = f"%half = arith.constant {part} : index\n%d = pto.{op} %a, %half : V<{source}> -> V<{target}>"
    equal(lanes_of(text, n, a=a), expected)


@pytest.mark.parametrize("element", ["f32", "i16", "ui8", "bf16"])
def test_squeeze(element: str) -> None:
    n = lanes(element)
    a, on = data(f"ui{bits(element)}", n), np.arange(n) % 3 == 0
    expected = np.zeros(n, word(element))
    expected[: on.sum()] = a[on]
    equal(lanes_of(unary("vsqz", element), on, a=a), expected)


@pytest.mark.parametrize("element", ["i32", "si16", "i8"])
def test_prefix_count(element: str) -> None:
    lane = np.arange(lanes(element))
    for on in (lane % 3 == 0, lane < 16, lane >= 0, lane < 0):
        counts = np.concatenate([[0], np.cumsum(on)[:-1]]) % 2 ** bits(element)
        out = lanes_of(unary("vusqz", element), on, a=data(element, lane.size))
        equal(out, counts.astype(word(element)))
