"""Multiply-adds, scaled conversions, sorts and merges, in kernels as people write them."""

from fractions import Fraction

import numpy as np
import pytest

from golden.numbers import FLOATS, data, dtype, equal, word
from golden.program import bits, granularity, lanes, mask, module, outcome, tail_loop, ub, vector_kernel, vreg

N, LOGICAL = 1024, 1000
ON = np.arange(N) < LOGICAL


def run(line: str, element: str, inputs: dict[str, np.ndarray], before: str = "", store: str = "%all") -> np.ndarray:
    v, m, p = vreg(element), mask(element), ub(element)
    loads = "\n".join(f"        %v{n} = pto.vlds %ub_{n}[%offset] : {p} -> {v}" for n in inputs)
    body = tail_loop(
        element, N, LOGICAL, f"{loads}\n        {line}\n        pto.vsts %r, %ub_y[%offset], {store} : {v}, {p}, {m}"
    )
    text = vector_kernel(dict.fromkeys(inputs, (element, N)), {"y": (element, N)}, body, before=before)
    return outcome(text, *inputs.values(), np.full(N, 0x5A, word(element)).view(dtype(element)))[-1]


def once_rounded(exact: list[Fraction | float], element: str) -> np.ndarray:
    """Rationals to a float type with one rounding: f32 through the decimal string of Python's own exact division."""
    out = np.zeros(len(exact), dtype(element))
    for i, value in enumerate(exact):
        if isinstance(value, float):
            out[i] = value
            continue
        with np.errstate(over="ignore"):
            near = np.array(float(value)).astype(dtype(element))
        if not np.isfinite(near.astype(np.float64)):
            out[i] = near
            continue
        candidates = [
            near,
            np.nextafter(near, dtype(element).type(np.inf)),
            np.nextafter(near, dtype(element).type(-np.inf)),
        ]
        finite = [c for c in candidates if np.isfinite(c.astype(np.float64))]
        out[i] = min(finite, key=lambda c: (abs(Fraction(float(c)) - value), int(c.view(word(element))) & 1))
    return out


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("op", ["vaxpy", "vmula", "vmadd"])
def test_multiply_add_rounds_once_and_keeps_inactive_lanes(op: str, element: str) -> None:
    random = np.random.default_rng(1)
    a, b, c = (random.uniform(-4, 4, N).astype(dtype(element)) for _ in range(3))
    ulp = dtype(element).type(2.0 ** (-23 if element == "f32" else -10))
    a[:4], b[:4], c[:4] = 1 + ulp, 1 + ulp, [-1, -(1 + 2 * ulp), ulp * ulp, 1]
    v, m = vreg(element), mask(element)
    fa, fb, fc = ([Fraction(float(x)) for x in values] for values in (a, b, c))
    if op == "vaxpy":
        line = f"%r = pto.vaxpy %va, %vb, %s, %mask : {v}, {v}, {element}, {m} -> {v}"
        alpha = Fraction(1, 8)
        exact = [alpha * x + y for x, y in zip(fa, fb, strict=True)]
        kept = b
    elif op == "vmula":
        line = f"%r = pto.vmula %vc, %va, %vb, %mask : {v}, {v}, {v}, {m} -> {v}"
        exact = [z + x * y for x, y, z in zip(fa, fb, fc, strict=True)]
        kept = c
    else:
        line = f"%r = pto.vmadd %va, %vb, %vc, %mask : {v}, {v}, {v}, {m} -> {v}"
        exact = [x * y + z for x, y, z in zip(fa, fb, fc, strict=True)]
        kept = a
    out = run(line, element, {"a": a, "b": b, "c": c}, before=f"    %s = arith.constant 1.250000e-01 : {element}")
    expected = np.where(ON, once_rounded(list(exact), element), kept).astype(dtype(element))
    nonzero = expected.astype(np.float64) != 0
    equal(out[nonzero], expected[nonzero])
    assert (out[~nonzero].astype(np.float64) == 0).all()


def test_scaled_conversion_to_halves() -> None:
    v, w = vreg("f32"), vreg("f16")
    scope = f"""      %on, %rest = pto.plt_b32 %c60_i32 : i32 -> !pto.mask<b32>, i32
      %all = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>
      %x = pto.vlds %ub_a[%c0] : {ub("f32")} -> {v}
      %e = pto.vmulscvt %x, %s, %on, "A", "EVEN" : {v}, f32, !pto.mask<b32> -> {w}
      %o = pto.vmulscvt %x, %s, %on, "A", "ODD" : {v}, f32, !pto.mask<b32> -> {w}
      pto.vsts %e, %ub_y[%c0], %all : {w}, {ub("f16")}, !pto.mask<b16>
      pto.vsts %o, %ub_y[%c128], %all : {w}, {ub("f16")}, !pto.mask<b16>"""
    text = vector_kernel({"a": ("f32", 64)}, {"y": ("f16", 256)}, scope, before="    %s = arith.constant 3.0 : f32")
    a = data("f32", 64)
    a[:4] = [(1 + 2.0**-11) / 3, -(1 + 2.0**-11) / 3, 1e6, 0]
    out = outcome(text, a, np.zeros(256, "f2"))[1]
    product = a * np.float32(3)
    exact = np.abs(product.astype("f8"))
    down = np.minimum(exact, 65504).astype("f2")
    down = np.where(down.astype("f8") > exact, np.nextafter(down, np.float16(0)), down).astype("f2")
    with np.errstate(over="ignore"):
        up = np.nextafter(down, np.float16(np.inf))
        away = np.where(exact - down.astype("f8") >= up.astype("f8") - exact, up, down)
    expected = np.copysign(np.minimum(away, np.float16(65504)), product).astype("f2")
    expected[60:] = 0
    equal(out[:128:2], expected)
    equal(out[129::2], expected)
    assert not out[1:128:2].any() and not out[128::2].any()


# --- sorting ----------------------------------------------------------------------------------------------------------


def queued(inputs: dict[str, tuple[str, int]], outputs: dict[str, tuple[str, int]], work: str, after: str = "") -> str:
    """A kernel whose work stands between the copies, outside of any scope."""
    text = vector_kernel(inputs, outputs, "    WORK")
    start, end = text.index("    pto.vecscope {"), text.index('    pto.set_flag["PIPE_V", "PIPE_MTE3"')
    body = text[:start] + work + "\n" + text[end:]
    body = body.replace("    pto.barrier #pto.pipe<PIPE_ALL>", f"{after}    pto.barrier #pto.pipe<PIPE_ALL>")
    inner = body[body.index("attributes {pto.aicore} {") + len("attributes {pto.aicore} {") : body.rindex("    return")]
    inner = "\n".join(line for line in inner.split("\n") if "= arith.constant" not in line)
    parameters = body[body.index("@kernel(") + len("@kernel(") : body.index(") attributes {pto.aicore}")]
    return module(inner, parameters)


@pytest.mark.parametrize("score, size", [("f32", 4), ("f16", 2)])
@pytest.mark.parametrize("repeat", [1, 3])
def test_sort_of_thirty_two(score: str, size: int, repeat: int) -> None:
    n = 32 * repeat
    text = queued(
        {"s": (score, n), "i": ("ui32", n)},
        {"y": ("ui32", 2 * n)},
        f"    pto.vbitsort %ub_y, %ub_s, %ub_i, %c{repeat} : {ub('ui32')}, {ub(score)}, {ub('ui32')}, index",
    )
    scores = np.random.default_rng(0).integers(-4, 4, n).astype(dtype(score))
    scores[:3] = [0.0, -0.0, 0.0]
    scores[5] = np.array(-1, f"i{size}").view(dtype(score))
    index = data("ui32", n)
    out = outcome(text, scores, index, np.zeros(2 * n, "u4"))[2].reshape(repeat, 32, 2)
    for r in range(repeat):
        s, i = scores[32 * r : 32 * r + 32], index[32 * r : 32 * r + 32]
        order = sorted(range(32), key=lambda k: np.inf if np.isnan(s[k]) else -float(s[k]))
        equal(out[r][:, 0], np.array([int(s[k].view(word(score))) for k in order], "u4"))
        equal(out[r][:, 1], i[order])


def records(scores: list[float], first: int) -> np.ndarray:
    out = np.zeros((len(scores), 2), "u4")
    out[:, 0] = np.array(scores, "f4").view("u4")
    out[:, 1] = np.arange(first, first + len(scores))
    return out


def merge(lists: list[np.ndarray], config: int, room: int, counts: list[int] | None = None) -> list[np.ndarray]:
    """Four lists of records at %ub_a + 256 bytes each; counts of what was used come back through scalar stores."""
    counts = counts or [len(part) for part in lists]
    packed = sum(c << (16 * i) for i, c in enumerate(counts))
    p = ub("f32")
    work = "\n".join(f"    %l{i} = pto.addptr %ub_a, %c{64 * i} : {p} -> {p}" for i in range(4))
    work += (
        "\n"
        f"    pto.vmrgsort4 %ub_y, %l0, %l1, %l2, %l3, %c{packed}_i64, %c{config}_i64"
        f" : {', '.join([p] * 5)}, i64, i64"
    )
    after = """    pto.set_flag["PIPE_V", "PIPE_S", "EVENT_ID1"]
    pto.wait_flag["PIPE_V", "PIPE_S", "EVENT_ID1"]
    %n0, %n1, %n2, %n3 = pto.get_vms4_sr : i16, i16, i16, i16
""" + "".join(
        f"""    %w{i} = arith.extui %n{i} : i16 to i64
    pto.store_scalar %w{i}, %gm_n[%c{i}] : !pto.ptr<i64, gm>, i64
"""
        for i in range(4)
    )
    text = queued({"a": ("f32", 256)}, {"y": ("f32", room)}, work, after)
    text = text.replace("%gm_y: !pto.ptr<f32, gm>", "%gm_y: !pto.ptr<f32, gm>, %gm_n: !pto.ptr<i64, gm>")
    a = np.zeros((4, 32, 2), "u4")
    for i, part in enumerate(lists):
        a[i, : len(part)] = part
    return outcome(text, a.view("f4").reshape(-1), np.full(room, -1, "f4"), np.full(4, -1, "i8"))


def test_merge_that_stops_at_the_first_exhausted_list() -> None:
    lists = [records([s], 10 * i) for i, s in enumerate([9, 7, 8, 6])]
    _, y, n = merge(lists, 0x1F01, 64)
    assert y.view("u4")[:2].tolist() == lists[0][0].tolist() and (y[2:] == -1).all()
    assert n.tolist() == [1, 0, 0, 0]


def test_merge_of_four_lists() -> None:
    lists = [records([9, 5, 5, 1], 0), records([9, 8, 5], 100), records([4], 200), records([7, 5, 0, -3, -9], 300)]
    _, y, n = merge(lists, 0x0F01, 64)
    every = [(float(r[:1].view("f4")[0]), i, k, r) for i, part in enumerate(lists) for k, r in enumerate(part)]
    order = sorted(every, key=lambda e: (-e[0], e[1], e[2]))
    assert y.view("u4")[:26].tolist() == [int(w) for e in order for w in e[3]] and (y[26:] == -1).all()
    assert n.tolist() == [4, 3, 1, 5]


def test_merge_of_two_lists_does_not_read_the_others() -> None:
    lists = [records([3, 1], 0), records([2], 5), records([100], 7), records([200], 8)]
    _, y, n = merge(lists, 0x0301, 64)
    assert y[:6:2].tolist() == [3, 2, 1] and (y[6:] == -1).all()
    assert n.tolist() == [2, 1, 0, 0]


def test_float_types_are_known() -> None:
    assert {bits(e) for e in FLOATS} == {16, 32} and granularity("f16") == "b16" and lanes("f32") == 64
