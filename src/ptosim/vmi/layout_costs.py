"""Instructions that an operation takes at the edges of its vectors, by their layouts: loads, stores, changes of width,
reductions, and what is brought from one layout to another. The recipes do what is counted here.

A cost is a number of instructions; of equal ones that is less of which fewer compute, and more load or store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from xdsl.ir import SSAValue

from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.language.logical_types import LogicalVectorType
from ptosim.language.types import element_of
from ptosim.language.vmi.vmi_operation import VmiOperation
from ptosim.vmi.converted import source_layout
from ptosim.vmi.layout import CONTIGUOUS, EIGHT, SINGLE, LaneLayout

ACCESS = 1 << 20
"""The cost of an instruction that loads or stores."""
COMPUTED = ACCESS + 1
"""The cost of one that works on registers."""

Layouts = Callable[[SSAValue], LaneLayout]
"""The layout that is considered for a vector."""


def shape(value: SSAValue) -> tuple[int, int]:
    """Lanes, and bytes of each."""
    assert isinstance(value.type, LogicalVectorType)
    return value.type.lanes, element_of(value.type.element).bytes


def relayout_cost(value: SSAValue, layout: LaneLayout, wanted: LaneLayout) -> int:
    """The cost of registers.relayout."""
    lanes, width = shape(value)
    most, cost = VECTOR_BYTES // width, 0
    if layout == wanted or (lanes <= most and _is_one_register(lanes, width, layout, wanted)):
        return 0
    parts = wanted.parts if wanted.stride == 1 and not wanted.slots else 1
    while layout.parts > parts:
        cost += layout.count(lanes, width) // 2
        layout = replace(layout, parts=layout.parts // 2)
    while layout.stride > wanted.stride:
        layout = replace(layout, stride=layout.stride // 2)
        cost += layout.count(lanes, width)
    if layout.slots and layout != wanted:
        cost += 2 * (layout.count(lanes, width) - CONTIGUOUS.count(lanes, width))
        layout = CONTIGUOUS
    if wanted.slots and layout != wanted:
        return COMPUTED * (cost + wanted.count(lanes, width))
    while layout.parts < wanted.parts:
        cost += (layout.count(lanes, width) + 1) // 2
        layout = replace(layout, parts=2 * layout.parts)
    while layout.stride < wanted.stride:
        cost += layout.count(lanes, width)
        layout = replace(layout, stride=2 * layout.stride)
    return COMPUTED * cost


def _is_one_register(lanes: int, width: int, one: LaneLayout, other: LaneLayout) -> bool:
    return all(each.parts == 1 and each.stride == 1 and lanes <= each.held(width) for each in (one, other))


def cost(op: VmiOperation, layouts: Layouts) -> int:
    """The cost of an operation at its edges, and for its lanes."""
    name = op.name.rpartition(".")[2]
    if (counted := _BY_NAME.get(name)) is not None:
        return counted(op, layouts)
    results = [value for value in op.results if isinstance(value.type, LogicalVectorType)]
    operands = [value for value in op.operands if isinstance(value.type, LogicalVectorType)]
    if op.by_lanes:
        first = (results or operands)[0]
        layout = layouts(first)
        return COMPUTED * layout.count(*shape(first)) + sum(
            relayout_cost(each, layouts(each), layout) for each in operands
        )
    return sum(relayout_cost(each, layouts(each), CONTIGUOUS) for each in operands) + sum(
        relayout_cost(each, CONTIGUOUS, layouts(each)) for each in results
    )


def _load(op: VmiOperation, layouts: Layouts) -> int:
    value = op.results[0]
    lanes, width = shape(value)
    wanted = layouts(value)
    plain = not (op.played_any("stride", "block_stride")) and op.word_of("dist_mode") in (None, "continuous")
    if op.word_of("dist_mode") == "brc" and not op.played_any("stride"):
        return ACCESS
    if not plain or len(op.results) > 1:
        return sum(relayout_cost(each, CONTIGUOUS, layouts(each)) for each in op.results)
    if lanes == 1:
        return ACCESS
    if wanted.parts > 1:
        halves = replace(wanted, parts=2)
        return ACCESS * halves.registers_of_part(lanes, width) + relayout_cost(value, halves, wanted)
    if wanted.slots and wanted != SINGLE and wanted.slots * width % GRANULE:
        return ACCESS * CONTIGUOUS.count(lanes, width) + relayout_cost(value, CONTIGUOUS, wanted)
    return ACCESS * wanted.count(lanes, width)


def _store(op: VmiOperation, layouts: Layouts) -> int:
    value = op.segment("value")[0]
    lanes, width = shape(value)
    layout = layouts(value)
    if op.played_any("stride", "block_stride", "high"):
        return relayout_cost(value, layout, CONTIGUOUS)
    if layout.parts == 2 and lanes % (2 * VECTOR_BYTES // width) == 0 and not op.played_any("mask"):
        return ACCESS * (layout.count(lanes, width) // 2)
    if layout.stride > 1:
        return ACCESS * layout.count(lanes, width)
    return relayout_cost(value, layout, CONTIGUOUS) + ACCESS * CONTIGUOUS.count(lanes, width)


def _convert(op: VmiOperation, layouts: Layouts) -> int:
    source, dest = op.operands[0], op.results[0]
    (lanes, before), (_, after) = shape(source), shape(dest)
    given, wanted = layouts(source), layouts(dest)
    if before == after:
        return relayout_cost(source, given, wanted) + COMPUTED * wanted.count(lanes, after)
    if after > before:
        factor = after // before
        needed = source_layout(wanted, factor)
        apart = LaneLayout(stride=needed.stride // factor)
        natural = apart if needed.stride > 1 else LaneLayout(parts=needed.parts * factor)
        moved = relayout_cost(source, given, needed) + relayout_cost(dest, natural, wanted)
        return moved + COMPUTED * natural.count(lanes, after)
    factor = before // after
    if wanted.stride % factor == 0:
        apart = LaneLayout(stride=wanted.stride // factor)
        return relayout_cost(source, given, apart) + COMPUTED * apart.count(lanes, before)
    parts = wanted.parts if wanted.stride == 1 and not wanted.slots and wanted.parts * factor <= 4 else 1
    needed, natural = LaneLayout(parts=parts * factor), LaneLayout(parts=parts)
    united = (factor - 1) * natural.count(lanes, after)
    moved = relayout_cost(source, given, needed) + relayout_cost(dest, natural, wanted)
    return moved + COMPUTED * (needed.count(lanes, before) + united)


def _reinterpret(op: VmiOperation, layouts: Layouts) -> int:
    source, dest = op.operands[0], op.results[0]
    if shape(source) == shape(dest):
        return relayout_cost(source, layouts(source), layouts(dest))
    return relayout_cost(source, layouts(source), CONTIGUOUS) + relayout_cost(dest, CONTIGUOUS, layouts(dest))


def _reduce(op: VmiOperation, layouts: Layouts) -> int:
    source, dest = op.operands[0], op.results[0]
    lanes, width = shape(source)
    size = lanes // shape(dest)[0]
    blocks, rest = divmod(size * width, GRANULE)
    if rest == 0 and blocks in (1, 2, 4):
        needed, natural = LaneLayout(parts=blocks), EIGHT
    elif size * width * 4 in (GRANULE, 2 * GRANULE):
        needed, natural = LaneLayout(stride=GRANULE // (size * width)), EIGHT
    else:
        needed, natural = CONTIGUOUS, SINGLE
        given = layouts(source)
        sums = isinstance(source.type, LogicalVectorType) and not element_of(source.type.element).is_integer
        ordered = sums and "add" in op.name
        if rest == 0 and not ordered and given.parts > 1 and size % (given.parts * VECTOR_BYTES // width) == 0:
            needed = given
    moved = relayout_cost(source, layouts(source), needed) + relayout_cost(dest, natural, layouts(dest))
    return moved + COMPUTED * needed.count(lanes, width)


def _broadcast(op: VmiOperation, layouts: Layouts) -> int:
    source, dest = op.operands[0], op.results[0]
    lanes, width = shape(dest)
    wanted = layouts(dest)
    if not isinstance(source.type, LogicalVectorType):
        return COMPUTED
    size = lanes // source.type.lanes
    layout = CONTIGUOUS if wanted.slots or wanted.stride > 1 or size % wanted.parts else wanted
    given = layouts(source)
    moved = relayout_cost(source, given, CONTIGUOUS) if given not in (CONTIGUOUS, EIGHT, SINGLE) else 0
    return moved + COMPUTED * layout.registers_of_part(lanes, width) + relayout_cost(dest, layout, wanted)


def _alternate_exponential(op: VmiOperation, layouts: Layouts) -> int:
    source, dest = op.operands[0], op.results[0]
    natural = layouts(dest) if shape(source) == shape(dest) else LaneLayout(parts=2)
    needed = natural if shape(source) == shape(dest) else CONTIGUOUS
    operands = [value for value in op.operands if isinstance(value.type, LogicalVectorType)]
    moved = sum(relayout_cost(each, layouts(each), needed) for each in operands)
    return moved + COMPUTED * natural.count(*shape(dest)) + relayout_cost(dest, natural, layouts(dest))


def _split_channels(op: VmiOperation, layouts: Layouts) -> int:
    source, needed = op.operands[0], LaneLayout(parts=len(op.results))
    moved = sum(relayout_cost(each, CONTIGUOUS, layouts(each)) for each in op.results)
    return moved + relayout_cost(source, layouts(source), needed)


def _merge_channels(op: VmiOperation, layouts: Layouts) -> int:
    dest, natural = op.results[0], LaneLayout(parts=len(op.operands))
    moved = sum(relayout_cost(each, layouts(each), CONTIGUOUS) for each in op.operands)
    return moved + relayout_cost(dest, natural, layouts(dest))


_BY_NAME: Mapping[str, Callable[[VmiOperation, Layouts], int]] = {
    **dict.fromkeys(("vload", "load"), _load),
    **dict.fromkeys(("vstore", "store", "masked_store"), _store),
    **dict.fromkeys("vcvt extf truncf fptosi fptoui sitofp extsi extui trunci".split(), _convert),
    **dict.fromkeys(("vinterpret_cast", "bitcast"), _reinterpret),
    **dict.fromkeys(
        (
            *("vcadd", "vcmax", "vcmin"),
            *(
                f"{group}reduce_{name}{kind}"
                for group in ("", "group_")
                for name in ("add", "max", "min")
                for kind in "fi"
            ),
        ),
        _reduce,
    ),
    **dict.fromkeys(("vbrc", "broadcast", "group_broadcast"), _broadcast),
    "vexpdif": _alternate_exponential,
    "channel_split": _split_channels,
    "channel_merge": _merge_channels,
}
