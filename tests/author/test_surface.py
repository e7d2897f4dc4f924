"""The surface and the dialect are one list: every operation has its call, and calls of all families load."""
# ruff: noqa: F841, RUF059, B007, E731

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim import pto, scalar
from ptosim.author.surface import HERE, REMOVED, TILE_NAMES, tile_names
from ptosim.language.catalogue import operation, operations
from ptosim.language.text.parser import parse
from ptosim.language.tile.tile_operation import TileOperation

F = pto.f32
KERNELS: list[tuple[Callable[..., Any], dict[str, Any]]] = []


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        KERNELS.append((function, options))
        return function

    return keep


def test_every_operation_is_a_name_of_pto():
    for op in operations():
        if op.name.startswith("pto.sim.") or op.region_roles:
            continue
        plain = op.name.removeprefix("pto.")
        if plain in REMOVED:
            with pytest.raises(AttributeError):
                getattr(pto, plain)
        elif plain.startswith("vmi."):
            assert callable(getattr(pto.vmi, plain.removeprefix("vmi."))), op.name
        elif plain.startswith("comm."):
            assert callable(getattr(pto.comm, plain.removeprefix("comm.")))
        elif op.name.startswith("pto."):
            assert callable(getattr(pto, plain.replace(".", "_"))), op.name


def test_every_tile_operation_is_a_name_of_pto_tile():
    for op in operations():
        if issubclass(op, TileOperation) and op.name.startswith("pto.t") and op.replaced_by is None:
            plain = op.name.removeprefix("pto.")
            spelled = {each: name for name, each in TILE_NAMES.items()}.get(plain, plain[1:].replace(".", "_"))
            assert spelled in tile_names() and callable(getattr(pto.tile, spelled)), op.name


def test_names_that_rooms_list_are_theirs():
    for room, names in HERE.values():
        for name in names.split():
            assert callable(getattr(room, name)), (room, name)
    assert operation("pto.sim.require") is not None
    with pytest.raises(AttributeError):
        _ = pto.sim_require


@pytest.mark.parametrize("name", sorted(REMOVED))
def test_removed_names_say_what_takes_their_place(name: str):
    with pytest.raises(AttributeError, match="any more: use"):
        getattr(pto, name)


@kernel(mode="explicit", kernel_kind="vector")
def vec1(x: pto.ptr(pto.f32, "gm"), n: pto.i32):
    p = pto.castptr(0, pto.ptr(F))
    q = pto.castptr(4096, pto.ptr(F, "vec"))
    m = pto.make_mask(F, "PAT_ALL")
    m2, rem = pto.make_mask(F, n)
    m3 = pto.make_mask(F, pto.MaskPattern.VL8)
    m4 = pto.pset_b32(pto.PAT.ALL)
    m5, r5 = pto.plt_b32(n)
    v = pto.vlds(p, 0)
    w = pto.vlds(p, 64, dist="BRC_B32")
    v3, pn = pto.vlds(p, 0, post_update="ON")
    v = pto.vadd(v, w, m)
    v = pto.vsub(v, w, m)
    v = pto.vmul(v, w, m)
    v = pto.vdiv(v, w, m)
    v = pto.vmax(v, w, m)
    v = pto.vmin(v, w, m)
    v = pto.vadds(v, 1.0, m)
    v = pto.vmuls(v, 2.0, m)
    v = pto.vmaxs(v, 0.0, m)
    v = pto.vmins(v, 1.0, m)
    v = pto.vlrelu(v, 0.1, m)
    v = pto.vsubs(v, 1.0, m)
    v = pto.vrec(v, m)
    v = pto.vrsqrt(v, m)
    v = pto.vaddrelu(v, w, m)
    v = pto.vsubrelu(v, w, m)
    for f in pto.static_range(1):
        v = pto.vexp(v, m)
        v = pto.vln(v, m)
        v = pto.vsqrt(v, m)
        v = pto.vabs(v, m)
        v = pto.vneg(v, m)
        v = pto.vrelu(v, m)
    c = pto.vcadd(v, m)
    c = pto.vcmax(v, m)
    c = pto.vcmin(v, m)
    c = pto.vcgmax(v, m)
    c = pto.vcgadd(v, m)
    c = pto.vcgmin(v, m)
    c = pto.vcpadd(v, m)
    v = pto.vtrc(v, m)
    v = pto.vtrc(v, m, rnd="R")
    v = pto.vexpdif(v, w, m)
    v = pto.vaxpy(0.5, v, w, m)
    v = pto.vmula(v, w, w, m)
    v = pto.vmadd(v, w, w, m)
    cm = pto.vcmp(v, w, m, "lt")
    cm = pto.vcmps(v, 0.0, m, pto.CmpMode.GT)
    v = pto.vsel(v, w, cm)
    a, b = pto.vintlv(v, w)
    a, b = pto.vdintlv(v, w)
    i = pto.vbr(1)
    i = pto.vdup(3, m)
    i2 = pto.vci(0)
    i2 = pto.vci(pto.i32(0), "DESC")
    i2 = pto.vci(0, pto.OrderMode.ASC)
    i = pto.vadd(i, i2, m)
    i = pto.vand(i, i2, m)
    i = pto.vor(i, i2, m)
    i = pto.vxor(i, i2, m)
    i = pto.vnot(i, m)
    i = pto.vshl(i, i2, m)
    i = pto.vshr(i, i2, m)
    i = pto.vshls(i, 2, m)
    i = pto.vshrs(i, 2, m)
    i = pto.vands(i, 3, m)
    i = pto.vors(i, 3, m)
    i = pto.vxors(i, 3, m)
    s, cy = pto.vaddc(i, i2, m)
    s, cy = pto.vaddcs(i, i2, cy, m)
    lo, hi = pto.vmull(i, i2, m)
    h = pto.vcvt(v, pto.f16, m, rnd="R", sat="SAT", part="EVEN")
    v = pto.vcvt(h, pto.f32, pto.make_mask(pto.f16, "ALL"), part="EVEN")
    k = pto.vpack(i, "LOWER")
    bb = pto.vbitcast(v, pto.i32)
    pm = pto.pand(m, cm, m)
    pm = pto.por(m, cm, m)
    pm = pto.pxor(m, cm, m)
    pm = pto.pnot(m, m)
    pm = pto.psel(m, cm, m)
    pk = pto.ppack(m, "LOWER")
    pk = pto.punpack(m, "HIGHER")
    pk = pto.ppack(m, "LOWER", "b16")
    pb = pto.pbitcast(m, "b16")
    i1, i2_ = pto.pintlv_b32(m, cm)
    i1, i2_ = pto.pdintlv_b32(m, cm)
    pto.vsts(v, q, 0, m)
    pto.vsts(v, q, 0, m, dist="NORM_B32")
    qn = pto.vsts(v, q, 0, m, post_update=pto.PostUpdate.ON)
    x1, x2 = pto.vldsx2(p, 0, "DINTLV_B32")
    pto.vstsx2(x1, x2, q, 0, "INTLV_B32", m)
    g = pto.vgather2(p, i, m)
    pto.vscatter(v, q, i, m)
    sb = pto.vsldb(p, 1, 8, m)
    pto.vsstb(sb, q, 1, 8, m)
    al = pto.vldas(p)
    u, al = pto.vldus(p, al)
    sa = pto.init_align()
    sa = pto.vstus(sa, 64, v, q)
    pto.vstas(sa, q, 0)
    sq = pto.vsqz(v, m)
    pto.psts(m, q, 0)
    ml = pto.plds(q, 0)
    pto.mem_bar("VST_VLD")
    pto.mem_bar(pto.BarrierType.VV_ALL)


@kernel(mode="explicit")
def sync1(x: pto.gm_ptr(pto.f32), n: pto.i32):
    pto.set_flag("MTE2", "V", event_id=3)
    pto.wait_flag("PIPE_MTE2", pto.Pipe.V, event_id=3)
    with pto.section("vector"):
        for i in range(4):
            pto.set_flag("V", "MTE3", event_id=i % 2)
            pto.wait_flag("V", "MTE3", event_id=i % 2)
        pto.get_buf("V", 3)
        pto.rls_buf("V", 3)
        pto.get_buf(pto.Pipe.MTE2, n)
        pto.rls_buf("MTE2", n)
        pto.pipe_barrier(pto.Pipe.ALL)
        pto.barrier("V")
    with pto.section("cube"):
        pto.pipe_barrier("ALL")


@kernel(mode="explicit", kernel_kind="vector")
def dma1(x: pto.gm_ptr(pto.f32), y: pto.ptr(pto.f32, "gm"), n: pto.i64):
    ub = pto.castptr(pto.i64(0), pto.ptr(F, "ub"))
    u2 = pto.castptr(65536, pto.ptr(F, "ub"))
    pto.mte_gm_ub(x, ub, 0, 256, nburst=(4, 256, 256))
    pto.mte_load(x, ub, 0, 256, nburst=(4, 256, 256), loops=[(2, 1024, 1024)], pad=(0.0, 1, 2))
    pto.mte_gm_ub(x, ub, 0, n * 4, nburst=(n, 256, 256), pad=0.0)
    pto.mte_ub_gm(ub, y, 256, nburst=(4, 256, 256))
    pto.mte_store(ub, pto.addptr(y, 64), 256, nburst=(4, 256, 256), loops=[(2, 1024, 1024), (3, 1, 1)], l2_cache="nmlv")
    pto.mte_ub_ub(ub, u2, 8, nburst=(1, 0, 0))
    pto.set_atomic_add()
    pto.set_atomic_f32()
    pto.set_atomic_none()
    pto.set_store_atomic_cfg(0)
    b = pto.get_block_idx()
    nb = pto.get_block_num()
    s = pto.get_subblock_idx()
    pto.get_subblock_num()
    v = pto.load_scalar(ub, 3)
    pto.store_scalar(ub, 4, v)
    w = scalar.load(ub + 3)
    scalar.store(w * 2.0 + 1, ub + b)
    scalar.store(scalar.exp(w), ub, 2)
    t = scalar.sqrt(w) + scalar.log(w) - scalar.abs(w)
    z = scalar.select(w > 0, w, 0.0)
    mx = scalar.max(w, z)
    mn = scalar.min(b, nb)
    q = scalar.max(pto.const(3), scalar.index_cast(b))
    c = scalar.cast(w, pto.f16)
    d = scalar.index_cast(pto.i32, b)
    e = scalar.muli(b, 3)
    f = b // 2 + b % 3 - (b & 7 | 1 ^ 2)
    g = (b < nb) & (b >= 0) | (b != 3)
    u = pto.ui32(7)
    u = u + 1
    h = u < 3
    u = u // 2
    u = u % 3


@kernel(mode="explicit", kernel_kind="cube")
def cube1(a: pto.gm_ptr(pto.f16), b: pto.gm_ptr(pto.f16), c: pto.gm_ptr(pto.f32), M: pto.i64):
    l1a = pto.castptr(0, pto.ptr(pto.f16, "mat"))
    l1b = pto.castptr(65536, pto.ptr(pto.f16, "mat"))
    l0a = pto.castptr(0, pto.ptr(pto.f16, "left"))
    l0b = pto.castptr(0, pto.ptr(pto.f16, "right"))
    l0c = pto.castptr(0, pto.ptr(pto.f32, "acc"))
    pto.mte_gm_l1_frac(a, l1a, "nd2nz", shape=(64, 64), src_layout=(128,), dst_group=(1, 1, 64, 0), ctrl=(0, False))
    pto.mte_gm_l1_frac(
        b, l1b, pto.FractalMode.ND2NZ, shape=(64, 64), src_layout=(128,), dst_group=(1, 1, 64, 0), ctrl=(0, False)
    )
    pto.mte_gm_l1(a, l1a, 128, nburst=(64, 128, 128))
    pto.mte_l1_l0a(l1a, l0a, 64, 64)
    pto.mte_l1_l0b(l1b, l0b, 64, 64, transpose=True)
    pto.mte_l1_l0a(l1a, l0a, m_start=0, k_start=0, m_step=4, k_step=4, src_stride=4, dst_stride=4)
    pto.mad(l0a, l0b, l0c, 64, 64, 64)
    pto.mad_acc(l0a, l0b, l0c, 64, 64, 64, unit_flag="check_and_set", disable_gemv=True)
    pto.mte_l0c_gm(l0c, c, 64, 64, 64, 64, 0, 0, layout="nz2nd")
    pto.mte_l0c_l1(l0c, l1a, 64, 64, 64, 64, pre_quant=(1.0, "qf322f16_pre_scalar"))
    bt = pto.castptr(0, pto.ptr(F, "bias"))
    l1f = pto.castptr(0, pto.ptr(F, "mat"))
    pto.mte_l1_bt(l1f, bt, 8, nburst=(1, 0, 0))
    pto.mad_bias(l0a, l0b, l0c, bt, 64, 64, 64)
    pto.raw_fill_l1(l1f, 0, 0, repeat_times=1, block_num_32b=2, dst_gap_32b=0, fill_word_bits=32)
    ubp = pto.castptr(0, pto.ptr(F, "ub"))
    pto.mte_l0c_ub(l0c, ubp, 64, 64, 64, 64, 0)
    pto.mte_l0c_ub(l0c, ubp, 64, 64, 64, 64, split=pto.SplitMode.M)


@kernel()
def tiles1(x: pto.gm_ptr(pto.f32), y: pto.gm_ptr(pto.f32), n: pto.i32):
    v = pto.make_tensor_view(x, shape=[64, 64], strides=[64, 1])
    o = pto.make_tensor_view(y, shape=[64, 64], strides=[64, 1])
    A = lambda dt=F, sh=(64, 64): pto.alloc_tile(shape=list(sh), dtype=dt)
    a, b, c = A(), A(), A()
    T = pto.tile
    T.load(v, a)
    p = pto.partition_view(v, offsets=[0, 0], sizes=[64, 64])
    T.load(p, b)
    T.add(a, b, c)
    T.sub(a, b, c)
    T.mul(a, b, c)
    T.div(a, b, c)
    T.div(a, b, c, div_precision="high_precision")
    T.max(a, b, c)
    T.min(a, b, c)
    T.adds(a, 1.0, c)
    T.subs(a, 2, c)
    T.muls(a, 2.0, c)
    T.maxs(a, 0.0, c)
    T.mins(a, 0.0, c)
    T.divs(a, 2.0, c)
    T.divs(2.0, a, c)
    T.exp(a, c)
    T.log(a, c)
    T.sqrt(a, c)
    T.rsqrt(a, c)
    T.recip(a, c)
    T.abs(a, c)
    T.neg(a, c)
    T.relu(a, c)
    T.lrelu(a, 0.1, c)
    T.exp(a, c, exp_precision=pto.ExpPrecision.DEFAULT)
    T.partadd(a, b, c)
    T.partmul(a, b, c)
    T.partmax(a, b, c)
    T.partmin(a, b, c)
    r = pto.alloc_tile(shape=[64, 1], dtype=F, blayout="ColMajor")
    q = pto.alloc_tile(shape=[1, 64], dtype=F)
    T.rowsum(a, r)
    T.rowmax(a, r, tmp=b)
    T.rowmin(a, r)
    T.rowprod(a, r)
    T.colsum(a, q)
    T.colsum(a, q, tmp=b, is_binary=True)
    T.colmax(a, q)
    T.colmin(a, q)
    T.colprod(a, q)
    ri = pto.alloc_tile(shape=[64, 1], dtype=pto.i32, blayout="ColMajor")
    ci = pto.alloc_tile(shape=[1, 64], dtype=pto.i32)
    T.rowargmax(a, ri)
    T.colargmax(a, b, ci)
    T.expands(1.0, c)
    c.fill(2.0)
    T.rowexpand(r, c)
    T.colexpand(q, c)
    T.rowexpandsub(a, r, c)
    T.rowexpandmul(a, r, c)
    T.rowexpandadd(a, r, c)
    T.colexpandmul(a, q, c)
    T.rowexpanddiv(a, r, c)
    T.rowexpandexpdif(a, r, c)
    T.colexpandexpdif(a, q, c)
    mk = pto.alloc_tile(shape=[64, 32], dtype=pto.ui8)
    T.cmp(a, b, mk, cmp_mode="lt")
    T.cmps(a, 0.0, mk, cmp_mode=pto.CmpMode.GE)
    T.sel(mk, a, b, c)
    T.sels(mk, a, 1.0, c)
    h = A(pto.f16)
    T.cvt(a, h, rmode="RINT")
    T.cvt(a, h, rmode=pto.RoundMode.ROUND, sat_mode="ON")
    i = A(pto.i32)
    j = A(pto.i32)
    k = A(pto.i32)
    T.bit_and(i, j, k)
    T.bit_or(i, j, k)
    T.bit_not(A(pto.i16), A(pto.i16))
    T.bit_xor(i, j, k, A(pto.i32))
    T.bit_shl(i, j, k)
    T.bit_shr(i, j, k)
    T.bit_ands(i, 3, k)
    T.bit_ors(i, 3, k)
    T.bit_shls(i, 3, k)
    T.bit_shrs(i, 3, k)
    T.bit_xors(i, 3, j, k)
    T.transpose(a, b, c)
    T.concat(pto.alloc_tile(shape=[64, 32], dtype=F), pto.alloc_tile(shape=[64, 32], dtype=F), c)
    e = T.reshape(a, shape=[32, 128])
    T.mov(a, c)
    T.extract(a, pto.alloc_tile(shape=[32, 64], dtype=F), 8, 0)
    T.insert(pto.alloc_tile(shape=[32, 64], dtype=F), a, 8, 0)
    T.fillpad(
        pto.alloc_tile(shape=[64, 64], dtype=F, valid_shape=[32, 64]),
        pto.alloc_tile(shape=[64, 64], dtype=F, pad="Zero"),
    )
    T.ci(0, pto.alloc_tile(shape=[1, 64], dtype=pto.i32))
    T.ci(0, pto.alloc_tile(shape=[1, 64], dtype=pto.i32), descending=True)
    T.tri(0, c, upper_or_lower="upper")
    T.tri(n, c)
    T.gather(a, c, indices=i)
    T.gatherb(a, A(pto.ui32), c)
    T.scatter(a, c, indexes=i)
    T.gather(a, pto.alloc_tile(shape=[32, 64], dtype=F), mask_pattern="P0101", axis="col")
    T.store(c, o)
    T.store(c, o, offsets=[0, 0], sizes=[64, 64])
    s0 = a.valid_shape[0]
    assert a.shape == (64, 64) and a.dtype == F and a.memory_space == "ub", (a.shape, a.dtype, a.memory_space)
    scalar.store(scalar.load(a[1, 2]) + a[2, 3], a[3, 4])
    pto.tadd(a, b, c)
    pto.print("x %d", n)
    T.print(a)


@kernel()
def sort1(x: pto.gm_ptr(pto.f32)):
    T = pto.tile
    a = pto.alloc_tile(shape=[1, 64], dtype=F)
    i = pto.alloc_tile(shape=[1, 64], dtype=pto.ui32)
    d = pto.alloc_tile(shape=[1, 128], dtype=F)
    d2 = pto.alloc_tile(shape=[1, 128], dtype=F)
    T.sort32(a, i, d)
    T.mrgsort(d, d2, 64)
    hist = pto.alloc_tile(shape=[1, 256], dtype=pto.ui32)


@kernel()
def rank1(x: pto.gm_ptr(pto.f32), n: pto.i32):
    t = pto.alloc_tile(shape=[64], dtype=F)
    u = pto.alloc_tile(shape=[64], dtype=F, valid_shape=[n])
    assert t.shape == (64,)
    v = pto.make_tensor_view(x, shape=[64], strides=[1])
    pto.tile.load(v, t)
    pto.tile.adds(t, 1.0, t)
    pto.tile.store(t, v)
    u.valid_shape = [n + 0]


@kernel(mode="explicit")
def matmul1(a: pto.gm_ptr(pto.f16), b: pto.gm_ptr(pto.f16), c: pto.gm_ptr(pto.f32)):
    T = pto.tile
    av = pto.make_tensor_view(a, shape=[64, 64], strides=[64, 1])
    bv = pto.make_tensor_view(b, shape=[64, 64], strides=[64, 1])
    cv = pto.make_tensor_view(c, shape=[64, 64], strides=[64, 1])
    am = pto.alloc_tile(
        shape=[64, 64],
        dtype=pto.f16,
        memory_space="mat",
        blayout=pto.BLayout.COL_MAJOR,
        slayout=pto.SLayout.ROW_MAJOR,
        addr=0,
    )
    bm = pto.alloc_tile(
        shape=[64, 64],
        dtype=pto.f16,
        memory_space=pto.MemorySpace.MAT,
        blayout="ColMajor",
        slayout="RowMajor",
        addr=8192,
    )
    al = pto.alloc_tile(
        shape=[64, 64], dtype=pto.f16, memory_space="left", blayout="ColMajor", slayout="RowMajor", addr=0
    )
    br = pto.alloc_tile(
        shape=[64, 64], dtype=pto.f16, memory_space="right", blayout="RowMajor", slayout="ColMajor", addr=0
    )
    cc = pto.alloc_tile(
        shape=[64, 64], dtype=F, memory_space="acc", blayout="ColMajor", slayout="RowMajor", fractal_size=1024, addr=0
    )
    T.load(av, am)
    T.load(bv, bm)
    pto.set_flag("MTE2", "MTE1")
    pto.wait_flag("MTE2", "MTE1")
    T.mov(am, al)
    T.mov(bm, br)
    pto.set_flag("MTE1", "M")
    pto.wait_flag("MTE1", "M")
    T.matmul(al, br, cc)
    T.matmul_acc(cc, al, br, cc)
    pto.set_flag("M", "FIX")
    pto.wait_flag("M", "FIX")
    T.store(cc, cv)
    pto.pipe_barrier("ALL")


@kernel(mode="explicit")
def explicit_forms(out: pto.gm_ptr(pto.i32), n: pto.i32):
    loop = pto.for_(0, n, step=1).carry(x=pto.i32(1), y=pto.i32(2))
    with loop:
        loop.update(x=loop.x + loop.y, y=loop.y + 1)
    a = loop.final("x")
    with pto.for_(0, 4) as i:
        scalar.store(a, out, i)
    with pto.if_(n > 3) as br:
        with br.then_:
            br.assign(z=a + 1)
        with br.else_:
            br.assign(z=a - 1)
    scalar.store(br.z, out, 0)
    scalar.store(br.get("z"), out, 1)


@pto.func(returns=pto.i32)
def twice(x: pto.i32):
    return x * 2


@pto.func(returns=(pto.i32, pto.index))
def pair(x: pto.i32, *, K: pto.const_expr = 3):
    return x + K, scalar.index_cast(x)


@kernel(mode="explicit")
def funcs(out: pto.gm_ptr(pto.i32), n: pto.i32):
    a, b = pair(twice(n), K=5)
    scalar.store(a, out, b)
    scalar.store(twice(4), out, 0)


@pto.jit(entry=False, mode="explicit", kernel_kind="vector")
def sub(out: pto.gm_ptr(pto.f32), n: pto.i32):
    u = pto.castptr(0, pto.ptr(F))
    m = pto.make_mask(F, "ALL")
    pto.vsts(pto.vdup(2.0, m), u, 0, m)
    pto.set_flag("V", "MTE3")
    pto.wait_flag("V", "MTE3")
    pto.mte_ub_gm(u, out, 256, nburst=(1, 256, 256))
    pto.pipe_barrier("ALL")


@kernel(mode="explicit", backend="emitc")
def caller(out: pto.gm_ptr(pto.f32), n: pto.i32):
    sub(out, n)


@kernel(mode="explicit", kernel_kind="vector")
def structs(out: pto.gm_ptr(pto.i32)):
    S = pto.struct_type(pto.i32, pto.f32)
    s = pto.declare_struct(S)
    pto.struct_set(s, (0,), 3)
    pto.struct_set(s, 1, 2.0)
    scalar.store(pto.struct_get(s, (0,)), out, 0)


@kernel(mode="explicit", kernel_kind="vector")
def inline(x: pto.gm_ptr(pto.f32), y: pto.gm_ptr(pto.f32)):
    v = pto.make_tensor_view(x, shape=[16, 64], strides=[64, 1])
    o = pto.make_tensor_view(y, shape=[16, 64], strides=[64, 1])
    t = pto.alloc_tile(shape=[16, 64], dtype=F, addr=0)
    pto.tile.load(v, t)
    pto.set_flag("MTE2", "V")
    pto.wait_flag("MTE2", "V")
    k = 3.0
    with pto.tileop():
        m = pto.make_mask(F, "ALL")
        for r in range(16):
            pto.vsts(pto.vmuls(pto.vlds(t[r, 0:]), k, m), t[r, 0:], m)
    pto.set_flag("V", "MTE3")
    pto.wait_flag("V", "MTE3")
    pto.tile.store(t, o)
    pto.pipe_barrier("ALL")


@kernel(mode="explicit", kernel_kind="vector")
def scopes(x: pto.gm_ptr(pto.f32)):
    u = pto.castptr(0, pto.ptr(F))
    with pto.vecscope():
        m = pto.make_mask(F, "ALL")
        pto.vsts(pto.vdup(1.0, m), u, 0, m)


@pytest.mark.parametrize("function, options", KERNELS, ids=[function.__name__ for function, _ in KERNELS])
def test_calls_of_a_family_load_and_read_back_as_they_were_traced(
    function: Callable[..., Any], options: dict[str, Any]
):
    made = pto.jit(**options)(function).compile()
    assert made.verify()
    assert ptosim.load(made.text).text() == ptosim.load(made.source).text()
    traced, read = (parse(each) for each in (made.source, replace(made.source, operations=None)))
    assert traced.module.is_structurally_equivalent(read.module)
    pairs = [(op, other) for op, other in zip(traced.module.walk(), read.module.walk(), strict=True)]
    for op, other in pairs:
        assert list(map(traced.named, op.results)) == list(map(read.named, other.results))
        assert traced.location(op) is not None and traced.location(op).shown == read.location(other).shown  # type: ignore[union-attr]


def test_the_text_of_a_traced_kernel_is_not_read(monkeypatch: pytest.MonkeyPatch):
    @pto.jit(mode="explicit", kernel_kind="vector")
    def counted(x: pto.ptr(pto.i32, "gm"), n: pto.i32):
        for i in range(n):
            scalar.store(i, x, i)

    monkeypatch.setattr("ptosim.language.text.parser.LocatedParser", None)
    x = np.zeros(8, np.int32)
    counted[1](x, 8)
    assert x.tolist() == [*range(8)]
    assert ptosim.check(counted, x, 8).ok and ptosim.profile(counted, x, 8).cycles > 0
