"""Spellings of cube instructions that share the meaning of another one.

MX products with a bias or a packed word; loads of L0B and of 4-bit fractals with full control.
"""

import numpy as np
import pytest

from cube_programs import Text, observed, pointer_type
from ptosim.effects.names import Space
from reference.test_cube_load import UNWRITTEN, fractals, numbered
from reference.test_mad import KIB, bias, in_fragments, mx_operand, mx_text, raw, raw_word, scaled_numbers

M, N, K = 16, 32, 128
KINDS = ("f8E4M3FN", "f8E4M3FN", "f32")


@pytest.mark.parametrize("name", ["mad_mx_bias", "mad_mx_bias_raw", "mad_mx_raw"])
def test_mx_products(name: str) -> None:
    (left, x), (right, y) = mx_operand("f8E4M3FN", M, K, 1), mx_operand("f8E4M3FN", N, K, 2)
    rng = np.random.default_rng(3)
    sa, sb = (rng.integers(125, 130, (rows, K // 32), dtype=np.uint8) for rows in (M, N))
    text = mx_text("f8E4M3FN", "f8E4M3FN", M, N, K)
    text.parameters["row"] = pointer_type("f32", "gm")
    text.plain("%row", 300 * KIB, "f32", 4 * N)
    bias(text, 300 * KIB, "f32", "f32", 4 * N // 32)
    match name:
        case "mad_mx_bias":
            text.mad(name, KINDS, M, N, K, bias=0)
        case "mad_mx_bias_raw":
            raw(text, name, KINDS, raw_word(M, N, K, 62), bias_at=0)
        case _:
            raw(text, name, KINDS, raw_word(M, N, K, 63))
    text.store("%c", "f32", M, N, N)
    c, row = np.zeros((M, N), np.float32), np.arange(N, dtype=np.float32)
    text.kernel()(left, right, in_fragments(sa), in_fragments(sb), c, row)
    product = scaled_numbers(x, sa) @ scaled_numbers(y, sb).T
    np.testing.assert_array_equal(c, product if name == "mad_mx_raw" else product + row)


@pytest.mark.parametrize("name", ["load_cbuf_to_cb", "load_cbuf_to_ca_s4"])
def test_full_control(name: str) -> None:
    """Start 1 and 2, 2 x 3 fractals, source stride 5, destination stride 4: as pto.mte_l1_l0a counts them."""
    element, space = ("i8", Space.L0B) if name == "load_cbuf_to_cb" else ("f4E2M1x2", Space.L0A)
    text = Text(x=pointer_type("i8", "gm"))
    text.plain("%x", 0, "i8", 64 * 512)
    fields = [1, 2, 2, 3, 5, 4] + ([0] if name.endswith("s4") else [])
    text.load(name, 0, 0, element, *fields)
    found = fractals(observed(text.kernel(), numbered(64)).of(space), 12)
    for a in range(3):
        for b in range(4):
            number = (2 + a) * 5 + 1 + b if b < 2 else UNWRITTEN
            assert found[a * 4 + b] == bytes([number]) * 512
