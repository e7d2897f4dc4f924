"""Recordings of long runs, made without running anything: a ping/pong of copies and vector functions."""

from __future__ import annotations

from ptosim.diagnostics import Location, Source
from ptosim.effects.names import Pipe
from ptosim.machine.entry import Site
from ptosim.report.profile import Profile
from ptosim.target import load_target
from ptosim.timing.block_placement import place_blocks
from ptosim.timing.function_time import VectorFunctionTiming
from ptosim.timing.recorder import Recorder
from ptosim.timing.recording import CorePipeTime, CoreRun, Recording, RowKind, WaitCause
from ptosim.timing.work import Priced

SOURCE = Source("long.pto", "\n".join(f"line {number}" for number in range(1, 21)))
IN, VECTOR, OUT = 1, 3, 6
"""Numbers of the pipes."""


def site(name: str, line: int, pipe: Pipe) -> Site:
    return Site(name, Location("long.pto", line, 1, 1, SOURCE), pipe)


def long_run(events: int) -> Profile:
    """So many events, a third on each pipe, with a wait and two signals for every tile; a tile takes 96 cycles."""
    timing = VectorFunctionTiming(
        60, 23, 12, {4: 25}, {"launch": 35, "issue": 25}, {}, frozenset({"class.abs.latency"}), "launch"
    )
    recorder = Recorder(Recording())
    function = recorder.function(timing, (16,))
    names = ("source", "dest", "len_burst", "n_burst", "source_stride", "dest_stride")
    copies = [
        Priced(path, operands=names, pointers=frozenset({end}))
        for path, end in (("gm_ub", "source"), ("ub_gm", "dest"))
    ]
    load, store = recorder.site(site("pto.mte_gm_ub", 2, Pipe.MTE2)), recorder.site(site("pto.mte_ub_gm", 6, Pipe.MTE3))
    scope, wait = recorder.site(site("pto.vecscope", 3, Pipe.V)), recorder.site(site("pto.wait_flag", 5, Pipe.V))
    put = recorder.site(site("pto.set_flag", 7, Pipe.MTE2))
    cause = recorder.cause("flag MTE2 -> V id 0", put, 1)
    last = [-1, -1, -1]
    for tile in range(events // 3):
        at, buffer = 96 * tile, tile % 2 * 4096
        facts = {"source": (1 << 48) + 4096 * tile, "dest": buffer, "len_burst": 4096, "n_burst": 1}
        facts |= {"source_stride": 4096, "dest_stride": 4096}
        arguments = recorder.arguments(load, copies[0], facts)
        row = recorder.rows.append(
            (RowKind.WORK, WaitCause.PIPE, IN, 0, load, last[0], at, at + 96, -1, 4096, arguments)
        )
        recorder.touched(row, 1, [(0, 1, buffer, buffer + 4096)])
        held = recorder.rows.append(
            (RowKind.WAIT, WaitCause.SIGNAL, VECTOR, 0, wait, row, at + 60, at + 97, cause, 0, 0)
        )
        recorder.signals.append((0, IN, put, at + 96, 0, VECTOR, wait, at + 97, 0))
        work = recorder.rows.append(
            (RowKind.WORK, WaitCause.PIPE, VECTOR, 0, scope, held, at + 97, at + 157, function, 0, arguments)
        )
        recorder.touched(work, 0, [(0, 1, buffer, buffer + 4096)])
        recorder.touched(work, 1, [(0, 1, buffer + 8192, buffer + 12288)])
        recorder.signals.append((0, VECTOR, put, at + 157, 0, OUT, wait, at + 158, 0))
        facts |= {"source": buffer + 8192, "dest": (2 << 48) + 4096 * tile}
        arguments = recorder.arguments(store, copies[1], facts)
        out = recorder.rows.append(
            (RowKind.WORK, WaitCause.PIPE, OUT, 0, store, work, at + 158, at + 254, -1, 4096, arguments)
        )
        recorder.touched(out, 0, [(0, 1, buffer + 8192, buffer + 12288)])
        last = [row, work, out]
    recording = recorder.finish()
    tiles = events // 3
    end = 96 * tiles + 158
    pipes = {pipe: CorePipeTime() for pipe in (Pipe.S, Pipe.MTE2, Pipe.V, Pipe.MTE3)}
    for pipe, cycles in ((Pipe.S, end), (Pipe.MTE2, 96 * tiles), (Pipe.V, 60 * tiles), (Pipe.MTE3, 96 * tiles)):
        pipes[pipe].busy = cycles
    recording.cores.append(CoreRun("b0.aiv0", "aiv0", 0, pipes, 0, end, last[2]))
    place_blocks(recording, 64, together=False)
    return Profile("long", SOURCE, load_target("a5"), 1, recording, ("x", "y"))
