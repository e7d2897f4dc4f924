"""The commands about order: what a kernel has of it, proven for every run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from ptosim.command import ARGUMENTS, TARGET, Launching, arguments_of, launches, reports, show


@click.command(cls=Launching, epilog=ARGUMENTS)
@launches
@TARGET
@reports
def prove(
    file: str, words: Sequence[str], kernel: str | None, grid: int, target: str | None, as_json: bool
) -> NoReturn:
    """Prove that a kernel is in order.

    For every number of iterations, every branch and every grid, without running it. With ARGUMENTS, what goes wrong is
    also tried by a check.
    """
    from ptosim.api import load
    from ptosim.api import prove as judge

    module = load(file, target)
    chosen = module.kernel(kernel)
    proof = judge(chosen, *(arguments_of(chosen, words) if words else ()), grid=grid)
    if as_json:
        show((*proof.findings, *proof.undecided), as_json)
    else:
        click.echo(str(proof))
    sys.exit(0 if proof.proven else 1)
