"""One kernel text with arguments to launch it on: what the fuzz tries, wherever it comes from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

import ptosim


@dataclass(frozen=True)
class Case:
    """`name` says how it came about; `text` need not load."""

    name: str
    text: str
    arguments: tuple[Any, ...]
    grid: int = 1


Source = Callable[[Random], Iterator[Case]]
"""An endless supply of cases."""


@lru_cache(maxsize=1)
def loaded(text: str) -> ptosim.Module:
    """What was loaded to see whether it is worth a run need not be read again."""
    return ptosim.load(text)
