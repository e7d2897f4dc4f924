"""The kernel that the words of a command name: a file, or `-` for standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ptosim.diagnostics import error

if TYPE_CHECKING:
    from ptosim.diagnostics import Source
    from ptosim.module import Module
    from ptosim.native.host.library import ModuleOutline

STANDARD_INPUT = "-"
_READ = "ptosim.standard_input"
_LOADED = "ptosim.loaded"

KERNEL_FILE = click.argument("file", type=click.Path(allow_dash=True))


def loaded(file: str, target: str | None = None, sync: str = "auto") -> Module:
    """The module, as ptosim.load returns it."""
    from ptosim.api import load

    module = load(_standard_input() if file == STANDARD_INPUT else file, target, sync)
    click.get_current_context().meta.setdefault(_LOADED, module.outline)
    return module


def first_loaded() -> ModuleOutline | None:
    """The outline of the first module that this command has loaded."""
    return click.get_current_context().meta.get(_LOADED)


def _standard_input() -> Source:
    """It can be read once only, and a command may name it twice."""
    from ptosim.module import read_source

    known = click.get_current_context().meta
    if _READ not in known:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise error("argument", "cannot read <stdin>: it is closed")
        known[_READ] = read_source(sys.stdin.buffer, "<stdin>")
    return known[_READ]
