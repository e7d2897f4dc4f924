"""Every scalar operation on every type it takes, on edge values and random ones: both engines, bit for bit.

Integers, comparisons and casts between integers have a formula besides; test_scalar.py has floats.
"""

from collections.abc import Callable
from functools import lru_cache

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from both_engines import agree, fails
from ptosim import api
from ptosim.effects.element import element

INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")
FLOATS = ("f16", "bf16", "f32", "f64")

Formula = Callable[[int, int, int, int], int]
"""Of both operands with their signs, and of both without."""

INTEGER: dict[str, Formula] = {
    "addi": lambda a, b, _, __: a + b,
    "subi": lambda a, b, _, __: a - b,
    "muli": lambda a, b, _, __: a * b,
    "andi": lambda a, b, _, __: a & b,
    "ori": lambda a, b, _, __: a | b,
    "xori": lambda a, b, _, __: a ^ b,
    "maxsi": lambda a, b, _, __: max(a, b),
    "minsi": lambda a, b, _, __: min(a, b),
    "maxui": lambda _, __, c, d: max(c, d),
    "minui": lambda _, __, c, d: min(c, d),
    "shli": lambda a, _, __, d: a << min(d, 64),
    "shrui": lambda _, __, c, d: c >> min(d, 64),
    "shrsi": lambda a, _, __, d: a >> min(d, 64),
}
DIVISIONS: dict[str, Formula] = {
    "divsi": lambda a, b, _, __: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "remsi": lambda a, b, _, __: abs(a) % abs(b) * (-1 if a < 0 else 1),
    "floordivsi": lambda a, b, _, __: a // b,
    "ceildivsi": lambda a, b, _, __: -(-a // b),
    "divui": lambda _, __, c, d: c // d,
    "remui": lambda _, __, c, d: c % d,
    "ceildivui": lambda _, __, c, d: -(-c // d),
}
EXTENDED: dict[str, Formula] = {
    "addui_extended": lambda _, __, c, d: c + d,
    "mulsi_extended": lambda a, b, _, __: a * b,
    "mului_extended": lambda _, __, c, d: c * d,
}
INTEGER_ORDERS: dict[str, Formula] = {
    "eq": lambda a, b, _, __: a == b,
    "ne": lambda a, b, _, __: a != b,
    "slt": lambda a, b, _, __: a < b,
    "sle": lambda a, b, _, __: a <= b,
    "sgt": lambda a, b, _, __: a > b,
    "sge": lambda a, b, _, __: a >= b,
    "ult": lambda _, __, c, d: c < d,
    "ule": lambda _, __, c, d: c <= d,
    "ugt": lambda _, __, c, d: c > d,
    "uge": lambda _, __, c, d: c >= d,
}
INTEGER_CASTS: dict[str, Formula] = {
    "extsi": lambda a, _, __, ___: a,
    "extui": lambda _, __, c, ___: c,
    "trunci": lambda a, _, __, ___: a,
    "index_cast": lambda a, _, __, ___: a,
    "index_castui": lambda _, __, c, ___: c,
}
FLOAT_BINARY = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()
FLOAT_UNARY = "arith.negf math.absf math.sqrt math.exp math.log math.floor math.ceil".split()
FLOAT_ORDERS = {
    "false": "",
    "oeq": "=",
    "ogt": ">",
    "oge": ">=",
    "olt": "<",
    "ole": "<=",
    "one": "<>",
    "ord": "<=>",
    "ueq": "=?",
    "ugt": ">?",
    "uge": ">=?",
    "ult": "<?",
    "ule": "<=?",
    "une": "<>?",
    "uno": "?",
    "true": "<=>?",
}
"""Where each holds: the left one is less, both are equal, it is greater, or one is no number."""

PAIRS = 64


def edges(kind: str) -> list[int]:
    """Bit patterns at which something changes."""
    bits = element(kind).bits
    top = 1 << (bits - 1)
    if not element(kind).is_float:
        return [value % (1 << bits) for value in (0, 1, 2, 3, 7, -1, -2, -7, top, top - 1, top + 1, bits, bits - 1)]
    infinity = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52}[kind]
    one = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF << 52}[kind]
    half = one - (1 << {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[kind])
    magnitudes = [0, 1, 2, half, one, one + 1, infinity - 1, infinity, infinity + 1, top - 1, infinity | infinity >> 1]
    return [sign | magnitude for magnitude in magnitudes for sign in (0, top)]


def patterns(kind: str, seed: int) -> np.ndarray:
    """Edge values against each other, then random ones: rows of two operands."""
    known = edges(kind)
    random = np.random.default_rng(seed)
    bits = element(kind).bits
    rows = [(a, b) for a in known for b in known]
    if kind == "f64":  # most random patterns are far too large or too small to be of interest
        rows += [tuple(int(x) for x in random.normal(0, 100, 2).view(np.uint64)) for _ in range(PAIRS)]
    rows += [tuple(int(x) % (1 << bits) for x in random.integers(0, 1 << 63, 2)) for _ in range(PAIRS)]
    return np.array(rows, np.uint64)


def stored(kind: str) -> str:
    """The type as which a scalar lies in memory."""
    return {"i1": "i8", "index": "i64", "f64": "i64"}.get(kind, kind)


FROM_MEMORY = {"i1": "arith.trunci", "index": "arith.index_cast", "f64": "arith.bitcast"}
TO_MEMORY = {"i1": "arith.extui", "index": "arith.index_cast", "f64": "arith.bitcast"}


def read(name: str, kind: str) -> str:
    memory = stored(kind)
    if memory == kind:
        return f"%{name} = pto.load_scalar %{name}_at[%i] : !pto.ptr<{memory}, gm> -> {memory}"
    load = f"%m_{name} = pto.load_scalar %{name}_at[%i] : !pto.ptr<{memory}, gm> -> {memory}"
    return f"{load}\n%{name} = {FROM_MEMORY[kind]} %m_{name} : {memory} to {kind}"


def write(name: str, kind: str) -> str:
    memory = stored(kind)
    if memory == kind:
        return f"pto.store_scalar %{name}, %{name}_at[%i] : !pto.ptr<{memory}, gm>, {memory}"
    cast = f"%s_{name} = {TO_MEMORY[kind]} %{name} : {kind} to {memory}"
    return f"{cast}\npto.store_scalar %s_{name}, %{name}_at[%i] : !pto.ptr<{memory}, gm>, {memory}"


@lru_cache(maxsize=1)
def kernel(line: str, taken: tuple[str, ...], given: tuple[str, ...]) -> api.Kernel:
    """One operation for each row of operands: `line` takes %a, %b … and gives %x, %y …"""
    operands = dict(zip("abc", taken, strict=False))
    results = dict(zip("xy", given, strict=False))
    pointers = ", ".join(f"%{name}_at: !pto.ptr<{stored(kind)}, gm>" for name, kind in {**operands, **results}.items())
    return api.load(f"""
    func.func @k({pointers}, %n: index) attributes {{pto.kernel}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {{
        {" ".join(chr(10) + read(name, kind) for name, kind in operands.items())}
        {line}
        {" ".join(chr(10) + write(name, kind) for name, kind in results.items())}
      }}
      return
    }}
    """).kernel()


def columns(kinds: tuple[str, ...], rows: np.ndarray) -> list[np.ndarray]:
    made = [np.ascontiguousarray(rows[:, number % 2]) for number in range(len(kinds))]
    return [column.astype(f"u{element(stored(kind)).bytes}") for column, kind in zip(made, kinds, strict=True)]


def compare(
    line: str, taken: tuple[str, ...], given: tuple[str, ...], rows: np.ndarray, formula: Formula | None = None
) -> list[list[int]]:
    """What both engines give, as bit patterns: for two results the formula gives both as one number."""
    results = [np.zeros(len(rows), f"u{element(stored(kind)).bytes}") for kind in given]
    left = agree(kernel(line, taken, given), *columns(taken, rows), *results, len(rows))
    assert isinstance(left, list)
    found = [np.frombuffer(raw, array.dtype).tolist() for raw, array in zip(left[len(taken) :], results, strict=True)]
    if formula is not None:
        width = element(taken[0]).bits
        for a, b, *both in zip(*(rows[:, side].tolist() for side in (0, 1)), *found, strict=True):
            wanted = formula(*(_signed(each % 2**width, width) for each in (a, b)), a % 2**width, b % 2**width)
            for kind, one in zip(given, both, strict=True):
                assert one == wanted % 2 ** element(kind).bits, (line, a, b)
                wanted >>= width
    return found


def _signed(value: int, width: int) -> int:
    return value - 2**width if value >> (width - 1) else value


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("name", INTEGER)
def test_integers(name: str, kind: str) -> None:
    compare(f"%x = arith.{name} %a, %b : {kind}", (kind, kind), (kind,), patterns(kind, 1), INTEGER[name])


@pytest.mark.parametrize("kind", [kind for kind in INTEGERS if kind != "i1"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions(name: str, kind: str) -> None:
    rows = patterns(kind, 2)
    bits = element(kind).bits
    defined = (rows[:, 1] != 0) & ~((rows[:, 0] == 1 << (bits - 1)) & (rows[:, 1] == (1 << bits) - 1))
    compare(f"%x = arith.{name} %a, %b : {kind}", (kind, kind), (kind,), rows[defined], DIVISIONS[name])


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("divisor", [0, -1])
def test_what_cannot_be_divided(name: str, divisor: int) -> None:
    made = kernel(f"%x = arith.{name} %a, %b : i32", ("i32", "i32"), ("i32",))
    dividends = np.array([5, 6, -(1 << 31), 7], np.int32)
    divisors = np.array([1, -1, divisor, 0], np.int32)
    found = fails(made, dividends, divisors, np.zeros(4, np.int32), 4)
    assert found.kind == "arithmetic"
    assert found.loops == ((3,) if divisor == -1 and "u" in name else (2,))


@pytest.mark.parametrize("kind", [kind for kind in INTEGERS if kind != "i1"])
@pytest.mark.parametrize("name", EXTENDED)
def test_two_results(name: str, kind: str) -> None:
    second = "i1" if name == "addui_extended" else kind
    types = f"{kind}, i1" if name == "addui_extended" else kind
    line = f"%x, %y = arith.{name} %a, %b : {types}"
    compare(line, (kind, kind), (kind, second), patterns(kind, 3), EXTENDED[name])


@pytest.mark.parametrize("kind", [kind for kind in INTEGERS if kind not in ("i1", "index")])
def test_absolute_integers(kind: str) -> None:
    compare(f"%x = math.absi %a : {kind}", (kind,), (kind,), patterns(kind, 4), lambda a, _, __, ___: abs(a))


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", FLOAT_BINARY)
def test_floats(name: str, kind: str) -> None:
    compare(f"%x = arith.{name} %a, %b : {kind}", (kind, kind), (kind,), patterns(kind, 5))


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", FLOAT_UNARY)
def test_floats_alone(name: str, kind: str) -> None:
    compare(f"%x = {name} %a : {kind}", (kind,), (kind,), patterns(kind, 6))


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("order", INTEGER_ORDERS)
def test_comparisons_of_integers(order: str, kind: str) -> None:
    line = f"%x = arith.cmpi {order}, %a, %b : {kind}"
    compare(line, (kind, kind), ("i1",), patterns(kind, 7), INTEGER_ORDERS[order])


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("order", FLOAT_ORDERS)
def test_comparisons_of_floats(order: str, kind: str) -> None:
    rows = patterns(kind, 8)
    (found,) = compare(f"%x = arith.cmpf {order}, %a, %b : {kind}", (kind, kind), ("i1",), rows)
    dtype = ml_dtypes.bfloat16 if kind == "bf16" else np.dtype(f"f{element(kind).bytes}")
    with np.errstate(invalid="ignore"):
        a, b = (rows[:, side].astype(f"u{element(kind).bytes}").view(dtype).astype(float) for side in (0, 1))
    holds = {"<": a < b, "=": a == b, ">": a > b, "?": np.isnan(a) | np.isnan(b)}
    assert found == [int(any(holds[word][row] for word in FLOAT_ORDERS[order])) for row in range(len(rows))]


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS])
def test_selection(kind: str) -> None:
    compare(
        f"%k = arith.trunci %a : i8 to i1\n%x = arith.select %k, %b, %c : {kind}",
        ("i8", kind, kind),
        (kind,),
        patterns(kind, 9),
    )


CASTS = [
    *(("extsi", a, b) for a in INTEGERS[:4] for b in INTEGERS[1:5] if element(a).bits < element(b).bits),
    *(("extui", a, b) for a in INTEGERS[:4] for b in INTEGERS[1:5] if element(a).bits < element(b).bits),
    *(("trunci", a, b) for a in INTEGERS[1:5] for b in INTEGERS[:4] if element(a).bits > element(b).bits),
    *((name, a, "index") for name in ("index_cast", "index_castui") for a in INTEGERS[:5]),
    *((name, "index", a) for name in ("index_cast", "index_castui") for a in INTEGERS[:5]),
    *((name, a, b) for name in ("sitofp", "uitofp") for a in INTEGERS[:5] for b in FLOATS),
    *((name, a, b) for name in ("fptosi", "fptoui") for a in FLOATS for b in INTEGERS[:5]),
    *(("extf", a, b) for a in FLOATS for b in FLOATS if element(a).bits < element(b).bits),
    *(("truncf", a, b) for a in FLOATS for b in FLOATS if element(a).bits > element(b).bits),
    *(("bitcast", a, b) for a, b in (("f32", "i32"), ("i32", "f32"), ("f16", "bf16"), ("i64", "f64"), ("i16", "f16"))),
]


@pytest.mark.parametrize("name, source, result", CASTS)
def test_casts(name: str, source: str, result: str) -> None:
    line = f"%x = arith.{name} %a : {source} to {result}"
    compare(line, (source,), (result,), patterns(source, 10), INTEGER_CASTS.get(name))


@given(st.lists(st.integers(0, (1 << 64) - 1), min_size=2, max_size=2), st.sampled_from(FLOAT_BINARY))
def test_random_doubles(words: list[int], name: str) -> None:
    compare(f"%x = arith.{name} %a, %b : f64", ("f64", "f64"), ("f64",), np.array([words], np.uint64))


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.sampled_from(FLOATS), st.booleans())
def test_random_integers_become_floats(number: int, result: str, signed: bool) -> None:
    rows = np.array([[number % (1 << 64), 0]], np.uint64)
    compare(f"%x = arith.{'si' if signed else 'ui'}tofp %a : i64 to {result}", ("i64",), (result,), rows)
