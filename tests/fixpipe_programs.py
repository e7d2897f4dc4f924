"""Kernels around one fixpipe store, for tests: accumulators with known contents, parameter words, the store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from cube_programs import KIB, Text, pointer_type, round_up, storage
from ptosim import PTOError

BUFFER, BIAS, IDENTITY = 64 * KIB, 96 * KIB, 128 * KIB
"""Where parameter words, the bias row and the identity lie in L1."""


def matrix_in_l0c(text: Text, m: int, n: int, at: int = 0) -> None:
    """%x, an f32 matrix [m, n], as accumulators: its product with the identity."""
    depth = round_up(n, 16)
    text.fractals("%x", 0, "f32", m, n, round_up(m, 16))
    text.fractals("%one", IDENTITY, "f32", n, n, depth)
    text.load("mte_l1_l0a", 0, 0, "f32", m, n)
    text.load("mte_l1_l0b", IDENTITY, 0, "f32", n, n, transpose=True)
    text.mad("mad", ("f32", "f32", "f32"), m, n, n, at=(0, 0, at))


def row_in_l0c(text: Text, n: int, source: str, m: int = 1) -> None:
    """%x, a row of n numbers, in every one of m rows of accumulators: the bias of a product of zeros."""
    element = "f32" if source == "f32" else "i8"
    text.plain("%x", BIAS, source, round_up(n * 4, 64))
    pointers = [text.pointer(BIAS, source, "l1"), text.pointer(0, source, "bt")]
    types = [pointer_type(source, "l1"), pointer_type(source, "bt"), *["i64"] * 4]
    nburst = f" nburst({', '.join(text.integers(1, 0, 0))})"
    text.op("mte_l1_bt", [*pointers, text.number(round_up(n * 4, 64) // 32)], types, nburst)
    text.mad("mad_bias", (element, element, source), m, n, 8, bias=0)


def padded(values: Sequence[float], dtype: type) -> np.ndarray:
    row = np.zeros(round_up(len(values), 16), dtype)
    row[: len(values)] = values
    return row


def stored(
    values: Sequence[float],
    dest: str,
    clauses: str,
    operands: tuple[tuple[float, str], ...] = (),
    source: str = "f32",
    words: Sequence[int] = (),
    slopes: Sequence[int] = (),
    ctrl: int | None = None,
) -> np.ndarray:
    """A row through the fixpipe. `{}` in the clauses stand for the operands; words and slopes fill the buffer."""
    n = len(values)
    text = Text(
        x=pointer_type(source, "gm"), w=pointer_type("ui64", "gm"), s=pointer_type("ui32", "gm"),
        y=pointer_type(dest, "gm"),
    )  # fmt: skip
    row_in_l0c(text, n, source)
    pointers: list[str] = []
    types: list[str] = []
    for given, address, element, width in ((words, 0x80, "ui64", 8), (slopes, 0x10040, "ui32", 4)):
        if len(given):
            size = round_up(n * width, 64)
            text.plain("%w" if width == 8 else "%s", BUFFER, element, size)
            ends = [text.pointer(BUFFER, element, "l1"), text.pointer(address, "f32", "fb"), text.number(size // 64)]
            nburst = f" nburst({', '.join(text.integers(1, 0, 0))})"
            listed = [pointer_type(element, "l1"), pointer_type("f32", "fb"), *["i64"] * 4]
            text.op("mte_l1_fb", ends, listed, nburst)
            pointers.append(text.pointer(address, "f32", "fb"))
            types.append(pointer_type("f32", "fb"))
    scalars = [text.number(value, type_) for value, type_ in operands]
    if ctrl is not None:
        text.line(f"pto.set_ctrl {text.number(ctrl)} : i64")
    names = iter([*pointers, *scalars])
    filled = "".join(part if part != "{}" else next(names) for part in _split(clauses))
    text.store("%y", dest, 1, n, n, filled, source, types=(*types, *(type_ for _, type_ in operands)))
    y = np.zeros((n + 1) // 2 if dest.endswith("i4") else n, storage(dest))
    x = padded(values, storage(source))
    text.kernel()(x, padded(words, np.uint64), padded(slopes, np.uint32), y)
    return y


def _split(clauses: str) -> list[str]:
    parts = clauses.split("{}")
    return [piece for part in parts[:-1] for piece in (part, "{}")] + [parts[-1]]


def quant(mode: str) -> str:
    return f"pre_quant({{}}, mode = {mode})"


def word(scale: float, shift: int = 0, offset: int = 0, signed: bool = False) -> int:
    """A quantisation word: scale in bits 31:13, shift in 36:32, offset in 45:37, sign in 46."""
    bits = int(np.float32(scale).view(np.uint32)) & 0xFFFFE000
    return bits | shift << 32 | (offset & 0x1FF) << 37 | int(signed) << 46


def slope(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def tile(m: int, n: int) -> np.ndarray:
    return np.random.default_rng(m * n).integers(-1000, 1000, (m, n)).astype(np.float32)


def layout_text(m: int, n: int) -> Text:
    text = Text(x=pointer_type("f32", "gm"), one=pointer_type("f32", "gm"), y=pointer_type("f32", "gm"))
    matrix_in_l0c(text, m, n)
    return text


def kind_of(text: Text, *arguments: object) -> str:
    with pytest.raises(PTOError) as raised:
        text.kernel()(*arguments)
    return raised.value.diagnostics[0].kind
