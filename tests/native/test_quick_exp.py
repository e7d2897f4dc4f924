"""The quick way to e^x that processors with AVX-512 take gives the bits of the sequence that defines it.

Where the processor has none, both kernels are the sequence, and there is nothing to be found.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import ptosim
from native.test_vector_hosts import HERE, code_for
from ptosim.native.vector.quick_exp import DOUBT
from ptosim.reference.numeric.elementary import exp_in_steps

VREG, MASK, UB, GM = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>", "!pto.ptr<f32, gm>"
TILE = 8192
KERNEL = f"""
func.func @exponentials(%x: {GM}, %y: {GM}, %tiles: i32) attributes {{pto.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %elements = arith.constant {TILE} : index
  %c0_i64 = arith.constant 0 : i64
  %c1_i64 = arith.constant 1 : i64
  %bytes = arith.constant {4 * TILE} : i64
  %ub = pto.castptr %c0_i64 : i64 -> {UB}
  %n = arith.index_cast %tiles : i32 to index
  scf.for %tile = %c0 to %n step %c1 {{
    %offset = arith.muli %tile, %elements : index
    %gm_x = pto.addptr %x, %offset : {GM} -> {GM}
    %gm_y = pto.addptr %y, %offset : {GM} -> {GM}
    pto.mte_gm_ub %gm_x, %ub, %c0_i64, %bytes nburst(%c1_i64, %bytes, %bytes) : {GM}, {UB}, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.vecscope {{
      %all = pto.pset_b32 "PAT_ALL" : {MASK}
      scf.for %lane = %c0 to %elements step %c64 {{
        %v = pto.vlds %ub[%lane] : {UB} -> {VREG}
        %e = pto.vexp %v, %all : {VREG}, {MASK} -> {VREG}
        pto.vsts %e, %ub[%lane], %all : {VREG}, {UB}, {MASK}
      }}
    }}
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_ub_gm %ub, %gm_y, %bytes nburst(%c1_i64, %bytes, %bytes) : {UB}, {GM}, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
  }}
  return
}}
"""


@cache
def quick() -> Any:
    return ptosim.load(KERNEL).kernel()


@cache
def slow() -> Callable[..., None]:
    """The same in the code of a processor that does not have these instructions."""
    return code_for(HERE[-1], quick())


def bits_of_exp(kernel: Callable[..., None], bits: np.ndarray) -> np.ndarray:
    """Of each f32 with these bits, as many as fill tiles."""
    result = np.empty_like(bits)
    kernel(bits.view(np.float32), result.view(np.float32), len(bits) // TILE)
    return result


def in_steps(bits: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return exp_in_steps(bits.view(np.float32)).view(np.uint32)


def test_numbers_of_every_size() -> None:
    """Every 8191st f32: all exponents, both signs, NaNs and infinities."""
    bits = np.resize(np.arange(0, 1 << 32, 8191).astype(np.uint32), 64 * TILE)
    assert (bits_of_exp(quick(), bits) == in_steps(bits)).all()


def test_numbers_that_a_softmax_meets() -> None:
    bits = np.random.default_rng(3).uniform(-20, 0, 64 * TILE).astype(np.float32).view(np.uint32)
    assert (bits_of_exp(quick(), bits) == in_steps(bits)).all()


@pytest.mark.parametrize("exponent", range(-26, 7))
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_whose_power_is_half_way(exponent: int, sign: int) -> None:
    """Next to ln(m) with m in the middle of two f32, as near as f32 gets: there the quick way has its doubts."""
    chance = np.random.default_rng(exponent + 26)
    with np.errstate(all="ignore"):
        near = np.exp(sign * chance.uniform(2.0**exponent, 2.0 ** (exponent + 1), TILE // 8)).astype(np.float32)
        middle = (near.astype(np.float64) + np.nextafter(near, np.float32(np.inf)).astype(np.float64)) / 2
        center = np.log(middle).astype(np.float32).view(np.uint32)
    bits = (center[:, None].astype(np.int64) + np.arange(-4, 4)).astype(np.uint32).ravel()
    assert (bits_of_exp(quick(), bits) == in_steps(bits)).all()


@pytest.mark.parametrize("special", [np.nan, -np.nan, np.inf, -np.inf, -0.0, -95.0, -103.97208, -110.0, 88.72284, 1e38])
def test_a_single_odd_lane(special: float) -> None:
    """It must not matter in which lane it is, nor change the others."""
    lanes = np.random.default_rng(1).uniform(-5, 5, (TILE // 64, 64)).astype(np.float32)
    lanes[np.arange(64), np.arange(64)] = special
    bits = lanes.ravel().view(np.uint32)
    assert (bits_of_exp(quick(), bits) == in_steps(bits)).all()


def test_the_doubt_can_be_told_from_none() -> None:
    """1 + DOUBT and 1 - DOUBT are numbers of f32."""
    assert np.float32(1 + DOUBT) > 1 > np.float32(1 - DOUBT)


@pytest.mark.full
@pytest.mark.parametrize("top", range(0, 256, 8))
def test_every_number(top: int) -> None:
    """All f32; the sequence is native code as well."""
    for start in range(top << 24, (top + 8) << 24, 1 << 23):
        bits = np.arange(start, start + (1 << 23), dtype=np.uint64).astype(np.uint32)
        assert (bits_of_exp(quick(), bits) == bits_of_exp(slow(), bits)).all()
