"""Conversions: every pair of the type matrix, lane placement, saturation, the packing idioms, rounding, index ramps."""

import math
from fractions import Fraction

import numpy as np
import pytest

from golden.numbers import FLOATS, close, data, dtype, edges, equal, word
from golden.program import bits, granularity, lanes, mask, outcome, tail_loop, ub, vector_kernel, vreg
from tables import table

PAIRS = """f32 f16 rnd sat part
f32 bf16 rnd sat part
f32 si16 rnd sat part
f32 si32 rnd sat
f32 si64 rnd sat part
f16 f32 part
f16 si32 rnd part
f16 si16 rnd sat
f16 si8 rnd sat part
f16 ui8 rnd sat part
bf16 f16 rnd sat
bf16 f32 part
bf16 si32 rnd sat part
ui32 ui8 sat part
ui32 ui16 sat part
ui32 si16 sat part
si64 f32 rnd part
si64 si32 sat part
ui8 f16 part
ui8 ui16 part
ui8 ui32 part
si8 f16 part
si8 si16 part
si8 si32 part
ui16 ui8 sat part
ui16 ui32 part
si16 f16 rnd
si16 f32 part
si16 ui8 sat part
si16 ui32 part
si16 si32 part
si32 f32 rnd
si32 ui8 sat part
si32 ui16 sat part
si32 si16 sat part
si32 si64 part""".splitlines()

SIGNIFICANDS = {"f32": (24, -149, 127), "f16": (11, -24, 15), "bf16": (8, -133, 127)}


def rounded(value: Fraction, mode: str) -> int:
    """A rational to an integer by one of the rounding letters."""
    down, up = math.floor(value), math.ceil(value)
    if down == up:
        return down
    toward, away = (down, up) if value > 0 else (up, down)
    if mode == "F":
        return down
    if mode == "C":
        return up
    if mode == "Z":
        return toward
    if mode == "O":
        return toward if toward % 2 else away
    twice = 2 * value - (down + up)
    if twice:
        return up if twice > 0 else down
    return away if mode == "A" else (down if down % 2 == 0 else up)


def to_float(value: float | int, element: str, mode: str, sat: str) -> int:
    """The bits of a value converted to a float type."""
    digits, least, highest = SIGNIFICANDS[element]
    width = bits(element)
    mantissa = digits - 1
    sign = 1 << (width - 1)
    infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    if isinstance(value, float) and math.isnan(value):
        return 0 if sat == "SAT" else infinity | (1 << (mantissa - 1))
    negative = math.copysign(1, value) < 0
    top = infinity - 1 if sat == "SAT" else infinity
    if isinstance(value, float) and math.isinf(value):
        return top | (sign if negative else 0)
    exact = Fraction(value)
    if exact == 0:
        return sign if negative else 0
    limit = (2**digits - 1) * Fraction(2) ** (highest - mantissa)
    if sat == "SAT" and abs(exact) > limit:
        exact = limit if exact > 0 else -limit
    exponent = least
    while abs(exact) >= Fraction(2) ** (exponent + digits):
        exponent += 1
    units = rounded(exact / Fraction(2) ** exponent, mode)
    result = abs(units) * Fraction(2) ** exponent
    if result > limit:
        # a mode that rounds toward zero stops at the largest finite number, as IEEE has it
        inward = mode in "ZO" or (mode == "F" and not negative) or (mode == "C" and negative)
        return (infinity - 1 if inward else top) | (sign if negative else 0)
    if result == 0:
        code = 0
    else:
        e = exponent
        u = abs(units)
        if u >= 2**digits:
            u //= 2
            e += 1
        code = u if u < 2**mantissa else ((e - least + 1) << mantissa) | (u - 2**mantissa)
    return code | (sign if negative else 0)


def to_integer(value: float | int, element: str, mode: str, sat: str) -> int:
    width = bits(element)
    signed = not element.startswith("u")
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        reach = 63 if width == 64 else 31
        far = {True: 2**70, False: -(2**70)}
        whole = far[value > 0] if math.isinf(value) else rounded(Fraction(value), mode)
        if sat != "SAT":
            whole = max(-(2**reach), min(2**reach - 1, whole))
    else:
        whole = value
    if sat == "SAT":
        whole = max(low, min(high, whole))
    return whole % 2**width


def convert(values: list[float | int], source: str, target: str, mode: str, sat: str) -> list[int]:
    if target in FLOATS:
        # widening float conversions are exact and have no sat: a NaN stays one, an infinity too
        return [to_float(v, target, mode or "R", sat or "NOSAT") for v in values]
    plain = "SAT" if source == "f16" and target == "si32" else sat or "NOSAT"
    return [to_integer(v, target, mode or "R", plain) for v in values]


def values_of(raw: np.ndarray, element: str) -> list[float | int]:
    if element in FLOATS:
        with np.errstate(invalid="ignore"):
            return [float(v) for v in raw.astype(np.float32)]
    return [int(v) for v in raw]


def cases(element: str) -> np.ndarray:
    """One register: edges, halves, values around the limits of the narrower types, random ones."""
    n = lanes(element)
    if element in FLOATS:
        with np.errstate(over="ignore"):
            special = np.array(
                (
                    *(0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1.4, -1.4, -0.25, 127.5, 128, -128.5, 255.5, 32767.5, -32768.5),
                    *(65504, 65519, 65520, 70000, 2147483520, 3e9, -3e9, 1e-8, 1e-4, 123.75, 1e20, -1e20, 0.49999997),
                    *(33e3, 300),
                ),
                np.float32,
            ).astype(dtype(element))
        parts = [edges(element), special, data(element, n)]
    else:
        limits = [
            127,
            128,
            -128,
            -129,
            255,
            256,
            32767,
            32768,
            -32768,
            -32769,
            65535,
            65536,
            2**24 + 1,
            2**24 + 3,
            -(2**24) - 1,
        ]
        limits += [2**31 - 1, -(2**31), 2049, 2051, 2**33 + 5, -(2**40)]
        inside = [v for v in limits if v % 2 ** bits(element) == v or abs(v) <= 2 ** (bits(element) - 1)]
        special = np.array([v % 2 ** bits(element) for v in inside], word(element)).view(dtype(element))
        parts = [edges(element), special, data(element, n)]
    return np.concatenate([p.view(word(element)) for p in parts])[:n].view(dtype(element))


def selections(pair: str) -> list[dict[str, str]]:
    source, target, *names = pair.split()
    ratio = max(bits(source), bits(target)) // min(bits(source), bits(target))
    parts = {1: [""], 2: ["EVEN", "ODD"], 4: ["P0", "P1", "P2", "P3"]}[ratio]
    modes = list("RAFCZO") if "rnd" in names else [""]
    sats = ["SAT", "NOSAT"] if "sat" in names else [""]
    count = max(len(parts), len(modes) * len(sats))
    every = [(m, s) for m in modes for s in sats]
    return [
        {"part": parts[i % len(parts)], "rnd": every[i % len(every)][0], "sat": every[i % len(every)][1]}
        for i in range(count)
    ]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("logical", [1000, 7])
def test_every_pair(pair: str, logical: int) -> None:
    source, target, *_ = pair.split()
    chosen = selections(pair)
    vs, vt, m, g = vreg(source), vreg(target), mask(source), granularity(source)
    mt, gt = mask(target), granularity(target)
    n_in, n_out = lanes(source), lanes(target)
    # a 64-bit lane is governed by every eighth bit of the predicate: two b32 lanes each
    active = min(logical, n_in)
    prefix = active * 2 if bits(source) == 64 else active
    lines = [
        f"      %on, %rest = pto.plt_{g} %c{prefix}_i32 : i32 -> {m}, i32",
        f'      %all = pto.pset_{gt} "PAT_ALL" : {mt}',
        f"      %v = pto.vlds %ub_a[%c0] : {ub(source)} -> {vs}",
    ]
    for i, choice in enumerate(chosen):
        given = ", ".join(f'{key} = "{value}"' for key, value in choice.items() if value)
        lines.append(f"      %r{i} = pto.vcvt %v, %on {{{given}}} : {vs}, {m} -> {vt}")
        lines.append(f"      pto.vsts %r{i}, %ub_y[%c{i * n_out}], %all : {vt}, {ub(target)}, {mt}")
    total = n_out * len(chosen)
    text = vector_kernel({"a": (source, n_in)}, {"y": (target, total)}, "\n".join(lines))
    a = cases(source)
    out = outcome(text, a, np.full(total, 0x5A, word(target)))[1].view(word(target)).reshape(len(chosen), n_out)
    for row, choice in zip(out, chosen, strict=True):
        p = {"": 0, "EVEN": 0, "ODD": 1}.get(
            choice["part"], int(choice["part"][-1]) if choice["part"][:1] == "P" else 0
        )
        expected = np.zeros(n_out, word(target))
        if n_out >= n_in:
            step = n_out // n_in
            expected[p::step] = np.array(
                convert(values_of(a, source), source, target, choice["rnd"], choice["sat"]), word(target)
            )
            expected[p::step][active:] = 0
        else:
            step = n_in // n_out
            picked = a[p::step]
            expected[:] = np.array(
                convert(values_of(picked, source), source, target, choice["rnd"], choice["sat"]), word(target)
            )
            expected[np.arange(n_out) * step + p >= active] = 0
        equal(row, expected)


N, LOGICAL = 1024, 1000


def test_widening_through_an_unpacking_load() -> None:
    body = tail_loop(
        "f32",
        N,
        N,
        f"""        %h = pto.vlds %ub_a[%offset] {{dist = "UNPK_B16"}} : {ub("f16")} -> {vreg("f16")}
        %f = pto.vcvt %h, %half {{part = "EVEN"}} : {vreg("f16")}, !pto.mask<b16> -> {vreg("f32")}
        pto.vsts %f, %ub_y[%offset], %mask : {vreg("f32")}, {ub("f32")}, !pto.mask<b32>""",
    )
    body = '      %half = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>\n' + body
    text = vector_kernel({"a": ("f16", N)}, {"y": ("f32", N)}, body)
    a = data("f16", N)
    a[:16] = [
        np.inf,
        -np.inf,
        np.nan,
        65504,
        -65504,
        6.1035e-05,
        5.9605e-08,
        0,
        -0.0,
        1,
        -1,
        0.1,
        3.3,
        1e-7,
        2048,
        2049,
    ]
    close(outcome(text, a, np.zeros(N, "f4"))[1], a.astype("f4"), 0)


@pytest.mark.parametrize("part, first", [("EVEN", 0), ("ODD", 1)])
def test_parts_of_overlapping_windows(part: str, first: int) -> None:
    """128 halves are loaded at every 64th element; the conversion takes every other one."""
    body = f"""      %half = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      scf.for %offset = %c0 to %c1024 step %c64 {{
        %h = pto.vlds %ub_a[%offset] : {ub("f16")} -> {vreg("f16")}
        %f = pto.vcvt %h, %half {{part = "{part}"}} : {vreg("f16")}, !pto.mask<b16> -> {vreg("f32")}
        pto.vsts %f, %ub_y[%offset], %all : {vreg("f32")}, {ub("f32")}, !pto.mask<b32>
      }}"""
    text = vector_kernel({"a": ("f16", N + 64)}, {"y": ("f32", N)}, body)
    a = data("f16", N + 64)
    expected = np.concatenate([a[i : i + 128][first::2] for i in range(0, N, 64)]).astype("f4")
    equal(outcome(text, a, np.zeros(N, "f4"))[1], expected)


def narrow_pairs(source: str, target: str, attributes: str, logical: int) -> str:
    """Two registers narrowed into even and odd lanes, joined with vor, stored under the narrow type's tail mask."""
    vs, vt, p = vreg(source), vreg(target), ub(source)
    return f"""      %_:1 = scf.for %offset = %c0 to %c1024 step %c128
          iter_args(%remaining = %c{logical}_i32) -> (i32) {{
        %store, %next = pto.plt_b16 %remaining : i32 -> !pto.mask<b16>, i32
        %m0, %left = pto.plt_b32 %remaining : i32 -> !pto.mask<b32>, i32
        %m1, %none = pto.plt_b32 %left : i32 -> !pto.mask<b32>, i32
        %upper = arith.addi %offset, %c64 : index
        %x0 = pto.vlds %ub_a[%offset] : {p} -> {vs}
        %x1 = pto.vlds %ub_a[%upper] : {p} -> {vs}
        %even = pto.vcvt %x0, %m0 {{{attributes}, part = "EVEN"}} : {vs}, !pto.mask<b32> -> {vt}
        %odd = pto.vcvt %x1, %m1 {{{attributes}, part = "ODD"}} : {vs}, !pto.mask<b32> -> {vt}
        %both = pto.vor %even, %odd, %store : {vt}, {vt}, !pto.mask<b16> -> {vt}
        pto.vsts %both, %ub_y[%offset], %store : {vt}, {ub(target)}, !pto.mask<b16>
        scf.yield %next : i32
      }}"""


def interleaved(values: np.ndarray, logical: int) -> np.ndarray:
    """What the even/odd idiom stores: 64-element halves of each 128 interleaved, lanes past the tails zero."""
    kept = np.where(np.arange(values.size) < logical, values, 0).astype(values.dtype).reshape(-1, 2, 64)
    return kept.transpose(0, 2, 1).reshape(-1)


@pytest.mark.parametrize("logical", [N, LOGICAL])
def test_narrowing_into_even_and_odd_lanes(logical: int) -> None:
    text = vector_kernel(
        {"a": ("f32", N)}, {"y": ("f16", N)}, narrow_pairs("f32", "f16", 'rnd = "R", sat = "SAT"', logical)
    )
    a = data("f32", N)
    a[:8] = [np.inf, -np.inf, np.nan, 65504, 1e-4, 123.75, 1e-8, 70000]
    clamped = np.nan_to_num(a, nan=0, posinf=65504, neginf=-65504).clip(-65504, 65504).astype("f2")
    out = outcome(text, a, np.full(N, 3, "f2"))[1]
    equal(out[:logical], interleaved(clamped, logical)[:logical])
    equal(out[logical:], np.full(N - logical, 3, "f2"))


def test_narrowing_integers_with_overflow() -> None:
    text = vector_kernel({"a": ("i32", N)}, {"y": ("i16", N)}, narrow_pairs("i32", "i16", 'sat = "SAT"', N))
    a = data("i32", N)
    a[:6] = [32767, 32768, -32768, -32769, 5, -5]
    equal(outcome(text, a, np.zeros(N, "i2"))[1], interleaved(a.clip(-32768, 32767).astype("i2"), N))


def test_narrowing_with_a_packing_store() -> None:
    body = tail_loop(
        "f32",
        N,
        LOGICAL,
        f"""        %x = pto.vlds %ub_a[%offset] : {ub("f32")} -> {vreg("f32")}
        %h = pto.vcvt %x, %mask {{rnd = "R", sat = "SAT", part = "EVEN"}}
          : {vreg("f32")}, !pto.mask<b32> -> {vreg("f16")}
        pto.vsts %h, %ub_y[%offset], %mask {{dist = "PK_B32"}} : {vreg("f16")}, {ub("f16")}, !pto.mask<b32>""",
    )
    text = vector_kernel({"a": ("f32", N)}, {"y": ("f16", N)}, body)
    a = data("f32", N)
    out = outcome(text, a, np.full(N, 3, "f2"))[1]
    equal(out, np.where(np.arange(N) < LOGICAL, a.astype("f2"), np.float16(3)).astype("f2"))


def test_four_parts_of_unsigned_words_in_bytes() -> None:
    v8, v32, p = vreg("ui8"), vreg("ui32"), ub("ui32")
    steps = "\n".join(
        f"""        %o{k} = arith.addi %offset, %c{64 * k} : index
        %x{k} = pto.vlds %ub_a[%o{k}] : {p} -> {v32}
        %p{k} = pto.vcvt %x{k}, %words {{sat = "SAT", part = "P{k}"}} : {v32}, !pto.mask<b32> -> {v8}"""
        for k in range(4)
    )
    body = f"""      %words = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %all = pto.pset_b8 "PAT_ALL" : !pto.mask<b8>
      scf.for %offset = %c0 to %c1024 step %c256 {{
{steps}
        %a01 = pto.vor %p0, %p1, %all : {v8}, {v8}, !pto.mask<b8> -> {v8}
        %a23 = pto.vor %p2, %p3, %all : {v8}, {v8}, !pto.mask<b8> -> {v8}
        %r = pto.vor %a01, %a23, %all : {v8}, {v8}, !pto.mask<b8> -> {v8}
        pto.vsts %r, %ub_y[%offset], %all : {v8}, {ub("ui8")}, !pto.mask<b8>
      }}"""
    text = vector_kernel({"a": ("ui32", N)}, {"y": ("ui8", N)}, body)
    a = np.random.default_rng(2).integers(0, 600, N).astype("u4")
    a[:4] = [0xFFFFFFFF, 255, 256, 0]
    expected = a.clip(0, 255).astype("u1").reshape(-1, 4, 64).transpose(0, 2, 1).reshape(-1)
    equal(outcome(text, a, np.zeros(N, "u1"))[1], expected)


def test_long_integers_to_floats_with_overlapping_packed_stores() -> None:
    """The source steps 32 elements and the destination 16: the last store of a place wins, in program order."""
    body = f"""      %pairs = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %last = scf.for %offset = %c0 to %c512 step %c32 iter_args(%to = %c0) -> (index) {{
        %x = pto.vlds %ub_a[%offset] : {ub("si64")} -> {vreg("si64")}
        %f = pto.vcvt %x, %pairs {{rnd = "R", part = "EVEN"}} : {vreg("si64")}, !pto.mask<b32> -> {vreg("f32")}
        pto.vsts %f, %ub_y[%to], %pairs {{dist = "PK_B64"}} : {vreg("f32")}, {ub("f32")}, !pto.mask<b32>
        %next = arith.addi %to, %c16 : index
        scf.yield %next : index
      }}"""
    text = vector_kernel({"a": ("si64", 512)}, {"y": ("f32", 256)}, body, preload=False)
    a = np.random.default_rng(9).integers(-(2**31), 2**31, 512)
    a[:8] = [2**24 + 1, 2**24 + 3, -(2**24) - 1, -(2**24) - 3, 2**31, -(2**31), 2**53 + 1, (1 << 62) + (1 << 38) + 1]
    expected = a.reshape(16, 32)[:, :16].reshape(-1).astype("f4")
    equal(outcome(text, a, np.zeros(256, "f4"))[1], expected)


@pytest.mark.parametrize("mode", list("RAFCZ"))
@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("spelling", ['"{}"', "ROUND_{}", "{}"])
def test_rounding_to_whole_numbers(element: str, mode: str, spelling: str) -> None:
    if spelling != '"{}"' and element != "f32":
        return
    g = granularity(element)
    body = tail_loop(
        element,
        N,
        LOGICAL,
        f"""        %x = pto.vlds %ub_a[%offset] : {ub(element)} -> {vreg(element)}
        %r = pto.vtrc %x, %mask, {spelling.format(mode)} : {vreg(element)}, !pto.mask<{g}> -> {vreg(element)}
        pto.vsts %r, %ub_y[%offset], %mask : {vreg(element)}, {ub(element)}, !pto.mask<{g}>""",
    )
    text = vector_kernel({"a": (element, N)}, {"y": (element, N)}, body)
    a = data(element, N)
    a[:16] = [0.5, 1.5, 2.5, 3, 3.5, -0.5, -1.5, -2.5, -3.5, np.inf, -np.inf, np.nan, -0.0, 0, -7.5, -0.25]
    out = outcome(text, a, np.zeros(N, dtype(element)))[1]
    x = a.astype(np.float64)
    with np.errstate(invalid="ignore"):
        whole = {
            "R": np.rint(x),
            "A": np.copysign(np.floor(np.abs(x) + 0.5), x),
            "F": np.floor(x),
            "C": np.ceil(x),
            "Z": np.trunc(x),
        }[mode]
        expected = np.where(np.arange(N) < LOGICAL, whole, 0).astype("f4").astype(dtype(element))
    known = ~np.isnan(x)
    equal(out[known], expected[known])
    assert np.isnan(out[11].astype("f4"))


@table("element, kind", ("si32", "i32"), ("si8", "i8"), ("f16", "f16"), ("ui16", "i16"), ("i32", "i32"), ("f32", "f32"))
@pytest.mark.parametrize("order", ["", "ASC", "DESC"])
def test_index_ramp(element: str, kind: str, order: str) -> None:
    n, g = lanes(element), granularity(element)
    if element in FLOATS:
        before = f"    %base = arith.constant 1.000000e+01 : {element}"
        base = 10
    else:
        before = f"    %base = arith.constant -6 : {kind}"
        base = -6
    chosen = f' {{order = "{order}"}}' if order else ""
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : !pto.mask<{g}>
      %r = pto.vci %base{chosen} : {kind} -> {vreg(element)}
      pto.vsts %r, %ub_y[%c0], %all : {vreg(element)}, {ub(element)}, !pto.mask<{g}>"""
    text = vector_kernel({}, {"y": (element, n)}, scope, before=before)
    ramp = base + (np.arange(n) if order != "DESC" else -np.arange(n))
    expected = ramp.astype(dtype(element)) if element in FLOATS else (ramp % 2 ** bits(element)).astype(word(element))
    equal(outcome(text, np.zeros(n, dtype(element)))[0], expected)


def test_byte_ramp_over_a_long_buffer() -> None:
    body = f"""      %all = pto.pset_b8 "PAT_ALL" : !pto.mask<b8>
      scf.for %offset = %c0 to %c1024 step %c256 {{
        %base = arith.index_cast %offset : index to i8
        %r = pto.vci %base : i8 -> {vreg("si8")}
        pto.vsts %r, %ub_y[%offset], %all : {vreg("si8")}, {ub("si8")}, !pto.mask<b8>
      }}"""
    text = vector_kernel({}, {"y": ("si8", N)}, body)
    equal(outcome(text, np.zeros(N, "i1"))[0], (np.arange(N) % 256).astype("u1"))


def test_a_register_read_as_another_type() -> None:
    scope = f"""      %all = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>
      %x = pto.vlds %ub_a[%c0] : {ub("f32")} -> {vreg("f32")}
      %h = pto.vbitcast %x : {vreg("f32")} -> {vreg("i16")}
      %r = pto.vadds %h, %one, %all : {vreg("i16")}, i16, !pto.mask<b16> -> {vreg("i16")}
      pto.vsts %r, %ub_y[%c0], %all : {vreg("i16")}, {ub("i16")}, !pto.mask<b16>"""
    text = vector_kernel({"a": ("f32", 64)}, {"y": ("i16", 128)}, scope, before="    %one = arith.constant 1 : i16")
    a = data("f32", 64)
    equal(outcome(text, a, np.zeros(128, "i2"))[1], a.view("i2") + np.int16(1))


# --- low precision ----------------------------------------------------------------------------------------------------


def lowered(source: str, target: str, attributes: str, values: list[float], parts: int) -> np.ndarray:
    g, n = granularity(source), lanes(source)
    scope = f"""      %on = pto.pset_{g} "PAT_ALL" : !pto.mask<{g}>
      %all = pto.pset_b8 "PAT_ALL" : !pto.mask<b8>
      %x = pto.vlds %ub_a[%c0] : {ub(source)} -> {vreg(source)}
      %r = pto.vcvt %x, %on {{{attributes}}} : {vreg(source)}, !pto.mask<{g}> -> !pto.vreg<256x{target}>
      pto.vsts %r, %ub_y[%c0], %all : !pto.vreg<256x{target}>, {ub(target)}, !pto.mask<b8>"""
    text = vector_kernel({"a": (source, n)}, {"y": (target, 256)}, scope)
    a = np.zeros(n, dtype(source))
    a[: len(values)] = np.array(values, np.float32).astype(dtype(source))
    return outcome(text, a, np.full(256, 0x5A, "u1"))[1][::parts][: len(values)]


def test_eight_bit_floats() -> None:
    e4m3 = lowered(
        "f32", "f8E4M3FN", 'rnd = "R", sat = "SAT", part = "P0"', [1.0625, 1.1875, 1000, np.inf, np.nan, -1.0625], 4
    )
    assert e4m3.tolist() == [0x38, 0x3A, 0x7E, 0x7E, 0x00, 0xB8]
    e5m2 = lowered("f32", "f8E5M2", 'rnd = "R", sat = "SAT", part = "P0"', [1.125, 1.375, 1e10, -np.inf], 4)
    assert e5m2.tolist() == [0x3C, 0x3E, 0x7B, 0xFB]
    assert lowered("f32", "f8E4M3FN", 'rnd = "R", sat = "NOSAT", part = "P0"', [np.nan, np.inf, 1000], 4).tolist() == [
        0x7F,
        0x7F,
        0x7F,
    ]
    assert lowered("f32", "f8E5M2", 'rnd = "R", sat = "NOSAT", part = "P0"', [np.nan, np.inf, -1e9], 4).tolist() == [
        0x7E,
        0x7C,
        0xFC,
    ]


def test_hif8() -> None:
    values = [np.nan, np.inf, -np.inf, 1.0, 16.0, -16.0, 2.0**-22, 32768.0, 40959.0, 40960.0, 0.0, -0.0, 1.125, 2**-9]
    codes = lowered("f32", "!pto.hif8", 'rnd = "A", sat = "NOSAT", part = "P0"', values, 4)
    assert codes[:8].tolist() == [0x80, 0x6F, 0xEF, 0x08, 0x40, 0xC0, 0x01, 0x6E]
    assert codes[8:13].tolist() == [0x6E, 0x6F, 0x00, 0x00, 0x09]
    assert codes[13] == 0b0_11_1_001_0


@table(
    "target, values, codes",
    ("!pto.f4E1M2x2", [0.625, 0.875, -0.625, 9, -0.0, np.inf, -np.inf, np.nan], [2, 4, 10, 7, 8, 7, 15, 0]),
    ("!pto.f4E2M1x2", [0.75, 1.25, 1.75, -1.75, 100, 6, np.nan, 0.2], [2, 2, 4, 12, 7, 7, 0, 0]),
)
def test_four_bit_floats(target: str, values: list[float], codes: list[int]) -> None:
    out = lowered("bf16", target, 'rnd = "R", part = "P0"', values, 4)
    assert out[:4].tolist() == [codes[2 * i] | codes[2 * i + 1] << 4 for i in range(4)]


@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2", "!pto.hif8"])
def test_eight_bit_floats_widen_exactly(kind: str) -> None:
    """All 256 codes, as numbers written out from the formats' definitions."""
    scope = (
        '      %all = pto.pset_b8 "PAT_ALL" : !pto.mask<b8>\n      %wide = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>\n'
    )
    scope += f"      %x = pto.vlds %ub_a[%c0] : {ub(kind)} -> !pto.vreg<256x{kind}>\n"
    for p in range(4):
        scope += f"""      %r{p} = pto.vcvt %x, %all {{part = "P{p}"}}
        : !pto.vreg<256x{kind}>, !pto.mask<b8> -> {vreg("f32")}
      pto.vsts %r{p}, %ub_y[%c{64 * p}], %wide : {vreg("f32")}, {ub("f32")}, !pto.mask<b32>
"""
    text = vector_kernel({"a": (kind, 256)}, {"y": ("f32", 256)}, scope)
    out = outcome(text, np.arange(256, dtype="u1"), np.zeros(256, "f4"))[1]
    expected = np.array([decoded(kind, code) for code in range(256)], "f4")
    close(out.reshape(4, 64), expected.reshape(64, 4).T, 0)


def decoded(kind: str, code: int) -> float:
    sign, low = (-1.0 if code & 0x80 else 1.0), code & 0x7F
    if kind == "f8E4M3FN":
        e, m = low >> 3, low & 7
        return np.nan if low == 0x7F else sign * (m * 2.0**-9 if e == 0 else (1 + m / 8) * 2.0 ** (e - 7))
    if kind == "f8E5M2":
        e, m = low >> 2, low & 3
        if e == 31:
            return np.nan if m else sign * np.inf
        return sign * (m * 2.0**-16 if e == 0 else (1 + m / 4) * 2.0 ** (e - 15))
    if low in (0, 0x6F):
        return {0x00: 0.0, 0x80: np.nan, 0x6F: np.inf, 0xEF: -np.inf}[code]
    if low >> 3 == 0:
        return sign * 2.0 ** (low - 23)
    for width, prefix, mantissa in ((4, 0b11, 1), (3, 0b10, 2), (2, 0b01, 3)):
        if low >> 5 == prefix:
            exponent = low >> mantissa & (1 << width) - 1
            magnitude = (1 << (width - 1)) + (exponent & (1 << (width - 1)) - 1)
            e = -magnitude if exponent >> (width - 1) else magnitude
            return sign * 2.0**e * (1 + (low & (1 << mantissa) - 1) / (1 << mantissa))
    e = 0 if low >> 3 == 1 else (-1 if low >> 3 & 1 else 1)
    return sign * 2.0**e * (1 + (low & 7) / 8)
