"""Copies between memories: rows by `nburst`, loops around them, padding."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32, i64
from xdsl.ir import SSAValue

from ptosim.author.coerce import address, integer64, integers64, literal, scalar_value, whole
from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.trace import explicit_only
from ptosim.author.values import ScalarValue
from ptosim.author.words import choice, spelled, word
from ptosim.language.catalogue import operation
from ptosim.language.types import PtrType

L2_CACHE: Sequence[str] = (
    "nmfv nmlv nmprs nmred naci napw napi nared wbhfv wbhlv wbhprs wbhred wtsfv wtslv wtsprs wtsred"
).split()
"""The cache hints of a store, by number."""


def _copy(
    name: str,
    src: Any,
    dst: Any,
    length: Any,
    nburst: Any,
    steps: tuple[str, str],
    loops: Any = None,
    more: Mapping[str, SSAValue | None] | None = None,
) -> None:
    trace = explicit_only(f"pto.{name}")
    kind = operation(f"pto.{name}")
    assert kind is not None
    if nburst is None:
        raise failure(WrongType, f"pto.{name} takes nburst=(count, {steps[0]}, {steps[1]})")
    counts = integers64(nburst, f"nburst of pto.{name}", ("count", *steps))
    operands: dict[str, SSAValue | Sequence[SSAValue] | None] = {
        "source": address(src, f"the source of pto.{name}"),
        "dest": address(dst, f"the destination of pto.{name}"),
        "len_burst": integer64(length, f"the length of pto.{name}"),
        **dict(zip(("n_burst", *steps), counts, strict=True)),
        **(more or {}),
    }
    if loops:
        if not isinstance(loops, tuple | list):
            raise failure(WrongType, f"loops of pto.{name} is a list of (count, source step, destination step)")
        given = [loops] if isinstance(loops, tuple) and not isinstance(loops[0], tuple | list) else list(loops)
        rows = [
            integers64(each, f"a loop of pto.{name}", ("count", "source step", "destination step")) for each in given
        ]
        for role, values in zip(
            ("loop_counts", "loop_source_strides", "loop_dest_strides"), zip(*rows, strict=True), strict=True
        ):
            operands[role] = list(values)
    trace.make(kind, operands)


_STRIDES = ("source_stride", "dest_stride")
_GAPS = ("source_gap", "dest_gap")


def mte_gm_ub(
    src: Any, dst: Any, l2_cache_ctl: Any, len_burst: Any, *, nburst: Any = None, loops: Any = None, pad: Any = None
) -> None:
    """Copy rows from GM to UB."""
    more: dict[str, SSAValue | None] = {"l2_cache_ctl": integer64(l2_cache_ctl, "l2_cache_ctl")}
    if pad is not None:
        fill, *sides = pad if isinstance(pad, tuple | list) else (pad,)
        base = address(dst, "the destination of pto.mte_gm_ub")
        assert isinstance(base.type, PtrType)
        is_value = isinstance(fill, ScalarValue)
        more["pad_value"] = fill.ssa if is_value else scalar_value(fill, base.type.element, "the value of pad")
        if sides:
            left, right = integers64(tuple(sides), "pad behind its value", ("left", "right"))
            more |= {"left_padding": left, "right_padding": right}
    _copy("mte_gm_ub", src, dst, len_burst, nburst, _STRIDES, loops, more)


def mte_ub_gm(
    src: Any,
    dst: Any,
    len_burst: Any,
    *,
    nburst: Any = None,
    loops: Any = None,
    l2_cache: Any = None,
    l2_cache_ctl: Any = None,
) -> None:
    """Copy rows from UB to GM."""
    chosen = l2_cache if l2_cache is not None else l2_cache_ctl
    more: dict[str, SSAValue | None] = {}
    if chosen is not None and spelled(chosen) != "nmfv":
        text = spelled(chosen)
        number = L2_CACHE.index(choice(text, tuple(L2_CACHE), "l2_cache")) if text is not None else chosen
        more["l2_cache_ctl"] = integer64(number, "l2_cache")
    _copy("mte_ub_gm", src, dst, len_burst, nburst, _STRIDES, loops, more)


def mte_gm_l1(src: Any, dst: Any, len_burst: Any, *, nburst: Any = None, loops: Any = None) -> None:
    """Copy rows from GM to L1."""
    _copy("mte_gm_l1", src, dst, len_burst, nburst, _STRIDES, loops)


def mte_l1_ub(src: Any, dst: Any, len_burst: Any, *, nburst: Any = None, loops: Any = None) -> None:
    """Copy rows from L1 to UB."""
    _copy("mte_l1_ub", src, dst, len_burst, nburst, _GAPS, loops)


def mte_ub_ub(src: Any, dst: Any, len_burst: Any, *, nburst: Any = None) -> None:
    """Copy rows inside UB."""
    _copy("mte_ub_ub", src, dst, len_burst, nburst, _GAPS)


def mte_ub_l1(src: Any, dst: Any, len_burst: Any, *, nburst: Any = None) -> None:
    """Copy rows from UB to L1."""
    _copy("mte_ub_l1", src, dst, len_burst, nburst, _GAPS)


def mte_l1_bt(src: Any, dst: Any, len_burst: Any, *, nburst: Any = None) -> None:
    """Copy a bias from L1 to its table."""
    _copy("mte_l1_bt", src, dst, len_burst, nburst, _GAPS)


def mte_l1_fb(src: Any, dst: Any, len_burst: Any, *, nburst: Any = None) -> None:
    """Copy parameters of the fixpipe from L1."""
    _copy("mte_l1_fb", src, dst, len_burst, nburst, _GAPS)


mte_load = mte_gm_ub
mte_store = mte_ub_gm


def mte_gm_l1_frac(
    src: Any, dst: Any, mode: Any, *, shape: Any, src_layout: Any, dst_group: Any, ctrl: Any = (0, False)
) -> None:
    """Copy a matrix from GM into fractals in L1."""
    from ptosim.author.coerce import NAMED

    trace = explicit_only("pto.mte_gm_l1_frac")
    kind = operation("pto.mte_gm_l1_frac")
    assert kind is not None
    n, d = integers64(shape, "shape", ("n", "d"))
    strides = src_layout if isinstance(src_layout, tuple | list) else (src_layout,)
    inner, *outer = strides
    groups = integers64(dst_group, "dst_group", ("groups", "loop2", "loop3", "loop4"))
    if not isinstance(ctrl, tuple | list) or len(ctrl) != 2:
        raise failure(WrongType, f"ctrl is (l2_cache_ctl, small_c0), not {ctrl!r}")
    cache, small = ctrl
    if literal(small) is not None:
        small = bool(small)
    operands: dict[str, SSAValue | None] = {
        "source": address(src, "the source of pto.mte_gm_l1_frac"),
        "dest": address(dst, "the destination of pto.mte_gm_l1_frac"),
        "n": n,
        "d": d,
        "inner_stride": integer64(inner, "the inner stride"),
        "outer_stride": integer64(outer[0], "the outer stride") if outer else None,
        **dict(zip(("groups", "loop2_stride", "loop3_stride", "loop4_stride"), groups, strict=True)),
        "l2_cache_ctl": integer64(cache, "l2_cache_ctl"),
        "small_c0": scalar_value(small, NAMED["i1"], "small_c0"),
    }
    trace.make(kind, operands, (), {"layout": StringAttr(word(mode, kind.words["layout"], "mode"))})


def raw_fill_l1(
    dst: Any,
    byte_offset: Any,
    raw_value: Any,
    *,
    repeat_times: Any = 1,
    block_num_32b: Any = 1,
    dst_gap_32b: Any = 0,
    fill_word_bits: Any = 32,
) -> None:
    """Fill L1 with a word of 16 or 32 bits."""
    trace = explicit_only("pto.raw_fill_l1")
    kind = operation("pto.raw_fill_l1")
    assert kind is not None
    bits = whole(fill_word_bits, "fill_word_bits")
    if bits not in (16, 32):
        raise failure(WrongValue, f"fill_word_bits is 16 or 32, not {bits}")
    operands = {
        "dest": address(dst, "the destination of pto.raw_fill_l1"),
        "byte_offset": integer64(byte_offset, "byte_offset"),
        "value": scalar_value(raw_value, i32, "raw_value"),
        "repeat": integer64(repeat_times, "repeat_times"),
        "blocks": integer64(block_num_32b, "block_num_32b"),
        "gap": integer64(dst_gap_32b, "dst_gap_32b"),
    }
    trace.make(kind, operands, (), {"fill_word_bits": IntegerAttr(bits, i64)})


NAMES = (
    "mte_gm_ub mte_ub_gm mte_gm_l1 mte_l1_ub mte_ub_ub mte_ub_l1 mte_l1_bt mte_l1_fb mte_load mte_store mte_gm_l1_frac "
    "raw_fill_l1"
)
