"""Whole kernels on both engines, with one and with two threads: the skeleton, the examples, their tails and grids."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from both_engines import agree, fails
from ptosim import api

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.pto") if path.with_suffix(".py").exists())
SKELETON = sorted((ROOT / "tests" / "skeleton").glob("*.pto"))
THREADS = (1, 2)


def example(name: str) -> api.Kernel:
    return api.load(ROOT / "examples" / f"{name}.pto").kernel()


def floats(count: int, seed: int = 1) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(count).astype(np.float32)
    values[:6] = [-0.0, np.inf, -np.inf, np.nan, -1e-45, -3.4e38][: len(values)]
    return values


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    launch = runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["launch"]()
    expected = agree(example(name), *launch.arguments, grid=launch.grid, threads=THREADS)
    assert isinstance(expected, list)


@pytest.mark.parametrize("path", SKELETON, ids=lambda path: path.stem)
@pytest.mark.parametrize("grid", [1, 3])
def test_skeleton(path: Path, grid: int) -> None:
    kernel = api.load(path).kernel()
    arrays = [floats(128, number) for number in range(len(kernel.signature))]
    assert isinstance(agree(kernel, *arrays, grid=grid, threads=THREADS), list)


@pytest.mark.parametrize("tiles", range(10))
@pytest.mark.parametrize("tail", [1, 63, 64, 65, 1000, 1024])
def test_ping_pong_of_any_length(tiles: int, tail: int) -> None:
    own = (tiles - 1) * 1024 + tail if tiles else 0
    x = floats(3 * own + 7)
    y = floats(len(x), 2)
    expected = agree(example("pingpong"), x, y, tiles, tail, grid=3, threads=THREADS)
    assert isinstance(expected, list)
    result = np.frombuffer(expected[1], np.float32)
    assert (result[: 3 * own].view("u4") == x[: 3 * own].view("u4") & 0x7FFFFFFF).all()
    assert result[3 * own :].tobytes() == y[3 * own :].tobytes()


@pytest.mark.parametrize("threads", THREADS)
def test_buffers_that_the_caches_do_not_hold(threads: int) -> None:
    """Long rows, streamed, and the rows expected next asked for: two blocks, so that what is expected is also wrong."""
    x = floats(2 * 1024 * 1024)
    y = np.zeros_like(x)
    for _ in range(2):
        example("pingpong")(x, y, 1024, 1024, grid=2, threads=threads)
        assert y.tobytes() == (x.view("u4") & 0x7FFFFFFF).tobytes()
        x = -x[::-1].copy()


def test_many_blocks() -> None:
    x = floats(200 * 1024)
    assert isinstance(agree(example("pingpong"), x, np.zeros_like(x), 1, 1024, grid=200, threads=THREADS), list)


@pytest.mark.parametrize("short", [0, 1])
@pytest.mark.parametrize("grid", [1, 3])
def test_an_array_that_is_too_short(short: int, grid: int) -> None:
    """The lowest block that fails is the one that is named, whatever the number of threads."""
    sizes = [4 * 1024 * grid] * 2
    sizes[short] -= 1
    x, y = (floats(size) for size in sizes)
    found = fails(example("pingpong"), x, y, 4, 1024, grid=grid, threads=THREADS)
    assert found.kind == "out-of-bounds"
    assert found.block == grid - 1
    assert found.loops == (3,)
    assert found.pipe == ("MTE2" if short == 0 else "MTE3")
    assert f"argument {short} (%{'xy'[short]})" in found.message


@pytest.mark.parametrize("short", [0, 1])
def test_bytes_outside_are_dropped(short: int) -> None:
    sizes = [4 * 1024] * 2
    sizes[short] -= 100
    x, y = (floats(size) for size in sizes)
    expected = agree(example("pingpong"), x, y, 4, 1024, oob="drop", threads=THREADS)
    assert isinstance(expected, list)
    wanted = np.concatenate([np.abs(x), np.zeros(100 * (short == 0), np.float32)])[: sizes[1]]
    assert np.frombuffer(expected[1], np.uint32).tobytes() == wanted.tobytes()


def test_more_iterations_than_allowed() -> None:
    x = floats(4 * 1024)
    kernel = example("pingpong")
    assert isinstance(agree(kernel, x, x.copy(), 4, 1024, max_steps=4 + 4 * 16), list)
    found = fails(kernel, x, x.copy(), 4, 1024, max_steps=4 + 4 * 16 - 1)
    assert (found.kind, found.loops) == ("limit", (3,))
    assert found.message.startswith("more than 67 loop iterations")


LATE = """
func.func @late(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c64 = arith.constant 64 : i64
  %c0_i64 = arith.constant 0 : i64
  %c256 = arith.constant 256 : i64
  %in = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
  %out = pto.castptr %c256 : i64 -> !pto.ptr<f32, ub>
  %block = pto.get_block_idx
  %odd_i64 = arith.remui %block, %c2 : i64
  %odd = arith.cmpi eq, %odd_i64, %c1 : i64
  %first = arith.muli %block, %c64 : i64
  %at = arith.index_cast %first : i64 to index
  %from = pto.addptr %x, %at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
  %to = pto.addptr %y, %at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
  pto.mte_gm_ub %from, %in, %c0_i64, %c256 nburst(%c1, %c256, %c256)
    : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  scf.if %odd {
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID1"]
  }
  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.vecscope {
    %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
    %v = pto.vlds %in[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    %r = pto.vabs %v, %all : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    pto.vsts %r, %out[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
  }
  pto.mte_ub_gm %out, %to, %c256 nburst(%c1, %c256, %c256) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
  pto.vecscope {
    %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
    %v = pto.vlds %in[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    %r = pto.vneg %v, %all : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    pto.vsts %r, %out[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
  }
  scf.if %odd {
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID1"]
  }
  pto.barrier #pto.pipe<PIPE_ALL>
  return
}
"""


@pytest.mark.parametrize("grid", [1, 2, 7, 40])
def test_the_scheduler_joins_the_blocks_that_need_it(grid: int) -> None:
    """MTE3 of odd blocks waits for a flag that is set after V has overwritten what it stores: they store -x. In the
    others nothing is ever stalled, and they store |x|. A flag that was set before the scheduler came counts."""
    x = np.random.default_rng(3).standard_normal(64 * grid).astype(np.float32)
    expected = agree(api.load(LATE).kernel(), x, np.zeros_like(x), grid=grid, threads=THREADS)
    assert isinstance(expected, list)
    rows, result = x.reshape(grid, 64), np.frombuffer(expected[1], np.float32).reshape(grid, 64)
    np.testing.assert_array_equal(result[::2], np.abs(rows[::2]))
    np.testing.assert_array_equal(result[1::2], -rows[1::2])


def test_a_wait_that_nothing_satisfies_is_reported_for_its_block() -> None:
    """The scheduler comes to block 1 with the last instruction; what it finds there is not block 0's."""
    never = LATE.replace(
        'pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID1"]', 'pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID2"]'
    )
    diagnostic = fails(api.load(never).kernel(), floats(64 * 5), floats(64 * 5), grid=5, threads=THREADS)
    assert diagnostic.kind in ("deadlock", "unmatched-wait")
    assert (diagnostic.block, diagnostic.core) == (1, "b1.aiv0")
