"""The timing classes: the groups of instructions that a target prices alike.

An instruction names its class in its effects record: one of the four tables here. A vector instruction that nothing is
published for belongs to `other`, unless a class of its own says more.
"""

TIMING_CLASSES = tuple(
    """
    abs relu add add_scalar multiply multiply_scalar minmax max_scalar min_scalar logic shift compare select
    exp log sqrt divide round leaky_relu multiply_add multiply_long multiply_convert exp_difference
    convert_float convert_int
    reduce_minmax reduce_add group_minmax group_add pair_add
    broadcast_lane broadcast index permute squeeze other
    load load_pair store store_interleave gather gather_block scatter
    mask mask_load mask_store
    scalar rename fence
    """.split()
)
"""Instructions of a vector function: [class] of a target file.

A vcvt between a float and an integer type is `convert_int`, any other `convert_float`. A reduction gives one value for
the whole register, for each 32-byte group, or for each pair of lanes. Instructions on predicates alone (`mask`) and
`scalar` ones take no vector issue slot; `rename` is no instruction at all.
"""

OPERATION_CLASSES = ("sort", "merge_sort", "mad")
"""Entries of a pipe of their own, outside vector functions: [operation] of a target file."""

COPY_CLASSES = tuple(
    """
    link transfer
    gm_ub ub_gm gm_l1 ub_ub ub_l1 l1_ub l1_l0a l1_l0b l1_bt l1_fb l1_fill l0c_gm l0c_l1 l0c_ub
    """.split()
)
"""Copies, by source and destination: [dma] of a target file.

`link`: copies whose global memory is that of another rank. `transfer`: comm.tget_async, and comm.tput_async where it is
no copy through a tile.
"""

_ROWS = """
    vadd vsub, vmul, vmax vmin, vdiv, vand vor vnot vshl vshr, vadds, vmuls, vmaxs vmins, vabs vrelu, vlrelu vaxpy,
    vexp, vln, vsqrt, vrsqrt, vdup vcopy, vcmp, vsel, vconv, vbrcb, vgather, vreducev2, vnchwconv,
    vcadd, vcmax vcmin, vcgadd, vcgmax vcgmin
"""
REPEATED_INSTRUCTIONS: dict[str, str] = {name: row.split()[0] for row in _ROWS.split(",") for name in row.split()}
"""Instructions of the A2/A3 vector unit, each with its row in [instruction] of a target file: those of one row cost
alike. They read and write UB themselves, 256 bytes a repeat."""

UB_COPY = "copy_ubuf_to_ubuf"
"""A copy within UB among the instructions of a tile operation: [dma] has its price, under ub_ub."""

WORKITEM_CLASSES = ("launch", "workitem")
"""A launch of workitems, and the instructions of a warp that the scalar unit does not have: [simt] of a target file."""

SYNC_CLASS = "sync"
"""The class of flags, buffers, semaphores and barriers: [latency] of a target file prices them."""

WITHOUT_RESULT = frozenset({"store", "store_interleave", "scatter", "mask_store", "rename", "fence"})
"""These have no register result that another instruction could wait for."""
