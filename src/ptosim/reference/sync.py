"""Synchronisation instructions: each is a call of the machine, which decides when it happens."""

from __future__ import annotations

from typing import Any

from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.effects.record import Static
from ptosim.effects.sync import REACHES
from ptosim.language.micro import sync as op
from ptosim.language.micro import sync_fence as fence
from ptosim.language.micro import sync_semaphore as semaphore
from ptosim.language.micro import sync_token as token
from ptosim.machine.entry import Site
from ptosim.machine.sync import Form, form_of
from ptosim.reference.core import Core
from ptosim.reference.memory.port import AccessPlace
from ptosim.reference.numeric.integers import signed64
from ptosim.reference.semantics import Bind, Operands, semantics


def _pipe(word: str | None) -> Pipe:
    """Without a pipe (an i64 in its place) the whole core signals or waits."""
    return Pipe.ALL if word is None else Pipe(word.removeprefix("PIPE_"))


def _ends(static: Static) -> dict[str, Any]:
    """The two pipes of a flag, and its event where that is no operand."""
    ends = {role: _pipe(static.words[role]) for role in ("source", "destination")}
    event = static.words.get("event")
    return ends if event is None else {**ends, "event": int(event.removeprefix("EVENT_ID"))}


def _one_pipe(static: Static) -> dict[str, Any]:
    return {"pipe": _pipe(static.words.get("pipe"))}


@semantics(op.SetFlag, op.SetFlagDyn, bind=_ends)
def set_flag(core: Core, site: Site, source: Pipe, destination: Pipe, event: int) -> None:
    core.machine.set_flag(site, source, destination, event)


@semantics(op.WaitFlag, op.WaitFlagDyn, bind=_ends)
def wait_flag(core: Core, site: Site, source: Pipe, destination: Pipe, event: int) -> None:
    core.machine.wait_flag(site, source, destination, event)


@semantics(token.SimSetToken, bind=_ends)
def set_token(core: Core, site: Site, source: Pipe, destination: Pipe, number: int) -> None:
    core.machine.set_token(site, source, destination, number)


@semantics(token.SimWaitToken, bind=_ends)
def wait_token(core: Core, site: Site, source: Pipe, destination: Pipe, number: int) -> None:
    core.machine.wait_token(site, source, destination, number)


@semantics(token.SimTSync)
def tsync(
    core: Core, site: Site, addresses: tuple[int, ...], sizes: tuple[int, ...], spaces: tuple[Space, ...]
) -> None:
    ranges = zip(spaces, addresses, sizes, strict=True)
    core.machine.tsync(
        site,
        tuple(core.memories.footprint(AccessPlace(space, start, size)) for space, start, size in ranges if size > 0),
    )


@semantics(op.Barrier, bind=_one_pipe)
def barrier(core: Core, site: Site, pipe: Pipe) -> None:
    core.machine.barrier(site, pipe)


def _known(operand: int | None, literal: int | None) -> int:
    """An id or mode that is an operand or a literal; 0 where neither is written."""
    return operand if operand is not None else literal or 0


def _ids(operands: Operands, id_literal: int | None, mode_literal: int | None) -> tuple[int, int]:
    """The id and the mode of a buffer."""
    return _known(operands.id, id_literal), _known(operands.mode, mode_literal)


@semantics(op.GetBuf, op.GetBufDyn, bind=_one_pipe)
def get_buf(
    core: Core, site: Site, operands: Operands, pipe: Pipe, id_literal: int | None, mode_literal: int | None
) -> None:
    core.machine.get_buffer(site, pipe, *_ids(operands, id_literal, mode_literal))


@semantics(op.RlsBuf, op.RlsBufDyn, bind=_one_pipe)
def rls_buf(
    core: Core, site: Site, operands: Operands, pipe: Pipe, id_literal: int | None, mode_literal: int | None
) -> None:
    core.machine.release_buffer(site, pipe, *_ids(operands, id_literal, mode_literal))


@semantics(fence.MemBar)
def mem_bar(core: Core, site: Site, order: str | None) -> None:
    for kind in ("VV_ALL", "VS_ALL", "SV_ALL", "SS_ALL") if order is None else (order,):
        core.fence(site, kind)


# --- between cores ----------------------------------------------------------------------------------------------------


def _signal(form: Form | None = None) -> Bind:
    """The pipe that an instruction names, and the form of its semaphore by its mode. Where the scalar unit waits, the
    whole core does."""

    def facts(static: Static) -> dict[str, Any]:
        pipe = _pipe(static.words.get("pipe"))
        form_ = form or form_of(static.integers.get("ffts_mode"))
        return {"pipe": Pipe.ALL if pipe is Pipe.S else pipe, "form": form_}

    return facts


@semantics(semaphore.SyncSet, bind=_signal())
@semantics(semaphore.SetIntraBlock, bind=_signal(Form.INTRA_BLOCK))
@semantics(semaphore.SetCrossCore, bind=_signal(Form.CROSS_CORE))
@semantics(semaphore.SetCrossBlock, bind=_signal(Form.CROSS_BLOCK))
def set_semaphore(core: Core, site: Site, pipe: Pipe, id: int | None, id_literal: int | None, form: Form) -> None:
    core.machine.semaphore_set(site, pipe, _known(id, id_literal), form)


@semantics(semaphore.SyncWait, bind=_signal())
@semantics(semaphore.WaitFlagDev, bind=lambda static: {"pipe": Pipe.ALL, "form": Form.CROSS_CORE})
@semantics(semaphore.WaitCrossBlock, bind=_signal(Form.CROSS_BLOCK))
def wait_semaphore(core: Core, site: Site, pipe: Pipe, id: int | None, id_literal: int | None, form: Form) -> None:
    core.machine.semaphore_wait(site, pipe, _known(id, id_literal), form)


@semantics(semaphore.WaitIntraBlock, bind=_signal(Form.INTRA_BLOCK))
def wait_intra_block(core: Core, site: Site, pipe: Pipe, id: int | None, id_literal: int | None, form: Form) -> None:
    if pipe is Pipe.ALL and core.wants_lint:
        message = (
            "this wait names no pipe: the scalar unit stalls, and nothing after it is issued until the signal comes"
        )
        core.lint(message, site=site, hint="name the pipe that has to wait, such as <PIPE_V>; the others then go on")
    wait_semaphore(core, site, pipe, id, id_literal, form)


_CORE_TYPES = {"aic": {CoreKind.AIC}, "aiv": {CoreKind.AIV}}


@semantics(semaphore.SyncAll)
def syncall(core: Core, site: Site, core_type: str) -> None:
    kinds = next((kinds for word, kinds in _CORE_TYPES.items() if core_type.lower().startswith(word)), set(CoreKind))
    core.machine.syncall(site, frozenset(kinds))


# --- memory ordering --------------------------------------------------------------------------------------------------


@semantics(fence.Dsb)
def dsb(core: Core, site: Site, memory: str) -> None:
    core.machine.dsb(site, REACHES[fence.Dsb.name][memory])


@semantics(fence.FenceBarrierAll)
def barrier_all(core: Core, site: Site, scope: str) -> None:
    """Every pipe drains, then memory: what the core has written is where others find it."""
    reach = REACHES[fence.FenceBarrierAll.name][scope]
    core.machine.barrier(site, Pipe.ALL, reach)
    core.machine.dsb(site, reach)


@semantics(fence.Dcci, bind=lambda static: {"space": static.spaces["address"]})
def dcci(core: Core, address: int, lines: str, space: Space) -> None:
    """Memory is coherent here: cleaning or invalidating a cache changes nothing, but a check wants to know."""
    if space is Space.GM and core.machine.observer is not None:
        core.machine.observer.cleaned(core.machine, None if lines == "ENTIRE_DATA_CACHE" else signed64(address))


@semantics(fence.CmoCacheInvalid)
def cacheinvalid(core: Core, address: int | None) -> None:
    if core.machine.observer is not None:
        core.machine.observer.cleaned(core.machine, None if address is None else signed64(address))


@semantics(semaphore.SetFfts)
def set_ffts(core: Core) -> None:
    """Signals between cores have no address here."""
