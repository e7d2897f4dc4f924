"""Stamps of workitems: for each few bytes of UB and GM the workitem that wrote them last, and the one that read them.

A stamp is the number of an epoch, which launches and barriers begin, and in its low bits the number of a workitem, of
an atomic update, or one that stands for several. Two workitems that touch a unit in one epoch, one of them to write,
are a suspicion, but for the same atomic update. What a workitem has written in this epoch is its own: as long as no
other one comes, and that would be noticed then, nothing further has to be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.ir import Operation

from ptosim.effects.element import GRANULE
from ptosim.effects.names import GM, CoreKind, Space
from ptosim.effects.simt import WARP
from ptosim.machine.memory import OFFSET_BITS
from ptosim.native.build.core import Unit
from ptosim.native.build.global_memory import buffer_number
from ptosim.native.ir.context import WORD_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, I64, PTR, Type, Value
from ptosim.native.observe import clocks, shadow, words
from ptosim.native.observe.clocks import ClockEmitter
from ptosim.native.observe.layout import WORD
from ptosim.native.observe.overwriting import RootTrack
from ptosim.native.observe.rows import Suspect
from ptosim.native.observe.shadow import OWN_UB, GranuleTouch, Shadow, V, Visit
from ptosim.native.observe.workitem_memory import EPOCH, MEETING, SEVERAL, TABLE, UPDATES
from ptosim.native.vector.registers import shuffle, splat
from ptosim.native.workitems.values import as_bits, from_bits

AccessShape = Literal["row", "single", "lanes"]
"""Elements in a row, one for each lane; one element that all active lanes read; an element anywhere for each lane."""
NOTHING = 0
"""Doubtful lanes, where there are none."""


@dataclass(frozen=True)
class StampedAccess:
    """The static facts of an access: "reads", "writes" or "updates" so many bytes; through which root of pointers to
    UB; the number of an atomic update whose order does not matter."""

    verb: str
    space: Space
    width: int
    root: int | None = None
    update: int | None = None

    @property
    def name(self) -> str:
        return f"{self.space}_{self.verb}_{self.width}_{self.root or 0}_{self.update or 0}"


class StampEmitter:
    """Emits what accesses of workitems do to their stamps, and to the shadow of UB."""

    def __init__(self, shadow: Shadow, clocks: ClockEmitter, roots: RootTrack, suspect: Suspect, unit: int) -> None:
        self._shadow, self._clocks, self._roots, self._suspect = shadow, clocks, roots, suspect
        self.unit = unit
        """Bytes that share a stamp."""

    # --- epochs -------------------------------------------------------------------------------------------------------

    def epoch(self, f: FunctionBuilder) -> Value:
        """The stamp of workitem 0."""
        return f.base(ContextWord.STAMPS).load(I32, 4)

    def next_epoch(self, f: FunctionBuilder, begins: Value) -> None:
        """An epoch begins, if that holds."""
        after = self.epoch(f) + (begins.zext(I32) << EPOCH)
        self._suspect(f, after.compare("ugt", -1 << 20))  # the numbers of epochs are used up
        f.base(ContextWord.STAMPS).store(after, 4)

    def meets(self, f: FunctionBuilder, site: int) -> None:
        """A warp waits at a barrier: others that wait at another one would be remarked on."""
        word = f.base(ContextWord.STAMPS).at(MEETING)
        here = self.epoch(f).zext(I64) << 32 | site
        before = word.load(I64, WORD_BYTES)
        self._suspect(f, (before.lshr(32) == here.lshr(32)) & (before != here))
        word.store(here, WORD_BYTES)

    def root(self, op: Operation, verb: str) -> int | None:
        """The root of pointers to UB that an operation goes through."""
        return self._roots.of(op, verb)

    # --- accesses -----------------------------------------------------------------------------------------------------

    def _tracks(self, f: FunctionBuilder, number: Value | int, offset: Value) -> tuple[Value, Value]:
        """The addresses of the stamps of writers and readers of a place, by the number of its buffer; UB has 0."""
        at = f.base(ContextWord.STAMPS).at(TABLE + number * (2 * WORD_BYTES))
        far = offset.lshr(self.unit.bit_length() - 1) << 2
        return at.load(PTR, WORD_BYTES).at(far), at.at(WORD_BYTES).load(PTR, WORD_BYTES).at(far)

    def tracks(self, f: FunctionBuilder, space: Space, place: Value) -> tuple[Value, Value]:
        """Likewise, of an address or pointer that lies inside of its memory."""
        if space is not GM:
            return self._tracks(f, 0, place)
        number = buffer_number(place)
        return self._tracks(f, number, place - (number << OFFSET_BITS))

    def count(self, access: StampedAccess) -> int:
        """The stamps of one element."""
        return access.width // self.unit

    def owned(self, f: FunctionBuilder, access: StampedAccess, writers: Value, mask: Value, stamp: Value) -> Value:
        """Whether every active lane of a row has written its element in this epoch, the last to do so."""
        count = self.count(access)
        same = writers.load(I32.vector(WARP * count), 4) == _own(f, stamp, count)
        if count == 1:
            return (as_bits(same) & mask) == mask
        return same.bitcast(words.integer(WARP * count)) == -1

    def all_owned(
        self, f: FunctionBuilder, access: StampedAccess, addresses: Value, mask: Value, stamp: Value
    ) -> Value:
        """Likewise of elements of UB anywhere; whether the same atomic update has come to them before."""
        own = _own(f, stamp, 1)
        if access.update is not None:
            own = splat(f, self._update(stamp & -1 << EPOCH, access.update), WARP)
        offsets = addresses.lshr(self.unit.bit_length() - 1) << 2
        base, _ = self._tracks(f, 0, f.constant(I64, 0))
        places = f.emit(PTR.vector(WARP), f"getelementptr i8, {base}, {offsets}")
        kind = I32.vector(WARP)
        given = f"<{WARP} x ptr> align 4 {places.text}, {from_bits(mask)}, {kind} zeroinitializer"
        found = f.emit(kind, f"call {kind} @llvm.masked.gather.{kind.mangled}.v{WARP}p0({given})")
        return (as_bits(found == own) & mask) == mask

    @staticmethod
    def _update(first: Value, number: int) -> Value:
        return first | (UPDATES + number)

    def touch(
        self,
        f: FunctionBuilder,
        unit: Unit,
        shape: AccessShape,
        access: StampedAccess,
        place: Value,
        *lanes: Value,
    ) -> Value:
        """An access of a warp; `lanes`: its mask, its stamp, and the elements that are doubtful where they are written.
        Gives those that are where they are read."""
        name = f"stamps_{shape}_{access.name}"
        if name not in unit.routines:
            made = unit.module.function(name, (place.kind, I32, I32, I32), (I32,), "internal")
            unit.routines[name] = made
            fill = {"row": self._row, "single": self._single, "lanes": self._lanes}[shape]
            made.finish(fill(made, access))
        (doubtful,) = f.call(unit.routines[name], place, *lanes)
        return doubtful

    def _visit(self, f: FunctionBuilder) -> Visit:
        return Visit(CoreKind.AIV, V, self._clocks.known(f, V), clocks.count(f, V))

    # --- a row --------------------------------------------------------------------------------------------------------

    def _row(self, f: FunctionBuilder, access: StampedAccess) -> Value:
        place, mask, stamp, doubt = f.parameters
        count = self.count(access)
        lanes = WARP * count
        active, doubtful = (_repeated(f, from_bits(bits), count) for bits in (mask, doubt))
        first = splat(f, stamp & -1 << EPOCH, lanes)
        own = _own(f, stamp, count)
        writers, readers = self.tracks(f, access.space, place)
        wrote, read = (track.load(I32.vector(lanes), 4) for track in (writers, readers))
        others_wrote, others_read = (each.compare("uge", first) & (each != own) for each in (wrote, read))
        several = first | SEVERAL
        if access.verb == "reads":
            wrong = others_wrote
            readers.store(active.select(others_read.select(several, own), read), 4)
        else:
            wrong = others_wrote | others_read
            writers.store(active.select(doubtful.select(several, own), wrote), 4)
        self._suspect(f, (wrong & active).bitcast(words.integer(lanes)) != 0)
        return f.constant(I32, NOTHING) if access.space is GM else self._shadowed(f, access, place, mask, doubt)

    def _shadowed(self, f: FunctionBuilder, access: StampedAccess, place: Value, mask: Value, doubt: Value) -> Value:
        """The shadow of a row of UB; gives the doubtful lanes that are read."""
        if access.width < WORD:
            self._suspect(f, (place & (WORD - 1)) != 0)  # words and groups of lanes do not lie alike
        extent = WARP * access.width
        granules = 1 << (extent // GRANULE).bit_length()
        kind, shift = words.integer(8 * granules), place.lshr(2) & 7

        def placed(bits: Value) -> Value:
            return bits.zext(kind) << shift.zext(kind) if kind.bits > I64.bits else bits.zext(kind) << shift.trunc(kind)

        some, whole = (placed(side) for side in _words_of(f, from_bits(mask), access.width))
        touch = GranuleTouch(place.lshr(5), granules, some, whole)
        visit = self._visit(f)
        if access.verb == "writes":
            taint = placed(_words_of(f, from_bits(doubt & mask), access.width)[0])
            self._roots.write(f, access.root, touch)
            self._suspect(f, self._shadow.write(f, OWN_UB, visit, touch, taint))
            return f.constant(I32, NOTHING)
        racy, undefined = self._shadow.read(f, OWN_UB, visit, touch)
        clobbered = self._shadow.as_words(self._roots.clobbered(f, access.root, touch)) & touch.some
        self._suspect(f, (racy | clobbered) != 0)
        back = undefined.lshr(shift.zext(kind) if kind.bits > I64.bits else shift.trunc(kind))
        return _lanes_of(f, back.trunc(words.integer(extent // WORD)), access.width) & mask

    # --- one element for all lanes ------------------------------------------------------------------------------------

    def _single(self, f: FunctionBuilder, access: StampedAccess) -> Value:
        place, mask, stamp, doubt = f.parameters
        first = stamp & -1 << EPOCH
        lane = f.intrinsic("llvm.cttz", I32, mask, f.constant(I1, 0), overloads=(I32,)) & (WARP - 1)
        alone = (mask & (mask - 1)) == 0
        own = alone.select(stamp + lane, first | SEVERAL)
        wrong = self._stamp(f, access, self.tracks(f, access.space, place), first, own, own, f.constant(I1, 0))
        self._suspect(f, wrong)
        if access.space is GM:
            return doubt.like(NOTHING)
        doubtful = self._element(f, access, place, doubt != 0)
        return doubtful.select(mask, NOTHING)

    def _stamp(
        self,
        f: FunctionBuilder,
        access: StampedAccess,
        tracks: tuple[Value, Value],
        first: Value,
        own: Value,
        writes: Value,
        doubtful: Value,
    ) -> Value:
        """The stamps of one element: `own` of the workitem, `writes` where it writes; gives whether others meet it."""
        writers, readers = tracks
        wrong = f.constant(I1, 0)
        for number in range(self.count(access)):
            wrote, read = (track.at(4 * number).load(I32, 4) for track in (writers, readers))
            wrong = wrong | (wrote.compare("uge", first) & (wrote != writes))
            others_read = read.compare("uge", first) & (read != own)
            if access.verb == "reads":
                readers.at(4 * number).store(others_read.select(first | SEVERAL, own), 4)
            else:
                wrong = wrong | others_read
                writers.at(4 * number).store(doubtful.select(first | SEVERAL, writes), 4)
        return wrong

    def _element(self, f: FunctionBuilder, access: StampedAccess, place: Value, doubtful: Value) -> Value:
        """The shadow of one element of UB; gives whether what is read there is doubtful."""
        shape = shadow.element if access.width <= GRANULE else shadow.vector
        touch, visit = shape(f, place, access.width), self._visit(f)
        undefined = f.constant(I1, 0)
        if access.verb != "writes":
            racy, unknown = self._shadow.read(f, OWN_UB, visit, touch)
            clobbered = self._shadow.as_words(self._roots.clobbered(f, access.root, touch)) & touch.some
            self._suspect(f, (racy | clobbered) != 0)
            undefined = unknown != 0
        if access.verb != "reads":
            taint = doubtful.select(touch.some, touch.some.like(0))
            if access.verb == "updates":  # what was not defined stays so
                touch = GranuleTouch(touch.granule, touch.count, touch.some, touch.some.like(0))
            self._roots.write(f, access.root, touch)
            self._suspect(f, self._shadow.write(f, OWN_UB, visit, touch, taint))
        return undefined

    # --- elements anywhere --------------------------------------------------------------------------------------------

    def _lanes(self, f: FunctionBuilder, access: StampedAccess) -> Value:
        addresses, mask, stamp, doubt = f.parameters
        first = stamp & -1 << EPOCH
        places = f.slot(I64, WARP, 64)
        places.store(addresses, 64)

        def step(carried: list[Value]) -> list[Value]:
            left, found = carried
            lane = f.intrinsic("llvm.cttz", I32, left, f.constant(I1, 1), overloads=(I32,))
            place = places.at(lane.zext(I64) * 8).load(I64, 8)
            doubtful, own = (doubt.lshr(lane) & 1) != 0, stamp + lane
            writes = own if access.update is None else self._update(first, access.update)
            wrong = self._stamp(f, access, self.tracks(f, access.space, place), first, own, writes, doubtful)
            self._suspect(f, wrong)
            if access.space is not GM:
                undefined = self._element(f, access, place, doubtful)
                found = found | undefined.zext(I32) << lane
            return [left & (left - 1), found]

        start = [mask, f.constant(I32, NOTHING)]
        return f.while_loop(start, lambda carried: (carried[0] != 0, carried), step)[1]


def _own(f: FunctionBuilder, stamp: Value, count: int) -> Value:
    """The stamps of the lanes of a warp, so many for each."""
    order = [lane for lane in range(WARP) for _ in range(count)]
    return splat(f, stamp, len(order)) + f.constant(I32.vector(len(order)), order)


def _repeated(f: FunctionBuilder, mask: Value, count: int) -> Value:
    return mask if count == 1 else shuffle(f, [lane for lane in range(WARP) for _ in range(count)], mask)


def _words_of(f: FunctionBuilder, mask: Value, width: int) -> tuple[Value, Value]:
    """The words of a row of elements of which some are active: those of which some byte is, and those that are
    wholly."""
    if width < WORD:
        return words.of_lanes(f, mask, width)
    found = _repeated(f, mask, width // WORD).bitcast(words.integer(WARP * width // WORD))
    return found, found


def _lanes_of(f: FunctionBuilder, bits: Value, width: int) -> Value:
    """The lanes of a row of elements of which some word is set."""
    if width == WORD:
        return bits
    flags = bits.bitcast(Type("i1", bits.kind.bits))
    if width < WORD:
        return as_bits(shuffle(f, [lane * width // WORD for lane in range(WARP)], flags))
    parts = width // WORD
    columns = [shuffle(f, range(part, bits.kind.bits, parts), flags) for part in range(parts)]
    found = columns[0]
    for column in columns[1:]:
        found = found | column
    return as_bits(found)
