"""The commands of a workplace: a new kernel, the eye on a file, the server of an editor."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec

import click

from ptosim.cli.command import ARGUMENTS, INTERRUPTED, Launching, Outcome, reports, show
from ptosim.cli.kernel_file import KERNEL_FILE
from ptosim.diagnostics import Diagnostic
from ptosim.home.new import KINDS, make


def _need(extra: str, module: str) -> None:
    """End a command whose packages are not installed."""
    if find_spec(module) is None:
        show([Diagnostic("argument", "error", f"{module} is not installed: pip install 'ptosim[{extra}]'")])
        sys.exit(2)


def _kinds(command: click.Command) -> click.Command:
    for kind in reversed(KINDS):
        option = click.Option([f"--{kind.name}", "kind"], flag_value=kind.name, help=f"Written in {kind.about}.")
        option.default = KINDS[0].name if kind is KINDS[0] else None
        command.params.insert(1, option)
    return command


@click.command()
@click.argument("name")
@reports
def new(name: str, kind: str | None, as_json: bool) -> Outcome:
    """Begin a kernel.

    Makes the folder NAME with a kernel that runs, checks and profiles, its test, and a page with the commands to begin
    with. By default it is written in tiles.
    """
    chosen = next(each for each in KINDS if each.name == (kind or KINDS[0].name))
    written = [str(path) for path in make(name, chosen)]
    if not as_json:
        for path in written:
            click.echo(f"wrote {path}")
        click.echo(f"next: ptosim check {written[0]}")
    return Outcome(result={"files": written})


_kinds(new)


@click.command(cls=Launching, epilog=ARGUMENTS)
@KERNEL_FILE
@click.argument("words", nargs=-1, metavar="[ARGUMENT]...")
@click.option("--grid", type=click.IntRange(1), default=1, show_default=True, help="How many blocks.")
@click.option("--kernel", metavar="NAME", help="Which kernel of the module, where it has several.")
def watch(file: str, words: Sequence[str], grid: int, kernel: str | None) -> None:
    """Run, check and profile a kernel again on each save.

    Says what has changed since the save before. A kernel that does not end is stopped after 30 seconds. Ctrl-C ends it.
    """
    if file == "-":
        raise click.UsageError("standard input is not saved again: name a file")
    _need("watch", "watchfiles")
    import asyncio

    from ptosim.home.watch import watch as look

    named = ["--kernel", kernel] if kernel is not None else []
    with suppress(KeyboardInterrupt):
        asyncio.run(look(file, [*words, "--grid", str(grid), *named], click.echo))
    sys.exit(INTERRUPTED)


@click.command()
def lsp() -> None:
    """Serve an editor over standard input and output.

    docs/howto/editor.md says how VS Code, Neovim, Emacs and Helix start it.
    """
    _need("lsp", "pygls")
    from ptosim.home.editor.requests import serve

    serve()
