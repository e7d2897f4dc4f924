"""Conflicts: entries that meet in memory, and how many iterations apart.

Two entries conflict where they may touch the same byte and one of them writes. Bytes are told apart by their closed
forms: in one iteration of the loops around both, or some iterations of one loop apart, with the loops outside of it at
the same iteration and those inside at any. Different arguments of a kernel are taken not to overlap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import lcm

from xdsl.ir import Operation

from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.names import Pipe, Space
from ptosim.order.model import ByteRange, EntryNode, OrderProgram, Span
from ptosim.order.number import LONGEST_PERIOD, Linear, Plain, Symbol, bounds, extreme
from ptosim.order.touches import range_key
from ptosim.order.values import ANYWHERE

Meeting = tuple[Operation, Operation]
"""Two operations, the first in the text first, that touch the same bytes."""
_LONG = 16
"""Registers of a long vector operation."""
FARTHEST = 64
"""Beyond so many iterations a conflict counts as one of the next iteration."""


@dataclass(eq=False)
class _Place:
    """A range, its hull, and who touches it, as sets of entries."""

    range: ByteRange
    low: float
    high: float
    readers: int = 0
    writers: int = 0


class Conflicts:
    """The conflicts of a program, as sets of entries: bit n stands for entry number n."""

    def __init__(self, program: OrderProgram, known: Collection[Meeting] | None = None) -> None:
        """With what is `known` to meet in GM, accesses to it that only may meet are taken not to; `assumed` says
        which."""
        self._known = known
        self.assumed: list[tuple[EntryNode, EntryNode]] = []
        self._entries = program.entries
        self._places: list[_Place] = []
        self._touched: list[list[tuple[int, bool]]] = [[] for _ in program.entries]
        """For each entry the places it touches, and whether it writes."""
        self._distances: dict[tuple[int, int, int | None], int | None] = {}
        self._exact: dict[tuple[int, int, int, int], bool] = {}
        self._met: dict[tuple[int, bool, int | None, bool], dict[int, int]] = {}
        self._gather(program)
        self._near = self._neighbours()
        self._inside = dict.fromkeys(program.loops, 0)
        for entry in program.entries:
            for name in entry.loops:
                self._inside[name] |= 1 << entry.number
        self._symbols = [_symbols(place.range) for place in self._places]
        self._of_vector = sum(1 << entry.number for entry in program.entries if entry.pipe is Pipe.V)

    def together(self, entry: EntryNode) -> int:
        """Entries that an entry meets in one iteration of the loops around both."""
        return self.apart(entry, None).get(0, 0)

    def apart(self, entry: EntryNode, loop: int | None) -> dict[int, int]:
        """Entries in a loop that an entry meets some iterations of it later, by the least number of iterations; without
        a loop, in one iteration of those around both."""
        found: dict[int, int] = {}
        for place, writes in self._touched[entry.number]:
            key = (place, writes, loop, entry.pipe is Pipe.V)
            if key not in self._met:
                self._met[key] = self._meetings(*key)
            for distance, members in self._met[key].items():
                found[distance] = found.get(distance, 0) | members
        return found

    def _meetings(self, place: int, writes: bool, loop: int | None, is_vector: bool) -> dict[int, int]:
        """The entries that a read or write of a place meets, by the least number of iterations."""
        found: dict[int, int] = {}
        for other, there in self._neighbourhood(place, writes, loop):
            same = other == place and not writes and loop is None
            is_late = same and is_vector and self._is_long(place)
            members = there & ~self._of_vector if is_late else there
            if members and (distance := self._distance(other, place, loop)) is not None:
                found[distance] = found.get(distance, 0) | members
        return found

    def exactly(self, entry: EntryNode, loop: int, apart: int) -> int:
        """Entries in a loop that an entry meets so many iterations of it later, whatever the least number is."""
        found = 0
        for place, writes in self._touched[entry.number]:
            for other, members in self._neighbourhood(place, writes, loop):
                if members & ~found and self._is_met(other, place, loop, apart):
                    found |= members
        return found

    def _neighbourhood(self, place: int, writes: bool, loop: int | None) -> Iterator[tuple[int, int]]:
        """Places near a place that is read or written, and the conflicting entries of the loop there."""
        inside = -1 if loop is None else self._inside[loop]
        for other in self._near[place]:
            there = self._places[other]
            if members := (there.writers | (there.readers if writes else 0)) & inside:
                yield other, members

    def _is_met(self, earlier: int, later: int, loop: int, apart: int) -> bool:
        key = (earlier, later, loop, apart)
        if key not in self._exact:
            least = self._distance(earlier, later, loop)
            near = least is not None and least <= apart
            self._exact[key] = near and meets(self._places[earlier].range, self._places[later].range, loop, apart)
        return self._exact[key]

    def _is_long(self, place: int) -> bool:
        """Whether the vector unit writes a place for so long that its next reader comes late enough, even on a
        machine where vector operations overlap."""
        known = self._places[place]
        return known.high - known.low > (_LONG - 1) * VECTOR_BYTES and known.range.spans != (None,)

    # --- places -------------------------------------------------------------------------------------------------------

    def _gather(self, program: OrderProgram) -> None:
        numbers: dict[tuple[object, ...], int] = {}
        for entry in program.entries:
            for touch in entry.touches:
                key = range_key(touch.range)
                if key not in numbers:
                    numbers[key] = len(self._places)
                    self._places.append(_Place(touch.range, *_hull(touch.range)))
                place = self._places[numbers[key]]
                if touch.writes:
                    place.writers |= 1 << entry.number
                else:
                    place.readers |= 1 << entry.number
                self._touched[entry.number].append((numbers[key], touch.writes))

    def _neighbours(self) -> list[list[int]]:
        """For each place those whose hulls it meets, itself included."""
        near: list[list[int]] = [[] for _ in self._places]
        memories: dict[Space, list[int]] = defaultdict(list)
        for number, place in enumerate(self._places):
            memories[place.range.space].append(number)
        for members in memories.values():
            members.sort(key=lambda number: self._places[number].low)
            for index, number in enumerate(members):
                here = self._places[number]
                near[number].append(number)
                for other in members[index + 1 :]:
                    there = self._places[other]
                    if there.low >= here.high:
                        break
                    if _same_origin(here.range, there.range):
                        near[number].append(other)
                        near[other].append(number)
        return near

    def _distance(self, earlier: int, later: int, loop: int | None) -> int | None:
        key = (earlier, later, loop)
        if key not in self._distances:
            met = self._least(earlier, later, loop)
            if met is not None and self._known is not None and not self._is_sure(earlier, later, loop, met):
                self.assumed += self._touching(earlier, later, loop)
                met = None
            self._distances[key] = met
        return self._distances[key]

    def _least(self, earlier: int, later: int, loop: int | None) -> int | None:
        """The least distance of two places whose hulls meet. Where they have no symbol in common and none that the loop
        moves, that is all there is to say."""
        symbols, others = self._symbols[earlier], self._symbols[later]
        if symbols is None or others is None or not symbols.isdisjoint(others):
            return distance(self._places[earlier].range, self._places[later].range, loop)
        if loop is None:
            return 0
        if any(each.loop == loop for each in (*symbols, *others)):
            return distance(self._places[earlier].range, self._places[later].range, loop)
        return 1

    def _is_sure(self, earlier: int, later: int, loop: int | None, apart: int) -> bool:
        a, b = self._places[earlier].range, self._places[later].range
        if a.space is not Space.GM or surely_in(a, b, loop, apart) or surely_in(b, a, loop, apart):
            return True
        return any((one.op, other.op) in (self._known or ()) for one, other in self._touching(earlier, later, loop))

    def _touching(self, earlier: int, later: int, loop: int | None) -> Iterator[tuple[EntryNode, EntryNode]]:
        """Entries that touch the two places, one of them writing: different entries, or iterations of a loop."""
        for one in self._entries:
            for other in self._entries[: one.number + (loop is not None)]:
                if loop is not None and (loop not in one.loops or loop not in other.loops):
                    continue
                for a, b in ((earlier, later), (later, earlier)):
                    modes = [w for place, w in self._touched[one.number] if place == a]
                    others = [w for place, w in self._touched[other.number] if place == b]
                    if modes and others and any((*modes, *others)):
                        yield other, one


def _same_origin(a: ByteRange, b: ByteRange) -> bool:
    return a.origin == b.origin or ANYWHERE in (a.origin, b.origin)


def _symbols(range_: ByteRange) -> frozenset[Symbol] | None:
    """The inputs of the ends of a range; None where it has others in other turns."""
    ends = [end for span in range_.spans if span is not None for end in span]
    if (len(range_.spans), len(ends)) != (1, 2):
        return None
    return frozenset(each for end in ends if isinstance(end, Linear) for each in end.terms)


def _hull(range_: ByteRange) -> tuple[float, float]:
    spans = [span for span in range_.spans if span is not None]
    if len(spans) < len(range_.spans):
        return float("-inf"), float("inf")
    return min(_bound(low, -1) for low, _ in spans), max(_bound(high, 1) for _, high in spans)


def _bound(end: Plain, sign: int) -> float:
    found = bounds(end)[sign > 0]
    return sign * float("inf") if found is None else found


# --- distances --------------------------------------------------------------------------------------------------------


def distance(earlier: ByteRange, later: ByteRange, loop: int | None) -> int | None:
    """After how many iterations of a loop, at least one, the later range first meets the earlier one; without a loop 0
    where they meet in one iteration of all loops around both. None if they never meet."""
    if not _same_origin(earlier, later):
        return None
    if earlier.origin != later.origin:
        return 0 if loop is None else 1
    if loop is not None and earlier.loop == loop and _take_turns(earlier, later):
        period = lcm(len(earlier.spans), len(later.spans))
        pairs = (
            (a, b, apart, period) for apart in range(1, period + 1) for a, b in _turn_by_turn(earlier, later, apart)
        )
    else:
        pairs = ((a, b, 1, 1) for a, b in _turns(earlier, later, loop))
    found = [met for a, b, apart, every in pairs if (met := _meeting(a, b, loop, apart, every)) is not None]
    return min(found, default=None)


def meets(earlier: ByteRange, later: ByteRange, loop: int, apart: int) -> bool:
    """Whether two ranges meet so many iterations of a loop apart."""
    if earlier.origin != later.origin:
        return _same_origin(earlier, later)
    pairs = _together(earlier, later, loop, apart)
    return any(a is None or b is None or _overlap(a, b, loop, apart) for a, b in pairs)


def _together(earlier: ByteRange, later: ByteRange, loop: int | None, apart: int) -> Iterable[tuple[Span, Span]]:
    """The spans that may exist so many iterations of a loop apart."""
    if earlier.loop == loop and _take_turns(earlier, later):
        return _turn_by_turn(earlier, later, apart)
    return _turns(earlier, later, loop)


def _take_turns(earlier: ByteRange, later: ByteRange) -> bool:
    """Whether two ranges differ in the turns of the same loop."""
    return earlier.loop == later.loop is not None and earlier.start == later.start


def _turn_by_turn(earlier: ByteRange, later: ByteRange, apart: int = 0) -> list[tuple[Span, Span]]:
    """The relation of two ranges in turn, the earlier one so many turns before."""
    spans, others = earlier.spans, later.spans
    turns = range(lcm(len(spans), len(others)))
    return [(spans[(turn - apart) % len(spans)], others[turn % len(others)]) for turn in turns]


def _turns(earlier: ByteRange, later: ByteRange, loop: int | None) -> Iterable[tuple[Span, Span]]:
    """The spans that may exist together: in one turn of a loop around both, else any."""
    if _take_turns(earlier, later) and _is_outside(earlier.loop, loop):
        return _turn_by_turn(earlier, later)
    return product(earlier.spans, later.spans)


def _is_outside(turning: int | None, loop: int | None) -> bool:
    """Whether the loop of the turns is at one iteration: loops are numbered outermost first."""
    return loop is None or (turning is not None and turning < loop)


def _meeting(a: Span, b: Span, loop: int | None, apart: int, every: int) -> int | None:
    """The least distance of `apart`, `apart` + `every` and so on at which two spans meet."""
    if a is None or b is None:
        return 0 if loop is None else apart
    if loop is None:
        return 0 if _overlap(a, b, None, 0) else None
    if not any(_step(end, loop) for end in (*a, *b)):
        return apart if _overlap(a, b, loop, apart) else None
    gaps, steps = _gaps(a, b, loop), range(apart, FARTHEST + 1, every)
    first = next((n for n in steps if all(base + growth * n > 0 for base, growth in gaps)), None)
    if first is None and len(steps) > 1 and not _is_beyond(a, b, loop):
        return apart
    return first


def _step(end: Plain, loop: int) -> int:
    """The bytes that an end of a span moves in one iteration."""
    if isinstance(end, int):
        return 0
    return next((factor for each, factor in end.terms.items() if each.loop == loop), 0)


def _is_beyond(a: tuple[Plain, Plain], b: tuple[Plain, Plain], loop: int) -> bool:
    """Whether spans that did not meet up to the farthest iteration never will: they move alike, and away."""
    steps = {_step(end, loop) for end in (*a, *b)}
    if len(steps) != 1:
        return not all(gap is None or gap[0] > 0 for gap in _ends(a, b, loop, at_any=True))
    (step,) = steps
    gap = _ends(a, b, loop)[0 if step > 0 else 1]
    return gap is not None and gap[0] + gap[1] * FARTHEST <= 0


def _overlap(a: tuple[Plain, Plain], b: tuple[Plain, Plain], loop: int | None, apart: int) -> bool:
    """Whether two spans may have a byte in common, the later one so many iterations of a loop behind the earlier."""
    return all(base + growth * apart > 0 for base, growth in _gaps(a, b, loop))


def _gaps(a: tuple[Plain, Plain], b: tuple[Plain, Plain], loop: int | None) -> list[tuple[int, int]]:
    """The bounds that are known."""
    return [gap for gap in _ends(a, b, loop) if gap is not None]


def _ends(
    a: tuple[Plain, Plain], b: tuple[Plain, Plain], loop: int | None, at_any: bool = False
) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """The gap from the start of each span, the later one first, to the end of the other."""
    return _gap(a[1], b[0], loop, at_any, is_later=False), _gap(b[1], a[0], loop, at_any, is_later=True)


def _gap(end: Plain, start: Plain, loop: int | None, at_any: bool, is_later: bool) -> tuple[int, int] | None:
    """The most by which an end of one span lies above the start of the other where both are in one iteration of the
    loop, and what each iteration between them adds to that (or the most at any distance, and 0). None where there is
    no bound. The end is of the earlier span, unless `is_later`."""
    constant, growth, terms = 0, 0, dict[Symbol, int]()
    for number, sign, moves in ((end, 1, is_later), (start, -1, not is_later)):
        if isinstance(number, int):
            constant += sign * number
            continue
        constant += sign * number.constant
        for each, factor in number.terms.items():
            if each.loop == loop is not None and not at_any:
                # the later iteration is the earlier one plus the distance
                growth += sign * factor if moves else 0
                terms[each] = terms.get(each, 0) + sign * factor
            elif _is_shared(each, loop):
                terms[each] = terms.get(each, 0) + sign * factor
            else:
                bound = each.high if sign * factor > 0 else each.low
                if bound is None:
                    return None
                constant += sign * factor * bound
    reach = extreme(constant, {each: factor for each, factor in terms.items() if factor}, 1)
    return None if reach is None else (reach, growth)


def _is_shared(each: Symbol, loop: int | None) -> bool:
    """Whether a symbol has one value for both spans."""
    return each.is_single and (loop is None or loop not in each.loops)


def surely_in(earlier: ByteRange, later: ByteRange, loop: int | None, apart: int) -> bool:
    """Whether the first byte of a range is sure to lie in a later one: in one iteration of the loops around both, or so
    many iterations of a loop apart. Behind it a range may have gaps."""
    if earlier.space is not later.space or earlier.origin != later.origin or earlier.origin == ANYWHERE:
        return False
    pairs = _together(earlier, later, loop, apart)
    return all(a is not None and b is not None and _begins_in(a[0], b, loop) for a, b in pairs)


def _begins_in(start: Plain, span: tuple[Plain, Plain], loop: int | None) -> bool:
    return _surely_positive(start - span[0] + 1, loop) and _surely_positive(span[1] - start, loop)


def _surely_positive(gap: Plain, loop: int | None) -> bool:
    """Iterations apart, what depends on them is not compared."""
    low, terms = bounds(gap)[0], () if isinstance(gap, int) else gap.terms
    return all(_is_shared(each, loop) for each in terms) and low is not None and low > 0


assert FARTHEST >= LONGEST_PERIOD
