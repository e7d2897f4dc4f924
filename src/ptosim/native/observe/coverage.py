"""Which kernels the filter of `check` covers. All others go to the reference engine as a whole.

An instruction without memory accesses is covered by its effects record, unless it is listed here as not; one that
accesses memory only if it is listed as covered. A test prints what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.language.function import Call, reached
from ptosim.language.kernels import KernelProgram
from ptosim.language.operation import enclosing_scope, is_scope
from ptosim.language.static import static_of

STRUCTURE = frozenset(
    "func.func func.return func.call scf.for scf.if scf.while scf.yield scf.condition pto.vecscope pto.strict_vecscope "
    "pto.section.cube pto.section.vector builtin.module arith.constant".split()
)

ACCESSES = frozenset(
    f"pto.{name}"
    for name in (
        "vlds vldsx2 vsts vstsx2 vsldb vsstb vgather2 vgather2_bc vgatherb vscatter plds pldi psts psti mte_gm_ub "
        "mte_ub_gm copy_gm_to_ubuf copy_ubuf_to_gm mte_ub_ub copy_ubuf_to_ubuf load_scalar store_scalar ld_dev st_dev"
    ).split()
)
"""Instructions with memory accesses that the filter follows."""

ABSENT = frozenset(
    (
        *("arith.fptosi", "arith.fptoui"),  # a number that does not fit
        *("pto.print", "pto.sim.print_tile", "pto.tprint"),  # they would print twice
        *("pto.sim.tsync", "pto.trap", "pto.sprclr"),
        *("pto.declare_local_array", "pto.local_array_get", "pto.local_array_set"),
    )
)
"""Instructions without memory accesses that it does not."""

SYNC = frozenset(
    "pto.set_flag pto.set_flag_dyn pto.wait_flag pto.wait_flag_dyn pto.sim.set_token pto.sim.wait_token pto.get_buf "
    "pto.get_buf_dyn pto.rls_buf pto.rls_buf_dyn pto.barrier pto.mem_bar pto.dsb pto.fence.barrier_all".split()
)
INTER_CORE = ("sync.", "set_intra", "wait_intra", "set_cross", "wait_cross", "wait_flag_dev", "syncall", "set_ffts")
SPECIAL = frozenset({"AR", "SQZN", "VMS4_SR"})


def uncovered(program: KernelProgram, target: str) -> str | None:
    """Why a kernel is not covered; None if it is."""
    if program.kind != "vector":
        return f"a kernel for {program.kind} cores"
    if program.cross_block:
        return "blocks that wait for each other"
    missing = sorted(set(missing_operations(reached(*program.entries.values()), target)))
    return ", ".join(missing) if missing else None


def missing_operations(operations: Iterable[Operation], target: str) -> Iterable[str]:
    for op in operations:
        if isinstance(op, Call) and (enclosing_scope(op) is not None):
            yield "func.call in a vector scope"
        if not is_covered(op, target):
            yield op.name


def is_covered(op: Operation, target: str) -> bool:
    name = op.name
    if name in STRUCTURE or name in SYNC or is_scope(op):
        return True
    if name in ABSENT or name.removeprefix("pto.").startswith(INTER_CORE):
        return False
    record = effects().get(name)
    if record is None:
        return False
    if SPECIAL & {*record.reads, *record.writes}:
        return False
    return not record.accesses(static_of(op, target)) or name in ACCESSES
