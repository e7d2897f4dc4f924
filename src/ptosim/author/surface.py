"""Every name of the surface: calls with a word of their own, types, words, and behind them every operation class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

from ptosim.author import cube, dma, dtypes, local_buffers, memory, predicate, simt, sync, vector, views
from ptosim.author.call import PLAIN, Spelling, perform
from ptosim.author.dtypes import DTYPES
from ptosim.author.failures import RemovedName, failure
from ptosim.author.tile_calls import own_calls
from ptosim.author.tiles import alloc_tile
from ptosim.language.catalogue import operation, operations
from ptosim.language.operation import PTOOperation

INTERNAL = "pto.sim."
"""Operations of lowerings, which authors do not write."""

HERE = {
    "memory": (
        memory,
        "castptr addptr const load_scalar store_scalar declare_struct struct_get struct_set "
        "reserve_buffer import_reserved_buffer empty_like get_op_attr",
    ),
    "views": (views, "make_tensor_view partition_view"),
    "vector": (vector, " ".join(vector.CALLS)),
    "predicate": (predicate, predicate.NAMES),
    "sync": (sync, sync.NAMES),
    "dma": (dma, dma.NAMES),
    "cube": (cube, cube.NAMES),
    "simt": (simt, simt.NAMES),
    "local_buffers": (local_buffers, local_buffers.NAMES),
    "dtypes": (
        dtypes,
        "ptr gm_ptr vreg_type mask_type align_type struct_type tile_type vec_type bytewidth elements_per_vreg",
    ),
}
"""The rooms, and the calls that each has."""

SPELLINGS: Mapping[str, Spelling] = {
    "pto.vcmp": Spelling({"cmp_mode": "comparison", "mode": "comparison", "cmp": "comparison"}),
    "pto.vcmps": Spelling({"cmp_mode": "comparison", "mode": "comparison", "cmp": "comparison"}),
    "pto.vtrc": Spelling({"round_mode": "rnd"}, defaults={"rnd": "Z"}),
    "pto.vsel": Spelling({"true_value": "on_true", "false_value": "on_false"}),
    "pto.mem_bar": Spelling({"kind": "order", "barrier_type": "order"}),
    "pto.tgather": Spelling({"indices": "idx", "indexes": "idx", "k_value": "scalar"}, order=("src", "dst")),
    "pto.tscatter": Spelling({"indices": "idx", "indexes": "idx"}, order=("src", "dst")),
    "pto.tcvt": Spelling({"sat_mode": "satmode", "round_mode": "rmode"}),
    "pto.tci": Spelling(defaults={"descending": None}),
    **{f"pto.shuffle_{each}": Spelling(defaults={"width": 32}) for each in ("idx", "up", "down", "bfly")},
}
"""Calls whose keywords or order differ from those of the class."""

TILE_NAMES: Mapping[str, str] = {
    "transpose": "ttrans",
    "bit_not": "tnot",
    "bit_and": "tand",
    "bit_or": "tor",
    "bit_xor": "txor",
    "bit_shl": "tshl",
    "bit_shr": "tshr",
    "bit_ands": "tands",
    "bit_ors": "tors",
    "bit_xors": "txors",
    "bit_shls": "tshls",
    "bit_shrs": "tshrs",
}
"""Names of `pto.tile` that are not those of the operations."""

REMOVED = {
    "ukernel": "@pto.jit(entry=False) or @pto.tileop",
    "tile_buf_type": "pto.alloc_tile(shape=…, dtype=…) or pto.tile_type(…)",
    "as_ptr": "tile.as_ptr() or view.as_ptr()",
    "vbrc_load": 'pto.vlds(ptr, off, dist="BRC_B32")',
    "vsts_1pt": 'pto.vsts(v, ptr, off, mask, dist="1PT_B32")',
    "constexpr": "pto.const_expr",
    "tensor_spec": "pto.make_tensor_view(ptr, shape=…, strides=…)",
    "TensorSpec": "pto.make_tensor_view(ptr, shape=…, strides=…)",
    "cube": '@pto.tileop for helpers, and kernel_kind="cube" for kernels',
    "simd": "@pto.tileop",
    "vreg": "pto.vreg_type(lanes, T)",
    "vsld": "pto.vlds(ptr, off, type)",
    "copy_ubuf_to_ubuf": "pto.mte_ub_ub(src, dst, len, nburst=…)",
}
"""Names that are gone, and what takes their place."""


@cache
def attribute_names() -> Mapping[str, type[PTOOperation]]:
    """The attribute of `pto` for each operation: dots become underscores."""
    return {
        op.name.removeprefix("pto.").replace(".", "_"): op
        for op in operations()
        if not op.name.startswith((INTERNAL, "pto.comm.", "pto.vmi."))
        and not op.region_roles
        and op.name.removeprefix("pto.") not in REMOVED
    }


def derived(kind: type[PTOOperation], shown: str) -> Callable[..., Any]:
    """The function of an operation class."""
    spelling = SPELLINGS.get(kind.name, PLAIN)

    def call(*args: Any, **given: Any) -> Any:
        return perform(kind, shown, spelling, args, given)

    call.__name__ = call.__qualname__ = shown.rpartition(".")[2]
    call.__doc__ = kind.__doc__
    return call


@cache
def pto_name(name: str) -> Any:
    """The object behind `pto.<name>`; raises AttributeError for an unknown name."""
    if name in DTYPES:
        return DTYPES[name]
    if name in REMOVED:
        raise _missing(name)
    for room, names in HERE.values():
        if name in names.split():
            return getattr(room, name)
    if name in _OTHERS:
        return _OTHERS[name]()
    if (kind := attribute_names().get(name)) is not None:
        if name in ("tsort32", "tmrgsort", "tgather", "tscatter", "tprint"):
            return tile_call(name.removeprefix("t"))
        return derived(kind, f"pto.{name}")
    raise _missing(name)


_OTHERS: Mapping[str, Callable[[], Any]] = {
    "alloc_tile": lambda: alloc_tile,
    "mask_b8": lambda: dtypes.mask_type("b8"),
    "mask_b16": lambda: dtypes.mask_type("b16"),
    "mask_b32": lambda: dtypes.mask_type("b32"),
    "comm": lambda: COMMUNICATION,
    "Tile": lambda: dtypes.TILE,
    "TensorView": lambda: dtypes.TENSOR_VIEW,
    "PartitionView": lambda: dtypes.PARTITION_VIEW,
    "PartitionTensorView": lambda: dtypes.PARTITION_VIEW,
    "print": lambda: print_scalar,
}


def print_scalar(text: Any, *values: Any) -> None:
    """Show scalars when the kernel runs: a text with formats such as %d and %f, and the values."""
    from xdsl.dialects.builtin import StringAttr

    from ptosim.author.call import default_type
    from ptosim.author.coerce import as_value
    from ptosim.author.trace import current

    kind = operation("pto.print")
    assert kind is not None
    given = [as_value(each, None if hasattr(each, "ssa") else default_type(each)).ssa for each in values]
    current("pto.print").make(kind, {"values": given}, (), {"format": StringAttr(str(text))})


def _missing(name: str) -> Exception:
    from difflib import get_close_matches

    if name in REMOVED:
        return failure(RemovedName, f"pto has no '{name}' any more: use {REMOVED[name]}")
    near = get_close_matches(name, known_names(), 1)
    hint = f"did you mean pto.{near[0]}?" if near else None
    if name.startswith(("copy_", "_")):
        hint = "copies are pto.mte_gm_ub, pto.mte_ub_gm and so on"
    return failure(RemovedName, f"pto has no '{name}'", hint=hint)


def known_names() -> list[str]:
    """Every name that pto_name knows."""
    rooms = [name for _, names in HERE.values() for name in names.split()]
    return [*DTYPES, *rooms, *_OTHERS, *attribute_names()]


# --- pto.tile ---------------------------------------------------------------------------------------------------------


@cache
def tile_call(name: str) -> Callable[..., Any]:
    """The function behind `pto.tile.<name>`."""
    own = own_calls()
    if name in own:
        return own[name]
    if name in TILE_NAMES:
        kind = operation(f"pto.{TILE_NAMES[name]}")
    else:
        dotted = name.replace("_", ".")
        kind = operation(f"pto.t{name}") or operation(f"pto.t{dotted}") or operation(f"pto.{name}")
    if kind is None or kind.region_roles or not kind.name.startswith("pto.") or name.startswith("_"):
        from difflib import get_close_matches

        near = get_close_matches(name, tile_names(), 1)
        raise failure(
            RemovedName, f"pto.tile has no '{name}'", hint=f"did you mean pto.tile.{near[0]}?" if near else None
        )
    return derived(kind, f"pto.tile.{name}")


@cache
def tile_names() -> tuple[str, ...]:
    """The names of `pto.tile`."""
    from ptosim.language.tile.tile_operation import TileOperation

    replaced = {*TILE_NAMES.values()}
    derived_names = (
        op.name.removeprefix("pto.t").replace(".", "_")
        for op in operations()
        if issubclass(op, TileOperation)
        and op.name.startswith("pto.t")
        and op.replaced_by is None
        and op.name.removeprefix("pto.") not in replaced
    )
    return tuple(dict.fromkeys((*own_calls(), *TILE_NAMES, *derived_names)))


class Communication(SimpleNamespace):
    """`pto.comm.*`: the operations between ranks."""

    def __getattr__(self, name: str) -> Any:
        kind = operation(f"pto.comm.{name}")
        if kind is None:
            raise failure(RemovedName, f"pto.comm has no '{name}'")
        return derived(kind, f"pto.comm.{name}")


COMMUNICATION = Communication()
