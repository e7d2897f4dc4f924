"""Numbers of the native engine, bit for bit those of the reference engine: NaNs, 16-bit floats, fma, exp, log, sums."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from native.applied import Array, Lowering, apply, assert_same_bits
from native.compiled import Bench
from ptosim.effects.element import element
from ptosim.native.host.toolchain import Host, this_host
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F16, F32, F64, I16, Value
from ptosim.native.vector import elementary, numbers
from ptosim.reference.numeric import elementary as reference_elementary
from ptosim.reference.numeric import float_lanes as reference
from reference import exact

TYPES = {"f32": F32, "f16": F16, "bf16": I16}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def patterns(name: str, seed: int = 0) -> Array:
    """Every pattern of a 16-bit type; for f32 random ones, ordinary numbers and edges."""
    if name == "f32":
        return exact.some_f32(30 + seed)
    return exact.all_f16() if name == "f16" else exact.all_bf16()


def pairs(name: str) -> tuple[Array, Array]:
    """Operands that meet in every combination of kinds: shuffled patterns, and near neighbours."""
    a = patterns(name)
    random = np.random.default_rng(31)
    shuffled = a[random.permutation(len(a))]
    near = (a.view(f"u{a.itemsize}") ^ random.integers(0, 1 << 9, len(a)).astype(f"u{a.itemsize}")).view(a.dtype)
    return np.concatenate([a, a]), np.concatenate([shuffled, near])


# --- NaNs and 16-bit floats -------------------------------------------------------------------------------------------


def test_lane_types_have_the_width_of_their_element() -> None:
    for name in ("i8", "ui64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "hif8x2", "bf16x2"):
        assert numbers.lane_type(element(name)).bits == element(name).bits


def test_canonical() -> None:
    x = patterns("f32")
    assert_same_bits(apply(lambda _, v: numbers.canonical(v), [(x, F32)], "f4"), reference.canonical(x.copy()), x)


def test_bf16_to_f32() -> None:
    x = exact.all_bf16()
    assert_same_bits(apply(lambda _, v: numbers.bf16_to_f32(v), [(x, I16)], "f4"), reference.bf16_to_f32(x), x)


def test_f32_to_bf16() -> None:
    x = patterns("f32")
    assert_same_bits(apply(lambda _, v: numbers.f32_to_bf16(v), [(x, F32)], "u2"), reference.f32_to_bf16(x), x)


def test_f32_to_f16() -> None:
    x = patterns("f32")
    expected = reference.narrow(element("f16"), x)
    assert_same_bits(apply(lambda _, v: numbers.f32_to_f16(v), [(x, F32)], "f2"), expected, x)


ARITHMETIC: dict[str, Callable[[object, object], object]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("operation", ARITHMETIC)
def test_arithmetic_between_widen_and_narrow(name: str, operation: str) -> None:
    kind, (a, b) = element(name), pairs(name)
    compute = ARITHMETIC[operation]

    def lowering(_: FunctionBuilder, x: Value, y: Value) -> Value:
        return numbers.narrow(kind, compute(numbers.widen(kind, x), numbers.widen(kind, y)))

    expected = reference.narrow(kind, compute(reference.widen(kind, a), reference.widen(kind, b)))
    assert_same_bits(apply(lowering, [(a, TYPES[name]), (b, TYPES[name])], a.dtype), expected, a, b)


@pytest.mark.parametrize("extremum", ["maximum", "minimum"])
def test_extrema(extremum: str) -> None:
    a, b = pairs("f32")
    zeros = np.array([0.0, -0.0, 0.0, -0.0], np.float32)
    a, b = np.concatenate([a, zeros]), np.concatenate([b, zeros[[1, 0, 0, 1]]])
    result = apply(getattr(numbers, extremum), [(a, F32), (b, F32)], "f4")
    assert_same_bits(result, getattr(reference, extremum)(a, b), a, b)


# --- fused multiply-add -----------------------------------------------------------------------------------------------


def triples(name: str) -> list[Array]:
    a, b = pairs(name)
    c = a[np.random.default_rng(32).permutation(len(a))]
    fraction = exact.FORMATS[name][0]
    random = np.random.default_rng(33)
    # c, and half of its last place times next to one: the bits that only a single rounding sees decide
    odd = 1 + random.integers(0, 1 << fraction, 4000) * 2.0**-fraction
    half = (1 + random.integers(-3, 4, 4000) * 2.0**-fraction) * 2.0 ** -(fraction + 1) * random.choice([-1, 1], 4000)
    one = 1 + random.integers(-3, 4, 4000) * 2.0**-fraction
    near = [reference.narrow(element(name), v.astype(np.float32)) for v in (half, one, odd)]
    return [np.concatenate([x, y]) for x, y in zip((a, b, c), near, strict=True)]


@pytest.mark.parametrize("name", TYPES)
def test_fused_multiply_add(name: str) -> None:
    kind, operands = element(name), triples(name)

    def lowering(function: FunctionBuilder, a: Value, b: Value, c: Value) -> Value:
        return numbers.fused_multiply_add(function, kind, a, b, c)

    result = apply(lowering, [(x, TYPES[name]) for x in operands], operands[0].dtype)
    assert_same_bits(result, reference.fused_multiply_add(kind, *operands), *operands)


def test_f64_to_f32_odd() -> None:
    random = np.random.default_rng(34)
    x = random.integers(0, 1 << 63, 50_000).view(np.float64)
    x = np.concatenate([x, -x, exact.some_f32(35, 20_000).astype(np.float64), random.normal(0, 1, 20_000) * 2.0**-140])
    x = x[~np.isnan(x)]
    result = apply(numbers.f64_to_f32_odd, [(x, F64)], "f4")
    assert_same_bits(result, reference.f64_to_f32_odd(x), x)


# --- exp, log, sqrt, division -----------------------------------------------------------------------------------------


def arguments(name: str) -> Array:
    if name == "f16":
        return exact.all_f16()
    random = np.random.default_rng(36)
    return np.concatenate([exact.some_f32(37), random.uniform(-105, 90, 100_000).astype(np.float32)])


def elementary_lowering(operation: str, name: str) -> Lowering:
    kind = element(name)
    return {
        "exp": lambda function, x: elementary.exp(function, kind, x),
        "log": lambda function, x: elementary.log(function, kind, x),
        "sqrt": lambda function, x: elementary.sqrt(function, kind, x),
    }[operation]


@pytest.mark.parametrize("name", ["f32", "f16"])
@pytest.mark.parametrize("operation", ["exp", "log", "sqrt"])
def test_elementary(name: str, operation: str) -> None:
    x = arguments(name)
    result = apply(elementary_lowering(operation, name), [(x, TYPES[name])], x.dtype)
    assert_same_bits(result, getattr(reference_elementary, operation)(x), x)


# --- sums, sort keys --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "lanes"), [("f32", 64), ("f16", 128)])
@pytest.mark.parametrize("groups", [1, 8])
def test_tree_sum(name: str, lanes: int, groups: int) -> None:
    random = np.random.default_rng(38)
    kind = element(name)
    rows = random.normal(0, 1, (50, lanes)) * 2.0 ** random.integers(-8, 12, (50, lanes))
    rows = rows.astype(np.float32).astype(reference.dtype_of(kind))
    rows[0], rows[1, :2], rows[2, 5] = -0.0, (np.inf, -np.inf), np.nan

    def build(function: FunctionBuilder, memory: Value) -> list[Value]:
        return [numbers.tree_sum(function, kind, memory.load(TYPES[name].vector(lanes)), groups)]

    bench = Bench(build)
    for row in rows:
        result = np.frombuffer(bench.run(memory=row.tobytes()).results[0], row.dtype)[:groups]
        assert_same_bits(result, np.atleast_1d(reference.tree_sum(row.reshape(groups, -1))))


@pytest.mark.parametrize("name", ["f32", "f16"])
def test_sort_key(name: str) -> None:
    x = patterns(name)
    result = apply(lambda _, v: numbers.sort_key(v), [(x, TYPES[name])], f"u{x.itemsize}")
    assert_same_bits(result, reference.sort_key(x), x)


# --- another processor ------------------------------------------------------------------------------------------------


def portable_host() -> Host:
    """A processor without the 512-bit instructions that this one may have; elsewhere the processor itself."""
    host = this_host()
    return Host(host.triple, "x86-64-v3") if host.triple.startswith("x86_64") else host


@pytest.mark.parametrize("operation", ["exp", "log", "sqrt"])
def test_elementary_on_a_portable_processor(operation: str) -> None:
    x = arguments("f32")
    result = apply(elementary_lowering(operation, "f32"), [(x, F32)], "f4", host=portable_host())
    assert_same_bits(result, getattr(reference_elementary, operation)(x), x)


def test_16_bit_floats_on_a_portable_processor() -> None:
    kind, operands = element("f16"), triples("f16")

    def lowering(function: FunctionBuilder, a: Value, b: Value, c: Value) -> Value:
        return numbers.fused_multiply_add(function, kind, a, b, c)

    result = apply(lowering, [(x, F16) for x in operands], "f2", host=portable_host())
    assert_same_bits(result, reference.fused_multiply_add(kind, *operands), *operands)
