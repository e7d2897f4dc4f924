"""Several cores: signals between them, and blocks in waves over the chip."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from ptosim.report.profile import Profile
from tables import table
from timing.kernels import COPY_IN, SCOPE, barrier, profile, spans
from timing.same import same

SKELETON = Path(__file__).parents[1] / "skeleton"

TWO_CORES = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @two_cores(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c256_i64 = arith.constant 256 : i64
    %c25600_i64 = arith.constant 25600 : i64
    pto.section.cube {{
      %l1 = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, l1>
      pto.mte_gm_l1 %x, %l1, %c25600_i64 nburst(%c1_i64, %c25600_i64, %c25600_i64)
        : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64
      pto.sync.set <PIPE_MTE2>, 1
      {second}
    }}
    pto.section.vector {{
      %in = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
      %out = pto.castptr %c256_i64 : i64 -> !pto.ptr<f32, ub>
      pto.sync.wait <PIPE_MTE3>, 1
      {scope}
      pto.mte_ub_gm %out, %y, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
        : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    }}
    return
  }}
}}
"""


def two_cores(target: str, second: str) -> Profile:
    kernel = ptosim.load(TWO_CORES.format(target=target, second=second, scope=SCOPE)).kernel()
    return ptosim.profile(kernel, np.ones(6400, np.float32), np.zeros(64, np.float32))


def of(found: Profile, core: str) -> list[tuple[str, str, int, int]]:
    return [entry for entry, event in zip(spans(found), found.timeline, strict=True) if event.core == core]


def test_on_a5_a_wait_for_another_core_holds_one_pipe():
    found = two_cores("a5", "pto.sync.set <PIPE_MTE2>, 17")
    # The copy to L1 is issued in 2 and takes 64 + 25600 / 256 cycles; the signal takes 20 to the other core.
    assert of(found, "b0.aic") == [("mte_gm_l1", "MTE2", 2, 166)]
    for core in ("b0.aiv0", "b0.aiv1"):
        # The scope does not wait; the store does, from the issue of the wait in cycle 3 on, then takes 64 + 2.
        assert of(found, core) == [("vecscope", "V", 4, 57), ("mte_ub_gm", "MTE3", 186, 252)]
        assert found.cores[core].pipes["MTE3"].waiting == 183 and found.cores[core].pipes["S"].waiting == 0


def test_on_a2a3_it_holds_the_whole_core():
    found = two_cores("a2a3", "")
    assert of(found, "b0.aic") == [("mte_gm_l1", "MTE2", 2, 102)]
    for core in ("b0.aiv0", "b0.aiv1"):
        # Nothing is issued before 122: the scope, head 13 + slope 1 + tail 16 of vabs, and the store come after it.
        assert of(found, core) == [("vecscope", "V", 123, 153), ("mte_ub_gm", "MTE3", 124, 126)]
        assert found.cores[core].pipes["S"].waiting == 122 - 3 and found.cores[core].pipes["MTE3"].waiting == 0


@pytest.mark.parametrize("target, pipe", [("a5", "MTE2"), ("a2a3", "S")])
def test_the_wait_is_seen_on_the_pipe_or_on_the_scalar_unit(target: str, pipe: str):
    name = "mixed_signal" if target == "a5" else "mixed_signal_a2a3"
    kernel = ptosim.load(SKELETON / f"{name}.pto").kernel()
    x, half, y = (np.zeros(128, np.float32) for _ in range(3))
    found = ptosim.profile(kernel, x, half, y)
    waits = [event for event in found.waits if event.core == "b0.aiv0" and event.name == "pto.sync.wait"]
    assert [event.pipe for event in waits] == [pipe]
    assert sum(step.cycles for step in found.critical_path) == found.cycles
    assert {"b0.aic", "b0.aiv0"} <= {step.core for step in found.critical_path}


def test_the_two_kernels_of_two_cores_compute_the_same():
    for name in ("mixed_signal", "mixed_signal_a2a3"):
        x, half, y = np.arange(-64, 64, dtype=np.float32), np.zeros(128, np.float32), np.zeros(128, np.float32)
        ptosim.load(SKELETON / f"{name}.pto").kernel()(x, half, y)
        assert (y == np.abs(np.roll(x, 64))).all()


def test_blocks_beyond_the_cores_run_in_waves():
    assert profile(COPY_IN, grid=64).cycles == 99
    found = profile(COPY_IN, grid=65)
    assert found.cycles == 2 * 99
    assert (found.cores["b63.aiv0"].begin, found.cores["b64.aiv0"].begin) == (0, 99)
    # 64 hardware cores for 198 cycles; 65 copies; the cores that have no second block are idle.
    assert found.pipes["MTE2"].busy == 65 * 96 and found.pipes["MTE2"].total == 64 * 198
    assert [event.start for event in found.timeline if event.core == "b64.aiv0"] == [99 + 3]
    assert sum(step.cycles for step in found.critical_path) == 198
    assert {step.core for step in found.critical_path} == {"b0.aiv0", "b64.aiv0"}
    assert "chip.vector_cores" in {figure.path for figure in found.rests_on}


def test_a_free_core_takes_the_next_block():
    # Blocks 0 to 47 of 96 copy twice, the others once: 48 cores on a2a3, two copies each of 32 cycles.
    lines = [
        "%block = pto.get_block_idx",
        "%c48_i64 = arith.constant 48 : i64",
        "%first = arith.cmpi slt, %block, %c48_i64 : i64",
        f"scf.if %first {{\n{COPY_IN}\n}}",
        COPY_IN,
    ]
    found = profile(*lines, target="a2a3", grid=96)
    # Scalar: 2 castptr, index, comparison, branch; then one issue for each copy.
    assert found.cores["b0.aiv0"].end == 6 + 64 and found.cores["b48.aiv0"].begin == 70
    assert found.cycles == 70 + 6 + 32


def test_blocks_that_wait_for_each_other_begin_together():
    meet = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv>"
    found = profile(COPY_IN, meet, COPY_IN, target="a2a3", grid=50)
    assert {core.begin for core in found.cores.values()} == {0}
    # Every core says so in 4; the others see that in 24, and issue the second copy in 25: MTE2 is busy until 35.
    assert {event.start for event in found.timeline} == {3, 35}
    drained = profile(COPY_IN, "pto.barrier #pto.pipe<PIPE_ALL>", meet, COPY_IN, target="a2a3", grid=50)
    # Every core has drained in 35 and says so in 36; the others see that in 56, and issue the second copy in 57.
    assert {event.start for event in drained.timeline} == {3, 57}


CUBE = """module attributes {pto.target_arch = "a5"} {
  func.func @product(%a: !pto.ptr<f16, gm>, %b: !pto.ptr<f16, gm>, %c: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c16 = arith.constant 16 : i64
    %m = arith.constant 40 : i64
    %n = arith.constant 64 : i64
    %k = arith.constant 50 : i64
    %c4096 = arith.constant 4096 : i64
    %l1a = pto.castptr %c0 : i64 -> !pto.ptr<f16, l1>
    %l0a = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0a>
    %l0b = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0b>
    %l0c = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0c>
    pto.mte_gm_l1 %a, %l1a, %c4096 nburst(%c1, %c4096, %c4096)
      : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_l1_l0a %l1a, %l0a, %c16, %c16 : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64
    pto.mte_l1_l0b %l1a, %l0b, %c16, %c16 : !pto.ptr<f16, l1>, !pto.ptr<f16, l0b>, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mad %l0a, %l0b, %l0c, %m, %n, %k : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_l0c_gm %l0c, %c, %c16, %c16, %c16, %c16, %c0, %c0, nz2nd
      : !pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64
    return
  }
}
"""


def test_the_cube():
    kernel = ptosim.load(CUBE).kernel()
    found = ptosim.profile(kernel, np.zeros(2048, np.float16), np.zeros(2048, np.float16), np.zeros(2048, np.float32))
    cycles = {event.name: event.end - event.start for event in found.timeline}
    assert cycles == {
        "pto.mte_gm_l1": 64 + 4096 // 256,
        "pto.mte_l1_l0a": 8 + 512 // 256,
        "pto.mte_l1_l0b": 8 + 512 // 128,
        "pto.mad": 20 + 3 * 4 * 4,  # 40 x 64 x 50 in tiles of 16 x 16 x 16
        "pto.mte_l0c_gm": 64 + 16 * 16 * 4 // 64,
    }
    assert found.bound == "memory"
    assert list(found.pipes) == ["S", "MTE2", "MTE1", "M", "FIX"]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_product_of_no_values_takes_its_start_up(engine: str):
    """Accumulators that start at zero or at the bias, which is what a product of tiles with k = 0 does."""
    lines = """%bt = pto.castptr %c0 : i64 -> !pto.ptr<f32, bt>
    pto.sim.start_acc %l0c, %m, %n : !pto.ptr<f32, l0c>, i64, i64
    pto.sim.start_acc %l0c, %m, %n, %bt : !pto.ptr<f32, l0c>, i64, i64, !pto.ptr<f32, bt>
    return"""
    kernel = ptosim.load(CUBE.replace("return", lines)).kernel()
    arrays = np.zeros(2048, np.float16), np.zeros(2048, np.float16), np.zeros(2048, np.float32)
    found = ptosim.profile(kernel, *arrays, engine=engine)
    assert [event.cycles for event in found.timeline if event.name == "pto.sim.start_acc"] == [20, 20]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_cores_stand_in_order_whichever_is_written_to_first(engine: str):
    store = """pto.mte_l0c_ub %l0c, %ub, %c16, %c16, %c16, %c16, dst_mode(%c1)
      : !pto.ptr<f32, l0c>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"""
    lines = f"""%l0c = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, l0c>
      %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
      %c1 = arith.constant 1 : i64
      %c16 = arith.constant 16 : i64
      {store}
      pto.sync.set <PIPE_MTE2>, 17"""
    kernel = ptosim.load(TWO_CORES.format(target="a5", second=lines, scope=SCOPE)).kernel()
    found = ptosim.profile(kernel, np.ones(6400, np.float32), np.zeros(64, np.float32), engine=engine)
    assert [core.name for core in found.recording.cores] == ["b0.aic", "b0.aiv0", "b0.aiv1"]


def test_a_mixed_kernel_fills_clusters():
    # 32 cube cores and 64 vector cores are 32 clusters.
    kernel = ptosim.load(TWO_CORES.format(target="a5", second="pto.sync.set <PIPE_MTE2>, 17", scope=SCOPE)).kernel()
    found = ptosim.profile(kernel, np.ones(6400, np.float32), np.zeros(64, np.float32), grid=33)
    assert found.cycles == 2 * 252


def test_barriers_of_all_pipes_are_not_waits_of_a_pipe():
    found = profile(COPY_IN, barrier("ALL"))
    assert found.pipes["MTE2"].waiting == 0 and found.pipes["S"].waiting == 99 - 4


PADDING = """module attributes {pto.target_arch = "a2a3", pto.kernel_kind = #pto.kernel_kind<cube>} {
  func.func @padding(%from: i64) attributes {pto.kernel} {
    %zero = arith.constant 0 : i64
    %extent = arith.constant 32 : i64
    %l1 = pto.castptr %from : i64 -> !pto.ptr<f16, l1>
    %l0a = pto.castptr %zero : i64 -> !pto.ptr<f16, l0a>
    pto.mte_l1_l0a %l1, %l0a, %extent, %extent : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64
    return
  }
}
"""


def test_fractals_behind_the_end_of_l1_take_as_long_as_others():
    kernel = ptosim.load(PADDING).kernel()
    for first in (524288 - 256, 524288 - 512, 0):
        (event,) = same(kernel, first).timeline
        assert event.end - event.start == 2 * 2 * 512 // 256


STORE = """module attributes {{pto.target_arch = "a2a3", pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  func.func @store(%y: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %extent = arith.constant 16 : i64
    %scale = arith.constant 2.0 : f32
    %l0c = pto.castptr %zero : i64 -> !pto.ptr<f32, l0c>
    %fb = pto.castptr %zero : i64 -> !pto.ptr<f32, fb>
    pto.mte_l0c_gm %l0c, %y, %extent, %extent, %extent, %extent, %zero, %zero, {clause}
      : !pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64, {kind}
    return
  }}
}}
"""


@table(
    "clause, kind",
    ("pre_quant(%scale, mode = qf322f32_pre_scalar)", "f32"),
    ("pre_quant(%fb, mode = qf322f32_pre_vec)", "!pto.ptr<f32, fb>"),
    ("pre_relu(%fb, mode = vector_relu)", "!pto.ptr<f32, fb>"),
)
def test_a_store_is_paid_by_its_accumulators_alone(clause: str, kind: str):
    kernel = ptosim.load(STORE.format(clause=clause, kind=kind)).kernel()
    (event,) = same(kernel, np.zeros(256, np.float32)).timeline
    assert (event.end - event.start, event.bytes) == (16 * 16 * 4 // 64, 16 * 16 * 4)
