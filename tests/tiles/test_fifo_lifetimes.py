"""When entries of FIFOs are freed: later than the next one is popped, in another block, before they are used."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptosim
from fifo_programs import ACC, COLS, ROWS, inputs, kinds, looped, mat, part, run, store, vec
from tiles.test_fifo import Fifo, to_vector

TILE = vec(ROWS, COLS)
COUNT = 6
FREE = "pto.tfree_from_aic {split = 0}"
POP = f"pto.tpop_from_aic {{split = 0}} -> {TILE}"


def arguments(fifo: Fifo, count: int = COUNT) -> tuple[list[object], np.ndarray, np.ndarray]:
    a, b, product = inputs(count)
    out = np.zeros_like(product)
    return [a, b, out, count, *fifo.arguments()], out, product


def stored(tile: str, row: str) -> str:
    return f"""pto.tadds ins(%{tile}, %one : {TILE}, f32) outs(%d : {TILE})
{part(f"p{tile}", "o", f"%{row}", ROWS, COLS, "f32")}
{store("d", TILE, f"p{tile}", ROWS, COLS, "f32")}"""


def with_consumer(fifo: Fifo, body: str, count: int = COUNT) -> str:
    """The kernel with another body of its vector program."""
    text = to_vector(fifo, count)
    begin = text.index(f"%d = pto.alloc_tile : {TILE}") + len(f"%d = pto.alloc_tile : {TILE}")
    return text[:begin] + f"\n{body}\n" + text[text.rindex("return") :]


def rows(*numbers: int) -> str:
    return "\n".join(f"%r{number} = arith.constant {32 * number} : index" for number in numbers)


FIFOS = [Fifo(2), Fifo(4), Fifo(8), Fifo(4, target="a2a3", through_gm=True), Fifo(3)]


@pytest.mark.parametrize("fifo", FIFOS, ids=lambda fifo: f"{fifo.target}-{fifo.slots}")
@pytest.mark.parametrize("unrolled", [False, True])
def test_two_entries_at_once(fifo: Fifo, unrolled: bool) -> None:
    """Frees give the oldest entries back, so that as many are signalled as if each had been freed at once."""
    step = f"""%t = {POP}
%u = {POP}
%r = arith.muli %i , %c64 : index
%s = arith.addi %r, %c32 : index
{stored("t", "r")}
{FREE}
{stored("u", "s")}
{FREE}"""
    if unrolled:
        names = re.findall(r"%(\w+) = ", step)
        named = re.sub(rf"%({'|'.join(names)})\b", r"%\1@", step)
        body = looped(named, COUNT // 2, unrolled=True)
    else:
        body = f"%half = arith.divui %n, %c2 : index\n{looped(step, COUNT // 2, False).replace('%n ', '%half ')}"
    given, out, product = arguments(fifo)
    run(with_consumer(fifo, body), *given, clean=fifo.target == "a5")
    assert np.array_equal(out, product + 1)


def test_all_entries_are_freed_at_the_end() -> None:
    fifo = Fifo(8)
    pops = "\n".join(f"%t{number} = {POP}\n{stored(f't{number}', f'r{number}')}" for number in range(3))
    body = f"{rows(0, 1, 2)}\n{pops}\n{FREE}\n{FREE}\n{FREE}"
    given, out, product = arguments(fifo, 3)
    run(with_consumer(fifo, body, 3), *given)
    assert np.array_equal(out, product + 1)


def test_an_entry_is_freed_in_another_block() -> None:
    fifo = Fifo(2)
    body = f"""%r = arith.muli %i , %c32 : index
%t = {POP}
{stored("t", "r")}
%always = arith.cmpi uge, %i, %c0 : index
scf.if %always {{
{FREE}
}}"""
    given, out, product = arguments(fifo)
    run(with_consumer(fifo, looped(body, COUNT, False)), *given)
    assert np.array_equal(out, product + 1)


def late(fifo: Fifo, count: int) -> str:
    """Each entry is used behind its free."""
    body = f"%r = arith.muli %i , %c32 : index\n%t = {POP}\n{FREE}\n{stored('t', 'r')}"
    return with_consumer(fifo, looped(body, count, False), count)


def test_an_entry_that_came_through_global_memory_stays_until_its_place_is_needed() -> None:
    """The copy of the consumer is its own; insertion orders the load of a later entry behind the use."""
    fifo = Fifo(2, target="a2a3", through_gm=True)
    given, out, product = arguments(fifo)
    run(late(fifo, COUNT), *given, clean=False)  # both vector cores store the same
    assert np.array_equal(out, product + 1)


def test_an_entry_in_a_slot_is_lost_behind_its_free() -> None:
    """While no one fills the slot again it is there; later the cube may write what is being read."""
    fifo = Fifo(2)
    given, out, product = arguments(fifo, 2)
    run(late(fifo, 2), *given)
    assert np.array_equal(out, product + 1)
    given, *_ = arguments(fifo)
    assert kinds(late(fifo, COUNT), *given) == {"race"}


@pytest.mark.parametrize(("rows", "fits"), [(8, True), (32, False)])
def test_the_valid_region_of_an_entry_fits_in_its_slot(rows: int, fits: bool) -> None:
    """Types may be larger than slots; the run counts."""
    fifo = Fifo(2)
    opened = TILE.replace("xf32", "xf32, valid=?x?")
    body = (
        f"%rows = arith.constant {rows} : index\n%t = pto.tpop_from_aic(%rows, %c64) {{split = 0}} -> {opened}\n{FREE}"
    )
    text = with_consumer(fifo, body, 1).replace("slot_size = 8192", "slot_size = 2048")
    left, right = mat(32, 16, loc="left"), mat(16, 64, loc="right")
    for type_, valid in ((ACC, "%size, %c64"), (left, "%size, %c16"), (right, "%c16, %c64")):
        row, col = valid.split(", ")
        wide = type_.replace(", blayout", ", valid=?x?, blayout", 1)
        made = f"= pto.alloc_tile valid_row = {row} valid_col = {col} : {wide}"
        text = text.replace(f"= pto.alloc_tile : {type_}", made).replace(type_, wide)
    text = text.replace("%n: index)", "%n: index, %size: index)")
    given, *_ = arguments(fifo, 1)
    kernel = ptosim.load(text).kernel
    if fits:
        assert ptosim.check(kernel(), *given, rows).ok
        with pytest.raises(ptosim.PTOError, match="does not fit in slots of slot_size 2048"):
            kernel()(*given, 32)
    else:
        with pytest.raises(ptosim.PTOError, match="an entry of 8192 bytes does not fit in slots of slot_size 2048"):
            kernel()(*given, rows)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_more_frees_than_pops(target: str) -> None:
    """Loading does not count; the run does, and goes on."""
    fifo = Fifo(4, target=target, through_gm=target == "a2a3")
    body = f"{rows(0)}\n%t = {POP}\n{stored('t', 'r0')}\n{FREE}\n{FREE}"
    text = with_consumer(fifo, body, 1)
    given, out, product = arguments(fifo, 1)
    found = ptosim.check(ptosim.load(text).kernel(), *given).findings
    assert [finding.kind for finding in found if finding.severity == "error"] == ["buffer-misuse"]
    assert found[0].message.endswith("more entries of this FIFO are freed than were popped")
    assert found[0].line == text[: text.rindex(FREE)].count("\n") + 1
    ptosim.load(text).kernel()(*given)
    assert np.array_equal(out, product + 1)


def test_more_frees_than_pops_in_a_loop() -> None:
    fifo = Fifo(4)
    body = f"{rows(0)}\n%t = {POP}\n{stored('t', 'r0')}\n{looped(FREE, 2, False)}"
    text = with_consumer(fifo, body, 1).replace(
        "%i = %c0 to %n step %c1 {\n" + FREE, "%i = %c0 to %c2 step %c1 {\n" + FREE
    )
    given, *_ = arguments(fifo, 1)
    assert kinds(text, *given) == {"buffer-misuse", "undrained"}  # two frees of four slots are a signal
