"""The command line. Exit codes: 0 ok, 1 not ok, 2 usage. Bad input is a diagnostic, never a traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NoReturn

import click

from ptosim.diagnostics import Diagnostic, PTOError, error

_KERNEL_FILE = click.argument("file", type=click.Path())
_WORDS = click.argument("words", nargs=-1, metavar="[ARGUMENT]...")


def _launch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(
        (
            click.option("--kernel", metavar="NAME", help="Which kernel of the module, where it has several."),
            click.option("--grid", type=click.IntRange(1), default=1, show_default=True, help="How many blocks."),
            click.option("--target", metavar="NAME", help="Machine, instead of the module's pto.target_arch."),
        )
    ):
        command = option(command)
    return command


def _reports(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --json, and turns a PTOError into its diagnostics and exit code 1."""

    @click.option("--json", "as_json", is_flag=True, help="Diagnostics and findings as one JSON array.")
    @wraps(command)
    def reporting(as_json: bool, **options: Any) -> None:
        try:
            found = command(as_json=as_json, **options)
        except PTOError as problem:
            _show(problem.diagnostics, as_json)
            sys.exit(1)
        if as_json:
            _show(found or (), as_json)
        sys.exit(0)

    return reporting


def _show(diagnostics: Sequence[Diagnostic], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([diagnostic.to_json() for diagnostic in diagnostics], indent=2))
        return
    for diagnostic in diagnostics:
        click.echo(_coloured(str(diagnostic)) if sys.stderr.isatty() else str(diagnostic), err=True)


def _coloured(text: str) -> str:
    first, *rest = text.split("\n")
    colour = "red" if ": error: " in first else "yellow"
    return "\n".join([click.style(first, fg=colour, bold=True), *rest])


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ptosim", message="%(version)s")
def main() -> None:
    """Run, check, time and see Ascend PTO micro-instruction kernels on any computer."""


@main.command()
@_KERNEL_FILE
@click.option("--target", metavar="NAME", help="Machine, instead of the module's pto.target_arch.")
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@_reports
def verify(file: str, target: str | None, strict: bool, as_json: bool) -> Sequence[Diagnostic]:
    """Parse and verify a kernel file."""
    from ptosim.api import load

    module = load(file, target)
    if strict and module.warnings:
        raise PTOError(*module.warnings)
    if not as_json:
        _show(module.warnings, as_json)
        names = ", ".join(module.kernels) or "none"
        click.echo(f"{file}: ok for {module.verified.target}; kernels: {names}")
    return module.warnings


@main.command("print")
@_KERNEL_FILE
@click.option("--target", metavar="NAME", help="Machine, instead of the module's pto.target_arch.")
@_reports
def print_(file: str, target: str | None, as_json: bool) -> Sequence[Diagnostic]:
    """Print a kernel file in canonical text: current spellings, types worked out, no comments."""
    from ptosim.api import load

    module = load(file, target)
    if not as_json:
        click.echo(str(module), nl=False)
    return module.warnings


@main.command()
@_KERNEL_FILE
@_WORDS
@_launch_options
@click.option("--save", "saves", multiple=True, metavar="N=FILE", help="Write argument N afterwards (.npy, or raw).")
@click.option("--expect", "expects", multiple=True, metavar="N=FILE", help="Compare argument N with a file.")
@click.option("--atol", type=float, default=0.0, help="Absolute tolerance of --expect.")
@click.option("--rtol", type=float, default=0.0, help="Relative tolerance of --expect.")
@click.option("--engine", type=click.Choice(["native", "reference"]), help="Which engine runs it.")
@click.option("--oob", type=click.Choice(["error", "drop"]), default="error", help="GM accesses outside an argument.")
@click.option("--threads", type=click.IntRange(1), help="Worker threads of the native engine; all cores by default.")
@click.option("--schedule", default="program", show_default=True, metavar="S", help="program, random:SEED, delay:PIPE.")
@click.option("--max-steps", type=click.IntRange(1), default=10**9, help="Most loop iterations per block.")
@_reports
def run(
    file: str,
    words: Sequence[str],
    kernel: str | None,
    grid: int,
    target: str | None,
    saves: Sequence[str],
    expects: Sequence[str],
    atol: float,
    rtol: float,
    as_json: bool,
    **options: Any,
) -> Sequence[Diagnostic]:
    """Run a kernel.

    An argument is file.npy, file.bin, zeros:SHAPE, ones:SHAPE, rand:SHAPE[:SEED], arange:SHAPE, or a number.
    """
    from ptosim.api import load
    from ptosim.words import save

    module = load(file, target)
    chosen = module.kernel(kernel)
    values = _values(chosen, words)
    outputs = [_numbered(text, values) for text in saves]
    wanted = [_numbered(text, values) for text in expects]
    chosen(*values, grid=grid, **{name: value for name, value in options.items() if value is not None})
    for index, path in outputs:
        save(path, values[index])
    for index, path in wanted:
        _compare(index, path, values[index], chosen.signature[index], atol, rtol)
    if not as_json:
        _summary(chosen, values)
    return module.warnings


def _values(kernel: Any, words: Sequence[str]) -> list[Any]:
    from ptosim.words import value_of

    signature = kernel.signature
    if len(words) != len(signature):
        names = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in signature)
        raise error(
            "argument", f"{kernel.name} takes {len(signature)} arguments ({names}), but {len(words)} were given"
        )
    return [value_of(word, parameter) for word, parameter in zip(words, signature, strict=True)]


def _numbered(text: str, values: list[Any]) -> tuple[int, str]:
    number, equals, path = text.partition("=")
    if not equals or not number.isdecimal() or not path:
        _usage(f"'{text}' is not of the form N=FILE")
    if int(number) >= len(values) or not hasattr(values[int(number)], "dtype"):
        _usage(f"argument {number} is not an array of this kernel")
    return int(number), path


def _usage(message: str) -> NoReturn:
    raise click.UsageError(message)


def _compare(index: int, path: str, value: Any, parameter: Any, atol: float, rtol: float) -> None:
    import numpy as np

    from ptosim.words import value_of

    wanted = value_of(path, parameter).reshape(-1)
    found = value.reshape(-1)
    if wanted.shape != found.shape:
        raise error("argument", f"{path} has {wanted.size} elements, argument {index} has {found.size}")
    with np.errstate(all="ignore"):
        near = np.isclose(found.astype(np.float64), wanted.astype(np.float64), rtol, atol, equal_nan=True)
    if near.all():
        return
    first = int(np.flatnonzero(~near)[0])
    place = tuple(int(i) for i in np.unravel_index(first, value.shape))
    count = int((~near).sum())
    raise error(
        "argument",
        f"argument {index} ({parameter.name}) differs from {path} in {count} of {near.size} elements; "
        f"the first is {list(place)}: {found[first]} instead of {wanted[first]}",
    )


def _summary(kernel: Any, values: list[Any]) -> None:
    """One line per array, so that a run without --save shows something."""
    for parameter, value in zip(kernel.signature, values, strict=True):
        if hasattr(value, "dtype"):
            shown = ", ".join(str(item) for item in value.reshape(-1)[:6])
            shape = "x".join(map(str, value.shape))
            click.echo(f"{parameter.name:>12}  {value.dtype} {shape}  [{shown}{', ...' if value.size > 6 else ''}]")


@main.command()
@click.argument("name", required=False)
@_reports
def isa(name: str | None, as_json: bool) -> Sequence[Diagnostic]:
    """Say what an instruction does, its syntax, types, pipe and cost; without a name list them all."""
    from ptosim.report.instruction import describe, listing

    text = describe(name) if name else listing()
    if not as_json:
        click.echo(text)
    return ()
