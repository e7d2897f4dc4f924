"""The public calls: load a module, run a kernel, check it, profile it. Joins the floors and does nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ptosim.arguments import Arguments, Parameter, bind
from ptosim.diagnostics import Diagnostic, PTOError, Source, error

if TYPE_CHECKING:
    from ptosim.language.kernels import KernelProgram
    from ptosim.language.load import VerifiedModule
    from ptosim.loading import LoadedModule
    from ptosim.machine.core import Core
    from ptosim.machine.entry import Key
    from ptosim.machine.observer import Closeness, Observer
    from ptosim.machine.scheduler import Stop
    from ptosim.native.cache import Compiled
    from ptosim.native.cores import Cluster as NativeCluster
    from ptosim.native.cores import Invocation
    from ptosim.native.engine import LinkedKernel
    from ptosim.native.library import KernelOutline, ModuleOutline, Request
    from ptosim.native.observe import Observe
    from ptosim.native.observe.sweep import Sifted
    from ptosim.native.reachability import Reachability
    from ptosim.profiling import Pricing
    from ptosim.reference.engine import Programs, Run
    from ptosim.reference.watch import Watch
    from ptosim.repair.rehearsal import Trials
    from ptosim.report.check_report import CheckReport
    from ptosim.report.plan import Plan
    from ptosim.report.profile import Profile
    from ptosim.report.proof import Proof
    from ptosim.sanitize.checker import MemBar
    from ptosim.sanitize.last_writer import Written
    from ptosim.sanitize.observation import Observation
    from ptosim.sanitize.program import Program
    from ptosim.target import Target
    from ptosim.timing.recording import Recording
    from ptosim.timing.work import Prices

ENGINES = ("native", "reference")
SYNC = ("auto", "written", "insert")
MOST_BLOCKS = 2**31 - 1
"""A launch counts its blocks in 32 bits."""


def load(source: str | os.PathLike[str], target: str | None = None, sync: str = "auto") -> Module:
    """Read a kernel file (or the text itself, when it holds a newline) and verify it.

    Raises PTOError with the first syntax error, or with all errors of the verifier in source order. `target` ("a5",
    "a2", "a3") overrides the module's `pto.target_arch`. `sync`: "auto" inserts synchronisation into functions that
    have tile operations and no flag, event, buffer id or tsync of their own; "written" never does; "insert" does so
    beside what is written as well.

        kernel = ptosim.load("softmax.pto").kernel()
    """
    from ptosim.native.library import Request, find_module

    text, requested = _source(source), Request(target, _choice("sync", sync, SYNC))
    outline = find_module(text, requested)
    return Module(outline or _loaded(text, requested), requested)


def _loaded(source: Source, requested: Request) -> LoadedModule:
    from ptosim.loading import load_module

    return load_module(source, requested.target, requested.sync)


def _source(source: str | os.PathLike[str]) -> Source:
    if isinstance(source, str) and "\n" in source:
        return Source("<text>", source)
    path = Path(source)
    try:
        return Source(str(path), path.read_text("utf-8-sig"))  # some editors put a byte order mark first
    except UnicodeDecodeError:
        raise error("syntax", f"{path} is not a text file in UTF-8") from None
    except (OSError, ValueError) as reason:
        raise error("argument", f"cannot read {path}: {getattr(reason, 'strerror', None) or reason}") from None


class Module:
    """A verified module: its kernels by name, and what the verifier warned of.

    One whose outline comes from the cache is parsed when something needs more than that.
    """

    def __init__(self, known: LoadedModule | ModuleOutline, requested: Request) -> None:
        from ptosim.native.library import ModuleOutline

        if isinstance(known, ModuleOutline):
            self.outline = known
            return
        self._loaded = known
        written = known.written
        self.outline = ModuleOutline(written.parsed.source, requested, written.target, known.warnings, known.kernels)

    @cached_property
    def _loaded(self) -> LoadedModule:
        return _loaded(self.outline.source, self.outline.requested)

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

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.outline.warnings

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
    def layout(self) -> Program:
        """The operations and where each was written, for the sanitizer: vector scopes that nobody wrote included."""
        from ptosim.sanitize.program import Program

        return Program(self.executable)

    def lowered(self) -> Module:
        """The module as micro-instructions: tiles lowered and order inserted, each piece headed by the line it serves.

        Raises PTOError where a function cannot be lowered.
        """
        from ptosim.language.printing import text
        from ptosim.native.library import Request

        executable = self.executable
        if refused := [diagnostic for found in executable.refused.values() for diagnostic in found]:
            raise PTOError(*refused)
        lowered = Source(f"{executable.parsed.source.name} (lowered)", text(executable.parsed, origins=True))
        requested = Request(self.target, "written")
        return Module(_loaded(lowered, requested), requested)

    def plan(self) -> Plan:
        """Where each tile lies, how long it is in use, and how much of every memory is taken."""
        from ptosim.loading import plan_of
        from ptosim.report.plan import Plan

        outline = self.outline
        return Plan(outline.source, self.target, tuple(plan_of(outline.source, outline.requested.target)))

    @property
    def source(self) -> str:
        """The text that was loaded."""
        return self.outline.source.text

    def __str__(self) -> str:
        """The module in canonical text."""
        from ptosim.language.load import text

        return text(self.verified)


class Kernel:
    """An entry function that can be launched."""

    def __init__(self, module: Module, outline: KernelOutline) -> None:
        self.module = module
        self.outline = outline
        self._programs: dict[Closeness | None, Programs] = {}
        self._prices: Prices | None = None
        self._pricing: Pricing | None = None
        self._kernels: dict[tuple[bool, Observe], LinkedKernel] = {}
        self._sieve: LinkedKernel | str | None = None

    @property
    def name(self) -> str:
        return self.outline.name

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
        (NaN, as a float) instead of zeros, so that what relies on bytes that nothing has written shows.

        Raises PTOError with `.diagnostics`; what the arguments hold is then not specified.
        """
        arguments = bind(self.signature, args)
        launch = Launch(
            arguments, _count("grid", grid), oob, schedule, _count("max_steps", max_steps), poison=bool(poison)
        )
        self.execute(launch, engine, threads)

    def execute(self, launch: Launch, engine: str = "native", threads: int | None = None) -> None:
        """Run a launch on the engine of that name."""
        if engine not in ENGINES:
            raise error("argument", f"engine is one of {', '.join(ENGINES)}, not {engine!r}")
        if threads is not None:
            _count("threads", threads)
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
        return Module(_loaded(outline.source, requested), requested).kernel(self.name)

    def native(
        self,
        launch: Launch,
        threads: int | None,
        observe: Observe = "none",
        attach: Callable[[NativeCluster, Invocation], Observer] | None = None,
    ) -> None:
        """A run on the native engine."""
        from ptosim.native.engine import Run as NativeRun

        if launch.schedule != "program":
            raise error("argument", f"schedule {launch.schedule!r} needs engine='reference'; native has only 'program'")
        arguments = launch.arguments
        run = NativeRun(
            arguments.values,
            arguments.buffers,
            arguments.names,
            launch.grid,
            threads,
            launch.max_steps,
            launch.block_done,
            launch.poison,
            attach,
        )
        self._linked(launch.oob == "drop", observe)(run)

    def _linked(self, drop: bool, observe: Observe = "none") -> LinkedKernel:
        from ptosim.native.engine import LinkedKernel
        from ptosim.native.library import find_kernel
        from ptosim.target.profile import load_target

        key = drop, observe
        if key not in self._kernels:
            outline = self.module.outline
            compiled = find_kernel(outline, self.name, drop, observe) or self._compiled(drop, observe)
            target = load_target(outline.target)
            self._kernels[key] = LinkedKernel(compiled, outline.source, target, self._may_set)
        return self._kernels[key]

    def sieve(self) -> LinkedKernel | str:
        """The kernel compiled to find out which blocks have to be judged, or why it cannot be."""
        from ptosim.native.engine import LinkedKernel
        from ptosim.native.library import find_kernel
        from ptosim.target.profile import load_target

        if self._sieve is not None:
            return self._sieve
        outline = self.module.outline
        compiled = find_kernel(outline, self.name, False, "check") or self._compiled_sieve()
        reason: str | None = compiled.data.get("uncovered")
        self._sieve = reason or LinkedKernel(compiled, outline.source, load_target(outline.target))
        return self._sieve

    def _compiled_sieve(self) -> Compiled:
        from ptosim.native.compilation import compile_sieve
        from ptosim.native.library import keep_kernel

        compiled = compile_sieve(self.module.executable, self.program)
        keep_kernel(self.module.outline, self.name, False, compiled, "check")
        return compiled

    def _may_set(self, core: Core, key: Key) -> bool:
        return self._reachability.may_set(core, key)

    @cached_property
    def _reachability(self) -> Reachability:
        from ptosim.native.reachability import Reachability

        return Reachability(self.module.executable.parsed)

    def _compiled(self, drop: bool, observe: Observe) -> Compiled:
        from ptosim.native.compilation import compile_kernel, compile_timed
        from ptosim.native.library import keep_kernel

        if observe == "profile":
            compiled = compile_timed(self.module.executable, self.program)
        else:
            compiled = compile_kernel(self.module.executable, self.program, drop)
        keep_kernel(self.module.outline, self.name, drop, compiled, observe)
        return compiled

    # --- for the other public calls ------------------------------------------------------------------------------

    def reference(
        self,
        launch: Launch,
        observer: Observer | None = None,
        stop: Stop | None = None,
        watch: Watch | None = None,
    ) -> Run:
        """A run on the reference engine, ready to start: plain, with an observer, or with lines to show."""
        from ptosim.reference.core import GlobalMemory
        from ptosim.reference.engine import Run
        from ptosim.target.profile import load_target

        arguments = launch.arguments
        return Run(
            self._translated(observer.closeness if observer else None, watch),
            load_target(self.module.target),
            arguments.values,
            GlobalMemory(arguments.buffers, arguments.names, launch.oob == "drop"),
            launch.grid,
            launch.schedule,
            launch.max_steps,
            observer,
            stop=stop,
            cross_block=self.program.cross_block,
            block_done=launch.block_done,
            poison=launch.poison,
        )

    def watchable(self) -> set[int]:
        """The lines that a run can show."""
        from ptosim.reference.watch import watchable

        return watchable(self.module.executable.parsed)

    def last_writer(self, launch: Launch, low: int, high: int) -> Written | None:
        """Who writes the bytes [low, high) of GM last, when this launch runs once more."""
        from ptosim.sanitize.last_writer import LastWriter

        observer = LastWriter(low, high)
        self.reference(launch, observer)()
        return observer.written

    def prices(self, target: Target) -> Prices:
        """What the operations of this kernel cost; kept for the target it was last profiled on."""
        from ptosim.timing.work import Prices

        if self._prices is None or self._prices.target is not target:
            self._prices = Prices(target, self.module.executable.parsed)
        return self._prices

    def pricing(self, target: Target) -> Pricing:
        """What compiled code asks for, kept likewise."""
        from ptosim.profiling import Pricing

        if self._pricing is None or self._pricing.prices is not self.prices(target):
            linked = self._linked(False, "profile")
            self._pricing = Pricing(self.module.executable, self.prices(target), linked.works, linked.kind)
        return self._pricing

    def _translated(self, observed: Closeness | None, watch: Watch | None) -> Programs:
        from ptosim.machine.launch import KernelKind
        from ptosim.reference.engine import prepare

        kind, entries = KernelKind(self.program.kind), self.program.entries
        if watch is not None:
            return prepare(self.module.executable, kind, entries, observed, watch)
        if observed not in self._programs:
            self._programs[observed] = prepare(self.module.executable, kind, entries, observed)
        return self._programs[observed]


def check(
    kernel: Kernel,
    *args: Any,
    grid: int = 1,
    mem_bar: str = "relaxed",
    blocks: Sequence[int | str] | None = None,
    max_findings: int | None = None,
    unwritten: bool = False,
    max_steps: int = 10**9,
    engine: str = "native",
) -> CheckReport:
    """Run a kernel under the sanitizer, on copies of its arguments, and report what is wrong with it.

    The report has `.ok` (no finding of severity error), `.findings`, `str()`, `.to_json()` and `.to_sarif()`. Whatever
    the kernel does is a finding; PTOError is raised only for arguments that do not fit.

    `mem_bar`: how unfenced accesses inside a vector scope count (relaxed, strict or off). `blocks`: run only these, by
    number or "last". `max_findings`: keep so many, errors first. `unwritten`: also name the bytes of outputs that no
    block wrote. `max_steps`: as for a run; to exceed it is a finding. `engine`: "native" runs compiled code that finds
    out which blocks may have a finding, and judges only those; "reference" judges all of them. The report is the same.
    """
    launch = Launch(bind(kernel.signature, args), _count("grid", grid), max_steps=_count("max_steps", max_steps))
    return examine(kernel, launch, mem_bar, blocks, max_findings, unwritten, engine)


def examine(
    kernel: Kernel,
    launch: Launch,
    mem_bar: str = "relaxed",
    blocks: Sequence[int | str] | None = None,
    max_findings: int | None = None,
    unwritten: bool = False,
    engine: str = "native",
) -> CheckReport:
    """Check a launch; its arguments are copied."""
    from ptosim.report.check_report import report
    from ptosim.report.fix import Fix

    chosen = _blocks(blocks, launch.grid, kernel.outline.cross_block, unwritten)
    most = None if max_findings is None else _count("max_findings", max_findings)
    strictness = _choice("mem_bar", mem_bar, ("relaxed", "strict", "off"))
    source = kernel.module.outline.source

    def untouched() -> Fix:
        return Fix(source.name, source.text, source.text, verified=True)

    _choice("engine", engine, ENGINES)
    sifting = None if engine == "reference" else sifted(kernel, launch, chosen)
    if sifting is not None and unwritten and (sifting.blocks or _leaves_unwritten(sifting, launch)):
        sifting = None  # what no block writes can only be told when all are judged
    if sifting is None:
        observation = observed(kernel, launch, strictness, chosen, unwritten)
    elif sifting.blocks:
        observation = _judged(kernel, replace(launch, block_done=None), strictness, sifting)
    else:
        return report(kernel.name, (), mend=untouched)
    if not observation.findings:
        return report(kernel.name, (), mend=untouched)
    from ptosim.repair.engine import Engine

    trials = _trials(kernel, replace(launch, block_done=None), strictness, chosen, observation.blocks)
    repair = Engine(observation, trials)

    def mend() -> Fix:
        found = repair.outcome()
        return Fix(source.name, source.text, found.text, found.verified, found.notes, found.left)

    return report(kernel.name, repair.findings(), most, mend)


def _leaves_unwritten(sifting: Sifted, launch: Launch) -> bool:
    return sifting.leaves_unwritten([len(buffer) for buffer in launch.arguments.buffers])


def _judged(kernel: Kernel, launch: Launch, mem_bar: MemBar, sifting: Sifted) -> Observation:
    """What the blocks that have to be judged show, and with them those that they meet in GM."""
    blocks = set(sifting.blocks)
    while True:
        observation = observed(kernel, launch, mem_bar, sorted(blocks))
        more = sifting.meeting(blocks, observation.global_memory.meets)
        if not more:
            return observation
        blocks |= more


def sifted(kernel: Kernel, launch: Launch, blocks: Sequence[int]) -> Sifted | None:
    """Which blocks may have a finding, as compiled code sees it; None where it cannot tell."""
    from ptosim.native.engine import Run as NativeRun

    sieve = kernel.sieve()
    if isinstance(sieve, str):
        return None
    arguments = launch.arguments
    run = NativeRun(
        arguments.values,
        arguments.buffers,
        arguments.names,
        launch.grid,
        None,
        launch.max_steps,
        launch.block_done,
    )
    return sieve.sift(run, blocks)


def _trials(
    kernel: Kernel, launch: Launch, mem_bar: MemBar, blocks: Sequence[int], concerned: Collection[int]
) -> Trials:
    """How edited texts are tried. A text that the verifier warns of more than before counts as one that does not
    load."""
    from ptosim.enlargement import enlargements
    from ptosim.repair.rehearsal import Trials

    outline, together = kernel.module.outline, kernel.program.cross_block

    @lru_cache(maxsize=2)  # a text that is clean is run several times in succession
    def loaded(text: str) -> Kernel | None:
        try:
            module = Module(_loaded(Source(outline.source.name, text), outline.requested), outline.requested)
            found = module.kernel(kernel.name)
            _ = found.program  # what cannot be run says so here
        except PTOError:
            return None
        return None if len(module.warnings) > len(outline.warnings) else found

    def trial(launched: Callable[[], Launch], chosen: Sequence[int]) -> Callable[[str], Observation | None]:
        def check_text(text: str) -> Observation | None:
            subject = loaded(text)
            return None if subject is None else observed(subject, launched(), mem_bar, chosen)

        return check_text

    def proof(text: str) -> bool | None:
        subject = loaded(text)
        verdict = None if subject is None else prove(subject)
        return None if verdict is None or (verdict.undecided and not verdict.findings) else verdict.proven

    part = [block for block in blocks if block in concerned or together] or blocks
    ends = range(launch.grid) if together else sorted({0, launch.grid - 1})
    ways = enlargements(kernel.signature, launch.arguments, list(kernel.program.entries.values()))
    return Trials(
        trial(lambda: launch, part),
        None if len(part) == len(blocks) else trial(lambda: launch, blocks),
        [[trial(lambda size=size: replace(launch, arguments=size()), ends) for size in way] for way in ways],
        proof,
    )


def observed(
    kernel: Kernel, launch: Launch, mem_bar: MemBar, blocks: Sequence[int], unwritten: bool = False
) -> Observation:
    """Run blocks of a launch under the sanitizer, on copies of its arguments. What the verifier said is left out."""
    from ptosim.sanitize.checker import Subject
    from ptosim.sanitize.session import observe

    arguments = launch.arguments
    sizes = tuple(len(buffer) for buffer in arguments.buffers)
    subject = Subject(kernel.module.layout, arguments.names, sizes, kernel.program.cross_block, mem_bar)

    def execute(observer: Observer) -> Run:
        return kernel.reference(replace(launch, arguments=arguments.copied()), observer)

    said = {(warning.kind, warning.message, warning.line) for warning in kernel.module.warnings}
    return observe(subject, execute, blocks, unwritten, said)


def _blocks(blocks: Any, grid: int, together: bool, unwritten: bool) -> Sequence[int]:
    """The blocks to run, each once, in ascending order."""
    if blocks is None:
        return range(grid)
    if isinstance(blocks, str) or not isinstance(blocks, Iterable):
        raise error("argument", f"blocks is a list of block numbers and 'last', not {blocks!r}")
    numbers: set[object] = {grid - 1 if block == "last" else block for block in cast("Iterable[object]", blocks)}
    for block in numbers:
        if not isinstance(block, int) or isinstance(block, bool) or not 0 <= block < grid:
            raise error("argument", f"there is no block {block!r}: blocks are 0 to {grid - 1}, or 'last'")
    if together and len(numbers) < grid:
        raise error("argument", "the blocks of this kernel wait for each other: all of them must run")
    if unwritten and len(numbers) < grid:
        raise error("argument", "what no block writes can only be told when all blocks run")
    return sorted(cast("set[int]", numbers))


def _choice(name: str, value: str, choices: Sequence[str]) -> Any:
    if value not in choices:
        raise error("argument", f"{name} is one of {', '.join(choices)}, not {value!r}")
    return value


def prove(kernel: Kernel, *args: Any, grid: int = 1) -> Proof:
    """Prove that a kernel is race-free and balanced for every number of iterations, every branch and every grid.

    The proof has `.proven`, `.counterexample`, `.undecided`, `.assumptions` and `str()`. Arguments are not needed; with
    them a counterexample is tried by a check, and `.confirmed` says whether it shows.
    """
    from ptosim.order.prove import prove as judge
    from ptosim.report.proof import Proof

    verdict = judge(kernel.module.executable, dict(kernel.program.entries))
    confirmed = None
    if args and verdict.broken:
        shown = {place for found in check(kernel, *args, grid=grid).findings for place in found.places}
        confirmed = any(shown & found.places for found in verdict.broken)
    return Proof(kernel.name, verdict.broken, verdict.undecided, verdict.assumptions, confirmed)


def profile(
    kernel: Kernel,
    *args: Any,
    grid: int = 1,
    target: str | Path | Target | None = None,
    max_steps: int = 10**9,
    engine: str = "native",
) -> Profile:
    """Time a kernel on copies of its arguments.

    The profile has `.cycles`, `.pipes`, `.bound`, `.critical_path`, `.timeline`, `.warnings`, `str()`, `.to_json()`,
    `.save_html(path)` and `.save_trace(path)`. `target`: the name of a machine or a .toml file; by default the module's
    own. `max_steps`: the most loop iterations and calls of a block. `engine`: "native" times compiled code, "reference"
    the executable definition; the profile is the same.
    """
    arguments = bind(kernel.signature, args)
    launch = Launch(arguments, _count("grid", grid), max_steps=_count("max_steps", max_steps))
    return measure(kernel, launch, target, engine)


def measure(
    kernel: Kernel, launch: Launch, target: str | Path | Target | None = None, engine: str = "native"
) -> Profile:
    """Profile a launch; its arguments are copied. What lies outside of GM is dropped and warned of."""
    from ptosim.report.profile import Profile
    from ptosim.target import Target, load_target

    machine = target if isinstance(target, Target) else load_target(target or kernel.module.target)
    kernel = kernel.on(machine.architecture)
    native = timed(kernel, launch, machine) if _choice("engine", engine, ENGINES) == "native" else None
    recording, warnings = (native, ()) if native is not None else _observed(kernel, launch, machine)
    source = kernel.module.outline.source
    return Profile(kernel.name, source, machine, launch.grid, recording, launch.arguments.names, warnings)


def timed(kernel: Kernel, launch: Launch, machine: Target) -> Callable[[], Recording] | None:
    """Run compiled code that keeps its times; None where only the reference engine can tell."""
    from ptosim.profiling import TimedRun, stopwatch, uncovered
    from ptosim.timing.waves import hardware_cores, place_blocks

    program = kernel.program
    if uncovered(kernel.module.executable, program, machine):
        return None
    pricing = kernel.pricing(machine)
    watch = stopwatch(pricing)
    try:
        kernel.native(launch, None, "profile", watch.attach)
    except PTOError:
        return None
    watch.conclude()
    run = TimedRun(pricing, watch)

    def recording() -> Recording:
        made = run.recording()
        place_blocks(made, hardware_cores(program.kind, machine), program.cross_block)
        return made

    return recording


def _observed(kernel: Kernel, launch: Launch, machine: Target) -> tuple[Recording, tuple[Diagnostic, ...]]:
    """Watch the reference engine."""
    from ptosim.language.sync_token import SimTSync
    from ptosim.timing.pipes import PipeTimer
    from ptosim.timing.waves import hardware_cores, place_blocks

    program = kernel.program
    launch = replace(launch, arguments=launch.arguments.copied(), oob="drop")
    scoped = any(isinstance(op, SimTSync) for op in kernel.module.executable.parsed.module.walk())
    timer = PipeTimer(machine, kernel.prices(machine), scoped)
    run = kernel.reference(launch, timer)
    run.target = machine
    run()
    recording = timer.recording()
    place_blocks(recording, hardware_cores(program.kind, machine), program.cross_block)
    return recording, timer.warnings


@dataclass(frozen=True)
class Launch:
    """One call of a kernel, its arguments fitted and its options checked."""

    arguments: Arguments
    grid: int = 1
    oob: str = "error"
    schedule: str = "program"
    max_steps: int = 10**9
    block_done: Callable[[], None] | None = None
    """Called after each block, perhaps on another thread, for whoever shows how far the run is."""
    poison: bool = False
    """On-chip memories start with a pattern instead of zeros."""

    def __post_init__(self) -> None:
        if self.oob not in ("error", "drop"):
            raise error("argument", f"oob is 'error' or 'drop', not {self.oob!r}")
        if self.grid > MOST_BLOCKS:
            raise error("argument", f"grid is at most {MOST_BLOCKS}, not {self.grid}")


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise error("argument", f"{name} is a positive integer, not {value!r}")
    return value.__index__()


__all__: Sequence[str] = ("Kernel", "Launch", "Module", "check", "load", "profile", "prove")
