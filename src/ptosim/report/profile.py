"""Profile: what a user holds after a timed run. Its forms (terminal, JSON, trace, HTML) live beside this module."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from ptosim.diagnostics import Diagnostic, Location, Source, authored, error
from ptosim.machine.memory import decode
from ptosim.report import communication, time_accounts
from ptosim.report.communication import COLLECTIVES, Bandwidth, LinkUse, RankTime, WaitSkew
from ptosim.report.envelope import ReportSubject, envelope
from ptosim.report.figures_used import CAVEAT, UsedFigure, by_origin, weak_figures
from ptosim.report.instruction_mix import InstructionUse, instruction_mix
from ptosim.report.tile_operations import TileOperationTime, tile_operation_times
from ptosim.report.time_accounts import CoreTime, FifoUse, LineTime, PathStep, PipeTime, Transfer, Waiting
from ptosim.report.trace import write_trace
from ptosim.target import Target
from ptosim.timing.fifo_occupancy import Fifo, fifos
from ptosim.timing.kernel_path import Stretch, kernel_path
from ptosim.timing.occupancy import Life, lives
from ptosim.timing.recording import PIPES, Recording, RowKind

if TYPE_CHECKING:
    from ptosim.report.advice import Advice, SecondRun
    from ptosim.report.comparison import Comparison
    from ptosim.report.saved_profile import SavedProfile
    from ptosim.tiles.passes.memory_plan import PlacedTile

MOST_ROWS = 6000
"""The most rows of a recording that is timed again for advice;"""
MOST_COMPUTED = 150_000
"""and the most busy cycles of V: its steps are made by the reference engine, which takes a second or two for these."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a pipe did: a copy, a matrix product, a whole vector scope."""

    core: str
    pipe: str
    start: int
    end: int
    line: int | None
    name: str
    bytes: int
    arguments: Mapping[str, str | int]
    location: Location | None = None

    @property
    def cycles(self) -> int:
        return self.end - self.start


class Timeline(Sequence[Event]):
    """Events by the time they start. They are made when asked for: a run may have a million."""

    def __init__(self, recording: Recording, parameters: Mapping[int, str], kind: RowKind = RowKind.WORK) -> None:
        self.recording = recording
        self.parameters = parameters
        rows = recording.rows
        chosen = np.flatnonzero(time_accounts.column(rows.kind) == kind)
        keys = (time_accounts.column(rows.pipe), time_accounts.column(rows.core), time_accounts.column(rows.start))
        order = np.lexsort([key[chosen] for key in keys])
        self.rows: list[int] = chosen[order].tolist()

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Event: ...

    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...

    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            return [self._event(row) for row in self.rows[index]]
        return self._event(self.rows[index])

    def __iter__(self) -> Iterator[Event]:
        return map(self._event, self.rows)

    def __repr__(self) -> str:
        return f"<timeline of {len(self)} events>"

    def _event(self, row: int) -> Event:
        recording, rows = self.recording, self.recording.rows
        site = recording.sites[rows.site[row]]
        return Event(
            recording.cores[rows.core[row]].name,
            str(PIPES[rows.pipe[row]]),
            rows.start[row],
            rows.end[row],
            site.line,
            site.title,
            rows.bytes[row],
            dict(self.arguments(row)),
            site.location.shown if site.location else None,
        )

    def arguments(self, row: int) -> Iterator[tuple[str, str | int]]:
        """The operands of an entry, in words; of a wait its cause."""
        recording = self.recording
        detail = recording.rows.detail[row]
        if recording.rows.kind[row] == RowKind.WAIT:
            yield from time_accounts.reason(recording, recording.causes[detail])
            return
        pointers = recording.issued[recording.rows.site[row]].pointers
        for name, value in recording.arguments(row):
            yield name, self.pointer(value) if name in pointers else value
        if detail >= 0:
            yield from time_accounts.function_facts(recording.functions[detail], recording.paths[detail])

    def pointer(self, value: int) -> str:
        """A GM address in words: the argument it comes from, and the offset in bytes."""
        argument, offset = decode(value)
        return f"{self.parameters.get(argument, argument)} + {offset}"


class Pending(Protocol):
    """A recording that is made when it is needed."""

    totals: Recording
    """The cores alone, which are known before."""

    def __call__(self) -> Recording: ...


class Profile:
    """The cycles of a kernel on a target, where they go, and what it is bound by."""

    def __init__(
        self,
        kernel: str,
        source: Source,
        target: Target,
        grid: int,
        recording: Recording | Pending,
        parameters: Sequence[str] | Mapping[int, str] = (),
        warnings: Sequence[Diagnostic] = (),
        subject: ReportSubject | None = None,
        again: Callable[[], SecondRun | None] | None = None,
        buffers: Callable[[], Sequence[PlacedTile]] = tuple,
    ) -> None:
        self.kernel = kernel
        self._text = source
        self.source = source.authored
        """The file that the author wrote."""
        self.target = target
        self.grid = grid
        self._recording = recording
        self.parameters = dict(parameters) if isinstance(parameters, Mapping) else dict(enumerate(parameters))
        """The names of GM pointers, by number."""
        self.warnings = tuple(map(authored, warnings))
        """Accesses outside of GM, one for each line: they read zeros or write nothing, and the run goes on."""
        self.subject = replace(subject or ReportSubject(source.name), kernel=kernel, target=target.name, grid=grid)
        """The timed file."""
        self._again = again
        self._buffers = buffers

    @cached_property
    def buffers(self) -> Sequence[PlacedTile]:
        """The tiles and pointers that the bytes on the chip are named by, as `Module.plan()` has them."""
        return self._buffers()

    @cached_property
    def advice(self) -> Sequence[Advice]:
        """Changes that would make it faster, tried by timing its steps again, the one that saves most first; none of a
        long run."""
        from ptosim.report.advice import advice

        return advice(self._second_run, self.cycles, self.target) if self._second_run is not None else ()

    @cached_property
    def instructions(self) -> Sequence[InstructionUse]:
        """The instructions of vector scopes with the use of their lanes, those that executed most first; none of a
        long run."""
        return instruction_mix(self._second_run.lanes) if self._second_run is not None else ()

    @cached_property
    def _second_run(self) -> SecondRun | None:
        vector = self.pipes.get("V")
        computed = vector.busy if vector is not None else 0
        if self._again is None or computed > MOST_COMPUTED or len(self.recording.rows) > MOST_ROWS:
            return None
        return self._again()

    @cached_property
    def recording(self) -> Recording:
        """All that the run has left; made when first asked for."""
        return self._recording if isinstance(self._recording, Recording) else self._recording()

    @property
    def _totals(self) -> Recording:
        return self._recording if isinstance(self._recording, Recording) else self._recording.totals

    @property
    def cycles(self) -> int:
        """From the launch to the last completion on any core."""
        return self._totals.cycles

    @cached_property
    def cores(self) -> Mapping[str, CoreTime]:
        """By name: b0.aiv0 is a core of block 0. Its idle time lasts until the next block begins there."""
        return time_accounts.core_times(self._totals)

    @cached_property
    def ranks(self) -> Mapping[int, RankTime]:
        """By rank, where there are several: its cores, what it computed, communicated and waited."""
        return communication.rank_times(self.recording, self.cores, self.target)

    @cached_property
    def links(self) -> Sequence[LinkUse]:
        """The ways between ranks that bytes went."""
        return communication.link_uses(self.recording, self.target)

    @cached_property
    def skews(self) -> Sequence[WaitSkew]:
        """The waits for words in GM, those that ranks came to furthest apart first."""
        return communication.wait_skews(self.recording)

    def bandwidth(self, collective: str, bytes: int) -> Bandwidth:
        """Algorithm and bus bandwidth, in GB/s, of a run that is one collective over so many bytes.

        `collective` is "all-reduce", "all-gather", "reduce-scatter" or "all-to-all"; `bytes` is what each rank puts
        into it, of an all-gather what each rank gets out of it.
        """
        if collective not in COLLECTIVES:
            raise error("argument", f"a collective is one of {', '.join(COLLECTIVES)}, not {collective!r}")
        return communication.bandwidth(self.cycles, bytes, collective, max(1, len(self.ranks)), self.target)

    @cached_property
    def pipes(self) -> Mapping[str, PipeTime]:
        """Busy, waiting and idle cycles by pipe, summed over cores."""
        return time_accounts.pipe_times(self.cores)

    @property
    def bound(self) -> str:
        """The largest part of the critical path."""
        return time_accounts.bound(self.bounds)[0]

    @cached_property
    def bounds(self) -> Mapping[str, int]:
        """The cycles of the critical path by what they were spent on, `memory` by its direction."""
        return time_accounts.bounds(self.recording, self.path)

    @cached_property
    def path(self) -> list[Stretch]:
        return kernel_path(self.recording)

    @cached_property
    def critical_path(self) -> tuple[PathStep, ...]:
        """The chain of steps that the end of the kernel waited for; the steps add up to `cycles`."""
        return tuple(time_accounts.path_steps(self.recording, self.path))

    @cached_property
    def timeline(self) -> Timeline:
        return Timeline(self.recording, self.parameters)

    @cached_property
    def waits(self) -> Timeline:
        """The times at which a pipe stood at an unsatisfied wait, as events."""
        return Timeline(self.recording, self.parameters, RowKind.WAIT)

    @cached_property
    def waiting(self) -> Sequence[Waiting]:
        """The same by cause and source line, the longest first."""
        return time_accounts.waitings(self.recording)

    @cached_property
    def transfers(self) -> Sequence[Transfer]:
        """Copies, by path between memories."""
        return time_accounts.transfers(
            self.recording, {path: dma.bytes_per_cycle for path, dma in self.target.dma.items()}
        )

    @cached_property
    def fifos(self) -> Sequence[Fifo]:
        """The FIFOs between cores, one for each direction and pair of cores, with the slots in flight at any moment."""
        return fifos(self.recording)

    @cached_property
    def fifo_uses(self) -> Sequence[FifoUse]:
        """The same over all blocks: how many entries passed, and how many slots they took."""
        return time_accounts.fifo_uses(self.recording, self.fifos)

    @cached_property
    def lines(self) -> Sequence[LineTime]:
        """The lines of `source` that took time, the hottest first."""
        return time_accounts.line_times(self.recording, self.path, self._text)

    @cached_property
    def tile_operations(self) -> Sequence[TileOperationTime]:
        """On A2/A3: what each tile operation consists of there, those that took the most cycles first."""
        return tile_operation_times(self.recording) if self.target.architecture == "a2a3" else ()

    @cached_property
    def occupancy(self) -> Sequence[Life]:
        """The bytes of each memory on the chip in use, over time."""
        return lives(self.recording)

    @property
    def least(self) -> int:
        """The busy cycles of the busiest pipe, spread evenly over the cores: no overlap makes the kernel shorter."""
        return time_accounts.least_cycles(self._totals)

    @cached_property
    def rests_on(self) -> Sequence[UsedFigure]:
        """The figures behind it that were guessed, recommended, fitted, or set by the user."""
        return weak_figures(self.recording, self.target)

    # --- forms --------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return "\n\n".join([self.text(), *map(str, self.warnings)])

    def text(self, width: int = 100) -> str:
        """For a terminal of so many columns."""
        from ptosim.report.profile_text import text

        return text(self, width)

    def __repr__(self) -> str:
        unit = "cycle" if self.cycles == 1 else "cycles"
        return f"<profile of {self.kernel} on {self.target.name}: {self.cycles} {unit}, bound by {self.bound}>"

    def to_json(self) -> dict[str, Any]:
        """Plain data: the object that `ptosim profile --json` prints; the timeline is in the trace."""
        return envelope("profile", self.subject, True, self.warnings, (), self.result)

    @property
    def result(self) -> dict[str, Any]:
        """Cycles, and where they go, as plain data."""
        return {
            "cycles": self.cycles,
            "bound": self.bound,
            "bounds": dict(self.bounds),
            "least": self.least,
            "pipes": {name: asdict(time) for name, time in self.pipes.items()},
            "cores": {name: asdict(core) for name, core in self.cores.items()},
            "ranks": {str(rank): asdict(time) for rank, time in self.ranks.items()},
            "links": [asdict(link) for link in self.links],
            "skews": [asdict(skew) for skew in self.skews],
            "critical_path": [{**asdict(step), "cycles": step.cycles} for step in self.critical_path],
            "waiting": [asdict(waiting) for waiting in self.waiting],
            "transfers": [{**asdict(transfer), "rate": transfer.rate} for transfer in self.transfers],
            "fifos": [asdict(fifo) for fifo in self.fifo_uses],
            "lines": [line.to_json(self.source) for line in self.lines],
            "tile_operations": [time.to_json() for time in self.tile_operations],
            "instructions": [each.to_json() for each in self.instructions],
            "advice": [each.to_json() for each in self.advice],
            "rests_on": dict(sorted(by_origin(self.rests_on, self.target).items())),
            "caveat": CAVEAT,
        }

    def save_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the timeline in the Trace Event format, which Perfetto opens; one microsecond there is one cycle."""
        write_trace(self, path)

    def save_html(
        self,
        path: str | os.PathLike[str],
        findings: Sequence[Diagnostic] | None = None,
        comparison: Comparison | None = None,
    ) -> None:
        """Write a report that needs no network; warnings, and `findings` of a check, are shown in it, and what differs
        from another profile."""
        from ptosim.report.html import page

        with open(path, "w", encoding="utf-8") as file:
            file.write(page(self, findings, comparison))

    def _repr_html_(self) -> str:
        from ptosim.report.html import frame

        return frame(self)

    def compare(self, other: Profile | SavedProfile) -> Comparison:
        """This profile beside another one, of a variant of the kernel, on another target, or saved with --json."""
        from ptosim.report.comparison import Comparison

        return Comparison(self, other)
