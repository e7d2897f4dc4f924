"""The commands of `ptosim`. Bad input is a diagnostic, never a traceback."""

from ptosim.cli.commands import main

__all__ = ["main"]
