"""Lints of a whole run: legal code that is almost certainly not meant.

Single instructions that deserve a remark are remarked on by the engine, where their operands are known.
"""

from __future__ import annotations

from typing import NamedTuple

from ptosim.diagnostics import Diagnostic, Location, Related
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.edits import Edit
from ptosim.language.rules.verifier import follows_library
from ptosim.machine.clock import clock_index
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, EntryKind, Key, Site
from ptosim.machine.tracking import diagnostic_at
from ptosim.sanitize.conflict import Conflict, Findings, MemoryPlace, Party
from ptosim.sanitize.program import WrittenProgram, ancestors

SUBBLOCK_OFFSET = 16
"""From the semaphore id that means AIV0 to the one that means AIV1, on the cube core."""


class _LastStore(NamedTuple):
    """The latest copy of a pipe into GM."""

    n: int
    site: Site
    loops: tuple[int, ...]


class Lints:
    """Collects what it has to remark."""

    def __init__(self, findings: Findings, program: WrittenProgram) -> None:
        self.findings = findings
        self.program = program
        self._follows_library = follows_library(program.module.parsed.module)
        """Kernels of the library end when their copies have ended: nothing waits for these."""
        self._stores: dict[tuple[int, Pipe], _LastStore] = {}
        self._open: list[tuple[Core, Pipe, _LastStore]] = []
        """Copies that their own scalar unit has not waited for, until the other cores of the block have ended."""
        self.endings: dict[Location | None, Edit] = {}
        """For copies that nothing waits for, what would."""
        self._cube_ids: dict[int, Location | None] = {}

    # --- while it runs ------------------------------------------------------------------------------------------------

    def semaphore(self, entry: Entry, key: Key) -> None:
        if entry.core.kind is CoreKind.AIC:
            other = key.destination if entry.kind is EntryKind.SET else key.source
            number = key.id + (SUBBLOCK_OFFSET if other == "aiv1" else 0)
            self._cube_ids.setdefault(number, entry.site.location)

    def stored_globally(self, entry: Entry, site: Site) -> None:
        """A copy into GM."""
        if entry.pipe not in (Pipe.S, Pipe.V):  # a launch ends with its last store
            self._stores[entry.core.index, entry.pipe] = _LastStore(entry.n, site, entry.loops)

    def order_matters(
        self, entry: Entry, second: Party, first: Party, place: MemoryPlace, kind: str, other_kind: str | None = None
    ) -> None:
        where = "another copy"
        if (first.rank, first.block) != (second.rank, second.block):
            where = "another block" if first.rank == second.rank else f"rank {first.rank}"
        what, why = ("the same", "float sums depend") if other_kind is None else (other_kind, "what is left depends")
        message = f"{kind} to {place} and {what} by {where} are in no order: {why} on it"
        other = first.site.location
        self.findings.diagnostic(
            Diagnostic(
                "lint",
                "warning",
                message,
                second.site.location,
                related=(Related(other, "the other one"),) if other else (),
                core=entry.core.name,
                pipe=str(entry.pipe),
                block=entry.core.block,
                loops=entry.loops,
                bytes=(place.low, place.high),
            )
        )

    # --- at the end ---------------------------------------------------------------------------------------------------

    def finish(self, core: Core) -> None:
        assert core.tracker is not None and core.tracker.clocks is not None
        known = core.tracker.clocks.known[0]
        for pipe, queue in core.queues.items():
            last = self._stores.pop((core.index, pipe), None)
            if last is not None and queue.issued and known.get(clock_index(core, pipe), 0) <= last.n:
                self._open.append((core, pipe, last))
        cores = core.cluster.cores
        if all(other.ended for other in cores):
            ended = [one for one in self._open if one[0] in cores]
            self._open = [one for one in self._open if one[0].cluster is not core.cluster]
            for one in ended if not self._follows_library else ():
                self._still_copying(*one)
        if core.kind is CoreKind.AIC and core.target.sync.inter_core_signal == "direct":
            self._offset_by_fifteen(core)

    def _still_copying(self, core: Core, pipe: Pipe, last: _LastStore) -> None:
        """Another core of the block may have waited, as vector cores do for what the cube core hands them in GM."""
        index = clock_index(core, pipe)
        trackers = (other.tracker for other in core.cluster.cores if other is not core)
        clocks = (tracker.clocks for tracker in trackers if tracker is not None)
        if any(known.get(index, 0) > last.n for one in clocks if one is not None for known in one.known):
            return
        entry = Entry(last.site, pipe, core, EntryKind.WORK)
        entry.loops = last.loops
        message = f"the kernel ends while {pipe} may still be copying: nothing waits for it"
        self.findings.diagnostic(diagnostic_at(entry, "lint", message, severity="warning"))
        self._wait_at_the_end(last.site)

    def _wait_at_the_end(self, site: Site) -> None:
        """A barrier as the last instruction of the function."""
        op = self.program.operation(site.location)
        blocks = ancestors(op) if op is not None else []
        last = blocks[-1][0].last_op if blocks else None
        if last is not None:
            self.endings[site.location] = self.program.before(last, "pto.barrier #pto.pipe<PIPE_ALL>")

    def undecided(self, suspicion: Conflict) -> None:
        """There were too many suspected loads of a pair of lines to try all of them."""
        first, second = suspicion.first, suspicion.second
        assert first is not None
        message = (
            f"this and {first.site} are in no order on {suspicion.place}, more often than can be looked into: where it "
            "was looked into, the value is not used"
        )
        related = (Related(first.site.location, f"{first.pipe} {first.verb} here"),) if first.site.location else ()
        self.findings.diagnostic(Diagnostic("lint", "warning", message, second.site.location, related=related))

    def incomplete(self, name: str, allowed: int) -> None:
        """Without this remark every access to an argument has been recorded."""
        message = (
            f"the check of {name} is not complete: to tell its bytes apart would take more than {allowed >> 20} MB "
            "(twice the arguments, and 64 MB), so races on it may have been missed"
        )
        hint = "check a smaller array, or fewer blocks at a time (--blocks)"
        self.findings.diagnostic(Diagnostic("lint", "warning", message, hint=hint))

    def _offset_by_fifteen(self, core: Core) -> None:
        for number in sorted(self._cube_ids):
            wrong, right = number + SUBBLOCK_OFFSET - 1, number + SUBBLOCK_OFFSET
            paired = wrong - SUBBLOCK_OFFSET in self._cube_ids  # 0 and 16 belong together, and 1 is for AIV0 alone
            if wrong in self._cube_ids and right not in self._cube_ids and number < SUBBLOCK_OFFSET and not paired:
                message = (
                    f"the cube core uses semaphores {number} and {wrong}, but not {right}: AIV1 is reached with an "
                    f"offset of {SUBBLOCK_OFFSET}"
                )
                place = self._cube_ids[wrong]
                self.findings.diagnostic(Diagnostic("lint", "warning", message, place, core=core.name))
