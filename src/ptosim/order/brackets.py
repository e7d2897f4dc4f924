"""Brackets of buffers: between a get and its release a pipe holds a buffer, and no pipe may get it meanwhile.

What is held is decided by program order alone, so it is followed as such: at each place the sets of pipes that may hold
a buffer, on any way there. Loops are gone round until nothing new comes in, with the turn of their index known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count as count_from
from itertools import islice

from ptosim.effects.names import Pipe
from ptosim.order.model import BranchNode, GetBuffer, LoopNode, Node, NodeBlock, OrderProgram, ReleaseBuffer
from ptosim.order.number import Periodic, key_of

_Held = frozenset[tuple[Pipe, GetBuffer]]
_Key = tuple[int, int | str]
"""A core and a buffer id."""
_State = dict[_Key, frozenset[_Held]]
"""For each buffer its possible holders; a buffer that is not named is free."""
_FREE = frozenset({_Held()})


@dataclass(frozen=True)
class Misuse:
    """A get or a release where it must not be."""

    node: Node
    message: str
    certain: bool
    """Whether every way there shows it."""
    times: dict[int, int] = field(default_factory=dict[int, int])
    """By loops, how often they run when it shows."""


def misused(program: OrderProgram, periods: Mapping[int, int]) -> list[Misuse]:
    """Problems of the brackets of a program, the first of each place."""
    if all(_is_nested(block) for block in _blocks(program.body)):
        return []
    follower = _Follower(periods)
    end = follower.block(program.body, {})
    for held in end.values():
        for pipe, node in dict.fromkeys(each for one in held for each in one):
            certain = all((pipe, node) in one for one in held) and follower.is_certain
            message = f"{node.op.name} gets a buffer on {pipe} that is never released"
            follower.found.setdefault((node, message), Misuse(node, message, certain))
    return list(follower.found.values())


# --- brackets within one block ----------------------------------------------------------------------------------------


def _blocks(block: NodeBlock) -> Iterator[NodeBlock]:
    yield block
    for node in block.nodes:
        for inner in node.blocks():
            yield from _blocks(inner)


def _is_nested(block: NodeBlock) -> bool:
    """Whether each bracket is closed in the block that it is opened in, with none of the same id inside of it."""
    open_: list[GetBuffer] = []
    for node in block.nodes:
        inside = [each for inner in node.blocks() for each in inner.walk()]
        for each in (node, *inside):
            if isinstance(each, ReleaseBuffer) and each is node:
                same = [one for one in open_ if _is_same(one, each)]
                if not same:
                    return False
                open_.remove(same[0])
            elif isinstance(each, GetBuffer | ReleaseBuffer) and any(_may_be_same(each, one) for one in open_):
                return False
        if isinstance(node, GetBuffer):
            open_.append(node)
    return not open_


def _is_same(a: GetBuffer, b: ReleaseBuffer) -> bool:
    return (a.pipe, a.core) == (b.pipe, b.core) and a.id is not None and b.id is not None and _name(a) == _name(b)


def _name(node: GetBuffer | ReleaseBuffer) -> tuple[object, ...]:
    return key_of(node.id) if isinstance(node.id, int | Periodic) else (node.id,)


def _may_be_same(a: GetBuffer | ReleaseBuffer, b: GetBuffer) -> bool:
    """Undecided, if only the run knows it."""
    return a.core == b.core and bool(_ids(a) & _ids(b))


def _ids(node: GetBuffer | ReleaseBuffer) -> set[int | str]:
    values = node.id.values if isinstance(node.id, Periodic) else (node.id,)
    return {value for value in values if isinstance(value, int | str)}


# --- brackets on every way --------------------------------------------------------------------------------------------


class _Follower:
    def __init__(self, periods: Mapping[int, int]) -> None:
        self.periods = periods
        self.turns: dict[int, int] = {}
        self.found: dict[tuple[Node, str], Misuse] = {}
        self.is_certain = True
        """Whether the way that is followed is taken in every run, as far as loops run often enough."""

    def block(self, block: NodeBlock, state: _State) -> _State:
        for node in block.nodes:
            match node:
                case GetBuffer():
                    self._get(node, state)
                case ReleaseBuffer():
                    self._release(node, state)
                case LoopNode() if _has_brackets(node):
                    state = self._loop(node, state)
                case BranchNode() if _has_brackets(node):
                    state = self._branch(node, state)
                case _:
                    pass
        return state

    def _get(self, node: GetBuffer, state: _State) -> None:
        if (key := self._key(node)) is None:
            return
        held = state.get(key, _FREE)
        if any(held):
            others = {pipe for one in held for pipe, _ in one}
            second = "a second time before it releases it" if node.pipe in others else "that another pipe holds"
            self._note(node, f"{node.op.name} gets a buffer on {node.pipe} {second}", all(held))
        others = (frozenset(each for each in one if each[0] is not node.pipe) for one in held)
        state[key] = frozenset(one | {(node.pipe, node)} for one in others)

    def _release(self, node: ReleaseBuffer, state: _State) -> None:
        if (key := self._key(node)) is None:
            return
        held = state.get(key, _FREE)
        lacking = [one for one in held if all(pipe is not node.pipe for pipe, _ in one)]
        if lacking:
            message = f"{node.op.name} releases a buffer on {node.pipe}, which does not hold it"
            self._note(node, message, len(lacking) == len(held))
        state[key] = frozenset(frozenset(each for each in one if each[0] is not node.pipe) for one in held)

    def _key(self, node: GetBuffer | ReleaseBuffer) -> _Key | None:
        """The buffer in the turn at hand; None where only the run knows it."""
        id_ = node.id
        if isinstance(id_, Periodic):
            turn = self.turns.get(id_.loop) if not id_.start else None
            id_ = None if turn is None else id_.values[turn % len(id_.values)]
        return (node.core, id_) if isinstance(id_, int | str) else None

    def _note(self, node: Node, message: str, always: bool) -> None:
        times = {loop: turn + 1 for loop, turn in self.turns.items()}
        self.found.setdefault((node, message), Misuse(node, message, always and self.is_certain, times))

    def _branch(self, node: BranchNode, state: _State) -> _State:
        condition = node.condition
        if isinstance(condition, Periodic) and not condition.start and condition.loop in self.turns:
            condition = condition.values[self.turns[condition.loop] % len(condition.values)]
        if isinstance(condition, int):
            return self.block(node.arms[0 if condition else 1], state)
        before, self.is_certain = self.is_certain, False
        first, second = (self.block(arm, dict(state)) for arm in node.arms)
        self.is_certain = before
        return _joined(first, second)

    def _loop(self, loop: LoopNode, state: _State) -> _State:
        """The first iterations are followed one by one; from then on each turn with all that ever came to it."""
        period = self.periods[loop.name]
        arrived: dict[int, _State] = {}
        behind, before = state, self.is_certain
        for count in islice(count_from(0), loop.most):
            turn = count % period
            known = arrived.get(turn)
            arrived[turn] = state if known is None else _joined(known, state)
            if arrived[turn] == known:
                break
            if count >= 2 * period:
                self.is_certain, state = False, arrived[turn]
            self.turns[loop.name] = count
            state = self.block(loop.body, dict(state))
            behind = _joined(behind, state)
        self.turns.pop(loop.name, None)
        self.is_certain = before
        return behind


def _joined(a: _State, b: _State) -> _State:
    return {key: a.get(key, _FREE) | b.get(key, _FREE) for key in {*a, *b}}


def _has_brackets(node: Node) -> bool:
    return any(isinstance(each, GetBuffer | ReleaseBuffer) for block in node.blocks() for each in block.walk())
