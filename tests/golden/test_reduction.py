"""Reductions over full registers, tails, empty masks and blocks; compares and selects; rearrangement."""

import numpy as np
import pytest

from golden.numbers import FLOATS, canonical, close, data, dtype, edges, equal, pairs, word
from golden.program import bits, granularity, lanes, mask, outcome, tail_loop, ub, vector_kernel, vreg
from tables import table

N, LOGICAL = 1024, 1000
INTEGERS = [f"{sign}i{width}" for width in (8, 16, 32) for sign in ("", "s", "u")]


def reduced(op: str, source: str, target: str, a: np.ndarray, logical: int) -> np.ndarray:
    """The results of one reduction per register, as rows of lanes of the target type."""
    n, m = lanes(source), lanes(target)
    count = a.size
    gt = granularity(target)
    body = f"""      %full = pto.pset_{gt} "PAT_ALL" : {mask(target)}
      %last, %left = scf.for %offset = %c0 to %c{count} step %c{n} iter_args(%to = %c0,
          %remaining = %c{logical}_i32) -> (index, i32) {{
        %mask, %next = pto.plt_{granularity(source)} %remaining : i32 -> {mask(source)}, i32
        %v = pto.vlds %ub_a[%offset] : {ub(source)} -> {vreg(source)}
        %r = pto.{op} %v, %mask : {vreg(source)}, {mask(source)} -> {vreg(target)}
        pto.vsts %r, %ub_y[%to], %full : {vreg(target)}, {ub(target)}, {mask(target)}
        %further = arith.addi %to, %c{m} : index
        scf.yield %further, %next : index, i32
      }}"""
    rows = count // n
    text = vector_kernel({"a": (source, count)}, {"y": (target, rows * m)}, body)
    return outcome(text, a, np.full(rows * m, 0x5A, word(target)))[1].view(dtype(target)).reshape(rows, m)


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
    v, m, g, n = vreg(element), mask(element), granularity(element), lanes(element)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {m}
      %on = pto.pset_{g} "PAT_H" : {m}
      %x = pto.vlds %ub_a[%c0] : {ub(element)} -> {v}
      %r, %which = pto.{op} %x, %on : {v}, {m} -> {v}, {m}
      pto.vsts %r, %ub_y[%c0], %all : {v}, {ub(element)}, {m}
      pto.psts %which, %ub_k[%c0], "NORM" : {m}, {ub("ui8")}, index"""
    text = vector_kernel({"a": (element, n)}, {"y": (element, n), "k": ("ui8", 32)}, scope)
    a = np.resize(np.array([3, 1, 9, 9, 1], dtype(element)), n)
    out = outcome(text, a, np.zeros(n, dtype(element)), np.zeros(32, "u1"))
    best = 9 if op == "vcbmax" else 1
    assert out[1][0] == best and not out[1][1:].any()
    image = np.zeros(256, "u1")
    image[:: bits(element) // 8] = (a == best) & (np.arange(n) < n // 2)
    equal(out[2], np.packbits(image, bitorder="little"))


@pytest.mark.parametrize("op", ["dhistv2", "chistv2"])
@pytest.mark.parametrize("half", [0, 1])
def test_histograms(op: str, half: int) -> None:
    scope = f"""      %all = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>
      %on, %rest = pto.plt_b8 %c200_i32 : i32 -> !pto.mask<b8>, i32
      %acc = pto.vlds %ub_acc[%c0] : {ub("ui16")} -> {vreg("ui16")}
      %x = pto.vlds %ub_a[%c0] : {ub("ui8")} -> {vreg("ui8")}
      %r = pto.{op} %acc, %x, %on, %c{half}_i32 : {vreg("ui16")}, {vreg("ui8")}, !pto.mask<b8>, i32 -> {vreg("ui16")}
      pto.vsts %r, %ub_y[%c0], %all : {vreg("ui16")}, {ub("ui16")}, !pto.mask<b16>"""
    text = vector_kernel({"acc": ("ui16", 128), "a": ("ui8", 256)}, {"y": ("ui16", 128)}, scope)
    acc, a = data("ui16", 128), data("ui8", 256)
    counts = np.bincount(a[:200], minlength=256)
    if op == "chistv2":
        counts = np.cumsum(counts)
    expected = acc + counts[128 * half : 128 * half + 128].astype("u2")
    equal(outcome(text, acc, a, np.zeros(128, "u2"))[2], expected)


# --- compare and select -----------------------------------------------------------------------------------------------

COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def images(result: np.ndarray, element: str) -> np.ndarray:
    out = np.zeros((result.size // lanes(element), 256), "u1")
    out[:, :: bits(element) // 8] = result.reshape(-1, lanes(element))
    return np.packbits(out.reshape(-1), bitorder="little")


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", *INTEGERS])
def test_compare_of_two_vectors(element: str) -> None:
    n, m, v = lanes(element), mask(element), vreg(element)
    registers = N // n
    body = tail_loop(
        element,
        N,
        LOGICAL,
        f"        %va = pto.vlds %ub_a[%offset] : {ub(element)} -> {v}\n"
        f"        %vb = pto.vlds %ub_b[%offset] : {ub(element)} -> {v}\n"
        f"        %bytes = arith.divui %offset, %c{n // 32 if n >= 32 else 1} : index\n"
        + "".join(
            f'        %m{i} = pto.vcmp %va, %vb, %mask, "{name}" : {v}, {v}, {m} -> {m}\n'
            f"        %o{i} = arith.addi %bytes, %c{i * registers * 32} : index\n"
            f'        pto.psts %m{i}, %ub_y[%o{i}], "NORM" : {m}, {ub("ui8")}, index\n'
            for i, name in enumerate(COMPARE)
        ),
    )
    size = 6 * registers * 32
    text = vector_kernel({"a": (element, N), "b": (element, N)}, {"y": ("ui8", size)}, body)
    a, b = pairs(element, N)
    b[500:600] = a[500:600]
    out = outcome(text, a, b, np.zeros(size, "u1"))[2].reshape(6, -1)
    on = np.arange(N) < LOGICAL
    wide_a, wide_b = (a.astype(np.float32), b.astype(np.float32)) if element in FLOATS else (a, b)
    for row, function in zip(out, COMPARE.values(), strict=True):
        with np.errstate(invalid="ignore"):
            equal(row, images(function(wide_a, wide_b) & on, element))


@table(
    "element, literal, kind, value",
    ("f32", "0.0", "f32", 0.0),
    ("f32", "0x7FC00000", "f32", np.nan),
    ("i16", "-5", "i16", -5),
    ("ui16", "-5", "i16", 65531),
    ("ui8", "-127", "i8", 129),
    ("si8", "-127", "i8", -127),
    ("i32", "100", "i32", 100),
    ("f16", "1.5", "f16", 1.5),
)
@pytest.mark.parametrize("name", COMPARE)
def test_compare_with_a_scalar(element: str, literal: str, kind: str, value: float, name: str) -> None:
    n, m, v = lanes(element), mask(element), vreg(element)
    scope = f"""      %some = pto.pset_{granularity(element)} "PAT_M3" : {m}
      %x = pto.vlds %ub_a[%c0] : {ub(element)} -> {v}
      %r = pto.vcmps %x, %s, %some, "{name}" : {v}, {kind}, {m} -> {m}
      pto.psts %r, %ub_y[%c0], "NORM" : {m}, {ub("ui8")}, index"""
    text = vector_kernel(
        {"a": (element, n)}, {"y": ("ui8", 32)}, scope, before=f"    %s = arith.constant {literal} : {kind}"
    )
    a = pairs(element, N)[0][:n]
    a[-8:] = value
    with np.errstate(invalid="ignore"):
        expected = COMPARE[name](a, np.array(value).astype(dtype(element))) & (np.arange(n) % 3 == 0)
    equal(outcome(text, a, np.zeros(32, "u1"))[1], images(expected, element))


@pytest.mark.parametrize("element", ["f32", "i16", "ui8", "bf16"])
def test_select_takes_every_lane(element: str) -> None:
    v, m = vreg(element), mask(element)
    body = tail_loop(
        element,
        N,
        N - 30,
        f"""        %va = pto.vlds %ub_a[%offset] : {ub(element)} -> {v}
        %vb = pto.vlds %ub_b[%offset] : {ub(element)} -> {v}
        %r = pto.vsel %va, %vb, %mask : {v}, {v}, {m} -> {v}
        pto.vsts %r, %ub_y[%offset], %all : {v}, {ub(element)}, {m}""",
    )
    text = vector_kernel({"a": (element, N), "b": (element, N)}, {"y": (element, N)}, body)
    a, b = pairs(element, N)
    raw = np.where(np.arange(N) < N - 30, a.view(word(element)), b.view(word(element)))
    equal(outcome(text, a, b, np.zeros(N, dtype(element)))[2], raw.astype(word(element)))


@pytest.mark.parametrize("element, index", [("f32", "i32"), ("f16", "ui16"), ("ui8", "ui8"), ("si32", "ui32")])
def test_lane_gather(element: str, index: str) -> None:
    v, vi, m, n, g = vreg(element), vreg(index), mask(element), lanes(element), granularity(element)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {m}
      %x = pto.vlds %ub_a[%c0] : {ub(element)} -> {v}
      %i = pto.vlds %ub_i[%c0] : {ub(index)} -> {vi}
      %r = pto.vselr %x, %i : {v}, {vi} -> {v}
      pto.vsts %r, %ub_y[%c0], %all : {v}, {ub(element)}, {m}"""
    text = vector_kernel({"a": (element, n), "i": (index, n)}, {"y": (element, n)}, scope)
    a = data(element, n)
    i = data(index, n, 4)
    i[: n // 2] = np.random.default_rng(0).integers(0, n, n // 2)
    equal(outcome(text, a, i, np.zeros(n, dtype(element)))[2], a[i.view(word(index)).astype(np.int64) % n])


def test_select_of_whole_registers_by_a_scalar() -> None:
    v, m, p = vreg("f32"), "!pto.mask<b32>", ub("f32")
    scope = f"""      %all = pto.pset_b32 "PAT_ALL" : {m}
      %half = pto.pset_b32 "PAT_H" : {m}
      scf.for %i = %c0 to %c128 step %c64 {{
        %first = arith.cmpi eq, %i, %c0 : index
        %va = pto.vlds %ub_a[%i] : {p} -> {v}
        %vb = pto.vlds %ub_b[%i] : {p} -> {v}
        %r = arith.select %first, %va, %vb : {v}
        %k = arith.select %first, %half, %all : {m}
        pto.vsts %r, %ub_y[%i], %k : {v}, {p}, {m}
      }}"""
    text = vector_kernel({"a": ("f32", 128), "b": ("f32", 128)}, {"y": ("f32", 128)}, scope)
    a, b = data("f32", 128), data("f32", 128, 1)
    expected = np.concatenate([a[:32], np.full(32, 4, "f4"), b[64:]])
    equal(outcome(text, a, b, np.full(128, 4, "f4"))[2], expected)


# --- rearrangement ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["f32", "i16", "ui8", "f16"])
def test_interleave_and_back(element: str) -> None:
    v, m, n, p, g = vreg(element), mask(element), lanes(element), ub(element), granularity(element)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {m}
      %x = pto.vlds %ub_a[%c0] : {p} -> {v}
      %z = pto.vlds %ub_a[%c{n}] : {p} -> {v}
      %lo, %hi = pto.vintlv %x, %z : {v}, {v} -> {v}, {v}
      %e, %o = pto.vdintlv %x, %z : {v}, {v} -> {v}, {v}
      %b0, %b1 = pto.vdintlv %lo, %hi : {v}, {v} -> {v}, {v}
""" + "\n".join(
        f"      pto.vsts %{name}, %ub_y[%c{i * n}], %all : {v}, {p}, {m}"
        for i, name in enumerate(["lo", "hi", "e", "o", "b0", "b1"])
    )
    text = vector_kernel({"a": (element, 2 * n)}, {"y": (element, 6 * n)}, scope)
    a = data(f"ui{bits(element)}", 2 * n)
    out = outcome(text, a, np.zeros(6 * n, word(element)))[1]
    stream = np.stack([a[:n], a[n:]], 1).reshape(-1)
    equal(out, np.concatenate([stream, a[::2], a[1::2], a]))


@pytest.mark.parametrize("source", ["i32", "si32", "ui32", "i16", "ui16"])
@pytest.mark.parametrize("part", ["LOWER", "HIGHER"])
def test_pack_fills_the_other_half_with_zeros(source: str, part: str) -> None:
    width = bits(source) // 2
    target = f"ui{width}"
    n, g = lanes(source), granularity(target)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {mask(target)}
      %x = pto.vlds %ub_a[%c0] : {ub(source)} -> {vreg(source)}
      %r = pto.vpack %x, "{part}" : {vreg(source)} -> {vreg(target)}
      %s = pto.vadds %r, %one, %all : {vreg(target)}, i{width}, {mask(target)} -> {vreg(target)}
      pto.vsts %s, %ub_y[%c0], %all : {vreg(target)}, {ub(target)}, {mask(target)}"""
    text = vector_kernel(
        {"a": (source, n)}, {"y": (target, 2 * n)}, scope, before=f"    %one = arith.constant 1 : i{width}"
    )
    a = data(source, n)
    expected = np.ones(2 * n, word(target))
    start = 0 if part == "LOWER" else n
    expected[start : start + n] = a.view(word(source)).astype(word(target)) + 1
    equal(outcome(text, a, np.zeros(2 * n, word(target)))[1], expected)


@table(
    "op, source, target",
    ("vsunpack", "i16", "i32"),
    ("vzunpack", "ui16", "ui32"),
    ("vsunpack", "si8", "si16"),
    ("vzunpack", "i8", "i16"),
)
@pytest.mark.parametrize("part", [0, 1])
def test_unpack(op: str, source: str, target: str, part: int) -> None:
    n, g = lanes(target), granularity(target)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {mask(target)}
      %x = pto.vlds %ub_a[%c0] : {ub(source)} -> {vreg(source)}
      %r = pto.{op} %x, %c{part} : {vreg(source)} -> {vreg(target)}
      pto.vsts %r, %ub_y[%c0], %all : {vreg(target)}, {ub(target)}, {mask(target)}"""
    text = vector_kernel({"a": (source, 2 * n)}, {"y": (target, n)}, scope)
    a = data(source, 2 * n)
    half = a[part * n : part * n + n]
    expected = half.astype(dtype(target)) if op == "vsunpack" else half.view(word(source)).astype(word(target))
    equal(outcome(text, a, np.zeros(n, dtype(target)))[1], expected)


@pytest.mark.parametrize("element", ["f32", "i16", "ui8", "bf16"])
def test_squeeze(element: str) -> None:
    v, m, n, p, g = vreg(element), mask(element), lanes(element), ub(element), granularity(element)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {m}
      %on = pto.pset_{g} "PAT_M3" : {m}
      %x = pto.vlds %ub_a[%c0] : {p} -> {v}
      %r = pto.vsqz %x, %on : {v}, {m} -> {v}
      pto.vsts %r, %ub_y[%c0], %all : {v}, {p}, {m}"""
    text = vector_kernel({"a": (element, n)}, {"y": (element, n)}, scope)
    a = data(f"ui{bits(element)}", n)
    expected = np.zeros(n, word(element))
    kept = a[::3]
    expected[: kept.size] = kept
    equal(outcome(text, a, np.full(n, 9, word(element)))[1], expected)


@pytest.mark.parametrize("element", ["i32", "si16", "i8"])
@pytest.mark.parametrize("pattern", ["PAT_M3", "PAT_VL16", "PAT_ALL", "PAT_ALLF"])
def test_prefix_count(element: str, pattern: str) -> None:
    v, m, n, p, g = vreg(element), mask(element), lanes(element), ub(element), granularity(element)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {m}
      %on = pto.pset_{g} "{pattern}" : {m}
      %x = pto.vlds %ub_a[%c0] : {p} -> {v}
      %r = pto.vusqz %x, %on : {v}, {m} -> {v}
      pto.vsts %r, %ub_y[%c0], %all : {v}, {p}, {m}"""
    text = vector_kernel({"a": (element, n)}, {"y": (element, n)}, scope)
    on = {
        "PAT_M3": np.arange(n) % 3 == 0,
        "PAT_VL16": np.arange(n) < 16,
        "PAT_ALL": np.arange(n) >= 0,
        "PAT_ALLF": np.arange(n) < 0,
    }[pattern]
    counts = np.concatenate([[0], np.cumsum(on)[:-1]]) % 2 ** bits(element)
    equal(outcome(text, data(element, n), np.zeros(n, dtype(element)))[1], counts.astype(word(element)))


def test_edges_are_covered() -> None:
    assert {np.isnan(v) for v in edges("f32")} == {False, True}
