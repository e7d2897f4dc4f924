"""What a check says of tiles beyond their instructions: addresses that overlap, operations that overlap on a2a3."""

from __future__ import annotations

import pytest

import ptosim
from order.test_kernels import TILE, Text, arrays

ROW = "!pto.tile_buf<vec, 1x64xf32>"


def at(text: Text, name: str, address: int) -> Text:
    text.add(f"%at_{name} = arith.constant {address} : i64")
    return text.add(f"%{name} = pto.alloc_tile addr = %at_{name} : {TILE}")


def found(text: Text, kind: str) -> list[ptosim.Finding]:
    report = ptosim.check(text.kernel(), *arrays(), 2, 1)
    return [each for each in report.findings if each.kind == kind]


def three(second: int) -> Text:
    return at(at(at(Text(), "x", 0), "y", second), "z", 16384)


def test_a_tile_that_another_one_overwrites_before_it_is_read():
    """A tile has 4096 bytes: y begins inside of x. The copies are in order, so nothing but this is wrong."""
    text = three(2048).load("a", "%c0", "x").load("a", "%c1", "y").sum("x", "y", "z").store("z", "b", "%c0")
    (overlap,) = found(text, "overlap")
    assert overlap.severity == "warning" and "ub[2048:6144] and ub[0:4096] overlap" in overlap.message
    assert [other.role for other in overlap.related] == [
        "ub[0:4096] is here",
        "ub[2048:6144] is here",
        "the lost tile is read here",
    ]
    assert not found(text, "race")


def test_only_what_the_kernel_runs_is_looked_at():
    text = three(2048).load("a", "%c0", "x").load("a", "%c1", "y").sum("x", "y", "z").store("z", "b", "%c0")
    apart = three(4096).load("a", "%c0", "x").load("a", "%c1", "y").sum("x", "y", "z").store("z", "b", "%c0")
    one, other = ("\n".join([*each.lines, "return", "}", "}", ""]) for each in (text, apart))
    functions = other[other.index("  func.func") : other.rindex("}")].replace("@kernel", "@apart")
    module = ptosim.load(one[: one.rindex("}")] + functions + "}\n")
    for name, kinds in (("kernel", ["overlap"]), ("apart", [])):
        report = ptosim.check(module.kernel(name), *arrays(), 2, 1)
        assert [each.kind for each in report.findings] == kinds


def test_tiles_that_take_turns_in_the_same_bytes():
    """What was there is not read any more when the other one comes."""
    text = three(2048).load("a", "%c0", "x").sum("x", "x", "z").load("a", "%c1", "y").sum("y", "z", "z")
    assert not found(text.load("a", "%c2", "x").sum("x", "z", "z").store("z", "b", "%c0"), "overlap")
    apart = three(4096).load("a", "%c0", "x").load("a", "%c1", "y").sum("x", "y", "z").store("z", "b", "%c0")
    assert not found(apart, "overlap")


def test_a_tile_at_the_same_place_is_another_view_of_its_bytes():
    text = three(0).load("a", "%c0", "x").sum("y", "y", "y").sum("x", "y", "z").store("z", "b", "%c0")
    assert not found(text, "overlap")


@pytest.mark.parametrize("second", [0, 512])
def test_a_tile_that_is_filled_over_one_that_nobody_has_read(second: int):
    """At the same address, or one row inside of a larger tile: both are loaded, then one operation reads both."""
    if second:
        text = at(at(Text(), "x", 0), "z", 16384).add(f"%at_y = arith.constant {second} : i64")
        text.add(f"%y = pto.alloc_tile addr = %at_y : {ROW}")
        text.add("%two = arith.constant 2.0 : f32").load("a", "%c0", "x")
        text.add(f"pto.texpands ins(%two : f32) outs(%y : {ROW})")
        text.add(f"pto.tcolexpandadd ins(%x, %y : {TILE}, {ROW}) outs(%z : {TILE})")
    else:
        text = three(0).load("a", "%c0", "x").load("a", "%c1", "y").sum("x", "y", "z")
    (overlap,) = found(text.store("z", "b", "%c0"), "overlap")
    end = second + 256 if second else 4096
    assert overlap.severity == "warning" and f"ub[{second}:{end}] and ub[0:4096] overlap" in overlap.message


def test_what_a_view_has_filled_may_be_read_by_another_one():
    """The identity of a tile is its address."""
    text = three(0).load("a", "%c0", "x").load("a", "%c1", "y").sum("x", "x", "z")
    assert not found(text.store("z", "b", "%c0"), "overlap")


def test_a_tile_at_the_same_place_takes_over_what_was_read():
    """The usual way of tiles without a plan: a result has the address of its source, or of one that is not needed."""
    text = three(0).load("a", "%c0", "x").sum("x", "x", "y").sum("y", "y", "z").store("z", "b", "%c0")
    assert not found(text, "overlap")
    text = three(0).load("a", "%c0", "x").sum("x", "x", "z").load("a", "%c1", "y").sum("x", "z", "z")
    assert not found(text.store("z", "b", "%c0"), "overlap")


def test_a_tile_that_a_loop_overwrites_before_it_reads_it():
    text = three(2048).load("a", "%c0", "x").loop("i", "%n").load("a", "%i", "y").sum("x", "y", "z").end()
    (overlap,) = found(text.store("z", "b", "%c0"), "overlap")
    assert "ub[2048:6144] and ub[0:4096] overlap" in overlap.message
    again = three(2048).load("a", "%c0", "x").loop("i", "%n").load("a", "%i", "y").load("a", "%i", "x")
    assert not found(again.sum("x", "x", "z").end().store("z", "b", "%c0"), "overlap")


def test_a_loop_fills_a_tile_over_one_that_nobody_has_read():
    """A running sum and what is added to it at one address: the sum is lost whenever the loop is executed."""
    text = three(0).load("a", "%c0", "x").loop("i", "%n").load("a", "%i", "y").sum("x", "y", "x").end()
    (overlap,) = found(text.store("x", "b", "%c0"), "overlap")
    assert "ub[0:4096] and ub[0:4096] overlap" in overlap.message
    read = (
        three(0).load("a", "%c0", "x").sum("x", "x", "z").loop("i", "%n").load("a", "%i", "y").sum("x", "y", "x").end()
    )
    assert not found(read.store("x", "b", "%c0"), "overlap")  # somebody has read it, and it may be a view of the other
    turns = three(0).load("a", "%c0", "x").loop("i", "%n").sum("x", "z", "z").load("a", "%i", "y").sum("x", "y", "z")
    assert not found(turns.end().store("z", "b", "%c0"), "overlap")


def test_a_loop_in_between_may_write_the_tile_anew():
    text = three(2048).load("a", "%c0", "x").load("a", "%c1", "y").loop("i", "%n").load("a", "%i", "x").end()
    assert not found(text.sum("x", "x", "z").store("z", "b", "%c0"), "overlap")


def row(target: str, between: str, first: str, second: str) -> Text:
    """Two operations on rows of one register."""
    text = Text(target).add("%two = arith.constant 2.0 : f32").add(f"%r = pto.alloc_tile : {ROW}")
    text.add(f"%s = pto.alloc_tile : {ROW}").tiles("x").load("a", "%c0", "x")
    for name in ("r", "s"):
        text.add(f"pto.texpands ins(%two : f32) outs(%{name} : {ROW})").add("pto.barrier #pto.pipe<PIPE_V>")
    text.add(f"pto.tmuls ins(%{first[0]}, %two : {ROW}, f32) outs(%{first[1]} : {ROW})").add(between)
    text.add(f"pto.tmuls ins(%{second[0]}, %two : {ROW}, f32) outs(%{second[1]} : {ROW})")
    text.add('pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]')
    return text.add('pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]').store("x", "b", "%c0")


@pytest.mark.parametrize(("first", "second"), [("rs", "sr"), ("rs", "rs")], ids=["raw", "waw"])
def test_dependent_vector_operations_overlap_on_a2a3(first: str, second: str):
    (race, *_) = found(row("a2a3", "", first, second), "race")
    assert race.severity == "warning" and race.hint == f"before line {race.line} add pto.barrier #pto.pipe<PIPE_V>"
    assert not ptosim.prove(row("a2a3", "", first, second).kernel()).proven
    for between in ("pto.barrier #pto.pipe<PIPE_V>", "pto.barrier_sync[<TVEC>]"):
        assert not found(row("a2a3", between, first, second), "race")
        assert ptosim.prove(row("a2a3", between, first, second).kernel()).proven
    assert not found(row("a5", "", first, second), "race")


def test_operations_on_different_rows_need_no_barrier():
    assert not found(row("a2a3", "", "rr", "ss"), "race")


def test_a_long_operation_is_over_when_its_result_is_read():
    """16 registers and more, read back exactly as they were written, need no barrier; written again they do."""
    flags = ('pto.set_flag["PIPE_{0}", "PIPE_{1}", "EVENT_ID0"]', 'pto.wait_flag["PIPE_{0}", "PIPE_{1}", "EVENT_ID0"]')
    for again, races in (("y", 0), ("x", 1)):
        text = Text("a2a3").tiles("x", "y", "z").load("a", "%c0", "x")
        for flag in flags:
            text.add(flag.format("MTE2", "V"))
        text.sum("x", "x", "z").sum("z", "z", again)
        for flag in flags:
            text.add(flag.format("V", "MTE3"))
        assert len(found(text.store("z", "b", "%c0"), "race")) == races
