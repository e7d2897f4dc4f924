"""Queries of the launch, CTRL, fences, trap and print."""

import numpy as np
import pytest

from small_kernels import failure, module, run, scope_failure, ub_after
from tables import table

STORE_QUERIES = "\n".join(
    f"%{name} = pto.get_{name}\npto.store_scalar %{name}, %p[%at{number}] : G<i64>, i64"
    for number, name in enumerate(["block_idx", "block_num", "subblock_idx", "subblock_num"])
)


def places(first: str) -> str:
    """%at0 to %at3: four places from %first on."""
    return "\n".join(f"%at{number} = arith.addi {first}, %c{number} : index" for number in range(4))


def test_queries_of_a_vector_kernel() -> None:
    body = f"""%b_i64 = pto.get_block_idx
    %b = arith.index_cast %b_i64 : i64 to index
    %first = arith.muli %b, %c4 : index
    {places("%first")}
    {STORE_QUERIES}"""
    p = np.full((3, 4), -1, np.int64)
    run(module("%p: G<i64>", body), p, grid=3)
    assert p.tolist() == [[0, 3, 0, 1], [1, 3, 0, 1], [2, 3, 0, 1]]


def test_queries_of_a_mixed_kernel() -> None:
    """Row 0 is stored by the cube core, rows 1 and 2 by the vector cores."""
    vector = f"""%s_i64 = pto.get_subblock_idx
    %s = arith.index_cast %s_i64 : i64 to index
    %row = arith.addi %s, %c1 : index
    %first = arith.muli %row, %c4 : index
    {places("%first")}
    {STORE_QUERIES}"""
    cube = f"{places('%c0')}\n{STORE_QUERIES}"
    p = np.full((3, 4), -1, np.int64)
    run(module("%p: G<i64>", f"pto.section.cube {{\n{cube}\n}}\npto.section.vector {{\n{vector}\n}}"), p)
    assert p.tolist() == [[0, 1, 0, 1], [0, 1, 0, 2], [0, 1, 1, 2]]


def test_ctrl() -> None:
    body = """%reset = pto.get_ctrl : i64
    pto.store_scalar %reset, %p[%c0] : G<i64>, i64
    %a = pto.sbitset1 %reset, %c63_i64 : i64, i64 -> i64
    %b = pto.sbitset0 %a, %c48_i64 : i64, i64 -> i64
    %c = pto.sbitset1 %b, %c0_i64 : i64, i64 -> i64
    pto.set_ctrl %c : i64
    %now = pto.get_ctrl : i64
    pto.store_scalar %now, %p[%c1] : G<i64>, i64"""
    p = np.zeros(2, np.uint64)
    run(module("%p: G<i64>", body), p)
    assert p.tolist() == [1 << 48, 1 << 63 | 1]


def test_ctrl_is_reset_for_every_block() -> None:
    body = """%before = pto.get_ctrl : i64
    %b_i64 = pto.get_block_idx
    %b = arith.index_cast %b_i64 : i64 to index
    pto.store_scalar %before, %p[%b] : G<i64>, i64
    pto.set_ctrl %c5_i64 : i64"""
    p = np.zeros(3, np.uint64)
    run(module("%p: G<i64>", body), p, grid=3)
    assert p.tolist() == [1 << 48] * 3


@pytest.mark.parametrize("name", ["sbitset0", "sbitset1"])
@pytest.mark.parametrize("bit", [-1, 64])
def test_a_bit_outside_the_word(name: str, bit: int) -> None:
    text = module("%bit: i64", f"%r = pto.{name} %c0_i64, %bit : i64, i64 -> i64")
    assert failure(text, bit).kind == "invalid"


def test_atomic_setters_edit_ctrl() -> None:
    steps = [
        ("set_atomic_f32", 1 << 6),
        ("set_atomic_f16", 2 << 6),
        ("set_atomic_s16", 3 << 6),
        ("set_atomic_s32", 4 << 6),
        ("set_atomic_s8", 5 << 6),
        ("set_atomic_bf16", 6 << 6),
        ("set_atomic_max", 6 << 6 | 1 << 9),
        ("set_atomic_min", 6 << 6 | 2 << 9),
        ("set_atomic_add", 6 << 6),
        ("set_atomic_max", 6 << 6 | 1 << 9),
        ("set_atomic_none", 0),
    ]
    body = "\n".join(
        f"pto.{name}\n%v{number} = pto.get_ctrl : i64\npto.store_scalar %v{number}, %p[%c{number}] : G<i64>, i64"
        for number, (name, _) in enumerate(steps)
    )
    p = np.zeros(len(steps), np.uint64)
    run(module("%p: G<i64>", body), p)
    assert p.tolist() == [1 << 48 | wanted for _, wanted in steps]


# AR counts the bytes that a squeezed store has stored: 8 lanes of f32.
ADVANCE = """pto.sprclr "AR"
%eight = pto.pset_b32 "PAT_VL8" : M<b32>
%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
%s = pto.vsqz %v, %eight : V<f32>, M<b32> -> V<f32>
%a = pto.init_align : !pto.align
%b = pto.vstur %a, %s, %ub4096_f32, "POST_UPDATE" : !pto.align, V<f32>, P<f32> -> !pto.align
pto.vstar %b, %ub4096_f32 : !pto.align, P<f32>"""


@table(
    "store, places",
    ('pto.sprsti "AR", %ub1024_ui32[%c3_i32] : P<ui32>, i32', [1024 + 12]),
    ('pto.sprsti "AR", %ub1024_ui32[%cm2_i32] : P<ui32>, i32', [1024 - 8]),
    ('pto.sprsts "AR", %ub1024_ui32[%c12_i32] : P<ui32>, i32', [1024 + 12]),
    (
        """%next = pto.sprsti "AR", %ub1024_ui32[%c3_i32] : P<ui32>, i32 -> P<ui32>
            %last = pto.sprsts "AR", %next[%c16_i32] : P<ui32>, i32 -> P<ui32>
            pto.sprsts "AR", %last[%c0_i32] : P<ui32>, i32""",
        [1024, 1024 + 12, 1024 + 12 + 16],
    ),
    ids=["words", "backwards", "bytes", "updated"],
)
def test_ar_is_stored_at_words_or_bytes(store: str, places: list[int]) -> None:
    stored = ub_after(f"{ADVANCE}\n{store}")[512:4096].view(np.uint32)
    assert {512 + 4 * int(place): int(stored[place]) for place in np.flatnonzero(stored)} == dict.fromkeys(places, 32)


def test_ar_lasts_until_it_is_cleared() -> None:
    again = ADVANCE.partition("\n")[2].replace("%eight =", "%e2 =").replace("%eight", "%e2")
    for name in ("v", "s", "a", "b"):
        again = again.replace(f"%{name} ", f"%{name}2 ").replace(f"%{name},", f"%{name}2,")
    store = 'pto.sprsts "AR", %ub1024_ui32[%c0_i32] : P<ui32>, i32'
    assert ub_after(f"{ADVANCE}\n{again}\n{store}")[1024:1028].view(np.uint32)[0] == 64
    cleared = f'{ADVANCE}\npto.sprclr "AR"\n{store}'
    assert ub_after(cleared)[1024:1028].view(np.uint32)[0] == 0


def test_ar_is_stored_to_whole_words() -> None:
    assert scope_failure('pto.sprsts "AR", %ub1024_ui32[%c2_i32] : P<ui32>, i32').kind == "misaligned"


def test_fences_do_nothing_to_results() -> None:
    body = """pto.store_scalar %c7_i32, %p[%c0] : G<i32>, i32
    pto.dcci %p, "SINGLE_CACHE_LINE", "CACHELINE_OUT" : G<i32>
    pto.dsb "ALL"
    pto.fence.barrier_all #pto.fence_scope<all>
    pto.cmo.cacheinvalid %p single_cache_line : G<i32>
    pto.cmo.cacheinvalid all #pto.address_space<gm>
    pto.set_ffts %p : G<i32>
    %v = pto.load_scalar %p[%c0] : G<i32> -> i32
    pto.store_scalar %v, %p[%c1] : G<i32>, i32"""
    p = np.zeros(2, np.int32)
    run(module("%p: G<i32>", body), p)
    assert p.tolist() == [7, 7]


def test_trap() -> None:
    body = """scf.if %c {
    pto.trap
    }"""
    text = module("%c: i1", body)
    run(text, 0)
    found = failure(text, 1)
    assert (found.kind, found.message) == ("trap", "the kernel executed pto.trap")
    assert found.line == text.splitlines().index("    pto.trap") + 1


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    body = """pto.print "n = %d", %n : i32
    pto.print "x = %.2f", %x : f32
    pto.print "%d %s", %n : i32"""
    run(module("%n: i32, %x: f32", body), -3, 1.5)
    assert capsys.readouterr().out == "b0.aiv0: n = -3\nb0.aiv0: x = 1.50\nb0.aiv0: %d %s -3\n" * 2  # of either engine
