"""Copies between GM and UB: the worked examples, loops, padding, atomics, accesses past the end, both spellings."""

import numpy as np
import pytest

import ptosim
from golden.numbers import data, equal
from golden.program import gm, module, outcome, ub
from ptosim import PTOError
from tables import table


def straight(copy_in: str, copy_out: str, element: str, registers: str = "", back: str = "", address: int = 0) -> str:
    """In, (MTE2, MTE3) flag, out."""
    body = f"""    %ub = pto.castptr %c{address}_i64 : i64 -> {ub(element)}
    %false = arith.constant false
    %true = arith.constant true
{registers}
{copy_in}
    pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
{back}
{copy_out}
    pto.barrier #pto.pipe<PIPE_ALL>"""
    return module(body, f"%x: {gm(element)}, %y: {gm(element)}")


def old_in(
    element: str,
    rows: int,
    length: int,
    gm_stride: int,
    ub_stride: int,
    pads: tuple[int, int] = (0, 0),
    on: str = "%false",
) -> str:
    return f"""    pto.copy_gm_to_ubuf %x, %ub, %c0_i64, %c{rows}_i64,
        %c{length}_i64, %c{pads[0]}_i64, %c{pads[1]}_i64, {on}, %c0_i64, %c{gm_stride}_i64, %c{ub_stride}_i64
      : {gm(element)}, {ub(element)}, i64, i64, i64, i64, i64, i1, i64, i64, i64"""


def old_out(element: str, rows: int, length: int, gm_stride: int, ub_stride: int) -> str:
    return f"""    pto.copy_ubuf_to_gm %ub, %y, %c0_i64, %c{rows}_i64, %c{length}_i64, %c0_i64, %c{gm_stride}_i64,
        %c{ub_stride}_i64
      : {ub(element)}, {gm(element)}, i64, i64, i64, i64, i64, i64"""


def new_in(
    element: str, rows: int, length: int, gm_stride: int, ub_stride: int, more: str = "", types: str = ""
) -> str:
    return f"""    pto.mte_gm_ub %x, %ub, %c0_i64, %c{length}_i64 nburst(%c{rows}_i64, %c{gm_stride}_i64,
        %c{ub_stride}_i64){more}
      : {gm(element)}, {ub(element)}, i64, i64, i64, i64, i64{types}"""


def new_out(
    element: str, rows: int, length: int, ub_stride: int, gm_stride: int, more: str = "", types: str = ""
) -> str:
    return f"""    pto.mte_ub_gm %ub, %y, %c{length}_i64 nburst(%c{rows}_i64, %c{ub_stride}_i64,
        %c{gm_stride}_i64){more}
      : {ub(element)}, {gm(element)}, i64, i64, i64, i64{types}"""


ONE = "    pto.set_loop_size_{0} %c1_i64, %c1_i64 : i64, i64"


@pytest.mark.parametrize("spelling", ["old", "new"])
def test_tile_of_thirty_two_rows(spelling: str) -> None:
    if spelling == "old":
        text = straight(
            old_in("f32", 32, 128, 128, 128),
            old_out("f32", 32, 128, 128, 128),
            "f32",
            ONE.format("outtoub"),
            ONE.format("ubtoout"),
        )
    else:
        text = straight(new_in("f32", 32, 128, 128, 128), new_out("f32", 32, 128, 128, 128), "f32")
    x = data("f32", 1024)
    equal(outcome(text, x, np.zeros(1024, "f4"))[1], x)


@pytest.mark.parametrize("spelling", ["old", "new"])
def test_tile_of_a_matrix_and_back_into_one(spelling: str) -> None:
    """64 x 128 halves out of 1024 x 512; back with the destination stride first in the older copy."""
    if spelling == "old":
        text = straight(old_in("f16", 64, 256, 1024, 256), old_out("f16", 64, 256, 1024, 256), "f16")
    else:
        text = straight(new_in("f16", 64, 256, 1024, 256), new_out("f16", 64, 256, 256, 1024), "f16")
    x = data("f16", 1024 * 512).reshape(1024, 512)
    y = np.full((64, 512), 3, "f2")
    out = outcome(text, x, y)[1]
    equal(out[:, :128].copy(), x[:64, :128].copy())
    assert (out[:, 128:] == 3).all()


@pytest.mark.parametrize("spelling", ["old", "new"])
def test_rows_padded_up_to_the_stride(spelling: str) -> None:
    """100 valid columns of halves in rows of 128: bytes 200..255 of each row take the pad pattern."""
    if spelling == "old":
        pad = "    %v = arith.constant -1.500000e+00 : f16\n    pto.set_mov_pad_val %v : f16"
        text = straight(old_in("f16", 8, 200, 200, 256, on="%true"), new_out("f16", 8, 256, 256, 256), "f16", pad)
    else:
        pad = "    %v = arith.constant -1.500000e+00 : f16"
        text = straight(
            new_in("f16", 8, 200, 200, 256, " pad(%v)", ", pad f16"), new_out("f16", 8, 256, 256, 256), "f16", pad
        )
    x = data("f16", 800)
    expected = np.full((8, 128), -1.5, "f2")
    expected[:, :100] = x.reshape(8, 100)
    equal(outcome(text, x, np.zeros(1024, "f2"))[1], expected.reshape(-1))


def test_left_and_right_padding_count_elements() -> None:
    """L pattern elements, the data, then pattern up to the row stride."""
    pad = "    %v = arith.constant 7 : i32"
    copy = new_in("i32", 2, 24, 24, 64, " pad(%v, %c2_i64, %c3_i64)", ", pad i32, i64, i64")
    text = straight(copy, new_out("i32", 2, 64, 64, 64), "i32", pad)
    x = data("i32", 12)
    expected = np.full((2, 16), 7, "i4")
    expected[:, 2:8] = x.reshape(2, 6)
    equal(outcome(text, x, np.zeros(32, "i4"))[1], expected.reshape(-1))


def test_loop_clause_with_padding() -> None:
    """8 rows of 56 by a loop, each padded with 1.0 to 64."""
    pad = "    %one = arith.constant 1.000000e+00 : f32"
    copy = new_in(
        "f32",
        1,
        224,
        224,
        256,
        " loop(%c8_i64, %c224_i64, %c256_i64) pad(%one, %c0_i64, %c8_i64)",
        ", loop i64, i64, i64, pad f32, i64, i64",
    )
    text = straight(copy, new_out("f32", 8, 256, 256, 256), "f32", pad)
    x = data("f32", 448)
    expected = np.ones((8, 64), "f4")
    expected[:, :56] = x.reshape(8, 56)
    equal(outcome(text, x, np.zeros(512, "f4"))[1], expected.reshape(-1))


def test_batch_of_tiles_by_loop_registers() -> None:
    registers = """    pto.set_loop_size_outtoub %c4_i64, %c1_i64 : i64, i64
    pto.set_loop1_stride_outtoub %c4096_i64, %c2048_i64 : i64, i64
    pto.set_loop2_stride_outtoub %c0_i64, %c0_i64 : i64, i64"""
    back = """    pto.set_loop_size_ubtoout %c2_i64, %c2_i64 : i64, i64
    pto.set_loop1_stride_ubtoout %c2048_i64, %c2048_i64 : i64, i64
    pto.set_loop2_stride_ubtoout %c4096_i64, %c4096_i64 : i64, i64"""
    text = straight(old_in("f16", 8, 256, 256, 256), old_out("f16", 8, 256, 256, 256), "f16", registers, back)
    x = data("f16", 8192)
    expected = x.reshape(4, 2, 1024)[:, 0].reshape(-1)
    equal(outcome(text, x, np.zeros(4096, "f2"))[1], expected)


def test_loop_registers_of_one_direction_leave_the_other_alone() -> None:
    registers = """    pto.set_loop_size_ubtoout %c3_i64, %c2_i64 : i64, i64
    pto.set_loop1_stride_ubtoout %c32_i64, %c32_i64 : i64, i64"""
    text = straight(
        old_in("f32", 1, 64, 64, 64), old_out("f32", 1, 64, 64, 64), "f32", registers, ONE.format("ubtoout")
    )
    x = data("f32", 64)
    out = outcome(text, x, np.zeros(64, "f4"))[1]
    equal(out, np.concatenate([x[:16], np.zeros(48, "f4")]))


def test_loop_registers_do_not_touch_grouped_copies() -> None:
    registers = """    pto.set_loop_size_outtoub %c4_i64, %c4_i64 : i64, i64
    pto.set_loop1_stride_outtoub %c64_i64, %c64_i64 : i64, i64"""
    text = straight(new_in("f32", 1, 64, 64, 64), new_out("f32", 1, 64, 64, 64), "f32", registers)
    x = data("f32", 64)
    equal(outcome(text, x, np.zeros(64, "f4"))[1], np.concatenate([x[:16], np.zeros(48, "f4")]))


@pytest.mark.parametrize("words", [("loop", "loop"), ("loop1", "loop2"), ("loop2", "loop1")])
def test_two_loops_in_a_clause(words: tuple[str, str]) -> None:
    """2 x 3 tiles of 2 rows of 32 bytes, transposed tile order on the way in."""
    more = f" {words[0]}(%c2_i64, %c192_i64, %c64_i64) {words[1]}(%c3_i64, %c64_i64, %c128_i64)"
    types = f", {words[0]} i64, i64, i64, {words[1]} i64, i64, i64"
    text = straight(new_in("f32", 2, 32, 32, 32, more, types), new_out("f32", 1, 384, 384, 384), "f32")
    x = data("f32", 96)
    expected = x.reshape(2, 3, 16).transpose(1, 0, 2).reshape(-1)
    equal(outcome(text, x, np.zeros(96, "f4"))[1], expected)


def test_store_with_a_loop_and_a_cache_hint() -> None:
    more = " l2_cache_ctl(%c1_i64) loop(%c2_i64, %c64_i64, %c160_i64)"
    text = straight(
        new_in("f32", 1, 128, 128, 128),
        new_out("f32", 1, 50, 64, 64, more, ", i64, loop i64, i64, i64")
        .replace("%c50_i64", "%c48_i64")
        .replace("%c50", "%c48"),
        "f32",
    )
    x = data("f32", 32)
    out = outcome(text, x, np.full(64, 2, "f4"))[1]
    expected = np.full(64, 2, "f4")
    expected[:12], expected[40:52] = x[:12], x[16:28]
    equal(out, expected)


def test_thirteen_and_ten_operands() -> None:
    """Older pages put two more counts after the pointers; they mean nothing."""
    copy_in = f"""    pto.copy_gm_to_ubuf %x, %ub, %c32_i64, %c32_i64, %c0_i64, %c32_i64, %c128_i64, %c0_i64, %c0_i64,
        %false, %c0_i64, %c128_i64, %c128_i64
      : {gm("f32")}, {ub("f32")}, i64, i64, i64, i64, i64, i64, i64, i1, i64, i64, i64"""
    copy_out = f"""    pto.copy_ubuf_to_gm %ub, %y, %c32_i64, %c32_i64, %c0_i64, %c32_i64, %c128_i64, %c0_i64,
        %c128_i64, %c128_i64
      : {ub("f32")}, {gm("f32")}, i64, i64, i64, i64, i64, i64, i64, i64"""
    x = data("f32", 1024)
    equal(outcome(straight(copy_in, copy_out, "f32"), x, np.zeros(1024, "f4"))[1], x)


def test_shortened_type_lists() -> None:
    copy_in = f"""    pto.mte_gm_ub %x, %ub, %c0_i64, %c128_i64 nburst(%c32_i64, %c128_i64, %c128_i64)
      : {gm("f32")}, {ub("f32")}, i64, i64, i64, i64"""
    copy_out = f"""    pto.mte_ub_gm %ub, %y, %c128_i64 nburst(%c32_i64, %c128_i64, %c128_i64)
      : {ub("f32")}, {gm("f32")}, i64 x4"""
    x = data("f32", 1024)
    equal(outcome(straight(copy_in, copy_out, "f32"), x, np.zeros(1024, "f4"))[1], x)


def test_rows_move_inside_ub() -> None:
    """Four copies of one 32-byte granule each permute rows [2, 0, 3, 1]; the older form has a sid."""
    p = ub("f32")
    moves = ""
    for target, source in enumerate([2, 0, 3, 1]):
        moves += f"""    %s{target} = pto.addptr %ub, %c{8 * source} : {p} -> {p}
    %d{target} = pto.addptr %ub, %c{32 + 8 * target} : {p} -> {p}
"""
        if target % 2:
            moves += (
                f"    pto.mte_ub_ub %s{target}, %d{target}, %c1_i64 nburst(%c1_i64, %c0_i64, %c0_i64)"
                f" : {p}, {p}, i64, i64, i64, i64\n"
            )
        else:
            moves += (
                f"    pto.copy_ubuf_to_ubuf %s{target}, %d{target}, %c0_i64, %c1_i64, %c1_i64, %c0_i64, %c0_i64"
                f" : {p}, {p}, i64, i64, i64, i64, i64\n"
            )
    body = f"""    %ub = pto.castptr %c0_i64 : i64 -> {p}
    %ub2 = pto.addptr %ub, %c32 : {p} -> {p}
{new_in("f32", 4, 32, 32, 32)}
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
{moves}    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
{new_out("f32", 4, 32, 32, 32).replace("%ub,", "%ub2,")}
    pto.barrier #pto.pipe<PIPE_ALL>"""
    text = module(body, f"%x: {gm('f32')}, %y: {gm('f32')}")
    x = data("f32", 32)
    equal(outcome(text, x, np.zeros(32, "f4"))[1], x.reshape(4, 8)[[2, 0, 3, 1]].reshape(-1))


def test_gaps_in_granules_inside_ub() -> None:
    p = ub("f32")
    body = f"""    %ub = pto.castptr %c0_i64 : i64 -> {p}
    %to = pto.castptr %c4096_i64 : i64 -> {p}
{new_in("f32", 1, 1024, 1024, 1024)}
{new_in("f32", 1, 1024, 1024, 1024).replace("%ub,", "%to,").replace("%x,", "%y,")}
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.mte_ub_ub %ub, %to, %c2_i64 nburst(%c3_i64, %c1_i64, %c4_i64) : {p}, {p}, i64, i64, i64, i64
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
{new_out("f32", 1, 1024, 1024, 1024).replace("%ub,", "%to,")}
    pto.barrier #pto.pipe<PIPE_ALL>"""
    text = module(body, f"%x: {gm('f32')}, %y: {gm('f32')}")
    x = data("f32", 256)
    expected = np.zeros((32, 8), "f4")
    for b in range(3):
        expected[6 * b : 6 * b + 2] = x.reshape(32, 8)[3 * b : 3 * b + 2]
    equal(outcome(text, x, np.zeros(256, "f4"))[1], expected.reshape(-1))


ATOMICS = {
    "f32": ("f32", np.float32),
    "f16": ("f16", np.float16),
    "s32": ("si32", np.int32),
    "s16": ("si16", np.int16),
    "s8": ("si8", np.int8),
}


@pytest.mark.parametrize("kind", ATOMICS)
@pytest.mark.parametrize("op", ["add", "max", "min"])
@pytest.mark.parametrize("first", ["op", "type"])
def test_atomic_stores(kind: str, op: str, first: str) -> None:
    element, number = ATOMICS[kind]
    size = np.dtype(number).itemsize
    setters = [f"    pto.set_atomic_{op}", f"    pto.set_atomic_{kind}"]
    back = "\n".join(setters if first == "op" else setters[::-1])
    copy = new_out(element, 1, 64, 64, 64)
    text = straight(
        new_in(element, 1, 64, 64, 64),
        copy + "\n    pto.set_atomic_none\n    pto.barrier #pto.pipe<PIPE_MTE3>\n" + copy.replace("%y,", "%x,"),
        element,
        "",
        back,
    )
    x, y = data(element, 64 // size), data(element, 64 // size, 5)
    with np.errstate(over="ignore"):
        expected = {"add": y + x, "max": np.maximum(y, x), "min": np.minimum(y, x)}[op].astype(number)
    out = outcome(text, x, y)
    equal(out[0], x)
    equal(out[1], expected)


def test_atomic_configuration_is_taken_when_the_copy_is_issued() -> None:
    text = straight(
        new_in("i32", 1, 64, 64, 64),
        new_out("i32", 1, 64, 64, 64) + "\n    pto.set_atomic_none",
        "i32",
        "",
        "    pto.set_atomic_s32\n    pto.set_atomic_add",
    )
    out = outcome(text, np.full(16, 3, "i4"), np.full(16, 10, "i4"), schedules=["delay:MTE3", "delay:MTE2", "random:3"])
    assert (out[1] == 13).all()


def test_two_blocks_add_into_one_array() -> None:
    text = straight(
        new_in("f32", 1, 64, 64, 64),
        new_out("f32", 1, 64, 64, 64),
        "f32",
        "",
        "    pto.set_atomic_add\n    pto.set_atomic_f32",
    )
    out = outcome(text, np.full(16, 3, "f4"), np.full(16, 10, "f4"), grid=5)
    assert (out[1] == 25).all()
    report = ptosim.check(ptosim.load(text).kernel(), np.ones(16, "f4"), np.ones(16, "f4"), grid=2)
    assert {f.kind for f in report.findings} <= {"lint"}


# --- past the end -----------------------------------------------------------------------------------------------------


def test_reads_past_the_end_are_zero_and_writes_are_dropped() -> None:
    """64 rows of 256 bytes from an argument of 300, 64 rows back to one of 500."""
    text = straight(new_in("ui8", 64, 256, 256, 256), new_out("ui8", 64, 256, 256, 256), "ui8")
    x, y = data("ui8", 300), np.full(500, 9, "u1")
    out = outcome(text, x, y, clean=False, oob="drop")[1]
    equal(out, np.concatenate([x, np.zeros(200, "u1")]))
    with pytest.raises(PTOError) as caught:
        ptosim.load(text).kernel()(x, y, engine="reference")
    assert caught.value.diagnostics[0].kind == "out-of-bounds"
    report = ptosim.check(ptosim.load(text).kernel(), x, y)
    assert not report.ok and {f.kind for f in report.findings if f.severity == "error"} == {"out-of-bounds"}


def test_copies_of_one_pipe_run_in_order_when_they_overlap() -> None:
    """The second operand's first row wins over the first one's overrun; check calls it a race."""
    body = f"""    %ub = pto.castptr %c0_i64 : i64 -> {ub("f32")}
    %ub2 = pto.castptr %c4096_i64 : i64 -> {ub("f32")}
{new_in("f32", 64, 256, 256, 256)}
{new_in("f32", 64, 256, 256, 256).replace("%x,", "%z,").replace("%ub,", "%ub2,")}
    pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
{new_out("f32", 1, 256, 256, 256).replace("%ub,", "%ub2,")}
    pto.barrier #pto.pipe<PIPE_ALL>"""
    text = module(body, f"%x: {gm('f32')}, %z: {gm('f32')}, %y: {gm('f32')}")
    x, z = data("f32", 64), data("f32", 64, 1)
    out = outcome(text, x, z, np.zeros(64, "f4"), clean=False, oob="drop")[2]
    equal(out, z)
    report = ptosim.check(ptosim.load(text).kernel(), x, z, np.zeros(64, "f4"))
    assert {f.kind for f in report.findings if f.severity == "error"} == {"out-of-bounds", "race"}


@pytest.mark.parametrize("engine", ["reference", "native"])
@table(
    "copy, kind",
    (new_in("f32", 1, 64, 64, 64).replace("%ub,", "%odd,"), "misaligned"),
    (new_in("f32", 2, 64, 64, 80), "misaligned"),
    (new_in("f32", 1, 64, 64, 64).replace("%ub,", "%high,"), "out-of-bounds"),
    (new_in("f32", 100, 64, 64, 64), "out-of-bounds"),
    (
        old_in("f32", 1, 64, 64, 64).replace(
            "%c64_i64, %c0_i64, %c0_i64, %false", "%cm64_i64, %c0_i64, %c0_i64, %false"
        ),
        "invalid",
    ),
    ids=["address", "stride", "ub", "gm", "negative"],
)
def test_bad_copies(copy: str, kind: str, engine: str) -> None:
    registers = f"""    %odd = pto.castptr %c16_i64 : i64 -> {ub("f32")}
    %high = pto.castptr %c262112_i64 : i64 -> {ub("f32")}"""
    text = straight(copy, new_out("f32", 1, 64, 64, 64), "f32", registers)
    with pytest.raises(PTOError) as caught:
        ptosim.load(text).kernel()(np.zeros(64, "f4"), np.zeros(64, "f4"), engine=engine)
    first = caught.value.diagnostics[0]
    line = next(n for n, words in enumerate(text.split("\n"), 1) if copy.strip().split("\n")[0].strip() in words)
    assert (first.kind, first.line) == (kind, line) or (
        kind == "invalid" and first.kind in ("invalid", "out-of-bounds")
    )


def test_copies_that_do_nothing() -> None:
    text = straight(
        new_in("f32", 1, 64, 64, 64) + "\n" + new_in("f32", 0, 64, 64, 64) + "\n" + new_in("f32", 3, 0, 64, 64),
        new_out("f32", 1, 64, 64, 64),
        "f32",
    )
    x = data("f32", 16)
    equal(outcome(text, x, np.zeros(16, "f4"))[1], x)


def test_a2a3_copies_rows_of_any_length() -> None:
    """Of mte_gm_ub and mte_ub_gm, which are the aligned form there; only copy_* wants whole granules."""
    text = straight(new_in("f32", 1, 60, 60, 64), new_out("f32", 1, 60, 64, 60), "f32").replace('"a5"', '"a3"')
    x = np.arange(64, dtype="f4")
    for engine in ("reference", "native"):
        y = np.zeros(64, "f4")
        ptosim.load(text).kernel()(x, y, engine=engine)
        assert np.array_equal(y[:15], x[:15])
        assert not y[15:].any()


def test_rows_beyond_the_last_address_are_outside() -> None:
    """The second row would begin where 64 bits end."""
    first = 2**63 - 32
    body = f"""    %ub = pto.castptr %c{first}_i64 : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %ub, %c0_i64, %c32_i64 nburst(%c2_i64, %c32_i64, %c64_i64)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.barrier <PIPE_ALL>"""
    kernel = ptosim.load(module(body, "%x: !pto.ptr<f32, gm>")).kernel()
    said = "writes bytes far behind the end of ub, which has 262144 bytes"
    for engine in ("reference", "native"):
        with pytest.raises(ptosim.PTOError, match=said):
            kernel(np.ones(64, "f4"), engine=engine)
    (found,) = ptosim.check(kernel, np.ones(64, "f4")).findings
    assert (found.kind, found.message) == ("out-of-bounds", said)
