"""Words of other instruction sets and of other or older manuals that the dialect has not: what to write for them."""

from __future__ import annotations

from collections.abc import Mapping

_BY_NUMBER = "pto.vselr takes lanes by their numbers"
_COUNTED = f"{_BY_NUMBER}, which pto.vci counts"
_SCALAR_FIRST = "with a pto.vbr of the scalar does the same"
_A_VALUE = "a register is a value that any instruction may use again"

INSTEAD: Mapping[str, str] = {
    "pto.vsubs": "pto.vadds of the negated scalar does the same",
    "pto.vdivs": f"pto.vdiv {_SCALAR_FIRST}",
    "pto.vands": f"pto.vand {_SCALAR_FIRST}",
    "pto.vors": f"pto.vor {_SCALAR_FIRST}",
    "pto.vxors": f"pto.vxor {_SCALAR_FIRST}",
    "pto.vrec": "pto.vdiv divides a pto.vbr of 1 by it",
    "pto.vrsqrt": "pto.vsqrt and then pto.vdiv do the same",
    "pto.vlog": "the natural logarithm is pto.vln",
    "pto.vfma": "pto.vmula adds a product to its first operand, rounded once",
    "pto.vmac": "pto.vmula adds a product to its first operand, rounded once",
    "pto.vbcnt": "no instruction counts bits",
    "pto.vcls": "no instruction counts leading bits",
    "pto.vmov": _A_VALUE,
    "pto.vcopy": _A_VALUE,
    "pto.vector_dup": "pto.vbr fills a register with a scalar, pto.vdup with one of its lanes",
    "pto.vconv": "pto.vcvt converts between element types",
    "pto.vreduce": "pto.vcadd, pto.vcmax and pto.vcmin reduce a register; pto.vsqz moves the active lanes together",
    "pto.vperm": _BY_NUMBER,
    "pto.vshuffle": _BY_NUMBER,
    "pto.vslide": _COUNTED,
    "pto.vshift": _COUNTED,
    "pto.vload": "pto.vlds loads a register from UB",
    "pto.vstore": "pto.vsts stores a register to UB",
    "pto.data_copy": "pto.mte_gm_ub and pto.mte_ub_gm copy between GM and UB",
    "pto.sync_all": "pto.syncall makes all blocks meet, pto.barrier orders the pipes of one core",
    "pto.bind_tile": "it was retired; pto.alloc_tile with addr places a tile",
    "pto.pointer_cast": "it was retired; pto.castptr makes a pointer of an address",
    "pto.materialize_tile": "it was retired; pto.tassign binds a tile to an address",
    "pto.declare_tile_memref": "it was retired; pto.declare_tile declares a tile",
    "pto.slot_marker": "it was retired; pto.multi_tile_get chooses a slot",
    "pto.tpack": "it was retired; pto.tcvt converts to narrower elements",
}
"""By the name in the dialect that is written; without the dialect it is found as well."""

NOT_SIMULATED: Mapping[str, str] = {
    "cf.switch": "cf.cond_br or scf.if choose one of two ways",
    "memref.alloc": "pto.alloc_tile allocates a tile, an argument of the kernel is memory of its caller",
}
"""Operations of other dialects that the assembler reads, and what a kernel has instead."""

WITH_LOGICAL_VECTORS = ("scf.index_switch", "cf.switch")
"""Control flow that kernels on logical vectors have, and no others."""

COMMUNICATION = {
    "tput": "pto.comm.tput(%dst, %src, buf(%tile) : ...)",
    "tget": "pto.comm.tget(%dst, %src, buf(%tile) : ...)",
    "tnotify": "pto.comm.tnotify(%signal, %value : ...) {notifyOp = #pto<notify_op set>}",
    "twait": "pto.comm.twait(%signal, %value : ...) {cmp = #pto<wait_cmp ge>}",
    "ttest": "pto.comm.ttest(%signal, %value : ...) {cmp = #pto<wait_cmp ge>} -> i1",
    "tbroadcast": "pto.comm.tbroadcast(%src, recv(%tile), group(%g0, %g1) : ...) {root = 0 : i32}",
    "treduce": "pto.comm.treduce(%dst, %acc, recv(%tile), group(%g0, %g1) : ...) {reduceOp = #pto<reduce_op sum>, ...}",
    "make_group": "group(%g0, %g1, ...) in the collective itself, such as pto.comm.tbroadcast",
}
"""Communication as the manual has it, with and without the dialect in front: what assemblers read."""

TYPES_NOW = {"pto.tile_view": "pto.partition_tensor_view"}
"""Types that were renamed; the newest assembler refuses the old name."""

REGIONS = ("pto.fusion_region",)
"""Regions for fusion."""

UNPUBLISHED = ("pto.vaddreluconv", "pto.vmulconv")
"""Instructions of the dialect whose results are written down nowhere."""

_LOWERED_ALREADY = tuple(
    f"vmi.{name}" for name in ("ensure_layout", "ensure_mask_layout", "ensure_mask_granularity", "pack", "unpack")
)
"""Operations on logical vectors that the assembler writes for itself, once it knows registers."""


def refusal(name: str) -> str | None:
    """Why an operation of the wider PTO is none here."""
    if name in REGIONS:
        return f"'{name}' belongs to a part of PTO that is not simulated (regions for fusion)"
    if (current := COMMUNICATION.get(name.removeprefix("pto."))) is not None:
        return f"'{name}' is a form of the manual that no assembler reads; write {current}"
    if name in UNPUBLISHED:
        return f"'{name}' is not simulated: what it computes is not published"
    if name.removeprefix("pto.") in _LOWERED_ALREADY:
        return f"'{name}' is internal: it gives logical vectors a layout, which is chosen when they are lowered"
    return None
