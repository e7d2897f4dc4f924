"""Events of the library: tokens, records that are handed on, waits; each removed in turn is one error that names it."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from cpp.kernels import HEAD, NEEDS_COMPILER, SHAPES, kernel, line_of

pytestmark = NEEDS_COMPILER

TILES = """    G ga(a), gb(b), go(out);
    V x, y, z;
    TASSIGN(x, 0x0);
    TASSIGN(y, 0x4000);
    TASSIGN(z, 0x8000);
"""
TEXT = f"""{HEAD}{SHAPES}
__global__ AICORE void chain(__gm__ float *out, __gm__ float *a, __gm__ float *b)
{{
{TILES}    Event<Op::TLOAD, Op::TADD> e0;
    Event<Op::TADD, Op::TSTORE_VEC> e1;
    TLOAD(x, ga);
    e0 = TLOAD(y, gb);
    TADD(z, x, y, e0);
    e1 = TMULS(z, z, 2.0f);
    TSTORE(go, z, e1);
}}
__global__ AICORE void seeds(__gm__ float *out, __gm__ float *a, __gm__ float *b)
{{
{TILES}    RecordEvent f0 = TLOAD(x, ga);
    RecordEvent f1 = TLOAD(y, gb);
    RecordEvent f2 = TADD(z, x, y, f0, f1);
    TSTORE(go, z, f2);
}}
__global__ AICORE void synced(__gm__ float *out, __gm__ float *a, __gm__ float *b)
{{
{TILES}    Event<Op::TLOAD, Op::TADD> g0 = TLOAD(x, ga);
    Event<Op::TLOAD, Op::TADD> g1 = TLOAD(y, gb);
    TSYNC(g0, g1);
    TADD(z, x, y);
    Event<Op::TADD, Op::TSTORE_VEC> g2 = TADDS(z, z, 1.0f);
    g2.Wait();
    TSTORE(go, z);
    TSYNC<Op::TSTORE_VEC>();
}}
"""
RESULTS = {"chain": (2, 0), "seeds": (1, 0), "synced": (1, 1)}


def arrays() -> list[np.ndarray]:
    generator = np.random.default_rng(2)
    return [np.zeros((16, 64), "f4"), *(generator.uniform(-1, 1, (16, 64)).astype("f4") for _ in range(2))]


@pytest.mark.parametrize("name", RESULTS)
def test_events_order_and_the_kernel_checks_clean(tmp_path: Path, name: str) -> None:
    subject, (out, a, b) = kernel(tmp_path, TEXT, name), arrays()
    subject(out, a, b)
    factor, term = RESULTS[name]
    np.testing.assert_array_equal(out, (a + b) * np.float32(factor) + np.float32(term))
    assert not ptosim.check(subject, out, a, b).findings


@pytest.mark.parametrize(
    ("name", "removed", "instead", "kind", "at", "hint"),
    [
        ("chain", ", e0);", ");", "race", "TADD(z, x, y)", "e0.Wait();"),
        ("chain", ", e1);", ");", "race", "TSTORE(go, z);", "e1.Wait();"),
        ("synced", "TSYNC(g0, g1)", "TSYNC(g0)", "race", "TADD(z, x, y);", "g1.Wait();"),
        ("synced", "    g2.Wait();", "", "race", "TSTORE(go, z);", "g2.Wait();"),
        ("seeds", ", f2);", ");", "race", "TSTORE(go, z);", "wait_flag(PIPE_V, PIPE_MTE3"),
        ("seeds", ", f1);", ");", "race", "RecordEvent f2", "TSYNC(f1);"),
    ],
)
def test_a_missing_event_is_one_error_at_the_consumer(
    tmp_path: Path, name: str, removed: str, instead: str, kind: str, at: str, hint: str
) -> None:
    start = TEXT.index(f"void {name}(")
    text = TEXT[:start] + TEXT[start:].replace(removed, instead, 1)
    report = ptosim.check(kernel(tmp_path, text, name), *arrays())
    (finding,) = report.errors
    lines = text.count("\n", 0, start)
    assert (finding.kind, finding.line) == (kind, lines + line_of(text[start:], at))
    assert finding.hint is not None and hint in finding.hint


def test_a_loop_with_two_buffers_is_repaired_in_its_own_words(tmp_path: Path) -> None:
    text = f"""{HEAD}{SHAPES}
__global__ AICORE void rows(__gm__ float *out, __gm__ float *in, int n)
{{
    V x[2];
    for (int i = 0; i < 2; i++) {{
        TASSIGN(x[i], i * 0x4000);
        set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)i);
    }}
    for (int i = 0; i < n; i++) {{
        int s = i % 2;
        G gi(in + i * 1024), go(out + i * 1024);
        wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)s);
        TLOAD(x[s], gi);
        set_flag(PIPE_MTE2, PIPE_MTE3, (event_t)s);
        wait_flag(PIPE_MTE2, PIPE_MTE3, (event_t)s);
        TSTORE(go, x[s]);
        set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)s);
    }}
    for (int i = 0; i < 2; i++) {{
        wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)i);
    }}
}}
"""
    data = np.arange(6 * 1024, dtype="f4").reshape(6 * 16, 64)
    out = np.zeros_like(data)
    subject = kernel(tmp_path, text)
    subject(out, data, 6)
    np.testing.assert_array_equal(out, data)
    assert not ptosim.check(subject, out, data, 6).findings
    missing = "wait_flag(PIPE_MTE2, PIPE_MTE3, (event_t)s);"
    report = ptosim.check(kernel(tmp_path, text.replace(f"        {missing}\n", "\n")), out, data, 6)
    (finding,) = report.errors
    assert (finding.kind, finding.line, finding.count) == ("race", line_of(text, "TSTORE(go"), 6)
    assert finding.hint == f"before line {finding.line} add {missing}"
    fixed = report.fix()
    assert fixed.verified and f"+        {missing}" in fixed.diff


PRIMED = f"""{HEAD}{SHAPES}
__global__ AICORE void k(__gm__ float *out, __gm__ float *in)
{{
    V x, y;
    TASSIGN(x, 0);
    TASSIGN(y, 0x4000);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
    for (int i = 0; i < 4; i++) {{
        G gi(in + i * 1024);
        V &tile = i % 2 ? y : x;
        wait_flag(PIPE_V, PIPE_MTE2, (event_t)(i % 2));
        TLOAD(tile, gi);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TADDS(tile, tile, 1.0f);
        set_flag(PIPE_V, PIPE_MTE2, (event_t)(i % 2));
    }}
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
}}
"""


def test_a_missing_prime_is_hinted_where_other_flags_are_set_too_early(tmp_path: Path) -> None:
    given = np.zeros((16, 64), "f4"), np.ones((64, 64), "f4")
    assert {finding.kind for finding in ptosim.check(kernel(tmp_path, PRIMED), *given).findings} == {"double-set"}
    text = PRIMED.replace("    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);\n", "", 1)
    (finding,) = ptosim.check(kernel(tmp_path, text), *given).errors
    assert finding.kind == "deadlock" and finding.hint is not None
    assert "add set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);" in finding.hint
