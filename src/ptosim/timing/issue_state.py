"""The state of the issue model as a value: equal for two moments after which the same program runs alike.

Times are counted from the current cycle, and those too long ago to matter are all the same; entries are numbered in the
order in which they are met.
"""

from collections.abc import Mapping

from ptosim.timing.a5_vector import Binding, ExecutionPort, IssuedStep, Machine


def signature(machine: Machine, values: Mapping[int, Binding]) -> object:
    """Taken between two cycles, before anything is issued in the new one."""
    return _Snapshot(machine).take(values)


class _Snapshot:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.numbers: dict[int, int] = {}
        self.met: list[IssuedStep] = []

    def take(self, values: Mapping[int, Binding]) -> object:
        machine = self.machine
        queues = [[self.number(entry) for entry in queue] for queue in (machine.execute, machine.loads, machine.stores)]
        bound = [(value, values[value].register, self.number(values[value].entry)) for value in sorted(values)]
        entries: list[object] = []
        for entry in self.met:  # grows while entries name further ones
            entries.append(self.entry(entry))
        return repr(
            (
                queues,
                bound,
                entries,
                [self.port(port) for port in machine.ports],
                [max(0, free - machine.cycle) for free in (*machine.load_free, *machine.store_free)],
                machine.registers,
                sorted((max(0, release[0] - machine.cycle), release[2]) for release in machine.releases),
                max(0, machine.not_before - machine.cycle),
                self.ago(machine.end),
                self.ago(machine.memory_end),
            )
        )

    def number(self, entry: IssuedStep) -> int:
        if id(entry) not in self.numbers:
            self.numbers[id(entry)] = len(self.met)
            self.met.append(entry)
        return self.numbers[id(entry)]

    def ago(self, cycle: int) -> int:
        return max(cycle - self.machine.cycle, -self.machine.horizon)

    def entry(self, entry: IssuedStep) -> object:
        step = entry.step.index
        read = self.ago(entry.last_reader.start) if entry.last_reader else None
        if entry.start >= 0:
            return step, self.ago(entry.start), entry.names, entry.readers, read
        consumers = [(self.number(consumer), reach) for consumer, reach in entry.consumers]
        reads = [self.number(producer) for producer in entry.reads]
        return step, self.ago(entry.ready), entry.waiting, entry.names, entry.readers, read, consumers, reads

    def port(self, port: ExecutionPort) -> object:
        return max(0, port.free - self.machine.cycle), port.last and (port.last.step.index, self.ago(port.last.start))
