"""Kernels of rare cube instructions, each with its arrays: scaled and raw products, raw stores, fills, packed rows."""

import ml_dtypes
import numpy as np

from golden.cube import K, M, N, buffers, flag, frac, loads, mad, matrices, mixed_kernel, to_gm
from golden.program import constants, gm
from golden.test_mixed import only_first, store_out

Given = tuple[str, list[np.ndarray]]

PRODUCT = buffers("f16", "f32") + loads(M, N, K, "f16") + mad(M, N, K, "f16", "f32") + flag("M", "FIX")
COLUMNS = 48
"""Rows of L0C in a group of 16 columns."""
ROW_MAJOR = 1 << 43


def cube_kernel(body: str, parameters: str) -> str:
    """A kernel of the cube core alone."""
    return f"""module attributes {{pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  func.func @kernel({parameters}) attributes {{pto.aicore}} {{
{constants(body)}
{body}      pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


def _raw_store(target: str, element: str, first: int, second: int, space: str) -> str:
    name = {"l1": "cbuf", "ub": "ub"}[space]
    return (
        f"      pto.copy_matrix_cc_to_{name} %l0c, {target}, %c{first}_i64, %c{second}_i64"
        f" : !pto.ptr<f32, l0c>, !pto.ptr<{element}, {space}>, i64, i64\n"
    )


def _sizes(m: int, n: int, ds: int) -> int:
    """The first word of a raw store: n in bits 15:4, m in 31:16, the destination stride in 63:32."""
    return n << 4 | m << 16 | ds << 32


def scaled_products() -> Given:
    """One e8m0 scale for each row and 32 values of k, for each column likewise."""
    m, n, k, e = 16, 32, 64, "!pto.f8E8M0"
    body = f"""{buffers("f8E4M3FN", "f32")}      %l1sa = pto.castptr %c262144_i64 : i64 -> !pto.ptr<{e}, l1>
      %l1sb = pto.castptr %c266240_i64 : i64 -> !pto.ptr<{e}, l1>
      %sa0 = pto.castptr %c0_i64 : i64 -> !pto.ptr<{e}, l0a>
      %sb0 = pto.castptr %c0_i64 : i64 -> !pto.ptr<{e}, l0b>
      pto.mte_gm_l1 %sa, %l1sa, %c32_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm(e)}, !pto.ptr<{e}, l1>, i64, i64, i64, i64
      pto.mte_gm_l1 %sb, %l1sb, %c64_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {gm(e)}, !pto.ptr<{e}, l1>, i64, i64, i64, i64
"""
    loaded = loads(m, n, k, "f8E4M3FN").replace(
        "      pto.mte_l1_l0a %l1a",
        f"""      pto.mte_l1_l0a_mx %l1sa, %sa0, %c{m}_i64, %c{k}_i64 : !pto.ptr<{e}, l1>, !pto.ptr<{e}, l0a>, i64, i64
      pto.mte_l1_l0b_mx %l1sb, %sb0, %c{k}_i64, %c{n}_i64 : !pto.ptr<{e}, l1>, !pto.ptr<{e}, l0b>, i64, i64
      pto.mte_l1_l0a %l1a""",
    )
    body += loaded + mad(m, n, k, "f8E4M3FN", "f32", op="mad_mx") + flag("M", "FIX") + to_gm("%c", m, n, "f32", "f32")
    text = cube_kernel(body, f"%a: {gm('f8E4M3FN')}, %b: {gm('f8E4M3FN')}, %sa: {gm(e)}, %sb: {gm(e)}, %c: {gm('f32')}")
    a, b = (x.astype(ml_dtypes.float8_e4m3fn) for x in matrices(m, n, k, "f4"))
    return text, [a, b, np.full((m, 2), 127, "u1"), np.full((2, n), 127, "u1"), np.zeros((m, n), "f4")]


def raw_product() -> Given:
    m, n, k = 16, 16, 16
    word = m | k << 12 | n << 24 | 1 << 63
    body = f"""{buffers("f16", "f32")}{loads(m, n, k, "f16")}      %xt = arith.constant {word - 2**64} : i64
      pto.mad_raw %l0a, %l0b, %l0c, %xt : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64
{flag("M", "FIX")}      pto.copy_matrix_cc_to_gm %l0c, %c, %c{_sizes(m, n, n)}_i64, %c{16 | ROW_MAJOR}_i64
        : !pto.ptr<f32, l0c>, {gm("f32")}, i64, i64
"""
    text = cube_kernel(body, f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}")
    return text, [*matrices(m, n, k), np.zeros((m, n), "f4")]


def raw_store_to_l1() -> Given:
    """Fractals of f16, which L0A takes as they are: (A x B) x B2 without a way through GM."""
    deep, f16 = 16, 1 << 34
    cube = PRODUCT + "      %l1p = pto.castptr %c327680_i64 : i64 -> !pto.ptr<f16, l1>\n"
    cube += _raw_store("%l1p", "f16", _sizes(M, N, COLUMNS * 16), COLUMNS | f16, "l1") + flag("FIX", "MTE1", 1)
    cube += flag("M", "MTE1", 1) + flag("MTE1", "MTE2", 1) + frac("%b2", "%l1b", N, deep, "f16", N)
    cube += f"""{flag("MTE2", "MTE1", 1)}      pto.mte_l1_l0a %l1p, %l0a, %c{M}_i64, %c{N}_i64
        : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64
      pto.mte_l1_l0b %l1b, %l0b, %c{N}_i64, %c{deep}_i64 {{transpose = true}}
        : !pto.ptr<f16, l1>, !pto.ptr<f16, l0b>, i64, i64
"""
    cube += flag("MTE1", "M", 1) + flag("FIX", "M", 1) + mad(M, deep, N, "f16", "f32") + flag("M", "FIX", 1)
    cube += to_gm("%c", M, deep, "f32", "f32")
    text = cube_kernel(cube, f"%a: {gm('f16')}, %b: {gm('f16')}, %b2: {gm('f16')}, %c: {gm('f32')}")
    return text, [*matrices(M, N, K), np.ones((N, deep), "f2"), np.zeros((M, deep), "f4")]


def raw_store_to_ub() -> Given:
    """The columns of a product, half of them for each vector core."""
    cube = PRODUCT + _raw_store("%ub0", "f32", _sizes(M, N, N), COLUMNS | ROW_MAJOR | 2 << 16, "ub")
    cube += "      pto.sync.set <PIPE_FIX>, 1\n      pto.sync.set <PIPE_FIX>, 17\n"
    vector = f"""      pto.sync.wait <PIPE_MTE3>, 1
      %sub = pto.get_subblock_idx
      %k = arith.index_cast %sub : i64 to index
      %o = arith.muli %k, %c{N // 2} : index
      %c_k = pto.addptr %c, %o : {gm("f32")} -> {gm("f32")}
      pto.mte_ub_gm %ub0, %c_k, %c{N * 2}_i64 nburst(%c{M}_i64, %c{N * 4}_i64, %c{N * 4}_i64)
        : !pto.ptr<f32, ub>, {gm("f32")}, i64, i64, i64, i64
      pto.barrier #pto.pipe<PIPE_ALL>
"""
    common = "    %ub0 = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>\n"
    text = mixed_kernel(common, cube, vector, f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}")
    return text, [*matrices(M, N, K), np.zeros((M, N), "f4")]


def packed_rows() -> Given:
    """Five rows of three f16 take eight bytes each, in two groups."""
    n, d = 5, 3
    cube = f"""      %true = arith.constant true
      pto.mte_gm_l1_frac %x, %l1, nd2nz, shape(%c{n}_i64, %c{d}_i64), src_layout(%c{d * 2}_i64, %c{n * d * 2}_i64),
          dst_group(%c2_i64, %c7_i64, %c9_i64, %c2_i64), ctrl(%c0_i64, %true)
        : {gm("f16")}, !pto.ptr<f16, l1>, nd2nz, shape i64, i64, src_layout(i64, i64), dst_group i64, i64, i64, i64,
            ctrl i64, i1
{flag("MTE2", "MTE1")}      pto.mte_l1_ub %l1, %ub, %c4_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : !pto.ptr<f16, l1>, !pto.ptr<f16, ub>, i64, i64, i64, i64
{flag("MTE1", "FIX")}      pto.sync.set <PIPE_FIX>, 1
"""
    vector = only_first("      pto.sync.wait <PIPE_MTE3>, 1\n" + store_out("%ub", "%y", 1, 128, 128, 128, "f16"))
    vector += "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    common = """    %l1 = pto.castptr %c4096_i64 : i64 -> !pto.ptr<f16, l1>
    %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<f16, ub>
"""
    text = mixed_kernel(common, cube, vector, f"%x: {gm('f16')}, %y: {gm('f16')}")
    return text, [np.arange(1, 31, dtype="f2"), np.zeros(64, "f2")]


def filled_matrix() -> Given:
    """A tile of ones made by a fill, multiplied with a loaded one."""
    body = f"""{buffers("f16", "f32")}      %word = arith.constant 15360 : i32
      pto.raw_fill_l1 %l1a, %c0_i64, %word, %c1_i64, %c32_i64, %c0_i64 {{fill_word_bits = 16}}
        : !pto.ptr<f16, l1>, i64, i32, i64, i64, i64
"""
    body += loads(16, 16, 32, "f16").replace(frac("%a", "%l1a", 16, 32, "f16", 16), "")
    body += mad(16, 16, 32, "f16", "f32") + flag("M", "FIX") + to_gm("%c", 16, 16, "f32", "f32")
    return cube_kernel(body, f"%b: {gm('f16')}, %c: {gm('f32')}"), [matrices(16, 16, 32)[1], np.zeros((16, 16), "f4")]


def stored(store: str, element: str, before: str) -> str:
    """A product of f16 and one way to store it."""
    return cube_kernel(
        PRODUCT.replace(loads(M, N, K, "f16"), before + loads(M, N, K, "f16")) + store,
        f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm(element)}",
    )
