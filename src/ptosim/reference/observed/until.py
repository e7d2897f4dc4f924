"""A run that stops before a line: what registers, memories and queues hold there."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from ptosim.effects.element import Element
from ptosim.effects.names import Pipe, Space
from ptosim.language.text.parser import ParsedModule
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.numeric.mask import Mask
from ptosim.reference.observed.taint import Observed
from ptosim.reference.observed.watch import WatchedValue, element_of_value

_VARIABLE = re.compile(r"r\d+")


@dataclass(frozen=True)
class StoppedState:
    """The state of a core, copied."""

    core: str
    site: Site
    loops: tuple[int, ...]
    occurrence: int
    registers: Mapping[str, WatchedValue]
    """By name."""
    memory: Mapping[str, NDArray[np.uint8]]
    """By the name of a memory of the chip, and of each argument."""
    queues: Mapping[str, tuple[str, ...]]
    """By pipe: what was issued and has not ended."""


class ReachedLine(Exception):
    """Unwinds a run that has come to the line."""

    def __init__(self, state: StoppedState) -> None:
        self.state = state


@dataclass
class Until:
    """The place to stop: takes the place of a watch (watch.py)."""

    line: int
    occurrence: int = 1
    core: str | None = None
    counts: dict[str, int] = field(default_factory=dict[str, int])
    """By core: how often the line was reached."""
    firsts: dict[int, _StopBefore] = field(default_factory=dict[int, "_StopBefore"])
    """The operation of the line that counts, by the variables of a program."""
    inside: dict[str, FrameType | None] = field(default_factory=dict[str, FrameType | None])
    """By core: the scope in which the line was reached last."""

    def wants(self, site: Site) -> bool:
        return site.line == self.line

    def operation(self, parsed: ParsedModule, op: Operation, site: Site, names: Mapping[SSAValue, str]) -> _StopBefore:
        """Stands before an operation of the line. For a kind of core the first that is translated counts; where a pipe
        executes one, the first of these."""
        stop = _StopBefore(self, parsed, op, site, names)
        before = self.firsts.setdefault(id(names), stop)
        if before.site.pipe is Pipe.S and site.pipe is not Pipe.S:
            self.firsts[id(names)] = stop
        return stop

    def arrive(self, core: Core, stop: _StopBefore, frame: FrameType | None) -> None:
        name = core.machine.name
        if self.core not in (None, name) or self.firsts[id(stop.names)] is not stop:
            return
        if stop.site.served:  # a loop of the scope that a tile operation has become is one execution of its line
            scope = _scope(frame)
            if scope is not None and self.inside.get(name) is scope:
                return
            self.inside[name] = scope
        self.counts[name] = self.counts.get(name, 0) + 1
        if self.counts[name] == self.occurrence:
            raise ReachedLine(_state(core, stop, frame, self.occurrence))


@dataclass(frozen=True, eq=False)
class _StopBefore:
    """An operation of the line; the translated code calls these methods around it."""

    until: Until
    parsed: ParsedModule
    op: Operation
    site: Site
    names: Mapping[SSAValue, str]

    def shown(self, core: Core) -> Core:
        self.until.arrive(core, self, _caller())
        return core

    def done(self, shown: Core, operands: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        """The instruction has executed, and the run goes on."""

    def queued(self, core: Core, what: Observed, operands: tuple[Any, ...]) -> Observed:
        function, frame = what.function, _caller()

        def act(*arguments: Any) -> Any:
            self.until.arrive(core, self, frame)
            return function(*arguments)

        def copy(*arguments: Any) -> Iterator[None]:
            self.until.arrive(core, self, frame)
            yield from function(*arguments)

        return replace(what, function=copy if inspect.isgeneratorfunction(function) else act)


def _caller() -> FrameType | None:
    """The frame of the translated code."""
    frame = inspect.currentframe()
    return frame.f_back.f_back if frame is not None and frame.f_back is not None else None


def _scope(frame: FrameType | None) -> FrameType | None:
    """The frame of the vector scope around translated code."""
    found = None
    while frame is not None and frame.f_code.co_filename.startswith("<ptosim "):
        found = frame if frame.f_code.co_name.startswith(("scope_", "inner_")) else found
        frame = frame.f_back
    return found


def _state(core: Core, stop: _StopBefore, frame: FrameType | None, occurrence: int) -> StoppedState:
    machine = core.machine
    queues = {
        str(pipe): tuple(_entry(each.site) for each in (*queue.unended.values(), *queue.entries))
        for pipe, queue in machine.queues.items()
        if not queue.idle
    }
    memory: dict[str, NDArray[np.uint8]] = {
        space.value: core.memories.own[space].copy() for space in (*Space,) if space in core.memories.own
    }
    regions, buffers = core.memories.global_memory.regions.all, core.memories.global_memory.buffers
    memory |= {region.name: buffers[number].copy() for number, region in regions.items()}
    loops, registers = core.indices(frame), _registers(stop, frame)
    return StoppedState(machine.name, stop.site, loops, occurrence, registers, memory, queues)


def _entry(site: Site) -> str:
    return f"{site.title}, line {site.line}" if site.line is not None else site.title


def _registers(stop: _StopBefore, frame: FrameType | None) -> dict[str, WatchedValue]:
    """The values that the translated code around holds, by their names in the text."""
    named = {variable: value for value, variable in stop.names.items() if _VARIABLE.fullmatch(variable)}
    held: dict[str, WatchedValue] = {}
    while frame is not None and frame.f_code.co_filename.startswith("<ptosim "):
        for variable, content in frame.f_locals.items():
            value = named.get(variable)
            name = stop.parsed.named(value) if value is not None else None
            if value is None or not name or name in held or not _is_value(content):
                continue
            element: Element | None = element_of_value(value.type)
            held[name] = WatchedValue("", name, str(value.type), element, _copied(content))
        frame = frame.f_back
    return held


def _is_value(content: Any) -> bool:
    return isinstance(content, int | np.ndarray | np.generic | Mask)


def _copied(content: Any) -> Any:
    return cast("NDArray[Any]", content).copy() if isinstance(content, np.ndarray) else content
