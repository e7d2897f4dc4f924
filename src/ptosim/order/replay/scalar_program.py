"""The scalar unit of one core in a replay: it follows loops and branches, computes addresses and ids, and hands entries
to the pipes of the machine. Data are left out: a load gives the value that the launch says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Block, Operation, Region

from ptosim.effects.catalogue import effects
from ptosim.effects.names import PIPES_OF, CoreKind, Pipe, Space
from ptosim.language.analysis.scalar_rules import Rule, evaluated, is_number, rule_of
from ptosim.language.load import VerifiedModule
from ptosim.language.micro import pointer, system
from ptosim.language.micro.scope import Section, StrictVecScope
from ptosim.language.micro.sim_signal import SimNotify, SimTestWords, SimWaitWords
from ptosim.language.micro.sim_transfer import SimTransfer
from ptosim.language.operation import PTOOperation, is_scope
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import Condition, For, If, While
from ptosim.language.structure.function import Call, Function
from ptosim.language.tile.tile_local import DeclareLocalArray, LocalArrayGet, LocalArraySet
from ptosim.language.types import element_of
from ptosim.machine.core import Core
from ptosim.machine.entry import Site
from ptosim.order.replay.scalar_run import ScalarRun, Step, Unreplayable
from ptosim.order.replay.synchronising_steps import SYNCHRONISING
from ptosim.order.replay.touched_bytes import PlainOperands, Touched, touched_by
from ptosim.order.replay.vector_scope import ScopeReader

_ATOMIC = "pto.set_atomic_"
_CORES_OF_VECTORS = ("aiv0", "aiv1")


class ScalarProgram:
    """The program of one kind of core, made ready to run many times."""

    def __init__(self, module: VerifiedModule, function: Function, kind: CoreKind) -> None:
        self.module, self.function, self.kind = module, function, kind
        self.sites: dict[Operation, Site] = {}
        self.scopes = ScopeReader(module)
        self._blocks: dict[Block, list[Step]] = {}

    def run(self, run: ScalarRun) -> None:
        run.values.update(run.launch.arguments(self.function))
        self.block(self.function.body.block, run)

    def block(self, block: Block, run: ScalarRun) -> None:
        steps = self._blocks.get(block)
        if steps is None:
            steps = self._blocks[block] = [step for op in block.ops if (step := self._step(op)) is not None]
        for step in steps:
            step(run)

    def site(self, op: Operation) -> Site:
        if op not in self.sites:
            record = effects().get(op.name)
            pipe = Pipe.V if is_scope(op) else record.pipe if record is not None else Pipe.S
            self.sites[op] = Site(op.name, self.module.parsed.location(op), pipe, number=len(self.sites))
        return self.sites[op]

    # --- one operation ------------------------------------------------------------------------------------------------

    def _step(self, op: Operation) -> Step | None:
        """The step of an operation; None for those that a replay passes over."""
        if isinstance(op, Section):
            return (lambda run: self.block(op.body.block, run)) if op.core is self.kind else None
        if is_scope(op):
            return (lambda run: self._scope(op, run)) if self.kind is CoreKind.AIV else None
        for kind, made in self._structured().items():
            if isinstance(op, kind):
                return made(op)
        if (literal := _constant(op)) is not None:
            value = op.results[0]
            return lambda run: run.values.__setitem__(value, literal)
        if (rule := rule_of(op)) is not None:
            return _computed(op, rule)
        if (made := SYNCHRONISING.get(op.name)) is not None:
            assert isinstance(op, PTOOperation)
            return made(self.site(op), op)
        return self._other(op)

    def _structured(self) -> Mapping[type[Operation], Callable[[Any], Step]]:
        return {
            For: lambda op: lambda run: self._for(op, run),
            If: lambda op: lambda run: self._if(op, run),
            While: lambda op: lambda run: self._while(op, run),
            Call: lambda op: lambda run: self._call(op, run),
            DeclareLocalArray: _declared,
            LocalArrayGet: _got,
            LocalArraySet: _put,
        }

    def _other(self, op: Operation) -> Step | None:
        if op.name == "arith.select":
            return _selected(op)
        if op.name in _QUERIES:
            query, result = _QUERIES[op.name], op.results[0]
            return lambda run: run.values.__setitem__(result, query(run.core))
        if op.name in _POINTERS:
            return _POINTERS[op.name](op)
        if op.name.startswith(_ATOMIC):
            return lambda run: _set_atomic(run, op.name.removeprefix(_ATOMIC))
        if op.name in _TOLD:
            return _told
        if isinstance(op, PTOOperation) and self.kind in op.core_kinds():
            return self._work(op)
        return None

    # --- control ------------------------------------------------------------------------------------------------------

    def _for(self, op: For, run: ScalarRun) -> None:
        first, end, step = (run.values.get(value) for value in (op.lb, op.ub, op.step))
        index, *carried = op.body.block.args
        given = [run.values.get(value) for value in op.iter_args]
        if first is None or end is None or not step or step < 0:
            run.doubts[op] = "how often a loop runs is decided by data"
            first, end, step = 0, run.launch.arm + 1, 1
        outer = run.trail
        for turn, at in enumerate(range(first, end, step)):
            run.count()
            run.trail = (*outer, (op, turn))
            run.values[index] = at
            run.values.update(zip(carried, given, strict=False))
            self.block(op.body.block, run)
            given = _passed_on(op.body, run)
        run.trail = outer
        run.values.update(zip(op.results, given, strict=False))

    def _if(self, op: If, run: ScalarRun) -> None:
        condition = run.values.get(op.cond)
        if condition is None:
            run.doubts[op] = "which way a branch goes is decided by data"
            condition = run.launch.arm & 1
        outer, arm = run.trail, op.true_region if condition else op.false_region
        run.trail = (*outer, (op, 0 if condition else 1))
        self.block(arm.block, run)
        run.trail = outer
        run.values.update(zip(op.results, _passed_on(arm, run), strict=False))

    def _while(self, op: While, run: ScalarRun) -> None:
        before, after = op.before_region.block, op.after_region.block
        given = [run.values.get(value) for value in op.arguments]
        condition = before.last_op
        assert isinstance(condition, Condition)
        outer, turn = run.trail, 0
        while True:
            run.count()
            run.values.update(zip(before.args, given, strict=False))
            self.block(before, run)
            passed = [run.values.get(value) for value in condition.arguments]
            decided = run.values.get(condition.condition)
            if decided is None:
                run.doubts[op] = "how often a loop runs is decided by data"
                decided = turn <= run.launch.arm
            if not decided:
                break
            run.trail = (*outer, (op, turn))
            run.values.update(zip(after.args, passed, strict=False))
            self.block(after, run)
            given, turn = _passed_on(op.after_region, run), turn + 1
        run.trail = outer
        run.values.update(zip(op.results, passed, strict=False))

    def _call(self, op: Call, run: ScalarRun) -> None:
        callee = op.function
        if callee is None or callee.is_declaration:
            raise Unreplayable("a function without a body is called")
        run.count()
        block = callee.body.block
        run.values.update(zip(block.args, [run.values.get(value) for value in op.operands], strict=False))
        self.block(block, run)
        ends = block.last_op
        results = [run.values.get(value) for value in ends.operands] if ends is not None else []
        run.values.update(zip(op.results, results, strict=False))

    # --- work ---------------------------------------------------------------------------------------------------------

    def _scope(self, op: Operation, run: ScalarRun) -> None:
        if isinstance(op, StrictVecScope):
            given = [run.values.get(value) for value in op.arguments]
            run.values.update(zip(op.body.block.args, given, strict=False))
        touched = self.scopes.touched(op, run.values)
        run.core.work(Pipe.V, self.site(op), _nothing, facts=touched)

    def _work(self, op: PTOOperation) -> Step | None:
        record = effects().get(op.name)
        if record is None:
            return None
        accesses = record.accesses(self.module.static(op))
        if not accesses or (record.pipe is not Pipe.S and record.pipe not in PIPES_OF[self.kind]):
            return None
        site, pipe = self.site(op), record.pipe

        def step(run: ScalarRun) -> None:
            operands = PlainOperands(op, run.values)
            found = [touched_by(op, access, operands) for access in accesses]
            touched = [each for one in found if one is not None for each in self._placed(op, operands, one, run)]
            if pipe is Pipe.S:
                self._scalar_access(op, site, touched, run)
            else:
                run.core.work(pipe, site, _nothing, facts=touched)

        return step

    def _placed(self, op: PTOOperation, operands: PlainOperands, one: Touched, run: ScalarRun) -> list[Touched]:
        """Atomic where the store is; the cube core may store to the UB of either vector core, or of both."""
        if one.space is Space.GM and one.writes:
            run.stored.add(one.low >> 48)
            kind = run.atomic or "".join(op.word(role) or "" for role in _ATOMIC_WORDS if role in op.property_roles)
            return [Touched(one.space, True, one.may, one.sure, kind)] if kind else [one]
        if one.space is not Space.UB or self.kind is not CoreKind.AIC:
            return [one]
        named = [role for role in ("sub_block", "sid") if role in op.operand_roles and op.segment(role)]
        which = getattr(operands, named[0]) if named else None
        if not named and "dst_mode" not in op.property_roles:
            which = 0
        cores = [_CORES_OF_VECTORS[which]] if which in (0, 1) else _CORES_OF_VECTORS
        return [Touched(one.space, one.writes, one.may, one.sure, core=core) for core in cores]

    def _scalar_access(self, op: PTOOperation, site: Site, touched: Sequence[Touched], run: ScalarRun) -> None:
        """An access of the scalar unit; what it loads is what the launch says."""
        for touch in touched:
            if touch.writes:
                run.touch(run.core.scalar_store(site, touch.space), touched)
                return
        run.touch(run.core.scalar_load(site), touched)
        for result in op.results:
            run.values[result] = run.launch.data if is_number(result) else None
        if any(touch.space is not Space.GM or touch.low >> 48 in run.stored for touch in touched):
            run.doubts[op] = "a value that the kernel itself has computed is loaded"


def _nothing() -> None:
    """Data are left out."""


def _passed_on(region: Region, run: ScalarRun) -> list[Any]:
    ends = region.block.last_op
    return [run.values.get(value) for value in ends.operands] if ends is not None else []


def _set_atomic(run: ScalarRun, word: str) -> None:
    run.atomic = "" if word == "none" else f"{run.atomic} {word}"


def _told(run: ScalarRun) -> None:
    raise Unreplayable("signals between ranks and blocks by words in GM are not followed")


_ATOMIC_WORDS = ("atomic_type", "atomic_op")
_TOLD = frozenset(each.name for each in (SimNotify, SimWaitWords, SimTestWords, SimTransfer))

# --- values -----------------------------------------------------------------------------------------------------------


def _constant(op: Operation) -> int | None:
    return constant_of(op.results[0]) if op.name == "arith.constant" else None


def _computed(op: Operation, evaluate: Rule) -> Step:
    result, operands = op.results[0], tuple(op.operands)

    def step(run: ScalarRun) -> None:
        run.values[result] = evaluated(evaluate, [run.values.get(operand) for operand in operands])

    return step


def _selected(op: Operation) -> Step:
    condition, chosen, other = op.operands
    result = op.results[0]

    def step(run: ScalarRun) -> None:
        holds = run.values.get(condition)
        a, b = run.values.get(chosen), run.values.get(other)
        run.values[result] = (a if a == b else None) if holds is None else a if holds else b

    return step


def _moved(op: Operation) -> Step:
    """A pointer that becomes another one, or an address."""
    result, given = op.results[0], op.operands[0]
    return lambda run: run.values.__setitem__(result, run.values.get(given))


def _added(op: Operation) -> Step:
    result, (base, distance) = op.results[0], op.operands
    width = element_of(base.type).bytes

    def step(run: ScalarRun) -> None:
        at, by = run.values.get(base), run.values.get(distance)
        run.values[result] = None if at is None or by is None else at + by * width

    return step


_POINTERS: Mapping[str, Callable[[Operation], Step]] = {
    **dict.fromkeys((pointer.CastPtr.name, pointer.PtrToInt.name, pointer.IntToPtr.name), _moved),
    pointer.AddPtr.name: _added,
}
_QUERIES: Mapping[str, Callable[[Core], int]] = {
    system.GetBlockIdx.name: lambda core: core.block,
    system.GetBlockNum.name: lambda core: core.block_num,
    system.GetSubblockIdx.name: lambda core: core.subblock,
    system.GetSubblockNum.name: lambda core: core.subblock_num,
}


def _declared(op: DeclareLocalArray) -> Step:
    return lambda run: run.values.__setitem__(op.results[0], {})


def _got(op: LocalArrayGet) -> Step:
    def step(run: ScalarRun) -> None:
        indices = tuple(run.values.get(index) for index in op.indices)
        run.values[op.result] = None if None in indices else run.values[op.array].get(indices, 0)

    return step


def _put(op: LocalArraySet) -> Step:
    def step(run: ScalarRun) -> None:
        indices = tuple(run.values.get(index) for index in op.indices)
        if None in indices:
            raise Unreplayable("an array is written at a place that data decide")
        run.values[op.array][indices] = run.values.get(op.value)

    return step
