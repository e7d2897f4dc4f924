"""Scalar arithmetic of floats, by hand, in the type's own precision, and what is no result; for integers see
test_scalar_formulas.py."""

import math
import struct
from typing import Any

import numpy as np
import pytest

from ptosim.diagnostics import Diagnostic
from small_kernels import failure, lints, module, run
from tables import table

INF, NAN = math.inf, math.nan

FORMATS = {"f16": "e", "f32": "f", "f64": "d"}
QUIET = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8 << 48}


def bits(value: float, kind: str) -> int:
    """A number of a type as its bit pattern."""
    if kind == "index":
        kind = "i64"
    if kind[0] == "i":
        return int(value) & (1 << int(kind[1:])) - 1
    if value != value:
        return QUIET[kind]
    if kind == "bf16":
        (pattern,) = struct.unpack("<I", struct.pack("<f", value))
        assert pattern & 0xFFFF == 0, "a bf16 number"
        return pattern >> 16
    return int.from_bytes(struct.pack(f"<{FORMATS[kind]}", value), "little")


WIDER = {"i1": "extui", "index": "index_cast", "f64": "bitcast"}
"""Types that memory does not have are stored as i64."""


def kernel(instruction: str, operands: dict[str, str], results: dict[str, str]) -> str:
    """A kernel that stores the results of an instruction, each to an array of its own."""
    pointers = [f"%p_{name}: G<{kind}>" for name, kind in results.items()]
    scalars = [f"%{name}: {kind}" for name, kind in operands.items()]
    stores = [
        f"pto.store_scalar %{name}, %p_{name}[%c0] : G<{kind}>, {kind}"
        for name, kind in results.items()
        if kind not in WIDER
    ]
    for name, kind in results.items():
        if kind in WIDER:
            stores.append(f"%{name}_i64 = arith.{WIDER[kind]} %{name} : {kind} to i64")
            stores.append(f"pto.store_scalar %{name}_i64, %p_{name}[%c0] : G<i64>, i64")
            pointers[list(results).index(name)] = f"%p_{name}: G<i64>"
    return module(", ".join([*pointers, *scalars]), "\n".join([instruction, *stores]))


def width(kind: str) -> int:
    return 8 if kind in WIDER else int(kind.removeprefix("b")[1:]) // 8


def value(instruction: str, operands: dict[str, tuple[str, Any]], **results: str) -> list[int]:
    """The bit patterns of the results."""
    arrays = [np.zeros(1, f"u{width(kind)}") for kind in results.values()]
    kinds = {name: kind for name, (kind, _) in operands.items()}
    run(kernel(instruction, kinds, results), *arrays, *(given for _, given in operands.values()))
    return [int(array[0]) for array in arrays]


# --- integers ---------------------------------------------------------------------------------------------------------

LEAST = -(2**31)


@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"])
def test_division_by_zero(name: str) -> None:
    found = failed(f"%r = arith.{name} %a, %b : i32", "i32", 5, 0)
    assert (found.kind, found.message) == ("arithmetic", "division by zero")


@pytest.mark.parametrize("name", ["divsi", "remsi", "floordivsi", "ceildivsi"])
def test_a_quotient_that_does_not_fit(name: str) -> None:
    assert failed(f"%r = arith.{name} %a, %b : i32", "i32", LEAST, -1).kind == "arithmetic"


def failed(instruction: str, kind: str, a: int, b: int) -> Diagnostic:
    text = kernel(instruction, {"a": kind, "b": kind}, {"r": kind})
    found = failure(text, np.zeros(1, f"u{width(kind)}"), a, b)
    assert found.line == next(n for n, line in enumerate(text.splitlines(), 1) if instruction in line)
    return found


@table(
    "name, a, amount, wanted",
    ("shli", -1, 32, 0),
    ("shrui", -1, 33, 0),
    ("shrsi", -5, 32, -1),
    ("shrsi", 5, 40, 0),
    ("shrsi", -5, -1, -1),
)
def test_a_shift_by_the_width_or_more(name: str, a: int, amount: int, wanted: int) -> None:
    instruction = f"%r = arith.{name} %a, %b : i32"
    (found,) = value(instruction, {"a": ("i32", a), "b": ("i32", amount)}, r="i32")
    assert found == bits(wanted, "i32")
    text = kernel(instruction, {"a": "i32", "b": "i32"}, {"r": "i32"})
    (warning,) = lints(text, np.zeros(1, np.uint32), a, amount)
    assert "has no defined result" in warning


# --- floats -----------------------------------------------------------------------------------------------------------

FLOATS = [
    ("addf", "f32", 1.0, 2.0**-24, 1.0),  # a tie, to even
    ("addf", "f32", 1.0, 3 * 2.0**-24, 1 + 2.0**-22),
    ("addf", "f64", 1.0, 2.0**-52, 1 + 2.0**-52),
    ("addf", "f16", 2048.0, 1.0, 2048.0),
    ("addf", "f16", 65504.0, 65504.0, INF),
    ("addf", "bf16", 256.0, 1.0, 256.0),
    ("subf", "f32", INF, INF, NAN),
    ("mulf", "f32", 3e38, 10.0, INF),
    ("mulf", "bf16", 1.5, -0.0, -0.0),
    ("divf", "f32", 1.0, 3.0, 11184811 * 2.0**-25),
    ("divf", "f32", 1.0, -0.0, -INF),
    ("divf", "f32", 0.0, 0.0, NAN),
    ("remf", "f32", -7.5, 2.0, -1.5),
    ("remf", "f32", 7.5, -2.0, 1.5),
    ("remf", "f32", 1.0, INF, 1.0),
    ("remf", "f32", 1.0, 0.0, NAN),
    ("maximumf", "f32", 0.0, -0.0, 0.0),
    ("maximumf", "f32", -0.0, 0.0, 0.0),
    ("maximumf", "f32", NAN, 1.0, NAN),
    ("maximumf", "f32", 1.0, NAN, NAN),
    ("minimumf", "f32", 0.0, -0.0, -0.0),
    ("minimumf", "f16", -INF, NAN, NAN),
    ("maxnumf", "f32", NAN, 1.0, 1.0),
    ("maxnumf", "f32", 2.0, 1.0, 2.0),
    ("minnumf", "f32", 1.0, NAN, 1.0),
    ("minnumf", "f32", NAN, NAN, NAN),
]


@pytest.mark.parametrize(("name", "kind", "a", "b", "wanted"), FLOATS)
def test_floats(name: str, kind: str, a: float, b: float, wanted: float) -> None:
    (found,) = value(f"%r = arith.{name} %a, %b : {kind}", {"a": (kind, a), "b": (kind, b)}, r=kind)
    assert found == bits(wanted, kind)


@table(
    "name, a, wanted",
    ("arith.negf", 1.5, -1.5),
    ("arith.negf", 0.0, -0.0),
    ("math.absf", -1.5, 1.5),
    ("math.absf", -0.0, 0.0),
    ("math.sqrt", 2.25, 1.5),
    ("math.sqrt", -1.0, NAN),
    ("math.exp", 0.0, 1.0),
    ("math.exp", -INF, 0.0),
    ("math.exp", 90.0, INF),
    ("math.log", 1.0, 0.0),
    ("math.log", 0.0, -INF),
    ("math.log", -1.0, NAN),
    ("math.floor", -1.5, -2.0),
    ("math.floor", INF, INF),
    ("math.ceil", -1.5, -1.0),
    ("math.ceil", -0.5, -0.0),
)
def test_floats_of_one_operand(name: str, a: float, wanted: float) -> None:
    for kind in ("f32", "f64", "f16", "bf16"):
        (found,) = value(f"%r = {name} %a : {kind}", {"a": (kind, a)}, r=kind)
        assert found == (bits(wanted, kind) if (kind, a) != ("f64", 90.0) else bits(math.exp(90), kind))


def test_signs_are_changed_without_touching_a_payload() -> None:
    text = module(
        "%p: G<f32>, %q: G<i32>",
        """%x = pto.load_scalar %p[%c0] : G<f32> -> f32
        %n = arith.negf %x : f32
        %b = arith.bitcast %n : f32 to i32
        pto.store_scalar %b, %q[%c0] : G<i32>, i32""",
    )
    p, q = np.array([0x7F812345], np.uint32), np.zeros(1, np.uint32)
    run(text, p.view(np.float32), q)
    assert q[0] == 0xFF812345


# --- comparisons ------------------------------------------------------------------------------------------------------


def test_a_value_compared_with_itself() -> None:
    """NaN is unordered with itself."""
    for predicate in "oeq ole ord ueq uge une uno".split():
        found = value(f"%r = arith.cmpf {predicate}, %a, %a : f32", {"a": ("f32", NAN)}, r="i1")
        assert found == [int(predicate[0] == "u")]


@pytest.mark.parametrize(("condition", "wanted"), [(1, 7), (0, 9)])
def test_select(condition: int, wanted: int) -> None:
    operands = {"c": ("i1", condition), "a": ("i32", 7), "b": ("i32", 9)}
    assert value("%r = arith.select %c, %a, %b : i32", operands, r="i32") == [wanted]


def test_select_of_pointers() -> None:
    text = module(
        "%x: G<i32>, %y: G<i32>, %c: i1",
        """%p = arith.select %c, %x, %y : G<i32>
        pto.store_scalar %c5_i32, %p[%c0] : G<i32>, i32""",
    )
    x, y = np.zeros(1, np.int32), np.zeros(1, np.int32)
    run(text, x, y, 0)
    assert (x[0], y[0]) == (0, 5)


# --- casts ------------------------------------------------------------------------------------------------------------


@table(
    "name, source, target, a, wanted",
    ("sitofp", "i32", "f32", 16777217, 16777216.0),
    ("sitofp", "i32", "f32", 16777219, 16777220.0),
    ("sitofp", "i8", "f16", -128, -128.0),
    ("uitofp", "i8", "f16", -128, 128.0),
    ("uitofp", "i64", "f32", -1, 2.0**64),
    ("sitofp", "i64", "f32", 2**53 + 2**29 + 1, float(2**53 + 2**30)),  # once, not by way of f64
    ("fptosi", "f32", "i32", -2.9, -2),
    ("fptosi", "f32", "i8", 127.9, 127),
    ("fptoui", "f32", "i32", 3e9, 3_000_000_000),
    ("fptoui", "f32", "i8", -0.9, 0),
    ("extf", "f16", "f32", 65504.0, 65504.0),
    ("extf", "bf16", "f32", 1.5, 1.5),
    ("truncf", "f32", "f16", 65519.0, 65504.0),
    ("truncf", "f32", "f16", 65520.0, INF),
    ("truncf", "f32", "bf16", 1 + 2.0**-8, 1.0),
    ("truncf", "f64", "f32", 1 + 2.0**-24 + 2.0**-50, 1 + 2.0**-23),
    ("bitcast", "f32", "i32", 1.5, 0x3FC00000),
    ("bitcast", "i16", "f16", 0x3E00, 1.5),
    ("bitcast", "i16", "bf16", 0x3FC0, 1.5),
)
def test_casts(name: str, source: str, target: str, a: Any, wanted: Any) -> None:
    (found,) = value(f"%r = arith.{name} %a : {source} to {target}", {"a": (source, a)}, r=target)
    assert found == bits(wanted, target if target != "i1" else "i1")


@table(
    "name, a, wanted",
    ("fptosi", 300.0, 127),
    ("fptosi", -INF, -128),
    ("fptosi", NAN, 0),
    ("fptoui", -1.0, 0),
    ("fptoui", 256.0, 255),
)
def test_a_float_that_does_not_fit_an_integer(name: str, a: float, wanted: int) -> None:
    instruction = f"%r = arith.{name} %a : f32 to i8"
    assert value(instruction, {"a": ("f32", a)}, r="i8") == [wanted & 255]
    (warning,) = lints(kernel(instruction, {"a": "f32"}, {"r": "i8"}), np.zeros(1, np.uint8), a)
    assert "does not fit i8" in warning


def test_the_signedness_of_an_integer_can_be_changed() -> None:
    text = module(
        "%p: G<ui32>, %a: i32",
        """%u = builtin.unrealized_conversion_cast %a : i32 to ui32
        pto.store_scalar %u, %p[%c0] : G<ui32>, ui32""",
    )
    p = np.zeros(1, np.uint32)
    run(text, p, -1)
    assert p[0] == 2**32 - 1
