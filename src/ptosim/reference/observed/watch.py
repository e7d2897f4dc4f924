"""Watching chosen lines of a kernel: each time one executes, its operands, its results and the bytes it touches.

The translator writes extra calls for those lines only, so that a run without them costs nothing. What is seen is told
as plain values; how it looks on a terminal is the business of report/.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute, Operation, SSAValue

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.language.operation import PTOOperation
from ptosim.language.text.parser import ParsedModule
from ptosim.language.tile.tile_types import LocalArrayType, StructType
from ptosim.language.types import AlignType, MaskType, element_of
from ptosim.machine.entry import Site
from ptosim.reference.catalogue import semantics_of
from ptosim.reference.core import Core
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.memory.port import AccessPlace, Active, Atomic, Complaint, Port
from ptosim.reference.observed.taint import Observed


@dataclass(frozen=True)
class WatchedValue:
    """An operand or result: registers are arrays of lanes, scalar floats their bit pattern, pointers addresses, arrays
    and structures of scalars lists."""

    role: str
    name: str
    type: str
    element: Element | None
    """The element of a register, pointer, array or scalar; None for masks, align values and structures."""
    value: Any


@dataclass(frozen=True)
class WatchedAccess:
    """Pieces of one length that were read or written, with the bytes they hold."""

    verb: Literal["reads", "writes"]
    space: Space
    core: str
    """Whose memory it is, where it is on the chip."""
    starts: NDArray[np.int64]
    data: Bytes
    """One row for each piece; of a masked store only the bytes that were written."""


@dataclass(frozen=True)
class Execution:
    """One execution of a watched instruction."""

    site: Site
    core: str
    loops: tuple[int, ...]
    operands: tuple[WatchedValue, ...]
    results: tuple[WatchedValue, ...]
    accesses: tuple[WatchedAccess, ...]
    arguments: Mapping[int, str]
    """The kernel arguments that GM addresses refer to, by number."""


@dataclass
class Watch:
    """The lines to tell of, and how often each at most (None: always)."""

    lines: Mapping[int, int | None]
    tell: Callable[[Execution], None]
    workitems: Mapping[int, int] = field(default_factory=dict[int, int])
    """By line the workitem that is meant, where one is."""
    told: dict[int, int] = field(default_factory=dict[int, int])

    def wants(self, site: Site) -> bool:
        return site.line in self.lines

    def operation(
        self, parsed: ParsedModule, op: Operation, site: Site, names: Mapping[SSAValue, str]
    ) -> WatchedOperation:
        """The code around an operation of these lines; `names` are the variables of the translated code."""
        return WatchedOperation(self, parsed, op, site)

    def executed(self, execution: Execution) -> None:
        line = execution.site.line or 0
        limit, count = self.lines[line], self.told.get(line, 0)
        if limit is None or count < limit:
            self.told[line] = count + 1
            self.tell(execution)


@dataclass(frozen=True, eq=False)
class WatchedOperation:
    """An operation on a watched line. The translated code calls these methods around it."""

    watch: Watch
    parsed: ParsedModule
    op: Operation
    site: Site

    def shown(self, core: Core) -> ShownPort:
        """The port of the core while the instruction executes."""
        shown = ShownPort(core, core.port)
        core.use(shown)
        return shown

    def done(self, shown: ShownPort, operands: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        """The instruction has executed, in a vector scope or on the scalar unit."""
        shown.core.use(shown.port)
        self._tell(shown, shown.core.indices(inspect.currentframe()), operands, results)

    def queued(self, core: Core, what: Observed, operands: tuple[Any, ...]) -> Observed:
        """An instruction that a pipe executes later; operands and place are those of its issue."""
        loops, shown, function = core.indices(inspect.currentframe()), ShownPort(core, core.port), what.function

        def act(*arguments: Any) -> None:
            core.through(shown, partial(function, *arguments))
            self._tell(shown, loops, operands, ())

        def copy(*arguments: Any) -> Iterator[None]:
            half = partial(next, function(*arguments), None)
            core.through(shown, half)
            yield
            core.through(shown, half)
            self._tell(shown, loops, operands, ())

        return replace(what, function=copy if inspect.isgeneratorfunction(function) else act)

    def _tell(
        self, shown: ShownPort, loops: tuple[int, ...], operands: tuple[Any, ...], results: tuple[Any, ...]
    ) -> None:
        core, op = shown.core, self.op
        self.watch.executed(
            Execution(
                self.site,
                core.machine.name,
                loops,
                self._values(_roles(op), op.operands, operands),
                self._values(("",) * len(op.results), op.results, results),
                tuple(shown.accesses),
                {number: region.name for number, region in core.memories.global_memory.regions.all.items()},
            )
        )

    def _values(
        self, roles: Sequence[str], values: Sequence[SSAValue], contents: Sequence[Any]
    ) -> tuple[WatchedValue, ...]:
        return tuple(
            WatchedValue(
                role,
                self.parsed.named(value) or "",
                str(value.type),
                element_of_value(value.type),
                content,
            )
            for role, value, content in zip(roles, values, contents, strict=True)
        )


def element_of_value(type_: Attribute) -> Element | None:
    """The element of a register, pointer, array or scalar."""
    if isinstance(type_, LocalArrayType):
        return element_of(type_.data.element)
    return None if isinstance(type_, MaskType | AlignType | StructType) else element_of(type_)


def _roles(op: Operation) -> Sequence[str]:
    assert isinstance(op, PTOOperation)
    return [role for role in op.operand_roles for _ in op.segment(role)]


def watchable(parsed: ParsedModule) -> set[int]:
    """The lines with an instruction that executes; control flow is not shown."""
    locations = (parsed.location(op) for op in parsed.module.walk() if semantics_of(op.name) is not None)
    return {location.shown.line for location in locations if location is not None}


class ShownPort(Port):
    """Remembers the accesses made through another port."""

    def __init__(self, core: Core, port: Port) -> None:
        self.core, self.port = core, port
        self.goes_on, self.remarks = port.goes_on, port.remarks
        self.accesses: list[WatchedAccess] = []

    def read(self, place: AccessPlace, by_use: bool = False) -> Bytes:
        data = self.port.read(place, by_use)
        self._note("reads", place, data)
        return data

    def write(
        self, place: AccessPlace, data: Bytes, active: Active | None = None, atomic: Atomic | None = None
    ) -> None:
        self.port.write(place, data, active, atomic)
        if active is not None:
            numbers = np.flatnonzero(active)
            self._note("writes", place._replace(starts=place.starts + numbers), data[numbers, np.newaxis])
        else:
            self._note("writes", place, data if atomic is None else self.port.read(place))

    def say(self, complaint: Complaint) -> None:
        self.port.say(complaint)

    def _note(self, verb: Literal["reads", "writes"], place: AccessPlace, data: Bytes) -> None:
        machine = self.core.machine
        owner = machine.name if place.at is None else f"b{machine.block}.{place.at}"
        starts = np.atleast_1d(np.asarray(place.starts))
        self.accesses.append(WatchedAccess(verb, place.space, owner, starts, np.atleast_2d(data).copy()))
