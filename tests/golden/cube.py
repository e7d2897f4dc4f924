"""Cube kernels in the style of the documents: nd2nz loads, L0 loads, one product, a store through FIXPIPE."""

import numpy as np

from golden.program import bits, constants, gm


def up(value: int, step: int) -> int:
    return (value + step - 1) // step * step


def flag(source: str, target: str, number: int = 0) -> str:
    names = f'["PIPE_{source}", "PIPE_{target}", "EVENT_ID{number}"]'
    return f"      pto.set_flag{names}\n      pto.wait_flag{names}\n"


def frac(
    source: str, target: str, rows: int, columns: int, element: str, padded: int, mode: str = "nd2nz", inner: int = 0
) -> str:
    inner = inner or columns * bits(element) // 8
    return f"""      pto.mte_gm_l1_frac {source}, {target}, {mode}, shape(%c{rows}_i64, %c{columns}_i64),
          src_layout(%c{inner}_i64), dst_group(%c1_i64, %c1_i64, %c{padded}_i64, %c0_i64), ctrl(%c0_i64, %false)
        : {gm(element)}, !pto.ptr<{element}, l1>, {mode}, shape i64, i64, src_layout(i64), dst_group i64, i64, i64,
            i64, ctrl i64, i1
"""


def loads(m: int, n: int, k: int, element: str, a: str = "%a", b: str = "%b") -> str:
    """A row-major [m, k] and B row-major [k, n] to L0A and L0B, B with the transposing load."""
    t = element
    step = max(16, 32 * 8 // bits(t) if t not in ("f32",) else 16)
    return (
        frac(a, "%l1a", m, k, t, up(m, 16))
        + frac(b, "%l1b", k, n, t, up(k, step))
        + flag("MTE2", "MTE1")
        + f"""      pto.mte_l1_l0a %l1a, %l0a, %c{m}_i64, %c{k}_i64 : !pto.ptr<{t}, l1>, !pto.ptr<{t}, l0a>, i64, i64
      pto.mte_l1_l0b %l1b, %l0b, %c{k}_i64, %c{n}_i64 {{transpose = true}}
        : !pto.ptr<{t}, l1>, !pto.ptr<{t}, l0b>, i64, i64
"""
        + flag("MTE1", "M")
    )


def buffers(element: str, accumulator: str) -> str:
    t = element
    return f"""      %l1a = pto.castptr %c0_i64 : i64 -> !pto.ptr<{t}, l1>
      %l1b = pto.castptr %c131072_i64 : i64 -> !pto.ptr<{t}, l1>
      %l0a = pto.castptr %c0_i64 : i64 -> !pto.ptr<{t}, l0a>
      %l0b = pto.castptr %c0_i64 : i64 -> !pto.ptr<{t}, l0b>
      %l0c = pto.castptr %c0_i64 : i64 -> !pto.ptr<{accumulator}, l0c>
      %false = arith.constant false
"""


def mad(
    m: int, n: int, k: int, element: str, accumulator: str, clauses: str = "", op: str = "mad", bias: str = ""
) -> str:
    extra, kind = (f"{bias}, ", f", !pto.ptr<{accumulator}, bt>") if bias else ("", "")
    return f"""      pto.{op} %l0a, %l0b, %l0c, {extra}%c{m}_i64, %c{n}_i64, %c{k}_i64 {clauses}
        : !pto.ptr<{element}, l0a>, !pto.ptr<{element}, l0b>, !pto.ptr<{accumulator}, l0c>{kind}, i64, i64, i64
"""


def to_gm(
    target: str,
    m: int,
    n: int,
    source: str,
    element: str,
    clauses: str = ", nz2nd",
    types: str = "",
    ds: int = 0,
    ss: int = 0,
) -> str:
    return f"""      pto.mte_l0c_gm %l0c, {target}, %c{m}_i64, %c{n}_i64, %c{ss or up(m, 16)}_i64, %c{ds or n}_i64,
          %c0_i64, %c0_i64{clauses}
        : !pto.ptr<{source}, l0c>, {gm(element)}, i64, i64, i64, i64, i64, i64{types}
"""


def to_ub(
    target: str,
    m: int,
    n: int,
    source: str,
    element: str,
    mode: str,
    clauses: str = ", nz2nd",
    types: str = "",
    ds: int = 0,
) -> str:
    sub = "" if mode.startswith("split") else ", i64"
    return f"""      pto.mte_l0c_ub %l0c, {target}, %c{m}_i64, %c{n}_i64, %c{up(m, 16)}_i64, %c{ds or n}_i64,
          dst_mode({mode}){clauses}
        : !pto.ptr<{source}, l0c>, !pto.ptr<{element}, ub>, i64, i64, i64, i64{sub}{types}
"""


def mixed_kernel(common: str, cube: str, vector: str, parameters: str, target: str = "a5") -> str:
    """One function with a section for each kind of core."""
    text = common + cube + vector
    return f"""module attributes {{pto.target_arch = "{target}"}} {{
  func.func @kernel({parameters}) attributes {{pto.aicore}} {{
{constants(text)}
{common}    pto.section.cube {{
{cube}    }}
    pto.section.vector {{
{vector}    }}
    return
  }}
}}
"""


def matrices(m: int, n: int, k: int, kind: str = "f2", seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.uniform(-1, 1, (m, k)).astype(kind), random.uniform(-1, 1, (k, n)).astype(kind)


M, N, K = 40, 64, 50


def exact(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[1]):
        total += a[:, i : i + 1].astype("f8") * b[i : i + 1].astype("f8")
    return total.astype("f4")
