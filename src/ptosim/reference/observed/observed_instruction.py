"""An instruction while it is carried out under observation, and the taint it has met.

Through memory taint moves as the data does: an instruction that has met some is *replayed*, the very same function with
a port whose reads give taint and whose writes are collected. How taint spreads between registers is in taint.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.record import Spread
from ptosim.machine.observer import Use, distinct
from ptosim.reference.numeric.mask import Mask
from ptosim.reference.observed.replay import Replay
from ptosim.reference.observed.taint import (
    GATES,
    STEERING,
    Image,
    Observed,
    Taints,
    as_taint,
    as_tuple,
    counted,
    image_of,
    merged,
    of_origin,
    origins,
)
from ptosim.reference.semantics import complete

if TYPE_CHECKING:
    from ptosim.reference.core import Core


class Act:
    """One that has no tainted operands uses the same object every time; its arguments are filled in when it meets
    taint."""

    taints: Taints | None = None
    """The taints of the operands; None when all are clean."""
    register = 0
    """The taint of the special registers that it reads."""
    special: Mapping[str, int] | None = None
    """The special registers before it, if it changes them."""
    reads = 0
    met: dict[int, Image] | None = None
    """The taint of those reads that met some."""
    _met: frozenset[int] = frozenset()
    """The numbers that occur in it."""
    numbers: Sequence[NDArray[np.uint8]] = ()
    """Numbers that it has read as places of the rest."""
    writes = 0
    _replayed = -1
    """The number of reads that the last replay knew."""
    _collected: Sequence[Image | None] = ()
    """The taint of each write, by that replay."""

    def __init__(self, observed: Observed, arguments: tuple[Any, ...] = (), taints: Taints | None = None) -> None:
        self.observed = observed
        self.site = observed.site
        self.arguments = arguments
        if taints is not None:
            self.taints = taints

    def has_read(self, taint: Image | None) -> None:
        if taint is not None:
            self.met = {} if self.met is None else self.met
            self.met[self.reads] = taint
            self._met = self._met.union(distinct(taint))
        self.reads += 1

    def decided(self) -> Iterator[tuple[Use, Image]]:
        """Tainted masks, offsets and special registers decide which bytes are touched."""
        if self.register and self.observed.taint.spread is not Spread.ALL_TO_ALL:
            use: Use = "scalar" if self.observed.taint.spread is Spread.NONE else "address"
            yield use, np.full(1, self.register, np.uint8)
        for role, argument, taint in zip(self.observed.parameters, self.arguments, self.taints or (), strict=False):
            if taint is None or role not in STEERING:
                continue
            if role in GATES:
                yield "mask", taint
            else:
                lanes = taint.reshape(cast("NDArray[Any]", argument).size, -1).max(axis=1)
                active = self._active(len(lanes))
                if lanes[active].any():
                    yield "address", lanes[active]

    def _active(self, lanes: int) -> NDArray[np.bool_]:
        """The lanes of a gather or scatter that take part."""
        for role, argument in zip(self.observed.parameters, self.arguments, strict=False):
            if role == "mask" and isinstance(argument, Mask):
                return argument.lanes(256 // lanes)
            if role == "active_lanes" and argument is not None:
                return np.arange(lanes) < argument
        return np.ones(lanes, np.bool_)

    # --- replays ------------------------------------------------------------------------------------------------------

    def moved(self, core: Core, arguments: tuple[Any, ...]) -> Any:
        """It has read tainted bytes: the taint of its results. The object may serve again."""
        self.arguments = arguments
        images = self.results(core)
        self.met = None
        self._met = frozenset()
        return images

    def results(self, core: Core) -> Any:
        """The taint of the results of an instruction that has read or holds tainted bytes."""
        images: list[Image | None] = [None] * len(self.observed.result_widths)
        for number in self._origins():
            _, outcome = self._replay(core, number)
            for place, result in enumerate(as_tuple(outcome)[: len(images)]):
                images[place] = merged(images[place], image_of(result), self.observed.passed_on(number))
        return tuple(images) if len(images) > 1 else images[0] if images else None

    def taint_of_write(self, core: Core, size: int) -> Image | None:
        """The taint of the bytes that the instruction is about to write."""
        observed = self.observed
        if (self.met is None and self.taints is None and not self.register) or observed.uses:
            return None
        if observed.taint.spread is Spread.ALL_TO_ALL:
            return np.full(size, self._largest(), np.uint8)
        if self._replayed != self.reads:  # what is read between two writes has to be replayed as well
            self._replayed = self.reads
            self._collected = self._written(core)
        taint = self._collected[self.writes] if self.writes < len(self._collected) else None
        self.writes += 1
        return taint if taint is not None and np.count_nonzero(taint) else None

    def taint_of_registers(self) -> int:
        """The taint of the special registers that the instruction writes."""
        if self.observed.taint.spread is Spread.ALL_TO_ALL:
            return self._largest()
        return max(self.register, counted(self.observed, self.taints or ()))

    def _largest(self) -> int:
        """The taint of every byte that any byte reaches."""
        return max((self.register, *map(self.observed.passed_on, self._origins())))

    def _written(self, core: Core) -> list[Image | None]:
        images: list[Image | None] = []
        for number in self._origins():
            written, _ = self._replay(core, number)
            images += [None] * (len(written) - len(images))
            for place, image in enumerate(written):
                images[place] = merged(images[place], image.reshape(-1), self.observed.passed_on(number))
        return images

    def _origins(self) -> list[int]:
        return sorted(self._met.union(origins(self.taints or ())) - {0})

    def _replay(self, core: Core, number: int) -> tuple[list[Image], Any]:
        """Run an instruction on the taint of one origin; gives what it writes, and its results."""
        met = {place: of_origin(taint, number) for place, taint in (self.met or {}).items()}
        replay = Replay(met, self.numbers)
        operands = as_taint(self.observed, self.arguments, self.taints or (), number)
        special, core.special = core.special, dict(core.special if self.special is None else self.special)
        outcome = core.through(replay, lambda: complete(self.observed.function(*operands)))
        core.special = special
        return replay.collected, outcome
