"""Functions of scalars inside of kernels: `scalar.max`, `scalar.load` and so on."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    from ptosim.author import scalars

    if name in scalars.NAMES.split():
        return getattr(scalars, name)
    from ptosim.author.failures import RemovedName, failure

    raise failure(RemovedName, f"scalar has no '{name}'; known: {', '.join(scalars.NAMES.split())}")


def __dir__() -> list[str]:
    from ptosim.author import scalars

    return sorted(scalars.NAMES.split())
