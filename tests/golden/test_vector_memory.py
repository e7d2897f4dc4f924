"""Loads, stores and streams of vectors in whole kernels: loops, moved pointers, tails, compaction."""

import numpy as np
import pytest

from golden.numbers import data, equal
from golden.program import outcome, tail_loop, ub, vector_kernel, vreg

B8, B16, B32 = "!pto.mask<b8>", "!pto.mask<b16>", "!pto.mask<b32>"


def test_post_update_pointers_through_a_loop() -> None:
    """The access is at the unmodified base; the offset only moves the pointer that comes back."""
    v, p = vreg("f32"), ub("f32")
    scope = f"""      %all = pto.pset_b32 "PAT_ALL" : {B32}
      %e:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %ub_a, %d = %ub_y) -> ({p}, {p}) {{
        %x, %s2 = pto.vlds %s[%c64] : {p} -> {v}, {p}
        %d2 = pto.vsts %x, %d[%c64], %all : {v}, {p}, {B32} -> {p}
        scf.yield %s2, %d2 : {p}, {p}
      }}
      %lo, %hi, %n = pto.vldsx2 %e#0[%c128], "DINTLV_B32" : {p}, index -> {v}, {v}, {p}
      %last = pto.vlds %n[%c0] : {p} -> {v}
      pto.vsts %lo, %e#1[%c0], %all : {v}, {p}, {B32}
      pto.vsts %hi, %e#1[%c64], %all : {v}, {p}, {B32}
      pto.vsts %last, %e#1[%c128], %all : {v}, {p}, {B32}"""
    text = vector_kernel({"a": ("f32", 448)}, {"y": ("f32", 448)}, scope)
    a = data("f32", 448)
    expected = np.concatenate([a[:256], a[256:384:2], a[257:384:2], a[384:448]])
    equal(outcome(text, a, np.zeros(448, "f4"))[1], expected)


def test_tail_of_thirteen_lanes_and_thousand_elements() -> None:
    for count, logical in ((1024, 1000), (64, 13)):
        body = tail_loop(
            "i16" if count > 64 else "f32",
            count,
            logical,
            """        %x = pto.vlds %ub_a[%offset] : P -> V
        pto.vsts %x, %ub_y[%offset], %mask : V, P, M""".replace("P", ub("i16" if count > 64 else "f32"))
            .replace("V", vreg("i16" if count > 64 else "f32"))
            .replace(" M", " " + (B16 if count > 64 else B32)),
        )
        element, kind = ("i16", "i2") if count > 64 else ("f32", "f4")
        text = vector_kernel({"a": (element, count)}, {"y": (element, count)}, body)
        a = data(element, count)
        out = outcome(text, a, np.full(count, 2, kind))[1]
        equal(out, np.where(np.arange(count) < logical, a, 2).astype(kind))


def test_merging_stores_are_flagged_and_interleave_planes() -> None:
    import ptosim

    scope = f"""      %on = pto.pset_b32 "PAT_ALL" : {B32}
      %x = pto.vlds %ub_a[%c0] : {ub("ui8")} -> {vreg("ui8")}
      pto.vsts %x, %ub_y[%c0], %on {{dist = "MRG4CHN_B8"}} : {vreg("ui8")}, {ub("ui8")}, {B32}"""
    text = vector_kernel({"a": ("ui8", 256)}, {"y": ("ui8", 256)}, scope)
    assert any("MRG4CHN" in w.message or "hardware" in w.message for w in ptosim.load(text).warnings)
    a = data("ui8", 256)
    equal(outcome(text, a, np.zeros(256, "u1"))[1], a.reshape(8, 4, 8).transpose(0, 2, 1).reshape(-1))


# --- block strides ----------------------------------------------------------------------------------------------------


def test_block_strides_with_post_update_and_partial_masks() -> None:
    """A load reads a block when any bit of its group is on; a store writes single elements."""
    v, p = vreg("f32"), ub("f32")
    scope = f"""      %some, %rest = pto.plt_b32 %c13_i32 : i32 -> {B32}, i32
      %all = pto.pset_b32 "PAT_ALL" : {B32}
      %e:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %ub_a, %d = %ub_y) -> ({p}, {p}) {{
        %x, %s2 = pto.vsldb %s, %c1_i16, %c8_i16, %some : {p}, i16, i16, {B32} -> {v}, {p}
        %d2 = pto.vsstb %x, %d, %c1_i16, %c8_i16, %all : {v}, {p}, i16, i16, {B32} -> {p}
        scf.yield %s2, %d2 : {p}, {p}
      }}
      %f = pto.vlds %ub_a[%c0] : {p} -> {v}
      pto.vsstb %f, %e#1, %c1_i16, %c0_i16, %some : {v}, {p}, i16, i16, {B32}"""
    text = vector_kernel({"a": ("f32", 128)}, {"y": ("f32", 192)}, scope)
    a = data("f32", 128)
    expected = np.full(192, 6, "f4")
    for i in range(2):
        expected[64 * i : 64 * i + 64] = np.where(np.arange(64) < 16, a[64 * i : 64 * i + 64], 0)
    expected[128:141] = a[:13]
    equal(outcome(text, a, np.full(192, 6, "f4"))[1], expected)


# --- gathers and scatters ---------------------------------------------------------------------------------------------


def test_gather_under_a_compare_mask() -> None:
    v, vi = vreg("f32"), vreg("i32")
    scope = f"""      %all = pto.pset_b32 "PAT_ALL" : {B32}
      %i = pto.vlds %ub_i[%c0] : {ub("i32")} -> {vi}
      %on = pto.vcmps %i, %c500_i32, %all, "lt" : {vi}, i32, {B32} -> {B32}
      %r = pto.vgather2_bc %ub_a, %i, %on : {ub("f32")}, {vi}, {B32} -> {v}
      pto.vsts %r, %ub_y[%c0], %all : {v}, {ub("f32")}, {B32}"""
    text = vector_kernel({"a": ("f32", 1000), "i": ("i32", 64)}, {"y": ("f32", 64)}, scope)
    a, i = data("f32", 1000), np.random.default_rng(1).integers(0, 1000, 64).astype("i4")
    i[3] = 0x7FFFFFFF
    equal(outcome(text, a, i, np.zeros(64, "f4"))[2], np.where(i < 500, a[i % 1000], 0).astype("f4"))


# --- unaligned streams ------------------------------------------------------------------------------------------------


def test_unaligned_loads_in_all_three_forms() -> None:
    v, p, al = vreg("f32"), ub("f32"), "!pto.align"
    scope = f"""      %all = pto.pset_b32 "PAT_ALL" : {B32}
      %p1 = pto.addptr %ub_a, %c1 : {p} -> {p}
      %p65 = pto.addptr %ub_a, %c65 : {p} -> {p}
      %a0 = pto.vldas %p1 : {p} -> {al}
      %x0, %a1 = pto.vldus %p1, %a0 : {p}, {al} -> {v}, {al}
      %x1, %a2 = pto.vldus %p65, %a1 : {p}, {al} -> {v}, {al}
      %b0 = pto.vldas %p1 : {p} -> {al}
      %x2, %b1, %q = pto.vldus %p1, %b0, %c64 : {p}, {al}, index -> {v}, {al}, {p}
      %x3, %b2, %q2 = pto.vldus %q, %b1, %c3 : {p}, {al}, index -> {v}, {al}, {p}
      %d0 = pto.vldas %p1 : {p} -> {al}
      %x4, %d1, %r = pto.vldus %p1, %d0 : {p}, {al} -> {v}, {al}, {p}
      %x5, %d2, %r2 = pto.vldus %r, %d1 : {p}, {al} -> {v}, {al}, {p}
""" + "\n".join(f"      pto.vsts %x{i}, %ub_y[%c{64 * i}], %all : {v}, {p}, {B32}" for i in range(6))
    text = vector_kernel({"a": ("f32", 256)}, {"y": ("f32", 384)}, scope)
    a = data("f32", 256)
    equal(outcome(text, a, np.zeros(384, "f4"))[1], np.tile(a[1:129], 3))


def test_unaligned_load_stream_through_a_loop() -> None:
    v, p, al = vreg("i16"), ub("i16"), "!pto.align"
    scope = f"""      %all = pto.pset_b16 "PAT_ALL" : {B16}
      %p = pto.addptr %ub_a, %c5 : {p} -> {p}
      %a0 = pto.vldas %p : {p} -> {al}
      %e:2 = scf.for %o = %c0 to %c512 step %c128 iter_args(%al = %a0, %s = %p) -> ({al}, {p}) {{
        %x, %a1, %n = pto.vldus %s, %al, %c128 : {p}, {al}, index -> {v}, {al}, {p}
        pto.vsts %x, %ub_y[%o], %all : {v}, {p}, {B16}
        scf.yield %a1, %n : {al}, {p}
      }}"""
    text = vector_kernel({"a": ("i16", 640)}, {"y": ("i16", 512)}, scope)
    a = data("i16", 640)
    equal(outcome(text, a, np.zeros(512, "i2"))[1], a[5:517])


def test_unaligned_store_of_three_elements() -> None:
    v, p, al = vreg("f32"), ub("f32"), "!pto.align"
    scope = f"""      %x = pto.vlds %ub_a[%c0] : {p} -> {v}
      %a0 = pto.init_align : {al}
      %a1 = pto.vstus %a0, %c3_i32, %x, %ub_y : {al}, i32, {v}, {p} -> {al}
      pto.vstas %a1, %ub_y, %c3_i32 : {al}, {p}, i32"""
    text = vector_kernel({"a": ("f32", 64)}, {"y": ("f32", 64)}, scope)
    a = data("f32", 64)
    equal(outcome(text, a, np.full(64, 1, "f4"))[1], np.concatenate([a[:3], np.full(61, 1, "f4")]))


def test_unaligned_store_stream_with_pointers_that_move() -> None:
    """Rows of 100 elements go out as 64 and 36, packed without gaps, through one stream carried by two loops."""
    v, p, al = vreg("f32"), ub("f32"), "!pto.align"
    scope = f"""      %start = pto.addptr %ub_y, %c3 : {p} -> {p}
      %a0 = pto.init_align : {al}
      %e:2 = scf.for %row = %c0 to %c5 step %c1 iter_args(%al = %a0, %d = %start) -> ({al}, {p}) {{
        %base = arith.muli %row, %c128 : index
        %next = arith.addi %base, %c64 : index
        %x = pto.vlds %ub_a[%base] : {p} -> {v}
        %z = pto.vlds %ub_a[%next] : {p} -> {v}
        %a1, %d1 = pto.vstus %al, %c64_i32, %x, %d : {al}, i32, {v}, {p} -> {al}, {p}
        %a2, %d2 = pto.vstus %a1, %c36_i32, %z, %d1 : {al}, i32, {v}, {p} -> {al}, {p}
        scf.yield %a2, %d2 : {al}, {p}
      }}
      pto.vstas %e#0, %e#1, %c0_i32 : {al}, {p}, i32"""
    text = vector_kernel({"a": ("f32", 640)}, {"y": ("f32", 512)}, scope)
    a = data("f32", 640)
    expected = np.full(512, 1, "f4")
    expected[3:503] = a.reshape(5, 128)[:, :100].reshape(-1)
    equal(outcome(text, a, np.full(512, 1, "f4"))[1], expected)


def test_a_stream_through_a_condition() -> None:
    v, p, al = vreg("f32"), ub("f32"), "!pto.align"
    scope = f"""      %x = pto.vlds %ub_a[%c0] : {p} -> {v}
      %a0 = pto.init_align : {al}
      %e:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%al = %a0, %d = %ub_y) -> ({al}, {p}) {{
        %odd = arith.remui %i, %c2 : index
        %c = arith.cmpi eq, %odd, %c1 : index
        %n:2 = scf.if %c -> ({al}, {p}) {{
          %a1, %d1 = pto.vstus %al, %c5_i32, %x, %d : {al}, i32, {v}, {p} -> {al}, {p}
          scf.yield %a1, %d1 : {al}, {p}
        }} else {{
          %a2, %d2 = pto.vstus %al, %c2_i32, %x, %d : {al}, i32, {v}, {p} -> {al}, {p}
          scf.yield %a2, %d2 : {al}, {p}
        }}
        scf.yield %n#0, %n#1 : {al}, {p}
      }}
      pto.vstas %e#0, %e#1, %c0_i32 : {al}, {p}, i32"""
    text = vector_kernel({"a": ("f32", 64)}, {"y": ("f32", 64)}, scope)
    a = data("f32", 64)
    piece = np.concatenate([a[:2], a[:5]])
    equal(outcome(text, a, np.full(64, 1, "f4"))[1], np.concatenate([np.tile(piece, 3), np.full(43, 1, "f4")]))


def test_flush_of_a_fresh_stream_only_moves_the_pointer() -> None:
    v, p, al = vreg("f32"), ub("f32"), "!pto.align"
    scope = f"""      %all = pto.pset_b32 "PAT_VL8" : {B32}
      %x = pto.vlds %ub_a[%c0] : {p} -> {v}
      %a0 = pto.init_align : {al}
      %n = pto.vstas %a0, %ub_y, %c16_i32 : {al}, {p}, i32 -> {p}
      pto.vsts %x, %n[%c0], %all : {v}, {p}, {B32}"""
    text = vector_kernel({"a": ("f32", 64)}, {"y": ("f32", 64)}, scope)
    a = data("f32", 64)
    expected = np.full(64, 1, "f4")
    expected[16:24] = a[:8]
    equal(outcome(text, a, np.full(64, 1, "f4"))[1], expected)


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_squeezed_stores(place: str) -> None:
    """Eight lanes are kept and stored from the second element on."""
    v, p, al = vreg("f32"), ub("f32"), "!pto.align"
    init = f"%a0 = pto.init_align : {al}"
    store = f"""%x = pto.vlds %ub_a[%c0] : {p} -> {v}
        %s = pto.vsqz %x, %on : {v}, {B32} -> {v}"""
    if place == "outside":
        loop = f"""      {init}
      %e = scf.for %i = %c0 to %c1 step %c1 iter_args(%al = %a0) -> ({al}) {{
        {store}
        %a1 = pto.vstur %al, %s, %to, "POST_UPDATE" : {al}, {v}, {p} -> {al}
        scf.yield %a1 : {al}
      }}
      pto.vstar %e, %to : {al}, {p}"""
    else:
        loop = f"""      scf.for %i = %c0 to %c1 step %c1 {{
        {init}
        {store}
        %a1 = pto.vstur %a0, %s, %to, "POST_UPDATE" : {al}, {v}, {p} -> {al}
        pto.vstar %a1, %to : {al}, {p}
      }}"""
    scope = f"""      pto.sprclr "AR"
      %on = pto.pset_b32 "PAT_VL8" : {B32}
      %to = pto.addptr %ub_y, %c1 : {p} -> {p}
{loop}"""
    text = vector_kernel({"a": ("f32", 64)}, {"y": ("f32", 64)}, scope)
    a = data("f32", 64)
    expected = np.zeros(64, "f4")
    expected[1:9] = a[:8]
    equal(outcome(text, a, np.zeros(64, "f4"))[1], expected)


def test_compaction_and_its_length() -> None:
    v, p, al = vreg("f32"), ub("f32"), "!pto.align"
    scope = f"""      pto.sprclr "AR"
      %all = pto.pset_b32 "PAT_ALL" : {B32}
      %a0 = pto.init_align : {al}
      %e = scf.for %o = %c0 to %c1024 step %c64 iter_args(%al = %a0) -> ({al}) {{
        %x = pto.vlds %ub_a[%o] : {p} -> {v}
        %on = pto.vcmps %x, %zero, %all, "gt" : {v}, f32, {B32} -> {B32}
        %s = pto.vsqz %x, %on : {v}, {B32} -> {v}
        %a1 = pto.vstur %al, %s, %ub_y, "POST_UPDATE" : {al}, {v}, {p} -> {al}
        scf.yield %a1 : {al}
      }}
      pto.vstar %e, %ub_y : {al}, {p}
      pto.sprsti "AR", %ub_n[%c0_i32] : {ub("ui32")}, i32
      pto.sprsts "AR", %ub_n[%c32_i32] : {ub("ui32")}, i32
      %n2 = pto.sprsti "AR", %ub_n[%c2_i32] : {ub("ui32")}, i32 -> {ub("ui32")}
      pto.sprsts "AR", %n2[%c4_i32] : {ub("ui32")}, i32"""
    text = vector_kernel(
        {"a": ("f32", 1024)},
        {"y": ("f32", 1024), "n": ("ui32", 16)},
        scope,
        before="    %zero = arith.constant 0.0 : f32",
    )
    a = data("f32", 1024)
    kept = a[a > 0]
    out = outcome(text, a, np.full(1024, -1, "f4"), np.zeros(16, "u4"))
    equal(out[1], np.concatenate([kept, np.full(1024 - kept.size, -1, "f4")]))
    assert np.nonzero(out[2])[0].tolist() == [0, 3, 8] and (out[2][[0, 3, 8]] == 4 * kept.size).all()


def test_older_stream_spellings() -> None:
    v, p, al = vreg("f32"), ub("f32"), "!pto.align"
    scope = f"""      %x = pto.vlds %ub_a[%c0] : {p} -> {v}
      %z = pto.vlds %ub_a[%c64] : {p} -> {v}
      %to = pto.addptr %ub_y, %c1 : {p} -> {p}
      %a0 = pto.init_align : {al}
      %a1, %o1 = pto.vstu %a0, %c1, %x, %ub_y, "POST_UPDATE" : {al}, index, {v}, {p} -> {al}, index
      %a2, %o2 = pto.vstu %a1, %o1, %z, %ub_y, "NO_POST_UPDATE" : {al}, index, {v}, {p} -> {al}, index
      pto.vsta %a2, %ub_y[%c129] : {al}, {p}, index
      %b0 = pto.init_align : {al}
      %far = pto.addptr %ub_y, %c201 : {p} -> {p}
      %b1, %q1 = pto.vstus %b0, %c3_i32, %x, %far, "POST_UPDATE" : {al}, i32, {v}, {p} -> {al}, {p}
      %b2, %q2 = pto.vstus %b1, %q1, %z, %ub_y, %c2_i32 : {al}, {p}, {v}, {p}, i32 -> {al}, {p}
      pto.vstas %b2, %q2, %c0_i32 : {al}, {p}, i32"""
    text = vector_kernel({"a": ("f32", 128)}, {"y": ("f32", 256)}, scope)
    a = data("f32", 128)
    expected = np.full(256, 1, "f4")
    expected[1:129] = a
    expected[201:206] = np.concatenate([a[:3], a[64:66]])
    equal(outcome(text, a, np.full(256, 1, "f4"))[1], expected)


def test_two_store_streams_side_by_side() -> None:
    """Three elements a step to one place, eleven to another; the stream begun last is flushed first."""
    p, v, align = ub("f32"), vreg("f32"), "!pto.align"
    scope = f"""      %short0 = pto.init_align : {align}
      %long0 = pto.init_align : {align}
      %behind = pto.addptr %ub_y, %c130 : {p} -> {p}
      %end:4 = scf.for %i = %c0 to %c128 step %c64
          iter_args(%short = %short0, %long = %long0, %q = %ub_y, %r = %behind) -> ({align}, {align}, {p}, {p}) {{
        %x = pto.vlds %ub_x[%i] : {p} -> {v}
        %short1, %q1 = pto.vstus %short, %c3_i32, %x, %q : {align}, i32, {v}, {p} -> {align}, {p}
        %long1, %r1 = pto.vstus %long, %c11_i32, %x, %r : {align}, i32, {v}, {p} -> {align}, {p}
        scf.yield %short1, %long1, %q1, %r1 : {align}, {align}, {p}, {p}
      }}
      pto.vstas %end#1, %end#3, %c0_i32 : {align}, {p}, i32
      pto.vstas %end#0, %end#2, %c0_i32 : {align}, {p}, i32"""
    x, y = data("f32", 128, 31), np.full(256, -1, "f4")
    expected = y.copy()
    expected[:6] = [*x[:3], *x[64:67]]
    expected[130:152] = [*x[:11], *x[64:75]]
    equal(outcome(vector_kernel({"x": ("f32", 128)}, {"y": ("f32", 256)}, scope), x, y)[1], expected)


def test_a_flush_with_a_result_flushes_where_it_stands() -> None:
    """The offset only moves the pointer, to where the next stream begins."""
    p, v, align = ub("f32"), vreg("f32"), "!pto.align"
    scope = f"""      %one = pto.init_align : {align}
      %two = pto.init_align : {align}
      %x = pto.vlds %ub_x[%c0] : {p} -> {v}
      %first = pto.addptr %ub_y, %c1 : {p} -> {p}
      %one1, %q = pto.vstus %one, %c3_i32, %x, %first : {align}, i32, {v}, {p} -> {align}, {p}
      %next = pto.vstas %one1, %q, %c4_i32 : {align}, {p}, i32 -> {p}
      %two1, %r = pto.vstus %two, %c5_i32, %x, %next : {align}, i32, {v}, {p} -> {align}, {p}
      pto.vstas %two1, %r, %c0_i32 : {align}, {p}, i32"""
    x, y = data("f32", 64, 32), np.full(64, -1, "f4")
    expected = y.copy()
    expected[1:4], expected[8:13] = x[:3], x[:5]
    equal(outcome(vector_kernel({"x": ("f32", 64)}, {"y": ("f32", 64)}, scope), x, y)[1], expected)
