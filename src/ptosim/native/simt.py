"""Launches of workitems: a function for each body, called for each warp, or resumed until all warps have ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptosim.effects.simt import WARP
from ptosim.language.simt.private_memory import Alloca
from ptosim.language.simt.simt import MOST_WORKITEMS, SimtLaunch, SyncThreads, ThreadFence, ThreadFenceBlock
from ptosim.language.simt.simt_state import Keep
from ptosim.language.simt.spins import may_wait
from ptosim.language.structure.control import While
from ptosim.language.structure.function import Call, Function, reached
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import lowering
from ptosim.native.build.program import ObjectBuilder, scalar_type
from ptosim.native.ir.context import KEPT_BYTES, WORD_BYTES, ContextWord, Register
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I8, I32, I64, PTR, Value
from ptosim.native.run.explain import BARRIER, LAUNCH
from ptosim.native.workitems.coroutine import (
    DEADLOCK,
    EXISTING,
    GIVES_TURN,
    RECORD,
    SCHEDULER,
    WarpCoroutine,
    add_scheduler,
)
from ptosim.native.workitems.values import as_bits, numbers, spread
from ptosim.native.workitems.warp_body import FIRST_PRIVATE, WarpBody


@lowering(SimtLaunch)
def simt_launch(
    f: FunctionBuilder,
    core: Core,
    workitems: tuple[ObjectBuilder, Function | None],
    dim_x: Value,
    dim_y: Value,
    dim_z: Value,
    most: int,
    arguments: tuple[Value, ...],
) -> None:
    builder, function = workitems
    sizes = [size.sext(I64) for size in (dim_x, dim_y, dim_z)]
    _fits(f, core, sizes, most)
    if function is None or function.is_declaration:
        core.fail(f.constant(I1, 1), "unsupported", "@the body of the launch is only declared; there is no body to run")
        f.settle()
        return
    for number, size in enumerate(sizes):
        f.word(ContextWord.SIMT_SIZES + number).store(size, WORD_BYTES)
    count = sizes[0] * sizes[1] * sizes[2]
    _forget(f, core, count, function)
    warps = (count + (WARP - 1)).lshr(5)
    given = [*(index.signed(I64) for index in f.loops), *sizes, *arguments]
    body = _body(builder, function, len(f.loops), tuple(value.literal for value in (*sizes, *arguments)))
    watch = core.observer.workitems
    watch.launches(core, function)
    if isinstance(body, WarpCoroutine):
        _resume(f, core, body, warps, count, given)
    else:
        f.repeat(warps, lambda number: _call(f, body, number, given))
    watch.launched(core, function)
    _keep(core, function)


def _fits(f: FunctionBuilder, core: Core, sizes: Sequence[Value], most: int) -> None:
    x, y, z = sizes
    wrong = (x < 1) | (y < 1) | (z < 1) | (x > MOST_WORKITEMS) | (y > MOST_WORKITEMS) | (z > MOST_WORKITEMS)
    wrong = wrong | (x * y * z > most)
    value = (x & 0xFFFFFFFF) | y << 32
    if wrong.literal != 0:
        f.check(wrong, core.site(LAUNCH, most), value, z)
        f.settle()


def _call(f: FunctionBuilder, body: FunctionBuilder, number: Value, given: Sequence[Value]) -> None:
    f.call(body, number, *given)


# --- what survives ----------------------------------------------------------------------------------------------------


def _forget(f: FunctionBuilder, core: Core, count: Value, function: Function) -> None:
    """Another number of workitems forgets what others have kept."""
    other = core.register(Register.SIMT_COUNT) != count
    persistent = _persistent_bytes(function)
    with f.when(other):
        core.set_register(Register.SIMT_COUNT, count)
        for register in (Register.SIMT_KEPT, Register.SIMT_KEPT_BEHIND):
            core.set_register(register, f.constant(I64, 0))
        if persistent:
            f.base(ContextWord.WORKITEMS).at(KEPT_BYTES).fill(0, persistent * MOST_WORKITEMS)


def _persistent_bytes(function: Function) -> int:
    module = function.parent_op()
    buffers = [op.facts() for op in (module or function).walk() if isinstance(op, Alloca)]
    return max((each["buffer"] + each["size"] for each in buffers if each["buffer"] is not None), default=0)


def _keep(core: Core, function: Function) -> None:
    """From now on the slots are kept that this launch has."""
    slots = {slot for op in reached(function) if isinstance(op, Keep) for slot in op.taken}
    for half, register in enumerate((Register.SIMT_KEPT, Register.SIMT_KEPT_BEHIND)):
        bits = sum(1 << slot - 64 * half for slot in slots if 0 <= slot - 64 * half < 64)
        core.set_register(register, core.f.constant(I64, bits - (1 << 64) if bits >> 63 else bits))


# --- bodies -----------------------------------------------------------------------------------------------------------


def _waits(function: Function) -> bool:
    """Whether warps of a body wait for each other."""
    return any(isinstance(op, SyncThreads) for op in reached(function)) or _may_wait(function)


def _may_wait(function: Function) -> bool:
    return any(isinstance(op, While) and may_wait(op) for op in reached(function))


def _private_bytes(function: Function) -> int:
    """The bytes of one workitem, each call counted."""
    total = 0
    for op in function.walk():
        if isinstance(op, Alloca):
            total += op.size
        elif isinstance(op, Call) and op.function is not None and not isinstance(op, SimtLaunch):
            total += _private_bytes(op.function)
    return total


def _body(builder: ObjectBuilder, function: Function, depth: int, known: tuple[int | None, ...]) -> FunctionBuilder:
    """The function of a warp: one for each depth of loops that it is launched in, and for dimensions and arguments that
    are known."""
    key = (function, depth, known)
    if key not in builder.helpers:
        module = builder.unit.module
        kinds = [*[I64] * depth, I64, I64, I64, *(scalar_type(argument.type) for argument in function.args)]
        name = f"warp{len(builder.helpers)}"
        if _waits(function):
            add_scheduler(module)
            made: FunctionBuilder = WarpCoroutine(module, name, [I64, *kinds], _may_wait(function))
        else:
            made = module.function(name, [I64, *kinds], (), "internal")
        builder.helpers[key] = made
        _fill(builder, made, function, depth, known)
    return builder.helpers[key]


def _fill(
    builder: ObjectBuilder, f: FunctionBuilder, function: Function, depth: int, known: tuple[int | None, ...]
) -> None:
    number, *rest = f.parameters[1:] if isinstance(f, WarpCoroutine) else f.parameters
    f.loops = rest[:depth]
    given = [
        value if number is None else f.constant(value.kind, number)
        for value, number in zip(rest[depth:], known, strict=True)
    ]
    sizes, arguments = given[:3], given[3:]
    count = sizes[0] * sizes[1] * sizes[2]
    lanes = spread(f, number * WARP) + numbers(f, I64)
    existing = lanes < spread(f, count)
    if count.literal is not None and count.literal % WARP == 0:
        existing = f.constant(I1.vector(WARP), 1)
    private = _private_bytes(function)
    row = -(-(FIRST_PRIVATE + private) // 64) * 64 if private else 0
    warp = WarpBody(builder, f, number, sizes, existing, row)
    if private:
        warp.row = FIRST_PRIVATE + private
        warp.private = f.slot(I8, WARP * warp.row, 64)
        warp.private.fill(0, WARP * warp.row)
        if warp.watch.follows:
            warp.defined = f.slot(I8, WARP * warp.row, 64)
            warp.defined.fill(0, WARP * warp.row)
    if isinstance(f, WarpCoroutine):
        f.record.at(EXISTING).store(as_bits(warp.existing).zext(I64), 8)
        f.begins()
        warp.turns = f
        warp.barrier = _barrier(f, warp)
    for argument, value in zip(function.args, arguments, strict=True):
        warp.values[argument] = value
    warp.watch.begins(warp, function)
    warp.block(function.body.block)
    for leave in warp.left:
        leave()
    f.finish()


def _barrier(f: WarpCoroutine, warp: WarpBody) -> Callable[[int], None]:
    def wait(site: int) -> None:
        lanes = (as_bits(warp.mask), as_bits(warp.existing))
        warp.watch.meets(warp, site)
        f.wait(site, None if warp.mask is warp.existing else lanes)
        warp.watch.goes_on(warp)

    return wait


def _resume(
    f: FunctionBuilder, core: Core, body: WarpCoroutine, warps: Value, count: Value, given: Sequence[Value]
) -> None:
    most = MOST_WORKITEMS // WARP
    records = f.slot(I8, (most + 1) * RECORD, 64)

    def begin(number: Value) -> None:
        record = records.at(number * RECORD)
        operands = ", ".join(map(str, (f.context, record, number, *given)))
        handle = f.emit(PTR, f"call ptr @{body.name}({operands})")
        record.store(handle, 8)

    with f.each(warps) as number:
        begin(number)
    f.settle()
    status = _scheduled(f, core, records, warps)
    outcome = records.at(warps * RECORD)
    stuck = status == DEADLOCK
    f.check(stuck, core.site(BARRIER, ""), lambda: outcome.load(I64, 8), lambda: outcome.at(8).load(I64, 8))
    f.settle()
    f.leave_with(stuck.select(f.constant(I32, 0), status))


def _scheduled(f: FunctionBuilder, core: Core, records: Value, warps: Value) -> Value:
    """Hand over to other cores when all warps have had their turn, if blocks may wait for each other."""
    gives = f.constant(I1, core.unit.together)

    def resumed(goes_on: int) -> Value:
        return f.status_of(f"@{SCHEDULER}", records, warps, gives, f.constant(I1, goes_on))

    if not core.unit.together:
        return resumed(0)

    def again(_: list[Value]) -> list[Value]:
        core.issue("give_turn")
        return [resumed(1)]

    return f.while_loop([resumed(0)], lambda left: (left[0] == GIVES_TURN, left), again)[0]


@lowering(SyncThreads, ThreadFence, ThreadFenceBlock)
def nothing() -> None:
    """Barriers are where a coroutine suspends; execution is sequential anyway."""
