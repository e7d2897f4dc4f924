"""Coverage of the filter of `check`. Kernels outside of it go to the reference engine as a whole.

An instruction without memory accesses is covered by its effects record, unless it is listed here as not; one that
accesses memory only if it is listed as covered. A test prints what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.record import Effects, no_accesses
from ptosim.effects.simt_atomic import NAMES as ATOMIC_NAMES
from ptosim.language.analysis.kernel_entries import KernelProgram
from ptosim.language.analysis.static_values import static_of
from ptosim.language.micro.sim_transfer import SimApart
from ptosim.language.micro.sync_semaphore import SetCrossBlock, SyncAll, WaitCrossBlock
from ptosim.language.micro.sync_token import SimTSync
from ptosim.language.operation import is_scope
from ptosim.language.simt.private_memory import PrivateLoad, PrivateStore
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.structure.function import Call, Function, callees, reached
from ptosim.native.observe.argument_use import PointerUses, Unknown, global_accesses
from ptosim.native.observe.tracks import access_widths

STRUCTURE = frozenset(
    "func.func func.return func.call scf.for scf.if scf.while scf.yield scf.condition pto.vecscope pto.strict_vecscope "
    "pto.section.cube pto.section.vector builtin.module arith.constant".split()
)

ACCESSES = frozenset(
    f"pto.{name}"
    for name in (
        "vlds vldsx2 vsts vstsx2 vsldb vsstb vgather2 vgather2_bc vgatherb vscatter plds pldi psts psti mte_gm_ub "
        "mte_ub_gm mte_ub_ub load_scalar store_scalar ld_dev st_dev mte_gm_l1 mte_gm_l1_frac mte_l1_l0a mte_l1_l0b "
        "mte_l1_bt mte_l1_fb mad mad_acc mad_bias mte_l0c_gm mte_l0c_ub mte_l0c_l1 mte_ub_l1 mte_l1_ub "
        "copy_cbuf_to_ubuf copy_cbuf_to_bt mte_l1_l0a_mx mte_l1_l0b_mx load_cbuf_to_ca_mx load_cbuf_to_cb_mx mad_mx "
        "mad_mx_acc mad_mx_bias mad_mx_raw mad_mx_bias_raw mad_raw mad_bias_raw copy_matrix_cc_to_gm "
        "copy_matrix_cc_to_cbuf copy_matrix_cc_to_ub sim.gather sim.gather_mte2 sim.l1_gm sim.scale_words "
        "sim.start_acc vldas vldus uvld init_align vstus vstu vstur pstu vsta vstas vstar sprsti sprsts vbitsort "
        "vmrgsort4 vsld vsst raw_fill_l1 sim.scatter sim.scatter_mte3"
    ).split()
)
"""Instructions with memory accesses that the filter follows."""

ABSENT = frozenset(op.name for op in (SetCrossBlock, WaitCrossBlock, SyncAll, SimApart))
"""Instructions without memory accesses that the filter does not follow: blocks meet, places of GM are compared."""

LOADS_AND_STORES = frozenset(("pto.load", "pto.store", "pto.ldg", "pto.stg"))
"""Loads and stores that workitems alone have: what else is written so, preparing makes scalar loads and stores."""
BY_WORKITEMS = LOADS_AND_STORES.union(ATOMIC_NAMES)
"""Instructions with memory accesses that it follows in the code of workitems."""


def uncovered(program: KernelProgram, target: str) -> str | None:
    """Why a kernel is not covered; None if it is."""
    if program.cross_block:
        return "blocks that wait for each other"
    launched = [op for op in reached(*program.entries.values()) if isinstance(op, SimtLaunch)]
    if launched and (reason := _not_followed(program, launched, target)) is not None:
        return reason
    bodies = set(callees(*(op.function for op in launched if op.function is not None)))
    outside = [
        op for function in callees(*program.entries.values()) if function not in bodies for op in function.walk()
    ]
    inside = (op for function in bodies for op in function.walk() if op.name not in BY_WORKITEMS)
    missing = sorted(set(missing_operations(chain(outside, inside), target)))
    return ", ".join(missing) if missing else None


def _not_followed(program: KernelProgram, launched: Sequence[SimtLaunch], target: str) -> str | None:
    """Why launches of workitems are not followed."""
    if len(program.entries) > 1:
        return "workitems beside a cube core"
    entries = list(program.entries.values())
    bodies = list(callees(*(op.function for op in launched if op.function is not None)))
    inside = [op for function in bodies for op in function.walk()]
    if any(isinstance(op, SimTSync) for op in reached(*entries)):
        return "workitems beside waits for bytes"
    if any(op.facts()["space"] is not None for op in inside if isinstance(op, PrivateLoad | PrivateStore)):
        return "accesses of workitems through llvm pointers"
    if not set(bodies).isdisjoint(_of_scalar_unit(entries)):
        return "functions of workitems and of the scalar unit"
    if any(width & (width - 1) for width in access_widths(inside, target)):
        return "elements of workitems that are no power of two"
    if any(op.name.startswith("pto.get_grid_dim_") for op in inside):
        return "queries that are always 0"
    return "a data cache that may be stale" if _may_be_stale(entries, inside, target) else None


def _of_scalar_unit(entries: Sequence[Function]) -> set[Function]:
    """The functions that the scalar unit and its scopes execute."""
    found, waiting = set[Function](), list(entries)
    while waiting:
        function = waiting.pop()
        if function not in found:
            found.add(function)
            calls = (op for op in function.walk() if isinstance(op, Call) and not isinstance(op, SimtLaunch))
            waiting += [call.function for call in calls if call.function is not None]
    return found


def _may_be_stale(entries: Sequence[Function], inside: Sequence[Operation], target: str) -> bool:
    """Whether something other than workitems writes what they load through their cache."""
    uses, known = PointerUses(entries, target), set(inside)
    try:
        written, loaded = set[int](), set[int]()
        for op in reached(*entries):
            for pointer, direction in global_accesses(op, target):
                if op not in known and direction == "write":
                    written |= uses.of(pointer)
                elif op in known and direction == "read":
                    loaded |= uses.of(pointer)
    except Unknown:
        return True
    return not written.isdisjoint(loaded)


def missing_operations(operations: Iterable[Operation], target: str) -> Iterable[str]:
    return (op.name for op in operations if not is_covered(op, target))


def is_covered(op: Operation, target: str) -> bool:
    name = op.name
    if name in STRUCTURE or is_scope(op):
        return True
    record = effects().get(name)
    if record is None:
        return False
    return is_followed(record) or not (record.name in ABSENT or record.accesses(static_of(op, target)))


def is_followed(record: Effects) -> bool:
    """Whether an instruction is covered however it is written."""
    if record.accesses is no_accesses:
        return record.name not in ABSENT
    return record.name in ACCESSES or record.name in LOADS_AND_STORES
