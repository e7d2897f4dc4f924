"""Products and FIXPIPE on the cube core: types, shapes, saturation, quantisation, relu, clip, layouts, atomics."""

import ml_dtypes
import numpy as np
import pytest

from golden.cube import buffers, cube_kernel, flag, frac, loads, mad, matrices, to_gm, up
from golden.numbers import close, equal
from golden.program import gm, outcome

BF16 = ml_dtypes.bfloat16


def product(m: int, n: int, k: int, element: str, accumulator: str = "f32", clauses: str = "", store: str = "") -> str:
    body = (
        buffers(element, accumulator)
        + loads(m, n, k, element)
        + mad(m, n, k, element, accumulator, clauses)
        + flag("M", "FIX")
    )
    body += store or to_gm("%c", m, n, accumulator, accumulator)
    return cube_kernel(body, f"%a: {gm(element)}, %b: {gm(element)}, %c: {gm(accumulator)}")


SHAPES = [(16, 16, 16), (40, 60, 50), (1, 16, 32), (33, 17, 31), (128, 64, 96), (3, 5, 7)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_products_of_floats(element: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    clauses = "disable_gemv" if m == 1 else ""
    kind = {"f16": np.float16, "bf16": BF16, "f32": np.float32}[element]
    a, b = matrices(m, n, k, "f4")
    a, b = a.astype(kind), b.astype(kind)
    out = outcome(product(m, n, k, element, clauses=clauses), a, b, np.zeros((m, n), "f4"))[2]
    close(out, (a.astype("f8") @ b.astype("f8")).astype("f4"), 1e-5)
    exact = np.zeros((m, n))
    for i in range(k):
        exact += a[:, i : i + 1].astype("f8") * b[i : i + 1].astype("f8")
    equal(out, exact.astype("f4"))


@pytest.mark.parametrize("shape", [(16, 32, 64), (40, 60, 50), (128, 64, 96), (3, 30, 100)], ids=str)
def test_products_of_bytes(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    random = np.random.default_rng(1)
    a, b = random.integers(-128, 128, (m, k)).astype("i1"), random.integers(-128, 128, (k, n)).astype("i1")
    out = outcome(product(m, n, k, "si8", "i32"), a, b, np.zeros((m, n), "i4"))[2]
    equal(out, a.astype("i4") @ b.astype("i4"))


@pytest.mark.parametrize("stored", ["fractals of the transpose", "raw rows"])
def test_sixteen_columns_of_bytes(stored: str) -> None:
    """B is 64 x 16, constant along k. Copied raw, with the transpose, its fractals 0 and 1 serve as k-blocks."""
    body = buffers("si8", "i32")
    body += frac("%a", "%l1a", 16, 64, "si8", 16)
    body += f"""      pto.mte_gm_l1 %b, %l1b, %c1024_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm("si8")}, !pto.ptr<si8, l1>, i64, i64, i64, i64
"""
    body += flag("MTE2", "MTE1")
    turned = "{transpose = true} " if stored == "raw rows" else ""
    body += f"""      pto.mte_l1_l0a %l1a, %l0a, %c16_i64, %c64_i64 : !pto.ptr<si8, l1>, !pto.ptr<si8, l0a>, i64, i64
      pto.mte_l1_l0b %l1b, %l0b, %c64_i64, %c16_i64 {turned}: !pto.ptr<si8, l1>, !pto.ptr<si8, l0b>, i64, i64
"""
    body += flag("MTE1", "M") + mad(16, 16, 64, "si8", "i32") + flag("M", "FIX") + to_gm("%c", 16, 16, "i32", "i32")
    text = cube_kernel(body, f"%a: {gm('si8')}, %b: {gm('si8')}, %c: {gm('i32')}")
    a = np.random.default_rng(1).integers(-128, 128, (16, 64)).astype("i1")
    column = np.random.default_rng(2).integers(-128, 128, 16).astype("i1")
    fractals = np.broadcast_to(column[None, :, None], (2, 16, 32))
    b = fractals.copy() if stored != "raw rows" else np.broadcast_to(column, (64, 16)).copy()
    out = outcome(text, a, b, np.zeros((16, 16), "i4"))[2]
    equal(out, a.astype("i4") @ np.broadcast_to(column.astype("i4"), (64, 16)))


def test_vector_times_matrix() -> None:
    """m = 1 takes A as a plain vector; disable_gemv takes it from fractals: the same numbers."""
    gemv = buffers("f16", "f32")
    gemv += (
        "      pto.mte_gm_l1 %a, %l1a, %c64_i64 nburst(%c1_i64, %c0_i64, %c0_i64)"
        f" : {gm('f16')}, !pto.ptr<f16, l1>, i64, i64, i64, i64\n"
    )
    gemv += loads(1, 16, 32, "f16").replace(frac("%a", "%l1a", 1, 32, "f16", 16), "")
    gemv += mad(1, 16, 32, "f16", "f32") + flag("M", "FIX") + to_gm("%c", 1, 16, "f32", "f32")
    text = cube_kernel(gemv, f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}")
    a, b = matrices(1, 16, 32)
    one = outcome(text, a, b, np.zeros((1, 16), "f4"))[2]
    two = outcome(product(1, 16, 32, "f16", clauses="disable_gemv"), a, b, np.zeros((1, 16), "f4"))[2]
    equal(one, two)
    close(one, a.astype("f8") @ b.astype("f8"), 1e-5)


def test_saturating_and_plain_products() -> None:
    a, b = np.eye(16, dtype="f4"), np.zeros((16, 16), "f4")
    a[0, 0], a[1, 1], a[2, 2], a[3, 3], a[3, 4] = np.inf, -np.inf, np.nan, 2e38, 2e38
    b[:, 0], b[:, 1] = 1, 2
    flt_max = np.finfo("f4").max
    sat = outcome(product(16, 16, 16, "f32", clauses="sat"), a, b, np.zeros((16, 16), "f4"))[2]
    assert sat[0, 0] == flt_max and sat[0, 1] == flt_max and sat[1, 0] == -flt_max and sat[2, 0] == 0
    assert sat[3, 0] == flt_max and sat[3, 1] == flt_max and np.isfinite(sat).all()
    for clauses in ("nosat", ""):
        plain = outcome(product(16, 16, 16, "f32", clauses=clauses), a, b, np.zeros((16, 16), "f4"))[2]
        assert plain[0, 0] == np.inf and np.isnan(plain[0, 2]) and plain[1, 0] == -np.inf and np.isnan(plain[2, 0])
        assert plain[3, 0] == np.inf and plain[5, 1] == 2


@pytest.mark.parametrize("mode", ["round_even", "round_away"])
def test_tf32(mode: str) -> None:
    a, b = matrices(16, 16, 16, "f4")
    a[0, :4] = [1 + 2.0**-11, 1 + 3 * 2.0**-11, -(1 + 2.0**-11), 1 + 2.0**-11 + 2.0**-20]
    b[:4, 0] = 1
    out = outcome(product(16, 16, 16, "f32", clauses=f"tf32_mode({mode})"), a, b, np.zeros((16, 16), "f4"))[2]

    def cut(x: np.ndarray) -> np.ndarray:
        raw = x.view("u4").astype("u8")
        raw = raw + 0xFFF + (raw >> 13 & 1) if mode == "round_even" else raw + 0x1000
        return (raw & 0xFFFFE000).astype("u4").view("f4").astype("f8")

    close(out, cut(a) @ cut(b), 1e-6)


def test_accumulation_and_bias() -> None:
    m, n, k = 16, 32, 16
    body = buffers("f16", "f32") + loads(m, n, k, "f16") + mad(m, n, k, "f16", "f32", "unit_flag(check_only)")
    body += flag("M", "MTE1") + flag("MTE1", "MTE2", 1)
    again = loads(m, n, k, "f16", "%a2", "%b2").replace("EVENT_ID0", "EVENT_ID2")
    body += (
        again
        + mad(m, n, k, "f16", "f32", "unit_flag(check_and_set)", "mad_acc")
        + flag("M", "FIX")
        + to_gm("%c", m, n, "f32", "f32")
    )
    text = cube_kernel(body, f"%a: {gm('f16')}, %b: {gm('f16')}, %a2: {gm('f16')}, %b2: {gm('f16')}, %c: {gm('f32')}")
    a, b = matrices(m, n, k)
    a2, b2 = matrices(m, n, k, seed=5)
    out = outcome(text, a, b, a2, b2, np.zeros((m, n), "f4"))[4]
    close(out, a.astype("f8") @ b.astype("f8") + a2.astype("f8") @ b2.astype("f8"), 1e-5)


@pytest.mark.parametrize("kind", ["f16", "f32", "bf16"])
def test_bias_of_each_type(kind: str) -> None:
    m, n, k = 16, 16, 16
    number = {"f16": np.float16, "f32": np.float32, "bf16": BF16}[kind]
    units = n * np.dtype(number).itemsize // 32
    body = (
        buffers("f16", "f32")
        + f"""      %l1bias = pto.castptr %c262144_i64 : i64 -> !pto.ptr<{kind}, l1>
      %bt = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, bt>
      pto.mte_gm_l1 %bias, %l1bias, %c{units * 32}_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm(kind)}, !pto.ptr<{kind}, l1>, i64, i64, i64, i64
"""
    )
    body += loads(m, n, k, "f16")
    body = body.replace(
        "      pto.mte_l1_l0a",
        (
            f"      pto.mte_l1_bt %l1bias, %bt, %c{units}_i64 nburst(%c1_i64, %c0_i64, %c0_i64)"
            f" : !pto.ptr<{kind}, l1>, !pto.ptr<f32, bt>, i64, i64, i64, i64\n      pto.mte_l1_l0a"
        ),
    )
    body += mad(m, n, k, "f16", "f32", op="mad_bias", bias="%bt") + flag("M", "FIX") + to_gm("%c", m, n, "f32", "f32")
    text = cube_kernel(body, f"%a: {gm('f16')}, %b: {gm('f16')}, %bias: {gm(kind)}, %c: {gm('f32')}")
    a, b = matrices(m, n, k)
    bias = np.random.default_rng(3).uniform(-2, 2, n).astype(number)
    out = outcome(text, a, b, bias, np.zeros((m, n), "f4"))[3]
    close(out, a.astype("f8") @ b.astype("f8") + bias.astype("f8"), 1e-5)


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_products_of_eight_bit_floats(element: str) -> None:
    number = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}[element]
    a, b = (x.astype(number) for x in matrices(16, 32, 64, "f4"))
    out = outcome(product(16, 32, 64, element), a.view("u1"), b.view("u1"), np.zeros((16, 32), "f4"))[2]
    close(out, a.astype("f8") @ b.astype("f8"), 1e-5)


def test_hif8_product() -> None:
    a, b = np.full((16, 64), 0x40, "u1"), np.full((64, 32), 0xC0, "u1")
    out = outcome(product(16, 32, 64, "!pto.hif8"), a, b, np.zeros((16, 32), "f4"))[2]
    assert (out == -256 * 64).all()
    out = outcome(product(16, 32, 64, "f8E4M3FN"), a, b, np.zeros((16, 32), "f4"))[2]
    assert (out == -4 * 64).all()


def test_scaled_products() -> None:
    """One e8m0 scale per row and 32 values of k, per column likewise."""
    m, n, k = 16, 32, 64
    body = (
        buffers("f8E4M3FN", "f32")
        + """      %l1sa = pto.castptr %c262144_i64 : i64 -> !pto.ptr<!pto.f8E8M0, l1>
      %l1sb = pto.castptr %c266240_i64 : i64 -> !pto.ptr<!pto.f8E8M0, l1>
      %sa0 = pto.castptr %c0_i64 : i64 -> !pto.ptr<!pto.f8E8M0, l0a>
      %sb0 = pto.castptr %c0_i64 : i64 -> !pto.ptr<!pto.f8E8M0, l0b>
"""
    )
    e = "!pto.f8E8M0"
    body += f"""      pto.mte_gm_l1 %sa, %l1sa, %c32_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm(e)}, !pto.ptr<{e}, l1>, i64, i64, i64, i64
      pto.mte_gm_l1 %sb, %l1sb, %c64_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm(e)}, !pto.ptr<{e}, l1>, i64, i64, i64, i64
"""
    body += loads(m, n, k, "f8E4M3FN")
    body = body.replace(
        "      pto.mte_l1_l0a %l1a",
        f"""      pto.mte_l1_l0a_mx %l1sa, %sa0, %c{m}_i64, %c{k}_i64 : !pto.ptr<{e}, l1>, !pto.ptr<{e}, l0a>, i64, i64
      pto.mte_l1_l0b_mx %l1sb, %sb0, %c{k}_i64, %c{n}_i64 : !pto.ptr<{e}, l1>, !pto.ptr<{e}, l0b>, i64, i64
      pto.mte_l1_l0a %l1a""",
    )
    body += mad(m, n, k, "f8E4M3FN", "f32", op="mad_mx") + flag("M", "FIX") + to_gm("%c", m, n, "f32", "f32")
    text = cube_kernel(body, f"%a: {gm('f8E4M3FN')}, %b: {gm('f8E4M3FN')}, %sa: {gm(e)}, %sb: {gm(e)}, %c: {gm('f32')}")
    random = np.random.default_rng(7)
    a, b = (x.astype(ml_dtypes.float8_e4m3fn) for x in matrices(m, n, k, "f4"))
    sa, sb = random.integers(120, 135, (m, 2)).astype("u1"), random.integers(120, 135, (2, n)).astype("u1")
    scale_a = np.repeat(2.0 ** (sa.astype("f8") - 127), 32, axis=1)
    scale_b = np.repeat(2.0 ** (sb.astype("f8") - 127), 32, axis=0)
    stored_b = np.stack([sb[:, :16].T, sb[:, 16:].T]).reshape(-1)
    out = outcome(text, a.view("u1"), b.view("u1"), sa.reshape(-1), stored_b, np.zeros((m, n), "f4"))[4]
    close(out, (a.astype("f8") * scale_a) @ (b.astype("f8") * scale_b), 1e-5)


def test_transposed_left_operand() -> None:
    """A stored as [k, m]."""
    m, n, k = 48, 16, 32
    body = buffers("f16", "f32") + loads(m, n, k, "f16")
    body = body.replace(frac("%a", "%l1a", m, k, "f16", up(m, 16)), frac("%a", "%l1a", k, m, "f16", up(k, 16)))
    body = body.replace(f"%l0a, %c{m}_i64, %c{k}_i64 :", f"%l0a, %c{m}_i64, %c{k}_i64 {{transpose = true}} :")
    body += mad(m, n, k, "f16", "f32") + flag("M", "FIX") + to_gm("%c", m, n, "f32", "f32")
    text = cube_kernel(body, f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}")
    a, b = matrices(m, n, k)
    out = outcome(text, a.T.copy(), b, np.zeros((m, n), "f4"))[2]
    close(out, a.astype("f8") @ b.astype("f8"), 1e-5)


def test_column_major_source() -> None:
    """dn2nz reads a column-major matrix; the result is the same NZ tile."""
    m, n, k = 16, 16, 32
    body = buffers("f16", "f32") + loads(m, n, k, "f16")
    body = body.replace(frac("%a", "%l1a", m, k, "f16", 16), frac("%a", "%l1a", m, k, "f16", 16, "dn2nz", m * 2))
    body += mad(m, n, k, "f16", "f32") + flag("M", "FIX") + to_gm("%c", m, n, "f32", "f32")
    text = cube_kernel(body, f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}")
    a, b = matrices(m, n, k)
    close(outcome(text, a.T.copy(), b, np.zeros((m, n), "f4"))[2], a.astype("f8") @ b.astype("f8"), 1e-5)


@pytest.mark.parametrize("form", ["four", "six", "named", "raw"])
def test_every_form_of_the_loads(form: str) -> None:
    m, n, k = 32, 32, 32
    p = "!pto.ptr<f16, l1>, !pto.ptr<f16, l0a>"
    q = "!pto.ptr<f16, l1>, !pto.ptr<f16, l0b>"
    c = "%c2_i64, %c2_i64, %c2_i64, %c2_i64"
    lines = {
        "four": (
            f"pto.mte_l1_l0a %l1a, %l0a, %c32_i64, %c32_i64, %c0_i64, %c0_i64 : {p}, i64, i64, i64, i64",
            (
                f"pto.mte_l1_l0b %l1b, %l0b, %c32_i64, %c32_i64, %c0_i64, %c0_i64 {{transpose = true}}"
                f" : {q}, i64, i64, i64, i64"
            ),
        ),
        "six": (
            f"pto.mte_l1_l0a %l1a, %l0a, %c0_i64, %c0_i64, {c} : {p}, i64, i64, i64, i64, i64, i64",
            (
                f"pto.mte_l1_l0b %l1b, %l0b, %c0_i64, %c0_i64, {c} {{transpose = true}}"
                f" : {q}, i64, i64, i64, i64, i64, i64"
            ),
        ),
        "named": (
            (
                "pto.mte_l1_l0a %l1a, %l0a, k(%c32_i64), m(%c32_i64), start_row(%c0_i64), start_col(%c0_i64)"
                f" : {p}, i64, i64, i64, i64"
            ),
            (
                "pto.mte_l1_l0b %l1b, %l0b, m_step(%c2_i64), k_step(%c2_i64), m_start(%c0_i64),"
                f" k_start(%c0_i64), src_stride(%c2_i64), dst_stride(%c2_i64) {{transpose = true}}"
                f" : {q}, i64, i64, i64, i64, i64, i64"
            ),
        ),
        "raw": (
            f"pto.load_cbuf_to_ca %l1a, %l0a, %c0_i64, %c0_i64, {c} : {p}, i64, i64, i64, i64, i64, i64",
            (
                f"pto.load_cbuf_to_cb %l1b, %l0b, %c0_i64, %c0_i64, {c} {{transpose = true}}"
                f" : {q}, i64, i64, i64, i64, i64, i64"
            ),
        ),
    }[form]
    body = (
        buffers("f16", "f32")
        + frac("%a", "%l1a", m, k, "f16", 32)
        + frac("%b", "%l1b", k, n, "f16", 32)
        + flag("MTE2", "MTE1")
    )
    body += (
        "".join(f"      {line}\n" for line in lines) + flag("MTE1", "M") + mad(m, n, k, "f16", "f32") + flag("M", "FIX")
    )
    body += to_gm("%c", m, n, "f32", "f32")
    text = cube_kernel(body, f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}")
    a, b = matrices(m, n, k)
    close(outcome(text, a, b, np.zeros((m, n), "f4"))[2], a.astype("f8") @ b.astype("f8"), 1e-5)


def test_raw_product_and_store_words() -> None:
    m, n, k = 16, 16, 16
    word = m | k << 12 | n << 24 | 1 << 63
    cfg0, cfg1 = n << 4 | m << 16 | n << 32, 16 | 1 << 43
    body = buffers("f16", "f32") + loads(m, n, k, "f16")
    body += f"""      %xt = arith.constant {word - 2**64} : i64
      pto.mad_raw %l0a, %l0b, %l0c, %xt : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64
"""
    body += flag("M", "FIX") + (
        f"      pto.copy_matrix_cc_to_gm %l0c, %c, %c{cfg0}_i64, %c{cfg1}_i64"
        f" : !pto.ptr<f32, l0c>, {gm('f32')}, i64, i64\n"
    )
    text = cube_kernel(body, f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}")
    a, b = matrices(m, n, k)
    close(outcome(text, a, b, np.zeros((m, n), "f4"))[2], a.astype("f8") @ b.astype("f8"), 1e-5)


def test_fill_of_l1() -> None:
    """A tile of ones made by a fill, multiplied with a loaded one."""
    body = buffers("f16", "f32")
    body += """      %word = arith.constant 15360 : i32
      pto.raw_fill_l1 %l1a, %c0_i64, %word, %c1_i64, %c32_i64, %c0_i64 {fill_word_bits = 16}
        : !pto.ptr<f16, l1>, i64, i32, i64, i64, i64
"""
    body += loads(16, 16, 32, "f16").replace(frac("%a", "%l1a", 16, 32, "f16", 16), "")
    body += mad(16, 16, 32, "f16", "f32") + flag("M", "FIX") + to_gm("%c", 16, 16, "f32", "f32")
    text = cube_kernel(body, f"%b: {gm('f16')}, %c: {gm('f32')}")
    _, b = matrices(16, 16, 32)
    close(outcome(text, b, np.zeros((16, 16), "f4"))[1], np.broadcast_to(b.astype("f8").sum(0), (16, 16)), 1e-5)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
E1M2 = np.arange(8) / 4


@pytest.mark.parametrize("kinds", [("f4E2M1x2", "f4E2M1x2"), ("f4E1M2x2", "f4E2M1x2")], ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_products_of_four_bit_floats(kinds: tuple[str, str], turned: bool) -> None:
    """Two values to a byte, the even one in the low half; shapes of copies count bytes, those of loads values.

    B is stored [n, k] and loaded as it is, or [k, n] and transposed nibble by nibble.
    """
    m, n, k = 32, 64, 128
    e = "!pto.f8E8M0"
    ta, tb = (f"!pto.{kind}" for kind in kinds)
    body = f"""      %false = arith.constant false
      %l1a = pto.castptr %c0_i64 : i64 -> !pto.ptr<{ta}, l1>
      %l1b = pto.castptr %c131072_i64 : i64 -> !pto.ptr<{tb}, l1>
      %l1sa = pto.castptr %c262144_i64 : i64 -> !pto.ptr<{e}, l1>
      %l1sb = pto.castptr %c266240_i64 : i64 -> !pto.ptr<{e}, l1>
      %l0a = pto.castptr %c0_i64 : i64 -> !pto.ptr<{ta}, l0a>
      %l0b = pto.castptr %c0_i64 : i64 -> !pto.ptr<{tb}, l0b>
      %sa0 = pto.castptr %c0_i64 : i64 -> !pto.ptr<{e}, l0a>
      %sb0 = pto.castptr %c0_i64 : i64 -> !pto.ptr<{e}, l0b>
      %l0c = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, l0c>
      pto.mte_gm_l1 %sa, %l1sa, %c{m * k // 32}_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm(e)}, !pto.ptr<{e}, l1>, i64, i64, i64, i64
      pto.mte_gm_l1 %sb, %l1sb, %c{n * k // 32}_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm(e)}, !pto.ptr<{e}, l1>, i64, i64, i64, i64
"""
    rows, columns = (k, n) if turned else (n, k)
    body += frac("%a", "%l1a", m, k // 2, ta, m, inner=k // 2)
    body += frac("%b", "%l1b", rows, columns // 2, tb, rows, inner=columns // 2) + flag("MTE2", "MTE1")
    how = " {transpose = true}" if turned else ""
    body += f"""      pto.mte_l1_l0a %l1a, %l0a, %c{m}_i64, %c{k}_i64
        : !pto.ptr<{ta}, l1>, !pto.ptr<{ta}, l0a>, i64, i64
      pto.mte_l1_l0b %l1b, %l0b, %c{k}_i64, %c{n}_i64{how} : !pto.ptr<{tb}, l1>, !pto.ptr<{tb}, l0b>, i64, i64
      pto.mte_l1_l0a_mx %l1sa, %sa0, %c{m}_i64, %c{k}_i64 : !pto.ptr<{e}, l1>, !pto.ptr<{e}, l0a>, i64, i64
      pto.mte_l1_l0b_mx %l1sb, %sb0, %c{k}_i64, %c{n}_i64 : !pto.ptr<{e}, l1>, !pto.ptr<{e}, l0b>, i64, i64
{flag("MTE1", "M")}      pto.mad_mx %l0a, %l0b, %l0c, %c{m}_i64, %c{n}_i64, %c{k}_i64
        : !pto.ptr<{ta}, l0a>, !pto.ptr<{tb}, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
"""
    body += flag("M", "FIX") + to_gm("%c", m, n, "f32", "f32")
    text = cube_kernel(body, f"%a: {gm(ta)}, %b: {gm(tb)}, %sa: {gm(e)}, %sb: {gm(e)}, %c: {gm('f32')}")
    random = np.random.default_rng(4)
    codes = random.integers(0, 16, (m, k)).astype("u1"), random.integers(0, 16, (n, k)).astype("u1")
    numbers = [
        np.where(code & 8, -1, 1) * (E2M1 if kind == "f4E2M1x2" else E1M2)[code & 7]
        for code, kind in zip(codes, kinds, strict=True)
    ]
    scales = [random.integers(124, 131, (size, k // 32)).astype("u1") for size in (m, n)]
    left, right = (
        number * np.repeat(2.0 ** (scale.astype("f8") - 127), 32, axis=1)
        for number, scale in zip(numbers, scales, strict=True)
    )
    stored = codes[0], codes[1].T.copy() if turned else codes[1]
    packed = [code[:, ::2] | code[:, 1::2] << 4 for code in stored]
    fragments = [s.reshape(-1, 16, k // 64, 2).transpose(0, 2, 1, 3).copy() for s in scales]
    out = outcome(text, *packed, *fragments, np.zeros((m, n), "f4"))[4]
    equal(out, (left @ right.T).astype("f4"))  # exact: few bits each
