"""The A5 vector unit at work: instructions are issued in order, wait in queues, start when operands and ports allow.

`Machine` knows single instructions and cycles. Loops, branches and the repetition of schedules belong to
`vector_function`, the question where the time went to `critical_path`.

The rules, each figure from the target:

* Each cycle issues instructions in program order, as many as decode and issue width let through, while the shared
  queue, the execute queue and the vector registers have room. An instruction leaves its queue when it starts.
* The execute queue starts whatever is ready, oldest first, on the two execute ports. Loads start in order, and stores
  start in order.
* Loads go first: a store starts only in a cycle whose loads leave room beside them.
* An operand is there so many cycles after the start of its producer as the forwarding table says; a pointer or scalar
  that a vector instruction updates, as soon as the result of a scalar instruction would be.
* Scalar instructions, and those on predicates alone, take no issue slot. They run ahead of the vector instructions by
  at most the depth of the shared queue, in cycles.
* A register is free again some cycles after its last reader has started.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain, count

from ptosim.target.tables import IssueUnit
from ptosim.timing.price import EXECUTE, LOAD, STORE, PricedStep


@dataclass(slots=True, eq=False)
class IssuedStep:
    """One execution of a step. Whatever delayed it is kept, for the critical path."""

    step: PricedStep
    issued: int
    ready: int  # the operands known so far are there
    issue_cause: str
    issue_after: "IssuedStep | None"  # the entry that issue waited for: see critical_path
    issue_line: int
    start: int = -1
    start_cause: str = ""
    start_after: "IssuedStep | None" = None
    producer: "IssuedStep | None" = None  # of the operand that came last
    waiting: int = 0  # operands whose producers have not started
    consumers: list[tuple["IssuedStep", int]] = field(default_factory=list["tuple[IssuedStep, int]"])
    reads: list["IssuedStep"] = field(default_factory=list["IssuedStep"])  # producers of the registers it reads
    names: int = 0  # values that stand for its registers
    readers: int = 0  # readers of its registers that have not started
    last_reader: "IssuedStep | None" = None
    port: str = ""  # the execute port it went to

    @property
    def end(self) -> int:
        return self.start + self.step.latency


@dataclass(frozen=True, slots=True)
class Binding:
    """The meaning of a value: a register of an entry, or a pointer or scalar that it updates."""

    entry: IssuedStep
    register: bool


@dataclass(slots=True)
class ExecutionPort:
    name: str
    free: int = 0
    last: IssuedStep | None = None

    def earliest(self, step: PricedStep) -> int:
        """The earliest cycle in which the port takes a step; results of ALU instructions leave a port in order."""
        last = self.last
        if last is None or not (step.retires_in_order and last.step.retires_in_order):
            return self.free
        return max(self.free, last.start + last.step.latency - step.latency + 1)


class Machine:
    """The vector unit in one cycle."""

    def __init__(self, unit: IssueUnit) -> None:
        self.unit = unit
        self.horizon = _horizon(unit)
        self.cycle = 0
        self.issued_now = 0  # instructions issued in this cycle
        self.previous: IssuedStep | None = None  # the last one issued
        self.not_before = 0  # issue pauses until then
        self.pause_cause, self.pause_line = "issue", 0
        self.execute: list[IssuedStep] = []
        self.loads: deque[IssuedStep] = deque()
        self.stores: deque[IssuedStep] = deque()
        self.ports = ExecutionPort("EXU0"), ExecutionPort("EXU1")
        self.load_free = [0] * unit.load_slots
        self.store_free = [0] * unit.store_slots
        self.registers = 0  # in use
        self.releases: list[
            tuple[int, int, int, IssuedStep]
        ] = []  # cycle, order, registers, whose reading released them
        self.reached: set[tuple[str, str]] = set()  # timing classes of a producer and a consumer of its result
        self.order = count()
        self.last_memory: IssuedStep | None = None  # started last
        self.last_started: IssuedStep | None = None  # likewise, of all that were in a queue
        self.memory_end = 0  # every access that has started has ended by then,
        self.ends_last_in_memory: IssuedStep | None = None  # because this one has
        self.end = 0  # likewise for every entry
        self.ends_last: IssuedStep | None = None
        self.issue_cycles: list[int] = []
        self.started: list[IssuedStep] = []

    # --- issue --------------------------------------------------------------------------------------------------------

    def issue(self, step: PricedStep, operands: Iterable[Binding]) -> IssuedStep:
        """Issue an instruction as soon as there is room for it."""
        cause, after, line = self._wait_for_room(step)
        entry = IssuedStep(step, self.cycle, self.cycle, cause, after, line)
        if self.issued_now == 0:
            self.issue_cycles.append(self.cycle)
        self.issued_now += 1
        self.previous = entry
        self.registers += len(step.results)
        self._connect(entry, operands)
        {EXECUTE: self.execute, LOAD: self.loads, STORE: self.stores}[step.kind].append(entry)
        return entry

    def scalar(self, step: PricedStep, operands: Iterable[Binding]) -> IssuedStep:
        """A scalar instruction starts when its operands are there."""
        issued = max(self.cycle, self.not_before)
        entry = IssuedStep(step, issued, issued, "issue", self.previous, step.line)
        self._connect(entry, operands)
        if entry.waiting == 0:
            self._start_scalar(entry)
            self._pause_until(entry.start - self.unit.shared_queue, "issue", step.line)
        return entry

    def fence(self, line: int) -> None:
        """Nothing is issued until every earlier access to memory has ended."""
        while self.loads or self.stores:
            self.step()
        self._pause_until(self.memory_end, "fence", line)

    def pause(self, cycles: int, cause: str, line: int) -> None:
        """Issue goes on in a new cycle, after so many idle ones; before the first instruction start-up hides them."""
        if self.previous is None:
            return
        if self.issued_now:
            self.step()
        self._pause_until(max(self.cycle, self.not_before) + cycles, cause, line)

    def turn(self, begun: int, line: int) -> int:
        """Begin an iteration, so many cycles after the one before had `begun`; the cycle in which it begins."""
        if self.issued_now:
            self.step()
        self._pause_until(begun + self.unit.iteration, "issue", line)
        while self.cycle < self.not_before:
            self.step()
        return self.cycle

    def wait_for(self, operands: Iterable[Binding], line: int) -> None:
        """Issue waits for the values that decide where it goes on."""
        for operand in operands:
            while operand.entry.start < 0:
                self.step()
            self._pause_until(operand.entry.start + self._reach(operand, "scalar"), "branch", line)

    def finish(self) -> None:
        while self.execute or self.loads or self.stores:
            self.step()

    def _pause_until(self, cycle: int, cause: str, line: int) -> None:
        if cycle > self.not_before:
            self.not_before, self.pause_cause, self.pause_line = cycle, cause, line

    def _wait_for_room(self, step: PricedStep) -> tuple[str, IssuedStep | None, int]:
        """Let cycles pass until the step can be issued. Says what the last obstacle was: its cause, entry and line."""
        obstacle = "issue", self.previous, step.line
        if self.not_before >= self.cycle and self.issued_now == 0:
            obstacle = self._pause_obstacle()
        width = min(self.unit.decode, self.unit.issue)
        while True:
            if self.cycle < self.not_before:
                self.step()
                obstacle = self._pause_obstacle()
            elif self.issued_now >= width:
                self.step()
                obstacle = "issue", self.previous, step.line
            elif self._queues_are_full(step):
                self.step()
                obstacle = _behind("queue", self.last_started, step)
            elif self._registers_are_short(step):
                reader = self.releases[0][3] if self.releases else None
                self.step()
                obstacle = _behind("registers", reader or self.last_started, step)
            else:
                return obstacle

    def _pause_obstacle(self) -> tuple[str, IssuedStep | None, int]:
        after = self.ends_last_in_memory if self.pause_cause == "fence" else self.previous
        return self.pause_cause, after, self.pause_line

    def _queues_are_full(self, step: PricedStep) -> bool:
        waiting = len(self.execute)
        if step.kind == EXECUTE and waiting >= self.unit.execute_queue:
            return True
        return waiting + len(self.loads) + len(self.stores) >= self.unit.shared_queue

    def _registers_are_short(self, step: PricedStep) -> bool:
        needed = len(step.results)
        while self.releases and self.releases[0][0] <= self.cycle:
            self.registers -= heappop(self.releases)[2]
        # More values alive than registers: a compiler would spill some. Here the limit gives way once nothing else can.
        idle = not (self.execute or self.loads or self.stores or self.releases)
        return needed > 0 and self.registers + needed > self.unit.registers and not idle

    # --- operands and registers ---------------------------------------------------------------------------------------

    def _connect(self, entry: IssuedStep, operands: Iterable[Binding]) -> None:
        for operand in operands:
            producer = operand.entry
            reach = self._reach(operand, entry.step.timing_class)
            if producer.start >= 0:
                _arrive(entry, producer, reach)
            else:
                entry.waiting += 1
                producer.consumers.append((entry, reach))
            if operand.register:
                entry.reads.append(producer)
                producer.readers += 1

    def _reach(self, operand: Binding, consumer: str) -> int:
        if not operand.register:
            self.reached.add(("scalar", "scalar"))
            return self.unit.forward["scalar"]["alu"][0]
        self.reached.add((operand.entry.step.timing_class, consumer))
        return operand.entry.step.reach[consumer]

    def unname(self, binding: Binding) -> None:
        """A value is not used any more."""
        if binding.register:
            binding.entry.names -= 1
            self._release(binding.entry)

    def _release(self, entry: IssuedStep) -> None:
        """Free the registers of an entry when no reader is left."""
        if entry.names or entry.readers or entry.start < 0 or not entry.step.results:
            return
        if entry.last_reader:
            reader, cycle = entry.last_reader, entry.last_reader.start + self.unit.register_release
        else:
            reader, cycle = entry, entry.end
        heappush(self.releases, (cycle, next(self.order), len(entry.step.results), reader))

    # --- starting -----------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Start what can start in this cycle and go on to the next in which anything can happen."""
        before = len(self.started)
        self._start_executions()
        self._start_accesses()
        if len(self.started) > before or self.issued_now:
            self.cycle += 1
        else:
            self.cycle = min(self._next_events(), default=self.cycle + 1)
        self.issued_now = 0

    def _start_executions(self) -> None:
        for entry in list(self.execute):
            if entry.waiting or entry.ready > self.cycle:
                continue
            port = self._port(entry.step)
            if port.earliest(entry.step) > self.cycle:
                continue
            self.execute.remove(entry)
            self._begin(entry, port.last)
            entry.port, port.free, port.last = port.name, self.cycle + entry.step.interval, entry

    def _port(self, step: PricedStep) -> ExecutionPort:
        """The port that takes the step first; EXU1 if both do, because some steps can only go to EXU0."""
        exu0, exu1 = self.ports
        if step.port == "exu0":
            return exu0
        return exu1 if max(exu1.earliest(step), self.cycle) <= max(exu0.earliest(step), self.cycle) else exu0

    def _start_accesses(self) -> None:
        used = 0
        while self.loads and self._can_start(self.loads[0], self.load_free):
            load = self.loads.popleft()
            slots = self._slots(load.step, self.load_free)
            used += len(slots)
            self._begin_access(load, self.load_free, slots)
        if used > self.unit.load_slots_beside_store:
            return
        while self.stores and self._can_start(self.stores[0], self.store_free):
            store = self.stores.popleft()
            self._begin_access(store, self.store_free, self._slots(store.step, self.store_free))

    def _can_start(self, entry: IssuedStep, free: list[int]) -> bool:
        return not entry.waiting and entry.ready <= self.cycle and bool(self._slots(entry.step, free))

    def _slots(self, step: PricedStep, free: list[int]) -> list[int]:
        """The slots that the step would take in this cycle; none if it has to wait."""
        idle = [slot for slot, cycle in enumerate(free) if cycle <= self.cycle]
        if step.port == "both-loads":
            return idle if len(idle) == len(free) else []
        return idle[:1]

    def _begin_access(self, entry: IssuedStep, free: list[int], slots: list[int]) -> None:
        for slot in slots:
            free[slot] = self.cycle + max(1, entry.step.interval)
        self._begin(entry, self.last_memory)
        self.last_memory = entry
        if entry.end > self.memory_end:
            self.memory_end, self.ends_last_in_memory = entry.end, entry

    def _begin(self, entry: IssuedStep, occupant: IssuedStep | None) -> None:
        """Start an entry from a queue; if neither issue nor an operand held it back, the occupant of its unit did."""
        if self.cycle > entry.issued:
            if self.cycle == entry.ready and entry.producer not in (None, occupant):
                entry.start_cause, entry.start_after = "dependency", entry.producer
            elif occupant:
                entry.start_cause, entry.start_after = occupant.step.unit, occupant
        self.last_started = entry
        self._started(entry, self.cycle)

    def _start_scalar(self, entry: IssuedStep) -> None:
        if entry.ready > entry.issued and entry.producer:
            entry.start_cause, entry.start_after = "dependency", entry.producer
        self._started(entry, entry.ready)

    def _started(self, entry: IssuedStep, cycle: int) -> None:
        entry.start = cycle
        self.started.append(entry)
        if entry.end > self.end:
            self.end, self.ends_last = entry.end, entry
        for producer in entry.reads:
            producer.readers -= 1
            producer.last_reader = entry
            self._release(producer)
        self._release(entry)
        for consumer, reach in entry.consumers:
            _arrive(consumer, entry, reach)
            consumer.waiting -= 1
            if not consumer.waiting and consumer.step.is_scalar:
                self._start_scalar(consumer)
        entry.consumers.clear()

    def _next_events(self) -> Iterator[int]:
        """Later cycles in which an entry may start, issue may go on or registers come free."""
        queued = chain(self.execute, self.loads, self.stores)
        times = chain(
            (entry.ready for entry in queued if not entry.waiting),
            (port.earliest(entry.step) for port in self.ports for entry in self.execute),
            self.load_free,
            self.store_free,
            (release[0] for release in self.releases),
            (self.not_before,),
        )
        return (time for time in times if time > self.cycle)


def _horizon(unit: IssueUnit) -> int:
    """The most cycles back at which a start can still matter."""
    latencies = chain.from_iterable(prices.latency for prices in unit.classes.values())
    reaches = chain.from_iterable(chain.from_iterable(row.values() for row in unit.forward.values()))
    return max(unit.register_release, *latencies, *reaches)


def _arrive(entry: IssuedStep, producer: IssuedStep, reach: int) -> None:
    """An operand of the entry will be there so many cycles after its producer has started."""
    there = producer.start + reach
    if there >= entry.ready:
        entry.ready, entry.producer = there, producer


def _behind(cause: str, entry: IssuedStep | None, step: PricedStep) -> tuple[str, IssuedStep | None, int]:
    return cause, entry, entry.step.line if entry else step.line
