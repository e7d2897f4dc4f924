"""The cycles of one vector function, from its program, the path taken and the target.

On A5 the program runs through the issue model, with the costs of loops and branches added here. A schedule that has
become periodic is not followed to its end: the state of the machine, seen from its own cycle, has recurred, so every
further period takes the same time, and what is left of it is extrapolated exactly. On A2A3 see a2a3_vector.py.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from math import ceil

from ptosim.target.profile import Target
from ptosim.target.tables import IssueClass, IssueUnit, RepeatUnit
from ptosim.timing import a2a3_vector
from ptosim.timing.a5_vector import Binding, Machine
from ptosim.timing.critical_path import Clock, Repetition, critical_path
from ptosim.timing.function_time import VectorFunctionTiming
from ptosim.timing.issue_state import signature
from ptosim.timing.price import FENCE, LOAD, RENAME, SCALAR, STORE, PricedBody, PricedControl, PricedStep, price
from ptosim.timing.program import Body, Choice, LoopTurns, ModelBranch, ModelLoop, ModelWhile, Path, Values, Way, way_of

_OF_CONTROL = ("iteration", "loop_entry", "post_update", "branch")
_PATIENCE = 200  # instructions and iterations that a loop must have behind it and before it for its period to pay
_ENDING = 2  # queue depths, in cycles: after these the queues are empty


def vector_function(body: Body, path: Path, target: Target) -> VectorFunctionTiming:
    """Time one execution; ValueError where the path does not fit the program."""
    way = way_of(body, path)
    if isinstance(target.vector, RepeatUnit):
        return a2a3_vector.time(body, way, target)
    run = _Run(Machine(target.vector))
    run.block(price(body, target.vector), way)
    run.machine.finish()
    return _summary(run, target.vector)


@dataclass
class _Run:
    """A machine on its way through a program."""

    machine: Machine
    values: dict[int, Binding] = field(default_factory=dict[int, Binding])
    repetitions: list[Repetition] = field(default_factory=list[Repetition])
    control_figures: set[str] = field(default_factory=set[str])  # those of the unit that loops and branches asked for

    def block(self, block: PricedBody, way: Way) -> None:
        choices = iter(way)
        for node, dying in zip(block.nodes, block.dying, strict=False):
            if isinstance(node, PricedStep):
                self.step(node)
            else:
                self.control(node, next(choices))
            self.forget(dying)

    def step(self, step: PricedStep) -> None:
        operands = list(self.bindings(step.sources))
        if step.kind == RENAME:
            for value in chain(step.results, step.masks, step.updates):
                self.bind(value, operands[0] if operands else None)
            return
        if step.kind == FENCE:
            self.machine.fence(step.line)
            return
        entry = (self.machine.scalar if step.kind == SCALAR else self.machine.issue)(step, operands)
        for value in chain(step.results, step.masks):
            self.bind(value, Binding(entry, True))
        for value in step.updates:
            self.bind(value, Binding(entry, False))

    def control(self, control: PricedControl, choice: Choice) -> None:
        if isinstance(control.node, ModelBranch):
            assert isinstance(choice, tuple)
            self.branch(control, control.node, *choice)
        else:
            assert isinstance(choice, LoopTurns)
            self.loop(control, control.node, choice)

    def branch(self, control: PricedControl, node: ModelBranch, taken: int, way: Way) -> None:
        self.machine.wait_for(self.bindings(node.condition), node.line)
        self.pause("branch", "branch", node.line)
        block = control.blocks[0 if taken else 1]
        self.block(block, way)
        self.move(node.then_yielded if taken else node.otherwise_yielded, node.results, block.dying[-1])

    def loop(self, control: PricedControl, node: ModelLoop | ModelWhile, turns: LoopTurns) -> None:
        self.pause("loop_entry", "loop", node.line)
        self.move(node.initial, node.arguments, control.dying_on_entry)
        self.iterations(control, node, turns)
        if isinstance(node, ModelWhile):
            self.decide(control, node, turns.way(turns.count))
            self.move(node.passed, node.results, control.blocks[0].dying[-1])
        else:
            self.move(node.arguments, node.results, node.arguments)
        self.machine.pause(0, "loop", node.line)

    def iterations(self, control: PricedControl, node: ModelLoop | ModelWhile, turns: LoopTurns) -> None:
        machine = self.machine
        body = control.blocks[-1]
        begun = machine.cycle
        seen: dict[object, tuple[int, int]] = {}
        before = len(machine.started)
        iteration = simulated = 0
        while iteration < turns.count:
            if iteration == 1 and control.post_update:
                self.pause("post_update", "loop", node.line)
            if iteration:
                self.control_figures.add("iteration")
                begun = machine.turn(begun, node.line)
                work = len(machine.started) - before + simulated
                if min(work, work * (turns.count - iteration) // simulated) >= _PATIENCE:
                    iteration += self.repeat(seen, iteration, turns)
                if iteration == turns.count:
                    break
            way = turns.way(iteration)
            if isinstance(node, ModelWhile):
                way = self.decide(control, node, way)
                self.move(node.passed, node.after_arguments, control.blocks[0].dying[-1])
            self.block(body, way)
            self.move(node.yielded, node.arguments, body.dying[-1])
            iteration += 1
            simulated += 1

    def decide(self, control: PricedControl, node: ModelWhile, way: Way) -> Way:
        """Run the part of a while that decides; what remains of the way."""
        before = control.blocks[0]
        choices = sum(isinstance(inner, PricedControl) for inner in before.nodes)
        self.block(before, way[:choices])
        self.machine.wait_for(self.bindings(node.condition), node.line)
        self.pause("branch", "branch", node.line)
        return way[choices:]

    def pause(self, figure: str, cause: str, line: int) -> None:
        """Let issue pause for as long as a figure of the unit says; before the first instruction it has no effect."""
        if self.machine.previous is not None:
            self.control_figures.add(figure)
        self.machine.pause(getattr(self.machine.unit, figure), cause, line)

    def repeat(self, seen: dict[object, tuple[int, int]], iteration: int, turns: LoopTurns) -> int:
        """The iterations that need not be simulated, if the machine is in a state that it was in before."""
        state, now = signature(self.machine, self.values), self.machine.cycle
        earlier, then = seen.get(state, (iteration, now))
        seen[state] = iteration, now
        period = iteration - earlier
        if period == 0:
            return 0
        # The last stretch is simulated all the same, so that the way the schedule ends does not lie in the window that
        # stands for its steady part.
        rest = ceil(_ENDING * self.machine.unit.shared_queue / (now - then))
        periods = turns.repeats(iteration, period) - rest
        if periods <= 0:
            return 0
        self.repetitions.append(Repetition(then, now, periods))
        seen.clear()  # a window that began inside this one could not be repeated as a whole
        seen[state] = iteration + periods * period, now
        return periods * period

    # --- values -------------------------------------------------------------------------------------------------------

    def bindings(self, values: Values) -> Iterator[Binding]:
        """The meanings of values; one from outside the vector function is there from the start."""
        return (self.values[value] for value in values if value in self.values)

    def bind(self, value: int, binding: Binding | None) -> None:
        self.forget((value,))
        if binding:
            self.values[value] = binding
            self.hold(binding)

    def move(self, sources: Values, destinations: Values, dying: Values) -> None:
        """Let the destinations stand for what the sources stand for, all at once, and forget the dying values.

        A destination may be a source too, as where a loop hands on its argument, and may therefore be dying.
        """
        bindings = [self.values.get(source) for source in sources]
        for binding in bindings:
            self.hold(binding)
        self.forget(dying)
        for destination, binding in zip(destinations, bindings, strict=True):
            self.bind(destination, binding)
        for binding in bindings:
            self.drop(binding)

    def hold(self, binding: Binding | None) -> None:
        if binding and binding.register:
            binding.entry.names += 1

    def drop(self, binding: Binding | None) -> None:
        if binding:
            self.machine.unname(binding)

    def forget(self, values: Values) -> None:
        for value in values:
            self.drop(self.values.pop(value, None))


def _summary(run: _Run, unit: IssueUnit) -> VectorFunctionTiming:
    machine = run.machine
    clock = Clock(run.repetitions)
    lines: Counter[int] = Counter()
    causes: Counter[str] = Counter({"launch": unit.startup + unit.drain})
    for span in critical_path(machine.ends_last) if machine.ends_last else ():
        cycles = clock.time(span.end) - clock.time(span.begin)
        lines[span.line] += cycles
        causes[span.cause] += cycles
    return VectorFunctionTiming(
        cycles=unit.startup + clock.time(machine.end) + unit.drain,
        startup=unit.startup,
        drain=unit.drain,
        lines={line: cycles for line, cycles in sorted(lines.items()) if cycles},
        causes={cause: cycles for cause, cycles in causes.most_common() if cycles},
        busy=_busy(machine, clock),
        figures=frozenset(_figures(run, unit)),
        limit=_limit(causes, machine, clock),
    )


def _figures(run: _Run, unit: IssueUnit) -> Iterator[str]:
    for figure in unit._fields:
        if figure not in _OF_CONTROL and figure not in ("classes", "forward"):
            yield f"vector.{figure}"
    yield from (f"vector.{figure}" for figure in run.control_figures)
    for timing_class in {entry.step.timing_class for entry in run.machine.started}:
        yield from (f"class.{timing_class}.{figure}" for figure in IssueClass._fields)
    for producer, consumer in run.machine.reached:
        row = unit.forward[producer]
        yield f"forward.{producer}.{consumer if consumer in row else unit.classes[consumer].consumer}"


def _limit(causes: Counter[str], machine: Machine, clock: Clock) -> str:
    """The largest cause. But issue is not to blame where what it has issued piles up, ready, in front of a unit."""
    largest = causes.most_common(1)[0][0]
    if largest not in ("issue", "loop"):
        return largest
    piled: Counter[str] = Counter()
    for entry in machine.started:
        piled[entry.step.unit] += clock.weight(entry.start) * (entry.start - max(entry.issued, entry.ready))
    unit, cycles = piled.most_common(1)[0]
    return unit if cycles > clock.time(machine.end) else largest


def _busy(machine: Machine, clock: Clock) -> dict[str, float]:
    """The cycles in which each unit was taken; for the SFU, which sits behind both ports, the mean of the two."""

    def starts(kind: int) -> int:
        return sum(map(clock.weight, {entry.start for entry in machine.started if entry.step.kind == kind}))

    busy = {"issue": sum(map(clock.weight, machine.issue_cycles)), "EXU0": 0, "EXU1": 0, "SFU": 0.0}
    for entry in machine.started:
        cycles = entry.step.interval * clock.weight(entry.start)
        if entry.port:
            busy[entry.port] += cycles
        if entry.step.unit == "SFU":
            busy["SFU"] += cycles / 2
    return {**busy, "load": starts(LOAD), "store": starts(STORE)}
