"""The command line. Exit codes: 0 ok, 1 not ok, 2 usage. Bad input is a diagnostic, never a traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from functools import wraps
from typing import Any, NoReturn

import click

from ptosim.diagnostics import Diagnostic, PTOError, error

_JSON_STREAM = "ptosim.json"
INTERRUPTED = 130  # what a shell reports for a program that SIGINT has ended

_KERNEL_FILE = click.argument("file", type=click.Path())
_WORDS = click.argument("words", nargs=-1, metavar="[ARGUMENT]...")
_MAX_STEPS = click.option(
    "--max-steps", type=click.IntRange(1), default=10**9, metavar="N", help="Most loop iterations per block."
)


class _Tolerance(click.FloatRange):
    """NaN is above and below nothing, so a range alone lets it in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        return number if number == number else self.fail("nan is no tolerance", param, ctx)


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


class _Differs(PTOError):
    """A result is not what --expect says: the kernel is wrong, not the command line."""


def _reports(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --json, and turns a PTOError into its diagnostics and an exit code."""

    @click.option("--json", "as_json", is_flag=True, help="Diagnostics and findings as one JSON array.")
    @wraps(command)
    def reporting(as_json: bool, **options: Any) -> None:
        click.get_current_context().meta[_JSON_STREAM] = sys.stdout
        try:
            with redirect_stdout(sys.stderr) if as_json else nullcontext():  # a kernel may print
                found = command(as_json=as_json, **options)
        except PTOError as problem:
            _show(problem.diagnostics, as_json)
            sys.exit(_exit_code(problem))
        if as_json:
            _show(found or (), as_json)
        sys.exit(0)

    return reporting


def _exit_code(problem: PTOError) -> int:
    misused = all(diagnostic.kind == "argument" for diagnostic in problem.diagnostics)
    return 2 if misused and not isinstance(problem, _Differs) else 1


def _show(diagnostics: Sequence[Any], as_json: bool) -> None:
    if as_json:
        stream = click.get_current_context().meta[_JSON_STREAM]
        click.echo(json.dumps([diagnostic.to_json() for diagnostic in diagnostics], indent=2), file=stream)
        return
    for diagnostic in diagnostics:
        click.echo(_coloured(str(diagnostic)) if sys.stderr.isatty() else str(diagnostic), err=True)


def _coloured(text: str) -> str:
    first, *rest = text.split("\n")
    colour = "red" if ": error: " in first else "yellow"
    return "\n".join([click.style(first, fg=colour, bold=True), *rest])


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        """Ctrl-C ends any command, without a word, as it ends other programs."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
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
        click.echo(f"{file}: ok for {module.target}; kernels: {names}")
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
@click.option("--atol", type=_Tolerance(0), default=0.0, help="Absolute tolerance of --expect.")
@click.option("--rtol", type=_Tolerance(0), default=0.0, help="Relative tolerance of --expect.")
@click.option("--show", "shows", multiple=True, metavar="LINE[:N]", help="Show what a line does, the first N times.")
@click.option("--engine", type=click.Choice(["native", "reference"]), help="Which engine runs it.")
@click.option("--oob", type=click.Choice(["error", "drop"]), default="error", help="GM accesses outside an argument.")
@click.option("--threads", type=click.IntRange(1), help="Worker threads of the native engine; all cores by default.")
@click.option("--schedule", default="program", show_default=True, metavar="S", help="program, random:SEED, delay:PIPE.")
@_MAX_STEPS
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
    shows: Sequence[str],
    engine: str | None,
    oob: str,
    threads: int | None,
    schedule: str,
    max_steps: int,
    as_json: bool,
) -> Sequence[Diagnostic]:
    """Run a kernel.

    An argument is file.npy, file.bin, zeros:SHAPE, ones:SHAPE, rand:SHAPE[:SEED], arange:SHAPE, or a number.
    """
    from ptosim.api import Launch, load
    from ptosim.arguments import bind
    from ptosim.expectation import compare, expectation
    from ptosim.report.progress import progress
    from ptosim.words import save

    module = load(file, target)
    chosen = module.kernel(kernel)
    values = _values(chosen, words)
    outputs = [_numbered(text, values) for text in saves]
    wanted = [expectation(chosen, values, *_numbered(text, values)) for text in expects]
    before = Launch(bind(chosen.signature, _copies(values)), grid, oob, schedule, max_steps) if wanted else None
    launch = Launch(bind(chosen.signature, values), grid, oob, schedule, max_steps)
    if shows:
        _run_showing(chosen, launch, shows, engine, as_json)
    else:
        with progress(grid, quiet=as_json) as block_done:
            engine = engine or ("native" if schedule == "program" else "reference")
            chosen.execute(replace(launch, block_done=block_done), engine, threads=threads)
    for index, path in outputs:
        save(path, values[index])
    if before is not None:
        differences = compare(chosen, before, values, wanted, atol, rtol)
        if differences:
            raise _Differs(*differences)
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


def _copies(values: list[Any]) -> list[Any]:
    return [value.copy() if hasattr(value, "dtype") else value for value in values]


def _numbered(text: str, values: list[Any]) -> tuple[int, str]:
    number, equals, path = text.partition("=")
    if not equals or not number.isascii() or not number.isdecimal() or len(number) > 4 or not path:
        _usage(f"'{text}' is not of the form N=FILE")
    if int(number) >= len(values) or not hasattr(values[int(number)], "dtype"):
        _usage(f"argument {number} is not an array of this kernel")
    return int(number), path


def _usage(message: str) -> NoReturn:
    raise click.UsageError(message)


# --- run --show -----------------------------------------------------------------------------------------------------


def _run_showing(kernel: Any, launch: Any, shows: Sequence[str], engine: str | None, as_json: bool) -> None:
    from ptosim.reference.watch import Execution, Watch
    from ptosim.report.execution import describe

    if engine == "native":
        _usage("--show needs the reference engine")
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
        _usage(f"'{text}' is not of the form LINE or LINE:N")
    return int(line), int(count) if colon else None


def _summary(kernel: Any, values: list[Any]) -> None:
    """One line per array, so that a run without --save shows something."""
    for parameter, value in zip(kernel.signature, values, strict=True):
        if hasattr(value, "dtype"):
            shown = ", ".join(str(item) for item in value.reshape(-1)[:6])
            shape = "x".join(map(str, value.shape))
            click.echo(f"{parameter.name:>12}  {value.dtype} {shape}  [{shown}{', ...' if value.size > 6 else ''}]")


@main.command()
@_KERNEL_FILE
@_WORDS
@_launch_options
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option(
    "--sarif", type=click.Path(dir_okay=False), metavar="FILE", help="Also write the findings as SARIF 2.1.0."
)
@click.option("--max-findings", type=click.IntRange(1), metavar="N", help="Show at most N findings, errors first.")
@click.option("--blocks", metavar="LIST", help="Run only these blocks, such as 0,last.")
@click.option(
    "--mem-bar",
    type=click.Choice(["relaxed", "strict", "off"]),
    default="relaxed",
    help="How accesses of a vector scope that alias without a mem_bar count.",
)
@click.option("--unwritten", is_flag=True, help="Also name output bytes that no block writes.")
@_MAX_STEPS
@_reports
def check(
    file: str,
    words: Sequence[str],
    kernel: str | None,
    grid: int,
    target: str | None,
    strict: bool,
    sarif: str | None,
    blocks: str | None,
    max_steps: int,
    as_json: bool,
    **options: Any,
) -> NoReturn:
    """Run a kernel under the sanitizer: memory, races, initialisation, synchronisation.

    Arguments are written as for run; arrays in files are not changed.
    """
    from ptosim.api import Launch, examine, load
    from ptosim.arguments import bind
    from ptosim.report.progress import progress

    module = load(file, target)
    chosen = module.kernel(kernel)
    launch = Launch(bind(chosen.signature, _values(chosen, words)), grid, max_steps=max_steps)
    selected = None if blocks is None else [_block(word) for word in blocks.split(",")]
    with progress(grid if selected is None else len(selected), quiet=as_json) as block_done:
        report = examine(chosen, replace(launch, block_done=block_done), blocks=selected, **options)
    found = (*module.warnings, *report.findings)
    if sarif is not None:
        _write_sarif(sarif, found)
    if as_json:
        _show(found, as_json)
    else:
        from ptosim.report.terminal import print_report

        print_report(report, module.warnings)
    sys.exit(1 if not report.ok or (strict and found) else 0)


def _block(word: str) -> int | str:
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else word


def _write_sarif(path: str, found: Sequence[Diagnostic]) -> None:
    from ptosim.report.sarif import sarif

    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(sarif(found), file, indent=2)
    except OSError as reason:
        raise error("argument", f"cannot write {path}: {reason.strerror}") from None


@main.command()
@click.argument("kind", required=False)
@_reports
def explain(kind: str | None, as_json: bool) -> Sequence[Diagnostic]:
    """Say what a kind of finding means, with a minimal kernel and its repair; without a kind list them all."""
    from ptosim.report.explanation import listing, terminal
    from ptosim.sanitize.explain import explanation

    text = terminal(explanation(kind)) if kind else listing()
    if not as_json:
        click.echo(text)
    return ()


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


# --- profile --------------------------------------------------------------------------------------------------------


@main.command()
@_KERNEL_FILE
@_WORDS
@_launch_options
@click.option("--html", metavar="FILE", help="Write a report with timeline, source and tables.")
@click.option("--trace", metavar="FILE", help="Write a trace that Perfetto opens.")
@click.option("--compare", metavar="OTHER.pto", help="Profile another kernel on the same arguments, side by side.")
@click.option("--what-if", "what_ifs", multiple=True, metavar="FIGURE=VALUE", help="Change a figure: vexp.latency=8.")
@click.option("--check", "checked", is_flag=True, help="Also run the sanitizer; findings go into the report.")
@_reports
def profile(
    file: str,
    words: Sequence[str],
    kernel: str | None,
    grid: int,
    target: str | None,
    html: str | None,
    trace: str | None,
    compare: str | None,
    what_ifs: Sequence[str],
    checked: bool,
    as_json: bool,
) -> Sequence[Any]:
    """Time a kernel: cycles, pipes, waits, critical path. --target takes a name or a .toml file of your own.

    An argument is file.npy, file.bin, zeros:SHAPE, ones:SHAPE, rand:SHAPE[:SEED], arange:SHAPE, or a number.
    """
    from ptosim import api
    from ptosim.target import load_target

    architecture = load_target(target).architecture if target else None
    chosen = api.load(file, architecture).kernel(kernel)
    machine = load_target(target or chosen.module.target)
    values = _values(chosen, words)
    first = api.profile(chosen, *values, grid=grid, target=machine)
    others = (
        [api.profile(api.load(compare, architecture).kernel(), *values, grid=grid, target=machine)] if compare else []
    )
    if what_ifs:
        others.append(api.profile(chosen, *values, grid=grid, target=_changed(machine, what_ifs)))
    report = api.check(chosen, *values, grid=grid) if checked else None
    findings = list(report.findings) if report else []
    asked = others[-1] if what_ifs else first
    if html:
        _written(html, lambda: asked.save_html(html, findings if checked else None))
    if trace:
        _written(trace, lambda: asked.save_trace(trace))
    comparisons = [first.compare(other) for other in others]
    result = [*chosen.module.warnings, *findings, first, *others, *comparisons]
    if not as_json:
        click.echo("\n\n".join(map(str, comparisons or [first])))
        _show(findings, as_json)
    if report and not report.ok:
        if as_json:
            _show(result, as_json)
        sys.exit(1)
    return result


def _written(path: str, write: Callable[[], None]) -> None:
    try:
        write()
    except OSError as reason:
        raise error("argument", f"cannot write {path}: {reason.strerror}") from None


def _changed(machine: Any, what_ifs: Sequence[str]) -> Any:
    """The target with other figures."""
    from ptosim.effects.catalogue import effects

    overrides: dict[str, Any] = {}
    for text in what_ifs:
        figure, equals, value = text.partition("=")
        if not equals:
            _usage(f"'{text}' is not of the form FIGURE=VALUE")
        try:
            overrides[figure] = json.loads(f"[{value}]" if "," in value else value)
        except ValueError:
            overrides[figure] = value
    return machine.with_overrides(
        overrides, {name.removeprefix("pto."): record.timing for name, record in effects().items()}
    )


@main.command("cache")
@click.option("--clear", is_flag=True, help="Remove all of them.")
@_reports
def cache_(clear: bool, as_json: bool) -> Sequence[Any]:
    """Show where compiled kernels are kept, and how many.

    XDG_CACHE_HOME moves the place; with PTOSIM_CACHE=off nothing is kept.
    """
    from ptosim.native.library import kernel_cache

    kept = kernel_cache()
    files = kept.files()
    if clear:
        kept.clear()
    if not as_json:
        size = sum(file.size for file in files)
        place = kept.directory or "nowhere (PTOSIM_CACHE=off)"
        click.echo(f"{place}: {'removed ' if clear else ''}{len(files)} files, {size / 1e6:.1f} MB")
    return files
