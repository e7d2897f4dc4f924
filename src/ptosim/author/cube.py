"""The cube: operands from L1, products, and what the fixpipe makes of accumulators."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import BoolAttr, StringAttr, UnitAttr, f32
from xdsl.ir import Attribute, SSAValue

from ptosim.author.coerce import address, integer64, integers64, literal, scalar_value, whole
from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.trace import current, explicit_only
from ptosim.author.values import ScalarValue, Traced
from ptosim.author.words import word
from ptosim.language.catalogue import operation
from ptosim.language.types import PtrType

_STEPS = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")
_SCALE_STEPS = ("x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride")
_ROLES = {"src_stride": "source_stride", "dst_stride": "dest_stride"}


def _operand_load(name: str, sides: tuple[str, str], steps: tuple[str, ...]) -> Any:
    def load(
        src: Any,
        dst: Any,
        first: Any = None,
        second: Any = None,
        *,
        start_row: Any = 0,
        start_col: Any = 0,
        transpose: Any = None,
        **given: Any,
    ) -> None:
        for side, at in zip(sides, (0, 1), strict=True):
            if side in given:
                first, second = (given.pop(side), second) if at == 0 else (first, given.pop(side))
        unknown = [each for each in given if each not in steps]
        if unknown or (transpose is not None and name.endswith("_mx")):
            raise failure(WrongType, f"pto.{name} has no argument '{(unknown or ['transpose'])[0]}'")
        kind = operation(f"pto.{name}")
        assert kind is not None
        trace = explicit_only(f"pto.{name}")
        operands: dict[str, SSAValue | None] = {
            "source": address(src, f"the source of pto.{name}"),
            "dest": address(dst, f"the destination of pto.{name}"),
        }
        if given:
            missing = [each for each in steps if each not in given]
            if missing or first is not None or second is not None:
                ways = f"({', '.join(sides)}), or all of {', '.join(steps)}"
                raise failure(WrongType, f"pto.{name} takes either {ways}")
            operands |= {_ROLES.get(each, each): integer64(given[each], each) for each in steps}
        elif first is None or second is None:
            raise failure(WrongType, f"pto.{name} takes (src, dst, {', '.join(sides)}), or all of {', '.join(steps)}")
        else:
            operands |= {sides[0]: integer64(first, sides[0]), sides[1]: integer64(second, sides[1])}
            operands |= {"start_row": integer64(start_row, "start_row"), "start_col": integer64(start_col, "start_col")}
        properties: dict[str, Attribute | None] = {}
        if not name.endswith("_mx"):
            properties["transpose"] = BoolAttr.from_bool(bool(whole(int(bool(transpose)), "transpose")))
        trace.make(kind, operands, (), properties)

    load.__name__ = name
    load.__doc__ = f"Load an operand of a product from L1: ({', '.join(sides)}), or all of {', '.join(steps)}."
    return load


mte_l1_l0a = _operand_load("mte_l1_l0a", ("m", "k"), _STEPS)
mte_l1_l0b = _operand_load("mte_l1_l0b", ("k", "n"), _STEPS)
mte_l1_l0a_mx = _operand_load("mte_l1_l0a_mx", ("m", "k"), _SCALE_STEPS)
mte_l1_l0b_mx = _operand_load("mte_l1_l0b_mx", ("k", "n"), _SCALE_STEPS)


def _product(name: str, has_bias: bool) -> Any:
    def mad(
        lhs: Any,
        rhs: Any,
        dst: Any,
        *rest: Any,
        unit_flag: Any = None,
        disable_gemv: bool = False,
        sat: Any = None,
        tf32_mode: Any = None,
        n_dir: bool = False,
        **given: Any,
    ) -> None:
        names = (*(("bias",) if has_bias else ()), "m", "n", "k")
        sizes = {**dict(zip(names, rest, strict=False)), **given}
        if len(rest) > len(names) or set(sizes) != set(names):
            raise failure(WrongType, f"pto.{name} takes (lhs, rhs, dst, {', '.join(names)})")
        kind = operation(f"pto.{name}")
        assert kind is not None
        operands: dict[str, SSAValue | None] = {
            "a": address(lhs, f"lhs of pto.{name}"),
            "b": address(rhs, f"rhs of pto.{name}"),
            "c": address(dst, f"dst of pto.{name}"),
            **{each: integer64(sizes[each], each) for each in ("m", "n", "k")},
        }
        if has_bias:
            operands["bias"] = address(sizes["bias"], f"bias of pto.{name}")
        saturation = {True: "sat", False: "nosat"}.get(sat, sat) if isinstance(sat, bool) else sat
        properties: dict[str, Attribute | None] = {
            "unit_flag": _word(kind, "unit_flag", unit_flag),
            "sat": _word(kind, "sat", saturation),
            "tf32_mode": _word(kind, "tf32_mode", tf32_mode),
            "disable_gemv": UnitAttr() if disable_gemv else None,
            "n_dir": UnitAttr() if n_dir else None,
        }
        current(f"pto.{name}").make(kind, operands, (), properties)

    mad.__name__ = name
    mad.__doc__ = "A product of the cube."
    return mad


def _word(kind: Any, role: str, value: Any) -> StringAttr | None:
    return None if value is None else StringAttr(word(value, kind.words[role], role))


mad, mad_acc, mad_bias = (_product(each, each.endswith("bias")) for each in ("mad", "mad_acc", "mad_bias"))
mad_mx, mad_mx_acc, mad_mx_bias = (
    _product(each, each.endswith("bias")) for each in ("mad_mx", "mad_mx_acc", "mad_mx_bias")
)


# --- the fixpipe ------------------------------------------------------------------------------------------------------

_LAYOUTS = ("nz2nd", "nz2dn", "nz2nz")


def _store(
    name: str, src: Any, dst: Any, sizes: tuple[Any, ...], more: dict[str, SSAValue | None], clauses: dict[str, Any]
) -> None:
    trace, kind = explicit_only(f"pto.{name}"), operation(f"pto.{name}")
    assert kind is not None
    names = ("m", "n", "source_stride", "dest_stride")
    operands: dict[str, SSAValue | None] = {
        "source": address(src, f"the source of pto.{name}"),
        "dest": address(dst, f"the destination of pto.{name}"),
        **{each: integer64(size, f"{each} of pto.{name}") for each, size in zip(names, sizes, strict=True)},
        **more,
    }
    properties: dict[str, Attribute | None] = {"unit_flag": _word(kind, "unit_flag", clauses["unit_flag"])}
    _quantised(kind, name, clauses["pre_quant"], operands, properties)
    _rectified(kind, name, clauses["pre_relu"], operands, properties)
    _laid_out(clauses["layout"], operands, properties)
    if clauses["loop3"] is not None:
        counts = integers64(clauses["loop3"], "loop3", ("count", "source stride", "destination stride"))
        operands |= dict(zip(("loop3_count", "loop3_source_stride", "loop3_dest_stride"), counts, strict=True))
    sat = clauses["sat"]
    properties["sat"] = _word(kind, "sat", {True: "sat", False: "nosat"}[sat] if isinstance(sat, bool) else sat)
    properties |= clauses.get("words", {})
    if (atomic := clauses.get("atomic")) is not None:
        if not isinstance(atomic, tuple | list) or len(atomic) != 2:
            raise failure(WrongType, f"atomic is (type, operation), not {atomic!r}")
        type_, combined = (getattr(each, "name", each) for each in atomic)
        properties["atomic_type"] = _word(kind, "atomic_type", type_)
        properties["atomic_op"] = _word(kind, "atomic_op", combined)
    trace.make(kind, operands, (), properties)


def _quantised(kind: Any, name: str, given: Any, operands: dict[str, Any], properties: dict[str, Any]) -> None:
    if given is None:
        return
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise failure(WrongType, f"pre_quant of pto.{name} is (payload, mode), not {given!r}")
    payload, mode = given
    operands["quant_payload"] = _payload(payload)
    properties["quant_mode"] = _word(kind, "quant_mode", mode)


def _payload(value: Any) -> SSAValue:
    if isinstance(value, Traced):
        return value.ssa
    if literal(value) is not None:
        return scalar_value(float(value), f32, "the payload")
    return address(value, "the payload")


def _rectified(kind: Any, name: str, given: Any, operands: dict[str, Any], properties: dict[str, Any]) -> None:
    if given is None:
        return
    parts: list[Any] = list(given) if isinstance(given, tuple | list) else [given]
    if not 1 <= len(parts) <= 3:
        raise failure(WrongType, f"pre_relu of pto.{name} is (mode, payload, clip), not {given!r}")
    mode, payload, clip = (*parts, None, None)[:3]
    properties["relu_mode"] = _word(kind, "relu_mode", mode)
    operands["relu_payload"] = None if payload is None else _payload(payload)
    if clip is not None:
        dest = operands["dest"].type
        assert isinstance(dest, PtrType)
        operands["clip"] = clip.ssa if isinstance(clip, ScalarValue) else scalar_value(clip, dest.element, "clip")


def _laid_out(given: Any, operands: dict[str, Any], properties: dict[str, Any]) -> None:
    if given is None:
        return
    parts: list[Any] = list(given) if isinstance(given, tuple | list) else [given]
    text = getattr(parts[0], "value", parts[0])
    if text not in _LAYOUTS:
        raise failure(WrongValue, f"there is no layout {text!r}; known: {', '.join(_LAYOUTS)}")
    properties["layout"] = StringAttr(text)
    if len(parts) > 1:
        operands["loop0_stride" if text == "nz2dn" else "split"] = integer64(parts[1], f"the argument of {text}")


def mte_l0c_ub(
    src: Any,
    dst: Any,
    m: Any,
    n: Any,
    src_stride: Any,
    dst_stride: Any,
    sub_blockid: Any = 0,
    *,
    split: Any = None,
    unit_flag: Any = None,
    pre_quant: Any = None,
    pre_relu: Any = None,
    layout: Any = "nz2nd",
    loop3: Any = None,
    sat: Any = None,
) -> None:
    """Move accumulators to the UB of a vector core, or of both."""
    from ptosim.author.words import choice

    clauses: dict[str, Any] = {"unit_flag": unit_flag, "pre_quant": pre_quant, "pre_relu": pre_relu}
    clauses |= {"layout": layout, "loop3": loop3, "sat": sat}
    more: dict[str, SSAValue | None] = {}
    if split is None:
        more["sub_block"] = integer64(sub_blockid, "sub_blockid")
    else:
        modes = {"split_m": "split_m", "split_n": "split_n", "m": "split_m", "n": "split_n"}
        clauses["words"] = {"dst_mode": StringAttr(choice(split, modes, "split"))}
    _store("mte_l0c_ub", src, dst, (m, n, src_stride, dst_stride), more, clauses)


def mte_l0c_l1(
    src: Any,
    dst: Any,
    m: Any,
    n: Any,
    src_stride: Any,
    dst_stride: Any,
    *,
    unit_flag: Any = None,
    pre_quant: Any = None,
    pre_relu: Any = None,
    layout: Any = "nz2nd",
    loop3: Any = None,
    sat: Any = None,
) -> None:
    """Move accumulators to L1."""
    clauses: dict[str, Any] = {"unit_flag": unit_flag, "pre_quant": pre_quant, "pre_relu": pre_relu}
    clauses |= {"layout": layout, "loop3": loop3, "sat": sat}
    _store("mte_l0c_l1", src, dst, (m, n, src_stride, dst_stride), {}, clauses)


def mte_l0c_gm(
    src: Any,
    dst: Any,
    m: Any,
    n: Any,
    src_stride: Any,
    dst_stride: Any,
    sid: Any = 0,
    l2_cache_ctl: Any = 0,
    *,
    unit_flag: Any = None,
    pre_quant: Any = None,
    pre_relu: Any = None,
    layout: Any = "nz2nd",
    loop3: Any = None,
    sat: Any = None,
    atomic: Any = None,
) -> None:
    """Move accumulators to global memory."""
    clauses: dict[str, Any] = {"unit_flag": unit_flag, "pre_quant": pre_quant, "pre_relu": pre_relu}
    clauses |= {"layout": layout, "loop3": loop3, "sat": sat, "atomic": atomic}
    more: dict[str, SSAValue | None] = {
        "sid": integer64(sid, "sid"),
        "l2_cache_ctl": integer64(l2_cache_ctl, "l2_cache_ctl"),
    }
    _store("mte_l0c_gm", src, dst, (m, n, src_stride, dst_stride), more, clauses)


NAMES = (
    "mte_l1_l0a mte_l1_l0b mte_l1_l0a_mx mte_l1_l0b_mx mad mad_acc mad_bias mad_mx mad_mx_acc mad_mx_bias "
    "mte_l0c_ub mte_l0c_l1 mte_l0c_gm"
)
