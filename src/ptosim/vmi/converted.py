"""Conversions: every second or fourth lane comes apart where lanes become wider, and together where narrower."""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type
from xdsl.ir import Attribute, SSAValue

from ptosim.effects.conversion import HALVES as EVEN_ODD
from ptosim.effects.conversion import QUARTERS as FOUR
from ptosim.effects.conversion import conversion
from ptosim.effects.element import Element
from ptosim.language.types import VregType, element_of
from ptosim.language.vmi.vmi_conversion import VMI_PAIRS, VmiPair, unsigned
from ptosim.vmi.layout import CONTIGUOUS, LaneLayout
from ptosim.vmi.recipes import recipe
from ptosim.vmi.registers import Registers
from ptosim.vmi.values import Recipe
from ptosim.vmi.writer import Writer, register_element, unsigned_of

_PAIRED = "bf16x2"


class _Converter:
    """One conversion of registers, with the words that the pair takes."""

    def __init__(self, step: Recipe) -> None:
        self.write = step.write
        source, dest = (step.type(role).element for role in ("input", "result"))
        pair = VMI_PAIRS.get((unsigned(element_of(source).name), unsigned(element_of(dest).name)), VmiPair())
        self.source, self.dest = _exact(source), _exact(dest)
        saturate = step.op.word("saturate")
        known = conversion(_kind(self.source), _kind(self.dest))
        if known is None:  # the low bits of integers
            self.source, self.dest = (unsigned_of(element_of(each).bits) for each in (self.source, self.dest))
            known = conversion(_kind(self.source), _kind(self.dest))
        assert known is not None, f"{source} to {dest}"
        rounding = step.op.word("rounding") or pair.default
        self.words = {
            "rnd": rounding if known.roundings else None,
            "sat": saturate if known.saturations else None,
        }
        self.mask = self.write.all(min(4, element_of(self.source).bytes))

    def __call__(self, register: SSAValue, part: str | None) -> SSAValue:
        source = self.write.cast(register, self.source)
        return self.write.op("vcvt", source, self.mask, part=part, result=VregType.of(self.dest), **self.words)


def _exact(element: Attribute) -> Attribute:
    """The elements that the instruction converts: payloads as such, pairs of bf16 as bf16."""
    kind = element_of(element)
    if kind.name == _PAIRED:
        return BFloat16Type()
    return element if kind.kind == "lowprecision" else register_element(element)


def _kind(element: Attribute) -> Element:
    return element_of(element)


@recipe("vcvt", "extf", "truncf", "fptosi", "fptoui", "sitofp", "extsi", "extui", "trunci")
def convert(step: Recipe) -> None:
    before, after = step.width("input"), step.width("result")
    if before == after:
        layout, converter = step.layout(), _Converter(step)
        step.give([converter(one, None) for one in step.registers("input", layout)], layout)
    elif after > before:
        _widen(step, after // before)
    else:
        _narrow(step, before // after)


def source_layout(dest: LaneLayout, factor: int) -> LaneLayout:
    """The layout of narrower lanes from which wider ones come in a layout."""
    if dest.parts % factor == 0:
        return LaneLayout(parts=dest.parts // factor)
    return CONTIGUOUS if dest.slots or dest.parts > 1 else LaneLayout(stride=factor * dest.stride)


def _widen(step: Recipe, factor: int) -> None:
    """From lanes apart into wide ones in place; else each register gives a part of every `factor`-th lane."""
    names, converter = (EVEN_ODD if factor == 2 else FOUR), _Converter(step)
    source = source_layout(step.layout(), factor)
    lanes, width = step.type("result").lanes, step.width("result")
    registers = step.registers("input", source)
    if source.stride > 1:
        step.give([converter(one, names[0]) for one in registers], LaneLayout(stride=source.stride // factor))
        return
    parts, per = source.parts, source.registers_of_part(lanes, step.width("input"))
    layout = LaneLayout(parts=parts * factor)
    kept = layout.registers_of_part(lanes, width)
    found: list[SSAValue] = []
    for within in range(factor):
        for part in range(parts):
            own = registers[part * per : (part + 1) * per]
            found += [converter(one, names[within]) for one in own[:kept]]
    step.give(found, layout)


def _narrow(step: Recipe, factor: int) -> None:
    """Wide lanes in place become lanes apart; parts of every `factor`-th lane become one register each."""
    names, converter = (EVEN_ODD if factor == 2 else FOUR), _Converter(step)
    wanted, lanes = step.layout(), step.type("input").lanes
    if wanted.stride % factor == 0:
        apart = LaneLayout(stride=wanted.stride // factor)
        found = [converter(one, names[0]) for one in step.registers("input", apart)]
        step.give(found, wanted)
        return
    parts = wanted.parts if wanted.stride == 1 and not wanted.slots else 1
    if parts * factor > 4:
        parts = 1
    source = LaneLayout(parts=parts * factor)
    registers = step.registers("input", source)
    per = source.registers_of_part(lanes, step.width("input"))
    full = step.write.all(step.width("result"))
    found: list[SSAValue] = []
    for part in range(parts):
        for number in range(per):
            pieces = [
                converter(registers[(part + within * parts) * per + number], names[within]) for within in range(factor)
            ]
            found.append(_united(step.write, pieces, full))
    step.give(found, LaneLayout(parts=parts))


def _united(write: Writer, pieces: Registers, full: SSAValue) -> SSAValue:
    joined = pieces[0]
    for piece in pieces[1:]:
        joined = write.op("vor", joined, piece, full)
    return joined


@recipe("vinterpret_cast", "bitcast")
def reinterpret(step: Recipe) -> None:
    """Lanes have to follow each other if the widths differ."""
    layout = step.layout() if step.width("input") == step.width("result") else CONTIGUOUS
    step.give(step.registers("input", layout), layout)
