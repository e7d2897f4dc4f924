"""Synchronisation instructions: each is a call of the machine, which decides when it happens."""

from __future__ import annotations

from ptosim.effects.names import CoreKind, Pipe
from ptosim.language import sync as op
from ptosim.language import sync_fence as fence
from ptosim.language import sync_semaphore as semaphore
from ptosim.machine.entry import Site
from ptosim.machine.sync import Form
from ptosim.reference.core import Core
from ptosim.reference.semantics import semantics


def _pipe(word: str) -> Pipe:
    return Pipe(word.removeprefix("PIPE_"))


def _number(event: str | int) -> int:
    return int(event.removeprefix("EVENT_ID")) if isinstance(event, str) else event


@semantics(op.SetFlag, op.SetFlagDyn)
def set_flag(core: Core, site: Site, source: str, destination: str, event: str | int) -> None:
    core.machine.set_flag(site, _pipe(source), _pipe(destination), _number(event))


@semantics(op.WaitFlag, op.WaitFlagDyn)
def wait_flag(core: Core, site: Site, source: str, destination: str, event: str | int) -> None:
    core.machine.wait_flag(site, _pipe(source), _pipe(destination), _number(event))


@semantics(op.Barrier)
def barrier(core: Core, site: Site, pipe: str) -> None:
    core.machine.barrier(site, _pipe(pipe))


def _known(operand: int | None, literal: int | None) -> int:
    """An id or mode that is an operand or a literal; 0 where neither is written."""
    return operand if operand is not None else literal or 0


@semantics(op.GetBuf, op.GetBufDyn)
def get_buf(
    core: Core,
    site: Site,
    pipe: str,
    id: int | None,
    id_literal: int | None,
    mode: int | None,
    mode_literal: int | None,
) -> None:
    core.machine.get_buffer(site, _pipe(pipe), _known(id, id_literal), _known(mode, mode_literal))


@semantics(op.RlsBuf, op.RlsBufDyn)
def rls_buf(
    core: Core,
    site: Site,
    pipe: str,
    id: int | None,
    id_literal: int | None,
    mode: int | None,
    mode_literal: int | None,
) -> None:
    core.machine.release_buffer(site, _pipe(pipe), _known(id, id_literal), _known(mode, mode_literal))


@semantics(fence.MemBar)
def mem_bar(core: Core, site: Site, order: str) -> None:
    core.fence(site, order)


# --- between cores --------------------------------------------------------------------------------------------------

_MODES = {0: Form.CROSS_BLOCK, 1: Form.VECTOR_PAIR}


def _signal(pipe: str | None) -> Pipe:
    """Without a pipe (an i64 in its place) the whole core signals or waits."""
    return Pipe.ALL if pipe is None else _pipe(pipe)


@semantics(semaphore.SyncSet)
def sync_set(core: Core, site: Site, pipe: str, id: int | None, id_literal: int | None, ffts_mode: int | None) -> None:
    form = Form.SYNC if ffts_mode is None else _MODES.get(ffts_mode, Form.SYNC)
    core.machine.semaphore_set(site, _signal(pipe), _known(id, id_literal), form)


@semantics(semaphore.SyncWait)
def sync_wait(core: Core, site: Site, pipe: str, id: int | None, id_literal: int | None, ffts_mode: int | None) -> None:
    form = Form.SYNC if ffts_mode is None else _MODES.get(ffts_mode, Form.SYNC)
    core.machine.semaphore_wait(site, _signal(pipe), _known(id, id_literal), form)


@semantics(semaphore.SetIntraBlock)
def set_intra_block(core: Core, site: Site, pipe: str | None, id: int | None, id_literal: int | None) -> None:
    core.machine.semaphore_set(site, _signal(pipe), _known(id, id_literal), Form.INTRA_BLOCK)


@semantics(semaphore.WaitIntraBlock)
def wait_intra_block(core: Core, site: Site, pipe: str | None, id: int | None, id_literal: int | None) -> None:
    core.machine.semaphore_wait(site, _signal(pipe), _known(id, id_literal), Form.INTRA_BLOCK)


@semantics(semaphore.SetCrossCore)
def set_cross_core(core: Core, site: Site, pipe: str | None, id: int | None, id_literal: int | None) -> None:
    core.machine.semaphore_set(site, _signal(pipe), _known(id, id_literal), Form.CROSS_CORE)


@semantics(semaphore.WaitFlagDev)
def wait_flag_dev(core: Core, site: Site, id: int | None, id_literal: int | None) -> None:
    core.machine.semaphore_wait(site, Pipe.ALL, _known(id, id_literal), Form.CROSS_CORE)


@semantics(semaphore.SetCrossBlock)
def set_cross_block(core: Core, site: Site, pipe: str, id: int | None, id_literal: int | None) -> None:
    core.machine.semaphore_set(site, _signal(pipe), _known(id, id_literal), Form.CROSS_BLOCK)


@semantics(semaphore.WaitCrossBlock)
def wait_cross_block(core: Core, site: Site, pipe: str, id: int | None, id_literal: int | None) -> None:
    core.machine.semaphore_wait(site, _signal(pipe), _known(id, id_literal), Form.CROSS_BLOCK)


_CORE_TYPES = {"aic": {CoreKind.AIC}, "aiv": {CoreKind.AIV}}


@semantics(semaphore.SyncAll)
def syncall(core: Core, site: Site, core_type: str) -> None:
    kinds = next((kinds for word, kinds in _CORE_TYPES.items() if core_type.lower().startswith(word)), set(CoreKind))
    core.machine.syncall(site, frozenset(kinds))


# --- memory ordering ------------------------------------------------------------------------------------------------


@semantics(fence.Dsb, fence.FenceBarrierAll)
def dsb(core: Core, site: Site) -> None:
    core.machine.dsb(site)


@semantics(fence.Dcci, fence.CmoCacheInvalid)
def cache_line(core: Core) -> None:
    """Memory is coherent here: cleaning or invalidating a cache changes nothing."""
