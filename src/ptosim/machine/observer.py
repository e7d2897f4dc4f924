"""The observer protocol of a run: `sanitize` and `timing` derive from `Observer`.

Without an observer none of this is called and no entry is numbered. The scheduler calls the first group, the engine's
memory and register machinery the second. Events of one pipe come in its own order; `issue` events of one core in
program order. An observer must keep no entry for good: entries know their clock and, through `consumed`, one generation
of sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from ptosim.diagnostics import Diagnostic, PTOError, Workitem
from ptosim.effects.names import Space

if TYPE_CHECKING:
    from ptosim.machine.core import Core
    from ptosim.machine.deadlock import Deadlock
    from ptosim.machine.entry import Clock, Entry, Site

Use = Literal["mask", "address", "condition", "operand", "scalar"]

Closeness = Literal["entries", "accesses"]
"""The detail that an observer asks for. At "entries" accesses are told when their entry ends, those of one length
together, without a `Change`; taint is not carried, and the scalar unit's own accesses are left out."""

DECIDED = 0x80
"""The bit of a taint number that says: a tainted mask or lane number has decided the value."""
CROSSED = 0x40
"""The bit of a taint number that says: the value comes from other lanes (the fact `crosses` of effects/record.py)."""
ORIGIN = 0xFF & ~(DECIDED | CROSSED)
"""The bits that are left for the origin."""

FEW = 256
"""Numbers that are told apart one by one: those of a register."""


def distinct(numbers: Any) -> list[int]:
    """The numbers of an array that occur, in order. Of few a set is much quicker than sorting them."""
    if numbers.size <= FEW:
        return sorted(set(numbers.tobytes() if numbers.dtype.char == "B" else numbers.ravel().tolist()))
    ordered = numbers.flatten()
    ordered.sort(kind="stable")  # by counting where numbers are bytes, by runs otherwise
    return [int(ordered[0]), *ordered[1:][ordered[1:] != ordered[:-1]].tolist()]


class Footprint(NamedTuple):
    """The bytes of one access: pieces of `width` bytes at `starts`: an integer, a range, or a one-dimensional array
    of them, at "entries" a list.

    `owner` is the core whose memory it is (the UB of AIV1 may be written by the AIC); None for GM. A GM address is the
    integer form of a GM pointer. Taint and data are arrays of one byte per byte touched, piece after piece; taint is
    None when clean.
    """

    space: Space
    owner: Core | None
    starts: Any
    width: int


class Change(NamedTuple):
    """The fate of the bytes of a store."""

    data: Any
    before: Any
    """A function: what they are now."""
    taint: Any = None
    atomic: str | None = None
    """Operation and type of an atomic update ("add f32")."""


class WorkitemAccess(NamedTuple):
    """Bytes that one instruction of a warp touches: `width` bytes at each of `starts`, by the workitems of these
    numbers."""

    site: Site
    kind: str
    """read, write, or the operation and type of an atomic update."""
    space: Space
    starts: Any
    width: int
    workitems: Any
    data: Any = None
    """A row for each start: what is stored, or combined with what is there."""


class Quick(Protocol):
    """The quick way past an observer for the accesses of one vector scope to UB: most of them are of no interest.

    Only accesses that lie in UB go this way.
    """

    def load(self, site: Site, start: int, width: int) -> bool:
        """Note a load of clean bytes; false where `Observer.load` has to be asked."""
        ...

    def store(self, site: Site, start: int, width: int) -> bool:
        """Note a store of clean bytes; false where `Observer.store` has to be told."""
        ...


class Observer:
    """Everything that can be observed. This one overlooks all but errors, which stop the run as they do without an
    observer; derive from it and override what you need."""

    wants_clocks = False
    closeness: Closeness = "accesses"
    inline = False
    """Compiled code goes on by itself where it can, and keeps what its flags tell: only what it hands over is told."""

    # --- from the scheduler -------------------------------------------------------------------------------------------

    def begin(self, core: Core) -> None:
        """The SU of this core is about to run its program."""

    def issue(self, entry: Entry) -> None:
        """The SU has appended the entry to its pipe: number, loop indices and, at "entries", facts are known."""

    def start(self, entry: Entry) -> None:
        """The pipe begins with it, after any wait: clock and consumed sets are known. Steps of the SU start at once."""

    def end(self, entry: Entry) -> None:
        """It has ended; a set has fired. `payload` is still there."""

    def finish(self, core: Core) -> None:
        """The SU has returned and every pipe of the core is empty."""

    def report(self, diagnostic: Diagnostic, entry: Entry) -> None:
        """A rule of the synchronisation protocol was broken by this entry, which is then ignored or let through."""
        if diagnostic.severity == "error":
            raise PTOError(diagnostic)

    def deadlock(self, deadlock: Deadlock) -> None:
        """Nothing can go on. The run ends when this returns."""
        raise deadlock.error()

    # --- from the engine ----------------------------------------------------------------------------------------------

    def inside(self, entry: Entry) -> Quick | None:
        """A vector scope begins: whom to ask first about its accesses."""
        return None

    def load(self, entry: Entry, site: Site, footprint: Footprint, by_use: bool = False) -> Any:
        """Bytes are about to be read; returns their taint or None. `by_use`: lanes of an unmasked vector load, which
        count only if they are used."""
        return None

    def store(self, entry: Entry, site: Site, footprint: Footprint, change: Change | None = None) -> None:
        """Bytes are about to be written."""

    def fence(self, entry: Entry, site: Site, kind: str) -> None:
        """A mem_bar of this kind inside the vector scope."""

    def launches(self, entry: Entry, sizes: tuple[int, int, int]) -> None:
        """A launch of workitems of these dimensions begins."""

    def workitems(self, entry: Entry, access: WorkitemAccess) -> None:
        """An instruction of a warp touches memory; `load` and `store` are told of it as well."""

    def workitem_fence(self, entry: Entry, workitems: Any) -> None:
        """These workitems of a launch have come to a fence."""

    def epoch(self, entry: Entry) -> None:
        """All workitems of a launch have met at a barrier, or it has ended."""

    def undefined_value(self, entry: Entry, site: Site, does: str, workitem: Workitem) -> int:
        """The taint of a value that nothing has written and that comes from no memory. `does`: how the lowest workitem
        comes by it, such as `resumes slot 3`."""
        return 0

    def touched(self, core: Core, footprint: Footprint) -> Clock:
        """By the index of each pipe of a core: how many of its entries, up to the last that touched these bytes."""
        return {}

    def cleaned(self, core: Core, address: int | None) -> None:
        """The scalar unit has cleaned and invalidated the line of a GM address in its cache, or (None) all lines."""

    def tainted(self, entry: Entry, site: Site, use: Use, taint: Any) -> None:
        """A tainted value decides a mask, an address or a branch, or enters a matrix product within its bounds."""
