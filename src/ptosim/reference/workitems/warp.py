"""A warp, the launch that it belongs to, and what a core keeps from launch to launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Workitem
from ptosim.effects.simt import HANDOVER, WARP
from ptosim.machine.entry import Site
from ptosim.machine.observer import CROSSED
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.memory.port import Complaint
from ptosim.reference.workitems.observed import Onlooker
from ptosim.reference.workitems.tally import WorkitemTally
from ptosim.reference.workitems.values import Active, LaneTaint, Values

LANES = np.arange(WARP)


class WorkitemFault(Fault):
    """An error in the code of workitems, at an operation of it."""

    def __init__(self, fault: Fault, site: Site) -> None:
        super().__init__(fault.kind, fault.message, **fault.fields)
        self.site = site


class Kept(NamedTuple):
    """A word that workitems keep: one for each, and its taint."""

    words: NDArray[np.uint32]
    taint: NDArray[np.uint8] | None
    kind: str
    """The type that was kept."""


@dataclass
class WarpLaunch:
    """One launch while it runs."""

    core: Core
    site: Site
    sizes: tuple[int, int, int]
    onlooker: Onlooker | None
    resumed: dict[int, Kept]
    """The words that the last launch has kept, by slot."""
    kept: dict[int, tuple[NDArray[np.uint32], NDArray[np.uint8]]] = field(
        default_factory=dict[int, tuple[NDArray[np.uint32], NDArray[np.uint8]]]
    )

    kinds: dict[int, str] = field(default_factory=dict[int, str])
    """The types of the words that it keeps."""
    tally: WorkitemTally | None = None
    """The counts of a timed run."""
    changes: int = 0
    """A count of all that another round of a loop may notice."""

    @property
    def count(self) -> int:
        x, y, z = self.sizes
        return x * y * z

    def workitem(self, number: int) -> Workitem:
        x, y, _ = self.sizes
        return Workitem(number, number % x, number // x % y, number // (x * y))


class Warp:
    """Up to 32 workitems in lock step. `values` and `taints` have a place for each SSA value of the body."""

    def __init__(self, launch: WarpLaunch, number: int, places: int) -> None:
        self.launch = launch
        self.core = launch.core
        self.number = number
        self.workitems = WARP * number + LANES
        self.existing: Active = self.workitems < launch.count
        self.values: list[Any] = [None] * places
        self.taints: list[Any] = [None] * places
        self.onlooker = launch.onlooker
        self.rounds = HANDOVER
        self.site = launch.site
        self.waits_at: Site | None = None
        self.arrived: Active = self.existing
        self.clocks = np.zeros(WARP, np.int64)
        self.private = PrivateMemory()
        self.brought: dict[int, tuple[int, int]] = {}
        """Place and length of the private buffers that survive the launch, by number."""

    def leave(self) -> None:
        """The launch has ended."""
        for number, (start, size) in self.brought.items():
            end = start + size
            left = self.private.data[:, start:end].copy(), self.private.taint[:, start:end].copy()
            self.core.workitems.buffers[number, self.number] = left

    @property
    def coordinates(self) -> tuple[Values, Values, Values]:
        x, y, _ = self.launch.sizes
        return self.workitems % x, self.workitems // x % y, self.workitems // (x * y)

    def lowest(self, active: Active) -> Workitem:
        """The first of those lanes."""
        return self.launch.workitem(int(self.workitems[np.argmax(active)]))

    def names(self, active: Active) -> str:
        """The workitems concerned, for a message."""
        count = int(np.count_nonzero(active))
        others = "" if count == 1 else f", the lowest of {count} in its warp"
        return f"{self.lowest(active)}{others}"

    def complain(
        self, kind: str, message: str, active: Active, extent: tuple[int, int] | None = None, is_stray: bool = False
    ) -> None:
        """These lanes do something wrong, which ends a run; a check goes on."""
        dropped = is_stray and self.core.memories.global_memory.drop
        text = f"{message}; {self.names(active)}"
        if self.onlooker is None:
            if not dropped:
                raise Fault(kind, text, bytes=extent, workitem=self.lowest(active), lanes=self.lanes(active))
            return
        complaint = Complaint(kind, text, "note" if dropped else "error", extent, is_fatal=not dropped)
        self.onlooker.complain(complaint, self, self.lowest(active), self.lanes(active))

    @staticmethod
    def lanes(active: Active) -> tuple[int, ...]:
        return tuple(int(lane) for lane in np.flatnonzero(active))

    def lint(self, message: str, active: Active) -> None:
        """Something legal and suspicious, which only a check cares for."""
        if self.onlooker is not None:
            complaint = Complaint("lint", message, "warning", is_fatal=False)
            self.onlooker.complain(complaint, self, self.lowest(active), self.lanes(active))

    def use(self, use: Any, taint: LaneTaint | None, active: Active) -> None:
        """A value decides something."""
        if taint is not None and self.onlooker is not None and (found := taint[active]).any():
            self.onlooker.used(self, use, found)


def computed(taint: LaneTaint | None) -> LaneTaint | None:
    """The taint of a result that is computed from a value, which is not only moved."""
    return None if taint is None else np.where(taint != 0, taint | np.uint8(CROSSED), np.uint8(0))


class PrivateMemory:
    """Private memory of the workitems of a warp: a row of bytes for each lane, and which are defined."""

    def __init__(self) -> None:
        self.data = np.zeros((WARP, 0), np.uint8)
        self.taint = np.zeros((WARP, 0), np.uint8)

    def allocate(self, size: int, data: NDArray[np.uint8] | None, taint: int | NDArray[np.uint8]) -> int:
        """A buffer behind those that there are; its address. Nothing lies at address 0."""
        start = self.data.shape[1] or 64
        room = np.zeros((WARP, start - self.data.shape[1]), np.uint8)
        new = np.zeros((WARP, size), np.uint8) if data is None else data
        marks = np.broadcast_to(np.asarray(taint, np.uint8), (WARP, size))
        self.data = np.concatenate([self.data, room, new], axis=1)
        self.taint = np.concatenate([self.taint, room, marks], axis=1)
        return start
