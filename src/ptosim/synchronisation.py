"""`ptosim.synchronise`: a kernel with its order written out, verified on arguments and compared with what it had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptosim.api import Kernel, Module, check, load, profile, prove
from ptosim.diagnostics import PTOError, Source, error
from ptosim.effects.sync import BARRIER, signalling

if TYPE_CHECKING:
    from ptosim.language.load import VerifiedModule

_SETS = signalling("flag", half="set")
_SYNC_OPERATIONS = signalling("flag") | {BARRIER}


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
    from ptosim.order.confine import STAY_INSIDE
    from ptosim.order.ordering import ASSUMED
    from ptosim.order.prove import DIFFERENT_ARGUMENTS
    from ptosim.order.strip import without, written_sync

    written = kernel.module.verified
    groups = written_sync(written)
    stripped = _all(groups) if strip else set[int]()
    source = without(written, stripped)
    lowered = _loaded(source, kernel.module.target, ASSUMED).lowered()
    ordered = lowered.kernel(kernel.name)
    findings = [found for found in check(ordered, *args, grid=grid).findings if found.severity == "error"]
    if findings:
        raise PTOError(*findings)
    names = _counts(lowered.executable)
    before = _counts(load(source, kernel.module.target, "written").lowered().executable)
    primes = _counts(lowered.executable, outside=True)
    drained = _loaded(without(written, _all(groups)), kernel.module.target, DRAINED).kernel(kernel.name)
    is_open = not groups and kernel.module.outline.requested.sync != "written"
    return Synchronised(
        lowered.outline.source.text,
        ordered,
        max(names["set"] - before["set"] - primes["set"], 0),
        names["barrier"] - before["barrier"],
        names["ids"],
        profile(ordered, *args, grid=grid).cycles,
        (DIFFERENT_ARGUMENTS, STAY_INSIDE),
        profile(drained, *args, grid=grid).cycles,
        None if is_open else profile(kernel, *args, grid=grid).cycles,
        tuple(_redundant(kernel, args, grid)) if report and groups else (),
    )


def _counts(module: VerifiedModule, outside: bool = False) -> dict[str, int]:
    """Sets, barriers and keys of a module; `outside`: the sets that stand directly before a loop, to prime it."""
    operations = list(module.parsed.module.walk())
    sets = [op for op in operations if op.name in _SETS]
    if outside:
        sets = [op for op in sets if _primes(op)]
    keys = {tuple(str(value) for value in op.properties.values()) for op in sets}
    return {"set": len(sets), "barrier": sum(op.name == BARRIER for op in operations), "ids": len(keys)}


def _primes(op: Any) -> bool:
    following = op.next_op
    while following is not None and following.name in _SYNC_OPERATIONS:
        following = following.next_op
    return following is not None and following.name == "scf.for"


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
