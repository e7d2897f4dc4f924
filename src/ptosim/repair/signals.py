"""The edit that orders two cores of a cluster: a semaphore that one sets behind its access and the other waits for.

Each signal needs its wait. Loops that both programs run alike, with the same bounds from the outermost one inwards,
keep the two in step: the edit goes into these, in front of or behind whatever else surrounds the accesses. On a5 a
branch that tells the vector cores apart may be entered, because a signal names one of them; on a2a3 signals reach both.
The vector cores of an a5 cluster cannot signal each other: the cube core passes it on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ptosim.effects.names import CoreKind, Pipe
from ptosim.effects.sync import signalling
from ptosim.language.edits import Edit, insert, whole_line
from ptosim.language.micro.scope import Section, SectionCube
from ptosim.language.micro.system import GetSubblockIdx
from ptosim.language.operation import PTOOperation, core_of
from ptosim.language.structure.control import For, If
from ptosim.language.structure.function import Function
from ptosim.repair.free_ids import Taken
from ptosim.repair.proposal import Proposal
from ptosim.repair.written import flag_words
from ptosim.sanitize.conflict import Conflict, Party
from ptosim.sanitize.program import WrittenProgram
from ptosim.sanitize.same_loops import DEEPEST, run_alike, way
from ptosim.target import load_target

SIGNALLING = frozenset({Pipe.FIX, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.V})
HELPER = {"aic": Pipe.FIX, "aiv0": Pipe.MTE3, "aiv1": Pipe.MTE3}
"""The pipe that signals for S, which cannot."""

FreeEvent = Callable[[Pipe, Pipe, Taken], int | None]


@dataclass(frozen=True)
class _Side:
    """One of the two accesses, and what the edit stands next to."""

    party: Party
    op: Operation
    loops: tuple[For, ...]
    """The loops around `op` that the other side runs as well."""
    alone: bool
    """A branch that tells the vector cores apart lets only this one come here."""


@dataclass(frozen=True)
class _Exchange:
    """Instructions behind the first access, in front of the second, and on the cube core where it passes signals on."""

    put: tuple[str, ...]
    take: tuple[str, ...]
    relay: tuple[str, ...] = ()


class SignalRepair:
    """Finds edits with ids that neither the text nor the run have used."""

    def __init__(self, program: WrittenProgram, used: set[int], free_event: FreeEvent) -> None:
        self.program = program
        self.direct = program.target != "a2a3"
        sync = load_target(program.target).sync
        self.offset = sync.subblock_sem_offset
        written = {number % self.offset for number in map(_written, program.operations()) if number is not None}
        self.free = [number for number in range(sync.vector_semaphores) if number not in used | written]
        self.free_event = free_event

    def proposals(self, conflict: Conflict, taken: Taken) -> Iterator[Proposal]:
        """The edit with ids that are free."""
        found = self._signal(conflict, taken)
        if isinstance(found, Proposal):
            yield found

    def wish(self, conflict: Conflict) -> str | None:
        """In words what cannot be said more exactly; None where there is an edit."""
        found = self._signal(conflict, frozenset())
        return found if isinstance(found, str) else None

    def _signal(self, conflict: Conflict, taken: Taken) -> Proposal | str:
        first, second = conflict.first, conflict.second
        assert first is not None
        wish = f"signal from {first.role} {first.pipe} to {second.role} {second.pipe} with a semaphore"
        free = [number for number in self.free if ("semaphore", number) not in taken][:2]
        if len(free) < 2:
            return f"no semaphore is free: order {first.role} {first.pipe} before {second.role} {second.pipe}"
        sides = self._sides(first, second)
        if sides is None or any(side.party.pipe not in SIGNALLING | {Pipe.S} for side in sides):
            return wish
        relayed = self.direct and "aic" not in (first.role, second.role)
        places = self._relay_places(sides) if relayed else ()
        if relayed:
            sides = self._sides(first, second, len(places) - 1) if places else None
            if sides is None:
                return f"{wish}, which the cube core passes on as often as they run"
        exchange = self._exchange(*sides, free, taken)
        if exchange is None:
            return wish
        takes = frozenset(("semaphore", number) for number in free)
        return Proposal(tuple(self._placed(conflict, sides, exchange, places)), takes=takes)

    # --- what to add --------------------------------------------------------------------------------------------------

    def _exchange(self, first: _Side, second: _Side, free: Sequence[int], taken: Taken) -> _Exchange | None:
        one, other = free
        relay: tuple[str, ...] = ()
        if self.direct:
            to_cube, from_cube = self._ids(first, one), self._ids(second, other)
            relay = tuple(f"pto.wait_intra_block <PIPE_FIX>, {number}" for number in to_cube)
            relay += tuple(f"pto.set_intra_block <PIPE_FIX>, {number}" for number in from_cube)
            cube = "aic" in (first.party.role, second.party.role)
            puts = self._ids(second, one) if first.party.role == "aic" else (one,)
            takes = self._ids(first, one) if second.party.role == "aic" else (one if cube else other,)
            put = tuple(f"pto.set_intra_block <PIPE_{{}}>, {number}" for number in puts)
            take = tuple(f"pto.wait_intra_block <PIPE_{{}}>, {number}" for number in takes)
        elif "aic" in (first.party.role, second.party.role):
            put, take = (f"pto.set_cross_core <PIPE_{{}}>, {one}",), (f"pto.wait_flag_dev <PIPE_{{}}>, {one}",)
        else:
            pair = f"<PIPE_{{}}>, {one} {{{{ffts_mode = 1 : i32}}}}"
            put, take = (f"pto.sync.set {pair}",), (f"pto.sync.wait {pair}",)
        begun, ended = self._from(first.party, taken), self._to(second.party, taken)
        if begun is None or ended is None:
            return None
        put = (*begun, *(text.format(_signalling(first.party)) for text in put))
        take = (*(text.format(_signalling(second.party)) for text in take), *ended)
        return _Exchange(put, take, relay)

    def _ids(self, side: _Side, number: int) -> tuple[int, ...]:
        """The id, on the cube core of a5, of a semaphore that it shares with the vector cores that come to a place."""
        both = (number, number + self.offset)
        return (both[side.party.role == "aiv1"],) if side.alone else both

    def _from(self, party: Party, taken: Taken) -> tuple[str, ...] | None:
        """Edits that let a pipe signal for S: it must know that the stores have ended."""
        return () if party.pipe is not Pipe.S else self._flag(Pipe.S, HELPER[party.role], taken)

    def _to(self, party: Party, taken: Taken) -> tuple[str, ...] | None:
        """Edits that let S know of a signal that only holds a pipe."""
        return () if party.pipe is not Pipe.S or not self.direct else self._flag(HELPER[party.role], Pipe.S, taken)

    def _flag(self, source: Pipe, destination: Pipe, taken: Taken) -> tuple[str, ...] | None:
        event = self.free_event(source, destination, taken)
        return None if event is None else flag_words(source, destination, event)

    # --- where --------------------------------------------------------------------------------------------------------

    def _sides(self, first: Party, second: Party, most: int = DEEPEST) -> tuple[_Side, _Side] | None:
        """The places of the two in the innermost loops that both run, of so many at most."""
        ops = self.program.of(first.site), self.program.of(second.site)
        if ops[0] is None or ops[1] is None:
            return None
        ways = way(ops[0]), way(ops[1])
        walks = self._walk(first, ways[0], ways[1]), self._walk(second, ways[1], ways[0])
        depth = min(most, *(len(side.loops) for side in walks))
        one, other = self._walk(first, ways[0], ways[1], depth), self._walk(second, ways[1], ways[0], depth)
        return None if one.op is other.op and not depth else (one, other)

    def _walk(self, party: Party, ours: list[Operation], theirs: list[Operation], most: int = DEEPEST) -> _Side:
        """Enter the loops that the other side runs as well, and on a5 the branches that choose a vector core."""
        others = [op for op in theirs if isinstance(op, For)]
        loops: tuple[For, ...] = ()
        alone = False
        for op in ours:
            if isinstance(op, Section):
                continue
            if isinstance(op, If) and self.direct and _tells_core(op.cond, DEEPEST):
                alone = True
            elif isinstance(op, For) and len(loops) < min(len(others), most) and run_alike(op, others[len(loops)]):
                loops = (*loops, op)
            else:
                return _Side(party, op, loops, alone)
        return _Side(party, ours[-1], loops, alone)

    def _relay_places(self, sides: tuple[_Side, _Side]) -> tuple[Block, ...]:
        """The outermost block of the cube core's program, and the bodies of the loops that it runs alike."""
        block = next((block for op in self.program.operations() if (block := _cube_block(op)) is not None), None)
        places: list[Block] = []
        loops = iter(sides[0].loops)
        while block is not None:
            places.append(block)
            loop = next(loops, None)
            found = next((op for op in block.ops if loop and isinstance(op, For) and run_alike(op, loop)), None)
            block = found.body.block if found is not None else None
        return tuple(places)

    def _placed(
        self, conflict: Conflict, sides: tuple[_Side, _Side], exchange: _Exchange, places: tuple[Block, ...]
    ) -> list[Edit]:
        program = self.program
        first, second = sides
        edits = [program.before(second.op, text) for text in exchange.take]
        put = [program.after(first.op, text) for text in exchange.put]
        if not _is_carried(conflict, first, second):
            edits = [*put, *edits]
        else:
            prime = [program.before(first.loops[-1], f"{text}  // prime") for text in exchange.put]
            drain = [program.after(second.loops[-1], f"{text}  // drain") for text in exchange.take]
            edits = [*prime, *edits, *put, *drain]
            if places:
                edits += [self._at_the_end(places[-2], text) for text in exchange.relay]
        if places:
            edits += [self._at_the_end(places[-1], text) for text in exchange.relay]
        return edits

    def _at_the_end(self, block: Block, text: str) -> Edit:
        """Behind the last instruction of a block, or behind the line that opens it."""
        written = [op for op in block.ops if op.name not in ("scf.yield", "func.return")]
        opening = block.parent_op()
        assert opening is not None
        if written:
            return self.program.after(written[-1], text)
        return insert("after", whole_line(self.program.source, self.program.first_line(opening)), text)


def _is_carried(conflict: Conflict, first: _Side, second: _Side) -> bool:
    """Whether the edge leads into a later iteration. What is read is of the same one, unless the loops are one and the
    same, whose body has an order; what is overwritten in a later one has been used before."""
    if not first.loops:
        return False
    if first.loops == second.loops:
        return not first.op.is_before_in_block(second.op)
    loops, depth = (conflict.first and conflict.first.loops) or (), len(first.loops)
    return not conflict.reads_too_early and loops[:depth] != conflict.loops[:depth]


def _signalling(party: Party) -> Pipe:
    return HELPER[party.role] if party.pipe is Pipe.S else party.pipe


_SEMAPHORE_OPERATIONS = signalling("semaphore", "cross-block")


def _written(op: Operation) -> int | None:
    """The semaphore that an instruction names by a number."""
    if isinstance(op, PTOOperation) and op.name in _SEMAPHORE_OPERATIONS:
        return op.integer("id_literal")
    return None


def _cube_block(op: Operation) -> Block | None:
    if isinstance(op, SectionCube):
        return op.body.block
    return op.body.block if isinstance(op, Function) and core_of(op) is CoreKind.AIC else None


def _tells_core(value: SSAValue, depth: int) -> bool:
    """Whether a value is computed from the number of the vector core."""
    if not isinstance(value, OpResult) or not depth:
        return False
    return isinstance(value.op, GetSubblockIdx) or any(_tells_core(each, depth - 1) for each in value.op.operands)
