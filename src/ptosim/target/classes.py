"""The timing classes: the groups of instructions that a target prices alike.

An instruction names its class in its effects record: one of the four tables here. A vector instruction that nothing is
published for belongs to `other`, unless a class of its own says more.
"""

# Instructions of a vector function: [class] of a target file.
TIMING_CLASSES: dict[str, str] = {
    "abs": "vabs",
    "relu": "vrelu",
    "add": "vadd, vsub",
    "add_scalar": "vadds",
    "multiply": "vmul",
    "multiply_scalar": "vmuls, vneg",
    "minmax": "vmax, vmin",
    "max_scalar": "vmaxs",
    "min_scalar": "vmins",
    "logic": "vand, vor, vxor, vnot",
    "shift": "vshl, vshr, vshls, vshrs",
    "compare": "vcmp, vcmps",
    "select": "vsel",
    "exp": "vexp",
    "log": "vln",
    "sqrt": "vsqrt",
    "divide": "vdiv",
    "convert_float": "vcvt between two float types or between two integer types",
    "convert_int": "vcvt between a float and an integer type",
    "reduce_minmax": "vcmax, vcmin, vcbmax, vcbmin: one value for the whole register",
    "reduce_add": "vcadd: one value for the whole register",
    "group_minmax": "vcgmax, vcgmin: one value for each 32-byte group",
    "group_add": "vcgadd",
    "pair_add": "vcpadd",
    "broadcast_lane": "vdup",
    "broadcast": "vbr",
    "index": "vci",
    "permute": "vselr, vselrv2",
    "squeeze": "vsqz, vusqz",
    "round": "vtrc",
    "leaky_relu": "vlrelu, vprelu",
    "multiply_add": "vaxpy, vmula, vmadd",
    "multiply_long": "vmull",
    "multiply_convert": "vmulscvt",
    "exp_difference": "vexpdif",
    "load": "vlds, vsldb, vldas, vldus: every load of one register or of an alignment state",
    "load_pair": "vldsx2",
    "store": "vsts, vsstb, vsst, vstus, vstur, vstas, vstar, vstu, vsta, sprsti, sprsts",
    "store_interleave": "vstsx2",
    "gather": "vgather2, vgather2_bc",
    "gather_block": "vgatherb",
    "scatter": "vscatter",
    "mask": "instructions on predicates alone: pset, pge, plt, pand, psel, ppack, pintlv; no vector issue slot",
    "mask_load": "plds, pldi",
    "mask_store": "psts, psti, pstu",
    "other": "every other vector instruction: vintlv, vpack, vunpack, vaddc, histograms",
    "scalar": "arith, pointer arithmetic, scalar loads and stores, sprclr: no vector issue slot",
    "rename": "vbitcast, pbitcast, init_align, sim.require, sim.print_tile, sim.group, sim.apart: no instruction",
    "fence": "mem_bar",
}

# Entries of a pipe of their own, outside vector functions: [operation] of a target file.
OPERATION_CLASSES: dict[str, str] = {
    "sort": "vbitsort",
    "merge_sort": "vmrgsort4",
    "mad": "mad and its kin, sim.start_acc",
}

# Copies, by source and destination: [dma] of a target file.
COPY_CLASSES: dict[str, str] = {
    "link": "copies whose global memory is that of another rank",
    "transfer": "comm.tget_async; comm.tput_async where it is no copy through a tile",
    "gm_ub": "mte_gm_ub, copy_gm_to_ubuf, sim.gather, sim.gather_mte2",
    "ub_gm": "mte_ub_gm, copy_ubuf_to_gm, sim.scatter, sim.scatter_mte3",
    "gm_l1": "mte_gm_l1, mte_gm_l1_frac, copy_gm_to_cbuf and its kin",
    "ub_ub": "mte_ub_ub, copy_ubuf_to_ubuf",
    "ub_l1": "mte_ub_l1, copy_ubuf_to_cbuf",
    "l1_ub": "mte_l1_ub, copy_cbuf_to_ubuf",
    "l1_l0a": "mte_l1_l0a and its variants",
    "l1_l0b": "mte_l1_l0b and its variants",
    "l1_bt": "mte_l1_bt, copy_cbuf_to_bt",
    "l1_fb": "mte_l1_fb, copy_cbuf_to_fbuf, sim.scale_words",
    "l1_fill": "raw_fill_l1, create_cbuf_matrix",
    "l0c_gm": "mte_l0c_gm, copy_matrix_cc_to_gm, sim.l1_gm",
    "l0c_l1": "mte_l0c_l1, copy_matrix_cc_to_cbuf",
    "l0c_ub": "mte_l0c_ub, copy_matrix_cc_to_ub",
}

# What flags, buffers, semaphores and barriers belong to: [latency] of a target file prices what they do.
SYNC_CLASS = "sync"

# These have no register result that another instruction could wait for.
WITHOUT_RESULT = frozenset({"store", "store_interleave", "scatter", "mask_store", "rename", "fence"})
