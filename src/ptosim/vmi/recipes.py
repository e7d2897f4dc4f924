"""Recipes: the function that lowers each operation on logical vectors, and the error where there is none.

@recipe("vadd", "vsub")
def lanewise(step: Recipe) -> None:
    ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from ptosim.language.vmi.vmi_operation import PREFIX
from ptosim.vmi.values import Recipe

Lowers = Callable[[Recipe], None]
ROOMS = ("masks_made", "lanewise", "accesses", "groups", "converted", "reduced", "rearranged", "older")

_RECIPES: dict[str, Lowers] = {}


class NoRecipe(Exception):
    """A shape that no recipe is known for."""

    def __init__(self, message: str, at: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


def recipe(*names: str) -> Callable[[Lowers], Lowers]:
    """Say that a function lowers these operations."""

    def enter(function: Lowers) -> Lowers:
        for name in names:
            assert name not in _RECIPES, name
            _RECIPES[name] = function
        return function

    return enter


@cache
def recipes() -> dict[str, Lowers]:
    """Every recipe by the full name of its operation."""
    for room in ROOMS:
        import_module(f"ptosim.vmi.{room}")
    return {PREFIX + name: function for name, function in _RECIPES.items()}
