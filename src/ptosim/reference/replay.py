"""The core of a replay: an instruction that has met taint is carried out again, on taint instead of data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.names import Space
from ptosim.machine.entry import Site
from ptosim.reference.core import Combine, Config, Core
from ptosim.reference.numbers import Lanes
from ptosim.reference.places import Bytes, Places, Starts
from ptosim.reference.taint import Image


class Replay:
    """Reads give the taint that was met, writes are collected; special registers are copies."""

    wants_lint = False

    def __init__(self, core: Core, met: dict[int, Any]) -> None:
        self.core = core
        self.special = dict(core.special)
        self.config, self.ctrl, self.target = core.config, core.ctrl, core.target
        self.machine, self.memories, self.global_memory = core.machine, core.memories, core.global_memory
        self.collected: list[Image] = []
        self._met = met
        self._reads = 0

    def read(
        self, space: Space, start: int, width: int, alignment: int = 1, by_use: bool = False, at: str | None = None
    ) -> Bytes:
        return self._taint(width)

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        return self._taint(VECTOR_BYTES).copy().view(dtype)

    def store(self, start: int, value: Lanes) -> None:
        self.collected.append(value.view(np.uint8).copy())

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        return self._taint(len(starts) * width).reshape(len(starts), width)

    def _taint(self, size: int) -> Bytes:
        """The taint that the next read has met."""
        taint = self._met.get(self._reads)
        self._reads += 1
        return np.zeros(size, np.uint8) if taint is None else taint.reshape(-1)

    def write(
        self, space: Space, start: int, data: Bytes, alignment: int = 1, active: Any = None, at: str | None = None
    ) -> None:
        self.collected.append(data.copy())

    def write_pieces(
        self, space: Space, starts: Starts, data: Bytes, alignment: int = 1, at: str | None = None
    ) -> None:
        self.collected.append(data.copy())

    def accumulate(self, space: Space, starts: Starts, data: Bytes, combine: Combine, name: str) -> None:
        self.collected.append(data.copy())

    def pattern(self, data: Bytes) -> Bytes:
        """Bytes that come from no memory are clean."""
        return np.zeros_like(data)

    def converted(self, data: Bytes, width: int, conversion: Callable[[Bytes], Bytes]) -> Bytes:
        """Each result has the taint of the element that it comes from."""
        lanes = data.reshape(-1, width).max(axis=1)
        return np.repeat(lanes, conversion(data).size // max(lanes.size, 1))

    def landing(self, space: Space, starts: Starts, width: int, at: str | None = None) -> Places | None:
        """A copy moves the rows that it has moved before."""
        return self.core.landing(space, starts, width, at)

    def fence(self, site: Site, kind: str) -> None: ...

    def aligned(self, verb: str, space: Space, start: int, alignment: int) -> None: ...

    def violation(self, kind: str, message: str, extent: tuple[int, int] | None = None) -> None: ...

    def lint(self, message: str, kind: str = "lint", site: Site | None = None, hint: str | None = None) -> None: ...

    def relies_on(self, direction: str, config: Config, *others: str) -> None: ...

    def overwrites(self, direction: str, config: Config, loops: int, *others: str) -> None: ...

    def hold(self, before: Any, after: Any) -> None: ...
