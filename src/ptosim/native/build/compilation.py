"""From a verified kernel to what the cache keeps of it: object code, and the plain data that running it needs."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation, SSAValue

from ptosim.effects.dma import ATOMIC_SETTERS
from ptosim.effects.names import CoreKind, Space
from ptosim.language.analysis.kernel_entries import KernelProgram
from ptosim.language.analysis.unit_flags import followed_unit_flags
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.fixpipe import MteL0cGm
from ptosim.language.micro.pointer import LdDev, LoadScalar, StDev, StoreScalar
from ptosim.language.micro.sim import SimPrintTile
from ptosim.language.micro.sim_table import SimScatter
from ptosim.language.micro.sync_token import SimTSync
from ptosim.language.micro.system import GetCtrl, Print, SBitSet0, SBitSet1, SetCtrl
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import While
from ptosim.language.structure.function import reached
from ptosim.language.text.parser import without_collection
from ptosim.language.types import PtrType
from ptosim.native.build.core import Unit
from ptosim.native.build.program import build
from ptosim.native.host.cache import Compiled
from ptosim.native.host.toolchain import Host, compile_object, this_host
from ptosim.native.ir.module import ObjectModule
from ptosim.native.observe.argument_use import usage
from ptosim.native.observe.hooks import UNOBSERVED, CodeObserver
from ptosim.target.profile import load_target

_ATOMIC_BITS = range(6, 11)
"""The bits of CTRL that make stores to GM atomic."""


def compile_kernel(
    module: VerifiedModule,
    program: KernelProgram,
    drop: bool,
    host: Host | None = None,
    observer: CodeObserver = UNOBSERVED,
) -> Compiled:
    """The kernel for a host; `drop`: whether GM accesses outside are dropped instead of being errors."""
    host = host or this_host()
    unit, symbols = lower(module, program, drop, host, observer)
    data: dict[str, Any] = {
        "kind": program.kind,
        "programs": symbols,
        "operations": [operation.to_json() for operation in unit.operations],
        "sites": unit.module.sites,
        "spaces": {space.value: unit.spaces[space] for space in sorted(unit.spaces)},
        "cross_block": program.cross_block,
        "workitems": program.workitems,
        "in_order": program.workitems
        or unit.may_store_atomically
        or any(map(_stores_in_order, reached(*program.entries.values()))),
        "observe": observer.purpose,
        "state": observer.state_bytes,
        "steady": not any(isinstance(op, While | LoadScalar | LdDev) for op in reached(*program.entries.values())),
        **observer.facts(),
    }
    if observer is not UNOBSERVED:
        used = usage(program, module.target)
        data["usage"] = used and [sorted(side) for side in used]
    return Compiled(_objects(unit.module.parts(), host, data), data)


def _objects(texts: tuple[str, str | None], host: Host, data: dict[str, Any]) -> bytes:
    """Object code; of two texts one behind the other, and the data say where the second one begins."""
    usual, long = texts
    image = compile_object(usual, host)
    if long is None:
        return image
    data["second"] = len(image)
    return image + compile_object(long, host, level=0, passes=())


def compile_sieve(module: VerifiedModule, program: KernelProgram) -> Compiled:
    """The kernel with the filter of `check`, or only the reason why there is none."""
    from ptosim.native.observe.coverage import uncovered
    from ptosim.native.observe.filter import Filter

    if (reason := uncovered(program, module.target)) is not None:
        return Compiled(b"", {"uncovered": reason})
    return compile_kernel(module, program, False, observer=Filter(program.entries, load_target(module.target)))


def compile_timed(module: VerifiedModule, program: KernelProgram) -> Compiled:
    """The kernel with what `profile` adds."""
    from ptosim.native.observe.timing import Timing

    waits = any(isinstance(op, SimTSync) for op in reached(*program.entries.values()))
    return compile_kernel(module, program, False, observer=Timing(len(program.entries) == 1, waits))


@without_collection()
def lower(
    module: VerifiedModule, program: KernelProgram, drop: bool, host: Host, observer: CodeObserver = UNOBSERVED
) -> tuple[Unit, dict[CoreKind, str]]:
    """The kernel as IR, and the symbols of its programs."""
    operations = list(reached(*program.entries.values()))
    unit = Unit(
        load_target(module.target),
        drop,
        ObjectModule(host.has_avx512, sifting=observer.purpose == "check"),
        may_store_atomically=any(map(_may_make_atomic, operations)),
        may_set_ctrl=any(isinstance(op, SetCtrl) for op in operations),
        unit_flags=followed_unit_flags(module.parsed, operations),
        together=program.cross_block,
        observer=observer,
    )
    symbols = build(module, program.entries, unit)
    unit.export_entries()
    return unit, symbols


def _stores_in_order(op: Operation) -> bool:
    """Whether an operation stores to GM what blocks may store to one place in a certain order, atomically by a clause
    of its own, a scalar or by index, or whether it prints."""
    if isinstance(op, Print | SimPrintTile | SimScatter):
        return True
    if isinstance(op, MteL0cGm):
        return op.atomic_type is not None
    if not isinstance(op, StoreScalar | StDev):
        return False
    pointer = op.pointer.type
    return isinstance(pointer, PtrType) and pointer.space is Space.GM


def _may_make_atomic(op: Operation) -> bool:
    if isinstance(op, SetCtrl):
        return not _leaves_clear(op.value)
    return op.name in ATOMIC_SETTERS


def _leaves_clear(value: SSAValue) -> bool:
    """Whether a value written to CTRL is known to have no atomic bit, if CTRL had none before."""
    known = constant_of(value)
    if known is not None:
        return not any(known >> bit & 1 for bit in _ATOMIC_BITS)
    match value.owner:
        case GetCtrl():
            return True
        case SBitSet0() as cleared:
            return _leaves_clear(cleared.value)
        case SBitSet1() as set_:
            bit = constant_of(set_.bit)
            return bit is not None and bit not in _ATOMIC_BITS and _leaves_clear(set_.value)
        case _:
            return False
