"""Kernels of the library: layouts, pads, products, FIFOs, results of the machine, other targets, blocks that differ."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from cpp.kernels import ADD, HEAD, NEEDS_COMPILER, SHAPES, body, kernel, line_of

pytestmark = NEEDS_COMPILER

RNG = np.random.default_rng(5)


def floats(*shape: int, kind: str = "f4") -> np.ndarray:
    return RNG.uniform(-1, 1, shape).astype(kind)


@pytest.mark.parametrize(
    ("layout", "blayout", "slayout"), [("ND", "RowMajor", "NoneBox"), ("NZ", "ColMajor", "RowMajor")]
)
def test_layouts_of_the_library_round_trip(tmp_path: Path, layout: str, blayout: str, slayout: str) -> None:
    text = f"""{HEAD}
template <typename T, int R, int C> __global__ AICORE void copy(__gm__ T *out, __gm__ T *in)
{{
    constexpr Layout L = Layout::{layout};
    using G = GlobalTensor<T, TileShape2D<T, R, C, L>, BaseShape2D<T, R, C, L>, L>;
    Tile<TileType::Vec, T, R, C, BLayout::{blayout}, R, C, SLayout::{slayout}> x;
    G gi(in), go(out);
    TASSIGN(x, 0);
    TLOAD(x, gi);
    pipe_barrier(PIPE_ALL);
    TSTORE(go, x);
}}
"""
    data, out = floats(32, 64, kind="f2"), np.zeros((32, 64), "f2")
    kernel(tmp_path, text, "copy<half, 32, 64>")(out, data)
    np.testing.assert_array_equal(out, data)


def test_a_pad_of_its_own_is_written_and_loads_again(tmp_path: Path) -> None:
    text = body(
        """    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, 40> s;
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, 64, SLayout::NoneBox, 512, PadValueCustom(-1.0f)> p;
    TASSIGN(s, 0);
    TASSIGN(p, 0x4000);
    GlobalTensor<float, Shape<1, 1, 1, 16, 40>, Stride<1, 1, 1, 64, 1>> gi(in);
    GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>> go(out);
    TLOAD(s, gi);
    pipe_barrier(PIPE_ALL);
    TFILLPAD(p, s);
    pipe_barrier(PIPE_ALL);
    TSTORE(go, p);"""
    )
    data, out = floats(16, 64), np.zeros((16, 64), "f4")
    subject = kernel(tmp_path, text)
    subject(out, data)
    wanted = np.where(np.arange(64) < 40, data, np.float32(-1))
    np.testing.assert_array_equal(out, wanted)
    printed = str(subject.recorded([out, data]).kernel.module)
    assert "pad=0xBF800000" in printed
    again = np.zeros_like(out)
    ptosim.load(printed, sync="written").kernel()(again, data)
    np.testing.assert_array_equal(again, wanted)


MATMUL = f"""{HEAD}
template <int M, int K, int N> __global__ AICORE void mm(__gm__ float *out, __gm__ half *a, __gm__ half *b)
{{
    GlobalTensor<half, Shape<1, 1, 1, M, K>, Stride<1, 1, 1, K, 1>> ga(a);
    GlobalTensor<half, Shape<1, 1, 1, K, N>, Stride<1, 1, 1, N, 1>> gb(b);
    GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<1, 1, 1, N, 1>> go(out);
    Tile<TileType::Mat, half, M, K, BLayout::ColMajor, M, K, SLayout::RowMajor> ma;
    Tile<TileType::Mat, half, K, N, BLayout::ColMajor, K, N, SLayout::RowMajor> mb;
    TileLeft<half, M, K> la;
    TileRight<half, K, N> rb;
    TileAcc<float, M, N> acc;
    TASSIGN<0>(ma);
    TASSIGN<0x20000>(mb);
    TASSIGN<0>(la);
    TASSIGN<0>(rb);
    TASSIGN<0>(acc);
    Event<Op::TLOAD, Op::TMOV_M2L> loaded;
    Event<Op::TMOV_M2L, Op::TMATMUL> moved;
    TLOAD(ma, ga);
    loaded = TLOAD(mb, gb);
    TMOV(la, ma, loaded);
    moved = TMOV(rb, mb);
    TMATMUL<AccPhase::Final>(acc, la, rb, moved);
    TSTORE<STPhase::Final>(go, acc);
}}
"""


@pytest.mark.parametrize("target", ["a5", "a3", "a2"])
def test_unit_flags_order_a_product_and_its_store(tmp_path: Path, target: str) -> None:
    a, b, out = floats(64, 128, kind="f2"), floats(128, 32, kind="f2"), np.zeros((64, 32), "f4")
    subject = kernel(tmp_path, MATMUL, "mm<64, 128, 32>", target=target)
    subject(out, a, b)
    np.testing.assert_allclose(out, a.astype("f4") @ b.astype("f4"), rtol=1e-4, atol=1e-4)
    assert not ptosim.check(subject, out, a, b).findings
    plain = MATMUL.replace("TSTORE<STPhase::Final>", "TSTORE")
    (finding,) = ptosim.check(kernel(tmp_path, plain, "mm<64, 128, 32>", target=target), out, a, b).errors
    assert finding.kind == "race"


def test_the_scalar_program_reads_results_and_arguments(tmp_path: Path) -> None:
    text = (
        HEAD
        + SHAPES
        + (
            """__global__ AICORE void pick(__gm__ float *out, __gm__ float *in, __gm__ int32_t *order)
{
    int block = order[get_block_idx()];
    G gi(in + block * 1024), go(out + block * 1024);
    V x, y;
    TASSIGN(x, 0);
    TASSIGN(y, 0x4000);
    TLOAD(x, gi);
    pipe_barrier(PIPE_ALL);
    float s = x.GetValue(3);
    if (s > 0)
        TMULS(y, x, s);
    else
        TADDS(y, x, 100.0f);
    cce::printf("s is positive: %d\\n", s > 0);
    pipe_barrier(PIPE_ALL);
    TSTORE(go, y);
}
"""
        )
    )
    data, order, out = floats(48, 64), np.array([2, 0, 1], "i4"), np.zeros((48, 64), "f4")
    data[0, 3], data[16, 3], data[32, 3] = 0.5, -0.5, 0.25
    subject = kernel(tmp_path, text)
    subject(out, data, order, grid=3)
    parts = [part * part[0, 3] if part[0, 3] > 0 else part + np.float32(100) for part in np.split(data, 3)]
    np.testing.assert_array_equal(out, np.concatenate(parts))
    said = subject.recorded([out, data, order], 3).said
    assert said == (
        (0, "b0.aiv0: s is positive: 1"),
        (1, "b1.aiv0: s is positive: 1"),
        (2, "b2.aiv0: s is positive: 0"),
    )
    order[:] = [0, 0, 0]
    out[:] = 0
    subject(out, data, order, grid=3)
    assert out[:16].any() and not out[16:].any()


FIFO = f"""{HEAD}
__global__ AICORE void fused(__gm__ float *out, __gm__ half *a, __gm__ half *b, int tiles)
{{
    constexpr int M = 64, K = 64, N = 64;
    using Acc = TileAcc<float, M, N>;
    using Half = Tile<TileType::Vec, float, M / 2, N>;
    using Pipe = TPipe<0, Direction::DIR_C2V, M * N * 4, 2>;
    Pipe pipe((__gm__ void *)nullptr, 0x0, 0x0);
#ifdef __DAV_CUBE__
    Tile<TileType::Mat, half, M, K, BLayout::ColMajor, M, K, SLayout::RowMajor> ma, mb;
    TileLeft<half, M, K> la;
    TileRight<half, K, N> rb;
    Acc acc;
    TASSIGN(ma, 0);
    TASSIGN(mb, 0x20000);
    TASSIGN(la, 0);
    TASSIGN(rb, 0);
    TASSIGN(acc, 0);
    for (int t = 0; t < tiles; t++) {{
        GlobalTensor<half, Shape<1, 1, 1, M, K>, Stride<1, 1, 1, K, 1>> ga(a + t * M * K), gb(b);
        TLOAD(ma, ga);
        TLOAD(mb, gb);
        pipe_barrier(PIPE_ALL);
        TMOV(la, ma);
        TMOV(rb, mb);
        pipe_barrier(PIPE_ALL);
        TMATMUL(acc, la, rb);
        pipe_barrier(PIPE_ALL);
        TPUSH<Pipe, Acc, TileSplitAxis::TILE_UP_DOWN>(pipe, acc);
        pipe_barrier(PIPE_ALL);
    }}
#else
    Half x, y;
    TASSIGN(y, 0x10000);
    for (int t = 0; t < tiles; t++) {{
        TPOP<Pipe, Half, TileSplitAxis::TILE_UP_DOWN>(pipe, x);
        TRELU(y, x);
        TFREE<Pipe, TileSplitAxis::TILE_UP_DOWN>(pipe);
        pipe_barrier(PIPE_ALL);
        GlobalTensor<float, Shape<1, 1, 1, M / 2, N>, Stride<1, 1, 1, N, 1>> go(
            out + t * M * N + get_subblockid() * M / 2 * N);
        TSTORE(go, y);
        pipe_barrier(PIPE_ALL);
    }}
#endif
}}
"""


def test_a_fifo_joins_the_halves_of_a_core(tmp_path: Path) -> None:
    a, b, out = floats(320, 64, kind="f2"), floats(64, 64, kind="f2"), np.zeros((320, 64), "f4")
    subject = kernel(tmp_path, FIFO)
    subject(out, a, b, 5)
    np.testing.assert_allclose(out, np.maximum(a.astype("f4") @ b.astype("f4"), 0), rtol=1e-4, atol=1e-4)
    assert not ptosim.check(subject, out, a, b, 5).findings


def test_many_intrinsics_on_one_line_have_columns_of_their_own(tmp_path: Path) -> None:
    text = (
        HEAD
        + SHAPES
        + (
            "__global__ AICORE void k(__gm__ float *out, __gm__ float *in)\n{\n    G gi(in), go(out); V x, y;\n"
            "    TASSIGN(x, 0); TASSIGN(y, 0x4000);\n    TLOAD(x, gi); TLOAD(y, gi); TSTORE(go, y);\n}\n"
        )
    )
    report = ptosim.check(kernel(tmp_path, text), np.zeros((16, 64), "f4"), floats(16, 64))
    (finding,) = report.errors
    assert finding.location is not None
    assert [finding.location.column, finding.related[0].location.column] == [33, 19]


AUTO = f"""{HEAD}{SHAPES}
__global__ AICORE void k(__gm__ float *out, __gm__ float *in, int n)
{{
    V one;
    TASSIGN(one, 0x0);
    TEXPANDS(one, 1.0f);
    for (int i = 0; i < n; i++) {{
        V x;
        Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1, -1> y(16, 64);
        TASSIGN(x, 0x4000);
        G gi(in + i * 1024), go(out + i * 1024);
        TLOAD(x, gi);
#ifndef __PTO_AUTO__
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
#endif
        TADD(y, x, one);
        TSTORE(go, y);
    }}
}}
"""


def test_in_auto_mode_addresses_and_order_are_made(tmp_path: Path) -> None:
    data, out = floats(64, 64), np.zeros((64, 64), "f4")
    subject = kernel(tmp_path, AUTO, auto=True)
    subject(out, data, 4)
    np.testing.assert_array_equal(out, data + np.float32(1))
    assert not ptosim.check(subject, out, data, 4).findings


PARTS = f"""{HEAD}{SHAPES}
__global__ AICORE void k(__gm__ float *out, __gm__ float *in)
{{
    V two[2];
    Tile<TileType::Vec, int32_t, 4, 64> bits;
    Tile<TileType::Vec, float, 4, 64, BLayout::RowMajor, -1, -1> rows(4, 60);
    for (int t = 0; t < 5; t++) {{
        V &x = two[t % 2];
        G gi(in + t * 1024), go(out + t * 1024);
        TLOAD(x, gi);
        for (int i = 0; i < 4; i++) {{
            TSUBVIEW(rows, x, i * 4, 0);
            TADDS(rows, rows, static_cast<float>(i));
        }}
        TSUBVIEW(rows, x, 8, 0);
        TSUBVIEW(bits, rows, 4, 0);
        TANDS(bits, bits, 0x7fffffff);
        TSTORE(go, x);
    }}
}}
"""


def test_in_auto_mode_a_tile_is_used_in_parts(tmp_path: Path) -> None:
    data, out = np.round(floats(80, 64) * 20 - 10), np.zeros((80, 64), "f4")
    subject = kernel(tmp_path, PARTS, auto=True)
    wanted = data.reshape(5, 4, 4, 64).copy()
    wanted[..., :60] += np.arange(4, dtype="f4")[:, None, None]
    wanted[:, 3] = abs(wanted[:, 3])
    for engine in ("native", "reference"):
        out[:] = 0
        subject(out, data, engine=engine)
        np.testing.assert_array_equal(out.reshape(wanted.shape), wanted)
    assert not ptosim.check(subject, out, data).findings


def test_flags_that_are_set_early_on_purpose_are_not_tried_to_be_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + (
        f"{SHAPES}__global__ AICORE void k(__gm__ float *out, __gm__ float *in)\n{{\n    G gi(in), go(out); V x, y;\n"
        "    TASSIGN(x, 0); TASSIGN(y, 0x4000);\n"
        "    TLOAD(x, gi); set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n"
        "    TLOAD(y, gi); set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n"
        "    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n"
        "    TADD(x, x, y);\n    pipe_barrier(PIPE_ALL);\n    TSTORE(go, x);\n}\n"
    )
    monkeypatch.setattr("ptosim.repair.engine.repair", None)
    report = ptosim.check(kernel(tmp_path, text), np.zeros((16, 64), "f4"), floats(16, 64))
    assert report.ok and {each.kind for each in report.findings} == {"double-set"}


def test_raw_words_take_addresses_of_tiles(tmp_path: Path) -> None:
    text = (
        HEAD
        + SHAPES
        + (
            """template <typename T> AICORE void copy_out(__gm__ float *out, typename T::TileDType __in__ t)
{
    copy_ubuf_to_gm_align_v2(out, __cce_get_tile_ptr(t), 0, 16, 256, 0, 256, 256);
}
__global__ AICORE void raw(__gm__ float *out, __gm__ float *in)
{
    V x, y;
    TASSIGN(x, 0);
    TASSIGN(y, 0x4000);
    copy_gm_to_ubuf_align_v2(x.data(), in, 0, 16, 256, 0, 0, false, 0, 256, 256);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_ubuf(y.data(), x.data(), 0, 1, 128, 0, 0);
    pipe_barrier(PIPE_ALL);
    TADDS(y, y, 1.0f);
    pipe_barrier(PIPE_ALL);
    copy_out<V>(out, y.data());
}
"""
        )
    )
    data, out = floats(16, 64), np.zeros((16, 64), "f4")
    subject = kernel(tmp_path, text)
    subject(out, data)
    np.testing.assert_array_equal(out, data + np.float32(1))
    assert not ptosim.check(subject, out, data).findings


def test_results_are_asked_for_in_a_loop(tmp_path: Path) -> None:
    text = body(
        """    G gi(in), go(out);
    V x;
    TASSIGN(x, 0);
    TLOAD(x, gi);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    float most = x.GetValue(0);
    for (int i = 1; i < 5; ++i)
        most = x.GetValue(i) > most ? x.GetValue(i) : most;
    for (int i = 0; i < 8; ++i)
        x.SetValue(i, most + i);
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    TSTORE(go, x);
    dsb(DSB_DDR);"""
    ).replace(HEAD, HEAD + SHAPES)
    data, out = floats(16, 64), np.zeros((16, 64), "f4")
    subject = kernel(tmp_path, text)
    subject(out, data)
    np.testing.assert_array_equal(out[0, :8], data[0, :5].max() + np.arange(8, dtype="f4"))
    np.testing.assert_array_equal(out[1:], data[1:])
    assert not ptosim.check(subject, out, data).findings


def test_a_kernel_of_vectors_in_a_file_that_tells_cores_apart_runs_on_vectors(tmp_path: Path) -> None:
    text = FIFO + ADD
    a, out = floats(64, 64), np.zeros((64, 64), "f4")
    subject = kernel(tmp_path, text, "run<float, 64, 64>")
    subject(out, a, a)
    np.testing.assert_array_equal(out, a + a)
    assert not ptosim.check(subject, out, a, a).findings


def test_a_pad_of_its_own_may_be_written_as_a_number(tmp_path: Path) -> None:
    text = body(
        """    constexpr auto pad = PadCustom<-1.5f>;
    using Padded = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, 64, SLayout::NoneBox, 512, pad>;
    static_assert(isCustomPadValue(Padded::PadVal) && getCustomPadBits(Padded::PadVal) == 0xBFC00000u);"""
    )
    kernel(tmp_path, text)(np.zeros(4, "f4"), np.zeros(4, "f4"))


def test_counts_may_be_unsigned(tmp_path: Path) -> None:
    text = body(
        """    using V = Tile<TileType::Vec, uint32_t, 1, 64>;
    V x;
    TASSIGN(x, 0);
    TCI<V, uint32_t, false>(x, 0xFFFFFFF0u);
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    GlobalTensor<uint32_t, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>> go(out);
    TSTORE(go, x);""",
        "__gm__ uint32_t *out",
    )
    out = np.zeros(64, "u4")
    kernel(tmp_path, text)(out)
    np.testing.assert_array_equal(out, np.arange(0xFFFFFFF0, 0xFFFFFFF0 + 64).astype("u4"))


@pytest.mark.parametrize(
    ("part", "kinds"),
    [
        ("TMOV(y, x); TINSERT(y, s, 1, 32);", []),
        ("TMOV(y, x); TSUBVIEW(s, y, 8, 32); TMOV(s, z);", []),
        ("TMOV(y, x); TASSIGN(s, 0x4000 + 8 * 64 * 4); TMOV(s, z);", []),
        ("TASSIGN(w, 0x4800); TMOV(y, x); TMOV(w, x);", ["overlap"]),
    ],
)
def test_a_part_of_a_tile_may_be_written_by_itself(tmp_path: Path, part: str, kinds: list[str]) -> None:
    text = body(
        f"""    V x, y, w;
    Tile<TileType::Vec, float, 8, 32> s, z;
    TASSIGN(x, 0); TASSIGN(y, 0x4000); TASSIGN(s, 0x8000); TASSIGN(z, 0xC000);
    G gi(in), go(out);
    GlobalTensor<float, Shape<1, 1, 1, 8, 32>, Stride<1, 1, 1, 64, 1>> gs(in);
    TLOAD(x, gi); TLOAD(s, gs); TLOAD(z, gs);
    pipe_barrier(PIPE_ALL);
    {part}
    pipe_barrier(PIPE_ALL);
    TSTORE(go, y);"""
    ).replace(HEAD, HEAD + SHAPES)
    report = ptosim.check(kernel(tmp_path, text), np.zeros((16, 64), "f4"), floats(16, 64))
    assert [finding.kind for finding in report.findings] == kinds


@pytest.mark.parametrize(("target", "direction"), [("a5", "DIR_C2V_GM"), ("a3", "DIR_C2V")])
def test_a_fifo_through_global_memory_has_its_own_local_slots(tmp_path: Path, target: str, direction: str) -> None:
    text = (
        FIFO.replace("Direction::DIR_C2V, M * N * 4, 2>", f"Direction::{direction}, M * N * 4, 4, 2>")
        .replace("(__gm__ void *)nullptr", "slots")
        .replace("int tiles)", "int tiles, __gm__ float *slots)")
        .replace("TRELU(y, x);", "pipe_barrier(PIPE_ALL);\n        TRELU(y, x);\n        pipe_barrier(PIPE_ALL);")
    )
    a, b, out = floats(320, 64, kind="f2"), floats(64, 64, kind="f2"), np.zeros((320, 64), "f4")
    subject, slots = kernel(tmp_path, text, target=target), np.zeros((4, 64, 64), "f4")
    subject(out, a, b, 5, slots)
    np.testing.assert_allclose(out, np.maximum(a.astype("f4") @ b.astype("f4"), 0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(slots[3], a[192:256].astype("f4") @ b.astype("f4"), rtol=1e-4, atol=1e-4)
    assert not ptosim.check(subject, out, a, b, 5, slots).findings


def test_the_half_of_a_core_reads_results_of_the_other(tmp_path: Path) -> None:
    text = FIFO.replace(
        "        TRELU(y, x);\n",
        """        set_flag(PIPE_V, PIPE_S, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
        if (x.GetValue(0) > 0)
            TRELU(y, x);
        else
            TADDS(y, x, 1.0f);
""",
    )
    assert text != FIFO
    a, b, out = floats(320, 64, kind="f2"), floats(64, 64, kind="f2"), np.zeros((320, 64), "f4")
    subject = kernel(tmp_path, text)
    subject(out, a, b, 5)
    parts = np.split(a.astype("f4") @ b.astype("f4"), 10)
    assert 0 < sum(part[0, 0] > 0 for part in parts) < 10
    wanted = [np.maximum(part, 0) if part[0, 0] > 0 else part + 1 for part in parts]
    np.testing.assert_allclose(out, np.concatenate(wanted), rtol=1e-4, atol=1e-4)
    assert not ptosim.check(subject, out, a, b, 5).errors


def test_a_result_that_never_comes_is_an_error(tmp_path: Path) -> None:
    text = FIFO.replace("TPUSH<Pipe, Acc, TileSplitAxis::TILE_UP_DOWN>(pipe, acc);", "").replace(
        "TRELU(y, x);", "if (x.GetValue(0) > 0) TRELU(y, x);"
    )
    a, b, out = floats(64, 64, kind="f2"), floats(64, 64, kind="f2"), np.zeros((64, 64), "f4")
    with pytest.raises(ptosim.PTOError, match=r"unmatched-wait|deadlock"):
        kernel(tmp_path, text)(out, a, b, 1)


def test_halves_of_a_core_may_go_different_ways_around_a_fifo(tmp_path: Path) -> None:
    filled = """#ifdef __DAV_VEC__
    Half w;
    TASSIGN(w, 0x20000);
    if (get_subblockid() == 1)
        TEXPANDS(w, 0.0f);
#endif
"""
    text = FIFO.replace("    Pipe pipe(", filled + "    Pipe pipe(")
    a, b, out = floats(128, 64, kind="f2"), floats(64, 64, kind="f2"), np.zeros((128, 64), "f4")
    kernel(tmp_path, text)(out, a, b, 2)
    np.testing.assert_allclose(out, np.maximum(a.astype("f4") @ b.astype("f4"), 0), rtol=1e-4, atol=1e-4)


def test_a_quantisation_may_have_no_offset(tmp_path: Path) -> None:
    text = body(
        """    Tile<TileType::Vec, float, 16, 64> x;
    Tile<TileType::Vec, int8_t, 16, 64> q;
    Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor> s;
    TASSIGN(x, 0);
    TASSIGN(q, 0x4000);
    TASSIGN(s, 0x8000);
    GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>> gi(in);
    GlobalTensor<float, Shape<1, 1, 1, 16, 1>, Stride<1, 1, 1, 1, 1>, Layout::DN> gs(scales);
    GlobalTensor<int8_t, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>> go(out);
    TLOAD(x, gi);
    TLOAD(s, gs);
    pipe_barrier(PIPE_ALL);
    TQUANT<QuantType::INT8_SYM>(q, x, s, nullptr);
    pipe_barrier(PIPE_ALL);
    TSTORE(go, q);""",
        "__gm__ int8_t *out, __gm__ float *in, __gm__ float *scales",
    )
    data, scales, out = floats(16, 64), np.full((16, 1), 100, "f4"), np.zeros((16, 64), "i1")
    kernel(tmp_path, text)(out, data, scales)
    np.testing.assert_array_equal(out, np.rint(data * np.float32(100)))


@pytest.mark.parametrize(("tiles", "kinds"), [(5, ["unmatched-wait"]), (1, ["undrained"])])
def test_the_hint_for_entries_that_nothing_frees_is_the_free(tmp_path: Path, tiles: int, kinds: list[str]) -> None:
    free = "        TFREE<Pipe, TileSplitAxis::TILE_UP_DOWN>(pipe);"
    text = FIFO.replace(f"{free}\n", "        // the result is stored\n")
    arrays = np.zeros((64 * tiles, 64), "f4"), floats(64 * tiles, 64, kind="f2"), floats(64, 64, kind="f2")
    report = ptosim.check(kernel(tmp_path, text), *arrays, tiles)
    assert [each.kind for each in report.findings] == kinds
    line = line_of(text, "TRELU(y, x);")
    assert report.findings[0].hint == f"after line {line} add {free.strip()}"
    assert report.fix().text == text.replace("        TRELU(y, x);\n", f"        TRELU(y, x);\n{free}\n")
