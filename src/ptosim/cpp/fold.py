"""Repeated operations of a recording become loops, exactly: unfolding gives the recording back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST_PERIOD = 512
"""Operations and loops in the body of a loop that is looked for."""

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class FoldedStep:
    """One operation of the recording: which it is among the different ones."""

    symbol: int


@dataclass(frozen=True)
class FoldedLoop:
    """A body that is repeated."""

    count: int
    body: tuple[Node, ...]


Node = FoldedStep | FoldedLoop


class _Nodes:
    """Nodes by number, equal ones once; steps come first."""

    def __init__(self, symbols: int) -> None:
        self.symbols = symbols
        self.loops: list[tuple[int, tuple[int, ...]]] = []
        self._numbers: dict[tuple[int, tuple[int, ...]], int] = {}

    def loop(self, count: int, body: tuple[int, ...]) -> int:
        if len(body) == 1 and body[0] >= self.symbols:  # a loop of nothing but a loop
            inner, body = self.loops[body[0] - self.symbols]
            count *= inner
        key = count, body
        if key not in self._numbers:
            self._numbers[key] = self.symbols + len(self.loops)
            self.loops.append(key)
        return self._numbers[key]

    def node(self, number: int) -> Node:
        if number < self.symbols:
            return FoldedStep(number)
        count, body = self.loops[number - self.symbols]
        return FoldedLoop(count, tuple(map(self.node, body)))


def fold(sequence: Ids) -> tuple[Node, ...]:
    """The shortest bodies first, so that inner loops are found before outer ones."""
    ids = sequence
    nodes = _Nodes(int(ids.max()) + 1 if len(ids) else 0)
    changed = True
    while changed:
        changed = False
        period = 1
        while period <= min(LONGEST_PERIOD, len(ids) // 2):
            shorter = _repeated(ids, period, nodes)
            if shorter is not None:
                ids, changed = shorter, True
            period += 1
    return tuple(nodes.node(int(number)) for number in ids)


def _repeated(ids: Ids, period: int, nodes: _Nodes) -> Ids | None:
    """The sequence with each run of equal neighbours of this length as one loop; None where there is none."""
    equal = ids[:-period] == ids[period:]
    if np.count_nonzero(equal) < period:
        return None
    edges = np.flatnonzero(np.diff(np.concatenate(([False], equal, [False])).astype(np.int8)))
    pieces, done = list[Ids](), 0
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        start = max(first, done)
        count = (end - start + period) // period
        if end - start < period or count < 2:
            continue
        body = tuple(ids[start : start + period].tolist())
        pieces += [ids[done:start], np.array([nodes.loop(count, body)])]
        done = start + count * period
    return np.concatenate([*pieces, ids[done:]]) if pieces else None


def unfolded(nodes: Sequence[Node]) -> Iterator[int]:
    """The symbols again."""
    for node in nodes:
        if isinstance(node, FoldedStep):
            yield node.symbol
        else:
            inner = list(unfolded(node.body))
            for _ in range(node.count):
                yield from inner


def length(node: Node) -> int:
    """The number of operations of the recording that a node stands for."""
    return 1 if isinstance(node, FoldedStep) else node.count * sum(map(length, node.body))
