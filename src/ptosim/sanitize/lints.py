"""Things that are legal, run, and are almost certainly not meant: rules about single instructions and about the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptosim.diagnostics import Diagnostic, Location, Related
from ptosim.effects.names import CoreKind, Pipe
from ptosim.machine.clock import clock_index
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, Kind, Site
from ptosim.machine.observer import Footprint
from ptosim.machine.tracking import diagnostic_at
from ptosim.sanitize.conflict import Findings, Party, Place
from ptosim.sanitize.window import Places, as_places

WIDE = 65_535
"""The largest count or length that fits the narrower of the two published field widths."""

UNIT = 32
SUBBLOCK_OFFSET = 16
UB_COPIES = frozenset(("pto.mte_ub_ub", "pto.copy_ubuf_to_ubuf"))
LOOP_SIZES = {"pto.copy_gm_to_ubuf": "loop_size_outtoub", "pto.copy_ubuf_to_gm": "loop_size_ubtoout"}
"""The older copies that take hardware loops from registers."""


@dataclass(frozen=True)
class _LastStore:
    """The latest copy of a pipe into GM."""

    n: int
    site: Site
    loops: tuple[int, ...]


class Lints:
    """Collects what it has to remark."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._sizes: dict[tuple[int, str], object] = {}
        self._stores: dict[tuple[int, Pipe], _LastStore] = {}
        self._cube_ids: dict[int, Location | None] = {}

    # --- when an instruction is issued --------------------------------------------------------------------------------

    def issue(self, entry: Entry) -> None:
        if entry.kind is Kind.WORK:
            facts: Mapping[str, Any] = entry.facts or {}
            if "n_burst" in facts and "len_burst" in facts:
                for kind, message in self._copy(entry, facts):
                    self.findings.diagnostic(diagnostic_at(entry, kind, message, severity="warning"))
        elif entry.key is not None and entry.key.mechanism == "semaphore" and entry.core.kind is CoreKind.AIC:
            other = entry.key.destination if entry.kind is Kind.SET else entry.key.source
            number = entry.key.id + (SUBBLOCK_OFFSET if other == "aiv1" else 0)
            self._cube_ids.setdefault(number, entry.site.location)

    def _copy(self, entry: Entry, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        rows, length = facts["n_burst"], facts["len_burst"]
        if rows == 0 or length == 0:
            yield "lint", f"copies nothing: {'no rows' if rows == 0 else 'rows of no bytes'}"
            return
        for side in ("source", "dest"):
            stride = facts.get(f"{side}_stride")
            if stride is not None and rows > 1 and 0 <= stride < length:
                yield (
                    "overlap",
                    f"the rows overlap: {rows} rows of {length} bytes, but on the {_SIDES[side]} side they lie only "
                    f"{stride} bytes apart",
                )
        if rows > WIDE or length > WIDE:
            yield "lint", f"a count or length above {WIDE}: one of the published encodings has only 16 bits for it"
        if entry.site.name in UB_COPIES:
            yield from _onto_itself(facts)
        if (register := LOOP_SIZES.get(entry.site.name)) is not None:
            yield from self._left_set(entry, facts["config"].get(register, None), register)

    def _left_set(self, entry: Entry, sizes: tuple[int, int] | None, register: str) -> Iterator[tuple[str, str]]:
        """Loop sizes that were written before an earlier copy of the same direction, and not since."""
        key = (entry.core.index, register)
        if sizes is not None and sizes != (1, 1) and self._sizes.get(key) is sizes:
            yield (
                "lint",
                f"set_{register} still says {sizes[0]}, {sizes[1]} from an earlier copy: every copy in this direction "
                "runs in these loops until they are set back to 1, 1",
            )
        self._sizes[key] = sizes

    # --- when it runs -------------------------------------------------------------------------------------------------

    def store(self, entry: Entry, site: Site, footprint: Footprint) -> None:
        if site.name == "pto.vscatter":
            starts = as_places(footprint.starts)
            twice = len(starts) - len(np.unique(starts))
            if twice:
                message = f"{twice} lanes scatter to a place that another lane of the same instruction writes as well"
                self._remark(entry, site, message, loops=tuple(entry.core.loops))

    def stored_globally(self, entry: Entry, site: Site) -> None:
        """A copy into GM."""
        if entry.pipe is not Pipe.S:
            self._stores[entry.core.index, entry.pipe] = _LastStore(entry.n, site, entry.loops)

    def order_matters(self, entry: Entry, second: Party, first: Party, place: Place, kind: str) -> None:
        where = "another block" if first.block != second.block else "another copy"
        message = f"{kind} to {place} and the same by {where} are in no order: float sums depend on it"
        self._remark(entry, second.site, message, first.site.location, place=place)

    # --- at the end ---------------------------------------------------------------------------------------------------

    def finish(self, core: Core) -> None:
        assert core.tracker is not None and core.tracker.clocks is not None
        known = core.tracker.clocks.known[0]
        for pipe, queue in core.queues.items():
            last = self._stores.pop((core.index, pipe), None)
            if last is None or not queue.issued or known.get(clock_index(core, pipe), 0) > last.n:
                continue
            entry = Entry(last.site, pipe, core, Kind.WORK)
            entry.loops = last.loops
            message = f"the kernel ends while {pipe} may still be copying: nothing waits for it"
            hint = "before the end add pto.barrier #pto.pipe<PIPE_ALL>"
            self.findings.diagnostic(diagnostic_at(entry, "lint", message, severity="warning", hint=hint))
        if core.kind is CoreKind.AIC and core.target.sync.inter_core_signal == "direct":
            self._offset_by_fifteen(core)

    def remark_on_run(self, message: str) -> None:
        self.findings.diagnostic(Diagnostic("lint", "warning", message))

    def unwritten(self, name: str, size: int, places: Places) -> None:
        """Bytes of an argument that the kernel writes elsewhere."""
        first = int(places[0])
        breaks = np.flatnonzero(np.diff(places) > 1)
        last = int(places[breaks[0]] if len(breaks) else places[-1]) + 1
        more = f" (and {len(breaks)} more stretches)" if len(breaks) else ""
        message = f"no block writes {len(places)} of the {size} bytes of %{name}, first %{name}[{first}:{last}]{more}"
        self.findings.diagnostic(Diagnostic("lint", "warning", message, bytes=(first, last)))

    def _offset_by_fifteen(self, core: Core) -> None:
        for number in sorted(self._cube_ids):
            wrong, right = number + SUBBLOCK_OFFSET - 1, number + SUBBLOCK_OFFSET
            if wrong in self._cube_ids and right not in self._cube_ids and number < SUBBLOCK_OFFSET:
                message = (
                    f"the cube core uses semaphores {number} and {wrong}, but not {right}: AIV1 is reached with an "
                    f"offset of {SUBBLOCK_OFFSET}"
                )
                place = self._cube_ids[wrong]
                self.findings.diagnostic(Diagnostic("lint", "warning", message, place, core=core.name))

    def _remark(
        self,
        entry: Entry,
        site: Site,
        message: str,
        other: Location | None = None,
        loops: tuple[int, ...] | None = None,
        place: Place | None = None,
    ) -> None:
        self.findings.diagnostic(
            Diagnostic(
                "lint",
                "warning",
                message,
                site.location,
                related=(Related(other, "the other one"),) if other else (),
                core=entry.core.name,
                pipe=str(entry.pipe),
                block=entry.core.block,
                loops=entry.loops if loops is None else loops,
                bytes=(place.low, place.high) if place else None,
            )
        )


_SIDES = {"source": "source", "dest": "destination"}


def _onto_itself(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A copy inside UB whose source and destination overlap: the direction of copying is not specified."""
    spans: list[tuple[int, int]] = []
    for side in ("source", "dest"):
        stride = (facts["len_burst"] + facts[f"{side}_gap"]) * UNIT
        spans.append((facts[side], facts[side] + (facts["n_burst"] - 1) * stride + facts["len_burst"] * UNIT))
    (first, first_end), (second, second_end) = spans
    if first < second_end and second < first_end:
        yield (
            "overlap",
            f"copies ub[{first}:{first_end}] onto ub[{second}:{second_end}], which overlaps it: the direction of "
            "copying is not specified",
        )
