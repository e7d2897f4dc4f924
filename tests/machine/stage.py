"""A stage for hand-written scalar programs: numbered sites, a log of what happened, an observer that keeps notes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ptosim.diagnostics import Diagnostic, Location
from ptosim.effects.names import CoreKind, Pipe
from ptosim.machine.core import Core
from ptosim.machine.deadlock import Deadlock, Reachable
from ptosim.machine.entry import Entry, Key, Site
from ptosim.machine.launch import KernelKind, LaunchGeometry
from ptosim.machine.observer import Observer
from ptosim.machine.scheduler import Scheduler
from ptosim.target.profile import load_target

A5 = load_target("a5")
A2A3 = load_target("a2a3")

S, V, M, MTE1, MTE2, MTE3, FIX, ALL = (
    Pipe.S,
    Pipe.V,
    Pipe.M,
    Pipe.MTE1,
    Pipe.MTE2,
    Pipe.MTE3,
    Pipe.FIX,
    Pipe.ALL,
)
SCHEDULES = ["program", *(f"random:{seed}" for seed in range(30)), *(f"delay:{pipe}" for pipe in (S, V, MTE2, MTE3))]


def at(line: int, name: str = "op", pipe: Pipe = S) -> Site:
    return Site(name, Location("kernel.pto", line, 1), pipe)


def run(
    program: Callable[[Core], None],
    *,
    kind: KernelKind = KernelKind.VECTOR,
    target=A5,
    schedule: str = "program",
    observer: Observer | None = None,
    reachable: Reachable | None = None,
    blocks: int = 1,
    together: bool = False,
) -> Scheduler:
    scheduler = Scheduler(
        target, LaunchGeometry(kind, blocks), program, schedule=schedule, observer=observer, reachable=reachable
    )
    if together:
        scheduler.run_grid()
    else:
        for block in range(blocks):
            scheduler.run_block(block)
    return scheduler


def mixed(
    aic: Callable[[Core], None] | None = None,
    aiv0: Callable[[Core], None] | None = None,
    aiv1: Callable[[Core], None] | None = None,
) -> Callable[[Core], None]:
    """One program per core of a cluster; a core without one returns at once."""
    programs = {"aic": aic, "aiv0": aiv0, "aiv1": aiv1}

    def program(core: Core) -> None:
        chosen = programs[core.role]
        if chosen:
            chosen(core)

    return program


class Log(list[str]):
    """What was done, in order."""

    def work(self, core: Core, pipe: Pipe, word: str) -> None:
        """Work that writes a word when it happens: copies of MTE2 and MTE3 when they end."""
        if pipe in (MTE2, MTE3):
            core.work(pipe, at(0, word, pipe), lambda: word, self.append)
        else:
            core.work(pipe, at(0, word, pipe), lambda: self.append(word))


@dataclass
class Recorder(Observer):
    """An observer that keeps everything, which only a test may do."""

    wants_clocks: bool = True
    events: list[tuple[str, Entry]] = field(default_factory=list)
    reports: list[Diagnostic] = field(default_factory=list)
    deadlocks: list[Deadlock] = field(default_factory=list)
    cores: list[tuple[str, str]] = field(default_factory=list)

    def begin(self, core: Core) -> None:
        self.cores.append(("begin", core.name))

    def finish(self, core: Core) -> None:
        self.cores.append(("finish", core.name))

    def issue(self, entry: Entry) -> None:
        self.events.append(("issue", entry))

    def start(self, entry: Entry) -> None:
        self.events.append(("start", entry))

    def end(self, entry: Entry) -> None:
        self.events.append(("end", entry))

    def report(self, diagnostic: Diagnostic, entry: Entry) -> None:
        self.reports.append(diagnostic)

    def deadlock(self, deadlock: Deadlock) -> None:
        self.deadlocks.append(deadlock)

    def entry(self, line: int) -> Entry:
        """The last entry that came from a line."""
        return next(entry for _, entry in reversed(self.events) if entry.line == line)

    def kinds(self) -> list[str]:
        return [report.kind for report in self.reports]


def always(core: Core, key: Key) -> bool:
    return True


CUBE_AND_VECTOR = frozenset({CoreKind.AIC, CoreKind.AIV})
