"""Calls on vector registers that say something of their own: loads and stores, streams, conversions, composites."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerType, Signedness, StringAttr, i16
from xdsl.ir import Attribute

from ptosim.author.call import build, default_type, element_of_value
from ptosim.author.coerce import address, as_value, index, literal, refuse_unset, scalar_value, traced_value
from ptosim.author.dtypes import dtype as named
from ptosim.author.failures import WrongType, failure
from ptosim.author.tiles import TileElement, TileSlice
from ptosim.author.trace import current
from ptosim.author.values import (
    AlignValue,
    MaskValue,
    PointerOffset,
    PointerValue,
    RegisterValue,
    ScalarValue,
    Traced,
    wrap,
    wrapped,
)
from ptosim.author.words import choice, word
from ptosim.language.catalogue import operation
from ptosim.language.operation import PTOOperation
from ptosim.language.types import MaskType, PtrType, VregType, element_of


def _kind(name: str) -> type[PTOOperation]:
    found = operation(name)
    assert found is not None
    return found


def _place(name: str, at: Any, rest: tuple[Any, ...], least: int) -> tuple[Any, Any, tuple[Any, ...]]:
    """Pointer and offset of a load or store, from a slice or from two arguments; and what follows."""
    refuse_unset(at)
    if isinstance(at, TileSlice):
        base, offset = at.element_place()
        return base, index(offset, "the offset"), rest
    if isinstance(at, TileElement):
        raise failure(WrongType, f"{name} takes a slice, tile[r, c:], not an element")
    if len(rest) < least:
        raise failure(WrongType, f"{name} takes a pointer and an offset, or a slice of a tile; the offset is missing")
    offset, *more = rest
    return address(at, f"the address of {name}"), index(offset, f"the offset of {name}"), tuple(more)


def _updated(post_update: Any, name: str) -> bool:
    return (
        choice(
            post_update, {"OFF": "", "ON": "on", "NO_POST_UPDATE": "", "POST_UPDATE": "on"}, f"post_update of {name}"
        )
        != ""
    )


def _register(type_: Any, base: Any) -> Attribute:
    if type_ is None:
        assert isinstance(base.type, PtrType)
        return VregType.of(base.type.element)
    return register_type(type_)


def register_type(value: Any) -> Attribute:
    """The type of a register, or of its elements."""
    from ptosim.author.dtypes import Described, type_of

    wanted = type_of(value) if isinstance(value, Described | Traced) else named(value).type
    return wanted if isinstance(wanted, VregType) else VregType.of(wanted)


def _word(kind: type[PTOOperation], role: str, value: Any) -> Any:
    if value is None:
        return None
    return StringAttr(word(value, kind.words[role], f"{role} of {kind.name}"))


def vlds(
    at: Any, *rest: Any, dist: Any = None, post_update: Any = None, type: Any = None
) -> RegisterValue | tuple[RegisterValue, PointerValue]:
    """Load a register from UB: (pointer, offset) or a slice of a tile."""
    is_slice = isinstance(at, TileSlice)
    if is_slice and (rest or type is not None or post_update is not None):
        raise failure(WrongType, "pto.vlds of a slice takes no offset, type or post_update")
    base, offset, more = _place("pto.vlds", at, rest, 1)
    kind, wanted = _kind("pto.vlds"), more[0] if more else type
    results = [_register(wanted, base)]
    if _updated(post_update or "OFF", "pto.vlds"):
        results.append(base.type)
    made = current("pto.vlds").make(
        kind, {"source": base, "offset": offset}, results, {"dist": _word(kind, "dist", dist)}, name="v"
    )
    return wrapped(made.results)


def vldsx2(at: Any, *rest: Any, result_vreg_type: Any = None, dist: Any = None) -> tuple[RegisterValue, RegisterValue]:
    """Load two registers, deinterleaved: (pointer, offset, dist) or (slice, dist)."""
    base, offset, more = _place("pto.vldsx2", at, rest, 1)
    kind, mode = _kind("pto.vldsx2"), more[0] if more else dist
    if mode is None:
        raise failure(WrongType, "pto.vldsx2 takes (pointer, offset, dist) or (slice, dist); dist is missing")
    type_ = _register(result_vreg_type, base)
    operands = {"source": base, "offset": offset}
    return wrapped(current().make(kind, operands, [type_, type_], {"dist": _word(kind, "dist", mode)}).results)


def _value(value: Any, name: str) -> Any:
    return traced_value(value, f"the value of {name}", "a vector register", RegisterValue)


def _mask(value: Any, name: str) -> Any:
    return traced_value(value, f"mask of {name}", "a mask", MaskValue)


def vsts(
    value: Any, at: Any, *rest: Any, mask: Any = None, dist: Any = None, post_update: Any = "OFF"
) -> PointerValue | None:
    """Store a register to UB: (value, pointer, offset, mask) or (value, slice, mask)."""
    base, offset, more = _place("pto.vsts", at, rest, 1)
    chosen = more[0] if more else mask
    if chosen is None:
        raise failure(
            WrongType, "pto.vsts takes (value, pointer, offset, mask) or (value, slice, mask); mask is missing"
        )
    kind = _kind("pto.vsts")
    results = [base.type] if _updated(post_update, "pto.vsts") else []
    operands = {
        "value": _value(value, "pto.vsts"),
        "dest": base,
        "offset": offset,
        "mask": _mask(chosen, "pto.vsts"),
    }
    return wrapped(current("pto.vsts").make(kind, operands, results, {"dist": _word(kind, "dist", dist)}).results)


def vstsx2(low: Any, high: Any, at: Any, *rest: Any, dist: Any = None, mask: Any = None) -> None:
    """Store two registers, interleaved: (low, high, pointer, offset, dist, mask)."""
    base, offset, more = _place("pto.vstsx2", at, rest, 1)
    mode, chosen = (*more, dist, mask)[:2] if more else (dist, mask)
    if len(more) == 1:
        chosen = mask
    if mode is None or chosen is None:
        raise failure(WrongType, "pto.vstsx2 takes (low, high, pointer, offset, dist, mask)")
    kind = _kind("pto.vstsx2")
    operands = {
        "low": _value(low, "pto.vstsx2"),
        "high": _value(high, "pto.vstsx2"),
        "dest": base,
        "offset": offset,
        "mask": _mask(chosen, "pto.vstsx2"),
    }
    current().make(kind, operands, (), {"dist": _word(kind, "dist", mode)})


def _base(at: Any, name: str) -> Any:
    """A pointer, or the start of a slice."""
    return address(at, f"the address of {name}")


def vsldb(
    at: Any, block_stride: Any, repeat_stride: Any, mask: Any, *, post_update: Any = "OFF"
) -> RegisterValue | tuple[RegisterValue, PointerValue]:
    """Load blocks of 32 bytes that lie apart."""
    base = _base(at, "pto.vsldb")
    results = [_register(None, base), *([base.type] if _updated(post_update, "pto.vsldb") else [])]
    operands = {
        "source": base,
        "block_stride": scalar_value(block_stride, i16, "block_stride"),
        "repeat_stride": scalar_value(repeat_stride, i16, "repeat_stride"),
        "mask": _mask(mask, "pto.vsldb"),
    }
    return wrapped(current("pto.vsldb").make(_kind("pto.vsldb"), operands, results).results)


def vsstb(
    value: Any, at: Any, block_stride: Any, repeat_stride: Any, mask: Any, *, post_update: Any = "OFF"
) -> PointerValue | None:
    """Store blocks of 32 bytes that lie apart."""
    base = _base(at, "pto.vsstb")
    operands = {
        "value": _value(value, "pto.vsstb"),
        "dest": base,
        "block_stride": scalar_value(block_stride, i16, "block_stride"),
        "repeat_stride": scalar_value(repeat_stride, i16, "repeat_stride"),
        "mask": _mask(mask, "pto.vsstb"),
    }
    results = [base.type] if _updated(post_update, "pto.vsstb") else []
    return wrapped(current("pto.vsstb").make(_kind("pto.vsstb"), operands, results).results)


def _gather(name: str, at: Any, offsets: Any, mask: Any, type_: Any) -> Any:
    base = _base(at, name)
    operands = {"source": base, "offsets": _value(offsets, name), "mask": _mask(mask, name)}
    return wrapped(current(name).make(_kind(name), operands, [_register(type_, base)]).results)


def vgather2(ptr: Any, offs: Any, mask: Any, result_vreg_type: Any = None) -> RegisterValue:
    """Load a lane each from its own offset."""
    return _gather("pto.vgather2", ptr, offs, mask, result_vreg_type)


def vgather2_bc(ptr: Any, offs: Any, mask: Any, result_vreg_type: Any = None) -> RegisterValue:
    """The same, for the broadcast form."""
    return _gather("pto.vgather2_bc", ptr, offs, mask, result_vreg_type)


def vgatherb(ptr: Any, offs: Any, mask: Any, result_vreg_type: Any = None) -> RegisterValue:
    """Load blocks, each from its own offset."""
    return _gather("pto.vgatherb", ptr, offs, mask, result_vreg_type)


def vscatter(v: Any, ptr: Any, offs: Any, mask: Any) -> None:
    """Store each lane to its own offset."""
    operands = {
        "value": _value(v, "pto.vscatter"),
        "dest": _base(ptr, "pto.vscatter"),
        "offsets": _value(offs, "pto.vscatter"),
        "mask": _mask(mask, "pto.vscatter"),
    }
    current("pto.vscatter").make(_kind("pto.vscatter"), operands)


def vldas(ptr: Any) -> AlignValue:
    """Begin a stream of unaligned loads."""
    return build(_kind("pto.vldas"), "pto.vldas", {"source": _pointer_of(ptr)})


def _pointer_of(value: Any) -> Any:
    return wrap(address(value)) if isinstance(value, TileElement | PointerOffset) else value


def vldus(ptr: Any, align: Any) -> tuple[RegisterValue, AlignValue]:
    """Load from a stream: (value, align)."""
    return build(_kind("pto.vldus"), "pto.vldus", {"source": _pointer_of(ptr), "align": align})


def vstur(align: Any, value: Any, ptr: Any, mode: Any = "NO_POST_UPDATE") -> AlignValue:
    """Store squeezed lanes to a stream."""
    given = {"align": align, "value": value, "dest": _pointer_of(ptr), "mode": mode}
    return build(_kind("pto.vstur"), "pto.vstur", given)


def vstus(align: Any, offset: Any, value: Any, ptr: Any) -> AlignValue:
    """Store lanes to a stream."""
    given = {"align": align, "offset": offset, "value": value, "dest": _pointer_of(ptr)}
    return build(_kind("pto.vstus"), "pto.vstus", given)


def vstas(align: Any, ptr: Any, offset: Any) -> None:
    """Store the rest of a stream."""
    build(_kind("pto.vstas"), "pto.vstas", {"align": align, "dest": _pointer_of(ptr), "offset": offset})


def vstar(align: Any, ptr: Any) -> None:
    """Store the rest of a stream of squeezed lanes."""
    build(_kind("pto.vstar"), "pto.vstar", {"align": align, "dest": _pointer_of(ptr)})


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _shifted(name: str, a: Any, b: Any, mask: Any) -> Any:
    """Shift counts are signed integers of the width of the value."""
    value = _value(a, name)
    assert isinstance(value.type, VregType)
    wanted = VregType.of(IntegerType(element_of(value.type).bits, Signedness.SIGNED))
    counts = _value(b, name)
    if counts.type != wanted:
        counts = vbitcast(b, wanted).ssa
    return build(_kind(name), name, {"lhs": a, "rhs": wrap(counts), "mask": mask})


def vshl(a: Any, b: Any, mask: Any) -> RegisterValue:
    """Shift lanes to the left, each by its own count."""
    return _shifted("pto.vshl", a, b, mask)


def vshr(a: Any, b: Any, mask: Any) -> RegisterValue:
    """Shift lanes to the right, each by its own count."""
    return _shifted("pto.vshr", a, b, mask)


def _call(name: str, **given: Any) -> Any:
    return build(_kind(f"pto.{name}"), f"pto.{name}", given)


def vsubs(v: Any, s: Any, mask: Any) -> RegisterValue:
    """v - s, as the sum of v and 0 - s."""
    from ptosim.author.operators import binary

    number = literal(s)
    if number is not None:
        negative = -number
    else:
        wanted = element_of_value(wrap(_value(v, "pto.vsubs")))
        zero = 0.0 if element_of(wanted).is_float else 0
        negative = binary("-", zero, wrap(scalar_value(s, wanted, "s of pto.vsubs")))
    return _call("vadds", input=v, scalar=negative, mask=mask)


def _with_scalar(name: str, v: Any, s: Any, mask: Any) -> Any:
    element = element_of_value(wrap(_value(v, f"pto.{name}s")))
    other = vbr(wrap(scalar_value(s, element, f"s of pto.{name}s")))
    return _call(name, lhs=v, rhs=other, mask=mask)


def vands(v: Any, s: Any, mask: Any) -> RegisterValue:
    """Bitwise and with a scalar."""
    return _with_scalar("vand", v, s, mask)


def vors(v: Any, s: Any, mask: Any) -> RegisterValue:
    """Bitwise or with a scalar."""
    return _with_scalar("vor", v, s, mask)


def vxors(v: Any, s: Any, mask: Any) -> RegisterValue:
    """Bitwise exclusive or with a scalar."""
    return _with_scalar("vxor", v, s, mask)


def vrec(v: Any, mask: Any) -> RegisterValue:
    """1 / v, as a division of ones."""
    zeros = _call("vmuls", input=v, scalar=0.0, mask=mask)
    ones = _call("vadds", input=zeros, scalar=1.0, mask=mask)
    return _call("vdiv", lhs=ones, rhs=v, mask=mask)


def vrsqrt(v: Any, mask: Any) -> RegisterValue:
    """1 / sqrt(v)."""
    return vrec(_call("vsqrt", input=v, mask=mask), mask)


def vaddrelu(a: Any, b: Any, mask: Any) -> RegisterValue:
    """relu(a + b)."""
    return _call("vrelu", input=_call("vadd", lhs=a, rhs=b, mask=mask), mask=mask)


def vsubrelu(a: Any, b: Any, mask: Any) -> RegisterValue:
    """relu(a - b)."""
    return _call("vrelu", input=_call("vsub", lhs=a, rhs=b, mask=mask), mask=mask)


def vaxpy(alpha: Any, x: Any, y: Any, mask: Any) -> RegisterValue:
    """alpha * x + y, rounded once."""
    return _call("vaxpy", input=x, addend=y, scalar=alpha, mask=mask)


def vmula(acc: Any, a: Any, b: Any, mask: Any) -> RegisterValue:
    """acc + a * b, rounded once."""
    return _call("vmula", acc=acc, lhs=a, rhs=b, mask=mask)


def vcadd(v: Any, mask: Any) -> RegisterValue:
    """The sum of the lanes; integers of 8 and 16 bits widen."""
    value = _value(v, "pto.vcadd")
    assert isinstance(value.type, VregType)
    element = value.type.element
    if isinstance(element, IntegerType) and element.width.data < 32:
        element = IntegerType(2 * element.width.data, element.signedness.data)
    operands = {"input": value, "mask": _mask(mask, "pto.vcadd")}
    return wrapped(current().make(_kind("pto.vcadd"), operands, [VregType.of(element)]).results)


def vexpdif(v: Any, m: Any, mask: Any, part: Any = "ODD") -> RegisterValue:
    """exp(v - m), in f32."""
    from xdsl.dialects.builtin import f32

    kind = _kind("pto.vexpdif")
    operands = {"input": _value(v, "pto.vexpdif"), "max": _value(m, "pto.vexpdif"), "mask": _mask(mask, "pto.vexpdif")}
    words = {"part": _word(kind, "part", part)}
    return wrapped(current().make(kind, operands, [VregType.of(f32)], words).results)


# --- conversions ------------------------------------------------------------------------------------------------------


def vcvt(v: Any, to_type: Any, mask: Any, *, rnd: Any = None, sat: Any = None, part: Any = None) -> RegisterValue:
    """Convert lanes to another type."""
    kind = _kind("pto.vcvt")
    operands = {"input": _value(v, "pto.vcvt"), "mask": _mask(mask, "pto.vcvt")}
    words = {"rnd": _word(kind, "rnd", rnd), "sat": _word(kind, "sat", sat), "part": _word(kind, "part", part)}
    return wrapped(current("pto.vcvt").make(kind, operands, [register_type(to_type)], words).results)


def vpack(v: Any, part: Any, to_type: Any = None) -> RegisterValue:
    """The low halves of the lanes, in one half of a register of half as wide lanes."""
    value = _value(v, "pto.vpack")
    assert isinstance(value.type, VregType)
    kind = _kind("pto.vpack")
    element = value.type.element
    if to_type is not None:
        result = register_type(to_type)
    elif isinstance(element, IntegerType):
        result = VregType.of(IntegerType(element.width.data // 2, Signedness.UNSIGNED))
    else:
        raise failure(WrongType, f"pto.vpack takes integers, not {value.type}")
    return wrapped(current().make(kind, {"input": value}, [result], {"part": _word(kind, "part", part)}).results)


def vmulscvt(v: Any, s: Any, mask: Any, *, rnd: Any, part: Any) -> RegisterValue:
    """v * s, converted to f16."""
    from xdsl.dialects.builtin import f16, f32

    kind = _kind("pto.vmulscvt")
    operands = {
        "input": _value(v, "pto.vmulscvt"),
        "scalar": scalar_value(s, f32, "s of pto.vmulscvt"),
        "mask": _mask(mask, "pto.vmulscvt"),
    }
    words = {"rnd": _word(kind, "rnd", rnd), "part": _word(kind, "part", part)}
    return wrapped(current().make(kind, operands, [VregType.of(f16)], words).results)


def vbitcast(v: Any, to_type: Any) -> RegisterValue:
    """The same bits as lanes of another type."""
    wanted = to_type if isinstance(to_type, VregType) else register_type(to_type)
    return wrapped(current().make(_kind("pto.vbitcast"), {"input": _value(v, "pto.vbitcast")}, [wanted]).results)


def vbr(s: Any) -> RegisterValue:
    """A scalar in every lane; literals are f32 or i32."""
    refuse_unset(s)
    given = s.ssa if isinstance(s, ScalarValue) else _loaded(s, default_type(s))
    return wrapped(current("pto.vbr").make(_kind("pto.vbr"), {"input": given}, [VregType.of(given.type)]).results)


def _loaded(value: Any, type_: Attribute) -> Any:
    return value.loaded().ssa if hasattr(value, "loaded") else as_value(value, type_).ssa


_BY_MASK = {"b8": ("i8", "i8"), "b16": ("f16", "i16"), "b32": ("f32", "i32")}


def vdup(v: Any, mask: Any, position: Any = None) -> RegisterValue:
    """A scalar, or one lane of a register, in the lanes of a mask; a literal is as wide as the lanes."""
    kind, chosen = _kind("pto.vdup"), _mask(mask, "pto.vdup")
    refuse_unset(v)
    assert isinstance(chosen.type, MaskType)
    if isinstance(v, RegisterValue | ScalarValue):
        given = v.ssa
    else:
        is_float = isinstance(literal(v), float) or isinstance(v, str)
        name = _BY_MASK[chosen.type.granularity.data][0 if is_float else 1]
        if is_float and name == "i8":
            raise failure(WrongType, f"pto.vdup: there is no float {v!r} of 8 bits")
        given = _loaded(v, named(name).type)
    element = given.type.element if isinstance(given.type, VregType) else given.type
    words = {"position": _word(kind, "position", position)}
    operands = {"input": given, "mask": chosen}
    return wrapped(current().make(kind, operands, [VregType.of(element)], words).results)


def vci(base: Any, order: Any = None) -> RegisterValue:
    """base, base + 1, … in the lanes."""
    kind = _kind("pto.vci")
    given = base.ssa if isinstance(base, ScalarValue) else _loaded(base, default_type(base))
    words = {"order": _word(kind, "order", order)}
    return wrapped(current("pto.vci").make(kind, {"base": given}, [VregType.of(given.type)], words).results)


CALLS = {
    name: value
    for name, value in list(globals().items())
    if name.startswith("v") and callable(value) and getattr(value, "__module__", "") == __name__
}
"""By their names on the surface."""
