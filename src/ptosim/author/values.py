"""Values that a kernel's names hold while it is traced: they belong to the program that will run."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn, Self

from xdsl.ir import SSAValue

from ptosim.author.failures import RuntimeMisuse, WrongType, failure
from ptosim.author.trace import current
from ptosim.language.structure.scalar import Constant
from ptosim.language.tile.tile_types import PartitionViewType, TensorViewType, TileBufType
from ptosim.language.types import PtrType, VregType, element_name

_MISUSE = (
    "use pto.static_range for a loop that is unrolled, pto.const_expr for a condition known before the kernel runs, "
    "and leave ast_rewrite on for if, for and while; scalar.max, min, abs, sqrt, exp and log are functions of kernels"
)


class Traced:
    """A value that only the run knows."""

    def __init__(self, ssa: SSAValue) -> None:
        self.ssa = ssa

    def like(self, ssa: SSAValue) -> Self:
        """The same kind of thing, of another value: what goes around a loop or comes out of a branch."""
        return type(self)(ssa)

    @property
    def type(self) -> Any:
        """The type of the dialect."""
        return self.ssa.type

    def __repr__(self) -> str:
        return f"<{self.ssa.type} in a kernel that is traced>"

    def __bool__(self) -> bool:  # noqa: PLE0304
        self._misused("a condition")

    def __index__(self) -> int:  # noqa: PLE0305
        self._misused("an index, or a bound of a plain range")

    def __int__(self) -> int:
        self._misused("an int")

    def __float__(self) -> float:
        self._misused("a float")

    def __iter__(self) -> Iterator[Any]:
        self._misused("something to iterate over")

    def __len__(self) -> int:  # noqa: PLE0303
        self._misused("something with a length")

    def _misused(self, what: str) -> NoReturn:
        message = f"a value that only the run knows ({self.ssa.type}) cannot be {what} in Python"
        raise failure(RuntimeMisuse, message, hint=_MISUSE)


class ScalarValue(Traced):
    """An integer, a float, a truth value."""

    __hash__ = object.__hash__

    @property
    def dtype(self) -> Any:
        from ptosim.author.dtypes import DType

        return DType(element_name(self.ssa.type) or "")

    def _binary(self, sign: str, other: Any, reflected: bool = False) -> Any:
        from ptosim.author.operators import binary

        return binary(sign, other, self) if reflected else binary(sign, self, other)

    def __add__(self, other: Any) -> Any:
        return self._binary("+", other)

    def __radd__(self, other: Any) -> Any:
        return self._binary("+", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._binary("-", other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary("-", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._binary("*", other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary("*", other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._binary("/", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary("/", other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self._binary("//", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._binary("//", other, True)

    def __mod__(self, other: Any) -> Any:
        return self._binary("%", other)

    def __rmod__(self, other: Any) -> Any:
        return self._binary("%", other, True)

    def __and__(self, other: Any) -> Any:
        return self._binary("&", other)

    def __rand__(self, other: Any) -> Any:
        return self._binary("&", other, True)

    def __or__(self, other: Any) -> Any:
        return self._binary("|", other)

    def __ror__(self, other: Any) -> Any:
        return self._binary("|", other, True)

    def __xor__(self, other: Any) -> Any:
        return self._binary("^", other)

    def __rxor__(self, other: Any) -> Any:
        return self._binary("^", other, True)

    def __lt__(self, other: Any) -> Any:
        return self._binary("<", other)

    def __le__(self, other: Any) -> Any:
        return self._binary("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._binary(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._binary(">=", other)

    def __eq__(self, other: Any) -> Any:
        return self._binary("==", other)

    def __ne__(self, other: Any) -> Any:
        return self._binary("!=", other)

    def __lshift__(self, other: Any) -> NoReturn:
        self._no_operator("<<", "multiply by a power of two")

    def __rshift__(self, other: Any) -> NoReturn:
        self._no_operator(">>", "divide by a power of two with //")

    def __neg__(self) -> NoReturn:
        self._no_operator("unary -", "write 0 - x")

    def __pow__(self, other: Any) -> NoReturn:
        self._no_operator("**", "multiply")

    def _no_operator(self, sign: str, advice: str) -> NoReturn:
        raise failure(WrongType, f"scalars of a kernel have no operator {sign}: {advice}")


class PointerValue(Traced):
    """An address in a memory."""

    @property
    def dtype(self) -> Any:
        from ptosim.author.dtypes import DType

        return DType(element_name(self.pointer_type.element) or "")

    @property
    def pointer_type(self) -> PtrType:
        assert isinstance(self.ssa.type, PtrType)
        return self.ssa.type

    def __add__(self, offset: Any) -> PointerOffset:
        return PointerOffset(self, offset)

    __radd__ = __add__


class PointerOffset:
    """A pointer and an offset in elements, not yet added."""

    def __init__(self, pointer: PointerValue, offset: Any) -> None:
        from ptosim.author.coerce import counts

        self.pointer = pointer
        self.offset = counts(offset, "the offset of a pointer")

    def __add__(self, more: Any) -> PointerOffset:
        from ptosim.author.operators import binary

        return PointerOffset(self.pointer, binary("+", self.offset, more))

    __radd__ = __add__


class RegisterValue(Traced):
    """A vector register."""

    @property
    def dtype(self) -> Any:
        from ptosim.author.dtypes import DType

        assert isinstance(self.ssa.type, VregType)
        return DType(element_name(self.ssa.type.element) or "")

    def __add__(self, other: Any) -> NoReturn:
        self._no_operator("vadd")

    def __sub__(self, other: Any) -> NoReturn:
        self._no_operator("vsub")

    def __mul__(self, other: Any) -> NoReturn:
        self._no_operator("vmul")

    def __truediv__(self, other: Any) -> NoReturn:
        self._no_operator("vdiv")

    def _no_operator(self, call: str) -> NoReturn:
        raise failure(WrongType, f"a vector register has no operators: write pto.{call}(a, b, mask)")


class MaskValue(Traced):
    """A mask. One that was made of a count also unpacks as (mask, what remains of the count)."""

    remained: Any = None

    def __iter__(self) -> Iterator[Any]:
        if self.remained is None:
            raise failure(WrongType, "only a mask of a count, pto.make_mask(T, n), unpacks as (mask, remained)")
        settled = getattr(self.remained, "settled", None)
        return iter((self, self.remained if settled is None else settled()))


class AlignValue(Traced):
    """The state of an unaligned stream."""


class HandleValue(Traced):
    """Something that is only passed on: a structure, an array, a session."""


class ViewValue(Traced):
    """A view of global memory, or a part of one."""

    root: ViewValue | None = None
    known_offsets: tuple[Any, ...] | None = None
    known_shape: tuple[Any, ...] | None = None
    known_strides: tuple[Any, ...] | None = None

    def like(self, ssa: SSAValue) -> Self:
        made = type(self)(ssa)
        made.root, made.known_offsets = self.root, self.known_offsets
        return made

    @property
    def dtype(self) -> Any:
        from ptosim.author.dtypes import DType

        assert isinstance(self.ssa.type, TensorViewType | PartitionViewType)
        return DType(element_name(self.ssa.type.data.element) or "")

    @property
    def rank(self) -> int:
        return self.ssa.type.data.rank  # type: ignore[attr-defined]

    @property
    def shape(self) -> tuple[Any, ...]:
        from ptosim.author.views import extents

        return self.known_shape or extents(self)

    sizes = shape

    @property
    def strides(self) -> tuple[Any, ...]:
        from ptosim.author.views import strides

        return self.known_strides or strides(self)

    @property
    def offsets(self) -> tuple[Any, ...]:
        return self.known_offsets or (0,) * self.rank

    def as_ptr(self) -> PointerValue:
        from ptosim.author.views import address_of_view

        return address_of_view(self)


def wrap(ssa: SSAValue, name: str = "") -> Any:
    """The wrapper for a value of any type."""
    from ptosim.author.tiles import TileValue
    from ptosim.language.types import AlignType, MaskType

    if name:
        ssa.name_hint = name
    kinds: tuple[tuple[Any, type[Traced]], ...] = (
        (PtrType, PointerValue),
        (VregType, RegisterValue),
        (MaskType, MaskValue),
        (AlignType, AlignValue),
        (TileBufType, TileValue),
        ((TensorViewType, PartitionViewType), ViewValue),
    )
    for types, kind in kinds:
        if isinstance(ssa.type, types):
            return kind(ssa)
    return ScalarValue(ssa) if element_name(ssa.type) is not None else HandleValue(ssa)


def wrapped(values: Any) -> Any:
    """The results of an operation: none, one, or several."""
    made = tuple(map(wrap, values))
    return made[0] if len(made) == 1 else made or None


def is_authors_name(name: str) -> bool:
    """Whether a value can be printed under a name, and should: not one that the rewriting has made."""
    return bool(SSAValue.is_valid_name(name)) and not name.startswith("__pto")


def name_value(name: str | tuple[str, ...], value: Any) -> Any:
    """A value that is assigned to a name is called so, unless it has a name already."""
    if isinstance(name, tuple):
        if isinstance(value, tuple) and len(value) == len(name):
            for each, part in zip(name, value, strict=True):
                name_value(each, part)
        return value
    if isinstance(value, Traced):
        trace = current()
        if value.ssa not in trace.named:
            trace.named.add(value.ssa)
            owner = value.ssa.owner
            if owner in trace.places and not isinstance(owner, Constant) and is_authors_name(name):
                value.ssa.name_hint = name
    return value
