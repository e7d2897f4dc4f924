"""One direction of a FIFO, seen from one of its ends: its slots, its signals, and how many entries have passed.

The protocol counts credits, on both machines alike. With S slots the consumer gives P of them back at once, P = S for
one or two slots and half of them for more, and the producer waits for that before it uses them again:

    push  if i >= S and i % P = 0 wait free;  fill slot i % S;  set ready;  i += 1
    pop   wait ready;  take slot i % S;  i += 1
    free  j += 1;  if j % P = 0 set free
    end   the producer waits for the unused credits
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i1, i8, i64
from xdsl.ir import Attribute, SSAValue

from ptosim.effects.names import CoreKind, Space
from ptosim.language.builder import Builder, Number, known
from ptosim.language.catalogue import operation
from ptosim.language.micro.sync_semaphore import FIFO, SLOTS
from ptosim.language.tile.fifo_end import C2V
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_epilogue import Epilogue
from ptosim.language.tile.tile_types import TensorViewType
from ptosim.language.types import PtrType
from ptosim.tiles.refusal import Refused

Event = Literal["ready", "free"]

AIV1 = 16
"""The offset from an id of AIV0 to the id of AIV1 on the cube core (a5)."""


class EntryCount:
    """The entries that have passed an end: a number where the code is straight, else kept by the scalar unit."""

    def __init__(self, array: SSAValue | None) -> None:
        self.passed = 0
        self.array = array

    def value(self, build: Builder) -> Number:
        if self.array is None:
            return self.passed
        return build.local_array_get(array=self.array, indices=[build.index(0)], result=i64)

    def advance(self, build: Builder, value: Number) -> None:
        """One more than a value that it had."""
        if self.array is None:
            self.passed += 1
        else:
            following = build.i64(build.plus(value, 1))
            build.local_array_set(array=self.array, indices=[build.index(0)], value=following)


@dataclass
class Line:
    """One direction of a FIFO at one end."""

    target: str
    core: CoreKind
    direction: int
    slots: int
    slot_size: int
    local_slots: int
    """Slots of the consumer's memory where entries pass through GM."""
    flag: int
    """The id of `ready`; `free` is the next."""
    split: bool
    """Whether the two vector cores share an entry."""
    through_gm: bool
    counter: EntryCount
    freed: EntryCount | None = None
    """The entries that were freed, None where each is freed before the next one is popped."""
    buffer: Number | None = None
    """The address of entries in the consumer's memory, in bytes."""
    gm: SSAValue | None = None
    """The slots in GM: a pointer or a tensor view."""
    gm_offset: int = 0
    """The bytes before those of this direction."""
    epilogue: Epilogue | None = None
    popped: TileBuf | None = None
    """The tile that the other end makes of an entry, if it is known."""
    holds_views: bool = False
    """Whether the kernel stores and loads entries itself."""
    quant: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    """The parameters of the epilogue that hold from here on."""

    @property
    def period(self) -> int:
        """P: how many slots are given back together."""
        half = self.slots if self.slots <= 2 else self.slots // 2
        return half if self.slots % half == 0 else 1

    # --- signals ------------------------------------------------------------------------------------------------------

    def set(self, build: Builder, event: Event) -> None:
        name = "set_intra_block" if self.target == "a5" else "sync.set"
        self._signal(build, name, event)

    def wait(self, build: Builder, event: Event) -> None:
        name = "wait_intra_block" if self.target == "a5" else "sync.wait"
        self._signal(build, name, event)

    def _signal(self, build: Builder, name: str, event: Event) -> None:
        number = self.flag + (event == "free")
        both = self.target == "a5" and self.core is CoreKind.AIC and self.split
        signal, slots = operation(f"pto.{name}"), self._slots()
        assert signal is not None
        attributes = {} if slots is None else {SLOTS: DenseArrayBase.from_list(i64, slots)}
        if event == "free":
            attributes[FIFO] = DenseArrayBase.from_list(i64, (self.slots, self.period))
        for offset in (0, AIV1) if both else (0,):
            words = {"pipe": StringAttr(self._pipe()), "id_literal": IntegerAttr(number + offset, i64)}
            build.add(signal.make({}, (), words, attributes))

    def _slots(self) -> tuple[int, int] | None:
        """The bytes of this core's memory that signals speak for. Slots in GM are touched by the signalling pipe alone,
        unless the kernel stores and loads them itself: then it is anything."""
        if self.holds_views or not isinstance(self.buffer, int):
            return None
        arrives = (self.direction == C2V) == (self.core is CoreKind.AIV) and not self.through_gm
        return (self.buffer, self.buffer + self.slots * self.slot_size) if arrives else (0, 0)

    def _pipe(self) -> str:
        """The pipe of this end: the one that fills slots, or the one that reads them first."""
        if self.direction == C2V:
            return "PIPE_FIX" if self.core is CoreKind.AIC else "PIPE_MTE2" if self.through_gm else "PIPE_V"
        return "PIPE_MTE3" if self.core is CoreKind.AIV else "PIPE_MTE2" if self.through_gm else "PIPE_MTE1"

    # --- the protocol -------------------------------------------------------------------------------------------------

    def wait_for_slot(self, build: Builder, number: Number) -> None:
        """The producer, before it fills the slot of an entry."""
        self._on(build, [("uge", number, self.slots), self._first_of_period(build, number)], "free", self.wait)

    def give_back(self, build: Builder, passed: Number) -> None:
        """The consumer, when it has done with as many entries."""
        self._on(build, [self._first_of_period(build, passed)], "free", self.set)

    def _first_of_period(self, build: Builder, number: Number) -> tuple[str, Number, int]:
        return "eq", build.remainder(number, self.period), 0

    def _on(
        self,
        build: Builder,
        conditions: list[tuple[str, Number, int]],
        event: Event,
        act: Callable[[Builder, Event], None],
    ) -> None:
        """Signal where all conditions hold; those that are known are decided here."""
        open_: list[SSAValue] = []
        for predicate, a, b in conditions:
            number = known(a)
            if number is None:
                open_.append(build.compare(predicate, a, b))
            elif not (number >= b if predicate == "uge" else number == b):
                return
        if not open_:
            act(build, event)
            return
        condition = open_[0]
        for other in open_[1:]:
            condition = build.op("arith.andi", lhs=condition, rhs=other, result=i1)
        build.choose(condition, lambda: act(build, event))

    def drain(self, build: Builder) -> None:
        """The producer, at its end: the credits that were given and not used."""
        passed = self.counter.value(build)
        periods, turns = build.quotient(passed, self.period), build.ceiling(passed, self.period)
        used = build.most(build.minus(turns, self.slots // self.period), 0)
        left = build.minus(periods, used)
        if (number := known(left)) is not None:
            for _ in range(number):
                self.wait(build, "free")
            return

        def wait_once(_: SSAValue) -> None:
            self.wait(build, "free")

        build.loop(left, 1, wait_once)

    # --- places -------------------------------------------------------------------------------------------------------

    def local_slot(self, build: Builder, number: Number) -> SSAValue:
        """The address of an entry in the consumer's memory."""
        if self.buffer is None:
            raise Refused("this FIFO is initialised without a buffer where tiles arrive", kind="invalid")
        count = self.local_slots if self.through_gm else self.slots
        offset = build.times(build.remainder(number, count), self.slot_size)
        base = self.buffer if isinstance(self.buffer, int) else build.i64(self.buffer)
        return build.i64(build.plus(base, offset))

    def global_slot(self, build: Builder, number: Number, element: Attribute, offset: Number = 0) -> SSAValue:
        """A pointer to the elements of an entry in GM, so many bytes behind its start."""
        if self.gm is None:
            raise Refused("this FIFO is initialised without slots in GM, of which a view could be", kind="invalid")
        start = self.gm
        if isinstance(start.type, TensorViewType):
            start = build.tensor_view_addr(source=start, result=PtrType.of(start.type.data.element, Space.GM))
        of_bytes = PtrType.of(i8, Space.GM)
        if start.type != of_bytes:
            start = build.castptr(input=start, result=of_bytes)
        slot = build.times(build.remainder(number, self.slots), self.slot_size)
        distance = build.plus(build.plus(slot, self.gm_offset), offset)
        if known(distance) != 0:
            start = build.addptr(pointer=start, offset=build.index(distance), result=of_bytes)
        type_ = PtrType.of(element, Space.GM)
        return start if start.type == type_ else build.castptr(input=start, result=type_)
