"""A core as lowerings see it while they build code for it: memories, registers that outlive an instruction, failures,
and the way to the scheduler.

What a site means is kept as plain data in the module's table of sites, so that an error of a run from the cache can be
told as well (native/run/explain.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ptosim.diagnostics import Location
from ptosim.effects.element import GRANULE, Element
from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.machine.entry import Site
from ptosim.machine.sync import MOVED
from ptosim.native.build.global_memory import GmPlace, leaves_buffer, locate, may_access
from ptosim.native.build.issue import core_word, issue
from ptosim.native.build.operations import ENTRIES, HandedOperation, Known, entry_symbol
from ptosim.native.ir.context import MEMORIES, UB_OF, WORD_BYTES, Register, register_word
from ptosim.native.ir.flow import FunctionBuilder, Reported
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I1, I8, I64, Type, Value
from ptosim.native.observe.hooks import UNOBSERVED, CodeObserver, CopyRows, OnChipAccess
from ptosim.native.vector import registers
from ptosim.native.vector.numbers import lane_type, lanes_as
from ptosim.target.profile import Target


@dataclass(frozen=True, eq=False)
class FlagStep:
    """A set (+1) or wait (-1) of a flag of this core, or of a private token."""

    core: Core
    step: int
    pipes: tuple[Pipe, Pipe]
    event: int | Value
    private: bool = False

    @property
    def operation(self) -> HandedOperation:
        known: int | None = None if isinstance(self.event, Value) else self.event
        captured = int(isinstance(self.event, Value))
        method = f"{'set' if self.step > 0 else 'wait'}_{'token' if self.private else 'flag'}"
        return HandedOperation(method, self.core.origin, (*self.pipes, known), len(self.core.f.loops), captured)


@dataclass
class Unit:
    """The object under construction, and what all its code is made for."""

    target: Target
    drop: bool
    """Whether GM accesses outside read zeros and write nothing, instead of being errors."""
    module: ObjectModule = field(default_factory=ObjectModule)
    operations: list[HandedOperation] = field(default_factory=list[HandedOperation])
    entries: set[int] = field(default_factory=set[int])
    """The operations that have an entry."""
    may_store_atomically: bool = True
    """Whether some instruction of the kernel may turn stores to GM into atomic ones."""
    may_set_ctrl: bool = True
    """Whether some instruction of the kernel writes all of CTRL."""
    observer: CodeObserver = UNOBSERVED
    """The observer that adds code of its own."""
    routines: dict[str, FunctionBuilder] = field(default_factory=dict[str, FunctionBuilder])
    reads: int = 0
    """The number of copies that read rows of GM."""
    unit_flags: frozenset[str] = frozenset()
    """The words about unit flags that are followed."""
    together: bool = False
    """Whether blocks of the kernel wait for each other, and so run together."""
    spaces: dict[Space, int] = field(default_factory=dict[Space, int])
    """The on-chip memories that the kernel uses, and how many bytes from their beginning it may write."""

    def run(self, members: Sequence[HandedOperation], loops: int) -> int:
        """A number for operations that follow each other and are handed over together."""
        if len(members) == 1:
            return self.operation(members[0])
        captured = sum(member.captured for member in members)
        return self.operation(HandedOperation("run", members[0].site, (), loops, captured, tuple(members)))

    def export_entries(self) -> None:
        """Say where the entries are, when all of them are known."""
        numbers = range(len(self.operations))
        symbols = [entry_symbol(number) if number in self.entries else None for number in numbers]
        self.module.addresses(ENTRIES, symbols)

    def routine(
        self, name: str, parameters: Sequence[Type], fill: Callable[[FunctionBuilder], None]
    ) -> FunctionBuilder:
        """A function that several instructions call, made when the first one wants it."""
        if name not in self.routines:
            function = self.routines[name] = self.module.function(name, parameters, linkage="internal")
            fill(function)
            function.finish()
        return self.routines[name]

    def operation(self, operation: HandedOperation) -> int:
        """A number for an operation that may be handed to the scheduler."""
        self.operations.append(operation)
        return len(self.operations) - 1


@dataclass(frozen=True, eq=False)
class Core:
    """The core, for one operation in one function."""

    f: FunctionBuilder
    unit: Unit
    kind: CoreKind
    standing: Callable[[], Site]
    flags: list[FlagStep] = field(default_factory=list["FlagStep"])
    """Sets and waits of flags that are lowered together, when something else follows."""

    @property
    def origin(self) -> Site:
        """The operation that is lowered; most of scalar code never asks."""
        return self.standing()

    @property
    def target(self) -> Target:
        return self.unit.target

    def alignment_of(self, space: Space) -> int:
        """The alignment of copies in a memory."""
        return self.target.alignment.get(space.value, 1)

    # --- failures -----------------------------------------------------------------------------------------------------

    def site(self, kind: str, message: Any) -> int:
        """A number for a way in which this operation may fail."""
        pipe = Pipe.V if self.origin.scope else self.origin.pipe
        return self.unit.module.site(at_place([kind, message, None, pipe], self.origin.location))

    def fail(self, wrong: Value, kind: str, message: str, value: Reported = 0, detail: Reported = 0) -> None:
        """End the run with this error where the condition holds; `{}` in the message stands for the values.

        Code goes on until the next branch, so what follows must be harmless all the same.
        """
        if wrong.literal != 0:
            self.f.check(wrong, self.site(kind, message), value, detail)

    def suspect(self, doubtful: Callable[[], Value]) -> None:
        """Something may be remarked if the condition holds; only an observer cares."""
        if self.is_observed:
            self.observer.suspect(self.f, doubtful())

    # --- on-chip memory -----------------------------------------------------------------------------------------------

    def window(self, verb: str, space: Space, address: Value, extent: int, alignment: int = 1) -> Value:
        """The host address of `extent` bytes of an on-chip memory, checked; `verb` is "reads" or "writes"."""
        return self.whole_window(OnChipAccess(verb, space, address, extent, alignment))

    def whole_window(self, access: OnChipAccess) -> Value:
        """Likewise, where only an observer cares which units of it are active."""
        self.observer.accessed(self, access)
        return self._window(access)

    def _window(self, access: OnChipAccess) -> Value:
        verb, space, address, extent = access.verb, access.space, access.address, access.extent
        self._exists(verb, space, self.f.constant(I1, 1))
        self._touches(verb, space, address, extent)
        size = self.target.memory[space.value]
        site = self.site("access", [verb, space.value, size, extent, access.alignment])
        return self.base(space).at(self.f.access(address, extent, size, access.alignment, site))

    def aligned(self, verb: str, space: Space, address: Value, alignment: int) -> None:
        """A pointer must be aligned even where no lane of the access is active."""
        site = self.site("access", [verb, space.value, 0, 0, alignment])
        self.f.check((address & (alignment - 1)) != 0, site, address)

    def masked_window(self, address: Value, active: Value, unit: int, alignment: int) -> Value:
        """The host address of units in a row of UB that are written, of which only the active ones must lie in it.

        An error tells of the stretch from the first active unit to the last.
        """
        extent = active.kind.lanes * unit
        if active.text == "splat (i1 true)":
            return self.window("writes", Space.UB, address, extent, alignment)
        return self.partial_window(OnChipAccess("writes", Space.UB, address, extent, alignment, lambda: active, unit))

    def partial_window(self, access: OnChipAccess) -> Value:
        """Likewise of any access; which units are active is computed only where some may lie outside.

        All of them may be read, wherever they lie: what is there outside of the memory is anything.
        """
        verb, space, address, extent = access.verb, access.space, access.address, access.extent
        active = access.active
        assert active is not None
        size = self.target.memory[space.value]
        self.observer.accessed(self, access)
        if address.range.within(0, size - extent):
            return self._window(access)
        self._exists(verb, space, self.f.constant(I1, 1))
        self._touches(verb, space, address, extent)
        self.aligned(verb, space, address, access.alignment)

        def stretch() -> tuple[Value, Value]:
            first, end = registers.active_span(self.f, active())
            return address + first * access.unit, address + end * access.unit

        def outside() -> Value:
            low, high = stretch()
            return registers.any_lane(active()) & (low.compare("ugt", size) | high.compare("ugt", size))

        def width() -> Value:
            low, high = stretch()
            return high - low

        site = self.site("access", [verb, space.value, size, None, 1])
        self.f.check(address.compare("ugt", size - extent), site, lambda: stretch()[0], width, confirm=outside)
        # inactive units may also lie before the memory, so an address that is confined must stay negative there
        return self.base(space).at(self.f.confined(address + extent, 2 * size) - extent)

    def lanes(
        self,
        verb: str,
        starts: Value,
        active: Value,
        extent: int,
        alignment: int = 1,
        together: Value | None = None,
        backwards: bool = False,
        units: Value | None = None,
    ) -> Value:
        """Confined addresses of `extent` bytes of UB for each active lane; one of another lane is any address inside.

        `units`: which parts of these bytes are touched, of all lanes one after the other (None: all). An error tells
        of all active lanes as one stretch where `together` holds (None: it does), otherwise of the first lane outside;
        `backwards`: the lanes come last first.
        """
        self._touches(verb, Space.UB)
        self.observer.scattered(self, verb, starts, active, extent, units)
        size = self.target.memory[Space.UB.value]
        odd = active & ((starts & (alignment - 1)) != 0)
        site = self.site("access", [verb, Space.UB.value, size, extent, alignment])
        named = registers.last_lane if backwards else registers.first_lane
        self.f.check(registers.any_lane(odd), site, lambda: named(self.f, starts, odd))
        outside = active & starts.compare("ugt", size - extent)

        def low() -> Value:
            lowest = registers.least(self.f, starts, active)
            return (
                lowest if together is None else together.select(lowest, registers.first_lane(self.f, starts, outside))
            )

        def reach() -> Value:
            whole = extent - registers.least(self.f, -starts, active) - registers.least(self.f, starts, active)
            return whole if together is None else together.select(whole, whole.like(extent))

        site = self.site("access", [verb, Space.UB.value, size, None, 1])
        self.f.check(registers.any_lane(outside), site, low, reach)
        return self.f.confined(active.select(starts, starts.like(0)), size)

    def granules(self, starts: Value, active: Value, alignment: int = 1) -> Value:
        """A register of granules from these places of UB; those that are not active are zero."""
        places = self.lanes("reads", starts, active, GRANULE, alignment)
        parts: list[Value] = []
        for number in range(starts.kind.lanes):
            granule = self.base(Space.UB).at(registers.extract(places, number)).load(I8.vector(GRANULE))
            parts.append(registers.extract(active, number).select(granule, granule.like(0)))
        return registers.joined(self.f, parts)

    def stretch(
        self,
        verb: str,
        space: Space,
        address: Value,
        extent: Value,
        alignment: int = 1,
        at: str | None = None,
        told: bool = True,
    ) -> Value:
        """Likewise for an extent known only at run time, which is not confined: the check is tested at once.

        `at` names another core of the cluster ("aiv1") whose UB is meant. An empty extent is never wrong. Where only
        parts of it are touched an observer is not told of all.
        """
        if at is None:
            self._exists(verb, space, extent > 0)
        self._touches(verb, space, address, max(0, extent.range.high))
        size = self.target.memory[space.value]
        misaligned = (address & (alignment - 1)) != 0
        site = self.site("access", [verb, space.value, size, None, alignment])
        wrong = misaligned | (address < 0) | (extent > size) | (address > size - extent)
        self.f.check(wrong & (extent > 0), site, address, extent)
        if told:
            self.observer.stretched(self, verb, space, address, extent, at)
        self.f.settle()
        return self.base(space, at).at(address)

    def _touches(self, verb: str, space: Space, address: Value | None = None, extent: int = 0) -> None:
        """Note how far a store may reach, which without an address may be anywhere. One that would leave the memory
        ends the run, and with it what the next block could find."""
        if verb == "writes":
            size = self.target.memory[space.value]
            end = size if address is None else min(size, address.range.high + extent)
            self.unit.spaces[space] = max(self.unit.spaces.get(space, 0), end)

    def _exists(self, verb: str, space: Space, wanted: Value) -> None:
        """The cube core has no UB, and so not even a place where a confined address would do no harm."""
        if space is Space.UB and self.kind is CoreKind.AIC:
            self.fail(wanted, "invalid", f"{verb} ub, which aic does not have")
            self.f.settle()

    def has(self, space: Space) -> bool:
        """Whether this core reaches a memory: UB belongs to vector cores, L1 to all, the rest to the cube."""
        return space is Space.L1 or (space is Space.UB) == (self.kind is CoreKind.AIV)

    def base(self, space: Space, at: str | None = None) -> Value:
        """The host address of an on-chip memory."""
        word = UB_OF[at] if at is not None else MEMORIES[space]
        self.unit.spaces.setdefault(space, 0)
        return self.f.base(word)

    # --- global memory ------------------------------------------------------------------------------------------------

    def global_place(self, verb: str, pointer: Value, extent: Value | int, alignment: int = 1) -> tuple[GmPlace, Value]:
        """The address of `extent` bytes behind a GM pointer, and whether all of them lie in their buffer.

        Where they do not, the run ends, unless such bytes are to be dropped. An empty extent is never outside.
        """
        extent = self.f.as_i64(extent)
        self.observer.stretched(self, verb, Space.GM, pointer, extent)
        place = locate(self.f, pointer)
        outside = leaves_buffer(place, 0, extent) & (extent > 0)
        misaligned = (pointer & (alignment - 1)) != 0
        wrong = misaligned | ((place.known ^ 1) & (extent > 0) if self.unit.drop else outside)
        self.f.check(wrong, self.site("gm", [verb, alignment]), pointer, extent)
        self.f.settle()  # there is no harmless address to go to instead
        return place, outside

    def is_allowed(self, verb: str, pointer: Value) -> Value:
        """Whether an observed kernel has a stand-in for that access to GM; others need none."""
        return may_access(self.f, verb, pointer) if self.is_observed else self.f.constant(I1, 1)

    def store_global(self, pointer: Value, store: Callable[[], None]) -> None:
        """Write to GM behind this pointer. An observed kernel works on copies: what it never reads is not written."""
        if not self.is_observed:
            store()
            return
        needed = may_access(self.f, "reads", pointer)
        self.f.settle()
        with self.f.when(needed):
            store()

    def dropping(self, outside: Value, whole: Callable[[], None], clipped: Callable[[], None]) -> None:
        """The fast way, but piece by piece where some bytes outside of GM are to be dropped."""
        if self.unit.drop:
            self.f.either(outside, clipped, whole)
        else:
            whole()

    # --- for an observer ----------------------------------------------------------------------------------------------

    @property
    def observer(self) -> CodeObserver:
        return self.unit.observer

    @property
    def is_observed(self) -> bool:
        """Whether it is worth while to compute something for an observer."""
        return self.unit.observer is not UNOBSERVED

    def touches_global(self, verb: str, pointer: Value, extent: int) -> None:
        """Notes that so many bytes of GM are read or written other than by a copy."""
        self.observer.copied(self, verb, CopyRows(Space.GM, pointer, (), self.f.constant(I64, extent)))

    # --- registers ----------------------------------------------------------------------------------------------------

    def register(self, register: Register | str) -> Value:
        """The contents of a register, or of a field of a configuration register, i64."""
        return self.f.word(register_word(register)).load(I64, WORD_BYTES)

    def set_register(self, register: Register | str, value: Value) -> None:
        self.f.word(register_word(register)).store(value, WORD_BYTES)

    # --- the scheduler ------------------------------------------------------------------------------------------------

    def issue(
        self, method: str, arguments: Sequence[Known] = (), captured: Sequence[Value] = (), at_once: bool = False
    ) -> None:
        """Call a method of the machine's core (native/build/operations.py) with these arguments. `at_once`: it never
        has to wait."""
        issue(self.f, self.operation(method, arguments, captured), captured, at_once)

    def moves(self) -> None:
        """Something happens that a word in GM may depend on, without the machine."""
        if self.unit.together:
            core_word(self.f, MOVED).store(self.f.constant(I64, 1), WORD_BYTES)

    def operation(self, method: str, arguments: Sequence[Known] = (), captured: Sequence[Value] = ()) -> int:
        """A number for a call of such a method here."""
        known = HandedOperation(method, self.origin, tuple(arguments), len(self.f.loops), len(captured))
        return self.unit.operation(known)

    # --- lanes --------------------------------------------------------------------------------------------------------

    def splat(self, scalar: Value, element: Element) -> Value:
        """A register with a scalar (the bits of a float) in every lane, wrapped to the width of the element."""
        kind = lane_type(element)
        bits = scalar.signed(Type(f"i{element.bits}"))
        return registers.splat(self.f, lanes_as(bits, kind), element.lanes)


def at_place(site: Sequence[Any], place: Location | None) -> list[Any]:
    """A way to fail, as the table of sites keeps it (native/run/explain.py), at another place."""
    kind, message, _, pipe = site
    return [kind, message, [place.line, place.column, place.length] if place else None, pipe]
