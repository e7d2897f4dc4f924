"""Conversions in kernels as people write them: lane placement, the packing idioms, index ramps."""

import numpy as np
import pytest

from golden.numbers import FLOATS, close, data, dtype, equal, word
from golden.program import bits, granularity, lanes, outcome, tail_loop, ub, vector_kernel, vreg
from tables import table

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
