"""The attributes of the tile language that are words, each kind with its values and the spelling that is printed.

Every kind is read as `#pto.kind<value>`, as `#pto<kind value>`, as a string and bare where the text has a place for it.
The class of an operation says its attributes, their names and defaults. Pipes and event ids are in sync.py, memory
spaces in types.py.
"""

from __future__ import annotations

from ptosim.language.text.tile_syntax import AttributeKind, opaque, pretty

_PRETTY = {
    "layout": "nd dn nz mx_a_zz mx_b_nn",
    "kernel_kind": "cube vector",
    "mask_pattern": "P0101 P1010 P0001 P0010 P0100 P1000 P1111",
    "pad_value": "null zero max min",
    "padmode": "PadNull PadFirstElem PadValue",
    "blayout": "row_major col_major",
    "slayout": "none_box row_major col_major",
    "acc_to_vec_mode": "single_mode_vec0 single_mode_vec1 dual_mode_split_m dual_mode_split_n",
    "tinsert_mode": "split2 split4",
    "sync_all_mode": "hard soft",
    "sync_core_type": "aiv_only aic_only mix",
    "fence_scope": "local_memory gm all",
}

_PHASES = "unspecified partial final"
_PRECISIONS = "default high_precision"
_COMPARISONS = "eq ne lt le gt ge"

_OPAQUE = {
    "round_mode": "NONE RINT ROUND FLOOR CEIL TRUNC ODD CAST_RINT",
    "saturation_mode": "ON OFF",
    "cmp": _COMPARISONS,
    "atomic_type": "atomic_none atomic_add",
    "st_phase": _PHASES,
    "acc_phase": _PHASES,
    "relu_pre_mode": "no_relu normal_relu scalar_relu vector_relu pwl",
    **{
        f"{function}_precision": _PRECISIONS
        for function in ("div", "exp", "log", "recip", "rem", "rsqrt", "sqrt", "fmod", "pow")
    },
    "quant_type": "INT8_SYM INT8_ASYM MXFP8 MXFP4_E2M1",
    "quant_scale_alg": "ocp nv",
    "mx_group_axis": "axis0 axis1",
    "vec_store_mode": "nd nz",
    "gather_oob": "undefined clamp wrap zero",
    "coalesce": "row elem",
    "scatter_atomic_op": "none add max min",
    "scatter_oob": "undefined skip clamp wrap",
    "scatter_conflict": "default last",
    "print_format": "width8_precision4 width8_precision2 width10_precision6",
    "notify_op": "atomic_add set",
    "wait_cmp": _COMPARISONS,
    "reduce_op": "sum max min",
}

KINDS: dict[str, AttributeKind] = {
    **{kind: pretty(kind, words) for kind, words in _PRETTY.items()},
    **{kind: opaque(kind, words) for kind, words in _OPAQUE.items()},
}
"""Every kind by its name."""
