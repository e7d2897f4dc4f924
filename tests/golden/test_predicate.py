"""Predicate images in memory: loads and stores, streams, and how idioms compose them."""

import numpy as np
import pytest

from golden.numbers import data, equal
from golden.program import outcome, ub, vector_kernel, vreg
from tables import table

STRIDE = {"b8": 1, "b16": 2, "b32": 4}


def spread(on: np.ndarray, g: str) -> np.ndarray:
    bits = np.zeros(256, "u1")
    bits[:: STRIDE[g]] = on
    return bits


def packed(bits: np.ndarray) -> np.ndarray:
    return np.packbits(bits.astype("u1"), bitorder="little")


def stored(
    scope: str, images: int, inputs: dict[str, tuple[str, int]] | None = None, *arrays: np.ndarray
) -> np.ndarray:
    """The 32-byte images that a scope stores at %ub_y, as rows of 256 bits."""
    text = vector_kernel(inputs or {}, {"y": ("ui8", 32 * images)}, scope)
    out = outcome(text, *arrays, np.full(32 * images, 0xC3, "u1"))[-1]
    return np.unpackbits(out, bitorder="little").reshape(images, 256)


def store(name: str, g: str, image: int) -> str:
    return f'      pto.psts %{name}, %ub_y[%c{32 * image}], "NORM" : !pto.mask<{g}>, {ub("ui8")}, index'


@pytest.mark.parametrize("op", ["pintlv", "pdintlv"])
def test_loaded_bits_meet_an_empty_mask(op: str) -> None:
    """Whole groups of bits move, once and once more; that the other mask is empty is known to the compiler."""
    image = np.random.default_rng(17).integers(0, 256, 32, np.uint8)
    lines, expected = [], []
    for g, stride in STRIDE.items():
        m = f"!pto.mask<{g}>"
        lines += [f'      %x{g} = pto.plds %ub_x[%c0], "NORM" : {ub("ui8")}, index -> {m}']
        lines += [f'      %none{g} = pto.pset_{g} "PAT_ALLF" : {m}']
        for way in (1, -1):
            name, bits = f"x{g}", np.unpackbits(image, bitorder="little")
            for _ in range(2):
                pair = ", ".join([f"%{name}", f"%none{g}"][::way])
                low, high = f"v{len(expected)}", f"v{len(expected) + 1}"
                lines += [f"      %{low}, %{high} = pto.{op}_{g} {pair} : {m}, {m} -> {m}, {m}"]
                lines += [store(low, g, len(expected)), store(high, g, len(expected) + 1)]
                groups = [bits.reshape(-1, stride), np.zeros((256 // stride, stride), "u1")][::way]
                both = np.stack(groups, 1) if op == "pintlv" else np.concatenate(groups).reshape(-1, 2, stride)
                expected += list((both if op == "pintlv" else both.swapaxes(0, 1)).reshape(2, 256))
                name, bits = low, expected[-2]
    np.testing.assert_array_equal(stored("\n".join(lines), len(expected), {"x": ("ui8", 32)}, image), expected)


@table("load, store_dist", ("NORM", "NORM"), ("US", "PK"), ("DS", "NORM"), ("US", "NORM"), ("NORM", "PK"))
@pytest.mark.parametrize("form", ["dynamic", "immediate", "post"])
def test_loads_and_stores(load: str, store_dist: str, form: str) -> None:
    """Byte offsets for the dynamic forms, units of the access for immediate ones, the base as it is with a result."""
    m, p = "!pto.mask<b8>", ub("ui8")
    load_unit = {"NORM": 32, "US": 16, "DS": 32}[load]
    store_unit = {"NORM": 32, "PK": 16}[store_dist]
    if form == "dynamic":
        scope = f"""      %k = pto.plds %ub_x[%c64], "{load}" : {p}, index -> {m}
      pto.psts %k, %ub_y[%c96], "{store_dist}" : {m}, {p}, index"""
        source, target = 64, 96
    elif form == "immediate":
        scope = f"""      %k = pto.pldi %ub_x[%c3], "{load}" : {p}, index -> {m}
      pto.psti %k, %ub_y[%c2], "{store_dist}" : {m}, {p}, index"""
        source, target = 3 * load_unit, 2 * store_unit
    else:
        scope = f"""      %k, %nx = pto.plds %ub_x[%c64], "{load}" : {p}, index -> {m}, {p}
      %k2 = pto.plds %nx[%c0], "NORM" : {p}, index -> {m}
      %ny = pto.psts %k, %ub_y[%c32], "{store_dist}" : {m}, {p}, index -> {p}
      pto.psts %k2, %ny[%c32], "NORM" : {m}, {p}, index"""
        source, target = 0, 0
    text = vector_kernel({"x": ("ui8", 256)}, {"y": ("ui8", 256)}, scope)
    x = data("ui8", 256)
    out = outcome(text, x, np.full(256, 0xA5, "u1"))[1]
    bits = np.unpackbits(x[source:], bitorder="little")
    image = {"NORM": bits[:256], "US": np.repeat(bits[:128], 2), "DS": bits[:512:2]}[load]
    expected = np.full(256, 0xA5, "u1")
    payload = packed(image) if store_dist == "NORM" else packed(image[::2])
    expected[target : target + payload.size] = payload
    if form == "post":
        expected[64:96] = x[64:96]
    equal(out, expected)


def test_immediate_pairs_of_a_store_and_a_load() -> None:
    """Store PK at unit 8, read it back with US at unit 8; store NORM at unit 1, read it with DS at unit 1."""
    m, p = "!pto.mask<b8>", ub("ui8")
    scope = f"""      %a, %ra = pto.plt_b8 %c145_i32 : i32 -> {m}, i32
      %b, %rb = pto.plt_b8 %c143_i32 : i32 -> {m}, i32
      %none = pto.pset_b8 "PAT_ALLF" : {m}
      pto.psti %a, %ub_s[%c8], "PK" : {m}, {p}, index
      pto.psti %b, %ub_s[%c1], "NORM" : {m}, {p}, index
      pto.psti %none, %ub_s[%c2], "NORM" : {m}, {p}, index
      pto.mem_bar "VST_VLD"
      %c = pto.pldi %ub_s[%c8], "US" : {p}, index -> {m}
      %d = pto.pldi %ub_s[%c1], "DS" : {p}, index -> {m}
{store("c", "b8", 0)}
{store("d", "b8", 1)}"""
    text = vector_kernel({"s": ("ui8", 256)}, {"y": ("ui8", 64)}, scope)
    out = outcome(text, np.zeros(256, "u1"), np.zeros(64, "u1"))[1]
    rows = np.unpackbits(out, bitorder="little").reshape(2, 256)
    equal(rows[0], (np.arange(256) < 146).astype("u1"))
    equal(rows[1], (np.arange(256) < 72).astype("u1"))


# --- composition idioms -----------------------------------------------------------------------------------------------


def test_a_bitmap_becomes_two_select_masks() -> None:
    v, p = vreg("f32"), ub("f32")
    b8, b16, b32 = "!pto.mask<b8>", "!pto.mask<b16>", "!pto.mask<b32>"
    scope = f"""      %m8 = pto.plds %ub_bits[%c0], "US" : {ub("ui8")}, index -> {b8}
      %m16 = pto.pbitcast %m8 : {b8} -> {b16}
      %all16 = pto.pset_b16 "PAT_ALL" : {b16}
      %all = pto.pset_b32 "PAT_ALL" : {b32}
      %lo16, %hi16 = pto.pintlv_b16 %m16, %all16 : {b16}, {b16} -> {b16}, {b16}
      %lo = pto.pbitcast %lo16 : {b16} -> {b32}
      %hi = pto.pbitcast %hi16 : {b16} -> {b32}
      %a0 = pto.vlds %ub_a[%c0] : {p} -> {v}
      %b0 = pto.vlds %ub_b[%c0] : {p} -> {v}
      %a1 = pto.vlds %ub_a[%c64] : {p} -> {v}
      %b1 = pto.vlds %ub_b[%c64] : {p} -> {v}
      %r0 = pto.vsel %a0, %b0, %lo : {v}, {v}, {b32} -> {v}
      %r1 = pto.vsel %a1, %b1, %hi : {v}, {v}, {b32} -> {v}
      pto.vsts %r0, %ub_y[%c0], %all : {v}, {p}, {b32}
      pto.vsts %r1, %ub_y[%c64], %all : {v}, {p}, {b32}"""
    text = vector_kernel({"bits": ("ui8", 32), "a": ("f32", 128), "b": ("f32", 128)}, {"y": ("f32", 128)}, scope)
    bitmap, a, b = data("ui8", 32), data("f32", 128, 1), data("f32", 128, 2)
    chosen = np.unpackbits(bitmap[:16], bitorder="little").astype(bool)
    equal(outcome(text, bitmap, a, b, np.zeros(128, "f4"))[3], np.where(chosen, a, b))


def compares(count: int) -> str:
    v, p, m = vreg("f32"), ub("f32"), "!pto.mask<b32>"
    return f'      %all = pto.pset_b32 "PAT_ALL" : {m}\n' + "".join(
        f"""      %v{i} = pto.vlds %ub_a[%c{64 * i}] : {p} -> {v}
      %m{i} = pto.vcmps %v{i}, %zero, %all, "gt" : {v}, f32, {m} -> {m}
"""
        for i in range(count)
    )


def test_two_compares_become_sixteen_bytes() -> None:
    scope = (
        compares(2)
        + f"""      %e0 = pto.pbitcast %m0 : !pto.mask<b32> -> !pto.mask<b8>
      %e1 = pto.pbitcast %m1 : !pto.mask<b32> -> !pto.mask<b8>
      %lo, %hi = pto.pdintlv_b8 %e0, %e1 : !pto.mask<b8>, !pto.mask<b8> -> !pto.mask<b8>, !pto.mask<b8>
      pto.psts %lo, %ub_y[%c0], "PK" : !pto.mask<b8>, {ub("ui8")}, index"""
    )
    text = vector_kernel({"a": ("f32", 128)}, {"y": ("ui8", 32)}, scope, before="    %zero = arith.constant 0.0 : f32")
    a = data("f32", 128)
    out = outcome(text, a, np.full(32, 0x77, "u1"))[1]
    equal(out[:16], packed(a > 0))
    equal(out[16:], np.full(16, 0x77, "u1"))


def test_a_compare_packed_twice_is_one_bit_per_lane() -> None:
    scope = (
        compares(1)
        + f"""      %h = pto.ppack %m0, "LOWER" : !pto.mask<b32> -> !pto.mask<b16>
      %q = pto.ppack %h, "LOWER" : !pto.mask<b16> -> !pto.mask<b8>
      pto.psts %q, %ub_y[%c0], "NORM" : !pto.mask<b8>, {ub("ui8")}, index"""
    )
    text = vector_kernel({"a": ("f32", 64)}, {"y": ("ui8", 32)}, scope, before="    %zero = arith.constant 0.0 : f32")
    a = data("f32", 64)
    out = outcome(text, a, np.full(32, 0x77, "u1"))[1]
    equal(out, np.concatenate([packed(a > 0), np.zeros(24, "u1")]))


def test_packed_bits_become_a_word_mask() -> None:
    """plds US doubles the bits and punpack widens them: bits that decide no lane stay set and are ignored."""
    v, p = vreg("i32"), ub("i32")
    scope = f"""      %m = pto.plds %ub_bits[%c0], "US" : {ub("ui8")}, index -> !pto.mask<b16>
      %w = pto.punpack %m, "LOWER" : !pto.mask<b16> -> !pto.mask<b32>
      %a = pto.vlds %ub_x[%c0] : {p} -> {v}
      pto.vsts %a, %ub_y[%c0], %w : {v}, {p}, !pto.mask<b32>"""
    text = vector_kernel({"bits": ("ui8", 32), "x": ("i32", 64)}, {"y": ("i32", 64)}, scope)
    bitmap, x = data("ui8", 32), data("i32", 64)
    chosen = np.unpackbits(bitmap[:8], bitorder="little").astype(bool)
    equal(outcome(text, bitmap, x, np.full(64, 5, "i4"))[2], np.where(chosen, x, 5).astype("i4"))


def test_two_word_masks_become_one_half_word_mask() -> None:
    b16, b32 = "!pto.mask<b16>", "!pto.mask<b32>"
    scope = (
        compares(2)
        + f"""      %e, %o = pto.pdintlv_b32 %m0, %m1 : {b32}, {b32} -> {b32}, {b32}
      %eh = pto.ppack %e, "LOWER" : {b32} -> {b16}
      %oh = pto.ppack %o, "LOWER" : {b32} -> {b16}
      %lo, %hi = pto.pintlv_b16 %eh, %oh : {b16}, {b16} -> {b16}, {b16}
{store("lo", "b16", 0)}"""
    )
    text = vector_kernel({"a": ("f32", 128)}, {"y": ("ui8", 32)}, scope, before="    %zero = arith.constant 0.0 : f32")
    a = data("f32", 128)
    equal(outcome(text, a, np.zeros(32, "u1"))[1], packed(spread(a > 0, "b16")))


# --- predicate streams ------------------------------------------------------------------------------------------------


def test_word_mask_stream() -> None:
    p, m, al = ub("ui32"), "!pto.mask<b32>", "!pto.align"
    scope = f"""      %a0 = pto.init_align : {al}
      %x, %rx = pto.plt_b32 %c13_i32 : i32 -> {m}, i32
      %z, %rz = pto.plt_b32 %c7_i32 : i32 -> {m}, i32
      %a, %b = scf.for %i = %c0 to %c2 step %c1 iter_args(%al = %a0, %base = %ub_y) -> ({al}, {p}) {{
        %a1, %b1 = pto.pstu %al, %x, %base : {al}, {m}, {p} -> {al}, {p}
        %a2, %b2 = pto.pstu %a1, %z, %b1 : {al}, {m}, {p} -> {al}, {p}
        scf.yield %a2, %b2 : {al}, {p}
      }}
      pto.vstas %a, %b, %c0_i32 : {al}, {p}, i32"""
    text = vector_kernel({}, {"y": ("ui32", 16)}, scope)
    out = outcome(text, np.full(16, 9, "u4"))[0].tolist()
    assert out == [0x1FFF, 0, 0x7F, 0, 0x1FFF, 0, 0x7F, 0] + [9] * 8


def test_half_word_mask_stream() -> None:
    p, m, al = ub("ui16"), "!pto.mask<b16>", "!pto.align"
    scope = f"""      %a0 = pto.init_align : {al}
      %x, %rx = pto.plt_b16 %c1_i32 : i32 -> {m}, i32
      %z, %rz = pto.plt_b16 %c127_i32 : i32 -> {m}, i32
      %a1, %b1 = pto.pstu %a0, %x, %ub_y : {al}, {m}, {p} -> {al}, {p}
      %a2, %b2 = pto.pstu %a1, %z, %b1 : {al}, {m}, {p} -> {al}, {p}
      pto.vstas %a2, %b2, %c0_i32 : {al}, {p}, i32"""
    text = vector_kernel({}, {"y": ("ui16", 32)}, scope)
    out = outcome(text, np.full(32, 0xEEEE, "u2"))[0].view("u1").tolist()
    assert out == [1] + [0] * 15 + [255] * 15 + [127] + [0xEE] * 32


def test_a_short_stream_is_flushed_only_as_far_as_it_reached() -> None:
    p, m, al = ub("ui32"), "!pto.mask<b32>", "!pto.align"
    scope = f"""      %a0 = pto.init_align : {al}
      %x, %rx = pto.plt_b32 %c40_i32 : i32 -> {m}, i32
      %a1, %b1 = pto.pstu %a0, %x, %ub_y : {al}, {m}, {p} -> {al}, {p}
      pto.vstas %a1, %b1, %c0_i32 : {al}, {p}, i32"""
    text = vector_kernel({}, {"y": ("ui32", 16)}, scope)
    assert outcome(text, np.full(16, 9, "u4"))[0].tolist() == [0xFFFFFFFF, 0xFF] + [9] * 14
