"""Predicate images in memory: generation, algebra, packing, interleaving, loads and stores, the composition idioms."""

import numpy as np
import pytest

from golden.numbers import data, equal
from golden.program import outcome, ub, vector_kernel, vreg
from tables import table

STRIDE = {"b8": 1, "b16": 2, "b32": 4}
LANES = {"b8": 256, "b16": 128, "b32": 64}
PATTERNS = "ALL VL1 VL2 VL3 VL4 VL8 VL16 VL32 VL64 VL128 M3 M4 H Q ALLF".split()
FULL = {"b8": 0xFFFFFFFF, "b16": 0x55555555, "b32": 0x11111111}


def pattern(name: str, g: str) -> np.ndarray:
    """The 256-bit image of a pattern token."""
    n = LANES[g]
    i = np.arange(n)
    if name.startswith("VL"):
        on = i < int(name[2:])
    else:
        on = {"ALL": i >= 0, "ALLF": i < 0, "M3": i % 3 == 0, "M4": i % 4 == 0, "H": i < n // 2, "Q": i < n // 4}[name]
    return spread(on, g)


def spread(on: np.ndarray, g: str) -> np.ndarray:
    bits = np.zeros(256, "u1")
    bits[:: STRIDE[g]] = on
    return bits


def prefix(n: int, g: str) -> np.ndarray:
    return spread(np.arange(LANES[g]) < n, g)


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


@pytest.mark.parametrize("g", LANES)
@pytest.mark.parametrize("op", ["pset", "pge"])
def test_patterns(op: str, g: str) -> None:
    lines = [f'      %m{i} = pto.{op}_{g} "PAT_{name}" : !pto.mask<{g}>' for i, name in enumerate(PATTERNS)]
    lines += [store(f"m{i}", g, i) for i in range(len(PATTERNS))]
    out = stored("\n".join(lines), len(PATTERNS))
    for row, name in zip(out, PATTERNS, strict=True):
        equal(row, pattern(name, g))


def test_words_of_the_document() -> None:
    words = packed(pattern("M3", "b8")).view("u4").tolist()
    assert words[:3] == [0x49249249, 0x92492492, 0x24924924]
    assert packed(prefix(7, "b16")).view("u4")[0] == 0x1555


@pytest.mark.parametrize("g", LANES)
def test_prefix_masks_and_their_remainders(g: str) -> None:
    counts = [13, 7, 3, 1, 0, 143, 145, 175, 64, 128, 256, 1000]
    lines: list[str] = []
    for i, n in enumerate(counts):
        lines.append(f"      %m{i}, %n{i} = pto.plt_{g} %c{n}_i32 : i32 -> !pto.mask<{g}>, i32")
        lines.append(store(f"m{i}", g, i))
        lines.append(f"      pto.store_scalar %n{i}, %ub_n[%c{i}] : {ub('i32')}, i32")
    text = vector_kernel({}, {"y": ("ui8", 32 * len(counts)), "n": ("i32", 16)}, "\n".join(lines))
    y, rest = outcome(text, np.zeros(32 * len(counts), "u1"), np.full(16, -1, "i4"))
    for row, n in zip(np.unpackbits(y, bitorder="little").reshape(-1, 256), counts, strict=True):
        equal(row, prefix(n, g))
    assert rest[: len(counts)].tolist() == [n - LANES[g] if n >= LANES[g] else 0 for n in counts]


@pytest.mark.parametrize("g", LANES)
def test_prefix_of_a_loop_iteration(g: str) -> None:
    lines = []
    for i, (loop, bound) in enumerate([(0, 13), (1, 300), (2, 300), (1, 64), (0, 0), (3, 5000)]):
        lines.append(f"      %m{i} = pto.pltm_{g} %c{loop}_i16, %c{bound}_i32 : i16, i32 -> !pto.mask<{g}>")
        lines.append(store(f"m{i}", g, i))
    out = stored("\n".join(lines), 6)
    for row, (loop, bound) in zip(out, [(0, 13), (1, 300), (2, 300), (1, 64), (0, 0), (3, 5000)], strict=True):
        equal(row, spread(np.arange(LANES[g]) + loop * LANES[g] < bound, g))


def test_algebra() -> None:
    m = "!pto.mask<b32>"
    scope = f"""      %all = pto.pset_b32 "PAT_ALL" : {m}
      %thirteen, %rx = pto.plt_b32 %c13_i32 : i32 -> {m}, i32
      %seven, %ry = pto.plt_b32 %c7_i32 : i32 -> {m}, i32
      %m3 = pto.pset_b32 "PAT_M3" : {m}
      %r0 = pto.pand %thirteen, %seven, %all : {m}, {m}, {m} -> {m}
      %r1 = pto.por %thirteen, %seven, %all : {m}, {m}, {m} -> {m}
      %r2 = pto.pxor %thirteen, %seven, %all : {m}, {m}, {m} -> {m}
      %r3 = pto.pnot %thirteen, %all : {m}, {m} -> {m}
      %r4 = pto.pnot %thirteen, %m3 : {m}, {m} -> {m}
      %r5 = pto.psel %all, %thirteen, %thirteen : {m}, {m}, {m} -> {m}
      %r6 = pto.psel %thirteen, %all, %thirteen : {m}, {m}, {m} -> {m}
      %r7 = pto.psel %m3, %thirteen, %seven : {m}, {m}, {m} -> {m}
      %r8 = pto.por %thirteen, %m3, %seven : {m}, {m}, {m} -> {m}
""" + "\n".join(store(f"r{i}", "b32", i) for i in range(9))
    out = stored(scope, 9)
    words = packed(out.reshape(-1)).view("u4").reshape(9, 8)
    assert words[0].tolist() == [0x01111111] + [0] * 7
    assert words[1].tolist() == [0x11111111, 0x00011111] + [0] * 6
    assert words[2].tolist() == [0x10000000, 0x00011111] + [0] * 6
    assert words[3].tolist() == [0, 0x11100000] + [0x11111111] * 6
    x, y, m3 = prefix(13, "b32"), prefix(7, "b32"), pattern("M3", "b32")
    equal(out[4], m3 & (1 - x))
    equal(out[5], x)
    equal(out[6], pattern("ALL", "b32"))
    equal(out[7], np.where(y, m3, x).astype("u1"))
    equal(out[8], y & (x | m3))


def test_packing_and_unpacking() -> None:
    m = "!pto.mask<{}>"
    b8, b16, b32 = (m.format(g) for g in LANES)
    scope = f"""      %all = pto.pset_b32 "PAT_ALL" : {b32}
      %m4 = pto.pset_b32 "PAT_M4" : {b32}
      %p0 = pto.ppack %all, "LOWER" : {b32} -> {b16}
      %p1 = pto.ppack %m4, "HIGHER" : {b32} -> {b32}
      %p2 = pto.ppack %p0, "LOWER" : {b16} -> {b8}
      %u0 = pto.punpack %p0, "LOWER" : {b16} -> {b32}
      %u1 = pto.punpack %p1, "HIGHER" : {b32} -> {b32}
      %u2 = pto.punpack %p2, "HIGHER" : {b8} -> {b16}
      %u3 = pto.punpack %p2, "LOWER" : {b8} -> {b16}
""" + "\n".join(
        store(name, g, i)
        for i, (name, g) in enumerate(
            [("p0", "b16"), ("p1", "b32"), ("p2", "b8"), ("u0", "b32"), ("u1", "b32"), ("u2", "b16"), ("u3", "b16")]
        )
    )
    words = packed(stored(scope, 7).reshape(-1)).view("u4").reshape(7, 8).tolist()
    assert words[0] == [0x55555555] * 4 + [0] * 4
    assert words[1] == [0] * 4 + [0x01010101] * 4
    assert words[2] == [0xFFFFFFFF] * 2 + [0] * 6
    assert words[3] == [0x11111111] * 8
    assert words[4] == [0x00010001] * 8
    assert words[5] == [0] * 8
    assert words[6] == [0x55555555] * 4 + [0] * 4


INTERLEAVED = {
    ("pdintlv", "b8", "ALL", "ALLF"): ([0xFFFFFFFF] * 4 + [0] * 4, [0xFFFFFFFF] * 4 + [0] * 4),
    ("pdintlv", "b16", "ALL", "ALLF"): ([0x55555555] * 4 + [0] * 4, [0x55555555] * 4 + [0] * 4),
    ("pdintlv", "b32", "ALL", "ALLF"): ([0x11111111] * 4 + [0] * 4, [0x11111111] * 4 + [0] * 4),
    ("pdintlv", "b8", "VL8", "M4"): ([0x0F, 0, 0, 0] + [0x55555555] * 4, [0x0F] + [0] * 7),
    ("pdintlv", "b16", "VL8", "M4"): ([0x55, 0, 0, 0] + [0x11111111] * 4, [0x55] + [0] * 7),
    ("pdintlv", "b32", "VL8", "M4"): ([0x1111, 0, 0, 0] + [0x01010101] * 4, [0x1111] + [0] * 7),
    ("pintlv", "b8", "ALL", "ALLF"): ([0x55555555] * 8, [0x55555555] * 8),
    ("pintlv", "b16", "ALL", "ALLF"): ([0x11111111] * 8, [0x11111111] * 8),
    ("pintlv", "b32", "ALL", "ALLF"): ([0x01010101] * 8, [0x01010101] * 8),
    ("pintlv", "b8", "VL8", "M4"): ([0x02025757] + [0x02020202] * 7, [0x02020202] * 8),
    ("pintlv", "b16", "VL8", "M4"): ([0x11151115] + [0x00040004] * 7, [0x00040004] * 8),
    ("pintlv", "b32", "VL8", "M4"): ([0x01010111] * 2 + [0x00000010] * 6, [0x00000010] * 8),
}


@pytest.mark.parametrize("case", INTERLEAVED, ids="-".join)
def test_interleaving(case: tuple[str, str, str, str]) -> None:
    op, g, left, right = case
    m = f"!pto.mask<{g}>"
    scope = f"""      %a = pto.pset_{g} "PAT_{left}" : {m}
      %b = pto.pge_{g} "PAT_{right}" : {m}
      %lo, %hi = pto.{op}_{g} %a, %b : {m}, {m} -> {m}, {m}
{store("lo", g, 0)}
{store("hi", g, 1)}"""
    words = packed(stored(scope, 2).reshape(-1)).view("u4").reshape(2, 8).tolist()
    if case == ("pintlv", "b16", "VL8", "M4"):
        # lane 0 of both, then lanes 1..7 of the prefix, lane 4 of both: written out from the definition below
        a, b = pattern(left, g).reshape(-1, 2), pattern(right, g).reshape(-1, 2)
        stream = np.stack([a, b], 1).reshape(-1)
        assert words == packed(stream).view("u4").reshape(2, 8).tolist()
    assert tuple(words) == INTERLEAVED[case]


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
