"""Counters of a semaphore instruction, seen from the core that executes it.

    A5 (direct signals)                                    A2A3 (broadcast and reduce)
    AIC set f           to_aiv[0][f] += 1                  AIC set f     to_aiv[0][f] += 1; to_aiv[1][f] += 1
    AIC set 16 + f      to_aiv[1][f] += 1
    AIVk wait f         to_aiv[k][f] -= 1 when above 0     AIVk wait f   to_aiv[k][f] -= 1 when above 0
    AIVk set f          to_aic[k][f] += 1                  AIVk set f    to_aic[k][f] += 1
    AIC wait f, 16 + f  to_aic[0][f], to_aic[1][f] -= 1    AIC wait f    both to_aic[.][f] -= 1 when both are above 0
AIV1 may also say 16 + f for f. The vector pair and the cross-block forms are rendezvous: every member must have set
before any wait passes; members are the two vector cores of a cluster, or all cores of one kind of the launch.

A set and a wait meet only when they name the same form. What a wait holds, a pipe or the whole core, is for `core`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ptosim.effects.names import CoreKind
from ptosim.effects.record import Half
from ptosim.effects.sync import no_such_id
from ptosim.machine.entry import Key
from ptosim.machine.sync import (
    CLUSTER_WORDS,
    SEMAPHORE_IDS,
    TO_AIC,
    TO_AIV,
    Form,
    Rendezvous,
    SyncCounter,
    clear,
    zero_words,
)

if TYPE_CHECKING:
    from ptosim.machine.core import Core
    from ptosim.target.profile import Target


class SemaphoreCluster:
    """The cores of one block and the semaphores between them."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.words = zero_words(CLUSTER_WORDS)
        self.cores: list[Core] = []
        self._counters: dict[int, SyncCounter] = {}
        self._pairs: dict[int, Rendezvous] = {}

    def reset(self, cores: list[Core], new: bool) -> None:
        """These cores from now on; in a new block nothing is signalled yet."""
        if new:
            clear(self.words)
        self.cores = cores
        self._counters.clear()
        self._pairs.clear()

    def member(self, role: str) -> Core | None:
        return next((core for core in self.cores if core.role == role), None)

    def to_aiv(self, k: int, f: int) -> SyncCounter:
        index = TO_AIV + k * SEMAPHORE_IDS + f
        return self._counters.get(index) or self._counter(index, f, "aic", f"aiv{k}", (f + k * self._offset,))

    def to_aic(self, k: int, f: int) -> SyncCounter:
        index = TO_AIC + k * SEMAPHORE_IDS + f
        written = (f, f + self._offset) if k == 1 and self._offset else (f,)
        return self._counters.get(index) or self._counter(index, f, f"aiv{k}", "aic", written)

    def pair(self, f: int) -> Rendezvous:
        if f not in self._pairs:
            members = [core for core in self.cores if core.kind is CoreKind.AIV]
            key = Key("semaphore", f, "both aiv", "both aiv", (f,))
            self._pairs[f] = Rendezvous(key, members, self.target.sync.semaphore_limit)
        return self._pairs[f]

    def reverse(self, counter: SyncCounter) -> SyncCounter | None:
        """The semaphore of the same vector core and id in the other direction; None if no instruction has named it,
        or if ids do not name a vector core.
        """
        if not self._offset or counter.rendezvous is not None:
            return None
        distance = TO_AIC - TO_AIV
        return self._counters.get(counter.index + (distance if counter.key.source == "aic" else -distance))

    @property
    def _offset(self) -> int:
        """From the id that means AIV0 to the one that means AIV1; 0 where ids do not name a vector core."""
        return self.target.sync.subblock_sem_offset if self.target.sync.inter_core_signal == "direct" else 0

    def _counter(self, index: int, f: int, source: str, destination: str, written: tuple[int, ...]) -> SyncCounter:
        key = Key("semaphore", f, source, destination, written)
        limit = self.target.sync.semaphore_limit
        self._counters[index] = SyncCounter(self.words, index, key, self.member(destination), limit)
        return self._counters[index]

    def counters(self) -> list[SyncCounter]:
        """The counters that any instruction has named so far."""
        pairs = [counter for pair in self._pairs.values() for counter in pair.counters()]
        return [*self._counters.values(), *pairs]


class Grid:
    """Counters that all cores under one scheduler share: rendezvous across blocks."""

    def __init__(self, cores: list[Core], limit: int) -> None:
        self.cores = cores
        self.limit = limit
        self._rendezvous: dict[Key, Rendezvous] = {}

    def cross_block(self, kind: CoreKind, f: int) -> Rendezvous:
        return self._meet(Key("cross-block", f, f"all {kind}", f"all {kind}", (f,)), frozenset({kind}))

    def syncall(self, kinds: frozenset[CoreKind]) -> Rendezvous:
        names = " and ".join(sorted(kinds))
        return self._meet(Key("syncall", 0, f"all {names}", f"all {names}"), kinds)

    def _meet(self, key: Key, kinds: frozenset[CoreKind]) -> Rendezvous:
        if key not in self._rendezvous:
            members = [core for core in self.cores if core.kind in kinds]
            self._rendezvous[key] = Rendezvous(key, members, self.limit)
        return self._rendezvous[key]

    def counters(self) -> list[SyncCounter]:
        return [counter for meeting in self._rendezvous.values() for counter in meeting.counters()]


MEETINGS = (Form.VECTOR_PAIR, Form.CROSS_BLOCK)


@dataclass(frozen=True, slots=True)
class SemaphoreSignal:
    """The counters of one semaphore instruction."""

    key: Key
    counters: tuple[SyncCounter, ...]
    rendezvous: Rendezvous | None = None


class Illegal(NamedTuple):
    """Why the core cannot mean anything by an instruction."""

    kind: str
    message: str
    hint: str | None = None


def signal_of(core: Core, number: int, form: Form, half: Half) -> SemaphoreSignal | Illegal:
    """Counters that a set with this id raises, or a wait needs and takes."""
    ids = _decode(core, number, form)
    if isinstance(ids, Illegal):
        return ids
    f, k = ids
    if form in MEETINGS:
        meeting = core.cluster.pair(f) if form is Form.VECTOR_PAIR else core.grid.cross_block(core.kind, f)
        if half == "set":
            return SemaphoreSignal(meeting.key, (meeting.arrived[core],), meeting)
        return SemaphoreSignal(meeting.key, (meeting.ready[core],))
    to_aic = (core.kind is CoreKind.AIV) == (half == "set")
    counter = core.cluster.to_aic if to_aic else core.cluster.to_aiv
    if core.kind is CoreKind.AIV or _direct(core):
        one = counter(core.subblock if core.kind is CoreKind.AIV else k, f)
        return SemaphoreSignal(one.key, (one,))
    return SemaphoreSignal(_of_both(f, to_aic), (counter(0, f), counter(1, f)))


def _of_both(f: int, to_aic: bool) -> Key:
    """The signal that joins the cube core with both vector cores."""
    return Key("semaphore", f, *(("both aiv", "aic") if to_aic else ("aic", "both aiv")), (f,))


def heard(target: Target) -> dict[int, Key]:
    """By the words of a cluster, the signal that a wait for it names."""
    cluster = SemaphoreCluster(target)
    found: dict[int, Key] = {}
    for f in range(SEMAPHORE_IDS):
        for k in (0, 1):
            to_aiv, to_aic = cluster.to_aiv(k, f), cluster.to_aic(k, f)
            found[to_aiv.index] = to_aiv.key
            direct = target.sync.inter_core_signal == "direct"
            found[to_aic.index] = to_aic.key if direct else _of_both(f, to_aic=True)
    return found


def _direct(core: Core) -> bool:
    return core.target.sync.inter_core_signal == "direct"


def _decode(core: Core, number: int, form: Form) -> tuple[int, int] | Illegal:
    """The id without the part that names a vector core, and the vector core that it names on the AIC."""
    if form is (Form.CROSS_CORE if _direct(core) else Form.INTRA_BLOCK):
        return Illegal("wrong-target", f"{core.target.name} has no {form} semaphores")
    if form is Form.VECTOR_PAIR and core.kind is CoreKind.AIC:
        return Illegal("wrong-pipe", "ffts_mode 1 joins the two vector cores; this is the cube core")
    legal = _legal_ids(core, form)
    k, f = divmod(number, core.target.sync.subblock_sem_offset) if _names_core(core, form) else (0, number)
    if not 0 <= number < legal or k > 1 or f >= SEMAPHORE_IDS:
        return Illegal("id-range", no_such_id("semaphore", number, legal, core.role), _hint(core, number))
    return f, k


def _legal_ids(core: Core, form: Form) -> int:
    sync = core.target.sync
    return sync.semaphores if _names_core(core, form) else min(sync.vector_semaphores, SEMAPHORE_IDS)


def _names_core(core: Core, form: Form) -> bool:
    """Whether ids from the offset on mean AIV1: on the AIC, and on AIV1 itself, which may use the AIC's numbers."""
    return _direct(core) and form not in MEETINGS and (core.kind is CoreKind.AIC or core.subblock == 1)


def _hint(core: Core, number: int) -> str | None:
    offset = core.target.sync.subblock_sem_offset
    if _direct(core) and core.kind is CoreKind.AIV and offset <= number < 2 * offset:
        return f"a vector core counts from 0: id {number} of the cube core is {number - offset} on aiv1"
    return None
