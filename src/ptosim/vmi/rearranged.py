"""Lanes that change places: selection by numbers, interleaving, squeezing, shuffles and channels."""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.language.types import VregType
from ptosim.language.vmi.vmi_older_memory import VmiShuffle
from ptosim.vmi.layout import CONTIGUOUS, HALVES, LaneLayout
from ptosim.vmi.recipes import recipe
from ptosim.vmi.registers import Registers, appended, relayout, window
from ptosim.vmi.values import LogicalVector, Recipe
from ptosim.vmi.writer import signed_of, unsigned_of


@recipe("vselr")
def select_lanes(step: Recipe) -> None:
    (source,), (index,) = (step.registers(role, CONTIGUOUS) for role in ("input", "index"))
    step.give([step.write.op("vselr", source, step.write.bits(index))], CONTIGUOUS)


@recipe("vintlv")
def interleave(step: Recipe) -> None:
    """Two vectors are the parts of one of twice the lanes, of which each result is a half."""
    lanes = step.type("low").lanes
    parts = [*step.registers("lhs", CONTIGUOUS), *step.registers("rhs", CONTIGUOUS)]
    stream = relayout(step.write, parts, 2 * lanes, HALVES, CONTIGUOUS)
    _give_masked(step, "low", window(step.write, stream, 0, lanes))
    _give_masked(step, "high", window(step.write, stream, lanes, lanes))


@recipe("vdintlv")
def deinterleave(step: Recipe) -> None:
    lanes = step.type("low").lanes
    stream = appended(step.write, step.registers("lhs", CONTIGUOUS), step.registers("rhs", CONTIGUOUS), lanes)
    parts = relayout(step.write, stream, 2 * lanes, CONTIGUOUS, HALVES)
    half = len(parts) // 2
    _give_masked(step, "low", parts[:half])
    _give_masked(step, "high", parts[half:])


def _give_masked(step: Recipe, role: str, registers: Registers) -> None:
    """A result with zeros in inactive lanes."""
    mask, write = step.mask(), step.write
    known = None if mask is None else mask.known(write)
    if mask is not None and not (known is not None and all(known)):
        zero = write.every(0, step.element("low"))
        masks = mask.registers(write, step.width("low"), CONTIGUOUS)
        registers = [write.select(one, zero, bits) for one, bits in zip(registers, masks, strict=True)]
    step.give(registers, CONTIGUOUS, role)


# --- squeezing --------------------------------------------------------------------------------------------------------


@recipe("compress")
def compress(step: Recipe) -> None:
    (register,) = step.registers("input", CONTIGUOUS)
    (mask,) = step.masks("input", CONTIGUOUS)
    step.give([step.write.op("vsqz", register, mask)], CONTIGUOUS)


@recipe("active_prefix_index")
def active_before(step: Recipe) -> None:
    write, width = step.write, step.width("result")
    (mask,) = step.masks("result", CONTIGUOUS)
    zero = write.cast(write.every(0, step.element("result")), signed_of(8 * width))
    step.give([write.op("vusqz", zero, mask)], CONTIGUOUS)


def squeezed(step: Recipe) -> tuple[SSAValue, SSAValue]:
    """The active lanes of a value at its front, and the mask of as many first lanes."""
    write, width = step.write, step.width("value")
    (register,) = step.registers("value", CONTIGUOUS)
    (mask,) = step.masks("value", CONTIGUOUS)
    type_ = VregType.of(unsigned_of(8 * width))
    one, zero = write.every(1, unsigned_of(8 * width)), write.every(0, unsigned_of(8 * width))
    ones = write.op("vsqz", write.select(one, zero, mask), mask)
    assert ones.type == type_
    limit = write.scalar(0, unsigned_of(8 * width))
    kept = write.op("vcmps", ones, limit, write.all(width), comparison="ne", result=mask.type)
    return write.op("vsqz", register, mask), kept


# --- shuffles and channels --------------------------------------------------------------------------------------------


@recipe("shuffle")
def shuffle(step: Recipe) -> None:
    """Runs of lanes that follow each other move together."""
    numbers, write, width = cast("VmiShuffle", step.op).numbers, step.write, step.width("result")
    most, sources = VECTOR_BYTES // width, step.registers("input", CONTIGUOUS)
    found: list[SSAValue] = []
    for start in range(0, len(numbers), most):
        here = numbers[start : start + most]
        joined: SSAValue | None = None
        at = 0
        while at < len(here):
            end = at + 1
            while end < len(here) and here[end] == here[end - 1] + 1 and here[end] // most == here[at] // most:
                end += 1
            moved = write.rotated(sources[here[at] // most], here[at] % most - at)
            mask = write.between(at, end, width)
            joined = moved if joined is None else write.select(moved, joined, mask)
            at = end
        assert joined is not None
        found.append(joined)
    step.give(found, CONTIGUOUS)


@recipe("channel_split")
def split_channels(step: Recipe) -> None:
    """The parts of a layout are the channels."""
    results = step.op.results
    registers = step.registers("input", LaneLayout(parts=len(results)))
    per = len(registers) // len(results)
    for number, result in enumerate(results):
        own = registers[number * per : (number + 1) * per]
        type_ = step.type("input").of(step.type("input").lanes // len(results), step.type("input").element)
        step.values.vectors[result] = LogicalVector(type_, {CONTIGUOUS: own}, step.writer)


@recipe("channel_merge")
def merge_channels(step: Recipe) -> None:
    channels = step.op.operands
    registers = [one for value in channels for one in step.values.vectors[value].registers(CONTIGUOUS)]
    step.give(registers, LaneLayout(parts=len(channels)))
