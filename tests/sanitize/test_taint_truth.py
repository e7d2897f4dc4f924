"""For every kind of vector instruction: undefined lanes that can change what reaches GM are reported, others are not.

What can change is found by running the instruction on registers whose upper half is filled in different ways, so that
nothing here knows how taint is computed.
"""

from functools import cache

import numpy as np
import pytest

import ptosim
from golden.program import granularity, mask, module, ub, vreg

BYTES = 256
FILLS = (b"\x00", b"\x40", b"\x7f", b"\xff", b"\x3c\xbf", b"\x01\x80")

FLOAT, INTEGER = ["f32", "f16"], ["i32", "ui16", "si8"]
ANY = [*FLOAT, "bf16", *INTEGER]


TEMPLATES: dict[str, list[str]] = {
    "%r = pto.vabs %a, %m : V, M -> V": [*FLOAT, *INTEGER],
    "%r = pto.vexp %a, %m : V, M -> V": FLOAT,
    "%r = pto.vadd %a, %b, %m : V, V, M -> V": ANY,
    "%r = pto.vsub %b, %a, %m : V, V, M -> V": ANY,
    "%r = pto.vshl %b, %a, %m : V, V, M -> V": INTEGER,
    "%r = pto.vmula %a, %b, %b, %m : V, V, V, M -> V": ANY,
    "%r = pto.vmula %b, %a, %b, %m : V, V, V, M -> V": ANY,
    "%r = pto.vmadd %a, %b, %b, %m : V, V, V, M -> V": FLOAT,
    "%r = pto.vprelu %b, %a, %m : V, V, M -> V": FLOAT,
    "%r = pto.vsel %a, %b, %m : V, V, M -> V": ANY,
    "%r = pto.vsel %b, %a, %m : V, V, M -> V": ANY,
    '%k = pto.vcmp %a, %b, %m, "lt" : V, V, M -> M ¦ %r = pto.vsel %b, %c, %k : V, V, M -> V': ANY,
    "%r = pto.vdup %a, %m : V, M -> V": ANY,
    '%r = pto.vdup %a, %m {position = "HIGHEST"} : V, M -> V': ANY,
    "%r, %s = pto.vintlv %a, %b : V, V -> V, V": ANY,
    "%s, %r = pto.vintlv %a, %b : V, V -> V, V": ANY,
    "%r, %s = pto.vdintlv %b, %a : V, V -> V, V": ANY,
    "%r = pto.vsqz %a, %m : V, M -> V": ANY,
    "%r = pto.vusqz %a, %m : V, M -> V": ["i32", "si8"],
    "%r = pto.vcmax %a, %m : V, M -> V": [*FLOAT, *INTEGER],
    "%r = pto.vcgadd %a, %m : V, M -> V": [*FLOAT, *INTEGER],
    "%r = pto.vcgmin %a, %m : V, M -> V": [*FLOAT, *INTEGER],
    "%r = pto.vcpadd %a, %m : V, M -> V": FLOAT,
    '%r = pto.vexpdif %a, %b, %m, "EVEN" : V, V, M -> W<f32>': FLOAT,
    '%r = pto.vexpdif %b, %a, %m, "ODD" : V, V, M -> W<f32>': FLOAT,
    '%r = pto.vmulscvt %a, %one, %m, "A", "ODD" : V, f32, M -> W<f16>': ["f32"],
    '%r = pto.vmulscvt %a, %tiny, %m, "A", "EVEN" : V, f32, M -> W<f16>': ["f32"],
    '%r = pto.vcvt %a, %m {rnd = "R", sat = "SAT", part = "ODD"} : V, M -> W<f16>': ["f32"],
    '%r = pto.vcvt %a, %m {part = "ODD"} : V, M -> W<f32>': ["f16", "bf16"],
    '%r = pto.vcvt %a, %m {part = "P2"} : V, M -> W<si32>': ["si8"],
    '%r = pto.vcvt %a, %m {sat = "NOSAT", part = "EVEN"} : V, M -> W<ui8>': ["ui16"],
    "%r = pto.vtrc %a, %m, Z : V, M -> V": FLOAT,
    '%r = pto.vpack %a, "HIGHER" : V -> W<ui8>': ["ui16"],
    "%r = pto.vzunpack %a, %c0 : V -> W<ui32>": ["ui16"],
    "%r = pto.vzunpack %a, %c1 : V -> W<ui32>": ["ui16"],
    "%r, %s = pto.vmull %a, %b, %m : V, V, M -> V, V": ["i32"],
    "%s, %r = pto.vmull %b, %a, %m : V, V, M -> V, V": ["i32"],
    "%r, %k = pto.vaddc %a, %b, %m : V, V, M -> V, M": ["i32"],
    "%s, %k = pto.vaddc %a, %b, %m : V, V, M -> V, M ¦ %r = pto.vsel %b, %c, %k : V, V, M -> V": ["i32"],
}
CASES = [(line, element) for line, elements in TEMPLATES.items() for element in elements]


def result_of(line: str, element: str) -> str:
    """The element type of %r, which a template names where it is another."""
    return line.split("W<")[1].split(">")[0] if "W<" in line else element


@cache
def kernel(line: str, element: str, pattern: str, defined: int) -> ptosim.Kernel:
    """%a, of which some bytes are loaded from GM, %b and %c, of which all are; %r goes back whole."""
    target = result_of(line, element)
    text = line.replace(f"W<{target}>", vreg(target)).replace(" ¦ ", "\n      ")
    for short, full in ((": V", f": {vreg(element)}"), (" V", f" {vreg(element)}"), (" M", f" {mask(element)}")):
        text = text.replace(short, full)
    p, i8, g8 = ub(element), ub("i8"), "!pto.ptr<i8, gm>"
    copies = "\n".join(
        f"""    %gm_{n} = pto.addptr %gm, %c{BYTES * i} : {g8} -> {g8}
    %raw_{n} = pto.castptr %c{4096 * i}_i64 : i64 -> {i8}
    %ub_{n} = pto.castptr %c{4096 * i}_i64 : i64 -> {p}
    pto.mte_gm_ub %gm_{n}, %raw_{n}, %c0_i64, %c{size}_i64 nburst(%c1_i64, %c{size}_i64, %c{size}_i64)
      : {g8}, {i8}, i64, i64, i64, i64, i64"""
        for i, (n, size) in enumerate((("a", defined), ("b", BYTES), ("c", BYTES)))
    )
    loads = "\n".join(f"      %{n} = pto.vlds %ub_{n}[%c0] : {p} -> {vreg(element)}" for n in "abc")
    g, gr = granularity(element), granularity(target)
    body = f"""{copies}
    %one = arith.constant 1.0 : f32
    %tiny = arith.constant 1.0e-20 : f32
    %raw_y = pto.castptr %c16384_i64 : i64 -> {i8}
    %ub_y = pto.castptr %c16384_i64 : i64 -> {ub(target)}
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.vecscope {{
      %m = pto.pset_{g} "{pattern}" : {mask(element)}
      %all = pto.pset_{gr} "PAT_ALL" : {mask(target)}
{loads}
      {text}
      pto.vsts %r, %ub_y[%c0], %all : {vreg(target)}, {ub(target)}, {mask(target)}
    }}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %raw_y, %y, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64) : {i8}, {g8}, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>"""
    return ptosim.load(module(body, f"%gm: {g8}, %y: {g8}")).kernel()


def defined_bytes() -> np.ndarray:
    """%a, %b and %c: numbers of both signs, no NaN, no infinity, nothing that swallows what it meets."""
    words = np.array([0x3D013C00, 0xBD013C00, 0x3E023D01], np.uint32)
    both = np.tile(words[:2], BYTES // 8)
    return np.concatenate([both, both, np.full(BYTES // 4, words[2])]).view(np.int8)


def changes(line: str, element: str, pattern: str) -> bool:
    """Whether what comes out depends on the upper half of %a."""
    seen: set[bytes] = set()
    for fill in FILLS:
        given, y = defined_bytes(), np.zeros(BYTES, np.int8)
        given[BYTES // 2 : BYTES] = np.frombuffer(fill * (BYTES // 2 // len(fill)), np.int8)
        kernel(line, element, pattern, BYTES)(given, y, engine="reference")
        seen.add(y.tobytes())
    return len(seen) > 1


@pytest.mark.parametrize("pattern", ["PAT_ALL", "PAT_H", "PAT_M3"])
@pytest.mark.parametrize("line, element", CASES, ids=[f"{line.split('pto.')[1].split()[0]} {e}" for line, e in CASES])
def test_what_depends_on_undefined_lanes_is_reported(line: str, element: str, pattern: str) -> None:
    report = ptosim.check(kernel(line, element, pattern, BYTES // 2), defined_bytes(), np.zeros(BYTES, np.int8))
    found = [finding.kind for finding in report.findings if finding.kind != "lint"]
    assert found == (["uninitialized"] if changes(line, element, pattern) else [])
