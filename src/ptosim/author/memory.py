"""Pointers and scalars in memory: addresses, elements, launch queries, storage of scalars."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import StringAttr, i64

from ptosim.author.coerce import (
    address,
    attribute_of_symbol,
    index,
    integer64,
    integer_attribute,
    literal,
    scalar_value,
    whole,
)
from ptosim.author.dtypes import StructDescription, type_of
from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.local_buffers import load_local, local_place, store_local
from ptosim.author.operators import binary
from ptosim.author.trace import current
from ptosim.author.values import HandleValue, PointerOffset, PointerValue, ScalarValue, wrap
from ptosim.language.micro.pointer import AddPtr, CastPtr, LoadScalar, StoreScalar
from ptosim.language.types import PtrType


def castptr(addr: Any, type: Any) -> Any:
    """An address (an integer, or a pointer) as a pointer of a type."""
    wanted = type_of(type)
    source = addr.ssa if isinstance(addr, PointerValue) else integer64(addr, "the address")
    return wrap(current("pto.castptr").make(CastPtr, {"input": source}, [wanted]).results[0])


def addptr(pointer: Any, offset: Any) -> PointerValue:
    """A pointer moved on by so many elements."""
    base = base_pointer(pointer)
    made = current("pto.addptr").make(AddPtr, {"pointer": base, "offset": index(offset, "the offset")}, [base.type])
    return wrap(made.results[0])


def base_pointer(value: Any) -> Any:
    """The address that a value means."""
    return address(value)


def const(value: Any, *, dtype: Any = None) -> ScalarValue:
    """A constant; without a type an index."""
    from ptosim.author.dtypes import DTYPES
    from ptosim.author.dtypes import dtype as named

    wanted = DTYPES["index"] if dtype is None else named(dtype)
    if isinstance(value, bool) and wanted.name == "i1":
        return wrap(scalar_value(value, wanted.type))
    return wrap(scalar_value(value, wanted.type))


def element_reference(ref: Any, off: Any = None) -> tuple[Any, Any]:
    """The pointer and the offset in elements that an element is at."""
    if isinstance(ref, PointerOffset):
        return address(ref.pointer), _sum(ref.offset, off)
    place: Any = getattr(ref, "element_place", None)
    if place is not None:
        base, offset = place()
        return base, _sum(offset, off)
    return address(ref, "what is loaded from"), 0 if off is None else off


def _sum(a: Any, b: Any) -> Any:
    if b is None or (literal(b) == 0 and literal(b) is not None):
        return a
    return a + b if literal(a) is not None and literal(b) is not None else binary("+", a, b)


def load(ref: Any, off: Any = None, *, contiguous: int | None = None) -> Any:
    """An element: of a tile, of a pointer with an offset."""
    from ptosim.language.catalogue import operation

    if (local := local_place(ref, off)) is not None:
        return load_local(*local, _several(local[0].dtype.type, contiguous))
    base, offset = element_reference(ref, off)
    found = operation("pto.load")
    assert found is not None and isinstance(base.type, PtrType)
    result = _several(base.type.element, contiguous)
    if result != base.type.element:
        base, offset = _as_packed(base, offset, result), 0
    made = current("scalar.load").make(found, {"pointer": base, "offset": index(offset, "the offset")}, [result])
    return wrap(made.results[0])


def _as_packed(base: Any, offset: Any, packed: Any) -> Any:
    """The address of several elements that lie one behind the other, as one of a packed value."""
    moved = base if literal(offset) == 0 else addptr(wrap(base), offset).ssa
    type_ = PtrType.of(packed, base.type.space)
    return current().make(CastPtr, {"input": moved}, [type_], name="packed").results[0]


def _several(element: Any, contiguous: Any) -> Any:
    """The type of an element, or of so many as one value."""
    if contiguous is None:
        return element
    from ptosim.author.dtypes import scalar_type
    from ptosim.language.types import element_name

    return scalar_type(f"vector<{whole(contiguous, 'contiguous')}x{element_name(element)}>")


def store(value: Any, ref: Any, off: Any = None) -> None:
    """Set an element."""
    from ptosim.language.catalogue import operation

    if (local := local_place(ref, off)) is not None:
        store_local(value, *local)
        return

    base, offset = element_reference(ref, off)
    found = operation("pto.store")
    assert found is not None and isinstance(base.type, PtrType)
    from ptosim.language.types import is_packed

    given = _stored(value, base.type.element)
    if is_packed(given.type) and not is_packed(base.type.element):
        base, offset = _as_packed(base, offset, given.type), 0
    at = index(offset, "the offset")
    current("scalar.store").make(found, {"pointer": base, "offset": at, "value": given})


def _stored(value: Any, element: Any) -> Any:
    from ptosim.language.types import is_packed

    if isinstance(value, ScalarValue) and is_packed(value.ssa.type):
        return value.ssa
    return scalar_value(value, element, "the value that is stored")


def load_scalar(ptr: Any, off: Any = 0, *, bypass_l1: bool = False) -> ScalarValue:
    """An element that the scalar unit loads; bypassing its cache where that is asked."""
    from ptosim.language.catalogue import operation

    base, offset = element_reference(ptr, off)
    kind = operation("pto.ld_dev") if bypass_l1 else LoadScalar
    assert kind is not None and isinstance(base.type, PtrType)
    operands = {"pointer": base, "offset": index(offset, "the offset")}
    return wrap(current("pto.load_scalar").make(kind, operands, [base.type.element]).results[0])


def store_scalar(ptr: Any, off: Any, value: Any, *, bypass_l1: bool = False) -> None:
    """Set an element with the scalar unit."""
    from ptosim.language.catalogue import operation

    base, offset = element_reference(ptr, off)
    kind = operation("pto.st_dev") if bypass_l1 else StoreScalar
    assert kind is not None and isinstance(base.type, PtrType)
    given = _stored(value, base.type.element)
    operands = {"value": given, "pointer": base, "offset": index(offset, "the offset")}
    current("pto.store_scalar").make(kind, operands)


# --- storage of scalars -----------------------------------------------------------------------------------------------


def declare_struct(struct: StructDescription) -> Any:
    """A structure of scalars on the stack of the scalar unit."""
    from ptosim.language.catalogue import operation

    if not isinstance(struct, StructDescription):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise failure(WrongType, f"declare_struct takes pto.struct_type(...), not {struct!r}")
    found = operation("pto.declare_struct")
    assert found is not None
    return wrap(current("pto.declare_struct").make(found, {}, [struct.type]).results[0])


def _field(struct: Any, path: Any) -> tuple[Any, Any, Any]:
    from xdsl.dialects.builtin import DenseArrayBase

    from ptosim.language.tile.tile_types import StructType

    if not isinstance(struct, HandleValue) or not isinstance(struct.ssa.type, StructType):
        raise failure(WrongType, f"this is no structure: {struct!r}")
    numbers = [path] if isinstance(path, int) else list(path)
    type_: Any = struct.ssa.type
    for number in numbers:
        fields = type_.data if isinstance(type_, StructType) else ()
        if not isinstance(number, int) or not 0 <= number < len(fields):
            raise failure(WrongValue, f"the structure has no field {path!r}; {type_} has {len(fields)} fields")
        type_ = fields[number]
    return struct.ssa, DenseArrayBase.from_list(i64, numbers), type_


def struct_get(struct: Any, path: Any) -> Any:
    """A field of a structure."""
    from ptosim.language.catalogue import operation

    value, numbers, type_ = _field(struct, path)
    found = operation("pto.struct_get")
    assert found is not None
    return wrap(current().make(found, {"struct": value}, [type_], {"path": numbers}).results[0])


def struct_set(struct: Any, path: Any, value: Any) -> None:
    """Set a field of a structure."""
    from ptosim.language.catalogue import operation

    base, numbers, type_ = _field(struct, path)
    found = operation("pto.struct_set")
    assert found is not None
    given = scalar_value(value, type_, "the field")
    current().make(found, {"struct": base, "value": given}, (), {"path": numbers})


def reserve_buffer(name: str, *, size: int, location: Any, auto: bool = True, base: int | None = None) -> Any:
    """Storage for the slots of a FIFO, by name."""
    from xdsl.dialects.builtin import BoolAttr, i32

    from ptosim.author.dtypes import TILE_PLACES
    from ptosim.author.words import choice
    from ptosim.language.catalogue import operation

    place = choice(location, TILE_PLACES, "location")
    found = operation("pto.reserve_buffer")
    assert found is not None
    given: dict[str, Any] = {
        "name": StringAttr(name),
        "size": integer_attribute(size, i32, "size"),
        "location": StringAttr(place),
        "auto": BoolAttr.from_bool(auto),
        "base": None if base is None else integer_attribute(base, i32, "base"),
    }
    return _with_attributes(found, given)


def import_reserved_buffer(name: str, *, peer_func: Any) -> Any:
    """The storage that another function has reserved."""
    from ptosim.language.catalogue import operation

    found = operation("pto.import_reserved_buffer")
    assert found is not None
    symbol = peer_func if isinstance(peer_func, str) else getattr(peer_func, "symbol", str(peer_func))
    return _with_attributes(found, {"name": StringAttr(name), "peer_func": attribute_of_symbol(symbol)})


def _with_attributes(kind: Any, given: dict[str, Any]) -> Any:
    from xdsl.dialects.builtin import i32

    properties = {name: value for name, value in given.items() if name in kind.property_roles}
    others = {name: value for name, value in given.items() if name not in properties and value is not None}
    return wrap(current(kind.name).make(kind, {}, [i32], properties, others).results[0])


def empty_like(x: Any) -> Any:
    """Outside of kernels: an array of the shape and type of another."""
    if hasattr(x, "new_empty"):
        return x.new_empty(x.shape)
    import numpy as np

    return np.empty_like(x)


def get_op_attr(name: str, default: Any = None) -> Any:
    """An attribute of the template around, or the default."""
    return current("pto.get_op_attr").body.op_attrs.get(name, default)
