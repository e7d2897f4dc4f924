"""The commands of `ptosim`; how commands behave is in cli/command.py. Bad input is a diagnostic, never a traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptosim.cli.check import check
from ptosim.cli.command import (
    ARGUMENTS,
    EXAMPLES,
    LOCATIONS,
    MAX_STEPS,
    STRICT,
    SYNC,
    TARGET,
    Commands,
    Differs,
    Launching,
    Tolerance,
    arguments_of,
    launches,
    reports,
    show,
)
from ptosim.cli.fit import fit
from ptosim.cli.kernel_file import KERNEL_FILE, STANDARD_INPUT, loaded
from ptosim.cli.order import prove, sync
from ptosim.cli.ranks import RANKS, Ranked, refuse, speaks_of_ranks
from ptosim.cli.show import numbered, run_showing, summary
from ptosim.diagnostics import Diagnostic, PTOError, writing

if TYPE_CHECKING:
    from ptosim.report.profile import Profile


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(package_name="ptosim", prog_name="ptosim", message="%(prog)s %(version)s")
def main() -> None:
    """Run, check, time and see Ascend PTO micro-instruction kernels on any computer."""


main.add_command(check)
main.add_command(prove)
main.add_command(sync)
main.add_command(fit)


@main.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@TARGET
@STRICT
@reports
def verify(files: Sequence[str], target: str | None, strict: bool, as_json: bool) -> Sequence[Diagnostic]:
    """Parse and verify kernel files, without running them."""
    found: list[Diagnostic] = []
    ok = True
    for file in files:
        try:
            module = loaded(file, target)
        except PTOError as problem:
            found += problem.diagnostics
            ok = False
            continue
        warnings = [*module.warnings, *(_foreseen(each) for each in module.refused if each.kind != "unsupported")]
        found += warnings
        if strict and warnings:
            ok = False
        elif not as_json:
            click.echo(f"{file}: ok for {module.target}; kernels: {', '.join(module.kernels) or 'none'}")
    if not ok:
        raise PTOError(*found)
    if not as_json:
        show(found, as_json)
    return found


def _foreseen(refused: Diagnostic) -> Diagnostic:
    """What a run will refuse, while the text is only read."""
    return replace(refused, severity="warning", notes=(*refused.notes, "a run ends here; the text is accepted"))


@main.command("print")
@KERNEL_FILE
@TARGET
@LOCATIONS
@reports
def print_(file: str, target: str | None, locations: bool, as_json: bool) -> Sequence[Diagnostic]:
    """Print a kernel file in canonical text.

    Older spellings become current ones, types that were left out are written; comments are not kept.
    """
    module = loaded(file, target)
    if not as_json:
        click.echo(module.text(locations), nl=False)
    return module.warnings


@main.command()
@KERNEL_FILE
@TARGET
@SYNC
@LOCATIONS
@reports
def lower(file: str, target: str | None, sync: str, locations: bool, as_json: bool) -> Sequence[Diagnostic]:
    """Print the micro-instructions that a kernel file becomes.

    Tiles are lowered and order is inserted; each piece is headed by the line that it serves. The text loads again and
    gives the same bytes.
    """
    module = loaded(file, target, sync)
    if not as_json:
        click.echo(module.lowered(locations).source, nl=False)
    return module.warnings


@main.command()
@KERNEL_FILE
@TARGET
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Draw the memories over the lines.")
@reports
def plan(file: str, target: str | None, html: str | None, as_json: bool) -> Sequence[Any]:
    """Show where each tile lies.

    With the lines between which it is in use, and how full every memory gets.
    """
    module = loaded(file, target)
    found = module.plan()
    if html is not None:
        with writing(html):
            found.save_html(html)
    if not as_json:
        click.echo(str(found))
        return module.warnings
    return [*module.warnings, found]


@main.command(cls=Launching, epilog=ARGUMENTS)
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
    metavar="LINE[:N]",
    help="Print what a line of the kernel reads, computes and writes, the first N times.",
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
@MAX_STEPS
@reports
def run(
    file: str,
    words: Sequence[str],
    kernel: str | None,
    grid: int,
    ranks: int | None,
    target: str | None,
    saves: Sequence[str],
    expects: Sequence[str],
    atol: float,
    rtol: float,
    shows: Sequence[str],
    engine: str | None,
    oob: str,
    threads: int | None,
    schedule: str,
    poison: bool,
    max_steps: int,
    as_json: bool,
) -> Sequence[Diagnostic]:
    """Run a kernel and show its arrays."""
    from ptosim.api import Launch
    from ptosim.arguments import bind
    from ptosim.cli.argument_words import save
    from ptosim.cli.expectation import compare, expectation
    from ptosim.report.progress import progress

    module = loaded(file, target)
    chosen = module.kernel(kernel)
    if speaks_of_ranks(ranks, words):
        refuse(show=shows, oob=oob != "error", threads=threads)
        ranked = Ranked(chosen, words, ranks or 1, grid)
        ranked.world.run(engine or ("native" if schedule == "program" else "reference"), schedule, max_steps, poison)
        ranked.save(saves)
        ranked.expect(expects, atol, rtol)
        if not as_json:
            ranked.summary()
        return module.warnings
    values = arguments_of(chosen, words)
    outputs = [numbered(text, values) for text in saves]
    wanted = [expectation(chosen, values, *numbered(text, values)) for text in expects]
    launch = Launch(bind(chosen.signature, values), grid, oob, schedule, max_steps, poison=poison)
    before = replace(launch, arguments=launch.arguments.copied()) if wanted else None
    if shows:
        run_showing(chosen, launch, shows, engine, as_json)
    else:
        with progress(grid, quiet=as_json) as block_done:
            engine = engine or ("native" if schedule == "program" else "reference")
            chosen.execute(replace(launch, block_done=block_done), engine, threads=threads)
    for index, path in outputs:
        save(path, values[index])
    if before is not None:
        differences = compare(chosen, before, values, wanted, atol, rtol)
        if differences:
            raise Differs(*differences)
    if not as_json:
        summary(chosen, values)
    return module.warnings


@main.command()
@click.argument("kind", required=False)
@reports
def explain(kind: str | None, as_json: bool) -> Sequence[Any]:
    """Say what a kind of finding means.

    With a minimal kernel and its repair; without a KIND list them all.
    """
    from ptosim.report.explanation import listing, terminal
    from ptosim.sanitize.explain import explanation, kinds

    if not as_json:
        click.echo(terminal(explanation(kind)) if kind else listing())
        return ()
    return [explanation(each) for each in ([kind] if kind else kinds())]


@main.command()
@click.argument("name", required=False)
@reports
def isa(name: str | None, as_json: bool) -> Sequence[Any]:
    """Say what an instruction does.

    Its meaning, an example, operands, words, element types, pipe and cycles; without a NAME list them all.
    """
    from ptosim.report.instruction import contents, page, pages

    if not as_json:
        click.echo(str(page(name)) if name else contents())
        return ()
    return [page(name)] if name else pages()


# --- profile ----------------------------------------------------------------------------------------------------------


@main.command(cls=Launching, epilog=ARGUMENTS)
@launches
@RANKS
@click.option("--target", metavar="NAME", help="Machine: a5, a2, a3 or a .toml file; by default the module's own.")
@click.option("--html", metavar="FILE", help="Write a report with timeline, source and tables.")
@click.option("--trace", metavar="FILE", help="Write a trace that Perfetto opens.")
@click.option(
    "--compare",
    metavar="OTHER.pto",
    help="Profile another kernel on the same arguments, side by side; --html and --trace write FILE-OTHER too.",
)
@click.option(
    "--what-if",
    "what_ifs",
    multiple=True,
    metavar="FIGURE=VALUE",
    help="Change a figure of the machine: vexp.latency=8.",
)
@click.option("--check", "checked", is_flag=True, help="Also run the sanitizer; findings go into the report.")
@MAX_STEPS
@reports
def profile(
    file: str,
    words: Sequence[str],
    kernel: str | None,
    grid: int,
    ranks: int | None,
    target: str | None,
    html: str | None,
    trace: str | None,
    compare: str | None,
    what_ifs: Sequence[str],
    checked: bool,
    max_steps: int,
    as_json: bool,
) -> Sequence[Any]:
    """Time a kernel: cycles, pipes, waits.

    Shows where the cycles go: per pipe, per line, along the critical path. They rank variants of a kernel; they do not
    predict wall time.
    """
    from ptosim import api
    from ptosim.arguments import bind
    from ptosim.report.progress import progress
    from ptosim.target import load_target

    architecture = load_target(target).architecture if target else None
    chosen = loaded(file, architecture).kernel(kernel)
    machine = load_target(target or chosen.module.target)
    others, report = list[Any](), None
    if speaks_of_ranks(ranks, words):
        refuse(compare=compare, check=checked, **{"what-if": what_ifs})
        first = Ranked(chosen, words, ranks or 1, grid).world.profile(machine, max_steps)
    else:
        values = arguments_of(chosen, words)
        other = loaded(compare, architecture).kernel() if compare else None
        changed = _changed(machine, what_ifs) if what_ifs else None
        runs = 1 + sum(map(bool, (other, changed, checked)))
        with progress(grid * runs, quiet=as_json) as block_done:
            launch = api.Launch(bind(chosen.signature, values), grid, max_steps=max_steps, block_done=block_done)
            first = api.measure(chosen, launch, machine)
            if other is not None:
                theirs = replace(launch, arguments=bind(other.signature, values))
                others.append(api.measure(other, theirs, machine))
            if changed is not None:
                others.append(api.measure(chosen, launch, changed))
            report = api.examine(chosen, launch) if checked else None
    findings = list(report.findings) if report else []
    asked = others[-1] if what_ifs else first
    _save(asked, html, trace, findings if checked else None)
    _save_beside(others, compare, html, trace)
    comparisons = [first.compare(other) for other in others]
    result = [*chosen.module.warnings, *first.warnings, *findings, first, *others, *comparisons]
    if not as_json:
        _print_profiles(comparisons or [first])
        show([*first.warnings, *findings], as_json)
    if report and not report.ok:
        if as_json:
            show(result, as_json)
        sys.exit(1)
    return result


def _save_beside(others: Sequence[Profile], compare: str | None, html: str | None, trace: str | None) -> None:
    if compare:
        _save(others[0], _beside(html, compare), _beside(trace, compare), None)


def _save(profile: Profile, html: str | None, trace: str | None, findings: Sequence[Diagnostic] | None) -> None:
    if html:
        with writing(html):
            profile.save_html(html, findings)
    if trace:
        with writing(trace):
            profile.save_trace(trace)


def _beside(path: str | None, compare: str) -> str | None:
    """The file of the kernel that is compared: report-OTHER.html beside report.html."""
    if not path:
        return None
    other = Path(compare).stem.strip(STANDARD_INPUT) or "compared"
    file = Path(path)
    beside = str(file.with_name(f"{file.stem}-{other}{file.suffix}"))
    click.echo(f"{beside} is the report of {compare}", err=True)
    return beside


def _print_profiles(shown: Sequence[Any]) -> None:
    from shutil import get_terminal_size

    width = max(60, get_terminal_size((100, 24)).columns)
    click.echo("\n\n".join(each.text(width) for each in shown))


def _changed(machine: Any, what_ifs: Sequence[str]) -> Any:
    """The target with other figures."""
    from ptosim.effects.catalogue import effects

    overrides: dict[str, Any] = {}
    for text in what_ifs:
        figure, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"'{text}' is not of the form FIGURE=VALUE")
        try:
            overrides[figure] = json.loads(f"[{value}]" if "," in value else value)
        except (ValueError, RecursionError):
            overrides[figure] = value
    return machine.with_overrides(
        overrides, {name.removeprefix("pto."): record.timing for name, record in effects().items()}
    )


@main.command("cache")
@click.option("--clear", is_flag=True, help="Remove all of them.")
@reports
def cache_(clear: bool, as_json: bool) -> Sequence[Any]:
    """Show where compiled kernels are kept.

    And how many there are. PTOSIM_CACHE=/directory names the place, XDG_CACHE_HOME moves it; with PTOSIM_CACHE=off
    nothing is kept. A directory that is a link, or that others own or may write to, is not used.
    """
    from ptosim.native.host.cache import why_unusable
    from ptosim.native.host.library import kernel_cache

    kept = kernel_cache()
    files = kept.files()
    if clear:
        kept.clear()
    if not as_json:
        size = sum(file.size for file in files)
        place = kept.directory or "nowhere (PTOSIM_CACHE=off)"
        if kept.directory is not None and kept.directory.exists() and (reason := why_unusable(kept.directory)):
            place = f"{place} is not used ({reason})"
        click.echo(f"{place}: {'removed ' if clear else ''}{len(files)} files, {size / 1e6:.1f} MB")
    return files
