"""Doubt in special registers: who decides AR, SQZN and the sort status decides where, how much and what is stored."""

import numpy as np
import pytest

import ptosim
from sanitize.kernels import ALL, MASK, check, kinds, load, order, scope, store, text, vlds

ELSEWHERE = """    %far = arith.constant 1024 : i64
    %sure = pto.castptr %far : i64 -> !pto.ptr<f32, ub>
    %word = pto.castptr %far : i64 -> !pto.ptr<i32, ub>
    %none = arith.constant 0 : i32
"""
RACY = ELSEWHERE + load("%y") + load("%y", "%out") + load(dest="%sure") + ALL + load()
"""Everything is defined, and in the end MTE2 writes %in once more while V may read it."""
ORDERED = RACY + order("MTE2", "V")
UNDEFINED = ELSEWHERE + load(dest="%out") + load(dest="%sure") + ALL
SHOWN = order("V", "MTE3") + store() + ALL

CLEAR = '      pto.sprclr "AR"\n'
LOADED = MASK + vlds() + vlds("%w", "%sure")
DECIDED = """      %limit = arith.constant 20.0 : f32
      %m = pto.vcmps %v, %limit, %mask, "lt" : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.mask<b32>
"""
"""A mask that what lies in %in decides."""


def squeezed(value: str = "%w", mask: str = "%m", name: str = "%s", instruction: str = "vsqz") -> str:
    return (
        f"      {name} = pto.{instruction} {value}, {mask} : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>\n"
    )


COUNTED = """      %i = pto.vbitcast %w : !pto.vreg<64xf32> -> !pto.vreg<64xi32>
      %u = pto.vusqz %i, %m : !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>
"""


def few(count: int, name: str = "%few") -> str:
    return f'      {name} = pto.pset_b32 "PAT_VL{count}" : !pto.mask<b32>\n'


def stream(*values: str, dest: str = "%out", name: str = "%a", mode: str = "POST_UPDATE") -> str:
    """Squeezed stores of these registers, and the flush."""
    lines = [f"      {name}0 = pto.init_align : !pto.align\n"]
    types = "!pto.align, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align"
    for number, value in enumerate(values):
        lines.append(f'      {name}{number + 1} = pto.vstur {name}{number}, {value}, {dest}, "{mode}" : {types}\n')
    return "".join(lines) + f"      pto.vstar {name}{len(values)}, {dest} : !pto.align, !pto.ptr<f32, ub>\n"


TO_SCRATCH = squeezed() + stream("%s", dest="%in")
BEHIND = few(8) + squeezed(mask="%few", name="%t") + stream("%t", name="%b")
"""Eight lanes for certain, where AR says."""
AR_STORED = '      pto.sprsts "AR", %word[%none] : !pto.ptr<i32, ub>, i32\n'

DECIDING = {
    "how much": scope(CLEAR + LOADED + DECIDED + squeezed() + stream("%w")),
    "how much, counted": scope(CLEAR + LOADED + DECIDED + COUNTED + stream("%w")),
    "how much, next scope": scope(CLEAR + LOADED + DECIDED + squeezed()) + scope(LOADED + stream("%w")),
    "where": scope(CLEAR + LOADED + DECIDED + TO_SCRATCH + BEHIND),
    "where, next scope": scope(CLEAR + LOADED + DECIDED + TO_SCRATCH) + scope(LOADED + BEHIND),
}


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("body", DECIDING.values(), ids=DECIDING.keys())
def test_a_mask_in_doubt_decides_what_squeezed_stores_do(body: str, engine: str) -> None:
    assert kinds(check(RACY + body + SHOWN, engine=engine)) == ["race!"]
    assert kinds(check(UNDEFINED + body + SHOWN, engine=engine)) == ["uninitialized!"]
    assert kinds(check(ORDERED + body + SHOWN, engine=engine)) == []


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_value_of_ar_is_stored(engine: str) -> None:
    unseen = stream("%s", dest="%in")
    body = scope(CLEAR + LOADED + DECIDED + squeezed("%v") + unseen) + scope(AR_STORED)
    finish = order("V", "MTE3") + store("%sure") + ALL
    assert kinds(check(ORDERED + body + finish, engine=engine)) == []
    assert kinds(check(RACY + body + finish, engine=engine)) == ["race!"]


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("counts", [(4,), (2, 3), (8, 3, 1, 2)], ids=str)
def test_pending_bytes_keep_their_doubt(counts: tuple[int, ...], engine: str) -> None:
    """Squeezes under masks that are certain, of registers that are not."""
    parts = [few(count, f"%m{n}") + squeezed("%v", f"%m{n}", f"%s{n}") for n, count in enumerate(counts)]
    types = "!pto.align, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align"
    body = CLEAR + LOADED + "      %a0 = pto.init_align : !pto.align\n"
    for n, part in enumerate(parts):
        body += part + f'      %a{n + 1} = pto.vstur %a{n}, %s{n}, %out, "POST_UPDATE" : {types}\n'
    body = scope(body + f"      pto.vstar %a{len(parts)}, %out : !pto.align, !pto.ptr<f32, ub>\n")
    assert kinds(check(RACY + body + SHOWN, engine=engine)) == ["race!"]
    assert kinds(check(UNDEFINED + body + SHOWN, engine=engine)) == ["uninitialized"]
    assert kinds(check(ORDERED + body + SHOWN, engine=engine)) == []


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_cleared_registers_are_certain_again(engine: str) -> None:
    """sprclr ends the doubt of AR, a squeeze under a certain mask that of SQZN."""
    doubt = scope(CLEAR + LOADED + DECIDED + squeezed())
    sure = scope(LOADED + CLEAR + BEHIND)
    assert kinds(check(RACY + doubt + sure + SHOWN, engine=engine)) == []


def test_no_block_hands_doubt_to_the_next() -> None:
    first = "    %block = pto.get_block_idx\n    %is_first = arith.cmpi eq, %block, %zero : i64\n"
    doubt = first + f"    scf.if %is_first {{\n{scope(CLEAR + LOADED + DECIDED + squeezed())}    }}\n"
    sure = scope(LOADED + stream("%w"))
    alone, both = (check(RACY + doubt + sure, grid=grid, engine="reference") for grid in (1, 2))
    assert kinds(alone) == kinds(both) == ["race!"]
    assert alone.findings[0].count == both.findings[0].count


LISTS = """    %list = arith.constant 2048 : i64
    %l = pto.castptr %list : i64 -> !pto.ptr<f32, ub>
    %merged = arith.constant 3072 : i64
    %d = pto.castptr %merged : i64 -> !pto.ptr<f32, ub>
    %counts = arith.constant 65537 : i64
    %config = arith.constant 4865 : i64
"""
MERGE = f"    pto.vmrgsort4 %d, %l, %l, %l, %l, %counts, %config : {', '.join(['!pto.ptr<f32, ub>'] * 5)}, i64, i64\n"
STATUS = "    %n0, %n1, %n2, %n3 = pto.get_vms4_sr : i16, i16, i16, i16\n"


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_records_in_doubt_decide_the_sort_status(engine: str) -> None:
    """A merge that is suspended when a list runs out: what the scalar unit reads then comes from the records."""
    lists = LISTS  # %config 0x1301: two lists, once, until one runs out
    body = MERGE + order("V", "S") + STATUS
    assert kinds(check(lists + body, engine=engine)) == ["uninitialized!"]
    assert kinds(check(lists + load(dest="%l") + ALL + body, engine=engine)) == []


@pytest.mark.parametrize("body", DECIDING.values(), ids=DECIDING.keys())
def test_another_schedule_shows_it(body: str) -> None:
    kernel = ptosim.load(text(RACY + body + SHOWN)).kernel()
    outcomes = set[bytes]()
    for schedule in ("program", "delay:MTE2"):
        arguments = np.arange(64, dtype=np.float32), np.arange(100, 164, dtype=np.float32)
        kernel(*arguments, engine="reference", schedule=schedule)
        outcomes.add(arguments[1].tobytes())
    assert len(outcomes) == 2
