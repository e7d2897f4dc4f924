"""Stores of a scalar unit that have not ended yet, under schedules that say when things happen.

A scalar unit goes on behind a store, and others see it at some later time, in any order with its other stores, but for
those to the same bytes. It sees its own stores, and waits for all of them where it says to others what has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ptosim.effects.names import Space
from ptosim.effects.sync import ALL_WRITES, STORES, FenceReach


class LateStore(NamedTuple):
    """Bytes that are about to be written, and what writes them."""

    space: Space
    start: int
    width: int
    write: Callable[[], None]

    def meets(self, space: Space, start: int, width: int) -> bool:
        return self.space is space and self.start < start + width and start < self.start + self.width


class LateStores:
    """The late stores of one core, in the order of its program."""

    def __init__(self) -> None:
        self.pending: list[LateStore] = []

    def free(self) -> list[LateStore]:
        """The stores that may end next."""
        return [
            store
            for number, store in enumerate(self.pending)
            if not any(earlier.meets(*store[:3]) for earlier in self.pending[:number])
        ]

    def end(self, store: LateStore) -> None:
        self.pending.remove(store)
        store.write()

    def settle(self, reach: FenceReach = ALL_WRITES) -> None:
        """Ends the stores that a fence reaches."""
        if reach & STORES == STORES:
            ending, self.pending = self.pending, []
        else:
            ending = [store for store in self.pending if (store.space is Space.GM) == (FenceReach.GM in reach)]
            self.pending = [store for store in self.pending if store not in ending]
        for store in ending:
            store.write()

    def show(self, space: Space, start: int, width: int) -> None:
        """The scalar unit looks at these bytes: what it has stored there has ended, and what came before that."""
        last = max((n for n, store in enumerate(self.pending) if store.meets(space, start, width)), default=-1)
        for store in self.pending[: last + 1]:
            store.write()
        del self.pending[: last + 1]
