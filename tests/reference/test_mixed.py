"""Cube and vector cores together: UB as the destination of stores, signals, what check finds in such kernels."""

import re
import time
from pathlib import Path

import numpy as np
import pytest

import ptosim
from cube_programs import KIB, Text, observed, pointer_type, round_up
from examples.test_examples import script
from observed import findings as findings_of
from ptosim import PTOError
from ptosim.effects.names import Space

EXAMPLES = Path(__file__).parents[2] / "examples"
UNWRITTEN = 0xEE


def tile(m: int, n: int) -> np.ndarray:
    return np.random.default_rng(m * n).integers(-1000, 1000, (m, n)).astype(np.float32)


def matrix_in_l0c(text: Text, m: int, n: int) -> None:
    """%x, an f32 matrix [m, n], as accumulators: its product with the identity."""
    text.fractals("%x", 0, "f32", m, n, round_up(m, 16))
    text.fractals("%one", 128 * KIB, "f32", n, n, round_up(n, 16))
    text.load("mte_l1_l0a", 0, 0, "f32", m, n)
    text.load("mte_l1_l0b", 128 * KIB, 0, "f32", n, n, transpose=True)
    text.mad("mad", ("f32", "f32", "f32"), m, n, n)


def to_ub(text: Text, m: int, n: int, stride: int, mode: str, at: int = 64, types: tuple[str, ...] = ()) -> None:
    pointers = [text.pointer(0, "f32", "l0c"), text.pointer(at, "f32", "ub")]
    listed = [pointer_type("f32", "l0c"), pointer_type("f32", "ub"), *["i64"] * 4, *types]
    text.op("mte_l0c_ub", [*pointers, *text.integers(m, n, round_up(m, 16), stride)], listed, f", dst_mode({mode})")


def mixed(m: int, n: int, **parameters: str) -> Text:
    text = Text(vector="", x=pointer_type("f32", "gm"), one=pointer_type("f32", "gm"), **parameters)
    matrix_in_l0c(text, m, n)
    return text


def rows(image: np.ndarray, at: int, count: int, stride: int, width: int) -> np.ndarray:
    """Rows of f32, `stride` elements apart."""
    return image[at : at + count * stride * 4].view(np.float32).reshape(count, stride)[:, :width]


# --- UB as destination ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("core", [0, 1])
@pytest.mark.parametrize("raw", [False, True])
def test_one_vector_core(core: int, raw: bool) -> None:
    x = tile(20, 30)
    text = mixed(20, 30, id="i64")
    raw_to_ub(text, 20, 30, 32, core << 2) if raw else to_ub(text, 20, 30, 32, "%id", types=("i64",))
    images = observed(text.kernel(), x, np.eye(30, dtype=np.float32), core)
    np.testing.assert_array_equal(rows(images.of(Space.UB, f"aiv{core}"), 64, 20, 32, 30), x)
    assert (images.of(Space.UB, f"aiv{1 - core}") == UNWRITTEN).all()


def test_there_are_two_vector_cores() -> None:
    text = mixed(16, 16, id="i64")
    to_ub(text, 16, 16, 16, "%id", types=("i64",))
    with pytest.raises(PTOError, match=r"sub_block is 2; it must be 0\.\.1"):
        text.kernel()(tile(16, 16), np.eye(16, dtype=np.float32), 2)


def raw_to_ub(text: Text, m: int, n: int, stride: int, mode: int) -> None:
    config0, config1 = n << 4 | m << 16 | stride << 32, round_up(m, 16) | mode << 16 | 1 << 43
    pointers = [text.pointer(0, "f32", "l0c"), text.pointer(64, "f32", "ub"), *text.integers(config0, config1)]
    text.op("copy_matrix_cc_to_ub", pointers, [pointer_type("f32", "l0c"), pointer_type("f32", "ub"), "i64", "i64"])


@pytest.mark.parametrize("raw", [False, True])
def test_split_by_rows(raw: bool) -> None:
    """Rows [0, m/2) to AIV0 and [m/2, m) to AIV1, each at the same address."""
    x = tile(40, 48)
    text = mixed(40, 48)
    raw_to_ub(text, 40, 48, 64, 1) if raw else to_ub(text, 40, 48, 64, "split_m")
    images = observed(text.kernel(), x, np.eye(48, dtype=np.float32))
    for core in (0, 1):
        np.testing.assert_array_equal(
            rows(images.of(Space.UB, f"aiv{core}"), 64, 20, 64, 48), x[20 * core : 20 * core + 20]
        )
        assert (images.of(Space.UB, f"aiv{core}")[64 + 20 * 256 :] == UNWRITTEN).all()


@pytest.mark.parametrize("raw", [False, True])
def test_split_by_columns(raw: bool) -> None:
    """Columns [0, n/2) and [n/2, n), with the stride as it is written: half of every row of UB stays."""
    x = tile(40, 64)
    text = mixed(40, 64)
    raw_to_ub(text, 40, 64, 64, 2) if raw else to_ub(text, 40, 64, 64, "split_n")
    images = observed(text.kernel(), x, np.eye(64, dtype=np.float32))
    for core in (0, 1):
        image = images.of(Space.UB, f"aiv{core}")
        np.testing.assert_array_equal(rows(image, 64, 40, 64, 32), x[:, 32 * core : 32 * core + 32])
        assert (image[64 : 64 + 40 * 256].reshape(40, 256)[:, 128:] == UNWRITTEN).all()


@pytest.mark.parametrize(("m", "n", "mode"), [(5, 32, "split_m"), (4, 48, "split_n")])
def test_halves_must_be_whole(m: int, n: int, mode: str) -> None:
    text = mixed(16, 48, rows="i64", columns="i64")
    pointers = [
        text.pointer(0, "f32", "l0c"),
        text.pointer(64, "f32", "ub"),
        "%rows",
        "%columns",
        *text.integers(16, 48),
    ]
    listed = [pointer_type("f32", "l0c"), pointer_type("f32", "ub"), *["i64"] * 4]
    text.op("mte_l0c_ub", pointers, listed, f", dst_mode({mode})")
    with pytest.raises(PTOError) as raised:
        text.kernel()(tile(16, 48), np.eye(48, dtype=np.float32), m, n)
    assert raised.value.diagnostics[0].kind == "invalid"


# --- whole ways, under any schedule -----------------------------------------------------------------------------------

SCHEDULES = ["program", "random:1", "random:2", "delay:FIX", "delay:MTE1", "delay:MTE3", "delay:M"]
FLAG = 'pto.{}_flag["PIPE_{}", "PIPE_{}", "EVENT_ID0"]'


def flag(text: Text, source: str, target: str) -> None:
    text.line(FLAG.format("set", source, target))
    text.line(FLAG.format("wait", source, target))


def product_40_64_50(text: Text) -> None:
    """40 x 64 x 50 of f16, no extent but one a multiple of 16, each step waiting for the one before."""
    text.fractals("%a", 0, "f16", 40, 50, 48)
    text.fractals("%b", 128 * KIB, "f16", 50, 64, 64)
    flag(text, "MTE2", "MTE1")
    text.load("mte_l1_l0a", 0, 0, "f16", 40, 50)
    text.load("mte_l1_l0b", 128 * KIB, 0, "f16", 50, 64, transpose=True)
    flag(text, "MTE1", "M")
    text.mad("mad", ("f16", "f16", "f32"), 40, 64, 50, "unit_flag(check_and_set)")
    flag(text, "M", "FIX")


STORE = """
%me = pto.get_subblock_idx
%c0_v = arith.constant 0 : i64
%c1_v = arith.constant 1 : i64
%size = arith.constant 10240 : i64
%ub_v = pto.castptr %c0_v : i64 -> !pto.ptr<f32, ub>
%is_first = arith.cmpi eq, %me, %c0_v : i64
scf.if %is_first {
  pto.sync.wait <PIPE_MTE3>, 1
  pto.mte_ub_gm %ub_v, %c, %size nburst(%c1_v, %size, %size)
    : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
}
pto.barrier #pto.pipe<PIPE_ALL>
"""


def operands_40_64_50() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 9, shape).astype(np.float16) / 4 for shape in ((40, 50), (50, 64)))
    return a, b, (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


def way_through_ub() -> Text:
    text = Text(vector=STORE, a=pointer_type("f16", "gm"), b=pointer_type("f16", "gm"), c=pointer_type("f32", "gm"))
    product_40_64_50(text)
    to_ub(text, 40, 64, 64, text.number(0), at=0, types=("i64",))
    text.line("pto.sync.set <PIPE_FIX>, 1")
    return text


def way_through_l1() -> Text:
    """L0C to L1 in row-major order, L1 to UB with mte_l1_ub, which counts granules."""
    text = Text(vector=STORE, a=pointer_type("f16", "gm"), b=pointer_type("f16", "gm"), c=pointer_type("f32", "gm"))
    product_40_64_50(text)
    pointers = [text.pointer(0, "f32", "l0c"), text.pointer(256 * KIB, "f32", "l1")]
    types = [pointer_type("f32", "l0c"), pointer_type("f32", "l1"), *["i64"] * 4]
    text.op("mte_l0c_l1", [*pointers, *text.integers(40, 64, 48, 64)], types, ", nz2nd")
    flag(text, "FIX", "MTE1")
    burst = f" nburst({', '.join(text.integers(40, 0, 0))})"
    pointers = [text.pointer(256 * KIB, "f32", "l1"), text.pointer(0, "f32", "ub"), text.number(8)]
    text.op("mte_l1_ub", pointers, [pointer_type("f32", "l1"), pointer_type("f32", "ub"), *["i64"] * 4], burst)
    flag(text, "MTE1", "FIX")
    text.line("pto.sync.set <PIPE_FIX>, 1")
    return text


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("way", [way_through_ub, way_through_l1])
def test_a_product_through_the_chip(way: object, schedule: str) -> None:
    a, b, expected = operands_40_64_50()
    c = np.zeros((40, 64), np.float32)
    way().kernel()(a, b, c, engine="reference", schedule=schedule)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("way", [way_through_ub, way_through_l1])
def test_the_way_is_clean(way: object) -> None:
    """Padding of L1 and L0 is read and never used: 40 rows, k = 50."""
    a, b, _ = operands_40_64_50()
    report = ptosim.check(way().kernel().kernel, a, b, np.zeros((40, 64), np.float32))
    assert not report.findings, report


# --- what check finds -------------------------------------------------------------------------------------------------


def findings(text: str) -> set[tuple[str, str]]:
    a, b, _ = operands_40_64_50()
    report = ptosim.check(ptosim.load(text).kernel(), a, b, np.zeros((40, 64), np.float32))
    return {(finding.kind, finding.severity) for finding in report.findings}


@pytest.mark.parametrize(("source", "target"), [("MTE2", "MTE1"), ("MTE1", "M"), ("M", "FIX")])
def test_a_missing_flag_is_a_race(source: str, target: str) -> None:
    text = str(way_through_ub())
    for word in ("set", "wait"):
        text = text.replace(FLAG.format(word, source, target), "")
    assert ("race", "error") in findings(text)


def test_a_missing_signal_is_a_race() -> None:
    text = str(way_through_ub()).replace("pto.sync.set <PIPE_FIX>, 1", "").replace("pto.sync.wait <PIPE_MTE3>, 1", "")
    assert ("race", "error") in findings(text)


def test_a_missing_set_is_an_unmatched_wait() -> None:
    assert ("unmatched-wait", "error") in findings(str(way_through_ub()).replace("pto.sync.set <PIPE_FIX>, 1", ""))


def test_a_missing_wait_leaves_a_signal() -> None:
    a, b, _ = operands_40_64_50()
    kernel = ptosim.load(str(way_through_ub()).replace("pto.sync.wait <PIPE_MTE3>, 1", "")).kernel()
    report = ptosim.check(kernel, a, b, np.zeros((40, 64), np.float32))
    said = [each for found in report.findings for each in (found, *found.consequences)]
    assert {("race", "error"), ("undrained", "warning")} <= {(each.kind, each.severity) for each in said}


def test_an_operand_that_was_never_loaded_is_uninitialized() -> None:
    lines = str(way_through_ub()).split("\n")
    text = "\n".join(line for line in lines if "pto.mte_l1_l0b" not in line)
    a, b, _ = operands_40_64_50()
    report = ptosim.check(ptosim.load(text).kernel(), a, b, np.zeros((40, 64), np.float32))
    product = next(number for number, line in enumerate(text.split("\n"), 1) if "pto.mad " in line)
    found = {(finding.kind, finding.severity, finding.line) for finding in report.findings}
    assert ("uninitialized", "error", product) in found


@pytest.mark.parametrize(("what", "replacement"), [("k", (40, 64, 51)), ("m", (41, 64, 50))])
def test_padding_that_is_used_is_uninitialized(what: str, replacement: tuple[int, int, int]) -> None:
    """Copies carry what L1 never received; a product that reaches one row or one value of k further uses it."""
    text = Text(vector=STORE, a=pointer_type("f16", "gm"), b=pointer_type("f16", "gm"), c=pointer_type("f32", "gm"))
    product_40_64_50(text)
    index = next(i for i, line in enumerate(text.lines) if line.startswith("pto.mad "))
    text.mad("mad", ("f16", "f16", "f32"), *replacement)
    text.lines[index] = text.lines.pop()
    to_ub(text, 40, 64, 64, text.number(0), at=0, types=("i64",))
    text.line("pto.sync.set <PIPE_FIX>, 1")
    # Columns of A behind k = 50 were filled with zeros on the way into L1; the rows of B behind it were not.
    assert findings(str(text)) == {("uninitialized", "error")}, what


def test_a_store_beyond_the_product_is_uninitialized() -> None:
    text = Text(vector=STORE, a=pointer_type("f16", "gm"), b=pointer_type("f16", "gm"), c=pointer_type("f32", "gm"))
    product_40_64_50(text)
    to_ub(text, 41, 64, 64, text.number(0), at=0, types=("i64",))
    text.line("pto.sync.set <PIPE_FIX>, 1")
    assert findings(str(text)) == {("uninitialized", "warning")}  # FIXPIPE alone: rows that nobody need look at


def with_bias(loaded: int) -> Text:
    """A product with a bias row of f16, of whose 64 values so many were loaded; the copy takes more than that."""
    text = Text(vector="", a=pointer_type("f16", "gm"), b=pointer_type("f16", "gm"), c=pointer_type("f32", "gm"))
    text.fractals("%a", 0, "f16", 40, 50, 48)
    text.fractals("%b", 128 * KIB, "f16", 50, 64, 64)
    text.plain("%a", 256 * KIB, "f16", 2 * loaded)
    flag(text, "MTE2", "MTE1")
    text.load("mte_l1_l0a", 0, 0, "f16", 40, 50)
    text.load("mte_l1_l0b", 128 * KIB, 0, "f16", 50, 64, transpose=True)
    ends = [text.pointer(256 * KIB, "f16", "l1"), text.pointer(0, "f32", "bt"), text.number(16)]
    types = [pointer_type("f16", "l1"), pointer_type("f32", "bt"), *["i64"] * 4]
    text.op("mte_l1_bt", ends, types, f" nburst({', '.join(text.integers(1, 0, 0))})")
    flag(text, "MTE1", "M")
    text.mad("mad_bias", ("f16", "f16", "f32"), 40, 64, 50, bias=0)
    flag(text, "M", "FIX")
    text.store("%c", "f32", 40, 64, 64)
    text.line("pto.barrier #pto.pipe<PIPE_ALL>")
    return text


@pytest.mark.parametrize(("loaded", "found"), [(64, set()), (63, {("uninitialized", "error")})])
def test_undefined_bias_values_count_when_they_are_added(loaded: int, found: set[tuple[str, str]]) -> None:
    assert findings(str(with_bias(loaded))) == found


@pytest.mark.parametrize(("rows", "kinds"), [(64, set()), (63, {"uninitialized"})])
def test_undefined_nibbles_are_followed_through_a_transpose(rows: int, kinds: set[str]) -> None:
    """B of 4-bit values, whose last row along k was loaded or not; the scales are all there."""
    four, scale = "f4E2M1x2", "f8E8M0"
    text = Text(x=pointer_type(four, "gm"), s=pointer_type(scale, "gm"), c=pointer_type("f32", "gm"))
    text.frac("%x", 0, four, "nd2nz", 16, 32, (32,), (1, 1, 16, 0))
    text.frac("%x", 128 * KIB, four, "nd2nz", rows, 32, (32,), (1, 1, 64, 0))
    text.plain("%s", 256 * KIB, scale, 128)
    flag(text, "MTE2", "MTE1")
    text.load("mte_l1_l0a", 0, 0, four, 16, 64)
    text.load("mte_l1_l0b", 128 * KIB, 0, four, 64, 64, transpose=True)
    text.load("mte_l1_l0a_mx", 256 * KIB, 0, scale, 16, 64)
    text.load("mte_l1_l0b_mx", 256 * KIB, 0, scale, 64, 64)
    flag(text, "MTE1", "M")
    text.mad("mad_mx", (four, four, "f32"), 16, 64, 64)
    flag(text, "M", "FIX")
    text.store("%c", "f32", 16, 64, 64)
    text.line("pto.barrier #pto.pipe<PIPE_ALL>")
    x, s = np.zeros((64, 32), np.uint8), np.full(128, 127, np.uint8)
    report = ptosim.check(text.kernel().kernel, x, s, np.zeros((16, 64), np.float32))
    assert {finding.kind for finding in report.findings} == kinds


# --- flash attention --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ["flash_attention", "flash_attention_f32"])
def test_flash_attention_128_1024_64(name: str, causal: bool) -> None:
    launch = script(name).launch(rows=128, keys=1024, causal=causal)
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    before = time.perf_counter()
    kernel(*launch.arguments, grid=launch.grid, engine="reference")
    assert time.perf_counter() - before < 10
    launch.compare()


SOURCE = (EXAMPLES / "flash_attention.pto").read_text().split("\n")
SIGNALS = [number for number, line in enumerate(SOURCE) if "_intra_block" in line]
FLAGS = [number for number, line in enumerate(SOURCE) if "et_flag" in line or "wait_flag" in line]


def test_flash_attention_is_clean() -> None:
    launch = script("flash_attention").launch(rows=128, keys=384)
    report = ptosim.check(ptosim.load("\n".join(SOURCE)).kernel(), *launch.arguments, grid=launch.grid)
    assert not report.findings, report


def found_without(number: int) -> dict[str, str]:
    """Kind and severity of what is found when a line is missing. No repair is looked for: those of these texts have a
    test of their own (sanitize/test_mutation.py)."""
    given = script("flash_attention").launch(rows=64, keys=384).arguments
    text = "\n".join(line for index, line in enumerate(SOURCE) if index != number)
    return {finding.kind: finding.severity for finding in findings_of(ptosim.load(text).kernel(), *given)}


IMPLIED = re.compile(r"wait_intra_block <PIPE_\w+>, (2|4|20|5|21)$")
"""Waits for a free half. The other half of the protocol implies them: scores of tile i leave the cube core behind the
product of tile i - 2, which needs its P, which the vector cores send when they have read the scores of tile i - 2; and
so on round the circle. Without such a wait every access still is in order, and one signal too many is left over."""


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: f"line{number + 1}")
def test_a_missing_signal_of_flash_attention_is_reported(number: int) -> None:
    found = found_without(number)
    if IMPLIED.search(SOURCE[number].strip()):
        assert found == {"undrained": "warning"}
    else:
        assert "error" in found.values(), SOURCE[number]


@pytest.mark.full
@pytest.mark.parametrize("number", FLAGS, ids=lambda number: f"line{number + 1}")
def test_a_missing_flag_of_flash_attention_is_reported(number: int) -> None:
    assert found_without(number), SOURCE[number]
