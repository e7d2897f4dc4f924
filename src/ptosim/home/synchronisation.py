"""`ptosim.synchronise`: a kernel with its order written out, verified on arguments and compared with what it had."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from xdsl.ir import Operation

from ptosim.api import Kernel, Launch, Module, check, load, measure, profile, prove
from ptosim.arguments import bind
from ptosim.diagnostics import Finding, PTOError, Source
from ptosim.effects.sync import BARRIER, signalling
from ptosim.language.load import VerifiedModule
from ptosim.language.structure.control import For
from ptosim.language.structure.scalar import Constant
from ptosim.language.text.parser import ParsedModule, without_collection
from ptosim.loading import DRAINED, LoadedModule, as_loaded, load_module
from ptosim.native.host.library import Request
from ptosim.order.insert import Inserter
from ptosim.order.model import EntryNode
from ptosim.order.ordering import ASSUMED, BY_SIGNALS, CAREFUL, orders
from ptosim.order.pairs import Pair
from ptosim.order.prove import DIFFERENT_ARGUMENTS
from ptosim.order.search import MOST_TRIALS, Goal, search
from ptosim.order.short_loops import shorten, work
from ptosim.order.strip import named, operation, without, written_sync
from ptosim.ordered_text import OrderDraft, Prepared, copied, prepared_without, target_in
from ptosim.repair.places import ends_program
from ptosim.sanitize.recorded_touches import RecordedTouches

_FLAGS, _SETS = signalling("flag"), signalling("flag", half="set")
_ORDER = {"race", "deadlock", "unmatched-wait", "semaphore-overflow", "uninitialized"}
"""Kinds of findings where an assumed order does not hold."""
MOST_WORK = 4000
"""The most entries timed in the search: it is to take seconds at most, however long a kernel is."""

SHORT_RUN = 2_000
"""The most iterations, over all blocks, of a run that is timed before it could be compiled."""


@dataclass(frozen=True)
class Redundant:
    """Written synchronisation that the rest implies."""

    name: str
    lines: tuple[int, ...]
    cycles: int
    """The cycles that its removal saves."""


@dataclass(frozen=True)
class SecondBuffer:
    """Two operations that wait for each other from iteration to iteration, because they share a buffer."""

    lines: tuple[int, ...]
    cycles: int
    """The cycles that one more buffer saves."""


@dataclass(frozen=True)
class SearchLaunch:
    """The launch that a kernel is timed and checked with."""

    args: tuple[Any, ...]
    grid: int

    def cycles(self, kernel: Kernel) -> int:
        try:
            return self.interpreted_cycles(kernel, SHORT_RUN // self.grid)
        except PTOError:
            return profile(kernel, *self.args, grid=self.grid).cycles

    def interpreted_cycles(self, kernel: Kernel, max_steps: int = 10**9) -> int:
        """The cycles of a kernel that runs otherwise than its text says: nothing of it may be compiled and kept for
        that text.
        """
        given = bind(kernel.signature, self.args)
        return measure(kernel, Launch(given, self.grid, max_steps=max_steps, say=None), engine="reference").cycles

    def errors(self, kernel: Kernel) -> list[Finding]:
        return [each for each in check(kernel, *self.args, grid=self.grid).findings if each.severity == "error"]


@dataclass(frozen=True)
class Synchronised:
    """A kernel with its order written out."""

    text: str
    """Tiles with their addresses, or micro-instructions; it loads with sync="written"."""
    kernel: Kernel
    pairs: int
    """Pairs of set and wait that were inserted, primes and drains not counted."""
    barriers: int
    ids: int
    """Keys of flags that are used."""
    assumptions: tuple[str, ...]
    before: Kernel = field(repr=False)
    """The kernel as it was."""
    launch: SearchLaunch = field(repr=False)
    draft: Draft = field(repr=False)

    @property
    def _written(self) -> dict[tuple[object, ...], list[int]]:
        return written_sync(self.before.module.verified)

    @cached_property
    def cycles(self) -> int:
        return self.launch.cycles(self.kernel)

    @cached_property
    def with_barriers(self) -> int:
        """Cycles with a barrier of all pipes behind every entry instead."""
        module = self.before.module
        drained = Source("<text>", without(module.verified, _all(self._written)), is_own=True)
        return self.launch.interpreted_cycles(_kernel(load_module(drained, module.target, DRAINED), self.before.name))

    @cached_property
    def as_written(self) -> int | None:
        """Cycles of the kernel as it was; None where it had no order of its own."""
        is_open = not self._written and self.before.module.outline.requested.sync != "written"
        return None if is_open else self.launch.cycles(self.before)

    @cached_property
    def redundant(self) -> tuple[Redundant, ...]:
        """Written synchronisation that the rest implies."""
        return tuple(_redundant(self.before, self.launch)) if self._written else ()

    @cached_property
    def second_buffers(self) -> tuple[SecondBuffer, ...]:
        """Places for a second buffer, by the cycles saved; written order is taken away to see."""
        draft = self.draft
        if _pairs(draft.written):
            bare = prepared_without(self.before.module.verified, _all(self._written))
            draft = Draft(bare, self.before, CAREFUL, self.launch)
        now = self.launch.cycles(draft.kernel())
        found = [SecondBuffer(lines, now - self.launch.cycles(made)) for lines, made in draft.buffered()]
        return tuple(sorted((one for one in found if one.cycles > 0), key=lambda one: -one.cycles))

    def report(self) -> str:
        """Insertions with their cost, beside other ways to order the kernel."""
        lines = [str(self), f"  {_cycles(self.with_barriers)} with a barrier behind every entry"]
        if self.as_written is not None:
            lines.append(f"  {_cycles(self.as_written)} as it was written")
        lines += [
            f"  redundant: {one.name} at {_named(one.lines)} costs {_cycles(one.cycles)}" for one in self.redundant
        ]
        lines += [
            f"  one more buffer for the bytes that {_named(one.lines)} share saves {_cycles(one.cycles)}"
            for one in self.second_buffers
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The text, what was inserted, and its cycles, as plain data."""
        return {
            "text": self.text,
            "pairs": self.pairs,
            "barriers": self.barriers,
            "ids": self.ids,
            "cycles": self.cycles,
            "as_written": self.as_written,
            "with_barriers": self.with_barriers,
            "assumptions": list(self.assumptions),
            "redundant": [asdict(each) for each in self.redundant],
            "second_buffers": [asdict(each) for each in self.second_buffers],
        }

    def __str__(self) -> str:
        lines = [
            f"{self.kernel.name}: {self.pairs} pairs and {self.barriers} barriers inserted, {self.ids} flags used",
            f"  {_cycles(self.cycles)}",
        ]
        return "\n".join([*lines, *(f"  assuming that {assumption}" for assumption in self.assumptions)])


def synchronise(kernel: Kernel, *args: Any, grid: int = 1, strip: bool = False) -> Synchronised:
    """Write out the order of a kernel: what is inserted beside what is written, or with `strip` in place of it.

    The result is checked on the arguments, which are copied; raises PTOError with what the check found.
    """
    written, launch = kernel.module.verified, SearchLaunch(args, grid)
    groups = written_sync(written)

    def allowed() -> int:
        shown = _shortened(written, kernel.module.executable.parsed, kernel.name)
        return SearchLaunch(args, 1).interpreted_cycles(shown) * 102 // 100

    source = _prepared(written, strip)
    draft, ordered = _checked(source, kernel, launch, Goal(_pairs(written), allowed) if strip and groups else None)
    return Synchronised(
        ordered.module.source,
        ordered,
        len(draft.pairs),
        _barriers(ordered.module.verified) - _barriers(draft.written),
        len({(*pair.key, pair.base + lane) for pair in draft.pairs for lane in range(pair.lanes or 1)}),
        (DIFFERENT_ARGUMENTS, *draft.assumptions),
        kernel,
        launch,
        draft,
    )


@dataclass(frozen=True)
class OrderedText:
    """A kernel with an order that holds for every launch."""

    name: str
    text: str
    pairs: int
    barriers: int

    def to_json(self) -> dict[str, Any]:
        """The form of one that is searched for; figures that depend on a launch are null."""
        costs = dict.fromkeys(("ids", "cycles", "as_written", "with_barriers"))
        nothing = dict.fromkeys(("assumptions", "redundant", "second_buffers"), ())
        return {"text": self.text, "pairs": self.pairs, "barriers": self.barriers, **costs, **nothing}

    def __str__(self) -> str:
        return f"{self.name}: {self.pairs} pairs and {self.barriers} barriers inserted, for all launches"


def order_for_all_launches(kernel: Kernel, strip: bool = False) -> OrderedText:
    """Write out what a load inserts: no launch is tried and nothing is assumed."""
    draft = Draft(_prepared(kernel.module.verified, strip), kernel, "insert")
    ordered = draft.kernel()
    barriers = _barriers(ordered.module.verified) - _barriers(draft.written)
    return OrderedText(kernel.name, ordered.module.source, len(draft.pairs), barriers)


def _prepared(written: VerifiedModule, strip: bool) -> Prepared:
    return prepared_without(written, _all(written_sync(written)) if strip else ())


def _checked(source: Prepared, kernel: Kernel, launch: SearchLaunch, goal: Goal | None) -> tuple[Draft, Kernel]:
    """The order that assumes most of those that a check accepts; raises PTOError with what it found."""
    found: list[Finding] = []
    one_block = SearchLaunch(launch.args, 1)
    for order in (ASSUMED, CAREFUL):
        draft = Draft(source, kernel, order, launch)
        cost = partial(_cost, one_block, draft)
        search(draft.inserters, cost, goal, min(MOST_TRIALS, MOST_WORK // max(draft.work(), 1) - 1))
        ordered = draft.kernel()
        found = launch.errors(ordered)
        if not found:
            return draft, ordered
        if not {each.kind for each in found} & _ORDER:
            break
    raise PTOError(*found)


@without_collection()
def _cost(launch: SearchLaunch, draft: Draft) -> int:
    return launch.interpreted_cycles(draft.shortened())


def _shortened(written: VerifiedModule, lowered: ParsedModule, name: str) -> Kernel:
    """A kernel of loops that run a few times, from operations that may be changed."""
    module = replace(written, parsed=lowered.cloned())
    shorten(module)
    return _kernel(as_loaded(written, module), name)


def _kernel(loaded: LoadedModule, name: str) -> Kernel:
    """A kernel whose order is as it stands there."""
    return Module(loaded, Request(loaded.written.target, "written")).kernel(name)


def _pairs(module: VerifiedModule) -> int:
    """The pairs that are written: sets, other than those that stand before a loop to prime it."""
    sets = [op for op in module.parsed.module.walk() if op.name in _SETS]
    return sum(not _primes(op) for op in sets)


def _primes(op: Operation) -> bool:
    following = op.next_op
    while following is not None and (following.name in _FLAGS or isinstance(following, Constant)):
        following = following.next_op
    return isinstance(following, For)


class Draft(OrderDraft):
    """A kernel whose order is being written out: its text, with an address for every tile, and what that lacks."""

    def __init__(self, source: Prepared, kernel: Kernel, order: str, launch: SearchLaunch | None = None) -> None:
        super().__init__(source, kernel.module.verified, order)
        self._name, self._target_name = kernel.name, kernel.module.target
        if launch is not None and (known := self._meeting(launch)):
            self.orders = list(orders(self.loaded.executable, order, known))

    def _meeting(self, launch: SearchLaunch) -> set[tuple[Operation, Operation]]:
        """Operations that are taken to touch different bytes of GM and do not: the first block shows, as far as it goes
        in a short run."""
        orders = [order for order in self.orders if BY_SIGNALS not in order.assumptions]  # which may order them too
        pairs = [(one.op, other.op) for order in orders for one, other in order.apart]
        if not pairs:
            return set()
        kernel = _kernel(self.loaded, self._name)
        given = Launch(bind(kernel.signature, launch.args).copied(), launch.grid, max_steps=SHORT_RUN, say=None)
        recorded = RecordedTouches()
        with suppress(PTOError):  # it ends where it has gone too far
            kernel.reference(given, recorded)([0])
        codes = kernel.translated(recorded.closeness).values()
        sites = {op: site for code in codes for site, op in code.operations.items()}
        return {(one, other) for one, other in pairs if recorded.meet(sites.get(one), sites.get(other))}

    def kernel(self) -> Kernel:
        """The kernel with what it lacks."""
        return load(Source("<text>", self.text(), is_own=True), self._target_name, "written").kernel(self._name)

    def shortened(self) -> Kernel:
        """The kernel as it is timed during the search: one block, loops that run a few times."""
        executable, images = copied(self.loaded.executable)
        for order in self.orders:
            order.write(target_in(order, executable, images.__getitem__))
        return _shortened(self.written, executable.parsed, self._name)

    def work(self) -> int:
        """The effort of timing it once, in entries."""
        return work(self.loaded.executable)

    def buffered(self) -> Iterator[tuple[tuple[int, ...], Kernel]]:
        """The kernel as if two operations had one buffer more, for each two that wait across iterations; and as if all
        had. (It is out of order then, and only good for timing.)"""
        for inserter in self.inserters:
            carried = [pair for pair in inserter.inserted.pairs if pair.distance]
            for pairs in [*([pair] for pair in carried), *([carried] if len(carried) > 1 else [])]:
                if inserter.spread(pairs, 1):
                    yield self._lines_of(entry for pair in pairs for entry in pair.serves), self.kernel()
                inserter.spread(pairs, -1)

    @property
    def inserters(self) -> list[Inserter]:
        return [inserter for order in self.orders for inserter in order.inserters.values()]

    @property
    def pairs(self) -> list[Pair]:
        """The pairs between operations of the text; those inside of one are left out."""
        return [
            pair
            for order in self.orders
            for inserted in order.inserted.values()
            for pair in inserted.pairs
            if target_in(order, self.written, self.origin).holds(pair)
        ]

    @property
    def assumptions(self) -> tuple[str, ...]:
        found = [each for order in self.orders for each in order.assumptions]
        apart = [self._lines_of(entries) for order in self.orders for entries in order.apart]
        found += [
            f"{_named(lines)} " + ("touch different bytes of GM" if len(lines) > 1 else "touches other bytes each time")
            for lines in apart
        ]
        return tuple(dict.fromkeys(found))

    def _lines_of(self, entries: Iterable[EntryNode]) -> tuple[int, ...]:
        """The lines that entries were written in."""
        places = {self.before.location(self.serves[self.origin(entry.op)]) for entry in entries}
        return tuple(sorted({place.line for place in places if place is not None}))


def _named(lines: Sequence[int]) -> str:
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"


def _barriers(module: VerifiedModule) -> int:
    return sum(op.name == BARRIER for op in module.parsed.module.walk())


def _all(groups: dict[tuple[object, ...], list[int]]) -> set[int]:
    return {number for numbers in groups.values() for number in numbers}


def _redundant(kernel: Kernel, launch: SearchLaunch) -> list[Redundant]:
    """Synchronisation that can be left out, each for itself, with the rest still proven."""
    if not prove(kernel).proven:
        return []
    written, found = kernel.module.verified, list[Redundant]()
    before = launch.cycles(kernel)
    for numbers in written_sync(written).values():
        operations = [operation(written, number) for number in numbers]
        if operations[0].name == BARRIER and ends_program(operations[0]):
            continue  # what a kernel has written has to end before it does
        try:
            rest = Source("<text>", without(written, numbers), is_own=True)
            shorter = load(rest, kernel.module.target, "written").kernel(kernel.name)
        except PTOError:  # what is left does not load: it is needed
            continue
        if prove(shorter).proven:
            places = [written.parsed.location(op) for op in operations]
            lines = tuple(place.line for place in places if place is not None)
            found.append(Redundant(named(operations[0]), lines, before - launch.cycles(shorter)))
    return found


def _cycles(number: int) -> str:
    return f"{number} cycle{'s' * (number != 1)}"
