"""A profile in the Trace Event format, which Perfetto and chrome://tracing open.

A process is a core, a thread one of its pipes. Work and waits are slices, sets and waits are joined by arrows, and the
bytes of UB in use are a counter. One microsecond of the viewer is one cycle. The text is written event by event, so
that a long run does not have to fit into memory twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from ptosim.timing.occupancy import in_use
from ptosim.timing.recording import NOTHING, PIPES, Kind, Recording

if TYPE_CHECKING:
    from ptosim.report.profile import Profile

_CHUNK = 10_000
_INSIDE = 0.5
"""An arrow that leaves a slice must begin inside it: half a cycle before its end."""


def write_trace(profile: Profile, path: str | os.PathLike[str]) -> None:
    """Write the file."""
    about = {
        "kernel": profile.kernel,
        "target": profile.target.name,
        "cycles": profile.cycles,
        "unit": "1 us is 1 cycle",
    }
    events = _events(profile)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{"displayTimeUnit":"ms","otherData":{json.dumps(about)},"traceEvents":[\n')
        separator = ""
        while chunk := list(islice(events, _CHUNK)):
            file.write(separator + ",\n".join(chunk))
            separator = ",\n"
        file.write("\n]}\n")


def _events(profile: Profile) -> Iterator[str]:
    yield from _tracks(profile.recording)
    yield from _scalar_code(profile.recording)
    yield from _slices(profile)
    yield from _arrows(profile.recording)
    yield from _counters(profile)


def _tracks(recording: Recording) -> Iterator[str]:
    for number, core in enumerate(recording.cores):
        yield _meta(number, 0, "process_name", {"name": core.name})
        yield _meta(number, 0, "process_sort_index", {"sort_index": number})
        for pipe in core.pipes:
            track = PIPES.index(pipe)
            yield _meta(number, track, "thread_name", {"name": str(pipe)})
            yield _meta(number, track, "thread_sort_index", {"sort_index": track})


def _meta(process: int, thread: int, name: str, about: dict[str, Any]) -> str:
    return f'{{"ph":"M","pid":{process},"tid":{thread},"name":"{name}","args":{json.dumps(about)}}}'


def scalar_stretches(recording: Recording) -> Iterator[tuple[int, int, int]]:
    """Core, begin and end of what its scalar unit did between two waits of its own."""
    rows = recording.rows
    moments = [core.begin for core in recording.cores]
    for row in range(len(rows)):
        if rows.pipe[row] == 0 and rows.kind[row] == Kind.WAIT:
            core = rows.core[row]
            yield core, moments[core], rows.start[row]
            moments[core] = rows.end[row]
    for number, core in enumerate(recording.cores):
        spent = core.pipes[PIPES[0]]
        yield number, moments[number], core.begin + spent.busy + spent.waiting


def _scalar_code(recording: Recording) -> Iterator[str]:
    for core, begin, end in scalar_stretches(recording):
        if end > begin:
            span = f'"ts":{begin},"dur":{end - begin}'
            yield f'{{"ph":"X","pid":{core},"tid":0,{span},"name":"scalar code","cat":"scalar"}}'


def _slices(profile: Profile) -> Iterator[str]:
    recording, rows, timeline = profile.recording, profile.recording.rows, profile.timeline
    heads = [f'"name":{json.dumps(site.name)},"args":{{"line":{site.line or 0}' for site in recording.sites]
    for row in range(len(rows)):
        start = rows.start[row]
        about = "".join([f',"{name}":{_value(value)}' for name, value in timeline.arguments(row)])
        if moved := rows.bytes[row]:
            about += f',"bytes":{moved}'
        category = "work" if rows.kind[row] == Kind.WORK else "wait"
        yield (
            f'{{"ph":"X","pid":{rows.core[row]},"tid":{rows.pipe[row]},"ts":{start},"dur":{rows.end[row] - start},'
            f'"cat":"{category}",{heads[rows.site[row]]}{about}}}}}'
        )


def _value(value: str | int) -> str:
    return str(value) if isinstance(value, int) else json.dumps(value)


def _arrows(recording: Recording) -> Iterator[str]:
    """From the slice that a set followed to the one that its wait let through."""
    rows, signals = recording.rows, recording.signals
    names = [json.dumps(site.name) for site in recording.sites]
    for number in range(len(signals)):
        row, core, pipe = signals.row[number], signals.set_core[number], signals.set_pipe[number]
        if pipe == 0:
            moment = signals.set_time[number] - _INSIDE
        elif row != NOTHING and rows.core[row] == core and rows.pipe[row] == pipe:
            moment = rows.end[row] - _INSIDE
        else:
            continue  # nothing was there before it that an arrow could leave from
        about = f'"id":{number},"cat":"sync","name":{names[signals.set_site[number]]}'
        yield f'{{"ph":"s","pid":{core},"tid":{pipe},"ts":{moment},{about}}}'
        core, pipe = signals.wait_core[number], signals.wait_pipe[number]
        yield f'{{"ph":"f","pid":{core},"tid":{pipe},"ts":{signals.wait_time[number]},{about}}}'


def _counters(profile: Profile) -> Iterator[str]:
    for core, moment, level in in_use(profile.occupancy):
        about = f'"name":"UB bytes in flight","args":{{"bytes":{level}}}'
        yield f'{{"ph":"C","pid":{core},"tid":0,"ts":{moment},{about}}}'
