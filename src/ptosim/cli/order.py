"""The commands about order: proving what a kernel has of it, and writing out what it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ptosim.cli.command import (
    NO_LAUNCH_NEEDED,
    STRICT,
    TARGET,
    Launching,
    Outcome,
    launched_subject,
    launched_with,
    launches,
    reports,
)
from ptosim.cli.kernel_file import KernelsOfFile, loaded
from ptosim.cli.made_up import has_sets
from ptosim.cli.other_programs import for_other_programs
from ptosim.diagnostics import writing

UNDECIDED = 3
"""The exit code of a proof that neither proves nor refutes."""


@click.command(cls=Launching, epilog=NO_LAUNCH_NEEDED)
@launches
@TARGET
@STRICT
@click.option("--explain", is_flag=True, help="Also say what was followed how, and what would decide it.")
@for_other_programs
@reports
def prove(
    file: str,
    words: Sequence[str],
    kernel: str | None,
    grid: int,
    target: str | None,
    strict: bool,
    explain: bool,
    as_json: bool,
) -> Outcome:
    """Prove that a kernel is in order.

    For every number of iterations, every branch and every grid, without running it. With ARGUMENTS, what goes wrong is
    also tried by a check. The exit code is 0 for a proven kernel, 1 for one out of order, 3 for an undecided one; with
    --strict that is 1 too.
    """
    from ptosim.api import prove as judge

    module = loaded(file, target)
    chosen = module.kernel(kernel)
    if has_sets() and not words:
        raise click.UsageError("--set is for arguments that are made up: say auto for them")
    if words or isinstance(module, KernelsOfFile):
        subject = launched_with(chosen, words, grid)
        proof = judge(chosen, *subject.values, grid=grid, explain=explain)
    else:
        proof = judge(chosen, grid=grid, explain=explain)
    if not as_json:
        click.echo(str(proof))
    code = 0 if proof.proven else 1 if proof.findings or strict else UNDECIDED
    return Outcome((*proof.findings, *proof.undecided), proof.result, code, subject=launched_subject() or proof.subject)


@click.command(cls=Launching, epilog=NO_LAUNCH_NEEDED)
@launches
@TARGET
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="OUT", help="Write the kernel to a file.")
@click.option("--strip", is_flag=True, help="Remove written flags, events, buffer ids and barriers first.")
@click.option("--report", is_flag=True, help="Say what was inserted, what it costs, and what is redundant.")
@reports
def sync(
    file: str,
    words: Sequence[str],
    kernel: str | None,
    grid: int,
    target: str | None,
    output: str | None,
    strip: bool,
    report: bool,
    as_json: bool,
) -> Outcome:
    """Write out the order of a kernel.

    Inserts the missing flags and barriers beside the written ones. Without ARGUMENTS as a load does, for all launches;
    with them (or auto) the order that costs least is looked for and checked on them. The text of the kernel goes to
    OUT, or without --report to the terminal. Tiles stay tiles, each with its address.
    """
    module = loaded(file, target)
    chosen = module.kernel(kernel)
    if words or not chosen.signature or isinstance(module, KernelsOfFile):
        from ptosim.home.synchronisation import synchronise

        subject = launched_with(chosen, words, grid)
        found = synchronise(subject.kernel, *subject.given, grid=grid, strip=strip)
        told = found.report() if report else str(found)
    else:
        from ptosim.home.synchronisation import order_for_all_launches

        if report or has_sets() or grid > 1:
            raise click.UsageError("costs are those of a launch: give ARGUMENTS, or auto for each")
        found = order_for_all_launches(chosen, strip)
        told = str(found)
    if output is not None:
        with writing(output):
            Path(output).write_text(found.text, "utf-8")
    is_text = not report and output is None
    if not as_json:
        click.echo(found.text if is_text else told, nl=not is_text)
    return Outcome(result=found.to_json() if as_json else None, is_text=is_text)
