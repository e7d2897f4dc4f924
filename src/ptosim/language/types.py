"""The types of the PTO dialect: pointers, vector registers, masks, alignment state and the low-precision elements.

A type may be *open* while parsing: `!pto.ptr` without parameters and `!pto.mask<G>` stand for a type that
`infer_types.py` works out from the uses. Everything after inference sees closed types only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    StringAttr,
    VectorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ptosim.effects.element import ELEMENTS, MOST_PACKED, VECTOR_BYTES, Element, element
from ptosim.effects.names import Space
from ptosim.language.analysis.fast_walk import ByInheritance

SPACE_SPELLINGS: dict[str, Space] = {
    "gm": Space.GM,
    "l1": Space.L1,
    "mat": Space.L1,
    "l0a": Space.L0A,
    "left": Space.L0A,
    "l0b": Space.L0B,
    "right": Space.L0B,
    "l0c": Space.L0C,
    "acc": Space.L0C,
    "ub": Space.UB,
    "vec": Space.UB,
    "bt": Space.BT,
    "bias": Space.BT,
    "fb": Space.FB,
    "scaling": Space.FB,
}

OPEN = StringAttr("G")
"""The granularity of `!pto.mask<G>`: to be worked out from the uses."""


class LowPrecisionType(ParametrizedAttribute, TypeAttribute):
    """An element type that only loads, stores, moves and conversions understand."""


@irdl_attr_definition
class HiF8Type(LowPrecisionType):
    name = "pto.hif8"


@irdl_attr_definition
class HiF8x2Type(LowPrecisionType):
    name = "pto.hif8x2"


@irdl_attr_definition
class F8E8M0Type(LowPrecisionType):
    name = "pto.f8E8M0"


@irdl_attr_definition
class F4E1M2x2Type(LowPrecisionType):
    name = "pto.f4E1M2x2"


@irdl_attr_definition
class F4E2M1x2Type(LowPrecisionType):
    name = "pto.f4E2M1x2"


@irdl_attr_definition
class BF16x2Type(LowPrecisionType):
    name = "pto.bf16x2"


LLVM_SPACES = {1: Space.GM, 6: Space.UB}
"""The address spaces of LLVM pointers; one without is private memory of a workitem."""


@irdl_attr_definition
class LLVMPointerType(ParametrizedAttribute, TypeAttribute):
    """`!llvm.ptr`: a byte address in private memory of a workitem; `!llvm.ptr<6>`: in UB, `!llvm.ptr<1>`: in GM."""

    name = "llvm.ptr"
    address_space: IntAttr = param_def()

    @property
    def space(self) -> Space | None:
        """None: private memory."""
        return LLVM_SPACES.get(self.address_space.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return (IntAttr(0),)
        start = parser.pos
        number = parser.parse_integer(allow_boolean=False)
        if number and number not in LLVM_SPACES:
            parser.raise_error(f"LLVM address space {number} is unknown: 6 is ub, 1 is gm", start, parser.pos)
        parser.parse_punctuation(">")
        return (IntAttr(number),)

    def print_parameters(self, printer: Printer) -> None:
        if self.address_space.data:
            with printer.in_angle_brackets():
                printer.print_string(str(self.address_space.data))


_PAYLOADS = (HiF8Type, HiF8x2Type, F8E8M0Type, F4E1M2x2Type, F4E2M1x2Type, BF16x2Type)
_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float64Type, Float8E4M3FNType, Float8E5M2Type)
_NAMED_ELEMENTS: dict[type[Attribute], str] = {
    **{type_: type_.name.removeprefix("pto.") for type_ in (IndexType, *_FLOATS, *_PAYLOADS)},
    Float8E8M0FNUType: F8E8M0Type.name.removeprefix("pto."),
}

_SIGN_PREFIX = {Signedness.SIGNLESS: "", Signedness.SIGNED: "s", Signedness.UNSIGNED: "u"}


def element_name(type_: Attribute) -> str | None:
    """The ISA's word for a scalar or element type, or None for a type that is neither."""
    if isinstance(type_, IntegerType):
        integer = cast("IntegerType", type_)
        return f"{_SIGN_PREFIX[integer.signedness.data]}i{integer.width.data}"
    if isinstance(type_, VectorType):
        return _packed_name(cast("VectorType[Attribute]", type_))
    return _NAMED_ELEMENTS.get(type(type_))


@cache
def _packed_name(type_: VectorType[Attribute]) -> str | None:
    """The word for a vector of one dimension: `vector<2xf16>`."""
    shape, part = type_.get_shape(), element_name(type_.element_type)
    if len(shape) != 1 or part not in ELEMENTS or type_.get_num_scalable_dims() or not 1 <= shape[0] <= MOST_PACKED:
        return None
    return f"vector<{shape[0]}x{part}>"


def scalar_name(type_: Attribute) -> str | None:
    """The word for a scalar type, or for the elements of a packed one."""
    if is_packed(type_):
        return element_name(cast("VectorType[Attribute]", type_).element_type)
    return element_name(type_)


def is_packed(type_: Attribute) -> bool:
    """Whether values of a type are several scalars of one workitem: a vector of one dimension."""
    return isinstance(type_, VectorType) and _packed_name(cast("VectorType[Attribute]", type_)) is not None


def like_packed(type_: Attribute, part: Attribute) -> Attribute:
    """A scalar type, or the packed one of as many elements as another type has."""
    return VectorType(part, cast("VectorType[Attribute]", type_).get_shape()) if is_packed(type_) else part


@cache
def element_of(type_: Attribute) -> Element:
    """The element description of a scalar type, or of the elements of a pointer or register type."""
    if isinstance(type_, PtrType | VregType):
        type_ = type_.element
    name = element_name(type_)
    if name is None:
        raise ValueError(f"{type_} has no element description")
    return element(name)


def is_scalar(type_: Attribute) -> bool:
    """Whether the machine has values of this type: i32 is one, i128 is none."""
    return element_name(type_) in ELEMENTS


def is_element(type_: Attribute) -> bool:
    return is_scalar(type_) and element_name(type_) not in ("index", "i1", "f64")


def parse_element(parser: AttrParser) -> Attribute:
    """An element type; MLIR's own name for E8M0 means the same elements as PTO's."""
    type_ = parser.parse_type()
    return F8E8M0Type() if isinstance(type_, Float8E8M0FNUType) else type_


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute, metaclass=ByInheritance):
    """`!pto.ptr<T, space>`: a byte address in a memory space; offsets from it count elements of T."""

    name = "pto.ptr"
    element: Attribute = param_def()
    space_name: Attribute = param_def()

    @staticmethod
    @cache
    def of(element_type: Attribute, space: Space) -> PtrType:
        return PtrType(element_type, StringAttr(space.value))

    @property
    def is_open(self) -> bool:
        return isinstance(self.element, NoneAttr) or isinstance(self.space_name, NoneAttr)

    @property
    def space(self) -> Space:
        return Space(cast(StringAttr, self.space_name).data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return (NoneAttr(), NoneAttr())
        return parse_pointer_body(parser)

    def print_parameters(self, printer: Printer) -> None:
        if self.is_open:
            return
        with printer.in_angle_brackets():
            printer.print_attribute(self.element)
            printer.print_string(f", {self.space.value}")


def parse_pointer_body(parser: AttrParser) -> tuple[Attribute, Attribute]:
    """`T>` or `T, space>`, after the opening bracket. A missing space means gm."""
    start = parser.pos
    element_type = parse_element(parser)
    if not is_element(element_type) and not is_packed(element_type) and element_name(element_type) != "f64":
        parser.raise_error(f"a pointer cannot have element type {element_type}", start, parser.pos)
    space = Space.GM
    if parser.parse_optional_punctuation(",") is not None:
        space = _parse_space(parser)
    parser.parse_punctuation(">", " after the memory space")
    return element_type, StringAttr(space.value)


def _parse_space(parser: AttrParser) -> Space:
    start = parser.pos
    word = parser.parse_optional_identifier()
    if word is None:
        attribute = parser.parse_attribute()
        word = attribute.space.data if isinstance(attribute, AddressSpaceAttr) else str(attribute)
    space = SPACE_SPELLINGS.get(word)
    if space is None:
        parser.raise_error(f"unknown memory space '{word}'; known: {', '.join(SPACE_SPELLINGS)}", start, parser.pos)
    return space


@irdl_attr_definition
class AddressSpaceAttr(ParametrizedAttribute):
    """`#pto.address_space<gm>`, also `#pto<address_space gm>`."""

    name = "pto.address_space"
    space: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        bracket = parser.parse_optional_punctuation("<")
        space = _parse_space(parser)
        if bracket is not None:
            parser.parse_punctuation(">")
        return (StringAttr(space.value),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.space.data)


@irdl_attr_definition
class VregType(ParametrizedAttribute, TypeAttribute, metaclass=ByInheritance):
    """`!pto.vreg<NxT>`: one vector register, 256 bytes seen as N lanes of T."""

    name = "pto.vreg"
    lane_count: IntAttr
    element: Attribute = param_def()

    @staticmethod
    @cache
    def of(element_type: Attribute) -> VregType:
        return VregType(IntAttr(VECTOR_BYTES // element_of(element_type).bytes), element_type)

    @property
    def lanes(self) -> int:
        return self.lane_count.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parser.parse_punctuation("<")
        start = parser.pos
        lanes = parser.parse_shape_dimension(allow_dynamic=False)
        parser.parse_shape_delimiter()
        element_type = parse_element(parser)
        if not is_element(element_type) or element_of(element_type).bits < 8:
            parser.raise_error(f"a vector register cannot hold {element_type}", start, parser.pos)
        size = lanes * element(cast(str, element_name(element_type))).bytes
        if size != VECTOR_BYTES:
            parser.raise_error(
                f"!pto.vreg<{lanes}x{element_type}> is {size} bytes; a vector register is exactly 256 bytes",
                start,
                parser.pos,
            )
        parser.parse_punctuation(">")
        return (IntAttr(lanes), element_type)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.lanes}x")
            printer.print_attribute(self.element)


@irdl_attr_definition
class MaskType(ParametrizedAttribute, TypeAttribute, metaclass=ByInheritance):
    """`!pto.mask<b8|b16|b32>`: a typed view of one 256-bit predicate register."""

    name = "pto.mask"
    granularity: StringAttr

    @property
    def is_open(self) -> bool:
        return self.granularity == OPEN

    @property
    def stride(self) -> int:
        """Predicate bits per lane."""
        return MASK_STRIDES[self.granularity.data]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return (OPEN,)
        start = parser.pos
        word = parser.parse_identifier()
        if word not in (*MASK_STRIDES, OPEN.data):
            parser.raise_error(f"unknown mask granularity '{word}'; known: b8, b16, b32", start, parser.pos)
        parser.parse_punctuation(">")
        return (StringAttr(word),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.granularity.data)


MASK_STRIDES = {"b8": 1, "b16": 2, "b32": 4}


def mask_for(type_: Attribute) -> MaskType:
    """The mask type whose lanes are the lanes of a register of this element type."""
    return MaskType(StringAttr(element_of(type_).mask_granularity))


@irdl_attr_definition
class AlignType(ParametrizedAttribute, TypeAttribute):
    """`!pto.align`: the state of one unaligned load or store stream."""

    name = "pto.align"


def is_open(type_: Attribute) -> bool:
    """Whether inference still has to work the type out."""
    return isinstance(type_, PtrType | MaskType) and type_.is_open


def same_type(listed: Attribute, actual: Attribute) -> bool:
    """Equal, or one of the two still open."""
    return listed == actual or (type(listed) is type(actual) and (is_open(listed) or is_open(actual)))


_VECTOR_STATE = frozenset({VregType, MaskType, AlignType})


def is_vector_state(type_: Attribute) -> bool:
    """Whether values of this type live only inside a vector scope."""
    return type(type_) in _VECTOR_STATE  # isinstance of these classes takes six times as long


def pointer_of_memref(type_: MemRefType[Attribute]) -> PtrType | None:
    """A memref in a PTO address space is read as a pointer, if its elements lie one after the other."""
    space, layout = type_.memory_space, type_.layout
    identity = AffineMapAttr(AffineMap.identity(len(type_.get_shape())))
    dense = isinstance(layout, NoneAttr) or layout == identity
    if not dense or not isinstance(space, AddressSpaceAttr) or not is_element(type_.element_type):
        return None
    return PtrType(type_.element_type, space.space)


TYPES: tuple[type[Attribute], ...] = (PtrType, VregType, MaskType, AlignType, *_PAYLOADS, AddressSpaceAttr)
