"""The code of workitems as steps of a warp: operations under a mask, structured control flow, barriers.

Control flow is a generator: it yields where the warp waits at a barrier, and where it hands over after many rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ptosim.diagnostics import error
from ptosim.effects.names import Pipe
from ptosim.effects.simt import HANDOVER, latency_class
from ptosim.language.load import VerifiedModule
from ptosim.language.simt.simt import SyncThreads
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.language.structure.function import Call, Function, Return
from ptosim.language.structure.scalar import Constant
from ptosim.machine.entry import Site
from ptosim.reference.catalogue import semantics_of
from ptosim.reference.fault import Fault
from ptosim.reference.observed.watch import Watch
from ptosim.reference.workitems.lifting import ON_WARPS, Placed, Step, element_of_value, merge_taint, step_of
from ptosim.reference.workitems.shown import shown
from ptosim.reference.workitems.values import Active, Values, joined, wrapped, zeros
from ptosim.reference.workitems.warp import Warp, WorkitemFault

Flow = Callable[[Warp, Active], Iterator[None]]
Part = tuple[Step | None, Flow | None]
"""A step, or control flow."""


class WorkitemBody:
    """The code of a function of workitems, and of its helpers."""

    def __init__(self, module: VerifiedModule, function: Function, watch: Watch | None = None) -> None:
        self.module = module
        self.watch = watch
        self.function = function
        self.places: dict[SSAValue, int] = {}
        self.functions: dict[Function, Flow] = {}

    @cached_property
    def run(self) -> Flow:
        """All of it, for one warp."""
        for argument in self.function.args:
            self.place(argument)
        return self._flow_of(self.function.body.block)

    @property
    def arguments(self) -> Sequence[int]:
        return [self.place(argument) for argument in self.function.args]

    def place(self, value: SSAValue) -> int:
        return self.places.setdefault(value, len(self.places))

    def site(self, op: Operation) -> Site:
        parsed = self.module.parsed
        number = parsed.numbers.get(op, -1)
        return Site(parsed.called(op), parsed.location(op), Pipe.V, None, number, parsed.served(op))

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _flow_of(self, block: Block) -> Flow:
        parts = [part for op in block.ops for part in self._parts(op)]
        return _sequence(parts)

    def _parts(self, op: Operation) -> Iterator[Part]:
        match op:
            case Constant():
                yield self._constant(op), None
            case For():
                yield None, self._for(op)
            case If():
                yield None, self._if(op)
            case While():
                yield None, self._while(op)
            case Call():
                yield None, self._call(op)
            case SyncThreads():
                yield None, self._barrier(op)
            case Yield() | Condition() | Return():
                pass
            case _:
                yield self._instruction(op), None

    def _constant(self, op: Constant) -> Step:
        place, element = self.place(op.result), op.element
        if op.is_dense:
            part = element.part or element
            found = np.broadcast_to(np.array([_signed(bits) for bits in op.patterns]), zeros(element).shape)
            value = wrapped(found.astype(np.int64), part)
        else:
            value = wrapped(np.full(zeros(None).shape, _signed(op.pattern), np.int64), element)

        def step(warp: Warp, active: Active) -> None:
            warp.values[place] = value

        return step

    def _instruction(self, op: Operation) -> Step:
        site = self.site(op)
        is_lifted = op.name not in ON_WARPS and getattr(op, "simt", "any") != "inside"
        meaning = ON_WARPS.get(op.name) or semantics_of(op.name)
        if meaning is None:
            raise error("unsupported", f"{op.name} is not simulated yet", site.location)
        operands, results = (tuple(self.place(value) for value in values) for values in (op.operands, op.results))
        step = step_of(Placed(self.module, op, site, operands, results), meaning, is_lifted)

        latency, around = latency_class(op.name), self._line_around(op)
        if self.watch is not None and self.watch.wants(site):
            step = shown(self.watch, self.module.parsed, op, site, (*operands, *results), step)

        def placed(warp: Warp, active: Active) -> None:
            if warp.launch.tally is not None:
                warp.launch.tally.instruct(warp.number, latency, active, warp.existing, around)
            try:
                step(warp, active)
            except WorkitemFault:
                raise
            except Fault as fault:
                raise WorkitemFault(fault, site) from None

        return placed

    def _line_around(self, op: Operation) -> int | None:
        """The line of the branch or loop in which an operation stands."""
        above = op.parent_op()
        return self.site(above).line if isinstance(above, If | For | While) else None

    # --- control flow -------------------------------------------------------------------------------------------------

    def _merge(self, warp: Warp, active: Active, targets: Sequence[int], sources: Sequence[int]) -> None:
        """Moves the sources to the targets in active lanes, all at once."""
        found = [(warp.values[source], warp.taints[source]) for source in sources]
        for target, (value, taint) in zip(targets, found, strict=True):
            old = warp.values[target]
            before = value if old is None else old
            warp.values[target] = joined(active, value, before)
            warp.taints[target] = merge_taint(active, taint, warp.taints[target], value)

    def _clear(self, warp: Warp, targets: Sequence[int]) -> None:
        for target in targets:
            warp.values[target] = warp.taints[target] = None

    def _places(self, values: Sequence[SSAValue]) -> list[int]:
        return [self.place(value) for value in values]

    def _ends(self, block: Block) -> list[int]:
        end = block.last_op
        return self._places(end.arguments) if isinstance(end, Yield) else []

    def _if(self, op: If) -> Flow:
        condition, site, results = self.place(op.cond), self.site(op), self._places(op.results)
        sides: list[tuple[Flow, list[int]]] = []
        for region in (op.true_region, op.false_region):
            sides.append((self._flow_of(region.block), self._ends(region.block)))

        def flow(warp: Warp, active: Active) -> Iterator[None]:
            warp.site = site
            warp.use("condition", warp.taints[condition], active)
            chosen = warp.values[condition] != 0
            empty = [_nothing(value) for value in op.results]
            for side, (run, ends) in enumerate(sides):
                taken = active & (chosen if side == 0 else ~chosen)
                if not taken.any():
                    continue
                yield from run(warp, taken)
                if side == 0 or not (active & chosen).any():
                    for place, value in zip(results, empty, strict=True):
                        warp.values[place], warp.taints[place] = value, None
                self._merge(warp, taken, results, ends)

        return flow

    def _for(self, op: For) -> Flow:
        site, block = self.site(op), op.body.block
        bounds = self._places((op.lb, op.ub, op.step))
        index, *carried = self._places(block.args)
        starts, ends, results = self._places(op.iter_args), self._ends(block), self._places(op.results)
        run = self._flow_of(block)

        def flow(warp: Warp, active: Active) -> Iterator[None]:
            warp.site = site
            lower, upper, step = (warp.values[place] for place in bounds)
            for place in bounds:
                warp.use("condition", warp.taints[place], active)
            self._check_step(warp, site, step, active)
            self._clear(warp, carried)
            self._merge(warp, active, carried, starts)
            current: Values = lower.copy()
            going = active & (lower < upper)
            while going.any():
                warp.site = site
                if _counts(warp, site):
                    yield
                warp.values[index], warp.taints[index] = current, None
                yield from run(warp, going)
                self._merge(warp, going, carried, ends)
                left: Any = (upper - current).view(np.uint64)
                going = going & (left > step.view(np.uint64))
                current = np.where(going, current + step, current)
            self._clear(warp, results)
            self._merge(warp, active, results, carried)

        return flow

    def _check_step(self, warp: Warp, site: Site, step: Values, active: Active) -> None:
        wrong = active & (step <= 0)
        if wrong.any():
            number, who = int(step[np.argmax(wrong)]), warp.lowest(wrong)
            message = f"the step of scf.for must be positive, not {number}; {who}"
            raise WorkitemFault(Fault("arithmetic", message, workitem=who, lanes=warp.lanes(wrong)), site)

    def _while(self, op: While) -> Flow:
        site = self.site(op)
        before, after = op.before_region.block, op.after_region.block
        end = cast(Condition, before.last_op)
        condition, handed = self.place(end.condition), self._places(end.arguments)
        entering, starts = self._places(before.args), self._places(op.arguments)
        bodies, ends, results = self._places(after.args), self._ends(after), self._places(op.results)
        look, run = self._flow_of(before), self._flow_of(after)

        def flow(warp: Warp, active: Active) -> Iterator[None]:
            self._clear(warp, entering)
            self._merge(warp, active, entering, starts)
            found = [_nothing(value) for value in op.results]
            marks: list[Any] = [None] * len(found)
            going = active
            while True:
                begun = _Round(warp, going, entering)
                yield from look(warp, going)
                warp.site = site
                warp.use("condition", warp.taints[condition], going)
                for number, place in enumerate(handed):
                    value = warp.values[place]
                    marks[number] = merge_taint(going, warp.taints[place], marks[number], value)
                    found[number] = joined(going, value, found[number])
                going = going & (warp.values[condition] != 0)
                if not going.any():
                    break
                if _counts(warp, site):
                    yield
                self._clear(warp, bodies)
                self._merge(warp, going, bodies, handed)
                yield from run(warp, going)
                self._merge(warp, going, entering, ends)
                if begun.recurs(going, entering):
                    _rest(warp, site)
            for place, value, mark in zip(results, found, marks, strict=True):
                warp.values[place], warp.taints[place] = value, mark

        return flow

    def _call(self, op: Call) -> Flow:
        site, callee = self.site(op), op.function
        if callee is None or callee.is_declaration:
            message = f"@{op.symbol} is only declared; there is no body to run"

            def missing(warp: Warp, active: Active) -> None:
                raise WorkitemFault(Fault("unsupported", message), site)

            return _sequence([(missing, None)])
        if callee not in self.functions:
            self.functions[callee] = self._flow_of(callee.body.block)
        run, parameters, arguments = self.functions[callee], self._places(callee.args), self._places(op.arguments)
        end = callee.body.block.last_op
        given = self._places(end.operands) if end is not None else []
        results = self._places(op.results)

        def flow(warp: Warp, active: Active) -> Iterator[None]:
            warp.site = site
            if _counts(warp, site):
                yield
            self._clear(warp, parameters)
            self._merge(warp, active, parameters, arguments)
            yield from run(warp, active)
            self._clear(warp, results)
            self._merge(warp, active, results, given)

        return flow

    def _barrier(self, op: SyncThreads) -> Flow:
        site = self.site(op)

        def flow(warp: Warp, active: Active) -> Iterator[None]:
            warp.site = warp.waits_at = site
            warp.arrived = active
            yield
            warp.waits_at = None
            warp.rounds = HANDOVER

        return flow


def _sequence(parts: Sequence[Part]) -> Flow:
    def flow(warp: Warp, active: Active) -> Iterator[None]:
        for step, inner in parts:
            if step is not None:
                step(warp, active)
            elif inner is not None:
                yield from inner(warp, active)

    return flow


def _counts(warp: Warp, site: Site) -> bool:
    """One round or call, against max_steps; whether the warp has to hand over."""
    try:
        warp.core.step()
    except Fault as fault:
        raise WorkitemFault(fault, site) from None
    warp.rounds -= 1
    if warp.rounds > 0:
        return False
    warp.rounds = HANDOVER
    return True


class _Round:
    """The beginning of a round of a loop."""

    def __init__(self, warp: Warp, going: Active, carried: Sequence[int]) -> None:
        self.warp, self.going, self.changes, self.left = warp, going, warp.launch.changes, warp.rounds
        self.carried = [warp.values[place] for place in carried]
        self.taints = [warp.taints[place] for place in carried]

    def recurs(self, going: Active, carried: Sequence[int]) -> bool:
        """Whether it ends as it began, without a trace: all rounds of this turn are like it."""
        warp = self.warp
        if warp.launch.changes != self.changes or warp.rounds != self.left - 1 or (going != self.going).any():
            return False
        pairs = [*zip(self.carried, (warp.values[place] for place in carried), strict=True)]
        marks = [*zip(self.taints, (warp.taints[place] for place in carried), strict=True)]
        return all(_alike(*pair) for pair in (*pairs, *marks))


def _alike(one: Any, other: Any) -> bool:
    return one is other or (one is not None and other is not None and one.tobytes() == other.tobytes())


def _rest(warp: Warp, site: Site) -> None:
    """The rounds that are left of a turn, but for the last, count without being made."""
    try:
        warp.core.steps(warp.rounds - 1)
    except Fault as fault:
        raise WorkitemFault(fault, site) from None
    warp.rounds = 1


def _nothing(value: SSAValue) -> Values:
    return zeros(element_of_value(value))


def _signed(bits: int) -> int:
    return bits - (1 << 64) if bits >= 1 << 63 else bits
