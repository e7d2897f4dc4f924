"""Views of tensors in global memory: base, sizes and strides, and parts of them. None of it moves data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue

from ptosim.language.operation import Operand, OptionalProperty, Problem, Result, VariadicOperand, lint
from ptosim.language.rules.operand_rules import constant_of, nth
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_types import PartitionViewType, TensorViewType, ViewExtents, view_of
from ptosim.language.tile.view_operation import Operands, ViewOperation
from ptosim.language.types import PtrType

_VIEWS = (TensorViewType, PartitionViewType)


def _view(value: SSAValue) -> ViewExtents:
    """The extents of a value that is known to be a view."""
    return cast("TensorViewType | PartitionViewType", value.type).data


def _counts(view: ViewExtents, **lists: Sequence[SSAValue]) -> Iterator[Problem]:
    """There is one operand for each dimension."""
    for role, values in lists.items():
        if len(values) != view.rank:
            message = f"expects {view.rank} {role}, one for each dimension of the view, but got {len(values)}"
            yield Problem(message, at=nth(role, min(len(values), view.rank)) if len(values) > view.rank else role)


class MakeTensorView(ViewOperation, name="pto.make_tensor_view"):
    """A tensor in global memory: a pointer with sizes and strides.

    Sizes and strides count elements; there is one of each for every dimension. The layout says how a tile is filled
    from it (`nd` rows, `dn` columns, `nz` boxes, `mx_a_zz` and `mx_b_nn` scales); where it is not written it follows
    from the strides.

        %v = pto.make_tensor_view %p, shape = [%m, %n], strides = [%n, %one] : !pto.tensor_view<?x?xf32>
    """

    form = "$pointer:gm, shape = [$shape:index...], strides = [$strides:index...]"
    words = {"layout": KINDS["layout"]}
    kinds = {"result": (TensorViewType,)}
    pointer = Operand()
    shape = VariadicOperand()
    strides = VariadicOperand()
    layout = OptionalProperty()
    result = Result()

    def view_rules(self, target: str) -> Iterator[Problem]:
        pointer, view = self.pointer.type, _view(self.result)
        if isinstance(pointer, PtrType) and pointer.element != view.element:
            yield Problem(
                f"expects a view of {pointer.element}, the element of the pointer, not {view.element}", "result"
            )
        yield from _counts(view, shape=self.shape, strides=self.strides)
        yield from self._layout_problems()

    def _layout_problems(self) -> Iterator[Problem]:
        """Rows and columns are told apart by constant strides; boxes are not, so `nz` is taken at its word."""
        written = self.word("layout")
        sizes = [constant_of(value) for value in self.shape[-2:]]
        strides = [constant_of(value) for value in self.strides[-2:]]
        if written not in ("nd", "dn") or len(sizes) != 2 or 1 in sizes or None in (*sizes, *strides):
            return
        inferred = "dn" if strides == [1, sizes[0]] else "nd"
        if written != inferred:
            message = (
                f"layout is {written}, but strides {strides[0]}, {strides[1]} are those of {inferred}; {written} holds"
            )
            yield lint(message, at="layout")


class PartitionView(ViewOperation, name="pto.partition_view"):
    """A part of a tensor view.

    Offsets and sizes count elements, one of each for every dimension; the strides stay those of the tensor. Where the
    result type is not written, its extents are the constant sizes. A part that turns out to reach beyond the view is
    not cut off: the copy runs on.

        %w = pto.partition_view %v, offsets = [%i, %j], sizes = [%m, %n]
            : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x?xf32>
    """

    form = "$source, offsets = [$offsets:index...], sizes = [$sizes:index...]"
    listed = ("source",)
    kinds = {"source": (TensorViewType,), "result": (PartitionViewType,)}
    source = Operand()
    offsets = VariadicOperand()
    sizes = VariadicOperand()
    result = Result()

    @classmethod
    def inferred(
        cls, parser: LocatedParser, operands: Operands, properties: Mapping[str, Attribute]
    ) -> list[Attribute]:
        source = view_of(cast(SSAValue, operands["source"]).type)
        if source is None:
            return super().inferred(parser, operands, properties)
        sizes = cast("Sequence[SSAValue]", operands["sizes"])
        return [PartitionViewType(ViewExtents(tuple(map(constant_of, sizes)), source.element))]

    def view_rules(self, target: str) -> Iterator[Problem]:
        source, result = _view(self.source), _view(self.result)
        if source.element != result.element:
            yield Problem(f"expects a partition of {source.element}, not of {result.element}", at="result")
        wrong = list(_counts(source, offsets=self.offsets, sizes=self.sizes))
        if result.rank != source.rank:
            wrong.append(Problem(f"expects a partition of rank {source.rank}, not {result.rank}", at="result"))
        yield from wrong
        if not wrong:
            for dimension in range(source.rank):
                yield from self._dimension_problems(dimension, source.shape[dimension], result.shape[dimension])

    def _dimension_problems(self, index: int, extent: int | None, written: int | None) -> Iterator[Problem]:
        offset, size = constant_of(self.offsets[index]), constant_of(self.sizes[index])
        offset_at, size_at = nth("offsets", index), nth("sizes", index)
        if offset is not None and offset < 0:
            yield Problem(f"{offset_at} is {offset}; it must not be negative", at=offset_at)
        if size is None:
            return
        if size <= 0:
            yield Problem(f"{size_at} is {size}; it must be positive", at=size_at)
        elif extent is not None and max(offset or 0, 0) + size > extent:
            start = f"{offset_at} is {offset} and {size_at} {size}" if offset else f"{size_at} is {size}"
            yield Problem(f"{start}, but the view has {extent} elements there", at=size_at)
        if written is not None and written != size:
            yield Problem(f"{size_at} is {size}, but the result type says {written}", at=size_at)


class _Dimension(ViewOperation):
    form = "$source, $dimension:index"
    listed = ("source",)
    kinds = {"source": _VIEWS, "result": (IndexType,)}
    source = Operand()
    dimension = Operand()
    result = Result()

    @classmethod
    def inferred(
        cls, parser: LocatedParser, operands: Operands, properties: Mapping[str, Attribute]
    ) -> list[Attribute]:
        return [IndexType()]

    def view_rules(self, target: str) -> Iterator[Problem]:
        known, rank = constant_of(self.dimension), _view(self.source).rank
        if known is not None and not 0 <= known < rank:
            yield Problem(f"dimension is {known}; the view has dimensions 0..{rank - 1}", at="dimension")


class GetTensorViewDim(_Dimension, name="pto.get_tensor_view_dim"):
    """The size of a view in one dimension.

    In elements.

        %d = pto.get_tensor_view_dim %v, %i : !pto.tensor_view<?x?xf32> -> index
    """

    is_pure = True


class GetTensorViewStride(_Dimension, name="pto.get_tensor_view_stride"):
    """The stride of a view in one dimension.

    In elements.

        %d = pto.get_tensor_view_stride %v, %i : !pto.tensor_view<?x?xf32> -> index
    """

    is_pure = True


class TensorViewAddr(ViewOperation, name="pto.tensor_view_addr"):
    """The address of the first element of a view.

    As a pointer to the elements of the view.

        %p = pto.tensor_view_addr %v : !pto.tensor_view<?x?xf32> -> !pto.ptr<f32, gm>
    """

    is_pure = True
    form = "$source -> $result:gm"
    listed = ("source",)
    kinds = {"source": _VIEWS}
    source = Operand()
    result = Result()

    def view_rules(self, target: str) -> Iterator[Problem]:
        element, result = _view(self.source).element, self.result.type
        if isinstance(result, PtrType) and result.element != element:
            yield Problem(f"expects a pointer to {element}, the element of the view, not {result.element}", at="result")


class DeclareGlobal(ViewOperation, name="pto.declare_global"):
    """A tensor view that is bound later.

    A FIFO entry in global memory gives it its place.

        %v = pto.declare_global -> !pto.tensor_view<16x64xf32>
    """

    kinds = {"result": (TensorViewType,)}
    arrow = True
    result = Result()
