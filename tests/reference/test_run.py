"""Kernels of odd shape run: any nesting, any name, any size; and a run uses nothing but its arguments."""

import numpy as np
import pytest

from ptosim.api import load
from small_kernels import SCHEDULES, expand, module, run, ub_after


def nested(depth: int, level_text: str, inner: str, closing: str) -> str:
    """Regions inside one another; `@` stands for the level, `^` for the next one."""
    text = inner
    for level in reversed(range(depth)):
        opened = level_text.replace("@", str(level)).replace("^", str(level + 1))
        text = f"{opened}\n{text}\n{closing.replace('@', str(level)).replace('^', str(level + 1))}"
    return text


# --- depth ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [3, 11, 12, 13, 25, 90])
def test_loops_in_a_scope_carry_registers_to_any_depth(depth: int) -> None:
    """The register that comes out has been doubled once."""
    body = nested(
        depth,
        "%v@ = scf.for %i@ = %c0 to %c1 step %c1 iter_args(%a^ = %a@) -> (!pto.vreg<64xf32>) {",
        f"%v{depth} = pto.vadd %a{depth}, %a{depth}, %all_b32 : V<f32>, V<f32>, M<b32> -> V<f32>",
        "scf.yield %v^ : V<f32>\n}",
    )
    after = ub_after(
        f"""%a0 = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
        {body}
        pto.vsts %v0, %ub4096_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>""",
        np.arange(64, dtype=np.float32),
    )
    assert (after[4096:4352].view(np.float32) == 2 * np.arange(64)).all()


def test_branches_and_whiles_alternate() -> None:
    """Each level adds one on the way out. A while runs its first region twice."""
    depth = 16
    text = f"%x{depth} = arith.addi %n, %c0_i32 : i32"
    for level in reversed(range(depth)):
        if level % 2:
            text = f"""%y{level} = scf.if %yes -> (i32) {{
              {text}
              scf.yield %x{level + 1} : i32
            }} else {{
              scf.yield %n : i32
            }}"""
        else:
            text = f"""%y{level} = scf.while (%go{level} = %yes) : (i1) -> (i32) {{
              {text}
              scf.condition(%go{level}) %x{level + 1} : i32
            }} do {{
            ^bb0(%z{level}: i32):
              %no{level} = arith.constant false
              scf.yield %no{level} : i1
            }}"""
        text += f"\n%x{level} = arith.addi %y{level}, %c1_i32 : i32"
    source = module("%out: G<i32>, %n: i32, %yes: i1", f"{text}\npto.store_scalar %x0, %out[%c0] : G<i32>, i32")
    out = np.zeros(1, np.int32)
    run(source, out, 100, 1)
    assert out[0] == 100 + depth


def test_two_hundred_levels_of_branches() -> None:
    depth = 190
    body = nested(
        depth,
        "%r@ = scf.if %yes -> (i32) {",
        f"%r{depth} = arith.addi %n, %c1_i32 : i32",
        "scf.yield %r^ : i32\n} else {\nscf.yield %n : i32\n}",
    )
    text = module("%out: G<i32>, %n: i32, %yes: i1", f"{body}\npto.store_scalar %r0, %out[%c0] : G<i32>, i32")
    out = np.zeros(1, np.int32)
    for taken, expected in ((1, 8), (0, 7)):
        run(text, out, 7, taken)
        assert out[0] == expected


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["class", "r0", "k-1", "1st", "f.g$h", "ä ö", "print", "core", "_", "a" * 300])
def test_symbols_may_be_called_anything(name: str) -> None:
    text = expand(
        f"""module {{
        func.func @"{name}"(%class: G<i32>, %core: i32) attributes {{pto.kernel}} {{
          %0 = arith.constant 0 : index
          %if = func.call @"helper {name}"(%core) : (i32) -> i32
          pto.store_scalar %if, %class[%0] : G<i32>, i32
          return
        }}
        func.func private @"helper {name}"(%lambda: i32) -> i32 {{
          %r0 = arith.addi %lambda, %lambda : i32
          return %r0 : i32
        }}
        }}"""
    )
    out = np.zeros(1, np.int32)
    load(text).kernel(name)(out, 21, engine="reference")
    assert out[0] == 42


# --- scopes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_scope_captures_values_when_it_is_launched(schedule: str) -> None:
    """The scalar unit goes on to other values; every scope keeps its own."""
    text = module(
        "%out: G<f32>",
        """scf.for %i = %c0 to %c8 step %c1 {
          %k = arith.index_cast %i : index to i32
          %x = arith.sitofp %k : i32 to f32
          %o = arith.muli %i, %c64 : index
          pto.vecscope {
            %m = pto.pset_b32 "PAT_ALL" : M<b32>
            %v = pto.vbr %x : f32 -> V<f32>
            pto.vsts %v, %ub_f32[%o], %m : V<f32>, P<f32>, M<b32>
          }
        }
        pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
        pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
        pto.mte_ub_gm %ub_f32, %out, %c2048_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
          : P<f32>, G<f32>, i64, i64, i64, i64""",
    )
    out = np.zeros((8, 64), np.float32)
    run(text, out, schedule=schedule)
    assert (out == np.arange(8)[:, np.newaxis]).all()


def test_an_empty_scope() -> None:
    run(module("", "pto.vecscope {\n}"))


def test_a_scope_of_thousands_of_instructions() -> None:
    lines = ["%v0 = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>"]
    lines += [f"%v{n + 1} = pto.vadd %v{n}, %v0, %all_b32 : V<f32>, V<f32>, M<b32> -> V<f32>" for n in range(1500)]
    lines += ["pto.vsts %v1500, %ub4096_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>"]
    after = ub_after("\n".join(lines), np.arange(64, dtype=np.float32))
    assert (after[4096:4352].view(np.float32) == 1501 * np.arange(64)).all()


# --- memories ---------------------------------------------------------------------------------------------------------


def test_every_block_begins_with_empty_memories_and_registers() -> None:
    """UB is zero, AR is zero, loop sizes are one, whatever the block before has left."""
    text = module(
        "%x: G<i32>, %out: G<i32>",
        """%b = pto.get_block_idx
        %i = arith.index_cast %b : i64 to index
        %o = arith.muli %i, %c8 : index
        %y = pto.addptr %out, %o : G<i32> -> G<i32>
        pto.mte_ub_gm %ub_i32, %y, %c32_i64 nburst(%c1_i64, %c0_i64, %c0_i64) : P<i32>, G<i32>, i64, i64, i64, i64
        pto.barrier #pto.pipe<PIPE_ALL>
        pto.set_atomic_s32
        %no = arith.constant false
        pto.copy_gm_to_ubuf %x, %ub_i32, %c0_i64, %c1_i64, %c32_i64, %c0_i64, %c0_i64, %no, %c0_i64, %c32_i64, %c32_i64
          : G<i32>, P<i32>, i64, i64, i64, i64, i64, i1, i64, i64, i64
        pto.set_loop_size_outtoub %c4_i64, %c1_i64 : i64, i64
        pto.set_loop1_stride_outtoub %c32_i64, %c32_i64 : i64, i64""",
    )
    x, out = np.arange(1, 9, dtype=np.int32), np.full(24, 5, np.int32)
    run(text, x, out, grid=3)
    assert (out == 0).all()


def test_scalar_code_sees_its_own_stores() -> None:
    text = module(
        "%out: G<i32>",
        """pto.store_scalar %c7_i32, %ub_i32[%c3] : P<i32>, i32
        %a = pto.load_scalar %ub_i32[%c3] : P<i32> -> i32
        pto.store_scalar %a, %out[%c0] : G<i32>, i32
        %b = pto.load_scalar %out[%c0] : G<i32> -> i32
        %c = arith.addi %a, %b : i32
        pto.store_scalar %c, %out[%c1] : G<i32>, i32""",
    )
    for schedule in SCHEDULES:
        out = np.zeros(2, np.int32)
        run(text, out, schedule=schedule)
        assert out.tolist() == [7, 14]


def test_a_scope_may_load_and_store_scalars() -> None:
    body = """pto.store_scalar %c5_i16, %ub_i16[%c9] : P<i16>, i16
      %a = pto.load_scalar %ub_i16[%c9] : P<i16> -> i16
      %b = arith.addi %a, %a : i16
      pto.store_scalar %b, %ub_i16[%c9] : P<i16>, i16"""
    assert ub_after(body)[18:20].view(np.int16).tolist() == [10]
