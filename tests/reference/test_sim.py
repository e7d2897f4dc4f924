"""The operations that lowerings use besides the instruction set, on both engines and in a check."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ptosim
from both_engines import agree, fails
from cube_programs import Text, observed, pointer_type
from ptosim.api import Kernel
from ptosim.effects.names import Space
from tables import table

# --- require ----------------------------------------------------------------------------------------------------------


def required(attributes: str, values: str = "", types: str = "") -> Kernel:
    return ptosim.load(required_text(attributes, values, types)).kernel()


def required_text(attributes: str, values: str = "", types: str = "") -> str:
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<i32, gm>, %n: i32, %m: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %five = arith.constant 5 : i32
    scf.for %i = %c0 to %c3 step %c1 {{
      %ok = arith.cmpi sle, %n, %five : i32
      pto.sim.require %ok{values} {{{attributes}}} : i1{types}
      pto.store_scalar %n, %x[%i] : !pto.ptr<i32, gm>, i32
    }}
    return
  }}
}}
"""


def bytes_after(kernel: Kernel, *scalars: Any) -> list[int]:
    found = agree(kernel, np.zeros(3, np.int32), *scalars)
    assert isinstance(found, list), found
    return np.frombuffer(found[0], np.int32).tolist()


def test_a_run_goes_on() -> None:
    kernel = required('kind = "invalid", message = "too many"')
    assert bytes_after(kernel, 5, 0) == [5, 5, 5]
    assert bytes_after(kernel, 6, 0) == [6, 6, 6]


def test_a_check_says_so_and_goes_on() -> None:
    kernel = required('kind = "invalid", message = "too many"')
    assert ptosim.check(kernel, np.zeros(3, np.int32), 5, 0).findings == ()
    (finding,) = ptosim.check(kernel, np.zeros(3, np.int32), 6, 0).findings
    assert (finding.kind, finding.severity, finding.message) == ("invalid", "error", "too many")
    assert (finding.line, finding.count, finding.loops, finding.core) == (9, 3, (0,), "b0.aiv0")


@pytest.mark.parametrize(("kind", "severity"), [("lint", "warning"), ("overlap", "warning"), ("limit", "error")])
def test_the_severity_is_that_of_the_kind(kind: str, severity: str) -> None:
    (finding,) = ptosim.check(required(f'kind = "{kind}", message = ""'), np.zeros(3, np.int32), 6, 0).findings
    assert finding.severity == severity


def test_unless_one_is_given() -> None:
    kernel = required('kind = "invalid", message = "", severity = "warning"')
    (finding,) = (report := ptosim.check(kernel, np.zeros(3, np.int32), 6, 0)).findings
    assert finding.severity == "warning"
    assert report.ok


def test_a_fatal_one_ends_a_run() -> None:
    kernel = required('kind = "out-of-bounds", message = "{} of {}", fatal', ", %n, %m", ", i32, index")
    found = fails(kernel, np.zeros(3, np.int32), 6, -2)
    assert (found.kind, found.message, found.line, found.loops) == ("out-of-bounds", "6 of -2", 9, (0,))
    assert bytes_after(kernel, 5, 0) == [5, 5, 5]
    (finding,) = ptosim.check(kernel, np.zeros(3, np.int32), 6, -2).findings
    assert (finding.message, finding.count) == ("6 of -2", 3)


def test_it_takes_no_time() -> None:
    text = required_text('kind = "invalid", message = "too many"')
    without = "\n".join(line for line in text.splitlines() if "require" not in line)
    first, second = (
        ptosim.profile(ptosim.load(each).kernel(), np.zeros(3, np.int32), 6, 0) for each in (text, without)
    )
    assert first.cycles == second.cycles


# --- lookup -----------------------------------------------------------------------------------------------------------

LOOKUP = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%out: !pto.ptr<i32, gm>, %first: i64) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %start = arith.index_cast %first : i64 to index
    scf.for %i = %c0 to %c5 step %c1 {
      %at = arith.addi %i, %start : index
      %value = pto.sim.lookup %at {values = dense<[5, -2, 9]> : tensor<3xi64>} : index -> index
      %word = arith.index_cast %value : index to i32
      pto.store_scalar %word, %out[%i] : !pto.ptr<i32, gm>, i32
    }
    return
  }
}
"""


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(("first", "wanted"), [(0, [5, -2, 9, 9, 9]), (-1, [9, 5, -2, 9, 9])])
def test_lookup(engine: str, first: int, wanted: list[int]) -> None:
    out = np.zeros(5, np.int32)
    ptosim.load(LOOKUP).kernel()(out, first, engine=engine)
    assert out.tolist() == wanted


# --- print_tile -------------------------------------------------------------------------------------------------------

COUNT = 64


def shown(
    capsys: pytest.CaptureFixture[str],
    engine: str,
    data: NDArray[Any],
    element: str,
    extents: tuple[int, ...],
    strides: str,
    attributes: str = "",
    space: str = "ub",
    grid: int = 1,
) -> list[str]:
    """What printing a region of 256 bytes gives: first copied to UB, or where it is in GM."""
    size = data.nbytes
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<{element}, gm>, %r: index, %c: index, %vr: index, %vc: index) attributes {{pto.kernel}} {{
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %size = arith.constant {size} : i64
    %at = arith.constant 128 : i64
    %ub = pto.castptr %at : i64 -> !pto.ptr<{element}, ub>
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    pto.mte_gm_ub %x, %ub, %c0_i64, %size nburst(%c1_i64, %size, %size)
      : !pto.ptr<{element}, gm>, !pto.ptr<{element}, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.sim.print_tile {"%ub" if space == "ub" else "%x"} shape (%r, %c) valid (%vr, %vc) strides ({strides})
      {{{attributes}}} : !pto.ptr<{element}, {space}>
    return
  }}
}}
"""
    capsys.readouterr()
    ptosim.load(text).kernel()(data.copy(), *extents, engine=engine, grid=grid)
    printed = capsys.readouterr().out
    ptosim.check(ptosim.load(text).kernel(), data.copy(), *extents)
    ptosim.profile(ptosim.load(text).kernel(), data.copy(), *extents)
    assert capsys.readouterr().out == ""
    return printed.splitlines()


ENGINES = pytest.mark.parametrize("engine", ["reference", "native"])


@ENGINES
def test_a_tile_is_printed_with_its_valid_border(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = np.array([0.5, -1, 2.25, 1e4, 5, 6, 7, 8] + [0] * 56, np.float32)
    lines = shown(capsys, engine, data, "f32", (3, 4, 2, 3), "%c4, %c1", 'title = "%sum"')
    assert lines == [
        "b0.aiv0: %sum 3x4xf32, valid 2x3",
        "   0.5000  -1.0000   2.2500 | 10000.0000",
        "   5.0000   6.0000   7.0000 |   8.0000",
        "-" * 38,
        "   0.0000   0.0000   0.0000 |   0.0000",
    ]


@ENGINES
def test_a_tile_that_is_wholly_valid_has_no_border(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = np.arange(64, dtype=np.float32)
    lines = shown(capsys, engine, data, "f32", (2, 2, 2, 2), "%c8, %c1", 'format = "width8_precision2"')
    assert lines == ["b0.aiv0: 2x2xf32, valid 2x2", "     0.00     1.00", "     8.00     9.00"]


@ENGINES
@table(
    "element, value, text",
    ("i8", -3, "-3"),
    ("ui8", 253, "253"),
    ("i32", -(2**31), "-2147483648"),
    ("i64", -5, "-5"),
    ("f16", 0x3E00, "1.500000"),
    ("bf16", 0x3FC0, "1.500000"),
    ("f32", 0x7F800000, "inf"),
    ("!pto.hif8", 0x41, "0x41"),
)
def test_elements(engine: str, element: str, value: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"i32": "i4", "i64": "i8", "f16": "f2", "bf16": "u2", "f32": "f4"}.get(element, "u1")
    size = int(given[1])
    data = np.frombuffer((value & (1 << 8 * size) - 1).to_bytes(size, "little") * (256 // size), given)
    lines = shown(capsys, engine, data, element, (1, 1, 1, 1), "%c1, %c1", 'format = "width10_precision6"')
    assert lines[1] == f" {text:>10}"


@ENGINES
def test_boxes(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Boxes of 2 x 2, one behind the other down the columns: column-major blocks of row-major boxes."""
    data = np.arange(64, dtype=np.int32)
    lines = shown(capsys, engine, data, "i32", (4, 4, 4, 4), "%c2, %c1, %c4, %c8", "box = array<i64: 2, 2>")
    numbers = [[int(word) for word in line.split()] for line in lines[1:]]
    assert numbers == [[0, 1, 8, 9], [2, 3, 10, 11], [4, 5, 12, 13], [6, 7, 14, 15]]


@ENGINES
def test_what_is_outside_of_an_argument(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = np.arange(64, dtype=np.int32)
    lines = shown(capsys, engine, data, "i32", (2, 64, 2, 64), "%c16, %c1", space="gm")
    assert lines[2].split() == [*map(str, range(16, 64)), *["?"] * 16]


@ENGINES
@pytest.mark.parametrize("extents", [(0, 4, 0, 0), (4, 0, 0, 0), (-1, 4, 0, 0)])
def test_nothing_to_print(engine: str, extents: tuple[int, ...], capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, engine, np.zeros(64, np.int32), "i32", extents, "%c4, %c1")
    assert len(lines) == 1


@ENGINES
def test_very_large_views_are_cut(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, engine, np.zeros(64, np.int32), "i32", (2**40, 2**17, 1, 1), "%c4, %c1", space="gm")
    assert lines[-1] == "..."
    assert len(lines) == 5  # the head, two rows with the border between them, the dots


@ENGINES
def test_blocks_print_in_order(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, engine, np.arange(64, dtype=np.int32), "i32", (1, 2, 1, 2), "%c4, %c1", grid=40)
    assert [line.partition(":")[0] for line in lines[::2]] == [f"b{block}.aiv0" for block in range(40)]


# --- the cube core ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("element", "dtype"), [("f16", np.float16), ("f32", np.float32)])
@pytest.mark.parametrize("unsigned", [False, True])
def test_scales_become_parameter_words(element: str, dtype: Any, unsigned: bool) -> None:
    """pto.sim.scale_words: the bits of an f32, and bit 46 for signed results."""
    scales = np.array([1.0, -0.5, 3.0, 0.0, 1024.0] + [2.0] * 27, dtype)
    text = Text(x=pointer_type(element, "gm"))
    text.plain("%x", 0, element, scales.nbytes)
    text.line("pto.barrier <PIPE_ALL>")
    operands = [text.pointer(0, element, "l1"), text.pointer(64, "f32", "fb"), text.number(5)]
    types = [pointer_type(element, "l1"), pointer_type("f32", "fb"), "i64"]
    text.op("sim.scale_words", operands, types, attributes="{unsigned}" if unsigned else "")
    text.line("pto.barrier <PIPE_ALL>")
    image = observed(text.kernel(), scales).of(Space.FB)
    expected = scales[:5].astype(np.float32).view(np.uint32).astype(np.uint64) | np.uint64(0 if unsigned else 1 << 46)
    assert np.array_equal(image[64:104].view(np.uint64), expected)
    assert (image[:64] == 0xEE).all() and (image[104:] == 0xEE).all()


@pytest.mark.parametrize("biased", [True, False])
def test_accumulators_start_from_zero_or_a_bias(biased: bool) -> None:
    """pto.sim.start_acc writes m x n accumulators and nothing else of their fractals."""
    m, n = 20, 24
    bias = np.arange(32, dtype=np.float32)
    text = Text(x=pointer_type("f32", "gm"))
    text.plain("%x", 0, "f32", bias.nbytes)
    text.line("pto.barrier <PIPE_ALL>")
    table, gaps = text.pointer(0, "f32", "bt"), text.integers(4, 1, 0, 0)
    types = f"{pointer_type('f32', 'l1')}, {pointer_type('f32', 'bt')}, i64, i64, i64, i64"
    burst = f"{gaps[0]} nburst({gaps[1]}, {gaps[2]}, {gaps[3]})"
    text.line(f"pto.mte_l1_bt {text.pointer(0, 'f32', 'l1')}, {table}, {burst} : {types}")
    text.line("pto.barrier <PIPE_ALL>")
    operands = [text.pointer(0, "f32", "l0c"), *text.integers(m, n), *([table] if biased else [])]
    listed = [pointer_type("f32", "l0c"), "i64", "i64", *([pointer_type("f32", "bt")] if biased else [])]
    text.op("sim.start_acc", operands, listed)
    text.line("pto.barrier <PIPE_ALL>")
    image = observed(text.kernel(), bias).of(Space.L0C)[: 2 * 32 * 64].view(np.float32).reshape(2, 32, 16)
    found = image.transpose(1, 0, 2).reshape(32, 32)
    assert np.array_equal(found[:m, :n], np.broadcast_to(bias[:n] if biased else np.float32(0), (m, n)))
    assert (np.ascontiguousarray(found[m:]).view(np.uint8) == 0xEE).all()
    assert (np.ascontiguousarray(found[:, n:]).view(np.uint8) == 0xEE).all()


# --- instructions of A2/A3 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_instructions_are_the_time_of_their_scope_and_nothing_else(engine: str) -> None:
    kernel = ptosim.load("""module attributes {pto.target_arch = "a2a3"} {
  func.func @k(%n: index) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c0_i64 = arith.constant 0 : i64
    %c256 = arith.constant 256 : index
    %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
    pto.vecscope {
      pto.sim.instructions %n of %n on %c256 {instruction = "vexp", width = 4}
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %one = arith.constant 1.0 : f32
      %x = pto.vdup %one, %all : f32, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %x, %ub[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }
    return
  }
}
""").kernel()
    assert ptosim.check(kernel, 3, engine=engine).findings == ()
    for n in (3, 0, 400):  # beyond 255 repeats an instruction is several
        (timing,) = ptosim.profile(kernel, n, engine=engine).recording.functions
        assert timing.cycles == (7 + n * (2 * n + 24 * -(-n // 255)) if n else 0)
