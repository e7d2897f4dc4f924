"""What is read and verified and cannot run yet: operations on tiles that wait for their lowering, room by room.

The table may only shrink: a test compares it with the operations that no engine has and no pass rewrites. Running a
kernel that reaches one of them is a diagnostic.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.diagnostics import Diagnostic
from ptosim.language.function import reached
from ptosim.language.kernels import KernelProgram
from ptosim.language.operation import Problem
from ptosim.language.parser import ParsedModule

_ROOMS = {
    "tensor_view": (
        "make_tensor_view partition_view get_tensor_view_dim get_tensor_view_stride tensor_view_addr declare_global"
    ),
    "tile_view": (
        "alloc_tile alloc_multi_tile multi_tile_get declare_tile tassign subview treshape bitcast set_validshape "
        "get_validshape tile_valid_rows tile_valid_cols tile_buf_addr"
    ),
    "tile_reserve": "reserve_buffer import_reserved_buffer",
    "tile_vector_fill": "tci ttri trandom",
    "tile_vector_quantise": "tquant tquant.mx tdequant thistogram tprint",
    "tile_rearrange": "tget_scale_addr",
    "tile_matrix": (
        "tmatmul tmatmul.acc tmatmul.bias tmatmul.mx tmatmul.mx.acc tmatmul.mx.bias "
        "tgemv tgemv.acc tgemv.bias tgemv.mx tgemv.mx.acc tgemv.mx.bias"
    ),
    "tile_fifo": (
        "aic_initialize_pipe aiv_initialize_pipe talloc_to_aiv talloc_to_aic tpush_to_aiv tpush_to_aic tpop_from_aic "
        "tpop_from_aiv tfree_from_aic tfree_from_aiv set_quant_scalar set_quant_vector"
    ),
    "tile_pipe": "initialize_l2l_pipe initialize_l2g2l_pipe tpush tpop talloc tfree",
    "tile_sync": "tsync declare_eventid_array eventid_array_get eventid_array_set",
    "tile_scalar": "tgetval tsetval settf32mode",
    "comm": (
        "comm.tput comm.tget comm.tnotify comm.twait comm.ttest comm.tbroadcast comm.tgather comm.tscatter comm.treduce"
    ),
    "comm_async": (
        "comm.build_async_session comm.tput_async comm.tget_async comm.wait_async_event comm.test_async_event "
        "make_prefetch_async_context tprefetch_async get_prefetch_async_session"
    ),
}

PENDING = frozenset(f"pto.{word}" for words in _ROOMS.values() for word in words.split())
"""Their names."""


def waiting(parsed: ParsedModule, program: KernelProgram) -> Iterator[Diagnostic]:
    """The operations that keep a kernel from running, each name once, where it is met first."""
    met: set[str] = set()
    for op in reached(*program.entries.values()):
        if op.name in PENDING and op.name not in met:
            met.add(op.name)
            yield parsed.diagnostic(op, Problem(f"{op.name} cannot be run yet", kind="unsupported"))
