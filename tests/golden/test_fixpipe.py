"""FIXPIPE on the cube core: quantisation, relu, clip, saturation, layouts, repeats, atomics, the raw words."""

import numpy as np
import pytest

from golden.cube import (
    K,
    M,
    N,
    buffers,
    cube_kernel,
    exact,
    fixed,
    flag,
    frac,
    loads,
    mad,
    matrices,
    mixed_kernel,
    to_gm,
)
from golden.numbers import close, equal
from golden.program import gm, outcome


def test_column_major_store_keeps_gaps() -> None:
    for ds in (48, 64):
        text = fixed(to_gm("%c", M, N, "f32", "f32", ", nz2dn(%c1_i64)", ", i64", ds=ds), "f32")
        a, b = matrices(M, N, K)
        c = np.full((N, ds), 7, "f4")
        out = outcome(text, a, b, c)[2].reshape(N, ds)
        equal(out[:, :M].copy(), exact(a, b).T.copy())
        assert (out[:, M:] == 7).all()


@pytest.mark.parametrize("split, width", [("", 16), ("(%c1_i64)", 8)])
def test_fractal_store(split: str, width: int) -> None:
    types = ", i64" if split else ""
    text = fixed(to_gm("%c", M, N, "f32", "f32", f", nz2nz{split}", types, ds=48 * width), "f32")
    a, b = matrices(M, N, K)
    out = outcome(text, a, b, np.full(48 * N, 7, "f4"))[2].reshape(N // width, 48, width)
    equal(out[:, :M].copy(), exact(a, b).reshape(M, N // width, width).transpose(1, 0, 2).copy())
    assert (out[:, M:] == 7).all()


def test_scale_then_relu_then_narrow_then_clip() -> None:
    clauses = (
        ", unit_flag(check_only), pre_quant(%scale, mode = qf322f16_pre_scalar), pre_relu(%alpha,"
        " mode = scalar_relu, clip = %limit), nz2nd, sat"
    )
    before = """      %scale = arith.constant 3.0 : f32
      %alpha = arith.constant 0.25 : f32
      %limit = arith.constant 4.0 : f16
"""
    text = fixed(to_gm("%c", M, N, "f32", "f16", clauses, ", f32, f32, f16"), "f16", before=before)
    a, b = matrices(M, N, K)
    out = outcome(text, a, b, np.zeros((M, N), "f2"))[2]
    x = exact(a, b) * np.float32(3)
    x = np.where(x >= 0, x, x * np.float32(0.25))
    close(out, np.minimum(x.astype("f2"), np.float16(4)), 1e-3)
    assert out.max() == 4


def test_relu_alone_and_clip_alone() -> None:
    a, b = matrices(M, N, K)
    text = fixed(to_gm("%c", M, N, "f32", "f32", ", pre_relu(mode = normal_relu), nz2nd"), "f32")
    equal(outcome(text, a, b, np.zeros((M, N), "f4"))[2], np.maximum(exact(a, b), 0))
    before = "      %one = arith.constant 1.0 : f32\n      %limit = arith.constant 1.5 : f16\n"
    clauses = ", pre_quant(%one, mode = f32_f16), pre_relu(mode = no_relu, clip = %limit), nz2nd"
    text = fixed(to_gm("%c", M, N, "f32", "f16", clauses, ", f32, f16"), "f16", before=before)
    equal(outcome(text, a, b, np.zeros((M, N), "f2"))[2], np.minimum(exact(a, b).astype("f2"), np.float16(1.5)))


def parameters(quant: np.ndarray | None, relu: np.ndarray | None) -> tuple[str, str, list[np.ndarray]]:
    """Loads of packed parameter words into FB through L1: text, extra parameters, arrays."""
    text, extra, arrays = "", "", []
    if quant is not None:
        text += f"""      %l1q = pto.castptr %c262144_i64 : i64 -> !pto.ptr<ui64, l1>
      %fbq = pto.castptr %c0_i64 : i64 -> !pto.ptr<ui64, fb>
      %fq = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, fb>
      pto.mte_gm_l1 %q, %l1q, %c512_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm("ui64")}, !pto.ptr<ui64, l1>, i64, i64, i64, i64
"""
        extra += f", %q: {gm('ui64')}"
        arrays.append(quant)
    if relu is not None:
        text += f"""      %l1r = pto.castptr %c270336_i64 : i64 -> !pto.ptr<f32, l1>
      %fbr = pto.castptr %c65600_i64 : i64 -> !pto.ptr<f32, fb>
      pto.mte_gm_l1 %r, %l1r, %c256_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm("f32")}, !pto.ptr<f32, l1>, i64, i64, i64, i64
"""
        extra += f", %r: {gm('f32')}"
        arrays.append(relu)
    text += flag("MTE2", "FIX", 3)
    if quant is not None:
        text += (
            "      pto.mte_l1_fb %l1q, %fbq, %c8_i64 nburst(%c1_i64, %c0_i64, %c0_i64)"
            " : !pto.ptr<ui64, l1>, !pto.ptr<ui64, fb>, i64, i64, i64, i64\n"
        )
    if relu is not None:
        text += (
            "      pto.mte_l1_fb %l1r, %fbr, %c4_i64 nburst(%c1_i64, %c0_i64, %c0_i64)"
            " : !pto.ptr<f32, l1>, !pto.ptr<f32, fb>, i64, i64, i64, i64\n"
        )
    return text, extra, arrays


def test_scales_and_slopes_per_channel() -> None:
    scales = np.resize(np.array([1, 2, 3, 4], "f4"), N)
    slopes = np.resize(np.array([0.25, 0.5], "f4"), N)
    before, extra, arrays = parameters(scales.view("u4").astype("u8"), slopes)
    clauses = ", pre_quant(%fq, mode = qf322f16_pre_vec), pre_relu(%fbr, mode = vector_relu), nz2nd"
    text = fixed(
        to_gm("%c", M, N, "f32", "f16", clauses, ", !pto.ptr<f32, fb>, !pto.ptr<f32, fb>"), "f16", extra, before=before
    )
    a, b = matrices(M, N, K)
    out = outcome(text, a, b, np.zeros((M, N), "f2"), *arrays)[2]
    x = exact(a, b) * scales
    close(out, np.where(x >= 0, x, x * slopes).astype("f2"), 1e-3)


def quantised(
    mode: str, words: np.ndarray, element: str, accumulator: str, source: str
) -> tuple[np.ndarray, np.ndarray]:
    before, extra, arrays = parameters(words, None)
    number = {"si8": "i1", "ui8": "u1", "si16": "i2", "f16": "f2", "i32": "i4"}[element]
    clauses = f", pre_quant(%fq, mode = {mode}), nz2nd"
    text = fixed(
        to_gm("%c", M, N, accumulator, element, clauses, ", !pto.ptr<f32, fb>"),
        element,
        extra,
        source,
        accumulator,
        before,
    )
    random = np.random.default_rng(1)
    if source == "si8":
        a, b = random.integers(-9, 9, (M, K)).astype("i1"), random.integers(-9, 9, (K, N)).astype("i1")
        x = (a.astype("i4") @ b.astype("i4")).astype("f8")
    else:
        a, b = matrices(M, N, K)
        x = exact(a, b).astype("f8")
    return outcome(text, a, b, np.zeros((M, N), number), *arrays)[2], x


def words(scale: np.ndarray, offset: int = 0, sign: int = 1) -> np.ndarray:
    return scale.astype("f4").view("u4").astype("u8") | np.uint64((offset & 0x1FF) << 37 | sign << 46)


SCALE = np.resize(np.array([0.5, 0.25, 2, 0.125], "f4"), N)


@pytest.mark.parametrize("sign, low, high, element", [(1, -128, 127, "si8"), (0, 0, 255, "ui8")])
def test_requantised_bytes(sign: int, low: int, high: int, element: str) -> None:
    out, x = quantised("req8_vec", words(SCALE, 3, sign), element, "i32", "si8")
    equal(out, np.rint(x * SCALE + 3).clip(low, high).astype(out.dtype))
    out, x = quantised("qf322b8_pre_vec", words(SCALE * 64, -5, sign), element, "f32", "f16")
    equal(out, np.rint(x * (SCALE * 64) - 5).clip(low, high).astype(out.dtype))


def test_dequantised_halves_and_shifted_words() -> None:
    out, x = quantised("deqf16_vec", words(SCALE * 4000), "f16", "i32", "si8")
    equal(out, (x * (SCALE * 4000).astype("f8")).clip(-65504, 65504).astype("f2"))
    out, x = quantised("deqs16_vec", np.full(N, 2 << 32, "u8"), "si16", "i32", "si8")
    equal(out, (x.astype("i8") >> 3).astype("i2"))


def test_scalar_requantisation_follows_the_destination_type() -> None:
    for element, low, high in (("si8", -128, 127), ("ui8", 0, 255)):
        before = "      %scale = arith.constant 0.25 : f32\n"
        clauses = ", pre_quant(%scale, mode = req8_scalar), nz2nd"
        text = fixed(
            to_gm("%c", M, N, "i32", element, clauses, ", f32"), element, source="si8", accumulator="i32", before=before
        )
        random = np.random.default_rng(1)
        a, b = random.integers(-30, 30, (M, K)).astype("i1"), random.integers(-9, 9, (K, N)).astype("i1")
        out = outcome(text, a, b, np.zeros((M, N), "i1"))[2].view("i1" if low else "u1")
        equal(out, np.rint((a.astype("i4") @ b.astype("i4")) * 0.25).clip(low, high).astype(out.dtype))


def specials() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A product that holds infinities, NaN and values beyond the largest half."""
    a, b = np.zeros((M, K), "f2"), np.zeros((K, N), "f2")
    a[:, 0] = np.resize(np.array([1, np.inf, -np.inf, np.nan, 60000, -60000], "f2"), M)
    b[0] = np.resize(np.array([1, 2, 0.5, -1], "f2"), N)
    with np.errstate(invalid="ignore"):
        return a, b, a[:, :1].astype("f4") * b[:1].astype("f4")


@pytest.mark.parametrize("clause", ["sat", "sat(preserve_nan)", "nosat", "none"])
def test_saturation_of_halves(clause: str) -> None:
    before = "      %one = arith.constant 1.0 : f32\n"
    clauses = ", pre_quant(%one, mode = f32_f16), nz2nd" + (f", {clause}" if clause != "none" else "")
    text = fixed(to_gm("%c", M, N, "f32", "f16", clauses, ", f32"), "f16", before=before)
    a, b, x = specials()
    a[:, 0] = np.where(np.isnan(a[:, 0]), np.float16(np.nan), a[:, 0])
    out = outcome(text, a, b, np.zeros((M, N), "f2"))[2]
    with np.errstate(over="ignore", invalid="ignore"):
        plain = x.astype("f2")
    clamped = np.clip(x, -65504, 65504)
    expected = {
        "sat": np.where(np.isnan(x), 0, clamped),
        "sat(preserve_nan)": clamped,
        "nosat": plain,
        "none": plain,
    }[clause]
    close(out, expected, 0)


def test_control_register_decides_where_no_clause_does() -> None:
    before = """      %one = arith.constant 1.0 : f32
      %ctrl = pto.get_ctrl : i64
      %clear = pto.sbitset0 %ctrl, %c48_i64 : i64, i64 -> i64
"""
    store = to_gm("%c", M, N, "f32", "f16", ", pre_quant(%one, mode = f32_f16), nz2nd", ", f32")
    store = "      pto.set_ctrl %clear : i64\n" + store + "      pto.set_ctrl %ctrl : i64\n"
    store += to_gm("%d", M, N, "f32", "f16", ", pre_quant(%one, mode = f32_f16), nz2nd", ", f32")
    text = fixed(store, "f16", f", %d: {gm('f16')}", before=before)
    a, b, x = specials()
    out = outcome(text, a, b, np.zeros((M, N), "f2"), np.zeros((M, N), "f2"))
    close(out[2], np.where(np.isnan(x), 0, np.clip(x, -65504, 65504)), 0)
    with np.errstate(over="ignore", invalid="ignore"):
        close(out[3], x.astype("f2"), 0)


@pytest.mark.parametrize("op", ["add", "max", "min"])
def test_atomic_store(op: str) -> None:
    text = fixed(to_gm("%c", M, N, "f32", "f32", f", nz2nd, atomic(type = f32, op = {op})"), "f32")
    a, b = matrices(M, N, K)
    c = np.random.default_rng(8).uniform(-1, 1, (M, N)).astype("f4")
    x = exact(a, b)
    expected = {"add": c + x, "max": np.maximum(c, x), "min": np.minimum(c, x)}[op]
    close(outcome(text, a, b, c)[2], expected, 1e-6)


def test_repeated_store() -> None:
    """loop3 repeats the whole pattern: the source moves by rows of 64 bytes, the destination by elements."""
    store = to_gm("%c", 16, 16, "f32", "f32", ", nz2nd, loop3(%c2_i64, %c16_i64, %c512_i64)", ", i64, i64, i64", ss=48)
    text = fixed(store, "f32")
    a, b = matrices(M, N, K)
    out = outcome(text, a, b, np.zeros(1024, "f4"))[2]
    x = exact(a, b)
    equal(out[:256].reshape(16, 16), x[:16, :16].copy())
    equal(out[512:768].reshape(16, 16), x[16:32, :16].copy())


# --- the raw words ----------------------------------------------------------------------------------------------------

ROW_MAJOR, COLUMN_MAJOR = 1 << 43, 1 << 62
PRODUCT = buffers("f16", "f32") + loads(M, N, K, "f16") + mad(M, N, K, "f16", "f32") + flag("M", "FIX")
ROWS = 48  # of L0C in a group of 16 columns


def sizes(m: int, n: int, ds: int) -> int:
    """The first word of a raw store: n in bits 15:4, m in 31:16, the destination stride in 63:32."""
    return n << 4 | m << 16 | ds << 32


def mode(code: int) -> int:
    """Bits of the second word: the low five of a quantisation code stand in 38:34, the sixth in 29."""
    return (code & 31) << 34 | (code >> 5) << 29


def raw(target: str, element: str, first: int, second: int, space: str = "gm", accumulator: str = "f32") -> str:
    name = {"gm": "gm", "l1": "cbuf", "ub": "ub"}[space]
    return (
        f"      pto.copy_matrix_cc_to_{name} %l0c, {target}, %c{first}_i64, %c{second}_i64"
        f" : !pto.ptr<{accumulator}, l0c>, !pto.ptr<{element}, {space}>, i64, i64\n"
    )


def register(name: str, word: int) -> str:
    if name in ("loop3_para", "channel_para"):  # the low 40 bits and the high 24
        return f"      pto.set_{name} %c{word & (1 << 40) - 1}_i64, %c{word >> 40}_i64 : i64, i64\n"
    return f"      pto.set_{name} %c{word}_i64 : i64\n"


def cut(numbers: np.ndarray) -> np.ndarray:
    """Scales and slopes keep ten bits of fraction."""
    return (numbers.astype("f4").view("u4") & np.uint32(0xFFFFE000)).view("f4")


def test_registers_stay_until_they_are_written_again() -> None:
    """Three stores with one scale, slope and limit; only the slope changes before the last."""
    three, tenth, half = (int(np.float32(x).view("u4")) for x in (3, 0.1, 0.5))
    word = ROWS | ROW_MAJOR | mode(32) | 2 << 39 | 1 << 30  # qf322f16_pre_scalar, scalar relu, clip
    store = "".join(register(*r) for r in (("quant_pre", three), ("relu_alpha", tenth), ("fix_clip_relu", 0x4000)))
    store += raw("%c", "f16", sizes(M, N, N), word) + raw("%d", "f16", sizes(M, N, N), word)
    store += register("relu_alpha", half) + raw("%e", "f16", sizes(M, N, N), word)
    a, b = matrices(M, N, K)
    text = fixed(store, "f16", f", %d: {gm('f16')}, %e: {gm('f16')}")
    out = outcome(text, a, b, *(np.zeros((M, N), "f2") for _ in range(3)))
    x = exact(a, b) * np.float32(3)
    for found, slope in zip(out[2:], (0.1, 0.1, 0.5), strict=True):
        leaky = np.where(x >= 0, x, x * cut(np.array(slope)))
        equal(found, np.minimum(leaky.astype("f2"), np.float16(2)))  # 0x4000


def test_repeats_and_row_steps_come_from_registers() -> None:
    """Two tiles of 8 x 16, 8 rows apart in L0C and 512 elements in GM; then 20 x 16 of every second row, by columns."""
    store = register("loop3_para", 2 | 8 << 16 | 512 << 32) + raw("%c", "f32", sizes(8, 16, 20), ROWS | ROW_MAJOR)
    store += register("loop3_para", 1) + register("channel_para", 2 << 48)
    store += raw("%d", "f32", sizes(20, 16, 24), ROWS | COLUMN_MAJOR)
    text = fixed(store, "f32", f", %d: {gm('f32')}")
    a, b = matrices(M, N, K)
    x = exact(a, b)
    out = outcome(text, a, b, np.full(1024, 7, "f4"), np.full((16, 24), 7, "f4"))
    expected = np.full((2, 512), 7, "f4")
    for repeat in range(2):
        expected[repeat, :160].reshape(8, 20)[:, :16] = x[8 * repeat : 8 * repeat + 8, :16]
    equal(out[2].reshape(2, 512), expected)
    equal(out[3][:, :20].copy(), x[:40:2, :16].T.copy())
    assert (out[3][:, 20:] == 7).all()


def test_rows_of_the_buffer_come_from_a_register() -> None:
    """Row 0 of the quantisation words, row 1 of the relu words: where the loads of the parameters put them."""
    scales, slopes = np.resize(np.array([1, 0.3, 2, 4], "f4"), N), np.resize(np.array([0.25, 0.7], "f4"), N)
    before, extra, arrays = parameters(scales.view("u4").astype("u8"), slopes)
    store = register("fpc", 0 << 8 | 1) + raw("%c", "f16", sizes(M, N, N), ROWS | ROW_MAJOR | mode(31) | 3 << 39)
    text = fixed(store, "f16", extra, before=before)
    a, b = matrices(M, N, K)
    out = outcome(text, a, b, np.zeros((M, N), "f2"), *arrays)[2]
    x = exact(a, b) * cut(scales)
    equal(out, np.where(x >= 0, x, x * cut(slopes)).astype("f2"))


@pytest.mark.parametrize("dual", ["first", "second", "split_m", "split_n"])
def test_raw_store_to_ub(dual: str) -> None:
    """Bits 17:16 of the second word: one core, rows or columns of both; bit 18: which one."""
    field = {"first": 0, "second": 1 << 18, "split_m": 1 << 16, "split_n": 2 << 16}[dual]
    cube = PRODUCT + raw("%ub0", "f32", sizes(M, N, N), ROWS | ROW_MAJOR | field, "ub")
    cube += "      pto.sync.set <PIPE_FIX>, 1\n      pto.sync.set <PIPE_FIX>, 17\n"
    rows, columns = {"split_m": (M // 2, N), "split_n": (M, N // 2)}.get(dual, (M, N))
    first, second = {"split_m": (0, M // 2 * N), "split_n": (0, N // 2)}.get(dual, (0, 0))
    mine = {"first": "eq", "second": "ne"}.get(dual)
    copy = (
        f"      pto.mte_ub_gm %ub0, %c_k, %c{columns * 4}_i64 nburst(%c{rows}_i64, %c{N * 4}_i64,"
        f" %c{N * 4}_i64) : !pto.ptr<f32, ub>, {gm('f32')}, i64, i64, i64, i64\n"
    )
    if mine is not None:
        copy = f"      %mine = arith.cmpi {mine}, %sub, %c0_i64 : i64\n      scf.if %mine {{\n{copy}      }}\n"
    vector = f"""      pto.sync.wait <PIPE_MTE3>, 1
      %sub = pto.get_subblock_idx
      %k = arith.index_cast %sub : i64 to index
      %o = arith.muli %k, %c{second - first} : index
      %c_k = pto.addptr %c, %o : {gm("f32")} -> {gm("f32")}
{copy}      pto.barrier #pto.pipe<PIPE_ALL>
"""
    common = "    %ub0 = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>\n"
    text = mixed_kernel(common, cube, vector, f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}")
    a, b = matrices(M, N, K)
    equal(outcome(text, a, b, np.zeros((M, N), "f4"))[2], exact(a, b))


def test_raw_store_to_l1() -> None:
    """Fractals of f16, which L0A takes as they are: (A x B) x B2 without a way through GM."""
    deep = 16
    cube = PRODUCT + "      %l1p = pto.castptr %c327680_i64 : i64 -> !pto.ptr<f16, l1>\n"
    cube += raw("%l1p", "f16", sizes(M, N, ROWS * 16), ROWS | mode(1), "l1") + flag("FIX", "MTE1", 1)
    cube += flag("M", "MTE1", 1) + flag("MTE1", "MTE2", 1) + frac("%b2", "%l1b", N, deep, "f16", N)
    cube += (
        flag("MTE2", "MTE1", 1)
        + f"""      pto.mte_l1_l0a %l1p, %l0a, %c{M}_i64, %c{N}_i64 : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64
      pto.mte_l1_l0b %l1b, %l0b, %c{N}_i64, %c{deep}_i64 {{transpose = true}}
        : !pto.ptr<f16, l1>, !pto.ptr<f16, l0b>, i64, i64
"""
    )
    cube += flag("MTE1", "M", 1) + flag("FIX", "M", 1) + mad(M, deep, N, "f16", "f32") + flag("M", "FIX", 1)
    cube += to_gm("%c", M, deep, "f32", "f32")
    text = cube_kernel(cube, f"%a: {gm('f16')}, %b: {gm('f16')}, %b2: {gm('f16')}, %c: {gm('f32')}")
    a, b = matrices(M, N, K)
    b2 = np.random.default_rng(9).uniform(-1, 1, (N, deep)).astype("f2")
    equal(outcome(text, a, b, b2, np.zeros((M, deep), "f4"))[3], exact(exact(a, b).astype("f2"), b2))
