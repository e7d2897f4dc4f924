"""Words in global memory that cores signal each other by: what is wrong with a notice or with a wait for one.

Whether data that a notice announces is in order is for the clocks to say (machine/signal.py); here are the rules about
the words themselves, and about what has to stand before a notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from ptosim.diagnostics import Severity
from ptosim.effects.names import Pipe
from ptosim.effects.sim_signal import WORD
from ptosim.language.analysis.polling_loops import poll_of
from ptosim.language.micro.sim_signal import SimTestWords, SimWaitWords
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import While
from ptosim.machine.clock import clock_index, ended_by, stores_index
from ptosim.machine.entry import Entry, Site
from ptosim.machine.memory import decode
from ptosim.machine.tracking import diagnostic_at
from ptosim.sanitize.conflict import Findings
from ptosim.sanitize.program import WrittenProgram

LINE = 64
"""Bytes of a cache line of the scalar unit."""
KEPT = 64
"""Notices and waits of one word that are remembered: older ones are in order with all that come, or said already."""

MOST_LINES = 1 << 10
"""Lines with signals that are looked at for data beside them."""

Stored = Mapping[tuple[int, Pipe, bool], tuple[int, Site]]
"""By core and pipe, the latest store into a window, or into what is private to its rank: its number and where it is."""

FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>"


class Notices:
    """Collects what is to say about signals."""

    def __init__(self, findings: Findings, program: WrittenProgram, stored: Stored) -> None:
        self.findings = findings
        self.program = program
        self.stored = stored
        self._told: dict[int, list[Entry]] = {}
        self._waits: dict[int, list[Entry]] = {}
        self._ever: dict[Site, Entry] = {}
        self.waiting: set[int] = set()
        """The cores that have waited for a notice."""
        self._weak_stores: set[tuple[int, Pipe, int]] = set()
        """The stores that a barrier of their pipe was taken to end."""
        self._own: dict[tuple[int, Pipe, Site], Entry] = {}
        """Notices of words of the own rank before which a store has ended and not arrived."""
        self._waiters: dict[int, set[int]] = {}
        """By word: the indices of the cores that have waited for it."""

    # --- notices ------------------------------------------------------------------------------------------------------

    def notify(self, entry: Entry) -> None:
        """A word has been set or added to."""
        notice = entry.notice
        assert notice is not None
        self._unfenced(entry)
        self._single_pipe(entry)
        earlier = self._told.setdefault(notice.address, [])
        for other in earlier:
            if other.core is entry.core or ended_by(other, entry.clock or {}):
                continue
            if other.notice is not None and not (other.notice.adds and notice.adds):
                equal = other.notice.value == notice.value and not other.notice.adds and not notice.adds
                message = f"two notices of {_word(entry)} are in no order, and one of them sets it"
                self._say(entry, "race", message, "warning" if equal else "error", (other, "the other one"))
        self._overrun(entry)
        earlier.append(entry)
        del earlier[:-KEPT]

    def _unfenced(self, entry: Entry) -> None:
        """Stores that have ended before the notice, but may not have arrived. A word of another rank does not cover
        private memory; a word of the own rank is judged at the end of the run."""
        is_own = self._rank_of(entry) == entry.core.rank
        for pipe in (Pipe.MTE3, Pipe.FIX, Pipe.S):
            for in_window in (True, False) if is_own else (True,):
                store = self._unfenced_store(entry, pipe, in_window)
                if store is not None and is_own:
                    self._own.setdefault((_address(entry), pipe, store), entry)
                elif store is not None:
                    self._may_overtake(entry, pipe, store)

    def _rank_of(self, entry: Entry) -> int | None:
        region = entry.core.regions.all.get(decode(_address(entry))[0])
        return region.rank if region is not None else None

    def _unfenced_store(self, entry: Entry, pipe: Pipe, in_window: bool) -> Site | None:
        last = self.stored.get((entry.core.index, pipe, in_window))
        clocks = entry.core.tracker.clocks if entry.core.tracker else None
        if last is None or clocks is None or (entry.core.index, pipe, last[0]) in self._weak_stores:
            return None
        index = stores_index(entry.core) if pipe is Pipe.S else clock_index(entry.core, pipe)
        return last[1] if clocks.fenced.get(index, 0) <= last[0] < clocks.known[0].get(index, 0) else None

    def _may_overtake(self, entry: Entry, pipe: Pipe, store: Site) -> None:
        message = (
            f"{pipe} is drained before {_word(entry)} is notified, but no dsb or fence says that the bytes it has "
            f"{'stored' if pipe is Pipe.S else 'copied'} are in GM: the word may overtake it"
        )
        other = Entry(store, pipe, entry.core, entry.kind)
        self._say(entry, "race", message, "warning", (other, f"{pipe} writes here"), hint=_before(FENCE))

    def _told_to_others(self) -> None:
        """The notices of words of the own rank for which another core waits."""
        for (address, pipe, store), entry in self._own.items():
            if self._waiters.get(address, set()) - {entry.core.index}:
                self._may_overtake(entry, pipe, store)

    def _single_pipe(self, entry: Entry) -> None:
        clocks = entry.core.tracker.clocks if entry.core.tracker else None
        for pipe in clocks.weakly_ended() if clocks else ():
            stores = [self.stored.get((entry.core.index, pipe, in_window)) for in_window in (False, True)]
            self._weak_stores |= {(entry.core.index, pipe, last[0]) for last in stores if last is not None}
            drain = FENCE if any(stores) else "pto.barrier #pto.pipe<PIPE_ALL>"
            message = (
                f"a barrier of {pipe} holds {pipe} and not the scalar unit: {_word(entry)} may be notified while "
                f"{pipe} is still at work"
            )
            self._say(entry, "race", message, "warning", hint=_before(drain))

    def _overrun(self, entry: Entry) -> None:
        """A wait for one exact number, which an addition may have passed before anybody looks."""
        notice = entry.notice
        assert notice is not None
        for wait in self._waits.get(notice.address, ()) if notice.adds else ():
            watched = wait.watched
            if watched is None or watched.comparison != "eq" or wait.core is entry.core:
                continue
            if not ended_by(wait, entry.clock or {}):
                message = (
                    f"waits until {_named(wait, notice.address)} == {watched.value}, which an addition may step over"
                )
                hint = "wait for at least so much (ge), or let the next addition wait for an answer"
                self._say(wait, "signal-overrun", message, "warning", (entry, "adds to it, in no order"), hint=hint)

    def stepped_over(self, entry: Entry) -> None:
        """A wait stands for ever, though its word once was what it waits for."""
        watched = entry.watched
        for address in watched.words.addresses if watched is not None else ():
            history = entry.core.signals.histories.get(address)
            told = history.writes if history is not None else []
            passed = next((n for n, one in enumerate(told[:-1]) if watched and watched.allows(one.after)), None)
            if passed is not None and watched is not None and not watched.allows(told[-1].after):
                message = f"{_named(entry, address)} {watched} held until another notice came, before anybody looked"
                hint = "wait for at least so much (ge), or let the next notice wait for an answer"
                self._say(entry, "signal-overrun", message, "warning", (told[passed + 1].entry, "this one"), hint=hint)

    # --- waits --------------------------------------------------------------------------------------------------------

    def wait(self, entry: Entry, was_written: Callable[[int], bool]) -> None:
        """A wait, or a test with the answer yes, has been satisfied. `was_written`: whether this run has stored to an
        address otherwise than by a notice."""
        watched = entry.watched
        assert watched is not None
        self._ever.setdefault(entry.site, entry)
        self.waiting.add(entry.core.index)
        for address in watched.words.addresses:
            self._remote(entry, address)
            told = [other for other in self._told.get(address, ()) if _round(other) == _round(entry)]
            if not told and not was_written(address):
                message = f"{_named(entry, address)} {watched} holds before anybody has notified it in this run"
                hint = "clear the word before, by a launch of its own or at the end, or count up from run to run"
                self._say(entry, "stale-signal", message, "warning", hint=hint)
            self._waiters.setdefault(address, set()).add(entry.core.index)
            waits = self._waits.setdefault(address, [])
            waits.append(entry)
            del waits[:-KEPT]

    def _remote(self, entry: Entry, address: int) -> None:
        region = entry.core.regions.all.get(decode(address)[0])
        if region is not None and region.rank is not None and region.rank != entry.core.rank:
            message = f"rank {entry.core.rank} waits for {_named(entry, address)}: every look at it crosses the link"
            hint = "wait for a word of the own window, and let the peer notify that"
            self._say(entry, "wrong-rank", message, "warning", hint=hint)

    # --- at the end ---------------------------------------------------------------------------------------------------

    def conclude(self, is_payload: Callable[[int, int], bool]) -> None:
        """`is_payload`: whether bytes at an address have been stored and read as data."""
        self._told_to_others()
        for entry in self._ever.values():
            watched = entry.watched
            if watched is not None and watched.holds() and self._is_fixed(entry.site):
                message = (
                    f"{_named(entry, watched.words.addresses[0])} still satisfies {watched} at the end: in the next "
                    "run this passes at once"
                )
                hint = "clear the word at the end, or count up from run to run"
                self._say(entry, "stale-signal", message, "warning", hint=hint)
        for entry, other in self._shared_lines():
            message = f"{_word(entry)} and {_word(other)}, which others notify, share {LINE} bytes: updates may be lost"
            hint = f"keep words that different cores notify {LINE} bytes apart"
            self._say(entry, "lint", message, "warning", (other, "the other one"), hint=hint)

        for entry, place in self._beside_payload(is_payload):
            message = f"{_word(entry)} shares {LINE} bytes with data, {_named(entry, place)}: updates may be lost"
            self._say(entry, "lint", message, "warning", hint=f"keep signals {LINE} bytes away from data")

    def _beside_payload(self, is_payload: Callable[[int, int], bool]) -> Iterator[tuple[Entry, int]]:
        """Words with data in their line, one of each line, and where the data lies."""
        for line, (told, *_) in list(self._lines().items())[:MOST_LINES]:
            places = range(line * LINE, (line + 1) * LINE, WORD)
            data = (place for place in places if place not in self._told and is_payload(place, WORD))
            if (place := next(data, None)) is not None:
                yield told[0], place

    def _is_fixed(self, site: Site) -> bool:
        """Whether a wait is for the same number in every run; one that is given or computed may count up."""
        op = self.program.executed(site)
        if isinstance(op, SimWaitWords | SimTestWords):
            return constant_of(op.value) is not None
        loop = op.parent_op() if op is not None else None
        poll = poll_of(loop) if isinstance(loop, While) else None
        return poll is not None and poll.load is op and constant_of(poll.value) is not None

    def _shared_lines(self) -> Iterator[tuple[Entry, Entry]]:
        """Words of one line that different cores notify."""
        for words in self._lines().values():
            for first, second in pairwise(words):
                pair = next(((a, b) for a in first for b in second if a.core is not b.core), None)
                if pair is not None:
                    yield pair

    def _lines(self) -> dict[int, list[list[Entry]]]:
        """The notices of each word, by their lines."""
        lines: dict[int, list[list[Entry]]] = {}
        for address, told in sorted(self._told.items()):
            lines.setdefault(address // LINE, []).append(told)
        return lines

    def _say(
        self,
        entry: Entry,
        kind: str,
        message: str,
        severity: Severity,
        *related: tuple[Entry, str],
        hint: str | None = None,
    ) -> None:
        self.findings.diagnostic(diagnostic_at(entry, kind, message, related, severity, hint))


def _round(entry: Entry) -> int:
    return entry.core.progress.round


def _address(entry: Entry) -> int:
    assert entry.notice is not None
    return entry.notice.address


def _word(entry: Entry) -> str:
    return _named(entry, _address(entry))


def _named(entry: Entry, address: int) -> str:
    return entry.core.regions.word(address)


def _before(instruction: str) -> str:
    return f"before the notice add  {instruction}"
