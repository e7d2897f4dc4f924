"""Kernels of logical vectors beside the micro-instructions that an author would write: equal bits, as many cycles, and
few loads, stores and interleaves beside all lanes contiguous."""

import re
from time import process_time

import numpy as np
import pytest
from benchmarks.measure import in_turns

import ptosim
from example_scripts import script
from ptosim.vmi import assignment
from ptosim.vmi.layout import CONTIGUOUS
from vmi.test_examples import EXAMPLES
from vmi.test_layouts import chain

V16, V32, B16, B32 = "!pto.vreg<128xf16>", "!pto.vreg<64xf32>", "!pto.mask<b16>", "!pto.mask<b32>"
P16, P32 = "!pto.ptr<f16, ub>", "!pto.ptr<f32, ub>"


def widened(source: str, mask: str) -> str:
    return "".join(
        f'%{part}32 = pto.vcvt %{source}, %{mask} {{part = "{part}"}} : {V16}, {B16} -> {V32}\n'
        for part in ("EVEN", "ODD")
    )


def narrowed(even: str, odd: str) -> str:
    clauses = 'rnd = "R", sat = "SAT", part'
    return f"""%e16 = pto.vcvt %{even}, %all32 {{{clauses} = "EVEN"}} : {V32}, {B32} -> {V16}
%o16 = pto.vcvt %{odd}, %all32 {{{clauses} = "ODD"}} : {V32}, {B32} -> {V16}
%z = pto.vor %e16, %o16, %all16 : {V16}, {V16}, {B16} -> {V16}
"""


def binary(*lines: str) -> str:
    """Lines such as `r = vmul a b`, of f32."""
    words = [line.split() for line in lines]
    return "".join(
        f"%{result} = pto.{name} %{a}, %{b}, %all32 : {V32}, {V32}, {B32} -> {V32}\n" for result, _, name, a, b in words
    )


MASKS = f'%all16 = pto.pset_b16 "PAT_ALL" : {B16}\n%all32 = pto.pset_b32 "PAT_ALL" : {B32}\n'

ROTARY = f"""{MASKS}%row = pto.pset_b16 "PAT_VL64" : {B16}
%half = pto.pset_b32 "PAT_VL32" : {B32}
scf.for %r = %c0 to %n step %c1 {{
%at = arith.muli %r, %c64 : index
%angle = arith.muli %r, %c32 : index
%x16 = pto.vlds %in[%at] for %row : {P16}, {B16} -> {V16}
{widened("x16", "all16")}%c = pto.vlds %cosines[%angle] for %half : {P32}, {B32} -> {V32}
%s = pto.vlds %sines[%angle] for %half : {P32}, {B32} -> {V32}
{binary("ac = vmul EVEN32 c", "bs = vmul ODD32 s", "bc = vmul ODD32 c", "as = vmul EVEN32 s")}\
{binary("first = vsub ac bs", "second = vadd bc as")}{narrowed("first", "second")}\
pto.vsts %z, %in[%at], %row : {V16}, {P16}, {B16}
}}
"""

SOFTMAX = f"""{MASKS}scf.for %r = %c0 to %count step %c1 {{
%offset = arith.muli %r, %c128 : index
%x16 = pto.vlds %in[%offset] : {P16} -> {V16}
{widened("x16", "all16")}{binary("both = vmax EVEN32 ODD32")}%most = pto.vcmax %both, %all32 : {V32}, {B32} -> {V32}
%m = pto.vdup %most, %all32 {{position = "LOWEST"}} : {V32}, {B32} -> {V32}
%pe = pto.vexpdif %EVEN32, %m, %all32, "ODD" : {V32}, {V32}, {B32} -> {V32}
%po = pto.vexpdif %ODD32, %m, %all32, "ODD" : {V32}, {V32}, {B32} -> {V32}
{binary("sums = vadd pe po")}%total = pto.vcadd %sums, %all32 : {V32}, {B32} -> {V32}
%sum = pto.vdup %total, %all32 {{position = "LOWEST"}} : {V32}, {B32} -> {V32}
{binary("qe = vdiv pe sum", "qo = vdiv po sum")}{narrowed("qe", "qo")}\
pto.vsts %z, %out[%offset], %all16 : {V16}, {P16}, {B16}
}}
"""


def scope_of(text: str) -> str:
    """The body of the one vector scope, which closes where the line of its brace begins."""
    found = re.search(r"^( *)pto\.vecscope \{\n(.*?)^\1\}\n", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[2]


@pytest.mark.parametrize("name, twin", [("rotary", ROTARY), ("softmax", SOFTMAX)])
def test_an_example_takes_no_longer_than_by_hand(name: str, twin: str) -> None:
    text = (EXAMPLES / f"{name}.pto").read_text()
    kernel, by_hand = (ptosim.load(each).kernel() for each in (text, text.replace(scope_of(text), twin)))
    launch, again = script(f"vmi/{name}").launch(), script(f"vmi/{name}").launch()
    kernel(*launch.arguments, grid=launch.grid)
    by_hand(*again.arguments, grid=launch.grid)
    for mine, other in zip(launch.arguments, again.arguments, strict=True):
        np.testing.assert_array_equal(mine, other)
    cycles, fewest = (
        sum(each.cycles for each in ptosim.profile(each, *launch.arguments, grid=launch.grid).recording.functions)
        for each in (kernel, by_hand)
    )
    assert cycles <= 1.1 * fewest


EDGES = re.compile(r"(?<!!)pto\.(vlds|vldsx2|vsts|vstsx2|vintlv|vdintlv)\b")


def test_few_instructions_move_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads, stores and interleaves of kernels that compute in a wider type than they load."""
    examples = [(EXAMPLES / f"{name}.pto").read_text() for name in ("rotary", "softmax")]
    texts = [*examples, *(chain(2, lanes) for lanes in (64, 128, 256))]

    def edges() -> int:
        return sum(len(EDGES.findall(re.sub(r"//.*", "", str(ptosim.load(text).lowered())))) for text in texts)

    chosen = edges()
    monkeypatch.setattr(assignment, "candidates", lambda members: [CONTIGUOUS])
    assert chosen <= 0.6 * edges()


@pytest.mark.parametrize("name", ["dequantise", "rotary", "softmax"])
def test_lowering_takes_at_most_twice_the_time_of_loading_what_comes_of_it(name: str) -> None:
    text = (EXAMPLES / f"{name}.pto").read_text()
    lowered = str(ptosim.load(text).lowered())
    mine, micro = in_turns(
        lambda: ptosim.load(text).lowered(), lambda: ptosim.load(lowered).lowered(), rounds=5, clock=process_time
    )
    assert mine <= 2 * micro
