"""The commands of `ptosim`; how commands behave is in cli/command.py. Bad input is a diagnostic, never a traceback."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptosim.cli.check import check
from ptosim.cli.command import (
    ARGUMENTS,
    EXAMPLES,
    GRID,
    LOCATIONS,
    MAX_STEPS,
    STRICT,
    SYNC,
    TARGET,
    Commands,
    Launching,
    Outcome,
    Tolerance,
    launched_subject,
    launched_with,
    launches,
    reports,
    show,
)
from ptosim.cli.completion import completion
from ptosim.cli.cpp import cpp
from ptosim.cli.fit import fit
from ptosim.cli.fleet import sweep, tune
from ptosim.cli.home import lsp, new, watch
from ptosim.cli.kernel_file import (
    KERNEL_FILE,
    RECORDED_WORDS,
    STANDARD_INPUT,
    loaded,
    recorded_module,
    specialised,
)
from ptosim.cli.made_up import command_line, ranks_of
from ptosim.cli.order import prove, sync
from ptosim.cli.other_programs import for_other_programs
from ptosim.cli.ranks import RANKS, Ranked, refuse
from ptosim.cli.run import run
from ptosim.diagnostics import Diagnostic, PTOError, writing

if TYPE_CHECKING:
    from ptosim.report.comparison import Comparison
    from ptosim.report.envelope import ReportSubject
    from ptosim.report.profile import Profile
    from ptosim.report.saved_profile import SavedProfile
    from ptosim.target import Target


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(package_name="ptosim", prog_name="ptosim", message="%(prog)s %(version)s")
def main() -> None:
    """Run, check, time and see Ascend PTO micro-instruction kernels on any computer."""


main.add_command(run)
main.add_command(check)
main.add_command(prove)
main.add_command(sync)
main.add_command(fit)
main.add_command(cpp)
main.add_command(completion)
main.add_command(new)
main.add_command(watch)
main.add_command(lsp)
main.add_command(sweep)
main.add_command(tune)


@main.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@specialised
@TARGET
@STRICT
@for_other_programs
@reports
def verify(files: Sequence[str], target: str | None, strict: bool, as_json: bool) -> Outcome:
    """Parse and verify kernel files, without running them."""
    found: list[Diagnostic] = []
    verified: list[dict[str, Any]] = []
    for file in files:
        try:
            module = recorded_module(file, (), target)
        except PTOError as problem:
            found += problem.diagnostics
            verified.append({"file": file, "ok": False, "target": None, "kernels": []})
            continue
        warnings = module.remarks
        found += warnings
        ok = not (strict and warnings)
        verified.append({"file": file, "ok": ok, "target": module.target, "kernels": list(module.kernels)})
        if ok and not as_json:
            click.echo(f"{file}: ok for {module.target}; kernels: {', '.join(module.kernels) or 'none'}")
            if inferred := module.inferred_scopes:
                lines = f"line{'s' * (len(inferred) > 1)} {', '.join(map(str, inferred))}"
                click.echo(f"{file}: vector scopes are inferred around {lines}")
    if not as_json:
        show(found)
    misused = all(each.kind == "argument" for each in found)
    code = 0 if all(each["ok"] for each in verified) else 2 if misused else 1
    return Outcome(found, {"files": verified}, code, subject=_verified(files, verified))


def _verified(files: Sequence[str], verified: Sequence[dict[str, Any]]) -> ReportSubject:
    """The verified text, of a single file."""
    from ptosim.report.envelope import ReportSubject

    if len(files) > 1:
        return ReportSubject()
    (only,) = verified
    kernels = only["kernels"]
    return ReportSubject(only["file"], kernels[0] if len(kernels) == 1 else None, only["target"])


@main.command("print")
@KERNEL_FILE
@RECORDED_WORDS
@GRID
@TARGET
@LOCATIONS
@reports
def print_(file: str, words: Sequence[str], grid: int, target: str | None, locations: bool, as_json: bool) -> Outcome:
    """Print a kernel file in canonical text.

    Older spellings become current ones, types that were left out are written; comments stay with their operations.
    """
    text = recorded_module(file, words, target, grid=grid).text(locations, comments=True)
    if not as_json:
        click.echo(text, nl=False)
    return Outcome(result={"text": text})


@main.command()
@KERNEL_FILE
@RECORDED_WORDS
@GRID
@TARGET
@SYNC
@LOCATIONS
@reports
def lower(
    file: str, words: Sequence[str], grid: int, target: str | None, sync: str, locations: bool, as_json: bool
) -> Outcome:
    """Print the micro-instructions that a kernel file becomes.

    Tiles are lowered and order is inserted; each piece is headed by the line that it serves. The text loads again and
    gives the same bytes.
    """
    text = recorded_module(file, words, target, sync, grid).lowered(locations).source
    if not as_json:
        click.echo(text, nl=False)
    return Outcome(result={"text": text})


@main.command()
@KERNEL_FILE
@RECORDED_WORDS
@GRID
@TARGET
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Draw the memories over the lines.")
@reports
def plan(file: str, words: Sequence[str], grid: int, target: str | None, html: str | None, as_json: bool) -> Outcome:
    """Show where each tile lies.

    With the lines between which it is in use, and how full every memory gets.
    """
    found = recorded_module(file, words, target, grid=grid).plan()
    if html is not None:
        with writing(html):
            found.save_html(html)
    if not as_json:
        click.echo(str(found))
    return Outcome(result=found.to_json())


@main.command()
@click.argument("kind", required=False)
@click.option("--python", "is_python", is_flag=True, help="Show the kernel in Python.")
@reports
def explain(kind: str | None, is_python: bool, as_json: bool) -> Outcome:
    """Say what a kind of finding means.

    With a minimal kernel and its repair; without a KIND list them all.
    """
    from ptosim.report.explanation import listing, terminal
    from ptosim.report.python_explanation import explained_in_python
    from ptosim.sanitize.explain import explanation, kinds

    said = explained_in_python if is_python else explanation
    if not as_json:
        click.echo(terminal(said(kind)) if kind else listing())
        return Outcome()
    return Outcome(result={"kinds": [said(each).to_json() for each in ([kind] if kind else kinds())]})


@main.command()
@click.argument("name", required=False)
@reports
def isa(name: str | None, as_json: bool) -> Outcome:
    """Say what an instruction does.

    Its meaning, an example, operands, words, element types, pipe and cycles; without a NAME list them all.
    """
    from ptosim.report.instruction import contents, page, pages

    if not as_json:
        click.echo(str(page(name)) if name else contents())
        return Outcome()
    return Outcome(result={"instructions": [each.to_json() for each in ([page(name)] if name else pages())]})


# --- profile ----------------------------------------------------------------------------------------------------------


@main.command(cls=Launching, epilog=ARGUMENTS)
@launches
@RANKS
@click.option("--target", metavar="NAME", help="Machine (a5, a2, a3, a .toml file) instead of the module's own.")
@click.option("--html", metavar="FILE", help="Write a report with timeline, source and tables.")
@click.option("--trace", metavar="FILE", help="Write a trace that Perfetto opens.")
@click.option(
    "--compare",
    metavar="OTHER",
    help="Profile another kernel on the same arguments, side by side (--html and --trace write FILE-OTHER too), or "
    "take what was saved with --json.",
)
@click.option(
    "--at-most",
    type=Tolerance(0),
    metavar="PERCENT",
    help="With --compare: exit with 1 where this takes so much more cycles than the other.",
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
    at_most: float | None,
    what_ifs: Sequence[str],
    checked: bool,
    max_steps: int,
    as_json: bool,
) -> Outcome:
    """Time a kernel: cycles, pipes, waits.

    Shows where the cycles go: per pipe, per line, along the critical path. They rank variants and predict no time.
    """
    from ptosim import api
    from ptosim.arguments import bind
    from ptosim.report.progress import progress

    _needs(at_most, compare)
    chosen, machine = _timed_on(target, file, kernel)
    architecture = machine.architecture if target else None
    saved, others, report = _saved(compare, machine), list[Any](), None
    if (ranks := ranks_of(chosen, words, ranks, grid)) is not None:
        refuse(compare=compare, check=checked, **{"what-if": what_ifs})
        first = Ranked(chosen, words, ranks, grid).world.profile(machine, max_steps)
    else:
        subject = launched_with(chosen, words, grid)
        chosen, values = subject.kernel, subject.given
        other = loaded(compare, architecture).kernel().recorded(values, grid).kernel if compare and not saved else None
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
    findings, asked = list(report.findings) if report else [], others[-1] if what_ifs else first
    comparisons = [first.compare(other) for other in (*([saved] if saved else ()), *others)]
    _save(asked, html, trace, findings if checked else None, comparisons[0] if compare and asked is first else None)
    if compare and saved is None:
        _save(others[0], _beside(html, compare), _beside(trace, compare), None)
    if not as_json:
        _print_profiles(comparisons or [first])
        show([*first.warnings, *findings])
    result = first.result | (_beside_it(others, comparisons) if comparisons else {})
    failed = _is_slower(comparisons, at_most) or (report is not None and not report.ok)
    about, notes = replace(launched_subject() or first.subject, target=machine.name), report.notes if report else ()
    return Outcome([*first.warnings, *findings], result, int(failed), notes, about)


def _timed_on(target: str | None, file: str, kernel: str | None) -> tuple[Any, Any]:
    """A kernel of a file, and the machine that times it: the target, or that of its module."""
    from ptosim.target import load_target
    from ptosim.target.profile import is_target_file

    architecture = load_target(target).architecture if target else None
    chosen = loaded(file, target if target and is_target_file(target) else architecture).kernel(kernel)
    return chosen, load_target(target or chosen.module.target)


def _needs(at_most: float | None, compare: str | None) -> None:
    if at_most is not None and compare is None:
        raise click.UsageError("--at-most is for --compare")


def _is_slower(comparisons: Sequence[Comparison], at_most: float | None) -> bool:
    """Whether the kernel takes so much more than the other one."""
    if at_most is None:
        return False
    other = comparisons[0]
    return other.first.cycles > (1 + at_most / 100) * other.second.cycles


def _beside_it(others: Sequence[Profile], comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """The other profiles, for JSON."""
    return {
        "others": [{"file": each.source.name, "target": each.target.name, **each.result} for each in others],
        "comparisons": [each.to_json() for each in comparisons],
    }


def _saved(compare: str | None, machine: Target) -> SavedProfile | None:
    """The profile that --compare names, if it was saved with --json."""
    if compare is None or not compare.endswith(".json"):
        return None
    from ptosim.report.saved_profile import saved_profile

    return saved_profile(compare, machine)


def _save(
    profile: Profile,
    html: str | None,
    trace: str | None,
    findings: Sequence[Diagnostic] | None,
    comparison: Comparison | None = None,
) -> None:
    if html:
        profile.subject = replace(profile.subject, command=command_line())
        with writing(html):
            profile.save_html(html, findings, comparison)
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
def cache_(clear: bool, as_json: bool) -> Outcome:
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
    size = sum(file.size for file in files)
    if not as_json:
        place = kept.directory or "nowhere (PTOSIM_CACHE=off)"
        if kept.directory is not None and kept.directory.exists() and (reason := why_unusable(kept.directory)):
            place = f"{place} is not used ({reason})"
        click.echo(f"{place}: {'removed ' if clear else ''}{len(files)} files, {size / 1e6:.1f} MB")
    return Outcome(result={"files": [file.to_json() for file in files], "bytes": size, "removed": clear})
