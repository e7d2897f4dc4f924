"""The border between a kernel and the caller's arrays: one value per parameter, each array a bounded run of bytes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import PTOError, error
from ptosim.effects.element import ELEMENTS, Element, element
from ptosim.machine.memory import Region, Regions, pointer

FLOAT_ARRAYS: Mapping[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E8M0": np.dtype(ml_dtypes.float8_e8m0fnu),
}
"""The floats that NumPy knows, by the element type."""


def dtype_of(element: Element) -> np.dtype[Any]:
    """The NumPy type of an array whose elements are of this type; raw bytes for formats that NumPy does not know."""
    if element.name in FLOAT_ARRAYS:
        return FLOAT_ARRAYS[element.name]
    return np.dtype(f"{'i' if element.kind == 'signed' else 'u'}{element.bytes}")


Bytes = NDArray[np.uint8]

DLPACK_FLOATS: Mapping[int, str] = {4: "bf16", 10: "f8E4M3FN", 12: "f8E5M2", 14: "f8E8M0"}
"""Float types that NumPy does not take from a tensor, by their code in DLPack."""
DLPACK_UNSIGNED = 1
DLPACK_CODE: Mapping[bytes, int] = {b"dltensor": 20, b"dltensor_versioned": 52}
"""The place of the elements' code in a capsule of that name."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its name and its type as written, such as `!pto.ptr<f32, gm>` or `i32`."""

    name: str
    type: str

    @cached_property
    def is_pointer(self) -> bool:
        return self.type.startswith("!pto.ptr")

    @cached_property
    def element(self) -> Element:
        """The element of a pointer, or the type of a scalar."""
        name = self.type
        if self.is_pointer:
            name = name.removeprefix("!pto.ptr<").partition(",")[0]
        return element(name.removeprefix("!pto."))


@dataclass(frozen=True)
class Arguments:
    """Arguments of a launch: the value of each parameter (for an array, its GM pointer), and the buffers."""

    values: tuple[Any, ...]
    buffers: tuple[Bytes, ...]
    names: tuple[str, ...]
    """The parameters behind each buffer; arguments that share memory are one buffer."""
    given: tuple[Any, ...] = ()
    """The arguments of the caller, arrays with their shapes."""

    @cached_property
    def regions(self) -> Regions:
        """The buffers as pointers name them."""
        named = enumerate(zip(self.names, self.buffers, strict=True))
        return Regions({number: Region(number, name, len(buffer)) for number, (name, buffer) in named})

    def copied(self) -> Arguments:
        """The same launch on copies of the buffers."""
        return Arguments(self.values, tuple(buffer.copy() for buffer in self.buffers), self.names)


def bind(signature: Sequence[Parameter], given: Sequence[Any]) -> Arguments:
    """Fit the caller's arguments to the parameters, or say which one does not fit and why."""
    launchable(signature, given)
    numbered = list(enumerate(zip(signature, given, strict=True)))
    shaped = [array_of(index, each, value) if each.is_pointer else value for index, (each, value) in numbered]
    arrays = [(each.name, _bytes(array)) for each, array in zip(signature, shaped, strict=True) if each.is_pointer]
    buffers, names, places = joined(arrays)
    following = iter(places)
    values = [
        pointer(*next(following)) if parameter.is_pointer else scalar(index, parameter, value)
        for index, (parameter, value) in numbered
    ]
    return Arguments(tuple(values), tuple(buffers), tuple(names), tuple(shaped))


def launchable(signature: Sequence[Parameter], given: Sequence[Any]) -> None:
    """One argument for each parameter, all of types that a launch can give."""
    if len(given) != len(signature):
        names = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in signature)
        raise error("argument", f"the kernel takes {len(signature)} arguments ({names}), but {len(given)} were given")
    for index, parameter in enumerate(signature):
        if parameter.is_pointer and not parameter.type.endswith(", gm>"):
            raise unfit(index, parameter, "a kernel can only be launched with pointers to gm")
        kind = ELEMENTS.get(parameter.type)
        if not parameter.is_pointer and (kind is None or kind.kind == "lowprecision"):
            raise unfit(index, parameter, "a kernel can only be launched with pointers and scalars")


def unfit(index: int, parameter: Parameter, reason: str) -> PTOError:
    """The fault of an argument."""
    return error("argument", f"argument {index} ({parameter.name}: {parameter.type}): {reason}")


# --- arrays -----------------------------------------------------------------------------------------------------------


def array_bytes(index: int, parameter: Parameter, value: Any) -> Bytes:
    """The bytes of an argument, or why it does not fit."""
    return _bytes(array_of(index, parameter, value))


def _bytes(array: NDArray[Any]) -> Bytes:
    return array.reshape(-1).view(np.uint8)


def array_of(index: int, parameter: Parameter, value: Any) -> NDArray[Any]:
    """A view of an argument with its shape, or why it does not fit."""
    array = _array(index, parameter, value)
    if not array.flags.c_contiguous:
        raise unfit(
            index, parameter, "the array is not C-contiguous; pass np.ascontiguousarray(x) and copy the result back"
        )
    if not array.flags.writeable:
        raise unfit(index, parameter, "the array is read-only; kernels work in place, pass a writable copy")
    if array.dtype.hasobject:
        raise unfit(index, parameter, "the array holds Python objects, not numbers")
    if not array.dtype.isnative:
        raise unfit(index, parameter, f"the elements ({array.dtype}) are not in this computer's byte order")
    if (reason := _mismatch(array, parameter.element)) is not None:
        raise unfit(index, parameter, reason)
    return array


_BF16 = "pass the bits as uint16: (x.view('u4') >> 16).astype('u2'), or x.astype(ml_dtypes.bfloat16), which rounds"


def _mismatch(array: NDArray[Any], wanted: Element) -> str | None:
    """Why the elements of an array are not of a type. Signedness is free, and bytes may stand for anything."""
    dtype = array.dtype
    if wanted.part is not None and dtype.itemsize == wanted.part.bytes and dtype != np.uint8:
        left = array.size % wanted.count
        return f"{array.size} elements are no whole number of {wanted.name}" if left else _mismatch(array, wanted.part)
    if dtype == np.uint8 and array.size % wanted.bytes:
        return f"{array.size} raw bytes are no whole number of {wanted.name}, which has {wanted.bytes} bytes"
    if dtype == np.uint8:
        return None
    if dtype.itemsize != wanted.bytes:
        message = f"elements of {dtype} have {dtype.itemsize} bytes, but {wanted.name} has {wanted.bytes}"
        if wanted.name == "bf16" and dtype == np.float32:
            return f"{message}; {_BF16}"
        return f"{message}; convert the array first (x.astype)"
    as_bits = wanted.name == "bf16" or not wanted.is_float  # NumPy has no type for some of these: integers serve
    if (
        (dtype.kind in "iu" and as_bits)
        or (dtype.kind == "b" and wanted.is_integer)
        or (wanted.name in FLOAT_ARRAYS and dtype == FLOAT_ARRAYS[wanted.name])
        or (dtype.type is np.void and dtype.fields is None)  # what np.load makes of a format that NumPy does not know
    ):
        return None
    if wanted.name == "bf16" and dtype == np.float16:
        return f"elements of {dtype} are not {wanted.name}; after x.astype('f4') {_BF16}"
    advice = "convert the array (x.astype), or pass its bits (x.view(np.uint8))"
    return f"elements of {dtype} are not {wanted.name}; {advice}"


def _array(index: int, parameter: Parameter, value: Any) -> NDArray[Any]:
    """A view of the caller's memory; anything that would have to be copied is refused."""
    if isinstance(value, np.ndarray):
        return np.asarray(cast("NDArray[Any]", value))  # a matrix or masked array has shapes and masks of its own
    if isinstance(value, np.generic):  # a copy of the scalar would take the result
        raise _no_array(index, parameter, value)
    try:
        if hasattr(value, "__array_interface__"):
            return np.asarray(value)
        if hasattr(value, "__dlpack__"):
            return _from_dlpack(value)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as reason:
        raise unfit(index, parameter, f"the memory cannot be shared with NumPy: {reason}") from None
    try:
        return np.asarray(memoryview(value))
    except (BufferError, TypeError, ValueError):
        raise _no_array(index, parameter, value) from None


def _from_dlpack(tensor: Any) -> NDArray[Any]:
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError):
        bits = _Bits(tensor)
        array = np.from_dlpack(bits)
        return array.view(FLOAT_ARRAYS[bits.name])


class _Bits:
    """A tensor of floats that NumPy does not know; it takes them for integers."""

    name = ""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        from ctypes import PYFUNCTYPE, c_char_p, c_uint8, c_void_p, py_object, pythonapi

        capsule = self.tensor.__dlpack__(**options)
        name = PYFUNCTYPE(c_char_p, py_object)(("PyCapsule_GetName", pythonapi))(capsule)
        start = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))(capsule, name)
        code = c_uint8.from_address(start + DLPACK_CODE[name])
        if code.value not in DLPACK_FLOATS:
            raise BufferError("NumPy has no type for its elements")
        self.name = DLPACK_FLOATS[code.value]
        code.value = DLPACK_UNSIGNED
        return capsule


def _no_array(index: int, parameter: Parameter, value: Any) -> PTOError:
    kind = type(value).__name__
    return unfit(index, parameter, f"expected an array (NumPy, buffer protocol, DLPack), not {kind}")


def joined(arrays: Sequence[tuple[str, Bytes]]) -> tuple[list[Bytes], list[str], list[tuple[int, int]]]:
    """Join arrays that share memory into one buffer, which has all of their names; gives each array its buffer and its
    offset in it."""
    starts = [address_of(data) for _, data in arrays]
    together: list[tuple[int, int, list[int]]] = []
    for index, (_, data) in enumerate(arrays):
        low, high, members = starts[index], starts[index] + len(data), [index]
        for other in [other for other in together if low < other[1] and other[0] < high]:
            together.remove(other)
            low, high, members = min(low, other[0]), max(high, other[1]), other[2] + members
        together.append((low, high, sorted(members)))
    buffers, names, places = list[Bytes](), list[str](), [(0, 0)] * len(arrays)
    for low, high, members in sorted(together, key=lambda span: span[2]):
        for member in members:
            places[member] = len(buffers), starts[member] - low
        buffers.append(_span([arrays[member][1] for member in members], low, high))
        names.append(", ".join(dict.fromkeys(arrays[member][0] for member in members)))
    return buffers, names, places


def address_of(array: Bytes) -> int:
    return array.__array_interface__["data"][0]


def _span(arrays: list[Bytes], low: int, high: int) -> Bytes:
    """One view over memory that these arrays cover without a gap."""
    if len(arrays) == 1:
        return arrays[0]
    import ctypes

    memory = (ctypes.c_uint8 * (high - low)).from_address(low)
    vars(memory)["owners"] = arrays  # it keeps them alive
    return np.frombuffer(memoryview(memory).cast("B"), np.uint8)


# --- scalars ----------------------------------------------------------------------------------------------------------


def _is_truth(value: object) -> bool:
    """NumPy's own truth values are no indices."""
    return isinstance(value, np.bool_)


def scalar(index: int, parameter: Parameter, value: Any) -> int:
    """A scalar as kernels hold it: an integer, or the bit pattern of a float."""
    kind = parameter.element
    if kind.is_float:
        with np.errstate(all="ignore"):
            nearest = np.array(_float(index, parameter, value), dtype_of(kind))
        return int(nearest.view(f"u{kind.bytes}"))
    try:
        number = int(value) if _is_truth(value) else operator.index(value)
    except TypeError:
        raise unfit(index, parameter, f"expected an integer, not {type(value).__name__}") from None
    low, high = -(1 << (kind.bits - 1)), (1 << kind.bits) - 1
    if not (low if kind.kind == "signed" else 0) <= number <= high:
        raise unfit(index, parameter, f"the number does not fit {kind.bits} bits")
    if kind.kind == "signed" and kind.bits > 1 and number > -low - 1:
        number -= 1 << kind.bits
    return number


def _float(index: int, parameter: Parameter, value: Any) -> float:
    unwanted = isinstance(value, str | bytes | bytearray) or np.iscomplexobj(value)
    try:
        if not unwanted:
            return float(value)
    except OverflowError:
        raise unfit(index, parameter, f"the number does not fit {parameter.element.name}") from None
    except (TypeError, ValueError):
        pass
    raise unfit(index, parameter, f"expected a number, not {type(value).__name__}")


def whole(value: Any) -> int | None:
    """The integer that a value is; a bool is none."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None
