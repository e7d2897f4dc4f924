"""Waits without a token: stuck for ever, or in front of the set that will release them.

The scalar unit goes on while a pipe waits, so a set further down may come to its rescue: unless its pipe waits,
directly or through others, for the one that is held.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.names import Pipe
from ptosim.order.model import Flag, LoopNode, Node, OrderProgram, SetNode, WaitNode
from ptosim.order.number import Periodic


def is_stuck(program: OrderProgram, wait: WaitNode) -> bool:
    """Whether no set of the same flag can come behind a wait."""
    held, sets = {wait.destination}, list[SetNode]()
    if wait.destination is Pipe.S:
        return True
    for node in _following(program, wait):
        if isinstance(node, SetNode):
            if _is_same(node, wait) and node.source not in held:
                return False
            sets.append(node)
        elif isinstance(node, WaitNode):
            released = [each for each in sets if _is_same(each, node)]
            if released and released[-1].source in held:
                held.add(node.destination)
                if node.destination is Pipe.S:
                    return True
    return True


def _following(program: OrderProgram, wait: WaitNode) -> Iterator[Node]:
    """The nodes that may follow: the rest of each loop around it and the next iteration, then the code behind them."""
    nodes = list(program.body.walk())
    around = [node for node in nodes if isinstance(node, LoopNode) and any(each is wait for each in node.body.walk())]
    for loop in reversed(around):
        inside = list(loop.body.walk())
        at = inside.index(wait)
        yield from (*inside[at + 1 :], *inside[:at])
    last = list(around[0].body.walk())[-1] if around else wait
    yield from nodes[nodes.index(last) + 1 :]


def _is_same(a: Flag, b: Flag) -> bool:
    """Whether two flags may be the same one."""
    return (a.source, a.destination) == (b.source, b.destination) and bool(_ids(a) & _ids(b))


def _ids(flag: Flag) -> set[object]:
    if isinstance(flag.id, Periodic):
        return {value for value in flag.id.values if isinstance(value, int)}
    return {flag.id}
