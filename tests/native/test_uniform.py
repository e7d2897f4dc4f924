"""Registers that hold one number in all lanes are computed as scalars: the bits must not tell, wherever they go."""

import numpy as np
import pytest

from both_engines import agree
from ptosim.effects.catalogue import effects
from ptosim.native.build.catalogue import lowering_of
from small_kernels import SIZE, image_kernel, same, scope

FLOATS = {"f16": (np.float16, np.uint16), "f32": (np.float32, np.uint32)}
INTEGERS = {f"{sign}{bits}": bits for sign in ("i", "ui") for bits in (8, 16, 32)}
UNARY = {
    "vabs": ("f16", "f32", "i8", "i16", "i32"),
    "vneg": ("f16", "f32", "i8", "i16", "i32"),
    "vexp": ("f16", "f32"),
    "vln": ("f16", "f32"),
    "vsqrt": ("f16", "f32"),
    "vrelu": ("f16", "f32", "i32"),
    "vnot": tuple(INTEGERS),
}
BINARY = {
    **dict.fromkeys(("vadd", "vsub", "vmax", "vmin"), (*FLOATS, *INTEGERS)),
    **dict.fromkeys(("vand", "vor", "vxor"), tuple(INTEGERS)),
    **dict.fromkeys(("vshl", "vshr"), ("i16", "ui16", "i32", "ui32")),
    "vmul": ("f16", "f32", "i16", "i32", "ui16", "ui32"),
    "vdiv": tuple(FLOATS),
    "vexpdif": ("f32",),
}


LANEWISE = {name for name in effects() if (found := lowering_of(name)) is not None and found.lanewise}
TRIED = {f"pto.{name}" for name in (*UNARY, *BINARY)}


@pytest.mark.parametrize("name", sorted(LANEWISE | TRIED))
def test_every_lanewise_instruction_is_tried(name: str) -> None:
    assert name in TRIED, f"{name} has a lanewise lowering: give it a row in UNARY or BINARY of {__file__}"
    assert name in LANEWISE, f"{name} has no lanewise lowering"


def float_edges(name: str) -> np.ndarray:
    """Zeros, infinities, NaNs of both signs, the smallest and largest numbers, and common ones, as bits."""
    number, word = FLOATS[name]
    info = np.finfo(number)
    plain = [0.0, -0.0, 1, -1.5, np.inf, -np.inf, info.max, info.tiny, info.smallest_subnormal, 88.7, -3.25, 10.5]
    with_payload = np.iinfo(word).max - 1
    return np.append(np.array([*plain, np.nan, 0.1, -7], number).view(word), word(with_payload))


def integer_edges(bits: int) -> np.ndarray:
    top = 1 << (bits - 1)
    values = [0, 1, 2, 3, top, top - 1, 2 * top - 1, 2 * top - 2, top + 1, 7, 31, 100, 50, bits, bits - 1, top >> 1]
    return np.array(values).astype(f"u{bits // 8}")


@pytest.mark.parametrize(
    "name, element",
    [(name, element) for table in (UNARY, BINARY) for name, types in table.items() for element in types],
)
def test_a_lanewise_instruction(name: str, element: str) -> None:
    """On every pair of edge values, each broadcast by the load."""
    values = float_edges(element) if element in FLOATS else integer_edges(INTEGERS[element])
    lhs, rhs = np.repeat(values, len(values)), np.tile(values, len(values))
    bits, pairs = 8 * values.itemsize, len(lhs)
    register, mask, pointer = f"V<{element}>", f"M<b{bits}>", f"P<{element}>"
    given, types = ("%a, %b", f"{register}, {register}") if name in BINARY else ("%a", register)
    part = ', "ODD"' if name == "vexpdif" else ""
    body = scope(f"""
    scf.for %i = %c0 to %c{pairs} step %c1 {{
      %a = pto.vlds %ub_{element}[%i] {{dist = "BRC_B{bits}"}} : {pointer} -> {register}
      %b = pto.vlds %ub1024_{element}[%i] {{dist = "BRC_B{bits}"}} : {pointer} -> {register}
      %r = pto.{name} {given}, %all_b{bits}{part} : {types}, {mask} -> {register}
      pto.vsts %r, %ub2048_{element}[%i], %all_b{bits} {{dist = "1PT_B{bits}"}} : {register}, {pointer}, {mask}
      pto.vsts %r, %ub4096_{element}[%c0], %all_b{bits} : {register}, {pointer}, {mask}
    }}""")
    image = np.zeros(SIZE, np.uint8)
    image[: lhs.nbytes], image[1024 : 1024 + rhs.nbytes] = lhs.view(np.uint8), rhs.view(np.uint8)
    assert isinstance(agree(image_kernel(body), image, np.zeros(SIZE, np.uint8)), list)


def f32_at(image: np.ndarray, place: int) -> list[float]:
    return image[place : place + 256].view(np.float32).tolist()


STORES = """
pto.vsts %s, %ub4096_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>
pto.vsts %t, %ub4352_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>"""
TWO = "pto.vbr %c2.0_f32 : f32 -> V<f32>"


def test_a_loop_that_stays_uniform() -> None:
    body = f"""
    %two = {TWO}
    %one = pto.vbr %c1.0_f32 : f32 -> V<f32>
    %s, %t = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %one, %b = %two) -> (V<f32>, V<f32>) {{
      %twice = pto.vmul %a, %two, %all_b32 : V<f32>, V<f32>, M<b32> -> V<f32>
      %more = pto.vadd %b, %a, %all_b32 : V<f32>, V<f32>, M<b32> -> V<f32>
      scf.yield %twice, %more : V<f32>, V<f32>
    }}{STORES}"""
    image = same(scope(body))
    assert f32_at(image, 4096) == [32.0] * 64
    assert f32_at(image, 4352) == [33.0] * 64


def test_a_loop_that_begins_uniform_and_does_not_stay_so() -> None:
    body = f"""
    %two = {TWO}
    %half, %rest = pto.plt_b32 %c32_i32 : i32 -> M<b32>, i32
    %s, %t = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %two, %b = %two) -> (V<f32>, V<f32>) {{
      %part = pto.vadd %a, %two, %half : V<f32>, V<f32>, M<b32> -> V<f32>
      %more = pto.vadd %b, %a, %all_b32 : V<f32>, V<f32>, M<b32> -> V<f32>
      scf.yield %part, %more : V<f32>, V<f32>
    }}{STORES}"""
    image = same(scope(body))
    assert f32_at(image, 4096) == [8.0] * 32 + [0.0] * 32  # inactive lanes are zeroed
    assert f32_at(image, 4352) == [2.0 + 2 + 4 + 6] * 32 + [2.0 + 2] * 32


@pytest.mark.parametrize("first", ["%ramp", "%two"])
def test_a_branch_whose_sides_differ(first: str) -> None:
    other = {"%ramp": "%two", "%two": "%ramp"}[first]
    body = f"""
    %two = {TWO}
    %ramp = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %s = scf.if %yes -> (V<f32>) {{
      scf.yield {first} : V<f32>
    }} else {{
      scf.yield {other} : V<f32>
    }}
    %t = pto.vabs %s, %all_b32 : V<f32>, M<b32> -> V<f32>{STORES}"""
    taken = [same(scope(body), yes, arguments=", %yes: i1") for yes in (True, False)]
    uniform = taken[1] if first == "%ramp" else taken[0]
    assert f32_at(uniform, 4096) == f32_at(uniform, 4352) == [2.0] * 64


@pytest.mark.parametrize("position, lane", [("LOWEST", 0), ("HIGHEST", 63)])
def test_a_lane_for_all(position: str, lane: int) -> None:
    """vdup of a lane is uniform; as integers of the same width it still is, in narrower ones not."""
    body = f"""
    %v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %s = pto.vdup %v, %all_b32 {{position = "{position}"}} : V<f32>, M<b32> -> V<f32>
    %bits = pto.vbitcast %s : V<f32> -> V<i32>
    %not = pto.vnot %bits, %all_b32 : V<i32>, M<b32> -> V<i32>
    %t = pto.vbitcast %not : V<i32> -> V<f32>
    %bytes = pto.vbitcast %s : V<f32> -> V<ui8>
    %turned = pto.vnot %bytes, %all_b8 : V<ui8>, M<b8> -> V<ui8>
    pto.vsts %turned, %ub4608_ui8[%c0], %all_b8 : V<ui8>, P<ui8>, M<b8>{STORES}"""
    image = same(scope(body))
    word = int(image[4 * lane : 4 * lane + 4].view(np.uint32)[0])
    assert image[4096:4352].view(np.uint32).tolist() == [word] * 64
    assert image[4352:4608].view(np.uint32).tolist() == [word ^ 0xFFFFFFFF] * 64
    assert image[4608:4864].view(np.uint32).tolist() == [word ^ 0xFFFFFFFF] * 64
