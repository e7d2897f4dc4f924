"""What the fixpipe does to entries on their way to the vector cores: the mode that is named, against its formula."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fifo_programs import COLS, NZ, load, mat, module, part, run, store, vec, view
from ptosim.language.tile.tile_epilogue import A5_MODES

ROWS, DEPTH = 32, 32
SCALE = 2.0**-4


def kernel(mode: str, acc: str, element: str, target: str, layout: str = "nz2nd") -> str:
    """The cube multiplies and pushes a product through a mode of the fixpipe; a vector core stores what arrives."""
    down = layout == "nz2dn"
    operand, entry = "i8" if acc == "i32" else "f16", vec(ROWS, COLS, element, ", blayout=col_major" if down else "")
    tile = f"!pto.tile_buf<acc, {ROWS}x{COLS}x{acc}, {NZ}, fractal=1024>"
    left, right = mat(ROWS, DEPTH, operand, "left"), mat(DEPTH, COLS, operand, "right")
    epilogue = f"#pto.acc_push_epilogue<layout = {layout}, quant = {mode}, relu = no_relu>"
    words = f"{{dir_mask = 1, slot_size = 8192, slot_num = 2, acc_push_epilogue = {epilogue}}}"
    slots = "" if target == "a5" else "gm_slot_buffer = %slots_gm : !pto.ptr<f32>, "
    cube = f"""%c2v = pto.import_reserved_buffer {{name = "c2v", peer_func = @k_aiv}} -> i32
pto.aic_initialize_pipe {words} ({slots}c2v_consumer_buf = %c2v : i32)
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
{quantised(mode, target)}
pto.tpush_to_aiv(%acc : {tile}) {{split = 0}}"""
    reserved = '{name = "c2v", size = 16384, location = #pto.address_space<vec>, auto = true}'
    vector = f"""%c2v = pto.reserve_buffer {reserved} -> i32
pto.aiv_initialize_pipe {words} ({slots}c2v_consumer_buf = %c2v : i32)
{view("o", "out_gm", "%c32", COLS, element)}
{part("po", "o", "%c0", ROWS, COLS, element)}
%t = pto.tpop_from_aic {{split = 0}} -> {entry}
{store("t", entry, "po", ROWS, COLS, element)}
pto.tfree_from_aic {{split = 0}}"""
    if down:
        vector = vector.replace(f"strides = [%c{COLS}, %c1]", "strides = [%c1, %c32]")
    text = module(cube, vector, target, f", %w_gm: !pto.ptr<{PAYLOAD[target]}>, %slots_gm: !pto.ptr<f32>")
    text = re.sub(r"(%[ab]_gm: !pto.ptr)<f16>", rf"\1<{operand}>", text)
    return text.replace("%out_gm: !pto.ptr<f32>", f"%out_gm: !pto.ptr<{element}>")


PAYLOAD = {"a5": "f32", "a2a3": "i64"}


def quantised(mode: str, target: str) -> str:
    """What a mode is told: one scale, or a tile of them."""
    payload = PAYLOAD[target]
    scaling = f"!pto.tile_buf<scaling, 1x{COLS}x{payload}>"
    if mode.endswith("_vec"):
        return f"""{view("w", "w_gm", "%c1", COLS, payload)}
{part("pw", "w", "%c0", 1, COLS, payload)}
%fp = pto.alloc_tile : {scaling}
{load("pw", 1, COLS, payload, "fp", scaling)}
pto.set_quant_vector(%fp : {scaling}) {{id = 0}}"""
    if mode.endswith("_scalar"):
        return f"%scale = arith.constant {SCALE} : f32\npto.set_quant_scalar(%scale : f32) {{id = 0}}"
    return ""


def products(acc: str) -> tuple[Any, Any, Any]:
    """Operands whose products have more digits than f16."""
    rng = np.random.default_rng(5)
    a, b = rng.integers(-60, 60, (ROWS, DEPTH)), rng.integers(-60, 60, (DEPTH, COLS))
    dtype = np.int8 if acc == "i32" else np.float16
    return a.astype(dtype), b.astype(dtype), (a @ b).astype(np.float64)


def bounded(x: Any, dtype: Any) -> Any:
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x), limits.min, limits.max).astype(dtype)


SCALES = 2.0 ** (np.arange(COLS) % 4 - 6)
BF16 = ml_dtypes.bfloat16
CASES = {
    ("no_convert", "f32", "f32"): lambda x: x.astype(np.float32),
    ("no_convert", "i32", "i32"): lambda x: x.astype(np.int32),
    ("f32_f16", "f32", "f16"): lambda x: x.astype(np.float16),
    ("f32_bf16", "f32", "bf16"): lambda x: x.astype(np.float32).astype(BF16),
    ("deqf16_scalar", "i32", "f16"): lambda x: (x * SCALE).astype(np.float16),
    ("deqf16_vec", "i32", "f16"): lambda x: (x * SCALES).astype(np.float16),
    ("req8_scalar", "i32", "si8"): lambda x: bounded(x * SCALE, np.int8),
    ("req8_scalar", "i32", "ui8"): lambda x: bounded(x * SCALE, np.uint8),
    ("req8_vec", "i32", "si8"): lambda x: bounded(x * SCALES, np.int8),
    ("qf322b8_pre_scalar", "f32", "si8"): lambda x: bounded(x * SCALE, np.int8),
    ("qf322b8_pre_scalar", "f32", "ui8"): lambda x: bounded(x * SCALE, np.uint8),
    ("qf322b8_pre_vec", "f32", "si8"): lambda x: bounded(x * SCALES, np.int8),
    ("qf322f16_pre_scalar", "f32", "f16"): lambda x: (x * SCALE).astype(np.float16),
    ("qf322bf16_pre_scalar", "f32", "bf16"): lambda x: (x * SCALE).astype(np.float32).astype(BF16),
    ("qs322bf16_pre_scalar", "i32", "bf16"): lambda x: (x * SCALE).astype(np.float32).astype(BF16),
    ("qs322bf16_pre_vec", "i32", "bf16"): lambda x: (x * SCALES).astype(np.float32).astype(BF16),
    ("qf322fp8_pre_scalar", "f32", "f8E4M3FN"): lambda x: (x * SCALE).astype("f4").astype(ml_dtypes.float8_e4m3fn),
}
EVERY = [(*case, target) for case in CASES for target in ("a5", "a2a3") if target == "a5" or case[0] not in A5_MODES]


def arrives(mode: str, acc: str, element: str, target: str, layout: str = "nz2nd") -> None:
    """Parameters of columns are scales on a5 and whole words on a2a3, in which bit 46 is the sign of results."""
    a, b, c = products(acc)
    if "fp8" in mode:  # within its range
        a, b = a // 16, b // 16
        c = a.astype(np.float64) @ b.astype(np.float64)
    expected = CASES[mode, acc, element](c)
    expected = expected.T if layout == "nz2dn" else expected
    out = np.zeros(expected.nbytes, np.uint8)
    scales = SCALES.astype(np.float32)
    words = scales if target == "a5" else scales.view(np.uint32).astype(np.int64) | (element == "si8") << 46
    run(
        kernel(mode, acc, element, target, layout),
        a,
        b,
        out,
        0,
        words,
        np.zeros(4096, np.float32),
        clean=target == "a5",
    )
    assert np.array_equal(out, np.ascontiguousarray(expected).view(np.uint8).ravel())


@pytest.mark.parametrize(("mode", "acc", "element", "target"), EVERY)
def test_the_mode_that_is_named(mode: str, acc: str, element: str, target: str) -> None:
    arrives(mode, acc, element, target)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_columns(target: str) -> None:
    arrives("deqf16_scalar", "i32", "f16", target, "nz2dn")
