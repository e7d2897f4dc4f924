"""A loaded module and its kernels, compiled or translated once for each engine."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from ptosim.arguments import Parameter, bind
from ptosim.diagnostics import Diagnostic, PTOError, Source, authored, error
from ptosim.kernel_launch import Launch, RecordedLaunch, RecordedOrigin
from ptosim.options import SYNC, choice, count, engine_at_hand
from ptosim.places import LONGEST_FILE, AuthoredPlaces

if TYPE_CHECKING:
    from ptosim.language.analysis.kernel_entries import KernelProgram
    from ptosim.language.load import VerifiedModule
    from ptosim.loading import LoadedModule
    from ptosim.machine.core import Core
    from ptosim.machine.deadlock import Reachable
    from ptosim.machine.entry import Key
    from ptosim.machine.observer import Closeness, Observer
    from ptosim.native.host.cache import Compiled
    from ptosim.native.host.library import KernelOutline, ModuleOutline, Request
    from ptosim.native.observe import Observe
    from ptosim.native.run.cores import NativeCluster
    from ptosim.native.run.engine import LinkedKernel
    from ptosim.native.run.reachability import Reachability
    from ptosim.reference.engine import Programs, Run
    from ptosim.reference.translate import Inspection
    from ptosim.report.plan import Plan
    from ptosim.report.state import KernelState
    from ptosim.sanitize.last_writer import LastWrite
    from ptosim.sanitize.program import WrittenProgram
    from ptosim.target import Target
    from ptosim.timed_run import Pricing
    from ptosim.timing.work import Prices


def load(source: str | os.PathLike[str] | Source, target: str | None = None, sync: str = "auto") -> Module:
    """Read a kernel file (or the text itself, when it holds a newline or is a Source) and verify it.

    Raises PTOError with the first syntax error, or with all errors of the verifier in source order. `target` ("a5",
    "a2", "a3", or a .toml file with figures of one's own) overrides the module's `pto.target_arch`. `sync`: "auto"
    inserts synchronisation into functions that have tile operations and no flag, event, buffer id or tsync of their
    own; "written" never does; "insert" does so beside what is written as well.

        kernel = ptosim.load("softmax.pto").kernel()
    """
    from ptosim.native.host.library import Request, find_module

    if not isinstance(target, str | None):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise error("argument", f"target is the name of a machine, not {target!r}")
    text, requested = _source(source), Request(target, choice("sync", sync, SYNC))
    outline = find_module(text, requested)
    return Module(outline or load_source(text, requested), requested)


def load_source(source: Source, requested: Request) -> LoadedModule:
    from ptosim.loading import load_module

    return load_module(source, requested.target, requested.sync)


def _source(source: str | os.PathLike[str] | Source) -> Source:
    if isinstance(source, Source):
        return source
    if isinstance(source, str) and "\n" in source:
        return Source("<text>", source)
    path = Path(source)
    try:
        with path.open("rb") as file:
            return read_source(file, str(path))
    except (OSError, ValueError) as reason:
        raise error("argument", f"cannot read {path}: {getattr(reason, 'strerror', None) or reason}") from None


def read_source(file: IO[bytes], name: str) -> Source:
    """The text of a file that is open."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig")  # some editors put a byte order mark first
    try:
        return Source(name, text.read(LONGEST_FILE + 1))  # enough to refuse one that is too long
    except UnicodeDecodeError:
        raise error("syntax", f"{name} is not a text file in UTF-8") from None
    finally:
        text.detach()


class Module:
    """A verified module: its kernels by name, and what the verifier warned of.

    One whose outline comes from the cache is parsed when something needs more than that.
    """

    def __init__(self, known: LoadedModule | ModuleOutline, requested: Request) -> None:
        from ptosim.native.host.library import ModuleOutline

        if isinstance(known, ModuleOutline):
            self.outline = known
            return
        self._loaded = known
        written = known.written
        self.outline = ModuleOutline(written.parsed.source, requested, written.target, known.warnings, known.kernels)

    @cached_property
    def _loaded(self) -> LoadedModule:
        return load_source(self.outline.source, self.outline.requested)

    @property
    def verified(self) -> VerifiedModule:
        """The operations as they were written."""
        return self._loaded.written

    @property
    def programs(self) -> tuple[KernelProgram, ...]:
        """The kernels with their operations."""
        return self._loaded.kernels

    @property
    def executable(self) -> VerifiedModule:
        """The operations as they run: tiles lowered, order inserted, older spellings normalised."""
        return self._loaded.executable

    @property
    def target(self) -> str:
        return self.outline.target

    def machine(self, target: str | Path | Target | None = None) -> Target:
        """The machine that is named, or else its own."""
        from ptosim.target.profile import Target, load_target

        return target if isinstance(target, Target) else load_target(target or self.target)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return tuple(map(authored, self.outline.warnings))

    @property
    def inferred_scopes(self) -> list[int]:
        """The lines of vector code that got a scope because none was written around it."""
        return self._loaded.inferred_scopes

    @property
    def refused(self) -> tuple[Diagnostic, ...]:
        """The errors with which a run of its tiles would end before it begins; the text itself is right."""
        return tuple(map(authored, self._loaded.refused))

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """Remarks of `verify`: the warnings, and as warnings what a run will refuse."""
        refused = (each for each in self.refused if each.kind != "unsupported")
        note = "a run ends here; the text is accepted"
        foreseen = (replace(each, severity="warning", notes=(*each.notes, note)) for each in refused)
        return (*self.warnings, *foreseen)

    @cached_property
    def kernels(self) -> Mapping[str, Kernel]:
        return {kernel.name: Kernel(self, kernel) for kernel in self.outline.kernels}

    def kernel(self, name: str | None = None) -> Kernel:
        """The kernel of this name; without a name the only one."""
        choices = ", ".join(self.kernels) or "none"
        if name is None:
            if len(self.kernels) != 1:
                raise error("argument", f"the module has {len(self.kernels)} kernels; choose one of: {choices}")
            return next(iter(self.kernels.values()))
        if name not in self.kernels:
            raise error("argument", f"there is no kernel '{name}'; the module has: {choices}")
        return self.kernels[name]

    @cached_property
    def layout(self) -> WrittenProgram:
        """The operations and where each was written, for the sanitizer: inferred vector scopes included."""
        from ptosim.sanitize.program import WrittenProgram

        return WrittenProgram(self.executable, self.verified)

    def lowered(self, locations: bool = False) -> Module:
        """The module as micro-instructions: tiles lowered and order inserted, each piece headed by the line it serves.
        With `locations` its operations say where they come from: what is said of them is said there.

        Raises PTOError where a function cannot be lowered.
        """
        from ptosim.language.text.printing import text
        from ptosim.native.host.library import Request

        executable = self.executable
        if self.refused:
            raise PTOError(*self.refused)
        written = self.outline.source
        places = AuthoredPlaces(beside=written.name, given=(written,))
        lowered = Source(f"{written.name} (lowered)", text(executable.parsed, not locations, locations), places, True)
        requested = Request(self.target, "written")
        return Module(load_source(lowered, requested), requested)

    def plan(self) -> Plan:
        """The memory plan: the place and the lifetime of each tile, and how much of every memory is taken."""
        from ptosim.loading import layouts_of, plan_of
        from ptosim.report.plan import Plan

        outline = self.outline
        source, target = outline.source, outline.requested.target
        return Plan(source, self.target, tuple(plan_of(source, target)), tuple(layouts_of(source, target)))

    @property
    def source(self) -> str:
        """The text that was loaded."""
        return self.outline.source.text

    def recorded(self, args: Sequence[Any], grid: int = 1) -> RecordedLaunch[Kernel]:
        """Its only kernel with these arguments."""
        return self.kernel().recorded(args, grid)

    def __str__(self) -> str:
        """The module in canonical text."""
        return self.text()

    def __dir__(self) -> list[str]:
        """The public names; the others are for the floors above."""
        return ["kernel", "kernels", "lowered", "plan", "source", "target", "text", "warnings"]

    def text(self, locations: bool = False, comments: bool = False) -> str:
        """The same; with `locations` each operation says where its author wrote it, with `comments` those of the text
        are kept."""
        from ptosim.language.load import text

        return text(self.verified, locations, comments)


class Kernel:
    """An entry function that can be launched."""

    def __init__(self, module: Module, outline: KernelOutline) -> None:
        self.module = module
        self.outline = outline
        self._programs: dict[Closeness | None, Programs] = {}
        self._prices: Prices | None = None
        self._pricing: tuple[Target, Pricing | None] | None = None
        self._kernels: dict[tuple[bool, Observe], LinkedKernel] = {}
        self._sieve: LinkedKernel | str | None = None
        self.origin: RecordedOrigin[Kernel] | None = None
        """The program in another language that it was recorded from."""

    @property
    def name(self) -> str:
        return self.outline.name

    @property
    def kind(self) -> str:
        """The cores that it runs on: vector, cube or mixed."""
        return self.outline.kind

    @cached_property
    def program(self) -> KernelProgram:
        """The operations; raises PTOError where one of them cannot be run yet."""
        program = next(program for program in self.module.programs if program.name == self.name)
        if found := self.module.executable.refusals(program):
            raise PTOError(*found)
        return program

    @cached_property
    def signature(self) -> tuple[Parameter, ...]:
        return tuple(Parameter(name, type_) for name, type_ in self.outline.signature)

    def __repr__(self) -> str:
        parameters = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in self.signature)
        return f"<kernel {self.name}({parameters}) for {self.module.target}>"

    def __dir__(self) -> list[str]:
        """The public names; the others are for the floors above."""
        return ["example_arguments", "kind", "module", "name", "signature", "until"]

    def __call__(
        self,
        *args: Any,
        grid: int = 1,
        engine: str = "native",
        oob: str = "error",
        threads: int | None = None,
        schedule: str = "program",
        max_steps: int = 10**9,
        poison: bool = False,
    ) -> None:
        """Run the kernel on `grid` blocks (clusters, for a mixed kernel). Arrays are changed in place.

        One argument for each parameter (`Kernel.signature`): for a pointer a C-contiguous array (NumPy, the buffer
        protocol, or DLPack on the CPU, such as a torch tensor) whose elements are of its type or, for types that NumPy
        does not have, integers of its width; for any type uint8, the raw bytes. For a scalar a number.
        Arguments that share memory are one buffer.

        `engine`: "native" compiles and caches, "reference" is the executable definition. `oob`: "error" stops at an
        access to GM outside an argument, "drop" reads zeros there and drops writes. `threads`: workers of the native
        engine, by default all cores. `schedule`: "program", or on the reference engine "random:SEED" and "delay:PIPE".
        `max_steps`: the most loop iterations and calls of a block. `poison`: on-chip memories start with a pattern
        (NaN, as a float) instead of zeros, so that reads of unwritten bytes show.

        Raises PTOError with `.diagnostics`; what the arguments hold is then not specified.
        """
        arguments = bind(self.signature, args)
        launch = Launch(
            arguments, count("grid", grid), oob, schedule, count("max_steps", max_steps), poison=bool(poison)
        )
        self.execute(launch, engine, threads)

    def example_arguments(
        self, seed: int = 0, grid: int = 1, scalars: Mapping[str, Any] | None = None
    ) -> tuple[Any, ...]:
        """Arguments made up: arrays as long as the kernel reaches; `scalars`: some that are known, by name."""
        from ptosim.example_arguments import example_arguments

        return example_arguments(self, seed, grid, scalars)

    def until(self, *args: Any, line: int, occurrence: int = 1, core: str | None = None, grid: int = 1) -> KernelState:
        """The state of a core before it executes a line for the N-th time; by default the first core to get there."""
        from ptosim.report.state import run_until

        launch = Launch(bind(self.signature, args).copied(), count("grid", grid))
        return run_until(self, launch, line, count("occurrence", occurrence), core)

    def example_words(
        self, words: Sequence[str], grid: int, scalars: Mapping[str, Any], ranks: int | None = None, seed: int = 0
    ) -> list[str]:
        """The words of a command line, with some in place of `auto`."""
        from ptosim.example_arguments import example_words

        return example_words(self, words, seed, grid, scalars, ranks)

    def ranks_needed(self, grid: int) -> int | None:
        """On how many ranks it can run, if it takes the context of a window; otherwise None."""
        from ptosim.example_arguments import ranks_needed

        return ranks_needed(self, grid)

    def recorded(self, args: Sequence[Any], grid: int = 1) -> RecordedLaunch[Kernel]:
        """This kernel with these arguments: what is written in C++ is recorded for each launch."""
        return RecordedLaunch(self, args)

    def execute(self, launch: Launch, engine: str = "native", threads: int | None = None) -> None:
        """Run a launch on the engine of that name."""
        engine = engine_at_hand(engine)
        if threads is not None:
            count("threads", threads)
        if engine == "reference":
            self.reference(launch)()
        else:
            self.native(launch, threads)

    def on(self, architecture: str) -> Kernel:
        """The same kernel, verified for another machine where this one is not for it."""
        if architecture == self.module.target:
            return self
        outline = self.module.outline
        requested = replace(outline.requested, target=architecture)
        return Module(load_source(outline.source, requested), requested).kernel(self.name)

    def native(
        self,
        launch: Launch,
        threads: int | None,
        observe: Observe = "none",
        attach: Callable[[NativeCluster], Observer] | None = None,
    ) -> None:
        """A run on the native engine."""
        if launch.schedule != "program":
            raise error("argument", f"schedule {launch.schedule!r} needs engine='reference'; native has only 'program'")
        self.linked(launch.oob == "drop", observe)(launch.native(threads, attach))

    def linked(self, drop: bool = False, observe: Observe = "none") -> LinkedKernel:
        """The compiled kernel."""
        key = drop, observe
        if key not in self._kernels:
            self._kernels[key] = self._linked(self._compiled(drop, observe), self.may_set)
        return self._kernels[key]

    def sieve(self) -> LinkedKernel | str:
        """The kernel compiled to find out which blocks have to be judged, or why it cannot be."""
        if self._sieve is None:
            compiled = self._compiled(False, "check")
            reason: str | None = compiled.data.get("uncovered")
            self._sieve = reason or self._linked(compiled)
        return self._sieve

    def _linked(self, compiled: Compiled, may_set: Reachable | None = None) -> LinkedKernel:
        from ptosim.native.run.engine import LinkedKernel

        return LinkedKernel(compiled, self.module.outline.source, self.module.machine(), may_set)

    def _compiled(self, drop: bool, observe: Observe) -> Compiled:
        """From the cache or new."""
        from ptosim.native.host.library import find_kernel, keep_kernel

        outline = self.module.outline
        if (kept := find_kernel(outline, self.name, drop, observe)) is not None:
            return kept
        from ptosim.native.build.compilation import compile_kernel, compile_sieve, compile_timed

        module, program = self.module.executable, self.program
        if observe == "none":
            compiled = compile_kernel(module, program, drop)
        else:
            compiled = compile_sieve(module, program) if observe == "check" else compile_timed(module, program)
        keep_kernel(outline, self.name, drop, compiled, observe)
        return compiled

    def may_set(self, core: Core, key: Key, arguments: Sequence[int] = ()) -> bool:
        """Whether a core that runs this kernel, with these arguments, may still set something from where it stands."""
        return self._reachability.may_set(core, key, arguments)

    @cached_property
    def _reachability(self) -> Reachability:
        from ptosim.native.run.reachability import Reachability

        return Reachability(self.module.executable.parsed, self.program.entries)

    # --- for the other public calls -----------------------------------------------------------------------------------

    def reference(
        self,
        launch: Launch,
        observer: Observer | None = None,
        inspection: Inspection | None = None,
    ) -> Run:
        """A run on the reference engine, ready to start: plain, with an observer, or with lines to show."""
        from ptosim.machine.launch import KernelKind
        from ptosim.machine.launch import LaunchGeometry as Geometry
        from ptosim.reference.engine import ReferenceLaunch, Run
        from ptosim.reference.memory.memories import GlobalMemory

        arguments = launch.arguments
        memory = GlobalMemory(arguments.regions, dict(enumerate(arguments.buffers)), launch.oob == "drop")
        programs = self.translated(observer.closeness if observer else None, inspection)
        geometry = Geometry(KernelKind(self.program.kind), launch.grid)
        return Run(
            [ReferenceLaunch(programs, lambda block: arguments.values, memory, geometry)],
            self.module.machine(),
            launch.schedule,
            launch.max_steps,
            observer,
            together=self.program.cross_block,
            block_done=launch.block_done,
            poison=launch.poison,
            say=launch.say,
        )

    def last_writer(self, launch: Launch, low: int, high: int) -> LastWrite | None:
        """The last writer of the bytes [low, high) of GM, when this launch runs once more."""
        from ptosim.sanitize.last_writer import LastWriter

        observer = LastWriter(low, high)
        self.reference(launch, observer)()
        return observer.written

    def prices(self, target: Target) -> Prices:
        """Costs of the operations of this kernel; kept for the target it was last profiled on."""
        from ptosim.timing.work import Prices

        if self._prices is None or self._prices.target is not target:
            self._prices = Prices(target, self.module.executable.parsed)
        return self._prices

    def pricing(self, target: Target) -> Pricing | None:
        """Prices for compiled code, kept likewise; None where only the reference engine times this kernel."""
        from ptosim.timed_run import Pricing, is_covered

        if self._pricing is None or self._pricing[0] is not target:
            made = None
            if is_covered(self.module.executable, self.program, target):
                linked = self.linked(False, "profile")
                made = Pricing(self.module.executable, self.prices(target), linked.works, linked.kind)
            self._pricing = target, made
        return self._pricing[1]

    def translated(self, observed: Closeness | None, inspection: Inspection | None = None) -> Programs:
        """The programs as the reference engine runs them, made once for each way to observe them."""
        from ptosim.reference.engine import prepare

        entries = self.program.entries
        if inspection is not None:
            return prepare(self.module.executable, entries, observed, inspection)
        if observed not in self._programs:
            self._programs[observed] = prepare(self.module.executable, entries, observed)
        return self._programs[observed]


class Launchable(Protocol):
    """A kernel as the public calls take it: of a text, or recorded when it is launched."""

    def recorded(self, args: Sequence[Any], grid: int = 1) -> RecordedLaunch[Kernel]: ...
