"""Older spellings with more than today's: signs in comparisons, lanes of other vectors, constants."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute

from ptosim.language.types import VregType, element_of
from ptosim.language.vmi.vmi_older_memory import VmiConstant, VmiConstantMask
from ptosim.vmi import groups
from ptosim.vmi.accesses import gathered, load_alternately, load_blocks
from ptosim.vmi.layout import CONTIGUOUS
from ptosim.vmi.rearranged import squeezed
from ptosim.vmi.recipes import recipe
from ptosim.vmi.registers import Registers
from ptosim.vmi.values import Recipe
from ptosim.vmi.writer import mask_type, signed_of, unsigned_of


@recipe("cmpf", "cmpi")
def compare(step: Recipe) -> None:
    """The letter before a predicate of integers says how their signs are read."""
    layout, width = step.values.layout(step.value("lhs")), step.width("lhs")
    word = step.op.word("predicate") or ""
    element: Attribute = step.element("lhs")
    if word[0] in "us" and len(word) == 3:
        element = (unsigned_of if word[0] == "u" else signed_of)(8 * width)
    comparison = {"one": "ne"}.get(word, word[-2:])
    words = {"comparison": comparison, "result": mask_type(width)}
    pairs = zip(step.registers("lhs", layout), step.registers("rhs", layout), strict=True)
    write, seed = step.write, step.write.all(width)
    bits = [write.op("vcmp", write.cast(a, element), write.cast(b, element), seed, **words) for a, b in pairs]
    step.give_bits(bits, width, layout)


# --- loads ------------------------------------------------------------------------------------------------------------


@recipe("deinterleave_load")
def load_two(step: Recipe) -> None:
    load_alternately(step)


@recipe("group_broadcast_load")
def load_one_each(step: Recipe) -> None:
    groups.load_one_each(step)


@recipe("stride_load")
def load_strided(step: Recipe) -> None:
    load_blocks(step)


@recipe("masked_load")
def load_masked(step: Recipe) -> None:
    write, width = step.write, step.width("result")
    type_, masks = VregType.of(step.element("result")), step.masks("result", CONTIGUOUS, strict=True)
    found = [
        write.op("vlds", step.value("pointer"), _at(step, number, width), mask=mask, result=type_)
        for number, mask in enumerate(masks)
    ]
    _give_chosen(step, found)


def _at(step: Recipe, number: int, width: int) -> Any:
    build = step.write.build
    return build.index(build.plus(step.value("offset"), number * CONTIGUOUS.held(width)))


def _give_chosen(step: Recipe, found: Registers) -> None:
    """Active lanes as they were loaded, and others of another vector."""
    masks, others = step.masks("result", CONTIGUOUS), step.registers("passthru", CONTIGUOUS)
    element = step.element("result")
    rows = zip(found, others, masks, strict=True)
    step.give([step.write.select(step.write.cast(one, element), *row) for one, *row in rows], CONTIGUOUS)


@recipe("expand_load")
def load_expanded(step: Recipe) -> None:
    """The k-th active lane gets element k: its number is how many active lanes come before it."""
    write, width = step.write, step.width("result")
    (mask,) = step.masks("result", CONTIGUOUS)
    bits = unsigned_of(8 * width)
    one, zero = write.every(1, bits), write.every(0, bits)
    front = write.op("vsqz", write.select(one, zero, mask), mask)
    words = {"comparison": "ne", "result": mask_type(width)}
    read = write.op("vcmps", front, write.scalar(0, bits), write.all(width), **words)
    type_ = VregType.of(step.element("result"))
    loaded = write.op("vlds", step.value("pointer"), step.value("offset"), mask=read, result=type_)
    numbers = write.op("vusqz", write.cast(zero, signed_of(8 * width)), mask)
    _give_chosen(step, [write.op("vselr", loaded, write.bits(numbers))])


@recipe("gather")
def gather(step: Recipe) -> None:
    _give_chosen(step, gathered(step, CONTIGUOUS))


@recipe("compress_store")
def store_compressed(step: Recipe) -> None:
    front, kept = squeezed(step)
    step.write.op("vsts", front, step.value("pointer"), step.value("offset"), kept)


# --- constants --------------------------------------------------------------------------------------------------------


@recipe("constant")
def constant(step: Recipe) -> None:
    literal = cast("VmiConstant", step.op).value
    assert isinstance(literal, DenseIntOrFPElementsAttr)
    value = cast("Any", literal).get_values()[0]
    layout, element = step.layout(), step.element("result")
    if element_of(step.type("result").element).is_float:
        scalar = step.write.build.constant(float(value), element)
    else:
        scalar = step.write.scalar(int(value), element)
    one = step.write.op("vbr", scalar, result=VregType.of(element))
    step.give([one] * layout.count(step.type("result").lanes, step.width("result")), layout)


@recipe("constant_mask")
def constant_mask(step: Recipe) -> None:
    literal = cast("VmiConstantMask", step.op).value
    assert isinstance(literal, DenseIntOrFPElementsAttr)
    bits = [bool(value) for value in cast("Any", literal).get_values()]
    lanes = cast("Any", step.value_of("result").type).lanes
    step.give_mask(step.fixed(bits * lanes if len(bits) == 1 else bits))
