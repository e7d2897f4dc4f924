"""Comparisons, which give masks, and selections by mask or by lane number."""

from __future__ import annotations

from ptosim.effects.element import Element
from ptosim.language.micro import compare as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import Value
from ptosim.native.vector.lanes import chosen
from ptosim.native.vector.numbers import bits_of, widen
from ptosim.native.vector.registers import Mask, permute


def _predicate(comparison: str, element: Element) -> str:
    """LLVM's name: of floats only "unequal" is true of a NaN."""
    if element.is_float:
        return "une" if comparison == "ne" else f"o{comparison}"
    if comparison in ("eq", "ne"):
        return comparison
    return f"{'u' if element.kind == 'unsigned' else 's'}{comparison}"


@lowering(op.VCmp)
def vcmp(f: FunctionBuilder, lhs: Value, rhs: Value, seed: Mask, comparison: str, element: Element) -> Mask:
    """The lanes of the seed in which the comparison holds; every other bit of the predicate is clear."""
    holds = widen(element, lhs).compare(_predicate(comparison, element), widen(element, rhs))
    return Mask(f, holds, element.bytes) & seed


@lowering(op.VCmps)
def vcmps(
    f: FunctionBuilder, core: Core, input: Value, scalar: Value, seed: Mask, comparison: str, element: Element
) -> Mask:
    """The vector's type decides about signs: a signless scalar against unsigned lanes is unsigned."""
    return vcmp(f, input, core.splat(scalar, element), seed, comparison, element)


@lowering(op.VSel)
def vsel(on_true: Value, on_false: Value, active: Value) -> Value:
    return chosen(active, bits_of(on_true), bits_of(on_false))


@lowering(op.VSelR, op.VSelRV2)
def vselr(f: FunctionBuilder, input: Value, index: Value) -> Value:
    """Lane numbers wrap at the number of lanes, which is a power of two."""
    return permute(f, bits_of(input), index & (input.kind.lanes - 1))
