"""The filter of a check: what is clean is not judged, what has a finding is, and the report is the reference's.

It sees the examples with one thing wrong in sanitize/test_mutation.py.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from example_scripts import script
from examples.test_tile_examples import NAMES as TILES
from ptosim.arguments import bind
from ptosim.checking import Launch, examine, observed, sifted
from ptosim.effects.catalogue import effects
from ptosim.native.observe.coverage import is_followed
from ptosim.native.observe.remark_conditions import COPIES, RULES
from ptosim.options import ENGINES
from ptosim.reference.catalogue import semantics_of
from sanitize.case import EXAMPLES, NAMES, SIZES, source
from sanitize.random_clusters import arguments as cluster_arguments
from sanitize.random_clusters import cluster as random_cluster
from sanitize.random_kernels import arguments as random_arguments
from sanitize.random_kernels import program as random_program
from sifting import assert_agrees
from tables import table

PROGRAMS = {False: 4, True: 2000}


def launch_of(kernel: ptosim.Kernel, arguments: Sequence[Any], grid: int = 1) -> Launch:
    return Launch(bind(kernel.signature, arguments), grid)


def judged_blocks(kernel: ptosim.Kernel, launch: Launch, blocks: Sequence[int] | None = None) -> set[int] | None:
    """Those that the filter hands to the judge; None where it does not cover the kernel."""
    found = sifted(kernel, launch, range(launch.grid) if blocks is None else blocks)
    return None if found is None else found.blocks


def as_text(report: Any) -> str:
    return json.dumps([report.to_json(), [note.to_json() for note in report.notes]], sort_keys=True)


def assert_sound(kernel: ptosim.Kernel, arguments: Sequence[Any], grid: int = 1) -> bool:
    """Findings are the same with either engine; gives whether the filter has passed the kernel as clean."""
    launch = launch_of(kernel, arguments, grid)
    judge = partial(observed, kernel, launch, "relaxed")
    return assert_agrees(kernel, launch, range(grid), judge(range(grid)), judge)


# --- examples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_clean_example_is_not_judged(name: str):
    launched = script(name).launch(**SIZES.get(name, {}))
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    blocks = judged_blocks(kernel, launch_of(kernel, launched.arguments, launched.grid))
    assert blocks == set()


@pytest.mark.parametrize("name", TILES)
def test_a_clean_tile_example_is_not_judged(name: str):
    launched = script(f"tiles/{name}").launch()
    kernel = ptosim.load(EXAMPLES / "tiles" / f"{name}.pto").kernel()
    assert judged_blocks(kernel, launch_of(kernel, launched.arguments, launched.grid)) == set()


def test_the_whole_report_is_the_same():
    launched = script("abs").launch()
    broken = source("abs").replace("pto.wait_flag", "// pto.wait_flag", 1)
    kernel = ptosim.load(broken).kernel()
    native, reference = (
        ptosim.check(kernel, *launched.arguments, grid=launched.grid, engine=engine)
        for engine in ("native", "reference")
    )
    assert native.findings
    assert as_text(native) == as_text(reference)


def test_random_programs(full: bool):
    clean = 0
    for seed in range(PROGRAMS[full]):
        kernel = ptosim.load(random_program(seed)).kernel()
        clean += assert_sound(kernel, random_arguments(seed))
    assert clean >= PROGRAMS[full] // 8, "the filter passes next to nothing"


# --- several cores ----------------------------------------------------------------------------------------------------

CLUSTERS = {False: 2, True: 200}


def test_random_clusters(full: bool):
    for seed in range(CLUSTERS[full]):
        kernel = ptosim.load(random_cluster(seed, care=0.97)).kernel()
        assert_sound(kernel, cluster_arguments(seed))


SIGNALS = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %l1 = pto.castptr %zero : i64 -> !pto.ptr<f32, l1>
    pto.section.cube {{
      pto.mte_gm_l1 %x, %l1, %bytes nburst(%one, %bytes, %bytes)
        : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64
      {cube}
      pto.barrier #pto.pipe<PIPE_ALL>
    }}
    pto.section.vector {{
      %me = pto.get_subblock_idx
      %first = arith.cmpi eq, %me, %zero : i64
      scf.if %first {{
        {vector}
      }}
      pto.barrier #pto.pipe<PIPE_ALL>
    }}
    return
  }}
}}
"""
OVER = """pto.mte_gm_ub %x, %ub, %zero, %bytes nburst(%one, %bytes, %bytes)
        : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
        pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
        pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
        {wait}
        pto.mte_ub_l1 %ub, %l1, %one nburst(%one, %zero, %zero)
          : !pto.ptr<f32, ub>, !pto.ptr<f32, l1>, i64, i64, i64, i64"""


@table(
    "signal, wait, clean",
    ("pto.set_intra_block <PIPE_MTE2>, 3", "pto.wait_intra_block <PIPE_MTE3>, 3", True),
    ("pto.set_intra_block <PIPE_MTE2>, 3", "pto.wait_intra_block <PIPE_MTE2>, 3", False),  # another pipe waits
    ("pto.set_intra_block <PIPE_MTE1>, 3", "pto.wait_intra_block <PIPE_MTE3>, 3", False),  # another one tells
    ("pto.set_intra_block <PIPE_MTE2>, 3", "", False),  # nobody waits
    ("", "pto.wait_intra_block <PIPE_MTE3>, 3", False),  # nobody tells
    ("", "", False),
)
def test_a_signal_orders_cores_of_a_cluster(signal: str, wait: str, clean: bool):
    """The cube core and a vector core write the same bytes of L1."""
    kernel = ptosim.load(SIGNALS.format(cube=signal, vector=OVER.format(wait=wait))).kernel()
    x = np.ones(64, "f4")
    assert judged_blocks(kernel, launch_of(kernel, [x])) == (set() if clean else {0})
    assert assert_sound(kernel, [x]) == clean


@pytest.mark.parametrize("sets, clean", [(2, True), (16, False)])
def test_a_semaphore_that_may_overflow_is_judged(sets: int, clean: bool):
    cube = "\n".join(["pto.set_intra_block <PIPE_MTE2>, 3"] * sets)
    vector = "\n".join(["pto.wait_intra_block <PIPE_MTE3>, 3"] * sets)
    kernel = ptosim.load(SIGNALS.format(cube=cube, vector=vector)).kernel()
    x = np.ones(64, "f4")
    assert judged_blocks(kernel, launch_of(kernel, [x])) == (set() if clean else {0})
    assert assert_sound(kernel, [x]) == clean


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("core, pipe", [("vector", "V"), ("cube", "MTE2")])
@pytest.mark.parametrize("verb, kind", [("set", "undrained"), ("wait", "unmatched-wait")])
def test_a_signal_of_a_core_that_is_alone_is_judged(target: str, core: str, pipe: str, verb: str, kind: str):
    """Nobody is there to wait for it, or to send it. (No module is written around the function.)"""
    mark = f"pto.kernel, pto.kernel_kind = #pto.kernel_kind<{core}>"
    body = f"    pto.sync.{verb} <PIPE_{pipe}>, 3\n    return\n"
    kernel = ptosim.load(f"func.func @k(%x: !pto.ptr<f32, gm>) attributes {{{mark}}} {{\n{body}}}\n", target).kernel()
    (found,) = ptosim.check(kernel, np.ones(64, "f4")).findings
    assert (found.kind, found.line) == (kind, 2)
    assert not assert_sound(kernel, [np.ones(64, "f4")])


def test_ids_off_by_one_are_judged():
    """The cube core reaches the second vector core with an offset of 16, not of 15."""
    cube = "pto.set_intra_block <PIPE_MTE2>, 3\npto.set_intra_block <PIPE_MTE2>, 18"
    text = SIGNALS.format(cube=cube, vector="pto.wait_intra_block <PIPE_MTE3>, 3")
    text = text.replace(
        "      }\n      pto.barrier", "      } else {\n pto.wait_intra_block <PIPE_MTE3>, 2\n }\n pto.barrier"
    )
    kernel = ptosim.load(text).kernel()
    assert_sound(kernel, [np.ones(64, "f4")])
    assert judged_blocks(kernel, launch_of(kernel, [np.ones(64, "f4")])) == {0}


# --- GM across blocks -------------------------------------------------------------------------------------------------

BLOCKS = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %block_i64 = pto.get_block_idx
    %block = arith.index_cast %block_i64 : i64 to index
    %step = arith.constant {step} : index
    %start = arith.muli %block, %step : index
    %from = pto.addptr %x, %start : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %to = pto.addptr {to}, %start : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    pto.mte_gm_ub %from, %ub, %zero, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %ub, %to, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


@table("step, to, judged", (64, "%y", 0), (64, "%x", 0), (63, "%y", 4), (63, "%x", 4), (65, "%y", 0))
def test_blocks_that_meet_in_gm_are_judged(step: int, to: str, judged: int):
    kernel = ptosim.load(BLOCKS.format(step=step, to=to)).kernel()
    arrays = [np.zeros(4 * 65, "f4"), np.zeros(4 * 65, "f4")]
    blocks = judged_blocks(kernel, launch_of(kernel, arrays, 4))
    assert blocks is not None
    assert len(blocks) == judged
    assert_sound(kernel, arrays, 4)


def test_arguments_that_share_memory_meet():
    kernel = ptosim.load(BLOCKS.format(step=64, to="%y")).kernel()
    array = np.zeros(5 * 64, "f4")
    blocks = judged_blocks(kernel, launch_of(kernel, [array[:256], array[64:]], 4))
    assert blocks == {0, 1, 2, 3}


def test_only_the_chosen_blocks_are_run():
    kernel = ptosim.load(BLOCKS.format(step=63, to="%y")).kernel()
    arrays = [np.zeros(4 * 65, "f4"), np.zeros(4 * 65, "f4")]
    launch = launch_of(kernel, arrays, 4)
    assert judged_blocks(kernel, launch, [0, 2]) == set()
    assert judged_blocks(kernel, launch, [0, 2, 3]) == {2, 3}
    reports = [
        as_text(ptosim.check(kernel, *arrays, grid=4, blocks=[0, 2, 3], engine=engine))
        for engine in ("native", "reference")
    ]
    assert reports[0] == reports[1]


def test_a_block_that_meets_one_that_failed_early_is_judged_with_it():
    """The judge tells of accesses that a block would have made behind the place where the filter ended it."""
    text = BLOCKS.format(step=63, to="%y").replace(
        "    pto.mte_gm_ub %from",
        "    %odd = arith.trunci %block_i64 : i64 to i1\n"
        "    scf.if %odd {\n"
        '      pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID3"]\n'
        '      pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID3"]\n'
        "    }\n"
        "    pto.mte_gm_ub %from",
    )
    kernel = ptosim.load(text).kernel()
    arrays = [np.zeros(4 * 65, "f4"), np.zeros(4 * 65, "f4")]
    reports = [as_text(ptosim.check(kernel, *arrays, grid=2, engine=engine)) for engine in ("native", "reference")]
    assert "race" in reports[0]
    assert reports[0] == reports[1]


@pytest.mark.parametrize("elements, left", [(256, False), (257, True)])
def test_bytes_that_no_block_writes_are_told_by_both_engines(elements: int, left: bool):
    kernel = ptosim.load(BLOCKS.format(step=64, to="%y")).kernel()
    arrays = [np.zeros(256, "f4"), np.zeros(elements, "f4")]
    reports = [ptosim.check(kernel, *arrays, grid=4, engine=engine) for engine in ENGINES]
    assert bool(reports[0].notes) == left
    assert [each.findings for each in reports] == [(), ()]
    assert as_text(reports[0]) == as_text(reports[1])


# --- as many findings as are wanted -----------------------------------------------------------------------------------

ODD = BLOCKS.format(step=64, to="%y").replace(
    "    pto.mte_gm_ub %from",
    "    %odd = arith.trunci %block_i64 : i64 to i1\n"
    "    scf.if %odd {\n"
    '      pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID3"]\n'
    "    }\n"
    "    pto.mte_gm_ub %from",
)
"""Every other block leaves a flag set."""


@pytest.mark.parametrize("engine", ENGINES)
def test_the_judge_stops_where_there_are_enough(engine: str):
    kernel = ptosim.load(ODD).kernel()
    arrays = [np.zeros(8 * 64, "f4"), np.zeros(8 * 64, "f4")]
    (every,) = ptosim.check(kernel, *arrays, grid=8, engine=engine).findings
    (first,) = ptosim.check(kernel, *arrays, grid=8, engine=engine, max_findings=1).findings
    assert (every.kind, every.count, every.block) == ("undrained", 4, 1)
    assert (first.kind, first.count, first.block) == ("undrained", 1, 1)


def test_findings_are_told_as_they_are_judged():
    kernel = ptosim.load(ODD).kernel()
    told: list[tuple[str, str, int | None]] = []
    launch = Launch(
        bind(kernel.signature, [np.zeros(256, "f4"), np.zeros(256, "f4")]),
        4,
        found=lambda severity, kind, place: told.append((severity, kind, place.line if place else None)),
    )
    report = examine(kernel, launch)
    assert told == [("warning", "undrained", report.findings[0].line)]


# --- what is not covered ----------------------------------------------------------------------------------------------

UNCOVERED = set((Path(__file__).parent / "uncovered.txt").read_text().split())
"""Instructions that send a kernel to the reference engine, however they are written. The list may only shrink; those of
workitems still have to. (It is no Python file: to be named in one counts as being tested.)"""

REMARKED_ELSEWHERE = set((Path(__file__).parent / "remarked.txt").read_text().split())
"""Instructions that the reference engine remarks on, and whose conditions are not among the rules but with the copy,
the access or the index that they are about. Collectives (sim.group) stand only in kernels whose blocks wait for each
other, and code of workitems only in kernels that launch them, which all are judged."""


def test_what_the_filter_does_not_cover():
    assert {name.removeprefix("pto.") for name, record in effects().items() if not is_followed(record)} == UNCOVERED


def test_every_remark_of_the_reference_engine_has_its_condition():
    """A lint that the filter knew nothing of would be missed."""
    remarking = {name for name in effects() if (found := semantics_of(name)) is not None and _remarks(found.function)}
    followed = {name for name in remarking if is_followed(effects()[name])}
    assert {name.removeprefix("pto.") for name in followed - RULES.keys() - COPIES.keys()} == REMARKED_ELSEWHERE


REMARKS = {"lint", "complain", "idle", "stray"}
OF_THE_ENGINE = ("ptosim.reference.", "ptosim.language.analysis.parameter_binding")
"""Its own functions, and what hands them their operands."""


def _remarks(function: Any, seen: set[Any] | None = None) -> bool:
    """Whether a function of the reference engine, or one of its own that it calls, tells an observer something."""
    seen = set() if seen is None else seen
    code = getattr(function, "__code__", None)
    if code is None or function in seen or not function.__module__.startswith(OF_THE_ENGINE):
        return False
    seen.add(function)
    names = {name for each in _codes(code) for name in each.co_names}
    inside = [cell.cell_contents for cell in function.__closure__ or ()]
    called = [function.__globals__[name] for name in names if name in function.__globals__]
    methods = [
        getattr(each, name) for each in called if isinstance(each, type) for name in names if hasattr(each, name)
    ]
    return bool(REMARKS & names) or any(_remarks(other, seen) for other in (*inside, *called, *methods))


def _codes(code: Any) -> Iterator[Any]:
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            yield from _codes(constant)


# --- streams ----------------------------------------------------------------------------------------------------------

STREAM = """      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %f = arith.constant 1.0 : f32
      %v = pto.vdup %f, %all : f32, !pto.mask<b32> -> !pto.vreg<64xf32>
      %count = arith.constant {count} : i32
      %a0 = pto.init_align : !pto.align
      %a1, %end = pto.vstus %a0, %count, %v, %ub
        : !pto.align, i32, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align, !pto.ptr<f32, ub>
      {rest}
"""
FLUSH = """%none = arith.constant 0 : i32
      pto.vstas %a1, %end, %none : !pto.align, !pto.ptr<f32, ub>, i32"""
LATE = """%c0 = arith.constant 0 : index
      %w = pto.vlds %ub[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      %far = pto.castptr %bytes : i64 -> !pto.ptr<f32, ub>
      pto.vsts %w, %far[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      """


@table(
    "count, rest, clean",
    (64, FLUSH, True),
    (64, "", True),  # whole granules: nothing is held back
    (60, "", False),  # half a granule never reaches UB
    (60, FLUSH, False),  # the copy reads what no store has defined
    (60, 'pto.mem_bar "VST_VLD"\n      ' + LATE + FLUSH, False),  # a load of what is held back
)
def test_a_store_stream(count: int, rest: str, clean: bool):
    kernel = ptosim.load(ALONE.format(STREAM.format(count=count, rest=rest))).kernel()
    y = np.zeros(64, "f4")
    assert judged_blocks(kernel, launch_of(kernel, [y])) == (set() if clean else {0})
    assert assert_sound(kernel, [y]) == clean


UNALIGNED = """      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %c0 = arith.constant 0 : index
      %f = arith.constant 1.0 : f32
      %v = pto.vdup %f, %all : f32, !pto.mask<b32> -> !pto.vreg<64xf32>
      %far = pto.castptr %bytes : i64 -> !pto.ptr<f32, ub>
      pto.vsts %v, %far[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      pto.mem_bar "VV_ALL"
      %offset = arith.constant {offset} : index
      %w = pto.uvld %ub[%offset] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      %some = pto.pset_b32 "{mask}" : !pto.mask<b32>
      %kept = pto.vsel %w, %v, %some : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %kept, %ub[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
"""


@table(
    "offset, mask, clean",
    (64, "PAT_ALL", True),
    (67, "PAT_ALL", False),
    (96, "PAT_VL32", True),
    (97, "PAT_VL32", False),
)
def test_a_register_that_lies_anywhere(offset: int, mask: str, clean: bool):
    """UB is defined from byte 256 to byte 512; lanes that lie elsewhere are doubtful and must not be stored."""
    kernel = ptosim.load(ALONE.format(UNALIGNED.format(offset=offset, mask=mask))).kernel()
    y = np.zeros(64, "f4")
    assert judged_blocks(kernel, launch_of(kernel, [y])) == (set() if clean else {0})
    assert assert_sound(kernel, [y]) == clean


# --- rules that are easily got wrong ----------------------------------------------------------------------------------


def test_a_masked_store_of_blocks_defines_only_the_lanes_of_its_mask():
    text = ALONE.format(
        '      %some = pto.pset_b32 "PAT_VL4" : !pto.mask<b32>\n'
        "      %one = arith.constant 1 : i16\n"
        "      %none = arith.constant 0 : i16\n"
        '      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>\n'
        "      %f = arith.constant 1.0 : f32\n"
        "      %v = pto.vdup %f, %all : f32, !pto.mask<b32> -> !pto.vreg<64xf32>\n"
        "      pto.vsstb %v, %ub, %one, %none, %some\n"
        "        : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, i16, i16, !pto.mask<b32>\n"
    )
    kernel = ptosim.load(text).kernel()
    y = np.zeros(64, "f4")
    assert judged_blocks(kernel, launch_of(kernel, [y])) == {0}
    assert_sound(kernel, [y])
    full = ptosim.load(text.replace("PAT_VL4", "PAT_ALL")).kernel()
    assert judged_blocks(full, launch_of(full, [y])) == set()


ALONE = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%y: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %one_i64 = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    pto.vecscope {{
{}    }}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %ub, %y, %bytes nburst(%one_i64, %bytes, %bytes)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""
