"""Watching chosen lines of a kernel: each time one executes, its operands, its results and the bytes it touches.

The translator writes extra calls for those lines only, so that a run without them costs nothing. What is seen is told
as plain values; how it looks on a terminal is the business of report/.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute, Operation, SSAValue

from ptosim.effects.element import Element
from ptosim.effects.names import UB, Space
from ptosim.language.operation import PTOOperation
from ptosim.language.parser import ParsedModule
from ptosim.language.tile_types import LocalArrayType, StructType
from ptosim.language.types import AlignType, MaskType, element_of
from ptosim.machine.entry import Site
from ptosim.reference.catalogue import semantics_of
from ptosim.reference.core import Combine, Core
from ptosim.reference.numbers import Lanes
from ptosim.reference.places import Bytes, Starts


@dataclass(frozen=True)
class Value:
    """An operand or result: registers are arrays of lanes, scalar floats their bit pattern, pointers addresses, arrays
    and structures of scalars lists."""

    role: str
    name: str
    type: str
    element: Element | None
    """Of a register, pointer, array or scalar; None for masks, align values and structures."""
    value: Any


@dataclass(frozen=True)
class Access:
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
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    accesses: tuple[Access, ...]
    arguments: Mapping[int, str]
    """The kernel arguments that GM addresses refer to, by number."""


@dataclass
class Watch:
    """Which lines to tell of, and how often each at most (None: always)."""

    lines: Mapping[int, int | None]
    tell: Callable[[Execution], None]
    told: dict[int, int] = field(default_factory=dict[int, int])

    def wants(self, site: Site) -> bool:
        return site.line in self.lines

    def executed(self, execution: Execution) -> None:
        line = execution.site.line or 0
        limit, count = self.lines[line], self.told.get(line, 0)
        if limit is None or count < limit:
            self.told[line] = count + 1
            self.tell(execution)


@dataclass(frozen=True, eq=False)
class Watched:
    """An operation on a watched line. The translated code calls these methods around it."""

    watch: Watch
    parsed: ParsedModule
    op: Operation
    site: Site

    def view(self, core: Core) -> View:
        """Stands in for the core while the instruction executes."""
        return View(core)

    def done(self, view: View, operands: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        """The instruction has executed, in a vector scope or on the scalar unit."""
        self._tell(view, view.core.indices(inspect.currentframe()), operands, results)

    def queued(self, core: Core, function: Callable[..., Any], operands: tuple[Any, ...]) -> Callable[..., Any]:
        """The function of an instruction that a pipe executes later; operands and place are those of its issue."""
        loops = core.indices(inspect.currentframe())

        def act(*arguments: Any) -> None:
            view = View(core)
            function(*view.instead(arguments))
            self._tell(view, loops, operands, ())

        def copy(*arguments: Any) -> Iterator[None]:
            view = View(core)
            yield from function(*view.instead(arguments))
            self._tell(view, loops, operands, ())

        return copy if inspect.isgeneratorfunction(function) else act

    def _tell(self, view: View, loops: tuple[int, ...], operands: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        core, op = view.core, self.op
        self.watch.executed(
            Execution(
                self.site,
                core.machine.name,
                loops,
                self._values(_roles(op), op.operands, operands),
                self._values(("",) * len(op.results), op.results, results),
                tuple(view.accesses),
                {number: region.name for number, region in core.global_memory.regions.all.items()},
            )
        )

    def _values(self, roles: Sequence[str], values: Sequence[SSAValue], contents: Sequence[Any]) -> tuple[Value, ...]:
        return tuple(
            Value(
                role,
                span.text if (span := self.parsed.definitions.get(value)) is not None else "",
                str(value.type),
                _element(value.type),
                content,
            )
            for role, value, content in zip(roles, values, contents, strict=True)
        )


def _element(type_: Attribute) -> Element | None:
    if isinstance(type_, LocalArrayType):
        return element_of(type_.data.element)
    return None if isinstance(type_, MaskType | AlignType | StructType) else element_of(type_)


def _roles(op: Operation) -> Sequence[str]:
    assert isinstance(op, PTOOperation)
    return [role for role in op.operand_roles for _ in op.segment(role)]


def watchable(parsed: ParsedModule) -> set[int]:
    """The lines with an instruction that executes; control flow is not shown."""
    locations = (parsed.location(op) for op in parsed.module.walk() if semantics_of(op.name) is not None)
    return {location.line for location in locations if location is not None}


class View:
    """A core that remembers the accesses made through it. Everything else goes to the core itself."""

    __slots__ = ("accesses", "core")

    def __init__(self, core: Core) -> None:
        object.__setattr__(self, "core", core)
        object.__setattr__(self, "accesses", [])

    core: Core
    accesses: list[Access]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.core, name, value)

    def instead(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments with this view in the place of the core."""
        return [self if argument is self.core else argument for argument in arguments]

    def read(self, space: Space, start: int, width: int, *rest: Any, at: str | None = None, **options: Any) -> Bytes:
        data = self.core.read(space, start, width, *rest, at=at, **options)
        self._note("reads", space, at, np.array([start]), data[np.newaxis])
        return data

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        lanes = self.core.load(start, dtype)
        self._note("reads", UB, None, np.array([start]), lanes.view(np.uint8)[np.newaxis])
        return lanes

    def store(self, start: int, value: Lanes) -> None:
        self.core.store(start, value)
        self._note("writes", UB, None, np.array([start]), value.view(np.uint8)[np.newaxis])

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        data = self.core.read_pieces(space, starts, width, alignment, at)
        self._note("reads", space, at, starts, data)
        return data

    def write(
        self,
        space: Space,
        start: int,
        data: Bytes,
        alignment: int = 1,
        active: NDArray[np.bool_] | None = None,
        at: str | None = None,
    ) -> None:
        self.core.write(space, start, data, alignment, active, at)
        if active is None:
            self._note("writes", space, at, np.array([start]), data[np.newaxis])
        else:
            places = np.flatnonzero(active)
            self._note("writes", space, at, start + places, data[places, np.newaxis])

    def write_pieces(
        self, space: Space, starts: Starts, data: Bytes, alignment: int = 1, at: str | None = None
    ) -> None:
        self.core.write_pieces(space, starts, data, alignment, at)
        self._note("writes", space, at, starts, data)

    def accumulate(self, space: Space, starts: Starts, data: Bytes, combine: Combine, name: str) -> None:
        self.core.accumulate(space, starts, data, combine, name)
        self._note("writes", space, None, starts, self.core.read_pieces(space, starts, data.shape[1]))

    def _note(
        self, verb: Literal["reads", "writes"], space: Space, at: str | None, starts: Starts, data: Bytes
    ) -> None:
        machine = self.core.machine
        owner = machine.name if at is None else f"b{machine.block}.{at}"
        self.accesses.append(Access(verb, space, owner, np.array(starts), data.copy()))
