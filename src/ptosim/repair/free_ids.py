"""Ids of flags and buffers that a kernel does not use, for edits.

A flag with a computed id uses every id that the computation may give; all of them if it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptosim.effects.names import Pipe
from ptosim.effects.sync import signalling
from ptosim.language.micro.sync import EVENT_IDS, BufferOperation, SetFlagDyn, WaitFlagDyn
from ptosim.language.operation import PTOOperation
from ptosim.repair.possible_values import possible
from ptosim.sanitize.near_misses import flag_ends
from ptosim.sanitize.observation import Flag
from ptosim.sanitize.program import WrittenProgram

BUFFER_IDS = 28
"""The ids in use, of 32; the last ones are the system's."""
FLAGS = signalling("flag")

Taken = frozenset[tuple[object, ...]]


class UsedIds:
    """The ids that a text names or may reach, and those that its run has seen."""

    def __init__(self, program: WrittenProgram, seen: Iterable[Flag]) -> None:
        self.flags = set(seen)
        self.computed: set[tuple[str, str]] = set()
        """The pairs of pipes with an id that may be any."""
        self.buffers: set[int] | None = set()
        """None: any may be in use, or the machine has none."""
        self.has_buffers = False
        for op in program.operations():
            if isinstance(op, SetFlagDyn | WaitFlagDyn):
                self._computed_flag(op)
            elif isinstance(op, PTOOperation) and op.name in FLAGS:
                self._written_flag(op)
            elif isinstance(op, BufferOperation):
                self._buffer(op)
        if program.target != "a5":
            self.buffers = None

    def free_event(self, source: Pipe, destination: Pipe, taken: Taken = frozenset()) -> int | None:
        """An event that nothing uses between these pipes, nor other edits have taken."""
        if (source, destination) in self.computed:
            return None
        used = {id_ for one, other, id_ in self.flags if (one, other) == (source, destination)}
        free = (id_ for id_ in range(EVENT_IDS) if id_ not in used)
        return next((id_ for id_ in free if ("flag", source, destination, id_) not in taken), None)

    def free_buffer(self, taken: Taken = frozenset()) -> int | None:
        """A buffer that nothing uses, nor other edits have taken."""
        used = self.buffers
        free = (id_ for id_ in range(BUFFER_IDS) if used is not None and id_ not in used)
        return next((id_ for id_ in free if ("buffer", id_) not in taken), None)

    def _written_flag(self, op: PTOOperation) -> None:
        number = (op.word("event") or "").removeprefix("EVENT_ID")
        if number.isdecimal():
            self.flags.add((*flag_ends(op), int(number)))

    def _computed_flag(self, op: SetFlagDyn | WaitFlagDyn) -> None:
        reached = possible(op.event)
        if reached is None:
            self.computed.add(flag_ends(op))
        else:
            self.flags |= {(*flag_ends(op), number) for number in reached}

    def _buffer(self, op: BufferOperation) -> None:
        self.has_buffers = True
        literal = op.integer("id_literal")
        reached = possible(op.id) if op.id is not None else None if literal is None else frozenset({literal})
        self.buffers = None if self.buffers is None or reached is None else self.buffers | reached
