"""Runs a compiled kernel: links its object, fits the arguments, hands the blocks to the run time.

Nothing here parses or compiles, and nothing imports xDSL: a kernel from the cache starts through this module.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ptosim.diagnostics import Source
from ptosim.effects.names import CoreKind, Space
from ptosim.language.text.print_format import Say, show
from ptosim.machine.deadlock import Reachable
from ptosim.machine.launch import KernelKind, LaunchGeometry
from ptosim.machine.memory import Regions
from ptosim.machine.observer import Observer
from ptosim.native.build.operations import ENTRIES, operation_from_json
from ptosim.native.host.cache import Compiled
from ptosim.native.host.toolchain import LoadedObject
from ptosim.native.run.cores import Executable, Invocation, NativeCluster, Suspicion, Tables
from ptosim.native.run.explain import explainer
from ptosim.native.run.runtime import NativeLaunch, Runner
from ptosim.target.profile import Target

if TYPE_CHECKING:
    from ptosim.native.observe.argument_copies import Stock
    from ptosim.native.observe.gm_conflicts import Sifted
    from ptosim.native.observe.workitem_memory import StampStock


@dataclass(frozen=True)
class Run:
    """One launch of a kernel: the value of each parameter, and the buffers, NumPy arrays of bytes."""

    values: Sequence[int]
    buffers: Sequence[Any]
    regions: Regions
    grid: int
    threads: int | None
    max_steps: int
    block_done: Callable[[], None] | None = None
    poison: bool = False
    attach: Callable[[NativeCluster], Observer] | None = None
    say: Say | None = show
    """Takes what the kernel prints."""


class LinkedKernel:
    """A kernel in memory, to be run any number of times."""

    def __init__(self, compiled: Compiled, source: Source, target: Target, reachable: Reachable | None = None) -> None:
        data = compiled.data
        sifting = data["observe"] == "check"
        code = LoadedObject(compiled.image, [*data["programs"].values(), ENTRIES], data.get("second"))
        executable = Executable(
            KernelKind(data["kind"]),
            code,
            {CoreKind(kind): symbol for kind, symbol in data["programs"].items()},
            Suspicion if sifting else explainer(data["sites"], source),  # whatever it is, the judge will say
            {Space(space): written for space, written in data["spaces"].items()},
            lambda number: operation_from_json(data["operations"][number], source),
            data["steady"],
            data["state"],
            sifting,
            data["workitems"],
            data["outline"]["shared"] if sifting else 0,
        )
        self._outline: Any = data.get("outline")
        self._executable = executable
        self.kind: str = data["kind"]
        self.works: list[Any] = data.get("works", [])
        self._runner = Runner(executable, target, reachable)
        self._poisoned = Runner(executable, target, reachable, poison=True)
        self._cross_block: bool = data["cross_block"]
        self._in_order: bool = data["in_order"]
        self._usage: Any = data.get("usage")
        self._stock: Stock | None = None
        self._target = target
        self._stamps: StampStock | None = None
        if sifting and (unit := self._outline["stamped"]):
            from ptosim.native.observe.workitem_memory import StampStock

            self._stamps = StampStock(unit)

    def part(self, invocation: Invocation, launch: LaunchGeometry) -> NativeLaunch:
        """This kernel as one launch of a list that runs together."""
        return NativeLaunch(self._executable, Tables(invocation), launch)

    def sift(self, run: Run, blocks: Sequence[int]) -> Sifted:
        """Run blocks of a kernel that was compiled to be checked, to find those that have to be judged. The buffers
        keep what they hold."""
        from ptosim.native.observe.gm_conflicts import Sifted, all_records

        with self._standing_in(run) as invocation:
            sizes = (self._target.memory[Space.UB], *(len(buffer) for buffer in run.buffers))
            try:
                written = self._stamps.take(sizes) if self._stamps is not None else None
            except OSError:  # there is no memory for it
                return Sifted(blocks, all_records([], self._outline["row"]))
            threads = 1 if self._in_order else run.threads
            stamped = replace(invocation, stamps=0 if written is None else written.address)
            failed, parts = self._runner.sift(stamped, self._outline, _stretches(blocks), threads, run.block_done)
            if written is not None and self._stamps is not None:
                self._stamps.take_back(written)
        records = all_records(parts, self._outline["row"])
        del parts  # they may be large
        return Sifted(failed, records, written)

    @contextmanager
    def _standing_in(self, run: Run) -> Generator[Invocation]:
        """The run on buffers in place of the caller's, which keep what they hold."""
        from ptosim.native.observe.argument_copies import Stock

        self._stock = self._stock or Stock(self._usage)
        given = self._stock.stand_ins(run.values, run.buffers)
        yield _invocation(run, given.buffers, given.readable, given.writable)
        self._stock.take_back(given, run.buffers)

    def __call__(self, run: Run) -> None:
        if run.attach is not None:
            with self._standing_in(run) as invocation:
                # what is timed must not depend on which of two blocks comes first
                self._run(run, invocation, bool(invocation.readable & invocation.writable))
        else:
            self._run(run, _invocation(run, run.buffers), False)

    def _run(self, run: Run, invocation: Invocation, one_by_one: bool) -> None:
        runner = self._poisoned if run.poison else self._runner
        if self._cross_block:
            runner.run_together(invocation)
        else:
            # atomic and scalar stores of several blocks to one place happen in the order of the blocks
            runner.run_apart(invocation, 1 if self._in_order or one_by_one else run.threads, run.block_done)


def _invocation(run: Run, given: Sequence[Any], readable: int = -1, writable: int = -1) -> Invocation:
    """A run on these buffers; bits by their numbers say the accesses allowed to checked code."""
    buffers = [(buffer.__array_interface__["data"][0], len(buffer)) for buffer in given]
    return Invocation(
        run.grid, run.values, buffers, run.max_steps, run.regions, None, readable, writable, given, run.attach, run.say
    )


def _stretches(blocks: Sequence[int]) -> list[range]:
    """Block numbers in ascending order as stretches of consecutive ones."""
    if isinstance(blocks, range) and blocks.step == 1:
        return [blocks]
    found: list[range] = []
    for block in blocks:
        if found and found[-1].stop == block:
            found[-1] = range(found[-1].start, block + 1)
        else:
            found.append(range(block, block + 1))
    return found
