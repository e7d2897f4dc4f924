"""Tile kernels without synchronisation: what is inserted stands the sanitizer at every number of iterations.

The shapes are those of bugs that users of the official compiler reported: a wait lost behind a loop that may not run,
one moved across a branch, slots of a multi-buffer that producer and consumer take at different turns, tiles that share
bytes.
"""

from __future__ import annotations

import numpy as np
import pytest

import ptosim

TILE = "!pto.tile_buf<vec, 16x64xf32>"
PART = "!pto.partition_tensor_view<16x64xf32>"
ROWS = 16
TILES = 12
"""Of each array."""

HEAD = """
module attributes {{pto.target_arch = "{target}"}} {{
  func.func @kernel(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>, %n: index, %m: index) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %rows = arith.constant 192 : index
    %va = pto.make_tensor_view %a, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %vb = pto.make_tensor_view %b, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
"""


class Text:
    """The lines of a kernel: tiles are named, copies go to and from tile number `index` of an array."""

    def __init__(self, target: str = "a5") -> None:
        self.lines = [HEAD.format(target=target)]
        self.parts = 0

    def add(self, line: str) -> Text:
        self.lines.append(line)
        return self

    def tiles(self, *names: str) -> Text:
        for name in names:
            self.add(f"%{name} = pto.alloc_tile : {TILE}")
        return self

    def _part(self, array: str, index: str) -> str:
        self.parts += 1
        part = f"%part{self.parts}"
        self.add(f"%row{self.parts} = arith.muli {index}, %c16 : index")
        self.add(
            f"{part} = pto.partition_view %v{array}, offsets = [%row{self.parts}, %c0], sizes = [%c16, %c64] : "
            f"!pto.tensor_view<?x?xf32> -> {PART}"
        )
        return part

    def load(self, array: str, index: str, tile: str) -> Text:
        return self.add(f"pto.tload ins({self._part(array, index)} : {PART}) outs(%{tile} : {TILE})")

    def store(self, tile: str, array: str, index: str) -> Text:
        return self.add(f"pto.tstore ins(%{tile} : {TILE}) outs({self._part(array, index)} : {PART})")

    def sum(self, x: str, y: str, into: str) -> Text:
        return self.add(f"pto.tadd ins(%{x}, %{y} : {TILE}, {TILE}) outs(%{into} : {TILE})")

    def loop(self, index: str, end: str) -> Text:
        return self.add(f"scf.for %{index} = %c0 to {end} step %c1 {{")

    def end(self) -> Text:
        return self.add("}")

    def kernel(self) -> ptosim.Kernel:
        return ptosim.load("\n".join([*self.lines, "return", "}", "}", ""])).kernel()


def arrays() -> tuple[np.ndarray, np.ndarray]:
    a = np.arange(TILES * ROWS * 64, dtype="f4").reshape(TILES * ROWS, 64)
    return a, np.zeros_like(a)


def is_clean(kernel: ptosim.Kernel, n: int, m: int = 1) -> bool:
    report = ptosim.check(kernel, *arrays(), n, m)
    kinds = {finding.kind for finding in report.findings} - {"lint", "uninitialized"}
    assert not kinds, f"n = {n}, m = {m}\n{report}"
    return True


def in_tiles(array: np.ndarray) -> np.ndarray:
    return array.reshape(TILES, ROWS, 64)


def test_a_loop_over_tiles():
    text = Text().tiles("x", "y").loop("i", "%n").load("a", "%i", "x").sum("x", "x", "y").store("y", "b", "%i").end()
    kernel = text.kernel()
    assert all(is_clean(kernel, n) for n in range(10))
    a, b = arrays()
    kernel(a, b, 9, 1)
    assert np.array_equal(in_tiles(b)[:9], 2 * in_tiles(a)[:9]) and not in_tiles(b)[9:].any()


@pytest.mark.parametrize("slots", [2, 3])
def test_a_multi_buffer_in_a_nest(slots: int):
    multi = f"!pto.multi_tile_buf<vec, 16x64xf32, count={slots}>"
    text = Text().add(f"%xs = pto.alloc_multi_tile : {multi}").add(f"%ys = pto.alloc_multi_tile : {multi}")
    text.loop("j", "%m").loop("i", "%n").add(f"%s = arith.remui %i, %c{slots} : index")
    for name in "xy":
        text.add(f"%{name} = pto.multi_tile_get %{name}s[%s] : {multi} -> {TILE}")
    kernel = text.load("a", "%i", "x").sum("x", "x", "y").store("y", "b", "%i").end().end().kernel()
    assert all(is_clean(kernel, n, m) for n in range(6) for m in range(4))
    a, b = arrays()
    kernel(a, b, 7, 2)
    assert np.array_equal(in_tiles(b)[:7], 2 * in_tiles(a)[:7])


def test_two_slots_are_faster_than_one():
    cycles: list[int] = []
    for slots in (1, 2):
        multi = "!pto.multi_tile_buf<vec, 16x64xf32, count=2>"
        text = Text().add(f"%xs = pto.alloc_multi_tile : {multi}").add(f"%ys = pto.alloc_multi_tile : {multi}")
        text.loop("i", "%n").add(
            "%s = arith.remui %i, %c2 : index" if slots == 2 else "%s = arith.addi %c0, %c0 : index"
        )
        for name in "xy":
            text.add(f"%{name} = pto.multi_tile_get %{name}s[%s] : {multi} -> {TILE}")
        kernel = text.load("a", "%i", "x").sum("x", "x", "y").store("y", "b", "%i").end().kernel()
        cycles.append(ptosim.profile(kernel, *arrays(), 12, 1).cycles)
    assert cycles[1] < 0.8 * cycles[0]


def test_producer_and_consumer_at_different_slots():
    """Load slot i + 1, store slot i: tokens that are counted by slot let the load pass an iteration too early."""
    multi = "!pto.multi_tile_buf<vec, 16x64xf32, count=2>"
    text = Text().add(f"%xs = pto.alloc_multi_tile : {multi}")
    text.add("%z = pto.multi_tile_get %xs[%c0] : " + f"{multi} -> {TILE}").load("a", "%c0", "z").loop("i", "%n")
    text.add("%next = arith.addi %i, %c1 : index").add("%ahead = arith.remui %next, %c2 : index")
    text.add("%now = arith.remui %i, %c2 : index")
    text.add(f"%x = pto.multi_tile_get %xs[%ahead] : {multi} -> {TILE}")
    text.add(f"%y = pto.multi_tile_get %xs[%now] : {multi} -> {TILE}")
    kernel = text.load("a", "%next", "x").store("y", "b", "%i").end().kernel()
    assert all(is_clean(kernel, n) for n in range(10))
    a, b = arrays()
    kernel(a, b, 9, 1)
    assert np.array_equal(in_tiles(b)[:9], in_tiles(a)[:9])


def test_slots_that_are_carried_in_turn():
    text = Text().tiles("p", "q", "y")
    text.add(f"%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %p, %o = %q) -> ({TILE}, {TILE}) {{")
    text.load("a", "%i", "x").sum("x", "x", "y").store("y", "b", "%i").add(f"scf.yield %o, %x : {TILE}, {TILE}").end()
    kernel = text.kernel()
    assert all(is_clean(kernel, n) for n in range(10))
    a, b = arrays()
    kernel(a, b, 5, 1)
    assert np.array_equal(in_tiles(b)[:5], 2 * in_tiles(a)[:5])


def test_what_follows_a_loop_waits_even_if_the_loop_does_not_run():
    text = Text().tiles("x", "y").load("a", "%c0", "x").loop("i", "%n").load("a", "%i", "x").end()
    kernel = text.sum("x", "x", "y").store("y", "b", "%c0").kernel()
    assert all(is_clean(kernel, n) for n in range(4))


def test_a_branch_on_one_side_of_which_nothing_happens():
    text = Text().tiles("x", "y").loop("i", "%n").load("a", "%i", "x").add("%odd = arith.remui %i, %c2 : index")
    text.add("%is_odd = arith.cmpi eq, %odd, %c1 : index").add("scf.if %is_odd {").sum("x", "x", "y").add("} else {")
    kernel = text.store("x", "b", "%i").end().store("x", "b", "%i").end().kernel()
    assert all(is_clean(kernel, n) for n in range(8))


def test_tiles_that_share_bytes():
    """The store still reads the bytes that the next tile is computed into."""
    text = Text().add("%z = arith.constant 0 : i64").add("%w = arith.constant 4096 : i64")
    for name, place in (("x", "%w"), ("y", "%z"), ("v", "%z")):
        text.add(f"%{name} = pto.alloc_tile addr = {place} : {TILE}")
    text.load("a", "%c0", "x").sum("x", "x", "y").store("y", "b", "%c0").sum("x", "x", "v").store("v", "b", "%c1")
    assert is_clean(text.kernel(), 0)


def test_in_place_in_global_memory():
    text = Text().tiles("x", "y").loop("i", "%n").load("a", "%i", "x").sum("x", "x", "y").store("y", "a", "%i").end()
    assert all(is_clean(text.kernel(), n) for n in range(5))


def test_a_neighbour_is_read_that_the_iteration_before_has_written():
    text = Text().tiles("x", "y").loop("i", "%n").add("%next = arith.addi %i, %c1 : index").load("b", "%i", "x")
    kernel = text.load("a", "%i", "y").sum("x", "y", "y").store("y", "b", "%next").end().kernel()
    assert all(is_clean(kernel, n) for n in range(9))
    a, b = arrays()
    kernel(a, b, 9, 1)
    assert np.array_equal(in_tiles(b)[9], in_tiles(a)[:9].sum(0))


def test_dependent_vector_operations_of_an_older_machine_get_a_barrier():
    for target, expected in (("a5", 0), ("a3", 1)):
        text = Text(target).tiles("x", "y").load("a", "%c0", "x").sum("x", "x", "y").sum("y", "y", "x")
        kernel = text.store("x", "b", "%c0").kernel()
        operations = [op for op in kernel.module.executable.parsed.module.walk() if op.name == "pto.barrier"]
        assert sum(op.word("pipe") == "PIPE_V" for op in operations) == expected  # type: ignore[attr-defined]


def test_a_long_vector_operation_is_over_when_its_result_is_read():
    """Sixteen registers and more, read back as they were written, need no barrier there either."""
    text = Text("a3").tiles("x", "y", "z").load("a", "%c0", "x").sum("x", "x", "y").sum("y", "y", "z")
    kernel = text.store("z", "b", "%c0").kernel()
    operations = [op for op in kernel.module.executable.parsed.module.walk() if op.name == "pto.barrier"]
    assert not any(op.word("pipe") == "PIPE_V" for op in operations)  # type: ignore[attr-defined]


def test_the_kernel_ends_with_everything_drained():
    kernel = Text().tiles("x").load("a", "%c0", "x").store("x", "b", "%c0").kernel()
    function = next(iter(kernel.program.entries.values()))
    *_, last, _ = function.body.block.ops
    assert last.name == "pto.barrier" and last.word("pipe") == "PIPE_ALL"  # type: ignore[attr-defined]


def test_an_inserted_flag_stands_where_the_operation_was_written_that_it_serves():
    kernel = Text().tiles("x").load("a", "%c0", "x").store("x", "b", "%c0").kernel()
    parsed = kernel.module.executable.parsed
    flags = {op.name: parsed.origin(op).name for op in parsed.module.walk() if op.name.endswith("_flag")}
    assert flags == {"pto.set_flag": "pto.tload", "pto.wait_flag": "pto.tstore"}
