"""Operations element by element against NumPy, in every element type that they take and over valid regions of all
kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError
from ptosim.language.catalogue import operation
from tables import table
from tile_cases import Array, is_float
from tile_numbers import bits, rounded, same, samples, wide
from tile_programs import Given, dtype_of, run, run_each

REGIONS: dict[str, tuple[str, tuple[int, int] | None]] = {
    "full": ("4x128", None),
    "tail": ("3x128, valid=3x77", None),
    "several registers": ("2x384, valid=2x300", None),
    "one row": ("4x128, valid=1x100", None),
    "one column": ("5x32, valid=5x1", None),
    "nothing": ("2x64, valid=2x0", None),
    "dynamic": ("4x160", (3, 140)),
    "dynamic rows": ("4x256", (3, 256)),
    "no rows": ("4x64", (0, 64)),
}
"""Shapes, with the valid region that the run gives where it is dynamic."""


@dataclass(frozen=True)
class Row:
    """An operation: its operands in order (letters of tiles, s for a scalar), and what it computes."""

    operands: str
    formula: Callable[..., Array]
    target: str = "a5"
    attributes: str = ""
    scalar: str = ""
    """The type of the scalar, where it is not that of the elements."""
    edge_scalars: tuple[float, ...] = (3, -2)


def floats(formula: Callable[..., Array]) -> Callable[..., Array]:
    """A formula in f64, rounded once."""
    return lambda *given: formula(*(x.astype("f8") if x.dtype.kind == "f" else x for x in map(wide, given)))


def in_f32(formula: Callable[..., Array]) -> Callable[..., Array]:
    return lambda *given: formula(*map(wide, given))


def once(like: Array, values: Array) -> Array:
    """Rounded to the type of an operand."""
    names = {"float16": "f16", "float32": "f32", "bfloat16": "bf16"}
    return wide(rounded(values, names[like.dtype.name])) if like.dtype.name in names else values


def absolute(a: Array) -> Array:
    return (bits(a.copy()) & (np.iinfo(bits(a).dtype).max >> 1)).view(a.dtype)


def negated(a: Array) -> Array:
    if a.dtype.kind in "iu":
        return -a
    return (bits(a.copy()) ^ bits(a).dtype.type(1 << 8 * a.dtype.itemsize - 1)).view(a.dtype)


def quotient(a: Array, b: Array) -> Array:
    if a.dtype.kind not in "iu":
        return wide(a) / wide(b)
    x, y = (value.astype(object) for value in np.broadcast_arrays(a, b))
    found = np.vectorize(lambda p, q: -1 if q == 0 else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1), "O")(x, y)
    return wrapped(found, a.dtype)


def wrapped(values: Array, dtype: Any) -> Array:
    mask = (1 << 8 * np.dtype(dtype).itemsize) - 1
    return (
        np.vectorize(lambda value: int(value) & mask, otypes=[np.uint64])(values)
        .astype(f"u{np.dtype(dtype).itemsize}")
        .view(dtype)
    )


def remainder(a: Array, b: Array, floor: bool, fixed: bool = True) -> Array:
    if a.dtype.kind in "iu":
        x, y = (value.astype(object) for value in np.broadcast_arrays(a, b))
        cut = np.vectorize(lambda p, q: p if q == 0 else abs(p) % abs(q) * (-1 if p < 0 else 1), "O")(x, y)
        down = np.vectorize(lambda p, q: p if q == 0 else p % q, "O")(x, y)
        return wrapped(down if floor else cut, a.dtype)
    p, q = wide(a), wide(b)
    r = p - (np.floor if floor else np.trunc)(p / q) * q
    if a.dtype == np.float16:  # back to f16 towards zero, clamped, NaN as 0
        r = towards_zero(r)
        if floor and fixed:
            r = np.where(rounded(b.astype("f4") * r.astype("f4"), "f16") < 0, rounded(r + b.astype("f4"), "f16"), r)
        return r
    return np.where(q * r < 0, r + q, r) if floor and fixed else r


def towards_zero(values: Array) -> Array:
    """f16 of f32, cut and clamped; NaN becomes 0."""
    x = np.nan_to_num(np.clip(values, -65504, 65504), nan=0.0).astype("f4")
    near = x.astype("f2")
    beyond = np.abs(near.astype("f4")) > np.abs(x)
    bits(near)[beyond] -= 1
    return near


def shifted(left: bool, a: Array, b: Array) -> Array:
    width = 8 * a.dtype.itemsize
    counts = bits(np.ascontiguousarray(b)).astype(np.int64)
    if left:
        return np.where(counts < width, a << np.minimum(counts, width - 1).astype(a.dtype), 0)
    beyond = np.where(a < 0, -1, 0).astype(a.dtype) if a.dtype.kind == "i" else a.dtype.type(0)
    return np.where(counts < width, a >> np.minimum(counts, width - 1).astype(a.dtype), beyond)


def leaky(a: Array, slope: Array) -> Array:
    return np.where(wide(a) >= 0, wide(a), wide(a) * wide(slope))


def scaled_log(x: Array) -> Array:
    p, c, top = (10, -6.93147, 0x03FF) if x.dtype == np.float16 else (23, -15.9423851528787421, 0x007FFFFF)
    small = x < bits(np.array([0], x.dtype)).dtype.type(top).view(x.dtype)
    with np.errstate(all="ignore"):
        y = np.log(np.where(small, x * x.dtype.type(2.0**p), x).astype("f8")).astype(x.dtype)
    return np.where(small, y + x.dtype.type(c), y)


def relu(a: Array) -> Array:
    return np.where(a > 0, a, a * 0 if a.dtype.kind in "iu" else np.where(np.isnan(a), a, a.dtype.type(0)))


def maximum(sign: int, a: Array, b: Array) -> Array:
    """NaN wins; -0 is below +0."""
    a, b = np.broadcast_arrays(a, b)
    if a.dtype.kind in "iu":
        return np.maximum(a, b) if sign > 0 else np.minimum(a, b)
    x, y = wide(a), wide(b)
    found = np.maximum(x, y) if sign > 0 else np.minimum(x, y)
    zeros = (x == 0) & (y == 0)
    return np.where(zeros, np.where(np.signbit(x) == (sign < 0), x, y), found)


ROWS: dict[str, Row] = {
    "tabs": Row("a", absolute),
    "tneg": Row("a", negated),
    "tnot": Row("a", np.invert),
    "trelu": Row("a", relu),
    "texp": Row("a", floats(np.exp)),
    "tlog": Row("a", floats(np.log)),
    "tsqrt": Row("a", floats(np.sqrt)),
    "trecip": Row("a", in_f32(lambda a: np.float32(1) / a)),
    "trsqrt": Row("a", lambda a: np.float32(1) / once(a, np.sqrt(wide(a)))),
    "tadd": Row("ab", in_f32(np.add)),
    "tsub": Row("ab", in_f32(np.subtract)),
    "tmul": Row("ab", in_f32(np.multiply)),
    "tdiv": Row("ab", quotient),
    "tmax": Row("ab", partial(maximum, 1)),
    "tmin": Row("ab", partial(maximum, -1)),
    "taddrelu": Row("ab", lambda a, b: relu(once(a, wide(a) + wide(b))), target="a2a3"),
    "tand": Row("ab", np.bitwise_and),
    "tor": Row("ab", np.bitwise_or),
    "txor": Row("ab", np.bitwise_xor),
    "tshl": Row("ab", partial(shifted, True)),
    "tshr": Row("ab", partial(shifted, False)),
    "trem": Row("ab", partial(remainder, floor=True)),
    "tfmod": Row("ab", partial(remainder, floor=False)),
    "tprelu": Row("ab", leaky),
    "tadds": Row("as", in_f32(np.add)),
    "tsubs": Row("as", in_f32(np.subtract)),
    "tmuls": Row("as", in_f32(np.multiply)),
    "tmaxs": Row("as", partial(maximum, 1)),
    "tmins": Row("as", partial(maximum, -1)),
    "tands": Row("as", np.bitwise_and),
    "tors": Row("as", np.bitwise_or),
    "txors": Row("as", np.bitwise_xor),
    "tshls": Row("as", partial(shifted, True), scalar="i32", edge_scalars=(3, 65536)),
    "tshrs": Row("as", partial(shifted, False), scalar="i32", edge_scalars=(1, 40)),
    "trems": Row("as", partial(remainder, floor=True, fixed=False)),
    "tfmods": Row("as", partial(remainder, floor=False)),
    "tlrelu": Row("as", leaky, scalar="f32", edge_scalars=(0.1, -2)),
    "tdivs": Row("as", quotient, edge_scalars=(3, 0)),
    "tdivs reversed": Row("sa", quotient),
    "taddc": Row("abc", lambda a, b, c: once(a, wide(a) + wide(b)) + wide(c)),
    "tsubc": Row("abc", lambda a, b, c: once(a, wide(a) - wide(b)) + wide(c)),
    "taddsc": Row("asb", lambda a, s, b: once(a, wide(a) + wide(s)) + wide(b)),
    "tsubsc": Row("asb", lambda a, s, b: once(a, wide(a) - wide(s)) + wide(b)),
    "tlog precise": Row("a", scaled_log, attributes=" {precisionType = #pto<log_precision high_precision>}"),
    "texpands": Row("s", lambda s: s),
}


def accepted(name: str, row: Row) -> list[str]:
    """The element types of an operation on its machine, of each width with every sign."""
    kind = operation(f"pto.{name.split()[0]}")
    assert kind is not None
    return sorted(kind.accepted[row.target])  # pyright: ignore[reportAttributeAccessIssue]


def cases() -> Iterator[Any]:
    """Every operation in every type over every region; one kernel has all of a machine whose names are as long."""
    together: dict[tuple[str, int, str], list[str]] = {}
    for name, row in ROWS.items():
        for element in accepted(name, row):
            together.setdefault((row.target, len(name), element), []).append(name)
    for (target, length, element), names in together.items():
        for region in REGIONS:
            yield pytest.param(names, element, region, id=f"{target}-{element}-{region}-names of {length}")


@pytest.mark.parametrize(("names", "element", "region"), list(cases()))
def test_against_numpy(names: list[str], element: str, region: str) -> None:
    check_rows({name: ROWS[name] for name in names}, element, *REGIONS[region])


def check_rows(rows: dict[str, Row], element: str, shape: str, valid: tuple[int, int] | None, layout: str = "") -> None:
    """The length of their names gives the numbers that they compute with."""
    extents, *fields = shape.split(", ")
    kind = ", ".join([f"{extents}x{element}", *fields, *filter(None, [layout])])
    (target,), (seed,) = {row.target for row in rows.values()}, set(map(len, rows))
    tiles = {letter: Given(kind, None, valid) for letter in sorted(set("".join(row.operands for row in rows.values())))}
    tiles.pop("s", None)
    for number, tile in enumerate(tiles.values()):
        tile.holds = samples(element, (tile.rows, tile.cols), number + seed)
    scalars = {
        f"{name} {number}": (name, number)
        for name, row in rows.items()
        for number in (row.edge_scalars if "s" in row.operands else (0,))
    }
    operations = {case: written(name, rows[name], element, number) for case, (name, number) in scalars.items()}
    got = run_each(operations, target=target, again=True, **tiles, d=Given(kind, None, valid))
    for case, (name, number) in scalars.items():
        found = got[case]["d"]
        same(found.valid, expected_of(name, rows[name], element, number, tiles, found.given.region), case)
        assert found.unchanged_outside(), case


def expected_of(
    name: str, row: Row, element: str, number: float, tiles: dict[str, Given], region: tuple[int, int]
) -> Array:
    type_ = scalar_type(row, element) if name in ("tshls", "tshrs") else element
    scalar = np.array([number]).astype(dtype_of(type_))
    rows, cols = region
    operands = [scalar if letter == "s" else tiles[letter].holds[:rows, :cols] for letter in row.operands]
    with np.errstate(all="ignore"):
        expected = row.formula(*operands)
    if name not in ("tabs", "tneg"):
        expected = rounded(np.asarray(expected), element)
    return np.broadcast_to(expected, region)


def written(name: str, row: Row, element: str, number: float) -> str:
    """The text of an operation, with a scalar of this value."""
    scalar = scalar_type(row, element)
    given = ", ".join("%s" if letter == "s" else f"%{letter}" for letter in row.operands)
    types = ", ".join(scalar if letter == "s" else letter.upper() for letter in row.operands)
    operation = f"pto.{name.split()[0]} ins({given} : {types}) outs(%d : D){row.attributes}"
    return f"%s = arith.constant {literal(number, scalar)} : {scalar}\n{operation}"


def scalar_type(row: Row, element: str) -> str:
    return row.scalar or element.removeprefix("s").removeprefix("u")


def literal(number: float, type_: str) -> str:
    return str(float(number)) if is_float(type_) else str(int(number))


# --- layouts, places, scalars -----------------------------------------------------------------------------------------


@table(
    "shape, layout",
    ("64x3, valid=50x3", "blayout=col_major"),
    ("32x1", "blayout=col_major"),
    ("32x32", "blayout=col_major, slayout=row_major"),
    ("1x64, valid=1x50", "slayout=row_major"),
)
@pytest.mark.parametrize("name", ["tmuls", "tdivs reversed", "taddc", "texpands"])
def test_other_layouts(name: str, shape: str, layout: str) -> None:
    check_rows({name: ROWS[name]}, "f32", shape, None, layout)


def test_boxes_that_are_partly_valid_are_refused() -> None:
    with pytest.raises(PTOError, match="laid out as NZ"):
        check_rows({"tmuls": ROWS["tmuls"]}, "f32", "32x32, valid=32x30", None, "blayout=col_major, slayout=row_major")


@pytest.mark.parametrize("shape", ["4x64xf32", "4x64xf32, valid=4x50"])
def test_in_place(shape: str) -> None:
    a, b = (samples("f32", (4, 64), seed, tame=True) for seed in (1, 2))
    both = Given(shape, a, address=0x4000)
    got = run("pto.tadd ins(%a, %b : A, B) outs(%d : D)", b=Given(shape, b), a=both, d=Given(shape, a, address=0x4000))
    same(got["d"].valid, (a + b)[:, : both.region[1]])
    assert got["d"].unchanged_outside()


def test_tiles_of_other_widths() -> None:
    """Rows begin where each tile has them."""
    a, b = samples("f16", (4, 96), 1, tame=True), samples("f16", (6, 64), 2, tame=True)
    got = run(
        "pto.tsub ins(%a, %b : A, B) outs(%d : D)",
        a=Given("4x96xf16, valid=3x40", a),
        b=Given("6x64xf16, valid=3x40", b),
        d=Given("3x48xf16, valid=3x40"),
    )
    same(got["d"].valid, a[:3, :40] - b[:3, :40])


@pytest.mark.parametrize("name", ["tadd", "tdiv", "trem", "tlrelu", "tdivs reversed"])
def test_a2a3_computes_the_same(name: str) -> None:
    check_rows({name: replace(ROWS[name], target="a2a3")}, "f32", *REGIONS["tail"])


def test_a_source_that_is_smaller_than_the_run_says() -> None:
    """Rows that a source does not have are left alone."""
    a, b = samples("f32", (4, 64), 1, tame=True), samples("f32", (1, 64), 2, tame=True)
    got = run(
        "pto.tadd ins(%a, %b : A, B) outs(%d : D)",
        a=Given("4x64xf32", a, (4, 64)),
        b=Given("1x64xf32", b, (1, 64)),
        d=Given("4x64xf32", None, (4, 64)),
    )
    same(got["d"].all[:1], a[:1] + b)
    same(got["d"].all[1:], got["d"].given.read(got["d"].given.image())[1:])


@table(
    "element, type_, number, expected",
    ("f16", "f32", 0.1, 0.1),
    ("f32", "f16", 0.5, 0.5),
    ("bf16", "f16", 0.1, float(np.float16(0.1))),
    ("i16", "i32", 65537, 1),
    ("i32", "i8", -3, -3),
    ("f32", "i32", -7, -7),
    ("i32", "f32", 2.75, 2),
)
def test_scalars_of_other_types(element: str, type_: str, number: float, expected: float) -> None:
    a = samples(element, (2, 64), 3, tame=True)
    got = run(
        "pto.tadds ins(%a, %s : A, %SCALAR) outs(%d : D)".replace("%SCALAR", type_),
        np.array(number).astype(dtype_of(type_))[()],
        scalars=f"%s: {type_}",
        a=Given(f"2x64x{element}", a),
        d=Given(f"2x64x{element}"),
    )
    scalar = np.array(expected).astype("f4" if is_float(element) else "i8").astype(a.dtype)
    same(got["d"].valid, rounded(wide(a) + wide(scalar), element))


# --- taxpy ------------------------------------------------------------------------------------------------------------


@table("source, element", ("f32", "f32"), ("f16", "f16"), ("bf16", "bf16"), ("f16", "f32"), ids=str)
@pytest.mark.parametrize("region", ["3x128, valid=3x77", "2x128"])
def test_axpy(source: str, element: str, region: str) -> None:
    shape, *fields = region.split(", ")
    a, d = Given(", ".join([f"{shape}x{source}", *fields])), Given(", ".join([f"{shape}x{element}", *fields]))
    a.holds, d.holds = samples(source, (a.rows, 128), 1), samples(element, (a.rows, 128), 2)
    rows, cols = a.region
    s = np.array(1.7).astype(dtype_of(source))
    got = run(f"%s = arith.constant 1.7 : {source}\npto.taxpy ins(%a, %s : A, {source}) outs(%d : D)", a=a, d=d)
    with np.errstate(all="ignore"):  # the product is exact in f64, and so is nearly every sum
        expected = a.holds.astype("f8") * s.astype("f8") + d.holds.astype("f8")
    same(got["d"].valid, rounded(expected[:rows, :cols], element))
    assert got["d"].unchanged_outside()


# --- powers -----------------------------------------------------------------------------------------------------------


def integer_power(a: int, b: int) -> int:
    if b < 0:
        return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    return pow(a, b, 1 << 64)


@pytest.mark.parametrize("element", ["i8", "ui8", "i16", "ui16", "i32", "ui32"])
@pytest.mark.parametrize("exponent", [None, 3, -5])
def test_powers_of_integers(element: str, exponent: int | None) -> None:
    """By exponents of a tile, or by one for all; of unsigned elements a negative one is a large one."""
    a, b = samples(element, (2, 160), 1), samples(element, (2, 160), 2)
    a[:, :3] = np.array([-1, 1, 0]).astype(a.dtype)
    shape, scalar = f"2x160x{element}, valid=2x150", element.removeprefix("u")
    tiles = {"a": Given(shape, a), "d": Given(shape)}
    if exponent is None:
        got = run("pto.tpow ins(%a, %b : A, B) outs(%d : D)", **tiles, b=Given(shape, b))
    else:
        b[:] = np.array(exponent).astype(b.dtype)
        constant = f"%s = arith.constant {exponent} : {scalar}"
        got = run(f"{constant}\npto.tpows ins(%a, %s : A, {scalar}) outs(%d : D)", **tiles)
    expected = wrapped(np.vectorize(integer_power, "O")(a.astype(object), b.astype(object)), a.dtype)
    same(got["d"].valid, expected[:, :150])
    assert got["d"].unchanged_outside()


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("exponent", [None, 2.0, -3.0, 0.5])
def test_powers_of_floats(element: str, exponent: float | None) -> None:
    """The special cases are those of IEEE; otherwise exp(b ln|a|) in f32 is near the power."""
    edges = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, np.inf, -np.inf, np.nan])
    a = np.resize(np.repeat(edges, len(edges)), (1, 256)).astype(dtype_of(element))
    b = np.resize(edges, (1, 256)).astype(a.dtype)
    chance = np.random.default_rng(1)
    a[0, 144:], b[0, 144:] = chance.uniform(0.1, 4, 112).astype(a.dtype), chance.normal(0, 2, 112).astype(a.dtype)
    high = " {precisionType = #pto<pow_precision high_precision>}" if element == "bf16" else ""
    tiles = {"a": Given(f"1x256x{element}", a), "d": Given(f"1x256x{element}")}
    if exponent is None:
        got = run(f"pto.tpow ins(%a, %b : A, B) outs(%d : D){high}", **tiles, b=Given(f"1x256x{element}", b))
    else:
        b[:] = exponent
        constant = f"%s = arith.constant {exponent} : {element}"
        got = run(f"{constant}\npto.tpows ins(%a, %s : A, {element}) outs(%d : D){high}", **tiles)
    with np.errstate(all="ignore"):
        expected = rounded(np.power(a.astype("f8"), b.astype("f8")), element).astype("f8")
    found = got["d"].valid.astype("f8")
    np.testing.assert_allclose(found, expected, rtol={"f32": 1e-5, "f16": 1e-3, "bf16": 1e-2}[element])
    zero = expected == 0
    assert np.array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


def test_halves_of_a_register_do_not_divide_by_padding() -> None:
    """8-bit elements are divided as 16-bit ones, all lanes: what lies behind the valid columns is no divisor."""
    tile, view = "!pto.tile_buf<vec, 4x96xi8, valid=3x77>", "!pto.partition_tensor_view<3x77xi8>"
    tensor = "!pto.tensor_view<3x77xi8>"
    views = "\n".join(
        f"""    %{name}v = pto.make_tensor_view %{name}, shape = [%c3, %c77], strides = [%c77, %c1] : {tensor}
    %{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%c3, %c77] : {tensor} -> {view}"""
        for name in "xy"
    )
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<i8>, %y: !pto.ptr<i8>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c77 = arith.constant 77 : index
    %hundred = arith.constant 100 : i8
{views}
    %a = pto.alloc_tile : {tile}
    %b = pto.alloc_tile : {tile}
    pto.tload ins(%xp : {view}) outs(%a : {tile})
    pto.tdivs ins(%hundred, %a : i8, {tile}) outs(%b : {tile})
    pto.tstore ins(%b : {tile}) outs(%yp : {view})
    return
  }}
}}
"""
    kernel, x = ptosim.load(text).kernel(), np.arange(1, 232, dtype="u1").view("i1").reshape(3, 77)
    y = np.zeros_like(x)
    kernel(x, y)
    assert (y == np.trunc(100 / x)).all()
    assert ptosim.check(kernel, x, np.zeros_like(x)).findings == ()
    x[1, 5] = 0
    assert [found.kind for found in ptosim.check(kernel, x, np.zeros_like(x)).findings] == ["lint"]
