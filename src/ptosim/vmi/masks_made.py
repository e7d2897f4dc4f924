"""Masks of counts and patterns, by logic, by comparison."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.language.builder import Number, known
from ptosim.language.logical_types import LogicalMaskType
from ptosim.language.vmi.vmi_mask import VmiFirstByName
from ptosim.vmi.layout import CONTIGUOUS
from ptosim.vmi.masks import WIDEST, Combined, First, prefix, prefix_of_groups
from ptosim.vmi.recipes import recipe
from ptosim.vmi.values import Recipe
from ptosim.vmi.writer import mask_type

_LOGIC = {"vand": "pand", "vor": "por", "vxor": "pxor", "vnot": "pnot"}


def _lanes(step: Recipe) -> int:
    return cast("LogicalMaskType", step.value_of("result").type).lanes


def _clamped(step: Recipe, count: SSAValue, most: int) -> Number:
    """A signed count that is not below 0 and at most another one."""
    return step.write.clamp(number if (number := known(count)) is not None else step.write.build.index(count), most)


@recipe("create_mask")
def first(step: Recipe) -> None:
    lanes = _lanes(step)
    step.give_mask(prefix(lanes, _clamped(step, step.value("count"), lanes), step.writer))


@recipe("create_group_mask")
def first_of_groups(step: Recipe) -> None:
    size = step.op.integer("group_size") or 1
    count = _clamped(step, step.value("count"), size)
    step.give_mask(prefix_of_groups(_lanes(step), count, size, step.writer))


@recipe("pset")
def every(step: Recipe) -> None:
    step.give_mask(step.whole(_lanes(step)))


@recipe("pge")
def first_by_name(step: Recipe) -> None:
    lanes = _lanes(step)
    size = lanes // (step.op.integer("group") or 1)
    count = min(cast("VmiFirstByName", step.op).count or 0, size)
    step.give_mask(prefix_of_groups(lanes, count, size, step.writer))


@recipe("plt")
def tail(step: Recipe) -> None:
    lanes, count, build = _lanes(step), step.value("count"), step.write.build
    mask, width = prefix(lanes, _clamped(step, count, lanes), step.writer), VECTOR_BYTES // lanes
    governed = step.values.widths.get(step.value_of("result"), WIDEST + 1)
    if governed <= width <= WIDEST and lanes * width == VECTOR_BYTES and isinstance(mask, First):
        words = {"result": mask_type(width), "next": i32}
        # one instruction says all of it, but takes its count as unsigned
        bits, rest = step.write.op(f"plt_b{8 * width}", build.cast(build.most(count, 0), i32), **words)
        mask.forms[width, CONTIGUOUS] = [bits]
    else:
        rest = build.cast(build.most(build.minus(count, lanes), 0), i32)
    step.give_mask(mask)
    step.value_of("rest").replace_all_uses_with(rest)


def logic(step: Recipe) -> None:
    """Logic on masks: each form of the result is made of the same form of the terms."""
    name = _LOGIC[step.today]
    roles = ("lhs", "rhs") if name != "pnot" else ("input",)
    terms = tuple(step.values.masks[step.value(role)] for role in roles)
    step.give_mask(Combined(_lanes(step), step.writer, name, terms))


_COMPARISONS = {f"o{name}": name for name in ("eq", "lt", "le", "gt", "ge")} | {"one": "ne"}


@recipe("vcmp", "vcmps")
def compare(step: Recipe) -> None:
    data = "lhs" if step.op.name.endswith("vcmp") else "input"
    layout, width = step.values.layout(step.value(data)), step.width(data)
    word = step.op.word("cmp") or ""
    words = {"comparison": _COMPARISONS.get(word, word), "result": mask_type(width)}
    seeds = step.masks(data, layout, "seed")
    firsts = step.registers(data, layout)
    if data == "lhs":
        seconds = step.registers("rhs", layout)
        rows = zip(firsts, seconds, seeds, strict=True)
        bits = [step.write.op("vcmp", *row, **words) for row in rows]
    else:
        scalar = step.value("scalar")
        bits = [step.write.op("vcmps", one, scalar, seed, **words) for one, seed in zip(firsts, seeds, strict=True)]
    seed = step.mask("seed")
    step.give_bits(bits, width, layout, tight=seed is not None and seed.is_tight)
