"""The commands that stay: the server of an editor, and what watches a file."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from ptosim.diagnostics import error


def needs(extra: str, module: str) -> None:
    """Refuse a command whose packages are not installed."""
    if find_spec(module) is None:
        raise error("argument", f"{module} is not installed: pip install 'ptosim[{extra}]'")


@click.command()
def lsp() -> None:
    """Serve an editor over standard input and output.

    docs/howto/editor.md says how VS Code, Neovim, Emacs and Helix start it.
    """
    try:
        needs("lsp", "pygls")
    except Exception as problem:
        click.echo(str(problem), err=True)
        sys.exit(2)
    from ptosim.home.editor.requests import serve

    serve()
