"""The way from an instruction to memory, and who stands beside a core.

An instruction reads and writes through the *port* of its core, and says through it what is wrong. What becomes of that
depends on the run: `Memories` has the bytes and their bounds and ends the run; a witness also tells an observer of each
access (access_witness.py) or of all those of an entry (entry_witness.py); `Shown` remembers them (watch.py), `Replay`
gives taint instead of data (replay.py), `Counted` only counts (moved_bytes.py).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Diagnostic, Severity
from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.effects.names import UB, Space
from ptosim.machine.entry import Entry, Site
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.numeric.float_lanes import Lanes
from ptosim.reference.observed.taint import Observed

if TYPE_CHECKING:
    from ptosim.reference.core import Core
    from ptosim.reference.observed.remarks import Remarks

Active = NDArray[np.bool_]
Combine = Callable[[Bytes, Bytes], Bytes]


class Atomic(NamedTuple):
    """The operation that joins memory with the value stored; the name is like "add f32"."""

    name: str
    width: int
    """Bytes of an element."""
    combine: Combine


@dataclass(frozen=True)
class Complaint:
    """Something that an instruction does and should not."""

    kind: str
    message: str
    severity: Severity = "error"
    bytes: tuple[int, int] | None = None
    site: Site | None = None
    """The place of an instruction that touches no memory; others are known."""
    hint: str | None = None
    is_fatal: bool = True
    """A run without a check ends here."""
    is_stray: bool = False
    """An access leaves GM, which hardware tolerates."""


class AccessPlace(NamedTuple):
    """The bytes of an access: `width` in a row, or pieces of that width, one at each of several starts."""

    space: Space
    starts: Any
    """An integer for bytes in a row, else `Starts`."""
    width: int
    alignment: int = 1
    at: str | None = None
    """Another core of the cluster ("aiv1") whose memory is meant."""
    in_pieces: bool = False
    """Whether there may be several starts."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its data: a row for each piece, or one dimension."""
        return (len(self.starts), self.width) if self.in_pieces else (self.width,)


class Port(Protocol):
    """All that an instruction may do to memory."""

    goes_on: bool = False
    """Whether the run goes on after an access that breaks a rule, as if the bytes outside did not exist."""
    remarks: Remarks | None = None
    """Remarks that only a check reads."""

    def read(self, place: AccessPlace, by_use: bool = False) -> Bytes:
        """Bytes of a memory, pieces as a copy, a row perhaps as a view: copy what must outlive the instruction.

        `by_use`: an unmasked vector load, whose lanes count only if they are used.
        """
        ...

    def read_numbers(self, place: AccessPlace) -> Bytes:
        """Pieces that say where others lie: a replay has them as they were."""
        return self.read(place)

    def write(
        self, place: AccessPlace, data: Bytes, active: Active | None = None, atomic: Atomic | None = None
    ) -> None:
        """Store bytes in a row, or those of them that `active` selects; or pieces, in order."""
        ...

    def say(self, complaint: Complaint) -> None: ...

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        """A register from contiguous bytes of UB, as a copy; its lanes count only if they are used."""
        return self.read(AccessPlace(UB, start, VECTOR_BYTES, GRANULE), True).copy().view(dtype)

    def store(self, start: int, value: Lanes) -> None:
        """A whole register to contiguous bytes of UB."""
        self.write(AccessPlace(UB, start, VECTOR_BYTES, GRANULE), value.view(np.uint8))

    def pattern(self, data: Bytes) -> Bytes:
        """Bytes that come from no memory, such as padding: a replay tells them from copied ones."""
        return data

    def converted(self, data: Bytes, width: int, conversion: Callable[[Bytes], Bytes]) -> Bytes:
        """Elements of `width` bytes that a copy turns into others; a replay taints each result as its element."""
        return conversion(data)


Step = Callable[[], Any]


class Witness(Port):
    """Stands beside a core whose run is observed, and tells the observer what it does."""

    def __init__(self, core: Core) -> None:
        assert core.machine.observer is not None
        self.core, self.machine, self.observer = core, core.machine, core.machine.observer
        self.memories = core.memories

    @abstractmethod
    def loop(self, indices: Iterable[int], lower: int, trips: int) -> Iterable[int]:
        """The indices of a loop that begins."""

    @abstractmethod
    def attend(self, what: Observed, arguments: tuple[Any, ...]) -> tuple[Callable[[Step], Any], Any]:
        """An instruction is queued: how to take each of its steps, and what the observer wants to know of it now."""

    @abstractmethod
    def enter(self, site: Site, scope: Step) -> Any:
        """Carry out a vector scope."""

    def priced_by(self, *numbers: int) -> None:
        """The time of the scope that is carried out depends on these."""

    def stand_at(self, site: Site) -> None:
        """The scalar unit has come to an instruction that makes no access of its own."""

    def begin_transfer(self, entry: Entry) -> None:
        """A copy in GM goes on by itself from here."""

    def report(self, complaint: Complaint, severity: Severity, entry: Entry, site: Site, loops: Iterable[int]) -> None:
        """Tell the observer what an instruction does and should not."""
        found = Diagnostic(
            complaint.kind,
            severity,
            complaint.message,
            site.location,
            hint=complaint.hint,
            core=self.machine.name,
            pipe=str(entry.pipe),
            bytes=complaint.bytes,
            block=self.machine.block,
            loops=tuple(loops),
        )
        self.observer.report(found, entry)
