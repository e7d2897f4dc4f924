"""The fingerprint of a kernel besides its constants: the code it reaches, and the values that this code reads.

A fingerprint is made once and then only watched: as long as the names that were read hold the same objects, and lists,
dictionaries and arrays the same items, it is what it was.
"""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from ptosim.ptodsl.code_names import CodeNames, code_names

_PLAIN = (int, float, str, bytes, bool, complex, type(None), type(...))
_FOREIGN = frozenset(["ptosim", "numpy", "torch", "builtins", *sys.stdlib_module_names]) - {"__main__"}
"""Packages whose functions and classes do not change."""
_CONTAINERS = (tuple, list, set, frozenset, dict, deque, MappingProxyType)
_MISSING = object()
_SHOWN = ("name", "returns", "max_threads", "parameters")
"""The attributes of helpers that decide what becomes of a call, besides their functions."""


class _Unknown(Exception):
    pass


@dataclass(eq=False)
class Fingerprint:
    """All that a kernel reads while it is traced, as a value to compare."""

    key: Any = None
    """None: something cannot be compared, so that the kernel has to be traced anew."""
    names: list[tuple[Mapping[str, Any], str, Any]] = field(default_factory=list[tuple[Mapping[str, Any], str, Any]])
    cells: list[tuple[CellType, Any]] = field(default_factory=list[tuple[CellType, Any]])
    slots: list[tuple[Any, str, Any]] = field(default_factory=list[tuple[Any, str, Any]])
    holders: list[tuple[Any, list[Any]]] = field(default_factory=list[tuple[Any, list[Any]]])
    arrays: list[tuple[Any, bytes]] = field(default_factory=list[tuple[Any, bytes]])

    def is_current(self) -> bool:
        """Whether nothing that was read has been changed since."""
        if self.key is None:
            return False
        for space, name, value in self.names:
            if space.get(name, _MISSING) is not value:
                return False
        for cell, value in self.cells:
            if _held(cell) is not value:
                return False
        for thing, name, value in self.slots:
            if getattr(thing, name, _MISSING) is not value:
                return False
        for holder, items in self.holders:
            now = _items(holder)
            if len(now) != len(items) or any(a is not b for a, b in zip(now, items, strict=True)):
                return False
        return all(array.tobytes() == content for array, content in self.arrays)

    def agrees(self, other: Fingerprint) -> bool:
        return self.key is not None and self.key == other.key


def fingerprint(function: FunctionType) -> Fingerprint:
    """The fingerprint of a function now."""
    reader = _Reader()
    try:
        reader.made.key = reader.function(function)
    except (_Unknown, RecursionError):
        reader.made.key = None
    except Exception:  # a value of the author's that cannot be looked at
        reader.made.key = None
    return reader.made


def constant_key(value: Any) -> Any:
    """A constant as a key: 1, True and 1.0 are three, and so are 0.0 and -0.0 in a tuple."""
    try:
        return _Reader().value(value)
    except (_Unknown, RecursionError):
        return type(value), value


def _held(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _items(holder: Any) -> list[Any]:
    return [*holder, *holder.values()] if isinstance(holder, Mapping) else list(holder)


def _is_foreign(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _FOREIGN


class _Reader:
    """Walks over what code reads, once for each object."""

    def __init__(self) -> None:
        self.made = Fingerprint()
        self._seen: dict[Any, int] = {}
        self._kept: list[Any] = []

    def _is_new(self, thing: Any, part: str = "") -> bool:
        """Whether a thing was not walked over; it lives as long as the walk, so that its number stays its own."""
        key = id(thing), part
        if key in self._seen:
            return False
        self._seen[key] = len(self._seen)
        self._kept.append(thing)
        return True

    def _again(self, thing: Any, part: str = "") -> Any:
        return "seen", self._seen[id(thing), part]

    # --- code ---------------------------------------------------------------------------------------------------------

    def function(self, function: FunctionType) -> Any:
        if not self._is_new(function):
            return self._again(function)
        names = code_names(function.__code__)
        self._watch_slots(function, ("__code__", "__defaults__", "__kwdefaults__"))
        found: list[Any] = [names.key, self.value(function.__defaults__), self.value(function.__kwdefaults__)]
        for cell in function.__closure__ or ():
            value = _held(cell)
            self.made.cells.append((cell, value))
            found.append("empty" if value is _MISSING else self.value(value, names))
        for name in names.globals:
            found.append((name, self._named(function.__globals__, name, names)))
        for name in names.imported:
            found.append((name, self._named(sys.modules, name, names)))
        if vars(function):
            found.append(self._fields(vars(function)))
        return tuple(found)

    def _named(self, space: Mapping[str, Any], name: str, names: CodeNames) -> Any:
        value = space.get(name, _MISSING)
        self.made.names.append((space, name, value))
        return "missing" if value is _MISSING else self.value(value, names)

    def _module(self, module: ModuleType, names: CodeNames | None) -> Any:
        """A module of the author's counts by what is read of it."""
        space = vars(module)
        if _is_foreign(module.__name__) or names is None:
            return "module", module.__name__
        found: list[Any] = []
        for name in names.attributes:
            if name in space and self._is_new(module, name):
                found.append((name, self._named(space, name, names)))
        return "module", module.__name__, tuple(found)

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, value: Any, names: CodeNames | None = None) -> Any:
        match value:
            case float() | complex():
                return type(value), repr(value)
            case Enum():
                return "enum", type(value), value.name, self.value(value.value)
            case _ if isinstance(value, _PLAIN):
                return type(value), value
            case type():
                return self._class(value)
            case ModuleType():
                return self._module(value, names)
            case FunctionType():
                return self.function(value) if not _is_foreign(value.__module__) else ("function", value)
            case MethodType():
                return "method", self.value(value.__func__), self.value(value.__self__)
            case BuiltinMethodType():
                owner = value.__self__
                is_plain = owner is None or isinstance(owner, ModuleType)
                return ("builtin", value) if is_plain else ("builtin", value.__name__, self.value(owner))
            case partial():
                return "partial", self.value(value.func), self.value(value.args), self.value(value.keywords)
            case MemberDescriptorType() | GetSetDescriptorType():
                return "descriptor", value.__name__
            case property():
                return "property", self.value(value.fget)
            case cached_property():
                return "property", self.value(value.func)
            case staticmethod() | classmethod():
                return type(value), self.value(value.__func__)
            case _ if isinstance(value, _CONTAINERS):
                return self._container(value)
            case _:
                return self._object(value)

    def _container(self, value: Any) -> Any:
        if not self._is_new(value):
            return self._again(value)
        if not isinstance(value, tuple | frozenset):
            self.made.holders.append((value, _items(value)))
        if isinstance(value, set | frozenset):
            return type(value), frozenset(map(self.value, value))
        if isinstance(value, Mapping):
            return type(value), tuple((self.value(key), self.value(each)) for key, each in value.items())
        return type(value), tuple(map(self.value, value))

    def _object(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(inner := getattr(value, "__wrapped__", None), FunctionType):
            return "wrapped", kind, self.function(inner), getattr(value, "options", None), self._shown(value)
        if isinstance(inner := getattr(getattr(value, "definition", None), "function", None), FunctionType):
            return "helper", kind, self.function(inner), value.definition.rewrites, self._shown(value)
        if kind.__module__.startswith("ptosim."):
            hash(value)
            return "ours", value
        if hasattr(value, "__next__") or hasattr(value, "data_ptr"):
            raise _Unknown  # it may have moved on, or changed in place
        if hasattr(value, "__array_interface__"):
            return self._array(value)
        return self._instance(value)

    def _shown(self, helper: Any) -> Any:
        return tuple(repr(getattr(helper, name, None)) for name in _SHOWN)

    def _array(self, value: Any) -> Any:
        import numpy as np

        array = np.asarray(value)
        if array.dtype.hasobject:
            raise _Unknown
        self.made.arrays.append((array, array.tobytes()))
        return "array", str(array.dtype), array.shape, array.tobytes()

    def _class(self, value: type) -> Any:
        """The members of a class of the author's, and of those it comes from: constants and methods."""
        if _is_foreign(value.__module__) or not self._is_new(value):
            return "class", value
        if issubclass(value, Enum):
            return "class", value, tuple((name, self.value(each.value)) for name, each in value.__members__.items())
        found: list[Any] = ["class", value]
        for each in (*value.__mro__, *value.__class__.__mro__):
            if not _is_foreign(each.__module__):
                found.append(self._fields(vars(each)))
        return tuple(found)

    def _instance(self, value: Any) -> Any:
        """An object of the author's: its class, and what it holds."""
        kind = type(value)
        if not self._is_new(value):
            return self._again(value)
        slots = [name for each in kind.__mro__ for name in _slots(each)]
        fields = getattr(value, "__dict__", None)
        if fields is None and not slots:
            if kind is not object and kind.__eq__ is object.__eq__:
                raise _Unknown  # it may hold something that nothing here can see
            hash(value)
            return "value", kind, value
        self._watch_slots(value, slots)
        held = tuple((name, self.value(getattr(value, name))) for name in slots if hasattr(value, name))
        return "object", self._class(kind), held, () if fields is None else self._fields(fields)

    def _fields(self, space: Mapping[str, Any]) -> Any:
        """The attributes of an object or class."""
        self.made.holders.append((space, _items(space)))
        return tuple((name, self.value(each)) for name, each in space.items() if not name.startswith("__"))

    def _watch_slots(self, thing: Any, names: Any) -> None:
        self.made.slots += [(thing, name, getattr(thing, name, _MISSING)) for name in names]


def _slots(kind: type) -> tuple[str, ...]:
    slots: Any = vars(kind).get("__slots__", ())
    found = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(f"_{kind.__name__}{name}" if name.startswith("__") else name for name in found if name != "__dict__")
