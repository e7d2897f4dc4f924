"""The types of logical vectors and masks (`!pto.vmi.*`): any number of lanes, in registers that lowering chooses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import IntAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ptosim.language.analysis.fast_walk import ByInheritance
from ptosim.language.types import MASK_STRIDES, element_name, element_of, is_element, parse_element

MOST_LOGICAL_LANES = 16_384
"""The most lanes of a logical vector: far more than kernels use, and soon lowered."""

_LOGICAL_GRANULARITIES = ("pred", *MASK_STRIDES)


def _parse_logical_lanes(parser: AttrParser, what: str) -> IntAttr:
    """`<L x`, the number of lanes."""
    parser.parse_punctuation("<")
    start = parser.pos
    lanes = parser.parse_shape_dimension(allow_dynamic=False)
    parser.parse_shape_delimiter()
    if not 1 <= lanes <= MOST_LOGICAL_LANES:
        parser.raise_error(f"{what} has 1 to {MOST_LOGICAL_LANES} lanes, not {lanes}", start, parser.pos)
    return IntAttr(lanes)


def _parse_layout(parser: AttrParser) -> Attribute:
    """`, #pto.vmi.layout<...>>` or `>`: a layout belongs to what the assembler has lowered already."""
    layout = parser.parse_attribute() if parser.parse_optional_punctuation(",") is not None else NoneAttr()
    parser.parse_punctuation(">")
    return layout


def _print_layout(printer: Printer, layout: Attribute) -> None:
    if not isinstance(layout, NoneAttr):
        printer.print_string(", ")
        printer.print_attribute(layout)


@irdl_attr_definition
class LogicalVectorType(ParametrizedAttribute, TypeAttribute, metaclass=ByInheritance):
    """`!pto.vmi.vreg<LxT>`: a logical vector of any number of lanes, wherever they lie."""

    name = "pto.vmi.vreg"
    lane_count: IntAttr
    element: Attribute = param_def()
    layout: Attribute = param_def()

    @staticmethod
    @cache
    def of(lanes: int, element_type: Attribute) -> LogicalVectorType:
        return LogicalVectorType(IntAttr(lanes), element_type, NoneAttr())

    @property
    def lanes(self) -> int:
        return self.lane_count.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        lanes = _parse_logical_lanes(parser, "a logical vector")
        start = parser.pos
        type_ = parse_element(parser)
        if not is_element(type_) or element_name(type_) == "f8E8M0" or element_of(type_).bits not in (8, 16, 32):
            parser.raise_error(f"a logical vector cannot hold {type_}", start, parser.pos)
        return (lanes, type_, _parse_layout(parser))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.lanes}x")
            printer.print_attribute(self.element)
            _print_layout(printer, self.layout)


@irdl_attr_definition
class LogicalMaskType(ParametrizedAttribute, TypeAttribute, metaclass=ByInheritance):
    """`!pto.vmi.mask<Lxpred>`: one truth value for each lane of a logical vector; b8, b16 and b32 fix its width."""

    name = "pto.vmi.mask"
    lane_count: IntAttr
    granularity: StringAttr
    layout: Attribute = param_def()

    @staticmethod
    @cache
    def of(lanes: int) -> LogicalMaskType:
        return LogicalMaskType(IntAttr(lanes), StringAttr("pred"), NoneAttr())

    @property
    def lanes(self) -> int:
        return self.lane_count.data

    @property
    def width(self) -> int | None:
        """Bits of the lanes that it governs; None for those of any width."""
        word = self.granularity.data
        return None if word == "pred" else int(word[1:])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        lanes = _parse_logical_lanes(parser, "a logical mask")
        start = parser.pos
        word = parser.parse_identifier()
        if word not in _LOGICAL_GRANULARITIES:
            known = ", ".join(_LOGICAL_GRANULARITIES)
            parser.raise_error(f"unknown granularity '{word}' of a logical mask; known: {known}", start, parser.pos)
        return (lanes, StringAttr(word), _parse_layout(parser))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.lanes}x{self.granularity.data}")
            _print_layout(printer, self.layout)


def is_logical(type_: Attribute) -> bool:
    """Whether values of this type are logical vectors or masks."""
    return isinstance(type_, LogicalVectorType | LogicalMaskType)


LOGICAL_TYPES: tuple[type[Attribute], ...] = (LogicalVectorType, LogicalMaskType)
