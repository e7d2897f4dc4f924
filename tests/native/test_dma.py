"""Copies on both engines: any sizes, loops, padding and atomic types, inside and outside of their memories."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from both_engines import agree
from ptosim import api
from ptosim.diagnostics import Diagnostic
from ptosim.native.dma import STREAMED_BUFFER
from small_kernels import SIZE, image_kernel, module, same, some_bytes

FILL = "pto.mte_gm_ub %image, %ub_ui8, %c0_i64, %c8192_i64 nburst(%c1_i64, %c8192_i64, %c8192_i64)"
TYPES = ": G<ui8>, P<ui8>, i64, i64, i64, i64, i64"
SHOW = "pto.mte_ub_gm %ub_ui8, %shown, %c8192_i64 nburst(%c1_i64, %c8192_i64, %c8192_i64)"
SHOW_TYPES = ": P<ui8>, G<ui8>, i64, i64, i64, i64"
LOOP = "loop(%k{0}, %p{0}, %q{0})"
LOOP_ARGUMENTS = ", %k{0}: i64, %p{0}: i64, %q{0}: i64"


@cache
def load_kernel(loops: int, pad: str = "", target: str = "a5") -> api.Kernel:
    """UB is filled, the copy under test writes into it, UB is shown."""
    clause, types = {
        "": ("", ""),
        "value": (" pad(%v)", ", pad ELEMENT"),
        "sides": (" pad(%v, %left, %right)", ", pad ELEMENT, i64, i64"),
    }[pad.partition(" ")[0]]
    element = pad.partition(" ")[2] or "ui8"
    arguments = (
        "%image: G<ui8>, %in: G<ELEMENT>, %shown: G<ui8>, %at: i64, %far: index, %len: i64, %n: i64, %s: i64, %d: i64"
    )
    arguments += "".join(LOOP_ARGUMENTS.format(number) for number in range(loops))
    arguments += ", %v: ELEMENT, %left: i64, %right: i64" if pad else ""
    body = f"""{FILL}
    {TYPES}
    pto.barrier #pto.pipe<PIPE_ALL>
    %source = pto.addptr %in, %far : G<ELEMENT> -> G<ELEMENT>
    %dest = pto.castptr %at : i64 -> P<ELEMENT>
    pto.mte_gm_ub %source, %dest, %c0_i64, %len nburst(%n, %s, %d) {" ".join(map(LOOP.format, range(loops)))}{clause}
    : G<ELEMENT>, P<ELEMENT>, i64, i64, i64, i64, i64{", loop i64, i64, i64" * loops}{types}
    pto.barrier #pto.pipe<PIPE_ALL>
    {SHOW}
    {SHOW_TYPES}"""
    return api.load(module(arguments, body, target).replace("ELEMENT", element)).kernel("k")


@cache
def store_kernel(loops: int, before: str = "", element: str = "ui8", target: str = "a5") -> api.Kernel:
    arguments = "%image: G<ui8>, %out: G<ELEMENT>, %at: i64, %far: index, %len: i64, %n: i64, %s: i64, %d: i64"
    arguments += "".join(LOOP_ARGUMENTS.format(number) for number in range(loops))
    body = f"""{FILL}
    {TYPES}
    pto.barrier #pto.pipe<PIPE_ALL>
    {before}
    %source = pto.castptr %at : i64 -> P<ELEMENT>
    %dest = pto.addptr %out, %far : G<ELEMENT> -> G<ELEMENT>
    pto.mte_ub_gm %source, %dest, %len nburst(%n, %s, %d) {" ".join(map(LOOP.format, range(loops)))}
    : P<ELEMENT>, G<ELEMENT>, i64, i64, i64, i64{", loop i64, i64, i64" * loops}"""
    return api.load(module(arguments, body, target).replace("ELEMENT", element)).kernel("k")


def image() -> np.ndarray:
    return some_bytes(SIZE)


LENGTHS = st.one_of(st.integers(0, 80), st.sampled_from([128, 256, 600, -1, 1 << 21, (1 << 21) - 1]))
COUNTS = st.one_of(st.integers(0, 5), st.sampled_from([-1, 1 << 21, (1 << 21) - 1]))
UB_STRIDES = st.one_of(st.integers(0, 20).map(lambda n: 32 * n), st.sampled_from([-32, 8, 1 << 21, 1 << 15]))
GM_STRIDES = st.one_of(st.integers(0, 700), st.sampled_from([-1, 1 << 40, (1 << 40) - 1]))
STARTS = st.one_of(st.integers(0, 100).map(lambda n: 32 * n), st.sampled_from([-32, 17, (256 << 10) - 32, 1 << 40]))
OFFSETS = st.one_of(st.integers(0, 900), st.sampled_from([-1, 2047, 2048, 1 << 46]))


def loops_of(counts: Any, sources: Any, dests: Any) -> Any:
    return st.lists(st.tuples(counts, sources, dests), max_size=2)


@given(
    STARTS, OFFSETS, LENGTHS, st.tuples(COUNTS, GM_STRIDES, UB_STRIDES), loops_of(COUNTS, GM_STRIDES, UB_STRIDES),
    st.sampled_from(["error", "drop"]), st.sampled_from(["a5", "a2a3"]),
)  # fmt: skip
def test_copies_to_ub(
    at: int, far: int, length: int, rows: tuple[int, ...], loops: list[tuple[int, ...]], oob: str, target: str
) -> None:
    numbers = [number for loop in loops for number in loop]
    made = load_kernel(len(loops), target=target)
    agree(made, image(), some_bytes(2048, 2), np.zeros(SIZE, np.uint8), at, far, length, *rows, *numbers, oob=oob)


@pytest.mark.parametrize("length", [1, 255, 256, 257, 511, 512, 1000, 4095, 4096, 4097, 4352, 7000])
@pytest.mark.parametrize("far, rows", [(0, 1), (16, 1), (33, 1), (5, 2)])
def test_rows_of_every_length_arrive_whole(length: int, far: int, rows: int) -> None:
    """Alone, and two without a gap in GM; bytes before and behind stay."""
    source, step = some_bytes(2 * length + far, 4), -(-length // 32) * 32
    if 64 + rows * step > SIZE:
        rows = 1
    shown = np.zeros(SIZE, np.uint8)
    load_kernel(0)(image(), source, shown, 64, far, length, rows, length, step, engine="native")
    expected = image()
    for row in range(rows):
        expected[64 + row * step :][:length] = source[far + row * length :][:length]
    np.testing.assert_array_equal(shown, expected)


LARGE = some_bytes(STREAMED_BUFFER + 100, 5)


@pytest.mark.parametrize("length", [1, 511, 512, 513, 575, 576, 1000, 4095, 4096, 4097, 4160, 4671, 8192])
@pytest.mark.parametrize("far", [0, 1, 16, 63, STREAMED_BUFFER - 9000])
def test_rows_that_pass_by_the_caches_arrive_whole(length: int, far: int) -> None:
    """Into a large buffer, at every alignment to the lines of the cache; bytes before and behind stay."""
    out = LARGE.copy()
    store_kernel(0)(image(), out, 0, far, length, 1, length, length, engine="native")
    expected = LARGE.copy()
    expected[far : far + length] = image()[:length]
    np.testing.assert_array_equal(out, expected)


@given(
    STARTS, OFFSETS, LENGTHS, st.tuples(COUNTS, GM_STRIDES, UB_STRIDES), loops_of(COUNTS, GM_STRIDES, UB_STRIDES),
    st.sampled_from(["value i8", "value f16", "value f32", "sides i8", "sides bf16", "sides f32"]),
    st.tuples(st.integers(-1, 40), st.integers(0, 256)), st.sampled_from(["error", "drop"]),
)  # fmt: skip
def test_padded_copies(
    at: int,
    far: int,
    length: int,
    rows: tuple[int, ...],
    loops: list[tuple[int, ...]],
    pad: str,
    sides: tuple[int, int],
    oob: str,
) -> None:
    numbers = [number for loop in loops for number in loop]
    width = {"i8": 1, "f16": 2, "bf16": 2, "f32": 4}[pad.split()[1]]
    value = 0x55 if width == 1 else -1.5
    source = some_bytes(2048, 3).view(f"u{width}")
    agree(
        load_kernel(len(loops), pad),
        *(image(), source, np.zeros(SIZE, np.uint8), at, far, length, *rows, *numbers, value, *sides),
        oob=oob,
    )


@given(
    STARTS, OFFSETS, LENGTHS, st.tuples(COUNTS, UB_STRIDES, GM_STRIDES), loops_of(COUNTS, UB_STRIDES, GM_STRIDES),
    st.sampled_from(["error", "drop"]), st.sampled_from(["a5", "a2a3"]),
)  # fmt: skip
def test_copies_to_gm(
    at: int, far: int, length: int, rows: tuple[int, ...], loops: list[tuple[int, ...]], oob: str, target: str
) -> None:
    numbers = [number for loop in loops for number in loop]
    made = store_kernel(len(loops), target=target)
    agree(made, image(), some_bytes(2048, 2), at, far, length, *rows, *numbers, oob=oob)


# Rows that lie on top of each other are combined one by one, so the greatest count would take minutes.
ATOMIC_COUNTS = st.one_of(st.integers(0, 5), st.sampled_from([-1, 1 << 21, 300]))
ATOMIC = {"f32": 4, "f16": 2, "bf16": 2, "s32": 4, "s16": 2, "s8": 1}


@pytest.mark.parametrize("operation", ["add", "max", "min"])
@pytest.mark.parametrize("kind", ATOMIC)
@given(OFFSETS, LENGTHS, st.tuples(ATOMIC_COUNTS, UB_STRIDES, GM_STRIDES), st.sampled_from(["error", "drop"]))
def test_atomic_stores(kind: str, operation: str, far: int, length: int, rows: tuple[int, ...], oob: str) -> None:
    """Rows that lie on top of each other are combined one after the other."""
    made = store_kernel(0, f"pto.set_atomic_{kind}\npto.set_atomic_{operation}")
    agree(made, image(), some_bytes(2048, 4), 64, far, length, *rows, oob=oob)


def test_atomic_stores_of_edge_values() -> None:
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, 1e-45, 3e38, -3e38]
    rows = np.array([(a, b) for a in special for b in special], np.float32)
    before = np.zeros(SIZE, np.uint8)
    before[: 4 * len(rows)] = rows[:, 0].copy().view(np.uint8)
    for operation in ("add", "max", "min"):
        made = store_kernel(0, f"pto.set_atomic_f32\npto.set_atomic_{operation}", "f32")
        out = np.ascontiguousarray(rows[:, 1])
        assert isinstance(agree(made, before, out, 0, 0, 4 * len(rows), 1, 0, 0), list)


def test_atomic_stores_of_many_blocks_add_up() -> None:
    """They happen in the order of the blocks whatever the number of threads: floats depend on it."""
    made = store_kernel(0, "pto.set_atomic_f32\npto.set_atomic_add", "f32")
    before = np.random.default_rng(1).standard_normal(SIZE // 4).astype(np.float32)
    found = agree(made, before.view(np.uint8), np.zeros(64, np.float32), 0, 0, 256, 1, 0, 0, grid=50, threads=(1, 2, 5))
    assert isinstance(found, list)
    total = np.zeros(64, np.float32)
    for _ in range(50):
        total += before[:64]
    assert found[1] == total.tobytes()


# --- the older spelling -----------------------------------------------------------------------------------------------

OLDER_LOAD = """
pto.set_loop_size_outtoub %a, %b : i64, i64
pto.set_loop1_stride_outtoub %s1, %d1 : i64, i64
pto.set_loop2_stride_outtoub %s2, %d2 : i64, i64
pto.set_mov_pad_val %c2.5_f16 : f16
pto.copy_gm_to_ubuf %in, %ub4096_f16, %c0_i64, %n, %len, %left, %c1_i64, %select, %c0_i64, %s, %d
  : G<f16>, P<f16>, i64, i64, i64, i64, i64, i1, i64, i64, i64
pto.set_loop_size_outtoub %c1_i64, %c1_i64 : i64, i64
pto.barrier #pto.pipe<PIPE_ALL>
"""
OLDER_STORE = """
pto.set_loop_size_ubtoout %a, %b : i64, i64
pto.set_loop1_stride_ubtoout %d1, %s1 : i64, i64
pto.set_loop2_stride_ubtoout %d2, %s2 : i64, i64
pto.copy_ubuf_to_gm %ub4096_f16, %in, %c0_i64, %n, %len, %c0_i64, %s, %d : P<f16>, G<f16>, i64, i64, i64, i64, i64, i64
pto.barrier #pto.pipe<PIPE_ALL>
"""
OLDER_ARGUMENTS = "".join(
    f", %{name}: i64" for name in ("n", "len", "s", "d", "a", "s1", "d1", "b", "s2", "d2", "left")
)


@cache
def older_kernel(body: str, target: str) -> api.Kernel:
    arguments = f"%image: G<ui8>, %in: G<f16>, %shown: G<ui8>{OLDER_ARGUMENTS}, %flag: i32"
    text = f"""%select = arith.trunci %flag : i32 to i1
    {FILL}
    {TYPES}
    pto.barrier #pto.pipe<PIPE_ALL>{body}{SHOW}
    {SHOW_TYPES}"""
    return api.load(module(arguments, text, target)).kernel("k")


@pytest.mark.parametrize("body", [OLDER_LOAD, OLDER_STORE], ids=["load", "store"])
@given(
    LENGTHS, st.tuples(COUNTS, GM_STRIDES, UB_STRIDES), st.tuples(COUNTS, GM_STRIDES, UB_STRIDES),
    st.tuples(COUNTS, GM_STRIDES, UB_STRIDES), st.integers(0, 9), st.booleans(), st.sampled_from(["a5", "a2a3"]),
)  # fmt: skip
def test_hardware_loops(
    body: str,
    length: int,
    rows: tuple[int, ...],
    inner: tuple[int, ...],
    outer: tuple[int, ...],
    left: int,
    select: bool,
    target: str,
) -> None:
    made = older_kernel(body, target)
    shown = np.zeros(SIZE, np.uint8)
    agree(
        made,
        *(image(), some_bytes(4096, 5).view(np.uint16), shown),
        *(rows[0], length, *rows[1:], *inner, *outer, left, int(select)),
    )


# --- on the chip ------------------------------------------------------------------------------------------------------


@given(
    st.integers(0, 40), st.integers(0, 40), st.integers(0, 5), st.integers(0, 5), st.integers(0, 3), st.integers(0, 3)
)
def test_copies_within_ub(source: int, dest: int, length: int, count: int, source_gap: int, dest_gap: int) -> None:
    """Everything is read before anything is written, also where the two sides overlap."""
    numbers = (32 * source, 32 * dest, length, count, source_gap, dest_gap)
    found = agree(within_ub(), some_bytes(SIZE), np.zeros(SIZE, np.uint8), *numbers)
    assert isinstance(found, list)


@cache
def within_ub() -> api.Kernel:
    body = """%s = pto.castptr %source : i64 -> P<ui8>
    %d = pto.castptr %dest : i64 -> P<ui8>
    pto.mte_ub_ub %s, %d, %len nburst(%n, %sg, %dg) : P<ui8>, P<ui8>, i64, i64, i64, i64"""
    arguments = "".join(f", %{name}: i64" for name in ("source", "dest", "len", "n", "sg", "dg"))
    return image_kernel(body, arguments=arguments)


# --- scalar accesses --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64", "f16", "bf16", "f32"])
@pytest.mark.parametrize("space", ["P", "G"])
def test_scalar_loads_and_stores(kind: str, space: str) -> None:
    pointer = {"P": f"%ub_{kind}", "G": "%in"}[space]
    body = f"""scf.for %i = %low to %high step %c1 {{
      %v = pto.load_scalar {pointer}[%i] : {space}<{kind}> -> {kind}
      %j = arith.addi %i, %c9 : index
      pto.store_scalar %v, {pointer}[%j] : {space}<{kind}>, {kind}
    }}"""
    text = module(f"%in: G<{kind}>, %low: index, %high: index", body)
    made = api.load(text).kernel("k")
    width = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4}[kind]
    array = some_bytes(800, 6).view(f"u{width}")
    last = len(array) if space == "G" else (256 << 10) // width
    for low, high in ((0, 5), (last - 12, last - 9), (last - 10, last), (-1, 1)):
        for oob in ("error", "drop"):
            found = agree(made, array, low, high, oob=oob, threads=(1, 2))
            bad = low < 0 or high > last - 9
            dropped = oob == "drop" and space == "G"
            assert isinstance(found, Diagnostic) == (bad and not dropped)


def test_pointers_from_nowhere() -> None:
    body = """%p = pto.inttoptr %word : i64 -> G<i32>
    %v = pto.load_scalar %p[%c0] : G<i32> -> i32
    pto.store_scalar %v, %in[%c0] : G<i32>, i32"""
    made = api.load(module("%in: G<i32>, %word: i64", body)).kernel("k")
    for word in (0, 5, 4, (1 << 48) + 2, (1 << 48) - 4, 2 << 48, (1 << 63) - 4, -4, (1 << 48) + 4):
        for oob in ("error", "drop"):
            agree(made, np.arange(4, dtype=np.int32), word, oob=oob)


def test_registers_are_reset_for_every_block() -> None:
    """CTRL, the loop registers and UB are what they were at the start, whatever the block before did."""
    body = """%c = pto.get_ctrl : i64
    pto.store_scalar %c, %ub4096_i64[%c0] : P<i64>, i64
    %before = pto.load_scalar %ub6000_i64[%c0] : P<i64> -> i64
    pto.store_scalar %before, %ub4104_i64[%c0] : P<i64>, i64
    %changed = pto.sbitset1 %c, %c60_i64 : i64, i64 -> i64
    pto.set_ctrl %changed : i64
    pto.store_scalar %changed, %ub6000_i64[%c0] : P<i64>, i64"""
    same(body, grid=3, threads=(1, 2))
