"""`ptosim fit`: a target file from cycles that were measured on a board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from ptosim.cli.command import Outcome, launched_with, reports, show
from ptosim.diagnostics import Diagnostic, PTOError, Source, error, writing

if TYPE_CHECKING:
    from ptosim.fit.fitting import Fit, Launch
    from ptosim.fit.measurements import Measurement
    from ptosim.module import Kernel
    from ptosim.report.profile import Profile
    from ptosim.target import Target


@click.command()
@click.argument("measured", metavar="MEASURED.csv", type=click.Path())
@click.argument("files", metavar="KERNEL...", nargs=-1, required=True)
@click.option("-o", "--out", required=True, metavar="FILE.toml", help="The target file to write.")
@click.option("--target", default="a2a3", show_default=True, metavar="NAME", help="The figures to start from.")
@click.option(
    "--refit",
    multiple=True,
    metavar="FIGURE",
    help="Also fit what was measured: a figure, a row, a table, or all.",
)
@reports
def fit(measured: str, files: Sequence[str], out: str, target: str, refit: Sequence[str], as_json: bool) -> Outcome:
    """Fit the figures of a target to measured cycles.

    MEASURED.csv has the columns kernel, arguments, grid and cycles (or microseconds); a kernel is FILE or FILE:NAME,
    the arguments are one field in quotes, as for ptosim run. Rows that repeat a launch count by their median. What was
    measured already, and what the table leaves open, keeps its value. Exit code 1 if the error did not fall.
    """
    from ptosim.fit.fitting import fit as fitted
    from ptosim.fit.measurements import read_measurements
    from ptosim.fit.target_file import target_file
    from ptosim.report.envelope import ReportSubject
    from ptosim.target import load_target

    base = load_target(target)
    _known(refit, base.figures)
    rows = read_measurements(_read(measured), files, base.chip.clock_ghz)
    launches = _launches(rows, base.architecture)
    found = fitted(launches, [row.cycles for row in rows], base, refit)
    if found.is_better:
        with writing(out):
            Path(out).write_text(target_file(found, target, Path(out), measured), encoding="utf-8")
    if not as_json:
        click.echo(_text(found, rows, out))
    about = ReportSubject(target=found.target.name)
    if not found.is_better:
        worse = Diagnostic("argument", "error", f"no figures explain {measured} better than those of {target}")
        if not as_json:
            show([worse])
        return Outcome([worse], found.to_json(), 1, subject=about)
    return Outcome(result=found.to_json(), subject=about)


def _read(path: str) -> Source:
    try:
        return Source(path, Path(path).read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise error("argument", f"{path} is not a text file in UTF-8") from None
    except (OSError, ValueError) as reason:
        raise error("argument", f"cannot read {path}: {getattr(reason, 'strerror', None) or reason}") from None


def _known(refit: Sequence[str], figures: Mapping[str, object]) -> None:
    """Each names some figure."""
    from ptosim.target.figures import near

    for name in refit:
        if name != "all" and not any(path == name or path.startswith(f"{name}.") for path in figures):
            names = {part for path in figures for part in (path, path.rpartition(".")[0])}
            raise error("argument", f"there is no figure '{name}'", hint=near(name, sorted(names)))


def _launches(rows: Sequence[Measurement], architecture: str) -> list[Launch]:
    """A timed launch for each row; PTOError with every row that cannot be launched, at its line."""
    from ptosim import api

    modules: dict[str, api.Module] = {}
    found: list[Launch] = []
    wrong: list[Diagnostic] = []
    for row in rows:
        try:
            if row.file not in modules:
                modules[row.file] = api.load(row.file, architecture)
            kernel = modules[row.file].kernel(row.kernel)
            subject = launched_with(kernel, row.words, row.grid)
            found.append(partial(_profile, subject.kernel, tuple(subject.given), row.grid))
        except PTOError as problem:
            wrong += [_at(row, each) for each in problem.diagnostics]
    if wrong:
        raise PTOError(*wrong)
    return found


def _at(row: Measurement, found: Diagnostic) -> Diagnostic:
    """Reports the error of a launch at its row; the error of a kernel stands in the kernel."""
    return found if found.location else replace(found, location=row.location)


def _profile(kernel: Kernel, arguments: tuple[Any, ...], grid: int, target: Target) -> Profile:
    from ptosim import api

    return api.profile(kernel, *arguments, grid=grid, target=target)


def _text(found: Fit, rows: Sequence[Measurement], out: str) -> str:
    from ptosim.fit.fitting import mean
    from ptosim.report.profile_text import table

    width = max(60, get_terminal_size((100, 24)).columns)
    launches = [
        (f"{row.cycles:,.0f}", f"{100 * before:+.1f} %", f"{100 * after:+.1f} %", str(row))
        for row, before, after in zip(rows, found.before, found.after, strict=True)
    ]
    figures = [
        (
            *(each.path, _number(each.before), each.origin, _number(each.after), f"{100 * each.spread:.1f} %"),
            f"with {', '.join(each.stands_for)}" if each.stands_for else "",
        )
        for each in found.figures
    ]
    before, after = (f"{100 * mean(errors):.1f} %" for errors in (found.before, found.after))
    shown = [
        f"{len(rows)} launches: mean error {before} before, {after} after",
        table(("measured", "before", "after", "launch"), launches, width),
        table(("figure", "before", "", "after", "±", ""), figures, width),
        _listed("left open by these measurements, and kept", found.undetermined, width),
        _listed("measured already, and kept (--refit NAME fits them too)", found.measured, width),
        f"wrote {out}" if found.is_better else "",
    ]
    return "\n\n".join(part for part in shown if part)


def _listed(what: str, names: Sequence[str], width: int) -> str:
    if not names:
        return ""
    return "\n".join(wrap(f"{what}: {', '.join(names)}", width, subsequent_indent="    ", break_long_words=False))


def _number(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(_number, value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return f"{value:g}"
