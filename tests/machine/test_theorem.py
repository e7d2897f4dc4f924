"""If one run has no race and no deadlock, every schedule gives the same bytes: tried on random programs.

The programs move numbers between a few cells. The clocks of one observed run in program order decide whether two
accesses of a cell race; if none do, every schedule must leave the same cells. That races do show is checked as well, so
that neither clocks that see too much order nor schedules that shuffle too little go unnoticed.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from machine.stage import A2A3, A5, ALL, FIX, MTE1, MTE2, MTE3, Recorder, S, V, at, run
from ptosim.diagnostics import PTOError
from ptosim.effects.names import PIPES_OF, UB, Pipe
from ptosim.machine.clock import ordered
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry
from ptosim.machine.launch import KernelKind, LaunchGeometry
from ptosim.machine.sync import Form

CELLS = 8
Step = Callable[["State", Core], None]


@dataclass
class State:
    """The cells of one run, the value each scalar unit carries, and who touched what in an observed run."""

    cells: list[int] = field(default_factory=lambda: list(range(CELLS)))
    scalar: dict[str, int] = field(default_factory=dict)
    touched: dict[int, list[tuple[Entry, bool]]] = field(default_factory=dict)

    def touch(self, entry: Entry | None, cell: int, write: bool) -> None:
        if entry:
            self.touched.setdefault(cell, []).append((entry, write))

    def races(self) -> bool:
        return any(
            (first_writes or second_writes) and not ordered(first, second) and not ordered(second, first)
            for accesses in self.touched.values()
            for position, (first, first_writes) in enumerate(accesses)
            for second, second_writes in accesses[position + 1 :]
            if first is not second
        )


def mix(*values: int) -> int:
    return hash(values) & 0xFFFFFFFF


def move(pipe: Pipe, label: int, source: int, target: int) -> Step:
    def step(state: State, core: Core) -> None:
        def start() -> int:
            state.touch(core.current, source, write=False)
            value = mix(label, state.cells[source])
            if pipe not in (MTE2, MTE3):
                finish(value)
            return value

        def finish(value: int) -> None:
            state.touch(core.current, target, write=True)
            state.cells[target] = value

        core.work(pipe, at(label), start, finish if pipe in (MTE2, MTE3) else None)

    return step


def scalar_load(label: int, cell: int) -> Step:
    def step(state: State, core: Core) -> None:
        if core.observer:
            state.touch(core.scalar_load(at(label)), cell, write=False)
        state.scalar[core.name] = mix(state.scalar.get(core.name, 0), state.cells[cell])

    return step


def scalar_store(label: int, cell: int) -> Step:
    def step(state: State, core: Core) -> None:
        if core.observer:
            state.touch(core.scalar_store(at(label), UB), cell, write=True)
        state.cells[cell] = mix(label, state.scalar.get(core.name, 0))

    return step


def call(name: str, *operands: object) -> Step:
    return lambda state, core: getattr(core, name)(at(0), *operands)


class Generator:
    """Builds one step sequence per core. A wait is appended after its set, so that an order without deadlock exists;
    some waits are then moved ahead."""

    def __init__(self, seed: int, kind: KernelKind, direct: bool) -> None:
        self.random = random.Random(seed)
        self.direct = direct
        self.places = LaunchGeometry(kind, 1).places(0)
        self.steps: dict[str, list[Step]] = {place.role: [] for place in self.places}

    def programs(self, length: int) -> dict[str, list[Step]]:
        makers = [self.moves, self.moves, self.flag, self.flag, self.flag, self.flag, self.buffer, self.others]
        if len(self.places) > 1:
            makers += [self.signal, self.signal, self.signal]
        for label in range(1, length):
            self.random.choice(makers)(label)
        return self.steps

    def core(self) -> tuple[list[Step], list[Pipe]]:
        place = self.random.choice(self.places)
        return self.steps[place.role], [pipe for pipe in PIPES_OF[place.kind] if pipe is not S]

    def cell(self) -> int:
        return self.random.randrange(CELLS)

    def moves(self, label: int) -> None:
        steps, pipes = self.core()
        steps.append(move(self.random.choice(pipes), label, self.cell(), self.cell()))

    def flag(self, label: int) -> None:
        steps, pipes = self.core()
        src, dst = self.random.sample([*pipes, S], 2)
        event = self.random.randrange(2)
        steps.append(call("set_flag", src, dst, event))
        early = dst is not S and self.random.random() < 0.15
        position = max(0, len(steps) - self.random.randrange(1, 4)) if early else len(steps)
        steps.insert(position, call("wait_flag", src, dst, event))

    def buffer(self, label: int) -> None:
        steps, pipes = self.core()
        pipe, number, mode = self.random.choice(pipes), self.random.randrange(2), int(self.random.random() < 0.2)
        steps.append(call("get_buffer", pipe, number, mode))
        steps.append(move(pipe, label, self.cell(), self.cell()))
        steps.append(call("release_buffer", pipe, number, mode))

    def others(self, label: int) -> None:
        steps, pipes = self.core()
        steps.append(
            self.random.choice(
                [
                    scalar_load(label, self.cell()),
                    scalar_store(label, self.cell()),
                    call("dsb"),
                    call("barrier", self.random.choice(pipes)),
                    call("barrier", ALL),
                ]
            )
        )

    def signal(self, label: int) -> None:
        k, f = self.random.randrange(2), self.random.randrange(2)
        aic = self.steps["aic"]
        cube_pipe, vector_pipe = self.random.choice([MTE2, MTE1, FIX, ALL]), self.random.choice([MTE2, V, MTE3, ALL])
        cube_id = f + 16 * k if self.direct else f
        others = [self.steps[f"aiv{one}"] for one in range(2) if one == k or not self.direct]
        if self.random.random() < 0.5:
            aic.append(call("semaphore_set", cube_pipe, cube_id))
            for steps in others:
                steps.append(call("semaphore_wait", vector_pipe, f))
        elif self.random.random() < 0.7:
            for steps in others:
                steps.append(call("semaphore_set", vector_pipe, f))
            aic.append(call("semaphore_wait", cube_pipe, cube_id))
        else:
            for steps in (self.steps["aiv0"], self.steps["aiv1"]):
                steps.append(call("semaphore_set", vector_pipe, f, Form.VECTOR_PAIR))
                steps.append(call("semaphore_wait", vector_pipe, f, Form.VECTOR_PAIR))


def execute(steps: dict[str, list[Step]], state: State, **options) -> tuple[list[int], dict[str, int]]:
    def program(core: Core) -> None:
        for step in steps[core.role]:
            step(state, core)

    run(program, **options)
    return state.cells, state.scalar


def survey(kind: KernelKind, target, programs: int, schedules: list[str]) -> tuple[int, int, int]:
    """How many programs were clean, how many raced, and of how many of these the races showed."""
    clean = racy = shown = 0
    direct = target.sync.inter_core_signal == "direct"
    for seed in range(programs):
        steps = Generator(seed, kind, direct).programs(length=6 + seed % 14)
        recorder, state = Recorder(), State()
        expected = execute(steps, state, kind=kind, target=target, observer=recorder)
        if recorder.deadlocks or "semaphore-overflow" in recorder.kinds():
            continue
        if state.races() or "race" in recorder.kinds():
            racy += 1
            shown += any(outcome(steps, name, kind, target) != expected for name in schedules)
            continue
        clean += 1
        for name in ["program", *schedules]:
            assert execute(steps, State(), kind=kind, target=target, schedule=name) == expected, (seed, name)
    return clean, racy, shown


def outcome(steps: dict[str, list[Step]], schedule: str, kind: KernelKind, target) -> object:
    """What a racy program leaves, or that it got stuck."""
    try:
        return execute(steps, State(), kind=kind, target=target, schedule=schedule)
    except PTOError as problem:
        return problem.diagnostics[0].kind


def test_one_vector_core(full: bool) -> None:
    schedules = [*(f"random:{seed}" for seed in range(12)), *(f"delay:{pipe}" for pipe in (V, MTE2, MTE3, S))]
    clean, racy, shown = survey(KernelKind.VECTOR, A5, 4000 if full else 400, schedules)
    assert clean > racy / 8
    assert shown > racy / 2


@pytest.mark.parametrize("target", [A5, A2A3], ids=["a5", "a2a3"])
def test_a_cluster(target, full: bool) -> None:
    schedules = [*(f"random:{seed}" for seed in range(5)), "delay:MTE3", "delay:FIX", "delay:S"]
    clean, racy, shown = survey(KernelKind.MIXED, target, 1500 if full else 150, schedules)
    assert clean > racy / 20
    assert shown > racy / 3
