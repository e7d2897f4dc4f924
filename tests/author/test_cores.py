"""Kernels in Python on the cube, on both cores, with FIFOs, kernel modules and workitems."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
import ptosim.testing
from ptosim import pto, scalar

RNG = np.random.default_rng(2)
EXPLICIT = {"mode": "explicit"}


def mat(shape: list[int], dtype: object, place: str, addr: int | None = None) -> object:
    fractals = {"left": ("ColMajor", "RowMajor"), "right": ("RowMajor", "ColMajor")}
    blayout, slayout = fractals.get(place, ("ColMajor", "RowMajor"))
    fractal = 1024 if place == "acc" else 512
    return pto.alloc_tile(
        shape=shape, dtype=dtype, memory_space=place, blayout=blayout, slayout=slayout, fractal_size=fractal, addr=addr
    )


@pto.jit(target="a5", kernel_kind="cube")
def matmul(a: pto.ptr(pto.f16, "gm"), b: pto.ptr(pto.f16, "gm"), c: pto.ptr(pto.f32, "gm"), *, K: pto.const_expr = 128):
    av = pto.make_tensor_view(a, shape=[64, K], strides=[K, 1])
    bv = pto.make_tensor_view(b, shape=[K, 64], strides=[64, 1])
    cv = pto.make_tensor_view(c, shape=[64, 64], strides=[64, 1])
    acc = mat([64, 64], pto.f32, "acc")
    for k in pto.static_range(0, K, 64):
        am, bm = mat([64, 64], pto.f16, "mat"), mat([64, 64], pto.f16, "mat")
        al, br = mat([64, 64], pto.f16, "left"), mat([64, 64], pto.f16, "right")
        pto.tile.load(av, am, offsets=[0, k])
        pto.tile.load(bv, bm, offsets=[k, 0])
        pto.tile.mov(am, al)
        pto.tile.mov(bm, br)
        if k == 0:
            pto.tile.matmul(al, br, acc)
        else:
            pto.tile.matmul_acc(acc, al, br, acc)
    pto.tile.store(acc, cv)


def test_a_product_over_k():
    a, b = RNG.random((64, 128), "f4").astype("f2"), RNG.random((128, 64), "f4").astype("f2")
    c = np.zeros((64, 64), "f4")
    matmul[1](a, b, c)
    assert np.allclose(c, a.astype("f4") @ b.astype("f4"), rtol=1e-4)
    assert not ptosim.check(matmul, a, b, c).findings


@pto.jit(mode="explicit", kernel_kind="cube")
def mads(a: pto.ptr(pto.f16, "gm"), b: pto.ptr(pto.f16, "gm"), c: pto.ptr(pto.f32, "gm")):
    l1a, l1b = pto.castptr(0, pto.ptr(pto.f16, "mat")), pto.castptr(65536, pto.ptr(pto.f16, "mat"))
    l0a, l0b = pto.castptr(0, pto.ptr(pto.f16, "left")), pto.castptr(0, pto.ptr(pto.f16, "right"))
    l0c = pto.castptr(0, pto.ptr(pto.f32, "acc"))
    pto.mte_gm_l1_frac(a, l1a, "nd2nz", shape=(64, 64), src_layout=(128,), dst_group=(1, 1, 64, 0), ctrl=(0, False))
    pto.mte_gm_l1_frac(b, l1b, "nd2nz", shape=(64, 64), src_layout=(128,), dst_group=(1, 1, 64, 0), ctrl=(0, False))
    pto.set_flag("MTE2", "MTE1")
    pto.wait_flag("MTE2", "MTE1")
    pto.mte_l1_l0a(l1a, l0a, 64, 64)
    pto.mte_l1_l0b(l1b, l0b, 64, 64, transpose=True)
    pto.set_flag("MTE1", "M")
    pto.wait_flag("MTE1", "M")
    pto.mad(l0a, l0b, l0c, 64, 64, 64)
    pto.set_flag("M", "FIX")
    pto.wait_flag("M", "FIX")
    pto.mte_l0c_gm(l0c, c, 64, 64, 64, 64, 0, 0, layout="nz2nd")
    pto.pipe_barrier("ALL")


def test_the_micro_instructions_of_the_cube():
    a, b = RNG.random((64, 64), "f4").astype("f2"), RNG.random((64, 64), "f4").astype("f2")
    c = np.zeros((64, 64), "f4")
    mads[1](a, b, c)
    assert np.allclose(c, a.astype("f4") @ b.astype("f4"), rtol=1e-4)
    assert not ptosim.check(mads, a, b, c).findings


@pto.jit(mode="explicit", entry=False, kernel_kind="vector")
def doubled(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm"), n: pto.i32):
    u = pto.castptr(0, pto.ptr(pto.f32))
    m = pto.make_mask(pto.f32, "ALL")
    pto.mte_gm_ub(x, u, 0, 256, nburst=(1, 256, 256))
    pto.set_flag("MTE2", "V")
    pto.wait_flag("MTE2", "V")
    pto.vsts(pto.vmuls(pto.vlds(u, 0), 2.0, m), u, 0, m)
    pto.set_flag("V", "MTE3")
    pto.wait_flag("V", "MTE3")
    pto.mte_ub_gm(u, y, 256, nburst=(1, 256, 256))
    pto.pipe_barrier("ALL")


@pto.jit(mode="explicit", backend="emitc")
def calling(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm"), n: pto.i32):
    doubled(x, y, n)


def test_a_kernel_calls_a_kernel_module():
    x, y = RNG.random(64, "f4"), np.zeros(64, "f4")
    text = calling.text
    assert "func.func private @doubled(!pto.ptr<f32, gm>, !pto.ptr<f32, gm>, i32)" in text
    assert "func.func public @doubled(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: i32)" in text
    assert 'pto.visibility = "external"' in text
    calling[1](x, y, 3)
    assert np.array_equal(y, 2 * x)
    with pytest.raises(TypeError):
        doubled[1](x, y, 3)
    with pytest.raises(TypeError):
        doubled.compile()


@pto.func(returns=(pto.i32, pto.index))
def pair(x: pto.i32, *, K: pto.const_expr = 3):
    return x + K, scalar.index_cast(x)


@pto.jit(mode="explicit")
def functions(out: pto.ptr(pto.i32, "gm"), n: pto.i32):
    a, b = pair(n, K=5)
    scalar.store(a, out, b)
    c, _ = pair(n)
    scalar.store(c, out, 0)


def test_functions_return_values_and_are_specialised_by_constants():
    out = np.zeros(8, "i4")
    functions[1](out, 4)
    assert out.tolist() == [7, 0, 0, 0, 9, 0, 0, 0]


@pto.simt(max_threads=256)
def scaled(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm"), n: pto.i32, *, K=2):
    i = pto.get_tid_x()
    while i < n:
        v = scalar.load(x, i)
        if v > 0.5:
            v = v * 2.0
        scalar.store(v + float(K), y, i)
        i += pto.get_block_dim_x()


@pto.jit(mode="explicit", kernel_kind="vector")
def workitems(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm"), n: pto.i32):
    scaled[64, 1, 1](x, y, n, K=3)


def test_workitems_of_a_launch():
    x, y = RNG.random(100, "f4"), np.zeros(100, "f4")
    workitems[1](x, y, 100)
    assert np.array_equal(y, np.where(x > 0.5, x * 2, x) + np.float32(3))
    assert "@scaled__simt_0<<<" in workitems.text and "pto.simt_max_threads = 256 : i32" in workitems.text


@pto.jit(mode="explicit", kernel_kind="vector")
def warp_sums(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm")):
    with pto.simt(64):
        t = pto.get_tid_x()
        pto.stg(pto.simt_allreduce_sum(pto.ldg(x, t), threads=32), y, t)


def test_reductions_over_a_warp():
    x, y = RNG.random(64, "f4"), np.zeros(64, "f4")
    warp_sums[1](x, y)
    assert np.allclose(y, np.repeat([x[:32].sum(), x[32:].sum()], 32))


@pto.jit(mode="explicit", insert_sync=True)
def through_a_fifo(a: pto.ptr(pto.f16, "gm"), b: pto.ptr(pto.f16, "gm"), c: pto.ptr(pto.f32, "gm")):
    av = pto.make_tensor_view(a, shape=[64, 64], strides=[64, 1])
    bv = pto.make_tensor_view(b, shape=[64, 64], strides=[64, 1])
    cv = pto.make_tensor_view(c, shape=[64, 64], strides=[64, 1])
    slots = pto.reserve_buffer("scores", size=8 * 64 * 64 * 4, location="vec")
    fifo = pto.pipe.c2v(id=0, slot_size=64 * 64 * 4, consumer_buf=slots, nosplit=True)
    with pto.section("cube"):
        fifo.init_cube()
        am, bm = mat([64, 64], pto.f16, "mat"), mat([64, 64], pto.f16, "mat")
        al, br, acc = mat([64, 64], pto.f16, "left"), mat([64, 64], pto.f16, "right"), mat([64, 64], pto.f32, "acc")
        pto.tile.load(av, am)
        pto.tile.load(bv, bm)
        pto.tile.mov(am, al)
        pto.tile.mov(bm, br)
        pto.tile.matmul(al, br, acc)
        fifo.push(acc)
    with pto.section("vector"):
        fifo.init_simd()
        t = fifo.pop(result_type=pto.tile_type([64, 64], pto.f32))
        o = pto.alloc_tile(shape=[64, 64], dtype=pto.f32)
        pto.tile.muls(t, 0.5, o)
        fifo.free()
        pto.tile.store(o, cv)


def test_an_entry_goes_from_the_cube_to_the_vector_core():
    a, b = RNG.random((64, 64), "f4").astype("f2"), RNG.random((64, 64), "f4").astype("f2")
    c = np.zeros((64, 64), "f4")
    through_a_fifo[1](a, b, c)
    assert np.allclose(c, 0.5 * (a.astype("f4") @ b.astype("f4")), rtol=1e-3)


@pto.jit(**EXPLICIT, kernel_kind="vector")
def in_place(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm")):
    v = pto.make_tensor_view(x, shape=[16, 64], strides=[64, 1])
    o = pto.make_tensor_view(y, shape=[16, 64], strides=[64, 1])
    t = pto.alloc_tile(shape=[16, 64], dtype=pto.f32, addr=0)
    pto.tile.load(v, t)
    pto.set_flag("MTE2", "V")
    pto.wait_flag("MTE2", "V")
    factor = 3.0
    with pto.tileop():
        m = pto.make_mask(pto.f32, "ALL")
        for r in range(16):
            pto.vsts(pto.vmuls(pto.vlds(t[r, 0:]), factor, m), t[r, 0:], m)
    pto.set_flag("V", "MTE3")
    pto.wait_flag("V", "MTE3")
    pto.tile.store(t, o)
    pto.pipe_barrier("ALL")


def test_a_tileop_that_is_written_in_place_becomes_a_function():
    x, y = RNG.random((16, 64), "f4"), np.zeros((16, 64), "f4")
    in_place[1](x, y)
    assert np.array_equal(y, x * np.float32(3))
    assert "@inline_tileop_0__ptodsl_" in in_place.text


@pto.jit(**EXPLICIT)
def forms(out: pto.ptr(pto.i32, "gm"), n: pto.i32):
    loop = pto.for_(0, n, step=1).carry(x=pto.i32(1), y=pto.i32(2))
    with loop:
        loop.update(x=loop.x + loop.y, y=loop.y + 1)
    with pto.for_(0, 2) as i:
        scalar.store(loop.final("x"), out, i)
    with pto.if_(n > 3) as br:
        with br.then_:
            br.assign(z=n + 1)
        with br.else_:
            br.assign(z=n - 1)
    scalar.store(br.z, out, 2)


@pytest.mark.parametrize("n", [0, 3, 6])
def test_loops_and_branches_in_their_explicit_form(n: int):
    out = np.zeros(4, "i4")
    forms[1](out, n)
    x, y = 1, 2
    for _ in range(n):
        x, y = x + y, y + 1
    assert out.tolist() == [x, x, n + 1 if n > 3 else n - 1, 0]


def test_kernels_are_merged_into_one_module():
    merged = pto.merge_jit_modules(forms, functions)
    assert [*merged.module().kernels] == ["forms", "functions"]
    out = np.zeros(8, "i4")
    merged.kernel("functions")(out, 4)
    assert out.tolist() == [7, 0, 0, 0, 9, 0, 0, 0]


@pto.jit(**EXPLICIT, kernel_kind="vector")
def logical_rms_norm(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm")):
    a, b = pto.castptr(0, pto.ptr(pto.f32)), pto.castptr(4096, pto.ptr(pto.f32))
    pto.mte_gm_ub(x, a, 0, 1024, nburst=(1, 1024, 1024))
    pto.set_flag("MTE2", "V")
    pto.wait_flag("MTE2", "V")
    v = pto.vmi.vload(a, 0, size=256)
    m = pto.vmi.create_mask(256, size=256)
    one = pto.vmi.create_mask(1, size=1)
    mean = pto.vmi.vmuls(pto.vmi.vcadd(pto.vmi.vmul(v, v, m), m), 1 / 256, one)
    root = pto.vmi.vbrc(pto.vmi.vsqrt(mean), size=256)
    pto.vmi.vstore(pto.vmi.vadd(pto.vmi.vdiv(v, root, m), 0.5, m), b, 0, m)
    pto.set_flag("V", "MTE3")
    pto.wait_flag("V", "MTE3")
    pto.mte_ub_gm(b, y, 1024, nburst=(1, 1024, 1024))
    pto.pipe_barrier("ALL")


def test_logical_vectors_of_any_length():
    x, y = RNG.random(256, "f4"), np.zeros(256, "f4")
    logical_rms_norm[1](x, y)
    assert np.allclose(y, x / np.sqrt((x * x).mean()) + 0.5, rtol=1e-5)
    assert "pto.vmi.vcadd %vmul, %m {reassoc}" in logical_rms_norm.text
    assert not ptosim.check(logical_rms_norm, x, y).findings


def test_families_of_logical_accesses_exclude_each_other():
    @pto.jit(**EXPLICIT, kernel_kind="vector")
    def mixed(x: pto.ptr(pto.f32, "gm")):
        pto.vmi.vload(pto.castptr(0, pto.ptr(pto.f32)), 0, size=64, group=8, stride=8, block_stride=1, repeat_stride=1)

    with pytest.raises(TypeError, match="not both"):
        mixed.compile()


@pto.jit(**EXPLICIT, kernel_kind="vector")
def reversed_in_private(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm")):
    with pto.simt(32):
        t = pto.get_tid_x()
        buffer = pto.alloc_buffer([2, 4], pto.f32)
        for i in range(4):
            scalar.store(scalar.load(x, t * 4 + scalar.index_cast(pto.i32, i)), buffer[0, i])
        for i in range(4):
            scalar.store(scalar.load(buffer[0, 3 - i]), y, t * 4 + i)


def test_workitems_have_buffers_of_their_own():
    x, y = RNG.random(128, "f4"), np.zeros(128, "f4")
    reversed_in_private[1](x, y)
    assert np.array_equal(y, x.reshape(32, 4)[:, ::-1].ravel())


@pto.simt
def scaled_row(t: pto.Tile, factor: pto.f32):
    i = pto.get_tid_x()
    scalar.store(scalar.load(t[0, i]) * factor, t[0, i])


@pto.tileop
def launches_workitems(t: pto.Tile, factor: pto.f32):
    scaled_row[64, 1, 1](t, factor)


@pto.jit()
def tiles_of_workitems(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm")):
    source = pto.make_tensor_view(x, shape=[1, 64], strides=[64, 1])
    target = pto.make_tensor_view(y, shape=[1, 64], strides=[64, 1])
    t = pto.alloc_tile(shape=[1, 64], dtype=pto.f32)
    pto.tile.load(source, t)
    pto.simt_launch(scaled_row, t, 3.0, dims=(64, 1, 1))
    launches_workitems(t, 2.0)
    pto.tile.store(t, target)


def test_workitems_take_tiles_in_auto_mode_and_in_tileops():
    x, y = RNG.random((1, 64), "f4"), np.zeros((1, 64), "f4")
    tiles_of_workitems[1](x, y)
    assert np.array_equal(y, x * np.float32(3) * np.float32(2))
    assert not ptosim.check(tiles_of_workitems, x, y).findings


@pto.simt
def stepped(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm"), by=2.0, *, turns=3, width=32):
    at = pto.get_tid_x()
    for turn in pto.static_range(turns):
        scalar.store(scalar.load(x, at + turn * width) * by, y, at + turn * width)


@pto.jit(kernel_kind="vector")
def left_out(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm"), z: pto.ptr(pto.f32, "gm")):
    stepped[32, 1, 1](x, y, turns=4)
    stepped[32, 1, 1](x, z, 3.0)


def test_constants_of_workitems_that_a_launch_leaves_out_have_their_defaults():
    x = RNG.random(128, "f4")
    expected = {"y": x * np.float32(2), "z": np.where(np.arange(128) < 96, x * np.float32(3), np.float32(0))}
    ptosim.testing.check(left_out, x, np.zeros_like(x), np.zeros_like(x), expect=expected)


def test_a_text_with_lines_reads_back_with_its_places():
    text = matmul.text(lines=True)
    module = ptosim.load(text)
    assert module.kernel("matmul").signature == matmul.signature
    found = next(line for line in text.splitlines() if "pto.tmatmul ins" in line)
    number = text.splitlines().index(found)
    assert text.splitlines()[number - 1].strip().startswith(f"// {__file__}:")


def test_the_other_machine():
    @pto.jit(target="a3")
    def relu_of_sums(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm")):
        source = pto.make_tensor_view(x, shape=[16, 64], strides=[64, 1])
        target = pto.make_tensor_view(y, shape=[16, 64], strides=[64, 1])
        a = pto.alloc_tile(shape=[16, 64], dtype=pto.f32)
        b = pto.alloc_tile(shape=[16, 64], dtype=pto.f32)
        pto.tile.load(source, a)
        pto.tile.addrelu(a, a, b)
        pto.tile.store(b, target)

    x, y = RNG.random((16, 64), "f4") - np.float32(0.5), np.zeros((16, 64), "f4")
    relu_of_sums[1](x, y)
    assert np.array_equal(y, np.maximum(x + x, 0)) and 'pto.target_arch = "a3"' in relu_of_sums.text


def test_kernels_run_on_several_ranks():
    x, y = RNG.random((2, 64), "f4"), np.zeros((2, 64), "f4")
    ptosim.launch(in_private_order, ptosim.each(*x), ptosim.each(*y), ranks=2)
    assert np.array_equal(y, x)


@pto.jit(**EXPLICIT, kernel_kind="vector")
def in_private_order(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm")):
    u = pto.castptr(0, pto.ptr(pto.f32))
    pto.mte_gm_ub(x, u, 0, 256, nburst=(1, 256, 256))
    pto.set_flag("MTE2", "MTE3")
    pto.wait_flag("MTE2", "MTE3")
    pto.mte_ub_gm(u, y, 256, nburst=(1, 256, 256))
    pto.pipe_barrier("ALL")


@pto.jit(**EXPLICIT, kernel_kind="vector")
def pairs_of_floats(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm")):
    with pto.simt(32):
        t = pto.get_tid_x()
        v = scalar.load(x, t * 2, contiguous=2)
        scalar.store(v + v * 2.0 - pto.Vec(pto.f32, 2, init=1.0), y, t * 2)


def test_several_scalars_as_one_value():
    x, y = RNG.random(64, "f4"), np.zeros(64, "f4")
    pairs_of_floats[1](x, y)
    assert np.allclose(y, 3 * x - 1, atol=1e-6)
