"""Fused activations, multiply-adds with one rounding, the wide product, and sorting from UB to UB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptosim.effects.element import Element, element
from ptosim.effects.names import Space
from ptosim.effects.sfu import LISTS, RECORD_BYTES, SORT_WIDTH, list_count, list_valid, repeats, suspends
from ptosim.language.micro import sfu as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Operands, lowering
from ptosim.native.ir.context import Register
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, I1, I8, I32, I64, Type, Value
from ptosim.native.vector import elementary, numbers
from ptosim.native.vector.lanes import chosen
from ptosim.native.vector.numbers import bits_of, lane_type, narrow, numeric, sort_key, widen
from ptosim.native.vector.registers import Mask, lane_numbers, shuffle, splat

# --- activations ------------------------------------------------------------------------------------------------------


@lowering(op.VPrelu)
def vprelu(input: Value, alpha: Value, element: Element) -> Value:
    """x where x >= 0 (so -0 stays), else alpha * x; a NaN takes the second way."""
    if element.kind == "unsigned":
        return input
    if not element.is_float:
        return (input >= 0).select(input, input * alpha)
    x = widen(element, input)
    return (x >= 0.0).select(bits_of(input), bits_of(narrow(element, x * widen(element, alpha))))


@lowering(op.VLrelu)
def vlrelu(core: Core, input: Value, scalar: Value, element: Element) -> Value:
    return vprelu(input, core.splat(scalar, element), element)


_F32 = element("f32")


@lowering(op.VExpdif, lanewise=True)
def vexpdif(f: FunctionBuilder, input: Value, max: Value, mask: Mask, part: str, element: Element) -> Value:
    """exp(x - m) in f32; of f16 lanes the even or the odd ones, f32 lanes all, whatever the part says."""
    active = mask.lanes(element.bytes)
    if element.name == "f16":
        lanes = range(int(part == "ODD"), element.lanes, 2)
        full = active.text == "splat (i1 true)"
        active = active if full else shuffle(f, lanes, active)
        input, max = (shuffle(f, lanes, x).convert("fpext", F32) for x in (input, max))
    difference = elementary.exp(f, _F32, numeric(input) - numeric(max))
    return difference if active.text == "splat (i1 true)" else active.select(difference, 0.0)


# --- multiply and add -------------------------------------------------------------------------------------------------


@lowering(op.VAxpy)
def vaxpy(
    f: FunctionBuilder, core: Core, input: Value, addend: Value, scalar: Value, active: Value, element: Element
) -> Value:
    """scalar * x + y with one rounding; inactive lanes keep y."""
    fused = numbers.fused_multiply_add(f, element, input, core.splat(scalar, element), addend)
    return chosen(active, bits_of(fused), bits_of(addend))


@lowering(op.VMula)
def vmula(f: FunctionBuilder, acc: Value, lhs: Value, rhs: Value, active: Value, element: Element) -> Value:
    """acc + a * b, floats with one rounding; inactive lanes keep the accumulator."""
    total = numbers.fused_multiply_add(f, element, lhs, rhs, acc) if element.is_float else acc + lhs * rhs
    return chosen(active, bits_of(total), bits_of(acc))


@lowering(op.VMull)
def vmull(lhs: Value, rhs: Value, element: Element) -> tuple[Value, Value]:
    """The whole 64-bit product of 32-bit lanes."""
    extend = "zext" if element.kind == "unsigned" else "sext"
    product = lhs.convert(extend, I64) * rhs.convert(extend, I64)
    return product.trunc(I32), product.lshr(32).trunc(I32)


# --- sorting ----------------------------------------------------------------------------------------------------------
#
# Loops that may fail are `while` loops: the indices of `for` loops belong to the kernel, and an error lists them.


@lowering(op.VBitsort, bind=lambda static: {"score": lane_type(static.elements["source"])})
def vbitsort(
    f: FunctionBuilder, core: Core, dest: Value, source: Value, indices: Value, repeat: Value, score: Type
) -> None:
    """Groups of 32 scores into records of score and index, largest first, equal ones in the order they came."""

    def group(number: Value) -> None:
        width = SORT_WIDTH * score.bits // 8
        scores = core.window("reads", Space.UB, source + number * width, width).load(score.vector(SORT_WIDTH))
        places = indices + number * (SORT_WIDTH * 4)
        index = core.window("reads", Space.UB, places, SORT_WIDTH * 4).load(I32.vector(SORT_WIDTH))
        size = SORT_WIDTH * RECORD_BYTES
        records = bits_of(scores).zext(I64) | index.zext(I64) << 32
        _place(f, core.window("writes", Space.UB, dest + number * size, size), records, _ranks(f, sort_key(scores)))

    f.repeat(repeat, group)


def _ranks(f: FunctionBuilder, keys: Value) -> Value:
    """For each key, how many come before it: all that are larger, and those that are equal and have a lower number."""
    stored = f.scratch(SORT_WIDTH * keys.kind.bits // 8)
    stored.store(keys)
    numbers = lane_numbers(f, I8, SORT_WIDTH)

    def count(index: Value, carried: list[Value]) -> Sequence[Value]:
        other = splat(f, stored.at(index * (keys.kind.bits // 8)).load(keys.kind.element), SORT_WIDTH)
        later = numbers.compare("ugt", splat(f, index.trunc(I8), SORT_WIDTH))
        before = other.compare("ugt", keys) | ((other == keys) & later)
        return [carried[0] + before.zext(I8)]

    (ranks,) = f.for_loop(f.constant(I64, 0), SORT_WIDTH, 1, [numbers.like(0)], count)
    return ranks


def _place(f: FunctionBuilder, dest: Value, records: Value, ranks: Value) -> None:
    """Each record where its rank says."""
    stored, order = f.scratch(SORT_WIDTH * RECORD_BYTES), f.scratch(SORT_WIDTH, 32)
    stored.store(records)
    order.store(ranks)
    with f.each(SORT_WIDTH, polls=True) as index:
        place = order.at(index).load(I8).zext(I64) * RECORD_BYTES
        dest.at(place).store(stored.at(index * RECORD_BYTES).load(I64))


# --- merging ----------------------------------------------------------------------------------------------------------


@lowering(op.VMrgsort4, bind=lambda static: {"score": lane_type(static.elements["dest"])})
def vmrgsort4(f: FunctionBuilder, core: Core, operands: Operands, score: Type) -> None:
    """Merge up to four sorted lists of records, largest first, equal ones by list number."""
    dest, config = operands.dest, operands.config
    sources = [getattr(operands, f"source{number}") for number in range(LISTS)]
    lengths = [list_count(operands.count, number) * list_valid(config, number) for number in range(LISTS)]
    _check_repeat(core, sources, lengths, config)
    size = sum(lengths[1:], lengths[0]) * RECORD_BYTES

    def more(carried: list[Value]) -> tuple[Value, Sequence[Value]]:
        return carried[0] < repeats(config), carried

    def merge(carried: list[Value]) -> Sequence[Value]:
        turn = carried[0]
        behind = turn * size
        merging = _Merging(f, core, [source + behind for source in sources], lengths, suspends(config) != 0, score)
        return [turn + 1, *merging.into(dest + behind)]

    zero = f.constant(I64, 0)
    turns, *taken = f.while_loop([zero] * (1 + LISTS), more, merge)
    core.set_register(Register.VMS4_SR, _packed(taken))
    core.observer.merged(core, sum(taken[1:], taken[0]) * turns)


def _packed(counts: list[Value]) -> Value:
    word = counts[0]
    for number, count in enumerate(counts[1:], 1):
        word = word | count << (16 * number)
    return word


def _check_repeat(core: Core, sources: list[Value], lengths: list[Value], config: Value) -> None:
    wrong = suspends(config) != 0
    for number in range(1, LISTS):
        apart = sources[number] != sources[0] + lengths[0] * (number * RECORD_BYTES)
        wrong = wrong | apart | (lengths[number] != lengths[0])
    message = "a repeated pto.vmrgsort4 needs four contiguous lists of equal length, none suspended"
    core.fail((repeats(config) > 1) & wrong, "invalid", message)


@dataclass(frozen=True)
class _Merging:
    """One merge. A record is read when it comes to the head of its list; a suspending merge stops when a list ends."""

    f: FunctionBuilder
    core: Core
    sources: list[Value]
    lengths: list[Value]
    suspends: Value
    score: Type

    def into(self, dest: Value) -> list[Value]:
        """Merge; gives how many records of each list were taken."""
        f = self.f
        zero = f.constant(I64, 0)
        heads = [
            f.choose(length > 0, lambda source=source: [self._record(source)], lambda: [zero])[0]
            for source, length in zip(self.sources, self.lengths, strict=True)
        ]
        ended = f.constant(I1, 0)
        _, _, *taken = f.while_loop([ended, dest, *[zero] * LISTS, *heads], self._choose, self._take)
        return taken[:LISTS]

    def _record(self, address: Value) -> Value:
        return self.core.window("reads", Space.UB, address, RECORD_BYTES, RECORD_BYTES).load(I64)

    def _choose(self, carried: list[Value]) -> tuple[Value, Sequence[Value]]:
        """The list with the largest head, by number; a list that has run out has the key 0, which no record has."""
        ended, _, *rest = carried
        keys = [
            (taken < length).select(self._key(head), 0)
            for taken, length, head in zip(rest[:LISTS], self.lengths, rest[LISTS:], strict=True)
        ]
        best, pick = keys[0], self.f.constant(I64, 0)
        for number in range(1, LISTS):
            better = keys[number] > best
            best, pick = better.select(keys[number], best), better.select(number, pick)
        return ~ended & (best != 0), [pick, *carried[1:]]

    def _key(self, head: Value) -> Value:
        bits = head.trunc(Type(f"i{self.score.bits}"))
        return sort_key(bits.bitcast(self.score)).zext(I64) + 1

    def _take(self, handed: list[Value]) -> Sequence[Value]:
        """Write the head of the picked list and bring up the next."""
        pick, dest, *rest = handed
        taken, heads = rest[:LISTS], rest[LISTS:]
        self.core.window("writes", Space.UB, dest, RECORD_BYTES, RECORD_BYTES).store(_picked(pick, heads))
        number = _picked(pick, taken) + 1
        empty = number >= _picked(pick, self.lengths)
        address = _picked(pick, self.sources) + number * RECORD_BYTES
        zero = self.f.constant(I64, 0)
        (head,) = self.f.choose(empty, lambda: [zero], lambda: [self._record(address)])
        self.core.suspect(lambda: (empty ^ 1) & (self._key(head) > self._key(_picked(pick, heads))))
        ended = empty & self.suspends
        taken = [(pick == n).select(number, old) for n, old in enumerate(taken)]
        heads = [(pick == n).select(head, old) for n, old in enumerate(heads)]
        return [ended, dest + RECORD_BYTES, *taken, *heads]


def _picked(pick: Value, values: list[Value]) -> Value:
    chosen = values[0]
    for number, value in enumerate(values[1:], 1):
        chosen = (pick == number).select(value, chosen)
    return chosen
