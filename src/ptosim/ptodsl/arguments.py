"""The arguments of a launch: arrays as they are, addresses as the arrays that the caller holds."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from ptosim.author.failures import WrongType, failure
from ptosim.diagnostics import error


def as_arguments(kernel: Any, given: Sequence[Any]) -> list[Any]:
    """One value for each parameter; an address becomes the array that begins there."""
    signature = kernel.signature
    if len(given) != len(signature):
        names = ", ".join(f"{each.name}: {each.type}" for each in signature)
        message = f"{kernel.name} takes {len(signature)} arguments ({names}), but {len(given)} were given"
        raise failure(WrongType, message, called="argument")
    return [_argument(each, value) for each, value in zip(signature, given, strict=True)]


def _argument(parameter: Any, value: Any) -> Any:
    if not parameter.is_pointer:
        return value
    address = _address(value)
    if address is None:
        return value
    found = next((array for array in _reachable() if _starts_at(array, address)), None)
    if found is None:
        message = f"{parameter.name} is the address {address:#x}, where no array begins that the caller holds"
        raise error("argument", message, hint="pass the array itself")
    return found


def _address(value: Any) -> int | None:
    """The address that a value is, if it is one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    inner = getattr(value, "value", None)
    if type(value).__name__ == "c_void_p":
        return inner or 0
    if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        return None
    pointer: Any = getattr(value, "data_ptr", None)
    return None if pointer is None else int(pointer())


def _starts_at(array: Any, address: int) -> bool:
    try:
        return int(array.__array_interface__["data"][0]) == address
    except Exception:
        pointer: Any = getattr(array, "data_ptr", None)
        try:
            return pointer is not None and int(pointer()) == address
        except Exception:
            return False


def _reachable() -> Iterator[Any]:
    """The arrays in the frames of the callers: under a name, in a container, or as an attribute."""
    frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    seen: set[int] = set()
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith("ptosim."):
            for space in (frame.f_locals, frame.f_globals):
                if id(space) in seen:
                    continue
                seen.add(id(space))
                for value in list(space.values()):
                    yield from _arrays(value)
        frame = frame.f_back


def _arrays(value: Any) -> Iterator[Any]:
    if _is_array(value):
        yield value
    elif isinstance(value, dict):
        yield from filter(_is_array, list(value.values()))
    elif isinstance(value, list | tuple | set):
        yield from filter(_is_array, list(value))
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        yield from filter(_is_array, list(vars(value).values()))


def _is_array(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "__array_interface__") or hasattr(kind, "__dlpack__")
