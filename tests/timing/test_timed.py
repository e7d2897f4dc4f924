"""Compiled code times itself as the reference engine is timed: every number of the profile, every row behind it.

That it does so for random programs is seen in test_random_programs.py.
"""

import ctypes
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from example_scripts import script
from examples.test_examples import EDGES, NAMES
from examples.test_tile_examples import NAMES as TILES
from examples.test_tile_examples import ROWS
from ptosim.diagnostics import PTOError
from ptosim.machine.moments import PRICE_WORDS
from ptosim.native.observe.stopwatch import Supplies
from ptosim.native.run.runtime import Runner
from tables import table
from tile_programs import Given
from tiles.test_table import GATHER, SCATTER
from tiles.test_table import source as table_source
from timing.kernels import COPY_IN, COPY_OUT, SCOPE, barrier, set_flag, text, wait_flag
from timing.same import is_native, same, same_outcome

EXAMPLES = Path(__file__).parents[2] / "examples"
VECTOR = ("add", "cast", "gather", "layer_norm", "pingpong", "softmax", "topk", "unaligned_copy")
"""Examples that verify for both machines."""


def arrays(count: int = 1024) -> tuple[Any, ...]:
    return np.arange(count, dtype=np.float32), np.zeros(count, np.float32)


def kernel_of(*lines: str, target: str = "a5", before: str = "") -> ptosim.Kernel:
    return ptosim.load(text(*lines, target=target, before=before)).kernel()


# --- examples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_an_example(name: str, full: bool):
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    for sizes in [{}, *EDGES.get(name, [])] if full else [{}]:
        launch = script(name).launch(**sizes)
        assert is_native(kernel, *launch.arguments, grid=launch.grid)
        same(kernel, *launch.arguments, grid=launch.grid)


@pytest.mark.parametrize("target", ["a2a3", "a2a3-flat", "a2a3-board"])
def test_an_example_on_another_machine(target: str, full: bool):
    for name in VECTOR if full else ("layer_norm",):
        kernel, launch = ptosim.load(EXAMPLES / f"{name}.pto").kernel(), script(name).launch()
        assert is_native(kernel, *launch.arguments, grid=launch.grid, target=target)
        same(kernel, *launch.arguments, grid=launch.grid, target=target)


@pytest.mark.parametrize("name", TILES)
def test_a_tile_example(name: str, full: bool):
    kernel = ptosim.load(EXAMPLES / "tiles" / f"{name}.pto").kernel()
    sizes = [{"rows": rows} for rows in ROWS] if full and name != "matmul" else []
    for size in ({}, *sizes):
        launch = script(f"tiles/{name}").launch(**size)
        assert is_native(kernel, *launch.arguments, grid=launch.grid)
        same(kernel, *launch.arguments, grid=launch.grid)


def test_more_blocks_than_cores_and_threads():
    kernel = ptosim.load(EXAMPLES / "softmax.pto").kernel()
    rows = 150
    x = np.random.default_rng(1).random((rows, 128), np.float32)
    profile = same(kernel, x, np.zeros_like(x), rows, grid=70)
    assert profile.recording.hardware_cores == 64


# --- single events ----------------------------------------------------------------------------------------------------

LINES = {
    "flags": (COPY_IN, set_flag("MTE2", "V"), wait_flag("MTE2", "V"), SCOPE, set_flag("V", "MTE3"), "", COPY_OUT),
    "barriers": (COPY_IN, barrier("MTE2"), barrier("ALL"), SCOPE, barrier("V"), barrier("ALL"), COPY_OUT),
    "a barrier of the scalar unit": (COPY_IN, barrier("S"), SCOPE),
    "a barrier with nothing to wait for": (barrier("ALL"), barrier("ALL"), SCOPE),
    "a wait before its set": (wait_flag("MTE2", "V"), SCOPE, COPY_IN, set_flag("MTE2", "V"), COPY_OUT),
    "a flag of the scalar unit": (COPY_IN, set_flag("MTE2", "S"), wait_flag("MTE2", "S"), SCOPE),
    "a fence": (COPY_IN, "pto.dsb #pto.dsb<DDR>", SCOPE),
    "buffers": (
        'pto.get_buf "PIPE_MTE2", 3, 0',
        COPY_IN,
        'pto.rls_buf "PIPE_MTE2", 3, 0',
        'pto.get_buf "PIPE_V", 3, 0',
        SCOPE,
        'pto.rls_buf "PIPE_V", 3, 0',
        'pto.get_buf "PIPE_MTE3", 3, 0',
        COPY_OUT,
        'pto.rls_buf "PIPE_MTE3", 3, 0',
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_events(name: str):
    kernel = kernel_of(*LINES[name])
    assert is_native(kernel, *arrays(), 3)
    same(kernel, *arrays(), 3)


def test_scalar_code():
    lines = (
        "%m = arith.index_cast %n : i32 to index",
        "scf.for %i = %c0 to %m step %c1 {",
        "  %even = arith.remui %i, %c3 : index",
        "  %is = arith.cmpi eq, %even, %c0 : index",
        "  scf.if %is {",
        COPY_IN,
        "  } else {",
        SCOPE,
        "  }",
        "}",
    )
    kernel = kernel_of(*lines)
    for count in (0, 1, 7):
        assert is_native(kernel, *arrays(), count)
        same(kernel, *arrays(), count)


def bracket(pipe: str, work: str, buffers: str, modes: str = "") -> list[str]:
    """Work in brackets of several buffers, each of which is got and released in a mode."""
    ways = [*zip(buffers, modes or "0" * len(buffers), strict=True)]
    gets, releases = (
        [f'pto.{verb} "PIPE_{pipe}", {each}, {mode}' for each, mode in ways] for verb in ("get_buf", "rls_buf")
    )
    return [*gets, work, *releases]


BUFFERS = {
    "mode 1": [
        *bracket("MTE2", COPY_IN, "3", "1"),
        *bracket("V", SCOPE, "3", "1"),
        *bracket("MTE3", COPY_OUT, "3", "1"),
    ],
    "a release that waits for another pipe": [
        'pto.get_buf "PIPE_MTE2", 3, 0',
        COPY_IN,
        *bracket("V", SCOPE, "3", "1"),
        'pto.rls_buf "PIPE_MTE2", 3, 0',
        *bracket("MTE3", COPY_OUT, "3"),
    ],
    "a release behind another one": [
        'pto.get_buf "PIPE_MTE2", 3, 0',
        COPY_IN,
        COPY_IN,
        'pto.get_buf "PIPE_V", 4, 0',
        SCOPE,
        *bracket("V", SCOPE, "3", "1"),  # in brackets of both
        'pto.get_buf "PIPE_MTE3", 4, 0',
        'pto.rls_buf "PIPE_MTE3", 4, 1',
        'pto.rls_buf "PIPE_V", 4, 0',
        'pto.get_buf "PIPE_MTE3", 4, 0',
        COPY_OUT,
        'pto.rls_buf "PIPE_MTE3", 4, 0',
        'pto.rls_buf "PIPE_MTE2", 3, 0',
    ],
    "a set behind a release": [
        *bracket("MTE2", COPY_IN, "34", "11"),
        'pto.get_buf "PIPE_V", 4, 0',
        *bracket("V", SCOPE, "3", "1"),
        set_flag("V", "MTE3"),
        *bracket("MTE3", COPY_OUT, "4", "1"),
        wait_flag("V", "MTE3"),
        'pto.rls_buf "PIPE_V", 4, 1',
        *bracket("MTE3", COPY_OUT, "34"),
    ],
    "of a core that stands": [
        *bracket("MTE2", COPY_IN, "34", "10"),
        wait_flag("MTE2", "V"),
        *bracket("V", SCOPE, "34", "11"),
        *bracket("V", SCOPE, "3"),
        COPY_IN,
        set_flag("MTE2", "V"),
        'pto.get_buf "PIPE_MTE3", 4, 1',
        *bracket("MTE2", COPY_IN, "34", "11"),
        *bracket("MTE3", COPY_OUT, "3"),
        'pto.rls_buf "PIPE_MTE3", 4, 1',
        *bracket("MTE2", COPY_IN, "34"),
    ],
}


@pytest.mark.parametrize("name", BUFFERS)
def test_buffers_that_are_released_for_several_pipes(name: str):
    kernel = kernel_of(*BUFFERS[name])
    assert is_native(kernel, *arrays(), 3)
    same(kernel, *arrays(), 3)


def test_modes_that_are_computed():
    """That of a block is its number."""
    lines = [line.replace(", 1", ", %mode : i64") for line in BUFFERS["a release behind another one"] if "buf" in line]
    kernel = kernel_of("%mode = pto.get_block_idx", COPY_IN, SCOPE, *lines, COPY_OUT)
    assert is_native(kernel, *arrays(), 3, grid=2)
    same(kernel, *arrays(), 3, grid=2)


def test_random_brackets(full: bool):
    """Of three pipes and buffers, nested, in both modes; flags may hold a pipe before they are set."""
    works = {"MTE2": COPY_IN, "V": SCOPE, "MTE3": COPY_OUT}
    for seed in range(60 if full else 2):
        chance = random.Random(seed)
        lines, opened, late = list[str](), list[tuple[str, int]](), list[str]()
        for _ in range(chance.randint(6, 24)):
            pipe, buffer = chance.choice([*works]), chance.randrange(3)
            lines += [works[pipe]] * chance.randint(0, 2)
            if (pipe, buffer) in opened:
                opened.remove((pipe, buffer))
                lines.append(f'pto.rls_buf "PIPE_{pipe}", {buffer}, {chance.randrange(2)}')
            else:
                opened.append((pipe, buffer))
                lines.append(f'pto.get_buf "PIPE_{pipe}", {buffer}, {int(chance.random() < 0.2)}')
            if chance.random() < 0.15 and not late:
                lines.append(wait_flag("MTE2", "V"))
                late.append(set_flag("MTE2", "V"))
            if chance.random() < 0.3 and late:
                lines.append(late.pop())
        kernel = kernel_of(*lines, *late)
        same_outcome(kernel, *arrays(), 3)


# --- paths ------------------------------------------------------------------------------------------------------------

LOOPS = """pto.vecscope {
      %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %m = arith.index_cast %n : i32 to index
      scf.for %i = %c0 to %m step %c1 {
        scf.for %j = %c0 to %c3 step %c1 {
          %v = pto.vlds %in[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
          pto.vsts %v, %out[%c64], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
        }
        %is = arith.cmpi ult, %i, %c1 : index
        scf.if %is {
          %v = pto.vlds %in[%c64] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
          pto.vsts %v, %out[%c0], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
        }
        scf.for %j = %c0 to %i step %c1 {
          %v = pto.vlds %in[%c64] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
          %a = pto.vexp %v, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
          pto.vsts %a, %out[%c0], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
        }
      }
      %end = scf.while (%k = %m) : (index) -> index {
        %more = arith.cmpi ugt, %k, %c3 : index
        scf.condition(%more) %k : index
      } do {
      ^bb0(%k: index):
        %v = pto.vlds %in[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
        pto.vsts %v, %out[%c0], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
        %less = arith.subi %k, %c1 : index
        scf.yield %less : index
      }
    }"""


def test_loops_branches_and_rounds_of_a_scope():
    kernel = kernel_of(LOOPS)
    for count in (0, 1, 2, 9):
        assert is_native(kernel, *arrays(), count)
        same(kernel, *arrays(), count)


@pytest.mark.parametrize("bits, lanes", [(32, 13), (32, 0), (32, 64), (16, 17), (8, 101)])
def test_blocks_are_written_as_far_as_lanes_are_active(bits: int, lanes: int):
    """vsstb writes single elements: 13 of f32 in every second block are 32 bytes, and 20 bytes 64 bytes further on."""
    vector, mask = f"!pto.vreg<{2048 // bits}xi{bits}>", f"!pto.mask<b{bits}>"
    scope = f"""pto.vecscope {{
      %p = pto.castptr %c4096_i64 : i64 -> !pto.ptr<i{bits}, ub>
      %lanes = arith.constant {lanes} : i32
      %step = arith.constant 2 : i16
      %none = arith.constant 0 : i16
      %some, %rest = pto.plt_b{bits} %lanes : i32 -> {mask}, i32
      %v = pto.vlds %p[%c0] : !pto.ptr<i{bits}, ub> -> {vector}
      pto.vsstb %v, %p, %step, %none, %some : {vector}, !pto.ptr<i{bits}, ub>, i16, i16, {mask}
    }}"""
    kernel = kernel_of(scope)
    assert is_native(kernel, *arrays(), 3)
    touches = same(kernel, *arrays(), 3).recording.touches
    size = lanes * bits // 8
    beyond = 4096 + size + (size - 1) // 32 * 32
    assert list(touches.high) == ([4096 + 256, beyond] if lanes else [4096 + 256])


def test_prices_stay_found_when_the_table_grows():
    """A key lies at the place that its low bits name, or behind it; half of the places stay empty."""
    supplies = Supplies(lambda work, path, words, touches: (7 * work, work), {0: 3000})
    keys = [(number * 0x9E3779B97F4A7C15 & (1 << 63) - 1) | 1 for number in range(1, 3000)]
    for number, key in enumerate(keys):
        supplies.enter(key, number, (), 0, ())
    address, size = supplies.table
    table = np.ctypeslib.as_array((ctypes.c_int64 * (size * PRICE_WORDS)).from_address(address)).reshape(size, -1)
    assert size >= 2 * len(keys)
    for number, key in enumerate(keys):
        place = key % size
        while table[place, 0] != key:
            assert table[place, 0] != 0
            place = (place + 1) % size
        assert table[place, 1:3].tolist() == [7 * number, number]


# --- tables and printing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@table(
    "operation",
    *(GATHER.format(what, oob) for what, oob in (("row", "undefined"), ("elem", "zero"), ("row", "clamp"))),
    *(SCATTER.format(*how) for how in (("row", "none", "skip"), ("elem", "add", "wrap"), ("elem", "none", "skip"))),
)
def test_what_indices_name_decides_the_price(operation: str, target: str):
    """Of several launches, each with other indices of which some are beyond the table."""
    shape = "1x8" if "coalesce row" in operation else "8x32"
    gathers = "mgather" in operation
    tiles = {"d" if gathers else "s": Given("8x32xi32"), "i": Given(f"{shape}xi32")}
    kernel = ptosim.load(table_source(operation, tiles, "i32", 20, 32, target)).kernel()
    limit = 20 if "undefined" in operation else 30 if shape == "1x8" else 700
    for seed in range(2):
        chance = np.random.default_rng(seed)
        tiles["i"].holds = chance.integers(0, limit, (tiles["i"].rows, tiles["i"].cols))
        arguments = [*(tile.image() for tile in tiles.values()), np.zeros((20, 32), "i4")]
        assert is_native(kernel, *arguments)
        same(kernel, *arguments)


def test_a_kernel_that_prints(capfd: pytest.CaptureFixture[str]):
    kernel = kernel_of(COPY_IN, 'pto.print "here"', SCOPE)
    assert is_native(kernel, *arrays(), 3)
    same(kernel, *arrays(), 3)
    assert set(capfd.readouterr().out.splitlines()) == {"b0.aiv0: here"}


@pytest.mark.parametrize(("shared", "threads"), [(False, None), (True, 1)])
def test_blocks_that_may_hand_on_something_are_timed_in_their_order(
    shared: bool, threads: int | None, monkeypatch: pytest.MonkeyPatch
):
    """What one reads, and with it the time that it takes, may be what another has written to the same array."""
    kernel = kernel_of(COPY_IN, barrier("ALL"), COPY_OUT)
    x, y = arrays()
    asked: list[int | None] = []
    run = Runner.run_apart

    def run_apart(self: Runner, invocation: Any, threads: int | None = None, *rest: Any) -> None:
        asked.append(threads)
        run(self, invocation, threads, *rest)

    monkeypatch.setattr(Runner, "run_apart", run_apart)
    assert is_native(kernel, x, x if shared else y, 3, grid=2)
    assert asked == [threads]


# --- what is left to the reference ------------------------------------------------------------------------------------


def test_a_flag_that_is_set_twice_is_left_to_the_reference():
    kernel = kernel_of(COPY_IN, *[set_flag("MTE2", "V")] * 2, *[wait_flag("MTE2", "V")] * 2, SCOPE)
    assert not is_native(kernel, *arrays(), 3)
    same(kernel, *arrays(), 3)


def test_what_lies_outside_is_told_by_the_reference():
    kernel = kernel_of(COPY_IN, COPY_OUT)
    profile = same(kernel, *arrays(100), 3)
    assert [warning.kind for warning in profile.warnings] == ["out-of-bounds"] * 2


def test_arguments_keep_what_they_hold():
    kernel = kernel_of(COPY_IN, barrier("ALL"), SCOPE, barrier("ALL"), COPY_OUT)
    x, y = np.arange(1024, dtype=np.float32) - 512, np.full(1024, 7, np.float32)
    for _ in range(2):
        assert is_native(kernel, x, y, 3)
    assert (x == np.arange(1024) - 512).all() and (y == 7).all()
    assert is_native(kernel, x, x, 3)
    assert (x == np.arange(1024) - 512).all()


def test_a_pointer_that_leaves_its_argument_is_left_to_the_reference():
    """What lies behind is the other argument, which the kernel is not known to read."""
    beyond = "%beyond = arith.constant 70368744177664 : index"
    moved = "%z = pto.addptr %x, %beyond : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>"
    kernel = kernel_of(beyond, moved, COPY_IN.replace("%x,", "%z,"), barrier("ALL"), COPY_OUT)
    assert not is_native(kernel, *arrays(), 3)
    same(kernel, *arrays(), 3)


ROUNDS = "%m = arith.index_cast %n : i32 to index", "scf.for %i = %c0 to %m step %c1 {", COPY_IN, SCOPE, "}"


@pytest.mark.parametrize("lines", [ROUNDS, (*ROUNDS, barrier("ALL"), COPY_OUT)])
def test_a_long_run_is_counted_to_its_end(monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...]):
    """Its log has an end: what is drawn is the first part, and the profile says so."""
    kernel = kernel_of(*lines)
    whole = ptosim.profile(kernel, *arrays(), 40_000)
    monkeypatch.setattr("ptosim.native.observe.stopwatch.MOST_RECORDS", 1)
    cut = ptosim.profile(kernel, *arrays(), 40_000)
    assert not whole.warnings
    (warning,) = cut.warnings
    assert (warning.kind, warning.severity) == ("limit", "warning")
    assert (cut.cycles, cut.pipes, cut.cores, cut.least) == (whole.cycles, whole.pipes, whole.cores, whole.least)
    assert 0 < len(cut.timeline) < len(whole.timeline)
    drawn, all_of_them = ({(event.pipe, event.start, event.end) for event in each.timeline} for each in (cut, whole))
    assert drawn < all_of_them
    assert sum(step.cycles for step in cut.critical_path) == cut.cycles
    assert cut.critical_path[-1].activity == "unrecorded"
    assert "unrecorded" not in cut.bounds


def test_an_error_is_the_reference_s():
    kernel = kernel_of(wait_flag("MTE2", "V"), SCOPE)
    same_outcome(kernel, *arrays(), 3)
    with pytest.raises(PTOError, match="unmatched-wait"):
        ptosim.profile(kernel, *arrays(), 3)
