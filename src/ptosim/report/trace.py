"""A profile in the Trace Event format, which Perfetto and chrome://tracing open.

A process is a core, a thread one of its pipes. Work and waits are slices, sets and waits are joined by arrows, and the
bytes of UB in use are a counter. One microsecond of the viewer is one cycle. The text is written event by event, so
that a long run does not have to fit into memory twice.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from ptosim.timing.occupancy import in_use
from ptosim.timing.recording import NOTHING, PIPES, Cause, Kind, Recording

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
    for pipe, kind, core, start, end in zip(rows.pipe, rows.kind, rows.core, rows.start, rows.end, strict=True):
        if pipe == 0 and kind == Kind.WAIT:
            yield core, moments[core], start
            moments[core] = end
    for number, core in enumerate(recording.cores):
        spent = core.pipes[PIPES[0]]
        yield number, moments[number], core.begin + spent.busy + spent.waiting


def _scalar_code(recording: Recording) -> Iterator[str]:
    for core, begin, end in scalar_stretches(recording):
        if end > begin:
            span = f'"ts":{begin},"dur":{end - begin}'
            yield f'{{"ph":"X","pid":{core},"tid":0,{span},"name":"scalar code","cat":"scalar"}}'


def _slices(profile: Profile) -> Iterator[str]:
    recording, rows = profile.recording, profile.recording.rows
    templates = [_Template(profile, number) for number in range(len(recording.sites))]
    waits = ["".join(_field(name, value) for name, value in _reason(recording, cause)) for cause in recording.causes]
    functions = [_field("path", text) + _field("limit", limit) for text, limit in _functions(recording)]
    columns = (
        rows.kind,
        rows.core,
        rows.pipe,
        rows.start,
        rows.end,
        rows.site,
        rows.detail,
        rows.bytes,
        rows.arguments,
    )
    for kind, core, pipe, start, end, site, detail, moved, first in _together(columns):
        template = templates[site]
        if kind == Kind.WAIT:
            category, about = "wait", waits[detail]
        else:
            category, about = "work", functions[detail] if detail >= 0 else template.fill(first)
        if moved:
            about = f'{about},"bytes":{moved}'
        yield (
            f'{{"ph":"X","pid":{core},"tid":{pipe},"ts":{start},"dur":{end - start},"cat":"{category}",'
            f"{template.head}{about}}}}}"
        )


def _together(columns: Sequence[array[int]]) -> Iterator[tuple[int, ...]]:
    return cast("Iterator[tuple[int, ...]]", zip(*columns, strict=True))


class _Template:
    """The arguments of one operation of the source, ready to be filled in."""

    def __init__(self, profile: Profile, number: int) -> None:
        recording = profile.recording
        site, self.names = recording.sites[number], recording.names[number]
        self.head = f'"name":{json.dumps(site.name)},"args":{{"line":{site.line or 0}'
        self.pool, self.pointer = recording.pool, profile.timeline.pointer
        self.pointers = [place for place, name in enumerate(self.names) if name in recording.pointers[number]]
        kinds = ['"%s"' if place in self.pointers else "%d" for place in range(len(self.names))]
        self.text = "".join(f",{json.dumps(name)}:{kind}" for name, kind in zip(self.names, kinds, strict=True))

    def fill(self, first: int) -> str:
        values: list[int | str] = list(self.pool[first : first + len(self.names)])
        for place in self.pointers:
            values[place] = self.pointer(self.pool[first + place])
        return self.text % tuple(values)


def _reason(recording: Recording, cause: Cause) -> Iterator[tuple[str, str | int]]:
    yield "for", cause.text
    if line := recording.sites[cause.site].line:
        yield "released at line", line


def _functions(recording: Recording) -> Iterator[tuple[str, str]]:
    for path, timing in zip(recording.paths, recording.functions, strict=True):
        yield path_text(path), timing.limit


def path_text(path: Sequence[int]) -> str:
    """The first trip counts and branches of a path."""
    return ", ".join(map(str, path[:8])) + (", ..." if len(path) > 8 else "")


def _field(name: str, value: str | int) -> str:
    return f",{json.dumps(name)}:{json.dumps(value)}"


def _arrows(recording: Recording) -> Iterator[str]:
    """From the slice that a set followed to the one that its wait let through."""
    rows, s = recording.rows, recording.signals
    names = [json.dumps(site.name) for site in recording.sites]
    columns = (s.row, s.set_core, s.set_pipe, s.set_site, s.set_time, s.wait_core, s.wait_pipe, s.wait_time)
    for number, (row, core, pipe, site, time, to_core, to_pipe, over) in enumerate(_together(columns)):
        if pipe != 0 and (row == NOTHING or rows.core[row] != core or rows.pipe[row] != pipe):
            continue  # nothing was there before it that an arrow could leave from
        moment = rows.end[row] if pipe != 0 else time
        about = f'"id":{number},"cat":"sync","name":{names[site]}'
        yield f'{{"ph":"s","pid":{core},"tid":{pipe},"ts":{moment - _INSIDE},{about}}}'
        yield f'{{"ph":"f","pid":{to_core},"tid":{to_pipe},"ts":{over},{about}}}'


def _counters(profile: Profile) -> Iterator[str]:
    for core, moment, level in in_use(profile.occupancy):
        about = f'"name":"UB bytes in flight","args":{{"bytes":{level}}}'
        yield f'{{"ph":"C","pid":{core},"tid":0,"ts":{moment},{about}}}'
