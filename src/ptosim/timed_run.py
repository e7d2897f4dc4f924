"""A profile by compiled code: the native engine runs a kernel that keeps its own times, prices come from `timing` when
a path or a size is met first, and the log becomes a recording when somebody asks for it.

What is not covered goes to the reference engine: some kernels (`is_covered`), and runs that end with an error, which
the reference then tells.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from ptosim.diagnostics import Diagnostic
from ptosim.effects.element import Element
from ptosim.effects.names import CoreKind
from ptosim.effects.sfu import RECORD_BYTES
from ptosim.effects.sim_table import moved_by_index
from ptosim.language.analysis.kernel_entries import KernelProgram
from ptosim.language.analysis.unit_flags import followed_unit_flags
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.sim_table import SimGather, SimScatter
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.function import reached
from ptosim.language.types import PtrType, element_of
from ptosim.machine.entry import Key, Site
from ptosim.machine.launch import KernelKind
from ptosim.machine.moments import WIDTHS, LogPart
from ptosim.machine.observer import Observer
from ptosim.machine.semaphores import heard
from ptosim.native.observe.stopwatch import MOST_RECORDS, Stopwatch, Supplies, WorkerSheet
from ptosim.native.observe.timing import TimedWork
from ptosim.reference.catalogue import semantics_of
from ptosim.reference.memory.moved_bytes import Gauge
from ptosim.reference.numeric.integers import wrap
from ptosim.target import Target
from ptosim.target.profile import load_target
from ptosim.target.tables import column
from ptosim.timing.block_placement import hardware_cores, place_blocks
from ptosim.timing.compiled_log import LoggedOperands, Price, recorded, recorded_ends
from ptosim.timing.paged_timer import PagedTimer
from ptosim.timing.program import whole_path
from ptosim.timing.recorder import word_of
from ptosim.timing.recording import Issued, Recording
from ptosim.timing.work import Cost, Prices

Ints = NDArray[np.int64]


def is_covered(module: VerifiedModule, program: KernelProgram, target: Target) -> bool:
    """Whether compiled code can time a kernel: its blocks do not wait for each other, nor its products and stores for
    unit flags, and the target has the memories and rules of the machine that code is compiled for."""
    own = load_target(module.target)
    covered = not (program.cross_block or program.workitems)
    covered = covered and not followed_unit_flags(module.parsed, reached(*program.entries.values()))
    return covered and (own.memory, own.sync, own.rules) == (target.memory, target.sync, target.rules)


class Pricing:
    """The prices of one kernel on one target, by number, good for any number of runs."""

    def __init__(self, module: VerifiedModule, prices: Prices, works: Sequence[Sequence[Any]], kind: str) -> None:
        self.module = module
        self.prices = prices
        self.kind = KernelKind(kind)
        self.works = [TimedWork(*work) for work in works]
        self.of_operation = {work.operation: work for work in self.works}
        self.priced: list[Price] = []
        self._sites: dict[int, Site] = {}
        self._numbers: dict[object, int] = {}
        self._gauge = Gauge(module, prices.target)
        self.supplies = Supplies(self.price, {work.operation: number for number, work in enumerate(self.works)})
        self.latency = prices.target.latency
        self.memory = prices.target.memory

    @property
    def keys(self) -> Mapping[int, tuple[Key, int]]:
        return self.supplies.keys

    def site(self, operation: int) -> Site:
        if operation not in self._sites:
            parsed = self.module.parsed
            op = parsed.operations[operation]
            self._sites[operation] = Site(
                parsed.called(op), parsed.location(op), number=operation, served=parsed.served(op)
            )
        return self._sites[operation]

    def price(
        self, number: int, path: Sequence[int], words: int, touches: tuple[tuple[int, int], ...]
    ) -> tuple[int, int]:
        """The price of a work with this path, whose words lie there: its cycles, and the number of its cost."""
        work = self.works[number]
        op = self.module.parsed.operations[work.operation]
        site = self.site(work.operation)
        if (program := self.prices.of(site).program) is not None:
            whole = whole_path(program, path)
            cost = self.prices.scope(site, whole)
        else:
            whole, cost = (), self._instruction(op, site, work, words, path)
        key = work.operation, cost.cycles, cost.bytes, id(cost.function), touches
        if key not in self._numbers:
            self._numbers[key] = len(self.priced)
            self.priced.append(Price(cost, whole, touches))
        return cost.cycles, self._numbers[key]

    def _instruction(self, op: Operation, site: Site, work: TimedWork, words: int, path: Sequence[int]) -> Cost:
        held = (ctypes.c_int64 * (work.constants.count(None) + len(work.registers))).from_address(words)
        values = self._values(op, work, held[:])
        registers = dict(zip(work.registers, held[work.constants.count(None) :], strict=True))
        facts = {role: _single([values[value] for value in operands]) for role, operands in _roles(op)}
        if self.prices.of(site).timing_class not in self.prices.target.dma:
            return self.prices.instruction(site, facts, 0, RECORD_BYTES * sum(path))
        if isinstance(op, SimGather | SimScatter):
            moved = moved_by_index(SimpleNamespace(**facts), self.module.static(op), *path)
        else:
            moved = self._gauge.moved(op, self._core(op), list(values.values()), registers)
        return self.prices.instruction(site, facts, *moved)

    def _core(self, op: Operation) -> CoreKind:
        """A kind of core that runs an instruction."""
        kinds = {KernelKind.CUBE: [CoreKind.AIC], KernelKind.VECTOR: [CoreKind.AIV]}.get(self.kind, [*CoreKind])
        cores = op.cores if isinstance(op, PTOOperation) else kinds
        return next((kind for kind in kinds if kind in cores), kinds[0])

    def _values(self, op: Operation, work: TimedWork, words: Sequence[int]) -> dict[SSAValue, int]:
        """Operands, as the reference engine holds them."""
        following = iter(words)
        distinct = dict.fromkeys(op.operands)
        return {
            value: _read(value, next(following) if constant is None else constant)
            for value, constant in zip(distinct, work.constants, strict=True)
        }

    def operands(self, operation: int) -> LoggedOperands:
        """The log's form of the operands of an operation."""
        op, work = self.module.parsed.operations[operation], self.of_operation[operation]
        places: dict[SSAValue, int | tuple[int, Callable[[Ints], Ints]]] = {}
        number = 0
        for value, constant in zip(dict.fromkeys(op.operands), work.constants, strict=True):
            if constant is None:
                places[value] = number, partial(_read_all, value)
                number += 1
            else:
                places[value] = word_of(_read(value, constant))
        names: list[str] = []
        columns: list[int | tuple[int, Callable[[Ints], Ints]]] = []
        for role, values in _roles(op):
            many = isinstance(op, PTOOperation) and role in op.variadic_roles
            names += [f"{role}[{place}]" if many else role for place in range(len(values))]
            columns += [places[value] for value in values]
        price = self.prices.of(self.site(operation))
        issued = Issued(price.timing_class, tuple(names), price.pointers, column(price.width))
        return LoggedOperands(work.remembered, issued, tuple(columns))


def _roles(op: Operation) -> Iterator[tuple[str, Sequence[SSAValue]]]:
    """The operands by role, in order, as far as they have a meaning; those that are left out have none."""
    meaning = semantics_of(op.name)
    assert isinstance(op, PTOOperation) and meaning is not None
    for role in (role for role in op.operand_roles if role in meaning.parameters):
        values = tuple(op.segment(role))
        if values or role in op.variadic_roles:
            yield role, values


def _single(values: Sequence[int]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _read(value: SSAValue, word: int) -> int:
    """The bits of a scalar as the reference engine holds it."""
    element = _element(value)
    if element is None:
        return word_of(word)
    return word & ((1 << element.bits) - 1) if element.is_float else wrap(word, element)


def _read_all(value: SSAValue, words: Ints) -> Ints:
    element = _element(value)
    if element is None or element.bits >= 64:
        return words
    unsigned = words & ((1 << element.bits) - 1)
    if element.is_float or element.kind == "unsigned" or element.bits == 1:
        return unsigned
    return (unsigned ^ (1 << element.bits - 1)) - (1 << element.bits - 1)


def _element(value: SSAValue) -> Element | None:
    """The type of a scalar; None for a pointer."""
    return None if isinstance(value.type, PtrType) else element_of(value.type)


# --- the run ----------------------------------------------------------------------------------------------------------


class TimedRun:
    """The log of a run, to become a recording."""

    def __init__(self, pricing: Pricing, stopwatch: Stopwatch) -> None:
        self.pricing = pricing
        self.stopwatch = stopwatch
        ends = [_matrix(sheet.written(LogPart.CORES), WIDTHS[LogPart.CORES]) for sheet in stopwatch.sheets]
        self.totals = self._placed(recorded_ends(ends, pricing.kind))
        """The cores, of which all is known without the rows."""
        self._done = weakref.finalize(self, stopwatch.give_back)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warning of a run that was too long to be kept whole."""
        if not self.stopwatch.is_cut:
            return ()
        message = (
            f"a thread of this run has more than {MOST_RECORDS:,} entries and waits: cycles and the totals of pipes "
            "and cores are exact; the timeline, and with it the critical path, lines, waits and transfers, are of the "
            "first part alone"
        )
        return (Diagnostic("limit", "warning", message, hint="time fewer blocks, or smaller arguments"),)

    def _placed(self, recording: Recording) -> Recording:
        """Blocks begin when a core of the chip is free. (Those that wait for each other are not timed here.)"""
        place_blocks(recording, hardware_cores(self.pricing.kind, self.pricing.prices.target), together=False)
        return recording

    def __call__(self) -> Recording:
        """All that the run has left."""
        logs = [
            {part: _matrix(sheet.written(part), WIDTHS[part]) for part in LogPart} for sheet in self.stopwatch.sheets
        ]
        recording = recorded(logs, self.pricing)
        recording.barriers = self.stopwatch.barriers
        del logs
        self._done()
        return self._placed(recording)


def _matrix(chunks: Sequence[memoryview], width: int) -> Ints:
    return np.concatenate([np.frombuffer(chunk, np.int64) for chunk in chunks]).reshape(-1, width)


def stopwatch(pricing: Pricing) -> Stopwatch:
    """One for a launch."""
    latency = pricing.latency
    figures = latency.scalar, latency.flag, latency.barrier, latency.inter_core
    signals = heard(pricing.prices.target) if pricing.kind is KernelKind.MIXED else {}

    def remembered(operation: int) -> int:
        return pricing.of_operation[operation].remembered

    def follow(sheet: WorkerSheet) -> Observer:
        return PagedTimer(sheet, latency.inter_core, remembered)

    return Stopwatch(figures, pricing.supplies, signals, follow)
