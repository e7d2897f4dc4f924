"""The public calls: load a module, run a kernel, check it, profile it. Joins the floors and does nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptosim.arguments import bind
from ptosim.checking import CheckOptions, examine, explained, run_checked, subject, verdict_of
from ptosim.diagnostics import Diagnostic, Finding, PTOError, authored
from ptosim.kernel_launch import Launch, Lines, noting, show_lines
from ptosim.module import Kernel, Launchable, Module, load
from ptosim.options import count, engine_at_hand

if TYPE_CHECKING:
    from ptosim.report.advice import SecondRun
    from ptosim.report.check_report import CheckReport
    from ptosim.report.profile import Profile
    from ptosim.report.proof import Proof
    from ptosim.target import Target
    from ptosim.tiles.passes.memory_plan import PlacedTile
    from ptosim.timed_run import TimedRun
    from ptosim.timing.recording import Recording


def check(
    kernel: Launchable,
    *args: Any,
    grid: int = 1,
    mem_bar: str = "relaxed",
    blocks: Sequence[int | str] | None = None,
    max_findings: int | None = None,
    unwritten: str | bool = "note",
    max_steps: int = 10**9,
    engine: str = "native",
    oob: str = "error",
) -> CheckReport:
    """Run a kernel under the sanitizer, on copies of its arguments, and report what is wrong with it.

    The report has `.ok` (no finding of severity error), `.findings`, `.notes`, `str()`, `.to_json()` and `.to_sarif()`.
    Whatever the kernel does is a finding; PTOError is raised only for arguments that do not fit.

    `mem_bar`: how unfenced accesses inside a vector scope count (relaxed, strict or off). `blocks`: run only these, by
    number or "last". `max_findings`: judge no further block once there are so many, and keep so many, errors first.
    `unwritten`: bytes of an output that no block writes are a note, an error, or not looked for ("off", as they never
    are beside `blocks`). `max_steps`: as for a run; to exceed it is a
    finding. `engine`: "native" runs compiled code that finds out which blocks may have a finding, and judges only
    those; "reference" judges all of them. The report is the same. `oob`: accesses of GM outside the arguments are
    errors, or with "drop" notes, as hardware tolerates them: reads give zeros, writes are dropped.
    """
    asked = kernel.recorded(args, count("grid", grid))
    launch = Launch(bind(asked.kernel.signature, asked.arguments), grid, oob, max_steps=count("max_steps", max_steps))
    return examine(asked.kernel, launch, CheckOptions(mem_bar, blocks, max_findings, unwritten, engine))


def prove(kernel: Launchable, *args: Any, grid: int = 1, explain: bool = False) -> Proof:
    """Prove that a kernel is race-free and balanced for every number of iterations, every branch and every grid.

    The proof has `.proven`, `.counterexample`, `.undecided`, `.assumptions` and `str()`. Arguments are not needed; with
    them a counterexample is tried by a check, and `.confirmed` says whether it shows. With `explain`, `.explanation`
    says how loops and branches were followed, and which change to an undecided kernel would let it be decided.
    """
    from ptosim.report.proof import Proof

    asked = kernel.recorded(args, count("grid", grid))
    chosen = asked.kernel
    launch = Launch(bind(chosen.signature, asked.arguments), grid) if args else None
    verdict = verdict_of(chosen)
    confirmed = None
    if launch is not None and verdict.broken:
        found = run_checked(chosen, launch).findings
        shown = [*found, *(other for each in found for other in each.consequences)]
        confirmed = any(_confirms(each, broken) for each in shown for broken in verdict.broken)
    about = subject(chosen, launch, grid)
    told = tuple(explained(chosen, verdict)) if explain else ()
    return Proof(
        chosen.name, verdict.broken, verdict.undecided, verdict.assumptions, confirmed, about, asked.launch, told
    )


def _confirms(shown: Finding, broken: Diagnostic) -> bool:
    """Whether a check shows what a proof has found: the same at one of its lines, or that flags are missing or left
    over, which stops a run now here, now there."""
    from ptosim.repair.search import UNBALANCED

    return {shown.kind, broken.kind} <= UNBALANCED or bool(shown.places & authored(broken).places)


def profile(
    kernel: Launchable,
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
    asked = kernel.recorded(args, count("grid", grid))
    arguments = bind(asked.kernel.signature, asked.arguments)
    launch = Launch(arguments, grid, max_steps=count("max_steps", max_steps))
    return measure(asked.kernel, launch, target, engine)


def measure(
    kernel: Kernel, launch: Launch, target: str | Path | Target | None = None, engine: str = "native"
) -> Profile:
    """Profile a launch; its arguments are copied. What lies outside of GM is dropped and warned of."""
    from ptosim.report.profile import Profile

    machine = kernel.module.machine(target)
    kernel = kernel.on(machine.architecture)
    lines: Lines = {}
    native = None
    if engine_at_hand(engine) == "native":
        native = timed(kernel, noting(lines, launch), machine)
    show_lines(launch, lines if native is not None else {})
    recording, warnings = (native, native.warnings) if native is not None else _observed(kernel, launch, machine)
    source = kernel.module.outline.source
    if _LOGICAL in source.text:
        warnings = (*warnings, Diagnostic("lint", "warning", _OWN_REGISTERS))
    names, about = launch.arguments.names, subject(kernel, launch)
    again = partial(_second_run, kernel, launch, machine)
    buffers = partial(_buffers, kernel)
    return Profile(kernel.name, source, machine, launch.grid, recording, names, warnings, about, again, buffers)


_LOGICAL = ".vmi."
"""Part of the name of every operation on logical vectors."""
_OWN_REGISTERS = (
    "logical vectors: cycles are those of the registers that 'ptosim lower' shows; the assembler may choose others"
)


def timed(kernel: Kernel, launch: Launch, machine: Target) -> TimedRun | None:
    """Run compiled code that keeps its times; None where only the reference engine can tell."""
    from ptosim.timed_run import TimedRun, stopwatch

    pricing = kernel.pricing(machine)
    if pricing is None:
        return None
    watch = stopwatch(pricing)
    try:
        kernel.native(launch, None, "profile", watch.attach)
    except PTOError:
        return None
    watch.conclude()
    return TimedRun(pricing, watch)


def _observed(kernel: Kernel, launch: Launch, machine: Target) -> tuple[Recording, tuple[Diagnostic, ...]]:
    """Watch the reference engine."""
    from ptosim.timing.block_placement import hardware_cores, place_blocks
    from ptosim.timing.pipe_timer import PipeTimer

    program = kernel.program
    launch = replace(launch, arguments=launch.arguments.copied(), oob="drop")
    timer = PipeTimer(machine, kernel.prices(machine))
    run = kernel.reference(launch, timer)
    run.target = machine
    run()
    recording = timer.recording()
    place_blocks(recording, hardware_cores(program.kind, machine), program.cross_block)
    return recording, timer.warnings


def _second_run(kernel: Kernel, launch: Launch, machine: Target) -> SecondRun | None:
    """The steps and lanes of a run; none of one that is too long or waits for words in GM."""
    from ptosim.reference.observed.lane_count import LaneCount
    from ptosim.report.advice import SecondRun
    from ptosim.timing.block_placement import hardware_cores
    from ptosim.timing.retiming import Retiming
    from ptosim.timing.step_log import StepLogger, TooManySteps

    launch = replace(launch, arguments=launch.arguments.copied(), oob="drop", say=None, block_done=None)
    logger = StepLogger(machine, kernel.prices(machine))
    lanes = LaneCount()
    run = kernel.reference(launch, logger, lanes)
    run.target = machine
    try:
        run()
    except (PTOError, TooManySteps):
        return None
    if not logger.log.complete:
        return None
    program = kernel.program
    retiming = Retiming(logger.log, machine, hardware_cores(program.kind, machine), program.cross_block)
    return SecondRun(retiming, lanes.instructions)


def _buffers(kernel: Kernel) -> Sequence[PlacedTile]:
    """Names for the bytes on the chip: tiles, or pointers cast from addresses."""
    plans = kernel.module.plan().functions
    own = [plan for plan in plans if plan.function == kernel.name]
    return [tile for plan in own or plans for tile in plan.tiles]


__all__: Sequence[str] = ("Kernel", "Launch", "Module", "check", "load", "profile", "prove")
