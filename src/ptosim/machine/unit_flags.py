"""Clocks of the unit flags of a core: what is known to have ended when a tile in L0C has become full, or free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptosim.effects.names import Pipe
from ptosim.effects.sync import CLEARS, SETS
from ptosim.machine.clock import entry_index, join
from ptosim.machine.entry import Key
from ptosim.machine.sync import unit_word

if TYPE_CHECKING:
    from ptosim.effects.sync import UnitFlagUse
    from ptosim.machine.entry import Clock, Entry


class UnitFlagClocks:
    """By the tile, the clock of the entry that set or cleared its flag last."""

    __slots__ = ("_told",)

    def __init__(self) -> None:
        self._told: dict[int, Clock] = {}

    def heard(self, use: UnitFlagUse) -> Clock:
        """The clock that an entry learns when it starts, which it does only when the tile is as it needs it."""
        return self._told.get(unit_word(use.address), {})

    def tell(self, entry: Entry, use: UnitFlagUse) -> None:
        """An entry has ended that may set a flag, or clear it."""
        if use.left is not None:
            clock = dict(entry.clock or {})
            join(clock, {entry_index(entry): entry.n + 1})
            self._told[unit_word(use.address)] = clock


def unit_key(use: UnitFlagUse) -> Key:
    """The name under which a wait for a tile finds what ends it: the word of the other side."""
    state, word = ("free", CLEARS) if use.pipe is Pipe.M else ("full", SETS)
    return Key("unit", use.address, state, word)


def unit_wait_message(key: Key) -> str:
    """The wait of an entry that nothing ends."""
    maker = "store" if key.destination == CLEARS else "product"
    return f"waits until {key}, and no {maker} with unit_flag({key.destination}) makes it so"
