"""Kernels in C++ as their authors run them: results, findings at C++ lines, hints that are C++, proofs, printing."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from cpp.kernels import ADD, NEEDS_COMPILER, kernel, line_of, without

pytestmark = NEEDS_COMPILER


def arrays(shape: tuple[int, ...] = (64, 64)) -> list[np.ndarray]:
    generator = np.random.default_rng(1)
    a, b = (generator.uniform(-1, 1, shape).astype("f4") for _ in range(2))
    return [np.zeros(shape, "f4"), a, b]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_kernel_of_the_library_gives_the_sum(tmp_path: Path, engine: str) -> None:
    out, a, b = arrays()
    kernel(tmp_path, ADD, "run<float, 64, 64>")(out, a, b, engine=engine)
    np.testing.assert_array_equal(out, a + b)


def test_a_correct_kernel_checks_clean(tmp_path: Path) -> None:
    report = ptosim.check(kernel(tmp_path, ADD, "run<float, 64, 64>"), *arrays())
    assert not report.findings


@pytest.mark.parametrize(
    ("missing", "kind", "shown"),
    [
        ("wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);", "race", "TADD(z"),
        ("wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);", "race", "TSTORE(go"),
        ("set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);", "unmatched-wait", "wait_flag(PIPE_MTE2"),
        ("set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);", "unmatched-wait", "wait_flag(PIPE_V"),
    ],
)
def test_one_missing_flag_is_one_error_and_its_hint_says_the_flag(
    tmp_path: Path, missing: str, kind: str, shown: str
) -> None:
    text = without(ADD, missing)
    report = ptosim.check(kernel(tmp_path, text, "run<float, 64, 64>"), *arrays())
    (finding,) = [each for each in report.findings if each.severity == "error"]
    assert (finding.kind, finding.line) == (kind, line_of(text, shown))
    assert finding.location is not None and finding.location.file.endswith("kernel.cpp")
    assert finding.hint is not None and missing in finding.hint


def test_a_proof_speaks_of_the_recorded_launch(tmp_path: Path) -> None:
    proof = ptosim.prove(kernel(tmp_path, ADD, "run<float, 64, 64>"), *arrays())
    assert not proof.proven and not proof.findings
    assert "in order for the recorded launch (grid 1)" in str(proof)


def test_what_is_printed_loads_again_and_gives_the_same(tmp_path: Path) -> None:
    out, a, b = arrays()
    text = str(kernel(tmp_path, ADD, "run<float, 64, 64>").recorded([out, a, b]).kernel.module)
    assert 'pto.rules = "library"' in text
    again = ptosim.load(text, sync="written").kernel()
    again(out, a, b)
    np.testing.assert_array_equal(out, a + b)


def test_changing_an_included_file_or_a_define_rebuilds(tmp_path: Path) -> None:
    text = '#include "rows.hpp"\n' + ADD.replace("TADD(z, x, y)", "OPERATION(z, x, y)")
    out, a, b = arrays()
    for operation, wanted in (("TADD", a + b), ("TMUL", a * b)):
        (tmp_path / "rows.hpp").write_text(f"#ifndef OPERATION\n#define OPERATION {operation}\n#endif\n")
        kernel(tmp_path, text, "run<float, 64, 64>")(out, a, b)
        np.testing.assert_array_equal(out, wanted)
    kernel(tmp_path, text, "run<float, 64, 64>", defines={"OPERATION": "TSUB"})(out, a, b)
    np.testing.assert_array_equal(out, a - b)


def test_arguments_are_made_up_as_long_as_the_kernel_reaches(tmp_path: Path) -> None:
    subject = kernel(tmp_path, ADD, "run<float, 64, 64>")
    out, a, b = subject.example_arguments(seed=3)
    assert [each.size for each in (out, a, b)] == [4096, 4096, 4096] and not out.any()
    subject(out, a, b)
    np.testing.assert_array_equal(out, a + b)


LOOKED_UP = """#include <pto/pto-inst.hpp>
using namespace pto;
__global__ AICORE void looked_up(__gm__ float *x, __gm__ int32_t *table, __gm__ float *y, int rows)
{
    using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>>;
    Tile<TileType::Vec, float, 1, 64> t;
    TASSIGN(t, 0);
    for (int row = 0; row < rows; ++row)
        for (FROM) {
            Row from(x + at * 64), to(y + row * 64);
            TLOAD(t, from);
            set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
            TSTORE(to, t);
            set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
            wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        }
    pipe_barrier(PIPE_ALL);
}
"""


@pytest.mark.parametrize(
    "loop",
    ["int at = table[row], once = 1; once; once = 0", "int at = table[row]; at < table[row + 1]; ++at"],
    ids=["rows by a table", "ranges by a table"],
)
def test_tables_of_integers_are_made_up_so_that_rows_move(tmp_path: Path, loop: str) -> None:
    """What the scalar program alone reads decides where it goes: all zeros would move one row, or none."""
    subject = kernel(tmp_path, LOOKED_UP.replace("FROM", loop), "looked_up")
    words = subject.example_words(["auto"] * 4, 1, {})
    x, table, y, rows = subject.example_arguments()
    assert words[1] == "index:65:8" and words[3] == "64" and table.max() < 8 and x.size // 64 <= 8
    subject(x, table, y, rows)
    assert y.any() and not ptosim.check(subject, *subject.example_arguments()).findings


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_none_is_a_null_pointer(tmp_path: Path, engine: str) -> None:
    text = ADD.replace("    G ga(a), gb(b), go(out);", "    G ga(a), gb(b == nullptr ? a : b), go(out);")
    out, a, b = arrays()
    subject = kernel(tmp_path, text, "run<float, 64, 64>")
    for given in (None, b):
        subject(out, a, given, engine=engine)
        np.testing.assert_array_equal(out, a + (a if given is None else b))
    assert not ptosim.check(subject, out, a, None).findings
    with pytest.raises(ptosim.PTOError, match="a global tensor has a null pointer"):
        subject(out, None, None)
