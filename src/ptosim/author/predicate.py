"""Masks: of a pattern, of a count, loaded and stored."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import StringAttr, i32

from ptosim.author.call import build
from ptosim.author.coerce import address, converted, index, literal, scalar_value, traced_value
from ptosim.author.dtypes import MASK_NAMES
from ptosim.author.dtypes import dtype as named
from ptosim.author.failures import WrongType, failure
from ptosim.author.trace import current
from ptosim.author.values import MaskValue, ScalarValue, wrap, wrapped
from ptosim.author.words import choice, spelled, word
from ptosim.effects.element import element
from ptosim.language.catalogue import operation
from ptosim.language.types import MaskType, PtrType, element_of


def make_mask(element_type: Any, pattern: Any) -> MaskValue:
    """A mask for lanes of a type: of a pattern, or of the first n lanes; then what remains of n comes with it."""
    granularity = element(named(element_type, "the first argument of pto.make_mask").name).mask_granularity
    if spelled(pattern) is not None:
        return _pattern(granularity, pattern)
    if not isinstance(pattern, ScalarValue) and literal(pattern) is None and not hasattr(pattern, "loaded"):
        raise failure(WrongType, f"pto.make_mask takes a pattern or a count, not {pattern!r}")
    mask, remained = _tail(granularity, pattern)
    if isinstance(pattern, ScalarValue) and remained.ssa.type != pattern.ssa.type:
        remained = _Later(remained, pattern)
    mask.remained = remained
    return mask


class _Later:
    """The rest of a count, in the type of the count: converted when it is asked for."""

    def __init__(self, remained: ScalarValue, model: ScalarValue) -> None:
        self._remained = remained
        self._type = model.ssa.type

    def settled(self) -> Any:
        return wrap(converted(self._remained.ssa, self._type, "what remains of the count"))


def _pattern(granularity: str, pattern: Any) -> Any:
    kind = operation(f"pto.pset_{granularity}")
    assert kind is not None
    words = {"pattern": StringAttr(word(pattern, kind.words["pattern"], "pattern of a mask"))}
    made = current("pto.make_mask").make(kind, {}, [MaskType(StringAttr(granularity))], words, name="mask")
    return wrap(made.results[0])


def _tail(granularity: str, count: Any) -> tuple[Any, Any]:
    kind = operation(f"pto.plt_{granularity}")
    assert kind is not None
    given = scalar_value(count, i32, "the count of a mask")
    made = current("pto.make_mask").make(kind, {"count": given}, [MaskType(StringAttr(granularity)), i32], name="mask")
    return wrap(made.results[0]), wrap(made.results[1])


def _plt(granularity: str) -> Any:
    def plt(n: Any) -> Any:
        """A mask of the first n lanes, and what remains of n as i32."""
        return _tail(granularity, n)

    return plt


plt_b8, plt_b16, plt_b32 = (_plt(each) for each in MASK_NAMES)


def _resized(name: str, mask: Any, part: Any, to_type: Any) -> Any:
    kind = operation(name)
    assert kind is not None
    source = traced_value(mask, f"mask of {name}", "a mask", MaskValue)
    type_ = source.type if to_type is None else _mask_type(to_type)
    words = {"part": StringAttr(word(part, kind.words["part"], f"part of {name}"))}
    return wrapped(current(name).make(kind, {"input": source}, [type_], words).results)


def _mask_type(value: Any) -> Any:
    from ptosim.author.dtypes import MaskDescription

    if isinstance(value, MaskDescription):
        return value.type
    return MaskType(StringAttr(choice(value, MASK_NAMES, "mask granularity")))


def ppack(mask: Any, part: Any, to_type: Any = None) -> MaskValue:
    """Every second bit of a mask, in one half of the result."""
    return _resized("pto.ppack", mask, part, to_type)


def punpack(mask: Any, part: Any, to_type: Any = None) -> MaskValue:
    """The bits of one half of a mask, spread."""
    return _resized("pto.punpack", mask, part, to_type)


def pbitcast(mask: Any, to_type: Any) -> MaskValue:
    """The same bits as a mask of lanes of another width."""
    kind = operation("pto.pbitcast")
    assert kind is not None
    source = traced_value(mask, "mask of pto.pbitcast", "a mask", MaskValue)
    return wrapped(current("pto.pbitcast").make(kind, {"input": source}, [_mask_type(to_type)]).results)


def _of_pointer(base: Any) -> MaskType:
    assert isinstance(base.type, PtrType)
    return MaskType(StringAttr(element_of(base.type.element).mask_granularity))


def _load(name: str, ptr: Any, off: Any, dist: Any) -> Any:
    kind = operation(name)
    assert kind is not None
    base = address(ptr, f"the address of {name}")
    words = {"dist": StringAttr(word(dist, kind.words["dist"], f"dist of {name}"))}
    operands = {"source": base, "offset": index(off, "the offset")}
    return wrapped(current(name).make(kind, operands, [_of_pointer(base)], words).results)


def plds(ptr: Any, off: Any, *, dist: Any = "NORM") -> MaskValue:
    """Load a mask."""
    return _load("pto.plds", ptr, off, dist)


def pldi(ptr: Any, off: Any, dist: Any = "NORM") -> MaskValue:
    """Load a mask."""
    return _load("pto.pldi", ptr, off, dist)


def psts(mask: Any, ptr: Any, off: Any, *, dist: Any = "NORM") -> None:
    """Store a mask."""
    build(operation_of("pto.psts"), "pto.psts", {"value": mask, "dest": ptr, "offset": off, "dist": dist})


def pstu(align: Any, mask: Any, ptr: Any) -> Any:
    """Store a mask to a stream: (align, pointer)."""
    return build(operation_of("pto.pstu"), "pto.pstu", {"align": align, "value": mask, "dest": ptr})


def operation_of(name: str) -> Any:
    found = operation(name)
    assert found is not None
    return found


NAMES = "make_mask plt_b8 plt_b16 plt_b32 ppack punpack pbitcast plds pldi psts pstu"
