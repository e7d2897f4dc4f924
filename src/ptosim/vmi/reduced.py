"""Reductions in an order that does not depend on layouts, broadcasts, ramps and histograms.

Of groups of one block of 32 bytes at most, each block is reduced by itself; of two or four blocks, every second or
fourth lane is added first; of whole registers, the registers are added first. Where masks differ between the terms,
each is reduced before they are added (docs/vmi.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ptosim.effects.element import BLOCKS, GRANULE, VECTOR_BYTES
from ptosim.language.logical_types import LogicalVectorType
from ptosim.language.types import VregType, element_of
from ptosim.vmi.layout import CONTIGUOUS, EIGHT, SINGLE, LaneLayout
from ptosim.vmi.masks import LogicalMask
from ptosim.vmi.recipes import recipe
from ptosim.vmi.registers import Registers
from ptosim.vmi.spread_groups import give_repeated
from ptosim.vmi.values import Recipe
from ptosim.vmi.writer import signed_of, unsigned_of

_TOGETHER = {"vcadd": "vadd", "vcmax": "vmax", "vcmin": "vmin"}


@dataclass(frozen=True)
class _Reduction:
    """A reduction of groups: its instructions, and the vector by its registers."""

    step: Recipe
    name: str
    groups: int

    @property
    def lanes(self) -> int:
        return self.step.type("input").lanes

    @property
    def width(self) -> int:
        return self.step.width("input")

    @property
    def size(self) -> int:
        return self.lanes // self.groups

    @property
    def parts_in_any_order(self) -> LaneLayout | None:
        """The layout of the vector, where its parts hold whole registers of each group and order does not matter."""
        layout = self.step.values.layout(self.step.value("input"))
        element = element_of(self.step.type("input").element)
        ordered = self.name == "vcadd" and not element.is_integer
        if ordered or layout.parts == 1 or self.size % (layout.parts * VECTOR_BYTES // self.width):
            return None
        return layout

    @property
    def mask(self) -> LogicalMask:
        found = self.step.mask()
        assert found is not None
        return found

    def masks(self, layout: LaneLayout) -> Registers:
        return self.mask.registers(self.step.write, self.width, layout, strict=True)

    def together(self, one: SSAValue, other: SSAValue) -> SSAValue:
        """Two registers lane by lane."""
        return self.step.write.op(_TOGETHER[self.name], one, other, self.step.write.all(self.width))

    def blocks(self, register: SSAValue, mask: SSAValue) -> SSAValue:
        return self.step.write.op(self.name.replace("vc", "vcg", 1), register, mask)

    def whole(self, register: SSAValue, mask: SSAValue) -> SSAValue:
        """One register; the sum of narrow integers is wider, of which the low half counts."""
        element = element_of(register.type)
        type_ = register.type
        if self.name == "vcadd" and element.is_integer and element.bits < 32:
            wider = unsigned_of if element.kind == "unsigned" else signed_of
            type_ = VregType.of(wider(2 * element.bits))
        found = self.step.write.op(self.name, register, mask, result=type_)
        return self.step.write.cast(found, self.step.element("input"))


_OLDER = [f"reduce_{name}{kind}" for name in ("add", "max", "min") for kind in "fi"]


@recipe("vcadd", "vcmax", "vcmin", *_OLDER, *(f"group_{name}" for name in _OLDER))
def reduction(step: Recipe) -> None:
    run = _Reduction(step, step.today, step.op.integer("group") or step.op.integer("num_groups") or 1)
    blocks, rest = divmod(run.size * run.width, GRANULE)
    if rest == 0 and blocks and blocks % BLOCKS == 0:
        _of_registers(run, blocks // BLOCKS)
    elif rest == 0 and blocks in (1, 2, 4):
        _of_parts(run, LaneLayout(parts=blocks))
    elif run.size * run.width * 4 in (GRANULE, 2 * GRANULE):
        _of_less_than_blocks(run, LaneLayout(stride=GRANULE // (run.size * run.width)))
    else:
        _one_by_one(run)


def _of_less_than_blocks(run: _Reduction, layout: LaneLayout) -> None:
    """Each group gets a block of its own."""
    rows = zip(run.step.registers("input", layout), run.masks(layout), strict=True)
    run.step.give(_eights(run, [run.blocks(*row) for row in rows]), EIGHT)


def _eights(run: _Reduction, found: Sequence[SSAValue]) -> Registers:
    return found[: EIGHT.count(run.groups, run.width)]


def _of_parts(run: _Reduction, layout: LaneLayout) -> None:
    """The parts have the lanes of each group in a block."""
    registers, masks = run.step.registers("input", layout), run.masks(layout)
    per = len(registers) // layout.parts
    parts = [registers[part * per : (part + 1) * per] for part in range(layout.parts)]
    bits = [masks[part * per : (part + 1) * per] for part in range(layout.parts)]
    found: list[SSAValue] = []
    alike = _is_same_in_parts(run, layout)
    for number in range(per):
        terms = [part[number] for part in parts]
        if alike:
            found.append(run.blocks(reduce(run.together, terms), bits[0][number]))
            continue
        sums = [run.blocks(term, mask[number]) for term, mask in zip(terms, bits, strict=True)]
        found.append(_in_pairs(run, sums))
    run.step.give(_eights(run, found), EIGHT)


def _in_pairs(run: _Reduction, sums: Sequence[SSAValue]) -> SSAValue:
    """(s0 + s1) + (s2 + s3)."""
    while len(sums) > 1:
        sums = [run.together(sums[index], sums[index + 1]) for index in range(0, len(sums), 2)]
    return sums[0]


def _is_same_in_parts(run: _Reduction, layout: LaneLayout) -> bool:
    """Whether the mask is known to have the same bits in every part."""
    bits = run.mask.known(run.step.write)
    if bits is None:
        return False
    return len({tuple(bits[part :: layout.parts]) for part in range(layout.parts)}) == 1


def _of_registers(run: _Reduction, count: int) -> None:
    """Groups of whole registers."""
    if (layout := run.parts_in_any_order) is not None:
        _of_parts_in_any_order(run, layout, count)
        return
    registers, masks = run.step.registers("input", CONTIGUOUS), run.masks(CONTIGUOUS)
    most, bits = VECTOR_BYTES // run.width, run.mask.known(run.step.write)
    found: list[SSAValue] = []
    for first in range(0, len(registers), count):
        terms, governing = registers[first : first + count], masks[first : first + count]
        pieces = (
            [] if bits is None else [tuple(bits[(first + i) * most : (first + i + 1) * most]) for i in range(count)]
        )
        if len(set(pieces)) == 1:
            found.append(run.whole(reduce(run.together, terms), governing[0]))
            continue
        sums = [run.whole(term, mask) for term, mask in zip(terms, governing, strict=True)]
        found.append(reduce(lambda so_far, each: run.together(each, so_far), sums))
    run.step.give(found, SINGLE)


def _of_parts_in_any_order(run: _Reduction, layout: LaneLayout, count: int) -> None:
    """Groups of whole registers in each part, of values whose order does not matter."""
    registers, masks = run.step.registers("input", layout), run.masks(layout)
    per, own = len(registers) // layout.parts, count // layout.parts
    alike = run.mask.is_same_everywhere(run.step.write, run.width, layout)
    found: list[SSAValue] = []
    for group in range(run.groups):
        numbers = [part * per + group * own + index for part in range(layout.parts) for index in range(own)]
        if alike:
            whole = reduce(run.together, [registers[number] for number in numbers])
            found.append(run.whole(whole, masks[numbers[0]]))
        else:
            found.append(reduce(run.together, [run.whole(registers[number], masks[number]) for number in numbers]))
    run.step.give(found, SINGLE)


def _one_by_one(run: _Reduction) -> None:
    """Groups of any size: each by itself, register by register."""
    registers, masks = run.step.registers("input", CONTIGUOUS), run.masks(CONTIGUOUS)
    write, most = run.step.write, VECTOR_BYTES // run.width
    full, known = write.all(run.width), run.mask.known(write)
    found: list[SSAValue] = []
    for group in range(run.groups):
        start, end = group * run.size, (group + 1) * run.size
        sums: list[SSAValue] = []
        for number in range(start // most, -(-end // most)):
            first = number * most
            own = write.between(start - first, end - first, run.width)
            bits = None if known is None else known[max(start, first) : min(end, first + most)]
            mask = own if bits is not None and all(bits) else write.op("pand", masks[number], own, full)
            sums.append(run.whole(registers[number], mask))
        found.append(reduce(lambda so_far, each: run.together(each, so_far), sums))
    run.step.give(found, SINGLE)


# --- broadcasts and ramps ---------------------------------------------------------------------------------------------


@recipe("vbrc", "broadcast", "group_broadcast")
def broadcast(step: Recipe) -> None:
    source = step.value("input").type
    if isinstance(source, LogicalVectorType):
        vector = step.values.vectors[step.value("input")]
        layout = SINGLE if SINGLE in vector.forms else EIGHT if EIGHT in vector.forms else CONTIGUOUS
        give_repeated(step, vector.registers(layout), layout, source.lanes)
        return
    layout, element = step.layout(), step.element("result")
    one = step.write.op("vbr", step.value("input"), result=VregType.of(element))
    step.give([one] * layout.count(step.type("result").lanes, step.width("result")), layout)


@recipe("vci", "iota", "group_iota")
def ramp(step: Recipe) -> None:
    """Lane numbers, and the base plus or minus them."""
    write, width, lanes = step.write, step.width("result"), step.type("result").lanes
    size = lanes // (step.op.integer("group") or 1)
    element, base = step.element("result"), step.value("base")
    type_ = VregType.of(element)
    name = "vsub" if step.op.word("order") == "DESC" else "vadd"
    start = write.op("vbr", base, result=type_)
    most, full = VECTOR_BYTES // width, write.all(width)
    again = size if size < lanes else most
    found = [write.op(name, start, _numbers(step, first % size, again), full) for first in range(0, lanes, most)]
    step.give(found, CONTIGUOUS)


def _numbers(step: Recipe, first: int, size: int) -> SSAValue:
    """The numbers of lanes in their groups, in the elements of the result."""
    write, width, element = step.write, step.width("result"), step.element("result")
    kind = element_of(element)
    numbers = write.ramp(first, width)
    full = write.all(width)
    if size < VECTOR_BYTES // width:
        numbers = write.op("vand", numbers, write.every(size - 1, unsigned_of(8 * width)), full)
    if not kind.is_float:
        return write.cast(numbers, element)
    words = {"rnd": "R", "result": VregType.of(element)}
    return write.op("vcvt", write.cast(numbers, signed_of(8 * width)), full, **words)


# --- histograms -------------------------------------------------------------------------------------------------------


@recipe("vdhist", "vchist")
def histogram(step: Recipe) -> None:
    """Half of the values at a time; each register of bytes adds to the counts of the one before."""
    write, halves = step.write, unsigned_of(16)
    counts = [write.cast(one, halves) for one in step.registers("acc", CONTIGUOUS)]
    mask = step.mask()
    assert mask is not None
    rows = list(
        zip(step.registers("source", CONTIGUOUS), mask.registers(write, 1, CONTIGUOUS, strict=True), strict=True)
    )
    name = "dhistv2" if step.op.name.endswith("vdhist") else "chistv2"
    found: list[SSAValue] = []
    for number, before in enumerate(counts):
        words, total = {"bin": write.build.constant(number, i32), "result": VregType.of(halves)}, before
        for register, bits in rows:
            total = write.build.op(name, acc=total, input=register, mask=bits, **words)
        found.append(total)
    step.give(found, CONTIGUOUS)
