"""A core as instructions see it: memories, special registers, and the way to its pipes.

Every access to memory goes through here, so that bounds, alignment and the observer are dealt with once. The value of a
GM pointer is an integer that names an argument and an offset (machine/memory.py); on-chip addresses are plain bytes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Severity
from ptosim.effects.burst import BLOCK
from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.names import GM, UB, Space
from ptosim.effects.sim_signal import WORD
from ptosim.machine.core import Core as MachineCore
from ptosim.machine.entry import Site
from ptosim.machine.memory import Regions, decode, outside
from ptosim.machine.observer import Footprint
from ptosim.machine.scheduler import Stop, Stopped
from ptosim.machine.signal import Words
from ptosim.machine.sync import SLOW
from ptosim.reference.fault import Fault
from ptosim.reference.integers import signed64
from ptosim.reference.numbers import LANE_TYPES, Lanes
from ptosim.reference.places import (
    INDEXED,
    Bytes,
    Places,
    Starts,
    at_places,
    first_misaligned,
    lasting,
    lowest_and_highest,
    pieces,
    shifted,
    touching,
    view_to_write,
)

Combine = Callable[[Bytes, Bytes], Bytes]

CTRL_AT_RESET = 1 << 48


@dataclass(frozen=True)
class Config:
    """The configuration registers. A write makes a new value, so an issued copy keeps the one it was issued with."""

    words: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def with_word(self, name: str, value: Any) -> Config:
        return replace(self, words={**self.words, name: value})

    def get(self, name: str, default: Any) -> Any:
        return self.words.get(name, default)


@dataclass(frozen=True)
class GlobalMemory:
    """What the pointers of a launch may name, as bytes, by number."""

    regions: Regions
    buffers: Mapping[int, Bytes]
    drop: bool = False
    """Reads outside give zero and writes outside are dropped, instead of being errors."""


_NOTHING: Bytes = np.zeros(0, np.uint8)


def delayed(core: Core, site: Site, loops: tuple[int, ...], step: Callable[[], Any]) -> Any:
    """Take a step of an entry that has waited in its queue. Who places a fault finds this frame and its arguments."""
    with np.errstate(all="ignore"):  # the program of its core, which ignores them too, may have ended
        return step()


class Rounds:
    """What a loop has carried, to notice when it comes back: a check need not go round 10^9 times to know the end.

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
        self.cluster = cluster
        self.memories = cluster[machine.role]
        self.global_memory = global_memory
        self.target = target
        self.stop = stop
        self.polls = len(machine.cluster.cores) > 1
        """Whether loops look at `stop`: a core alone runs on the main thread, where an interrupt arrives by itself."""
        self.together = False
        """Whether it runs together with other blocks, which it may wait for."""
        self.config = Config()
        self.ctrl = self.scope_ctrl = CTRL_AT_RESET
        """CTRL now, and as it was when the vector scope that is running was launched."""
        self.special: dict[str, int] = {"AR": 0, "SQZN": 0, "VMS4_SR": 0}
        self.steps_left = max_steps
        self.max_steps = max_steps
        self.site: Site | None = None
        ub = self.memories.get(UB, _NOTHING)
        self.register_starts = range(0, len(ub) - VECTOR_BYTES + 1, BLOCK)
        """Where the contiguous bytes of a register may start in UB."""
        self._lanes_of_ub = {dtype.char: (ub.view(dtype), dtype.itemsize.bit_length() - 1) for dtype in LANE_TYPES}
        """UB as lanes of each type, and the power of two that is their width."""
        self.indices: Callable[[FrameType | None], tuple[int, ...]] = lambda frame: ()
        """The loop indices of the translated code that has called a frame; the engine knows them."""
        self.standing: Callable[[FrameType | None], Site | None] = lambda frame: None
        """The instruction of the translated code that has called a frame."""

    # --- the scalar unit --------------------------------------------------------------------------------------------

    def loop(self, lower: int, upper: int, step: int) -> Iterator[int] | range:
        """The indices of an scf.for, counted against max_steps."""
        if step <= 0:
            raise Fault("arithmetic", f"the step of a loop must be positive, not {step}")
        indices = range(lower, upper, step)
        self.steps_left -= max(0, -((lower - upper) // step))  # len() of a range stops at 2**63
        if self.steps_left < 0:
            raise self._too_many_steps()
        return self._polled(indices) if self.polls else indices

    def _polled(self, indices: range) -> Iterator[int]:
        for index in indices:
            if self.stop.requested:
                raise Stopped
            yield index

    def rounds(self, polls: bool) -> Rounds | None:
        """What tells of a loop that goes round for ever; `polls`: unless others change what it loads."""
        return None if polls and self.together else Rounds()

    def iterate(self, rounds: Rounds | None = None, carried: tuple[Any, ...] = ()) -> None:
        """One round of an scf.while. `rounds` is given where the values carried are all that a round can change."""
        if rounds is not None and rounds.recur(carried):
            self.steps_left = 0  # however many were left: the loop would use them up
        self.step()

    def step(self) -> None:
        """One call, or one round of a loop, counted against max_steps."""
        self.steps_left -= 1
        if self.steps_left < 0:
            raise self._too_many_steps()
        if self.stop.requested:
            raise Stopped

    def poll(self, site: Site) -> None:
        """A loop that loads scalars from GM goes round: where blocks run together, others get a turn."""
        if self.together:
            self.machine.poll(site)

    def leave_poll(self, site: Site, pointer: int, offset: int, comparison: str, value: int) -> None:
        """A loop ends that has looked at a word of GM until it was so: a wait."""
        if self.together and self.machine.observer is not None:
            words = self.signal_words(site, "reads", [pointer + offset * WORD])
            if words is not None:
                self.machine.saw(site, words, comparison, value)

    def _too_many_steps(self) -> Fault:
        return Fault("limit", f"more than {self.max_steps} loop iterations and calls in one block (max_steps)")

    def missing_function(self, name: str) -> None:
        raise Fault("unsupported", f"@{name} is only declared; there is no body to run")

    # --- issuing ----------------------------------------------------------------------------------------------------

    def issue(self, site: Site, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Queue an instruction of a serial pipe with its operands."""
        self.machine.work(site.pipe, site, self._kept(site, partial(function, *arguments)))

    def transfer(self, site: Site, function: Callable[..., Iterator[None]], arguments: tuple[Any, ...]) -> None:
        """Queue a copy: it reads when it starts and writes when it ends."""
        steps = function(*arguments)
        start, finish = self._kept(site, partial(next, steps)), self._kept(site, partial(next, steps, None))
        self.machine.work(site.pipe, site, start, lambda _: finish())

    def launch(self, site: Site, function: Callable[..., None], captured: tuple[Any, ...]) -> None:
        """Queue a vector scope with the values it captures."""
        self.machine.work(site.pipe, site, self._kept(site, partial(function, self, *captured)))

    def _kept(self, site: Site, step: Callable[[], Any]) -> Callable[[], Any]:
        """A step that may happen later, when the scalar unit stands elsewhere, remembers where it was issued."""
        if self.machine.words[SLOW] == 0:
            return step
        return partial(delayed, self, site, self.indices(inspect.currentframe()), step)

    # --- memory -----------------------------------------------------------------------------------------------------
    #
    # `at` names another core of the cluster ("aiv1") whose memory is meant. What a read returns may be a view: copy
    # what must outlive the instruction.

    def read(
        self, space: Space, start: int, width: int, alignment: int = 1, by_use: bool = False, at: str | None = None
    ) -> Bytes:
        """`width` bytes of a memory. `by_use`: an unmasked vector load, whose lanes count only if they are used."""
        if at is None and (own := self.memories.get(space)) is not None:  # most accesses are these, and fit
            end = start + width
            if start >= 0 and end <= len(own) and not start % alignment:
                return own[start:end]
        memory, offset, inside = self._window("reads", space, start, width, alignment, at)
        if inside:
            return memory[offset : offset + width]
        data = np.zeros(width, np.uint8)
        low, high = clip(memory, offset, width)
        data[low:high] = memory[offset + low : offset + high]
        return data

    def write(
        self,
        space: Space,
        start: int,
        data: Bytes,
        alignment: int = 1,
        active: NDArray[np.bool_] | None = None,
        at: str | None = None,
    ) -> None:
        """Store bytes, or those of them that `active` selects."""
        if active is None and at is None and (own := self.memories.get(space)) is not None:
            end = start + len(data)
            if start >= 0 and end <= len(own) and not start % alignment:
                own[start:end] = data
                return
        memory, offset, inside = self._window("writes", space, start, len(data), alignment, at)
        if not inside:
            low, high = clip(memory, offset, len(data))
            data, offset = data[low:high], offset + low
            active = None if active is None else active[low:high]
        window = memory[offset : offset + len(data)]
        if active is None:
            window[:] = data
        else:
            np.copyto(window, data, where=active)

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        """A register from contiguous bytes of UB, as a copy; its lanes count only if they are used."""
        if start in self.register_starts:
            ub, power = self._lanes_of_ub[dtype.char]
            return ub[start >> power : (start + VECTOR_BYTES) >> power].copy()
        return self.read(UB, start, VECTOR_BYTES, BLOCK, True).copy().view(dtype)

    def store(self, start: int, value: Lanes) -> None:
        """A whole register to contiguous bytes of UB."""
        if start in self.register_starts:
            ub, power = self._lanes_of_ub[value.dtype.char]
            ub[start >> power : (start + VECTOR_BYTES) >> power] = value
        else:
            self.write(UB, start, value.view(np.uint8), BLOCK)

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        """Pieces of `width` bytes at these addresses, one row each, as a copy."""
        memory, offsets, inside = self._windows("reads", space, starts, width, alignment, at)
        if inside:
            return pieces(memory, offsets, width).copy()
        rows = np.zeros((len(starts), width), np.uint8)
        numbers = touching(offsets, width, len(memory))
        offsets = at_places(offsets, numbers)
        whole = (offsets >= 0) & (offsets <= len(memory) - width)
        rows[numbers[whole]] = pieces(memory, offsets[whole], width)
        for number, offset in zip(numbers[~whole], offsets[~whole], strict=True):
            low, high = clip(memory, int(offset), width)
            rows[number, low:high] = memory[offset + low : offset + high]
        return rows

    def write_pieces(
        self, space: Space, starts: Starts, data: Bytes, alignment: int = 1, at: str | None = None
    ) -> None:
        """Store one row of `data` at each address, in order."""
        width = data.shape[1]
        memory, offsets, inside = self._windows("writes", space, starts, width, alignment, at)
        if not inside:
            numbers = touching(offsets, width, len(memory))
            offsets, data = at_places(offsets, numbers), data[numbers]
            inside = bool(((offsets >= 0) & (offsets <= len(memory) - width)).all())
        if inside and (view := view_to_write(memory, offsets, width)) is not None:
            view[...] = data
            return
        if inside and data.size <= INDEXED:
            memory[np.asarray(offsets)[:, np.newaxis] + np.arange(width)] = (
                data  # where pieces overlap the last one stays
            )
            return
        numbers = lasting(offsets)
        for offset, row in zip(at_places(offsets, numbers), data[numbers], strict=True):
            low, high = clip(memory, int(offset), width)
            memory[offset + low : offset + high] = row[low:high]

    def accumulate(self, space: Space, starts: Starts, data: Bytes, combine: Combine, name: str) -> None:
        """Atomically combine one row of `data` into the bytes at each address, in order; `name` is like "add f32"."""
        width = data.shape[1]
        memory, offsets, inside = self._windows("writes", space, starts, width, 1, None)
        if inside and (view := view_to_write(memory, offsets, width)) is not None:
            view[...] = combine(view, data)
            return
        for offset, row in zip(offsets, data, strict=True):
            low, high = clip(memory, int(offset), width)
            old = np.zeros(width, np.uint8)  # an element may lie half outside
            old[low:high] = memory[offset + low : offset + high]
            memory[offset + low : offset + high] = combine(old, row)[low:high]

    def pattern(self, data: Bytes) -> Bytes:
        """Bytes that come from no memory, such as padding: named so that a replay can tell them from copied ones."""
        return data

    def converted(self, data: Bytes, width: int, conversion: Callable[[Bytes], Bytes]) -> Bytes:
        """Elements of `width` bytes that a copy turns into others; a replay taints each result as its element."""
        return conversion(data)

    def fence(self, site: Site, kind: str) -> None:
        """A mem_bar: execution is in program order anyway."""

    def tell(self, text: Callable[[], str]) -> None:
        """What the kernel prints goes to standard output; whoever only observes a run does not want it."""
        if self.machine.observer is None:
            print(text())  # noqa: T201

    def begin_transfer(self, site: Site, session: int, facts: Mapping[str, Any]) -> int:
        """A copy in GM that goes on by itself until somebody waits for it; how many its session has begun."""
        return self.machine.transfer(site, session, facts).n + 1

    # --- what only a check wants to know ----------------------------------------------------------------------------

    wants_lint = False
    """Whether it is worth while to look for what `lint` would say."""

    def lint(self, message: str, kind: str = "lint", site: Site | None = None, hint: str | None = None) -> None:
        """The instruction does something that is legal and suspicious. One that touches no memory gives its site."""

    def idle(self, message: str) -> None:
        """The instruction does nothing, which its author may not have meant; tiles may be empty."""

    def relies_on(self, direction: str, config: Config, *others: str) -> None:
        """A copy of the older generation takes its loops from the registers of a direction, and `others` as well."""

    def resized(self, site: Site) -> None:
        """Loop sizes have been written."""

    def ended(self) -> None:
        """The program has come to its end."""

    def overwrites(self, direction: str, config: Config, loops: int, *others: str) -> None:
        """A copy with clauses: hardware carries it out by writing the registers, which stay as they are here."""

    def landing(self, space: Space, starts: Starts, width: int, at: str | None = None) -> Places | None:
        """The numbers of those rows of a copy that a run which goes on after a fault has to write; None: all."""
        return None

    def hold(self, before: Any, after: Any) -> None:
        """A store stream has gone on from one align value to the next (None: it was flushed)."""

    # --- checks -----------------------------------------------------------------------------------------------------

    def holds(self, verb: str, space: Space, start: int, width: int, alignment: int = 1, at: str | None = None) -> bool:
        """Whether all that an instruction is about to touch lies inside; if not, an observed run leaves it out."""
        return not width or self._window(verb, space, start, width, alignment, at)[2]

    def touched(self, pointer: int, offsets: Places, width: int) -> NDArray[np.bool_]:
        """Which pieces behind a GM pointer have a byte in its argument; offsets may exceed what a pointer can say."""
        number, first = decode(pointer)
        size = len(self.global_memory.buffers.get(number, _NOTHING))
        return (offsets + (first + width) > 0) & (offsets + first < size)

    def signal_words(self, site: Site, verb: str, addresses: Sequence[int]) -> Words | None:
        """Words of i32 in GM, aligned; None where one of them does not exist and the run goes on without."""
        places: list[NDArray[np.int32]] = []
        for address in addresses:
            memory, offset, inside = self._window(verb, GM, address, WORD, WORD, None)
            if not inside:
                return None
            places.append(memory[offset : offset + WORD].view(np.int32))

        def write(position: int, value: int) -> None:
            places[position][0] = value

        return Words(addresses, lambda position: int(places[position][0]), write)

    def _window(
        self, verb: str, space: Space, start: int, width: int, alignment: int, at: str | None
    ) -> tuple[Bytes, int, bool]:
        """The memory of an access, the offset in it, and whether all of it lies inside."""
        if not self._exists(verb, space, at):
            return _NOTHING, 0, False
        start = signed64(int(start))  # what pto.addptr gives for pointer and offset
        if start % alignment:
            self.misaligned(verb, space, start, alignment)
        if space is not GM:
            memory = self._other(at)[space] if at else self.memories[space]
            if start >= 0 and start + width <= len(memory):
                return memory, start, True
            self.violation(
                "out-of-bounds", outside(verb, space.value, len(memory), start, width), (start, start + width)
            )
            return memory, start, False
        number, offset = decode(start)
        memory = self.global_memory.buffers.get(number)
        if memory is None:
            self.strays(*self.global_memory.regions.stray(verb, start, width))
            return _NOTHING, 0, False
        if offset >= 0 and offset + width <= len(memory):
            return memory, offset, True
        self.strays(*self.global_memory.regions.stray(verb, start, width), self.global_memory.drop)
        return memory, offset, False

    def _exists(self, verb: str, space: Space, at: str | None) -> bool:
        """Code of the cube core that no section and no kind of kernel keeps from UB has none to go to."""
        if space is GM or at is not None or space in self.memories:
            return True
        self.violation("invalid", f"{verb} {space}, which {self.machine.role} does not have")
        return False

    def _other(self, role: str) -> Mapping[Space, Bytes]:
        """The memories of another core of the cluster."""
        if role not in self.cluster:
            raise Fault("unsupported", f"this kernel runs on {self.machine.role} alone: there is no {role} to reach")
        return self.cluster[role]

    def _windows(
        self, verb: str, space: Space, starts: Starts, width: int, alignment: int, at: str | None
    ) -> tuple[Bytes, Starts, bool]:
        """The memory of a piecewise access and the offsets in it, checked as a whole."""
        if not len(starts):
            return _NOTHING, starts, True
        if not self._exists(verb, space, at):
            return _NOTHING, starts, False
        low, high = lowest_and_highest(starts)
        if alignment > 1 and (odd := first_misaligned(starts, alignment)) is not None:
            self.misaligned(verb, space, odd, alignment)
        memory, first, inside = self._window(verb, space, low, high - low + width, 1, at)
        return memory, shifted(starts, first - low), inside

    def aligned(self, verb: str, space: Space, start: int, alignment: int) -> None:
        """A pointer must be aligned even where no lane of the access is active."""
        if start % alignment:
            self.misaligned(verb, space, signed64(start), alignment)

    def misaligned(self, verb: str, space: Space, start: int, alignment: int) -> None:
        offset = decode(start)[1] if space is GM else start
        self.violation("misaligned", f"{verb} {space} at {offset}, which is not a multiple of {alignment}")

    def violation(self, kind: str, message: str, extent: tuple[int, int] | None = None) -> None:
        """An access that breaks a rule ends the run; an observed one goes on as if the bytes outside did not exist."""
        raise Fault(kind, message, bytes=extent)

    def complain(self, site: Site, kind: str, message: str, severity: Severity = "error", fatal: bool = True) -> None:
        """The scalar unit has come to something wrong: a check says so and goes on, a run ends if it is fatal."""
        if fatal:
            raise Fault(kind, message)

    def strays(self, message: str, extent: tuple[int, int] | None = None, dropped: bool = False) -> None:
        """An access leaves GM. `dropped`: what lies outside reads as zero and is not written, as was asked for."""
        if not dropped:
            self.violation("out-of-bounds", message, extent)

    def footprint(self, space: Space, starts: Any, width: int, at: str | None = None) -> Footprint:
        """An access in the words of the machine's observers."""
        if at is not None:
            self._other(at)
        owner = self.machine if at is None else self.machine.cluster.member(at)
        return Footprint(space, None if space is GM else owner, starts, width)


def clip(memory: Bytes, offset: int, width: int) -> tuple[int, int]:
    """Which part of an access lies inside the memory."""
    low = min(max(0, -offset), width)
    return low, max(low, min(width, len(memory) - offset))
