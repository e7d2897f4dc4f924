"""Copies on the chip in 32-byte granules, and plain copies from GM to L1."""

import numpy as np
import pytest

import ptosim
from small_kernels import SCHEDULES, Bytes, failure, lints, module, run, scalars, some_bytes

WAIT = "pto.barrier #pto.pipe<PIPE_ALL>"


def in_ub(*instructions: str, before: Bytes) -> Bytes:
    """UB after the instructions; it has the bytes of `before` at the start."""
    size = len(before)
    text = module(
        "%in: G<i8>, %out: G<i8>",
        f"""pto.mte_gm_ub %in, %ub_i8, %c0_i64, %c{size}_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
          : G<i8>, P<i8>, i64, i64, i64, i64, i64
        {WAIT}
        {f"{chr(10)}{WAIT}{chr(10)}".join(instructions)}
        {WAIT}
        pto.mte_ub_gm %ub_i8, %out, %c{size}_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
          : P<i8>, G<i8>, i64, i64, i64, i64""",
    )
    out = np.zeros(size, np.uint8)
    run(text, before.copy(), out)
    return out


def ub_ub(source: int, dest: int, length: int, rows: str = "1, 0, 0") -> str:
    n, source_gap, dest_gap = (f"%c{value.strip()}_i64" for value in rows.split(","))
    return f"""pto.mte_ub_ub %ub{source}_f32, %ub{dest}_f32, %c{length}_i64 nburst({n}, {source_gap}, {dest_gap})
      : P<f32>, P<f32>, i64, i64, i64, i64"""


# --- within UB --------------------------------------------------------------------------------------------------------


def test_four_copies_permute_rows_of_32_bytes() -> None:
    """Length 1 is one granule: rows 2, 0, 3, 1."""
    before = some_bytes(256)
    found = in_ub(*(ub_ub(32 * source, 128 + 32 * row, 1) for row, source in enumerate((2, 0, 3, 1))), before=before)
    expected = np.concatenate([before[32 * source : 32 * source + 32] for source in (2, 0, 3, 1)])
    assert (found[128:] == expected).all()
    assert (found[:128] == before[:128]).all()


@pytest.mark.parametrize("older", [False, True])
def test_gaps_lie_between_the_end_of_a_row_and_the_next(older: bool) -> None:
    """Three rows of 2 granules: source every 3 granules, destination every 6."""
    copy = ub_ub(0, 1024, 2, "3, 1, 4")
    if older:
        copy = """pto.copy_ubuf_to_ubuf %ub_f32, %ub1024_f32, %c0_i64, %c3_i64, %c2_i64, %c1_i64, %c4_i64
          : P<f32>, P<f32>, i64, i64, i64, i64, i64"""
    before = some_bytes(2048)
    expected = before.copy()
    for row in range(3):
        expected[1024 + 192 * row : 1024 + 192 * row + 64] = before[96 * row : 96 * row + 64]
    assert (in_ub(copy, before=before) == expected).all()


def test_a_copy_within_ub_belongs_to_the_vector_pipe() -> None:
    """It comes after the scope that was issued before it, whatever the schedule."""
    text = module(
        "%out: G<f32>",
        f"""pto.vecscope {{
          %m = pto.pset_b32 "PAT_ALL" : M<b32>
          %v = pto.vbr %c2.5_f32 : f32 -> V<f32>
          pto.vsts %v, %ub_f32[%c0], %m : V<f32>, P<f32>, M<b32>
        }}
        {ub_ub(0, 1024, 8)}
        pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
        pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
        pto.mte_ub_gm %ub1024_f32, %out, %c256_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
          : P<f32>, G<f32>, i64, i64, i64, i64""",
    )
    for schedule in SCHEDULES:
        out = np.zeros(64, np.float32)
        run(text, out, schedule=schedule)
        assert (out == 2.5).all()


def test_overlapping_copies_are_reported() -> None:
    def found(dest: int, rows: str) -> list[str]:
        return lints(module("", ub_ub(0, dest, 2, rows)), kind="overlap")

    assert found(64, "1, 0, 0") == []
    assert found(64, "2, 2, 2") == []  # rows that alternate
    assert len(found(32, "1, 0, 0")) == 1
    assert len(found(64, "2, 0, 0")) == 1


def test_granules_have_16_bit_fields() -> None:
    text = module(
        "%n: i64",
        """pto.mte_ub_ub %ub_f32, %ub1024_f32, %n nburst(%c1_i64, %c0_i64, %c0_i64)
          : P<f32>, P<f32>, i64, i64, i64, i64""",
    )
    for value in (-1, 65536):
        found = failure(text, value)
        assert (found.kind, found.message) == ("invalid", f"len_burst is {value}; it must be 0..65535")
    assert failure(text, 65535).kind == "out-of-bounds"


def test_addresses_are_whole_granules() -> None:
    found = failure(module("", ub_ub(16, 1024, 1)))
    assert (found.kind, found.message) == ("misaligned", "reads ub at 16, which is not a multiple of 32")


# --- between UB and L1 ------------------------------------------------------------------------------------------------

ROUND_TRIP = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c16 = arith.constant 16 : i64
    %c512 = arith.constant 512 : i64
    %c1024 = arith.constant 1024 : i64
    %me_i64 = pto.get_subblock_idx
    %offset = arith.muli %me_i64, %c512 : i64
    %ub = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
    %back = pto.castptr %c1024 : i64 -> !pto.ptr<f32, ub>
    %elements = arith.constant 128 : index
    %me = arith.index_cast %me_i64 : i64 to index
    %at = arith.muli %me, %elements : index
    %x_mine = pto.addptr %x, %at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %y_mine = pto.addptr %y, %at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    pto.section.cube {
      %l1_0 = pto.castptr %c0 : i64 -> !pto.ptr<f32, l1>
      %l1_1 = pto.castptr %c512 : i64 -> !pto.ptr<f32, l1>
      pto.sync.wait <PIPE_MTE1>, 0
      pto.sync.wait <PIPE_MTE1>, 16
      TO_AIV0
      TO_AIV1
      pto.sync.set <PIPE_MTE1>, 1
      pto.sync.set <PIPE_MTE1>, 17
    }
    pto.section.vector {
      %l1 = pto.castptr %offset : i64 -> !pto.ptr<f32, l1>
      pto.mte_gm_ub %x_mine, %ub, %c0, %c512 nburst(%c1, %c512, %c512)
        : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
      TO_L1
      pto.sync.set <PIPE_MTE3>, 0
      pto.sync.wait <PIPE_MTE3>, 1
      pto.mte_ub_gm %back, %y_mine, %c512 nburst(%c1, %c512, %c512)
        : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    }
    return
  }
}
"""
TO_L1 = """pto.mte_ub_l1 %ub, %l1, %c16 nburst(%c1, %c0, %c0)
  : !pto.ptr<f32, ub>, !pto.ptr<f32, l1>, i64, i64, i64, i64"""
OLDER_TO_L1 = """pto.copy_ubuf_to_cbuf %ub, %l1, %c0, %c1, %c16, %c0, %c0
  : !pto.ptr<f32, ub>, !pto.ptr<f32, l1>, i64, i64, i64, i64, i64"""
TO_AIV0 = """pto.mte_l1_ub %l1_0, %back, %c16 nburst(%c1, %c0, %c0)
  : !pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64"""


def to_aiv(number: int) -> str:
    return f"""pto.copy_cbuf_to_ubuf %l1_{number}, %back, %c{number}, %c1, %c16, %c0, %c0
      : !pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"""


@pytest.mark.parametrize("to_l1, to_aiv0", [(TO_L1, TO_AIV0), (OLDER_TO_L1, to_aiv(0))])
@pytest.mark.parametrize("schedule", [*SCHEDULES, "delay:MTE1", "delay:S"])
def test_ub_to_l1_and_back_on_both_vector_cores(to_l1: str, to_aiv0: str, schedule: str) -> None:
    """512 bytes each; `sid` selects the vector core, mte_l1_ub means the first."""
    text = ROUND_TRIP.replace("TO_L1", to_l1).replace("TO_AIV0", to_aiv0).replace("TO_AIV1", to_aiv(1))
    x, y = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    run(text, x, y, schedule=schedule)
    assert (x == y).all()


# --- GM to L1 ---------------------------------------------------------------------------------------------------------


def through_l1(load: str, x: Bytes, schedule: str = "program") -> Bytes:
    """The first 2048 bytes of L1 after a copy from %x."""
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
      func.func @k(%x: !pto.ptr<i8, gm>, %y: !pto.ptr<i8, gm>) attributes {{pto.kernel}} {{
        %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<i8, ub>
        pto.section.cube {{
          %l1 = pto.castptr %c0_i64 : i64 -> !pto.ptr<i8, l1>
          {load}
          pto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
          pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
          pto.mte_l1_ub %l1, %ub, %c64_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
            : !pto.ptr<i8, l1>, !pto.ptr<i8, ub>, i64, i64, i64, i64
          pto.sync.set <PIPE_MTE1>, 0
        }}
        pto.section.vector {{
          %me = pto.get_subblock_idx
          %first = arith.cmpi eq, %me, %c0_i64 : i64
          scf.if %first {{
            pto.sync.wait <PIPE_MTE3>, 0
            pto.mte_ub_gm %ub, %y, %c2048_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
              : !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64
          }}
        }}
        return
      }}
    }}"""
    text = text.replace("attributes {pto.kernel} {\n", f"attributes {{pto.kernel}} {{\n{scalars(text)}\n")
    y = np.zeros(2048, np.uint8)
    run(text, x, y, schedule=schedule)
    return y


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_mte_gm_l1_copies_rows_and_loops(schedule: str) -> None:
    x = some_bytes(2 * 3 * 50)
    copy = """pto.mte_gm_l1 %x, %l1, %c40_i64 nburst(%c3_i64, %c50_i64, %c64_i64) loop(%c2_i64, %c150_i64, %c1024_i64)
      : !pto.ptr<i8, gm>, !pto.ptr<i8, l1>, i64, i64, i64, i64, loop i64, i64, i64"""
    expected = np.zeros(2048, np.uint8)
    for outer in range(2):
        for row in range(3):
            start = 1024 * outer + 64 * row
            expected[start : start + 40] = x[150 * outer + 50 * row :][:40]
    assert (through_l1(copy, x, schedule) == expected).all()


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("size", [2 * 3 * 50, 270])
def test_l1_gm_copies_rows_and_loops(size: int, engine: str) -> None:
    """pto.sim.l1_gm: twice three rows of 40 bytes; what does not fit into the argument is an error, or dropped."""
    text = """module attributes {pto.target_arch = "a2a3", pto.kernel_kind = #pto.kernel_kind<cube>} {
      func.func @k(%x: !pto.ptr<i8, gm>, %y: !pto.ptr<i8, gm>) attributes {pto.kernel} {
        %l1 = pto.castptr %c64_i64 : i64 -> !pto.ptr<i8, l1>
        pto.mte_gm_l1 %x, %l1, %c2048_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
          : !pto.ptr<i8, gm>, !pto.ptr<i8, l1>, i64, i64, i64, i64
        pto.barrier <PIPE_ALL>
        pto.sim.l1_gm %l1, %y, %c40_i64 nburst(%c3_i64, %c64_i64, %c50_i64) loop(%c2_i64, %c1024_i64, %c150_i64)
          : !pto.ptr<i8, l1>, !pto.ptr<i8, gm>, i64, i64, i64, i64, loop i64, i64, i64
        return
      }
    }"""
    text = text.replace("attributes {pto.kernel} {\n", f"attributes {{pto.kernel}} {{\n{scalars(text)}\n")
    x, y, expected = some_bytes(2048), np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    for outer in range(2):
        for row in range(3):
            part = expected[150 * outer + 50 * row :][:40]
            part[:] = x[1024 * outer + 64 * row :][: len(part)]
    kernel = ptosim.load(text).kernel()
    if size < 290:
        with pytest.raises(ptosim.PTOError, match="out-of-bounds"):
            kernel(x, y.copy(), engine=engine)
    kernel(x, y, engine=engine, oob="drop")
    assert (y == expected).all()


def test_copy_gm_to_cbuf_has_its_loops_in_packed_registers() -> None:
    """Sizes: loop1 in the low 21 bits; strides: the source in the low 40."""
    x = some_bytes(400)
    copy = f"""pto.set_loop_size_outtol1 %c{2 << 21 | 3}_i64 : i64
      pto.set_loop1_stride_outtol1 %c{64 << 40 | 40}_i64 : i64
      pto.set_loop2_stride_outtol1 %c{512 << 40 | 200}_i64 : i64
      pto.copy_gm_to_cbuf %x, %l1, %c1_i64, %c32_i64, %c0_i64, %c0_i64
        : !pto.ptr<i8, gm>, !pto.ptr<i8, l1>, i64, i64, i64, i64"""
    expected = np.zeros(2048, np.uint8)
    for outer in range(2):
        for inner in range(3):
            start = 512 * outer + 64 * inner
            expected[start : start + 32] = x[200 * outer + 40 * inner :][:32]
    assert (through_l1(copy, x) == expected).all()


def test_a_packed_size_of_zero_is_refused() -> None:
    found = failure(module("%n: i64", "pto.set_loop_size_outtol1 %n : i64"), 1)
    assert (found.kind, found.message) == ("invalid", "loop2 is 0; it must be 1..2097151")
