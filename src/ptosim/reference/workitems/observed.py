"""Workitems in a checked run: accesses, barriers, uses of tainted values, and their faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Diagnostic, Workitem
from ptosim.effects.names import GM, Space
from ptosim.machine.entry import Entry, Site
from ptosim.machine.observer import Change, Footprint, Observer, Use, WorkitemAccess
from ptosim.reference.core import Core
from ptosim.reference.memory.port import Complaint
from ptosim.reference.workitems.values import Active, LaneTaint

if TYPE_CHECKING:
    from ptosim.reference.workitems.warp import Warp

Ints = NDArray[np.int64]


class Onlooker:
    """Stands beside a launch and tells an observer."""

    def __init__(self, core: Core, observer: Observer, entry: Entry) -> None:
        self.core, self.observer, self.entry = core, observer, entry
        self._undefined: dict[Site, int] = {}

    def _owner(self, space: Space) -> Any:
        return None if space is GM else self.core.machine

    def loaded(self, warp: Warp, space: Space, starts: Ints, width: int, lanes: Ints) -> LaneTaint | None:
        """Bytes are about to be loaded: their taint, a row for each lane that loads."""
        self._access(warp, "read", space, starts, width, lanes)
        return self.seen(warp, space, starts, width)

    def seen(self, warp: Warp, space: Space, starts: Ints, width: int) -> LaneTaint | None:
        """Likewise, where this is no access that needs an order among workitems."""
        found = self.observer.load(self.entry, warp.site, Footprint(space, self._owner(space), starts, width))
        return None if found is None else np.asarray(found, np.uint8).reshape(len(starts), width)

    def stored(
        self,
        warp: Warp,
        space: Space,
        starts: Ints,
        data: NDArray[np.uint8],
        lanes: Ints,
        before: Callable[[], NDArray[np.uint8]],
        taint: NDArray[np.uint8] | None,
        atomic: str | None = None,
    ) -> None:
        """Bytes are about to be stored, or combined with what is there."""
        width = data.shape[1]
        self._access(warp, atomic or "write", space, starts, width, lanes, data)
        marks = None if taint is None or not taint.any() else taint.reshape(-1)
        change = Change(data.reshape(-1), before, marks, atomic)
        self.observer.store(self.entry, warp.site, Footprint(space, self._owner(space), starts, width), change)

    def _access(
        self,
        warp: Warp,
        kind: str,
        space: Space,
        starts: Ints,
        width: int,
        lanes: Ints,
        data: NDArray[np.uint8] | None = None,
    ) -> None:
        workitems = warp.workitems[lanes]
        self.observer.workitems(self.entry, WorkitemAccess(warp.site, kind, space, starts, width, workitems, data))

    def fenced(self, warp: Warp, active: Active) -> None:
        """Workitems order what they have done before what they do next."""
        self.observer.workitem_fence(self.entry, warp.workitems[active])

    def epoch(self) -> None:
        """All have met at a barrier, or the launch has ended."""
        self.observer.epoch(self.entry)

    def undefined(self, warp: Warp, does: str, lanes: Active) -> int:
        """The taint of a value that nothing has written, which comes from no memory."""
        return self.observer.undefined_value(self.entry, warp.site, does, warp.lowest(lanes))

    def used(self, warp: Warp, use: Use, taint: LaneTaint) -> None:
        self.observer.tainted(self.entry, warp.site, use, taint)

    def complain(self, complaint: Complaint, warp: Warp, workitem: Workitem, lanes: tuple[int, ...]) -> None:
        found = Diagnostic(
            complaint.kind,
            complaint.severity,
            complaint.message,
            warp.site.location,
            core=self.core.machine.name,
            pipe=str(self.entry.pipe),
            bytes=complaint.bytes,
            block=self.core.machine.block,
            loops=tuple(self.entry.loops),
            workitem=workitem,
            lanes=lanes,
        )
        self.observer.report(found, self.entry)
