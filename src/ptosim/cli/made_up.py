"""Arguments that the command line leaves out: which words stand for them, and the command that says them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ptosim.argument_words import AUTO, value_of, wrong
from ptosim.cli.kernel_file import kept_option
from ptosim.diagnostics import error
from ptosim.ranks.rank_words import QUERIES, is_for_ranks

_WORDS = "ptosim.made_up_words"
_RANKS = "ptosim.made_up_ranks"
_SETS = "ptosim.set_scalars"
_LEFT_OUT = ("as_json", "set", "junit", "github")


def _keep(context: click.Context, option: click.Parameter, texts: Sequence[str]) -> None:
    context.meta[_SETS] = texts


SET = click.option(
    "--set",
    multiple=True,
    metavar="NAME=VALUE",
    expose_value=False,
    callback=_keep,
    help="A scalar, where arguments are made up.",
)


def ranks_of(kernel: Any, words: Sequence[str], ranks: int | None, grid: int) -> int | None:
    """On how many ranks a kernel runs; None on one that has no windows."""
    if ranks is not None or any(map(is_for_ranks, words)):
        return ranks or 1
    return kernel.ranks_needed(grid) if not words or AUTO in words else None


def words_of(kernel: Any, words: Sequence[str], ranks: int | None = None) -> list[str]:
    """A word for each parameter: those of the command line, and made up ones for what it leaves out."""
    context = click.get_current_context(silent=True)
    scalars = _scalars(kernel, words, () if context is None else context.meta.get(_SETS, ()))
    if words:
        counted(kernel, words)
    asked = list(words) or [AUTO] * len(kernel.signature)
    if AUTO not in asked:
        return asked
    grid = 1 if context is None else context.params.get("grid", 1)
    chosen = kernel.example_words(asked, grid, scalars, ranks)
    if context is not None:
        context.meta[_WORDS] = chosen
        context.meta[_RANKS] = ranks
    return chosen


def counted(kernel: Any, words: Sequence[str]) -> None:
    """One word for each parameter."""
    signature = kernel.signature
    if len(words) != len(signature):
        names = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in signature)
        message = f"{kernel.name} takes {len(signature)} arguments ({names}), but {len(words)} were given"
        raise error("argument", message, hint="ptosim run --help says how arguments are written")


def has_sets() -> bool:
    """Whether --set was given."""
    return bool(click.get_current_context().meta.get(_SETS))


def _scalars(kernel: Any, words: Sequence[str], sets: Sequence[str]) -> Mapping[str, str]:
    """The values of --set, by name."""
    scalars: dict[str, str] = {}
    parameters = {parameter.name: parameter for parameter in kernel.signature}
    for text in sets:
        name, equals, value = text.partition("=")
        name = name.removeprefix("%")
        if not equals or not name or not value:
            raise click.UsageError(f"'{text}' is not of the form NAME=VALUE")
        if name in scalars:
            raise error("argument", f"--set says {name} twice: {scalars[name]} and {value}")
        if name in parameters and not parameters[name].is_pointer and value not in QUERIES:
            value_of(value, parameters[name])
        if name in parameters and value == AUTO:
            raise wrong(value, parameters[name], "expected a number")
        scalars[name] = value
    given = dict(zip(parameters, words, strict=False))
    for name in scalars:
        if given.get(name, AUTO) != AUTO:
            raise error("argument", f"--set {name} beside the word '{given[name]}' for {name}: say one of them")
    return scalars


def repeat_line() -> str | None:
    """The command line that repeats this command with the arguments it has made up; None where it made up none."""
    context = click.get_current_context()
    return f"repeat: {command_line()}" if _WORDS in context.meta and "file" in context.params else None


def command_line() -> str:
    """This command with the arguments that it was given or has made up."""
    context = click.get_current_context()
    words = context.meta.get(_WORDS, context.params.get("words", ()))
    parts = ["ptosim", str(context.info_name), context.params["file"], *words]
    for parameter in context.command.params:
        name = str(parameter.name)
        if isinstance(parameter, click.Option) and name not in _LEFT_OUT and _is_said(context, name):
            value: Any = context.params.get(name, context.meta.get(kept_option(name)))
            option = max(parameter.opts, key=len)
            for each in value if parameter.multiple else [value]:
                parts += [option] if parameter.is_flag else [option, str(each)]
    if context.meta.get(_RANKS) is not None and not _is_said(context, "ranks"):
        parts += ["--ranks", str(context.meta[_RANKS])]
    return shlex.join(parts)


def _is_said(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
