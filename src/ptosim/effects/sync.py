"""Synchronisation: the scalar unit enters an entry into the queue of the pipe that the operands name.

Here is which instruction sets or waits for what. How operands spell a key is in `language/`, when it happens in
`machine/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Flag, auto
from typing import cast

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Half, Mechanism, Signal, Taint, table

_FLAGS = (("set_flag", "wait_flag"), ("set_flag_dyn", "wait_flag_dyn"), ("record_event", "wait_event"))
_PAIRS = {
    "flag": _FLAGS,
    "token": (("sim.set_token", "sim.wait_token"),),
    "semaphore": (
        *(("set_intra_block", "wait_intra_block"), ("set_intra_core", "wait_intra_core")),
        ("set_cross_core", "wait_flag_dev"),
    ),
    "semaphore cross-block": (("sync.set", "sync.wait"),),
    "cross-block": (("set_cross_block", "wait_cross_block"),),
    "syncall": (("syncall", "syncall"),),
}
_BUFFERS = (("get_buf", "rls_buf"), ("get_buf_dyn", "rls_buf_dyn"))


def no_such_id(thing: str, number: int, ids: int, core: str = "") -> str:
    """The message for an id that does not exist, when a kernel is loaded and when it runs."""
    return f"{thing} {number} does not exist{core and f' on {core}'}: ids are 0 to {ids - 1}" + _OF_EACH.get(thing, "")


_OF_EACH = {"event": " for each pair of pipes"}


def _signals() -> Iterator[tuple[str, Signal]]:
    """The first half of a pair sets, of a pair of buffers gets; older names stand beside the current ones."""
    for words, pairs in {**_PAIRS, "buffer": _BUFFERS}.items():
        mechanisms = cast("tuple[Mechanism, ...]", tuple(words.split()))
        halves: tuple[Half, Half] = ("get", "release") if words == "buffer" else ("set", "wait")
        for first, second in pairs:
            yield f"pto.{second}", Signal(halves[1], mechanisms, f"pto.{first}")
            yield f"pto.{first}", Signal(halves[0], mechanisms, f"pto.{second}")


BARRIER = "pto.barrier"


class FenceReach(Flag):
    """The writes that a fence waits for: stores of the scalar unit to UB, its stores to GM, and what drained pipes have
    stored in GM, which then has arrived."""

    LOCAL = auto()
    GM = auto()
    PIPES = auto()


ALL_WRITES = FenceReach.LOCAL | FenceReach.GM | FenceReach.PIPES
STORES = FenceReach.LOCAL | FenceReach.GM
TO_GM = FenceReach.GM | FenceReach.PIPES

REACHES: dict[str, dict[str, FenceReach]] = {
    "pto.dsb": {"ALL": ALL_WRITES, "DDR": TO_GM, "UB": FenceReach.LOCAL, "SEQ": STORES},
    "pto.fence.barrier_all": {"all": ALL_WRITES, "gm": TO_GM, "local_memory": FenceReach.LOCAL},
}
"""By instruction and word. SEQ names no memory: it waits for what the scalar unit itself has done."""

SIGNALS: dict[str, Signal] = dict(_signals())
"""By instruction, older names included."""


def signalling(*mechanisms: Mechanism, half: Half | None = None) -> frozenset[str]:
    """The instructions of these mechanisms, or one half of them."""
    return frozenset(
        name
        for name, signal in SIGNALS.items()
        if set(signal.mechanisms) & set(mechanisms) and half in (None, signal.half)
    )


_SCALAR = table(
    Pipe.S,
    Taint.NONE,
    {
        "sync": "set_flag wait_flag set_flag_dyn wait_flag_dyn barrier get_buf rls_buf get_buf_dyn rls_buf_dyn "
        "sync.set sync.wait set_intra_block wait_intra_block set_cross_core wait_flag_dev set_cross_block "
        "wait_cross_block syncall set_ffts dsb dcci cmo.cacheinvalid fence.barrier_all sim.set_token sim.wait_token "
        "sim.tsync",
        "fence": "mem_bar",
    },
)

EFFECTS: dict[str, Effects] = {name: replace(record, signal=SIGNALS.get(name)) for name, record in _SCALAR.items()}

# --- unit flags -------------------------------------------------------------------------------------------------------

CHECKS, SETS, CLEARS = "check_only", "check_and_set", "check_and_clear"
"""The words about the flag of a tile in L0C: products wait until it is free, stores of the fixpipe until it is full."""

GRANULE = 512
"""Bytes of L0C behind which another tile may begin."""
FREE, FULL = 0, 1


@dataclass(frozen=True, slots=True)
class UnitFlagUse:
    """The use that a product or a store makes of the flag of its tile."""

    word: str
    address: int
    """The start of the tile."""
    pipe: Pipe

    @property
    def wanted(self) -> int:
        """The state in which it may start."""
        return FREE if self.pipe is Pipe.M else FULL

    @property
    def left(self) -> int | None:
        """The state that it leaves, unless it only checks."""
        return {SETS: FULL, CLEARS: FREE}.get(self.word)
