"""One kernel under construction: its operations, the block that goes on, and the place of each operation."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ptosim.author.failures import WrongPlace, failure
from ptosim.author.place import here
from ptosim.diagnostics import Related
from ptosim.language.operation import PTOOperation
from ptosim.places import Location

_TRACE: ContextVar[Trace | None] = ContextVar("ptosim_trace", default=None)


@dataclass
class TracedFunction:
    """A function that is being traced: what it is, and the blocks from its own to the one that goes on."""

    kind: str
    """kernel, module, tileop, func or simt."""
    name: str
    explicit: bool
    blocks: list[Block]
    constants: dict[Block, dict[tuple[Any, ...], SSAValue]] = field(
        default_factory=dict[Block, "dict[tuple[Any, ...], SSAValue]"]
    )
    sections: list[str] = field(default_factory=list[str])
    """The sections and scopes around, outermost first."""
    scopes: list[Location | None] = field(default_factory=list["Location | None"])
    """The beginnings of the vector scopes around."""
    kernel_kind: str | None = None
    sections_done: set[str] = field(default_factory=set[str])
    op_attrs: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Trace:
    """The program of one specialisation of a kernel, while it is traced."""

    target: str
    root: ModuleOp
    modules: dict[Any, ModuleOp] = field(default_factory=dict[Any, ModuleOp])
    """The child modules, by what they are for."""
    module: ModuleOp | None = None
    """The one that is being filled."""
    bodies: list[TracedFunction] = field(default_factory=list[TracedFunction])
    places: dict[Operation, Location] = field(default_factory=dict[Operation, Location])
    turns: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """The turns of the loops around that are unrolled."""
    helpers: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """Functions that were traced already, by what they are and the types they take."""
    open_helpers: list[Any] = field(default_factory=list[Any])
    whiles: list[Any] = field(default_factory=list[Any])
    """The loops of the explicit form around."""
    symbols: dict[str, int] = field(default_factory=dict[str, int])
    definition: Location | None = None
    """The definition of the kernel; operations that no line asked for stand there."""
    named: set[Any] = field(default_factory=set[Any])
    """The values that have the name that the author gave them."""

    @property
    def body(self) -> TracedFunction:
        return self.bodies[-1]

    @property
    def block(self) -> Block:
        return self.body.blocks[-1]

    # --- operations ---------------------------------------------------------------------------------------------------

    def place(self, depth: int = 2) -> Location | None:
        """The line of the author that is being traced."""
        return here(depth + 1) or self.definition

    def add(self, op: Operation, place: Location | None = None) -> Operation:
        """Put an operation at the end of the block that goes on."""
        for value in op.operands:
            self.reachable(value)
        self.block.add_op(op)
        found = place or self.place()
        if found is not None:
            self.places[op] = found
        return op

    def make(
        self,
        kind: type[PTOOperation],
        operands: Mapping[str, SSAValue | Sequence[SSAValue] | None],
        results: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        name: str = "",
    ) -> Operation:
        """Build an operation by the roles of its operands, and add it."""
        op = self.add(kind.make(operands, results, properties, attributes, regions))
        for result in op.results:
            result.name_hint = name or kind.name.rpartition(".")[2]
        return op

    def reachable(self, value: SSAValue) -> None:
        """A value belongs to a block that is still open; otherwise it has gone out of sight."""
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent_block()
        if block in self.body.blocks:
            return
        made = self.places.get(owner) if isinstance(owner, Operation) else None
        related = (Related(made, "made here"),) if made is not None else ()
        message = (
            "this value was made inside a section, scope, branch, loop or function that has ended, or is another's"
        )
        hint = "carry it through a name that is set before and inside, or compute it again here"
        raise failure(WrongPlace, message, related=related, hint=hint)

    # --- constants ----------------------------------------------------------------------------------------------------

    def once(self, key: tuple[Any, ...], make: Callable[[], SSAValue]) -> SSAValue:
        """A constant, made where it is first needed and used again in all that is inside."""
        known = self.body.constants
        for block in self.body.blocks:
            if (found := known.get(block, {}).get(key)) is not None:
                return found
        made = known.setdefault(self.block, {})[key] = make()
        return made

    # --- blocks -------------------------------------------------------------------------------------------------------

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Traces into a block meanwhile."""
        self.body.blocks.append(block)
        depth = len(self.body.blocks)
        try:
            yield
        finally:
            del self.body.blocks[depth - 1 :]
            self.body.constants.pop(block, None)

    @contextmanager
    def function(self, body: TracedFunction) -> Generator[None]:
        """Traces another function meanwhile."""
        self.bodies.append(body)
        turns, self.turns = self.turns, []
        try:
            yield
        finally:
            self.bodies.pop()
            self.turns = turns

    # --- symbols ------------------------------------------------------------------------------------------------------

    def numbered(self, name: str) -> int:
        """A number that goes with a name, counted from 0."""
        number = self.symbols.get(name, 0)
        self.symbols[name] = number + 1
        return number


def tracing() -> Trace | None:
    """The kernel that is being traced here, if any."""
    return _TRACE.get()


def current(what: str = "this call") -> Trace:
    """The kernel that is being traced."""
    trace = _TRACE.get()
    if trace is None:
        raise failure(WrongPlace, f"{what} belongs inside a kernel: a function with @pto.jit(...), while it is traced")
    return trace


@contextmanager
def traced(trace: Trace) -> Generator[Trace]:
    """Makes a trace the one that calls of the surface go to."""
    token = _TRACE.set(trace)
    try:
        yield trace
    finally:
        _TRACE.reset(token)


def explicit_only(what: str) -> Trace:
    """The trace, where the kernel is explicit: elsewhere the call is for the compiler to make."""
    trace = not_in_tileop(what, "move it to the kernel that calls it")
    if not trace.body.explicit:
        hint = 'write @pto.jit(mode="explicit"), or use tile operations'
        message = f"{what} belongs in a kernel of mode explicit"
        raise failure(WrongPlace, message, related=_defined(trace, "this kernel has mode auto"), hint=hint)
    return trace


def not_in_tileop(
    what: str, hint: str = "a tileop takes tiles and computes on vector registers; move the call to the kernel"
) -> Trace:
    """The trace, outside of tileops and vector scopes, which only compute."""
    trace = current(what)
    if trace.body.kind == "tileop":
        related = _defined(trace, f"the tileop {trace.body.name}")
        raise failure(WrongPlace, f"{what} does not belong in a tileop", related=related, hint=hint)
    if trace.body.scopes:
        place = trace.body.scopes[-1]
        related = (Related(place, "the scope begins here"),) if place is not None else ()
        hint = "a scope only computes on vector registers; move the call in front of it or behind it"
        raise failure(WrongPlace, f"{what} does not belong in a vector scope", related=related, hint=hint)
    return trace


def _defined(trace: Trace, role: str) -> tuple[Related, ...]:
    return (Related(trace.definition, role),) if trace.definition is not None else ()
