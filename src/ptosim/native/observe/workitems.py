"""The filter's part in launches of workitems: stamps of bytes, and the doubtful lanes of values.

A launch is one entry of V. What it touches in UB goes to the shadow as the bytes of a scope do; what it touches in GM
is one record for each of its accesses, from the lowest byte to the highest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from xdsl.ir import Operation, SSAValue

from ptosim.effects.names import GM, UB, CoreKind, Space
from ptosim.effects.simt import WARP
from ptosim.effects.simt_atomic import NAMES as ATOMIC_NAMES
from ptosim.language.operation import PTOOperation
from ptosim.language.simt.private_memory import ExtractElement, InsertElement, PrivateLoad, PrivateStore
from ptosim.language.simt.simt import SimtLaunch, SyncThreads
from ptosim.language.simt.simt_atomic import ATOMIC_TYPES, AtomicOperation
from ptosim.language.simt.simt_lane import SHUFFLES, Redux, Vote
from ptosim.language.simt.simt_state import Keep, Resume
from ptosim.language.structure.function import Function, reached
from ptosim.language.structure.scalar_cast import Select
from ptosim.language.types import element_name, element_of
from ptosim.native.build.core import Core
from ptosim.native.ir.context import WORD_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, I64, Value
from ptosim.native.observe.argument_use import PointerUses, Unknown, global_accesses
from ptosim.native.observe.hooks import WorkitemHooks
from ptosim.native.observe.layout import ATOMIC, Layout
from ptosim.native.observe.records import Records
from ptosim.native.observe.remark_conditions import ARITHMETIC
from ptosim.native.observe.rows import Suspect
from ptosim.native.observe.tracks import access_widths, accesses_of
from ptosim.native.observe.workitem_reach import BYTES, FURTHEST, GlobalReach
from ptosim.native.observe.workitem_stamps import NOTHING, StampedAccess, StampEmitter
from ptosim.native.vector.registers import splat
from ptosim.native.workitems.coroutine import WarpCoroutine
from ptosim.native.workitems.values import as_bits, parts_of, spread
from ptosim.native.workitems.warp_body import WarpBody
from ptosim.native.workitems.warp_core import WarpCore

Doubts = tuple[Value | None, ...]
"""Bits of the doubtful lanes of each part of a value; None where there are none for certain."""


class WorkitemFilter(WorkitemHooks):
    """The workitems of one kernel under construction."""

    follows = True

    def __init__(
        self,
        entries: Mapping[CoreKind, Function],
        target: str,
        layout: Layout,
        stamps: StampEmitter,
        records: Records,
        suspect: Suspect,
    ) -> None:
        self._layout, self._stamps, self._records, self._suspect = layout, stamps, records, suspect
        self._uses = GlobalUses(entries, target)
        self._roots_of_stores = {
            stamps.root(op, "writes")
            for op in workitem_operations(entries.values())
            if any(each.space is UB and each.direction == "write" for each in accesses_of(op, target))
        }
        self._doubts: dict[SSAValue, Doubts] = {}
        self._ops: list[Operation] = []
        self._loaded: list[Value] = []
        self._epochs: dict[FunctionBuilder, Value] = {}
        self._function: Function | None = None
        self._reaches: dict[Function, dict[tuple[Operation, str], GlobalReach]] = {}
        self._updates: dict[str, int] = {}
        self._kept = kept_types(entries.values())
        self._target = target

    # --- launches -----------------------------------------------------------------------------------------------------

    def launches(self, core: Core, function: Function) -> None:
        f = core.f
        f.settle()
        self._stamps.next_epoch(f, f.constant(I1, 1))
        for reach in self._reaches_of(function):
            reach.begin(f)
        f.settle()

    def launched(self, core: Core, function: Function) -> None:
        for reach in self._reaches_of(function):
            reach.end(core, self._records, self._suspect)

    def _reaches_of(self, function: Function) -> list[GlobalReach]:
        return list(self._reaches.get(function, {}).values())

    def begins(self, warp: WarpBody, function: Function) -> None:
        self._function = function
        self._doubts.clear()
        if not isinstance(warp.f, WarpCoroutine):
            self._epochs[warp.f] = self._stamps.epoch(warp.f)

    def meets(self, warp: WarpBody, site: int) -> None:
        assert self._function is not None
        if sum(isinstance(op, SyncThreads) for op in reached(self._function)) > 1:
            self._stamps.meets(warp.f, site)

    def goes_on(self, warp: WarpBody) -> None:
        """The first warp is the first to go on."""
        self._stamps.next_epoch(warp.f, warp.number == 0)

    def _stamp(self, warp: WarpBody) -> Value:
        """The stamp of the lowest workitem of a warp."""
        epoch = self._epochs.get(warp.f)
        return (self._stamps.epoch(warp.f) if epoch is None else epoch) + warp.first_workitem

    # --- accesses -----------------------------------------------------------------------------------------------------

    def row(self, core: WarpCore, verb: str, space: Space, first: Value, width: int, is_single: bool) -> list[Value]:
        f, warp, stamps = core.f, core.warp, self._stamps
        assert warp is not None
        mask, op = as_bits(warp.mask), self._ops[-1]
        access = self._access(verb, space, width)
        if space is GM:
            self._reach_row(core, verb, first, mask, 0 if is_single else width, width)
            if not self._uses.is_stamped(op):
                return []
        told = (access, first, mask, self._stamp(warp), self._stored_doubt(f))
        nothing = f.constant(I32, NOTHING)
        if is_single:
            found = stamps.touch(f, core.unit, "single", *told)
        elif not self._may_be_owned(access, told[4]):
            found = stamps.touch(f, core.unit, "row", *told)
        else:
            writers, _ = stamps.tracks(f, space, first)
            owned = stamps.owned(f, access, writers, mask, told[3])
            (found,) = f.choose(owned, lambda: [nothing], lambda: [stamps.touch(f, core.unit, "row", *told)])
        return [found] if verb == "reads" and space is UB else []

    def lanes(
        self, core: WarpCore, verb: str, space: Space, addresses: Value, width: int, update: str = ""
    ) -> list[Value]:
        f, warp = core.f, core.warp
        assert warp is not None
        mask, op = as_bits(warp.mask), self._ops[-1]
        access = self._access(verb, space, width, update)
        if space is GM:
            self._reach_lanes(core, access.verb, addresses, warp.mask, width)
            if not self._uses.is_stamped(op):
                return []
        told = (access, addresses, mask, self._stamp(warp), self._stored_doubt(f))
        is_asked = access.verb == "updates" and op.results[0].uses  # for what was there, which may not be defined
        if space is GM or is_asked or self._stamps.count(access) > 1 or not self._may_be_owned(access, told[4]):
            found = self._stamps.touch(f, core.unit, "lanes", *told)
        else:
            nothing = f.constant(I32, NOTHING)
            owned = self._stamps.all_owned(f, *told[:4])
            (found,) = f.choose(owned, lambda: [nothing], lambda: [self._stamps.touch(f, core.unit, "lanes", *told)])
        return [found] if access.verb != "writes" and space is UB else []

    def _may_be_owned(self, access: StampedAccess, doubt: Value) -> bool:
        """Whether it is worth while to look if a workitem comes back to what it has written. What is doubtful is no
        one's own, and what is written through several pointers may be overwritten."""
        return doubt.literal == 0 and (access.space is GM or self._roots_of_stores == {access.root})

    def _access(self, verb: str, space: Space, width: int, update: str = "") -> StampedAccess:
        number = None
        if update and not _order_matters(self._ops[-1]):
            number = self._updates.setdefault(f"{update} {width}", len(self._updates))
        root = self._stamps.root(self._ops[-1], "reads" if verb == "reads" else "writes") if space is UB else None
        return StampedAccess(verb if verb in ("reads", "writes") else "updates", space, width, root, number)

    def _stored_doubt(self, f: FunctionBuilder) -> Value:
        op = self._ops[-1]
        values = op.segment("value") if isinstance(op, PTOOperation) and "value" in op.operand_roles else ()
        return self._joined(f, values)

    # --- the bytes of GM that a launch touches ------------------------------------------------------------------------

    def _reach(self, op: Operation, verb: str) -> GlobalReach | None:
        """The place where they are kept; None if nothing else could meet them."""
        if not self._uses.is_met(op):
            return None
        assert self._function is not None
        known = self._reaches.setdefault(self._function, {})
        if (op, verb) not in known:
            place = (self._layout.size + BYTES - 1) & -BYTES
            self._layout.size = place + BYTES
            code = _code(op) if verb == "updates" else 0
            known[op, verb] = GlobalReach(place, "reads" if verb == "reads" else "writes", code)
        return known[op, verb]

    def _reach_row(self, core: WarpCore, verb: str, first: Value, mask: Value, step: int, width: int) -> None:
        """A row of elements, of which some are active, or one."""
        f, reach = core.f, self._reach(self._ops[-1], verb)
        if reach is None:
            return
        low, high = first, first + width
        if step:
            lowest, above = (
                f.intrinsic(f"llvm.{name}", I32, mask, f.constant(I1, 0), overloads=(I32,)) for name in ("cttz", "ctlz")
            )
            low, high = first + lowest.zext(I64) * step, first + (above.like(WARP) - above).zext(I64) * step
        reach.touch(f, core.unit, low, high)

    def _reach_lanes(self, core: WarpCore, verb: str, addresses: Value, mask: Value, width: int) -> None:
        f, reach = core.f, self._reach(self._ops[-1], verb)
        if reach is None:
            return
        kind = addresses.kind
        low, high = (
            f.emit(I64, f"call i64 @llvm.vector.reduce.{name}.{kind.mangled}({mask.select(addresses, other)})")
            for name, other in (("smin", FURTHEST), ("smax", -1))
        )
        with f.when(low < high + width):
            reach.touch(f, core.unit, low, high + width)

    # --- doubts -------------------------------------------------------------------------------------------------------

    def _joined(self, f: FunctionBuilder, values: Iterable[SSAValue]) -> Value:
        """The lanes in which some part of some of these values is doubtful."""
        found = [part for value in values for part in self._doubts.get(value, ()) if part is not None]
        return reduce(_either, found, f.constant(I32, NOTHING))

    def _put(self, value: SSAValue, doubts: Iterable[Value | None]) -> None:
        parts = tuple(None if part is None or part.literal == 0 else part for part in doubts)
        if any(part is not None for part in parts):
            self._doubts[value] = parts
        else:
            self._doubts.pop(value, None)

    def _uses_all(self, warp: WarpBody, values: Iterable[SSAValue]) -> None:
        """There may be something to say if one of them is doubtful in an active lane."""
        found = self._joined(warp.f, values) & as_bits(warp.mask)
        if found.literal != 0:
            self._suspect(warp.f, found != 0)

    def decides(self, warp: WarpBody, value: SSAValue) -> None:
        self._uses_all(warp, [value])

    def crosses(self, warp: WarpBody, values: Sequence[SSAValue]) -> None:
        self._uses_all(warp, values)

    def renamed(self, values: Sequence[SSAValue], names: Sequence[SSAValue]) -> None:
        for name, doubts in [(name, self._doubts.get(value, ())) for value, name in zip(values, names, strict=True)]:
            self._put(name, doubts)

    def loaded(self, doubtful: Sequence[Value]) -> None:
        self._loaded += doubtful

    def shuffled(self, warp: WarpBody, lanes: Value, awake: Value) -> None:
        f, op = warp.f, self._ops[-1]
        given, asleep = self._joined(f, op.operands[:1]), f.constant(I32, NOTHING)
        if given.literal != 0:
            given = as_bits((splat(f, given, WARP).lshr(lanes) & 1) != 0)
        if warp.is_full.literal != 1:
            asleep = ~as_bits(awake) & as_bits(warp.mask)
        self._loaded.append(given | asleep)

    def instruction_begins(self, warp: WarpBody, op: Operation) -> None:
        self._ops.append(op)
        self._loaded = []
        if isinstance(op, PTOOperation) and "pointer" in op.operand_roles:
            deciding = [value for role, value in op.roles() if role in ("pointer", "offset", "index")]
            self._uses_all(warp, deciding)
        if self._is_use(op):
            self._uses_all(warp, op.operands)
        if (rule := ARITHMETIC.get(op.name)) is not None:
            for pair in zip(*map(warp.parts, op.operands), strict=True):
                lanes = warp.mask & rule(*(spread(warp.f, each) for each in pair))
                self._suspect(warp.f, as_bits(lanes) != 0)
        if op.name.startswith("pto.get_block_idx_"):  # always 0
            self._suspect(warp.f, warp.f.word(ContextWord.BLOCK_NUM).load(I64, WORD_BYTES) > 1)
        if isinstance(op, Resume) and len(self._kept.get(op.integer("slot") or 0, ())) > 1:
            self._suspect(warp.f, warp.f.constant(I1, 1))

    def _is_use(self, op: Operation) -> bool:
        """Whether nothing doubtful may go there: to GM, into an update, or where it is not followed."""
        if isinstance(op, Keep | PrivateStore | AtomicOperation):
            return True
        return any(direction == "write" for _, direction in global_accesses(op, self._target))

    def instruction_ends(self, warp: WarpBody, op: Operation) -> None:
        loaded, self._loaded = self._loaded, []
        self._ops.pop()
        for result in op.results:
            self._put(result, self._of_result(warp, op, result, loaded))

    def _of_result(self, warp: WarpBody, op: Operation, result: SSAValue, loaded: Sequence[Value]) -> Doubts:
        f = warp.f
        count = max(1, parts_of(result.type)[1])
        if loaded:
            doubt = reduce(_either, loaded)
            if op.name in _SHUFFLES and len(op.operands) > 1:
                doubt = doubt | self._joined(f, op.operands[1:])
            return (doubt,) * count
        if isinstance(op, AtomicOperation | PrivateLoad):
            return ()
        if isinstance(op, Vote | Redux):
            found = self._joined(f, op.operands) & as_bits(warp.mask)
            return () if found.literal == 0 else ((found != 0).sext(I32),) * count
        given = [self._doubts.get(value, ()) for value in op.operands]
        if not any(given):
            return ()
        if isinstance(op, Select):
            return self._chosen(warp, op, count)
        if isinstance(op, ExtractElement | InsertElement):
            return self._element(warp, op, count)
        if all(len(each) in (0, count) for each in given):
            return tuple(_union([each[part] for each in given if each]) for part in range(count))
        return (self._joined(f, op.operands),) * count

    def _chosen(self, warp: WarpBody, op: Select, count: int) -> Doubts:
        condition, one, other = op.operands
        which = as_bits(spread(warp.f, warp.scalar_or_lanes(condition)))
        doubt = _union(self._doubts.get(condition, ()))
        found: list[Value | None] = []
        for part in range(count):
            sides = [self._doubts.get(side, ()) for side in (one, other)]
            yes, no = (side[part] if len(side) == count else _union(side) for side in sides)
            parts = [doubt, None if yes is None else yes & which, None if no is None else no & ~which]
            found.append(_union(parts))
        return tuple(found)

    def _element(self, warp: WarpBody, op: ExtractElement | InsertElement, count: int) -> Doubts:
        index = warp.values[op.index]
        number = index.literal if isinstance(index, Value) else None
        vector = self._doubts.get(op.vector, ())
        if number is None:
            return (self._joined(warp.f, op.operands),) * count
        if isinstance(op, ExtractElement):
            return (vector[number],) if number < len(vector) else (_union(vector),)
        parts = list(vector or (None,) * count)
        if number < len(parts):
            parts[number] = _union(self._doubts.get(op.value, ()))
        return tuple(parts)


class GlobalUses:
    """The accesses to GM that something may meet, and those of workitems that may meet each other."""

    def __init__(self, entries: Mapping[CoreKind, Function], target: str) -> None:
        self._target = target
        self._uses = PointerUses(entries.values(), target)
        inside = workitem_operations(entries.values())
        self._written = self._of(reached(*entries.values()))
        self._stored = self._of(inside)

    def _of(self, operations: Iterable[Operation]) -> frozenset[int] | None:
        """The parameters that are written to; None where it may be any."""
        found: set[int] = set()
        for op in operations:
            if any(direction == "write" for _, direction in global_accesses(op, self._target)):
                if (behind := self._behind(op)) is None:
                    return None
                found |= behind
        return frozenset(found)

    def _behind(self, op: Operation) -> frozenset[int] | None:
        try:
            return frozenset(
                number for pointer, _ in global_accesses(op, self._target) for number in self._uses.of(pointer)
            )
        except Unknown:
            return None

    def _meets(self, op: Operation, others: frozenset[int] | None) -> bool:
        behind = self._behind(op)
        return behind is None or others is None or not behind.isdisjoint(others)

    def is_met(self, op: Operation) -> bool:
        """Whether something writes what the operation accesses."""
        return self._meets(op, self._written)

    def is_stamped(self, op: Operation) -> bool:
        """Whether a workitem does."""
        return self._meets(op, self._stored)


def launches(entries: Iterable[Function]) -> list[SimtLaunch]:
    return [op for op in reached(*entries) if isinstance(op, SimtLaunch)]


def workitem_operations(entries: Iterable[Function]) -> list[Operation]:
    """The operations that workitems execute."""
    return list(reached(*(op.function for op in launches(entries) if op.function is not None)))


def stamped_bytes(entries: Iterable[Function], target: str) -> int:
    """The bytes that share a stamp: as many as the shortest access has; 0 where there are no workitems."""
    return min(access_widths(workitem_operations(entries), target), default=4) if launches(entries) else 0


def kept_types(entries: Iterable[Function]) -> dict[int, set[str]]:
    """The types under which each slot is kept and resumed."""
    found: dict[int, set[str]] = {}
    for op in workitem_operations(entries):
        if isinstance(op, Keep | Resume):
            value = op.value if isinstance(op, Keep) else op.result
            for slot in op.taken:
                found.setdefault(slot, set()).add(str(value.type))
    return found


def _order_matters(op: Operation) -> bool:
    """Sums of floats."""
    assert isinstance(op, AtomicOperation)
    return op.name.endswith(("_add", "_sub")) and not element_of(op.value.type).is_integer


def _code(op: Operation) -> int:
    """The number of an atomic update in a record, apart from those that copies have; 0 where its order matters."""
    assert isinstance(op, AtomicOperation)
    if _order_matters(op):
        return 0
    kind = ATOMIC_TYPES.index(element_name(op.value.type) or "")
    word = ATOMIC_NAMES.index(op.name)
    unsigned = op.word("signedness") == "unsigned"
    return FIRST_CODE + 8 * ((word * len(ATOMIC_TYPES) + kind) * 2 + unsigned) << ATOMIC


FIRST_CODE = 1 << 6
"""Above the numbers by which CTRL tells atomic operations and types."""
_SHUFFLES = frozenset(op.name for op in SHUFFLES)


def _either(one: Value, other: Value) -> Value:
    return one | other


def _union(doubts: Iterable[Value | None]) -> Value | None:
    found = [each for each in doubts if each is not None]
    return reduce(_either, found) if found else None
