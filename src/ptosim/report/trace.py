"""A profile in the Trace Event format, which Perfetto and chrome://tracing open.

A process is a core, a thread one of its pipes; where there are several ranks a process is a rank, a thread a pipe of
one of its cores, and what goes from rank to rank is a counter. Work and waits are slices, sets and waits are joined by
arrows, and the bytes of UB in use and the slots of FIFOs that are full are counters. One microsecond of the viewer is
one cycle. The text is written event by event, so that a long run does not have to fit into memory twice.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from ptosim.report.communication import link_levels
from ptosim.report.time_accounts import function_facts, reason
from ptosim.timing.occupancy import in_use
from ptosim.timing.recording import PIPES, Recording, RowKind

if TYPE_CHECKING:
    from ptosim.report.profile import Profile

_CHUNK = 10_000
_THREADS = 16
"""Numbers of threads that a core has."""
_INSIDE = 0.5
"""An arrow belongs to the slices that its ends lie inside: half a cycle from their edges."""


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
    recording = profile.recording
    places = _Places(recording)
    yield from _tracks(recording, places)
    yield from _scalar_code(recording, places)
    yield from _slices(profile, places)
    yield from _arrows(recording, places)
    yield from _counters(profile, places)
    yield from _links(recording)


class _Places:
    """For each core its process, and the number of its first thread: the thread of a pipe is so many further on."""

    def __init__(self, recording: Recording) -> None:
        """A core is a process, unless there are ranks."""
        self.process = [number if core.rank is None else core.rank for number, core in enumerate(recording.cores)]
        self.first: list[int] = []
        members: Counter[int] = Counter()
        for process in self.process:
            self.first.append(_THREADS * members[process])
            members[process] += 1

    def at(self, core: int, pipe: int) -> str:
        return f'"pid":{self.process[core]},"tid":{self.first[core] + pipe}'


def _tracks(recording: Recording, places: _Places) -> Iterator[str]:
    named: set[int] = set()
    for number, core in enumerate(recording.cores):
        process = places.process[number]
        if process not in named:
            named.add(process)
            yield _meta(process, 0, "process_name", {"name": core.name if core.rank is None else f"rank {core.rank}"})
            yield _meta(process, 0, "process_sort_index", {"sort_index": process})
        head = "" if core.rank is None else f"{core.name.partition('.')[2]} "
        for pipe in core.pipes:
            track = places.first[number] + PIPES.index(pipe)
            yield _meta(process, track, "thread_name", {"name": f"{head}{pipe}"})
            yield _meta(process, track, "thread_sort_index", {"sort_index": track})


def _meta(process: int, thread: int, name: str, about: dict[str, Any]) -> str:
    return f'{{"ph":"M","pid":{process},"tid":{thread},"name":"{name}","args":{json.dumps(about)}}}'


def scalar_stretches(recording: Recording) -> Iterator[tuple[int, int, int]]:
    """Core, begin and end of a stretch of its scalar unit between two waits of its own."""
    rows = recording.rows
    moments = [core.begin for core in recording.cores]
    for pipe, kind, core, start, end in zip(rows.pipe, rows.kind, rows.core, rows.start, rows.end, strict=True):
        if pipe == 0 and kind == RowKind.WAIT:
            yield core, moments[core], start
            moments[core] = end
    for number, core in enumerate(recording.cores):
        spent = core.pipes[PIPES[0]]
        yield number, moments[number], core.begin + spent.busy + spent.waiting


def _scalar_code(recording: Recording, places: _Places) -> Iterator[str]:
    for core, begin, end in scalar_stretches(recording):
        if end > begin:
            span = f'"ts":{begin},"dur":{end - begin}'
            yield f'{{"ph":"X",{places.at(core, 0)},{span},"name":"scalar code","cat":"scalar"}}'


def _slices(profile: Profile, places: _Places) -> Iterator[str]:
    recording = profile.recording
    templates = [_Template(profile, number) for number in range(len(recording.sites))]
    waits = ["".join(_field(name, value) for name, value in reason(recording, cause)) for cause in recording.causes]
    functions = [
        "".join(_field(*fact) for fact in function_facts(timing, path))
        for path, timing in zip(recording.paths, recording.functions, strict=True)
    ]
    for kind, _, pipe, core, site, _, start, end, detail, moved, first in recording.rows:
        template = templates[site]
        if kind == RowKind.WAIT:
            category, about = "wait", waits[detail]
        else:
            category, about = "work", functions[detail] if detail >= 0 else template.fill(first)
        if moved:
            about = f'{about},"bytes":{moved}'
        yield (
            f'{{"ph":"X",{places.at(core, pipe)},"ts":{start},"dur":{end - start},"cat":"{category}",'
            f"{template.head}{about}}}}}"
        )


class _Template:
    """The arguments of one operation of the source, ready to be filled in."""

    def __init__(self, profile: Profile, number: int) -> None:
        recording = profile.recording
        site, issued = recording.sites[number], recording.issued[number]
        self.names = issued.names
        self.head = f'"name":{json.dumps(site.title)},"args":{{"line":{site.line or 0}'
        self.pool, self.pointer = recording.pool, profile.timeline.pointer
        self.pointers = [place for place, name in enumerate(self.names) if name in issued.pointers]
        kinds = ['"%s"' if place in self.pointers else "%d" for place in range(len(self.names))]
        self.text = "".join(f",{json.dumps(name)}:{kind}" for name, kind in zip(self.names, kinds, strict=True))

    def fill(self, first: int) -> str:
        values: list[int | str] = list(self.pool[first : first + len(self.names)])
        for place in self.pointers:
            values[place] = self.pointer(self.pool[first + place])
        return self.text % tuple(values)


def _field(name: str, value: str | int) -> str:
    return f",{json.dumps(name)}:{json.dumps(value)}"


def _arrows(recording: Recording, places: _Places) -> Iterator[str]:
    """From every set to its wait. An arrow is bound to the slices that its ends lie in; where a pipe did nothing at the
    time, the set or the wait gets a slice of its own, a cycle long."""
    heads = [f'"name":{json.dumps(site.title)},"args":{{"line":{site.line or 0}}}' for site in recording.sites]
    names = [json.dumps(site.title) for site in recording.sites]
    tracks = _Tracks(recording)
    marked: set[tuple[int, int, int]] = set()
    for number, (core, pipe, site, time, to_core, to_pipe, wait, over, _) in enumerate(recording.signals):
        reached = tracks.reached(to_core, to_pipe, wait, over)
        bare = [] if tracks.covered(core, pipe, time) else [((core, pipe, time), site)]
        bare += [((to_core, to_pipe, over), wait)] if reached is None else []
        for place, at in bare:
            if place not in marked:
                marked.add(place)
                yield _mark(places.at(*place[:2]), place[2], heads[at])
        about = f'"id":{number},"cat":"sync","name":{names[site]}'
        yield f'{{"ph":"s",{places.at(core, pipe)},"ts":{time - _INSIDE},{about}}}'
        end = over - _INSIDE if reached is None else reached
        yield f'{{"ph":"f","bp":"e",{places.at(to_core, to_pipe)},"ts":{end},{about}}}'


def _mark(place: str, time: int, head: str) -> str:
    return f'{{"ph":"X",{place},"ts":{time - 1},"dur":1,"cat":"signal",{head}}}'


class _Tracks:
    """The slices of each pipe, to find the one that an arrow belongs to. A scalar unit has one at any time."""

    def __init__(self, recording: Recording) -> None:
        rows = recording.rows
        self.slices: dict[tuple[int, int], tuple[list[int], list[int], list[int]]] = {}
        for core, pipe, start, end, site in zip(rows.core, rows.pipe, rows.start, rows.end, rows.site, strict=True):
            if end > start:
                starts, ends, sites = self.slices.setdefault((core, pipe), ([], [], []))
                starts.append(start)
                ends.append(end)
                sites.append(site)

    def covered(self, core: int, pipe: int, time: int) -> bool:
        """Whether something was going on in the cycle before this moment."""
        if pipe == 0:
            return True
        starts, ends, _ = self.slices.get((core, pipe), ([], [], []))
        place = bisect_left(starts, time)
        return place > 0 and ends[place - 1] >= time

    def reached(self, core: int, pipe: int, site: int, over: int) -> float | None:
        """A moment inside the wait that was over then, or in the next entry of the pipe; None where there is neither.

        Of several waits in a row that nothing follows, only one may have held the pipe: then that is reached by all.
        """
        if pipe == 0:
            return over - _INSIDE
        starts, ends, sites = self.slices.get((core, pipe), ([], [], []))
        place = bisect_left(starts, over)
        if place and ends[place - 1] == over and (sites[place - 1] == site or place == len(starts)):
            return over - _INSIDE
        return starts[place] + _INSIDE if place < len(starts) else None


def _counters(profile: Profile, places: _Places) -> Iterator[str]:
    cores = profile.recording.cores
    for core, moment, level in in_use(profile.occupancy):
        whose = "" if cores[core].rank is None else f"{cores[core].name.partition('.')[2]}: "
        about = f'"name":"{whose}UB bytes in flight","args":{{"bytes":{level}}}'
        yield f'{{"ph":"C",{places.at(core, 0)},"ts":{moment},{about}}}'
    for fifo in profile.fifos:
        assert fifo.push is not None
        title = f"{fifo.push.title} of {profile.recording.cores[fifo.source].name}: slots in flight"
        for moment, level in fifo.levels():
            about = f'"name":{json.dumps(title)},"args":{{"slots":{level}}}'
            yield f'{{"ph":"C",{places.at(fifo.dest, 0)},"ts":{moment},{about}}}'


def _links(recording: Recording) -> Iterator[str]:
    """Traffic to other ranks, at the rank that it comes from."""
    for (source, dest), levels in link_levels(recording).items():
        for moment, level in levels:
            about = f'"name":"link to rank {dest}: bytes per cycle","args":{{"bytes":{level}}}'
            yield f'{{"ph":"C","pid":{source},"tid":0,"ts":{moment},{about}}}'
