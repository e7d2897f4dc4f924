"""The commands that run many kernels on many workers."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ptosim.cli.command import Outcome, reports
from ptosim.diagnostics import writing

SCHEDULER = click.option("--scheduler", metavar="ADDRESS", help="Of Dask; by default workers on this computer.")
WORKERS = click.option("--workers", type=click.IntRange(1), help="How many on this computer; by default one per core.")


@click.command()
@click.argument("spec", metavar="SPEC.toml|DIR", type=click.Path())
@SCHEDULER
@WORKERS
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE.parquet", help="Where the rows go.")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write a page with what was found.")
@reports
def sweep(
    spec: str, scheduler: str | None, workers: int | None, out: str | None, html: str | None, as_json: bool
) -> Outcome:
    """Run many cases on many workers.

    Kernels, arguments and options are those that SPEC.toml says, or all kernels of a directory with arguments that are
    made up. Rows collect beside OUT and become OUT at the end; started again, the sweep goes on where it was.
    """
    from ptosim.fleet.sweeping import sweep as run

    found = run(spec, scheduler=scheduler, workers=workers, out=out, told=None if as_json else _shown)
    if html is not None:
        with writing(html):
            found.html(html)
    if not as_json:
        click.echo(str(found))
    rows = found.table.num_rows
    failed = found.failures.num_rows
    return Outcome(result={"cases": rows, "failures": failed, "out": out}, exit_code=int(failed > 0))


def _shown(done: int, count: int | None, seconds: float) -> None:
    """The progress, and the time that may be left."""
    if not sys.stderr.isatty():
        return
    rate = done / seconds if seconds else 0.0
    left = f", {(count - done) / rate:.0f} s left" if count and rate else ""
    sys.stderr.write(f"\r{done}{f' of {count}' if count else ''} cases, {rate:.1f} a second{left}\x1b[K")
    if done == count:
        sys.stderr.write("\n")


@click.command()
@click.argument("spec", metavar="SPEC.toml", type=click.Path())
@SCHEDULER
@WORKERS
@reports
def tune(spec: str, scheduler: str | None, workers: int | None, as_json: bool) -> Outcome:
    """Find the values that give the fewest cycles.

    Of those in [vary] that check clean. With [tune] small = { n = 8 } all are timed at that size first, and the best
    share of them (keep = 0.3) at the sizes that are meant.
    """
    from ptosim.diagnostics import error
    from ptosim.fleet.tuning import tune as search

    if Path(spec).is_dir():
        raise error("argument", f"{spec} is a directory: tuning needs a file that says what to vary")
    found = search(spec, scheduler=scheduler, workers=workers)
    if not as_json:
        click.echo(str(found))
    return Outcome(result=found.to_json(), exit_code=int(found.best is None))
