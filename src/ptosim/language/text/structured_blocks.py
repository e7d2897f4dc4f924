"""Regions of several blocks: `cf.br` and `cf.cond_br` are read and at once become the branches and loops of `scf`.

Everything behind the parser knows regions of one block only. A condition becomes an `scf.if` up to the block that both
ways lead to, a block that a branch leads back to becomes an `scf.while` that it decides. Other ways through the blocks,
such as a jump out of the middle of a loop, are not simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.dialects.builtin import IntAttr, StringAttr, i1
from xdsl.dialects.cf import BranchOp, ConditionalBranchOp, SwitchOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.lexer import Span

from ptosim.language.structure.control import Condition, If, Terminator, While, Yield
from ptosim.language.structure.scalar import Constant, XOrI
from ptosim.language.structure.scalar_cast import CmpI
from ptosim.language.text.located_parser import LocatedParser, Unsupported
from ptosim.language.types import element_of

BRANCHES = (BranchOp, ConditionalBranchOp, SwitchOp)
MOST_BLOCKS = 200
"""The most blocks of a region: the ways between more of them take long to follow."""

Values = Sequence[SSAValue]
Names = dict[SSAValue, SSAValue]
"""Names of a value elsewhere."""
Made = TypeVar("Made", bound=Operation)


def join_blocks(parser: LocatedParser, region: Region) -> None:
    """Make one block of the blocks of a region, where it has several."""
    if region.first_block is region.last_block and not (region.first_block and _successors(region.first_block)):
        return
    blocks = _Blocks(parser, list(region.blocks))
    whole = blocks.like(blocks.entry)
    blocks.write(blocks.entry, whole.args, whole)
    for block in list(region.blocks):
        region.erase_block(block, safe_erase=False)
    region.add_block(whole)


@dataclass
class _Blocks:
    """The blocks of a region and the ways between them."""

    parser: LocatedParser
    blocks: list[Block]
    heads: set[Block] = field(default_factory=set[Block])
    """Blocks that a later one branches back to: each decides a loop."""
    behind: dict[Block, frozenset[Block]] = field(default_factory=dict[Block, frozenset[Block]])
    """The blocks that every way from a block leads through, itself among them; a way back ends at its head."""
    written: set[Block] = field(default_factory=set[Block])

    def __post_init__(self) -> None:
        if len(self.blocks) > MOST_BLOCKS:
            raise Unsupported(self.parser.place_of(""), f"a region of more than {MOST_BLOCKS} blocks")
        for block in list(self.blocks):
            if isinstance(block.last_op, SwitchOp):
                self._compare_cases(block, block.last_op)
        self._end_once()
        self._visit(self.entry, ())
        if self.entry in self.heads:
            self.parser.raise_error("nothing branches to the first block of a region", self.parser.place_of(""))

    @property
    def entry(self) -> Block:
        return self.blocks[0]

    def _compare_cases(self, block: Block, switch: SwitchOp) -> None:
        """A switch is one comparison after the other, each with a block of its own."""
        numbers = [] if switch.case_values is None else list(switch.case_values.get_values())
        cases = zip(numbers, switch.case_blocks, switch.case_operand, strict=True)
        for number, target, operands in cases:
            bits = int(number) & ((1 << element_of(switch.flag.type).bits) - 1)
            literal = Constant.make({}, [switch.flag.type], {"bits": IntAttr(bits)})
            words = {"predicate": StringAttr("eq")}
            equal = CmpI.make({"lhs": switch.flag, "rhs": literal.result}, [i1], words)
            after = Block()
            ways = ConditionalBranchOp(equal.results[0], target, list(operands), after, [])
            if switch.parent_block() is block:
                switch.detach()
            for op in (literal, equal, ways):
                block.add_op(self._placed(op, switch))
            self.blocks.append(after)
            block = after
        if switch.parent_block() is block:
            switch.detach()
        block.add_op(self._placed(BranchOp(switch.default_block, *switch.default_operands), switch))
        switch.erase(safe_erase=False)

    # --- the ways -----------------------------------------------------------------------------------------------------

    def _end_once(self) -> None:
        """One block ends the region: where several do, they branch to a new one."""
        ends: list[Terminator] = []
        for block in self.blocks:
            end = block.last_op
            if isinstance(end, Terminator):
                ends.append(end)
            elif not isinstance(end, BRANCHES):
                place = self.parser.place_of("") if end is None else self._span(end)
                self.parser.raise_error("a block must end with a branch or with the end of the region", place)
        if len(ends) < 2:
            return
        for end in ends:
            if type(end) is not type(ends[0]):
                self.parser.raise_error(f"another block of the region ends with {ends[0].name}", self._span(end))
        exit_ = Block(arg_types=[value.type for value in ends[0].operands])
        exit_.add_op(self._placed(type(ends[0]).make({"arguments": exit_.args}), ends[0]))
        self.blocks.append(exit_)
        for end in ends:
            block = end.parent_block()
            assert block is not None
            block.add_op(self._placed(BranchOp(exit_, *end.operands), end))
            _drop(end)

    def _visit(self, block: Block, path: tuple[Block, ...]) -> None:
        """Learn what lies behind a block, coming from the entry by a path."""
        path = (*path, block)
        ways: dict[Block, frozenset[Block]] = {}
        for after in _successors(block):
            if after in path:
                self.heads.add(after)
                ways[after] = frozenset({after})
            elif after not in self.behind:
                self._visit(after, path)
            ways.setdefault(after, self.behind.get(after, frozenset()))
        if block in self.heads:  # what is behind a loop is behind the way out of it
            ways = {after: way for after, way in ways.items() if block not in way}
        common = frozenset[Block].intersection(*ways.values()) if ways else frozenset[Block]()
        self.behind[block] = common | {block}

    def _loop_of(self, head: Block) -> set[Block]:
        """The blocks from which a way leads back to a head, before it leads anywhere else."""
        found, grown = {head}, True
        while grown:
            more = {one for one in self.blocks if one in self.behind and found & {*_successors(one)}} - found
            more = {one for one in more if found & self.behind[one]}  # a way back in a loop inside ends at its own head
            grown, found = bool(more), found | more
        return found

    # --- writing ------------------------------------------------------------------------------------------------------

    def write(self, block: Block, given: Values, out: Block, stop: Block | None = None) -> Values:
        """Write what happens from a block on, up to another; gives what is handed to that one."""
        while block is not stop:
            if block in self.written:
                message = "a block of this region is reached by other ways than those of ifs and loops"
                raise Unsupported(self.parser.place_of(""), message)
            self.written.add(block)
            end = block.last_op
            assert end is not None
            if block in self.heads:
                block, given = self._loop(block, end, given, out)
                continue
            _move(block, given, out)
            match end:
                case BranchOp():
                    block, given = end.successor, self._handed(end, end.arguments, end.successor)
                case ConditionalBranchOp():
                    block, given = self._branch(block, end, out)
                case _:
                    end.detach()
                    out.add_op(end)
                    return ()
            _drop(end)
        return given

    def _branch(self, block: Block, end: ConditionalBranchOp, out: Block) -> tuple[Block, Values]:
        """A condition, up to the block where both ways meet."""
        common = self.behind[block] - {block}
        meeting = next((one for one in common if common <= self.behind.get(one, common)), None)
        if meeting is None:
            raise Unsupported(self._span(end), "two ways that do not meet again")
        arms = (Block(), Block())
        for arm, (target, arguments) in zip(arms, _sides(end), strict=True):
            handed = self.write(target, self._handed(end, arguments, target), arm, meeting)
            arm.add_op(self._placed(Yield.make({"arguments": handed}), end))
        types, regions = [argument.type for argument in meeting.args], [Region(arm) for arm in arms]
        branch = self._placed(If.make({"cond": end.cond}, types, regions=regions), end)
        out.add_op(branch)
        self._call(branch.results, meeting.args)
        return meeting, branch.results

    def _loop(self, head: Block, end: Operation, given: Values, out: Block) -> tuple[Block, Values]:
        """A loop that its head decides. What the head makes is passed on to the body, and out of the loop."""
        within = self._loop_of(head)
        goes_on = [target in within for target, _ in _sides(end)] if isinstance(end, ConditionalBranchOp) else []
        if not isinstance(end, ConditionalBranchOp) or goes_on[0] == goes_on[1]:
            raise Unsupported(self._span(end), "a loop whose first block does not decide whether it goes on")
        deciding = self.like(head)
        _move(head, deciding.args, deciding)
        made: list[SSAValue] = [*deciding.args, *(result for op in deciding.ops for result in op.results)]
        passed = [value for value in made if self._is_passed_on(value, end)]
        body = Block(arg_types=[value.type for value in passed])
        condition = self._condition(end, goes_on[1], deciding)
        deciding.add_op(self._placed(Condition.make({"condition": condition, "arguments": passed}), end))
        types = [value.type for value in passed]
        loop = While.make({"arguments": given}, types, regions=[Region(deciding), Region(body)])
        out.add_op(self._placed(loop, end))
        self._call(body.args, passed)
        self._call(loop.results, passed)
        inner: Names = dict[SSAValue, SSAValue](zip(passed, body.args, strict=True))
        outer: Names = dict[SSAValue, SSAValue](zip(passed, loop.results, strict=True))
        (entry, entered), (after, left) = _sides(end)[:: -1 if goes_on[1] else 1]
        entered = [inner.get(value, value) for value in self._handed(end, entered, entry)]
        left = [outer.get(value, value) for value in self._handed(end, left, after)]
        _drop(end)
        self._pass_on(within, inner, outer)
        again = self.write(entry, entered, body, head)
        body.add_op(self._placed(Yield.make({"arguments": again}), loop))
        return after, left

    def _condition(self, end: ConditionalBranchOp, negated: bool, deciding: Block) -> SSAValue:
        if not negated:
            return end.cond
        true = self._placed(Constant.make({}, [i1], {"bits": IntAttr(1)}), end)
        turned = self._placed(XOrI.make({"lhs": end.cond, "rhs": true.results[0]}, [i1]), end)
        deciding.add_ops([true, turned])
        return turned.results[0]

    def _is_passed_on(self, value: SSAValue, end: Operation) -> bool:
        """Whether somebody else than the head of a loop takes a value; its end takes the condition first."""
        return any(
            self._block_of(use.operation) is not None and (use.operation is not end or use.index > 0)
            for use in value.uses
        )

    def _pass_on(self, within: set[Block], inner: Names, outer: Names) -> None:
        """Passes the results of a loop's head on to the body and to the code behind the loop, under other names."""
        for value in inner:
            for use in list(value.uses):
                block = self._block_of(use.operation)
                if block is not None:
                    use.operation.operands[use.index] = (inner if block in within else outer)[value]

    def _block_of(self, op: Operation) -> Block | None:
        """The block of the region that an operation still stands in."""
        block = op.parent_block()
        while block is not None and block not in self.blocks:
            parent = block.parent_op()
            block = parent.parent_block() if parent is not None else None
        return block

    # --- what is made -------------------------------------------------------------------------------------------------

    def like(self, block: Block) -> Block:
        """An empty block that takes what another one does."""
        made = Block(arg_types=[argument.type for argument in block.args])
        self._call(made.args, block.args)
        return made

    def _call(self, values: Values, others: Values) -> None:
        """Values have the names of others, and stand where those are defined."""
        for value, other in zip(values, others, strict=True):
            value.name_hint = other.name_hint
            if other in self.parser.definitions:
                self.parser.definitions[value] = self.parser.definitions[other]

    def _handed(self, end: Operation, values: Values, target: Block) -> list[SSAValue]:
        """Values that a branch hands to a block; their types have to fit."""
        if [value.type for value in values] != [argument.type for argument in target.args]:
            wanted = ", ".join(str(argument.type) for argument in target.args)
            self.parser.raise_error(f"the block that {end.name} leads to takes ({wanted})", self._span(end))
        return list(values)

    def _span(self, op: Operation) -> Span:
        return self.parser.positions[op].name

    def _placed(self, made: Made, other: Operation) -> Made:
        """An operation that stands where another one was written."""
        self.parser.positions[made] = self.parser.positions[other]
        return made


def _successors(block: Block) -> Sequence[Block]:
    return block.last_op.successors if block.last_op is not None else ()


def _sides(end: ConditionalBranchOp) -> tuple[tuple[Block, Values], tuple[Block, Values]]:
    return (end.then_block, end.then_arguments), (end.else_block, end.else_arguments)


def _move(block: Block, given: Values, out: Block) -> None:
    """Put the operations of a block, all but its end, behind those of another."""
    for argument, value in zip(block.args, given, strict=True):
        argument.replace_all_uses_with(value)
    for op in list(block.ops)[:-1]:
        op.detach()
        out.add_op(op)


def _drop(op: Operation) -> None:
    op.detach()
    op.erase(safe_erase=False)
