"""On-chip memories that start with a pattern instead of zeros: on both engines, in every block and memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
from cube_programs import Text, pointer_type
from examples.test_examples import EXAMPLES, script
from ptosim.cli.commands import main
from sanitize.kernels import ALL, MASK, load, order, scope, store, text, unary, vlds, vsts

PATTERN = bytes([0xC1, 0x7F, 0xC1, 0x7F, 0xC1, 0xFF, 0xC1, 0xFF])
HALF = "    %half = arith.constant 128 : i64\n" + load(length="%half") + order("MTE2", "V")
FINISH = order("V", "MTE3") + store() + ALL

engines = pytest.mark.parametrize("engine", ["native", "reference"])


def run(body: str, engine: str, **options: Any) -> np.ndarray:
    y = np.zeros(64, np.float32)
    ptosim.load(text(body)).kernel()(np.arange(1, 65, dtype=np.float32), y, engine=engine, **options)
    return y


@engines
def test_bytes_that_nothing_has_written_are_the_pattern(engine: str) -> None:
    body = order("V", "MTE3") + store() + ALL
    assert run(body, engine, poison=True).tobytes() == PATTERN * 32
    assert run(body, engine, poison=False).tobytes() == bytes(256)


@engines
def test_a_sum_over_undefined_lanes_looks_right_without_it(engine: str) -> None:
    body = HALF + scope(MASK + vlds() + unary("vcadd", "%s", "%v") + vsts("%s")) + FINISH
    assert run(body, engine)[0] == 32 * 33 / 2
    assert np.isnan(run(body, engine, poison=True)[0])


def test_every_lane_is_a_nan_and_integers_have_both_signs() -> None:
    for kind in (np.float16, np.float32):
        assert np.isnan(np.frombuffer(PATTERN, kind)).all()
    bf16 = np.frombuffer(PATTERN, np.uint16).astype(np.uint32) << 16
    assert np.isnan(bf16.view(np.float32)).all()
    for kind in (np.int8, np.int16, np.int32):
        lanes = np.frombuffer(PATTERN, kind)
        assert (lanes > 0).any() and (lanes < 0).any()


@engines
@pytest.mark.parametrize("threads", [1, 3])
def test_every_block_starts_with_it(engine: str, threads: int) -> None:
    """Each block copies what it finds to its own place, and then writes zeros there."""
    parameters = "%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>"
    body = """    %b = pto.get_block_idx
    %i = arith.index_cast %b : i64 to index
    %o = arith.muli %i, %c64 : index
    %own = pto.addptr %y, %o : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
"""
    body += store("%out", "%own") + order("MTE3", "V")
    body += scope(
        MASK + "      %f = arith.constant 0.0 : f32\n      %z = pto.vbr %f : f32 -> !pto.vreg<64xf32>\n" + vsts("%z")
    )
    y = np.zeros((5, 64), np.float32)
    kernel = ptosim.load(text(body + ALL, parameters)).kernel()
    kernel(np.zeros(64, np.float32), y, grid=5, engine=engine, threads=threads, poison=True)
    assert y.tobytes() == PATTERN * 32 * 5
    kernel(np.zeros(64, np.float32), y, grid=5, engine=engine, threads=threads)
    assert not y.any()


@engines
def test_cube_memories_start_with_it(engine: str) -> None:
    """A product of operands that were never loaded is NaN."""
    program = Text(c=pointer_type("f32", "gm"))
    program.mad("mad", ("f16", "f16", "f32"), 16, 16, 16)
    program.line('pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]')
    program.line('pto.wait_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]')
    program.store("%c", "f32", 16, 16, 16)
    program.line("pto.barrier #pto.pipe<PIPE_ALL>")
    c = np.zeros((16, 16), np.float32)
    kernel = ptosim.load(str(program)).kernel()
    kernel(c, engine=engine, poison=True)
    assert np.isnan(c).all()
    kernel(c, engine=engine)
    assert (c == 0).all()


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.pto")))
def test_examples_do_not_rely_on_zeros(name: str) -> None:
    launch = script(name).launch()
    arrays = [argument.copy() if hasattr(argument, "copy") else argument for argument in launch.arguments]
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    kernel(*launch.arguments, grid=launch.grid)
    kernel(*arrays, grid=launch.grid, poison=True)
    for plain, other in zip(launch.arguments, arrays, strict=True):
        assert not hasattr(plain, "tobytes") or plain.tobytes() == other.tobytes()


def test_the_command_line_takes_it(tmp_path: Path) -> None:
    file = tmp_path / "sum.pto"
    file.write_text(text(HALF + scope(MASK + vlds() + unary("vcadd", "%s", "%v") + vsts("%s")) + FINISH))
    for extra in ([], ["--engine", "reference"]):
        words = ["run", str(file), "ones:64", "zeros:64", *extra]
        assert "[32.0," in CliRunner().invoke(main, words).output
        assert "[nan," in CliRunner().invoke(main, [*words, "--poison"]).output
