"""`for %mask` after a load, on both engines: every mode, any mask, addresses on both sides of both ends of UB."""

import random

import pytest

from native.test_vector_memory import WIDTHS, mask_of, raw
from ptosim.effects.vector_memory import DUAL_LOAD_MODES, LOAD_MODES
from small_kernels import either, same, scope, wrong

UB = 256 << 10


def lanes(kind: str, how: str) -> str:
    """The mask %m: any bits, a tail, none or all."""
    granularity = mask_of(kind)
    if how == "raw":
        return raw(kind)
    if how == "tail":
        return f"%m, %rest = pto.plt_{granularity} %c5_i32 : i32 -> M<{granularity}>, i32"
    return f'%m = pto.pset_{granularity} "PAT_{how}" : M<{granularity}>'


@pytest.mark.parametrize("how", ["raw", "tail", "ALL", "ALLF"])
@pytest.mark.parametrize("kind", ["ui8", "f16", "f32"])
@pytest.mark.parametrize("dist", LOAD_MODES)
def test_loads(dist: str, kind: str, how: str) -> None:
    types = f"P<{kind}>, M<{mask_of(kind)}> -> V<{kind}>"
    body = f"""{lanes(kind, how)}
    %v = pto.vlds %ub_{kind}[%c64] {{dist = "{dist}"}} for %m : {types}
    %w, %next = pto.vlds %ub512_{kind}[%c32] {{dist = "{dist}"}} for %m : {types}, P<{kind}>
    %x = pto.vlds %next[%c0] : P<{kind}> -> V<{kind}>
    pto.vsts %v, %ub4096_{kind}[%c0] : V<{kind}>, P<{kind}>
    pto.vsts %w, %ub4352_{kind}[%c0] : V<{kind}>, P<{kind}>
    pto.vsts %x, %ub4608_{kind}[%c0] : V<{kind}>, P<{kind}>"""
    same(scope(body))


@pytest.mark.parametrize("how", ["raw", "tail", "ALL"])
@pytest.mark.parametrize("kind", ["ui8", "f16", "f32"])
@pytest.mark.parametrize("dist", DUAL_LOAD_MODES)
def test_pairs_of_loads(dist: str, kind: str, how: str) -> None:
    types = f"P<{kind}>, index, M<{mask_of(kind)}> -> V<{kind}>, V<{kind}>"
    body = f"""{lanes(kind, how)}
    %v, %w = pto.vldsx2 %ub_{kind}[%c64], "{dist}" for %m : {types}
    pto.vsts %v, %ub4096_{kind}[%c0] : V<{kind}>, P<{kind}>
    pto.vsts %w, %ub4352_{kind}[%c0] : V<{kind}>, P<{kind}>"""
    same(scope(body))


@pytest.mark.parametrize("how", ["raw", "tail", "ALL"])
@pytest.mark.parametrize("kind", WIDTHS)
def test_streams(kind: str, how: str) -> None:
    mask = f"M<{mask_of(kind)}>"
    body = f"""{lanes(kind, how)}
    %v = pto.uvld %ub_{kind}[%c5] for %m : P<{kind}>, {mask} -> V<{kind}>
    %a = pto.vldas %ub64_{kind} : P<{kind}> -> A
    %w, %b, %n = pto.vldus %ub64_{kind}, %a, %c3 for %m : P<{kind}>, A, index, {mask} -> V<{kind}>, A, P<{kind}>
    %x, %c = pto.vldus %n, %b for %m : P<{kind}>, A, {mask} -> V<{kind}>, A
    pto.vsts %v, %ub4096_{kind}[%c0] : V<{kind}>, P<{kind}>
    pto.vsts %w, %ub4352_{kind}[%c0] : V<{kind}>, P<{kind}>
    pto.vsts %x, %ub4608_{kind}[%c0] : V<{kind}>, P<{kind}>"""
    same(scope(body))


EDGES = [
    0,
    32,
    -32,
    -224,
    -256,
    -1024,
    UB - 16,
    UB - 32,
    UB - 64,
    UB - 256,
    UB - 512,
    UB,
    UB + 512,
    1 << 40,
    -(1 << 63),
]


@pytest.mark.parametrize("address", EDGES)
@pytest.mark.parametrize("dist", ["NORM", "DS_B16", "UNPK_B16", "US_B8", "BRC_B32", "E2B_B32", "BRC_BLK"])
def test_addresses_at_the_ends_of_ub(dist: str, address: int) -> None:
    """The masks are a few lanes at either end, and any: the same bytes, or the same complaint."""
    for mask in ('pto.pset_b32 "PAT_VL4"', 'pto.pset_b32 "PAT_M4"', "RAW", 'pto.pset_b32 "PAT_ALLF"'):
        defined = raw("f32") if mask == "RAW" else f"%m = {mask} : M<b32>"
        body = f"""{defined}
        %all = pto.pset_b32 "PAT_ALL" : M<b32>
        %seven = pto.vbr %c7.0_f32 : f32 -> V<f32>
        pto.vsts %seven, %ub{UB - 256}_f32[%c0], %all : V<f32>, P<f32>, M<b32>
        pto.mem_bar "VST_VLD"
        %p = pto.castptr %at : i64 -> P<f32>
        %v = pto.vlds %p[%c0] {{dist = "{dist}"}} for %m : P<f32>, M<b32> -> V<f32>
        pto.vsts %v, %ub4096_f32[%c0], %all : V<f32>, P<f32>, M<b32>"""
        either(scope(body), address, arguments=", %at: i64")


@pytest.mark.parametrize("dist", LOAD_MODES)
def test_bytes_at_an_address_that_is_not_known(dist: str) -> None:
    """The lanes that call for memory are then asked in code, whatever groups of them a mode leaves out."""
    body = f"""{raw("ui8")}
    %p = pto.castptr %at : i64 -> P<ui8>
    %v = pto.vlds %p[%c0] {{dist = "{dist}"}} for %m : P<ui8>, M<b8> -> V<ui8>
    pto.vsts %v, %ub4096_ui8[%c0] : V<ui8>, P<ui8>"""
    same(scope(body), 64, arguments=", %at: i64")


@pytest.mark.parametrize("seed", range(12))
def test_random_tails(seed: int) -> None:
    """A loop whose last round leaves UB, as the rows of a tile do."""
    choice = random.Random(seed)
    count, rows = choice.randrange(1, 64), choice.randrange(1, 5)
    start = UB - 32 * (rows - 1) - 4 * choice.randrange(0, 72) // 32 * 32
    body = f"""pto.vecscope {{
      %m, %rest = pto.plt_b32 %c{count}_i32 : i32 -> M<b32>, i32
      scf.for %i = %c0 to %c{rows} step %c1 {{
        %o = arith.muli %i, %c8 : index
        %v = pto.vlds %ub{start}_f32[%o] for %m : P<f32>, M<b32> -> V<f32>
        %q = arith.muli %i, %c64 : index
        pto.vsts %v, %ub4096_f32[%q] : V<f32>, P<f32>
      }}
    }}"""
    either(body)


def test_a_misaligned_load_without_active_lanes() -> None:
    body = """%m = pto.pset_b32 "PAT_ALLF" : M<b32>
    %v = pto.vlds %ub_f32[%c1] for %m : P<f32>, M<b32> -> V<f32>
    pto.vsts %v, %ub4096_f32[%c0] : V<f32>, P<f32>"""
    assert wrong(scope(body)).kind == "misaligned"
