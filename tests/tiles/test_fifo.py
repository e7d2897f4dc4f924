"""FIFOs between cube and vector cores: what arrives, whatever the slots, splits and memories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product as every_pair
from typing import Any

import numpy as np
import pytest

import ptosim
from fifo_programs import (
    ACC,
    COLS,
    CUBE_TILES,
    DEPTH,
    NZ,
    ROWS,
    inputs,
    kinds,
    load,
    looped,
    mat,
    module,
    multiply,
    part,
    run,
    store,
    vec,
    view,
)
from tables import table

TENSOR = f"!pto.tensor_view<?x{COLS}xf32>"
HALVES = {0: (1, 1), 1: (2, 1), 2: (1, 2)}
"""By `split`, the parts of an entry downwards and across."""
WHICH = "%which = pto.get_subblock_idx\n%sub = arith.index_cast %which : i64 to index"


@dataclass(frozen=True)
class Fifo:
    """A FIFO of a test."""

    slots: int
    split: int = 0
    target: str = "a5"
    through_gm: bool = False
    unrolled: bool = False
    planned: bool = True
    mask: int = 1
    local: int | None = None
    """`local_slot_num`."""

    def initialize(self, side: str) -> str:
        """The initialisation of an end, and what has to stand before it."""
        words = [f"dir_mask = {self.mask}", "slot_size = 8192", f"slot_num = {self.slots}"]
        words += [f"local_slot_num = {self.local}"] if self.local else []
        operands, before = [], ""
        if self.through_gm and self.target == "a5":
            before = (
                f"%slots = pto.make_tensor_view %slots_gm, shape = [%c4096, %c64], strides = [%c64, %c1] : {TENSOR}\n"
            )
            operands.append(f"gm_slot_tensor = %slots : {TENSOR}")
        elif self.through_gm:
            operands.append("gm_slot_buffer = %slots_gm : !pto.ptr<f32>")
        for bit, way, owner, memory in ((1, "c2v", "aiv", "vec"), (2, "v2c", "aic", "mat")):
            if self.mask & bit:
                before += self._buffer(way, memory, side == owner, owner)
                operands.append(f"{way}_consumer_buf = %{way} : i32")
        name = {"aic": "pto.aic_initialize_pipe", "aiv": "pto.aiv_initialize_pipe"}[side]
        return f"{before}{name} {{{', '.join(words)}}} ({', '.join(operands)})"

    def _buffer(self, way: str, memory: str, is_owner: bool, owner: str) -> str:
        if not is_owner:
            return f'%{way} = pto.import_reserved_buffer {{name = "{way}", peer_func = @k_{owner}}} -> i32\n'
        size = (self.local or self.slots) * 8192
        place = "auto = true" if self.planned else "auto = false, base = 512"
        location = f"location = #pto.address_space<{memory}>"
        return f'%{way} = pto.reserve_buffer {{name = "{way}", size = {size}, {location}, {place}}} -> i32\n'

    def module(self, cube: str, vector: str) -> str:
        slots = ", %slots_gm: !pto.ptr<f32>" if self.through_gm else ""
        return module(cube, vector, self.target, slots)

    def arguments(self) -> list[np.ndarray]:
        return [np.zeros(2 * self.slots * 2048, np.float32)] if self.through_gm else []


def sampled(*chosen: tuple[object, ...], every: Iterable[tuple[object, ...]]) -> list[Any]:
    """All cases; those that are not chosen are left to the full suite."""
    return [pytest.param(*each, marks=() if each in chosen else pytest.mark.full) for each in every]


# --- from cube to vector ----------------------------------------------------------------------------------------------


def to_vector(fifo: Fifo, count: int) -> str:
    """The cube pushes products, the vector cores add one and store."""
    down, across = HALVES[fifo.split]
    rows, cols = ROWS // down, COLS // across
    push = f"pto.tpush_to_aiv(%acc : {ACC}) {{split = {fifo.split}}}"
    cube = f"{fifo.initialize('aic')}\n{CUBE_TILES}\n{looped(multiply(push), count, fifo.unrolled)}"
    tile = vec(rows, cols)
    body = f"""%top@ = arith.muli %i , %c32 : index
%mine@ = arith.muli %sub, %c{16 if down > 1 else 0} : index
%down@ = arith.addi %top@, %mine@ : index
%across@ = arith.muli %sub, %c{32 if across > 1 else 0} : index
%t@ = pto.tpop_from_aic {{split = {fifo.split}}} -> {tile}
pto.tadds ins(%t@, %one : {tile}, f32) outs(%d : {tile})
pto.tfree_from_aic {{split = {fifo.split}}}
%po@ = pto.partition_view %o, offsets = [%down@, %across@], sizes = [%c{rows}, %c{cols}]
  : {TENSOR} -> !pto.partition_tensor_view<{rows}x{cols}xf32>
{store("d", tile, "po@", rows, cols, "f32")}"""
    vector = f"""{fifo.initialize("aiv")}
{WHICH}
{view("o", "out_gm", "%c4096", COLS, "f32")}
%d = pto.alloc_tile : {tile}
{looped(body, count, fifo.unrolled)}"""
    return fifo.module(cube, vector)


def arrives(fifo: Fifo, count: int, clean: bool = True) -> None:
    a, b, product = inputs(count)
    out = np.zeros_like(product)
    run(to_vector(fifo, count), a, b, out, count, *fifo.arguments(), clean=clean)
    assert np.array_equal(out, product + 1)


@pytest.mark.parametrize(
    ("slots", "split"), sampled((2, 0), (3, 1), (4, 2), (8, 1), every=every_pair((1, 2, 3, 4, 8), (0, 1, 2)))
)
def test_products_reach_the_vector_cores(slots: int, split: int) -> None:
    arrives(Fifo(slots, split), 2 * slots + 1)


@pytest.mark.parametrize("count", [0, 1, 4, pytest.param(6, marks=pytest.mark.full)])
def test_any_number_of_entries_leaves_no_signal_behind(count: int) -> None:
    arrives(Fifo(4), count)


@pytest.mark.parametrize("split", [0, 1])
def test_straight_code_counts_while_it_is_lowered(split: int) -> None:
    fifo = Fifo(2, split, unrolled=True, planned=False)
    assert "local_array" not in str(ptosim.load(to_vector(fifo, 5)).lowered())
    arrives(fifo, 5)


@pytest.mark.parametrize(("slots", "split"), sampled((2, 1), (4, 2), every=every_pair((2, 4), (0, 1, 2))))
def test_products_pass_through_global_memory(slots: int, split: int) -> None:
    arrives(Fifo(slots, split, through_gm=True), 2 * slots + 1)


@pytest.mark.parametrize(("local", "split"), sampled((None, 1), (2, 2), every=every_pair((None, 1, 2), (1, 2))))
def test_a2a3_goes_through_global_memory(local: int | None, split: int) -> None:
    arrives(Fifo(4, split, "a2a3", through_gm=True, local=local), 9)


def test_both_vector_cores_of_a2a3_take_what_is_not_split() -> None:
    arrives(Fifo(4, 0, "a2a3", through_gm=True), 9, clean=False)


def test_odd_halves_through_global_memory() -> None:
    """Of 31 rows AIV0 gets 16; of 63 columns AIV0 gets 32. A slot has room for what is valid, not for the tile."""
    for split, (rows, cols) in ((3, (31, 64)), (4, (32, 63))):
        a, b, product = inputs(3)
        out = np.zeros_like(product)
        fifo = Fifo(2, split, through_gm=True)
        text = odd_halves(fifo, rows, cols).replace("slot_size = 8192", f"slot_size = {rows * cols * 4}")
        run(text, a, b, out, 3, *fifo.arguments())
        expected = np.zeros_like(product).reshape(3, ROWS, COLS)
        expected[:, :rows, :cols] = product.reshape(3, ROWS, COLS)[:, :rows, :cols] + 1
        assert np.array_equal(out, expected.reshape(out.shape)), split


def odd_halves(fifo: Fifo, rows: int, cols: int) -> str:
    acc = ACC.replace("xf32", f"xf32, valid={rows}x{cols}")
    push = f"pto.tpush_to_aiv(%odd : {acc}) {{split = {fifo.split}}}"
    cube = f"""{fifo.initialize("aic")}
{CUBE_TILES}
%odd = pto.alloc_tile : {acc}
{looped(multiply(push).replace(f"%acc : {ACC}", f"%odd : {acc}"), 3, False)}"""
    cube = cube.replace("left, 32x16xf16", f"left, 32x16xf16, valid={rows}x16")
    cube = cube.replace("right, 16x64xf16", f"right, 16x64xf16, valid=16x{cols}")
    by_rows, shape = fifo.split == 3, "!pto.partition_tensor_view<?x?xf32>"
    tile = vec(ROWS // 2 if by_rows else ROWS, COLS if by_rows else COLS // 2, rest=", valid=?x?")
    larger, row_step, col_step = (rows + 1) // 2 if by_rows else (cols + 1) // 2, int(by_rows), int(not by_rows)
    body = f"""%top@ = arith.muli %i , %c32 : index
%down@ = arith.addi %top@, %mine_rows : index
%t@ = pto.tpop_from_aic(%r, %c) {{split = {fifo.split}}} -> {tile}
pto.tadds ins(%t@, %one : {tile}, f32) outs(%d : {tile})
pto.tfree_from_aic {{split = {fifo.split}}}
%po@ = pto.partition_view %o, offsets = [%down@, %mine_cols], sizes = [%r, %c] : {TENSOR} -> {shape}
pto.tstore ins(%d : {tile}) outs(%po@ : {shape})"""
    vector = f"""{fifo.initialize("aiv")}
{WHICH}
%larger = arith.constant {larger} : index
%rows = arith.constant {larger if by_rows else rows} : index
%cols = arith.constant {cols if by_rows else larger} : index
%row_step = arith.constant {row_step} : index
%col_step = arith.constant {col_step} : index
%fewer_rows = arith.muli %sub, %row_step : index
%fewer_cols = arith.muli %sub, %col_step : index
%r = arith.subi %rows, %fewer_rows : index
%c = arith.subi %cols, %fewer_cols : index
%mine_rows = arith.muli %fewer_rows, %larger : index
%mine_cols = arith.muli %fewer_cols, %larger : index
{view("o", "out_gm", "%c4096", COLS, "f32")}
%d = pto.alloc_tile valid_row = %r valid_col = %c : {tile}
{looped(body, 3, False)}"""
    return fifo.module(cube, vector)


# --- from vector to cube ----------------------------------------------------------------------------------------------


def to_cube(fifo: Fifo, count: int) -> str:
    """The vector cores push the left operands, doubled; the cube multiplies and stores."""
    down = HALVES[fifo.split][0]
    rows, tile = ROWS // down, vec(ROWS // down, DEPTH, "f16")
    boxed = vec(rows, DEPTH, "f16", f", {NZ}")
    entry = "d" if fifo.through_gm else "z"
    body = f"""%top@ = arith.muli %i , %c32 : index
%mine@ = arith.muli %sub, %c{16 if down > 1 else 0} : index
%down@ = arith.addi %top@, %mine@ : index
{part("pa@", "a", "%down@", rows, DEPTH, "f16")}
{load("pa@", rows, DEPTH, "f16", "x", tile)}
pto.tadd ins(%x, %x : {tile}, {tile}) outs(%d : {tile})
{"" if fifo.through_gm else f"pto.tmov ins(%d : {tile}) outs(%z : {boxed})"}
pto.tpush_to_aic(%{entry} : {tile if fifo.through_gm else boxed}) {{split = {fifo.split}}}"""
    vector = f"""{fifo.initialize("aiv")}
{WHICH}
{view("a", "a_gm", "%c4096", DEPTH, "f16")}
%x = pto.alloc_tile : {tile}
%d = pto.alloc_tile : {tile}
%z = pto.alloc_tile : {boxed}
{looped(body, count, fifo.unrolled)}"""
    left = mat(ROWS, DEPTH, loc="left")
    body = f"""%m@ = pto.tpop_from_aiv {{split = {fifo.split}}} -> {mat(ROWS, DEPTH)}
pto.tmov ins(%m@ : {mat(ROWS, DEPTH)}) outs(%la : {left})
pto.tfree_from_aiv {{split = {fifo.split}}}
pto.tmatmul ins(%la, %rb : {left}, {mat(DEPTH, COLS, loc="right")}) outs(%acc : {ACC})
%top@ = arith.muli %i , %c32 : index
{part("po@", "o", "%top@", ROWS, COLS, "f32")}
{store("acc", ACC, "po@", ROWS, COLS, "f32")}"""
    cube = f"""{fifo.initialize("aic")}
{CUBE_TILES}
{view("o", "out_gm", "%c4096", COLS, "f32")}
{looped(body, count, fifo.unrolled)}"""
    return fifo.module(cube, vector)


def arrives_at_the_cube(fifo: Fifo, count: int, clean: bool = True) -> None:
    a, b, product = inputs(count)
    out = np.zeros_like(product)
    run(to_cube(fifo, count), a, b, out, count, *fifo.arguments(), clean=clean)
    assert np.array_equal(out, 2 * product)


@pytest.mark.parametrize(("slots", "target"), sampled((2, "a2a3"), every=every_pair((2, 4), ("a5", "a2a3"))))
def test_operands_reach_the_cube_through_global_memory(slots: int, target: str) -> None:
    arrives_at_the_cube(Fifo(slots, 1, target, mask=2, through_gm=True), 2 * slots + 1)


def test_unsplit_operands_reach_the_cube() -> None:
    arrives_at_the_cube(Fifo(2, 0, "a5", mask=2, through_gm=True), 5)


@pytest.mark.parametrize(("slots", "split"), sampled((2, 1), (3, 0), every=every_pair((1, 2, 3, 4, 8), (0, 1))))
def test_operands_reach_the_cube(slots: int, split: int) -> None:
    arrives_at_the_cube(Fifo(slots, split, mask=2), 2 * slots + 1)


@pytest.mark.parametrize("split", [0, 1])
def test_blocks_with_a_row_between_them_reach_the_cube_without_it(split: int) -> None:
    """compact=2 is a matter of UB: the slot in L1 is what the cube takes it for."""
    text = to_cube(Fifo(2, split, mask=2), 3)
    boxed = vec(ROWS // HALVES[split][0], DEPTH, "f16", f", {NZ}")
    a, b, product = inputs(3)
    out = np.zeros_like(product)
    run(text.replace(boxed, f"{boxed[:-1]}, compact=2>"), a, b, out, 3)
    assert np.array_equal(out, 2 * product)


def test_an_nd_tile_through_l1_is_refused() -> None:
    """Nothing brings rows into blocks on the way."""
    boxed = vec(ROWS, DEPTH, "f16", f", {NZ}")
    text = to_cube(Fifo(2, mask=2), 5).replace(
        f"pto.tpush_to_aic(%z : {boxed})", f"pto.tpush_to_aic(%d : {vec(ROWS, DEPTH, 'f16')})"
    )
    a, b, product = inputs(5)
    with pytest.raises(ptosim.PTOError) as raised:
        ptosim.load(text).kernel()(a, b, np.zeros_like(product), 5)
    (said,) = raised.value.diagnostics
    assert said.kind == "invalid" and "an ND tile through an L1 FIFO" in said.message
    assert said.line == 1 + text[: text.index("pto.tpush_to_aic")].count("\n")


def test_blocks_through_gm_are_refused() -> None:
    """Entries lie by rows there, and what takes them brings them into blocks."""
    boxed, tile = vec(ROWS, DEPTH, "f16", f", {NZ}"), vec(ROWS, DEPTH, "f16")
    text = to_cube(Fifo(2, target="a3", through_gm=True, mask=2), 5)
    pushed = text.replace(f"pto.tpush_to_aic(%d : {tile})", f"pto.tpush_to_aic(%z : {boxed})")
    (found,) = ptosim.load(pushed).refused
    assert (found.kind, found.message) == ("invalid", "NZ tiles do not pass through GM, where entries lie by rows")
    assert not ptosim.load(text).refused


# --- both ways --------------------------------------------------------------------------------------------------------


def there_and_back(fifo: Fifo, count: int, at_once: bool = False) -> str:
    """The cube pushes products, the vector cores make f16 of them, the cube multiplies these by a second matrix.

    At once: it pushes all of them before it takes the first.
    """
    down, across = HALVES[fifo.split]
    rows, cols = ROWS // down, COLS // across
    left, right, second = mat(ROWS, COLS, loc="left"), mat(COLS, COLS, loc="right"), mat(COLS, COLS)
    push = f"pto.tpush_to_aiv(%acc : {ACC}) {{split = {fifo.split}}}"
    back = f"""%top@ = arith.muli %i , %c32 : index
%m@ = pto.tpop_from_aiv {{split = {fifo.split}}} -> {mat(ROWS, COLS)}
pto.tmov ins(%m@ : {mat(ROWS, COLS)}) outs(%lc : {left})
pto.tfree_from_aiv {{split = {fifo.split}}}
pto.tmatmul ins(%lc, %rc : {left}, {right}) outs(%acc2 : {ACC})
{part("po@", "o", "%top@", ROWS, COLS, "f32")}
{store("acc2", ACC, "po@", ROWS, COLS, "f32")}"""
    bodies = [multiply(push), back] if at_once else [f"{multiply(push)}\n{back}"]
    cube = f"""{fifo.initialize("aic")}
{CUBE_TILES}
{view("o", "out_gm", "%c4096", COLS, "f32")}
{view("c", "c_gm", "%c64", COLS, "f16")}
{part("pc", "c", "%c0", COLS, COLS, "f16")}
%mc = pto.alloc_tile : {second}
%lc = pto.alloc_tile : {left}
%rc = pto.alloc_tile : {right}
%acc2 = pto.alloc_tile : {ACC}
{load("pc", COLS, COLS, "f16", "mc", second)}
pto.tmov ins(%mc : {second}) outs(%rc : {right})
""" + "\n".join(looped(body, count, fifo.unrolled) for body in bodies)
    tile, half = vec(rows, cols), vec(rows, cols, "f16")
    boxed = vec(rows, cols, "f16", f", {NZ}")
    entry, type_ = ("h", half) if fifo.through_gm else ("z", boxed)
    body = f"""%t@ = pto.tpop_from_aic {{split = {fifo.split}}} -> {tile}
pto.tcvt ins(%t@ : {tile}) outs(%h : {half})
pto.tfree_from_aic {{split = {fifo.split}}}
{"" if fifo.through_gm else f"pto.tmov ins(%h : {half}) outs(%z : {boxed})"}
pto.tpush_to_aic(%{entry} : {type_}) {{split = {fifo.split}}}"""
    vector = f"""{fifo.initialize("aiv")}
%h = pto.alloc_tile : {half}
%z = pto.alloc_tile : {boxed}
{looped(body, count, fifo.unrolled)}"""
    text = fifo.module(cube, vector)
    return text.replace("%n: index", "%n: index, %c_gm: !pto.ptr<f16>")


def goes_there_and_back(fifo: Fifo, count: int) -> None:
    a, b, product = inputs(count)
    c = np.random.default_rng(1).integers(-2, 3, (COLS, COLS)).astype(np.float16)
    out = np.zeros_like(product)
    run(there_and_back(fifo, count), a, b, out, count, c, *fifo.arguments())
    assert np.array_equal(out, product @ c.astype(np.float32))


@pytest.mark.parametrize(("target", "slots"), sampled(("a2a3", 2), every=every_pair(("a5", "a2a3"), (2, 4))))
def test_both_ways_through_global_memory(target: str, slots: int) -> None:
    goes_there_and_back(Fifo(slots, 1, target, mask=3, through_gm=True), 2 * slots + 1)


@pytest.mark.parametrize(("slots", "split"), sampled((2, 1), (2, 2), every=every_pair((2, 4), (0, 1, 2))))
def test_both_ways(slots: int, split: int) -> None:
    goes_there_and_back(Fifo(slots, split, mask=3), 2 * slots + 1)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_left_and_right_halves_both_ways_through_global_memory(target: str) -> None:
    goes_there_and_back(Fifo(2, 2, target, mask=3, through_gm=True), 5)


def test_both_ways_in_straight_code() -> None:
    goes_there_and_back(Fifo(2, 1, mask=3, unrolled=True), 5)


def test_vector_cores_that_store_the_same_miss_a_semaphore_and_no_notice() -> None:
    """The cube has heard of one core and tells the other, by semaphores: nobody waits for a word in GM."""
    fifo, (a, b, product) = Fifo(2, target="a3", through_gm=True, unrolled=True), inputs(5)
    kernel = ptosim.load(to_vector(fifo, 5)).kernel()
    report = ptosim.check(kernel, a, b, np.zeros_like(product), 5, *fifo.arguments())
    races = [found for found in report.findings if found.kind == "race"]
    assert races and all(found.severity == "warning" for found in races), report
    assert "notice" not in str(report)


# --- entries in global memory -----------------------------------------------------------------------------------------


def tensors(slots: int, alloc: bool = True) -> str:
    """The cube stores its products into slots itself, and the vector core loads them."""
    fifo = Fifo(slots, through_gm=True)
    entry, tile = f"!pto.tensor_view<{ROWS}x{COLS}xf32>", vec(ROWS, COLS)
    slot = f"!pto.partition_tensor_view<{ROWS}x{COLS}xf32>"
    take = f"%v@ = pto.talloc_to_aiv {{split = 0}} -> {entry}"
    if not alloc:
        take = f"%v@ = pto.make_tensor_view %slots_gm, shape = [%c32, %c64], strides = [%c64, %c1] : {entry}"
    cut = f"%pv@ = pto.partition_view %v@, offsets = [%c0, %c0], sizes = [%c32, %c64] : {entry} -> {slot}"
    filled = f"{take}\n{cut}\n{store('acc', ACC, 'pv@', ROWS, COLS, 'f32')}"
    cube = f"""{fifo.initialize("aic")}
{CUBE_TILES}
{looped(multiply(filled, f"pto.tpush_to_aiv(%v@ : {entry}) {{split = 0}}"), 0, False)}"""
    body = f"""%v@ = pto.tpop_from_aic {{split = 0}} -> {entry}
{cut}
{load("pv@", ROWS, COLS, "f32", "x", tile)}
pto.tfree_from_aic(%v@ : {entry}) {{split = 0}}
pto.tadds ins(%x, %one : {tile}, f32) outs(%d : {tile})
%top@ = arith.muli %i , %c32 : index
{part("po@", "o", "%top@", ROWS, COLS, "f32")}
{store("d", tile, "po@", ROWS, COLS, "f32")}"""
    vector = f"""{fifo.initialize("aiv")}
{view("o", "out_gm", "%c4096", COLS, "f32")}
%x = pto.alloc_tile : {tile}
%d = pto.alloc_tile : {tile}
{looped(body, 0, False)}"""
    return fifo.module(cube, vector)


@pytest.mark.parametrize("slots", [2, 4])
def test_entries_that_the_kernel_stores_and_loads(slots: int) -> None:
    a, b, product = inputs(2 * slots + 1)
    out = np.zeros_like(product)
    run(tensors(slots), a, b, out, 2 * slots + 1, *Fifo(slots, through_gm=True).arguments())
    assert np.array_equal(out, product + 1)


@pytest.mark.parametrize("split", [0, 1])
def test_entries_that_vector_cores_store(split: int) -> None:
    """Each vector core stores its rows of the left operand; the cube loads all of them."""
    fifo, down = Fifo(2, split, mask=2, through_gm=True), HALVES[split][0]
    text, rows, half = to_cube(fifo, 5), ROWS // down, vec(ROWS // down, DEPTH, "f16")

    def taken(operation: str, rows: int) -> str:
        entry, shape = (f"!pto.{word}<{rows}x{DEPTH}xf16>" for word in ("tensor_view", "partition_tensor_view"))
        cut = f"%pv = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c{rows}, %c16] : {entry} -> {shape}"
        return f"%v = pto.{operation} {{split = {split}}} -> {entry}\n{cut}"

    pushed = f"""{taken("talloc_to_aic", rows)}
{store("d", half, "pv", rows, DEPTH, "f16")}
pto.tpush_to_aic(%v : !pto.tensor_view<{rows}x{DEPTH}xf16>) {{split = {split}}}"""
    popped = f"{taken('tpop_from_aiv', ROWS)}\n{load('pv', ROWS, DEPTH, 'f16', 'ma', mat(ROWS, DEPTH))}"
    text = text.replace(f"pto.tpush_to_aic(%d : {half}) {{split = {split}}}", pushed)
    text = text.replace(f"%m = pto.tpop_from_aiv {{split = {split}}} -> {mat(ROWS, DEPTH)}", popped)
    text = text.replace("pto.tmov ins(%m :", "pto.tmov ins(%ma :")
    a, b, product = inputs(5)
    out = np.zeros_like(product)
    run(text, a, b, out, 5, *fifo.arguments())
    assert np.array_equal(out, 2 * product)


def test_a_producer_that_does_not_ask_for_a_slot_overtakes() -> None:
    a, b, product = inputs(5)
    found = kinds(tensors(2, alloc=False), a, b, np.zeros_like(product), 5, *Fifo(2, through_gm=True).arguments())
    assert "race" in found


# --- other forms ------------------------------------------------------------------------------------------------------


def test_a_buffer_with_room_for_fewer_slots_has_fewer() -> None:
    """Eight slots by default, room for four: the tile behind them is not overwritten."""
    text = to_vector(Fifo(4), 9).replace(", slot_num = 4", "")
    a, b, product = inputs(9)
    out = np.zeros_like(product)
    run(text, a, b, out, 9)
    assert np.array_equal(out, product + 1)


def test_an_odd_number_of_slots_gives_back_each_alone() -> None:
    arrives(Fifo(5), 11)


def test_fifos_of_one_id_belong_together_whatever_their_order() -> None:
    """Two FIFOs, initialised in opposite orders at their ends."""
    text = to_vector(Fifo(2), 5)
    words = "id = 1, dir_mask = 1, slot_size = 8192, slot_num = 2"
    other = f"pto.{{}}_initialize_pipe {{{{{words}}}}} (c2v_consumer_buf = %c2v : i32)\n"
    text = text.replace("pto.aic_initialize", other.format("aic") + "pto.aic_initialize", 1)
    lines = text.splitlines()
    at = next(index for index, line in enumerate(lines) if "pto.aiv_initialize" in line)
    lines.insert(at + 1, other.format("aiv"))
    a, b, product = inputs(5)
    out = np.zeros_like(product)
    run("\n".join(lines), a, b, out, 5)
    assert np.array_equal(out, product + 1)


def test_the_form_with_handles() -> None:
    """What the assembler makes of a FIFO: handles instead of ids, tiles declared and bound by pops."""
    tile = vec(ROWS, COLS)
    text = to_vector(Fifo(2), 5)
    words = "dir_mask = 1, slot_size = 8192, slot_num = 2, flag_base = 4"
    setup = f"pto.initialize_l2l_pipe {{{words}}} (%c2v : i32) -> !pto.pipe"
    text = re.sub(r"pto\.a.._initialize_pipe.*", f"%p = {setup}", text)
    text = text.replace(f"pto.tpush_to_aiv(%acc : {ACC})", f"pto.tpush(%acc, %p : {ACC}, !pto.pipe)")
    popped = f"%t = pto.declare_tile -> {tile}\npto.tpop(%t, %p : {tile}, !pto.pipe) {{split = 0}}"
    text = text.replace(f"%t = pto.tpop_from_aic {{split = 0}} -> {tile}", popped)
    text = text.replace("pto.tfree_from_aic", "pto.tfree(%p : !pto.pipe)")
    a, b, product = inputs(5)
    out = np.zeros_like(product)
    run(text, a, b, out, 5)
    assert np.array_equal(out, product + 1)
    assert "pto.set_intra_block <PIPE_FIX>, 4" in str(ptosim.load(text).lowered())


@table("relu, quant", ("no_relu", "f32_f16"), ("normal_relu", "f32_f16"), ("normal_relu", "no_convert"))
def test_the_fixpipe_converts_on_the_way(relu: str, quant: str) -> None:
    element = "f16" if quant == "f32_f16" else "f32"
    epilogue = f", acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = {quant}, relu = {relu}>"
    text = to_vector(Fifo(2), 5).replace("slot_num = 2", f"slot_num = 2{epilogue}")
    tile, popped = vec(ROWS, COLS), vec(ROWS, COLS, element)
    text = text.replace(f"-> {tile}", f"-> {popped}")
    add = f"pto.tadds ins(%t, %one : {tile}, f32) outs(%d : {tile})"
    if element == "f16":
        text = text.replace(add, f"pto.tcvt ins(%t : {popped}) outs(%d : {tile})")
        text = text.replace("%d = pto", f"%e = pto.alloc_tile : {tile}\n%d = pto")
    a, b, product = inputs(5)
    expected = np.maximum(product, 0) if relu == "normal_relu" else product
    out = np.zeros_like(product)
    run(text, a, b, out, 5)
    assert np.array_equal(out, expected if element == "f16" else expected + 1)


def test_the_fixpipe_quantises_with_the_scale_that_is_set() -> None:
    epilogue = (
        ", acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = qf322f16_pre_scalar, relu = no_relu>"
    )
    text = to_vector(Fifo(2), 5).replace("slot_num = 2", f"slot_num = 2{epilogue}")
    tile, popped = vec(ROWS, COLS), vec(ROWS, COLS, "f16")
    text = text.replace(f"-> {tile}", f"-> {popped}")
    text = text.replace(f"pto.tadds ins(%t, %one : {tile}, f32)", f"pto.tcvt ins(%t : {popped})")
    setting = "%half = arith.constant 0.5 : f32\npto.set_quant_scalar(%half : f32) {id = 0}\n"
    text = text.replace("pto.tpush_to_aiv", f"{setting}pto.tpush_to_aiv")
    a, b, product = inputs(5)
    out = np.zeros_like(product)
    run(text, a, b, out, 5)
    assert np.array_equal(out, product * 0.5)


def test_views_that_handles_bind() -> None:
    """The form with handles through GM: the cube stores into declared views, the vector core loads from them."""
    entry = f"!pto.tensor_view<{ROWS}x{COLS}xf32>"
    words = "dir_mask = 1, slot_size = 8192, slot_num = 2"
    setup = f"pto.initialize_l2g2l_pipe {{{words}}} (%slots_gm : !pto.ptr<f32>, %c2v : i32) -> !pto.pipe"
    text = re.sub(r"pto\.a.._initialize_pipe.*", f"%p = {setup}", tensors(2))
    declared = f"%v = pto.declare_global -> {entry}\n"
    for old, new in (("talloc_to_aiv", "talloc"), ("tpop_from_aic", "tpop")):
        bound = f"{declared}pto.{new}(%v, %p : {entry}, !pto.pipe) {{split = 0}}"
        text = text.replace(f"%v = pto.{old} {{split = 0}} -> {entry}", bound)
    text = text.replace(f"pto.tpush_to_aiv(%v : {entry})", f"pto.tpush(%v, %p : {entry}, !pto.pipe)")
    text = text.replace(f"pto.tfree_from_aic(%v : {entry})", f"pto.tfree(%v, %p : {entry}, !pto.pipe)")
    a, b, product = inputs(5)
    out = np.zeros_like(product)
    run(text, a, b, out, 5, *Fifo(2, through_gm=True).arguments())
    assert np.array_equal(out, product + 1)


def test_a5_does_not_use_a_buffer_in_gm() -> None:
    """Only views of slots make entries pass through GM there."""
    text = to_vector(Fifo(2), 5).replace("%n: index", "%n: index, %g: !pto.ptr<f32>")
    text = text.replace("(c2v_consumer_buf", "(gm_slot_buffer = %g : !pto.ptr<f32>, c2v_consumer_buf")
    a, b, product = inputs(5)
    out, unused = np.zeros_like(product), np.zeros(16, np.float32)
    run(text, a, b, out, 5, unused)
    assert np.array_equal(out, product + 1) and not unused.any()
