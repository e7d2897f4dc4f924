"""A recorded launch as the text of a module: a function for each kind of core that it runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ptosim.cpp.event_order import works_of
from ptosim.cpp.module_text import FunctionText, KernelParameter, PlaceAliases, core_kind, module_text
from ptosim.cpp.reach import reached
from ptosim.cpp.recording import KernelRecording


@dataclass(frozen=True)
class LaunchText:
    """A recorded launch as text, and what was printed."""

    text: str
    reads: bool
    """Whether other data may change it."""
    said: tuple[tuple[int, str], ...]
    stored: frozenset[int]
    """The arguments that are stored to."""
    works: tuple[tuple[str, int], ...]
    """The pipe and the line of each operation of the file, in the order in which they first come."""


def is_one_kind(cube: KernelRecording, vectors: Sequence[KernelRecording]) -> bool:
    """Whether a kernel goes the same way on all cores: it then runs on those that its tiles say."""
    return all(cube.issues_what(each) for each in vectors)


def launch_text(
    name: str,
    target: str,
    file: str,
    parameters: Sequence[KernelParameter],
    by_core: Mapping[str, Sequence[KernelRecording]],
) -> LaunchText:
    """The text of a launch. `by_core`: "cube" or "vector", and the recording of each core of this kind in a cluster;
    one kind alone is what its tiles say."""
    places, functions, said = PlaceAliases(), list[str](), list[tuple[int, str]]()
    reads, stored, works = False, set[int](), list[tuple[str, int]]()
    for half, recordings in by_core.items():
        reads |= any(each.reads for each in recordings)
        stored |= {index for index, reach in reached(recordings).items() if reach.is_stored}
        works += (work for each in recordings for work in works_of(each, file))
        suffix = {"cube": "_aic", "vector": "_aiv"}[half] if len(by_core) > 1 else ""
        kind = half if len(by_core) > 1 else core_kind(recordings[0])
        core = "aic" if (kind or half) == "cube" else "aiv"
        said += [
            (block, f"b{block}.{core}{number if core == 'aiv' else ''}: {shown.rstrip()}")
            for each in recordings
            for block, number, shown in each.said
        ]
        function = FunctionText(name + suffix, kind, parameters, places, len(recordings))
        functions.append(function.text(recordings))
    whole = module_text(target, functions, places.aliases)
    return LaunchText(whole, reads, tuple(said), frozenset(stored), tuple(dict.fromkeys(works)))
