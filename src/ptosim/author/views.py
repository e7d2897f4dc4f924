"""Views of global memory: a pointer with sizes and strides, and parts of it."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr

from ptosim.author.coerce import INDEX, address, index, literal
from ptosim.author.extents import plus
from ptosim.author.failures import WrongType, failure
from ptosim.author.trace import current
from ptosim.author.values import PointerValue, Traced, ViewValue, wrap
from ptosim.author.words import choice
from ptosim.effects.names import Space
from ptosim.language.catalogue import operation
from ptosim.language.tile.tensor_view import MakeTensorView, PartitionView
from ptosim.language.tile.tile_types import PartitionViewType, TensorViewType, ViewExtents
from ptosim.language.types import PtrType

_LAYOUTS = ("nd", "dn", "nz", "mx_a_zz", "mx_b_nn")
_MOST_DIMENSIONS = 5


def make_tensor_view(ptr: Any, *, shape: Sequence[Any], strides: Sequence[Any], layout: Any = None) -> ViewValue:
    """A tensor in global memory: sizes and strides count elements."""
    base = address(ptr, "the pointer of a view")
    sizes, steps = _list(shape, "shape"), _list(strides, "strides")
    if len(sizes) != len(steps) or not 1 <= len(sizes) <= _MOST_DIMENSIONS:
        message = f"shape and strides have one entry for each of 1 to {_MOST_DIMENSIONS} dimensions"
        raise failure(WrongType, f"{message}, not {len(sizes)} and {len(steps)}")
    known = [literal(each) for each in sizes]
    extents = tuple(known) if None not in known else (None,) * len(known)
    assert isinstance(base.type, PtrType)
    type_ = TensorViewType(ViewExtents(extents, base.type.element))
    operands = {
        "pointer": base,
        "shape": [index(each, "a size") for each in sizes],
        "strides": [index(each, "a stride") for each in steps],
    }
    word = None if layout is None else StringAttr(choice(layout, _LAYOUTS, "layout"))
    made = current("pto.make_tensor_view").make(MakeTensorView, operands, [type_], {"layout": word}, name="view")
    view = ViewValue(made.results[0])
    view.known_shape, view.known_strides = tuple(sizes), tuple(steps)
    return view


def partition_view(view: Any, *, offsets: Sequence[Any], sizes: Sequence[Any]) -> ViewValue:
    """A part of a view; of a part, offsets add."""
    if not isinstance(view, ViewValue):
        raise failure(WrongType, f"pto.partition_view takes a view, not {view!r}")
    starts, extents = _list(offsets, "offsets"), _list(sizes, "sizes")
    if len(starts) != view.rank or len(extents) != view.rank:
        message = f"offsets and sizes have one entry for each of the {view.rank} dimensions of the view"
        raise failure(WrongType, f"{message}, not {len(starts)} and {len(extents)}")
    root = view.root if view.root is not None else view
    if root is not view:
        starts = [plus(a, b) for a, b in zip(view.offsets, starts, strict=True)]
    type_ = PartitionViewType(ViewExtents(tuple(literal(each) for each in extents), root.ssa.type.data.element))  # type: ignore[attr-defined]
    operands = {
        "source": root.ssa,
        "offsets": [index(each, "an offset") for each in starts],
        "sizes": [index(each, "a size") for each in extents],
    }
    made = ViewValue(current("pto.partition_view").make(PartitionView, operands, [type_], name="part").results[0])
    made.root, made.known_offsets, made.known_shape = root, tuple(starts), tuple(extents)
    made.known_strides = root.known_strides
    return made


def extents(view: ViewValue) -> tuple[Any, ...]:
    """The sizes of a view that nothing else says: of its type, else as the run finds them."""
    known = view.ssa.type.data.shape  # type: ignore[attr-defined]
    return tuple(_asked(view, "dim", n) if extent is None else extent for n, extent in enumerate(known))


def strides(view: ViewValue) -> tuple[Any, ...]:
    """The strides of a view that nothing else says."""
    return tuple(_asked(view, "stride", number) for number in range(view.rank))


def _asked(view: ViewValue, what: str, number: int) -> Any:
    found = operation(f"pto.get_tensor_view_{what}")
    assert found is not None
    operands = {"source": view.ssa, "dimension": index(number)}
    return wrap(current().make(found, operands, [INDEX]).results[0])


def address_of_view(view: ViewValue) -> PointerValue:
    """The start of a view."""
    found = operation("pto.tensor_view_addr")
    assert found is not None
    type_ = PtrType.of(view.ssa.type.data.element, Space.GM)  # type: ignore[attr-defined]
    return wrap(current().make(found, {"source": view.ssa}, [type_], name="address").results[0])


def _list(values: Any, what: str) -> list[Any]:
    if isinstance(values, Traced) or not hasattr(values, "__iter__"):
        raise failure(WrongType, f"{what} is a list with an entry for each dimension, not {values!r}")
    return list(values)
