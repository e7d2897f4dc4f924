"""The shadow of on-chip memories, as compiled code keeps it: who touched a granule last, and which words are defined.

A granule, 32 bytes, has a stamp per pipe and direction; a word of four bytes has a bit that says whether it is defined
(neither undefined nor made from what is), and in UB one that says whether the scope that runs has stored to it. The
latter holds only where the granule's stamp is that of the scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ptosim.effects.element import GRANULE
from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.machine.sync import PIPES, SLOT
from ptosim.native.ir.context import ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I8, I32, Type, Value
from ptosim.native.observe import clocks, words
from ptosim.native.observe.layout import LOCAL_STORES, STEPS, WORD, Area, Layout
from ptosim.native.vector.registers import any_lane, extract, splat

V = SLOT[Pipe.V]
OWN_UB = Area(Space.UB)
_OBSERVED_OF = {"aiv0": ContextWord.OBSERVED_AIV0, "aiv1": ContextWord.OBSERVED_AIV1}


@dataclass(frozen=True, eq=False)
class GranuleTouch:
    """The granules of an access, from one on, and its words in them: those touched, and those covered wholly."""

    granule: Value
    count: int
    some: Value
    whole: Value

    @property
    def is_full(self) -> bool:
        """Whether every word of every granule is touched, for certain."""
        return self.some.literal == -1


def for_each(kind: Type, touch: GranuleTouch) -> Type:
    """One for each granule of an access. (One alone has no vector: LLVM fails at some operations on such.)"""
    return kind if touch.count == 1 else kind.vector(touch.count)


def in_each(f: FunctionBuilder, number: Value, touch: GranuleTouch) -> Value:
    """The same number for each granule of an access."""
    return number if touch.count == 1 else splat(f, number, touch.count)


def vector(f: FunctionBuilder, address: Value, extent: int) -> GranuleTouch:
    """Bytes from the beginning of a granule on."""
    count = -(-extent // GRANULE)
    assert count & (count - 1) == 0, f"{extent} bytes"
    bits = count * GRANULE // WORD
    covered = (1 << (extent // WORD)) - 1
    touched = (1 << -(-extent // WORD)) - 1
    kind = words.integer(bits)
    some, whole = (f.constant(kind, number) for number in (touched, covered))
    return GranuleTouch(address.lshr(5), count, some, whole)


def element(f: FunctionBuilder, address: Value, extent: int) -> GranuleTouch:
    """Bytes inside of one granule, aligned to their number."""
    place = (address.lshr(2) & 7).trunc(I8)
    some = f.constant(I8, (1 << max(1, extent // WORD)) - 1) << place
    return GranuleTouch(address.lshr(5), 1, some, some if extent >= WORD else f.constant(I8, 0))


def active(f: FunctionBuilder, touch: GranuleTouch, lanes: Value, unit: int) -> GranuleTouch:
    """The words of an access whose units are active; of less than a granule any unit stands for all."""
    if lanes.kind.lanes * unit == touch.some.kind.bits * WORD:
        some, whole = words.of_lanes(f, lanes, unit)
    else:
        some, whole = (any_lane(lanes).select(side, side.like(0)) for side in (touch.some, touch.whole))
    return GranuleTouch(touch.granule, touch.count, some, whole)


@dataclass(frozen=True, eq=False)
class Visit:
    """An accessing core: its kind, the slot under which it is counted, its clock, and its stamp."""

    kind: CoreKind
    slot: int
    clock: Value
    stamp: Value

    def limit(self, piece: int, slot: int) -> Value:
        """Stamps above this one, of a pipe of the core that a piece of the clock is about, are in no order with the
        access."""
        return extract(self.clock, piece * PIPES + slot)


@dataclass(frozen=True)
class Stores:
    """The words that a scope has stored to: bits, valid where the stamp of a granule is the present one."""

    track: int
    bits: int


class Shadow:
    """Emits what accesses do to the shadow."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.stored = layout.room(Space.UB, 1) if "ub" in layout.sizes else 0
        self.loaded: dict[object, int] = {}
        """Per class of loads that some store of their scope could overtake: stamps of the granules they have read."""
        self.most: int | None = None
        """Granules of UB behind which any access may deserve a remark."""

    # --- parts --------------------------------------------------------------------------------------------------------

    def base(self, f: FunctionBuilder, area: Area) -> Value:
        """The address behind which the shadow of a memory lies."""
        if area.at is not None:
            return f.base(_OBSERVED_OF[area.at])
        return f.base(ContextWord.OBSERVED_CLUSTER if self.layout.is_shared(area.space) else ContextWord.OBSERVED)

    def stamps(self, f: FunctionBuilder, area: Area, track: int | Value, touch: GranuleTouch) -> Value:
        """The address of the stamps of an access in a track."""
        return self.base(f, area).at(track).at(touch.granule << 2)

    def words_of(self, f: FunctionBuilder, area: Area) -> Value:
        """The address of the bits that say which words of a memory are defined, a byte for each granule."""
        return self.base(f, area).at(self.layout.defined[area.space])

    def defined(self, f: FunctionBuilder, area: Area, touch: GranuleTouch) -> Value:
        return self.words_of(f, area).at(touch.granule)

    def _seen(
        self, f: FunctionBuilder, kind: CoreKind, area: Area, place: int, slot: int, verb: str
    ) -> list[tuple[int, int | Value]]:
        """The piece of a clock that is about the core at a place (0: itself), and where its track begins: none or
        several, since both vector cores run the same code."""
        track = self.layout.tracks[area.space, place, slot, verb]
        if not self.layout.is_mixed:
            return [(0, track)]
        if kind is CoreKind.AIC:
            return [(place + int(place == 1 and area.at == "aiv1"), track)]
        if place == 0:
            return [(1, track)]
        if area.space is Space.UB:
            return [(0, track)]
        if place == 2:
            return []
        other = self.layout.tracks[area.space, 2, slot, verb]
        own = clocks.subblock(f)
        return [(0, track + own * (other - track)), (2, other - own * (other - track))]

    def conflicts(self, f: FunctionBuilder, area: Area, verb: str, visit: Visit, touch: GranuleTouch) -> Value:
        """The granules that another pipe has touched out of order with this access."""
        kind = for_each(I32, touch)
        found = f.constant(for_each(I1, touch), 0)
        if self.most is not None and area.space is Space.UB:
            found = in_each(f, touch.granule > self.most - touch.count, touch)
        for place, slot, other in self.layout.opposing(area.space, verb):
            for piece, start in self._seen(f, visit.kind, area, place, slot, other):
                if piece == 0 and slot == visit.slot and slot in clocks.SERIAL:
                    continue
                if piece == 0 and {slot, visit.slot} <= {STEPS, LOCAL_STORES[visit.kind]}:
                    continue  # the scalar unit is in order with itself
                stamps = self.stamps(f, area, start, touch).load(kind, 4)
                later = stamps.compare("ugt", in_each(f, visit.limit(piece, slot), touch))
                if piece == 0 and slot == visit.slot:  # an entry is in order with itself
                    later = later & (stamps != in_each(f, visit.stamp, touch))
                found = found | later
        return found

    def touched(self, f: FunctionBuilder, touch: GranuleTouch) -> Value:
        """The granules of which some word is touched."""
        if touch.is_full:
            return f.constant(for_each(I1, touch), 1)
        return touch.some.bitcast(for_each(I8, touch)) != 0

    def put_stamp(self, f: FunctionBuilder, area: Area, track: int | Value, stamp: Value, touch: GranuleTouch) -> None:
        place = self.stamps(f, area, track, touch)
        stamps = in_each(f, stamp, touch)
        if not touch.is_full:
            before = place.load(for_each(I32, touch), 4)
            stamps = self.touched(f, touch).select(stamps, before)
        place.store(stamps, 4)

    def any_granule(self, granules: Value) -> Value:
        return any_lane(granules) if granules.kind.lanes else granules

    def as_words(self, granules: Value) -> Value:
        """All words of some granules."""
        return granules.sext(I8).bitcast(words.integer(8 * (granules.kind.lanes or 1)))

    # --- accesses -----------------------------------------------------------------------------------------------------

    def read(self, f: FunctionBuilder, area: Area, visit: Visit, touch: GranuleTouch) -> tuple[Value, Value]:
        """Note a read; gives the touched words that are racy, and those that are not defined."""
        racy = self.as_words(self.conflicts(f, area, "reads", visit, touch)) & touch.some
        undefined = ~self.defined(f, area, touch).load(touch.some.kind) & touch.some
        self._stamp(f, area, visit, "reads", touch)
        return racy, undefined

    def write(self, f: FunctionBuilder, area: Area, visit: Visit, touch: GranuleTouch, taint: Value | None) -> Value:
        """Note a write of words of which some are tainted; gives whether it is in conflict with another access."""
        wrong = self.conflicts(f, area, "writes", visit, touch)
        if not touch.is_full:
            wrong = wrong & self.touched(f, touch)
        place = self.defined(f, area, touch)
        if touch.is_full and taint is None:
            place.store(touch.whole)
        else:
            now = place.load(touch.some.kind) | touch.whole
            place.store(now if taint is None else now & ~(taint & touch.some))
        self._stamp(f, area, visit, "writes", touch)
        return self.any_granule(wrong)

    def _stamp(self, f: FunctionBuilder, area: Area, visit: Visit, verb: str, touch: GranuleTouch) -> None:
        """Leave a stamp where an access of another entry may look for it."""
        place = self._place(visit.kind)
        others = [(there, slot) for there, slot, _ in self.layout.opposing(area.space, verb)]
        asked = any(other != (place, visit.slot) or visit.slot not in clocks.SERIAL for other in others)
        if asked or self.layout.waits_for_bytes or (verb == "writes" and visit.slot == V):
            (start,) = (
                start for piece, start in self._seen(f, visit.kind, area, place, visit.slot, verb) if piece == 0
            )
            self.put_stamp(f, area, start, visit.stamp, touch)

    def own_tracks(self, f: FunctionBuilder, kind: CoreKind, space: Space) -> list[tuple[int, int | Value]]:
        """The tracks of a kind of core in one memory: the slot of each pipe, and the begin of its track."""
        tracks = [track for track in self.layout.tracks if track[:2] == (space, self._place(kind))]
        seen = [(slot, self._seen(f, kind, Area(space), place, slot, verb)) for _, place, slot, verb in tracks]
        return [(slot, start) for slot, found in seen for piece, start in found if piece == 0]

    def _place(self, kind: CoreKind) -> int:
        """The place of the tracks of a kind of core; of two vector cores those of the first, the others lie beside."""
        return 1 if self.layout.is_mixed and kind is CoreKind.AIV else 0

    # --- aliases inside of a scope ------------------------------------------------------------------------------------

    @property
    def stores(self) -> Stores:
        """The stores of the scope, as later stores see them."""
        return Stores(self.layout.tracks[Space.UB, int(self.layout.is_mixed), V, "writes"], self.stored)

    @cached_property
    def stores_seen_by_loads(self) -> Stores:
        """The same as later loads see it, in scopes where fences order these and not others."""
        return Stores(self.layout.room(Space.UB, 4), self.layout.room(Space.UB, 1))

    def stored_words(self, f: FunctionBuilder, stores: Stores, epoch: Value, touch: GranuleTouch) -> Value:
        """The words of these granules that the scope has stored to, as far as no fence lies between."""
        stamps = self.stamps(f, OWN_UB, stores.track, touch).load(for_each(I32, touch), 4)
        current = self.as_words(stamps == in_each(f, epoch, touch))
        return clocks.at(f, stores.bits).at(touch.granule).load(touch.some.kind) & current

    def note_store(self, f: FunctionBuilder, stores: Stores, touch: GranuleTouch, before: Value) -> None:
        """The scope stores to these words; before it had stored to some of these granules."""
        clocks.at(f, stores.bits).at(touch.granule).store(touch.some if touch.is_full else touch.some | before)

    def loads(self, classes: object) -> int:
        """The track of a class of loads."""
        if classes not in self.loaded:
            self.loaded[classes] = self.layout.room(Space.UB, 4)
        return self.loaded[classes]

    def overtakes(self, f: FunctionBuilder, epoch: Value, touch: GranuleTouch, classes: Sequence[object]) -> Value:
        """Whether a store may overtake a load of one of these classes."""
        found = f.constant(for_each(I1, touch), 0)
        for each in classes:
            stamps = self.stamps(f, OWN_UB, self.loads(each), touch).load(for_each(I32, touch), 4)
            found = found | (stamps == in_each(f, epoch, touch))
        return self.any_granule(found & self.touched(f, touch))
