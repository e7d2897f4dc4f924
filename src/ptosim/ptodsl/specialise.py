"""The fingerprint of a kernel besides its constants: the code it reaches, and the values that this code reads."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from types import CodeType, FunctionType, ModuleType
from typing import Any

Fingerprint = tuple[Any, ...] | None
"""None: something cannot be compared, so that it has to be traced anew."""

_DEPTH = 3
_PLAIN = (int, float, str, bytes, bool, complex, type(None))


class _Unknown(Exception):
    pass


def fingerprint(function: FunctionType) -> Fingerprint:
    """Equal for equal code and equal values read; None where that cannot be told."""
    seen: dict[int, int] = {}
    try:
        return tuple(_function(function, seen))
    except (_Unknown, RecursionError):
        return None
    except Exception:  # a value of the author's that cannot be looked at
        return None


def _function(function: FunctionType, seen: dict[int, int]) -> list[Any]:
    if id(function) in seen:
        return ["seen", seen[id(function)]]
    seen[id(function)] = len(seen)
    found: list[Any] = [function.__code__, _value(function.__defaults__, seen), _value(function.__kwdefaults__, seen)]
    for cell in function.__closure__ or ():
        try:
            found.append(_value(cell.cell_contents, seen))
        except ValueError:
            found.append("empty")
    space = function.__globals__
    for name in _names(function.__code__):
        if name in space:
            found.append((name, _value(space[name], seen, _names(function.__code__))))
    return found


_known: dict[CodeType, tuple[str, ...]] = {}


def _names(code: CodeType) -> tuple[str, ...]:
    """The names that code, and the code inside it, looks up."""
    if code not in _known:
        names = dict.fromkeys(code.co_names)
        for each in code.co_consts:
            if isinstance(each, CodeType):
                names |= dict.fromkeys(_names(each))
        _known[code] = tuple(names)
    return _known[code]


def _value(value: Any, seen: dict[int, int], attributes: tuple[str, ...] = ()) -> Any:
    if isinstance(value, _PLAIN):
        return type(value), value
    if isinstance(value, type):
        return "class", id(value), _members(value, seen)
    if isinstance(value, ModuleType):
        return _module(value, seen, attributes)
    if isinstance(value, FunctionType):
        return tuple(_function(value, seen)) if _is_authors(value) else ("function", id(value))
    if isinstance(value, tuple | list | set | frozenset | dict):
        return _container(value, seen)
    if (inner := getattr(value, "__wrapped__", None)) is not None and isinstance(inner, FunctionType):
        return ("wrapped", id(type(value)), tuple(_function(inner, seen)), getattr(value, "options", None))
    if (definition := getattr(value, "definition", None)) is not None and hasattr(definition, "function"):
        return ("helper", id(type(value)), tuple(_function(definition.function, seen)))
    if type(value).__module__.startswith("ptosim."):
        return _of_ours(value)
    if callable(getattr(value, "tobytes", None)) and hasattr(value, "dtype"):
        return ("array", str(value.dtype), getattr(value, "shape", None), value.tobytes())
    if hasattr(value, "__array_interface__"):
        import numpy as np

        array = np.asarray(value)
        return ("array", str(array.dtype), array.shape, array.tobytes())
    if callable(value) and not hasattr(value, "__dict__"):
        return "builtin", id(value)
    return _instance(value, seen)


def _is_authors(function: FunctionType) -> bool:
    name = function.__globals__.get("__name__", "")
    return not name.startswith(("ptosim.", "numpy", "torch"))


def _container(value: Any, seen: dict[int, int]) -> Any:
    if id(value) in seen:
        return "seen", seen[id(value)]
    seen[id(value)] = len(seen)
    if isinstance(value, dict):
        return "dict", tuple((_value(key, seen), _value(each, seen)) for key, each in value.items())
    if isinstance(value, set | frozenset):
        return "set", frozenset(value)
    return type(value), tuple(_value(each, seen) for each in value)


def _module(value: ModuleType, seen: dict[int, int], attributes: tuple[str, ...]) -> Any:
    """A module of the author's counts by what is read of it."""
    name = value.__name__
    if (
        name.startswith(("ptosim", "numpy", "torch"))
        or getattr(value, "__file__", None) is None
        or "lib/python" in (value.__file__ or "")
    ):
        return "module", name
    if id(value) in seen:
        return "seen", seen[id(value)]
    seen[id(value)] = len(seen)
    space = vars(value)
    return "module", name, tuple((each, _value(space[each], seen)) for each in attributes if each in space)


def _members(value: type, seen: dict[int, int]) -> Any:
    """The members of a class of the author's: constants and methods."""
    if value.__module__.startswith(("ptosim.", "numpy", "torch", "builtins", "enum")) or id(value) in seen:
        return ()
    seen[id(value)] = len(seen)
    space = {name: each for name, each in vars(value).items() if not name.startswith("__")}
    return tuple((name, _value(_plain_member(each), seen)) for name, each in space.items())


def _plain_member(value: Any) -> Any:
    return value.__func__ if isinstance(value, staticmethod | classmethod) else value


def _of_ours(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        raise _Unknown from None
    return "ours", value


def _instance(value: Any, seen: dict[int, int]) -> Any:
    """An object of the author's: its class, and what it holds."""
    if id(value) in seen:
        return "seen", seen[id(value)]
    seen[id(value)] = len(seen)
    if hasattr(value, "__dict__"):
        return (
            "object",
            _value(type(value), seen),
            tuple((key, _value(each, seen)) for key, each in vars(value).items()),
        )
    slots: Any = getattr(type(value), "__slots__", None)
    if slots:
        names = (slots,) if isinstance(slots, str) else tuple(slots)
        return "object", _value(type(value), seen), tuple(_value(getattr(value, name, None), seen) for name in names)
    if getattr(type(value), "__hash__", None) is None:
        raise _Unknown
    return "value", type(value), value
