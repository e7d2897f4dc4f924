"""Times of notices in global memory, as each waiting core sees them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptosim.machine.core import Core
from ptosim.machine.entry import Entry
from ptosim.machine.memory import decode
from ptosim.machine.moments import Moment
from ptosim.machine.signal import Notice, WatchedWords, wrapped
from ptosim.target.tables import Latency


@dataclass(frozen=True, eq=False)
class Said:
    """A notice, when it was given and when it is seen."""

    entry: Entry
    notice: Notice
    moment: Moment
    seen: int

    def seen_by(self, core: Core) -> int:
        """The core that gave the notice sees it at once."""
        return self.moment[0] if self.entry.core is core else self.seen


class NoticeWords:
    """The notices of a run by word."""

    def __init__(self, latency: Latency) -> None:
        self.latency = latency
        self._said: dict[int, list[Said]] = {}
        self.first: dict[int, int] = {}
        """The value of each word before its first notice."""

    def notify(self, entry: Entry, moment: Moment) -> None:
        notice = entry.notice
        assert notice is not None
        region = entry.core.regions.all.get(decode(notice.address)[0])
        is_remote = region is not None and region.rank != entry.core.rank
        seen = moment[0] + (self.latency.notify if is_remote else self.latency.inter_core)
        self.first.setdefault(notice.address, entry.core.signals.before)
        self._said.setdefault(notice.address, []).append(Said(entry, notice, moment, seen))

    def satisfied(self, watched: WatchedWords, core: Core, since: int) -> Said | None:
        """The notice that satisfies a wait, begun at a time, as the last of those it stands for; None if there is none
        that it stands for."""
        needed = [self._when(address, watched, core, since) for address in watched.words.addresses]
        return max((said for said in needed if said is not None), key=lambda said: said.seen, default=None)

    def _when(self, address: int, watched: WatchedWords, core: Core, since: int) -> Said | None:
        """Notices in the order in which they are seen, until the word satisfies the condition at or after a time."""
        waiting = address in self.first and not watched.allows(self.first[address])
        for said, word in self._history(address, core):
            if waiting and said.seen_by(core) > since and watched.allows(word):
                return said
            if said.seen_by(core) <= since:
                waiting = not watched.allows(word)
            elif not waiting:
                return None
        return None

    def _history(self, address: int, core: Core) -> Iterator[tuple[Said, int]]:
        """The notices of a word, and what it is after each."""
        word = self.first.get(address, 0)
        for said in sorted(self._said.get(address, ()), key=lambda said: said.seen_by(core)):
            word = wrapped(word + said.notice.value) if said.notice.adds else said.notice.value
            yield said, word
