"""Advice: the first names the way in which a kernel was made slower, and carrying it out gains what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main
from ptosim.report.profile import Profile
from workitem_programs import section

EXAMPLES = Path(__file__).parents[2] / "examples"
ABS = (EXAMPLES / "abs.pto").read_text()
BARRIER = "    pto.barrier #pto.pipe<PIPE_ALL>\n"


def profiled(text: str, *arguments: object) -> Profile:
    kernel = ptosim.load(text).kernel()
    return ptosim.profile(kernel, *(arguments or kernel.example_arguments()))


def holds(slow: str, quick: str, kind: str, line: str, *arguments: object) -> None:
    """The first advice for the slow one, and what the quick one gains."""
    before, after = profiled(slow, *arguments), profiled(quick, *arguments)
    first = before.advice[0]
    number = next(number for number, text in enumerate(slow.split("\n"), 1) if line in text)
    assert first.kind == kind and number in first.lines, list(map(str, before.advice))
    gain = before.cycles - after.cycles
    assert gain > 0 and abs(first.cycles - gain) <= 0.1 * gain, (first, gain)
    assert abs(first.share - first.cycles / before.cycles) < 1e-9
    assert not any(each.kind == kind and number in each.lines for each in after.advice)


def test_a_second_buffer() -> None:
    x = np.ones((64, 1024), np.float32)
    texts = [(EXAMPLES / f"{name}.pto").read_text() for name in ("singlebuffer", "pingpong")]
    holds(*texts, "second-buffer", 'pto.wait_flag["PIPE_V", "PIPE_MTE2"', x, np.zeros_like(x), 64, 1024)


@pytest.mark.parametrize("name", ["pingpong", "buffers", "add"])
def test_a_barrier_that_pairs_replace(name: str) -> None:
    """Behind each store of a loop that is ordered without it."""
    quick = (EXAMPLES / f"{name}.pto").read_text()
    lines = quick.split("\n")
    store = next(number for number, text in enumerate(lines) if "pto.mte_ub_gm" in text)
    place = store + 1 + lines[store + 1].lstrip().startswith(":")
    slow = "\n".join([*lines[:place], BARRIER.rstrip(), *lines[place:]])
    kernel = ptosim.load(quick).kernel()
    holds(slow, quick, "narrower-barrier", BARRIER.strip(), *kernel.example_arguments())


def test_rows_that_are_joined() -> None:
    """32 copies of a row each."""
    copy = """    pto.mte_gm_ub %x, %in, %c0_i64, %c128_i64 nburst(%c32_i64, %c128_i64, %c128_i64)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
"""
    row = """    %one = arith.constant 1 : i64
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    scf.for %r = %c0 to %c32 step %c1 {
      %at = arith.muli %r, %c32 : index
      %xr = pto.addptr %x, %at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %ir = pto.addptr %in, %at : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
      pto.mte_gm_ub %xr, %ir, %c0_i64, %c128_i64 nburst(%one, %c128_i64, %c128_i64)
        : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    }
"""
    assert ABS.count(copy) == 1
    holds(ABS.replace(copy, row), ABS, "joined-rows", "pto.mte_gm_ub %xr")


def test_scopes_that_are_fused() -> None:
    """|x| of each quarter in a scope of its own: another launch of the function for each."""
    begin, end = ABS.index("    pto.vecscope {"), ABS.index('    pto.set_flag["PIPE_V", "PIPE_MTE3"')
    whole = ABS[begin:end]
    halves = whole.replace("to %c1024", "to %c512").replace("_:1", "h:1") + whole.replace("%c0 to", "%c512 to")
    slow = ABS[:begin] + "    %c512 = arith.constant 512 : index\n" + halves + ABS[end:]
    before, after = profiled(slow), profiled(ABS)
    (first, *_) = before.advice
    assert first.kind == "fused-scopes" and len(first.lines) == 2
    assert abs(first.cycles - (before.cycles - after.cycles)) <= 0.1 * first.cycles


def test_lanes_that_are_filled() -> None:
    """Sixteen elements a time, where a register has 64."""
    step, mask = "to %c1024 step %c64", "%mask, %next = pto.plt_b32 %remaining : i32 -> !pto.mask<b32>, i32"
    assert step in ABS and mask in ABS
    narrow = """%mask = pto.pset_b32 "PAT_VL16" : !pto.mask<b32>
        %c16_i32 = arith.constant 16 : i32
        %next = arith.subi %remaining, %c16_i32 : i32"""
    slow = ABS.replace(step, "to %c1024 step %c16").replace(mask, narrow)
    slow = slow.replace("    pto.vecscope {", "    %c16 = arith.constant 16 : index\n    pto.vecscope {")
    holds(slow, ABS, "wasted-lanes", "pto.vecscope")
    assert "75 % of them are idle" in str(profiled(slow).advice[0])


ROWS = """
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %pitch = arith.constant 64 : index
      %row = arith.muli %i, %pitch : index
      %sum = scf.for %j = %c0 to %c64 step %c1 iter_args(%s = %t) -> (i32) {
        %at = arith.addi %row, %j : index
        %v = pto.load %ub[%at] : !pto.ptr<i32, ub> -> i32
        %u = arith.addi %s, %v : i32
        scf.yield %u : i32
      }
      pto.store %sum, %x[%i] : !pto.ptr<i32, gm>, i32
"""


def test_words_of_a_warp_in_banks_of_their_own() -> None:
    """Each workitem sums a row of 256 bytes: all words of a column lie in one bank. Eight bytes more spread them."""
    slow, quick = (
        section(
            ROWS.replace("constant 64 : index\n      %row", f"constant {pitch} : index\n      %row"),
            ["%x: !pto.ptr<i32, gm>"],
            "128, 1, 1",
        )
        for pitch in (64, 66)
    )
    holds(slow, quick, "bank-conflicts", "%v = pto.load", np.zeros(128, "i4"))


def test_workitems_of_a_warp_that_go_one_way() -> None:
    """Even and odd ones part; the same by warps."""
    work = "\n".join(f"%d{n} = arith.divsi %t, %c16 : i32" for n in range(60))
    branch = f"%p = arith.cmpi eq, %bit, %n0 : i32\nscf.if %p {{ {work} }} else {{ {work.replace('%d', '%e')} }}"
    head = "%n0 = arith.constant 0 : i32\n%n1 = arith.constant 1 : i32\n%c16 = arith.constant 16 : i32\n"
    warps = "%n5 = arith.constant 5 : i32\n%w = arith.shrui %t, %n5 : i32\n"
    body = f"{head}{warps}%bit = arith.andi %t, %n1 : i32\n{branch}"
    slow, quick = (
        section(text, ["%x: !pto.ptr<i32, gm>"], "256, 1, 1") for text in (body, body.replace("%t, %n1", "%w, %n1"))
    )
    holds(slow, quick, "divergence", "scf.if", np.zeros(256, "i4"))


def test_the_use_of_lanes_by_instruction() -> None:
    """A tail of 40 elements behind fifteen whole registers: abs and store leave lanes idle, the load does not."""
    text = ABS.replace("arith.constant 1024 : i32", "arith.constant 1000 : i32")
    assert text != ABS
    mix = {use.name: use for use in profiled(text).instructions}
    assert {name: use.count for name, use in mix.items()} == {"pto.vlds": 16, "pto.vabs": 16, "pto.vsts": 16}
    assert mix["pto.vabs"].lane_use == mix["pto.vsts"].lane_use == 1000 / 1024 and mix["pto.vlds"].lane_use == 1
    assert profiled(text).to_json()["result"]["instructions"][0]["lane_use"] in (1, 0.9766)


def test_the_advice_is_in_text_json_and_nowhere_for_a_kernel_that_needs_none() -> None:
    said = CliRunner().invoke(main, ["profile", str(EXAMPLES / "singlebuffer.pto"), "--set", "tiles=64"])
    assert "advice, each tried by timing the run again:" in said.output and "share one more buffer" in said.output
    kernel = ptosim.load(EXAMPLES / "singlebuffer.pto").kernel()
    found = ptosim.profile(kernel, *kernel.example_arguments()).to_json()["result"]["advice"]
    assert found[0]["kind"] == "second-buffer" and found[0]["cycles"] > 0 and len(found[0]["lines"]) == 4
    assert 0.02 <= found[0]["share"] < 1 and len(found) <= 5
    assert profiled(ABS).advice == ()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.pto")), ids=lambda path: path.stem)
def test_the_steps_of_a_run_give_its_cycles(path: Path) -> None:
    """Without a change the run takes as long as it did."""
    from dataclasses import replace

    from ptosim.api import Launch
    from ptosim.arguments import bind
    from ptosim.timing.block_placement import hardware_cores
    from ptosim.timing.retiming import Retiming
    from ptosim.timing.step_log import StepLogger

    kernel = ptosim.load(path).kernel()
    arguments, machine = kernel.example_arguments(), kernel.module.machine()
    logger = StepLogger(machine, kernel.prices(machine))
    grid = 1 if kernel.kind == "cube" else 2  # rows are split between blocks there
    launch = Launch(bind(kernel.signature, arguments), grid)
    kernel.reference(replace(launch, oob="drop"), logger)()
    program = kernel.program
    retiming = Retiming(logger.log, machine, hardware_cores(program.kind, machine), program.cross_block)
    assert retiming.base == ptosim.profile(kernel, *arguments, grid=grid).cycles
