"""Bytes that a load stream has read ahead, and that are stored to before it comes to them."""

from __future__ import annotations

import numpy as np
import pytest

from sanitize.kernels import ALL, MASK, check, load, order, scope, store, text, vlds, vsts

STREAM = "!pto.ptr<f32, ub>, !pto.align -> !pto.vreg<64xf32>, !pto.align"
BEGIN = "      %ahead = pto.vldas %from : !pto.ptr<f32, ub> -> !pto.align\n"
GO_ON = f"      %got, %behind = pto.vldus %from, %ahead : {STREAM}\n"
AGAIN = f"""      %next = pto.addptr %from, %c64 : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
      %more, %rest = pto.vldus %next, %behind : {STREAM}
"""
STORED = vsts(dest="%in")
FENCE = '      pto.mem_bar "VST_VLD"\n'


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("steps", "first", "lines"),
    [
        ((BEGIN, STORED, FENCE, GO_ON), 1, [GO_ON]),
        ((STORED, FENCE, BEGIN, GO_ON), 1, []),
        ((BEGIN, GO_ON, STORED), 1, []),
        (
            (BEGIN, vsts(dest="%in", offset="%c8"), FENCE, GO_ON),
            1,
            [],
        ),  # the granule behind the first is not read ahead
        ((BEGIN, vsts(dest="%in", mask="%low"), FENCE, GO_ON), 3, []),  # nor used, up to where the stream begins
        ((BEGIN, vsts(dest="%in", mask="%low"), FENCE, GO_ON), 1, [GO_ON]),
        ((BEGIN, GO_ON, vsts(dest="%in", offset="%c64"), FENCE, AGAIN), 1, [AGAIN]),
    ],
)
def test_what_is_stored_to_bytes_that_were_read_ahead(
    engine: str, steps: tuple[str, ...], first: int, lines: list[str]
):
    places = f"""    %first = arith.constant {first} : index
    %far = arith.constant 2048 : i64
    %other = pto.castptr %far : i64 -> !pto.ptr<f32, ub>
    %from = pto.addptr %in, %first : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
    %long = arith.constant 1024 : i64
"""
    low = '      %low = pto.pset_b32 "PAT_VL3" : !pto.mask<b32>\n'
    kept = [vsts(name, dest="%other") for name in ("%got", "%more") if any(f"{name}," in step for step in steps)]
    body = scope(MASK + low + vlds(source="%other") + "".join((*steps, *kept)))
    filled = places + load("%x", length="%long") + load("%y", "%other") + ALL
    whole = filled + body + order("V", "MTE3") + store("%other") + ALL
    x, y = np.arange(256, dtype="f4"), np.arange(1000, 1064, dtype="f4")
    found = [each for each in check(whole, x, y, engine=engine).findings if each.kind == "lint"]
    written = text(whole).split("\n")
    assert [written[each.line - 1] for each in found] == [step.rstrip("\n").split("\n")[-1] for step in lines]
    assert all("pto.vldas" in (each.hint or "") and each.severity == "warning" for each in found)
