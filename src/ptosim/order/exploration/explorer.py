"""Explores all states of the program of one core: a proof where it comes to an end and nothing is wrong in any.

It follows flags, buffers and barriers beside copies, products and vector scopes; what it cannot follow ends it. Which
bytes of GM meet is asked of the closed forms; bytes on the chip are those that are touched in the state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import cast

from xdsl.ir import Block, Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.effects.names import PIPES_OF, CoreKind, Pipe
from ptosim.effects.sync import signalling
from ptosim.language.analysis.scalar_rules import is_number
from ptosim.language.load import VerifiedModule
from ptosim.language.micro import pointer, sync, sync_token
from ptosim.language.micro.scope import Section, StrictVecScope
from ptosim.language.micro.sim_signal import SimNotify, SimTestWords, SimWaitWords
from ptosim.language.micro.sync_fence import Dsb, FenceBarrierAll
from ptosim.language.operation import PTOOperation, is_scope
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.structure.control import For, If, Yield
from ptosim.language.structure.function import Call, Function, Return, reached
from ptosim.language.structure.scalar import Constant
from ptosim.language.tile.tile_local import DeclareLocalArray, LocalArrayGet, LocalArraySet
from ptosim.language.tile.tile_sync import DeclareEventIdArray, EventIdArrayGet, EventIdArraySet
from ptosim.language.types import element_of
from ptosim.order import read_program
from ptosim.order.exploration import turning_numbers as turning
from ptosim.order.exploration.explored_state import ExploredState, SeenStates
from ptosim.order.exploration.explored_work import ExploredTouch, Members
from ptosim.order.exploration.scalar_values import Counting, Numbering, computed, divisor
from ptosim.order.exploration.turning_numbers import ANY, Turning, TurningNumber
from ptosim.order.model import OrderProgram
from ptosim.order.replay.scalar_run import ReplayLaunch
from ptosim.order.replay.touched_bytes import PlainOperands, Touched, touched_by
from ptosim.order.replay.vector_scope import ScopeReader

MOST_STEPS = 1 << 15
"""Entries, and what synchronises them, over all states."""
MOST_BEGINNINGS = 64
"""Remainders of arguments, in all combinations."""
MOST_EXACT = 16
"""Iterations of a loop that runs a known number of times, each followed for itself."""
IDS, BUFFERS = 8, 32
_ELSEWHERE = (SimNotify, SimWaitWords, SimTestWords, SimtLaunch)
"""The doings of other blocks, ranks and workitems, which are not followed."""

States = list[ExploredState]


class Unexplored(Exception):
    """The exploration cannot go on, or something is wrong in a state that it came to."""


def explored(module: VerifiedModule, function: Function, kind: CoreKind, program: OrderProgram) -> int:
    """In how many steps all states of a program were seen, if all are in order, else 0."""
    if any(isinstance(op, _ELSEWHERE) for op in reached(function)):
        return 0
    explorer = Explorer(module, function, kind, program)
    return MOST_STEPS - explorer.left if explorer.is_in_order() else 0


class Explorer:
    def __init__(self, module: VerifiedModule, function: Function, kind: CoreKind, program: OrderProgram) -> None:
        self.module, self.function, self.kind, self.program = module, function, kind, program
        self.members = Members(program)
        self.pipes = [*PIPES_OF[kind], Pipe.S]
        self.numbering = Numbering(function)
        self.counting = Counting(function, self.numbering)
        self.scopes = ScopeReader(module)
        self.left, self.unites = MOST_STEPS, True
        self._defined: dict[Block, set[SSAValue]] = {}

    def is_in_order(self) -> bool:
        """Whether all states were seen, and nothing is out of order in any."""
        try:
            begin = ExploredState(open=dict.fromkeys(self.pipes, 0))
            for state in self.block(self.function.body.block, self._begun(begin)):
                if state.tokens or state.held:
                    return False
        except Unexplored:
            return False
        return True

    def _begun(self, state: ExploredState) -> States:
        """Pointers lie far apart. Integers that ids are counted from: one state for each remainder."""
        state.values.update(ReplayLaunch((None,) * len(self.function.body.block.args)).arguments(self.function))
        state.values = {value: at for value, at in state.values.items() if at is not None}
        states = [state]
        for value in self.function.body.block.args:
            period = self.counting.period(value)
            if period > MOST_BEGINNINGS:
                raise Unexplored
            if is_number(value) and period > 1:
                rests = [turning.turning(rest, period, 0) for rest in range(period)]
                states = [self._with(each, value, rest) for each in states for rest in rests]
            if len(states) > MOST_BEGINNINGS:
                raise Unexplored
        return states

    def _with(self, state: ExploredState, value: SSAValue, number: Turning) -> ExploredState:
        copy = state.copy()
        copy.values[value] = number
        return copy

    # --- blocks -------------------------------------------------------------------------------------------------------

    def block(self, block: Block, states: States) -> States:
        for op in block.ops:
            states = self._operation(op, states)
        return states

    def _left(self, block: Block, states: States) -> States:
        """Behind a block, what it has computed is of no use any more."""
        gone = {result for op in block.ops for result in op.results} | set(block.args)
        for state in states:
            state.values = {value: number for value, number in state.values.items() if value not in gone}
        return states

    def _distinct(self, states: Iterable[ExploredState]) -> States:
        return list(SeenStates(self.unites, ((None, state) for state in states)).states.values())

    def _operation(self, op: Operation, states: States) -> States:
        match op:
            case Constant() | Yield() | Return() | Dsb():
                return states
            case Section():
                return self.block(op.body.block, states) if op.core is self.kind else states
            case For() if not is_scope(op):
                return self._distinct(self._loop(op, states))
            case If():
                return self._distinct(each for state in states for each in self._branch(op, state))
            case _ if op.name.startswith("arith."):
                return [each for state in states for each in self._computed(op, state)]
            case _:
                step = self._step(op)
                self._spend(len(states))
                if step is not None:
                    for state in states:
                        step(state)
                return states

    def _step(self, op: Operation) -> Callable[[ExploredState], None] | None:
        if is_scope(op):
            return (lambda state: self._scope(op, state)) if self.kind is CoreKind.AIV else None
        for kinds, made in _STEPS:
            if isinstance(op, kinds):
                return lambda state: made(self, cast("PTOOperation", op), state)
        record = effects().get(op.name)
        if op.regions or isinstance(op, Call) or op.name in read_program.SIGNALS:
            raise Unexplored
        if not isinstance(op, PTOOperation) or record is None or self.kind not in op.core_kinds():
            return None
        accesses = record.accesses(self.module.static(op))
        if accesses and record.pipe is Pipe.S:
            raise Unexplored
        if accesses and record.pipe in PIPES_OF[self.kind]:
            return lambda state: self._work(op, state)
        if record.timing == "sync":
            raise Unexplored
        return None

    # --- control ------------------------------------------------------------------------------------------------------

    def _branch(self, op: If, state: ExploredState) -> Iterator[ExploredState]:
        for decided, each in self._decided(op.cond, state):
            arm = op.true_region if decided else op.false_region
            for behind in self.block(arm.block, [each]):
                given = [self.value(value, behind) for value in self._end(arm.block)]
                self._left(arm.block, [behind])
                behind.values.update(zip(op.results, given, strict=False))
                yield behind

    def _end(self, block: Block) -> list[SSAValue]:
        return list(block.last_op.operands) if block.last_op is not None else []

    def _decided(self, condition: SSAValue, state: ExploredState) -> list[tuple[bool, ExploredState]]:
        """Both ways, unless it is known which one is gone."""
        known = self.value(condition, state)
        if isinstance(known, int):
            return [(bool(known), state)]
        name, contrary = self.numbering.name(condition)
        if (before := state.decided.get(name)) is not None:
            return [(before is not contrary, state)]
        other = state.copy()
        state.decided[name], other.decided[name] = not contrary, contrary
        return [(True, state), (False, other)]

    def _loop(self, op: For, states: States) -> Iterator[ExploredState]:
        for state in states:
            first, end, step = (self.value(value, state) for value in (op.lb, op.ub, op.step))
            if not isinstance(step, int) or step < 1:
                step = ANY
            if isinstance(first, int) and isinstance(end, int) and isinstance(step, int):
                yield from self._iterated(op, state, first, step, len(range(first, end, step)))
                continue
            name = self.numbering.of_bounds(op.lb, op.ub)
            for runs in (True, False) if name not in state.decided else (state.decided[name],):
                each = state.copy()
                each.decided[name] = runs
                yield from self._iterated(op, each, first, step, None if runs else 0)

    def _iterated(
        self, op: For, state: ExploredState, first: Turning, step: Turning, times: int | None
    ) -> Iterator[ExploredState]:
        """All numbers of iterations, at least one; or so many as are known."""
        body = op.body.block
        index, *carried = body.args
        period, cutoff = self.counting.period(index), self.counting.cutoff(index)
        given = [self.value(value, state) for value in op.iter_args]
        state.values.update(zip(carried, given, strict=True))
        if times == 0:
            yield self._behind(op, state)
            return
        is_exact = times is not None and times <= MOST_EXACT
        seen = SeenStates(self.unites)
        open_ = deque([(0, state)])
        while open_:
            turn, here = open_.popleft()
            self._spend(1)
            self._forget(body, here)
            met = seen.add(turn, here)
            if met is None:
                continue
            here = met.copy()
            is_known = is_exact or turn < cutoff
            number = turn if is_known else turning.turning(turn, period, cutoff)
            here.values[index] = turning.add(first, turning.multiply(number, step))
            for behind in self._distinct(self.block(body, [here])):
                passed = [self.value(value, behind) for value in self._end(body)]
                self._left(body, [behind])
                behind.values.update(zip(carried, passed, strict=True))
                behind.rename(self.members.aged(op, behind.running))
                if is_exact:
                    following = turn + 1
                    may_end = following == times
                else:
                    following = turn + 1 if turn + 1 < cutoff + period else cutoff
                    is_late = turn + 1 >= cutoff
                    may_end = times is None or (is_late and (following - times) % period == 0)
                if may_end:
                    yield self._behind(op, behind.copy())
                if not is_exact or following < (times or 0):
                    open_.append((following, behind))

    def _behind(self, op: For, state: ExploredState) -> ExploredState:
        carried = op.body.block.args[1:]
        state.values.update(zip(op.results, [state.values.pop(value, ANY) for value in carried], strict=True))
        self._forget(op.body.block, state)
        return state

    def _forget(self, body: Block, state: ExploredState) -> None:
        """Forgets the decisions of an iteration for the next one."""
        if state.decided:
            own = self._inside(body)
            state.decided = {
                name: way for name, way in state.decided.items() if own.isdisjoint(self.numbering.sources(name))
            }

    def _inside(self, body: Block) -> set[SSAValue]:
        found = self._defined.get(body)
        if found is None:
            results = (each for op in body.walk() for each in op.results)
            found = self._defined[body] = set[SSAValue](chain(body.args, results))
        return found

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, value: SSAValue, state: ExploredState) -> Turning:
        found = state.values.get(value)
        if found is not None:
            return cast("Turning", found)
        literal = constant_of(value)
        return ANY if literal is None else literal

    def _computed(self, op: Operation, state: ExploredState) -> list[ExploredState]:
        result = op.results[0]
        if not is_number(result):
            return [state]
        if op.name == "arith.select":
            ways = self._decided(op.operands[0], state)
            for decided, each in ways:
                each.values[result] = self.value(op.operands[1 if decided else 2], each)
            return [each for _, each in ways]
        found = computed(op, [self.value(value, state) for value in op.operands])
        if found is not None:
            state.values[result] = found
            return [state]
        by = divisor(op)
        return [state] if by is None else self._remainders(result, by, state)

    def _remainders(self, result: SSAValue, by: int, state: ExploredState) -> list[ExploredState]:
        """One state for each remainder, the same wherever the same is divided."""
        name, _ = self.numbering.name(result)
        known = state.decided.get(name)
        states: list[ExploredState] = []
        self._spend(by if known is None else 0)
        for rest in range(by) if known is None else (known,):
            copy = state.copy()
            copy.decided[name] = copy.values[result] = rest
            states.append(copy)
        return states

    def _spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise Unexplored

    def cast_pointer(self, op: Operation, state: ExploredState) -> None:
        state.values[op.results[0]] = self.value(op.operands[0], state)

    def add_pointer(self, op: Operation, state: ExploredState) -> None:
        base, by = (self.value(value, state) for value in op.operands)
        width = element_of(op.operands[0].type).bytes
        state.values[op.results[0]] = turning.add(base, turning.multiply(by, width))

    def declare(self, op: Operation, state: ExploredState) -> None:
        state.arrays[op.results[0]] = {}

    def get(self, op: LocalArrayGet | EventIdArrayGet, state: ExploredState) -> None:
        array, *indices = op.operands
        at = tuple(self.value(index, state) for index in indices)
        known = all(isinstance(each, int) for each in at)
        state.values[op.results[0]] = state.arrays[array].get(at, 0) if known and array in state.arrays else ANY

    def put(self, op: LocalArraySet | EventIdArraySet, state: ExploredState) -> None:
        array, *indices, value = op.operands
        at = tuple(self.value(index, state) for index in indices)
        if array not in state.arrays or not all(isinstance(each, int) for each in at):
            raise Unexplored
        state.arrays[array][at] = self.value(value, state)

    # --- work ---------------------------------------------------------------------------------------------------------

    def _work(self, op: PTOOperation, state: ExploredState) -> None:
        record = effects().get(op.name)
        assert record is not None
        given = {value: self.value(value, state) for value in op.operands}
        known = {value: number for value, number in given.items() if isinstance(number, int)}
        found: list[ExploredTouch] = []
        for access in record.accesses(self.module.static(op)):
            base = op.segment(access.base)[0]
            at = given.get(base)
            every = at.period if isinstance(at, TurningNumber) and at.period > 1 else 0
            counted = known | {base: at.rest} if isinstance(at, TurningNumber) and every else known
            if (touched := touched_by(op, access, PlainOperands(op, counted))) is not None:
                found.append(_explored(touched, every))
        self._start(op, tuple(found), state)

    def _scope(self, op: Operation, state: ExploredState) -> None:
        known = {value: number for value, number in state.values.items() if isinstance(number, int)}
        values = known | self._literals
        if isinstance(op, StrictVecScope):
            given = [self.value(value, state) for value in op.arguments]
            values |= {a: v for a, v in zip(op.body.block.args, given, strict=False) if isinstance(v, int)}
        self._start(op, tuple(_explored(each, 0) for each in self.scopes.touched(op, values)), state)

    @cached_property
    def _literals(self) -> dict[SSAValue, int]:
        found = ((op.results[0], constant_of(op.results[0])) for op in self.function.walk() if op.results)
        return {value: number for value, number in found if number is not None}

    def _start(self, op: Operation, touched: tuple[ExploredTouch, ...], state: ExploredState) -> None:
        entry = self.members.entries.get(op)
        if entry is None:
            if touched:
                raise Unexplored
            return
        member, pipe = self.members.work(entry, touched), entry.pipe
        is_serial = pipe in self.program.serial
        running = state.known_to(pipe) & ~(self.members.own.get(pipe, 0) if is_serial else 0)
        if running & self.members.conflicts(member):
            raise Unexplored
        state.start(member, [other for other in self.pipes if other is not pipe or not is_serial])

    # --- synchronisation ----------------------------------------------------------------------------------------------

    def _pipe(self, op: PTOOperation, role: str) -> Pipe:
        pipe = sync.pipe_of(op, role)
        if pipe is None or (pipe not in self.pipes and pipe is not Pipe.ALL):
            raise Unexplored
        return pipe

    def _id(self, op: PTOOperation, state: ExploredState) -> int | str:
        if (event := op.word("event") if "event" in op.property_roles else None) is not None:
            return int(event.removeprefix("EVENT_ID"))
        if "number" in op.property_roles:
            return f"token {op.facts()['number']}"
        number = self.value(op.segment("event")[0], state)
        if not isinstance(number, int) or not 0 <= number < IDS:
            raise Unexplored
        return number

    def flag(self, op: PTOOperation, state: ExploredState) -> None:
        source, destination, id_ = self._pipe(op, "source"), self._pipe(op, "destination"), self._id(op, state)
        key = source, destination, id_
        wait = self.members.of(("wait", *key), destination)
        if op.name in _SETS:
            known = state.known_to(source) & ~self.members.own.get(source, 0)
            if key in state.tokens or known & wait:  # the one before may not have been taken
                raise Unexplored
            state.tokens[key] = known
            return
        if key not in state.tokens:
            raise Unexplored
        state.open[destination] = state.known_to(destination) & state.tokens.pop(key)
        state.start(wait, [other for other in self.pipes if other is not destination])

    def buffer(self, op: sync.BufferOperation, state: ExploredState) -> None:
        pipe = self._pipe(op, "pipe")
        id_ = op.integer("id_literal") if op.id is None else self.value(op.id, state)
        mode = (op.integer("mode_literal") or 0) if op.mode is None else self.value(op.mode, state)
        if not isinstance(id_, int) or not 0 <= id_ < BUFFERS or mode != 0:
            raise Unexplored
        key = pipe, id_
        if isinstance(op, sync.GetBuf):
            if any(held == id_ for _, held in state.held):
                raise Unexplored
            state.held |= {key}
            for (other, released), members in state.releases.items():
                if released == id_ and other is not pipe:
                    state.open[pipe] = state.known_to(pipe) & members
            return
        if key not in state.held:
            raise Unexplored
        state.held -= {key}
        state.releases[key] = state.known_to(pipe) & ~self.members.own.get(pipe, 0)

    def barrier(self, op: PTOOperation, state: ExploredState) -> None:
        pipe = Pipe.ALL if isinstance(op, FenceBarrierAll) else self._pipe(op, "pipe")
        if pipe is Pipe.ALL:
            state.end(-1)
        else:
            state.open[pipe] = state.known_to(pipe) & ~self.members.own.get(pipe, 0)


def _explored(touched: Touched, every: int) -> ExploredTouch:
    is_known = touched.low > -_FARTHEST and touched.high < _FARTHEST
    return ExploredTouch(touched.space, touched.writes, touched.may if is_known else None, every if is_known else 0)


_FARTHEST = 1 << 62
_SETS = signalling("flag", "token", half="set")
_Step = Callable[[Explorer, "PTOOperation", ExploredState], None]
_TOKENS = (sync_token.SimSetToken, sync_token.SimWaitToken)
_FLAGS = (sync.SetFlag, sync.WaitFlag, sync.SetFlagDyn, sync.WaitFlagDyn, *_TOKENS)
_STEPS = cast(
    "list[tuple[type[Operation] | tuple[type[Operation], ...], _Step]]",
    [
        (_FLAGS, Explorer.flag),
        (sync.BufferOperation, Explorer.buffer),
        ((sync.Barrier, FenceBarrierAll), Explorer.barrier),
        ((pointer.CastPtr, pointer.PtrToInt, pointer.IntToPtr), Explorer.cast_pointer),
        (pointer.AddPtr, Explorer.add_pointer),
        ((DeclareLocalArray, DeclareEventIdArray), Explorer.declare),
        ((LocalArrayGet, EventIdArrayGet), Explorer.get),
        ((LocalArraySet, EventIdArraySet), Explorer.put),
    ],
)
