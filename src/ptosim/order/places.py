"""Where the nodes of a program are: the blocks and loops around each, and what two of them have in common."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.order.model import Block, Loop, Node, Program


class Places:
    """Where the nodes of a program are."""

    def __init__(self, program: Program) -> None:
        self.block_of: dict[Node, Block] = {}
        self.node_around: dict[Block, Node] = {}
        self.innermost: dict[Block, Loop | None] = {}
        self.own: dict[Pipe, int] = dict.fromkeys(Pipe, 0)
        self.inside: dict[int, int] = dict.fromkeys(program.loops, 0)
        """The entries in each loop."""
        self.loops: dict[Block, tuple[Loop, ...]] = {}
        self._enter(program.body, ())
        for entry in program.entries:
            self.own[entry.pipe] |= 1 << entry.number
            for loop in entry.loops:
                self.inside[loop] |= 1 << entry.number

    def _enter(self, block: Block, loops: tuple[Loop, ...]) -> None:
        self.loops[block] = loops
        self.innermost[block] = loops[-1] if loops else None
        for node in block.nodes:
            self.block_of[node] = block
            for inner in node.blocks():
                self.node_around[inner] = node
                self._enter(inner, (*loops, node) if isinstance(node, Loop) else loops)

    def is_inside(self, block: Block, loop: Loop) -> bool:
        return loop in self.loops[block]

    def chain(self, node: Node) -> list[tuple[Block, Node]]:
        """The blocks around a node, outermost first, each with the node of it that the way leads through."""
        found: list[tuple[Block, Node]] = []
        while True:
            block = self.block_of[node]
            found.append((block, node))
            if block not in self.node_around:
                return found[::-1]
            node = self.node_around[block]

    def in_common(self, a: Node, b: Node) -> tuple[Block, Node, Node]:
        """The innermost block around two nodes, and the nodes of it that hold them."""
        shared = [
            (block, x, y)
            for (block, x), (other, y) in zip(self.chain(a), self.chain(b), strict=False)
            if block is other
        ]
        return shared[-1]

    def child(self, block: Block, node: Node) -> Node:
        """The node of a block that holds a node."""
        return next(inner for around, inner in self.chain(node) if around is block)
