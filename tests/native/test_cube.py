"""Cube instructions on both engines, bit for bit, over all bit patterns: products of every type, every fixpipe mode."""

from typing import Any

import numpy as np
import pytest

from both_engines import BothEngines
from cube_programs import KIB, Text, pointer_type, storage
from ptosim.effects.element import element
from ptosim.language.micro.fixpipe_modes import FAMILIES, QUANT_MODES
from ptosim.language.rules.fixpipe_rules import CLIPS
from tables import table

FP8 = ("f8E4M3FN", "f8E5M2")
PAIRS = [
    *((name, name, "f32") for name in ("f16", "bf16", "f32", "hif8")),
    *((a, b, "f32") for a in FP8 for b in FP8),
    ("i8", "i8", "i32"),
]
MX = (*FP8, "f4E2M1x2", "f4E1M2x2")
SAMPLED_MX = [(MX[i], MX[(i + shift) % 4]) for i in range(4) for shift in (0, 1)]

KEEP, PRESERVE = 1 << 48, 1 << 50


def some_bytes(shape: Any, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def bits(element_name: str, count: int, seed: int) -> np.ndarray:
    """Elements of any bit pattern."""
    dtype = np.dtype(storage(element_name))
    return some_bytes(count * dtype.itemsize, seed).view(dtype)


# --- products ---------------------------------------------------------------------------------------------------------


def products(a: str, b: str, c: str, scaled: bool, clauses: str = "") -> BothEngines:
    """L0A and L0B filled from GM, then a product, one on top of it, one with a bias; everything is a parameter."""
    sizes = dict.fromkeys(("m", "n", "k", "rows", "out", "ctrl"), "i64")
    pointers = {"a": a, "b": b, "s": "f8E8M0", "x": c}
    text = Text(**{name: pointer_type(kind, "gm") for name, kind in pointers.items()}, y=pointer_type(c, "gm"), **sizes)
    for name, kind, address in (("%a", a, 0), ("%b", b, 64 * KIB)):
        text.plain(name, address, kind, 64 * KIB)
    text.plain("%s", 128 * KIB, "f8E8M0", 4 * KIB)
    text.plain("%x", 136 * KIB, c, 4 * KIB)
    text.load("load_cbuf_to_ca_s4" if a.startswith("f4") else "load_cbuf_to_ca", 0, 0, a, *_all(a))
    text.load("load_cbuf_to_cb_s4" if b.startswith("f4") else "load_cbuf_to_cb", 64 * KIB, 0, b, *_all(b))
    for name in ("load_cbuf_to_ca_mx", "load_cbuf_to_cb_mx"):
        text.load(name, 128 * KIB, 0, "f8E8M0", 0, 0, 1, 128, 1, 1)
    ends = [text.pointer(136 * KIB, c, "l1"), text.pointer(0, c, "bt"), text.number(128)]
    types = [pointer_type(c, "l1"), pointer_type(c, "bt"), *["i64"] * 4]
    text.op("mte_l1_bt", ends, types, f" nburst({', '.join(text.integers(1, 0, 0))})")
    text.line("pto.set_ctrl %ctrl : i64")
    stem = "mad_mx" if scaled else "mad"
    for name, bias in ((stem, None), (f"{stem}_acc", None), (f"{stem}_bias", 0)):
        text.mad(name, (a, b, c), "%m", "%n", "%k", clauses, bias)
        text.store("%y", c, "%m", "%n", "%out", source=c, source_stride="%rows")
        step = f"%y{len(text.lines)}"
        text.line(f"{step} = pto.addptr %y, %third : {pointer_type(c, 'gm')} -> {pointer_type(c, 'gm')}")
        text.lines[-2] = text.lines[-2]
    text.lines = _advancing(text.lines)
    text.lines.insert(0, "%third = arith.constant 65536 : index")
    return text.kernel()


def _all(kind: str) -> tuple[int, ...]:
    """All 128 fractals of an L0 buffer, as they are."""
    return (0, 0, 128, 1, 128, 128, 0) if kind.startswith("f4") else (0, 0, 128, 1, 128, 128)


def _advancing(lines: list[str]) -> list[str]:
    """Each store goes to where the address behind the one before it points."""
    here, found = "%y", list[str]()
    for line in lines:
        if line.startswith("%y") and "addptr" in line:
            name = line.split(" ")[0]
            found.append(line.replace("addptr %y,", f"addptr {here},"))
            here = name
        else:
            found.append(line.replace(" %y, ", f" {here}, ") if "mte_l0c_gm" in line else line)
    return found


SHAPES = [(16, 16, 16), (1, 8, 40), (5, 3, 1), (40, 60, 50), (33, 17, 70), (64, 64, 128), (3, 130, 33)]


@pytest.mark.parametrize(("a", "b", "c"), PAIRS)
def test_products(a: str, b: str, c: str) -> None:
    both = products(a, b, c, scaled=False)
    for seed, (m, n, k) in enumerate(SHAPES):
        run_products(both, a, b, c, m, n, k, KEEP if seed % 2 else 0, seed)


@pytest.mark.parametrize(("a", "b"), SAMPLED_MX)
def test_scaled_products(a: str, b: str) -> None:
    both = products(a, b, "f32", scaled=True)
    for seed, (m, n, k) in enumerate(SHAPES):
        run_products(both, a, b, "f32", m, n, k, KEEP if seed % 2 else 0, seed)


@pytest.mark.parametrize("clauses", ["sat", "nosat tf32_mode(round_even)", "sat tf32_mode(round_away)", "disable_gemv"])
def test_clauses(clauses: str) -> None:
    both = products("f32", "f32", "f32", scaled=False, clauses=clauses)
    for seed, (m, n, k) in enumerate(SHAPES):
        run_products(both, "f32", "f32", "f32", m, n, k, KEEP, seed)


def run_products(both: BothEngines, a: str, b: str, c: str, m: int, n: int, k: int, ctrl: int, seed: int) -> None:
    left, right = (64 * KIB // element(name).bytes for name in (a, b))
    arguments = bits(a, left, seed), bits(b, right, seed + 100), some_bytes(4 * KIB, seed), bits(c, 1024, seed)
    both(*arguments, np.zeros(3 * 65536, storage(c)), m, n, k, -(-m // 16) * 16, n + 3, ctrl)


# --- fixpipe ----------------------------------------------------------------------------------------------------------


def store(mode: str, source: str, dest: str, relu: str, clip: bool, layout: str) -> BothEngines:
    """A row of any accumulators, in 18 rows; scale, slope, limit and CTRL are parameters."""
    scalars = {"scale": "f32", "alpha": "f32", "limit": _clip_type(dest), "ctrl": "i64"}
    text = Text(
        x=pointer_type(source, "gm"), w=pointer_type("ui64", "gm"), s=pointer_type("ui32", "gm"),
        y=pointer_type(dest, "gm"), **scalars,
    )  # fmt: skip
    text.plain("%x", 0, source, 256)
    text.plain("%w", KIB, "ui64", 512)
    text.plain("%s", 2 * KIB, "ui32", 256)
    for name, at, kind, to, space, blocks in (
        ("mte_l1_bt", 0, source, 0, "bt", 8),
        ("mte_l1_fb", KIB, "ui64", 0x80, "fb", 8),
        ("mte_l1_fb", 2 * KIB, "ui32", 0x10040, "fb", 4),
    ):
        target = source if space == "bt" else "f32"
        ends = [text.pointer(at, kind, "l1"), text.pointer(to, target, space), text.number(blocks)]
        types = [pointer_type(kind, "l1"), pointer_type(target, space), *["i64"] * 4]
        text.op(name, ends, types, f" nburst({', '.join(text.integers(1, 0, 0))})")
    kind = "f32" if source == "f32" else "i8"
    text.mad("mad_bias", (kind, kind, source), 18, 60, 8, bias=0)
    text.line("pto.set_ctrl %ctrl : i64")
    clauses, types = _clauses(text, mode, relu, clip, layout)
    text.store("%y", dest, 18, 60, 64 if layout != "nz2nz" else 1200, clauses, source, types=types)
    return text.kernel()


def _clip_type(dest: str) -> str:
    return {"f16": "f16", "i8": "i8", "si8": "i8", "ui8": "i16", "i16": "i16", "i4": "i8"}.get(dest, "i16")


def _clauses(text: Text, mode: str, relu: str, clip: bool, layout: str) -> tuple[str, tuple[str, ...]]:
    clauses: list[str] = []
    types: list[str] = []
    if mode != "none":
        vector = mode.endswith("_vec")
        clauses.append(f"pre_quant({text.pointer(0x80, 'f32', 'fb') if vector else '%scale'}, mode = {mode})")
        types.append(pointer_type("f32", "fb") if vector else "f32")
    if relu != "none" or clip:
        word = "no_relu" if relu == "none" else relu
        payload = {"scalar_relu": "%alpha, ", "vector_relu": f"{text.pointer(0x10040, 'f32', 'fb')}, "}.get(relu, "")
        types += {"scalar_relu": ["f32"], "vector_relu": [pointer_type("f32", "fb")]}.get(relu, [])
        clauses.append(f"pre_relu({payload}mode = {word}{', clip = %limit' if clip else ''})")
    if clip:
        types.append(_clip_type(text.parameters["y"].split("<")[1].split(",")[0].removeprefix("!pto.")))
    if layout == "nz2dn":
        clauses.append(f"nz2dn({text.number(1)})")
        types.append("i64")
    else:
        clauses.append(layout)
    return ", ".join(clauses), tuple(types)


EDGES = {
    "f32": [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        1.5,
        -1.5,
        65504.0,
        65520.0,
        1e-8,
        -1e-45,
        448.0,
        464.0,
        0.5,
        2.5,
        3e38,
    ],
    "i32": [0, 1, -1, 2**31 - 1, -(2**31), 255, 256, -128, -129, 5, 7, 2049, 65535, -65536, 1 << 24, (1 << 24) + 1],
}


def accumulators(source: str, seed: int) -> np.ndarray:
    """Edge values, small numbers, and any bits."""
    rng = np.random.default_rng(seed)
    edges = np.array(EDGES[source], storage(source))
    small = (rng.normal(size=24) * 100).astype(storage(source))
    return np.concatenate([edges, small, bits(source, 24, seed)])


def quant_words(seed: int) -> np.ndarray:
    """Sensible scales in most channels, any bits in the others; shift, offset and sign are any."""
    rng = np.random.default_rng(seed)
    scales = rng.choice([1.0, -1.0, 0.5, 0.0078125, 3.25, 1e-3], 64).astype(np.float32).view(np.uint32)
    words = scales.astype(np.uint64) | rng.integers(0, 1 << 15, 64, dtype=np.uint64) << np.uint64(32)
    return np.where(np.arange(64) % 16 == 15, some_bytes(512, seed).view(np.uint64), words)


def run_store(both: BothEngines, source: str, dest: str, seed: int, ctrl: int, limit: Any) -> None:
    rng = np.random.default_rng(seed)
    slopes = np.concatenate([rng.normal(size=48).astype(np.float32).view(np.uint32), bits("ui32", 16, seed)])
    y = bits(dest, 1 << 14, seed)
    scale, alpha = float(rng.choice([1.0, 0.5, -3.25, 1e-3])), float(rng.choice([0.25, -1.0, 0.1]))
    both(accumulators(source, seed), quant_words(seed), slopes, y, scale, alpha, limit, ctrl)


CTRLS = (KEEP, 0, PRESERVE)


def cases() -> list[tuple[str, str, str]]:
    found = [("none", "f32", "f32"), ("none", "i32", "i32")]
    for name, mode in QUANT_MODES.items():
        if mode.dest is not None and mode.source is not None:
            found += [
                (name, mode.source, dest)
                for dest in sorted(FAMILIES[mode.dest])
                if dest not in ("si4", "si8", "si16", "si32")
            ]
    return [case for case in found if case[0] not in ("req4_vec", "req4_scalar") or case[1] == "i32"]


@pytest.mark.parametrize(("mode", "source", "dest"), cases())
def test_quantisation(mode: str, source: str, dest: str) -> None:
    both = store(mode, source, dest, "none", clip=False, layout="nz2nd")
    for seed, ctrl in enumerate(CTRLS):
        run_store(both, source, dest, seed, ctrl, 0)


@pytest.mark.parametrize("relu", ["normal_relu", "scalar_relu", "vector_relu"])
@table(
    "mode, source, dest",
    ("none", "f32", "f32"),
    ("none", "i32", "i32"),
    ("qf322f16_pre_vec", "f32", "f16"),
    ("req8_vec", "i32", "ui8"),
    ("deqs32_int_scalar", "i32", "i32"),
    ("qf322fp8_pre_scalar", "f32", "f8E4M3FN"),
)
def test_relu(mode: str, source: str, dest: str, relu: str) -> None:
    both = store(mode, source, dest, relu, clip=dest in CLIPS, layout="nz2nd")
    for seed, ctrl in enumerate(CTRLS):
        run_store(both, source, dest, seed, ctrl, 100 if dest != "f16" else 8.0)


@pytest.mark.parametrize("layout", ["nz2nd", "nz2dn"])
@pytest.mark.parametrize("dest", ["f16", "i4"])
def test_layouts(layout: str, dest: str) -> None:
    mode = "f32_f16" if dest == "f16" else "qf322s4_pre_scalar"
    run_store(store(mode, "f32", dest, "none", False, layout), "f32", dest, 1, KEEP, 0)


# --- bytes outside ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["nd2nz", "dn2nz"])
@pytest.mark.parametrize("small", [False, True])
def test_reads_outside_are_zeros_where_they_are_dropped(layout: str, small: bool) -> None:
    """Half of the matrix lies behind the end of its array; its bytes come back through a product and a store."""
    d = 4 if small else 20
    text = Text(x=pointer_type("i8", "gm"), y=pointer_type("i32", "gm"))
    text.frac("%x", 0, "i8", layout, 24, d, (32 if layout == "nd2nz" else 24, 0), (1, 1, 32, 0), small=small)
    text.load("mte_l1_l0a", 0, 0, "i8", 32, 32)
    text.load("mte_l1_l0b", 0, 0, "i8", 32, 32)
    text.mad("mad", ("i8", "i8", "i32"), 32, 32, 32)
    text.store("%y", "i32", 32, 32, 32, source="i32")
    x, y = bits("i8", 300, 1), np.zeros(32 * 32 - 70, np.int32)
    text.kernel()(x, y, oob="drop")
    assert y.any()


@pytest.mark.parametrize("by_ctrl", [False, True])
def test_atomic_stores_outside_are_dropped(by_ctrl: bool) -> None:
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f32", "gm"))
    text.plain("%x", 0, "f32", 64)
    ends = [text.pointer(0, "f32", "l1"), text.pointer(0, "f32", "bt"), text.number(2)]
    types = [pointer_type("f32", "l1"), pointer_type("f32", "bt"), *["i64"] * 4]
    text.op("mte_l1_bt", ends, types, f" nburst({', '.join(text.integers(1, 0, 0))})")
    text.mad("mad_bias", ("f32", "f32", "f32"), 4, 16, 8, bias=0)
    if by_ctrl:
        text.line("pto.set_atomic_max")
        text.line("pto.set_atomic_f32")
    text.store("%y", "f32", 4, 16, 20, "nz2nd" if by_ctrl else "nz2nd, atomic(type = f32, op = add)")
    y = np.ones(50, np.float32)
    text.kernel()(np.arange(16, dtype=np.float32), y, oob="drop")
    np.testing.assert_array_equal(y[40:50], np.maximum(np.arange(10), 1) if by_ctrl else np.arange(10) + 1)
