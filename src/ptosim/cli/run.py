"""The command that runs a kernel, shows its arrays, and says in a line what a check finds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ptosim.cli.command import (
    ARGUMENTS,
    MAX_STEPS,
    TARGET,
    Launching,
    Outcome,
    Tolerance,
    is_json,
    launched_with,
    launches,
    reports,
    show,
)
from ptosim.cli.kernel_file import CORES, loaded
from ptosim.cli.made_up import ranks_of
from ptosim.cli.ranks import RANKS, Ranked, refuse
from ptosim.cli.show import numbered, run_showing, summary
from ptosim.language.text.print_format import show as print_line

if TYPE_CHECKING:
    from ptosim.api import Launch
    from ptosim.diagnostics import Diagnostic
    from ptosim.module import Kernel
    from ptosim.report.check_report import CheckReport


@click.command(cls=Launching, epilog=ARGUMENTS)
@launches
@RANKS
@TARGET
@click.option("--save", "saves", multiple=True, metavar="N=FILE", help="Write argument N, from 0: .npy, or raw bytes.")
@click.option("--expect", "expects", multiple=True, metavar="N=FILE", help="Compare argument N with a file.")
@click.option("--atol", type=Tolerance(0), default=0.0, show_default=True, help="Absolute tolerance of --expect.")
@click.option("--rtol", type=Tolerance(0), default=0.0, show_default=True, help="Relative tolerance of --expect.")
@click.option(
    "--show",
    "shows",
    multiple=True,
    metavar="LINE[:N][@WORKITEM]",
    help="Print what a line of the kernel reads, computes and writes, the first N times.",
)
@click.option(
    "--until", metavar="LINE[@N]", help="Stop before a line is executed for the N-th time, and show the state."
)
@click.option(
    "--core", metavar="NAME", help="With --until the core that is meant, as b0.aiv0; for C++ vector, cube, mix or auto."
)
@click.option(
    "--engine",
    type=click.Choice(["native", "reference"]),
    help="By default native; reference for --show and for other schedules.",
)
@click.option(
    "--oob",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="GM accesses outside an argument: stop, or read zeros and drop writes.",
)
@click.option("--threads", type=click.IntRange(1), help="Worker threads of the native engine; all cores by default.")
@click.option(
    "--schedule",
    default="program",
    show_default=True,
    metavar="ORDER",
    help="Order in which pipes go on: program, random:SEED or delay:PIPE.",
)
@click.option("--poison", is_flag=True, help="Start on-chip memories with a pattern (NaN) instead of zeros.")
@click.option("--check/--no-check", "checked", default=True, help="Whether to say in a line what a check finds.")
@MAX_STEPS
@reports
def run(
    file: str,
    words: Sequence[str],
    kernel: str | None,
    grid: int,
    ranks: int | None,
    target: str | None,
    engine: str | None,
    schedule: str,
    max_steps: int,
    checked: bool,
    as_json: bool,
    **options: Any,
) -> Outcome:
    """Run a kernel and show its arrays.

    Pipes go on in program order, so a kernel that lacks a wait may give the right result: behind the arrays one line
    says what a check finds on the same arguments. The exit code is 1 where that is an error.
    """
    from ptosim.api import Launch
    from ptosim.arguments import bind

    chosen = loaded(file, target).kernel(kernel)
    engine = engine or ("native" if schedule == "program" and not options["shows"] else "reference")
    again = _command(file, words, grid, kernel=kernel, ranks=ranks, target=target, oob=options["oob"])
    if (ranks := ranks_of(chosen, words, ranks, grid)) is not None:
        refuse(show=options["shows"], oob=options["oob"] != "error", threads=options["threads"])
        ranked = Ranked(chosen, words, ranks, grid)
        report = ranked.world.check(max_steps=max_steps) if checked else None
        ranked.world.run(engine, schedule, max_steps, options["poison"])
        ranked.save(options["saves"])
        if not as_json:
            ranked.summary()
        wrong = ranked.differences(options["expects"], options["atol"], options["rtol"])
        return _outcome(wrong, report, again, ranked.described() if as_json else ())
    subject = launched_with(chosen, words, grid)
    if options["until"] is not None:
        return _stopped(subject.kernel, list(subject.given), grid, options)
    if options["core"] is not None and options["core"] not in CORES:
        raise click.UsageError("--core is for --until, or one of vector, cube, mix, auto for a kernel in C++")
    chosen, values = subject.kernel, subject.values
    for block, text in subject.said:
        print_line(block, text)
    launch = Launch(
        bind(chosen.signature, subject.given), grid, options["oob"], schedule, max_steps, poison=options["poison"]
    )
    untouched = replace(launch, arguments=launch.arguments.copied())
    wrong = _run(chosen, launch, untouched, values, engine, options)
    report = _checked(chosen, untouched) if checked else None
    return _outcome(wrong, report, again, _described(chosen, values) if as_json else ())


def _stopped(kernel: Kernel, values: list[Any], grid: int, options: dict[str, Any]) -> Outcome:
    """Stop before a line, and show what is held there."""
    from ptosim.report.state import NotReached

    text, core = options["until"], options["core"]
    match = re.fullmatch(r"(\d{1,9})(?:@([1-9]\d{0,8}))?", text)
    if match is None:
        raise click.UsageError(f"'{text}' is not of the form LINE or LINE@N")
    try:
        state = kernel.until(*values, line=int(match[1]), occurrence=int(match[2] or 1), core=core, grid=grid)
    except NotReached as problem:
        if not is_json():
            show(problem.diagnostics)
        return Outcome(problem.diagnostics, exit_code=1)
    if not is_json():
        click.echo(str(state))
    return Outcome(result={"arrays": (), "check": None, "state": state.to_json()} if is_json() else None)


def _run(
    kernel: Kernel, launch: Launch, before: Launch, values: list[Any], engine: str, options: dict[str, Any]
) -> Sequence[Diagnostic]:
    """Run, save and show; what differs from --expect. `before` has the arguments that the launch began with."""
    from ptosim.argument_words import save
    from ptosim.cli.expectation import compare, expectation
    from ptosim.report.progress import progress

    outputs = [numbered(text, values) for text in options["saves"]]
    wanted = [expectation(kernel, values, *numbered(text, values)) for text in options["expects"]]
    if options["shows"]:
        run_showing(kernel, launch, options["shows"], engine, is_json())
    else:
        with progress(launch.grid, quiet=is_json()) as block_done:
            kernel.execute(replace(launch, block_done=block_done), engine, threads=options["threads"])
    for index, path in outputs:
        save(path, values[index])
    if not is_json():
        summary(kernel, values)
    return compare(kernel, before, values, wanted, options["atol"], options["rtol"]) if wanted else ()


# --- what a check finds -----------------------------------------------------------------------------------------------


def _checked(kernel: Kernel, launch: Launch) -> CheckReport:
    """The findings of a check on the arguments that the run began with; the kernel has printed already."""
    from ptosim.checking import examine
    from ptosim.report.progress import progress

    with progress(launch.grid, quiet=is_json()) as block_done:
        return examine(kernel, replace(launch, schedule="program", poison=False, say=None, block_done=block_done))


def _outcome(wrong: Sequence[Diagnostic], report: CheckReport | None, command: str, arrays: Sequence[Any]) -> Outcome:
    """Tells what is wrong, and how the command ends."""
    if not is_json():
        show(wrong)
        if report is not None:
            click.echo(_told(report, command))
    failed = bool(wrong) or (report is not None and not report.ok)
    result = {"arrays": arrays, "check": None if report is None else report.result}
    findings, notes = ((), ()) if report is None else (report.findings, report.notes if is_json() else ())
    return Outcome((*wrong, *findings), result, int(failed), notes)


def _told(report: CheckReport, command: str) -> str:
    """The findings of the check in one line."""
    if not report.findings:
        return "check: clean"
    first, count = report.findings[0], len(report.findings) + report.omitted
    place = f" at line {first.line}" if first.line is not None else ""
    return f"check: {count} finding{'s' * (count != 1)}, first: {first.kind}{place} ({command})"


def _command(file: str, words: Sequence[str], grid: int, **options: Any) -> str:
    """The check to be repeated."""
    if options["oob"] == "error":
        del options["oob"]
    given = [f"--{name} {value}" for name, value in options.items() if value is not None]
    size = ["--grid", str(grid)] if grid != 1 else []
    return shlex.join(
        ["ptosim", "check", file, *words, *size, *(word for each in given for word in each.split(" ", 1))]
    )


def _described(kernel: Kernel, values: Sequence[Any]) -> Sequence[Any]:
    """The arrays behind the run."""
    from ptosim.report.envelope import described

    pairs = enumerate(zip(kernel.signature, values, strict=True))
    return [described(index, each.name, each.type, value) for index, (each, value) in pairs if each.is_pointer]
