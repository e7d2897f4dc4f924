"""Instructions and forms that the filter of a check follows though they are rare: clean ones are passed, and what the
reference engine complains of is judged."""

import re
from collections.abc import Callable

import numpy as np
import pytest

import ptosim
from golden.cube import K, M, N, matrices, to_gm
from native import cube_kernels
from native.test_sieve import assert_sound, judged_blocks, launch_of
from ptosim.native.observe import scopes
from tables import table
from tile_programs import Given
from tiles.test_table import GATHER, some, source

CALLS = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @halved(%v: !pto.vreg<64xf32>, %half: f32, %mask: !pto.mask<b32>) -> !pto.vreg<64xf32> {{
    %r = pto.vmuls %v, %half, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    return %r : !pto.vreg<64xf32>
  }}
  func.func @row(%in: !pto.ptr<f32, ub>, %out: !pto.ptr<f32, ub>, %at: index, %mask: !pto.mask<b32>) {{
    %half = arith.constant 0.5 : f32
    %v = pto.vlds %in[%at] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    %h = func.call @halved(%v, %half, %mask) : (!pto.vreg<64xf32>, f32, !pto.mask<b32>) -> !pto.vreg<64xf32>
    pto.vsts %h, %out[%at], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    return
  }}
  func.func @kernel(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %read = arith.constant {read} : i64
    %bytes = arith.constant 1000 : i64
    %there = arith.constant {there} : i64
    %in = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %out = pto.castptr %there : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %in, %zero, %read nburst(%one, %read, %read)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    {set}
    {wait}
    pto.vecscope {{
      %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      scf.for %at = %c0 to %c256 step %c64 {{
        func.call @row(%in, %out, %at, %mask) : (!pto.ptr<f32, ub>, !pto.ptr<f32, ub>, index, !pto.mask<b32>) -> ()
      }}
    }}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %out, %y, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""
FLAG = {
    "set": 'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]',
    "wait": 'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]',
    "read": 1000,
    "there": 4096,
}


@table(
    "change, clean",
    ({}, True),  # lanes beyond the 250th are doubtful, and travel through both functions into nothing
    ({"set": "", "wait": ""}, False),
    ({"read": 900}, False),
    ({"there": 128}, False),  # a row overwrites what the next one reads
)
def test_a_scope_that_calls_functions(change: dict[str, object], clean: bool):
    kernel = ptosim.load(CALLS.format(**{**FLAG, **change})).kernel()
    x = np.random.default_rng(3).normal(size=250).astype("f4")
    y = np.zeros_like(x)
    assert judged_blocks(kernel, launch_of(kernel, [x, y])) == (set() if clean else {0})
    assert assert_sound(kernel, [x, y]) == clean


@table("change, clean", ({}, True), ({"set": "", "wait": ""}, False), ({"read": 900}, False), ({"there": 128}, False))
def test_a_scope_that_calls_too_much_to_be_unfolded(change: dict[str, object], clean: bool, monkeypatch):
    """Its functions are compiled by themselves; what is doubtful must not cross, nor be lost in a stream."""
    monkeypatch.setattr(scopes, "MOST_UNFOLDED", 10)
    kernel = ptosim.load(CALLS.format(**{**FLAG, "read": 1024, **change})).kernel()
    arrays = [np.ones(256, "f4"), np.zeros(256, "f4")]
    assert judged_blocks(kernel, launch_of(kernel, arrays)) == (set() if clean else {0})
    assert assert_sound(kernel, arrays) == clean


PRODUCTS = [
    (cube_kernels.scaled_products, "pto.mte_l1_l0a_mx"),
    (cube_kernels.scaled_products, "pto.mte_gm_l1 %sb"),
    (cube_kernels.raw_product, "pto.set_flag"),
    (cube_kernels.raw_store_to_l1, "pto.set_flag"),
    (cube_kernels.raw_store_to_ub, "pto.sync.wait"),
    (cube_kernels.packed_rows, "pto.set_flag"),
]


@pytest.mark.parametrize(("given", "needed"), PRODUCTS)
def test_scales_and_raw_stores_of_products(given: Callable[[], cube_kernels.Given], needed: str):
    """They are passed as clean, and judged once an instruction is missing that they need."""
    text, arrays = given()
    assert assert_sound(ptosim.load(text).kernel(), [array.copy() for array in arrays])
    place = text.index(needed)
    end = text.index("\n", place)
    if text[end:].lstrip().startswith(": "):  # its types stand in a line of their own
        end = text.index("\n", end + 1)
    without = text[:place] + text[end:]
    assert not assert_sound(ptosim.load(without).kernel(), [array.copy() for array in arrays])


@pytest.mark.parametrize(("layout", "types"), [("nz2nd", ""), ("nz2dn(%c1_i64)", ", i64")])
@pytest.mark.parametrize("missing", ["", 'pto.set_flag["PIPE_M"'])
def test_stores_of_four_bits(layout: str, types: str, missing: str) -> None:
    clauses = f", pre_quant(%scale, mode = qf322s4_pre_scalar), {layout}"
    stored = to_gm("%c", M, N, "f32", "i4", clauses, f", f32{types}")
    text = cube_kernels.stored(stored, "i4", before="      %scale = arith.constant 1.0 : f32\n")
    if missing:
        text = re.sub(re.escape(missing) + ".*", "", text, count=1)
    arrays = [*matrices(M, N, K), np.zeros(M * N, "u1")]
    assert assert_sound(ptosim.load(text).kernel(), arrays) == (not missing)


@pytest.mark.parametrize("element", ["f32", "f16", "i8"])
@pytest.mark.parametrize(("what", "count"), [("row", 8), ("elem", 256)])
def test_a_gather_from_a_table(what: str, count: int, element: str):
    numbers = np.random.default_rng(count).integers(0, 20, count)
    tiles = {"i": Given("1x8xi32" if what == "row" else "8x32xi32"), "d": Given(f"8x32x{element}")}
    tiles["i"].holds = numbers.reshape(tiles["i"].rows, tiles["i"].cols)
    text = source(GATHER.format(what, "undefined"), tiles, element, 20, 32, "a5")
    arguments = [*(tile.image() for tile in tiles.values()), some(element, 20, 32)]
    assert assert_sound(ptosim.load(text).kernel(), arguments)
    for missing in ("pto.barrier", "pto.tload"):
        place = text.index(missing)
        without = text[:place] + text[text.index("\n", place) :]
        assert not assert_sound(ptosim.load(without, sync="written").kernel(), arguments)


CONVERSION = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: f32, %y: !pto.ptr<i64, gm>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %narrow = arith.{name} %x : f32 to {to}
    %wide = arith.extsi %narrow : {to} to i64
    pto.store_scalar %wide, %y[%c0] : !pto.ptr<i64, gm>, i64
    return
  }}
}}
"""


@table(
    "name, to, number, fits",
    ("fptosi", "i32", -(2.0**31), True),
    ("fptosi", "i32", 2.0**31 - 128, True),
    ("fptosi", "i32", 2.0**31, False),
    ("fptosi", "i32", float("nan"), False),
    ("fptosi", "i8", 127.9, True),
    ("fptosi", "i8", 128.0, False),
    ("fptoui", "i32", -0.0, True),
    ("fptoui", "i32", 2.0**32 - 256, True),
    ("fptoui", "i32", 2.0**32, False),
    ("fptoui", "i32", -1.0, False),
)
def test_a_number_that_does_not_fit_is_judged(name: str, to: str, number: float, fits: bool) -> None:
    kernel = ptosim.load(CONVERSION.format(name=name, to=to)).kernel()
    assert assert_sound(kernel, [number, np.zeros(1, np.int64)]) == fits
