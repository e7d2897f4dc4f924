"""Kernels in C++ for tests, and how they are recorded."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import ptosim

NEEDS_COMPILER = pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="no C++ compiler"
)

HEAD = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"

ADD = (
    HEAD
    + """template <typename T, int R, int C>
__global__ AICORE void run(__gm__ T *out, __gm__ T *a, __gm__ T *b)
{
    using G = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<1, 1, 1, C, 1>>;
    using V = Tile<TileType::Vec, T, R, C, BLayout::RowMajor, -1, -1>;
    G ga(a), gb(b), go(out);
    V x(R, C), y(R, C), z(R, C);
    TASSIGN(x, 0x0);
    TASSIGN(y, 0x10000);
    TASSIGN(z, 0x20000);
    TLOAD(x, ga);
    TLOAD(y, gb);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(z, x, y);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(go, z);
}
void launch(float *o, float *a, float *b, void *s) { run<float, 64, 64><<<1, nullptr, s>>>(o, a, b); }
"""
)


def kernel(folder: Path, text: str, expression: str | None = None, **options: Any) -> Any:
    """The kernel of a file with this text."""
    path = folder / "kernel.cpp"
    path.write_text(text)
    return ptosim.load_cpp(path, **options).kernel(expression)


def body(text: str, parameters: str = "__gm__ float *out, __gm__ float *in") -> str:
    """A file with one kernel."""
    return f"{HEAD}__global__ AICORE void k({parameters})\n{{\n{text}\n}}\n"


def without(text: str, line: str) -> str:
    """The text without the one line that says this; lines stay where they are."""
    assert text.count(f"    {line}\n") == 1
    return text.replace(f"    {line}\n", "\n")


def line_of(text: str, words: str) -> int:
    """The number of the first line with these words."""
    return next(number for number, line in enumerate(text.split("\n"), 1) if words in line)


SHAPES = (
    "using G = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>>;\n"
    "using V = Tile<TileType::Vec, float, 16, 64>;\n"
)
