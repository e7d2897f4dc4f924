"""A core as instructions see it: special registers, its port to memory, and the way to its pipes.

Every access to memory goes through the port, so that bounds, alignment and observers are dealt with once: what stands
here are the words in which instructions ask for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Severity
from ptosim.effects.names import GM, SPECIAL_REGISTERS, Pipe, Space
from ptosim.effects.sim_signal import WORD
from ptosim.effects.sync import UnitFlagUse
from ptosim.language.text.print_format import Say, show
from ptosim.machine.core import Core as MachineCore
from ptosim.machine.entry import Site
from ptosim.machine.memory import decode
from ptosim.machine.scheduler import Stop, Stopped
from ptosim.machine.signal import SignalledWords, WatchedWords
from ptosim.machine.sync import SLOW
from ptosim.reference.fault import Fault
from ptosim.reference.memory.access_places import Bytes, Places, Starts
from ptosim.reference.memory.memories import NOTHING, GlobalMemory, Memories
from ptosim.reference.memory.port import AccessPlace, Active, Atomic, Complaint, Port, Witness
from ptosim.reference.numeric.float_lanes import Lanes
from ptosim.reference.observed.taint import Observed

CTRL_AT_RESET = 1 << 48


Config = Mapping[str, tuple[Any, ...]]
"""The fields of the configuration registers that were written. A write makes a new mapping, so an issued copy keeps the
one it was issued with."""


def delayed(core: Core, site: Site, loops: tuple[int, ...], step: Callable[[], Any]) -> Any:
    """Take a step of an entry that has waited in its queue. The engine places a fault by this frame."""
    with np.errstate(all="ignore"):  # the program of its core, which ignores them too, may have ended
        return step()


@dataclass
class WorkitemState:
    """State that workitems leave for the next launch: how many there were, words by slot, and private buffers by
    number."""

    count: int = 0
    words: Mapping[int, Any] = field(default_factory=dict[int, Any])
    buffers: dict[tuple[int, int], Any] = field(default_factory=dict[tuple[int, int], Any])
    """By number of the buffer and of the warp: bytes, and their taint."""


class Rounds:
    """The carried values of a loop, to notice when it comes back: a check need not go round 10^9 times to know the end.

    Values are kept from rounds twice as far apart each time (Brent), so that a recurrence of any length is found.
    """

    def __init__(self) -> None:
        self._kept: tuple[Any, ...] | None = None
        self._span = self._left = 1

    def recur(self, carried: tuple[Any, ...]) -> bool:
        if carried == self._kept:
            return True
        self._left -= 1
        if self._left == 0:
            self._kept = carried
            self._span = self._left = 2 * self._span
        return False


class Core:
    """One core of a running block."""

    def __init__(
        self,
        machine: MachineCore,
        cluster: Mapping[str, Mapping[Space, Bytes]],
        global_memory: GlobalMemory,
        max_steps: int,
        target: str,
        stop: Stop,
    ) -> None:
        self.machine = machine
        self.memories = Memories(self, cluster, global_memory)
        self.use(self.memories)
        self.witness: Witness | None = None
        self.target = target
        self.stop = stop
        self.unit_flags: frozenset[str] = frozenset()
        """The words about unit flags that the kernel is followed in."""
        self.polls = len(machine.cluster.cores) > 1
        """Whether loops look at `stop`: a core alone runs on the main thread, where an interrupt arrives by itself."""
        self.together = False
        """Whether it runs together with other blocks, which it may wait for."""
        self.say: Say | None = show
        self.config: Config = {}
        self.ctrl = self.scope_ctrl = CTRL_AT_RESET
        """CTRL now, and as it was when the vector scope that is running was launched."""
        self.special: dict[str, int] = dict.fromkeys(SPECIAL_REGISTERS, 0)
        self.workitems = WorkitemState()
        self.steps_left = max_steps
        self.max_steps = max_steps
        self.indices: Callable[[FrameType | None], tuple[int, ...]] = lambda frame: ()
        """The loop indices of the translated code that has called a frame; the engine knows them."""
        self.standing: Callable[[FrameType | None], Site | None] = lambda frame: None
        """The instruction of the translated code that has called a frame."""

    # --- the scalar unit ----------------------------------------------------------------------------------------------

    def loop(self, lower: int, upper: int, step: int) -> Iterable[int]:
        """The indices of an scf.for, counted against max_steps."""
        if step <= 0:
            raise Fault("arithmetic", f"the step of scf.for must be positive, not {step}")
        trips = max(0, -((lower - upper) // step))  # len() of a range stops at 2**63
        self.steps_left -= trips
        if self.steps_left < 0:
            raise self._too_many_steps()
        indices = range(lower, upper, step)
        polled = self._polled(indices) if self.polls else indices
        return polled if self.witness is None else self.witness.loop(polled, lower, trips)

    def _polled(self, indices: range) -> Iterator[int]:
        for index in indices:
            if self.stop.requested:
                raise Stopped
            yield index

    def rounds(self, polls: bool) -> Rounds | None:
        """The guard that finds a loop without end; `polls`: unless others change the words that it loads."""
        return None if polls and self.together else Rounds()

    def iterate(self, rounds: Rounds | None = None, carried: tuple[Any, ...] = ()) -> None:
        """One round of an scf.while. `rounds` is given where the values carried are all that a round can change."""
        if rounds is not None and rounds.recur(carried):
            self.steps_left = 0  # however many were left: the loop would use them up
        self.step()

    def step(self) -> None:
        """One call, or one round of a loop, counted against max_steps."""
        self.steps(1)

    def steps(self, count: int) -> None:
        """Likewise of several."""
        self.steps_left -= count
        if self.steps_left < 0:
            raise self._too_many_steps()
        if self.stop.requested:
            raise Stopped

    def poll(self, site: Site, pointer: int = 0, offset: int = 0, comparison: str = "", value: int = 0) -> None:
        """A loop that loads scalars from GM goes round: where blocks run together, others get a turn. The rest says
        what it waits for, if it does."""
        if self.together:
            words = self.signal_words(site, "reads", [pointer + offset * WORD]) if comparison else None
            self.machine.poll(site, words and WatchedWords(words, comparison, value))

    def leave_poll(
        self, site: Site, pointer: int, offset: int, comparison: str, value: int, gives_up: bool = False
    ) -> None:
        """A loop ends that has looked at a word of GM until it was so: a wait, unless it also gives up."""
        if self.together and self.machine.observer is not None:
            words = self.signal_words(site, "reads", [pointer + offset * WORD])
            if words is not None:
                self.machine.saw(site, words, comparison, value, gives_up)

    def _too_many_steps(self) -> Fault:
        return Fault("limit", f"more than {self.max_steps} loop iterations and calls in one block (max_steps)")

    def missing_function(self, name: str) -> None:
        raise Fault("unsupported", f"@{name} is only declared; there is no body to run")

    # --- issuing ------------------------------------------------------------------------------------------------------

    def issue(self, what: Observed, arguments: tuple[Any, ...]) -> None:
        """Queue an instruction of a serial pipe with its operands."""
        self._queue(what, arguments, partial(what.function, *arguments))

    def transfer(self, what: Observed, arguments: tuple[Any, ...]) -> None:
        """Queue a copy: it reads when it starts and writes when it ends."""
        half = partial(next, what.function(*arguments), None)
        self._queue(what, arguments, half, half)

    def _queue(
        self, what: Observed, arguments: tuple[Any, ...], start: Callable[[], Any], end: Callable[[], Any] | None = None
    ) -> None:
        facts, site = None, what.site
        if self.witness is None:
            start, end = self._kept(site, start), None if end is None else self._kept(site, end)
        else:
            take, facts = self.witness.attend(what, arguments)
            start, end = partial(take, start), None if end is None else partial(take, end)
        unit = _unit_flag(what, arguments, self.unit_flags) if site.pipe in (Pipe.M, Pipe.FIX) else None
        self.machine.work(site.pipe, site, start, None if end is None else lambda _: end(), facts, unit)

    def launch(self, site: Site, function: Callable[..., None], captured: tuple[Any, ...]) -> None:
        """Queue a vector scope with the values it captures."""
        scope = partial(function, self, *captured)
        witness = self.witness
        start = self._kept(site, scope) if witness is None else partial(witness.enter, site, scope)
        self.machine.work(site.pipe, site, start)

    def _kept(self, site: Site, step: Callable[[], Any]) -> Callable[[], Any]:
        """A step that may happen later, when the scalar unit stands elsewhere, remembers where it was issued."""
        if self.machine.words[SLOW] == 0:
            return step
        return partial(delayed, self, site, self.indices(inspect.currentframe()), step)

    # --- memory -------------------------------------------------------------------------------------------------------

    def use(self, port: Port) -> None:
        """From now on, accesses go through this port. Registers are loaded and stored so often that the two ways are
        the port's own methods."""
        self.port = port
        self.load: Callable[[int, np.dtype[Any]], Lanes] = port.load
        self.store: Callable[[int, Lanes], None] = port.store

    def through(self, port: Port, step: Callable[[], Any]) -> Any:
        """Take a step whose accesses go through another port."""
        before = self.port
        self.use(port)
        try:
            return step()
        finally:
            self.use(before)

    def read(self, space: Space, start: int, width: int, alignment: int = 1, by_use: bool = False) -> Bytes:
        """`width` bytes in a row, perhaps as a view. `by_use`: an unmasked vector load, whose lanes count if used."""
        return self.port.read(AccessPlace(space, start, width, alignment), by_use)

    def write(self, space: Space, start: int, data: Bytes, alignment: int = 1, active: Active | None = None) -> None:
        """Store bytes in a row, or those of them that `active` selects."""
        self.port.write(AccessPlace(space, start, len(data), alignment), data, active)

    def glimpsed(self, space: Space, start: int, width: int) -> bytes:
        """Bytes on the chip as they are, for a remark about them: no access of the instruction."""
        memory = self.memories.own.get(space, NOTHING)
        return memory[start : start + width].tobytes() if start >= 0 else b""

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        """Pieces of `width` bytes at these addresses, one row each, as a copy."""
        return self.port.read(AccessPlace(space, starts, width, alignment, at, True))

    def read_numbers(self, space: Space, starts: Starts, width: int, alignment: int = 1) -> Bytes:
        """Likewise of pieces that are numbers of others: indices into a table."""
        return self.port.read_numbers(AccessPlace(space, starts, width, alignment, None, True))

    def write_pieces(
        self,
        space: Space,
        starts: Starts,
        data: Bytes,
        alignment: int = 1,
        at: str | None = None,
        atomic: Atomic | None = None,
    ) -> None:
        """Store one row of `data` at each address, in order, or combine it with what is there."""
        self.port.write(AccessPlace(space, starts, data.shape[1], alignment, at, True), data, None, atomic)

    def pattern(self, data: Bytes) -> Bytes:
        """Bytes that come from no memory, such as padding."""
        return self.port.pattern(data)

    def converted(self, data: Bytes, width: int, conversion: Callable[[Bytes], Bytes]) -> Bytes:
        """Elements of `width` bytes that a copy turns into others."""
        return self.port.converted(data, width, conversion)

    def fence(self, site: Site, kind: str) -> None:
        """A mem_bar: execution is in program order anyway."""
        observer, entry = self.machine.observer, self.machine.current
        if observer is not None and entry is not None:  # outside of a scope it orders nothing
            observer.fence(entry, site, kind)

    def tell(self, text: str) -> None:
        """The kernel prints."""
        if self.say is not None:
            self.say(self.machine.block, text)

    def begin_transfer(self, site: Site, session: int, facts: Mapping[str, Any]) -> int:
        """A copy in GM that goes on by itself until somebody waits for it; how many its session has begun."""
        entry = self.machine.transfer(site, session, facts)
        if self.witness is not None:
            self.witness.begin_transfer(entry)
        return entry.n + 1

    def signal_words(self, site: Site, verb: str, addresses: Sequence[int]) -> SignalledWords | None:
        """Words of i32 in GM, aligned; None where one of them does not exist and the run goes on without."""
        if self.witness is not None:
            self.witness.stand_at(site)
        places: list[NDArray[np.int32]] = []
        for address in addresses:
            self.machine.late.show(GM, address, WORD)
            memory, offset, inside = self.memories.window(verb, AccessPlace(GM, address, WORD, WORD))
            if not inside:
                return None
            places.append(memory[offset : offset + WORD].view(np.int32))

        def write(position: int, value: int) -> None:
            places[position][0] = value

        return SignalledWords(addresses, lambda position: int(places[position][0]), write)

    # --- bounds -------------------------------------------------------------------------------------------------------

    def holds(self, verb: str, space: Space, start: int, width: int, alignment: int = 1, at: str | None = None) -> bool:
        """Whether all that an instruction is about to touch lies inside; if not, an observed run leaves it out."""
        return not width or self.memories.window(verb, AccessPlace(space, start, width, alignment, at))[2]

    def aligned(self, verb: str, space: Space, start: int, alignment: int) -> None:
        """A pointer must be aligned even where no lane of the access is active."""
        self.memories.aligned(verb, space, start, alignment)

    def landing(self, space: Space, starts: Starts, width: int, at: str | None = None) -> Places | None:
        """The numbers of those rows of a copy that a run which goes on after a fault has to write; None: all."""
        return self.memories.landing(AccessPlace(space, starts, width, at=at)) if self.port.goes_on else None

    def touched(self, pointer: int, offsets: Places, width: int) -> NDArray[np.bool_]:
        """The pieces behind a GM pointer that have a byte in its argument; offsets may exceed what a pointer can
        say.
        """
        number, first = decode(pointer)
        size = len(self.memories.global_memory.buffers.get(number, NOTHING))
        return (offsets + (first + width) > 0) & (offsets + first < size)

    # --- complaints ---------------------------------------------------------------------------------------------------

    def violation(self, kind: str, message: str) -> None:
        """An access that breaks a rule ends the run; an observed one goes on."""
        self.port.say(Complaint(kind, message))

    def stray(self, message: str, kind: str = "out-of-bounds") -> None:
        """An access leaves what it belongs to and stays in its memory, or a stream goes wrong: an error that a run goes
        on after."""
        self.port.say(Complaint(kind, message, is_fatal=False))

    def complain(self, site: Site, kind: str, message: str, severity: Severity = "error", fatal: bool = True) -> None:
        """The scalar unit has come to something wrong: a check says so and goes on, a run ends if it is fatal."""
        self.port.say(Complaint(kind, message, severity, site=site, is_fatal=fatal))

    @property
    def wants_lint(self) -> bool:
        """Whether it is worth while to look for what `lint` would say."""
        return self.port.remarks is not None

    def lint(self, message: str, kind: str = "lint", site: Site | None = None, hint: str | None = None) -> None:
        """The instruction does something that is legal and suspicious. One that touches no memory gives its site."""
        self.port.say(Complaint(kind, message, "warning", site=site, hint=hint, is_fatal=False))

    def idle(self, message: str) -> None:
        """The instruction does nothing, which its author may not have meant; tiles may be empty."""
        if self.port.remarks is not None:
            self.port.remarks.idle(message)

    def hold(self, before: Any, after: Any) -> None:
        """A store stream has gone on from one align value to the next (None: it was flushed)."""
        if self.port.remarks is not None:
            self.port.remarks.hold(before, after)


def _unit_flag(what: Observed, arguments: tuple[Any, ...], followed: frozenset[str]) -> UnitFlagUse | None:
    """The use that a product or a store makes of the flag of its tile in L0C."""
    given = dict(zip(what.parameters, arguments, strict=False))
    word = given["static"].words.get("unit_flag") if followed and "static" in given else None
    return UnitFlagUse(word, given["c" if "c" in given else "source"], what.site.pipe) if word in followed else None
