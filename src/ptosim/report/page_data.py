"""The data of the HTML report, as JSON: sums as they are, the timeline as columns of small numbers.

Rows are sorted by their start and starts are written as differences, so that ten thousand events stay far below the
size of a picture of them. Very long runs are cut; the trace has everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from ptosim.diagnostics import Diagnostic
from ptosim.machine.moments import MEMORIES
from ptosim.report.access_map import access_map
from ptosim.report.envelope import installed_version
from ptosim.report.figures_used import CAVEAT, WEAK, by_origin
from ptosim.report.roofline import roofline
from ptosim.report.time_accounts import Ints, bound, column, function_facts
from ptosim.report.trace import scalar_stretches
from ptosim.timing.recording import NOTHING, PIPES, RowKind

if TYPE_CHECKING:
    from ptosim.report.comparison import Comparison
    from ptosim.report.profile import Profile

MOST_ROWS = 60_000
"""Work and waits in one page."""
MOST_STEPS = 400
"""Steps of the critical path in the table."""


def page_data(
    profile: Profile, findings: Sequence[Diagnostic] | None, comparison: Comparison | None = None
) -> dict[str, Any]:
    until = _cut(profile)
    return {
        **_figures(profile),
        **_recorded(profile),
        **_events(profile, until),
        **_tables(profile),
        "until": until,
        "source": profile.source.text,
        "findings": _findings(profile, findings),
        "comparison": None if comparison is None else {"file": comparison.second.source.name, **comparison.to_json()},
        "caveat": CAVEAT,
    }


def _figures(profile: Profile) -> dict[str, Any]:
    """The top of the page, and the machine."""
    latency = profile.target.latency
    is_text = profile.source.name.endswith(".pto")  # where names have a sign
    return {
        "kernel": profile.kernel,
        "file": profile.source.name,
        "target": profile.target.name,
        "grid": profile.grid,
        "launch": _launch(profile),
        "command": profile.subject.command or "",
        "places": profile.recording.hardware_cores,
        "cycles": profile.cycles,
        "bound": bound(profile.bounds),
        "bounds": list(profile.bounds.items()),
        "least": profile.least,
        "pipes": [str(pipe) for pipe in PIPES],
        "totals": {name: [time.busy, time.waiting, time.idle] for name, time in profile.pipes.items()},
        "hops": [latency.flag, latency.inter_core, latency.notify],
        "memories": {space: profile.target.memory[space] for space in MEMORIES if space in profile.target.memory},
        "spaces": MEMORIES,
        "buffers": [
            [MEMORIES.index(each.space), each.address, each.size, each.name if is_text else each.name.lstrip("%")]
            for each in profile.buffers
            if each.address is not None and each.size
        ],
    }


def _recorded(profile: Profile) -> dict[str, Any]:
    """Tables that rows refer to by number."""
    recording = profile.recording
    return {
        "cores": [
            {
                "name": core.name,
                "rank": core.rank,
                "begin": core.begin,
                "end": core.end,
                "pipes": [PIPES.index(pipe) for pipe in core.pipes],
            }
            for core in recording.cores
        ],
        "sites": [
            [site.title.removeprefix("pto."), site.line or 0, list(issued.names)]
            for site, issued in zip(recording.sites, recording.issued, strict=True)
        ],
        "causes": [[cause.text, recording.sites[cause.site].line or 0] for cause in recording.causes],
        "functions": [
            list(map(list, function_facts(timing, path)))
            for timing, path in zip(recording.functions, recording.paths, strict=True)
        ],
    }


def _events(profile: Profile, until: int) -> dict[str, Any]:
    """The timeline."""
    rows = _Rows(profile, until)
    return {
        "rows": rows.columns(),
        "scalar": _flat(_scalar(profile, until)),
        "signals": _signals(profile, until),
        "path": _path(profile, until),
        "touches": rows.touches(),
        "lives": _lives(profile, until),
    }


def _tables(profile: Profile) -> dict[str, Any]:
    """Sums by line, wait, transfer and so on."""
    return {
        "lines": [list(entry.to_json().values()) for entry in profile.lines],
        "waiting": [list(asdict(waiting).values()) for waiting in profile.waiting],
        "transfers": [[*asdict(transfer).values(), transfer.rate] for transfer in profile.transfers],
        "ranks": [[rank, *list(asdict(time).values())[1:]] for rank, time in profile.ranks.items()],
        "links": [list(asdict(link).values()) for link in profile.links],
        "skews": [list(asdict(skew).values()) for skew in profile.skews] if profile.ranks else [],
        "fifos": [[fifo.name.removeprefix("pto."), *list(asdict(fifo).values())[1:]] for fifo in profile.fifo_uses],
        "steps": [
            [step.line, step.name.removeprefix("pto."), step.core, step.pipe, step.activity, step.cycles, step.count]
            for step in profile.critical_path[:MOST_STEPS]
        ],
        "tiles": [
            [each.line, each.name.removeprefix("pto."), each.count, each.lane_use, each.cycles, each.sum]
            for each in profile.tile_operations
        ],
        "advice": [each.to_json() for each in profile.advice],
        "roofline": asdict(roofline(profile)),
        "units": _units(profile),
        "instructions": [
            [use.line, use.name.removeprefix("pto."), use.count, use.lane_use] for use in profile.instructions
        ],
        "access": [list(stretch) for stretch in access_map(profile)],
        "all_steps": len(profile.critical_path),
        "origins": [
            [origin, WEAK[origin], names]
            for origin, names in sorted(by_origin(profile.rests_on, profile.target).items())
        ],
    }


def _units(profile: Profile) -> list[list[Any]]:
    """Busy cycles of each unit of the vector core, and their share of the time in scopes."""
    recording = profile.recording
    busy: dict[str, float] = {}
    whole = 0
    for detail, start, end, kind in zip(
        recording.rows.detail, recording.rows.start, recording.rows.end, recording.rows.kind, strict=True
    ):
        if kind != RowKind.WORK or detail == NOTHING:
            continue
        whole += end - start
        for name, cycles in recording.functions[detail].busy.items():
            busy[name] = busy.get(name, 0) + cycles
    return [[name, round(cycles), cycles / max(1, whole)] for name, cycles in busy.items() if cycles]


def _launch(profile: Profile) -> str:
    """With which arguments, on which version."""
    told: list[str] = []
    for each in profile.subject.arguments():
        shape = "×".join(map(str, each.get("shape", ())))
        name, value = each["name"], each.get("value", "")
        told.append(f"{name}: {each['dtype']} {shape}" if shape else f"{name} = {value}")
    return " · ".join([*told, f"ptosim {installed_version()}"])


def _cut(profile: Profile) -> int:
    """The cycle up to which the page shows events."""
    starts = column(profile.recording.rows.start)
    if len(starts) <= MOST_ROWS:
        return profile.cycles
    return int(np.partition(starts, MOST_ROWS)[MOST_ROWS])


def _differences(values: Ints) -> list[int]:
    return np.diff(values, prepend=0).tolist()


def _flat(rows: Iterable[Sequence[int]]) -> list[int]:
    return [number for row in rows for number in row]


class _Rows:
    """The rows that the page shows, by the time they start, and where each of the recording went."""

    def __init__(self, profile: Profile, until: int) -> None:
        self.profile = profile
        rows = profile.recording.rows
        starts = column(rows.start)
        chosen = np.flatnonzero(starts < until)
        self.order: Ints = chosen[np.argsort(starts[chosen], kind="stable")]
        self.places = np.full(len(rows), NOTHING, np.int64)
        self.places[self.order] = np.arange(len(self.order))

    def columns(self) -> dict[str, Any]:
        rows, order = self.profile.recording.rows, self.order
        critical = {stretch.row for stretch in self.profile.path if stretch.row != NOTHING}
        picked: list[int] = order.tolist()
        return {
            "start": _differences(column(rows.start)[order]),
            "cycles": (column(rows.end) - column(rows.start))[order].tolist(),
            "core": column(rows.core)[order].tolist(),
            "pipe": column(rows.pipe)[order].tolist(),
            "site": column(rows.site)[order].tolist(),
            "wait": (column(rows.kind)[order] == RowKind.WAIT).astype(int).tolist(),
            "detail": column(rows.detail)[order].tolist(),
            "bytes": column(rows.bytes)[order].tolist(),
            "critical": [int(row in critical) for row in picked],
            "arguments": [self._arguments(row) for row in picked],
        }

    def _arguments(self, row: int) -> list[int | str] | int:
        recording = self.profile.recording
        if recording.rows.kind[row] == RowKind.WAIT or not recording.issued[recording.rows.site[row]].names:
            return 0
        return [value for _, value in self.profile.timeline.arguments(row)]

    def touches(self) -> list[int]:
        """Row, core, memory, whether it writes, first byte and length."""
        touches = self.profile.recording.touches
        places = self.places[column(touches.row)]
        low, high = column(touches.low), column(touches.high)
        where = column(touches.core), column(touches.space), column(touches.writes)
        table = np.stack([places, *where, low, high - low], axis=1)
        return table[places != NOTHING].reshape(-1).tolist()


def _scalar(profile: Profile, until: int) -> list[tuple[int, int, int]]:
    stretches = scalar_stretches(profile.recording)
    return [(core, begin, end - begin) for core, begin, end in stretches if begin < end and begin < until]


def _signals(profile: Profile, until: int) -> list[int]:
    """Time of the set (as a difference), core, pipe, site; cycles until the wait was over, core, pipe, site."""
    signals = profile.recording.signals
    times = column(signals.set_time)
    chosen = np.flatnonzero(times < until)
    order = chosen[np.argsort(times[chosen], kind="stable")]
    parts = [np.diff(times[order], prepend=0)]
    parts += [column(part)[order] for part in (signals.set_core, signals.set_pipe, signals.set_site)]
    parts.append((column(signals.wait_time) - times)[order])
    parts += [column(part)[order] for part in (signals.wait_core, signals.wait_pipe, signals.wait_site)]
    return np.stack(parts, axis=1).reshape(-1).tolist()


def _path(profile: Profile, until: int) -> list[int]:
    """Core, pipe and cycles of each stretch of the critical path; together they have no gap."""
    shown = takewhile(lambda stretch: stretch.start < until, profile.path)
    alike = groupby(shown, key=lambda stretch: (stretch.core, stretch.pipe))
    return _flat((*place, sum(stretch.end - stretch.start for stretch in members)) for place, members in alike)


def _lives(profile: Profile, until: int) -> list[int]:
    """Core, memory, first byte, length, begin and cycles of bytes in use."""
    return _flat(
        (life.core, MEMORIES.index(life.space), life.low, life.high - life.low, life.begin, life.end - life.begin)
        for life in profile.occupancy
        if life.begin < until
    )


def _findings(profile: Profile, findings: Sequence[Diagnostic] | None) -> list[Any] | None:
    """Warnings of the run and findings of a check; None where there was no check, and nothing to say."""
    if findings is None and not profile.warnings:
        return None
    return [found.to_json() for found in (*profile.warnings, *(findings or ()))]
