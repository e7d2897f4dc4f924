"""Items of Python lists and dictionaries that a branch or loop sets: those of a holder go through it as names do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ptosim.author.failures import UnsupportedControl, failure
from ptosim.author.values import Traced

Path = tuple[Any, ...]


@dataclass(frozen=True)
class HeldItems:
    """The items of a list or dictionary, and of those inside it, at a place of the program; an assignment to it sets
    them."""

    holder: Any
    name: str
    values: Mapping[Path, Any]

    def __setitem__(self, key: None, other: HeldItems) -> None:
        for path, _ in reversed(_found(self.holder, self.name, ())):
            if path not in other.values:
                del _inner(self.holder, path)[path[-1]]
        for path, value in other.values.items():
            _inner(self.holder, path)[path[-1]] = value

    def called(self, path: Path) -> str:
        return self.name + "".join(f"[{each!r}]" for each in path)


def items(holder: Any, name: str) -> HeldItems:
    """The items of a holder now."""
    if isinstance(holder, Traced):
        raise moving(f"an item of {name}")
    return HeldItems(holder, name, dict(_found(holder, name, ())))


def moving(name: str) -> Exception:
    """The error for an item whose index only the run knows."""
    message = f"{name} cannot be set in a branch or loop that runs on the device"
    hint = "an item of a Python list is carried where its index is known; store to memory with scalar.store"
    return failure(UnsupportedControl, message, hint=hint)


def _inner(holder: Any, path: Path) -> Any:
    for each in path[:-1]:
        holder = holder[each]
    return holder


def _found(holder: Any, name: str, path: Path) -> list[tuple[Path, Any]]:
    held: Iterable[tuple[Any, Any]] = ()
    if isinstance(holder, list):
        held = enumerate(cast("list[Any]", holder))
    elif isinstance(holder, dict):
        held = cast("dict[Any, Any]", holder).items()
    found: list[tuple[Path, Any]] = []
    for key, value in held:
        if isinstance(key, Traced):
            raise moving(f"{name}[…]")
        here = (*path, key)
        found += _found(value, name, here) if isinstance(value, list | dict) else [(here, value)]
    return found


class SpreadNames:
    """Names and their values, each holder in them replaced by its items that are values of the kernel."""

    def __init__(self, names: Sequence[str], values: Sequence[Any]) -> None:
        self._held = {name: value for name, value in zip(names, values, strict=True) if isinstance(value, HeldItems)}
        self._paths = {
            name: [path for path, value in held.values.items() if _goes_through(value)]
            for name, held in self._held.items()
        }
        self._left: dict[str, HeldItems] = {}

    def names(self, names: Sequence[str]) -> list[str]:
        """The names, with one for each item of a holder."""
        found: list[str] = []
        for name in names:
            held = self._held.get(name)
            found += [name] if held is None else map(held.called, self._paths[name])
        return found

    def values(self, names: Sequence[str], values: Sequence[Any]) -> list[Any]:
        """The values that belong to them."""
        found: list[Any] = []
        for name, value in zip(names, values, strict=True):
            found += [value.values.get(path) for path in self._paths[name]] if name in self._held else [value]
        return found

    def turn(self, names: Sequence[str], values: Sequence[Any]) -> list[Any]:
        """The values that a turn leaves for them."""
        self._left = {name: value for name, value in zip(names, values, strict=True) if name in self._held}
        return self.values(names, values)

    def gathered(
        self, names: Sequence[str], values: Sequence[Any], gone: Callable[[str], Any] | None = None
    ) -> tuple[Any, ...]:
        """The other way: values by the names that were given, those of a holder together. Behind a loop, what a turn
        has set besides is gone."""
        rest, found = list(values), list[Any]()
        for name in names:
            held = self._held.get(name)
            if held is None:
                found.append(rest.pop(0))
                continue
            made = {**held.values, **{path: rest.pop(0) for path in self._paths[name]}}
            if gone is not None:
                left = self._left[name].values
                besides = [path for path in left if path not in self._paths[name]]
                changed = [each for each in besides if left[each] is not held.values.get(each, self)]
                made.update({path: gone(held.called(path)) for path in changed})
            found.append(HeldItems(held.holder, held.name, made))
        return tuple(found)


def _goes_through(value: Any) -> bool:
    return isinstance(value, Traced | bool | int | float | np.generic)


def spread_sides(
    names: Sequence[str], sides: Sequence[Sequence[Any]], missing: Callable[[str], Any]
) -> tuple[list[str], list[list[Any]], Callable[[Sequence[Any]], tuple[Any, ...]]]:
    """The values that two ways leave, with the items of holders one by one; and a function that gathers them again."""
    wide: list[str] = []
    found: list[list[Any]] = [[] for _ in sides]
    groups: list[tuple[HeldItems, list[Path]] | None] = []
    for name, *values in zip(names, *sides, strict=True):
        if not isinstance(values[0], HeldItems):
            wide.append(name)
            groups.append(None)
            for side, value in zip(found, values, strict=True):
                side.append(value)
            continue
        held = cast("list[HeldItems]", values)
        paths = list(dict.fromkeys(path for each in held for path in each.values))
        groups.append((held[0], paths))
        wide += [held[0].called(path) for path in paths]
        for side, each in zip(found, held, strict=True):
            side += [each.values[path] if path in each.values else missing(each.called(path)) for path in paths]

    def gathered(results: Sequence[Any]) -> tuple[Any, ...]:
        rest = list(results)
        return tuple(
            rest.pop(0)
            if group is None
            else HeldItems(group[0].holder, group[0].name, {path: rest.pop(0) for path in group[1]})
            for group in groups
        )

    return wide, found, gathered
