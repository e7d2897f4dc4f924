"""Synchronisation in a replay: each instruction is a call of the machine, which decides when it happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.micro import sync, sync_fence, sync_semaphore, sync_token
from ptosim.language.operation import PTOOperation
from ptosim.language.types import PtrType
from ptosim.machine.entry import Site
from ptosim.machine.observer import Footprint
from ptosim.machine.sync import Form, form_of
from ptosim.order.replay.scalar_run import ScalarRun, Step, known_number


def _pipe(op: PTOOperation, role: str = "pipe") -> Pipe:
    """Without a pipe the whole core signals or waits."""
    word = op.word(role)
    return Pipe.ALL if word is None else Pipe(word.removeprefix("PIPE_"))


def _number(op: PTOOperation, role: str, literal: str) -> Callable[[ScalarRun], int]:
    """An id or a mode."""
    given = op.segment(role)
    if not given:
        known = op.integer(literal) or 0
        return lambda run: known
    return lambda run: known_number(run.values.get(given[0]))


def _flag(site: Site, op: PTOOperation) -> Step:
    source, destination = _pipe(op, "source"), _pipe(op, "destination")
    is_set = op.name in (sync.SetFlag.name, sync.SetFlagDyn.name)
    event = op.word("event")
    if event is not None:
        fixed = int(event.removeprefix("EVENT_ID"))
        if is_set:
            return lambda run: run.core.set_flag(site, source, destination, fixed)
        return lambda run: run.core.wait_flag(site, source, destination, fixed)
    number = op.segment("event")[0]
    if is_set:
        return lambda run: run.core.set_flag(site, source, destination, known_number(run.values.get(number)))
    return lambda run: run.core.wait_flag(site, source, destination, known_number(run.values.get(number)))


def _token(site: Site, op: PTOOperation) -> Step:
    source, destination = _pipe(op, "source"), _pipe(op, "destination")
    number: int = op.facts()["number"]
    if op.name == sync_token.SimSetToken.name:
        return lambda run: run.core.set_token(site, source, destination, number)
    return lambda run: run.core.wait_token(site, source, destination, number)


def _buffer(site: Site, op: PTOOperation) -> Step:
    pipe = _pipe(op)
    id_, mode = _number(op, "id", "id_literal"), _number(op, "mode", "mode_literal")
    if isinstance(op, sync.GetBuf):
        return lambda run: run.core.get_buffer(site, pipe, id_(run), mode(run))
    return lambda run: run.core.release_buffer(site, pipe, id_(run), mode(run))


def _barrier(site: Site, op: PTOOperation) -> Step:
    pipe = _pipe(op)
    return lambda run: run.core.barrier(site, pipe)


def _fence(site: Site, op: PTOOperation) -> Step:
    assert isinstance(op, sync_fence.Dsb | sync_fence.FenceBarrierAll)
    whole, reach = isinstance(op, sync_fence.FenceBarrierAll), sync_fence.reach_of(op)

    def step(run: ScalarRun) -> None:
        if whole:
            run.core.barrier(site, Pipe.ALL, reach)
        run.core.dsb(site, reach)

    return step


def _tile_wait(site: Site, op: PTOOperation) -> Step:
    """Later entries wait for those that touch some bytes."""
    assert isinstance(op, sync_token.SimTSync)
    addresses, sizes = tuple(op.addresses), tuple(op.sizes)
    spaces = [value.type.space for value in addresses if isinstance(value.type, PtrType)]

    def step(run: ScalarRun) -> None:
        known = [
            (known_number(run.values.get(a)), known_number(run.values.get(b)))
            for a, b in zip(addresses, sizes, strict=True)
        ]
        ranges = zip(spaces, known, strict=True)
        run.core.tsync(site, tuple(Footprint(space, None, at, size) for space, (at, size) in ranges if size > 0))

    return step


def _semaphore(site: Site, op: PTOOperation) -> Step:
    form = _FORMS.get(op.name)
    if form is None:
        form = form_of(op.integer("ffts_mode") if "ffts_mode" in op.property_roles else None)
    pipe = Pipe.ALL if op.name == sync_semaphore.WaitFlagDev.name or _pipe(op) is Pipe.S else _pipe(op)
    number, meant = _number(op, "id", "id_literal"), form
    if op.name in _SETS:
        return lambda run: run.core.semaphore_set(site, pipe, number(run), meant)
    return lambda run: run.core.semaphore_wait(site, pipe, number(run), meant)


def _everybody(site: Site, op: PTOOperation) -> Step:
    word = (op.word("core_type") or "").lower()
    kinds = frozenset(kind for kind in CoreKind if not word.startswith(("aic", "aiv")) or word.startswith(kind.value))
    return lambda run: run.core.syncall(site, kinds)


_FORMS: Mapping[str, Form] = {
    **dict.fromkeys((sync_semaphore.SetIntraBlock.name, sync_semaphore.WaitIntraBlock.name), Form.INTRA_BLOCK),
    **dict.fromkeys((sync_semaphore.SetCrossCore.name, sync_semaphore.WaitFlagDev.name), Form.CROSS_CORE),
    **dict.fromkeys((sync_semaphore.SetCrossBlock.name, sync_semaphore.WaitCrossBlock.name), Form.CROSS_BLOCK),
}
_SETS = frozenset(
    each.name
    for each in (
        *(sync_semaphore.SyncSet, sync_semaphore.SetIntraBlock),
        *(sync_semaphore.SetCrossCore, sync_semaphore.SetCrossBlock),
    )
)
SYNCHRONISING: Mapping[str, Callable[[Site, PTOOperation], Step]] = {
    **dict.fromkeys((sync.SetFlag.name, sync.WaitFlag.name, sync.SetFlagDyn.name, sync.WaitFlagDyn.name), _flag),
    **dict.fromkeys((sync_token.SimSetToken.name, sync_token.SimWaitToken.name), _token),
    **dict.fromkeys((sync.GetBuf.name, sync.RlsBuf.name, sync.GetBufDyn.name, sync.RlsBufDyn.name), _buffer),
    sync.Barrier.name: _barrier,
    **dict.fromkeys((sync_fence.Dsb.name, sync_fence.FenceBarrierAll.name), _fence),
    sync_token.SimTSync.name: _tile_wait,
    **dict.fromkeys((*_FORMS, *_SETS, sync_semaphore.SyncWait.name), _semaphore),
    sync_semaphore.SyncAll.name: _everybody,
}
