"""`pto.vmi.*`: logical vectors of any length. Result types follow from the operands."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import UnitAttr, f32, i16
from xdsl.ir import Attribute, SSAValue

from ptosim.author.call import default_type
from ptosim.author.coerce import address, as_value, index, refuse_unset, scalar_value, whole
from ptosim.author.dtypes import dtype as named
from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.logical import (
    LogicalMaskDescription,
    LogicalVectorDescription,
    emitted,
    is_truths,
    logical,
    logical_operation,
    mask_type,
    truths,
    vector_type,
)
from ptosim.author.memory import element_reference
from ptosim.author.values import HandleValue, ScalarValue, Traced
from ptosim.author.words import choice
from ptosim.language.logical_types import LogicalVectorType
from ptosim.language.types import PtrType, element_of

_SCALAR_FORMS = {"vadd": "vadds", "vmul": "vmuls", "vmax": "vmaxs", "vmin": "vmins", "vshl": "vshls", "vshr": "vshrs"}
_COMMUTES = ("vadd", "vmul", "vmax", "vmin")
LOADS = ("continuous", "unpack", "brc", "dintlv")


# --- types ------------------------------------------------------------------------------------------------------------


def vreg(lanes: int, element_type: Any) -> LogicalVectorDescription:
    """The type of a logical vector."""
    return LogicalVectorDescription(whole(lanes, "the lanes of a vector"), named(element_type))


def mask(lanes: int) -> LogicalMaskDescription:
    """The type of a mask of logical lanes."""
    return LogicalMaskDescription(whole(lanes, "the lanes of a mask"))


# --- memory -----------------------------------------------------------------------------------------------------------


def _family(name: str, given: Mapping[str, Any]) -> str:
    """The way to reach memory that the arguments mean, of three that exclude each other."""
    grouped = given["group"] is not None or given["stride"] is not None
    blocked = given["block_stride"] is not None or given["repeat_stride"] is not None
    mode = given["dist_mode"]
    if grouped and blocked:
        raise failure(WrongType, f"{name} takes group with stride, or block_stride with repeat_stride, not both")
    if grouped and (given["group"] is None or given["stride"] is None):
        raise failure(WrongType, f"{name}: group and stride are given together")
    if blocked and (given["block_stride"] is None or given["repeat_stride"] is None):
        raise failure(WrongType, f"{name}: block_stride and repeat_stride are given together")
    if (blocked and mode is not None) or (grouped and mode not in (None, "brc")):
        raise failure(WrongType, f"{name}: dist_mode {mode!r} does not go with strides")
    return "group" if grouped else "block" if blocked else "plain"


def _size(size: Any) -> int:
    """The lanes of a logical vector."""
    lanes = whole(size, "size")
    if lanes < 1:
        raise failure(WrongValue, f"size is a number of lanes, at least 1, not {lanes}")
    return lanes


def _strides(given: Mapping[str, Any]) -> dict[str, SSAValue | None]:
    return {
        "stride": None if given["stride"] is None else index(given["stride"], "stride"),
        "block_stride": None if given["block_stride"] is None else scalar_value(given["block_stride"], i16),
        "repeat_stride": None if given["repeat_stride"] is None else scalar_value(given["repeat_stride"], i16),
    }


def vload(
    ptr: Any,
    off: Any = 0,
    *,
    size: Any,
    to_dtype: Any = None,
    dist_mode: Any = None,
    group: Any = None,
    stride: Any = None,
    block_stride: Any = None,
    repeat_stride: Any = None,
    pmode: Any = None,
) -> Any:
    """Load a logical vector; with dist_mode "dintlv" a pair."""
    mode = None if dist_mode is None else choice(dist_mode, LOADS, "dist_mode")
    given = {"group": group, "stride": stride, "block_stride": block_stride, "repeat_stride": repeat_stride}
    _ = _family("pto.vmi.vload", {**given, "dist_mode": mode})
    if (to_dtype is not None) != (mode == "unpack"):
        raise failure(WrongType, 'pto.vmi.vload: to_dtype goes with dist_mode="unpack"')
    base, offset = element_reference(ptr, off)
    assert isinstance(base.type, PtrType)
    element = base.type.element if to_dtype is None else named(to_dtype).type
    type_ = vector_type(_size(size), element)
    operands = {"pointer": base, "offset": index(offset, "the offset"), **_strides(given)}
    properties = {
        "group": None if group is None else whole(group, "group"),
        "dist_mode": None if mode in (None, "continuous") else mode,
    }
    return emitted("vload", operands, [type_] * (2 if mode == "dintlv" else 1), properties, pmode)


def vstore(
    value: Any,
    ptr: Any,
    off: Any = 0,
    mask: Any = None,
    *,
    dist_mode: Any = None,
    group: Any = None,
    stride: Any = None,
    block_stride: Any = None,
    repeat_stride: Any = None,
    pmode: Any = None,
) -> None:
    """Store a logical vector; with dist_mode "dintlv" a pair (even, odd)."""
    mode = None if dist_mode is None else choice(dist_mode, ("continuous", "dintlv"), "dist_mode")
    given = {"group": group, "stride": stride, "block_stride": block_stride, "repeat_stride": repeat_stride}
    family = _family("pto.vmi.vstore", {**given, "dist_mode": mode})
    if family == "group" and mask is not None:
        raise failure(WrongType, "pto.vmi.vstore with group takes no mask")
    parts: list[Any] = list(value) if isinstance(value, tuple | list) else [value]
    if len(parts) != (2 if mode == "dintlv" else 1):
        raise failure(WrongType, 'pto.vmi.vstore takes a vector, or with dist_mode="dintlv" a pair (even, odd)')
    base, offset = element_reference(ptr, off)
    operands: dict[str, SSAValue | None] = {
        "value": logical(parts[0], "the value of pto.vmi.vstore"),
        "high": logical(parts[1], "the value of pto.vmi.vstore") if len(parts) == 2 else None,
        "pointer": base,
        "offset": index(offset, "the offset"),
        "mask": truths(mask, "mask of pto.vmi.vstore"),
        **_strides(given),
    }
    properties = {
        "group": None if group is None else whole(group, "group"),
        "dist_mode": None if mode in (None, "continuous") else mode,
    }
    emitted("vstore", operands, (), properties, pmode)


def vsstb(value: Any, ptr: Any, off: Any, block_stride: Any, mask: Any, *, pmode: Any = None) -> None:
    """Store blocks of 32 bytes that lie apart."""
    base, offset = element_reference(ptr, off)
    operands = {
        "value": logical(value, "the value of pto.vmi.vsstb"),
        "pointer": base,
        "offset": index(offset, "the offset"),
        "block_stride": scalar_value(block_stride, i16, "block_stride"),
        "mask": truths(mask, "mask of pto.vmi.vsstb"),
    }
    emitted("vsstb", operands, (), {}, pmode)


def _gather(name: str) -> Callable[..., Any]:
    def gather(ptr: Any, offs: Any, mask: Any, *, pmode: Any = None) -> Any:
        base, offsets = address(ptr), logical(offs, f"offsets of pto.vmi.{name}")
        assert isinstance(base.type, PtrType)
        lanes = offsets.type.lanes  # type: ignore[attr-defined]
        if name == "vgatherb":  # an offset for each block of 32 bytes
            lanes = lanes * 32 // element_of(base.type.element).bytes
        operands = {"pointer": base, "offsets": offsets, "mask": truths(mask, f"mask of pto.vmi.{name}")}
        return emitted(name, operands, [vector_type(lanes, base.type.element)], {}, pmode)

    return gather


def vscatter(value: Any, ptr: Any, offs: Any, mask: Any, *, pmode: Any = None) -> None:
    """Store lanes, each to its own offset."""
    operands = {
        "value": logical(value, "the value of pto.vmi.vscatter"),
        "pointer": address(ptr),
        "offsets": logical(offs, "offsets of pto.vmi.vscatter"),
        "mask": truths(mask, "mask of pto.vmi.vscatter"),
    }
    emitted("vscatter", operands, (), {}, pmode)


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _binary(name: str) -> Callable[..., Any]:
    def binary(a: Any, b: Any, mask: Any = None, *, pmode: Any = None) -> Any:
        if is_truths(a) and is_truths(b):
            return emitted(name, {"lhs": a.ssa, "rhs": b.ssa}, [a.ssa.type], {}, pmode)
        is_vector = [isinstance(each, Traced) and isinstance(each.ssa.type, LogicalVectorType) for each in (a, b)]
        if not all(is_vector) and any(is_vector) and name in _SCALAR_FORMS:
            if not is_vector[0] and name not in _COMMUTES:
                raise failure(WrongType, f"pto.vmi.{name} takes the vector first and the count behind it")
            vector, scalar = (a, b) if is_vector[0] else (b, a)
            return _with_scalar(_SCALAR_FORMS[name])(vector, scalar, mask, pmode=pmode)
        left, right = (
            logical(a, f"the left operand of pto.vmi.{name}"),
            logical(b, f"the right operand of pto.vmi.{name}"),
        )
        operands = {"lhs": left, "rhs": right, "mask": truths(mask, f"mask of pto.vmi.{name}")}
        return emitted(name, operands, [left.type], {}, pmode)

    return binary


def _element(vector: SSAValue) -> Attribute:
    return vector.type.element  # type: ignore[attr-defined]


def _with_scalar(name: str) -> Callable[..., Any]:
    def with_scalar(v: Any, s: Any, mask: Any = None, *, pmode: Any = None) -> Any:
        if mask is None:
            raise failure(WrongType, f"pto.vmi.{name} takes (vector, scalar, mask); mask is missing")
        vector = logical(v, f"the vector of pto.vmi.{name}")
        wanted = i16 if name in ("vshls", "vshrs") else _element(vector)
        operands = {
            "input": vector,
            "scalar": scalar_value(s, wanted, f"the scalar of pto.vmi.{name}"),
            "mask": truths(mask, f"mask of pto.vmi.{name}"),
        }
        return emitted(name, operands, [vector.type], {}, pmode)

    return with_scalar


def _unary(name: str) -> Callable[..., Any]:
    def unary(v: Any, mask: Any = None, *, pmode: Any = None) -> Any:
        if is_truths(v) and name == "vnot":
            return emitted(name, {"input": v.ssa}, [v.ssa.type], {}, pmode)
        vector = logical(v, f"the operand of pto.vmi.{name}")
        return emitted(
            name, {"input": vector, "mask": truths(mask, f"mask of pto.vmi.{name}")}, [vector.type], {}, pmode
        )

    return unary


def _reduction(name: str) -> Callable[..., Any]:
    def reduction(v: Any, mask: Any, *, group: Any = 1, pmode: Any = None) -> Any:
        vector, groups = logical(v, f"the operand of pto.vmi.{name}"), whole(group, "group")
        element = _element(vector)
        properties: dict[str, Any] = {"group": groups if groups != 1 else None}
        if name == "vcadd" and element_of(element).is_float:
            properties["reassoc"] = UnitAttr()
        operands = {"input": vector, "mask": truths(mask, f"mask of pto.vmi.{name}")}
        return emitted(name, operands, [vector_type(groups, element)], properties, pmode)

    return reduction


def vaddc(a: Any, b: Any, mask: Any, *, pmode: Any = None) -> Any:
    """Sum and carry."""
    left = logical(a, "the left operand of pto.vmi.vaddc")
    given = truths(mask, "mask of pto.vmi.vaddc")
    operands = {"lhs": left, "rhs": logical(b, "the right operand of pto.vmi.vaddc"), "mask": given}
    return emitted("vaddc", operands, [left.type, mask_type(_lanes(left))], {}, pmode)


def vaddcs(a: Any, b: Any, carry_in: Any, mask: Any, *, pmode: Any = None) -> Any:
    """Sum with a carry, and the next carry."""
    left = logical(a, "the left operand of pto.vmi.vaddcs")
    operands = {
        "lhs": left,
        "rhs": logical(b, "the right operand of pto.vmi.vaddcs"),
        "carry_in": truths(carry_in, "carry_in of pto.vmi.vaddcs"),
        "mask": truths(mask, "mask of pto.vmi.vaddcs"),
    }
    return emitted("vaddcs", operands, [left.type, mask_type(_lanes(left))], {}, pmode)


def _lanes(vector: SSAValue) -> int:
    return vector.type.lanes  # type: ignore[attr-defined]


def vcmp(a: Any, b: Any, seed: Any, cmp: Any, *, pmode: Any = None) -> Any:
    """Compare lanes under a mask."""
    left = logical(a, "the left operand of pto.vmi.vcmp")
    operands = {"lhs": left, "rhs": logical(b, "the right operand of pto.vmi.vcmp"), "seed": truths(seed, "seed")}
    return emitted("vcmp", operands, [mask_type(_lanes(left))], {"cmp": cmp}, pmode)


def vcmps(v: Any, s: Any, seed: Any, cmp: Any, *, pmode: Any = None) -> Any:
    """Compare lanes with a scalar under a mask."""
    vector = logical(v, "the vector of pto.vmi.vcmps")
    operands = {"input": vector, "scalar": scalar_value(s, _element(vector)), "seed": truths(seed, "seed")}
    return emitted("vcmps", operands, [mask_type(_lanes(vector))], {"cmp": cmp}, pmode)


def vsel(mask: Any, t: Any, f: Any, *, pmode: Any = None) -> Any:
    """t where the mask holds, else f."""
    chosen = logical(t, "the first vector of pto.vmi.vsel")
    operands = {"mask": truths(mask, "mask of pto.vmi.vsel"), "on_true": chosen}
    return emitted(
        "vsel", {**operands, "on_false": logical(f, "the second vector of pto.vmi.vsel")}, [chosen.type], {}, pmode
    )


def vselr(v: Any, idx: Any, *, pmode: Any = None) -> Any:
    """The lanes that an index names."""
    vector, chosen = logical(v, "the vector of pto.vmi.vselr"), logical(idx, "the index of pto.vmi.vselr")
    type_ = vector_type(_lanes(chosen), _element(vector))
    return emitted("vselr", {"input": vector, "index": chosen}, [type_], {}, pmode)


def vbrc(x: Any, *, size: Any, group: Any = None, pmode: Any = None) -> Any:
    """A scalar, or one lane for each group, in all lanes."""
    refuse_unset(x)
    is_vector = isinstance(x, HandleValue) and isinstance(x.ssa.type, LogicalVectorType)
    given = x.ssa if is_vector else _scalar(x)
    element = _element(given) if is_vector else given.type
    properties = {"group": None if group is None else whole(group, "group")}
    return emitted("vbrc", {"input": given}, [vector_type(_size(size), element)], properties, pmode)


def _scalar(value: Any) -> SSAValue:
    if isinstance(value, ScalarValue):
        return value.ssa
    return value.loaded().ssa if hasattr(value, "loaded") else as_value(value, default_type(value)).ssa


def vci(base: Any, *, size: Any, order: Any = None, group: Any = None, pmode: Any = None) -> Any:
    """base, base + 1, … in the lanes, or in those of each group."""
    given, lanes = _scalar(base), _size(size)
    groups = None if group is None else whole(group, "group")
    if groups is not None and (groups <= 0 or lanes % groups):
        raise failure(WrongValue, f"pto.vmi.vci: {lanes} lanes are not {groups} groups of equal length")
    return emitted("vci", {"base": given}, [vector_type(lanes, given.type)], {"order": order, "group": groups}, pmode)


def vcvt(
    v: Any, to_type: Any, mask: Any = None, *, rounding: Any = None, saturate: Any = None, pmode: Any = None
) -> Any:
    """Convert lanes to another type."""
    del mask  # the text has none
    vector = logical(v, "the vector of pto.vmi.vcvt")
    type_ = vector_type(_lanes(vector), named(to_type).type)
    return emitted("vcvt", {"input": vector}, [type_], {"rounding": rounding, "saturate": saturate}, pmode)


def vinterpret_cast(v: Any, to_type: Any, *, pmode: Any = None) -> Any:
    """The same bits as lanes of another type."""
    vector, element = logical(v, "the vector of pto.vmi.vinterpret_cast"), named(to_type).type
    lanes = _lanes(vector) * element_of(_element(vector)).bits // element_of(element).bits
    return emitted("vinterpret_cast", {"input": vector}, [vector_type(lanes, element)], {}, pmode)


def vexpdif(x: Any, m: Any, mask: Any, *, pmode: Any = None) -> Any:
    """exp(x - m), in f32."""
    vector = logical(x, "the vector of pto.vmi.vexpdif")
    operands = {"input": vector, "max": logical(m, "the maximum"), "mask": truths(mask, "mask of pto.vmi.vexpdif")}
    return emitted("vexpdif", operands, [vector_type(_lanes(vector), f32)], {}, pmode)


def vaxpy(x: Any, acc: Any, alpha: Any, mask: Any, *, pmode: Any = None) -> Any:
    """alpha * x + acc, rounded once."""
    vector = logical(x, "the vector of pto.vmi.vaxpy")
    operands = {
        "input": vector,
        "acc": logical(acc, "acc of pto.vmi.vaxpy"),
        "scalar": scalar_value(alpha, _element(vector), "alpha"),
        "mask": truths(mask, "mask of pto.vmi.vaxpy"),
    }
    return emitted("vaxpy", operands, [vector.type], {}, pmode)


def vprelu(v: Any, alpha: Any, mask: Any, *, pmode: Any = None) -> Any:
    """v where it is positive, else alpha * v."""
    vector = logical(v, "the vector of pto.vmi.vprelu")
    operands = {"input": vector, "alpha": logical(alpha, "alpha"), "mask": truths(mask, "mask of pto.vmi.vprelu")}
    return emitted("vprelu", operands, [vector.type], {}, pmode)


def vmula(acc: Any, a: Any, b: Any, mask: Any = None, *, pmode: Any = None) -> Any:
    """acc + a * b, rounded once."""
    total = logical(acc, "acc of pto.vmi.vmula")
    operands = {
        "acc": total,
        "lhs": logical(a, "a"),
        "rhs": logical(b, "b"),
        "mask": truths(mask, "mask of pto.vmi.vmula"),
    }
    return emitted("vmula", operands, [total.type], {}, pmode)


def _pair(name: str) -> Callable[..., Any]:
    def pair(a: Any, b: Any, mask: Any, *, pmode: Any = None) -> Any:
        left = logical(a, f"the left operand of pto.vmi.{name}")
        operands = {"lhs": left, "rhs": logical(b, f"the right operand of pto.vmi.{name}")}
        given = {**operands, "mask": truths(mask, f"mask of pto.vmi.{name}")}
        return emitted(name, given, [left.type, left.type], {}, pmode)

    return pair


def _histogram(name: str) -> Callable[..., Any]:
    def histogram(acc: Any, v: Any, mask: Any, *, pmode: Any = None) -> Any:
        total = logical(acc, f"acc of pto.vmi.{name}")
        operands = {"acc": total, "source": logical(v, "the values"), "mask": truths(mask, f"mask of pto.vmi.{name}")}
        return emitted(name, operands, [total.type], {}, pmode)

    return histogram


# --- masks ------------------------------------------------------------------------------------------------------------


def create_mask(n: Any, *, size: Any, group: Any = None, pmode: Any = None) -> Any:
    """The first n lanes; with group the first n of each group."""
    lanes, count = _size(size), index(n, "the count of a mask")
    if group is None:
        return emitted("create_mask", {"count": count}, [mask_type(lanes)], {}, pmode)
    groups = whole(group, "group")
    properties = {"num_groups": groups, "group_size": lanes // groups}
    return emitted("create_group_mask", {"count": count}, [mask_type(lanes)], properties, pmode)


_OWN: Mapping[str, Callable[..., Any]] = {
    **{name: _binary(name) for name in "vadd vsub vmul vdiv vmax vmin vshl vshr vand vor vxor".split()},
    **{name: _with_scalar(name) for name in "vadds vmuls vmaxs vmins vshls vshrs vlrelu".split()},
    **{name: _unary(name) for name in "vabs vneg vrelu vexp vln vsqrt vnot".split()},
    **{name: _reduction(name) for name in ("vcadd", "vcmax", "vcmin")},
    **{name: _pair(name) for name in ("vmull", "vintlv", "vdintlv")},
    **{name: _histogram(name) for name in ("vdhist", "vchist")},
    **{name: _gather(name) for name in ("vgather", "vgatherb")},
}
_NAMES = (
    "vreg mask vload vstore vsstb vscatter vaddc vaddcs vcmp vcmps vsel vselr vbrc vci vcvt vinterpret_cast vexpdif "
    "vaxpy vprelu vmula create_mask"
).split()


class LogicalVectors:
    """`pto.vmi.*`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return vmi_call(name)

    def __dir__(self) -> list[str]:
        return sorted((*_OWN, *_NAMES))


def vmi_call(name: str) -> Any:
    """The function behind `pto.vmi.<name>`."""
    if name in _NAMES:
        return globals()[name]
    if name in _OWN:
        return _OWN[name]
    from ptosim.author.surface import derived

    return derived(logical_operation(name), f"pto.vmi.{name}")


def names() -> tuple[str, ...]:
    """The calls that have a word of their own."""
    return (*_OWN, *_NAMES)


vmi = LogicalVectors()
