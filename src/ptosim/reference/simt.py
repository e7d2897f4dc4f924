"""Launches of workitems: warps in ascending order, each until its next barrier or its end, phase by phase."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from ptosim.effects.simt import WARP
from ptosim.language.simt.simt import SimtLaunch, SyncThreads, ThreadFence, ThreadFenceBlock, unfit
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.memory.port import Complaint
from ptosim.reference.observed.access_witness import AccessWitness
from ptosim.reference.observed.entry_witness import EntryWitness
from ptosim.reference.semantics import semantics
from ptosim.reference.workitems.body import WorkitemBody
from ptosim.reference.workitems.observed import Onlooker
from ptosim.reference.workitems.tally import WorkitemTally
from ptosim.reference.workitems.values import Active
from ptosim.reference.workitems.warp import Kept, Warp, WarpLaunch, WorkitemFault


@semantics(SimtLaunch)
def simt_launch(
    core: Core,
    site: Site,
    workitems: WorkitemBody | None,
    dim_x: int,
    dim_y: int,
    dim_z: int,
    most: int,
    arguments: tuple[int, ...],
) -> None:
    if (message := unfit(dim_x, dim_y, dim_z, most)) is not None:
        core.violation("invalid", message)
        return
    if workitems is None:
        core.missing_function("the body of the launch")
        return
    witness = core.witness
    onlooker = Onlooker(core, witness.observer, witness.entry) if isinstance(witness, AccessWitness) else None
    if onlooker is not None:
        onlooker.observer.launches(onlooker.entry, (dim_x, dim_y, dim_z))
    tally = None
    if isinstance(witness, EntryWitness):
        tally = WorkitemTally(dim_x * dim_y * dim_z, -(-dim_x * dim_y * dim_z // WARP))
    state = core.workitems
    count = dim_x * dim_y * dim_z
    if state.count != count:
        state.words, state.buffers, state.count = {}, {}, count
    launch = WarpLaunch(core, site, (dim_x, dim_y, dim_z), onlooker, dict(state.words), tally=tally)
    warps = [Warp(launch, number, 0) for number in range(-(-count // WARP))]
    _run(launch, workitems, warps, arguments)
    if onlooker is not None:
        onlooker.epoch()
    if tally is not None and isinstance(witness, EntryWitness):
        witness.counted(tally, tally.facts())
    state.words = {
        slot: Kept(words, marks if marks.any() else None, launch.kinds[slot])
        for slot, (words, marks) in launch.kept.items()
    }
    for warp in warps:
        warp.leave()


def _run(launch: WarpLaunch, body: WorkitemBody, warps: Sequence[Warp], arguments: Sequence[int]) -> None:
    run, places = body.run, body.arguments
    flows: dict[Warp, Iterator[None]] = {}
    for warp in warps:
        warp.values = [None] * len(body.places)
        warp.taints = [None] * len(body.places)
        for place, value in zip(places, arguments, strict=True):
            warp.values[place] = np.full(WARP, value - (1 << 64) if value >= 1 << 63 else value, np.int64)
        flows[warp] = run(warp, warp.existing)
    ready, ended, schedule = deque(warps), set[Warp](), launch.core.machine.schedule
    left = len(ready)
    while ready:
        if not left:  # each had its turn, and some go round and round
            left = len(ready)
            if launch.core.together:
                schedule.give_turn(launch.core.machine, launch.site)
        left -= 1
        warp = schedule.next_warp(ready)
        ready.remove(warp)
        launch.changes += 1
        if next(flows[warp], ended) is ended:
            ended.add(warp)
        elif warp.waits_at is None:
            ready.append(warp)
        if not ready:
            waiting = [each for each in warps if each not in ended]
            if waiting and not _met(launch, warps, waiting):
                break
            ready.extend(waiting)
            left = len(ready)
            if launch.onlooker is not None:
                launch.onlooker.epoch()


def _met(launch: WarpLaunch, warps: Sequence[Warp], waiting: Sequence[Warp]) -> bool:
    """Whether all workitems stand at a barrier; otherwise those that do wait for ever."""
    partly = [warp for warp in waiting if (warp.arrived != warp.existing).any()]
    if not partly and len(waiting) == len(warps):
        _pair(launch, waiting)
        if launch.tally is not None:
            launch.tally.barriers += 1
        return True
    first = partly[0] if partly else waiting[0]
    site = first.waits_at
    assert site is not None
    arrived = sum(int(np.count_nonzero(warp.arrived)) for warp in waiting)
    if partly:
        missing: Active = first.existing & ~first.arrived
        where = "does not execute it: its warp came here without it"
        who = first.lowest(missing)
    else:
        absent = next(warp for warp in warps if warp not in waiting)
        who, where = absent.lowest(absent.existing), "has ended"
    message = f"{site.name} waits for ever: {arrived} of {launch.count} workitems are there; {who} {where}"
    if launch.onlooker is None:
        raise WorkitemFault(Fault("deadlock", message, workitem=who), site)
    first.site = site
    complaint = Complaint("deadlock", message)
    launch.onlooker.complain(complaint, first, who, Warp.lanes(first.existing & ~first.arrived))
    return False


def _pair(launch: WarpLaunch, waiting: Sequence[Warp]) -> None:
    """Different barriers pair up; a check says so."""
    places = {warp.waits_at: warp for warp in waiting}
    if len(places) > 1 and launch.onlooker is not None:
        first, *others = places
        for other in others:
            warp = places[other]
            warp.site = other or warp.site
            line = "" if first is None else f" at line {first.line}"
            warp.lint(f"workitems meet here with others that wait at another pto.syncthreads{line}", warp.existing)


@semantics(SyncThreads)
def syncthreads() -> None:
    """The hand-over of warps: the flow of a body yields there."""


@semantics(ThreadFence, ThreadFenceBlock)
def fence(warp: Warp, active: Active) -> None:
    """Execution is sequential anyway."""
    if warp.onlooker is not None:
        warp.onlooker.fenced(warp, active)
