"""The types of the surface: names that are cheap to import, and become types of the dialect while tracing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.words import choice, spelled
from ptosim.effects.element import VECTOR_BYTES, element

if TYPE_CHECKING:
    from xdsl.ir import Attribute

SPACES = {
    "gm": "gm",
    "ub": "ub",
    "vec": "ub",
    "mat": "l1",
    "left": "l0a",
    "right": "l0b",
    "acc": "l0c",
    "bias": "bt",
    "scaling": "fb",
    "l1": "l1",
    "l0a": "l0a",
    "l0b": "l0b",
    "l0c": "l0c",
    "bt": "bt",
    "fb": "fb",
}
"""The memories, by every name that they have."""

TILE_PLACES = {
    **{name: name for name in ("vec", "mat", "left", "right", "acc", "bias", "scaling")},
    "ub": "vec",
    "l1": "mat",
    "l0a": "left",
    "l0b": "right",
    "l0c": "acc",
    "bt": "bias",
    "fb": "scaling",
}
"""The name of each memory in a tile type."""


MASK_NAMES = ("b8", "b16", "b32")
"""The widths of lanes that masks are for."""


class Described:
    """A type of the surface, as an annotation or argument names it."""

    @property
    def type(self) -> Attribute:
        """The type of the dialect."""
        raise AssertionError(f"{type(self).__name__} has no type")


@dataclass(frozen=True)
class DType(Described):
    """A scalar or element type. Called with a number it gives a constant of that type."""

    name: str

    @property
    def type(self) -> Attribute:
        return scalar_type(self.name)

    @property
    def bytes(self) -> int:
        return element(self.name).bytes

    @property
    def is_float(self) -> bool:
        return element(self.name).is_float

    def __call__(self, value: Any) -> Any:
        from ptosim.author.coerce import constant, scalar_value
        from ptosim.author.values import ScalarValue, wrap

        if isinstance(value, ScalarValue):
            return wrap(scalar_value(value, self.type, f"the argument of pto.{self.name}"))

        if isinstance(value, bool):
            raise failure(
                WrongType, f"pto.{self.name}({value}): a bool is no number; write pto.const({value}, dtype=pto.i1)"
            )
        return wrap(constant(value, self.type))

    def __repr__(self) -> str:
        return f"pto.{self.name}"


@dataclass(frozen=True)
class PointerDescription(Described):
    """`pto.ptr(T, space)`."""

    element: DType
    space: str

    @property
    def type(self) -> Attribute:
        from ptosim.effects.names import Space
        from ptosim.language.types import PtrType

        return PtrType.of(self.element.type, Space(self.space))

    def __repr__(self) -> str:
        return f'pto.ptr({self.element!r}, "{self.space}")'


@dataclass(frozen=True)
class RegisterDescription(Described):
    """`pto.vreg_type(n, T)`."""

    lanes: int
    element: DType

    @property
    def type(self) -> Attribute:
        from ptosim.language.types import VregType

        return VregType.of(self.element.type)


@dataclass(frozen=True)
class MaskDescription(Described):
    """`pto.mask_type("b32")`."""

    granularity: str

    @property
    def type(self) -> Attribute:
        from xdsl.dialects.builtin import StringAttr

        from ptosim.language.types import MaskType

        return MaskType(StringAttr(self.granularity))


@dataclass(frozen=True)
class AlignDescription(Described):
    """`pto.align_type()`."""

    @property
    def type(self) -> Attribute:
        from ptosim.language.types import AlignType

        return AlignType()


@dataclass(frozen=True)
class StructDescription(Described):
    """`pto.struct_type(T, …)`."""

    fields: tuple[Described, ...]

    @property
    def type(self) -> Attribute:
        from ptosim.language.tile.tile_types import StructType

        return StructType(tuple(field.type for field in self.fields))


@dataclass(frozen=True)
class TileDescription(Described):
    """`pto.tile_type(shape, T, …)`: the type of a tile."""

    shape: tuple[int, ...]
    element: DType
    place: str = "vec"
    valid: tuple[int | None, ...] | None = None
    blayout: str = "row_major"
    slayout: str = "none_box"
    fractal: int = 512
    pad: int = 0
    compact: int = 0

    @property
    def type(self) -> Attribute:
        from ptosim.language.tile.tile_buf import TileBuf
        from ptosim.language.tile.tile_types import TileBufType

        rows, cols = (1, *self.shape)[-2:]
        valid = (rows, cols) if self.valid is None else self.valid
        row, col = (*valid,) if len(valid) == 2 else (1 if valid[0] is not None else None, valid[0])
        layout = self.blayout, self.slayout, self.fractal, self.pad, self.compact
        return TileBufType(TileBuf(self.place, self.element.type, rows, cols, (row, col), *layout))


class KindOfValue(Described):
    """A kind of value whose type a call decides."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"pto.{self.name}"


TILE = KindOfValue("Tile")
TENSOR_VIEW = KindOfValue("TensorView")
PARTITION_VIEW = KindOfValue("PartitionView")


@dataclass(frozen=True)
class ConstExpr:
    """`pto.const_expr` as an annotation: a value that the kernel is specialised by."""

    def __call__(self, value: Any) -> Any:
        return value

    def __repr__(self) -> str:
        return "pto.const_expr"


CONST_EXPR = ConstExpr()

_SIGNED = [f"{sign}i{width}" for sign in ("", "s", "u") for width in (8, 16, 32, 64)]
_PACKED = {
    **{f"{name}x2": f"vector<2x{name}>" for name in ("f16", "bf16", "f32", "i8", "i16", "i32")},
    **{f"f8e4m3x{n}": f"vector<{n}xf8E4M3FN>" for n in (2, 4, 8)},
    **{f"f8e5m2x{n}": f"vector<{n}xf8E5M2>" for n in (2, 4, 8)},
    **{f"hif8x{n}": f"vector<{n}xhif8>" for n in (2, 4, 8)},
}
_NAMES = {
    **{name: name for name in ("f16", "f32", "f64", "bf16", "i1", "index", *_SIGNED)},
    "float16": "f16",
    "float32": "f32",
    "bfloat16": "bf16",
    "bool": "i1",
    **{f"int{width}": f"i{width}" for width in (8, 16, 32, 64)},
    **{f"uint{width}": f"ui{width}" for width in (8, 16, 32, 64)},
    "int1": "i1",
    "f8e4m3": "f8E4M3FN",
    "f8E4M3FN": "f8E4M3FN",
    "f8e4m3fn": "f8E4M3FN",
    "f8e5m2": "f8E5M2",
    "f8E5M2": "f8E5M2",
    "f8e8m0": "f8E8M0",
    "f8E8M0": "f8E8M0",
    "hif8": "hif8",
    "f4e1m2x2": "f4E1M2x2",
    "f4e2m1x2": "f4E2M1x2",
    "f4E1M2x2": "f4E1M2x2",
    "f4E2M1x2": "f4E2M1x2",
    **_PACKED,
}
DTYPES = {name: DType(meant) for name, meant in _NAMES.items() if name != "bool"}
"""Every name of a scalar or element type."""


@cache
def scalar_type(name: str) -> Attribute:
    """The type of the dialect, by the name of the ISA."""
    from ptosim.language.text.located_parser import LocatedParser
    from ptosim.language.text.parser import context
    from ptosim.places import Source

    payloads = ("hif8", "hif8x2", "f8E8M0", "f4E1M2x2", "f4E2M1x2", "bf16x2")
    text = name.replace("xhif8>", "x!pto.hif8>")
    return LocatedParser(context(), Source("<type>", f"!pto.{name}" if name in payloads else text)).parse_type()


def parsed_type(text: str) -> Attribute:
    """A type from its text."""
    from xdsl.utils.exceptions import ParseError

    from ptosim.language.text.located_parser import LocatedParser
    from ptosim.language.text.parser import context
    from ptosim.places import Source

    try:
        return LocatedParser(context(), Source("<type>", text)).parse_type()
    except ParseError as problem:
        raise failure(WrongType, problem.msg) from None


def attribute_of(text: str) -> Attribute:
    """An attribute from its text."""
    from ptosim.language.text.located_parser import LocatedParser
    from ptosim.language.text.parser import context
    from ptosim.places import Source

    return LocatedParser(context(), Source("<attribute>", text)).parse_attribute()


def dtype(value: Any, what: str = "a type") -> DType:
    """A scalar or element type that was given."""
    if isinstance(value, DType):
        return value
    text = spelled(value)
    if text in DTYPES:
        return DTYPES[text]
    raise failure(WrongType, f"{what} is a type such as pto.f32, not {value!r}")


def type_of(value: Any, what: str = "the type") -> Attribute:
    """The type of the dialect that an argument means: a description, a traced value, or the text of a type."""
    from xdsl.ir import Attribute

    from ptosim.author.values import Traced

    if isinstance(value, Described) and not isinstance(value, KindOfValue):
        return value.type
    if isinstance(value, Traced):
        return value.ssa.type
    if isinstance(value, Attribute):
        return value
    if isinstance(value, str):
        return DTYPES[value].type if value in DTYPES else parsed_type(value)
    raise failure(WrongType, f"{what} is a type such as pto.f32 or pto.ptr(pto.f32, 'ub'), not {value!r}")


# --- what the surface offers ------------------------------------------------------------------------------------------


class PointerForm:
    """A call that makes a pointer type. In annotations it may be subscripted as well, which type checkers read."""

    def __init__(self, make: Callable[..., PointerDescription]) -> None:
        self._make = make
        self.__name__, self.__doc__, self.__signature__ = make.__name__, make.__doc__, signature(make)

    def __call__(self, *args: Any, **given: Any) -> PointerDescription:
        return self._make(*args, **given)

    def __getitem__(self, element_type: Any) -> PointerDescription:
        return self._make(element_type)


@PointerForm
def ptr(element_type: Any, space: Any = "ub") -> PointerDescription:
    """A pointer to elements of a type in a memory: gm, ub (or vec), mat, left, right, acc, bias, scaling."""
    return PointerDescription(dtype(element_type, "the element of a pointer"), choice(space, SPACES, "memory space"))


@PointerForm
def gm_ptr(element_type: Any) -> PointerDescription:
    """A pointer to elements of a type in global memory."""
    return ptr(element_type, "gm")


def vreg_type(lanes: int, element_type: Any) -> RegisterDescription:
    """A vector register: 256 bytes seen as so many lanes of a type."""
    made = dtype(element_type, "the element of a register")
    if lanes * made.bytes != VECTOR_BYTES:
        message = f"{lanes} lanes of {made.name} are {lanes * made.bytes} bytes; a register has {VECTOR_BYTES}"
        raise failure(WrongValue, f"{message}: write pto.vreg_type({VECTOR_BYTES // made.bytes}, {made!r})")
    return RegisterDescription(lanes, made)


def mask_type(granularity: Any = "b32") -> MaskDescription:
    """A mask of lanes of 8, 16 or 32 bits: "b8", "b16", "b32"."""
    return MaskDescription(choice(granularity, MASK_NAMES, "mask granularity"))


def align_type() -> AlignDescription:
    """The state of an unaligned stream."""
    return AlignDescription()


def struct_type(*fields: Any) -> StructDescription:
    """A structure of scalars (or structures), by position."""
    return StructDescription(tuple(each if isinstance(each, StructDescription) else dtype(each) for each in fields))


def tile_type(
    shape: Sequence[int],
    dtype: Any,
    memory_space: Any = "ub",
    valid_shape: Sequence[int | None] | None = None,
    blayout: Any = "RowMajor",
    slayout: Any = "NoneBox",
    fractal_size: int = 512,
    pad: Any = "Null",
) -> TileDescription:
    """The type of a tile, as alloc_tile makes one of these arguments."""
    from ptosim.author.tile_types import described

    return described(shape, dtype, memory_space, valid_shape, blayout, slayout, fractal_size, pad)


def vec_type(element_type: Any, count: int) -> DType:
    """Several scalars of a workitem as one value."""
    return DType(f"vector<{count}x{dtype(element_type).name}>")


def bytewidth(element_type: Any) -> int:
    """Bytes of an element."""
    return dtype(element_type).bytes


def elements_per_vreg(element_type: Any) -> int:
    """Lanes of a vector register of this element."""
    return VECTOR_BYTES // dtype(element_type).bytes
