"""Stores, gathers and streams on both engines: every shape of mask, every failure. Values are in tests/reference."""

import pytest

from ptosim.effects.vector_memory import (
    STORE_MODES,
)
from small_kernels import SIZE, either, same, scope, some_bytes, wrong
from tables import table

UB_BYTES = 256 << 10

WIDTHS = {"ui8": 1, "f16": 2, "f32": 4, "i64": 8}


def mask_of(kind: str) -> str:
    return f"b{min(32, 8 * WIDTHS[kind])}"


def raw(kind: str, name: str = "m", at: int = 32) -> str:
    """A mask from memory, with any bits set."""
    return f'%{name} = pto.plds %ub_ui8[%c{at}], "NORM" : P<ui8>, index -> M<{mask_of(kind)}>'


# --- contiguous -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masked", ["raw", "pattern", "none"])
@pytest.mark.parametrize("kind", ["ui8", "f16", "f32", "i64"])
@pytest.mark.parametrize("dist", [None, *STORE_MODES])
def test_stores(dist: str | None, kind: str, masked: str) -> None:
    granularity = STORE_MODES[dist].granularity if dist else None
    if dist and kind == "i64":
        kind = "i32"
        WIDTHS["i32"] = 4
    mask = granularity or mask_of(kind)
    defined = {
        "raw": f'%m = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<{mask}>',
        "pattern": f'%m = pto.pset_{mask} "PAT_M3" : M<{mask}>',
        "none": "",
    }[masked]
    given, type_ = ("", "") if masked == "none" else (", %m", f", M<{mask}>")
    how = f' {{dist = "{dist}"}}' if dist else ""
    body = f"""{defined}
    %v = pto.vlds %ub_{kind}[%c0] : P<{kind}> -> V<{kind}>
    pto.vsts %v, %ub4096_{kind}[%c32]{given}{how} : V<{kind}>, P<{kind}>{type_}
    %n = pto.vsts %v, %ub5120_{kind}[%c32]{given}{how} : V<{kind}>, P<{kind}>{type_} -> P<{kind}>
    pto.vsts %v, %n[%c64]{given}{how} : V<{kind}>, P<{kind}>{type_}"""
    same(scope(body))


@pytest.mark.parametrize("post", [False, True])
@pytest.mark.parametrize("kind", ["ui8", "f16", "f32"])
@pytest.mark.parametrize("block, repeat", [(1, 0), (2, 4), (0, 3), (7, 1)])
def test_blocks(kind: str, block: int, repeat: int, post: bool) -> None:
    result, store = (f"-> V<{kind}>, P<{kind}>", "%n = ") if post else (f"-> V<{kind}>", "")
    names, ends = ("%v, %q", f" -> P<{kind}>") if post else ("%v", "")
    body = f"""{raw(kind)}
    {names} = pto.vsldb %ub_{kind}, %c{block}_i16, %c{repeat}_i16, %m : P<{kind}>, i16, i16, M<{mask_of(kind)}> {result}
    pto.vsts %v, %ub4096_{kind}[%c0] : V<{kind}>, P<{kind}>
    {store}pto.vsstb %v, %ub5120_{kind}, %c{block}_i16, %c{repeat}_i16, %m
      : V<{kind}>, P<{kind}>, i16, i16, M<{mask_of(kind)}>{ends}
    %control = arith.constant {block << 16 | repeat} : i32
    %w = pto.vsldb %ub64_{kind}, %control, %m : P<{kind}>, i32, M<{mask_of(kind)}> -> V<{kind}>
    pto.vsts %w, %ub7168_{kind}[%c0] : V<{kind}>, P<{kind}>"""
    same(scope(body))


@table(
    "address, kind",
    (UB_BYTES - 256, None),
    (UB_BYTES - 224, "out-of-bounds"),
    (-32, "out-of-bounds"),
    (16, "misaligned"),
)
@table(
    "instruction",
    "%v = pto.vlds %p[%c0] : P<f32> -> V<f32>",
    "pto.vsts %x, %p[%c0], %all_b32 : V<f32>, P<f32>, M<b32>",
    "%v, %n = pto.vlds %p[%c64] : P<f32> -> V<f32>, P<f32>",
)
def test_addresses(instruction: str, address: int, kind: str | None) -> None:
    body = scope(f"""%x = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %p = pto.castptr %where : i64 -> P<f32>
    scf.for %i = %c3 to %c5 step %c1 {{
      {instruction}
    }}""")
    if kind is None:
        same(body, address, arguments=", %where: i64")
        return
    found = wrong(body, address, arguments=", %where: i64")
    assert (found.kind, found.loops, found.pipe) == (kind, (3,), "V")


@pytest.mark.parametrize("kind", ["ui8", "f16", "f32"])
@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("low, high", [(0, 32), (0, 64), (32, 256), (40, 256), (64, 96), (0, 0), (0, 256)])
@pytest.mark.parametrize("beyond", [-32, -64, 32, 64, 1 << 40])
def test_stores_across_an_end_of_ub(kind: str, target: str, low: int, high: int, beyond: int) -> None:
    """Only the active bytes, from `low` to `high`, must lie in UB, at its beginning as at its end."""
    size = UB_BYTES if target == "a5" else 192 << 10
    where = beyond if beyond < 0 else size - 256 + beyond
    mask, width = mask_of(kind), WIDTHS[kind]
    body = scope(f"""%before, %p0 = pto.plt_{mask} %low : i32 -> M<{mask}>, i32
    %behind, %p1 = pto.plt_{mask} %high : i32 -> M<{mask}>, i32
    %m = pto.pxor %behind, %before, %behind : M<{mask}>, M<{mask}>, M<{mask}> -> M<{mask}>
    %x = pto.vlds %ub512_{kind}[%c0] : P<{kind}> -> V<{kind}>
    %p = pto.castptr %where : i64 -> P<{kind}>
    pto.vsts %x, %p[%c0], %m : V<{kind}>, P<{kind}>, M<{mask}>""")
    scalars, arguments = (low // width, high // width, where), ", %low: i32, %high: i32, %where: i64"
    first, end = where + low, where + high
    if low < high and not 0 <= first <= end <= size:
        found = wrong(body, *scalars, arguments=arguments, target=target)
        assert found.kind == "out-of-bounds"
        assert f"writes bytes {first} to {end - 1} of ub, which has {size} bytes" in found.message
        return
    image = same(body, *scalars, arguments=arguments, target=target)
    if where < 0 and low < high:
        expected = some_bytes(SIZE)
        expected[where + low : where + high] = expected[512 + low : 512 + high]
        assert image.tobytes() == expected.tobytes()


@pytest.mark.parametrize("active", ["PAT_VL8", "PAT_VL16", "PAT_ALLF"])
@pytest.mark.parametrize("distance", [0, 1, 1023])
@pytest.mark.parametrize("offset", [0, 16, -32])
@pytest.mark.parametrize("store", [False, True])
def test_blocks_outside(active: str, distance: int, offset: int, store: bool) -> None:
    """Blocks without an active lane do not fault, the pointer must be aligned all the same."""
    load = "%v = pto.vsldb %p, %distance, %c0_i16, %m : P<f32>, i16, i16, M<b32> -> V<f32>"
    stored = "pto.vsstb %x, %p, %distance, %c0_i16, %m : V<f32>, P<f32>, i16, i16, M<b32>"
    body = scope(f"""%m = pto.pset_b32 "{active}" : M<b32>
    %x = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %p = pto.castptr %where : i64 -> P<f32>
    {stored if store else load}""")
    found = either(body, UB_BYTES - 32 + offset, distance, arguments=", %where: i64, %distance: i16")
    if offset == 16:
        assert found == "misaligned"
    elif active == "PAT_ALLF":
        assert found is None
    elif active == "PAT_VL16":
        assert found == ("out-of-bounds" if offset + 32 * distance > 0 else None)


# --- gathers and scatters ---------------------------------------------------------------------------------------------

GATHERED = [("f32", "i32", "f32"), ("f16", "i16", "f16"), ("bf16", "ui16", "bf16"), ("ui8", "ui16", "ui16")]


def offsets(kind: str, limit: int = 0x3FF) -> str:
    """Offsets from memory, made small."""
    mask = "b32" if "32" in kind else "b16"
    return f"""%bound = pto.vbr %c{limit}_{kind.removeprefix("u")} : {kind.removeprefix("u")} -> V<{kind}>
    %any = pto.vlds %ub_{kind}[%c0] : P<{kind}> -> V<{kind}>
    %o = pto.vand %any, %bound, %all_{mask} : V<{kind}>, V<{kind}>, M<{mask}> -> V<{kind}>"""


@pytest.mark.parametrize("source, offset, result", GATHERED)
@pytest.mark.parametrize("activity", ["mask", "raw", "count"])
@pytest.mark.parametrize("count", [-1, 0, 5, 64, 1000])
def test_gathers(source: str, offset: str, result: str, activity: str, count: int) -> None:
    if activity != "count" and count != 5:
        return
    mask = "b32" if offset == "i32" else "b16"
    defined = {
        "mask": f'%m = pto.pset_{mask} "PAT_M3" : M<{mask}>',
        "raw": f'%m = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<{mask}>',
        "count": "",
    }[activity]
    given, type_ = ("%n", "index") if activity == "count" else ("%m", f"M<{mask}>")
    wide = "i32" if offset == "i32" else "i16"
    body = scope(f"""{defined}
    {offsets(offset) if offset == wide else offsets(wide)}
    %u = pto.vbitcast %o : V<{wide}> -> V<{offset}>
    %v = pto.vgather2 %ub_{source}, %u, {given} : P<{source}>, V<{offset}>, {type_} -> V<{result}>
    pto.vsts %v, %ub4096_{result}[%c0] : V<{result}>, P<{result}>""")
    same(body, count, arguments=", %n: index")


@pytest.mark.parametrize("pattern", ["PAT_ALL", "PAT_M4"])
def test_older_gathers_and_blocks(pattern: str) -> None:
    body = scope(f"""%m = pto.pset_b32 "{pattern}" : M<b32>
    {offsets("i32")}
    %v = pto.vgather2_bc %ub_f32, %o, %m : P<f32>, V<i32>, M<b32> -> V<f32>
    %blocks = pto.vbr %c992_i32 : i32 -> V<i32>
    %b = pto.vand %any, %blocks, %all_b32 : V<i32>, V<i32>, M<b32> -> V<i32>
    %w = pto.vgatherb %ub64_f16, %b, %m : P<f16>, V<i32>, M<b32> -> V<f16>
    pto.vsts %v, %ub4096_f32[%c0] : V<f32>, P<f32>
    pto.vsts %w, %ub4608_f16[%c0] : V<f16>, P<f16>""")
    same(body)


@pytest.mark.parametrize("kind, offset", [("f32", "i32"), ("f16", "i16"), ("ui8", "i16")])
@pytest.mark.parametrize("limit", [1023, 7])
def test_scatters(kind: str, offset: str, limit: int) -> None:
    """With few places many lanes meet, and the lowest one stays."""
    mask = "b32" if offset == "i32" else "b16"
    body = scope(f"""%m = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<{mask}>
    {offsets(offset, limit)}
    %v = pto.vlds %ub512_{kind}[%c0] : P<{kind}> -> V<{kind}>
    pto.vscatter %v, %ub4096_{kind}, %o, %m : V<{kind}>, P<{kind}>, V<{offset}>, M<{mask}>""")
    same(body)
    if limit == 7:
        found = wrong(body, target="a2a3")
        assert found.kind == "invalid"
        assert "store to the same element" in found.message


@table("instruction, alignment",
    ("%v = pto.vgather2 %p, %o, %m : P<f32>, V<i32>, M<b32> -> V<f32>", 4),
    ("pto.vscatter %x, %p, %o, %m : V<f32>, P<f32>, V<i32>, M<b32>", 4),
    ("%v = pto.vgatherb %p, %b, %m : P<f32>, V<i32>, M<b32> -> V<f32>", 32))  # fmt: skip
@pytest.mark.parametrize("address", [0, 2, 4, 64, UB_BYTES - 2048, UB_BYTES - 64, UB_BYTES, -64, 1 << 40])
@pytest.mark.parametrize("pattern", ["PAT_ALL", "PAT_VL4", "PAT_ALLF"])
def test_lanes_outside(instruction: str, alignment: int, address: int, pattern: str) -> None:
    body = scope(f"""%m = pto.pset_b32 "{pattern}" : M<b32>
    {offsets("i32")}
    %blocks = pto.vbr %c992_i32 : i32 -> V<i32>
    %b = pto.vand %any, %blocks, %all_b32 : V<i32>, V<i32>, M<b32> -> V<i32>
    %x = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %p = pto.castptr %where : i64 -> P<f32>
    {instruction}""")
    found = either(body, address, arguments=", %where: i64")
    if pattern == "PAT_ALLF":
        assert found == ("misaligned" if alignment == 32 and address % 32 else None)
    elif address % alignment:
        assert found == "misaligned"
    elif address in (0, 64, UB_BYTES, 1 << 40):
        assert found == (None if address < UB_BYTES else "out-of-bounds")


# --- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 3, 8, 64])
@pytest.mark.parametrize("gap", [0, 1, 40])
def test_store_streams(first: int, gap: int) -> None:
    """A stream that goes on elsewhere writes what it held back first; the flush may be forgotten."""
    body = scope(f"""%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %w = pto.vlds %ub256_f32[%c0] : P<f32> -> V<f32>
    %a = pto.init_align : A
    %b, %p = pto.vstus %a, %n, %v, %ub4108_f32 : A, i32, V<f32>, P<f32> -> A, P<f32>
    %q = pto.addptr %p, %c{gap} : P<f32> -> P<f32>
    %c = pto.vstus %b, %c9_i32, %w, %q : A, i32, V<f32>, P<f32> -> A
    %d, %r = pto.vstu %c, %ub5124_f32, %w, %ub5124_f32, %c1 : A, P<f32>, V<f32>, P<f32>, index -> A, P<f32>
    %e, %s = pto.vstu %d, %c64, %v, %ub5124_f32, "POST_UPDATE" : A, index, V<f32>, P<f32> -> A, index
    pto.vsta %e, %ub5124_f32[%s] : A, P<f32>, index
    %f = pto.init_align : A
    %g = pto.vstus %f, %c5_i32, %w, %ub6404_f32 : A, i32, V<f32>, P<f32> -> A""")
    same(body, first, arguments=", %n: i32")
    assert wrong(body, 65, arguments=", %n: i32").kind == "invalid"
    assert wrong(body, -1, arguments=", %n: i32").kind == "invalid"


@pytest.mark.parametrize("mode", ["POST_UPDATE", "NO_POST_UPDATE"])
def test_streams_of_squeezed_registers(mode: str) -> None:
    body = scope(f"""pto.sprclr "AR"
    %m = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<b32>
    %v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %start = pto.init_align : A
    %end = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %start) -> (A) {{
      %s = pto.vsqz %v, %m : V<f32>, M<b32> -> V<f32>
      %b = pto.vstur %a, %s, %ub4100_f32, "{mode}" : A, V<f32>, P<f32> -> A
      scf.yield %b : A
    }}
    pto.vstar %end, %ub4100_f32 : A, P<f32>
    pto.sprsti "AR", %ub6144_i32[%c1_i32] : P<i32>, i32
    %n = pto.sprsts "AR", %ub6152_i32[%c8_i32] : P<i32>, i32 -> P<i32>""")
    same(body)


@pytest.mark.parametrize("count", [0, 1, 31, 64])
def test_the_end_of_memory(count: int) -> None:
    address = UB_BYTES - 4 * count
    body = scope("""%v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %p = pto.castptr %where : i64 -> P<f32>
    %a = pto.init_align : A
    %b, %q = pto.vstus %a, %n, %v, %p : A, i32, V<f32>, P<f32> -> A, P<f32>
    pto.vstas %b, %q, %c0_i32 : A, P<f32>, i32""")
    arguments = ", %where: i64, %n: i32"
    same(body, address, count, arguments=arguments)
    if count:
        assert wrong(body, address + 4, count, arguments=arguments).kind == "out-of-bounds"
