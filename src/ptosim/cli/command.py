"""Shared parts of commands: the arguments of a launch, --json, diagnostics and exit codes, the order of the help."""

from __future__ import annotations

import gc
import io
import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ptosim.cli import INTERRUPTED
from ptosim.cli.kernel_file import KERNEL_FILE, STANDARD_INPUT, first_loaded, note_recorded
from ptosim.cli.made_up import SET, repeat_line, words_of
from ptosim.cli.other_programs import tell_other_programs
from ptosim.diagnostics import Diagnostic, PTOError, authored

if TYPE_CHECKING:
    from ptosim.report.envelope import ReportSubject

USAGE = 2
"""The exit code of a command that was called with words that do not fit."""
_JSON = "ptosim.json"
_LAUNCHED = "ptosim.launched"

TARGET = click.option(
    "--target", metavar="NAME", help="Machine: a5, a2, a3 or a .toml file; by default the module's own."
)
SYNC = click.option(
    "--sync",
    type=click.Choice(["auto", "written", "insert"]),
    default="auto",
    show_default=True,
    help="Insert synchronisation where tiles have none of their own, never, or beside what is written.",
)
GRID = click.option("--grid", type=click.IntRange(1), default=1, show_default=True, help="How many blocks.")
LOCATIONS = click.option("--locations", is_flag=True, help="Say with each operation where it was written.")
STRICT = click.option("--strict", is_flag=True, help="Warnings count as errors.")
MAX_STEPS = click.option(
    "--max-steps",
    type=click.IntRange(1),
    default=10**9,
    show_default=True,
    metavar="N",
    help="Stop a block after so many loop iterations and calls.",
)
_NEGATIVE_NUMBER = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)

ARGUMENTS = """\b
One ARGUMENT for each parameter of the kernel, or none: then all are made up,
and the last line says the command that repeats this one.
  file.npy, file.bin   an array; .bin is raw, its elements are the parameter's
  zeros:24x128         an array of zeros; likewise ones: and arange: (0, 1, 2...)
  rand:24x128:7        random, seed 7: floats from -1 to 1, integers from 0 to 99;
                       without a seed it is the number of the argument, from 0
  rand:24x128:7:2..5   from 2 to 5; rand:24x128:f16 is of another type
  index:24:8           random numbers from 0 to 7; index:24:8:7 with seed 7
  full:24x128:0.5      all of them 0.5
  null                 a pointer to nothing
  auto                 an argument that is made up; --set n=24 gives a scalar
  24, 0x18, -0.5       a number, for a scalar
With --ranks, besides:
  sym:zeros:2x1        a window: an array on each rank, which all can address
  each:rand:8x64:7     an array for each rank, seed 7 + rank; also x.{rank}.npy;
                       without a seed no two random arrays are equal
  ctx:N, peer:N:+1     the context of window N; window N of the next rank
  rank, ranks, block, blocks   numbers
"""

NO_LAUNCH_NEEDED = ARGUMENTS.partition("With --ranks")[0].replace(
    """or none: then all are made up,
and the last line says the command that repeats this one.""",
    """or none: nothing is
made up, and the command speaks of all launches.""",
)
"""The same where a command needs no launch."""


class Tolerance(click.FloatRange):
    """NaN is above and below nothing, so a range alone lets it in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        return number if number == number else self.fail("nan is no tolerance", param, ctx)


class Launching(click.Command):
    """Takes negative numbers for arguments, although they look like options."""

    ignore_unknown_options = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        options = [name for parameter in self.get_params(ctx) for name in parameter.opts if name.startswith("-")]
        words: list[str] = [ctx.params["file"], *ctx.params["words"]]
        for word in words:
            if word.startswith("-") and word != STANDARD_INPUT and not _NEGATIVE_NUMBER.match(word):
                raise click.NoSuchOption(word, possibilities=get_close_matches(word, options), ctx=ctx)
        return rest


def launches(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that launches a kernel."""
    for decorate in (
        SET,
        GRID,
        click.option("--kernel", metavar="NAME", help="Which kernel of the module, where it has several."),
        click.argument("words", nargs=-1, metavar="[ARGUMENT]..."),
        KERNEL_FILE,
    ):
        command = decorate(command)
    return command


@dataclass(frozen=True)
class LaunchedKernel:
    """A kernel as it runs, the values that words stand for, and these as the kernel takes them."""

    kernel: Any
    values: list[Any]
    given: Sequence[Any]
    said: Sequence[tuple[int, str]] = ()
    """Lines that its program has printed while it was recorded."""


def launched_with(kernel: Any, words: Sequence[str], grid: int) -> LaunchedKernel:
    """A kernel and the arguments of a launch, from the words of the command line; what these leave out is made up.
    Random arrays that name no seed differ."""
    from ptosim.argument_words import value_of

    given = enumerate(zip(words_of(kernel, words), kernel.signature, strict=True))
    values = [value_of(word, parameter, seed=position) for position, (word, parameter) in given]
    asked = kernel.recorded(values, grid)
    kernel = asked.kernel
    note_recorded(kernel)
    if is_json():
        from ptosim.report.envelope import launched

        note_launch(launched(kernel.module.outline, kernel.outline, values, grid))
    return LaunchedKernel(kernel, values, asked.arguments, asked.said)


def is_json() -> bool:
    """Whether the command was asked for JSON."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(_JSON, False)


def note_launch(subject: ReportSubject) -> None:
    """Keep for --json what the arguments are before anything runs."""
    arguments = subject.arguments()
    click.get_current_context().meta.setdefault(_LAUNCHED, replace(subject, arguments=lambda: arguments))


class Differs(PTOError):
    """A result is not what --expect says: the kernel is wrong, not the command line."""


@dataclass(frozen=True)
class Outcome:
    """The findings of a command, for --json, and its exit code."""

    findings: Sequence[Diagnostic] = ()
    """Besides what load said."""
    result: Any = None
    exit_code: int = 0
    notes: Sequence[Diagnostic] = ()
    subject: ReportSubject | None = None
    """By default the file that was loaded."""
    is_text: bool = False
    """Standard output is a text for other programs."""


def reports(command: Callable[..., Outcome]) -> Callable[..., Any]:
    """Adds --json, and turns a PTOError into its diagnostics and an exit code."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object, as docs/schema says.")
    @wraps(command)
    def reporting(as_json: bool, **options: Any) -> None:
        stream = sys.stdout
        click.get_current_context().meta[_JSON] = as_json
        try:
            with redirect_stdout(sys.stderr) if as_json else nullcontext():  # a kernel may print
                found = command(as_json=as_json, **options)
        except PTOError as problem:
            found = Outcome(problem.diagnostics, exit_code=_exit_code(problem))
            if not as_json:
                show(found.findings)
        except click.UsageError as problem:
            if not as_json:
                raise
            found = Outcome([Diagnostic("argument", "error", problem.format_message())], exit_code=USAGE)
        _tell_others(found, as_json)
        if as_json:
            click.echo(_json(found), file=stream)
        elif found.exit_code != USAGE and (again := repeat_line()) is not None:
            click.echo(again, err=found.is_text)
        sys.exit(found.exit_code)

    return reporting


def launched_subject() -> ReportSubject | None:
    """The launch as it was before anything ran, where --json asks for it."""
    return click.get_current_context().meta.get(_LAUNCHED)


def _tell_others(found: Outcome, as_json: bool) -> None:
    """--junit and --github."""
    outline = first_loaded()
    warnings = () if outline is None else tuple(map(authored, outline.warnings))
    said = [warning for warning in warnings if warning not in found.findings]
    names = [each.name for each in outline.kernels] if outline is not None else []
    chosen = click.get_current_context().params.get("kernel") or (names[0] if len(names) == 1 else None)
    tell_other_programs(chosen, outline and outline.source.name, (*said, *found.findings), as_json)


def _name(context: click.Context) -> str:
    """The command as it is called, with the group that it stands in: `cpp host`."""
    own = context.info_name or ""
    return f"{_name(context.parent)} {own}".strip() if context.parent and context.parent.parent else own


def _json(found: Outcome) -> str:
    from ptosim.report.envelope import ReportSubject, envelope, loaded

    context, outline = click.get_current_context(), first_loaded()
    about = found.subject or launched_subject() or (ReportSubject() if outline is None else loaded(outline))
    said = envelope(_name(context), about, not found.exit_code, found.findings, found.notes, found.result)
    if (again := repeat_line()) is not None:
        said["repeat"] = again.removeprefix("repeat: ")
    return json.dumps(said, indent=2, allow_nan=False)


def _exit_code(problem: PTOError) -> int:
    misused = all(diagnostic.kind == "argument" for diagnostic in problem.diagnostics)
    return USAGE if misused and not isinstance(problem, Differs) else 1


def show(diagnostics: Sequence[Diagnostic]) -> None:
    """On standard error, in colour where that is a terminal."""
    if sys.stderr.isatty():
        from ptosim.report.terminal import print_diagnostics

        print_diagnostics(diagnostics)
        return
    for diagnostic in diagnostics:
        click.echo(str(diagnostic), err=True)


def _telling() -> Callable[..., None]:
    """Shows warnings in the form of the others, where Python would quote this program's source; each of them once."""
    told: set[str] = set()

    def tell(message: Warning | str, *_: Any) -> None:
        if str(message) not in told:
            told.add(str(message))
            click.echo(f"warning: {message}", err=True)

    return tell


class Commands(click.Group):
    ORDER = (
        *(
            "run",
            "check",
            "prove",
            "sync",
            "profile",
            "verify",
            "print",
            "lower",
            "plan",
            "fit",
            "sweep",
            "tune",
            "cpp",
        ),
        *("isa", "explain", "new", "watch", "lsp", "cache", "completion"),
    )

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.commands, key=self.ORDER.index)

    def invoke(self, ctx: click.Context) -> Any:
        """Ctrl-C ends any command, without a word, as it ends other programs."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # not every terminal, nor every pipe on Windows, is UTF-8
        warnings.showwarning = _telling()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            gc.freeze()  # to take a large module apart would take longer than the process has to live
            sys.exit(INTERRUPTED)


EXAMPLES = """\b
Examples:
  ptosim run     softmax.pto rand:24x128 zeros:24x128 24 --grid 3 --save 1=y.npy
  ptosim check   softmax.pto rand:24x128 zeros:24x128 24 --grid 3
  ptosim profile softmax.pto rand:24x128 zeros:24x128 24 --grid 3 --html y.html
  ptosim isa vcgadd
  ptosim explain race

Exit codes: 0 ok, 1 not ok, 2 usage, 3 undecided (prove).
"""
