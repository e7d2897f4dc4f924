"""Arrays of their own that workitems have: made with a static shape, indexed, loaded and stored."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import UnitAttr, i32
from xdsl.ir import Attribute, SSAValue

from ptosim.author.coerce import literal, scalar_value, whole
from ptosim.author.dtypes import DType
from ptosim.author.dtypes import dtype as named
from ptosim.author.extents import plus, times
from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.trace import current, explicit_only
from ptosim.author.values import Traced, wrap
from ptosim.language.catalogue import operation


class WorkitemBuffer(Traced):
    """An array of scalars of each workitem."""

    shape: tuple[int, ...] = ()
    dtype: DType

    def __getitem__(self, key: Any) -> BufferElement:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self.shape):
            raise failure(WrongType, f"this buffer has {len(self.shape)} dimensions, not {len(keys)}")
        return BufferElement(self, self.offset(keys))

    def __setitem__(self, key: Any, value: Any) -> None:
        raise failure(WrongType, "an element of a buffer is set by scalar.store(value, buffer[i])")

    def offset(self, keys: Sequence[Any]) -> Any:
        """The number of an element, row by row."""
        found: Any = 0
        for extent, key in zip(self.shape, keys, strict=True):
            number = literal(key)
            if number is not None and not 0 <= number < extent:
                raise failure(WrongValue, f"there is no element {number}; the buffer has {extent} there")
            found = plus(times(found, extent), key)
        return found


class BufferElement:
    """`buffer[i]`: an element, to load or store; in arithmetic it is loaded."""

    def __init__(self, buffer: WorkitemBuffer, offset: Any) -> None:
        self.buffer = buffer
        self.at = offset

    def loaded(self) -> Any:
        return load_local(self.buffer, self.at)


def alloc_buffer(shape: Any, dtype: Any) -> WorkitemBuffer:
    """An array of a static shape that each workitem has; made in a kernel it survives from launch to launch."""
    trace = current("pto.alloc_buffer")
    inside = trace.body.kind == "simt" or "pto.simt(…)" in trace.body.sections
    if not inside:
        explicit_only("pto.alloc_buffer")
    extents = [shape] if isinstance(shape, int) else list(shape)
    sizes = tuple(whole(each, "a dimension of a buffer") for each in extents)
    total = 1
    for size in sizes:
        total *= size
    if total <= 0:
        raise failure(WrongValue, f"the dimensions of a buffer are positive, not {list(sizes)}")
    kind, element = operation("llvm.alloca"), named(dtype, "the element of a buffer")
    assert kind is not None
    attributes: dict[str, Attribute] = {} if inside else {"pto.persistent": UnitAttr()}
    operands = {"count": scalar_value(total, i32)}
    made = trace.make(kind, operands, [_pointer()], {"element_type": element.type}, attributes, name="buffer")
    buffer = WorkitemBuffer(made.results[0])
    buffer.shape, buffer.dtype = sizes, element
    return buffer


def _pointer() -> Attribute:
    from ptosim.author.dtypes import parsed_type

    return parsed_type("!llvm.ptr")


def _address(buffer: WorkitemBuffer, offset: Any) -> SSAValue:
    kind = operation("llvm.getelementptr")
    assert kind is not None
    operands = {"base": buffer.ssa, "index": scalar_value(offset, i32, "the index of a buffer")}
    made = current().make(kind, operands, [buffer.ssa.type], {"element_type": buffer.dtype.type}, name="element")
    return made.results[0]


def load_local(buffer: WorkitemBuffer, offset: Any, type_: Attribute | None = None) -> Any:
    """An element of a buffer, or several as one value."""
    kind = operation("llvm.load")
    assert kind is not None
    return wrap(current().make(kind, {"pointer": _address(buffer, offset)}, [type_ or buffer.dtype.type]).results[0])


def store_local(value: Any, buffer: WorkitemBuffer, offset: Any) -> None:
    """Set an element of a buffer."""
    kind = operation("llvm.store")
    assert kind is not None
    packed = isinstance(value, Traced) and value.ssa.type != buffer.dtype.type and "vector<" in str(value.ssa.type)
    given = value.ssa if packed else scalar_value(value, buffer.dtype.type, "the value that is stored")
    current().make(kind, {"value": given, "pointer": _address(buffer, offset)})


def local_place(ref: Any, off: Any) -> tuple[WorkitemBuffer, Any] | None:
    """The buffer and the offset that are meant, if it is one."""
    if isinstance(ref, BufferElement):
        return ref.buffer, plus(ref.at, 0 if off is None else off)
    if isinstance(ref, WorkitemBuffer):
        return ref, 0 if off is None else off
    return None


NAMES = "alloc_buffer"
