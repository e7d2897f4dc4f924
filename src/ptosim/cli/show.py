"""The output of `ptosim run`: arrays, and with --show the values that a line reads, computes and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ptosim.argument_words import shown
from ptosim.diagnostics import error


def run_showing(kernel: Any, launch: Any, shows: Sequence[str], engine: str | None, as_json: bool) -> None:
    from ptosim.reference.observed.watch import Execution, Watch, watchable
    from ptosim.report.execution import describe

    if engine == "native":
        raise click.UsageError("--show needs the reference engine")
    lines = dict(_line(text.partition("@")[0]) for text in shows)
    workitems = dict(_workitem(text) for text in shows if "@" in text)
    known = watchable(kernel.module.executable.parsed)
    for line in lines.keys() - known:
        near = min(known, key=lambda other: abs(other - line), default=None)
        hint = f"; the nearest that has is line {near}" if near is not None else ""
        raise error("argument", f"line {line} has no instruction to show{hint}")

    def tell(execution: Execution) -> None:
        click.echo(describe(execution), err=as_json)

    kernel.reference(launch, inspection=Watch(lines, tell, workitems))()


def _line(text: str) -> tuple[int, int | None]:
    line, colon, count = text.partition(":")
    numbers = [line, count] if colon else [line]
    if not all(number.isascii() and number.isdecimal() and len(number) < 10 for number in numbers):
        raise click.UsageError(f"'{text}' is not of the form LINE or LINE:N")
    return int(line), int(count) if colon else None


def _workitem(text: str) -> tuple[int, int]:
    """LINE@WORKITEM: in the code of workitems, what one of them does."""
    line, _, number = text.partition("@")
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise click.UsageError(f"'{text}' is not of the form LINE@WORKITEM")
    return _line(line)[0], int(number)


def summary(kernel: Any, values: list[Any]) -> None:
    """One line per array, so that a run without --save shows something."""
    for parameter, value in zip(kernel.signature, values, strict=True):
        if hasattr(value, "dtype"):
            click.echo(f"{parameter.name:>12}  {shown(value)}")


def numbered(text: str, values: list[Any]) -> tuple[int, str]:
    number, equals, path = text.partition("=")
    if not equals or not number.isascii() or not number.isdecimal() or len(number) > 4 or not path:
        raise click.UsageError(f"'{text}' is not of the form N=FILE")
    arrays = [index for index, value in enumerate(values) if hasattr(value, "dtype")]
    if int(number) not in arrays:
        raise click.UsageError(
            f"argument {number} is no array; arrays of this kernel are {', '.join(map(str, arrays)) or 'none'}"
        )
    return int(number), path
