"""Broadcast, unary, binary, vector-scalar, shift and carry kernels over edge values, tails and full registers."""

from collections.abc import Callable

import numpy as np
import pytest

from golden.numbers import FLOATS, active, canonical, close, data, dtype, edges, equal, pairs, word, zeroed
from golden.program import bits, granularity, lanes, mask, outcome, tail_loop, ub, vector_kernel, vreg
from tables import table

N, LOGICAL = 1024, 1000
INTEGERS = [f"{sign}i{width}" for width in (8, 16, 32) for sign in ("", "s", "u")]


def loop(
    op: str, element: str, operands: int, scalar: str = "", scalar_type: str = "", result_mask: str = "%all"
) -> str:
    v, m, p = vreg(element), mask(element), ub(element)
    loads = "\n".join(f"        %v{i} = pto.vlds %ub_{n}[%offset] : {p} -> {v}" for i, n in enumerate("ab"[:operands]))
    names = ", ".join(f"%v{i}" for i in range(operands)) + (f", {scalar}" if scalar else "")
    types = ", ".join([v] * operands) + (f", {scalar_type}" if scalar else "")
    return tail_loop(
        element,
        N,
        LOGICAL,
        f"""{loads}
        %r = pto.{op} {names}, %mask : {types}, {m} -> {v}
        pto.vsts %r, %ub_y[%offset], {result_mask} : {v}, {p}, {m}""",
    )


def run(
    op: str, element: str, *inputs: np.ndarray, scalar: str = "", scalar_type: str = "", before: str = ""
) -> np.ndarray:
    text = vector_kernel(
        {name: (element, N) for name, _ in zip("ab", inputs, strict=False)},
        {"y": (element, N)},
        loop(op, element, len(inputs), scalar, scalar_type),
        before=before,
    )
    y = np.full(N, 0x5A, word(element)).view(dtype(element))
    return outcome(text, *inputs, y)[-1]


def widened(function: Callable[..., np.ndarray], element: str) -> Callable[..., np.ndarray]:
    """A float function evaluated in double and rounded once."""

    def rounded(*inputs: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            exact = function(*(i.astype(np.float64) for i in inputs))
            if element == "bf16":
                exact = exact.astype(np.float32)
            return canonical(exact.astype(dtype(element)), element)

    return rounded


def maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    r = np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, r)


def minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    r = np.where((a < b) | ((a == b) & np.signbit(a)), a, b)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, r)


FLOAT_BINARY: dict[str, Callable[..., np.ndarray]] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vmul": np.multiply,
    "vdiv": np.divide,
    "vmax": maximum,
    "vmin": minimum,
}


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("op", FLOAT_BINARY)
def test_float_binary(op: str, element: str) -> None:
    if op == "vdiv" and element == "bf16":
        return
    a, b = pairs(element, N)
    expected = widened(FLOAT_BINARY[op], element)(a, b)
    equal(run(op, element, a, b), zeroed(expected, active(element, N, LOGICAL), element))


INTEGER_BINARY: dict[str, Callable[..., np.ndarray]] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vmul": np.multiply,
    "vmax": np.maximum,
    "vmin": np.minimum,
    "vand": np.bitwise_and,
    "vor": np.bitwise_or,
    "vxor": np.bitwise_xor,
}


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("op", INTEGER_BINARY)
def test_integer_binary(op: str, element: str) -> None:
    if op == "vmul" and bits(element) == 8:
        return
    a, b = pairs(element, N)
    expected = INTEGER_BINARY[op](a, b)
    equal(run(op, element, a, b), zeroed(expected, active(element, N, LOGICAL), element))


@pytest.mark.parametrize("element", ["si16", "i16", "si32", "i32"])
def test_integer_division(element: str) -> None:
    a, b = pairs(element, N)
    b[b == 0] = 3
    width = bits(element)
    wide_a, wide_b = a.astype(object), b.astype(object)
    quotient = [
        abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) % 2**width for x, y in zip(wide_a, wide_b, strict=True)
    ]
    expected = np.array(quotient, dtype=word(element)).view(dtype(element))
    equal(run("vdiv", element, a, b), zeroed(expected, active(element, N, LOGICAL), element))


@pytest.mark.parametrize("op", ["vand", "vor", "vxor"])
@pytest.mark.parametrize("element", ["f16", "f32", "bf16"])
def test_bitwise_on_float_patterns(op: str, element: str) -> None:
    a, b = (data(f"ui{bits(element)}", N, seed).view(dtype(element)) for seed in (3, 4))
    expected = INTEGER_BINARY[op](a.view(word(element)), b.view(word(element))).view(dtype(element))
    equal(run(op, element, a, b), zeroed(expected, active(element, N, LOGICAL), element))


def test_special_sums_of_the_document() -> None:
    a = np.zeros(N, "f4")
    b = np.zeros(N, "f4")
    a[:5], b[:5] = [np.inf, -0.0, np.nan, 1, -0.0], [-np.inf, 0.0, 2, np.nan, -0.0]
    out = run("vadd", "f32", a, b)
    assert np.isnan(out[[0, 2, 3]]).all() and out.view("u4")[0] == 0x7FC00000
    assert out.view("u4")[1] == 0 and out.view("u4")[4] == 0x80000000


# --- unary ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("op", ["vabs", "vneg"])
def test_sign_operations_keep_payloads(op: str, element: str) -> None:
    if element == "bf16":
        return
    a, _ = pairs(element, N)
    sign = 1 << (bits(element) - 1)
    raw = a.view(word(element))
    expected = (raw & (sign - 1) if op == "vabs" else raw ^ sign).astype(word(element)).view(dtype(element))
    equal(run(op, element, a), zeroed(expected, active(element, N, LOGICAL), element))


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("op", ["vabs", "vneg", "vnot"])
def test_integer_unary(op: str, element: str) -> None:
    a, _ = pairs(element, N)
    with np.errstate(over="ignore"):
        expected = {
            "vabs": np.where(a < 0, (0 - a.view(word(element))).astype(word(element)).view(dtype(element)), a),
            "vneg": (0 - a.view(word(element))).astype(word(element)).view(dtype(element)),
            "vnot": ~a,
        }[op]
    equal(run(op, element, a), zeroed(expected, active(element, N, LOGICAL), element))


@pytest.mark.parametrize("element", ["f32", "f16", "si32", "i32"])
def test_relu(element: str) -> None:
    a, _ = pairs(element, N)
    if element in FLOATS:
        expected = canonical(np.where(np.isnan(a), a, np.where(a > 0, a, np.zeros_like(a))), element)
    else:
        expected = np.maximum(a, 0)
    equal(run("vrelu", element, a), zeroed(expected, active(element, N, LOGICAL), element))


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("op, function", [("vexp", np.exp), ("vln", np.log), ("vsqrt", np.sqrt)])
def test_elementary_functions(op: str, function: Callable[..., np.ndarray], element: str) -> None:
    a, _ = pairs(element, N)
    a[300:700] = np.linspace(-120, 104, 400).astype(dtype(element))
    a[700:900] = (
        np.geomspace(1.18e-38, 3.4e38, 200, dtype=np.float32).astype(dtype(element)) if element == "f32" else 1.5
    )
    expected = zeroed(widened(function, element)(a), active(element, N, LOGICAL), element)
    out = run(op, element, a)
    if op == "vsqrt":
        equal(out, expected)
    close(out, expected, 1e-4 if element == "f32" else 1e-2)
    # evaluated in double and rounded once: never more than one unit in the last place away
    assert np.abs(out.view(word(element)).astype(np.int64) - expected.view(word(element)).astype(np.int64)).max() <= 1


def test_named_special_results() -> None:
    a = np.ones(N, "f4")
    a[:9] = [-np.inf, np.inf, np.nan, 0.0, -0.0, 90, 104, -104, -120]
    e = run("vexp", "f32", a)[:9]
    equal(e[:7], np.array([0, np.inf, np.nan, 1, 1, np.inf, np.inf], "f4"))
    assert (e[7:] < 1e-40).all() and (e[7:] >= 0).all()
    ln = run("vln", "f32", a)[:5]
    assert np.isnan(ln[0]) and ln[1] == np.inf and np.isnan(ln[2]) and (ln[3:5] == -np.inf).all()
    root = run("vsqrt", "f32", a)[:5]
    assert np.isnan(root[0]) and root[1] == np.inf and root[3:5].view("u4").tolist() == [0, 0x80000000]


# --- vector-scalar ----------------------------------------------------------------------------------------------------

SCALARS = [
    ("f32", "3.140000e+00", "f32", np.float32(3.14)),
    ("f32", "0x7FC00000", "f32", np.float32(np.nan)),
    ("f16", "1.500000e+00", "f16", np.float16(1.5)),
    ("bf16", "1.500000e+00", "bf16", FLOATS["bf16"](1.5)),
    ("i16", "1024", "i16", np.int16(1024)),
    ("si16", "37", "i16", np.int16(37)),
    ("ui16", "4096", "i16", np.uint16(4096)),
    ("ui8", "-55", "i8", np.uint8(201)),
    ("si8", "-55", "i8", np.int8(-55)),
    ("ui32", "-1", "i32", np.uint32(0xFFFFFFFF)),
    ("i32", "-7", "i32", np.int32(-7)),
]


@pytest.mark.parametrize("element, literal, kind, value", SCALARS, ids=str)
@pytest.mark.parametrize("op", ["vadds", "vmuls", "vmaxs", "vmins"])
def test_vector_scalar(op: str, element: str, literal: str, kind: str, value: np.generic) -> None:
    if op == "vmuls" and bits(element) == 8:
        return
    a, _ = pairs(element, N)
    out = run(op, element, a, scalar="%s", scalar_type=kind, before=f"    %s = arith.constant {literal} : {kind}")
    b = np.full(N, value)
    function = (FLOAT_BINARY if element in FLOATS else INTEGER_BINARY)["v" + op[1:4]]
    with np.errstate(over="ignore"):
        expected = widened(function, element)(a, b) if element in FLOATS else function(a, b)
    equal(out, zeroed(expected, active(element, N, LOGICAL), element))


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("alpha", [0.125, -2.0])
def test_leaky_relu(element: str, alpha: float) -> None:
    a, _ = pairs(element, N)
    out = run(
        "vlrelu", element, a, scalar="%s", scalar_type=element, before=f"    %s = arith.constant {alpha:e} : {element}"
    )
    product = widened(lambda x: x * alpha, element)(a)
    with np.errstate(invalid="ignore"):
        expected = canonical(np.where(a >= 0, a, product), element)
    equal(out, zeroed(expected, active(element, N, LOGICAL), element))


# --- shifts -----------------------------------------------------------------------------------------------------------


def shifted(a: np.ndarray, count: np.ndarray, element: str, left: bool) -> np.ndarray:
    width = bits(element)
    out: list[int] = []
    for value, given in zip(a.tolist(), count.tolist(), strict=True):
        by = min(given % 2**width, width)
        out.append((value << by) % 2**width if left else (value >> by) % 2**width)
    return np.array(out, word(element)).view(dtype(element))


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("op", ["vshl", "vshr"])
def test_shifts_by_lane(op: str, element: str) -> None:
    a, _ = pairs(element, N)
    width = bits(element)
    count = (np.arange(N) % (width + 3)).astype(dtype(element))
    count[-40:] = -1 if not element.startswith("u") else 2**width - 1
    expected = shifted(a, count, element, op == "vshl")
    equal(run(op, element, a, count), zeroed(expected, active(element, N, LOGICAL), element))


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("count", [0, 3, 7, 15, 31, 40, -1])
@pytest.mark.parametrize("op", ["vshls", "vshrs"])
def test_shifts_by_a_scalar(op: str, element: str, count: int) -> None:
    a, _ = pairs(element, N)
    out = run(op, element, a, scalar="%s", scalar_type="i16", before=f"    %s = arith.constant {count} : i16")
    # an out-of-range count, -1 read as 65535, clears the lane or fills it with the sign
    expected = shifted(a, np.full(N, min(count % 65536, bits(element))), element, op == "vshls")
    equal(out, zeroed(expected, active(element, N, LOGICAL), element))


@pytest.mark.parametrize("count_type", ["ui16", "i16"])
def test_signed_data_takes_counts_of_any_signedness(count_type: str) -> None:
    v, c, m = vreg("si16"), vreg(count_type), mask("si16")
    body = tail_loop(
        "si16",
        N,
        N,
        f"""        %v = pto.vlds %ub_a[%offset] : {ub("si16")} -> {v}
        %n = pto.vlds %ub_b[%offset] : {ub(count_type)} -> {c}
        %r = pto.vshr %v, %n, %mask : {v}, {c}, {m} -> {v}
        pto.vsts %r, %ub_y[%offset], %mask : {v}, {ub("si16")}, {m}""",
    )
    text = vector_kernel({"a": ("si16", N), "b": (count_type, N)}, {"y": ("si16", N)}, body)
    a, b = data("si16", N), (np.arange(N) % 16).astype(np.int16)
    equal(outcome(text, a, b, np.zeros(N, "i2"))[-1], a >> b)


# --- broadcast --------------------------------------------------------------------------------------------------------


@table(
    "element, literal, kind, value",
    ("f32", "1.25", "f32", np.float32(1.25)),
    ("i32", "7", "i32", np.int32(7)),
    ("si8", "-7", "i8", np.int8(-7)),
    ("ui8", "-55", "i8", np.uint8(201)),
    ("bf16", "-2.5", "bf16", FLOATS["bf16"](-2.5)),
    ("f16", "1.25", "f16", np.float16(1.25)),
)
def test_broadcast_of_a_scalar(element: str, literal: str, kind: str, value: np.generic) -> None:
    v, m, p, g, n = vreg(element), mask(element), ub(element), granularity(element), lanes(element)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {m}
      %some = pto.pset_{g} "PAT_M3" : {m}
      %b = pto.vbr %s : {kind} -> {v}
      %d = pto.vdup %s, %some : {kind}, {m} -> {v}
      pto.vsts %b, %ub_y[%c0], %all : {v}, {p}, {m}
      pto.vsts %d, %ub_y[%c{n}], %all : {v}, {p}, {m}"""
    text = vector_kernel({}, {"y": (element, 2 * n)}, scope, before=f"    %s = arith.constant {literal} : {kind}")
    out = outcome(text, np.zeros(2 * n, dtype(element)))[0]
    equal(out[:n], np.full(n, value))
    equal(out[n:], np.where(np.arange(n) % 3 == 0, value, 0).astype(dtype(element)))


@pytest.mark.parametrize("element", ["f32", "f16", "ui8", "si16"])
def test_broadcast_of_a_lane(element: str) -> None:
    v, m, p, g, n = vreg(element), mask(element), ub(element), granularity(element), lanes(element)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {m}
      %some = pto.pset_{g} "PAT_H" : {m}
      %x = pto.vlds %ub_a[%c0] : {p} -> {v}
      %first = pto.vdup %x, %all : {v}, {m} -> {v}
      %lowest = pto.vdup %x, %some {{position = "LOWEST"}} : {v}, {m} -> {v}
      %highest = pto.vdup %x, %some {{position = "HIGHEST"}} : {v}, {m} -> {v}
      pto.vsts %first, %ub_y[%c0], %all : {v}, {p}, {m}
      pto.vsts %lowest, %ub_y[%c{n}], %all : {v}, {p}, {m}
      pto.vsts %highest, %ub_y[%c{2 * n}], %all : {v}, {p}, {m}"""
    text = vector_kernel({"a": (element, n)}, {"y": (element, 3 * n)}, scope)
    a = data(element, n)
    out = outcome(text, a, np.zeros(3 * n, dtype(element)))[1]
    half = np.arange(n) < n // 2
    equal(out[:n], np.full(n, a[0]))
    equal(out[n : 2 * n], np.where(half, a[0], 0).astype(dtype(element)))
    equal(out[2 * n :], np.where(half, a[-1], 0).astype(dtype(element)))


# --- carry ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["i32", "si32", "ui32"])
@pytest.mark.parametrize("op", ["vaddc", "vsubc", "vaddcs", "vsubcs"])
@pytest.mark.parametrize("carry_in", ["PAT_ALL", "PAT_ALLF", "PAT_M3"])
def test_carry_chain(op: str, element: str, carry_in: str) -> None:
    v, m, p = vreg(element), "!pto.mask<b32>", ub(element)
    with_carry = op.endswith("cs")
    names, types = ("%va, %vb, %cin, %on", f"{v}, {v}, {m}, {m}") if with_carry else ("%va, %vb, %on", f"{v}, {v}, {m}")
    scope = f"""      %all = pto.pset_b32 "PAT_ALL" : {m}
      %cin = pto.pset_b32 "{carry_in}" : {m}
      %on, %rest = pto.plt_b32 %c61_i32 : i32 -> {m}, i32
      %va = pto.vlds %ub_a[%c0] : {p} -> {v}
      %vb = pto.vlds %ub_b[%c0] : {p} -> {v}
      %d, %c = pto.{op} {names} : {types} -> {v}, {m}
      pto.vsts %d, %ub_y[%c0], %all : {v}, {p}, {m}
      pto.psti %c, %ub_carry[%c0], "NORM" : {m}, {ub("ui32")}, index"""
    text = vector_kernel({"a": (element, 64), "b": (element, 64)}, {"y": (element, 64), "carry": ("ui32", 8)}, scope)
    random = np.random.default_rng(5)
    known_a = [
        0xFFFFFFFF,
        0xFFFFFFFE,
        0x80000000,
        0x7FFFFFFF,
        0,
        1,
        0xFFFFFFFE,
        0xFFFFFFFF,
        0x7FFFFFFF,
        0xAAAAAAAA,
        0,
        0,
        0xFFFFFFFF,
    ]
    known_b = [1, 2, 0x80000000, 1, 0, 0xFFFFFFFF, 1, 0, 0x80000000, 0x55555555, 1, 0xFFFFFFFF, 0xFFFFFFFF]
    a = np.array(known_a + random.integers(0, 2**32, 51).tolist(), np.uint64)
    b = np.array(known_b + random.integers(0, 2**32, 51).tolist(), np.uint64)
    cin = {"PAT_ALL": np.ones(64), "PAT_ALLF": np.zeros(64), "PAT_M3": np.arange(64) % 3 == 0}[carry_in].astype(
        np.int64
    )
    on = np.arange(64) < 61
    ia, ib = a.astype(np.int64), b.astype(np.int64)
    if op == "vaddc":
        t, carry = ia + ib, (ia + ib) >> 32
    elif op == "vaddcs":
        t, carry = ia + ib + cin, (ia + ib + cin) >> 32
    elif op == "vsubc":
        t, carry = ia - ib, (ia >= ib).astype(np.int64)
    else:
        t, carry = ia - ib - (1 - cin), (ia >= ib + (1 - cin)).astype(np.int64)
    out = outcome(text, a.astype("u4"), b.astype("u4"), np.zeros(64, "u4"), np.zeros(8, "u4"))
    equal(out[2], np.where(on, t % 2**32, 0).astype("u4"))
    image = np.zeros(256, "u1")
    image[::4] = (carry == 1) & on
    equal(out[3], np.packbits(image, bitorder="little").view("u4"))


# --- loops and edges --------------------------------------------------------------------------------------------------


def test_a_register_carried_through_an_inner_loop() -> None:
    v, m, p = vreg("f32"), mask("f32"), ub("f32")
    body = tail_loop(
        "f32",
        N,
        LOGICAL,
        f"""        %v = pto.vlds %ub_a[%offset] : {p} -> {v}
        %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%acc = %v) -> ({v}) {{
          %twice = pto.vadd %acc, %acc, %mask : {v}, {v}, {m} -> {v}
          scf.yield %twice : {v}
        }}
        pto.vsts %r, %ub_y[%offset], %mask : {v}, {p}, {m}""",
    )
    text = vector_kernel({"a": ("f32", N)}, {"y": ("f32", N)}, body)
    a = data("f32", N)
    out = outcome(text, a, np.full(N, 9, "f4"))[1]
    equal(out, np.where(np.arange(N) < LOGICAL, a * 8, np.float32(9)).astype("f4"))


def test_overlapping_stores_of_bytes_and_copies_past_the_end_of_the_argument() -> None:
    """256-lane stores at steps of 128; 32 rows of 128 bytes are copied to an argument of 1024 bytes."""
    v, m, p = vreg("ui8"), mask("ui8"), ub("ui8")
    scope = f"""      %all = pto.pset_b8 "PAT_ALL" : {m}
      scf.for %i = %c0 to %c1024 step %c128 {{
        %d = pto.vdup %s, %all : i8, {m} -> {v}
        pto.vsts %d, %ub_y[%i], %all : {v}, {p}, {m}
      }}"""
    text = vector_kernel({}, {"y": ("ui8", 1024)}, scope, before="    %s = arith.constant -83 : i8", preload=False)
    text = text.replace(
        "%c1024_i64 nburst(%c1_i64, %c1024_i64, %c1024_i64)", "%c128_i64 nburst(%c32_i64, %c128_i64, %c128_i64)"
    )
    for literal, kind in (("128", "i64"), ("32", "i64")):
        text = text.replace(
            "    %ub_y =", f"    %c{literal}_{kind} = arith.constant {literal} : {kind}\n    %ub_y =", 1
        )
    out = outcome(text, np.zeros(1024, "u1"), clean=False, oob="drop")[0]
    equal(out, np.full(1024, 173, "u1"))


@pytest.mark.parametrize("element", ["f32", "i16"])
def test_an_edge_table_survives_a_plain_copy(element: str) -> None:
    table = np.resize(edges(element).view(word(element)), N)
    body = tail_loop(
        element,
        N,
        N,
        f"""        %v = pto.vlds %ub_a[%offset] : {ub(element)} -> {vreg(element)}
        pto.vsts %v, %ub_y[%offset], %mask : {vreg(element)}, {ub(element)}, {mask(element)}""",
    )
    text = vector_kernel({"a": (element, N)}, {"y": (element, N)}, body)
    equal(outcome(text, table, np.zeros(N, word(element)))[1], table)
