"""A launch: one call of a kernel, with its arguments fitted and its options checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ptosim.arguments import Arguments
from ptosim.diagnostics import Location, Source, error
from ptosim.language.text.print_format import Say, show

if TYPE_CHECKING:
    from ptosim.machine.observer import Observer
    from ptosim.native.run.cores import NativeCluster
    from ptosim.native.run.engine import Run as NativeRun

MOST_BLOCKS = 2**31 - 1
"""A launch counts its blocks in 32 bits."""


@dataclass(frozen=True)
class Launch:
    """One call of a kernel, its arguments fitted and its options checked."""

    arguments: Arguments
    grid: int = 1
    oob: str = "error"
    schedule: str = "program"
    max_steps: int = 10**9
    block_done: Callable[[], None] | None = None
    """Called after each block, perhaps on another thread, to show how far the run is."""
    found: Callable[[str, str, Location | None], None] | None = None
    """Called by a check with severity, kind and place of a finding, as soon as its block is judged."""
    poison: bool = False
    """On-chip memories start with a pattern instead of zeros."""
    say: Say | None = show
    """Takes what the kernel prints; None: it is dropped."""

    def __post_init__(self) -> None:
        if self.oob not in ("error", "drop"):
            raise error("argument", f"oob is 'error' or 'drop', not {self.oob!r}")
        if self.grid > MOST_BLOCKS:
            raise error("argument", f"grid is at most {MOST_BLOCKS}, not {self.grid}")

    def native(
        self, threads: int | None = None, attach: Callable[[NativeCluster], Observer] | None = None
    ) -> NativeRun:
        """The launch for the native engine."""
        from ptosim.native.run.engine import Run

        given = self.arguments
        return Run(
            given.values,
            given.buffers,
            given.regions,
            self.grid,
            threads,
            self.max_steps,
            self.block_done,
            self.poison,
            attach,
            self.say,
        )


Lines = dict[int, list[str]]
"""The lines that each block prints."""


def noting(lines: Lines, launch: Launch) -> Launch:
    """The same launch, which notes what it prints."""

    def say(block: int, text: str) -> None:
        lines.setdefault(block, []).append(text)

    return replace(launch, say=say)


def show_lines(launch: Launch, lines: Lines, last: int | None = None) -> None:
    """Show printed lines, block by block, up to the last one that counts."""
    for block in sorted(lines):
        if launch.say is not None and (last is None or block <= last):
            for text in lines[block]:
                launch.say(block, text)


# --- launches that are recorded ---------------------------------------------------------------------------------------

KernelType = TypeVar("KernelType", covariant=True)


@dataclass(frozen=True)
class RecordedLaunch(Generic[KernelType]):
    """A kernel that is ready to run: `.pto` text, its arguments, and for a recording the launch that it holds for."""

    kernel: KernelType
    arguments: Sequence[Any]
    launch: str | None = None
    said: Sequence[tuple[int, str]] = ()
    """Lines that the program has printed while it was recorded: block and text."""


class RecordedOrigin(Protocol[KernelType]):
    """The file that a kernel was recorded from, and how an edited one is recorded for the same launch."""

    @property
    def source(self) -> Source: ...
    @property
    def works(self) -> Sequence[tuple[str, int]]: ...
    def edited(self, text: str) -> KernelType | None: ...
