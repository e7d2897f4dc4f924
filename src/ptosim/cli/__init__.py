"""The door of `ptosim`: how a command ends that is interrupted, or whose output has nowhere to go.

The commands themselves are in cli/commands.py; bad input is a diagnostic, never a traceback. They are imported behind
the door, because most of an interrupted start is spent with imports.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # as in the package itself
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130  # what a shell reports for a program that SIGINT has ended


def main() -> None:
    """The program: runs the command that the words of the command line name."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # behind nohup, interrupts stay ignored
        signal.signal(signal.SIGINT, _interrupted)
    try:
        _run()
    except OSError as reason:
        _close_output()
        if not isinstance(reason, BrokenPipeError):  # `| head` has seen enough
            place = reason.filename or "standard output"
            sys.stderr.write(f"error: cannot write to {place}: {reason.strerror or reason}\n")
        sys.exit(1)
    finally:
        if signal.getsignal(signal.SIGINT) is _interrupted:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # what is left is Python's own end


def _run() -> None:
    from ptosim.cli.commands import main as commands

    try:
        commands()
    finally:
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]
            sys.stdout.flush()


def _interrupted(number: int, frame: FrameType | None) -> None:
    """Ends the process at once while something is imported: extension modules turn an exception into one of their own.
    Elsewhere it is a KeyboardInterrupt, which cli/command.py takes."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt


def _close_output() -> None:
    """Python writes at its end what is left of standard output, and would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


__all__ = ["main"]
