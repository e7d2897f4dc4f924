"""Unit flags: of each tile in L0C whether it is free or full, by which products and stores of the fixpipe wait.

A product that checks the flag of its tile starts when the tile is free; one that also sets it leaves the tile full. A
store that checks starts when the tile is full; one that also clears leaves it free. The states take turns, so each fill
comes behind the store that cleared the tile, and each store behind the product that set it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptosim.effects.names import Pipe
from ptosim.machine.clock import entry_index, join

if TYPE_CHECKING:
    from ptosim.machine.entry import Clock, Entry

SETS, CLEARS = "check_and_set", "check_and_clear"


class UnitFlags:
    """The unit flags of one core, by the address of the tile."""

    __slots__ = ("_told", "standing")

    def __init__(self) -> None:
        self._told: dict[int, tuple[bool, Clock]] = {}
        """Whether it is full, and what had ended when it became so."""
        self.standing: dict[int, Entry] = {}
        """Entries that have found a tile in the other state: what changes it may come later in the program."""

    def heard(self, entry: Entry) -> Clock:
        """The clock that an entry learns when it starts and checks a flag."""
        assert entry.unit is not None
        address = entry.unit[1]
        is_full, clock = self._told.get(address, (False, {}))
        if is_full == (entry.pipe is not Pipe.M):
            return clock
        if address in self._told or entry.unit[0] == CLEARS:  # public kernels check tiles that no product ever sets
            self.standing.setdefault(address, entry)
        return {}

    def tell(self, entry: Entry) -> None:
        """An entry has ended that may set a flag, or clear it."""
        assert entry.unit is not None
        word, address = entry.unit
        if word in (SETS, CLEARS):
            clock = dict(entry.clock or {})
            join(clock, {entry_index(entry): entry.n + 1})
            self._told[address] = word == SETS, clock
            if (stood := self.standing.get(address)) is not None and (stood.pipe is Pipe.M) == (word == CLEARS):
                del self.standing[address]


def unit_wait_message(entry: Entry) -> str:
    """The message of an entry whose wait never ends."""
    assert entry.unit is not None
    state, word = (
        ("free", f"store with unit_flag({CLEARS})")
        if entry.pipe is Pipe.M
        else ("full", f"product with unit_flag({SETS})")
    )
    return f"{entry.pipe} waits until the tile at l0c[{entry.unit[1]}] is {state}, and no {word} makes it so"
