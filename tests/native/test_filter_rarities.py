"""Printing, strided accesses, scatters and fills under the filter of a check: clean kernels are passed, and what the
reference engine complains of is judged."""

import re
from collections.abc import Sequence

import numpy as np
import pytest

import ptosim
from native.cube_kernels import filled_matrix
from native.test_sieve import ALONE, ODD, STREAM, assert_sound, judged_blocks, launch_of
from ptosim.native.observe import scopes
from ptosim.options import ENGINES
from tables import table
from tile_programs import Given
from tiles.test_table import INDICES, SCATTER, UNDEFINED, some, source


def assert_judged(kernel: ptosim.Kernel, arguments: Sequence[object], clean: bool) -> None:
    """A clean kernel is passed, another one is not, and both engines say the same of it."""
    assert judged_blocks(kernel, launch_of(kernel, arguments)) == (set() if clean else {0})
    assert assert_sound(kernel, arguments) == clean


# --- printing ---------------------------------------------------------------------------------------------------------

PRINTING = ALONE.format("""      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %c0 = arith.constant 0 : index
      %f = arith.constant 1.0 : f32
      %v = pto.vdup %f, %all : f32, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %v, %ub[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
""").replace("    pto.set_flag", '    pto.print "%d bytes", %bytes : i64\n    pto.set_flag')


@pytest.mark.parametrize("clean", [True, False])
def test_a_kernel_that_prints_does_so_once(clean: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """Whether it is run, checked or profiled, and though edited texts are tried for a hint."""
    kernel = ptosim.load(PRINTING if clean else PRINTING.replace("pto.wait_flag", "// pto.wait_flag")).kernel()
    x = np.zeros(64, "f4")
    for engine in ENGINES:
        assert ptosim.check(kernel, x, engine=engine).ok == clean
        assert capfd.readouterr().out == "b0.aiv0: 256 bytes\n"
        ptosim.profile(kernel, x, engine=engine)
        assert capfd.readouterr().out == "b0.aiv0: 256 bytes\n"
        kernel(x, engine=engine)
        assert capfd.readouterr().out == "b0.aiv0: 256 bytes\n"
    assert judged_blocks(kernel, launch_of(kernel, [x])) == (set() if clean else {0})


SOME_BLOCKS = ODD.replace("    pto.mte_gm_ub %from", '    pto.print "begun"\n    pto.mte_gm_ub %from').replace(
    "    return", '    pto.print "block %ld", %block_i64 : i64\n    return'
)
"""Of each pair of blocks the second one is judged."""


@pytest.mark.parametrize(("most", "last"), [(None, 3), (1, 1)])
def test_blocks_that_are_judged_print_in_their_turn(
    most: int | None, last: int, capfd: pytest.CaptureFixture[str]
) -> None:
    kernel = ptosim.load(SOME_BLOCKS).kernel()
    arrays = [np.zeros(256, "f4"), np.zeros(256, "f4")]
    assert judged_blocks(kernel, launch_of(kernel, arrays, 4)) == {1, 3}
    capfd.readouterr()
    for engine in ENGINES:
        ptosim.check(kernel, *arrays, grid=4, max_findings=most, engine=engine)
        lines = [f"b{block}.aiv0: {text}" for block in range(last + 1) for text in ("begun", f"block {block}")]
        assert capfd.readouterr().out.splitlines() == lines


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_that_has_to_be_repeated_prints_once(engine: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Whether a load uses what is copied too early is found out by another run; a profile is left to the other engine
    where a flag is set twice."""
    flags = ['pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', 'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]']
    lines = ['pto.print "once"', BRACKETS["MTE2"], *flags, BRACKETS["V"], BRACKETS["MTE2"].replace("%x", "%y")]
    arrays = [np.zeros(64, "f4"), np.ones(64, "f4")]
    assert not ptosim.check(bracketed(lines), *arrays, engine=engine).ok
    assert capfd.readouterr().out == "b0.aiv0: once\n"
    ptosim.profile(bracketed([*lines, flags[0], *flags, flags[1]]), *arrays, engine=engine)
    assert capfd.readouterr().out == "b0.aiv0: once\n"


# --- every n-th unit --------------------------------------------------------------------------------------------------

UNITS = {"STRIDE_S3_B16": (3, 2), "STRIDE_S4_B64": (4, 8), "STRIDE_S8_B32": (8, 4), "STRIDE_S2_B64": (2, 8)}
STRIDED = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %read = arith.constant {read} : i64
    %bytes = arith.constant {bytes} : i64
    %there = arith.constant 4096 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %out = pto.castptr %there : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %ub, %zero, %read nburst(%one, %read, %read)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.vecscope {{
      %c0 = arith.constant 0 : index
      %from = arith.constant {source} : index
      %to = arith.constant {dest} : index
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
{body}
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
LOAD = """      %v = pto.vsld %ub[%from], "{stride}" : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      pto.vsts %v, %out[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>"""
AGAIN = """      %v = pto.vlds %ub[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      {cleared}
      pto.mem_bar "VV_ALL"
      pto.vsst %v, %out[%to], "{stride}" : !pto.vreg<64xf32>, !pto.ptr<f32, ub>"""
CLEARED = """%n = arith.constant 2048 : index
      %s = arith.constant 64 : index
      scf.for %i = %c0 to %n step %s {
        pto.vsts %v, %out[%i], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      }"""


def strided(body: str, **facts: object) -> ptosim.Kernel:
    given = {"read": 4096, "bytes": 256, "source": 0, "dest": 0, "cleared": "", **facts}
    return ptosim.load(STRIDED.format(body=body.format(**given), **given)).kernel()


ARRAYS = [np.ones(1024, "f4"), np.zeros(1024, "f4")]


@pytest.mark.parametrize("stride", UNITS)
@pytest.mark.parametrize("source", [0, 2, 8])
def test_a_strided_load_needs_the_units_that_it_takes(stride: str, source: int) -> None:
    """The copy fills just as many bytes as it needs, or four too few."""
    every, size = UNITS[stride]
    end = 4 * source + (256 // size - 1) * every * size + size
    whole = -(-end // 4) * 4
    assert_judged(strided(LOAD, stride=stride, source=source, read=whole), ARRAYS, True)
    assert_judged(strided(LOAD, stride=stride, source=source, read=whole - 4), ARRAYS, False)


@pytest.mark.parametrize("stride", UNITS)
def test_a_strided_load_races(stride: str) -> None:
    text = STRIDED.format(body=LOAD.format(stride=stride), read=4096, bytes=256, source=1, dest=0)
    kernel = ptosim.load(re.sub(r"\n *pto.(set|wait)_flag\[\"PIPE_MTE2.*", "", text)).kernel()
    assert_judged(kernel, ARRAYS, False)


@pytest.mark.parametrize("stride", UNITS)
@pytest.mark.parametrize("dest", [0, 6])
def test_a_strided_store_defines_the_units_that_it_writes(stride: str, dest: int) -> None:
    """What lies between stays as it was."""
    every, size = UNITS[stride]
    first = 4 * dest
    assert_judged(strided(AGAIN, stride=stride, dest=dest, cleared=CLEARED, bytes=first + 2048), ARRAYS, True)
    assert_judged(strided(AGAIN, stride=stride, dest=dest, bytes=first + every * size + size), ARRAYS, False)
    if size >= 4 and not dest:  # the first unit alone
        assert_judged(strided(AGAIN, stride=stride, bytes=size), ARRAYS, True)


@pytest.mark.parametrize("stride", UNITS)
def test_a_strided_access_in_the_same_scope_aliases_a_store(stride: str) -> None:
    """Without the fence the store meets what the scope has stored before; units between that were stored do no harm."""
    kernel = strided(AGAIN.replace('pto.mem_bar "VV_ALL"', ""), stride=stride, cleared=CLEARED)
    assert_judged(kernel, ARRAYS, False)


# --- scatters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["f32", "f16", "i8"])
@pytest.mark.parametrize(("what", "count"), [("row", 8), ("elem", 256)])
def test_a_scatter_to_a_table(what: str, count: int, element: str) -> None:
    """No two to one place; two that go there; and without what has to come before."""
    random = np.random.default_rng(count)
    tiles = {"s": Given(f"8x32x{element}"), "i": Given("1x8xi32" if what == "row" else "8x32xi32")}
    plain = SCATTER.format(what, "none", "undefined").replace("last", "default")
    text = source(plain, tiles, element, 20, 32, "a5")
    numbers = random.permutation(20 if what == "row" else 640)[:count]
    twice = numbers.copy()
    twice[-1] = numbers[count // 3]
    for chosen, clean in ((numbers, True), (twice, False)):
        tiles["i"].holds = chosen.reshape(tiles["i"].rows, tiles["i"].cols)
        arguments = [*(tile.image() for tile in tiles.values()), some(element, 20, 32)]
        assert_judged(ptosim.load(text).kernel(), arguments, clean)
        assert_judged(ptosim.load(text.replace("conflict default", "conflict last")).kernel(), arguments, True)
    for missing in ("pto.barrier", "pto.tload"):
        place = text.index(missing)
        without = text[:place] + text[text.index("\n", place) :]
        assert not assert_sound(ptosim.load(without, sync="written").kernel(), arguments)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize(("rows", "clean"), [(3, True), (2, False)])
def test_a_row_that_no_index_sends_anywhere_is_not_looked_at(rows: int, clean: bool, target: str) -> None:
    text = UNDEFINED.format(rows=rows, indices=INDICES, operation=SCATTER.format("row", "none", "skip"), target=target)
    for word, type_ in (("MEM", "partition_tensor_view<20x32xf32"), ("S", "tile_buf<vec, 8x32xf32")):
        text = re.sub(rf"\b{word}\b", f"!pto.{type_}>", text)
    text = re.sub(r"\bI\b", "!pto.tile_buf<vec, 1x8xi32>", text)
    assert_judged(ptosim.load(text).kernel(), [np.zeros((20, 32), "f4")], clean)


# --- streams ----------------------------------------------------------------------------------------------------------

FLUSH = "pto.vstas %a1, %end, %none : !pto.align, !pto.ptr<f32, ub>, i32"
ARMS = f"""%none = arith.constant 0 : i32
      %taken = arith.constant TAKEN : i1
      scf.if %taken {{
        {FLUSH}
      }} else {{
        OTHERWISE
      }}"""


@table("taken, otherwise, clean", (1, FLUSH, True), (0, FLUSH, True), (1, "", True), (0, "", False))
def test_a_stream_that_ends_in_two_arms(taken: int, otherwise: str, clean: bool) -> None:
    rest = ARMS.replace("TAKEN", str(taken)).replace("OTHERWISE", otherwise)
    text = ALONE.format(STREAM.format(count=60, rest=rest)).replace("constant 256", "constant 240")
    assert_judged(ptosim.load(text).kernel(), [np.zeros(64, "f4")], clean)


CALLED = ALONE.format("      func.call @stream(%ub) : (!pto.ptr<f32, ub>) -> ()\n").replace(
    "  func.func @kernel",
    "  func.func @stream(%ub: !pto.ptr<f32, ub>) {\n    %none = arith.constant 0 : i32\n"
    + STREAM.format(count=60, rest=FLUSH)
    + "    return\n  }\n  func.func @kernel",
)


@pytest.mark.parametrize("most", [5, 10_000])
@pytest.mark.parametrize("clean", [True, False])
def test_a_stream_of_a_function_that_a_scope_calls(most: int, clean: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built in place of its call, or called."""
    monkeypatch.setattr(scopes, "MOST_UNFOLDED", most)
    text = CALLED.replace("constant 256", "constant 240")
    kernel = ptosim.load(text if clean else text.replace(FLUSH, "")).kernel()
    assert_judged(kernel, [np.zeros(64, "f4")], clean)


LOOPS = """%none = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %b1, %next = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %a1, %p = %end) -> (!pto.align, !pto.ptr<f32, ub>) {
        %s1, %p1 = pto.vstus %s, %count, %v, %p
          : !pto.align, i32, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align, !pto.ptr<f32, ub>
        scf.yield %s1, %p1 : !pto.align, !pto.ptr<f32, ub>
      }
      pto.vstas %b1, %next, %none : !pto.align, !pto.ptr<f32, ub>, i32
      %c2, %last = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %a1, %p = %next) -> (!pto.align, !pto.ptr<f32, ub>) {
        %s1, %p1 = pto.vstus %s, %count, %v, %p
          : !pto.align, i32, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align, !pto.ptr<f32, ub>
        scf.yield %s1, %p1 : !pto.align, !pto.ptr<f32, ub>
      }
      pto.vstas %c2, %last, %none : !pto.align, !pto.ptr<f32, ub>, i32"""


@pytest.mark.parametrize(("count", "clean"), [(64, True), (60, False)])
def test_a_stream_that_two_loops_take(count: int, clean: bool) -> None:
    """What it holds exists once; a stream of whole blocks holds nothing."""
    text = ALONE.format(STREAM.format(count=count, rest=LOOPS)).replace("constant 256", f"constant {12 * count}")
    assert_judged(ptosim.load(text).kernel(), [np.zeros(192, "f4")], clean)


AGAIN_AND_AGAIN = """%none = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %fresh = pto.init_align : !pto.align
      %same = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %fresh) -> (!pto.align) {
        pto.vstas %s, %end, %none : !pto.align, !pto.ptr<f32, ub>, i32
        pto.mem_bar "VST_VST"
        scf.yield %a1 : !pto.align
      }
      %there = arith.constant 4096 : i64
      %far = pto.castptr %there : i64 -> !pto.ptr<f32, ub>
      %b0 = pto.init_align : !pto.align
      %b1 = pto.vstus %b0, %count, %v, %far
        : !pto.align, i32, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align"""


@pytest.mark.parametrize(("count", "clean"), [(64, True), (60, False)])
def test_a_stream_that_every_iteration_takes(count: int, clean: bool) -> None:
    """It is flushed twice, which must not make up for another one that is not flushed at all."""
    text = ALONE.format(STREAM.format(count=count, rest=AGAIN_AND_AGAIN))
    kernel = ptosim.load(text.replace("constant 256", f"constant {4 * count}")).kernel()
    assert_judged(kernel, [np.zeros(64, "f4")], clean)


# --- stores that combine ----------------------------------------------------------------------------------------------

COMBINED = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<{type}, gm>, %y: !pto.ptr<{type}, gm>) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<{type}, ub>
    pto.mte_gm_ub %x, %ub, %zero, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<{type}, gm>, !pto.ptr<{type}, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    {how}
    pto.mte_ub_gm %ub, %y, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<{type}, ub>, !pto.ptr<{type}, gm>, i64, i64, i64, i64
    {then}
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""
AGAIN_PLAIN = """pto.set_atomic_none
    pto.mte_ub_gm %ub, %y, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<i32, ub>, !pto.ptr<i32, gm>, i64, i64, i64, i64"""


@table(
    "type_, how, then, clean",
    ("i32", "pto.set_atomic_add\n    pto.set_atomic_s32", "", True),
    ("i32", "pto.set_atomic_max\n    pto.set_atomic_s32", "", True),
    ("f32", "pto.set_atomic_min\n    pto.set_atomic_f32", "", True),
    ("f32", "pto.set_atomic_add\n    pto.set_atomic_f32", "", False),  # a sum that depends on the order
    ("i32", "pto.set_atomic_add\n    pto.set_atomic_s32", AGAIN_PLAIN, False),
    ("i32", "", "", False),
)
def test_blocks_that_combine_what_they_store(type_: str, how: str, then: str, clean: bool) -> None:
    kernel = ptosim.load(COMBINED.format(type=type_, how=how, then=then)).kernel()
    arrays = [np.arange(64).astype("i4" if type_ == "i32" else "f4") for _ in range(2)]
    assert judged_blocks(kernel, launch_of(kernel, arrays, 3)) == (set() if clean else {0, 1, 2})
    assert assert_sound(kernel, arrays, 3) == clean


# --- brackets of buffers in other modes -------------------------------------------------------------------------------

BRACKETS = {
    "MTE2": "pto.mte_gm_ub %x, %ub, %zero, %bytes nburst(%one, %bytes, %bytes)\n"
    "      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64",
    "V": """pto.vecscope {
      %c0 = arith.constant 0 : index
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vlds %ub[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      pto.vsts %v, %out[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }""",
    "MTE3": "pto.mte_ub_gm %out, %y, %bytes nburst(%one, %bytes, %bytes)\n"
    "      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64",
}


def bracketed(lines: Sequence[str]) -> ptosim.Kernel:
    """A kernel of these lines."""
    head, _, rest = COMBINED.format(type="f32", how="", then="").partition("    pto.mte_gm_ub")
    out = "    %out = pto.castptr %bytes : i64 -> !pto.ptr<f32, ub>\n    "
    return ptosim.load(head + out + "\n    ".join(lines) + "\n" + rest[rest.index("    pto.barrier") :]).kernel()


@table(
    "modes, clean",
    ("00 00 00", True),
    ("11 00 00", True),  # a release in mode 1 tells at least as much
    ("00 01 00", False),  # got in one mode and released in the other
    ("00 11 00", False),  # a get in mode 1 does not wait
    ("00 00 11", False),
)
def test_brackets_of_a_buffer(modes: str, clean: bool) -> None:
    lines: list[str] = []
    for (pipe, work), (get, release) in zip(BRACKETS.items(), modes.split(), strict=True):
        lines += [f'pto.get_buf "PIPE_{pipe}", 3, {get}', work, f'pto.rls_buf "PIPE_{pipe}", 3, {release}']
    assert_judged(bracketed(lines), [np.ones(64, "f4"), np.zeros(64, "f4")], clean)


@table("modes, judged", ("%mode %mode 0 0 0 0", ()), ("0 0 %mode %mode 0 0", (1,)), ("0 %mode 0 0 0 0", (1,)))
def test_modes_that_are_computed(modes: str, judged: Sequence[int]) -> None:
    """That of a block is its number."""
    ways = iter(f"{mode} : i64" if mode.startswith("%") else mode for mode in modes.split())
    lines = ["%mode = pto.get_block_idx"]
    for pipe, work in BRACKETS.items():
        lines += [f'pto.get_buf "PIPE_{pipe}", 3, {next(ways)}', work, f'pto.rls_buf "PIPE_{pipe}", 3, {next(ways)}']
    kernel, arrays = bracketed(lines), [np.ones(64, "f4"), np.zeros(64, "f4")]
    for block in range(2):
        found = judged_blocks(kernel, launch_of(kernel, arrays, 2), [block])
        assert found == ({block} if block in judged else set())
        reports = [str(ptosim.check(kernel, *arrays, grid=2, blocks=[block], engine=each)) for each in ENGINES]
        assert reports[0] == reports[1]
        assert (": error: " in reports[0] or ": warning: " in reports[0]) == (block in judged)


# --- fills ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["", "pto.raw_fill_l1", "pto.set_flag", "pto.wait_flag"])
def test_a_filled_matrix(missing: str) -> None:
    text, arrays = filled_matrix()
    if missing:
        end = r"[^:]*:.*" if "fill" in missing else ".*"  # its types stand in the next line
        text = re.sub(missing + end, "", text, count=1)
    assert assert_sound(ptosim.load(text).kernel(), [array.copy() for array in arrays]) == (not missing)


# --- copies to several arrays -----------------------------------------------------------------------------------------


def stored(name: str, columns: int) -> str:
    """A row of ones at the start of an array."""
    tile, part = f"!pto.tile_buf<vec, 1x{columns}xf32>", f"!pto.partition_tensor_view<1x{columns}xf32>"
    return f"""
      %{name}{columns} = pto.make_tensor_view %{name}, shape = [%c1, %c{columns}], strides = [%c{columns}, %c1]
        : !pto.tensor_view<1x{columns}xf32>
      %p{name}{columns} = pto.partition_view %{name}{columns}, offsets = [%c0, %c0], sizes = [%c1, %c{columns}]
        : !pto.tensor_view<1x{columns}xf32> -> {part}
      pto.tstore ins(%t{columns} : {tile}) outs(%p{name}{columns} : {part})"""


def filled(columns: int) -> str:
    tile = f"!pto.tile_buf<vec, 1x{columns}xf32>"
    return f"""
    %c{columns} = arith.constant {columns} : index
    %t{columns} = pto.alloc_tile : {tile}
    pto.texpands ins(%one : f32) outs(%t{columns} : {tile})"""


SEVERAL = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%y: !pto.ptr<f32>, %z: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %none = arith.constant 0 : i64{filled(64)}{filled(32)}
    %block = pto.get_block_idx
    %is_first = arith.cmpi eq, %block, %none : i64
    scf.if %is_first {{{stored("y", 64)}{stored("z", 64)}
    }} else {{{stored("z", 32)}
    }}
    return
  }}
}}
"""


def test_rows_of_several_arrays_are_no_rows_of_one_copy() -> None:
    """The stores of 64 columns are one piece of code: what it has stored in one array and then in the other does not
    lie in the first one alone."""
    kernel, arrays = ptosim.load(SEVERAL).kernel(), [np.zeros(64, "f4"), np.zeros(64, "f4")]
    assert judged_blocks(kernel, launch_of(kernel, arrays)) == set()
    assert judged_blocks(kernel, launch_of(kernel, arrays, 2)) == {0, 1}
    assert not assert_sound(kernel, arrays, 2)
    assert [found.kind for found in ptosim.check(kernel, *arrays, grid=2).findings] == ["race"]


# --- long scopes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("again", "clean"), [(7, True), (3, False)])
def test_a_scope_with_very_many_loads_is_judged(again: int, clean: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of seven registers is doubled where it lies; the last store may go to bytes that another load has read."""
    monkeypatch.setattr(scopes, "MOST_LOOKS", 10)
    steps = "".join(
        f"""      %to{n} = arith.constant {64 * (n if n < 7 else again)} : index
      %v{n} = pto.vlds %ub[%at{n}] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      %w{n} = pto.vadd %v{n}, %v{n}, %all : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %w{n}, %ub[%to{n}], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
"""
        for n in range(8)
    )
    filled = "".join(
        f"      pto.vsts %one, %ub[%at{n}], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>\n"
        for n in range(8)
    )
    places = "".join(f"      %at{n} = arith.constant {64 * n} : index\n" for n in range(8))
    text = ALONE.format(f"""      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %f = arith.constant 1.0 : f32
      %one = pto.vdup %f, %all : f32, !pto.mask<b32> -> !pto.vreg<64xf32>
{places}{filled}      pto.mem_bar "VV_ALL"
{steps}""")
    kernel = ptosim.load(text).kernel()
    arguments = [np.zeros(64, "f4")]
    assert not assert_sound(kernel, arguments)
    assert (not ptosim.check(kernel, *arguments).findings) == clean
