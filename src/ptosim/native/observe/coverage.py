"""Coverage of the filter of `check`. Kernels outside of it go to the reference engine as a whole.

An instruction without memory accesses is covered by its effects record, unless it is listed here as not; one that
accesses memory only if it is listed as covered. A test prints what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.record import Effects, no_accesses
from ptosim.language.analysis.kernel_entries import KernelProgram
from ptosim.language.analysis.static_values import static_of
from ptosim.language.micro.sim_transfer import SimApart
from ptosim.language.micro.sync_semaphore import SetCrossBlock, SyncAll, WaitCrossBlock
from ptosim.language.operation import is_scope
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.structure.function import reached

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

ABSENT = frozenset(op.name for op in (SetCrossBlock, WaitCrossBlock, SyncAll, SimApart, SimtLaunch))
"""Instructions without memory accesses that the filter does not follow: blocks meet, places of GM are compared,
workitems run."""


def uncovered(program: KernelProgram, target: str) -> str | None:
    """Why a kernel is not covered; None if it is."""
    if program.cross_block:
        return "blocks that wait for each other"
    missing = sorted(set(missing_operations(reached(*program.entries.values()), target)))
    return ", ".join(missing) if missing else None


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
    return record.name not in ABSENT if record.accesses is no_accesses else record.name in ACCESSES
