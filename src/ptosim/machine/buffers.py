"""Buffers of a core: `get_buf` holds a pipe until the releases that are earlier in program order, on other pipes, have
happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptosim.effects.names import Pipe
from ptosim.effects.sync import no_such_id
from ptosim.machine.entry import GET, RELEASE, Entry, EntryKind, Site, buffer_key
from ptosim.machine.moments import PIPE_ORDER
from ptosim.machine.queue import PipeQueue
from ptosim.machine.sync import BUFFER_IDS, DONE, ISSUED, OPEN, PIPES, SLOT, SLOW, buffer_word
from ptosim.machine.sync_operand_rules import absent, has

if TYPE_CHECKING:
    from ptosim.machine.core import Core


class Buffers:
    def __init__(self, core: Core) -> None:
        self.core = core
        self._released: dict[int, dict[Pipe, Entry]] = {}  # of each buffer the latest release on each pipe, in order
        self._existing: set[tuple[Pipe, int]] = set()  # those that were asked for and exist

    def get(self, site: Site, pipe: Pipe, buffer: int, mode: int = 0) -> None:
        if not self._exists(site, pipe, buffer):
            return
        words = self.core.words
        if words[SLOW] == 0:
            words[buffer_word(OPEN, pipe, buffer)] = 1 + mode
            return
        entry = self._entry(GET, site, pipe, buffer, mode)
        if mode == 0:
            first, own = buffer_word(ISSUED, Pipe.S, buffer), SLOT[pipe]
            issued = enumerate(words[first : first + PIPES])
            done = first + DONE - ISSUED
            entry.snapshot = tuple([(done + slot, count) for slot, count in issued if count and slot != own])
            if self.core.tracker and buffer in self._released:
                releases = self._released[buffer].items()
                entry.consumed = tuple([release for other, release in releases if other is not pipe])
        self.core.issue(entry)
        words[buffer_word(OPEN, pipe, buffer)] = 1 + mode

    def release(self, site: Site, pipe: Pipe, buffer: int, mode: int = 0) -> None:
        if not self._exists(site, pipe, buffer):
            return
        words = self.core.words
        words[buffer_word(ISSUED, pipe, buffer)] += 1
        if words[SLOW] == 0:
            words[buffer_word(DONE, pipe, buffer)] += 1
            words[buffer_word(OPEN, pipe, buffer)] = 0
            return
        entry = self._entry(RELEASE, site, pipe, buffer, mode)
        if mode == 1:
            self.core.need(entry, [self._last_in_bracket(queue, buffer) for queue in self.core.queues.values()])
        self.core.issue(entry)
        releases = self._released.get(buffer, {})
        is_first = pipe not in releases
        releases[pipe] = entry
        if is_first:
            self._released[buffer] = {other: releases[other] for other in PIPE_ORDER if other in releases}
        words[buffer_word(OPEN, pipe, buffer)] = 0

    def _entry(self, kind: EntryKind, site: Site, pipe: Pipe, buffer: int, mode: int) -> Entry:
        entry = Entry(site, pipe, self.core, kind, buffer_key(buffer))
        entry.mode = mode
        return entry

    def _last_in_bracket(self, queue: PipeQueue, buffer: int) -> Entry | None:
        """The last entry issued to a pipe between a get and a release of this buffer."""
        if self.core.words[buffer_word(OPEN, queue.pipe, buffer)]:
            return queue.last
        return self._released.get(buffer, {}).get(queue.pipe)

    def _exists(self, site: Site, pipe: Pipe, buffer: int) -> bool:
        if (pipe, buffer) in self._existing:
            return True
        ids = min(self.core.target.sync.buffer_ids, BUFFER_IDS)
        if not has(self.core, pipe):
            self.core.illegal(site, "wrong-pipe", absent(self.core, pipe))
        elif not 0 <= buffer < ids:
            self.core.illegal(site, "id-range", no_such_id("buffer", buffer, ids))
        else:
            self._existing.add((pipe, buffer))
            return True
        return False
