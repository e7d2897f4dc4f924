"""What the fixpipe does to entries on their way to the vector cores: the mode that is named, against its formula."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fifo_programs import COLS, NZ, load, mat, module, part, run, store, vec, view

ROWS, DEPTH = 32, 32
SCALE = 2.0**-4


def kernel(mode: str, acc: str, element: str) -> str:
    """The cube multiplies and pushes a product through a mode of the fixpipe; a vector core stores what arrives."""
    operand, entry = "i8" if acc == "i32" else "f16", vec(ROWS, COLS, element)
    tile = f"!pto.tile_buf<acc, {ROWS}x{COLS}x{acc}, {NZ}, fractal=1024>"
    left, right = mat(ROWS, DEPTH, operand, "left"), mat(DEPTH, COLS, operand, "right")
    epilogue = f"#pto.acc_push_epilogue<layout = nz2nd, quant = {mode}, relu = no_relu>"
    words = f"{{dir_mask = 1, slot_size = 8192, slot_num = 2, acc_push_epilogue = {epilogue}}}"
    cube = f"""%c2v = pto.import_reserved_buffer {{name = "c2v", peer_func = @k_aiv}} -> i32
pto.aic_initialize_pipe {words} (c2v_consumer_buf = %c2v : i32)
{view("a", "a_gm", "%c32", DEPTH, operand)}
{view("b", "b_gm", "%c32", COLS, operand)}
{part("pa", "a", "%c0", ROWS, DEPTH, operand)}
{part("pb", "b", "%c0", DEPTH, COLS, operand)}
%ma = pto.alloc_tile : {mat(ROWS, DEPTH, operand)}
%mb = pto.alloc_tile : {mat(DEPTH, COLS, operand)}
%la = pto.alloc_tile : {left}
%rb = pto.alloc_tile : {right}
%acc = pto.alloc_tile : {tile}
{load("pa", ROWS, DEPTH, operand, "ma", mat(ROWS, DEPTH, operand))}
{load("pb", DEPTH, COLS, operand, "mb", mat(DEPTH, COLS, operand))}
pto.tmov ins(%ma : {mat(ROWS, DEPTH, operand)}) outs(%la : {left})
pto.tmov ins(%mb : {mat(DEPTH, COLS, operand)}) outs(%rb : {right})
pto.tmatmul ins(%la, %rb : {left}, {right}) outs(%acc : {tile})
%scale = arith.constant {SCALE} : f32
pto.set_quant_scalar(%scale : f32) {{id = 0}}
pto.tpush_to_aiv(%acc : {tile}) {{split = 0}}"""
    reserved = '{name = "c2v", size = 16384, location = #pto.address_space<vec>, auto = true}'
    vector = f"""%c2v = pto.reserve_buffer {reserved} -> i32
pto.aiv_initialize_pipe {words} (c2v_consumer_buf = %c2v : i32)
{view("o", "out_gm", "%c32", COLS, element)}
{part("po", "o", "%c0", ROWS, COLS, element)}
%t = pto.tpop_from_aic {{split = 0}} -> {entry}
{store("t", entry, "po", ROWS, COLS, element)}
pto.tfree_from_aic {{split = 0}}"""
    text = module(cube, vector).replace("!pto.ptr<f16>", f"!pto.ptr<{operand}>")
    return text.replace("%out_gm: !pto.ptr<f32>", f"%out_gm: !pto.ptr<{element}>")


def products(acc: str) -> tuple[Any, Any, Any]:
    """Operands whose products have more digits than f16."""
    rng = np.random.default_rng(5)
    a, b = rng.integers(-60, 60, (ROWS, DEPTH)), rng.integers(-60, 60, (DEPTH, COLS))
    dtype = np.int8 if acc == "i32" else np.float16
    return a.astype(dtype), b.astype(dtype), (a @ b).astype(np.float64)


def bounded(x: Any, dtype: Any) -> Any:
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x), limits.min, limits.max).astype(dtype)


def in_half(x: Any) -> Any:
    return x.astype(np.float16).astype(np.float64)


CASES = {
    ("qf322b8_pre_scalar", "f32", "i8"): lambda x: bounded(x * SCALE, np.int8),
    ("qf162b8_pre_scalar", "f32", "i8"): lambda x: bounded(in_half(x) * SCALE, np.int8),
    ("qf162b8_pre_scalar", "f32", "ui8"): lambda x: bounded(in_half(x) * SCALE, np.uint8),
    ("qf322fp8_pre_scalar", "f32", "f8E5M2"): lambda x: (x * SCALE).astype(np.float32).astype(ml_dtypes.float8_e5m2),
    ("deqs32_int_scalar", "i32", "i32"): lambda x: bounded(x * SCALE, np.int32),
    ("qf162s16_pre_scalar", "i32", "i16"): lambda x: bounded(in_half(x) * SCALE, np.int16),
    ("req8_scalar", "i32", "i8"): lambda x: bounded(x * SCALE, np.int8),
}


@pytest.mark.parametrize(("mode", "acc", "element"), CASES)
def test_the_mode_that_is_named(mode: str, acc: str, element: str) -> None:
    a, b, c = products(acc)
    expected = CASES[mode, acc, element](c)
    out = np.zeros(expected.shape, expected.dtype if expected.dtype.kind in "iu" else np.uint8)
    run(kernel(mode, acc, element), a, b, out, 0)
    assert np.array_equal(out.view(np.uint8), expected.view(np.uint8))
