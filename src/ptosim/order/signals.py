"""The analysis of several cores at once, with the signals between them.

A signal is a token as a flag is, from a pipe of one core to a pipe of another, or to its scalar unit; the k-th wait
takes the k-th signal. A semaphore holds up to 15 of them, so one core must not get so far ahead of another: waits are
followed like entries, and a set has to know of those some iterations ago.
"""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.order.cluster import semaphore, semaphores
from ptosim.order.conflict import Conflicts
from ptosim.order.model import LoopNode, Node, OrderProgram, SetSignal, SignalNode, WaitSignal
from ptosim.order.rounds import Round
from ptosim.order.state import PIPES, State
from ptosim.order.walk import OTHERS, Missing
from ptosim.order.written_walk import TurnWalker

MOST_SIGNALS = 15
"""The most signals that a semaphore counts."""
_FURTHER = 4
"""The iterations followed beyond those for memory, to see how far one core gets ahead of another."""


class SignalWalker(TurnWalker):
    """Walks the programs of a cluster."""

    def __init__(self, program: OrderProgram, conflicts: Conflicts, missing: Missing) -> None:
        super().__init__(program, conflicts, missing)
        nodes = list(program.body.walk())
        self.sets = [node for node in nodes if isinstance(node, SetSignal)]
        self.waiting = {node: self.places.follow(node, node.pipe) for node in nodes if isinstance(node, WaitSignal)}
        """The waits, as members of sets."""
        for name, loop in program.loops.items():
            if any(isinstance(node, SignalNode) for node in loop.body.walk()):
                self.farthest[name] += _FURTHER
        self.ahead: dict[tuple[SetSignal, LoopNode], int] = {}
        """The number of iterations of a loop since all waits ended that a set knows of."""
        self.lacking: list[WaitSignal] = []
        """Waits that no signal is under way for."""

    def _node(self, node: Node, state: State, here: Round) -> State:
        if not isinstance(node, SignalNode):
            return super()._node(node, state, here)
        state.at(node.core)
        id_ = self._number(node.id)
        key = semaphore(node, id_) if isinstance(id_, int) else None
        if isinstance(node, SetSignal):
            self._signal(node, key, state, here)
        elif isinstance(node, WaitSignal):
            self._held(node, key, state, here)
        return state

    def _signal(self, node: SetSignal, key: tuple[int, int, int] | None, state: State, here: Round) -> None:
        known, own = self._told(node, state)
        loop = here.loop
        if loop is not None and here.distance and (node, loop) not in self.ahead:
            waits = [wait for wait in self.waiting if set(semaphores(wait)) & set(semaphores(node))]
            if not any(known & self.waiting[wait] for wait in waits):
                self.ahead[node, loop] = here.distance
        state.put(key, known & ~own)

    def _told(self, node: SetSignal, state: State) -> tuple[int, int]:
        """Entries that a signal cannot cover, and those of its own core that it covers in any case. Without a pipe it
        comes when everything before it has ended, and tells what any of the pipes knows."""
        if node.pipe is not Pipe.ALL:
            return state.open[node.pipe] & state.open[Pipe.S], self.own[node.core][node.pipe]
        known, own = -1, 0
        for pipe in PIPES:
            known &= state.open[pipe]
            own |= self.own[node.core][pipe]
        return known, own

    def _held(self, node: WaitSignal, key: tuple[int, int, int] | None, state: State, here: Round) -> None:
        if not state.take(key, node.pipe) and here.distance == 0:
            self.lacking.append(node)
        if here.distance == 0:
            state.issue(self.waiting[node], () if node.pipe is Pipe.S else OTHERS[node.pipe])

    def left_over(self) -> list[SetSignal]:
        """Sets of semaphores that are not at 0 in the end."""
        counted = self.end.counts()
        return [node for node in self.sets if any(key in counted for key in semaphores(node))]

    def overtaking(self) -> list[SetSignal]:
        """Sets that may count a semaphore further than it goes: too few of their waits are known to have ended."""
        found: list[SetSignal] = []
        loops = {node: self.places.loops[self.places.block_of[node]] for node in self.sets}
        for node in self.sets:
            alike = [each for each in self.sets if set(semaphores(each)) & set(semaphores(node))]
            once = [each for each in alike if not loops[each]]
            most = len(alike) - len(once)
            for loop in loops[node]:
                most *= self.ahead.get((node, loop), MOST_SIGNALS + 1)
            if len(once) + most > MOST_SIGNALS:
                found.append(node)
        return found


def one_pipe(program: OrderProgram) -> SignalNode | None:
    """A signal that is set, or waited for, by another pipe than the rest of its semaphore: then the k-th wait does not
    mean the k-th set. None if there is no such signal."""
    pipes: dict[tuple[object, ...], Pipe] = {}
    for node in program.body.walk():
        if isinstance(node, SignalNode):
            for key in semaphores(node):
                if pipes.setdefault((*key, isinstance(node, SetSignal)), node.pipe) is not node.pipe:
                    return node
    return None
