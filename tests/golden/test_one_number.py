"""Registers that hold one number in all lanes on their way through loops, branches, calls and masks of any width."""

import numpy as np
import pytest

from golden.numbers import data, dtype, equal, word
from golden.program import (
    bits,
    copy_in,
    copy_out,
    gm,
    granularity,
    lanes,
    mask,
    module,
    outcome,
    ub,
    vector_kernel,
    vreg,
)

ELEMENTS = ["f32", "f16", "bf16", "ui8", "si16", "i32"]


def plus(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """One addition of the element type."""
    if x.dtype.kind in "iu":
        return x + y
    return (x.astype(np.float32) + y.astype(np.float32)).astype(x.dtype)


def results(element: str, body: str, count: int, a: np.ndarray, numbers: np.ndarray, helpers: str = "") -> np.ndarray:
    """Rows of %y that a scope stores; it has %x with many numbers, %u and %w with one each, and masks."""
    v, p, g, m = vreg(element), ub(element), granularity(element), mask(element)
    scope = f"""      %all = pto.pset_{g} "PAT_ALL" : {m}
      %some = pto.pset_{g} "PAT_M3" : {m}
      %x = pto.vlds %ub_a[%c0] : {p} -> {v}
      %u = pto.vlds %ub_k[%c0] {{dist = "BRC_B{bits(element)}"}} : {p} -> {v}
      %scalar = pto.load_scalar %ub_k[%c1] : {p} -> {element}
      %w = pto.vbr %scalar : {element} -> {v}
{body}"""
    n = lanes(element)
    text = vector_kernel({"a": (element, n), "k": (element, n)}, {"y": (element, n * count)}, scope)
    text = text[: text.rindex("}")] + helpers + "}\n"
    k = np.zeros(n, dtype(element))
    k[:2] = numbers
    return outcome(text, a, k, np.full(n * count, 0x5A, word(element)))[2].view(dtype(element)).reshape(count, n)


def store(element: str, name: str, row: int) -> str:
    types = f"{vreg(element)}, {ub(element)}, {mask(element)}"
    return f"      pto.vsts {name}, %ub_y[%c{row * lanes(element)}], %all : {types}\n"


def given(element: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Many numbers, the two that are broadcast, and the lanes of every third."""
    n = lanes(element)
    numbers = data(element, 2, 5)
    return data(element, n, 3), np.repeat(numbers[:1], n), np.repeat(numbers[1:], n), np.arange(n) % 3 == 0


def only(on: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.where(on, values.view(f"u{values.itemsize}"), 0).astype(f"u{values.itemsize}").view(values.dtype)


@pytest.mark.parametrize("element", ELEMENTS)
def test_registers_that_change_places_in_a_loop(element: str) -> None:
    """Many numbers wander through places that began with one."""
    v, m = vreg(element), mask(element)
    body = f"""      %p, %q, %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %u, %b = %w, %c = %x)
          -> ({v}, {v}, {v}) {{
        %d = pto.vadd %a, %b, %all : {v}, {v}, {m} -> {v}
        %odd = arith.remui %i, %c2 : index
        %is = arith.cmpi eq, %odd, %c1 : index
        %e = scf.if %is -> ({v}) {{
          %f = pto.vadd %d, %u, %some : {v}, {v}, {m} -> {v}
          scf.yield %f : {v}
        }} else {{
          scf.yield %d : {v}
        }}
        scf.yield %b, %c, %e : {v}, {v}, {v}
      }}
""" + "".join(store(element, name, row) for row, name in enumerate(("%p", "%q", "%r")))
    x, u, w, third = given(element)
    a, b, c = u, w, x
    for i in range(5):
        d = plus(a, b)
        a, b, c = b, c, only(third, plus(d, u)) if i % 2 else d
    equal(results(element, body, 3, x, np.array([u[0], w[0]])), np.stack([a, b, c]))


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_while_loop_that_computes_before_it_decides(element: str) -> None:
    """The values handed to the condition are of another type and in another order than those carried."""
    v, m, words = vreg(element), mask(element), vreg(f"ui{bits(element)}")
    body = f"""      %last, %count = scf.while (%i = %c0, %c = %u) : (index, {v}) -> ({words}, index) {{
        %d = pto.vadd %c, %w, %all : {v}, {v}, {m} -> {v}
        %raw = pto.vbitcast %d : {v} -> {words}
        %go = arith.cmpi slt, %i, %c3 : index
        scf.condition(%go) %raw, %i : {words}, index
      }} do {{
      ^bb0(%raw: {words}, %i: index):
        %d = pto.vbitcast %raw : {words} -> {v}
        %second = arith.cmpi eq, %i, %c1 : index
        %mixed = pto.vadd %d, %x, %some : {v}, {v}, {m} -> {v}
        %n = arith.select %second, %mixed, %d : {v}
        %j = arith.addi %i, %c1 : index
        scf.yield %j, %n : index, {v}
      }}
      %r = pto.vbitcast %last : {words} -> {v}
""" + store(element, "%r", 0)
    x, u, w, third = given(element)
    carried = u
    for i in range(3):
        before = plus(carried, w)
        carried = only(third, plus(before, x)) if i == 1 else before
    equal(results(element, body, 1, x, np.array([u[0], w[0]]))[0], plus(carried, w))


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_helper_called_with_one_number_and_with_many(element: str) -> None:
    v, m, g = vreg(element), mask(element), granularity(element)
    helpers = f"""  func.func private @both(%a: {v}, %b: {v}, %m: {m}) -> ({v}, {m}) {{
    %all = pto.pset_{g} "PAT_ALL" : {m}
    %s = pto.vadd %a, %b, %m : {v}, {v}, {m} -> {v}
    %k = pto.vcmp %a, %b, %all, "lt" : {v}, {v}, {m} -> {m}
    return %s, %k : {v}, {m}
  }}
"""
    calls = [("u", "w", "all"), ("u", "x", "all"), ("x", "w", "some"), ("u", "w", "some")]
    body = ""
    for row, (a, b, on) in enumerate(calls):
        body += f"""      %s{row}, %k{row} = func.call @both(%{a}, %{b}, %{on}) : ({v}, {v}, {m}) -> ({v}, {m})
      %t{row} = pto.vsel %s{row}, %{a}, %k{row} : {v}, {v}, {m} -> {v}
""" + store(element, f"%t{row}", row)
    x, u, w, third = given(element)
    value, on = {"x": x, "u": u, "w": w}, {"all": np.ones_like(third), "some": third}
    expected = [
        np.where(value[a] < value[b], only(on[c], plus(value[a], value[b])), value[a]).astype(dtype(element))
        for a, b, c in calls
    ]
    equal(results(element, body, 4, x, np.array([u[0], w[0]]), helpers), np.stack(expected))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("pattern, step", [("PAT_ALL", 1), ("PAT_M4", 4)])
def test_masks_of_another_width(element: str, width: int, pattern: str, step: int) -> None:
    """A lane looks at the bit of its first byte, whatever the lanes of the instruction that made the mask were."""
    v, m, made = vreg(element), mask(element), f"!pto.mask<b{width}>"
    body = f'''      %made = pto.pset_b{width} "{pattern}" : {made}
      %other = pto.pbitcast %made : {made} -> {m}
'''
    for row, name in enumerate("xu"):
        body += f"      %s{name} = pto.vadd %{name}, %w, %other : {v}, {v}, {m} -> {v}\n"
        body += f"      %n{name} = pto.vadds %{name}, %scalar, %made : {v}, {element}, {made} -> {v}\n"
        body += store(element, f"%s{name}", 2 * row) + store(element, f"%n{name}", 2 * row + 1)
    x, u, w, _ = given(element)
    first = np.arange(lanes(element)) * bits(element) // 8  # the first byte of each lane
    on = first % (width // 8 * step) == 0
    expected = [only(on, plus(y, w)) for y in (x, x, u, u)]
    equal(results(element, body, 4, x, np.array([u[0], w[0]])), np.stack(expected))


def test_long_addition_and_back() -> None:
    """100 of 128 pairs of words are added with carries, then the second number is taken away again with borrows."""
    v, m, p, on = vreg("ui32"), "!pto.mask<b32>", ub("ui32"), 100
    loads = "\n".join(
        f'        %{x}l, %{x}h = pto.vldsx2 %ub_{x}[%i], "DINTLV_B32" : {p}, index -> {v}, {v}' for x in "ab"
    )
    chain = "\n".join(
        f"""        %{d}l, %{d}c = pto.{op} %{x}l, %bl, %m : {v}, {v}, {m} -> {v}, {m}
        %{d}h, %{d}n = pto.{op}s %{x}h, %bh, %{d}c, %m : {v}, {v}, {m}, {m} -> {v}, {m}
        pto.vstsx2 %{d}l, %{d}h, %ub_{d}[%i], "INTLV_B32", %all : {v}, {v}, {p}, index, {m}"""
        for op, x, d in (("vaddc", "a", "s"), ("vsubc", "s", "d"))
    )
    scope = f"""      %all = pto.pset_b32 "PAT_ALL" : {m}
      %left = scf.for %i = %c0 to %c256 step %c128 iter_args(%rest = %c{on}_i32) -> i32 {{
        %m, %next = pto.plt_b32 %rest : i32 -> {m}, i32
{loads}
{chain}
        scf.yield %next : i32
      }}"""
    text = vector_kernel(dict.fromkeys("ab", ("ui32", 256)), dict.fromkeys("sd", ("ui32", 256)), scope)
    a, b = np.random.default_rng(1).integers(0, 2**64, (2, 128), np.uint64)
    a[:4], b[:4] = [2**64 - 1, 2**32 - 1, 0, 2**63], [1, 1, 0, 2**63]
    *_, s, d = outcome(text, a.view("u4"), b.view("u4"), np.zeros(256, "u4"), np.zeros(256, "u4"))
    active = np.arange(128) < on
    equal(s.view("u8"), np.where(active, a + b, 0))
    equal(d.view("u8"), np.where(active, a, 0))


def test_every_scope_sees_the_control_register_of_its_launch() -> None:
    """Bits 60 and 59 change before each scope and once more behind it; 60 says whether 59 or the word decides."""
    v, h, m = vreg("f32"), vreg("si16"), "!pto.mask<b32>"
    body = f"""      %c = pto.get_ctrl : i64
      %high = arith.shrui %i, %c1 : index
      %low = arith.andi %i, %c1 : index
      %b60 = arith.cmpi ne, %high, %c0 : index
      %b59 = arith.cmpi ne, %low, %c0 : index
      %s60 = pto.sbitset1 %c, %c60_i64 : i64, i64 -> i64
      %with60 = arith.select %b60, %s60, %c : i64
      %s59 = pto.sbitset1 %with60, %c59_i64 : i64, i64 -> i64
      %with59 = arith.select %b59, %s59, %with60 : i64
      pto.set_ctrl %with59 : i64
      %to = arith.muli %i, %c128 : index
      pto.vecscope {{
        %m = pto.pset_b32 "PAT_ALL" : {m}
        %h = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>
        %x = pto.vlds %ub_a[%c0] : {ub("f32")} -> {v}
        %e = pto.vcvt %x, %m {{rnd = "R", sat = "SAT", part = "EVEN"}} : {v}, {m} -> {h}
        %o = pto.vcvt %x, %m {{rnd = "R", sat = "NOSAT", part = "ODD"}} : {v}, {m} -> {h}
        %y = pto.vor %e, %o, %h : {h}, {h}, !pto.mask<b16> -> {h}
        pto.vsts %y, %ub_y[%to], %h : {h}, {ub("si16")}, !pto.mask<b16>
      }}
      pto.set_ctrl %c : i64"""
    text = f"""    %ub_a = pto.castptr %c0_i64 : i64 -> {ub("f32")}
    %ub_y = pto.castptr %c4096_i64 : i64 -> {ub("si16")}
{copy_in("a", "f32", 256)}
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    scf.for %i = %c0 to %c4 step %c1 {{
{body}
    }}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
{copy_out("y", "si16", 1024)}
    pto.barrier #pto.pipe<PIPE_ALL>"""
    text = module(text, f"%gm_a: {gm('f32')}, %gm_y: {gm('si16')}")
    a = np.tile(np.array([1e9, -1e9, np.inf, np.nan], "f4"), 16)
    kept = {True: [32767, -32768, 32767, 0], False: [10**9, -(10**9), -1, 0]}  # the low half of the clamped word
    saturates = [(True, False), (True, False), (True, True), (False, False)]  # of the even and of the odd lanes
    rows = [np.stack([np.tile(kept[e], 16), np.tile(kept[o], 16)], 1).reshape(-1) for e, o in saturates]
    equal(outcome(text, a, np.zeros(512, "i2"))[1], np.concatenate(rows).astype("u4").astype("u2").view("i2"))
