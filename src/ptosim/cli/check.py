"""The command that checks a kernel, and repairs it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ptosim.cli.command import (
    ARGUMENTS,
    MAX_STEPS,
    STRICT,
    TARGET,
    Launching,
    Outcome,
    launched_with,
    launches,
    reports,
)
from ptosim.cli.kernel_file import STANDARD_INPUT, KernelsOfFile, loaded
from ptosim.cli.made_up import ranks_of
from ptosim.cli.other_programs import for_other_programs
from ptosim.cli.ranks import RANKS, Ranked, refuse
from ptosim.diagnostics import Diagnostic, PTOError, writing

if TYPE_CHECKING:
    from ptosim.module import Module
    from ptosim.report.fix import Fix


@click.command(cls=Launching, epilog=ARGUMENTS)
@launches
@RANKS
@click.option("--repeat", type=click.IntRange(1), help="With --ranks: run the launch so many times, memory kept.")
@TARGET
@STRICT
@click.option(
    "--sarif", type=click.Path(dir_okay=False), metavar="FILE", help="Also write the findings as SARIF 2.1.0."
)
@click.option(
    "--max-findings", type=click.IntRange(1), metavar="N", help="Stop once N findings are judged, and show at most N."
)
@click.option("--blocks", metavar="LIST", help="Check only these blocks, such as 0,last.")
@click.option(
    "--mem-bar",
    type=click.Choice(["relaxed", "strict", "off"]),
    default="relaxed",
    show_default=True,
    help="Accesses of a vector scope that alias without a mem_bar: errors where a load may read old bytes, all errors, "
    "or not looked at.",
)
@click.option(
    "--unwritten",
    type=click.Choice(["off", "note", "error"]),
    default="note",
    show_default=True,
    help="Bytes of an output that no block writes: not looked for, noted, or errors.",
)
@click.option(
    "--engine",
    type=click.Choice(["native", "reference"]),
    default="native",
    show_default=True,
    help="Whether compiled code finds out which blocks have to be judged, or all are. The report is the same.",
)
@click.option(
    "--oob",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="GM accesses outside an argument: errors, or notes, as hardware reads zeros there and drops writes.",
)
@click.option("--fix", "fixed", is_flag=True, help="Print a repair as a unified diff; the findings go to stderr.")
@click.option("--write", is_flag=True, help="With --fix: change the file.")
@MAX_STEPS
@for_other_programs
@reports
def check(
    file: str,
    words: Sequence[str],
    kernel: str | None,
    grid: int,
    ranks: int | None,
    repeat: int | None,
    target: str | None,
    strict: bool,
    sarif: str | None,
    blocks: str | None,
    fixed: bool,
    write: bool,
    oob: str,
    max_steps: int,
    as_json: bool,
    **options: Any,
) -> Outcome:
    """Find races, deadlocks and bad accesses.

    Runs the kernel under the sanitizer, on copies of its arrays. One run without a finding covers every schedule of
    these arguments. With --fix, looks for the least edits of its synchronisation that remove the findings.
    """
    from ptosim.arguments import bind
    from ptosim.checking import CheckOptions, Launch, examine
    from ptosim.report.progress import progress

    if write:
        _allow_writing(file, fixed)
    module = _judged(file, target, sarif)
    chosen = module.kernel(kernel)
    if (ranks := ranks_of(chosen, words, ranks, grid)) is not None:
        refuse(blocks=blocks, unwritten=options["unwritten"] == "error", oob=oob != "error")
        world = Ranked(chosen, words, ranks, grid).world
        report = world.check(repeat or 1, options["max_findings"], max_steps, options["mem_bar"])
    elif repeat is not None:
        raise click.UsageError("--repeat is for launches on several ranks")
    else:
        subject = launched_with(chosen, words, grid)
        chosen, module = subject.kernel, subject.kernel.module
        launch = Launch(bind(chosen.signature, subject.given), grid, oob, max_steps=max_steps)
        selected = None if blocks is None else [_block(word) for word in blocks.split(",")]
        with progress(grid if selected is None else len(selected), quiet=as_json) as shown:
            launch = replace(launch, block_done=shown, found=shown.found)
            report = examine(chosen, launch, CheckOptions(blocks=selected, **options))
    found = (*module.warnings, *report.findings)
    if sarif is not None:
        _write_sarif(sarif, found)
    fix = report.fix() if fixed else None
    if not as_json:
        from ptosim.report.terminal import print_report

        print_report(report, module.warnings, to_stderr=fixed)
    if fix is not None and report.findings:
        _show(fix, quiet=as_json)
        if write and fix.diff:
            found = (*module.warnings, *_written(fix))
    failed = (strict and found) or any(finding.severity == "error" for finding in found)
    result = report.result | ({"fix": fix.to_json()} if fix else {})
    return Outcome(report.findings, result, int(bool(failed)), report.notes, is_text=fixed)


def _written(fix: Fix) -> Sequence[Diagnostic]:
    """Writes a repair; what is left."""
    fix.write(fix.name)
    click.echo(f"fix: written to {fix.name}", err=True)
    return fix.left


def _allow_writing(file: str, fixed: bool) -> None:
    if not fixed:
        raise click.UsageError("--write needs --fix")
    if file == STANDARD_INPUT:
        raise click.UsageError("--write needs a file: standard input cannot be changed")


def _judged(file: str, target: str | None, sarif: str | None) -> Module | KernelsOfFile:
    try:
        return loaded(file, target)
    except PTOError as problem:
        if sarif is not None:  # a log of an earlier check must not stay behind
            _write_sarif(sarif, problem.diagnostics)
        raise


def _show(fix: Fix, quiet: bool) -> None:
    """The diff, for `patch` and `git apply`, and apart from it what is known about it."""
    if quiet:
        return
    click.echo(fix.diff, nl=False)
    for note in fix.notes:
        click.echo(f"fix: {note}", err=True)
    if fix.left:
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in fix.left))
        click.echo(f"fix: no edit was found for {kinds}{_only_order(fix)}", err=True)


def _only_order(fix: Fix) -> str:
    from ptosim.repair.trials import ORDER

    is_order = all(finding.kind in ORDER for finding in fix.left)
    return "" if is_order else ": --fix repairs synchronisation only"


def _block(word: str) -> int | str:
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else word


def _write_sarif(path: str, found: Sequence[Diagnostic]) -> None:
    from ptosim.report.sarif import sarif

    with writing(path), open(path, "w", encoding="utf-8") as file:
        json.dump(sarif(found), file, indent=2)
