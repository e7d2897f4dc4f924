"""Faults in the operands of synchronisation: pipes that a core lacks, ids out of range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptosim.effects.names import PIPES_OF, CoreKind, Pipe
from ptosim.effects.sync import no_such_id
from ptosim.machine.sync import flag_word

if TYPE_CHECKING:
    from ptosim.machine.core import Core

FLAG_BASES = {
    kind: {(src, dst): flag_word(src, dst, 0) for src in pipes for dst in pipes if src is not dst}
    for kind, pipes in PIPES_OF.items()
}
"""By kind of core: the word of event 0 for each pair of pipes that a flag can join."""

_CORES = {CoreKind.AIC: "cube cores", CoreKind.AIV: "vector cores"}


def has(core: Core, pipe: Pipe) -> bool:
    return pipe is Pipe.S or pipe in core.queues


def absent(core: Core, pipe: Pipe) -> str:
    """The message for a pipe that the core does not have."""
    own = ", ".join((Pipe.S, *core.queues))
    others = " and ".join(_CORES[kind] for kind, pipes in PIPES_OF.items() if pipe in pipes)
    return f"{core.role} has no pipe {pipe}: its pipes are {own}; {others} have it"


def wrong_flag(core: Core, src: Pipe, dst: Pipe, event: int) -> tuple[str, str]:
    """Why there is no such flag: the kind and the message."""
    if Pipe.ALL in (src, dst):
        return "wrong-pipe", "PIPE_ALL cannot be an end of a flag; barrier PIPE_ALL waits for all pipes"
    if src is dst:
        return "wrong-pipe", f"a flag from {src} to itself: barrier PIPE_{src} orders one pipe"
    if (src, dst) in core.flag_bases:
        return "id-range", no_such_id("event", event, core.event_ids)
    if any((src, dst) in bases for bases in FLAG_BASES.values()):
        return "wrong-pipe", absent(core, src if not has(core, src) else dst)
    return "wrong-pipe", f"a flag from {src} to {dst}: no core has both, and flags do not reach another core"
