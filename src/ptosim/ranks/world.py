"""Several ranks: symmetric memory, contexts, and a list of launches that run, are checked and are timed together.

    world = ptosim.World(ranks=2, target="a5")
    recv, flag = world.symmetric((512, 4096), "i1"), world.symmetric((2, 1), "i4")
    world.launch(push, ptosim.each(x0, x1), recv, flag, ptosim.RANK, world.context(recv), grid=32)
    world.launch(wait, flag, ptosim.RANK)
    world.run()                                          # recv[r] is the array of rank r

Launches of one stream of a rank follow each other; streams and ranks go on side by side. What an argument means on each
rank is said in ranks/rank_arguments.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ptosim.arguments import launchable, whole
from ptosim.diagnostics import Finding, error
from ptosim.machine.memory import MOST_RANKS, MOST_WINDOWS
from ptosim.module import Kernel
from ptosim.options import MEM_BARS, choice, count, engine_at_hand
from ptosim.ranks.rank_arguments import (
    At,
    Context,
    ContextOf,
    GlobalSpace,
    Symmetric,
    Values,
    described_arguments,
    resolved,
    windows_in,
)

if TYPE_CHECKING:
    from ptosim.machine.core import Core
    from ptosim.machine.entry import Key
    from ptosim.machine.observer import Observer
    from ptosim.reference.engine import Run
    from ptosim.report.check_report import CheckReport
    from ptosim.report.envelope import ReportSubject
    from ptosim.report.fix import Fix
    from ptosim.report.profile import Profile
    from ptosim.sanitize.undefined_and_racy import MemBar
    from ptosim.target.profile import Target

MOST_BLOCKS = 1 << 16
"""The most blocks of one launch: each has a thread."""


@dataclass(frozen=True, eq=False)
class WorldLaunch:
    """One launch as it was asked for: the values of every parameter on each rank."""

    kernel: Kernel
    values: Sequence[Values]
    given: Sequence[Any]
    grid: int
    stream: int


class World:
    """A number of ranks, their windows, and the launches that have not run yet."""

    def __init__(self, ranks: int, target: str | None = None) -> None:
        """`target` ("a5", "a2", "a3") overrides that of the kernels, which must agree otherwise."""
        self.ranks = _within("ranks", ranks, 1, MOST_RANKS)
        self._architecture = _architecture(target)
        self.windows: list[Symmetric] = []
        self._launches: list[WorldLaunch] = []

    def symmetric(self, shape: int | Sequence[int], dtype: Any) -> Symmetric:
        """A window: an array of zeros on each rank, which every rank can address. `dtype` is NumPy's, or "bf16"."""
        return self.adopt(Symmetric(shape, dtype))

    def adopt(self, window: Symmetric) -> Symmetric:
        """Make a window from the value of `ptosim.symmetric`."""
        if len(self.windows) >= MOST_WINDOWS:
            raise error("limit", f"a world has at most {MOST_WINDOWS} windows")
        window.allot(len(self.windows), self.ranks)
        self.windows.append(window)
        return window

    def context(self, window: Symmetric) -> Context:
        """The device context of a window, for a parameter of type !pto.ptr<i64>: who I am, where each rank has it."""
        self._own(window)
        return Context(window)

    def launch(self, kernel: Kernel, *args: Any, grid: int = 1, stream: int = 0) -> None:
        """Append a launch on every rank. One argument for each parameter, as for a kernel, or

        a window       each rank's own copy; `window.at(r)` that of rank r
        each(...)      a value for each rank: arrays, numbers, windows
        RANK, RANKS, BLOCK, BLOCKS    numbers that ptosim fills in
        context(w)     the device context of a window
        """
        if not isinstance(kernel, Kernel):  # pyright: ignore[reportUnnecessaryIsInstance]
            kernel = getattr(kernel, "kernel", kernel)  # of one that is written in Python
        if not isinstance(kernel, Kernel):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise error("argument", f"a launch takes a kernel (Module.kernel()), not {type(kernel).__name__}")
        launchable(kernel.signature, args)
        values = [resolved(kernel.signature, args, rank, self.ranks, self.windows) for rank in range(self.ranks)]
        blocks = _within("grid", grid, 1, MOST_BLOCKS)
        self._launches.append(
            WorldLaunch(self._targeted(kernel), values, args, blocks, _within("stream", stream, 0, 1 << 16))
        )

    def run(
        self, engine: str = "native", schedule: str = "program", max_steps: int = 10**9, poison: bool = False
    ) -> None:
        """Run the list of launches on the arrays, and forget it."""
        engine = engine_at_hand(engine)
        if engine != "reference" and schedule != "program":
            raise error("argument", f"schedule {schedule!r} needs engine='reference'; native has only 'program'")
        launches, most = self._list(), count("max_steps", max_steps)
        space = self._space(launches)
        self._launches = []
        if engine == "reference":
            self._reference(launches, space, None, schedule, most, poison)()
        else:
            self._native(launches, space, most, poison)

    def check(
        self, repeat: int = 1, max_findings: int | None = None, max_steps: int = 10**9, mem_bar: MemBar = "relaxed"
    ) -> CheckReport:
        """Run the list under the sanitizer, on copies of all arrays. `repeat=2` runs it twice, with a barrier of the
        host between, memory kept: words that a run leaves set are then there when the next one begins. Whatever a
        kernel does is a finding, also that it cannot begin."""
        from ptosim.checking import beyond_runs, refusals, without_clobbered
        from ptosim.language.analysis.data_cache import shares_ub
        from ptosim.report.check_report import report
        from ptosim.sanitize.program import joint_program
        from ptosim.sanitize.session import observe
        from ptosim.sanitize.undefined_and_racy import Subject

        launches, most = self._list(), count("max_steps", max_steps)
        rounds, strictness = _within("repeat", repeat, 1, 1 << 16), choice("mem_bar", mem_bar, MEM_BARS)
        space = self._space(launches)
        kernels = list(dict.fromkeys(each.kernel for each in launches))
        about = self.subject()
        if refused := list(dict.fromkeys(found for kernel in kernels for found in refusals(kernel))):
            unrun = report(_title(launches), refused, max_findings, lambda: _no_fix(launches, refused))
            return replace(unrun, subject=about)
        modules = list(dict.fromkeys(kernel.module for kernel in kernels))
        program = joint_program([module.layout for module in modules])
        shares = shares_ub(entry for kernel in kernels for entry in kernel.program.entries.values())
        subject = Subject(program, space.regions, True, strictness, overwrites=True, shares_ub=shares)

        def execute(observer: Observer) -> Run:
            return self._reference(launches, space.copied(), observer, "program", most, False, rounds)

        said = {(found.kind, found.message, found.line) for module in modules for found in module.warnings}
        observation = observe(subject, execute, range(sum(each.grid for each in launches)), said=said)
        more = dict.fromkeys(found for kernel in kernels for found in beyond_runs(kernel))
        found = [*without_clobbered(observation.findings, list(more)), *more]
        return replace(report(_title(launches), found, max_findings, lambda: _no_fix(launches, found)), subject=about)

    def profile(self, target: str | Target | None = None, max_steps: int = 10**9) -> Profile:
        """Time the list on copies of all arrays. `.ranks[r]` has the cores of a rank, and how long it stood waiting for
        words in GM."""
        from ptosim.report.profile import Profile
        from ptosim.timing.block_placement import place_blocks
        from ptosim.timing.rank_timer import WorldTimer
        from ptosim.timing.work import JointPrices

        launches = self._list()
        machine = launches[0].kernel.module.machine(target)
        space = self._space(launches)
        prices = JointPrices(list(dict.fromkeys(each.kernel.prices(machine) for each in launches)))
        timer = WorldTimer(machine, prices)
        self._reference(launches, space.copied(), timer, "program", count("max_steps", max_steps), False)()
        recording = timer.recording()
        place_blocks(recording, len(recording.cores), together=True)
        names = {number: region.label.removeprefix("%") for number, region in space.regions.items()}
        source, grid = launches[0].kernel.module.outline.source, max(each.grid for each in launches)
        return Profile(_title(launches), source, machine, grid, recording, names, timer.warnings, self.subject())

    def subject(self) -> ReportSubject:
        """The subject of reports of the launches; arguments are told of launch by launch."""
        from ptosim.report.envelope import Described, loaded

        launches, ranks = self._list(), self.ranks
        loads = [loaded(kernel.module.outline) for kernel in dict.fromkeys(each.kernel for each in launches)]

        def told() -> list[Described]:
            return [
                argument
                for each in launches
                for argument in described_arguments(each.kernel.signature, each.given, ranks)
            ]

        warnings = tuple(dict.fromkeys(found for each in loads for found in each.warnings))
        grid = max(each.grid for each in launches)
        return replace(loads[0], kernel=_title(launches), grid=grid, arguments=told, warnings=warnings)

    # --- running ------------------------------------------------------------------------------------------------------

    def _reference(
        self,
        launches: Sequence[WorldLaunch],
        space: GlobalSpace,
        observer: Observer | None,
        schedule: str,
        max_steps: int,
        poison: bool,
        rounds: int = 1,
    ) -> Run:
        from ptosim.machine.launch import KernelKind, LaunchGeometry
        from ptosim.reference.engine import ReferenceLaunch, Run
        from ptosim.reference.memory.memories import GlobalMemory

        closeness = observer.closeness if observer else None
        memories = [GlobalMemory(space.seen_by(rank), space.visible(rank)) for rank in range(self.ranks)]
        parts = [
            ReferenceLaunch(
                launched.kernel.translated(closeness),
                space.arguments(launched.values[rank], launched.grid),
                memories[rank],
                LaunchGeometry(
                    KernelKind(launched.kernel.kind), launched.grid, space.name_of(rank), launched.stream, number
                ),
            )
            for number in range(rounds)
            for rank in range(self.ranks)
            for launched in launches
        ]
        target = launches[0].kernel.module.machine()
        return Run(parts, target, schedule, max_steps, observer, together=True, poison=poison)

    def _native(self, launches: Sequence[WorldLaunch], space: GlobalSpace, max_steps: int, poison: bool) -> None:
        from ptosim.machine.launch import KernelKind, LaunchGeometry
        from ptosim.native.run.cores import Invocation
        from ptosim.native.run.runtime import run_together

        order = [
            (rank, launched, space.arguments(launched.values[rank], launched.grid))
            for rank in range(self.ranks)
            for launched in launches
        ]
        parts = [
            launched.kernel.linked().part(
                Invocation(
                    launched.grid,
                    (),
                    space.addresses(rank),
                    max_steps,
                    space.seen_by(rank),
                    arguments,
                    owner=space,
                ),
                LaunchGeometry(KernelKind(launched.kernel.kind), launched.grid, space.name_of(rank), launched.stream),
            )
            for rank, launched, arguments in order
        ]

        def may_set(core: Core, key: Key) -> bool:
            _, launched, arguments = order[core.progress.number]
            return launched.kernel.may_set(core, key, arguments(core.block))

        run_together(parts, launches[0].kernel.module.machine(), may_set, poison)

    # --- the list -----------------------------------------------------------------------------------------------------

    def _list(self) -> list[WorldLaunch]:
        if not self._launches:
            raise error("argument", "nothing has been launched in this world")
        targets = sorted({each.kernel.module.target for each in self._launches})
        if len(targets) > 1:
            message = f"the kernels are for different machines: {', '.join(targets)}"
            raise error("argument", message, hint='say which one the world has: ptosim.World(ranks, target="a5")')
        return list(self._launches)

    def _space(self, launches: Sequence[WorldLaunch]) -> GlobalSpace:
        return GlobalSpace(self.ranks, self.windows, [each.values for each in launches])

    def _targeted(self, kernel: Kernel) -> Kernel:
        return kernel if self._architecture is None else kernel.on(self._architecture)

    def _own(self, window: Symmetric) -> None:
        if not any(window is mine for mine in self.windows):
            raise error("argument", "the window belongs to another world")


def launch(kernel: Kernel, *args: Any, ranks: int, grid: int = 1, target: str | None = None, **options: Any) -> World:
    """Run one kernel on so many ranks. What `ptosim.symmetric(shape, dtype)` made becomes a window of a new world,
    which is returned; `ptosim.context(i)` is the context of argument i. Options are those of `World.run`."""
    world = world_of(kernel, args, ranks, grid, target)
    world.run(**options)
    return world


def world_of(kernel: Kernel, args: Sequence[Any], ranks: int, grid: int = 1, target: str | None = None) -> World:
    """A world in which one kernel has been launched."""
    world = World(ranks, target)
    for window in dict.fromkeys(window for value in args for window in windows_in(value)):
        world.adopt(window)
    world.launch(kernel, *[_given(world, args, value) for value in args], grid=grid)
    return world


def _given(world: World, args: Sequence[Any], value: Any) -> Any:
    """A context is named by the position of its window."""
    if not isinstance(value, ContextOf):
        return value
    window = args[value.position] if 0 <= value.position < len(args) else None
    if isinstance(window, At):
        window = window.window
    if not isinstance(window, Symmetric):
        raise error("argument", f"argument {value.position}, whose context is asked for, is no window")
    return world.context(window)


def _no_fix(launches: Sequence[WorldLaunch], findings: Sequence[Finding]) -> Fix:
    """A note: the intended order between ranks is unknown."""
    from ptosim.report.fix import unchanged

    notes = ("launches on several ranks are not repaired: the findings say what to add, and where",) * bool(findings)
    return unchanged(launches[0].kernel.module.outline.source, not findings, notes, findings)


def _architecture(target: str | None) -> str | None:
    from ptosim.target.profile import load_target

    return None if target is None else load_target(target).architecture


def _title(launches: Sequence[WorldLaunch]) -> str:
    return ", ".join(dict.fromkeys(each.kernel.name for each in launches))


def _within(name: str, value: Any, low: int, high: int) -> int:
    number = whole(value)
    if number is None or not low <= number <= high:
        raise error("argument", f"{name} is a number from {low} to {high}, not {value!r}")
    return number


__all__ = ("World", "launch")
