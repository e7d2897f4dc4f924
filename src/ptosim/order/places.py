"""Places of the nodes of a program: the blocks and loops around each, and those that two of them share."""

from __future__ import annotations

from itertools import count

from ptosim.effects.names import Pipe
from ptosim.order.model import BranchNode, LoopNode, Node, NodeBlock, OrderProgram


class Places:
    """The places of the nodes of a program."""

    def __init__(self, program: OrderProgram) -> None:
        self.block_of: dict[Node, NodeBlock] = {}
        self.node_around: dict[NodeBlock, Node] = {}
        self.innermost: dict[NodeBlock, LoopNode | None] = {}
        self.own = [dict.fromkeys(Pipe, 0) for _ in range(program.cores)]
        """By cores, the entries of each pipe."""
        self.inside: dict[int, int] = dict.fromkeys(program.loops, 0)
        """The entries in each loop."""
        self.loops: dict[NodeBlock, tuple[LoopNode, ...]] = {}
        self.arms: dict[NodeBlock, dict[LoopNode, NodeBlock]] = {}
        """For each block the arms around it, by the loop in which they are taken in one run of iterations."""
        self.runs: dict[LoopNode, list[tuple[BranchNode, NodeBlock]]] = {}
        """The arms of each such loop."""
        self._enter(program.body, (), {})
        for entry in program.entries:
            self.own[entry.core][entry.pipe] |= 1 << entry.number
            for loop in entry.loops:
                self.inside[loop] |= 1 << entry.number
        self._members = count(len(program.entries))

    def new_member(self) -> int:
        """A set of one thing more that is followed like an entry."""
        return 1 << next(self._members)

    def follow(self, wait: Node, pipe: Pipe) -> int:
        """Likewise, where it is a wait of a pipe."""
        member = self.new_member()
        self.own[wait.core][pipe] |= member
        for loop in self.loops[self.block_of[wait]]:
            self.inside[loop.name] |= member
        return member

    def _enter(self, block: NodeBlock, loops: tuple[LoopNode, ...], arms: dict[LoopNode, NodeBlock]) -> None:
        self.loops[block] = loops
        self.arms[block] = arms
        self.innermost[block] = loops[-1] if loops else None
        for node in block.nodes:
            self.block_of[node] = block
            for inner in node.blocks():
                self.node_around[inner] = node
                within = arms
                if isinstance(node, BranchNode) and loops and block is loops[-1].body and node.run == loops[-1].name:
                    self.runs.setdefault(loops[-1], []).append((node, inner))
                    within = arms | {loops[-1]: inner}
                self._enter(inner, (*loops, node) if isinstance(node, LoopNode) else loops, within)

    def arm(self, block: NodeBlock, loop: LoopNode | None) -> NodeBlock | None:
        """The arm around a block that is taken in one run of iterations of a loop."""
        return self.arms[block].get(loop) if loop is not None else None

    def chain(self, node: Node) -> list[tuple[NodeBlock, Node]]:
        """The blocks around a node, outermost first, each with the node of it that the way leads through."""
        found: list[tuple[NodeBlock, Node]] = []
        while True:
            block = self.block_of[node]
            found.append((block, node))
            if block not in self.node_around:
                return found[::-1]
            node = self.node_around[block]

    def in_common(self, a: Node, b: Node) -> tuple[NodeBlock, Node, Node]:
        """The innermost block around two nodes, and the nodes of it that hold them."""
        shared = [
            (block, x, y)
            for (block, x), (other, y) in zip(self.chain(a), self.chain(b), strict=False)
            if block is other
        ]
        return shared[-1]

    def child(self, block: NodeBlock, node: Node) -> Node:
        """The node of a block that holds a node."""
        return next(inner for around, inner in self.chain(node) if around is block)
