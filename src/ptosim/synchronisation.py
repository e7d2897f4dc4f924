"""`ptosim.synchronise`: a kernel with its order written out, verified on arguments and compared with what it had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ptosim.api import Kernel, Module, check, load, profile, prove
from ptosim.diagnostics import Finding, PTOError, Source, error
from ptosim.effects.sync import BARRIER, signalling

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from ptosim.language.load import VerifiedModule
    from ptosim.order.emit import Target
    from ptosim.order.insert import Inserter
    from ptosim.order.ordering import Order
    from ptosim.order.pairs import Pair
    from ptosim.order.search import Goal


_SETS = signalling("flag", half="set")
_ORDER = {"race", "deadlock", "unmatched-wait", "semaphore-overflow", "uninitialized"}
"""What a check finds where something is assumed that does not hold."""


@dataclass(frozen=True)
class Redundant:
    """Written synchronisation that the rest implies."""

    name: str
    lines: tuple[int, ...]
    cycles: int
    """What its removal saves."""


@dataclass(frozen=True)
class Synchronised:
    """A kernel with its order written out."""

    text: str
    """Micro-instructions; it loads with sync="written"."""
    kernel: Kernel
    pairs: int
    """Pairs of set and wait that were inserted, primes and drains not counted."""
    barriers: int
    ids: int
    """Keys of flags that are used."""
    cycles: int
    assumptions: tuple[str, ...]
    with_barriers: int
    """Cycles with a barrier of all pipes behind every entry instead."""
    as_written: int | None
    """Cycles of the kernel as it was; None where it had no order of its own."""
    redundant: tuple[Redundant, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{self.kernel.name}: {self.pairs} pairs and {self.barriers} barriers inserted, {self.ids} flags used",
            f"  {self.cycles} cycles; {self.with_barriers} with a barrier behind every entry",
        ]
        if self.as_written is not None:
            lines.append(f"  {self.as_written} as it was written")
        lines += [
            f"  redundant: {one.name} at line {', '.join(map(str, one.lines))} costs {one.cycles} cycles"
            for one in self.redundant
        ]
        return "\n".join([*lines, *(f"  assuming that {assumption}" for assumption in self.assumptions)])


def synchronise(kernel: Kernel, *args: Any, grid: int = 1, strip: bool = False, report: bool = False) -> Synchronised:
    """Write out the order of a kernel: what is inserted beside what is written, or with `strip` in place of it.

    The result is checked on the arguments, which are copied; raises PTOError with what the check found. With `report`,
    written synchronisation is looked through for what the rest implies.
    """
    from ptosim.loading import DRAINED
    from ptosim.order.prove import DIFFERENT_ARGUMENTS
    from ptosim.order.search import Goal
    from ptosim.order.strip import without, written_sync

    written = kernel.module.verified
    groups = written_sync(written)
    source = without(written, _all(groups) if strip else ())
    is_open = not groups and kernel.module.outline.requested.sync != "written"
    as_written = None if is_open else profile(kernel, *args, grid=grid).cycles
    goal = None if as_written is None else Goal(_pairs(written), as_written * 102 // 100)
    draft, ordered = _checked(source, kernel, Launched(args, grid), goal)
    drained = _loaded(without(written, _all(groups)), kernel.module.target, DRAINED).kernel(kernel.name)
    return Synchronised(
        ordered.module.source,
        ordered,
        len(draft.pairs),
        _barriers(ordered.module.verified) - _barriers(draft.written),
        len({(*pair.key, pair.base + lane) for pair in draft.pairs for lane in range(pair.lanes or 1)}),
        profile(ordered, *args, grid=grid).cycles,
        (DIFFERENT_ARGUMENTS, *draft.assumptions),
        profile(drained, *args, grid=grid).cycles,
        as_written,
        tuple(_redundant(kernel, args, grid)) if report and groups else (),
    )


@dataclass(frozen=True)
class Launched:
    """What a kernel is timed and checked with."""

    args: tuple[Any, ...]
    grid: int

    def cycles(self, kernel: Kernel) -> int:
        return profile(kernel, *self.args, grid=self.grid).cycles

    def errors(self, kernel: Kernel) -> list[Finding]:
        return [each for each in check(kernel, *self.args, grid=self.grid).findings if each.severity == "error"]


def _checked(source: str, kernel: Kernel, launch: Launched, goal: Goal | None) -> tuple[Draft, Kernel]:
    """The order that assumes most of those that a check accepts; raises PTOError with what it found."""
    from ptosim.order.ordering import ASSUMED, CAREFUL
    from ptosim.order.search import search

    found: list[Finding] = []
    for order in (ASSUMED, CAREFUL):
        draft = Draft(source, kernel, order)
        search(draft.inserters, lambda draft=draft: launch.cycles(draft.kernel()), goal)
        ordered = draft.kernel()
        found = launch.errors(ordered)
        if not found:
            return draft, ordered
        if not {each.kind for each in found} & _ORDER:
            break
    raise PTOError(*found)


def _pairs(module: VerifiedModule) -> int:
    """The pairs that are written: sets, other than those that stand before a loop to prime it."""
    sets = [op for op in module.parsed.module.walk() if op.name in _SETS]
    return sum(not _primes(op) for op in sets)


def _primes(op: Operation) -> bool:
    following = op.next_op
    while following is not None and following.name.startswith(("pto.set_", "pto.wait_", "arith.constant")):
        following = following.next_op
    return following is not None and following.name == "scf.for"


class Draft:
    """A kernel whose order is being written out: its text with an address for every tile, and what it lacks."""

    def __init__(self, source: str, kernel: Kernel, order: str) -> None:
        from ptosim.loading import load_module
        from ptosim.order.ordering import orders

        self._name, self._target_name = kernel.name, kernel.module.target
        prepared = load_module(Source("<text>", source), self._target_name, "written").prepared_text()
        self._loaded = load_module(Source("<text>", prepared), self._target_name, "written")
        self.written = self._loaded.written
        self.orders = list(orders(self._loaded.executable, order))

    def kernel(self) -> Kernel:
        """The kernel with what it lacks."""
        return load(self.text(), self._target_name, "written").kernel(self._name)

    @property
    def inserters(self) -> list[Inserter]:
        return [inserter for order in self.orders for inserter in order.inserters.values()]

    def text(self) -> str:
        """The text with what it lacks written between its operations."""
        from ptosim.language.printing import text

        copy = self.written.parsed.cloned()
        images = dict(zip(self.written.parsed.module.walk(), copy.module.walk(), strict=True))
        for order in self.orders:
            order.write(self._target(order, replace(self.written, parsed=copy), lambda op: images[op]))
        return text(copy)

    def _target(
        self, order: Order, module: VerifiedModule, image: Callable[[Operation], Operation] = lambda op: op
    ) -> Target:
        from ptosim.language.function import Function
        from ptosim.order.emit import Target

        lowered = self._loaded.executable.parsed
        function = image(lowered.origin(order.function))
        assert isinstance(function, Function)
        return Target(module, function, lambda op: image(lowered.origin(op)))

    @property
    def pairs(self) -> list[Pair]:
        """Those that stand between operations of the text, not inside of one."""
        return [
            pair
            for order in self.orders
            for inserted in order.inserted.values()
            for pair in inserted.pairs
            if self._target(order, self.written).holds(pair)
        ]

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each for order in self.orders for each in order.assumptions))


def _barriers(module: VerifiedModule) -> int:
    return sum(op.name == BARRIER for op in module.parsed.module.walk())


def _loaded(source: str, target: str, order: str) -> Module:
    """A module with an order that `load` does not offer."""
    from ptosim.loading import load_module
    from ptosim.native.library import Request

    return Module(load_module(Source("<text>", source), target, order), Request(target, "written"))


def _all(groups: dict[tuple[object, ...], list[int]]) -> set[int]:
    return {number for numbers in groups.values() for number in numbers}


def _redundant(kernel: Kernel, args: tuple[Any, ...], grid: int) -> list[Redundant]:
    """What can be left out, each for itself, and is still proven."""
    from ptosim.order.strip import named, operation, without, written_sync

    if not prove(kernel).proven:
        return []
    written, found = kernel.module.verified, list[Redundant]()
    before = profile(kernel, *args, grid=grid).cycles
    for numbers in written_sync(written).values():
        try:
            shorter = load(without(written, numbers), kernel.module.target, "written").kernel(kernel.name)
        except PTOError:  # what is left does not load: it is needed
            continue
        if prove(shorter).proven:
            operations = [operation(written, number) for number in numbers]
            places = [written.parsed.location(op) for op in operations]
            lines = tuple(place.line for place in places if place is not None)
            saved = before - profile(shorter, *args, grid=grid).cycles
            found.append(Redundant(named(operations[0]), lines, saved))
    return found


def save(path: str, text: str) -> None:
    """Write a text to a file."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as reason:
        raise error("argument", f"cannot write {path}: {reason.strerror}") from None
