"""A number that an instruction cannot take is told of in the same words when a kernel is loaded and when it runs."""

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError

HEAD = """module attributes {{pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<{}>}} {{
func.func @kernel(%x: !pto.ptr<f32, gm>, %w: {}) attributes {{pto.kernel}} {{
%zero = arith.constant 0 : i64
%one = arith.constant 1 : i64
%n16 = arith.constant 16 : i64
%n64 = arith.constant 64 : i64
%bits = arith.constant 0 : i32
%from = arith.constant 0 : index
%l1 = pto.castptr %zero : i64 -> !pto.ptr<f8E4M3FN, l1>
%l0a = pto.castptr %zero : i64 -> !pto.ptr<f8E4M3FN, l0a>
"""
FILL = "pto.raw_fill_l1 %l1, %w, %bits, %one, %one, %zero {fill_word_bits = 32 : i64}"
FILL += " : !pto.ptr<f8E4M3FN, l1>, i64, i32, i64, i64, i64"
SCALES = "pto.mte_l1_l0a_mx {}, %n16, %n64 : !pto.ptr<f8E4M3FN, l1>, !pto.ptr<f8E4M3FN, l0a>, i64, i64"

CASES = {
    "event": (
        ("vector", "index", 'pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", %w]', 9),
        ("id-range", "event 9 does not exist: ids are 0 to 7 for each pair of pipes"),
    ),
    "buffer": (
        ("vector", "i64", 'pto.get_buf "PIPE_V", %w, 0', 32),
        ("id-range", "buffer 32 does not exist: ids are 0 to 31"),
    ),
    "step": (
        ("vector", "index", "scf.for %j = %from to %from step %w { }", 0),
        ("arithmetic", "the step of scf.for must be positive, not 0"),
    ),
    "offset": (("cube", "i64", FILL, 48), ("invalid", "byte_offset is 48; it must be a multiple of 32")),
    "negative offset": (("cube", "i64", FILL, -32), ("invalid", "byte_offset is -32; it must be at least 0")),
    "source of scales": (
        ("cube", "i64", "%p = pto.castptr %w : i64 -> !pto.ptr<f8E4M3FN, l1>\n" + SCALES.format("%p, %l0a"), 48),
        ("misaligned", "reads l1 at 48, which is not a multiple of 32"),
    ),
    "destination of scales": (
        ("cube", "i64", "%p = pto.castptr %w : i64 -> !pto.ptr<f8E4M3FN, l0a>\n" + SCALES.format("%l1, %p"), 520),
        ("misaligned", "scales for data at 520, which is not a multiple of 16"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_load_run_and_check_use_the_same_words(case: str) -> None:
    (core, type_, lines, value), expected = CASES[case]
    text = HEAD.format(core, type_) + lines + "\nreturn\n}\n}\n"
    known = text.replace("%zero =", f"%known = arith.constant {value} : {type_}\n%zero =", 1)
    head, tail = known.rsplit(lines, 1)
    with pytest.raises(PTOError) as refused:
        ptosim.load(head + lines.replace("%w", "%known") + tail)
    assert [(found.kind, found.message) for found in refused.value.diagnostics] == [expected]
    kernel, memory = ptosim.load(text).kernel(), np.zeros(16, np.float32)
    for engine in ("reference", "native"):
        with pytest.raises(PTOError) as failed:
            kernel(memory, value, engine=engine)
        assert [(found.kind, found.message) for found in failed.value.diagnostics] == [expected], engine
    found = ptosim.check(kernel, memory, value, engine="reference").findings[0]
    assert (found.kind, found.message) == expected
