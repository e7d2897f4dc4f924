"""Output of commands for other programs: JUnit files and workflow commands of GitHub."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from ptosim.diagnostics import Diagnostic, writing

_JUNIT, _GITHUB = "ptosim.junit", "ptosim.github"


def _keep(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def kept(context: click.Context, option: click.Parameter, value: Any) -> None:
        context.meta[key] = value

    return kept


def for_other_programs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --junit and --github to a command that finds something."""
    for decorate in (
        click.option(
            "--junit",
            type=click.Path(dir_okay=False),
            metavar="FILE",
            expose_value=False,
            callback=_keep(_JUNIT),
            help="Also write the findings as a JUnit testsuite.",
        ),
        click.option(
            "--github",
            is_flag=True,
            expose_value=False,
            callback=_keep(_GITHUB),
            help="Also print them as workflow commands of GitHub.",
        ),
    ):
        command = decorate(command)
    return command


def tell_other_programs(suite: str | None, file: str | None, findings: Sequence[Diagnostic], quiet: bool) -> None:
    """Write and print what the options ask for."""
    from ptosim.report.junit import github, junit

    context = click.get_current_context()
    if (path := context.meta.get(_JUNIT)) is not None:
        name = file or str(context.params.get("file", ""))
        strict = bool(context.params.get("strict"))
        with writing(path):
            Path(path).write_text(junit(suite or Path(name).stem, name, findings, strict), "utf-8")
    if context.meta.get(_GITHUB):
        for line in github(findings):
            click.echo(line, err=quiet)
