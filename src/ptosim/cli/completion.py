"""The command that prints what a shell needs to complete words."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ptosim.cli.command import Outcome, reports


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@reports
def completion(shell: str, as_json: bool) -> Outcome:
    """Print a script that completes words.

    For bash, zsh or fish: eval "$(ptosim completion bash)", or keep the script where your shell looks for such.
    """
    root, made = click.get_current_context().find_root().command, get_completion_class(shell)
    assert made is not None
    script = made(root, {}, "ptosim", "_PTOSIM_COMPLETE").source()
    if not as_json:
        click.echo(script)
    return Outcome(result={"script": script})
