"""`ptosim run --show LINE`: what a line of the kernel reads, computes and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ptosim.diagnostics import error


def run_showing(kernel: Any, launch: Any, shows: Sequence[str], engine: str | None, as_json: bool) -> None:
    from ptosim.reference.watch import Execution, Watch
    from ptosim.report.execution import describe

    if engine == "native":
        raise click.UsageError("--show needs the reference engine")
    lines = dict(_line(text) for text in shows)
    for line in lines.keys() - kernel.watchable():
        near = min(kernel.watchable(), key=lambda other: abs(other - line), default=None)
        hint = f"; the nearest that has is line {near}" if near is not None else ""
        raise error("argument", f"line {line} has no instruction to show{hint}")

    def tell(execution: Execution) -> None:
        click.echo(describe(execution), err=as_json)

    kernel.reference(launch, watch=Watch(lines, tell))()


def _line(text: str) -> tuple[int, int | None]:
    line, colon, count = text.partition(":")
    numbers = [line, count] if colon else [line]
    if not all(number.isascii() and number.isdecimal() and len(number) < 10 for number in numbers):
        raise click.UsageError(f"'{text}' is not of the form LINE or LINE:N")
    return int(line), int(count) if colon else None
